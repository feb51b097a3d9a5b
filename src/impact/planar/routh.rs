//! Impact at one contact: the normal impulse grows, friction opposes the present slip, and the
//! impact ends when the contact no longer approaches.
//!
//! In the plane (Routh, 1860) it has two straight pieces at most. In space (Keller, "Impact with
//! friction", 1986) the direction of slip turns while the normal impulse grows.
//!
//! With the slip `w` and the impulse `(n, f)`, friction is `df/dn = −μ w/|w|`. In the variable `τ`
//! with `dn = |w| dτ` the equations are
//!
//! ```text
//!     dn/dτ = |w|      df/dτ = −μ w      w = w₀ + g n + G f
//! ```
//!
//! The right side has no singularity where the slip ends, which then takes an infinite time `τ` and
//! a finite impulse. Steps of Tsitouras, tolerance 1e-14.

use crate::impact::ImpactFailure;
use crate::linalg::largest;
use crate::ode::adaptive::Proposal;
use crate::ode::root::{Sample, root};
use crate::ode::{Adaptive, Tolerance, Tsitouras};

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
        ENDED * largest(&self.speeds)
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

/// Limit of the steps of the integration.
const STEPS: usize = 100_000;
const TOLERANCE: f64 = 1e-14;
/// Slip below this part of the greatest speed has ended. Steps of an explicit method hold it no
/// closer to zero than their absolute tolerance.
const STUCK: f64 = 1e-12;

impl OneContact<3> {
    /// The impulse of the whole impact in space: slip along the curve of Keller's equations, then
    /// stick, or slip on along a straight line.
    ///
    /// # Errors
    /// [`ImpactFailure::Jammed`]; [`ImpactFailure::ReflectionCap`] when the slip takes more than 100 000 steps
    /// of integration.
    pub(crate) fn impulse(&self) -> Result<[f64; 3], ImpactFailure> {
        impulse(self)
    }
}

fn impulse(contact: &OneContact<3>) -> Result<[f64; 3], ImpactFailure> {
    let slip = contact.speeds[1].hypot(contact.speeds[2]);
    let greatest = slip.max(contact.speeds[0].abs());
    let mut impulse = [0.0; 3];
    if slip > STUCK * greatest {
        let start = speeds_after(contact, &impulse);
        let rate = normal_rate(contact, direction(&start));
        // Without an approach, the contact is pressed on only where slip makes it approach.
        if start[0] >= 0.0 && rate >= 0.0 {
            return Ok(impulse);
        }
        if follow_slip(contact, STUCK * greatest, &mut impulse)? {
            return Ok(impulse);
        }
    }
    let now = speeds_after(contact, &impulse);
    if now[0] >= -contact.least_approach() {
        return Ok(impulse);
    }
    let along = friction_from_rest(contact);
    let rate = contact.delassus[0][0]
        + contact.delassus[0][1] * along[0]
        + contact.delassus[0][2] * along[1];
    let pushed = time_to_zero(now[0], rate);
    if pushed == f64::INFINITY {
        return Err(OneContact::<3>::jammed(now[0]));
    }
    impulse[0] += pushed;
    impulse[1] += pushed * along[0];
    impulse[2] += pushed * along[1];
    Ok(impulse)
}

