//! Times, the cases taking turns so that a busy spell of the machine meets all of them.
//!
//! The fastest sample counts: the work is the same each time, and what disturbs it only adds time.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// A sample lasts at least this long; short calls are repeated.
const SAMPLE: Duration = Duration::from_millis(2);

/// Time of one call of each case [ns], the least of `rounds` samples.
pub(crate) fn fastest(cases: &mut [&mut dyn FnMut()], rounds: usize) -> Vec<f64> {
    let repeats: Vec<usize> = cases
        .iter_mut()
        .map(|case| calls_in_a_sample(*case))
        .collect();
    let mut least = vec![f64::INFINITY; cases.len()];
    for _ in 0..rounds {
        for (i, case) in cases.iter_mut().enumerate() {
            least[i] = time(*case, repeats[i]).min(least[i]);
        }
    }
    least
}

/// The same for cases of one kind.
pub(crate) fn fastest_of<R>(runs: &mut [impl FnMut() -> R], rounds: usize) -> Vec<f64> {
    let mut calls: Vec<_> = runs
        .iter_mut()
        .map(|run| {
            move || {
                black_box(run());
            }
        })
        .collect();
    let mut cases: Vec<&mut dyn FnMut()> =
        calls.iter_mut().map(|c| c as &mut dyn FnMut()).collect();
    fastest(&mut cases, rounds)
}

/// Also warms up.
fn calls_in_a_sample(case: &mut dyn FnMut()) -> usize {
    let mut calls = 1;
    while time(case, calls) * (calls as f64) < SAMPLE.as_nanos() as f64 {
        calls *= 2;
    }
    calls
}

/// Mean time of a call [ns].
fn time(case: &mut dyn FnMut(), calls: usize) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        case();
    }
    start.elapsed().as_nanos() as f64 / calls as f64
}
