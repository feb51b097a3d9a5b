//! The derivative of a run: of its steps, and of the impacts inside them.
//!
//! A part of a step that starts at `t` and lasts `h` has the map `S(t, h, x)`, `x = (q, p)`. When
//! its ends move with the start `x₀` by `τ₀` and `τ₁` (zero at the ends of steps),
//!
//! ```text
//!     dx₁ = S_x dx₀ + S_t τ₀ + S_h (τ₁ − τ₀)        Dφ(q₁) dq₁ = 0 at an impact, which gives τ₁
//! ```

use nalgebra::{DMatrix, DVector, RowDVector};

use super::failure::VariationalFailure;
use super::runner::Runner;
use super::state::{Blow, Part, PhasePoint, Step};
use crate::linalg::{cholesky, dot};
use crate::mechanics::contact::gaps::{gap_row, work_size};
use crate::ode::difference::CENTRAL;
use crate::record::{ContactEvent, ContactEventKind};

/// A law has a kink where changes to both sides differ by more than this part of them.
const KINK: f64 = 1e-3;
/// An impact closer to the end of a run than this part of a step is at its end.
const AT_END: f64 = 1e-9;
/// Step of differences by time, as a part of the step of the run.
const PART: f64 = 1e-4;
/// Over so many steps of the run the motion and its constraints change little: what a coordinate travels
/// meanwhile is the length for differences by it. Ten times too long or too short still gives seven digits.
const STEPS: f64 = 10.0;

