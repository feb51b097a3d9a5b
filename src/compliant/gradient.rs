//! Derivatives of the solution by the data of its problem, by the implicit function theorem: with
//! the Hessian `H = A + Jᵀ G J` at the solution,
//!
//! ```text
//!     H dv = A dv* + Jᵀ (G dv̂ + ∂γ/∂θ dθ − G dJ v) + dA (v* − v) + dJᵀ γ
//!     dγ   = G (dv̂ − dJ v − J dv) + ∂γ/∂θ dθ
//! ```
//!
//! With Coulomb's friction `G` is not symmetric: loads follow the velocities. The moments of a contact change
//! with its normal impulse too, `∂m/∂γ_n dγ_n`.

use super::law::{ContactLaw, Friction, ImpulseRates, MomentRates};
use super::newton::IslandSolver;
use super::newton::coupling::Side;
use super::newton::island::Island;
use super::newton::iterate::Iterate;
use super::problem::{ContactTerm, Problem};
use super::variation::{ContactVariation, RowVariation, SolutionVariation, Variation};
use crate::linalg::dot;

/// Memory for derivatives, and what they may rely on.
#[derive(Clone, Debug, Default)]
pub(super) struct Gradient {
    pub(super) state: State,
    /// The right-hand side, then its solution.
    rhs: Vec<f64>,
    /// Other vectors in the velocities of an island.
    work: Vec<f64>,
    /// Impulses at fixed velocities, or velocities of the terms.
    contacts: Vec<[f64; 3]>,
    rows: Vec<f64>,
    /// `G` times weights of impulses.
    weighted: Vec<[f64; 3]>,
    weighted_rows: Vec<f64>,
}

/// The state of the solution since the last call of [`Solver::solve`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum State {
    /// There is no solution.
    #[default]
    Unsolved,
    Solved,
    /// The islands hold the factors of the Hessians at the solution.
    Factorised,
}

impl Gradient {
    /// A solution is begun.
    pub(super) fn forget(&mut self) {
        self.state = State::Unsolved;
    }

    /// A solution was found.
    pub(super) fn solved(&mut self) {
        self.state = State::Solved;
    }

    /// Takes the size of an island, with zeros.
    fn resize(&mut self, solver: &IslandSolver) {
        let island = &solver.island;
        for values in [&mut self.rhs, &mut self.work] {
            values.clear();
            values.resize(island.dof(), 0.0);
        }
        for values in [&mut self.contacts, &mut self.weighted] {
            values.clear();
            values.resize(island.contacts.len(), [0.0; 3]);
        }
        for values in [&mut self.rows, &mut self.weighted_rows] {
            values.clear();
            values.resize(island.rows.len(), 0.0);
        }
    }
}

/// Derivatives of the numbers of a law by those of its contact.
struct Chain {
    /// `∂v̂_n/∂(gap)`.
    gap: f64,
    /// `∂ ln R_n/∂R_n`.
    normal: f64,
    /// `∂ ln R_n/∂k`.
    stiffness: f64,
    /// `∂ ln R_n/∂τ_d` and `∂v̂_n/∂τ_d`.
    dissipation: (f64, f64),
    hard: Hard,
}

/// Derivatives of `ln R_h` of a contact that hardens.
struct Hard {
    normal: f64,
    stiffness: f64,
    dissipation: f64,
}

impl Chain {
    fn new(problem: &Problem, term: &ContactTerm) -> Self {
        let (parameters, law) = (&term.parameters, &term.law);
        let time = problem.dt() + parameters.dissipation_time;
        // Coulomb's law closes an open contact within the step, whatever its dissipation.
        let closes = parameters.gap > 0.0 && matches!(law.model, Friction::Coulomb { .. });
        let own = 1.0 / (problem.dt() * parameters.stiffness * time);
        let hardest = law.hardening().normal;
        // R_h is the own regularisation, or a part of R_n, which has changes of its own.
        let own_hard = if hardest > own { 0.0 } else { 1.0 };
        let hard = Hard {
            normal: 1.0 / hardest,
            stiffness: -own_hard / parameters.stiffness,
            dissipation: -own_hard / time,
        };
        // Beyond its own regularisation, the near-rigid limit holds R_n.
        let own = if law.normal > own { 0.0 } else { 1.0 };
        Self {
            gap: -1.0 / if closes { problem.dt() } else { time },
            normal: 1.0 / law.normal,
            hard,
            stiffness: -own / parameters.stiffness,
            dissipation: (
                -own / time,
                if closes {
                    0.0
                } else {
                    -law.stabilisation / time
                },
            ),
        }
    }

