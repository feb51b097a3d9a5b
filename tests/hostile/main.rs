//! Models that lie, numbers that are none, and interrupts: nothing panics, and nothing goes on.
#![allow(missing_docs, reason = "tests")]

mod interrupts;
mod numbers;
mod panics;
mod sizes;
