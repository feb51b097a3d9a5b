//! The first 30 ms after a drop, twice: with the fastest and with the slowest contact first.

use saltation::Start;
use saltation::impact::{Propagative, ReflectionOrder, indeterminacy};
use saltation::mechanics::MechanicalSystem;
use saltation::nalgebra::{Cholesky, DMatrix, DVector};
use saltation::variational::{Chatter, Variational, VariationalRun};

use crate::Setup;
use crate::common::flags::Outcome;
use crate::robot::{Robot, falling};

/// How two runs of a robot part.
pub(crate) struct Landing {
    pub(crate) name: &'static str,
    /// ξ of the first impact alone.
    pub(crate) first: f64,
    /// Time (ms) and ξ at the nodes after the start.
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
        let speed = (2.0 * robot.system.gravity * setup.drop).sqrt();
        let run = |order| -> Outcome<VariationalRun> {
            let run = Variational::with_law(robot.system, Propagative::new(order))?
                .time_step(1e-3 * setup.step)
                .chatter(setup.chatter.then(Chatter::default))
                .integrate(
                    &Start::at(0.0).q(&robot.q).v(&falling(speed)),
                    1e-3 * setup.tf,
                )?;
            Ok(run.completed()?)
        };
        let runs = [run(ReflectionOrder::ArgMin)?, run(ReflectionOrder::ArgMax)?];
        let nodes = 1..runs[0].times().len();
        let xi = nodes.map(|k| {
            let [a, b] = [0, 1].map(|i| runs[i].p(k));
            let apart: Vec<f64> = a.iter().zip(b).map(|(a, b)| a - b).collect();
            let xi = norm(robot, runs[0].q(k), &apart)? / norm(robot, runs[0].q(k), a)?;
            Some((1e3 * runs[0].times()[k], xi))
        });
        let xi: Option<Vec<_>> = xi.collect();
        let contacts = |run: &VariationalRun| -> Vec<Vec<usize>> {
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
            guaranteed: runs.iter().all(VariationalRun::is_guaranteed),
        })
    }

    /// ξ at a time (ms), at the node next to it.
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

fn impacts(run: &VariationalRun) -> usize {
    let events = run.events().iter();
    events.filter(|event| !event.impulses.is_empty()).count()
}

/// √(p M⁻¹ pᵀ), the norm of a momentum in the metric of kinetic energy.
fn norm(robot: &Robot, q: &[f64], p: &[f64]) -> Option<f64> {
    let mut mass = DMatrix::zeros(p.len(), p.len());
    robot.system.mass(q, mass.as_mut_slice());
    let half = Cholesky::new(mass)?.l();
    let scaled = half.solve_lower_triangular(&DVector::from_column_slice(p))?;
    Some(scaled.norm())
}
