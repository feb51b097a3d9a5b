//! Contacts that are nearly dependent: positive definite and semidefinite problems of almost or
//! fully deficient rank. Those with a solution are solved, of the others it is proved that they
//! have none.

use nalgebra::DMatrix;
use saltation::lcp::LcpFailure;
use saltation::lcp::{Attempt, LcpSolver, residual};

use crate::contacts::{Contacts, Lcp};
use crate::random::SplitMix64;
use crate::random_problems::proof_holds;

/// Problems of each family.
const DRAWS: usize = if cfg!(debug_assertions) { 300 } else { 6_000 };

fn matrix(rows: usize, columns: usize, random: &mut SplitMix64) -> DMatrix<f64> {
    DMatrix::from_fn(rows, columns, |_, _| random.between(-1.0, 1.0))
}

fn offsets(n: usize, random: &mut SplitMix64) -> Vec<f64> {
    (0..n).map(|_| random.between(-1.0, 1.0)).collect()
}

/// Between `low` and `high`, both included.
fn size(random: &mut SplitMix64, low: usize, high: usize) -> usize {
    low + usize::try_from(random.next() % (high - low + 1) as u64).unwrap()
}

/// Solves [`DRAWS`] problems, all of them; the rungs that the ladder needed beyond the first.
fn all_solved(name: &str, seed: u64, make: impl Fn(&mut SplitMix64) -> Lcp) -> usize {
    let mut random = SplitMix64(seed);
    let mut solver = LcpSolver::new(40);
    let mut beyond = 0;
    for draw in 0..DRAWS {
        let (w, q) = make(&mut random);
        let n = q.len();
        let solution = solver.solve(&w, &q);
        let solution = solution.unwrap_or_else(|e| panic!("{name}, draw {draw}, n = {n}: {e}"));
        let largest = |v: &[f64]| v.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        let allowed = 1e-10 * (largest(&q) + largest(solution.z()));
        let found = residual(&w, &q, solution.z()).unwrap();
        assert!(found <= allowed, "{name}, draw {draw}, n = {n}: {found:e}");
        assert!(solution.z().iter().all(|&z| z >= 0.0));
        beyond += usize::from(solution.rung() > Attempt::Lemke);
    }
    beyond
}

/// `A Aᵀ + by`, plus a skew part of the same rank or less; `A` is square or tall.
fn almost_deficient(by: f64, skew: f64, square: bool) -> impl Fn(&mut SplitMix64) -> Lcp {
    move |random| {
        let n = size(random, 13, 40);
        let rank = if square { n } else { size(random, 1, n) };
        let a = matrix(n, rank, random);
        let rank = size(random, 1, rank);
        let s = matrix(n, rank, random) * matrix(rank, n, random) * skew;
        let w = &a * a.transpose() + DMatrix::identity(n, n) * by + &s - s.transpose();
        (w, offsets(n, random))
    }
}

#[test]
fn definite_problems_that_are_almost_singular_are_solved() {
    let mut beyond = 0;
    for (seed, by) in [1e-6, 1e-8, 1e-9, 1e-10, 1e-11].into_iter().enumerate() {
        for (square, name) in [(true, "square"), (false, "tall")] {
            let name = format!("{name} + {by:e}");
            beyond += all_solved(&name, 61 + seed as u64, almost_deficient(by, 0.0, square));
        }
    }
    assert!(beyond > DRAWS / 4, "{beyond}");
}

#[test]
fn so_are_those_that_are_not_symmetric() {
    let mut beyond = 0;
    for (seed, skew) in [1e-6, 1e-3, 1.0].into_iter().enumerate() {
        for by in [1e-8, 1e-10, 1e-11] {
            let name = format!("skew {skew:e} + {by:e}");
            beyond += all_solved(&name, 71 + seed as u64, almost_deficient(by, skew, false));
        }
    }
    assert!(beyond > DRAWS / 4, "{beyond}");
}

/// `J M⁻¹ Jᵀ` and `J v`: contacts of any number between bodies of any number, inertias over so many
/// decades.
fn contacts(decades: f64, sparse: bool) -> impl Fn(&mut SplitMix64) -> Lcp {
    move |random| {
        let n = size(random, 2, 40);
        let d = size(random, 1, 2 * n);
        let j = DMatrix::from_fn(n, d, |i, k| {
            let there = !sparse || i % d == k || random.unit() < 3.0 / d as f64;
            let entry = random.between(-1.0, 1.0);
            if there { entry } else { 0.0 }
        });
        let inverse: Vec<f64> = (0..d)
            .map(|_| 10f64.powf(decades * (random.unit() - 0.5)))
            .collect();
        let w = &j * DMatrix::from_fn(d, n, |c, r| j[(r, c)] * inverse[c]);
        let v = matrix(d, 1, random);
        (w, (&j * v).iter().copied().collect())
    }
}

#[test]
fn contacts_with_inertias_over_eight_decades_are_solved() {
    let mut beyond = 0;
    for (seed, decades) in [0.0, 4.0, 6.0, 8.0].into_iter().enumerate() {
        for (sparse, name) in [(false, "full"), (true, "sparse")] {
            let name = format!("{name}, {decades} decades");
            beyond += all_solved(&name, 81 + seed as u64, contacts(decades, sparse));
        }
    }
    assert!(beyond > DRAWS / 20, "{beyond}");
}

