//! The terms of a driver: added and taken away, and looked at when a run starts and where they or the system may
//! have changed: that nothing holds a body which was removed, and that bodies do not stand apart where a joint
//! holds them together.

use std::any::Any;
use std::sync::Arc;

use super::driver::Compliant;
use super::model::{StepState, StepTerm, SteppedSystem};
use super::state::Core;
use crate::compliant::Problem;
use crate::linalg::cholesky;
use crate::mechanics::configuration::rate;
use crate::mechanics::{ContactSource, MechanicalSystem};
use crate::{Doubt, InputError, validate};

/// Way of a body by the terms of one step, by its size, from which it is said that they moved it far.
const FAR: f64 = 0.1;

/// A tree, and a term that acts on it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    pub(super) tree: usize,
    pub(super) term: usize,
}

impl Core {
    /// The first term, with its tree, that acts on one of the trees asked for in a step that starts here.
    pub(super) fn first_held(
        &self,
        system: &dyn SteppedSystem,
        is_asked: impl Fn(usize) -> bool,
    ) -> Result<Option<Held>, InputError> {
        let system = &self.measured(system)?;
        let trees: Vec<usize> = (0..system.trees()).filter(|tree| is_asked(*tree)).collect();
        if trees.is_empty() {
            return Ok(None);
        }
        let (t, q, v) = (self.t, &self.q[..], &self.v[..]);
        let mut problem = Problem::new(self.settings.dt)?;
        let mut mass = Vec::new();
        for i in 0..system.trees() {
            let own = system.tree(i);
            mass.clear();
            mass.resize(own.len() * own.len(), 0.0);
            system.tree_mass(i, q, &mut mass);
            problem.add_tree(&mass, &v[own])?;
        }
        let dt = self.settings.dt;
        let state = StepState { t, dt, q, v };
        for (term, of) in self.settings.terms.iter().enumerate() {
            of.add(&state, &mut problem)?;
            if let Some(&tree) = trees.iter().find(|tree| problem.acts_on(**tree)) {
                return Ok(Some(Held { tree, term }));
            }
        }
        Ok(None)
    }

    /// Refuses terms on bodies that were removed: they would be held by a ghost with its mass.
    pub(super) fn check_held(&self, system: &dyn SteppedSystem) -> Result<(), InputError> {
        if self.settings.terms.is_empty() {
            return Ok(());
        }
        let body = |tree| system.body_of_tree(tree);
        let held = self.first_held(system, |tree| body(tree).is_some_and(|of| !of.is_there))?;
        match held.and_then(|held| Some((held.term, body(held.tree)?.number))) {
            Some((term, body)) => Err(InputError::BodyGone { body, term }),
            None => Ok(()),
        }
    }

    /// Refuses axes by numbers whose velocity is not the rate of their coordinate, `N(q) e_v ≠ e_q` in that entry.
    pub(super) fn check_axes(&self, system: &dyn SteppedSystem) -> Result<(), InputError> {
        let mut found = Ok(());
        let mut v = vec![0.0; self.v.len()];
        let mut rates = vec![0.0; self.q.len()];
        for (i, term) in self.settings.terms.iter().enumerate() {
            term.axes(&mut |axis| {
                let Some(numbers) = axis.numbers().filter(|_| found.is_ok()) else {
                    return;
                };
                // a term of the user may not have checked it
                found = axis.check(rates.len(), v.len());
                if found.is_err() {
                    return;
                }
                v[numbers.velocity] = 1.0;
                rate(system, &self.q, &v, &mut rates);
                v[numbers.velocity] = 0.0;
                let rule = "is not the velocity of its coordinate: of a body of a scene turns come before moves (Axis::new)";
                let is_rate = (rates[numbers.coordinate] - 1.0).abs() < 1e-9;
                let number = numbers.velocity as f64;
                found = validate::unless(is_rate, "velocity of an axis", number, rule)
                    .map_err(validate::counted_from(i));
            });
        }
        found
    }

