//! A scene as a source of contacts.

use nalgebra::Vector3;

use super::broad_phase::{Ball, candidates};
use super::narrow_phase::FEATURES;
use super::pose::{frame, halves};
use super::scene::Pair;
use super::{Manifold, ManifoldPoint, Pose, Scene, ShapeKind, contact_point, contact_points};
use crate::mechanics::{
    ContactParameters, ContactSet, ContactSource, Contacts, MechanicalSystem, Passage, Reach,
    TreeBody, Wanted,
};
use crate::{InputError, validate};

/// A contact point of a pair of bodies.
#[derive(Clone, Copy, Debug)]
pub(super) struct PairPoint<'a> {
    pub(super) pair: Pair,
    pub(super) point: &'a ManifoldPoint,
}

impl Scene {
    /// The point of contact `i` of a list of this scene at coordinates `q` (m), and its directions,
    /// the normal first; none where there is no such contact.
    pub(crate) fn place_of(
        &self,
        contacts: &Contacts,
        i: usize,
        q: &[f64],
    ) -> Option<(Vector3<f64>, [Vector3<f64>; 3])> {
        let number = contacts.parameters(i)?.contact;
        let (a, ..) = self.contact_of(number)?;
        if contacts.tangents() < 2 {
            // One row does not say where along its direction the point is.
            let (pair, point) = self.point(number, q)?;
            let point = &point;
            let place = self.contact_position(PairPoint { pair, point });
            return Some((place, frame(point.normal)));
        }
        // Rows of A are `[arm × d, d]` (write_point_rows), and of three orthonormal directions
        // `Σ d × (arm × d) = 3 arm − arm`.
        let rows = contacts.blocks(i).next()?.rows;
        let mut directions = [Vector3::zeros(); 3];
        let mut twice_arm = Vector3::zeros();
        for (row, direction) in rows.chunks_exact(6).zip(&mut directions) {
            let turn = Vector3::new(row[0], row[1], row[2]);
            *direction = Vector3::new(row[3], row[4], row[5]);
            twice_arm += direction.cross(&turn);
        }
        Some((self.centre_of(a, q) + 0.5 * twice_arm, directions))
    }

    /// The deepest overlap of two bodies (m), 0 where none overlap. `contacts` is scratch space.
    ///
    /// # Errors
    /// As [`ContactSource::fill`].
    pub fn deepest_overlap(&self, q: &[f64], contacts: &mut Contacts) -> Result<f64, InputError> {
        self.fill(q, ContactSet::Within(0.0), Wanted::default(), contacts)?;
        let depths = contacts.all_parameters().iter().map(|contact| -contact.gap);
        Ok(depths.fold(0.0, f64::max))
    }

    /// Contact `number` at the coordinates `q`, whatever its gap.
    pub(super) fn point(&self, number: usize, q: &[f64]) -> Option<(Pair, ManifoldPoint)> {
        let (a, b, feature) = self.contact_of(number)?;
        let pair = self.pair(a.min(b), a.max(b))?;
        let poses = (self.pose_of(a, q), self.pose_of(b, q));
        let shapes = (&self.bodies[a].body.shape, &self.bodies[b].body.shape);
        let point = contact_point((shapes.0, &poses.0), (shapes.1, &poses.1), feature)?;
        Some((pair, point))
    }

    /// The contact point of two witness points.
    fn contact_position(&self, of: PairPoint<'_>) -> Vector3<f64> {
        let PairPoint { pair, point } = of;
        if self.bodies[pair.b].tree.is_none() && !self.middle_points {
            point.on_a
        } else {
            (point.on_a + point.on_b) * 0.5
        }
    }

    /// Writes the rows of a contact in the velocities of body A (`sign = 1`) or B (`−1`).
    pub(super) fn write_rows(
        &self,
        of: PairPoint<'_>,
        body: usize,
        sign: f64,
        q: &[f64],
        directions: &[Vector3<f64>],
        rows: &mut [f64],
    ) {
        let arm = self.contact_position(of) - self.centre_of(body, q);
        write_point_rows(&arm, sign, directions, rows);
    }

