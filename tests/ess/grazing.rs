//! Where event-selected systems end and what must not be missed before: resting and grazing starts,
//! tangent passes, sliding, guards entered and left within one step, contacts a moment after
//! lift-off.

use saltation::models::{PlateParameters, VerticalPlate};
use saltation::{
    At, Direction, Guard, Integrator, Mode, Projection, Run, Start, Status, Stop, Watch, flow_fn,
};

use crate::fixtures::support::{Sketch, SplitMix64, falling, run};

const PROJECTIONS: [Projection; 3] = [
    Projection::Auto,
    Projection::Off,
    Projection::horizon(1e-6, 3),
];

fn refusal(trajectory: &Run) -> &Stop {
    match trajectory.status() {
        Status::Refused(reason) => reason,
        other => panic!("{other:?} at t = {}", trajectory.t()),
    }
}

#[test]
fn a_resting_start_is_refused_as_tangent() {
    // A block that lies on its table: on the guard, and nothing moves.
    let block = Sketch::new(2, |_, x, _, dx| {
        dx[0] = x[1];
        dx[1] = 0.0;
    });
    let block = block.events([Watch::BOTH, Watch::BOTH], |k, _, x, _| {
        if k == 0 { x[0] + 3.0 } else { x[0] }
    });
    for projection in PROJECTIONS {
        let trajectory = run(&block, 1e-9, projection, &[0.0, 0.0], 1.0);
        let Stop::Tangent { guard, rate, at } = refusal(&trajectory) else {
            panic!("{:?}", trajectory.status());
        };
        let At { t, state, .. } = at.as_ref();
        assert_eq!(guard.event, 1);
        assert!(*rate == 0.0 && *t == 0.0 && state == &[0.0, 0.0]);
        // What there was is kept: the start.
        assert_eq!(trajectory.times(), [0.0]);
        assert_eq!(trajectory.state_at(0.0).unwrap().as_slice(), [0.0, 0.0]);
        assert!(trajectory.crossings().is_empty());
    }
}

#[test]
fn a_grazing_start_is_refused_as_tangent() {
    // The top of a throw lies exactly on the guard: rate 0, curvature not.
    let throw = falling(9.81).events([Watch::BOTH], |_, _, x, _| x[0]);
    for projection in PROJECTIONS {
        let trajectory = run(&throw, 1e-9, projection, &[0.0, 0.0], 1.0);
        assert!(matches!(refusal(&trajectory), Stop::Tangent { at, .. } if at.t == 0.0));
    }
}

#[test]
fn a_start_slower_than_the_least_rate_is_tangent_and_a_faster_one_is_not() {
    let drift = |speed: f64| {
        let flow = Sketch::new(1, move |_, _, _, dx| dx[0] = speed);
        run(
            flow.events([Watch::BOTH], |_, _, x, _| x[0]).min_rate(1e-6),
            1e-9,
            Projection::Auto,
            &[0.0],
            1.0,
        )
    };
    for speed in [9e-7, -9e-7] {
        let trajectory = drift(speed);
        let Stop::Tangent { rate, .. } = refusal(&trajectory) else {
            panic!("{:?}", trajectory.status());
        };
        assert!((rate.abs() - 9e-7).abs() < 1e-15);
    }
    for speed in [1.1e-6, -1.1e-6] {
        assert_eq!(*drift(speed).status(), Status::ReachedEnd);
    }
}

#[test]
fn a_guard_that_is_zero_at_the_start_takes_the_side_to_which_it_moves_without_an_event() {
    for projection in PROJECTIONS {
        for (speed, side) in [(1.0, true), (-1.0, false)] {
            let flow = Sketch::new(1, move |_, _, mode, dx| {
                dx[0] = if mode.contains(0) { 2.0 * speed } else { speed }
            });
            let flow = flow.events([Watch::BOTH], |_, _, x, _| x[0]);
            let trajectory = run(&flow, 1e-9, projection.clone(), &[0.0], 1.0);
            assert_eq!(*trajectory.status(), Status::ReachedEnd);
            assert!(
                trajectory.crossings().is_empty(),
                "{:?}",
                trajectory.crossings()
            );
            assert_eq!(trajectory.modes().len(), 1);
            assert_eq!(trajectory.mode().contains(0), side);
            let end = if side { 2.0 } else { -1.0 };
            assert!((trajectory.state()[0] - end).abs() < 1e-9);
        }
    }
}

