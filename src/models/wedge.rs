//! A disc between two walls that can jam it.

use super::contact_problem::impact_at;
use super::linkage::{Body, LineContact, Linkage, Point, linkage_system};
use crate::impact::{ImpactFailure, ImpactProblem};

/// A disc that falls between two walls that meet below it.
///
/// `q = (x, y, θ)`: centre (m) and attitude (rad) of the disc; the walls meet at the origin.
/// Contact 0 is the left wall, contact 1 the right one. Slip is positive where the disc moves along
/// `(n_y, −n_x)`, n the normal towards the disc: up along the right wall, down along the left one.
/// Moment of inertia `m r²/2`.
///
/// The line between the contacts lies in both friction cones when `μ ≥ tan α`, α the angle of each
/// wall with the vertical. Then the forces of the contacts can cancel, the disc can jam, and no
/// bound on the impulse exists: [`ContactCone::is_pointed`] is false. The model is ours.
///
/// [`ContactCone::is_pointed`]: crate::impact::ContactCone::is_pointed
///
/// ```
/// use saltation::impact::ContactCone;
/// use saltation::models::Wedge;
/// let wedge = Wedge::default(); // tan 30° = 0.577
/// assert!(!ContactCone::of(&wedge.impact()?)?.is_pointed());
/// let slippery = Wedge { friction: 0.5, ..wedge };
/// assert!(ContactCone::of(&slippery.impact()?)?.is_pointed());
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wedge {
    /// Angle α of each wall with the vertical (rad), in (0, π/2).
    pub half_angle: f64,
    /// Radius (m), > 0.
    pub radius: f64,
    /// Mass (kg), > 0.
    pub mass: f64,
    /// Coefficient of friction of both walls, ≥ 0.
    pub friction: f64,
    /// Gravity (m/s²).
    pub gravity: f64,
}

/// 30°, 0.5 m, 1 kg, coefficient of friction 0.8, 9.81 m/s².
impl Default for Wedge {
    fn default() -> Self {
        Self {
            half_angle: 30.0_f64.to_radians(),
            radius: 0.5,
            mass: 1.0,
            friction: 0.8,
            gravity: 9.81,
        }
    }
}

const SPIN: u8 = 0b100;

impl Wedge {
    /// `q` and `v` of a disc that touches both walls and falls at 1 m/s with a spin (rad/s).
    pub fn landing(&self, spin: f64) -> ([f64; 3], [f64; 3]) {
        let height = self.radius / self.half_angle.sin();
        ([0.0, height, 0.0], [0.0, -1.0, spin])
    }

    /// The impact of both contacts, without spin.
    ///
    /// # Errors
    /// As [`ImpactProblem::from_contacts`], for parameters out of their ranges.
    pub fn impact(&self) -> Result<ImpactProblem, ImpactFailure> {
        let (q, v) = self.landing(0.0);
        impact_at(self, &q, &v)
    }
}

impl Linkage for Wedge {
    const DOF: usize = 3;
    const CONTACTS: usize = 2;

    fn bodies(&self) -> impl IntoIterator<Item = Body> {
        let inertia = 0.5 * self.mass * self.radius * self.radius;
        Body::alone(self.mass, inertia, SPIN)
    }

    fn contact(&self, j: usize) -> LineContact {
        let (sine, cosine) = self.half_angle.sin_cos();
        LineContact {
            centre: Point::base(),
            radius: self.radius,
            angle: SPIN,
            normal: [if j == 0 { cosine } else { -cosine }, sine],
            offset: 0.0,
        }
    }
}

linkage_system!(Wedge);