    /// The body that the terms of this step moved farthest by its size, where that is far: bodies of a joint that
    /// stood apart are drawn together in one step or two, with any speed that takes.
    pub(super) fn moved_apart(&self, system: &dyn SteppedSystem, dt: f64) -> Option<Doubt> {
        let impulses = self.solver.solution().row_impulses();
        if impulses.is_empty() {
            return None;
        }
        let problem = &self.problem;
        let mut change = vec![0.0; problem.dof()];
        problem.add_momentum_of_rows(impulses, &mut change);
        let mut farthest: Option<Doubt> = None;
        let mut most = FAR;
        for tree in 0..problem.trees() {
            let own = system.tree(tree);
            let Some(body) = system.body_of_tree(tree).filter(|_| own.len() == 6) else {
                continue;
            };
            let mut block = problem.inertia_of(tree).to_vec();
            let change = &mut change[own];
            if cholesky::factor(&mut block, 6).is_none() {
                continue;
            }
            cholesky::solve(&block, 6, change);
            let norm = |of: &[f64]| of.iter().map(|x| x * x).sum::<f64>().sqrt();
            let (turn, way) = (dt * norm(&change[..3]), dt * norm(&change[3..]));
            let share = way / body.size + turn;
            if share > most {
                most = share;
                farthest = Some(Doubt::Apart {
                    body: body.number,
                    t: self.t,
                    way,
                    turn,
                });
            }
        }
        farthest
    }
}

impl<S> Compliant<S>
where
    S: MechanicalSystem + ContactSource,
{
    /// Adds a term to the problem of every step: a joint, a limit, a motor. The rows of terms
    /// ([`StepSolution::row_impulses`]) follow each other in the order in which terms were added.
    #[must_use]
    pub fn term(mut self, term: impl StepTerm + Send + Sync) -> Self {
        self.core.settings.terms.push(Arc::new(term));
        self.core.once.terms = false;
        self
    }

    /// Term number `i`, in the order in which they were added, to be changed between steps: the goal
    /// of a motor. None when there is no such term, when it is of another type, and while a clone of
    /// this driver shares it.
    pub fn term_mut<T: StepTerm>(&mut self, i: usize) -> Option<&mut T> {
        let term = Arc::get_mut(self.core.settings.terms.get_mut(i)?)?;
        self.core.once.terms = false;
        let term: &mut dyn Any = term;
        term.downcast_mut()
    }

    /// Takes term number `i` away, from the next step on: a gripper that lets go. Numbers of other terms stay what they
    /// are; the place of this one stays empty, and terms that are added come behind all.
    ///
    /// # Errors
    /// [`InputError::NoSuch`] for a number that no term has had.
    pub fn remove_term(&mut self, i: usize) -> Result<(), InputError> {
        let count = self.core.settings.terms.len();
        let what = "term";
        let none = InputError::NoSuch {
            what,
            index: i,
            count,
        };
        let term = self.core.settings.terms.get_mut(i).ok_or(none)?;
        *term = Arc::new(Removed);
        Ok(())
    }

    /// The first term that acts on a tree of the system in a step that starts here.
    pub(crate) fn term_on(&self, tree: usize) -> Result<Option<usize>, InputError> {
        let held = self.core.first_held(&self.system, |asked| asked == tree)?;
        Ok(held.map(|held| held.term))
    }

    /// The impulses of the rows of term `i` in the last step (N s, or N m s), of those in the order in which they were
    /// [added](Self::term): each term says which rows it has. None before the first step and where there is no such
    /// term. By the length of the step they are forces and torques.
    pub fn term_impulses(&self, i: usize) -> Option<&[f64]> {
        let rows = self.core.problem.rows_of_term(i)?;
        self.solution().row_impulses().get(rows)
    }
}

/// A term that was taken away.
struct Removed;

impl StepTerm for Removed {
    fn add(&self, _state: &StepState<'_>, _problem: &mut Problem) -> Result<(), InputError> {
        Ok(())
    }
}
