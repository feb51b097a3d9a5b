//! Derivatives through corners: the examples of the specification, random corners against exact
//! arithmetic, resets, verdicts.
#![allow(missing_docs, reason = "tests")]

mod almost_one_instant;
mod between_pieces;
mod bounds_of_memory;
mod bounds_of_work;
mod careful_corners;
mod carried_along;
mod columns_at_rest;
mod differences;
mod directions;
mod ends_on_guards;
mod examples_of_the_specification;
mod feet_of_closures;
mod fine_scales;
mod fixtures;
mod forwarding;
mod guards_of_time;
mod kinds_of_verdicts;
mod late_starts;
mod level_rods;
mod many_guards;
mod more_guards_than_dimensions;
mod moving_table;
mod one_transition;
mod oracle;
mod own_guard;
mod parameters_of_contacts;
mod parameters_of_feet;
mod pieces;
mod possible_corners;
mod reset_corners;
mod resets;
mod resets_that_forget;
mod reused_workspace;
mod several_corners;
#[path = "../common/sketch.rs"]
mod sketch;
mod slow_guards;
mod small_parameters;
mod stale_guards;
mod thin_cones;
mod verdicts;
mod ways_of_asking;
