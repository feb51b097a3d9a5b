//! The linear pieces of a derivative, each with the cones on which it holds.

use nalgebra::{DMatrix, DVector};

use super::branches::Branch;
use crate::{Guard, Mode, NoDerivative, validate};

/// One linear piece of a piecewise linear derivative: that of a run
/// ([`Derivative::pieces`](crate::derivative::Derivative::pieces)), or that of a corner
/// ([`Derivative::pieces_at`](crate::derivative::Derivative::pieces_at)).
///
/// For a run, displacements are those of its start and of its final state. For a corner, they are
/// those at fixed time just before it and just after it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Piece {
    /// Its matrix, `d × d`: `B(v) = matrix · v` for every `v` in one of the cones. For a corner,
    /// the product of the saltation matrices along the order.
    pub matrix: DMatrix<f64>,
    /// Where it holds: a cone for each order of the guards that has this matrix and this state.
    pub cones: Vec<Cone>,
    /// The state that is displaced by `B(v)`: the final state of the run, or the limit just after
    /// the corner for vanishing displacements in this piece.
    pub state: DVector<f64>,
    /// The mode there.
    pub mode: Mode,
    /// True when the run itself went on in this state and mode. It met all guards of the corner at
    /// once.
    pub is_nominal: bool,
}

/// The displacements that pass the corners of a run, or one corner, in one order each.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Cone {
    /// For each corner of the run that is not linear, in order of time, the order in which its
    /// guards are met; for a piece of a corner the order at this one. Guards that a reset turns the
    /// state away from are missing.
    pub orders: Vec<Vec<Guard>>,
    /// Rows `a` with `a · v ≥ 0` for each displacement `v` in the cone: differences of time shifts
    /// (s per unit of each state variable). Some may follow from others. There are none for a
    /// linear derivative.
    pub inequalities: DMatrix<f64>,
    /// A unit displacement well inside; the first axis where there is no inequality.
    pub sample: DVector<f64>,
}

impl Piece {
    /// `matrixᵀ w`: the gradient of a cost of the displaced state, whose gradient there is `w`,
    /// with respect to the displacement, within the piece.
    ///
    /// # Errors
    /// [`InputError::WrongLength`](crate::InputError::WrongLength).
    pub fn vjp(&self, w: &[f64]) -> Result<DVector<f64>, NoDerivative> {
        transposed_times(&self.matrix, w)
    }

    /// True when `v` lies in one of the cones, their borders included.
    pub fn contains(&self, v: &[f64]) -> bool {
        let mut cones = self.cones.iter();
        cones.any(|cone| holds(&cone.inequalities, v))
    }
}

/// The pieces of a corner: orders with the same map that lead to the same state are one.
pub(crate) fn of_corner(branches: Vec<Branch>) -> Vec<Piece> {
    let mut pieces: Vec<((usize, usize, bool), Piece)> = Vec::new();
    for branch in branches {
        let key = (branch.class, branch.node, branch.is_nominal);
        let cone = Cone {
            orders: vec![branch.order],
            inequalities: branch.inequalities,
            sample: branch.sample,
        };
        if let Some((_, piece)) = pieces.iter_mut().find(|(known, _)| *known == key) {
            piece.cones.push(cone);
            continue;
        }
        let piece = Piece {
            matrix: branch.matrix,
            cones: vec![cone],
            state: branch.state,
            mode: branch.mode,
            is_nominal: branch.is_nominal,
        };
        pieces.push((key, piece));
    }
    pieces.into_iter().map(|(_, piece)| piece).collect()
}

/// `matrixᵀ w`.
pub(crate) fn transposed_times(
    matrix: &DMatrix<f64>,
    w: &[f64],
) -> Result<DVector<f64>, NoDerivative> {
    validate::length("w", matrix.nrows(), w.len())?;
    Ok(matrix.tr_mul(&DVector::from_column_slice(w)))
}

/// True when `v` satisfies all of `rows`, to rounding.
pub(crate) fn holds(rows: &DMatrix<f64>, v: &[f64]) -> bool {
    rows.ncols() == v.len()
        && (0..rows.nrows()).all(|r| {
            let terms = || (0..v.len()).map(|j| rows[(r, j)] * v[j]);
            let size: f64 = terms().map(f64::abs).sum();
            terms().sum::<f64>() >= -1e-12 * size
        })
}
