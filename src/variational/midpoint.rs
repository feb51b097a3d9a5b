//! One step of the midpoint rule without contacts, and its derivative.

use nalgebra::DMatrix;

use super::discrete_lagrangian::times;
use super::failure::VariationalFailure;
use super::newton::{Fault, ITERATIONS, Newton, Task};
use super::state::Step;
use crate::mechanics::configuration::{check_input, is_identity};
use crate::mechanics::{Measured, MechanicalSystem};
use crate::{InputError, Interrupt, validate};

/// The midpoint variational integrator in momentum form, for one step at a time and without
/// contacts (Seghete & Murphey, section VI).
///
/// A step takes `(q₀, p₀)` to `(q₁, p₁)`, with `p = M(q) v`:
///
/// ```text
///     p₀ + D₁L_d(q₀, q₁) + f⁻ = 0        p₁ = D₂L_d(q₀, q₁) + f⁺
/// ```
///
/// the paper's discrete Euler–Lagrange equations (28) and (29) in momentum form. It is of second
/// order, symmetric in time, keeps the momenta of symmetries to rounding, and
/// energy to `O(h²)` over any time when no force dissipates. Steps allocate nothing.
///
/// ```
/// use saltation::models::DoublePendulum;
/// use saltation::variational::Midpoint;
/// let mut midpoint = Midpoint::new(DoublePendulum::default())?;
/// let (mut q, mut p) = ([1.0, 0.5], [0.0, 0.0]);
/// for k in 0..60 {
///     midpoint.step(0.01 * f64::from(k), 0.01, &mut q, &mut p)?;
/// }
/// assert!((q[0] + 0.149417452053).abs() < 1e-9);
/// // And back.
/// for k in (0..60).rev() {
///     midpoint.step(0.01 * f64::from(k + 1), -0.01, &mut q, &mut p)?;
/// }
/// assert!((q[0] - 1.0).abs() < 1e-11 && p[0].abs() < 1e-11);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Midpoint<S> {
    system: Measured<S>,
    stepper: Stepper,
    halvings: usize,
}

impl<S: MechanicalSystem> Midpoint<S> {
    /// The integrator of a system.
    ///
    /// # Errors
    /// [`InputError::EmptySystem`] for a system without coordinates,
    /// [`InputError::NotCoordinateRates`] for one with velocities that are not the rates of its
    /// coordinates; [`InputError::BadSetting`] for more than 10,000 velocities.
    pub fn new(system: S) -> Result<Self, InputError> {
        let system = Measured::free(system)?;
        let stepper = Stepper::new(&system)?;
        Ok(Self {
            system,
            stepper,
            halvings: 0,
        })
    }

    /// Ends steps and derivatives when `interrupt` is set; looked at after each four mass matrices
    /// or less, but not within a factorisation.
    #[must_use]
    pub fn interrupt(mut self, interrupt: &Interrupt) -> Self {
        self.stepper.newton.terms.interrupt = interrupt.clone();
        self
    }

    /// The system.
    pub fn system(&self) -> &S {
        &self.system.system
    }

    /// Replaces `(q, p)` at `t` by those at `t + h`; `h` (s) may be negative. The state is left as
    /// it was where there is an error. Where Newton's method fails, or meets what is not
    /// finite on its way, the step is made in two halves, and [`halvings`](Self::halvings) counts it:
    /// it is symplectic too, but another map. Halves are not halved again.
    ///
    /// With `d` coordinates an iteration costs `2 d` mass matrices and `O(d³)` operations; where the
    /// derivative of the kinetic energy is written, only one with new factors does. In a step so
    /// long that they fail, the second derivatives of the kinetic energy cost some `2 d²` mass
    /// matrices, or `2 d` written derivatives, an iteration.
    ///
    /// # Errors
    /// [`VariationalFailure::Input`] for wrong lengths and numbers that are not finite, [`VariationalFailure::Mass`],
    /// [`VariationalFailure::NotFinite`], [`VariationalFailure::NewtonFailed`], [`VariationalFailure::Interrupted`].
    pub fn step(
        &mut self,
        t: f64,
        h: f64,
        q: &mut [f64],
        p: &mut [f64],
    ) -> Result<(), VariationalFailure> {
        self.check(t, h, q, p)?;
        self.stepper.newton.forget();
        self.stepper.advance(&self.system, Step { t, h }, q, p)?;
        self.halvings += usize::from(self.stepper.halved);
        Ok(())
    }

    /// The number of steps so far that were made in two halves.
    pub fn halvings(&self) -> usize {
        self.halvings
    }

