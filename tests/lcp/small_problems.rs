//! Small problems with known solutions, ties and dead ends.

use nalgebra::DMatrix;
use saltation::lcp::LcpFailure;
use saltation::lcp::{Attempt, LcpSolver};

use crate::fixtures::support::{assert_close, lcp, solved, solved_by};

#[test]
fn one_by_one_in_all_signs() {
    for (w, q, expected) in [
        (2.0, -3.0, Some(1.5)),
        (2.0, 0.0, Some(0.0)),
        (2.0, 3.0, Some(0.0)),
        (0.0, 3.0, Some(0.0)),
        (0.0, 0.0, Some(0.0)),
        (0.0, -3.0, None),
        (-2.0, 3.0, Some(0.0)),
        (-2.0, 0.0, Some(0.0)),
        (-2.0, -3.0, None),
        (1e-300, -1e-10, Some(1e290)),
        (1e300, -1e290, Some(1e-10)),
        (5e-324, -5e-324, Some(1.0)),
        (-0.0, -0.0, Some(0.0)),
    ] {
        match (solved(&lcp([[w]], [q])), expected) {
            (Ok(z), Some(expected)) => assert_close(&z, &[expected], 1e-15 * expected),
            (Err(LcpFailure::Ray { infeasible }), None) => assert!(infeasible),
            (found, _) => panic!("{w} z + {q}: {found:?}, expected {expected:?}"),
        }
    }
}

#[test]
fn nothing_to_solve() {
    assert_eq!(solved(&(DMatrix::zeros(0, 0), Vec::new())), Ok(Vec::new()));
    let mut solver = LcpSolver::default();
    let (z, rung) = solved_by(&mut solver, &lcp([[-1.0, -5.0], [3.0, 0.0]], [0.0, 7.0])).unwrap();
    assert_eq!((z, rung), (vec![0.0, 0.0], Attempt::Zero));
}

/// Without a rule for ties, Lemke's method goes round in a circle (Kostreva 1979).
#[test]
fn kostreva_does_not_cycle() {
    let cyclic = [[1.0, 2.0, 0.0], [0.0, 1.0, 2.0], [2.0, 0.0, 1.0]];
    let mut solver = LcpSolver::new(3).ladder(false);
    let (z, _) = solved_by(&mut solver, &lcp(cyclic, [-1.0; 3])).unwrap();
    assert_close(&z, &[1.0 / 3.0; 3], 1e-15);
    // Nearly tied, either way.
    for change in [1e-16, -1e-16, 1e-13, -1e-13, 1e-9, -1e-9] {
        let (z, _) = solved_by(&mut solver, &lcp(cyclic, [-1.0, -1.0 + change, -1.0])).unwrap();
        assert_close(&z, &[1.0 / 3.0; 3], 1e-8);
    }
}

#[test]
fn tied_first_ratios() {
    for n in 1..20 {
        let w = DMatrix::from_fn(n, n, |i, j| if i == j { 2.0 } else { 1.0 });
        let z = solved(&(w, vec![-1.0; n])).unwrap();
        assert_close(&z, &vec![1.0 / (n as f64 + 1.0); n], 1e-14);
    }
}

/// Murty's triangular matrices, with which pivoting by the least index takes 2ⁿ steps; solved row
/// by row.
#[test]
fn triangular_matrices() {
    for n in 1..20 {
        let w = DMatrix::from_fn(n, n, |i, j| match i.cmp(&j) {
            std::cmp::Ordering::Less => 0.0,
            std::cmp::Ordering::Equal => 1.0,
            std::cmp::Ordering::Greater => 2.0,
        });
        for base in [1.5f64, 2.0, 3.0] {
            let q: Vec<f64> = (0..n).map(|i| -base.powf((n - i) as f64)).collect();
            let mut expected: Vec<f64> = Vec::new();
            for q in &q {
                let rest = q + 2.0 * expected.iter().sum::<f64>();
                expected.push((-rest).max(0.0));
            }
            let size = base.powf(n as f64);
            let z = solved(&(w.clone(), q.clone())).unwrap();
            assert_close(&z, &expected, 1e-9 * size);
            let mut turned: Vec<f64> = q.iter().rev().copied().collect();
            let z = solved(&(w.transpose(), turned.clone())).unwrap();
            turned.clone_from(&z);
            turned.reverse();
            assert_close(&turned, &expected, 1e-9 * size);
        }
    }
}

#[test]
fn skew_matrices_with_zero_diagonal() {
    // A game of one row and column: z = (1/3, 1/2).
    let z = solved(&lcp([[0.0, -2.0], [3.0, 0.0]], [1.0, -1.0])).unwrap();
    assert_close(&z, &[1.0 / 3.0, 0.5], 1e-15);
    // A linear program: min x1 + x2 with x1 + 2 x2 ≥ 4, 3 x1 + x2 ≥ 6: x = (8/5, 6/5), duals (2/5,
    // 1/5).
    let program = lcp(
        [
            [0.0, 0.0, -1.0, -3.0],
            [0.0, 0.0, -2.0, -1.0],
            [1.0, 2.0, 0.0, 0.0],
            [3.0, 1.0, 0.0, 0.0],
        ],
        [1.0, 1.0, -4.0, -6.0],
    );
    assert_close(&solved(&program).unwrap(), &[1.6, 1.2, 0.4, 0.2], 1e-14);
}

