//! One face for all drivers: what is told is what is kept, derivatives are those of differences.

use saltation::models::BouncingBall;
use saltation::{
    ContactEvent, ContactModel, Interrupt, Mode, Observer, Segment, Start, Variational,
};

use super::fixtures::cases;

/// Keeps what it is told, in its own way.
#[derive(Default)]
struct Told {
    starts: usize,
    times: Vec<f64>,
    events: Vec<ContactEvent>,
    last: Vec<f64>,
    mode: Mode,
}

impl Observer for Told {
    fn start(&mut self, t: f64, state: &[f64], mode: &Mode) {
        self.starts += 1;
        self.times.push(t);
        self.last = state.to_vec();
        self.mode = mode.clone();
    }
    fn segment(&mut self, segment: &Segment<'_>) {
        // Segments follow each other without gaps, and their dense output joins their ends.
        let mut x = segment.state.to_vec();
        segment.interpolant.at(segment.start, &mut x);
        let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-12 * (1.0 + a.abs());
        assert!(x.iter().zip(&self.last).all(near), "{x:?} {:?}", self.last);
        assert_eq!(segment.start, *self.times.last().unwrap());
        assert_eq!(*segment.mode, self.mode);
        segment.interpolant.at(segment.t, &mut x);
        assert!(x.iter().zip(segment.state).all(near));
        self.times.push(segment.t);
        self.last = segment.state.to_vec();
    }
    fn contacts(&mut self, event: &ContactEvent) {
        self.events.push(event.clone());
    }
    fn settled(&mut self, _: f64, state: &[f64], mode: &Mode) {
        self.last = state.to_vec();
        self.mode = mode.clone();
    }
}

#[test]
fn what_is_told_is_what_is_kept() {
    for case in cases() {
        let mut driver = (case.driver)(&Interrupt::new());
        let run = driver.integrate(&case.start(), case.tf).unwrap();
        let mut told = Told::default();
        let summary = driver.observe(&case.start(), case.tf, &mut told).unwrap();
        assert_eq!(told.starts, 1, "{}", case.name);
        assert_eq!((&summary.status, summary.t), (run.status(), run.t()));
        assert_eq!(summary.statistics, *run.statistics());
        assert_eq!(told.last, run.state().as_slice());
        assert_eq!(told.mode, *run.mode());
        assert_eq!(told.events, run.events());
        let mut times = run.times().to_vec();
        times.dedup();
        told.times.dedup();
        assert_eq!(told.times, times);
        if case.x.is_empty() {
            let last = run.phases().last().map(|phase| phase.closed.clone());
            assert_eq!(last, Some(run.mode().flags().collect()), "{}", case.name);
        }
    }
}

/// A run goes on from its end, whatever made it.
#[test]
fn a_run_goes_on_from_its_end() {
    for case in cases() {
        let mut driver = (case.driver)(&Interrupt::new());
        let first = driver.integrate(&case.start(), 0.4 * case.tf).unwrap();
        let second = driver.integrate(&first.end(), case.tf).unwrap();
        assert_eq!(second.times()[0], first.t(), "{}", case.name);
        let whole = driver.integrate(&case.start(), case.tf).unwrap();
        let apart = (second.state() - whole.state()).amax();
        assert!(apart < 2e-2, "{}: {apart}", case.name);
    }
}

/// The matrix of a derivative is that of differences of runs, wherever the verdict allows one.
#[test]
fn derivatives_are_those_of_differences() {
    let mut compared = 0;
    for case in cases() {
        // Before the second event: the first impact is in it.
        let tf = 0.45 * case.tf;
        let mut driver = (case.driver)(&Interrupt::new());
        let derivative = driver.derivative(&case.start(), tf).unwrap();
        let (verdict, run) = (derivative.verdict().clone(), derivative.run().clone());
        let matrix = derivative.matrix();
        assert_eq!(matrix.is_ok(), verdict == saltation::Verdict::Classical);
        let Ok(matrix) = matrix else {
            assert!(derivative.apply(&vec![0.0; run.state().len()]).is_err());
            continue;
        };
        assert_eq!(derivative.pieces().unwrap()[0].matrix, matrix);
        drop(derivative);
        // Quaternions: displacements of the configuration are turns.
        if matrix.nrows() != matrix.ncols() {
            continue;
        }
        let h = 1e-5;
        for j in 0..matrix.ncols() {
            let moved = |sign: f64| {
                let mut x = [&case.x[..], &case.q, &case.v].concat();
                x[j] += sign * h;
                let (q, v) = x.split_at(case.q.len());
                let start = if case.x.is_empty() {
                    Start::at(0.0).q(q).v(v)
                } else {
                    Start::at(0.0).x(&x)
                };
                let mut driver = (case.driver)(&Interrupt::new());
                driver.integrate(&start, tf).map(|run| run.state().clone())
            };
            // A start beyond a surface has no run.
            let (Ok(ahead), Ok(behind)) = (moved(1.0), moved(-1.0)) else {
                continue;
            };
            let column = (ahead - behind) / (2.0 * h);
            let apart = (&column - matrix.column(j)).amax();
            assert!(
                apart < 2e-2 * (1.0 + column.amax()),
                "{}, column {j}: {apart}",
                case.name
            );
            compared += 1;
        }
    }
    assert!(compared >= 16, "{compared}");
}

/// A ball that sinks to the floor more slowly than what counts as an impact closes its contact without a blow: that is
/// among the events of the contact.
#[test]
fn events_of_a_contact_are_all_changes_of_its_mode() {
    let ball = BouncingBall {
        gravity: 1e-9,
        ..BouncingBall::default()
    };
    let mut driver = Variational::new(ContactModel::new(ball)).unwrap();
    let start = Start::at(0.0).q(&[1e-9]).v(&[0.0]);
    let run = driver.integrate(&start, 3.0).unwrap();
    let closes: Vec<&ContactEvent> = run.events_of(0).collect();
    let [event] = closes[..] else {
        panic!("{:?}", run.events());
    };
    assert!(event.activated.is_empty() && event.mode_before.is_empty());
    assert_eq!(event.mode_after, [0]);
}
