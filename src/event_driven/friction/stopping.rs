//! Contacts with friction brought to rest: by impulses, in modes that are given or within cones; and a state brought
//! onto its mode.

use crate::Mode;
use crate::event_driven::Model;
use crate::event_driven::breakdown::{Breakdown, explain};
use crate::event_driven::onto_contacts::{self, LEFT_ALONE};
use crate::impact::Contacting;
use crate::linalg::dot;
use crate::linalg::least_norm::{least_norm, least_norm_size, null_projector};
use crate::linalg::scratch::{with_list, with_zeros};
use crate::mechanics::State;
use crate::mechanics::contact_model::gather_closed;
use crate::mechanics::friction::contact_function::Slip;
use crate::mechanics::friction::frame::{Frame, hold_rows};

/// Part of a normal impulse that others can take, squared, above which it is shared.
const SHARED: f64 = 1e-9;

/// By up to this part more than its cone holds a contact sticks that only a pull would stop as it slips.
const NEARLY: f64 = 1e-3;

/// Rounding of an impulse, as a part of its cone.
const ROUNDING: f64 = 1e-9;

/// An order to a contact that is stopped.
#[derive(Clone, Copy)]
enum Told {
    Nothing,
    /// It stuck before, and sticks if its cone holds it.
    StickOn,
    /// With an impulse beyond its cone by no more than a part of it.
    Stick {
        beyond: f64,
    },
    Slip,
}

/// Facts of slips that the impacts up to an accumulation tell.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastSlips<'a> {
    /// Contacts that stuck in their last ones. Whatever they slip by now was gathered since.
    pub(crate) stuck: &'a [usize],
    /// None came behind these. What stuck and slips by no more than this is at rest, and no pull stops faster slips
    /// (m/s).
    pub(crate) over: Option<f64>,
}

impl LastSlips<'_> {
    pub(crate) const UNKNOWN: Self = LastSlips {
        stuck: &[],
        over: None,
    };
}

/// Contacts that were brought to rest; rows come normal ones first.
pub(crate) struct Stopped {
    /// Rates of the rows before.
    pub(crate) before: Vec<f64>,
    /// Rates of the rows after.
    pub(crate) after: Vec<f64>,
    /// Impulses of the rows.
    pub(crate) impulses: Vec<f64>,
    /// Others that stop what sticks, in cones where some are.
    in_cones: Vec<f64>,
    /// Static coefficients of friction of the contacts.
    pub(crate) friction: Vec<f64>,
    /// Change of the rate of each contact by an impulse of 1 along its normal; 0 where other normal impulses do the
    /// same as those found.
    lightness: Vec<f64>,
}

impl Stopped {
    /// The entries along the tangents of a contact.
    fn along<'a>(&self, rows: &'a [f64], i: usize) -> &'a [f64] {
        let m = self.friction.len();
        let k = (rows.len() / m.max(1)).saturating_sub(1);
        &rows[m + i * k..m + (i + 1) * k]
    }

    /// The slip of a contact before.
    pub(crate) fn slip(&self, i: usize) -> f64 {
        size(self.along(&self.before, i))
    }

    /// True where friction has turned the slip of a contact round.
    pub(crate) fn is_reversed(&self, i: usize) -> bool {
        dot(self.along(&self.before, i), self.along(&self.after, i)) < 0.0
    }

    /// True where a contact that does not part is pulled: friction presses down what it is to stop (Painlevé). A pull
    /// that changes its rate by less than `least` is rounding; of contacts that share loads none is known.
    pub(crate) fn is_pulled(&self, i: usize, least: f64) -> bool {
        let changes = self.impulses[i] * self.lightness[i];
        self.before[i] < least && changes < -least
    }

    /// True where the impulse of a contact lies beyond its cone by more than this part of it.
    pub(crate) fn is_beyond_cone(&self, i: usize, by: f64) -> bool {
        let most = self.friction[i] * self.in_cones[i].max(0.0);
        size(self.along(&self.in_cones, i)) > most * (1.0 + by)
    }
}

