//! Declarations of models about their event functions, and the steps in which no guard can be
//! passed by these: nothing is sampled within such steps.

use super::factors::{DECLARED, UNMOVED};
use super::levels::Levels;
use super::window::{Arms, Samples};
use crate::EventFunction;
use crate::hybrid::context::{Context, System};
use crate::hybrid::options::{Resolution, Settings};
use crate::hybrid::table::{GuardTable, State};
use crate::ode::{Buffer, greater, lesser};

/// Comparison of a step with the declared reach of all guards.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Reach {
    /// It does not.
    Out,
    /// It may; from the end of the step that is farther from its surface, no guard within reach comes
    /// there in less than so long (s).
    In(f64),
}

impl Reach {
    /// This reach with one more guard, which cannot come to its surface for so long.
    fn or_in(self, free: f64) -> Self {
        match self {
            Self::In(before) => Self::In(lesser(before, free)),
            Self::Out => Self::In(free),
        }
    }
}

impl<B: Buffer> Samples<B> {
    /// True when all event functions that are watched declare how they change, so that steps may be
    /// passed over. With [`Resolution::Samples`](crate::Resolution::Samples) none is.
    pub(super) fn are_declared<S: EventFunction + ?Sized>(
        &mut self,
        system: &S,
        settings: &Settings,
        guards: &GuardTable<B>,
    ) -> bool {
        let max_rate = |k: usize| system.max_rate(k).unwrap_or(f64::INFINITY);
        let is_declared = |k: usize| {
            let is_bounded = system.is_affine(k) || max_rate(k) < f64::INFINITY;
            is_bounded || !guards.kept[k].watch.is_any()
        };
        let count = guards.h.len();
        let are_declared =
            settings.resolution == Resolution::Adaptive && (0..count).all(is_declared);
        self.max_rates.clear();
        if are_declared && (0..count).any(|k| max_rate(k) < f64::INFINITY) {
            self.max_rates.extend((0..count).map(max_rate));
        }
        are_declared
    }

    /// Tests whether the step just made, of length `step`, comes within reach of a guard. Evaluates
    /// event functions at its end.
    pub(super) fn reach<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        step: f64,
    ) -> Reach {
        let end = &mut self.h[2];
        context.all_events(state.t + step, state.ode.state(), &state.mode, end);
        let levels = Levels::new(context.settings, None);
        let has_rates = !self.max_rates.is_empty();
        if has_rates {
            self.off_by_rates(state, guards, step, levels);
        }
        let (mut none, mut total, mut reach) = (true, 0.0, Reach::Out);
        for k in 0..state.count() {
            let (arming, end) = (guards.arming[k], self.h[2][k]);
            total += end;
            if !arming.is_armed() {
                continue;
            }
            none = false;
            let is_affine = context.system.is_affine(k);
            let mut is_out = has_rates && self.far[k] > 0.0;
            if !is_out && is_affine && reach == Reach::Out {
                let start = guards.h[k];
                let off = off_surface(context, state, guards, k, step, start, end);
                is_out = off > -levels.border(k);
            }
            if is_out && arming.is_ready() {
                guards.outside[k] = true;
            } else {
                let ways = [guards.h[k], end].map(|h| -guards.sign[k] * h);
                let free = |most: &f64| greater(ways[0], ways[1]) / most;
                let most = self.max_rates[..].get(k).filter(|_| !is_affine);
                reach = reach.or_in(most.map_or(f64::INFINITY, free));
            }
        }
        // It is so where all values at the end are.
        if !f64::is_finite(total) {
            reach = reach.or_in(f64::INFINITY);
        }
        if reach != Reach::Out {
            self.knows_end = true;
            return reach;
        }
        self.arms = Arms {
            none,
            waiting: false,
        };
        self.apart = step;
        Reach::Out
    }

    /// Writes the distance of each guard from the level at which it ends a step, by its largest
    /// rate and beyond the error, without a branch: nowhere in the step is it farther from both
    /// ends than half of it. One that was faster is not believed.
    fn off_by_rates(
        &mut self,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        step: f64,
        levels: Levels<'_>,
    ) {
        let n = state.count();
        let error = state.error * guards.spreads.grown(state);
        let (h, sign, zero) = (&guards.h[..n], &guards.sign[..n], &guards.zero[..n]);
        let most_spread = &guards.spreads.most[..n];
        let (end, max_rates) = (&self.h[2][..n], &self.max_rates[..n]);
        let off = &mut self.far[..n];
        for k in 0..n {
            let (moved, most) = ((end[k] - h[k]).abs(), step * max_rates[k]);
            let least = lesser(-sign[k] * h[k], -sign[k] * end[k]);
            let out = least - 0.5 * most - error * most_spread[k];
            let is_so = moved <= most * (1.0 + DECLARED) + UNMOVED * zero[k];
            off[k] = if is_so { out } else { f64::NEG_INFINITY };
        }
        if !levels.are_zero() {
            for (k, off) in off.iter_mut().enumerate() {
                *off += levels.border(k);
            }
        }
    }
}

/// The distance of affine guard `k` from its surface in a step, beyond the error (`u_k`), by its
/// values at the start and the end; not a number where its row is not written, or does not lead to
/// its end.
///
/// It is `g₀ + θ(g₁ + (1−θ)(g₂ + θ(g₃ + (1−θ)g₄)))`, with the row times the coefficients of the
/// state: `θ(1−θ)` is at most a quarter, and what it multiplies lies between `g₂` and `g₂ + g₃` but
/// for a quarter of `g₄`.
fn off_surface<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    state: &State<B>,
    guards: &mut GuardTable<B>,
    k: usize,
    step: f64,
    start: f64,
    end: f64,
) -> f64 {
    let sign = guards.sign[k];
    let (first, last) = (-sign * start, -sign * end);
    let least = lesser(first, last);
    if least <= 0.0 {
        return least;
    }
    let row = guards.row.get_mut();
    let Some(moving) = context.gradient(k, state.t, state.x.get(), &state.mode, row) else {
        return f64::NAN;
    };
    let [_, c1, c2, c3, c4] = state.ode.interpolant().coefficients;
    let n = row.len();
    let (c1, c2, c3, c4) = (&c1[..n], &c2[..n], &c3[..n], &c4[..n]);
    let allowed = &state.allowed.get()[..n];
    let (mut g1, mut g2, mut g3, mut g4) = (moving * step, 0.0, 0.0, 0.0);
    // Sizes of the state may have grown since the error of this guard was asked for.
    let mut spread = 0.0;
    for i in 0..n {
        g1 += row[i] * c1[i];
        g2 += row[i] * c2[i];
        g3 += row[i] * c3[i];
        g4 += row[i] * c4[i];
        spread += row[i].abs() * allowed[i];
    }
    let (g1, inner) = (sign * g1, greater(sign * g2, sign * (g2 + g3)));
    let closer = 0.25 * greater(inner + 0.25 * greater(sign * g4, 0.0), 0.0);
    let rounding = DECLARED * (first + g1.abs()) + UNMOVED * guards.zero[k];
    if (first - g1 - last).abs() <= rounding {
        least - closer - state.error * greater(guards.spreads.most[k], spread)
    } else {
        f64::NAN
    }
}
