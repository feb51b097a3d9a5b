//! Small dense Cholesky factors on slices, so that a right-hand side allocates nothing: of a whole
//! matrix by columns, and row by row for a matrix that grows.

use super::{dot, largest};

/// Replaces the lower triangle of the symmetric `a` (`n × n`, by columns) by its factor `L`,
/// `a = L Lᵀ`, with `1/L_jj` on the diagonal: solving is without division, which is slow. Gives the
/// least pivot as a part of its diagonal entry: how far the rows are from dependent, whatever their
/// units. None when `a` is not positive definite or not finite.
pub(crate) fn factor(a: &mut [f64], n: usize) -> Option<f64> {
    let mut least: f64 = 1.0;
    for j in 0..n {
        let whole = a[j * n + j];
        let mut pivot = whole;
        for k in 0..j {
            pivot -= a[k * n + j] * a[k * n + j];
        }
        // Written so that NaN fails.
        if !(pivot > 0.0 && pivot.is_finite()) {
            return None;
        }
        least = least.min(pivot / whole);
        let inverse = 1.0 / pivot.sqrt();
        // Column after column, so that no sum waits for the one before.
        let (done, rest) = a.split_at_mut(j * n);
        let column = &mut rest[j + 1..n];
        for k in 0..j {
            let other = &done[k * n + j..(k + 1) * n];
            let (part, other) = (other[0], &other[1..]);
            for (entry, other) in column.iter_mut().zip(other) {
                *entry -= other * part;
            }
        }
        for entry in column {
            *entry *= inverse;
        }
        rest[j] = inverse;
    }
    Some(least)
}

/// The factor of [`factor`] for the matrix `R Wᵀ` of the products of rows in a metric `A`, `W = R A`,
/// into `l`, zeros; a row has `d` entries, and both are overwritten. It is as exact as the rows:
/// their products have lost half of the digits. False where a row depends on those before it up to
/// the part `least` of its size.
pub(crate) fn factor_rows(
    rows: &mut [f64],
    weighted: &mut [f64],
    d: usize,
    least: f64,
    l: &mut [f64],
) -> bool {
    let m = l.len().isqrt();
    let subtract = |from: &mut [f64], part: f64, of: &[f64]| {
        for (from, of) in from.iter_mut().zip(of) {
            *from -= part * of;
        }
    };
    for i in 0..m {
        let (rows_before, row) = rows.split_at_mut(i * d);
        let (weighted_before, other) = weighted.split_at_mut(i * d);
        let (row, other) = (&mut row[..d], &mut other[..d]);
        let whole = dot(row, other);
        // The modified Gram–Schmidt method, each twice.
        for k in (0..i).chain(0..i) {
            let (q, w) = (&rows_before[k * d..][..d], &weighted_before[k * d..][..d]);
            let along = dot(row, w);
            l[k * m + i] += along;
            subtract(row, along, q);
            subtract(other, along, w);
        }
        let left = dot(row, other);
        // Written so that NaN fails.
        if !(left > least * least * whole && left.is_finite()) {
            return false;
        }
        let inverse = 1.0 / left.sqrt();
        l[i * m + i] = inverse;
        for x in row.iter_mut().chain(other) {
            *x *= inverse;
        }
    }
    true
}

/// Solves `L Lᵀ x = b` in place.
pub(crate) fn solve(l: &[f64], n: usize, b: &mut [f64]) {
    solve_lower(l, n, b);
    for (j, column) in l.chunks_exact(n.max(1)).enumerate().rev() {
        let (left, solved) = b.split_at_mut(j + 1);
        let mut sum = left[j];
        for (x, l) in solved.iter().zip(&column[j + 1..]) {
            sum -= l * x;
        }
        left[j] = sum * column[j];
    }
}

/// Solves `L x = b` in place.
pub(crate) fn solve_lower(l: &[f64], n: usize, b: &mut [f64]) {
    for (j, column) in l.chunks_exact(n.max(1)).enumerate() {
        let (solved, rest) = b.split_at_mut(j + 1);
        let x = solved[j] * column[j];
        solved[j] = x;
        for (b, l) in rest.iter_mut().zip(&column[j + 1..]) {
            *b -= l * x;
        }
    }
}

