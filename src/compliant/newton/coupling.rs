//! Newton's direction for Coulomb's law, with loads that follow the velocities.
//!
//! While the loads that bound friction are held the problem is convex. With loads `γ_n` of
//! the same velocities the derivative of the balance is not symmetric any more, by one term
//! `J_iᵀ a wᵀ J_i` for each contact that slides.

use super::block_cholesky::BlockCholesky;
use super::island::Island;
use super::iterate::Iterate;
use crate::linalg::dot;

/// The number of directions of one search in the space of Krylov; beyond, it begins anew from where it
/// is.
const MOST: usize = 30;

/// The part of a load in the Hessian, `J_iᵀ left rightᵀ J_k`: of contact `k` in its own friction, `i = k`, or
/// in its moments.
#[derive(Clone, Copy, Debug)]
struct Coupling {
    contact: usize,
    load_of: usize,
    left: [f64; 3],
    right: [f64; 3],
}

/// The matrix `H + Σ J_iᵀ a wᵀ J_k` at an iterate, and memory to solve with it: the generalised
/// minimal residual method (Saad and Schultz 1986), with the factor of `H` as its preconditioner on
/// the right. It ends after as many directions as contacts slide, but for rounding.
#[derive(Clone, Debug, Default)]
pub(in crate::compliant) struct Coupled {
    couplings: Vec<Coupling>,
    /// Orthonormal directions, one after the other.
    basis: Vec<f64>,
    /// Columns of the triangular factor, `MOST` entries each, and rotations that made it.
    columns: Vec<f64>,
    rotations: Vec<[f64; 2]>,
    /// The residual in the rotated basis, then the weights of the directions.
    weights: Vec<f64>,
    solution: Vec<f64>,
    work: Vec<f64>,
}

/// The system with the matrix or with its transpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::compliant) enum Side {
    Plain,
    Transposed,
}

impl Coupled {
    /// Collects the couplings at an iterate; false where there are none.
    pub(in crate::compliant) fn collect(&mut self, island: &Island, iterate: &Iterate) -> bool {
        self.couplings.clear();
        let velocities = &iterate.contact_velocities;
        for (i, (contact, v)) in island.contacts.iter().zip(velocities).enumerate() {
            let load_of = contact.load_of;
            let normal = island.contacts[load_of].law.normal_at(&velocities[load_of]);
            if let Some([left, right]) = contact.law.coupling(v, &normal) {
                self.couplings.push(Coupling {
                    contact: i,
                    load_of,
                    left,
                    right,
                });
            }
        }
        !self.couplings.is_empty()
    }

    /// True where there are couplings.
    pub(in crate::compliant) fn is_needed(&self) -> bool {
        !self.couplings.is_empty()
    }

    /// `out += Σ J_iᵀ a wᵀ J_k x`.
    fn add_product(&self, island: &Island, side: Side, x: &[f64], out: &mut [f64]) {
        for coupling in &self.couplings {
            let slides = (&island.contacts[coupling.contact], &coupling.left);
            let presses = (&island.contacts[coupling.load_of], &coupling.right);
            let (to, from) = match side {
                Side::Plain => (slides, presses),
                Side::Transposed => (presses, slides),
            };
            let (velocity, w) = (island.velocity_of(from.0, x), from.1);
            let rate = w[0] * velocity[0] + w[1] * velocity[1] + w[2] * velocity[2];
            island.add_impulse(to.0, &to.1.map(|u| u * rate), out);
        }
    }

    /// Solves for `b`, which becomes the solution, until the residual is below `tolerance` of `b`, or
    /// for at most `cycles` times 30 products; the relative residual that is left.
    pub(in crate::compliant) fn solve(
        &mut self,
        factor: &mut BlockCholesky,
        island: &Island,
        side: Side,
        b: &mut [f64],
        limit: Limit,
    ) -> f64 {
        let n = b.len();
        self.solution.clear();
        self.solution.resize(n, 0.0);
        self.work.clear();
        self.work.resize(n, 0.0);
        self.basis.resize((MOST + 1) * n, 0.0);
        self.columns.resize(MOST * MOST, 0.0);
        self.rotations.resize(MOST, [0.0; 2]);
        self.weights.resize(MOST + 1, 0.0);
        let size = dot(b, b).sqrt();
        if size == 0.0 {
            return 0.0;
        }
        // The rest of the right-hand side, and its size.
        let mut left = size;
        for _ in 0..limit.cycles {
            for (u, b) in self.basis[..n].iter_mut().zip(&*b) {
                *u = b / left;
            }
            let used = self.directions(factor, island, side, n, [left, limit.tolerance * size]);
            self.add_directions(used, n);
            // x += H⁻¹ (sum of the directions), and the residual anew.
            factor.solve(&mut self.work);
            for (x, dx) in self.solution.iter_mut().zip(&self.work) {
                *x += dx;
            }
            let dx = std::mem::take(&mut self.work);
            let mut taken = std::mem::take(&mut self.basis);
            taken[..n].fill(0.0);
            self.add_product(island, side, &dx, &mut taken[..n]);
            // H dx is the sum of the directions: it lies behind the basis.
            for ((b, coupled), own) in b.iter_mut().zip(&taken[..n]).zip(&taken[MOST * n..]) {
                *b -= coupled + own;
            }
            (self.work, self.basis) = (dx, taken);
            left = dot(b, b).sqrt();
            if left <= limit.tolerance * size || !left.is_finite() {
                break;
            }
        }
        b.copy_from_slice(&self.solution);
        left / size
    }

