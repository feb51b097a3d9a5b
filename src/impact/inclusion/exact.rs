//! Exact paths of the impact inclusion: in the plane it is piecewise constant, so a path goes from
//! event to event, in legs, without the error of a step.

use super::bounds::StepBounds;
use crate::impact::planar::modes::{Known, Modes, UNKNOWN};
use crate::impact::{ImpactFailure, ImpactProblem};
use crate::linalg::double_double::Double;
use crate::random::{Draws, Stream, word_below};

/// Speeds below this part of the greatest are zero.
pub(super) const ZERO: f64 = 1e-12;

/// Limit of the events of a leg, times contacts.
const EVENTS: usize = 64;

/// The workspace of legs.
#[derive(Clone, Debug)]
pub(super) struct Legs<'p> {
    problem: &'p ImpactProblem,
    modes: Modes,
    known: Vec<Known>,
    /// Rates of the speeds and of the impulses, over a leg of length 1.
    rates: Vec<Double>,
    push: Vec<f64>,
    /// The speeds so far, in which rounding is not zero, and the impulses they follow from.
    reached: Vec<Double>,
    spent: Vec<Double>,
}

impl<'p> Legs<'p> {
    /// In the plane, for up to five contacts.
    pub(super) fn new(problem: &'p ImpactProblem) -> Result<Self, ImpactFailure> {
        Modes::refuse(problem)?;
        let (modes, size) = (Modes::new(problem), problem.speeds().len());
        modes.check_finite(problem.speeds().as_slice())?;
        Ok(Self {
            problem,
            modes,
            known: vec![UNKNOWN; problem.contacts()],
            rates: vec![Double::ZERO; size],
            push: vec![0.0; size],
            reached: vec![Double::ZERO; size],
            spent: vec![Double::ZERO; size],
        })
    }

    /// Sets a sample to the start, speeds that are rounding to zero.
    pub(super) fn begin(&mut self, zero: &[f64], speeds: &mut [f64]) {
        self.spent.fill(Double::ZERO);
        for (reached, &u) in self.reached.iter_mut().zip(&*speeds) {
            *reached = Double::from(u);
        }
        settle(zero, speeds);
    }

    /// The speeds and impulses of the whole sample, each rounded once: what was zero is zero but
    /// for rounding.
    pub(super) fn round(&self, speeds: &mut [f64], impulses: &mut [f64]) {
        round(&self.reached, speeds);
        round(&self.spent, impulses);
    }

    /// One leg, or its part until no contact approaches.
    pub(super) fn advance(
        &mut self,
        draws: Draws,
        bounds: &StepBounds,
        speeds: &mut [f64],
    ) -> Result<(), ImpactFailure> {
        let m = self.known.len();
        let mut left = 1.0;
        for event in 0..EVENTS * m {
            if left <= 0.0 || bounds.is_over(speeds) {
                return Ok(());
            }
            if !self.find_rates(draws, event as u64, &bounds.most, speeds)? {
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
            settle(&bounds.eps, speeds);
        }
        Ok(())
    }

    /// The rates from these speeds; false where none are found.
    fn find_rates(
        &mut self,
        draws: Draws,
        event: u64,
        most: &[f64],
        speeds: &[f64],
    ) -> Result<bool, ImpactFailure> {
        let m = self.known.len();
        for (i, known) in self.known.iter_mut().enumerate() {
            known.normal = sign(speeds[i]);
            if most[i] == 0.0 {
                // it does not push
                known.normal = 1;
            }
            known.slip = speeds.get(m + i).map_or(0, |&u| sign(u));
        }
        self.modes
            .find_rates(&self.known, most, self.problem.interrupt())?;
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

    /// Length over which the rates hold, at most `left`: until a speed that matters changes its
    /// sign.
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

/// Sets rounding to zero.
fn settle(zero: &[f64], speeds: &mut [f64]) {
    for (u, zero) in speeds.iter_mut().zip(zero) {
        if u.abs() <= *zero {
            *u = 0.0;
        }
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
