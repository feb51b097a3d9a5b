//! The hopper in one dimension: a mass that falls onto a spring.

use super::slices::{load, store};
use crate::{EventFunction, Flow, Mode, validate};

/// A point mass above a massless, undamped leg: `z'' = −g` in flight, `z'' = −g + k (L0 − z)/m` in
/// contact.
///
/// State `(z, z')` [m, m/s]; one event function `h_0 = L0 − z` (m), whose side bit is on in
/// contact. Source: Anderson & Revzen, section 5.1 (the hopper); its event function is taken with
/// the sign that makes touch-down rise. The default has `m` = 1 kg, `k` = 400 N/m, `L0` = 1 m,
/// `g` = 9.81 m/s².
///
/// ```
/// use saltation::{Integrator, Start, models::Hopper};
/// let hopper = Hopper::default();
/// let start = Start::at(0.0).x(&[2.0, 0.0]);
/// let run = Integrator::new(&hopper)?.rtol(1e-10).atol(1e-10).integrate(&start, 2.0)?;
/// let [z, v] = hopper.exact(2.0, 2.0);
/// assert!((run.state()[0] - z).abs() < 1e-7 && (run.state()[1] - v).abs() < 1e-7);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hopper {
    /// Mass `m` (kg), > 0.
    pub mass: f64,
    /// Spring constant `k` of the leg (N/m), > 0.
    pub stiffness: f64,
    /// Free length `L0` of the leg (m).
    pub rest_length: f64,
    /// Gravity `g` (m/s²), > 0.
    pub gravity: f64,
}

impl Default for Hopper {
    fn default() -> Self {
        Self {
            mass: 1.0,
            stiffness: 400.0,
            rest_length: 1.0,
            gravity: 9.81,
        }
    }
}

/// One hop of a drop from rest: fall, stance, rise, fall, ...
struct Hop {
    /// Time of the first fall (s).
    fall: f64,
    /// Duration of a stance (s).
    stance: f64,
    /// Speed of touch-down and lift-off (m/s).
    speed: f64,
}

impl Hop {
    fn period(&self) -> f64 {
        2.0 * self.fall + self.stance
    }
}

impl Hopper {
    /// `w = sqrt(k/m)` (rad/s).
    fn frequency(&self) -> f64 {
        (self.stiffness / self.mass).sqrt()
    }

    fn hop(&self, z0: f64) -> Hop {
        let fall = (2.0 * (z0 - self.rest_length) / self.gravity).sqrt();
        let speed = self.gravity * fall;
        let w = self.frequency();
        let stance = 2.0 / w * (std::f64::consts::PI - (speed * w / self.gravity).atan());
        Hop {
            fall,
            stance,
            speed,
        }
    }

    /// Time from one highest point to the next after a drop from rest at `z0 > L0` (s); NaN for
    /// `z0 < L0`.
    pub fn period(&self, z0: f64) -> f64 {
        self.hop(z0).period()
    }

    /// State `[z, z']` at time `t` (s) after a drop from rest at `z0 > L0` (m), in closed form; NaN
    /// for `z0 < L0`.
    pub fn exact(&self, z0: f64, t: f64) -> [f64; 2] {
        let hop = self.hop(z0);
        let (g, w) = (self.gravity, self.frequency());
        let q = t.rem_euclid(hop.period());
        let p = q - hop.fall;
        if p < 0.0 {
            return [z0 - 0.5 * g * q * q, -g * q];
        }
        if p < hop.stance {
            let (sine, cosine) = (w * p).sin_cos();
            let sag = g / (w * w);
            return [
                self.rest_length - sag + sag * cosine - hop.speed / w * sine,
                -sag * w * sine - hop.speed * cosine,
            ];
        }
        let p = p - hop.stance;
        [
            self.rest_length + hop.speed * p - 0.5 * g * p * p,
            hop.speed - g * p,
        ]
    }

