//! The affine system (spec 6.1): events and final state against 60-digit values, and the order of
//! each projection.

use saltation::models::Affine;
use saltation::{Integrator, Projection, Run, Start, Status};

use crate::fixtures::support::{distance, euclidean, run, slope};

const START: [f64; 3] = [-0.4, -0.15, 0.3];
const END: f64 = 0.5;
const FINAL: [f64; 3] = [0.269850417833360, 0.337890438217039, -0.346637698427866];
/// Event function, time, state.
const EVENTS: [(usize, f64, [f64; 3]); 3] = [
    (
        1,
        0.209588078334645,
        [-0.173864417907085, 0.0, 0.0541936755504562],
    ),
    (
        2,
        0.262364264467491,
        [-0.119478310155419, 0.0605309918714808, 0.0],
    ),
    (
        0,
        0.369207153821750,
        [0.0, 0.173864417907085, -0.125952000094636],
    ),
];

fn located(tolerance: f64, projection: Projection) -> Run {
    let trajectory = Integrator::new(Affine::default())
        .unwrap()
        .rtol(tolerance)
        .atol(tolerance / 200.0)
        .projection(projection)
        .integrate(&Start::at(0.0).x(&START), END)
        .unwrap();
    assert_eq!(*trajectory.status(), Status::ReachedEnd);
    trajectory
}

#[test]
fn event_times_and_states_within_1e11() {
    for projection in [
        Projection::Off,
        Projection::Auto,
        Projection::eps(1e-3, 4),
        Projection::horizon(1e-3, 4),
        Projection::eps(1e-6, 2),
    ] {
        let trajectory = run(Affine::default(), 1e-12, projection.clone(), &START, END);
        assert_eq!(*trajectory.status(), Status::ReachedEnd);
        assert_eq!(trajectory.crossings().len(), 3, "{projection:?}");
        for (crossing, (event, time, state)) in trajectory.crossings().iter().zip(EVENTS) {
            assert_eq!(crossing.guard.event, event, "{projection:?}");
            let late = (crossing.t - time).abs();
            let off = distance(&crossing.state, &state);
            assert!(
                late < 1e-11 && off < 1e-11,
                "{projection:?}: event {event}: {late:e} s, {off:e}"
            );
        }
        let error = distance(trajectory.state(), &FINAL);
        assert!(error < 1e-11, "{projection:?}: final error {error:e}");
        assert_eq!(trajectory.mode().count_ones(), 3);
    }
}

fn final_error(order: u8, eps: f64) -> f64 {
    let trajectory = Integrator::new(Affine::default())
        .unwrap()
        .rtol(1e-13)
        .atol(1e-15)
        .projection(Projection::eps(eps, order))
        .integrate(&Start::at(0.0).x(&START), END)
        .unwrap();
    assert_eq!(*trajectory.status(), Status::ReachedEnd);
    assert_eq!(trajectory.crossings().len(), 3, "order {order}, eps {eps}");
    euclidean(trajectory.state().as_slice(), &FINAL)
}

#[test]
fn a_projection_of_order_p_converges_with_the_power_p_plus_1_of_eps() {
    let widths = [0.025, 0.0177, 0.0125, 0.00884, 0.00625, 0.00442, 0.003125];
    for order in 1..=4 {
        let points = widths.map(|eps| (eps, final_error(order, eps)));
        let power = slope(&points);
        let should = f64::from(order) + 1.0;
        assert!(
            (power - should).abs() < 0.15,
            "order {order}: slope {power}, errors {points:?}"
        );
    }
}

#[test]
fn the_final_errors_are_those_of_the_table() {
    let widths = [0.025, 0.0125, 0.00625, 0.003125, 1e-3];
    for (order, table) in [
        (1, [8.95e-4, 2.21e-4, 5.50e-5, 1.37e-5, 1.40e-6]),
        (2, [5.46e-5, 6.56e-6, 8.06e-7, 9.98e-8, 3.25e-9]),
    ] {
        for (eps, should) in widths.into_iter().zip(table) {
            let error = final_error(order, eps);
            assert!(
                (error / should - 1.0).abs() < 0.05,
                "order {order}, eps {eps}: {error:e}, tabulated {should:e}"
            );
        }
    }
    for (eps, should) in [(0.025, 5.20e-9), (0.0125, 1.63e-10), (0.00625, 5.12e-12)] {
        let error = final_error(4, eps);
        assert!(
            (error / should - 1.0).abs() < 0.05,
            "order 4, eps {eps}: {error:e}, tabulated {should:e}"
        );
    }
    let error = final_error(3, 0.025);
    assert!(
        (error / 2.0e-7 - 1.0).abs() < 0.05,
        "order 3, eps 0.025: {error:e}"
    );
}

#[test]
fn exact_location_is_as_good_as_the_table_for_the_same_work() {
    // The table names one tolerance; this absolute part makes the evaluations of f those of the
    // table within a tenth.
    for (tolerance, table, evaluations) in [
        (1e-4, 7.6e-6, 53.0),
        (1e-6, 4.5e-7, 107.0),
        (1e-8, 1.7e-9, 191.0),
        (1e-10, 2.0e-11, 395.0),
        (1e-12, 1.2e-13, 923.0),
    ] {
        let trajectory = located(tolerance, Projection::Off);
        assert_eq!(trajectory.crossings().len(), 3);
        let error = euclidean(trajectory.state().as_slice(), &FINAL);
        println!(
            "{tolerance:e} {error:e} {table:e} {} {evaluations}",
            trajectory.statistics().flow
        );
        assert!(
            error < 3.0 * table,
            "tolerance {tolerance:e}: {error:e}, tabulated {table:e}"
        );
        let work = trajectory.statistics().flow as f64;
        assert!(
            work < 1.1 * evaluations,
            "tolerance {tolerance:e}: {work} evaluations, tabulated {evaluations}"
        );
    }
}

#[test]
fn auto_is_as_good_as_exact_location() {
    for tolerance in [1e-4, 1e-6, 1e-8, 1e-10] {
        let error =
            |projection| euclidean(located(tolerance, projection).state().as_slice(), &FINAL);
        let (auto, off) = (error(Projection::Auto), error(Projection::Off));
        // Three projections, each allowed a local error of 1 in the root mean square of three
        // states in units of tolerance · (1 + |x|), |x| < 0.4; the field after the last grows
        // errors by at most e^(10 · 0.131) = 3.7.
        let allowed = 3.0 * 3f64.sqrt() * 1.4 * 3.7 * tolerance;
        assert!(
            auto < off + allowed,
            "{tolerance:e}: {auto:e} against {off:e}"
        );
    }
}
