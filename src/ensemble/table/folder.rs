//! A folder with the parts of one ensemble: which rows are there, which are missing, all of them in order.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::part::{Part, PartWriter, folder_of};
use crate::ensemble::failure::check_range;
use crate::ensemble::{Draw, Drawn, Ensemble, EnsembleFailure, Rows, RunError};
use crate::{Status, validate};

/// A folder with the parts of one ensemble. Files that do not end in `.csv` or `.parquet` are left alone,
/// hidden ones too: what a killed process was writing is `.NAME.PID.tmp` and may be removed.
///
/// Parts are named by their rows, `000000065536-000000131072.csv`: up to 10¹² rows, the order of the names is
/// that of the rows.
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
    /// [`EnsembleFailure::Twice`] for two that have rows in common.
    pub fn parts(&self) -> Result<Vec<Part>, EnsembleFailure> {
        let paths = tables(&self.path)?;
        let mut parts = paths
            .iter()
            .map(Part::open)
            .collect::<Result<Vec<_>, _>>()?;
        parts.sort_by_key(|part| part.range().start);
        for pair in parts.windows(2) {
            let [one, next] = pair else { continue };
            one.provenance()
                .check_same(next.provenance(), next.path())?;
            if one.range().end > next.range().start {
                return Err(EnsembleFailure::Twice {
                    path: one.path().display().to_string(),
                    other: next.path().display().to_string(),
                    start: next.range().start,
                    end: one.range().end.min(next.range().end),
                });
            }
        }
        Ok(parts)
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
    /// Writes all rows of all parts to one file outside of the folder, `.csv` or `.parquet`. A table that it
    /// wrote before is replaced. Whose rows they are the parts say; whether they are those of an ensemble,
    /// [`Ensemble::missing`].
    ///
    /// # Errors
    /// As [`stream`](Self::stream); [`EnsembleFailure::Missing`] where rows between parts are;
    /// [`EnsembleFailure::File`], also without parts, and for a path in the folder; where there is a file at
    /// the path that is not the beginning of this table, [`EnsembleFailure::Broken`],
    /// [`EnsembleFailure::Foreign`] or [`EnsembleFailure::OtherRows`].
    pub fn merge(&self, path: impl AsRef<Path>) -> Result<Part, EnsembleFailure> {
        let path = path.as_ref();
        let parts = self.parts()?;
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
            return Err(EnsembleFailure::barred(&self.path, "it has no parts"));
        };
        let range = first.range().start..last.range().end;
        if let Some(Range { start, end }) = gaps(&parts, range.clone()).into_iter().next() {
            let path = self.path.display().to_string();
            return Err(EnsembleFailure::Missing { path, start, end });
        }
        // There it would be a part, and all rows twice.
        let real = |folder: &Path| fs::canonicalize(folder).ok();
        if real(folder_of(path)) == real(&self.path) {
            let reason = "a merged table lies outside of the folder of its parts";
            return Err(EnsembleFailure::barred(path, reason));
        }
        if path.exists() {
            let part = Part::open(path)?;
            first.provenance().check_same(part.provenance(), path)?;
            part.check_first_of(&range)?;
        }
        let mut writer = PartWriter::create(path, first.provenance())?;
        for part in &parts {
            part.stream(|rows| writer.write(rows))?;
        }
        let part = writer.finish(|path, _| path.to_owned())?;
        part.ok_or_else(|| EnsembleFailure::broken(&self.path, "it has no rows"))
    }
}

/// The tables in a folder, in no order.
fn tables(folder: &Path) -> Result<Vec<PathBuf>, EnsembleFailure> {
    let mut tables = Vec::new();
    let failed = EnsembleFailure::file(folder);
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(tables),
        entries => entries.map_err(&failed)?,
    };
    for entry in entries {
        let path = entry.map_err(&failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let end = path.extension().and_then(|end| end.to_str());
        if !name.starts_with('.') && matches!(end, Some("csv" | "parquet")) {
            tables.push(path);
        }
    }
    Ok(tables)
}

