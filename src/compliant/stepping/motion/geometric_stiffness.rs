//! The geometric stiffness of joints under load, after Andrews, Teichmann & Kry, Geometric stiffness for
//! real-time constrained multibody dynamics (2017).
//!
//! The force `F` of a joint acts on a body at the end of an arm `r`. A step that takes the arm of its start
//! errs, when the body turns by `δ`, by the torque
//!
//! ```text
//!     (δ × r) × F = −K δ        K = (F·r) 1 − r Fᵀ
//! ```
//!
//! Under tension, `F·r > 0`, that is a spring which pulls the body into line. A light body between heavy
//! ones is so stiff by it that a step overshoots: from `dt² K = 4 I` on its turns grow without bound. Where that
//! is near, `dt² K/2` is added to the inertia `I`. A turn of the rate `ω² = K/I` then meets, by its step,
//!
//! ```text
//!     dt² K / (I + dt² K/2) < 2
//! ```
//!
//! however light the body is. To take `K` at the end of the step would do that too, and would take energy from the
//! slow swing of all bodies with it; what is added here takes none.

use nalgebra::{Matrix3, Matrix6, Vector6};

use crate::compliant::problem::Armed;
use crate::linalg::decompose::{cholesky, symmetric_eigen};

/// `dt² K` by the inertia up to which a step is right without it. The border of stability is 4.
const SLOW: f64 = 1.0;

/// Part of itself by which a stiffness may be off: what it changes is of the order of the errors of the step.
const CLOSE: f64 = 0.1;

/// The block of `A` of a body under load, and `v*` with it.
#[derive(Clone, Debug)]
pub(super) struct Stiffened {
    pub(super) tree: usize,
    pub(super) inertia: Matrix6<f64>,
    pub(super) free: Vector6<f64>,
    /// `dt² K/2`.
    added: Matrix3<f64>,
}

/// A body without its loads.
pub(super) struct Unloaded {
    /// Its block of `A`, turns before moves.
    pub(super) inertia: Matrix6<f64>,
    /// `v₀`.
    pub(super) start: Vector6<f64>,
    /// `v*`.
    pub(super) free: Vector6<f64>,
}

impl Unloaded {
    /// With an inertia of turns beside its own: the same momentum makes less of `v* − v₀`.
    fn stiffened(self, tree: usize, added: Matrix3<f64>) -> Option<Stiffened> {
        let momentum = self.inertia * (self.free - self.start);
        let mut inertia = self.inertia;
        let mut turns = inertia.fixed_view_mut::<3, 3>(0, 0);
        turns += added;
        let free = self.start + cholesky(inertia)?.solve(&momentum);
        Some(Stiffened {
            tree,
            inertia,
            free,
            added,
        })
    }
}

impl Stiffened {
    fn is_near(&self, other: &Self) -> bool {
        let change = (self.added - other.added).norm();
        self.tree == other.tree && change <= CLOSE * self.added.norm()
    }
}

/// What the loads of a step add to its bodies.
#[derive(Clone, Debug, Default)]
pub(super) struct GeometricStiffness {
    /// `dt² K` of a tree, in the order of trees.
    loads: Vec<(usize, Matrix3<f64>)>,
    blocks: Vec<Stiffened>,
    before: Vec<Stiffened>,
}

impl GeometricStiffness {
    pub(super) fn clear(&mut self) {
        self.blocks.clear();
    }

    /// Makes the blocks of the trees that the impulses of a step of `dt` seconds make stiff; `body` gives
    /// those without their loads. True where they are not those that were made before.
    pub(super) fn stiffen(
        &mut self,
        impulses: impl Iterator<Item = Armed>,
        dt: f64,
        body: impl Fn(usize) -> Option<Unloaded>,
    ) -> bool {
        self.gather(impulses, dt);
        std::mem::swap(&mut self.blocks, &mut self.before);
        self.blocks.clear();
        let stiff = self.loads.iter().filter_map(|(tree, load)| {
            let body = body(*tree)?;
            let turns = body.inertia.fixed_view::<3, 3>(0, 0).into_owned();
            body.stiffened(*tree, 0.5 * beyond_slow(&turns, load)?)
        });
        self.blocks.extend(stiff);
        let pairs = || self.blocks.iter().zip(&self.before);
        let is_same = self.blocks.len() == self.before.len() && pairs().all(|(a, b)| a.is_near(b));
        !is_same
    }

    /// Gives the block of a tree, where it is stiff, another `v*` of the body without its loads.
    pub(super) fn renew(&mut self, tree: usize, start: &[f64], free: &[f64]) {
        let Ok(i) = self.blocks.binary_search_by_key(&tree, |block| block.tree) else {
            return;
        };
        let block = &mut self.blocks[i];
        let mut own = block.inertia;
        let mut turns = own.fixed_view_mut::<3, 3>(0, 0);
        turns -= block.added;
        let start = Vector6::from_column_slice(start);
        let momentum = own * (Vector6::from_column_slice(free) - start);
        if let Some(factor) = cholesky(block.inertia) {
            block.free = start + factor.solve(&momentum);
        }
    }

    pub(super) fn is_some(&self) -> bool {
        !self.blocks.is_empty()
    }

    /// The block of a tree, where it is stiff.
    pub(super) fn block(&self, tree: usize) -> Option<&Stiffened> {
        let i = self.blocks.binary_search_by_key(&tree, |block| block.tree);
        i.ok().map(|i| &self.blocks[i])
    }

    /// Adds up `dt² K` of each tree.
    fn gather(&mut self, impulses: impl Iterator<Item = Armed>, dt: f64) {
        self.loads.clear();
        for Armed { tree, arm, impulse } in impulses {
            let (r, f) = (arm, dt * impulse);
            let k = Matrix3::from_diagonal_element(f.dot(&r)) - r * f.transpose();
            self.loads.push((tree, 0.5 * (k + k.transpose())));
        }
        self.loads.sort_by_key(|(tree, _)| *tree);
        self.loads.dedup_by(|next, sum| {
            let is_same = next.0 == sum.0;
            if is_same {
                sum.1 += next.1;
            }
            is_same
        });
    }
}

/// The part of `dt² K` that is too stiff for an explicit step of a body with this inertia; none without any. The rest
/// stays out, what pushes the body out of line too: it is no spring.
fn beyond_slow(inertia: &Matrix3<f64>, load: &Matrix3<f64>) -> Option<Matrix3<f64>> {
    let factor = cholesky(*inertia)?;
    // `dt² K` by the inertia: `L⁻¹ dt² K L⁻ᵀ` with `L Lᵀ = I`, of which `‖L⁻¹‖² ‖dt² K‖` is a bound.
    let inverse = factor.l().solve_lower_triangular(&Matrix3::identity())?;
    if inverse.norm_squared() * load.norm() <= SLOW {
        return None;
    }
    let relative = inverse * load * inverse.transpose();
    let eigen = symmetric_eigen(relative)?;
    let kept = eigen
        .eigenvalues
        .map(|value| if value > SLOW { value } else { 0.0 });
    if kept.iter().all(|value| *value == 0.0) {
        return None;
    }
    let back = factor.l() * eigen.eigenvectors;
    Some(back * Matrix3::from_diagonal(&kept) * back.transpose())
}
