//! A joint that holds some of six axes and leaves the others free.

use std::f64::consts::PI;

use nalgebra::Vector3;

use super::anchor::{Anchor, Hold, PairRow, Place, about, add_rows, along, check_pair};
use super::turn::Turn;
use crate::bodies::Pose;
use crate::compliant::{
    Axis, BodyAxis, BodyRows, Bounds, Compliance, Problem, RigidPair, StepState, StepTerm,
};
use crate::{InputError, validate};

/// The six axes of a [`Joint`]: moves of the first point along the axes of the second anchor, and turns
/// of the first body about them.
///
/// A move is the component of the distance of both points (m). A turn is an angle (rad): where it is the only
/// free one, in (−π, π], the angle about that axis; of two or three, the component of the vector of the
/// rotation, which is no longer than π and jumps there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum JointAxis {
    /// Moves along x.
    AlongX,
    /// Moves along y.
    AlongY,
    /// Moves along z.
    AlongZ,
    /// Turns about x.
    AboutX,
    /// Turns about y.
    AboutY,
    /// Turns about z.
    AboutZ,
}

impl JointAxis {
    /// Number of the axis: moves, then turns.
    pub(super) fn number(self) -> usize {
        match self {
            Self::AlongX => 0,
            Self::AlongY => 1,
            Self::AlongZ => 2,
            Self::AboutX => 3,
            Self::AboutY => 4,
            Self::AboutZ => 5,
        }
    }
}

/// A joint between two bodies, or a body and the world: of the six [axes](JointAxis) of the first anchor in
/// those of the second some are held at zero, the others are free.
///
/// [`weld`](Self::weld) holds all, [`ball`](Self::ball) the moves. Hinge, slider and cylindrical joint
/// have the x axes of both anchors as their axis ([`Anchor::along`]), a planar joint has it as its
/// normal; any other is [freed](Self::free) from a weld or [held](Self::hold).
///
/// Terms of their own act on free axes: limits, motors, springs (a
/// [`Motor`](crate::compliant::Motor) whose goal stays), dry friction and gears take
/// [`axis`](Self::axis), whose position and velocity [`read`](Axis::read).
///
/// ```
/// use saltation::{Compliant, Start};
/// use saltation::bodies::{Anchor, Body, Joint, JointAxis, Scene, Shape};
/// use saltation::compliant::{JointLimit, Motor, MotorGoal};
/// let mut scene = Scene::new();
/// let arm = scene.add(Body::new(Shape::cuboid([0.25, 0.02, 0.02])?).position([0.25, 0.0, 0.0]))?;
/// let (q, v) = scene.start();
/// let level = [0.0, 1.0, 0.0];
/// let hinge = Joint::hinge(
///     Anchor::of(&scene, arm, [-0.25, 0.0, 0.0])?.along(level),
///     Anchor::world([0.0; 3]).along(level),
/// );
/// let axis = hinge.axis(JointAxis::AboutX);
/// let goal = MotorGoal { position: -1.0, ..MotorGoal::default() };
/// let mut stepper = Compliant::new(scene)?
///     .term(hinge)
///     .term(Motor::new(axis.clone()).gains(50.0, 5.0).effort_limit(20.0).goal(goal))
///     .term(JointLimit::new(axis.clone(), -1.5, 0.5));
/// let run = stepper.integrate(&Start::at(0.0).q(&q).v(&v), 3.0)?.completed()?;
/// let angle = axis.read(stepper.system(), stepper.q(), stepper.v())?.position;
/// assert!((angle + 1.0).abs() < 0.03); // the weight leaves it a little below its goal
/// // The force of the hinge carries the arm; the torque about its axis is that of the motor.
/// let load = hinge.efforts(stepper.term_impulses(0).unwrap_or_default(), 0.01)?;
/// let weight = 9.81 * stepper.system().mass_of(arm).unwrap_or(0.0);
/// assert!((load[2].hypot(load[0]) - weight).abs() < 1e-3 * weight);
/// # Ok::<(), saltation::Error>(())
/// ```
///
/// # Rows
///
/// Adds a row for each axis that is held, moves before turns, each along an axis of the second
/// anchor, or of a turn about one; its impulse acts on the first body, and with the other sign on the second at the same
/// point. The points deviate within a step by about `dt² ω² l/2` for bodies that turn with `ω` about the
/// joint at a distance `l`; each step brings the points of the one before together again. A deviation of a
/// weld by half a turn has no way back that is shorter than the other; one of them is taken.
///
/// With two free turns the rotation vector lies in their plane: a joint of constant velocity. Two hinges
/// with a body between are a universal joint of Hooke.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Joint {
    anchors: [Anchor; 2],
    /// The axes that are free, by their numbers.
    free: [bool; 6],
    compliance: Compliance,
    turning: Compliance,
}

