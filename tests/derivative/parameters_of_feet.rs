//! Parameters that move the surfaces on which feet stick: where they are, how they lie, how long the legs are.

use saltation::derivative::{Verdict, WithParameters};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::nalgebra::DVector;
use saltation::{ContactModel, EventDriven, Integrator, Start, Status};

use crate::fixtures::draw::Draw;

/// A rod `(x, y, φ)` on two feet over the floor `y = h + s x`, pushed along and up.
#[derive(Clone, Copy, Debug)]
struct Rod {
    inertia: f64,
    feet: [[f64; 2]; 2],
    friction: f64,
    push: [f64; 2],
    /// `(h, s, l)`: height and slope of the floor, and by how much legs are longer.
    parameters: [f64; 3],
}

impl Rod {
    fn foot(&self, j: usize, phi: f64) -> [f64; 2] {
        let ([x, y], (sin, cos)) = (self.feet[j], phi.sin_cos());
        let y = y - self.parameters[2];
        [x * cos - y * sin, x * sin + y * cos]
    }
    /// `(normal, tangent)` of the floor.
    fn along(&self) -> [[f64; 2]; 2] {
        let slope = self.parameters[1];
        let size = slope.hypot(1.0);
        [[-slope / size, 1.0 / size], [1.0 / size, slope / size]]
    }
    fn row(&self, j: usize, phi: f64, [dx, dy]: [f64; 2]) -> [f64; 3] {
        let [x, y] = self.foot(j, phi);
        [dx, dy, dy * x - dx * y]
    }
}

impl MechanicalSystem for Rod {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, self.inertia]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[self.push[0], self.push[1] - 9.81, 0.0]);
    }
}

impl UnilateralConstraints for Rod {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let ([x, y], [normal, _]) = (self.foot(j, q[2]), self.along());
        normal[0] * (q[0] + x) + normal[1] * (q[1] + y - self.parameters[0])
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        let [normal, _] = self.along();
        row.copy_from_slice(&self.row(j, q[2], normal));
        true
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        let [_, tangent] = self.along();
        rows.copy_from_slice(&self.row(j, q[2], tangent));
    }
}

impl Rod {
    fn drawn(seed: u64) -> (Self, [f64; 6], f64) {
        let mut draw = Draw(seed);
        let mut between = |least, most| draw.between(least, most);
        let rod = Self {
            inertia: between(0.05, 0.5),
            feet: [[-between(0.2, 0.6), -0.3], [between(0.2, 0.6), -0.3]],
            friction: between(0.1, 1.0),
            push: [between(-4.0, 4.0), between(-4.0, 4.0)],
            parameters: [0.0, 0.0, 0.0],
        };
        let x = [
            0.0,
            between(0.6, 0.8),
            between(-0.3, 0.3),
            between(-1.0, 1.0),
            between(-1.0, 0.5),
            between(-1.0, 1.0),
        ];
        (rod, x, between(0.3, 0.6))
    }

    fn with(mut self, i: usize, p: f64) -> ContactModel<Self> {
        self.parameters[i] = p;
        ContactModel::new(self)
    }

    /// The end of a run, its contact modes and which contacts stick; none where it ends early.
    fn end(self, i: usize, p: f64, x: &[f64; 6], tf: f64) -> Option<(DVector<f64>, Vec<String>)> {
        let driver = EventDriven::new(self.with(i, p)).unwrap();
        let mut driver = driver.rtol(1e-12).atol(1e-13);
        let (q, v) = x.split_at(3);
        let run = driver.integrate(&Start::at(0.0).q(q).v(v), tf).unwrap();
        let said = |e: &saltation::ContactEvent| {
            format!("{:?} {:?} {:?}", e.mode_after, e.stuck, e.slipped)
        };
        let events = run.events().iter().map(said).collect();
        (*run.status() == Status::ReachedEnd).then(|| (run.state().clone(), events))
    }

    /// The derivative by differences of runs; none where neighbours have other events.
    fn difference(self, i: usize, p: f64, x: &[f64; 6], tf: f64) -> Option<DVector<f64>> {
        let (_, events) = self.end(i, p, x, tf)?;
        let over = |step: f64| {
            let (ahead, behind) = (self.end(i, p + step, x, tf)?, self.end(i, p - step, x, tf)?);
            let alike = ahead.1 == events && behind.1 == events;
            alike.then(|| (ahead.0 - behind.0) / (2.0 * step))
        };
        let (near, far) = (over(1e-5)?, over(4e-5)?);
        ((&near - &far).amax() < 1e-5).then_some(near)
    }
}

