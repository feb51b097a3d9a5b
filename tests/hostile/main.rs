//! Models that lie, numbers that are none, and interrupts: nothing panics, and nothing goes on.
#![allow(missing_docs, reason = "tests")]

mod changing_sizes;
#[path = "../common/interrupted.rs"]
mod interrupted;
mod interrupts;
mod joints;
#[path = "../common/listed.rs"]
mod listed;
mod not_finite;
mod panics;
