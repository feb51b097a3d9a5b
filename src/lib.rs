//! **saltation** carries hybrid dynamical systems through near-simultaneous contact: right, fast,
//! with derivatives, and honest where it cannot know.
//!
//! Robots touch the world at many points almost at once: tripod gaits, flat feet, grasps, stacks.
//! The order of the touches is noise. This crate integrates `x' = f(t, x; mode)` and crosses any
//! number of guards at once or nearly so, without losing one, and reports guards crossed at one
//! instant as one corner. Derivatives with respect to the start go through corners too, and say of
//! what kind they are.
//!
//! # The words
//!
//! * An **event function** `h_k(t, x)` is negative on one side of a surface and positive on the
//!   other. Crossed in one direction it is a **guard** ([`Guard`]); watched both ways, a pair of
//!   guards ([`Watch`]).
//! * The **mode** ([`Mode`]) holds one side bit for each event function. It is frozen during a
//!   step, changes only when a guard is crossed, and is never recomputed from the sign of `h`. The
//!   right-hand side reads the mode, not the sign. A model may add flags of its own, which its
//!   resets set ([`EventFunction::flags`]).
//! * A guard is **live** when `dh/dt` has the sign of the crossing in the mode before and in the
//!   mode after. Where liveness fails (sliding, grazing) the run ends with a typed reason
//!   ([`Status::Refused`]) and keeps all it computed.
//! * A **corner** ([`Corner`]) is two or more guards crossed at one instant, within a stated
//!   tolerance.
//!
//! # The hopper, as a user writes it
//!
//! ```
//! use saltation::{EventFunction, Flow, Integrator, Mode, Start};
//!
//! struct Hopper { m: f64, k: f64, l0: f64, g: f64 }
//!
//! impl Flow for Hopper {
//!     fn dim(&self) -> usize { 2 }
//!     fn flow(&self, _t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
//!         let spring = if mode.contains(0) { self.k * (self.l0 - x[0]) / self.m } else { 0.0 };
//!         dx.copy_from_slice(&[x[1], spring - self.g]);
//!     }
//! }
//! impl EventFunction for Hopper {
//!     fn count(&self) -> usize { 1 }
//!     fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 { self.l0 - x[0] } // > 0: touching
//! }
//!
//! let hopper = Hopper { m: 1.0, k: 400.0, l0: 1.0, g: 9.81 };
//! let run = Integrator::new(&hopper)?.rtol(1e-9).integrate(&Start::at(0.0).x(&[2.0, 0.0]), 2.0)?;
//! assert_eq!(run.crossings().len(), 4);
//! assert!((run.state()[0] - 1.90066160085828).abs() < 1e-6);
//! assert!((run.at(0.451523640985731)?[0] - 1.0).abs() < 1e-6); // touch-down, from the dense output
//! # Ok::<(), saltation::Error>(())
//! ```
//!
//! # Which driver
//!
//! | the system | driver | contacts | friction | derivative |
//! |---|---|---|---|---|
//! | `x' = f(x, mode)` with guards: soft legs, relays, neurons | [`Integrator`] | many at one instant, by projection | as the model writes it | whole, with a verdict, through corners |
//! | rigid bodies, impacts exact in time | [`event_driven::EventDriven`] | rebound, rest, accumulate; the law of impact is a choice | at impacts, by laws that know it | as above |
//! | rigid bodies in the plane that stick and slip | [`event_driven::Timeline`] | inelastic, with impacts without collision | Coulomb, exact | none |
//! | rigid bodies over long times, where energy is to stay bounded | [`variational::Variational`] | impacts within steps, rest | Coulomb, in space too | of runs with single impacts |
//! | scenes with hundreds of contacts, control loops | [`compliant::Compliant`] | soft, or nearly rigid | Coulomb, with a small creep | of rollouts |
//!
//! Each starts from a [`Start`]; the mechanical ones take one model
//! ([`mechanics::MechanicalSystem`], [`mechanics::UnilateralConstraints`]).
//!
//! # The rooms
//!
//! * [`hybrid`]: the core. What the user writes ([`Flow`], [`EventFunction`]), the loop
//!   ([`Integrator`]) with its smooth and its crossing phase, what comes out ([`Trajectory`],
//!   [`Observer`]).
//! * [`ode`]: the stepper under it, of Tsitouras; knows no guards.
//! * [`derivative`]: how a run depends on its start ([`Derivative`], [`Sensitivities`],
//!   [`Verdict`]); derivatives of `f`, `h` and resets at a point, and the check of those a user
//!   wrote.
//! * [`mechanics`]: bodies that touch: masses, forces, gaps ([`mechanics::MechanicalSystem`],
//!   [`mechanics::UnilateralConstraints`]).
//! * [`event_driven`]: bodies carried through impacts and rest, from event to event
//!   ([`event_driven::EventDriven`]); with friction in the plane, and time as a state
//!   ([`event_driven::Timeline`]).
//! * [`variational`]: the same bodies in steps of one length by the midpoint rule, with impacts
//!   inside the steps ([`variational::Variational`]).
//! * [`compliant`]: bodies in implicit steps of one length, with hundreds of compliant contacts with
//!   friction solved as one convex problem ([`compliant::Compliant`]), and derivatives of rollouts.
//! * [`bodies`]: rigid bodies with shapes as a mechanical system ([`bodies::Scene`]): spheres, boxes,
//!   capsules, planes, and the contacts between them.
//! * [`impact`]: what happens to velocities at one instant when several contacts close at once:
//!   laws that return sets of outcomes.
//! * [`lcp`]: linear complementarity problems ([`lcp::LcpSolver`]), for rigid contacts; beside the
//!   others.
//! * [`models`]: hopper, plate on springs, and others, with closed forms where there are any.
//!
//! The names that almost every program needs are in [`prelude`].
//!
//! # Features
//!
//! None is on by default.
//!
//! * `dual`: exact derivatives of models that are written once for any scalar (`Dual`).
//! * `parallel`: samples of impacts, and islands of compliant contacts, on several threads
//!   (`impact::Sampler::threads`, `compliant::Solver::threads`).
//! * `parry`: bodies with the shapes of [parry](https://docs.rs/parry3d-f64): hulls, meshes, compounds
//!   (`bodies::Shape::parry`); two dozen more crates.
//! * `sobol`: bounds of these samples by Sobol's sequence (`impact::BoundLaw::Sobol`).
//!
//! # What is guaranteed
//!
//! For an event-selected system (every guard live in every mode near its surface) all crossings are
//! found and reported in order, guards at one instant (to rounding, which is known best where the
//! gradient is written) cross together, and the final state does not depend on the numbering of the
//! guards. Event functions may oscillate within a step: what can hide between samples is said at
//! [`Resolution`]. What the errors of a run may turn is a [`Doubt`], and
//! [`Trajectory::is_guaranteed`] is false then. [`Projection::Auto`] keeps the tolerance of the
//! smooth phase. The same input gives the same bits. A run that ends early says why and keeps what
//! it has.
//!
//! A derivative is that of the run's limit, direction by direction, wherever its verdict is not
//! [`Verdict::NotGuaranteed`]; a matrix is given only where there is a single one.
//!
//! # When something goes wrong
//!
//! Bad input is refused before any work begins, with an [`InputError`]. What a run meets on its way
//! ends it with [`Status::Refused`] and a [`Stop`], which says where; a reset may refuse with a
//! reason of its own ([`Stop::model`]). Each room has one error of its own beside these:
//! [`NoDerivative`], [`event_driven::Breakdown`], [`variational::VariationalFailure`], [`compliant::CompliantFailure`],
//! [`impact::ImpactFailure`], [`lcp::LcpFailure`]. [`Error`] is over all of them, for `?`.
//!
//! # When not to use it
//!
//! * Stiff right-hand sides: the stepper is explicit.
//! * Sliding modes: a guard that is not live is refused, not slid along. (Rigid bodies that rest on
//!   each other are in [`mechanics`]. [`event_driven::EventDriven`] runs them without friction
//!   between impacts; [`event_driven::Timeline`], [`variational::Variational`] and
//!   [`compliant::Compliant`] have it.)
//! * Spikes of event functions, or of forces on bodies at rest, that are narrower than a hundredth
//!   of the run, unless a time scale is stated ([`EventFunction::time_scale`],
//!   [`Flow::flow_time_scale`], [`mechanics::MechanicalSystem::time_scale`]). A touch without
//!   crossing is no event.
//! * Guards whose rates at crossings differ by more than a million within a run: slow ones are
//!   refused as grazing, unless [`EventFunction::min_rate`] is stated.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used)
)]