/// Replaces row `k` of a symmetric matrix, up to its diagonal, by that of its factor. The rows
/// above are those of the factor; each has `width` entries. False when the matrix is not positive
/// definite.
pub(crate) fn factor_row(l: &mut [f64], width: usize, k: usize) -> bool {
    let (above, row) = l.split_at_mut(k * width);
    for m in 0..k {
        let other = &above[m * width..=m * width + m];
        row[m] = (row[m] - dot(&row[..m], other)) / other[m];
    }
    let pivot = row[k] - dot(&row[..k], &row[..k]);
    row[k] = pivot.sqrt();
    pivot > 0.0
}

/// Solves `L Lᵀ x = b` in place, with the factor of [`factor_row`].
pub(crate) fn solve_by_rows(l: &[f64], width: usize, b: &mut [f64]) {
    for k in 0..b.len() {
        let row = &l[k * width..=k * width + k];
        b[k] = (b[k] - dot(&row[..k], b)) / row[k];
    }
    for k in (0..b.len()).rev() {
        let row = &l[k * width..=k * width + k];
        let x = b[k] / row[k];
        b[k] = x;
        for (b, l) in b[..k].iter_mut().zip(row) {
            *b -= l * x;
        }
    }
}

/// `out = A x` for a matrix by columns, with as many rows as `out` has. Up to eight their number is a
/// constant when this is compiled: several times as fast.
pub(crate) fn columns_times(a: &[f64], x: &[f64], out: &mut [f64]) {
    match out.len() {
        1 => few_times::<1>(a, x, out),
        2 => few_times::<2>(a, x, out),
        3 => few_times::<3>(a, x, out),
        4 => few_times::<4>(a, x, out),
        5 => few_times::<5>(a, x, out),
        6 => few_times::<6>(a, x, out),
        7 => few_times::<7>(a, x, out),
        8 => few_times::<8>(a, x, out),
        n => {
            out.fill(0.0);
            for (x, column) in x.iter().zip(a.chunks_exact(n.max(1))) {
                // Rows of gaps have few entries beside zeros, which add nothing to a sum.
                if *x == 0.0 {
                    continue;
                }
                for (out, a) in out.iter_mut().zip(column) {
                    *out += a * x;
                }
            }
        }
    }
}

#[inline]
fn few_times<const N: usize>(a: &[f64], x: &[f64], out: &mut [f64]) {
    let columns = a.as_chunks::<N>().0;
    let mut sum = [0.0; N];
    let mut add = |x: &[f64], columns: &[[f64; N]]| {
        for (x, column) in x.iter().zip(columns) {
            for (sum, a) in sum.iter_mut().zip(column) {
                *sum += a * x;
            }
        }
    };
    match (x.first_chunk::<N>(), columns.first_chunk::<N>()) {
        // A square one: both numbers are constants.
        (Some(square), Some(columns)) if x.len() == N => add(square, columns),
        _ => add(x, columns),
    }
    out.copy_from_slice(&sum);
}

/// `√(vᵀ A v)` for a symmetric positive definite `A`.
pub(crate) fn norm_in(a: &[f64], v: &[f64]) -> f64 {
    // In units of the greatest: squares of finite numbers may overflow.
    let unit = largest(v);
    if unit == 0.0 {
        return 0.0;
    }
    let mut sum = 0.0;
    for (w, column) in v.iter().zip(a.chunks_exact(v.len())) {
        let product: f64 = column.iter().zip(v).map(|(a, v)| a * (v / unit)).sum();
        sum += w / unit * product;
    }
    unit * sum.max(0.0).sqrt()
}

/// The inverse of the matrix with this factor.
pub(crate) fn inverse(l: &[f64], n: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; n * n];
    for (j, column) in inverse.chunks_exact_mut(n.max(1)).enumerate() {
        column[j] = 1.0;
        solve(l, n, column);
    }
    inverse
}

#[cfg(test)]
mod tests {
    use num_rational::BigRational as Ratio;
    use num_traits::ToPrimitive;

    use super::*;
    use crate::random::below;

