//! The comparison laws: all contacts at once, and one after another.

use saltation::InputError;
use saltation::impact::{
    AnitescuPotra, Contacting, ImpactFailure, ImpactLaw, ImpactProblem, InOrder, Order,
};
use saltation::nalgebra::{DMatrix, DVector, dmatrix, dvector};

use crate::reference::{Case, EXAMPLES};

/// The velocities of a reference list, normals first.
fn listed(case: &Case, quantity: &str, k: usize) -> DVector<f64> {
    let normal = case.vector_of(&format!("{quantity}_un"), k);
    let tangential = case.vector_of(&format!("{quantity}_ut"), k);
    DVector::from_iterator(
        normal.len() + tangential.len(),
        normal.iter().chain(tangential.iter()).copied(),
    )
}

#[test]
fn all_velocities_of_the_examples_are_found() {
    for name in EXAMPLES {
        let case = Case::named(name);
        let outcomes = AnitescuPotra::new().resolve(&case.problem()).unwrap();
        let count = case.value("ap_count") as usize;
        assert_eq!(outcomes.list.len(), count, "{name}: {outcomes}");
        assert!(outcomes.is_complete, "{name}");
        for k in 0..count {
            let expected = listed(&case, "ap", k);
            let nearest = outcomes
                .list
                .iter()
                .map(|outcome| (&outcome.speeds - &expected).amax())
                .fold(f64::INFINITY, f64::min);
            assert!(nearest < 1e-9, "{name} {k}: {nearest:e}");
        }
        for outcome in &outcomes.list {
            assert!(outcome.remarks.is_empty(), "{name}: {outcome}");
        }
    }
}

#[test]
fn the_rod_sticks_or_goes_on() {
    let case = Case::named("painleve_rod");
    let outcomes = AnitescuPotra::new()
        .resolve(&case.one_contact(case.value("mu")))
        .unwrap();
    assert!(outcomes.is_complete);
    let labels: Vec<&Order> = outcomes.list.iter().map(|outcome| &outcome.order).collect();
    assert_eq!(
        labels,
        [
            &Order::Modes(vec![Contacting::Open]),
            &Order::Modes(vec![Contacting::Stick])
        ]
    );
    for (k, outcome) in outcomes.list.iter().enumerate() {
        assert!((&outcome.speeds - case.vector_of("ap_u", k)).amax() < 1e-12);
        assert!((&outcome.impulses - case.vector_of("ap_lambda", k)).amax() < 1e-12);
    }
}

#[test]
fn sequences_end_as_in_the_reference() {
    for name in EXAMPLES {
        let case = Case::named(name);
        let problem = case.problem();
        let m = problem.contacts();
        for k in 0..case.of("seq_order").count() {
            let order: Vec<usize> = if m == 2 {
                [[0, 1], [1, 0]][k].to_vec()
            } else {
                (0..m).map(|i| (i + k) % m).collect()
            };
            let law = InOrder::new(&order).tolerance(1e-14);
            let outcomes = law.resolve(&problem).unwrap();
            assert!(outcomes.is_complete);
            let found = &outcomes.list[0];
            let off = (&found.speeds - listed(&case, "seq", k)).amax();
            assert!(off < 1e-9, "{name} {k}: {off:e}");
            let word = found.word().len();
            assert_eq!(word, outcomes.effort);
            let steps = if m == 2 {
                "seq_steps"
            } else {
                "seq_steps_to_1e-14"
            };
            let row = case.of(steps).nth(k).unwrap();
            let off = (word as f64 - row.value()).abs();
            assert!(off <= row.tolerance(), "{name} {k}: {word} steps");
        }
    }
}

#[test]
fn a_cap_leaves_a_residual() {
    let problem = Case::named("disk_stack").problem();
    let outcomes = InOrder::new(&[0, 1, 2, 3, 4])
        .cap(7)
        .resolve(&problem)
        .unwrap();
    assert!(!outcomes.is_complete && outcomes.effort == 7);
    assert!(!outcomes.list[0].is_feasible());
    assert!(matches!(
        outcomes.single(),
        Err(ImpactFailure::NotSingle { count: 1 })
    ));
}

#[test]
fn orders_are_checked() {
    let problem = Case::named("box_wall").problem();
    for order in [&[0][..], &[0, 0], &[0, 2], &[0, 1, 1]] {
        let refused = InOrder::new(order).resolve(&problem);
        assert!(
            matches!(
                refused,
                Err(ImpactFailure::Input(
                    InputError::NoSuch { .. } | InputError::WrongLength { .. }
                ))
            ),
            "{refused:?}"
        );
    }
}

#[test]
fn a_continuum_of_velocities_is_not_called_complete() {
    // Slip at the critical friction: any impulse keeps the normal speed at zero.
    let delassus = dmatrix![2.0, 1.0; 1.0, 1.0];
    let problem = ImpactProblem::with_tangents(delassus, dvector![0.0, -1.0], &[2.0]);
    // un' = 2 λ + λt, λt = 2 λ while ut < 0: not zero. With the other sign it is.
    let outcomes = AnitescuPotra::new().resolve(&problem.unwrap()).unwrap();
    assert!(outcomes.is_complete);
    let problem =
        ImpactProblem::with_tangents(dmatrix![2.0, -1.0; -1.0, 1.0], dvector![0.0, -1.0], &[2.0]);
    let outcomes = AnitescuPotra::new().resolve(&problem.unwrap()).unwrap();
    assert!(!outcomes.is_complete, "{outcomes}");
}

#[test]
fn in_space_one_velocity_is_found_with_the_error_of_the_polygon() {
    let case = Case::named("keller3d_slide");
    let problem = case.one_contact(case.value("mu"));
    for directions in [4, 8, 16, 32, 64] {
        let outcomes = AnitescuPotra::new()
            .directions(directions)
            .resolve(&problem)
            .unwrap();
        assert!(!outcomes.is_complete);
        let outcome = &outcomes.list[0];
        let along = outcome.impulses.rows(1, 2).norm();
        assert!(along <= 0.35 * outcome.impulses[0] + 1e-12);
        assert!(outcome.energy_change < 0.0 && outcome.is_feasible());
    }
    for directions in [0, 2, 5] {
        let refused = AnitescuPotra::new()
            .directions(directions)
            .resolve(&problem);
        assert!(matches!(
            refused,
            Err(ImpactFailure::Input(InputError::BadSetting { .. }))
        ));
    }
}

/// Six contacts: by Lemke's method where all are coupled, however weakly, and one by one where none is.
#[test]
fn more_contacts_have_one_velocity_by_lemke() {
    for coupling in [0.0, 1e-9] {
        let mut delassus = DMatrix::identity(12, 12);
        for i in 1..6 {
            (delassus[(i, i - 1)], delassus[(i - 1, i)]) = (coupling, coupling);
        }
        let speeds = -DVector::from_element(12, 1.0);
        let six = ImpactProblem::with_tangents(delassus, speeds, &[0.5; 6]).unwrap();
        let outcomes = AnitescuPotra::new().resolve(&six).unwrap();
        assert_eq!(outcomes.is_complete, coupling == 0.0);
        assert_eq!(outcomes.list.len(), 1);
        let off = outcomes.list[0].speeds.rows(6, 6).add_scalar(0.5).amax();
        assert!(off < 1e-12 + 2.0 * coupling, "{off:e}");
    }
}
