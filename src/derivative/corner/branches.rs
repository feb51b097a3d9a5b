//! All orders in which a corner can be passed, each with the cone of directions that take it and its
//! map; and the linear pieces that they are to the user, each with the cones on which it holds.

use nalgebra::{DMatrix, DVector};

use super::cone;
use super::explorer::{Behind, Explorer, MOST_NUMBERS};
use super::graph::{CornerGraph, Node, Passed};
use super::map_scale::MapScale;
use crate::derivative::context::Context;
use crate::{Guard, Mode, NoDerivative, validate};

/// One order of the guards of a corner that some directions take, and their map. Fields that have
/// the names of those of [`Piece`](super::branches::Piece) and [`Cone`](super::branches::Cone) mean the
/// same.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) order: Vec<Guard>,
    /// The node of the graph at which it comes out.
    pub(crate) node: usize,
    pub(crate) state: DVector<f64>,
    pub(crate) mode: Mode,
    pub(crate) matrix: DMatrix<f64>,
    pub(crate) inequalities: DMatrix<f64>,
    pub(crate) sample: DVector<f64>,
    pub(crate) is_nominal: bool,
    /// For each pair of neighbours in the order the row that is zero where they are met at once.
    faces: Vec<DVector<f64>>,
    /// The first branch of the list that has the same map.
    pub(crate) class: usize,
}

#[cfg(test)]
impl Branch {
    /// A branch with a map on a cone, and nothing else.
    pub(crate) fn with_map(matrix: DMatrix<f64>, inequalities: DMatrix<f64>, class: usize) -> Self {
        let dim = matrix.nrows();
        Self {
            order: Vec::new(),
            node: 0,
            state: DVector::zeros(dim),
            mode: Mode::new(0),
            matrix,
            inequalities,
            sample: DVector::zeros(dim),
            is_nominal: true,
            faces: Vec::new(),
            class,
        }
    }
}

/// Limit of the beginnings of orders that are looked at; six guards have 1,957.
const MOST_PATHS: usize = 50_000;

/// A path of the search: its node and the crossings that led there.
struct Path {
    node: usize,
    /// A guard that ends the run was crossed last.
    stopped: bool,
    map: DMatrix<f64>,
    rows: Vec<DVector<f64>>,
    faces: Vec<DVector<f64>>,
    order: Vec<Guard>,
    /// For each guard the row by which its crossing was found later than the one taken last.
    waiting: Vec<(Guard, DVector<f64>)>,
}

/// Finds all branches of the corner at which `explorer` stands; `rounding` is what was measured of
/// their maps.
pub(crate) fn branches(
    context: Context<'_>,
    explorer: &mut Explorer,
    rounding: Option<&DMatrix<f64>>,
    is_exit: impl Fn(&Explorer, Passed) -> bool,
) -> Result<Vec<Branch>, NoDerivative> {
    let dim = explorer.graph().dim();
    let mut found: Vec<Branch> = Vec::new();
    // Depth first; the last pushed is looked at first, so members are pushed in reverse.
    let mut open = vec![Path::start(explorer.start())];
    let mut looked_at = 0;
    while let Some(path) = open.pop() {
        looked_at += 1;
        context.interrupt.check()?;
        let graph = explorer.graph();
        if looked_at > MOST_PATHS {
            return Err(graph.too_large("beginnings of orders", MOST_PATHS));
        }
        let live = path.live(context, graph)?;
        if !live.is_empty() {
            extend(context, explorer, &path, &live, &mut open)?;
            continue;
        }
        let rows = matrix_of(&path.rows, dim);
        let Some(sample) = cone::inside(&rows) else {
            continue;
        };
        if (found.len() + 1) * dim * dim > MOST_NUMBERS {
            return Err(graph.too_large("numbers in the maps of its orders", MOST_NUMBERS));
        }
        let (node, stopped) = (path.node, path.stopped);
        let is_nominal = is_exit(explorer, Passed { node, stopped });
        found.push(path.end(graph.node(node), rows, sample, is_nominal));
    }
    let scale = explorer.map_scale(rounding);
    for i in 0..found.len() {
        let twin = found[..i]
            .iter()
            .find(|r| scale.agree(&r.matrix, &found[i].matrix));
        found[i].class = twin.map_or(i, |r| r.class);
    }
    Ok(found)
}

