//! What all drivers have in common.
#![allow(missing_docs, reason = "tests")]
#![allow(clippy::float_cmp, reason = "the same bits")]

#[path = "../common/random.rs"]
mod random;

mod at_late_times;
mod balance;
mod changed_systems;
mod cut_and_resumed;
mod cut_by_events;
mod doors;
mod efforts;
mod fixtures;
mod found;
mod interrupted;
mod limits;
mod one_face;
mod own_laws;
mod tables;
mod turns;