    /// Adds a contact with its parameters and rows.
    fn add_contact(
        &self,
        of: PairPoint<'_>,
        q: &[f64],
        wanted: Wanted<'_>,
        contacts: &mut Contacts,
    ) -> Result<(), InputError> {
        let PairPoint { pair, point } = of;
        let number = Self::number(pair, point.feature);
        let mut parameters = ContactParameters::new(number, point.gap);
        let (a, b) = (&self.bodies[pair.a], &self.bodies[pair.b]);
        let material = a.body.material.paired(&b.body.material);
        if wanted.friction {
            parameters.friction = material.friction;
            (parameters.spinning_friction, parameters.rolling_friction) =
                (material.spinning, material.rolling);
        }
        if wanted.restitution_at.is_some() {
            parameters.restitution = material.restitution;
        }
        if wanted.compliance {
            parameters.stiffness = material.stiffness;
            parameters.dissipation_time = material.dissipation_time;
            (parameters.near_rigid, parameters.stiction) = (material.near_rigid, material.stiction);
            // One of the two moves, and is not a plane.
            parameters.size = Some(a.radius.min(b.radius));
        }
        contacts.push(parameters)?;
        let directions = frame(point.normal);
        let directions = &directions[..=contacts.tangents()];
        let (at_point, mut rows) = (6 * directions.len(), [0.0; 36]);
        let rows = &mut rows[..at_point + moment_rows(&parameters)];
        for (body, sign, tree) in [(pair.a, 1.0, a.tree), (pair.b, -1.0, b.tree)] {
            if let Some(tree) = tree {
                let (own, behind) = rows.split_at_mut(at_point);
                self.write_rows(of, body, sign, q, directions, own);
                write_moment_rows(sign, directions, behind);
                contacts.push_block(tree, self.tree(tree), rows)?;
            }
        }
        Ok(())
    }

    /// Appends the pairs of bodies that may have contacts, the lower number first, as
    /// `i · len + j`, in rising order. Each tree has the ball `(centre, reach)`, four numbers.
    /// Balls that are no further apart than `margin` meet. Of trees that sleep only pairs with those that are
    /// awake are looked for.
    fn find_pairs(
        &self,
        balls: &[f64],
        margin: f64,
        asleep: &[bool],
        work: &mut Vec<usize>,
        pairs: &mut Vec<usize>,
    ) {
        let ball = |tree: usize| {
            let ball = &balls[4 * tree..4 * tree + 4];
            Ball {
                centre: Vector3::new(ball[0], ball[1], ball[2]),
                radius: ball[3] + 0.5 * margin,
            }
        };
        let (n, trees) = (self.len(), self.trees());
        let sleeps = |tree: usize| asleep.get(tree).copied().unwrap_or(false);
        let may_touch = |i: usize, j: usize| self.may_touch(self.moving[i], self.moving[j]);
        candidates(trees, ball, sleeps, may_touch, work, pairs);
        for pair in pairs.iter_mut() {
            *pair = self.moving[*pair / trees] * n + self.moving[*pair % trees];
        }
        for &still in &self.still {
            let awake = self
                .moving
                .iter()
                .enumerate()
                .filter(|(tree, _)| !sleeps(*tree));
            for (tree, &body) in awake {
                let (i, j) = (still.min(body), still.max(body));
                if self.may_touch(i, j) && self.is_near(still, margin, &ball(tree)) {
                    pairs.push(i * n + j);
                }
            }
        }
        pairs.sort_unstable();
    }

    /// True unless a ball is surely apart from a fixed body, whose part of the margin is the other
    /// half.
    fn is_near(&self, still: usize, margin: f64, ball: &Ball) -> bool {
        let placed = &self.bodies[still];
        let centre = placed.pose.to_body(ball.centre);
        // The distance of the centre from the shape, or less.
        let distance = match placed.body.shape.kind() {
            ShapeKind::Plane => centre.z,
            ShapeKind::Box { half } => {
                Vector3::from_fn(|k, _| (centre[k].abs() - half[k]).max(0.0)).norm()
            }
            _ => centre.norm() - placed.radius,
        };
        distance <= ball.radius + 0.5 * margin
    }

