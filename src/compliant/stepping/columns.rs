//! Memory for derivatives of steps.

use nalgebra::DMatrix;

use super::motion::FreeMotion;
use crate::InputError;
use crate::compliant::{Problem, SolutionVariation, Variation};
use crate::mechanics::Contacts;

/// Memory of derivatives.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    pub(super) motion: FreeMotion,
    pub(super) contacts: Contacts,
    pub(super) listed: Vec<usize>,
    pub(super) low: Problem,
    pub(super) high: Problem,
    /// Speeds at which contacts rebound in these.
    pub(super) targets: [Vec<f64>; 2],
    pub(super) variation: Variation,
    pub(super) found: SolutionVariation,
    /// The change of `v*` by that of the solution.
    pub(super) back: Vec<f64>,
    /// `v*`, kept while those beside it are found.
    pub(super) free: [Vec<f64>; 3],
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
    pub(super) applied: Vec<f64>,
    pub(super) end_v: Vec<f64>,
    pub(super) end_q: [Vec<f64>; 2],
    /// The columns at the end of the step.
    pub(super) next: DMatrix<f64>,
}

impl Columns {
    pub(super) fn new(dt: f64) -> Result<Self, InputError> {
        Ok(Self {
            motion: FreeMotion::default(),
            contacts: Contacts::new(),
            listed: Vec::new(),
            low: Problem::new(dt)?,
            high: Problem::new(dt)?,
            targets: [Vec::new(), Vec::new()],
            variation: Variation::default(),
            found: SolutionVariation::default(),
            back: Vec::new(),
            free: [Vec::new(), Vec::new(), Vec::new()],
            q: Vec::new(),
            v: Vec::new(),
            applied: Vec::new(),
            end_v: Vec::new(),
            end_q: [Vec::new(), Vec::new()],
            next: DMatrix::zeros(0, 0),
        })
    }
}
