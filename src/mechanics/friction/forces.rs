//! The motion in a mode with friction: the accelerations, and the forces that hold closed contacts in
//! their modes (Pfeiffer & Glocker).
//!
//! Closed contacts do not accelerate along their normals, sticking ones not along their tangents
//! either; a slipping one has the force `λ_t = −μ σ λ_n`. The system of these forces is not
//! symmetric. Where sticking contacts depend on each other forces are not unique: accelerations are
//! those of the forces of least size, and the distance of the loads from the cones of friction says
//! whether some admissible forces balance them.

use nalgebra::{DMatrix, DVector};

use super::frame::Frame;
use crate::Mode;
use crate::impact::Contacting;
use crate::linalg::decompose::svd;
use crate::linalg::dot;
use crate::linalg::lu::{self, SINGULAR};
use crate::linalg::nearest::Nearest;
use crate::linalg::scratch::{with_list, with_zeros};
use crate::mechanics::State;
use crate::mechanics::contact_model::Model;
use crate::mechanics::contact_model::gather_closed;

/// Part of the loads by which forces and margins are raised.
pub(super) const RAISED: f64 = 1e-12;
/// Weight of the size of forces beside the equations they fulfil: its square is the error.
const SMALL: f64 = 1e-5;

/// The sign of the slip; 0 where there is none.
pub(crate) fn slip_sign(of: Contacting) -> f64 {
    match of {
        Contacting::SlipForward => 1.0,
        Contacting::SlipBackward => -1.0,
        _ => 0.0,
    }
}

