//! A block that slides on a slope: friction with closed forms.

use super::slices::{load, store, store_unit};
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};

/// A point mass on a slope with Coulomb friction, one contact.
///
/// `q = (x, y)`: up the slope, and away from it (m). The gap is `y`. With the angle `α` of the
/// slope gravity is `(−g sin α, −g cos α)`; the block sticks for `tan α ≤ μ`. Thrown at `v` along a
/// level floor it stops after `v/(μ g)` at `v²/(2 μ g)`.
///
/// ```
/// use saltation::models::SlidingBlock;
/// use saltation::{ContactModel, Start, Variational};
/// let block = SlidingBlock { friction: 0.3, ..SlidingBlock::default() };
/// let mut driver = Variational::new(ContactModel::new(block))?.time_step(0.01).frictionless_impacts();
/// let run = driver.integrate(&Start::at(0.0).q(&[0.0, 0.0]).v(&[2.0, 0.0]), 1.0)?.completed()?;
/// assert_eq!(run.state()[2], 0.0); // it stands
/// assert!((run.state()[0] - 4.0 / (2.0 * 0.3 * 9.81)).abs() < 1e-4);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlidingBlock {
    /// Mass (kg), > 0.
    pub mass: f64,
    /// Gravity (m/s²).
    pub gravity: f64,
    /// Angle of the slope (rad), positive where it rises along x.
    pub slope: f64,
    /// Coefficient of friction, ≥ 0.
    pub friction: f64,
    /// Coefficient of restitution, in [0, 1].
    pub restitution: f64,
}

impl Default for SlidingBlock {
    /// 1 kg on a level floor, μ = 0.3, plastic.
    fn default() -> Self {
        Self {
            mass: 1.0,
            gravity: 9.81,
            slope: 0.0,
            friction: 0.3,
            restitution: 0.0,
        }
    }
}

impl MechanicalSystem for SlidingBlock {
    fn dof(&self) -> usize {
        2
    }

    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        store(mass, [self.mass, 0.0, 0.0, self.mass]);
    }

    fn constant_mass(&self) -> bool {
        true
    }

    fn time_scale(&self) -> Option<f64> {
        Some(f64::INFINITY)
    }

    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let (sin, cos) = self.slope.sin_cos();
        let weight = self.mass * self.gravity;
        store(effort, [-weight * sin, -weight * cos]);
    }

    fn effort_along(&self, _at: State<'_>, _directions: &[f64], out: &mut [f64]) -> bool {
        out.fill(0.0);
        true
    }

    fn potential(&self, q: &[f64]) -> Option<f64> {
        let ([x, y], (sin, cos)) = (load(q), self.slope.sin_cos());
        Some(self.mass * self.gravity * (x * sin + y * cos))
    }
}

impl UnilateralConstraints for SlidingBlock {
    fn contacts(&self) -> usize {
        1
    }

    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        let [_, y]: [f64; 2] = load(q);
        y
    }

    fn gap_row(&self, _j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        store_unit(row, 1, 1.0);
        true
    }

    fn constant_row(&self, _j: usize) -> bool {
        true
    }

    fn curvature(&self, _j: usize, _q: &[f64], _v: &[f64]) -> Option<f64> {
        Some(0.0)
    }

    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
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
        store_unit(rows, 0, 1.0);
    }
}