impl Joint {
    /// Holds all axes: both bodies are like one.
    pub fn weld(first: Anchor, second: Anchor) -> Self {
        Self {
            anchors: [first, second],
            free: [false; 6],
            compliance: Compliance::default(),
            turning: Compliance::default(),
        }
    }

    /// Holds two points together and leaves all turns free.
    pub fn ball(first: Anchor, second: Anchor) -> Self {
        let turns = Self::weld(first, second).free(JointAxis::AboutX);
        turns.free(JointAxis::AboutY).free(JointAxis::AboutZ)
    }

    /// Turns about the x axes of both anchors.
    pub fn hinge(first: Anchor, second: Anchor) -> Self {
        Self::weld(first, second).free(JointAxis::AboutX)
    }

    /// Slides along the x axis of the second anchor.
    pub fn slider(first: Anchor, second: Anchor) -> Self {
        Self::weld(first, second).free(JointAxis::AlongX)
    }

    /// Slides along the x axis and turns about it.
    pub fn cylindrical(first: Anchor, second: Anchor) -> Self {
        Self::hinge(first, second).free(JointAxis::AlongX)
    }

    /// Moves in the plane across the x axis of the second anchor, and turns about it.
    pub fn planar(first: Anchor, second: Anchor) -> Self {
        let turns = Self::hinge(first, second).free(JointAxis::AlongY);
        turns.free(JointAxis::AlongZ)
    }

    /// Frees an axis.
    #[must_use]
    pub fn free(mut self, axis: JointAxis) -> Self {
        self.free[axis.number()] = true;
        self
    }

    /// Holds an axis at zero.
    #[must_use]
    pub fn hold(mut self, axis: JointAxis) -> Self {
        self.free[axis.number()] = false;
        self
    }

    /// Takes the bodies as they are at the coordinates `q`: all axes are zero there. Of the second anchor the
    /// body counts, not its point and axes, which become those of the first.
    ///
    /// # Errors
    /// [`InputError::NoSuch`] for a body that `q` does not have; an orientation of length zero.
    pub fn as_placed(mut self, q: &[f64]) -> Result<Self, InputError> {
        let [first, second] = [self.anchors[0].place(q)?, self.anchors[1].place(q)?];
        let axes = Pose::from_parts(first.point, first.axes).moved_by(&second.pose.inverse());
        self.anchors[1].point = axes.position().into();
        self.anchors[1].axes = axes.quaternion();
        Ok(self)
    }

    /// Sets the compliance of the moves that are held; by default rigid.
    #[must_use]
    pub fn compliance(mut self, compliance: Compliance) -> Self {
        self.compliance = compliance;
        self
    }

    /// Sets the compliance of the turns that are held (stiffness in N m/rad); by default rigid.
    #[must_use]
    pub fn turning(mut self, compliance: Compliance) -> Self {
        self.turning = compliance;
        self
    }

    /// An axis of the joint: for a limit, a motor, dry friction, a gear, and to read. Those that the joint holds are
    /// refused when a run starts. The joint is a term of its own beside them: without it nothing is held.
    pub fn axis(&self, axis: JointAxis) -> Axis {
        Axis::between(ActedOn { joint: *self, axis })
    }

    /// The forces (N) along the axes of the second anchor and the torques (N m) about them with which the
    /// joint held the first body in a step of `dt` seconds, from the impulses of its rows
    /// ([`Compliant::term_impulses`](crate::Compliant::term_impulses)); zero for free axes. Of a joint that holds one
    /// turn of three and leaves the others free, it is the effort of the turn's number: its torque also has parts
    /// about the free axes where these are turned.
    ///
    /// # Errors
    /// [`InputError::WrongLength`] for another number of impulses than of axes that are held.
    pub fn efforts(&self, impulses: &[f64], dt: f64) -> Result<[f64; 6], InputError> {
        let held = self.free.iter().filter(|free| !**free).count();
        validate::length("impulses of a joint", held, impulses.len())?;
        let mut impulses = impulses.iter();
        Ok(self.free.map(|is_free| {
            let impulse = if is_free { None } else { impulses.next() };
            impulse.map_or(0.0, |impulse| impulse / dt)
        }))
    }

