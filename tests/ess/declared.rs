//! What a model declares of its event functions saves samples and changes no answer: affine guards
//! against closed forms, with and without the declaration; and what is declared and not so.

use std::f64::consts::TAU;

use saltation::{InputError, Integrator, Mode, Projection, Rearm, Run, Start, Status, Stop, Watch};

use crate::fixtures::support::{Sketch, SplitMix64, falling};

/// Length of all runs (s).
const END: f64 = 10.0;

/// `Σ size sin(rate t + phase) + slope t − level`: a plane that moves along the states of three
/// oscillators.
#[derive(Clone, Copy, Debug)]
struct Plane {
    sizes: [f64; 3],
    slope: f64,
    level: f64,
}

/// Three oscillators, `x = sin(rate t + phase)`, and planes.
#[derive(Clone, Debug)]
struct Course {
    rates: [f64; 3],
    phases: [f64; 3],
    planes: Vec<Plane>,
}

impl Course {
    fn draw(random: &mut SplitMix64) -> Self {
        let rates = std::array::from_fn(|_| 10f64.powf(random.between(-1.0, 1.5)));
        let phases = std::array::from_fn(|_| random.between(0.0, TAU));
        let plane = |random: &mut SplitMix64| Plane {
            sizes: std::array::from_fn(|_| random.between(-1.0, 1.0)),
            slope: random.between(-0.3, 0.3),
            level: random.between(-2.0, 2.0),
        };
        let count = 1 + random.next() % 3;
        let planes = (0..count).map(|_| plane(random)).collect();
        Self {
            rates,
            phases,
            planes,
        }
    }

    fn value(&self, k: usize, t: f64) -> f64 {
        let Plane {
            sizes,
            slope,
            level,
        } = self.planes[k];
        let waves = (0..3).map(|i| sizes[i] * (self.rates[i] * t + self.phases[i]).sin());
        waves.sum::<f64>() + slope * t - level
    }

    /// When plane `k` is crossed, from its values at many times; None where it comes so close to
    /// zero without crossing it, or crosses it so flatly or so close to an end, that an error of the
    /// run decides.
    fn crossings(&self, k: usize) -> Option<Vec<f64>> {
        const PLACES: u32 = 40_000;
        let time = |i: u32| END * f64::from(i) / f64::from(PLACES);
        let at = |i: u32| self.value(k, time(i));
        let mut found = Vec::new();
        for i in 1..=PLACES {
            let (before, here) = (at(i - 1), at(i));
            if (before < 0.0) != (here < 0.0) {
                found.push(time(i - 1) - before * (time(i) - time(i - 1)) / (here - before));
            }
            let is_turn = i < PLACES && (here - before) * (at(i + 1) - here) < 0.0;
            if is_turn && here.abs() < 0.01 {
                return None;
            }
        }
        (at(0).abs() > 0.01 && at(PLACES).abs() > 0.01).then_some(found)
    }

    fn run(&self, is_declared: bool, rtol: f64) -> Run {
        let (rates, planes) = (self.rates, self.planes.clone());
        let rows = planes.clone();
        let system = Sketch::new(6, move |_, x, _, dx| {
            for i in 0..3 {
                dx[2 * i] = rates[i] * x[2 * i + 1];
                dx[2 * i + 1] = -rates[i] * x[2 * i];
            }
        })
        .events_of(planes.len(), Watch::BOTH, move |k, t, x, _| {
            let Plane {
                sizes,
                slope,
                level,
            } = planes[k];
            (0..3).map(|i| sizes[i] * x[2 * i]).sum::<f64>() + slope * t - level
        })
        .gradient(move |k, _, _, _, dh| {
            dh.fill(0.0);
            for i in 0..3 {
                dh[2 * i] = rows[k].sizes[i];
            }
            Some(rows[k].slope)
        });
        let system = if is_declared { system.affine() } else { system };
        let start: Vec<f64> = self
            .phases
            .iter()
            .flat_map(|p| [p.sin(), p.cos()])
            .collect();
        let mut integrator = Integrator::new(system).unwrap().rtol(rtol).atol(rtol);
        integrator
            .integrate(&Start::at(0.0).x(&start), END)
            .unwrap()
    }
}

