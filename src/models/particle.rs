//! A particle over an inclined plane: creep, sliding and gliding of compliant contact in closed form.

use super::slices::{store, store_unit};
use crate::mechanics::{MechanicalSystem, UnilateralConstraints};

/// A particle over a compliant plane that is inclined by an angle.
///
/// `q = (x, y, z)`: down the slope, across it, and the height over the plane (m). One contact with
/// the gap `z`; its tangents are `x` and `y`.
///
/// ```
/// use saltation::Start;
/// use saltation::compliant::Compliant;
/// use saltation::models::Particle;
/// let particle = Particle { slope: 0.5_f64.atan(), friction: 0.8, ..Particle::default() };
/// let mut stepper = Compliant::new(particle)?.time_step(0.01);
/// let rest = particle.rest();
/// let run = stepper.integrate(&Start::at(0.0).q(&rest).v(&[0.0; 3]), 1.0)?.completed()?;
/// // Stiction creeps with σ w m g dt sin α; w = 1/(√3 m).
/// let creep = 1e-3 / 3.0_f64.sqrt() * 9.81 * 0.01 * particle.slope.sin();
/// assert!((run.state()[3] / creep - 1.0).abs() < 1e-3);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Particle {
    /// Mass (kg), > 0.
    pub mass: f64,
    /// Angle of the plane (rad).
    pub slope: f64,
    /// Coefficient of friction, ≥ 0.
    pub friction: f64,
    /// Stiffness of the plane (N/m), > 0.
    pub stiffness: f64,
    /// Dissipation time of the plane (s), ≥ 0.
    pub dissipation_time: f64,
    /// Gravity (m/s²).
    pub gravity: f64,
}

impl Default for Particle {
    /// 1 kg on a level plane with 1e5 N/m, 10 ms and friction 0.5.
    fn default() -> Self {
        Self {
            mass: 1.0,
            slope: 0.0,
            friction: 0.5,
            stiffness: 1e5,
            dissipation_time: 0.01,
            gravity: 9.81,
        }
    }
}

impl Particle {
    /// The normal load `m g cos α` (N).
    pub fn load(&self) -> f64 {
        self.mass * self.gravity * self.slope.cos()
    }

    /// Coordinates at the static depth of the plane.
    pub fn rest(&self) -> [f64; 3] {
        [0.0, 0.0, -self.load() / self.stiffness]
    }
}

impl MechanicalSystem for Particle {
    fn dof(&self) -> usize {
        3
    }

    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        let m = self.mass;
        store(mass, [m, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0, m]);
    }

    fn constant_mass(&self) -> bool {
        true
    }

    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let weight = self.mass * self.gravity;
        store(effort, [weight * self.slope.sin(), 0.0, -self.load()]);
    }

    fn time_scale(&self) -> Option<f64> {
        Some(f64::INFINITY)
    }

    fn potential(&self, q: &[f64]) -> Option<f64> {
        let (x, z) = (q.first()?, q.get(2)?);
        let weight = self.mass * self.gravity;
        Some(weight * (z * self.slope.cos() - x * self.slope.sin()))
    }
}

impl UnilateralConstraints for Particle {
    fn contacts(&self) -> usize {
        1
    }

    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q.get(2).copied().unwrap_or(f64::NAN)
    }

    fn gap_row(&self, _j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        store_unit(row, 2, 1.0);
        true
    }

    fn constant_row(&self, _j: usize) -> bool {
        true
    }

    fn stiffness(&self, _j: usize) -> f64 {
        self.stiffness
    }

    fn dissipation_time(&self, _j: usize) -> f64 {
        self.dissipation_time
    }

    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }

    fn tangents(&self, _j: usize) -> usize {
        2
    }

    fn constant_tangents(&self, _j: usize) -> bool {
        true
    }

    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        store(rows, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    }
}
