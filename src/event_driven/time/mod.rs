//! Time in a run: the limit of impacts that accumulate (`accumulation`), from rebounds too low to be resolved
//! too (`low_bounces`), time as a state of a finished run (`arclength`), and by how much changes of mode may be
//! late (`lateness`).

pub(crate) mod accumulation;
pub(crate) mod arclength;
mod lateness;
mod low_bounces;
