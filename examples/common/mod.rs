//! What all examples share: flags and exit codes, colours and the style of charts.

pub(crate) mod chart;
pub(crate) mod flags;