    /// Adds the contacts of all pairs with a gap up to `margin` and how far both trees reach
    /// beyond their shapes by themselves, `extra` (m).
    fn add_near(
        &self,
        q: &[f64],
        margin: f64,
        asleep: &[bool],
        extra: impl Fn(usize) -> f64,
        contacts: &mut Contacts,
        mut add: impl FnMut(PairPoint<'_>, &mut Contacts) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        // Taken out, so that contacts can be added while they are read.
        let mut balls = std::mem::take(&mut contacts.scratch);
        let [mut work, mut pairs] = std::mem::take(&mut contacts.indices);
        balls.clear();
        for (tree, &body) in self.moving.iter().enumerate() {
            balls.extend_from_slice(&q[7 * tree..7 * tree + 3]);
            balls.push(self.bodies[body].radius + extra(tree));
        }
        pairs.clear();
        self.find_pairs(&balls, margin.max(0.0), asleep, &mut work, &mut pairs);
        let (n, mut manifold) = (self.len(), Manifold::new());
        let mut last: Option<(usize, Pose)> = None;
        let of_body = |body: usize| self.bodies[body].tree.map_or(0.0, &extra);
        let added = pairs.iter().try_for_each(|&pair| {
            let Some(pair) = self.pair(pair / n, pair % n) else {
                return Ok(());
            };
            let pose_a = match last {
                Some((body, pose)) if body == pair.a => pose,
                _ => self.pose_of(pair.a, q),
            };
            last = Some((pair.a, pose_a));
            let pose_b = self.pose_of(pair.b, q);
            let (a, b) = (
                &self.bodies[pair.a].body.shape,
                &self.bodies[pair.b].body.shape,
            );
            let margin = margin + of_body(pair.a) + of_body(pair.b);
            let found = contact_points((a, &pose_a), (b, &pose_b), margin, &mut manifold);
            found.map_err(|error| of_pair(error, pair))?;
            let mut points = manifold.points().iter();
            points.try_for_each(|point| add(PairPoint { pair, point }, contacts))
        });
        contacts.scratch = balls;
        contacts.indices = [work, pairs];
        added
    }

    /// The reach of each tree in a step: a bound of its part of [`Reach`].
    fn reach<'a>(&'a self, step: &'a Reach<'_>) -> impl Fn(usize) -> f64 + 'a {
        let materials = || self.bodies.iter().map(|placed| placed.body.material);
        let time = materials().map(|m| m.dissipation_time).fold(0.0, f64::max);
        let friction = materials().map(|m| m.friction).fold(0.0, f64::max);
        let (time, friction) = if step.cushions {
            (time, friction)
        } else {
            (0.0, 0.0)
        };
        // The factor of the relative speed. No pair has more friction than its rougher body.
        let factor = 1.5 * (step.dt + time) * friction.hypot(1.0);
        let norms = move |tree| -> (f64, f64) {
            let norms = step.velocities.iter().map(|v| halves_norm(v, tree));
            norms.fold((0.0, 0.0), |(spin, speed): (f64, f64), (other, fast)| {
                (spin.max(other), speed.max(fast))
            })
        };
        let spins = (0..self.trees()).map(|tree| norms(tree).0);
        let fastest = spins.fold(0.0, f64::max);
        // A contact point lies up to half its gap beyond the shape, where a spin is faster.
        let beyond = 1.0 / (1.0 - (factor * fastest).min(0.5));
        move |tree| {
            let (spin, speed) = norms(tree);
            let radius = self.bodies[self.moving[tree]].radius;
            beyond * factor * (speed + spin * radius)
        }
    }
}

fn halves_norm(v: &[f64], tree: usize) -> (f64, f64) {
    let (spin, speed) = halves(v, tree);
    (spin.norm(), speed.norm())
}

impl ContactSource for Scene {
    fn body_of_tree(&self, tree: usize) -> Option<TreeBody> {
        let number = *self.moving.get(tree)?;
        let placed = &self.bodies[number];
        Some(TreeBody {
            number,
            size: placed.radius,
            is_there: placed.is_there,
        })
    }

    fn pair(&self, contact: usize) -> usize {
        contact / FEATURES
    }

    fn meets(&self, contact: usize, passage: &Passage<'_>) -> bool {
        self.contact_of(contact)
            .is_none_or(|(a, b, _)| self.pair_meets([a, b], passage))
    }

