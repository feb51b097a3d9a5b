//! Tables on more than three legs: where the motion depends on how the legs share the load a run says so, once.

use saltation::{ContactModel, Doubt, EventDriven, Run, Start, Status};

use crate::legged::Legged;
use crate::slips_in_space::disc;

/// A table with these legs.
fn table(legs: &[[f64; 2]], friction: &[f64]) -> Legged {
    Legged {
        legs: legs.to_vec(),
        friction: friction.to_vec(),
        ..disc()
    }
}

fn slides(table: Legged, v: [f64; 6]) -> Run {
    let mut driver = EventDriven::new(ContactModel::new(table))
        .unwrap()
        .rtol(1e-8);
    let start = Start::at(0.0).q(&[0.0; 6]).v(&v);
    let run = driver.integrate(&start, 1.0).unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    run
}

/// Times of the doubts.
fn shared(run: &Run) -> Vec<f64> {
    let time = |doubt: &Doubt| match *doubt {
        Doubt::SharedLoads { t } => Some(t),
        _ => None,
    };
    let times: Vec<f64> = run.doubts().iter().filter_map(time).collect();
    assert_eq!(run.is_guaranteed(), run.doubts().is_empty());
    times
}

const SQUARE: [[f64; 2]; 4] = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]];

#[test]
fn a_run_says_where_the_motion_depends_on_shares() {
    let straight = [2.0, 1.0, 0.0, 0.0, 0.0, 0.0];
    let turning = [2.0, 1.0, 0.0, 3.0, 0.0, 0.0];
    // Friction is one force, however four legs share the load.
    assert!(shared(&slides(table(&SQUARE, &[0.3; 4]), straight)).is_empty());
    // Two legs carry it or the other two, with other frictions.
    let found = shared(&slides(table(&SQUARE, &[0.3; 4]), turning));
    assert!(found.len() == 1 && found[0] < 0.1, "{found:?}");
    let uneven = [0.3, 0.3, 0.3, 0.2];
    assert_eq!(shared(&slides(table(&SQUARE, &uneven), straight)).len(), 1);
    // Shares of three legs are known.
    let three = &SQUARE[..3];
    assert!(shared(&slides(table(three, &[0.3, 0.2, 0.4]), turning)).is_empty());
    // A leg without friction beside another one that carries with it.
    let uneven = [0.3, 0.0, 0.3, 0.0];
    assert_eq!(shared(&slides(table(&SQUARE, &uneven), straight)).len(), 1);
    // At rest nothing depends on them.
    assert!(shared(&slides(table(&SQUARE, &uneven), [0.0; 6])).is_empty());
}

/// A table that slides straight at first, and turns by a torque that grows: the time of the doubt is that of the turn.
#[test]
fn a_table_that_begins_to_turn_is_seen() {
    let mut table = table(&SQUARE, &[0.3; 4]);
    table.pull[0] = [0.0, 0.0, 2.0];
    let run = slides(table, [2.0, 1.0, 0.0, 0.0, 0.0, 0.0]);
    let found = shared(&run);
    assert!(found.len() == 1 && found[0] < 0.5, "{found:?}");
}
