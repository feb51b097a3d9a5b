//! Blows: what contacts with restitution give back of their approach.
//!
//! A step is solved as ever, which stops what closes in it: velocities `v_p`, by which the coordinates
//! move, so that bodies meet and lie no deeper than without restitution. Where contacts that press
//! came in fast, the same step is solved once more for the velocities that it ends with: the same
//! `A`, `v*` and rows, and for those contacts Newton's law `v_n ≥ e u` in the place of their spring,
//!
//! ```text
//!     u = min(−J_n v₀, −J_n v*)        u > max(u₁, |J_b (v* − v₀)|)
//! ```
//!
//! with the approach `u`: the lesser one, so that a step adds nothing to it. A contact that rests
//! approaches by no more than what one step gives either of its bodies `b`, `g dt`, and never gives back. One impulse acts over
//! the whole step: friction is bounded by `μ` times all of it, and momentum changes by it alone.
//!
//! Newton's law may gain energy, with friction and with several coefficients in one blow. An
//! island has no more kinetic energy after it than
//!
//! ```text
//!     T(v₀) + (v_p − v₀)ᵀ A v_p − Σ γ · J v_p      with the moments of contacts
//! ```
//!
//! that of the start and the work of efforts and rows on the way, and what rows do in the blow itself,
//! `Σ (γ_b − γ) · J (v_p + v_b)/2`: a plate that is moved along a path may give a ball more. Otherwise its
//! coefficients are brought down together until it holds, at last to none: then the step ends as it
//! would without.

use super::failure::CompliantFailure;
use super::newton::graph::{ALONE, Islands};
use super::{Problem, Solver, StepSolution};
use crate::linalg::dot;
use crate::{InputError, validate};

/// Halvings of the search for coefficients that gain no energy.
const HALVINGS: usize = 12;

/// Bodies with a gap of this part of the smaller one touch.
const TOUCHING: f64 = 1e-6;

/// Rounding of energies.
const ROUNDING: f64 = 1e-9;

/// The second problem of a step, and its solution.
#[derive(Clone)]
pub(super) struct Blow {
    pub(super) problem: Problem,
    pub(super) solver: Solver,
    /// The contacts that rebound in this step; none: there is no blow.
    rebounds: Vec<Rebound>,
    /// Coefficients were brought down.
    pub(super) is_limited: bool,
    islands: Islands,
    shares: Vec<Share>,
}

/// A contact that rebounds.
#[derive(Clone, Copy, Debug)]
struct Rebound {
    /// Its place in the list of the step.
    contact: usize,
    /// Its approach `u` is that of the start.
    is_of_start: bool,
    /// The speed `e u` with which it is to open.
    target: f64,
}

/// The energies of an island, and the factor of its coefficients.
#[derive(Clone, Copy, Debug)]
struct Share {
    factor: f64,
    /// Bounds of the factor: energy is not gained with the lower one.
    low: f64,
    high: f64,
    /// The most kinetic energy that the island may have, and what it has (J).
    most: f64,
    energy: f64,
}

impl Share {
    fn gains(&self) -> bool {
        self.energy > self.most + ROUNDING * self.most.abs()
    }
}

impl Blow {
    pub(super) fn new(dt: f64) -> Result<Self, InputError> {
        Ok(Self {
            problem: Problem::new(dt)?,
            solver: Solver::new(),
            rebounds: Vec::new(),
            is_limited: false,
            islands: Islands::default(),
            shares: Vec::new(),
        })
    }

    /// The solution of the blow; where there is none, that of the first problem.
    pub(super) fn last_of<'a>(&'a self, first: &'a Solver) -> &'a StepSolution {
        let solver = if self.is_struck() {
            &self.solver
        } else {
            first
        };
        solver.solution()
    }

    /// True where the step has a blow.
    pub(super) fn is_struck(&self) -> bool {
        !self.rebounds.is_empty()
    }

    /// Forgets the last one.
    pub(super) fn clear(&mut self) {
        self.rebounds.clear();
    }

