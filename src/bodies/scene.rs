//! A scene: bodies, gravity, and pairs that may not touch.

use nalgebra::Vector3;

use super::narrow_phase::FEATURES;
use super::pose::check_coordinates;
use super::{Body, Pose};
use crate::{InputError, validate};

/// Rigid bodies with shapes, as a [`MechanicalSystem`] and a [`ContactSource`].
///
/// # Coordinates
///
/// Each moving body is a tree, in the order in which they were added. Its seven coordinates are the
/// position of the centre of mass and a unit quaternion `[w, x, y, z]`; its six velocities are the
/// angular velocity and the velocity of the centre, both in world axes. Fixed bodies have none.
///
/// # Contacts
///
/// Their number changes with the configuration, so that a scene is a source of contacts and no
/// system with `UnilateralConstraints`; [`fixed_contacts`](Self::fixed_contacts) makes one of a
/// scene with few contacts. Of a pair of bodies, A is the moving one, or of two moving ones the one
/// with the lower number; the normal points from B into A. The contact point lies between both
/// witness points, against a fixed body on the moving one ([`middle_points`](Self::middle_points)
/// changes that). Tangents depend on the normal alone. Candidates come from a uniform grid; a
/// second call with the same [`Contacts`] allocates nothing.
///
/// The number of a contact holds the bodies and the feature of their shapes
/// ([`contact_of`](Self::contact_of)); with [`ContactSet::Listed`] the same contact is found again
/// at another configuration. Numbers of contacts change where a body is added, those of bodies never.
///
/// ```
/// use saltation::bodies::{Body, Scene, Shape};
/// use saltation::mechanics::{ContactSet, ContactSource, Contacts, Wanted};
/// let mut scene = Scene::new();
/// scene.add(Body::fixed(Shape::plane()))?;
/// let cube = scene.add(Body::new(Shape::cuboid([0.05; 3])?).position([0.0, 0.0, 0.049]))?;
/// let (q, v) = scene.start();
/// let mut contacts = Contacts::new();
/// let wanted = Wanted { friction: true, compliance: true, ..Wanted::default() };
/// scene.fill(&q, ContactSet::Within(0.01), wanted, &mut contacts)?;
/// assert_eq!(contacts.len(), 4); // the lower vertices
/// assert!((contacts.all_parameters()[0].gap + 0.001).abs() < 1e-15);
/// assert_eq!(scene.position(cube, &q).map(|p| p.z), Some(0.049));
/// assert_eq!(v, [0.0; 6]);
/// # Ok::<(), saltation::InputError>(())
/// ```
///
/// [`MechanicalSystem`]: crate::mechanics::MechanicalSystem
/// [`ContactSource`]: crate::mechanics::ContactSource
/// [`Contacts`]: crate::mechanics::Contacts
/// [`ContactSet::Listed`]: crate::mechanics::ContactSet::Listed
#[derive(Clone, Debug)]
pub struct Scene {
    pub(super) bodies: Vec<Placed>,
    /// The bodies of the trees.
    pub(super) moving: Vec<usize>,
    /// Fixed bodies.
    pub(super) still: Vec<usize>,
    /// Pairs that may not touch, the lower number first, sorted.
    pub(super) ignored: Vec<(usize, usize)>,
    pub(super) gravity: Vector3<f64>,
    pub(super) middle_points: bool,
}

/// A body and what follows from it.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) body: Body,
    pub(super) mass: f64,
    pub(super) moments: [f64; 3],
    pub(super) tree: Option<usize>,
    /// The pose at the start, for a fixed body always.
    pub(super) pose: Pose,
    pub(super) radius: f64,
    /// It was not removed.
    pub(super) is_there: bool,
}

impl Placed {
    /// A body with the tree that it has if it moves.
    pub(super) fn new(body: Body, tree: Option<usize>) -> Self {
        let (mass, moments) = body.mass_and_moments();
        Self {
            mass,
            moments,
            tree,
            pose: Pose::from_coordinates(&body.start),
            radius: body.shape.bounding_radius(),
            is_there: true,
            body,
        }
    }
}

