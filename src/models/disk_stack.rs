//! A disk falls on two others (Halm & Posa, Fig. 14, section 5.4.5).

use nalgebra::{DMatrix, DVector};

use super::contact_problem::impact_at;
use super::slices::load;
use crate::impact::{ImpactFailure, ImpactProblem};
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};

/// Three equal disks in the plane: one falls on two that touch each other and the floor.
///
/// `q` holds centre (m) and attitude (rad) of the top disk 0, the left disk 1 and the right disk 2.
/// Contacts: A (0) and B (1) of disks 1 and 2 with the floor `y = 0`, C (2) and D (3) of the top
/// disk with disks 1 and 2, E (4) between disks 1 and 2. The normal of a pair points to the disk
/// named first for C and D, to disk 2 for E; slip is that of the disk it points to over the other,
/// along `(n_y, −n_x)`. Moments of inertia `m r²/2`.
///
/// Source: Halm & Posa, Table 8, which the default takes. Their published code solves another
/// problem: [`impact_as_coded`](Self::impact_as_coded).
///
/// ```
/// use saltation::impact::{ImpactLaw, InOrder};
/// use saltation::models::DiskStack;
/// // Floor contacts first: the top disk stays on the right disk, and the stack falls apart.
/// let outcome = InOrder::new(&[0, 1, 2, 3, 4]).tolerance(1e-14).outcome(&DiskStack::default().impact()?)?;
/// assert!((outcome.speeds[2] - 0.0417103350).abs() < 1e-9);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiskStack {
    /// Radius (m), > 0.
    pub radius: f64,
    /// Mass of a disk (kg), > 0.
    pub mass: f64,
    /// Speed of the fall (m/s).
    pub speed: f64,
    /// Coefficient of friction of all contacts, ≥ 0.
    pub friction: f64,
    /// Gravity (m/s²).
    pub gravity: f64,
}

/// 1 m, 1 kg, 1 m/s, coefficient of friction √3, 9.81 m/s².
impl Default for DiskStack {
    fn default() -> Self {
        Self {
            radius: 1.0,
            mass: 1.0,
            speed: 1.0,
            friction: 3.0_f64.sqrt(),
            gravity: 9.81,
        }
    }
}

const DOF: usize = 9;
/// The disks of contacts C, D and E: the one the normal points to, then the other.
const PAIRS: [[usize; 2]; 3] = [[0, 1], [0, 2], [2, 1]];

/// A contact at a configuration.
struct Touch {
    /// The disk that the normal points to.
    disk: usize,
    /// The other; none for the floor.
    other: Option<usize>,
    normal: [f64; 2],
    /// Distance of the centres, or height of the centre.
    distance: f64,
}

/// Contact `j` at a configuration.
fn touch(j: usize, q: &[f64]) -> Touch {
    let q: [f64; DOF] = load(q);
    let centre = |disk: usize| [q[3 * disk], q[3 * disk + 1]];
    if j < 2 {
        return Touch {
            disk: j + 1,
            other: None,
            normal: [0.0, 1.0],
            distance: centre(j + 1)[1],
        };
    }
    let [disk, other] = PAIRS[(j - 2).min(2)];
    let ([x, y], [x0, y0]) = (centre(disk), centre(other));
    let distance = (x - x0).hypot(y - y0);
    Touch {
        disk,
        other: Some(other),
        normal: [(x - x0) / distance, (y - y0) / distance],
        distance,
    }
}

impl DiskStack {
    /// `q` and `v` when the top disk lands.
    pub fn landing(&self) -> ([f64; 9], [f64; 9]) {
        let r = self.radius;
        let top = r * (1.0 + 3.0_f64.sqrt());
        let q = [r, top, 0.0, 0.0, r, 0.0, 2.0 * r, r, 0.0];
        let mut v = [0.0; 9];
        v[1] = -self.speed;
        (q, v)
    }

    /// The impact of all contacts.
    ///
    /// # Errors
    /// As [`ImpactProblem::from_contacts`], for parameters out of their ranges.
    pub fn impact(&self) -> Result<ImpactProblem, ImpactFailure> {
        let (q, v) = self.landing();
        impact_at(self, &q, &v)
    }