#[test]
fn feet_that_stick_go_with_the_floor_that_a_parameter_moves() {
    let (cases, mut classical, mut refused) = (if cfg!(debug_assertions) { 6 } else { 100 }, 0, 0);
    for seed in 0..cases {
        let (rod, x, tf) = Rod::drawn(seed);
        for (i, p) in [(0, 0.0), (0, 0.05), (1, 0.0), (1, 0.1), (2, 0.0), (2, 0.02)] {
            let Some(expected) = rod.difference(i, p, &x, tf) else {
                continue;
            };
            let at = [p];
            let system = WithParameters::new(|p: &[f64]| rod.with(i, p[0]), &at);
            let (start, mode) = (system.start(&x), rod.with(i, p).mode(&[]));
            let start = Start::at(0.0).x(&start).mode(&mode);
            let mut integrator = Integrator::new(&system).unwrap().rtol(1e-11).atol(1e-12);
            let found = integrator.derivative(&start, tf).unwrap();
            if *found.verdict() != Verdict::Classical {
                refused += 1;
                continue;
            }
            classical += 1;
            let found = found.matrix().unwrap().column(6).rows(0, 6).into_owned();
            let off = (&found - &expected).amax() / (1.0 + expected.amax());
            assert!(off < 2e-5, "{seed} {i} {p}: {off:e} {found} {expected}");
        }
    }
    // Few are: of events at which one foot begins to slip as another one strikes.
    assert!(20 * refused <= classical, "{refused} of {classical}");
}

/// A rod that stands on a level floor, with feet that stick, turns with it.
#[test]
fn a_rod_at_rest_turns_with_its_floor() {
    let (mut rod, _, _) = Rod::drawn(0);
    (rod.friction, rod.push) = (0.8, [0.0; 2]);
    let (at, height) = ([0.0], 0.3);
    let system = WithParameters::new(|s: &[f64]| rod.with(1, s[0]), &at);
    let start = system.start(&[0.0, height, 0.0, 0.0, 0.0, 0.0]);
    let mode = rod.with(1, 0.0).mode(&[0, 1]);
    let start = Start::at(0.0).x(&start).mode(&mode);
    let mut integrator = Integrator::new(&system).unwrap().rtol(1e-9).atol(1e-12);
    let found = integrator.derivative(&start, 0.5).unwrap();
    // The floor turns about the point under the middle.
    let turns = [-height, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    let end = found.apply(&turns).unwrap();
    for (found, expected) in end.iter().zip(turns) {
        assert!((found - expected).abs() < 1e-6, "{end}");
    }
}

/// A plastic ball `(x, y)` over a floor of this slope, beside a coordinate that counts.
struct Counting(f64);

impl MechanicalSystem for Counting {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -10.0, 0.0]);
    }
}

impl UnilateralConstraints for Counting {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        (q[1] - self.0 * q[0]) / self.0.hypot(1.0)
    }
    fn gap_row(&self, _j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        let size = self.0.hypot(1.0);
        row.copy_from_slice(&[-self.0 / size, 1.0 / size, 0.0]);
        true
    }
}

/// A large state elsewhere does not make an impact small.
#[test]
fn what_a_ball_strikes_does_not_depend_on_what_is_counted_beside_it() {
    let ends = [0.0, 1e3, 1e7].map(|counted| {
        let (x, slope) = ([0.0, 0.2, counted, 1.0, 0.0, 0.3], [0.1]);
        let build = |p: &[f64]| ContactModel::new(Counting(p[0]));
        let system = WithParameters::new(build, &slope);
        let (start, mode) = (system.start(&x), build(&slope).mode(&[]));
        let start = Start::at(0.0).x(&start).mode(&mode);
        let mut integrator = Integrator::new(&system).unwrap().rtol(1e-10).atol(1e-12);
        let found = integrator.derivative(&start, 0.25).unwrap();
        assert_eq!(*found.verdict(), Verdict::Classical);
        found.matrix().unwrap().column(6).rows(0, 6).into_owned()
    });
    let end = |slope: f64| {
        let driver = EventDriven::new(ContactModel::new(Counting(slope))).unwrap();
        let mut driver = driver.rtol(1e-12).atol(1e-13);
        let start = Start::at(0.0).q(&[0.0, 0.2, 0.0]).v(&[1.0, 0.0, 0.3]);
        driver.integrate(&start, 0.25).unwrap().state().clone()
    };
    let expected = (end(0.1 + 1e-5) - end(0.1 - 1e-5)) / 2e-5;
    for found in ends {
        assert!((&found - &expected).amax() < 1e-6, "{found} {expected}");
    }
}
