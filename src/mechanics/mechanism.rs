//! A mechanical system with contacts, as drivers see it.

use super::acceleration::{Fixed, How, motion};
use super::linearised::motion_along;
use super::{MechanicalSystem, UnilateralConstraints};

/// A mechanical system with contacts. Drivers take it as `dyn Mechanism`, so that they are compiled
/// once for all systems; what is hot is a method here, compiled for each.
pub(crate) trait Mechanism: MechanicalSystem + UnilateralConstraints {
    /// See [`motion`].
    fn motion(
        &self,
        fixed: &Fixed,
        state: (f64, &[f64], &[f64]),
        closed: &[usize],
        out: (&mut [f64], Option<&mut [f64]>),
        how: How,
    ) -> bool;

    /// See [`motion_along`].
    fn motion_along(
        &self,
        fixed: &Fixed,
        at: (f64, &[f64]),
        closed: &[usize],
        along: (&[f64], &mut [f64]),
        how: How,
    ) -> bool;
}

impl<S: MechanicalSystem + UnilateralConstraints> Mechanism for S {
    fn motion(
        &self,
        fixed: &Fixed,
        state: (f64, &[f64], &[f64]),
        closed: &[usize],
        out: (&mut [f64], Option<&mut [f64]>),
        how: How,
    ) -> bool {
        motion((self, fixed), state, closed, out, how)
    }

    fn motion_along(
        &self,
        fixed: &Fixed,
        at: (f64, &[f64]),
        closed: &[usize],
        along: (&[f64], &mut [f64]),
        how: How,
    ) -> bool {
        motion_along((self, fixed), at, closed, along, how)
    }
}
