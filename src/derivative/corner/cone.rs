//! Cones of directions `{v : a_r · v ≥ 0}`: whether they have an inside, and a direction well
//! within it.
//!
//! The point of least norm in the convex hull of the (normalised) `a_r` is a direction that all
//! inequalities like, and is zero exactly when the cone has no inside (Gordan's alternative). It
//! solves a least-squares problem with multipliers `λ ≥ 0` (Lawson & Hanson, "Solving Least Squares
//! Problems", chapter 23, `NNLS`).

use nalgebra::{DMatrix, DVector};

use crate::linalg::decompose::svd;

/// Below this distance of the hull from the origin, a cone of normalised inequalities counts as
/// empty.
const EMPTY: f64 = 1e-9;

/// A unit direction well inside the cone of `rows` (of any length; rows of zeros set no bound).
/// None when the cone has no interior or a row is not finite. Without bounds it is the first axis.
pub(crate) fn inside(rows: &DMatrix<f64>) -> Option<DVector<f64>> {
    let dim = rows.ncols();
    let bounds: Vec<usize> = (0..rows.nrows())
        .filter(|&r| rows.row(r).amax() != 0.0)
        .collect();
    let rows = &rows.select_rows(&bounds);
    if rows.nrows() == 0 {
        return Some(DVector::from_fn(dim, |i, _| f64::from(u8::from(i == 0))));
    }
    if rows.iter().any(|entry| !entry.is_finite()) {
        return None;
    }
    // Units of the state variables may be anything: each is measured by its largest entry.
    let units: Vec<f64> = rows.column_iter().map(|column| column.amax()).collect();
    let own = |j: usize| if units[j] > 0.0 { units[j] } else { 1.0 };
    let rows = &DMatrix::from_fn(rows.nrows(), dim, |r, j| rows[(r, j)] / own(j));
    // Columns: the normalised rows with a 1 below, for least squares to (0, 1): min |Aᵀλ|² + (Σλ −
    // 1)².
    let system = DMatrix::from_fn(dim + 1, rows.nrows(), |i, r| {
        if i == dim {
            1.0
        } else {
            rows[(r, i)] / rows.row(r).norm()
        }
    });
    let mut target = DVector::zeros(dim + 1);
    target[dim] = 1.0;
    let weights = nonnegative_least_squares(&system, &target)?;
    let total = weights.sum();
    let point = (&system * &weights).rows(0, dim) / total;
    let distance = point.norm();
    let direction = point / distance;
    let deepest = |r: usize| system.column(r).rows(0, dim).dot(&direction);
    let inside = distance > EMPTY && (0..rows.nrows()).all(|r| deepest(r) > 0.5 * distance);
    let direction = DVector::from_fn(dim, |j, _| direction[j] / own(j)).normalize();
    inside.then_some(direction)
}

/// `argmin |E λ − f|` over `λ ≥ 0`; none when it does not settle.
fn nonnegative_least_squares(e: &DMatrix<f64>, f: &DVector<f64>) -> Option<DVector<f64>> {
    let n = e.ncols();
    // Most cones have independent inequalities and an unconstrained solution that satisfies them.
    let mut weights = least_squares_over(e, f, &vec![true; n])?;
    if weights.iter().all(|&weight| weight > 0.0) {
        return Some(weights);
    }
    weights.fill(0.0);
    let mut passive = vec![false; n];
    for _ in 0..10 * (n + 1) {
        let gain = e.transpose() * (f - e * &weights);
        let best = (0..n)
            .filter(|&r| !passive[r])
            .max_by(|&a, &b| gain[a].total_cmp(&gain[b]));
        match best {
            Some(r) if gain[r] > 1e-12 => passive[r] = true,
            _ => return Some(weights),
        }
        loop {
            let trial = least_squares_over(e, f, &passive)?;
            let limiting = (0..n)
                .filter(|&r| passive[r] && trial[r] <= 0.0)
                .map(|r| (weights[r] / (weights[r] - trial[r]), r))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let Some((part, first)) = limiting else {
                weights = trial;
                break;
            };
            let part = if part.is_finite() { part } else { 0.0 };
            weights += part * (&trial - &weights);
            // At least the column that limits the step leaves, so the loop ends.
            for r in 0..n {
                if passive[r] && (r == first || weights[r] <= 1e-14) {
                    passive[r] = false;
                    weights[r] = 0.0;
                }
            }
        }
    }
    Some(weights)
}

/// Least squares over the columns marked, zero in the others.
fn least_squares_over(e: &DMatrix<f64>, f: &DVector<f64>, marked: &[bool]) -> Option<DVector<f64>> {
    let columns: Vec<usize> = (0..e.ncols()).filter(|&r| marked[r]).collect();
    let some = e.select_columns(&columns);
    let solution = svd(some, true, true)?.solve(f, 1e-12).ok()?;
    let mut all = DVector::zeros(e.ncols());
    for (i, &r) in columns.iter().enumerate() {
        all[r] = solution[i];
    }
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_zero_set_no_bound_and_rows_without_a_number_have_no_inside() {
        let rows = DMatrix::from_row_slice(3, 2, &[0.0, 0.0, -2.0, 0.0, 0.0, 0.0]);
        assert_eq!(inside(&rows), Some(DVector::from_vec(vec![-1.0, 0.0])));
        assert_eq!(inside(&DMatrix::zeros(2, 2)), inside(&DMatrix::zeros(0, 2)));
        for wrong in [f64::NAN, f64::INFINITY] {
            let rows = DMatrix::from_row_slice(2, 2, &[1.0, 0.0, wrong, 1.0]);
            assert_eq!(inside(&rows), None);
        }
    }

    #[test]
    fn a_direction_inside_is_found_and_is_inside() {
        let rows = DMatrix::from_row_slice(3, 3, &[2.0, 0.0, 0.0, -1.0, 1.0, 0.0, 0.0, -1.0, 3.0]);
        let v = inside(&rows).unwrap();
        assert!((&rows * &v).iter().all(|&s| s > 0.1) && (v.norm() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_cone_without_inside_is_empty() {
        // x ≥ 0, −x ≥ 0: a plane.
        let rows = DMatrix::from_row_slice(2, 2, &[1.0, 0.0, -2.0, 0.0]);
        assert_eq!(inside(&rows), None);
        // Three half-planes whose normals surround the origin.
        let rows = DMatrix::from_row_slice(3, 2, &[1.0, 0.0, -1.0, 1.0, -1.0, -1.0]);
        assert_eq!(inside(&rows), None);
    }

    #[test]
    fn a_narrow_cone_is_not_missed() {
        for narrow in [1e-2, 1e-4, 1e-6] {
            let rows = DMatrix::from_row_slice(2, 2, &[narrow, 1.0, narrow, -1.0]);
            let v = inside(&rows).unwrap();
            assert!(v[0] > 0.99 && v[1].abs() < 0.5 * narrow, "{narrow}: {v}");
        }
    }

    #[test]
    fn no_inequalities_no_bounds() {
        assert_eq!(
            inside(&DMatrix::zeros(0, 2)),
            Some(DVector::from_vec(vec![1.0, 0.0]))
        );
    }
}
