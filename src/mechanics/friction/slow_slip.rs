//! Slips in space that are too slow to have a direction.
//!
//! The direction `u/|u|` of a slip turns at a rate of `1/|u|`. Near a stop it is not resolved with
//! velocities as far off as tolerances allow: an explicit method may then stay at a velocity of the
//! size of its errors, at the edge of its stability, beside a stop that the motion reaches. So a slip
//! that is slower than `u_0`, a multiple of what the tolerances leave open, has no direction. Late, `u_0` is what a slip
//! loses within times that are not told apart: 4.4e-13 m/s of each second since zero.
//!
//! One that alone becomes so slow, and would stick, is brought to rest straight: with the friction of a
//! slip, in the direction in which it slows down along `u`, to a fiftieth of `u_0`, which counts as zero
//! and still has that direction. Until then, for a time `u_0/a`, forces are
//! off by the angle by which the slip would have turned; velocities behind are right but for terms of
//! `u_0²`, since both frictions take the same slip away. One that speeds up again before, as forces that change with
//! time may let it, slips on straight until it has a direction. Several that are so slow at one instant, or one
//! that would not stick, count as zero at once: what sticks does so early by `u_0/a`, what slips on
//! loses no more than `4 u_0`.
//!
//! One that begins has a direction from `8 u_0` on, and no less than a hundred times the tolerance of rates. Until
//! then it is that in which it accelerates: off by its turn since it began.

/// A slip has no direction below so many times what the tolerances leave open.
const UNRESOLVED: f64 = 50.0;
/// Nor below this part of the tolerance of rates.
const AT_REST: f64 = 0.1;
/// Nor below the speed that it loses in some hundred roundings of a time, at 10 m/s² (m/s²).
const LATE: f64 = 2e3;
/// One that begins has a direction from so many times the tolerance of rates on, and so many times the speed below
/// which it has none.
pub(super) const ONSET: f64 = 100.0;
const FASTER: f64 = 8.0;
/// Likewise of one that turns.
const SLOW: f64 = 4.0;

/// Errors of velocities that the tolerances of a run allow: none where there are none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct VelocityTolerance {
    pub(crate) relative: Vec<f64>,
    pub(crate) absolute: Vec<f64>,
}

impl VelocityTolerance {
    /// The speed below which a slip with these rows of tangents, of one length, has no direction.
    pub(super) fn least_slip(&self, rows: &[f64], v: &[f64], rate_tolerance: f64) -> f64 {
        (UNRESOLVED * self.of_rows(rows, v)).max(AT_REST * rate_tolerance)
    }

    /// How much a slip with these rows of tangents is off.
    pub(super) fn of_rows(&self, rows: &[f64], v: &[f64]) -> f64 {
        let rows = rows.chunks_exact(v.len().max(1));
        rows.fold(0.0f64, |most, row| most.max(self.of_row(row, v)))
    }

    /// How much a rate with this row is off.
    fn of_row(&self, row: &[f64], v: &[f64]) -> f64 {
        let entries = self
            .relative
            .iter()
            .zip(&self.absolute)
            .zip(row.iter().zip(v));
        entries
            .map(|((relative, absolute), (row, v))| row.abs() * (absolute + relative * v.abs()))
            .sum()
    }
}

/// The speed of a slip of which the stop is not resolved at a time, since steps cannot be shorter there.
pub(super) fn unresolved_at(t: f64) -> f64 {
    LATE * f64::EPSILON * t.abs()
}

/// The speed, over the cosine within which it is near its tangent, from which on a slip turns from one
/// tangent to the other, where it has no direction below `least`: well above the errors of velocities,
/// so that a stop is not taken for the beginning of a turn.
pub(super) fn turns_from(least: f64, rate_tolerance: f64) -> f64 {
    (ONSET * rate_tolerance).max(SLOW * least)
}

/// The speed from which on a slip that begins has a direction, where it has none below `least`.
pub(super) fn onset(least: f64, rate_tolerance: f64) -> f64 {
    (ONSET * rate_tolerance).max(FASTER * least)
}
