//! Runs that end anywhere: at a crossing, a few units in the last place before or behind it, in a
//! corner; and go on from there.

use std::cell::Cell;

use saltation::models::{Hopper, PlateParameters, VerticalPlate};
use saltation::{
    EventFunction, Flow, Guard, InputError, Integrator, Mode, Projection, Run, Start, Status,
    Watch, flow_fn,
};

use crate::fixtures::support::{Sketch, SplitMix64};

/// `t` moved by so many units in the last place.
fn ulps(t: f64, count: i32) -> f64 {
    let mut t = t;
    for _ in 0..count.abs() {
        t = if count > 0 {
            t.next_up()
        } else {
            t.next_down()
        };
    }
    t
}

/// Guards `a_k · x − c_k` that a straight motion meets at one instant.
fn corner(random: &mut SplitMix64, count: usize) -> (Sketch, f64, [f64; 2]) {
    let time = random.between(0.1, 2.0);
    let rows: Vec<[f64; 2]> = (0..count)
        .map(|_| [random.between(0.2, 2.0), random.between(-1.0, 1.0)])
        .collect();
    let start = [random.between(-1.0, 1.0), random.between(-1.0, 1.0)];
    let velocity = [1.0, random.between(-0.1, 0.1)];
    let offsets: Vec<f64> = rows
        .iter()
        .map(|a| (0..2).map(|i| a[i] * (start[i] + time * velocity[i])).sum())
        .collect();
    let kicks: Vec<f64> = (0..count).map(|_| random.between(-0.05, 0.05)).collect();
    let watches =
        std::array::from_fn::<_, 5, _>(|k| if k < count { Watch::BOTH } else { Watch::NONE });
    let system = Sketch::new(2, move |_, _, mode, dx| {
        dx.copy_from_slice(&velocity);
        dx[1] += kicks
            .iter()
            .enumerate()
            .filter(|(k, _)| mode.contains(*k))
            .map(|(_, c)| c)
            .sum::<f64>();
    })
    .events(watches, move |k, _, x, _| {
        rows.get(k)
            .map_or(-1.0, |a| a[0] * x[0] + a[1] * x[1] - offsets[k])
    });
    (system, time, start)
}

#[test]
fn a_run_may_end_in_a_corner_or_a_few_units_in_the_last_place_beside_it() {
    let mut random = SplitMix64(31);
    for case in 0..600 {
        let count = [1, 2, 5][case % 3];
        let (system, time, start) = corner(&mut random, count);
        for projection in [Projection::Auto, Projection::Off] {
            let mut integrator = Integrator::new(&system).unwrap().projection(projection);
            // Where this run meets it.
            let whole = integrator
                .integrate(&Start::at(0.0).x(&start), time + 0.5)
                .unwrap();
            assert_eq!(whole.crossings().len(), count, "{case}");
            let last = whole.crossings()[count - 1].t;
            for end in [time, last] {
                for off in [-40, -3, -1, 0, 1, 2, 3, 10, 100] {
                    let end = ulps(end, off);
                    let run = integrator
                        .integrate(&Start::at(0.0).x(&start), end)
                        .unwrap();
                    let what = format!("case {case}, {count} guards, {off} beside {end}");
                    assert_eq!(*run.status(), Status::ReachedEnd, "{what}");
                    assert!(run.crossings().len() <= count, "{what}");
                    for i in 0..2 {
                        let expected = whole.state_at(end).unwrap()[i];
                        assert!((run.state()[i] - expected).abs() < 1e-12, "{what}");
                    }
                }
            }
        }
    }
}

