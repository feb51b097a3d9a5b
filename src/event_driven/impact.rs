//! The effect of an event: the impact of the contacts that take part (Pace & Burden, eq. 3).

use super::breakdown::{Breakdown, explain};
use crate::event_driven::Model;
use crate::impact::{
    ImpactFailure, ImpactLaw, ImpactProblem, Occasion, Order, Remark, Selection, Unilateral,
};
use crate::linalg::cholesky::norm_in;
use crate::linalg::scratch::with_zeros;
use crate::mechanics::acceleration::Trouble;
use crate::mechanics::contact_frames::check_frames;
use crate::mechanics::delassus;
use crate::mechanics::rates::change_rates;
use crate::mechanics::{ContactSet, ContactSource, Contacts, Wanted};
use crate::mechanics::{MechanicalSystem, UnilateralConstraints};
use crate::record::ContactEvent;
use crate::{Crossed, Mode};

impl Model<'_> {
    /// Whether each of `contacts` approaches faster than the tolerance.
    pub(crate) fn approaching(
        &self,
        q: &[f64],
        v: &[f64],
        contacts: &[usize],
    ) -> Result<Vec<bool>, Breakdown> {
        self.in_frame(q, contacts, |frame| {
            (0..contacts.len())
                .map(|i| crate::linalg::dot(frame.row(i), v) < -self.rate_tolerance)
                .collect()
        })
    }

    /// The impact of the contacts of `event` that touch; changes the velocities in `state`.
    pub(crate) fn apply_impact(
        &self,
        occasion: Occasion,
        state: &mut [f64],
        event: &mut Event,
    ) -> Result<(), Breakdown> {
        self.check_friction()?;
        let (q, v) = self.parts(state);
        let wanted = Wanted {
            friction: self.wants_friction(),
            restitution_at: Some(v),
            ..Wanted::default()
        };
        let set = ContactSet::Listed(&event.touching);
        self.system().fill(q, set, wanted, &mut event.contacts)?;
        for of in event.contacts.all_parameters() {
            self.check_restitution(of.contact, occasion.t, of.restitution)?;
        }
        let rule = ImpactRule {
            law: &*self.law,
            selection: &self.selection,
        };
        self.apply_impact_by(rule, occasion, state, event)
    }

    /// The impact of [`apply_impact`](Self::apply_impact) by a law that a driver chooses, with
    /// friction.
    pub(crate) fn apply_impact_with(
        &self,
        rule: ImpactRule<'_>,
        occasion: Occasion,
        state: &mut [f64],
        event: &mut Event,
    ) -> Result<(), Breakdown> {
        let (q, _) = self.parts(state);
        let wanted = Wanted {
            friction: self.wants_friction(),
            ..Wanted::default()
        };
        let set = ContactSet::Listed(&event.touching);
        self.system().fill(q, set, wanted, &mut event.contacts)?;
        self.apply_impact_by(rule, occasion, state, event)
    }

    /// The impact of [`apply_impact`](Self::apply_impact) by [`Unilateral`], with coefficients of
    /// restitution of zero.
    pub(crate) fn apply_plastic_impact(
        &self,
        occasion: Occasion,
        state: &mut [f64],
        event: &mut Event,
    ) -> Result<(), Breakdown> {
        let (q, _) = self.parts(state);
        let set = ContactSet::Listed(&event.touching);
        self.system()
            .fill(q, set, Wanted::default(), &mut event.contacts)?;
        let rule = ImpactRule {
            law: &Unilateral,
            selection: &Selection::Single,
        };
        self.apply_impact_by(rule, occasion, state, event)
    }

    /// The impact problem of contacts, with `M⁻¹ Jᵀ` written into `response`. The inner error says
    /// why the contacts make no problem, the outer one why the mass matrix cannot be inverted.
    pub(crate) fn impact_problem(
        &self,
        q: &[f64],
        v: &[f64],
        contacts: &Contacts,
        momentum: f64,
        response: &mut [f64],
    ) -> Result<Result<ImpactProblem, ImpactFailure>, Trouble> {
        with_zeros(v.len() * v.len(), |space| {
            let mass = self.bodies.mass(q, space)?;
            let problem = delassus::impact_problem(contacts, &mass, v, momentum, response);
            Ok(problem)
        })
    }

    fn apply_impact_by(
        &self,
        rule: ImpactRule<'_>,
        occasion: Occasion,
        state: &mut [f64],
        event: &mut Event,
    ) -> Result<(), Breakdown> {
        let (q, v) = self.parts_mut(state);
        if !self.system().constant_mass() {
            self.check_mass(q)?;
        }
        check_frames(self.system(), q, &event.contacts)?;
        let momentum = with_zeros(v.len() * v.len(), |mass| {
            self.system().mass(q, mass);
            norm_in(mass, v)
        });
        let (d, size) = (v.len(), event.contacts.rows() * v.len());
        let noise = with_zeros(size, |response| {
            let problem = self
                .impact_problem(q, v, &event.contacts, momentum, response)
                .map_err(|trouble| explain(trouble, q, &event.touching))?;
            let resolved = problem.and_then(|problem| self.resolve(rule, occasion, problem, event));
            let noise = resolved.map_err(|reason| {
                let state = [&*q, &*v].concat();
                Breakdown::of_impact(reason, &event.touching, occasion.t, state)
            })?;
            for (p, row) in event.impulses.iter().zip(response.chunks_exact(d.max(1))) {
                for (v, by) in v.iter_mut().zip(row) {
                    *v += p * by;
                }
            }
            Ok::<_, Breakdown>(noise)
        })?;
        match noise {
            Some(noise) => self.stop_slow_approaches(q, v, event, noise),
            None => Ok(()),
        }
    }

    /// Resolves an impact and notes the outcome in `event`. Returns the rounding of contact speeds
    /// where contacts depend on each other.
    fn resolve(
        &self,
        rule: ImpactRule<'_>,
        occasion: Occasion,
        problem: ImpactProblem,
        event: &mut Event,
    ) -> Result<Option<f64>, ImpactFailure> {
        let fresh: Vec<usize> = (0..event.new.len()).filter(|&i| event.new[i]).collect();
        let problem = problem.with_new_contacts(&fresh)?;
        let noise = (!problem.dependent().is_empty()).then(|| problem.noise());
        let problem = problem.with_interrupt(&self.interrupt);
        let outcomes = rule.law.resolve(&problem)?;
        event.outcomes = outcomes.list.len();
        let outcome = rule.selection.select(outcomes, occasion)?;
        event
            .approach
            .extend(problem.speeds().iter().take(problem.contacts()));
        event.impulses.extend(&outcome.impulses);
        event.remarks = outcome.remarks;
        event.order = Some(outcome.order);
        Ok(noise)
    }

    /// Stops dependent contacts that still approach after an impact by no more than `noise` (in
    /// units of rows): that is the rounding of their Gram matrix. The other contacts that push keep
    /// their rates.
    #[cold]
    fn stop_slow_approaches(
        &self,
        q: &[f64],
        v: &mut [f64],
        event: &Event,
        noise: f64,
    ) -> Result<(), Breakdown> {
        let touching = &event.touching;
        let rates = self.in_frame(q, touching, |frame| {
            (0..touching.len())
                .map(|i| crate::linalg::dot(frame.row(i), v))
                .collect::<Vec<f64>>()
        })?;
        let slow = |i: &usize| rates[*i] < -self.rate_tolerance;
        if !(0..touching.len()).any(|i| slow(&i)) {
            return Ok(());
        }
        let takes_part = |i: &usize| slow(i) || event.impulses[*i] > 0.0;
        let taking_part: Vec<usize> = (0..touching.len()).filter(takes_part).collect();
        let contacts: Vec<usize> = taking_part.iter().map(|&i| touching[i]).collect();
        let wanted = taking_part
            .iter()
            .map(|i| if slow(i) { -rates[*i] } else { 0.0 });
        let wanted: Vec<f64> = wanted.collect();
        self.in_frame(q, &contacts, |frame| {
            let unit = |i: usize| frame.gram[i * contacts.len() + i].sqrt();
            if (0..contacts.len()).all(|i| wanted[i] <= noise * unit(i)) {
                change_rates(frame, &wanted, v);
            }
        })
    }

    /// Notes the contacts that take part in an event, which of them were open until now, and which
    /// are released. An open contact with a gap of zero takes part when it is at rest. One that
    /// closes is an event of its own, even at the same instant.
    fn take_part(&self, crossed: &Crossed<'_>, x: &[f64], mode: &Mode, event: &mut Event) {
        event.clear();
        for j in 0..self.system().contacts() {
            let (closed, crosses) = (self.is_closed(mode, j), crossed.contains(j));
            if closed || crosses || self.rests(j, x) {
                event.touching.push(j);
                event.new.push(crosses && !closed);
            }
            if closed && crosses {
                event.released.push(j);
            }
        }
    }

    /// Lets the event happen: the impact, if contacts close, and which of them stay closed.
    pub(crate) fn resolve_event(
        &self,
        t: f64,
        crossed: &Crossed<'_>,
        x: &mut [f64],
        mode: &mut Mode,
        event: &mut Event,
    ) -> Result<(), Breakdown> {
        self.take_part(crossed, x, mode, event);
        super::projection::land(self, x, &self.closed(mode), &event.touching);
        if event.is_impact() {
            self.apply_impact(occasion(t, crossed), x, event)?;
            // A contact with a positive impulse is not released.
            let Event {
                touching,
                impulses,
                released,
                ..
            } = event;
            let pressed = |j: &usize| touching.iter().position(|k| k == j);
            released.retain(|j| pressed(j).is_none_or(|i| impulses[i] <= 0.0));
        } else {
            event.approach = self.approach(x, &event.touching);
        }
        self.release(t, x, &event.touching, &event.released, mode)
    }

    /// True when a gap is zero and neither closes nor opens.
    pub(crate) fn rests(&self, contact: usize, x: &[f64]) -> bool {
        let (q, _) = self.parts(x);
        self.system().gap(contact, q).abs() <= self.gap_tolerance
            && self
                .approach(x, &[contact])
                .iter()
                .all(|rate| rate.abs() <= self.rate_tolerance)
    }
}

