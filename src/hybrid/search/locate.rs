//! The place where a smooth step stops: the root of the guard that a window passes, or of another that is
//! passed before; and what a function that jumps does.

use super::cubic::FRACTIONS;
use super::curve::{Class, Origin, Passage};
use super::doubt::Doubts;
use super::factors::{FLAT, OF_TOP, ON_SURFACE, OPEN_PART, SLOPE_DOUBT, UNTOLD};
use super::look::Look;
use crate::hybrid::context::System;
use crate::hybrid::evaluate::{self, Point, Rate};
use crate::ode::Buffer;
use crate::ode::root::{Guess, Root, Sample, root};
use crate::{Doubt, Quantity, Stop};

/// The place at which a smooth step has to end.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepEnd {
    /// The event function.
    pub(crate) k: usize,
    /// Fraction of the step.
    pub(crate) fraction: f64,
    /// True at the guard itself, false at the entry into its neighbourhood.
    pub(crate) on_guard: bool,
    /// `d²h/dt²` of the guard, counted in its direction (`u_k`/s²).
    pub(crate) bend: f64,
    /// The rate of the guard there; the search holds the field then, both in the mode of the step.
    pub(crate) rate: Option<Rate>,
    /// A jump of its function carried it across: the flow may jump there too.
    pub(crate) leapt: bool,
}

/// Passages, field and doubts that the search for a stop works with, beside its window.
#[derive(Debug)]
pub(super) struct Candidates<'a> {
    /// Passages that were found in the window.
    pub(super) passages: &'a [Passage],
    /// The field at the stop.
    pub(super) field: &'a mut [f64],
    pub(super) doubts: &'a mut Doubts,
}

/// Finds where the step stops: on the guard of `passage`, or on another one that is found to be
/// passed before. `None` when the rate there does not fit the slope of the cubic through its
/// samples: the window is narrowed then, if it `can_narrow`.
pub(super) fn stop_of<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    mut passage: Passage,
    candidates: Candidates<'_>,
    can_narrow: bool,
) -> Result<Option<StepEnd>, Stop> {
    let Candidates {
        passages,
        field,
        doubts,
    } = candidates;
    look.guards.tried.fill(false);
    loop {
        let Root {
            sample: found,
            jump,
        } = locate(look, passage)?;
        let s = found.at;
        look.guards.tried[passage.k] = true;
        // One that is over before `s`: by then its guard may be back.
        let tried = &look.guards.tried;
        let passed_and_left = |p: &&Passage| !tried[p.k] && p.high.at < s;
        if let Some(earlier) = passages.iter().find(passed_and_left) {
            passage = *earlier;
            continue;
        }
        if let Some(earlier) = passed_before(look, s)? {
            passage = earlier;
            continue;
        }
        let on_guard = matches!(passage.origin, Origin::Level(0.0) | Origin::Start(_));
        let rate = if on_guard {
            Some(rate_at(look, passage.k, found, field)?)
        } else {
            None
        };
        // Across a jump neither the rate nor the cubic tells how the guard moves, nor in a window in which
        // times are not told apart.
        let is_instant = look.window.seconds() <= UNTOLD * look.state.least_step();
        let rise = passage.high.value - passage.low.value;
        let has_jumped = |rate: Rate| {
            let of_rise = jump > OPEN_PART * rise;
            of_rise && (look.guards).has_leapt(look.state, passage.k, jump, rate.value)
        };
        let leapt = rate.is_some_and(has_jumped);
        let has_leapt = is_instant || leapt;
        if !rate.is_none_or(|rate| rate_fits(look, passage, rate, s)) {
            if can_narrow {
                return Ok(None);
            }
            if !has_leapt {
                doubts.keep(misfit(look, passage));
            }
        }
        let seconds = look.window.seconds();
        let bend = match (passage.cubic, passage.origin) {
            (Some(cubic), Origin::Level(_)) if !has_leapt => cubic.bend(s) / (seconds * seconds),
            _ => 0.0,
        };
        return Ok(Some(StepEnd {
            k: passage.k,
            fraction: look.window.at(s),
            on_guard,
            bend,
            rate,
            leapt,
        }));
    }
}

