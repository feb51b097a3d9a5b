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
mod cone;
#[path = "../common/contacts.rs"]
#[allow(dead_code, reason = "each test binary uses a part")]
mod contacts;
mod event_exact;
mod exact_planar;
mod modes;
#[path = "../common/random.rs"]
mod random_bits;
mod reachable;
mod reference;
mod routh;
mod sampler;
mod steps;
mod support;