/// A run cut at `cuts` and gone on with from the state and mode where it ended.
fn in_pieces<S: Flow + EventFunction>(
    system: &S,
    tolerance: f64,
    projection: &Projection,
    start: &[f64],
    cuts: &[f64],
) -> (Vec<(f64, Guard)>, Vec<f64>) {
    let (mut t, mut x, mut mode) = (0.0, start.to_vec(), None::<Mode>);
    let mut crossings = Vec::new();
    for &cut in cuts {
        let mut integrator = Integrator::new(system)
            .unwrap()
            .rtol(tolerance)
            .atol(0.1 * tolerance)
            .projection(projection.clone());
        let from = Start::at(t).x(&x).mode(mode.as_ref());
        let run = integrator.integrate(&from, cut).unwrap();
        assert_eq!(
            *run.status(),
            Status::ReachedEnd,
            "from {t} to {cut}: {crossings:?}"
        );
        crossings.extend(run.crossings().iter().map(|c| (c.t, c.guard)));
        (t, x, mode) = (
            cut,
            run.state().as_slice().to_vec(),
            Some(run.mode().clone()),
        );
    }
    (crossings, x)
}

/// Random cuts, every other one at a crossing of the uncut run or beside it.
fn cuts(random: &mut SplitMix64, whole: &Run, count: usize) -> Vec<f64> {
    let end = whole.t();
    let mut cuts: Vec<f64> = (0..count)
        .map(|i| {
            let crossings = whole.crossings();
            if i % 2 == 0 || crossings.is_empty() {
                return random.between(0.0, end);
            }
            let n = crossings.len() as u64;
            let at = crossings[usize::try_from(random.next() % n).unwrap()].t;
            let off = i32::try_from(random.next() % 13).unwrap() - 6;
            match random.next() % 3 {
                0 => at,
                1 => ulps(at, off),
                _ => at + 1e-12 * f64::from(off),
            }
        })
        .filter(|t| (0.0..end).contains(t))
        .chain([end])
        .collect();
    cuts.sort_by(f64::total_cmp);
    cuts
}

fn assert_alike(whole: &Run, pieces: &[(f64, Guard)], allowed: f64, what: &str) {
    let expected: Vec<(f64, Guard)> = whole.crossings().iter().map(|c| (c.t, c.guard)).collect();
    assert_eq!(
        pieces.len(),
        expected.len(),
        "{what}: {pieces:?}, uncut {expected:?}"
    );
    // Guards that are crossed at one instant may be cut apart and come in another order.
    let mut left = expected;
    for (time, guard) in pieces {
        let same = |(t, g): &(f64, Guard)| g == guard && (t - time).abs() <= allowed;
        let Some(i) = left.iter().position(same) else {
            panic!("{what}: {guard} at {time} is not among {left:?}");
        };
        left.remove(i);
    }
}

fn campaign<S: Flow + EventFunction>(
    system: &S,
    starts: &[Vec<f64>],
    end: f64,
    (runs, seed): (usize, u64),
) {
    let mut random = SplitMix64(seed);
    for case in 0..runs {
        let start = &starts[case % starts.len()];
        let tolerance = [1e-6, 1e-9][case % 2];
        let projection = [Projection::Auto, Projection::Off][case / 2 % 2].clone();
        let mut integrator = Integrator::new(system)
            .unwrap()
            .rtol(tolerance)
            .atol(0.1 * tolerance)
            .projection(projection.clone());
        let whole = integrator.integrate(&Start::at(0.0).x(start), end).unwrap();
        assert_eq!(*whole.status(), Status::ReachedEnd);
        let cuts = cuts(&mut random, &whole, 6);
        let (pieces, state) = in_pieces(system, tolerance, &projection, start, &cuts);
        let what = format!("seed {seed}, case {case}, {projection:?} {tolerance:e}, cuts {cuts:?}");
        // Steps are others, so that each run has errors of its own.
        assert_alike(&whole, &pieces, 1e3 * tolerance, &what);
        for (a, b) in state.iter().zip(whole.state()) {
            assert!(
                (a - b).abs() < 1e4 * tolerance,
                "{what}: {state:?} {}",
                whole.state()
            );
        }
    }
}

/// Times six cuts a run: in all ten thousand.
const RUNS: usize = 420;

#[test]
fn a_hopper_in_pieces_is_the_hopper() {
    let starts: Vec<Vec<f64>> = (0..20)
        .map(|i| vec![1.2 + 0.05 * f64::from(i), 0.0])
        .collect();
    campaign(&Hopper::default(), &starts, 2.0, (RUNS, 1));
}

