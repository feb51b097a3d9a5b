//! Closed contacts whose rows are constant, under a constant mass. Then efforts are all that depends
//! on the state, and eq. 1 and 2 (Pace & Burden) are two matrices for each set of closed contacts:
//!
//! ```text
//!     q̈ = P f        P = M⁻¹ − M⁻¹ Da_Jᵀ G_J⁻¹ Da_J M⁻¹
//!     λ_J = B f      B = −G_J⁻¹ Da_J M⁻¹
//! ```

use crate::linalg::cholesky::{columns_times, solve};
use crate::linalg::scratch::with_zeros;
use crate::mechanics::motion::acceleration::{Frame, Purpose, WRITTEN, idle_force};
use crate::mechanics::motion::constants::Fixed;
use crate::mechanics::motion::kept::Kept;

use crate::mechanics::{MechanicalSystem, Redundant, State, UnilateralConstraints};

impl Kept<ConstantContacts> {
    /// Runs `work` on the contacts `closed`, computed where they are another set than before. None
    /// where masses or rows are not constant, rows are not written, or depend on each other.
    #[inline]
    pub(super) fn of_closed<S, R>(
        &self,
        system: &S,
        fixed: &Fixed,
        q: &[f64],
        closed: &[usize],
        work: impl FnOnce(&mut ConstantContacts) -> R,
    ) -> Option<R>
    where
        S: MechanicalSystem + UnilateralConstraints + ?Sized,
    {
        fixed.constant_inverse()?;
        self.with(|last| {
            if last.contacts != closed || last.is_empty() {
                last.fill(system, fixed, q, closed);
            }
            last.are_independent.then(|| work(last))
        })
    }
}

/// Matrices of some closed contacts that do not change with the state.
#[derive(Debug, Default)]
pub(crate) struct ConstantContacts {
    /// The contacts, in rising order.
    contacts: Vec<usize>,
    /// Their rows are written, constant and independent; else what is below means nothing.
    are_independent: bool,
    /// `P`, `d × d`.
    held_inverse: Vec<f64>,
    /// `B`, one column a velocity.
    holding: Vec<f64>,
    /// Sizes of the entries of `Da_J M⁻¹`, one column a velocity: the scale of the rounding of gap
    /// accelerations.
    response: Vec<f64>,
    /// `1/√G_ii`: forces of unit rows in units of the multipliers.
    units: Vec<f64>,
    /// Space for a force, and then for the sizes of its entries.
    force: Vec<f64>,
    /// Space for the multipliers.
    multipliers: Vec<f64>,
    /// Space for the sizes of the terms of gap accelerations.
    sizes: Vec<f64>,
}

impl ConstantContacts {
    /// Nothing was filled yet.
    fn is_empty(&self) -> bool {
        self.force.is_empty()
    }

    /// Fills it anew when it is asked next.
    pub(crate) fn forget(&mut self) {
        self.force.clear();
    }

    /// `P`.
    pub(super) fn held_inverse(&self) -> &[f64] {
        &self.held_inverse
    }

    /// Takes another set; allocates for one that is larger than those before.
    #[cold]
    fn fill<S>(&mut self, system: &S, fixed: &Fixed, q: &[f64], closed: &[usize])
    where
        S: MechanicalSystem + UnilateralConstraints + ?Sized,
    {
        let (d, m) = (fixed.d, closed.len());
        self.are_independent = false;
        self.contacts.clear();
        self.contacts.extend_from_slice(closed);
        // A driven velocity has an acceleration, of which no contact has a part: the matrices are not
        // symmetric then.
        let none_is_driven = fixed.sizes.driven.is_empty();
        let is_constant = fixed.identity && system.constant_mass() && none_is_driven;
        if !is_constant || !closed.iter().all(|&j| system.constant_row(j)) {
            return;
        }
        for (space, size) in [
            (&mut self.held_inverse, d * d),
            (&mut self.holding, d * m),
            (&mut self.response, d * m),
            (&mut self.units, m),
            (&mut self.force, d),
            (&mut self.multipliers, m),
            (&mut self.sizes, m),
        ] {
            space.clear();
            space.resize(size, 0.0);
        }
        self.are_independent = with_zeros(fixed.frame_size(d, fixed.nq, m) + m, |scratch| {
            let (zeros, scratch) = scratch.split_at_mut(m);
            let Ok(mut frame) = Frame::new(system, fixed, q, closed, scratch) else {
                return false;
            };
            // Differences depend on where they are taken.
            if !frame.rows.written {
                return false;
            }
            for (i, unit) in self.units.iter_mut().enumerate() {
                *unit = frame.gram[i * m + i].sqrt().recip();
            }
            for (i, lift) in frame.lift.chunks_exact(d.max(1)).enumerate() {
                for (c, entry) in lift.iter().enumerate() {
                    self.response[c * m + i] = entry.abs();
                    self.holding[c * m + i] = -entry;
                }
            }
            if frame.solve_gram(zeros, Redundant::Refuse) != Ok(true) {
                return false;
            }
            for column in self.holding.chunks_exact_mut(m.max(1)) {
                solve(frame.gram, m, column);
            }
            frame.held_inverse(zeros, &mut self.held_inverse)
        });
    }

    /// As [`motion`](crate::mechanics::motion::motion), whose result is unique here.
    #[inline]
    pub(super) fn motion<S>(
        &mut self,
        system: &S,
        applied: &[f64],
        state: State<'_>,
        purpose: Purpose,
        acceleration: &mut [f64],
        multipliers: Option<&mut [f64]>,
    ) where
        S: MechanicalSystem + UnilateralConstraints + ?Sized,
    {
        // The effort f; there is no Coriolis force.
        self.force.fill(0.0);
        system.effort(state.t, state.q, state.v, &mut self.force);
        system.contact_effort(state, &self.contacts, &mut self.force);
        for (force, applied) in self.force.iter_mut().zip(applied) {
            *force += applied;
        }
        if let Some(multipliers) = multipliers {
            // λ_J = B f.
            columns_times(&self.holding, &self.force, &mut self.multipliers);
            if let Purpose::Events { rate_tolerance } = purpose {
                self.add_rounding(rate_tolerance);
            }
            multipliers.fill(0.0);
            for (&j, force) in self.contacts.iter().zip(&self.multipliers) {
                multipliers[j] = *force;
            }
        }
        if matches!(purpose, Purpose::Motion) {
            columns_times(&self.held_inverse, &self.force, acceleration);
        }
    }

    /// Adds their rounding to the multipliers, so that a contact without a force stays closed. Its
    /// scale is the largest sum of the absolute terms of a gap acceleration, in units of its row.
    /// Overwrites the force by the sizes of its entries.
    fn add_rounding(&mut self, rate_tolerance: f64) {
        for force in &mut self.force {
            *force = force.abs();
        }
        columns_times(&self.response, &self.force, &mut self.sizes);
        let sizes = self.sizes.iter().zip(&self.units);
        let size = sizes.fold(0.0, |most: f64, (size, unit)| most.max(size * unit));
        let rounding = WRITTEN * size;
        for (multiplier, unit) in self.multipliers.iter_mut().zip(&self.units) {
            *multiplier += idle_force(rounding, *unit, rate_tolerance);
        }
    }
}
