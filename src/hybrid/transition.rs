//! One transition of the hybrid system: the guards of a set cross at one instant, their sides flip,
//! the rule of re-arming acts, and the model resets the state (Anderson & Revzen, section 3.1; Pace
//! & Burden, eq. 1b).
//!
//! The run and its derivative both call [`step`], so that they cross the same guards. The caller
//! brings values and rates of the guards up to date, supplies the values by which guards count as
//! carried across, and refuses.

use super::evaluate;
use super::evaluate::Point;
use super::room_for;
use crate::model::rearm::{Arming, Effect};
use crate::ode::Buffer;
use crate::{
    At, Crossed, CrossedGuard, Crossing, EventFunction, Flow, Guard, Mode, Quantity, Rearm,
    RearmMatrix, Record, Stop,
};

/// The place of a transition, which it changes.
#[derive(Debug)]
pub(crate) struct Place<'a> {
    pub(crate) t: f64,
    /// State on the guards.
    pub(crate) x: &'a mut [f64],
    pub(crate) mode: &'a mut Mode,
    /// Arming of each event function.
    pub(crate) arming: &'a mut [Arming],
}

impl Place<'_> {
    /// The point at which the model is evaluated.
    #[inline]
    pub(crate) fn point(&self) -> Point<'_> {
        Point {
            t: self.t,
            x: self.x,
            mode: self.mode,
        }
    }
}

/// Changes by the model's reset.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reset {
    pub(crate) state: bool,
    pub(crate) mode: bool,
}

impl Reset {
    pub(crate) const NONE: Self = Self {
        state: false,
        mode: false,
    };

    pub(crate) fn any(self) -> bool {
        self.state || self.mode
    }
}

/// A guard that lay before its surface, or beyond it by the residual of a projection, is carried
/// across when it is beyond by more than this many residuals.
pub(crate) const RESIDUALS: f64 = 10.0;

/// Effect of a transition on one event function.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Done {
    /// The guard whose row of the reset matrix armed it.
    pub(crate) armed_by: Option<Guard>,
    /// The model set its side bit itself.
    is_declared: bool,
    /// It crossed in the last set.
    is_own: bool,
}

/// Workspace of a transition; holds the place as it was before.
#[derive(Clone, Debug)]
pub(crate) struct Scratch<B> {
    pub(crate) x_before: B,
    pub(crate) mode_before: Mode,
    pub(crate) arming_before: Vec<Arming>,
    /// The guards of the set that cross in a watched direction.
    pub(crate) counted: Vec<CrossedGuard>,
    /// The mode with the sides of the set crossed, before the model acts.
    pub(crate) mode_crossed: Mode,
    /// The mode as the model left it, where it changed state or mode.
    pub(crate) mode_after: Mode,
    /// Effect of the last transition on each event function.
    pub(crate) done: Vec<Done>,
    /// Record of the transition that the model left.
    pub(crate) record: Record,
    /// A mode in which some sides are crossed.
    mode_in_part: Mode,
}

impl<B: Buffer> Scratch<B> {
    pub(crate) fn new(dim: usize, mode: &Mode) -> Self {
        let count = mode.len();
        Self {
            x_before: B::zeros(dim),
            mode_before: mode.clone(),
            arming_before: vec![Arming::Off; count],
            counted: Vec::with_capacity(room_for(count)),
            mode_crossed: mode.clone(),
            mode_after: mode.clone(),
            done: vec![Done::default(); count],
            record: Record::default(),
            mode_in_part: mode.clone(),
        }
    }

    /// Keeps the place as it is now.
    #[inline]
    pub(crate) fn keep(&mut self, x: &[f64], mode: &Mode, arming: &[Arming]) {
        self.x_before.get_mut().copy_from_slice(x);
        self.mode_before.copy_from(mode);
        self.arming_before.copy_from_slice(arming);
    }
}

impl<B> Scratch<B> {
    /// True for a guard of the last set that would not lie beyond its surface if it alone had crossed, and the model
    /// had left the mode.
    #[cold]
    fn is_put_by_others<S: EventFunction + ?Sized>(
        &mut self,
        system: &S,
        Point { t, x, mode }: Point<'_>,
        CarriedOver { crossed, beyond }: CarriedOver,
    ) -> bool {
        let guard = crossed.guard;
        let k = guard.event;
        self.mode_in_part.copy_from(&self.mode_before);
        self.mode_in_part.set(k, mode.contains(k));
        guard.sign() * system.event(k, t, x, &self.mode_in_part) <= beyond
    }
}