#[test]
fn a_plate_in_pieces_is_the_plate() {
    for (springs, seed) in [(2, 2), (5, 3)] {
        let plate = VerticalPlate::new(PlateParameters::with_springs(springs)).unwrap();
        // The last of them lands level: all springs at one instant.
        let starts: Vec<Vec<f64>> = (0..10)
            .map(|i| vec![0.0, 2.2, 0.01 * f64::from(9 - i), 0.0, 0.0, 0.0])
            .collect();
        campaign(&plate, &starts, 1.5, (RUNS, seed));
    }
}

/// A ball over a table that shakes, in a box.
#[test]
fn a_ball_with_resets_in_pieces_is_the_ball() {
    let ball = Sketch::new(2, |_, x, _, dx| dx.copy_from_slice(&[x[1], -9.81]))
        .events([Watch::FALLING, Watch::RISING], |k, t, x, _| {
            if k == 0 {
                x[0] - 0.1 * (3.0 * t).sin()
            } else {
                x[0] - 1.5
            }
        })
        .reset(|t, crossed, x, _| {
            let table = 0.3 * (3.0 * t).cos();
            x[1] = if crossed.contains(0) {
                table - 0.9 * (x[1] - table)
            } else {
                -x[1]
            };
            Ok(())
        });
    let starts: Vec<Vec<f64>> = (0..20)
        .map(|i| vec![0.5 + 0.04 * f64::from(i), 0.1 * f64::from(i)])
        .collect();
    campaign(&ball, &starts, 2.0, (RUNS, 4));
}

/// Ticks of a clock that is part of the state: the controller samples when `t` reaches `next`.
#[test]
fn a_sampled_controller_starts_with_a_sample() {
    let controlled = |(): ()| {
        Sketch::new(3, |_, x, _, dx| dx.copy_from_slice(&[x[1], 0.0, 0.0]))
            .events([Watch::RISING], |_, t, x, _| t - x[2])
            .reset(|_, _, x, _| {
                x[1] = -x[0];
                x[2] += 0.1;
                Ok(())
            })
    };
    for t0 in [0.0, 0.3, 1e3] {
        let mut integrator = Integrator::new(controlled(())).unwrap();
        // The first sample is due: the side before it says so.
        let due = Mode::new(1);
        let run = integrator
            .integrate(&Start::at(t0).x(&[1.0, 0.0, t0]).mode(&due), t0 + 1.05)
            .unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd, "{t0}");
        assert_eq!(run.crossings().len(), 11, "{t0}");
        // x is multiplied by 0.9 in each tenth of a second.
        let expected = 0.9f64.powi(10) * 0.95;
        assert!(
            (run.state()[0] - expected).abs() < 1e-9,
            "{t0}: {}",
            run.state()
        );
    }
}

/// A start on a section, as Newton's method leaves it, is on its side by the rate; the run comes
/// back to it once round.
#[test]
fn a_start_within_rounding_of_a_stop_does_not_stop_at_once() {
    let circle = |written: bool| {
        let system = Sketch::new(2, |_, x, _, dx| dx.copy_from_slice(&[x[1], -x[0]]))
            .events([Watch::RISING.and_stop()], |_, _, x, _| -x[0] - x[1] + 1.0);
        if written {
            system.gradient(|_, _, _, _, dh| {
                dh.copy_from_slice(&[-1.0, -1.0]);
                Some(0.0)
            })
        } else {
            system
        }
    };
    for written in [true, false] {
        for off in -8..=8 {
            // On the section at (0, 1), where −x − y + 1 falls and at (1, 0), where it rises.
            let x = ulps(1.0, off);
            let mut integrator = Integrator::new(circle(written))
                .unwrap()
                .rtol(1e-10)
                .atol(1e-12);
            let run = integrator
                .integrate(&Start::at(0.0).x(&[x, 0.0]), 10.0)
                .unwrap();
            let Status::Stopped { guards } = run.status() else {
                panic!("{off}: {}", run.status());
            };
            assert_eq!(guards[..], [Guard::rising(0)]);
            assert!(
                (run.t() - std::f64::consts::TAU).abs() < 1e-8,
                "{written} {off}: {}",
                run.t()
            );
        }
    }
}

