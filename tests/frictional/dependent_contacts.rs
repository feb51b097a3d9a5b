//! Runs with friction that are easy to get wrong: several and redundant contacts, the
//! critical angle, contacts that open while they slide, sums of impacts beside other events.

use saltation::event_driven::Zeno;
use saltation::impact::{AnitescuPotra, Selection};
use saltation::mechanics::{MechanicalSystem, Painleve, UnilateralConstraints};
use saltation::nalgebra::DVector;
use saltation::{ContactModel, EventDriven, Run, Start};

use crate::arclength::{check, rests};

const GRAVITY: f64 = 9.81;

/// A point of a body that must stay on one side of a line.
#[derive(Clone, Copy, Debug)]
struct Corner {
    body: usize,
    arm: [f64; 2],
    /// The normal of the line, and the line's distance from zero along it.
    normal: [f64; 2],
    offset: f64,
    friction: f64,
}

/// Rigid bodies in the plane, `(x, y, θ)` each, with corners against lines.
#[derive(Clone, Debug)]
struct Bodies {
    /// Mass and moment of inertia.
    masses: Vec<[f64; 2]>,
    corners: Vec<Corner>,
    gravity: [f64; 2],
}

impl Bodies {
    fn arm(&self, j: usize, q: &[f64]) -> [f64; 2] {
        let corner = self.corners[j];
        let (sine, cosine) = q[3 * corner.body + 2].sin_cos();
        let [x, y] = corner.arm;
        [cosine * x - sine * y, sine * x + cosine * y]
    }

    fn row(&self, j: usize, q: &[f64], along: [f64; 2], row: &mut [f64]) {
        let ([x, y], at) = (self.arm(j, q), 3 * self.corners[j].body);
        row.fill(0.0);
        row[at] = along[0];
        row[at + 1] = along[1];
        row[at + 2] = along[1] * x - along[0] * y;
    }
}

impl MechanicalSystem for Bodies {
    fn dof(&self) -> usize {
        3 * self.masses.len()
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        let d = self.dof();
        mass.fill(0.0);
        for (i, [m, inertia]) in self.masses.iter().enumerate() {
            for (k, value) in [*m, *m, *inertia].into_iter().enumerate() {
                mass[(3 * i + k) * (d + 1)] = value;
            }
        }
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        for (i, [m, _]) in self.masses.iter().enumerate() {
            effort[3 * i] = m * self.gravity[0];
            effort[3 * i + 1] = m * self.gravity[1];
            effort[3 * i + 2] = 0.0;
        }
    }
    fn potential(&self, q: &[f64]) -> Option<f64> {
        let of = |(i, [m, _]): (usize, &[f64; 2])| {
            -m * (self.gravity[0] * q[3 * i] + self.gravity[1] * q[3 * i + 1])
        };
        Some(self.masses.iter().enumerate().map(of).sum())
    }
}

impl UnilateralConstraints for Bodies {
    fn contacts(&self) -> usize {
        self.corners.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let (corner, [x, y]) = (self.corners[j], self.arm(j, q));
        let at = 3 * corner.body;
        corner.normal[0] * (q[at] + x) + corner.normal[1] * (q[at + 1] + y) - corner.offset
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        self.row(j, q, self.corners[j].normal, row);
        true
    }
    fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        let (corner, [x, y]) = (self.corners[j], self.arm(j, q));
        let rate = v[3 * corner.body + 2];
        Some(-(corner.normal[0] * x + corner.normal[1] * y) * rate * rate)
    }
    fn friction(&self, j: usize) -> f64 {
        self.corners[j].friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        let [x, y] = self.corners[j].normal;
        self.row(j, q, [y, -x], rows);
    }
}

fn floor(body: usize, arm: [f64; 2], friction: f64) -> Corner {
    Corner {
        body,
        arm,
        normal: [0.0, 1.0],
        offset: 0.0,
        friction,
    }
}

/// A run to its end, and its arclength.
struct Done {
    run: Run,
    s: f64,
    model: ContactModel<Bodies>,
}

impl Done {
    /// With the properties of a run.
    fn checked(self) -> Self {
        check(&self.model, &self.run);
        self
    }

