//! Sets of outcomes of propagative impact (Seghete & Murphey, arXiv 1709.02296).
//!
//! * `reflections`: one reflection after another, and which contact is next.
//! * `all`, `minimal`: every outcome, and those that a word of least length reaches, kept in
//!   `momenta`.
//! * `uniqueness`: when there is one outcome, and how far several are apart; `interior`: when
//!   reflections end.

mod all;
pub(crate) mod interior;
mod minimal;
pub(crate) mod momenta;
mod reflections;
mod uniqueness;

pub use all::AllOutcomes;
pub use minimal::MinimalOutcomes;
pub use reflections::{ReflectionOrder, Reflections};
pub use uniqueness::{Uniqueness, indeterminacy, uniqueness};
