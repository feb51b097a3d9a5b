//! The body on two rigid legs: what is left when one foot touches just before the other (unilateral
//! mechanics, section 7).
//!
//! The limits of the table are those of feet that touch one at a time: after each touch the other
//! foot alone approaches, and a foot that stays closed (γ = 0) takes part in the impact of the
//! other.

use saltation::impact::{ImpactLaw, ImpactProblem, Projective, Sequential, Unilateral};
use saltation::nalgebra::{DVector, dmatrix, dvector};

use crate::fixtures::reference::case;

/// Half distance of the feet (m); the body has a mass of 1 kg.
const D: f64 = 0.5;

/// Both feet at the ground with the body level, for `I = ratio · m d²`, velocity `(ż, θ̇)`; foot 0
/// is the rear one.
fn feet(ratio: f64, restitution: f64, velocity: &DVector<f64>) -> ImpactProblem {
    let mass = dmatrix![1.0, 0.0; 0.0, ratio * D * D];
    let gaps = dmatrix![1.0, -D; 1.0, D];
    let problem = ImpactProblem::from_mechanics(&mass, &gaps, velocity).unwrap();
    problem.with_restitution(restitution).unwrap()
}

/// Rows: ratio, restitution, velocity after.
fn rows() -> Vec<(f64, f64, DVector<f64>)> {
    let rows = case(
        include_str!("../data/rigid_limit_reference.csv"),
        "rigid_limit",
    );
    let pairs = rows.chunks(2);
    let found: Vec<_> = pairs
        .map(|pair| {
            let [turn, rise] = pair else { panic!() };
            assert_eq!(turn.quantity, "thetadot_after_rear_first");
            assert_eq!(rise.quantity, "zdot_after_rear_first");
            assert_eq!((turn.i, turn.j), (rise.i, rise.j));
            // 12 digits stand for thirds
            let ratio: f64 = turn.i.parse().unwrap();
            let ratio = if ratio < 0.4 { 1.0 / 3.0 } else { ratio };
            let restitution = turn.j.parse().unwrap();
            (ratio, restitution, dvector![rise.value(), turn.value()])
        })
        .collect();
    assert_eq!(found.len(), 15);
    found
}

#[test]
fn one_foot_after_the_other() {
    let falling = dvector![-1.0, 0.0];
    for (ratio, restitution, expected) in rows() {
        let problem = feet(ratio, restitution, &falling);
        for (first, mirror) in [(0, 1.0), (1, -1.0)] {
            let problem = problem.clone().with_new_contacts(&[first]).unwrap();
            let outcome = Sequential::new().outcome(&problem).unwrap();
            let after = problem.velocity_after(&outcome).unwrap();
            let expected = dvector![expected[0], mirror * expected[1]];
            let error = (&after - expected).amax();
            assert!(error < 2e-12, "{ratio} {restitution}: {after} {error:e}");
        }
    }
}

#[test]
fn a_plastic_foot_stays_closed_when_the_other_touches() {
    let falling = dvector![-1.0, 0.0];
    for (ratio, _, expected) in rows().into_iter().filter(|row| row.1 == 0.0) {
        // The rear foot alone.
        let rear = feet(ratio, 0.0, &falling).with_new_contacts(&[0]).unwrap();
        let first = rear.delassus()[(0, 0)];
        let between = &falling + dvector![1.0, -D / (ratio * D * D)] / first;
        // Then both, since the rear one is closed.
        let both = feet(ratio, 0.0, &between);
        assert!(both.speeds()[0].abs() < 1e-15 && both.speeds()[1] < 0.0);
        let outcome = Unilateral.outcome(&both).unwrap();
        let after = both.velocity_after(&outcome).unwrap();
        assert!((&after - &expected).amax() < 1e-12, "{ratio}: {after}");
        assert!(!outcome.is_adhesive());
        // Acute contacts: the literal law would pull at the rear foot, and so hide the jump.
        let literal = Projective::new().outcome(&both).unwrap();
        assert_eq!(literal.is_adhesive(), ratio > 1.0);
        assert!(both.velocity_after(&literal).unwrap()[1].abs() < 1e-14);
    }
}

#[test]
fn the_pull_of_the_literal_law_is_that_of_the_rigid_model() {
    // I = 1 kg m², d = 0.5 m, dropped from z = 1.5 m to 1 m
    let speed = (2.0 * 9.81 * 0.5_f64).sqrt();
    let rear = feet(4.0, 0.0, &dvector![-speed, 0.0]);
    let between = dvector![-speed, 0.0] + dvector![1.0, -0.5] * (speed / rear.delassus()[(0, 0)]);
    let literal = Projective::new()
        .outcome(&feet(4.0, 0.0, &between))
        .unwrap();
    assert!((literal.impulses[0] + 0.93962759).abs() < 1e-8);
    assert!((literal.impulses[1] - 1.56604598).abs() < 1e-8);
}

#[test]
fn both_feet_at_once_never_turn_the_body() {
    for (ratio, restitution, _) in rows() {
        let problem = feet(ratio, restitution, &dvector![-1.0, 0.0]);
        for law in [&Unilateral as &dyn ImpactLaw, &Projective::new()] {
            let after = problem
                .velocity_after(&law.outcome(&problem).unwrap())
                .unwrap();
            assert!((after - dvector![restitution, 0.0]).amax() < 1e-14);
        }
    }
}
