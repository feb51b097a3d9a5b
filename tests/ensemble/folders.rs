//! Folders: which rows are missing, parts of another ensemble, rows that are other ones when they are
//! made again, merged tables. Every refusal says what is to be done, and changes no file.

use std::fs;
use std::path::Path;

use saltation::Status;
use saltation::ensemble::{Draw, Drawn, Ensemble, EnsembleFailure, Folder, Part, RunError};

use crate::fixtures::{ENDINGS, Runs, Scratch, bits, folder, hoppers, ignored, numbers, rows_of};

#[test]
fn missing_ranges_are_listed_and_made() {
    for ending in ENDINGS {
        let scratch = Scratch::new("missing");
        let folder = folder(scratch.path(), ending);
        let runs = hoppers(3);
        let missing = |range| {
            let gaps = runs.missing(&folder, range).unwrap();
            gaps.iter()
                .map(|gap| [gap.start, gap.end])
                .collect::<Vec<_>>()
        };
        assert_eq!(missing(0..200), [[0, 200]]);
        runs.complete(&folder, 30..60, ignored).unwrap();
        runs.complete(&folder, 100..200, ignored).unwrap();
        fs::write(scratch.path().join("notes.txt"), "mine").unwrap();
        fs::write(
            scratch.path().join(".7-9.csv.123.tmp"),
            "of a killed process",
        )
        .unwrap();
        assert_eq!(missing(0..250), [[0, 30], [60, 100], [200, 250]]);
        assert_eq!(missing(40..110), [[60, 100]]);
        assert!(missing(110..120).is_empty());
        assert_eq!(missing(5..10), [[5, 10]]);
        assert!(runs.missing(&folder, 9..9).is_err());
        let mut made = 0;
        runs.complete(&folder, 0..200, |rows| {
            made += rows.len();
            Ok(())
        })
        .unwrap();
        assert_eq!(made, 70);
        let parts = folder.parts().unwrap();
        let ranges: Vec<_> = parts.iter().map(Part::range).collect();
        assert_eq!(ranges, [0..30, 30..60, 60..100, 100..150, 150..200]);
        assert_eq!(rows_of(&folder), bits(&runs.rows(0..200).unwrap()));
        // Who reads files by name reads rows in order.
        let mut names: Vec<_> = parts.iter().map(Part::path).collect();
        names.sort();
        assert!(
            names
                .iter()
                .eq(&parts.iter().map(Part::path).collect::<Vec<_>>())
        );
    }
}

/// The text of a refusal, and the names and bytes of all files as they were.
fn said<T>(folder: &Path, act: impl FnOnce() -> Result<T, EnsembleFailure>) -> String {
    let files = || {
        let mut files: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .map(|path| (path.clone(), fs::read(path).unwrap_or_default()))
            .collect();
        files.sort();
        files
    };
    let before = files();
    let refused = act().err().map(|error| error.to_string());
    assert!(files() == before, "a file was changed");
    refused.expect("an error")
}

#[test]
fn parts_of_another_ensemble_are_refused_before_anything_is_made() {
    for ending in ENDINGS {
        let scratch = Scratch::new("foreign");
        let folder = folder(scratch.path(), ending);
        hoppers(3).complete(&folder, 0..20, ignored).unwrap();
        let first = folder.parts().unwrap().remove(0);
        for (other, what) in [
            (hoppers(4), "its seed is 3, not 4"),
            (
                hoppers(3).about("else"),
                "its model is \"hopper, rtol 1e-6\", not \"else\"",
            ),
        ] {
            let beside = scratch.path().join(format!("30-35.{ending}"));
            for refused in [
                said(scratch.path(), || other.complete(&folder, 0..40, ignored)),
                said(scratch.path(), || other.complete(&folder, 0..20, ignored)),
                said(scratch.path(), || other.missing(&folder, 0..20)),
                said(scratch.path(), || other.write(first.path(), 0..20, ignored)),
                // A part beside them would spoil the folder.
                said(scratch.path(), || other.write(&beside, 30..35, ignored)),
            ] {
                assert!(
                    refused.contains("not belong to this ensemble") && refused.contains(what),
                    "{refused}"
                );
            }
        }
        said(scratch.path(), || {
            numbers(3).complete(&folder, 0..40, ignored)
        });
        // One that was moved there.
        let moved = scratch.path().join("moved");
        let part = hoppers(4).write(moved.join(format!("a.{ending}")), 30..35, ignored);
        fs::rename(
            part.unwrap().path(),
            scratch.path().join(format!("a.{ending}")),
        )
        .unwrap();
        assert!(matches!(
            folder.parts(),
            Err(EnsembleFailure::Foreign { what: "seed", .. })
        ));
    }
}

