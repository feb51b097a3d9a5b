//! The loop: splits, threads, interrupts, memory, bad input, panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

use saltation::ensemble::{Draw, Ensemble, EnsembleFailure, RowEnd, Rows};
use saltation::models::Hopper;
use saltation::{Error, InputError, Integrator, Interrupt, Start, Status};

use crate::allocations::most_held;
use crate::fixtures::{Scratch, bits, hoppers, ignored, numbers};

#[test]
fn any_split_on_any_threads_gives_the_same_rows() {
    let whole = bits(&hoppers(3).rows(5..105).unwrap());
    assert_eq!(whole.len(), 100);
    #[cfg(feature = "parallel")]
    let counts = [1, 2, 4];
    #[cfg(not(feature = "parallel"))]
    let counts = [1];
    for threads in counts {
        for block in [1, 7, 256] {
            let runs = hoppers(3).block(block);
            #[cfg(feature = "parallel")]
            let runs = runs.threads(threads);
            let mut parts = Vec::new();
            for range in [5..6, 6..70, 70..105] {
                parts.extend(bits(&runs.rows(range).unwrap()));
            }
            assert_eq!(parts, whole, "{threads} threads, blocks of {block}");
        }
    }
    assert_ne!(bits(&hoppers(4).rows(5..105).unwrap()), whole);
}

#[test]
fn a_run_that_fails_is_a_row_with_its_reason() {
    let rows = hoppers(3).rows(0..200).unwrap();
    assert_eq!(rows.range(), 0..200);
    assert!((1..30).contains(&rows.failures()), "{}", rows.failures());
    for row in rows.iter() {
        let failed = row.values[1] < 110.0;
        assert_eq!(row.values[2].is_nan(), failed);
        assert_eq!(row.end == &RowEnd::ReachedEnd, !failed);
        // One line, whatever the error says.
        assert_eq!(row.end.reason().starts_with("too soft, \""), failed);
        assert!(!row.end.reason().contains('\n'));
        assert_eq!(hoppers(3).drawn(row.index).unwrap(), row.values[..2]);
    }
}

/// One that is cut says so, and is cut once.
#[test]
fn a_long_reason_ends_in_dots() {
    for (length, kept) in [(400, "ß".repeat(400)), (401, "ß".repeat(399) + "…")] {
        let runs = Ensemble::new(1).draw(&["a"], |_| [0.0]).run(
            &[],
            || Ok(()),
            |(), _, _| Err("ß".repeat(length).into()),
        );
        let rows = runs.rows(0..1).unwrap();
        assert_eq!(rows.get(0).unwrap().end.reason(), kept);
        let scratch = Scratch::new("reason");
        let part = runs.write(scratch.path().join("a.csv"), 0..1, ignored);
        let read = |read: &Rows| {
            assert_eq!(bits(read), bits(&rows));
            Ok(())
        };
        part.unwrap().stream(read).unwrap();
    }
}

/// The end of a run is that of its driver; what a refused run had kept stays.
#[test]
fn rows_have_the_status_of_their_run() {
    let steps = |draw: &mut Draw| [if draw.index() == 0 { 1e6 } else { 3.0 }];
    let runs = Ensemble::new(1).draw(&["steps"], steps).run(
        &["z", "v", "unwritten"],
        || Ok(()),
        |(), drawn, kept| {
            let driver = Integrator::new(Hopper::default())?;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "small"
            )]
            let mut driver = driver.max_steps(drawn[0] as usize);
            let run = driver.integrate(&Start::at(0.0).x(&[2.0, 0.0]), 5.0)?;
            kept[..2].copy_from_slice(run.state().as_slice());
            Ok(run.status().clone())
        },
    );
    let rows = runs.rows(0..2).unwrap();
    assert_eq!(rows.get(0).unwrap().end, &RowEnd::ReachedEnd);
    let refused = rows.get(1).unwrap();
    assert!(refused.end.reason().contains("steps"), "{:?}", refused.end);
    assert!(refused.values[1].is_finite() && refused.values[3].is_nan());
    assert_eq!(
        rows.column("unwritten")
            .unwrap()
            .filter(|x| x.is_nan())
            .count(),
        2
    );
    assert!(rows.column("nothing").is_none() && rows.get(2).is_none());
}

#[test]
fn the_last_index_is_not_asked_for_its_successor() {
    let last = numbers(1).rows(u64::MAX - 3..u64::MAX).unwrap();
    assert_eq!(last.range(), u64::MAX - 3..u64::MAX);
}

#[test]
fn memory_does_not_depend_on_the_range() {
    let runs = numbers(1);
    #[cfg(feature = "parallel")]
    let runs = runs.threads(1);
    let held = |count: u64| most_held(|| runs.stream(0..count, ignored).unwrap());
    // Blocks have 93 or 94 failures; either range has two neighbours with the most.
    let few = held(24 * 1024);
    assert_eq!(held(60 * 1024), few);
    assert!(few < 200_000, "{few} bytes");
}

