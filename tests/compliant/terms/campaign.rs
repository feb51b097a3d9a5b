//! Random systems with all terms on axes, a step each, against the forces of the terms as they are
//! defined: a dense Newton method with bisection, which knows nothing of the law of rows.

use saltation::{Compliant, Start};
use std::f64::consts::PI;
use std::ops::Range;

use nalgebra::{DMatrix, DVector};
use saltation::compliant::{
    Compliance, JointCoupling, JointFriction, JointLimit, Motor, MotorGoal, Solver,
};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};

use crate::random::SplitMix64;

/// Trees of random inertia with constant loads.
#[derive(Clone, Debug)]
struct Random {
    trees: Vec<Range<usize>>,
    mass: DMatrix<f64>,
    loads: Vec<f64>,
}

impl MechanicalSystem for Random {
    fn dof(&self) -> usize {
        self.loads.len()
    }

    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(self.mass.as_slice());
    }

    fn constant_mass(&self) -> bool {
        true
    }

    fn trees(&self) -> usize {
        self.trees.len()
    }

    fn tree(&self, i: usize) -> Range<usize> {
        self.trees[i].clone()
    }

    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&self.loads);
    }
}

impl UnilateralConstraints for Random {
    fn contacts(&self) -> usize {
        0
    }

    fn gap(&self, _j: usize, _q: &[f64]) -> f64 {
        f64::INFINITY
    }
}

/// A term as data: what it is, and along which velocities it acts.
#[derive(Clone, Debug)]
enum Term {
    /// Lower and upper limit, stiffness, dissipation time.
    Limit(usize, [f64; 2], [f64; 2]),
    Friction(usize, f64),
    /// Gains, effort limit; position, velocity and effort of the goal.
    Motor(usize, [f64; 3], [f64; 3]),
    /// Coefficients, value, stiffness, dissipation time.
    JointCoupling(Vec<(usize, f64)>, [f64; 3]),
}

fn compliance([stiffness, dissipation_time]: [f64; 2]) -> Compliance {
    Compliance {
        stiffness,
        dissipation_time,
        ..Compliance::default()
    }
}

fn motor(axis: usize, [kp, kd, limit]: [f64; 3], [position, velocity, effort]: [f64; 3]) -> Motor {
    let goal = MotorGoal {
        position,
        velocity,
        effort,
    };
    Motor::new(axis)
        .gains(kp, kd)
        .effort_limit(limit)
        .goal(goal)
}

impl Term {
    fn put<S>(&self, stepper: Compliant<S>) -> Compliant<S>
    where
        S: MechanicalSystem + UnilateralConstraints,
    {
        match self {
            &Self::Limit(axis, [l, u], soft) => {
                stepper.term(JointLimit::new(axis, l, u).compliance(compliance(soft)))
            }
            &Self::Friction(axis, effort) => stepper.term(JointFriction::new(axis, effort)),
            &Self::Motor(axis, gains, goal) => stepper.term(motor(axis, gains, goal)),
            Self::JointCoupling(parts, [value, k, tau]) => {
                stepper.term(JointCoupling::new(parts, *value).compliance(compliance([*k, *tau])))
            }
        }
    }

    fn row(&self, dof: usize) -> DVector<f64> {
        let mut row = DVector::zeros(dof);
        match self {
            Self::Limit(axis, ..) | Self::Friction(axis, _) | Self::Motor(axis, ..) => {
                row[*axis] = 1.0;
            }
            Self::JointCoupling(parts, _) => parts.iter().for_each(|&(i, c)| row[i] += c),
        }
        row
    }

