//! Checks of hand-written derivatives and flips that every model passes through; tests only.

use crate::{EventFunction, Flow, Mode};

const STEP: f64 = 1e-6;

fn nudged(x: &[f64], v: &[f64], step: f64) -> Vec<f64> {
    x.iter().zip(v).map(|(x, v)| x + step * v).collect()
}

fn unit(dim: usize, i: usize) -> Vec<f64> {
    let mut v = vec![0.0; dim];
    v[i] = 1.0;
    v
}

pub(super) fn flow<S: Flow>(system: &S, x: &[f64], mode: &Mode) -> Vec<f64> {
    let mut dx = vec![f64::NAN; system.dim()];
    system.flow(0.0, x, mode, &mut dx);
    dx
}

#[track_caller]
pub(super) fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    for (i, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!(
            (a - b).abs() <= tolerance * (1.0 + b.abs()),
            "entry {i}: {a:e}, expected {b:e}"
        );
    }
}

/// `jacobian_times` of `system` against central differences of the flow of `model`, along every
/// axis.
#[track_caller]
pub(super) fn assert_jacobian<S: Flow, M: Flow>(system: &S, model: &M, x: &[f64], mode: &Mode) {
    for i in 0..system.dim() {
        let v = unit(system.dim(), i);
        let after = flow(model, &nudged(x, &v, STEP), mode);
        let before = flow(model, &nudged(x, &v, -STEP), mode);
        let difference: Vec<_> = after
            .iter()
            .zip(&before)
            .map(|(a, b)| (a - b) / (2.0 * STEP))
            .collect();
        let mut out = vec![f64::NAN; system.dim()];
        assert!(system.jacobian_times(0.0, x, mode, &v, &mut out));
        assert_near(&out, &difference, 1e-7);
    }
}

/// Every row of `gradient` against central differences, and `event` against `events`.
#[expect(clippy::float_cmp, reason = "the two must agree to the last bit")]
#[track_caller]
pub(super) fn assert_events<S: Flow + EventFunction>(system: &S, x: &[f64], mode: &Mode) {
    let mut all = vec![f64::NAN; system.count()];
    system.events(0.0, x, mode, &mut all);
    for k in 0..system.count() {
        assert_eq!(all[k], system.event(k, 0.0, x, mode), "event {k}");
        let mut row = vec![f64::NAN; system.dim()];
        assert_eq!(system.gradient(k, 0.0, x, mode, &mut row), Some(0.0));
        let difference: Vec<_> = (0..system.dim())
            .map(|i| {
                let v = unit(system.dim(), i);
                let h = |step| system.event(k, 0.0, &nudged(x, &v, step), mode);
                (h(STEP) - h(-STEP)) / (2.0 * STEP)
            })
            .collect();
        assert_near(&row, &difference, 1e-7);
    }
}

/// `flip` of every side bit against the flow in the mode after it.
#[track_caller]
pub(super) fn assert_flips<S: Flow + EventFunction>(system: &S, x: &[f64], mode: &Mode) {
    for k in 0..system.count() {
        let after = mode.clone().having(k, !mode.contains(k));
        let mut dx = flow(system, x, mode);
        assert!(system.flip(0.0, x, &after, k, &mut dx));
        assert_near(&dx, &flow(system, x, &after), 1e-13);
    }
}
