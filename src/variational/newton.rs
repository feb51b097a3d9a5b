//! Newton's method for a step: the velocity `v` of the step for which
//!
//! ```text
//!     R(v) = M(m) v − (h/2) F(m, v) − p₀ = 0        m = q₀ + (h/2) v,  q₁ = q₀ + h v,  p₁ = p₀ + h F
//! ```
//!
//! which is `p₀ + D₁L_d(q₀, q₁) + f⁻ = 0`, the equation (29) of Seghete & Murphey with the momentum
//! `p₀` that the last step left. The unknown is `v = (q₁ − q₀)/h`: `q₁` itself would lose digits in
//! short parts of a step.
//!
//! The factors of its derivative are kept as long as they contract, over steps too, and leave the
//! second derivatives of the kinetic energy out: their part is `(h |v|)²/8` of the mass, and they
//! cost four mass matrices a pair of coordinates. What these factors do not solve is begun again with
//! whole ones, new at each iteration that asks for them.

use super::discrete_lagrangian::{DiscreteLagrangian, Work};
use super::state::Step;
use crate::interrupt::Interrupted;
use crate::linalg::cholesky;
use crate::linalg::lu::Lu;
use crate::mechanics::MechanicalSystem;

/// Limit of the iterations of a step, with each kind of factors.
pub(super) const ITERATIONS: usize = 30;
/// Corrections of coordinates, each below this part of its size, end the iteration.
const ENOUGH: f64 = 1e-13;
/// The sums of the equations are rounded by some units in the last place of their parts; what that
/// moves a coordinate by is `ENOUGH` of its size at least.
const SUMS: f64 = 4.0 * f64::EPSILON / ENOUGH;
/// Corrections, each below this part of its coordinate's size (or of 1, when that is smaller), end it
/// too where they do not shrink with new factors that have proved good: they are rounding of the
/// forces.
const ROUNDING: f64 = 1e-10;
/// So do larger ones with new factors that are whole, where this part of the forces moves each
/// coordinate as far: differences of the kinetic energy are off by 1e-10 of it, and a step that is
/// nearly too long makes more of that.
const FORCES: f64 = 1e-9;
/// Factors serve for steps whose lengths differ by less than this part.
const NEAR: f64 = 1e-6;
/// Corrections that shrink by less than this ask for new factors.
const CONTRACTS: f64 = 0.1;
/// Corrections that shrink by less than this after new factors say that the step is too long: what
/// the iteration would come to is another root, far from the motion.
const TOO_SLOW: f64 = 0.5;

/// The reason for which there is no step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Fault {
    /// No convergence, or a singular derivative; the last correction of the coordinates.
    Diverged(f64),
    /// The mass matrix is singular.
    Singular,
    /// What is not, in words.
    NotFinite(&'static str),
    Interrupted,
}

impl From<Interrupted> for Fault {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

/// The workspace of Newton's method, kept between steps.
#[derive(Clone, Debug)]
pub(super) struct Newton {
    pub(super) terms: DiscreteLagrangian,
    pub(super) work: Work,
    factors: Lu,
    /// `|K⁻¹|` of the factors, `K = ∂R/∂v`, column after column.
    inverse: Vec<f64>,
    /// Step (s) that the factors belong to.
    step: Option<f64>,
    /// The velocity that an iteration began with.
    start: Vec<f64>,
    delta: Vec<f64>,
    /// Motion of each coordinate by the last correction.
    moves: Vec<f64>,
    /// The contribution of rounding to the size of each coordinate.
    rounded: Vec<f64>,
    unit: Vec<f64>,
    half: Vec<f64>,
}

/// Motion of the coordinates by an iteration.
#[derive(Clone, Copy, Debug)]
struct Correction {
    /// At most.
    moved: f64,
    /// At most, as a part of a coordinate's size.
    part: f64,
    /// The largest such part in the iteration before, by the sizes of this one.
    part_before: f64,
    /// Each within [`ROUNDING`].
    is_small: bool,
}

impl Correction {
    /// True when it is more than `rate` of the one before by both measures: a coordinate that is
    /// small beside the others may move more, as a part of its size, before it moves less.
    fn exceeds(&self, rate: f64, before: f64) -> bool {
        self.moved > rate * before && self.part > rate * self.part_before
    }
}

/// A step to be made from a state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task<'a> {
    pub(super) step: Step,
    pub(super) q: &'a [f64],
    /// `p₀` with the impulses at the start of the step.
    pub(super) p: &'a [f64],
}

