//! States of mechanical systems at a time.

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
