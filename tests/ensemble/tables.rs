//! Tables: parts that are whole or not there, missing ranges, processes that are killed, full disks.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, fs, thread};

use saltation::Interrupt;
use saltation::ensemble::{Draw, EnsembleFailure, Part, Rows};

use crate::fixtures::{ENDINGS, Scratch, bits, folder, hoppers, ignored, numbers, rows_of};

/// NaN is read as NaN; the rows of these ensembles have no other.
#[test]
fn a_part_has_the_rows_and_says_where_they_come_from() {
    let scratch = Scratch::new("part");
    let runs = hoppers(3).about("hopper,  \n \"rtol\" 1e-6");
    let rows = runs.rows(20..120).unwrap();
    for ending in ENDINGS {
        let path = scratch.path().join(format!("new/part.{ending}"));
        let mut told = 0;
        let part = runs.write(&path, 20..120, |block| {
            told += block.len();
            Ok(())
        });
        let part = part.unwrap();
        assert_eq!(
            (part.range(), part.path(), told),
            (20..120, path.as_path(), 100)
        );
        assert_eq!(part.provenance(), runs.provenance());
        assert_eq!(part.provenance().model, "hopper, \"rtol\" 1e-6");
        let mut read = Vec::new();
        part.stream(|block| {
            read.extend(bits(block));
            Ok(())
        })
        .unwrap();
        assert_eq!(read, bits(&rows), "{ending}");
        // Nothing is left to do.
        let again = runs.write(&path, 20..120, |_| unreachable!()).unwrap();
        assert_eq!(again, part);
    }
}

#[test]
fn a_table_of_rows_is_plain_csv() {
    let mut text = Vec::new();
    numbers(1)
        .rows(10..13)
        .unwrap()
        .write_csv(&mut text)
        .unwrap();
    let text = String::from_utf8(text).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "index,a,b,sum,status,reason");
    assert!(lines[1].starts_with("10,0.") && lines[1].ends_with(",reached_end,"));
    assert!(
        lines[2].ends_with(",NaN,failed,\"a multiple of eleven\""),
        "{}",
        lines[2]
    );
    assert_eq!(lines.len(), 4);
}

#[cfg(feature = "arrow")]
#[test]
fn rows_are_an_arrow_table() {
    let rows = numbers(1).rows(10..13).unwrap();
    let table = rows.to_arrow().unwrap();
    assert_eq!((table.num_rows(), table.num_columns()), (3, 6));
    let names: Vec<String> = table
        .schema()
        .fields()
        .iter()
        .map(|f| f.name().clone())
        .collect();
    assert_eq!(names, ["index", "a", "b", "sum", "status", "reason"]);
    assert_eq!(table.column(5).null_count(), 2);
}

/// A file that was cut anywhere is never taken for a whole one.
#[test]
fn truncated_parts_are_refused() {
    let scratch = Scratch::new("cut");
    for ending in ENDINGS {
        let path = scratch.path().join(format!("part.{ending}"));
        numbers(3).write(&path, 0..25, ignored).unwrap();
        let whole = fs::read(&path).unwrap();
        // Each length of the end, where a format has its marks, and some of the others.
        let tail = whole.len().saturating_sub(200);
        for length in (0..tail).step_by(19).chain(tail..whole.len()) {
            fs::write(&path, &whole[..length]).unwrap();
            let read = Part::open(&path).and_then(|part| part.stream(ignored));
            assert!(
                matches!(read, Err(EnsembleFailure::Broken { .. })),
                "{length} of {ending}"
            );
        }
        fs::write(&path, &whole).unwrap();
        Part::open(&path).unwrap().stream(ignored).unwrap();
    }
    for name in ["part", "part.txt"] {
        let refused = numbers(3)
            .write(scratch.path().join(name), 0..3, ignored)
            .unwrap_err();
        assert!(
            refused.to_string().contains("neither .csv nor .parquet"),
            "{refused}"
        );
    }
}

