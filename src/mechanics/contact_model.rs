//! A mechanical system with contacts as a hybrid system for the core integrator: `x = (q, v)`.
//! `q` and `v` may differ in length.
//!
//! The flags of the mode hold the modes of `n` contacts: flag `j` is on while contact `j` is closed;
//! with friction flag `n + j` while it slips, and flag `2n + j` while it slips backward; in space three
//! more (`friction::contact_function`). No motion changes them, only `on_crossing`.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::friction::ConstantForces;
use super::friction::contact_function::{ContactFunctions, Slip};
use super::friction::slow_slip::VelocityTolerance;
use super::motion::constant_contacts::ConstantContacts;
use super::motion::constants::Bodies;
use super::motion::kept::Kept;
use super::motion::kinetic::energy;
use super::{
    EnergyBalance, Measured, MechanicalSystem, Mechanism, Painleve, Redundant,
    UnilateralConstraints,
};
use crate::impact::{Contacting, ImpactLaw, Moreau, Selection, Unilateral};
use crate::record::BodyLayout;
use crate::{InputError, Interrupt, Mode, Run};

/// A mechanical system with contacts, and the law of its impacts, as a [`Flow`](crate::Flow) with
/// [`EventFunction`](crate::EventFunction)s.
///
/// [`EventDriven`](crate::EventDriven) runs it, with policies and a log. The core integrator runs it
/// too, from the state and mode of [`start`](Self::start), which checks them. Flag `j` of a mode is
/// on while contact `j` is closed. Event function `j` is the gap of contact `j` while that is open,
/// its force while it is closed, so that contact `j` closes and is released as `Guard::falling(j)`;
/// this without friction.
///
/// With friction in the plane, `n` contacts have `5 n + 1` event functions, each of one quantity,
/// contact by contact: gaps, forces, speeds of slips, the margins `μ λ_n − λ_t` and `μ λ_n + λ_t` of
/// the cones of friction, and last one for the loads of contacts that depend on each other. One that
/// the mode does not arm is 1. Flag `n + j` is on while contact `j` slips, flag `2n + j` while it
/// slips backward ([`contacting`](Self::contacting) reads them).
///
/// It is a mechanical system too, the one that it was made of: a [`Compliant`](crate::Compliant) driver
/// takes it, with the stiffness of its contacts.
///
/// In space there are `6 n + 1`: gaps, forces, speeds of slips along the tangent they are nearest to,
/// the margins `μ λ_n − |λ_t|`, for slips how near they are to that tangent, for those that begin by
/// how much they are slower than one that has a direction, and one for the loads. Flag `3 n + j` is on
/// where the tangent is the second, flag `4 n + j` while a slip begins, flag `5 n + j` while it is
/// about to stop.
/// A slip slower than 50 times what the tolerances of an [`EventDriven`](crate::EventDriven) run leave open
/// has no direction: one that would stick is brought to rest straight, several of them at once where they
/// are, early by the time in which they would have stopped.
///
/// Gaps depend on `q` alone. An obstacle that moves by itself is part of `q`, as a coordinate that is
/// [driven](MechanicalSystem::driven).
///
/// ```
/// use saltation::models::SoftTrot;
/// use saltation::{ContactModel, EventDriven, Start};
/// let model = ContactModel::new(SoftTrot::default());
/// let (q, v) = SoftTrot::default().start(0.01);
/// let start = Start::at(0.0).q(&q).v(&v);
/// let run = EventDriven::new(model)?.rtol(1e-9).integrate(&start, 0.65)?.completed()?;
/// // Forces over time.
/// let (film, model) = (run.every(0.01)?, ContactModel::new(SoftTrot::default()));
/// for ((&t, x), mode) in film.times.iter().zip(film.states.column_iter()).zip(&film.modes) {
///     let forces = model.multipliers(t, x.as_slice(), mode);
///     assert!(forces.values().iter().all(|&force| force >= 0.0));
/// }
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct ContactModel<S: ?Sized> {
    pub(crate) law: Arc<dyn ImpactLaw + Send + Sync>,
    /// The rule that takes one outcome of the law.
    pub(crate) selection: Selection,
    /// Coefficients of friction do not matter.
    frictionless: bool,
    /// Some contact has a law of friction.
    pub(crate) has_laws: bool,
    /// How event functions and flags are numbered. Closed contacts stick or slip where some contact
    /// has friction that matters.
    functions: ContactFunctions,
    /// Gaps within this of zero are zero (m).
    pub(crate) gap_tolerance: f64,
    /// Contacts that part no faster than this after an impact may stay closed; those that close no
    /// faster graze (m/s).
    pub(crate) rate_tolerance: f64,
    /// The tolerance of the run, where contacts slip in space.
    pub(crate) velocity_tolerance: VelocityTolerance,
    /// The effective mass of the lightest contact (kg), once a run with friction asked for it.
    pub(crate) lightest: Option<f64>,
    pub(crate) redundant: Redundant,
    pub(crate) painleve: Painleve,
    /// Coefficients of restitution outside [0, 1] are accepted.
    pub(crate) any_restitution: bool,
    /// Ends searches of the law.
    pub(crate) interrupt: Interrupt,
    /// The closed contacts of the last state, where nothing of them depends on it; without friction,
    /// and with it, and those of the mode before.
    pub(crate) last_contacts: Kept<ConstantContacts>,
    pub(crate) last_forces: Kept<[ConstantForces; 2]>,
    /// Last, because `S` may be unsized.
    pub(crate) bodies: Bodies<S>,
}

