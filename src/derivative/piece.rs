//! The linear pieces of a derivative, each with the cones on which it holds.

use nalgebra::{DMatrix, DVector};

use super::bouligand::CornerKind;
use super::cone;
use super::record::Link;
use super::region::Region;
use super::run::{Derivative, transposed_times};
use crate::{Error, EventFunction, Flow, Guard};

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
    /// Rows `a` with `a · v ≥ 0` for each displacement `v` of the start in the cone: differences of time shifts (s per unit of
    /// each state variable). Some may follow from others; none for a derivative that is linear.
    pub inequalities: DMatrix<f64>,
    /// A unit direction well inside; the first axis where there is no inequality.
    pub sample: DVector<f64>,
}

/// A map, where it holds, and which of the different maps of each corner it is made of.
type Part = (DMatrix<f64>, Cone, Vec<usize>);

impl Piece {
    /// `matrixᵀ w`: the gradient of a cost of the final state, whose gradient there is `w`, with respect to the start, for
    /// displacements within the piece.
    ///
    /// # Errors
    /// [`Error::WrongLength`].
    pub fn vjp(&self, w: &[f64]) -> Result<DVector<f64>, Error> {
        transposed_times(&self.matrix, w)
    }

    /// True when `v` lies in one of the cones, their borders included.
    pub fn contains(&self, v: &[f64]) -> bool {
        let holds = |cone: &Cone| {
            let rows = &cone.inequalities;
            rows.ncols() == v.len()
                && (0..rows.nrows()).all(|r| {
                    let terms = || (0..v.len()).map(|j| rows[(r, j)] * v[j]);
                    let size: f64 = terms().map(f64::abs).sum();
                    terms().sum::<f64>() >= -1e-12 * size
                })
        };
        self.cones.iter().any(holds)
    }
}

impl<S: Flow + EventFunction> Derivative<'_, S> {
    /// All linear pieces with the cones on which they hold; one without inequalities where the derivative is linear.
    ///
    /// # Errors
    /// [`Error::TooManyOrders`] when a corner that is not linear has more than six guards; [`Error::Discontinuous`] when
    /// outcomes jump; otherwise as [`apply`](Self::apply).
    pub fn pieces(&self) -> Result<Vec<Piece>, Error> {
        self.check_failure()?;
        let dim = self.trajectory.state().len();
        let mut walk = self.walk();
        let mut found = vec![(
            DMatrix::identity(dim, dim),
            Cone {
                orders: Vec::new(),
                inequalities: DMatrix::zeros(0, dim),
                sample: DVector::zeros(dim),
            },
            Vec::new(),
        )];
        for link in &self.chain {
            self.ground.interrupt.check()?;
            match link {
                Link::Map(map) => {
                    for (matrix, ..) in &mut found {
                        *matrix = map * &*matrix;
                    }
                }
                Link::Corner(corner) => {
                    if let CornerKind::Linear {
                        matrix: map,
                        all_orders: true,
                    } = &corner.kind
                    {
                        for (matrix, ..) in &mut found {
                            *matrix = map * &*matrix;
                        }
                        continue;
                    }
                    let regions = corner.regions(self.ground, &mut walk)?;
                    let jumps = matches!(corner.kind, CornerKind::Discontinuous);
                    if let Some(jump) = regions.iter().find(|r| jumps || !r.is_nominal) {
                        let (t, order) = (corner.time(), jump.order.clone());
                        return Err(Error::Discontinuous { t, order });
                    }
                    let split = |(m, cone, classes): &Part| -> Vec<Part> {
                        let into = |region| cone_into(m, cone, classes, region);
                        regions.iter().filter_map(into).collect()
                    };
                    found = found.iter().flat_map(split).collect();
                }
            }
        }
        let mut pieces: Vec<(Vec<usize>, Piece)> = Vec::new();
        for (matrix, mut cone, classes) in found {
            let Some(sample) = cone::inside(&cone.inequalities) else {
                continue;
            };
            cone.sample = sample;
            if let Some((_, piece)) = pieces.iter_mut().find(|(known, _)| *known == classes) {
                piece.cones.push(cone);
                continue;
            }
            let cones = vec![cone];
            pieces.push((classes, Piece { matrix, cones }));
        }
        Ok(pieces.into_iter().map(|(_, piece)| piece).collect())
    }
}

/// The part of a cone that enters a region of the next corner; none when there is no such part.
fn cone_into(map: &DMatrix<f64>, cone: &Cone, classes: &[usize], region: &Region) -> Option<Part> {
    let more = &region.inequalities * map;
    let (old, new) = (cone.inequalities.nrows(), more.nrows());
    let inequalities = DMatrix::from_fn(old + new, map.ncols(), |r, j| {
        if r < old {
            cone.inequalities[(r, j)]
        } else {
            more[(r - old, j)]
        }
    });
    let sample = cone::inside(&inequalities)?;
    let mut orders = cone.orders.clone();
    orders.push(region.order.clone());
    let cone = Cone {
        orders,
        inequalities,
        sample,
    };
    let classes = [classes, &[region.class]].concat();
    Some((&region.matrix * map, cone, classes))
}
