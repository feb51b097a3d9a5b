//! Rods and ropes between bodies.

use nalgebra::Vector3;

use super::anchor::{Anchor, Hold, add_rows, along, check_pair, places};
use crate::compliant::{Bounds, Compliance, Problem, StepState, StepTerm};
use crate::{InputError, validate};

/// Holds two points at a distance: a rod without mass. A rope only pulls.
///
/// Adds one row along the line from the second point to the first; its impulse is positive where
/// the rod pushes them apart. Where both points coincide the line is the x axis of the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DistanceJoint {
    anchors: [Anchor; 2],
    length: f64,
    rope: bool,
    compliance: Compliance,
}

impl DistanceJoint {
    /// A rod of `length` > 0 (m) between a point of one body and one of another, or of the world.
    pub fn new(first: Anchor, second: Anchor, length: f64) -> Self {
        Self {
            anchors: [first, second],
            length,
            rope: false,
            compliance: Compliance::default(),
        }
    }

    /// Pulls only: the points may come closer.
    #[must_use]
    pub fn rope(mut self) -> Self {
        self.rope = true;
        self
    }

    /// Sets the compliance of the distance; by default rigid.
    #[must_use]
    pub fn compliance(mut self, compliance: Compliance) -> Self {
        self.compliance = compliance;
        self
    }
}

impl StepTerm for DistanceJoint {
    fn check(&self, coordinates: usize, dof: usize) -> Result<(), InputError> {
        check_pair(self.anchors.each_ref(), coordinates, dof)?;
        validate::positive("length of a distance joint", &[self.length])?;
        self.compliance.check()
    }

    fn add(&self, state: &StepState<'_>, problem: &mut Problem) -> Result<(), InputError> {
        self.check(state.q.len(), state.v.len())?;
        let places = places(self.anchors.each_ref(), state)?;
        let between = places[0].point - places[1].point;
        let distance = between.norm();
        let line = between.try_normalize(0.0).unwrap_or(Vector3::x());
        let bounds = if self.rope {
            Bounds::PULL
        } else {
            Bounds::BOTH
        };
        let row = (along(&places, &line), distance - self.length);
        let hold = Hold {
            compliance: self.compliance,
            bounds,
        };
        add_rows(problem, state.dt, &places, &[row], hold)
    }
}
