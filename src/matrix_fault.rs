//! Faults of a matrix that a user passes, of which errors and the impact laws speak.

/// A fault of a matrix.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MatrixFault {
    /// Rows and columns differ in number.
    #[error("has {rows} rows and {columns} columns: it must be square")]
    NotSquare {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
    },
    /// An entry is NaN or infinite.
    #[error("is not finite: entry ({row}, {column}) is {value}")]
    NotFinite {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// Two entries that should be equal differ by more than rounding.
    #[error("is not symmetric: entries ({row}, {column}) and ({column}, {row}) differ by {by:e}")]
    NotSymmetric {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
        /// Their difference.
        by: f64,
    },
    /// A diagonal entry, or an eigenvalue of the matrix scaled to a unit diagonal, is too small.
    #[error(
        "is not positive: a diagonal entry, or an eigenvalue with the diagonal scaled to 1, is {value:e}"
    )]
    NotPositive {
        /// The offending value.
        value: f64,
    },
    /// An entry of velocities that are driven is not that of an identity.
    #[error(
        "has {value} at ({row}, {column}): a driven velocity has a mass of 1 and is coupled with none"
    )]
    Driven {
        /// Row.
        row: usize,
        /// Column.
        column: usize,
        /// The entry.
        value: f64,
    },
}
