//! A folder with the parts of one ensemble: which rows are there, which are missing, all of them in order.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::part::{Part, PartWriter};
use crate::ensemble::failure::check_range;
use crate::ensemble::{Draw, Drawn, Ensemble, EnsembleFailure, Rows, RunError};
use crate::{Status, validate};

/// A folder with the parts of one ensemble. Files that do not end in `.csv` or `.parquet` are left alone,
/// hidden ones too: what a killed process was writing is `.NAME.PID.tmp` and may be removed.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Folder {
    path: PathBuf,
    ending: &'static str,
    length: u64,
}

impl Folder {
    /// At a path, which need not exist yet.
    pub fn new(path: impl AsRef<Path>) -> Self {
        Self {
            path: path.as_ref().to_owned(),
            ending: "csv",
            length: 1 << 16,
        }
    }

    /// New parts are Parquet files, not CSV.
    #[cfg(feature = "arrow")]
    pub fn parquet(mut self) -> Self {
        self.ending = "parquet";
        self
    }

    /// Rows of a new part, at least 1; default 65,536. A process that is killed loses the part that it
    /// is at.
    pub fn rows_a_part(mut self, rows: u64) -> Self {
        self.length = rows;
        self
    }

    /// The parts in rising order of their rows.
    ///
    /// # Errors
    /// As [`Part::open`]; [`EnsembleFailure::Foreign`] for parts of different ensembles;
    /// [`EnsembleFailure::OutOfOrder`] for two that have rows in common.
    pub fn parts(&self) -> Result<Vec<Part>, EnsembleFailure> {
        let mut parts = Vec::new();
        let failed = EnsembleFailure::file(&self.path);
        let entries = match fs::read_dir(&self.path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(parts),
            entries => entries.map_err(&failed)?,
        };
        for entry in entries {
            let path = entry.map_err(&failed)?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let end = path.extension().and_then(|end| end.to_str());
            if !name.starts_with('.') && matches!(end, Some("csv" | "parquet")) {
                parts.push(Part::open(&path)?);
            }
        }
        parts.sort_by_key(|part| part.range().start);
        for pair in parts.windows(2) {
            let [one, next] = pair else { continue };
            one.provenance()
                .check_same(next.provenance(), next.path())?;
            if one.range().end > next.range().start {
                return Err(EnsembleFailure::OutOfOrder {
                    path: next.path().display().to_string(),
                    start: next.range().start,
                    next: one.range().end,
                });
            }
        }
        Ok(parts)
    }

    /// The ranges of indices that are missing in a range, in rising order.
    ///
    /// # Errors
    /// As [`parts`](Self::parts); [`EnsembleFailure::EmptyRange`].
    pub fn missing(&self, range: Range<u64>) -> Result<Vec<Range<u64>>, EnsembleFailure> {
        check_range(&range)?;
        Ok(gaps(&self.parts()?, range))
    }

    /// Reads all rows of all parts in rising order, some thousand at a time.
    ///
    /// # Errors
    /// As [`parts`](Self::parts) and [`Part::stream`].
    pub fn stream(
        &self,
        mut sink: impl FnMut(&Rows) -> Result<(), EnsembleFailure>,
    ) -> Result<(), EnsembleFailure> {
        let parts = self.parts()?;
        parts.iter().try_for_each(|part| part.stream(&mut sink))
    }
}

impl Folder {
    /// Writes all rows of all parts to one file outside of the folder, `.csv` or `.parquet`.
    ///
    /// # Errors
    /// As [`stream`](Self::stream) and [`Ensemble::write`]; [`EnsembleFailure::OutOfOrder`] where rows between
    /// parts are missing; [`EnsembleFailure::Broken`] without parts.
    pub fn merge(&self, path: impl AsRef<Path>) -> Result<Part, EnsembleFailure> {
        let parts = self.parts()?;
        let Some(first) = parts.first() else {
            return Err(EnsembleFailure::broken(&self.path, "it has no parts"));
        };
        let mut writer = PartWriter::create(path.as_ref(), first.provenance())?;
        for part in &parts {
            part.stream(|rows| writer.write(rows))?;
        }
        let part = writer.finish(|path, _| path.to_owned())?;
        part.ok_or_else(|| EnsembleFailure::broken(&self.path, "it has no rows"))
    }
}

