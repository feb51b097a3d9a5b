//! A block that lands on two corners, and rocks (Halm & Posa, sections 4.3 and 5.4.1).

use super::contact_problem::impact_at;
use super::linkage::{Arm, Body, LineContact, Linkage, Point, linkage_system};
use crate::impact::{ImpactFailure, ImpactProblem};

/// A solid rectangular block on a floor with friction.
///
/// `q = (x, y, θ)`: centre (m) and attitude (rad), `θ > 0` where the right corner is higher.
/// Contact 0 is the lower left corner A, contact 1 the lower right corner B. The slip of a corner
/// is positive to the right. Moment of inertia `m (w² + h²)/12`.
///
/// Source: Halm & Posa, Table 4 and Fig. 9, which the default takes. [`RigidTrot::block`] is a
/// block without friction.
///
/// [`RigidTrot::block`]: super::RigidTrot::block
///
/// ```
/// use saltation::impact::{ExactPlanar, ImpactLaw, InOrder};
/// use saltation::models::RockingBlock;
/// let impact = RockingBlock::default().impact()?;
/// // Left corner first: the block pivots, the right corner lands, and the left one lifts.
/// let outcome = InOrder::new(&[0, 1]).outcome(&impact)?;
/// assert!((outcome.speeds[0] - 0.0930183853).abs() < 1e-10);
/// assert!(ExactPlanar::new().resolve(&impact)?.contains(outcome.speeds.as_slice(), 1e-11));
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RockingBlock {
    /// Width `w` (m), > 0.
    pub width: f64,
    /// Height `h` (m), > 0.
    pub height: f64,
    /// Mass (kg), > 0.
    pub mass: f64,
    /// Coefficient of friction of both corners, ≥ 0.
    pub friction: f64,
    /// Gravity (m/s²).
    pub gravity: f64,
    /// Height of the fall before [`landing`](Self::landing) (m), ≥ 0.
    pub drop: f64,
}

/// 1 m wide, 2 m high, 1 kg, coefficient of friction 1, 9.81 m/s², a fall of 0.01 m.
impl Default for RockingBlock {
    fn default() -> Self {
        Self {
            width: 1.0,
            height: 2.0,
            mass: 1.0,
            friction: 1.0,
            gravity: 9.81,
            drop: 0.01,
        }
    }
}

const TILT: u8 = 0b100;

impl RockingBlock {
    /// `q` and `v` at the end of the fall: level, both corners on the floor.
    pub fn landing(&self) -> ([f64; 3], [f64; 3]) {
        let speed = (2.0 * self.gravity * self.drop).sqrt();
        ([0.0, 0.5 * self.height, 0.0], [0.0, -speed, 0.0])
    }

    /// `q` and `v` of a block that pivots about a corner on the floor with the tilt `theta` (rad)
    /// and the rate `rate` (rad/s): about A for `theta > 0` and for `theta = 0`, `rate ≥ 0`, else
    /// about B. The corner lies at x = ∓w/2.
    pub fn pivoting(&self, theta: f64, rate: f64) -> ([f64; 3], [f64; 3]) {
        let on_left = theta > 0.0 || (theta >= 0.0 && rate >= 0.0);
        let side = if on_left { 0.5 } else { -0.5 } * self.width;
        let (sine, cosine) = theta.sin_cos();
        // from the corner to the centre
        let x = side * cosine - 0.5 * self.height * sine;
        let y = side * sine + 0.5 * self.height * cosine;
        ([x - side, y, theta], [-y * rate, x * rate, rate])
    }

    /// The impact of both corners at the end of the fall.
    ///
    /// # Errors
    /// As [`ImpactProblem::from_contacts`], for parameters out of their ranges.
    pub fn impact(&self) -> Result<ImpactProblem, ImpactFailure> {
        let (q, v) = self.landing();
        impact_at(self, &q, &v)
    }
}

impl Linkage for RockingBlock {
    const DOF: usize = 3;
    const CONTACTS: usize = 2;

    fn bodies(&self) -> impl IntoIterator<Item = Body> {
        let (w, h) = (self.width, self.height);
        Body::alone(self.mass, self.mass * (w * w + h * h) / 12.0, TILT)
    }

    fn contact(&self, j: usize) -> LineContact {
        let side = if j == 0 { -0.5 } else { 0.5 };
        let corner = [side * self.width, -0.5 * self.height];
        LineContact::on_floor(Point::at(Arm::new(corner, TILT)))
    }
}

linkage_system!(RockingBlock);
