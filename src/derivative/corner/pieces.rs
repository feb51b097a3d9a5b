//! The linear pieces of a derivative, each with the cones on which it holds.

use nalgebra::{DMatrix, DVector};

use super::bouligand::{CornerDerivative, CornerKind};
use super::cone;
use super::graph::CornerGraph;
use super::region::Region;
use crate::derivative::chain_rule::{Derivative, transposed_times};
use crate::derivative::recorder::Link;
use crate::{EventFunction, Flow, Guard, NoDerivative};

/// One linear piece of a piecewise linear derivative.
#[derive(Clone, Debug)]
pub struct Piece {
    /// Its matrix, `d × d`: `B(v) = matrix · v` for every `v` in one of the cones.
    pub matrix: DMatrix<f64>,
    /// Where it holds: a cone for each order of the guards that has this matrix.
    pub cones: Vec<Cone>,
}

/// The directions that pass the corners of a run in one order each.
#[derive(Clone, Debug)]
pub struct Cone {
    /// For each corner that is not linear, in order of time, the order in which its guards are met.
    pub orders: Vec<Vec<Guard>>,
    /// Rows `a` with `a · v ≥ 0` for each displacement `v` of the start in the cone: differences of
    /// time shifts (s per unit of each state variable). Some may follow from others; none for a
    /// derivative that is linear.
    pub inequalities: DMatrix<f64>,
    /// A unit direction well inside; the first axis where there is no inequality.
    pub sample: DVector<f64>,
}

impl Piece {
    /// `matrixᵀ w`: the gradient of a cost of the final state, whose gradient there is `w`, with
    /// respect to the start, for displacements within the piece.
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

impl<S: Flow + EventFunction> Derivative<'_, S> {
    /// All linear pieces with the cones on which they hold; one without inequalities where the
    /// derivative is linear.
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
        let dim = self.trajectory.state().len();
        let mut graph = self.graph();
        let mut parts = vec![Part {
            matrix: DMatrix::identity(dim, dim),
            orders: Vec::new(),
            inequalities: DMatrix::zeros(0, dim),
            sample: axis(dim),
            classes: Vec::new(),
        }];
        for link in &self.chain {
            self.context.interrupt.check()?;
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
                    let regions = self.regions_to_list(corner, &mut graph)?;
                    let go_on = || self.context.interrupt.check().map_err(NoDerivative::from);
                    let divided = divide(&parts, &regions, MOST_CONES, go_on)?;
                    parts = divided.ok_or(NoDerivative::TooManyPieces {
                        limit: MOST_CONES,
                        t: corner.time(),
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
                    },
                )),
            }
        }
        Ok(pieces.into_iter().map(|(_, piece)| piece).collect())
    }

    /// The regions of a corner whose outcomes do not jump.
    fn regions_to_list(
        &self,
        corner: &CornerDerivative,
        graph: &mut CornerGraph,
    ) -> Result<Vec<Region>, NoDerivative> {
        let regions = corner.regions(self.context, graph)?;
        let jumps = matches!(corner.kind, CornerKind::Discontinuous);
        match regions.iter().find(|r| jumps || !r.is_nominal) {
            None => Ok(regions),
            Some(jump) => Err(NoDerivative::Discontinuous {
                t: corner.time(),
                order: jump.order.clone(),
            }),
        }
    }
}

/// Divides each part among the regions of the next corner; none when there are more than `most`.
/// `go_on` is asked before each part.
fn divide(
    parts: &[Part],
    regions: &[Region],
    most: usize,
    go_on: impl Fn() -> Result<(), NoDerivative>,
) -> Result<Option<Vec<Part>>, NoDerivative> {
    let mut divided: Vec<Part> = Vec::new();
    for part in parts {
        go_on()?;
        let from = divided.len();
        for region in regions {
            let Some(new) = part.within(region) else {
                continue;
            };
            // Displacements that meet guards at once take any of their orders: the first stands for
            // all, since maps agree there.
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

/// Most cones of displacements that are listed.
const MOST_CONES: usize = 4096;

/// An inequality whose entries all cancel to less than this part of their terms is zero: rounding
/// of maps that are differences.
const CANCELLED: f64 = 1e-9;

/// A part of the displacements of the start, as far as the corners of a run have divided them.
struct Part {
    /// The map from the start.
    matrix: DMatrix<f64>,
    orders: Vec<Vec<Guard>>,
    inequalities: DMatrix<f64>,
    sample: DVector<f64>,
    /// Which of the different maps of each corner the matrix is made of.
    classes: Vec<usize>,
}

impl Part {
    /// What of it enters a region of the next corner; none when nothing does.
    fn within(&self, region: &Region) -> Option<Self> {
        let dim = self.matrix.ncols();
        let mut rows: Vec<f64> = Vec::new();
        for row in region.inequalities.row_iter() {
            let (from, mut is_zero) = (rows.len(), true);
            for column in self.matrix.column_iter() {
                let terms = || row.iter().zip(&column).map(|(a, m)| a * m);
                let (sum, size) = (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
                is_zero &= sum.abs() <= CANCELLED * size;
                rows.push(sum);
            }
            // All displacements meet both guards at once.
            if is_zero {
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
        orders.push(region.order.clone());
        Some(Self {
            matrix: &region.matrix * &self.matrix,
            orders,
            inequalities,
            sample,
            classes: [&self.classes[..], &[region.class]].concat(),
        })
    }
}

/// The first axis.
fn axis(dim: usize) -> DVector<f64> {
    DVector::from_fn(dim, |i, _| f64::from(u8::from(i == 0)))
}

/// True when `v` satisfies all of `rows`, to rounding.
fn holds(rows: &DMatrix<f64>, v: &[f64]) -> bool {
    rows.ncols() == v.len()
        && (0..rows.nrows()).all(|r| {
            let terms = || (0..v.len()).map(|j| rows[(r, j)] * v[j]);
            let size: f64 = terms().map(f64::abs).sum();
            terms().sum::<f64>() >= -1e-12 * size
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mode;
    use crate::Stop;

    /// One side of `x_i = 0` in four dimensions.
    fn side(i: usize, sign: f64, class: usize) -> Region {
        Region {
            order: Vec::new(),
            state: DVector::zeros(4),
            mode: Mode::new(0),
            matrix: DMatrix::identity(4, 4),
            inequalities: DMatrix::from_fn(1, 4, |_, j| if i == j { sign } else { 0.0 }),
            sample: axis(4),
            is_nominal: true,
            faces: Vec::new(),
            class,
        }
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
        // The same side again divides nothing.
        let sides = [side(2, 1.0, 0), side(2, -1.0, 1)];
        parts = divide(&parts, &sides, 16, || Ok(())).unwrap().unwrap();
        assert_eq!(parts.len(), 16);
    }
}