    /// Finds the contacts of a solution that rebound; `slowest` is `u₁`.
    pub(super) fn find(&mut self, first: Parts<'_>, slowest: f64) {
        self.rebounds.clear();
        let impulses = first.solver.solution().impulses();
        for (contact, impulse) in impulses.iter().enumerate() {
            let coefficient = first
                .problem
                .parameters(contact)
                .map_or(0.0, |of| of.restitution);
            if coefficient <= 0.0 || impulse[0] <= 0.0 {
                continue;
            }
            let start = -first.problem.normal_rate(contact, first.start);
            let free = -first
                .problem
                .normal_rate(contact, first.problem.free_velocities());
            let approach = start.min(free);
            let least = first.problem.own_change(contact, first.start, 1);
            if approach > slowest.max(least) {
                self.rebounds.push(Rebound {
                    contact,
                    is_of_start: start <= free,
                    target: coefficient * approach,
                });
            }
        }
    }

    /// Puts the targets of the rebounds, each by the factor of its island, into the problem. With the
    /// factor zero nothing is given back, and the law of the step stays.
    fn aim(&mut self, first: Parts<'_>) {
        for rebound in &self.rebounds {
            let contact = rebound.contact;
            let island = self.problem.island_of(contact, &self.islands.of_tree);
            match self.shares.get(island).map(|share| share.factor) {
                Some(factor) if factor > 0.0 => {
                    self.problem.rebound(contact, factor * rebound.target);
                }
                _ => self.problem.copy_contact(contact, first.problem),
            }
        }
    }

    /// Leaves out the contacts of bodies that are apart and do not meet in the step: the velocities behind a blow move
    /// bodies in the next one only. Which of them are listed depends on the margin.
    fn part(&mut self, first: Parts<'_>) {
        let impulses = first.solver.solution().impulses();
        let rounding = first.solver.settings.rest_speed * self.problem.dt;
        for (term, impulse) in self.problem.contacts.iter_mut().zip(impulses) {
            let touching = rounding.max(TOUCHING * term.parameters.size.unwrap_or(0.0));
            term.is_apart = impulse[0] <= 0.0 && term.parameters.gap > touching;
        }
        let whole = !first.solver.settings.islands;
        self.islands.find(&self.problem, whole);
    }

    /// The most energy that each island may have.
    fn bound(&mut self, first: Parts<'_>) {
        let (of_tree, end) = (&self.islands.of_tree, first.solver.solution().v());
        let none = Share {
            factor: 1.0,
            low: 0.0,
            high: 1.0,
            most: 0.0,
            energy: 0.0,
        };
        self.shares.clear();
        self.shares.resize(self.islands.len(), none);
        for (tree, &island) in of_tree.iter().enumerate() {
            if island == ALONE {
                continue;
            }
            let share = &mut self.shares[island];
            let of = |v: &[f64], w: &[f64]| first.problem.inertia_product(tree, v, w);
            // T(v₀) + (v_p − v₀)ᵀ A v_p
            share.most += 0.5 * of(first.start, first.start) + of(end, end) - of(first.start, end);
        }
        for (contact, impulse) in first.solver.solution().impulses().iter().enumerate() {
            let island = first.problem.island_of(contact, of_tree);
            let velocity = first.problem.contact_velocity(contact, end);
            if let Some(share) = self.shares.get_mut(island) {
                share.most -= velocity.map_or(0.0, |v| dot(impulse, &v));
            }
        }
        for (contact, moment) in first.solver.solution().moments().iter().enumerate() {
            let island = first.problem.island_of(contact, of_tree);
            let turning = first.problem.angular_velocity(contact, end);
            if let Some(share) = self.shares.get_mut(island) {
                share.most -= dot(moment, &turning);
            }
        }
    }

    /// The energy that each island has, less what rows gave it in the blow.
    fn weigh(&mut self, first: Parts<'_>) {
        let of_tree = &self.islands.of_tree;
        let (before, after) = (first.solver.solution(), self.solver.solution());
        let v = after.v();
        self.shares.iter_mut().for_each(|share| share.energy = 0.0);
        for (tree, &island) in of_tree.iter().enumerate() {
            if let Some(share) = self.shares.get_mut(island) {
                share.energy += 0.5 * self.problem.inertia_product(tree, v, v);
            }
        }
        let impulses = before.row_impulses().iter().zip(after.row_impulses());
        for (row, (before_it, with_it)) in impulses.enumerate() {
            let links = &self.problem.rows[row].links;
            let rate = |v: &[f64]| self.problem.rate(links, v);
            if let Some(share) = self.shares.get_mut(of_tree[links.first.tree]) {
                share.energy -= 0.5 * (with_it - before_it) * (rate(before.v()) + rate(v));
            }
        }
    }