fn size(along: &[f64]) -> f64 {
    along.iter().fold(0.0, |size: f64, x| size.hypot(*x))
}

impl Model<'_> {
    /// Stops contacts some of which rebound too low to be resolved: friction of those that slip goes with
    /// the impulses that hold them.
    pub(super) fn hold_low(
        &self,
        t: f64,
        q: &[f64],
        v: &mut [f64],
        contacts: &[usize],
        sticks: impl Fn(usize) -> bool,
    ) -> Result<Vec<f64>, Breakdown> {
        self.stop_in_modes(t, q, v, contacts, |frame, v, i| {
            if sticks(i) {
                Slip::NONE
            } else {
                Slip::near(frame.slip_velocity(i, v))
            }
        })
        .map(|stopped| stopped.impulses)
    }

    /// Brings the rates of contacts to zero along their normals, and along the tangents of those that
    /// stick, by impulses that may pull; those of contacts that slip are within their cones or beyond the
    /// opposite ones. `of` gives the slip of a contact by its place, from the velocities before. Of contacts that
    /// depend on each other impulses are the least.
    pub(crate) fn stop_in_modes(
        &self,
        t: f64,
        q: &[f64],
        v: &mut [f64],
        contacts: &[usize],
        of: impl Fn(&Frame<'_>, &[f64], usize) -> Slip,
    ) -> Result<Stopped, Breakdown> {
        with_zeros(Frame::size(self, contacts.len()), |scratch| {
            let mut frame = Frame::new(self, State { t, q, v }, contacts, scratch)
                .map_err(|trouble| explain(trouble, q, contacts))?;
            let rows = 0..frame.r;
            let before: Vec<f64> = rows.map(|i| dot(frame.row(i), v)).collect();
            let mut mode = self.mode(&[]);
            for (i, &j) in contacts.iter().enumerate() {
                self.set_contacting(&mut mode, j, Some(of(&frame, v, i)));
            }
            let in_cones = self.stop(&mut frame, &mode, v);
            let after: Vec<f64> = (0..frame.r).map(|i| dot(frame.row(i), v)).collect();
            // J M⁻¹Jᵀ p = J (v⁺ − v⁻)
            let mut impulses: Vec<f64> = after.iter().zip(&before).map(|(a, b)| a - b).collect();
            let (m, r) = (contacts.len(), frame.r);
            let mut lightness: Vec<f64> = (0..m).map(|i| frame.gram[i * r + i]).collect();
            with_zeros(least_norm_size(r), |space| {
                if least_norm(frame.gram, r, &mut impulses, space) < r {
                    let mut free = vec![0.0; r * r];
                    null_projector(frame.gram, r, &mut free, space);
                    for (i, lightness) in lightness.iter_mut().enumerate() {
                        *lightness *= f64::from(free[i * r + i] < SHARED);
                    }
                }
            });
            let friction = frame.stick.to_vec();
            Ok(Stopped {
                before,
                after,
                impulses,
                in_cones,
                friction,
                lightness,
            })
        })
    }

    /// Stops contacts by impulses in their cones: all that slip go on slipping, but those of which friction would turn
    /// the slip round, or that it would press down so that only a pull stops them; of these those slip again
    /// that stick only by more than their cones hold. What sticks in `mode` sticks, and what stuck in its last impact
    /// where its cone holds it, or where impacts are over and have left no slip.
    pub(crate) fn stop_in_cones(
        &self,
        t: f64,
        q: &[f64],
        v: &mut [f64],
        held: &[usize],
        last: LastSlips<'_>,
        mode: &Mode,
    ) -> Result<Stopped, Breakdown> {
        let before = v.to_vec();
        // Each contact is told to stick at most twice, and at most once not to.
        let first = |j: &usize| {
            let [x, y] = self.slip_velocity(*j, q, &before);
            match last.over {
                _ if !last.stuck.contains(j) => Told::Nothing,
                // Impulses that stop what was gathered since say nothing of cones.
                Some(fast) if x.hypot(y) <= fast => Told::Stick {
                    beyond: f64::INFINITY,
                },
                _ => Told::StickOn,
            }
        };
        let mut told: Vec<Told> = held.iter().map(first).collect();
        loop {
            v.copy_from_slice(&before);
            let stopped = self.stop_in_modes(t, q, v, held, |frame, v, i| {
                let [x, y] = frame.slip_velocity(i, v);
                if let Told::Stick { .. } | Told::StickOn = told[i] {
                    Slip::NONE
                } else if self.is_closed(mode, held[i]) {
                    self.functions().slip(mode, held[i])
                } else if x.hypot(y) <= self.rate_tolerance {
                    Slip::NONE
                } else {
                    Slip::near([x, y])
                }
            })?;
            let mut changes = false;
            for (i, told) in told.iter_mut().enumerate() {
                let sticks = self.is_closed(mode, held[i])
                    && self.functions().slip(mode, held[i]) == Slip::NONE;
                if sticks || stopped.slip(i) <= self.rate_tolerance {
                    continue;
                }
                let next = match *told {
                    Told::Nothing
                        if last.over.is_none_or(|fast| stopped.slip(i) <= fast)
                            && stopped.is_pulled(i, self.rate_tolerance) =>
                    {
                        Told::Stick { beyond: NEARLY }
                    }
                    Told::StickOn if stopped.is_beyond_cone(i, ROUNDING) => Told::Nothing,
                    Told::Nothing if stopped.is_reversed(i) => Told::Stick { beyond: ROUNDING },
                    Told::Stick { beyond } if stopped.is_beyond_cone(i, beyond) => Told::Slip,
                    _ => continue,
                };
                (*told, changes) = (next, true);
            }
            if !changes {
                return Ok(stopped);
            }
        }
    }

    /// Brings a state onto the closed contacts of a mode with friction: gaps and rates of zero, and
    /// slips of zero of those that stick. True when it changed.
    pub(crate) fn hold_in_mode(&self, state: &mut [f64], mode: &Mode) -> bool {
        let moved = with_list(self.layout().contacts, |space| {
            onto_contacts::onto_gaps(self, state, gather_closed(mode, space), LEFT_ALONE)
        });
        self.hold_rates_in_mode(state, mode, LEFT_ALONE) || moved
    }

    /// Likewise the velocities alone, but for rates within a part of their tolerance.
    pub(crate) fn hold_rates_in_mode(&self, state: &mut [f64], mode: &Mode, within: f64) -> bool {
        with_list(self.layout().contacts, |space| {
            let closed = gather_closed(mode, space);
            let (q, v) = self.parts_mut(state);
            let (m, least) = (closed.len(), within * self.rate_tolerance);
            let sticks = |j: usize| self.contacting(mode, j) == Contacting::Stick;
            // Rates are those of rounding after nearly all steps: the masses of the contacts are not needed then.
            let is_within = |rate: &f64| rate.is_nan() || rate.abs() <= least;
            let is_held =
                |&j: &usize| !sticks(j) || self.slip_velocity(j, q, v).iter().all(is_within);
            let bodies = &self.bodies;
            if bodies.rates_are_within(None, least, [q, v], closed) && closed.iter().all(is_held) {
                return false;
            }
            with_zeros(Frame::size(self, m), |scratch| {
                let Ok(frame) = Frame::new(self, State { t: 0.0, q, v }, closed, scratch) else {
                    return false;
                };
                let tangents = frame.tangents().max(1);
                let holds = |row: &usize| *row < m || sticks(closed[(row - m) / tangents]);
                with_list(frame.r, |rows| {
                    let mut count = 0;
                    for (to, row) in rows.iter_mut().zip((0..frame.r).filter(holds)) {
                        *to = row;
                        count += 1;
                    }
                    hold_rows(&frame, &rows[..count], v, least, |_, _| {})
                })
            })
        })
    }
}
