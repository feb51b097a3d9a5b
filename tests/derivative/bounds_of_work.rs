//! Bounds on the work of a derivative, and the way to end it from outside.

use std::cell::Cell;

use saltation::derivative::Verdict;
use saltation::nalgebra::DMatrix;
use saltation::{
    At, Crossing, EventFunction, Flow, Integrator, Interrupt, Mode, NoDerivative, Sensitivities,
    Start, Status, Stop, Watch,
};

use crate::fixtures::draw::Draw;
use crate::fixtures::kit::Course;
use crate::fixtures::support::each;

/// An equilibrium of a stiff direction: the run takes long steps, neighbours fall fast.
struct Stiff(f64);

impl Flow for Stiff {
    fn dim(&self) -> usize {
        1
    }
    fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx[0] = -self.0 * x[0];
    }
    fn jacobian_times(&self, _: f64, _: &[f64], _: &Mode, v: &[f64], out: &mut [f64]) -> bool {
        out[0] = -self.0 * v[0];
        true
    }
}

impl EventFunction for Stiff {
    fn count(&self) -> usize {
        0
    }
    fn event(&self, _k: usize, _t: f64, _x: &[f64], _mode: &Mode) -> f64 {
        f64::NAN
    }
}

#[test]
fn steps_of_columns_are_counted() {
    let limited = |limit| Integrator::new(Stiff(1e5)).unwrap().max_steps(limit);
    // A step of 3.3/1e5 s is stable: 30,000 of them, and some that are rejected.
    let found = limited(1000);
    for (mut integrator, limit) in [(found, 1000), (limited(20_000), 20_000)] {
        let d = integrator
            .derivative(&Start::at(0.0).x(&[0.0]), 1.0)
            .unwrap();
        assert_eq!(*d.run().status(), Status::ReachedEnd);
        let Verdict::NotGuaranteed(NoDerivative::Stop(Stop::TooManySteps { limit: found, at })) =
            d.verdict()
        else {
            panic!("{}", d.verdict());
        };
        let At { t, state, .. } = at.as_ref();
        assert_eq!((*found, &state[..]), (limit, &[0.0][..]));
        assert!(*t > 0.0 && *t < 1.0);
        assert!(matches!(
            d.apply(&[1.0]),
            Err(NoDerivative::Stop(Stop::TooManySteps { .. }))
        ));
        let mut tangents = Sensitivities::new(1, 1);
        for _ in 0..2 {
            let (t0, x0) = (0.0, &[0.0]);
            integrator
                .carry(&Start::at(t0).x(x0), 1.0, &mut tangents, &mut ())
                .unwrap();
            let refused = tangents.columns().unwrap_err();
            assert!(matches!(
                refused,
                NoDerivative::Stop(Stop::TooManySteps { .. })
            ));
            // Counted anew in each run.
            integrator
                .carry(&Start::at(t0).x(x0), 1e-4, &mut tangents, &mut ())
                .unwrap();
            assert!((tangents.columns().unwrap()[(0, 0)] - (-10f64).exp()).abs() < 1e-6);
        }
    }
    let mut integrator = limited(100_000);
    let d = integrator
        .derivative(&Start::at(0.0).x(&[0.0]), 1.0)
        .unwrap();
    assert_eq!(*d.verdict(), Verdict::Classical);
}

/// Sets an interrupt after some evaluations of the flow; counts them.
struct Watched<'a, S> {
    inner: S,
    left: &'a Cell<i64>,
    interrupt: &'a Interrupt,
}

impl<S: Flow> Flow for Watched<'_, S> {
    fn dim(&self) -> usize {
        self.inner.dim()
    }
    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        self.left.set(self.left.get() - 1);
        if self.left.get() == 0 {
            self.interrupt.set();
        }
        self.inner.flow(t, x, mode, dx);
    }
}

impl<S: EventFunction> EventFunction for Watched<'_, S> {
    fn count(&self) -> usize {
        self.inner.count()
    }
    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        self.inner.event(k, t, x, mode)
    }
    fn watch(&self, k: usize) -> Watch {
        self.inner.watch(k)
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        self.inner.on_crossing(crossing)
    }
}

const NEVER: i64 = i64::MAX;