    /// The derivative of `(q₁, p₁)` by `(q₀, p₀)` of the step from `(q, p)` at `t` to `t + h`:
    /// `2d × 2d`. Efforts are differentiated as written or by differences; masses that change
    /// by differences, with an error of about 1e-9. Costs a step and the second derivatives of the
    /// kinetic energy.
    ///
    /// # Errors
    /// As [`step`](Self::step); a step that needs halves is refused as
    /// [`VariationalFailure::NewtonFailed`] or [`VariationalFailure::NotFinite`].
    pub fn derivative(
        &mut self,
        t: f64,
        h: f64,
        q: &[f64],
        p: &[f64],
    ) -> Result<DMatrix<f64>, VariationalFailure> {
        self.check(t, h, q, p)?;
        self.stepper.newton.forget();
        let matrix = self.stepper.derivative(&self.system, Step { t, h }, q, p)?;
        if matrix.iter().all(|entry| entry.is_finite()) {
            return Ok(matrix);
        }
        let state = [q, p].concat();
        let quantity = "the derivative of the step";
        Err(VariationalFailure::NotFinite { quantity, t, state })
    }

    /// `p = M(q) v`.
    ///
    /// # Errors
    /// [`InputError::WrongLength`], [`InputError::NotFinite`].
    pub fn momentum(&mut self, q: &[f64], v: &[f64]) -> Result<Vec<f64>, InputError> {
        let d = self.system.dof();
        check_input(d, d, 0.0, q, v)?;
        let mut p = vec![0.0; d];
        self.system.mass(q, &mut self.stepper.newton.terms.mass);
        times(&self.stepper.newton.terms.mass, v, &mut p);
        Ok(p)
    }

    /// `v = M(q)⁻¹ p`.
    ///
    /// # Errors
    /// [`VariationalFailure::Input`] for wrong lengths and numbers that are not finite, [`VariationalFailure::Mass`].
    pub fn velocity(&mut self, q: &[f64], p: &[f64]) -> Result<Vec<f64>, VariationalFailure> {
        self.check(0.0, 0.0, q, p)?;
        self.stepper.velocity(&self.system, 0.0, q, p)?;
        Ok(self.stepper.newton.terms.v.clone())
    }

    fn check(&self, t: f64, h: f64, q: &[f64], p: &[f64]) -> Result<(), InputError> {
        let d = self.system.dof();
        validate::length("q", d, q.len())?;
        validate::length("p", d, p.len())?;
        for (name, values) in [("t", &[t][..]), ("h", &[h]), ("q", q), ("p", p)] {
            validate::finite(name, values)?;
        }
        Ok(())
    }
}

/// Steps with the memory that they need.
#[derive(Clone, Debug)]
pub(super) struct Stepper {
    pub(super) newton: Newton,
    /// The last step was made in two halves.
    pub(super) halved: bool,
    /// A state between two halves of a step.
    between: [Vec<f64>; 2],
}

impl Stepper {
    /// Refuses systems without coordinates, and `q̇ = N(q) v`.
    pub(super) fn new<S: MechanicalSystem + ?Sized>(system: &S) -> Result<Self, InputError> {
        let d = system.dof();
        if d == 0 {
            return Err(InputError::EmptySystem);
        }
        if system.coordinates() != d || !is_identity(system, &vec![0.0; d], d) {
            return Err(InputError::NotCoordinateRates);
        }
        Ok(Self {
            newton: Newton::new(d),
            halved: false,
            between: [vec![0.0; d], vec![0.0; d]],
        })
    }

    /// `M(q)⁻¹ p` into `terms.v`.
    pub(super) fn velocity<S: MechanicalSystem + ?Sized>(
        &mut self,
        system: &S,
        t: f64,
        q: &[f64],
        p: &[f64],
    ) -> Result<(), VariationalFailure> {
        let found = self.newton.guess(system, q, p);
        found.map_err(|fault| self.explain(fault, Step { t, h: 0.0 }, q))
    }

    /// A step, in two halves where Newton's method fails or leaves the domain of the system.
    pub(super) fn advance<S: MechanicalSystem + ?Sized>(
        &mut self,
        system: &S,
        step: Step,
        q: &mut [f64],
        p: &mut [f64],
    ) -> Result<(), VariationalFailure> {
        self.halved = false;
        // The guess of Newton's method: the velocity of the momentum at the start.
        self.velocity(system, step.t, q, p)?;
        // p₀ + D₁L_d + f⁻ = 0 for the velocity of the step.
        match self.newton.solve(system, Task { step, q, p }) {
            Ok(()) => {
                self.finish(step.h, q, p);
                Ok(())
            }
            Err(Fault::Diverged(_) | Fault::NotFinite(_)) => self.halves(system, step, q, p),
            Err(fault) => Err(self.explain(fault, step, q)),
        }
    }

