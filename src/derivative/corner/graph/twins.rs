//! Nodes that were found before: where orders of the same guards meet, the node behind a crossing
//! may be one of them, its twin. It is looked for among the nodes of its mode.

use super::CornerGraph;
use crate::linalg::largest;
use crate::{Guard, Mode};

/// The nodes of a graph by their modes, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Twins {
    pub(super) nodes: Vec<Keyed>,
    /// The newest node with a key that ends in this place.
    newest: [Option<usize>; ENDS as usize],
}

/// A node among those with the same end of their keys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keyed {
    /// A number of its mode, which equal ones have in common: looked at before all else.
    key: u64,
    /// The next older node there.
    older: Option<usize>,
}

impl Twins {
    pub(super) fn new() -> Self {
        Self {
            nodes: Vec::new(),
            newest: [None; ENDS as usize],
        }
    }

    pub(super) fn clear(&mut self) {
        self.nodes.clear();
        self.newest.fill(None);
    }

    /// Adds the next node.
    #[inline]
    pub(super) fn add(&mut self, mode: &Mode) {
        let (i, key) = (self.nodes.len(), key(mode));
        let older = self.newest[end(key)].replace(i);
        self.nodes.push(Keyed { key, older });
    }

    pub(super) fn forget_newest(&mut self) {
        if let Some(Keyed { key, older }) = self.nodes.pop() {
            self.newest[end(key)] = older;
        }
    }

    /// Nodes whose mode may be this one, the newest first.
    #[inline]
    pub(super) fn of_mode(&self, mode: &Mode) -> impl Iterator<Item = usize> + '_ {
        let key = key(mode);
        let alike = std::iter::successors(self.newest[end(key)], |&i| self.nodes[i].older);
        alike.filter(move |&i| self.nodes[i].key == key)
    }
}

impl CornerGraph {
    /// The known node behind the crossing of `guard` at a node, where a crossing changes nothing but
    /// its own side; `after` is the mode there.
    pub(crate) fn known_behind(
        &self,
        from: usize,
        guard: Guard,
        after: &mut Mode,
    ) -> Option<usize> {
        after.copy_from(self.mode(from));
        after.set(guard.event, guard.side_after());
        let (level, left) = (self.level(from) + 1, self.members(from).len() - 1);
        self.twins.of_mode(after).find(|&i| {
            self.level(i) == level && self.members(i).len() == left && self.mode(i).is(after)
        })
    }

    /// An earlier node that is the same.
    pub(crate) fn twin(&self, newest: usize) -> Option<usize> {
        let new = self.node(newest);
        let rounding = self.rounding();
        let largest = largest(new.x);
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
        let mut known = self.twins.of_mode(new.mode).filter(|&i| i != newest);
        known.find(alike)
    }
}

/// Among so many places the keys of nodes are divided.
const ENDS: u8 = 64;

/// The place of a key.
#[inline]
fn end(key: u64) -> usize {
    let [last, ..] = key.to_le_bytes();
    usize::from(last % ENDS)
}

/// A number that depends on the sides of a mode alone.
fn key(mode: &Mode) -> u64 {
    mode.words().fold(0, |key, word| {
        (key ^ word)
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(29)
    })
}