    #[test]
    fn a_factor_solves_and_tells_condition_and_failure() {
        let a = [4.0, 2.0, 0.4, 2.0, 5.0, 1.0, 0.4, 1.0, 3.0];
        let mut l = a;
        let rcond = factor(&mut l, 3).unwrap();
        assert!(rcond > 0.1 && rcond <= 1.0);
        let mut x = [1.0, -2.0, 0.5];
        solve(&l, 3, &mut x);
        for (i, b) in [1.0, -2.0, 0.5].iter().enumerate() {
            let sum: f64 = (0..3).map(|j| a[j * 3 + i] * x[j]).sum();
            assert!((sum - b).abs() < 1e-14);
        }
        let inverse = inverse(&l, 3);
        let x: Vec<f64> = (0..3)
            .map(|i| inverse[i] + inverse[3 + i] * -2.0 + inverse[6 + i] * 0.5)
            .collect();
        for (i, b) in [1.0, -2.0, 0.5].iter().enumerate() {
            let sum: f64 = (0..3).map(|j| a[j * 3 + i] * x[j]).sum();
            assert!((sum - b).abs() < 1e-14);
        }
        assert_eq!(factor(&mut [1.0, 2.0, 2.0, 1.0], 2), None);
        assert_eq!(factor(&mut [f64::NAN], 1), None);
        assert!(factor(&mut [1.0, 1.0, 1.0, 1.0 + 1e-14], 2).unwrap() < 1e-13);
    }

    #[test]
    fn rows_give_the_same_factor() {
        let a = [4.0, 2.0, 0.4, 2.0, 5.0, 1.0, 0.4, 1.0, 3.0];
        let mut rows = a;
        assert!((0..3).all(|k| factor_row(&mut rows, 3, k)));
        let mut columns = a;
        factor(&mut columns, 3).unwrap();
        let (mut x, mut y) = ([1.0, -2.0, 0.5], [1.0, -2.0, 0.5]);
        solve_by_rows(&rows, 3, &mut x);
        solve(&columns, 3, &mut y);
        for (x, y) in x.iter().zip(y) {
            assert!((x - y).abs() < 1e-15);
        }
        let mut indefinite = [1.0, 2.0, 2.0, 1.0];
        assert!(factor_row(&mut indefinite, 2, 0) && !factor_row(&mut indefinite, 2, 1));
        assert!(!factor_row(&mut [f64::NAN], 1, 0));
    }

    /// The exact solution of `G x = b`, and `Σ G_ii (G⁻¹)_ii`: the square of how sharp the rows are.
    fn exactly(gram: &[Vec<Ratio>], b: &[i64]) -> (Vec<f64>, f64) {
        let m = b.len();
        let whole = |x: i64| Ratio::from_integer(x.into());
        let mut rows: Vec<Vec<Ratio>> = (0..m)
            .map(|i| {
                let unit = (0..m).map(|k| whole(i64::from(i == k)));
                let right = std::iter::once(whole(b[i])).chain(unit);
                gram[i].iter().cloned().chain(right).collect()
            })
            .collect();
        for k in 0..m {
            let pivot = rows[k][k].clone();
            rows[k].iter_mut().for_each(|x| *x /= &pivot);
            let by = rows[k].clone();
            for row in rows
                .iter_mut()
                .enumerate()
                .filter_map(|(i, row)| (i != k).then_some(row))
            {
                let part = row[k].clone();
                row.iter_mut().zip(&by).for_each(|(x, y)| *x -= &part * y);
            }
        }
        let inverse = (0..m).map(|i| (&gram[i][i] * &rows[i][m + 1 + i]).to_f64().unwrap());
        let x = rows.iter().map(|row| row[m].to_f64().unwrap());
        (x.collect(), inverse.sum())
    }

    /// Rows of which each is a combination of those before it but for one part in `2^bits`, and
    /// their products with a metric, all exact.
    fn nearly_dependent(seed: u64, m: usize, bits: i32) -> (Vec<f64>, Vec<f64>) {
        let d = m + 1;
        let small = |index: usize| below(seed, index as u64, 7) as f64 - 3.0;
        let off = 2f64.powi(-bits);
        let mut rows = vec![0.0; m * d];
        for i in 0..m {
            for c in 0..d {
                let before = (0..i).map(|k| {
                    (1 + below(seed, 100 + (10 * i + k) as u64, 2)) as f64 * rows[k * d + c]
                });
                let before: f64 = before.sum();
                let own = small(10 * i + c) + if c == i { 10.0 } else { 0.0 };
                rows[i * d + c] = if i == 0 { own } else { before + off * own };
            }
        }
        let metric = |r: usize, c: usize| if r == c { 5.0 + r as f64 } else { 1.0 };
        let weighted = (0..m * d).map(|place| {
            let (i, c) = (place / d, place % d);
            (0..d).map(|r| rows[i * d + r] * metric(r, c)).sum()
        });
        let weighted = weighted.collect();
        (rows, weighted)
    }

