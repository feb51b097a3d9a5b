//! One shot: where the balls are, and how they move before and after.

use saltation::Error;
use saltation::impact::{AllOutcomes, ImpactLaw, indeterminacy};
use saltation::models::ThreeBalls;

/// Names of the balls, in the order of the coordinates.
pub(crate) const BALLS: [&str; 3] = ["a", "b", "c"];

/// A place or a velocity in the plane.
pub(crate) type Plane = [f64; 2];

/// An impact of three balls and all that can come of it.
pub(crate) struct Shot {
    pub(crate) theta: f64,
    /// Radii and centres of a, b, c.
    pub(crate) radii: [f64; 3],
    pub(crate) centres: [Plane; 3],
    /// In percent.
    pub(crate) indeterminacy: f64,
    pub(crate) before: [Plane; 3],
    pub(crate) after: Vec<After>,
}

/// One outcome.
pub(crate) struct After {
    /// The balls that c hits, one after the other.
    pub(crate) hits: Vec<&'static str>,
    pub(crate) velocities: [Plane; 3],
    /// Kinetic energy over that before.
    pub(crate) energy: f64,
}

impl Shot {
    pub(crate) fn of(balls: ThreeBalls, theta: f64) -> Result<Self, Error> {
        let impact = balls.impact(theta)?;
        let radii = [balls.radius_a, balls.radius_b, balls.radius_c];
        let (sin, cos) = (0.5 * theta).sin_cos();
        let (to_a, to_b) = (radii[0] + radii[2], radii[1] + radii[2]);
        let mut after = Vec::new();
        for outcome in AllOutcomes::new().resolve(&impact)?.list {
            let velocity = impact.velocity_after(&outcome)?;
            let of = |ball: usize| [velocity[2 * ball], velocity[2 * ball + 1]];
            // contact 0 is that of a and c, contact 1 that of b and c
            let hits = outcome.word().iter().map(|&contact| BALLS[contact]);
            after.push(After {
                hits: hits.collect(),
                velocities: [of(0), of(1), of(2)],
                energy: 1.0 + 2.0 * outcome.energy_change / impact.kinetic_norm().powi(2),
            });
        }
        Ok(Self {
            theta,
            radii,
            centres: [
                [to_a * cos, to_a * sin],
                [to_b * cos, -to_b * sin],
                [0.0; 2],
            ],
            indeterminacy: 100.0 * indeterminacy(&impact)?,
            before: [[0.0; 2], [0.0; 2], [1.0, 0.0]],
            after,
        })
    }
}

impl After {
    /// `c hits a, then b`.
    pub(crate) fn in_words(&self) -> String {
        format!("c hits {}", self.hits.join(", then "))
    }
}
