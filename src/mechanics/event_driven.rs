//! A mechanical system with contacts as a hybrid system for the core integrator: `x = (q, v)`, one event function a contact.
//!
//! Event function `j` is the gap `a_j` while contact `j` is open and the multiplier `λ_j` while it is closed; both are positive
//! until they fall through zero: activation, or release (Pace & Burden, sections 2 and 3.4). Which contacts are closed is
//! the second half of the mode, bits `n … 2n − 1`, which no motion changes, only `on_crossing`.

use super::dynamics::{Bodies, Frame, accelerate};
use super::scratch::with_zeros;
use super::strike::explain;
use super::{MechanicalSystem, Redundant, UnilateralConstraints};
use crate::impact::{ImpactLaw, Unilateral};
use crate::{Error, EventFunction, Flow, Mode};

/// A mechanical system with contacts, and the law of its impacts, as a [`Flow`] with [`EventFunction`]s.
///
/// [`Simulation`](super::Simulation) runs it, with policies and a log. The core integrator runs it too, from the state and mode of
/// [`start`](Self::start), which checks them; event function `j` is the gap of contact `j` while that is open, its force while it is
/// closed, so that contact `j` closes and is released as `Guard::falling(j)`.
///
/// Gaps depend on `q` alone. An obstacle that moves by itself is part of `q`: coordinates relative to it, with its acceleration in the
/// effort, which may depend on time.
///
/// ```
/// use saltation::mechanics::{EventDriven, Simulation};
/// use saltation::models::SoftTrot;
/// let model = EventDriven::new(SoftTrot::default());
/// let (q, v) = SoftTrot::default().start(0.01);
/// let run = Simulation::new(model)?.rtol(1e-9).run(0.0, &q, &v, 0.65)?.completed()?;
/// // Forces over time.
/// let (path, model) = (run.trajectory(), EventDriven::new(SoftTrot::default()));
/// for k in 0..=65 {
///     let t = 0.01 * f64::from(k);
///     let forces = model.multipliers(t, path.at(t)?.as_slice(), path.mode_at(t)?);
///     assert!(forces.values().iter().all(|&force| force >= 0.0));
/// }
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct EventDriven<S, L = Unilateral> {
    pub(super) bodies: Bodies<S>,
    pub(super) law: L,
    /// Gaps within this of zero are zero (m).
    pub(super) gap_tolerance: f64,
    /// Contacts that part no faster than this after an impact may stay closed; those that close no faster graze (m/s).
    pub(super) rate_tolerance: f64,
    pub(super) redundant: Redundant,
    /// Coefficients of restitution outside [0, 1] are taken.
    pub(super) any_restitution: bool,
}

/// Forces of the closed contacts.
#[derive(Clone, Debug, PartialEq)]
pub struct Multipliers {
    values: Vec<f64>,
    unique: bool,
}

impl Multipliers {
    /// `λ`, one entry a contact, zero for those that are open; positive where they push (N for a gap in metres).
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// False when contacts depend on each other: then these are the multipliers of least norm, one choice of many.
    pub fn are_unique(&self) -> bool {
        self.unique
    }
}

impl<S> EventDriven<S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    /// With the default law, [`Unilateral`].
    pub fn new(system: S) -> Self {
        Self::with_law(system, Unilateral)
    }
}

