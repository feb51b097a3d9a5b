//! The beginning of a slip in the plane.
//!
//! A contact leaves its cone where the force of sticking is that of slipping: the slip begins with the
//! speed and the acceleration zero, and only the rate of the force takes it on. Rounding, of the time at
//! which the cone was left and of the state as it is put onto the contacts, may leave the force a little
//! within the cone: by about 1e-11 of it, for 1e-13 s. The slip would fall through zero at once, and
//! stick, and leave the cone again. A speed far above what it can lose in that time, and far below what
//! counts as one, takes it over.

use crate::event_driven::Model;
use crate::linalg::dot;
use crate::linalg::scratch::with_zeros;
use crate::mechanics::State;
use crate::mechanics::friction::contact_function::{ContactFunction, Slip};
use crate::mechanics::friction::frame::{Frame, hold_rows};
use crate::{Flow, Mode};

/// The speed of such a slip, by the tolerance of rates: twice that at which a slip counts as fallen.
const AHEAD: f64 = 2e-2;

/// Accelerations below this part of their terms are rounding of where the cone was left.
const AT_CONE: f64 = 1e-8;

/// Part of a row that other rows leave free.
const INDEPENDENT: f64 = 1e-6;

impl Model<'_> {
    /// Gives slips that begin with no acceleration, by rounding, the speed to do so.
    pub(super) fn begin_slips(&self, t: f64, state: &mut [f64], contacts: &[usize], mode: &Mode) {
        for &j in contacts {
            let slip = self.functions().slip(mode, j);
            let (q, v) = self.parts(state);
            let ahead = AHEAD * self.rate_tolerance;
            let speed = slip.along(self.slip_velocity(j, q, v));
            if slip != Slip::NONE && speed < 0.5 * ahead && self.stalls(t, state, j, mode) {
                self.push_slip(t, state, j, mode, ahead - speed);
            }
        }
    }

    /// True where the acceleration of a slip that begins is zero, but for rounding.
    fn stalls(&self, t: f64, state: &[f64], j: usize, mode: &Mode) -> bool {
        let (q, v) = self.parts(state);
        with_zeros(2 * state.len(), |space| {
            let (row, rates) = space.split_at_mut(state.len());
            if !self.gradient_of_slip(ContactFunction::Slip(j), [q, v], mode, row) {
                return false;
            }
            self.flow(t, state, mode, rates);
            let terms: f64 = row.iter().zip(&*rates).map(|(r, x)| (r * x).abs()).sum();
            let rate = dot(row, rates);
            // Slower ones are not told from zero: that is the least rate of a slip as an event function.
            rate < self.rate_tolerance && rate.abs() <= AT_CONE * terms
        })
    }

    /// Changes the speed of a slip, with the least momentum that leaves the other contacts as they are.
    fn push_slip(&self, t: f64, state: &mut [f64], j: usize, mode: &Mode, by: f64) {
        let closed = self.closed(mode);
        let Some(place) = closed.iter().position(|&closed| closed == j) else {
            return;
        };
        let (q, v) = self.parts_mut(state);
        let m = closed.len();
        with_zeros(Frame::size(self, m) + v.len(), |space| {
            let (change, scratch) = space.split_at_mut(v.len());
            let Ok(frame) = Frame::new(self, State { t, q, v }, &closed, scratch) else {
                return;
            };
            let own = m + place;
            let sticks = |i: usize| self.functions().slip(mode, closed[i]) == Slip::NONE;
            let held: Vec<usize> = (0..frame.r)
                .filter(|&row| row < m || row != own && sticks(row - m))
                .collect();
            frame.push(own, 1.0, change);
            hold_rows(&frame, &held, change, 0.0, |_, _| {});
            let gained = dot(frame.row(own), change);
            let sign = f64::from(self.functions().slip(mode, j).sign);
            // None is gained where the tangent depends on rows that are held.
            let whole = frame.gram[own * frame.r + own];
            if gained > INDEPENDENT * whole {
                for (v, change) in v.iter_mut().zip(&*change) {
                    *v += sign * by / gained * change;
                }
            }
        });
    }
}