impl Newton {
    pub(super) fn new(d: usize) -> Self {
        Self {
            terms: DiscreteLagrangian::new(d),
            work: Work::new(d),
            factors: Lu::new(d),
            inverse: vec![0.0; d * d],
            step: None,
            start: vec![0.0; d],
            delta: vec![0.0; d],
            moves: vec![0.0; d],
            rounded: vec![0.0; d],
            unit: vec![0.0; d],
            half: vec![0.0; d],
        }
    }

    /// Forgets the factors, so that what follows depends on nothing before.
    pub(super) fn forget(&mut self) {
        self.step = None;
    }

    /// Guesses the velocity of a step by `M(q₀)⁻¹ p₀`.
    pub(super) fn guess<S: MechanicalSystem + ?Sized>(
        &mut self,
        system: &S,
        q: &[f64],
        p: &[f64],
    ) -> Result<(), Fault> {
        let d = p.len();
        system.mass(q, &mut self.terms.mass);
        if self.terms.mass.iter().any(|entry| !entry.is_finite()) {
            return Err(Fault::NotFinite("the mass matrix"));
        }
        // v = M(q₀)⁻¹ p₀ is off by O(h): the first correction is of the size of the forces.
        cholesky::factor(&mut self.terms.mass, d).ok_or(Fault::Singular)?;
        self.terms.v.copy_from_slice(p);
        cholesky::solve(&self.terms.mass, d, &mut self.terms.v);
        let mut values = self.terms.v.iter().chain(q).chain(p);
        if values.all(|value| value.is_finite()) {
            Ok(())
        } else {
            Err(Fault::NotFinite(
                "the velocity, the inverse mass matrix times the momentum,",
            ))
        }
    }

    /// Solves the step from the guess in `terms.v`, and leaves its terms there.
    pub(super) fn solve<S: MechanicalSystem + ?Sized>(
        &mut self,
        system: &S,
        task: Task<'_>,
    ) -> Result<(), Fault> {
        // With a constant mass new factors are whole.
        let may_improve = self.fits(task.step.h) || !system.constant_mass();
        self.start.copy_from_slice(&self.terms.v);
        // First with factors that may be old and leave second derivatives out, then from the same guess
        // with whole ones.
        match self.iterate(system, task, false) {
            Err(Fault::Diverged(_) | Fault::NotFinite(_)) if may_improve => {
                self.forget();
                self.terms.v.copy_from_slice(&self.start);
                self.iterate(system, task, true)
            }
            made => made,
        }
    }

    /// True when the factors that are kept are those of a step of length `h`.
    fn fits(&self, h: f64) -> bool {
        self.step.is_some_and(|of| (of - h).abs() <= NEAR * h.abs())
    }

