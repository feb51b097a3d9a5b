//! The linear pieces of the derivative of a run: each corner divides those before it.

use nalgebra::{DMatrix, DVector};

use super::chain_rule::Link;
use super::corner::bouligand::{CornerDerivative, CornerKind};
use super::corner::branches::{self, Branch, Cone, Piece, holds};
use super::corner::cone;
use super::corner::explorer::Explorer;
use super::of_run::Derivative;
use crate::{EventFunction, Flow, Guard, InputError, NoDerivative};

impl<S: Flow + EventFunction> Derivative<S> {
    /// All linear pieces with the cones on which they hold. Where the derivative is linear there is
    /// one, without inequalities. The edge of a run is no border of theirs: of a
    /// [one-sided](crate::Verdict::OneSided) derivative [`apply`](Self::apply) says which displacements
    /// stay on the side of the run.
    ///
    /// Each corner that is not linear may divide each cone: up to `m₁ m₂ ⋯` cones behind corners
    /// with `m₁`, `m₂`, … orders. At most 4,096 are listed, each with its `d × d` matrix.
    ///
    /// # Errors
    /// [`NoDerivative::TooManyOrders`] when a corner that is not linear has more than six guards;
    /// [`NoDerivative::TooManyPieces`] beyond 4,096 cones; [`NoDerivative::Discontinuous`] when
    /// outcomes jump; [`Stop::Interrupted`](crate::Stop::Interrupted); otherwise as
    /// [`apply`](Self::apply).
    pub fn pieces(&self) -> Result<Vec<Piece>, NoDerivative> {
        self.check_failure()?;
        let dim = self.run.state().len();
        let mut explorer = self.explorer();
        let mut parts = vec![Part {
            matrix: DMatrix::identity(dim, dim),
            orders: Vec::new(),
            inequalities: DMatrix::zeros(0, dim),
            sample: axis(dim),
            classes: Vec::new(),
        }];
        for link in self.chain.links() {
            self.context().interrupt.check()?;
            let map = match link {
                Link::Map(map) => Ok(map),
                Link::Corner(corner) => corner.linear().ok_or(corner),
            };
            match map {
                Ok(map) => {
                    for part in &mut parts {
                        part.matrix = map * &part.matrix;
                    }
                }
                Err(corner) => {
                    let branches = self.branches_to_list(corner, &mut explorer)?;
                    let go_on = || self.context().interrupt.check().map_err(NoDerivative::from);
                    let divided = divide(&parts, &branches, MOST_CONES, go_on)?;
                    parts = divided.ok_or(NoDerivative::TooManyPieces {
                        limit: MOST_CONES,
                        t: corner.t(),
                    })?;
                }
            }
        }
        let mut pieces: Vec<(Vec<usize>, Piece)> = Vec::new();
        for part in parts {
            self.check_finite(part.matrix.as_slice())?;
            let cone = Cone {
                orders: part.orders,
                inequalities: part.inequalities,
                sample: part.sample,
            };
            match pieces
                .iter_mut()
                .find(|(classes, _)| *classes == part.classes)
            {
                Some((_, piece)) => piece.cones.push(cone),
                None => pieces.push((
                    part.classes,
                    Piece {
                        matrix: part.matrix,
                        cones: vec![cone],
                        state: self.run.state().clone(),
                        mode: self.run.mode().clone(),
                        is_nominal: true,
                    },
                )),
            }
        }
        Ok(pieces.into_iter().map(|(_, piece)| piece).collect())
    }

    /// The pieces of corner `index` of [`corners`](Self::corners): how displacements pass it, in
    /// each order of its guards. Where outcomes jump these are the one-sided limits and maps.
    ///
    /// # Errors
    /// [`NoDerivative::TooManyOrders`] above six guards, [`NoDerivative::CornerTooLarge`] where
    /// resets make more of them than are followed, [`InputError::NoSuch`] beyond the corners,
    /// [`Stop::Interrupted`](crate::Stop::Interrupted), and errors of the model in orders that the
    /// run did not take.
    pub fn pieces_at(&self, index: usize) -> Result<Vec<Piece>, NoDerivative> {
        let Some(corner) = self.corners().nth(index) else {
            let count = self.corners().count();
            return Err(NoDerivative::Input(InputError::NoSuch {
                what: "corner",
                index,
                count,
            }));
        };
        let mut explorer = self.explorer();
        let branches = corner.branches(self.context(), &mut explorer)?;
        Ok(branches::of_corner(branches))
    }

    /// The pieces of [`possible_corner`](Self::possible_corner). Empty when there is none.
    ///
    /// # Errors
    /// As [`pieces_at`](Self::pieces_at).
    pub fn possible_pieces(&self) -> Result<Vec<Piece>, NoDerivative> {
        let Some(corner) = &self.possible else {
            return Ok(Vec::new());
        };
        let mut explorer = self.explorer();
        let branches = corner.branches(self.context(), &mut explorer)?;
        Ok(branches::of_corner(branches))
    }

    /// The branches of a corner whose outcomes do not jump.
    fn branches_to_list(
        &self,
        corner: &CornerDerivative,
        explorer: &mut Explorer,
    ) -> Result<Vec<Branch>, NoDerivative> {
        let branches = corner.branches(self.context(), explorer)?;
        let jumps = matches!(corner.kind, CornerKind::Discontinuous);
        match branches.iter().find(|b| jumps || !b.is_nominal) {
            None => Ok(branches),
            Some(jump) => Err(NoDerivative::Discontinuous {
                t: corner.t(),
                order: jump.order.clone(),
            }),
        }
    }
}

