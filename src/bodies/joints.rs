//! Joints between free bodies as convex terms of a step
//! ([`StepTerm`](crate::compliant::StepTerm)): each holds points of two bodies, or of one and the
//! world, by rows of the compliant driver. [`BallJoint`], [`Weld`], and [`DistanceJoint`] for rods
//! and ropes, between two of [`Anchor`](super::Anchor).
//!
//! [`Compliance`] says how hard they hold.

use nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion, Vector3};

use super::anchor::{Anchor, Place, about, add_rows, along, check_pair, places};
use crate::compliant::{Bounds, Compliance, Problem, StepState, StepTerm};
use crate::{InputError, validate};

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

    /// Sets the compliance of the points; by default rigid.
    #[must_use]
    pub fn compliance(mut self, compliance: Compliance) -> Self {
        self.compliance = compliance;
        self
    }
}

/// The rows that hold two points together.
fn add_points(
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
        add_rows(problem, &places, &[along(&places, &line)], |response, _| {
            let deviation = distance - self.length;
            self.compliance.law(state.dt, response, deviation, bounds)
        })
    }
}

/// Holds two bodies together like one: two points, and the orientation of one body in the other.
///
/// Adds six rows: three along and three about the axes of the world; their impulses act on the
/// first body. A deviation by half a turn has no way back that is shorter than the other; one of
/// them is taken.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weld {
    anchors: [Anchor; 2],
    /// The axes of the second body in those of the first.
    orientation: [f64; 4],
    compliance: Compliance,
    turning: Compliance,
}

impl Weld {
    /// Between a point of one body and one of another, or of the world; the axes of both stay
    /// parallel.
    pub fn new(first: Anchor, second: Anchor) -> Self {
        Self {
            anchors: [first, second],
            orientation: [1.0, 0.0, 0.0, 0.0],
            compliance: Compliance::default(),
            turning: Compliance::default(),
        }
    }

    /// Two bodies as they are at the coordinates `q`, held at the point of the first anchor; of the
    /// second anchor the body counts, not the point.
    ///
    /// # Errors
    /// [`InputError::NoSuch`] for a body that `q` does not have; an orientation of length zero.
    pub fn as_placed(first: Anchor, second: Anchor, q: &[f64]) -> Result<Self, InputError> {
        let (a, b) = (first.place(q)?, second.place(q)?);
        let second = Anchor {
            body: second.body,
            point: b.pose.to_body(a.point).into(),
        };
        let relative = a.pose.rotation().tr_mul(&b.pose.rotation());
        let [i, j, k, w] = quaternion(relative).coords.into();
        Ok(Self::new(first, second).orientation([w, i, j, k]))
    }

    /// The axes of the second body in those of the first, as a quaternion `[w, x, y, z]`, which is
    /// normalised; by default parallel.
    #[must_use]
    pub fn orientation(mut self, quaternion: [f64; 4]) -> Self {
        self.orientation = quaternion;
        self
    }

    /// Sets the compliance of the points; by default rigid.
    #[must_use]
    pub fn compliance(mut self, compliance: Compliance) -> Self {
        self.compliance = compliance;
        self
    }

    /// Sets the compliance of the orientation (stiffness in N m/rad); by default rigid.
    #[must_use]
    pub fn turning(mut self, compliance: Compliance) -> Self {
        self.turning = compliance;
        self
    }

    fn target(&self) -> Quaternion<f64> {
        let [w, i, j, k] = self.orientation;
        Quaternion::new(w, i, j, k)
    }
}

fn quaternion(rotation: Matrix3<f64>) -> UnitQuaternion<f64> {
    UnitQuaternion::from_rotation_matrix(&Rotation3::from_matrix_unchecked(rotation))
}

impl StepTerm for Weld {
    fn check(&self, coordinates: usize, dof: usize) -> Result<(), InputError> {
        check_pair(self.anchors.each_ref(), coordinates, dof)?;
        validate::finite("orientation of a weld", &self.orientation)?;
        let length = self.target().norm();
        let rule = "the length of an orientation must be > 0";
        validate::unless(length > 0.0, "orientation of a weld", length, rule)?;
        self.compliance.check()?;
        self.turning.check()
    }

    fn add(&self, state: &StepState<'_>, problem: &mut Problem) -> Result<(), InputError> {
        self.check(state.q.len(), state.v.len())?;
        let places = places(self.anchors.each_ref(), state)?;
        add_points(state, problem, &places, &self.compliance)?;
        // The turn that is left, R_A Q R_Bᵀ; its vector changes by ω_A − ω_B to first order.
        let target = UnitQuaternion::new_normalize(self.target());
        let wanted = places[0].pose.rotation() * target.to_rotation_matrix().matrix();
        let turn = quaternion(wanted * places[1].pose.rotation().transpose()).scaled_axis();
        let axes = [Vector3::x(), Vector3::y(), Vector3::z()];
        let rows = axes.map(|axis| about(&axis));
        add_rows(problem, &places, &rows, |response, i| {
            self.turning.law(state.dt, response, turn[i], Bounds::BOTH)
        })
    }
}
