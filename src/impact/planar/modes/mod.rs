//! All solutions of a planar impact with friction, by the modes of its contacts.
//!
//! Without bounds a contact is open, sticks, or slips one way or the other: 4ᵐ modes. With a bound
//! on its normal impulse it may also push with all of it and go on approaching, and stick or slip
//! meanwhile: 7ᵐ modes. A mode is a linear system in the impulses it leaves free, and signs to
//! check. A singular system is decided by the nonnegative least-squares problem of the mode's cone.
//!
//! * `trial`: one mode, its system and its signs; `singular`: modes whose system is singular;
//!   `careful`: modes of large impulses, in numbers of twice the precision.
//!
//! All numbers are in units in which the Delassus matrix has a unit diagonal and the greatest speed
//! is 1.

mod careful;
mod singular;
mod trial;

use careful::Careful;
use trial::{FRICTIONLESS, MERGED, Normal, STATES, State, TOLERANCE, Trial, open_that_stay};
pub(crate) use trial::{Known, UNKNOWN};

use crate::Interrupt;
use crate::impact::{Contacting, ImpactFailure, ImpactProblem, Order, Outcome, Outcomes};
use crate::linalg::largest;
use crate::linalg::lu::solve_once;
use crate::linalg::scratch::resize_vector;
use crate::validate;

/// Limit of the contacts whose modes are enumerated: 1024 modes without bounds, 16 807 with them.
pub(crate) const MOST_CONTACTS: usize = 5;
/// Impulses above this are found with more digits. An almost dependent system makes impulses `λ` of
/// speeds of size 1 and is off by up to `ε λ²`: as much as signs are checked to, and more from here on.
const LARGE: f64 = 1e3;
/// Impulses above this are not listed: when they are written as numbers, the speeds behind them are off
/// by more than 1e-7.
const TOO_LARGE: f64 = 1e9;

/// The solutions of one impact for given speeds and bounds. Regular modes allocate nothing once the
/// list of solutions has its size.
#[derive(Clone, Debug, Default)]
pub(crate) struct Modes {
    trial: Trial,
    careful: Careful,
    /// `√G_ii` of each row.
    roots: Vec<f64>,
    /// The greatest speed.
    unit: f64,
    /// Singular modes are passed over.
    only_regular: bool,
    /// Impulses, in units of the problem, and scaled speeds of all solutions, one after the other.
    found: Vec<f64>,
    scaled_speeds: Vec<f64>,
    states: Vec<State>,
    count: usize,
    complete: bool,
}

impl Modes {
    /// Refuses problems in space and with more than [`MOST_CONTACTS`] contacts.
    pub(crate) fn refuse(problem: &ImpactProblem) -> Result<(), ImpactFailure> {
        let (m, t) = (problem.contacts(), problem.tangents());
        let rule = "must be at most 1 where contact modes are enumerated";
        validate::unless(t < 2, "tangents of a contact", t as f64, rule)?;
        let rule = "must be at most 5 where contact modes are enumerated";
        validate::unless(m <= MOST_CONTACTS, "contacts", m as f64, rule)?;
        Ok(())
    }

    pub(crate) fn new(problem: &ImpactProblem) -> Self {
        let mut modes = Self::default();
        modes.fill(problem);
        modes
    }

    /// Of another problem, in memory that is there.
    pub(crate) fn fill(&mut self, problem: &ImpactProblem) {
        let (m, t) = (problem.contacts(), problem.tangents().min(1));
        let g = problem.delassus();
        let size = m + t * m;
        self.roots.clear();
        self.roots.extend((0..size).map(|i| {
            // A tangent along which nothing moves takes the unit of its normal.
            let own = g[(i, i)].sqrt();
            if own > 0.0 {
                own
            } else {
                g[(i % m, i % m)].sqrt()
            }
        }));
        let roots = &self.roots;
        let friction = (0..m).map(|i| match t {
            0 => 0.0,
            _ => problem.friction()[i] * (roots[m + i] / roots[i]),
        });
        self.trial
            .fill(friction, t, size, |i, j| g[(i, j)] / roots[i] / roots[j]);
        self.careful.delassus.clear();
        self.careful.delassus.extend_from_slice(g.as_slice());
        self.careful.friction.clear();
        self.careful.friction.extend_from_slice(problem.friction());
        self.careful.forget();
        self.unit = 1.0;
        self.only_regular = false;
        self.found.clear();
        self.scaled_speeds.clear();
        self.states.clear();
        (self.count, self.complete) = (0, true);
    }

    /// Number of different velocities found.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// False when some mode holds more velocities than the one listed, or has impulses that are too large.
    pub(crate) fn is_complete(&self) -> bool {
        self.complete
    }

    /// The impulses of a solution (N s).
    pub(crate) fn impulses(&self, k: usize) -> Option<&[f64]> {
        let size = self.roots.len();
        self.found.get(k * size..(k + 1) * size)
    }

    /// The states of the contacts in the first mode of a solution, in the order of enumeration; of
    /// accelerations, in the first of those with the fewest open contacts that stay.
    pub(crate) fn contact_modes(&self, k: usize) -> Vec<Contacting> {
        self.states_of(k).collect()
    }

