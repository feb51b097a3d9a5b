//! The settings of a run with time as a state, read beside the model.

use crate::PerEntry;
use crate::record::Limits;

/// Settings of a [`Timeline`](super::Timeline); its methods say what they mean.
#[derive(Clone, Debug)]
pub(super) struct Options {
    pub(super) rtol: PerEntry,
    pub(super) atol: PerEntry,
    pub(super) max_step: f64,
    pub(super) limits: Limits,
    pub(super) zeno_tolerance: f64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            rtol: PerEntry::Same(1e-8),
            atol: PerEntry::Same(1e-11),
            max_step: f64::INFINITY,
            limits: Limits::default(),
            zeno_tolerance: 1e-10,
        }
    }
}
