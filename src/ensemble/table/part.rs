//! Parts of an ensemble: files of consecutive rows, each with its provenance and its range, written under
//! another name and renamed when they are whole.

use std::fs::{self, File};
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

#[cfg(feature = "arrow")]
use super::arrow;
use super::csv::{CsvReader, CsvWriter};
use super::format::{Label, TableReader, TableWriter};
use crate::ensemble::{EnsembleFailure, Provenance, Row, RowEnd, Rows};

/// A file with consecutive rows of an ensemble: `.csv`, or `.parquet` with the feature `arrow`.
///
/// Parts are written by [`Ensemble::write`](crate::ensemble::Ensemble::write) and
/// [`Ensemble::complete`](crate::ensemble::Ensemble::complete).
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    path: PathBuf,
    label: Label,
}

impl Part {
    /// Opens a part: reads its provenance and its range, and no rows.
    ///
    /// # Errors
    /// [`EnsembleFailure::File`]; [`EnsembleFailure::Broken`] for a file that was cut or is no part;
    /// [`EnsembleFailure::Foreign`] where the hash is not that of the provenance.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, EnsembleFailure> {
        let path = path.as_ref();
        let (label, _) = reader(path)?;
        let path = path.to_owned();
        Ok(Self { path, label })
    }

    /// Its file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its rows come from.
    pub fn provenance(&self) -> &Provenance {
        &self.label.provenance
    }

    /// The indices of its rows.
    pub fn range(&self) -> Range<u64> {
        self.label.range.clone()
    }

    /// Reads all rows in order, some thousand at a time. NaN is read as NaN, whatever its bits were;
    /// all other numbers have the bits that were written.
    ///
    /// # Errors
    /// [`EnsembleFailure::File`]; [`EnsembleFailure::Broken`] unless every index of the range is there
    /// once and in order; errors of the sink.
    pub fn stream(
        &self,
        mut sink: impl FnMut(&Rows) -> Result<(), EnsembleFailure>,
    ) -> Result<(), EnsembleFailure> {
        let Range { start, end } = self.range();
        let mut next = start;
        let mut checked = |rows: &Rows| {
            next = rows.range().end;
            if rows.is_empty() {
                return Ok(());
            }
            sink(rows)
        };
        reader(&self.path)?.1.stream(&mut checked)?;
        if next == end {
            return Ok(());
        }
        let reason = format!("its rows end before {next}, not {end}");
        Err(EnsembleFailure::broken(&self.path, reason))
    }
}

impl Part {
    /// The first row of those at its beginning that did not fail; the very first where all did.
    pub(super) fn sample(&self) -> Result<Rows, EnsembleFailure> {
        let (label, mut reader) = reader(&self.path)?;
        let mut kept = label.rows();
        // The first block is enough: an error ends the stream, which is none where there was a row.
        let read = reader.stream(&mut |rows| {
            let sound = |row: &Row<'_>| !matches!(row.end, RowEnd::Failed(_));
            if let Some(row) = rows.iter().find(sound).or(rows.get(0)) {
                kept.restart(row.index, 0);
                kept.push(row.values, row.end.clone());
            }
            Err(EnsembleFailure::broken(&self.path, "it has no rows"))
        });
        match read {
            Err(error) if kept.is_empty() => Err(error),
            _ => Ok(kept),
        }
    }

    /// Refuses a part whose rows are not the first of a range.
    pub(super) fn check_first_of(&self, range: &Range<u64>) -> Result<(), EnsembleFailure> {
        let found = self.range();
        if found.start == range.start && found.end <= range.end {
            return Ok(());
        }
        Err(EnsembleFailure::OtherRows {
            path: self.path.display().to_string(),
            found,
            expected: range.clone(),
        })
    }
}

