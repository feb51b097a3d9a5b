//! What several modules need: integrators, and how far a result is off.

use proptest::prelude::ProptestConfig;
use saltation::derivative::{Cone, Piece};
use saltation::models::FieldTable;
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{Guard, Integrator};

use crate::draw::{Draw, round};
use crate::exact::{Along, Oracle};
use crate::kit::Course;

/// Constant fields are integrated without error at any tolerance, so that the default one is as
/// good as any.
pub(crate) fn integrator(course: &Course) -> Integrator<FieldTable> {
    Integrator::new(course.system()).expect("a system with states")
}

/// Largest difference over largest expected entry; NaN where there is one.
pub(crate) fn off<'a>(
    found: impl IntoIterator<Item = &'a f64>,
    expected: impl IntoIterator<Item = &'a f64>,
) -> f64 {
    let (mut gap, mut size): (f64, f64) = (0.0, 0.0);
    let (mut found, mut expected) = (found.into_iter(), expected.into_iter());
    loop {
        match (found.next(), expected.next()) {
            (Some(a), Some(b)) => {
                let d = (a - b).abs();
                // `max` would drop a NaN.
                gap = if d <= gap { gap } else { d };
                size = size.max(b.abs());
            }
            (None, None) => return gap / size,
            _ => panic!("not the same length"),
        }
    }
}

/// `matrix · v`.
pub(crate) fn times(matrix: &DMatrix<f64>, v: &[f64]) -> DVector<f64> {
    matrix * DVector::from_column_slice(v)
}

/// The order in which the oracle meets the guards of corner `c`, as a piece states it.
pub(crate) fn order(exact: &Along, c: usize) -> Vec<Guard> {
    exact.orders[c].iter().copied().map(Guard::rising).collect()
}

/// As `v`, with components that are multiples of 2^−24, for the oracle.
pub(crate) fn few_bits(v: &DVector<f64>) -> Vec<f64> {
    v.iter().map(|&v| round(v, 24)).collect()
}

/// The matrix of a course whose derivative is linear up to displacements of 2^−step, column by
/// column.
pub(crate) fn matrix_of(course: &Course, step: usize) -> DMatrix<f64> {
    let (oracle, dim) = (Oracle::new(course), course.dim());
    let columns = (0..dim).map(|j| {
        let unit: Vec<f64> = (0..dim).map(|i| f64::from(u8::from(i == j))).collect();
        DVector::from_vec(oracle.along_by(&unit, step).state)
    });
    DMatrix::from_columns(&columns.collect::<Vec<_>>())
}

/// A course through one corner, and the numbers to draw directions with, from a seed.
pub(crate) fn corner(n: usize, dim: usize, seed: usize) -> (Course, Draw) {
    let mut draw = Draw(seed as u64);
    (Course::through(&[n], dim, &mut draw), draw)
}

pub(crate) fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Each cone of some pieces, with its piece.
pub(crate) fn each(pieces: &[Piece]) -> impl Iterator<Item = (&Piece, &Cone)> {
    pieces
        .iter()
        .flat_map(|piece| piece.cones.iter().map(move |cone| (piece, cone)))
}