/// Rows that were taken out of the middle, doubled or exchanged are missed.
#[test]
fn lines_that_were_changed_are_refused() {
    let scratch = Scratch::new("lines");
    let path = scratch.path().join("part.csv");
    numbers(3).write(&path, 0..25, ignored).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    for k in 0..lines.len() - 1 {
        let (mut without, mut twice, mut turned) = (lines.clone(), lines.clone(), lines.clone());
        without.remove(k);
        twice.insert(k, lines[k]);
        turned.swap(k, k + 1);
        for changed in [without, twice, turned] {
            fs::write(&path, changed.concat()).unwrap();
            let read = Part::open(&path).and_then(|part| part.stream(ignored));
            assert!(read.is_err(), "line {k}");
        }
    }
    fs::write(&path, text.replace("# seed 3", "# seed 4")).unwrap();
    let refused = Part::open(&path).unwrap_err();
    assert!(
        matches!(refused, EnsembleFailure::Foreign { what: "hash", .. }),
        "{refused}"
    );
}

#[test]
fn an_interrupt_leaves_a_part_that_is_continued() {
    for ending in ENDINGS {
        let scratch = Scratch::new("interrupted");
        let interrupt = Interrupt::new();
        let runs = numbers(3).block(10).interrupt(&interrupt);
        let path = scratch.path().join(format!("part.{ending}"));
        let stop_at = |row: u64| {
            let interrupt = interrupt.clone();
            move |rows: &Rows| {
                if rows.range().contains(&row) {
                    interrupt.set();
                }
                Ok(())
            }
        };
        let ended = runs.write(&path, 0..500, stop_at(100));
        assert_eq!(ended, Err(EnsembleFailure::Interrupted));
        let part = Part::open(&path).unwrap();
        assert!(part.range().start == 0 && (110..=140).contains(&part.range().end));
        interrupt.clear();
        let part = runs.write(&path, 0..500, ignored).unwrap();
        assert_eq!(part.range(), 0..500);

        let folder = folder(&scratch.path().join("parts"), ending);
        let ended = runs.complete(&folder, 0..500, stop_at(170));
        assert_eq!(ended, Err(EnsembleFailure::Interrupted));
        interrupt.clear();
        let missing = runs.missing(&folder, 0..500).unwrap();
        assert!(
            missing.len() == 1 && (180..=220).contains(&missing[0].start),
            "{missing:?}"
        );
        runs.complete(&folder, 0..500, ignored).unwrap();
        let mut rows = Vec::new();
        part.stream(|block| {
            rows.extend(bits(block));
            Ok(())
        })
        .unwrap();
        assert_eq!(rows_of(&folder), rows);
        assert_eq!(rows, bits(&numbers(3).rows(0..500).unwrap()));
    }
}

/// An error of the user's sink, and a draw that makes no sense: what was made is kept.
#[test]
fn an_early_end_loses_nothing() {
    let scratch = Scratch::new("early");
    let path = scratch.path().join("part.csv");
    let full = EnsembleFailure::EmptyRange { start: 0, end: 0 };
    let ended = numbers(3).block(10).write(&path, 0..100, |rows| {
        if rows.range().contains(&55) {
            return Err(full.clone());
        }
        Ok(())
    });
    assert_eq!(ended, Err(full));
    assert_eq!(Part::open(&path).unwrap().range(), 0..60);
    let draw = |from: &mut Draw| [if from.index() == 47 { f64::NAN } else { 1.0 }];
    let bad = saltation::ensemble::Ensemble::new(3)
        .draw(&["a"], draw)
        .run(&[], || Ok(()), |(), _, _| Ok(saltation::Status::ReachedEnd));
    let path = scratch.path().join("bad.csv");
    let ended = bad.write(&path, 0..100, ignored);
    assert!(matches!(
        ended,
        Err(EnsembleFailure::Draw { index: 47, .. })
    ));
    assert_eq!(Part::open(&path).unwrap().range(), 0..47);
}

