//! A format of tables: how rows are written and read, and the label of a part.

use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::ensemble::{EnsembleFailure, Provenance, Rows};

/// Rows that are read at a time.
pub(super) const BLOCK: usize = 4096;

pub(super) type RowSink<'s> = &'s mut dyn FnMut(&Rows) -> Result<(), EnsembleFailure>;

/// A table that is written.
pub(super) trait TableWriter {
    fn write(&mut self, rows: &Rows) -> io::Result<()>;
    /// Writes the range of the rows, and brings all to the disk.
    fn finish(&mut self, range: &Range<u64>) -> io::Result<()>;
}

/// A table that is read.
pub(super) trait TableReader {
    /// All rows in blocks. Their indices follow each other; whether all are there the caller checks.
    fn stream(&mut self, sink: RowSink<'_>) -> Result<(), EnsembleFailure>;
}

/// The provenance and the range of a part, as its file has them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Label {
    pub(super) provenance: Provenance,
    pub(super) range: Range<u64>,
}

impl Label {
    /// The names of the entries of a file, in order; the range follows when all rows are written.
    pub(super) const NAMES: [&'static str; 4] = ["version", "model", "seed", "hash"];

    /// The entries, by name.
    pub(super) fn entries(from: &Provenance) -> impl Iterator<Item = (&'static str, String)> {
        let (version, model) = (from.version.clone(), from.model.clone());
        let (seed, hash) = (from.seed.to_string(), format!("{:016x}", from.hash()));
        Self::NAMES.into_iter().zip([version, model, seed, hash])
    }

    /// Reads the entries of a file.
    ///
    /// # Errors
    /// [`EnsembleFailure::Broken`] where one is missing or makes no sense, [`EnsembleFailure::Foreign`] where
    /// the hash is not that of the others.
    pub(super) fn read(
        path: &Path,
        columns: Vec<String>,
        mut entry: impl FnMut(&str) -> Option<String>,
    ) -> Result<Self, EnsembleFailure> {
        let mut entry = |name: &str| {
            let missing = || EnsembleFailure::broken(path, format!("it has no {name}"));
            entry(name).ok_or_else(missing)
        };
        let (version, model) = (entry("version")?, entry("model")?);
        let (seed, found, range) = (entry("seed")?, entry("hash")?, entry("range")?);
        let range = range.split_once("..").and_then(|(start, end)| {
            let range: Range<u64> = start.parse().ok()?..end.parse().ok()?;
            (!range.is_empty()).then_some(range)
        });
        let (Ok(seed), Some(range)) = (seed.parse(), range) else {
            return Err(EnsembleFailure::broken(path, "seed or range make no sense"));
        };
        let provenance = Provenance {
            version,
            model,
            seed,
            columns,
        };
        let expected = format!("{:016x}", provenance.hash());
        if found != expected {
            return Err(EnsembleFailure::foreign(path, "hash", found, expected));
        }
        Ok(Self { provenance, range })
    }

    /// Rows to be read, none yet.
    pub(super) fn rows(&self) -> Rows {
        let columns: Arc<[String]> = self.provenance.columns.clone().into();
        Rows::new(self.range.start, columns)
    }
}
