//! The start of a run: time, state and mode, each by its name.

use crate::InputError;
use crate::model::Mode;

/// The start of a run: a time and a state `x`, or positions `q` and velocities `v` of a mechanical
/// system. It borrows them: an array that is computed is bound by a `let` first.
///
/// ```
/// use saltation::{Integrator, Start, flow_fn};
/// let decay = flow_fn(1, |_t, x, _mode, dx| dx[0] = -x[0]);
/// let run = Integrator::new(decay)?.integrate(&Start::at(0.0).x(&[1.0]), 1.0)?;
/// assert!((run.state()[0] - (-1.0f64).exp()).abs() < 1e-6);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct Start<'a> {
    pub(crate) t: f64,
    x: &'a [f64],
    q: &'a [f64],
    v: &'a [f64],
    mode: Option<&'a Mode>,
}

impl<'a> Start<'a> {
    /// At time `t` (s). Times are told apart to a few roundings of themselves, a nanosecond at 1e6 s, and events are
    /// not placed better: where that matters let time begin near zero.
    pub fn at(t: f64) -> Self {
        Self {
            t,
            x: &[],
            q: &[],
            v: &[],
            mode: None,
        }
    }

    /// With the state `x`: what [`Integrator`](crate::Integrator) starts from.
    pub fn x(self, x: &'a [f64]) -> Self {
        Self { x, ..self }
    }

    /// With the positions `q`: what the drivers of mechanical systems start from, beside `v`.
    pub fn q(self, q: &'a [f64]) -> Self {
        Self { q, ..self }
    }

    /// With the velocities `v`.
    pub fn v(self, v: &'a [f64]) -> Self {
        Self { v, ..self }
    }

    /// In this mode: side bits and flags, for runs that go on from another or whose mode has a
    /// memory (hysteresis); as many as [`Mode::of`] gives for the system. A mode that is given for
    /// its flags must have its side bits right too. Default: the signs of the event functions, and
    /// their rates where they are zero; event functions that read the mode are evaluated with all
    /// bits off for that, so that such systems want a start mode. Drivers of mechanical systems
    /// find the mode themselves, and refuse one.
    ///
    /// A guard is armed when it is watched and its bit is on the side before it; one that the state
    /// is already beyond is left alone. A thermostat that starts between its limits with the heater
    /// off has bit 0 on ("hot was crossed") and bit 1 on ("above cold"). A state exactly on a guard
    /// with the bit before it crosses at once: so a run can start with an impact.
    pub fn mode(self, mode: impl Into<Option<&'a Mode>>) -> Self {
        Self {
            mode: mode.into(),
            ..self
        }
    }

    /// The state and the mode of an event-selected system.
    ///
    /// # Errors
    /// [`InputError::Start`] where `q` or `v` was given.
    pub(crate) fn state(&self) -> Result<(&'a [f64], Option<&'a Mode>), InputError> {
        if self.q.is_empty() && self.v.is_empty() {
            return Ok((self.x, self.mode));
        }
        Err(InputError::Start {
            expected: "its state x",
            found: "q and v",
        })
    }

    /// The positions and velocities of a mechanical system.
    ///
    /// # Errors
    /// [`InputError::Start`] where `x` or a mode was given.
    pub(crate) fn motion(&self) -> Result<(&'a [f64], &'a [f64]), InputError> {
        let found = match (self.x, self.mode) {
            ([], None) => return Ok((self.q, self.v)),
            ([], Some(_)) => "a mode",
            _ => "x",
        };
        Err(InputError::Start {
            expected: "q and v",
            found,
        })
    }
}
