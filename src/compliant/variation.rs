//! Small changes of the data of a problem, and of its solution: what derivatives act on.

use super::failure::CompliantFailure;
use super::law::{ContactLaw, Friction};
use super::problem::{Links, Problem};
use super::solution::StepSolution;
use crate::linalg::dot;
use crate::validate;

/// A change of the data of a contact, or the derivative of an objective by them.
///
/// `stiffness` and `dissipation_time` act through `R_n` (where the near-rigid limit does not hold
/// it) and `v̂_n`, `gap` through `v̂_n`. Changes of `R_n`, `R_t` and `v̂_n` that have other causes
/// (the rows, `A`, `β`, `σ`, the length of the step) are stated as such.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactVariation {
    /// Gap (m).
    pub gap: f64,
    /// Coefficient of friction.
    pub friction: f64,
    /// Stiffness (N/m).
    pub stiffness: f64,
    /// Dissipation time (s).
    pub dissipation_time: f64,
    /// Normal regularisation `R_n` (1/kg).
    pub normal: f64,
    /// Tangential regularisation `R_t` (1/kg).
    pub tangential: f64,
    /// Velocity `v̂_n` (m/s) at which the normal impulse vanishes.
    pub stabilisation: f64,
    /// Normal velocity at the start of the step (m/s), with lagged friction
    /// ([`Problem::lag_friction`]).
    pub start: f64,
    /// Approach `s₁` (m/s) from which a contact of Coulomb's law hardens, and its regularisation `R_h`
    /// (1/kg) from there ([`Problem::coulomb`]).
    pub knee: f64,
    /// See [`knee`](Self::knee).
    pub hard: f64,
    /// `dJ v`: the velocity `[n, t₁, t₂]` (m/s) that changed rows give at the solution.
    pub velocity: [f64; 3],
    /// Coefficient of spinning friction (m). This and what follows is of contacts that have spinning or
    /// rolling friction, and has no effect on others.
    pub spinning_friction: f64,
    /// Coefficient of rolling friction (m).
    pub rolling_friction: f64,
    /// Regularisation of their moments (1/(kg m²)).
    pub rotational: f64,
    /// `dJ v` of their rows: the angular velocity about `[n, t₁, t₂]` (rad/s).
    pub angular_velocity: [f64; 3],
}

/// A change of the data of a row, or the derivative of an objective by them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RowVariation {
    /// Regularisation `R`.
    pub regularisation: f64,
    /// Target velocity `v̂`.
    pub target: f64,
    /// Least impulse.
    pub low: f64,
    /// Greatest impulse.
    pub high: f64,
    /// `dJ v`: the velocity that a changed row gives at the solution.
    pub velocity: f64,
}

/// A change of the data of a [`Problem`] at its solution, for
/// [`Solver::derivative`](super::Solver::derivative); or the derivative of an objective by all
/// these data, from [`Solver::adjoint`](super::Solver::adjoint).
///
/// Changes of `A` and of rows are stated by what they do at the solution `(v, γ)`: the momentum
/// `dA (v* − v) + dJᵀ γ` and the velocities `dJ v`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Variation {
    /// Velocities without contacts `v*` (m/s, or rad/s).
    pub free: Vec<f64>,
    /// `dA (v* − v) + dJᵀ γ` (N s, or N m s). Entries of trees that no term acts on have no effect:
    /// there `v = v*`.
    pub momentum: Vec<f64>,
    /// The contacts, in their order.
    pub contacts: Vec<ContactVariation>,
    /// The rows, in their order.
    pub rows: Vec<RowVariation>,
}

/// A change of a solution, or the weights of an objective that is linear in it.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SolutionVariation {
    /// Velocities at the end of the step (m/s, or rad/s).
    pub v: Vec<f64>,
    /// Impulses `[n, t₁, t₂]` of the contacts (N s).
    pub impulses: Vec<[f64; 3]>,
    /// Their moments (N m s), as many as [`StepSolution::moments`].
    pub moments: Vec<[f64; 3]>,
    /// Impulses of the rows (N s, or N m s).
    pub row_impulses: Vec<f64>,
}

