//! The smooth motion in a contact mode with friction, and the event functions that end it.
//!
//! The state is `(q, v, Λ)`: the impulses of all contacts, normal ones first, are integrated with
//! it. Contact `j` has three event functions, which all fall through zero:
//!
//! ```text
//!     open: gap, –, –        stick: λ_n, μ λ_n − λ_t, μ λ_n + λ_t        slip: λ_n, σ u, –
//! ```
//!
//! Forces and margins are raised by the rounding of the loads, so that a contact without a load
//! stays closed. Where sticking contacts depend on each other forces are not unique. Such
//! a mode lasts as long as some forces within the cones balance the loads: one event function, the
//! distance of the loads from the cone, stands for all forces.

use std::ops::RangeInclusive;

use nalgebra::{DMatrix, DVector};

use super::frame::Frame;
use crate::event_driven::Model;
use crate::impact::Contacting;
use crate::linalg::decompose::svd;
use crate::linalg::dot;
use crate::linalg::lu::{self, SINGULAR};
use crate::linalg::nearest::Nearest;
use crate::linalg::scratch::{with_list, with_zeros};
use crate::mechanics::configuration;
use crate::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use crate::{EventFunction, Flow, Mode, Watch};

/// Part of the loads by which forces and margins are raised.
const RAISED: f64 = 1e-12;
/// Distance of the loads from the cone of forces, as a part of them, at which a mode ends: more
/// than the mode problem tolerates.
const BEYOND: f64 = 2e-9;
/// Weight of the size of forces beside the equations they fulfil: its square is the error.
const SMALL: f64 = 1e-5;

/// A model between events.
pub(super) struct Motion<'a> {
    pub(super) model: &'a Model<'a>,
    /// False for a motion without event functions.
    pub(super) is_watched: bool,
}

/// The contact mode of contact `j`, by its two flags in `mode`.
pub(super) fn contact_mode(mode: &Mode, j: usize) -> Contacting {
    match (mode.flag(2 * j), mode.flag(2 * j + 1)) {
        (false, false) => Contacting::Open,
        (true, false) => Contacting::Stick,
        (false, true) => Contacting::SlipForward,
        (true, true) => Contacting::SlipBackward,
    }
}

/// The sign of the slip; 0 where there is none.
pub(super) fn slip_sign(of: Contacting) -> f64 {
    match of {
        Contacting::SlipForward => 1.0,
        Contacting::SlipBackward => -1.0,
        _ => 0.0,
    }
}

/// Memory for forces, one entry a contact; and whether they are unique.
struct Forces<'a> {
    push: &'a mut [f64],
    along: &'a mut [f64],
    /// By how much forces and margins are raised.
    raised: &'a mut [f64],
    /// The distance of the loads from the cone of forces, where they are not unique.
    distance: Option<f64>,
}

