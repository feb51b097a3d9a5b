//! The complementary bases of a small problem, without those that signs alone rule out.

use super::scaled::Scaled;

/// Largest problem whose bases are listed.
pub(super) const MOST: usize = 16;

/// Where the entries of a row are positive and negative, as bits, and the sign of `q`.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    positive: u32,
    negative: u32,
    /// −1, 0, 1.
    q: i8,
}

/// The bases, one bit for each index of `z`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Subsets {
    n: usize,
    rows: [Row; MOST],
}

impl Subsets {
    /// Of a problem of size at most [`MOST`].
    pub(super) fn new(problem: &Scaled) -> Self {
        let n = problem.n.min(MOST);
        let mut rows = [Row::default(); MOST];
        let sign = |v: f64| i8::from(v > 0.0) - i8::from(v < 0.0);
        for (i, row) in rows[..n].iter_mut().enumerate() {
            row.q = sign(problem.q.as_flattened()[i]);
            for j in 0..n {
                match sign(problem.entry(i, j)) {
                    1 => row.positive |= 1 << j,
                    -1 => row.negative |= 1 << j,
                    _ => {}
                }
            }
        }
        Self { n, rows }
    }

    /// Calls `visit` with each basis that signs allow, until it returns true. Returns whether it
    /// did.
    pub(super) fn any(&self, mut visit: impl FnMut(u32) -> bool) -> bool {
        self.descend(0, 0, &mut visit)
    }

    /// Decides index `next`, the lower ones being decided.
    fn descend(&self, next: usize, basic: u32, visit: &mut impl FnMut(u32) -> bool) -> bool {
        let undecided = ((1u32 << self.n) - 1) & !((1u32 << next) - 1);
        if !self.signs_allow(next, basic, basic | undecided) {
            return false;
        }
        if next == self.n {
            return visit(basic);
        }
        self.descend(next + 1, basic, visit) || self.descend(next + 1, basic | 1 << next, visit)
    }

    /// With `z ≥ 0` nonzero only in `possible`: rows with `z` basic can reach `w = 0`, the others
    /// `w ≥ 0`.
    fn signs_allow(&self, decided: usize, basic: u32, possible: u32) -> bool {
        self.rows[..decided].iter().enumerate().all(|(i, row)| {
            let can_rise = row.q >= 0 || row.positive & possible != 0;
            let can_fall = row.q <= 0 || row.negative & possible != 0;
            can_rise && (can_fall || basic >> i & 1 == 0)
        })
    }
}

/// The indices of a basis.
pub(super) fn list(basis: u32, set: &mut Vec<usize>) {
    set.clear();
    set.extend((0..MOST).filter(|i| basis >> i & 1 == 1));
}
