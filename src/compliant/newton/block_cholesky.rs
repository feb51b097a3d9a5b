//! Cholesky factorisation of a symmetric positive definite matrix of blocks, one block row and
//! column a tree.
//!
//! The matrix is permuted by minimum degree (`ordering`), `P H Pᵀ = Uᵀ U`. The blocks of a row of
//! `U` lie side by side in memory, the diagonal one first, as far as they are not zero; each is
//! row-major. Block row j is formed when its turn comes (left-looking): every earlier row k with a
//! block in column j subtracts `U_kjᵀ U_ki` for all its columns i ≥ j. Where column i lies in row j
//! is looked up in a table that is filled once for row j, so memory is linear in the blocks of `U`,
//! of which there are at most n (n + 1)/2. (A list of the destinations of all products would grow
//! with the operations.)

use std::ops::Range;

use super::ordering::Elimination;
use crate::linalg::block_kernels as kernels;

/// A symmetric positive definite matrix of blocks and, after [`factorise`](Self::factorise), its
/// Cholesky factor in the same place.
///
/// In the order analyse, clear, fill (`diagonal_mut`, `edge_mut`), factorise, solve; from clear on
/// for other values. Equal input gives equal bits.
#[derive(Clone, Debug, Default)]
pub(crate) struct BlockCholesky {
    /// The widths and edges that were analysed.
    widths: Vec<usize>,
    edges: Vec<(usize, usize)>,

    elimination: Elimination,
    /// Trees, by the order of elimination, and one more for the ends.
    rows: Vec<Row>,
    /// Position in the order of each tree.
    position: Vec<usize>,
    /// Column (position) of each block of `U`, row by row; the diagonal block comes first, the
    /// others ascend.
    columns: Vec<usize>,
    /// Place of the first value of each block; one more at the end.
    offsets: Vec<usize>,
    /// For each column the blocks above its diagonal, from the top.
    above: Vec<Above>,
    /// Block of each edge.
    edge_blocks: Vec<(usize, bool)>,

    values: Vec<f64>,
    /// By columns, for the row at hand.
    targets: Vec<Target>,
    /// A vector in the order of elimination.
    permuted: Vec<f64>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    /// Its number.
    tree: usize,
    width: usize,
    /// First entry of the tree in a vector of the caller, and in the order of elimination.
    from: usize,
    to: usize,
    /// Its first block, the diagonal one.
    first: usize,
    /// First of its column in `above`.
    above: usize,
}

/// A block above the diagonal.
#[derive(Clone, Copy, Debug, Default)]
struct Above {
    block: usize,
    /// One past the last block of its row.
    end: usize,
    /// Width of the tree of its row.
    rows: usize,
}

/// A column in the row at hand.
#[derive(Clone, Copy, Debug, Default)]
struct Target {
    width: usize,
    /// Place of its first value in this row; stale when this row does not have the column.
    place: usize,
}

/// Blocks of the row `k`, the diagonal one first.
fn blocks_of(rows: &[Row], k: usize) -> Range<usize> {
    rows[k].first..rows[k + 1].first
}

impl BlockCholesky {
    /// Prepares for a symmetric matrix with diagonal blocks of these widths and off-diagonal blocks
    /// that may be non-zero at these edges (`i < j`, sorted, without repeats). The last analysis
    /// stands when both are the same as last time; else all values are zero afterwards. Allocates
    /// nothing once sizes have settled.
    pub(crate) fn analyse(&mut self, widths: &[usize], edges: &[(usize, usize)]) {
        debug_assert!(edges.iter().all(|&(i, j)| i < j && j < widths.len()));
        debug_assert!(edges.is_sorted_by(|a, b| a < b));
        if self.widths == widths && self.edges == edges {
            return;
        }
        self.widths.clear();
        self.widths.extend_from_slice(widths);
        self.edges.clear();
        self.edges.extend_from_slice(edges);
        self.elimination.minimum_degree(widths, edges);
        self.place_rows();
        self.place_blocks();
        self.list_above();
        self.place_edges();
    }

