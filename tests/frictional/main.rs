//! Inelastic impacts with friction: the reference of the set-valued impact specification, and its
//! properties on random problems.
#![allow(missing_docs, reason = "tests")]
#![allow(
    clippy::float_cmp,
    clippy::cast_sign_loss,
    clippy::cast_possible_truncation,
    reason = "small whole numbers, exactly"
)]

mod comparison;
mod compliant;
mod cone;
#[path = "../common/contacts.rs"]
#[allow(dead_code, reason = "each test binary uses a part")]
mod contacts;
mod event_exact;
mod exact_planar;
mod extremes;
mod models;
mod modes;
#[path = "../common/extremes.rs"]
mod numbers;
mod properties;
#[path = "../common/random.rs"]
mod random_bits;
mod reachable;
mod reference;
mod restitution;
mod routh;
mod sampler;
mod space;
mod steps;
mod support;
mod uneven_rows;
