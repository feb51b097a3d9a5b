//! A model's own panic passes through, and the driver runs again afterwards as if it had not been.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use saltation::compliant::Scheme;
use saltation::derivative::Sensitivities;
use saltation::event_driven::Zeno;
use saltation::impact::Routh;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::nalgebra::{DMatrix, DVector, Matrix};
use saltation::variational::Midpoint;
use saltation::{Compliant, ContactModel, EventDriven, Variational};
use saltation::{EventFunction, Flow, InputError, Integrator, Mode, Run, Start, Stop};

/// How many evaluations are left before the model panics.
#[derive(Debug, Default)]
struct Fuse(Cell<Option<usize>>);

/// What the model says when it panics.
#[derive(Debug, PartialEq)]
struct Burnt;

impl Fuse {
    fn burn(&self) {
        match self.0.get() {
            Some(0) => std::panic::panic_any(Burnt),
            left => self.0.set(left.map(|left| left - 1)),
        }
    }
}

#[derive(Debug, Default)]
struct Model(Fuse);

impl Flow for Model {
    fn dim(&self) -> usize {
        2
    }
    fn flow(&self, _t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        self.0.burn();
        dx[0] = x[1];
        dx[1] = if mode.contains(0) { -4.0 } else { -1.0 } * x[0];
    }
}
impl EventFunction for Model {
    fn count(&self) -> usize {
        1
    }
    fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        self.0.burn();
        x[0]
    }
}

impl MechanicalSystem for Model {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.0.burn();
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0 + 0.1 * q[0] * q[0]]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        self.0.burn();
        effort.copy_from_slice(&[0.3, -9.81]);
    }
}
impl UnilateralConstraints for Model {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        self.0.burn();
        q[1]
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0]);
    }
}

/// The state at the end of a run that came to its end, or what hindered it.
fn end(run: Result<Run, InputError>) -> Result<DVector<f64>, Stop> {
    Ok(run?.completed()?.state().clone())
}

/// Runs once as it is, then with a panic at some evaluations, and once more after each.
fn hold(name: &str, model: &Model, mut run: impl FnMut() -> String) {
    let truth = run();
    assert!(truth.starts_with("Ok"), "{name}: {truth}");
    for left in [0, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89] {
        model.0.0.set(Some(left));
        let caught = catch_unwind(AssertUnwindSafe(&mut run)).expect_err("the fuse burns");
        assert_eq!(caught.downcast_ref(), Some(&Burnt), "{name} {left}");
        model.0.0.set(None);
        assert_eq!(run(), truth, "{name} {left}");
    }
}

#[test]
fn panics_of_a_model_pass_through_and_drivers_run_again() {
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.payload().downcast_ref::<Burnt>().is_none() {
            hook(info);
        }
    }));
    let model = &Model::default();
    let mut integrator = Integrator::new(model).unwrap();
    hold("integrate", model, || {
        let run = integrator.integrate(&Start::at(0.0).x(&[1.0, 0.0]), 5.0);
        format!("{:?}", end(run))
    });
    hold("derivative", model, || {
        let found = integrator.derivative(&Start::at(0.0).x(&[1.0, 0.0]), 5.0);
        format!("{:?}", found.and_then(|found| found.apply(&[1.0, 0.0])))
    });
    let mut tangents = Sensitivities::new(2, 2);
    hold("carry", model, || {
        let carried = integrator.carry(&Start::at(0.0).x(&[1.0, 0.0]), 5.0, &mut tangents, &mut ());
        format!(
            "{:?}",
            carried.map(|_| tangents.columns().map(Matrix::into_owned))
        )
    });
    let (q, v) = ([0.0, 0.02], [1.0, 0.0]);
    let mut simulation = EventDriven::new(ContactModel::new(model)).unwrap();
    hold("simulation", model, || {
        let run = simulation.integrate(&Start::at(0.0).q(&q).v(&v), 0.5);
        format!("{:?}", end(run))
    });
    let rough = EventDriven::new(ContactModel::with_law(model, Routh::new())).unwrap();
    let mut rough = rough.zeno(Zeno::Absorb).zeno_tolerance(1e-9);
    hold("arclength", model, || {
        let run = rough.integrate(&Start::at(0.0).q(&q).v(&v), 0.5);
        let over = run.map(|run| rough.model().arclength(&run).map(|over| over.s()));
        format!("{over:?}")
    });
    let mut variational = Variational::new(ContactModel::new(model))
        .unwrap()
        .time_step(0.01);
    hold("variational", model, || {
        let run = variational.integrate(&Start::at(0.0).q(&q).v(&v), 0.5);
        format!("{:?}", end(run))
    });
    let mut midpoint = Midpoint::new(model).unwrap();
    hold("midpoint", model, || {
        let (mut q, mut p) = (q, v);
        let steps =
            (0..20).try_for_each(|k| midpoint.step(0.01 * f64::from(k), 0.01, &mut q, &mut p));
        format!("{:?}", steps.map(|()| (q, p)))
    });
    let mut stepper = Compliant::new(model).unwrap().time_step(0.01);
    let columns = DMatrix::from_element(4, 2, 0.1);
    hold("stepper", model, || {
        let found = stepper.sensitivities(&Start::at(0.0).q(&q).v(&v), 0.2, &columns);
        format!(
            "{:?}",
            found.map(|(run, columns)| (run.state().clone(), columns))
        )
    });
}

#[test]
fn a_step_is_made_again_after_a_panic_of_the_system() {
    for scheme in [Scheme::SymplecticEuler, Scheme::Midpoint] {
        let (model, calm) = (&Model::default(), &Model::default());
        let stepper = |model| {
            Compliant::new(model)
                .unwrap()
                .time_step(0.01)
                .scheme(scheme)
        };
        let (mut stepper, mut other) = (stepper(model), stepper(calm));
        stepper
            .start(&Start::at(0.0).q(&[0.0, 0.02]).v(&[1.0, 0.0]))
            .unwrap();
        other
            .start(&Start::at(0.0).q(&[0.0, 0.02]).v(&[1.0, 0.0]))
            .unwrap();
        for left in 0..12 {
            model.0.0.set(Some(left % 4));
            let caught =
                catch_unwind(AssertUnwindSafe(|| stepper.step())).expect_err("the fuse burns");
            assert_eq!(caught.downcast_ref(), Some(&Burnt), "{scheme:?} {left}");
            model.0.0.set(None);
            stepper.step().unwrap();
            other.step().unwrap();
            assert_eq!(
                (stepper.t(), stepper.q(), stepper.v()),
                (other.t(), other.q(), other.v())
            );
        }
    }
}

/// A mass on a spring so abrupt that Newton's method does not settle, and steps are halved.
#[derive(Default)]
struct Abrupt(Fuse);

impl MechanicalSystem for Abrupt {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        self.0.burn();
        effort[0] = -1e3 * (1e4 * q[0]).tanh();
    }
}

#[test]
fn a_step_in_halves_is_made_again_after_a_panic_of_the_system() {
    let model = &Abrupt::default();
    let mut midpoint = Midpoint::new(model).unwrap();
    let mut step = || {
        let (mut q, mut p) = ([1e-3], [0.5]);
        let made = midpoint.step(0.0, 0.02, &mut q, &mut p);
        format!("{:?}", made.map(|()| (q, p)))
    };
    let truth = step();
    for left in 0..60 {
        model.0.0.set(Some(left));
        let _ = catch_unwind(AssertUnwindSafe(&mut step));
        model.0.0.set(None);
        assert_eq!(step(), truth, "{left}");
    }
}
