//! Accumulations of crossings, and rest after them.

use saltation::{At, Guard, Integrator, Projection, Start, Status, Stop, Watch};

use crate::fixtures::support::{Sketch, SplitMix64, falling, run};
use crate::resets::{G, ball, ball_over, bounces};

#[test]
fn a_zeno_ball_ends_in_the_typed_status_near_the_accumulation() {
    for e in [0.5, 0.9] {
        let t1 = (2.0 / G).sqrt();
        let accumulation = t1 * (1.0 + e) / (1.0 - e);
        for projection in [Projection::Auto, Projection::Off] {
            let trajectory = run(
                ball(e),
                1e-9,
                projection.clone(),
                &[1.0, 0.0],
                2.0 * accumulation,
            );
            let what = format!("e = {e}, {projection:?}");
            let Status::Refused(reason) = trajectory.status() else {
                panic!("{what}: {:?} at {}", trajectory.status(), trajectory.t());
            };
            assert!(
                matches!(
                    reason,
                    Stop::TooManyEvents { .. } | Stop::NotLive { .. } | Stop::NoProgress { .. }
                ),
                "{what}: {reason:?}"
            );
            // Speeds fall from 4.43 m/s to the least rate, a millionth of that, in ln(1e6) / ln(1 /
            // e) bounces.
            let last = 1e6f64.ln() / (1.0 / e).ln();
            let crossings = trajectory.crossings().len() as f64;
            assert!(
                (last - 2.0..last + 2.0).contains(&crossings),
                "{what}: {crossings} of {last}"
            );
            // What is left then: flights of 2 v / g, v ≤ 4.43e-6 / e, e times shorter each.
            let left = 2.0 * 4.43e-6 / e / G / (1.0 - e);
            let away = trajectory.t() - accumulation;
            assert!(
                away.abs() < left + 1e-7,
                "{what}: ends {away:e} s from the accumulation"
            );
            let exact = bounces(1.0, e, 0.9 * accumulation);
            for (crossing, (time, _)) in trajectory.crossings().iter().zip(&exact) {
                assert!((crossing.t - time).abs() < 1e-7, "{what}");
            }
            assert!(
                trajectory.state_at(0.5 * accumulation).is_ok()
                    && trajectory.state()[0].abs() < 1e-6
            );
        }
    }
}

#[test]
fn a_zeno_ball_never_falls_through_its_floor() {
    let mut random = SplitMix64(5);
    for floor in [0.0, 1.0, -37.0] {
        for projection in [Projection::Auto, Projection::Off] {
            for _ in 0..30 {
                let (e, height) = (random.between(0.3, 0.8), random.between(0.1, 3.0));
                let accumulation = (2.0 * height / G).sqrt() * (1.0 + e) / (1.0 - e);
                let end = accumulation * random.between(1.1, 4.0);
                let what =
                    format!("floor {floor}, e = {e}, from {height} until {end}, {projection:?}");
                let trajectory = run(
                    ball_over(floor, e),
                    1e-9,
                    projection.clone(),
                    &[floor + height, 0.0],
                    end,
                );
                let Status::Refused(reason) = trajectory.status() else {
                    panic!("{what}: {} at {}", trajectory.state(), trajectory.t());
                };
                assert!(
                    matches!(
                        reason,
                        Stop::TooManyEvents { .. } | Stop::NotLive { .. } | Stop::NoProgress { .. }
                    ),
                    "{what}: {reason:?}"
                );
                // From 7.7 m/s to 1e-6 m/s in at most ln(7.7e6) / ln(1 / 0.8) bounces.
                assert!(trajectory.crossings().len() <= 72, "{what}");
                // A floor at ±y is known to y · 2e-16 m, at 1e-4 m/s and gravity g to 1e-10 s of
                // 1e-5: until there the ball has to bounce.
                let left = 2.0 * 1e-4 / e / G / (1.0 - e);
                let away = trajectory.t() - accumulation;
                assert!(away.abs() < left, "{what}: {away:e} s away, {reason:?}");
                let deepest = trajectory.states().row(0).min() - floor;
                assert!(deepest > -1e-9, "{what}: {deepest:e}");
            }
        }
    }
}

#[test]
fn a_ball_that_stays_where_it_lands_is_refused_as_not_live() {
    // No rebound at all, or one slower than the least rate: resting, which is no event-selected
    // system.
    for e in [0.0, 1e-7] {
        for floor in [0.0, 1.0] {
            for projection in [
                Projection::Auto,
                Projection::Off,
                Projection::horizon(1e-3, 4),
            ] {
                let trajectory = run(
                    ball_over(floor, e),
                    1e-9,
                    projection.clone(),
                    &[floor + 1.0, 0.0],
                    2.0,
                );
                let what = format!("e = {e}, floor {floor}, {projection:?}");
                let Status::Refused(Stop::NotLive { guard, at, .. }) = trajectory.status() else {
                    panic!("{what}: {:?} {}", trajectory.status(), trajectory.state());
                };
                let At { t, .. } = at.as_ref();
                assert_eq!(*guard, Guard::falling(0), "{what}");
                let (late, off) = (t - (2.0 / G).sqrt(), trajectory.state()[0] - floor);
                // A landing that differences leave 1e-13 m above the floor falls again for 1.4e-7
                // s.
                assert!(
                    late.abs() < 1.5e-7 && off.abs() < 1e-13,
                    "{what}: {late:e} s, {off:e} m"
                );
            }
        }
    }
}