    /// Fills with the contacts of a configuration, pair by pair in rising order.
    ///
    /// With [`ContactSet::Reachable`] candidates are found from bounds of the speeds of bodies.
    /// These hold for spins up to `1 / (3 dt)`, with cushions `1 / (3 (dt + τ) √(1 + μ²))`, with
    /// the largest `τ` and `μ` of the scene; of faster ones a contact point that lies far outside the
    /// shapes may be left out.
    ///
    /// # Errors
    /// [`InputError::WrongLength`]; [`InputError::NotFinite`] and [`InputError::BadSetting`] for
    /// coordinates (the entry of a quaternion of length zero is its tree), margins and step lengths;
    /// [`InputError::NoSuch`] for a listed number that no contact has, or whose feature is not
    /// determined any more; those of [`contact_points`] for shapes of parry, where the entry is body
    /// A and the value body B.
    fn fill(
        &self,
        q: &[f64],
        set: ContactSet<'_>,
        wanted: Wanted<'_>,
        contacts: &mut Contacts,
    ) -> Result<(), InputError> {
        self.check_coordinates(q)?;
        if let Some(v) = wanted.restitution_at {
            validate::length("v", self.dof(), v.len())?;
        }
        contacts.reset(self.dof(), if wanted.friction { 2 } else { 0 })?;
        match set {
            ContactSet::Listed(list) => list.iter().try_for_each(|&number| {
                let Some((pair, point)) = self.point(number, q) else {
                    return Err(InputError::NoSuch {
                        what: "contact",
                        index: number,
                        count: self.len() * self.len() * FEATURES,
                    });
                };
                let point = &point;
                self.add_contact(PairPoint { pair, point }, q, wanted, contacts)
            }),
            ContactSet::Within(margin) => {
                let rule = "must be a number";
                validate::unless(!margin.is_nan(), "margin", margin, rule)?;
                self.add_near(
                    q,
                    margin,
                    &[],
                    |_| 0.0,
                    contacts,
                    |of, contacts| self.add_contact(of, q, wanted, contacts),
                )
            }
            ContactSet::Reachable(step) => {
                step.check(self.dof())?;
                let trees = self.trees();
                if step
                    .asleep
                    .iter()
                    .take(trees)
                    .filter(|asleep| **asleep)
                    .count()
                    == trees
                {
                    return Ok(());
                }
                let extra = self.reach(&step);
                self.add_near(
                    q,
                    step.least,
                    step.asleep,
                    extra,
                    contacts,
                    |of, contacts| {
                        self.add_contact(of, q, wanted, contacts)?;
                        contacts.keep_last_if_reachable(&step);
                        Ok(())
                    },
                )
            }
        }
    }
}

/// The refusal of two shapes, with the numbers of the bodies: the entry is A, the value B.
fn of_pair(mut error: InputError, pair: Pair) -> InputError {
    if let InputError::BadSetting {
        name, entry, value, ..
    } = &mut error
    {
        (*name, *entry, *value) = ("body B of a pair of shapes", pair.a, pair.b as f64);
    }
    error
}

/// Writes the rows of a contact point in the velocities of a body: along each direction `d`,
/// `±[arm × d, d]`, with the arm from the centre to the point.
pub(super) fn write_point_rows(
    arm: &Vector3<f64>,
    sign: f64,
    directions: &[Vector3<f64>],
    rows: &mut [f64],
) {
    for (row, direction) in rows.chunks_exact_mut(6).zip(directions) {
        let turn = arm.cross(direction);
        for k in 0..3 {
            row[k] = sign * turn[k];
            row[3 + k] = sign * direction[k];
        }
    }
}

/// The number of entries that the rows of the moments of a contact have in the velocities of a body.
pub(super) fn moment_rows(of: &ContactParameters) -> usize {
    if of.has_moments() { 18 } else { 0 }
}

/// Writes the rows of the angular velocity of a body about each direction, where there are any.
pub(super) fn write_moment_rows(sign: f64, directions: &[Vector3<f64>], rows: &mut [f64]) {
    for (row, direction) in rows.chunks_exact_mut(6).zip(directions) {
        row.fill(0.0);
        for (entry, d) in row.iter_mut().zip(direction.iter()) {
            *entry = sign * d;
        }
    }
}
