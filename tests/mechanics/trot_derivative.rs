//! Derivatives of the trotting models with respect to the initial pitch, one-sided limits included,
//! against the reference file.

use saltation::ContactModel;
use saltation::derivative::Verdict;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{RigidTrot, SoftTrot};
use saltation::{Guard, Integrator, Start};

use crate::fixtures::reference::{Row, by_index, rows};

const FILE: &str = include_str!("../data/trot_reference.csv");

/// Rows of a derivative case: values by name, and by the side from which they are taken.
fn table(case: &str) -> Vec<Row> {
    by_index(&rows(FILE), case)
        .remove("0")
        .expect("rows of pitch 0")
}

/// One side of the derivative: the rear foot first to the right, the front foot first to the left.
fn one_side<S: MechanicalSystem + UnilateralConstraints>(
    model: &ContactModel<S>,
    (q, v): (&[f64], &[f64]),
    direction: &[f64],
    tf: f64,
    right: bool,
) -> (Vec<f64>, Vec<f64>, Verdict) {
    let start = model.start(&Start::at(0.0).q(q).v(v)).unwrap();
    let order = if right { [0, 1] } else { [1, 0] }.map(Guard::falling);
    let mut integrator = Integrator::new(model)
        .unwrap()
        .rtol(1e-12)
        .atol(1e-12)
        .corner_order(order);
    let d = integrator.derivative(&start.as_start(), tf).unwrap();
    let along = if right {
        d.apply(direction)
    } else {
        d.apply_backward(direction)
    };
    let along = along.unwrap_or_else(|error| panic!("{error}; {}", d.verdict()));
    let state = d.run().state().as_slice().to_vec();
    (state, along.as_slice().to_vec(), d.verdict().clone())
}

fn check<S: MechanicalSystem + UnilateralConstraints>(
    case: &str,
    names: &[&str],
    model: &ContactModel<S>,
    (q, v): (&[f64], &[f64]),
    (direction, tf): (&[f64], f64),
) -> Verdict {
    let mut kept = None;
    let mut compared = 0;
    for (right, side) in [(true, "right"), (false, "left")] {
        let (state, along, verdict) = one_side(model, (q, v), direction, tf, right);
        for row in table(case) {
            for (i, name) in names.iter().enumerate() {
                if row.quantity == format!("d{name}_dtheta0_{side}") {
                    assert!(
                        (along[i] - row.number()).abs() < 1e-8,
                        "{row:?}: {}",
                        along[i]
                    );
                    compared += 1;
                }
                if row.quantity == format!("limit_{name}_{side}") {
                    assert!(
                        (state[i] - row.number()).abs() < 1e-9,
                        "{row:?}: {}",
                        state[i]
                    );
                    compared += 1;
                }
            }
        }
        kept = Some(verdict);
    }
    assert_eq!(compared, 4 * names.len());
    kept.expect("two sides")
}

const SOFT: [&str; 8] = [
    "z", "theta", "z1", "z2", "zdot", "thetadot", "z1dot", "z2dot",
];

fn soft(case: &str, system: SoftTrot, tf: f64) -> Verdict {
    let (q, v) = system.start(0.0);
    let direction = system.start_direction();
    check(
        case,
        &SOFT,
        &ContactModel::new(system),
        (&q, &v),
        (&direction, tf),
    )
}

#[test]
fn soft_legs_are_classical() {
    assert_eq!(
        soft("soft_derivative", SoftTrot::default(), 0.65),
        Verdict::Classical
    );
}

#[test]
fn soft_legs_that_bounce_are_classical_too() {
    let bouncing = SoftTrot {
        restitution: 0.5,
        ..SoftTrot::default()
    };
    assert_eq!(
        soft("soft_bounce_derivative", bouncing, 0.36),
        Verdict::Classical
    );
}

#[test]
fn a_coupling_between_the_feet_makes_a_kink() {
    let coupled = SoftTrot {
        restitution: 0.5,
        coupling: 2.0,
        ..SoftTrot::default()
    };
    assert_eq!(
        soft("softx_bounce_derivative", coupled, 0.36),
        Verdict::Bouligand
    );
}

#[test]
fn rigid_legs_jump_and_each_side_has_its_limit_and_its_map() {
    let (q, v) = RigidTrot::start(0.0);
    let model = ContactModel::new(RigidTrot::default());
    let names = ["z", "theta", "zdot", "thetadot"];
    let verdict = check(
        "rigid_derivative",
        &names,
        &model,
        (&q, &v),
        (&[0.0, 1.0, 0.0, 0.0], 0.65),
    );
    assert!(
        matches!(verdict, Verdict::Discontinuous { .. }),
        "{verdict}"
    );
}

/// The kind of a verdict.
fn kind(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Classical => "classical",
        Verdict::Bouligand => "Bouligand",
        Verdict::Discontinuous { .. } => "discontinuous",
        _ => "other",
    }
}

/// Rounding of a level landing, which no tolerance removes, does not decide what kind of derivative
/// it has.
#[test]
fn verdicts_do_not_depend_on_the_tolerance() {
    let soft = |coupling: f64, restitution: f64| SoftTrot {
        coupling,
        restitution,
        ..SoftTrot::default()
    };
    let rigid = |inertia: f64, restitution: f64| RigidTrot {
        inertia,
        restitution,
        ..RigidTrot::default()
    };
    for rtol in [1e-6, 1e-8, 1e-10, 1e-12] {
        for share in [0.03, 0.1, 1.0] {
            for (coupling, restitution, expected) in [
                (0.0, 0.0, "classical"),
                (0.0, 0.5, "classical"),
                (2.0, 0.0, "classical"),
                (2.0, 0.5, "Bouligand"),
            ] {
                let (q, v) = SoftTrot::default().start(0.0);
                let model = ContactModel::new(soft(coupling, restitution));
                let found = verdict(&model, [&q, &v], (rtol, share * rtol), 0.35);
                assert_eq!(
                    kind(&found),
                    expected,
                    "soft {coupling} {restitution} {rtol:e} {share}: {found:?}"
                );
            }
            for (inertia, restitution, expected) in [
                (0.25, 0.0, "classical"),
                (0.25, 0.5, "Bouligand"),
                (1.0, 0.0, "discontinuous"),
                (1.0, 0.5, "discontinuous"),
            ] {
                let (q, v) = RigidTrot::start(0.0);
                let model = ContactModel::new(rigid(inertia, restitution));
                let found = verdict(&model, [&q, &v], (rtol, share * rtol), 0.35);
                assert_eq!(
                    kind(&found),
                    expected,
                    "rigid {inertia} {restitution} {rtol:e} {share}: {found:?}"
                );
            }
        }
    }
}

fn verdict<S: MechanicalSystem + UnilateralConstraints>(
    model: &ContactModel<S>,
    [q, v]: [&[f64]; 2],
    (rtol, atol): (f64, f64),
    tf: f64,
) -> Verdict {
    let start = model.start(&Start::at(0.0).q(q).v(v)).unwrap();
    let mut integrator = Integrator::new(model).unwrap().rtol(rtol).atol(atol);
    let derivative = integrator.derivative(&start.as_start(), tf).unwrap();
    derivative.verdict().clone()
}
