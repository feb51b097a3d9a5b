//! Options are validated when a run starts, by every driver, before anything is computed; they are
//! named as the user wrote them.

use saltation::event_driven::Breakdown;
use saltation::impact::AllOutcomes;
use saltation::models::BouncingBall;
use saltation::{ContactModel, EventDriven};
use saltation::{InputError, Integrator, Start};

use crate::fixtures::row::Row;

fn ball(restitution: f64) -> ContactModel<BouncingBall> {
    ContactModel::new(BouncingBall {
        restitution,
        ..BouncingBall::default()
    })
}

/// The name of the option that is refused.
fn refused<T>(run: Result<T, impl Into<Breakdown>>) -> Option<&'static str> {
    match run.err()?.into() {
        Breakdown::Input(InputError::BadSetting { name, .. }) => Some(name),
        _ => None,
    }
}

/// Tolerances that make no sense, with their names.
fn bad_tolerances() -> Vec<(ContactModel<BouncingBall>, &'static str)> {
    let gaps = [f64::NAN, -1.0, f64::INFINITY];
    // Rates are compared with this one: it must be above zero.
    let rates = [f64::NAN, -1.0, f64::INFINITY, 0.0];
    let gaps = gaps.map(|bad| (ball(0.5).gap_tolerance(bad), "gap_tolerance"));
    let rates = rates.map(|bad| (ball(0.5).rate_tolerance(bad), "rate_tolerance"));
    gaps.into_iter().chain(rates).collect()
}

#[test]
fn tolerances_are_named_by_every_driver() {
    for (model, expected) in bad_tolerances() {
        assert_eq!(
            refused(model.start(&Start::at(0.0).q(&[1.0]).v(&[0.0]))),
            Some(expected)
        );
        let report = model.decoupling(&Start::at(0.0).q(&[0.0]).v(&[-1.0]), &[0]);
        assert_eq!(refused(report), Some(expected), "decoupling");
        let run = EventDriven::new(model.clone())
            .unwrap()
            .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 0.1);
        assert_eq!(refused(run), Some(expected), "integrate");
        let derivative = EventDriven::new(model.clone())
            .unwrap()
            .derivative(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 0.1);
        assert_eq!(refused(derivative), Some(expected), "derivative");
        // The core, without `start`.
        let run = Integrator::new(model)
            .unwrap()
            .integrate(&Start::at(0.0).x(&[1.0, 0.0]), 0.1);
        assert_eq!(refused(run), Some(expected), "core");
    }
}

#[test]
fn times_are_refused_for_derivatives_too() {
    for bad in [f64::NAN, -1.0, f64::INFINITY] {
        let simulation = || EventDriven::new(ball(0.5)).unwrap();
        let derivative = simulation()
            .zeno_time(bad)
            .derivative(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 0.1);
        assert_eq!(refused(derivative), Some("zeno_time"));
    }
}

/// The start is an impact with two outcomes, of which none is chosen: the run could not start. What
/// is wrong with the options comes first, as the impact may take long.
#[test]
fn options_are_refused_before_the_impact_of_the_start() {
    let (q, v) = ([0.0; 3], [1.0, 0.0, -1.0]);
    let simulation = || {
        let model = ContactModel::with_law(Row::default(), AllOutcomes::new());
        EventDriven::new(model).unwrap()
    };
    let run = simulation()
        .integrate(&Start::at(0.0).q(&q).v(&v), 1.0)
        .unwrap();
    let reason = run.status().reason::<Breakdown>();
    assert!(
        matches!(reason, Some(Breakdown::Impact { .. })),
        "{reason:?}"
    );
    let run = simulation()
        .rtol(-1.0)
        .integrate(&Start::at(0.0).q(&q).v(&v), 1.0);
    assert_eq!(refused(run), Some("rtol"));
    let derivative = simulation()
        .rtol(-1.0)
        .derivative(&Start::at(0.0).q(&q).v(&v), 1.0);
    assert_eq!(refused(derivative), Some("rtol"));
    let run = simulation()
        .configure(|integrator| integrator.max_step(f64::NAN))
        .integrate(&Start::at(0.0).q(&q).v(&v), 1.0);
    assert_eq!(refused(run), Some("max_step"));
}
