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
mod dropped;
mod event_exact;
mod exact_planar;
mod extremes;
mod mirrored;
mod models;
mod inclusion;
mod modes;
#[path = "../common/extremes.rs"]
mod numbers;
mod properties;
#[path = "../common/random.rs"]
mod random_bits;
mod rational;
mod reachable;
mod reference;
mod restitution;
mod routh;
mod sampler;
mod space;
mod steps;
mod stick_slip;
mod support;
mod timeline;
mod three_contacts;
mod uneven_rows;
