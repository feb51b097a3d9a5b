//! Guards on which a run starts or ends, and those that neighbours meet before the one that ends it: there the
//! derivative holds on one side.

use nalgebra::{DMatrix, DVector};

use super::record::Recorder;
use crate::Guard;
use crate::derivative::Verdict;
use crate::derivative::chain_rule::Boundary;
use crate::hybrid::evaluate::{self, Point};

impl Recorder<'_> {
    /// Looks for a guard on which the run starts or ends, as far as its error tells.
    pub(super) fn look_for_edge(&mut self, point: Point<'_>) {
        let Point { t, x, mode } = point;
        let system = self.context.system;
        let mut row = vec![0.0; x.len()];
        let (mut field, mut scratch) = (
            std::mem::take(&mut self.product),
            std::mem::take(&mut self.bound),
        );
        field.resize(x.len(), 0.0);
        scratch.resize(x.len(), 0.0);
        system.flow(t, x, mode, &mut field);
        for k in 0..mode.len() {
            let guard = Guard::ahead(k, mode.contains(k));
            if self.at_end.contains(&guard.partner()) {
                // It was just crossed, or is crossed behind the end.
                self.chain.push_boundary(Boundary::Last(guard.partner(), t));
            }
            if !self.context.follows(guard) {
                continue;
            }
            let rate = evaluate::rate(system, k, point, &field, &mut row);
            let (own, zero) = (
                guard.sign() * system.event(k, t, x, mode),
                self.context.zero(k, t, rate),
            );
            // At the end only a guard that is about to be crossed counts; the crossing of one just
            // left was recorded.
            let at_start = self.chain.links().is_empty();
            let leaves = !at_start && guard.sign() * rate.value < 0.0;
            if (own.abs() <= zero && !leaves) || self.at_end.contains(&guard) {
                self.verdict.worsen(Verdict::OneSided { guard, t });
                let moving = (self.context).row(k, point, &mut row, &mut scratch);
                if let Err(error) = moving {
                    return self.fail(error);
                }
                let own_row = guard.sign() * DVector::from_column_slice(&row);
                self.chain.push_boundary(if at_start {
                    Boundary::Start(guard, t, self.total.tr_mul(&own_row))
                } else {
                    Boundary::Ahead(guard, t, own_row)
                });
            }
        }
        (self.product, self.bound) = (field, scratch);
    }

    /// Looks for guards that neighbours may meet before the one that ends the run: they go another way there.
    pub(super) fn look_for_unmet(&mut self, point: Point<'_>) {
        let Point { t, x, mode } = point;
        let mut row = vec![0.0; x.len()];
        for k in 0..mode.len() {
            let guard = Guard::ahead(k, mode.contains(k));
            let own = guard.sign() * self.context.system.event(k, t, x, mode);
            let is_followed = self.context.follows(guard) && self.in_doubt.contains(&(guard, t));
            if !is_followed || own >= 0.0 {
                continue;
            }
            if let Err(error) = self.context.row(k, point, &mut row, &mut self.product) {
                return self.fail(error);
            }
            let own_row = guard.sign() * DVector::from_column_slice(&row);
            self.chain.push_boundary(Boundary::Ahead(guard, t, own_row));
        }
    }

    /// Where the start lies on a guard, neighbours may stay off what displacements are first brought to:
    /// directions that are not on it are refused.
    pub(super) fn keep_to_start(&mut self) {
        let Verdict::OneSided { guard, t } = self.verdict else {
            return;
        };
        let dim = self.total.nrows();
        for row in (DMatrix::identity(dim, dim) - &self.total).row_iter() {
            let rounding = 1e-6 * row.amax().max(1.0);
            let row = DVector::from_iterator(
                dim,
                row.iter()
                    .map(|e| if e.abs() > rounding { *e } else { 0.0 }),
            );
            if row.amax() > 0.0 {
                self.chain.push_boundary(Boundary::Start(guard, t, -&row));
                self.chain.push_boundary(Boundary::Start(guard, t, row));
            }
        }
    }
}
