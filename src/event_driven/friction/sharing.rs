//! Contacts that depend on each other share their load in more ways than one. Whether the motion depends on how:
//! friction `μ λ_n` along slips of different directions, or with different coefficients, adds up to another
//! force for each way.
//!
//! ```text
//!     Cᵀ (v̇ of B z) = 0, B z ≠ 0        B: the force of each multiplier, C: what it holds
//! ```
//!
//! A multiplier of a contact that slips along `σ` has the force `Nᵀ − μ Tᵀ σ` and holds `N v̇`.

use nalgebra::DMatrix;

use crate::Mode;
use crate::event_driven::Model;
use crate::impact::multipliers::unit;
use crate::linalg::decompose::svd;
use crate::linalg::scratch::with_zeros;
use crate::mechanics::State;
use crate::mechanics::friction::contact_function::Slip;
use crate::mechanics::friction::forces::Dependent;
use crate::mechanics::friction::frame::Frame;

/// Multipliers share a load that change accelerations of what they hold by less than this part.
const SHARED: f64 = 1e-9;
/// They move the bodies if they change accelerations by more than this part of those that one alone makes.
const MOVED: f64 = 1e-6;

impl Model<'_> {
    /// True where the motion of a mode depends on how its closed contacts share their load.
    pub(crate) fn depends_on_shares(&self, state: State<'_>, mode: &Mode) -> bool {
        let slips =
            |j: usize| self.functions().slip(mode, j) != Slip::NONE && self.friction(j) > 0.0;
        if !self.slides() || !self.layout().closed(mode).any(slips) {
            return false;
        }
        let dependent = self.with_forces(Dependent::Ignored, |forces| {
            self.motion_with_friction(state, mode, None, Some(&mut *forces));
            forces.margin.is_some()
        });
        dependent && self.moves_by_shares(state, mode).unwrap_or(false)
    }

    /// Likewise, where forces are not unique; none where rows or masses are no numbers.
    fn moves_by_shares(&self, state: State<'_>, mode: &Mode) -> Option<bool> {
        let closed = self.closed(mode);
        with_zeros(Frame::size(self, closed.len()), |scratch| {
            let frame = Frame::new(self, state, &closed, scratch).ok()?;
            let [force, held] = self.multipliers_of(&frame, state, mode);
            let gram = DMatrix::from_column_slice(frame.r, frame.r, frame.gram);
            let by_force = &gram * &force;
            // Multipliers change accelerations of what they hold, and move the bodies.
            let (rates, energy) = (held.tr_mul(&by_force), force.tr_mul(&by_force));
            if rates.iter().any(|rate| !rate.is_finite()) {
                return None;
            }
            // Of slips that come to rest directions are not known.
            let moved = MOVED.max(self.blur(&frame, state, mode));
            let least = moved * moved * energy.diagonal().max();
            let svd = svd(rates, false, true)?;
            let (directions, largest) = (svd.v_t?, svd.singular_values.max());
            let shares = svd.singular_values.iter().zip(directions.row_iter());
            Some(
                shares
                    .filter(|(value, _)| **value <= SHARED * largest)
                    .any(|(_, z)| (z * &energy).dot(&z) > least),
            )
        })
    }

    /// By how much directions of slips in space are uncertain (rad).
    fn blur(&self, frame: &Frame<'_>, State { q, v, .. }: State<'_>, mode: &Mode) -> f64 {
        let slips = |j: usize| self.functions().slip(mode, j) != Slip::NONE;
        let contacts = frame.contacts.iter().enumerate();
        let each = contacts.filter(|(_, j)| slips(**j)).map(|(i, &j)| {
            let [x, y] = frame.slip_velocity(i, v);
            self.least_slip(j, q, v) / x.hypot(y)
        });
        each.fold(0.0, f64::max)
    }

    /// The multipliers of closed contacts as columns of rows of the frame: their forces, and what they
    /// hold.
    fn multipliers_of(
        &self,
        frame: &Frame<'_>,
        state: State<'_>,
        mode: &Mode,
    ) -> [DMatrix<f64>; 2] {
        let (m, k) = (frame.contacts.len(), frame.tangents());
        let mut columns = Vec::new();
        for (i, &j) in frame.contacts.iter().enumerate() {
            let slip = self.functions().slip(mode, j);
            let tangents = m + i * k..m + (i + 1) * k;
            let mut force = vec![(i, 1.0)];
            if slip != Slip::NONE {
                // One that begins has no velocity yet that has a direction.
                let direction = match k {
                    1 => [f64::from(slip.sign), 0.0],
                    _ => unit(frame.slip_velocity(i, state.v)).unwrap_or(slip.tangent()),
                };
                let along = tangents.zip(direction);
                force.extend(along.map(|(row, part)| (row, -frame.slip[i] * part)));
            } else if self.friction(j) > 0.0 {
                columns.extend(tangents.map(|row| (row, vec![(row, 1.0)])));
            }
            columns.push((i, force));
        }
        let mut force = DMatrix::zeros(frame.r, columns.len());
        let mut held = force.clone();
        for (c, (row, parts)) in columns.iter().enumerate() {
            held[(*row, c)] = 1.0;
            for (row, part) in parts {
                force[(*row, c)] = *part;
            }
        }
        [force, held]
    }
}