    /// Halves the bounds of the factors of islands that gain energy with the full one; false where
    /// none does.
    fn halve(&mut self, is_last: bool) -> bool {
        let mut is_open = false;
        for share in &mut self.shares {
            if share.gains() {
                share.high = share.factor;
            } else {
                share.low = share.factor;
            }
            if share.low < share.high {
                is_open = true;
                share.factor = if is_last {
                    share.low
                } else {
                    0.5 * (share.low + share.high)
                };
            }
        }
        self.is_limited |= is_open;
        is_open
    }

    /// The velocities after the blow with these factors, from those of the first solution.
    fn solve(&mut self, first: Parts<'_>) -> Result<(), CompliantFailure> {
        self.aim(first);
        self.solver
            .solve(&self.problem, first.solver.solution().v())?;
        self.weigh(first);
        Ok(())
    }

    /// The velocities after the blow, with coefficients by which no island gains energy.
    pub(super) fn strike(&mut self, first: Parts<'_>) -> Result<(), CompliantFailure> {
        self.problem.copy(first.problem);
        self.solver.settings.clone_from(&first.solver.settings);
        self.is_limited = false;
        self.part(first);
        self.bound(first);
        self.solve(first)?;
        for halving in 0..=HALVINGS {
            if !self.halve(halving == HALVINGS) {
                break;
            }
            self.solve(first)?;
        }
        Ok(())
    }

    /// Writes the targets that the rebounds have in another problem of the same contacts, from the
    /// velocities `start`.
    pub(super) fn targets(&self, problem: &Problem, start: &[f64], targets: &mut Vec<f64>) {
        targets.clear();
        targets.extend(self.rebounds.iter().map(|rebound| {
            let from = if rebound.is_of_start {
                start
            } else {
                problem.free_velocities()
            };
            let coefficient = problem
                .parameters(rebound.contact)
                .map_or(0.0, |of| of.restitution);
            -coefficient * problem.normal_rate(rebound.contact, from)
        }));
    }

    /// Puts targets of the rebounds into another problem.
    pub(super) fn aim_at(&self, targets: &[f64], problem: &mut Problem) {
        for (rebound, target) in self.rebounds.iter().zip(targets) {
            problem.rebound(rebound.contact, *target);
        }
    }
}

impl Problem {
    /// Takes over contact `i` of another problem of the same contacts.
    pub(super) fn copy_contact(&mut self, i: usize, other: &Self) {
        self.contacts[i] = other.contacts[i];
    }

    /// Takes over another problem, in the memory of this one.
    pub(super) fn copy(&mut self, other: &Self) {
        (self.dt, self.softness) = (other.dt, other.softness);
        self.trees.clone_from(&other.trees);
        self.inertia.clone_from(&other.inertia);
        self.factors.clone_from(&other.factors);
        self.free.clone_from(&other.free);
        self.contacts.clone_from(&other.contacts);
        self.rows.clone_from(&other.rows);
        self.jacobian.clone_from(&other.jacobian);
    }
}

/// The first solution of a step, as its blow sees it.
#[derive(Clone, Copy)]
pub(super) struct Parts<'a> {
    pub(super) problem: &'a Problem,
    pub(super) solver: &'a Solver,
    /// The velocities at the start of the step.
    pub(super) start: &'a [f64],
}

/// Refuses a coefficient of restitution that makes no sense, or that this kind of step ignores.
pub(super) fn check_restitution(
    contact: usize,
    restitution: f64,
    ignored_by: Option<&'static str>,
) -> Result<(), InputError> {
    if restitution == 0.0 {
        return Ok(());
    }
    if let Some(law) = ignored_by {
        return Err(InputError::RestitutionIgnored {
            law,
            contact,
            restitution,
        });
    }
    let rule = "must lie in [0, 1]";
    let accepts = |e: f64| (0.0..=1.0).contains(&e);
    let checked = validate::accepted("restitution", &[restitution], rule, accepts);
    checked.map_err(validate::counted_from(contact))
}