#[test]
fn a_ball_thrown_up_from_the_floor_comes_back_to_it() {
    let ball = |watch| {
        falling(9.81)
            .events([watch], |_, _, x, _| x[0])
            .reset(|_, _, x, _| {
                x[1] = -x[1];
                Ok(())
            })
    };
    for projection in PROJECTIONS {
        let trajectory = run(ball(Watch::FALLING), 1e-10, projection, &[0.0, 1.0], 1.0);
        assert_eq!(*trajectory.status(), Status::ReachedEnd);
        let flight = 2.0 / 9.81;
        assert_eq!(trajectory.crossings().len(), 4, "1 s of 0.204 s each");
        for (i, crossing) in trajectory.crossings().iter().enumerate() {
            assert!((crossing.t - flight * (i + 1) as f64).abs() < 1e-9);
        }
    }
}

#[test]
fn a_trajectory_that_touches_tangentially_makes_no_crossing() {
    // x = (t − 1)² touches 0 from above at t = 1: no event, or the refusal that names it.
    for projection in PROJECTIONS {
        for sign in [1.0, -1.0] {
            let touch = flow_fn(1, move |t, _, _, dx| dx[0] = 2.0 * (t - 1.0))
                .with_events(1, move |_, _, x| sign * x[0]);
            let trajectory = run(touch, 1e-9, projection.clone(), &[1.0], 3.0);
            assert!(trajectory.crossings().is_empty(), "{projection:?}");
            match trajectory.status() {
                Status::ReachedEnd => assert!((trajectory.state()[0] - 4.0).abs() < 1e-8),
                Status::Refused(Stop::NotLive { guard, at, .. }) => {
                    let t = at.t;
                    assert_eq!(guard.event, 0);
                    assert!((t - 1.0).abs() < 1e-4, "{projection:?}: {t}");
                }
                other => panic!("{projection:?}: {other:?}"),
            }
        }
    }
}

#[test]
fn a_crossing_below_the_least_rate_is_refused_with_the_run_so_far() {
    // x = (t − 1)² − δ², δ = 1e-7: the rate at the crossing is −2e-7. The largest seen is that of
    // the start, 2; a millionth of it counts.
    let depth = 1e-14;
    for (projection, stated, least) in PROJECTIONS.into_iter().flat_map(|projection| {
        [
            (projection.clone(), None, 2e-6),
            (projection, Some(1e-6), 1e-6),
        ]
    }) {
        let graze = Sketch::new(1, |t, _, _, dx| dx[0] = 2.0 * (t - 1.0))
            .events([Watch::BOTH], |_, _, x, _| x[0]);
        let graze = match stated {
            Some(rate) => graze.min_rate(rate),
            None => graze,
        };
        // Steps of 1/16: a node at the lowest point, so that the shallow dip is seen.
        let trajectory = Integrator::new(&graze)
            .unwrap()
            .projection(projection.clone())
            .fixed_step(0.0625)
            .integrate(&Start::at(0.0).x(&[1.0 - depth]), 3.0)
            .unwrap();
        let Stop::NotLive {
            guard,
            rate_before,
            rate_after,
            min_rate,
            at,
        } = refusal(&trajectory)
        else {
            panic!("{projection:?}: {:?}", trajectory.status());
        };
        let At { t, state, .. } = at.as_ref();
        assert_eq!(*guard, Guard::falling(0));
        let slower = rate_before.abs().min(rate_after.abs());
        assert!(
            slower < 1e-6 && (*min_rate - least).abs() < 1e-9 * least,
            "{projection:?}: {:?}",
            trajectory.status()
        );
        assert!(
            (t - 1.0).abs() < 1e-6 && state[0].abs() < 1e-12,
            "{projection:?}: {t} {state:?}"
        );
        assert!((trajectory.state_at(0.5).unwrap()[0] - 0.25).abs() < 1e-9);
        assert!(trajectory.crossings().is_empty());
    }
}

