//! Errors of rooms: the same fault is the same variant of `Error`, whichever room it came through;
//! what ends a run says where; the reason of a model comes back as it was given.

use nalgebra::{DMatrix, DVector};
use saltation::derivative::saltation_product;
use saltation::ensemble::{Ensemble, EnsembleFailure};
use saltation::event_driven::Breakdown;
use saltation::impact::{self, ImpactLaw, ImpactProblem, MinimalOutcomes, Selection};
use saltation::lcp::{self, LcpSolver, enumerate_until};
use saltation::models::{BouncingBall, DoublePendulum, Hopper};
use saltation::{Compliant, ContactModel, EventDriven, Variational};
use saltation::{
    Crossing, Error, EventFunction, Flow, Guard, InputError, Integrator, Interrupt, Mode,
    NoDerivative, Start, Status, Stop, flow_fn,
};

/// Free fall onto a floor that refuses the first landing for a reason of its own.
struct Refuses(fn() -> Stop);

#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("leg {leg} broke")]
struct Broken {
    leg: usize,
}

impl Flow for Refuses {
    fn dim(&self) -> usize {
        2
    }
    fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&[x[1], -2.0]);
    }
}

impl EventFunction for Refuses {
    fn count(&self) -> usize {
        1
    }
    fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[0]
    }
    fn on_crossing(&self, _crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        Err((self.0)())
    }
}

fn stop_of(system: impl Flow + EventFunction) -> Stop {
    let run = Integrator::new(system).unwrap();
    let run = { run }
        .integrate(&Start::at(0.0).x(&[1.0, 0.0]), 2.0)
        .unwrap();
    match run.status() {
        Status::Refused(stop) => stop.clone(),
        status => panic!("{status}"),
    }
}

#[test]
fn the_reason_of_a_model_comes_back_as_it_was_given() {
    let stop = stop_of(Refuses(|| Stop::model(Broken { leg: 3 })));
    assert_eq!(stop.downcast(), Some(&Broken { leg: 3 }));
    assert_eq!(stop.downcast::<Breakdown>(), None);
    assert_eq!(stop.to_string(), "leg 3 broke");
    // Equal by its text, whatever its type.
    assert_eq!(stop, Stop::model("leg 3 broke"));
    assert_ne!(stop, Stop::model(Broken { leg: 2 }));
    assert_eq!(Error::from(stop.clone()), Error::Stop(stop));
}

#[test]
fn what_ends_a_run_says_where() {
    // x = 1 − t², which is 0 at t = 1; then a root of a negative number.
    let domain = flow_fn(2, |_t, x, _mode, dx| {
        dx.copy_from_slice(&[x[1], -2.0 + 0.0 * x[0].sqrt()]);
    })
    .with_events(1, |_k, _t, x| x[0] + 5.0);
    let stop = stop_of(domain);
    let at = stop.at().unwrap();
    assert!((at.t - 1.0).abs() < 1e-6, "{at:?}");
    assert!(at.state[0].abs() < 1e-6 && (at.state[1] + 2.0).abs() < 1e-5);
    assert_eq!(at.mode, Mode::with(1, &[0]));
    // What has no place of its own says so.
    assert_eq!(Stop::Interrupted.at(), None);
    assert_eq!(stop_of(Refuses(|| Stop::model("no"))).at(), None);
}

