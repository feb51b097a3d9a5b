//! Samples of runs, and their text.

use saltation::models::BouncingBall;
use saltation::{ContactModel, EventDriven, Guard, InputError, Interrupt, Start};

use super::fixtures::cases;

#[test]
fn samples_are_the_states_of_their_times() {
    for case in cases() {
        let mut driver = (case.driver)(&Interrupt::new());
        let run = driver.integrate(&case.start(), case.tf).unwrap();
        let dt = 0.013 * case.tf;
        let film = run.every(dt).unwrap();
        assert_eq!(film.times.len(), 78, "{}", case.name);
        assert_eq!((film.times[0], film.times[77]), (0.0, run.t()));
        for (k, &t) in film.times.iter().enumerate() {
            assert_eq!(film.states.column(k), run.state_at(t).unwrap());
            assert_eq!(film.modes[k], *run.mode_at(t).unwrap());
        }
        let backwards: Vec<f64> = film.times.iter().rev().copied().collect();
        let again = run.sample(&backwards).unwrap();
        assert_eq!(again.states.column(0), *run.state());
        assert!(matches!(
            run.sample(&[2.0 * case.tf]),
            Err(InputError::OutsideRun { .. })
        ));
        for bad in [0.0, -1.0, f64::NAN, 1e-300] {
            assert!(run.every(bad).is_err());
        }
        // Nodes are states of their times too, the last of each time.
        for (k, &t) in run.times().iter().enumerate() {
            if run.times().get(k + 1) != Some(&t) {
                assert_eq!(
                    run.states().column(k),
                    run.state_at(t).unwrap(),
                    "{}",
                    case.name
                );
            }
        }
    }
}

/// Every number of a table is read back to the same bits.
#[test]
fn tables_have_all_digits() {
    for case in cases() {
        let mut driver = (case.driver)(&Interrupt::new());
        let run = driver.integrate(&case.start(), case.tf).unwrap();
        let mut text = Vec::new();
        run.write_csv(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let mut lines = text.lines();
        let head: Vec<&str> = lines.next().unwrap().split(',').collect();
        let dim = run.state().len();
        assert_eq!(head.len(), dim + 2);
        assert_eq!(head[0], "t");
        let last = if case.x.is_empty() { "closed" } else { "mode" };
        assert_eq!(head[dim + 1], last);
        let nodes: Vec<_> = run.nodes().collect();
        assert_eq!(nodes.len(), lines.clone().count());
        for (line, (t, x)) in lines.zip(nodes) {
            let cells: Vec<&str> = line.split(',').collect();
            assert_eq!(cells.len(), dim + 2, "{line}");
            let numbers: Vec<f64> = cells[..=dim]
                .iter()
                .map(|cell| cell.parse().unwrap())
                .collect();
            assert_eq!((numbers[0], &numbers[1..]), (t, x.as_slice()));
        }
    }
}

#[test]
fn a_ball_in_a_table_and_in_lists() {
    let ball = ContactModel::new(BouncingBall {
        restitution: 0.0,
        ..BouncingBall::default()
    });
    let mut driver = EventDriven::new(ball).unwrap();
    let run = driver
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 1.0)
        .unwrap();
    let mut text = Vec::new();
    run.write_csv(&mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with("t,q0,v0,closed\n0.0,1.0,0.0,\n"), "{text}");
    let landing = run.events()[0].t;
    // The node before the impact is open, the one after it closed.
    let at_landing: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with(&format!("{landing:?},")))
        .collect();
    assert_eq!(at_landing.len(), 2);
    assert!(
        at_landing[0].ends_with(',') && at_landing[1].ends_with(",0.0,0"),
        "{at_landing:?}"
    );
    assert_eq!(run.events_of(0).count(), 1);
    assert_eq!(run.events_of(1).count(), 0);
    assert_eq!(run.crossings_of(Guard::falling(0)).count(), 1);
    assert_eq!(run.crossings_of(Guard::rising(0)).count(), 0);
    assert_eq!(run.clusters(1.0).count(), 1);
    assert_eq!((run.q(0), run.v(0)), (&[1.0][..], &[0.0][..]));
    assert!(run.q(1_000_000).is_empty());
}
