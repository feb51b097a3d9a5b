//! Queries of a scene at a configuration: distances, overlaps, rays.
//!
//! `tree`: the boxes around all bodies, in a tree.

mod tree;

use nalgebra::Vector3;

use super::narrow_phase::{PlacedShape, RayLine, bounds, cast, distance};
use super::{ManifoldPoint, Pose, Scene};
use crate::{InputError, validate};
use tree::{Bounds, Tree};

/// A ray: from a point along a direction.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Ray {
    /// Where it starts (m).
    pub origin: [f64; 3],
    /// Its direction, of any length but zero.
    pub direction: [f64; 3],
    /// Its length (m), > 0; may be infinite.
    pub length: f64,
    /// A body that it passes through, such as the one on which a sensor sits.
    pub ignored: Option<usize>,
}

impl Ray {
    /// A ray without end.
    pub fn new(origin: [f64; 3], direction: [f64; 3]) -> Self {
        Self {
            origin,
            direction,
            length: f64::INFINITY,
            ignored: None,
        }
    }

    /// Sets the length (m).
    #[must_use]
    pub fn length(mut self, length: f64) -> Self {
        self.length = length;
        self
    }

    /// Lets it pass through a body.
    #[must_use]
    pub fn ignoring(mut self, body: usize) -> Self {
        self.ignored = Some(body);
        self
    }

    /// The ray with a direction of length one.
    fn line(&self, number: usize) -> Result<RayLine, InputError> {
        let of_ray = |mut error| {
            if let InputError::NotFinite { entry, .. } | InputError::BadSetting { entry, .. } =
                &mut error
            {
                *entry = number;
            }
            error
        };
        validate::finite("origin of a ray", &self.origin).map_err(of_ray)?;
        validate::finite("direction of a ray", &self.direction).map_err(of_ray)?;
        let (length, rule) = (self.length, "must be > 0");
        validate::unless(length > 0.0, "length of a ray", length, rule).map_err(of_ray)?;
        // Of a very short or long direction the square would vanish or overflow.
        let direction = Vector3::from(self.direction);
        let most = direction.amax();
        let rule = "the direction of a ray must not be zero";
        validate::unless(most > 0.0, "direction of a ray", most, rule).map_err(of_ray)?;
        Ok(RayLine {
            origin: self.origin.into(),
            direction: (direction / most).normalize(),
        })
    }
}

/// The first hit of a ray.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct RayHit {
    /// The body.
    pub body: usize,
    /// The way to it (m); 0 for a ray that starts inside.
    pub distance: f64,
    /// Where (m).
    pub point: Vector3<f64>,
    /// Unit normal of its surface; against the ray for one that starts inside.
    pub normal: Vector3<f64>,
}

/// Memory of [`Scene::query`]: with the same, queries of a scene allocate nothing more.
#[derive(Clone, Debug, Default)]
pub struct QueryMemory {
    poses: Vec<Pose>,
    tree: Tree,
    /// Bodies without bounds.
    planes: Vec<usize>,
}

impl QueryMemory {
    /// Nothing yet.
    pub fn new() -> Self {
        Self::default()
    }
}

/// A scene at a configuration, made by [`Scene::query`].
#[derive(Clone, Copy, Debug)]
pub struct Query<'a> {
    scene: &'a Scene,
    memory: &'a QueryMemory,
}

