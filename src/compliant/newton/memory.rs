//! An island with the memory of its solution.

use super::block_cholesky::BlockCholesky;
use super::coupling::{Coupled, Limit, Side};
use super::hessian::factorise;
use super::island::Island;
use super::iterate::{Direction, Iterate};
use super::sweeps::Sweeps;
use crate::compliant::solution::IslandReport;

/// An island with the memory of its solution. It keeps what it has allocated, and the symbolic
/// factorisation while trees and edges stay the same.
#[derive(Clone, Debug, Default)]
pub(in crate::compliant) struct IslandSolver {
    pub(in crate::compliant) island: Island,
    pub(in crate::compliant) iterate: Iterate,
    pub(super) direction: Direction,
    pub(in crate::compliant) factor: BlockCholesky,
    /// `A v*`, for the scale of momenta.
    pub(super) free_momentum: Vec<f64>,
    pub(super) candidate: Iterate,
    /// Loads that are held while others are looked at.
    pub(super) held: Vec<f64>,
    pub(in crate::compliant) coupled: Coupled,
    pub(super) sweeps: Sweeps,
    /// Loads did not come to rest, and are those of the sweeps.
    pub(in crate::compliant) is_fixed: bool,
    pub(in crate::compliant) scratch: Vec<f64>,
    pub(in crate::compliant) report: IslandReport,
}

impl IslandSolver {
    /// `‖D ∇ℓ‖`, and the greater of `‖D A v‖` and `‖D Jᵀγ‖` (26).
    pub(super) fn residual(&self) -> (f64, f64) {
        let (island, iterate) = (&self.island, &self.iterate);
        let mut momentum = 0.0;
        let parts = iterate.momentum.iter().zip(&self.free_momentum);
        for ((a, b), d) in parts.zip(&island.scale) {
            momentum += ((a + b) * d).powi(2);
        }
        let impulse = island.scaled_norm(&iterate.generalised);
        (
            island.scaled_norm(&iterate.gradient),
            momentum.sqrt().max(impulse),
        )
    }

    /// The size of impulses and of the momenta that they change, likewise scaled.
    pub(super) fn changes(&self) -> f64 {
        let (island, iterate) = (&self.island, &self.iterate);
        let momentum = island.scaled_norm(&iterate.momentum);
        momentum.max(island.scaled_norm(&iterate.generalised))
    }

    /// Factorises the Hessian at the solution, for its derivatives.
    pub(in crate::compliant) fn factorise_at_solution(&mut self) -> bool {
        let island = &self.island;
        self.factor.analyse(&island.widths, &island.edges);
        self.coupled.collect(island, &self.iterate);
        factorise(&mut self.factor, island, &self.iterate, &mut self.scratch)
    }

    /// Solves with the derivative of the balance at the solution, which was factorised: `H`, and what
    /// loads add that follow the velocities. False where the residual stays above 1e-9.
    pub(in crate::compliant) fn solve_at_solution(&mut self, side: Side, b: &mut [f64]) -> bool {
        if !self.coupled.is_needed() {
            self.factor.solve(b);
            return true;
        }
        let limit = Limit {
            tolerance: 1e-13,
            cycles: 10,
        };
        let (factor, island) = (&mut self.factor, &self.island);
        self.coupled.solve(factor, island, side, b, limit) <= 1e-9
    }

    /// The complementarity error of the island: `Σ |g · γ|`, `g = J v − v̂ + R γ` (33).
    pub(in crate::compliant) fn complementarity(&self) -> f64 {
        let (velocities, impulses) = (&self.iterate.contact_velocities, &self.iterate.impulses);
        // Moments have no gap to be complementary to.
        let contacts = &self.island.contacts[..self.island.points];
        let terms = contacts.iter().zip(velocities).zip(impulses);
        let terms = terms.map(|((contact, v), gamma)| contact.law.complementarity(v, gamma).abs());
        terms.sum()
    }
}
