//! A table on four legs: contacts that depend on each other.

use saltation::event_driven::Breakdown;
use saltation::mechanics::{MechanicalSystem, Redundant, UnilateralConstraints};
use saltation::{ContactModel, EventDriven};
use saltation::{Start, Status};

const G: f64 = 9.81;
/// Legs at the corners of a square of side 2 m.
const LEGS: [(f64, f64); 4] = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];

/// Height, and two small angles; a load at `load(t)` on the top, a weight without mass.
#[derive(Clone, Copy, Debug)]
struct Table {
    load: fn(f64) -> (f64, f64),
}

impl MechanicalSystem for Table {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[2.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let (x, y) = (self.load)(t);
        effort.copy_from_slice(&[-2.0 * G, -2.0 * G * y, 2.0 * G * x]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
}

impl UnilateralConstraints for Table {
    fn contacts(&self) -> usize {
        4
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let (x, y) = LEGS[j];
        q[0] + y * q[1] - x * q[2]
    }
}

fn simulation(load: fn(f64) -> (f64, f64)) -> EventDriven<Table> {
    let model = ContactModel::new(Table { load });
    EventDriven::new(model).unwrap().rtol(1e-10).atol(1e-11)
}

#[test]
fn a_table_lands_on_four_legs_and_is_refused_on_request() {
    let table = Table {
        load: |_| (0.0, 0.0),
    };
    let strict = ContactModel::new(table).redundant(Redundant::Refuse);
    let mut strict = EventDriven::new(strict).unwrap();
    let run = strict
        .integrate(&Start::at(0.0).q(&[1.0, 0.0, 0.0]).v(&[0.0; 3]), 1.0)
        .unwrap();
    let status = run.status();
    assert!(
        matches!(status.reason::<Breakdown>(), Some(Breakdown::DependentContacts { set, .. }) if set == &[0, 1, 2, 3]),
        "{status}"
    );
    let run = strict
        .integrate(&Start::at(0.0).q(&[0.0; 3]).v(&[0.0; 3]), 1.0)
        .unwrap();
    let status = run.status();
    assert!(
        matches!(
            status.reason::<Breakdown>(),
            Some(Breakdown::DependentContacts { .. })
        ),
        "{status}"
    );

    let mut simulation = simulation(|_| (0.0, 0.0));
    let run = simulation
        .integrate(&Start::at(0.0).q(&[1.0, 0.0, 0.0]).v(&[0.0; 3]), 10.0)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    assert_eq!(run.phases().last().unwrap().closed, [0, 1, 2, 3]);
    assert!(run.state().amax() < 1e-12);
    let state = run.state().as_slice().to_vec();
    let force = simulation.model().multipliers(10.0, &state, run.mode());
    assert!(!force.are_unique());
    assert!(force.values().iter().all(|f| (f - 0.5 * G).abs() < 1e-10));
}

#[test]
fn a_load_that_wanders_to_the_edge_tips_the_table_over_two_legs() {
    let run = simulation(|t| (t, 0.0))
        .integrate(&Start::at(0.0).q(&[0.0; 3]).v(&[0.0; 3]), 1.2)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    let [event] = run.events() else {
        panic!("{:?}", run.events());
    };
    assert!((event.t - 1.0).abs() < 1e-9, "{}", event.t);
    assert_eq!(
        (&event.released[..], &event.mode_after[..]),
        (&[1, 2][..], &[0, 3][..])
    );
}

#[test]
fn a_load_that_wanders_to_a_corner_tips_the_table_when_it_is_there() {
    // Least norm lets go of the leg behind half-way; the others hold until the load stands on the
    // leg.
    let run = simulation(|t| (t, t))
        .integrate(&Start::at(0.0).q(&[0.0; 3]).v(&[0.0; 3]), 1.05)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    let modes: Vec<_> = run.phases().into_iter().map(|m| (m.t, m.closed)).collect();
    assert_eq!(modes[1].1, [0, 1, 3]);
    assert!((modes[1].0 - 0.5).abs() < 1e-9);
    assert_eq!(modes.last().unwrap().1, [0]);
    assert!((modes.last().unwrap().0 - 1.0).abs() < 1e-9, "{modes:?}");
    let before = run.state_at(0.999).unwrap();
    assert!(before.amax() < 1e-12, "{before}");
}

#[test]
fn a_load_that_wanders_to_and_fro_within_the_legs_leaves_the_table_in_peace() {
    for path in [
        (|t: f64| (0.9 * t.sin(), 0.9 * t.sin())) as fn(f64) -> (f64, f64),
        |t| (0.8 * t.sin(), 0.8 * (1.7 * t).cos()),
        |t| (0.99 * (3.0 * t).sin(), 0.0),
    ] {
        let run = simulation(path)
            .integrate(&Start::at(0.0).q(&[0.0; 3]).v(&[0.0; 3]), 20.0)
            .unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd);
        let moved = run.states().amax();
        assert!(moved < 1e-9, "{moved:e}");
    }
}