impl SolutionVariation {
    /// Zero, with the sizes of a problem; keeps the memory.
    pub fn reset(&mut self, problem: &Problem) {
        self.v.clear();
        self.v.resize(problem.dof(), 0.0);
        self.impulses.clear();
        self.impulses.resize(problem.contacts(), [0.0; 3]);
        self.moments.clear();
        self.moments.resize(problem.moments(), [0.0; 3]);
        self.row_impulses.clear();
        self.row_impulses.resize(problem.rows(), 0.0);
    }

    /// True when all entries are finite.
    pub(super) fn is_finite(&self) -> bool {
        let values = [
            &self.v,
            self.impulses.as_flattened(),
            self.moments.as_flattened(),
            &self.row_impulses,
        ];
        values.iter().all(|of| of.iter().all(|x| x.is_finite()))
    }
}

/// `factor (high − low)` of the data of two problems.
#[derive(Clone, Copy)]
struct Difference<'a> {
    low: &'a Problem,
    high: &'a Problem,
    factor: f64,
}

impl Variation {
    /// Zero, with the sizes of a problem; keeps the memory.
    pub fn reset(&mut self, problem: &Problem) {
        for values in [&mut self.free, &mut self.momentum] {
            values.clear();
            values.resize(problem.dof(), 0.0);
        }
        self.contacts.clear();
        let none = ContactVariation::default();
        self.contacts.resize(problem.contacts(), none);
        self.rows.clear();
        self.rows.resize(problem.rows(), RowVariation::default());
    }

    /// The difference of two problems around the one that was solved, times `factor`: with
    /// problems made at the parameters `p − h` and `p + h` and the factor `1/(2 h)`, the derivative
    /// of the data by `p`, to order `h²`. It has all parts of the data, `R_n` and `R_t`
    /// included.
    ///
    /// # Errors
    /// [`CompliantFailure::NoDerivative`] when the problems do not have the same trees and terms, or when
    /// they have different laws of friction.
    pub fn set_difference(
        &mut self,
        low: &Problem,
        high: &Problem,
        factor: f64,
        solution: &StepSolution,
    ) -> Result<(), CompliantFailure> {
        let sizes = (high.dof(), high.contacts(), high.rows());
        let of_solution = (
            solution.v.len(),
            solution.impulses.len(),
            solution.row_impulses.len(),
        );
        let has_moments = solution.moments.len() == high.moments();
        if !same_structure(low, high) || sizes != of_solution || !has_moments {
            return Err(CompliantFailure::NoDerivative {
                why: "the problems of a difference have other trees or terms than the solution",
            });
        }
        self.reset(high);
        let pairs = low.free.iter().zip(&high.free);
        for (change, (low, high)) in self.free.iter_mut().zip(pairs) {
            *change = factor * (high - low);
        }
        let between = Difference { low, high, factor };
        self.inertia_difference(between, &solution.v);
        let zipped = low.contacts.iter().zip(&high.contacts);
        for (i, (a, b)) in zipped.enumerate() {
            let Some(laws) = law_difference(&a.law, &b.law, factor) else {
                return Err(CompliantFailure::NoDerivative {
                    why: "the problems of a difference have different laws of friction",
                });
            };
            self.contacts[i] = laws;
            let (impulse, v) = (&solution.impulses[i], &solution.v);
            let mut velocity = [0.0; 3];
            self.rows_difference(between, &b.links, impulse, v, &mut velocity);
            self.contacts[i].velocity = velocity;
            if let Some(moment) = solution.moments.get(i).filter(|_| b.rotational > 0.0) {
                self.moments_difference(between, i, moment, v);
            }
        }
        for (i, (a, b)) in low.rows.iter().zip(&high.rows).enumerate() {
            let change = |low: f64, high: f64| {
                if low.to_bits() == high.to_bits() {
                    0.0
                } else {
                    factor * (high - low)
                }
            };
            let mut velocity = [0.0];
            let (impulse, v) = (&[solution.row_impulses[i]], &solution.v);
            self.rows_difference(between, &b.links, impulse, v, &mut velocity);
            self.rows[i] = RowVariation {
                regularisation: change(a.law.regularisation, b.law.regularisation),
                target: change(a.law.target, b.law.target),
                // Equal infinite bounds do not change.
                low: change(a.law.low, b.law.low),
                high: change(a.law.high, b.law.high),
                velocity: velocity[0],
            };
        }
        Ok(())
    }

