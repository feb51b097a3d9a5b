//! Bodies that come and go while the compliant driver runs.

use super::scene::{Placed, of_body};
use super::{Body, Scene};
use crate::mechanics::MechanicalSystem;
use crate::{Compliant, InputError, Start, validate};

/// Bodies that come and go between steps. Numbers of bodies, their trees, the places of their
/// coordinates and the joints on them stay what they are: a new body has a number and a tree of its own,
/// behind all others, and one that was removed leaves both empty
/// ([`Scene::remove`]).
///
/// The run goes on at the same time and from the same state, bit by bit as if it had been started
/// there (with the ground alone, where nothing moves yet); settings, terms and counts stay, and what
/// [slept](Self::sleep) is awake. Between calls of
/// [`step`](Self::step) that is all. A live run ends before; its [snapshot](crate::Live::snapshot)
/// is taken up again after bodies were removed or replaced, but not after a moving one was added: there are
/// more coordinates then. What slept in it wakes there where what held it has changed.
///
/// ```
/// use saltation::bodies::{Anchor, Body, Joint, Scene, Shape};
/// use saltation::{Compliant, InputError, Start};
/// let mut scene = Scene::new();
/// scene.add(Body::fixed(Shape::plane()))?;
/// let ball = Body::new(Shape::sphere(0.1)?).position([0.0, 0.0, 0.1]);
/// let first = scene.add(ball.clone())?;
/// let (q, v) = scene.start();
/// let joint = Joint::ball(Anchor::of(&scene, first, [0.0; 3])?, Anchor::world([0.0, 0.0, 0.1]));
/// let mut stepper = Compliant::new(scene)?.term(joint);
/// stepper.start(&Start::at(0.0).q(&q).v(&v))?;
/// let second = stepper.add_body(ball.clone().position([1.0, 0.0, 0.5]))?;
/// for _ in 0..50 {
///     stepper.step()?;
/// }
/// assert!((stepper.q()[7 + 2] - 0.1).abs() < 1e-4); // it has landed
/// stepper.remove_body(second)?;
/// assert!(stepper.system().body(second).is_none());
/// stepper.step()?;
/// let held = stepper.remove_body(first);
/// assert_eq!(held, Err(InputError::BodyHeld { body: first, term: 0 }));
/// stepper.replace_body(second, ball)?; // its number and its coordinates are used again
/// # Ok::<(), saltation::Error>(())
/// ```
impl Compliant<Scene> {
    /// Adds a body, which starts where it says, and returns its number. The coordinates and
    /// velocities of a moving one follow those of all others. Contacts of the scene have other
    /// numbers from here on ([`Scene::contact_of`]).
    ///
    /// # Errors
    /// As [`Scene::add`]; nothing has changed then.
    pub fn add_body(&mut self, body: Body) -> Result<usize, InputError> {
        let mut scene = self.system().clone();
        let number = scene.add(body)?;
        self.change_to(scene, Some(number))?;
        Ok(number)
    }

    /// Removes a body. Others that lay on it fall.
    ///
    /// # Errors
    /// [`InputError::NoSuch`]; [`InputError::WrongBody`] for one that was removed already;
    /// [`InputError::BodyHeld`] for one that a term of this driver acts on: its number among the
    /// terms is given. Nothing has changed then.
    pub fn remove_body(&mut self, body: usize) -> Result<(), InputError> {
        self.check_free(body)?;
        let mut scene = self.system().clone();
        scene.remove(body)?;
        self.change_to(scene, Some(body))
    }

    /// Puts another body in the place of one, or of one that was removed: at its start.
    ///
    /// # Errors
    /// As [`Scene::replace`] and [`remove_body`](Self::remove_body).
    pub fn replace_body(&mut self, body: usize, by: Body) -> Result<(), InputError> {
        self.check_free(body)?;
        let mut scene = self.system().clone();
        scene.replace(body, by)?;
        self.change_to(scene, Some(body))
    }