impl Default for Scene {
    fn default() -> Self {
        Self::new()
    }
}

impl Scene {
    /// No bodies; gravity of 9.81 m/s² against the z axis.
    pub fn new() -> Self {
        Self {
            bodies: Vec::new(),
            moving: Vec::new(),
            still: Vec::new(),
            ignored: Vec::new(),
            gravity: Vector3::new(0.0, 0.0, -9.81),
            middle_points: false,
        }
    }

    /// Adds a body and returns its number.
    ///
    /// # Errors
    /// [`InputError::BadSetting`], [`InputError::NotFinite`] for what makes no sense; the entry is
    /// the number of the body. A plane must be fixed.
    pub fn add(&mut self, body: Body) -> Result<usize, InputError> {
        let number = self.bodies.len();
        body.validate().map_err(of_body(number))?;
        let numbers = (number + 1).checked_mul(number + 1);
        let fits = numbers.and_then(|pairs| pairs.checked_mul(FEATURES));
        let rule = "so many bodies have more contacts than can be numbered";
        validate::unless(fits.is_some(), "bodies", number as f64, rule)?;
        let tree = if body.fixed {
            self.still.push(number);
            None
        } else {
            self.moving.push(number);
            Some(self.moving.len() - 1)
        };
        self.bodies.push(Placed::new(body, tree));
        Ok(number)
    }

    /// Acceleration of gravity (m/s²).
    ///
    /// # Errors
    /// [`InputError::NotFinite`].
    pub fn gravity(&mut self, gravity: [f64; 3]) -> Result<(), InputError> {
        validate::finite("gravity", &gravity)?;
        self.gravity = gravity.into();
        Ok(())
    }

    /// Lets two bodies pass through each other. Many at once: [`Body::groups`].
    ///
    /// # Errors
    /// [`InputError::NoSuch`]; [`InputError::WrongBody`] for a body that was removed;
    /// [`InputError::BadSetting`] for a body
    /// and itself.
    pub fn ignore(&mut self, a: usize, b: usize) -> Result<(), InputError> {
        let mut pair = [a, b].into_iter();
        if let Some(body) = pair.find(|&body| self.there(body).is_none()) {
            return Err(self.missing(body));
        }
        let rule = "must be two bodies: none touches itself";
        validate::unless(a != b, "ignored pair", a as f64, rule)?;
        let pair = (a.min(b), a.max(b));
        if let Err(place) = self.ignored.binary_search(&pair) {
            self.ignored.insert(place, pair);
        }
        Ok(())
    }

    /// Takes the middle of both witness points as the contact point against fixed bodies too.
    /// Default: the witness point on the moving body, so that a ball rolls with its radius.
    pub fn middle_points(&mut self, everywhere: bool) {
        self.middle_points = everywhere;
    }

    /// Number of bodies, fixed ones and those that were [removed](Self::remove) too.
    pub fn len(&self) -> usize {
        self.bodies.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.bodies.is_empty()
    }

    /// A body, as it was given to the scene; none for one that is not there.
    pub fn body(&self, body: usize) -> Option<&Body> {
        self.there(body).map(|placed| &placed.body)
    }

    /// A body that is there.
    pub(super) fn there(&self, body: usize) -> Option<&Placed> {
        self.bodies.get(body).filter(|placed| placed.is_there)
    }

    /// Why a body is not there.
    pub(super) fn missing(&self, body: usize) -> InputError {
        let (what, index, count) = ("body", body, self.len());
        if body >= count {
            return InputError::NoSuch { what, index, count };
        }
        let why = "was removed: its number stays empty until another body takes its place (Scene::replace, Compliant::replace_body)";
        InputError::WrongBody { body, why }
    }

    /// The tree of a moving body; none for a fixed one.
    pub fn tree_of(&self, body: usize) -> Option<usize> {
        self.there(body)?.tree
    }

