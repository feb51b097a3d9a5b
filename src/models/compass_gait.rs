//! A walker of two legs that takes a wide step (Halm & Posa, Fig. 4, section 5.4.2).

use super::contact_problem::impact_at;
use super::linkage::{Arm, Body, LineContact, Linkage, Point, linkage_system};
use crate::impact::{ImpactFailure, ImpactProblem};

/// Two legs with a point mass each, joined at the hip; no mass at the hip.
///
/// `q = (x, y, θ_A, θ_B)`: hip (m) and attitudes of the legs (rad); the foot of a leg is at
/// `(x + ℓ sin θ, y − ℓ cos θ)`. Contact 0 is the leading foot A, contact 1 the trailing foot B, on
/// the floor `y = 0`; slip is positive to the right. The walker moves to the left.
///
/// Source: Halm & Posa, Table 5 and Fig. 10, which the default takes; after C. D. Remy, "Ambiguous
/// collision outcomes and sliding with infinite friction in models of legged systems" (IJRR 2017).
///
/// ```
/// use saltation::impact::{AnitescuPotra, ImpactLaw};
/// use saltation::models::CompassGait;
/// // The trailing foot lifts, slides, or sticks.
/// let outcomes = AnitescuPotra::new().resolve(&CompassGait::default().impact()?)?;
/// assert_eq!(outcomes.list.len(), 3);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CompassGait {
    /// Length ℓ of a leg (m), > 0.
    pub leg: f64,
    /// Distance of the mass of a leg from its foot (m), in [0, ℓ).
    pub mass_to_foot: f64,
    /// Mass of a leg (kg), > 0.
    pub mass: f64,
    /// Angle of each leg with the vertical at the step (rad), in (0, π/2).
    pub spread: f64,
    /// Rate of both legs at the step (rad/s).
    pub rate: f64,
    /// Coefficient of friction of both feet, ≥ 0.
    pub friction: f64,
    /// Gravity (m/s²).
    pub gravity: f64,
}

/// 1 m, 0.5 m, 1 kg, 78°, 0.25 rad/s, coefficient of friction 5, 9.81 m/s².
impl Default for CompassGait {
    fn default() -> Self {
        Self {
            leg: 1.0,
            mass_to_foot: 0.5,
            mass: 1.0,
            spread: 78.0_f64.to_radians(),
            rate: 0.25,
            friction: 5.0,
            gravity: 9.81,
        }
    }
}

/// The attitude of the leg of foot `j`.
fn attitude(j: usize) -> u8 {
    if j == 0 { 0b0100 } else { 0b1000 }
}

/// A point of the leg of foot `j`.
fn on_leg(j: usize, from_hip: f64) -> Point {
    Point::at(Arm::new([0.0, -from_hip], attitude(j)))
}

impl CompassGait {
    /// `q` and `v` at the step: both feet on the floor, B at rest at the origin, A coming down.
    pub fn stepping(&self) -> ([f64; 4], [f64; 4]) {
        let (sine, cosine) = self.spread.sin_cos();
        let hip = [-self.leg * sine, self.leg * cosine];
        (
            [hip[0], hip[1], -self.spread, self.spread],
            [
                -self.rate * hip[1],
                self.rate * hip[0],
                self.rate,
                self.rate,
            ],
        )
    }

    /// The impact of both feet at the step.
    ///
    /// # Errors
    /// As [`ImpactProblem::from_contacts`], for parameters out of their ranges.
    pub fn impact(&self) -> Result<ImpactProblem, ImpactFailure> {
        let (q, v) = self.stepping();
        impact_at(self, &q, &v)
    }
}

impl Linkage for CompassGait {
    const DOF: usize = 4;
    const CONTACTS: usize = 2;

    fn bodies(&self) -> impl IntoIterator<Item = Body> {
        [0, 1].map(|j| Body {
            mass: self.mass,
            inertia: 0.0,
            centre: on_leg(j, self.leg - self.mass_to_foot),
            angle: attitude(j),
        })
    }

    fn contact(&self, j: usize) -> LineContact {
        LineContact::on_floor(on_leg(j, self.leg))
    }
}

linkage_system!(CompassGait);
