//! What a reset leaves behind: guards that slide are refused as before it, orders and ends that the error of a run
//! hides are told.

use saltation::{
    Crossing, Doubt, EventFunction, Flow, Integrator, Mode, Projection, Run, Start, Status, Stop,
    Watch,
};

use crate::fixtures::support::{Sketch, SplitMix64};

/// `x₀` slides along one from `t = 1` on, `x₁` is a clock that guard 0 may set back before.
struct Slides {
    ignores_mode: bool,
}

impl Flow for Slides {
    fn dim(&self) -> usize {
        2
    }
    fn flow(&self, t: f64, _x: &[f64], mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&[if mode.contains(1) { t - 1.3 } else { 1.0 }, 1.0]);
    }
}

impl EventFunction for Slides {
    fn count(&self) -> usize {
        2
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        [x[1] - 0.3, x[0] - 1.0][k]
    }
    fn watch(&self, k: usize) -> Watch {
        [Watch::RISING, Watch::BOTH][k]
    }
    fn ignores_mode(&self) -> bool {
        self.ignores_mode
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        if crossing.crossed.contains(0) {
            crossing.x[1] = -9.0;
        }
        Ok(())
    }
}

#[test]
fn a_guard_that_slides_is_refused_behind_a_reset_too() {
    for ignores_mode in [false, true] {
        let mut integrator = Integrator::new(Slides { ignores_mode }).unwrap();
        // With the reset before, in the run before, and without.
        for clock in [0.0, -9.0, 0.0, -9.0] {
            let run = integrator
                .integrate(&Start::at(0.0).x(&[0.0, clock]), 2.0)
                .unwrap();
            let is_refused = matches!(run.status(), Status::Refused(Stop::NotLive { .. }));
            assert!(is_refused, "{ignores_mode} {clock}: {}", run.status());
            assert!((run.t() - 1.0).abs() < 1e-9);
        }
    }
}

/// `x₀' = x₀` and `x₁' = 1` cross one at once but for their errors; each throws itself back by `own`, and the other by
/// `other`.
struct Throws {
    own: [f64; 2],
    other: [f64; 2],
}

impl Flow for Throws {
    fn dim(&self) -> usize {
        2
    }
    fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&[x[0], 1.0]);
    }
}

impl EventFunction for Throws {
    fn count(&self) -> usize {
        2
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[k] - 1.0
    }
    fn watch(&self, _k: usize) -> Watch {
        Watch::RISING
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        for k in [0, 1] {
            if crossing.crossed.contains(k) {
                crossing.x[1 - k] += self.other[k];
                crossing.x[k] -= self.own[k];
            }
        }
        Ok(())
    }
}

/// Told where the reset of one moves the other, back or across, whichever the run crossed first; not where it leaves
/// it alone, nor where the tolerance shows the order.
#[test]
fn an_order_of_resets_that_the_error_hides_is_told_where_it_matters() {
    let both = [0.7; 2];
    let alike = [-0.2, 0.3, 0.0].map(|other| (both, [other; 2]));
    let one_way = [([0.0, 0.7], [0.0, -0.2]), ([0.7, 0.0], [-0.2, 0.0])];
    for (own, other) in alike.into_iter().chain(one_way) {
        for rtol in [1e-4, 1e-6, 1e-8] {
            for side in [-1.0, 1.0] {
                for (part, is_hidden) in [(1e-3, true), (1e3, false)] {
                    // The first reaches one at t = 1, the second as much earlier or later.
                    let start = [(-1.0f64).exp(), side * part * rtol];
                    let run = Integrator::new(Throws { own, other })
                        .unwrap()
                        .rtol(rtol)
                        .integrate(&Start::at(0.0).x(&start), 1.15)
                        .unwrap();
                    let is_told = has_order(&run);
                    let expected = is_hidden && other.iter().any(|by| by.abs() > 0.0);
                    assert_eq!(is_told, expected, "{own:?} {other:?} {rtol} {side} {part}");
                }
            }
        }
    }
}

