//! Rows as Arrow tables and as Parquet files. Provenance and range are metadata of the file.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use arrow_array::{Array, ArrayRef, Float64Array, RecordBatch, StringArray, UInt64Array};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::format::{BLOCK, Label, RowSink, TableReader, TableWriter};
use crate::ensemble::{EnsembleFailure, Provenance, RowEnd, Rows};

/// Before the names of the metadata.
const KEY: &str = "saltation.";
/// Rows of a group of a Parquet file.
const GROUP: usize = 1 << 15;

impl Rows {
    /// As an Arrow table: `index` (unsigned, 64 bits), the columns (64-bit floats), `status`
    /// ([`RowEnd::name`]), `reason` (null where there is none).
    ///
    /// # Errors
    /// [`EnsembleFailure::BadColumn`] where Arrow refuses the columns.
    pub fn to_arrow(&self) -> Result<RecordBatch, EnsembleFailure> {
        batch(self, &schema(self.columns())).map_err(|_| EnsembleFailure::BadColumn {
            name: self.columns().join(","),
            rule: "Arrow does not take these columns",
        })
    }
}

fn schema(columns: &[String]) -> Arc<Schema> {
    let mut fields = vec![Field::new("index", DataType::UInt64, false)];
    let number = |name: &String| Field::new(name, DataType::Float64, false);
    fields.extend(columns.iter().map(number));
    fields.push(Field::new("status", DataType::Utf8, false));
    fields.push(Field::new("reason", DataType::Utf8, true));
    Arc::new(Schema::new(fields))
}

fn batch(rows: &Rows, schema: &Arc<Schema>) -> Result<RecordBatch, ArrowError> {
    let mut arrays: Vec<ArrayRef> = vec![Arc::new(UInt64Array::from_iter_values(rows.range()))];
    for k in 0..rows.columns().len() {
        let column = rows.iter().filter_map(|row| row.values.get(k).copied());
        arrays.push(Arc::new(Float64Array::from_iter_values(column)));
    }
    let names = rows.iter().map(|row| row.end.name());
    arrays.push(Arc::new(StringArray::from_iter_values(names)));
    let reasons = rows.iter().map(|row| match row.end.reason() {
        "" => None,
        reason => Some(reason),
    });
    arrays.push(Arc::new(reasons.collect::<StringArray>()));
    RecordBatch::try_new(Arc::clone(schema), arrays)
}

/// A full disk is an error of the disk, in whatever it was wrapped.
#[expect(clippy::needless_pass_by_value, reason = "as map_err has it")]
fn on_disk(error: ParquetError) -> io::Error {
    io::Error::other(error.to_string())
}

/// A part that is written.
pub(super) struct ParquetWriter {
    schema: Arc<Schema>,
    writer: ArrowWriter<File>,
}

impl ParquetWriter {
    pub(super) fn new(file: File, from: &Provenance) -> io::Result<Self> {
        let schema = schema(&from.columns);
        // A group is kept in memory until it is whole.
        let options = WriterProperties::builder().set_max_row_group_row_count(Some(GROUP));
        let options = options.build();
        let mut writer =
            ArrowWriter::try_new(file, Arc::clone(&schema), Some(options)).map_err(on_disk)?;
        for (name, value) in Label::entries(from) {
            writer.append_key_value_metadata(KeyValue::new(format!("{KEY}{name}"), value));
        }
        Ok(Self { schema, writer })
    }
}

impl TableWriter for ParquetWriter {
    fn write(&mut self, rows: &Rows) -> io::Result<()> {
        let batch = batch(rows, &self.schema).map_err(io::Error::other)?;
        self.writer.write(&batch).map_err(on_disk)
    }

    fn finish(&mut self, range: &Range<u64>) -> io::Result<()> {
        let range = format!("{}..{}", range.start, range.end);
        let range = KeyValue::new(format!("{KEY}range"), range);
        self.writer.append_key_value_metadata(range);
        self.writer.finish().map_err(on_disk)?;
        self.writer.inner().sync_all()
    }
}

/// A part that is read.
pub(super) struct ParquetReader<'p> {
    path: &'p Path,
    file: Option<ParquetRecordBatchReaderBuilder<File>>,
    label: Label,
}

impl<'p> ParquetReader<'p> {
    pub(super) fn open(path: &'p Path) -> Result<(Label, Self), EnsembleFailure> {
        let broken = |reason: &str| EnsembleFailure::broken(path, reason);
        let input = File::open(path).map_err(EnsembleFailure::file(path))?;
        // The metadata stand at the end: a file that was cut has none.
        let file = ParquetRecordBatchReaderBuilder::try_new(input)
            .map_err(|error| broken(&error.to_string()))?;
        let fields = file.schema().fields().iter();
        let names: Vec<&str> = fields.map(|field| field.name().as_str()).collect();
        let ["index", columns @ .., "status", "reason"] = names.as_slice() else {
            return Err(broken("its columns are others"));
        };
        let columns = columns.iter().map(|&name| name.to_owned()).collect();
        let pairs = file.metadata().file_metadata().key_value_metadata();
        let label = Label::read(path, columns, |name| {
            let mut pairs = pairs.into_iter().flatten();
            let pair = pairs.find(|pair| pair.key.strip_prefix(KEY) == Some(name))?;
            pair.value.clone()
        })?;
        let reader = Self {
            path,
            file: Some(file),
            label: label.clone(),
        };
        Ok((label, reader))
    }
}

/// Appends the rows of a table; none where it is not one of an ensemble.
fn read(batch: &RecordBatch, rows: &mut Rows) -> Option<()> {
    let arrays = batch.columns();
    let ([index, columns @ ..], [status, reason]) =
        arrays.split_at_checked(arrays.len().checked_sub(2)?)?
    else {
        return None;
    };
    let index = index.as_primitive_opt::<UInt64Type>()?;
    let columns = columns.iter().map(|column| column.as_primitive_opt());
    let columns: Vec<&Float64Array> = columns.collect::<Option<_>>()?;
    let (status, reason) = (
        status.as_string_opt::<i32>()?,
        reason.as_string_opt::<i32>()?,
    );
    let mut values = vec![0.0; columns.len()];
    for k in 0..batch.num_rows() {
        if index.value(k) != rows.range().end {
            return None;
        }
        for (value, column) in values.iter_mut().zip(&columns) {
            *value = column.value(k);
        }
        let reason = if reason.is_null(k) {
            ""
        } else {
            reason.value(k)
        };
        rows.push(&values, RowEnd::read(status.value(k), reason)?);
    }
    Some(())
}

impl TableReader for ParquetReader<'_> {
    fn stream(&mut self, sink: RowSink<'_>) -> Result<(), EnsembleFailure> {
        let broken = |error: String| EnsembleFailure::broken(self.path, error);
        let Some(file) = self.file.take() else {
            return Ok(());
        };
        let batches = file.with_batch_size(BLOCK).build();
        let mut rows = self.label.rows();
        for batch in batches.map_err(|error| broken(error.to_string()))? {
            let batch = batch.map_err(|error| broken(error.to_string()))?;
            let next = rows.range().end;
            read(&batch, &mut rows)
                .ok_or_else(|| broken(format!("row {next} was to come, or one behind it")))?;
            sink(&rows)?;
            rows.restart(rows.range().end, 0);
        }
        Ok(())
    }
}