    /// The change of the impulse at a fixed velocity of the bodies.
    fn impulse(
        &self,
        rates: &ImpulseRates,
        law: &ContactLaw,
        at: &[f64; 3],
        d: &ContactVariation,
    ) -> [f64; 3] {
        let normal = self.normal * d.normal
            + self.stiffness * d.stiffness
            + self.dissipation.0 * d.dissipation_time;
        let hard = self.hard.normal * d.hard
            + self.hard.stiffness * d.stiffness
            + self.hard.dissipation * d.dissipation_time;
        let stabilisation =
            d.stabilisation + self.gap * d.gap + self.dissipation.1 * d.dissipation_time;
        let velocity = law.curvature_times(at, &d.velocity, false);
        std::array::from_fn(|k| {
            rates.friction[k] * d.friction
                + rates.normal[k] * normal
                + rates.tangential[k] * d.tangential
                + rates.stabilisation[k] * stabilisation
                + rates.start[k] * d.start
                + rates.knee[k] * d.knee
                + rates.hard[k] * hard
                - velocity[k]
        })
    }

    /// The derivative of `weights · γ` at fixed velocities of the bodies by the data.
    fn transposed(
        &self,
        rates: &ImpulseRates,
        law: &ContactLaw,
        at: &[f64; 3],
        weights: &[f64; 3],
    ) -> ContactVariation {
        let along = |rate: &[f64; 3]| dot(rate, weights);
        let (normal, stabilisation) = (along(&rates.normal), along(&rates.stabilisation));
        let hard = along(&rates.hard);
        let velocity = law.curvature_times(at, weights, true);
        ContactVariation {
            gap: self.gap * stabilisation,
            friction: along(&rates.friction),
            stiffness: self.stiffness * normal + self.hard.stiffness * hard,
            dissipation_time: self.dissipation.0 * normal
                + self.dissipation.1 * stabilisation
                + self.hard.dissipation * hard,
            normal: self.normal * normal,
            tangential: along(&rates.tangential),
            stabilisation,
            start: along(&rates.start),
            knee: along(&rates.knee),
            hard: self.hard.normal * hard,
            velocity: velocity.map(|x| -x),
            ..ContactVariation::default()
        }
    }
}

/// The moments of a contact at the solution.
struct Turning<'a> {
    law: ContactLaw,
    at: &'a [f64; 3],
    /// Their contact in the island, and its slope `∂γ_n/∂s`.
    load_of: usize,
    slope: f64,
    rates: MomentRates,
}

impl<'a> Turning<'a> {
    fn new(island: &Island, iterate: &'a Iterate, i: usize) -> Self {
        let (moments, velocities) = (&island.contacts[i], &iterate.contact_velocities);
        let load_of = moments.load_of;
        let normal = island.contacts[load_of].law.normal_at(&velocities[load_of]);
        Self {
            law: moments.law.held(normal.impulse),
            at: &velocities[i],
            load_of,
            slope: normal.slope,
            rates: moments.law.moment_rates(&velocities[i], normal.impulse),
        }
    }

    /// `G w` in the rows of the moments, with the load held.
    fn stopped(&self, w: &[f64; 3]) -> [f64; 3] {
        self.law.curvature(self.at).times(w)
    }

    /// The change of the moments at a fixed velocity of the bodies, with that of the normal impulse.
    fn impulse(&self, d: &ContactVariation, normal: f64) -> [f64; 3] {
        let (rates, stopped) = (&self.rates, self.stopped(&d.angular_velocity));
        std::array::from_fn(|k| {
            rates.spinning[k] * d.spinning_friction
                + rates.rolling[k] * d.rolling_friction
                + rates.rotational[k] * d.rotational
                + rates.load[k] * normal
                - stopped[k]
        })
    }

    /// The derivative of `weights · m` at fixed velocities of the bodies by the own data.
    fn transposed(&self, weights: &[f64; 3]) -> ContactVariation {
        ContactVariation {
            spinning_friction: dot(&self.rates.spinning, weights),
            rolling_friction: dot(&self.rates.rolling, weights),
            rotational: dot(&self.rates.rotational, weights),
            angular_velocity: self.stopped(weights).map(|x| -x),
            ..ContactVariation::default()
        }
    }
}

