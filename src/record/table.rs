//! States of a run at chosen times, as numbers and as text.

use std::io::{self, Write};

use nalgebra::DMatrix;

use crate::model::Mode;

/// States of a run at chosen times.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Table {
    /// The times (s).
    pub times: Vec<f64>,
    /// The states, one column a time.
    pub states: DMatrix<f64>,
    /// The modes.
    pub modes: Vec<Mode>,
    columns: Columns,
}

impl Table {
    /// Without times yet, with room for so many.
    pub(crate) fn new(columns: Columns, count: usize) -> Self {
        Self {
            times: Vec::with_capacity(count),
            states: DMatrix::zeros(columns.dim, count),
            modes: Vec::with_capacity(count),
            columns,
        }
    }

    /// Writes comma-separated values, with a head line: `t`, then the state (`x0`, `x1`, …, or
    /// `q0`, …, `v0`, … of bodies), then the mode: side bits `0` and `1` and flags
    /// (`mode`), or the numbers of the closed contacts, separated by blanks (`closed`). Numbers
    /// have all their digits.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn write_csv(&self, mut out: impl Write) -> io::Result<()> {
        self.columns.write_head(&mut out)?;
        let rows = self.times.iter().zip(self.states.column_iter());
        for ((&t, state), mode) in rows.zip(&self.modes) {
            self.columns.write_row(&mut out, t, state.iter(), mode)?;
        }
        Ok(())
    }
}

/// Meaning of the columns of a table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Columns {
    /// Entries of a state.
    pub(crate) dim: usize,
    /// The number of them that are coordinates of bodies.
    pub(crate) coordinates: Option<usize>,
}

impl Columns {
    pub(crate) fn write_head(self, out: &mut impl Write) -> io::Result<()> {
        out.write_all(b"t")?;
        for i in 0..self.dim {
            match self.coordinates {
                None => write!(out, ",x{i}")?,
                Some(n) if i < n => write!(out, ",q{i}")?,
                Some(n) => write!(out, ",v{}", i - n)?,
            }
        }
        let last = self.coordinates.map_or("mode", |_| "closed");
        writeln!(out, ",{last}")
    }

    pub(crate) fn write_row<'a>(
        self,
        out: &mut impl Write,
        t: f64,
        state: impl Iterator<Item = &'a f64>,
        mode: &Mode,
    ) -> io::Result<()> {
        write!(out, "{t:?}")?;
        for x in state {
            write!(out, ",{x:?}")?;
        }
        if self.coordinates.is_none() {
            return writeln!(out, ",{mode}");
        }
        for (i, contact) in mode.flags().enumerate() {
            let before = if i == 0 { "," } else { " " };
            write!(out, "{before}{contact}")?;
        }
        let empty = if mode.flags().next().is_none() {
            ","
        } else {
            ""
        };
        writeln!(out, "{empty}")
    }
}