    /// True where a body of another scene is the same: there or not, with its shape, inertia and material;
    /// a fixed one in the same place.
    pub(crate) fn is_same_body(&self, other: &Self, body: usize) -> bool {
        let (Some(a), Some(b)) = (self.there(body), other.there(body)) else {
            return self.there(body).is_none() && other.there(body).is_none();
        };
        // Shapes of parry are alike by their frames.
        let of_shape = |placed: &Placed| {
            let shape = &placed.body.shape;
            (shape.kind(), shape.frame(), placed.radius)
        };
        let is_placed = a.tree.is_some() || a.pose == b.pose;
        let of_body = |placed: &Placed| (placed.tree, placed.mass, placed.moments);
        is_placed
            && of_body(a) == of_body(b)
            && of_shape(a) == of_shape(b)
            && a.body.material == b.body.material
    }

    /// Mass of the body of a tree (kg); zero where it was removed.
    pub(crate) fn mass_of_tree(&self, tree: usize) -> f64 {
        let body = self.moving.get(tree).and_then(|body| self.there(*body));
        body.map_or(0.0, |placed| placed.mass)
    }

    /// Mass of a body (kg); infinite for a fixed one.
    pub fn mass_of(&self, body: usize) -> Option<f64> {
        self.there(body).map(|placed| placed.mass)
    }

    /// The pose of a body at these coordinates; none for a body that is not there, and for
    /// coordinates of another length.
    pub fn pose(&self, body: usize, q: &[f64]) -> Option<Pose> {
        let known = self.there(body).is_some() && q.len() == 7 * self.moving.len();
        known.then(|| self.pose_of(body, q))
    }

    /// The pose of the axes in which the shape of a body was given ([`Shape::frame`]).
    ///
    /// [`Shape::frame`]: super::Shape::frame
    pub fn frame(&self, body: usize, q: &[f64]) -> Option<Pose> {
        let pose = self.pose(body, q)?;
        Some(self.bodies[body].body.shape.frame().moved_by(&pose))
    }

    /// The centre of a body (m).
    pub fn position(&self, body: usize, q: &[f64]) -> Option<Vector3<f64>> {
        self.pose(body, q).map(|pose| pose.position())
    }

    /// Angular velocity of a body and velocity of its centre, in world axes; zero for a fixed one.
    pub fn velocity(&self, body: usize, v: &[f64]) -> Option<(Vector3<f64>, Vector3<f64>)> {
        let placed = self.there(body)?;
        let Some(tree) = placed.tree else {
            return Some((Vector3::zeros(), Vector3::zeros()));
        };
        let v = v.get(6 * tree..6 * tree + 6)?;
        Some((
            Vector3::new(v[0], v[1], v[2]),
            Vector3::new(v[3], v[4], v[5]),
        ))
    }

    /// Refuses coordinates of another length, that are not finite, or with a quaternion of length
    /// zero, whose entry is its tree.
    pub(super) fn check_coordinates(&self, q: &[f64]) -> Result<(), InputError> {
        validate::length("q", 7 * self.moving.len(), q.len())?;
        validate::finite("q", q)?;
        let mut trees = q.chunks_exact(7).enumerate();
        trees.try_for_each(|(tree, q)| check_coordinates(q).map_err(validate::counted_from(tree)))
    }

    /// As [`pose`](Self::pose), of coordinates of the right length.
    pub(super) fn pose_of(&self, body: usize, q: &[f64]) -> Pose {
        let placed = &self.bodies[body];
        placed.tree.map_or(placed.pose, |tree| {
            Pose::from_coordinates(&q[7 * tree..7 * tree + 7])
        })
    }

    /// The centre of a body, at coordinates of the right length.
    pub(super) fn centre_of(&self, body: usize, q: &[f64]) -> Vector3<f64> {
        let placed = &self.bodies[body];
        placed.tree.map_or_else(
            || placed.pose.position(),
            |tree| Vector3::new(q[7 * tree], q[7 * tree + 1], q[7 * tree + 2]),
        )
    }

