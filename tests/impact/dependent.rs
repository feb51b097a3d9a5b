//! Contacts that depend on each other: redundant feet, and bodies squeezed between walls.

use saltation::impact::ImpactFailure;
use saltation::impact::{
    AllOutcomes, ImpactLaw, ImpactProblem, MinimalOutcomes, Plastic, Projective, Propagative,
    ReflectionOrder, Reflections, Sequential, Unilateral, indeterminacy,
};
use saltation::nalgebra::{DMatrix, dmatrix, dvector};

/// A table (height, roll, pitch) on four legs lands tilted in its motion.
fn table() -> ImpactProblem {
    let mass = dmatrix![2.0, 0.0, 0.0; 0.0, 0.5, 0.0; 0.0, 0.0, 0.7];
    let legs = dmatrix![
        1.0, 1.0, 1.0;
        1.0, 1.0, -1.0;
        1.0, -1.0, 1.0;
        1.0, -1.0, -1.0
    ];
    ImpactProblem::from_mechanics(&mass, &legs, &dvector![-1.0, 0.2, 0.4]).unwrap()
}

#[test]
fn a_table_on_four_legs_has_unique_speeds_but_no_bilateral_impulses() {
    let table = table().with_restitution(0.5).unwrap();
    assert_eq!(table.dependent(), [0, 1, 2, 3]);
    assert!(table.rcond() < 1e-14);
    assert!(matches!(
        Projective::new().outcome(&table),
        Err(ImpactFailure::DependentContacts { set, .. }) if set == [0, 1, 2, 3]
    ));
    for law in [
        &Unilateral as &dyn ImpactLaw,
        &Plastic,
        &Sequential::new(),
        &Propagative::default(),
    ] {
        let outcome = law.outcome(&table).unwrap();
        assert!(outcome.is_feasible() && !outcome.is_adhesive(), "{outcome}");
        assert!(outcome.energy_change < 0.0);
    }
    // All legs approach and Newton's law can be met by all at once: each turns round.
    let outcome = Unilateral.outcome(&table).unwrap();
    assert!((outcome.speeds + table.speeds() * 0.5).amax() < 1e-12);
    let all = AllOutcomes::new()
        .resolve(&table.with_restitution(1.0).unwrap())
        .unwrap();
    assert!(all.is_complete && all.list.iter().all(saltation::impact::Outcome::is_feasible));
}

#[test]
fn a_body_between_two_walls_never_ends() {
    // Opposite normals: what opens one closes the other.
    let squeezed = ImpactProblem::new(dmatrix![1.0, -1.0; -1.0, 1.0], dvector![-1.0, 1.0]).unwrap();
    for law in [
        &Propagative::default() as &dyn ImpactLaw,
        &Propagative::new(ReflectionOrder::Random { seed: 5 }),
        &Sequential::new(),
    ] {
        let refused = law.outcome(&squeezed);
        assert!(matches!(
            refused,
            Err(ImpactFailure::NoFeasibleInterior { limit: 10_000 })
        ));
    }
    // The two momenta lead to each other: the search goes through both, comes to no end, and does
    // not call that a set.
    let limit = 100_000;
    let all = AllOutcomes::new().resolve(&squeezed);
    assert_eq!(all.err(), Some(ImpactFailure::NoFeasibleInterior { limit }));
    assert!(indeterminacy(&squeezed).is_err());
    // Plastic and unilateral impacts just stop it.
    for law in [&Unilateral as &dyn ImpactLaw, &Plastic] {
        let squeezed = squeezed.clone().with_restitution(0.0).unwrap();
        let outcome = law.outcome(&squeezed).unwrap();
        assert!(outcome.speeds.amax() < 1e-15);
    }
}

#[test]
fn walls_around_a_point_do_not_end_either() {
    // Three walls of a triangle; an irrational angle between normals, so that momenta do not
    // repeat.
    let normals = DMatrix::from_fn(3, 2, |i, j| {
        let angle = [0.0, 2.0, 4.5][i];
        let (sin, cos): (f64, f64) = f64::sin_cos(angle);
        [cos, sin][j]
    });
    let still = DMatrix::identity(2, 2);
    let squeezed = ImpactProblem::from_mechanics(&still, &normals, &dvector![0.3, -1.0]).unwrap();
    let limit = 500;
    let refused = Propagative::default().cap(limit).outcome(&squeezed);
    assert_eq!(refused, Err(ImpactFailure::NoFeasibleInterior { limit }));
    assert_eq!(
        AllOutcomes::new().cap(limit).resolve(&squeezed).err(),
        refused.clone().err()
    );
    assert_eq!(
        MinimalOutcomes::new().cap(limit).resolve(&squeezed).err(),
        refused.err()
    );
}

#[test]
fn a_narrow_cone_reports_its_cap() {
    let cosine = -(1e-3_f64).cos();
    let narrow =
        ImpactProblem::new(dmatrix![1.0, cosine; cosine, 1.0], dvector![-1.0, 0.9]).unwrap();
    let refused = Propagative::default().cap(100).outcome(&narrow);
    assert!(
        matches!(refused, Err(ImpactFailure::ReflectionCap { limit: 100, speed, .. }) if speed < 0.0),
        "{refused:?}"
    );
    let mut reflections = Reflections::new(&narrow);
    let length = reflections.run(ReflectionOrder::ArgMin, 10_000).unwrap();
    // ⌈π/(2γ)⌉ with an opening 2γ of 1e-3
    assert!((1000..=3142).contains(&length), "{length}");
}
