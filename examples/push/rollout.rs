//! The rollout with its gradient, and the descent.

use nalgebra::{DMatrix, Vector2};
use saltation::bodies::{Body, Scene, Shape};
use saltation::compliant::{Axis, CompliantFailure, JointCoupling, Solver};
use saltation::{Compliant, Start};

/// A box on the ground, and two fingers beside it, balls on rails along x, pushed by forces.
pub(crate) struct Task {
    stepper: Compliant<Scene>,
    pub(crate) goal: Vector2<f64>,
    steps: usize,
}

/// What a rollout came to.
pub(crate) struct Rollout {
    /// Half the squares of the distance from the goal and of the speed by [`SECONDS`] (m²).
    pub(crate) cost: f64,
    pub(crate) gradient: Vec<f64>,
    /// For each step `(x, y, angle)` of the box, and `x` of the fingers.
    pub(crate) path: Vec<[f64; 5]>,
}

/// Most steps of a rollout.
const MOST_STEPS: usize = 10_000;
/// Speed that counts like a distance, for one second.
const SECONDS: f64 = 0.1;
/// Radius of a finger, and the places of both along y (m).
pub(crate) const RADIUS: f64 = 0.02;
pub(crate) const RAILS: [f64; 2] = [-0.03, 0.03];

impl Task {
    pub(crate) fn new(goal: Vector2<f64>, dt: f64, tf: f64) -> Result<Self, saltation::Error> {
        let mut scene = Scene::new();
        scene.add(Body::fixed(Shape::plane()).friction(0.4))?;
        let cube = Body::new(Shape::cuboid([0.05; 3])?).friction(0.4);
        scene.add(cube.position([0.0, 0.0, 0.05]))?;
        for y in RAILS {
            let finger = Body::new(Shape::sphere(RADIUS)?).friction(0.0);
            scene.add(finger.position([-0.051 - RADIUS, y, RADIUS]))?;
        }
        let mut stepper = Compliant::new(scene)?.time_step(dt);
        for (finger, y) in RAILS.into_iter().enumerate() {
            let across = Axis::new(7 * (finger + 1) + 1, 6 * (finger + 1) + 4);
            stepper = stepper.term(JointCoupling::new(&[(across, 1.0)], y));
        }
        Ok(Self {
            stepper: stepper.solver(Solver::new().rtol(1e-10)),
            goal,
            steps: (1..MOST_STEPS)
                .find(|&k| k as f64 * dt >= tf * (1.0 - 1e-9))
                .unwrap_or(MOST_STEPS),
        })
    }

    /// The run under the forces (N) on both fingers, one pair for each part of the time.
    pub(crate) fn roll(&mut self, forces: &[f64]) -> Result<Rollout, CompliantFailure> {
        let (q, v) = self.stepper.system().start();
        self.stepper.start(&Start::at(0.0).q(&q).v(&v))?;
        let mut columns = DMatrix::zeros(q.len() + v.len(), forces.len());
        let mut path = Vec::new();
        for step in 0..self.steps {
            let part = step * (forces.len() / 2) / self.steps;
            let (mut effort, mut along) =
                (vec![0.0; v.len()], DMatrix::zeros(v.len(), forces.len()));
            for finger in 0..2 {
                let velocity = 6 * (finger + 1) + 3;
                effort[velocity] = forces[2 * part + finger];
                along[(velocity, 2 * part + finger)] = 1.0;
            }
            self.stepper.step_along(&effort, &mut columns, &along)?;
            let q = self.stepper.q();
            let angle = 2.0 * q[6].atan2(q[3]);
            path.push([q[0], q[1], angle, q[7], q[14]]);
        }
        let (q, v) = (self.stepper.q(), self.stepper.v());
        let miss = Vector2::new(q[0], q[1]) - self.goal;
        let speed = Vector2::new(v[3], v[4]) * SECONDS;
        let gradient = columns.column_iter().map(|column| {
            let (moved, faster) = (column.fixed_rows::<2>(0), column.fixed_rows::<2>(21 + 3));
            miss.dot(&moved) + SECONDS * speed.dot(&faster)
        });
        Ok(Rollout {
            cost: 0.5 * (miss.norm_squared() + speed.norm_squared()),
            gradient: gradient.collect(),
            path,
        })
    }

    /// Gradient descent. The step is that of Barzilai and Borwein, which learns the curvature from
    /// the last two gradients, and is cut where the cost does not fall.
    pub(crate) fn descend(
        &mut self,
        forces: &mut Vec<f64>,
        most: usize,
    ) -> Result<Vec<Rollout>, CompliantFailure> {
        let mut found = vec![self.roll(forces)?];
        let mut step = 20.0;
        while found.len() <= most && step > 1e-6 {
            let last = &found[found.len() - 1];
            let pairs = forces.iter().zip(&last.gradient);
            let tried: Vec<f64> = pairs.map(|(force, slope)| force - step * slope).collect();
            let next = self.roll(&tried)?;
            if next.cost >= last.cost {
                step *= 0.25;
                continue;
            }
            let length: f64 = last.gradient.iter().map(|g| g * g).sum();
            let along: f64 = last
                .gradient
                .iter()
                .zip(&next.gradient)
                .map(|(a, b)| a * b)
                .sum();
            let flatter = length - along;
            step *= if flatter > 0.0 { length / flatter } else { 2.0 };
            *forces = tried;
            found.push(next);
        }
        Ok(found)
    }
}
