//! Inelastic impacts with friction: the exact planar set and the samplers, against the reference
//! file, closed forms and independent references.
#![allow(missing_docs, reason = "tests")]
#![allow(clippy::float_cmp, reason = "exact equality is what is promised")]

mod exact_planar;
#[path = "../common/random.rs"]
mod random_bits;
mod support;
