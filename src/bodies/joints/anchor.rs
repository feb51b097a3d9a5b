//! Points of free bodies and of the world, and the rows of constraints between two of them.

use nalgebra::{Matrix3, Quaternion, UnitQuaternion, Vector3};

use crate::bodies::pose::check_coordinates;
use crate::bodies::{Pose, Scene};
use crate::compliant::{Bounds, Compliance, Deviation, Problem, StepState, of_heavier};
use crate::{InputError, validate};

/// A free body among the coordinates and the trees of a system: seven coordinates (position of the
/// centre of mass, unit quaternion `[w, x, y, z]`) and a tree of six velocities (angular velocity,
/// velocity of the centre of mass), in world axes.
///
/// A number alone is body `i` of a system that has free bodies and nothing else: tree `i`,
/// coordinates from `7 i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FreeBody {
    /// Its tree.
    pub tree: usize,
    /// Its first coordinate.
    pub coordinate: usize,
}

impl FreeBody {
    /// A body of a scene, by its number.
    ///
    /// # Errors
    /// [`InputError::NoSuch`]; [`InputError::WrongBody`] for a body that was removed or is fixed.
    pub fn of(scene: &Scene, body: usize) -> Result<Self, InputError> {
        if scene.there(body).is_none() {
            return Err(scene.missing(body));
        }
        let why = "is fixed: give one that moves";
        let tree = scene.tree_of(body);
        tree.map(Self::from)
            .ok_or(InputError::WrongBody { body, why })
    }
}

impl From<usize> for FreeBody {
    fn from(number: usize) -> Self {
        Self {
            tree: number,
            coordinate: number.saturating_mul(COORDINATES),
        }
    }
}

/// Coordinates of a free body.
const COORDINATES: usize = 7;

/// A point of a body or of the world, where a joint holds it, and the axes of the joint there: those of
/// the body, or of the world, unless they are turned.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchor {
    pub(super) body: Option<FreeBody>,
    pub(super) point: [f64; 3],
    /// The axes of the joint in those of the body, a quaternion `[w, x, y, z]`.
    pub(super) axes: [f64; 4],
}

/// Axes that are not turned.
const PARALLEL: [f64; 4] = [1.0, 0.0, 0.0, 0.0];

impl Anchor {
    /// A point in the axes of a body (m), from its centre of mass.
    pub fn on(body: impl Into<FreeBody>, point: [f64; 3]) -> Self {
        Self {
            body: Some(body.into()),
            point,
            axes: PARALLEL,
        }
    }

    /// A point of the world (m).
    pub fn world(point: [f64; 3]) -> Self {
        Self {
            body: None,
            point,
            axes: PARALLEL,
        }
    }

    /// A point of a body of a scene, in the axes of the body (m); that of a fixed body is a point of
    /// the world.
    ///
    /// # Errors
    /// [`InputError::NoSuch`]; [`InputError::WrongBody`] for a body that was removed.
    pub fn of(scene: &Scene, body: usize, point: [f64; 3]) -> Result<Self, InputError> {
        if let Some(tree) = scene.tree_of(body) {
            return Ok(Self::on(tree, point));
        }
        let (q, _) = scene.start();
        let pose = scene.pose(body, &q).ok_or_else(|| scene.missing(body))?;
        let of_world = Self::world(pose.to_world(point.into()).into());
        Ok(of_world.turned(pose.quaternion()))
    }

    /// Turns the axes of the joint by a quaternion `[w, x, y, z]`, given in the axes that they have; it is
    /// normalised.
    #[must_use]
    pub fn turned(mut self, quaternion: [f64; 4]) -> Self {
        let turned = as_quaternion(self.axes) * as_quaternion(quaternion);
        self.axes = [turned.w, turned.i, turned.j, turned.k];
        self
    }

