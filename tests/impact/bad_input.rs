//! Bad input is refused by name, and no input panics.

use saltation::impact::{
    AllOutcomes, ImpactFailure, ImpactLaw, ImpactProblem, MinimalOutcomes, Plastic, Projective,
    Propagative, ReflectionOrder, Reflections, Sequential, Unilateral, uniqueness,
};
use saltation::nalgebra::{DMatrix, DVector, dmatrix, dvector};
use saltation::{InputError, MatrixFault};

use crate::fixtures::random::Random;

fn good() -> ImpactProblem {
    ImpactProblem::new(dmatrix![1.0, 0.2; 0.2, 1.0], dvector![-1.0, -0.5]).unwrap()
}

#[test]
fn problems_in_contact_space() {
    let none = ImpactProblem::new(DMatrix::zeros(0, 0), DVector::zeros(0));
    assert_eq!(
        none.err(),
        Some(ImpactFailure::Input(InputError::NoContacts))
    );
    let refused = ImpactProblem::new(DMatrix::identity(2, 2), dvector![1.0]);
    assert!(matches!(
        refused,
        Err(ImpactFailure::Input(InputError::WrongLength {
            expected: 2,
            found: 1,
            ..
        }))
    ));
    let refused = ImpactProblem::new(DMatrix::zeros(2, 3), dvector![1.0, 1.0]);
    let fault = MatrixFault::NotSquare {
        rows: 2,
        columns: 3,
    };
    let name = "Delassus";
    assert_eq!(
        refused.err(),
        Some(ImpactFailure::Input(InputError::BadMatrix { name, fault }))
    );
    let refused = ImpactProblem::new(DMatrix::identity(2, 2), dvector![1.0, f64::NAN]);
    assert!(matches!(
        refused,
        Err(ImpactFailure::Input(InputError::NotFinite { entry: 1, .. }))
    ));
    let refused = ImpactProblem::new(dmatrix![1.0, 2.0; 2.0, 1.0], dvector![1.0, 1.0]);
    assert!(matches!(
        refused,
        Err(ImpactFailure::Input(InputError::BadMatrix {
            fault: MatrixFault::NotPositive { .. },
            ..
        }))
    ));
    let refused =
        ImpactProblem::with_tangents(DMatrix::identity(2, 2), dvector![0., 0.], &[-0.1, 0.]);
    assert!(matches!(
        refused,
        Err(ImpactFailure::Input(InputError::BadSetting {
            entry: 0,
            ..
        }))
    ));
    let refused =
        ImpactProblem::with_tangents(DMatrix::identity(2, 2), dvector![0., 0.], &[0.1; 3]);
    assert!(matches!(
        refused,
        Err(ImpactFailure::Input(InputError::WrongLength { .. }))
    ));
}

#[test]
fn problems_of_mechanics() {
    let v = dvector![1.0, 0.0];
    let gaps = dmatrix![1.0, 1.0];
    let make = |mass: &DMatrix<f64>| ImpactProblem::from_mechanics(mass, &gaps, &v);
    let fault = |mass: &DMatrix<f64>| match make(mass) {
        Err(ImpactFailure::Input(InputError::BadMatrix {
            name: "mass",
            fault,
        })) => fault,
        other => panic!("{other:?}"),
    };
    assert!(matches!(
        fault(&DMatrix::zeros(1, 2)),
        MatrixFault::NotSquare { .. }
    ));
    assert!(matches!(
        fault(&DMatrix::zeros(2, 2)),
        MatrixFault::NotPositive { .. }
    ));
    assert!(matches!(
        fault(&dmatrix![1.0, 0.5; 0.4, 1.0]),
        MatrixFault::NotSymmetric {
            row: 0,
            column: 1,
            ..
        }
    ));
    assert!(matches!(
        fault(&dmatrix![1.0, f64::INFINITY; 0.0, 1.0]),
        MatrixFault::NotFinite { .. }
    ));
    assert!(matches!(
        fault(&dmatrix![1.0, 3.0; 3.0, 1.0]),
        MatrixFault::NotPositive { value } if (value + 2.0).abs() < 1e-12
    ));
    let empty = ImpactProblem::from_mechanics(&DMatrix::zeros(0, 0), &gaps, &DVector::zeros(0));
    assert_eq!(
        empty.err(),
        Some(ImpactFailure::Input(InputError::EmptySystem))
    );
    let still = DMatrix::identity(3, 3);
    assert!(matches!(
        make(&still),
        Err(ImpactFailure::Input(InputError::WrongLength {
            name: "velocity",
            ..
        }))
    ));
    let flat = DMatrix::zeros(1, 2);
    let refused = ImpactProblem::from_mechanics(&DMatrix::identity(2, 2), &flat, &v);
    assert!(matches!(
        refused,
        Err(ImpactFailure::Input(InputError::BadMatrix {
            name: "Delassus",
            ..
        }))
    ));
    let none = ImpactProblem::from_mechanics(&DMatrix::identity(2, 2), &DMatrix::zeros(0, 2), &v);
    assert_eq!(
        none.err(),
        Some(ImpactFailure::Input(InputError::NoContacts))
    );
}