fn has_order(run: &Run) -> bool {
    let is_order = |doubt: &Doubt| matches!(doubt, Doubt::Order { .. });
    run.doubts().iter().any(is_order)
}

/// `x' = −x` falls through `1/e` about where the run ends, and is thrown to two there.
struct Thrown;

impl Flow for Thrown {
    fn dim(&self) -> usize {
        1
    }
    fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx[0] = -x[0];
    }
}

impl EventFunction for Thrown {
    fn count(&self) -> usize {
        1
    }
    fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[0] - (-1.0f64).exp()
    }
    fn watch(&self, _k: usize) -> Watch {
        Watch::FALLING
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        crossing.x[0] = 2.0;
        Ok(())
    }
}

#[test]
fn a_crossing_that_the_error_may_put_behind_the_end_is_told() {
    let mut told = 0;
    for rtol in [1e-4, 1e-5, 1e-6, 1e-7, 1e-8] {
        for part in [-1e3, -0.2, -0.1, -0.05, -0.02, -1e-2, -1e-3, 1e3] {
            let start = [1.0 + part * rtol];
            let run = Integrator::new(Thrown)
                .unwrap()
                .rtol(rtol)
                .integrate(&Start::at(0.0).x(&start), 1.0)
                .unwrap();
            let is_end = |doubt: &Doubt| matches!(doubt, Doubt::AtEnd { .. });
            let is_told = run.doubts().iter().any(is_end);
            let Some(crossing) = run.crossings().last() else {
                continue;
            };
            let part_of_error = (1.0 - crossing.t) / crossing.time_error;
            if !(0.9..1.1).contains(&part_of_error) {
                assert_eq!(
                    is_told,
                    part_of_error < 1.0,
                    "{rtol} {part} {part_of_error}"
                );
                told += usize::from(is_told);
            }
        }
    }
    assert!(told > 0);
}

/// Guard 0 is crossed at `x₀ = 1`. On its far side guard 1 falls by `drop` and guard 2 rises across; on the far side of
/// that guard 1 is put back.
struct PutBack {
    drop: f64,
    back: f64,
}

impl Flow for PutBack {
    fn dim(&self) -> usize {
        2
    }
    fn flow(&self, _t: f64, _x: &[f64], mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&[1.0, if mode.contains(1) { 1.0 } else { -1.0 }]);
    }
}

impl EventFunction for PutBack {
    fn count(&self) -> usize {
        3
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], mode: &Mode) -> f64 {
        let on = |k: usize, by: f64| if mode.contains(k) { by } else { 0.0 };
        match k {
            0 => x[0] - 1.0,
            1 => 0.4 - 0.05 * x[0] - on(0, self.drop) + on(2, self.back),
            _ => -0.5 + 0.01 * x[0] + on(0, 1.0),
        }
    }
}

/// Of guards that jump together one may be put back by the side of another: it crosses again, at the same instant.
#[test]
fn a_guard_that_another_of_its_set_puts_back_crosses_back() {
    for (drop, back) in [(0.8, 0.8), (0.8, 0.1), (0.8, 0.6), (0.36, 0.5), (0.2, 0.1)] {
        let mode = Mode::with(3, &[1]);
        let run = Integrator::new(PutBack { drop, back })
            .unwrap()
            .integrate(&Start::at(0.0).x(&[0.5, 0.0]).mode(&mode), 2.0)
            .unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd);
        // Behind it a guard is on the side that its value says.
        let at_crossing = 0.35;
        let falls = at_crossing - drop < 0.0;
        let is_above = at_crossing - drop + back > 0.0;
        let expected = if is_above { 2.0 } else { 0.5 - 1.5 };
        assert_eq!(run.mode().contains(1), is_above, "{drop} {back}");
        assert!(
            (run.state()[1] - expected).abs() < 1e-9,
            "{drop} {back}: {}",
            run.state()
        );
        let crossings = run.crossings().iter().filter(|c| c.guard.event == 1);
        let count = usize::from(falls) * (1 + usize::from(is_above));
        assert_eq!(crossings.count(), count, "{drop} {back}");
    }
}