    fn place_rows(&mut self) {
        self.position.clear();
        self.position.resize(self.widths.len(), 0);
        self.rows.clear();
        let mut to = 0;
        for (k, tree) in (0..).zip(self.elimination.order()) {
            let width = self.widths[tree];
            self.position[tree] = k;
            self.rows.push(Row {
                tree,
                width,
                to,
                ..Row::default()
            });
            to += width;
        }
        self.rows.push(Row::default());
        let mut from = 0;
        for (&width, &k) in self.widths.iter().zip(&self.position) {
            self.rows[k].from = from;
            from += width;
        }
        self.permuted.clear();
        self.permuted.resize(to, 0.0);
    }

    fn place_blocks(&mut self) {
        self.columns.clear();
        self.offsets.clear();
        let mut offset = 0;
        for k in 0..self.widths.len() {
            let first = self.columns.len();
            self.columns.push(k);
            let position = &self.position;
            let column = self.elimination.column(k).iter();
            self.columns.extend(column.map(|&i| position[i]));
            self.columns[first + 1..].sort_unstable();
            self.rows[k].first = first;
            for &i in &self.columns[first..] {
                self.offsets.push(offset);
                offset += self.rows[k].width * self.rows[i].width;
            }
        }
        self.offsets.push(offset);
        self.rows[self.widths.len()].first = self.columns.len();
        self.values.clear();
        self.values.resize(offset, 0.0);
        self.targets.clear();
        let widths = self.rows[..self.widths.len()].iter().map(|row| row.width);
        self.targets
            .extend(widths.map(|width| Target { width, place: 0 }));
    }

    fn list_above(&mut self) {
        let n = self.widths.len();
        for k in 0..n {
            for block in blocks_of(&self.rows, k).skip(1) {
                self.rows[self.columns[block]].above += 1;
            }
        }
        // ends, which become beginnings while the list is filled from below
        let mut end = 0;
        for row in &mut self.rows {
            end += row.above;
            row.above = end;
        }
        self.above.clear();
        self.above.resize(end, Above::default());
        for k in (0..n).rev() {
            let blocks = blocks_of(&self.rows, k);
            let above = Above {
                block: 0,
                end: blocks.end,
                rows: self.rows[k].width,
            };
            for block in blocks.skip(1) {
                let first = &mut self.rows[self.columns[block]].above;
                *first -= 1;
                self.above[*first] = Above { block, ..above };
            }
        }
    }

    fn place_edges(&mut self) {
        self.edge_blocks.clear();
        for &(i, j) in &self.edges {
            let (k, l) = (self.position[i], self.position[j]);
            let blocks = blocks_of(&self.rows, k.min(l));
            let columns = &self.columns[blocks.clone()];
            // an edge is in the pattern
            let at = columns.partition_point(|&c| c < k.max(l));
            self.edge_blocks.push(((blocks.start + at), k < l));
        }
    }

    /// Sets all blocks to zero.
    pub(crate) fn clear(&mut self) {
        self.values.fill(0.0);
    }

    /// Diagonal block of tree `i`, square, row-major. [`factorise`](Self::factorise) reads the lower
    /// triangle only (row ≥ column).
    pub(crate) fn diagonal_mut(&mut self, i: usize) -> &mut [f64] {
        let row = self.rows[self.position[i]];
        self.block_mut(row.first)
    }

    /// Block of edge number `e` = (i, j), row-major, and whether it is transposed. Not transposed: entry
    /// (j, i) of the matrix, `widths[j]` rows; transposed: entry (i, j), `widths[i]` rows. Which of
    /// both depends on the order and is fixed after [`analyse`](Self::analyse).
    pub(crate) fn edge_mut(&mut self, e: usize) -> (&mut [f64], bool) {
        let (block, transposed) = self.edge_blocks[e];
        (self.block_mut(block), transposed)
    }

