//! The contacts that touch at an event: which of them stay, and what brings their rates to zero.

use crate::Mode;
use crate::event_driven::Model;
use crate::event_driven::breakdown::Breakdown;
use crate::linalg::dot;
use crate::mechanics::State;
use crate::mechanics::friction::frame::{Frame, hold_rows};

/// Slips in space that come to rest at one instant are within this ratio of each other.
pub(crate) const TOGETHER: f64 = 4.0;

/// Impulses that hold rebounds stand for what weights do within times that are not told apart. Beyond so many times
/// those that contacts would take alone friction is left out of them.
const AMPLIFIED: f64 = 30.0;

/// Contacts that touch at one instant.
pub(super) struct Meeting<'a, 'm> {
    pub(super) model: &'a Model<'m>,
    pub(super) frame: &'a Frame<'a>,
    pub(super) touching: &'a [usize],
    /// The mode before.
    pub(super) before: &'a Mode,
    /// Slips up to so many times what the steps have added to them count as zero.
    pub(super) left_over: f64,
    pub(super) t: f64,
    pub(super) q: &'a [f64],
}

/// Rows that were brought to rates of zero, normals first, and the impulses on all rows that took.
pub(super) struct Held {
    pub(super) rows: Vec<usize>,
    pub(super) impulses: Vec<f64>,
}

impl Meeting<'_, '_> {
    /// The places of contacts that do not part; true where one of them rebounds, too low to be resolved.
    pub(super) fn staying(&self, v: &[f64]) -> (Vec<usize>, bool) {
        let (mut places, mut any_low) = (Vec::new(), false);
        for (i, &j) in self.touching.iter().enumerate() {
            let rate = dot(self.frame.row(i), v);
            if rate > self.model.rate_tolerance {
                let is_low = self.model.is_low(self.t, rate, self.frame.bends[i]);
                if !(is_low && self.model.is_closed(self.before, j)) {
                    continue;
                }
                any_low = true;
            }
            places.push(i);
        }
        (places, any_low)
    }

    /// Adds the places of contacts whose rates have come to zero; false for none.
    pub(super) fn stop_too(&self, v: &[f64], places: &mut Vec<usize>) -> bool {
        let stops = |&i: &usize| {
            let rate = dot(self.frame.row(i), v);
            !places.contains(&i) && rate.abs() <= self.model.rate_tolerance
        };
        let more: Vec<usize> = (0..self.touching.len()).filter(stops).collect();
        places.extend(&more);
        places.sort_unstable();
        !more.is_empty()
    }

    /// The rows of a contact along its tangents.
    pub(super) fn tangents(&self, i: usize) -> std::ops::Range<usize> {
        let (m, k) = (self.touching.len(), self.frame.tangents());
        m + i * k..m + (i + 1) * k
    }

    pub(super) fn rubs(&self, i: usize) -> bool {
        self.frame.tangents() > 0 && self.model.friction(self.touching[i]) > 0.0
    }

    fn speed(&self, i: usize, v: &[f64]) -> f64 {
        let [x, y] = self.frame.slip_velocity(i, v);
        x.hypot(y)
    }

    /// The speed up to which a slip counts as zero. In space: what is slower than a slip with a direction, and
    /// as slow as those beside it. In the plane: of one that stuck, what the steps have added; of one that
    /// slipped, as far beyond its stop as the steps may have taken it.
    fn slow(&self, i: usize, v: &[f64]) -> f64 {
        let (model, j, q) = (self.model, self.touching[i], self.q);
        let before = model.functions().slip(self.before, j);
        let is_beyond = || before.along(self.frame.slip_velocity(i, v)) <= 0.0;
        let slow = match self.frame.tangents() {
            1 if model.is_closed(self.before, j) && is_beyond() => {
                self.left_over * model.error_of_slip(j, q, v)
            }
            1 => 0.0,
            _ => TOGETHER * model.least_slip(j, State { t: self.t, q, v }),
        };
        model.rate_tolerance.max(slow)
    }

    /// The largest impulse that would bring the rate of one of the contacts at these places to zero by itself.
    fn largest_alone(&self, places: &[usize], v: &[f64]) -> f64 {
        let alone =
            |&i: &usize| dot(self.frame.row(i), v).abs() / self.frame.gram[i * self.frame.r + i];
        places.iter().map(alone).fold(0.0, f64::max)
    }

    /// Brings the rates of the contacts at these places to zero, and slips that count as zero. Friction of those that
    /// slip goes with the impulses of rebounds that are held, unless it is what makes these large. A rebound
    /// that is held changes the slips of the other contacts: those that come to zero with it are held too.
    pub(super) fn hold(
        &self,
        v: &mut [f64],
        places: Vec<usize>,
        any_low: bool,
    ) -> Result<Held, Breakdown> {
        let k = self.frame.tangents();
        let contacts: Vec<usize> = places.iter().map(|&i| self.touching[i]).collect();
        let (normals, mut rows) = (places.len(), places);
        let (mut impulses, mut any_slow) = (vec![0.0; self.frame.r], false);
        for pass in 0..=self.touching.len() {
            let held = rows.len();
            for n in 0..normals {
                let i = rows[n];
                let is_new = self.rubs(i) && !rows.contains(&self.tangents(i).start);
                if is_new && self.speed(i, v) <= self.slow(i, v) {
                    any_slow |= k > 1 && self.speed(i, v) > self.model.rate_tolerance;
                    rows.extend(self.tangents(i));
                }
            }
            if pass > 0 && rows.len() == held {
                break;
            }
            if !any_low && !any_slow {
                hold_rows(self.frame, &rows, v, 0.0, |_, _| {});
                continue;
            }
            let sticks = |n: usize| k == 0 || rows.contains(&self.tangents(rows[n]).start);
            let (before, most) = (
                v.to_vec(),
                AMPLIFIED * self.largest_alone(&rows[..normals], v),
            );
            let pushed = self.model.hold_low(self.t, self.q, v, &contacts, sticks)?;
            // Behind the first pass no normal rates are left to compare with.
            let is_first = any_low && pass == 0;
            if is_first && pushed[..normals].iter().any(|p| p.abs() > most) {
                v.copy_from_slice(&before);
                hold_rows(self.frame, &rows, v, 0.0, |row, p| impulses[row] += p);
                continue;
            }
            for (n, &i) in rows[..normals].iter().enumerate() {
                impulses[i] += pushed[n];
                for (row, p) in self.tangents(i).zip(&pushed[normals + n * k..]) {
                    impulses[row] += p;
                }
            }
        }
        Ok(Held { rows, impulses })
    }
}
