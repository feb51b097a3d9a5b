//! One crossing repeated at a point: sides, reset, further guards that the reset carries the state
//! across; and its derivative, for which a reset is repeated at points nearby where none is written.
//!
//! The hybrid step is `(t, x) ↦ R(t, x)` with a change of mode; its derivative along `(dt, dx)` is
//! `D_x R · dx + ∂R/∂t · dt` (Pace & Burden, eq. 35), from the user's `reset_times` or
//! by differences.
//!
//! * `reset`: a reset made again at a point, and the effects of a crossing; `crossing_reset`: that of a crossing, by
//!   models beside its own too.

mod crossing_reset;
mod reset;

pub(super) use crossing_reset::CrossingReset;
pub(crate) use reset::{Carried, Done, Passed, RepeatedReset};

use super::context::Context;
use crate::hybrid::System;
use crate::hybrid::evaluate::{self, Point};
use crate::hybrid::transition::{self, CarriedOver, Place, Reset, Scratch};
use crate::ode::difference::Line;
use crate::ode::resolved_difference::resolved_along;
use crate::{
    At, Crossed, CrossedGuard, Crossing, Displacement, Guard, Mode, NoDerivative, Quantity, Record,
    Stop,
};

/// A guard that was before its surface by more than so many times the thickness of that was off it.
pub(crate) const FAR: f64 = 1e3;

/// Workspace to repeat crossings.
#[derive(Clone, Debug)]
pub(crate) struct Repeat {
    set: Vec<CrossedGuard>,
    /// Guards that the resets of the last crossing carried the state across, in their order.
    carried: Vec<Guard>,
    /// Guards that the resets of the last crossing put on their surfaces, which so crossed too.
    met: Vec<CrossedGuard>,
    /// Guards that they put on their surfaces too, and that did not cross, since the state moves away.
    left: Vec<CrossedGuard>,
    /// Number of the last transition in the run.
    index: usize,
    /// The last transition, and the place before it.
    before: Scratch<Vec<f64>>,
    mode_trial: Mode,
    point: Vec<f64>,
    trial: Vec<f64>,
    behind: Vec<f64>,
    /// Differences over other steps.
    trials: [Vec<f64>; 2],
    resets: RepeatedReset,
    /// Sensitivities before a reset.
    columns: Vec<f64>,
}

impl Repeat {
    pub(crate) fn new(dim: usize, mode: &Mode) -> Self {
        let count = mode.len();
        let state = || vec![0.0; dim];
        Self {
            set: Vec::with_capacity(count),
            carried: Vec::new(),
            met: Vec::with_capacity(count),
            left: Vec::with_capacity(count),
            index: 0,
            before: Scratch::new(dim, mode),
            mode_trial: mode.clone(),
            point: state(),
            trial: state(),
            behind: state(),
            trials: [state(), state()],
            resets: RepeatedReset {
                rated: Vec::with_capacity(count),
                field: state(),
                row: state(),
            },
            columns: Vec::new(),
        }
    }

    /// The guards that the resets of the last crossing carried the state across or put it on, in their order.
    pub(crate) fn carried(&self) -> &[Guard] {
        &self.carried
    }

    /// The guards that the resets of the last crossing put on their surfaces. To first order they
    /// cross with it only if the resets put neighbours there too, which is for the caller to check.
    pub(crate) fn met(&self) -> &[CrossedGuard] {
        &self.met
    }

    /// The guards that these resets put on their surfaces and that the state leaves again without crossing them: so do
    /// its neighbours only if the resets put them there too.
    pub(crate) fn left(&self) -> &[CrossedGuard] {
        &self.left
    }

