//! Ten thousand random problems of every kind: what is called solved is, and what must be solvable
//! is solved.

use nalgebra::DMatrix;
use saltation::lcp::LcpFailure;
use saltation::lcp::LcpSolver;

use crate::contacts::Lcp;
use crate::fixtures::support::{assert_close, solved_by};
use crate::random::SplitMix64;

/// What theory says of Lemke's method on a family.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Promise {
    /// A solution, always.
    Solved,
    /// A solution, or a proof that there is none.
    Decided,
    Nothing,
}

fn matrix(n: usize, mut entry: impl FnMut() -> f64) -> DMatrix<f64> {
    DMatrix::from_fn(n, n, |_, _| entry())
}

/// Entries −1, 0, 1: ties everywhere.
fn integer(random: &mut SplitMix64) -> f64 {
    [-1.0, 0.0, 1.0][usize::try_from(random.next() % 3).unwrap()]
}

/// Its name, what is promised, and a problem of a given size.
type Family = (&'static str, Promise, fn(usize, &mut SplitMix64) -> Lcp);

fn families() -> [Family; 9] {
    fn offsets(n: usize, random: &mut SplitMix64) -> Vec<f64> {
        (0..n).map(|_| random.between(-1.0, 1.0)).collect()
    }
    fn low_rank(n: usize, random: &mut SplitMix64) -> DMatrix<f64> {
        let a = DMatrix::from_fn(n, n.div_ceil(2), |_, _| random.between(-1.0, 1.0));
        &a * a.transpose()
    }
    [
        ("positive definite", Promise::Solved, |n, random| {
            let a = matrix(n, || random.between(-1.0, 1.0));
            let skew = matrix(n, || random.between(-1.0, 1.0));
            let w = &a * a.transpose() + DMatrix::identity(n, n) * 0.01 + &skew - skew.transpose();
            (w, offsets(n, random))
        }),
        ("semidefinite, feasible", Promise::Solved, |n, random| {
            let w = low_rank(n, random);
            let z = DMatrix::from_fn(n, 1, |_, _| random.between(-1.0, 1.0).max(0.0));
            let q = -(&w * z);
            // Slack in some rows: w ≥ 0 can be reached.
            let q = q.iter().map(|q| q + random.between(-1.0, 1.0).max(0.0));
            (w, q.collect())
        }),
        ("semidefinite", Promise::Decided, |n, random| {
            (low_rank(n, random), offsets(n, random))
        }),
        ("skew", Promise::Decided, |n, random| {
            let a = matrix(n, || random.between(-1.0, 1.0));
            (&a - a.transpose(), offsets(n, random))
        }),
        ("skew of integers", Promise::Decided, |n, random| {
            let a = matrix(n, || integer(random));
            (
                &a - a.transpose(),
                (0..n).map(|_| integer(random)).collect(),
            )
        }),
        ("strictly copositive", Promise::Solved, |n, random| {
            let w = matrix(n, || random.between(-1.0, 1.0).max(0.0));
            (w + DMatrix::identity(n, n), offsets(n, random))
        }),
        (
            "strictly copositive, of integers",
            Promise::Solved,
            |n, random| {
                let w = matrix(n, || integer(random).max(0.0));
                (w + DMatrix::identity(n, n), vec![-1.0; n])
            },
        ),
        ("integers", Promise::Nothing, |n, random| {
            (
                matrix(n, || integer(random)),
                (0..n).map(|_| integer(random)).collect(),
            )
        }),
        ("any", Promise::Nothing, |n, random| {
            (matrix(n, || random.between(-1.0, 1.0)), offsets(n, random))
        }),
    ]
}

#[test]
fn every_kind_ten_thousand_in_all() {
    let draws = 10_000 / families().len() + 1;
    for (name, promise, make) in families() {
        let mut random = SplitMix64(21);
        let mut solver = LcpSolver::new(40);
        let mut count = 0;
        for draw in 0..draws {
            let sizes = [1, 2, 3, 4, 5, 6, 7, 8, 10, 15, 25, 40];
            let n = sizes[draw % if promise == Promise::Nothing { 8 } else { 12 }];
            let lcp = make(n, &mut random);
            match (solved_by(&mut solver, &lcp), promise) {
                (Ok(_), _) => count += 1,
                (
                    Err(LcpFailure::Ray { infeasible: true }),
                    Promise::Decided | Promise::Nothing,
                ) => {
                    proof_holds(&lcp, solver.ray().unwrap());
                }
                (Err(_), Promise::Nothing) => {}
                (Err(failure), _) => panic!("{name}, draw {draw}, n = {n}: {failure}"),
            }
        }
        assert!(count > draws / 10, "{name}: {count} of {draws} solved");
    }
}

/// `u ≥ 0`, `Wᵀu ≤ 0`, `q·u < 0`.
pub(crate) fn proof_holds((w, q): &Lcp, u: &[f64]) {
    assert!(u.iter().all(|&u| (0.0..=1.0).contains(&u)));
    let u = DMatrix::from_column_slice(u.len(), 1, u);
    assert!((w.transpose() * &u).max() <= 1e-10 * w.amax());
    assert!((DMatrix::from_row_slice(1, q.len(), q) * u)[0] < 0.0);
}

/// The same bits whatever was solved before, and in a solver that is new.
#[test]
fn answers_do_not_depend_on_history() {
    let mut random = SplitMix64(22);
    let mut used = LcpSolver::new(7);
    for draw in 0..400 {
        let (_, _, make) = families()[draw % 9];
        let (w, q) = make(1 + draw % 12, &mut random);
        let fresh = LcpSolver::new(0).solve(&w, &q).map(|s| s.z().to_vec());
        let found = used.solve(&w, &q).map(|s| s.z().to_vec());
        assert_eq!(found, fresh);
    }
}

/// Times a power of two: exactly, because all is scaled by powers of two inside.
#[test]
fn solutions_grow_with_q() {
    let mut random = SplitMix64(23);
    let mut solver = LcpSolver::new(12);
    for draw in 0..200 {
        let (_, _, make) = families()[[0, 1, 5][draw % 3]];
        let (w, q) = make(1 + draw % 12, &mut random);
        let z = solver.solve(&w, &q).unwrap().z().to_vec();
        for factor in [2f64.powi(-40), 2f64.powi(40)] {
            let scaled: Vec<f64> = q.iter().map(|q| factor * q).collect();
            let grown = solver.solve(&w, &scaled).unwrap().z().to_vec();
            let expected: Vec<f64> = z.iter().map(|z| factor * z).collect();
            assert_eq!(grown, expected);
        }
    }
}

/// The only solution does not depend on the numbering.
#[test]
fn renumbering_renumbers_the_solution() {
    let mut random = SplitMix64(24);
    let mut solver = LcpSolver::new(12);
    for draw in 0..200 {
        let n = 1 + draw % 12;
        let (w, q) = families()[0].2(n, &mut random);
        let z = solver.solve(&w, &q).unwrap().z().to_vec();
        let order = random.permutation(n);
        let renumbered = DMatrix::from_fn(n, n, |i, j| w[(order[i], order[j])]);
        let other: Vec<f64> = order.iter().map(|&i| q[i]).collect();
        let found = solver.solve(&renumbered, &other).unwrap();
        let expected: Vec<f64> = order.iter().map(|&i| z[i]).collect();
        let size = expected.iter().fold(1.0, |m: f64, z| m.max(*z));
        assert_close(found.z(), &expected, 1e-10 * size);
    }
}
