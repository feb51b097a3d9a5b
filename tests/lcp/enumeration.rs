//! All solutions of small problems, and Lemke's among them.

use nalgebra::{DMatrix, DVector};
use saltation::lcp::{LcpSolver, Listed, enumerate, residual};

use crate::contacts::{Contacts, Lcp};
use crate::fixtures::support::{assert_close, lcp};
use crate::random::SplitMix64;

fn all((w, q): &Lcp) -> Vec<Listed> {
    let all = enumerate(w, q).unwrap();
    for listed in &all {
        let found = residual(w, q, listed.z.as_slice()).unwrap();
        assert_eq!(found.to_bits(), listed.residual.to_bits());
        let size = q
            .iter()
            .chain(&listed.z)
            .fold(0.0, |m: f64, v| m.max(v.abs()));
        assert!(found <= 1e-10 * size, "{found:e}");
    }
    all
}

#[test]
fn problems_with_two_to_the_n_solutions() {
    for n in 0..8 {
        let all = all(&(-DMatrix::identity(n, n), vec![1.0; n]));
        assert_eq!(all.len(), 1 << n);
        assert!(all.iter().all(|s| s.isolated));
        assert!(
            all.iter()
                .all(|s| s.z.iter().all(|&z| z == 0.0 || (z - 1.0).abs() < 1e-15))
        );
    }
}

#[test]
fn no_solution_gives_an_empty_list() {
    for problem in [
        lcp([[-1.0]], [-1.0]),
        lcp([[0.0, 1.0], [0.0, 1.0]], [-2.0, -1.0]),
        lcp([[1.0, -1.0], [-1.0, 1.0]], [-1.0, -1.0]),
    ] {
        assert_eq!(all(&problem), []);
    }
}

