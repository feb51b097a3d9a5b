//! After an interrupt is set, a driver evaluates the model a bounded number of times. Counted, not
//! timed: the bench `latency` measures the time.

use std::cell::Cell;
use std::rc::Rc;

use saltation::bodies::{Body, Scene, Shape};
use saltation::compliant::{Failure, TimeStepper};
use saltation::derivative::{Sensitivities, check_derivatives_until};
use saltation::mechanics::{
    ContactSet, ContactSource, Contacts, MechanicalSystem, UnilateralConstraints, Wanted,
    check_mechanics_until,
};
use saltation::nalgebra::DMatrix;
use saltation::{
    EventFunction, Flow, InputError, Integrator, Interrupt, Mode, NoDerivative, Status, Stop,
};

/// Sets the interrupt at one evaluation, and counts those after.
#[derive(Debug)]
struct Setter {
    interrupt: Interrupt,
    left: Cell<usize>,
    after: Cell<usize>,
}

impl Setter {
    fn at(evaluation: usize) -> Self {
        Self {
            interrupt: Interrupt::new(),
            left: Cell::new(evaluation),
            after: Cell::new(0),
        }
    }

    fn count(&self) {
        if self.interrupt.is_set() {
            self.after.set(self.after.get() + 1);
        } else if self.left.replace(self.left.get().saturating_sub(1)) == 0 {
            self.interrupt.set();
        }
    }
}

/// Oscillators with a guard each, nothing written but their resets; a bounce is a reset.
#[derive(Debug)]
struct Springs {
    n: usize,
    setter: Setter,
}

impl Flow for Springs {
    fn dim(&self) -> usize {
        2 * self.n
    }
    fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        self.setter.count();
        for i in 0..self.n {
            dx[i] = x[self.n + i];
            dx[self.n + i] = -(1.0 + 0.01 * i as f64) * x[i];
        }
    }
}

impl EventFunction for Springs {
    fn count(&self) -> usize {
        self.n
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        self.setter.count();
        x[k] - 0.1 - 0.001 * k as f64
    }
}

fn springs(n: usize, evaluation: usize) -> (Springs, Vec<f64>) {
    let start = (0..2 * n).map(|i| if i < n { 0.3 } else { -0.1 }).collect();
    let setter = Setter::at(evaluation);
    (Springs { n, setter }, start)
}

/// Evaluations of each guard at the start of a run, where its rate and its rounding are measured by
/// differences; more than in a step.
const FIRST: usize = 100;

#[test]
fn a_run_ends_within_a_step_of_its_interrupt() {
    for evaluation in [0, 1, 100, 1000, 3000] {
        let (model, start) = springs(20, evaluation);
        let mut integrator = Integrator::new(&model)
            .unwrap()
            .interrupt(&model.setter.interrupt);
        let run = integrator.integrate(0.0, &start, 1e6).unwrap();
        assert_eq!(*run.status(), Status::Refused(Stop::Interrupted));
        let after = model.setter.after.get();
        assert!(after <= FIRST * model.n, "{evaluation}: {after}");
    }
}

#[test]
fn a_derivative_ends_within_a_step_of_its_interrupt() {
    for evaluation in [0, 100, 3000, 30_000] {
        let (model, start) = springs(20, evaluation);
        let mut integrator = Integrator::new(&model)
            .unwrap()
            .interrupt(&model.setter.interrupt);
        let found = integrator.derivative(0.0, &start, 1e6).unwrap();
        let refused = found.apply(&start).unwrap_err();
        assert_eq!(refused, NoDerivative::Stop(Stop::Interrupted));
        let after = model.setter.after.get();
        assert!(after <= FIRST * model.n, "{evaluation}: {after}");
    }
}

#[test]
fn tangents_end_within_a_step_of_their_interrupt() {
    for evaluation in [0, 100, 3000, 30_000] {
        let (model, start) = springs(20, evaluation);
        let mut integrator = Integrator::new(&model)
            .unwrap()
            .interrupt(&model.setter.interrupt);
        let mut tangents = Sensitivities::new(40, 40);
        integrator
            .carry(0.0, &start, 1e6, &mut tangents, &mut ())
            .unwrap();
        let refused = tangents.columns().unwrap_err();
        assert_eq!(refused, NoDerivative::Stop(Stop::Interrupted));
        let after = model.setter.after.get();
        assert!(after <= FIRST * model.n, "{evaluation}: {after}");
    }
}

/// [`Springs`] with all derivatives written, as differences: the check compares them.
struct Written(Springs);

impl Flow for Written {
    fn dim(&self) -> usize {
        self.0.dim()
    }
    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        self.0.flow(t, x, mode, dx);
    }
    fn jacobian_times(&self, t: f64, _x: &[f64], mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
        self.0.flow(t, v, mode, out); // it is linear
        true
    }
}

impl EventFunction for Written {
    fn count(&self) -> usize {
        self.0.count()
    }
    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        self.0.event(k, t, x, mode)
    }
    fn gradient(&self, k: usize, _t: f64, _x: &[f64], _mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        self.0.setter.count();
        dh.fill(0.0);
        dh[k] = 1.0;
        Some(0.0)
    }
    fn reset_times(
        &self,
        _t: f64,
        _crossed: &saltation::Crossed<'_>,
        _x: &[f64],
        _mode: &Mode,
        (_dt, dx): (f64, &[f64]),
        out: &mut [f64],
    ) -> bool {
        self.0.setter.count();
        out.copy_from_slice(dx);
        true
    }
}

