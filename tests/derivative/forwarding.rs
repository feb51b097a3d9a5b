//! Wrappers of systems hand every method on: to a model whose every method is its own, and
//! remembers that it was asked.
//!
//! Names are read from the source of the traits, so that a method that is new there and forgotten
//! here fails.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::sync::Arc;

use saltation::derivative::WithParameters;
use saltation::{
    Crossed, CrossedGuard, Crossing, Displacement, EventFunction, Flow, Guard, InputError, Mode,
    Record, Stop, Watch,
};

type Names = BTreeSet<String>;

/// The methods of a trait in a source file.
fn methods(source: &str, name: &str) -> Names {
    let start = format!("pub trait {name} {{");
    let (_, rest) = source.split_once(&start).expect("the trait");
    let (body, _) = rest.split_once("\n}\n").expect("its end");
    let functions = body.lines().filter_map(|line| line.strip_prefix("    fn "));
    functions
        .map(|line| line.split(['(', '<']).next().expect("a name").to_owned())
        .collect()
}

/// Methods of `Flow` and of `EventFunction`.
fn all_methods() -> Names {
    let flow = methods(include_str!("../../src/model/flow.rs"), "Flow");
    let events = methods(include_str!("../../src/model/events.rs"), "EventFunction");
    flow.union(&events).cloned().collect()
}

thread_local! {
    static ASKED: RefCell<Names> = const { RefCell::new(BTreeSet::new()) };
}

fn asked(name: &str) {
    ASKED.with_borrow_mut(|names| names.insert(name.to_owned()));
}

/// What was asked since the last time.
fn taken() -> Names {
    ASKED.take()
}

/// A model that provides every method, none as the trait does.
struct Own;

impl Flow for Own {
    fn dim(&self) -> usize {
        asked("dim");
        2
    }
    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        asked("flow");
        let drag = if mode.contains(0) { 0.5 } else { 0.0 };
        dx.copy_from_slice(&[x[1] + t, -x[0] - drag * x[1]]);
    }
    fn jacobian_times(&self, _t: f64, _x: &[f64], mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
        asked("jacobian_times");
        let drag = if mode.contains(0) { 0.5 } else { 0.0 };
        out.copy_from_slice(&[v[1], -v[0] - drag * v[1]]);
        true
    }
    fn jacobian_times_each(
        &self,
        _t: f64,
        _x: &[f64],
        mode: &Mode,
        v: &[f64],
        out: &mut [f64],
    ) -> bool {
        asked("jacobian_times_each");
        let drag = if mode.contains(0) { 0.5 } else { 0.0 };
        for (v, out) in v.chunks_exact(2).zip(out.chunks_exact_mut(2)) {
            out.copy_from_slice(&[v[1], -v[0] - drag * v[1]]);
        }
        true
    }
    fn flip(&self, _t: f64, x: &[f64], mode: &Mode, k: usize, dx: &mut [f64]) -> bool {
        asked("flip");
        let sign = if mode.contains(0) { -0.5 } else { 0.5 };
        if k == 0 {
            dx[1] += sign * x[1];
        }
        true
    }
    fn validate(&self) -> Result<(), InputError> {
        asked("validate");
        Err(InputError::EmptySystem)
    }
    fn flow_time_scale(&self) -> Option<f64> {
        asked("flow_time_scale");
        Some(0.375)
    }
    fn until_switch(&self, t: f64, x: &[f64], _mode: &Mode, step: f64, places: usize) -> f64 {
        asked("until_switch");
        step * x[0] / t / places as f64
    }
    fn correct(&self, _t: f64, x: &mut [f64], _mode: &Mode) -> bool {
        asked("correct");
        x[1] = 0.25;
        true
    }
}

