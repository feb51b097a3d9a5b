//! Bodies that do not move along, or turn about, some axes of the world.

use super::JointAxis;
use super::anchor::{Anchor, FreeBody, check_pair};
use crate::InputError;
use crate::bodies::Scene;
use crate::compliant::{Problem, RowLaw, StepState, StepTerm};

/// Regularisation of an axis that is frozen or driven, by its response: a body creeps by `1e-7 dt` of the
/// acceleration that is kept from it. The impulse has the rounding of its velocity by this: 1e-9 of momenta, far
/// below tolerances of the solver.
const CREEP: f64 = 1e-7;

/// Keeps a body from moving along some axes of the world, and from turning about some: bodies of a plane,
/// boxes that do not tip, a body that waits.
///
/// Frozen axes have the velocity zero from the end of the next step on, wherever the body is, but for a creep by
/// `1e-7 dt` of the acceleration that is kept from them. Adds a row for each, moves before turns; its impulse is what
/// keeps the body. Contacts are as soft as if nothing
/// were frozen. [`Joint`](super::Joint) holds bodies at a place instead, about any axes.
///
/// ```
/// use saltation::bodies::{Body, Frozen, JointAxis, Scene, Shape};
/// use saltation::{Compliant, Start};
/// let mut scene = Scene::new();
/// let ball = scene.add(Body::new(Shape::sphere(0.1)?).velocity([1.0, 0.5, 0.0]))?;
/// let (q, v) = scene.start();
/// let axes = [JointAxis::AlongY, JointAxis::AboutX, JointAxis::AboutZ];
/// let plane = Frozen::of(&scene, ball, &axes)?;
/// let mut stepper = Compliant::new(scene)?.term(plane);
/// stepper.start(&Start::at(0.0).q(&q).v(&v))?;
/// for _ in 0..100 {
///     stepper.step()?;
/// }
/// assert!((stepper.q()[0] - 1.0).abs() < 1e-9 && stepper.q()[1].abs() < 1e-9);
/// if let Some(frozen) = stepper.term_mut::<Frozen>(0) {
///     frozen.set(&[]); // free from now on
/// }
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frozen {
    body: FreeBody,
    /// The axes that are frozen, by their numbers.
    axes: [bool; 6],
}

impl Frozen {
    /// Freezes axes of the world for a body.
    pub fn new(body: impl Into<FreeBody>, axes: &[JointAxis]) -> Self {
        let mut frozen = Self {
            body: body.into(),
            axes: [false; 6],
        };
        frozen.set(axes);
        frozen
    }

    /// As [`new`](Self::new), for a body of a scene by its number.
    ///
    /// # Errors
    /// [`InputError::NoSuch`]; [`InputError::WrongBody`] for a body that was removed or is fixed.
    pub fn of(scene: &Scene, body: usize, axes: &[JointAxis]) -> Result<Self, InputError> {
        Ok(Self::new(FreeBody::of(scene, body)?, axes))
    }

    /// Freezes these axes and no others from the next step on;
    /// [`Compliant::term_mut`](crate::Compliant::term_mut) finds the term.
    pub fn set(&mut self, axes: &[JointAxis]) {
        self.axes = [false; 6];
        for axis in axes {
            self.axes[axis.number()] = true;
        }
    }
}

impl StepTerm for Frozen {
    fn check(&self, coordinates: usize, dof: usize) -> Result<(), InputError> {
        let body = Anchor::on(self.body, [0.0; 3]);
        check_pair([&body, &Anchor::world([0.0; 3])], coordinates, dof)
    }

    fn add(&self, state: &StepState<'_>, problem: &mut Problem) -> Result<(), InputError> {
        self.check(state.q.len(), state.v.len())?;
        for number in (0..6).filter(|number| self.axes[*number]) {
            held(self.body, number, 0.0, problem)?;
        }
        Ok(())
    }
}

/// Adds the row that gives an axis of the world of a body a velocity.
pub(super) fn held(
    body: FreeBody,
    number: usize,
    target: f64,
    problem: &mut Problem,
) -> Result<(), InputError> {
    let mut row = [0.0; 6];
    // Velocities of a body are turns, then moves.
    row[(number + 3) % 6] = 1.0;
    let row = &[(body.tree, &row[..])];
    let law = RowLaw {
        regularisation: CREEP * problem.row_response(row)?,
        target,
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    };
    problem.add_row(law, row)?;
    Ok(())
}