/// Follows the slip until the approach ends (true) or the slip does.
fn follow_slip(
    contact: &OneContact<3>,
    stuck: f64,
    impulse: &mut [f64; 3],
) -> Result<bool, ImpactFailure> {
    let g = &contact.delassus;
    let mu = contact.friction;
    let mut field = |_: f64, p: &[f64], dp: &mut [f64]| {
        let w = speeds_after(contact, &[p[0], p[1], p[2]]);
        dp.copy_from_slice(&[w[1].hypot(w[2]), -mu * w[1], -mu * w[2]]);
    };
    let fastest = g[0][1].abs() + g[0][2].abs() + (mu + f64::EPSILON) * (g[1][1] + g[2][2]);
    let scale = (1.0 + mu)
        * contact.speeds[0]
            .abs()
            .max(contact.speeds[1].abs())
            .max(contact.speeds[2].abs())
        / (g[0][0] + fastest);
    let tolerance = Tolerance {
        relative: [TOLERANCE; 3],
        absolute: [0.1 * TOLERANCE * scale; 3],
    };
    // Without friction and coupling the slip stays as it is.
    let slip = contact.speeds[1].hypot(contact.speeds[2]);
    let whole = contact.speeds[0].abs() / (g[0][0] * slip);
    let first = (0.01 / fastest).min(if whole > 0.0 { whole } else { f64::INFINITY });
    let mut lengths = Adaptive::new(first);
    let mut step = Tsitouras::<[f64; 3]>::new(3);
    for _ in 0..STEPS {
        let h = lengths.next;
        field(0.0, impulse, step.first_stage());
        step.begin(&mut field, 0.0, &impulse[..], h);
        step.advance(&mut field, 0.0, &impulse[..], h);
        let error = step.error(&impulse[..], h, &tolerance);
        if error.is_nan() || error > 1.0 {
            lengths.reject(h, error);
            // Numbers that overflow have no step.
            if !lengths.next.is_normal() {
                break;
            }
            continue;
        }
        let from = *impulse;
        impulse.copy_from_slice(step.state());
        let before = speeds_after(contact, &from)[0];
        let after = speeds_after(contact, impulse);
        if before < 0.0 && after[0] >= 0.0 {
            let low = Sample {
                at: 0.0,
                value: before,
            };
            let high = Sample {
                at: h,
                value: after[0],
            };
            field(0.0, &from, step.first_stage());
            let at = root(
                |h| {
                    step.begin(&mut field, 0.0, &from, h);
                    step.advance(&mut field, 0.0, &from, h);
                    let p = step.state();
                    speeds_after(contact, &[p[0], p[1], p[2]])[0]
                },
                low,
                high,
                f64::EPSILON * h,
                None,
            );
            step.begin(&mut field, 0.0, &from, at.sample.at);
            step.advance(&mut field, 0.0, &from, at.sample.at);
            impulse.copy_from_slice(step.state());
            return Ok(true);
        }
        if after[1].hypot(after[2]) <= stuck {
            return Ok(false);
        }
        lengths.accept(Proposal::new(0.0, h, h, f64::INFINITY), error);
    }
    Err(ImpactFailure::ReflectionCap {
        limit: STEPS,
        contact: 0,
        speed: speeds_after(contact, impulse)[0],
    })
}

fn speeds_after(contact: &OneContact<3>, impulse: &[f64; 3]) -> [f64; 3] {
    std::array::from_fn(|i| {
        let change: f64 = (0..3).map(|j| contact.delassus[i][j] * impulse[j]).sum();
        contact.speeds[i] + change
    })
}

fn direction(speeds: &[f64; 3]) -> [f64; 2] {
    let size = speeds[1].hypot(speeds[2]);
    [speeds[1] / size, speeds[2] / size]
}

/// The rate of the normal speed while the contact slips along a direction.
fn normal_rate(contact: &OneContact<3>, along: [f64; 2]) -> f64 {
    let g = &contact.delassus[0];
    g[0] - contact.friction * (g[1] * along[0] + g[2] * along[1])
}

/// Friction over normal impulse of a contact that does not slip: `f` with `g + G f = 0` where
/// `|f| ≤ μ`, else `f = −μ e` with `g − μ G e = κ e`, `κ > 0`, `|e| = 1`: the slip that begins.
///
/// Both are `f = −(G + κ/μ)⁻¹ g` with the least `κ ≥ 0` for which `|f| ≤ μ`; the size falls with
/// `κ`.
fn friction_from_rest(contact: &OneContact<3>) -> [f64; 2] {
    let g = &contact.delassus;
    // Eigenvalues and vectors of the tangential block.
    let (mean, half) = (0.5 * (g[1][1] + g[2][2]), 0.5 * (g[1][1] - g[2][2]));
    let radius = half.hypot(g[1][2]);
    let angle = 0.5 * g[1][2].atan2(half);
    let (sin, cos) = angle.sin_cos();
    let values = [mean + radius, mean - radius];
    let right = [cos * g[0][1] + sin * g[0][2], cos * g[0][2] - sin * g[0][1]];
    let least = f64::EPSILON * 8.0 * values[0];
    let friction_at = |shift: f64| -> [f64; 2] {
        std::array::from_fn(|i| {
            let value = values[i] + shift;
            // The range of the block has no part along a null vector.
            if value > least {
                -right[i] / value
            } else {
                0.0
            }
        })
    };
    let mu = contact.friction;
    let size_at = |shift: f64| {
        let f = friction_at(shift);
        f[0].hypot(f[1])
    };
    let mut friction = friction_at(0.0);
    if size_at(0.0) > mu {
        let norm = right[0].hypot(right[1]);
        // |f| ≤ |g|/shift
        let (mut low, mut high) = (0.0, if mu > 0.0 { norm / mu } else { 0.0 });
        for _ in 0..200 {
            let middle = 0.5 * (low + high);
            if middle <= low || middle >= high {
                break;
            }
            if size_at(middle) > mu {
                low = middle;
            } else {
                high = middle;
            }
        }
        friction = if mu > 0.0 {
            friction_at(high)
        } else {
            [0.0; 2]
        };
    }
    [
        cos * friction[0] - sin * friction[1],
        sin * friction[0] + cos * friction[1],
    ]
}
