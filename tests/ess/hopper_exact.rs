//! The hopper against its closed form (spec 6.2): contact times, states, energy, dense output,
//! fifty hops, the table of widths.

use saltation::models::Hopper;
use saltation::{Direction, Integrator, Mode, Projection, Rearm, Run, Start, Status, flow_fn};

use crate::fixtures::support::{distance, run, slope};

pub(crate) const START: [f64; 2] = [2.0, 0.0];
pub(crate) const END: f64 = 2.0;
pub(crate) const EVENTS: [f64; 4] = [
    0.451523640985731,
    0.619631957685843,
    1.52267923965730,
    1.69078755635742,
];
pub(crate) const FINAL: [f64; 2] = [1.90066160085828, 1.39607284593628];
const CONTACT: f64 = 0.168108316700112;
const PERIOD: f64 = 1.07115559867157;
const TOUCHDOWN_SPEED: f64 = 4.42944691807002;

/// m = 1 kg, k = 400 N/m, g = 9.81 m/s², L0 = 1 m: `∂E/∂z` and `∂E/∂v`, and `E`, in flight and
/// stance.
fn energy(z: f64, v: f64) -> (f64, f64, f64) {
    let compression = (1.0 - z).max(0.0);
    let value = 0.5 * v * v + 9.81 * z + 200.0 * compression * compression;
    (value, 9.81 - 400.0 * compression, v)
}

/// Projections whose error at these widths is far below 1e-8 by the table of spec 6.2
/// (`error ∝ eps^(order + 1)`).
fn projections() -> Vec<Projection> {
    vec![
        Projection::Off,
        Projection::Auto,
        Projection::horizon(1e-7, 1),
        Projection::horizon(1e-3, 4),
        Projection::eps(1e-6, 1),
        Projection::eps(1e-4, 2),
        Projection::eps(1e-3, 3),
        Projection::eps(1e-3, 4),
    ]
}

fn four_events(trajectory: &Run, what: &str) {
    assert_eq!(*trajectory.status(), Status::ReachedEnd, "{what}");
    assert_eq!(trajectory.crossings().len(), 4, "{what}");
    for (i, crossing) in trajectory.crossings().iter().enumerate() {
        let late = crossing.t - EVENTS[i];
        assert!(late.abs() < 1e-8, "{what}: event {i} is {late:e} s late");
        assert_eq!(crossing.guard.event, 0);
    }
    let error = distance(trajectory.state(), &FINAL);
    assert!(error < 1e-8, "{what}: final error {error:e}");
}

#[test]
fn four_events_and_the_final_state_with_every_projection_and_both_rearming_policies() {
    let hopper = Hopper::default();
    for rearm in [Rearm::Pairs, Rearm::WhenEmpty] {
        for projection in projections() {
            let what = format!("{rearm:?}, {projection:?}");
            let trajectory = Integrator::new(&hopper)
                .unwrap()
                .rtol(1e-10)
                .atol(1e-11)
                .rearm(rearm.clone())
                .projection(projection)
                .integrate(&Start::at(0.0).x(&START), END)
                .unwrap();
            four_events(&trajectory, &what);
        }
    }
}

#[test]
fn the_closed_form_of_the_model_is_that_of_the_spec() {
    let hopper = Hopper::default();
    let times = hopper.contact_times(2.0, END);
    assert_eq!(times.len(), 4);
    for (t, exact) in times.iter().zip(EVENTS) {
        assert!((t - exact).abs() < 1e-13);
    }
    let end = hopper.exact(2.0, END);
    assert!((end[0] - FINAL[0]).abs() < 1e-13 && (end[1] - FINAL[1]).abs() < 1e-13);
    let deepest = hopper.exact(2.0, EVENTS[0] + 0.5 * CONTACT);
    assert!((1.0 - deepest[0] - 0.247351110734357).abs() < 1e-13);
}

#[test]
fn sides_rates_and_modes_are_those_of_touch_down_and_lift_off() {
    let trajectory = run(Hopper::default(), 1e-10, Projection::Auto, &START, END);
    for (i, crossing) in trajectory.crossings().iter().enumerate() {
        let (direction, rate) = if i % 2 == 0 {
            (Direction::Rising, TOUCHDOWN_SPEED)
        } else {
            (Direction::Falling, -TOUCHDOWN_SPEED)
        };
        assert_eq!(crossing.guard.direction, direction, "event {i}");
        assert!((crossing.rate_before - rate).abs() < 2e-8, "event {i}");
        assert!((crossing.rate_after - rate).abs() < 2e-8, "event {i}");
        assert!(
            (crossing.state[0] - 1.0).abs() < 1e-12,
            "event {i} lies on its guard"
        );
    }
    let modes = trajectory.modes();
    assert_eq!(modes.len(), 5);
    for (i, change) in modes.iter().enumerate() {
        assert_eq!(change.mode.contains(0), i % 2 == 1);
        let since = if i == 0 {
            0.0
        } else {
            trajectory.crossings()[i - 1].t
        };
        assert_eq!(change.t.to_bits(), since.to_bits());
    }
    assert!(trajectory.corners().is_empty());
}