    /// The impulse along the row for the rate `rate` at the end of the step, and its slope; `w` is
    /// the response, `at` the form of the coordinates at the start.
    fn impulse(&self, dt: f64, w: f64, at: f64, rate: f64) -> (f64, f64) {
        let least = 0.01 * w / (4.0 * PI * PI);
        // The force −k g − τ k ġ at the end of the step, with k no stiffer than the limit.
        let spring = |g: f64, [k, tau]: [f64; 2]| {
            let k = k.min(1.0 / (least * dt * (dt + tau)));
            let force = -k * (g + dt * rate) - tau * k * rate;
            (dt * force, dt * k * (dt + tau))
        };
        match self {
            &Self::Limit(_, [lower, upper], soft) => {
                let (push, slope) = spring(at - lower, soft);
                let (pull, other) = spring(at - upper, soft);
                match (push > 0.0, pull < 0.0) {
                    (true, true) => (push + pull, slope + other),
                    (true, false) => (push, slope),
                    (false, true) => (pull, other),
                    (false, false) => (0.0, 0.0),
                }
            }
            &Self::Friction(_, effort) => {
                let stick = -rate / (1e-3 * w);
                if stick.abs() < dt * effort {
                    (stick, 1.0 / (1e-3 * w))
                } else {
                    (dt * effort * stick.signum(), 0.0)
                }
            }
            &Self::Motor(_, [kp, kd, limit], [position, velocity, forward]) => {
                let slope = dt * (dt * kp + kd);
                let kept = if slope * least > 1.0 {
                    1.0 / (slope * least)
                } else {
                    1.0
                };
                let (kp, kd) = (kept * kp, kept * kd);
                let effort = -kp * (at + dt * rate - position) - kd * (rate - velocity) + forward;
                if effort.abs() < limit {
                    (dt * effort, dt * (dt * kp + kd))
                } else {
                    (dt * limit * effort.signum(), 0.0)
                }
            }
            Self::JointCoupling(_, [value, k, tau]) => spring(at - value, [*k, *tau]),
        }
    }
}

/// The velocities at the end of the step: the root of `A (v − v*) − Σ Jᵀ γ`, the gradient of a
/// convex function.
fn reference(system: &Random, dt: f64, q: &[f64], v0: &[f64], terms: &[Term]) -> DVector<f64> {
    let (a, dof) = (&system.mass, system.loads.len());
    let inverse = a.clone().try_inverse().expect("positive definite");
    let loads = DVector::from_column_slice(&system.loads);
    let free = DVector::from_column_slice(v0) + &inverse * loads * dt;
    let q = DVector::from_column_slice(q);
    let rows: Vec<_> = terms.iter().map(|term| term.row(dof)).collect();
    let gradient = |v: &DVector<f64>| {
        let (mut gradient, mut hessian) = (a * (v - &free), a.clone());
        for (term, row) in terms.iter().zip(&rows) {
            let of_tree = |own: &Range<usize>| {
                let mut part = DVector::zeros(row.len());
                part.rows_range_mut(own.clone())
                    .copy_from(&row.rows_range(own.clone()));
                (part.transpose() * &inverse * part)[0]
            };
            let each: Vec<f64> = system
                .trees
                .iter()
                .map(of_tree)
                .filter(|w| *w > 0.0)
                .collect();
            let response = match (term, &each[..]) {
                // As for two trees like the heavier one.
                (Term::JointCoupling(..), &[a, b]) => 2.0 * a.min(b),
                _ => each.iter().sum(),
            };
            let (impulse, slope) = term.impulse(dt, response, row.dot(&q), row.dot(v));
            gradient -= row * impulse;
            hessian += row * row.transpose() * slope;
        }
        (gradient, hessian)
    };
    let mut v = free.clone();
    for _ in 0..500 {
        let (at_v, hessian) = gradient(&v);
        let step = -hessian.cholesky().expect("positive definite").solve(&at_v);
        if step.norm() <= 1e-15 * v.norm() {
            break;
        }
        let slope = |length: f64| gradient(&(&v + &step * length)).0.dot(&step);
        let (mut low, mut high) = (0.0, 1.0);
        if slope(1.0) > 0.0 {
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if slope(middle) > 0.0 {
                    high = middle;
                } else {
                    low = middle;
                }
            }
        }
        v += step * high;
    }
    v
}