    fn state(&self) -> &DVector<f64> {
        self.run.state()
    }
}

fn run(system: &Bodies, q: &[f64], v: &[f64], tf: f64) -> Done {
    let model = ContactModel::with_law(system.clone(), AnitescuPotra::new());
    let model = model.selection(Selection::First).painleve(Painleve::Impact);
    let driver = EventDriven::new(model).unwrap().rtol(1e-10).atol(1e-12);
    let mut driver = driver.zeno(Zeno::Absorb).zeno_tolerance(1e-9);
    let start = Start::at(0.0).q(q).v(v);
    let run = driver.integrate(&start, tf).unwrap().completed().unwrap();
    let s = driver.model().arclength(&run).unwrap().s();
    let model = driver.model().clone();
    Done { run, s, model }
}

/// A block on two corners, 1 m wide and 2 m high, with more corners where asked for.
fn block(at: &[f64], friction: f64) -> Bodies {
    Bodies {
        masses: vec![[1.0, 5.0 / 12.0]],
        corners: at.iter().map(|&x| floor(0, [x, -1.0], friction)).collect(),
        gravity: [0.0, -GRAVITY],
    }
}

fn pivoting(theta: f64, rate: f64) -> ([f64; 3], [f64; 3]) {
    let (sine, cosine) = theta.sin_cos();
    let [x, y] = [0.5 * cosine - sine, 0.5 * sine + cosine];
    ([x, y, theta], [-y * rate, x * rate, rate])
}

/// Bodies that fall independently, each once, at intervals of time and arclength that shrink by a
/// constant ratio: there is no accumulation.
#[test]
fn bodies_that_land_one_after_the_other_do_not_accumulate() {
    let (mut masses, mut corners, mut q) = (Vec::new(), Vec::new(), Vec::new());
    let mut weights = 0.0;
    for k in 0..5 {
        let part = 0.5f64.powi(k + 1);
        let t = 1.0 - part;
        let carried = part * (1.0 + GRAVITY * weights);
        let mass = (100.0 * 0.8f64.powi(k) - carried) / (GRAVITY * t);
        assert!(mass > 0.0);
        weights += mass;
        masses.push([mass, 1.0]);
        corners.push(floor(masses.len() - 1, [0.0, 0.0], 0.5));
        q.extend([0.0, 0.5 * GRAVITY * t * t, 0.0]);
    }
    let system = Bodies {
        masses,
        corners,
        gravity: [0.0, -GRAVITY],
    };
    let run = run(&system, &q, &vec![0.0; q.len()], 1.2);
    // All weights are carried in the end.
    let expected = 1.2 * (1.0 + GRAVITY * weights);
    assert!((run.s - expected).abs() < 1e-6, "{} {expected}", run.s);
    assert_eq!(rests(&run.run).count(), 0);
}

/// A block that slides slowly while it rocks: the slip may stop at any time.
#[test]
fn the_slip_may_stop_while_impacts_are_summed_up() {
    for k in 0..15 {
        let system = block(&[-0.5, 0.5], 0.1);
        let (q, mut v) = pivoting(0.02, 0.0);
        v[0] += 0.2 + 0.007 * f64::from(k);
        run(&system, &q, &v, 0.6).checked();
    }
}

/// Another body lands while the impacts of a block are summed up, or near.
#[test]
fn another_body_may_land_while_impacts_are_summed_up() {
    for at in [2.671, 2.6714, 2.6716] {
        let mut system = block(&[-0.5, 0.5], 1.0);
        system.masses.push([1.0, 1.0]);
        system.corners.push(floor(1, [0.0, 0.0], 0.5));
        let (q, v) = pivoting(0.0, 1.0);
        let q = [&q[..], &[5.0, 0.5 * GRAVITY * at * at, 0.0]].concat();
        let v = [&v[..], &[0.0; 3]].concat();
        let run = run(&system, &q, &v, 2.8).checked();
        let expected = 2.8 * (1.0 + 2.0 * GRAVITY) - v[1];
        assert!((run.s - expected).abs() < 1e-6, "{} {expected}", run.s);
    }
}