#[test]
fn max_events_bounds_a_zeno_ball_too() {
    let trajectory = Integrator::new(ball(0.5))
        .unwrap()
        .max_events(7)
        .integrate(&Start::at(0.0).x(&[1.0, 0.0]), 10.0)
        .unwrap();
    let Status::Refused(Stop::TooManyEvents {
        limit: 7,
        guard,
        at,
        ..
    }) = trajectory.status()
    else {
        panic!("{:?}", trajectory.status());
    };
    let At { t, .. } = at.as_ref();
    assert_eq!(*guard, Guard::falling(0));
    assert_eq!(trajectory.crossings().len(), 7);
    let exact = bounces(1.0, 0.5, 10.0f64.min(*t + 1e-6));
    assert!((t - exact[exact.len() - 1].0).abs() < 1e-6);
}

/// `x' = rate` with a guard at `level`, whose reset throws `x` back by `back(t, n)` at the `n`-th crossing. How it
/// ended, when, and the number of crossings.
fn thrown_back(
    projection: Projection,
    rtol: f64,
    [rate, level, start]: [f64; 3],
    end: f64,
    back: impl Fn(f64, f64) -> f64 + 'static,
) -> (Status, f64, f64) {
    let system = Sketch::new(2, move |_, _, _, dx| dx.copy_from_slice(&[rate, 0.0]));
    let watch = if rate > 0.0 {
        Watch::RISING
    } else {
        Watch::FALLING
    };
    let system = system.events([watch], move |_, _, x, _| x[0] - level);
    let system = system.reset(move |t, _, x, _| {
        x[1] += 1.0;
        x[0] -= back(t, x[1]);
        Ok(())
    });
    let run = run(system, rtol, projection, &[start, 0.0], end);
    (run.status().clone(), run.t(), run.state()[1])
}

/// Crossings at `T (1 − qⁿ)`, all at one rate: the reset throws back by the part `1 − q` of the way to `T`. They are
/// infinitely many before `T`.
#[test]
fn crossings_that_accumulate_at_a_constant_rate_end_the_run() {
    let mut random = SplitMix64(0x2e10);
    for case in 0..240 {
        let projection = [Projection::Auto, Projection::Off][case % 2].clone();
        let rtol = [1e-3, 1e-6, 1e-9, 1e-12][case / 2 % 4];
        let level = random.one_of(&[0.0, 0.0, 1.0, -30.0]);
        let rate = random.between(0.2, 5.0) * random.one_of(&[1.0, -1.0]);
        let end = random.between(0.1, 10.0);
        let q = match random.next() % 4 {
            0 => 0.5,
            // Over a level that is not zero, a single unit in the last place of it hides the next flight.
            1 if level == 0.0 => random.between(0.01, 0.1),
            2 => random.between(0.9, 0.95),
            _ => random.between(0.2, 0.9),
        };
        let what = format!("{projection:?}, {rtol:e}: at {end}, rate {rate} over {level}, {q}");
        let start = [rate, level, level - rate * (1.0 - q) * end];
        let back = move |t: f64, _| rate * (1.0 - q) * (end - t);
        let (status, t, n) = thrown_back(projection, rtol, start, 2.0 * end, back);
        assert!(
            matches!(status, Status::Refused(Stop::NoProgress { .. })),
            "{what}: {status:?} at {t} after {n}"
        );
        // Flights are (1 − q) (T − t) long, and are seen as long as they are longer than the rounding of the time and
        // of the surface.
        let rounding = f64::EPSILON * (16.0 * end + 8.0 * (level / rate).abs());
        let left = end - t;
        assert!(
            (0.0..2.0 * rounding / (1.0 - q) / q).contains(&left),
            "{what}: {left:e} left"
        );
        let passed = (left / end).ln() / q.ln();
        assert!(
            (n - passed).abs() < 2.0 + 0.05 * passed,
            "{what}: {n} of {passed}"
        );
    }
}