/// What became of many runs with the declaration, and without.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    runs: usize,
    crossings: usize,
    /// Runs with other crossings than expected; of these, runs that count as guaranteed.
    wrong: usize,
    silent: usize,
    /// Runs with the right crossings that do not count as guaranteed.
    doubted: usize,
    /// Values of event functions at once.
    events: usize,
}

impl Tally {
    fn take(&mut self, course: &Course, expected: &[Vec<f64>], run: &Run) {
        assert_eq!(*run.status(), Status::ReachedEnd, "{course:?}");
        let is_met = |(k, expected): (usize, &Vec<f64>)| {
            let found = run.crossings().iter().filter(|c| c.guard.event == k);
            let times: Vec<f64> = found.map(|c| c.t).collect();
            times.len() == expected.len()
                && times
                    .iter()
                    .zip(expected)
                    .all(|(t, e)| (t - e).abs() < 1e-3)
        };
        let is_right = expected.iter().enumerate().all(is_met);
        self.runs += 1;
        self.crossings += run.crossings().len();
        self.events += run.statistics().events;
        self.wrong += usize::from(!is_right);
        self.silent += usize::from(!is_right && run.is_guaranteed());
        self.doubted += usize::from(is_right && !run.is_guaranteed());
        if !is_right {
            println!("{course:?}: {:?}", run.doubts().first());
        }
    }
}

fn affine_campaign(seed: u64, cases: usize) -> [Tally; 2] {
    let (mut random, mut tallies) = (SplitMix64(seed), [Tally::default(); 2]);
    for _ in 0..cases {
        let course = Course::draw(&mut random);
        let rtol = 10f64.powf(random.between(-9.0, -5.0));
        let expected: Option<Vec<_>> = (0..course.planes.len())
            .map(|k| course.crossings(k))
            .collect();
        let Some(expected) = expected else { continue };
        for (tally, is_declared) in tallies.iter_mut().zip([true, false]) {
            tally.take(&course, &expected, &course.run(is_declared, rtol));
        }
    }
    println!("{tallies:?}");
    tallies
}

fn check(tallies: &[Tally; 2]) {
    for tally in tallies {
        assert_eq!((tally.wrong, tally.silent), (0, 0), "{tally:?}");
    }
    let [declared, others] = tallies;
    // At loose tolerances the error of the run hides some tops and ends, with and without.
    assert!(
        1000 * declared.doubted <= 1000 * others.doubted + declared.runs,
        "{tallies:?}"
    );
    assert!(3 * declared.events < 2 * others.events, "{tallies:?}");
}

#[test]
fn affine_guards_are_crossed_as_others_and_sampled_less() {
    check(&affine_campaign(51, 100));
}

#[test]
#[ignore = "ten thousand systems: a minute in release"]
fn no_crossing_of_many_affine_guards_is_lost() {
    check(&affine_campaign(52, 10_000));
}

/// A mass that flies at 1 m/s past `count` obstacles 100 m away and more.
fn flight(count: usize) -> Sketch {
    Sketch::new(2, |_, x, _, dx| dx.copy_from_slice(&[x[1], 0.0])).events_of(
        count,
        Watch::BOTH,
        |k, _, x, _| (x[0] - 50.0).hypot(100.0 + k as f64) - 99.5,
    )
}