impl EventFunction for Own {
    fn count(&self) -> usize {
        asked("count");
        2
    }
    fn event(&self, k: usize, t: f64, x: &[f64], _mode: &Mode) -> f64 {
        asked("event");
        x[k] - t
    }
    fn events(&self, t: f64, x: &[f64], _mode: &Mode, h: &mut [f64]) {
        asked("events");
        h.copy_from_slice(&[x[0] - t, x[1] - t]);
    }
    fn gradient(&self, k: usize, _t: f64, _x: &[f64], _mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        asked("gradient");
        dh.fill(0.0);
        dh[k] = 1.0;
        Some(-1.0)
    }
    fn watch(&self, k: usize) -> Watch {
        asked("watch");
        [Watch::RISING, Watch::FALLING.and_stop()][k]
    }
    fn min_rate(&self, k: usize) -> Option<f64> {
        asked("min_rate");
        Some(0.25 + k as f64)
    }
    fn event_tolerance(&self, k: usize) -> f64 {
        asked("event_tolerance");
        0.125 + k as f64
    }
    fn crosses_within(&self, k: usize) -> f64 {
        asked("crosses_within");
        0.375 + k as f64
    }
    fn admissible(&self, k: usize, mode: &Mode) -> RangeInclusive<f64> {
        asked("admissible");
        k as f64..=if mode.contains(0) { 2.0 } else { 3.0 }
    }
    fn time_scale(&self, k: usize) -> Option<f64> {
        asked("time_scale");
        [None, Some(0.625)][k]
    }
    fn is_affine(&self, k: usize) -> bool {
        asked("is_affine");
        k == 1
    }
    fn max_rate(&self, k: usize) -> Option<f64> {
        asked("max_rate");
        [None, Some(0.875)][k]
    }
    fn flags(&self) -> usize {
        asked("flags");
        3
    }
    fn ignores_mode(&self) -> bool {
        asked("ignores_mode");
        true
    }
    fn resets(&self) -> bool {
        asked("resets");
        true
    }
    fn writes_reset_differences(&self) -> bool {
        asked("writes_reset_differences");
        true
    }
    fn writes_row_differences(&self, k: usize, _x: &[f64], _mode: &Mode) -> bool {
        asked("writes_row_differences");
        k == 1
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let (_, crossed, x, mode) = crossing.parts();
        asked("on_crossing");
        x[0] *= -0.5 * crossed.guards()[0].rate;
        mode.set(1, true);
        Ok(())
    }
    fn reset_times(
        &self,
        _t: f64,
        crossed: &Crossed<'_>,
        _x: &[f64],
        _mode: &Mode,
        Displacement { dx, .. }: Displacement<'_>,
        out: &mut [f64],
    ) -> bool {
        asked("reset_times");
        out.copy_from_slice(&[-0.5 * crossed.guards()[0].rate * dx[0], dx[1]]);
        true
    }
    fn reset_times_each(
        &self,
        _t: f64,
        crossed: &Crossed<'_>,
        _x: &[f64],
        _mode: &Mode,
        Displacement { dx, .. }: Displacement<'_>,
        out: &mut [f64],
    ) -> bool {
        asked("reset_times_each");
        for (dx, out) in dx.chunks_exact(2).zip(out.chunks_exact_mut(2)) {
            out.copy_from_slice(&[-0.5 * crossed.guards()[0].rate * dx[0], dx[1]]);
        }
        true
    }
}

const T: f64 = 0.5;
const X: [f64; 2] = [0.75, -1.5];

/// Asks a wrapper of [`Own`] for everything, `more` state variables behind those of the model;
/// compares what it answers with the model's own answers, and gives the names of the methods asked.
fn ask(system: impl Flow + EventFunction, more: &[f64]) -> Names {
    ask_with(system, more, true)
}