    /// Crosses the guards of `crossed`, with their rates there, at `place`, together with the guards that their reset
    /// carries the state across, or puts it on ([`Self::met`]). Leaves the place after it in `place`
    /// and carries tangents along.
    pub(crate) fn cross(
        &mut self,
        context: Context<'_>,
        index: usize,
        crossed: &[CrossedGuard],
        place: Place<'_>,
        mut carried: Carried<'_>,
    ) -> Result<Done, NoDerivative> {
        let system = context.system;
        let mut done = Done {
            moved: false,
            reset_mode: false,
            tangents: Passed::Unchanged,
            stops: false,
        };
        let Some(&CrossedGuard { guard: by, .. }) = crossed.first() else {
            return Ok(done);
        };
        self.set.clear();
        self.set.extend_from_slice(crossed);
        self.carried.clear();
        self.met.clear();
        self.left.clear();
        let Place { t, x, mode, arming } = place;
        // Resets that carry the state across more guards than there are do not end.
        for step in 0..=2 * mode.len() {
            self.index = index + step;
            let place = Place { t, x, mode, arming };
            let reset = self.step(context, place)?;
            if let (Some(met), true) = (self.met.last(), reset.state) {
                // Where neighbours have such a guard before them, its reset comes later.
                let guard = met.guard;
                return Err(NoDerivative::MovedGuard { guard, by, t });
            }
            if !reset.any() {
                let Scratch {
                    mode_after,
                    mode_crossed,
                    ..
                } = &mut self.before;
                mode_after.copy_from(mode_crossed);
            }
            let counted = &self.before.counted;
            done.stops |= counted.iter().any(|c| system.watch(c.guard.event).stop);
            done.moved |= reset.state;
            done.reset_mode |= reset.mode;
            if !counted.is_empty() && (reset.state || !self.is_identity(system, t)?) {
                self.carry(system, t, &mut carried, &mut done)?;
            }
            if !reset.any() && system.ignores_mode() {
                return Ok(done);
            }
            let place = Place { t, x, mode, arming };
            self.carried_across(context, &place, reset)?;
            if self.set.is_empty() {
                return Ok(done);
            }
            self.carried.extend(self.set.iter().map(|c| c.guard));
        }
        Err(NoDerivative::Stop(Stop::NoProgress {
            guard: by,
            at: At::new(t, x, mode).into(),
        }))
    }

    /// Repeats one transition of the run, in which the guards of `set` cross together, at another
    /// place than that of the run. Their rates are those there.
    pub(crate) fn cross_together(
        &mut self,
        context: Context<'_>,
        index: usize,
        set: &[CrossedGuard],
        place: Place<'_>,
    ) -> Result<(), NoDerivative> {
        let system = context.system;
        let RepeatedReset { field, row, .. } = &mut self.resets;
        system.flow(place.t, place.x, place.mode, field);
        self.set.clear();
        for &CrossedGuard { guard, .. } in set {
            let rate = evaluate::rate(system, guard.event, place.point(), field, row).value;
            self.set.push(CrossedGuard { guard, rate });
        }
        self.index = index;
        self.step(context, place)?;
        Ok(())
    }

    /// The guards of `set` cross at `place`.
    fn step(&mut self, context: Context<'_>, place: Place<'_>) -> Result<Reset, Stop> {
        let (system, rearm) = (context.system, context.rearm);
        let (set, before) = (&self.set[..], &mut self.before);
        transition::step(system, rearm, self.index, set, place, before, |_, _, _| {})
    }

    /// Carries tangents through the reset of the last transition.
    fn carry(
        &mut self,
        system: &dyn System,
        t: f64,
        carried: &mut Carried<'_>,
        done: &mut Done,
    ) -> Result<(), NoDerivative> {
        let dim = self.point.len();
        done.tangents = done.tangents.max(Passed::AsWritten);
        self.columns.clear();
        self.columns.extend_from_slice(carried.dx);
        // Entries that are left unwritten are detected.
        carried.dx.fill(f64::NAN);
        let all_written = self.each_written(system, t, carried.dt, &self.columns, carried.dx);
        for (j, dx) in carried.dx.chunks_exact_mut(dim).enumerate() {
            if !all_written {
                let column = &self.columns[j * dim..(j + 1) * dim];
                self.point.copy_from_slice(column);
                dx.fill(f64::NAN);
                if !self.written(system, t, carried.dt, &self.point, dx) {
                    done.tangents = Passed::ByDifference;
                    self.difference(system, t, carried.dt, dx)?;
                }
            }
            if let Some(component) = dx.iter().position(|v| !v.is_finite()) {
                let quantity = Quantity::ResetDerivative { component };
                let Scratch {
                    x_before,
                    mode_before,
                    ..
                } = &self.before;
                if system.writes_reset_differences() {
                    let state = x_before.clone();
                    return Err(NoDerivative::DifferencesDisagree { quantity, t, state });
                }
                let stop = evaluate::not_finite(quantity, t, x_before, mode_before);
                return Err(stop.into());
            }
        }
        Ok(())
    }