impl Runner<'_> {
    /// The derivative of the end `(q, v)` by the start `(q, v)`.
    pub(super) fn derivative(
        &mut self,
        parts: &[Part],
    ) -> Result<DMatrix<f64>, VariationalFailure> {
        let d = self.on.state.q.len();
        if let Some(t) = self.on.log.halved {
            return Err(in_halves(t));
        }
        self.on.stepper.newton.terms.closed.clear();
        let first = match parts.first() {
            Some(Part::Free(state, ..) | Part::Impact(state, ..) | Part::Held(state)) => {
                state.clone()
            }
            None => self.on.state.clone(),
        };
        // The parts are maps of (q, p): begin with ∂(q, p)/∂(q, v), end with its inverse.
        let mut whole = self.momenta_by_velocities(&first)?;
        let mut shift = RowDVector::zeros(2 * d);
        let energy = self.greatest_energy(parts)?;
        for part in parts {
            match part {
                Part::Held(state) => {
                    return Err(VariationalFailure::NoDerivative {
                        t: state.t,
                        why: "contacts are closed",
                    });
                }
                Part::Free(state, h, hit) => {
                    let step = Step { t: state.t, h: *h };
                    // S_x by the implicit function theorem, S_t and S_h by differences.
                    let map = self
                        .on
                        .stepper
                        .derivative(self.system, step, &state.q, &state.p)?;
                    let by_time = self.by_time(state, *h, energy, [1.0, 0.0])?;
                    let by_length = self.by_time(state, *h, energy, [0.0, 1.0])?;
                    // The start of this part moves by τ₀ and its end, for now, does not:
                    // dx₁ = S_x dx₀ + (S_t − S_h) τ₀.
                    whole = map * whole + (by_time - &by_length) * &shift;
                    shift.fill(0.0);
                    // At a root the end moves by τ₁ too: + S_h τ₁, with Dφ(q₁) dq₁ = 0.
                    if let Some(contact) = hit {
                        shift = self.shift(state, *h, *contact, &whole, &by_length)?;
                        whole += by_length * &shift;
                    }
                }
                Part::Impact(state, blow, new) => {
                    // The order of impacts at one instant may matter: no single matrix.
                    if *new > 1 {
                        return Err(VariationalFailure::NoDerivative {
                            t: state.t,
                            why: "contacts close at once",
                        });
                    }
                    whole = self.by_impact(state, blow, energy)? * whole;
                }
            }
        }
        let end = self.on.state.clone();
        self.refuse_impact_at_end(parts, &end)?;
        // From (q, p) back to (q, v): dv = M⁻¹ (dp − Σ_k dq_k ∂_k M v). As one matrix with the identity it would
        // seem singular where masses are great numbers.
        let back = self.momenta_by_velocities(&end)?;
        let mut mass: Vec<f64> = back.view((d, d), (d, d)).iter().copied().collect();
        if cholesky::factor(&mut mass, d).is_none() {
            return Err(VariationalFailure::singular(end.t, end.q));
        }
        for mut column in whole.column_iter_mut() {
            let (dq, dp) = column.as_mut_slice().split_at_mut(d);
            for (k, dq) in dq.iter().enumerate() {
                for (i, dp) in dp.iter_mut().enumerate() {
                    *dp -= back[(d + i, k)] * dq;
                }
            }
            cholesky::solve(&mass, d, dp);
        }
        Ok(whole)
    }

    /// Refuses a run in which neighbours have an impact before its end, and others none.
    fn refuse_impact_at_end(
        &mut self,
        parts: &[Part],
        end: &PhasePoint,
    ) -> Result<(), VariationalFailure> {
        let near = AT_END * self.settings.step;
        let last = parts.iter().rev().find_map(|part| match part {
            Part::Impact(state, ..) => Some(state.t),
            _ => None,
        });
        let is_behind = last.is_some_and(|t| end.t - t <= near);
        self.energy(end)?;
        let (system, v, d) = (self.system, &self.on.stepper.newton.terms.v, end.q.len());
        let (mut row, mut work) = (vec![0.0; d], vec![0.0; work_size(d, d)]);
        let is_ahead = (0..system.contacts()).any(|j| {
            gap_row(system, j, &end.q, &mut row, &mut work);
            let (gap, rate) = (system.gap(j, &end.q), dot(&row, v));
            rate < 0.0 && gap <= -rate * near
        });
        if is_behind || is_ahead {
            return Err(VariationalFailure::NoDerivative {
                t: end.t,
                why: "an impact is at the end of the run",
            });
        }
        Ok(())
    }

    /// `∂(q, p)/∂(q, v)` with `p = M(q) v`.
    fn momenta_by_velocities(
        &mut self,
        state: &PhasePoint,
    ) -> Result<DMatrix<f64>, VariationalFailure> {
        let d = state.q.len();
        self.on
            .stepper
            .velocity(self.system, state.t, &state.q, &state.p)?;
        let newton = &mut self.on.stepper.newton;
        let still = Step { t: state.t, h: 0.0 };
        newton
            .terms
            .evaluate(self.system, still, &state.q, &mut newton.work)?;
        newton
            .terms
            .linearise(self.system, false, &mut newton.work)?;
        let mut whole = DMatrix::identity(2 * d, 2 * d);
        let mut direction = vec![0.0; 2 * d];
        for k in 0..2 * d {
            self.settings.limits.interrupt.check()?;
            direction.fill(0.0);
            direction[k] = 1.0;
            let (dq, dv) = direction.split_at(d);
            newton.terms.along(self.system, dq, dv, &mut newton.work);
            for i in 0..d {
                // dp = M dv + Σ_k dq_k ∂_k M v.
                whole[(d + i, k)] = newton.work.dmomentum[i];
            }
        }
        Ok(whole)
    }

    /// Twice the kinetic energy, `2T = p·v` (J).
    fn energy(&mut self, state: &PhasePoint) -> Result<f64, VariationalFailure> {
        let stepper = &mut self.on.stepper;
        stepper.velocity(self.system, state.t, &state.q, &state.p)?;
        Ok(dot(&state.p, &stepper.newton.terms.v).max(0.0))
    }

    /// The greatest `2T` of a run (J): the measure of its speeds and lengths, in any units. With all of it a
    /// coordinate would have the speed `√(2T/M_kk)`, whether it moves or not.
    fn greatest_energy(&mut self, parts: &[Part]) -> Result<f64, VariationalFailure> {
        let end = self.on.state.clone();
        let mut most = self.energy(&end)?;
        for part in parts {
            if let Part::Free(state, ..) | Part::Impact(state, ..) = part {
                most = most.max(self.energy(state)?);
            }
        }
        Ok(most)
    }

    /// The greatest coordinate, over the length that it travels in [`STEPS`] with all of the energy; 0 where
    /// nothing moves.
    fn far_off(&self, state: &PhasePoint, energy: f64) -> f64 {
        let d = state.q.len();
        let mut mass = vec![0.0; d * d];
        self.system.mass(&state.q, &mut mass);
        let each = state.q.iter().zip(mass.iter().step_by(d + 1));
        let parts = each.map(|(q, mass)| q.abs() * mass.sqrt());
        let length = self.settings.step * STEPS * energy.sqrt();
        if length > 0.0 {
            parts.fold(0.0, f64::max) / length
        } else {
            0.0
        }
    }

    /// The derivative of the end of a part by its start time and its length, by differences.
    fn by_time(
        &mut self,
        state: &PhasePoint,
        h: f64,
        energy: f64,
        [start, length]: [f64; 2],
    ) -> Result<DVector<f64>, VariationalFailure> {
        // Efforts change little within a step. Rounding is that of times and, in the time in which they
        // are travelled, that of coordinates: a step `s` has errors of `ε t/s` and `(s/T)²`.
        let whole = self.settings.step;
        let travelled = whole * STEPS * self.far_off(state, energy);
        let rounded = f64::EPSILON * travelled.max(state.t.abs() * start);
        let step = (rounded * (STEPS * whole).powi(2)).cbrt();
        let step = step.min(whole).max(PART * whole);
        let mut ends = [Vec::new(), Vec::new()];
        for (end, sign) in ends.iter_mut().zip([1.0, -1.0]) {
            let (mut q, mut p) = (state.q.clone(), state.p.clone());
            let (t, h) = (state.t + sign * start * step, h + sign * length * step);
            self.on
                .stepper
                .advance(self.system, Step { t, h }, &mut q, &mut p)?;
            if self.on.stepper.halved {
                // Another map: its difference from this one is not that of the times.
                return Err(in_halves(t));
            }
            *end = [q, p].concat();
        }
        let [ahead, behind] = ends.map(DVector::from_vec);
        Ok((ahead - behind) / (2.0 * step))
    }

    /// The derivative of the time of an impact by the start.
    fn shift(
        &mut self,
        state: &PhasePoint,
        h: f64,
        contact: usize,
        whole: &DMatrix<f64>,
        by_length: &DVector<f64>,
    ) -> Result<RowDVector<f64>, VariationalFailure> {
        let d = state.q.len();
        let (mut q, mut p) = (state.q.clone(), state.p.clone());
        self.on
            .stepper
            .advance(self.system, Step { t: state.t, h }, &mut q, &mut p)?;
        let (mut row, mut work) = (vec![0.0; d], vec![0.0; work_size(d, d)]);
        gap_row(self.system, contact, &q, &mut row, &mut work);
        // Dφ S_h, the speed of the gap along the partial step; τ₁ = −Dφ dq₁ / (Dφ S_h).
        let rate = dot(&row, &by_length.as_slice()[..d]);
        if rate > -self.settings.rate_tolerance {
            return Err(VariationalFailure::NoDerivative {
                t: state.t + h,
                why: "a contact is only touched",
            });
        }
        let along = whole
            .column_iter()
            .map(|column| dot(&row, &column.as_slice()[..d]));
        Ok(RowDVector::from_iterator(
            2 * d,
            along.map(|gap| -gap / rate),
        ))
    }

    /// The derivative of an impact at its configuration, by differences of the law.
    fn by_impact(
        &mut self,
        state: &PhasePoint,
        blow: &Blow,
        energy: f64,
    ) -> Result<DMatrix<f64>, VariationalFailure> {
        let d = state.q.len();
        let x = [&state.q[..], &state.p].concat();
        let own = self.energy(state)?;
        // `ε |q|/s` is the rounding and `(s/L)²` the truncation of a step `s` by a coordinate.
        let wide = self.far_off(state, energy).max(1.0).cbrt();
        let mut mass = vec![0.0; d * d];
        self.system.mass(&state.q, &mut mass);
        let mut whole = DMatrix::zeros(2 * d, 2 * d);
        let mut here = x.clone();
        let (q, p) = here.split_at_mut(d);
        let mut event = ContactEvent::new(state.t, ContactEventKind::Contact);
        self.resolve(blow, state.t, q, p, &mut event)?;
        for k in 0..2 * d {
            let root = mass[k % d * (d + 1)].sqrt();
            // No momentum is greater than `√(2T M_kk)`.
            let size = if k < d {
                self.settings.step * STEPS * energy.sqrt() / root * wide
            } else {
                own.sqrt() * root
            };
            let step = (CENTRAL * size).max(f64::MIN_POSITIVE);
            let mut bend: Vec<f64> = here[d..].iter().map(|p| -2.0 * p).collect();
            for sign in [1.0, -1.0] {
                self.settings.limits.interrupt.check()?;
                let mut moved = x.clone();
                moved[k] += sign * step;
                let (q, p) = moved.split_at_mut(d);
                let mut event = ContactEvent::new(state.t, ContactEventKind::Contact);
                // The law at a configuration beside the impact, with the same contacts.
                self.resolve(blow, state.t, q, p, &mut event)?;
                for i in 0..d {
                    whole[(i, k)] += sign * q[i] / (2.0 * step);
                    whole[(d + i, k)] += sign * p[i] / (2.0 * step);
                    bend[i] += p[i];
                }
            }
            // To both sides the momenta of a smooth law change by the same; by momenta it hardly bends.
            let size = |i: usize, p: f64| p.abs() / mass[i * (d + 1)].sqrt();
            let changes = (0..d).map(|i| size(i, whole[(d + i, k)] * step));
            let least = KINK * changes.fold(CENTRAL * own.sqrt(), f64::max);
            if k >= d && (0..d).any(|i| size(i, bend[i]) > least) {
                return Err(VariationalFailure::NoDerivative {
                    t: state.t,
                    why: "the impact is between two branches of its law, as of a slip that just ends",
                });
            }
        }
        Ok(whole)
    }
}

#[cold]
fn in_halves(t: f64) -> VariationalFailure {
    VariationalFailure::NoDerivative {
        t,
        why: "a step, or one beside it, is made in two halves",
    }
}