    /// Turns the x axis of the joint the shortest way to a direction, given in the axes that they have, of
    /// any length but zero: the axis of a hinge or a slider. Two bodies that are turned about it against each other
    /// have an angle there: [`Joint::as_placed`](super::Joint::as_placed) takes them as they stand.
    ///
    /// ```
    /// use saltation::bodies::{Anchor, Joint};
    /// let upright = [0.0, 0.0, 1.0];
    /// let door = Joint::hinge(
    ///     Anchor::on(0, [-0.4, 0.0, 0.0]).along(upright),
    ///     Anchor::world([0.0, 0.0, 1.0]).along(upright),
    /// );
    /// ```
    #[must_use]
    pub fn along(self, direction: [f64; 3]) -> Self {
        let direction = Vector3::from(direction);
        let unit = (direction / direction.amax()).normalize();
        let turn = if unit.iter().all(|x| x.is_finite()) {
            let turn = UnitQuaternion::rotation_between(&Vector3::x(), &unit);
            // Half a turn, about any axis across.
            turn.map_or([0.0, 0.0, 0.0, 1.0], |turn| {
                [turn.w, turn.i, turn.j, turn.k]
            })
        } else {
            // No direction: an orientation of length zero is refused.
            [0.0; 4]
        };
        self.turned(turn)
    }

    /// Its place at coordinates `q`.
    pub(super) fn place(&self, q: &[f64]) -> Result<Place, InputError> {
        let point = Vector3::from(self.point);
        let Some(body) = self.body else {
            return Ok(Place {
                tree: None,
                point,
                pose: Pose::identity(),
                axes: self.axes_in_body(),
            });
        };
        let end = body.coordinate.saturating_add(COORDINATES);
        let coordinates = q.get(body.coordinate..end);
        let coordinates = coordinates.ok_or_else(|| no_body(body, q.len()))?;
        check_coordinates(coordinates)?;
        let pose = Pose::from_coordinates(coordinates);
        Ok(Place {
            tree: Some(body.tree),
            point: pose.to_world(point),
            pose,
            axes: pose.rotation() * self.axes_in_body(),
        })
    }

    /// The point and the axes of the joint as a pose in the axes of the body.
    pub(super) fn frame(&self) -> Pose {
        Pose::from_parts(self.point.into(), self.axes_in_body())
    }

    /// The axes of the joint in those of the body, as columns.
    fn axes_in_body(&self) -> Matrix3<f64> {
        let turn = UnitQuaternion::new_normalize(as_quaternion(self.axes));
        *turn.to_rotation_matrix().matrix()
    }
}

fn as_quaternion([w, x, y, z]: [f64; 4]) -> Quaternion<f64> {
    Quaternion::new(w, x, y, z)
}

fn no_body(body: FreeBody, coordinates: usize) -> InputError {
    InputError::NoSuch {
        what: "coordinate of a body",
        index: body.coordinate.saturating_add(COORDINATES - 1),
        count: coordinates,
    }
}

/// An anchor in the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    pub(super) tree: Option<usize>,
    /// The point (m).
    pub(super) point: Vector3<f64>,
    /// The pose of the body; of the world: the identity.
    pub(super) pose: Pose,
    /// The axes of the joint, as columns.
    pub(super) axes: Matrix3<f64>,
}

/// Refuses two anchors that no joint can hold together.
pub(super) fn check_pair(
    anchors: [&Anchor; 2],
    coordinates: usize,
    dof: usize,
) -> Result<(), InputError> {
    let trees = anchors.map(|anchor| anchor.body.map(|body| body.tree));
    if trees == [None; 2] {
        return Err(InputError::JointWithoutBody);
    }
    let rule = "the anchors of a joint must lie on different bodies";
    let tree = trees[0].unwrap_or_default() as f64;
    validate::unless(trees[0] != trees[1], "body of a joint", tree, rule)?;
    for (i, anchor) in anchors.into_iter().enumerate() {
        validate::finite("anchor of a joint", &anchor.point)
            .map_err(validate::counted_from(3 * i))?;
        validate::finite("axes of a joint", &anchor.axes).map_err(validate::counted_from(4 * i))?;
        let length = as_quaternion(anchor.axes).norm();
        let rule = "must not have the length zero";
        validate::unless(length > 0.0, "axes of a joint", length, rule)?;
        if let Some(body) = anchor.body {
            if body.coordinate.saturating_add(COORDINATES) > coordinates {
                return Err(no_body(body, coordinates));
            }
            if body.tree >= dof {
                return Err(InputError::NoSuch {
                    what: "tree",
                    index: body.tree,
                    count: dof,
                });
            }
        }
    }
    Ok(())
}

