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
//! assert!((run.state_at(0.451523640985731)?[0] - 1.0).abs() < 1e-6); // touch-down, from the dense output
//! # Ok::<(), saltation::Error>(())
//! ```
//!
//! # Model, driver, run
//!
//! A **model** says what the world is: [`Flow`] and [`EventFunction`], or bodies that touch
//! ([`mechanics::MechanicalSystem`], [`mechanics::UnilateralConstraints`]), which a
//! [`ContactModel`] joins with the law of their impacts. A **driver** says how time goes. A
//! [`Run`] is what happened, the same for all of them: its states at any time
//! ([`Run::state_at`], [`Run::every`]), its events by guard and by contact (of a [`bodies::Scene`]
//! in [`Compliant`], whose contacts come and go, none), its doubts, a table
//! ([`Run::write_csv`]), a page to look at ([`Page`]), where a later run goes on ([`Run::end`]).
//!
//! | the system | driver | takes | contacts | friction | restitution | derivative |
//! |---|---|---|---|---|---|---|
//! | `x' = f(t, x; mode)` with guards: soft legs, relays, neurons | [`Integrator`] | [`Flow`] and [`EventFunction`] | many guards at one instant, by projection | as the model writes it | by resets | whole, with a verdict, through corners |
//! | rigid bodies, impacts exact in time | [`EventDriven`] | [`ContactModel`] | rebound, rest, stick and slip; accumulations summed with a bound of the error; the impact law is a choice | Coulomb, static above kinetic or by a law of speed and place, in the plane up to a hundred contacts that touch, in space five; surfaces that move | by the law | as above, by differences where contacts rub |
//! | rigid bodies over long times, where energy is to stay bounded; fixed rates | [`Variational`] | [`ContactModel`] with `q̇ = v` | impacts within steps, rest | Coulomb, one coefficient a contact, in space too; surfaces at rest | by the law | of runs with single impacts that rebound |
//! | rubber feet, piles, control loops: hundreds of contacts | [`Compliant`] | [`ContactModel`], of which it reads no law, or contacts found by geometry ([`bodies::Scene`]) | springs and dampers, soft or nearly rigid | Coulomb, one coefficient a contact, with a small creep; spinning and rolling friction; surfaces at rest | Newton's, all contacts of a blow at once | of the steps as they are made |
//!
//! What a driver or law cannot honour is refused by name when a run starts, or where such a contact of a scene first
//! comes near, unless you say that it does not matter ([`ContactModel::frictionless`], [`Compliant::inelastic`]).
//!
//! Each starts from a [`Start`] and has the same verbs, which the trait [`Driver`] holds: `integrate`
//! keeps everything, `observe` reports to an [`Observer`] and keeps nothing, `derivative` says how the
//! end depends on the start, `live` runs in parts with an effort for each, for controllers, and can be
//! saved and resumed ([`Live`]).
//!
//! ```
//! use saltation::models::BouncingBall;
//! use saltation::{Compliant, ContactModel, EventDriven, Start, Variational};
//!
//! let model = ContactModel::new(BouncingBall { restitution: 0.0, ..Default::default() });
//! let start = Start::at(0.0).q(&[1.0]).v(&[0.0]);
//! let exact = EventDriven::new(model.clone())?.rtol(1e-9).integrate(&start, 0.6)?.completed()?;
//! let stepped = Variational::new(model.clone())?.time_step(1e-2).integrate(&start, 0.6)?;
//! let soft = Compliant::new(model)?.time_step(1e-3).integrate(&start, 0.6)?;
//! for run in [&exact, &stepped, &soft] {
//!     assert!((run.events()[0].t - 0.4515).abs() < 2e-3); // lands
//!     assert_eq!(run.phases().pop().map(|last| last.closed), Some(vec![0])); // and stays
//! }
//! # Ok::<(), saltation::Error>(())
//! ```
//!
//! Many runs: an [`ensemble::Ensemble`] makes one driver a thread, and a table with a row for each run,
//! in memory or in files. Drivers are `Send` where the model is, share nothing, and reuse their memory.
//!
//! Programs of thirty lines to copy, one idea each (a control loop, an observer that stops a run, a
//! gradient step, many starts on several threads), are in `examples/quick` of the repository.
//!
//! # Modules
//!
//! * [`model`]: traits that the user of the core writes, and their types; [`record`]: start, events,
//!   observers and the run, the same for all drivers; [`driver`]: the trait of all drivers.
//! * [`ensemble`]: many runs as rows of a table, each a function of its index ([`ensemble::Ensemble`]),
//!   in parts on disk, with statistics that merge.
//! * [`hybrid`]: the core, with its smooth and its crossing phase ([`Integrator`]); [`ode`]: the
//!   stepper under it, of Tsitouras, without guards.
//! * [`derivative`]: how a run depends on its start ([`Derivative`], [`Sensitivities`],
//!   [`Verdict`]); derivatives of `f`, `h` and resets at a point, and the check of those a user
//!   wrote.
//! * [`mechanics`]: bodies that touch: masses, forces, gaps, and the [`ContactModel`].
//! * [`event_driven`]: bodies carried through impacts and rest, from event to event
//!   ([`EventDriven`]), with friction in the plane and in space; time as a state
//!   ([`event_driven::Arclength`]).
//! * [`variational`]: the same bodies in steps of one length by the midpoint rule, with impacts
//!   inside the steps ([`Variational`]).
//! * [`compliant`]: bodies in implicit steps of one length, with hundreds of compliant contacts with
//!   Coulomb's friction ([`Compliant`]), and derivatives of rollouts.
//! * [`bodies`]: rigid bodies with shapes as a mechanical system ([`bodies::Scene`]): spheres, boxes,
//!   capsules, cylinders, cones, planes, and the contacts between them.
//! * [`impact`]: velocities before and after, when several contacts close at once: laws that return
//!   sets of outcomes.
//! * [`lcp`]: linear complementarity problems ([`lcp::LcpSolver`]), for rigid contacts and on
//!   their own.
//! * [`page`]: a run to look at ([`Page`]): one HTML page with a scene, events, contact forces, plots.
//! * [`models`]: hopper, plate on springs, and others, with closed forms where there are any.
//!
//! The names that almost every program needs are in [`prelude`].
//!
//! # Features
//!
//! By default all rooms are there. A program that needs few of them compiles in less time without
//! (`default-features = false`) and with the highest floor that it needs, which has all below it:
//!
//! * none: the hybrid core ([`Integrator`] and its runs).
//! * `derivative`: [`derivative`] and [`driver`].
//! * `mechanics`: [`mechanics`], [`impact`], [`lcp`], [`event_driven`], [`variational`].
//! * `compliant`: [`compliant`] and [`bodies`].
//! * `models`: [`models`].
//!
//! These are off by default:
//!
//! * `dual`: exact derivatives of models that are written once for any scalar (`Dual`).
//! * `parallel`: ensembles, samples of impacts, and islands of compliant contacts, on several threads
//!   (`ensemble::Ensemble::threads`, `impact::Sampler::threads`, `compliant::Solver::threads`).
//! * `arrow`: rows of ensembles as Arrow tables and Parquet files; 28 more crates.
//! * `quantiles`: quantiles of ensembles by a sketch that merges (`ensemble::Quantiles`).
//! * `parry`: bodies with the shapes of [parry](https://docs.rs/parry3d-f64): hulls, meshes, compounds
//!   (`bodies::Shape::parry`); two dozen more crates.
//! * `serde`: scenes and the state of compliant runs as documents of any format of
//!   [serde](https://serde.rs) (`bodies::Scene`, `compliant::Checkpoint`).
//! * `sobol`: bounds of these samples by Sobol's sequence (`impact::BoundLaw::Sobol`).
//!
//! # What is guaranteed
//!
//! For an event-selected system (every guard live in every mode near its surface) all crossings are
//! found and reported in order, guards at one instant (to rounding, which is least where the
//! gradient is written) cross together, and the final state does not depend on the numbering of the
//! guards. Event functions may oscillate within a step: what can hide between samples is said at
//! [`Resolution`]. A decision that the errors of a run might reverse is a [`Doubt`], and
//! [`Run::is_guaranteed`] is false then. [`Projection::Auto`] keeps the tolerance of the
//! smooth phase. The same input gives the same bits. A run that ends early says why and keeps what
//! it has.
//!
//! A derivative is that of the run's limit, direction by direction, wherever its verdict is not
//! [`Verdict::NotGuaranteed`]; a matrix is given only where there is a single one.
//!
//! # When something goes wrong
//!
//! Bad input is refused before any work begins, with an [`InputError`]. A failure during a run ends it
//! with [`Status::Refused`] and a [`Stop`], which says where, and the run keeps all that was computed;
//! [`Run::completed`] makes an error of it, for `?`. A reset may refuse with a reason of its own
//! ([`Stop::model`]). Each module has one error of its own beside these, which [`Status::reason`] gives back:
//! [`ensemble::EnsembleFailure`], [`NoDerivative`],
//! [`event_driven::Breakdown`], [`variational::VariationalFailure`], [`compliant::CompliantFailure`],
//! [`impact::ImpactFailure`], [`lcp::LcpFailure`]. [`Error`] takes all of them, for `?`.
//!
//! # When not to use it
//!
//! * Stiff right-hand sides: the stepper is explicit.
//! * Sliding modes: a guard that is not live is refused, not slid along. (Rigid bodies that rest on
//!   each other, and stick and slip with friction, are in [`mechanics`].)
//! * Spikes of event functions, or of forces on bodies at rest, that are narrower than a hundredth
//!   of the run, unless a time scale is stated ([`EventFunction::time_scale`],
//!   [`Flow::flow_time_scale`], [`mechanics::MechanicalSystem::time_scale`]). A touch without
//!   crossing is no event.
//! * Pulses of `f` that a clock makes while some of the state moves: a step may pass over one of up to two fifths of
//!   the run, in silence, unless [`Flow::flow_time_scale`] is stated.
//! * Guards whose rates at crossings differ by more than a million within a run: slow ones are
//!   refused as grazing, unless [`EventFunction::min_rate`] is stated.
#![forbid(unsafe_code)]
#![cfg_attr(
    not(feature = "models"),
    allow(
        dead_code,
        unused_imports,
        reason = "the floors serve rooms that are not there"
    )
)]
#![cfg_attr(
    not(test),
    warn(clippy::disallowed_methods, clippy::print_stdout, clippy::unwrap_used)
)]

