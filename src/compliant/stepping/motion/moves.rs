//! Moves of coordinates by velocities, `q = q₀ + s N(q̄) v`.

use crate::compliant::stepping::model::SteppedSystem;
use crate::mechanics::configuration::rate;

/// Limit of the rounds that determine `q_θ`, where `N` depends on it. Each gains an order of the
/// step.
const ROUNDS: usize = 4;

/// `out = (1 − w) a + w b`, exact at the ends.
pub(super) fn blend(a: &[f64], b: &[f64], w: f64, out: &mut [f64]) {
    for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
        *out = if w >= 1.0 { *b } else { (1.0 - w) * a + w * b };
    }
}

/// A move of coordinates: `q = q₀ + s N(q̄) v` with `q̄ = q₀ + part (q − q₀)`.
#[derive(Clone, Copy)]
pub(super) struct Move<'a> {
    pub(super) q0: &'a [f64],
    pub(super) v: &'a [f64],
    pub(super) s: f64,
    pub(super) part: f64,
}

impl Move<'_> {
    /// Writes `q`; `identity` says that `N` is one, and `work` takes twice the coordinates.
    pub(super) fn write(
        &self,
        system: &dyn SteppedSystem,
        identity: bool,
        q: &mut [f64],
        work: &mut [f64],
    ) {
        let Self { q0, v, s, part } = *self;
        q.copy_from_slice(q0);
        if identity {
            for (q, v) in q.iter_mut().zip(v) {
                *q += s * v;
            }
            return;
        }
        let (rates, middle) = work.split_at_mut(q0.len());
        middle.copy_from_slice(q0);
        let rounds = if part * s == 0.0 { 1 } else { ROUNDS };
        for _ in 0..rounds {
            rate(system, middle, v, rates);
            for k in 0..q0.len() {
                q[k] = q0[k] + s * rates[k];
                middle[k] = q0[k] + part * s * rates[k];
            }
        }
    }
}
