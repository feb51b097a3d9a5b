//! The record of a derivative: the chain of maps and corners so far, and what is under way.

use nalgebra::{DMatrix, DVector};

use crate::derivative::Verdict;
use crate::derivative::chain_rule::{Chain, Shift};
use crate::derivative::context::Context;
use crate::derivative::corner::bouligand::CornerDerivative;
use crate::derivative::corner::explorer::Explorer;
use crate::derivative::corner::follow::Lone;
use crate::derivative::corner::group::Group;
use crate::derivative::corner::possible::CloseGuards;
use crate::derivative::defect::RunError;
use crate::derivative::variational::Columns;
use crate::hybrid::options::Settings;
use crate::linalg::multiply_from_left;
use crate::{Guard, Mode, NoDerivative};

/// Limit of the states of a run whose derivative is recorded.
const MOST_STATES: usize = 8192;
/// Matrices of the workspace.
const MATRICES: usize = 16;

/// Memory of the workspace for `dim` states (bytes).
fn workspace(dim: usize) -> usize {
    let entries = dim.saturating_mul(dim).saturating_mul(MATRICES);
    entries.saturating_mul(size_of::<f64>())
}

/// Refuses more states than `max_memory` allows, or than 8192.
pub(crate) fn check_size(states: usize, max_memory: usize) -> Result<(), NoDerivative> {
    let (bytes, limit) = (workspace(states), max_memory.min(workspace(MOST_STATES)));
    if bytes <= limit {
        return Ok(());
    }
    Err(NoDerivative::DerivativeTooLarge {
        states,
        bytes,
        limit,
    })
}

/// Corners that the run may have met, within its errors.
#[derive(Debug, Default)]
pub(crate) struct Possible {
    /// The last one that would change the derivative.
    pub(crate) corner: Option<Box<CornerDerivative>>,
    /// Guards of the last one that was examined, and the time of its last crossing (s).
    pub(super) seen: Vec<Guard>,
    pub(super) until: Option<f64>,
}

/// The observer that records a derivative.
pub(crate) struct Recorder<'a> {
    pub(crate) context: Context<'a>,
    pub(super) settings: &'a Settings,
    pub(super) columns: Columns,
    pub(super) error: RunError,
    pub(super) explorer: Explorer,
    pub(super) group: Group,
    pub(super) close: CloseGuards,
    pub(super) lone: Lone,
    /// Map from the last link to the crossings of the group.
    pub(super) total: DMatrix<f64>,
    /// Map from the start to the last link, where orders are compared on what reaches a corner.
    pub(super) reached: Option<DMatrix<f64>>,
    /// Bound of the error of the state at the crossings.
    pub(super) bound: Vec<f64>,
    /// Scratch for products.
    pub(super) product: Vec<f64>,
    /// Guards reported since the group opened.
    pub(super) waiting: Vec<Guard>,
    /// Guards of which the error of the run hides whether they are crossed before its end.
    pub(super) at_end: Vec<Guard>,
    /// Guards that may have been met before another one, and when.
    pub(super) in_doubt: Vec<(Guard, f64)>,
    pub(super) mode: Mode,
    pub(super) t0: f64,
    pub(crate) chain: Chain,
    /// Bytes of the workspace, and of what is kept.
    pub(super) kept: usize,
    pub(crate) verdict: Verdict,
    pub(crate) possible: Possible,
    /// The reason for which there is no derivative from here on.
    pub(crate) failure: Option<NoDerivative>,
}

impl<'a> Recorder<'a> {
    /// For `dim` states and modes like this one; displacements are first carried by the map `onto`.
    pub(crate) fn new(
        context: Context<'a>,
        settings: &'a Settings,
        (dim, mode): (usize, Mode),
        onto: Option<DMatrix<f64>>,
    ) -> Self {
        Self {
            context,
            settings,
            columns: Columns::new(dim, dim),
            error: RunError::new(dim),
            explorer: Explorer::new(dim, &mode),
            group: Group::new(dim, &mode),
            close: CloseGuards::new(dim, &mode),
            lone: Lone::new(dim, &mode),
            reached: onto.as_ref().map(|_| DMatrix::identity(dim, dim)),
            total: onto.unwrap_or_else(|| DMatrix::identity(dim, dim)),
            bound: vec![0.0; dim],
            product: vec![0.0; dim],
            waiting: Vec::new(),
            at_end: Vec::new(),
            in_doubt: Vec::new(),
            mode,
            t0: f64::NAN,
            chain: Chain::default(),
            kept: workspace(dim),
            verdict: Verdict::Classical,
            possible: Possible::default(),
            failure: None,
        }
    }

    /// Multiplies the map since the last crossing into the total.
    pub(super) fn collect(&mut self) {
        let total = self.total.as_mut_slice();
        multiply_from_left(&self.columns.delta, total, &mut self.product);
        self.error.collect(&self.columns.delta, &mut self.product);
        self.columns.set_identity();
    }

    /// Keeps how the crossings of the group shift.
    pub(super) fn keep_shifts(&mut self, row: DVector<f64>) {
        self.kept += self.waiting.len() * (size_of::<Shift>() + row.len() * size_of::<f64>());
        self.chain.push_shifts(row, self.waiting.len());
        self.waiting.clear();
    }

    pub(super) fn fail(&mut self, error: NoDerivative) {
        self.verdict.worsen(Verdict::NotGuaranteed(error.clone()));
        self.failure.get_or_insert(error);
    }

    pub(super) fn is_full(&self) -> bool {
        self.kept > self.settings.limits.max_memory
    }
}
