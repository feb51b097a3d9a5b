//! Cones of directions `{v : a_r · v ≥ 0}`: whether they have an inside, and a direction well
//! within it.
//!
//! The point of least norm in the convex hull of the (normalised) `a_r` is a direction that all
//! inequalities like, and is zero exactly when the cone has no inside (Gordan's alternative).

use nalgebra::{DMatrix, DVector};

use crate::linalg::decompose::svd;
use crate::linalg::dot;
use crate::linalg::nearest::Nearest;

/// Below this distance of the hull from the origin, a cone of normalised inequalities counts as
/// empty.
const EMPTY: f64 = 1e-9;

/// Entries of inequalities that cancel to less than this part of their terms are zero: rounding of
/// maps and rows that are differences.
const CANCELLED: f64 = 1e-9;

/// The entry of an inequality that is `sum`, of terms of this size. Where all directions of a
/// component shift two guards alike, what rounding leaves would make a cone of one without inside:
/// every order would be taken.
pub(crate) fn entry(sum: f64, size: f64) -> f64 {
    if sum.abs() <= CANCELLED * size {
        0.0
    } else {
        sum
    }
}

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
    // Points of a hull: a weight of 1, and the normalised row.
    let mut points = Vec::with_capacity(rows.nrows() * (dim + 1));
    for row in rows.row_iter() {
        let length = row.norm();
        points.push(1.0);
        points.extend(row.iter().map(|entry| entry / length));
    }
    let points = || points.chunks_exact(dim + 1);
    let mut nearest = Nearest::default();
    let distance = nearest.distance(points(), &vec![0.0; dim], 0.0);
    let mut direction = DVector::from_column_slice(nearest.gap()) / distance;
    // It is at right angles to the face of the hull on which it is. A face close to the origin makes
    // what rounding left along it large.
    let face: Vec<&[f64]> = nearest
        .coefficients()
        .filter_map(|(k, _)| points().nth(k))
        .collect();
    if let Some((first, others)) = face.split_first()
        && !others.is_empty()
    {
        let edge = |i: usize, k: usize| others[k][i + 1] - first[i + 1];
        let edges = DMatrix::from_fn(dim, others.len(), edge);
        let along = svd(edges, true, false)?.u?;
        direction -= &along * along.tr_mul(&direction);
        direction.normalize_mut();
    }
    let depth = |point: &[f64]| dot(&point[1..], direction.as_slice());
    let inside = distance > EMPTY && points().all(|point| depth(point) > 0.5 * distance);
    let direction = DVector::from_fn(dim, |j, _| direction[j] / own(j)).normalize();
    inside.then_some(direction)
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

    /// The two parts of a narrow cone were empty: conditions on multipliers, of the size of the
    /// square of the width, were taken for rounding.
    #[test]
    fn a_narrow_cone_that_a_third_bound_divides_has_two_parts() {
        for narrow in [1e-2, 1e-4, 1e-6, 1e-7] {
            for (sign, part) in [(1.0, 0.0), (-1.0, 0.0), (1.0, 0.3), (-1.0, 0.3)] {
                let bounds = [[narrow, 1.0], [narrow, -1.0], [-sign * part * narrow, sign]];
                for angle in [0.0_f64, 0.3, 0.7, 1.1] {
                    let (sin, cos) = angle.sin_cos();
                    let turned = bounds.map(|[x, y]| [cos * x - sin * y, sin * x + cos * y]);
                    let rows = DMatrix::from_row_slice(3, 2, turned.as_flattened());
                    let v = inside(&rows).unwrap();
                    let slope = (cos * v[1] - sin * v[0]) / narrow;
                    let (low, high) = if sign > 0.0 {
                        (part, 1.0)
                    } else {
                        (-1.0, part)
                    };
                    assert!(
                        low < slope && slope < high,
                        "{narrow} {part} {angle}: {slope}"
                    );
                }
            }
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
