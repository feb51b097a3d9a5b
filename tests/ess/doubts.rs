//! Crossings no deeper than the error, whose neighbours may only touch the guard: but not where a
//! crossing changed the rate on its guard. Doubts are told once.

use saltation::{Arrival, Doubt, Guard, Integrator, Mode, Run, Start, Status, Watch};

use crate::fixtures::support::Sketch;

/// Guards of the crossings that are doubted as shallow.
fn shallow(run: &Run) -> Vec<Guard> {
    let guard = |d: &Doubt| match d {
        Doubt::Shallow { guard, .. } => Some(*guard),
        _ => None,
    };
    run.doubts().iter().filter_map(guard).collect()
}

/// `x = cos t` dips below `depth − 1` at `t = π`, watched both ways.
fn dip(depth: f64, rtol: f64) -> Run {
    let system = Sketch::new(2, |_, x, _, dx| dx.copy_from_slice(&[-x[1], x[0]]))
        .events([Watch::BOTH], move |_, _, x, _| x[0] + 1.0 - depth);
    let mut integrator = Integrator::new(system).unwrap().rtol(rtol).atol(rtol);
    integrator
        .integrate(&Start::at(0.0).x(&[1.0, 0.0]), 5.0)
        .unwrap()
}

#[test]
fn a_dip_no_deeper_than_the_error_is_doubted_on_the_way_in_and_out() {
    let guards = [Guard::falling(0), Guard::rising(0)];
    let crossed = |run: &Run| -> Vec<Guard> { run.crossings().iter().map(|c| c.guard).collect() };
    let coarse = dip(1e-4, 1e-4);
    assert_eq!(crossed(&coarse), guards, "{:?}", coarse.doubts());
    assert_eq!(shallow(&coarse), guards, "{:?}", coarse.doubts());
    let fine = dip(1e-4, 1e-8);
    assert_eq!(crossed(&fine), guards);
    assert!(fine.is_guaranteed(), "{:?}", fine.doubts());
}

/// A clock, which is integrated exactly, and a guard that misses its surface at 0.4 s by `gap`.
fn miss(gap: f64) -> Run {
    let system = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
        .events([Watch::BOTH], move |_, _, x, _| {
            -(x[0] - 0.4) * (x[0] - 0.4) - gap
        });
    let mut integrator = Integrator::new(system).unwrap().rtol(1e-12).atol(1e-14);
    integrator
        .integrate(&Start::at(0.0).x(&[0.0]), 1.0)
        .unwrap()
}

/// A guard that is missed by a few millionths of a thousandth of its way is touched, though the error of the run is none.
#[test]
fn a_near_miss_is_a_touch_however_exact_the_run() {
    for gap in [1e-11, 1e-10, 1e-7, 1e-3] {
        let run = miss(gap);
        assert_eq!(run.crossings(), [], "{gap}");
        let is_touch =
            |d: &Doubt| matches!(d, Doubt::Touch { gap: told, .. } if (told - gap).abs() < 1e-15);
        let touches = run.doubts().iter().filter(|d| is_touch(d)).count();
        assert_eq!(
            touches,
            usize::from(gap < 1e-9),
            "{gap}: {:?}",
            run.doubts()
        );
    }
}

/// `x' = −a x + b u + c sin(w t)` with `u = ±1`, switched to −1 at `x = h` and to 1 at `x = −h`.
/// The reset keeps `u` in side bit 2.
fn relay([a, b, c, w, h]: [f64; 5], part: f64) -> Run {
    let relay = Sketch::new(1, move |t, x, mode, dx| {
        let u = if mode.contains(2) { 1.0 } else { -1.0 };
        dx[0] = -a * x[0] + b * u + c * (w * t).sin();
    })
    .events(
        [Watch::RISING, Watch::FALLING, Watch::NONE],
        move |k, _, x, _| [x[0] - h, x[0] + h, -1.0][k],
    )
    .reset(|_, crossed, _, mode| {
        mode.set(2, crossed.contains(1));
        Ok(())
    });
    let run = Integrator::new(relay)
        .unwrap()
        .rtol(1e-5)
        .atol(1e-5)
        .integrate(
            &Start::at(0.0).x(&[h * part]).mode(&Mode::with(3, &[1, 2])),
            15.0,
        )
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    run
}

/// Each switch turns the motion round, over its guard again; the forcing then leads it to the same
/// guard once more, from no farther than the error.
#[test]
fn a_relay_that_is_led_to_its_switch_again_is_not_doubted() {
    let mut again = 0;
    for i in -20..20 {
        let run = relay([0.81, 1.33, 1.81, 4.16, 0.06], f64::from(i) / 21.0);
        let pairs = run.crossings().windows(2);
        again += pairs.filter(|c| c[0].guard == c[1].guard).count();
        assert_eq!(shallow(&run), [], "{i}: {:?}", run.doubts());
    }
    assert!(again > 100, "{again}");
}

