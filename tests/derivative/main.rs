//! Derivatives through corners: the examples of the specification, random corners against exact
//! arithmetic, resets, verdicts. `kit` and `exact` are of use to others too: random corners with
//! their exact derivatives.
#![allow(missing_docs, reason = "tests")]

mod answers;
mod clocks;
mod courses;
mod crowded;
mod differences;
mod directions;
mod draw;
mod edges;
mod exact;
mod examples;
mod faces;
mod forgetting;
mod forwarding;
mod kinds;
mod kit;
mod landings;
mod large;
mod limits;
mod memory;
mod moving_table;
mod one_transition;
mod oracle;
mod pieces;
mod possible;
mod resets;
mod reuse;
mod scales;
#[path = "../common/sketch.rs"]
mod sketch;
mod spread;
mod support;
mod verdicts;
mod work;