/// Files that are no parts of a folder are nobody's concern: tables of several ensembles may lie side by side.
#[test]
fn tables_with_names_of_their_own_lie_side_by_side() {
    let scratch = Scratch::new("side");
    fs::write(scratch.path().join("2020-2021.csv"), "year,rain\n").unwrap();
    for seed in 0..3 {
        let path = scratch.path().join(format!("seed{seed}.csv"));
        numbers(seed).write(path, 0..5, ignored).unwrap();
    }
}

#[test]
fn rows_that_are_there_twice_are_refused_with_both_files() {
    let scratch = Scratch::new("twice");
    let folder = folder(scratch.path(), "csv");
    hoppers(3).complete(&folder, 0..20, ignored).unwrap();
    let first = folder
        .parts()
        .unwrap()
        .remove(0)
        .path()
        .display()
        .to_string();
    let twice = scratch.path().join("more.csv");
    hoppers(3).write(&twice, 15..25, ignored).unwrap();
    let refused = said(scratch.path(), || folder.parts());
    let twice = twice.display();
    assert_eq!(
        refused,
        format!("{first} and {twice} both have the rows 15..20: remove one of them")
    );
    // Two processes at a time, with ranges in common and parts of another length: the second says it.
    let scratch = Scratch::new("at-a-time");
    let few = Folder::new(scratch.path()).rows_a_part(7);
    let refused = numbers(3).block(5).complete(&few, 0..20, |rows| {
        if rows.range().start == 0 {
            numbers(3).complete(&Folder::new(scratch.path()).rows_a_part(9), 0..20, ignored)?;
        }
        Ok(())
    });
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("both have the rows 0..7"), "{refused}");
}

/// A part that begins elsewhere, or has rows beyond those that are asked for.
#[test]
fn a_part_with_other_rows_is_left_as_it_is() {
    let scratch = Scratch::new("others");
    let path = scratch.path().join("w.csv");
    numbers(3).write(&path, 0..10, ignored).unwrap();
    for range in [1..10, 0..9, 30..40] {
        let refused = said(scratch.path(), || {
            numbers(3).write(&path, range.clone(), ignored)
        });
        let expected = format!(
            "{} has the rows 0..10, which are not the first of {range:?}",
            path.display()
        );
        assert_eq!(refused, expected);
    }
}

#[test]
fn a_folder_has_parts_of_one_format() {
    if let [one, other] = ENDINGS[..] {
        let scratch = Scratch::new("formats");
        for (one, other) in [(one, other), (other, one)] {
            let path = scratch.path().join(one);
            numbers(3)
                .complete(&folder(&path, one), 0..20, ignored)
                .unwrap();
            let refused = said(&path, || {
                numbers(3).complete(&folder(&path, other), 0..40, ignored)
            });
            assert!(
                refused.contains(&format!("its format is {one}, not {other}")),
                "{refused}"
            );
        }
    }
}