fn draw(draw: &mut SplitMix64) -> (Random, Vec<Term>) {
    let mut trees = Vec::new();
    let mut dof = 0;
    for _ in 0..=draw.permutation(4)[0] {
        let width = 1 + draw.permutation(3)[0];
        trees.push(dof..dof + width);
        dof += width;
    }
    let mut mass = DMatrix::zeros(dof, dof);
    for tree in &trees {
        let n = tree.len();
        let root = DMatrix::from_fn(n, n, |_, _| draw.between(-1.0, 1.0));
        let scale = 10f64.powf(draw.between(-1.0, 1.0));
        let block = (&root * root.transpose() + DMatrix::identity(n, n)) * scale;
        let block = (&block + block.transpose()) * 0.5;
        mass.view_mut((tree.start, tree.start), (n, n))
            .copy_from(&block);
    }
    let decades = |draw: &mut SplitMix64, a: f64, b: f64| 10f64.powf(draw.between(a, b));
    let soft = |draw: &mut SplitMix64| {
        let rigid = draw.unit() < 0.3;
        let stiffness = decades(draw, 1.0, 8.0);
        let time = draw.between(0.0, 0.05);
        [if rigid { f64::INFINITY } else { stiffness }, time]
    };
    let terms = (0..=draw.permutation(7)[0])
        .map(|_| {
            let axis = draw.permutation(dof)[0];
            match draw.permutation(4)[0] {
                0 => {
                    let lower = draw.between(-0.2, 0.1);
                    let upper = lower + draw.between(0.01, 0.2);
                    Term::Limit(axis, [lower, upper], soft(draw))
                }
                1 => Term::Friction(axis, decades(draw, -2.0, 2.0)),
                2 => {
                    let (kp, kd) = (decades(draw, 0.0, 9.0), decades(draw, 0.0, 6.0));
                    let goal = [(); 3].map(|()| draw.between(-1.0, 1.0));
                    Term::Motor(axis, [kp, kd, decades(draw, -1.0, 3.0)], goal)
                }
                _ => {
                    // Of the velocities of two trees.
                    let pair = draw.permutation(trees.len());
                    let velocities: Vec<usize> = pair
                        .iter()
                        .take(2)
                        .flat_map(|&tree| trees[tree].clone())
                        .collect();
                    let parts = velocities.iter().map(|&i| (i, draw.between(0.1, 2.0)));
                    let parts = parts.collect();
                    let [k, tau] = soft(draw);
                    Term::JointCoupling(parts, [draw.between(-0.2, 0.2), k, tau])
                }
            }
        })
        .collect();
    let loads = (0..dof).map(|_| draw.between(-30.0, 30.0)).collect();
    let system = Random { trees, mass, loads };
    (system, terms)
}

fn campaign(cases: u64, seed: u64) {
    let mut random = SplitMix64(seed);
    for case in 0..cases {
        let (system, terms) = draw(&mut random);
        let dof = system.loads.len();
        let dt = 10f64.powf(random.between(-3.0, -1.0));
        let q: Vec<f64> = (0..dof).map(|_| random.between(-0.2, 0.2)).collect();
        let v: Vec<f64> = (0..dof).map(|_| random.between(-2.0, 2.0)).collect();
        let expected = reference(&system, dt, &q, &v, &terms);
        let mut stepper = Compliant::new(system)
            .expect("a system")
            .time_step(dt)
            .solver(Solver::new().rtol(1e-11));
        for term in &terms {
            stepper = term.put(stepper);
        }
        stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("start");
        stepper.step().expect("a step");
        let found = DVector::from_column_slice(stepper.v());
        let error = (&found - &expected).norm() / expected.norm();
        assert!(error < 1e-8, "{case}: {error:e}\n{terms:?}");
    }
}

#[test]
fn random_terms_against_their_forces() {
    campaign(150, 0x5a17);
}

/// `cargo test --test compliant long_campaign_of_terms -- --ignored`
#[test]
#[ignore = "a minute"]
fn long_campaign_of_terms() {
    campaign(5_000, 99);
}
