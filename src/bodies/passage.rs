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
use super::{Pose, Scene, Shape, ShapeKind};
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
        let (mut own, mut approach) = (f64::INFINITY, 0.0f64);
        let touches = self.touches(passage.contacts, a);
        for touch in touches.filter(|touch| touch.with == b) {
            own = own.min(touch.gap);
            let rate = passage.contacts.velocity(touch.place, passage.v)[0];
            approach = approach.max(-passage.dt * rate);
        }
        // A ball that lies deep in an edge that is flush with what it lies in deeper is lifted over that alone.
        // Others bear on both, but for an edge that they lie in by less than they come to.
        let flush = |pair| self.lies_over_flush(pair, passage.contacts, clearance);
        let is_deep = own <= 0.0 && (flush([a, b]) || flush([b, a]));
        let bears = own < -clearance || approach <= clearance;
        if own <= 0.0 && !is_deep && !passage.is_solved && bears {
            return true;
        }
        let above = if is_deep { own } else { clearance };
        let over = Over { above, clearance };
        let lift = self.lift([a, b], passage, over) - self.lift([b, a], passage, over);
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

    /// The contacts of a body among those of a step.
    fn touches<'a>(
        &'a self,
        contacts: &'a Contacts,
        body: usize,
    ) -> impl Iterator<Item = Touch> + 'a {
        let all = contacts.all_parameters().iter().enumerate();
        all.filter_map(move |(place, of)| {
            let (a, b, _) = self.contact_of(of.contact)?;
            let with = match body {
                body if body == a => b,
                body if body == b => a,
                _ => return None,
            };
            let gap = of.gap;
            Some(Touch { place, gap, with })
        })
    }

    /// True where a ball lies on an edge of another body that is flush with what it lies in deeper: of surfaces that
    /// continue each other the gap at the edge is larger by the rise of the ball up to there, `r (1 − n·n′)`. The
    /// sides of a groove both bear.
    fn lies_over_flush(&self, [body, other]: [usize; 2], contacts: &Contacts, within: f64) -> bool {
        let placed = &self.bodies[body];
        let (Some(tree), Some(radius)) = (placed.tree, rolling_radius(&placed.body.shape)) else {
            return false;
        };
        self.touches(contacts, body).any(|edge| {
            edge.with == other
                && self.touches(contacts, body).any(|ground| {
                    let directions = [&edge, &ground].map(|of| direction(contacts, of.place, tree));
                    let [Some(up), Some(along)] = directions else {
                        return false;
                    };
                    let rise = radius * (1.0 - up.dot(&along));
                    ground.with != other
                        && ground.gap < edge.gap
                        && (edge.gap - ground.gap - rise).abs() <= within
                })
        })
    }

    /// The way that lifts a body over all that it overlaps, or comes to overlap in the step, but the other one of the
    /// pair, and by the clearance.
    fn lift(&self, [body, other]: [usize; 2], passage: &Passage<'_>, over: Over) -> Vector3<f64> {
        let (mut way, contacts) = (Vector3::zeros(), passage.contacts);
        let Some(tree) = self.bodies[body].tree else {
            return way;
        };
        let does_roll = rolling_radius(&self.bodies[body].body.shape).is_some();
        for _ in 0..TURNS {
            let mut is_over = true;
            for Touch { place, gap, with } in self.touches(contacts, body) {
                if with == other || gap > over.above {
                    continue;
                }
                let Some(direction) = direction(contacts, place, tree) else {
                    continue;
                };
                // Its support gives way in the step: as the solution says, or under a ball as before.
                let sinks = if passage.is_solved || does_roll {
                    (-passage.dt * contacts.velocity(place, passage.v)[0]).max(0.0)
                } else {
                    0.0
                };
                let missing = over.clearance - gap + sinks - direction.dot(&way);
                if missing > MET * over.clearance {
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

/// The radius of a body that rolls over edges.
fn rolling_radius(shape: &Shape) -> Option<f64> {
    match shape.kind() {
        ShapeKind::Sphere { radius } | ShapeKind::Capsule { radius, .. } => Some(radius),
        _ => None,
    }
}

/// The direction in which a contact pushes the body of a tree; the row of a body ends with it (`write_point_rows`).
fn direction(contacts: &Contacts, place: usize, tree: usize) -> Option<Vector3<f64>> {
    let block = contacts.blocks(place).find(|block| block.tree == tree)?;
    block.rows.get(3..6).map(Vector3::from_column_slice)
}

/// A contact of a body.
struct Touch {
    /// Its place among those of the step.
    place: usize,
    gap: f64,
    /// The other body.
    with: usize,
}

/// The contacts over which a body is lifted.
#[derive(Clone, Copy)]
struct Over {
    /// Contacts with gaps of this or less (m).
    above: f64,
    /// By so much more than they are deep (m).
    clearance: f64,
}
