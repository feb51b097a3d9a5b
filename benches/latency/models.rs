//! Models of any size that set an interrupt at one of their evaluations.

use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;
use std::time::{Duration, Instant};

use saltation::bodies::{Body, Scene, Shape};
use saltation::mechanics::{
    ContactSet, ContactSource, Contacts, MechanicalSystem, UnilateralConstraints, Wanted,
};
use saltation::{EventFunction, Flow, InputError, Interrupt, Mode};

/// Counts evaluations, sets its interrupt at one of them, and keeps the time.
#[derive(Clone)]
pub(crate) struct Setter(Rc<Inner>);

struct Inner {
    interrupt: Interrupt,
    left: Cell<usize>,
    set: Cell<Option<Instant>>,
}

impl Setter {
    pub(crate) fn at(evaluation: usize) -> Self {
        Self(Rc::new(Inner {
            interrupt: Interrupt::new(),
            left: Cell::new(evaluation),
            set: Cell::new(None),
        }))
    }

    pub(crate) fn interrupt(&self) -> &Interrupt {
        &self.0.interrupt
    }

    /// The time since the interrupt was set; none when the driver ended before.
    pub(crate) fn latency(&self) -> Duration {
        self.0.set.get().map_or(Duration::ZERO, |set| set.elapsed())
    }

    fn count(&self) {
        let left = self.0.left.get();
        self.0.left.set(left.saturating_sub(1));
        if left == 0 && self.0.set.get().is_none() {
            self.0.set.set(Some(Instant::now()));
            self.0.interrupt.set();
        }
    }
}

/// Oscillators with a guard each; nothing is written but their gradients.
pub(crate) struct Springs {
    n: usize,
    setter: Setter,
}

impl Springs {
    pub(crate) fn new(n: usize, setter: &Setter) -> Self {
        let setter = setter.clone();
        Self { n, setter }
    }

    pub(crate) fn start(&self) -> Vec<f64> {
        let at = |i: usize| if i < self.n { 0.3 } else { -0.1 };
        (0..2 * self.n).map(at).collect()
    }
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
        x[k] - 0.1 - 1e-4 * k as f64
    }

    fn gradient(&self, k: usize, _t: f64, _x: &[f64], _mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        dh.fill(0.0);
        dh[k] = 1.0;
        Some(0.0)
    }
}

/// Masses on springs in a row, each over its own floor.
pub(crate) struct Row {
    n: usize,
    setter: Setter,
}

impl Row {
    pub(crate) fn new(n: usize, setter: &Setter) -> Self {
        let setter = setter.clone();
        Self { n, setter }
    }
}

impl MechanicalSystem for Row {
    fn dof(&self) -> usize {
        self.n
    }

    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.setter.count();
        mass.fill(0.0);
        for (i, column) in mass.chunks_exact_mut(self.n).enumerate() {
            column[i] = 2.0 + 0.1 * q[i].sin();
            if i > 0 {
                column[i - 1] = 0.5;
            }
            if i + 1 < self.n {
                column[i + 1] = 0.5;
            }
        }
    }

    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        for (effort, q) in effort.iter_mut().zip(q) {
            *effort = -9.81 - 3.0 * q;
        }
    }

    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        for ((force, q), v) in force.iter_mut().zip(q).zip(v) {
            *force = -0.05 * q.cos() * v * v;
        }
        true
    }
}

impl UnilateralConstraints for Row {
    fn contacts(&self) -> usize {
        self.n
    }

    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[j] + 0.01 * q[(j + 1) % self.n]
    }
}

/// Boxes in a heap.
pub(crate) struct Heap {
    scene: Scene,
    setter: Setter,
}

impl Heap {
    pub(crate) fn new(boxes: usize, setter: &Setter) -> Self {
        let mut scene = Scene::new();
        scene.add(Body::fixed(Shape::plane())).expect("a floor");
        for k in 0..boxes {
            let (x, y, z) = (k % 5, k / 5 % 5, k / 25);
            let place = [
                0.101 * x as f64,
                0.101 * y as f64,
                0.051 + 0.1005 * z as f64,
            ];
            let shape = Shape::cuboid([0.05; 3]).expect("a box");
            let body = Body::new(shape).position(place).friction(0.5);
            scene.add(body).expect("a box");
        }
        let setter = setter.clone();
        Self { scene, setter }
    }

    pub(crate) fn start(&self) -> (Vec<f64>, Vec<f64>) {
        self.scene.start()
    }
}

impl MechanicalSystem for Heap {
    fn dof(&self) -> usize {
        self.scene.dof()
    }

    fn coordinates(&self) -> usize {
        self.scene.coordinates()
    }

    fn configuration_rate(&self, q: &[f64], v: &[f64], rate: &mut [f64]) -> bool {
        self.scene.configuration_rate(q, v, rate)
    }

    fn project_configuration(&self, q: &mut [f64]) -> bool {
        self.scene.project_configuration(q)
    }

    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.scene.mass(q, mass);
    }

    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.scene.effort(t, q, v, effort);
    }

    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        self.scene.coriolis(q, v, force)
    }

    fn trees(&self) -> usize {
        self.scene.trees()
    }

    fn tree(&self, i: usize) -> Range<usize> {
        self.scene.tree(i)
    }

    fn tree_mass(&self, i: usize, q: &[f64], mass: &mut [f64]) {
        self.scene.tree_mass(i, q, mass);
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
        self.setter.count();
        self.scene.fill(q, set, wanted, contacts)
    }
}
