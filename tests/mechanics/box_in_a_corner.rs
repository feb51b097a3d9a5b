//! A box that is thrown, without a rebound, into the corner of a floor and a wall: where it lies flat
//! on both, four contacts hold three freedoms.

use saltation::derivative::Verdict;
use saltation::event_driven::{Breakdown, Zeno};
use saltation::mechanics::{MechanicalSystem, Redundant, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Run};
use saltation::{Start, Status};

use crate::fixtures::referee::check_run;
use crate::polygon::{Plane, Polygon};
use crate::random::SplitMix64;

/// A box of these half sides over a floor and a wall that meet at the origin, turned by `angle`.
fn boxed([w, h]: [f64; 2], mass: f64, angle: f64) -> Polygon {
    let (sine, cosine) = angle.sin_cos();
    let floor = Plane {
        normal: [-sine, cosine],
        offset: 0.0,
    };
    let wall = Plane {
        normal: [cosine, sine],
        offset: 0.0,
    };
    Polygon {
        corners: vec![[-w, -h], [w, -h], [w, h], [-w, h]],
        planes: vec![floor, wall],
        mass,
        inertia: mass * (w * w + h * h) / 3.0,
        gravity: 9.81,
        restitution: 0.0,
        written: true,
    }
}

/// Throw number `seed`: the body, its coordinates and its velocities.
fn throw(seed: u64) -> (Polygon, [f64; 3], [f64; 3]) {
    let mut random = SplitMix64(seed);
    let sides = [random.between(0.3, 1.0), random.between(0.3, 1.0)];
    let mass = random.between(0.5, 2.0);
    let angle = if seed.is_multiple_of(2) {
        0.0
    } else {
        random.between(0.0, 0.7)
    };
    let body = boxed(sides, mass, angle);
    let (sine, cosine) = angle.sin_cos();
    let (along, up) = (random.between(1.5, 2.0), random.between(1.5, 2.5));
    let (towards, down) = (random.between(-3.0, 0.0), random.between(-2.0, 2.0));
    let q = [
        along * cosine - up * sine,
        along * sine + up * cosine,
        random.between(0.0, std::f64::consts::TAU),
    ];
    let v = [
        towards * cosine - down * sine,
        towards * sine + down * cosine,
        random.between(-3.0, 3.0),
    ];
    (body, q, v)
}

fn run(body: &Polygon, q: &[f64], v: &[f64], tf: f64) -> (ContactModel<Polygon>, Run) {
    let model = ContactModel::new(body.clone());
    let mut simulation = EventDriven::new(model.clone()).unwrap().rtol(1e-8);
    let run = simulation.integrate(&Start::at(0.0).q(q).v(v), tf).unwrap();
    (model, run)
}

/// How throws end: at their final time, of these flat on both planes, or in an accumulation of
/// impacts, which the default says.
#[derive(Debug, Default, PartialEq)]
struct Ends {
    reached: usize,
    flat: usize,
    accumulate: usize,
}

fn throws(seeds: std::ops::Range<u64>) -> Ends {
    let mut ends = Ends::default();
    for seed in seeds {
        let (body, q, v) = throw(seed);
        let (model, run) = run(&body, &q, &v, 5.0);
        let status = run.status();
        match (status, status.reason::<Breakdown>()) {
            (Status::ReachedEnd, _) => ends.reached += 1,
            (_, Some(Breakdown::Zeno { .. })) => ends.accumulate += 1,
            _ => panic!("throw {seed}: {status}"),
        }
        let touching = (0..8).filter(|&j| body_gap(&body, j, run.state().as_slice()).abs() < 1e-9);
        ends.flat += usize::from(touching.count() == 4);
        let checked = check_run(&model, &run, |state| body.energy(state));
        checked.unwrap_or_else(|what| panic!("throw {seed}: {what}"));
    }
    ends
}

fn body_gap(body: &Polygon, j: usize, state: &[f64]) -> f64 {
    body.gap(j, &state[..3])
}

/// With the default settings: redundant contacts of faces are everyday.
#[test]
fn a_box_comes_to_lie_flat_in_the_corner() {
    let ends = throws(0..30);
    assert!(ends.reached >= 27 && ends.flat >= 15, "{ends:?}");
}

#[test]
#[ignore = "1500 throws: release"]
fn a_box_comes_to_lie_flat_in_the_corner_1500_times() {
    let ends = throws(0..1500);
    println!("{ends:?}");
    assert!(ends.reached >= 1400 && ends.flat >= 750, "{ends:?}");
}

