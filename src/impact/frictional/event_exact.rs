//! Samples of the set of outcomes without the error of a step: in the plane the impact inclusion is
//! piecewise constant, so a path goes from event to event.

use super::bounds::{BoundDraws, BoundLaw, Pushing};
use super::modes::{Known, Modes, UNKNOWN};
use super::simulation::{Ended, finite, start};
use crate::impact::{ImpactFailure, ImpactProblem};
use crate::linalg::double_double::Double;
use crate::random::{Draws, Stream, word_below};
use crate::validate;

/// Speeds below this part of the greatest are zero.
const ZERO: f64 = 1e-12;

/// Limit of the events of a leg, times contacts.
const EVENTS: usize = 64;

/// Settings of the sampler without a step error.
///
/// A sample is a path of the impact inclusion in legs. In a leg contact `i` pushes at a constant
/// rate, so that it would spend a drawn part of `bound` (N s) over the whole leg; it does not push
/// while it separates, and only as much as keeps it closed where more would open it. Friction
/// follows from the normal rates by Coulomb's law. At each normal speed or slip that becomes zero
/// the rates are computed again; where several are possible, one is drawn. A path ends when no contact
/// approaches.
///
/// Every point of a path is in the exact set, to the rounding of the impulses between two events:
/// speeds follow from the sum of all impulses in twice the precision, so that what one event rounds
/// is seen and undone at the next, and does not add up. With much friction this matters: tangential
/// impulses that cancel are `μ` times as great as normal ones.
///
/// ```
/// use saltation::impact::{EventExact, ImpactProblem};
/// use saltation::nalgebra::{DMatrix, DVector};
/// // Two contacts without friction that push each other apart, with tangents of no coupling.
/// let delassus = DMatrix::from_row_slice(4, 4, &[1.0, 0.4, 0.0, 0.0, 0.4, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0]);
/// let speeds = DVector::from_vec(vec![-1.0, -1.0, 0.0, 0.0]);
/// let problem = ImpactProblem::with_tangents(delassus, speeds, &[0.0; 2])?;
/// let mut simulation = EventExact::new(0.5).start(&problem)?;
/// let (mut speeds, mut impulses) = ([0.0; 4], [0.0; 4]);
/// let ended = simulation.simulate(7, &mut speeds, &mut impulses)?;
/// assert!(ended.finished && speeds[0].min(speeds[1]).abs() < 1e-12);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EventExact {
    bound: f64,
    most_legs: usize,
    seed: u64,
    law: BoundLaw,
}

impl EventExact {
    /// With the greatest normal impulse `h` of a contact in one leg (N s). A good choice is half of
    /// the momentum that approaches.
    pub const fn new(bound: f64) -> Self {
        Self {
            bound,
            most_legs: 20,
            seed: 0,
            law: BoundLaw::Faces,
        }
    }

    /// Limit of the legs of a sample (default 20, at least 1, at most 1 000 000). A leg ends early
    /// after 64 events a contact.
    #[must_use]
    pub const fn most_legs(mut self, legs: usize) -> Self {
        self.most_legs = legs;
        self
    }

    /// The seed of all draws (default 0). A sample depends on its number and the settings alone.
    #[must_use]
    pub const fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How the bounds of a leg are drawn (default by faces).
    #[must_use]
    pub const fn law(mut self, law: BoundLaw) -> Self {
        self.law = law;
        self
    }

    /// The workspace for samples of a problem.
    ///
    /// # Errors
    /// [`InputError::BadSetting`](crate::InputError::BadSetting) for a setting out of its range,
    /// for problems in space and for more than five contacts;
    /// [`InputError::FrictionIgnored`](crate::InputError::FrictionIgnored) for friction without
    /// tangents; [`ImpactFailure::Overflow`] for coefficients of friction that overflow in units in which
    /// normals and tangents have length 1.
    pub fn start<'p>(
        &self,
        problem: &'p ImpactProblem,
    ) -> Result<EventExactSimulation<'p>, ImpactFailure> {
        problem.refuse_friction_without_tangents("EventExact")?;
        validate::positive("bound", &[self.bound])?;
        validate::count("most legs", self.most_legs)?;
        Modes::refuse(problem)?;
        let (m, modes) = (problem.contacts(), Modes::new(problem));
        modes.check_finite(problem.speeds().as_slice())?;
        Ok(EventExactSimulation {
            settings: *self,
            problem,
            zero: problem.parts_of_greatest(ZERO),
            modes,
            known: vec![UNKNOWN; m],
            most: vec![0.0; m],
            rates: vec![Double::ZERO; problem.speeds().len()],
            push: vec![0.0; problem.speeds().len()],
            reached: vec![Double::ZERO; problem.speeds().len()],
            spent: vec![Double::ZERO; problem.speeds().len()],
        })
    }
}

/// The workspace of [`EventExact`] for one problem: samples allocate nothing, except where a mode
/// is singular.
#[derive(Clone, Debug)]
pub struct EventExactSimulation<'p> {
    settings: EventExact,
    problem: &'p ImpactProblem,
    /// The greatest speed that counts as zero, row by row.
    zero: Vec<f64>,
    modes: Modes,
    known: Vec<Known>,
    /// The impulse that each contact would spend in the leg.
    most: Vec<f64>,
    /// Rates of the speeds and of the impulses, over a leg of length 1.
    rates: Vec<Double>,
    push: Vec<f64>,
    /// The speeds so far, in which rounding is not zero, and the impulses they follow from.
    reached: Vec<Double>,
    spent: Vec<Double>,
}

