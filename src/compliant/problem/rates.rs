//! Velocities of terms, of their moments too, and products with `A`: a contact problem read at given velocities.

use super::{Links, Problem, Tree};
use crate::linalg::dot;

/// A tree, and a term of the driver that acts on it.
#[derive(Clone, Copy, Debug)]
pub(in crate::compliant) struct Held {
    pub(in crate::compliant) tree: usize,
    pub(in crate::compliant) term: usize,
}

impl Problem {
    /// The normal velocity of contact `i` at the velocities `v`.
    pub(in crate::compliant) fn normal_rate(&self, i: usize, v: &[f64]) -> f64 {
        self.rate(&self.contacts[i].links, v)
    }

    /// The velocity of the first row of a term.
    pub(in crate::compliant) fn rate(&self, links: &Links, v: &[f64]) -> f64 {
        let mut rate = 0.0;
        for link in links.iter() {
            let tree = &self.trees[link.tree];
            let row = &self.jacobian[link.place..link.place + tree.width];
            rate += dot(row, &v[tree.start..tree.start + tree.width]);
        }
        rate
    }

    /// Number of moments that a solution has: one for each contact; none where no contact has spinning or
    /// rolling friction.
    pub(in crate::compliant) fn moments(&self) -> usize {
        let some = self.contacts.iter().any(|term| term.rotational > 0.0);
        if some { self.contacts.len() } else { 0 }
    }

    /// The relative angular velocity of contact `i` about its normal and its tangents, at the velocities
    /// `v`; zero for one without moments.
    pub(in crate::compliant) fn angular_velocity(&self, i: usize, v: &[f64]) -> [f64; 3] {
        let (term, mut found) = (&self.contacts[i], [0.0; 3]);
        if term.rotational > 0.0 {
            for link in self.of_moments(&term.links).iter() {
                let tree = &self.trees[link.tree];
                let v = &v[tree.start..tree.start + tree.width];
                let rows = self.jacobian[link.place..].chunks_exact(tree.width);
                for (sum, row) in found.iter_mut().zip(rows) {
                    *sum += dot(row, v);
                }
            }
        }
        found
    }

    /// `vᵀ A w` of one tree.
    pub(in crate::compliant) fn inertia_product(&self, tree: usize, v: &[f64], w: &[f64]) -> f64 {
        let tree = &self.trees[tree];
        let (n, of) = (tree.width, tree.start..tree.start + tree.width);
        let block = self.inertia[tree.place..tree.place + n * n].chunks_exact(n);
        let rows = block.zip(&v[of.clone()]);
        rows.map(|(row, v)| v * dot(row, &w[of.clone()])).sum()
    }

    /// The change `|J_b (v* − v0)|` of a step in the first rows of contact `i`, the greater of its bodies. Each
    /// counts by itself: two that fall together press each other no less.
    pub(in crate::compliant) fn own_change(&self, i: usize, v0: &[f64], rows: usize) -> f64 {
        let changes = self.contacts[i].links.iter().map(|link| {
            let tree = &self.trees[link.tree];
            let of = tree.start..tree.start + tree.width;
            let (free, start) = (&self.free[of.clone()], &v0[of]);
            let block = &self.jacobian[link.place..link.place + rows * tree.width];
            let squares = block.chunks_exact(tree.width).map(|row| {
                let pairs = row.iter().zip(free.iter().zip(start));
                let rate: f64 = pairs.map(|(j, (free, v))| j * (free - v)).sum();
                rate * rate
            });
            squares.sum::<f64>().sqrt()
        });
        changes.fold(0.0, f64::max)
    }

    /// Adds to `momentum` what impulses of the rows give: `Jᵀ γ`.
    pub(in crate::compliant) fn add_momentum_of_rows(
        &self,
        impulses: &[f64],
        momentum: &mut [f64],
    ) {
        for (term, impulse) in self.rows.iter().zip(impulses) {
            for link in term.links.iter() {
                let tree = &self.trees[link.tree];
                let row = &self.jacobian[link.place..link.place + tree.width];
                for (sum, entry) in momentum[tree.start..].iter_mut().zip(row) {
                    *sum += impulse * entry;
                }
            }
        }
    }

    /// `A` of one tree.
    pub(in crate::compliant) fn inertia_of(&self, tree: usize) -> &[f64] {
        let Tree { place, width, .. } = self.trees[tree];
        &self.inertia[place..place + width * width]
    }

    /// The first term of the driver that acts by a row on one of the trees asked for.
    pub(in crate::compliant) fn first_held(
        &self,
        is_asked: impl Fn(usize) -> bool,
    ) -> Option<Held> {
        (0..)
            .map_while(|term| Some((term, self.rows_of_term(term)?)))
            .find_map(|(term, rows)| {
                let links = self.rows[rows].iter().flat_map(|row| row.links.iter());
                let mut trees = links.map(|link| link.tree);
                trees
                    .find(|tree| is_asked(*tree))
                    .map(|tree| Held { tree, term })
            })
    }

    /// The island of contact `i`, with those of all trees.
    pub(in crate::compliant) fn island_of(&self, i: usize, of_tree: &[usize]) -> usize {
        of_tree[self.contacts[i].links.first.tree]
    }
}
