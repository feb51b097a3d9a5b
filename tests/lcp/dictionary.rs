//! Solutions by known bases.

use nalgebra::DMatrix;
use saltation::lcp::{Attempt, BasisDictionary, LcpSolver, residual};

use crate::contacts::Contacts;
use crate::random::SplitMix64;

#[test]
fn bases_solve_what_they_solved_before() {
    let mut random = SplitMix64(41);
    for k in 0..60 {
        let contacts = match k % 4 {
            0 => Contacts::ramone(),
            1 => Contacts::disks(),
            2 => Contacts::block(1e5),
            _ => Contacts::random(3, 2, &mut || random.unit()),
        };
        let most: Vec<f64> = (0..contacts.count()).map(|_| random.unit()).collect();
        let (w, q) = contacts.boxed(&most, 2);
        let mut solver = LcpSolver::new(q.len());
        let Ok(solution) = solver.solve(&w, &q) else {
            continue;
        };
        let mut dictionary = BasisDictionary::new(&w).unwrap();
        assert!(dictionary.is_empty() && dictionary.solve(&q).unwrap().is_none());
        if !dictionary.push(solution.basis()) {
            continue;
        }
        assert!(!dictionary.push(solution.basis()) && dictionary.len() == 1);
        let found = dictionary.solve(&q).unwrap().expect("its own basis");
        assert_eq!(
            (found.rung(), found.basis()),
            (Attempt::Dictionary, solution.basis())
        );
        let off = (found.vector() - solution.vector()).amax();
        assert!(
            off <= 1e-9 * (1.0 + solution.vector().amax()),
            "{k}: {off:e}"
        );
        let off = residual(&w, &q, found.z()).unwrap() - found.residual();
        assert!(off.abs() < 1e-12, "{off:e}");
        // Another right side has the solution of this basis or none.
        let scaled: Vec<f64> = q.iter().map(|q| 3.0 * q).collect();
        assert!(dictionary.solve(&scaled).unwrap().is_some());
    }
}

#[test]
fn the_first_basis_that_solves_is_taken() {
    // z = 0, (1/2, 0), (0, 1/2), (1/3, 1/3)
    let w = DMatrix::from_row_slice(2, 2, &[-2.0, -1.0, -1.0, -2.0]);
    let mut dictionary = BasisDictionary::new(&w).unwrap();
    assert!(dictionary.push(&[1]) && dictionary.push(&[]) && dictionary.push(&[0, 1]));
    assert_eq!(
        dictionary.solve(&[1.0, 1.0]).unwrap().unwrap().z(),
        [0.0, 0.5]
    );
    assert!(dictionary.solve(&[-1.0, 1.0]).unwrap().is_none());
}

#[test]
fn bad_bases_and_sizes_are_refused() {
    let w = DMatrix::from_element(2, 2, 1.0);
    let mut dictionary = BasisDictionary::new(&w).unwrap();
    for bad in [&[0, 1][..], &[1, 0], &[0, 0], &[2]] {
        assert!(!dictionary.push(bad), "{bad:?}");
    }
    assert!(dictionary.solve(&[1.0]).is_err() && dictionary.solve(&[f64::NAN, 0.0]).is_err());
    assert!(BasisDictionary::new(&DMatrix::zeros(1, 2)).is_err());
    assert!(BasisDictionary::new(&DMatrix::from_element(1, 1, f64::NAN)).is_err());
    let mut none = BasisDictionary::new(&DMatrix::zeros(0, 0)).unwrap();
    assert!(none.push(&[]) && none.solve(&[]).unwrap().is_some());
}