impl EventExactSimulation<'_> {
    pub(super) fn problem(&self) -> &ImpactProblem {
        self.problem
    }

    /// Runs one sample: `speeds` get the contact speeds after it, `impulses` the sum of its
    /// impulses (normals first), each rounded once. What it finds depends on the settings, the
    /// problem and the number alone. A sample that still approaches after the last leg is not
    /// finished.
    ///
    /// # Errors
    /// [`InputError::WrongLength`](crate::InputError::WrongLength), [`ImpactFailure::Overflow`],
    /// [`ImpactFailure::Interrupted`].
    pub fn simulate(
        &mut self,
        sample: u64,
        speeds: &mut [f64],
        impulses: &mut [f64],
    ) -> Result<Ended, ImpactFailure> {
        let mut ended = start(self.problem, speeds, impulses)?;
        self.spent.fill(Double::ZERO);
        for (reached, &u) in self.reached.iter_mut().zip(&*speeds) {
            *reached = Double::from(u);
        }
        self.settle(speeds);
        ended.finished = self.is_over(speeds);
        let EventExact {
            bound, seed, law, ..
        } = self.settings;
        let bounds = BoundDraws { law, seed, bound };
        while !ended.finished && ended.steps < self.settings.most_legs {
            self.problem.check_interrupt()?;
            let pushing = Pushing {
                speeds,
                eps: &self.zero,
                stored: &[],
            };
            let draws = bounds.of_step(sample, ended.steps, pushing, &mut self.most);
            self.leg(draws, speeds)?;
            ended.steps += 1;
            ended.finished = self.is_over(speeds);
        }
        // what was zero is zero but for rounding
        round(&self.reached, speeds);
        round(&self.spent, impulses);
        finite(ended, speeds, impulses)
    }

    fn is_over(&self, speeds: &[f64]) -> bool {
        speeds[..self.known.len()].iter().all(|&u| u >= 0.0)
    }

    /// Sets rounding to zero.
    fn settle(&self, speeds: &mut [f64]) {
        for (u, zero) in speeds.iter_mut().zip(&self.zero) {
            if u.abs() <= *zero {
                *u = 0.0;
            }
        }
    }

    /// One leg, or its part until no contact approaches.
    fn leg(&mut self, draws: Draws, speeds: &mut [f64]) -> Result<(), ImpactFailure> {
        let m = self.known.len();
        let mut left = 1.0;
        for event in 0..EVENTS * m {
            if left <= 0.0 || self.is_over(speeds) {
                return Ok(());
            }
            if !self.find_rates(draws, event as u64, speeds)? {
                return Ok(());
            }
            let length = self.until_event(speeds, left);
            left -= length;
            let part = Double::from(length);
            for (spent, &push) in self.spent.iter_mut().zip(&self.push) {
                *spent = *spent + Double::product(length, push);
            }
            for (reached, &rate) in self.reached.iter_mut().zip(&self.rates) {
                *reached = *reached + part * rate;
            }
            // A speed that the rates should have kept at zero, but for the rounding of what pushes,
            // is no longer zero here: the next rates bring it back.
            round(&self.reached, speeds);
            self.settle(speeds);
        }
        Ok(())
    }

    /// The rates from these speeds; false where none are found.
    fn find_rates(
        &mut self,
        draws: Draws,
        event: u64,
        speeds: &[f64],
    ) -> Result<bool, ImpactFailure> {
        let m = self.known.len();
        for (i, known) in self.known.iter_mut().enumerate() {
            known.normal = sign(speeds[i]);
            if self.most[i] == 0.0 {
                // it does not push
                known.normal = 1;
            }
            known.slip = speeds.get(m + i).map_or(0, |&u| sign(u));
        }
        self.modes
            .find_rates(&self.known, &self.most, self.problem.interrupt())?;
        let chosen = match self.modes.count() {
            0 | 1 => 0,
            count => word_below(draws.block(Stream::Choice, event)[0], count),
        };
        let Some(push) = self.modes.impulses(chosen) else {
            return Ok(false);
        };
        self.push.copy_from_slice(push);
        self.rates.fill(Double::ZERO);
        let columns = self.problem.delassus().as_slice();
        let columns = columns.chunks_exact(self.push.len().max(1));
        for (column, &p) in columns.zip(&self.push).filter(|(_, p)| **p != 0.0) {
            for (rate, &g) in self.rates.iter_mut().zip(column) {
                *rate = *rate + Double::product(g, p);
            }
        }
        Ok(true)
    }

    /// How far the rates hold, at most `left`: until a speed that matters changes its sign.
    fn until_event(&self, speeds: &[f64], left: f64) -> f64 {
        let m = self.known.len();
        let mut length = left;
        for (row, (&u, rate)) in speeds.iter().zip(&self.rates).enumerate() {
            let rate = rate.high();
            // slips of contacts that do not push do not matter
            let matters = row < m || self.push[row - m] > 0.0;
            if matters && u * rate < 0.0 {
                length = length.min(-u / rate);
            }
        }
        length
    }
}

fn sign(speed: f64) -> i8 {
    i8::from(speed > 0.0) - i8::from(speed < 0.0)
}

fn round(from: &[Double], to: &mut [f64]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = from.high();
    }
}
