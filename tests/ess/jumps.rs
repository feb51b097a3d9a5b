//! Event functions that jump, as the margin of a contact does where a clock switches a force: located behind the
//! jump, whether values stay just before zero or far from it, and none is doubted.

use saltation::{Direction, Integrator, Run, Start, Status, Watch};

use crate::fixtures::support::{Sketch, SplitMix64};

/// Values of a function between times at which it jumps, and a wave that lies over all of them.
#[derive(Clone, Debug)]
struct Steps {
    times: Vec<f64>,
    values: Vec<f64>,
    wave: f64,
}

impl Steps {
    fn at(&self, t: f64) -> f64 {
        let passed = self.times.iter().filter(|time| t > **time).count();
        self.values[passed] + self.wave * (3.0 * t).sin()
    }

    /// Levels on either side of zero, by at least twice the wave; the first and one in three are close to it.
    fn draw(random: &mut SplitMix64) -> Self {
        let wave = [0.0, 1e-11, 1e-6, 0.05][usize::try_from(random.next() % 4).unwrap()];
        let value = |random: &mut SplitMix64| {
            let sign = if random.unit() < 0.6 { -1.0 } else { 1.0 };
            let close = random.unit() < 0.33;
            sign * (2.0 * wave
                + if close {
                    1e-6
                } else {
                    random.between(0.1, 2.0)
                })
        };
        let mut values = vec![-(2.0 * wave + 2e-9)];
        let mut times = Vec::new();
        let mut t = 0.0;
        while t < 0.8 {
            t += random.between(0.1, 0.3);
            times.push(t);
            values.push(value(random));
        }
        Self {
            times,
            values,
            wave,
        }
    }
}

/// `x'' = −x` beside a clock, so that steps are of finite length, and a rate that jumps with the sign of the function.
fn run(steps: &Steps, rtol: f64) -> Run {
    let (steps, rates) = (steps.clone(), steps.clone());
    let system = Sketch::new(4, move |_, x, _, dx| {
        dx.copy_from_slice(&[1.0, x[2], -x[1], rates.at(x[0]).signum()]);
    })
    .events([Watch::BOTH], move |_, _, x, _| steps.at(x[0]));
    let mut integrator = Integrator::new(system).unwrap().rtol(rtol);
    let start = Start::at(0.0).x(&[0.0, 1.0, 0.0, 0.0]);
    integrator.integrate(&start, 1.2).unwrap()
}

#[test]
fn what_jumps_across_is_located_behind_the_jump_without_a_doubt() {
    let cases = if cfg!(debug_assertions) { 400 } else { 10_000 };
    let mut doubted = 0;
    for seed in 0..cases {
        let mut random = SplitMix64(seed);
        let steps = Steps::draw(&mut random);
        let rtol = [1e-4, 1e-6, 1e-9][usize::try_from(seed % 3).unwrap()];
        let what = format!("{seed} {rtol}: {steps:?}");
        let run = run(&steps, rtol);
        assert_eq!(*run.status(), Status::ReachedEnd, "{what}");
        let pairs = steps.values.windows(2).zip(&steps.times);
        let across = pairs.filter(|(v, t)| v[0] * v[1] < 0.0 && **t < 1.2);
        let expected: Vec<(f64, Direction)> = across
            .map(|(v, t)| {
                let rises = v[1] > v[0];
                (
                    *t,
                    if rises {
                        Direction::Rising
                    } else {
                        Direction::Falling
                    },
                )
            })
            .collect();
        let found = run.crossings();
        assert_eq!(found.len(), expected.len(), "{what}: {found:?}");
        for (found, (t, direction)) in found.iter().zip(expected) {
            assert!((found.t - t).abs() < 1e-14, "{what}: {found:?}");
            assert_eq!(found.guard.direction, direction, "{what}: {found:?}");
        }
        doubted += u64::from(!run.is_guaranteed());
        // No step has stages on both sides of a jump: the sum of its pieces is exact at every tolerance.
        let times = steps.times.iter().map(|t| t.min(1.2));
        let starts = std::iter::once(0.0).chain(times.clone());
        let pieces = starts.zip(times.chain([1.2])).zip(&steps.values);
        let expected: f64 = pieces.map(|((from, to), v)| v.signum() * (to - from)).sum();
        let off = run.state()[3] - expected;
        assert!(off.abs() < 1e-14, "{what}: {off:e}");
    }
    assert_eq!(doubted, 0);
}

/// A run that starts a few roundings before a jump crosses there, though its first sample lies behind and the function
/// starts no more than some tolerances off its surface.
#[test]
fn a_jump_at_the_start_of_a_run_is_crossed() {
    for tolerance in [0.0, 1e-10] {
        for ahead in [1.0, 8.0, 64.0, 1e3] {
            for span in [1e-8, 1e-6, 1e-3, 1.0] {
                let from = 0.161_37;
                let at = from * (1.0 + ahead * f64::EPSILON);
                let system = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
                    .events(
                        [Watch::BOTH],
                        move |_, t, _, _| {
                            if t > at { 0.61 } else { -2e-9 }
                        },
                    )
                    .tolerance(tolerance);
                let mut integrator = Integrator::new(system).unwrap();
                let run = integrator
                    .integrate(&Start::at(from).x(&[0.0]), from + span)
                    .unwrap();
                let found: Vec<f64> = run.crossings().iter().map(|found| found.t).collect();
                let what = format!("{tolerance} {ahead} {span}: {found:?} {at}");
                assert!(found.len() == 1 && (found[0] - at).abs() < 1e-14, "{what}");
            }
        }
    }
}