#[test]
fn sliding_is_refused_with_the_guard_and_both_rates() {
    // Towards the guard from both sides.
    let slide = Sketch::new(2, |_, _, mode, dx| {
        dx[0] = if mode.contains(1) { -2.0 } else { 1.0 };
        dx[1] = 1.0;
    })
    .events([Watch::BOTH, Watch::BOTH], |k, _, x, _| {
        if k == 0 { x[1] - 0.25 } else { x[0] }
    });
    for projection in PROJECTIONS {
        let trajectory = run(&slide, 1e-9, projection.clone(), &[-0.5, 0.0], 1.0);
        let Stop::NotLive {
            guard,
            rate_before,
            rate_after,
            min_rate,
            at,
        } = refusal(&trajectory)
        else {
            panic!("{projection:?}: {:?}", trajectory.status());
        };
        let At { t, state, .. } = at.as_ref();
        assert_eq!(*guard, Guard::rising(1));
        assert!((rate_before - 1.0).abs() < 1e-9 && (rate_after + 2.0).abs() < 1e-9);
        assert!(*min_rate > 0.0 && (t - 0.5).abs() < 1e-9 && state[0].abs() < 1e-9);
        assert_eq!(
            trajectory.crossings().len(),
            1,
            "the guard before it is kept"
        );
        assert!((trajectory.t() - 0.5).abs() < 1e-9);
        assert!((trajectory.state_at(0.25).unwrap()[0] + 0.25).abs() < 1e-9);
        assert!(!trajectory.mode().contains(1), "the mode was not entered");
    }
}

#[test]
fn a_start_on_a_sliding_surface_is_refused_too() {
    for projection in PROJECTIONS {
        let slide = flow_fn(1, |_, _, mode, dx| {
            dx[0] = if mode.contains(0) { -1.0 } else { 1.0 };
        });
        let system = slide.with_events(1, |_, _, x| x[0]);
        let trajectory = run(system, 1e-9, projection.clone(), &[0.0], 1.0);
        let Stop::NotLive { guard, at, .. } = refusal(&trajectory) else {
            panic!("{projection:?}: {:?}", trajectory.status());
        };
        let At { t, .. } = at.as_ref();
        assert_eq!((guard.event, *t), (0, 0.0), "{projection:?}");
        assert_eq!(trajectory.state()[0].to_bits(), 0, "{projection:?}");
    }
}

/// Guards x and y, met at one instant, of which each alone throws the other one back: whoever is
/// first, the other is not crossed.
fn disordered(projection: Projection) {
    let what = format!("{projection:?}");
    let corner = flow_fn(2, |_, _, mode: &Mode, dx: &mut [f64]| {
        dx.copy_from_slice(match (mode.contains(0), mode.contains(1)) {
            (false, true) => &[-1.0, 1.0],
            (true, false) => &[1.0, -1.0],
            _ => &[1.0, 1.0],
        });
    });
    let system = corner.with_events(2, |k, _, x| x[k]);
    let trajectory = run(system, 1e-9, projection, &[-0.5, -0.5], 1.0);
    let Stop::NotLive {
        at,
        rate_before,
        rate_after,
        ..
    } = refusal(&trajectory)
    else {
        panic!("{what}: {:?}", trajectory.status());
    };
    let At { t, .. } = at.as_ref();
    assert!((t - 0.5).abs() < 1e-12, "{what}: {t}");
    assert!(
        (rate_before - 1.0).abs() < 1e-6 && (rate_after + 1.0).abs() < 1e-6,
        "{what}"
    );
    assert!(trajectory.crossings().is_empty(), "{what}");
    assert_eq!(trajectory.mode().count_ones(), 0, "{what}");
}

#[test]
fn a_corner_whose_order_matters_is_refused() {
    for projection in [
        Projection::Auto,
        Projection::Off,
        Projection::eps(1e-3, 1),
        Projection::horizon(1e-3, 1),
    ] {
        disordered(projection);
    }
}

#[test]
fn a_corner_whose_order_matters_is_refused_from_afar_too() {
    // Differences give rates to 1e-11 or so, by which a long projection misses the corner; both
    // guards by the same.
    for projection in [Projection::eps(0.125, 3), Projection::horizon(0.125, 4)] {
        disordered(projection);
    }
}

