//! What happens at the start of a run and at an impact inside a step.

use super::advance::Runner;
use super::derivative::Part;
use super::failure::Failure;
use super::held::refused;
use crate::impact::{ImpactLaw, Occasion, Selection, Unilateral};
use crate::linalg::dot;
use crate::mechanics::delassus::{Mass, impact_problem};
use crate::mechanics::log::{ContactEvent, ContactEventKind};
use crate::mechanics::{ContactSet, ContactSource, Contacts, Wanted};
use crate::{InputError, validate};

/// The impact of some contacts.
#[derive(Clone, Debug)]
pub(super) struct Blow {
    touching: Vec<usize>,
    /// Places in `touching` of contacts that were open.
    fresh: Vec<usize>,
    /// Contacts that do not rebound.
    plastic: Vec<usize>,
    /// Impacts before.
    number: usize,
}

/// A rebound below this part of the approach is rounding.
const ROUNDING: f64 = 1e-9;

impl Runner<'_> {
    /// Sets the state; with an impact where a contact approaches.
    pub(super) fn start(&mut self, t: f64, q: &[f64], v: &[f64]) -> Result<(), Failure> {
        self.state.t = t;
        self.state.q.copy_from_slice(q);
        self.system.mass(q, &mut self.step.newton.terms.mass);
        super::discrete_lagrangian::times(&self.step.newton.terms.mass, v, &mut self.state.p);
        // The mass matrix is checked here.
        self.step.velocity(self.system, t, q, &self.state.p)?;
        for j in 0..self.touches.len() {
            let gap = self.system.gap(j, q);
            validate::finite("gap", &[gap]).map_err(validate::counted_from(j))?;
            if gap < -self.settings.gap_tolerance {
                return Err(InputError::NegativeGap { contact: j, gap, t }.into());
            }
        }
        self.impact(None)?;
        self.run.initial.clone_from(&self.closed);
        self.record()
    }

    /// The impact of the contacts that touch; `hit` is the one whose root was found. Decides which
    /// of them are closed from here on.
    pub(super) fn impact(&mut self, hit: Option<usize>) -> Result<(), Failure> {
        let t = self.state.t;
        let (mut touching, mut activated) = (Vec::new(), Vec::new());
        for j in 0..self.touches.len() {
            let zero = self.system.gap(j, &self.state.q).abs() <= self.settings.gap_tolerance;
            if zero || self.touches[j].closed || hit == Some(j) {
                touching.push(j);
            }
        }
        let mut event = ContactEvent::new(t, ContactEventKind::Contact);
        event.mode_before.clone_from(&self.closed);
        let (before, rates) = self.rates(&touching)?;
        event.state_before = before;
        for (&j, rate) in touching.iter().zip(&rates) {
            if !self.touches[j].closed && *rate < -self.settings.rate_tolerance {
                activated.push(j);
            }
        }
        if !activated.is_empty() {
            let plastic = self.chatters(&activated);
            let blow = Blow {
                fresh: (0..touching.len())
                    .filter(|&i| !self.touches[touching[i]].closed)
                    .collect(),
                touching: touching.clone(),
                plastic,
                number: self.number,
            };
            let before = self.state.clone();
            let mut p = before.p.clone();
            self.resolve(&blow, (t, &before.q, &mut p), &mut event)?;
            self.state.p = p;
            if !blow.plastic.is_empty() {
                event.kind = ContactEventKind::ZenoAbsorbed;
                self.run.guaranteed = false;
            }
            if let Some(parts) = &mut self.parts {
                if hit.is_none() {
                    // The time of an impact at the start moves with the start.
                    parts.push(Part::Free(before.clone(), 0.0, activated.first().copied()));
                }
                parts.push(Part::Impact(before, blow, activated.len()));
            }
            self.number += 1;
        } else if hit.is_some() {
            // Too slow for an impact: the end of an accumulation, or a touch.
            event.kind = ContactEventKind::Touch;
            self.run.guaranteed = false;
        }
        for &j in &activated {
            self.touches[j].last = t;
            self.touches[j].impacts += 1;
        }
        let (approach, (after, rates)) = (rates, self.rates(&touching)?);
        for ((&j, rate), approach) in touching.iter().zip(&rates).zip(&approach) {
            let was = self.touches[j].closed;
            // A touch closes a contact whatever its rate: it did not open by as much as rounding,
            // and one that leaves is free to go. Without an impact nothing opens.
            let touched = hit == Some(j) && !activated.contains(&j);
            let kept = touched || was && activated.is_empty();
            let closed = kept || *rate <= self.settings.rate_tolerance;
            // A rebound below the tolerance of rates is the end of an accumulation.
            if closed && activated.contains(&j) && *rate > ROUNDING * approach.abs() {
                self.run.guaranteed = false;
            }
            self.touches[j].closed = closed;
            if was && !closed {
                event.released.push(j);
            }
        }
        self.closed.clear();
        self.closed
            .extend((0..self.touches.len()).filter(|&j| self.touches[j].closed));
        event.mode_after.clone_from(&self.closed);
        event.state_after = after;
        event.activated = activated;
        event.cluster = self.run.events.len();
        if hit.is_some() || !event.activated.is_empty() {
            self.run.events.push(event);
        }
        Ok(())
    }

    /// The state `(q, v)`, and the rates of gaps.
    fn rates(&mut self, contacts: &[usize]) -> Result<(Vec<f64>, Vec<f64>), Failure> {
        let (t, q, p) = (self.state.t, &self.state.q, &self.state.p);
        self.step.velocity(self.system, t, q, p)?;
        let v = &self.step.newton.terms.v;
        let (mut list, mut rows) = (Contacts::new(), Vec::new());
        let plain = super::held::Bodies {
            friction: false,
            ..self.bodies()
        };
        plain.rows(q, contacts, (&mut list, &mut rows))?;
        let rates = rows.chunks_exact(v.len()).map(|row| dot(row, v)).collect();
        Ok(([&q[..], v].concat(), rates))
    }

    /// The contacts among `activated` whose impacts follow each other too closely.
    fn chatters(&self, activated: &[usize]) -> Vec<usize> {
        let Some(rule) = self.settings.chatter else {
            return Vec::new();
        };
        let time = rule.time.unwrap_or(self.settings.step);
        let (q, v) = (&self.state.q, &self.step.newton.terms.v);
        let chatters = |j: &usize| {
            let touch = self.touches[*j];
            // Impacts of one contact without loss do not accumulate, however long the step is.
            let elastic = self.system.restitution(*j, q, v) >= 1.0;
            !elastic && self.state.t - touch.last < time || touch.impacts >= rule.impacts
        };
        activated.iter().copied().filter(chatters).collect()
    }

    /// The momentum after a blow, by the law; notes in `event` what it did.
    pub(super) fn resolve(
        &mut self,
        blow: &Blow,
        (t, q, p): (f64, &[f64], &mut [f64]),
        event: &mut ContactEvent,
    ) -> Result<(), Failure> {
        let (settings, system) = (self.settings, self.system);
        // Leaves the factor of the mass matrix.
        self.step.velocity(system, t, q, p)?;
        let v = self.step.newton.terms.v.clone();
        let fail = |reason| refused(reason, (t, q, &v), &blow.touching);
        let (law, selection): (&dyn ImpactLaw, _) = if blow.plastic.is_empty() {
            (&*settings.law, &settings.selection)
        } else {
            (&Unilateral, &Selection::Single)
        };
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
        let bounces = restitution.iter().position(|&e| e != 0.0);
        if let Some(i) = bounces.filter(|_| !law.honours_restitution()) {
            return Err(Failure::Input(InputError::RestitutionIgnored {
                law: law.name(),
                contact: blow.touching[i],
                restitution: restitution[i],
            }));
        }
        let mut response = vec![0.0; contacts.rows() * v.len()];
        let momentum = dot(p, &v).max(0.0).sqrt();
        let mass = Mass::Factor(&self.step.newton.terms.mass);
        let problem = impact_problem(&contacts, &mass, (&v, momentum), &mut response)
            .and_then(|problem| problem.with_restitutions(&restitution))
            .and_then(|problem| problem.with_new_contacts(&blow.fresh))
            .map_err(fail)?
            .with_interrupt(&settings.interrupt);
        let outcomes = law.resolve(&problem).map_err(fail)?;
        event.outcomes = outcomes.list.len();
        let occasion = Occasion {
            t,
            number: blow.number,
        };
        let outcome = selection.select(outcomes, occasion).map_err(fail)?;
        event.contacts.clone_from(&blow.touching);
        let speeds = problem.speeds().iter();
        event.approach = speeds.take(blow.touching.len()).copied().collect();
        event.impulses = outcome.impulses.iter().copied().collect();
        event.remarks = outcome.remarks;
        event.order = Some(outcome.order);
        let mut rows = vec![0.0; response.len()];
        contacts.add_rows(&mut rows);
        for (y, row) in event.impulses.iter().zip(rows.chunks_exact(v.len())) {
            for (p, entry) in p.iter_mut().zip(row) {
                *p += y * entry;
            }
        }
        Ok(())
    }
}
