//! The order in which trees are eliminated from a symmetric matrix of blocks, and the pattern of its
//! Cholesky factor: minimum degree on the graph of trees.
//!
//! The graph of what is left is kept as a quotient graph: an eliminated tree becomes an element, the
//! clique of its neighbours, and absorbs the elements it was in. Memory is that of the pattern and
//! of the edges. The degree of a tree is a bound, by scalars: the elements it is in are counted
//! without their parts in the newest one (Amestoy, Davis & Duff, "An approximate minimum degree
//! ordering algorithm", SIAM J. Matrix Anal. Appl. 17, 1996). The neighbours of a tree at its
//! elimination are its column of the factor, so nothing is left of the symbolic factorisation.
//!
//! n steps, each of at most the lists of all neighbours, which together do not grow: at worst
//! n · edges for all, and the pattern, n²/2.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

/// Elimination of all trees by minimum degree. Ties are broken by the number of the tree.
#[derive(Clone, Debug, Default)]
pub(crate) struct Elimination {
    /// Trees step by step.
    order: Vec<usize>,
    /// Steps of the elimination in the order that is returned.
    sequence: Vec<usize>,
    /// Neighbours at elimination, step by step.
    neighbours: Vec<usize>,
    /// Their first places; one more at the end.
    starts: Vec<usize>,
    branches: Vec<Branch>,

    graph: QuotientGraph,
    heap: BinaryHeap<Reverse<(usize, usize)>>,
}

/// A step and the steps that it waits for, in the elimination tree.
#[derive(Clone, Copy, Debug, Default)]
struct Branch {
    /// The first step to which this one contributes; itself when there is none.
    parent: usize,
    /// Steps of the branch, with this one.
    size: usize,
    /// The next branch below this step ends here in the order.
    end: usize,
}

/// The rest of the graph during the elimination.
#[derive(Clone, Debug, Default)]
struct QuotientGraph {
    /// Lists of all trees: elements it is in, then trees beside it. A list never grows.
    lists: Vec<usize>,
    nodes: Vec<Node>,
}

/// A tree, or the element of a tree that is eliminated.
#[derive(Clone, Copy, Debug, Default)]
struct Node {
    /// The list of the tree begins here in `lists`.
    start: usize,
    /// Length of the list.
    length: usize,
    /// The number of these that are elements.
    elements: usize,
    /// Width of the tree, at least 1.
    weight: usize,
    /// Bound on the scalars in the column if the tree were next.
    degree: usize,
    /// Last step whose new element has this tree.
    seen: usize,
    /// Position in the order of an eliminated tree.
    position: usize,
    eliminated: bool,
    /// An element that none has absorbed.
    element: bool,
    /// Scalars in the element.
    size: usize,
    /// Scalars of the element outside the newest one, as of step `counted`.
    outside: usize,
    counted: usize,
}

impl Node {
    fn list(&self) -> Range<usize> {
        self.start..self.start + self.length
    }
}

impl Elimination {
    /// Trees in the order of elimination.
    pub(crate) fn order(&self) -> impl ExactSizeIterator<Item = usize> {
        self.sequence.iter().map(|&step| self.order[step])
    }

    /// Trees that are neighbours of the `k`th tree of the order when it is eliminated, in no order:
    /// where its column of the factor is not zero.
    pub(crate) fn column(&self, k: usize) -> &[usize] {
        let step = self.sequence[k];
        &self.neighbours[self.starts[step]..self.starts[step + 1]]
    }

    /// Eliminates trees of these widths with these edges (pairs of different trees, without
    /// repeats).
    pub(crate) fn minimum_degree(&mut self, widths: &[usize], edges: &[(usize, usize)]) {
        self.order.clear();
        self.neighbours.clear();
        self.starts.clear();
        self.starts.push(0);
        self.graph.fill(widths, edges);
        self.heap.clear();
        let nodes = &self.graph.nodes;
        self.heap
            .extend((0..).zip(nodes).map(|(i, n)| Reverse((n.degree, i))));
        let mut left: usize = nodes.iter().map(|n| n.weight).sum();
        while let Some(Reverse((degree, pivot))) = self.heap.pop() {
            let node = self.graph.nodes[pivot];
            // an entry of an earlier degree
            if node.eliminated || node.degree != degree {
                continue;
            }
            left -= node.weight;
            self.eliminate(pivot, left);
        }
        self.postorder();
    }

    /// Moves each step to just before the one that waits for it, which changes no column: what a
    /// factorisation reads was written a short time before.
    fn postorder(&mut self) {
        let n = self.order.len();
        self.branches.clear();
        for k in 0..n {
            let column = self.neighbours[self.starts[k]..self.starts[k + 1]].iter();
            let steps = column.map(|&i| self.graph.nodes[i].position);
            let parent = steps.min().unwrap_or(k);
            let (size, end) = (1, 0);
            self.branches.push(Branch { parent, size, end });
        }
        for k in 0..n {
            let Branch { parent, size, .. } = self.branches[k];
            if parent > k {
                self.branches[parent].size += size;
            }
        }
        self.sequence.clear();
        self.sequence.resize(n, 0);
        let mut root_end = n;
        for k in (0..n).rev() {
            let Branch { parent, size, .. } = self.branches[k];
            let end = match parent {
                parent if parent > k => &mut self.branches[parent].end,
                _ => &mut root_end,
            };
            let place = *end - 1;
            *end -= size;
            self.branches[k].end = place;
            self.sequence[place] = k;
        }
    }