/// Each switch slows the motion down, which goes on beyond its guard by less than the error.
#[test]
fn a_relay_that_goes_on_beyond_its_switch_for_a_moment_is_not_doubted() {
    for i in -20..20 {
        let run = relay([1.38, 0.81, 3.42, 9.58, 0.85], f64::from(i) / 21.0);
        assert_eq!(shallow(&run), [], "{i}: {:?}", run.doubts());
    }
}

/// A weight that is thrown up from a table again and again, lower than the error at last: it starts
/// from the table each time.
#[test]
fn low_bounces_are_not_doubted() {
    let ball = Sketch::new(3, |_, x, _, dx| {
        dx.copy_from_slice(&[x[1], -1.0 - 0.5 * x[2].sin(), 1.0]);
    })
    .events([Watch::FALLING], |_, _, x, _| x[0])
    .reset(|_, _, x, _| {
        x[1] *= -0.5;
        Ok(())
    });
    let mut integrator = Integrator::new(ball).unwrap().rtol(1e-3).atol(1e-3);
    let run = integrator
        .integrate(&Start::at(0.0).x(&[1.0, 0.0, 0.0]), 3.8)
        .unwrap();
    assert_eq!(shallow(&run), [], "{:?}", run.doubts());
    assert!(run.crossings().len() >= 6, "{}", run.crossings().len());
}

/// `x' = 1`; two guards at `x = 1`, of which one bends strongly, in a unit of its own.
#[test]
fn the_bend_of_a_guard_says_nothing_of_another_one_that_is_crossed_with_it() {
    let mut arrivals = Vec::new();
    for before in [0.2, 0.97, 0.99, 0.999] {
        for steep in [1, 2] {
            let system = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0).events(
                [Watch::BOTH; 3],
                move |k, _, x, _| {
                    let way = x[0] - 1.0;
                    match k {
                        0 => x[0] - before,
                        k if k == steep => 1e8 * way * (1.0 - way),
                        _ => way,
                    }
                },
            );
            let mut integrator = Integrator::new(system).unwrap().rtol(1e-4).atol(1e-4);
            let run = integrator
                .integrate(&Start::at(0.0).x(&[0.0]), 1.2)
                .unwrap();
            let together = &run.crossings()[1..3];
            assert_eq!(together[0].t.to_bits(), together[1].t.to_bits());
            assert_eq!(shallow(&run), [], "{before}, {steep}: {:?}", run.doubts());
            arrivals.push(together[0].arrival);
        }
    }
    assert!(arrivals.contains(&Arrival::Located) && arrivals.contains(&Arrival::Projected));
}

/// `x = sin t` comes as close to guard 0 as the error, in a step that is shortened afterwards:
/// guard 1 has no values beyond `last`.
#[test]
fn a_doubt_of_a_step_that_is_taken_back_is_told_once() {
    let mut shortened = 0;
    for i in 0..200 {
        let last = 1.6 + 0.01 * f64::from(i);
        let system = Sketch::new(2, |_, x, _, dx| dx.copy_from_slice(&[x[1], -x[0]])).events(
            [Watch::BOTH, Watch::FALLING.and_stop()],
            move |k, t, x, _| match k {
                0 => x[0] - 1.0 - 1e-5,
                _ => (last - t).sqrt() - 0.03,
            },
        );
        let mut integrator = Integrator::new(system).unwrap().rtol(1e-4).atol(1e-4);
        let run = integrator
            .integrate(&Start::at(0.0).x(&[0.0, 1.0]), 9.0)
            .unwrap();
        shortened += run.statistics().rejections;
        let touches = run.doubts().iter();
        let touches = touches.filter(|d| matches!(d, Doubt::Touch { .. }));
        assert!(touches.count() <= 1, "{last}: {:?}", run.doubts());
        assert_eq!(run.statistics().doubts, run.doubts().len(), "{last}");
    }
    assert!(shortened > 0);
}

#[test]
fn a_doubt_says_what_is_open_in_words() {
    let coarse = dip(1e-4, 1e-4);
    let words = coarse.doubts()[0].to_string();
    assert!(
        words.starts_with("guard 0 (falling) was crossed at t = 3.1")
            && words.contains("no deeper"),
        "{words}"
    );
}

/// Guards that jitter above their surface, whatever the state is: their steps are tried again,
/// shorter each time, and more of them are not resolved than one step tells of.
#[test]
fn doubts_of_steps_that_are_not_taken_are_counted_once() {
    for guards in [3, 20, 40] {
        let jitter = move |k: usize, t: f64| 1.5 + (1e9 * t * (k + 1) as f64).sin();
        let system = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0).events_of(
            guards,
            Watch::BOTH,
            move |k, t, _, _| jitter(k, t),
        );
        let mut integrator = Integrator::new(system).unwrap().max_steps(60);
        let run = integrator
            .integrate(&Start::at(0.0).x(&[0.0]), 2.0)
            .unwrap();
        let statistics = run.statistics();
        assert_eq!(statistics.doubts, statistics.unresolved, "{guards}");
        assert!(statistics.unresolved >= guards && statistics.rejections > 0);
        assert!(!run.is_guaranteed() && run.doubts().len() <= statistics.doubts);
    }
}