#[test]
fn a_check_of_derivatives_ends_within_a_column_of_its_interrupt() {
    let check = |evaluation: usize| {
        let (model, start) = springs(12, evaluation);
        let (model, mode) = (Written(model), Mode::with(12, &(0..12).collect::<Vec<_>>()));
        let found = check_derivatives_until(&model, 0.0, &start, &mode, &model.0.setter.interrupt);
        (found, model.0.setter.after.get(), model.0.setter.left.get())
    };
    let (report, _, left) = check(1_000_000);
    assert!(report.unwrap().agrees(1e-6));
    let all = 1_000_000 - left;
    assert!(all > 500, "{all}");
    for part in 0..50 {
        let (found, after, _) = check(all * part / 50);
        assert!(
            matches!(found, Err(NoDerivative::Stop(Stop::Interrupted))),
            "{part}: {found:?}"
        );
        // Columns are asked for 64 at once, directions of a reset all at once.
        assert!(after <= 100, "{part}: {after}");
    }
}

/// Masses in a row, each over its own floor.
struct Row(Setter);

impl MechanicalSystem for Row {
    fn dof(&self) -> usize {
        12
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.0.count();
        mass.fill(0.0);
        for i in 0..12 {
            mass[13 * i] = 2.0 + 0.1 * q[i].sin();
        }
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        self.0.count();
        effort
            .iter_mut()
            .zip(q)
            .for_each(|(f, q)| *f = -9.81 - 3.0 * q);
    }
    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        for i in 0..12 {
            force[i] = -0.05 * q[i].cos() * v[i] * v[i];
        }
        true
    }
}

impl UnilateralConstraints for Row {
    fn contacts(&self) -> usize {
        12
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.0.count();
        q[j]
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.fill(0.0);
        row[j] = 1.0;
        true
    }
}

#[test]
fn a_check_of_mechanics_ends_within_a_difference_of_its_interrupt() {
    let check = |evaluation: usize| {
        let row = Row(Setter::at(evaluation));
        let found = check_mechanics_until(&row, 0.0, &[0.5; 12], &[0.1; 12], &row.0.interrupt);
        (found, row.0.after.get(), row.0.left.get())
    };
    let (report, _, left) = check(1_000_000);
    assert!(report.unwrap().agrees(1e-6));
    let all = 1_000_000 - left;
    for part in 0..50 {
        let (found, after, _) = check(all * part / 50);
        // One contact is compared to its end: its row, and that of a gap that is not written.
        assert!(after <= 5 * 12, "{part}: {after}");
        assert!(
            matches!(found, Err(Stop::Interrupted)) || part > 45,
            "{part}: {found:?}"
        );
    }
}

/// A scene that counts how often its contacts are found.
struct Heap(Scene, Rc<Setter>);

impl MechanicalSystem for Heap {
    fn dof(&self) -> usize {
        self.0.dof()
    }
    fn coordinates(&self) -> usize {
        self.0.coordinates()
    }
    fn configuration_rate(&self, q: &[f64], v: &[f64], rate: &mut [f64]) -> bool {
        self.0.configuration_rate(q, v, rate)
    }
    fn project_configuration(&self, q: &mut [f64]) -> bool {
        self.0.project_configuration(q)
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.0.mass(q, mass);
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.0.effort(t, q, v, effort);
    }
    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        self.0.coriolis(q, v, force)
    }
    fn trees(&self) -> usize {
        self.0.trees()
    }
    fn tree(&self, i: usize) -> std::ops::Range<usize> {
        self.0.tree(i)
    }
    fn tree_mass(&self, i: usize, q: &[f64], mass: &mut [f64]) {
        self.0.tree_mass(i, q, mass);
    }
}

impl ContactSource for Heap {
    fn fill(
        &self,
        q: &[f64],
        set: ContactSet<'_>,
        wanted: Wanted<'_>,
        contacts: &mut Contacts,
    ) -> Result<(), InputError> {
        self.1.count();
        self.0.fill(q, set, wanted, contacts)
    }
}

#[test]
fn compliant_runs_and_their_sensitivities_end_within_a_column_of_their_interrupt() {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).unwrap();
    for k in 0..4 {
        let ball = Body::new(Shape::sphere(0.1).unwrap()).friction(0.5);
        scene
            .add(ball.position([0.0, 0.0, 0.1 + 0.199 * f64::from(k)]))
            .unwrap();
    }
    let (q, v) = scene.start();
    let columns = DMatrix::from_fn(q.len() + v.len(), v.len(), |r, c| {
        f64::from(u8::from(r == q.len() + c))
    });
    for evaluation in 1..120 {
        let setter = Rc::new(Setter::at(evaluation));
        let interrupt = setter.interrupt.clone();
        let heap = Heap(scene.clone(), Rc::clone(&setter));
        let mut stepper = TimeStepper::new(heap)
            .unwrap()
            .time_step(0.01)
            .interrupt(&interrupt);
        let ended = stepper
            .sensitivities((0.0, &q, &v), 1e3, &columns)
            .unwrap_err();
        assert!(matches!(ended, Failure::Interrupted), "{ended:?}");
        // The other end of a difference, at most.
        assert!(
            setter.after.get() <= 1,
            "{evaluation}: {}",
            setter.after.get()
        );
    }
    let setter = Rc::new(Setter::at(50));
    let interrupt = setter.interrupt.clone();
    let heap = Heap(scene.clone(), Rc::clone(&setter));
    let mut stepper = TimeStepper::new(heap)
        .unwrap()
        .time_step(0.01)
        .interrupt(&interrupt);
    let run = stepper.integrate(0.0, &q, &v, 1e3).unwrap();
    assert!(matches!(run.failure(), Some(Failure::Interrupted)) && setter.after.get() <= 1);
}