    /// Refuses a body that a term acts on.
    fn check_free(&self, body: usize) -> Result<(), InputError> {
        let Some(tree) = self.system().slot_of(body) else {
            return Ok(());
        };
        if self.t().is_nan() {
            let (q, v) = self.system().start();
            let mut started = self.clone();
            started.start(&Start::at(0.0).q(&q).v(&v))?;
            return started.check_free(body);
        }
        match self.term_on(tree)? {
            Some(term) => Err(InputError::BodyHeld { body, term }),
            None => Ok(()),
        }
    }

    /// Goes on with another scene; one body of it stands at its start.
    fn change_to(&mut self, scene: Scene, at_start: Option<usize>) -> Result<(), InputError> {
        if self.t().is_nan() {
            *self.system_mut() = scene;
            return Ok(());
        }
        let (mut q, mut v) = (self.q().to_vec(), self.v().to_vec());
        let (q0, v0) = scene.start();
        q.resize(scene.coordinates(), 0.0);
        v.resize(scene.dof(), 0.0);
        if let Some(tree) = at_start.and_then(|body| scene.slot_of(body)) {
            let is_there = at_start.is_some_and(|body| scene.body(body).is_some());
            if is_there {
                q[7 * tree..7 * tree + 7].copy_from_slice(&q0[7 * tree..7 * tree + 7]);
            }
            v[6 * tree..6 * tree + 6].copy_from_slice(&v0[6 * tree..6 * tree + 6]);
        }
        self.exchange(scene, &q, &v)?;
        Ok(())
    }
}

impl Scene {
    /// Removes a body. Its number, its tree and its coordinates stay empty: they are those of no
    /// other body, so that all others keep theirs, and joints on them hold. It touches nothing, has no weight, and is
    /// seen by no [query](super::Query); [`body`](Self::body) and [`pose`](Self::pose) give none.
    /// [`replace`](Self::replace) uses the place again: of a scene where bodies come and go for
    /// ever it keeps the size.
    ///
    /// ```
    /// use saltation::bodies::{Body, Joint, Scene, Shape};
    /// let mut scene = Scene::new();
    /// let ball = Body::new(Shape::sphere(0.1)?);
    /// let (one, two) = (scene.add(ball.clone())?, scene.add(ball.clone())?);
    /// scene.remove(one)?;
    /// assert!(scene.remove(one).is_err() && scene.body(one).is_none());
    /// assert_eq!((scene.len(), scene.tree_of(one), scene.tree_of(two)), (2, None, Some(1)));
    /// scene.replace(one, ball.position([0.0, 0.0, 1.0]))?;
    /// assert_eq!(scene.tree_of(one), Some(0));
    /// # Ok::<(), saltation::InputError>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError::NoSuch`]; [`InputError::WrongBody`] for one that was removed already.
    pub fn remove(&mut self, body: usize) -> Result<(), InputError> {
        let missing = self.missing(body);
        let there = self.bodies.get_mut(body).filter(|placed| placed.is_there);
        let placed = there.ok_or(missing)?;
        placed.is_there = false;
        placed.body.velocity = [0.0; 6];
        Ok(())
    }

    /// Puts another body in the place of one, or of one that was removed. Pairs that are
    /// [ignored](Self::ignore) stay so.
    ///
    /// # Errors
    /// [`InputError::NoSuch`] for a number that no body has had; as [`add`](Self::add);
    /// [`InputError::BadSetting`] for a body that moves in the place of a fixed one, and the other
    /// way round.
    pub fn replace(&mut self, body: usize, by: Body) -> Result<(), InputError> {
        let before = self.bodies.get(body);
        let tree = before.ok_or_else(|| self.missing(body))?.tree;
        by.validate().map_err(of_body(body))?;
        let rule =
            "a body that moves takes the place of one that moves, a fixed one of a fixed one";
        let is_alike = by.is_fixed() == tree.is_none();
        validate::unless(is_alike, "body", body as f64, rule)?;
        self.bodies[body] = Placed::new(by, tree);
        Ok(())
    }

    /// The tree of a moving body, or of one that was removed.
    fn slot_of(&self, body: usize) -> Option<usize> {
        self.bodies.get(body)?.tree
    }
}
