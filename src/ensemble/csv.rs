//! Rows as comma-separated values. A part has its provenance in comments before the head, and its range in
//! a comment at the end, which is missing in a file that was cut.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use super::failure::EnsembleFailure;
use super::part::{BLOCK, PartReader, RowSink, TableWriter};
use super::provenance::Provenance;
use super::rows::{RowEnd, Rows};

const TITLE: &str = "# saltation ensemble";
const LAST: &str = "# rows ";
/// Bytes of the last line at most.
const TAIL: u64 = 64;

impl Rows {
    /// Writes comma-separated values, with a head line: `index`, the columns, `status`
    /// ([`RowEnd::name`]), `reason` in quotes where there is one. Numbers have all their digits.
    ///
    /// # Errors
    /// Errors of `out`.
    pub fn write_csv(&self, mut out: impl Write) -> io::Result<()> {
        write_head(&mut out, self.columns())?;
        write_rows(&mut out, self)
    }
}

fn write_head(out: &mut impl Write, columns: &[String]) -> io::Result<()> {
    out.write_all(b"index")?;
    for column in columns {
        write!(out, ",{column}")?;
    }
    writeln!(out, ",status,reason")
}

fn write_rows(out: &mut impl Write, rows: &Rows) -> io::Result<()> {
    for row in rows.iter() {
        write!(out, "{}", row.index)?;
        for x in row.values {
            write!(out, ",{x:?}")?;
        }
        match row.end.reason() {
            "" => writeln!(out, ",{},", row.end.name())?,
            reason => {
                let reason = reason.replace('"', "\"\"");
                writeln!(out, ",{},\"{reason}\"", row.end.name())?;
            }
        }
    }
    Ok(())
}

/// A part that is written.
pub(super) struct CsvWriter {
    out: BufWriter<File>,
}

impl CsvWriter {
    pub(super) fn new(file: File, from: &Provenance) -> io::Result<Self> {
        let mut out = BufWriter::new(file);
        writeln!(out, "{TITLE}")?;
        writeln!(out, "# version {}", from.version)?;
        writeln!(out, "# model {}", from.model)?;
        writeln!(out, "# seed {}", from.seed)?;
        writeln!(out, "# hash {:016x}", from.hash())?;
        write_head(&mut out, &from.columns)?;
        Ok(Self { out })
    }
}

impl TableWriter for CsvWriter {
    fn write(&mut self, rows: &Rows) -> io::Result<()> {
        write_rows(&mut self.out, rows)
    }

    fn finish(&mut self, range: &Range<u64>) -> io::Result<()> {
        writeln!(self.out, "{LAST}{}..{}", range.start, range.end)?;
        self.out.flush()?;
        self.out.get_ref().sync_all()
    }
}

/// A part that is read.
pub(super) struct CsvReader<'p> {
    path: &'p Path,
    lines: io::Lines<BufReader<File>>,
    provenance: Provenance,
    hash: String,
    range: Range<u64>,
}

impl<'p> CsvReader<'p> {
    pub(super) fn open(path: &'p Path) -> Result<Self, EnsembleFailure> {
        let file = EnsembleFailure::file(path);
        let mut input = File::open(path).map_err(&file)?;
        let range = last_line(&mut input).map_err(&file)?;
        let range = range.ok_or_else(|| EnsembleFailure::broken(path, "its end is missing"))?;
        input.rewind().map_err(&file)?;
        let mut reader = Self {
            path,
            lines: BufReader::new(input).lines(),
            provenance: Provenance::new(0),
            hash: String::new(),
            range,
        };
        reader.read_provenance()?;
        Ok(reader)
    }

    fn read_provenance(&mut self) -> Result<(), EnsembleFailure> {
        let mut after = |words: &str| {
            let line = self.lines.next().and_then(Result::ok);
            let value = line.and_then(|line| line.strip_prefix(words).map(str::to_owned));
            value.ok_or_else(|| EnsembleFailure::broken(self.path, format!("no line {words:?}")))
        };
        after(TITLE)?;
        self.provenance.version = after("# version ")?;
        self.provenance.model = after("# model ")?;
        let seed = after("# seed ")?;
        self.hash = after("# hash ")?;
        let columns = after("index,")?;
        let columns = columns.strip_suffix(",status,reason");
        let (Ok(seed), Some(columns)) = (seed.parse(), columns) else {
            return Err(EnsembleFailure::broken(
                self.path,
                "its head makes no sense",
            ));
        };
        self.provenance.seed = seed;
        self.provenance.columns = columns.split(',').map(str::to_owned).collect();
        Ok(())
    }

    /// Appends the row of a line; none where the line is no such row.
    fn read_row(line: &str, values: &mut Vec<f64>, rows: &mut Rows) -> Option<()> {
        let mut fields = line.splitn(rows.columns().len() + 3, ',');
        let index: u64 = fields.next()?.parse().ok()?;
        values.clear();
        for _ in rows.columns() {
            values.push(fields.next()?.parse().ok()?);
        }
        let (name, reason) = (fields.next()?, fields.next()?);
        let reason = match reason.strip_prefix('"') {
            None => reason.to_owned(),
            Some(rest) => rest.strip_suffix('"')?.replace("\"\"", "\""),
        };
        if index != rows.range().end {
            return None;
        }
        rows.push(values, RowEnd::read(name, &reason)?);
        Some(())
    }
}

impl PartReader for CsvReader<'_> {
    fn provenance(&self) -> &Provenance {
        &self.provenance
    }

    fn hash(&self) -> &str {
        &self.hash
    }

    fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    fn stream(&mut self, sink: RowSink<'_>) -> Result<(), EnsembleFailure> {
        let columns = self.provenance.columns.clone().into();
        let mut rows = Rows::new(self.range.start, columns);
        let mut values = Vec::new();
        for line in &mut self.lines {
            let line = line.map_err(EnsembleFailure::file(self.path))?;
            if line.starts_with('#') {
                break;
            }
            let next = rows.range().end;
            Self::read_row(&line, &mut values, &mut rows).ok_or_else(|| {
                EnsembleFailure::broken(self.path, format!("row {next} was to come: {line:.80}"))
            })?;
            if rows.len() >= BLOCK {
                sink(&rows)?;
                rows.restart(rows.range().end, 0);
            }
        }
        sink(&rows)
    }
}

/// The range of the last line, where it is whole.
fn last_line(input: &mut (impl Read + Seek)) -> io::Result<Option<Range<u64>>> {
    let length = input.seek(SeekFrom::End(0))?;
    input.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    input.take(TAIL).read_to_end(&mut tail)?;
    let tail = String::from_utf8_lossy(&tail);
    let range = || {
        let line = tail.strip_suffix('\n')?.rsplit('\n').next()?;
        let (start, end) = line.strip_prefix(LAST)?.split_once("..")?;
        Some(start.parse().ok()?..end.parse().ok()?)
    };
    Ok(range())
}
