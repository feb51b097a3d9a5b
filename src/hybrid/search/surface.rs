//! Guards that are on their surface where a window starts: whether they leave it, go across, or
//! come back.

use super::cubic::FRACTIONS;
use super::curve::{Class, Curve, Origin, Passage};
use super::factors::{AS_ITS_RATE, MOST_HALVINGS, MOST_HALVINGS_ACROSS, ON_SURFACE, UNMOVED};
use super::look::Look;
use crate::Stop;
use crate::hybrid::context::System;
use crate::ode::Buffer;
use crate::ode::root::Sample;

/// Class, by its samples, of a guard that is on its surface where the window starts, or beyond it
/// by the residual of a projection; or of one that was not clear of it yet. It `hovers` if it was
/// on its surface in all of the window before.
pub(super) fn classify_on_surface<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    k: usize,
    own: [f64; 4],
    zero: f64,
    hovers: bool,
) -> Result<Class, Stop> {
    let seconds = look.window.seconds();
    let is_ready = look.guards.arming[k].is_ready();
    if is_ready && look.window.is_first() {
        // One that was just crossed may lie beyond its surface by the residual of a projection,
        // and leaves it all the same.
        look.need_rate(k)?;
        let way = look.guards.own_rate(k) * seconds;
        if own.iter().all(|v| v.abs() <= UNMOVED * zero) {
            // So short a window shows nothing.
            return Ok(Class::Clear(None));
        }
        if way > 0.0 && own[0] <= ON_SURFACE * zero {
            let class = goes_across(look, k, own, zero)?;
            // One that a longer try of the step has seen leave may have a rate of zero, rounded to either sign: its
            // return is read off the samples.
            let leaves = own[1] < -zero || own[2] < -zero;
            if matches!(class, Class::Passed(_)) || !leaves {
                return Ok(class);
            }
        }
        if way < 0.0 {
            let origin = Origin::Start(own[0]);
            let [_, f1, f2, f3] = FRACTIONS;
            let chord = |i: usize, s: f64| origin.count(own[i], s);
            let values = [way, chord(1, f1), chord(2, f2), chord(3, f3)];
            return Curve::new(k, origin, values, zero).classify(look);
        }
    } else if is_ready && !look.guards.stale[k] {
        // A window before was too short to tell.
        let (way, rise) = (look.guards.own_rate(k) * seconds, own[3] - own[0]);
        let moves_so = rise > UNMOVED * zero && (way - rise).abs() <= AS_ITS_RATE * way;
        if own[0] <= UNMOVED * zero && moves_so {
            return goes_across(look, k, own, zero);
        }
    }
    // One that the window before saw clear of its surface may have ended it there, within rounding: it passes where
    // it goes on.
    let came = is_ready && !hovers && !look.window.is_first();
    if let Some(i) = (1..4).find(|&i| own[i].abs() > zero)
        && came
        && own[i] > 0.0
        && own[0] <= ON_SURFACE * zero
    {
        let low = Sample {
            at: 0.0,
            value: own[0].min(-f64::MIN_POSITIVE),
        };
        let (at, value) = (FRACTIONS[i], own[i]);
        return Ok(Class::Passed(across(k, low, Sample { at, value })));
    }
    // Only what was seen clear of its surface passes it.
    let mut clear = own[0] < -zero;
    for i in 1..4 {
        if clear && own[i] >= 0.0 {
            let curve = Curve::new(k, Origin::Level(0.0), own, zero);
            return Ok(Class::Passed(Passage {
                cubic: None,
                ..curve.between(i)
            }));
        }
        clear |= own[i] < -zero;
    }
    if is_ready || clear {
        return Ok(Class::Clear(None));
    }
    // Only the first step shows that a given mode puts a guard ahead that the state leaves behind.
    let counts = &look.context.counts;
    let starts = counts.steps.get() == 1 && counts.crossings.get() == 0 && look.window.is_first();
    let beyond = (1..4).find(|&i| own[0] <= ON_SURFACE * zero && own[i] > ON_SURFACE * zero);
    if let Some(i) = beyond {
        let (at, value) = (FRACTIONS[i], own[i]);
        if let Some(passage) = left_before(look, k, Sample { at, value }, zero)? {
            return Ok(Class::Passed(passage));
        }
        if !starts && !hovers {
            return Ok(Class::TooSoon(at));
        }
    }
    let way = look.guards.own_rate(k).max(0.0) * seconds;
    let bends = own[0].abs() <= ON_SURFACE * zero && own[3] > UNMOVED * zero + 4.0 * way;
    if starts && bends {
        return Err(look.guards.tangent(look.state, look.guards.ahead(k)));
    }
    Ok(Class::Clear(None))
}

/// The passage at or before the sample `high` of a guard that was on its surface, with a rate
/// of zero, where the window starts: it may have left and come back before the first sample.
/// Its place off the surface is sought towards the start, in up to thirty evaluations; `None`
/// when it was nowhere farther off than rounding.
#[cold]
fn left_before<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    k: usize,
    mut high: Sample,
    zero: f64,
) -> Result<Option<Passage>, Stop> {
    let mut at = high.at;
    for _ in 0..MOST_HALVINGS {
        look.context.settings.limits.interrupt.check()?;
        at *= 0.5;
        let value = look.own_h_at(k, at);
        let low = Sample { at, value };
        if value < -zero {
            return Ok(Some(across(k, low, high)));
        }
        if value >= 0.0 {
            high = low;
        }
    }
    Ok(None)
}

/// A guard that is on its surface where the window starts, and moves across: passed unless it
/// turns back at once.
#[cold]
fn goes_across<S: System + ?Sized, B: Buffer>(
    look: &mut Look<'_, S, B>,
    k: usize,
    own: [f64; 4],
    zero: f64,
) -> Result<Class, Stop> {
    let (mut at, mut value) = (FRACTIONS[1], own[1]);
    for _ in 0..MOST_HALVINGS_ACROSS {
        if value > zero {
            let low = Sample {
                at: 0.0,
                value: own[0].min(-f64::MIN_POSITIVE),
            };
            return Ok(Class::Passed(across(k, low, Sample { at, value })));
        }
        look.context.settings.limits.interrupt.check()?;
        at *= 0.5;
        value = look.own_h_at(k, at);
    }
    Ok(Class::Clear(None))
}

/// The passage of the surface itself between two places, where no cubic was found to be close.
fn across(k: usize, low: Sample, high: Sample) -> Passage {
    Passage {
        k,
        origin: Origin::Level(0.0),
        low,
        high,
        cubic: None,
    }
}
