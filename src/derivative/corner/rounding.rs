//! The rounding of the outcomes and the maps of a corner. It is measured, since a
//! model does not declare how many differences its numbers contain.
//!
//! The corner is passed in a few orders from points so close to each other that smooth functions
//! are straight lines between them. Deviations are rounding, whatever their cause: steps of
//! differences, sizes of values, resets that amplify it. One part of the rounding is the same at
//! all these points and is added at random: a difference of a reset along `dx` with step `s` rounds
//! the arguments `x ± s dx`, and so component `i` of its outcome, by `ε |x_i|/s` and no less, which
//! depends on the last bits of `s dx` alone (Monte Carlo arithmetic: D. S. Parker, UCLA CSD-970002,
//! 1997). With `f_0 … f_4` at equal distances and second differences `Δ²`, the standard deviation
//! of the rounding of `f` is estimated by `σ² = (1/6) · mean (Δ² f_k)²` (J. J. Moré & S. M. Wild,
//! "Estimating computational noise", SIAM J. Sci. Comput. 33 (2011) 1292, section 2).

use crate::random::{symmetric, word};
use nalgebra::{DMatrix, DVector};

use super::explorer::Explorer;
use super::graph::{CornerPoint, Node};
use crate::derivative::context::Context;
use crate::ode::difference::step_along;
use crate::{Guard, NoDerivative};

/// Least distance of two points, as a part of each component: enough to change the rounding of
/// everything computed from it.
const APART: f64 = 64.0 * f64::EPSILON;
/// Components smaller than this are shifted as if they were of this size, as differences do.
const LEAST: f64 = 6e-6;
/// Distance, in standard deviations, up to which two numbers count as equal.
const SAFETY: f64 = 10.0;
/// The number of passages of a corner from five points.
const COURSES: usize = 6;
/// Passages of a corner of more than `MANY` guards, likewise.
const FEW_COURSES: usize = 2;
const MANY: usize = 12;

/// The rounding of each component of the states after the crossings of a corner; zero where orders
/// are refused.
///
/// # Errors
/// [`Stop::Interrupted`] only.
pub(crate) fn of_states(
    context: Context<'_>,
    corner: &CornerPoint,
) -> Result<Vec<f64>, NoDerivative> {
    let mut rounding = vec![0.0f64; corner.x.len()];
    for (order, apart) in courses(&corner.guards) {
        let passages = from_neighbours(context, corner, &order, apart, None);
        context.interrupt.check()?;
        let Some(samples) = passages else { continue };
        let states = deviations(&samples.map(|passage| passage.states));
        for (i, deviation) in states.into_iter().enumerate() {
            let own = &mut rounding[i % corner.x.len()];
            *own = own.max(SAFETY * deviation);
        }
    }
    Ok(rounding)
}

/// The rounding of each entry of the maps of a corner; zero where orders are refused.
///
/// # Errors
/// [`Stop::Interrupted`] only.
pub(crate) fn of_maps(
    context: Context<'_>,
    corner: &CornerPoint,
) -> Result<DMatrix<f64>, NoDerivative> {
    let dim = corner.x.len();
    let mut rounding = DMatrix::zeros(dim, dim);
    for (course, (order, apart)) in (0..).zip(courses(&corner.guards)) {
        let passages = from_neighbours(context, corner, &order, apart, Some(course));
        context.interrupt.check()?;
        let Some(samples) = passages else { continue };
        let maps = deviations(&samples.map(|passage| passage.map.as_slice().to_vec()));
        for (own, deviation) in rounding.iter_mut().zip(maps) {
            *own = f64::max(*own, SAFETY * deviation);
        }
    }
    Ok(rounding)
}

