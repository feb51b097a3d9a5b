//! What the crate `fuzz` found: each test is named by what went wrong.

use saltation::derivative::{flow_jacobian, gradient_row, saltation_matrix};
use saltation::event_driven::Zeno;
use saltation::impact::{ImpactFailure, ImpactProblem};
use saltation::lcp::LcpSolver;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{BouncingBall, Hopper};
use saltation::nalgebra::{DMatrix, DVector};
use saltation::ode::{Buffer, Tsitouras};
use saltation::{ContactModel, EventDriven};
use saltation::{
    Crossing, EventFunction, Flow, Guard, InputError, Integrator, Mode, NoDerivative, Quantity,
    RearmMatrix, Sensitivities, Start, Status, Stop, flow_fn,
};

#[test]
fn a_fixed_step_is_not_cut_into_windows_without_end() {
    /// A guard that may do something within 10 ns.
    struct Hasty;
    impl Flow for Hasty {
        fn dim(&self) -> usize {
            1
        }
        fn flow(&self, _t: f64, _x: &[f64], _mode: &Mode, dx: &mut [f64]) {
            dx[0] = 1.0;
        }
    }
    impl EventFunction for Hasty {
        fn count(&self) -> usize {
            1
        }
        fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
            x[0] - 0.05
        }
        fn time_scale(&self, _k: usize) -> Option<f64> {
            Some(1e-8)
        }
    }
    let mut integrator = Integrator::new(Hasty).unwrap().fixed_step(0.1);
    let run = integrator
        .integrate(&Start::at(0.0).x(&[0.0]), 0.1)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    assert!(run.statistics().windows < 10_000, "{:?}", run.statistics());
    // It is crossed all the same, and the run says that it did not look as closely as it was asked
    // to.
    assert_eq!(run.crossings().len(), 1);
    assert!(!run.is_guaranteed());
}

#[test]
fn sizes_that_no_machine_has_are_cut() {
    let most = usize::MAX;
    assert_eq!(Guard::rising(most).index(), most);
    assert_eq!(RearmMatrix::new(most).count(), 1_000_000);
    assert_eq!(RearmMatrix::pairs(most).count(), 1_000_000);
    for (dim, count) in [(most, most), (3, most), (most, 0), (0, most)] {
        let mut tangents = Sensitivities::new(dim, count);
        let numbers = tangents.columns().unwrap().len();
        assert!(numbers <= 1 << 22, "{numbers}");
        if numbers > 0 {
            assert!(matches!(
                tangents.set(&[1.0]),
                Err(InputError::WrongLength { .. })
            ));
        }
    }
    assert!(<Vec<f64> as Buffer>::zeros(most).get().is_empty());
    let mut step = Tsitouras::<Vec<f64>>::new(most);
    let mut still = |_t: f64, _x: &[f64], dx: &mut [f64]| dx.fill(0.0);
    let refused = step.step(&mut still, 0.0, &[1.0], 0.1);
    assert!(matches!(refused, Err(InputError::WrongLength { .. })));
    let ball = ContactModel::new(BouncingBall::default());
    assert!(!ball.is_closed(&Mode::with(2, &[0, 1]), most));
}

#[test]
fn a_refused_problem_has_no_ray_of_the_one_before() {
    let mut solver = LcpSolver::new(1);
    let (zero, w) = (DMatrix::zeros(1, 1), DMatrix::identity(1, 1));
    assert!(solver.solve(&zero, &[-1.0]).is_err());
    assert!(solver.ray().is_some());
    assert!(solver.solve_covered(&w, &[-1.0], &[-1.0]).is_err());
    assert_eq!(solver.ray(), None);
}

#[test]
fn the_contacts_of_a_hopper_are_not_listed_without_end() {
    let hopper = Hopper::default();
    let times = hopper.contact_times(2.0, 2e6 * hopper.period(2.0));
    assert_eq!(times.len(), 1_000_000);
}

fn is_overflow<T: std::fmt::Debug>(result: Result<T, impl Into<NoDerivative>>, what: Quantity) {
    let quantity = match result.map_err(Into::into) {
        Err(NoDerivative::Stop(Stop::NotFinite { quantity, .. })) => quantity,
        other => panic!("{other:?}"),
    };
    assert_eq!(quantity, what);
}