    /// Eliminates `pivot`; `left` scalars are in the trees after it.
    fn eliminate(&mut self, pivot: usize, left: usize) {
        let begin = self.neighbours.len();
        self.order.push(pivot);
        // steps count from 1: no tree has been seen in step 0
        let step = self.order.len();
        let QuotientGraph { lists, nodes } = &mut self.graph;
        let size = gather(
            nodes,
            lists,
            &self.starts,
            &mut self.neighbours,
            pivot,
            step,
        );
        self.starts.push(self.neighbours.len());
        let pattern = &self.neighbours[begin..];

        for &i in pattern {
            let Node {
                start,
                elements,
                weight,
                ..
            } = nodes[i];
            for &e in &lists[start..start + elements] {
                let element = &mut nodes[e];
                if element.counted != step {
                    element.counted = step;
                    element.outside = element.size;
                }
                element.outside -= weight;
            }
        }
        for &i in pattern {
            let mut tree = nodes[i];
            let within = size - tree.weight;
            let apart = prune(&mut tree, nodes, lists, pivot, step);
            let degree = (apart + within)
                .min(left - tree.weight)
                .min(tree.degree + within);
            if degree != tree.degree {
                tree.degree = degree;
                self.heap.push(Reverse((degree, i)));
            }
            nodes[i] = tree;
        }
    }
}

impl QuotientGraph {
    /// The graph before the first elimination.
    fn fill(&mut self, widths: &[usize], edges: &[(usize, usize)]) {
        let QuotientGraph { lists, nodes } = self;
        nodes.clear();
        nodes.extend(widths.iter().map(|&w| Node {
            weight: w.max(1),
            ..Node::default()
        }));
        for &(i, j) in edges {
            nodes[i].length += 1;
            nodes[j].length += 1;
        }
        let mut start = 0;
        for node in nodes.iter_mut() {
            node.start = start;
            start += node.length;
            node.length = 0;
        }
        lists.clear();
        lists.resize(start, 0);
        for &(i, j) in edges {
            for (tree, other) in [(i, j), (j, i)] {
                let weight = nodes[other].weight;
                let node = &mut nodes[tree];
                lists[node.start + node.length] = other;
                node.length += 1;
                node.degree += weight;
            }
        }
    }
}

/// Appends the neighbours of `pivot` to `neighbours` and makes them its element, which absorbs those
/// that `pivot` is in. Returns the scalars in it.
fn gather(
    nodes: &mut [Node],
    lists: &[usize],
    starts: &[usize],
    neighbours: &mut Vec<usize>,
    pivot: usize,
    step: usize,
) -> usize {
    let node = &mut nodes[pivot];
    node.seen = step;
    node.eliminated = true;
    node.element = true;
    node.position = step - 1;
    let (elements, beside) = lists[node.list()].split_at(node.elements);
    let mut size = 0;
    for &i in beside {
        let tree = &mut nodes[i];
        tree.seen = step;
        size += tree.weight;
        neighbours.push(i);
    }
    for &e in elements {
        let element = &mut nodes[e];
        element.element = false;
        let k = element.position;
        for at in starts[k]..starts[k + 1] {
            let i = neighbours[at];
            let tree = &mut nodes[i];
            if tree.seen != step {
                tree.seen = step;
                size += tree.weight;
                neighbours.push(i);
            }
        }
    }
    nodes[pivot].size = size;
    size
}