/// Fraction of the window at which the guard passes, near the root of its cubic, its value there, and by how
/// much it jumps.
fn locate<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    passage: Passage,
) -> Result<Root, Stop> {
    look.context.counts.locations.add(1);
    // Times are rounded by the size of the time where the window begins; the root finder adds the
    // way from there. The length of the window says nothing of the root in it.
    let start = look.state.t.abs() + look.window.seconds_to(0.0);
    let width = f64::EPSILON * start / look.window.seconds();
    let guess = passage.cubic.map(|cubic| {
        let at = cubic.root(passage.at(), passage.low.at, passage.high.at);
        let slope = cubic.slope(at);
        Guess { at, slope }
    });
    let value = |s: f64| passage.origin.count(look.own_h_in_search(passage.k, s), s);
    let found = root(value, passage.low, passage.high, width, guess);
    look.check_sample(passage.k, found.sample)?;
    let value = passage.origin.value(found.sample.value, found.sample.at);
    Ok(Root {
        sample: Sample {
            value,
            ..found.sample
        },
        ..found
    })
}

/// What a guard does whose samples in a window are no more than one jump apart, as the margin of a
/// contact where a force is switched: the jump, halved in until no time lies between, is nearly all
/// of their difference. `None` where it is not, or where what is left does not settle it.
#[cold]
pub(super) fn jump_of<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    k: usize,
) -> Result<Option<Class>, Stop> {
    if !look.guards.arming[k].is_ready() {
        return Ok(None);
    }
    let own = look.own(k);
    let level = look.level(k, own[0]);
    let rise = |i: usize| (own[i + 1] - own[i]).abs();
    let i = (1..3).fold(0, |most, i| if rise(i) > rise(most) { i } else { most });
    let sample = |i: usize| Sample {
        at: FRACTIONS[i],
        value: own[i] - level,
    };
    let (mut low, mut high) = (sample(i), sample(i + 1));
    let (middle, rises) = (0.5 * (low.value + high.value), low.value < high.value);
    let is_low = |value: f64| (value < middle) == rises;
    let enough = (1.0 - 2.0 * FLAT) * (high.value - low.value).abs();
    let width = f64::EPSILON * (look.state.t.abs() / look.window.seconds()).max(1.0);
    let (mut before, mut after) = (low.value, high.value);
    while high.at - low.at > width {
        let at = 0.5 * (low.at + high.at);
        if at <= low.at || at >= high.at {
            break;
        }
        // Of what is smooth about a half is lost with the first.
        if (high.value - low.value).abs() < enough {
            return Ok(None);
        }
        let trial = Sample {
            at,
            value: look.own_h_in_search(k, at) - level,
        };
        look.check_sample(k, trial)?;
        if is_low(trial.value) {
            low = trial;
            before = before.max(trial.value);
        } else {
            high = trial;
            after = after.max(trial.value);
        }
    }
    // On either side of the jump it varies by no more than a small part of that.
    let part = |from: &[f64], end: f64| {
        let off = |most: f64, v: &f64| most.max((v - level - end).abs());
        from.iter().fold(0.0, off)
    };
    let wobble = part(&own[..=i], low.value).max(part(&own[i + 1..], high.value));
    if wobble > FLAT * (high.value - low.value).abs() {
        return Ok(None);
    }
    let top = own
        .iter()
        .fold(before.max(after), |top: f64, v| top.max(v - level));
    let is_before = own[..=i].iter().all(|v| *v < level) && before < 0.0;
    Ok(if is_before && high.value >= 0.0 {
        Some(Class::Passed(Passage {
            k,
            origin: Origin::Level(level),
            low,
            high,
            cubic: None,
        }))
    } else {
        (top < -OF_TOP * wobble).then_some(Class::Clear(None))
    })
}

/// The rate of guard `k` in the mode of the step at the trial state, where it was `found`; leaves
/// the field in `field`.
fn rate_at<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    k: usize,
    found: Sample,
    field: &mut [f64],
) -> Result<Rate, Stop> {
    let (state, guards) = (look.state, &mut *look.guards);
    let t = state.t + look.window.seconds_to(found.at);
    let (x, mode) = (look.samples.point.get(), &state.mode);
    look.context.field(t, x, mode, field)?;
    let (point, row) = (Point { t, x, mode }, guards.row.get_mut());
    let mut rate = look.context.rate(k, point, field, row);
    if !rate.written {
        let here = guards.sign[k] * found.value;
        rate.magnitude = (guards.spreads).magnitude(look.context, k, point, state, here)?;
        if guards.has_leapt(state, k, found.value, rate.value) {
            rate.least = 0.0;
        }
    }
    if !rate.value.is_finite() {
        return Err(evaluate::not_finite(
            Quantity::Gradient { event: k },
            t,
            x,
            mode,
        ));
    }
    Ok(rate)
}

