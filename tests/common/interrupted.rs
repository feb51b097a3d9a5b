//! Models of any size that set an interrupt at one of their evaluations, and say what follows it.
//! Shared by tests, which count, and the bench, which takes the time.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use saltation::bodies::{Body, Scene, Shape};
use saltation::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use saltation::{Crossed, Displacement, EventFunction, Flow, Interrupt, Mode};

use super::listed::Listed;

/// Counts evaluations, sets its interrupt at one of them, and keeps the time. Clones share all.
#[derive(Clone, Debug)]
pub(crate) struct Setter(Rc<Counts>);

#[derive(Debug)]
struct Counts {
    interrupt: Interrupt,
    at: usize,
    made: Cell<usize>,
    set: Cell<Option<Instant>>,
}

impl Setter {
    /// Sets it at so many evaluations, the first being 0.
    pub(crate) fn at(evaluation: usize) -> Self {
        Self(Rc::new(Counts {
            interrupt: Interrupt::new(),
            at: evaluation,
            made: Cell::new(0),
            set: Cell::new(None),
        }))
    }

    /// Never sets it.
    pub(crate) fn never() -> Self {
        Self::at(usize::MAX)
    }

    pub(crate) fn interrupt(&self) -> &Interrupt {
        &self.0.interrupt
    }

    /// Evaluations so far.
    pub(crate) fn made(&self) -> usize {
        self.0.made.get()
    }

    /// Evaluations since the one that set the interrupt.
    pub(crate) fn after(&self) -> usize {
        self.made().saturating_sub(self.0.at.saturating_add(1))
    }

    /// The time since the interrupt was set; zero while it is not.
    pub(crate) fn latency(&self) -> Duration {
        self.0.set.get().map_or(Duration::ZERO, |set| set.elapsed())
    }

    pub(crate) fn count(&self) {
        let made = self.made();
        self.0.made.set(made + 1);
        if made == self.0.at {
            self.0.set.set(Some(Instant::now()));
            self.0.interrupt.set();
        }
    }
}

/// Oscillators with a guard each, which bounces nothing.
#[derive(Clone, Debug)]
pub(crate) struct Springs {
    n: usize,
    /// Gradients, Jacobians and the derivatives of resets are written.
    written: bool,
    setter: Setter,
}

impl Springs {
    pub(crate) fn new(n: usize, setter: &Setter) -> Self {
        Self {
            n,
            written: false,
            setter: setter.clone(),
        }
    }

    pub(crate) fn written(self) -> Self {
        Self {
            written: true,
            ..self
        }
    }

    pub(crate) fn start(&self) -> Vec<f64> {
        let at = |i: usize| if i < self.n { 0.3 } else { -0.1 };
        (0..2 * self.n).map(at).collect()
    }

    /// All of them crossed.
    pub(crate) fn mode(&self) -> Mode {
        Mode::with(self.n, &(0..self.n).collect::<Vec<_>>())
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

    fn jacobian_times(&self, t: f64, _x: &[f64], mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
        if self.written {
            self.flow(t, v, mode, out); // it is linear
        }
        self.written
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
        if !self.written {
            return None;
        }
        self.setter.count();
        dh.fill(0.0);
        dh[k] = 1.0;
        Some(0.0)
    }

    fn reset_times(
        &self,
        _t: f64,
        _crossed: &Crossed<'_>,
        _x: &[f64],
        _mode: &Mode,
        Displacement { dx, .. }: Displacement<'_>,
        out: &mut [f64],
    ) -> bool {
        if self.written {
            self.setter.count();
            out.copy_from_slice(dx);
        }
        self.written
    }
}

/// Masses on springs in a row, each over its own floor, where it stays.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    n: usize,
    /// Rows of gaps are written.
    written: bool,
    /// Efforts depend on the closed contacts: all sets of them are tried.
    switched: bool,
    setter: Setter,
}

impl Row {
    pub(crate) fn new(n: usize, setter: &Setter) -> Self {
        Self {
            n,
            written: false,
            switched: false,
            setter: setter.clone(),
        }
    }

    pub(crate) fn switched(self) -> Self {
        Self {
            switched: true,
            ..self
        }
    }

    pub(crate) fn written(self) -> Self {
        Self {
            written: true,
            ..self
        }
    }

    /// All of them at rest, each `apart` higher than the one before (m): they land one after
    /// another.
    pub(crate) fn start(&self, apart: f64) -> (Vec<f64>, Vec<f64>) {
        let heights = (0..self.n).map(|i| 0.5 + apart * i as f64);
        (heights.collect(), vec![0.0; self.n])
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
        }
    }

    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        self.setter.count();
        for (effort, q) in effort.iter_mut().zip(q) {
            *effort = -9.81 - 3.0 * q;
        }
    }

    fn contact_effort(&self, _state: State<'_>, closed: &[usize], effort: &mut [f64]) -> bool {
        self.setter.count();
        if self.switched {
            for &j in closed {
                effort[j] += 0.1;
            }
        }
        self.switched
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
        self.setter.count();
        q[j]
    }

    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        if self.written {
            row.fill(0.0);
            row[j] = 1.0;
        }
        self.written
    }
}

/// Bodies over a floor; each search for contacts counts.
pub(crate) fn heap(
    bodies: impl IntoIterator<Item = Body>,
    setter: &Setter,
) -> (Listed<Scene>, Vec<f64>, Vec<f64>) {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).expect("a floor");
    for body in bodies {
        scene.add(body).expect("a body");
    }
    let ((q, v), setter) = (scene.start(), setter.clone());
    let heap = Listed::new(scene, move |scene, q, set, wanted, contacts| {
        use saltation::mechanics::ContactSource;
        setter.count();
        scene.fill(q, set, wanted, contacts)
    });
    (heap, q, v)
}

/// Boxes, 25 a layer.
pub(crate) fn boxes(n: usize) -> impl Iterator<Item = Body> {
    let shape = Shape::cuboid([0.05; 3]).expect("a box");
    (0..n).map(move |k| {
        let [x, y, z] = [k % 5, k / 5 % 5, k / 25].map(|i| i as f64);
        let place = [0.101 * x, 0.101 * y, 0.051 + 0.1005 * z];
        Body::new(shape.clone()).position(place).friction(0.5)
    })
}

/// Balls on top of each other.
pub(crate) fn balls(n: usize) -> impl Iterator<Item = Body> {
    let shape = Shape::sphere(0.1).expect("a ball");
    (0..n).map(move |k| {
        let place = [0.0, 0.0, 0.1 + 0.199 * k as f64];
        Body::new(shape.clone()).position(place).friction(0.5)
    })
}
