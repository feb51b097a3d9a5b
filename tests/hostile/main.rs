//! Models that lie, numbers that are none, and interrupts: nothing panics, and nothing goes on.
#![allow(missing_docs, reason = "tests")]

#[path = "../common/interrupted.rs"]
mod interrupted;
mod interrupts;
#[path = "../common/listed.rs"]
mod listed;
mod numbers;
mod panics;
mod sizes;
