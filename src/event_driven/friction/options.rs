//! The settings of a run with time as a state, read beside the model.

use crate::{Interrupt, PerEntry};

/// Settings of a [`Timeline`](super::Timeline); its methods say what they mean.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) rtol: PerEntry,
    pub(super) atol: PerEntry,
    pub(super) max_step: f64,
    pub(super) max_events: usize,
    pub(super) max_steps: usize,
    pub(super) max_memory: usize,
    pub(super) zeno_tolerance: f64,
    pub(super) interrupt: Interrupt,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rtol: PerEntry::Same(1e-8),
            atol: PerEntry::Same(1e-11),
            max_step: f64::INFINITY,
            max_events: 100_000,
            max_steps: 10_000_000,
            max_memory: 1 << 30,
            zeno_tolerance: 1e-10,
            interrupt: Interrupt::new(),
        }
    }
}
