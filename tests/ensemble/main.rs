//! Ensembles: any split and any threads give the same rows; tables that are whole or not there; statistics
//! that merge; bad input.

#[allow(dead_code, reason = "each of those who share it takes what it needs")]
#[path = "../common/allocations.rs"]
mod allocations;
mod fixtures;
mod folders;
mod loops;
mod statistics;
mod tables;