    /// The iteration, with factors that are `whole` or leave second derivatives out.
    fn iterate<S: MechanicalSystem + ?Sized>(
        &mut self,
        system: &S,
        task: Task<'_>,
        whole: bool,
    ) -> Result<(), Fault> {
        let h = task.step.h;
        let (mut last, mut was_fresh) = (f64::INFINITY, false);
        self.moves.fill(f64::INFINITY);
        // Whether a lack of progress is not the fault of the factors.
        let whole_when_new = whole || system.constant_mass();
        let mut good = whole_when_new;
        for k in 0..ITERATIONS {
            // −R(v), at the midpoint of this velocity.
            self.residual(system, task)?;
            // Factors K = ∂R/∂v of another length of the step do not serve.
            let fresh = !self.fits(h);
            if fresh {
                self.factorise(system, task, whole)?;
            }
            // The rounding of R, carried to the coordinates: once a step, and by each new K.
            if fresh || k == 0 {
                self.measure(task);
            }
            // δv = −K⁻¹ R, and v ← v + δv.
            self.factors.solve(&mut self.delta);
            let correction = self.correct(task);
            if !correction.moved.is_finite() {
                return Err(Fault::NotFinite("a correction of the step"));
            }
            // With new factors Newton's method contracts fast. A correction that does not shrink then is
            // rounding, or the step is too long for the iteration.
            let stalls = (fresh || was_fresh) && correction.exceeds(TOO_SLOW, last);
            let is_rounding = stalls
                && (good && correction.is_small || whole_when_new && self.is_noise(system, h));
            if correction.part <= ENOUGH || is_rounding {
                // The terms belong to the velocity before a correction below the tolerance.
                self.terms
                    .evaluate(system, task.step, task.q, &mut self.work)?;
                self.check()?;
                return self.check_end(task);
            }
            // Not rounding, and the factors are new: no root near the motion.
            if was_fresh && stalls {
                break;
            }
            // Once it contracted well, the factors are good: a later stall is rounding.
            good |= last.is_finite() && correction.part <= CONTRACTS * correction.part_before;
            // Slow contraction: the next iteration makes new factors.
            if correction.exceeds(CONTRACTS, last) {
                self.step = None;
            }
            (last, was_fresh) = (correction.moved, fresh);
        }
        self.step = None;
        Err(Fault::Diverged(last))
    }

    /// `−R` into `delta`.
    fn residual<S: MechanicalSystem + ?Sized>(
        &mut self,
        system: &S,
        task: Task<'_>,
    ) -> Result<(), Fault> {
        self.terms
            .evaluate(system, task.step, task.q, &mut self.work)?;
        self.check()?;
        let (momentum, force) = (&self.terms.momentum, &self.terms.force);
        // −R = p₀ − M(m) v + (h/2) F.
        for i in 0..task.p.len() {
            self.delta[i] = task.p[i] - momentum[i] + 0.5 * task.step.h * force[i];
        }
        Ok(())
    }

    fn check(&self) -> Result<(), Fault> {
        let are_finite = |values: &[f64]| values.iter().all(|value| value.is_finite());
        if !are_finite(&self.terms.momentum) {
            let is_mass = !are_finite(&self.terms.mass);
            let quantity = if is_mass {
                "the mass matrix"
            } else {
                "the momentum"
            };
            Err(Fault::NotFinite(quantity))
        } else if !are_finite(&self.terms.force) {
            Err(Fault::NotFinite(
                "the effort, or the derivative of the mass matrix,",
            ))
        } else {
            Ok(())
        }
    }

    /// Refuses ends that are not finite.
    fn check_end(&self, task: Task<'_>) -> Result<(), Fault> {
        let is_finite = |i: usize| {
            let (q, p) = (
                task.step.h * self.terms.v[i],
                task.step.h * self.terms.force[i],
            );
            (task.q[i] + q).is_finite() && (task.p[i] + p).is_finite()
        };
        if (0..task.p.len()).all(is_finite) {
            Ok(())
        } else {
            Err(Fault::NotFinite("the end of the step"))
        }
    }

    /// Computes the contribution of the rounding of the sums of the equations to the size of each
    /// coordinate, by [`SUMS`] and the inverse.
    fn measure(&mut self, task: Task<'_>) {
        let (h, terms, d) = (task.step.h.abs(), &self.terms, task.p.len());
        self.rounded.fill(0.0);
        let masses = terms.mass.chunks_exact(d);
        let columns = self.inverse.chunks_exact(d);
        for (k, (mass, column)) in masses.zip(columns).enumerate() {
            let products = mass.iter().zip(&terms.v).map(|(m, v)| (m * v).abs());
            let sum = task.p[k].abs() + products.sum::<f64>() + 0.5 * h * terms.force[k].abs();
            for (rounded, entry) in self.rounded.iter_mut().zip(column) {
                *rounded += SUMS * h * entry * sum;
            }
        }
    }

