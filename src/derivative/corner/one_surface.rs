//! Guards with one and the same surface: every neighbour of a corner crosses them together, so that their reset is that
//! of all of them, in every order.

use super::graph::CornerGraph;
use crate::derivative::context::Context;

/// Rows are parallel, with rates alike, up to this part of their largest entry: they may be differences.
const PARALLEL: f64 = 1e-7;
/// Places beside the corner at which functions of one surface are zero together, as a part of the state.
const BESIDE: f64 = 1e-3;
/// Number of these places.
const PLACES: u8 = 3;
/// Rounding of event functions, relative to their terms. Surfaces that only touch each other part by more.
const ROUNDING: f64 = 256.0 * f64::EPSILON;
/// Steps of Newton's method along the field onto the surface of the first.
const STEPS: usize = 6;

impl CornerGraph {
    /// True where members `m` and `k` of a node have one surface: their rows are parallel, and at three places beside
    /// the corner both are zero together. At most 24 evaluations of two event functions.
    pub(super) fn share_surface(
        &self,
        context: Context<'_>,
        node: usize,
        m: usize,
        k: usize,
    ) -> bool {
        let (first, second) = (&self.members(node)[m], &self.members(node)[k]);
        let rows = self.row_of(first).iter().zip(self.row_of(second));
        let pairs = rows.map(|(a, b)| [a * second.rate, b * first.rate]);
        let [mut off, mut largest]: [f64; 2] = [0.0; 2];
        for [a, b] in pairs {
            off = off.max((a - b).abs());
            largest = largest.max(a.abs());
        }
        off <= PARALLEL * largest
            && (0..PLACES).all(|place| self.are_zero_together(context, node, [m, k], place))
    }

    fn are_zero_together(
        &self,
        context: Context<'_>,
        node: usize,
        [m, k]: [usize; 2],
        place: u8,
    ) -> bool {
        let (system, at, t) = (context.system, self.node(node), self.t());
        let [m, k] = [m, k].map(|i| self.members(node)[i]);
        let away: Vec<f64> = (0..at.x.len())
            .map(|i| {
                let side = 1.0 - 0.7 * ((i + 2 * usize::from(place)) % 3) as f64;
                BESIDE * side * at.x[i].abs().max(context.size(i))
            })
            .collect();
        let (mut since, mut x) = (0.0, at.x.to_vec());
        let put = |since: f64, x: &mut [f64]| {
            for (i, x) in x.iter_mut().enumerate() {
                *x = at.x[i] + away[i] + since * at.field[i];
            }
        };
        put(since, &mut x);
        for _ in 0..STEPS {
            since -= system.event(m.guard.event, t + since, &x, at.mode) / m.rate;
            put(since, &mut x);
        }
        [m, k].iter().all(|member| {
            let value = system.event(member.guard.event, t + since, &x, at.mode);
            let terms = x
                .iter()
                .zip(self.row_of(member))
                .map(|(x, row)| (x * row).abs());
            let rounding = ROUNDING * (t.abs() * member.rate.abs() + terms.sum::<f64>());
            value.abs() <= rounding
        })
    }
}