    /// Forces of contacts that are nearly parallel are as exact as their rows, where those of their
    /// Gram matrix are anything.
    #[test]
    fn a_factor_of_rows_knows_what_their_products_have_lost() {
        let ratio = |x: f64| Ratio::from_float(x).unwrap();
        let mut lost = 0;
        for case in 0..150_usize {
            let (m, bits) = (2 + case % 3, [0, 5, 10, 20, 30][case % 5]);
            let (d, seed) = (m + 1, case as u64);
            let (rows, weighted) = nearly_dependent(seed, m, bits);
            let gram: Vec<Vec<Ratio>> = (0..m)
                .map(|i| {
                    let entry = |k: usize| {
                        let terms =
                            (0..d).map(|c| ratio(rows[i * d + c]) * ratio(weighted[k * d + c]));
                        terms.sum::<Ratio>()
                    };
                    (0..m).map(entry).collect()
                })
                .collect();
            let load: Vec<i64> = (0..m)
                .map(|i| 1 + i64::try_from(below(seed, 1000 + i as u64, 9)).unwrap())
                .collect();
            let (exact, square) = exactly(&gram, &load);
            let off = |x: &[f64]| {
                let part = |i: usize, x: f64| x.abs() * gram[i][i].to_f64().unwrap().sqrt();
                let most = |of: &dyn Fn(usize) -> f64| (0..m).map(of).fold(0.0, f64::max);
                most(&|i| part(i, x[i] - exact[i])) / most(&|i| part(i, exact[i]))
            };
            let right = || load.iter().map(|&b| b as f64).collect::<Vec<f64>>();
            let (mut l, mut x) = (vec![0.0; m * m], right());
            let (mut r, mut w) = (rows.clone(), weighted.clone());
            let written = factor_rows(&mut r, &mut w, d, 1e-13, &mut l);
            assert!(written, "{case}");
            solve(&l, m, &mut x);
            // Rounding of the rows over how far they are apart.
            let allowed = 10.0 * f64::EPSILON * (d * m) as f64 * square.sqrt();
            assert!(off(&x) <= allowed, "{case}: {:e}, {allowed:e}", off(&x));
            let mut by_gram: Vec<f64> =
                gram.iter().flatten().map(|g| g.to_f64().unwrap()).collect();
            let mut x = right();
            let solved = factor(&mut by_gram, m).map(|_| solve(&by_gram, m, &mut x));
            lost += usize::from(solved.is_none() || off(&x) > 1e-2);
        }
        assert!(lost >= 30, "{lost}");
    }

    /// They are refused at the sharpness that is asked for.
    #[test]
    fn a_factor_of_rows_refuses_what_is_too_sharp() {
        for exponent in [-1, -10, -20, -30] {
            let angle = 2f64.powi(exponent);
            let factored = |least: f64, second: [f64; 2]| {
                let rows = [1.0, 0.0, second[0], second[1]];
                let (mut rows, mut lift) = (rows, rows);
                factor_rows(&mut rows, &mut lift, 2, least, &mut [0.0; 4])
            };
            assert!(factored(0.8 * angle, [1.0, angle]));
            assert!(!factored(1.2 * angle, [1.0, angle]));
            assert!(!factored(0.0, [1.0, 0.0]) && !factored(0.0, [f64::NAN, angle]));
        }
    }

    #[test]
    fn norms_of_any_size() {
        let a = [4.0, 2.0, 2.0, 5.0];
        for unit in [1.0, 1e-200, 1e200] {
            let norm = norm_in(&a, &[unit, -2.0 * unit]);
            assert!((norm / unit - 4.0).abs() < 1e-15, "{unit:e}: {norm:e}");
        }
        assert!(norm_in(&a, &[0.0, 0.0]).abs() < f64::MIN_POSITIVE);
        assert!(norm_in(&[], &[]).abs() < f64::MIN_POSITIVE);
    }

    #[test]
    #[expect(clippy::float_cmp, reason = "sums of small integers are exact")]
    fn products_of_any_size() {
        for (n, d) in (0..=10).flat_map(|n| [(n, n), (n, 3)]) {
            let a: Vec<f64> = (0..n * d)
                .map(|k| ((k / n) * (k % n)) as f64 + 1.0)
                .collect();
            let x: Vec<f64> = (0..d).map(|i| i as f64 - 2.0).collect();
            let mut out = vec![f64::NAN; n];
            columns_times(&a, &x, &mut out);
            for i in 0..n {
                let expected: f64 = (0..d).map(|j| a[j * n + i] * x[j]).sum();
                assert_eq!(out[i], expected, "{n} by {d}");
            }
        }
    }
}
