//! A plate that falls on its feet, and what its impacts cost.

use std::cell::Cell;
use std::sync::Arc;

use saltation::impact::ImpactLaw;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{
    ContactModel, Crossing, EventFunction, Flow, Integrator, Mode, Start, Status, Stop, Watch,
};

use crate::allocations::allocations;

/// A plate `(x, z, θ)` on feet at these places along it (m). Its inertia depends on `θ`, gaps are not
/// linear, and rows are written. It counts what it is asked.
#[derive(Debug)]
pub(crate) struct Feet {
    places: Vec<f64>,
    restitution: f64,
    rows: Cell<usize>,
    masses: Cell<usize>,
}

impl Feet {
    /// `count` feet, not evenly spread.
    pub(crate) fn new(count: usize, restitution: f64) -> Self {
        let place = |i: usize| [-0.5, 0.5, 0.1, -0.2, 0.3][i % 5];
        Self {
            places: (0..count).map(place).collect(),
            restitution,
            rows: Cell::default(),
            masses: Cell::default(),
        }
    }
}

impl MechanicalSystem for Feet {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.masses.set(self.masses.get() + 1);
        let inertia = 0.1 + 0.02 * q[2].cos();
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, inertia]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -9.81, 0.0]);
    }
    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        force.copy_from_slice(&[0.0, 0.0, 0.01 * q[2].sin() * v[2] * v[2]]);
        true
    }
    fn time_scale(&self) -> Option<f64> {
        Some(f64::INFINITY)
    }
}

impl UnilateralConstraints for Feet {
    fn contacts(&self) -> usize {
        self.places.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[1] + self.places[j] * q[2].sin()
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        self.rows.set(self.rows.get() + 1);
        row.copy_from_slice(&[0.0, 1.0, self.places[j] * q[2].cos()]);
        true
    }
    fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        Some(-self.places[j] * q[2].sin() * v[2] * v[2])
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
}

/// A law of impact.
pub(crate) type Law = Arc<dyn ImpactLaw + Send + Sync>;

/// What the events of a run cost, each from its crossing to the mode after it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct EventCost {
    pub(crate) events: usize,
    pub(crate) rows: usize,
    pub(crate) masses: usize,
    pub(crate) allocations: usize,
}

/// A model that counts what its events cost.
struct Struck {
    model: ContactModel<Feet>,
    cost: Cell<EventCost>,
}

impl Flow for Struck {
    fn dim(&self) -> usize {
        self.model.dim()
    }
    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        self.model.flow(t, x, mode, dx);
    }
    fn correct(&self, t: f64, x: &mut [f64], mode: &Mode) -> bool {
        self.model.correct(t, x, mode)
    }
}

impl EventFunction for Struck {
    fn count(&self) -> usize {
        self.model.count()
    }
    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        self.model.event(k, t, x, mode)
    }
    fn events(&self, t: f64, x: &[f64], mode: &Mode, h: &mut [f64]) {
        self.model.events(t, x, mode, h);
    }
    fn gradient(&self, k: usize, t: f64, x: &[f64], mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        self.model.gradient(k, t, x, mode, dh)
    }
    fn watch(&self, k: usize) -> Watch {
        self.model.watch(k)
    }
    fn flags(&self) -> usize {
        self.model.flags()
    }
    fn min_rate(&self, k: usize) -> Option<f64> {
        self.model.min_rate(k)
    }
    fn event_tolerance(&self, k: usize) -> f64 {
        self.model.event_tolerance(k)
    }
    fn crosses_within(&self, k: usize) -> f64 {
        self.model.crosses_within(k)
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let feet = self.model.system();
        let (rows, masses) = (feet.rows.get(), feet.masses.get());
        let mut done = Ok(());
        let allocations = allocations(|| done = self.model.on_crossing(crossing));
        let mut cost = self.cost.get();
        cost.events += 1;
        cost.rows += feet.rows.get() - rows;
        cost.masses += feet.masses.get() - masses;
        cost.allocations += allocations;
        self.cost.set(cost);
        done
    }
}

/// What the impacts of a plate cost that falls on its feet from a height of 0.1 m, tilted by `tilt`
/// (rad); in the second run, when all memory is there. At least one event happens.
pub(crate) fn cost_of_impacts(feet: Feet, law: Law, tilt: f64) -> EventCost {
    let model = ContactModel::with_law(feet, law);
    let (q, v) = ([0.0, 0.1 + 0.5 * tilt.sin().abs(), tilt], [0.1, 0.0, 0.0]);
    let start = model.start(&Start::at(0.0).q(&q).v(&v)).unwrap();
    let cost = Cell::default();
    let mut integrator = Integrator::new(Struck { model, cost }).unwrap().rtol(1e-8);
    for _ in 0..2 {
        integrator.system().cost.take();
        let run = integrator.observe(&start.as_start(), 0.3, &mut ()).unwrap();
        assert_eq!(run.status, Status::ReachedEnd);
    }
    let cost = integrator.system().cost.get();
    assert!(cost.events > 0);
    cost
}