/// Lets the guards of `set`, which are zero at the place, cross together; the run made `index`
/// transitions before. `flipped` is called after each side that changes before the model acts, with
/// the state, the mode and the number of the event function. After an error the place is undefined,
/// and the scratch holds the one before.
///
/// # Errors
/// A refusal of the model, a state that is not finite, a mode of another length, an undeclared
/// flag.
#[inline]
pub(crate) fn step<S: Flow + EventFunction + ?Sized, B: Buffer>(
    system: &S,
    rearm: &Rearm,
    index: usize,
    set: &[CrossedGuard],
    mut place: Place<'_>,
    scratch: &mut Scratch<B>,
    mut flipped: impl FnMut(&[f64], &Mode, usize),
) -> Result<Reset, Stop> {
    scratch.keep(place.x, place.mode, place.arming);
    scratch.counted.clear();
    scratch.record.clear();
    for c in set {
        if system.watch(c.guard.event).sees(c.guard.direction) {
            scratch.counted.push(*c);
        }
        place.arming[c.guard.event] = Arming::Off;
        set_side(
            &mut place,
            c.guard.event,
            c.guard.side_after(),
            &mut flipped,
        );
    }
    match rearm {
        Rearm::Never | Rearm::WhenEmpty => {}
        Rearm::Pairs => {
            for c in set {
                arm_ahead(system, &mut place, c.guard.event);
            }
        }
        Rearm::Matrix(matrix) => {
            scratch.done.fill(Done::default());
            for c in set {
                let by = c.guard;
                apply_row(system, matrix, by, set, &mut place, scratch, &mut flipped);
            }
        }
    }
    scratch.mode_crossed.copy_from(place.mode);
    if scratch.counted.is_empty() || !system.resets() {
        return Ok(Reset::NONE);
    }
    system.on_crossing(&mut Crossing {
        t: place.t,
        crossed: Crossed::new(&scratch.counted).of_transition(index),
        x: place.x,
        mode: place.mode,
        record: &mut scratch.record,
    })?;
    let reset = Reset {
        state: *place.x != *scratch.x_before.get(),
        mode: !place.mode.is(&scratch.mode_crossed),
    };
    if reset.any() {
        // `clone_from`: the model may have changed the length, which is refused.
        scratch.mode_after.clone_from(place.mode);
        take_reset(system, rearm, set, place, scratch, reset)?;
    }
    Ok(reset)
}

/// Checks what the model made of state and mode. Event functions whose sides it changed count as
/// crossed for the re-arming.
#[cold]
fn take_reset<S: Flow + EventFunction + ?Sized, B: Buffer>(
    system: &S,
    rearm: &Rearm,
    set: &[CrossedGuard],
    mut place: Place<'_>,
    scratch: &mut Scratch<B>,
    reset: Reset,
) -> Result<(), Stop> {
    let (count, t) = (scratch.mode_crossed.len(), place.t);
    let names = ["the mode after a reset", "the flags after a reset"];
    if let Err(reason) = place.mode.check_sizes(scratch.mode_crossed.sizes(), names) {
        let undeclared = place.mode.undeclared();
        // The workspace is for modes of its own sizes, in the next run too.
        place.mode.copy_from(&scratch.mode_crossed);
        return Err(match undeclared {
            Some(flag) => Stop::UndeclaredFlag {
                flag,
                count: place.mode.flag_count(),
                at: At::new(t, place.x, place.mode).into(),
            },
            None => reason.into(),
        });
    }
    if let Some(component) = place.x.iter().position(|v| !v.is_finite()) {
        let quantity = Quantity::Reset { component };
        return Err(evaluate::not_finite(quantity, t, place.x, place.mode));
    }
    if !reset.mode {
        return Ok(());
    }
    // All of them as the model left them, before a row of the matrix changes others.
    for k in 0..count {
        let is_declared = place.mode.contains(k) != scratch.mode_crossed.contains(k);
        scratch.done[k].is_declared = is_declared;
        if is_declared {
            place.arming[k] = Arming::Off;
        }
    }
    for k in (0..count).filter(|_| !matches!(rearm, Rearm::Never | Rearm::WhenEmpty)) {
        if !scratch.done[k].is_declared {
            continue;
        }
        match rearm {
            Rearm::Matrix(matrix) => {
                let by = Guard::ahead(k, scratch.mode_crossed.contains(k));
                apply_row(system, matrix, by, set, &mut place, scratch, |_, _, _| {});
            }
            _ => arm_ahead(system, &mut place, k),
        }
    }
    Ok(())
}

