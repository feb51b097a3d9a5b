//! Whether outcomes of rigid legs are continuous (spec `unilateral_mechanics` 7, table of
//! continuity classes).

use std::f64::consts::PI;

use saltation::ContactModel;
use saltation::event_driven::{ContinuityClass, DecouplingReport, InertialCoupling};
use saltation::impact::{ImpactLaw, Propagative, Unilateral};
use saltation::models::RigidTrot;
use saltation::{Integrator, Start};

/// Rigid legs with `I/(m d²) = ratio`.
pub(crate) fn legs(ratio: f64, restitution: f64) -> RigidTrot {
    RigidTrot {
        inertia: 0.25 * ratio,
        restitution,
        ..RigidTrot::default()
    }
}

pub(crate) fn legs_with<L: ImpactLaw + Send + Sync + 'static>(
    trot: RigidTrot,
    law: L,
    v: [f64; 2],
) -> DecouplingReport {
    ContactModel::with_law(trot, law)
        .decoupling(&Start::at(0.0).q(&[1.0, 0.0]).v(&v), &[0, 1])
        .unwrap()
}

/// `I/(m d²)` for contacts at the angle `π/k`.
pub(crate) fn ratio(k: f64) -> f64 {
    (1.0 - (PI / k).cos()) / (1.0 + (PI / k).cos())
}

/// Velocities a little after a touch-down that begins at `(q, v)`.
fn after_run(trot: RigidTrot, theta: f64, v: [f64; 2]) -> [f64; 2] {
    let model = ContactModel::new(trot);
    let start = model
        .start(&Start::at(0.0).q(&[1.0 + 1e-6, theta]).v(&v))
        .unwrap();
    let mut integrator = Integrator::new(&model).unwrap();
    let run = integrator.integrate(&start.as_start(), 1e-5).unwrap();
    let state = run.state();
    [state[2], state[3]]
}

/// Spec 7, table of continuity classes: `θ̇` when the rear foot is first, per unit approach speed.
const TABLE: [(f64, [f64; 3]); 5] = [
    (1.0 / 3.0, [0.0, -0.140625, 0.0]),
    (0.6, [0.0, 0.673828125, 1.25]),
    (1.0, [0.0, 0.0, 0.0]),
    (2.0, [-2.0 / 9.0, -0.5, -8.0 / 9.0]),
    (4.0, [-0.24, -0.54, -0.8]),
];

#[test]
fn jumps_are_those_of_the_table_and_of_runs_beside_the_corner() {
    for (ratio, limits) in TABLE {
        for (e, limit) in [0.0, 0.5, 1.0].into_iter().zip(limits) {
            let trot = legs(ratio, e);
            let report = legs_with(trot, Unilateral, [-1.0, 0.0]);
            let note = format!("{ratio} {e}: {report:?}");
            let [rear, front] = &report.outcomes[..] else {
                panic!("{note}");
            };
            assert_eq!(
                (&rear.order[..], &front.order[..]),
                (&[0, 1][..], &[1, 0][..])
            );
            assert!((rear.velocity[1] - limit).abs() < 1e-12, "{note}");
            assert!((front.velocity[1] + limit).abs() < 1e-12, "{note}");
            if limit == 0.0 {
                assert!(report.state_spread < 1e-12, "{note}");
                let jumps = matches!(report.verdict, InertialCoupling::Discontinuous { .. });
                assert!(!jumps, "{note}");
            } else {
                // Mirror images: heights move alike.
                let InertialCoupling::Discontinuous { jump } = report.verdict else {
                    panic!("{note}");
                };
                assert!((jump - 2.0 * limit.abs()).abs() < 1e-12, "{note}");
            }
            for (theta, outcome) in [(1e-8, rear), (-1e-8, front)] {
                let found = after_run(trot, theta, [-1.0, 0.0]);
                for (found, expected) in found.iter().zip(outcome.velocity.iter()) {
                    // Gravity acts for 1e-5 s.
                    assert!((found - expected).abs() < 2e-4, "{theta} {found}: {note}");
                }
            }
        }
    }
}

#[test]
fn elastic_feet_at_the_angle_pi_over_k_are_a_reflection_group() {
    for k in 3..10 {
        let group = InertialCoupling::ContinuousOnly(ContinuityClass::ReflectionGroup { k });
        let trot = legs(ratio(k as f64), 1.0);
        let symmetric = legs_with(trot, Unilateral, [-1.0, 0.0]);
        assert_eq!(symmetric.verdict, group, "{symmetric:?}");
        // Limits agree with the simultaneous law at the corner for even k only.
        let v = [-1.0, 0.3];
        let [v0, v1] = [-1.0 - 0.15, -1.0 + 0.15];
        let skew = legs_with(trot, Unilateral, v);
        assert!(skew.state_spread < 1e-12, "{skew:?}");
        if k % 2 == 0 {
            assert_eq!(skew.verdict, group, "{skew:?}");
        } else {
            let InertialCoupling::Isolated { by } = skew.verdict else {
                panic!("{skew:?}");
            };
            // Speeds of the feet, (v0, v1), become (−v1, −v0) and not (−v0, −v1): θ̇ changes by
            // their difference over d.
            assert!((by - 2.0 * f64::abs(v0 - v1)).abs() < 1e-12, "{skew:?}");
            assert!((skew.corner_spread - by).abs() < 1e-15);
            assert!((skew.velocity_at_once[1] + 0.3).abs() < 1e-12);
        }
        let law = Propagative::default();
        assert_eq!(legs_with(trot, law, v).verdict, group);
        // Nearly elastic is no reflection.
        let soft = legs(ratio(k as f64), 0.99);
        let verdict = legs_with(soft, law, v).verdict;
        assert!(
            matches!(verdict, InertialCoupling::Discontinuous { .. }),
            "{verdict:?}"
        );
    }
}
