//! The beginning of a slip.
//!
//! A contact leaves its cone where the force of sticking is that of slipping: the slip begins with the
//! speed and the acceleration zero, and only the rate of the force takes it on. Rounding, of the time at
//! which the cone was left and of the state as it is put onto the contacts, may leave the force a little
//! within the cone: by about 1e-11 of it, for 1e-13 s. The slip would fall through zero at once, and
//! stick, and leave the cone again. A speed far above what it can lose in that time, and far below what
//! counts as one, takes it over.

use crate::event_driven::Model;
use crate::impact::multipliers::Hold;
use crate::linalg::dot;
use crate::linalg::scratch::with_zeros;
use crate::mechanics::State;
use crate::mechanics::friction::contact_function::{ContactFunction, Slip};
use crate::mechanics::friction::frame::{Frame, hold_rows};
use crate::{Flow, Mode};

/// The speed of such a slip, by the tolerance of rates: twice that at which a slip counts as fallen. In space by the
/// speed below which one has no direction, if that is more.
const AHEAD: f64 = 2e-2;

/// Accelerations below this part of their terms are rounding of where the cone was left.
const AT_CONE: f64 = 1e-8;

/// Differences of a slip that begins are rounded by this part of the terms of its acceleration, where coordinates are
/// no larger than one.
const ROUNDED: f64 = 1e-10;

/// Part of a row that other rows leave free.
const INDEPENDENT: f64 = 1e-6;

impl Model<'_> {
    /// Gives slips that begin with no acceleration, by rounding, the speed to do so.
    pub(super) fn begin_slips(&self, t: f64, state: &mut [f64], contacts: &[usize], mode: &Mode) {
        for &j in contacts {
            let slip = self.functions().slip(mode, j);
            let (q, v) = self.parts(state);
            let ahead = AHEAD
                * self
                    .rate_tolerance
                    .max(self.least_slip(j, State { t, q, v }));
            let speed = slip.along(self.slip_velocity(j, q, v));
            // A speed left of sticking may point back, where the other contacts leave it.
            let backwards = slip.begins && speed < -ahead;
            let is_slow = slip != Slip::NONE && speed < 0.5 * ahead;
            if is_slow && (backwards || self.stalls(t, state, j, mode)) {
                self.push_slip(t, state, j, mode, ahead - speed);
            }
        }
    }

    /// True where the acceleration of a slip that begins is zero, but for rounding.
    fn stalls(&self, t: f64, state: &[f64], j: usize, mode: &Mode) -> bool {
        let (q, v) = self.parts(state);
        if self.functions().tangents > 1 {
            return self.stalls_in_space(State { t, q, v }, j, mode);
        }
        with_zeros(2 * state.len(), |space| {
            let (row, rates) = space.split_at_mut(state.len());
            if !self.gradient_of_slip(ContactFunction::Slip(j), [q, v], mode, row) {
                return false;
            }
            self.flow(t, state, mode, rates);
            let terms: f64 = row.iter().zip(&*rates).map(|(r, x)| (r * x).abs()).sum();
            // Slower ones are not told from zero: that is the least rate of a slip as an event function.
            let rate = dot(row, rates);
            rate < self.rate_tolerance && rate.abs() <= AT_CONE * terms
        })
    }

    /// Likewise, of a slip whose direction follows from the forces.
    fn stalls_in_space(&self, state: State<'_>, j: usize, mode: &Mode) -> bool {
        let (slip, closed) = (self.functions().slip(mode, j), self.closed(mode));
        let Some(place) = closed.iter().position(|&closed| closed == j) else {
            return false;
        };
        let m = closed.len();
        slip.begins
            && with_zeros(Frame::size(self, m), |scratch| {
                let Ok(frame) = Frame::new(self, state, &closed, scratch) else {
                    return false;
                };
                let (mut holds, mut multipliers) = (vec![Hold::Open; m], vec![0.0; frame.r]);
                self.holds(&frame, mode, state.v, &mut holds);
                let friction = |i: usize| match holds[i] {
                    Hold::Stick => frame.stick[i],
                    _ => frame.slip[i],
                };
                let friction: Vec<f64> = (0..m).map(friction).collect();
                let rates = frame.rates(&friction);
                rates.solve_mode(&mut holds, &mut multipliers);
                let rate = slip.along(rates.along(place, |row| rates.rate(row, &multipliers)));
                let own = m + place * frame.tangents() + usize::from(slip.across);
                let gram = &frame.gram[own * frame.r..(own + 1) * frame.r];
                let pushes = gram.iter().zip(&multipliers).map(|(g, p)| (g * p).abs());
                let terms = frame.bends[own].abs() + pushes.sum::<f64>();
                // Its rate as an event function is a difference, whose rounding has either sign; it counts where it is
                // more than the least rate. Coordinates that are larger round it more.
                let reach = state.q.iter().fold(1.0f64, |most, q| most.max(q.abs()));
                let rounding = rate.abs().max(ROUNDED * reach * terms);
                rate.abs() <= AT_CONE * terms && rounding >= self.rate_tolerance
            })
    }

    /// Changes the speed of a slip, with the least momentum that leaves the other contacts as they are.
    fn push_slip(&self, t: f64, state: &mut [f64], j: usize, mode: &Mode, by: f64) {
        let closed = self.closed(mode);
        let Some(place) = closed.iter().position(|&closed| closed == j) else {
            return;
        };
        let (q, v) = self.parts_mut(state);
        let (slip, m) = (self.functions().slip(mode, j), closed.len());
        with_zeros(Frame::size(self, m) + v.len(), |space| {
            let (change, scratch) = space.split_at_mut(v.len());
            let Ok(frame) = Frame::new(self, State { t, q, v }, &closed, scratch) else {
                return;
            };
            let k = frame.tangents();
            let along = |i: usize, slip: Slip| m + i * k + usize::from(slip.across);
            let own = along(place, slip);
            let sign = f64::from(slip.sign);
            let whole = frame.gram[own * frame.r + own];
            // Straight along its tangent, while others that begin keep their speeds; or, where the contacts that
            // stick leave one motion alone, with that.
            for straight in [true, false] {
                let is_held = |row: usize| {
                    let i = (row - m) / k.max(1);
                    let other = self.functions().slip(mode, closed[i]);
                    let keeps = i == place || other.begins && row == along(i, other);
                    other == Slip::NONE || straight && keeps
                };
                let held: Vec<usize> = (0..frame.r)
                    .filter(|&row| row < m || row != own && is_held(row))
                    .collect();
                change.fill(0.0);
                frame.push(own, 1.0, change);
                hold_rows(&frame, &held, change, 0.0, |_, _| {});
                let gained = dot(frame.row(own), change);
                // None is gained where the tangent depends on rows that are held.
                if gained > INDEPENDENT * whole {
                    for (v, change) in v.iter_mut().zip(&*change) {
                        *v += sign * by / gained * change;
                    }
                    return;
                }
            }
        });
    }
}