pub mod bodies;
pub mod compliant;
pub mod derivative;
mod error;
pub mod event_driven;
pub mod hybrid;
pub mod impact;
mod input;
mod interrupt;
pub mod lcp;
mod linalg;
mod matrix_fault;
pub mod mechanics;
pub mod models;
pub mod ode;
pub mod prelude;
mod quantity;
mod random;
mod validate;
pub mod variational;

pub use compliant::Compliant;
pub use derivative::{
    Derivative, DerivativeReport, NoDerivative, Sensitivities, Verdict, check_derivatives,
};
#[cfg(feature = "dual")]
pub use derivative::{Dual, SmoothEvents, SmoothFlow};
pub use error::Error;
pub use event_driven::EventDriven;
pub use input::InputError;
pub use interrupt::Interrupt;
pub use matrix_fault::MatrixFault;
pub use mechanics::ContactModel;
/// The version of nalgebra whose vectors and matrices this crate returns.
pub use nalgebra;
pub use quantity::Quantity;
pub use variational::Variational;

pub use hybrid::{
    Arrival, At, Corner, Crossed, CrossedGuard, Crossing, Direction, Doubt, EventFunction, Flow,
    Guard, GuardCrossing, Integrator, Mode, ModeChange, ModelError, Observer, PerEntry, Projection,
    Rearm, RearmMatrix, Record, Resolution, RowConflict, Segment, Start, Statistics, Status, Stop,
    Summary, Trajectory, Transition, Watch, flow_fn,
};

/// The code in the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