impl Gradient {
    /// The derivative of an island; false where its equations were not solved.
    pub(super) fn derivative(
        &mut self,
        solver: &mut IslandSolver,
        problem: &Problem,
        change: &Variation,
        found: &mut SolutionVariation,
    ) -> bool {
        self.resize(solver);
        let island = &solver.island;
        for tree in &island.trees {
            let own = tree.start..tree.start + tree.width;
            let free = &change.free[tree.origin..][..tree.width];
            self.work[own].copy_from_slice(free);
        }
        island.inertia_times(&self.work, &mut self.rhs);
        for tree in &island.trees {
            let momentum = &change.momentum[tree.origin..][..tree.width];
            for (sum, change) in self.rhs[tree.start..].iter_mut().zip(momentum) {
                *sum += change;
            }
        }
        self.change_impulses(solver, problem, change);
        let island = &solver.island;
        island.generalised_impulse(&self.contacts, &self.rows, &mut self.work);
        for (sum, impulse) in self.rhs.iter_mut().zip(&self.work) {
            *sum += impulse;
        }
        let is_solved = solver.solve_at_solution(Side::Plain, &mut self.rhs);
        let island = &solver.island;
        for tree in &island.trees {
            let dv = &self.rhs[tree.start..tree.start + tree.width];
            found.v[tree.origin..][..tree.width].copy_from_slice(dv);
        }
        // The velocities of the terms take the place of weights.
        island.contact_velocities(&self.rhs, &mut self.weighted);
        island.row_velocities(&self.rhs, &mut self.weighted_rows);
        self.collect_impulses(solver, found);
        is_solved
    }

    /// The changes of impulses at fixed velocities of the bodies.
    fn change_impulses(&mut self, solver: &IslandSolver, problem: &Problem, change: &Variation) {
        let (island, iterate) = (&solver.island, &solver.iterate);
        let points = island.contacts[..island.points].iter();
        let terms = points.zip(&iterate.contact_velocities);
        for ((contact, v), direct) in terms.zip(&mut self.contacts) {
            let chain = Chain::new(problem, &problem.contacts[contact.number]);
            let (law, d) = (&contact.law, &change.contacts[contact.number]);
            *direct = chain.impulse(&law.by_parameters(v), law, v, d);
        }
        for i in island.points..island.contacts.len() {
            let turning = Turning::new(island, iterate, i);
            let normal = self.contacts[turning.load_of][0];
            let d = &change.contacts[island.contacts[i].number];
            self.contacts[i] = turning.impulse(d, normal);
        }
        let terms = island.rows.iter().zip(&iterate.row_velocities);
        for ((row, &v), direct) in terms.zip(&mut self.rows) {
            let d = &change.rows[row.number];
            let rates = row.law.by_parameters(v);
            *direct = dot(&rates, &[d.regularisation, d.target, d.low, d.high])
                - row.law.curvature(v) * d.velocity;
        }
    }

    /// Writes the changes of impulses: those at fixed velocities, less what the velocities stop.
    fn collect_impulses(&self, solver: &IslandSolver, found: &mut SolutionVariation) {
        let (island, iterate) = (&solver.island, &solver.iterate);
        let points = island.contacts[..island.points].iter();
        let terms = points.zip(&iterate.contact_velocities);
        let parts = self.contacts.iter().zip(&self.weighted);
        for ((contact, v), (direct, dv)) in terms.zip(parts) {
            let stopped = contact.law.curvature_times(v, dv, false);
            found.impulses[contact.number] = std::array::from_fn(|k| direct[k] - stopped[k]);
        }
        for i in island.points..island.contacts.len() {
            let turning = Turning::new(island, iterate, i);
            let stopped = turning.stopped(&self.weighted[i]);
            // The load falls by its slope times the normal velocity.
            let load = turning.slope * self.weighted[turning.load_of][0];
            let (direct, by_load) = (&self.contacts[i], &turning.rates.load);
            found.moments[island.contacts[i].number] =
                std::array::from_fn(|k| direct[k] - stopped[k] - by_load[k] * load);
        }
        let terms = island.rows.iter().zip(&iterate.row_velocities);
        let parts = self.rows.iter().zip(&self.weighted_rows);
        for ((row, &v), (direct, dv)) in terms.zip(parts) {
            found.row_impulses[row.number] = direct - row.law.curvature(v) * dv;
        }
    }

