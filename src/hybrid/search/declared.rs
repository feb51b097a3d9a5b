//! What models declare of their event functions, and the steps in which no guard can be passed by
//! that: nothing is sampled within them.

use super::window::{Arms, Samples, greater, lesser};
use crate::hybrid::context::{Context, System};
use crate::hybrid::options::{Resolution, Settings};
use crate::hybrid::table::{GuardTable, State};
use crate::hybrid::{EventFunction, Projection};
use crate::ode::Buffer;

/// Whether a step comes within reach of a guard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reach {
    /// It does not.
    Out,
    /// It may; no guard within reach comes to its surface for so long from an end of the step (s).
    In(f64),
}

impl Reach {
    /// The same with a guard that cannot come to its surface for so long.
    fn or_in(self, free: f64) -> Self {
        match self {
            Self::In(before) => Self::In(lesser(before, free)),
            Self::Out => Self::In(free),
        }
    }
}

impl<B: Buffer> Samples<B> {
    /// True when all event functions that are watched declare how they change, so that steps may be
    /// passed over. Where samples are told to be taken at four places of each step, or steps to end
    /// on borders of neighbourhoods, none is.
    pub(super) fn are_declared<S: EventFunction + ?Sized>(
        &mut self,
        (system, settings): (&S, &Settings),
        guards: &GuardTable<B>,
    ) -> bool {
        let may_be = settings.resolution == Resolution::Adaptive
            && !matches!(settings.projection, Projection::Eps { .. });
        let is_declared = |k: usize| system.is_affine(k) || system.max_rate(k).is_some();
        let mut events = 0..guards.h.len();
        let are_declared =
            may_be && events.all(|k| is_declared(k) || !guards.kept[k].watch.is_any());
        self.max_rates.clear();
        if are_declared {
            let max_rate = |k| system.max_rate(k).unwrap_or(f64::INFINITY);
            self.max_rates.extend((0..guards.h.len()).map(max_rate));
        }
        are_declared
    }

    /// Whether the step just made, of length `step`, comes within reach of a guard. Evaluates event
    /// functions at its end.
    pub(super) fn reach<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        (state, guards): (&State<B>, &mut GuardTable<B>),
        step: f64,
    ) -> Reach {
        let n = state.count();
        let [_, before, end] = &mut self.h;
        context.all_events(state.t + step, state.ode.state(), &state.mode, end);
        // How far each stays off its surface by its largest rate, without a branch: nowhere is it
        // farther from both ends than half of the step.
        let (h, sign, most_spread) = (&guards.h[..n], &guards.sign[..n], &guards.spreads.most[..n]);
        let (end, max_rates, off) = (&end[..n], &self.max_rates[..n], &mut self.far[..n]);
        for k in 0..n {
            let ways = [h[k], end[k]].map(|h| -sign[k] * h);
            off[k] =
                lesser(ways[0], ways[1]) - 0.5 * step * max_rates[k] - state.error * most_spread[k];
        }
        let (mut none, mut reach) = (true, Reach::Out);
        for k in 0..n {
            let arming = guards.arming[k];
            none &= !arming.is_armed();
            if !arming.is_armed() || (off[k] > 0.0 && arming.is_ready()) {
                guards.outside[k] |= arming.is_armed();
                continue;
            }
            let ways = [guards.h[k], end[k]].map(|h| -guards.sign[k] * h);
            let error = state.error * guards.spreads.most[k];
            let is_affine = context.system.is_affine(k);
            let may_be_out = is_affine && reach == Reach::Out && arming.is_ready();
            if may_be_out
                && lesser(ways[0], ways[1]) > error
                && off_surface(context, (state, guards), k, (ways, step)) > error
            {
                guards.outside[k] = true;
            } else {
                let free = greater(ways[0], ways[1]) / max_rates[k];
                reach = reach.or_in(if is_affine { f64::INFINITY } else { free });
            }
        }
        if reach != Reach::Out {
            self.knows_end = true;
            return reach;
        }
        self.arms = Arms {
            none,
            waiting: false,
        };
        // For the slopes that are handed over.
        before.copy_from_slice(&guards.h);
        self.apart = step;
        Reach::Out
    }
}

/// How far an affine guard stays off its surface in the step, which it starts and ends `ways` before
/// it (`u_k`); not a number where its row is not written.
///
/// It is `g₀ + θ(g₁ + (1−θ)(g₂ + θ(g₃ + (1−θ)g₄)))`, with the row times the coefficients of the
/// state: `θ(1−θ)` is at most a quarter, and what it multiplies lies between `g₂` and `g₂ + g₃` but
/// for a quarter of `g₄`.
fn off_surface<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    (state, guards): (&State<B>, &mut GuardTable<B>),
    k: usize,
    (ways, step): ([f64; 2], f64),
) -> f64 {
    let sign = guards.sign[k];
    let row = guards.row.get_mut();
    let Some(moving) = context.gradient(k, state.t, state.x.get(), &state.mode, row) else {
        return f64::NAN;
    };
    let [_, c1, c2, c3, c4] = state.ode.interpolant().coefficients;
    let along = |c: &[f64]| sign * row.iter().zip(c).map(|(a, c)| a * c).sum::<f64>();
    let (g2, g4) = (along(c2), along(c4));
    let closer = 0.25 * greater(greater(g2, g2 + along(c3)) + 0.25 * greater(g4, 0.0), 0.0);
    // Where it ends by its row, should the model have corrected the state, or not be affine.
    let end = ways[0] - along(c1) - sign * moving * step;
    lesser(lesser(ways[0], ways[1]), end) - closer
}
