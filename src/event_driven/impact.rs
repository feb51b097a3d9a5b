//! The impact of the contacts that take part in an event (Pace & Burden, eq. 3), and its account.

use super::breakdown::{Breakdown, explain};
use super::friction::candidates::{Aside, STAYS};
use crate::event_driven::Model;
use crate::impact::planar::modes::Known;
pub(crate) use crate::impact::rule::ImpactRule;
use crate::impact::{
    ImpactFailure, ImpactProblem, Occasion, Order, Outcome, Outcomes, Remark, Selection, Unilateral,
};
use crate::lcp::LcpSolver;
use crate::mechanics::contact::delassus::{fill_impact, momentum_of};
use crate::mechanics::contact::frames::check_frames;
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::motion::rates::change_rates;
use crate::mechanics::{
    ContactModel, ContactSet, Contacts, MechanicalSystem, UnilateralConstraints, Wanted,
};
use crate::record::ContactEvent;
use crate::{Crossed, InputError, Mode, validate};

impl Model<'_> {
    /// The impact of the contacts of `event` that touch; changes the velocities in `state`.
    pub(crate) fn apply_impact(
        &self,
        occasion: Occasion,
        state: &mut [f64],
        event: &mut Event,
    ) -> Result<(), Breakdown> {
        let (_, v) = self.parts(state);
        let wanted = Wanted {
            friction: self.wants_friction(),
            slips_at: self.has_laws.then_some(v),
            restitution_at: Some(v),
            ..Wanted::default()
        };
        self.fill(state, wanted, event)?;
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
        let (_, v) = self.parts(state);
        let wanted = Wanted {
            friction: self.wants_friction(),
            slips_at: self.has_laws.then_some(v),
            ..Wanted::default()
        };
        self.fill(state, wanted, event)?;
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
        self.fill(state, Wanted::default(), event)?;
        let rule = ImpactRule {
            law: &Unilateral,
            selection: &Selection::Single,
        };
        self.apply_impact_by(rule, occasion, state, event)
    }

    fn fill(&self, state: &[f64], wanted: Wanted<'_>, event: &mut Event) -> Result<(), InputError> {
        let (q, _) = self.parts(state);
        let (at, contacts) = (&mut event.at, &mut event.contacts);
        self.bodies
            .fill_at(at, q, &event.touching, wanted, contacts)
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
            self.check_mass(&mut event.at, q)?;
        }
        check_frames(self.system(), q, &event.contacts)?;
        let driven = self.bodies.fixed.sizes.driven.clone();
        let momentum = momentum_of(self.bodies.mass_at(&mut event.at, q), driven, v);
        event.response.clear();
        event.response.resize(event.contacts.rows() * v.len(), 0.0);
        let inverse = self.bodies.inverse_at(&mut event.at, q);
        let mass = inverse.map_err(|trouble| explain(trouble, q, &event.touching))?;
        let (problem, response) = (&mut event.problem, &mut event.response[..]);
        let made = fill_impact(problem, &event.contacts, &mass, v, momentum, response);
        let resolved = made.and_then(|()| self.resolve(rule, occasion, event));
        let noise = resolved.map_err(|reason| {
            let state = [&*q, &*v].concat();
            Breakdown::of_impact(reason, &event.touching, occasion.t, state)
        })?;
        // v⁺ = v⁻ + M⁻¹ Jᵀ p; with the projective law Pace & Burden, eq. 3.
        let rows = event.response.chunks_exact(v.len().max(1));
        for (p, row) in event.impulses().iter().zip(rows) {
            for (v, by) in v.iter_mut().zip(row) {
                *v += p * by;
            }
        }
        match noise {
            Some(noise) => self.stop_slow_approaches(q, v, event, noise),
            None => Ok(()),
        }
    }

    /// Resolves the problem of `event` and notes the outcome. Returns the rounding of contact speeds
    /// where contacts depend on each other.
    fn resolve(
        &self,
        rule: ImpactRule<'_>,
        occasion: Occasion,
        event: &mut Event,
    ) -> Result<Option<f64>, ImpactFailure> {
        event.problem.set_new(&event.new, &self.interrupt);
        let problem = &event.problem;
        let noise = (!problem.dependent().is_empty()).then(|| problem.noise());
        let (outcomes, least) = (&mut event.outcomes, self.rate_tolerance);
        let chosen = rule.resolve(problem, outcomes, occasion, least)?;
        event.chosen = Some(chosen);
        event
            .approach
            .extend(problem.speeds().iter().take(problem.contacts()));
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
        event: &mut Event,
        noise: f64,
    ) -> Result<(), Breakdown> {
        let mut rates = vec![0.0; event.touching.len()];
        let Event { touching, at, .. } = event;
        self.bodies.rates_at(at, q, v, touching, &mut rates);
        let slow = |i: &usize| rates[*i] < -self.rate_tolerance;
        if !(0..rates.len()).any(|i| slow(&i)) {
            return Ok(());
        }
        let takes_part = |i: &usize| slow(i) || event.impulses()[*i] > 0.0;
        let taking_part: Vec<usize> = (0..rates.len()).filter(takes_part).collect();
        let contacts: Vec<usize> = taking_part.iter().map(|&i| event.touching[i]).collect();
        let wanted = taking_part
            .iter()
            .map(|i| if slow(i) { -rates[*i] } else { 0.0 });
        let wanted: Vec<f64> = wanted.collect();
        self.in_frame(&mut event.at, q, &contacts, |frame| {
            let unit = |i: usize| frame.gram[i * contacts.len() + i].sqrt();
            if (0..contacts.len()).all(|i| wanted[i] <= noise * unit(i)) {
                change_rates(frame, &wanted, v);
            }
        })
    }
}

