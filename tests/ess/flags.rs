//! Flags of a model: a discrete state that is no side of anything.

use saltation::{
    Crossing, EventFunction, Flow, Guard, InputError, Integrator, Mode, NoDerivative, Start,
    Status, Stop, Watch,
};

use crate::fixtures::support::{Sketch, SplitMix64};

/// A clock that ticks at every whole second and counts in binary with its flags; `ẋ` is the count.
#[derive(Clone, Copy, Debug)]
struct Counter {
    flags: usize,
    /// What the reset makes of the flags.
    made: usize,
}

impl Flow for Counter {
    fn dim(&self) -> usize {
        2
    }
    fn flow(&self, _t: f64, _x: &[f64], mode: &Mode, dx: &mut [f64]) {
        dx[0] = mode.flags().map(|j| (j as f64).exp2()).sum();
        dx[1] = 1.0;
    }
}

impl EventFunction for Counter {
    fn count(&self) -> usize {
        1
    }
    fn flags(&self) -> usize {
        self.flags
    }
    fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[1] - 1.0
    }
    fn watch(&self, _k: usize) -> Watch {
        Watch::RISING
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let (_, _, x, mode) = crossing.parts();
        x[1] = 0.0;
        if self.made != self.flags {
            *mode = mode.clone().with_flags(self.made);
            return Ok(());
        }
        let mut carry = 0;
        while mode.flag(carry) {
            mode.set_flag(carry, false);
            carry += 1;
        }
        mode.set_flag(carry, true);
        Ok(())
    }
}

fn counter(flags: usize) -> Counter {
    let made = flags;
    Counter { flags, made }
}

#[test]
fn flags_are_kept_between_crossings_and_restored_by_the_path() {
    for flags in [4, 64, 70] {
        let mut integrator = Integrator::new(counter(flags)).unwrap();
        let run = integrator
            .integrate(&Start::at(0.0).x(&[0.0, 0.0]), 9.5)
            .unwrap();
        assert!(run.is_guaranteed(), "{:?}", run.doubts());
        // 0 + 1 + … + 8 over a second each, 9 over half of one.
        assert!((run.state()[0] - (36.0 + 4.5)).abs() < 1e-9);
        assert_eq!(run.mode().flags().collect::<Vec<_>>(), [0, 3]);
        let mode = run.mode_at(6.5).unwrap();
        assert_eq!(mode.flags().collect::<Vec<_>>(), [1, 2]);
        assert_eq!((mode.len(), mode.flag_count()), (1, flags));
        // Another run starts with all flags off, and one from there with those given.
        let again = integrator
            .integrate(&Start::at(0.0).x(&[0.0, 0.0]), 0.5)
            .unwrap();
        assert_eq!(again.mode().flags().count(), 0);
        let mut on = Integrator::new(counter(flags)).unwrap();
        let from = Start::at(9.5).x(run.state().as_slice()).mode(run.mode());
        let run = on.integrate(&from, 10.5).unwrap();
        assert!((run.state()[0] - (36.0 + 9.0 + 5.0)).abs() < 1e-9);
    }
}

#[test]
fn a_mode_with_other_flags_is_refused() {
    let refused = |name, expected, found| InputError::WrongLength {
        name,
        expected,
        found,
    };
    let start = Mode::new(1).with_flags(2);
    let mut integrator = Integrator::new(counter(3)).unwrap();
    let found = integrator
        .integrate(&Start::at(0.0).x(&[0.0, 0.0]).mode(&start), 2.0)
        .unwrap_err();
    assert_eq!(found, refused("the flags of the start mode", 3, 2));

    let system = Counter { flags: 3, made: 5 };
    let run = Integrator::new(system)
        .unwrap()
        .integrate(&Start::at(0.0).x(&[0.0, 0.0]), 2.0)
        .unwrap();
    let Status::Refused(Stop::Input(found)) = run.status() else {
        panic!("{:?}", run.status());
    };
    assert_eq!(*found, refused("the flags after a reset", 3, 5));
    assert!((run.state()[1] - 1.0).abs() < 1e-9);

    let many = Counter {
        flags: 2_000_000,
        made: 0,
    };
    let found = Integrator::new(many).unwrap_err();
    assert!(
        matches!(found, InputError::BadSetting { name: "flags", .. }),
        "{found}"
    );
}