    /// The change of the moments of a contact.
    fn moments_difference(
        &mut self,
        between: Difference<'_>,
        contact: usize,
        moment: &[f64; 3],
        v: &[f64],
    ) {
        let Difference { low, high, factor } = between;
        let (a, b) = (&low.contacts[contact], &high.contacts[contact]);
        let mut velocity = [0.0; 3];
        let links = high.of_moments(&b.links);
        self.rows_difference(between, &links, moment, v, &mut velocity);
        let change = &mut self.contacts[contact];
        change.angular_velocity = velocity;
        change.rotational = factor * (b.rotational - a.rotational);
        let (a, b) = (&a.parameters, &b.parameters);
        change.spinning_friction = factor * (b.spinning_friction - a.spinning_friction);
        change.rolling_friction = factor * (b.rolling_friction - a.rolling_friction);
    }

    /// Adds `dA (v* − v)` to the momentum.
    fn inertia_difference(&mut self, between: Difference<'_>, v: &[f64]) {
        let Difference { low, high, factor } = between;
        for tree in &high.trees {
            let (start, n) = (tree.start, tree.width);
            for r in 0..n {
                let row = tree.place + r * n..tree.place + (r + 1) * n;
                let (a, b) = (&low.inertia[row.clone()], &high.inertia[row]);
                let mut sum = 0.0;
                for (k, (a, b)) in a.iter().zip(b).enumerate() {
                    let free = 0.5 * (low.free[start + k] + high.free[start + k]);
                    sum += (b - a) * (free - v[start + k]);
                }
                self.momentum[start + r] += factor * sum;
            }
        }
    }

    /// Adds `dJᵀ γ` of a term to the momentum, and `dJ v` to its velocity.
    fn rows_difference(
        &mut self,
        between: Difference<'_>,
        links: &Links,
        impulse: &[f64],
        v: &[f64],
        velocity: &mut [f64],
    ) {
        let Difference { low, high, factor } = between;
        for link in links.iter() {
            let tree = &high.trees[link.tree];
            let (start, n) = (tree.start, tree.width);
            for (r, (impulse, velocity)) in impulse.iter().zip(&mut *velocity).enumerate() {
                let row = link.place + r * n..link.place + (r + 1) * n;
                let (a, b) = (&low.jacobian[row.clone()], &high.jacobian[row]);
                for (k, (a, b)) in a.iter().zip(b).enumerate() {
                    let change = factor * (b - a);
                    *velocity += change * v[start + k];
                    self.momentum[start + k] += change * impulse;
                }
            }
        }
    }

    /// The sum of products of all entries: an objective's derivative by the data, times a change of
    /// the data, is the change of the objective. Entries beyond the shorter of two lists count as
    /// zero.
    pub fn dot(&self, other: &Self) -> f64 {
        let contacts = self.contacts.iter().zip(&other.contacts);
        let rows = self.rows.iter().zip(&other.rows);
        dot(&self.free, &other.free)
            + dot(&self.momentum, &other.momentum)
            + contacts.map(|(a, b)| a.dot(b)).sum::<f64>()
            + rows.map(|(a, b)| a.dot(b)).sum::<f64>()
    }
}

