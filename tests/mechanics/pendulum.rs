//! The double pendulum against a wall: a mass matrix that turns with the configuration.

use saltation::mechanics::check_mechanics;
use saltation::models::DoublePendulum;
use saltation::{ContactModel, EventDriven};
use saltation::{Start, Status};

use crate::random::SplitMix64;

fn energy(pendulum: &DoublePendulum, state: &[f64]) -> f64 {
    ContactModel::new(*pendulum).energy(state).unwrap()
}

#[test]
fn energy_is_kinetic_and_potential() {
    // At the top, both rods turning as one at 2 rad/s: ½ (1 + 4) 2² and g (1 + 2).
    let model = ContactModel::new(DoublePendulum::default());
    let top = [std::f64::consts::PI; 2];
    let found = model.energy(&[top[0], top[1], 2.0, 2.0]).unwrap();
    assert!((found - 10.0 - 3.0 * 9.81).abs() < 1e-12);
    assert_eq!(model.energy(&top), None);
}

/// `tests/data/propagative_reference.csv`, table `vi_pend2_wall`: the limit of the impact time for
/// small steps, 12 digits.
#[test]
fn the_wall_is_hit_when_the_reference_says() {
    let pendulum = DoublePendulum::default();
    let mut simulation = EventDriven::new(ContactModel::new(pendulum))
        .unwrap()
        .rtol(1e-12)
        .atol(1e-13);
    let run = simulation
        .integrate(&Start::at(0.0).q(&[1.0, 0.5]).v(&[0.0; 2]), 1.5)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    let event = &run.events()[0];
    assert!((event.t - 0.755987814701).abs() < 1e-11, "{}", event.t);
    assert!(event.approach[0] < -1.0);
    // Elastic: the energy stays, in flight and at the wall.
    let start = energy(&pendulum, &[1.0, 0.5, 0.0, 0.0]);
    for state in [&event.state_before, &event.state_after] {
        assert!((energy(&pendulum, state) - start).abs() < 1e-10);
    }
    let end = run.state();
    assert!((energy(&pendulum, end.as_slice()) - start).abs() < 1e-10);
}

#[test]
fn a_plastic_wall_is_slid_along_and_left() {
    // The wall is to the right of the support: the pendulum leans on it.
    let pendulum = DoublePendulum {
        wall: 0.3,
        restitution: 0.0,
        ..DoublePendulum::default()
    };
    let model = ContactModel::new(pendulum);
    let mut simulation = EventDriven::new(model).unwrap().rtol(1e-11).atol(1e-12);
    let run = simulation
        .integrate(&Start::at(0.0).q(&[0.9, 0.2]).v(&[0.0; 2]), 3.0)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    let closed: Vec<_> = run.phases().into_iter().map(|mode| mode.closed).collect();
    assert!(closed.starts_with(&[vec![], vec![0], vec![]]), "{closed:?}");

    // No work is done at the wall while it is slid along: energy is lost at impacts alone.
    let mut last = energy(&pendulum, &[0.9, 0.2, 0.0, 0.0]);
    for event in run.events() {
        let [before, after] =
            [&event.state_before, &event.state_after].map(|s| energy(&pendulum, s));
        assert!((before - last).abs() < 1e-9, "{before} {last}");
        // ½ pᵀ G p with one contact: half the impulse times the approach.
        let lost = event
            .impulses
            .first()
            .map_or(0.0, |p| -0.5 * p * event.approach[0]);
        assert!((before - after - lost).abs() < 1e-10);
        last = after;
    }
    assert!((energy(&pendulum, run.state().as_slice()) - last).abs() < 1e-9);
}

#[test]
fn its_derivatives_are_those_of_differences() {
    let pendulum = DoublePendulum {
        masses: [2.0, 0.4],
        lengths: [0.7, 1.3],
        ..DoublePendulum::default()
    };
    let mut draw = SplitMix64(5);
    for _ in 0..100 {
        let [q, v] = [3.0, 5.0].map(|size| [draw.between(-size, size), draw.between(-size, size)]);
        let report = check_mechanics(&pendulum, 0.0, &q, &v).unwrap();
        assert!(report.agrees(1e-7), "{report}");
    }
}
