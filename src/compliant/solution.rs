//! The solution of a step: velocities, impulses, regions, and how each island converged.

use super::law::Region;
use crate::{InputError, validate};

/// The end of the iteration of an island.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Convergence {
    /// The gradient is below its tolerance.
    #[default]
    Gradient,
    /// The gradient is not below its tolerance, but rounding left no direction that leads down, or a
    /// step changed neither the cost nor the velocities beyond rounding, and the momentum error is at
    /// most 1e-2, or momenta and impulses are rounding of the places of bodies at rest. (Also where fixed loads
    /// of friction proved right to 1e-9, and less was asked for.)
    Cost,
    /// Rounding left no direction that leads down, or steps that change the cost by no more than
    /// rounding, while momenta and impulses are not in balance. The best velocities are returned
    /// with their residual. (Where the cost itself overflows, there is no solution but an error.)
    Stalled,
    /// The limit of iterations was reached. The best velocities are returned with their residual.
    MaxIterations,
}

impl Convergence {
    /// True for [`Gradient`](Self::Gradient) and [`Cost`](Self::Cost).
    pub fn is_converged(self) -> bool {
        matches!(self, Self::Gradient | Self::Cost)
    }
}

/// The report on the solution of one island.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct IslandReport {
    /// Number of trees.
    pub trees: usize,
    /// Number of contacts.
    pub contacts: usize,
    /// Number of other terms.
    pub rows: usize,
    /// The end of the iteration.
    pub convergence: Convergence,
    /// Newton iterations: factorisations.
    pub iterations: usize,
    /// Sweeps of Coulomb's friction, from a guess that was far, or to the end.
    pub sweeps: usize,
    /// Evaluations of line searches.
    pub evaluations: usize,
    /// Momentum error `e_m` (Castro et al., eq. 32), without unit: the gradient in the norm of
    /// `diag(A)^(−1/2)`, relative to momenta and impulses.
    pub momentum_error: f64,
    /// Error of Coulomb's friction, without unit: the gradient with the normal impulses of the
    /// solution as loads, in the norm of the momentum error. It is below the tolerance but where
    /// loads do not come to rest in 100 iterations, or a quarter of their limit; then they are those of sweeps, to
    /// about 1e-6 where these come to rest. Zero for other laws of friction.
    pub friction_error: f64,
    /// The cost at the solution (J), with loads held.
    pub cost: f64,
    /// The cost before each iteration and at the end (J), if
    /// [`history`](super::Solver::history) asks for it.
    pub costs: Vec<f64>,
}

impl IslandReport {
    /// Forgets the last solution.
    pub(super) fn restart(&mut self, trees: usize, contacts: usize, rows: usize) {
        (self.trees, self.contacts, self.rows) = (trees, contacts, rows);
        (self.iterations, self.evaluations) = (0, 0);
        (self.sweeps, self.friction_error) = (0, 0.0);
        self.costs.clear();
    }

    /// Cost and momentum error at an iterate.
    pub(super) fn state(&mut self, cost: f64, residual: f64, scale: f64) {
        self.cost = cost;
        self.momentum_error = if (residual + scale).is_finite() {
            relative(residual, scale)
        } else {
            f64::INFINITY
        };
    }
}

/// A residual by the scale of momenta and impulses; 1 where it is all that is there.
pub(in crate::compliant) fn relative(residual: f64, scale: f64) -> f64 {
    if scale > 0.0 {
        residual / scale
    } else if residual > 0.0 {
        1.0
    } else {
        0.0
    }
}

/// The solution of a [`Problem`](super::Problem).
#[derive(Clone, Debug, Default)]
pub struct StepSolution {
    pub(super) v: Vec<f64>,
    pub(super) impulses: Vec<[f64; 3]>,
    pub(super) moments: Vec<[f64; 3]>,
    pub(super) regions: Vec<Region>,
    pub(super) row_impulses: Vec<f64>,
    pub(super) islands: Vec<IslandReport>,
    pub(super) complementarity: f64,
}

impl StepSolution {
    /// Velocities at the end of the step.
    pub fn v(&self) -> &[f64] {
        &self.v
    }

    /// Impulses of the contacts (N s), `[n, t₁, t₂]` each, on the first body.
    pub fn impulses(&self) -> &[[f64; 3]] {
        &self.impulses
    }

    /// Moments of spinning and rolling friction (N m s), `[about n, about t₁, about t₂]` each, on the
    /// first body: one for each contact, and none at all where no contact of the problem has such friction.
    pub fn moments(&self) -> &[[f64; 3]] {
        &self.moments
    }

    /// The region of each contact.
    pub fn regions(&self) -> &[Region] {
        &self.regions
    }

    /// Impulses of the rows of other terms (N s, or N m s), in the order in which they were added.
    pub fn row_impulses(&self) -> &[f64] {
        &self.row_impulses
    }

    /// The reports on the islands, in the order of their first trees. Trees without terms are in
    /// none.
    pub fn islands(&self) -> &[IslandReport] {
        &self.islands
    }

    /// True when all islands converged.
    pub fn is_converged(&self) -> bool {
        self.islands
            .iter()
            .all(|island| island.convergence.is_converged())
    }

    /// Forgets the last solution; keeps the memory.
    pub(super) fn clear(&mut self) {
        self.v.clear();
        self.impulses.clear();
        self.moments.clear();
        self.regions.clear();
        self.row_impulses.clear();
        self.islands.clear();
        self.complementarity = 0.0;
    }

    /// Refuses numbers that are not finite: those of the problem are so large that they overflow.
    pub(super) fn check_finite(&self) -> Result<(), InputError> {
        validate::finite("velocity after the step", &self.v)?;
        let impulses = self.impulses.as_flattened();
        validate::finite("impulses of contacts, three each", impulses)?;
        let moments = self.moments.as_flattened();
        validate::finite("moments of contacts, three each", moments)?;
        validate::finite("impulse of a row", &self.row_impulses)?;
        for (number, island) in self.islands.iter().enumerate() {
            let of_island = validate::counted_from(number);
            validate::finite("cost of an island", &[island.cost]).map_err(&of_island)?;
            let error = &[island.momentum_error];
            validate::finite("momentum error of an island", error).map_err(of_island)?;
        }
        Ok(())
    }

    /// The cost at the solution (J).
    pub fn cost(&self) -> f64 {
        self.islands.iter().map(|island| island.cost).sum()
    }

    /// The greatest [momentum error](IslandReport::momentum_error) of an island.
    pub fn momentum_error(&self) -> f64 {
        let errors = self.islands.iter().map(|island| island.momentum_error);
        errors.fold(0.0, f64::max)
    }

    /// The greatest [error of friction](IslandReport::friction_error) of an island.
    pub fn friction_error(&self) -> f64 {
        let errors = self.islands.iter().map(|island| island.friction_error);
        errors.fold(0.0, f64::max)
    }

    /// The complementarity error `e_μ` (Castro et al., eq. 33), without unit: rounding, since the
    /// impulses are exact functions of the velocities.
    pub fn complementarity_error(&self) -> f64 {
        let cost = self.cost();
        if self.impulses.is_empty() || self.complementarity == 0.0 {
            return 0.0;
        }
        self.complementarity / (cost * self.impulses.len() as f64)
    }
}
