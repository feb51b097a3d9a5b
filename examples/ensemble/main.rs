//! Many runs of one model, each a row of a table: on threads, in parts that several processes write, and
//! merged to a picture of their ends.

#[path = "../common/mod.rs"]
mod common;
#[path = "../common/linear.rs"]
mod linear;
mod models;
mod picture;
mod summary;

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use common::flags::{Flags, Outcome, ensure};
use indicatif::{ProgressBar, ProgressStyle};
use models::{MODELS, Model};
use saltation::Interrupt;
use saltation::ensemble::{EnsembleFailure, Folder, Rows};
use summary::Summary;

const HELP: &str = "\
Many runs of one model. A row is a function of its index and the seed: any split of the range gives the same rows.

A hopper with drawn height and leg, a plate on ten springs with drawn height and tilt, or one sample of the outcomes of a
block that lands on two corners with drawn friction. ensemble_<model>.svg shows how the ends are distributed.

  cargo run --release --features parallel --example ensemble -- [FLAGS]

  --model NAME      hopper, plate or block; without: all, when nothing is written
  --range A..B      indices, 0..2000; with --merge: those that must be there
  --seed N          1
  --out PATH        writes the rows: to a part that is continued if it is there (PATH ends in .csv; .parquet with --features
                    arrow), or to a folder (any other PATH), in parts of which the missing ones are made
  --rows-a-part N   rows of a part of a folder, 65536
  --parquet         parts of a folder are Parquet files, with --features arrow
  --threads N       with --features parallel; 0: all
  --missing DIR     prints the ranges of --range that are missing in a folder, one a line, and ends
  --merge DIR       reads all parts of a folder, prints what they say and draws; with --out FILE writes one table

What is written, and what --missing and --merge read, is of one model and one seed: parts of others are refused.

  --pictures DIR    folder for pictures, target/pictures

Ctrl-C and SIGTERM end it and keep what is done.
";

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let wishes = Wishes::read(&mut flags)?;
        let folder = flags.pictures()?;
        if let Some(model) = wishes.model {
            if let Some(dir) = &wishes.missing {
                for gap in wishes.gaps(model, dir, wishes.range())? {
                    writeln!(out, "{gap:?}")?;
                }
                return Ok(());
            }
            if let Some(dir) = &wishes.merge {
                return wishes.merged(model, dir, &folder, out);
            }
            if let Some(path) = &wishes.out {
                return wishes.write(model, path, out);
            }
        }
        for model in wishes.models() {
            let rows = wishes.rows(model)?;
            Wishes::show(model, &folder, out, &|sink| sink(&rows))?;
        }
        Ok(())
    })
}

struct Wishes {
    model: Option<&'static Model>,
    range: Option<Range<u64>>,
    seed: u64,
    out: Option<PathBuf>,
    rows_a_part: u64,
    #[cfg(feature = "arrow")]
    parquet: bool,
    #[cfg(feature = "parallel")]
    threads: usize,
    missing: Option<PathBuf>,
    merge: Option<PathBuf>,
}

impl Wishes {
    fn read(flags: &mut Flags) -> Outcome<Self> {
        let threads: Option<usize> = flags.read("--threads", str::parse)?;
        let message = "--threads needs --features parallel";
        ensure(threads.is_none() || cfg!(feature = "parallel"), message)?;
        let parquet = flags.switch("--parquet");
        let message = "--parquet needs --features arrow";
        ensure(!parquet || cfg!(feature = "arrow"), message)?;
        let wishes = Self {
            model: flags.read("--model", model)?,
            range: flags.read("--range", range)?,
            seed: flags.number("--seed", 1)?,
            out: flags.read("--out", str::parse)?,
            rows_a_part: flags.number("--rows-a-part", 1 << 16)?,
            #[cfg(feature = "arrow")]
            parquet,
            #[cfg(feature = "parallel")]
            threads: threads.unwrap_or(0),
            missing: flags.read("--missing", str::parse)?,
            merge: flags.read("--merge", str::parse)?,
        };
        let folders = [&wishes.out, &wishes.merge, &wishes.missing];
        let needs_model = folders.into_iter().any(Option::is_some);
        ensure(wishes.model.is_some() || !needs_model, "--model: of which?")?;
        Ok(wishes)
    }

    fn models(&self) -> &[Model] {
        self.model.map_or(&MODELS, std::slice::from_ref)
    }

    fn range(&self) -> Range<u64> {
        self.range.clone().unwrap_or(0..2000)
    }