    /// Refuses what makes no sense.
    fn check_parameters(&self, coordinates: usize, dof: usize) -> Result<(), InputError> {
        check_pair(self.anchors.each_ref(), coordinates, dof)?;
        self.compliance.check()?;
        self.turning.check()
    }

    /// The joint at coordinates `q`.
    fn placed(&self, q: &[f64]) -> Result<Placed, InputError> {
        let mut places = [self.anchors[0].place(q)?, self.anchors[1].place(q)?];
        let axes = places[1].axes;
        let moves = axes.tr_mul(&(places[0].point - places[1].point));
        let [.., x, y, z] = self.free;
        let turn = Turn::new(axes.tr_mul(&places[0].axes), [x, y, z]);
        // The axes turn with the second body: the rate of a move is the velocity of the first point relative
        // to the point of the second body that is there.
        places[1].point = places[0].point;
        Ok(Placed {
            places,
            moves,
            turn,
        })
    }
}

/// A joint at coordinates.
#[derive(Clone, Copy, Debug)]
struct Placed {
    /// Both at the point of the first anchor.
    places: [Place; 2],
    moves: Vector3<f64>,
    turn: Turn,
}

impl Placed {
    /// The row of the rate of an axis, and its position.
    fn row(&self, number: usize) -> (PairRow, f64) {
        let axes = &self.places[1].axes;
        if number < 3 {
            let direction = axes.column(number).into_owned();
            return (along(&self.places, &direction), self.moves[number]);
        }
        let direction = axes * self.turn.directions[number - 3];
        (about(&direction), self.turn.angles[number - 3])
    }
}

impl Joint {
    /// The pose of the second body in the first, where all axes are held as hard as the step can.
    fn as_rigid(&self) -> Option<RigidPair> {
        let is_rigid = |of: &Compliance| of.stiffness == f64::INFINITY;
        if self.free != [false; 6] || !is_rigid(&self.compliance) || !is_rigid(&self.turning) {
            return None;
        }
        let [first, second] = self.anchors.map(|anchor| anchor.frame());
        let second_in_first = second.inverse().moved_by(&first);
        let tree = |anchor: &Anchor| anchor.body.map(|body| body.tree);
        Some(RigidPair {
            trees: self.anchors.each_ref().map(tree),
            position: second_in_first.position().into(),
            orientation: second_in_first.quaternion(),
        })
    }
}

impl StepTerm for Joint {
    fn rigid_pair(&self) -> Option<RigidPair> {
        self.as_rigid()
    }

    fn check(&self, coordinates: usize, dof: usize) -> Result<(), InputError> {
        self.check_parameters(coordinates, dof)
    }

    fn add(&self, state: &StepState<'_>, problem: &mut Problem) -> Result<(), InputError> {
        self.check(state.q.len(), state.v.len())?;
        let placed = self.placed(state.q)?;
        for (numbers, compliance) in [(0..3, self.compliance), (3..6, self.turning)] {
            let mut rows = [([[0.0; 6]; 2], 0.0); 3];
            let held = numbers.filter(|number| !self.free[*number]);
            let mut count = 0;
            for (row, number) in rows.iter_mut().zip(held) {
                *row = placed.row(number);
                count += 1;
            }
            let hold = Hold {
                compliance,
                bounds: Bounds::BOTH,
            };
            add_rows(problem, state.dt, &placed.places, &rows[..count], hold)?;
        }
        Ok(())
    }
}

/// An axis of a joint that something acts on.
#[derive(Clone, Copy, Debug)]
struct ActedOn {
    joint: Joint,
    axis: JointAxis,
}

impl BodyAxis for ActedOn {
    fn check(&self, coordinates: usize, dof: usize) -> Result<(), InputError> {
        self.joint.check_parameters(coordinates, dof)?;
        let (number, rule) = (
            self.axis.number(),
            "is held by its joint: free it there before anything acts on it",
        );
        let is_free = self.joint.free[number];
        validate::unless(is_free, "axis of a joint", number as f64, rule)
    }

    fn period(&self) -> f64 {
        let turns = self.joint.free[3..].iter().filter(|free| **free).count();
        if self.axis.number() >= 3 && turns == 1 {
            2.0 * PI
        } else {
            f64::INFINITY
        }
    }

    fn at(&self, q: &[f64]) -> Result<BodyRows, InputError> {
        let placed = self.joint.placed(q)?;
        let (row, position) = placed.row(self.axis.number());
        let [first, second] = placed.places.map(|place| place.tree);
        let rows = [
            first.map(|tree| (tree, row[0])),
            second.map(|tree| (tree, row[1])),
        ];
        Ok(BodyRows { position, rows })
    }
}