#[test]
fn columns_end_when_they_are_interrupted() {
    let (left, interrupt) = (Cell::new(NEVER), Interrupt::new());
    // Differences: three flows a step of the columns and more.
    let stiff = Watched {
        inner: saltation::flow_fn(1, |_, x, _, dx| dx[0] = -1e5 * x[0]),
        left: &left,
        interrupt: &interrupt,
    };
    let mut integrator = Integrator::new(&stiff).unwrap().interrupt(&interrupt);
    left.set(10_000);
    let d = integrator
        .derivative(&Start::at(0.0).x(&[0.0]), 1.0)
        .unwrap();
    assert_eq!(
        *d.verdict(),
        Verdict::NotGuaranteed(NoDerivative::Stop(Stop::Interrupted))
    );
    assert_eq!(d.apply(&[1.0]), Err(NoDerivative::Stop(Stop::Interrupted)));
    assert!(left.get() > -100, "{}", left.get());
    drop(d);
    interrupt.clear();
    left.set(10_000);
    let along =
        integrator.derivative_along(&Start::at(0.0).x(&[0.0]), 1.0, &DMatrix::identity(1, 1));
    assert_eq!(along, Err(NoDerivative::Stop(Stop::Interrupted)));
    assert!(left.get() > -100, "{}", left.get());
}

#[test]
fn the_search_of_a_corner_ends_when_it_is_interrupted() {
    // Fifteen guards: too many for the comparison of all orders.
    for (n, dim, many) in [(6, 6, 200), (9, 9, 300), (13, 14, 500)] {
        let mut draw = Draw(n as u64);
        let course = Course::through(&[n], dim, &mut draw);
        let (left, interrupt) = (Cell::new(NEVER), Interrupt::new());
        let system = Watched {
            inner: course.system(),
            left: &left,
            interrupt: &interrupt,
        };
        let (start, end) = (&course.start, course.end);
        let mut integrator = Integrator::new(&system).unwrap().interrupt(&interrupt);
        let summary = integrator
            .observe(&Start::at(0.0).x(start), end, &mut ())
            .unwrap();
        assert_eq!(summary.status, Status::ReachedEnd);
        let plain = NEVER - left.replace(NEVER);
        let whole = integrator
            .derivative(&Start::at(0.0).x(start), end)
            .unwrap();
        let all = NEVER - left.replace(NEVER);
        assert_eq!(*whole.verdict(), Verdict::Bouligand);
        let v = vec![1.0; dim];
        whole.apply(&v).unwrap();
        assert!(all > 2 * plain, "{all} {plain}");
        // What is asked later looks at it too.
        let orders = whole.pieces_at(0).map(|pieces| each(&pieces).count());
        interrupt.set();
        assert_eq!(whole.apply(&v), Err(NoDerivative::Stop(Stop::Interrupted)));
        if n <= 6 {
            assert_eq!(orders, Ok(720));
            assert!(matches!(
                whole.pieces_at(0),
                Err(NoDerivative::Stop(Stop::Interrupted))
            ));
            assert!(matches!(
                whole.pieces(),
                Err(NoDerivative::Stop(Stop::Interrupted))
            ));
        }
        interrupt.clear();
        assert!(whole.apply(&v).is_ok());
        drop(whole);
        // At any place of the run and of the search; the last flows are those of the smooth part
        // behind the corner.
        let every = if cfg!(debug_assertions) { 4 } else { 1 };
        for part in (1..20).step_by(every) {
            let at = all * part / 20;
            left.set(at);
            let d = integrator
                .derivative(&Start::at(0.0).x(start), end)
                .unwrap();
            assert_eq!(
                *d.verdict(),
                Verdict::NotGuaranteed(NoDerivative::Stop(Stop::Interrupted)),
                "{n}: {at} of {all}"
            );
            assert!(left.get() > -many, "{} after {at} of {all}", left.get());
            interrupt.clear();
        }
    }
}

#[test]
fn corners_that_divide_every_cone_double_their_number() {
    // Corner c is met by two coordinates of its own: each divides every cone in two.
    for corners in [3, 6] {
        let dim = 2 * corners + 1;
        let system = saltation::flow_fn(dim, move |_, _, mode: &Mode, dx| {
            dx.fill(1.0);
            let between =
                (0..corners).filter(|c| mode.contains(2 * c) && !mode.contains(2 * c + 1));
            dx[2 * corners] = between.count() as f64;
        })
        .with_events(2 * corners, |k, _, x| x[k] - 1.0);
        let mut start = vec![0.0; dim];
        for c in 0..corners {
            start[2 * c] = -0.1 * c as f64;
            start[2 * c + 1] = -0.1 * c as f64;
        }
        let mut integrator = Integrator::new(system).unwrap();
        let d = integrator
            .derivative(&Start::at(0.0).x(&start), 4.0)
            .unwrap();
        assert_eq!(d.corners().count(), corners);
        let pieces = d.pieces().unwrap();
        let cones: usize = pieces.iter().map(|piece| piece.cones.len()).sum();
        assert_eq!(cones, 1 << corners);
        let v: Vec<f64> = (0..dim).map(|i| [1.0, -0.5][i % 2]).collect();
        let b = d.apply(&v).unwrap()[2 * corners];
        assert!((b - 1.0 - 1.5 * corners as f64).abs() < 1e-9);
    }
}
