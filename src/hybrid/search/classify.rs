//! Class of one guard by the samples of a window: in most cases it is monotonic; else by the curve
//! through them, or, where it starts on its surface, by what it does there.

use super::cubic::{Cubic, FRACTIONS};
use super::curve::{Class, Curve, Origin, Passage};
use super::factors::{FLAT, ON_SURFACE, UNTOLD};
use super::look::Look;
use super::surface::classify_on_surface;
use super::window::Reach;
use crate::Stop;
use crate::hybrid::context::System;
use crate::ode::Buffer;

/// A guard that is monotonic in a window, and starts off its surface.
#[derive(Clone, Copy, Debug)]
pub(super) struct Monotone {
    k: usize,
    level: f64,
    values: [f64; 4],
    cubic: Cubic,
}

impl Monotone {
    /// Its passage, with the place of it by the line between two samples, if it is passed before the
    /// fraction `until` of the window.
    #[inline]
    pub(super) fn earlier_than(&self, until: f64) -> Option<(f64, Passage)> {
        let &Self {
            k,
            level,
            values,
            cubic,
        } = self;
        let i = (1..4).find(|&i| values[i] >= 0.0)?;
        let (before, after) = (FRACTIONS[i - 1], FRACTIONS[i]);
        let at = before + (after - before) * values[i - 1] / (values[i - 1] - values[i]);
        (at < until).then(|| {
            let curve = Curve::along(cubic, k, Origin::Level(level), values, 0.0);
            (at, curve.between(i))
        })
    }
}

/// Monotonic guard, as most are that are not far: nothing else is evaluated of it. None where
/// [`classify`] is to say what the samples mean.
#[inline]
pub(super) fn monotone<S: System + ?Sized, B: Buffer>(
    look: &Look<'_, S, B>,
    k: usize,
) -> Option<Monotone> {
    let own = look.own(k);
    let level = look.level(k, own[0]);
    let values = own.map(|v| v - level);
    let cubic = Cubic::through(values);
    let is_off = || values[0] < -ON_SURFACE * look.zero_over(k, own[3] - own[0], 1.0);
    let is_known = cubic.is_monotonic() && !look.is_tiny && is_off();
    let is_ready = look.guards.arming[k].is_ready();
    (is_known && is_ready).then_some(Monotone {
        k,
        level,
        values,
        cubic,
    })
}

/// Class of guard `k` by the samples of a window; `hovers` if the window before left it on its
/// surface.
#[inline]
pub(super) fn classify<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    k: usize,
    hovers: bool,
) -> Result<Class, Stop> {
    let own = look.own(k);
    let level = look.level(k, own[0]);
    let values = own.map(|v| v - level);
    let (is_ready, cubic) = (look.guards.arming[k].is_ready(), Cubic::through(values));
    // A guard that was always within the error shows nothing by staying there.
    if is_ready && !look.guards.outside[k] {
        let reach = Reach::of(values.map(|v| -v), cubic);
        if reach.least > reach.moves {
            return Ok(Class::Clear(None));
        }
    }
    look.closely = true;
    if look.moves_away(k)? {
        return Ok(Class::Clear(None));
    }
    let rises = [own[1] - own[0], own[3] - own[0]];
    // What jumps in the window says nothing of its start, behind the first sample or before it.
    let zero = if rises[0].abs() < FLAT * rises[1].abs() {
        look.zero_over(k, rises[0], FRACTIONS[1])
    } else if (rises[1] - rises[0]).abs() < FLAT * rises[0].abs() {
        look.need_rate(k)?;
        look.guards.zero[k]
    } else {
        look.zero_over(k, rises[1], 1.0)
    };
    // One that was clear of its surface in the window before may start this one a rounding
    // before it.
    let comes = !look.window.is_first() && own[0] < 0.0 && !hovers;
    let mut on_surface = level == 0.0 && own[0] >= -ON_SURFACE * zero && !comes;
    if on_surface && look.window.is_first() && own[0] < -UNTOLD * look.guards.zero[k] {
        // A window that is long beside the way to the surface says too much of its start, where
        // times and states are exact.
        look.need_rate(k)?;
        on_surface = own[0] >= -UNTOLD * look.guards.zero[k];
    }
    if !is_ready || on_surface {
        return classify_on_surface(look, k, own, zero, hovers);
    }
    Curve::along(cubic, k, Origin::Level(level), values, zero).classify(look)
}
