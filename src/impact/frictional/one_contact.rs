//! Impact at one contact (Routh 1860): the normal impulse grows, friction opposes the present slip,
//! and the impact ends when the contact no longer approaches.

use crate::impact::ImpactFailure;

/// The impact problem at one contact.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneContact<const N: usize> {
    /// The Delassus matrix: the normal, then the tangents.
    pub(crate) delassus: [[f64; N]; N],
    pub(crate) friction: f64,
    /// Normal speed, then slip (m/s).
    pub(crate) speeds: [f64; N],
}

/// Normal speeds above minus this part of the greatest speed count as zero once the slip has ended.
const ENDED: f64 = 1e-14;

impl<const N: usize> OneContact<N> {
    /// The failure where friction and normal impulse cannot raise the normal speed.
    pub(super) fn jammed(speed: f64) -> ImpactFailure {
        ImpactFailure::Jammed { contact: 0, speed }
    }

    /// Normal speeds above minus this are zero.
    pub(super) fn least_approach(&self) -> f64 {
        ENDED * self.speeds.iter().fold(0.0f64, |most, u| most.max(u.abs()))
    }
}

impl OneContact<1> {
    /// The impulse that stops the approach.
    pub(crate) fn impulse(&self) -> [f64; 1] {
        [(-self.speeds[0] / self.delassus[0][0]).max(0.0)]
    }
}

impl OneContact<2> {
    /// The impulse of the whole impact in the plane: slip, then stick or slip on, to the end. Two
    /// straight pieces at most. A contact that does not approach gets an impulse only where its
    /// slip makes it approach (an impact without collision).
    ///
    /// # Errors
    /// [`ImpactFailure::Jammed`].
    pub(crate) fn impulse(&self) -> Result<[f64; 2], ImpactFailure> {
        let [[a, b], [_, c]] = self.delassus;
        let (mu, [mut un, ut]) = (self.friction, self.speeds);
        let mut impulse = [0.0; 2];
        if ut != 0.0 {
            let s = ut.signum();
            let (dn, dt) = (a - s * mu * b, b - s * mu * c);
            let slip = if s * dt < 0.0 {
                -ut / dt
            } else {
                f64::INFINITY
            };
            let end = time_to_zero(un, dn);
            let pushed = slip.min(end);
            if pushed == f64::INFINITY {
                return Err(Self::jammed(un));
            }
            impulse = [pushed, -s * mu * pushed];
            if end <= slip {
                return Ok(impulse);
            }
            un += dn * pushed;
        }
        if un >= -self.least_approach() {
            return Ok(impulse);
        }
        // Stick where friction suffices. A positive semidefinite matrix has b = 0 where c = 0.
        let sticks = b.abs() <= mu * c || c <= 0.0;
        let rate = match sticks {
            true if c > 0.0 => -b / c,
            true => 0.0,
            false => -b.signum() * mu,
        };
        let pushed = time_to_zero(un, a + b * rate);
        if pushed == f64::INFINITY {
            return Err(Self::jammed(un));
        }
        Ok([impulse[0] + pushed, impulse[1] + rate * pushed])
    }
}

/// The impulse after which a speed that approaches and rises at a rate is zero; infinite when it
/// does not rise.
pub(super) fn time_to_zero(speed: f64, rate: f64) -> f64 {
    if speed >= 0.0 && rate >= 0.0 {
        0.0
    } else if rate > 0.0 {
        -speed / rate
    } else {
        f64::INFINITY
    }
}