    /// True for a pair, the lower number first, that may touch: both are there, by their groups, and
    /// unless it is ignored.
    pub(super) fn may_touch(&self, i: usize, j: usize) -> bool {
        let (a, b) = (&self.bodies[i], &self.bodies[j]);
        let both_there = a.is_there && b.is_there;
        both_there
            && a.body.groups.meet(b.body.groups)
            && self.ignored.binary_search(&(i, j)).is_err()
    }

    /// Bodies A and B of a contact and the feature of their shapes; none for a number that no
    /// contact of the scene has. The impulse acts on A, and on B with the other sign.
    ///
    /// ```
    /// use saltation::Start;
    /// use saltation::bodies::{Body, Scene, Shape, contact_point};
    /// use saltation::compliant::Compliant;
    /// let mut scene = Scene::new();
    /// scene.add(Body::fixed(Shape::plane()))?;
    /// scene.add(Body::new(Shape::cuboid([0.05; 3])?).position([0.0, 0.0, 0.05]))?;
    /// let (q, v) = scene.start();
    /// let mut stepper = Compliant::new(scene)?.time_step(0.01);
    /// let rest = stepper.integrate(&Start::at(0.0).q(&q).v(&v), 0.5)?.completed()?;
    /// let q = rest.q(49); // the start of the last step, where its contacts were found
    /// let (scene, contacts) = (stepper.system(), stepper.contacts().all_parameters());
    /// let side = |body: usize| Some((scene.body(body)?.shape(), scene.pose(body, q)?));
    /// let mut load = 0.0;
    /// for (parameters, impulse) in contacts.iter().zip(stepper.solution().impulses()) {
    ///     let (a, b, feature) = scene.contact_of(parameters.contact).expect("of this scene");
    ///     let (a, b) = (side(a).expect("a body"), side(b).expect("a body"));
    ///     let point = contact_point((a.0, &a.1), (b.0, &b.1), feature).expect("a vertex");
    ///     assert!(point.on_a.z.abs() < 1e-4); // where it touches, in world axes
    ///     load += impulse[0] * point.normal.z / 0.01; // the normal force on A (N)
    /// }
    /// assert!((load - 9.81).abs() < 1e-4);
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// The directions of the tangents are in the rows: for a free body the last three entries of a
    /// row ([`Contacts::blocks`](crate::mechanics::Contacts::blocks)) are its direction in world axes.
    pub fn contact_of(&self, number: usize) -> Option<(usize, usize, usize)> {
        let (pair, feature) = (number / FEATURES, number % FEATURES);
        let n = self.len();
        if n == 0 || pair / n >= n {
            return None;
        }
        let pair = self.pair(pair / n, pair % n)?;
        Some((pair.a, pair.b, feature))
    }

    /// The pair of bodies `i < j`; none where both are fixed or may not touch.
    pub(super) fn pair(&self, i: usize, j: usize) -> Option<Pair> {
        let fixed = |body: usize| self.bodies[body].tree.is_none();
        if i >= j || (fixed(i) && fixed(j)) || !self.may_touch(i, j) {
            return None;
        }
        let (a, b) = if fixed(i) { (j, i) } else { (i, j) };
        let first = (i * self.len() + j) * FEATURES;
        Some(Pair { a, b, first })
    }

    /// The number of a contact.
    pub(super) fn number(pair: Pair, feature: usize) -> usize {
        pair.first + feature
    }
}

/// Bodies A and B of a pair, and the number of its contacts with feature 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) first: usize,
}

/// Says of which body an error is.
pub(super) fn of_body(number: usize) -> impl Fn(InputError) -> InputError {
    move |mut error| {
        if let InputError::NotFinite { entry, .. } | InputError::BadSetting { entry, .. } =
            &mut error
        {
            *entry = number;
        }
        error
    }
}