#[test]
fn the_end_of_a_run_may_be_asked_for_to_a_unit_in_the_last_place() {
    let mut integrator = Integrator::new(Hopper::default()).unwrap();
    for end in [0.1, 0.7, 2.0 / 3.0, 1.9] {
        let run = integrator
            .integrate(&Start::at(0.0).x(&[2.0, 0.0]), end)
            .unwrap();
        for t in [ulps(0.0, -1), ulps(end, 1)] {
            let state = run.state_at(t).unwrap();
            assert!(state == run.state_at(t.clamp(0.0, end)).unwrap(), "{t}");
            assert!(run.mode_at(t).is_ok());
        }
        let beyond = run.state_at(end + 1e-9);
        assert!(
            matches!(beyond, Err(InputError::OutsideRun { .. })),
            "{beyond:?}"
        );
    }
}

/// Chunks that are shorter than rates can be told from, about a crossing, with the mode handed on.
#[test]
fn chunks_of_a_few_ulps_about_a_crossing_do_not_lose_it() {
    let next = |t: f64, n: i64| f64::from_bits(t.to_bits().wrapping_add_signed(n));
    for case in 0..10 {
        let at = 0.0114 + 2e-4 * f64::from(case);
        // Rounded to 14 numerical zeros, and zero between two such values.
        let walk = || {
            Sketch::new(1, |_, _, _, dx| dx[0] = 1.0).events([Watch::BOTH], move |_, _, x, _| {
                31.0 * ((x[0] + 2.0) - (2.0 + at) - 0.48 * 4.4e-16)
            })
        };
        for before in -40..40 {
            for length in [1, 2, 3, 10, 100] {
                let (first, second) = (next(at, 5 * before), next(at, 5 * before + length));
                let (mut t, mut x, mut mode, mut crossings) = (0.0, vec![0.0], None, 0);
                for end in [first, second, 1.0] {
                    let mut integrator = Integrator::new(walk()).unwrap();
                    let from = Start::at(t).x(&x).mode(mode.as_ref());
                    let run = integrator.integrate(&from, end).unwrap();
                    assert_eq!(*run.status(), Status::ReachedEnd);
                    crossings += run.crossings().len();
                    (t, x, mode) = (
                        end,
                        run.state().as_slice().to_vec(),
                        Some(run.mode().clone()),
                    );
                }
                assert_eq!(crossings, 1, "{at}: from {before}, {length} ulps");
            }
        }
    }
}

/// Pulses of a clock that last a fiftieth and more of the second part of a live run, behind a part of 200 times its
/// length; and a first part so short that its samples, kept on, would take millions of windows.
#[test]
fn parts_of_live_runs_are_sampled_by_their_own_length() {
    for seed in 0..60 {
        let mut draw = SplitMix64(seed);
        let (centre, half) = (draw.between(1000.5, 1004.5), draw.between(0.05, 0.25));
        let decay = Sketch::new(1, |_, x, _, dx| dx[0] = -0.01 * x[0]);
        let pulse = decay.events([Watch::BOTH], move |_, t, _, _| {
            let z = (t - centre) / half;
            (1.0 - z * z) / (1.0 + z * z)
        });
        let mut integrator = Integrator::new(&pulse).unwrap();
        let mut live = integrator.live(&Start::at(0.0).x(&[1.0])).unwrap().keep();
        live.advance(1000.0, &[]).unwrap();
        live.advance(1005.0, &[]).unwrap();
        let run = live.run().unwrap();
        assert_eq!(run.crossings().len(), 2, "{seed} {centre} {half}");
    }
    let ball = Sketch::new(2, |_, x, _, dx| dx.copy_from_slice(&[x[1], -9.81]));
    let ball = ball
        .events([Watch::FALLING], |_, _, x, _| x[0])
        .reset(|_, _, x, _| {
            x[1] *= -0.9;
            Ok(())
        });
    let mut integrator = Integrator::new(&ball).unwrap();
    let mut live = integrator
        .live(&Start::at(0.0).x(&[1.0, 0.0]))
        .unwrap()
        .keep();
    for end in [1e-6, 3.0] {
        live.advance(end, &[]).unwrap();
    }
    let windows = live.run().unwrap().statistics().windows;
    assert!(windows < 1000, "{windows}");
}

