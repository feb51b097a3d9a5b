//! Orders of the same guards meet: a node that is found behind another crossing may be one that is
//! known.

use super::graph::CornerGraph;

impl CornerGraph {
    /// An earlier node that is the same.
    pub(super) fn twin(&self, newest: usize) -> Option<usize> {
        let new = self.node(newest);
        let rounding = self.rounding();
        let largest = new.x.iter().fold(0.0, |most: f64, v| most.max(v.abs()));
        // Resets that commute do so to within rounding.
        let same = |i: usize, a: f64, b: f64| {
            (a - b).abs() <= 1e-13 * a.abs().max(1e-3 * largest) + rounding[i]
        };
        let key = self.keys[newest];
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
        let mut older = std::iter::successors(self.older[newest], |&i| self.older[i]);
        older.find(|&i| self.keys[i] == key && alike(&i))
    }
}
