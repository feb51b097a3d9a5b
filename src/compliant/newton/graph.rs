//! Islands: trees that terms connect, found by union and find. Each is a convex problem of its own
//! (an extension named in Castro et al., section VII), so that one difficult contact does not shorten
//! the steps of all.

use crate::compliant::problem::{Links, Problem};

/// The members of each island, in flat lists.
#[derive(Clone, Debug, Default)]
pub(in crate::compliant) struct Islands {
    /// For each tree its island, or [`ALONE`] without terms.
    pub(in crate::compliant) of_tree: Vec<usize>,
    /// Number of each tree within its island.
    pub(in crate::compliant) local: Vec<usize>,
    parents: Vec<usize>,
    trees: Lists,
    contacts: Lists,
    rows: Lists,
    labels: Vec<usize>,
}

/// A tree that no term acts on.
pub(in crate::compliant) const ALONE: usize = usize::MAX;

/// Lists of numbers, one after the other.
#[derive(Clone, Debug, Default)]
struct Lists {
    ends: Vec<usize>,
    members: Vec<usize>,
}

impl Lists {
    /// Sorts `0..count` into lists by `list_of`, in rising order; a counting sort.
    fn fill(&mut self, lists: usize, count: usize, list_of: impl Fn(usize) -> usize) {
        self.ends.clear();
        self.ends.resize(lists + 1, 0);
        let listed = |i: &usize| list_of(*i) < lists;
        for i in (0..count).filter(listed) {
            self.ends[list_of(i) + 1] += 1;
        }
        for list in 0..lists {
            self.ends[list + 1] += self.ends[list];
        }
        let total = self.ends[lists];
        self.members.clear();
        self.members.resize(total, 0);
        // `ends[l]` is where the next member of list `l` goes, and its end when all are placed.
        for i in (0..count).filter(listed) {
            let place = &mut self.ends[list_of(i)];
            self.members[*place] = i;
            *place += 1;
        }
    }

    fn list(&self, i: usize) -> &[usize] {
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        &self.members[start..self.ends[i]]
    }
}

impl Islands {
    /// Finds the islands of `problem`, numbered by their first trees; one island of all trees with
    /// terms when `whole` is set.
    pub(in crate::compliant) fn find(&mut self, problem: &Problem, whole: bool) {
        let count = problem.trees.len();
        self.parents.clear();
        self.parents.extend(0..count);
        self.of_tree.clear();
        self.of_tree.resize(count, ALONE);
        let links = || {
            let contacts = problem.contacts.iter().filter(|term| !term.is_apart);
            let contacts = contacts.map(|term| term.links);
            let rows = problem.rows.iter().filter(|term| !term.is_asleep);
            contacts.chain(rows.map(|term| term.links))
        };
        let mut first = None;
        for Links {
            first: a,
            second: b,
        } in links()
        {
            // Marked as touched by any number but ALONE.
            self.of_tree[a.tree] = 0;
            if let Some(b) = b {
                self.of_tree[b.tree] = 0;
                unite(&mut self.parents, a.tree, b.tree);
            }
            if whole {
                unite(&mut self.parents, a.tree, *first.get_or_insert(a.tree));
            }
        }
        self.labels.clear();
        self.labels.resize(count, ALONE);
        self.local.clear();
        self.local.resize(count, 0);
        let mut islands = 0;
        for tree in 0..count {
            if self.of_tree[tree] == ALONE {
                continue;
            }
            let root = root(&mut self.parents, tree);
            if self.labels[root] == ALONE {
                self.labels[root] = islands;
                islands += 1;
            }
            self.of_tree[tree] = self.labels[root];
        }
        let of_tree = &self.of_tree;
        self.trees.fill(islands, count, |tree| of_tree[tree]);
        let contacts = &problem.contacts;
        self.contacts.fill(islands, contacts.len(), |i| {
            if contacts[i].is_apart {
                ALONE
            } else {
                of_tree[contacts[i].links.first.tree]
            }
        });
        let rows = &problem.rows;
        self.rows
            .fill(islands, rows.len(), |i| of_tree[rows[i].links.first.tree]);
        for island in 0..islands {
            for (i, &tree) in self.trees.list(island).iter().enumerate() {
                self.local[tree] = i;
            }
        }
    }

    /// Number of islands.
    pub(in crate::compliant) fn len(&self) -> usize {
        self.trees.ends.len().saturating_sub(1)
    }

    /// The trees of an island, in rising order.
    pub(in crate::compliant) fn trees(&self, island: usize) -> &[usize] {
        self.trees.list(island)
    }

    /// The contacts of an island, in rising order.
    pub(in crate::compliant) fn contacts(&self, island: usize) -> &[usize] {
        self.contacts.list(island)
    }

    /// The rows of an island, in rising order.
    pub(in crate::compliant) fn rows(&self, island: usize) -> &[usize] {
        self.rows.list(island)
    }
}

/// The root of `i`, with the path halved.
fn root(parents: &mut [usize], mut i: usize) -> usize {
    while parents[i] != i {
        parents[i] = parents[parents[i]];
        i = parents[i];
    }
    i
}

/// Unites two sets under the smaller root: the result does not depend on the order of terms.
fn unite(parents: &mut [usize], a: usize, b: usize) {
    let (a, b) = (root(parents, a), root(parents, b));
    parents[a.max(b)] = a.min(b);
}
