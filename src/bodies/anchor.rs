//! Points of free bodies and of the world, and the rows of constraints between two of them.

use nalgebra::Vector3;

use crate::bodies::pose::check_coordinates;
use crate::bodies::{Pose, Scene};
use crate::compliant::{Problem, RowLaw, StepState};
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

/// A point of a body or of the world, where a joint holds it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchor {
    pub(super) body: Option<FreeBody>,
    pub(super) point: [f64; 3],
}

impl Anchor {
    /// A point in the axes of a body (m), from its centre of mass.
    pub fn on(body: impl Into<FreeBody>, point: [f64; 3]) -> Self {
        Self {
            body: Some(body.into()),
            point,
        }
    }

    /// A point of the world (m).
    pub fn world(point: [f64; 3]) -> Self {
        Self { body: None, point }
    }

    /// A point of a body of a scene, in the axes of the body (m); that of a fixed body is a point of
    /// the world.
    ///
    /// # Errors
    /// [`InputError::NoSuch`] for a body that is not there.
    pub fn of(scene: &Scene, body: usize, point: [f64; 3]) -> Result<Self, InputError> {
        if let Some(tree) = scene.tree_of(body) {
            return Ok(Self::on(tree, point));
        }
        let (q, _) = scene.start();
        let pose = scene.pose(body, &q).ok_or(InputError::NoSuch {
            what: "body",
            index: body,
            count: scene.len(),
        })?;
        Ok(Self::world(pose.to_world(point.into()).into()))
    }

    /// Its place at coordinates `q`.
    pub(super) fn place(&self, q: &[f64]) -> Result<Place, InputError> {
        let point = Vector3::from(self.point);
        let Some(body) = self.body else {
            return Ok(Place {
                tree: None,
                point,
                pose: Pose::identity(),
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
        })
    }
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
}

/// Refuses two anchors that no joint can hold together.
pub(super) fn check_pair(
    anchors: [&Anchor; 2],
    coordinates: usize,
    dof: usize,
) -> Result<(), InputError> {
    let trees = anchors.map(|anchor| anchor.body.map(|body| body.tree));
    if trees == [None; 2] {
        return Err(InputError::TreesOfTerm { found: 0 });
    }
    let rule = "the anchors of a joint must lie on different bodies";
    let tree = trees[0].unwrap_or_default() as f64;
    validate::unless(trees[0] != trees[1], "body of a joint", tree, rule)?;
    for (i, anchor) in anchors.into_iter().enumerate() {
        validate::finite("anchor of a joint", &anchor.point)
            .map_err(validate::counted_from(3 * i))?;
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

/// The row of the angular velocity of the first body relative to the second, about `u`.
pub(super) fn about(u: &Vector3<f64>) -> PairRow {
    [
        [u.x, u.y, u.z, 0.0, 0.0, 0.0],
        [-u.x, -u.y, -u.z, 0.0, 0.0, 0.0],
    ]
}

/// Adds rows of one kind, each with its deviation. All take the mean of their responses, so that
/// the sum does not depend on the axes.
pub(super) fn add_rows<const N: usize>(
    problem: &mut Problem,
    places: &[Place; 2],
    rows: &[PairRow; N],
    law: impl Fn(f64, usize) -> RowLaw,
) -> Result<(), InputError> {
    let mut response = 0.0;
    for row in rows {
        response += with_trees(places, row, |row| problem.row_response(row))? / N as f64;
    }
    for (i, row) in rows.iter().enumerate() {
        with_trees(places, row, |row| problem.add_row(law(response, i), row))?;
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
