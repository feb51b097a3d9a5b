//! How a run ends, however it ends: what the trajectory, the summary, the integrator and the reason
//! say is the same.

use saltation::models::Hopper;
use saltation::{
    EventFunction, Flow, Guard, InputError, Integrator, Mode, Projection, Rearm, RearmMatrix, Run,
    Start, Status, Stop, Watch,
};

use crate::fixtures::support::{Sketch, SplitMix64};

/// Time and state that a reason gives, where it gives them.
fn place(reason: &Stop) -> Option<(f64, &[f64])> {
    reason.at().map(|at| (at.t, &at.state[..]))
}

fn bits(x: &[f64]) -> Vec<u64> {
    x.iter().map(|v| v.to_bits()).collect()
}

/// Runs twice, once keeping everything and once keeping nothing, and compares what they say of the
/// end.
fn ends_the_same<S: Flow + EventFunction>(
    integrator: &mut Integrator<S>,
    start: &Start<'_>,
    tf: f64,
    what: &str,
) -> Run {
    let kept = integrator.integrate(start, tf).unwrap();
    assert_eq!(
        bits(kept.state().as_slice()),
        bits(integrator.state()),
        "{what}: kept"
    );
    assert_eq!(kept.mode(), integrator.mode(), "{what}: kept");
    let summary = integrator.observe(start, tf, &mut ()).unwrap();
    // NaN cannot be compared, so the texts are.
    assert_eq!(
        format!("{:?}", summary.status),
        format!("{:?}", kept.status()),
        "{what}"
    );
    let what = format!("{what}: {:?}", summary.status);
    assert_eq!(summary.t.to_bits(), kept.t().to_bits(), "{what}");
    assert_eq!(summary.statistics, *kept.statistics(), "{what}");
    assert_eq!(
        bits(kept.state().as_slice()),
        bits(integrator.state()),
        "{what}"
    );
    assert_eq!(kept.mode(), integrator.mode(), "{what}");

    let time = kept.t();
    assert_eq!(kept.times().last(), Some(&time), "{what}");
    let last = kept.states();
    let last = last.column(last.ncols() - 1);
    assert_eq!(
        bits(kept.state().as_slice()),
        bits(last.as_slice()),
        "{what}"
    );
    let at_end = kept.state_at(time).unwrap();
    assert_eq!(
        bits(kept.state().as_slice()),
        bits(at_end.as_slice()),
        "{what}"
    );
    assert_eq!(kept.mode_at(time).unwrap(), kept.mode(), "{what}");
    let modes = kept.modes();
    assert_eq!(&modes[modes.len() - 1].mode, kept.mode(), "{what}");
    assert!(
        modes.windows(2).all(|pair| pair[0].mode != pair[1].mode),
        "{what}: {modes:?}"
    );
    assert!(
        kept.times().is_sorted() && kept.state().iter().all(|v| v.is_finite()),
        "{what}"
    );
    assert!(kept.crossings().iter().all(|c| c.t <= time), "{what}");
    assert_eq!(
        kept.crossings().len(),
        kept.statistics().crossings,
        "{what}"
    );
    match kept.status() {
        Status::Refused(reason) => {
            match (reason, place(reason)) {
                // This one names the point it tried, which may lie ahead.
                (Stop::NotFinite { .. }, Some((t, _))) => {
                    assert!(t >= time && t <= tf, "{what} {time}");
                }
                (_, Some((t, state))) => {
                    assert_eq!(t.to_bits(), time.to_bits(), "{what} {time}");
                    assert_eq!(bits(state), bits(kept.state().as_slice()), "{what}");
                }
                (_, None) => {}
            }
            let Err(other) = kept.clone().completed() else {
                panic!("{what}: completed");
            };
            assert_eq!(format!("{other:?}"), format!("{reason:?}"));
        }
        Status::Stopped { guards } => {
            assert!(!guards.is_empty(), "{what}");
            for &guard in guards {
                let found = kept.crossings().iter().rev().find(|c| c.guard == guard);
                assert_eq!(found.map(|c| c.t.to_bits()), Some(time.to_bits()), "{what}");
            }
            assert!(kept.clone().completed().is_ok());
        }
        _ => {
            assert_eq!(time.to_bits(), tf.to_bits(), "{what}");
            assert!(kept.clone().completed().is_ok());
        }
    }
    kept
}

