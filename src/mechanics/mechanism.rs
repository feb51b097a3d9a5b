//! A mechanical system with contacts, as drivers see it.

use super::acceleration::{Fixed, How, Trouble, motion};
use super::linearised::motion_along;
use super::{Measured, MechanicalSystem, UnilateralConstraints};

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
        (acceleration, mut multipliers): (&mut [f64], Option<&mut [f64]>),
        how: How,
    ) -> bool {
        let out = (&mut *acceleration, multipliers.as_deref_mut());
        match motion((self, fixed), state, closed, out, how) {
            Err(Trouble::Sizes { .. }) => {
                let out = (acceleration, multipliers);
                motion_of_changed((self, fixed), state, closed, out, how)
            }
            done => done.unwrap_or(false),
        }
    }

    fn motion_along(
        &self,
        fixed: &Fixed,
        at: (f64, &[f64]),
        closed: &[usize],
        (directions, out): (&[f64], &mut [f64]),
        how: How,
    ) -> bool {
        match motion_along((self, fixed), at, closed, (directions, &mut *out), how) {
            Err(_) => motion_along_of_changed((self, fixed), at, closed, (directions, out), how),
            Ok(done) => done,
        }
    }
}

/// The motion of a system that gives other sizes than it gave first: with the first ones. Compiled
/// once.
#[cold]
fn motion_of_changed(
    (system, fixed): (&dyn Mechanism, &Fixed),
    state: (f64, &[f64], &[f64]),
    closed: &[usize],
    out: (&mut [f64], Option<&mut [f64]>),
    how: How,
) -> bool {
    let system = Measured::with(system, &fixed.sizes);
    motion((&system, fixed), state, closed, out, how).unwrap_or(false)
}

/// See [`motion_of_changed`].
#[cold]
fn motion_along_of_changed(
    (system, fixed): (&dyn Mechanism, &Fixed),
    at: (f64, &[f64]),
    closed: &[usize],
    along: (&[f64], &mut [f64]),
    how: How,
) -> bool {
    let system = Measured::with(system, &fixed.sizes);
    motion_along((&system, fixed), at, closed, along, how).unwrap_or(false)
}