#[test]
fn guards_out_of_reach_by_their_largest_rate_are_not_sampled() {
    let run = |system| {
        let mut integrator = Integrator::new(system).unwrap();
        integrator
            .integrate(&Start::at(0.0).x(&[0.0, 1.0]), 1.0)
            .unwrap()
    };
    let [plain, bounded] = [flight(3), flight(3).max_rates(vec![1.0; 3])].map(run);
    assert_eq!(*bounded.status(), Status::ReachedEnd);
    assert!(bounded.is_guaranteed());
    assert_eq!(bounded.statistics().windows, 0);
    assert!(plain.statistics().windows > 30);
    // Where one comes within reach all are sampled, as it asks.
    let run = |system| {
        let mut integrator = Integrator::new(system).unwrap();
        integrator
            .integrate(&Start::at(0.0).x(&[49.0, 1.0]), 2.0)
            .unwrap()
    };
    let close = run(flight(1).max_rates(vec![1.0]));
    assert!(close.statistics().windows > 0 && close.is_guaranteed());
}

#[test]
fn a_largest_rate_is_not_negative() {
    for rate in [-1.0, f64::NAN] {
        let refused = Integrator::new(flight(2).max_rates(vec![0.0, rate]))
            .unwrap()
            .integrate(&Start::at(0.0).x(&[0.0, 1.0]), 1.0);
        let Err(InputError::BadSetting { name, entry, .. }) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!((name, entry), ("max_rate", 1));
    }
}

/// What is declared and not so ends no run but with a word: affine guards that are not, without
/// rows, with rows that are not finite, and rates that are not kept.
#[test]
fn declarations_that_do_not_hold_end_no_run_in_a_panic() {
    let wave = || {
        Sketch::new(1, |_, _, _, dx| dx[0] = 1.0).events_of(2, Watch::BOTH, |k, _, x, _| {
            (x[0] * (k + 1) as f64).sin() - 0.5
        })
    };
    let liars = [
        wave().affine(),
        wave().affine().gradient(|_, _, _, _, dh| {
            dh[0] = f64::NAN;
            Some(0.0)
        }),
        wave().affine().gradient(|_, _, _, _, dh| {
            dh[0] = 1.0;
            Some(f64::INFINITY)
        }),
        wave().max_rates(vec![0.0, f64::INFINITY]),
        wave().max_rates(vec![1e-300, 0.1]),
    ];
    for liar in liars {
        let run = Integrator::new(liar)
            .unwrap()
            .integrate(&Start::at(0.0).x(&[0.0]), 10.0);
        let is_told = |run: &Run| matches!(run.status(), Status::ReachedEnd | Status::Refused(_));
        assert!(is_told(&run.unwrap()));
    }
}

/// Thrown to a height of a hundred metres by a force that is hard to follow, with a ceiling at `height`.
fn thrown(height: f64, phase: f64) -> Sketch {
    Sketch::new(3, move |t, x, _, dx| {
        let swing = 1.0 + 3.0 * (30.0 * t + phase).cos();
        let push = 60.0 * (-40.0 * (t - 0.5).powi(2)).exp() * swing;
        dx.copy_from_slice(&[x[1], if t < 1.5 { push + x[2] } else { x[2] }, 0.0]);
    })
    .events([Watch::BOTH], move |_, _, x, _| x[0] - height)
    .gradient(|_, _, _, _, dh| {
        dh.copy_from_slice(&[1.0, 0.0, 0.0]);
        Some(0.0)
    })
}

/// The run ends below a ceiling that the motion passes, by less than its error: the error that the
/// tolerance allows of that height, and not that of the start at zero.
#[test]
fn a_touch_within_the_error_of_a_state_that_has_grown_is_doubted() {
    let run = |system, rtol| {
        let integrator = Integrator::new(system).unwrap().projection(Projection::Off);
        let mut integrator = integrator.rtol(rtol).atol(1e-9).max_step(0.2);
        integrator
            .integrate(&Start::at(0.0).x(&[0.0, 0.0, -1.0]), 30.0)
            .unwrap()
    };
    let top = |run: &Run| {
        let at = |i: u32| run.state_at(0.01 * f64::from(i)).unwrap()[0];
        (0..3000).map(at).fold(f64::NEG_INFINITY, f64::max)
    };
    let mut touches = 0;
    for (rtol, number) in [1e-2, 1e-3]
        .map(|rtol| (0..8).map(move |i| (rtol, i)))
        .into_iter()
        .flatten()
    {
        let phase = f64::from(number);
        let exact = top(&run(thrown(1e9, phase), 1e-11));
        let found = top(&run(thrown(1e9, phase), rtol));
        if found > exact - 0.01 {
            continue;
        }
        touches += 1;
        let height = 0.5 * (found + exact);
        for run in [
            run(thrown(height, phase), rtol),
            run(thrown(height, phase).affine(), rtol),
        ] {
            assert!(
                run.crossings().is_empty() && !run.is_guaranteed(),
                "{phase} {found} {exact}"
            );
        }
    }
    assert!(touches > 4, "{touches}");
}