#[test]
fn continua_are_flagged() {
    // All z ≥ 0.
    let listed = all(&lcp([[0.0]], [0.0]));
    assert_eq!(listed.len(), 1);
    assert!(!listed[0].isolated && listed[0].z[0] == 0.0);
    // The segment z1 + z2 = 1.
    let listed = all(&lcp([[1.0; 2]; 2], [-1.0; 2]));
    assert_eq!(listed.len(), 3, "its ends and its middle: {listed:?}");
    assert!(
        listed
            .iter()
            .all(|s| !s.isolated && (s.z.sum() - 1.0).abs() < 1e-9)
    );
    // z1 ≥ 1, z2 = 0 and z1 = 1, z2 ≥ 0: no basis is regular.
    let listed = all(&lcp([[0.0, 0.0], [1.0, 0.0]], [0.0, -1.0]));
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert!(!listed[0].isolated);
    assert_close(listed[0].z.as_slice(), &[1.0, 0.0], 1e-9);
    // z = (1, 0) alone, and beside it a half-line at z3 > 0.
    let listed = all(&lcp(
        [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        [-1.0, 1.0, 1.0],
    ));
    assert!(listed.len() == 1 && listed[0].isolated, "{listed:?}");
}

/// z1 + z2 = 1 with 1/2 ≤ z1 ≤ 1/2.
#[test]
fn a_single_point_of_a_singular_basis_is_isolated() {
    let listed = all(&lcp(
        [
            [1.0, 1.0, 0.0, 0.0],
            [1.0, 1.0, 0.0, 0.0],
            [1.0, 0.0, -1.0, 0.0],
            [-1.0, 0.0, 0.0, -1.0],
        ],
        [-1.0, -1.0, -0.5, 0.5],
    ));
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert!(listed[0].isolated);
    assert_close(listed[0].z.as_slice(), &[0.5, 0.5, 0.0, 0.0], 1e-9);
}

#[test]
fn p_matrices_have_one_solution_and_lemke_finds_it() {
    let mut random = SplitMix64(41);
    let mut solver = LcpSolver::new(7);
    for draw in 0..200 {
        let n = 1 + draw % 7;
        let mut entry = || random.between(-1.0, 1.0);
        let a = DMatrix::from_fn(n, n, |_, _| entry());
        let skew = DMatrix::from_fn(n, n, |_, _| entry());
        let w = &a * a.transpose() + DMatrix::identity(n, n) * 0.1 + &skew - skew.transpose();
        let q: Vec<f64> = (0..n).map(|_| entry()).collect();
        let z = solver.solve(&w, &q).unwrap().z().to_vec();
        let listed = all(&(w, q));
        assert_eq!(listed.len(), 1, "{listed:?}");
        assert!(listed[0].isolated);
        assert_close(
            listed[0].z.as_slice(),
            &z,
            1e-9 * (1.0 + listed[0].z.amax()),
        );
    }
}

/// Random matrices have any number of solutions, all isolated: the solver finds one of them, or
/// there is none.
#[test]
fn lemke_finds_one_of_the_list() {
    let mut random = SplitMix64(42);
    let mut solver = LcpSolver::new(8);
    let mut numbers = [0; 4];
    for draw in 0..400 {
        let n = 1 + draw % 8;
        let mut entry = || random.between(-1.0, 1.0);
        let w = DMatrix::from_fn(n, n, |_, _| entry());
        let q: Vec<f64> = (0..n).map(|_| entry()).collect();
        let found = solver.solve(&w, &q).map(|s| s.vector().clone_owned());
        let listed = all(&(w, q));
        numbers[listed.len().min(3)] += 1;
        assert!(listed.iter().all(|s| s.isolated));
        match found {
            Ok(z) => assert!(
                listed
                    .iter()
                    .any(|s| (&s.z - &z).amax() < 1e-7 * (1.0 + z.amax())),
                "{z} is not in {listed:?}"
            ),
            Err(failure) => assert_eq!(listed.len(), 0, "{failure}"),
        }
    }
    assert!(numbers.iter().all(|&n| n > 20), "{numbers:?}");
}

/// Speeds of every listed solution, each once.
fn speeds(contacts: &Contacts) -> Vec<DVector<f64>> {
    let mut distinct: Vec<DVector<f64>> = Vec::new();
    for listed in all(&contacts.unboxed(2)) {
        let speeds = contacts.speeds_after(listed.z.as_slice(), 2);
        if distinct.iter().all(|known| (known - &speeds).amax() > 1e-8) {
            distinct.push(speeds);
        }
    }
    distinct
}

/// The simultaneous law of section 4: three outcomes of the compass gait and of `RAMone`, one of
/// the block and of the box.
#[test]
fn outcomes_of_the_simultaneous_law() {
    let expect = |contacts: &Contacts, expected: &[[f64; 4]]| {
        let found = speeds(contacts);
        assert_eq!(found.len(), expected.len(), "{found:?}");
        for expected in expected {
            let gap = |s: &DVector<f64>| (s - DVector::from_column_slice(expected)).amax();
            assert!(
                found.iter().any(|s| gap(s) < 1e-9),
                "{expected:?}: {found:?}"
            );
        }
    };
    expect(&Contacts::block(1.0), &[[0.0; 4]]);
    expect(&Contacts::box_and_wall(), &[[0.0; 4]]);
    expect(
        &Contacts::compass(),
        &[
            [0.0; 4],
            [0.0, 0.0995551756, 0.0, 0.1980196039],
            [0.0, 0.0, 0.0, 0.1284904325],
        ],
    );
    expect(
        &Contacts::ramone(),
        &[
            [0.0; 4],
            [0.0, 0.0003308231, 0.0, -0.0273500896],
            [0.0, 0.0, 0.0, -0.0195163046],
        ],
    );
}

/// With the covering vector of ones "the trailing foot separates", with μ in the rows of friction
/// it "sticks"; the third has a negative determinant and is out of reach of any.
#[test]
fn covering_vectors_reach_two_of_the_three_outcomes_of_the_compass() {
    let contacts = Contacts::compass();
    let (w, q) = contacts.unboxed(2);
    let mut solver = LcpSolver::new(8).ladder(false);
    let mut random = SplitMix64(43);
    let mut found = [0; 3];
    for draw in 0..500 {
        let d: Vec<f64> = (0..8)
            .map(|i| match draw {
                1 if i >= 6 => 5.0,
                0 | 1 => 1.0,
                _ => 10f64.powf(random.between(-2.0, 2.0)),
            })
            .collect();
        let z = solver.solve_covered(&w, &q, &d).unwrap().z().to_vec();
        let after = contacts.speeds_after(&z, 2);
        let separates = (after[1] - 0.0995551756).abs() < 1e-9;
        let sticks = after.amax() < 1e-9;
        match draw {
            0 => assert!(separates, "{after}"),
            1 => assert!(sticks, "{after}"),
            _ => {}
        }
        found[if separates {
            0
        } else if sticks {
            1
        } else {
            2
        }] += 1;
    }
    assert!(found[0] > 10 && found[1] > 10 && found[2] == 0, "{found:?}");
}
