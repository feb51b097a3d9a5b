//! What a user changes in a system between runs, or between parts of a live one, counts from there on, whatever the
//! system says is constant.

use std::cell::Cell;
use std::rc::Rc;

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, InputError, Start, Status, Stop};

const G: f64 = 9.81;

/// A block on a slope that turns about the place where it lies.
#[derive(Clone)]
struct Block {
    mass: Rc<Cell<f64>>,
    friction: Rc<Cell<f64>>,
    slope: Rc<Cell<f64>>,
    is_declared: bool,
}

impl Block {
    fn new(friction: f64, is_declared: bool) -> Self {
        Self {
            mass: Rc::new(Cell::new(1.0)),
            friction: Rc::new(Cell::new(friction)),
            slope: Rc::new(Cell::new(0.0)),
            is_declared,
        }
    }
}

impl MechanicalSystem for Block {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        let m = self.mass.get();
        mass.copy_from_slice(&[m, 0.0, 0.0, m]);
    }
    fn constant_mass(&self) -> bool {
        self.is_declared
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -self.mass.get() * G]);
    }
}

impl UnilateralConstraints for Block {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        let (sin, cos) = self.slope.get().sin_cos();
        cos * q[1] - sin * q[0]
    }
    fn gap_row(&self, _j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        let (sin, cos) = self.slope.get().sin_cos();
        row.copy_from_slice(&[-sin, cos]);
        true
    }
    fn constant_row(&self, _j: usize) -> bool {
        self.is_declared
    }
    fn constant_tangents(&self, _j: usize) -> bool {
        self.is_declared
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction.get()
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        let (sin, cos) = self.slope.get().sin_cos();
        rows.copy_from_slice(&[cos, sin]);
    }
}

fn driver(block: &Block) -> EventDriven<Block> {
    let model = ContactModel::new(block.clone());
    EventDriven::new(model).unwrap().rtol(1e-9).atol(1e-12)
}

#[test]
fn a_block_slides_with_the_friction_that_it_has_by_then() {
    for is_declared in [false, true] {
        let block = Block::new(0.2, is_declared);
        let mut driver = driver(&block);
        let start = Start::at(0.0).q(&[0.0, 0.0]).v(&[3.0, 0.0]);
        let slides = |driver: &mut EventDriven<Block>, friction: f64| {
            let run = driver.integrate(&start, 0.4).unwrap();
            let off = run.state()[2] - (3.0 - 0.4 * friction * G);
            assert!(off.abs() < 1e-8, "{is_declared} {friction} {off:e}");
        };
        slides(&mut driver, 0.2);
        block.friction.set(0.5);
        slides(&mut driver, 0.5);
        let derivative = driver.derivative(&start, 0.4).unwrap();
        let off = derivative.run().state()[2] - (3.0 - 0.2 * G);
        assert!(off.abs() < 1e-8, "{off:e}");
        // Between parts, while it slides.
        let mut live = driver.live(&start).unwrap();
        live.advance(0.2, &[]).unwrap();
        block.friction.set(0.1);
        live.advance(0.4, &[]).unwrap();
        let off = live.state()[2] - (3.0 - 0.2 * 0.6 * G);
        assert!(off.abs() < 1e-8, "{is_declared} {off:e}");
    }
}

#[test]
fn a_block_has_the_mass_and_the_slope_that_are_there_by_then() {
    for is_declared in [false, true] {
        let block = Block::new(0.9, is_declared);
        let mut driver = driver(&block);
        let start = Start::at(0.0).q(&[0.0, 0.0]).v(&[0.0, 0.0]);
        let mut live = driver.live(&start).unwrap();
        live.advance(0.2, &[]).unwrap();
        // It lies where it lay, on a slope that is too steep for it, and is pushed.
        let (mass, slope, friction, push) = (2.5, 0.3f64, 0.1, 0.8);
        block.mass.set(mass);
        block.slope.set(slope);
        block.friction.set(friction);
        let (sin, cos) = slope.sin_cos();
        live.advance(0.5, &[push * cos, push * sin]).unwrap();
        let along = push / mass - G * sin + friction * G * cos;
        let off = live.state()[2] - 0.3 * along * cos;
        assert!(off.abs() < 1e-8, "{is_declared} {off:e}");
        drop(live);
        // In another run from the start.
        block.friction.set(0.2);
        let run = driver.integrate(&start, 0.3).unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd);
        let along = -G * sin + 0.2 * G * cos;
        let off = run.state()[2] - 0.3 * along * cos;
        assert!(off.abs() < 1e-8, "{is_declared} {off:e}");
    }
}

/// A block that sticks on a slope until it is iced, and one that is pushed evenly while it is unloaded.
#[test]
fn a_change_that_is_no_effort_counts_too() {
    for is_declared in [false, true] {
        let block = Block::new(0.9, is_declared);
        block.slope.set(0.3);
        let (sin, cos) = 0.3f64.sin_cos();
        let mut driver = driver(&block);
        let start = Start::at(0.0).q(&[0.0, 0.0]).v(&[0.0, 0.0]);
        let mut live = driver.live(&start).unwrap();
        live.advance(0.2, &[]).unwrap();
        assert!(live.state()[2].abs() < 1e-12);
        block.friction.set(0.1);
        live.advance(0.5, &[]).unwrap();
        let along = 0.3 * (-G * sin + 0.1 * G * cos);
        let off = live.state()[2] - along * cos;
        assert!(off.abs() < 1e-8, "{is_declared} {off:e}");
        drop(live);
        block.slope.set(0.0);
        let push = [6.0, 0.0];
        let mut live = driver.live(&start).unwrap();
        live.advance(0.2, &push).unwrap();
        block.mass.set(3.0);
        live.advance(0.4, &push).unwrap();
        let speed = 0.2 * (6.0 - 0.1 * G) + 0.2 * (2.0 - 0.1 * G);
        let off = live.state()[2] - speed;
        assert!(off.abs() < 1e-8, "{is_declared} {off:e}");
    }
}

/// Whether contacts have friction is read when a model is made: modes are numbered by it.
#[test]
fn friction_that_was_none_when_the_model_was_made_is_refused() {
    for is_declared in [false, true] {
        let block = Block::new(0.0, is_declared);
        let mut driver = driver(&block);
        let start = Start::at(0.0).q(&[0.0, 0.0]).v(&[3.0, 0.0]);
        let mut live = driver.live(&start).unwrap();
        live.advance(0.2, &[]).unwrap();
        block.friction.set(0.5);
        let refused = live.advance(0.4, &[]);
        assert!(matches!(refused, Err(Stop::Input(_))), "{refused:?}");
        drop(live);
        let refused = driver.integrate(&start, 0.4).unwrap_err();
        assert!(matches!(refused, InputError::FrictionIgnored { .. }));
        assert!(driver.derivative(&start, 0.4).is_err());
    }
}
