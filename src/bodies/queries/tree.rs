//! Boxes along the axes of the world, in a tree: each node has the box around all below it, and half of them
//! on each side. Cost: `n log n` to build; a ray or a box looks at the nodes that it meets.

use nalgebra::Vector3;

use crate::InputError;

/// A box along the axes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Bounds {
    pub(super) low: Vector3<f64>,
    pub(super) high: Vector3<f64>,
}

impl Bounds {
    pub(super) fn meets(&self, other: &Self) -> bool {
        (0..3).all(|k| self.low[k] <= other.high[k] && other.low[k] <= self.high[k])
    }

    /// True for a ray that passes on its way up to `most`.
    pub(super) fn is_hit(
        &self,
        origin: &Vector3<f64>,
        direction: &Vector3<f64>,
        most: f64,
    ) -> bool {
        let (mut from, mut to) = (0.0_f64, most);
        for k in 0..3 {
            // Along a face both are infinite, or no number on the face itself, which min and max
            // pass over.
            let one = (self.low[k] - origin[k]) / direction[k];
            let two = (self.high[k] - origin[k]) / direction[k];
            from = from.max(one.min(two));
            to = to.min(one.max(two));
        }
        from <= to
    }

    fn around(&self, other: &Self) -> Self {
        Self {
            low: self.low.inf(&other.low),
            high: self.high.sup(&other.high),
        }
    }
}

/// A body and its box.
#[derive(Clone, Copy, Debug)]
struct Leaf {
    body: usize,
    bounds: Bounds,
}

/// The leaves from `start` to `end`, and where there are several the first of its two nodes.
#[derive(Clone, Copy, Debug)]
struct Node {
    bounds: Bounds,
    start: usize,
    end: usize,
    below: usize,
}

/// A tree of boxes.
#[derive(Clone, Debug, Default)]
pub(super) struct Tree {
    leaves: Vec<Leaf>,
    nodes: Vec<Node>,
}

/// Nodes on the way down: of twice as many leaves as the memory has bytes one more.
const DEPTH: usize = 66;

impl Tree {
    pub(super) fn clear(&mut self) {
        self.leaves.clear();
        self.nodes.clear();
    }

    pub(super) fn add(&mut self, body: usize, bounds: Bounds) {
        self.leaves.push(Leaf { body, bounds });
    }

    pub(super) fn build(&mut self) {
        self.nodes.clear();
        if !self.leaves.is_empty() {
            self.push(0, self.leaves.len());
        }
        let mut next = 0;
        while let Some(&Node {
            bounds, start, end, ..
        }) = self.nodes.get(next)
        {
            if end - start > 1 {
                // Halves along the widest axis.
                let axis = (bounds.high - bounds.low).imax();
                let centre = |leaf: &Leaf| leaf.bounds.low[axis] + leaf.bounds.high[axis];
                let half = (end - start) / 2;
                self.leaves[start..end].select_nth_unstable_by(half, |p, q| {
                    centre(p).total_cmp(&centre(q)).then(p.body.cmp(&q.body))
                });
                self.nodes[next].below = self.nodes.len();
                self.push(start, start + half);
                self.push(start + half, end);
            }
            next += 1;
        }
    }

    fn push(&mut self, start: usize, end: usize) {
        let all = self.leaves[start..end].iter().map(|leaf| leaf.bounds);
        if let Some(bounds) = all.reduce(|one, two| one.around(&two)) {
            self.nodes.push(Node {
                bounds,
                start,
                end,
                below: 0,
            });
        }
    }

    /// Looks at the bodies whose boxes, and all boxes around them, meet something.
    pub(super) fn visit(
        &self,
        meets: impl Fn(&Bounds) -> bool,
        look: &mut impl FnMut(usize) -> Result<(), InputError>,
    ) -> Result<(), InputError> {
        let (mut waiting, mut count) = ([0; DEPTH], usize::from(!self.nodes.is_empty()));
        while count > 0 {
            count -= 1;
            let node = &self.nodes[waiting[count]];
            if !meets(&node.bounds) {
                continue;
            }
            if node.end - node.start == 1 {
                look(self.leaves[node.start].body)?;
            } else {
                waiting[count..count + 2].copy_from_slice(&[node.below + 1, node.below]);
                count += 2;
            }
        }
        Ok(())
    }
}
