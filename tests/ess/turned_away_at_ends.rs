//! Guards that a clock turns away within the error, where no smooth step follows: runs that end
//! first, crossings that follow by projection, and clocks that no smooth step stops at.

use std::cell::Cell;

use saltation::{
    Arrival, Doubt, GuardCrossing, Integrator, Interrupt, Mode, Observer, Projection, Run, Start,
    Status, Stop, Watch,
};

use crate::fixtures::support::Sketch;

const W: f64 = 1.1;

/// `p'' = −w² p` on the way to the peak of `p` at `t = 1`, where clock 1 turns it back on the same
/// way. From clock 2 on it rests. Guard 0 lies `above` the peak.
fn kink(above: f64, clocks: [f64; 2], watch: [Watch; 2]) -> Sketch {
    let flow = |_: f64, x: &[f64], mode: &Mode, dx: &mut [f64]| {
        let way = match (mode.contains(1), mode.contains(2)) {
            (false, false) => 1.0,
            (true, false) => -1.0,
            _ => 0.0,
        };
        dx.copy_from_slice(&[way * x[1], -way * W * W * x[0]]);
    };
    let watch = [Watch::BOTH, watch[0], watch[1]];
    Sketch::new(2, flow).events(watch, move |k, t, x, _| match k {
        0 => x[0] - W.sin() / W - above,
        _ => t - clocks[k - 1],
    })
}

const RTOL: f64 = 1e-4;
const START: [f64; 2] = [0.0, 1.0];
/// Within the error, but farther than the run goes beyond the peak, and far from it.
const NEAR: f64 = 0.05 * RTOL;
const FAR: f64 = 300.0 * RTOL;
const BOTH: [Watch; 2] = [Watch::BOTH; 2];

fn integrator(system: Sketch) -> Integrator<Sketch> {
    let integrator = Integrator::new(system).unwrap();
    integrator.rtol(RTOL).atol(1e-3 * RTOL)
}

fn turned(doubts: &[Doubt]) -> usize {
    let from = |d: &&Doubt| matches!(d, Doubt::TurnedAway { guard, .. } if guard.event == 0);
    doubts.iter().filter(from).count()
}

/// One doubt within the error, none far from it.
fn check(what: &str, mut run: impl FnMut(f64) -> Run) {
    let near = run(NEAR);
    let near = (turned(near.doubts()), near.status(), near.doubts());
    assert_eq!(near.0, 1, "{what}: {near:?}");
    let far = run(FAR);
    assert_eq!(far.doubts(), [], "{what}, far");
}

/// Times of the second clock behind the first.
fn behind() -> impl Iterator<Item = f64> {
    (1..=40).map(|i| 1.0 + 5e-4 * f64::from(i))
}

#[test]
fn before_a_guard_that_stops_the_run() {
    check("at once", |above| {
        let clocks = kink(above, [1.0, 9.0], [Watch::BOTH.and_stop(), Watch::NONE]);
        let run = integrator(clocks)
            .integrate(&Start::at(0.0).x(&START), 2.0)
            .unwrap();
        assert!(matches!(run.status(), Status::Stopped { .. }));
        run
    });
    for last in behind() {
        check("a moment later", |above| {
            let clocks = kink(above, [1.0, last], [Watch::BOTH, Watch::BOTH.and_stop()]);
            let run = integrator(clocks)
                .integrate(&Start::at(0.0).x(&START), 2.0)
                .unwrap();
            assert!(matches!(run.status(), Status::Stopped { .. }));
            run
        });
    }
}

#[test]
fn before_the_end_of_the_run() {
    for last in std::iter::once(1.0).chain(behind()) {
        let run = integrator(kink(NEAR, [1.0, last], BOTH))
            .integrate(&Start::at(0.0).x(&START), last)
            .unwrap();
        assert_eq!(run.status(), &Status::ReachedEnd);
        assert_eq!(turned(run.doubts()), 1, "{last}: {:?}", run.doubts());
    }
}

/// Once: the next part goes on as if the run had not ended there.
#[test]
fn before_the_end_of_a_part_of_a_live_run() {
    for last in std::iter::once(1.0).chain(behind()) {
        let mut integrator = integrator(kink(NEAR, [1.0, 9.0], BOTH));
        let mut live = integrator.live(&Start::at(0.0).x(&START)).unwrap().keep();
        for end in [last, 2.0] {
            assert_eq!(live.advance(end, &[]), Ok(()));
        }
        let run = live.run().unwrap();
        assert_eq!(turned(run.doubts()), 1, "{last}: {:?}", run.doubts());
    }
}

/// Keeps doubts, and is done after so many crossings.
struct Until(usize, Vec<Doubt>);

impl Observer for Until {
    fn crossing(&mut self, _: &GuardCrossing) {
        self.0 -= 1;
    }
    fn doubt(&mut self, doubt: &Doubt) {
        self.1.push(*doubt);
    }
    fn is_done(&self) -> bool {
        self.0 == 0
    }
}

#[test]
fn before_an_observer_is_done() {
    for (crossings, above, expected) in [(1, NEAR, 1), (2, NEAR, 1), (1, FAR, 0), (2, FAR, 0)] {
        for last in behind() {
            let mut observer = Until(crossings, Vec::new());
            let summary = integrator(kink(above, [1.0, last], BOTH))
                .observe(&Start::at(0.0).x(&START), 2.0, &mut observer)
                .unwrap();
            assert_eq!(summary.status, Status::Ended);
            assert_eq!(turned(&observer.1), expected, "{crossings}, {last}");
            assert_eq!(summary.statistics.doubts, observer.1.len());
        }
    }
}

