//! States of mechanical systems at a time.

use crate::{InputError, Start};

/// A time, a configuration and velocities: what efforts and motions depend on, in `f64` or in
/// another scalar.
#[derive(Clone, Copy, Debug)]
pub struct State<'a, T = f64> {
    /// Time (s).
    pub t: T,
    /// Coordinates.
    pub q: &'a [T],
    /// Velocities.
    pub v: &'a [T],
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