    fn states_of(&self, k: usize) -> impl Iterator<Item = Contacting> {
        let m = self.trial.contacts;
        let states = self.states.get(k * m..(k + 1) * m).unwrap_or_default();
        states.iter().map(|state| state.public())
    }

    /// All solutions as outcomes of an impact.
    pub(crate) fn outcomes(&self, problem: &ImpactProblem) -> Result<Outcomes, ImpactFailure> {
        let mut outcomes = Outcomes::default();
        self.write_all(problem, &mut outcomes)?;
        Ok(outcomes)
    }

    /// Likewise, in memory that is there.
    pub(crate) fn write_all(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        (outcomes.is_complete, outcomes.effort) = (self.complete, 0);
        outcomes.list.resize_with(self.count, Outcome::empty);
        let mut list = outcomes.list.iter_mut().enumerate();
        list.try_for_each(|(k, outcome)| self.write(k, problem, outcome))
    }

    /// Writes a solution as an outcome.
    fn write(
        &self,
        k: usize,
        problem: &ImpactProblem,
        outcome: &mut Outcome,
    ) -> Result<(), ImpactFailure> {
        outcome.remarks.clear();
        resize_vector(&mut outcome.impulses, self.roots.len());
        if let Some(impulses) = self.impulses(k) {
            outcome.impulses.copy_from_slice(impulses);
        }
        if let Order::Modes(kept) = &mut outcome.order {
            kept.clear();
            kept.extend(self.states_of(k));
        } else {
            outcome.order = Order::Modes(self.contact_modes(k));
        }
        outcome.complete(problem)
    }

    /// Finds all solutions for these speeds; `most` bounds the normal impulses.
    pub(crate) fn find(
        &mut self,
        speeds: &[f64],
        most: Option<&[f64]>,
        interrupt: Option<&Interrupt>,
    ) -> Result<(), ImpactFailure> {
        self.begin(speeds, most)?;
        let states_of_contact: &[State] = match (self.trial.tangents, most) {
            (0, None) => &FRICTIONLESS[..2],
            (0, Some(_)) => &FRICTIONLESS,
            (_, None) => &STATES[..4],
            (_, Some(_)) => &STATES,
        };
        self.list(states_of_contact, interrupt)
    }

    /// Takes in speeds and bounds, with nothing known of the contacts.
    fn begin(&mut self, speeds: &[f64], most: Option<&[f64]>) -> Result<(), ImpactFailure> {
        let scaled = speeds.iter().zip(&self.roots).map(|(u, root)| u / root);
        let greatest = largest(scaled.clone());
        self.unit = if greatest > 0.0 { greatest } else { 1.0 };
        self.check_finite(speeds)?;
        for (to, s) in self.trial.speeds.iter_mut().zip(scaled) {
            *to = s / self.unit;
        }
        self.careful.speeds.clear();
        self.careful.speeds.extend_from_slice(speeds);
        self.careful.forget();
        for (i, to) in self.trial.most.iter_mut().enumerate() {
            *to = most.map_or(f64::INFINITY, |most| most[i] * (self.roots[i] / self.unit));
        }
        self.trial.known.fill(UNKNOWN);
        Ok(())
    }

    /// Finds all accelerations of contacts that touch and do not part, by those of free motion,
    /// where the slip of a contact may be known. The impulses found are forces.
    pub(crate) fn find_accelerations(
        &mut self,
        free: &[f64],
        known: &[Known],
        interrupt: Option<&Interrupt>,
    ) -> Result<(), ImpactFailure> {
        self.begin(free, None)?;
        self.trial.known.copy_from_slice(known);
        let states = if self.trial.tangents == 0 {
            &FRICTIONLESS[..2]
        } else {
            &STATES[..4]
        };
        self.list(states, interrupt)
    }

    /// Finds all rates of change of an impact in which each contact pushes at the rate `most`, or
    /// less where it would part: the solutions for zero speeds, where the given facts of a contact
    /// replace the signs of its speeds after. The impulses found are rates.
    pub(crate) fn find_rates(
        &mut self,
        known: &[Known],
        most: &[f64],
        interrupt: Option<&Interrupt>,
    ) -> Result<(), ImpactFailure> {
        let scaled = most.iter().zip(&self.roots).map(|(rate, root)| rate * root);
        let greatest = scaled.clone().fold(0.0f64, f64::max);
        self.unit = if greatest > 0.0 { greatest } else { 1.0 };
        for (to, rate) in self.trial.most.iter_mut().zip(scaled) {
            *to = rate / self.unit;
        }
        self.trial.speeds.fill(0.0);
        self.careful.speeds.clear();
        self.careful.speeds.resize(self.roots.len(), 0.0);
        self.careful.forget();
        self.trial.known.copy_from_slice(known);
        let states = if self.trial.tangents == 0 {
            &FRICTIONLESS[..]
        } else {
            &STATES
        };
        // All impulses are bounded: where a mode is singular, its solutions with the fewest free
        // impulses belong to regular modes too.
        self.only_regular = true;
        let listed = self.list(states, interrupt);
        self.only_regular = false;
        listed?;
        if self.count == 0 {
            self.list(states, interrupt)?;
        }
        Ok(())
    }