/// Time and number, in the run, of the impact at a crossing.
pub(crate) fn occasion(t: f64, crossed: &Crossed<'_>) -> Occasion {
    let number = crossed.transition() + 1;
    Occasion { t, number }
}

/// The contacts that touch at an event, and what was evaluated of them.
pub(crate) struct Touching<'a> {
    pub(crate) contacts: &'a [usize],
    /// Contacts among them that are to be open.
    pub(crate) released: &'a [usize],
    /// See [`Event::unlanded`].
    pub(crate) unlanded: &'a [usize],
    /// With friction: what is known of each of the contacts that touch.
    pub(crate) known: &'a [Known],
    /// How many events of the run there were until now.
    pub(crate) number: usize,
    /// See [`Aside`].
    pub(crate) aside: &'a mut Aside,
    pub(crate) at: &'a mut ContactsAt,
    pub(crate) solver: &'a mut LcpSolver,
}

/// The account of an event; observers read it in the record of the transition. Its memory is
/// reused.
#[derive(Debug)]
pub(crate) struct Event {
    /// The contacts that take part: closed, closing, or at rest with a gap of zero.
    pub(crate) touching: Vec<usize>,
    /// True for those that were open until then.
    pub(crate) new: Vec<bool>,
    /// It repeats the event of another model or state, for a derivative.
    pub(super) is_beside: bool,
    /// In memory that is reused.
    pub(super) mode_before: Mode,
    /// Contacts that close then. Their gaps are left as they are, where an event of a run brings them to zero: the
    /// displacement of a neighbour that has come to its own surface is seen by the derivatives along states.
    pub(super) unlanded: Vec<usize>,
    /// Closed contacts that open.
    pub(super) released: Vec<usize>,
    /// No forces held the closed contacts: `released` are none of those whose forces fell.
    pub(super) is_unheld: bool,
    /// Speeds of approach of those that touch (m/s).
    pub(crate) approach: Vec<f64>,
    /// The problem of the impact, and `M⁻¹ Jᵀ` of its rows.
    problem: ImpactProblem,
    response: Vec<f64>,
    /// The outcomes of the law, and which of them is taken; none when no contact closed.
    pub(crate) outcomes: Outcomes,
    chosen: Option<usize>,
    /// Rows and parameters of those that touch.
    contacts: Contacts,
    /// The contacts at the configuration of the event, as far as they were evaluated.
    pub(crate) at: ContactsAt,
    /// Decides which contacts stay closed.
    solver: LcpSolver,
    /// What is known of contacts with friction, and how many events there were until now.
    pub(super) known: Vec<Known>,
    pub(super) number: usize,
    /// Words of the mode after it.
    pub(crate) aside: Aside,
}

