//! Inelastic impacts with friction: the reference of the set-valued impact specification, and its
//! properties on random problems.
#![allow(missing_docs, reason = "tests")]
#![allow(
    clippy::float_cmp,
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    reason = "small whole numbers, exactly"
)]

mod agreement;
mod bounds;
mod branches;
mod closing;
mod comparison;
mod compliant;
mod cone;
#[path = "../common/contacts.rs"]
#[allow(dead_code, reason = "each test binary uses a part")]
mod contacts;
mod dependent;
mod dropped;
mod event_exact;
mod exact_planar;
mod extremes;
mod fixtures;
mod inclusion;
mod mirrored;
mod models;
mod modes;
#[path = "../common/extremes.rs"]
mod numbers;
mod properties;
#[path = "../common/random.rs"]
mod random_bits;
mod rational;
mod reachable;
mod restitution;
mod routh;
mod rows;
mod sampler;
mod space;
mod statistics;
mod steps;
mod stepwise;
mod stick_slip;
mod three_contacts;
mod timeline;
mod uneven_rows;
mod velocities;

use fixtures::{reference, support};