/// A model whose system is forgotten.
pub(crate) type Model<'a> = ContactModel<dyn Mechanism + 'a>;

/// The closed contacts of a mode, in rising order, in space for all contacts.
pub(crate) fn gather_closed<'a>(mode: &Mode, space: &'a mut [usize]) -> &'a [usize] {
    let mut m = 0;
    let n = space.len();
    for (place, j) in space.iter_mut().zip(mode.flags()) {
        *place = j;
        m += 1;
    }
    // Flags of slips follow those of contacts.
    while m > 0 && space[m - 1] >= n {
        m -= 1;
    }
    &space[..m]
}

/// Along how many tangents the contacts of a system stick or slip; 0 where none has friction.
fn tangents_of_friction<S: UnilateralConstraints>(system: &Measured<S>) -> usize {
    let mut tangents = system.sizes.tangents.iter().enumerate();
    let has_friction =
        |&(j, &tangents): &(usize, &usize)| tangents > 0 && system.friction(j) != 0.0;
    tangents
        .find(has_friction)
        .map_or(0, |(_, &tangents)| tangents)
}

/// True where some contact has a law of friction beside Coulomb's.
fn has_laws<S: MechanicalSystem + UnilateralConstraints>(bodies: &Bodies<S>) -> bool {
    let system = &bodies.system;
    system.sizes.check().is_ok() && {
        let origin = vec![0.0; bodies.fixed.nq];
        let mut contacts = 0..system.contacts();
        contacts.any(|j| system.friction_at(j, &origin, 0.0).is_some())
    }
}

impl<S> ContactModel<S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    /// With the default law: [`Unilateral`], and [`Moreau`], its like with friction, where contacts
    /// have friction.
    pub fn new(system: S) -> Self {
        let mut model = Self::with_law(system, Unilateral);
        if model.slides() {
            model.law = Arc::new(Moreau::new());
        }
        model
    }

    /// With a law of one's choice, shared by clones. One that gives several outcomes wants a
    /// [`selection`](Self::selection).
    pub fn with_law(system: S, law: impl ImpactLaw + Send + Sync + 'static) -> Self {
        let bodies = Bodies::new(system);
        Self {
            law: Arc::new(law),
            selection: Selection::default(),
            frictionless: false,
            has_laws: has_laws(&bodies),
            functions: ContactFunctions {
                contacts: bodies.system.contacts(),
                tangents: tangents_of_friction(&bodies.system),
            },
            interrupt: Interrupt::new(),
            gap_tolerance: 1e-10,
            rate_tolerance: 1e-8,
            velocity_tolerance: VelocityTolerance::default(),
            lightest: None,
            redundant: Redundant::default(),
            painleve: Painleve::default(),
            any_restitution: false,
            last_contacts: Kept::default(),
            last_forces: Kept::default(),
            bodies,
        }
    }

    /// The mechanical system.
    pub fn system(&self) -> &S {
        &self.bodies.system.system
    }

    /// Gaps within this of zero are zero (m); default 1e-10. Bounces a hundred times lower are not
    /// resolved: they are the end of an accumulation, and a closed contact that an impact throws no
    /// higher stays closed.
    #[must_use]
    pub fn gap_tolerance(mut self, tolerance: f64) -> Self {
        self.gap_tolerance = tolerance;
        self
    }

    /// Contacts that part no faster than this may stay closed, those that close no faster graze
    /// (m/s); default 1e-8. This and the [gap tolerance](Self::gap_tolerance) are made for bodies of about
    /// a metre: for those of a millimetre both are better a thousand times smaller, as is
    /// the absolute tolerance of a run. In space a slip that begins has a direction from a hundred times this on.
    /// Masses do not matter: forces are held against the mass of what touches.
    ///
    /// Times are seconds: accelerations, and rates of forces and loads, are compared with this a second. With a clock
    /// in milliseconds or microseconds pushes that grow slowly would be refused, or count as none.
    #[must_use]
    pub fn rate_tolerance(mut self, tolerance: f64) -> Self {
        self.rate_tolerance = tolerance;
        self
    }

    /// The policy where closed contacts depend on each other, as those of two faces of a box do
    /// that lies in a corner. Default [`Redundant::LeastSquares`].
    #[must_use]
    pub fn redundant(mut self, policy: Redundant) -> Self {
        self.redundant = policy;
        self
    }

    /// Sets the policy where a contact presses itself down while it slides. Default
    /// [`Painleve::Error`].
    #[must_use]
    pub fn painleve(mut self, policy: Painleve) -> Self {
        self.painleve = policy;
        self
    }

    /// Sets which outcome is taken where the law has several. Default [`Selection::Single`]: a run
    /// in which there is more than one ends with
    /// [`impact::ImpactFailure::NotSingle`](crate::impact::ImpactFailure::NotSingle).
    #[must_use]
    pub fn selection(mut self, selection: Selection) -> Self {
        self.selection = selection;
        self
    }

    /// Ends the searches within one event, of the impact law and for the contacts that stay closed,
    /// with
    /// [`Stop::Interrupted`](crate::Stop::Interrupted) when `interrupt` is set. Runs end between
    /// impacts by [`EventDriven::interrupt`](crate::EventDriven::interrupt) or
    /// [`Integrator::interrupt`](crate::Integrator::interrupt): this one alone does not end a run. One
    /// flag may serve both.
    #[must_use]
    pub fn interrupt(mut self, interrupt: &Interrupt) -> Self {
        self.interrupt = interrupt.clone();
        self
    }

    /// Says that coefficients of friction do not matter: contacts slide freely, in impacts and
    /// between them. Without this, with [`friction`](UnilateralConstraints::friction) that is not
    /// zero, a run is refused when it starts ([`start`](Self::start)) if the law ignores friction
    /// or a contact has no tangents ([`InputError::FrictionIgnored`]). Closed contacts stick and slip.
    #[must_use]
    pub fn frictionless(mut self) -> Self {
        self.frictionless = true;
        self.functions.tangents = 0;
        self
    }

    /// Takes coefficients of restitution outside [0, 1]: beyond 1 impacts add energy.
    #[must_use]
    pub fn any_restitution(mut self) -> Self {
        self.any_restitution = true;
        self
    }
}

