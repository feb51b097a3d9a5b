//! How a displacement shifts the times at which the guards of a corner are crossed,
//! `τ = −D_x h δ / (dh/dt)`, and which of them it meets first.

use nalgebra::{DMatrix, DVector};

use super::graph::{CornerGraph, Node};
use super::members::Member;
use crate::NoDerivative;
use crate::hybrid::System;
use crate::linalg::dot;

impl CornerGraph {
    /// Shift of the time at which member `m` of a node is crossed, for a perturbation `delta`
    /// there (s).
    pub(crate) fn shift(&self, node: usize, m: usize, delta: &[f64]) -> f64 {
        self.shift_of(&self.members(node)[m], delta)
    }

    #[inline]
    fn shift_of(&self, member: &Member, delta: &[f64]) -> f64 {
        -dot(self.row_of(member), delta) / member.rate
    }

    /// The time shift as a row on displacements before the corner, which `map` carries to the node.
    pub(crate) fn shift_row(&self, node: usize, m: usize, map: &DMatrix<f64>) -> DVector<f64> {
        let mut row = DVector::zeros(map.ncols());
        self.write_shift_row(node, m, map, &mut row);
        row
    }

    /// Writes that row.
    pub(crate) fn write_shift_row(
        &self,
        node: usize,
        m: usize,
        map: &DMatrix<f64>,
        row: &mut DVector<f64>,
    ) {
        let member = &self.members(node)[m];
        let columns = map.as_slice().chunks_exact(self.dim());
        for (shift, column) in row.iter_mut().zip(columns) {
            *shift = self.shift_of(member, column);
        }
    }

    /// From perturbations at fixed time to those at the event that ends the run, whose time shifts
    /// by `tau`.
    pub(crate) fn to_event(&self, node: usize, tau: &[f64], deltas: &mut [f64]) {
        let field = self.field(node);
        for (delta, tau) in deltas.chunks_exact_mut(field.len()).zip(tau) {
            for i in 0..field.len() {
                delta[i] += tau * field[i];
            }
        }
    }

    /// The member of a node that `delta` meets first, with the shift of its time (s); none when all
    /// are crossed, or no other is reached after a reset. Refuses a node as
    /// [`check_live`](Self::check_live) does.
    pub(crate) fn first_met(
        &self,
        system: &dyn System,
        node: usize,
        delta: &[f64],
    ) -> Result<Option<(usize, f64)>, NoDerivative> {
        let Node { members, moved, .. } = self.node(node);
        let mut first: Option<(usize, f64)> = None;
        for (m, member) in members.iter().enumerate() {
            if !self.crosses(system, member) {
                if !moved {
                    return Err(self.not_live(system, (node, member)));
                }
                continue;
            }
            let tau = self.shift_of(member, delta);
            if first.is_none_or(|(_, least)| tau < least) {
                first = Some((m, tau));
            }
        }
        Ok(first)
    }
}
