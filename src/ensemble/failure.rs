//! Reasons for which an ensemble cannot go on. (A run that fails is no reason: it is a row.)

use std::io;
use std::ops::Range;
use std::path::Path;

use crate::InputError;
use crate::interrupt::Interrupted;

/// The reason for which an ensemble, or a table of one, cannot go on.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EnsembleFailure {
    /// A range without indices, or one that ends before it starts.
    #[error("the range {start}..{end} has no indices")]
    EmptyRange {
        /// The first index.
        start: u64,
        /// The index behind the last.
        end: u64,
    },

    /// The numbers drawn for a row are too few, too many, or not finite.
    #[error("the draw of row {index}: {reason}")]
    Draw {
        /// The row.
        index: u64,
        /// The fault of the numbers.
        reason: InputError,
    },

    /// The driver of a thread could not be made.
    #[error("no run can begin: {reason}")]
    NoDriver {
        /// The error, as text.
        reason: String,
    },

    /// A column has no name, a name that a table cannot hold, or that of another column.
    #[error("{name:?} cannot be the name of a column: {rule}")]
    BadColumn {
        /// The name.
        name: String,
        /// The rule that it breaks.
        rule: &'static str,
    },

    /// The rows take more memory than is allowed.
    #[error("the rows of {start}..{end} take {bytes} bytes, {limit} are allowed: stream them")]
    TooLarge {
        /// The first index.
        start: u64,
        /// The index behind the last.
        end: u64,
        /// The bytes of the rows, reasons of failures apart.
        bytes: u64,
        /// The limit.
        limit: usize,
    },

    /// A file or a folder could not be read or written, or must not be.
    #[error("{path}: {reason}")]
    File {
        /// The file or the folder.
        path: String,
        /// The reason, in most cases that of the system.
        reason: String,
    },

    /// A part is not whole: truncated, or no part at all.
    #[error(
        "{path} is not a whole part of an ensemble: {reason}. If it was one, remove it, and its rows are made again"
    )]
    Broken {
        /// The file.
        path: String,
        /// The fault.
        reason: String,
    },

    /// A part was made with another seed, version, model, options or columns, or in another format than
    /// the new parts of its folder.
    #[error("{path} does not belong to this ensemble: its {what} is {found}, not {expected}")]
    Foreign {
        /// The file.
        path: String,
        /// The part that differs: `seed`, `version`, `model`, `columns`, `hash` or `format`.
        what: &'static str,
        /// Its value in the part.
        found: String,
        /// Its value in the ensemble, or in the part before.
        expected: String,
    },

    /// A row of a part, made again, is another, under the same words of
    /// [`Ensemble::about`](super::Ensemble::about).
    #[error(
        "row {index} of {path} is another when it is made again: its {column} is {found}, not {expected}. Draw, run or \
         options have changed, or the binary or its libm"
    )]
    Differs {
        /// The file.
        path: String,
        /// The row.
        index: u64,
        /// The first column that differs, or `status`.
        column: String,
        /// Its value in the part.
        found: String,
        /// Its value now.
        expected: String,
    },

    /// Two parts of a folder have rows in common.
    #[error("{path} and {other} both have the rows {start}..{end}: remove one of them")]
    Twice {
        /// The file that begins first.
        path: String,
        /// The other file.
        other: String,
        /// The first index in common.
        start: u64,
        /// The index behind the last.
        end: u64,
    },

    /// Rows between the parts of a folder are missing.
    #[error("rows {start}..{end} are missing in {path}")]
    Missing {
        /// The folder.
        path: String,
        /// The first index.
        start: u64,
        /// The index behind the last.
        end: u64,
    },

    /// A file is to be written, or continued, that has other rows already.
    #[error("{path} has the rows {found:?}, which are not the first of {expected:?}")]
    OtherRows {
        /// The file.
        path: String,
        /// The indices of its rows.
        found: Range<u64>,
        /// The indices that it is to have.
        expected: Range<u64>,
    },

    /// An [`Interrupt`](crate::Interrupt) was set. Rows that were made were handed over.
    #[error("interrupted")]
    Interrupted,

    /// Bad input.
    #[error(transparent)]
    Input(#[from] InputError),
}

impl EnsembleFailure {
    pub(in crate::ensemble) fn file(path: &Path) -> impl Fn(io::Error) -> Self {
        |error| Self::barred(path, error.to_string())
    }

    pub(in crate::ensemble) fn barred(path: &Path, reason: impl Into<String>) -> Self {
        Self::File {
            path: path.display().to_string(),
            reason: reason.into(),
        }
    }

    pub(in crate::ensemble) fn foreign(
        path: &Path,
        what: &'static str,
        found: String,
        expected: String,
    ) -> Self {
        Self::Foreign {
            path: path.display().to_string(),
            what,
            found,
            expected,
        }
    }

    pub(in crate::ensemble) fn broken(path: &Path, reason: impl Into<String>) -> Self {
        Self::Broken {
            path: path.display().to_string(),
            reason: reason.into(),
        }
    }
}

/// Refuses a range without indices.
pub(in crate::ensemble) fn check_range(range: &Range<u64>) -> Result<(), EnsembleFailure> {
    let &Range { start, end } = range;
    if start < end {
        return Ok(());
    }
    Err(EnsembleFailure::EmptyRange { start, end })
}

impl From<Interrupted> for EnsembleFailure {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}