#[test]
fn dense_output_follows_the_closed_form_between_the_nodes() {
    let hopper = Hopper::default();
    for projection in projections() {
        let trajectory = run(hopper, 1e-10, projection.clone(), &START, END);
        for i in 0..=4000 {
            let t = END * f64::from(i) / 4000.0;
            let exact = hopper.exact(2.0, t);
            let error = distance(&trajectory.state_at(t).unwrap(), &exact);
            // The state within 1e-8, as at the end; the velocity jumps in its slope by up to 100
            // m/s² where an event is displaced by at most 1e-8 s.
            assert!(error < 2e-8, "{projection:?}: {error:e} at t = {t}");
        }
    }
}

#[test]
fn energy_stays_as_the_state_error_allows() {
    let trajectory = run(Hopper::default(), 1e-10, Projection::Auto, &START, END);
    let (start, ..) = energy(2.0, 0.0);
    for (t, x) in trajectory.nodes() {
        let (now, by_z, by_v) = energy(x[0], x[1]);
        let allowed = 1e-8 * (by_z.abs() + by_v.abs());
        assert!(
            (now - start).abs() < allowed,
            "{:e} J at t = {t}",
            now - start
        );
    }
}

#[test]
fn fifty_hops_lose_and_double_no_crossing() {
    let hopper = Hopper::default();
    let end = 50.0 * PERIOD + 0.1;
    let exact = hopper.contact_times(2.0, end);
    assert_eq!(exact.len(), 100);
    for (projection, rearm) in [
        (Projection::Auto, Rearm::Pairs),
        (Projection::Off, Rearm::Pairs),
        (Projection::horizon(1e-3, 4), Rearm::Pairs),
        (Projection::eps(1e-3, 4), Rearm::Pairs),
        (Projection::Off, Rearm::WhenEmpty),
    ] {
        for (rtol, atol) in [(1e-6, 1e-9), (1e-10, 1e-11)] {
            let trajectory = Integrator::new(&hopper)
                .unwrap()
                .rtol(rtol)
                .atol(atol)
                .projection(projection.clone())
                .rearm(rearm.clone())
                .integrate(&Start::at(0.0).x(&START), end)
                .unwrap();
            let what = format!("{projection:?}, {rearm:?}, rtol {rtol:e}");
            assert_eq!(*trajectory.status(), Status::ReachedEnd, "{what}");
            let crossings = trajectory.crossings();
            assert_eq!(crossings.len(), 100, "{what}");
            for (i, crossing) in crossings.iter().enumerate() {
                let rising = crossing.guard.direction == Direction::Rising;
                assert_eq!(rising, i % 2 == 0, "{what}: crossing {i}");
            }
            // Every contact lasts 0.168 s and every flight 0.903 s; a doubled crossing would lie
            // close to its twin.
            for (i, pair) in crossings.windows(2).enumerate() {
                let lasts = pair[1].t - pair[0].t;
                let should = exact[i + 1] - exact[i];
                assert!(
                    (lasts - should).abs() < 0.02,
                    "{what}: interval {i} lasts {lasts}"
                );
            }
            if rtol < 1e-9 {
                // Two hops are right to 1e-8; an energy error that grows evenly shifts the period
                // evenly, and the times quadratically: 1e-8 · 25².
                for (crossing, exact) in crossings.iter().zip(&exact) {
                    let late = crossing.t - exact;
                    assert!(late.abs() < 6.25e-6, "{what}: {late:e} s late at {exact}");
                }
            }
        }
    }
}

#[test]
fn a_late_start_changes_nothing_but_the_clock() {
    let hopper = Hopper::default();
    for t0 in [-3.0, 17.3, 1e5] {
        for projection in projections() {
            let trajectory = Integrator::new(&hopper)
                .unwrap()
                .rtol(1e-10)
                .atol(1e-11)
                .projection(projection.clone())
                .integrate(&Start::at(t0).x(&START), t0 + END)
                .unwrap();
            let what = format!("{projection:?} from {t0}");
            assert_eq!(*trajectory.status(), Status::ReachedEnd, "{what}");
            assert_eq!(trajectory.crossings().len(), 4, "{what}");
            // Times of 1e5 s are known to 1.5e-11 s.
            for (crossing, exact) in trajectory.crossings().iter().zip(EVENTS) {
                assert!((crossing.t - t0 - exact).abs() < 1e-8, "{what}");
            }
            assert!(distance(trajectory.state(), &FINAL) < 1e-8, "{what}");
        }
    }
}