    fn block_mut(&mut self, block: usize) -> &mut [f64] {
        &mut self.values[self.offsets[block]..self.offsets[block + 1]]
    }

    /// Factorises in place.
    ///
    /// # Errors
    ///
    /// The number of the tree whose diagonal block is not positive definite, or not finite, when
    /// what was eliminated before it is subtracted. Then the values are lost.
    pub(crate) fn factorise(&mut self) -> Result<(), usize> {
        for j in 0..self.widths.len() {
            let blocks = blocks_of(&self.rows, j);
            let (offsets, columns) = (&self.offsets[..], &self.columns[..]);
            let base = offsets[blocks.start];
            let (done, open) = self.values.split_at_mut(base);
            for block in blocks.clone() {
                self.targets[columns[block]].place = offsets[block] - base;
            }
            let n = self.rows[j].width;
            let (from, to) = (self.rows[j].above, self.rows[j + 1].above);
            for above in &self.above[from..to] {
                let (block, end) = (above.block, above.end);
                let second = offsets[block + 1];
                let (left, right) = (&done[offsets[block]..second], &done[second..offsets[end]]);
                kernels::subtract_gram(&mut open[..n * n], left, above.rows, n);
                let places = columns[block + 1..end].iter().map(|&i| {
                    let Target { width, place } = self.targets[i];
                    (place, width)
                });
                kernels::subtract_products(open, left, right, above.rows, n, places);
            }
            let (diagonal, others) = open.split_at_mut(offsets[blocks.start + 1] - base);
            if kernels::factor(diagonal, n).is_none() {
                return Err(self.rows[j].tree);
            }
            let base = offsets[blocks.start + 1];
            for block in blocks.skip(1) {
                let c = self.rows[self.columns[block]].width;
                let rows = &mut others[offsets[block] - base..offsets[block + 1] - base];
                kernels::solve_rows(diagonal, rows, n, c);
            }
        }
        Ok(())
    }

    /// Solves in place with the factor; `b` is in the order of the caller, tree by tree.
    pub(crate) fn solve(&mut self, b: &mut [f64]) {
        let x = &mut self.permuted[..];
        for row in &self.rows[..self.widths.len()] {
            let n = row.width;
            x[row.to..row.to + n].copy_from_slice(&b[row.from..row.from + n]);
        }
        let block = |at: usize| &self.values[self.offsets[at]..self.offsets[at + 1]];
        for (k, row) in self.rows[..self.widths.len()].iter().enumerate() {
            let (head, tail) = x.split_at_mut(row.to + row.width);
            let head = &mut head[row.to..];
            let (base, blocks) = (row.to + head.len(), blocks_of(&self.rows, k));
            kernels::solve_lower(block(blocks.start), head);
            for at in blocks.skip(1) {
                let other = &self.rows[self.columns[at]];
                let (from, n) = (other.to - base, other.width);
                kernels::subtract_transposed(&mut tail[from..from + n], block(at), head);
            }
        }
        for (k, row) in self.rows[..self.widths.len()].iter().enumerate().rev() {
            let (head, tail) = x.split_at_mut(row.to + row.width);
            let head = &mut head[row.to..];
            let (base, blocks) = (row.to + head.len(), blocks_of(&self.rows, k));
            let diagonal = block(blocks.start);
            for at in blocks.skip(1) {
                let other = &self.rows[self.columns[at]];
                let (from, n) = (other.to - base, other.width);
                kernels::subtract_applied(head, block(at), &tail[from..from + n]);
            }
            kernels::solve_upper(diagonal, head);
        }
        for row in &self.rows[..self.widths.len()] {
            let n = row.width;
            b[row.from..row.from + n].copy_from_slice(&x[row.to..row.to + n]);
        }
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};
    use proptest::prelude::*;

    use super::*;
    use crate::random::{below, fraction, symmetric, word};

    /// A definite matrix on a random graph.
    struct Case {
        widths: Vec<usize>,
        edges: Vec<(usize, usize)>,
        h: DMatrix<f64>,
        b: DVector<f64>,
    }

