//! Input that makes no sense comes back as an error, and none whatever panics or hangs.

use nalgebra::DMatrix;
use saltation::InputError;
use saltation::lcp::LcpFailure;
use saltation::lcp::{LcpSolver, enumerate, residual};

use crate::fixtures::support::solved;
use crate::random::SplitMix64;

#[test]
fn wrong_sizes_are_refused() {
    let mut solver = LcpSolver::new(3);
    for (rows, columns, q) in [
        (2, 3, 3),
        (3, 2, 3),
        (3, 3, 2),
        (0, 0, 1),
        (1, 1, 0),
        (0, 3, 3),
    ] {
        let w = DMatrix::zeros(rows, columns);
        let q = vec![-1.0; q];
        let failure = solver.solve(&w, &q).unwrap_err();
        assert!(
            matches!(failure, LcpFailure::Input(InputError::WrongLength { .. })),
            "{failure}"
        );
        assert!(matches!(
            enumerate(&w, &q),
            Err(LcpFailure::Input(InputError::WrongLength { .. }))
        ));
        assert!(matches!(
            residual(&w, &q, &q),
            Err(LcpFailure::Input(InputError::WrongLength { .. }))
        ));
    }
    assert!(enumerate(&DMatrix::identity(17, 17), &[-1.0; 17]).is_err());
    // And the solver is as good as before.
    assert!(solver.solve(&DMatrix::identity(2, 2), &[-1.0; 2]).is_ok());
}

#[test]
fn what_is_not_finite_is_refused_and_named() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut solver = LcpSolver::new(3);
        let mut w = DMatrix::identity(3, 3);
        w[(1, 2)] = bad;
        // Also where z = 0 would do.
        for q in [-1.0, 1.0] {
            let failure = solver.solve(&w, &[q; 3]).unwrap_err();
            let named = |e: &LcpFailure| matches!(e, LcpFailure::Input(InputError::NotFinite { name: "w", entry: 7, value }) if value.to_bits() == bad.to_bits());
            assert!(matches!(&failure, e if named(e)), "{failure}");
            assert!(named(&enumerate(&w, &[q; 3]).unwrap_err()));
        }
        let w = DMatrix::identity(3, 3);
        let failure = solver.solve(&w, &[1.0, bad, 1.0]).unwrap_err();
        assert!(
            matches!(
                failure,
                LcpFailure::Input(InputError::NotFinite {
                    name: "q",
                    entry: 1,
                    ..
                })
            ),
            "{failure}"
        );
        assert!(
            solver
                .solve_covered(&w, &[-1.0; 3], &[1.0, 1.0, bad])
                .is_err()
        );
        assert_eq!(residual(&w, &[-1.0; 3], &[bad; 3]), Ok(f64::INFINITY));
    }
}

#[test]
fn covering_vectors_are_positive() {
    let mut solver = LcpSolver::new(2);
    let w = DMatrix::identity(2, 2);
    for d in [&[1.0, 0.0][..], &[1.0, -1.0], &[1.0], &[1.0; 3]] {
        let refused = solver.solve_covered(&w, &[-1.0; 2], d);
        assert!(matches!(
            refused,
            Err(LcpFailure::Input(
                InputError::BadSetting { .. } | InputError::WrongLength { .. }
            ))
        ));
    }
    assert!(
        solver
            .solve_covered(&w, &[-1.0; 2], &[1e-300, 1e300])
            .is_ok()
    );
}

#[test]
fn tolerances_that_would_let_anything_pass_are_refused() {
    let w = DMatrix::identity(2, 2);
    for bad in [
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        -1e-10,
        1.0,
        1e300,
    ] {
        // Also where z = 0 would do.
        for q in [-1.0, 1.0] {
            let mut solver = LcpSolver::new(2).tolerance(bad);
            for refused in [
                solver.solve(&w, &[q; 2]).map(|s| s.pivots()),
                solver
                    .solve_covered(&w, &[q; 2], &[1.0; 2])
                    .map(|s| s.pivots()),
            ] {
                let named = matches!(
                    &refused,
                    Err(LcpFailure::Input(InputError::BadSetting {
                        name: "tolerance",
                        ..
                    }))
                );
                assert!(named, "{bad}: {refused:?}");
            }
        }
    }
    assert!(
        LcpSolver::new(2)
            .tolerance(0.0)
            .solve(&w, &[-1.0; 2])
            .is_ok()
    );
}

/// Numbers at the ends of the range, and any bits at all.
#[test]
fn no_numbers_make_it_panic_or_lie() {
    let mut random = SplitMix64(31);
    let special = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        1e300,
        -1e300,
        1e-300,
        -1e-300,
        f64::MAX,
        f64::MIN,
        5e-324,
        -5e-324,
        f64::MIN_POSITIVE,
        1e5,
        1e-16,
        -1e-16,
    ];
    let mut solver = LcpSolver::new(0);
    let mut ends = [0, 0];
    for draw in 0..6000usize {
        let n = 1 + draw % 7;
        let mut number = || {
            if draw % 3 == 0 {
                f64::from_bits(random.next())
            } else {
                special[usize::try_from(random.next() % 16).unwrap()]
            }
        };
        let w = DMatrix::from_fn(n, n, |_, _| number());
        let q: Vec<f64> = (0..n).map(|_| number()).collect();
        let _ = solver.ray();
        match solver.solve(&w, &q) {
            Ok(solution) => {
                let size = q
                    .iter()
                    .chain(solution.z())
                    .fold(0.0, |m: f64, v| m.max(v.abs()));
                let found = residual(&w, &q, solution.z()).unwrap();
                assert!(found <= 2e-10 * size && found.is_finite());
                ends[0] += 1;
            }
            Err(failure) => {
                assert!(!failure.to_string().is_empty());
                ends[1] += 1;
            }
        }
        if n < 5 {
            let _ = enumerate(&w, &q);
        }
    }
    assert!(ends[0] > 1000 && ends[1] > 1000, "{ends:?}");
    // A number of unknowns for which there is no memory is no reason to panic.
    assert!(
        LcpSolver::new(usize::MAX)
            .solve(&DMatrix::identity(1, 1), &[-1.0])
            .is_ok()
    );
}

/// Rows whose every entry is negligible beside others, or a matrix of zeros.
#[test]
fn zero_matrices_fail_honestly() {
    for n in [1, 2, 13, 40] {
        let failure = solved(&(DMatrix::zeros(n, n), vec![-1.0; n])).unwrap_err();
        assert_eq!(failure, LcpFailure::Ray { infeasible: true });
        assert!(solved(&(DMatrix::zeros(n, n), vec![0.0; n])).is_ok());
    }
}