#[cfg(feature = "compliant")]
pub mod bodies;
#[cfg(feature = "compliant")]
pub mod compliant;
#[cfg(feature = "derivative")]
pub mod derivative;
#[cfg(feature = "derivative")]
pub mod driver;
pub mod ensemble;
mod error;
#[cfg(feature = "mechanics")]
pub mod event_driven;
pub mod hybrid;
#[cfg(feature = "mechanics")]
pub mod impact;
mod input;
mod interrupt;
#[cfg(feature = "mechanics")]
pub mod lcp;
mod linalg;
mod matrix_fault;
#[cfg(feature = "mechanics")]
pub mod mechanics;
pub mod model;
#[cfg(feature = "models")]
pub mod models;
pub mod ode;
pub mod page;
pub mod prelude;
mod quantity;
mod random;
pub mod record;
mod validate;
#[cfg(feature = "mechanics")]
pub mod variational;

#[cfg(feature = "compliant")]
pub use compliant::Compliant;
#[cfg(feature = "derivative")]
pub use derivative::{
    Derivative, DerivativeReport, NoDerivative, Sensitivities, Verdict, check_derivatives,
};
#[cfg(feature = "dual")]
pub use derivative::{Dual, SmoothEvents, SmoothFlow};
#[cfg(feature = "derivative")]
pub use driver::Driver;
pub use error::Error;
#[cfg(feature = "mechanics")]
pub use event_driven::EventDriven;
pub use input::InputError;
pub use interrupt::Interrupt;
pub use matrix_fault::MatrixFault;
#[cfg(feature = "mechanics")]
pub use mechanics::ContactModel;
/// The version of nalgebra whose vectors and matrices this crate returns.
pub use nalgebra;
pub use page::Page;
pub use quantity::Quantity;
#[cfg(feature = "mechanics")]
pub use variational::Variational;

pub use hybrid::{Integrator, Projection, Resolution};
pub use model::{
    At, Crossed, CrossedGuard, Crossing, Direction, Displacement, EventFunction, Flow, Guard, Mode,
    ModelError, Rearm, RearmMatrix, Record, RowConflict, Stop, Watch, flow_fn,
};
pub use record::{
    Arrival, ContactEvent, ContactEventKind, Corner, Doubt, GuardCrossing, Live, ModeChange,
    Observer, PerEntry, Phase, Run, Segment, Snapshot, Start, Statistics, Status, Summary, Table,
    Transition,
};

/// The code in the README is a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