/// The step of such a part says nothing of the next: it was said to have shrunk below rounding.
#[test]
fn a_part_of_a_unit_in_the_last_place_leaves_the_next_its_steps() {
    for seed in 0..40 {
        let time = SplitMix64(seed).between(0.1, 0.9);
        let swing = Sketch::new(2, |_, x, _, dx| dx.copy_from_slice(&[x[1], -x[0]]));
        let swing = swing.events([Watch::BOTH], |_, _, x, _| x[0]);
        let mut integrator = Integrator::new(&swing).unwrap();
        let from = [time.cos(), -time.sin()];
        let mut live = integrator.live(&Start::at(time).x(&from)).unwrap();
        for end in [time.next_up(), 4.0] {
            live.advance(end, &[]).unwrap();
        }
        let off = (live.state()[0] - 4.0_f64.cos()).abs();
        assert!(off < 1e-4, "{time} {off:e}");
    }
}

/// A controller that is not the run's holds an input from part to part: the motion is that of the input, from the
/// first instant of a part on. The old field was kept for the first stage of it.
#[test]
fn a_part_begins_with_the_field_that_the_system_has_by_then() {
    for (seed, rtol, fixed) in [
        (1, 1e-3, None),
        (2, 1e-6, None),
        (3, 1e-9, None),
        (4, 1e-6, Some(0.01)),
    ] {
        let (mut draw, input) = (SplitMix64(seed), Cell::new(0.0));
        let mass = flow_fn(2, |_, x, _: &Mode, dx| {
            dx.copy_from_slice(&[x[1], input.get()]);
        });
        let mut integrator = Integrator::new(&mass).unwrap().rtol(rtol);
        if let Some(step) = fixed {
            integrator = integrator.fixed_step(step);
        }
        let mut live = integrator.live(&Start::at(0.0).x(&[0.0, 0.0])).unwrap();
        let [mut place, mut speed] = [0.0; 2];
        for tick in 1..200 {
            let (push, dt) = (draw.between(-5.0, 5.0), 0.01);
            input.set(push);
            live.advance(dt * f64::from(tick), &[]).unwrap();
            place += dt * speed + 0.5 * dt * dt * push;
            speed += dt * push;
        }
        let state = live.state();
        let off = (state[0] - place).abs().max((state[1] - speed).abs());
        assert!(off < 1e-12, "{rtol:e}: {off:e}");
    }
}

/// So are event functions: a threshold that is moved past the state is crossed where the part begins.
#[test]
fn a_threshold_that_moves_between_parts_is_crossed_there() {
    for to in [1.999, 1.5, -100.0] {
        let threshold = Cell::new(5.0);
        let walk = flow_fn(1, |_, _, _: &Mode, dx| dx[0] = 1.0);
        let walk = walk.with_events(1, |_, _, x| x[0] - threshold.get());
        let mut integrator = Integrator::new(&walk).unwrap();
        let start = Start::at(0.0).x(&[0.0]);
        let mut live = integrator.live(&start).unwrap().keep();
        live.advance(2.0, &[]).unwrap();
        threshold.set(to);
        live.advance(3.0, &[]).unwrap();
        let run = live.run().unwrap();
        let times: Vec<f64> = run.crossings().iter().map(|c| c.t).collect();
        assert!(
            times.len() == 1 && (times[0] - 2.0).abs() < 1e-9,
            "{times:?}"
        );
    }
}
