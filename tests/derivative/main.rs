//! Derivatives through corners: the examples of the specification, properties, verdicts.
#![allow(missing_docs, reason = "tests")]

mod edges;
mod examples;
mod moving_table;
mod resets;
#[path = "../common/sketch.rs"]
mod sketch;
mod verdicts;
