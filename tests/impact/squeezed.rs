//! Bodies between contacts that squeeze them: when a simultaneous law has an outcome, and what it
//! says when it has none.

use saltation::InputError;
use saltation::impact::ImpactFailure;
use saltation::impact::{ImpactLaw, ImpactProblem, Plastic, Sequential, Unilateral};
use saltation::nalgebra::{DMatrix, DVector, dmatrix, dvector};

use crate::fixtures::random::Random;

#[test]
fn opposite_walls_have_no_elastic_outcome_and_say_so() {
    let problem = ImpactProblem::new(dmatrix![1.0, -1.0; -1.0, 1.0], dvector![-2.0, 2.0]).unwrap();
    for e in [1e-3, 0.5, 1.0] {
        let refused = Unilateral.outcome(&problem.clone().with_restitution(e).unwrap());
        let Err(ImpactFailure::Squeezed {
            set,
            contact,
            restitution,
        }) = refused
        else {
            panic!("{refused:?}");
        };
        assert_eq!((&set[..], contact, restitution), (&[0, 1][..], 0, e));
    }
    // The wall that is left may be as elastic as it likes; plastic ones stop the body.
    for e in [[0.0, 1.0], [0.0, 0.0]] {
        let problem = problem.clone().with_restitutions(&e).unwrap();
        assert!(Unilateral.outcome(&problem).unwrap().speeds.amax() < 1e-14);
    }
    assert!(Plastic.outcome(&problem).unwrap().speeds.amax() < 1e-14);
}

#[test]
fn those_that_squeeze_are_named_and_no_others() {
    // A floor, and two walls that lean over it from both sides; the body comes down and to the
    // left, away from a fourth contact.
    let normals = dmatrix![0.0, 1.0, 0.0; 0.6, -0.8, 0.0; -0.6, -0.8, 0.0; 0.0, 0.0, 1.0];
    let velocity = dvector![-0.3, -1.0, -1.0];
    let mass = DMatrix::identity(3, 3);
    let problem = ImpactProblem::from_mechanics(&mass, &normals, &velocity).unwrap();
    let elastic = problem.clone().with_restitution(0.5).unwrap();
    let refused = Unilateral.outcome(&elastic);
    assert!(
        matches!(&refused, Err(ImpactFailure::Squeezed { set, contact: 0, .. }) if set[..] == [0, 1, 2]),
        "{refused:?}"
    );
    assert!(refused.unwrap_err().to_string().contains("squeeze"));
    // Only the contact that stands alone is elastic.
    let problem = problem.with_restitutions(&[0.0, 0.0, 0.0, 1.0]).unwrap();
    let outcome = Unilateral.outcome(&problem).unwrap();
    let after = problem.velocity_after(&outcome).unwrap();
    assert!((after - dvector![0.0, 0.0, 1.0]).amax() < 1e-12);
}

/// In the plane: contact `i` is squeezed when `−n_i` is a combination of two other normals with
/// positive weights.
fn is_squeezed(normals: &DMatrix<f64>, i: usize) -> bool {
    let cross =
        |a: usize, b: usize| normals[(a, 0)] * normals[(b, 1)] - normals[(a, 1)] * normals[(b, 0)];
    let n = normals.nrows();
    (0..n).any(|j| {
        (0..n).any(|k| {
            let all = [cross(i, j), cross(j, k), cross(k, i)];
            all.iter().all(|&c| c > 0.0)
        })
    })
}

/// There is an outcome exactly when no contact that approaches with restitution is squeezed.
#[test]
fn a_simultaneous_outcome_exists_when_and_only_when_it_should() {
    let mut counts = [0, 0];
    for number in 0..4000 {
        let mut random = Random(number);
        let n = 2 + random.below(6);
        let normals = random.matrix(n, 2);
        let velocity = random.vector(2);
        let mass = DMatrix::identity(2, 2) * (0.5 + random.unit());
        let e: Vec<f64> = (0..n).map(|_| [0.0, 0.3, 1.0][random.below(3)]).collect();
        let problem = ImpactProblem::from_mechanics(&mass, &normals, &velocity)
            .and_then(|problem| problem.with_restitutions(&e))
            .unwrap();
        let approaches = |i: usize| problem.speeds()[i] < 0.0;
        let should_not = (0..n).any(|i| e[i] > 0.0 && approaches(i) && is_squeezed(&normals, i));
        match Unilateral.outcome(&problem) {
            Ok(outcome) => {
                assert!(!should_not, "{number}");
                assert!(outcome.is_feasible() && !outcome.is_adhesive(), "{number}");
                counts[0] += 1;
            }
            Err(ImpactFailure::Squeezed { set, contact, .. }) => {
                assert!(should_not && set.contains(&contact), "{number}");
                assert!(e[contact] > 0.0 && approaches(contact), "{number}");
                assert!(is_squeezed(&normals, contact), "{number}");
                counts[1] += 1;
            }
            Err(other) => panic!("{number}: {other}"),
        }
        // Plastic ones always do.
        let plastic = problem.with_restitution(0.0).unwrap();
        assert!(Unilateral.outcome(&plastic).unwrap().is_feasible());
        // All contacts of a stage approach: none is squeezed. It need not end.
        let staged = Sequential::new().cap(100).outcome(&plastic);
        assert!(
            !matches!(staged, Err(ImpactFailure::Squeezed { .. })),
            "{number}"
        );
    }
    assert!(counts.iter().all(|&c| c > 500), "{counts:?}");
}

/// Two planes at a small angle, and any motion between them: the contact speeds are `J v`, whatever
/// rounding leaves of the angle.
#[test]
fn a_true_motion_is_never_refused() {
    let mut stopped = 0;
    for number in 0..2000 {
        let mut random = Random(number);
        let angle = 10f64.powf(-9.0 + 6.0 * random.unit());
        let (sin, cos) = angle.sin_cos();
        let side = if random.below(2) == 0 { 1.0 } else { -1.0 };
        let normals = dmatrix![sin, cos; sin, side * cos];
        let velocity = random.vector(2);
        let mass = DMatrix::from_diagonal(&DVector::from_fn(2, |_, _| 0.3 + random.unit()));
        let problem = ImpactProblem::from_mechanics(&mass, &normals, &velocity);
        let problem = problem.unwrap_or_else(|e| panic!("{angle:e}: {e}"));
        let plastic = problem.clone().with_restitution(0.0).unwrap();
        let outcome = Unilateral.outcome(&plastic);
        let outcome = outcome.unwrap_or_else(|e| panic!("{angle:e}: {e}"));
        let lowest = outcome.speeds.min();
        assert!(lowest > -1e-6, "{angle:e}: {lowest:e}");
        // In contact space too, where the angle is known.
        if angle > 1e-7 {
            let given = ImpactProblem::new(problem.delassus().clone(), problem.speeds().clone());
            assert!(given.is_ok(), "{angle:e}: {given:?}");
        }
        stopped += usize::from(outcome.impulses.max() > 0.0);
    }
    assert!(stopped > 500, "{stopped}");
}

#[test]
fn speeds_of_no_motion_are_refused() {
    // Twice the same contact, with two speeds.
    for by in [1e-6, 1.0] {
        let refused = ImpactProblem::new(dmatrix![1.0, 1.0; 1.0, 1.0], dvector![1.0, 1.0 + by]);
        assert!(
            matches!(&refused, Err(ImpactFailure::Input(InputError::InconsistentSpeeds { set, .. })) if set[..] == [0, 1]),
            "{by:e}: {refused:?}"
        );
    }
}