#[test]
fn a_run_interrupted_at_a_crossing_neither_loses_nor_doubles_it() {
    let hopper = Hopper::default();
    for projection in projections() {
        let made = || {
            Integrator::new(&hopper)
                .unwrap()
                .rtol(1e-10)
                .atol(1e-11)
                .projection(projection.clone())
        };
        let whole = made().integrate(&Start::at(0.0).x(&START), END).unwrap();
        for crossing in whole.crossings() {
            let (before, after) = (crossing.t.next_down(), crossing.t.next_up());
            for stop in [before, crossing.t, after] {
                let first = made().integrate(&Start::at(0.0).x(&START), stop).unwrap();
                let second = made().integrate(&first.end(), END).unwrap();
                let what = format!("{projection:?}: {:?}, stopped at {stop:?}", crossing.guard);
                assert_eq!(*second.status(), Status::ReachedEnd, "{what}");
                let crossed = first.crossings().len() + second.crossings().len();
                assert_eq!(
                    crossed,
                    4,
                    "{what}: {} and {}",
                    first.crossings().len(),
                    second.crossings().len()
                );
                assert!(distance(second.state(), &FINAL) < 2e-8, "{what}");
            }
        }
    }
}

/// Root mean square over the nodes of the error of z, and of z and v together.
fn rms(order: u8, eps: f64) -> (f64, f64) {
    let hopper = Hopper::default();
    let trajectory = Integrator::new(&hopper)
        .unwrap()
        .fixed_step(0.002)
        .projection(Projection::eps(eps, order))
        .integrate(&Start::at(0.0).x(&START), END)
        .unwrap();
    assert_eq!(*trajectory.status(), Status::ReachedEnd);
    assert_eq!(trajectory.crossings().len(), 4);
    let (mut height, mut both, mut nodes) = (0.0, 0.0, 0.0);
    for (t, x) in trajectory.nodes() {
        let exact = hopper.exact(2.0, t);
        let (dz, dv) = (x[0] - exact[0], x[1] - exact[1]);
        height += dz * dz;
        both += dz * dz + dv * dv;
        nodes += 1.0;
    }
    // 1000 steps, but for those that the widest neighbourhood spares.
    assert!(nodes > 900.0);
    (f64::sqrt(height / nodes), f64::sqrt(both / nodes))
}

#[test]
fn fixed_steps_give_the_tabulated_errors() {
    for (order, eps, height, both) in [
        (1, 0.1, 2.28e-1, 1.74e0),
        (1, 0.05, 5.08e-2, 4.65e-1),
        (1, 0.025, 1.25e-2, 1.15e-1),
        (1, 0.0125, 3.14e-3, 2.88e-2),
        (1, 0.00625, 7.89e-4, 7.20e-3),
        (1, 1e-3, 2.03e-5, 1.85e-4),
        (2, 0.025, 3.25e-5, 9.92e-5),
        (2, 0.0125, 5.57e-6, 3.37e-5),
        (4, 0.05, 7.76e-7, 5.45e-6),
        (4, 0.025, 3.13e-8, 2.13e-7),
    ] {
        let (z, zv) = rms(order, eps);
        let near = |value: f64, table: f64| (value / table - 1.0).abs() < 0.25;
        assert!(
            near(z, height) && near(zv, both),
            "order {order}, eps {eps}: {z:e} and {zv:e}, tabulated {height:e} and {both:e}"
        );
    }
}

#[test]
fn the_projection_of_the_paper_converges_quadratically_without_a_floor() {
    // The published program stops falling at 1.2e-3 for every eps ≤ 6e-3 (weakness W5).
    let points: Vec<(f64, f64)> = [0.0125, 0.00625, 0.003125, 1e-3, 1e-4]
        .map(|eps| (eps, rms(1, eps).0))
        .into();
    let power = slope(&points);
    assert!((power - 2.0).abs() < 0.15, "slope {power}");
}

#[test]
fn steps_behind_landings_are_as_long_as_the_motion_there_asks() {
    // The flight is a parabola, which steps of any length follow; those of the stance are short.
    for digits in 3..=9 {
        let rtol = 10f64.powi(-digits);
        let integrator = Integrator::new(Hopper::default()).unwrap();
        let mut integrator = integrator.rtol(rtol).atol(0.1 * rtol);
        let summary = integrator
            .observe(&Start::at(0.0).x(&START), END, &mut ())
            .unwrap();
        let statistics = summary.statistics;
        assert_eq!(statistics.crossings, 4);
        assert!(statistics.rejections <= 2, "{rtol:e}: {statistics:?}");
    }
    // Where guards change nothing, no step is tried twice.
    let fall = flow_fn(2, |_, x: &[f64], _: &Mode, dx: &mut [f64]| {
        dx.copy_from_slice(&[x[1], -9.81]);
    });
    let fall = fall.with_events(2, |k, _, x| x[0] - [1.5, 0.5][k]);
    let mut integrator = Integrator::new(fall).unwrap();
    let summary = integrator
        .observe(&Start::at(0.0).x(&START), 1.0, &mut ())
        .unwrap();
    let statistics = summary.statistics;
    assert_eq!((statistics.crossings, statistics.rejections), (2, 0));
}
