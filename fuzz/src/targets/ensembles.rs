//! Ensembles with any settings and names; tables that were damaged; statistics of any numbers.

use std::fs;
use std::path::PathBuf;

#[cfg(feature = "arrow")]
use saltation::ensemble::arrow_array;
use saltation::ensemble::{
    Draw as Drawing, Drawn, Ensemble, EnsembleFailure, Folder, Histogram, Moments, Part,
    Provenance, Quantiles, Row, RowEnd, Rows, RunError,
};
use saltation::{Interrupt, Status, Stop};

use crate::draw::Draw;
use crate::trial::Trial;

pub fn run(mut draw: Draw, trial: &mut Trial) {
    let draw = &mut draw;
    drawings(draw, trial);
    moments(draw, trial);
    histograms(draw, trial);
    quantiles(draw, trial);
    ensembles(draw, trial);
}

fn drawings(draw: &mut Draw, trial: &mut Trial) {
    let mut drawing = Drawing::new(draw.word(), draw.word());
    for _ in 0..draw.below(9) {
        let unit = drawing.unit();
        trial.expect((0.0..1.0).contains(&unit), || format!("{unit} in [0, 1)"));
        let count = draw.below(9);
        let below = drawing.below(count);
        trial.expect(below < count.max(1), || format!("{below} below {count}"));
        trial.finite("normal", &[drawing.normal()]);
        trial.note("drawn", &(drawing.word(), drawing.index()));
        trial.note("between", &drawing.between(draw.number(), draw.number()));
    }
}

fn moments(draw: &mut Draw, trial: &mut Trial) {
    let columns = draw.size(4);
    let Some(mut all) = trial.door("moments", Moments::new(columns)) else {
        return;
    };
    let mut other = all.clone();
    for k in 0..draw.below(12) {
        let row = draw.numbers(draw.clone().length(columns));
        let to = if k % 2 == 0 { &mut all } else { &mut other };
        trial.door("add", to.add(&row));
    }
    trial.door("merge", all.merge(&other));
    trial.expect(all.count() >= other.count(), || "lost rows".to_owned());
    trial.note("moments", &(all.mean(), all.covariance(), all.skipped()));
    trial.note("odd", &Moments::new(draw.size(2000)).is_ok());
}

fn histograms(draw: &mut Draw, trial: &mut Trial) {
    let (range, bins) = (draw.number()..draw.number(), draw.size(40));
    let Some(mut all) = trial.door("histogram", Histogram::new(range, bins)) else {
        return;
    };
    let count = draw.below(20) as u64;
    (0..count).for_each(|_| all.add(draw.number()));
    let inside: u64 = all.counts().iter().sum();
    let sum = inside + all.below() + all.beyond() + all.skipped();
    trial.expect(sum == count, || format!("{sum} of {count} numbers"));
    let copy = all.clone();
    trial.expect(all.merge(&copy).is_ok(), || "its own copy".to_owned());
    let bin = all.bin(draw.size(bins + 2));
    trial.expect(bin.is_none_or(|bin| bin.start <= bin.end), || {
        "a bin".to_owned()
    });
}

fn quantiles(draw: &mut Draw, trial: &mut Trial) {
    let Some(mut all) = trial.door("quantiles", Quantiles::new(draw.part())) else {
        return;
    };
    let mut other = all.clone();
    let count = draw.below(20) as u64;
    for k in 0..count {
        let to = if k % 3 == 0 { &mut other } else { &mut all };
        to.add(draw.number());
    }
    trial.door("merge", all.merge(&other));
    let sum = all.count() + all.skipped();
    trial.expect(sum == count, || format!("{sum} of {count} numbers"));
    let found = all.quantile(draw.number());
    trial.finite("quantile", found.as_slice());
    let (low, high) = (all.quantile(0.0), all.quantile(1.0));
    trial.expect(low <= high, || format!("{low:?} to {high:?}"));
}

/// What a run of the ensemble does.
fn end(index: u64, odd: u64) -> Result<Status, RunError> {
    match (index ^ odd) % 7 {
        0 => Err("no, \"never\",\n#".into()),
        1 => Ok(Status::Ended),
        2 => Ok(Status::Refused(Stop::model("a reason"))),
        3 => Ok(Status::Stopped { guards: Vec::new() }),
        _ => Ok(Status::ReachedEnd),
    }
}

