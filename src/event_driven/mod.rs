//! The event-driven driver: mechanical systems with rigid contacts, carried from event to event.
//!
//! Serves Pace & Burden, "Decoupled limbs yield differentiable trajectory outcomes" (arXiv
//! 1609.04056), with its errors mended.
//!
//! * [`ContactModel`](crate::ContactModel) is the hybrid system that the core integrates: its `motion` with
//!   closed contacts, its `guards`.
//! * `impact`: what an event does; `settling`: which contacts are closed after it;
//!   `impact_derivative`: the derivative of that; `impact_problem`: the impact of a state or an
//!   event of a run, for a user; `projection`: back to the closed contacts.
//! * `checks`: options, states, masses, before bodies move.
//! * `erased`: the model with its system forgotten, so that the rest is compiled once.
//! * `driver`: [`EventDriven`]; `drive`: its loop, with `initial` (the start), `recovery`
//!   (between two runs of the core), `zeno`, `grazing`.
//! * `recorder`: the events of contacts, and accumulations; `breakdown`: what ends a run.
//! * `friction`: contacts that stick and slip in the plane, with time as a state: [`Timeline`].
//! * `decoupling`: whether outcomes are smooth when contacts close at once.

mod breakdown;
mod checks;
mod decoupling;
mod drive;
mod driver;
mod erased;
mod friction;
mod grazing;
mod guards;
mod impact;
mod impact_derivative;
mod impact_problem;
mod initial;
mod motion;
mod projection;
mod recorder;
mod recovery;
mod settling;
mod zeno;

pub(crate) use crate::mechanics::contact_model::Model;
pub use crate::record::{ContactEvent, ContactEventKind, Phase};
pub use breakdown::Breakdown;
pub use decoupling::{ContinuityClass, DecouplingReport, InertialCoupling, OrderOutcome};
pub use driver::EventDriven;
pub use friction::{Stretch, StretchKind, Timeline, TimelineRun};
pub use grazing::Grazing;
pub use initial::SettledStart;
pub use motion::Multipliers;
pub use zeno::Zeno;