/// As [`numbers`], with a draw and a run that may be others.
fn altered(
    draw: fn(&mut Draw) -> [f64; 2],
    run: fn(&mut u64, &Drawn<'_>, &mut [f64]) -> Result<Status, RunError>,
) -> Runs<u64> {
    Ensemble::new(3)
        .draw(&["a", "b"], draw)
        .run(&["sum"], (|| Ok(0)) as fn() -> _, run)
        .about("numbers")
}

/// The words and the seed are the same, the rows are not.
#[test]
fn a_row_is_made_again_and_must_be_the_same() {
    let usual: fn(&mut Draw) -> [f64; 2] = |draw| [draw.unit(), draw.normal()];
    let sum: fn(&mut u64, &Drawn<'_>, &mut [f64]) -> Result<Status, RunError> = |_, drawn, kept| {
        kept[0] = drawn[0] + drawn[1];
        Ok(Status::ReachedEnd)
    };
    // Row 0 fails in `numbers`: row 1 is the one that is made again.
    let cases = [
        (altered(|draw| [draw.unit(), draw.unit()], sum), "its b is "),
        (
            altered(usual, |_, drawn, kept| {
                kept[0] = (drawn[0] + drawn[1]).next_up();
                Ok(Status::ReachedEnd)
            }),
            "its sum is ",
        ),
        (
            altered(usual, |_, drawn, kept| {
                kept[0] = drawn[0] + drawn[1];
                Ok(Status::Ended)
            }),
            "its status is reached_end, not ended",
        ),
    ];
    for ending in ENDINGS {
        let scratch = Scratch::new("again");
        let folder = folder(scratch.path(), ending);
        let path = scratch.path().join(format!("alone/part.{ending}"));
        numbers(3).complete(&folder, 0..20, ignored).unwrap();
        numbers(3).write(&path, 0..20, ignored).unwrap();
        for (other, what) in &cases {
            for refused in [
                said(scratch.path(), || other.complete(&folder, 0..40, ignored)),
                said(scratch.path(), || other.missing(&folder, 0..20)),
                said(scratch.path(), || other.write(&path, 0..40, ignored)),
            ] {
                assert!(
                    refused.contains("row 1 of ") && refused.contains(what),
                    "{refused}"
                );
            }
        }
        altered(usual, sum)
            .complete(&folder, 0..20, ignored)
            .unwrap();
        // NaN is NaN, and a reason may have other words.
        let path = scratch.path().join(format!("failed/part.{ending}"));
        altered(usual, |_, _, _| Err("at noon".into()))
            .write(&path, 0..5, ignored)
            .unwrap();
        let later = altered(usual, |_, _, _| Err("at one".into()));
        later.write(&path, 0..9, ignored).unwrap();
        let path = scratch.path().join(format!("negative/part.{ending}"));
        let negative = altered(usual, |_, _, kept| {
            kept[0] = -f64::NAN;
            Ok(Status::ReachedEnd)
        });
        negative.write(&path, 0..5, ignored).unwrap();
        negative.write(&path, 0..9, ignored).unwrap();
    }
}

#[test]
fn a_merged_table_lies_outside_and_replaces_only_itself() {
    for ending in ENDINGS {
        let scratch = Scratch::new("merged");
        let parts = scratch.path().join("parts");
        let folder = folder(&parts, ending);
        let all = scratch.path().join(format!("all.{ending}"));
        let refused = said(scratch.path(), || folder.merge(&all));
        assert_eq!(refused, format!("{}: it has no parts", parts.display()));
        numbers(3).complete(&folder, 0..80, ignored).unwrap();
        let refused = said(&parts, || folder.merge(parts.join(format!("all.{ending}"))));
        assert!(refused.contains("outside of the folder"), "{refused}");
        let part = folder.merge(&all).unwrap();
        assert_eq!((part.range(), rows_of(&folder).len()), (0..80, 80));
        // It grows with the folder.
        numbers(3).complete(&folder, 80..90, ignored).unwrap();
        assert_eq!(folder.merge(&all).unwrap().range(), 0..90);
        assert_eq!(folder.merge(&all).unwrap().range(), 0..90);
        // A text, a table of others, one with more rows.
        let text = scratch.path().join(format!("text.{ending}"));
        fs::write(&text, "mine\n").unwrap();
        let refused = said(scratch.path(), || folder.merge(&text));
        assert!(refused.contains("not a whole part"), "{refused}");
        let other = scratch.path().join(format!("other.{ending}"));
        numbers(4).write(&other, 0..9, ignored).unwrap();
        let refused = said(scratch.path(), || folder.merge(&other));
        assert!(refused.contains("its seed is 4, not 3"), "{refused}");
        let more = scratch.path().join(format!("more.{ending}"));
        numbers(3).write(&more, 0..100, ignored).unwrap();
        let refused = said(scratch.path(), || folder.merge(&more));
        assert!(refused.contains("has the rows 0..100"), "{refused}");
        // A hole.
        numbers(3).complete(&folder, 95..99, ignored).unwrap();
        let refused = said(scratch.path(), || folder.merge(&all));
        assert_eq!(
            refused,
            format!("rows 90..95 are missing in {}", parts.display())
        );
    }
}

#[test]
fn a_damaged_part_says_what_to_do() {
    let scratch = Scratch::new("damaged");
    let folder = folder(scratch.path(), "csv");
    numbers(3).complete(&folder, 0..20, ignored).unwrap();
    let path = folder.parts().unwrap().remove(0).path().to_owned();
    let text = fs::read(&path).unwrap();
    fs::write(&path, &text[..text.len() / 2]).unwrap();
    let refused = said(scratch.path(), || {
        numbers(3).complete(&folder, 0..20, ignored)
    });
    assert!(
        refused.contains("remove it, and its rows are made again"),
        "{refused}"
    );
    fs::remove_file(&path).unwrap();
    numbers(3).complete(&folder, 0..20, ignored).unwrap();
    assert_eq!(fs::read(&path).unwrap(), text);
}
