//! Orders of the same guards meet: a node that is found behind another crossing may be one that is
//! known.

use super::graph::CornerGraph;
use crate::{Guard, Mode};

impl CornerGraph {
    /// The known node behind the crossing of `guard` at a node, where a crossing changes nothing but
    /// its own side; `after` is the mode there.
    pub(super) fn known_behind(
        &self,
        from: usize,
        guard: Guard,
        after: &mut Mode,
    ) -> Option<usize> {
        after.copy_from(self.mode(from));
        after.set(guard.event, guard.side_after());
        let (level, left) = (self.level(from) + 1, self.members(from).len() - 1);
        self.of_mode(after).find(|&i| {
            self.level(i) == level && self.members(i).len() == left && self.mode(i).is(after)
        })
    }

    /// An earlier node that is the same.
    pub(super) fn twin(&self, newest: usize) -> Option<usize> {
        let new = self.node(newest);
        let rounding = self.rounding();
        let largest = new.x.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        // Resets that commute do so to within rounding.
        let same = |i: usize, a: f64, b: f64| {
            (a - b).abs() <= 1e-13 * a.abs().max(1e-3 * largest) + rounding[i]
        };
        let alike = |&i: &usize| {
            let old = self.node(i);
            (old.level == new.level || new.moved)
                && old.mode.is(new.mode)
                && old.arming == new.arming
                && (0..new.x.len()).all(|i| same(i, old.x[i], new.x[i]))
                && old.members.len() == new.members.len()
                && old.moved == new.moved
                && (old.members.iter().zip(new.members)).all(|(a, b)| a.guard == b.guard)
        };
        self.of_mode(new.mode).find(|&i| i != newest && alike(&i))
    }
}