    fn starts(widths: &[usize]) -> Vec<usize> {
        let ends = widths.iter().scan(0, |sum, w| {
            *sum += w;
            Some(*sum)
        });
        std::iter::once(0).chain(ends).collect()
    }

    /// `widest` is the width of all blocks when `equal`.
    fn case(seed: u64, trees: usize, widest: usize, equal: bool, density: f64) -> Case {
        let mut draw = {
            let mut index = 0;
            move || {
                index += 1;
                word(seed, index)
            }
        };
        let widths: Vec<usize> = (0..trees)
            .map(|_| {
                let width = 1 + below(seed, draw(), widest);
                if equal { widest } else { width }
            })
            .collect();
        let mut edges = Vec::new();
        for i in 0..trees {
            for j in i + 1..trees {
                if fraction(draw()) < density {
                    edges.push((i, j));
                }
            }
        }
        let at = starts(&widths);
        let n = at[trees];
        let mut h = DMatrix::zeros(n, n);
        for &(i, j) in &edges {
            for r in at[j]..at[j + 1] {
                for c in at[i]..at[i + 1] {
                    h[(r, c)] = symmetric(draw());
                    h[(c, r)] = h[(r, c)];
                }
            }
        }
        for i in 0..trees {
            for r in at[i]..at[i + 1] {
                for c in at[i]..r {
                    h[(r, c)] = symmetric(draw());
                    h[(c, r)] = h[(r, c)];
                }
            }
        }
        for r in 0..n {
            h[(r, r)] = 0.1 + h.row(r).iter().map(|x: &f64| x.abs()).sum::<f64>();
        }
        let b = DVector::from_fn(n, |_, _| symmetric(draw()));
        Case {
            widths,
            edges,
            h,
            b,
        }
    }

    fn fill(solver: &mut BlockCholesky, case: &Case) {
        let at = starts(&case.widths);
        solver.clear();
        for (i, &w) in case.widths.iter().enumerate() {
            let block = solver.diagonal_mut(i);
            for r in 0..w {
                for c in 0..w {
                    // what is above the diagonal is not read
                    let above = if c > r { f64::NAN } else { 0.0 };
                    block[r * w + c] = case.h[(at[i] + r, at[i] + c)] + above;
                }
            }
        }
        for (e, &(i, j)) in case.edges.iter().enumerate() {
            let (block, transposed) = solver.edge_mut(e);
            let (row, column) = if transposed { (i, j) } else { (j, i) };
            let width = case.widths[column];
            assert_eq!(block.len(), case.widths[row] * width);
            for (k, value) in block.iter_mut().enumerate() {
                *value = case.h[(at[row] + k / width, at[column] + k % width)];
            }
        }
    }

    fn solution(solver: &mut BlockCholesky, case: &Case) -> DVector<f64> {
        solver.analyse(&case.widths, &case.edges);
        fill(solver, case);
        assert_eq!(solver.factorise(), Ok(()));
        let mut x = case.b.clone();
        solver.solve(x.as_mut_slice());
        x
    }

    fn assert_solves(solver: &mut BlockCholesky, case: &Case) {
        let expected = case.h.clone().cholesky().unwrap().solve(&case.b);
        let x = solution(solver, case);
        let error = (&x - &expected).amax();
        assert!(error <= 1e-12 * expected.amax(), "{error:e}");
    }

    proptest! {
        #[test]
        fn agrees_with_dense_cholesky(
            seeds in prop::collection::vec(any::<u64>(), 1..4),
            trees in 1usize..14,
            widest in 1usize..=13,
            equal: bool,
            density in 0.0..1.0,
        ) {
            let mut solver = BlockCholesky::default();
            for seed in seeds {
                assert_solves(&mut solver, &case(seed, trees, widest, equal, density));
            }
        }
    }

