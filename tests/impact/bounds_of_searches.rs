//! Searches end: by caps on work and memory that the documentation states, and by interrupts.

use std::f64::consts::PI;

use saltation::Interrupt;
use saltation::impact::{
    AllOutcomes, ImpactFailure, ImpactLaw, ImpactProblem, MinimalOutcomes, Propagative,
    ReflectionOrder, Reflections, Sequential, Unilateral, indeterminacy,
};
use saltation::nalgebra::{DMatrix, DVector, dmatrix, dvector};

use crate::fixtures::random::Random;

fn squeezed() -> ImpactProblem {
    ImpactProblem::new(dmatrix![1.0, -1.0; -1.0, 1.0], dvector![-1.0, 1.0]).unwrap()
}

/// Balls in a row of very different masses: words are long and outcomes many.
fn many_outcomes(n: usize) -> ImpactProblem {
    let masses: Vec<f64> = (0..n).map(|i| 1.0 + 1.7 * i as f64).collect();
    let mass = DMatrix::from_diagonal(&DVector::from_vec(masses));
    let gaps = DMatrix::from_fn(n - 1, n, |j, i| match i.wrapping_sub(j) {
        0 => -1.0,
        1 => 1.0,
        _ => 0.0,
    });
    let velocity = DVector::from_fn(n, |i, _| -((i * i) as f64) - 0.3 * i as f64);
    ImpactProblem::from_mechanics(&mass, &gaps, &velocity).unwrap()
}

#[test]
fn no_cap_is_endless() {
    let ended = Reflections::new(&squeezed()).run(ReflectionOrder::IndexOrder, usize::MAX);
    let limit = 10_000_000;
    assert!(
        matches!(ended, Err(ImpactFailure::ReflectionCap { limit: found, .. }) if found == limit),
        "{ended:?}"
    );
    let limit = 1_000_000;
    let ended = Sequential::new().cap(usize::MAX).outcome(&squeezed());
    assert_eq!(ended, Err(ImpactFailure::NoFeasibleInterior { limit }));
}

#[test]
fn searches_say_that_they_stopped_before_their_memory_grows() {
    let problem = many_outcomes(8);
    let minimal = MinimalOutcomes::new().cap(usize::MAX).resolve(&problem);
    assert!(!minimal.unwrap().is_complete);
    let all = AllOutcomes::new().cap(2000).resolve(&problem).unwrap();
    assert!(!all.is_complete && all.effort == 2000);
}

#[test]
fn many_outcomes_are_not_compared() {
    let mut random = Random(3);
    for number in 0..12 {
        let n = 5 + number % 3;
        let normals = random.matrix(n, n);
        let velocity = random.vector(n) - DVector::repeat(n, 0.5);
        let mass = DMatrix::identity(n, n);
        let problem = ImpactProblem::from_mechanics(&mass, &normals, &velocity).unwrap();
        match indeterminacy(&problem) {
            Ok(xi) => assert!((0.0..=2.0 + 1e-9).contains(&xi), "{xi}"),
            Err(ImpactFailure::TooManyOutcomes { count, limit }) => assert!(count > limit),
            Err(ImpactFailure::ReflectionCap { limit, .. }) => assert_eq!(limit, 100_000),
            Err(other) => panic!("{other}"),
        }
    }
}

/// At the ends of the range of numbers: refused by name, and quickly.
#[test]
fn momenta_that_overflow_are_refused() {
    let cosine = (PI / 3.0 + 0.1).cos();
    let gram = dmatrix![1.0, -cosine; -cosine, 1.0];
    for speed in [1e308, 1.7e308] {
        let refused = ImpactProblem::new(gram.clone(), dvector![-speed, -speed]);
        assert!(
            matches!(
                refused,
                Err(ImpactFailure::Overflow {
                    quantity: "momentum",
                    ..
                })
            ),
            "{refused:?}"
        );
        let mass = DMatrix::identity(2, 2);
        let refused = ImpactProblem::from_mechanics(&mass, &mass, &dvector![-speed, -speed]);
        assert!(matches!(refused, Err(ImpactFailure::Overflow { .. })));
    }
    for speed in [1e150, 1e300] {
        let fast = ImpactProblem::new(gram.clone(), dvector![-speed, -speed]).unwrap();
        let slow = ImpactProblem::new(gram.clone(), dvector![-1.0, -1.0]).unwrap();
        // The energy overflows, which outcomes tell.
        match (indeterminacy(&fast), indeterminacy(&slow)) {
            (Ok(a), Ok(b)) => assert!((a - b).abs() < 1e-12, "{a} {b}"),
            (Err(ImpactFailure::Overflow { .. }), Ok(_)) => assert!(speed > 1e160),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn interrupts_end_searches_and_change_nothing_else() {
    let interrupt = Interrupt::new();
    let plain = many_outcomes(5);
    let problem = plain.clone().with_interrupt(&interrupt);
    let laws: [&dyn ImpactLaw; 4] = [
        &AllOutcomes::new(),
        &MinimalOutcomes::new(),
        &Propagative::default(),
        &Sequential::new(),
    ];
    for law in laws {
        assert_eq!(law.resolve(&problem), law.resolve(&plain));
    }
    assert_eq!(indeterminacy(&problem), indeterminacy(&plain));
    interrupt.set();
    for law in laws {
        assert_eq!(law.resolve(&problem), Err(ImpactFailure::Interrupted));
    }
    assert_eq!(indeterminacy(&problem), Err(ImpactFailure::Interrupted));
    let mut reflections = Reflections::new(&problem);
    let ended = reflections.run(ReflectionOrder::ArgMin, 10);
    assert_eq!(ended, Err(ImpactFailure::Interrupted));
    // What does not search does not look.
    assert!(Unilateral.resolve(&problem).is_ok());
}

#[test]
fn minimal_outcomes_keep_to_their_cap() {
    for n in 3..=6 {
        let problem = many_outcomes(n);
        for cap in 1..200 {
            let found = MinimalOutcomes::new().cap(cap).resolve(&problem).unwrap();
            // The reflection that reached the cap is counted.
            assert!(
                found.effort <= cap + 1,
                "{n} balls: {} of {cap}",
                found.effort
            );
        }
    }
}
