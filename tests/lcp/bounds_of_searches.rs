//! Searches end: by caps that the documentation states, and by interrupts.

use nalgebra::DMatrix;
use saltation::Interrupt;
use saltation::lcp::{LcpFailure, LcpSolver, enumerate, enumerate_until};

use crate::random::SplitMix64;

/// Whole numbers, many of them alike: paths with many ties, some of which rounding drives round.
#[test]
fn no_number_of_pivots_is_endless() {
    let mut random = SplitMix64(51);
    let mut solver = LcpSolver::new(10).pivots_per_row(usize::MAX);
    let mut ends = [0, 0];
    for draw in 0..3000 {
        let n = 2 + draw % 9;
        let mut entry = || [-1.0, 0.0, 1.0, 1e-11][usize::try_from(random.next() % 4).unwrap()];
        let w = DMatrix::from_fn(n, n, |_, _| entry());
        let q: Vec<f64> = (0..n).map(|_| entry()).collect();
        ends[usize::from(solver.solve(&w, &q).is_err())] += 1;
    }
    assert!(ends[0] > 100 && ends[1] > 100, "{ends:?}");
}

#[test]
fn lists_of_solutions_are_not_endless() {
    let refused = |w: &DMatrix<f64>, q: &[f64]| enumerate(w, q).err();
    let limit = 4096;
    let n = 13;
    // Every basis holds the same half-space of solutions; each holds another one.
    for (w, q) in [(DMatrix::zeros(n, n), 0.0), (-DMatrix::identity(n, n), 1.0)] {
        let expected = Some(LcpFailure::TooManySolutions { limit });
        assert_eq!(refused(&w, &vec![q; n]), expected);
    }
    let twelve = -DMatrix::<f64>::identity(12, 12);
    assert_eq!(enumerate(&twelve, &[1.0; 12]).map(|l| l.len()), Ok(limit));
}

#[test]
fn interrupts_end_searches_and_change_nothing_else() {
    let interrupt = Interrupt::new();
    let (w, q) = (
        DMatrix::from_row_slice(2, 2, &[2.0, 1.0, 1.0, 2.0]),
        [-1.0, -1.0],
    );
    let mut solver = LcpSolver::new(2).interrupt(&interrupt);
    let found = solver.solve(&w, &q).map(|s| s.z().to_vec());
    let plain = LcpSolver::new(2).solve(&w, &q).map(|s| s.z().to_vec());
    assert_eq!(found, plain);
    assert_eq!(enumerate_until(&w, &q, &interrupt), enumerate(&w, &q));
    interrupt.set();
    assert_eq!(solver.solve(&w, &q).err(), Some(LcpFailure::Interrupted));
    assert_eq!(
        enumerate_until(&w, &q, &interrupt),
        Err(LcpFailure::Interrupted)
    );
    // Where nothing is to be done there is nothing to stop.
    assert!(solver.solve(&w, &[1.0, 1.0]).is_ok());
    interrupt.clear();
    assert_eq!(solver.solve(&w, &q).map(|s| s.z().to_vec()), plain);
}
