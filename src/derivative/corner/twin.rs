//! Nodes of a graph by their modes: where orders of the same guards meet, a node that is found
//! behind another crossing may be one that is known.

use crate::Mode;

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
