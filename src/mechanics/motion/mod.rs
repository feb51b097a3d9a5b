//! The motion with closed contacts (Pace & Burden, eq. 1 and 2): accelerations and multipliers.
//!
//! * `constants`: sizes and constants of a system; `acceleration`: the equations at a configuration.
//! * `constant_contacts`: these as two matrices, where rows and masses are constant (`kept` with the
//!   model); `linearised`: their derivative, and `coarse_steps` of its differences.
//! * `contacts_at`: what depends on the configuration alone, evaluated once.
//! * `mode_problem`, `mode_choice`: which contacts stay closed; `policies`: the policies where they
//!   depend on each other; `rates`: velocities with given rates of gaps.
//! * `kinetic`: the Coriolis force; `mechanism`: systems with contacts, as drivers see them.

pub(crate) mod acceleration;
pub(crate) mod coarse_steps;
pub(crate) mod constant_contacts;
pub(crate) mod constants;
pub(crate) mod contacts_at;
pub(crate) mod kept;
pub(crate) mod kinetic;
mod linearised;
pub(crate) mod mechanism;
pub(crate) mod mode_choice;
pub(crate) mod mode_problem;
mod policies;
pub(crate) mod rates;

pub use policies::{Painleve, Redundant};

use crate::linalg::scratch::with_zeros;
use crate::mechanics::motion::acceleration::{Frame, Purpose, accelerate};
use crate::mechanics::motion::constant_contacts::ConstantContacts;
use crate::mechanics::motion::constants::{Fixed, Trouble, same_size};
use crate::mechanics::motion::kept::Kept;
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};

/// The contacts that are closed, and how the motion with them is computed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ClosedContacts<'a> {
    /// The contacts, in rising order.
    pub(crate) list: &'a [usize],
    /// The policy for contacts that depend on each other.
    pub(crate) redundant: Redundant,
    pub(crate) purpose: Purpose,
    /// Memory for the contacts of the last state.
    pub(crate) last: &'a Kept<ConstantContacts>,
}

/// Writes `q̈` at a state with contacts `closed`, and the multipliers of all contacts, zero for
/// those that are open; NaN where there are none. True when they are unique. Nothing is written
/// where the sizes of the system are not those of the record.
#[inline]
pub(crate) fn motion<S>(
    system: &S,
    fixed: &Fixed,
    state: State<'_>,
    closed: ClosedContacts<'_>,
    acceleration: &mut [f64],
    mut multipliers: Option<&mut [f64]>,
) -> Result<bool, Trouble>
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    let nq = same_size(fixed.nq, system.coordinates())?;
    let (d, m) = (fixed.dof(system)?, closed.list.len());
    let (purpose, applied) = (closed.purpose, fixed.applied());
    let forces = multipliers.as_deref_mut();
    let constant = (closed.last).of_closed(system, fixed, state.q, closed.list, |contacts| {
        contacts.motion(system, applied, state, purpose, acceleration, forces);
    });
    if constant.is_some() {
        return Ok(true);
    }
    with_zeros(fixed.frame_size(d, nq, m) + m, |scratch| {
        let (forces, scratch) = scratch.split_at_mut(m);
        let frame = Frame::new(system, fixed, state.q, closed.list, scratch);
        let done = frame.and_then(|mut frame| {
            let redundant = closed.redundant;
            let unique = accelerate(system, &mut frame, state, acceleration, forces, redundant)?;
            if let Purpose::Events { rate_tolerance } = closed.purpose {
                for (i, force) in forces.iter_mut().enumerate() {
                    *force += frame.idle_force(i, rate_tolerance);
                }
                if !unique && fixed.has_driven() {
                    lower_unheld(system, &mut frame, state, acceleration, forces);
                }
            }
            Ok(unique)
        });
        if done.is_err() {
            acceleration.fill(f64::NAN);
            forces.fill(f64::NAN);
        }
        if let Some(multipliers) = multipliers {
            multipliers.fill(0.0);
            for (&j, &force) in closed.list.iter().zip(&*forces) {
                multipliers[j] = force;
            }
        }
        done
    })
}

/// Lowers multipliers of contacts that depend on each other where none hold them: surfaces that move
/// by themselves may ask for accelerations that no forces make. The motion is then that which is off
/// least, and goes on, so that events see the multipliers fall through zero: a contact with all of the
/// loads has none where its gap is off by twice what is rounding. They fall no further than to that:
/// where accelerations of surfaces jump, a root is at the side with the smaller value, behind the jump.
#[cold]
fn lower_unheld<S>(
    system: &S,
    frame: &mut Frame<'_>,
    state: State<'_>,
    acceleration: &[f64],
    forces: &mut [f64],
) where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    with_zeros(forces.len(), |unheld| {
        let loads = frame.size;
        let rounding = frame.unheld(system, state, acceleration, unheld);
        for (i, unheld) in unheld
            .iter()
            .enumerate()
            .filter(|(_, unheld)| **unheld > 0.0)
        {
            let fallen = forces[i] - loads / rounding * unheld * frame.unit_force(i);
            forces[i] = fallen.max(-rounding * frame.unit_force(i));
        }
    });
}
