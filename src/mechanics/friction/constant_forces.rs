//! Closed contacts with friction whose rows are constant, under a constant mass. Then efforts are all
//! that depends on the state, and the equations of a mode are three matrices:
//!
//! ```text
//!     v̇ = P f        (λ_n, λ_t) = B f        terms of J v̇ without contact forces = |A| |f|
//! ```

use super::contact_function::Slip;
use super::forces::{Dependent, Forces};
use super::frame::Frame;
use crate::Mode;
use crate::linalg::cholesky::columns_times;
use crate::linalg::scratch::{with_list, with_zeros};
use crate::mechanics::contact_model::{Model, gather_closed};
use crate::mechanics::motion::acceleration::{WRITTEN, idle_force};
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};

/// Matrices of one mode.
#[derive(Debug, Default)]
pub(crate) struct ConstantForces {
    /// The mode; none before the first.
    mode: Option<Mode>,
    is_filled: bool,
    /// Masses and rows are constant, and forces unique; else what is below means nothing.
    are_unique: bool,
    contacts: Vec<usize>,
    /// Tangential forces of a contact.
    tangents: usize,
    /// `P`, `d × d`, one column a velocity.
    accelerations: Vec<f64>,
    /// `B`, one column a velocity: normal forces, then tangential ones.
    forces: Vec<f64>,
    /// `|A|`, one column a velocity, each row over the `√G_ii` of it.
    sizes: Vec<f64>,
    /// `√G_ii` of the normals.
    roots: Vec<f64>,
    /// Space for the effort, the forces and the terms of the free accelerations.
    effort: Vec<f64>,
    pushes: Vec<f64>,
    terms: Vec<f64>,
}

impl ConstantForces {
    /// True where this is the mode.
    #[inline]
    fn is_of(&self, mode: &Mode) -> bool {
        let kept = self.mode.as_ref().filter(|_| self.is_filled);
        kept.is_some_and(|kept| kept.has_flags_of(mode))
    }

    /// Fills it anew when it is asked next.
    pub(crate) fn forget(&mut self) {
        self.is_filled = false;
    }

    /// Takes a mode; allocates for one that has more contacts than those before.
    #[cold]
    fn fill(&mut self, model: &Model<'_>, state: State<'_>, mode: &Mode, closed: &[usize]) {
        self.are_unique = false;
        self.mode.get_or_insert_default().clone_from(mode);
        self.contacts.clear();
        self.contacts.extend_from_slice(closed);
        self.is_filled = true;
        let (system, d, m) = (model.system(), state.v.len(), closed.len());
        let is_constant = |&j: &usize| {
            let has_constant_rows = system.constant_row(j) && system.constant_tangents(j);
            has_constant_rows && model.has_constant_friction(j, state.q)
        };
        let has_constant_mass = model.bodies.fixed.identity && system.constant_mass();
        if !has_constant_mass || !closed.iter().all(is_constant) {
            return;
        }
        let (tangents, functions) = (model.row_tangents(), model.functions());
        // In space a slip has the direction of its velocity.
        if tangents > 1
            && closed
                .iter()
                .any(|&j| functions.slip(mode, j) != Slip::NONE)
        {
            return;
        }
        let (k, r) = (tangents.max(1), m * (1 + tangents));
        self.tangents = k;
        for (space, size) in [
            (&mut self.accelerations, d * d),
            (&mut self.forces, d * (1 + k) * m),
            (&mut self.sizes, d * r),
            (&mut self.roots, m),
            (&mut self.effort, d),
            (&mut self.pushes, (1 + k) * m),
            (&mut self.terms, r),
        ] {
            space.clear();
            space.resize(size, 0.0);
        }
        self.are_unique = with_zeros(Frame::size(model, m), |scratch| {
            let Ok(mut frame) = Frame::new(model, state, closed, scratch) else {
                return false;
            };
            // Differences depend on where they are taken.
            if !frame.are_rows_written {
                return false;
            }
            for (i, root) in self.roots.iter_mut().enumerate() {
                *root = frame.root(i);
            }
            // One column for each unit force.
            for c in 0..d {
                frame.act(|force| force[c] = 1.0);
                let column = &mut self.sizes[c * r..(c + 1) * r];
                for (i, to) in column.iter_mut().enumerate() {
                    *to = frame.bends[i].abs() / frame.root(i);
                }
                let acceleration = &mut self.accelerations[c * d..(c + 1) * d];
                let is_unique = model.with_forces(Dependent::Ignored, |found| {
                    model.balance(&frame, mode, state.v, Some(acceleration), Some(&mut *found));
                    let forces = &mut self.forces[(1 + k) * m * c..(1 + k) * m * (c + 1)];
                    let (pushes, along) = forces.split_at_mut(m);
                    for (i, &j) in closed.iter().enumerate() {
                        pushes[i] = found.push[j];
                        along[k * i..k * (i + 1)].copy_from_slice(&found.along[k * j..k * (j + 1)]);
                    }
                    found.margin.is_none()
                });
                if !is_unique {
                    return false;
                }
            }
            true
        });
    }

