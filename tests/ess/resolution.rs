//! Event functions that change faster than the state: none of their crossings is lost, whatever the
//! steps of the motion are.

use std::f64::consts::TAU;

use saltation::{Integrator, Projection, Run, Start, Status, Watch};

use crate::fixtures::support::{Sketch, SplitMix64};

/// Times at which `g` changes sign in (0, `end`), by its signs at so many places and bisection;
/// `None` when it comes so close to zero between two of them that more crossings might hide there.
fn sign_changes(g: impl Fn(f64) -> f64, end: f64, places: u32) -> Option<Vec<f64>> {
    let step = end / f64::from(places);
    let mut found = Vec::new();
    let values: Vec<f64> = (0..=places).map(|i| g(f64::from(i) * step)).collect();
    for i in 0..values.len() - 1 {
        let (a, b) = (values[i], values[i + 1]);
        if (a < 0.0) != (b < 0.0) {
            let (mut low, mut high) = (i as f64 * step, (i + 1) as f64 * step);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if (g(middle) < 0.0) == (a < 0.0) {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            found.push(0.5 * (low + high));
        } else if i > 0 && (values[i - 1] < 0.0) == (a < 0.0) {
            // An extremum towards zero: its height is known to about the second difference.
            let (before, here, after) = (values[i - 1].abs(), a.abs(), b.abs());
            if here <= before && here <= after && here < before + after - 2.0 * here + 1e-6 {
                return None;
            }
        }
    }
    Some(found)
}

fn times(run: &Run, k: usize) -> Vec<f64> {
    let mine = run.crossings().iter().filter(|c| c.guard.event == k);
    mine.map(|c| c.t).collect()
}

fn assert_all_found(run: &Run, expected: &[Vec<f64>], allowed: f64, what: &str) {
    assert_eq!(*run.status(), Status::ReachedEnd, "{what}");
    for (k, expected) in expected.iter().enumerate() {
        let found = times(run, k);
        assert_eq!(
            found.len(),
            expected.len(),
            "{what}: guard {k}: {found:?}, expected {expected:?}"
        );
        for (found, expected) in found.iter().zip(expected) {
            assert!(
                (found - expected).abs() <= allowed,
                "{what}: guard {k} at {found}, expected {expected}"
            );
        }
    }
}

#[test]
fn a_guard_that_moves_faster_than_the_state_is_crossed_each_time() {
    // The state moves on a straight line, so that nothing but the guard asks for short steps.
    let expected = sign_changes(|t| 0.05 + 0.01 * t - (10.0 * t).sin(), 10.0, 100_000).unwrap();
    assert_eq!(expected.len(), 32);
    for projection in [Projection::Auto, Projection::Off] {
        let system = Sketch::new(1, |_, _, _, dx| dx[0] = 0.01)
            .events([Watch::BOTH], |_, t, x, _| x[0] - (10.0 * t).sin());
        let mut integrator = Integrator::new(system).unwrap().projection(projection);
        let run = integrator
            .integrate(&Start::at(0.0).x(&[0.05]), 10.0)
            .unwrap();
        assert_all_found(&run, std::slice::from_ref(&expected), 1e-6, "x − sin 10 t");
        assert!(run.is_guaranteed());
    }
}

/// `h_k = a + b t + c t² + Σ d sin(ω t + φ)`, of the time or of a state that runs like it.
#[derive(Clone, Debug)]
struct Wave {
    polynomial: [f64; 3],
    sines: Vec<[f64; 3]>,
}

impl Wave {
    fn at(&self, s: f64) -> f64 {
        let [a, b, c] = self.polynomial;
        let sines = self.sines.iter().map(|[d, w, p]| d * (w * s + p).sin());
        a + s * (b + s * c) + sines.sum::<f64>()
    }
}

fn random_wave(random: &mut SplitMix64) -> Wave {
    let count = 1 + random.next() % 2;
    Wave {
        polynomial: [
            random.between(-1.5, 1.5),
            random.between(-1.0, 1.0),
            random.between(-0.5, 0.5),
        ],
        sines: (0..count)
            .map(|_| {
                // Up to ten turns, that is twenty sign changes.
                let turns = 10f64.powf(random.between(-0.5, 1.0));
                [
                    random.between(0.1, 1.5),
                    TAU * turns,
                    random.between(0.0, TAU),
                ]
            })
            .collect(),
    }
}

/// Guards of the time and of the state, on motions that are polynomials and would be one step each.
#[test]
fn random_waves_are_crossed_as_often_as_they_change_sign() {
    let mut random = SplitMix64(11);
    let (mut compared, mut crossings) = (0, 0);
    for case in 0..1000 {
        let waves: Vec<Wave> = (0..2).map(|_| random_wave(&mut random)).collect();
        let expected: Option<Vec<_>> = waves
            .iter()
            .map(|wave| sign_changes(|t| wave.at(t), 1.0, 20_000))
            .collect();
        let Some(expected) = expected else {
            continue;
        };
        compared += 1;
        crossings += expected.iter().map(Vec::len).sum::<usize>();
        let of_time = case % 2 == 0;
        let system = Sketch::new(2, |_, x, _, dx| dx.copy_from_slice(&[1.0, x[0]]))
            .events([Watch::BOTH; 2], move |k, t, x, _| {
                waves[k].at(if of_time { t } else { x[0] })
            });
        let projection = [Projection::Auto, Projection::Off][case / 2 % 2].clone();
        let mut integrator = Integrator::new(system).unwrap().projection(projection);
        let run = integrator
            .integrate(&Start::at(0.0).x(&[0.0, 0.0]), 1.0)
            .unwrap();
        assert_all_found(&run, &expected, 1e-5, &format!("case {case}"));
    }
    assert!(compared > 900 && crossings > 5000, "{compared} {crossings}");
}