#[test]
fn an_interrupt_is_one_variant_whichever_room_it_came_through() {
    let interrupt = Interrupt::new();
    interrupt.set();
    let (w, q) = (DMatrix::identity(2, 2), [-1.0, -1.0]);
    let lcp = enumerate_until(&w, &q, &interrupt).unwrap_err();
    assert_eq!(lcp, lcp::LcpFailure::Interrupted);
    assert_eq!(
        impact::ImpactFailure::from(lcp.clone()),
        impact::ImpactFailure::Interrupted
    );
    assert_eq!(Error::from(lcp), Error::Interrupted);

    let problem = ImpactProblem::new(w, DVector::from_vec(vec![-1.0, -1.0])).unwrap();
    let problem = problem.with_interrupt(&interrupt);
    let failure = MinimalOutcomes::new().resolve(&problem).unwrap_err();
    assert_eq!(failure, impact::ImpactFailure::Interrupted);
    assert_eq!(Error::from(failure), Error::Interrupted);

    let runs = Ensemble::new(1).draw(&["a"], |draw| [draw.unit()]).run(
        &[],
        || Ok(()),
        |(), _, _| Ok(Status::ReachedEnd),
    );
    let failure = runs.interrupt(&interrupt).rows(0..3).unwrap_err();
    assert_eq!(failure, EnsembleFailure::Interrupted);
    assert_eq!(Error::from(failure), Error::Interrupted);

    let mut integrator = Integrator::new(Hopper::default())
        .unwrap()
        .interrupt(&interrupt);
    let run = integrator
        .integrate(&Start::at(0.0).x(&[2.0, 0.0]), 1.0)
        .unwrap();
    assert_eq!(
        run.completed().map_err(Error::from).unwrap_err(),
        Error::Interrupted
    );
    let derivative = integrator
        .derivative(&Start::at(0.0).x(&[2.0, 0.0]), 1.0)
        .unwrap();
    let reason = derivative.apply(&[1.0, 0.0]).unwrap_err();
    assert_eq!(reason, NoDerivative::Stop(Stop::Interrupted));
    assert_eq!(Error::from(reason), Error::Interrupted);

    // Of the law within a run, and of the run itself.
    let model = ContactModel::with_law(BouncingBall::default(), MinimalOutcomes::new())
        .selection(Selection::First)
        .interrupt(&interrupt);
    let run = EventDriven::new(model)
        .unwrap()
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 1.0);
    let run = run.unwrap();
    assert_eq!(run.status().reason::<Breakdown>(), None);
    assert_eq!(
        run.completed().map_err(Error::from).unwrap_err(),
        Error::Interrupted
    );
}

#[test]
fn bad_input_is_one_variant_whichever_room_it_came_through() {
    let nan = f64::NAN;
    let w = DMatrix::identity(1, 1);
    let mut integrator = Integrator::new(Hopper::default()).unwrap();
    let mut simulation = EventDriven::new(ContactModel::new(BouncingBall::default())).unwrap();
    let still = DVector::from_vec(vec![nan]);
    let errors: [Error; 6] = [
        LcpSolver::new(1).solve(&w, &[nan]).unwrap_err().into(),
        ImpactProblem::new(w.clone(), still).unwrap_err().into(),
        integrator
            .integrate(&Start::at(0.0).x(&[nan, 0.0]), 1.0)
            .unwrap_err()
            .into(),
        integrator
            .derivative(&Start::at(0.0).x(&[nan, 0.0]), 1.0)
            .unwrap_err()
            .into(),
        simulation
            .integrate(&Start::at(0.0).q(&[nan]).v(&[0.0]), 1.0)
            .unwrap_err()
            .into(),
        stop_of(Refuses(|| {
            let w = DMatrix::identity(1, 1);
            match LcpSolver::new(1).solve(&w, &[f64::NAN]) {
                Err(lcp::LcpFailure::Input(error)) => error.into(),
                _ => Stop::Interrupted,
            }
        }))
        .into(),
    ];
    for error in errors {
        assert!(
            matches!(error, Error::Input(InputError::NotFinite { .. })),
            "{error:?}"
        );
    }
}

#[test]
fn a_breakdown_is_one_variant_whether_it_ends_a_start_or_a_run() {
    let ball = BouncingBall {
        restitution: 2.0,
        ..BouncingBall::default()
    };
    let expected = |error: &Error| {
        matches!(
            error,
            Error::Breakdown(Breakdown::Restitution {
                contact: 0,
                value: 2.0,
                ..
            })
        )
    };
    let model = ContactModel::new(ball);
    let start = Error::from(
        model
            .start(&Start::at(0.0).q(&[1.0]).v(&[0.0]))
            .unwrap_err(),
    );
    assert!(expected(&start), "{start:?}");
    // The core carries it as the reason of a model; it comes back as itself.
    let breakdown = Breakdown::Restitution {
        contact: 0,
        value: 2.0,
        t: 0.5,
    };
    let stop = Stop::from(breakdown.clone());
    assert_eq!(stop.downcast(), Some(&breakdown));
    assert_eq!(stop.to_string(), breakdown.to_string());
    assert_eq!(Breakdown::from(stop.clone()), breakdown);
    assert!(expected(&Error::from(stop.clone())));
    assert!(expected(&Error::from(NoDerivative::from(stop))));
}