    /// Accelerations and forces, as far as they are asked for.
    fn motion(
        &mut self,
        model: &Model<'_>,
        State { t, q, v }: State<'_>,
        acceleration: Option<&mut [f64]>,
        forces: Option<&mut Forces<'_>>,
    ) {
        // The effort f; there is no Coriolis force.
        self.effort.fill(0.0);
        let (system, effort) = (model.system(), &mut self.effort[..]);
        system.effort(t, q, v, effort);
        system.contact_effort(State { t, q, v }, &self.contacts, effort);
        for (effort, applied) in self.effort.iter_mut().zip(model.bodies.fixed.applied()) {
            *effort += applied;
        }
        if let Some(acceleration) = acceleration {
            columns_times(&self.accelerations, &self.effort, acceleration);
        }
        if let Some(forces) = forces {
            let m = self.contacts.len();
            let k = self.tangents;
            columns_times(&self.forces, &self.effort, &mut self.pushes);
            for effort in &mut self.effort {
                *effort = effort.abs();
            }
            columns_times(&self.sizes, &self.effort, &mut self.terms);
            let size = self.terms.iter().fold(0.0f64, |most, &of| most.max(of));
            for (i, &j) in self.contacts.iter().enumerate() {
                let unit = self.roots[i].recip();
                forces.push[j] = self.pushes[i];
                let along = &self.pushes[m + k * i..m + k * (i + 1)];
                forces.along[k * j..k * (j + 1)].copy_from_slice(along);
                forces.raised[j] = idle_force(WRITTEN * size, unit, model.rate_tolerance);
            }
        }
    }
}

impl Model<'_> {
    /// Accelerations and forces of contacts with friction in a mode, as far as they are asked for;
    /// NaN where there are none.
    pub(crate) fn motion_with_friction(
        &self,
        state: State<'_>,
        mode: &Mode,
        mut acceleration: Option<&mut [f64]>,
        mut forces: Option<&mut Forces<'_>>,
    ) {
        let is_constant = self.bodies.fixed.has_constant_inverse();
        let done = is_constant
            && self.last_forces.with(|[last, before]| {
                // A contact that slips comes to stick, and slips again.
                if !last.is_of(mode) {
                    std::mem::swap(last, before);
                }
                if !last.is_of(mode) {
                    with_list(self.layout().contacts, |space| {
                        last.fill(self, state, mode, gather_closed(mode, space));
                    });
                }
                if last.are_unique {
                    last.motion(
                        self,
                        state,
                        acceleration.as_deref_mut(),
                        forces.as_deref_mut(),
                    );
                }
                last.are_unique
            });
        if !done {
            self.motion_of_frame(state, mode, acceleration, forces);
        }
    }
}