impl<'a> ContactModel<dyn Mechanism + 'a> {
    /// The mechanical system, with its sizes read once.
    pub(crate) fn system(&self) -> &Measured<dyn Mechanism + 'a> {
        &self.bodies.system
    }
}

impl<S> ContactModel<S>
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    /// The law of impact.
    pub fn law(&self) -> &(dyn ImpactLaw + Send + Sync) {
        &*self.law
    }

    /// True when contact `j` is closed in `mode`; false where there is no such contact.
    pub fn is_closed(&self, mode: &Mode, j: usize) -> bool {
        self.functions.is_closed(mode, j)
    }

    /// The closed contacts of `mode`: the contact mode `J` of the paper.
    pub fn closed(&self, mode: &Mode) -> Vec<usize> {
        self.layout().closed(mode).collect()
    }

    /// How contact `j` moves in `mode`; [`Contacting::Open`] where there is no such contact. A closed
    /// contact without friction slips freely: [`Contacting::SlipForward`]. So does one that slips in
    /// space: its direction is that of the velocity along its tangents.
    pub fn contacting(&self, mode: &Mode, j: usize) -> Contacting {
        let functions = self.functions;
        let sticks = || functions.slides() && self.friction(j) != 0.0;
        match (functions.is_closed(mode, j), functions.slip(mode, j).sign) {
            (false, _) => Contacting::Open,
            (true, 0) if sticks() => Contacting::Stick,
            (true, -1) if functions.tangents == 1 => Contacting::SlipBackward,
            (true, _) => Contacting::SlipForward,
        }
    }

    /// The mode in which the contacts of `closed` are closed, sticking where they have friction, and
    /// all others open. All side bits are on, since what event functions measure is positive before
    /// an event. Indices without a contact are ignored. [`start`](Self::start) gives the mode that
    /// belongs to a state.
    pub fn mode(&self, closed: &[usize]) -> Mode {
        let functions = self.functions;
        let mut mode = Mode::new(functions.count()).with_flags(functions.flags());
        (0..mode.len()).for_each(|k| mode.set(k, true));
        let closed = closed.iter().filter(|&&j| j < functions.contacts);
        closed.for_each(|&j| mode.set_flag(j, true));
        mode
    }

    /// How states and modes of runs are read.
    #[inline]
    pub(crate) fn layout(&self) -> BodyLayout {
        BodyLayout {
            coordinates: self.bodies.fixed.nq,
            contacts: self.functions.contacts,
        }
    }

    /// How event functions and flags are numbered.
    #[inline]
    pub(crate) fn functions(&self) -> ContactFunctions {
        self.functions
    }

    /// True where closed contacts may stick or slip with friction.
    #[inline]
    pub(crate) fn slides(&self) -> bool {
        self.functions.slides()
    }

    /// Gaps with which a run may start, or go on after an impact (m).
    pub(crate) fn admissible_gaps(&self) -> RangeInclusive<f64> {
        -self.gap_tolerance..=f64::INFINITY
    }

    /// Opens a contact, or closes it: it sticks where it has friction.
    pub(crate) fn set_closed(&self, mode: &mut Mode, j: usize, closed: bool) {
        self.functions.set(mode, j, closed, Slip::NONE);
    }

    /// Closes a contact, with its slip as far as it has friction, or opens it: none.
    pub(crate) fn set_contacting(&self, mode: &mut Mode, j: usize, slip: Option<Slip>) {
        let rubs = |_: &Slip| self.friction(j) != 0.0;
        let of_friction = slip.filter(rubs).unwrap_or(Slip::NONE);
        self.functions.set(mode, j, slip.is_some(), of_friction);
    }

    /// Forgets matrices of contacts that were kept: a user may have changed the system since.
    pub(crate) fn forget_kept(&self) {
        self.last_contacts.with(ConstantContacts::forget);
        let forget =
            |both: &mut [ConstantForces; 2]| both.iter_mut().for_each(ConstantForces::forget);
        self.last_forces.with(forget);
    }

    /// The coordinates and the velocities of a state; a shorter one has no velocities.
    pub(crate) fn parts<'a>(&self, x: &'a [f64]) -> (&'a [f64], &'a [f64]) {
        x.split_at(self.bodies.fixed.nq.min(x.len()))
    }

    /// The parts of [`parts`](Self::parts), to be changed.
    pub(crate) fn parts_mut<'a>(&self, x: &'a mut [f64]) -> (&'a mut [f64], &'a mut [f64]) {
        x.split_at_mut(self.bodies.fixed.nq.min(x.len()))
    }

    /// True when impacts are piecewise linear: masses and rows are constant, and `q̇ = v`.
    pub(crate) fn has_linear_impacts(&self) -> bool {
        let system = &self.bodies.system;
        self.bodies.fixed.identity
            && system.constant_mass()
            && (0..system.contacts()).all(|j| system.constant_row(j))
    }

    /// The energy at a state `(q, v)`, kinetic and potential (J); none when the system has no
    /// [`potential`](MechanicalSystem::potential), or the state has another length.
    pub fn energy(&self, state: &[f64]) -> Option<f64> {
        let (d, nq) = (self.bodies.fixed.d, self.bodies.fixed.nq);
        if state.len() != nq + d {
            return None;
        }
        let (q, v) = state.split_at(nq);
        energy(&self.bodies.system, q, v)
    }

    /// The balance of energy of a run of this model, by whichever driver.
    ///
    /// # Errors
    /// [`InputError::WrongLength`] for a run of another system.
    pub fn energy_balance(&self, run: &Run) -> Result<EnergyBalance, InputError> {
        EnergyBalance::of(&self.bodies.system, run)
    }

    /// The coefficient of friction of a contact as far as it matters.
    pub(crate) fn friction(&self, j: usize) -> f64 {
        if self.frictionless {
            0.0
        } else {
            self.bodies.system.friction(j)
        }
    }

    /// True when coefficients of friction were said not to matter.
    pub(crate) fn is_frictionless(&self) -> bool {
        self.frictionless
    }

    /// True when impacts are to be resolved with friction.
    pub(crate) fn wants_friction(&self) -> bool {
        !self.frictionless && self.law.honours_friction()
    }

    /// Refuses friction that the law ignores and friction without tangents, unless it was said not
    /// to matter.
    pub(crate) fn check_friction(&self) -> Result<(), InputError> {
        let system = &self.bodies.system;
        let Some((contact, friction)) = self.first_friction(0..system.contacts()) else {
            return Ok(());
        };
        if !self.law.honours_friction() {
            return Err(InputError::FrictionIgnored {
                law: self.law.name(),
                contact,
                friction,
            });
        }
        match system.tangents(contact) {
            0 => Err(InputError::Tangents {
                contact,
                expected: 1,
                found: 0,
            }),
            _ => Ok(()),
        }
    }

    /// The first of `contacts` with friction that matters, and its coefficient.
    pub(crate) fn first_friction(
        &self,
        contacts: impl Iterator<Item = usize>,
    ) -> Option<(usize, f64)> {
        let mut coefficients = contacts.map(|j| (j, self.bodies.system.friction(j)));
        coefficients.find(|(_, mu)| !self.frictionless && *mu != 0.0)
    }
}
