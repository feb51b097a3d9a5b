//! The derivative of an impact along displacements of the state before it (Pace & Burden, eq. 3 and 35).
//!
//! It is a difference of impacts, between states in which the closed contacts stay closed
//! before and after. Only such neighbours occur in a run; elsewhere the law may choose another
//! outcome. The same method serves every law. `nearby_event`: the event there; `rows_beside`: its
//! rows.

mod nearby_event;
mod rows_beside;

use nalgebra::DMatrix;

use nearby_event::NearbyEvent;
use rows_beside::{Rows, RowsBeside};

use crate::event_driven::breakdown::Breakdown;
use crate::event_driven::impact::Event;
use crate::event_driven::onto_contacts::{self, NONE_ALONE};
use crate::event_driven::{Model, SettledStart};
use crate::impact::Order;
use crate::linalg::largest;
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::motion::kinetic::mass_units;
use crate::ode::difference::step_along;
use crate::ode::straight::{extrapolated, off_of_largest, shorten_until_straight};
use crate::{Crossed, Mode};

/// A difference across the border of two modes of an impact is taken again over shorter steps, to this part of the
/// first: to 1e-8, since laws take what lies beyond a border by 1e-10 as on it.
const SHORTEST: f64 = 1e-3;
/// An impact that bends by no more than this part of its change within a step does not bend.
const BENT: f64 = 1e-6;

/// Rounding of a state after an impact, relative to the state before.
const ROUNDING: f64 = 1e-12;

/// Part of a displacement that is none behind an impact.
const TAKEN: f64 = 1e-10;

/// A difference step changes speeds of approach by at most this part.
const SLOW: f64 = 0.1;

