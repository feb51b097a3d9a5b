//! A run that is interrupted and goes on is the uninterrupted run, bit by bit.

use saltation::event_driven::Zeno;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::BouncingBall;
use saltation::{
    ContactModel, Doubt, Driver, EventDriven, Interrupt, Mode, Observer, Run, Segment, Start, Stop,
};

use super::fixtures::{Case, bits, cases, uncut};

/// Sets an interrupt behind so many segments.
struct Interrupting<'a> {
    left: usize,
    interrupt: &'a Interrupt,
}

impl Observer for Interrupting<'_> {
    fn segment(&mut self, _: &Segment<'_>) {
        self.left = self.left.saturating_sub(1);
        if self.left == 0 {
            self.interrupt.set();
        }
    }
}

#[test]
fn an_interrupted_run_goes_on_to_the_same_bits() {
    for case in cases() {
        let whole = uncut(&case);
        let segments = whole.times().len();
        for at in (1..segments).step_by((segments / 10).max(1)) {
            let interrupt = Interrupt::new();
            let mut driver = (case.driver)(&interrupt);
            let mut live = driver.live(&case.start()).unwrap();
            let mut observer = Interrupting {
                left: at,
                interrupt: &interrupt,
            };
            let ended = live.observe(case.tf, &[], &mut observer);
            if ended.is_ok() {
                // It was at its end.
                assert_eq!(live.state(), whole.state().as_slice());
                continue;
            }
            assert_eq!(ended, Err(Stop::Interrupted), "{}", case.name);
            interrupt.clear();
            let context = format!("{}, interrupted behind segment {at}", case.name);
            assert_eq!(live.advance(case.tf, &[]), Ok(()), "{context}");
            assert_eq!(live.state(), whole.state().as_slice(), "{context}");
            assert_eq!(live.mode(), whole.mode(), "{context}");
        }
    }
}

/// However often it is interrupted: each node and each event once.
#[test]
fn a_run_that_is_interrupted_again_and_again_is_kept_as_the_uncut_run() {
    for case in cases() {
        let whole = uncut(&case);
        for every in [1, 2, 5] {
            let interrupt = Interrupt::new();
            let mut driver = (case.driver)(&interrupt);
            let kept = kept(&mut *driver, &interrupt, &case.start(), case.tf, every);
            let what = format!("{}, interrupted every {every} segments", case.name);
            assert_eq!(bits(&kept), bits(&whole), "{what}");
        }
    }
}

/// Counts doubts; sets an interrupt behind so many segments.
struct Doubting<'a> {
    doubts: usize,
    interrupting: Interrupting<'a>,
}

impl Observer for Doubting<'_> {
    fn segment(&mut self, segment: &Segment<'_>) {
        self.interrupting.segment(segment);
    }
    fn doubt(&mut self, _: &Doubt) {
        self.doubts += 1;
    }
}

/// A part of a live run to `t` and then the rest, with interrupts behind every so many segments: its doubts, and where it
/// stood.
fn in_two_parts(case: &Case, t: f64, every: usize) -> (usize, Vec<Vec<f64>>, Vec<Mode>) {
    let interrupt = Interrupt::new();
    let mut driver = (case.driver)(&interrupt);
    let mut live = driver.live(&case.start()).unwrap();
    let mut observer = Doubting {
        doubts: 0,
        interrupting: Interrupting {
            left: every,
            interrupt: &interrupt,
        },
    };
    let (mut states, mut modes) = (Vec::new(), Vec::new());
    for end in [t, case.tf] {
        while let Err(stop) = live.observe(end, &[], &mut observer) {
            assert!(stop == Stop::Interrupted && live.t() <= end, "{stop}");
            interrupt.clear();
            observer.interrupting.left = every;
        }
        states.push(live.state().to_vec());
        modes.push(live.mode().clone());
    }
    (observer.doubts, states, modes)
}