impl Scene {
    /// Places all bodies for queries at the coordinates `q`. Pairs that are
    /// [ignored](Self::ignore), or pass through each other by their [groups](super::Body::groups),
    /// count here as all others.
    ///
    /// ```
    /// use saltation::bodies::{Body, QueryMemory, Ray, Scene, Shape};
    /// let mut scene = Scene::new();
    /// let ground = scene.add(Body::fixed(Shape::plane()))?;
    /// let ball = scene.add(Body::new(Shape::sphere(0.1)?).position([0.0, 0.0, 0.5]))?;
    /// let (q, _) = scene.start();
    /// let mut memory = QueryMemory::new();
    /// let query = scene.query(&q, &mut memory)?;
    /// assert!((query.distance(ball, ground)?.gap - 0.4).abs() < 1e-15);
    ///
    /// let (mut hits, mut overlapping) = (Vec::new(), Vec::new());
    /// let down = |x: f64| Ray::new([x, 0.0, 2.0], [0.0, 0.0, -1.0]);
    /// query.cast(&[down(0.0), down(1.0), down(1.0).length(1.5)], &mut hits)?;
    /// let first = hits[0].expect("the ball");
    /// assert!(first.body == ball && (first.distance - 1.4).abs() < 1e-15);
    /// assert_eq!(hits[1].map(|hit| hit.body), Some(ground));
    /// assert_eq!(hits[2], None); // too short
    /// query.overlaps(ball, &mut overlapping)?;
    /// assert!(overlapping.is_empty());
    /// # Ok::<(), saltation::InputError>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError::WrongLength`], [`InputError::NotFinite`]; [`InputError::BadSetting`] for a
    /// quaternion of length zero (the entry is its tree).
    pub fn query<'a>(
        &'a self,
        q: &[f64],
        memory: &'a mut QueryMemory,
    ) -> Result<Query<'a>, InputError> {
        self.check_coordinates(q)?;
        memory.poses.clear();
        memory.planes.clear();
        memory.tree.clear();
        for body in 0..self.len() {
            let pose = self.pose_of(body, q);
            let shape = &self.bodies[body].body.shape;
            memory.poses.push(pose);
            if self.there(body).is_none() {
                continue;
            }
            match bounds(PlacedShape::new(shape, &pose)) {
                Some([low, high]) => memory.tree.add(body, Bounds { low, high }),
                None => memory.planes.push(body),
            }
        }
        memory.tree.build();
        Ok(Query {
            scene: self,
            memory,
        })
    }
}

