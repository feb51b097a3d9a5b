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

    /// A file or a folder could not be read or written.
    #[error("{path}: {reason}")]
    File {
        /// The file or the folder.
        path: String,
        /// The reason of the system.
        reason: String,
    },

    /// A part is not whole: truncated, or no part at all.
    #[error("{path} is not a whole part of an ensemble: {reason}")]
    Broken {
        /// The file.
        path: String,
        /// The fault.
        reason: String,
    },

    /// A part was made with another seed, version, model, options or columns.
    #[error("{path} is a part of another ensemble: its {what} is {found}, not {expected}")]
    Foreign {
        /// The file.
        path: String,
        /// The part of the provenance that differs: `seed`, `version`, `model`, `columns` or `hash`.
        what: &'static str,
        /// Its value in the part.
        found: String,
        /// Its value in the ensemble, or in the part before.
        expected: String,
    },

    /// Two parts have rows in common, or rows that are added do not follow those before them.
    #[error(
        "{path} has rows from {start} on, and those before {next} are there already or missing"
    )]
    OutOfOrder {
        /// The file.
        path: String,
        /// Its first index.
        start: u64,
        /// The index that was to come.
        next: u64,
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
        move |error| Self::File {
            path: path.display().to_string(),
            reason: error.to_string(),
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
