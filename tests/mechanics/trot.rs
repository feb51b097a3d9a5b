//! The trotting models of Pace & Burden, Fig. 1, against the reference file: events, states, mode
//! sequences.

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{RigidTrot, SoftTrot};
use saltation::{ContactModel, EventDriven};
use saltation::{Integrator, Run, Start};

use crate::fixtures::reference::{by_index, rows};

const FILE: &str = include_str!("../data/trot_reference.csv");

fn run<S: MechanicalSystem + UnilateralConstraints>(
    system: S,
    q: &[f64],
    v: &[f64],
    tf: f64,
) -> (ContactModel<S>, Run) {
    let model = ContactModel::new(system);
    let start = model.start(&Start::at(0.0).q(q).v(v)).unwrap();
    let run = Integrator::new(&model)
        .unwrap()
        .rtol(1e-12)
        .atol(1e-12)
        .integrate(&start.as_start(), tf)
        .unwrap()
        .completed()
        .unwrap();
    (model, run)
}

/// Times of events, several at one instant once, and the contact mode of each interval between
/// them.
fn sequence<S: MechanicalSystem + UnilateralConstraints>(
    model: &ContactModel<S>,
    run: &Run,
) -> (Vec<f64>, String) {
    let mut times: Vec<f64> = Vec::new();
    for crossing in run.crossings() {
        if times.last().is_none_or(|last| crossing.t - last > 1e-9) {
            times.push(crossing.t);
        }
    }
    let edges: Vec<f64> = std::iter::once(0.0)
        .chain(times.iter().copied())
        .chain([run.t()])
        .collect();
    let modes: Vec<String> = edges
        .windows(2)
        .map(|pair| {
            let closed = model.closed(run.mode_at(0.5 * (pair[0] + pair[1])).unwrap());
            format!(
                "{{{}}}",
                closed
                    .iter()
                    .map(|j| (j + 1).to_string())
                    .collect::<String>()
            )
        })
        .collect();
    (times, modes.join(">"))
}

fn check<S: MechanicalSystem + UnilateralConstraints>(
    case: &str,
    names: &[&str],
    tf: f64,
    make: impl Fn(f64) -> (S, Vec<f64>, Vec<f64>),
) {
    let mut compared = 0;
    for (theta, rows) in by_index(&rows(FILE), case) {
        let (system, q, v) = make(theta.parse().unwrap());
        let (model, run) = run(system, &q, &v, tf);
        let (times, modes) = sequence(&model, &run);
        for row in &rows {
            let near = |found: f64, tolerance: f64| {
                assert!((found - row.number()).abs() < tolerance, "{row:?}: {found}");
            };
            if row.quantity == "mode_sequence" {
                assert_eq!(modes, row.value, "{case} {theta}");
            } else if row.quantity == "event_time" {
                let index: usize = row.j.parse().unwrap();
                near(times[index - 1], 1e-10);
            } else if row.quantity == "thetadot_after_event" {
                let index: usize = row.j.parse().unwrap();
                near(run.state_at(times[index - 1]).unwrap()[v.len() + 1], 1e-9);
            } else if let Some(index) = names
                .iter()
                .position(|name| row.quantity == format!("{name}_T"))
            {
                near(run.state()[index], 1e-9);
            } else {
                panic!("not compared: {row:?}");
            }
            compared += 1;
        }
    }
    assert!(compared > 50);
}

#[test]
fn rigid_legs() {
    check(
        "rigid",
        &["z", "theta", "zdot", "thetadot"],
        0.65,
        |theta| {
            let (q, v) = RigidTrot::start(theta);
            (RigidTrot::default(), q.to_vec(), v.to_vec())
        },
    );
}

const SOFT: [&str; 8] = [
    "z", "theta", "z1", "z2", "zdot", "thetadot", "z1dot", "z2dot",
];

fn soft(system: SoftTrot, theta: f64) -> (SoftTrot, Vec<f64>, Vec<f64>) {
    let (q, v) = system.start(theta);
    (system, q.to_vec(), v.to_vec())
}

#[test]
fn soft_legs() {
    check("soft", &SOFT, 0.65, |theta| {
        soft(SoftTrot::default(), theta)
    });
}

#[test]
fn soft_legs_that_bounce() {
    let bouncing = SoftTrot {
        restitution: 0.5,
        ..SoftTrot::default()
    };
    check("soft_bounce", &SOFT, 0.36, |theta| soft(bouncing, theta));
}

#[test]
fn soft_legs_that_bounce_and_are_coupled() {
    let coupled = SoftTrot {
        restitution: 0.5,
        coupling: 2.0,
        ..SoftTrot::default()
    };
    check("softx_bounce", &SOFT, 0.36, |theta| soft(coupled, theta));
}

/// Through the core alone, without [`ContactModel::start`]: nothing is closed in the air.
#[test]
fn without_a_start_mode_no_contact_is_closed() {
    let (q, v) = SoftTrot::default().start(0.01);
    let model = ContactModel::new(SoftTrot::default());
    let mut simulation = EventDriven::new(model.clone())
        .unwrap()
        .rtol(1e-9)
        .atol(1e-10);
    let expected = simulation
        .integrate(&Start::at(0.0).q(&q).v(&v), 0.65)
        .unwrap();
    let mut core = Integrator::new(model).unwrap().rtol(1e-9).atol(1e-10);
    let run = core
        .integrate(&Start::at(0.0).x(&[q, v].concat()), 0.65)
        .unwrap();
    assert_eq!(run.state(), expected.state());
}