/// It has its event, and its doubts, wherever it is interrupted: also at its end, before the event that is there.
#[test]
fn a_part_that_ends_at_an_event_is_the_uninterrupted_part() {
    let mut compared = 0;
    for case in cases().into_iter().filter(|case| case.step.is_none()) {
        let whole = uncut(&case);
        let crossings = whole.crossings().iter().map(|crossing| crossing.t);
        let events = whole.events().iter().map(|event| event.t);
        let mut times: Vec<f64> = crossings.chain(events).filter(|&t| t > 0.0).collect();
        times.dedup();
        let every = (times.len() / 3).max(1);
        for at in times.into_iter().step_by(every) {
            for t in [at.next_down(), at, at.next_up()] {
                let uncut = in_two_parts(&case, t, usize::MAX);
                for every in [1, 2, 3] {
                    let cut = in_two_parts(&case, t, every);
                    assert_eq!(cut, uncut, "{} to {t}, cut every {every}", case.name);
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 100, "{compared}");
}

/// The shortest times that there are.
#[test]
fn parts_of_hardly_any_length_are_parts() {
    for case in cases() {
        let mut driver = (case.driver)(&Interrupt::new());
        let mut live = driver.live(&case.start()).unwrap();
        for t in [5e-324, 1e-322, 1e-310, f64::MIN_POSITIVE, 1e-300] {
            assert_eq!(live.advance(t, &[]), Ok(()), "{} {t:e}", case.name);
            // Of steps of one length none has ended.
            let at = if case.step.is_some() { 0.0 } else { t };
            assert_eq!(live.t(), at, "{} {t:e}", case.name);
        }
    }
}

/// The run that is kept of a driver that is interrupted behind every so many segments.
fn kept(
    driver: &mut dyn Driver,
    interrupt: &Interrupt,
    start: &Start<'_>,
    tf: f64,
    every: usize,
) -> Run {
    let mut live = driver.live(start).unwrap().keep();
    // Each segment is made within so many interrupts.
    for _ in 0..100_000 {
        let mut observer = Interrupting {
            left: every,
            interrupt,
        };
        match live.observe(tf, &[], &mut observer) {
            Err(Stop::Interrupted) => interrupt.clear(),
            ended => {
                assert_eq!(ended, Ok(()));
                break;
            }
        }
    }
    live.run().unwrap()
}

/// The time before an accumulation at which it counts as reached is a share of the part, also of one that was cut close
/// to it.
#[test]
fn an_accumulation_is_handed_over_where_it_would_be_without_interrupts() {
    let interrupt = Interrupt::new();
    let ball = ContactModel::new(BouncingBall::default());
    let driver = EventDriven::new(ball).unwrap().zeno(Zeno::Absorb);
    let mut driver = driver.zeno_tolerance(0.0).interrupt(&interrupt);
    let (q, v) = ([1.0], [0.0]);
    let start = Start::at(0.0).q(&q).v(&v);
    for tf in [2.0, 10.0] {
        let mut events = |every: usize| bits(&kept(&mut driver, &interrupt, &start, tf, every));
        let uncut = events(usize::MAX);
        for every in [1, 2, 3] {
            assert_eq!(events(every), uncut, "{tf} {every}");
        }
    }
}

/// A mass that nothing pushes but a clock, for a moment.
struct Pushed {
    from: f64,
}

impl MechanicalSystem for Pushed {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let is_pushed = (self.from..self.from + 0.06).contains(&t);
        effort[0] = if is_pushed { 1.0 } else { 0.0 };
    }
}

impl UnilateralConstraints for Pushed {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _: usize, q: &[f64]) -> f64 {
        q[0]
    }
}

/// What lasts a hundredth of a part is to be seen, and of one that was cut not more.
#[test]
fn a_push_is_looked_for_as_in_the_uninterrupted_part() {
    let (mut missed, interrupt) = (0, Interrupt::new());
    for k in 0..40 {
        let from = 8.0 + 0.037 * f64::from(k);
        let (q, v) = ([1.0], [0.0]);
        let start = Start::at(0.0).q(&q).v(&v);
        let end = |every| {
            let model = ContactModel::new(Pushed { from });
            let driver = EventDriven::new(model).unwrap();
            let driver = driver.configure(|core| core.max_step(0.7));
            let run = kept(
                &mut driver.interrupt(&interrupt),
                &interrupt,
                &start,
                10.0,
                every,
            );
            (run.state().as_slice().to_vec(), run.doubts().len())
        };
        let uncut = end(usize::MAX);
        missed += usize::from(uncut.1 == 0);
        assert_eq!(end(1), uncut, "{from}");
    }
    assert!(missed > 10, "{missed}");
}

/// Of a model that states no time scale efforts are looked at within each part, however short it is.
#[test]
fn a_part_of_hardly_any_length_of_a_model_without_time_scale_ends() {
    for (q, v) in [(1.0, 0.0), (0.0, -1.0)] {
        let mut driver = EventDriven::new(ContactModel::new(Pushed { from: 8.0 })).unwrap();
        for t in [5e-324, 1e-322, 1e-310] {
            let mut live = driver.live(&Start::at(0.0).q(&[q]).v(&[v])).unwrap();
            assert_eq!(live.advance(t, &[]), Ok(()), "{t:e}");
            assert_eq!(live.t(), t);
        }
    }
}