/// A part with a name of rows, `A-B`, in the folder of a path: that folder has the parts of an ensemble.
/// Other files in it may be anything.
fn neighbour(path: &Path) -> Result<Option<Part>, EnsembleFailure> {
    let is_named_by_rows = |path: &PathBuf| {
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let ends = name.split_once('-');
        ends.is_some_and(|(a, b)| a.parse::<u64>().is_ok() && b.parse::<u64>().is_ok())
    };
    let named = tables(folder_of(path))?
        .into_iter()
        .filter(is_named_by_rows);
    Ok({ named }.find_map(|path| Part::open(path).ok()))
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
    /// Before anything is written, one row of the part that is there is made again, and must be the same.
    ///
    /// # Errors
    /// As [`stream`](Self::stream); [`EnsembleFailure::File`], also for a full disk;
    /// [`EnsembleFailure::Foreign`] where the file, or a part beside it that is named by its rows as those of
    /// a [`Folder`], is of another ensemble; [`EnsembleFailure::Differs`] where a row is another when it is
    /// made again; [`EnsembleFailure::OtherRows`] where the file begins at another row, or goes beyond the
    /// range.
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
            self.check_part(part)?;
            part.check_first_of(&range)?;
            next = part.range().end;
        } else if let Some(part) = neighbour(path)? {
            self.provenance()
                .check_same(part.provenance(), part.path())?;
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

    /// The ranges of indices that a folder does not have of a range, in rising order. As in
    /// [`write`](Self::write), one row of the folder is made again.
    ///
    /// # Errors
    /// [`EnsembleFailure::Foreign`] and [`EnsembleFailure::Differs`] where the rows of the folder are those of
    /// another ensemble; those of [`Folder::parts`] and, for the row, of [`stream`](Self::stream).
    pub fn missing(
        &self,
        folder: &Folder,
        range: Range<u64>,
    ) -> Result<Vec<Range<u64>>, EnsembleFailure> {
        check_range(&range)?;
        let parts = folder.parts()?;
        parts.first().map_or(Ok(()), |part| self.check_part(part))?;
        Ok(gaps(&parts, range))
    }

    /// Makes the rows of a range that are [missing](Self::missing) in a folder, in parts named by their rows.
    /// `sink` sees the rows that are made. A process that was killed at any instant, or interrupted, is
    /// taken up by calling this again; several processes may do different ranges of one folder at a time.
    ///
    /// # Errors
    /// As [`missing`](Self::missing), [`stream`](Self::stream) and, when all is made, [`Folder::parts`]: two
    /// processes may have made the same rows. [`EnsembleFailure::Foreign`] too for parts in the other
    /// format; [`EnsembleFailure::File`], also for a full disk;
    /// [`InputError::BadSetting`](crate::InputError::BadSetting) for parts without rows. Finished parts stay.
    pub fn complete(
        &self,
        folder: &Folder,
        range: Range<u64>,
        mut sink: impl FnMut(&Rows) -> Result<(), EnsembleFailure>,
    ) -> Result<(), EnsembleFailure> {
        validate::unless(folder.length > 0, "rows_a_part", 0.0, "must be at least 1")?;
        let gaps = self.missing(folder, range)?;
        // Who reads a folder as one table wants one format.
        let ending = folder.ending;
        for path in tables(&folder.path)? {
            let found = path.extension().unwrap_or_default().to_string_lossy();
            if found != ending {
                let (found, expected) = (found.into_owned(), ending.to_owned());
                return Err(EnsembleFailure::foreign(&path, "format", found, expected));
            }
        }
        let name = |range: &Range<u64>| {
            let Range { start, end } = range;
            let name = format!("{start:012}-{end:012}.{ending}");
            folder.path.join(name)
        };
        for gap in &gaps {
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
        // Another process may have written meanwhile.
        folder.parts().map(drop)
    }

    /// Refuses a part of another ensemble. What provenance does not say, a row does that is made again: draw,
    /// run and options are functions, and have no hash.
    fn check_part(&self, part: &Part) -> Result<(), EnsembleFailure> {
        self.provenance()
            .check_same(part.provenance(), part.path())?;
        let before = part.sample()?;
        let now = self.rows(before.range())?;
        let (Some(before), Some(now)) = (before.get(0), now.get(0)) else {
            return Ok(());
        };
        let differs = |column: &str, found: String, expected: String| {
            Err(EnsembleFailure::Differs {
                path: part.path().display().to_string(),
                index: before.index,
                column: column.to_owned(),
                found,
                expected,
            })
        };
        let pairs = before.values.iter().zip(now.values);
        for (column, (x, y)) in self.provenance().columns.iter().zip(pairs) {
            // NaN is read as NaN, whatever its bits were.
            if x.to_bits() != y.to_bits() && !(x.is_nan() && y.is_nan()) {
                return differs(column, format!("{x:?}"), format!("{y:?}"));
            }
        }
        // The reason of a failure may have words that change, as a time or a path.
        let (found, expected) = (before.end.name(), now.end.name());
        if found != expected {
            return differs("status", found.to_owned(), expected.to_owned());
        }
        Ok(())
    }
}