impl Default for Event {
    fn default() -> Self {
        Self {
            touching: Vec::new(),
            new: Vec::new(),
            is_beside: false,
            mode_before: Mode::default(),
            unlanded: Vec::new(),
            released: Vec::new(),
            is_unheld: false,
            approach: Vec::new(),
            problem: ImpactProblem::empty(),
            response: Vec::new(),
            outcomes: Outcomes::default(),
            chosen: None,
            contacts: Contacts::new(),
            at: ContactsAt::default(),
            solver: LcpSolver::growing(),
            known: Vec::new(),
            number: 0,
            aside: Aside::default(),
        }
    }
}

impl Event {
    /// The outcome that is taken; none when no contact closed.
    pub(crate) fn outcome(&self) -> Option<&Outcome> {
        self.chosen.and_then(|place| self.outcomes.list.get(place))
    }

    /// Impulses on those that touch, normal ones first, then tangents contact by contact; none when
    /// no contact closed.
    pub(crate) fn impulses(&self) -> &[f64] {
        self.outcome().map_or(&[], |of| of.impulses.as_slice())
    }

    /// Remarks on the outcome that is taken.
    pub(crate) fn remarks(&self) -> &[Remark] {
        self.outcome().map_or(&[], |of| &of.remarks)
    }

    /// The number of outcomes of the law.
    pub(crate) fn count(&self) -> usize {
        self.chosen.map_or(0, |_| self.outcomes.list.len())
    }

    /// The contacts that touch, to be settled.
    pub(crate) fn settling(&mut self) -> Touching<'_> {
        Touching {
            contacts: &self.touching,
            released: &self.released,
            unlanded: &self.unlanded,
            known: &self.known,
            number: self.number,
            aside: &mut self.aside,
            at: &mut self.at,
            solver: &mut self.solver,
        }
    }

    /// Writes what the contacts did into the log's entry.
    pub(crate) fn tell(&self, entry: &mut ContactEvent) {
        entry.contacts.clone_from(&self.touching);
        entry.impulses.clear();
        entry.impulses.extend_from_slice(self.impulses());
        entry.approach.clone_from(&self.approach);
        entry.remarks.clear();
        if self.is_unheld {
            let after = &entry.mode_after;
            entry.released.retain(|j| !after.contains(j));
        }
        self.tell_pushes(entry);
        entry.outcomes = self.count();
        entry.remarks.extend_from_slice(self.remarks());
        match (&mut entry.order, self.outcome().map(|of| &of.order)) {
            // In their memory.
            (Some(Order::Word(to)), Some(Order::Word(from))) => to.clone_from(from),
            (Some(Order::Stages(to)), Some(Order::Stages(from))) => to.clone_from(from),
            (Some(Order::Modes(to)), Some(Order::Modes(from))) => to.clone_from(from),
            (to, from) => *to = from.cloned(),
        }
    }

    /// Adds impulses beside that of the law to the log's entry.
    pub(crate) fn tell_pushes(&self, entry: &mut ContactEvent) {
        let m = entry.contacts.len();
        if self.aside.is_one_of_many {
            entry.remarks.push(Remark::OneOfMany);
        }
        for push in &self.aside.pushes {
            let contact = push.contact;
            if let Some(place) = entry.contacts.iter().position(|&j| j == contact) {
                let [normal, along @ ..] = push.impulse;
                entry.impulses.resize((1 + push.tangents) * m, 0.0);
                entry.impulses[place] += normal;
                let tangents = entry.impulses[m + push.tangents * place..].iter_mut();
                for (to, p) in tangents.zip(along).take(push.tangents) {
                    *to += p;
                }
            }
            if push.without_collision {
                entry.remarks.push(Remark::WithoutCollision { contact });
            }
        }
    }

    /// An event of these contacts, of which `new` were open until then.
    pub(crate) fn of(touching: &[usize], new: Vec<bool>, at: ContactsAt) -> Self {
        Self {
            touching: touching.to_vec(),
            new,
            at,
            known: vec![STAYS; touching.len()],
            ..Self::default()
        }
    }

    /// True when contacts close.
    pub(crate) fn is_impact(&self) -> bool {
        self.new.iter().any(|&new| new)
    }

    /// These contacts touch without taking part.
    pub(super) fn leave_out(&mut self, contacts: &[usize]) {
        for i in (0..self.touching.len()).rev() {
            if contacts.contains(&self.touching[i]) {
                self.touching.remove(i);
                self.new.remove(i);
                self.known.remove(i);
            }
        }
    }

    pub(super) fn clear(&mut self) {
        self.touching.clear();
        self.new.clear();
        self.released.clear();
        self.unlanded.clear();
        self.approach.clear();
        self.chosen = None;
        self.aside.clear();
        self.at.forget();
    }
}

