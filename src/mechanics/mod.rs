//! Mechanical systems subject to unilateral constraints: bodies that touch.
//!
//! Serves Pace & Burden, "Decoupled limbs yield differentiable trajectory outcomes" (arXiv 1609.04056), with its errors mended.
//! What the user writes: [`MechanicalSystem`], [`UnilateralConstraints`] (`system`), or once for any scalar (`dual`), compared with
//! differences by [`check_mechanics`] (`check`). What the core integrates: [`EventDriven`] (`event_driven`), its motion with closed
//! contacts (`motion`, from `dynamics` and `redundant`) and the derivative of that (`linearised`), its guards (`guards`), its start
//! (`start`), what an event does (`strike`) and the derivative of that (`reset`), which contacts stay closed (`settle`), the way
//! back to them after each step (`drift`), and what keeps these from being computed (`trouble`). Who runs it: [`Simulation`]
//! (`simulation`, `between`), with its journal (`journal`, `log`), what is not admissible (`admissible`) and accumulations of
//! impacts (`zeno`). Whether outcomes are smooth when contacts close at once: `decoupling`, with `orders` and `limbs`. `cholesky`
//! and `scratch`: small dense algebra that allocates nothing.

mod admissible;
mod between;
mod check;
mod decoupling;
mod drift;
#[cfg(feature = "dual")]
mod dual;
mod dynamics;
mod event_driven;
mod guards;
mod journal;
mod limbs;
mod linearised;
mod log;
mod motion;
mod orders;
mod redundant;
mod reset;
mod settle;
mod simulation;
mod start;
mod strike;
mod system;
mod trouble;
mod zeno;

pub use admissible::Grazing;
pub use check::check_mechanics;
pub use decoupling::{ContinuityClass, Coupling, DecouplingReport};
#[cfg(feature = "dual")]
pub use dual::{SmoothConstraints, SmoothMechanics};
pub use event_driven::EventDriven;
pub use log::{ContactEvent, ContactEventKind, ContactMode};
pub use motion::Multipliers;
pub use orders::OrderOutcome;
pub use redundant::Redundant;
pub use simulation::{MechanicalRun, Simulation};
pub use start::Start;
pub use system::{MechanicalSystem, UnilateralConstraints};
pub use zeno::Zeno;
