//! Whether two bodies meet on their way through a step, by conservative advancement.
//!
//! The rows of a contact take its gap to change along the normal at the start of the step. Beside an edge, or past a
//! round face, that normal turns on the way: bodies that pass each other would close. Here they are moved:
//! along the normal of their closest points they come no closer than by the speed in its direction and
//! the turns of their bodies, so that they are apart for a time; then they are looked at again.
//!
//! A body that lies a little deep on another one would run against the next that is flush with it. It is lifted by
//! the depth of what it touches, and by a thousandth of its size, before it moves: what is lower than that it
//! gets over, and is lifted by the overlap in the next step.

use nalgebra::{Rotation3, Vector3};

use super::narrow_phase::{PlacedShape, distance};
use super::pose::halves;
use super::{Pose, Scene, ShapeKind};
use crate::mechanics::{Contacts, Passage};

/// The most places at which bodies are looked at. Those that have come so far and are still as close meet.
const PLACES: usize = 64;
/// Part of the smaller body by which it is lifted over what it touches.
const CLEARANCE: f64 = 1e-3;
/// Part of that within which bodies count as met.
const MET: f64 = 0.02;
/// Turns over the contacts of a body in which the way is found that lifts it over all.
const TURNS: usize = 8;

/// A body in motion.
struct Moving {
    pose: Pose,
    spin: Vector3<f64>,
    speed: Vector3<f64>,
    /// Of a ball about its centre that holds it.
    radius: f64,
    /// The most by which turns move a point of it (m/s).
    turning: f64,
}

impl Moving {
    /// The most by which turns move a point of it along a direction (m/s): `n·(ω × r)` is `(n × ω)·r`, so that a body
    /// which turns about the normal comes no closer.
    fn turning_along(&self, normal: &Vector3<f64>) -> f64 {
        (normal.cross(&self.spin).norm() * self.radius).min(self.turning)
    }

    /// Its pose after a time.
    fn at(&self, time: f64) -> Pose {
        let turn = Rotation3::new(self.spin * time);
        let position = self.pose.position() + self.speed * time;
        Pose::from_parts(position, turn.matrix() * self.pose.rotation())
    }
}

impl Scene {
    /// True where two bodies meet in a motion, or where that is not known: of half-spaces, whose normals do not
    /// turn, and of shapes of parry.
    pub(super) fn pair_meets(&self, [a, b]: [usize; 2], passage: &Passage<'_>) -> bool {
        let shapes = [a, b].map(|body| &self.bodies[body].body.shape);
        let is_known = |kind: ShapeKind| kind != ShapeKind::Plane && !kind.is_parry();
        let fits =
            passage.q.len() == 7 * self.moving.len() && passage.v.len() == 6 * self.moving.len();
        if !fits || !shapes.iter().all(|shape| is_known(shape.kind())) {
            return true;
        }
        let [mut one, two] = [a, b].map(|body| self.moving(body, passage));
        let clearance = CLEARANCE * self.bodies[a].radius.min(self.bodies[b].radius);
        let lift = self.lift(a, b, passage.contacts, clearance)
            - self.lift(b, a, passage.contacts, clearance);
        one.pose = Pose::from_parts(one.pose.position() + lift, one.pose.rotation());
        let mut time = 0.0;
        for _ in 0..PLACES {
            let [pose_a, pose_b] = [&one, &two].map(|of| of.at(time));
            let placed = [
                PlacedShape::new(shapes[0], &pose_a),
                PlacedShape::new(shapes[1], &pose_b),
            ];
            let Ok(closest) = distance(placed[0], placed[1]) else {
                return true;
            };
            if closest.gap.is_nan() || closest.gap <= MET * clearance {
                return true;
            }
            let towards = closest.normal.dot(&(two.speed - one.speed));
            let [of_one, of_two] = [&one, &two].map(|of| of.turning_along(&closest.normal));
            let closing = towards + of_one + of_two;
            // The plane between them stays between them.
            if closing <= 0.0 {
                return false;
            }
            time += closest.gap / closing;
            if time >= passage.dt {
                return false;
            }
        }
        true
    }

    fn moving(&self, body: usize, passage: &Passage<'_>) -> Moving {
        let placed = &self.bodies[body];
        let pose = self.pose_of(body, passage.q);
        let (spin, speed) = placed
            .tree
            .map_or_else(Default::default, |tree| halves(passage.v, tree));
        // A round body that turns about its axis stays where it is.
        let turning = match placed.body.shape.kind() {
            ShapeKind::Sphere { .. } => 0.0,
            ShapeKind::Box { .. } => spin.norm(),
            _ => spin.cross(&pose.axis(2)).norm(),
        };
        Moving {
            pose,
            spin,
            speed,
            radius: placed.radius,
            turning: turning * placed.radius,
        }
    }

    /// The way that lifts a body over all that it overlaps but `other`, and by the clearance.
    fn lift(&self, body: usize, other: usize, contacts: &Contacts, clearance: f64) -> Vector3<f64> {
        let mut way = Vector3::zeros();
        let Some(tree) = self.bodies[body].tree else {
            return way;
        };
        for _ in 0..TURNS {
            let mut is_over = true;
            for (i, of) in contacts.all_parameters().iter().enumerate() {
                if of.gap > clearance {
                    continue;
                }
                let is_own = |&(a, b, _): &(usize, usize, usize)| {
                    (a == body && b != other) || (b == body && a != other)
                };
                let own = self.contact_of(of.contact).filter(is_own);
                let Some(block) =
                    own.and_then(|_| contacts.blocks(i).find(|block| block.tree == tree))
                else {
                    continue;
                };
                // The row of a body ends with the direction (write_point_rows).
                let Some(&[x, y, z]) = block.rows.get(3..6) else {
                    continue;
                };
                let direction = Vector3::new(x, y, z);
                let missing = clearance - of.gap - direction.dot(&way);
                if missing > MET * clearance {
                    way += direction * missing;
                    is_over = false;
                }
            }
            if is_over {
                break;
            }
        }
        way
    }
}