/// A block on a slope with friction exactly that of the slope, and nearly.
#[test]
fn at_the_critical_angle_a_block_stays_or_slides_on() {
    let feet: [&[f64]; 4] = [
        &[0.0],
        &[-0.5, 0.5],
        &[-0.5, 0.5, 0.0],
        &[-0.5, 0.5, 0.5, -0.5],
    ];
    for (degrees, excess) in [
        (5.0f64, 0.0),
        (17.3, 0.0),
        (26.0, 0.0),
        (20.0, 1e-6),
        (20.0, -1e-6),
    ] {
        let (sine, cosine) = degrees.to_radians().sin_cos();
        let mu = sine / cosine * (1.0 + excess);
        // Without optimisation only feet that depend on each other.
        let first = if cfg!(debug_assertions) { 2 } else { 0 };
        for feet in &feet[first..] {
            let mut system = block(feet, mu);
            let y = if feet.len() == 1 { 0.0 } else { 1.0 };
            for corner in &mut system.corners {
                corner.arm[1] = -y;
            }
            system.gravity = [GRAVITY * sine, -GRAVITY * cosine];
            let falling = GRAVITY * (sine - mu * cosine);
            let end = 0.4;
            for speed in [0.0, 0.5, -0.5] {
                let run = run(&system, &[0.0, y, 0.0], &[speed, 0.0, 0.0], end);
                let stop = (-speed / (GRAVITY * (sine + mu * cosine))).max(0.0);
                let expected = if speed > 0.0 {
                    speed + falling * end
                } else {
                    (end - stop) * falling.max(0.0)
                };
                let found = run.state()[3];
                assert!(
                    (found - expected).abs() < 1e-8 && run.run.modes().len() <= 2,
                    "{degrees} {excess:e} {feet:?} {speed}: {found} {expected}"
                );
            }
        }
    }
}

/// Corners that are there twice, and one in the middle, change neither motion nor arclength.
#[test]
fn redundant_corners_change_nothing() {
    let starts = [(0.05, 0.0, 0.0), (0.1, -1.0, 0.5), (0.02, 3.0, -1.0)];
    let all: &[f64] = if cfg!(debug_assertions) {
        &[0.05, 0.4]
    } else {
        &[0.0, 0.05, 0.4]
    };
    for &friction in all {
        for (theta, rate, along) in starts {
            let (q, mut v) = pivoting(theta, rate);
            v[0] += along;
            let of = |feet: &[f64]| {
                let run = run(&block(feet, friction), &q, &v, 0.6).checked();
                (run.state().clone(), run.s)
            };
            let (state, s) = of(&[-0.5, 0.5]);
            let twice: &[f64] = &[-0.5, 0.5, 0.5, -0.5];
            let middle: &[f64] = &[-0.5, 0.0, 0.5];
            // A corner in the middle closes with another to within rounding. Where they close one after
            // the other, the law with friction may throw the block from the middle first.
            let all = if friction < 0.4 {
                &[twice, middle][..]
            } else {
                &[twice]
            };
            for feet in all {
                let (other, other_s) = of(feet);
                assert!((other - &state).amax() < 1e-6 && (other_s - s).abs() < 1e-6);
            }
        }
    }
}

/// A body that rests in a groove with walls of 45°: its forces are not unique, but all that keep
/// Coulomb's law have a sum of normal ones between `√2 m g/(1 + μ)` and `√2 m g/(1 − μ)`.
#[test]
fn forces_of_dependent_contacts_keep_coulombs_law() {
    let root = 0.5f64.sqrt();
    let wall = |normal| Corner {
        body: 0,
        arm: [0.0; 2],
        normal,
        offset: 0.0,
        friction: 0.1,
    };
    let system = Bodies {
        masses: vec![[1.0, 1.0]],
        corners: vec![wall([root, root]), wall([-root, root])],
        gravity: [0.0, -GRAVITY],
    };
    let run = run(&system, &[0.0; 3], &[0.0; 3], 1.0).checked();
    let sum = (run.s - 1.0) / (2.0f64.sqrt() * GRAVITY);
    assert!(
        (1.0 / 1.1 - 1e-9..=1.0 / 0.9 + 1e-9).contains(&sum),
        "{sum}"
    );
}