    fn folder(&self, path: &Path) -> Outcome<Folder> {
        ensure(self.rows_a_part > 0, "--rows-a-part: at least 1")?;
        let folder = Folder::new(path).rows_a_part(self.rows_a_part);
        #[cfg(feature = "arrow")]
        if self.parquet {
            return Ok(folder.parquet());
        }
        Ok(folder)
    }

    /// The rows of the range, in memory.
    fn rows(&self, model: &Model) -> Outcome<Rows> {
        let interrupt = Interrupt::new();
        let ensemble = model.ensemble(self.seed, &interrupt);
        #[cfg(feature = "parallel")]
        let ensemble = ensemble.threads(self.threads);
        Ok(ensemble.rows(self.range())?)
    }

    /// The ranges that a folder does not have; an error where its rows are not those of the model and the seed.
    fn gaps(&self, model: &Model, dir: &Path, range: Range<u64>) -> Outcome<Vec<Range<u64>>> {
        let interrupt = Interrupt::new();
        let ensemble = model.ensemble(self.seed, &interrupt);
        Ok(ensemble.missing(&self.folder(dir)?, range)?)
    }

    fn write(&self, model: &Model, path: &Path, out: &mut dyn Write) -> Outcome<()> {
        let interrupt = Interrupt::new();
        let on_signal = interrupt.clone();
        ctrlc::set_handler(move || on_signal.set())?;
        let ensemble = model.ensemble(self.seed, &interrupt);
        #[cfg(feature = "parallel")]
        let ensemble = ensemble.threads(self.threads);

        let range = self.range();
        let Range { start, end } = range;
        let bar = ProgressBar::new(end.saturating_sub(start));
        let style = "{bar:40} {percent:>3} % of {len}, {per_sec}, {eta} left, {msg} failed";
        bar.set_style(ProgressStyle::with_template(style)?);
        bar.set_message("0");
        let (mut made, mut failed) = (0, 0);
        let sink = |rows: &Rows| {
            made += rows.len();
            failed += rows.failures();
            bar.inc(rows.len() as u64);
            bar.set_message(failed.to_string());
            Ok(())
        };
        let end = path.extension().and_then(|end| end.to_str());
        let is_file = matches!(end, Some("csv" | "parquet")) && !path.is_dir();
        let ended = if is_file {
            ensemble.write(path, range, sink).map(drop)
        } else {
            ensemble.complete(&self.folder(path)?, range, sink)
        };
        bar.finish_and_clear();
        let is_interrupted = ended == Err(EnsembleFailure::Interrupted);
        if ended.is_ok() || is_interrupted {
            writeln!(out, "{made} rows made, {failed} failed: {}", path.display())?;
        }
        if is_interrupted {
            return Err("interrupted; the same command goes on from here".into());
        }
        Ok(ended?)
    }

    /// Reads the parts of a folder.
    fn merged(
        &self,
        model: &Model,
        dir: &Path,
        pictures: &Path,
        out: &mut dyn Write,
    ) -> Outcome<()> {
        let folder = self.folder(dir)?;
        let parts = folder.parts()?;
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else {
            return Err(format!("{} has no parts", dir.display()).into());
        };
        let there = first.range().start..last.range().end;
        let wanted = self.range.clone().unwrap_or(there.clone());
        let gaps = self.gaps(model, dir, wanted)?;
        if let (Some(_), Some(gap)) = (&self.out, gaps.first()) {
            return Err(format!("rows {gap:?} are missing in {}", dir.display()).into());
        }
        let from = first.provenance();
        writeln!(out, "{}, seed {}, rows {there:?}", from.model, from.seed)?;
        for gap in gaps {
            writeln!(out, "MISSING: {gap:?}")?;
        }
        if let Some(path) = &self.out {
            let part = folder.merge(path)?;
            writeln!(out, "wrote {}: {:?}", path.display(), part.range())?;
        }
        Self::show(model, pictures, out, &|sink| folder.stream(sink))
    }

    fn show(
        model: &Model,
        pictures: &Path,
        out: &mut dyn Write,
        read: summary::Reader<'_>,
    ) -> Outcome<()> {
        let summary = Summary::new(model, read)?;
        writeln!(out, "\n{}\n", model.title)?;
        summary.report(&model.shown, out)?;
        let file = picture::draw(pictures, model, &summary)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    }
}

fn model(name: &str) -> Result<&'static Model, &'static str> {
    let model = MODELS.iter().find(|model| model.name == name);
    model.ok_or("must be hopper, plate or block")
}

/// `3..17`.
fn range(text: &str) -> Result<Range<u64>, &'static str> {
    let ends = text.split_once("..").and_then(|(start, end)| {
        let (start, end) = (start.parse().ok()?, end.parse().ok()?);
        Some(start..end)
    });
    ends.ok_or("must be A..B")
}
