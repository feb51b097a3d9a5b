//! Rows of an ensemble: what was drawn, what was kept, and how the run ended.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::sweep::Numbered;
use crate::{Status, Stop};

/// The longest reason that is kept of a failure, in characters.
const LONGEST_REASON: usize = 400;

/// The end of a run, as a row keeps it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum RowEnd {
    /// It reached its final time.
    ReachedEnd,
    /// Guards that end a run were crossed.
    Stopped,
    /// Its observer asked for the end.
    Ended,
    /// It failed: the reason, in one line of at most 400 characters; one that was cut ends in `…`. What was kept is NaN where the
    /// run returned an error, and as it was written where it returned [`Status::Refused`].
    Failed(Box<str>),
}

impl RowEnd {
    pub(in crate::ensemble) fn of(status: &Status) -> Self {
        match status {
            Status::ReachedEnd => Self::ReachedEnd,
            Status::Stopped { .. } => Self::Stopped,
            Status::Ended => Self::Ended,
            Status::Refused(stop) => Self::failed(stop),
        }
    }

    pub(in crate::ensemble) fn failed(reason: &impl fmt::Display) -> Self {
        let line = reason.to_string();
        let mut line: String = line
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(LONGEST_REASON + 1)
            .collect();
        if let Some((cut, _)) = line.char_indices().nth(LONGEST_REASON) {
            line.truncate(cut);
            line.pop();
            line.push('…');
        }
        Self::Failed(line.into())
    }

    /// The end with this name, and the reason of a failure.
    pub(in crate::ensemble) fn read(name: &str, reason: &str) -> Option<Self> {
        let known = [Self::ReachedEnd, Self::Stopped, Self::Ended];
        match known.into_iter().find(|end| end.name() == name) {
            None if name == "failed" => Some(Self::failed(&reason)),
            Some(end) if reason.is_empty() => Some(end),
            _ => None,
        }
    }

    /// As it stands in tables: `reached_end`, `stopped`, `ended` or `failed`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::ReachedEnd => "reached_end",
            Self::Stopped => "stopped",
            Self::Ended => "ended",
            Self::Failed(_) => "failed",
        }
    }

    /// The reason of a failure; empty for any other end.
    pub fn reason(&self) -> &str {
        match self {
            Self::Failed(reason) => reason,
            Self::ReachedEnd | Self::Stopped | Self::Ended => "",
        }
    }
}

/// True for a run that was interrupted from outside: its row is made again.
pub(in crate::ensemble) fn is_interrupted(status: &Status) -> bool {
    matches!(status.stop(), Some(Stop::Interrupted))
}

/// Consecutive rows of an ensemble, in the order of their indices.
#[derive(Clone, Debug, PartialEq)]
pub struct Rows {
    pub(in crate::ensemble) numbered: Numbered<RowEnd>,
    columns: Arc<[String]>,
}

/// One row.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Row<'a> {
    /// Its index.
    pub index: u64,
    /// Drawn numbers, then kept ones.
    pub values: &'a [f64],
    /// The end of its run.
    pub end: &'a RowEnd,
}

impl Rows {
    pub(in crate::ensemble) fn new(first: u64, columns: Arc<[String]>) -> Self {
        let numbered = Numbered::new(first, columns.len());
        Self { numbered, columns }
    }

    /// The bytes of so many rows, reasons apart.
    pub(in crate::ensemble) fn bytes(count: u64, columns: usize) -> u64 {
        let row = size_of::<f64>() * columns + size_of::<RowEnd>();
        count.saturating_mul(row as u64)
    }

    /// Begins again at `first`, with `count` rows to be filled.
    pub(in crate::ensemble) fn restart(&mut self, first: u64, count: usize) {
        self.numbered.truncate(0);
        self.numbered.first = first;
        self.numbered.grow(count, RowEnd::Ended);
    }

    /// Appends a row; its values are as many as the columns.
    pub(in crate::ensemble) fn push(&mut self, values: &[f64], end: RowEnd) {
        self.numbered.values.extend_from_slice(values);
        self.numbered.ends.push(end);
    }

    pub(in crate::ensemble) fn append(&mut self, rows: &Self) {
        for row in rows.iter() {
            self.push(row.values, row.end.clone());
        }
    }

    /// The indices.
    pub fn range(&self) -> Range<u64> {
        self.numbered.first..self.numbered.first + self.len() as u64
    }

    /// The number of rows.
    pub fn len(&self) -> usize {
        self.numbered.ends.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.numbered.ends.is_empty()
    }

    /// Names of the columns: of what was drawn, then of what was kept.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The row at place `k`, counted from 0; none beyond the last.
    pub fn get(&self, k: usize) -> Option<Row<'_>> {
        self.numbered.ends.get(k).map(|end| Row {
            index: self.numbered.first + k as u64,
            values: self.numbered.row(k),
            end,
        })
    }

    /// All rows in order.
    pub fn iter(&self) -> impl Iterator<Item = Row<'_>> {
        (0..self.len()).filter_map(|k| self.get(k))
    }

    /// The values of a column; none without one of this name.
    pub fn column(&self, name: &str) -> Option<impl Iterator<Item = f64>> {
        let place = self.columns.iter().position(|column| column == name)?;
        Some((0..self.len()).map(move |k| self.numbered.row(k)[place]))
    }

    /// The number of rows whose run failed.
    pub fn failures(&self) -> usize {
        let ends = self.numbered.ends.iter();
        ends.filter(|end| matches!(end, RowEnd::Failed(_))).count()
    }
}
