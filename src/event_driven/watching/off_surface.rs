//! Closed contacts that are off their surfaces within a step: the motion that the run computes is not that of
//! the model there, since the gap jumps or has a kink.

use crate::event_driven::Model;
use crate::event_driven::breakdown::Breakdown;
use crate::hybrid::options::Settings;
use crate::linalg::scratch::{with_list, with_zeros};
use crate::mechanics::UnilateralConstraints;
use crate::mechanics::contact::gaps::{gap_row, work_size};
use crate::mechanics::contact_model::gather_closed;
use crate::mechanics::friction::contact_function::ContactFunction;
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::{At, Quantity, Segment, Stop};

/// A closed contact is off its surface beyond so many times what is allowed.
const OFF: f64 = 100.0;

/// Gaps of closed contacts count as zero up to so many of their tolerances: contacts that almost depend on
/// each other, as in a wedge of 1e-8 rad, are held as one, and sink.
const SUNK: f64 = 1e4;

/// Loads are outside of their cones by more than this part of them.
const OUTSIDE: f64 = 1e-4;

/// Closed contacts of a model, held to the errors that these settings allow.
#[derive(Clone, Copy)]
pub(super) struct ClosedContacts<'a> {
    pub(super) model: &'a Model<'a>,
    pub(super) settings: &'a Settings,
}

/// A place in a segment: time and state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look<'a> {
    pub(super) t: f64,
    pub(super) state: &'a [f64],
}

impl ClosedContacts<'_> {
    /// The error that the tolerances allow within a step of a gap, or of its rate, at `t`: by the largest rows and
    /// states of its start, its end and that time, since steps are held to the size that a state has in them.
    fn allowed(self, segment: &Segment<'_>, contact: usize, of_rate: bool, t: f64) -> f64 {
        let model = self.model;
        let fixed = &model.bodies.fixed;
        let (nq, d) = (fixed.nq, fixed.d);
        let (first, width) = if of_rate { (nq, d) } else { (0, nq) };
        let Settings { rtol, atol, .. } = self.settings;
        with_zeros(nq + d + 3 * width + work_size(nq, d), |space| {
            let (state, space) = space.split_at_mut(nq + d);
            let (row, space) = space.split_at_mut(width);
            let (rows, space) = space.split_at_mut(width);
            let (sizes, work) = space.split_at_mut(width);
            for time in [segment.start, t, segment.t] {
                segment.interpolant.at(time, state);
                let (q, _) = model.parts(state);
                if of_rate {
                    gap_row(model.system(), contact, q, row, work);
                } else {
                    model.gap_by_coordinate(contact, q, row);
                }
                for i in 0..width {
                    rows[i] = rows[i].max(row[i].abs());
                    sizes[i] = sizes[i].max(state[first + i].abs());
                }
            }
            let of = |i: usize| rows[i] * (atol.get(first + i) + rtol.get(first + i) * sizes[i]);
            (0..width).map(of).sum()
        })
    }

    /// Why a closed contact is off its surface at a place, by `gap`, if it is. Ends of steps are brought back
    /// to gaps of zero, and the interpolant with them: a jump is seen on the way.
    pub(super) fn off_surface(
        self,
        segment: &Segment<'_>,
        Look { t, state }: Look<'_>,
        contact: usize,
        gap: f64,
    ) -> Option<Breakdown> {
        if gap.abs() <= SUNK * self.model.gap_tolerance {
            return None;
        }
        if !gap.is_finite() {
            return Some(Breakdown::Stop(Stop::NotFinite {
                quantity: Quantity::Gap { contact },
                at: At::new(t, state, segment.mode).into(),
            }));
        }
        let is_off = gap.abs() > OFF * self.allowed(segment, contact, false, t);
        is_off.then_some(Breakdown::GapJump { contact, gap, t })
    }

    /// Why a closed contact leaves its surface at a place, if one does. Velocities at ends of steps are brought
    /// back too, so that one look on the way sees a kink before and behind it.
    pub(super) fn moves_off(
        self,
        segment: &Segment<'_>,
        Look { t, state }: Look<'_>,
        at: &mut ContactsAt,
    ) -> Option<Breakdown> {
        let model = self.model;
        let mut worst = (0, 0.0);
        with_list(model.system().contacts(), |space| {
            let closed = gather_closed(segment.mode, space);
            with_zeros(closed.len(), |rates| {
                model.approach_into(at, state, closed, rates);
                for (&contact, &rate) in closed.iter().zip(&*rates) {
                    if rate.abs() > f64::abs(worst.1) {
                        worst = (contact, rate);
                    }
                }
            });
        });
        let (contact, rate) = worst;
        if rate.abs() <= OFF * model.rate_tolerance {
            return None;
        }
        let allowed = self.allowed(segment, contact, true, t);
        (rate.abs() > OFF * allowed).then_some(Breakdown::GapKink { contact, rate, t })
    }

    /// Why the run ends where loads stay outside of their cones, if they do: by the event functions at the end
    /// of a segment, and where they were at the end of the one before. At one end they may be outside,
    /// where a force has just jumped: its event follows.
    pub(super) fn loads_outside(
        self,
        values: &[f64],
        t: f64,
        were_outside: &mut bool,
    ) -> Option<Breakdown> {
        let functions = self.model.functions();
        if functions.tangents == 0 {
            return None;
        }
        let margin = -values[functions.index(ContactFunction::Loads)];
        let stay_outside = std::mem::replace(were_outside, margin > OUTSIDE) && *were_outside;
        stay_outside.then_some(Breakdown::LoadsOutside { margin, t })
    }
}
