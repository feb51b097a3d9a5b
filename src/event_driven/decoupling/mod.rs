//! "Is my model decoupled here?" (Pace & Burden, assumption 3 and theorem 1).
//!
//! * `report`: what is known of contacts that close at once.
//! * `orders`: the outcomes of all orders in which they can close; `subsystems`: limbs in the given
//!   coordinates.

mod orders;
mod report;
mod subsystems;

pub use orders::OrderOutcome;
pub use report::{ContinuityClass, DecouplingReport, InertialCoupling};