/// True when the rate of a guard where it is passed is that of its cubic: else it oscillates
/// between its samples, and may have been passed before.
fn rate_fits<S: System + ?Sized, B: Buffer>(
    look: &Look<'_, S, B>,
    passage: Passage,
    rate: Rate,
    s: f64,
) -> bool {
    let Some(cubic) = passage.cubic else {
        return true;
    };
    let rate = look.guards.sign[passage.k] * rate.value * look.window.seconds();
    let slope = match passage.origin {
        Origin::Start(_) => s * cubic.slope(s),
        Origin::Level(_) => cubic.slope(s),
    };
    let size = rate.abs().max(slope.abs());
    let zero = look.guards.zero[passage.k];
    (rate - slope).abs() <= OPEN_PART * size + OF_TOP * cubic.doubt() + SLOPE_DOUBT * zero
}

/// The doubt that the rate of a guard is not that of its samples, however close they are.
#[cold]
fn misfit<S: System + ?Sized, B: Buffer>(look: &Look<'_, S, B>, passage: Passage) -> Doubt {
    look.context.counts.unresolved.add(1);
    Doubt::Unresolved {
        guard: look.guards.ahead(passage.k),
        t: look.state.t + look.window.from * look.window.step,
        error: passage.high.value - passage.low.value,
    }
}

/// Evaluates all event functions at the fraction `s` of a window, in place of those of its last
/// sample. Of the guards not tried yet that are beyond their level there, gives the one that was
/// passed earliest by linear interpolation.
fn passed_before<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    s: f64,
) -> Result<Option<Passage>, Stop> {
    let (state, window) = (look.state, look.window);
    let fraction = window.at(s);
    let t = state.t + fraction * window.step;
    let point = look.samples.point.get_mut();
    state.ode.at_fraction(fraction, point);
    let h = &mut look.samples.h[2];
    look.context.events(t, point, &state.mode, h)?;
    let mut earliest: Option<(f64, Passage)> = None;
    for k in 0..state.count() {
        let here = look.guards.sign[k] * look.samples.h[2][k];
        // A guard is mostly before its surface, and before the border of its neighbourhood.
        if look.levels.are_zero() && here <= look.guards.zero[k] {
            continue;
        }
        if !look.guards.arming[k].is_ready() || look.guards.tried[k] {
            continue;
        }
        if let Some((lead, passage)) = passage_before(look, k, s)?
            && earliest.is_none_or(|(most, _)| lead > most)
        {
            earliest = Some((lead, passage));
        }
    }
    Ok(earliest.map(|(_, passage)| passage))
}

/// The passage of guard `k` before the fraction `s` of a window, if it is beyond its level there,
/// and which part of its way it has gone since.
fn passage_before<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    k: usize,
    s: f64,
) -> Result<Option<(f64, Passage)>, Stop> {
    let [own_start, _, _, own_here] = look.own(k);
    let level = look.level(k, own_start);
    let (start, here) = (own_start - level, own_here - level);
    let seconds = look.window.seconds();
    let zero = look.zero_over(k, here - start, s);
    if here <= zero || look.moves_away(k)? {
        return Ok(None);
    }
    let mut passage = Passage {
        k,
        origin: Origin::Level(level),
        low: Sample {
            at: 0.0,
            value: start,
        },
        high: Sample { at: s, value: here },
        cubic: None,
    };
    if level == 0.0 && start >= -ON_SURFACE * zero {
        // It was on its surface at the start: passed only if it left and came back.
        let way = look.guards.own_rate(k) * seconds;
        let left = look.window.is_first() && !look.guards.stale[k] && way < 0.0;
        // One that starts beyond it, by the residual of its crossing, comes back from below.
        if !left || here - start.max(0.0) <= ON_SURFACE * zero {
            return Ok(None);
        }
        passage.origin = Origin::Start(start);
        passage.low.value = way;
        passage.high.value = passage.origin.count(own_here, s);
    }
    Ok(Some((here / (here - start), passage)))
}