/// What is not finite ends a run, also where nothing is sampled.
#[test]
fn values_that_are_not_finite_are_met_where_no_guard_is_in_reach() {
    let system = || {
        Sketch::new(1, |_, _, _, dx| dx[0] = 1.0).events([Watch::RISING], |_, _, x, _| {
            if x[0] > 2.0 {
                f64::NEG_INFINITY
            } else {
                -100.0
            }
        })
    };
    for system in [system(), system().max_rates(vec![1.0])] {
        let mut integrator = Integrator::new(system).unwrap();
        let run = integrator
            .integrate(&Start::at(0.0).x(&[0.0]), 5.0)
            .unwrap();
        let is_named = matches!(run.status(), Status::Refused(Stop::NotFinite { .. }));
        assert!(is_named && (run.t() - 2.0).abs() < 1e-9, "{}", run.status());
    }
    // Of a guard that is no longer looked for, too.
    let once = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
        .events([Watch::RISING; 2], |k, _, x, _| match k {
            0 if x[0] > 2.0 => f64::NAN,
            0 => x[0] - 1.0,
            _ => x[0] - 1e6,
        })
        .gradient(|_, _, _, _, dh| {
            dh[0] = 1.0;
            Some(0.0)
        });
    let mut integrator = Integrator::new(once.affine()).unwrap().rearm(Rearm::Never);
    let run = integrator
        .integrate(&Start::at(0.0).x(&[0.0]), 5.0)
        .unwrap();
    let is_named = matches!(run.status(), Status::Refused(Stop::NotFinite { .. }));
    assert!(is_named && (run.t() - 2.0).abs() < 1e-9, "{}", run.status());
}

/// A hump within one step, which starts and ends before the guard: the polynomial of the step bends
/// towards it.
#[test]
fn an_affine_guard_that_is_passed_within_a_step_is_met() {
    for (sign, height) in [(1.0, 0.04), (-1.0, 0.04), (1.0, 0.049)] {
        let hump = Sketch::new(2, |_, x, _, dx| dx.copy_from_slice(&[x[1], -10.0]))
            .events([Watch::BOTH], move |_, _, x, _| sign * (x[0] - height))
            .gradient(move |_, _, _, _, dh| {
                dh.copy_from_slice(&[sign, 0.0]);
                Some(0.0)
            })
            .affine();
        let mut integrator = Integrator::new(hump).unwrap().fixed_step(0.2);
        let run = integrator
            .integrate(&Start::at(0.0).x(&[0.0, 1.0]), 0.2)
            .unwrap();
        let half = (0.01 - 0.2 * height).sqrt();
        let times: Vec<f64> = run.crossings().iter().map(|c| c.t).collect();
        assert_eq!(times.len(), 2, "{height}");
        assert!((times[0] - 0.1 + half).abs() < 1e-9 && (times[1] - 0.1 - half).abs() < 1e-9);
    }
}

