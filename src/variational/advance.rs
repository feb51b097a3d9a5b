//! A step with the impacts inside it.
//!
//! Let `(q(h'), p(h'))` be the step map with the partial step `h'`. The first root of a gap in
//! `(0, h]` is an impact at `t* = t + h'`. There the impact law changes the discrete momentum
//! `p(h') = F⁺(t_k, t*)`, and the rest of the step, `h − h'`, starts from it: equation (30) of Seghete
//! & Murphey, with any law for their reflections `∏ Γ(w_i)`. The gap of a contact that was just
//! thrown off is zero at `h' = 0`: it is bracketed from the first `h'` at which it is positive. A
//! gap that closes and opens again has its least value where its rate changes sign.

use super::failure::VariationalFailure;
use super::runner::{Runner, Trial};
use super::state::{Part, PhasePoint, Step};
use crate::linalg::dot;
use crate::mechanics::contact::gaps::gap_row;
use crate::ode::root::{Sample, peak, root};
use crate::record::{ContactEvent, ContactEventKind};

/// Halvings of a step in search of the first moment at which a gap is open.
const HALVINGS: usize = 60;
/// A gap falls within a step by less than so many times what it would at its greater rate at the ends.
const DEEPEST: f64 = 8.0;

impl Runner<'_> {
    /// Advances to `end`, with the impacts on the way.
    pub(super) fn step_to(&mut self, end: f64) -> Result<(), VariationalFailure> {
        self.settings.limits.interrupt.check()?;
        for _ in 0..=self.settings.max_impacts {
            if self.on.hit.is_none() {
                // What is left of the step, as if nothing closed in it.
                let h = end - self.on.state.t;
                self.map(h)?;
                let Some((first, contact)) = self.first_root(h)? else {
                    self.keep(h, None);
                    return self.accept(end);
                };
                // The step up to the first root; its end is F⁺(t_k, t*) of equation (30).
                if first < h {
                    self.map(first)?;
                }
                self.keep(first, Some(contact));
                self.accept(self.on.state.t + first)?;
                self.on.hit = Some(contact);
            }
            // The law acts at q(h'). The next round makes the rest of the step.
            let event = self.impact(self.on.hit)?;
            self.on.hit = None;
            if let Some(event) = event {
                self.tell_event(&event);
            }
            if self.on.state.t >= end {
                // The change by the time of the impact.
                self.keep(0.0, None);
                return Ok(());
            }
        }
        Err(self.too_many())
    }

    #[cold]
    fn too_many(&self) -> VariationalFailure {
        VariationalFailure::TooManyImpacts {
            t: self.on.state.t,
            limit: self.settings.max_impacts,
            contacts: self.on.log.last_impact.clone(),
            state: [&self.on.state.q[..], &self.on.stepper.newton.terms.v].concat(),
        }
    }

    #[cold]
    fn no_number(&self) -> VariationalFailure {
        VariationalFailure::NotFinite {
            quantity: "a gap",
            t: self.on.state.t,
            state: [&self.on.trial.state.q[..], &self.on.stepper.newton.terms.v].concat(),
        }
    }

    /// The state after a partial step into `trial`.
    fn map(&mut self, h: f64) -> Result<(), VariationalFailure> {
        let step = Step {
            t: self.on.state.t,
            h,
        };
        let (bodies, closed) = (self.bodies(), &self.on.touches.closed);
        let end = &mut self.on.trial.state;
        end.t = step.t + h;
        end.q.copy_from_slice(&self.on.state.q);
        end.p.copy_from_slice(&self.on.state.p);
        self.on.stepper.newton.terms.closed.clone_from(closed);
        self.on.stepper.halved = false;
        let (q, p) = (&mut end.q, &mut end.p);
        // Without closed contacts the midpoint rule, else the step with impulses at both ends.
        if closed.is_empty() {
            self.on.stepper.advance(self.system, step, q, p)
        } else {
            self.on
                .held
                .advance(&mut self.on.stepper, bodies, step, q, p, closed)
        }
    }

    /// Keeps a part of the run for its derivative.
    fn keep(&mut self, h: f64, hit: Option<usize>) {
        let (state, held) = (&self.on.state, !self.on.touches.closed.is_empty());
        if let Some(parts) = &mut self.on.log.parts {
            parts.push(if held {
                Part::Held(state.clone())
            } else {
                Part::Free(state.clone(), h, hit)
            });
        }
    }

    /// Takes the trial, and opens the contacts that have left.
    fn accept(&mut self, t: f64) -> Result<(), VariationalFailure> {
        if self.on.stepper.halved {
            self.tell_halves(self.on.state.t);
        }
        if self.on.held.is_shared && !self.on.touches.closed.is_empty() {
            self.tell_shares(self.on.state.t);
        }
        std::mem::swap(&mut self.on.state.q, &mut self.on.trial.state.q);
        std::mem::swap(&mut self.on.state.p, &mut self.on.trial.state.p);
        self.on.state.t = t;
        self.tell_segment()?;
        self.release();
        Ok(())
    }

    /// The first partial step, up to `h`, at the end of which an open contact closes. The trial is
    /// the state after `h`, and stays it.
    fn first_root(&mut self, h: f64) -> Result<Option<(f64, usize)>, VariationalFailure> {
        for j in 0..self.on.trial.ends.len() {
            self.settings.limits.interrupt.check()?;
            self.on.trial.ends[j] = self.system.gap(j, &self.on.trial.state.q);
        }
        if self.on.trial.ends.iter().any(|gap| gap.is_nan()) {
            return Err(self.no_number());
        }
        // Gaps that are open at both ends may have been closed in between.
        self.find_dips()?;
        let mut first: Option<(f64, usize)> = None;
        let mut moved = false;
        for j in 0..self.on.touches.each.len() {
            let (end, dips) = (self.on.trial.ends[j], self.on.trial.dips[j]);
            if self.on.touches.each[j].closed || end > 0.0 && !dips {
                continue;
            }
            // Roots behind the earliest so far do not matter: the search ends at `until`.
            let before = self.system.gap(j, &self.on.state.q);
            moved = true;
            let until = first.map_or(h, |(found, _)| found);
            let found = if dips {
                self.dip(j, before, h, end, until)?
            } else {
                self.closing(j, before, h, end, until)?
            };
            if let Some(found) = found {
                first = Some((found, j));
            }
        }
        // The search left another partial step in the trial.
        if moved {
            self.map(h)?;
        }
        Ok(first)
    }

    /// Finds the gaps that are open at both ends of a step, but approach at its start and part at
    /// its end.
    fn find_dips(&mut self) -> Result<(), VariationalFailure> {
        let (start, system, touches) = (&self.on.state, self.system, &self.on.touches.each);
        let Trial {
            state: end,
            ends,
            dips,
            velocities,
            row,
            work,
        } = &mut self.on.trial;
        let open = |j: usize| !touches[j].closed && ends[j] > 0.0 && system.gap(j, &start.q) > 0.0;
        dips.fill(false);
        if !(0..touches.len()).any(open) {
            return Ok(());
        }
        // v = M(q)⁻¹ p at both ends, for φ̇ = Dφ(q) v.
        for (v, at) in velocities.iter_mut().zip([start, end]) {
            self.on.stepper.velocity(system, at.t, &at.q, &at.p)?;
            v.copy_from_slice(&self.on.stepper.newton.terms.v);
        }
        let mut rate = |j: usize, at: &PhasePoint, v: &[f64]| {
            gap_row(system, j, &at.q, row, work);
            dot(row, v)
        };
        let [first, last] = velocities;
        for (j, dips) in dips.iter_mut().enumerate().filter(|(j, _)| open(*j)) {
            self.settings.limits.interrupt.check()?;
            // The gap falls first and rises at the end: it has its least value in between. One that is much wider
            // than that stays open, as that of a body at rest, whose rates are rounding.
            let (falls, rises) = (rate(j, start, first), rate(j, end, last));
            let way = DEEPEST * (end.t - start.t) * rises.max(-falls);
            *dips = falls < 0.0 && rises > 0.0 && ends[j].min(system.gap(j, &start.q)) <= way;
        }
        Ok(())
    }

    /// The root of a gap that is closed at the end, if it lies before `until`; 0 where the gap
    /// never opens.
    fn closing(
        &mut self,
        contact: usize,
        before: f64,
        h: f64,
        end: f64,
        until: f64,
    ) -> Result<Option<f64>, VariationalFailure> {
        let (mut high, mut low) = (
            Sample { at: h, value: -end },
            Sample {
                at: 0.0,
                value: -before,
            },
        );
        // Another gap was found at `until`: open there, this one closes later.
        if until < h {
            let gap = self.gap_after(contact, until)?;
            if gap > 0.0 {
                return Ok(None);
            }
            high = Sample {
                at: until,
                value: -gap,
            };
        }
        // Just thrown off: the gap is zero, to rounding.
        if before <= self.settings.gap_tolerance {
            let mut at = high.at;
            for halving in 0..=HALVINGS {
                if halving == HALVINGS {
                    // It never opens.
                    return Ok(Some(0.0));
                }
                at *= 0.5;
                let gap = self.gap_after(contact, at)?;
                if gap > before.max(0.0) {
                    low = Sample { at, value: -gap };
                    break;
                }
                high = Sample { at, value: -gap };
            }
        }
        self.root(contact, low, high).map(Some)
    }

    /// The first root of a gap that is open at both ends and approaches first, if it closes between
    /// them and before `until`.
    fn dip(
        &mut self,
        contact: usize,
        before: f64,
        h: f64,
        end: f64,
        until: f64,
    ) -> Result<Option<f64>, VariationalFailure> {
        let mut failure = None;
        // The least value of the gap; where it is negative, the root lies before it.
        let lowest = peak(
            |at| match self.gap_after(contact, at) {
                Ok(gap) => -gap,
                Err(reason) => {
                    failure = Some(reason);
                    f64::NAN
                }
            },
            Sample {
                at: 0.0,
                value: -before,
            },
            0.5 * h,
            Sample { at: h, value: -end },
            0.0,
        );
        if let Some(reason) = failure {
            return Err(reason);
        }
        if lowest.value <= 0.0 {
            return Ok(None);
        }
        let low = Sample {
            at: 0.0,
            value: -before,
        };
        let found = self.root(contact, low, lowest)?;
        Ok((found < until).then_some(found))
    }

    fn root(
        &mut self,
        contact: usize,
        low: Sample,
        high: Sample,
    ) -> Result<f64, VariationalFailure> {
        // The time t + h' is no finer than this.
        let width = f64::EPSILON * self.on.state.t.abs().max(high.at);
        let mut failure = None;
        let found = root(
            |at| match self.gap_after(contact, at) {
                Ok(gap) => -gap,
                Err(reason) => {
                    failure = Some(reason);
                    f64::NAN
                }
            },
            low,
            high,
            width,
            None,
        );
        failure.map_or(Ok(found.sample.at), Err)
    }

    fn gap_after(&mut self, contact: usize, h: f64) -> Result<f64, VariationalFailure> {
        self.map(h)?;
        let gap = self.system.gap(contact, &self.on.trial.state.q);
        if gap.is_nan() {
            return Err(self.no_number());
        }
        Ok(gap)
    }

    /// Opens closed contacts that needed no impulse in the step and have left.
    fn release(&mut self) {
        let mut released = Vec::new();
        for (i, &j) in self.on.touches.closed.iter().enumerate() {
            // y⁻ = y⁺ = 0 and a gap beyond the tolerance. An impulse at either end keeps the contact.
            let idle = self.on.held.before[i] <= 0.0 && self.on.held.after[i] <= 0.0;
            if idle && self.system.gap(j, &self.on.state.q) > self.settings.gap_tolerance {
                released.push(j);
            }
        }
        if released.is_empty() {
            return;
        }
        let mut event = ContactEvent::new(self.on.state.t, ContactEventKind::Contact);
        event.mode_before.clone_from(&self.on.touches.closed);
        for &j in &released {
            self.on.touches.set(j, false);
        }
        event.mode_after.clone_from(&self.on.touches.closed);
        event.released = released;
        event.state_before = self.on.now().state.to_vec();
        event.state_after.clone_from(&event.state_before);
        self.tell_event(&event);
    }
}