/// Lying in the corner, pressed on both planes: forces are not unique, and the box stays. Refused on
/// request only.
#[test]
fn a_box_that_lies_in_a_tilted_corner_stays() {
    let body = boxed([0.6, 0.4], 1.5, 0.3);
    let (sine, cosine) = 0.3f64.sin_cos();
    let q = [0.6 * cosine - 0.4 * sine, 0.6 * sine + 0.4 * cosine, 0.3];
    let (model, found) = run(&body, &q, &[0.0; 3], 2.0);
    assert_eq!(*found.status(), Status::ReachedEnd);
    let moved = (0..3).map(|i| (found.state()[i] - q[i]).abs());
    assert!(moved.fold(0.0, f64::max) < 1e-12, "{:?}", found.state());
    assert!(found.events().is_empty() && found.is_guaranteed());
    let forces = model.multipliers(2.0, found.state().as_slice(), found.mode());
    // Of each plane they add up to the load on it.
    let on = |plane: usize| forces.values()[4 * plane..][..4].iter().sum::<f64>();
    assert!(
        (on(0) - 1.5 * 9.81 * cosine).abs() < 1e-10 && (on(1) - 1.5 * 9.81 * sine).abs() < 1e-10
    );
    assert!(!forces.are_unique());
    let strict = ContactModel::new(body).redundant(Redundant::Refuse);
    let refused = strict.start(&Start::at(0.0).q(&q).v(&[0.0; 3]));
    assert!(
        matches!(refused, Err(Breakdown::DependentContacts { .. })),
        "{refused:?}"
    );
}

/// What lies in the corner forgets where it was thrown from: all derivatives vanish, or none is
/// promised.
#[test]
fn the_derivative_of_a_box_that_came_to_lie_in_the_corner_promises_no_more_than_is_so() {
    let body = boxed([0.6, 0.4], 1.5, 0.3);
    let (sine, cosine) = 0.3f64.sin_cos();
    // Parallel to the floor and not to be turned: it lands flat, then slides to the wall.
    let q = [2.0 * cosine - 0.6 * sine, 2.0 * sine + 0.6 * cosine, 0.3];
    let mut simulation = EventDriven::new(ContactModel::new(body))
        .unwrap()
        .rtol(1e-9)
        .zeno(Zeno::Absorb);
    let found = simulation
        .integrate(&Start::at(0.0).q(&q).v(&[0.0; 3]), 3.0)
        .unwrap();
    assert_eq!(*found.status(), Status::ReachedEnd);
    let derivative = simulation
        .derivative(&Start::at(0.0).q(&q).v(&[0.0; 3]), 3.0)
        .unwrap();
    if *derivative.verdict() == Verdict::Classical {
        for i in 0..6 {
            let mut along = [0.0; 6];
            along[i] = 1.0;
            let change = derivative.apply(&along).unwrap();
            assert!(change.amax() < 1e-6, "{i}: {change}");
        }
    }
    let end = [0.6 * cosine - 0.4 * sine, 0.6 * sine + 0.4 * cosine, 0.3];
    assert!((0..3).all(|i| (found.state()[i] - end[i]).abs() < 1e-8));
}

/// A box that is pushed along the floor for a while.
struct Pushed {
    body: Polygon,
    until: f64,
}

impl MechanicalSystem for Pushed {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, q: &[f64], m: &mut [f64]) {
        self.body.mass(q, m);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        self.body.effort(t, q, v, f);
        f[0] -= if t < self.until { 2.0 } else { 0.0 };
    }
    fn time_scale(&self) -> Option<f64> {
        Some(0.1)
    }
}

impl UnilateralConstraints for Pushed {
    fn contacts(&self) -> usize {
        self.body.contacts()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.body.gap(j, q)
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        self.body.gap_row(j, q, row)
    }
    fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        self.body.curvature(j, q, v)
    }
}

/// A face whose load is taken away stays where it is, without one.
#[test]
fn a_box_rests_at_the_wall_where_its_push_ends() {
    for until in [1.2, 1.5, 1.7] {
        for height in [0.2, 0.25, 0.5] {
            let body = boxed([0.5, height], 1.0, 0.0);
            let model = ContactModel::new(Pushed { body, until });
            let mut driver = EventDriven::new(model).unwrap();
            let (q, v) = ([1.0, height, 0.0], [-1.0, 0.0, 0.0]);
            let start = Start::at(0.0).q(&q).v(&v);
            let run = driver.integrate(&start, 2.0).unwrap();
            assert_eq!(*run.status(), Status::ReachedEnd, "{until} {height}");
            let off = (run.state()[0] - 0.5).abs() + run.state()[2].abs();
            assert!(off < 1e-9, "{off:e}");
        }
    }
}