    #[test]
    fn fast_widths_beside_others() {
        let mut solver = BlockCholesky::default();
        for (seed, widest) in [(1, 3), (2, 6), (3, 7)] {
            assert_solves(&mut solver, &case(seed, 30, widest, true, 0.1));
            assert_solves(&mut solver, &case(seed, 30, widest, false, 0.2));
        }
    }

    #[test]
    fn one_tree_and_none() {
        let mut solver = BlockCholesky::default();
        assert_solves(&mut solver, &case(1, 1, 6, true, 0.0));
        solver.analyse(&[], &[]);
        assert_eq!(solver.factorise(), Ok(()));
        solver.solve(&mut []);
        // a tree that does not move
        let mut still = case(2, 3, 4, true, 1.0);
        still.widths.insert(1, 0);
        still.edges = vec![(0, 1), (0, 2), (0, 3), (1, 2), (2, 3)];
        assert_solves(&mut solver, &still);
    }

    #[test]
    fn block_that_is_not_definite_is_named() {
        let mut solver = BlockCholesky::default();
        for (n, width) in [(5, 6), (5, 3), (4, 5)] {
            let case = case(7, n, width, true, 0.5);
            solver.analyse(&case.widths, &case.edges);
            for i in 0..n {
                for wrong in [-1e3, 0.0, f64::NAN, f64::INFINITY] {
                    fill(&mut solver, &case);
                    solver.diagonal_mut(i)[width * width - 1] = wrong;
                    assert_eq!(solver.factorise(), Err(i), "{wrong} in {i}");
                }
            }
            // it recovers
            assert_solves(&mut solver, &case);
        }
    }

    #[test]
    fn block_that_another_makes_indefinite_is_named() {
        let mut solver = BlockCholesky::default();
        solver.analyse(&[1, 1], &[(0, 1)]);
        solver.clear();
        solver.diagonal_mut(0)[0] = 1.0;
        solver.diagonal_mut(1)[0] = 1.0;
        solver.edge_mut(0).0[0] = 1.0;
        assert_eq!(solver.factorise(), Err(1));
    }

    #[test]
    fn other_sizes_one_after_another_give_the_same_bits() {
        let cases: Vec<Case> = [
            (1, 12, 6, 0.3),
            (2, 3, 6, 1.0),
            (3, 20, 4, 0.1),
            (4, 1, 9, 0.0),
        ]
        .map(|(seed, n, width, density)| case(seed, n, width, seed < 3, density))
        .into();
        let alone = |case| solution(&mut BlockCholesky::default(), case);
        let mut solver = BlockCholesky::default();
        for turn in [0, 1, 0, 2, 3, 1, 2, 0, 0] {
            assert_eq!(solution(&mut solver, &cases[turn]), alone(&cases[turn]));
        }
    }

    impl BlockCholesky {
        /// Room of all lists, with their places in memory.
        fn room(&self) -> [(usize, usize); 7] {
            fn of<T>(list: &Vec<T>) -> (usize, usize) {
                (list.as_ptr() as usize, list.capacity())
            }
            [
                of(&self.rows),
                of(&self.columns),
                of(&self.offsets),
                of(&self.above),
                of(&self.edge_blocks),
                of(&self.values),
                of(&self.permuted),
            ]
        }
    }

    #[test]
    fn lists_stay_where_they_are() {
        let (large, small) = (case(1, 20, 6, true, 0.2), case(2, 5, 6, true, 0.5));
        let mut solver = BlockCholesky::default();
        solution(&mut solver, &large);
        let room = solver.room();
        for case in [&large, &small, &large, &small] {
            solution(&mut solver, case);
            assert_eq!(solver.room(), room);
        }
    }

    #[test]
    fn values_stand_when_the_pattern_does() {
        let case = case(5, 8, 6, true, 0.4);
        let mut solver = BlockCholesky::default();
        let x = solution(&mut solver, &case);
        solver.analyse(&case.widths, &case.edges);
        let mut again = case.b.clone();
        solver.solve(again.as_mut_slice());
        assert_eq!(x, again);
    }
}
