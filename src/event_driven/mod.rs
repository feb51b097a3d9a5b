//! The event-driven driver: mechanical systems with rigid contacts, carried from event to event.
//!
//! [`EventDriven`] runs a [`ContactModel`](crate::ContactModel): impacts at their times, closed
//! contacts with their forces until they vanish, several contacts at one instant as one event.
//!
//! ```
//! use saltation::event_driven::Zeno;
//! use saltation::{ContactModel, EventDriven, Start, models::BouncingBall};
//! let model = ContactModel::new(BouncingBall { restitution: 0.5, ..Default::default() });
//! let mut driver = EventDriven::new(model)?.rtol(1e-9).zeno(Zeno::Absorb);
//! let run = driver.integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 3.0)?.completed()?;
//! let rest = run.phases().pop().map(|phase| phase.closed);
//! assert_eq!(rest, Some(vec![0])); // infinitely many impacts, then rest
//! # Ok::<(), saltation::Error>(())
//! ```
//!
//! * [`Zeno`]: the policy for impacts that accumulate; [`Grazing`]: for touches without impact.
//! * [`Breakdown`]: why the motion cannot go on, inside a run's [`Status`](crate::Status).
//! * [`DecouplingReport`]: whether outcomes are smooth where contacts close at once
//!   ([`ContactModel::decoupling`](crate::ContactModel::decoupling)); [`SettledStart`]: state and
//!   mode of a start, for runs by the core; [`Multipliers`]: contact forces at a state.
//! * [`Arclength`]: time as a state, a view of a run ([`ContactModel::arclength`](crate::ContactModel::arclength)).
//!
//! # Friction
//!
//! Contacts with a coefficient of friction stick and slip with Coulomb's law while they are closed, in
//! the plane and in space, and rebound by a law that honours it ([`Moreau`](crate::impact::Moreau)
//! unless another is chosen). The mode that follows an event is the one that is consistent with the
//! accelerations, of all `4ᵐ` of up to five contacts that touch (in space `3ᵐ`, with the directions in
//! which slips begin; that all of these are found is not proven); of several the selection of the model
//! takes one, and [`Breakdown::AmbiguousMode`] is the default. Of more contacts one mode is found and
//! verified, in the plane by a complementarity solver (up to a hundred contacts), in space along the
//! central path of Coulomb's law (up to forty); whether it is the only one is not known, and the event
//! has the remark [`OneOfMany`](crate::record::Remark::OneOfMany). Where a sliding
//! contact presses itself down (Painlevé) the policy is [`Painleve`](crate::mechanics::Painleve); in
//! space such a run ends.
//!
//! In space a slip has the direction of its velocity; one that begins has, up to a hundred times the
//! tolerance of rates (a micrometre a second) or more where tolerances are loose, that in which it
//! begins. One that is slower than fifty times what the tolerances allow to be wrong has no direction
//! that is known: it comes to rest straight, or counts as zero.
//!
//! [`ContactModel::contacting`](crate::ContactModel::contacting) reads a mode, [`ContactEvent`] says
//! what stuck and what slipped, and [`Multipliers::used_friction`] how much of the friction a contact
//! uses. Efforts may depend on which of five contacts at most are closed
//! ([`contact_effort`](crate::mechanics::MechanicalSystem::contact_effort)).
//!
//! ```
//! use saltation::event_driven::ContactEventKind;
//! use saltation::{ContactModel, EventDriven, Start, models::SlidingBlock};
//! let block = SlidingBlock { friction: 0.5, ..SlidingBlock::default() };
//! let mut driver = EventDriven::new(ContactModel::new(block))?.rtol(1e-9);
//! let run = driver.integrate(&Start::at(0.0).q(&[0.0, 0.0]).v(&[2.0, 0.0]), 1.0)?;
//! let stop = &run.events()[0];
//! assert_eq!((stop.kind, &stop.stuck[..]), (ContactEventKind::Friction, &[0][..]));
//! assert!((stop.t - 2.0 / (0.5 * 9.81)).abs() < 1e-9); // v/(μ g)
//! # Ok::<(), saltation::Error>(())
//! ```
//!
//! Where contacts depend on each other (two corners of a block that stick) forces are not unique:
//! a mode lasts as long as some forces within the cones hold it, found to two parts in a thousand
//! million of the loads. Their margin is an event function like all others: what it does in less than
//! the [`time_scale`](crate::mechanics::MechanicalSystem::time_scale) of the model, a hundredth of the
//! run unless stated, may be missed. Where they slip in different directions, or stick by some shares only,
//! the motion depends on how they share their load, and the run says so ([`Doubt::SharedLoads`](crate::Doubt::SharedLoads)).
//!
//! An equation between bodies is no pair of gaps `φ` and `−φ` here: one of them grazes by rounding, and the run ends
//! with that. [`Variational`](crate::Variational) carries such pairs, and compliant steps have joints.
//!
//! Surfaces that move by themselves are velocities that are
//! [driven](crate::mechanics::MechanicalSystem::driven): belts, shaken tables, turntables. Static
//! friction above kinetic, and friction that depends on speed or place, is a law of the contact
//! ([`friction_at`](crate::mechanics::UnilateralConstraints::friction_at)): a contact at rest sticks if
//! static friction can hold it, and one that stuck before sticks on if that holds it once others slip. An
//! impact has one coefficient, that of its kinetic friction as it begins.
//! Rolling and spinning friction are not there, nor is Poisson's or energetic restitution.
//!
//! Joints are part of the model, which is written in coordinates that leave them free;
//! [`bodies::Joint`](crate::bodies::Joint) and closed chains of such are for the compliant driver.
//!
//! Derivatives take the linearised motion of a mode, and differences where contacts depend on each
//! other, have laws of friction, or begin or end a slip in space; they are checked against
//! the return map of the woodpecker toy (`tests/frictional/woodpecker.rs`).
//!
//! Which impact law when: [`impact`](crate::impact). Which driver when: the
//! [first page](crate#model-driver-run).
//!
//! Source: Pace & Burden, "Decoupled limbs yield differentiable trajectory outcomes" (arXiv
//! 1609.04056), with its errors mended.

// Inside. The hybrid system that the core integrates: `motion` (with closed contacts), `onto_contacts` (the way
// back to them), `guards`.
// Events: `event` (what happens at one, and at the start), `impact`, `settling` (which contacts are closed after it),
// `impact_derivative`. The driver: `driver`, `drive` (its loop), `recovery` and `absorption` (between two parts),
// `recorder` (the log of contacts), `breakdown`; `erased` (the model without its type, so that the rest is compiled
// once). Rooms of their own: `decoupling` (whether a model is decoupled where contacts close at once), `friction` (the
// mode that follows with friction), `time` (accumulations and their bounds; time as a state, Halm & Posa, section 4),
// `watching` (motions that no run goes on from).

mod absorption;
mod breakdown;
mod decoupling;
mod drive;
mod driver;
mod erased;
mod event;
mod friction;
mod guards;
mod impact;
mod impact_derivative;
mod live;
mod motion;
mod onto_contacts;
mod recorder;
mod recovery;
mod settling;
mod time;
mod watching;

pub(crate) use crate::mechanics::contact_model::Model;
pub use crate::record::{ContactEvent, ContactEventKind, Phase};
pub use absorption::Zeno;
pub use breakdown::Breakdown;
pub use decoupling::{ContinuityClass, DecouplingReport, InertialCoupling, OrderOutcome};
pub use driver::EventDriven;
pub use event::SettledStart;
pub use motion::Multipliers;
pub use time::arclength::Arclength;
pub use watching::grazing::Grazing;
