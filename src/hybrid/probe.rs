//! The user's functions as the loop asks for them: rates of guards with their numerical zeros, and finiteness.

use super::{EventFunction, Flow, Mode};
use crate::ode::difference;
use crate::{Error, Quantity};

/// `dh_k/dt` along the flow, and how well `h_k` can be told from zero at this state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rate {
    /// `D_x h_k · f + ∂h_k/∂t` (`u_k`/s).
    pub(crate) value: f64,
    /// `Σ |∂h_k/∂x_i · x_i|` (`u_k`): rounding of the state shows in `h_k` as a few units in the last place of this. Zero
    /// when the row is not written.
    pub(crate) magnitude: f64,
    /// The row is written, and in the buffer that was passed.
    pub(crate) written: bool,
}

/// Rate of guard `k` at `(t, x)` along `field`; by the user's row or by a central difference along the flow. `row` is
/// overwritten.
#[inline]
pub(crate) fn rate<S: Flow + EventFunction + ?Sized>(
    system: &S,
    k: usize,
    (t, x): (f64, &[f64]),
    mode: &Mode,
    field: &[f64],
    row: &mut [f64],
) -> Rate {
    if let Some(moving) = system.gradient(k, t, x, mode, row) {
        let (mut value, mut magnitude) = (moving, 0.0);
        for i in 0..x.len() {
            value += row[i] * field[i];
            magnitude += (row[i] * x[i]).abs();
        }
        return Rate {
            value,
            magnitude,
            written: true,
        };
    }
    let h = |t: f64, x: &[f64]| system.event(k, t, x, mode);
    Rate {
        value: difference::scalar_along(h, (t, x), (1.0, field), row),
        magnitude: 0.0,
        written: false,
    }
}

/// Refuses a right-hand side that is not finite.
#[inline]
pub(crate) fn check_flow(dx: &[f64], t: f64, x: &[f64]) -> Result<(), Error> {
    // A sum of finite numbers may overflow, so it only tells that a closer look is needed.
    if dx.iter().sum::<f64>().is_finite() {
        return Ok(());
    }
    match dx.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(component) => Err(not_finite(Quantity::Flow { component }, t, x)),
    }
}

/// Refuses event functions that are not finite.
#[inline]
pub(crate) fn check_events(h: &[f64], t: f64, x: &[f64]) -> Result<(), Error> {
    if h.iter().sum::<f64>().is_finite() {
        return Ok(());
    }
    match h.iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(event) => Err(not_finite(Quantity::Event { event }, t, x)),
    }
}

/// The error for a value that is not finite.
#[cold]
pub(crate) fn not_finite(quantity: Quantity, t: f64, x: &[f64]) -> Error {
    Error::NotFinite {
        quantity,
        t,
        state: x.to_vec(),
    }
}
