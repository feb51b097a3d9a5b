//! Coulomb's law in the iteration of an island: the loads that bound friction are brought to the
//! normal impulses of the solution.
//!
//! With its loads held the problem is convex. It is solved until less is left of it than the loads
//! would change; then the loads of the iterate are taken, and Newton's method goes on with loads
//! that follow the velocities ([`Coupled`](super::coupling::Coupled)). Where that does not lead down,
//! they are held again, in the middle between old and new. If it has not come near in some
//! iterations, [`Sweeps`](super::sweeps::Sweeps) find loads to go on with.

use super::coupling::{Limit, Outcome, Side};
use super::memory::IslandSolver;
use super::sweeps::Rest;
use crate::compliant::settings::SolverSettings;
use crate::compliant::solution::relative;
use crate::interrupt::Interrupted;

/// Part of the residual with own loads from which the problem with held loads counts as solved.
const SOLVED: f64 = 0.3;

/// Iterations after which the method has to be near, and the momentum error from which it is not; this is
/// asked again every twentieth iteration, since loads may also turn round in a circle.
const PATIENCE: usize = 10;
const FAR: f64 = 0.03;

/// Momentum error up to which loads may follow: further away that leads nowhere.
const AROUND: f64 = 0.1;

/// Momentum error from which Newton's method converges.
const NEAR: f64 = 1e-6;

/// The sweeps from afar, which Newton's method ends.
const APPROACH: Rest = Rest {
    change: 1e-4,
    sweeps: 400,
};

/// The sweeps to loads that are to stay.
const LAST: Rest = Rest {
    change: 1e-6,
    sweeps: 1000,
};

/// Momentum error below which a residual that does not fall is rounding.
const ROUNDING: f64 = 1e-9;

impl IslandSolver {
    /// True while the loads of Coulomb's friction move.
    pub(super) fn moves_loads(&self) -> bool {
        self.island.has_loads && !self.is_fixed
    }

    /// Sweeps where Newton's method has not come near by itself, and where loads that follow are given
    /// up: those of sweeps stay to the end. False where neither is so.
    pub(super) fn sweep_if_due(&mut self, settings: &SolverSettings) -> Result<bool, Interrupted> {
        let made = self.report.iterations;
        if made >= settings.following() {
            self.is_fixed = true;
            self.sweep(settings, LAST)?;
            return Ok(true);
        }
        let is_asked = made == PATIENCE || made > 0 && made.is_multiple_of(2 * PATIENCE);
        let is_far = is_asked && self.report.momentum_error > FAR;
        if is_far {
            self.sweep(settings, APPROACH)?;
        }
        Ok(is_far)
    }

    /// Velocities and loads from sweeps, which go on from the impulses of the iterate.
    fn sweep(&mut self, settings: &SolverSettings, until: Rest) -> Result<(), Interrupted> {
        let (iterate, island) = (&mut self.iterate, &self.island);
        let interrupt = &settings.interrupt;
        self.report.sweeps += self.sweeps.run(island, iterate, until, interrupt)?;
        let found = self.sweeps.impulses();
        for (contact, load) in island.contacts.iter().zip(&mut iterate.loads) {
            *load = found[contact.load_of][0];
        }
        // Stiff terms make great impulses of what is left in the velocities of sweeps; those that are
        // there may be the better ones with these loads.
        let found = &mut self.candidate;
        found.resize(island);
        found.v.copy_from_slice(self.sweeps.v());
        found.loads.copy_from_slice(&iterate.loads);
        iterate.evaluate_at_v(island);
        found.evaluate_at_v(island);
        if found.cost < iterate.cost {
            std::mem::swap(found, iterate);
        }
        Ok(())
    }

    /// Takes the loads of the iterate, where what they change is more than what is left of the
    /// problem with those that are held; false where they stay.
    pub(super) fn follow(
        &mut self,
        settings: &SolverSettings,
        residual: f64,
        is_settled: bool,
    ) -> bool {
        self.held.clear();
        self.held.extend_from_slice(&self.iterate.loads);
        self.iterate.take_loads(&self.island);
        let (own, scale) = self.residual();
        if is_settled || residual <= SOLVED * own || settings.accepts(residual.min(own), scale) {
            return true;
        }
        self.iterate.hold_loads(&self.island, &self.held);
        false
    }

    /// A step of Newton's method with loads that follow. It is not along a slope of the cost, so that
    /// the residual decides.
    pub(super) fn step_coupled(&mut self, residual: f64) -> Outcome {
        let (island, error) = (&self.island, self.report.momentum_error);
        if error > AROUND || !self.coupled.collect(island, &self.iterate) {
            return Outcome::NotThere;
        }
        for (dv, g) in self.direction.dv.iter_mut().zip(&self.iterate.gradient) {
            *dv = -g;
        }
        // As exact as keeps the convergence of order two.
        let limit = Limit {
            tolerance: error.clamp(1e-10, 1e-3),
            cycles: 1,
        };
        let (factor, direction) = (&mut self.factor, &mut self.direction.dv);
        self.coupled
            .solve(factor, island, Side::Plain, direction, limit);
        self.direction.evaluate(island, &self.iterate);
        self.candidate.resize(island);
        let is_near = error < NEAR;
        for length in [1.0, 0.5, 0.25] {
            self.report.evaluations += 1;
            self.candidate
                .evaluate_moved(island, &self.iterate, &self.direction, length);
            let reached = island.scaled_norm(&self.candidate.gradient);
            // Near the solution any fall will do, until there is only rounding.
            if reached <= (1.0 - 0.5 * length) * residual || is_near && reached < residual {
                std::mem::swap(&mut self.candidate, &mut self.iterate);
                return Outcome::Taken;
            }
        }
        if is_near {
            return Outcome::AtRest;
        }
        self.halve_loads();
        Outcome::LeadsUp
    }

    /// Takes loads in the middle between those of the iterate and those that were held before: such that
    /// turn round between two sets come to rest there.
    fn halve_loads(&mut self) {
        let own = self.iterate.loads.iter();
        for (held, own) in self.held.iter_mut().zip(own) {
            *held = 0.5 * (*held + own);
        }
        self.iterate.hold_loads(&self.island, &self.held);
    }

    /// True for a residual that is small and has not fallen since loads were taken before.
    pub(super) fn is_rounding(&self, residual: f64, last: f64) -> bool {
        self.report.momentum_error < ROUNDING && residual > 0.5 * last
    }

    /// The residual of Coulomb's law with the loads of the solution itself, relative to momenta. Loads that
    /// were fixed stay, unless they have come to be those of the solution.
    pub(super) fn friction_error(&mut self, settings: &SolverSettings) -> f64 {
        if !self.island.has_loads {
            return 0.0;
        }
        self.held.clear();
        self.held.extend_from_slice(&self.iterate.loads);
        self.iterate.take_loads(&self.island);
        let (residual, scale) = self.residual();
        if self.is_fixed && residual <= settings.atol + ROUNDING.max(settings.rtol) * scale {
            self.is_fixed = false;
            self.report.state(self.iterate.cost, residual, scale);
        }
        if self.is_fixed {
            self.iterate.hold_loads(&self.island, &self.held);
        }
        relative(residual, scale)
    }
}