    /// Lists the solutions afresh.
    fn list(
        &mut self,
        states: &[State],
        interrupt: Option<&Interrupt>,
    ) -> Result<(), ImpactFailure> {
        self.found.clear();
        self.scaled_speeds.clear();
        self.states.clear();
        (self.count, self.complete) = (0, true);
        self.trial.mode.clear();
        self.descend(states, interrupt)
    }

    /// Refuses numbers that overflow in units of size 1.
    pub(crate) fn check_finite(&self, speeds: &[f64]) -> Result<(), ImpactFailure> {
        let overflow = |quantity, row: usize, value| ImpactFailure::Overflow {
            quantity,
            contact: row,
            value,
        };
        let scaled = speeds.iter().zip(&self.roots).map(|(u, root)| u / root);
        for (row, value) in scaled.enumerate() {
            if !value.is_finite() {
                return Err(overflow("scaled speed", row, value));
            }
        }
        for (row, &value) in self.trial.friction.iter().enumerate() {
            if !value.is_finite() {
                return Err(overflow("scaled coefficient of friction", row, value));
            }
        }
        let size = self.roots.len();
        match self.trial.gram.iter().position(|g| !g.is_finite()) {
            None => Ok(()),
            Some(k) => Err(overflow(
                "scaled Delassus matrix",
                k % size,
                self.trial.gram[k],
            )),
        }
    }

    /// Decides the state of the next contact.
    fn descend(
        &mut self,
        states: &[State],
        interrupt: Option<&Interrupt>,
    ) -> Result<(), ImpactFailure> {
        if self.trial.mode.len() == self.trial.contacts {
            interrupt.map_or(Ok(()), Interrupt::check)?;
            self.visit();
            return Ok(());
        }
        for &state in states {
            // Without friction a contact has nothing to stick with.
            if state.slip == 0
                && state.normal != Normal::Open
                && self.trial.friction[self.trial.mode.len()] == 0.0
            {
                continue;
            }
            if !self.trial.known[self.trial.mode.len()].allows(state) {
                continue;
            }
            self.trial.mode.push(state);
            let visited = self.descend(states, interrupt);
            self.trial.mode.pop();
            visited?;
        }
        Ok(())
    }

    fn visit(&mut self) {
        self.trial.set_up();
        if solve_once(&mut self.trial.system.entries, &mut self.trial.system.x) {
            self.trial.spread_unknowns();
            if self.trial.greatest() <= LARGE {
                if self.trial.is_solution() {
                    self.keep();
                }
                return;
            }
            if self.visit_carefully() {
                return;
            }
        }
        if self.only_regular {
            return;
        }
        // Its impulses start from those that the mode prescribes.
        self.trial.set_up();
        let impulses = singular::point_of_cone(&self.trial);
        self.trial.lambda.copy_from_slice(&impulses);
        if self.trial.is_solution() {
            self.keep();
            self.complete &= !singular::holds_others(&self.trial);
        }
    }

    /// Tries a mode of large impulses, of which the system with more digits tells the signs. Too large
    /// ones are left out, and the list is not complete then. False where the system is singular.
    #[cold]
    fn visit_carefully(&mut self) -> bool {
        if !(self.careful).solve(&mut self.trial, &self.roots, self.unit) {
            return false;
        }
        let greatest = self.trial.greatest();
        let rounding = 4.0 * f64::EPSILON * greatest;
        if self.trial.has_signs(rounding.max(TOLERANCE)) {
            if greatest <= TOO_LARGE {
                self.keep();
            } else {
                self.complete = false;
            }
        }
        true
    }

    /// Lists the solution. Where its velocity is listed, the mode of fewer open contacts that stay
    /// is kept.
    fn keep(&mut self) {
        let (m, size) = (self.trial.contacts, self.roots.len());
        let mut known = self.scaled_speeds.chunks_exact(size);
        let near = |a: &[f64]| {
            a.iter()
                .zip(&self.trial.after)
                .all(|(a, b)| (a - b).abs() <= MERGED)
        };
        let place = known.position(near).unwrap_or(self.count);
        if place == self.count {
            self.scaled_speeds.extend_from_slice(&self.trial.after);
            self.states.extend_from_slice(&self.trial.mode);
            self.found.resize(self.found.len() + size, 0.0);
            self.count += 1;
        } else {
            let kept = &mut self.states[place * m..(place + 1) * m];
            if open_that_stay(&self.trial.known, &self.trial.mode)
                >= open_that_stay(&self.trial.known, kept)
            {
                return;
            }
            kept.copy_from_slice(&self.trial.mode);
        }
        let found = &mut self.found[place * size..];
        for (i, to) in found.iter_mut().take(size).enumerate() {
            let scaled = self.trial.lambda[i];
            // Rounding does not pull.
            let scaled = if i < m { scaled.max(0.0) } else { scaled };
            *to = scaled * (self.unit / self.roots[i]);
        }
    }
}
