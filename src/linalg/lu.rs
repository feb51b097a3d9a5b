//! Small dense systems by elimination with row exchanges, `P A = L U`, in place: with factors that
//! are kept, or for one right side.

use super::dot;

/// A pivot of factors that are kept is zero below this part of its column.
const SMALL: f64 = 1e-13;
/// A pivot is zero below this part of its column, or of this, for [`solve_once`].
pub(crate) const SINGULAR: f64 = 1e-11;

/// The row of the greatest entry of column `k` on and below the diagonal; none unless that is above
/// a part `small` of the column, or of `least`.
#[inline(always)]
fn pivot_row(
    n: usize,
    k: usize,
    entry: impl Fn(usize) -> f64,
    small: f64,
    least: f64,
) -> Option<usize> {
    let whole = (0..n).fold(least, |most, i| most.max(entry(i).abs()));
    let (mut pivot, mut most) = (k, 0.0f64);
    for i in k..n {
        // The last of equal ones; NaN is greatest.
        let size = entry(i).abs();
        if size.total_cmp(&most).is_ge() {
            (pivot, most) = (i, size);
        }
    }
    // Written so that NaN fails.
    (most > small * whole).then_some(pivot)
}

/// Replaces `x` by the solution of `A y = x`, `A` (n × n, row by row) being used up; false when a
/// pivot is zero. Up to eight `n` is a constant when this is compiled.
pub(crate) fn solve_once(a: &mut [f64], x: &mut [f64]) -> bool {
    match x.len() {
        1 => eliminate(1, a, x),
        2 => eliminate(2, a, x),
        3 => eliminate(3, a, x),
        4 => eliminate(4, a, x),
        5 => eliminate(5, a, x),
        6 => eliminate(6, a, x),
        7 => eliminate(7, a, x),
        8 => eliminate(8, a, x),
        n => eliminate(n, a, x),
    }
}

/// See [`solve_once`].
#[inline(always)]
fn eliminate(n: usize, a: &mut [f64], x: &mut [f64]) -> bool {
    let (a, x) = (&mut a[..n * n], &mut x[..n]);
    for k in 0..n {
        let Some(pivot) = pivot_row(n, k, |i| a[i * n + k], SINGULAR, SINGULAR) else {
            return false;
        };
        let (upper, lower) = a.split_at_mut((k + 1) * n);
        let row = &mut upper[k * n..];
        let (above, below) = x.split_at_mut(k + 1);
        let value = &mut above[k];
        if pivot != k {
            let other = &mut lower[(pivot - k - 1) * n..][..n];
            row.swap_with_slice(other);
            std::mem::swap(value, &mut below[pivot - k - 1]);
        }
        for (other, x) in lower.chunks_exact_mut(n).zip(below) {
            let factor = other[k] / row[k];
            if factor != 0.0 {
                for (entry, from) in other[k + 1..].iter_mut().zip(&row[k + 1..]) {
                    *entry -= factor * from;
                }
                other[k] = 0.0;
                *x -= factor * *value;
            }
        }
    }
    for (k, row) in a.chunks_exact(n.max(1)).enumerate().rev() {
        let (above, below) = x.split_at_mut(k + 1);
        above[k] = (above[k] - dot(&row[k + 1..], below)) / row[k];
    }
    true
}

/// `L` and `U` of a matrix in one array, column after column, and the rows that were exchanged.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lu {
    values: Vec<f64>,
    exchanged: Vec<usize>,
    n: usize,
}

impl Lu {
    /// Space for the factors of an `n × n` matrix.
    pub(crate) fn new(n: usize) -> Self {
        Self {
            values: vec![0.0; n * n],
            exchanged: vec![0; n],
            n,
        }
    }

    /// Column `k` of the matrix that [`factor`](Self::factor) factorises.
    pub(crate) fn column(&mut self, k: usize) -> &mut [f64] {
        &mut self.values[k * self.n..(k + 1) * self.n]
    }

    /// Replaces the matrix by its factors; false when it is singular or not finite.
    pub(crate) fn factor(&mut self) -> bool {
        let (n, a) = (self.n, &mut self.values);
        for k in 0..n {
            let Some(pivot) = pivot_row(n, k, |i| a[k * n + i], SMALL, 0.0) else {
                return false;
            };
            self.exchanged[k] = pivot;
            if pivot != k {
                for j in 0..n {
                    a.swap(j * n + pivot, j * n + k);
                }
            }
            let (left, right) = a.split_at_mut((k + 1) * n);
            let column = &mut left[k * n..];
            let inverse = 1.0 / column[k];
            for entry in &mut column[k + 1..] {
                *entry *= inverse;
            }
            for other in right.chunks_exact_mut(n) {
                let factor = other[k];
                if factor != 0.0 {
                    for (entry, l) in other[k + 1..].iter_mut().zip(&column[k + 1..]) {
                        *entry -= factor * l;
                    }
                }
            }
        }
        true
    }

    /// Replaces `b` by `A⁻¹ b`.
    pub(crate) fn solve(&self, b: &mut [f64]) {
        let (n, a) = (self.n, &self.values);
        for k in 0..n {
            b.swap(k, self.exchanged[k]);
        }
        for k in 0..n {
            let value = b[k];
            for i in k + 1..n {
                b[i] -= a[k * n + i] * value;
            }
        }
        for k in (0..n).rev() {
            b[k] /= a[k * n + k];
            let value = b[k];
            for i in 0..k {
                b[i] -= a[k * n + i] * value;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::{fraction, word};

    #[test]
    fn factors_solve_and_singular_matrices_are_told() {
        for n in 1..9 {
            for case in 0..50 {
                let draw = |k: usize| fraction(word(7, (1000 * n + 97 * case + k) as u64)) - 0.5;
                let mut lu = Lu::new(n);
                let matrix: Vec<f64> = (0..n * n).map(draw).collect();
                for k in 0..n {
                    lu.column(k).copy_from_slice(&matrix[k * n..(k + 1) * n]);
                }
                assert!(lu.factor());
                let x: Vec<f64> = (0..n).map(|k| draw(n * n + k)).collect();
                let mut b = vec![0.0; n];
                for k in 0..n {
                    for i in 0..n {
                        b[i] += matrix[k * n + i] * x[k];
                    }
                }
                lu.solve(&mut b);
                for (b, x) in b.iter().zip(&x) {
                    assert!((b - x).abs() < 1e-9, "{n} {case}");
                }
            }
        }
        let mut singular = Lu::new(2);
        singular.column(0).copy_from_slice(&[1.0, 2.0]);
        singular.column(1).copy_from_slice(&[2.0, 4.0]);
        assert!(!singular.factor());
        let mut lost = Lu::new(1);
        lost.column(0)[0] = f64::NAN;
        assert!(!lost.factor());
    }
}
