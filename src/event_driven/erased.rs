//! Methods and traits of `ContactModel<S>`. Each forwards to `ContactModel<dyn Mechanism>`, which is
//! compiled once.

use super::{Arclength, Breakdown, DecouplingReport, Multipliers, SettledStart};
use crate::event_driven::Model;
use crate::mechanics::ContactModel;
use crate::mechanics::forward::{constraint_methods, mechanical_methods};
use crate::mechanics::{Friction, MechanicalSystem, State, UnilateralConstraints};
use crate::model::forward::{event_methods, flow_methods};
use crate::{EventFunction, Flow, InputError, Mode, Run, Start};

impl<S> ContactModel<S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    /// This model with its system as `dyn Mechanism`.
    #[inline]
    pub(crate) fn erased(&self) -> &Model<'_> {
        self
    }

    /// Checks a start, resolves the impact of contacts with zero gaps that close, and finds the
    /// contacts that stay closed.
    ///
    /// # Errors
    /// Bad input ([`InputError::WrongLength`](crate::InputError::WrongLength),
    /// [`InputError::NotFinite`](crate::InputError::NotFinite),
    /// [`InputError::BadSetting`](crate::InputError::BadSetting) for a tolerance or for more than
    /// 10,000 velocities or contacts,
    /// [`InputError::FrictionIgnored`](crate::InputError::FrictionIgnored),
    /// [`InputError::CoriolisUnwritten`](crate::InputError::CoriolisUnwritten),
    /// [`InputError::Tangents`](crate::InputError::Tangents),
    /// [`InputError::NegativeGap`](crate::InputError::NegativeGap) for a gap that is negative
    /// beyond the tolerance); [`Breakdown::MassMatrix`] for one that is not symmetric and positive
    /// definite; [`Breakdown::Restitution`]; the reasons for which the impact has no outcome, or
    /// for which no set of contacts can stay closed.
    pub fn start(&self, start: &Start<'_>) -> Result<SettledStart, Breakdown> {
        let State { t, q, v } = State::of(start)?;
        Ok(self.erased().recorded_start(t, q, v)?.0)
    }

    /// The multipliers of the contacts at a state `(q, v)`; 0 for open contacts. NaN for all where
    /// the closed ones depend on each other and are refused
    /// ([`Redundant::Refuse`](crate::mechanics::Redundant::Refuse)), and for a state or a mode of
    /// another length. Whether contacts touch at that state is not asked.
    pub fn multipliers(&self, t: f64, state: &[f64], mode: &Mode) -> Multipliers {
        self.erased().contact_forces(t, state, mode)
    }

    /// A run of this model by [`EventDriven`](crate::EventDriven) over its arclength: time as a state.
    ///
    /// # Errors
    /// [`InputError::WrongLength`](crate::InputError::WrongLength) for a run of another system or
    /// another driver; [`InputError::NotFinite`](crate::InputError::NotFinite) where the forces of
    /// closed contacts are not numbers.
    pub fn arclength<'a>(&'a self, run: &'a Run) -> Result<Arclength<'a>, InputError> {
        Arclength::of(self.erased(), run)
    }

    /// By how much the change of mode at time `t` of a run by [`EventDriven`](crate::EventDriven) may be
    /// late (s). Where sticking contacts depend on each other, forces are not unique, and their mode
    /// ends only once the loads lie outside of the cones of friction by two parts in a thousand
    /// million: this is how long they have been outside. A load that rises slowly is found late
    /// accordingly. 0 for all other changes, and where nothing changes.
    ///
    /// # Errors
    /// [`InputError::WrongLength`](crate::InputError::WrongLength) for a run of another system or
    /// another driver; [`InputError::OutsideRun`](crate::InputError::OutsideRun).
    pub fn lateness(&self, run: &Run, t: f64) -> Result<f64, InputError> {
        self.erased().lateness_at(run, t)
    }

    /// The dependence on their order of the outcome of contacts that close at once at `(q, v)`. All
    /// other contacts are open.
    ///
    /// Neighbours of `(q, v)` meet the contacts one after another. Each order is followed, impact
    /// by impact, until no contact approaches; what the law makes of all contacts at once is
    /// compared with it. A verdict of continuity holds for two contacts; of more that are coupled
    /// by the Delassus matrix, the orders are a sample: see [`DecouplingReport::outcomes`].
    ///
    /// # Errors
    /// [`InputError::WrongLength`](crate::InputError::WrongLength),
    /// [`InputError::NotFinite`](crate::InputError::NotFinite),
    /// [`InputError::NoSuch`](crate::InputError::NoSuch); [`Breakdown::MassMatrix`] for one that is
    /// not symmetric and positive definite; [`Stop::NotLive`](crate::Stop::NotLive) when a contact
    /// does not approach; [`Breakdown::TooManyImpacts`] when contacts of an order still approach
    /// after 1000 impacts, as in narrow cones and between walls; what the system and the law make
    /// of the impacts of some order, and of all at once.
    pub fn decoupling(
        &self,
        at: &Start<'_>,
        contacts: &[usize],
    ) -> Result<DecouplingReport, Breakdown> {
        let State { t, q, v } = State::of(at)?;
        self.erased().report_decoupling(t, q, v, contacts)
    }
}

impl<S: MechanicalSystem + UnilateralConstraints> Flow for ContactModel<S> {
    flow_methods! { self => self.erased(), constants motion clock derivatives }
}

impl<S: MechanicalSystem + UnilateralConstraints> EventFunction for ContactModel<S> {
    event_methods! { self => self.erased(), constants values derivatives crossing }
}

/// The system of the model, for drivers that take systems: a [`Compliant`](crate::Compliant) one takes
/// the stiffness of its contacts, and neither the law nor the tolerances.
impl<S: MechanicalSystem + UnilateralConstraints> MechanicalSystem for ContactModel<S> {
    mechanical_methods! { self => self.bodies.system.system, sizes effort motion derived }
}

impl<S: MechanicalSystem + UnilateralConstraints> UnilateralConstraints for ContactModel<S> {
    constraint_methods! { self => self.bodies.system.system, sizes contacts derived }

    /// Zero where the model was said to be [`frictionless`](Self::frictionless).
    fn friction(&self, j: usize) -> f64 {
        self.friction(j)
    }

    /// None where the model was said to be [`frictionless`](Self::frictionless).
    fn friction_at(&self, j: usize, q: &[f64], speed: f64) -> Option<Friction> {
        let law = || self.bodies.system.friction_at(j, q, speed);
        (!self.is_frictionless()).then(law).flatten()
    }
}