/// At `t = 1` a reset puts `x₀` at `off + x₁ − e`, with `x₁' = x₁`; then `x₀` rises. Guard 1 is its zero.
struct Lands {
    off: f64,
}

impl Flow for Lands {
    fn dim(&self) -> usize {
        3
    }
    fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&[1.0, x[1], 1.0]);
    }
}

impl EventFunction for Lands {
    fn count(&self) -> usize {
        2
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        [x[2] - 1.0, x[0]][k]
    }
    fn watch(&self, k: usize) -> Watch {
        [Watch::RISING, Watch::BOTH][k]
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        if crossing.crossed.contains(0) {
            crossing.x[0] = self.off + crossing.x[1] - std::f64::consts::E;
        }
        Ok(())
    }
}

/// Behind the surface guard 1 is crossed there and back; before it, which the error of `x₁` may hide, it is not.
#[test]
fn a_reset_that_lands_within_its_error_of_a_guard_is_told() {
    let mut wrong = 0;
    for seed in 0..300 {
        let mut draw = SplitMix64(seed);
        let tolerance = 10f64.powf(draw.between(-9.0, -3.0));
        let off = tolerance * draw.between(-1.0, 1.0) * 10f64.powf(draw.between(-3.0, 3.0));
        let integrator = Integrator::new(Lands { off }).unwrap();
        let run = integrator
            .rtol(tolerance)
            .atol(tolerance)
            .integrate(&Start::at(0.0).x(&[0.5, 1.0, 0.0]), 2.0)
            .unwrap();
        let crossings = run.crossings().len();
        let expected = if off < 0.0 { 3 } else { 1 };
        if crossings != expected {
            wrong += 1;
            assert!(!run.is_guaranteed(), "{seed} {off:e}");
        }
        if off.abs() > 100.0 * tolerance {
            assert!(run.is_guaranteed(), "{seed} {off:e}");
            assert_eq!(crossings, expected, "{seed} {off:e}");
        }
    }
    assert!(wrong > 5, "{wrong}");
}

/// Guards that only resets move are crossed when these are: with the error of their time.
#[test]
fn a_guard_that_a_reset_carries_across_has_the_time_of_that() {
    // A counter in binary: the first digit changes at each tick, the next when it falls.
    let clock = Sketch::new(4, |_, _, _, dx| {
        dx.copy_from_slice(&[0.0, 0.0, 0.0, 1.0]);
    });
    let counter = clock
        .events(
            [
                Watch::FALLING,
                Watch::FALLING,
                Watch::FALLING,
                Watch::RISING,
            ],
            |k, _, x, _| x[k] - if k == 3 { 1.0 } else { 0.0 },
        )
        .reset(|_, crossed, x, _| {
            for k in crossed.events() {
                if k == 3 {
                    (x[3], x[0]) = (0.0, -x[0]);
                } else if k < 2 {
                    x[k + 1] = -x[k + 1];
                }
            }
            Ok(())
        });
    let mut integrator = Integrator::new(&counter).unwrap();
    let run = integrator
        .integrate(&Start::at(0.0).x(&[-1.0, -1.0, -1.0, 0.0]), 8.5)
        .unwrap();
    assert!(run.is_guaranteed(), "{:?}", run.doubts());
    assert_eq!(run.state().as_slice()[..3], [-1.0; 3]);
    for crossing in run.crossings() {
        assert!(crossing.time_error < 1e-4, "{crossing:?}");
    }
}

/// Found beyond its surface, where it is fast again, it would be crossed late.
#[test]
fn a_crossing_at_rate_zero_is_refused_wherever_steps_end() {
    for seed in 0..200 {
        let root = SplitMix64(seed).between(0.05, 0.95);
        for power in [3, 5] {
            let model = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0);
            let model = model.events([Watch::RISING], move |_, _, x, _| (x[0] - root).powi(power));
            let mut integrator = Integrator::new(&model).unwrap();
            let run = integrator
                .integrate(&Start::at(0.0).x(&[0.0]), 1.0)
                .unwrap();
            let is_refused = matches!(run.status(), Status::Refused(Stop::NotLive { .. }));
            assert!(is_refused, "{seed} {power}: {}", run.status());
        }
    }
}

