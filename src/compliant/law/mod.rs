//! Impulses of contacts and of further terms as functions of their velocities (Castro et al.,
//! sections III-B and V-A).
//!
//! * `values`: the numbers of a law, and what it gives; `contact`: the law of a contact with the
//!   cone of friction; `coulomb`: with a bound of friction that the solver finds; `moments`: its spinning and
//!   rolling friction; `lagged`: with the friction bound of the step before.
//! * `row`: the law of all further terms.

mod contact;
mod coulomb;
mod lagged;
mod moments;
mod row;
mod values;

pub use row::RowLaw;
pub use values::{ContactLaw, ContactPoint, Region};
pub(crate) use values::{Curvature, Friction, Hardening, ImpulseRates, MomentRates};