impl Query<'_> {
    /// The distance of two bodies: the signed gap, negative in overlap, the unit normal from B into A
    /// and the witness points. Its feature is 0.
    ///
    /// For bodies that are apart these are the closest points, exact for spheres, capsules and
    /// planes; for others the gap is exact to about 1e-9 of the smaller shape, and on curved sides the
    /// points to 1e-5 of it; where the other is more than 10,000 times as long, up to a quarter of it
    /// beside. Of thin bodies (up to a thousand times as long as thick) that come nearer than a thousandth of
    /// their thickness one gap in 300 is off by more than that, by up to 3e-4 of the thickness. Balls, boxes,
    /// capsules, cylinders and cones of parry are as ours. Of another of its shapes and one that is no plane
    /// gaps are parry's, whose tolerances are lengths: off by up to 4e-5 m beside capsules, cylinders and
    /// cones of centimetres, by less beside others. Of bodies that overlap it is the shortest way out, found
    /// near the best of a fixed list of directions: between capsules, cylinders and cones up to two fifths
    /// longer than the shortest, between one of these and a box up to a fifth. A mesh or height field has no
    /// inside.
    ///
    /// # Errors
    /// [`InputError::NoSuch`]; [`InputError::WrongBody`] for a body that was removed;
    /// [`InputError::BadSetting`] for a body
    /// and itself, two planes, and pairs of which parry has no distance (the entry is body A, the
    /// value body B).
    pub fn distance(&self, a: usize, b: usize) -> Result<ManifoldPoint, InputError> {
        let (one, two) = (self.placed(a)?, self.placed(b)?);
        let rule = "a body has no distance from itself";
        let checked = validate::unless(a != b, "bodies", 0.0, rule);
        let found = checked.and_then(|()| distance(one, two));
        found.map_err(|mut error| {
            if let InputError::BadSetting { entry, value, .. } = &mut error {
                (*entry, *value) = (a, b as f64);
            }
            error
        })
    }

    /// The distances of pairs `[a, b]` of bodies, in their order.
    ///
    /// # Errors
    /// As [`distance`](Self::distance); `distances` is empty then.
    pub fn distances(
        &self,
        pairs: &[[usize; 2]],
        distances: &mut Vec<ManifoldPoint>,
    ) -> Result<(), InputError> {
        distances.clear();
        let found = pairs.iter().try_for_each(|&[a, b]| {
            distances.push(self.distance(a, b)?);
            Ok(())
        });
        found.inspect_err(|_| distances.clear())
    }

    /// All bodies that overlap a body, in rising order; two planes do not.
    ///
    /// # Errors
    /// As [`distance`](Self::distance); `bodies` is empty then.
    pub fn overlaps(&self, body: usize, bodies: &mut Vec<usize>) -> Result<(), InputError> {
        bodies.clear();
        let own = self.placed(body)?;
        let bounds = bounds(own).map(|[low, high]| Bounds { low, high });
        let mut look = |other: usize| {
            if other != body && self.distance(body, other)?.gap < 0.0 {
                bodies.push(other);
            }
            Ok(())
        };
        let meets = |of: &Bounds| bounds.is_none_or(|own| own.meets(of));
        let mut found = self.memory.tree.visit(meets, &mut look);
        if bounds.is_some() {
            let mut planes = self.memory.planes.iter();
            found = found.and_then(|()| planes.try_for_each(|&plane| look(plane)));
        }
        bodies.sort_unstable();
        found.inspect_err(|_| bodies.clear())
    }

    /// The first hit of each ray, in their order: none where nothing is up to its length.
    /// A ray that starts inside a body hits it at once, at the distance 0; inside of several, the one with the lowest
    /// number.
    ///
    /// # Errors
    /// [`InputError::NotFinite`], [`InputError::BadSetting`] for rays that make no sense (the entry is
    /// the number of the ray), and where parry panics. `hits` is empty then.
    pub fn cast(&self, rays: &[Ray], hits: &mut Vec<Option<RayHit>>) -> Result<(), InputError> {
        hits.clear();
        let found = rays.iter().enumerate().try_for_each(|(number, ray)| {
            hits.push(self.first_hit(ray, ray.line(number)?)?);
            Ok(())
        });
        found.inspect_err(|_| hits.clear())
    }

    fn first_hit(&self, ray: &Ray, line: RayLine) -> Result<Option<RayHit>, InputError> {
        let mut first: Option<RayHit> = None;
        // In a cell, as the bounds shrink while they are looked at.
        let most = std::cell::Cell::new(ray.length);
        let mut look = |body: usize| {
            if ray.ignored == Some(body) {
                return Ok(());
            }
            let Some(hit) = cast(self.placed(body)?, line, most.get())? else {
                return Ok(());
            };
            // Of bodies at one distance the first by number.
            let nearer = first.is_none_or(|best| {
                let by_way = hit.distance.total_cmp(&best.distance);
                by_way.then(body.cmp(&best.body)).is_lt()
            });
            if nearer {
                most.set(hit.distance);
                let starts_inside = hit.normal == Vector3::zeros();
                first = Some(RayHit {
                    body,
                    distance: hit.distance,
                    point: line.origin + line.direction * hit.distance,
                    normal: if starts_inside {
                        -line.direction
                    } else {
                        hit.normal
                    },
                });
            }
            Ok(())
        };
        self.memory.planes.iter().try_for_each(|&body| look(body))?;
        let meets = |of: &Bounds| of.is_hit(&line.origin, &line.direction, most.get());
        self.memory.tree.visit(meets, &mut look)?;
        Ok(first)
    }

    fn placed(&self, body: usize) -> Result<PlacedShape<'_>, InputError> {
        let there = self.scene.there(body);
        let found = there.zip(self.memory.poses.get(body));
        let (placed, pose) = found.ok_or_else(|| self.scene.missing(body))?;
        Ok(PlacedShape::new(&placed.body.shape, pose))
    }
}