/// Most guards of a random system.
const MOST: usize = 4;

/// What a random system does badly, in the modes whose word is `word`, or from the time `from` on.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    None,
    Flow { word: usize },
    Event { word: usize },
    Gradient { word: usize },
    Refuses { from: f64 },
    ResetIsNan { from: f64 },
}

#[derive(Clone, Debug)]
struct Case {
    guards: usize,
    fields: Vec<[f64; 2]>,
    planes: Vec<[f64; 3]>,
    watch: [Watch; MOST],
    fault: Fault,
    /// What each crossing adds to the state, and what it multiplies it with first.
    kick: Option<([f64; 2], f64)>,
    /// A side bit that each crossing sets.
    sets: Option<(usize, bool)>,
}

fn pick<T: Clone>(random: &mut SplitMix64, of: &[T]) -> T {
    let i = random.next() % of.len() as u64;
    of[usize::try_from(i).unwrap()].clone()
}

fn word(mode: &Mode) -> usize {
    mode.ones().map(|k| 1 << k).sum()
}

impl Case {
    fn random(random: &mut SplitMix64) -> Self {
        let guards = pick(random, &[1, 2, 3, MOST as u64]);
        // Half of them are event-selected more or less: moving to the right through planes that
        // face left and right.
        let to_the_right = random.unit() < 0.5;
        let fields = (0..1 << guards)
            .map(|_| {
                let x = random.between(-1.5, 1.5);
                let x = if to_the_right { 0.3 + x.abs() } else { x };
                [x, random.between(-1.5, 1.5)]
            })
            .collect();
        let through = random.unit() < 0.3;
        let planes = (0..guards)
            .map(|_| {
                let offset = if through {
                    0.0
                } else {
                    random.between(-0.7, 0.7)
                };
                [random.between(-1.0, 1.0), random.between(-0.5, 0.5), offset]
            })
            .collect();
        let watches = [
            Watch::BOTH,
            Watch::BOTH,
            Watch::BOTH,
            Watch::RISING,
            Watch::FALLING,
            Watch::BOTH.and_stop(),
        ];
        let at = usize::try_from(random.next() % (1 << guards)).unwrap();
        let from = random.between(0.0, 1.0);
        let faults = [
            Fault::None,
            Fault::None,
            Fault::Flow { word: at },
            Fault::Event { word: at },
            Fault::Gradient { word: at },
            Fault::Refuses { from },
            Fault::ResetIsNan { from },
        ];
        let kick = [random.between(-0.3, 0.3), random.between(-0.3, 0.3)];
        let kicks = [
            None,
            None,
            Some((kick, 1.0)),
            Some(([0.0; 2], -0.6)),
            Some((kick, 0.0)),
        ];
        let bit = usize::try_from(random.next() % guards).unwrap();
        let sets = [None, None, None, Some((bit, true)), Some((bit, false))];
        Self {
            guards: usize::try_from(guards).unwrap(),
            fields,
            planes,
            watch: [(); MOST].map(|()| pick(random, &watches)),
            fault: pick(random, &faults),
            kick: pick(random, &kicks),
            sets: pick(random, &sets),
        }
    }

    fn system(&self) -> Sketch {
        let (flow, event, gradient, reset) =
            (self.clone(), self.clone(), self.clone(), self.clone());
        let sketch = Sketch::new(2, move |_, _, mode, dx| {
            dx.copy_from_slice(&flow.fields[word(mode)]);
            if flow.fault == (Fault::Flow { word: word(mode) }) {
                dx[1] = f64::NAN;
            }
        });
        let h = move |k: usize, _: f64, x: &[f64], mode: &Mode| {
            let [a, b, c] = event.planes[k];
            if event.fault == (Fault::Event { word: word(mode) }) {
                f64::INFINITY
            } else {
                a * x[0] + b * x[1] - c
            }
        };
        let sketch = match self.guards {
            1 => sketch.events([self.watch[0]], h),
            2 => sketch.events([self.watch[0], self.watch[1]], h),
            3 => sketch.events([self.watch[0], self.watch[1], self.watch[2]], h),
            _ => sketch.events(self.watch, h),
        };
        sketch
            .gradient(move |k, _, _, mode, dh| {
                let [a, b, _] = gradient.planes[k];
                dh.copy_from_slice(&[a, b]);
                if gradient.fault == (Fault::Gradient { word: word(mode) }) {
                    dh[0] = f64::NAN;
                }
                Some(0.0)
            })
            .reset(move |t, _, x, mode| {
                if let Some((add, times)) = reset.kick {
                    x[0] = times * x[0] + add[0];
                    x[1] = times * x[1] + add[1];
                }
                if let Some((bit, on)) = reset.sets {
                    mode.set(bit, on);
                }
                match reset.fault {
                    Fault::Refuses { from } if t > from => Err(Stop::model("refused")),
                    Fault::ResetIsNan { from } if t > from => {
                        x[0] = f64::NAN;
                        Ok(())
                    }
                    _ => Ok(()),
                }
            })
    }
}