#[test]
fn settings() {
    for e in [-0.1, 1.1] {
        let refused = good().with_restitutions(&[0.5, e]);
        assert!(matches!(
            refused,
            Err(ImpactFailure::Input(InputError::BadSetting {
                entry: 1,
                ..
            }))
        ));
        let allowed = good().with_any_restitutions(&[0.5, e]).unwrap();
        assert_eq!(allowed.restitution(), [0.5, e]);
        assert!(matches!(
            Propagative::default().outcome(&allowed),
            Err(ImpactFailure::Input(InputError::BadSetting {
                name: "restitution",
                entry: 1,
                ..
            }))
        ));
    }
    assert!(good().with_restitution(f64::NAN).is_err());
    assert!(good().with_any_restitutions(&[f64::INFINITY, 0.0]).is_err());
    assert!(good().with_restitutions(&[0.5]).is_err());
    assert!(good().with_tolerance(-1e-12).is_err() && good().with_tolerance(0.2).is_err());
    assert!(matches!(
        good().with_new_contacts(&[0, 2]),
        Err(ImpactFailure::Input(InputError::NoSuch {
            what: "contact",
            index: 2,
            count: 2
        }))
    ));
    assert!(good().with_kinetic_energy(0.1).is_err());
    assert!(good().with_kinetic_energy(f64::NAN).is_err());
    assert_eq!(good().with_kinetic_energy(8.0).unwrap().kinetic_norm(), 4.0);
}

#[test]
fn no_finite_energy_makes_an_infinite_momentum() {
    for energy in [1e308, f64::MAX] {
        let problem = good().with_kinetic_energy(energy).unwrap();
        let expected = 2_f64.sqrt() * energy.sqrt();
        assert!((problem.kinetic_norm() / expected - 1.0).abs() < 1e-15);
        assert!(problem.threshold() <= 1e-12 * problem.kinetic_norm());
        // beside this motion nothing approaches
        assert!(problem.is_feasible());
    }
    assert!(good().with_kinetic_energy(f64::INFINITY).is_err());
    // Fast and light: the energy gained beside a kinetic energy whose double overflows is remarked.
    let gram = dmatrix![1.0, -0.5; -0.5, 1.0];
    let fast = ImpactProblem::new(gram, dvector![-1e154, 0.5e154]).unwrap();
    let fast = fast.with_kinetic_energy(1e308).unwrap();
    assert!(fast.kinetic_norm().powi(2).is_infinite());
    assert!(Unilateral.outcome(&fast).unwrap().raises_energy());
}

#[test]
fn outcomes_belong_to_their_problem() {
    let outcome = Unilateral.outcome(&good()).unwrap();
    assert_eq!(
        good().velocity_after(&outcome),
        Err(ImpactFailure::Input(InputError::OnlyContactSpace))
    );
    let one = ImpactProblem::from_mechanics(&dmatrix![2.0], &dmatrix![1.0], &dvector![-1.0]);
    let refused = one.unwrap().velocity_after(&outcome);
    assert!(matches!(
        refused,
        Err(ImpactFailure::Input(InputError::WrongLength { .. }))
    ));
}

#[test]
fn reflections_are_restarted_with_finite_speeds_of_the_right_number() {
    let mut reflections = Reflections::new(&good());
    assert!(reflections.restart(&[-1.0], 0.0).is_err());
    assert!(matches!(
        reflections.restart(&[-1.0, f64::NAN], 0.0),
        Err(ImpactFailure::Input(InputError::NotFinite { entry: 1, .. }))
    ));
    assert!(reflections.restart(&[-1.0, 1.0], f64::INFINITY).is_err());
    assert_eq!(reflections.restart(&[-1.0, 1.0], 1e-12), Ok(()));
    assert_eq!(reflections.run(ReflectionOrder::ArgMin, 10), Ok(1));
    assert!(!reflections.reflect(usize::MAX));
}

#[test]
fn no_numbers_panic() {
    const ODD: [f64; 14] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        1e-320,
        1e-160,
        1e160,
        1e308,
        -1e308,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        2.0,
    ];
    let (mut made, mut resolved) = (0, 0);
    for number in 0..1_000 {
        let mut random = Random(number);
        let n = 1 + random.below(3);
        let odd = random.unit() < 0.5;
        let number = |random: &mut Random| match random.below(if odd { 3 } else { 40 }) {
            0 => ODD[random.below(ODD.len())],
            _ => random.symmetric(),
        };
        let d = n + random.below(2);
        let root = DMatrix::from_fn(d, d, |_, _| number(&mut random));
        let mass = &root * root.transpose();
        let jacobian = DMatrix::from_fn(n, d, |_, _| number(&mut random));
        let velocity = DVector::from_fn(d, |_, _| number(&mut random));
        let restitution: Vec<f64> = (0..n).map(|_| number(&mut random)).collect();
        let problem = ImpactProblem::from_mechanics(&mass, &jacobian, &velocity).or_else(|_| {
            ImpactProblem::new(&jacobian * jacobian.transpose(), &jacobian * &velocity)
        });
        let Ok(problem) = problem else { continue };
        made += 1;
        let problem = match problem.clone().with_any_restitutions(&restitution) {
            Ok(changed) if random.unit() < 0.5 => changed,
            _ => problem,
        };
        let laws: [&dyn ImpactLaw; 7] = [
            &Propagative::default().cap(200),
            &AllOutcomes::new().cap(200),
            &MinimalOutcomes::new().cap(2000),
            &Sequential::new().cap(200),
            &Unilateral,
            &Plastic,
            &Projective::new(),
        ];
        for law in laws {
            if let Ok(outcomes) = law.resolve(&problem) {
                resolved += 1;
                for outcome in outcomes.list {
                    assert!(outcome.speeds.iter().all(|s| s.is_finite()));
                    assert!(outcome.impulses.iter().all(|p| p.is_finite()));
                    assert!(outcome.energy_change.is_finite());
                }
            }
        }
        let _ = uniqueness(&problem);
    }
    assert!(made > 300 && resolved > 1_000, "{made} {resolved}");
}