impl Motion<'_> {
    /// The mode with these contact modes, one a contact.
    pub(super) fn mode(&self, of: &[Contacting]) -> Mode {
        let mut mode = Mode::of(self);
        for (j, of) in of.iter().enumerate() {
            let (first, second) = match of {
                Contacting::Open => (false, false),
                Contacting::Stick => (true, false),
                Contacting::SlipForward => (false, true),
                Contacting::SlipBackward => (true, true),
            };
            mode.set_flag(2 * j, first);
            mode.set_flag(2 * j + 1, second);
        }
        // All event functions fall.
        for k in 0..mode.len() {
            mode.set(k, true);
        }
        mode
    }

    fn contacts(&self) -> usize {
        self.model.system().contacts()
    }

    fn parts<'x>(&self, x: &'x [f64]) -> (&'x [f64], &'x [f64]) {
        let fixed = &self.model.bodies.fixed;
        let (q, rest) = x.split_at(fixed.nq);
        (q, &rest[..fixed.d])
    }

    /// Accelerations and forces in a mode; NaN where there are none.
    fn solve(
        &self,
        t: f64,
        x: &[f64],
        mode: &Mode,
        acceleration: &mut [f64],
        forces: &mut Forces<'_>,
    ) {
        let (q, v) = self.parts(x);
        let n = self.contacts();
        with_list(n, |space| {
            let mut m = 0;
            for j in 0..n {
                if contact_mode(mode, j) != Contacting::Open {
                    space[m] = j;
                    m += 1;
                }
            }
            let closed = &space[..m];
            with_zeros(Frame::size(self.model, m), |scratch| {
                if let Ok(frame) = Frame::new(self.model, State { t, q, v }, closed, scratch) {
                    self.balance(&frame, mode, acceleration, forces);
                } else {
                    acceleration.fill(f64::NAN);
                    forces.push.fill(f64::NAN);
                }
            });
        });
    }

    /// Forces that hold the closed contacts in their modes, and the accelerations with them.
    fn balance(
        &self,
        frame: &Frame<'_>,
        mode: &Mode,
        acceleration: &mut [f64],
        forces: &mut Forces<'_>,
    ) {
        let m = frame.contacts.len();
        acceleration.copy_from_slice(frame.free);
        let sticks = |i: usize| contact_mode(mode, frame.contacts[i]) == Contacting::Stick;
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
                    let slip = slip_sign(contact_mode(mode, j));
                    -self.model.friction(j) * slip * push
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
            let idle = 1e-3 * self.model.rate_tolerance / frame.root(i);
            forces.raised[j] = (RAISED * unit + idle) / frame.root(i);
        }
    }

    /// The distance of the loads from the cones of forces, as a part of the loads; none where
    /// forces are unique.
    pub(super) fn beyond(&self, t: f64, x: &[f64], mode: &Mode) -> Option<f64> {
        let n = self.contacts();
        let d = self.model.bodies.fixed.d;
        with_zeros(d + 3 * n, |scratch| {
            let (acceleration, rest) = scratch.split_at_mut(d);
            let (push, rest) = rest.split_at_mut(n);
            let (along, raised) = rest.split_at_mut(n);
            let mut forces = Forces {
                push,
                along,
                raised,
                distance: None,
            };
            self.solve(t, x, mode, acceleration, &mut forces);
            forces.distance
        })
    }

    /// Brings velocities to the rates of zero that a mode asks for, by impulses of its contacts.
    pub(super) fn stop(&self, frame: &mut Frame<'_>, mode: &Mode, v: &mut [f64]) {
        for i in 0..frame.r {
            frame.bends[i] = dot(frame.row(i), v);
        }
        frame.free.copy_from_slice(v);
        with_zeros(3 * self.contacts(), |scratch| {
            let (push, rest) = scratch.split_at_mut(self.contacts());
            let (along, raised) = rest.split_at_mut(self.contacts());
            let mut impulses = Forces {
                push,
                along,
                raised,
                distance: None,
            };
            self.balance(frame, mode, v, &mut impulses);
        });
    }

    /// The equations of a mode, row by row: no acceleration along normals, nor along the tangents
    /// of sticking contacts.
    fn set_up(&self, frame: &Frame<'_>, mode: &Mode, matrix: &mut [f64], right: &mut [f64]) {
        let (m, r) = (frame.contacts.len(), frame.r);
        let size = right.len();
        let of = |i: usize| contact_mode(mode, frame.contacts[i]);
        let stuck = |m: usize| (0..m).filter(|&i| of(i) == Contacting::Stick);
        let rows = (0..m).chain(stuck(m).map(|i| m + i));
        for (row, at) in rows.enumerate() {
            right[row] = -frame.bends[at];
            let entries = &mut matrix[row * size..(row + 1) * size];
            for i in 0..m {
                entries[i] = frame.gram[i * r + at];
                let slip = slip_sign(of(i));
                if r > m && slip != 0.0 {
                    let mu = self.model.friction(frame.contacts[i]);
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
        let stuck = (0..m).filter(|&i| contact_mode(mode, frame.contacts[i]) == Contacting::Stick);
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
                let mu = self.model.friction(frame.contacts[i]);
                let slip = slip_sign(contact_mode(mode, frame.contacts[i]));
                parts.push((i, mu * (edge - slip)));
                let mut ray = vec![0.0];
                ray.extend(column(i).enumerate().map(|(row, g)| scaled(row, g)));
                if let Some(at) = at {
                    let mu = edge * self.model.friction(frame.contacts[i]);
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

impl Flow for Motion<'_> {
    fn dim(&self) -> usize {
        let fixed = &self.model.bodies.fixed;
        fixed.nq + fixed.d + 2 * self.contacts()
    }

    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let (q, v) = self.parts(x);
        let (dq, rest) = dx.split_at_mut(q.len());
        configuration::rate(self.model.system(), q, v, dq);
        let (dv, impulses) = rest.split_at_mut(v.len());
        let (push, along) = impulses.split_at_mut(self.contacts());
        push.fill(0.0);
        along.fill(0.0);
        with_zeros(self.contacts(), |raised| {
            let mut forces = Forces {
                push,
                along,
                raised,
                distance: None,
            };
            self.solve(t, x, mode, dv, &mut forces);
        });
    }

    fn flow_time_scale(&self) -> Option<f64> {
        MechanicalSystem::time_scale(self.model.system())
    }

    fn correct(&self, _t: f64, x: &mut [f64], mode: &Mode) -> bool {
        let n = self.contacts();
        let fixed = &self.model.bodies.fixed;
        let state = &mut x[..fixed.nq + fixed.d];
        with_list(n, |space| {
            let mut m = 0;
            for j in (0..n).filter(|&j| contact_mode(mode, j) != Contacting::Open) {
                space[m] = j;
                m += 1;
            }
            let closed = &space[..m];
            let sticks = |j: usize| contact_mode(mode, j) == Contacting::Stick;
            self.model.hold_with_friction(state, closed, &sticks)
        })
    }
}

impl EventFunction for Motion<'_> {
    fn count(&self) -> usize {
        if self.is_watched {
            3 * self.contacts()
        } else {
            0
        }
    }

    fn flags(&self) -> usize {
        2 * self.contacts()
    }

    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        with_zeros(self.count(), |h| {
            self.events(t, x, mode, h);
            h[k]
        })
    }

    fn events(&self, t: f64, x: &[f64], mode: &Mode, h: &mut [f64]) {
        let (n, (q, v)) = (self.contacts(), self.parts(x));
        if h.is_empty() {
            return;
        }
        h.fill(1.0);
        with_zeros(3 * n + 2 * v.len(), |scratch| {
            let (acceleration, rest) = scratch.split_at_mut(v.len());
            let (row, rest) = rest.split_at_mut(v.len());
            let (push, rest) = rest.split_at_mut(n);
            let (along, raised) = rest.split_at_mut(n);
            let mut forces = Forces {
                push,
                along,
                raised,
                distance: None,
            };
            self.solve(t, x, mode, acceleration, &mut forces);
            let distance = forces.distance;
            for j in 0..n {
                let of = contact_mode(mode, j);
                let h = &mut h[3 * j..3 * j + 3];
                if of == Contacting::Open {
                    h[0] = self.model.system().gap(j, q);
                    continue;
                }
                let mu = self.model.friction(j);
                match distance {
                    // Of the first contact the distance, which all share.
                    Some(distance) => h[0] = BEYOND - distance,
                    None => h[0] = push[j] + raised[j],
                }
                if of == Contacting::Stick && distance.is_none() {
                    let raised = (1.0 + mu) * raised[j];
                    h[1] = mu * push[j] - along[j] + raised;
                    h[2] = mu * push[j] + along[j] + raised;
                } else if mu > 0.0 && slip_sign(of) != 0.0 {
                    self.model.system().tangent_rows(j, q, row);
                    h[1] = slip_sign(of) * dot(row, v);
                }
            }
        });
    }

    fn watch(&self, _k: usize) -> Watch {
        Watch::FALLING.and_stop()
    }

    fn event_tolerance(&self, k: usize) -> f64 {
        match k % 3 {
            0 => 1e-3 * self.model.gap_tolerance,
            _ => 1e-2 * self.model.rate_tolerance,
        }
    }

    /// An open contact does not penetrate; forces, slip and cones have rules of their own.
    fn admissible(&self, k: usize, mode: &Mode) -> RangeInclusive<f64> {
        if k.is_multiple_of(3) && contact_mode(mode, k / 3) == Contacting::Open {
            self.model.admissible_gaps()
        } else {
            f64::NEG_INFINITY..=f64::INFINITY
        }
    }

    fn time_scale(&self, _k: usize) -> Option<f64> {
        MechanicalSystem::time_scale(self.model.system())
    }
}