    /// The problem that the published code of Halm & Posa solves: disks of five times the mass, and
    /// tangents `(n_y, n_x)`, which between disks are not orthogonal to the normal. The steps a
    /// sample in their Table 3 belong to it.
    ///
    /// # Errors
    /// As [`ImpactProblem::from_mechanics_with_tangents`], for parameters out of their ranges.
    pub fn impact_as_coded(&self) -> Result<ImpactProblem, ImpactFailure> {
        let coded = Self {
            mass: 5.0 * self.mass,
            ..*self
        };
        let (q, v) = coded.landing();
        let mut mass = DMatrix::zeros(DOF, DOF);
        coded.mass(&q, mass.as_mut_slice());
        let mut transposed = DMatrix::zeros(DOF, 10);
        for (column, mut row) in transposed.column_iter_mut().enumerate() {
            let touch = touch(column % 5, &q);
            let [x, y] = touch.normal;
            let direction = if column < 5 { [x, y] } else { [y, x] };
            coded.row(&touch, direction, row.as_mut_slice());
        }
        let velocity = DVector::from_column_slice(&v);
        let jacobian = transposed.transpose();
        ImpactProblem::from_mechanics_with_tangents(
            &mass,
            &jacobian,
            &velocity,
            &[self.friction; 5],
        )?
        .with_restitution(0.0)
    }

    /// The row of the relative velocity of the touching points along a direction.
    fn row(&self, touch: &Touch, [dx, dy]: [f64; 2], row: &mut [f64]) {
        let [x, y] = touch.normal;
        // of the disk at −r n from its centre; of the other at r n, with the opposite sign
        let lever = self.radius * (dx * y - dy * x);
        let mut values = [0.0; DOF];
        for (disk, sign) in [(Some(touch.disk), 1.0), (touch.other, -1.0)] {
            let Some(disk) = disk else { continue };
            values[3 * disk] = sign * dx;
            values[3 * disk + 1] = sign * dy;
            values[3 * disk + 2] = lever;
        }
        super::slices::store(row, values);
    }
}

impl MechanicalSystem for DiskStack {
    fn time_scale(&self) -> Option<f64> {
        Some(f64::INFINITY)
    }

    fn dof(&self) -> usize {
        DOF
    }

    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        let inertia = 0.5 * self.mass * self.radius * self.radius;
        for (i, entry) in mass.iter_mut().step_by(DOF + 1).enumerate() {
            *entry = if i % 3 == 2 { inertia } else { self.mass };
        }
    }

    fn trees(&self) -> usize {
        3
    }

    fn tree(&self, i: usize) -> std::ops::Range<usize> {
        3 * i..3 * i + 3
    }

    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
        for force in effort.iter_mut().skip(1).step_by(3) {
            *force = -self.mass * self.gravity;
        }
    }

    fn effort_along(&self, _: State<'_>, _: &[f64], out: &mut [f64]) -> bool {
        out.fill(0.0);
        true
    }

    fn constant_mass(&self) -> bool {
        true
    }

    fn potential(&self, q: &[f64]) -> Option<f64> {
        let heights: f64 = q.iter().skip(1).step_by(3).sum();
        Some(self.mass * self.gravity * heights)
    }
}

impl UnilateralConstraints for DiskStack {
    fn contacts(&self) -> usize {
        5
    }

    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let touch = touch(j, q);
        let radii = if touch.other.is_some() { 2.0 } else { 1.0 };
        touch.distance - radii * self.radius
    }

    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        let touch = touch(j, q);
        self.row(&touch, touch.normal, row);
        true
    }

    fn constant_row(&self, j: usize) -> bool {
        j < 2
    }

    fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        let touch = touch(j, q);
        let Some(other) = touch.other else {
            return Some(0.0);
        };
        let v: [f64; DOF] = load(v);
        let rate = |i: usize| v[3 * touch.disk + i] - v[3 * other + i];
        let [x, y] = touch.normal;
        let across = rate(0) * y - rate(1) * x;
        Some(across * across / touch.distance)
    }

    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }

    fn tangents(&self, _j: usize) -> usize {
        1
    }

    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        let touch = touch(j, q);
        let [x, y] = touch.normal;
        self.row(&touch, [y, -x], rows);
    }
}