/// Crossings of one guard in quick succession that do not accumulate, or not before the end, are all crossed.
#[test]
fn crossings_that_stop_short_of_an_accumulation_are_no_refusal() {
    let mut random = SplitMix64(0x2e11);
    for case in 0..400 {
        let projection = [Projection::Auto, Projection::Off][case % 2].clone();
        let rtol = [1e-3, 1e-6, 1e-9, 1e-12][case / 2 % 4];
        let rate = random.between(0.2, 5.0);
        let level = random.one_of(&[0.0, 1.0, -30.0]);
        let (end, q) = (random.between(0.5, 2.0), random.between(0.1, 0.9));
        // Of those that stop, the last flight is of 1e-11 s or longer.
        let most = (-25.0 / q.ln()).floor() * random.unit();
        let (first, kind) = ((1.0 - q) * end, case / 8 % 6);
        let back = move |_: f64, n: f64| match kind {
            // An accumulation that stops: the resets behind it move nothing.
            0 if n < most => rate * first * q.powf(n),
            // Flights that shrink, and sum up to no limit: 1 / n.
            1 => rate * end / (n + 1.0),
            // Flights that shrink to a length.
            2 => rate * end * (0.05 + 0.5 * q.powf(n)),
            // A few short flights alike.
            3 if n < 6.0 => rate * 1e-12,
            // Short ones between long ones.
            4 => rate * if n % 2.0 < 1.0 { 1e-11 } else { 0.3 },
            // A chirp: crossings at the square roots of n.
            5 => rate * end * ((n + 1.0).sqrt() - n.sqrt()) / 4.0,
            _ => 0.0,
        };
        let tf = 3.0 * end;
        let (mut t, mut expected) = (first, 0.0);
        while t < tf {
            expected += 1.0;
            let length = back(0.0, expected) / rate;
            if length == 0.0 {
                break;
            }
            t += length;
        }
        let what = format!(
            "{projection:?}, {rtol:e}: kind {kind}, {end}, {rate} over {level}, {q}, {most}"
        );
        let start = [rate, level, level - rate * first];
        let (status, _, n) = thrown_back(projection, rtol, start, tf, back);
        assert_eq!(status, Status::ReachedEnd, "{what}");
        assert!((n - expected).abs() < 0.5, "{what}: {n}, {expected}");
    }
}

/// Behind a short flight the reset puts the state on the surface, which it misses by rounding, or by a part of the
/// tolerance that the model states; or it throws a ball back from a place that rounding has put before the floor.
#[test]
fn a_reset_onto_the_surface_is_no_accumulation() {
    for projection in [Projection::Auto, Projection::Off] {
        for flight in [1e-2, 1e-5, 1e-9] {
            let root = 3f64.sqrt();
            assert!(root * root < 3.0);
            let system = Sketch::new(2, |_, _, _, dx| dx.copy_from_slice(&[1.0, 0.0]))
                .events([Watch::RISING], |_, _, x, _| x[0] * x[0] - 3.0)
                .reset(move |_, _, x, _| {
                    x[1] += 1.0;
                    x[0] = root - if x[1] < 3.0 { flight } else { 0.0 };
                    Ok(())
                });
            let end = run(system, 1e-9, projection.clone(), &[1.0, 0.0], 2.0);
            assert_eq!(*end.status(), Status::ReachedEnd, "{flight:e}");
            assert_eq!(end.state()[1].to_bits(), f64::to_bits(3.0), "{flight:e}");
        }
        let system = Sketch::new(2, |_, _, _, dx| dx.copy_from_slice(&[1.0, 0.0]))
            .events([Watch::RISING], |_, _, x, _| x[0])
            .tolerance(1e-6)
            .reset(|_, _, x, _| {
                x[1] += 1.0;
                x[0] = if x[1] < 3.0 { -1e-5 } else { -5e-7 };
                Ok(())
            });
        let end = run(system, 1e-9, projection.clone(), &[-1.0, 0.0], 2.0);
        assert_eq!(*end.status(), Status::ReachedEnd);
        assert_eq!(end.state()[1].to_bits(), f64::to_bits(3.0));
        let ball = falling(G).events([Watch::FALLING], |_, _, x, _| x[0]);
        let ball = ball.reset(|_, _, x, _| {
            x.copy_from_slice(&[1e-17, -0.8 * x[1]]);
            Ok(())
        });
        let end = run(ball, 1e-9, projection, &[1.0, 0.0], 3.0);
        assert_eq!(*end.status(), Status::ReachedEnd);
        assert_eq!(end.crossings().len(), bounces(1.0, 0.8, 3.0).len());
    }
}

/// Crossings miss their surface by rounding, and a reset that leaves the state there throws nothing back.
#[test]
fn a_reset_that_leaves_the_state_where_it_is_is_no_accumulation() {
    let mut random = SplitMix64(0x2e12);
    for case in 0..200 {
        let projection = [Projection::Auto, Projection::Off][case % 2].clone();
        let (level, flight) = (
            random.between(1.0, 4.0),
            10f64.powf(random.between(-13.7, -12.5)),
        );
        let what = format!("{projection:?}: {level}, flights of {flight:e}");
        let system = Sketch::new(2, |_, _, _, dx| dx.copy_from_slice(&[1.0, 0.0]))
            .events([Watch::RISING], move |_, _, x, _| x[0] * x[0] - level)
            .reset(move |_, _, x, _| {
                x[1] += 1.0;
                x[0] -= if x[1] < 5.0 { flight } else { 0.0 };
                Ok(())
            });
        let end = run(system, 1e-9, projection, &[0.5, 0.0], 3.0);
        assert_eq!(*end.status(), Status::ReachedEnd, "{what}");
        assert_eq!(end.state()[1].to_bits(), f64::to_bits(5.0), "{what}");
    }
}
