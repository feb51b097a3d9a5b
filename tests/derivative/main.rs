//! Derivatives through corners: the examples of the specification, random corners against exact
//! arithmetic, resets, verdicts.
#![allow(missing_docs, reason = "tests")]

mod answers;
mod clocks;
mod courses;
mod crowded;
mod differences;
mod directions;
mod edges;
mod examples;
mod faces;
mod fixtures;
mod forgetting;
mod forwarding;
mod kinds;
mod landings;
mod large;
mod limits;
mod memory;
mod moving_table;
mod one_transition;
mod oracle;
mod pieces;
mod possible;
mod reset_corners;
mod resets;
mod reuse;
mod scales;
#[path = "../common/sketch.rs"]
mod sketch;
mod slivers;
mod spread;
mod stale;
mod verdicts;
mod work;