/// Orders in which a corner is passed to see its rounding, each guard early in one and late in
/// another, with distances of the points in parts of components. Points at equal distances may
/// still round alike: the rounding of a multiple of a coordinate is as regular as the points are,
/// and that of a difference stays the same over many of them. So distances grow from course to
/// course, and each order is repeated for few guards only.
fn courses(guards: &[Guard]) -> Vec<(Vec<Guard>, f64)> {
    let orders = orders(guards);
    let count = if guards.len() > MANY {
        FEW_COURSES
    } else {
        COURSES
    };
    // The square of the golden ratio: its powers are far from multiples of each other.
    let apart = |k: i32| APART * 2.618_033_988_749_895_f64.powi(k);
    let each = (0..).zip(orders.iter().cycle().take(count));
    each.map(|(k, order)| (order.clone(), apart(k))).collect()
}

/// Some orders of guards: each is early in one and late in another.
fn orders(guards: &[Guard]) -> Vec<Vec<Guard>> {
    let n = guards.len();
    let most = if n > MANY { FEW_COURSES } else { COURSES };
    let mut orders: Vec<Vec<Guard>> = Vec::new();
    for turn in 0..n.min(most) {
        let mut order = guards.to_vec();
        order.rotate_left(turn);
        let reverse = order.iter().rev().copied().collect();
        for order in [order, reverse] {
            if orders.len() < most && !orders.contains(&order) {
                orders.push(order);
            }
        }
    }
    orders
}

/// The passage of a corner from one point.
struct Passage {
    order: Vec<Guard>,
    /// The state behind each crossing, one after the other.
    states: Vec<f64>,
    map: DMatrix<f64>,
}

/// The passages from five points close to a corner, with their maps for the numbers that are drawn
/// for a `course`; none when one of them is refused or takes another order.
fn from_neighbours(
    context: Context<'_>,
    corner: &CornerPoint,
    order: &[Guard],
    apart: f64,
    course: Option<u64>,
) -> Option<[Passage; 5]> {
    let mut explorer = Explorer::new(corner.x.len(), &corner.mode);
    let mut passages = Vec::with_capacity(5);
    for (sample, j) in (0..).zip([-2.0, -1.0, 0.0, 1.0, 2.0]) {
        let mut point = corner.clone();
        for (i, x) in point.x.iter_mut().enumerate() {
            let side = if i.is_multiple_of(2) { 1.0 } else { -1.0 };
            *x += j * side * apart * x.abs().max(LEAST);
        }
        explorer.begin(context, &point).ok()?;
        let draw = course.map(|course| Draw::new(5 * course + sample));
        let passage = pass_in_order(context, &mut explorer, order, draw).ok()?;
        passages.push(passage);
    }
    let passages: [Passage; 5] = passages.try_into().ok()?;
    let together = passages.iter().all(|p| p.order == passages[0].order);
    together.then_some(passages)
}

/// Passes the corner at which `explorer` stands, always across the guard that comes first in
/// `order`. With a `draw`, maps are computed and random rounding is added to them.
fn pass_in_order(
    context: Context<'_>,
    explorer: &mut Explorer,
    order: &[Guard],
    mut draw: Option<Draw>,
) -> Result<Passage, NoDerivative> {
    let mut passage = Passage {
        order: Vec::with_capacity(order.len()),
        states: Vec::new(),
        map: explorer.start(),
    };
    let rank = |guard: Guard| order.iter().position(|g| g.event == guard.event);
    let (mut node, mut stopped) = (0, false);
    while !stopped {
        let graph = explorer.graph();
        graph.check_live(context.system, node)?;
        let members = graph.members(node);
        let Some(m) = (0..members.len())
            .filter(|&m| graph.is_live(context.system, node, m))
            .min_by_key(|&m| rank(members[m].guard))
        else {
            break;
        };
        let guard = members[m].guard;
        if passage.order.len() >= graph.most_met() {
            return Err(graph.no_end(node, guard));
        }
        let edge = if let Some(draw) = &mut draw {
            let before = passage.map.clone();
            let (edge, tau) = explorer.cross(context, (node, m), &mut passage.map)?;
            let graph = explorer.graph();
            if graph.edge(edge).by_difference {
                let (t, node) = (graph.t(), graph.node(node));
                round(&mut passage.map, draw, t, node, &before, &tau);
            }
            edge
        } else {
            explorer.edge(context, node, m)?
        };
        let graph = explorer.graph();
        passage.order.push(guard);
        node = graph.edge(edge).to;
        stopped = graph.edge(edge).stops;
        passage.states.extend_from_slice(graph.node(node).x);
    }
    Ok(passage)
}