    /// The transpose; false where its equations were not solved.
    pub(super) fn adjoint(
        &mut self,
        solver: &mut IslandSolver,
        problem: &Problem,
        weights: &SolutionVariation,
        found: &mut Variation,
    ) -> bool {
        self.resize(solver);
        self.weigh(solver, weights);
        let island = &solver.island;
        island.generalised_impulse(&self.weighted, &self.weighted_rows, &mut self.work);
        for tree in &island.trees {
            let weights = &weights.v[tree.origin..][..tree.width];
            let own = tree.start..tree.start + tree.width;
            let parts = weights.iter().zip(&self.work[own.clone()]);
            for (entry, (weight, impulse)) in self.rhs[own].iter_mut().zip(parts) {
                *entry = weight - impulse;
            }
        }
        let is_solved = solver.solve_at_solution(Side::Transposed, &mut self.rhs);
        let island = &solver.island;
        island.inertia_times(&self.rhs, &mut self.work);
        for tree in &island.trees {
            let (own, n) = (tree.start..tree.start + tree.width, tree.width);
            found.free[tree.origin..][..n].copy_from_slice(&self.work[own.clone()]);
            found.momentum[tree.origin..][..n].copy_from_slice(&self.rhs[own]);
        }
        island.contact_velocities(&self.rhs, &mut self.contacts);
        island.row_velocities(&self.rhs, &mut self.rows);
        self.collect_by_data(solver, problem, weights, found);
        is_solved
    }

    /// `Gᵀ` times the weights of impulses.
    fn weigh(&mut self, solver: &IslandSolver, weights: &SolutionVariation) {
        let (island, iterate) = (&solver.island, &solver.iterate);
        let points = island.contacts[..island.points].iter();
        let terms = points.zip(&iterate.contact_velocities);
        for ((contact, v), weighted) in terms.zip(&mut self.weighted) {
            let weights = &weights.impulses[contact.number];
            *weighted = contact.law.curvature_times(v, weights, true);
        }
        for i in island.points..island.contacts.len() {
            let turning = Turning::new(island, iterate, i);
            let weights = &weights.moments[island.contacts[i].number];
            self.weighted[i] = turning.stopped(weights);
            let load = dot(&turning.rates.load, weights);
            self.weighted[turning.load_of][0] += turning.slope * load;
        }
        let terms = island.rows.iter().zip(&iterate.row_velocities);
        for ((row, &v), weighted) in terms.zip(&mut self.weighted_rows) {
            *weighted = row.law.curvature(v) * weights.row_impulses[row.number];
        }
    }

    /// Writes the derivatives by the data of terms, from the multipliers in their velocities.
    fn collect_by_data(
        &mut self,
        solver: &IslandSolver,
        problem: &Problem,
        weights: &SolutionVariation,
        found: &mut Variation,
    ) {
        let (island, iterate) = (&solver.island, &solver.iterate);
        for i in island.points..island.contacts.len() {
            let (number, turning) = (island.contacts[i].number, Turning::new(island, iterate, i));
            let (multiplier, own) = (&self.contacts[i], &weights.moments[number]);
            let total = std::array::from_fn(|k| multiplier[k] + own[k]);
            found.contacts[number] = turning.transposed(&total);
            // Their normal impulse has a part in the moments.
            self.contacts[turning.load_of][0] += dot(&turning.rates.load, &total);
        }
        let points = island.contacts[..island.points].iter();
        let terms = points.zip(&iterate.contact_velocities);
        for ((contact, v), multiplier) in terms.zip(&self.contacts) {
            let own = &weights.impulses[contact.number];
            let total = std::array::from_fn(|k| multiplier[k] + own[k]);
            let chain = Chain::new(problem, &problem.contacts[contact.number]);
            let law = &contact.law;
            let rates = law.by_parameters(v);
            let of_moments = found.contacts[contact.number];
            found.contacts[contact.number] = ContactVariation {
                spinning_friction: of_moments.spinning_friction,
                rolling_friction: of_moments.rolling_friction,
                rotational: of_moments.rotational,
                angular_velocity: of_moments.angular_velocity,
                ..chain.transposed(&rates, law, v, &total)
            };
        }
        let terms = island.rows.iter().zip(&iterate.row_velocities);
        for ((row, &v), multiplier) in terms.zip(&self.rows) {
            let total = multiplier + weights.row_impulses[row.number];
            let [regularisation, target, low, high] =
                row.law.by_parameters(v).map(|rate| rate * total);
            found.rows[row.number] = RowVariation {
                regularisation,
                target,
                low,
                high,
                velocity: -row.law.curvature(v) * total,
            };
        }
    }
}
