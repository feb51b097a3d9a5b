//! Event-selected systems: what the core promises, one phenomenon a module, in one binary because
//! each links nalgebra anew.

mod affine_order;
mod bad_input;
mod between;
mod campaign;
mod cubic_flows;
mod cuts;
mod domains;
mod doubts;
mod endings;
mod fixtures;
mod flags;
mod fuzzed;
mod grazing;
mod hidden;
mod hopper_exact;
mod humps;
mod located;
mod matrix;
mod mid_run;
mod moving_guards;
mod observers;
mod planes;
mod plate_reference;
mod properties;
mod random_corners;
mod rearm;
mod resets;
mod resolution;
mod scales;
mod starts;
mod turned;
mod turned_ends;
mod unwritten;
mod watch;
mod zeno;
