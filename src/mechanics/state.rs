//! States of mechanical systems at a time.

use crate::{InputError, Start};

/// A time, a configuration and velocities: what efforts and motions depend on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct State<'a> {
    /// Time (s).
    pub(crate) t: f64,
    /// Coordinates.
    pub(crate) q: &'a [f64],
    /// Velocities.
    pub(crate) v: &'a [f64],
}

impl<'a> State<'a> {
    /// The state of a start.
    ///
    /// # Errors
    /// [`InputError::Start`] where it gives anything else.
    pub(crate) fn of(start: &Start<'a>) -> Result<Self, InputError> {
        let (t, (q, v)) = (start.t, start.motion()?);
        Ok(Self { t, q, v })
    }
}