    /// Makes directions until the residual `left` is below `goal`; how many there are.
    fn directions(
        &mut self,
        factor: &mut BlockCholesky,
        island: &Island,
        side: Side,
        n: usize,
        [left, goal]: [f64; 2],
    ) -> usize {
        self.weights.fill(0.0);
        self.weights[0] = left;
        for k in 0..MOST {
            // w = (1 + N H⁻¹) u_k
            self.work.copy_from_slice(&self.basis[k * n..(k + 1) * n]);
            factor.solve(&mut self.work);
            let z = std::mem::take(&mut self.work);
            let mut basis = std::mem::take(&mut self.basis);
            let (before, rest) = basis.split_at_mut((k + 1) * n);
            let next = &mut rest[..n];
            next.copy_from_slice(&before[k * n..]);
            self.add_product(island, side, &z, next);
            (self.work, self.basis) = (z, basis);
            if self.orthogonalise(k, n) <= goal {
                return k + 1;
            }
        }
        MOST
    }

    /// Makes direction `k + 1` orthogonal to those before (Gram and Schmidt, modified), and turns its
    /// column into the triangle (Givens); the residual that is left.
    fn orthogonalise(&mut self, k: usize, n: usize) -> f64 {
        let column = &mut self.columns[k * MOST..(k + 1) * MOST];
        let (before, rest) = self.basis.split_at_mut((k + 1) * n);
        let next = &mut rest[..n];
        for (entry, direction) in column.iter_mut().zip(before.chunks_exact(n)) {
            *entry = dot(direction, next);
            for (x, u) in next.iter_mut().zip(direction) {
                *x -= *entry * u;
            }
        }
        let size = dot(next, next).sqrt();
        if size > 0.0 {
            for x in next.iter_mut() {
                *x /= size;
            }
        }
        for i in 0..k {
            let [c, s] = self.rotations[i];
            let (a, b) = (column[i], column[i + 1]);
            (column[i], column[i + 1]) = (c * a + s * b, c * b - s * a);
        }
        let length = column[k].hypot(size);
        let [c, s] = if length > 0.0 {
            [column[k] / length, size / length]
        } else {
            [1.0, 0.0]
        };
        (column[k], self.rotations[k]) = (length, [c, s]);
        let weight = self.weights[k];
        (self.weights[k], self.weights[k + 1]) = (c * weight, -s * weight);
        self.weights[k + 1].abs()
    }

    /// The weights of the directions by back-substitution, and their sum: in `work`, and behind the
    /// directions, whose last place it takes.
    fn add_directions(&mut self, used: usize, n: usize) {
        for k in (0..used).rev() {
            let mut weight = self.weights[k];
            for later in k + 1..used {
                weight -= self.columns[later * MOST + k] * self.weights[later];
            }
            let pivot = self.columns[k * MOST + k];
            self.weights[k] = if pivot > 0.0 { weight / pivot } else { 0.0 };
        }
        self.work.fill(0.0);
        let directions = self.basis.chunks_exact(n).zip(&self.weights[..used]);
        for (direction, weight) in directions {
            for (sum, u) in self.work.iter_mut().zip(direction) {
                *sum += weight * u;
            }
        }
        self.basis[MOST * n..].copy_from_slice(&self.work);
    }
}

/// The end of a search: relative residual, and most cycles of 30 products.
#[derive(Clone, Copy, Debug)]
pub(in crate::compliant) struct Limit {
    pub(in crate::compliant) tolerance: f64,
    pub(in crate::compliant) cycles: usize,
}

/// The outcome of a step with loads that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was made.
    Taken,
    /// No contact slides: loads change nothing.
    NotThere,
    /// The residual does not fall along it.
    LeadsUp,
    /// The residual does not fall, and is so small that it is rounding.
    AtRest,
}