fn ensembles(draw: &mut Draw, trial: &mut Trial) {
    let names = ["a", "b", "index", "", "x,y", "é", "a"];
    let count = 1 + draw.below(2);
    let tame = draw.chance(0.8);
    let name = |draw: &mut Draw| match tame {
        true => "kept",
        false => *draw.pick(&names),
    };
    let kept = name(draw);
    let numbers = draw.numbers(draw.clone().length(count));
    let odd = draw.word();
    let interrupt = Interrupt::new();
    let ensemble = Ensemble::new(draw.word())
        .draw(&["p", "q"][..count], |from: &mut Drawing| {
            let shift = from.unit();
            numbers.iter().map(|x| x + shift).collect::<Vec<f64>>()
        })
        .run(
            &[kept],
            || Ok(0_u64),
            |runs: &mut u64, drawn: &Drawn<'_>, kept: &mut [f64]| {
                *runs += 1;
                kept[0] = drawn.iter().sum();
                end(drawn.index(), odd)
            },
        )
        .about(format!("{odd} \n words"))
        .threads(draw.whole(1, 2))
        .block(draw.size(5))
        .max_memory(draw.size(3000))
        .interrupt(&interrupt);
    let start = *draw.pick(&[0, 3, 1 << 40, u64::MAX - 20]);
    let length = draw.below(20) as u64;
    let middle = start + draw.below(length as usize + 1) as u64;
    let of: &Provenance = ensemble.provenance();
    trial.note("provenance", &(of, of.hash()));
    trial.note("drawn", &ensemble.drawn(start).is_ok());
    let Some(rows) = trial.door("rows", ensemble.rows(start..start + length)) else {
        return;
    };
    look(trial, &rows, kept);
    if middle > start && middle < start + length {
        let parts = [start..middle, middle..start + length].map(|range| ensemble.rows(range));
        let split: Vec<String> = (parts.iter().flatten()).flat_map(listed).collect();
        trial.expect(split == listed(&rows), || "a split range".to_owned());
    }
    let mut seen = Moments::new(rows.columns().len()).unwrap_or_else(|_| unreachable!());
    let streamed = ensemble.stream(start..start + length, |rows| seen.add_rows(rows));
    trial.expect(streamed.is_ok(), || "a stream".to_owned());
    #[cfg(feature = "arrow")]
    {
        let table: Result<arrow_array::RecordBatch, EnsembleFailure> = rows.to_arrow();
        trial.expect(table.is_ok_and(|t| t.num_rows() == rows.len()), || {
            "Arrow".to_owned()
        });
    }
    if draw.chance(0.1) {
        tables(draw, trial, &rows, |folder, path| {
            let range = start..start + length;
            let part: Part = ensemble.write(path, range.clone(), |_| Ok(()))?;
            ensemble.complete(folder, range.clone(), |_| Ok(()))?;
            ensemble.complete(folder, range.clone(), |_| unreachable!())?;
            let gaps = ensemble.missing(folder, range)?;
            assert!(gaps.is_empty(), "a gap");
            Ok(part)
        });
    }
    interrupt.set();
    let stopped = ensemble.rows(start..start + length);
    trial.expect(stopped == Err(EnsembleFailure::Interrupted), || {
        "an interrupt".to_owned()
    });
}

fn look(trial: &mut Trial, rows: &Rows, kept: &str) {
    trial.note("rows", &listed(rows));
    let failed = rows
        .iter()
        .filter(|row| !row.end.reason().is_empty())
        .count();
    trial.expect(rows.failures() == failed, || "failures".to_owned());
    let range = rows.range();
    trial.expect(range.end - range.start == rows.len() as u64, || {
        "a range".to_owned()
    });
    let column = rows.column(kept).map(Iterator::count);
    trial.expect(column == Some(rows.len()) && !rows.is_empty(), || {
        "a column".to_owned()
    });
    trial.expect(rows.get(rows.len()).is_none(), || "a row beyond".to_owned());
    let mut text = Vec::new();
    trial.expect(rows.write_csv(&mut text).is_ok(), || "a table".to_owned());
    trial.note("text", &String::from_utf8_lossy(&text));
}

fn listed(rows: &Rows) -> Vec<String> {
    let line = |row: Row<'_>| {
        let end: &RowEnd = row.end;
        format!("{} {:?} {}", row.index, row.values, end.name())
    };
    rows.iter().map(line).collect()
}

/// Files of a folder of this process: whole ones have the rows, damaged ones are refused or read.
fn tables(
    draw: &mut Draw,
    trial: &mut Trial,
    rows: &Rows,
    write: impl Fn(&Folder, &PathBuf) -> Result<Part, EnsembleFailure>,
) {
    let scratch = std::env::temp_dir().join(format!("saltation-fuzz-{}", std::process::id()));
    let _ = fs::remove_dir_all(&scratch);
    let folder = Folder::new(scratch.join("parts")).rows_a_part(1 + draw.below(9) as u64);
    let (folder, ending) = match draw.chance(0.5) {
        #[cfg(feature = "arrow")]
        true => (folder.parquet(), "parquet"),
        _ => (folder, "csv"),
    };
    let path = scratch.join(format!("part.{ending}"));
    if let Some(part) = trial.door("write", write(&folder, &path)) {
        trial.expect(part.path() == path && part.range() == rows.range(), || {
            "a part".to_owned()
        });
        trial.expect(folder.parts().is_ok_and(|parts| !parts.is_empty()), || {
            "parts".to_owned()
        });
        let merged = folder.merge(scratch.join(format!("all.{ending}")));
        let same = |part: &Part| part.provenance() == part.provenance();
        trial.expect(merged.as_ref().is_ok_and(same), || format!("{merged:?}"));
        let mut read = Vec::new();
        for whole in [&part].into_iter().chain(&merged) {
            read.clear();
            let streamed = whole.stream(|rows| {
                read.extend(listed(rows));
                Ok(())
            });
            trial.expect(streamed.is_ok() && read == listed(rows), || {
                "a table".to_owned()
            });
        }
        trial.expect(folder.stream(|_| Ok(())).is_ok(), || "a folder".to_owned());
        damage(draw, trial, &path);
    }
    let _ = fs::remove_dir_all(&scratch);
}

fn damage(draw: &mut Draw, trial: &mut Trial, path: &PathBuf) {
    let Ok(mut bytes) = fs::read(path) else {
        return;
    };
    for _ in 0..=draw.below(3) {
        let place = draw.below(bytes.len());
        if let Some(byte) = bytes.get_mut(place) {
            *byte = draw.word().to_le_bytes()[0];
        }
    }
    if draw.chance(0.3) {
        bytes.truncate(draw.below(bytes.len() + 1));
    }
    let _ = fs::write(path, bytes);
    let read = Part::open(path).and_then(|part| part.stream(|_| Ok(())));
    trial.note("damaged", &read.is_ok());
}
