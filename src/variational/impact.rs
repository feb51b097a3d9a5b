//! The start of a run, and an impact inside a step: the change of the discrete momentum in equation
//! (30) of Seghete & Murphey, by the law of the model. Their laws are (14), elastic, (11), plastic, and
//! (17) between these.

use super::failure::VariationalFailure;
use super::held::{refused, without_outcome};
use super::runner::Runner;
use super::state::{Blow, Part};
use crate::impact::rule::ImpactRule;
use crate::impact::{ImpactProblem, Occasion, Outcomes, Selection, Unilateral};
use crate::linalg::dot;
use crate::linalg::symmetric::square_fault;
use crate::mechanics::contact::delassus::{Mass, fill_impact};
use crate::mechanics::{ContactSet, ContactSource, Contacts, State, Wanted};
use crate::record::{ContactEvent, ContactEventKind};
use crate::{InputError, validate};

/// Times are told apart to so many roundings.
const ROUNDED: f64 = 8.0;
/// A rebound below this part of the approach is rounding.
const ROUNDING: f64 = 1e-9;

impl Runner<'_> {
    /// Sets the state; with an impact where a contact approaches.
    pub(super) fn start(&mut self, start: State<'_>) -> Result<(), VariationalFailure> {
        let State { t, q, v } = start;
        self.on.start = t;
        self.on.state.t = t;
        self.on.state.q.copy_from_slice(q);
        let mass = &mut self.on.stepper.newton.terms.mass;
        self.system.mass(q, mass);
        if let Some(fault) = square_fault(mass, q.len()) {
            let q = q.to_vec();
            return Err(VariationalFailure::Mass { fault, t, q });
        }
        // p₀ = M(q₀) v₀, the momentum that the first step starts from.
        super::discrete_lagrangian::times(
            &self.on.stepper.newton.terms.mass,
            v,
            &mut self.on.state.p,
        );
        self.on
            .stepper
            .velocity(self.system, t, q, &self.on.state.p)?;
        for j in 0..self.on.touches.each.len() {
            let gap = self.system.gap(j, q);
            validate::finite("gap", &[gap]).map_err(validate::counted_from(j))?;
            if gap < -self.settings.gap_tolerance {
                // A run that ended at an impact did so at a time that is rounded, up to there within the surface.
                let (_, rates) = self.rates(&[j])?;
                let since = ROUNDED * f64::EPSILON * t.abs();
                let is_rounded = gap + rates[0] * since >= -self.settings.gap_tolerance;
                if !is_rounded {
                    return Err(InputError::NegativeGap { contact: j, gap, t }.into());
                }
            }
        }
        // A start may lie on contacts: those that approach have an impact, others are closed or leave.
        let event = self.impact(None)?;
        self.on.log.told.begin_with(&self.on.touches.closed, event);
        Ok(())
    }

    /// The impact of the contacts that touch; `hit` is the one whose root was found. Decides which
    /// of them are closed from here on, and returns the event to be reported.
    pub(super) fn impact(
        &mut self,
        hit: Option<usize>,
    ) -> Result<Option<ContactEvent>, VariationalFailure> {
        let touching = self.touching(hit);
        let mut event = ContactEvent::new(self.on.state.t, ContactEventKind::Contact);
        event.mode_before.clone_from(&self.on.touches.closed);
        let approach;
        (event.state_before, approach) = self.rates(&touching)?;
        // Infeasible momentum (eq. 6): open contacts that approach, Dφ v < 0. Slower ones only touch.
        let strikes = |(j, rate): (&usize, &f64)| {
            let open = !self.on.touches.each[*j].closed;
            (open && *rate < -self.settings.rate_tolerance).then_some(*j)
        };
        event.activated = touching.iter().zip(&approach).filter_map(strikes).collect();
        // All touching contacts take part, closed ones too: leaving out neighbours at rest would press
        // bodies into them.
        if !event.activated.is_empty() {
            self.strike(&touching, hit, &mut event)?;
        } else if hit.is_some() {
            // Too slow for an impact: the end of an accumulation, or a touch.
            event.kind = ContactEventKind::Touch;
            self.on.log.statistics.rulings += 1;
        }
        // Those that do not part are closed from here on.
        self.close(&touching, hit, &approach, &mut event)?;
        event.mode_after.clone_from(&self.on.touches.closed);
        self.on.log.last_impact.clone_from(&event.activated);
        let is_event = hit.is_some() || !event.activated.is_empty();
        Ok(is_event.then_some(event))
    }

    /// Contacts with gaps of zero, closed ones and the one that was hit.
    fn touching(&self, hit: Option<usize>) -> Vec<usize> {
        let touches = |j: &usize| {
            let zero = self.system.gap(*j, &self.on.state.q).abs() <= self.settings.gap_tolerance;
            zero || self.on.touches.each[*j].closed || hit == Some(*j)
        };
        (0..self.on.touches.each.len()).filter(touches).collect()
    }

    /// Changes the momentum by an impact that contacts begin.
    fn strike(
        &mut self,
        touching: &[usize],
        hit: Option<usize>,
        event: &mut ContactEvent,
    ) -> Result<(), VariationalFailure> {
        let blow = Blow {
            fresh: (0..touching.len())
                .filter(|&i| !self.on.touches.each[touching[i]].closed)
                .collect(),
            touching: touching.to_vec(),
            // Impacts faster than the steps are plastic (paper: "faster than the time-step frequency").
            plastic: self.chatters(&event.activated),
            number: self.on.log.impacts,
        };
        let before = self.on.state.clone();
        let mut p = before.p.clone();
        self.resolve(&blow, before.t, &before.q, &mut p, event)?;
        self.on.state.p = p;
        if !blow.plastic.is_empty() {
            event.kind = ContactEventKind::ZenoAbsorbed;
            self.on.log.statistics.rulings += 1;
        }
        if let Some(parts) = &mut self.on.log.parts {
            if hit.is_none() {
                // The time of an impact at the start moves with the start.
                let first = event.activated.first().copied();
                parts.push(Part::Free(before.clone(), 0.0, first));
            }
            // For the derivative: it passes the impact with the same contacts and the same choice.
            parts.push(Part::Impact(before, blow, event.activated.len()));
        }
        self.on.log.impacts += 1;
        for &j in &event.activated {
            self.on.touches.each[j].last = self.on.state.t;
            self.on.touches.each[j].impacts += 1;
        }
        Ok(())
    }

    /// Decides which of the contacts that touch are closed after an impact or a touch, from their
    /// rates before (`approach`) and now.
    fn close(
        &mut self,
        touching: &[usize],
        hit: Option<usize>,
        approach: &[f64],
        event: &mut ContactEvent,
    ) -> Result<(), VariationalFailure> {
        let rates;
        (event.state_after, rates) = self.rates(touching)?;
        for ((&j, rate), approach) in touching.iter().zip(&rates).zip(approach) {
            let (was, strikes) = (self.on.touches.each[j].closed, event.activated.contains(&j));
            // A touch closes a contact whatever its rate: it did not open by as much as rounding,
            // and one that leaves is free to go. Without an impact nothing opens.
            let touched = hit == Some(j) && !strikes;
            let kept = touched || was && event.activated.is_empty();
            let closed = kept || *rate <= self.settings.rate_tolerance;
            // A rebound below the tolerance of rates is the end of an accumulation.
            if closed && strikes && *rate > ROUNDING * approach.abs() {
                self.on.log.statistics.rulings += 1;
            }
            self.on.touches.set(j, closed);
            if was && !closed {
                event.released.push(j);
            }
        }
        Ok(())
    }

    /// The state `(q, v)`, and the rates of gaps.
    fn rates(&mut self, contacts: &[usize]) -> Result<(Vec<f64>, Vec<f64>), VariationalFailure> {
        let (t, q, p) = (self.on.state.t, &self.on.state.q, &self.on.state.p);
        self.on.stepper.velocity(self.system, t, q, p)?;
        let v = &self.on.stepper.newton.terms.v;
        let (mut list, mut rows) = (Contacts::new(), Vec::new());
        let plain = super::held::Bodies {
            friction: false,
            ..self.bodies()
        };
        plain.rows(q, contacts, &mut list, &mut rows)?;
        let rates = rows.chunks_exact(v.len()).map(|row| dot(row, v)).collect();
        Ok(([&q[..], v].concat(), rates))
    }

    /// The contacts among `activated` whose impacts follow each other too closely.
    fn chatters(&self, activated: &[usize]) -> Vec<usize> {
        let Some(rule) = self.settings.chatter else {
            return Vec::new();
        };
        let time = rule.time.unwrap_or(self.settings.step);
        let (q, v) = (&self.on.state.q, &self.on.stepper.newton.terms.v);
        // Closer than `time` to the last impact of the contact, or more than so many in this step.
        let chatters = |j: &usize| {
            let touch = self.on.touches.each[*j];
            // Impacts of one contact without loss do not accumulate, however long the step is, and
            // those without a rebound are plastic by the law.
            let restitution = self.system.restitution(*j, q, v);
            let accumulates = restitution < 1.0 && restitution != 0.0;
            accumulates && self.on.state.t - touch.last < time || touch.impacts >= rule.impacts
        };
        activated.iter().copied().filter(chatters).collect()
    }

    /// The momentum after a blow, by the law; notes in `event` what it did.
    pub(super) fn resolve(
        &mut self,
        blow: &Blow,
        t: f64,
        q: &[f64],
        p: &mut [f64],
        event: &mut ContactEvent,
    ) -> Result<(), VariationalFailure> {
        let (settings, system) = (self.settings, self.system);
        // Leaves the factor of the mass matrix.
        self.on.stepper.velocity(system, t, q, p)?;
        let v = self.on.stepper.newton.terms.v.clone();
        let fail = |reason| refused(reason, State { t, q, v: &v }, &blow.touching);
        // Chatter is resolved by the unilateral law, whatever the law of the model.
        let rule = if blow.plastic.is_empty() {
            ImpactRule {
                law: &*settings.law,
                selection: &settings.selection,
            }
        } else {
            ImpactRule {
                law: &Unilateral,
                selection: &Selection::Single,
            }
        };
        let law = rule.law;
        let wanted = Wanted {
            friction: settings.friction && law.honours_friction(),
            restitution_at: Some(&v),
            ..Wanted::default()
        };
        let mut contacts = Contacts::new();
        let set = ContactSet::Listed(&blow.touching);
        system.fill(q, set, wanted, &mut contacts)?;
        let rebounds = contacts.all_parameters().iter().map(|of| {
            if blow.plastic.contains(&of.contact) {
                0.0
            } else {
                of.restitution
            }
        });
        let restitution: Vec<f64> = rebounds.collect();
        for (&j, &e) in blow.touching.iter().zip(&restitution) {
            settings.check_restitution(law, j, e)?;
        }
        let mut response = vec![0.0; contacts.rows() * v.len()];
        let momentum = dot(p, &v).max(0.0).sqrt();
        let mass = Mass::of_factor(&self.on.stepper.newton.terms.mass);
        // Contact space: G = J M⁻¹ Jᵀ, u⁻ = J v⁻, coefficients; ‖p‖ = √(p·v) is the scale of speeds.
        let mut problem = ImpactProblem::empty();
        let problem = fill_impact(&mut problem, &contacts, &mass, &v, momentum, &mut response)
            .and_then(|()| problem.with_any_restitutions(&restitution))
            .and_then(|problem| problem.with_new_contacts(&blow.fresh))
            .map_err(fail)?
            .with_interrupt(&settings.limits.interrupt);
        let occasion = Occasion {
            t,
            number: blow.number,
        };
        // Of several outcomes the run takes one; the event says how many there were.
        let mut outcomes = Outcomes::default();
        let chosen = rule.resolve(&problem, &mut outcomes, occasion, settings.rate_tolerance);
        let state = State { t, q, v: &v };
        let chosen = chosen.map_err(|reason| without_outcome(reason, state, &blow.touching))?;
        event.outcomes = outcomes.list.len();
        let outcome = outcomes.list.swap_remove(chosen);
        event.contacts.clone_from(&blow.touching);
        let speeds = problem.speeds().iter();
        event.approach = speeds.take(blow.touching.len()).copied().collect();
        event.impulses = outcome.impulses.iter().copied().collect();
        event.remarks = outcome.remarks;
        event.order = Some(outcome.order);
        let mut rows = vec![0.0; response.len()];
        contacts.add_rows(&mut rows);
        // p⁺ = p⁻ + Jᵀ y.
        for (y, row) in event.impulses.iter().zip(rows.chunks_exact(v.len())) {
            for (p, entry) in p.iter_mut().zip(row) {
                *p += y * entry;
            }
        }
        Ok(())
    }
}
