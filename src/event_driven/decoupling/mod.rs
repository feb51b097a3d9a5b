//! The test whether a model is decoupled where contacts close at once (Pace & Burden, assumption 3
//! and theorem 1).
//!
//! * `report`: the outcomes of contacts that close at once, and whether they vary differentiably.
//! * `orders`: the outcomes of all orders in which they can close; `subsystems`: limbs in the given
//!   coordinates.

mod orders;
mod report;
mod subsystems;

pub use orders::OrderOutcome;
pub use report::{ContinuityClass, DecouplingReport, InertialCoupling};
