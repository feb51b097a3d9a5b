//! Guards that the crossing of another one turns the motion away from: where the error hides which
//! comes first, runs say so.

use saltation::{Doubt, EventFunction, Flow, Integrator, Mode, Run, Start, Status, Watch};

/// `p'' = −w² p` on the way to the peak of `p` at `t = 1`, where a clock turns it back on the same
/// way. The other guard lies `below` the peak, which is `sin(w)/w` exactly.
struct Kink {
    w: f64,
    below: f64,
}

impl Flow for Kink {
    fn dim(&self) -> usize {
        2
    }
    fn flow(&self, _t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let way = if mode.contains(1) { -1.0 } else { 1.0 };
        dx.copy_from_slice(&[way * x[1], -way * self.w * self.w * x[0]]);
    }
}

impl EventFunction for Kink {
    fn count(&self) -> usize {
        2
    }
    fn event(&self, k: usize, t: f64, x: &[f64], _mode: &Mode) -> f64 {
        match k {
            0 => x[0] - (self.w.sin() / self.w - self.below),
            _ => t - 1.0,
        }
    }
}

fn run<S: Flow + EventFunction>(system: S, x0: &[f64], tf: f64, rtol: f64) -> Run {
    Integrator::new(system)
        .unwrap()
        .rtol(rtol)
        .atol(1e-3 * rtol)
        .integrate(&Start::at(0.0).x(x0), tf)
        .unwrap()
}

fn is_turned_away(run: &Run, k: usize) -> bool {
    let from = |d: &Doubt| matches!(d, Doubt::TurnedAway { guard, .. } if guard.event == k);
    run.doubts().iter().any(from)
}

#[test]
fn a_guard_that_a_clock_turns_away_within_the_error_is_not_lost_in_silence() {
    let (mut wrong, mut turned) = (0, 0);
    for rtol in [1e-3, 1e-4, 1e-5, 1e-6, 1e-8] {
        for w in [0.3, 0.7, 1.1, 1.4] {
            for part in [3.0, 1.0, 0.3, 0.1, 0.03, 0.01, -0.01, -0.03, -0.1, -1.0] {
                let below = 0.1 * rtol * part;
                let run = run(Kink { w, below }, &[0.0, 1.0], 2.0, rtol);
                assert_eq!(run.status(), &Status::ReachedEnd);
                let found = run.crossings().iter().filter(|c| c.guard.event == 0);
                let expected = if below > 0.0 { 2 } else { 0 };
                if found.count() != expected {
                    wrong += 1;
                    assert!(!run.is_guaranteed(), "rtol {rtol:e}, w {w}, {below:e}");
                }
                turned += usize::from(is_turned_away(&run, 0));
            }
        }
    }
    assert!(wrong > 10 && turned > 10, "{wrong} wrong, {turned} told");
}

#[test]
fn a_guard_that_a_clock_turns_away_far_from_it_is_not_doubted() {
    for rtol in [1e-4, 1e-6, 1e-8] {
        for below in [-300.0 * rtol, 300.0 * rtol] {
            let run = run(Kink { w: 0.7, below }, &[0.0, 1.0], 2.0, rtol);
            assert!(run.is_guaranteed(), "{:?}", run.doubts());
        }
    }
}

/// A [`Kink`] that ends at `last`, beyond which its third event function has no values.
struct Ending(Kink, f64);

impl Flow for Ending {
    fn dim(&self) -> usize {
        2
    }
    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        self.0.flow(t, x, mode, dx);
    }
}

impl EventFunction for Ending {
    fn count(&self) -> usize {
        3
    }
    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        match k {
            2 => (self.1 - t).sqrt() - 0.03,
            _ => self.0.event(k, t, x, mode),
        }
    }
    fn watch(&self, k: usize) -> Watch {
        if k == 2 {
            Watch::FALLING.and_stop()
        } else {
            Watch::BOTH
        }
    }
}

