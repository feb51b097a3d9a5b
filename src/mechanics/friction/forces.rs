//! The motion in a mode with friction: the accelerations, and the forces that hold closed contacts in
//! their modes (Pfeiffer & Glocker).
//!
//! Closed contacts do not accelerate along their normals, sticking ones not along their tangents
//! either; a slipping one has the force `λ_t = −μ σ λ_n`. The system of these forces is not
//! symmetric. Where sticking contacts depend on each other forces are not unique: accelerations are
//! those of the forces of least size, and the margin of the loads in the cones of friction says
//! whether some admissible forces balance them.

use super::contact_function::Slip;
use super::frame::Frame;
use crate::Mode;
use crate::impact::multipliers::{Halt, Hold, unit};
use crate::linalg::dot;
use crate::linalg::scratch::{with_list, with_zeros};
use crate::mechanics::contact_model::Model;
use crate::mechanics::contact_model::gather_closed;
use crate::mechanics::motion::acceleration::idle_force;
use crate::mechanics::{MechanicalSystem, State};

/// A load beyond twice so many times the rounding of differences is one.
const LOADED: f64 = 1e3;
/// Part of the tolerance of rates below which the velocity of a slip says little of its direction.
/// Directions turn ever faster with smaller velocities: without it the steps would never reach a stop.
const AT_REST: f64 = 0.1;
/// Likewise of one that is about to stop, straight.
const STOPPED: f64 = 1e-4;

/// Where forces are written, one entry a contact; and whether they are unique.
pub(crate) struct Forces<'a> {
    pub(crate) push: &'a mut [f64],
    /// One entry a tangent.
    pub(crate) along: &'a mut [f64],
    /// By how much forces and margins are raised: the rounding of the loads, so that a contact
    /// without a load stays closed.
    pub(crate) raised: &'a mut [f64],
    /// The margin of the loads in the cones of forces, as a part of them, where forces are not unique.
    pub(crate) margin: Option<f64>,
    /// Evaluated then, beside accelerations.
    dependent: Dependent,
}

/// Quantities that are evaluated where forces are not unique, beside accelerations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dependent {
    /// Nothing.
    Ignored,
    /// The margin of the loads in the cones.
    Margin,
    /// That, and the forces of least size in the cones.
    Forces,
}

impl Forces<'_> {
    /// Takes the multipliers of rows.
    fn write(&mut self, frame: &Frame<'_>, multipliers: &[f64]) {
        let (pushes, along) = multipliers.split_at(frame.contacts.len());
        let k = frame.tangents();
        for (i, &j) in frame.contacts.iter().enumerate() {
            self.push[j] = pushes[i];
            self.along[k * j..k * (j + 1)].copy_from_slice(&along[k * i..k * (i + 1)]);
        }
    }

    /// The forces of a contact along its tangents.
    pub(super) fn along(&self, j: usize) -> [f64; 2] {
        let k = self.along.len() / self.push.len().max(1);
        let along = |tangent: usize| match tangent {
            tangent if tangent < k => self.along[k * j + tangent],
            _ => 0.0,
        };
        [along(0), along(1)]
    }

    /// The margin of the cone of a contact with this friction to one side of its tangent; in space, with
    /// the side 0, to all.
    pub(super) fn margin_of_cone(&self, j: usize, side: i8, mu: f64) -> f64 {
        let raised = (1.0 + mu) * self.raised[j];
        let [x, y] = self.along(j);
        let along = match side {
            0 => -x.hypot(y),
            side => f64::from(side) * x,
        };
        mu * self.push[j] + along + raised
    }
}

