//! All orders in which a corner can be passed, each with the cone of directions that take it and
//! its linear map.

use nalgebra::{DMatrix, DVector};

use super::classify::MOST_NUMBERS;
use super::cone;
use super::follow::Passed;
use super::graph::CornerGraph;
use super::map_scale::MapScale;
use crate::derivative::repeat::Context;
use crate::{EventFunction, Flow, Guard, Mode, NoDerivative};

/// The directions that meet the guards of a corner in one order, and what becomes of them: one
/// linear piece.
#[derive(Clone, Debug)]
pub struct Region {
    /// The guards in that order; guards that a reset turns the state away from are missing.
    pub order: Vec<Guard>,
    /// The state just behind the corner, for starts that are displaced by as little as you please
    /// within this region.
    pub state: DVector<f64>,
    /// The mode there.
    pub mode: Mode,
    /// The map from a displacement at fixed time just before the corner to one just after it,
    /// `d × d`: the product of the saltation matrices along the order.
    pub matrix: DMatrix<f64>,
    /// Rows `a` with `a · δ ≥ 0` for each displacement `δ` of this region.
    pub inequalities: DMatrix<f64>,
    /// A unit displacement well inside.
    pub sample: DVector<f64>,
    /// True when the run itself, which met all guards at once, went on in this state and mode.
    pub is_nominal: bool,
    /// For each pair of neighbours in the order the row that is zero where they are met at once.
    pub(crate) faces: Vec<DVector<f64>>,
    /// Regions with the same map have the same number.
    pub(crate) class: usize,
}

/// Most beginnings of orders that are looked at; six guards have 1,957.
const MOST_PATHS: usize = 50_000;

/// The state of the search: where it stands and how it came there.
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

/// Finds all regions of the corner at which `graph` stands; `rounding` is what was measured of
/// their maps.
pub(crate) fn regions<S: Flow + EventFunction>(
    context: Context<'_, S>,
    graph: &mut CornerGraph,
    rounding: Option<&DMatrix<f64>>,
    is_exit: impl Fn(&CornerGraph, Passed) -> bool,
) -> Result<Vec<Region>, NoDerivative> {
    let dim = graph.node(0).x.len();
    let mut found: Vec<Region> = Vec::new();
    let mut open = vec![Path {
        node: 0,
        stopped: false,
        map: DMatrix::identity(dim, dim),
        rows: Vec::new(),
        faces: Vec::new(),
        order: Vec::new(),
        waiting: Vec::new(),
    }];
    // Depth first; the last pushed is looked at first, so members are pushed in reverse.
    let mut looked_at = 0;
    while let Some(path) = open.pop() {
        looked_at += 1;
        context.interrupt.check()?;
        if looked_at > MOST_PATHS {
            return Err(graph.too_large("beginnings of orders", MOST_PATHS));
        }
        if let Some(&last) = path.order.last()
            && path.order.len() > graph.most_met()
        {
            return Err(graph.no_end(path.node, last));
        }
        let members = graph.node(path.node).members.len();
        let live: Vec<usize> = (0..members)
            .filter(|&m| graph.is_live(context.system, path.node, m))
            .collect();
        let stopped = path.stopped;
        if !stopped {
            graph.check_live(context.system, path.node)?;
        }
        if live.is_empty() || stopped {
            let rows = matrix_of(&path.rows, dim);
            let Some(sample) = cone::inside(&rows) else {
                continue;
            };
            if (found.len() + 1) * dim * dim > MOST_NUMBERS {
                return Err(graph.too_large("numbers in the maps of its orders", MOST_NUMBERS));
            }
            let node = graph.node(path.node);
            let passed = Passed {
                node: path.node,
                stopped,
            };
            found.push(Region {
                order: path.order,
                state: DVector::from_column_slice(&node.x),
                mode: node.mode.clone(),
                matrix: path.map,
                inequalities: rows,
                sample,
                is_nominal: is_exit(graph, passed),
                faces: path.faces,
                class: 0,
            });
            continue;
        }
        let shifts: Vec<DVector<f64>> = live
            .iter()
            .map(|&m| shift_row(graph, path.node, m, &path.map))
            .collect();
        for chosen in (0..live.len()).rev() {
            open.extend(advance(context, graph, &path, &live, &shifts, chosen)?);
        }
    }
    let scale = MapScale::of(graph, rounding);
    for i in 0..found.len() {
        let twin = found[..i]
            .iter()
            .find(|r| scale.agree(&r.matrix, &found[i].matrix));
        found[i].class = twin.map_or(i, |r| r.class);
    }
    Ok(found)
}

/// The path that takes member `live[chosen]` next; none when no direction does.
fn advance<S: Flow + EventFunction>(
    context: Context<'_, S>,
    graph: &mut CornerGraph,
    path: &Path,
    live: &[usize],
    shifts: &[DVector<f64>],
    chosen: usize,
) -> Result<Option<Path>, NoDerivative> {
    let guard_of = |graph: &CornerGraph, m: usize| graph.node(path.node).members[m].guard;
    let guard = guard_of(graph, live[chosen]);
    let (mut rows, mut waiting) = (path.rows.clone(), Vec::new());
    let size = shifts
        .iter()
        .map(nalgebra::Matrix::amax)
        .fold(0.0, f64::max);
    for other in 0..live.len() {
        if other == chosen {
            continue;
        }
        let row = &shifts[other] - &shifts[chosen];
        waiting.push((guard_of(graph, live[other]), row.clone()));
        // Two guards that all directions meet at once set no bound.
        if row.amax() > 1e-12 * size {
            rows.push(row);
        }
    }
    if rows.len() > path.rows.len() && cone::inside(&matrix_of(&rows, shifts[0].len())).is_none() {
        return Ok(None);
    }
    let edge = graph.follow(context, path.node, live[chosen])?;
    let mut map = path.map.clone();
    let tau = &shifts[chosen];
    graph.carry(
        context,
        (path.node, edge),
        tau.as_slice(),
        map.as_mut_slice(),
    )?;
    let node = graph.edge(edge).to;
    let stopped = graph.edge(edge).stops;
    if stopped {
        graph.to_event(node, tau.as_slice(), map.as_mut_slice());
    }
    let mut faces = path.faces.clone();
    if let Some((_, face)) = path.waiting.iter().find(|(other, _)| *other == guard) {
        faces.push(face.clone());
    } else if !path.order.is_empty() {
        // It was not waiting but came up by the last reset: there is nothing to swap.
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

/// The shift of the time of member `m` as a row on displacements before the corner, which `map`
/// carries to the node.
pub(crate) fn shift_row(
    graph: &CornerGraph,
    node: usize,
    m: usize,
    map: &DMatrix<f64>,
) -> DVector<f64> {
    DVector::from_fn(map.ncols(), |j, _| {
        graph.shift(node, m, map.column(j).as_slice())
    })
}

fn matrix_of(rows: &[DVector<f64>], dim: usize) -> DMatrix<f64> {
    DMatrix::from_fn(rows.len(), dim, |r, j| rows[r][j])
}

/// True when regions that share a face agree on it: their maps may differ only across it.
pub(crate) fn is_continuous(regions: &[Region], scale: &MapScale) -> bool {
    regions.iter().all(|a| {
        (0..a.faces.len()).all(|i| {
            let mut swapped = a.order.clone();
            swapped.swap(i, i + 1);
            let Some(b) = regions.iter().find(|b| b.order == swapped) else {
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
