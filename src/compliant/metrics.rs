//! Errors of the contact model in a solution, and the energy that its contacts store.

use super::law::{Friction, Region};
use super::problem::Problem;
use super::solution::StepSolution;
use crate::linalg::dot;

/// The distance from the ground at which a sliding contact rides (Castro et al., section VIII): the
/// price of a convex problem.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct Gliding {
    /// Speed of the slip `|v_t|` (m/s).
    pub slip: f64,
    /// Thickness of the cushion `(dt + τ) μ |v_t|` (m): the gap at which the contact of a body
    /// without weight would stop pressing. Zero with Coulomb's law and lagged friction, which have no cushion.
    pub distance: f64,
    /// The gap of a body that slides on at this speed with this normal impulse (m): `distance` less
    /// the compression `(R_n + μ² R_t)(dt + τ) γ_n`, which is about the load by the stiffness.
    pub gap: f64,
}

impl Problem {
    /// The velocity of contact `i` at velocities `v`, `[n, t₁, t₂]` (m/s); none for a contact that
    /// is not there, and for velocities of another length.
    pub fn contact_velocity(&self, i: usize, v: &[f64]) -> Option<[f64; 3]> {
        let contact = self.contacts.get(i).filter(|_| v.len() == self.dof())?;
        let mut velocity = [0.0; 3];
        for link in contact.links.iter() {
            let tree = self.trees[link.tree];
            let v = &v[tree.start..tree.start + tree.width];
            let rows = self.jacobian[link.place..].chunks_exact(tree.width);
            for (sum, row) in velocity.iter_mut().zip(rows) {
                *sum += dot(row, v);
            }
        }
        Some(velocity)
    }

    /// The energy in the springs of overlapping contacts at the start of the step (J). A spring is
    /// as stiff as the step uses it: `1/(R_n dt (dt + τ))`, which is the stiffness of the contact
    /// unless the near-rigid limit holds it down.
    pub fn elastic_energy(&self) -> f64 {
        let energies = self.contacts.iter().map(|contact| {
            let (overlap, time) = (contact.parameters.gap.min(0.0), contact.time(self.dt()));
            0.5 * overlap * overlap / (contact.law.normal * self.dt() * time)
        });
        energies.sum()
    }
}

impl super::problem::ContactTerm {
    /// `dt + τ`.
    fn time(&self, dt: f64) -> f64 {
        dt + self.parameters.dissipation_time
    }
}

impl StepSolution {
    /// The gliding of contact `i` of the problem that was solved; none for a contact
    /// that does not slide, and for another problem.
    ///
    /// ```
    /// use saltation::Start;
    /// use saltation::compliant::{Compliant, StepFriction};
    /// use saltation::models::SlidingBlock;
    /// let block = SlidingBlock { friction: 0.5, slope: 0.5f64.atan(), ..SlidingBlock::default() };
    /// let mut stepper = Compliant::new(block)?.friction(StepFriction::Cone);
    /// let start = Start::at(0.0).q(&[0.0; 2]).v(&[-1.0, 0.0]);
    /// let run = stepper.integrate(&start, 3.0)?.completed()?;
    /// let gliding = stepper.solution().gliding(stepper.problem(), 0).expect("it slides");
    /// assert!((gliding.distance - 0.01 * 0.5 * gliding.slip).abs() < 1e-12);
    /// assert!((gliding.gap - run.state()[1]).abs() < 1e-9);
    /// # Ok::<(), saltation::Error>(())
    /// ```
    pub fn gliding(&self, problem: &Problem, i: usize) -> Option<Gliding> {
        let region = *self.regions.get(i)?;
        if region != Region::Sliding || self.regions.len() != problem.contacts.len() {
            return None;
        }
        let contact = &problem.contacts[i];
        let velocity = problem.contact_velocity(i, &self.v)?;
        let (law, time) = (&contact.law, contact.time(problem.dt()));
        let slip = velocity[1].hypot(velocity[2]);
        let (distance, soft) = match law.model {
            Friction::Cone => (time * law.friction * slip, law.sliding()),
            _ => (0.0, law.normal),
        };
        Some(Gliding {
            slip,
            distance,
            gap: distance - soft * time * self.impulses[i][0],
        })
    }
}
