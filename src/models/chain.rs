//! A chain of masses that drops onto the floor: many states, many contacts nearly at once.

use super::slices::store_unit;
use crate::{EventFunction, Flow, InputError, Mode, validate};

/// Masses side by side, each moving up and down, linked to their neighbours and dropped onto a
/// springy floor.
///
/// With heights `y_k`, rest shape `s_k` = `stagger` times a number in [0, 1) and links of stiffness
/// `k_l` and damping `c_l`,
///
/// ```text
///     l_k = k_l ((y_{k+1} − s_{k+1}) − (y_k − s_k)) + c_l (y_{k+1}' − y_k')
///     m y_k'' = l_k − l_{k−1} − m g + F_k        F_k = −k_f y_k − c_f y_k'  in contact, 0 otherwise
/// ```
///
/// State: all heights (m), then all velocities (m/s). Event functions `h_k = −y_k` (m), the depth
/// in the floor, side bit on in contact; the force may pull just before a contact opens. The chain
/// falls in its rest shape, so that its masses touch down one after another, in scattered order,
/// within about `stagger` divided by the speed. Our own example, to try many states and large
/// clusters.
///
/// ```
/// use saltation::{Integrator, Start, models::ContactChain};
/// let chain = ContactChain::default();
/// let run = Integrator::new(&chain)?.integrate(&Start::at(0.0).x(&chain.start()), 0.33)?;
/// assert_eq!(run.crossings().len(), 30);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ContactChain {
    /// Mass `m` of each (kg), > 0; default 1.
    pub mass: f64,
    /// Stiffness `k_l` of a link (N/m); default 500.
    pub link_stiffness: f64,
    /// Damping `c_l` of a link (N s/m); default 2.
    pub link_damping: f64,
    /// Stiffness `k_f` of the floor under each mass (N/m); default 4000.
    pub floor_stiffness: f64,
    /// Damping `c_f` of the floor under each mass (N s/m); default 8.
    pub floor_damping: f64,
    /// Gravity `g` (m/s²); default 9.81.
    pub gravity: f64,
    /// Spread of the rest shape (m); default 1e-3, about 0.3 ms at touch-down.
    pub stagger: f64,
    /// Height of the lowest mass of the rest shape at the start (m); default 0.5.
    pub drop_height: f64,
    /// Rest shape in units of `stagger`: multiples of the golden ratio modulo 1, no two alike.
    shape: Vec<f64>,
}

const GOLDEN: f64 = 0.618_033_988_749_894_8;

/// Terms of the motion that do not depend on the state: gone in derivatives.
#[derive(Clone, Copy)]
struct Constants {
    gravity: f64,
    stagger: f64,
}

impl ContactChain {
    /// A chain of `masses` masses with the default parameters: `2 · masses` states, `masses` event
    /// functions.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] unless there are 1 … 1 000 000 masses.
    pub fn new(masses: usize) -> Result<Self, InputError> {
        validate::count("masses", masses)?;
        Ok(Self::with_masses(masses))
    }

    fn with_masses(masses: usize) -> Self {
        Self {
            mass: 1.0,
            link_stiffness: 500.0,
            link_damping: 2.0,
            floor_stiffness: 4000.0,
            floor_damping: 8.0,
            gravity: 9.81,
            stagger: 1e-3,
            drop_height: 0.5,
            shape: (0..masses).map(|k| (GOLDEN * k as f64).fract()).collect(),
        }
    }

    /// Number of masses.
    pub fn masses(&self) -> usize {
        self.shape.len()
    }

    /// The chain at rest in its rest shape, `drop_height` above the floor.
    pub fn start(&self) -> Vec<f64> {
        let mut x = vec![0.0; 2 * self.masses()];
        for (y, s) in x.iter_mut().zip(&self.shape) {
            *y = self.drop_height + self.stagger * s;
        }
        x
    }

    /// Force of the floor on a mass in contact (N).
    #[inline]
    fn floor_force(&self, height: f64, velocity: f64) -> f64 {
        -self.floor_stiffness * height - self.floor_damping * velocity
    }

