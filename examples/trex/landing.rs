//! The first 30 ms after a drop, twice: with the fastest and with the slowest contact first.

use saltation::impact::{Propagative, ReflectionOrder, indeterminacy};
use saltation::mechanics::MechanicalSystem;
use saltation::nalgebra::{Cholesky, DMatrix, DVector, DVectorView};
use saltation::variational::Chatter;
use saltation::{ContactModel, Run, Start, Variational};

use crate::Setup;
use crate::common::flags::Outcome;
use crate::robot::{Robot, falling};

/// How two runs of a robot part.
pub(crate) struct Landing {
    pub(crate) name: &'static str,
    /// ξ of the first impact alone.
    pub(crate) first: f64,
    /// Time (ms) and ξ at the ends of steps.
    pub(crate) xi: Vec<(f64, f64)>,
    /// Impacts of the two runs.
    pub(crate) impacts: [usize; 2],
    /// Whether the two runs had the contacts of each impact in common.
    pub(crate) same_contacts: bool,
    /// Whether no contact was taken to be at rest.
    pub(crate) guaranteed: bool,
}

impl Landing {
    pub(crate) fn of(robot: &Robot, setup: &Setup) -> Outcome<Self> {
        let step = 1e-3 * setup.step;
        let speed = (2.0 * robot.system.gravity * setup.drop).sqrt();
        let run = |order| -> Outcome<Run> {
            let model = ContactModel::with_law(robot.system, Propagative::new(order));
            let start = Start::at(0.0).q(&robot.q);
            let run = Variational::new(model)?
                .time_step(step)
                .chatter(setup.chatter.then(Chatter::default))
                .integrate(&start.v(&falling(speed)), 1e-3 * setup.tf)?;
            Ok(run.completed()?)
        };
        let runs = [run(ReflectionOrder::ArgMin)?, run(ReflectionOrder::ArgMax)?];
        let [first, second] = [runs[0].every(step)?, runs[1].every(step)?];
        let xi = (1..first.times.len()).map(|k| {
            let mass = mass(robot, &first.states.column(k));
            let [a, b] = [&first, &second].map(|run| momentum(robot, &run.states.column(k)));
            let xi = norm(&mass, &(&a - b))? / norm(&mass, &a)?;
            Some((1e3 * first.times[k], xi))
        });
        let xi: Option<Vec<_>> = xi.collect();
        let contacts = |run: &Run| -> Vec<Vec<usize>> {
            run.events()
                .iter()
                .map(|event| event.contacts.clone())
                .collect()
        };
        Ok(Self {
            name: robot.name,
            first: indeterminacy(&robot.impact(speed)?)?,
            xi: xi.ok_or("a mass matrix is not positive definite")?,
            impacts: [0, 1].map(|i| impacts(&runs[i])),
            same_contacts: contacts(&runs[0]) == contacts(&runs[1]),
            guaranteed: runs.iter().all(Run::is_guaranteed),
        })
    }

    /// ξ at a time (ms), at the end of a step next to it.
    pub(crate) fn at(&self, t: f64) -> Option<f64> {
        let near = |node: &&(f64, f64)| (node.0 - t).abs();
        let node = self.xi.iter().min_by(|a, b| near(a).total_cmp(&near(b)))?;
        Some(node.1)
    }

    /// The greatest ξ.
    pub(crate) fn greatest(&self) -> f64 {
        self.xi.iter().fold(0.0, |a, (_, xi)| xi.max(a))
    }
}

fn impacts(run: &Run) -> usize {
    let events = run.events().iter();
    events.filter(|event| !event.impulses.is_empty()).count()
}

/// The mass matrix at a state `(q, v)`.
fn mass(robot: &Robot, state: &DVectorView<'_, f64>) -> DMatrix<f64> {
    let d = robot.q.len();
    let mut mass = DMatrix::zeros(d, d);
    robot
        .system
        .mass(state.rows(0, d).as_slice(), mass.as_mut_slice());
    mass
}

/// `p = M v` at a state `(q, v)`.
fn momentum(robot: &Robot, state: &DVectorView<'_, f64>) -> DVector<f64> {
    let d = robot.q.len();
    mass(robot, state) * state.rows(d, d)
}

/// √(p M⁻¹ pᵀ), the norm of a momentum in the metric of kinetic energy.
fn norm(mass: &DMatrix<f64>, p: &DVector<f64>) -> Option<f64> {
    let half = Cholesky::new(mass.clone())?.l();
    Some(half.solve_lower_triangular(p)?.norm())
}