    /// `q₁ = q₀ + h v` and `p₁ = p₀ + h F`: what no force acts on is kept to rounding.
    pub(super) fn finish(&self, h: f64, q: &mut [f64], p: &mut [f64]) {
        let terms = &self.newton.terms;
        for i in 0..q.len() {
            q[i] += h * terms.v[i];
            p[i] += h * terms.force[i];
        }
    }

    #[cold]
    fn halves<S: MechanicalSystem + ?Sized>(
        &mut self,
        system: &S,
        step: Step,
        q: &mut [f64],
        p: &mut [f64],
    ) -> Result<(), VariationalFailure> {
        let [mut at, mut with] = std::mem::take(&mut self.between);
        // A model that panicked has left them empty.
        for (half, whole) in [(&mut at, &*q), (&mut with, &*p)] {
            half.clear();
            half.extend_from_slice(whole);
        }
        let mut made = Ok(());
        // Two steps of h/2, each from a guess of its own. (q, p) change only when both are made.
        let length = 0.5 * step.h;
        for start in [step.t, step.t + length] {
            made = self.velocity(system, start, &at, &with).and_then(|()| {
                let half = Step {
                    t: start,
                    h: length,
                };
                let task = Task {
                    step: half,
                    q: &at,
                    p: &with,
                };
                let solved = self.newton.solve(system, task);
                solved.map_err(|fault| self.explain(fault, step, q))
            });
            if made.is_err() {
                break;
            }
            self.finish(length, &mut at, &mut with);
        }
        if made.is_ok() {
            self.halved = true;
            q.copy_from_slice(&at);
            p.copy_from_slice(&with);
        }
        self.between = [at, with];
        made
    }

    /// The derivative of the step, by the implicit function theorem.
    pub(super) fn derivative<S: MechanicalSystem + ?Sized>(
        &mut self,
        system: &S,
        step: Step,
        q: &[f64],
        p: &[f64],
    ) -> Result<DMatrix<f64>, VariationalFailure> {
        let d = q.len();
        self.velocity(system, step.t, q, p)?;
        let (h, task) = (step.h, Task { step, q, p });
        let newton = &mut self.newton;
        // At the solution, with all second derivatives in K.
        let solved = newton.solve(system, task);
        let factored = solved.and_then(|()| newton.factorise(system, task, true));
        factored.map_err(|fault| self.explain(fault, step, q))?;
        let newton = &mut self.newton;
        let mut whole = DMatrix::zeros(2 * d, 2 * d);
        let (mut dq, mut dm, mut dv) = (vec![0.0; d], vec![0.0; d], vec![0.0; d]);
        for k in 0..2 * d {
            newton.terms.interrupt.check()?;
            dq.fill(0.0);
            let mut dp = vec![0.0; d];
            if k < d {
                dq[k] = 1.0;
            } else {
                dp[k - d] = 1.0;
            }
            // ∂R/∂v dv = dp₀ − ∂R/∂q₀ dq₀
            dv.fill(0.0);
            // ∂R/∂q₀ dq₀ = δ(M v) − (h/2) δF for a midpoint that moves by dq₀, with v held.
            newton.terms.along(system, &dq, &dv, &mut newton.work);
            for i in 0..d {
                dv[i] = dp[i] - newton.work.dmomentum[i] + 0.5 * h * newton.work.dforce[i];
            }
            newton.response(&mut dv);
            for i in 0..d {
                // The midpoint moves by dm = dq₀ + (h/2) dv.
                dm[i] = dq[i] + 0.5 * h * dv[i];
            }
            newton.terms.along(system, &dm, &dv, &mut newton.work);
            for i in 0..d {
                // dq₁ = dq₀ + h dv and dp₁ = dp₀ + h dF.
                whole[(i, k)] = dq[i] + h * dv[i];
                whole[(d + i, k)] = dp[i] + h * newton.work.dforce[i];
            }
        }
        Ok(whole)
    }

    #[cold]
    pub(super) fn explain(
        &self,
        fault: Fault,
        Step { t, h }: Step,
        q: &[f64],
    ) -> VariationalFailure {
        let state = [q, &self.newton.terms.v].concat();
        match fault {
            Fault::Singular => VariationalFailure::singular(t, q.to_vec()),
            Fault::NotFinite(quantity) => VariationalFailure::NotFinite { quantity, t, state },
            Fault::Interrupted => VariationalFailure::Interrupted,
            Fault::Diverged(correction) => VariationalFailure::NewtonFailed {
                t,
                step: h,
                contacts: self.newton.terms.closed.clone(),
                iterations: ITERATIONS,
                correction,
                state,
            },
        }
    }
}