#[test]
fn no_solution_is_a_ray() {
    // Infeasible: positive semidefinite, skew, copositive.
    for problem in [
        lcp([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]),
        lcp([[0.0, 1.0], [-1.0, 0.0]], [1.0, -1.0]),
        lcp([[0.0, 1.0], [0.0, 0.0]], [-1.0, -1.0]),
        lcp([[0.0; 2]; 2], [1.0, -1.0]),
    ] {
        let mut solver = LcpSolver::new(2);
        let failure = solver.solve(&problem.0, &problem.1).unwrap_err();
        assert_eq!(failure, LcpFailure::Ray { infeasible: true });
        assert!(failure.to_string().contains("proves"));
        let u = solver.ray().unwrap();
        assert!(u.iter().all(|&u| u >= 0.0) && u.contains(&1.0));
        for j in 0..2 {
            assert!(problem.0[(0, j)] * u[0] + problem.0[(1, j)] * u[1] <= 1e-15);
        }
        assert!(problem.1[0] * u[0] + problem.1[1] * u[1] < 0.0);
        solver.solve(&DMatrix::identity(1, 1), &[-1.0]).unwrap();
        assert_eq!(solver.ray(), None, "a ray is that of the last solve");
    }
    // Copositive and feasible (z = (0, 2)), yet without a solution.
    let problem = lcp([[0.0, 1.0], [0.0, 1.0]], [-2.0, -1.0]);
    assert_eq!(solved(&problem), Err(LcpFailure::Ray { infeasible: false }));
}

#[test]
fn a_cap_on_pivots_is_no_success_and_the_ladder_goes_on() {
    let problem = lcp([[2.0, 1.0], [1.0, 2.0]], [-5.0, -6.0]);
    let mut capped = LcpSolver::new(2).pivots_per_row(0);
    let (z, rung) = solved_by(&mut capped, &problem).unwrap();
    assert_eq!(rung, Attempt::Bases);
    assert_close(&z, &[4.0 / 3.0, 7.0 / 3.0], 1e-15);
    let mut capped = capped.ladder(false);
    let failure = solved_by(&mut capped, &problem).unwrap_err();
    assert_eq!(failure, LcpFailure::Pivots { pivots: 1 });
}

#[test]
fn a_residual_that_is_too_large_is_no_success() {
    let problem = lcp([[3.0, 1.0], [1.0, 7.0]], [-0.1, -0.5]);
    assert!(solved(&problem).is_ok());
    let mut strict = LcpSolver::new(2).tolerance(0.0);
    let failure = solved_by(&mut strict, &problem).unwrap_err();
    assert!(
        matches!(failure, LcpFailure::Residual { residual, allowed } if 0.0 < residual && residual < 1e-15 && allowed == 0.0),
        "{failure}"
    );
}

#[test]
fn the_covering_vector_chooses_among_solutions() {
    // z = 0 is none; (1, 0) and (0, 1) are.
    let (w, q) = lcp([[1.0, 2.0], [2.0, 1.0]], [-1.0, -1.0]);
    let mut solver = LcpSolver::new(2);
    for (d, expected) in [([1.0, 5.0], [1.0, 0.0]), ([5.0, 1.0], [0.0, 1.0])] {
        let solution = solver.solve_covered(&w, &q, &d).unwrap();
        assert_close(solution.z(), &expected, 1e-15);
        assert!(solution.pivots() <= 3 && solution.rung() == Attempt::Lemke);
    }
}

/// Factors of rows, of columns and of q that a change of units brings along.
#[test]
fn units_change_nothing() {
    let (w, q) = lcp(
        [[4.0, 1.0, -2.0], [1.0, 3.0, 0.5], [-1.0, 0.3, 2.0]],
        [-1.0, -2.0, 0.7],
    );
    let z = solved(&(w.clone(), q.clone())).unwrap();
    for (row, column) in [
        (1e-12, 1.0),
        (1e12, 1.0),
        (1.0, 1e-12),
        (1.0, 1e12),
        (1e150, 1e-100),
    ] {
        let factor = |i: usize, f: f64| f.powf(i as f64 / 2.0);
        let scaled = DMatrix::from_fn(3, 3, |i, j| factor(i, row) * w[(i, j)] * factor(j, column));
        let q: Vec<f64> = (0..3).map(|i| factor(i, row) * q[i]).collect();
        let mut solver = LcpSolver::new(3);
        // The covering vector in the same units: the same path.
        let d: Vec<f64> = (0..3).map(|i| factor(i, row)).collect();
        let solution = solver.solve_covered(&scaled, &q, &d).unwrap();
        assert_eq!(solution.rung(), Attempt::Lemke);
        for i in 0..3 {
            let back = solution.z()[i] * factor(i, column);
            assert!(
                (back - z[i]).abs() <= 1e-13,
                "{row} {column}: {back} {}",
                z[i]
            );
        }
    }
}

#[test]
fn low_rank_and_semidefinite() {
    // v vᵀ with v = (1, 2, −1): solvable when q is in reach.
    let v = [1.0, 2.0, -1.0];
    let w = DMatrix::from_fn(3, 3, |i, j| v[i] * v[j]);
    let z = solved(&(w.clone(), vec![-1.0, -2.0, 1.5])).unwrap();
    let along: f64 = (0..3).map(|i| v[i] * z[i]).sum();
    assert!((along - 1.0).abs() < 1e-14, "{z:?}");
    let failure = solved(&(w, vec![-1.0, -1.0, -1.0])).unwrap_err();
    assert_eq!(failure, LcpFailure::Ray { infeasible: true });
}