/// What the end of a step contradicts is not believed: a hump between its ends is met.
#[test]
fn declarations_that_the_end_of_a_step_contradicts_are_not_believed() {
    let hump = || {
        Sketch::new(1, |_, _, _, dx| dx[0] = 1.0).events([Watch::BOTH], |_, _, x, _| {
            0.5 - 4.0 * (x[0] - 0.5).powi(2) + 0.2 * x[0]
        })
    };
    let row = |_, _, x: &[f64], _: &Mode, dh: &mut [f64]| {
        dh[0] = 0.2 - 8.0 * (x[0] - 0.5);
        Some(0.0)
    };
    for liar in [hump().gradient(row).affine(), hump().max_rates(vec![0.1])] {
        let mut integrator = Integrator::new(liar).unwrap().fixed_step(1.0);
        let run = integrator
            .integrate(&Start::at(0.0).x(&[0.0]), 1.0)
            .unwrap();
        assert_eq!(run.crossings().len(), 2, "{}", run.status());
    }
}

/// An infinite largest rate says nothing.
#[test]
fn an_infinite_largest_rate_is_none() {
    let run = |system| {
        let mut integrator = Integrator::new(system).unwrap();
        let run = integrator
            .integrate(&Start::at(0.0).x(&[0.0, 1.0]), 1.0)
            .unwrap();
        *run.statistics()
    };
    assert_eq!(
        run(flight(3).max_rates(vec![f64::INFINITY; 3])),
        run(flight(3))
    );
}

/// A guard that starts on its surface says nothing of how fast it changes: windows are no shorter
/// than without a declaration.
#[test]
fn a_start_on_a_guard_with_a_largest_rate_costs_few_windows() {
    let thrown = || falling(10.0).events([Watch::RISING], |_, _, x, _| -x[0]);
    let run = |system: Sketch| {
        let mut integrator = Integrator::new(system).unwrap().first_step(0.5);
        integrator
            .integrate(&Start::at(0.0).x(&[0.0, 1.0]), 1.0)
            .unwrap()
    };
    let [plain, declared] = [thrown(), thrown().max_rates(vec![50.0])].map(run);
    assert_eq!(plain.crossings().len(), declared.crossings().len());
    assert!(declared.statistics().windows <= plain.statistics().windows + 10);
}

/// Neighbourhoods of guards are out of reach as guards are.
#[test]
fn declarations_hold_with_neighbourhoods() {
    let run = |system| {
        let integrator = Integrator::new(system).unwrap().rtol(1e-9);
        let mut integrator = integrator.projection(Projection::eps(0.5, 3));
        integrator
            .integrate(&Start::at(0.0).x(&[0.0, 0.0, -1.0]), 29.0)
            .unwrap()
    };
    let [plain, declared] = [thrown(100.0, 0.0), thrown(100.0, 0.0).affine()].map(run);
    let times = |run: &Run| -> Vec<f64> { run.crossings().iter().map(|c| c.t).collect() };
    assert_eq!(times(&plain).len(), 2, "{}", plain.status());
    for (a, b) in times(&plain).iter().zip(times(&declared)) {
        assert!((a - b).abs() < 1e-6);
    }
    assert!(2 * declared.statistics().events < plain.statistics().events);
}

/// A step that comes into a neighbourhood stops on its border, also where the guard itself is out of
/// reach by its largest rate.
#[test]
fn a_step_into_a_neighbourhood_ends_on_its_border() {
    let run = |system| {
        let integrator = Integrator::new(system).unwrap().fixed_step(0.013);
        let mut integrator = integrator.projection(Projection::eps(0.5, 2));
        integrator
            .integrate(&Start::at(0.0).x(&[0.0]), 3.0)
            .unwrap()
    };
    let line = || {
        Sketch::new(1, |_, _, _, dx| dx[0] = 1.0).events([Watch::RISING], |_, _, x, _| x[0] - 2.0)
    };
    for system in [line(), line().max_rates(vec![1.0])] {
        let run = run(system);
        let statistics = run.statistics();
        assert_eq!((statistics.locations, statistics.projections), (1, 1));
        assert!(run.times().iter().any(|t| (t - 1.5).abs() < 1e-9));
    }
}
