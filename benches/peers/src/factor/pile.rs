//! Hessians of piles.
#![allow(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::many_single_char_names,
    reason = "small counts; formulas as they are written"
)]

/// Pairs in contact for each body.
const PAIRS: f64 = 1.75;

type Block = Vec<f64>;

/// The Hessian of a pile, and a right-hand side.
pub(crate) struct Pile {
    pub(crate) widths: Vec<usize>,
    /// Pairs i < j, sorted.
    pub(crate) edges: Vec<(usize, usize)>,
    pub(crate) diagonal: Vec<Block>,
    /// Entry (j, i) of each edge, and its transpose.
    pub(crate) off_diagonal: Vec<[Block; 2]>,
    pub(crate) b: Vec<f64>,
}

struct Random(u64);

impl Random {
    /// In [−1, 1), by `SplitMix64`.
    fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 * f64::EPSILON - 1.0
    }
}

impl Pile {
    /// Trees near the nodes of a lattice, numbered at random; the nearest pairs are in contact. Widths
    /// are taken in turn.
    pub(crate) fn new(sides: [usize; 3], widths: &[usize], seed: u64) -> Pile {
        let mut random = Random(seed);
        let mut places = Vec::new();
        for k in 0..sides.iter().product() {
            let [a, b, _] = sides;
            let node = [k % a, k / a % b, k / (a * b)];
            places.push((random.next(), node.map(|x| x as f64 + 0.3 * random.next())));
        }
        places.sort_by(|x, y| x.0.total_cmp(&y.0));
        let n = places.len();
        let mut pairs = Vec::new();
        for i in 0..n {
            for j in i + 1..n {
                let square = |k: usize| (places[i].1[k] - places[j].1[k]).powi(2);
                pairs.push((square(0) + square(1) + square(2), (i, j)));
            }
        }
        pairs.sort_by(|x, y| x.0.total_cmp(&y.0));
        pairs.truncate((PAIRS * n as f64) as usize);
        let mut edges: Vec<_> = pairs.iter().map(|pair| pair.1).collect();
        edges.sort_unstable();

        let widths: Vec<usize> = widths.iter().copied().cycle().take(n).collect();
        let mut diagonal: Vec<Block> = Vec::new();
        for &w in &widths {
            let mut unit = vec![0.0; w * w];
            unit.iter_mut().step_by(w + 1).for_each(|x| *x = 1.0);
            diagonal.push(unit);
        }
        let mut off_diagonal = Vec::new();
        for &(i, j) in &edges {
            let (a, b) = (widths[i], widths[j]);
            let mut both = [vec![0.0; b * a], vec![0.0; a * b]];
            // three directions, one of them stiff
            for scale in [1.0, 1.0, 10.0] {
                let [u, v] =
                    [a, b].map(|w| -> Vec<f64> { (0..w).map(|_| scale * random.next()).collect() });
                add(&mut diagonal[i], &u, &u);
                add(&mut diagonal[j], &v, &v);
                add(&mut both[0], &v, &u);
                add(&mut both[1], &u, &v);
            }
            off_diagonal.push(both);
        }
        let size: usize = widths.iter().sum();
        Pile {
            widths,
            edges,
            diagonal,
            off_diagonal,
            b: (0..size).map(|_| random.next()).collect(),
        }
    }

    /// Entries (row, column, value) of the lower triangle.
    pub(crate) fn lower(&self) -> Vec<(usize, usize, f64)> {
        let mut entries = Vec::new();
        let starts: Vec<usize> = self
            .widths
            .iter()
            .scan(0, |end, w| {
                *end += w;
                Some(*end - w)
            })
            .collect();
        let mut block = |i: usize, j: usize, block: &Block| {
            for (k, &value) in block.iter().enumerate() {
                let width = self.widths[j];
                let (row, column) = (starts[i] + k / width, starts[j] + k % width);
                if row >= column {
                    entries.push((row, column, value));
                }
            }
        };
        for (i, values) in self.diagonal.iter().enumerate() {
            block(i, i, values);
        }
        for (&(i, j), values) in self.edges.iter().zip(&self.off_diagonal) {
            block(j, i, &values[0]);
        }
        entries
    }

    /// Largest entry of `H x − b`, as a part of the largest of `b`.
    pub(crate) fn residual(&self, x: &[f64]) -> f64 {
        let mut rest: Vec<f64> = self.b.iter().map(|b| -b).collect();
        for (row, column, value) in self.lower() {
            rest[row] += value * x[column];
            if row != column {
                rest[column] += value * x[row];
            }
        }
        let largest = |x: &[f64]| x.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        largest(&rest) / largest(&self.b)
    }
}

/// `block += u vᵀ`.
fn add(block: &mut [f64], u: &[f64], v: &[f64]) {
    for (row, u) in block.chunks_exact_mut(v.len()).zip(u) {
        for (entry, v) in row.iter_mut().zip(v) {
            *entry += u * v;
        }
    }
}