#[test]
fn an_undeclared_flag_is_refused_by_name() {
    // A relay that keeps its state in flag 0; `flags` are declared.
    let relay = |flags: usize, on: bool| {
        let sketch = Sketch::new(1, |_, x, mode, dx| {
            dx[0] = if mode.flag(0) { -2.0 } else { 2.0 } - 0.5 * x[0];
        });
        let events = sketch.events([Watch::RISING, Watch::FALLING], |k, _, x, _| {
            if k == 0 { x[0] - 1.0 } else { x[0] + 1.0 }
        });
        let system = events.reset(move |_, crossed, _, mode| {
            mode.set_flag(0, crossed.contains(0) == on);
            Ok(())
        });
        system.flags(flags)
    };
    let run = |flags, on| {
        let mut integrator = Integrator::new(relay(flags, on)).unwrap();
        integrator
            .integrate(&Start::at(0.0).x(&[0.0]), 10.0)
            .unwrap()
    };
    let declared = run(1, true);
    assert_eq!(*declared.status(), Status::ReachedEnd);
    assert!(declared.crossings().len() > 5);
    // x reaches 1 at −2 ln(1 − 1/4); setting it off is dropped too.
    for on in [true, false] {
        let run = run(0, on);
        let Status::Refused(Stop::UndeclaredFlag { flag, count, at }) = run.status() else {
            panic!("{:?}", run.status());
        };
        assert_eq!((*flag, *count, &at.mode), (0, 0, &Mode::with(2, &[0, 1])));
        assert!((at.t + 2.0 * 0.75f64.ln()).abs() < 1e-6, "{}", at.t);
        let words = run.status().to_string();
        assert!(words.contains("sets flag 0") && words.contains("EventFunction::flags"));
    }
    // Nor may a start mode have lost one.
    let mut start = Mode::with(2, &[1]);
    start.set_flag(0, true);
    let mut integrator = Integrator::new(relay(0, true)).unwrap();
    let (what, index, count) = ("flag", 0, 0);
    let refused = integrator
        .integrate(&Start::at(0.0).x(&[0.0]).mode(&start), 1.0)
        .unwrap_err();
    assert_eq!(refused, InputError::NoSuch { what, index, count });
}

/// Two guards that are met together; a flag remembers which was first where they are met one after
/// the other, and the field behind them depends on it.
struct Memory;

impl Flow for Memory {
    fn dim(&self) -> usize {
        3
    }
    fn flow(&self, _t: f64, _x: &[f64], mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&[1.0, 1.0, if mode.flag(0) { 2.0 } else { 1.0 }]);
    }
}

impl EventFunction for Memory {
    fn count(&self) -> usize {
        2
    }
    fn flags(&self) -> usize {
        1
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[k] - 1.0
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let (_, crossed, _, mode) = crossing.parts();
        if crossed.contains(0) && !mode.contains(1) {
            mode.set_flag(0, true);
        }
        Ok(())
    }
}

#[test]
fn orders_that_leave_other_flags_meet_in_no_node() {
    let derivative = Integrator::new(Memory)
        .unwrap()
        .derivative(&Start::at(0.0).x(&[0.0, 0.0, 0.0]), 2.0)
        .unwrap();
    // The third state is 2 or 3 at the end, whichever is first: no derivative.
    let found = derivative
        .apply(&[1.0, 0.0, 0.0])
        .err()
        .or(derivative.apply(&[0.0, 1.0, 0.0]).err());
    assert!(
        matches!(found, Some(NoDerivative::Discontinuous { .. })),
        "{found:?}"
    );
    // Where they are met one after the other there is one.
    let derivative = Integrator::new(Memory)
        .unwrap()
        .derivative(&Start::at(0.0).x(&[0.5, 0.0, 0.0]), 2.0)
        .unwrap();
    let matrix = derivative.matrix().unwrap();
    assert!((matrix[(2, 0)] - 1.0).abs() < 1e-9, "{matrix}");
}

