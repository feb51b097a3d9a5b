//! A chain of rods that hang from a point: a pendulum of any number of links.

use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use crate::{InputError, validate};

/// Uniform rods in a row that hang from a fixed point, without contacts.
///
/// `q` are the angles of the rods from the downward vertical (rad). With `m` and `l` of one of `n`
/// rods, and `i ≤ j`,
///
/// ```text
///     M_ij = A_ij cos(q_i − q_j)        A_ij = m l² (n − j − ½),  A_ii = m l² (n − i − ⅔)        i, j = 0 …
///     V = −m g l Σ (n − i − ½) cos q_i
/// ```
///
/// Energy is conserved.
///
/// ```
/// use saltation::{ContactModel, Start, Variational, models::LinkChain};
/// let mut driver = Variational::new(ContactModel::new(LinkChain::new(10)?))?.time_step(0.01);
/// let run = driver.integrate(&Start::at(0.0).q(&[0.3; 10]).v(&[0.0; 10]), 1.0)?.completed()?;
/// assert_eq!(run.state().len(), 20);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkChain {
    links: usize,
    /// Gravity (m/s²).
    pub gravity: f64,
}

impl LinkChain {
    /// A chain of `links` rods, together 1 m long and 1 kg.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] unless there are 1 … 1000 links.
    pub fn new(links: usize) -> Result<Self, InputError> {
        let (kept, rule) = ((1..=1000).contains(&links), "must lie in 1 … 1000");
        validate::unless(kept, "links", links as f64, rule)?;
        Ok(Self {
            links,
            gravity: 9.81,
        })
    }

    /// Number of links.
    pub fn links(&self) -> usize {
        self.links
    }

    /// `A_ij`.
    fn inertia(&self, i: usize, j: usize) -> f64 {
        let each = (self.links as f64).recip();
        let part = if i == j { 2.0 / 3.0 } else { 0.5 };
        each.powi(3) * (self.links as f64 - i.max(j) as f64 - part)
    }

    /// `m g l (n − i − ½)`.
    fn weight(&self, i: usize) -> f64 {
        let each = (self.links as f64).recip();
        self.gravity * each * each * (self.links as f64 - i as f64 - 0.5)
    }

    /// Writes `−Σ_j A_ij sin(q_i − q_j) r_ij`.
    fn bent(&self, q: &[f64], rates: impl Fn(usize, usize) -> f64, out: &mut [f64]) {
        for (i, out) in out.iter_mut().enumerate() {
            let term = |j: usize| {
                let turn = q
                    .get(i)
                    .zip(q.get(j))
                    .map_or(f64::NAN, |(a, b)| (a - b).sin());
                self.inertia(i, j) * turn * rates(i, j)
            };
            *out = -(0..self.links).map(term).sum::<f64>();
        }
    }
}

impl MechanicalSystem for LinkChain {
    fn dof(&self) -> usize {
        self.links
    }

    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        for (j, column) in mass.chunks_exact_mut(self.links).enumerate() {
            for (i, entry) in column.iter_mut().enumerate() {
                let turn = q
                    .get(i)
                    .zip(q.get(j))
                    .map_or(f64::NAN, |(a, b)| (a - b).cos());
                *entry = self.inertia(i, j) * turn;
            }
        }
    }

    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        for (i, (effort, q)) in effort.iter_mut().zip(q).enumerate() {
            *effort = -self.weight(i) * q.sin();
        }
    }

    fn effort_along(
        &self,
        State { q, .. }: State<'_>,
        directions: &[f64],
        out: &mut [f64],
    ) -> bool {
        let n = self.links;
        for (along, out) in directions.chunks_exact(2 * n).zip(out.chunks_exact_mut(n)) {
            for (i, (out, (dq, q))) in out.iter_mut().zip(along.iter().zip(q)).enumerate() {
                *out = -self.weight(i) * q.cos() * dq;
            }
        }
        true
    }

    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        self.bent(q, |_, j| v.get(j).map_or(f64::NAN, |v| v * v), force);
        true
    }

    fn kinetic_gradient(&self, q: &[f64], v: &[f64], gradient: &mut [f64]) -> bool {
        let rates = |i: usize, j: usize| v.get(i).zip(v.get(j)).map_or(f64::NAN, |(a, b)| a * b);
        self.bent(q, rates, gradient);
        true
    }

    fn potential(&self, q: &[f64]) -> Option<f64> {
        let heights = q.iter().enumerate().map(|(i, q)| self.weight(i) * q.cos());
        Some(-heights.sum::<f64>())
    }

    fn time_scale(&self) -> Option<f64> {
        Some(f64::INFINITY)
    }
}

impl UnilateralConstraints for LinkChain {
    fn contacts(&self) -> usize {
        0
    }

    fn gap(&self, _j: usize, _q: &[f64]) -> f64 {
        f64::NAN
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mechanics::check_mechanics;

    #[test]
    fn energy_is_that_of_rods() {
        let chain = LinkChain::new(3).unwrap();
        let (q, v) = ([0.3, -0.5, 1.1], [0.7, 0.2, -0.4]);
        // Each rod: centre, rate of the centre, rate of turn.
        let l: f64 = 1.0 / 3.0;
        let (mut kinetic, mut height) = (0.0, 0.0);
        let mut joint = [0.0; 3];
        for (q, v) in q.iter().zip(v) {
            let rate = [l * v * f64::cos(*q), l * v * f64::sin(*q)];
            let centre = [joint[0] + 0.5 * rate[0], joint[1] + 0.5 * rate[1]];
            kinetic +=
                0.5 * l * (centre[0].powi(2) + centre[1].powi(2)) + 0.5 * l.powi(3) / 12.0 * v * v;
            height += l * (joint[2] - 0.5 * l * f64::cos(*q));
            joint = [
                joint[0] + rate[0],
                joint[1] + rate[1],
                joint[2] - l * f64::cos(*q),
            ];
        }
        let mut mass = [0.0; 9];
        chain.mass(&q, &mut mass);
        let found: f64 = (0..9).map(|k| 0.5 * mass[k] * v[k % 3] * v[k / 3]).sum();
        assert!((found - kinetic).abs() < 1e-15);
        assert!((chain.potential(&q).unwrap() - 9.81 * height).abs() < 1e-14);
        assert!(check_mechanics(&chain, 0.0, &q, &v).unwrap().agrees(1e-7));
    }
}