/// A projection misses its guard by a residual. Its reset throws another one across, which turns the motion back: the
/// first is left again, on whichever side of its surface the state is.
#[test]
fn a_guard_that_was_projected_onto_is_left_again_when_a_reset_turns_the_motion() {
    for seed in 0..200 {
        let mut draw = SplitMix64(seed);
        let gravity = draw.between(0.5, 10.0);
        let drag = draw.between(-0.3, 0.3);
        // `x₃` is the time that guard 0 is crossed for.
        let pendulum = Sketch::new(4, move |_, x, mode, dx| {
            let on = if mode.contains(0) { 1.0 } else { 0.0 };
            dx.copy_from_slice(&[x[1], gravity + drag * x[1] * x[1], 0.0, on]);
        });
        let pendulum = pendulum
            .events([Watch::RISING; 2], |k, _, x, _| [x[0] - 1.0, x[2] - 0.5][k])
            .reset(|_, crossed, x, _| {
                if crossed.contains(0) {
                    x[2] = 1.0;
                }
                if crossed.contains(1) {
                    (x[1], x[2]) = (-0.9 * x[1], 0.0);
                }
                Ok(())
            });
        let start = [draw.between(-1.0, 0.5), draw.between(-1.0, 1.0), 0.0, 0.0];
        let reach = 10f64.powf(draw.between(-5.0, -1.0));
        let order = 1 + (seed % 4) as u8;
        for projection in [
            Projection::horizon(reach, order),
            Projection::eps(reach, order),
        ] {
            let run = Integrator::new(&pendulum)
                .unwrap()
                .projection(projection)
                .integrate(&Start::at(0.0).x(&start), 1.5)
                .unwrap()
                .completed()
                .unwrap();
            assert!(!run.mode().contains(0), "{seed}");
            assert!(run.state()[3] < 1e-9, "{seed}: {}", run.state()[3]);
        }
    }
}

/// Clocks `x₀` and `x₁` at their rates, each set back at its own alarm; the other one is too, where they are `coupled`.
struct Clocks {
    rates: [f64; 2],
    alarms: [f64; 2],
    coupled: bool,
}

impl Flow for Clocks {
    fn dim(&self) -> usize {
        2
    }
    fn flow(&self, _t: f64, _x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&self.rates);
    }
}

impl EventFunction for Clocks {
    fn count(&self) -> usize {
        2
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[k] - self.rates[k] * self.alarms[k]
    }
    fn watch(&self, _k: usize) -> Watch {
        Watch::RISING
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let Crossing { crossed, x, .. } = crossing;
        for k in crossed.events() {
            x[k] = 0.0;
            if self.coupled {
                x[1 - k] -= 1e-3 * self.rates[1 - k];
            }
        }
        Ok(())
    }
}

#[test]
fn rates_by_differences_do_not_couple_clocks() {
    let (mut apart, mut told) = (0, 0);
    for seed in 0..300 {
        let mut draw = SplitMix64(seed);
        let rates = [(); 2].map(|()| 10f64.powf(draw.between(-3.0, 3.0)));
        let first = draw.between(0.1, 0.9);
        let alarms = [first, first + 10f64.powf(draw.between(-12.0, -7.0))];
        for coupled in [false, true] {
            let clocks = Clocks {
                rates,
                alarms,
                coupled,
            };
            let run = Integrator::new(clocks)
                .unwrap()
                .integrate(&Start::at(0.0).x(&[0.0; 2]), 1.0)
                .unwrap();
            let is_order = |doubt: &&Doubt| matches!(doubt, Doubt::Order { .. });
            let orders = run.doubts().iter().filter(is_order).count();
            if coupled {
                told += orders.min(1);
            } else {
                assert_eq!(orders, 0, "{seed} {rates:?} {alarms:?}: {:?}", run.doubts());
                apart += 1;
            }
        }
    }
    assert_eq!(apart, 300);
    // The error hides which clock was first in about as many as these of them.
    assert!(told > 60, "{told}");
}
