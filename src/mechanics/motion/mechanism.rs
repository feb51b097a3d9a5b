//! A mechanical system with contacts, as drivers see it.

use crate::mechanics::motion::constants::{Fixed, Trouble};
use crate::mechanics::motion::linearised::motion_along;
use crate::mechanics::motion::{ClosedContacts, motion};
use crate::mechanics::{Measured, MechanicalSystem, State, UnilateralConstraints};

/// A mechanical system with contacts. Drivers take it as `dyn Mechanism`, so that they are compiled
/// once for all systems; what is hot is a method here, compiled for each.
pub(crate) trait Mechanism: MechanicalSystem + UnilateralConstraints {
    /// See [`motion`].
    fn motion(
        &self,
        fixed: &Fixed,
        state: State<'_>,
        closed: ClosedContacts<'_>,
        acceleration: &mut [f64],
        multipliers: Option<&mut [f64]>,
    ) -> bool;

    /// See [`motion_along`].
    fn motion_along(
        &self,
        fixed: &Fixed,
        t: f64,
        x: &[f64],
        closed: ClosedContacts<'_>,
        directions: &[f64],
        out: &mut [f64],
    ) -> bool;
}

impl<S: MechanicalSystem + UnilateralConstraints> Mechanism for S {
    fn motion(
        &self,
        fixed: &Fixed,
        state: State<'_>,
        closed: ClosedContacts<'_>,
        acceleration: &mut [f64],
        mut multipliers: Option<&mut [f64]>,
    ) -> bool {
        let forces = multipliers.as_deref_mut();
        match motion(self, fixed, state, closed, acceleration, forces) {
            Err(Trouble::Sizes { .. }) => {
                motion_of_changed(self, fixed, state, closed, acceleration, multipliers)
            }
            done => done.unwrap_or(false),
        }
    }

    fn motion_along(
        &self,
        fixed: &Fixed,
        t: f64,
        x: &[f64],
        closed: ClosedContacts<'_>,
        directions: &[f64],
        out: &mut [f64],
    ) -> bool {
        match motion_along(self, fixed, t, x, closed, directions, out) {
            Err(_) => motion_along_of_changed(self, fixed, t, x, closed, directions, out),
            Ok(done) => done,
        }
    }
}

/// The motion of a system that gives other sizes than it gave first: with the first ones. Compiled
/// once.
#[cold]
fn motion_of_changed(
    system: &dyn Mechanism,
    fixed: &Fixed,
    state: State<'_>,
    closed: ClosedContacts<'_>,
    acceleration: &mut [f64],
    multipliers: Option<&mut [f64]>,
) -> bool {
    let system = Measured::with(system, &fixed.sizes);
    motion(&system, fixed, state, closed, acceleration, multipliers).unwrap_or(false)
}

/// See [`motion_of_changed`].
#[cold]
fn motion_along_of_changed(
    system: &dyn Mechanism,
    fixed: &Fixed,
    t: f64,
    x: &[f64],
    closed: ClosedContacts<'_>,
    directions: &[f64],
    out: &mut [f64],
) -> bool {
    let system = Measured::with(system, &fixed.sizes);
    motion_along(&system, fixed, t, x, closed, directions, out).unwrap_or(false)
}
