//! Rows as comma-separated values. A part has its provenance in comments before the head, and its range in
//! a comment at the end, which is missing in a file that was cut.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use super::format::{BLOCK, Label, RowSink, TableReader, TableWriter};
use crate::ensemble::{EnsembleFailure, Provenance, RowEnd, Rows};

const TITLE: &str = "# saltation ensemble";
const LAST: &str = "# range ";
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
        for (name, value) in Label::entries(from) {
            writeln!(out, "# {name} {value}")?;
        }
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
    label: Label,
}

impl<'p> CsvReader<'p> {
    pub(super) fn open(path: &'p Path) -> Result<(Label, Self), EnsembleFailure> {
        let file = EnsembleFailure::file(path);
        let mut input = File::open(path).map_err(&file)?;
        let range = last_line(&mut input).map_err(&file)?;
        input.rewind().map_err(&file)?;
        let mut lines = BufReader::new(input).lines();
        let mut line = || lines.next().and_then(Result::ok).unwrap_or_default();
        if line() != TITLE {
            return Err(EnsembleFailure::broken(path, "its first line is another"));
        }
        let entries = Label::NAMES.map(|_| line());
        let head = line();
        let columns = (head.strip_prefix("index,"))
            .and_then(|columns| columns.strip_suffix(",status,reason"))
            .ok_or_else(|| EnsembleFailure::broken(path, "it has no head"))?;
        let columns = columns.split(',').map(str::to_owned).collect();
        let label = Label::read(path, columns, |name| {
            if name == "range" {
                return range.clone();
            }
            let place = Label::NAMES.iter().position(|known| *known == name)?;
            let value = entries[place].strip_prefix("# ")?.strip_prefix(name)?;
            value.strip_prefix(' ').map(str::to_owned)
        })?;
        let reader = Self {
            path,
            lines,
            label: label.clone(),
        };
        Ok((label, reader))
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

impl TableReader for CsvReader<'_> {
    fn stream(&mut self, sink: RowSink<'_>) -> Result<(), EnsembleFailure> {
        let mut rows = self.label.rows();
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

/// The range of the last line, where that is whole.
fn last_line(input: &mut (impl Read + Seek)) -> io::Result<Option<String>> {
    let length = input.seek(SeekFrom::End(0))?;
    input.seek(SeekFrom::Start(length.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    input.take(TAIL).read_to_end(&mut tail)?;
    let tail = String::from_utf8_lossy(&tail);
    let line = tail
        .strip_suffix('\n')
        .and_then(|tail| tail.rsplit('\n').next());
    Ok(line
        .and_then(|line| line.strip_prefix(LAST))
        .map(str::to_owned))
}