/// The same of a wrapper whose resets are by differences, as those of the model, or not.
fn ask_with(system: impl Flow + EventFunction, more: &[f64], differences: bool) -> Names {
    let (mode, own) = (Mode::with(2, &[0]).with_flags(3), Own);
    let x = [&X[..], more].concat();
    let d = x.len();
    let crossed = [CrossedGuard {
        guard: Guard::rising(0),
        rate: 2.0,
    }];
    let crossed = Crossed::new(&crossed);
    let zeros = vec![0.0; more.len()];
    // Two directions of the state, one of them along what is behind it.
    let one = [&[0.5, 0.25][..], &zeros].concat();
    let two = [&one[..], &[-1.0, 0.125], &zeros].concat();
    let nan = |n: usize| vec![f64::NAN; n];
    let mut names = Names::new();
    let mut called = |name: &str| names.insert(name.to_owned());

    called("dim");
    assert_eq!(system.dim(), d);
    called("flow");
    let (mut found, mut expected) = (nan(d), [0.0; 2]);
    system.flow(T, &x, &mode, &mut found);
    own.flow(T, &X, &mode, &mut expected);
    assert_eq!(found, [&expected[..], &zeros].concat());
    called("flip");
    let back = Mode::of(&own);
    assert!(system.flip(T, &x, &back, 0, &mut found));
    own.flow(T, &X, &back, &mut expected);
    assert_eq!(found, [&expected[..], &zeros].concat());
    called("jacobian_times");
    found = nan(d);
    assert!(system.jacobian_times(T, &x, &mode, &one, &mut found));
    let along = [0.25, -0.5 - 0.125];
    assert_eq!(found, [&along[..], &zeros].concat());
    called("jacobian_times_each");
    found = nan(2 * d);
    assert!(system.jacobian_times_each(T, &x, &mode, &two, &mut found));
    let second = [0.125, 1.0 - 0.0625];
    let both = [&along[..], &zeros, &second, &zeros].concat();
    assert_eq!(found, both);
    called("validate");
    assert_eq!(system.validate(), Err(InputError::EmptySystem));
    called("flow_time_scale");
    assert_eq!(system.flow_time_scale(), Some(0.375));
    called("until_switch");
    let until = system.until_switch(T, &x, &mode, 3.0, 8);
    assert_eq!(Some(until), Some(3.0 * x[0] / T / 8.0));
    called("correct");
    let mut state = x.clone();
    assert!(system.correct(T, &mut state, &mode));
    assert_eq!(state, [&[X[0], 0.25][..], more].concat());

    called("count");
    assert_eq!(system.count(), 2);
    called("flags");
    assert_eq!(system.flags(), 3);
    called("event");
    assert_eq!(system.event(1, T, &x, &mode).to_bits(), (-2f64).to_bits());
    called("events");
    found = nan(2);
    system.events(T, &x, &mode, &mut found);
    assert_eq!(found, [0.25, -2.0]);
    called("gradient");
    found = nan(d);
    assert_eq!(system.gradient(1, T, &x, &mode, &mut found), Some(-1.0));
    assert_eq!(found, [&[0.0, 1.0][..], &zeros].concat());
    ask_what_is_said(&system, &mode, &mut called);
    called("writes_reset_differences");
    assert_eq!(system.writes_reset_differences(), differences);
    called("writes_row_differences");
    assert_eq!(system.writes_row_differences(1, &x, &mode), differences);
    called("on_crossing");
    let (mut state, mut after) = (x.clone(), mode.clone());
    let done = system.on_crossing(&mut Crossing::new(
        T,
        crossed.guards(),
        &mut state,
        &mut after,
        &mut Record::default(),
    ));
    assert_eq!(done, Ok(()));
    assert_eq!(state, [&[-X[0], X[1]][..], more].concat());
    assert!(after.contains(1));
    called("reset_times");
    found = nan(d);
    let along = Displacement { dt: 0.0, dx: &one };
    assert!(system.reset_times(T, &crossed, &x, &mode, along, &mut found));
    assert_eq!(found, [&[-0.5, 0.25][..], &zeros].concat());
    called("reset_times_each");
    found = nan(2 * d);
    let along = Displacement { dt: 0.0, dx: &two };
    assert!(system.reset_times_each(T, &crossed, &x, &mode, along, &mut found));
    let both = [&[-0.5, 0.25][..], &zeros, &[1.0, 0.125], &zeros].concat();
    assert_eq!(found, both);
    names
}

/// What is said of event functions without evaluating them.
fn ask_what_is_said(
    system: &impl EventFunction,
    mode: &Mode,
    called: &mut impl FnMut(&str) -> bool,
) {
    called("watch");
    assert_eq!(system.watch(1), Watch::FALLING.and_stop());
    called("min_rate");
    assert_eq!(system.min_rate(1), Some(1.25));
    called("event_tolerance");
    assert!((system.event_tolerance(1) - 1.125).abs() < 1e-15);
    called("crosses_within");
    assert!((system.crosses_within(1) - 1.375).abs() < 1e-15);
    called("admissible");
    assert_eq!(system.admissible(1, mode), 1.0..=2.0);
    called("time_scale");
    assert_eq!(system.time_scale(1), Some(0.625));
    called("is_affine");
    assert!(system.is_affine(1));
    called("max_rate");
    assert_eq!(system.max_rate(1), Some(0.875));
    called("ignores_mode");
    assert!(system.ignores_mode());
    called("resets");
    assert!(system.resets());
}

#[test]
fn every_wrapper_hands_every_method_on() {
    let all = all_methods();
    let parameters = [3.0, -0.5];
    let check = |wrapper: &str, ask: &dyn Fn() -> Names| {
        taken();
        assert_eq!(ask(), all, "`ask` asks for all");
        let handed_on = taken();
        let lost: Vec<_> = all.difference(&handed_on).collect();
        assert!(lost.is_empty(), "{wrapper} loses {lost:?}");
    };
    check("nothing", &|| ask(Own, &[]));
    check("&", &|| ask(&Own, &[]));
    check("Box", &|| ask(Box::new(Own), &[]));
    check("Rc", &|| ask(Rc::new(Own), &[]));
    check("Arc", &|| ask(Arc::new(Own), &[]));
    check("WithParameters", &|| {
        ask(WithParameters::new(|_| Own, &parameters), &parameters)
    });
}

