//! After an interrupt is set, a driver evaluates the model a bounded number of times. Counted, not
//! timed: the bench `latency` measures the time.

use saltation::derivative::{Sensitivities, check_derivatives_until};
use saltation::mechanics::check_mechanics_until;
use saltation::nalgebra::DMatrix;
use saltation::{Compliant, ContactModel, EventDriven};
use saltation::{Integrator, NoDerivative, Start, Status, Stop};

use crate::interrupted::{Row, Setter, Springs, balls, heap};

/// Evaluations of each guard in a step and in its search, between two looks.
const IN_STEP: usize = 4;
/// The same where the rows of all guards at a crossing are measured by differences, for derivatives.
const IN_ROWS: usize = 100;

#[test]
fn a_run_ends_within_a_step_of_its_interrupt() {
    for evaluation in [0, 1, 100, 1000, 3000] {
        let setter = Setter::at(evaluation);
        let model = Springs::new(20, &setter);
        let start = model.start();
        let integrator = Integrator::new(&model).unwrap();
        let mut integrator = integrator.interrupt(setter.interrupt());
        let run = integrator
            .integrate(&Start::at(0.0).x(&start), 1e6)
            .unwrap();
        assert_eq!(*run.status(), Status::Refused(Stop::Interrupted));
        let after = setter.after();
        assert!(after <= IN_STEP * 20, "{evaluation}: {after}");
    }
}

#[test]
fn a_derivative_ends_within_a_step_of_its_interrupt() {
    for evaluation in [0, 100, 3000, 30_000] {
        let setter = Setter::at(evaluation);
        let model = Springs::new(20, &setter);
        let start = model.start();
        let integrator = Integrator::new(&model).unwrap();
        let mut integrator = integrator.interrupt(setter.interrupt());
        let found = integrator
            .derivative(&Start::at(0.0).x(&start), 1e6)
            .unwrap();
        let refused = found.apply(&start).unwrap_err();
        assert_eq!(refused, NoDerivative::Stop(Stop::Interrupted));
        let after = setter.after();
        assert!(after <= IN_ROWS * 20, "{evaluation}: {after}");
    }
}

#[test]
fn tangents_end_within_a_step_of_their_interrupt() {
    for evaluation in [0, 100, 3000, 30_000] {
        let setter = Setter::at(evaluation);
        let model = Springs::new(20, &setter);
        let start = model.start();
        let integrator = Integrator::new(&model).unwrap();
        let mut integrator = integrator.interrupt(setter.interrupt());
        let mut tangents = Sensitivities::new(40, 40);
        integrator
            .carry(&Start::at(0.0).x(&start), 1e6, &mut tangents, &mut ())
            .unwrap();
        let refused = tangents.columns().unwrap_err();
        assert_eq!(refused, NoDerivative::Stop(Stop::Interrupted));
        let after = setter.after();
        assert!(after <= IN_ROWS * 20, "{evaluation}: {after}");
    }
}

#[test]
fn a_check_of_derivatives_ends_within_a_column_of_its_interrupt() {
    let check = |setter: &Setter| {
        let model = Springs::new(12, setter).written();
        let (start, mode) = (model.start(), model.mode());
        check_derivatives_until(&model, 0.0, &start, &mode, setter.interrupt())
    };
    let whole = Setter::never();
    assert!(check(&whole).unwrap().agrees(1e-6));
    let all = whole.made();
    assert!(all > 500, "{all}");
    for part in 0..50 {
        let setter = Setter::at(all * part / 50);
        let (found, after) = (check(&setter), setter.after());
        assert!(
            matches!(found, Err(NoDerivative::Stop(Stop::Interrupted))),
            "{part}: {found:?}"
        );
        // Columns are asked for 64 at once, directions of a reset all at once.
        assert!(after <= 100, "{part}: {after}");
    }
}

#[test]
fn a_check_of_mechanics_ends_within_a_difference_of_its_interrupt() {
    let check = |setter: &Setter| {
        let row = Row::new(12, setter).written();
        check_mechanics_until(&row, 0.0, &[0.5; 12], &[0.1; 12], setter.interrupt())
    };
    let whole = Setter::never();
    assert!(check(&whole).unwrap().agrees(1e-6));
    let all = whole.made();
    for part in 0..50 {
        let setter = Setter::at(all * part / 50);
        let (found, after) = (check(&setter), setter.after());
        // One contact is compared to its end: its row, and that of a gap that is not written.
        assert!(after <= 5 * 12, "{part}: {after}");
        assert!(
            matches!(found, Err(Stop::Interrupted)) || part > 45,
            "{part}: {found:?}"
        );
    }
}