fn random_matrix(guards: usize, random: &mut SplitMix64) -> RearmMatrix {
    let all: Vec<Guard> = (0..guards)
        .flat_map(|k| [Guard::rising(k), Guard::falling(k)])
        .collect();
    let mut matrix = pick(
        random,
        &[RearmMatrix::new(guards), RearmMatrix::pairs(guards)],
    );
    for _ in 0..guards {
        let (by, guard) = (pick(random, &all), pick(random, &all));
        if by != guard {
            let arms = random.unit() < 0.5;
            matrix = if arms {
                matrix.arm(by, guard)
            } else {
                matrix.retire(by, guard)
            }
            .unwrap();
        }
    }
    matrix
}

#[test]
fn every_run_ends_where_its_trajectory_its_summary_and_its_reason_say() {
    let mut seen = [0usize; 9];
    let runs = if cfg!(debug_assertions) {
        8_000
    } else {
        20_000
    };
    for seed in 0..runs {
        let mut random = SplitMix64(seed as u64);
        let random = &mut random;
        let case = Case::random(random);
        let matrix = random_matrix(case.guards, random);
        let policies = [
            Rearm::Pairs,
            Rearm::Pairs,
            Rearm::Never,
            Rearm::WhenEmpty,
            Rearm::Matrix(matrix),
        ];
        let projections = [
            Projection::Auto,
            Projection::Off,
            Projection::eps(1e-2, 1),
            Projection::eps(0.2, 4),
            Projection::horizon(1e-2, 1),
            Projection::horizon(0.2, 3),
        ];
        let mut integrator = Integrator::new(case.system())
            .unwrap()
            .rearm(pick(random, &policies))
            .projection(pick(random, &projections))
            .max_events(pick(random, &[200, 200, 0, 1, 3]))
            .max_steps(pick(random, &[2000, 2000, 2000, 5]));
        if random.unit() < 0.2 {
            integrator = integrator.fixed_step(0.25);
        }
        let mode = (random.unit() < 0.3).then(|| {
            let on: Vec<usize> = (0..case.guards).filter(|_| random.unit() < 0.5).collect();
            Mode::with(case.guards, &on)
        });
        let x0 = if random.unit() < 0.1 {
            [0.0, 0.0]
        } else {
            [random.between(-1.0, 0.0), random.between(-0.5, 0.5)]
        };
        let what = format!("seed {seed}, from {x0:?}, {case:?}");
        let start = Start::at(0.0).x(&x0).mode(mode.as_ref());
        let trajectory = ends_the_same(&mut integrator, &start, 1.5, &what);
        seen[match trajectory.status() {
            Status::ReachedEnd => 0,
            Status::Stopped { .. } => 1,
            Status::Refused(Stop::NotLive { .. }) => 2,
            Status::Refused(Stop::NotFinite { .. }) => 3,
            Status::Refused(Stop::Model(_)) => 4,
            Status::Refused(Stop::TooManyEvents { .. }) => 5,
            Status::Refused(Stop::NoProgress { .. }) => 6,
            Status::Refused(Stop::ArmedBeyond { .. }) => 7,
            _ => 8,
        }] += 1;
    }
    // The sample is worth something: each kind of end occurs often.
    let rarest = seen.iter().take(8).min();
    assert!(rarest >= Some(&(runs / 1000)), "{seen:?}");
}