/// The same model for any scalar, under `Dual`, which makes the derivatives and hands the rest on.
#[cfg(feature = "dual")]
mod dual {
    use saltation::derivative::{Dual, GuardSet, RealField, SmoothEvents, SmoothFlow, convert};

    use super::*;

    struct Smooth;

    impl SmoothFlow for Smooth {
        fn dim(&self) -> usize {
            asked("dim");
            2
        }
        fn flow<T: RealField + Copy>(&self, t: T, x: &[T], mode: &Mode, dx: &mut [T]) {
            asked("flow");
            let drag: T = convert(if mode.contains(0) { 0.5 } else { 0.0 });
            dx.copy_from_slice(&[x[1] + t, -x[0] - drag * x[1]]);
        }
        fn flip(&self, t: f64, x: &[f64], mode: &Mode, k: usize, dx: &mut [f64]) -> bool {
            Own.flip(t, x, mode, k, dx)
        }
        fn validate(&self) -> Result<(), InputError> {
            Own.validate()
        }
        fn flow_time_scale(&self) -> Option<f64> {
            Own.flow_time_scale()
        }
        fn until_switch(&self, t: f64, x: &[f64], mode: &Mode, step: f64, places: usize) -> f64 {
            Own.until_switch(t, x, mode, step, places)
        }
        fn correct(&self, t: f64, x: &mut [f64], mode: &Mode) -> bool {
            Own.correct(t, x, mode)
        }
    }

    impl SmoothEvents for Smooth {
        fn count(&self) -> usize {
            asked("count");
            2
        }
        fn event<T: RealField + Copy>(&self, k: usize, t: T, x: &[T], _mode: &Mode) -> T {
            asked("event");
            x[k] - t
        }
        fn events(&self, t: f64, x: &[f64], mode: &Mode, h: &mut [f64]) {
            Own.events(t, x, mode, h);
        }
        fn watch(&self, k: usize) -> Watch {
            Own.watch(k)
        }
        fn min_rate(&self, k: usize) -> Option<f64> {
            Own.min_rate(k)
        }
        fn event_tolerance(&self, k: usize) -> f64 {
            Own.event_tolerance(k)
        }
        fn crosses_within(&self, k: usize) -> f64 {
            Own.crosses_within(k)
        }
        fn admissible(&self, k: usize, mode: &Mode) -> RangeInclusive<f64> {
            Own.admissible(k, mode)
        }
        fn time_scale(&self, k: usize) -> Option<f64> {
            Own.time_scale(k)
        }
        fn is_affine(&self, k: usize) -> bool {
            Own.is_affine(k)
        }
        fn max_rate(&self, k: usize) -> Option<f64> {
            Own.max_rate(k)
        }
        fn flags(&self) -> usize {
            Own.flags()
        }
        fn ignores_mode(&self) -> bool {
            Own.ignores_mode()
        }
        fn resets(&self) -> bool {
            Own.resets()
        }
        fn on_crossing<T: RealField + Copy>(
            &self,
            _t: T,
            crossed: &GuardSet<'_>,
            x: &mut [T],
            mode: &mut Mode,
        ) -> Result<(), Stop> {
            asked("on_crossing");
            assert!(crossed.contains(0));
            x[0] = -x[0];
            mode.set(1, true);
            Ok(())
        }
    }

    #[test]
    fn dual_hands_every_method_on() {
        let source = include_str!("../../src/derivative/check/smooth.rs");
        let flow = methods(source, "SmoothFlow");
        let own: Names = methods(source, "SmoothEvents")
            .union(&flow)
            .cloned()
            .collect();
        taken();
        // Derivatives in dual numbers are exact.
        assert_eq!(ask_with(Dual(Smooth), &[], false), all_methods());
        let handed_on = taken();
        let lost: Vec<_> = own.difference(&handed_on).collect();
        assert!(lost.is_empty(), "{lost:?}");
        // What is new in the traits has to be there under `Dual` too, but for derivatives, which it
        // makes itself.
        let made = [
            "jacobian_times",
            "jacobian_times_each",
            "gradient",
            "reset_times",
            "reset_times_each",
            "writes_reset_differences",
            "writes_row_differences",
        ];
        let lost: Vec<_> = all_methods()
            .into_iter()
            .filter(|name| !made.contains(&&name[..]) && !own.contains(name))
            .collect();
        assert!(lost.is_empty(), "{lost:?}");
    }
}