    /// The flow with given constants; it is affine in the state, so that without constants it is
    /// its own derivative.
    fn affine(&self, constants: Constants, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let n = self.masses();
        if x.len() != 2 * n || dx.len() != 2 * n {
            dx.fill(f64::NAN);
            return;
        }
        let (y, v) = x.split_at(n);
        let (rates, accelerations) = dx.split_at_mut(n);
        rates.copy_from_slice(v);
        let offset = |k: usize| y[k] - constants.stagger * self.shape[k];
        let mut link_before = 0.0;
        for k in 0..n {
            let link = if k + 1 < n {
                self.link_stiffness * (offset(k + 1) - offset(k))
                    + self.link_damping * (v[k + 1] - v[k])
            } else {
                0.0
            };
            accelerations[k] = (link - link_before) / self.mass - constants.gravity;
            link_before = link;
        }
        for k in mode.ones().take_while(|&k| k < n) {
            accelerations[k] += self.floor_force(y[k], v[k]) / self.mass;
        }
    }
}

impl Default for ContactChain {
    /// Thirty masses: sixty states.
    fn default() -> Self {
        Self::with_masses(30)
    }
}

impl Flow for ContactChain {
    fn dim(&self) -> usize {
        2 * self.masses()
    }

    fn flow(&self, _t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let constants = Constants {
            gravity: self.gravity,
            stagger: self.stagger,
        };
        self.affine(constants, x, mode, dx);
    }

    fn jacobian_times(&self, _t: f64, _x: &[f64], mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
        let none = Constants {
            gravity: 0.0,
            stagger: 0.0,
        };
        self.affine(none, v, mode, out);
        true
    }

    fn flip(&self, _t: f64, x: &[f64], mode: &Mode, k: usize, dx: &mut [f64]) -> bool {
        let n = self.masses();
        let (Some(y), Some(v), Some(acceleration)) = (x.get(k), x.get(n + k), dx.get_mut(n + k))
        else {
            return false;
        };
        let sign = if mode.contains(k) { 1.0 } else { -1.0 };
        *acceleration += sign * self.floor_force(*y, *v) / self.mass;
        true
    }
}

impl EventFunction for ContactChain {
    fn count(&self) -> usize {
        self.masses()
    }

    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x.get(k).map_or(f64::NAN, |y| -y)
    }

    fn events(&self, _t: f64, x: &[f64], _mode: &Mode, h: &mut [f64]) {
        for (h_k, y_k) in h.iter_mut().zip(x) {
            *h_k = -y_k;
        }
    }

    fn gradient(&self, k: usize, _t: f64, _x: &[f64], _mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        store_unit(dh, k, -1.0);
        Some(0.0)
    }

    fn is_affine(&self, _k: usize) -> bool {
        true
    }

    fn ignores_mode(&self) -> bool {
        true
    }

    fn resets(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{
        assert_events, assert_flips, assert_jacobian, assert_near, flow,
    };
    use super::*;

    fn wiggle(dim: usize) -> Vec<f64> {
        (0..dim)
            .map(|i| 0.01 * (1.0 + 3.7 * i as f64).sin())
            .collect()
    }

    #[test]
    fn the_rest_shape_falls_freely() {
        let chain = ContactChain::default();
        let dx = flow(&chain, &chain.start(), &Mode::new(30));
        assert_near(&dx[..30], &[0.0; 30], 0.0);
        assert_near(&dx[30..], &[-9.81; 30], 1e-12);
    }

    #[test]
    fn links_do_not_move_the_centre_of_mass() {
        let chain = ContactChain::new(7).unwrap();
        let dx = flow(&chain, &wiggle(14), &Mode::new(7));
        let mean = dx[7..].iter().sum::<f64>() / 7.0;
        assert!((mean + chain.gravity).abs() < 1e-13);
    }

    #[test]
    fn no_two_masses_have_the_same_rest_height() {
        let chain = ContactChain::new(1000).unwrap();
        let mut heights = chain.start()[..1000].to_vec();
        heights.sort_by(f64::total_cmp);
        assert!(heights.windows(2).all(|pair| pair[1] - pair[0] > 1e-7));
    }

    #[test]
    fn derivatives_and_flips_agree_with_the_flow() {
        for n in [1, 2, 5] {
            let chain = ContactChain::new(n).unwrap();
            let x = wiggle(2 * n);
            for on in [&[][..], &[0], &[0, 1, 4]] {
                let mode = Mode::with(n, on);
                assert_jacobian(&chain, &chain, &x, &mode);
                assert_events(&chain, &x, &mode);
                assert_flips(&chain, &x, &mode);
            }
        }
    }

    #[test]
    fn a_chain_without_masses_is_refused() {
        assert!(matches!(
            ContactChain::new(0),
            Err(InputError::BadSetting { .. })
        ));
    }
}