/// Removes from the list of `tree` what the element of `pivot` says, and adds that element. Returns
/// a bound on the scalars beside the tree that are not in that element.
fn prune(
    tree: &mut Node,
    nodes: &mut [Node],
    lists: &mut [usize],
    pivot: usize,
    step: usize,
) -> usize {
    let Range { start, end } = tree.list();
    let middle = start + tree.elements;
    let mut apart = 0;
    let mut kept = start;
    for at in start..middle {
        let e = lists[at];
        let element = &mut nodes[e];
        // all that is in it is in the new one
        element.element &= element.outside > 0;
        if element.element {
            apart += element.outside;
            lists[kept] = e;
            kept += 1;
        }
    }
    let elements = kept;
    for at in middle..end {
        let i = lists[at];
        let other = &nodes[i];
        if other.seen != step {
            apart += other.weight;
            lists[kept] = i;
            kept += 1;
        }
    }
    // There is room: `pivot` itself or an element it was in has gone.
    if elements < kept {
        lists[kept] = lists[elements];
    }
    lists[elements] = pivot;
    tree.elements = elements + 1 - start;
    tree.length = kept + 1 - start;
    apart
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    /// Trees by order of elimination, each with its neighbours, by taking the graph apart.
    fn columns_of(order: &[usize], edges: &[(usize, usize)]) -> Vec<BTreeSet<usize>> {
        let mut beside = vec![BTreeSet::new(); order.len()];
        for &(i, j) in edges {
            beside[i].insert(j);
            beside[j].insert(i);
        }
        let mut columns = Vec::new();
        for &pivot in order {
            let column = std::mem::take(&mut beside[pivot]);
            for &i in &column {
                let neighbours = &mut beside[i];
                neighbours.extend(&column);
                neighbours.remove(&i);
                neighbours.remove(&pivot);
            }
            columns.push(column);
        }
        columns
    }

    fn blocks(columns: &[BTreeSet<usize>]) -> usize {
        columns.iter().map(BTreeSet::len).sum()
    }

    fn assert_consistent(elimination: &Elimination, edges: &[(usize, usize)]) -> usize {
        let order: Vec<usize> = elimination.order().collect();
        let all: BTreeSet<usize> = order.iter().copied().collect();
        assert_eq!(all.len(), order.len());
        let expected = columns_of(&order, edges);
        for (k, expected) in expected.iter().enumerate() {
            let column = elimination.column(k);
            assert_eq!(column.len(), expected.len());
            assert_eq!(&column.iter().copied().collect::<BTreeSet<_>>(), expected);
        }
        blocks(&expected)
    }

    fn grid(rows: usize, columns: usize) -> Vec<(usize, usize)> {
        let mut edges = Vec::new();
        for r in 0..rows {
            for c in 0..columns {
                let i = r * columns + c;
                if c + 1 < columns {
                    edges.push((i, i + 1));
                }
                if r + 1 < rows {
                    edges.push((i, i + columns));
                }
            }
        }
        edges
    }

    fn eliminated(widths: &[usize], edges: &[(usize, usize)]) -> Elimination {
        let mut elimination = Elimination::default();
        elimination.minimum_degree(widths, edges);
        elimination
    }

    proptest! {
        #[test]
        fn columns_are_those_of_the_order(
            widths in prop::collection::vec(0usize..13, 1..30),
            bits in prop::collection::vec(0.0..1.0, 435),
            density in 0.0..1.0,
        ) {
            let n = widths.len();
            let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
            let chosen = pairs.zip(bits).filter(|&(_, bit)| bit < density);
            let edges: Vec<_> = chosen.map(|(pair, _)| pair).collect();
            let mut elimination = eliminated(&widths, &edges);
            prop_assert_eq!(elimination.order().len(), n);
            assert_consistent(&elimination, &edges);
            let first = elimination.order().collect::<Vec<_>>();
            elimination.minimum_degree(&widths, &edges);
            prop_assert_eq!(first, elimination.order().collect::<Vec<_>>());
        }
    }

    #[test]
    fn chain_and_star_have_no_fill() {
        let chain = |n: usize| (1..n).map(|i| (i - 1, i)).collect::<Vec<_>>();
        for n in [1, 2, 3, 50] {
            let elimination = eliminated(&vec![6; n], &chain(n));
            assert_eq!(assert_consistent(&elimination, &chain(n)), n - 1);
        }
        let star: Vec<_> = (1..50).map(|i| (0, i)).collect();
        let elimination = eliminated(&[6; 50], &star);
        assert_eq!(assert_consistent(&elimination, &star), 49);
    }

    #[test]
    fn grids_have_less_fill_than_in_natural_order() {
        for (rows, columns) in [(2, 2), (3, 3), (4, 9), (10, 10), (7, 30), (20, 20)] {
            let (n, edges) = (rows * columns, grid(rows, columns));
            let elimination = eliminated(&vec![6; n], &edges);
            let natural: Vec<usize> = (0..n).collect();
            let fill = assert_consistent(&elimination, &edges);
            assert!(fill <= blocks(&columns_of(&natural, &edges)));
        }
    }

    #[test]
    fn widths_count() {
        let path = [(0, 1), (1, 2), (0, 3), (3, 2)];
        assert_eq!(eliminated(&[1, 9, 1, 9], &path).order[0], 1);
        assert_eq!(eliminated(&[9, 1, 9, 1], &path).order[0], 0);
    }

    /// Memory is that of the pattern; the time is that of a blink.
    #[test]
    fn ten_thousand_trees() {
        let widths = vec![6; 10_000];
        let chain: Vec<_> = (1..10_000).map(|i| (i - 1, i)).collect();
        let mut elimination = eliminated(&widths, &chain);
        assert_eq!(elimination.neighbours.len(), 9999);
        let edges = grid(100, 100);
        elimination.minimum_degree(&widths, &edges);
        let blocks = elimination.neighbours.len();
        // natural order: 990,000
        assert!(blocks < 300_000, "{blocks}");
        let star: Vec<_> = (1..10_000).map(|i| (0, i)).collect();
        elimination.minimum_degree(&widths, &star);
        assert_eq!(elimination.neighbours.len(), 9999);
    }
}
