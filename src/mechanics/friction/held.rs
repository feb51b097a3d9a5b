//! A mode that is held at a state, beside which the motion is differenced, and its derivatives along a direction.

use crate::impact::multipliers::Hold;
use crate::mechanics::motion::coarse_steps::{Coarse, Terms};

/// The mode at a state beside which differences are taken, with what is held.
pub(super) struct Held<'a> {
    pub(super) t: f64,
    /// `(q, v)`.
    pub(super) x: &'a [f64],
    pub(super) contacts: &'a [usize],
    pub(super) holds: &'a [Hold],
    /// `a`.
    pub(super) acceleration: &'a [f64],
    /// `λ`, one a row.
    pub(super) multipliers: &'a [f64],
    /// Masses and rows are constant: only efforts depend on the state.
    pub(super) is_constant: bool,
    pub(super) coarse: Coarse,
    /// The Coriolis force is a difference of masses.
    pub(super) differs_masses: bool,
}

/// Derivatives along a direction.
pub(super) struct Along<'a> {
    /// Of `r`.
    pub(super) r: &'a mut [f64],
    /// Of `s`; of the velocities of slips in space in the rows of their tangents.
    pub(super) s: &'a mut [f64],
    /// Both at one point of a difference.
    pub(super) at: (&'a mut [f64], &'a mut [f64]),
    /// Their differences over a step, and over twice of it.
    pub(super) near: (&'a mut [f64], &'a mut [f64]),
    pub(super) far: (&'a mut [f64], &'a mut [f64]),
    pub(super) terms: Terms<'a>,
    pub(super) point: &'a mut [f64],
    pub(super) work: &'a mut [f64],
}