/// Divides each part among the branches of the next corner; none when there are more than `most`.
/// `go_on` is called before each part.
fn divide(
    parts: &[Part],
    branches: &[Branch],
    most: usize,
    go_on: impl Fn() -> Result<(), NoDerivative>,
) -> Result<Option<Vec<Part>>, NoDerivative> {
    let mut divided: Vec<Part> = Vec::new();
    for part in parts {
        go_on()?;
        let from = divided.len();
        for branch in branches {
            let Some(new) = part.within(branch) else {
                continue;
            };
            // Displacements that meet guards at once may take any of their orders. The first is
            // used, since the maps agree there.
            let is_known = |known: &Part| holds(&known.inequalities, new.sample.as_slice());
            if divided[from..].iter().any(is_known) {
                continue;
            }
            if divided.len() >= most {
                return Ok(None);
            }
            divided.push(new);
        }
    }
    Ok(Some(divided))
}

/// Limit of the cones of displacements that are listed.
const MOST_CONES: usize = 4096;

/// A part of the displacements of the start, as far as the corners of a run have divided them.
struct Part {
    /// The map from the start.
    matrix: DMatrix<f64>,
    orders: Vec<Vec<Guard>>,
    inequalities: DMatrix<f64>,
    sample: DVector<f64>,
    /// For each corner the number of the map, among its different ones, of which the matrix is made.
    classes: Vec<usize>,
}

impl Part {
    /// The part that enters a branch of the next corner; none when it is empty.
    fn within(&self, branch: &Branch) -> Option<Self> {
        let dim = self.matrix.ncols();
        let mut rows: Vec<f64> = Vec::new();
        for row in branch.inequalities.row_iter() {
            let from = rows.len();
            for column in self.matrix.column_iter() {
                let terms = || row.iter().zip(&column).map(|(a, m)| a * m);
                let (sum, size) = (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
                rows.push(cone::entry(sum, size));
            }
            // All displacements meet both guards at once.
            if rows[from..].iter().all(|&entry| entry == 0.0) {
                rows.truncate(from);
            }
        }
        let old = self.inequalities.nrows();
        let new = rows.len() / dim.max(1);
        let inequalities = DMatrix::from_fn(old + new, dim, |r, j| {
            if r < old {
                self.inequalities[(r, j)]
            } else {
                rows[(r - old) * dim + j]
            }
        });
        let sample = cone::inside(&inequalities)?;
        let mut orders = self.orders.clone();
        orders.push(branch.order.clone());
        Some(Self {
            matrix: &branch.matrix * &self.matrix,
            orders,
            inequalities,
            sample,
            classes: [&self.classes[..], &[branch.class]].concat(),
        })
    }
}

/// The first axis.
fn axis(dim: usize) -> DVector<f64> {
    DVector::from_fn(dim, |i, _| f64::from(u8::from(i == 0)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Stop;

    /// One side of `x_i = 0` in four dimensions.
    fn side(i: usize, sign: f64, class: usize) -> Branch {
        let row = DMatrix::from_fn(1, 4, |_, j| if i == j { sign } else { 0.0 });
        Branch::with_map(DMatrix::identity(4, 4), row, class)
    }

    #[test]
    fn what_cancels_in_an_inequality_is_zero() {
        let mut matrix = DMatrix::identity(4, 4);
        (matrix[(0, 1)], matrix[(1, 1)]) = (0.1 + 0.2, 0.3);
        let part = Part {
            matrix,
            orders: Vec::new(),
            inequalities: DMatrix::zeros(0, 4),
            sample: axis(4),
            classes: Vec::new(),
        };
        let row = DMatrix::from_row_slice(1, 4, &[1.0, -1.0, 0.0, 2.0]);
        let branch = Branch::with_map(DMatrix::identity(4, 4), row, 0);
        let inequalities = part.within(&branch).unwrap().inequalities;
        assert_eq!(inequalities.as_slice(), [1.0, 0.0, 0.0, 2.0]);
    }

    #[test]
    fn no_more_cones_are_made_than_are_allowed() {
        let mut parts = vec![Part {
            matrix: DMatrix::identity(4, 4),
            orders: Vec::new(),
            inequalities: DMatrix::zeros(0, 4),
            sample: axis(4),
            classes: Vec::new(),
        }];
        for i in 0..4 {
            let sides = [side(i, 1.0, 0), side(i, -1.0, 1)];
            let most = 2 << i;
            let few = divide(&parts, &sides, most - 1, || Ok(())).unwrap();
            assert!(few.is_none());
            let stopped = divide(&parts, &sides, most, || {
                Err(NoDerivative::Stop(Stop::Interrupted))
            });
            assert!(matches!(
                stopped,
                Err(NoDerivative::Stop(Stop::Interrupted))
            ));
            parts = divide(&parts, &sides, most, || Ok(())).unwrap().unwrap();
            assert_eq!(parts.len(), most);
        }
        // A side that divided before divides nothing.
        let sides = [side(2, 1.0, 0), side(2, -1.0, 1)];
        parts = divide(&parts, &sides, 16, || Ok(())).unwrap().unwrap();
        assert_eq!(parts.len(), 16);
    }
}