/// Keeps doubts, and sets an interrupt when it is told of a crossing.
struct Setting(Interrupt, Vec<Doubt>);

impl Observer for Setting {
    fn crossing(&mut self, _: &GuardCrossing) {
        self.0.set();
    }
    fn doubt(&mut self, doubt: &Doubt) {
        self.1.push(*doubt);
    }
}

/// A run that is interrupted within a crossing ends before it: nothing was turned away.
#[test]
fn an_interrupted_crossing_is_taken_back() {
    let interrupt = Interrupt::new();
    let (flag, first) = (interrupt.clone(), Cell::new(true));
    // The run knows the error of guard 0 then, and looks for the interrupt at the rate of a clock.
    let gradient = |k: usize, _: f64, _: &[f64], _: &Mode, dh: &mut [f64]| {
        dh.copy_from_slice(&[1.0, 0.0]);
        (k == 0).then_some(0.0)
    };
    let system = kink(NEAR, [1.0, 1.3], BOTH)
        .gradient(gradient)
        .reset(move |_, _, x, _| {
            x[1] += 1e-3;
            if first.replace(false) {
                flag.set();
            }
            Ok(())
        });
    let mut integrator = integrator(system).interrupt(&interrupt);
    let run = integrator
        .integrate(&Start::at(0.0).x(&START), 2.0)
        .unwrap();
    assert_eq!(run.status(), &Status::Refused(Stop::Interrupted));
    assert_eq!((run.crossings().len(), run.doubts()), (0, &[][..]));
    // On the guard, on the side before.
    assert!((run.t() - 1.0).abs() < 1e-12 && !run.mode().contains(1));
    for (x, exact) in run.state().iter().zip([W.sin() / W, W.cos()]) {
        assert!((x - exact).abs() < RTOL, "{x} {exact}");
    }
    // And goes on from there.
    interrupt.clear();
    let rest = integrator.integrate(&run.end(), 1.2).unwrap();
    assert_eq!(rest.crossings()[0].guard, saltation::Guard::rising(1));
}

#[test]
fn before_a_run_is_refused() {
    // Behind a crossing.
    for (above, expected) in [(NEAR, 1), (FAR, 0)] {
        let interrupt = Interrupt::new();
        let mut observer = Setting(interrupt.clone(), Vec::new());
        let mut integrator = integrator(kink(above, [1.0, 1.3], BOTH)).interrupt(&interrupt);
        let summary = integrator.observe(&Start::at(0.0).x(&START), 2.0, &mut observer);
        let summary = summary.unwrap();
        assert_eq!(summary.status, Status::Refused(Stop::Interrupted));
        assert_eq!(summary.statistics.crossings, 1);
        assert_eq!(turned(&observer.1), expected, "{:?}", observer.1);
    }
    for last in behind() {
        check("too many events", |above| {
            let mut integrator = integrator(kink(above, [1.0, last], BOTH)).max_events(1);
            let run = integrator
                .integrate(&Start::at(0.0).x(&START), 2.0)
                .unwrap();
            let Status::Refused(Stop::TooManyEvents { .. }) = run.status() else {
                panic!("{:?}", run.status());
            };
            run
        });
    }
}

#[test]
fn before_a_projection_to_the_next_crossing() {
    let mut projected = 0;
    for last in behind() {
        check("at rest from there", |above| {
            let run = integrator(kink(above, [1.0, last], BOTH))
                .integrate(&Start::at(0.0).x(&START), 2.0)
                .unwrap();
            assert_eq!(run.status(), &Status::ReachedEnd);
            projected += usize::from(run.crossings()[1].arrival == Arrival::Projected);
            run
        });
    }
    assert!(projected > 10, "{projected}");
}

#[test]
fn by_a_clock_that_a_projection_reaches_from_the_end_of_a_step() {
    let mut projected = 0;
    let settings = (0..40).map(|i| (0.12 + 0.01 * f64::from(i), Projection::Auto));
    let wide = (0..40).map(|i| (0.12 + 0.01 * f64::from(i), Projection::horizon(0.1, 3)));
    for (step, projection) in settings.chain(wide) {
        check(&format!("{step}, {projection:?}"), |above| {
            let run = integrator(kink(above, [1.0, 9.0], [Watch::BOTH, Watch::NONE]))
                .max_step(step)
                .projection(projection.clone())
                .integrate(&Start::at(0.0).x(&START), 2.0)
                .unwrap();
            assert_eq!(run.status(), &Status::ReachedEnd);
            projected += usize::from(run.crossings()[0].arrival == Arrival::Projected);
            run
        });
    }
    assert!(projected > 20, "{projected}");
}

/// The clock is less than the rounding of times behind the end of a step.
#[test]
fn by_a_clock_at_the_end_of_a_step() {
    let mut there = 0;
    for units in [1.0, 2.0, 4.0] {
        check("step", |above| {
            let clock = 1.0 + units * f64::EPSILON;
            let run = integrator(kink(above, [clock, 9.0], [Watch::BOTH, Watch::NONE]))
                .fixed_step(0.125)
                .integrate(&Start::at(0.0).x(&START), 2.0)
                .unwrap();
            there += usize::from(run.crossings()[0].arrival == Arrival::AlreadyThere);
            run
        });
    }
    assert!(there > 1, "{there}");
}