    /// Adds `delta` to the velocity. The size of a coordinate is its value, its way in the step, and
    /// what rounding adds: one that is large makes no other one large, unless the equations join
    /// them.
    fn correct(&mut self, task: Task<'_>) -> Correction {
        let h = task.step.h;
        let mut most = Correction {
            moved: 0.0,
            part: 0.0,
            part_before: 0.0,
            is_small: true,
        };
        for (k, v) in self.terms.v.iter_mut().enumerate() {
            let size = task.q[k].abs() + (h * *v).abs() + self.rounded[k];
            *v += self.delta[k];
            let moved = (h * self.delta[k]).abs();
            // NaN is kept. A size that overflows is none.
            most.moved = if moved <= most.moved {
                most.moved
            } else {
                moved
            };
            let part = |moved: f64| match moved {
                0.0 => 0.0,
                _ if size.is_finite() => moved / size,
                _ => f64::INFINITY,
            };
            most.part = most.part.max(part(moved));
            most.part_before = most.part_before.max(part(self.moves[k]));
            most.is_small &= moved <= ROUNDING * size.max(1.0);
            self.moves[k] = moved;
        }
        most
    }

    /// True when [`FORCES`] of the forces, carried to the coordinates by the inverse, moves each of
    /// them as far as `delta`. Forces of inertia count as much as the energy that they are
    /// differences of.
    fn is_noise<S: MechanicalSystem + ?Sized>(&mut self, system: &S, h: f64) -> bool {
        let noise = &mut self.half;
        noise.fill(0.0);
        for (k, column) in self.inverse.chunks_exact(self.delta.len()).enumerate() {
            let force = self.terms.force[k].abs() + self.terms.energy_behind(system, k);
            for (noise, entry) in noise.iter_mut().zip(column) {
                *noise += FORCES * 0.5 * h.abs() * force * entry;
            }
        }
        let mut each = self.delta.iter().zip(noise);
        each.all(|(delta, noise)| delta.abs() <= *noise && noise.is_finite())
    }

    /// Factorises the derivative of `R` at the terms; see [`DiscreteLagrangian::linearise`].
    pub(super) fn factorise<S: MechanicalSystem + ?Sized>(
        &mut self,
        system: &S,
        task: Task<'_>,
        whole: bool,
    ) -> Result<(), Fault> {
        let h = task.step.h;
        self.terms.linearise(system, whole, &mut self.work)?;
        for k in 0..task.p.len() {
            self.terms.interrupt.check()?;
            self.unit.fill(0.0);
            self.half.fill(0.0);
            // Column k of K: v moves by e_k, and the midpoint m by (h/2) e_k.
            self.unit[k] = 1.0;
            self.half[k] = 0.5 * h;
            self.terms
                .along(system, &self.half, &self.unit, &mut self.work);
            let column = self.factors.column(k);
            for i in 0..column.len() {
                // K e_k = δ(M v) − (h/2) δF.
                column[i] = self.work.dmomentum[i] - 0.5 * h * self.work.dforce[i];
            }
        }
        self.step = None;
        if !self.factors.factor() {
            return Err(Fault::Diverged(f64::INFINITY));
        }
        // |K⁻¹| bounds what rounding of forces and sums moves a coordinate by.
        for (k, column) in self.inverse.chunks_exact_mut(task.p.len()).enumerate() {
            self.terms.interrupt.check()?;
            column.fill(0.0);
            column[k] = 1.0;
            self.factors.solve(column);
            for entry in column {
                *entry = entry.abs();
            }
        }
        self.step = Some(h);
        Ok(())
    }

    /// Replaces `force` by `(∂R/∂v)⁻¹ force`, with the factors that are kept.
    pub(super) fn response(&self, force: &mut [f64]) {
        self.factors.solve(force);
    }
}