/// The gaps that parts in rising order leave in a range.
fn gaps(parts: &[Part], range: Range<u64>) -> Vec<Range<u64>> {
    let mut gaps = Vec::new();
    let mut next = range.start;
    for part in parts {
        let Range { start, end } = part.range();
        let start = start.min(range.end);
        if next < start {
            gaps.push(next..start);
        }
        next = next.max(end);
    }
    if next < range.end {
        gaps.push(next..range.end);
    }
    gaps
}

impl<D, X, M, W, F> Ensemble<D, M, F>
where
    D: Fn(&mut Draw) -> X + Sync,
    X: AsRef<[f64]>,
    M: Fn() -> Result<W, RunError> + Sync,
    W: Send,
    F: Fn(&mut W, &Drawn<'_>, &mut [f64]) -> Result<Status, RunError> + Sync,
{
    /// Writes the rows of a range to one file: `.csv`, or `.parquet` with the feature `arrow`. The file
    /// appears when it is whole. A part of this name that has the first rows of the range already is
    /// continued, with all of them it is left as it is. `sink` sees the rows that are made.
    ///
    /// When the ensemble ends early, by an interrupt or a draw that makes no sense, the part has the rows
    /// that were made until then.
    ///
    /// # Errors
    /// As [`stream`](Self::stream); [`EnsembleFailure::File`], also for a full disk;
    /// [`EnsembleFailure::Foreign`] and [`EnsembleFailure::OutOfOrder`] where the file is a part of another
    /// ensemble or begins at another row.
    pub fn write(
        &self,
        path: impl AsRef<Path>,
        range: Range<u64>,
        mut sink: impl FnMut(&Rows) -> Result<(), EnsembleFailure>,
    ) -> Result<Part, EnsembleFailure> {
        check_range(&range)?;
        let path = path.as_ref();
        let known = path.exists().then(|| Part::open(path)).transpose()?;
        let mut next = range.start;
        if let Some(part) = &known {
            self.provenance().check_same(part.provenance(), path)?;
            let Range { start, end } = part.range();
            if start != range.start || end > range.end {
                let path = path.display().to_string();
                return Err(EnsembleFailure::OutOfOrder { path, start, next });
            }
            next = end;
        }
        if let Some(part) = known.clone().filter(|_| next == range.end) {
            return Ok(part);
        }
        let mut writer = PartWriter::create(path, self.provenance())?;
        if let Some(part) = known {
            part.stream(|rows| writer.write(rows))?;
        }
        let ended = self.stream(next..range.end, |rows| {
            writer.write(rows)?;
            sink(rows)
        });
        let part = writer.finish(|path, _| path.to_owned());
        ended?;
        part?.ok_or_else(|| EnsembleFailure::broken(path, "it has no rows"))
    }

    /// Makes the rows of a range that are missing in a folder, in parts named by their rows. `sink` sees the
    /// rows that are made. A process that was killed at any instant, or interrupted, is taken up by
    /// calling this again; several processes may do different ranges of one folder at a time.
    ///
    /// # Errors
    /// As [`write`](Self::write) and [`Folder::parts`]; [`InputError::BadSetting`](crate::InputError::BadSetting)
    /// for parts without rows. Finished parts stay.
    pub fn complete(
        &self,
        folder: &Folder,
        range: Range<u64>,
        mut sink: impl FnMut(&Rows) -> Result<(), EnsembleFailure>,
    ) -> Result<(), EnsembleFailure> {
        check_range(&range)?;
        validate::unless(folder.length > 0, "rows_a_part", 0.0, "must be at least 1")?;
        let parts = folder.parts()?;
        if let Some(part) = parts.first() {
            self.provenance()
                .check_same(part.provenance(), part.path())?;
        }
        let name = |range: &Range<u64>| {
            let Range { start, end } = range;
            folder.path.join(format!("{start}-{end}.{}", folder.ending))
        };
        for gap in gaps(&parts, range) {
            let mut next = gap.start;
            while next < gap.end {
                let piece = next..next + folder.length.min(gap.end - next);
                let mut writer = PartWriter::create(&name(&piece), self.provenance())?;
                next = piece.end;
                let ended = self.stream(piece, |rows| {
                    writer.write(rows)?;
                    sink(rows)
                });
                // Rows before an interrupt are a part too, a shorter one.
                let part = writer.finish(|_, range| name(range));
                ended?;
                part?;
            }
        }
        Ok(())
    }
}