/// Sets a side bit.
#[inline]
fn set_side(
    place: &mut Place<'_>,
    k: usize,
    side: bool,
    mut flipped: impl FnMut(&[f64], &Mode, usize),
) {
    if place.mode.contains(k) != side {
        place.mode.set(k, side);
        flipped(place.x, place.mode, k);
    }
}

/// Arms event function `k` in the direction ahead, whether its crossing counts or not, if any of
/// its crossings does.
#[inline]
fn arm_ahead<S: EventFunction + ?Sized>(system: &S, place: &mut Place<'_>, k: usize) {
    place.arming[k] = if system.watch(k).is_any() {
        Arming::Waiting
    } else {
        Arming::Off
    };
}

/// Applies row `by` of the guard reset matrix. Guards of the set, and guards whose side the model
/// set, are not armed.
fn apply_row<S: EventFunction + ?Sized, B>(
    system: &S,
    matrix: &RearmMatrix,
    by: Guard,
    set: &[CrossedGuard],
    place: &mut Place<'_>,
    scratch: &mut Scratch<B>,
    mut flipped: impl FnMut(&[f64], &Mode, usize),
) {
    for &(guard, effect) in matrix.row(by) {
        let k = guard.event;
        let before = !guard.side_after();
        match effect {
            Effect::Arm if scratch.done[k].is_declared || set.iter().any(|c| c.guard == guard) => {}
            Effect::Arm => {
                set_side(place, k, before, &mut flipped);
                arm_ahead(system, place, k);
                scratch.done[k].armed_by = Some(by);
            }
            Effect::Retire if place.mode.contains(k) == before => {
                set_side(place, k, !before, &mut flipped);
                place.arming[k] = Arming::Off;
            }
            Effect::Retire => {}
        }
    }
}

/// Replaces `set` by the armed guards that the reset, or the new mode, carried across their
/// surface. `carried(k, by)` decides for one guard, by [`beyond`]; `by` is the guard whose row
/// of the reset matrix has just armed it, if any. Such a guard crosses wherever it was before.
///
/// If the state did not change, guards of the last set cross again here only where the sides of others of that
/// set, or what the model did to the mode, put them beyond their surface ([`Scratch::is_put_by_others`]), not where
/// their own side does: that is a hysteresis, which would go on for ever. Those whose side the model set stay there.
///
/// # Errors
/// As `carried`.
#[inline]
pub(crate) fn carried_across<S: EventFunction + ?Sized, B, E>(
    system: &S,
    point: Point<'_>,
    reset: Reset,
    arming: &[Arming],
    set: &mut Vec<CrossedGuard>,
    scratch: &mut Scratch<B>,
    mut carried: impl FnMut(usize, Option<Guard>) -> Result<Option<CarriedOver>, E>,
) -> Result<(), E> {
    let may_return = !reset.state && (set.len() > 1 || reset.mode);
    for done in &mut scratch.done {
        done.is_own = false;
    }
    if !reset.state {
        for c in &*set {
            scratch.done[c.guard.event].is_own = true;
        }
    }
    set.clear();
    for (k, arming) in arming.iter().enumerate() {
        let done = scratch.done[k];
        if arming.is_armed()
            && (!done.is_own || may_return && !(reset.mode && done.is_declared))
            && let Some(found) = carried(k, done.armed_by.filter(|by| by.event != k))?
            && (!done.is_own || scratch.is_put_by_others(system, point, found))
        {
            set.push(found.crossed);
        }
    }
    Ok(())
}

/// A guard that was carried across its surface.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CarriedOver {
    pub(crate) crossed: CrossedGuard,
    /// Its event function lies beyond the surface from this value on.
    pub(crate) beyond: f64,
}

/// The value from which on an event function, counted in the direction ahead, lies beyond its surface, which is as
/// thick as `zero`. One that lay beyond it `before`, by the residual of a projection, did not move.
#[inline]
pub(crate) fn beyond(before: f64, zero: f64) -> f64 {
    zero.max(RESIDUALS * before.max(0.0))
}

/// True when it was carried from `before` to `after` across that surface.
#[inline]
pub(crate) fn is_carried(before: f64, after: f64, zero: f64) -> bool {
    after > beyond(before, zero)
}