impl Model<'_> {
    /// Writes the derivatives of the state after an event along each of `directions`, NaN for one along
    /// which there is none; false when the law has no outcome at the state or beside it.
    pub(crate) fn reset_along_each(
        &self,
        t: f64,
        crossed: &Crossed<'_>,
        x: &[f64],
        mode: &Mode,
        directions: &[f64],
        out: &mut [f64],
    ) -> bool {
        let Some(nearby) = self.event_nearby(t, crossed, x, mode) else {
            return false;
        };
        let dim = x.len().max(1);
        let mut each = directions.chunks_exact(dim).zip(out.chunks_exact_mut(dim));
        each.all(|(dx, out)| self.reset_along(x, &nearby, dx, out).is_some())
    }

    /// The map that brings displacements of a start to its closed contacts, with friction; none
    /// without. Neighbours of a contact that sticks slip and come to stick at once,
    /// by impulses along it and the friction of those that slip.
    pub(crate) fn onto_contacts(&self, start: &SettledStart) -> Option<DMatrix<f64>> {
        let (x, mode) = (&start.state[..], &start.mode);
        if !self.slides() {
            return None;
        }
        let mut map = DMatrix::identity(x.len(), x.len());
        if !self.has_friction_in(mode) {
            return Some(map);
        }
        let units = self.state_units(x);
        for mut column in map.column_iter_mut() {
            let usual = step_along(0.0, x, 0.0, column.as_slice());
            let over = |step: f64| -> Vec<f64> {
                // Only the change, so that nothing else is rounded.
                let [ahead, behind] = [step, -step].map(|step| {
                    let moved = x.iter().zip(&column).map(|(x, dx)| x + step * dx);
                    let moved: Vec<f64> = moved.collect();
                    let mut change = moved.clone();
                    self.bring_onto_contacts(start.t, &mut change, mode);
                    let pairs = change.iter_mut().zip(&moved);
                    pairs.for_each(|(to, from)| *to -= from);
                    change
                });
                let pairs = ahead.iter().zip(&behind);
                pairs
                    .map(|(ahead, behind)| (ahead - behind) / (2.0 * step))
                    .collect()
            };
            let mut found = (Vec::new(), Vec::new());
            shorten_until_straight(usual, |step| {
                found = (over(step), over(2.0 * step));
                let rounding = ROUNDING / step;
                self.off_of_state(
                    [x, column.as_slice()],
                    [&found.0, &found.1],
                    &units,
                    rounding,
                )
            });
            for (entry, (near, far)) in column.iter_mut().zip(found.0.iter().zip(&found.1)) {
                *entry += extrapolated(*near, *far);
            }
        }
        Some(map)
    }

    /// Units of a state: coordinates as they are, velocities by the masses on the diagonal.
    fn state_units(&self, x: &[f64]) -> Vec<f64> {
        let (q, v) = self.parts(x);
        let mut units = vec![1.0; x.len()];
        let of_velocities = &mut units[q.len()..];
        mass_units(
            self.system(),
            q,
            &mut vec![0.0; v.len() * v.len()],
            of_velocities,
        );
        for unit in of_velocities {
            *unit = unit.recip();
        }
        units
    }

    /// By how much two differences of states over a step are off each other: coordinates and velocities each as a part
    /// of their largest, beside that `rounding` of the state, and that of the displacement where all of it is taken
    /// away.
    fn off_of_state(
        &self,
        [x, dx]: [&[f64]; 2],
        [near, far]: [&[f64]; 2],
        units: &[f64],
        rounding: f64,
    ) -> f64 {
        let [x, dx, near, far, units] = [x, dx, near, far, units].map(|of| self.parts(of));
        let off = |x: &[f64], dx: &[f64], near, far, units: &[f64]| {
            let largest = |of: &[f64]| {
                let sizes = of.iter().zip(units).map(|(x, unit)| x.abs() / unit);
                sizes.fold(0.0, f64::max)
            };
            let rounding = rounding * largest(x) + TAKEN * largest(dx);
            off_of_largest(near, far, rounding, |i| units[i])
        };
        let of_places = off(x.0, dx.0, near.0, far.0, units.0);
        of_places.max(off(x.1, dx.1, near.1, far.1, units.1))
    }

    fn bring_onto_contacts(&self, t: f64, x: &mut [f64], mode: &Mode) {
        let closed: Vec<usize> = self.layout().closed(mode).collect();
        onto_contacts::onto_gaps(self, x, &closed, NONE_ALONE);
        self.stop_in_mode(t, x, mode);
    }

    /// Brings velocities to the rates of zero that a mode asks for, by impulses that its contacts can
    /// make: of those that slip with their friction. What an error of the forces before adds is among
    /// these, as that of the direction of a slip that stops.
    fn stop_in_mode(&self, t: f64, x: &mut [f64], mode: &Mode) {
        let closed: Vec<usize> = self.layout().closed(mode).collect();
        let slip = |i: usize| self.functions().slip(mode, closed[i]);
        let is_special = (0..closed.len()).any(|i| slip(i).begins || slip(i).ends);
        if is_special || !self.has_friction_in(mode) {
            onto_contacts::hold(self, x, mode, NONE_ALONE);
            return;
        }
        let (q, v) = self.parts_mut(x);
        let (q, mut stopped) = (&*q, v.to_vec());
        let found = self.stop_in_modes(t, q, &mut stopped, &closed, |_, _, i| slip(i));
        if found.is_ok() && stopped.iter().all(|v| v.is_finite()) {
            v.copy_from_slice(&stopped);
        }
    }

    fn reset_along(
        &self,
        x: &[f64],
        nearby: &NearbyEvent,
        dx: &[f64],
        out: &mut [f64],
    ) -> Option<()> {
        let moved = |s: f64| -> Vec<f64> { x.iter().zip(dx).map(|(x, dx)| x + s * dx).collect() };
        let longest = self.step_beside(x, nearby, dx, moved)?;
        let rows = match self.rows_beside(nearby, longest, [x, dx], moved) {
            Rows::OfTheSystem => None,
            Rows::Linear(rows) => Some(rows),
            Rows::Unknown => {
                out.fill(f64::NAN);
                return Some(());
            }
        };
        let across = |step: f64, out: &mut [f64]| {
            let ends = [step, -step].map(moved);
            let goes = self.across(x, nearby, ends, step, rows.as_ref(), out);
            out.iter_mut().zip(dx).for_each(|(out, dx)| *out += dx);
            goes
        };
        let is_linear = self.has_linear_impacts() && !self.rubs(nearby);
        let units = self.state_units(x);
        let mut far = vec![0.0; out.len()];
        let (mut is_found, mut bends, mut fails) = (false, false, false);
        // Twice the step is the longest that is allowed, but where all steps see the same.
        let usual = if is_linear { longest } else { 0.5 * longest };
        shorten_until_straight(usual, |step| {
            if fails || (bends && step < SHORTEST * longest) {
                return f64::INFINITY;
            }
            let near = across(step, out);
            let far_goes = if is_linear {
                Some(true)
            } else {
                across(2.0 * step, &mut far)
            };
            let both = near.zip(far_goes);
            let Some(both) = both else {
                fails = true;
                return 0.0;
            };
            if both != (true, true) {
                bends = true;
                return f64::INFINITY;
            }
            is_found = true;
            if is_linear {
                return 0.0;
            }
            let rounding = nearby.coarse.rounding(1.0, step).max(ROUNDING / step);
            let off = self.off_of_state([x, dx], [&*out, &far], &units, rounding);
            for (near, far) in out.iter_mut().zip(&far) {
                *near = extrapolated(*near, *far);
            }
            off
        });
        if !is_found {
            out.fill(f64::NAN);
        }
        (!fails).then_some(())
    }

    /// The difference of what the impacts at both ends of a step change; false where the impact bends between them.
    fn across(
        &self,
        x: &[f64],
        nearby: &NearbyEvent,
        mut ends: [Vec<f64>; 2],
        step: f64,
        rows: Option<&RowsBeside>,
        out: &mut [f64],
    ) -> Option<bool> {
        let before = ends.clone();
        let [ahead, behind] = &mut ends;
        let rows_at = |step: f64| rows.map(|rows| rows.at(step));
        let modes = [
            self.strike_beside(ahead, nearby, rows_at(step)).ok()?,
            self.strike_beside(behind, nearby, rows_at(-step)).ok()?,
        ];
        // Between other modes the impact bends, at this state or close by; modes of dependent
        // contacts may be others and do the same.
        if modes[0] != modes[1] && self.bends_between(x, nearby, rows_at(0.0), &ends)? {
            return Some(false);
        }
        // Only the change, so that nothing else is rounded: an impact leaves coordinates as they are.
        for ((end, before), step) in ends.iter_mut().zip(&before).zip([step, -step]) {
            self.stop_beside(end, nearby, rows_at(step));
            end.iter_mut().zip(before).for_each(|(end, x)| *end -= x);
        }
        for (out, (ahead, behind)) in out.iter_mut().zip(ends[0].iter().zip(&ends[1])) {
            *out = (ahead - behind) / (2.0 * step);
        }
        Some(true)
    }

    /// Brings velocities behind the impact to the rates of its mode, as of contacts with these rows where they are
    /// known otherwise.
    fn stop_beside(&self, x: &mut [f64], nearby: &NearbyEvent, rows: Option<Vec<f64>>) {
        let Some(rows) = rows else {
            return self.stop_in_mode(nearby.occasion.t, x, &nearby.mode_after);
        };
        let closed: Vec<usize> = self.layout().closed(&nearby.mode_after).collect();
        if !closed.is_empty() {
            let mut at = ContactsAt::with_rows(self.parts(x).0, &nearby.touching, rows);
            onto_contacts::to_rates_of_zero(self, x, &closed, NONE_ALONE, Some(&mut at));
        }
    }

    /// True where the impact at a state is not half way between those on both sides of it.
    fn bends_between(
        &self,
        x: &[f64],
        nearby: &NearbyEvent,
        rows: Option<Vec<f64>>,
        ends: &[Vec<f64>; 2],
    ) -> Option<bool> {
        let mut middle = x.to_vec();
        self.strike_beside(&mut middle, nearby, rows).ok()?;
        let [mut bends, mut changes]: [f64; 2] = [0.0; 2];
        for ((ahead, behind), middle) in ends[0].iter().zip(&ends[1]).zip(&middle) {
            bends = bends.max(((ahead - middle) - (middle - behind)).abs());
            changes = changes.max((ahead - behind).abs());
        }
        Some(bends > BENT * changes)
    }

    /// True where a contact of the event has friction.
    fn rubs(&self, nearby: &NearbyEvent) -> bool {
        let touching = nearby.touching.iter().copied();
        self.wants_friction() && self.first_friction(touching).is_some()
    }

    /// The longest step that a difference may take.
    fn step_beside(
        &self,
        x: &[f64],
        nearby: &NearbyEvent,
        dx: &[f64],
        moved: impl Fn(f64) -> Vec<f64>,
    ) -> Option<f64> {
        let usual = step_along(0.0, x, 0.0, dx);
        let mut step = usual;
        // With friction long steps would change sticking to slipping.
        if self.has_linear_impacts() && !self.rubs(nearby) {
            // Piecewise linear: the longer the step, the less its rounding counts.
            step = largest(x).max(1.0) / largest(dx).max(f64::MIN_POSITIVE);
        } else if !self.rubs(nearby) {
            // An extrapolated difference, of twice the step too.
            step = 2.0 * nearby.coarse.factor * usual;
        }
        // The step is a part of the slowest approach, so that all contacts approach at both ends.
        let at = &mut ContactsAt::default();
        let rates = [usual, -usual].map(|s| self.approach(at, &moved(s), &nearby.touching));
        for i in (0..nearby.touching.len()).filter(|&i| nearby.new[i]) {
            let change = (rates[0][i] - rates[1][i]).abs() / (2.0 * usual);
            if change > 0.0 {
                step = step.min(SLOW * nearby.approach[i].abs() / change);
            }
        }
        let other = |s: f64| self.restitutions(&moved(s), &nearby.touching) != nearby.restitution;
        if step > usual && (other(step) || other(-step)) {
            step = usual;
        }
        (step > 0.0).then_some(step)
    }

    /// The impact of the event at a state close by, with these rows of its contacts where they are known otherwise;
    /// gives the modes of its contacts.
    fn strike_beside(
        &self,
        x: &mut [f64],
        nearby: &NearbyEvent,
        rows: Option<Vec<f64>>,
    ) -> Result<Option<Order>, Breakdown> {
        let closed: Vec<usize> = self.layout().closed(&nearby.mode_before).collect();
        onto_contacts::onto_gaps(self, x, &closed, NONE_ALONE);
        onto_contacts::hold(self, x, &nearby.mode_before, NONE_ALONE);
        let mut order = None;
        if nearby.new.iter().any(|&new| new) {
            let (q, _) = self.parts(x);
            let at = rows.map(|rows| ContactsAt::with_rows(q, &nearby.touching, rows));
            let at = at.unwrap_or_default();
            let mut event = Event::of(&nearby.touching, nearby.new.clone(), at);
            self.apply_impact(nearby.occasion, x, &mut event)?;
            let modes = event.outcome().map(|outcome| outcome.order.clone());
            order = modes.filter(|order| matches!(order, Order::Modes(_)));
        }
        Ok(order)
    }
}
