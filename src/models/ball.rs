//! A bouncing ball: impacts and their accumulation in closed form.

use super::slices::{load, store};
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};

/// A point mass above a floor: `m z'' = −m g`, gap `z`.
///
/// Dropped from rest at height `h` with coefficient of restitution `γ < 1` it hits the floor at
/// times `t_1 < t_2 < …` that accumulate at `t*`, in closed form:
///
/// ```text
///     t_1 = √(2h/g)        t_n = t_1 (1 + 2γ (1 − γⁿ⁻¹)/(1 − γ))        t* = t_1 (1 + γ)/(1 − γ)
/// ```
///
/// ```
/// use saltation::event_driven::Zeno;
/// use saltation::{ContactModel, EventDriven, Start, models::BouncingBall};
/// let ball = BouncingBall { restitution: 0.5, ..BouncingBall::default() };
/// let mut simulation = EventDriven::new(ContactModel::new(ball))?.rtol(1e-10).atol(1e-11).zeno(Zeno::Absorb);
/// let run = simulation.integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 100.0)?;
/// assert!((run.events()[1].t - ball.impact_time(1.0, 2)).abs() < 1e-9);
/// assert!(run.state().amax() < 1e-12); // at rest on the floor
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BouncingBall {
    /// Mass (kg), > 0.
    pub mass: f64,
    /// Gravity (m/s²), > 0.
    pub gravity: f64,
    /// Coefficient of restitution, in [0, 1].
    pub restitution: f64,
}

/// 1 kg, 9.81 m/s², restitution 0.8.
impl Default for BouncingBall {
    fn default() -> Self {
        Self {
            mass: 1.0,
            gravity: 9.81,
            restitution: 0.8,
        }
    }
}

impl BouncingBall {
    /// Time `t_n` of impact `n ≥ 1` after a fall from rest at `height` (s); 0 before the first.
    pub fn impact_time(&self, height: f64, n: u32) -> f64 {
        let gamma = self.restitution;
        let first = (2.0 * height / self.gravity).sqrt();
        if n == 0 {
            return 0.0;
        }
        let flights = if gamma < 1.0 {
            gamma * (1.0 - power(gamma, n - 1)) / (1.0 - gamma)
        } else {
            f64::from(n - 1)
        };
        first * (1.0 + 2.0 * flights)
    }

    /// Speed of approach at impact `n ≥ 1` after a fall from rest at `height` (m/s): `g t_1 γⁿ⁻¹`.
    pub fn impact_speed(&self, height: f64, n: u32) -> f64 {
        let first = (2.0 * height * self.gravity).sqrt();
        first * power(self.restitution, n.saturating_sub(1))
    }

    /// Time `t*` at which impacts accumulate after a fall from rest at `height` (s); infinite for
    /// restitution 1.
    pub fn accumulation(&self, height: f64) -> f64 {
        let gamma = self.restitution;
        (2.0 * height / self.gravity).sqrt() * (1.0 + gamma) / (1.0 - gamma)
    }
}

fn power(base: f64, exponent: u32) -> f64 {
    base.powf(f64::from(exponent))
}

impl MechanicalSystem for BouncingBall {
    fn time_scale(&self) -> Option<f64> {
        Some(f64::INFINITY)
    }

    fn dof(&self) -> usize {
        1
    }

    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        store(mass, [self.mass]);
    }

    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        store(effort, [-self.mass * self.gravity]);
    }

    fn effort_along(&self, _: State<'_>, _: &[f64], out: &mut [f64]) -> bool {
        out.fill(0.0);
        true
    }

    fn constant_mass(&self) -> bool {
        true
    }

    fn potential(&self, q: &[f64]) -> Option<f64> {
        q.first().map(|z| self.mass * self.gravity * z)
    }
}

impl UnilateralConstraints for BouncingBall {
    fn contacts(&self) -> usize {
        1
    }

    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        let [z] = load(q);
        z
    }

    fn gap_row(&self, _j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        store(row, [1.0]);
        true
    }

    fn constant_row(&self, _j: usize) -> bool {
        true
    }

    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impacts_go_on_to_their_accumulation() {
        let ball = BouncingBall::default();
        assert!(ball.impact_time(2.0, 0).abs() < 1e-300);
        let first = (4.0 / 9.81f64).sqrt();
        assert!((ball.impact_time(2.0, 1) - first).abs() < 1e-15);
        assert!((ball.impact_time(2.0, 2) - first * 2.6).abs() < 1e-14);
        assert!((ball.impact_speed(2.0, 1) - 9.81 * first).abs() < 1e-14);
        assert!((ball.impact_speed(2.0, 3) - 0.64 * 9.81 * first).abs() < 1e-14);
        let elastic = BouncingBall {
            restitution: 1.0,
            ..ball
        };
        assert!((elastic.impact_time(2.0, 4) - 7.0 * first).abs() < 1e-14);
        assert!(elastic.accumulation(2.0).is_infinite());
        assert!((ball.impact_time(2.0, 200) - ball.accumulation(2.0)).abs() < 1e-13);
    }
}