/// A row for the first body, and its negative for the second: `[turning, moving]` each.
pub(super) type PairRow = [[f64; 6]; 2];

/// The row of the velocity of the first point relative to the second, along `u`.
pub(super) fn along(places: &[Place; 2], u: &Vector3<f64>) -> PairRow {
    let mut sign = 1.0;
    places.map(|place| {
        let arm = place.point - place.pose.position();
        let (turn, u) = (sign * arm.cross(u), sign * u);
        sign = -1.0;
        [turn.x, turn.y, turn.z, u.x, u.y, u.z]
    })
}

/// The arms at which forces act on the bodies, without the world.
fn arms(places: &[Place; 2]) -> [Vector3<f64>; 2] {
    let arm = |place: &Place| place.point - place.pose.position();
    let [first, second] = places;
    match first.tree {
        Some(_) => [arm(first), arm(second)],
        None => [arm(second); 2],
    }
}

/// The row of the angular velocity of the first body relative to the second, about `u`.
pub(super) fn about(u: &Vector3<f64>) -> PairRow {
    [
        [u.x, u.y, u.z, 0.0, 0.0, 0.0],
        [-u.x, -u.y, -u.z, 0.0, 0.0, 0.0],
    ]
}

/// How hard rows of a joint are held, and to which sides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hold {
    pub(super) compliance: Compliance,
    pub(super) bounds: Bounds,
}

/// Adds rows of one kind, each with its deviation. All take the mean of their responses, of each body, so that
/// the sum does not depend on the axes.
pub(super) fn add_rows(
    problem: &mut Problem,
    dt: f64,
    places: &[Place; 2],
    rows: &[(PairRow, f64)],
    hold: Hold,
) -> Result<(), InputError> {
    let mut responses = [0.0; 2];
    for (row, _) in rows {
        for ((sum, place), row) in responses.iter_mut().zip(places).zip(row) {
            if let Some(tree) = place.tree {
                *sum += problem.row_response(&[(tree, row)])? / rows.len() as f64;
            }
        }
    }
    let response = of_heavier(responses);
    for (row, deviation) in rows {
        let law = (hold.compliance).law(dt, response, *deviation, hold.bounds);
        with_trees(places, row, |row| problem.add_row(law, row))?;
        let moves = row[0][3..].iter().any(|entry| *entry != 0.0);
        if moves {
            problem.note_arms(arms(places));
        }
        // A spring gives way, and a rope may be slack.
        let is_rigid = hold.compliance.stiffness == f64::INFINITY;
        if is_rigid && (law.high == f64::INFINITY || *deviation > 0.0) {
            let (way, turn) = if moves {
                (deviation.abs(), 0.0)
            } else {
                (0.0, deviation.abs())
            };
            problem.note_deviation(Deviation { way, turn });
        }
    }
    Ok(())
}

fn with_trees<R>(
    places: &[Place; 2],
    row: &PairRow,
    work: impl FnOnce(&[(usize, &[f64])]) -> R,
) -> R {
    let [first, second] = row;
    match (places[0].tree, places[1].tree) {
        (Some(a), Some(b)) => work(&[(a, first), (b, second)]),
        (Some(a), None) => work(&[(a, first)]),
        (None, Some(b)) => work(&[(b, second)]),
        (None, None) => work(&[]),
    }
}

/// The anchors of a joint at the start of a step.
pub(super) fn places(
    anchors: [&Anchor; 2],
    state: &StepState<'_>,
) -> Result<[Place; 2], InputError> {
    Ok([anchors[0].place(state.q)?, anchors[1].place(state.q)?])
}
