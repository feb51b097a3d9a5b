//! A box that slides into a wall (Halm & Posa, Fig. 5, section 5.4.3).

use super::contact_problem::impact_at;
use super::linkage::{Arm, Body, LineContact, Linkage, Point, linkage_system};
use crate::impact::{ImpactFailure, ImpactProblem};

/// A square box that slides on one corner and hits a wall with the next.
///
/// `q = (x, y, θ)`: centre (m) and attitude (rad). The floor is `y = 0`, the wall `x = 0` with the
/// box at its left. Contact 0 is the corner A on the floor, lower left at `θ = 0`; contact 1 the
/// corner B at the wall, lower right at `θ = 0`. The slip at the floor is positive to the right,
/// the slip at the wall upwards. The other two corners do not touch anything. Moment of inertia
/// `m w²/6`.
///
/// Source: Halm & Posa, Table 6 and Fig. 11, which the default takes.
///
/// ```
/// use saltation::impact::{AnitescuPotra, ImpactLaw, InOrder};
/// use saltation::models::BoxAndWall;
/// let impact = BoxAndWall::default().impact()?;
/// // All at once, the box comes to rest; one after another, it leaves the wall.
/// assert!(AnitescuPotra::new().outcome(&impact)?.speeds.amax() < 1e-12);
/// assert!(InOrder::new(&[1, 0]).outcome(&impact)?.speeds[1] > 0.1);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxAndWall {
    /// Length `w` of a side (m), > 0.
    pub side: f64,
    /// Mass (kg), > 0.
    pub mass: f64,
    /// Angle between the floor and the side of the box that comes down to it from the wall (rad),
    /// in (0, π/4).
    pub tilt: f64,
    /// Speed to the right before the impact (m/s).
    pub speed: f64,
    /// Coefficient of friction of both contacts, ≥ 0.
    pub friction: f64,
    /// Gravity (m/s²).
    pub gravity: f64,
}

/// 1 m, 1 kg, 10°, 1 m/s, coefficient of friction 1, 9.81 m/s².
impl Default for BoxAndWall {
    fn default() -> Self {
        Self {
            side: 1.0,
            mass: 1.0,
            tilt: 10.0_f64.to_radians(),
            speed: 1.0,
            friction: 1.0,
            gravity: 9.81,
        }
    }
}

const TILT: u8 = 0b100;

impl BoxAndWall {
    /// `q` and `v` at the instant of the impact.
    pub fn sliding(&self) -> ([f64; 3], [f64; 3]) {
        let (sine, cosine) = self.tilt.sin_cos();
        let reach = 0.5 * self.side * (cosine + sine);
        let attitude = std::f64::consts::FRAC_PI_2 - self.tilt;
        ([-reach, reach, attitude], [self.speed, 0.0, 0.0])
    }

    /// The impact of both corners.
    ///
    /// # Errors
    /// As [`ImpactProblem::from_contacts`], for parameters out of their ranges.
    pub fn impact(&self) -> Result<ImpactProblem, ImpactFailure> {
        let (q, v) = self.sliding();
        impact_at(self, &q, &v)
    }
}

impl Linkage for BoxAndWall {
    const DOF: usize = 3;
    const CONTACTS: usize = 2;

    fn bodies(&self) -> impl IntoIterator<Item = Body> {
        Body::alone(self.mass, self.mass * self.side * self.side / 6.0, TILT)
    }

    fn contact(&self, j: usize) -> LineContact {
        let half = 0.5 * self.side;
        let corner = |x: f64| Point::at(Arm::new([x, -half], TILT));
        if j == 0 {
            LineContact::on_floor(corner(-half))
        } else {
            LineContact {
                normal: [-1.0, 0.0],
                ..LineContact::on_floor(corner(half))
            }
        }
    }
}

linkage_system!(BoxAndWall);