/// Where forces are written, one entry a contact; and whether they are unique.
pub(crate) struct Forces<'a> {
    pub(crate) push: &'a mut [f64],
    pub(crate) along: &'a mut [f64],
    /// By how much forces and margins are raised: the rounding of the loads, so that a contact
    /// without a load stays closed.
    pub(crate) raised: &'a mut [f64],
    /// The distance of the loads from the cone of forces, as a part of them, where forces are not
    /// unique.
    pub(crate) distance: Option<f64>,
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

    /// Accelerations and forces in a mode, at a state whose rows and masses are evaluated; NaN where
    /// there are none.
    pub(super) fn motion_of_frame(
        &self,
        state: State<'_>,
        mode: &Mode,
        acceleration: Option<&mut [f64]>,
        forces: Option<&mut Forces<'_>>,
    ) {
        let Some(acceleration) = acceleration else {
            let d = state.v.len();
            return with_zeros(d, |all| {
                self.motion_of_frame(state, mode, Some(all), forces);
            });
        };
        let Some(forces) = forces else {
            return self.with_forces(|all| {
                self.motion_of_frame(state, mode, Some(acceleration), Some(all));
            });
        };
        with_list(self.layout().contacts, |space| {
            let closed = gather_closed(mode, space);
            with_zeros(Frame::size(self, closed.len()), |scratch| {
                if let Ok(frame) = Frame::new(self, state, closed, scratch) {
                    self.balance(&frame, mode, acceleration, forces);
                } else {
                    acceleration.fill(f64::NAN);
                    forces.push.fill(f64::NAN);
                }
            });
        });
    }

    /// Calls `then` with space for the forces of all contacts.
    pub(crate) fn with_forces<R>(&self, then: impl FnOnce(&mut Forces<'_>) -> R) -> R {
        let n = self.layout().contacts;
        with_zeros(3 * n, |scratch| {
            let (push, rest) = scratch.split_at_mut(n);
            let (along, raised) = rest.split_at_mut(n);
            then(&mut Forces {
                push,
                along,
                raised,
                distance: None,
            })
        })
    }

    /// Forces that hold the closed contacts in their modes, and the accelerations with them.
    pub(super) fn balance(
        &self,
        frame: &Frame<'_>,
        mode: &Mode,
        acceleration: &mut [f64],
        forces: &mut Forces<'_>,
    ) {
        let m = frame.contacts.len();
        acceleration.copy_from_slice(frame.free);
        let sticks = |i: usize| self.contacting(mode, frame.contacts[i]) == Contacting::Stick;
        let size = m + (0..m).filter(|&i| sticks(i)).count();
        // Unknowns: the normal forces, then the tangential ones of sticking contacts.
        with_zeros(size * size + size, |scratch| {
            let (matrix, unknowns) = scratch.split_at_mut(size * size);
            self.set_up(frame, mode, matrix, unknowns);
            if !lu::solve_once(matrix, unknowns) {
                self.set_up(frame, mode, matrix, unknowns);
                forces.distance = Some(self.hold(frame, mode, matrix, unknowns, forces));
                least_norm(matrix, unknowns);
            }
            let is_unique = forces.distance.is_none();
            let mut stuck = m;
            for (i, &j) in frame.contacts.iter().enumerate() {
                let push = unknowns[i];
                let along = if sticks(i) {
                    stuck += 1;
                    unknowns[stuck - 1]
                } else {
                    let slip = slip_sign(self.contacting(mode, j));
                    -self.friction(j) * slip * push
                };
                frame.push(i, push, acceleration);
                if frame.r > m {
                    frame.push(m + i, along, acceleration);
                }
                if is_unique {
                    forces.push[j] = push;
                }
                if is_unique && frame.r > m {
                    forces.along[j] = along;
                }
            }
        });
        let unit = (0..frame.r).fold(0.0f64, |most, i| {
            most.max(frame.bends[i].abs() / frame.root(i))
        });
        for (i, &j) in frame.contacts.iter().enumerate() {
            let idle = 1e-3 * self.rate_tolerance / frame.root(i);
            forces.raised[j] = (RAISED * unit + idle) / frame.root(i);
        }
    }

    /// Brings velocities to the rates of zero that a mode asks for, by impulses of its contacts.
    pub(crate) fn stop(&self, frame: &mut Frame<'_>, mode: &Mode, v: &mut [f64]) {
        for i in 0..frame.r {
            frame.bends[i] = dot(frame.row(i), v);
        }
        frame.free.copy_from_slice(v);
        self.with_forces(|impulses| self.balance(frame, mode, v, impulses));
    }

    /// The equations of a mode, row by row: no acceleration along normals, nor along the tangents
    /// of sticking contacts.
    fn set_up(&self, frame: &Frame<'_>, mode: &Mode, matrix: &mut [f64], right: &mut [f64]) {
        let (m, r) = (frame.contacts.len(), frame.r);
        let size = right.len();
        let of = |i: usize| self.contacting(mode, frame.contacts[i]);
        let stuck = |m: usize| (0..m).filter(|&i| of(i) == Contacting::Stick);
        let rows = (0..m).chain(stuck(m).map(|i| m + i));
        for (row, at) in rows.enumerate() {
            right[row] = -frame.bends[at];
            let entries = &mut matrix[row * size..(row + 1) * size];
            for i in 0..m {
                entries[i] = frame.gram[i * r + at];
                let slip = slip_sign(of(i));
                if r > m && slip != 0.0 {
                    let mu = self.friction(frame.contacts[i]);
                    entries[i] -= mu * slip * frame.gram[(m + i) * r + at];
                }
            }
            for (column, i) in stuck(m).enumerate() {
                entries[m + column] = frame.gram[(m + i) * r + at];
            }
        }
    }

    /// The distance of the loads from the cone of forces, in units of rows, as a part of the loads.
    /// Writes the forces of least size in the cones that balance the loads.
    #[cold]
    fn hold(
        &self,
        frame: &Frame<'_>,
        mode: &Mode,
        matrix: &[f64],
        right: &[f64],
        forces: &mut Forces<'_>,
    ) -> f64 {
        let (m, size) = (frame.contacts.len(), right.len());
        let stuck =
            (0..m).filter(|&i| self.contacting(mode, frame.contacts[i]) == Contacting::Stick);
        let stuck: Vec<usize> = stuck.collect();
        let roots: Vec<f64> = (0..size)
            .map(|row| frame.root(if row < m { row } else { m + stuck[row - m] }))
            .collect();
        let scaled = |row: usize, value: f64| value / roots[row];
        let column = |c: usize| (0..size).map(move |row| matrix[row * size + c]);
        let mut generators: Vec<Vec<f64>> = vec![vec![0.0; size + 1]];
        generators[0][0] = 1.0;
        // Of each generator but the first the contact, and the force along its tangent.
        let mut parts = Vec::new();
        for i in 0..m {
            let at = stuck.iter().position(|&s| s == i);
            let edges: &[f64] = if at.is_some() { &[1.0, -1.0] } else { &[0.0] };
            for edge in edges {
                let mu = self.friction(frame.contacts[i]);
                let slip = slip_sign(self.contacting(mode, frame.contacts[i]));
                parts.push((i, mu * (edge - slip)));
                let mut ray = vec![0.0];
                ray.extend(column(i).enumerate().map(|(row, g)| scaled(row, g)));
                if let Some(at) = at {
                    let mu = edge * self.friction(frame.contacts[i]);
                    for (row, g) in column(m + at).enumerate() {
                        ray[row + 1] += mu * scaled(row, g);
                    }
                }
                generators.push(ray);
            }
        }
        let point: Vec<f64> = right
            .iter()
            .enumerate()
            .map(|(r, &b)| scaled(r, b))
            .collect();
        let load = dot(&point, &point).sqrt();
        if load == 0.0 {
            return 0.0;
        }
        let mut nearest = Nearest::default();
        let rows = generators.iter().map(Vec::as_slice);
        let distance = nearest.distance(rows, &point, 0.0) / load;
        // The distance with the forces themselves in it, which shall be small.
        for (ray, generator) in generators.iter_mut().enumerate() {
            generator.resize(1 + size + frame.r, 0.0);
            if let Some(&(i, along)) = ray.checked_sub(1).and_then(|ray| parts.get(ray)) {
                generator[1 + size + i] = SMALL * frame.root(i);
                if frame.r > m {
                    generator[1 + size + m + i] = SMALL * along * frame.root(m + i);
                }
            }
        }
        let still = vec![0.0; frame.r];
        let point = [point, still].concat();
        nearest.distance(generators.iter().map(Vec::as_slice), &point, 0.0);
        for (ray, weight) in nearest.coefficients() {
            let Some(&(i, along)) = ray.checked_sub(1).and_then(|ray| parts.get(ray)) else {
                continue;
            };
            forces.push[frame.contacts[i]] += weight;
            if frame.r > m {
                forces.along[frame.contacts[i]] += weight * along;
            }
        }
        distance
    }
}

/// Replaces `right` by the solution of least norm; NaN where there is none.
#[cold]
fn least_norm(matrix: &[f64], right: &mut [f64]) {
    let size = right.len();
    let matrix = DMatrix::from_row_slice(size, size, matrix);
    let b = DVector::from_column_slice(right);
    let greatest = matrix.amax();
    let solved = svd(matrix, true, true).and_then(|svd| svd.solve(&b, SINGULAR * greatest).ok());
    match solved {
        Some(x) => right.copy_from_slice(x.as_slice()),
        None => right.fill(f64::NAN),
    }
}