/// The disk is full from some byte on, or at once: a typed error, no part, and finished parts stay.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_and_finished_parts_stay() {
    for ending in ENDINGS {
        let scratch = Scratch::new("full");
        let folder = folder(scratch.path(), ending);
        numbers(3).complete(&folder, 0..50, ignored).unwrap();
        // The file under its temporary name is the device that is always full.
        let name = format!("000000000050-000000000100.{ending}");
        let temporary = format!(".{name}.{}.tmp", std::process::id());
        let temporary = scratch.path().join(temporary);
        std::os::unix::fs::symlink("/dev/full", &temporary).unwrap();
        let refused = numbers(3).complete(&folder, 0..200, ignored).unwrap_err();
        let EnsembleFailure::File { path, reason } = &refused else {
            panic!("{refused}");
        };
        assert!(
            path.ends_with(&name) && reason.contains("No space left"),
            "{refused}"
        );
        assert_eq!(
            scratch.names(),
            [format!("000000000000-000000000050.{ending}")]
        );
        numbers(3).complete(&folder, 0..200, ignored).unwrap();
        assert_eq!(numbers(3).missing(&folder, 0..200).unwrap(), []);
    }
    let refused = numbers(3)
        .write("/proc/none/part.csv", 0..3, ignored)
        .unwrap_err();
    assert!(matches!(refused, EnsembleFailure::File { .. }), "{refused}");
    let device = fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    assert!(numbers(3).rows(0..3).unwrap().write_csv(device).is_err());
}

/// The folder in which a process of [`killed`] works.
const FOLDER: &str = "SALTATION_TEST_FOLDER";
const ROWS: u64 = 20_000;

/// Does nothing by itself.
#[test]
#[ignore = "a process of the tests of killed processes"]
fn process_to_be_killed() {
    if let Ok(path) = env::var(FOLDER) {
        let ending = env::var("SALTATION_TEST_ENDING").unwrap();
        let folder = folder(Path::new(&path), &ending).rows_a_part(1000);
        numbers(9).complete(&folder, 0..ROWS, ignored).unwrap();
    }
}

/// Starts a process again and again, and kills each at a random instant; so many kills in all.
fn killed(kills: u64, ending: &str) {
    let whole = bits(&numbers(9).rows(0..ROWS).unwrap());
    let (mut done, mut completed, mut partly) = (0, 0, 0);
    let mut pause = Draw::new(77, 0);
    while done < kills {
        let scratch = Scratch::new(&format!("killed-{kills}-{ending}"));
        let folder = folder(scratch.path(), ending);
        let runs = numbers(9);
        while !runs.missing(&folder, 0..ROWS).unwrap().is_empty() {
            let mut process = Command::new(env::current_exe().unwrap())
                .args(["--exact", "tables::process_to_be_killed", "--ignored"])
                .env(FOLDER, scratch.path())
                .env("SALTATION_TEST_ENDING", ending)
                .stdout(Stdio::null())
                .spawn()
                .unwrap();
            thread::sleep(Duration::from_secs_f64(pause.between(0.0, 0.15)));
            process.kill().unwrap();
            process.wait().unwrap();
            done += 1;
            let missing: u64 = (runs.missing(&folder, 0..ROWS).unwrap().iter())
                .map(|gap| gap.end - gap.start)
                .sum();
            partly += u64::from((1..ROWS).contains(&missing));
        }
        assert!(
            rows_of(&folder) == whole,
            "every index once, with the same bits"
        );
        completed += 1;
    }
    println!("{done} kills, {partly} of them in the middle; {completed} tables, all whole");
    assert!(partly * 10 > done);
}

#[test]
fn a_process_that_is_killed_at_any_instant_is_taken_up() {
    for ending in ENDINGS {
        killed(6, ending);
    }
}

#[test]
#[ignore = "a minute: 100 kills for each format"]
fn processes_killed_a_hundred_times() {
    for ending in ENDINGS {
        killed(100, ending);
    }
}