impl<S, L> EventDriven<S, L>
where
    S: MechanicalSystem + UnilateralConstraints,
    L: ImpactLaw,
{
    /// With a law of one's choice. Of a law that gives several outcomes the first is taken.
    pub fn with_law(system: S, law: L) -> Self {
        Self {
            bodies: Bodies::new(system),
            law,
            gap_tolerance: 1e-10,
            rate_tolerance: 1e-8,
            redundant: Redundant::default(),
            any_restitution: false,
        }
    }

    /// Gaps within this of zero are zero (m); default 1e-10. Bounces a hundred times lower are not resolved: they are the end of an
    /// accumulation, and a closed contact that an impact throws no higher stays closed.
    #[must_use]
    pub fn gap_tolerance(mut self, tolerance: f64) -> Self {
        self.gap_tolerance = tolerance;
        self
    }

    /// Contacts that part no faster than this may stay closed, those that close no faster graze (m/s); default 1e-8.
    #[must_use]
    pub fn rate_tolerance(mut self, tolerance: f64) -> Self {
        self.rate_tolerance = tolerance;
        self
    }

    /// What to do when closed contacts depend on each other. Default [`Redundant::Refuse`].
    #[must_use]
    pub fn redundant(mut self, policy: Redundant) -> Self {
        self.redundant = policy;
        self
    }

    /// Takes coefficients of restitution outside [0, 1]: beyond 1 impacts add energy.
    #[must_use]
    pub fn any_restitution(mut self) -> Self {
        self.any_restitution = true;
        self
    }

    /// The mechanical system.
    pub fn system(&self) -> &S {
        &self.bodies.system
    }

    /// The law of impact.
    pub fn law(&self) -> &L {
        &self.law
    }

    /// True when contact `j` is closed in `mode`.
    pub fn is_closed(&self, mode: &Mode, j: usize) -> bool {
        mode.contains(self.system().contacts() + j)
    }

    /// The closed contacts of `mode`: the contact mode `J` of the paper.
    pub fn closed(&self, mode: &Mode) -> Vec<usize> {
        (0..self.system().contacts())
            .filter(|&j| self.is_closed(mode, j))
            .collect()
    }

    pub(super) fn set_closed(&self, mode: &mut Mode, j: usize, closed: bool) {
        mode.set(self.system().contacts() + j, closed);
        // Gap and multiplier are positive until they fall: the side before the next event.
        mode.set(j, true);
    }

    /// What keeps the accelerations from being computed at a state, or a little ahead of it: within the step that begins there.
    pub(super) fn trouble_ahead(&self, state: &[f64], mode: &Mode) -> Option<Error> {
        let (q, v) = state.split_at(self.system().dof().min(state.len()));
        let contacts = self.closed(mode);
        let ahead = |time: f64| {
            let moved: Vec<f64> = q.iter().zip(v).map(|(q, v)| q + time * v).collect();
            self.trouble_at(&moved, &contacts)
        };
        let times = (-12..-1).map(|exponent| 10f64.powi(exponent));
        std::iter::once(0.0).chain(times).find_map(ahead)
    }

    fn trouble_at(&self, q: &[f64], contacts: &[usize]) -> Option<Error> {
        self.in_frame(q, contacts, |frame| {
            let mut zero = vec![0.0; contacts.len()];
            frame.solve_gram(&mut zero, self.redundant)
        })
        .map_or_else(Some, |solved| {
            solved.err().map(|trouble| explain(trouble, q, contacts))
        })
    }

    /// The closed contacts, in space for all.
    pub(super) fn gather_closed<'a>(&self, mode: &Mode, space: &'a mut [usize]) -> &'a [usize] {
        let mut m = 0;
        for j in 0..self.system().contacts() {
            if self.is_closed(mode, j) {
                space[m] = j;
                m += 1;
            }
        }
        &space[..m]
    }

    /// Accelerations and multipliers at `(t, q, v)` in `mode`; NaN where there are none. `multipliers` has one entry a
    /// contact, zero for those that are open; `lifted`, they are raised by what is rounding, so that a contact that carries nothing is
    /// not released by it. True when they are the only ones.
    pub(super) fn motion(
        &self,
        (t, q, v): (f64, &[f64], &[f64]),
        mode: &Mode,
        acceleration: &mut [f64],
        multipliers: Option<&mut [f64]>,
        lifted: bool,
    ) -> bool {
        let n = self.system().contacts();
        with_indices(n, |closed| {
            let closed = self.gather_closed(mode, closed);
            let m = closed.len();
            with_zeros(self.bodies.frame_size(m) + m, |scratch| {
                let (forces, scratch) = scratch.split_at_mut(m);
                let done = Frame::new(&self.bodies, q, closed, scratch).and_then(|mut frame| {
                    let (state, redundant) = ((t, q, v), self.redundant);
                    let system = self.system();
                    let unique =
                        accelerate(system, &mut frame, state, acceleration, forces, redundant)?;
                    if lifted {
                        for (i, force) in forces.iter_mut().enumerate() {
                            *force += frame.idle_force(i, self.rate_tolerance);
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
                    for (&j, &force) in closed.iter().zip(&*forces) {
                        multipliers[j] = force;
                    }
                }
                done.unwrap_or(false)
            })
        })
    }

    /// By how much, at most, the event function of contact `j` is above its multiplier; 0 when it is open.
    pub(super) fn raised_by(&self, j: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        if !self.is_closed(mode, j) {
            return 0.0;
        }
        let force = self.multipliers(t, x, mode).values.get(j).copied();
        2.0 * (self.event(j, t, x, mode) - force.unwrap_or(f64::NAN)).abs()
    }

    /// True when impacts are piecewise linear: masses and rows are constant.
    pub(super) fn is_affine(&self) -> bool {
        let system = self.system();
        system.constant_mass() && (0..system.contacts()).all(|j| system.constant_row(j))
    }

    /// The energy at a state `(q, v)`, kinetic and potential (J); none when the system has no
    /// [`potential`](MechanicalSystem::potential), or the state has another length.
    pub fn energy(&self, state: &[f64]) -> Option<f64> {
        let d = self.system().dof();
        let (q, v) = (state.get(..d)?, state.get(d..2 * d)?);
        let mut mass = vec![0.0; d * d];
        self.system().mass(q, &mut mass);
        let momentum = |i: usize| -> f64 { (0..d).map(|k| mass[k * d + i] * v[k]).sum() };
        let kinetic: f64 = (0..d).map(|i| 0.5 * v[i] * momentum(i)).sum();
        Some(kinetic + self.system().potential(q)?)
    }

    /// The multipliers of the contacts at a state `(q, v)`; NaN where there are none, and for a state or a mode of another length.
    pub fn multipliers(&self, t: f64, state: &[f64], mode: &Mode) -> Multipliers {
        let (d, n) = (self.system().dof(), self.system().contacts());
        if state.len() != 2 * d || mode.len() != 2 * n {
            let values = vec![f64::NAN; n];
            let unique = false;
            return Multipliers { values, unique };
        }
        let (q, v) = state.split_at(d);
        let mut values = vec![0.0; n];
        let mut acceleration = vec![0.0; q.len()];
        let unique = self.motion((t, q, v), mode, &mut acceleration, Some(&mut values), false);
        Multipliers { values, unique }
    }
}

/// Runs `work` on a list of `n` indices without allocating, up to 64; two sizes, as of scratch space.
pub(super) fn with_indices<R>(n: usize, work: impl FnOnce(&mut [usize]) -> R) -> R {
    let (mut few, mut many, mut heap);
    let indices: &mut [usize] = if n <= 8 {
        few = [0; 8];
        &mut few[..n]
    } else if n <= 64 {
        many = [0; 64];
        &mut many[..n]
    } else {
        heap = vec![0; n];
        &mut heap
    };
    work(indices)
}

impl<S, L> Flow for EventDriven<S, L>
where
    S: MechanicalSystem + UnilateralConstraints,
    L: ImpactLaw,
{
    fn dim(&self) -> usize {
        2 * self.system().dof()
    }

    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let d = self.system().dof();
        let ((q, v), (dq, dv)) = (x.split_at(d), dx.split_at_mut(d));
        dq.copy_from_slice(v);
        self.motion((t, q, v), mode, dv, None, false);
    }

    fn jacobian_times(&self, t: f64, x: &[f64], mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
        self.motion_along_each((t, x), mode, v, out)
    }

    fn jacobian_times_each(
        &self,
        t: f64,
        x: &[f64],
        mode: &Mode,
        v: &[f64],
        out: &mut [f64],
    ) -> bool {
        self.motion_along_each((t, x), mode, v, out)
    }

    fn correct(&self, _t: f64, x: &mut [f64], mode: &Mode) -> bool {
        super::drift::correct(self, x, mode)
    }
}