impl ContactVariation {
    /// The sum of all entries: finite only if they are.
    pub(super) fn total(&self) -> f64 {
        self.dot(&Self {
            gap: 1.0,
            friction: 1.0,
            stiffness: 1.0,
            dissipation_time: 1.0,
            normal: 1.0,
            tangential: 1.0,
            stabilisation: 1.0,
            start: 1.0,
            knee: 1.0,
            hard: 1.0,
            velocity: [1.0; 3],
            spinning_friction: 1.0,
            rolling_friction: 1.0,
            rotational: 1.0,
            angular_velocity: [1.0; 3],
        })
    }

    fn dot(&self, other: &Self) -> f64 {
        self.gap * other.gap
            + self.friction * other.friction
            + self.stiffness * other.stiffness
            + self.dissipation_time * other.dissipation_time
            + self.normal * other.normal
            + self.tangential * other.tangential
            + self.stabilisation * other.stabilisation
            + self.start * other.start
            + self.knee * other.knee
            + self.hard * other.hard
            + dot(&self.velocity, &other.velocity)
            + self.spinning_friction * other.spinning_friction
            + self.rolling_friction * other.rolling_friction
            + self.rotational * other.rotational
            + dot(&self.angular_velocity, &other.angular_velocity)
    }
}

impl RowVariation {
    /// The sum of all entries: finite only if they are.
    pub(super) fn total(&self) -> f64 {
        self.dot(&Self {
            regularisation: 1.0,
            target: 1.0,
            low: 1.0,
            high: 1.0,
            velocity: 1.0,
        })
    }

    fn dot(&self, other: &Self) -> f64 {
        self.regularisation * other.regularisation
            + self.target * other.target
            + self.low * other.low
            + self.high * other.high
            + self.velocity * other.velocity
    }
}

/// True when two problems have the same trees, and terms on the same trees.
fn same_structure(a: &Problem, b: &Problem) -> bool {
    let (contacts, rows) = (
        a.contacts.iter().zip(&b.contacts),
        a.rows.iter().zip(&b.rows),
    );
    a.trees.len() == b.trees.len()
        && a.contacts() == b.contacts()
        && a.rows() == b.rows()
        && a.trees
            .iter()
            .zip(&b.trees)
            .all(|(a, b)| a.width == b.width)
        && a.jacobian.len() == b.jacobian.len()
        && contacts.clone().all(|(a, b)| a.links == b.links)
        && rows.clone().all(|(a, b)| a.links == b.links)
}

/// The change of the numbers of a law; none where the two have different laws of friction.
fn law_difference(low: &ContactLaw, high: &ContactLaw, factor: f64) -> Option<ContactVariation> {
    let start = match (low.model, high.model) {
        (Friction::Cone, Friction::Cone) | (Friction::Coulomb { .. }, Friction::Coulomb { .. }) => {
            0.0
        }
        (Friction::Lagged { start: a, .. }, Friction::Lagged { start: b, .. }) => b - a,
        _ => return None,
    };
    let (a, b) = (low.hardening(), high.hardening());
    // A contact without a knee keeps none.
    let knee = if a.knee.is_finite() && b.knee.is_finite() {
        b.knee - a.knee
    } else {
        0.0
    };
    Some(ContactVariation {
        friction: factor * (high.friction - low.friction),
        normal: factor * (high.normal - low.normal),
        tangential: factor * (high.tangential - low.tangential),
        stabilisation: factor * (high.stabilisation - low.stabilisation),
        start: factor * start,
        knee: factor * knee,
        hard: factor * (b.normal - a.normal),
        ..ContactVariation::default()
    })
}

impl Variation {
    /// Refuses numbers that are not finite.
    pub(super) fn validate(&self) -> Result<(), CompliantFailure> {
        validate::finite("variation of v*", &self.free)?;
        validate::finite("variation of momentum", &self.momentum)?;
        for (i, contact) in self.contacts.iter().enumerate() {
            let of_contact = validate::counted_from(i);
            validate::finite("variation of a contact", &[contact.total()]).map_err(of_contact)?;
        }
        for (i, row) in self.rows.iter().enumerate() {
            let of_row = validate::counted_from(i);
            validate::finite("variation of a row", &[row.total()]).map_err(of_row)?;
        }
        Ok(())
    }
}