#[test]
fn an_interrupt_keeps_the_rows_that_were_made() {
    let interrupt = Interrupt::new();
    let stop = |draw: &mut Draw| {
        if draw.index() == 500 {
            interrupt.set();
        }
        [draw.unit()]
    };
    let runs = Ensemble::new(1)
        .draw(&["a"], stop)
        .run(&[], || Ok(()), |(), _, _| Ok(Status::ReachedEnd))
        .interrupt(&interrupt);
    // On several threads, rows before 500 may be under way on another one when row 500 sees the interrupt.
    #[cfg(feature = "parallel")]
    {
        let mut kept = 0;
        let ended = runs.clone().threads(2).stream(0..100_000, |rows| {
            kept = rows.range().end;
            Ok(())
        });
        assert!(
            ended == Err(EnsembleFailure::Interrupted) && kept <= 500,
            "{kept}"
        );
        interrupt.clear();
    }
    #[cfg(feature = "parallel")]
    let runs = runs.threads(1);
    let mut kept = Vec::new();
    let ended = runs.stream(0..100_000, |rows: &Rows| {
        kept.extend(bits(rows));
        Ok(())
    });
    assert_eq!(ended, Err(EnsembleFailure::Interrupted));
    assert_eq!(kept.len(), 500);
    interrupt.clear();
    let again = Ensemble::new(1).draw(&["a"], |draw| [draw.unit()]).run(
        &[],
        || Ok(()),
        |(), _, _| Ok(Status::ReachedEnd),
    );
    assert_eq!(kept, bits(&again.rows(0..kept.len() as u64).unwrap()));
    interrupt.set();
    assert_eq!(runs.rows(0..3), Err(EnsembleFailure::Interrupted));
    assert_eq!(
        Error::from(EnsembleFailure::Interrupted),
        Error::Interrupted
    );
}

/// An ensemble of one drawn number that may be bad.
fn refused(draw: fn(u64) -> Vec<f64>) -> EnsembleFailure {
    let draw = move |from: &mut Draw| draw(from.index());
    let runs =
        Ensemble::new(1)
            .draw(&["a"], draw)
            .run(&[], || Ok(()), |(), _, _| Ok(Status::ReachedEnd));
    runs.rows(0..2_000).unwrap_err()
}

#[test]
fn draws_that_make_no_sense_are_refused_by_the_first_row() {
    let long = refused(|index| vec![0.0; if index >= 700 { 2 } else { 1 }]);
    let (name, expected, found) = ("the draw", 1, 2);
    let reason = InputError::WrongLength {
        name,
        expected,
        found,
    };
    assert_eq!(long, EnsembleFailure::Draw { index: 700, reason });
    let endless = refused(|index| vec![if index >= 1500 { f64::INFINITY } else { 1.0 }]);
    let said = endless.to_string();
    assert!(
        said.contains("row 1500") && said.contains("not finite"),
        "{said}"
    );
}

#[test]
fn bad_requests_are_refused() {
    let runs = numbers(1);
    #[expect(clippy::reversed_empty_ranges, reason = "that is what is refused")]
    for range in [5..5, 7..5] {
        let (start, end) = (range.start, range.end);
        let empty = Err(EnsembleFailure::EmptyRange { start, end });
        assert_eq!(runs.rows(range.clone()), empty);
        assert_eq!(runs.stream(range, ignored).err(), empty.err());
    }
    let large = runs.rows(0..u64::MAX).unwrap_err();
    assert!(matches!(large, EnsembleFailure::TooLarge { .. }), "{large}");
    let small = numbers(1).max_memory(1000);
    assert!(matches!(
        small.stream(0..1000, ignored),
        Err(EnsembleFailure::TooLarge { .. })
    ));
    assert!(small.block(8).stream(0..1000, ignored).is_ok());
    for block in [0, usize::MAX] {
        let refused = numbers(1).block(block).rows(0..3);
        assert!(matches!(
            refused,
            Err(EnsembleFailure::Input(InputError::BadSetting { .. }))
        ));
    }
    #[cfg(feature = "parallel")]
    {
        let said = numbers(1).threads(1025).rows(0..3).unwrap_err();
        assert_eq!(said.to_string(), "threads = 1025: must be at most 1024");
    }
    for (name, rule) in [
        ("", "not empty"),
        ("a,b", "no comma"),
        ("a\"", "quote"),
        ("#a", "#"),
        ("a\n", "control character"),
        ("index", "columns of every table"),
        ("status", "columns of every table"),
        ("b", "a name of its own"),
    ] {
        let runs = Ensemble::new(1).draw(&["b"], |_| [0.0]).run(
            &[name],
            || Ok(()),
            |(), _, _| Ok(Status::ReachedEnd),
        );
        let refused = runs.rows(0..3).unwrap_err();
        assert!(matches!(refused, EnsembleFailure::BadColumn { .. }));
        let said = refused.to_string();
        assert!(said.contains(rule), "{said}");
    }
    let none = Ensemble::new(1).draw(&[], |_| [0.0; 0]).run(
        &[],
        || Ok(()),
        |(), _, _| Ok(Status::ReachedEnd),
    );
    assert!(matches!(
        none.rows(0..3),
        Err(EnsembleFailure::BadColumn { .. })
    ));
    let idle = Ensemble::new(1).draw(&["a"], |_| [0.0]).run(
        &[],
        || Err::<(), _>("no driver today".into()),
        |(), _, _| Ok(Status::ReachedEnd),
    );
    let said = idle.rows(0..3).unwrap_err();
    assert_eq!(said.to_string(), "no run can begin: no driver today");
}

#[test]
fn a_panic_passes_through_and_rows_before_it_were_handed_over() {
    let runs = Ensemble::new(1)
        .draw(&["a"], |draw| {
            assert!(draw.index() < 1000, "the user's own");
            [1.0]
        })
        .run(&[], || Ok(()), |(), _, _| Ok(Status::ReachedEnd))
        .block(256);
    let mut told = 0;
    let ended = catch_unwind(AssertUnwindSafe(|| {
        runs.stream(0..2000, |rows| {
            told += rows.len();
            Ok(())
        })
    }));
    let panic = ended.unwrap_err();
    let said = panic.downcast_ref::<&str>().copied().map(str::to_owned);
    let said = said.or_else(|| panic.downcast_ref::<String>().cloned());
    assert!(said.unwrap().contains("the user's own"));
    assert!(told >= 512, "{told}");
}