#[test]
fn compliant_runs_and_their_sensitivities_end_within_a_column_of_their_interrupt() {
    let start = |setter: &Setter| {
        let (heap, q, v) = heap(balls(4), setter);
        let stepper = Compliant::new(heap).unwrap().time_step(0.01);
        (stepper.interrupt(setter.interrupt()), q, v)
    };
    for evaluation in 1..120 {
        let setter = Setter::at(evaluation);
        let (mut stepper, q, v) = start(&setter);
        let columns = DMatrix::from_fn(q.len() + v.len(), v.len(), |r, c| {
            f64::from(u8::from(r == q.len() + c))
        });
        let ended = stepper
            .sensitivities(&Start::at(0.0).q(&q).v(&v), 1e3, &columns)
            .unwrap_err();
        assert_eq!(ended, Stop::Interrupted);
        // The other end of a difference, at most.
        assert!(setter.after() <= 1, "{evaluation}: {}", setter.after());
    }
    let setter = Setter::at(50);
    let (mut stepper, q, v) = start(&setter);
    let run = stepper.integrate(&Start::at(0.0).q(&q).v(&v), 1e3).unwrap();
    assert_eq!(*run.status(), Status::Refused(Stop::Interrupted));
    assert!(setter.after() <= 1);
}

/// A run of `n` masses that land and stay, each `apart` metres behind the one before.
fn landings(n: usize, apart: f64, setter: &Setter) -> Status {
    let row = Row::new(n, setter).written();
    let (q, v) = row.start(apart);
    let simulation = EventDriven::new(ContactModel::new(row)).unwrap();
    let mut simulation = simulation.configure(|run| run.interrupt(setter.interrupt()));
    let run = simulation
        .integrate(&Start::at(0.0).q(&q).v(&v), 0.6)
        .unwrap();
    run.status().clone()
}

/// However many contacts close at once: a step makes a dozen passes over all gaps and forces, an
/// event looks between them.
fn check_landings(n: usize, places: usize) {
    for apart in [0.0, 1e-12, 0.01] {
        let whole = Setter::never();
        assert_eq!(landings(n, apart, &whole), Status::ReachedEnd);
        let all = whole.made();
        let mut most = 0;
        for place in 0..=places {
            let setter = Setter::at((all - 1) * place / places);
            let status = landings(n, apart, &setter);
            let after = setter.after();
            assert!(
                after <= 16 * n,
                "{after} evaluations after {place} of {places}"
            );
            most = most.max(after);
            // Only what leaves no work out has reached the end.
            let expected = if setter.made() == all {
                Status::ReachedEnd
            } else {
                Status::Refused(Stop::Interrupted)
            };
            assert_eq!(status, expected, "{place} of {places}");
        }
        println!("{n} {apart:e}: {all} evaluations, {most} after an interrupt at most");
    }
}

#[test]
fn a_simulation_in_which_contacts_close_ends_soon_after_its_interrupt_and_says_so() {
    check_landings(12, 50);
}

#[test]
#[ignore = "hundreds of runs: release"]
fn a_simulation_of_many_contacts_ends_soon_after_its_interrupt_wherever_it_comes() {
    check_landings(24, 400);
}

/// Efforts that depend on which contacts are closed: all 1,024 sets of ten contacts are tried.
#[test]
fn sets_of_contacts_are_no_longer_tried_after_an_interrupt() {
    for at in [0, 100, 1000, 3000] {
        let setter = Setter::at(at);
        let model = ContactModel::new(Row::new(10, &setter).written().switched());
        let simulation = EventDriven::new(model).unwrap();
        let mut simulation = simulation.interrupt(setter.interrupt());
        // Already at the start.
        let run = simulation
            .integrate(&Start::at(0.0).q(&[0.0; 10]).v(&[0.0; 10]), 1e-6)
            .unwrap();
        assert_eq!(*run.status(), Status::Refused(Stop::Interrupted), "{at}");
        // Those of one set.
        let after = setter.after();
        assert!(after <= 60, "{at}: {after}");
    }
}
