//! A cylinder on a spring that rolls or slides on the ground: closed forms for time stepping.

use super::slices::{store, store_unit};
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};

/// A cylinder on a compliant ground, pulled to `x = 0` by a horizontal spring (Castro et al.,
/// figures 5 to 7).
///
/// `q = (x, y, θ)`: the centre (m) and the angle (rad), which falls while the cylinder rolls along
/// `x`. One contact with the gap `y − R`; its tangent is that of `x`, with the true radius as lever
/// arm. Without friction the motion is `x = x₀ cos ωt` with `ω² = k/m`; rolling, `ω² = k/(m + I/R²)`.
///
/// ```
/// use saltation::Start;
/// use saltation::compliant::{Scheme, Compliant};
/// use saltation::models::SpringCylinder;
/// let cylinder = SpringCylinder::default();
/// let (q, v) = cylinder.start(0.1);
/// let mut stepper = Compliant::new(cylinder)?.time_step(0.005).scheme(Scheme::Midpoint);
/// let run = stepper.integrate(&Start::at(0.0).q(&q).v(&v), 1.0)?.completed()?;
/// let exact = 0.1 * (100.0_f64 / 0.75).sqrt().cos();
/// assert!((run.state()[0] - exact).abs() < 1e-3);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpringCylinder {
    /// Mass (kg), > 0.
    pub mass: f64,
    /// Radius (m), > 0.
    pub radius: f64,
    /// Moment of inertia about the axis (kg m²), > 0.
    pub inertia: f64,
    /// Stiffness of the spring (N/m), ≥ 0.
    pub spring: f64,
    /// Stiffness of the ground (N/m), > 0.
    pub stiffness: f64,
    /// Dissipation time of the ground (s), ≥ 0.
    pub dissipation_time: f64,
    /// Coefficient of friction, ≥ 0.
    pub friction: f64,
    /// Gravity (m/s²).
    pub gravity: f64,
}

impl Default for SpringCylinder {
    /// The parameters of the paper's section VI-B: 0.5 kg, 5 cm, 100 N/m; the ground with 1e4 N/m
    /// and 20 ms; friction 1.
    fn default() -> Self {
        let (mass, radius) = (0.5, 0.05);
        Self {
            mass,
            radius,
            inertia: 0.5 * mass * radius * radius,
            spring: 100.0,
            stiffness: 1e4,
            dissipation_time: 0.02,
            friction: 1.0,
            gravity: 9.81,
        }
    }
}

impl SpringCylinder {
    /// At rest with the spring stretched by `x` (m), at the static depth `m g/k` of the ground:
    /// `(q, v)`.
    pub fn start(&self, x: f64) -> ([f64; 3], [f64; 3]) {
        let depth = self.mass * self.gravity / self.stiffness;
        ([x, self.radius - depth, 0.0], [0.0; 3])
    }

    /// The angular frequency of the oscillation (rad/s): rolling where there is friction, else
    /// sliding.
    pub fn frequency(&self) -> f64 {
        let rolling = self.inertia / (self.radius * self.radius);
        let mass = self.mass + if self.friction > 0.0 { rolling } else { 0.0 };
        (self.spring / mass).sqrt()
    }
}

impl MechanicalSystem for SpringCylinder {
    fn dof(&self) -> usize {
        3
    }

    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        let (m, i) = (self.mass, self.inertia);
        store(mass, [m, 0.0, 0.0, 0.0, m, 0.0, 0.0, 0.0, i]);
    }

    fn constant_mass(&self) -> bool {
        true
    }

    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let x = q.first().copied().unwrap_or(f64::NAN);
        store(effort, [-self.spring * x, -self.mass * self.gravity, 0.0]);
    }

    fn springs_and_dampers(
        &self,
        _state: State<'_>,
        stiffness: &mut [f64],
        damping: &mut [f64],
    ) -> bool {
        stiffness.fill(0.0);
        damping.fill(0.0);
        if let Some(entry) = stiffness.first_mut() {
            *entry = self.spring;
        }
        true
    }

    fn potential(&self, q: &[f64]) -> Option<f64> {
        let (x, y) = (q.first()?, q.get(1)?);
        Some(0.5 * self.spring * x * x + self.mass * self.gravity * (y - self.radius))
    }
}

impl UnilateralConstraints for SpringCylinder {
    fn contacts(&self) -> usize {
        1
    }

    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q.get(1).map_or(f64::NAN, |y| y - self.radius)
    }

    fn gap_row(&self, _j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        store_unit(row, 1, 1.0);
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
        1
    }

    fn constant_tangents(&self, _j: usize) -> bool {
        true
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        store(rows, [1.0, 0.0, self.radius]);
    }
}
