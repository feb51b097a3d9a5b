//! The solution of least norm of a semidefinite system: multipliers of contacts whose rows depend
//! on each other.

use super::scratch::Cut;
use super::{dot, orthogonalise};

/// Residual of a row, as a part of its diagonal entry, below which the row counts as dependent.
pub(crate) const DEPENDENT: f64 = 1e-12;

/// Sizes of the scratch space of [`least_norm`].
pub(crate) fn least_norm_size(m: usize) -> usize {
    2 * m * m + 2 * m
}

/// Replaces `b` by the `x` of least norm with `G x = b` for a positive semidefinite `G` (`m × m`)
/// and a `b` in its range; gives the rank of `G`.
///
/// With the pivoted Cholesky factor `G = L Lᵀ` of full column rank and `L = Q R`,
/// `x = Q R⁻ᵀ R⁻¹ Qᵀ b`.
pub(crate) fn least_norm(gram: &[f64], m: usize, b: &mut [f64], scratch: &mut [f64]) -> usize {
    let mut cut = Cut(scratch);
    let (l, triangle) = (cut.take(m * m), cut.take(m * m));
    let (left, y) = (cut.take(m), cut.take(m));
    let rank = range(gram, m, [l, triangle, left]);
    for k in 0..rank {
        y[k] = dot(&l[k * m..(k + 1) * m], b);
    }
    for k in (0..rank).rev() {
        let known: f64 = (k + 1..rank).map(|i| triangle[i * m + k] * y[i]).sum();
        y[k] = (y[k] - known) / triangle[k * m + k];
    }
    for k in 0..rank {
        let known: f64 = (0..k).map(|i| triangle[k * m + i] * y[i]).sum();
        y[k] = (y[k] - known) / triangle[k * m + k];
    }
    for j in 0..m {
        b[j] = (0..rank).map(|k| l[k * m + j] * y[k]).sum();
    }
    rank
}

/// Writes the projector onto the null space of a positive semidefinite `G` (`m × m`), `1 − Q Qᵀ`, with
/// scratch as for [`least_norm`]; gives the rank of `G`.
pub(crate) fn null_projector(
    gram: &[f64],
    m: usize,
    projector: &mut [f64],
    scratch: &mut [f64],
) -> usize {
    let mut cut = Cut(scratch);
    let (l, triangle) = (cut.take(m * m), cut.take(m * m));
    let rank = range(gram, m, [l, triangle, cut.take(m)]);
    for i in 0..m {
        for j in 0..m {
            let within: f64 = (0..rank).map(|k| l[k * m + i] * l[k * m + j]).sum();
            projector[i * m + j] = if i == j { 1.0 - within } else { -within };
        }
    }
    rank
}

/// Writes an orthonormal basis `Q` of the range of `G`, one row each, and the `R` of its pivoted
/// Cholesky factor `L = Q R`; gives the rank.
fn range(gram: &[f64], m: usize, [l, triangle, left]: [&mut [f64]; 3]) -> usize {
    for i in 0..m {
        left[i] = gram[i * m + i];
    }
    let mut rank = 0;
    while rank < m {
        let part = |i: usize| left[i] / gram[i * m + i];
        // NaN counts as dependent.
        let wide = (0..m).filter(|&i| part(i) > DEPENDENT);
        let Some(p) = wide.max_by(|&a, &b| part(a).total_cmp(&part(b))) else {
            break;
        };
        let root = left[p].sqrt();
        for i in 0..m {
            let known: f64 = (0..rank).map(|k| l[k * m + i] * l[k * m + p]).sum();
            l[rank * m + i] = (gram[p * m + i] - known) / root;
        }
        for i in 0..m {
            left[i] -= l[rank * m + i] * l[rank * m + i];
        }
        left[p] = 0.0;
        rank += 1;
    }
    // The columns of L become those of Q; what the scratch space held does not count.
    triangle.fill(0.0);
    for k in 0..rank {
        let (before, rest) = l.split_at_mut(k * m);
        let column = &mut rest[..m];
        orthogonalise(column, before.chunks_exact(m), |i, along| {
            triangle[k * m + i] += along;
        });
        let norm = dot(column, column).sqrt();
        triangle[k * m + k] = norm;
        for c in column {
            *c /= norm;
        }
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    fn solved(gram: &[f64], m: usize, b: &[f64]) -> (usize, Vec<f64>) {
        let mut x = b.to_vec();
        let rank = least_norm(gram, m, &mut x, &mut vec![0.0; least_norm_size(m)]);
        (rank, x)
    }

    #[test]
    fn what_is_left_in_the_scratch_space_does_not_matter() {
        let gram = [2.0, 1.0, 1.0, 1.0, 2.0, 1.0, 1.0, 1.0, 2.0];
        let mut scratch = vec![0.0; least_norm_size(3)];
        for _ in 0..2 {
            let mut x = [1.0, 2.0, 3.0];
            assert_eq!(least_norm(&gram, 3, &mut x, &mut scratch), 3);
            let off = x.iter().zip([-0.5, 0.5, 1.5]).map(|(x, e)| (x - e).abs());
            assert!(off.fold(0.0, f64::max) < 1e-14, "{x:?}");
        }
    }

    #[test]
    fn a_level_table_shares_its_weight_equally() {
        // A plate of unit mass and inertias on four corners (±1, ±1): rows (1, y, −x).
        let corners = [(1.0, 1.0), (-1.0, 1.0), (-1.0, -1.0), (1.0, -1.0)];
        let mut gram = [0.0; 16];
        for (i, a) in corners.iter().enumerate() {
            for (k, b) in corners.iter().enumerate() {
                gram[4 * i + k] = 1.0 + a.0 * b.0 + a.1 * b.1;
            }
        }
        let (rank, x) = solved(&gram, 4, &[9.81; 4]);
        assert_eq!(rank, 3);
        assert!(x.iter().all(|x| (x - 9.81 / 4.0).abs() < 1e-13), "{x:?}");
    }

    #[test]
    fn of_independent_rows_it_is_the_solution_and_of_equal_ones_the_mean() {
        let (rank, x) = solved(&[2.0, 1.0, 1.0, 3.0], 2, &[1.0, 2.0]);
        assert!(rank == 2 && (x[0] - 0.2).abs() < 1e-15 && (x[1] - 0.6).abs() < 1e-15);
        let (rank, x) = solved(&[1.0, 1.0, 1.0, 1.0], 2, &[3.0, 3.0]);
        assert!(rank == 1 && (x[0] - 1.5).abs() < 1e-15 && (x[1] - 1.5).abs() < 1e-15);
    }
}
