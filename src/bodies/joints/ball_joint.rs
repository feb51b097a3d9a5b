//! Ball joints.

use nalgebra::Vector3;

use super::anchor::{Anchor, Place, add_rows, along, check_pair, places};
use crate::InputError;
use crate::compliant::{Bounds, Compliance, Problem, StepState, StepTerm};

/// Holds two points together and leaves all turns free.
///
/// Adds three rows along the axes of the world; their impulses act on the first body. The points
/// deviate within a step by about `dt² ω² l/2` for bodies that turn with `ω` about the joint at a
/// distance `l`; each step brings the points of the one before together again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BallJoint {
    anchors: [Anchor; 2],
    compliance: Compliance,
}

impl BallJoint {
    /// Between a point of one body and one of another, or of the world.
    pub fn new(first: Anchor, second: Anchor) -> Self {
        Self {
            anchors: [first, second],
            compliance: Compliance::default(),
        }
    }

    /// How hard the points are held; by default rigid.
    #[must_use]
    pub fn compliance(mut self, compliance: Compliance) -> Self {
        self.compliance = compliance;
        self
    }
}

/// The rows that hold two points together.
pub(super) fn add_points(
    state: &StepState<'_>,
    problem: &mut Problem,
    places: &[Place; 2],
    compliance: &Compliance,
) -> Result<(), InputError> {
    let deviation = places[0].point - places[1].point;
    let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
    let rows = axes.map(|axis| along(places, &axis));
    add_rows(problem, places, &rows, |response, i| {
        compliance.law(state.dt, response, deviation[i], Bounds::BOTH)
    })
}

impl StepTerm for BallJoint {
    fn check(&self, coordinates: usize, dof: usize) -> Result<(), InputError> {
        check_pair(self.anchors.each_ref(), coordinates, dof)?;
        self.compliance.check()
    }

    fn add(&self, state: &StepState<'_>, problem: &mut Problem) -> Result<(), InputError> {
        self.check(state.q.len(), state.v.len())?;
        let places = places(self.anchors.each_ref(), state)?;
        add_points(state, problem, &places, &self.compliance)
    }
}