    /// Times of all touch-downs and lift-offs up to `until` (s), in turn, after a drop from rest at
    /// `z0` (m).
    ///
    /// Empty unless `z0 > L0` and `until` is finite; at most a million are listed.
    pub fn contact_times(&self, z0: f64, until: f64) -> Vec<f64> {
        let hop = self.hop(z0);
        let period = hop.period();
        // NaN fails the comparisons: a hop that does not exist has no contacts.
        if !(z0 > self.rest_length && period > 0.0 && until.is_finite()) {
            return Vec::new();
        }
        (0..=u32::MAX)
            .map(|hops| f64::from(hops) * period + hop.fall)
            .flat_map(|touch_down| [touch_down, touch_down + hop.stance])
            .take_while(|&t| t <= until)
            .take(validate::MOST)
            .collect()
    }
}

impl Flow for Hopper {
    fn dim(&self) -> usize {
        2
    }

    fn flow(&self, _t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let [z, v] = load(x);
        let spring = if mode.contains(0) {
            self.stiffness * (self.rest_length - z) / self.mass
        } else {
            0.0
        };
        store(dx, [v, spring - self.gravity]);
    }

    fn jacobian_times(&self, _t: f64, _x: &[f64], mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
        let [dz, dv] = load(v);
        let spring = if mode.contains(0) {
            -self.stiffness / self.mass * dz
        } else {
            0.0
        };
        store(out, [dv, spring]);
        true
    }

    fn flip(&self, _t: f64, x: &[f64], mode: &Mode, _k: usize, dx: &mut [f64]) -> bool {
        let [z, _] = load(x);
        let [rate, acceleration] = load(dx);
        let spring = self.stiffness * (self.rest_length - z) / self.mass;
        let sign = if mode.contains(0) { 1.0 } else { -1.0 };
        store(dx, [rate, acceleration + sign * spring]);
        true
    }
}

impl EventFunction for Hopper {
    fn count(&self) -> usize {
        1
    }

    fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        let [z, _] = load(x);
        self.rest_length - z
    }

    fn gradient(
        &self,
        _k: usize,
        _t: f64,
        _x: &[f64],
        _mode: &Mode,
        dh: &mut [f64],
    ) -> Option<f64> {
        store(dh, [-1.0, 0.0]);
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

    #[test]
    fn the_closed_form_has_the_numbers_of_the_specification() {
        let hopper = Hopper::default();
        assert_near(&[hopper.period(2.0)], &[1.07115559867157], 1e-14);
        assert_near(
            &hopper.exact(2.0, 2.0),
            &[1.90066160085828, 1.39607284593628],
            1e-14,
        );
        let events = [
            0.451523640985731,
            0.619631957685843,
            1.52267923965730,
            1.69078755635742,
        ];
        assert_near(&hopper.contact_times(2.0, 2.0), &events, 1e-14);
    }

    #[test]
    fn the_closed_form_obeys_the_flow() {
        let hopper = Hopper {
            mass: 3.0,
            ..Hopper::default()
        };
        let contacts = hopper.contact_times(1.7, 5.0);
        let step = 1e-6;
        for i in 1..100 {
            let t = 0.049 * f64::from(i);
            let touching = contacts.iter().filter(|&&c| c < t).count() % 2 == 1;
            let (before, x, after) = (
                hopper.exact(1.7, t - step),
                hopper.exact(1.7, t),
                hopper.exact(1.7, t + step),
            );
            let rate = [0, 1].map(|j| (after[j] - before[j]) / (2.0 * step));
            let mode = Mode::new(1).having(0, touching);
            assert_near(&flow(&hopper, &x, &mode), &rate, 1e-5);
        }
    }

    #[test]
    fn drops_that_do_not_hop_have_no_contacts() {
        let hopper = Hopper::default();
        for (z0, until) in [
            (1.0, 2.0),
            (0.5, 2.0),
            (f64::NAN, 2.0),
            (2.0, f64::INFINITY),
            (2.0, -1.0),
        ] {
            assert!(hopper.contact_times(z0, until).is_empty());
        }
        assert!(hopper.exact(0.5, 1.0)[0].is_nan());
    }

    #[test]
    fn derivatives_and_flips_agree_with_the_flow() {
        let hopper = Hopper::default();
        for mode in [Mode::new(1), Mode::with(1, &[0])] {
            let x = [0.93, -1.7];
            assert_jacobian(&hopper, &hopper, &x, &mode);
            assert_events(&hopper, &x, &mode);
            assert_flips(&hopper, &x, &mode);
        }
    }
}