#[test]
fn differences_that_overflow_are_refused() {
    let steep = |x: f64| 1e300 * (1e9 * x);
    let system = flow_fn(1, move |_t, x, _mode, dx| dx[0] = steep(x[0]))
        .with_events(1, move |_k, _t, x| steep(x[0]));
    let mode = Mode::new(1);
    is_overflow(
        flow_jacobian(&system, 0.0, &[0.0], &mode),
        Quantity::Jacobian { component: 0 },
    );
    is_overflow(
        gradient_row(&system, 0, 0.0, &[0.0], &mode),
        Quantity::Gradient { event: 0 },
    );
}

#[test]
fn a_saltation_matrix_that_overflows_is_refused() {
    let system = flow_fn(2, |_t, _x, mode, dx| {
        dx.copy_from_slice(&[if mode.contains(0) { 1e200 } else { 1.0 }, 0.0]);
    })
    .with_events(1, |_k, _t, x| x[0] + 1e200 * x[1]);
    let matrix = saltation_matrix(&system, Guard::rising(0), 0.0, &[0.0, 0.0], &Mode::new(1));
    is_overflow(matrix, Quantity::Derivative { component: 0 });
}

#[test]
fn a_derivative_that_overflows_is_refused() {
    /// Each reset enlarges a zero.
    struct Large;
    impl Flow for Large {
        fn dim(&self) -> usize {
            2
        }
        fn flow(&self, _t: f64, _x: &[f64], _mode: &Mode, dx: &mut [f64]) {
            dx.copy_from_slice(&[1.0, 0.0]);
        }
    }
    impl EventFunction for Large {
        fn count(&self) -> usize {
            2
        }
        fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
            x[0] - [0.3, 0.6][k]
        }
        fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
            let x = &mut *crossing.x;
            x[1] *= 1e200;
            Ok(())
        }
    }
    let mut integrator = Integrator::new(Large).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[0.0, 0.0]), 1.0)
        .unwrap();
    for result in [
        d.apply(&[0.0, 1.0]).map(|v| DMatrix::from_columns(&[v])),
        d.matrix(),
        d.matrix_towards(&[0.0, 1.0]),
        d.pieces().map(|pieces| pieces[0].matrix.clone()),
    ] {
        assert!(
            matches!(
                result,
                Err(NoDerivative::Stop(Stop::NotFinite {
                    quantity: Quantity::Derivative { .. },
                    ..
                }))
            ),
            "{result:?}"
        );
    }
}

#[test]
fn the_flight_to_an_accumulation_keeps_to_the_steps_of_the_run() {
    /// A ball that falls into honey after 1.345 s, shortly before its bounces accumulate at 1.3546
    /// s.
    struct Ball;
    impl MechanicalSystem for Ball {
        fn dof(&self) -> usize {
            1
        }
        fn mass(&self, _q: &[f64], mass: &mut [f64]) {
            mass[0] = 1.0;
        }
        fn effort(&self, t: f64, _q: &[f64], v: &[f64], effort: &mut [f64]) {
            let honey = if t < 1.345 { 0.0 } else { 1e7 * v[0] };
            effort[0] = -9.81 - honey;
        }
        fn constant_mass(&self) -> bool {
            true
        }
    }
    impl UnilateralConstraints for Ball {
        fn contacts(&self) -> usize {
            1
        }
        fn gap(&self, _j: usize, q: &[f64]) -> f64 {
            q[0]
        }
        fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
            0.5
        }
    }
    let mut simulation = EventDriven::new(ContactModel::new(Ball))
        .unwrap()
        .zeno(Zeno::Absorb)
        .zeno_time(0.5)
        .configure(|run| run.max_steps(5000));
    let run = simulation
        .integrate(&Start::at(0.0).q(&[1.0]).v(&[0.0]), 2.0)
        .unwrap();
    assert!(
        matches!(run.status(), Status::Refused(Stop::TooManySteps { .. })),
        "{}",
        run.status()
    );
    let steps = run.statistics().steps + run.statistics().rejections;
    assert!(steps <= 5000, "{steps}");
}

#[test]
fn more_coefficients_of_friction_than_rows_are_refused() {
    let mass = DMatrix::identity(2, 2);
    let rows = DMatrix::from_row_slice(1, 2, &[1.0, 0.0]);
    let velocity = DVector::from_vec(vec![-1.0, 0.0]);
    for count in [2, 3, 7] {
        let friction = vec![0.5; count];
        let found =
            ImpactProblem::from_mechanics_with_tangents(&mass, &rows, &velocity, &friction).err();
        let Some(ImpactFailure::Input(InputError::WrongLength {
            expected, found, ..
        })) = found
        else {
            panic!("{found:?}");
        };
        assert_eq!((expected, found), (count, 1));
    }
}