/// `x = (t − centre)² − depth²` from t = 0, dipping below zero for a time of 2 · depth.
fn dip(centre: f64, depth: f64, watch: Watch, sign: f64, projection: Projection) -> Run {
    let parabola = Sketch::new(1, move |t, _, _, dx| dx[0] = sign * 2.0 * (t - centre))
        .events([watch], |_, _, x, _| x[0]);
    let start = sign * (centre * centre - depth * depth);
    let trajectory = run(parabola, 1e-9, projection, &[start], 4.0);
    // Polynomial flow: two steps would do, and the dip lies anywhere within them.
    assert!(
        trajectory.statistics().steps < 20,
        "{} steps",
        trajectory.statistics().steps
    );
    trajectory
}

/// What is allowed at a crossing of rate 2 · depth: location on a parabola is right to rounding,
/// 4e-16 times an `x` of up to 16; a projection by `Auto` may have an error of its tolerance, 1e-9
/// times an `x` of the same size, twice.
fn time_error(projection: &Projection, depth: f64) -> f64 {
    match projection {
        Projection::Auto => 2.0 * 1.6e-8 / (2.0 * depth),
        _ => 1e-14 / depth,
    }
}

#[test]
fn a_guard_entered_and_left_within_one_step_is_crossed_twice() {
    let mut random = SplitMix64(7);
    for depth in [0.3, 0.1, 1e-2, 1e-3, 1e-4] {
        for _ in 0..100 {
            let centre = random.between(depth + 0.01, 4.0 - depth - 0.01);
            for projection in PROJECTIONS {
                for sign in [1.0, -1.0] {
                    let trajectory = dip(centre, depth, Watch::BOTH, sign, projection.clone());
                    let what =
                        format!("centre {centre}, depth {depth}, {projection:?}, sign {sign}");
                    assert_eq!(*trajectory.status(), Status::ReachedEnd, "{what}");
                    let [down, up] = trajectory.crossings() else {
                        panic!("{what}: {} crossings", trajectory.crossings().len());
                    };
                    let way = if sign > 0.0 {
                        Direction::Falling
                    } else {
                        Direction::Rising
                    };
                    assert_eq!(down.guard.direction, way, "{what}");
                    assert_eq!(up.guard, down.guard.partner(), "{what}");
                    let allowed = time_error(&projection, depth);
                    let (early, late) = (down.t - (centre - depth), up.t - (centre + depth));
                    assert!(
                        early.abs() < allowed && late.abs() < allowed,
                        "{what}: {early:e} {late:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_guard_watched_one_way_is_seen_within_a_dip() {
    for centre in [0.3, 1.0, 1.7, 2.9, 3.6] {
        let trajectory = dip(centre, 1e-3, Watch::FALLING, 1.0, Projection::Auto);
        assert_eq!(trajectory.crossings().len(), 1, "centre {centre}");
        assert!((trajectory.crossings()[0].t - (centre - 1e-3)).abs() < 1e-11);
    }
}

#[test]
fn two_guards_dipped_into_within_one_step_come_in_order() {
    for (outer, inner) in [(0.1, 0.05), (1e-2, 9.9e-3), (1e-3, 1e-4)] {
        let bowl = flow_fn(1, |t, _, _, dx| dx[0] = 2.0 * (t - 1.3))
            .with_events(2, move |k, _, x| {
                x[0] + if k == 0 { inner * inner } else { outer * outer }
            });
        for projection in PROJECTIONS {
            let trajectory = run(
                bowl,
                1e-9,
                projection.clone(),
                &[1.3 * 1.3 - 2.0 * outer * outer],
                3.0,
            );
            let half = |level: f64| (2.0 * outer * outer - level * level).sqrt();
            let exact = [
                (0, -half(inner)),
                (1, -half(outer)),
                (1, half(outer)),
                (0, half(inner)),
            ];
            assert_eq!(trajectory.crossings().len(), 4, "{projection:?}, {outer}");
            for (crossing, (event, offset)) in trajectory.crossings().iter().zip(exact) {
                assert_eq!(crossing.guard.event, event, "{projection:?}, {outer}");
                let late = crossing.t - (1.3 + offset);
                assert!(
                    late.abs() < time_error(&projection, outer),
                    "{projection:?}, {outer}: {late:e}"
                );
            }
        }
    }
}

#[test]
fn a_dip_is_not_hidden_by_another_guard_in_the_same_step() {
    // Beside the dip a clock strikes once, anywhere before, in or after it.
    let mut random = SplitMix64(11);
    for depth in [0.1, 1e-2, 1e-3] {
        for _ in 0..100 {
            let centre = random.between(0.2, 3.8);
            let strike = random.between(0.05, 3.95);
            let order = random.permutation(2);
            let (dip, clock) = (order[0], order[1]);
            let parabola = flow_fn(1, |t, _, _, dx| dx[0] = 2.0 * (t - centre))
                .with_events(2, |k, t, x| if k == dip { x[0] } else { t - strike });
            let mut exact = [
                (dip, centre - depth),
                (dip, centre + depth),
                (clock, strike),
            ];
            exact.sort_by(|a, b| a.1.total_cmp(&b.1));
            for projection in PROJECTIONS {
                let start = centre * centre - depth * depth;
                let trajectory = run(parabola, 1e-9, projection.clone(), &[start], 4.0);
                let what = format!("{projection:?}: dip at {centre} of {depth}, clock at {strike}");
                assert_eq!(trajectory.crossings().len(), 3, "{what}");
                for (crossing, (event, time)) in trajectory.crossings().iter().zip(exact) {
                    assert_eq!(crossing.guard.event, event, "{what}");
                    let late = crossing.t - time;
                    assert!(
                        late.abs() < time_error(&projection, depth),
                        "{what}: {late:e}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_contact_a_moment_after_lift_off_is_not_skipped() {
    // In the air x'' = −10, on the ground x'' = 20: hops of 2 v / 10 and stances of 2 v / 20, all
    // parabolas, for which a step may be as long as it likes.
    let hop = Sketch::new(2, |_, x, mode, dx| {
        dx[0] = x[1];
        dx[1] = if mode.contains(0) { -10.0 } else { 20.0 };
    })
    .events([Watch::BOTH], |_, _, x, _| x[0]);
    for speed in [1.0, 1e-2, 1e-3] {
        let (air, ground) = (2.0 * speed / 10.0, 2.0 * speed / 20.0);
        // From half a stance, in which the speed grows from 0.
        let start = [-0.5 * 20.0 * (0.5 * ground) * (0.5 * ground), 0.0];
        let hops = 300_u16;
        let end = 0.5 * ground + (air + ground) * f64::from(hops) - 0.5 * ground;
        for projection in PROJECTIONS {
            let trajectory = run(&hop, 1e-10, projection.clone(), &start, end);
            let what = format!("{speed} m/s, {projection:?}");
            assert_eq!(*trajectory.status(), Status::ReachedEnd, "{what}");
            assert_eq!(
                trajectory.crossings().len(),
                2 * usize::from(hops),
                "{what}"
            );
            for (i, crossing) in trajectory.crossings().iter().enumerate() {
                assert_eq!(
                    crossing.guard.direction == Direction::Rising,
                    i % 2 == 0,
                    "{what}: {i}"
                );
            }
            for (i, pair) in trajectory.crossings().windows(2).enumerate() {
                let lasts = pair[1].t - pair[0].t;
                let should = if i % 2 == 0 { air } else { ground };
                // A velocity error of 1e-11 m/s a crossing, 600 crossings, of a speed of at least
                // 1e-3 m/s.
                assert!(
                    (lasts / should - 1.0).abs() < 1e-5,
                    "{what}: interval {i} lasts {lasts}"
                );
            }
        }
    }
}

/// At loose tolerances the interpolant of a step may pass a spring that the field moves away from:
/// the step is made anew, shorter, and no run is refused for it.
#[test]
fn coarse_plates_end_at_their_time() {
    for springs in [2, 5, 10, 20] {
        let plate = VerticalPlate::new(PlateParameters::with_springs(springs)).unwrap();
        for rtol in [1e-1, 3e-2, 1e-2, 3e-3] {
            let integrator = Integrator::fixed::<6>(&plate).unwrap();
            let mut integrator = integrator.rtol(rtol).atol(rtol);
            for seed in 1..=60 {
                let start = PlateParameters::random_start(seed);
                let run = integrator
                    .observe(&Start::at(0.0).x(&start), 2.0, &mut ())
                    .unwrap();
                assert_eq!(run.status, Status::ReachedEnd, "{springs}, {rtol}, {seed}");
            }
        }
    }
}