impl<S> ContactModel<S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    /// The impact of the contacts that touch at a state `(q, v)`: those with gaps up to
    /// [`gap_tolerance`](Self::gap_tolerance), with friction unless it was said not to matter, and
    /// restitution.
    ///
    /// For an impact of a run take [`impact_of`](Self::impact_of): the path of a run has the state
    /// after it. Where bodies rest, speeds are rounding, and so is whether contacts approach.
    ///
    /// ```
    /// use saltation::{ContactModel, EventDriven};
    /// use saltation::impact::{AnitescuPotra, ExactPlanar};
    /// use saltation::models::RockingBlock;
    /// let block = RockingBlock::default();
    /// let model = ContactModel::with_law(block, AnitescuPotra::new());
    /// let (q, v) = ([0.0, 1.0, 0.0], [0.0, -1.0, 0.0]);
    /// let impact = model.impact_at(&[q, v].concat())?;
    /// // The law of the run takes one outcome; these are all.
    /// let set = ExactPlanar::new().resolve(&impact)?.velocities()?;
    /// assert!(set.contains(&[0.0; 3], 1e-9) && set.pieces().len() == 2);
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError::WrongLength`](crate::InputError::WrongLength),
    /// [`InputError::NoContacts`](crate::InputError::NoContacts) where none touches, and those of
    /// [`ImpactProblem::of_system`].
    pub fn impact_at(&self, state: &[f64]) -> Result<ImpactProblem, ImpactFailure> {
        self.impact_of_contacts(state, ContactSet::Within(self.gap_tolerance))
    }

    /// The impact of an event of a run: of the contacts that took part, at the state before it, of
    /// which those that were activated are new.
    ///
    /// # Errors
    /// [`InputError::NoContacts`](crate::InputError::NoContacts) for an event without an impact, and
    /// those of [`impact_at`](Self::impact_at).
    pub fn impact_of(&self, event: &ContactEvent) -> Result<ImpactProblem, ImpactFailure> {
        // Releases and touches have contacts, but no impact.
        let contacts = match event.order {
            Some(_) => &event.contacts[..],
            None => &[],
        };
        let problem = self.impact_of_contacts(&event.state_before, ContactSet::Listed(contacts))?;
        let is_new = |i: &usize| event.activated.contains(&contacts[*i]);
        let new: Vec<usize> = (0..contacts.len()).filter(is_new).collect();
        problem.with_new_contacts(&new)
    }

    fn impact_of_contacts(
        &self,
        state: &[f64],
        contacts: ContactSet<'_>,
    ) -> Result<ImpactProblem, ImpactFailure> {
        let system = self.system();
        let size = system.coordinates() + system.dof();
        validate::length("state", size, state.len())?;
        let (q, v) = state.split_at(system.coordinates());
        let problem = ImpactProblem::of_system(system, q, v, contacts)?;
        let problem = problem.with_interrupt(&self.interrupt);
        if self.is_frictionless() {
            return Ok(problem.frictionless());
        }
        Ok(problem)
    }
}