#[test]
fn what_does_not_exist_is_named_with_its_number() {
    let no_such = |what, index, count| InputError::NoSuch { what, index, count };
    let drift = flow_fn(1, |_t, _x, _mode, dx| dx[0] = 1.0).with_events(1, |_k, _t, x| x[0]);
    let (at, mode, up) = ([0.0], Mode::new(1), Guard::rising(0));
    let beyond = saltation_product(&drift, &[Guard::rising(3)], 0.0, &at, &mode);
    let expected = no_such("event function", 3, 1);
    assert_eq!(beyond.unwrap_err(), NoDerivative::Input(expected));
    // Nothing throws the state back: it crosses once, and the second crossing does not come.
    let again = saltation_product(&drift, &[up, up], 0.0, &at, &mode);
    let expected = no_such("crossing of the order", 1, 1);
    assert_eq!(again.unwrap_err(), NoDerivative::Input(expected.clone()));
    assert_eq!(
        expected.to_string(),
        "there is no crossing of the order 1: there are 1, counted from 0"
    );
    let ball = ContactModel::new(BouncingBall::default());
    let refused = ball
        .decoupling(&Start::at(0.0).q(&[0.0]).v(&[-1.0]), &[2])
        .unwrap_err();
    assert_eq!(refused, Breakdown::Input(no_such("contact", 2, 1)));
}

#[test]
fn errors_are_small_and_go_from_thread_to_thread() {
    fn small<E: std::error::Error + Send + Sync + 'static>() {
        // As Clippy's `result_large_err` has it.
        assert!(size_of::<E>() <= 128, "{}", size_of::<E>());
    }
    small::<Error>();
    small::<InputError>();
    small::<Stop>();
    small::<NoDerivative>();
    small::<Breakdown>();
    small::<impact::ImpactFailure>();
    small::<lcp::LcpFailure>();
}

/// A start gives what its driver starts from, and nothing else: it would be ignored in silence.
#[test]
fn a_start_of_another_kind_is_refused() {
    let other = |found| InputError::Start {
        expected: "q and v",
        found,
    };
    let (two, four, mode) = ([1.0, 0.0], [1.0, 0.5, 0.0, 0.0], Mode::new(1));
    let pendulum = DoublePendulum::default();
    let by_x = Start::at(0.0).x(&four);
    let with_mode = Start::at(0.0).q(&two).v(&two).mode(&mode);
    let with_x = Start::at(0.0).q(&two).v(&two).x(&four);
    for (start, found) in [(by_x, "x"), (with_mode, "a mode"), (with_x, "x")] {
        let expected = Error::from(other(found));
        let model = || ContactModel::new(pendulum);
        let refused = [
            Error::from(model().start(&start).unwrap_err()),
            Error::from(model().decoupling(&start, &[0]).unwrap_err()),
            Error::from(
                EventDriven::new(model())
                    .unwrap()
                    .integrate(&start, 1.0)
                    .unwrap_err(),
            ),
            Error::from(
                EventDriven::new(model())
                    .unwrap()
                    .derivative(&start, 1.0)
                    .unwrap_err(),
            ),
            Error::from(
                Variational::new(ContactModel::new(pendulum))
                    .unwrap()
                    .integrate(&start, 1.0)
                    .unwrap_err(),
            ),
            Error::from(
                Variational::new(ContactModel::new(pendulum))
                    .unwrap()
                    .derivative(&start, 1.0)
                    .unwrap_err(),
            ),
            Error::from(Compliant::new(pendulum).unwrap().start(&start).unwrap_err()),
            Error::from(
                Compliant::new(pendulum)
                    .unwrap()
                    .integrate(&start, 1.0)
                    .unwrap_err(),
            ),
        ];
        for refusal in refused {
            assert_eq!(refusal, expected);
        }
    }
    let mut hopper = Integrator::new(Hopper::default()).unwrap();
    let start = Start::at(0.0).q(&[2.0]).v(&[0.0]);
    let refused = hopper.integrate(&start, 1.0).unwrap_err();
    let text = refused.to_string();
    assert_eq!(
        text,
        "this driver starts from its state x: q and v cannot be used"
    );
    // Parts that were forgotten are missing, by their names.
    let empty = Start::at(0.0);
    let missing = |name, expected| InputError::WrongLength {
        name,
        expected,
        found: 0,
    };
    assert_eq!(hopper.integrate(&empty, 1.0).unwrap_err(), missing("x0", 2));
    let ball = ContactModel::new(BouncingBall::default());
    let refused = Error::from(ball.start(&empty.q(&[1.0])).unwrap_err());
    assert_eq!(refused, Error::from(missing("v", 1)));
}
