//! Time in a run: the limit of impacts that accumulate (`accumulation`), time as a state of a finished run
//! (`arclength`), and by how much changes of mode may be late (`lateness`).

pub(crate) mod accumulation;
pub(crate) mod arclength;
mod lateness;