    /// True when the reset, which did not change this state, changes no nearby state either and
    /// leads to the same mode. This is tested along one direction in which all components change by
    /// different amounts: with the derivative along it, or without one with states on both sides.
    fn is_identity(&mut self, system: &dyn System, t: f64) -> Result<bool, NoDerivative> {
        if !system.resets() {
            return Ok(true);
        }
        let crossed = Crossed::new(&self.before.counted).of_transition(self.index);
        let (x, sides) = (&self.before.x_before, &self.before.mode_crossed);
        for i in 0..x.len() {
            let size = 1e-6 / (1.0 + 0.3 * i as f64);
            self.behind[i] = if i.is_multiple_of(2) { size } else { -size };
        }
        let direction = Displacement {
            dt: 1.0,
            dx: &self.behind,
        };
        self.trial.fill(f64::NAN);
        if system.reset_times(t, &crossed, x, sides, direction, &mut self.trial) {
            return Ok(self.trial == self.behind);
        }
        for sign in [1.0, -1.0] {
            for i in 0..self.before.x_before.len() {
                let here = self.before.x_before[i];
                self.point[i] = here + sign * here.abs().max(1.0) * self.behind[i];
            }
            let (x, mode) = (&self.point[..], &self.before.mode_before);
            let (after, mode_after) = (&mut self.trial, &mut self.mode_trial);
            let point = Point { t, x, mode };
            (self.resets).at(system, point, crossed, sides, after, mode_after)?;
            if self.trial != self.point || !self.mode_trial.is(&self.before.mode_after) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The derivative of the reset along `(dt, dx)` by a central difference, into `dx`.
    fn difference(
        &mut self,
        system: &dyn System,
        t: f64,
        dt: f64,
        dx: &mut [f64],
    ) -> Result<(), NoDerivative> {
        let Self {
            index,
            before,
            mode_trial,
            point,
            trial,
            behind,
            resets,
            trials: [half, beside],
            ..
        } = self;
        let Scratch {
            x_before,
            counted,
            mode_before,
            mode_crossed,
            mode_after,
            ..
        } = before;
        let mut map = |t: f64, x: &[f64], out: &mut [f64]| {
            let mode = &*mode_before;
            let set = Crossed::new(counted).of_transition(*index);
            resets.at(
                system,
                Point { t, x, mode },
                set,
                mode_crossed,
                out,
                mode_trial,
            )?;
            if mode_trial.is(mode_after) {
                Ok(())
            } else {
                let state = x.to_vec();
                Err(NoDerivative::NotRepeatable { t, state })
            }
        };
        let line = Line {
            t,
            x: x_before,
            dt,
            dx: point,
        };
        let trials = [dx, &mut half[..], &mut beside[..]];
        let unknown = resolved_along(&mut map, line, trials, trial, behind)?;
        let Some(component) = unknown else {
            return Ok(());
        };
        map(t, x_before, half)?;
        map(t, x_before, beside)?;
        let state = x_before.clone();
        Err(if half == beside {
            let quantity = Quantity::ResetDerivative { component };
            NoDerivative::DifferencesDisagree { quantity, t, state }
        } else {
            NoDerivative::NotRepeatable { t, state }
        })
    }

    /// Prepares the reset of `guard` alone at a point, for [`Self::written`] and
    /// [`Self::by_difference`].
    pub(crate) fn stand_before(
        &mut self,
        system: &dyn System,
        point: Point<'_>,
        guard: Guard,
    ) -> Result<(), Stop> {
        let Point { t, x, mode } = point;
        let RepeatedReset { field, row, .. } = &mut self.resets;
        let k = guard.event;
        system.flow(t, x, mode, field);
        let rate = evaluate::rate(system, k, point, field, row).value;
        self.before.counted.clear();
        self.before.counted.push(CrossedGuard { guard, rate });
        self.before.x_before.copy_from_slice(x);
        self.before.mode_before.copy_from(mode);
        self.before.mode_crossed.copy_from(mode);
        self.before.mode_crossed.set(k, guard.side_after());
        self.before.mode_after.copy_from(&self.before.mode_crossed);
        self.trial.copy_from_slice(x);
        let crossed = Crossed::new(&self.before.counted).of_transition(self.index);
        system.on_crossing(&mut Crossing {
            t,
            crossed,
            x: &mut self.trial,
            mode: &mut self.before.mode_after,
            record: &mut Record::default(),
        })
    }

    /// The derivative of that reset along `(dt, dx)` as the user wrote it; false when it is not
    /// written.
    pub(crate) fn written(
        &self,
        system: &dyn System,
        t: f64,
        dt: f64,
        dx: &[f64],
        out: &mut [f64],
    ) -> bool {
        let crossed = Crossed::new(&self.before.counted).of_transition(self.index);
        let (x, sides) = (&self.before.x_before, &self.before.mode_crossed);
        system.reset_times(t, &crossed, x, sides, Displacement { dt, dx }, out)
    }

    /// The derivatives of [`written`](Self::written) along several directions at once.
    pub(crate) fn each_written(
        &self,
        system: &dyn System,
        t: f64,
        dt: f64,
        dx: &[f64],
        out: &mut [f64],
    ) -> bool {
        let crossed = Crossed::new(&self.before.counted).of_transition(self.index);
        let (x, sides) = (&self.before.x_before, &self.before.mode_crossed);
        system.reset_times_each(t, &crossed, x, sides, Displacement { dt, dx }, out)
    }

    /// The derivative of that reset along a direction by a central difference.
    pub(crate) fn by_difference(
        &mut self,
        system: &dyn System,
        t: f64,
        dt: f64,
        dx: &[f64],
        out: &mut [f64],
    ) -> Result<(), NoDerivative> {
        self.point.copy_from_slice(dx);
        self.difference(system, t, dt, out)
    }

    /// Collects in `set` the armed guards that the last transition carried across their surface;
    /// where there are none, those that its reset put on their surface, and that move across. A
    /// surface is as thick as the tolerance in time that makes events one.
    fn carried_across(
        &mut self,
        context: Context<'_>,
        place: &Place<'_>,
        reset: Reset,
    ) -> Result<(), NoDerivative> {
        let (system, here) = (context.system, place.point());
        let Point { t, x, mode } = here;
        let RepeatedReset { field, row, .. } = &mut self.resets;
        system.flow(t, x, mode, field);
        evaluate::check_flow(field, t, x, mode)?;
        // The place before is still needed while the scratch marks the guards of the last set.
        self.behind.copy_from_slice(&self.before.x_before);
        self.mode_trial.copy_from(&self.before.mode_before);
        let (x_before, mode_before) = (&self.behind, &self.mode_trial);
        let (set, field_before, known) = (&mut self.set, &mut self.trial, self.met.len());
        let (arming, met, left) = (&*place.arming, &mut self.met, &mut self.left);
        let before = &mut self.before;
        transition::carried_across(system, here, reset, arming, set, before, |k, armed_by| {
            let guard = Guard::ahead(k, mode.contains(k));
            let after = guard.sign() * system.event(k, t, x, mode);
            if after <= 0.0 && !reset.state {
                return Ok(None);
            }
            let before = match armed_by {
                Some(_) => 0.0,
                None => guard.sign() * system.event(k, t, x_before, mode_before),
            };
            // Rows are evaluated only where it may be on its surface, or beyond.
            if after < before.min(0.0) / FAR {
                return Ok(None);
            }
            let rate = evaluate::rate(system, k, here, field, row);
            let zero = context.zero(k, t, rate);
            let crossing = CrossedGuard {
                guard,
                rate: rate.value,
            };
            let beyond = transition::beyond(before, zero);
            if after > beyond {
                let crossed = crossing;
                return Ok(Some(CarriedOver { crossed, beyond }));
            }
            if reset.state && after >= -zero && before < -FAR * zero {
                // A rate that is none says nothing: the run held it against those that it saw.
                system.flow(t, x_before, mode_before, field_before);
                let there = Point {
                    t,
                    x: x_before,
                    mode: mode_before,
                };
                let seen = evaluate::rate(system, k, there, field_before, row).value;
                let least = system.min_rate(k);
                let least = least.unwrap_or(evaluate::PART_OF_RATE * seen.abs());
                if guard.sign() * rate.value >= least && rate.value != 0.0 {
                    met.push(crossing);
                } else if guard.sign() * rate.value <= -least && rate.value != 0.0 {
                    // A function of another mode was not before its surface by as much.
                    let same = guard.sign() * system.event(k, t, x, mode_before);
                    if same.to_bits() == after.to_bits() {
                        left.push(crossing);
                    }
                }
            }
            Ok::<_, NoDerivative>(None)
        })?;
        if set.is_empty() {
            set.extend_from_slice(&met[known..]);
        } else {
            met.truncate(known);
        }
        Ok(())
    }
}
