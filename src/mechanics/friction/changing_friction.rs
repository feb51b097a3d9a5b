//! How the friction of contacts that slip changes along a direction: by their laws, and in space as slips turn. A part
//! of the linearised equations of motion.

use super::frame::Frame;
use super::held::{Along, Held};
use super::slow_slip::ONSET;
use crate::impact::multipliers::Hold;
use crate::linalg::dot;
use crate::mechanics::MechanicalSystem;
use crate::mechanics::contact::gaps::straight_along;
use crate::mechanics::contact_model::Model;
use crate::ode::difference::coordinate_step;
use crate::ode::straight::{Steps, straight};

impl Model<'_> {
    /// Adds to `δr` the change of the friction of slips with their laws, `−Tᵀ d λ_n δμ`.
    pub(super) fn change_friction(
        &self,
        held: &Held<'_>,
        frame: &Frame<'_>,
        dx: &[f64],
        along: &mut Along<'_>,
    ) {
        let (m, k, driven) = (
            held.contacts.len(),
            frame.tangents(),
            self.system().driven(),
        );
        let (q, v) = self.parts(held.x);
        let (dq, dv) = self.parts(dx);
        for (i, (&j, hold)) in held.contacts.iter().zip(held.holds).enumerate() {
            let Hold::Slip(direction) = *hold else {
                continue;
            };
            if k == 0 || self.has_constant_friction(j, q) {
                continue;
            }
            let [x, y] = frame.slip_velocity(i, v);
            let (speed, rows) = (x.hypot(y), m + i * k..m + (i + 1) * k);
            let law = |q: &[f64], speed: f64| self.coefficients(j, q, speed).slip;
            let by_place = self.along_place(q, dq, along.point, |q| law(q, speed));
            let rounding = |step: f64| f64::EPSILON * frame.slip[i] / step;
            // Speeds are none below zero.
            let usual = coordinate_step(speed);
            let steps = Steps {
                usual,
                longest: usual,
            };
            let (by_speed, _) = straight(steps, rounding, |step| {
                let middle = speed.max(step);
                (law(q, middle + step) - law(q, middle - step)) / (2.0 * step)
            });
            let each = rows.clone().zip(direction);
            let faster: f64 = each
                .map(|(row, part)| {
                    if held.is_constant {
                        part * dot(frame.row(row), dv)
                    } else {
                        part * along.s[row]
                    }
                })
                .sum();
            let by = -held.multipliers[i] * (by_place + by_speed * faster);
            for (row, part) in rows.zip(direction) {
                let each = along.r.iter_mut().zip(frame.row(row)).enumerate();
                for (_, (r, entry)) in each.filter(|(i, _)| !driven.contains(i)) {
                    *r += by * part * entry;
                }
            }
        }
    }

    /// The derivative of a coefficient of friction along a displacement of the coordinates.
    pub(super) fn along_place(
        &self,
        q: &[f64],
        dq: &[f64],
        point: &mut [f64],
        law: impl Fn(&[f64]) -> f64,
    ) -> f64 {
        if dq.iter().all(|&dq| dq == 0.0) {
            return 0.0;
        }
        let point = self.parts_mut(point).0;
        straight_along(&law, law(q), [q, dq], point).0
    }

    /// Adds to `δr` the change of the friction of slips in space with their directions.
    pub(super) fn turn_slips(
        &self,
        held: &Held<'_>,
        frame: &Frame<'_>,
        dv: &[f64],
        friction: &[f64],
        along: &mut Along<'_>,
    ) {
        let m = held.contacts.len();
        if frame.tangents() < 2 {
            return;
        }
        let ((_, v), driven) = (self.parts(held.x), self.system().driven());
        for (i, hold) in held.holds.iter().enumerate() {
            let Hold::Slip(direction) = *hold else {
                continue;
            };
            let rows = [m + 2 * i, m + 2 * i + 1];
            let [x, y] = frame.slip_velocity(i, v);
            let speed = x.hypot(y);
            let change = if held.is_constant {
                rows.map(|row| dot(frame.row(row), dv))
            } else {
                rows.map(|row| along.s[row])
            };
            // Behind a stop the direction is that before it.
            let side = if dot(&direction, &[x, y]) < 0.0 {
                -1.0
            } else {
                1.0
            };
            let ahead = dot(&direction, &change);
            // Slower slips have no direction that is known: without a bound the error of a stop, which
            // passes zero a little beside it, would turn all displacements.
            let by =
                -friction[i] * held.multipliers[i] * side / speed.max(ONSET * self.rate_tolerance);
            for ((row, change), direction) in rows.iter().zip(change).zip(direction) {
                let p = by * (change - ahead * direction);
                let each = along.r.iter_mut().zip(frame.row(*row)).enumerate();
                for (_, (r, entry)) in each.filter(|(i, _)| !driven.contains(i)) {
                    *r += p * entry;
                }
            }
        }
    }
}