impl Model<'_> {
    /// True where some closed contact of a mode has friction.
    #[inline]
    pub(crate) fn has_friction_in(&self, mode: &Mode) -> bool {
        self.slides() && {
            let mut closed = self.layout().closed(mode);
            closed.any(|j| self.friction(j) != 0.0)
        }
    }

    /// True where some of these contacts stick or slip with friction.
    #[inline]
    pub(crate) fn any_friction(&self, contacts: &[usize]) -> bool {
        self.slides() && contacts.iter().any(|&j| self.friction(j) != 0.0)
    }

    /// True where efforts depend on which contacts are closed.
    pub(crate) fn senses(&self, state: State<'_>) -> bool {
        with_zeros(state.v.len(), |effort| {
            self.system().contact_effort(state, &[], effort)
        })
    }

    /// Accelerations and forces in a mode, at a state whose rows and masses are evaluated; NaN where
    /// there are none.
    pub(super) fn motion_of_frame(
        &self,
        state: State<'_>,
        mode: &Mode,
        acceleration: Option<&mut [f64]>,
        forces: Option<&mut Forces<'_>>,
    ) {
        with_list(self.layout().contacts, |space| {
            let closed = gather_closed(mode, space);
            with_zeros(Frame::size(self, closed.len()), |scratch| {
                if let Ok(frame) = Frame::new(self, state, closed, scratch) {
                    self.balance(&frame, mode, state.v, acceleration, forces);
                } else {
                    if let Some(acceleration) = acceleration {
                        acceleration.fill(f64::NAN);
                    }
                    if let Some(forces) = forces {
                        forces.push.fill(f64::NAN);
                    }
                }
            });
        });
    }

    /// Calls `then` with space for the forces of all contacts.
    pub(crate) fn with_forces<R>(
        &self,
        dependent: Dependent,
        then: impl FnOnce(&mut Forces<'_>) -> R,
    ) -> R {
        let (n, k) = (self.layout().contacts, self.row_tangents().max(1));
        with_zeros((2 + k) * n, |scratch| {
            let (push, rest) = scratch.split_at_mut(n);
            let (along, raised) = rest.split_at_mut(k * n);
            then(&mut Forces {
                push,
                along,
                raised,
                margin: None,
                dependent,
            })
        })
    }

    /// How the contacts of a frame are held in a mode. In space a slip has the direction of its
    /// velocity; behind its stop, where a step may look before its end is found, that which it had.
    pub(crate) fn holds(&self, frame: &Frame<'_>, mode: &Mode, v: &[f64], holds: &mut [Hold]) {
        for (i, (&j, hold)) in frame.contacts.iter().zip(holds).enumerate() {
            let slip = self.functions().slip(mode, j);
            let tangent = slip.tangent();
            *hold = if self.friction(j) == 0.0 || frame.r == frame.contacts.len() {
                Hold::Slip([0.0; 2])
            } else if slip == Slip::NONE || slip.ends {
                Hold::Stick
            } else if frame.tangents() == 1 {
                Hold::Slip(tangent)
            } else if slip.begins {
                Hold::Onset {
                    direction: tangent,
                    pace: 0.0,
                }
            } else {
                let velocity = frame.slip_velocity(i, v);
                let side = if slip.along(velocity) < 0.0 {
                    -1.0
                } else {
                    1.0
                };
                let least = AT_REST * self.rate_tolerance;
                let speed = velocity[0].hypot(velocity[1]);
                // It ends where a slip begins to have a direction: the rate with which one becomes too slow
                // is that of the slip.
                let by = least * (1.0 - speed / least).max(0.0).powi(2);
                let [x, y] = [0, 1].map(|k| side * velocity[k] + by * tangent[k]);
                Hold::Slip(unit([x, y]).unwrap_or(tangent))
            };
        }
    }

    /// The contact of a frame that is about to stop, and the direction of its slip; behind the stop that
    /// which it had.
    fn halt(&self, frame: &Frame<'_>, mode: &Mode, v: &[f64]) -> Option<Halt> {
        let slips = frame
            .contacts
            .iter()
            .map(|&j| self.functions().slip(mode, j));
        let (i, slip) = slips.enumerate().find(|(_, slip)| slip.ends)?;
        let (velocity, tangent) = (frame.slip_velocity(i, v), slip.tangent());
        let side = if slip.along(velocity) < 0.0 {
            -1.0
        } else {
            1.0
        };
        // Within rounding of its stop it moves along its tangent.
        let least = STOPPED * self.rate_tolerance;
        let by = least * least / (least + velocity[0].hypot(velocity[1]));
        let along = [0, 1].map(|k| side * velocity[k] + by * tangent[k]);
        Some(Halt {
            contact: i,
            direction: unit(along).unwrap_or(tangent),
        })
    }

    /// Forces that hold the closed contacts in their modes at velocities `v`, and the accelerations
    /// with them, as far as they are asked for.
    pub(super) fn balance(
        &self,
        frame: &Frame<'_>,
        mode: &Mode,
        v: &[f64],
        acceleration: Option<&mut [f64]>,
        mut forces: Option<&mut Forces<'_>>,
    ) {
        let m = frame.contacts.len();
        with_zeros(m + frame.r, |scratch| {
            let (friction, multipliers) = scratch.split_at_mut(m);
            for (i, (to, &j)) in friction.iter_mut().zip(frame.contacts).enumerate() {
                let sticks = self.functions().slip(mode, j) == Slip::NONE;
                *to = if sticks {
                    frame.stick[i]
                } else {
                    frame.slip[i]
                };
            }
            let rates = frame.rates(friction);
            with_list(m, |holds| {
                self.holds(frame, mode, v, holds);
                let are_unique = match self.halt(frame, mode, v) {
                    None => rates.solve_mode(holds, multipliers),
                    Some(halt) => rates.solve_halt(holds, halt, multipliers),
                };
                if !are_unique {
                    if let Some(forces) = &mut forces {
                        forces.margin = Some(match forces.dependent {
                            Dependent::Ignored => 0.0,
                            _ => rates.margin_in_cones(holds, multipliers),
                        });
                    }
                    rates.bring_into_cones(holds, multipliers);
                    if let Some(forces) = forces.as_deref_mut()
                        && forces.dependent == Dependent::Forces
                    {
                        with_zeros(frame.r, |least| {
                            least.copy_from_slice(multipliers);
                            if !rates.are_in_cones(holds, multipliers) {
                                rates.least_in_cones(holds, least);
                            }
                            forces.write(frame, least);
                        });
                    }
                }
            });
            if let Some(acceleration) = acceleration {
                acceleration.copy_from_slice(frame.free);
                for (i, &p) in multipliers.iter().enumerate() {
                    frame.push(i, p, acceleration);
                }
            }
            if let Some(forces) = forces.as_deref_mut()
                && forces.margin.is_none()
            {
                forces.write(frame, multipliers);
            }
        });
        let Some(forces) = forces else {
            return;
        };
        for (i, &j) in frame.contacts.iter().enumerate() {
            let unit = frame.root(i).recip();
            let of_sums = idle_force(frame.rounding.of_sums, unit, self.rate_tolerance);
            let of_differences = frame.rounding.of_differences * unit;
            // Rounding of differences where it may be all the load: it would move every slip that begins.
            let unloaded = 2.0 * of_differences - forces.push[j].abs() / LOADED;
            forces.raised[j] = of_sums + unloaded.max(0.0).min(of_differences);
        }
    }

    /// Brings velocities to the rates of zero that a mode asks for, by impulses of its contacts; gives those
    /// of rows, of which contacts that depend on each other have the least in their cones, or nearest to
    /// them.
    pub(crate) fn stop(&self, frame: &mut Frame<'_>, mode: &Mode, v: &mut [f64]) -> Vec<f64> {
        for i in 0..frame.r {
            frame.bends[i] = dot(frame.row(i), v);
        }
        frame.free.copy_from_slice(v);
        self.with_forces(Dependent::Forces, |impulses| {
            self.balance(frame, mode, frame.free, Some(v), Some(impulses));
            let pushes = frame.contacts.iter().map(|&j| impulses.push[j]);
            let tangents = frame.tangents();
            let along = |&j: &usize| impulses.along(j).into_iter().take(tangents);
            let along = frame.contacts.iter().flat_map(along);
            pushes.chain(along).collect()
        })
    }
}