impl Path {
    fn start(map: DMatrix<f64>) -> Self {
        Self {
            node: 0,
            stopped: false,
            map,
            rows: Vec::new(),
            faces: Vec::new(),
            order: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// The members of its node that may be crossed next; none where it ends.
    fn live(&self, context: Context<'_>, graph: &CornerGraph) -> Result<Vec<usize>, NoDerivative> {
        if let Some(&last) = self.order.last()
            && self.order.len() > graph.most_met()
        {
            return Err(graph.no_end(self.node, last));
        }
        if self.stopped {
            return Ok(Vec::new());
        }
        graph.check_live(context.system, self.node)?;
        let members = 0..graph.members(self.node).len();
        let live = members.filter(|&m| graph.is_live(context.system, self.node, m));
        Ok(live.collect())
    }

    /// The branch of a path that ends at `node`.
    fn end(
        self,
        node: Node<'_>,
        inequalities: DMatrix<f64>,
        sample: DVector<f64>,
        is_nominal: bool,
    ) -> Branch {
        Branch {
            order: self.order,
            node: self.node,
            state: DVector::from_column_slice(node.x),
            mode: node.mode.clone(),
            matrix: self.map,
            inequalities,
            sample,
            is_nominal,
            faces: self.faces,
            class: 0,
        }
    }
}

/// Adds the paths that go on from `path` across each of the members `live` of its node.
fn extend(
    context: Context<'_>,
    explorer: &mut Explorer,
    path: &Path,
    live: &[usize],
    open: &mut Vec<Path>,
) -> Result<(), NoDerivative> {
    let shift = |&m: &usize| explorer.graph().shift_row(path.node, m, &path.map);
    let shifts: Vec<DVector<f64>> = live.iter().map(shift).collect();
    for chosen in (0..live.len()).rev() {
        open.extend(advance(context, explorer, path, live, &shifts, chosen)?);
    }
    Ok(())
}

/// The path that takes member `live[chosen]` next; none when no direction does.
fn advance(
    context: Context<'_>,
    explorer: &mut Explorer,
    path: &Path,
    live: &[usize],
    shifts: &[DVector<f64>],
    chosen: usize,
) -> Result<Option<Path>, NoDerivative> {
    let guard_of = |m: usize| explorer.graph().members(path.node)[m].guard;
    let guard = guard_of(live[chosen]);
    let (mut rows, mut waiting) = (path.rows.clone(), Vec::new());
    let size = shifts
        .iter()
        .map(nalgebra::Matrix::amax)
        .fold(0.0, f64::max);
    for other in 0..live.len() {
        if other == chosen {
            continue;
        }
        let [own, later] = [chosen, other].map(|k| &shifts[k]);
        let row = later.zip_map(own, |a, b| cone::entry(a - b, a.abs() + b.abs()));
        waiting.push((guard_of(live[other]), row.clone()));
        // Two guards that all directions meet at once set no bound.
        if row.amax() > 1e-12 * size {
            rows.push(row);
        }
    }
    if rows.len() > path.rows.len() && cone::inside(&matrix_of(&rows, shifts[0].len())).is_none() {
        return Ok(None);
    }
    let mut map = path.map.clone();
    let tau = &shifts[chosen];
    let edge = explorer.carry_map(
        context,
        (path.node, live[chosen]),
        Behind::Members,
        tau,
        &mut map,
    )?;
    let graph = explorer.graph();
    let (node, stopped) = (graph.edge(edge).to, graph.edge(edge).stops);
    if stopped {
        graph.to_event(node, tau.as_slice(), map.as_mut_slice());
    }
    let mut faces = path.faces.clone();
    if let Some((_, face)) = path.waiting.iter().find(|(other, _)| *other == guard) {
        faces.push(face.clone());
    } else if !path.order.is_empty() {
        // The last reset brought this guard up, so there is no pair to swap.
        faces.push(DVector::from_element(tau.len(), f64::NAN));
    }
    let mut order = path.order.clone();
    order.push(guard);
    Ok(Some(Path {
        node,
        stopped,
        map,
        rows,
        faces,
        order,
        waiting,
    }))
}

fn matrix_of(rows: &[DVector<f64>], dim: usize) -> DMatrix<f64> {
    DMatrix::from_fn(rows.len(), dim, |r, j| rows[r][j])
}

/// True when branches that share a face agree on it: their maps may differ only across it.
pub(crate) fn is_continuous(branches: &[Branch], scale: &MapScale) -> bool {
    branches.iter().all(|a| {
        (0..a.faces.len()).all(|i| {
            let mut swapped = a.order.clone();
            swapped.swap(i, i + 1);
            let Some(b) = branches.iter().find(|b| b.order == swapped) else {
                return true;
            };
            if a.faces[i].iter().any(|f| f.is_nan()) {
                return true;
            }
            // Guards that are always met at once have no face, and must have one map.
            scale.agree_on(&a.faces[i], &a.matrix, &b.matrix)
        })
    })
}

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
    /// The cones on which it holds, one for each order of the guards that has this matrix and this
    /// state.
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