/// The kind of file that a name asks for.
fn format_of(path: &Path) -> Result<Format, EnsembleFailure> {
    let end = path.extension().and_then(|end| end.to_str());
    match end {
        Some("csv") => Ok(Format::Csv),
        #[cfg(feature = "arrow")]
        Some("parquet") => Ok(Format::Parquet),
        #[cfg(not(feature = "arrow"))]
        Some("parquet") => Err(EnsembleFailure::barred(path, "it needs the feature arrow")),
        _ => Err(EnsembleFailure::barred(
            path,
            "it ends in neither .csv nor .parquet",
        )),
    }
}

/// The folder in which a file lies.
pub(super) fn folder_of(path: &Path) -> &Path {
    let folder = path.parent().filter(|path| !path.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

enum Format {
    Csv,
    #[cfg(feature = "arrow")]
    Parquet,
}

type Reader<'p> = Box<dyn TableReader + 'p>;

fn reader(path: &Path) -> Result<(Label, Reader<'_>), EnsembleFailure> {
    Ok(match format_of(path)? {
        Format::Csv => {
            let (label, reader) = CsvReader::open(path)?;
            (label, Box::new(reader))
        }
        #[cfg(feature = "arrow")]
        Format::Parquet => {
            let (label, reader) = arrow::ParquetReader::open(path)?;
            (label, Box::new(reader))
        }
    })
}

/// A part that is written under another name until it is whole.
pub(super) struct PartWriter {
    temporary: PathBuf,
    path: PathBuf,
    table: Box<dyn TableWriter>,
    range: Option<Range<u64>>,
    is_sound: bool,
}

impl PartWriter {
    /// Begins a part of this name. Its folder is made.
    pub(super) fn create(path: &Path, from: &Provenance) -> Result<Self, EnsembleFailure> {
        let format = format_of(path)?;
        let folder = folder_of(path);
        fs::create_dir_all(folder).map_err(EnsembleFailure::file(folder))?;
        // Another process may be at the same part.
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
        let failed = EnsembleFailure::file(path);
        let file = File::create(&temporary).map_err(&failed)?;
        let table: io::Result<Box<dyn TableWriter>> = match format {
            Format::Csv => CsvWriter::new(file, from).map(|table| Box::new(table) as _),
            #[cfg(feature = "arrow")]
            Format::Parquet => {
                arrow::ParquetWriter::new(file, from).map(|table| Box::new(table) as _)
            }
        };
        Ok(Self {
            table: table.map_err(&failed)?,
            temporary,
            path: path.to_owned(),
            range: None,
            is_sound: true,
        })
    }

    /// Appends rows, which follow those before them.
    pub(super) fn write(&mut self, rows: &Rows) -> Result<(), EnsembleFailure> {
        let written = self.table.write(rows);
        self.is_sound = written.is_ok();
        written.map_err(EnsembleFailure::file(&self.path))?;
        let start = self.range.as_ref().map(|range| range.start);
        let Range { start: first, end } = rows.range();
        self.range = Some(start.unwrap_or(first)..end);
        Ok(())
    }

    /// Ends the part with the rows that it has, and gives it the name that `name` makes of their range.
    /// None without rows, or after an error of the file.
    pub(super) fn finish(
        mut self,
        name: impl FnOnce(&Path, &Range<u64>) -> PathBuf,
    ) -> Result<Option<Part>, EnsembleFailure> {
        let Some(range) = self.range.take().filter(|_| self.is_sound) else {
            return Ok(None);
        };
        let path = name(&self.path, &range);
        let failed = EnsembleFailure::file(&path);
        self.table.finish(&range).map_err(&failed)?;
        fs::rename(&self.temporary, &path).map_err(&failed)?;
        Part::open(&path).map(Some)
    }
}

impl Drop for PartWriter {
    fn drop(&mut self) {
        // Gone already where the part is whole.
        let _ = fs::remove_file(&self.temporary);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_name_lies_in_the_folder_of_the_process() {
        for (path, folder) in [("a.csv", "."), ("b/a.csv", "b"), ("/a.csv", "/")] {
            assert_eq!(folder_of(Path::new(path)), Path::new(folder));
        }
    }
}