/// Levels that `x' = 1 + x/10` meets one after the other: each crossing sets one more flag, and the flags say which
/// level is the next. Several guards have the surface of the next level, and cross together.
#[derive(Clone, Debug)]
struct Ladder {
    levels: Vec<f64>,
    guards: usize,
    watch: Watch,
    /// By how much a level is lower for a guard that is crossed.
    hysteresis: f64,
}

impl Flow for Ladder {
    fn dim(&self) -> usize {
        1
    }
    fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx[0] = 1.0 + 0.1 * x[0];
    }
}

impl EventFunction for Ladder {
    fn count(&self) -> usize {
        self.guards
    }
    fn flags(&self) -> usize {
        self.levels.len()
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], mode: &Mode) -> f64 {
        let passed = mode.flags().count();
        let level = self.levels.get(passed).copied().unwrap_or(1e3);
        let own = if mode.contains(k) {
            self.hysteresis
        } else {
            0.0
        };
        x[0] - level + own
    }
    fn watch(&self, _k: usize) -> Watch {
        self.watch
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let rises =
            (crossing.crossed.guards().iter()).any(|c| c.guard == Guard::rising(c.guard.event));
        let passed = crossing.mode.flags().count();
        if rises && passed < self.levels.len() {
            crossing.mode.set_flag(passed, true);
        }
        Ok(())
    }
}

/// A guard whose level its own reset moves on, by a flag, lies before its surface again: it has gone back over it as
/// where a reset moves the state. By its own side alone it has not: that is a hysteresis.
#[test]
fn levels_that_rise_by_flags_are_met_one_after_the_other() {
    for seed in 0..300 {
        let mut draw = SplitMix64(seed);
        let mut level = 0.2;
        let mut next = || {
            level += draw.between(0.05, 0.5);
            level
        };
        let levels: Vec<f64> = (0..=seed % 4).map(|_| next()).collect();
        for (guards, watch) in [
            (1, Watch::RISING),
            (1, Watch::BOTH),
            (3, Watch::RISING),
            (2, Watch::BOTH),
        ] {
            for hysteresis in [0.0, 1e-3] {
                let ladder = Ladder {
                    levels: levels.clone(),
                    guards,
                    watch,
                    hysteresis,
                };
                let what = format!("{seed}: {ladder:?}");
                let tf = 10.0 * (0.1 * (level + 0.1)).ln_1p();
                let mut integrator = Integrator::new(ladder).expect("a system");
                let found = integrator
                    .derivative(&Start::at(0.0).x(&[0.0]), tf)
                    .expect("input");
                let run = found.run();
                assert_eq!(*run.status(), Status::ReachedEnd, "{what}");
                for k in 0..guards {
                    let times = run
                        .crossings_of(Guard::rising(k))
                        .map(|c| c.t)
                        .collect::<Vec<_>>();
                    assert_eq!(times.len(), levels.len(), "{what}");
                    for (t, level) in times.iter().zip(&levels) {
                        let exact = 10.0 * (0.1 * level).ln_1p();
                        assert!((t - exact).abs() < 1e-5, "{what}: {t} {exact}");
                    }
                    let falls = run.crossings_of(Guard::falling(k)).count();
                    let seen = if watch == Watch::BOTH {
                        levels.len()
                    } else {
                        0
                    };
                    assert_eq!(falls, seen, "{what}");
                }
                // Nothing but flags changes at the levels.
                let along = found
                    .apply(&[1.0])
                    .unwrap_or_else(|why| panic!("{what}: {why:?}"));
                assert!(
                    (along[0] - (0.1 * tf).exp()).abs() < 1e-5,
                    "{what}: {along}"
                );
            }
        }
    }
}
