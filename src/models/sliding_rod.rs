//! A rod that slides on a floor: impact without collision (Painlevé).

use super::contact_problem::impact_at;
use super::linkage::{Arm, Body, LineContact, Linkage, Point, linkage_system};
use crate::impact::{ImpactFailure, ImpactProblem};

/// A uniform thin rod whose lower end slides on a floor with friction.
///
/// `q = (x, y, θ)`: centre (m) and angle from the floor (rad). Contact 0 is the lower end, at the
/// left of the centre for `0 < θ < π/2`. Moment of inertia `m ℓ²/3` for the half length `ℓ`.
///
/// With `μ` above [`critical_friction`](Self::critical_friction) no contact force holds the end of
/// a rod that slides to the left, if the end accelerates downwards without one: an impact starts at
/// zero normal speed. The default has 2 for 4/3, `ℓ` = 1 m, 1 kg and tan θ = 2.
///
/// ```
/// use saltation::impact::{AnitescuPotra, ImpactLaw};
/// use saltation::models::SlidingRod;
/// let rod = SlidingRod::default();
/// assert!((rod.critical_friction(2.0_f64.atan()) - 4.0 / 3.0).abs() < 1e-15);
/// // It slides on, or it jams and is thrown up.
/// let outcomes = AnitescuPotra::new().resolve(&rod.impact()?)?;
/// assert_eq!(outcomes.list.len(), 2);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlidingRod {
    /// Half of the length (m), > 0.
    pub half_length: f64,
    /// Mass (kg), > 0.
    pub mass: f64,
    /// Coefficient of friction, ≥ 0.
    pub friction: f64,
    /// Gravity (m/s²).
    pub gravity: f64,
}

impl Default for SlidingRod {
    fn default() -> Self {
        Self {
            half_length: 1.0,
            mass: 1.0,
            friction: 2.0,
            gravity: 9.81,
        }
    }
}

const TILT: u8 = 0b100;

impl SlidingRod {
    /// `q` and `v` of a rod with its end on the floor at the angle `theta` (rad), that moves along
    /// the floor at `speed` (m/s, to the right) without turning.
    pub fn sliding(&self, theta: f64, speed: f64) -> ([f64; 3], [f64; 3]) {
        let height = self.half_length * theta.sin();
        ([0.0, height, theta], [speed, 0.0, 0.0])
    }

    /// The coefficient of friction above which a normal force on the sliding end accelerates it
    /// downwards, at the angle `theta` (rad): `(1 + 3 cos²θ)/(3 sin θ cos θ)`.
    pub fn critical_friction(&self, theta: f64) -> f64 {
        let (sine, cosine) = theta.sin_cos();
        (1.0 + 3.0 * cosine * cosine) / (3.0 * sine * cosine)
    }

    /// The impact of the lower end at tan θ = 2, sliding to the left at 1 m/s with zero normal
    /// speed.
    ///
    /// # Errors
    /// As [`ImpactProblem::from_contacts`], for parameters out of their ranges.
    pub fn impact(&self) -> Result<ImpactProblem, ImpactFailure> {
        let (q, v) = self.sliding(2.0_f64.atan(), -1.0);
        impact_at(self, &q, &v)
    }
}

impl Linkage for SlidingRod {
    const DOF: usize = 3;
    const CONTACTS: usize = 1;

    fn bodies(&self) -> impl IntoIterator<Item = Body> {
        Body::alone(
            self.mass,
            self.mass * self.half_length * self.half_length / 3.0,
            TILT,
        )
    }

    fn contact(&self, _j: usize) -> LineContact {
        LineContact::on_floor(Point::at(Arm::new([-self.half_length, 0.0], TILT)))
    }
}

linkage_system!(SlidingRod);