/// The law of an impact and the selection of its outcome.
#[derive(Clone, Copy)]
pub(crate) struct ImpactRule<'a> {
    pub(crate) law: &'a dyn ImpactLaw,
    /// Which of the outcomes of the law is taken.
    pub(crate) selection: &'a Selection,
}

/// Which impact of the run the crossing is.
pub(crate) fn occasion(t: f64, crossed: &Crossed<'_>) -> Occasion {
    let number = crossed.transition() + 1;
    Occasion { t, number }
}

/// The account of an event; observers read it in the record of the transition. Its memory is
/// reused.
#[derive(Debug, Default)]
pub(crate) struct Event {
    /// The contacts that take part: closed, closing, or at rest with a gap of zero.
    pub(crate) touching: Vec<usize>,
    /// Which of them were open until then.
    pub(crate) new: Vec<bool>,
    /// Closed contacts that open.
    released: Vec<usize>,
    /// How fast those that touch approached (m/s).
    pub(crate) approach: Vec<f64>,
    /// Impulses on them, normal ones first, then tangents contact by contact; none when no contact
    /// closed.
    pub(crate) impulses: Vec<f64>,
    /// The remarks of the law on the outcome.
    pub(crate) remarks: Vec<Remark>,
    /// How the outcome came about.
    pub(crate) order: Option<Order>,
    /// How many outcomes the law gave.
    pub(crate) outcomes: usize,
    /// Rows and parameters of those that touch.
    contacts: Contacts,
}

impl Event {
    /// Writes what the contacts did into the log's entry.
    pub(crate) fn tell(&self, entry: &mut ContactEvent) {
        entry.contacts.clone_from(&self.touching);
        entry.impulses.clone_from(&self.impulses);
        entry.approach.clone_from(&self.approach);
        entry.remarks.clone_from(&self.remarks);
        entry.order.clone_from(&self.order);
        entry.outcomes = self.outcomes;
    }

    /// An event of these contacts, of which `new` were open until then.
    pub(crate) fn of(touching: &[usize], new: Vec<bool>) -> Self {
        Self {
            touching: touching.to_vec(),
            new,
            ..Self::default()
        }
    }

    /// True when contacts close.
    pub(crate) fn is_impact(&self) -> bool {
        self.new.iter().any(|&new| new)
    }

    fn clear(&mut self) {
        self.touching.clear();
        self.new.clear();
        self.released.clear();
        self.approach.clear();
        self.impulses.clear();
        self.remarks.clear();
        (self.order, self.outcomes) = (None, 0);
    }
}