/// With friction, whose bounds `W` has too, over four decades. Over eight the sums `W z` round to
/// more than the check allows.
#[test]
fn contacts_with_friction_and_masses_over_four_decades_are_solved() {
    for bounded in [false, true] {
        all_solved("friction", 91, |random| {
            let count = size(random, 1, 10);
            let bodies = size(random, 1, 5);
            let unit = &mut || random.unit();
            let contacts = Contacts::random_of_masses(count, bodies, 100.0, unit);
            if bounded {
                let most: Vec<f64> = (0..count).map(|_| unit()).collect();
                contacts.boxed(&most, 2)
            } else {
                contacts.unboxed(2)
            }
        });
    }
}

/// Normals of groups of contacts that are parallel, or opposite, but for a small angle.
#[test]
fn contacts_that_are_almost_parallel_or_opposite_are_solved() {
    for opposite in [false, true] {
        all_solved("almost parallel", 95, |random| {
            let n = size(random, 2, 40);
            let d = size(random, 1, n);
            let a = matrix(n, d, random);
            let angle = 10f64.powf(random.between(-7.0, -3.0));
            let j = DMatrix::from_fn(n, d, |i, k| {
                let sign = if opposite && i % 2 == 1 { -1.0 } else { 1.0 };
                sign * a[(i / 2, k)] + angle * random.between(-1.0, 1.0)
            });
            let v = matrix(d, 1, random);
            (&j * j.transpose(), (&j * v).iter().copied().collect())
        });
    }
}

/// Positive semidefinite without a solution, of whole numbers: for a `u ≥ 0`, `Wᵀu = 0` and
/// `q·u < 0` exactly.
fn infeasible(skew: f64, random: &mut SplitMix64) -> Lcp {
    fn whole(random: &mut SplitMix64, most: u64) -> f64 {
        (random.next() % (2 * most + 1)) as f64 - most as f64
    }
    let n = size(random, 2, 40);
    let rank = size(random, 1, n);
    let last = size(random, 1, n) - 1;
    let u: Vec<f64> = (0..last).map(|_| whole(random, 4) + 5.0).collect();
    // Columns that u, and 1 at `last`, is orthogonal to.
    let mut orthogonal = |columns: usize| {
        let mut a = DMatrix::from_fn(n, columns, |_, _| whole(random, 9));
        for k in 0..columns {
            a[(last, k)] = -(0..last).map(|i| u[i] * a[(i, k)]).sum::<f64>();
        }
        a
    };
    let a = orthogonal(rank);
    let s = orthogonal(3) * orthogonal(3).transpose() * skew;
    let w = &a * a.transpose() + &s - s.transpose();
    let mut q: Vec<f64> = (0..n).map(|_| whole(random, 999)).collect();
    let by = 50.0 + whole(random, 49);
    q[last] = -(0..last).map(|i| u[i] * q[i]).sum::<f64>() - by;
    let order = random.permutation(n);
    let turned = DMatrix::from_fn(n, n, |i, j| w[(order[i], order[j])]);
    (turned, order.iter().map(|&i| q[i]).collect())
}

#[test]
fn semidefinite_problems_without_a_solution_are_proved_to_have_none() {
    for skew in [0.0, 1.0] {
        let mut random = SplitMix64(97);
        let mut solver = LcpSolver::new(40);
        for draw in 0..4 * DRAWS {
            let lcp = infeasible(skew, &mut random);
            let failure = solver.solve(&lcp.0, &lcp.1).map(|s| s.rung()).unwrap_err();
            let n = lcp.1.len();
            assert_eq!(
                failure,
                LcpFailure::Ray { infeasible: true },
                "skew {skew}, draw {draw}, n = {n}"
            );
            proof_holds(&lcp, solver.ray().unwrap());
        }
    }
}

/// Those that are feasible by little and those that are not by little are told apart.
#[test]
fn at_the_edge_of_what_has_a_solution() {
    let w = DMatrix::from_row_slice(2, 2, &[1.0, -1.0, -1.0, 1.0]);
    for by in [1e-1, 1e-3, 1e-5] {
        let solved = LcpSolver::new(2).solve(&w, &[1.0, -1.0 + by]).is_ok();
        let failure = LcpSolver::new(2).solve(&w, &[1.0, -1.0 - by]).err();
        assert_eq!(
            (solved, failure),
            (true, Some(LcpFailure::Ray { infeasible: true })),
            "{by:e}"
        );
    }
}

/// A contact of which nothing is known but its speed.
#[test]
fn rows_of_zeros_are_no_reason_to_give_up() {
    let mut w = DMatrix::zeros(14, 14);
    for i in 1..14 {
        w[(i, i)] = 1.0;
    }
    w[(1, 2)] = 1.0;
    w[(2, 1)] = 1.0;
    let mut q = vec![-1.0; 14];
    q[0] = 0.5;
    let mut solver = LcpSolver::new(14);
    let z = solver.solve(&w, &q).unwrap().z().to_vec();
    assert!(z[0].abs() < 1e-15 && (z[1] + z[2] - 1.0).abs() < 1e-12);
    q[0] = -0.5;
    let failure = solver.solve(&w, &q).map(|s| s.rung());
    assert_eq!(failure, Err(LcpFailure::Ray { infeasible: true }));
}
