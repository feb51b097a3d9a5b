//! Welds.

use nalgebra::{Matrix3, Quaternion, Rotation3, UnitQuaternion, Vector3};

use super::anchor::{Anchor, about, add_rows, check_pair, places};
use super::ball_joint::add_points;
use crate::compliant::{Bounds, Compliance, Problem, StepState, StepTerm};
use crate::{InputError, validate};

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

    /// How hard the points are held; by default rigid.
    #[must_use]
    pub fn compliance(mut self, compliance: Compliance) -> Self {
        self.compliance = compliance;
        self
    }

    /// How hard the orientation is held (N m/rad); by default rigid.
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