/// The step behind the clock is too long for the third guard and is taken back.
#[test]
fn a_guard_that_is_turned_away_before_a_step_that_is_taken_back_is_told() {
    let mut shortened = 0;
    for i in 0..100 {
        let kink = Kink {
            w: 1.1,
            below: -1e-6,
        };
        let run = run(
            Ending(kink, 1.02 + 0.01 * f64::from(i)),
            &[0.0, 1.0],
            9.0,
            1e-4,
        );
        assert!(matches!(run.status(), Status::Stopped { .. }));
        assert!(is_turned_away(&run, 0), "{i}: {:?}", run.doubts());
        shortened += run.statistics().rejections;
    }
    assert!(shortened > 100, "{shortened}");
}

/// `p'' = −w² p`, `y' = 1` until guard 0 is crossed, `early` before `t = 1` exactly; `y' = −1` from
/// there. Guard 1 is at `y = 1`: where it is crossed first, `y' = 1` for good.
struct Race {
    w: f64,
    early: f64,
}

impl Flow for Race {
    fn dim(&self) -> usize {
        3
    }
    fn flow(&self, _t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let back = mode.contains(0) && !mode.contains(1);
        dx.copy_from_slice(&[x[1], -self.w * self.w * x[0], if back { -1.0 } else { 1.0 }]);
    }
}

impl EventFunction for Race {
    fn count(&self) -> usize {
        2
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        match k {
            0 => x[0] - (self.w * (1.0 - self.early)).sin() / self.w,
            _ => x[2] - 1.0,
        }
    }
}

#[test]
fn an_order_within_the_error_that_turns_a_guard_away_is_said() {
    let mut wrong = 0;
    for rtol in [1e-3, 1e-4, 1e-6, 1e-8, 1e-10] {
        for w in [0.5, 0.9, 1.2, 1.4] {
            for part in [1.0, 0.1, 0.01, -0.01, -0.1] {
                let early = 0.1 * rtol * part;
                let run = run(Race { w, early }, &[0.0, 1.0, 0.0], 1.2, rtol);
                let expected = if early > 0.0 { 0.8 - 2.0 * early } else { 1.2 };
                if (run.state()[2] - expected).abs() > 0.1 {
                    wrong += 1;
                    let named = is_turned_away(&run, 1);
                    assert!(
                        named && !run.is_guaranteed(),
                        "rtol {rtol:e}, w {w}, {early:e}"
                    );
                }
            }
        }
    }
    assert!(wrong > 10, "{wrong}");
}

/// As [`Race`], with two guards at `y = 1`, which are crossed at one instant.
struct Pair(Race);

impl Flow for Pair {
    fn dim(&self) -> usize {
        3
    }
    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        self.0.flow(t, x, mode, dx);
    }
}

impl EventFunction for Pair {
    fn count(&self) -> usize {
        3
    }
    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        self.0.event(k.min(1), t, x, mode)
    }
}

#[test]
fn an_order_within_the_error_that_turns_two_guards_away_is_said() {
    let mut wrong = 0;
    for rtol in [1e-4, 1e-6, 1e-8] {
        for w in [0.5, 0.9, 1.2, 1.4] {
            for part in [1.0, 0.1, 0.01] {
                let early = 0.1 * rtol * part;
                let run = run(Pair(Race { w, early }), &[0.0, 1.0, 0.0], 1.2, rtol);
                if (run.state()[2] - 0.8 + 2.0 * early).abs() > 0.1 {
                    wrong += 1;
                    let named = is_turned_away(&run, 1) && is_turned_away(&run, 2);
                    assert!(
                        named && !run.is_guaranteed(),
                        "rtol {rtol:e}, w {w}, {early:e}"
                    );
                }
            }
        }
    }
    assert!(wrong > 3, "{wrong}");
}

#[test]
fn an_order_far_from_the_error_is_not_doubted() {
    for rtol in [1e-4, 1e-6, 1e-8] {
        for early in [-300.0 * rtol, 300.0 * rtol] {
            let run = run(Race { w: 0.9, early }, &[0.0, 1.0, 0.0], 1.2, rtol);
            assert!(run.is_guaranteed(), "{:?}", run.doubts());
        }
    }
}
