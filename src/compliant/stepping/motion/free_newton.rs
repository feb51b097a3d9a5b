//! Newton's method for the motion without contacts of implicit schemes (Castro et al., equations 13
//! and 14), with a block of the Jacobian for each tree.

use std::ops::Range;

use crate::compliant::stepping::model::SteppedSystem;
use crate::linalg::lu::Lu;

/// Limit of the iterations.
const MOST_ITERATIONS: usize = 30;
/// The Jacobian is made again after so many iterations.
const SERVES: usize = 4;

/// Below this corrections need not shrink any more.
#[derive(Clone, Copy, Debug)]
pub(super) struct Least {
    /// As a part of the greatest velocity, or of 1 m/s.
    pub(super) part: f64,
    /// A velocity.
    pub(super) size: f64,
}

/// An iteration that did not end.
#[derive(Debug)]
pub(in crate::compliant::stepping) struct NotFound {
    pub(in crate::compliant::stepping) iterations: usize,
    pub(in crate::compliant::stepping) correction: f64,
}

/// Memory of the iteration.
#[derive(Clone, Debug, Default)]
pub(super) struct FreeNewton {
    trees: Vec<Range<usize>>,
    factors: Vec<Lu>,
    at_v: Vec<f64>,
    moved: Vec<f64>,
    at_moved: Vec<f64>,
}

impl FreeNewton {
    /// Takes the sizes of a system.
    pub(super) fn prepare(&mut self, system: &dyn SteppedSystem) {
        self.trees.clear();
        self.trees
            .extend((0..system.trees()).map(|i| system.tree(i)));
        self.factors.clear();
        self.factors
            .extend(self.trees.iter().map(|tree| Lu::new(tree.len())));
        for values in [&mut self.at_v, &mut self.moved, &mut self.at_moved] {
            values.clear();
            values.resize(system.dof(), 0.0);
        }
    }

    /// Finds `m(v) = 0` from `v`; `residual` writes `m`.
    pub(super) fn solve(
        &mut self,
        v: &mut [f64],
        least: Least,
        mut residual: impl FnMut(&[f64], &mut [f64]),
    ) -> Result<(), NotFound> {
        let mut correction = f64::INFINITY;
        for iteration in 0..MOST_ITERATIONS {
            residual(v, &mut self.at_v);
            if iteration % SERVES == 0 && !self.factorise(v, &mut residual) {
                return Err(NotFound {
                    iterations: iteration,
                    correction,
                });
            }
            let before = correction;
            let size = self.correct(v, &mut correction);
            let rounding = 4.0 * f64::EPSILON * size;
            // At the level of rounding corrections no longer shrink. Of a body at rest that is not
            // small beside its velocity, but beside 1 m/s, the scale of the differences.
            let level = (least.part * size.max(1.0)).max(least.size);
            if correction <= rounding || (correction <= level && correction >= 0.5 * before) {
                return Ok(());
            }
            if !correction.is_finite() {
                return Err(NotFound {
                    iterations: iteration + 1,
                    correction,
                });
            }
        }
        Err(NotFound {
            iterations: MOST_ITERATIONS,
            correction,
        })
    }

    /// The blocks of the Jacobian by differences: velocity number `k` of all trees is changed at
    /// once, so that efforts between trees slow the iteration and do not change its result. False
    /// where a block is singular.
    fn factorise(&mut self, v: &[f64], residual: &mut impl FnMut(&[f64], &mut [f64])) -> bool {
        let most = self.trees.iter().map(Range::len).max().unwrap_or(0);
        for k in 0..most {
            self.moved.copy_from_slice(v);
            for tree in self.trees.iter().filter(|tree| k < tree.len()) {
                let entry = &mut self.moved[tree.start + k];
                *entry += 1e-7 * entry.abs().max(1.0);
            }
            residual(&self.moved, &mut self.at_moved);
            for (tree, factor) in self.trees.iter().zip(&mut self.factors) {
                if k >= tree.len() {
                    continue;
                }
                let step = self.moved[tree.start + k] - v[tree.start + k];
                for (entry, at) in factor.column(k).iter_mut().zip(tree.clone()) {
                    *entry = (self.at_moved[at] - self.at_v[at]) / step;
                }
            }
        }
        self.factors.iter_mut().all(Lu::factor)
    }

    /// Subtracts the correction, and returns the greatest velocity.
    fn correct(&mut self, v: &mut [f64], correction: &mut f64) -> f64 {
        let mut size: f64 = 0.0;
        *correction = 0.0;
        for (tree, factor) in self.trees.iter().zip(&self.factors) {
            factor.solve(&mut self.at_v[tree.clone()]);
            for at in tree.clone() {
                v[at] -= self.at_v[at];
                *correction = correction.max(self.at_v[at].abs());
                size = size.max(v[at].abs());
            }
        }
        if !v.iter().all(|v| v.is_finite()) {
            *correction = f64::INFINITY;
        }
        size
    }
}
