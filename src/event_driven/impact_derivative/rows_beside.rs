//! Rows of the contacts of an impact on both sides of a state, where they are differences.

use super::nearby_event::NearbyEvent;
use crate::event_driven::Model;
use crate::linalg::largest;
use crate::mechanics::motion::coarse_steps::Coarse;
use crate::ode::difference::step_along;
use crate::ode::straight::{extrapolated, off_of_largest, shorten_until_straight};

/// Rounding of what impacts change over a step, as a part of the state, above which rows by differences are followed
/// by their own derivative; and above which they are not known where they cannot be.
const SEEN: f64 = 1e-6;
const KNOWN: f64 = 1e-3;

/// The rows of the contacts of an event along a displacement, to first order.
pub(super) struct RowsBeside {
    here: Vec<f64>,
    along: Vec<f64>,
}

/// The rows of impacts on both sides of a state.
pub(super) enum Rows {
    OfTheSystem,
    Linear(RowsBeside),
    /// Their rounding hides how the impact changes.
    Unknown,
}

impl RowsBeside {
    /// Rows a step away.
    pub(super) fn at(&self, step: f64) -> Vec<f64> {
        let pairs = self.here.iter().zip(&self.along);
        pairs.map(|(here, along)| here + step * along).collect()
    }
}

impl Model<'_> {
    /// The rows of the contacts on both sides, where they are differences and the `longest` step is so short that
    /// their rounding would be seen in what they change: by differences over a step that suits them. They are not
    /// known where other contacts are closed, or are held by friction.
    pub(super) fn rows_beside(
        &self,
        nearby: &NearbyEvent,
        longest: f64,
        [x, dx]: [&[f64]; 2],
        moved: impl Fn(f64) -> Vec<f64>,
    ) -> Rows {
        // How far the state moves, as a part of itself.
        let reach = longest * largest(dx) / largest(x).max(1.0);
        let is_seen = |part: f64| reach > 0.0 && nearby.coarse.rounding(1.0, reach) > part;
        if nearby.coarse == Coarse::WRITTEN || !is_seen(SEEN) {
            return Rows::OfTheSystem;
        }
        let mut closed = self.layout().closed(&nearby.mode_after);
        let is_alone = closed.all(|j| nearby.touching.contains(&j))
            && self.layout().closed(&nearby.mode_before).next().is_none()
            && !self.has_friction_in(&nearby.mode_after);
        if !is_alone {
            return if is_seen(KNOWN) {
                Rows::Unknown
            } else {
                Rows::OfTheSystem
            };
        }
        let rows = |state: &[f64]| self.bodies.rows_of(self.parts(state).0, &nearby.touching);
        let here = rows(x);
        let over = |step: f64| -> Vec<f64> {
            let [ahead, behind] = [step, -step].map(|step| rows(&moved(step)));
            let pairs = ahead.iter().zip(&behind);
            pairs.map(|(a, b)| (a - b) / (2.0 * step)).collect()
        };
        let usual = nearby.coarse.factor * step_along(0.0, x, 0.0, dx);
        let (mut found, mut bent) = ((Vec::new(), Vec::new()), f64::INFINITY);
        shorten_until_straight(usual, |step| {
            found = (over(step), over(2.0 * step));
            let rounding = nearby.coarse.rounding(largest(&here), step);
            bent = off_of_largest(&found.0, &found.1, rounding, |_| 1.0);
            bent
        });
        if bent.is_nan() || bent > KNOWN {
            return Rows::Unknown;
        }
        let pairs = found.0.iter().zip(&found.1);
        Rows::Linear(RowsBeside {
            along: pairs.map(|(near, far)| extrapolated(*near, *far)).collect(),
            here,
        })
    }
}