#[test]
fn a_gradient_that_fails_while_the_policy_looks_again_leaves_the_mode_that_was_told() {
    // x = y = cos t; two guards watched upward, so that nothing is armed at the start, where both
    // bits are on. On the way down the policy turns bit 0 off; on the way up again there is no row
    // for guard 1.
    let circle = Sketch::new(2, |_, x, _, dx| dx.copy_from_slice(&[x[1], -x[0]]))
        .events([Watch::RISING; 2], |_, _, x, _| x[0])
        .gradient(|k, _, _, mode, dh| {
            dh.copy_from_slice(&[1.0, 0.0]);
            if k == 1 && !mode.contains(0) {
                dh[0] = f64::NAN;
            }
            Some(0.0)
        });
    for projection in [Projection::Auto, Projection::Off] {
        let mut integrator = Integrator::new(&circle)
            .unwrap()
            .rearm(Rearm::WhenEmpty)
            .projection(projection.clone());
        let what = format!("{projection:?}");
        let trajectory = ends_the_same(&mut integrator, &Start::at(0.0).x(&[1.0, 0.0]), 6.0, &what);
        let status = trajectory.status();
        assert!(
            matches!(status, Status::Refused(Stop::NotFinite { .. })),
            "{status:?}"
        );
    }
}

#[test]
fn a_zeno_ball_ends_where_its_trajectory_its_summary_and_its_reason_say() {
    let mut random = SplitMix64(17);
    for case in 0..if cfg!(debug_assertions) { 30 } else { 200 } {
        let (e, height) = (random.between(0.0, 0.9), random.between(0.1, 3.0));
        let floor = pick(&mut random, &[0.0, 1.0, -37.0]);
        for projection in [
            Projection::Auto,
            Projection::Off,
            Projection::horizon(1e-3, 4),
        ] {
            for rearm in [Rearm::Pairs, Rearm::WhenEmpty] {
                let what = format!(
                    "{case}: e = {e}, from {height} over {floor}, {projection:?}, {rearm:?}"
                );
                let mut integrator = Integrator::new(crate::resets::ball_over(floor, e))
                    .unwrap()
                    .projection(projection.clone())
                    .max_steps(5000)
                    .rearm(rearm);
                ends_the_same(
                    &mut integrator,
                    &Start::at(0.0).x(&[floor + height, 0.0]),
                    20.0,
                    &what,
                );
            }
        }
    }
}

#[test]
fn the_mode_at_a_time_is_the_one_that_holds_then() {
    let mut integrator = Integrator::new(Hopper::default()).unwrap();
    let trajectory = integrator
        .integrate(&Start::at(0.0).x(&[2.0, 0.0]), 2.0)
        .unwrap();
    let times: Vec<f64> = trajectory.crossings().iter().map(|c| c.t).collect();
    let [down, up, ..] = times[..] else {
        panic!("{times:?}");
    };
    for (t, touching) in [
        (0.0, false),
        (0.5 * down, false),
        (down - 1e-9, false),
        (down, true),
        (0.5 * (down + up), true),
        (up - 1e-9, true),
        (up, false),
        (1.0, false),
        (2.0, false),
    ] {
        assert_eq!(trajectory.mode_at(t).unwrap().contains(0), touching, "{t}");
    }
    for t in [-1e-9, 2.1, f64::NAN, f64::INFINITY] {
        let refused = trajectory.mode_at(t);
        assert!(
            matches!(refused, Err(InputError::OutsideRun { .. })),
            "{t}: {refused:?}"
        );
    }
    assert_eq!(trajectory.completed().unwrap().crossings().len(), 4);
}

#[test]
fn a_refused_run_is_not_completed() {
    let slide = Sketch::new(1, |_, _, mode, dx| {
        dx[0] = if mode.contains(0) { -1.0 } else { 1.0 }
    })
    .events([Watch::BOTH], |_, _, x, _| x[0]);
    let refused = Integrator::new(slide)
        .unwrap()
        .integrate(&Start::at(0.0).x(&[-0.5]), 1.0)
        .unwrap();
    let reason = match refused.status() {
        Status::Refused(reason) => reason.clone(),
        other => panic!("{other:?}"),
    };
    assert!(matches!(reason, Stop::NotLive { .. }));
    assert_eq!(refused.completed().unwrap_err(), reason);
}