/// Adds to the map after a reset the rounding of the arguments of its differences: of the
/// difference along the field, which enters each column with the factor `tau`, and of those along
/// the columns `before` the reset.
fn round(
    map: &mut DMatrix<f64>,
    draw: &mut Draw,
    t: f64,
    node: Node<'_>,
    before: &DMatrix<f64>,
    tau: &DVector<f64>,
) {
    let x = node.x;
    let along_field = f64::EPSILON / step_along(t, x, 1.0, node.field);
    let field: Vec<f64> = x.iter().map(|x| draw.next() * along_field * x).collect();
    for (j, mut column) in map.column_iter_mut().enumerate() {
        let along_column = f64::EPSILON / step_along(t, x, 0.0, before.column(j).as_slice());
        for i in 0..x.len() {
            column[i] += tau[j] * field[i] + draw.next() * along_column * x[i];
        }
    }
}

/// Numbers in [−1, 1) that depend on the seed alone.
struct Draw {
    seed: u64,
    index: u64,
}

impl Draw {
    fn new(seed: u64) -> Self {
        Self { seed, index: 0 }
    }

    fn next(&mut self) -> f64 {
        self.index += 1;
        symmetric(word(self.seed, self.index))
    }
}

/// The standard deviation of the rounding of each of several numbers, from their values at five
/// points.
fn deviations(samples: &[Vec<f64>; 5]) -> Vec<f64> {
    let bend = |i: usize, k: usize| samples[k][i] - 2.0 * samples[k + 1][i] + samples[k + 2][i];
    (0..samples[0].len())
        .map(|i| {
            let sum: f64 = (0..3).map(|k| bend(i, k).powi(2)).sum();
            let deviation = (sum / 18.0).sqrt();
            if deviation.is_finite() {
                deviation
            } else {
                0.0
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_no_rounding_and_noise_has_its_own() {
        let line: [Vec<f64>; 5] = std::array::from_fn(|k| vec![3.0 + 0.5 * k as f64, -1.0]);
        assert_eq!(deviations(&line), [0.0, 0.0]);
        // Uniform on ±1: a standard deviation of 0.58, known to a factor of three from three second
        // differences.
        let mut draw = Draw::new(1);
        let mut too_small = 0;
        for _ in 0..1000 {
            let noise = std::array::from_fn(|k| vec![7.0 * k as f64 + draw.next()]);
            let found = deviations(&noise)[0];
            assert!(found < 3.0 * 0.58, "{found}");
            too_small += usize::from(SAFETY * found < 1.0);
        }
        assert!(too_small < 10, "{too_small}");
        let infinite = [
            vec![0.0],
            vec![f64::INFINITY],
            vec![0.0],
            vec![0.0],
            vec![0.0],
        ];
        assert_eq!(deviations(&infinite), [0.0]);
    }

    #[test]
    fn every_guard_is_first_in_some_order_of_a_few() {
        for n in 1..=4 {
            let guards: Vec<Guard> = (0..n).map(Guard::rising).collect();
            let found = orders(&guards);
            assert!(found.len() <= COURSES);
            for guard in &guards {
                let early = found.iter().any(|order| order[0] == *guard);
                let late = found.iter().any(|order| order[n - 1] == *guard);
                assert!(early && late, "{n}: {found:?}");
            }
        }
        let many: Vec<Guard> = (0..13).map(Guard::rising).collect();
        assert_eq!(orders(&many).len(), FEW_COURSES);
    }
}
