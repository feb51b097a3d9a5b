//! A step with closed contacts, and plastic impacts with friction.
//!
//! Impulses act at both ends of the step, along the normals and tangents of the configuration
//! there:
//!
//! ```text
//!     p₀ + D₁L_d + f⁻ + J(q₀)ᵀ y⁻ = 0      0 ≤ y⁻_n ⊥ φ(q₁) ≥ 0        |y⁻_t| ≤ μ y⁻_n, against the slip of the step
//!     p₁ = D₂L_d + f⁺ + J(q₁)ᵀ y⁺          0 ≤ y⁺_n ⊥ Dφ(q₁) v₁ ≥ 0    |y⁺_t| ≤ μ y⁺_n, against the slip at the end
//! ```
//!
//! In the plane the slip of the step is that of the tangents in its middle, so that a corner about
//! which a body turns does not creep.
//!
//! In space slips turn, and the direction at the end is half a step ahead of that in the middle: the
//! order would be one. With the unit vectors `e₁` of the slip at the end and `e` of that of the step,
//! both by the rows at `q₁`, friction at the end opposes
//!
//! ```text
//!     d = e₁ + (I − e₁ e₁ᵀ) e
//! ```
//!
//! which is `e` but for the third power of the angle between them, never more than 45° off `e₁`, and
//! `e₁` where the slip reverses: it stops what it stops without the turn. It is `e₁` in the plane.
//!
//! A part `h'` of a step makes up for its part of a gap that is not quite zero at its start,
//! `φ(q₁) ≥ (1 − h'/h) φ(q₀)`: a contact never moves faster than `φ(q₀)/h` to close it, however
//! short the part is.
//!
//! The paper adds friction to the steps by maximum dissipation (section VII-B) and has no equations
//! for contacts that stay closed. These two lines are ours for both: its equation (29), with
//! impulses at the nodes.
//!
//! Both are the inelastic impact with the round cone of friction. The first one sees the system
//! through the derivative `K` of the step's equations instead of the mass matrix, `G = J K⁻¹ Jᵀ`,
//! and is solved again until the step agrees with it.

use nalgebra::{DMatrix, DVector};

use super::failure::VariationalFailure;
use super::midpoint::Stepper;
use super::newton::Task;
use super::state::Step;
use crate::Interrupt;
use crate::impact::inclusion::proximal::ConeStep;
use crate::impact::{ImpactFailure, ImpactProblem, Moreau};
use crate::linalg::cholesky::norm_in;
use crate::linalg::{dot, largest};
use crate::mechanics::contact::delassus::{Mass, delassus};
use crate::mechanics::{ContactSet, ContactSource, Contacts, Mechanism, State, Wanted};

/// Limit of the rounds in which the impulses of a step and its motion settle.
const ROUNDS: usize = 50;
/// Changes of coordinates below this part of them end the rounds.
const ENOUGH: f64 = 1e-13;
/// In parts of a step shorter than this the difference of two gaps is rounding: their rates count.
const SHORT: f64 = 1e-3;

/// The impulses on the closed contacts of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    contacts: Contacts,
    rows: Vec<f64>,
    /// Those in the middle of the step.
    middle: Contacts,
    middle_rows: Vec<f64>,
    /// The configuration there.
    halfway: Vec<f64>,
    /// `y⁻`: normals, then tangents.
    pub(super) before: Vec<f64>,
    /// `y⁺`.
    pub(super) after: Vec<f64>,
    loaded: Vec<f64>,
    response: Vec<f64>,
    /// The velocity of the step.
    mean: Vec<f64>,
    /// The motion of the step depends on how contacts share their load.
    pub(super) is_shared: bool,
}

/// The system and the settings by which closed contacts are resolved.
#[derive(Clone, Copy)]
pub(super) struct Bodies<'a> {
    pub(super) system: &'a dyn Mechanism,
    /// Length of a whole step (s).
    pub(super) step: f64,
    /// Coefficients of friction of closed contacts are taken into account.
    pub(super) friction: bool,
    pub(super) interrupt: &'a Interrupt,
}

impl Bodies<'_> {
    /// Fills in the rows of contacts at a configuration, and zeros for their impulses.
    pub(super) fn rows(
        &self,
        q: &[f64],
        list: &[usize],
        contacts: &mut Contacts,
        rows: &mut Vec<f64>,
    ) -> Result<(), VariationalFailure> {
        let wanted = Wanted {
            friction: self.friction,
            ..Wanted::default()
        };
        let set = ContactSet::Listed(list);
        self.system.fill(q, set, wanted, contacts)?;
        rows.clear();
        rows.resize(contacts.rows() * q.len(), 0.0);
        contacts.add_rows(rows);
        Ok(())
    }
}

impl Held {
    /// Makes a step of `(q, p)` with the contacts of `closed`, in place. Leaves the impulses.
    pub(super) fn advance(
        &mut self,
        stepper: &mut Stepper,
        bodies: Bodies<'_>,
        step: Step,
        q: &mut [f64],
        p: &mut [f64],
        closed: &[usize],
    ) -> Result<(), VariationalFailure> {
        self.is_shared = false;
        stepper.velocity(bodies.system, step.t, q, p)?;
        // First line above: y⁻ and the velocity of the step, with φ(q₁) ≥ 0.
        self.solve(stepper, bodies, step, q, p, closed)?;
        // p₀ + J(q₀)ᵀ y⁻ is the momentum with which the step was made.
        for (p, loaded) in p.iter_mut().zip(&self.loaded) {
            *p = *loaded;
        }
        self.mean.clone_from(&stepper.newton.terms.v);
        // q₁ = q₀ + h v and p₁ without y⁺.
        stepper.finish(step.h, q, p);
        // Second line: y⁺ stops the contacts at q₁.
        self.stop(stepper, bodies, step.t + step.h, q, p, closed)
    }

    /// Finds `y⁻` and the velocity of the step.
    fn solve(
        &mut self,
        stepper: &mut Stepper,
        bodies: Bodies<'_>,
        step: Step,
        q: &[f64],
        p: &[f64],
        closed: &[usize],
    ) -> Result<(), VariationalFailure> {
        bodies.rows(q, closed, &mut self.contacts, &mut self.rows)?;
        self.before.clear();
        self.before.resize(self.contacts.rows(), 0.0);
        self.loaded.clear();
        self.loaded.extend_from_slice(p);
        let Step { t, h } = step;
        let (mut made, mut end, mut first) = (None, q.to_vec(), None);
        for _ in 0..ROUNDS {
            bodies.interrupt.check()?;
            // A round: the motion with the impulses so far, then the impulses for that motion.
            self.move_on(stepper, bodies, step, q)?;
            let v = &stepper.newton.terms.v;
            for ((end, q), v) in end.iter_mut().zip(q).zip(v) {
                // q₁, where the gaps are looked at.
                *end = q + h * v;
            }
            let speeds = self.speeds(bodies, h, &end, v, closed)?;
            let state = State { t, q, v };
            // G = J K⁻¹ Jᵀ is that of the first round: a newer one would only change how fast the rounds
            // settle.
            let (problem, cone) = match &mut made {
                Some(made) => made,
                none => {
                    let gram = self.gram(stepper);
                    let momentum = norm_in(&stepper.newton.terms.mass, v).max(f64::MIN_POSITIVE);
                    none.insert(self.problem(gram, &speeds, momentum, bodies.interrupt, state)?)
                }
            };
            let moved = self.settle(problem, cone, speeds);
            let moved = moved.map_err(|reason| refused(reason, state, closed))?;
            // Settled when the ends of the step no longer move; at the origin, beside what the first impulses
            // did.
            let stopped = *first.get_or_insert(moved);
            let enough = ENOUGH * (largest(q) + h.abs() * (largest(v) + stopped));
            if h.abs() * moved <= enough {
                return self.move_on(stepper, bodies, step, q);
            }
        }
        Err(VariationalFailure::ContactsNotSettled {
            t,
            contacts: closed.to_vec(),
            rounds: ROUNDS,
            state: [q, &stepper.newton.terms.v].concat(),
        })
    }

    /// The velocity of the step with the impulses so far.
    fn move_on(
        &self,
        stepper: &mut Stepper,
        bodies: Bodies<'_>,
        step: Step,
        q: &[f64],
    ) -> Result<(), VariationalFailure> {
        let p = &self.loaded;
        let solved = stepper.newton.solve(bodies.system, Task { step, q, p });
        solved.map_err(|fault| stepper.explain(fault, step, q))
    }

    /// The speeds of the rows in a part of a step that ends at `end`: of gaps from its start to its
    /// end; of slips in the plane by the tangents in its middle, since by those at its start a corner
    /// that a body turns about creeps, to first order. In space they are those at its start, along
    /// which the impulses act: the directions of slip and friction are compared.
    fn speeds(
        &mut self,
        bodies: Bodies<'_>,
        h: f64,
        end: &[f64],
        v: &[f64],
        closed: &[usize],
    ) -> Result<DVector<f64>, VariationalFailure> {
        let (d, n) = (v.len(), closed.len());
        let in_plane = self.contacts.tangents() == 1;
        if in_plane {
            let middle = end.iter().zip(v).map(|(end, v)| end - 0.5 * h * v);
            self.halfway.clear();
            self.halfway.extend(middle);
            let rows = &mut self.middle_rows;
            bodies.rows(&self.halfway, closed, &mut self.middle, rows)?;
        }
        let parameters = self.contacts.all_parameters();
        let speed = |row: usize| {
            // Mean speed of the gap above `left`: not negative when φ(q₁) ≥ (1 − h'/h) φ(q₀).
            if row < n && h >= SHORT * bodies.step {
                let left = (1.0 - h / bodies.step) * parameters[row].gap;
                return (bodies.system.gap(closed[row], end) - left) / h;
            }
            // Dφ v + φ(q₀)/h in short parts, h the whole step; the slip alone for tangents.
            let in_middle = in_plane && row >= n;
            let at = if in_middle {
                &self.middle_rows
            } else {
                &self.rows
            };
            let made_up = parameters.get(row).map_or(0.0, |of| of.gap / bodies.step);
            let row = at.get(row * d..(row + 1) * d).unwrap_or_default();
            dot(row, v) + made_up
        };
        Ok(DVector::from_fn(self.contacts.rows(), |row, _| speed(row)))
    }

    /// A round: changes the impulses `y⁻` to those of the cone at these speeds. Gives by how much
    /// the speeds change at most.
    fn settle(
        &mut self,
        problem: &ImpactProblem,
        cone: &mut ConeStep,
        speeds: DVector<f64>,
    ) -> Result<f64, ImpactFailure> {
        // The speeds without the impulses.
        let (gram, mut free) = (problem.delassus(), speeds);
        for (k, y) in self.before.iter().enumerate() {
            free.axpy(-y, &gram.column(k), 1.0);
        }
        // 0 ≤ y_n ⊥ u_n ≥ 0, |y_t| ≤ μ y_n against u_t, for u = u_free + G y.
        let mut settled = self.before.clone();
        self.is_shared |= solve(problem, cone, free.as_slice(), &mut settled)?;
        let d = self.loaded.len();
        // The momentum takes Jᵀ δy, and the speeds change by G δy.
        let mut moved = DVector::zeros(settled.len());
        for (k, (new, old)) in settled.iter().zip(&self.before).enumerate() {
            moved.axpy(new - old, &gram.column(k), 1.0);
            for (p, entry) in self.loaded.iter_mut().zip(&self.rows[k * d..(k + 1) * d]) {
                *p += (new - old) * entry;
            }
        }
        self.before = settled;
        Ok(moved.amax())
    }

    /// `J K⁻¹ Jᵀ`, made symmetric.
    fn gram(&mut self, stepper: &Stepper) -> DMatrix<f64> {
        let d = stepper.newton.terms.v.len();
        let m = self.rows.len() / d;
        let mut gram = DMatrix::zeros(m, m);
        for k in 0..m {
            self.response.clear();
            self.response
                .extend_from_slice(&self.rows[k * d..(k + 1) * d]);
            stepper.newton.response(&mut self.response);
            for i in 0..m {
                // K is not symmetric in general: half of each entry to either side of the diagonal.
                let entry = 0.5 * dot(&self.rows[i * d..(i + 1) * d], &self.response);
                gram[(i, k)] += entry;
                gram[(k, i)] += entry;
            }
        }
        gram
    }

    /// The problem of closed contacts in contact space, and what solves it.
    fn problem(
        &self,
        gram: DMatrix<f64>,
        speeds: &DVector<f64>,
        momentum: f64,
        interrupt: &Interrupt,
        state: State<'_>,
    ) -> Result<(ImpactProblem, ConeStep), VariationalFailure> {
        let parameters = self.contacts.all_parameters();
        let friction = parameters.iter().map(|of| of.friction).collect();
        let problem = ImpactProblem::of_motion(gram, speeds.clone(), friction, momentum);
        let list: Vec<usize> = parameters.iter().map(|of| of.contact).collect();
        let problem = problem.map_err(|reason| refused(reason, state, &list))?;
        let cone = ConeStep::new(&problem);
        Ok((problem.with_interrupt(interrupt), cone))
    }

    /// Turns the friction of `y⁺` in space towards the slip of the step: a slip that is moved by
    /// `|u₁| (I − e₁ e₁ᵀ) e` has the direction `d` where the one that is found is `u₁`. One such
    /// round is enough: `d` changes with the third power of the angle. What is found counts where
    /// it takes energy away.
    fn turn(
        &mut self,
        problem: &ImpactProblem,
        cone: &mut ConeStep,
        speeds: &DVector<f64>,
    ) -> Result<(), ImpactFailure> {
        let (n, m, d) = (problem.contacts(), self.after.len(), self.mean.len());
        if problem.tangents() < 2 {
            return Ok(());
        }
        // u₁(y) = u_free + G y, the slips at the end by impulses y⁺.
        let ends = |y: &[f64]| speeds + problem.delassus() * DVector::from_column_slice(y);
        let end = ends(&self.after);
        let means = DVector::from_fn(m, |k, _| dot(&self.rows[k * d..(k + 1) * d], &self.mean));
        let mut moved = speeds.clone();
        for row in (n..m).step_by(2) {
            let (end, mean) = (pair(&end, row), pair(&means, row));
            let sizes = end[0].hypot(end[1]) * mean[0].hypot(mean[1]);
            if sizes > 0.0 {
                // The sine of the angle from the slip at the end to that of the step.
                let sine = (end[0] * mean[1] - end[1] * mean[0]) / sizes;
                // |u₁| (I − e₁ e₁ᵀ) e is u₁ turned by 90°, times the sine.
                moved[row] -= sine * end[1];
                moved[row + 1] += sine * end[0];
            }
        }
        let mut turned = self.after.clone();
        match solve(problem, cone, moved.as_slice(), &mut turned) {
            Ok(is_shared) => self.is_shared |= is_shared,
            Err(ImpactFailure::Interrupted) => {
                return Err(ImpactFailure::Interrupted);
            }
            // Friction that is not turned is one too.
            Err(_) => return Ok(()),
        }
        let end = ends(&turned);
        // In sum y_t · u_t ≤ 0, or friction would add energy.
        let power: f64 = (n..m).map(|row| turned[row] * end[row]).sum();
        if power <= 0.0 {
            self.after = turned;
        }
        Ok(())
    }

    /// Finds `y⁺`: an inelastic impact of the contacts of `closed` at `(q, p)`, in place.
    pub(super) fn stop(
        &mut self,
        stepper: &mut Stepper,
        bodies: Bodies<'_>,
        t: f64,
        q: &[f64],
        p: &mut [f64],
        closed: &[usize],
    ) -> Result<(), VariationalFailure> {
        stepper.velocity(bodies.system, t, q, p)?;
        bodies.rows(q, closed, &mut self.contacts, &mut self.rows)?;
        let (d, m) = (q.len(), self.contacts.rows());
        let terms = &stepper.newton.terms;
        // `velocity` leaves the factor of the mass matrix.
        let mut gram = DMatrix::zeros(m, m);
        let mut response = vec![0.0; m * d];
        let mass = Mass::of_factor(&terms.mass);
        let out = gram.as_mut_slice();
        delassus(&mass, d, &self.rows, &mut response, out);
        // Speeds J(q₁) M⁻¹ p₁ before y⁺; here G is J M⁻¹ Jᵀ, without K.
        let rows = self.rows.chunks_exact(d);
        let speeds = DVector::from_iterator(m, rows.map(|row| dot(row, &terms.v)));
        let momentum = dot(p, &terms.v).max(0.0).sqrt();
        let v = &terms.v[..];
        let state = State { t, q, v };
        let made = self.problem(gram, &speeds, momentum, bodies.interrupt, state)?;
        let (problem, mut cone) = made;
        self.after.clear();
        self.after.resize(m, 0.0);
        let found = solve(&problem, &mut cone, speeds.as_slice(), &mut self.after);
        found
            .map(|is_shared| self.is_shared |= is_shared)
            .and_then(|()| self.turn(&problem, &mut cone, &speeds))
            .map_err(|reason| refused(reason, state, closed))?;
        // p₁ ← p₁ + J(q₁)ᵀ y⁺.
        for (y, row) in self.after.iter().zip(self.rows.chunks_exact(d)) {
            for (p, entry) in p.iter_mut().zip(row) {
                *p += y * entry;
            }
        }
        Ok(())
    }
}

/// Solves the impact of these speeds, from the impulses in `y`, which get those of least norm; true where the motion
/// depends on how contacts share their load. Where the iteration ends off a solution it begins again at one of the
/// modes.
fn solve(
    problem: &ImpactProblem,
    cone: &mut ConeStep,
    speeds: &[f64],
    y: &mut [f64],
) -> Result<bool, ImpactFailure> {
    let found = cone.solve_unbounded(problem, speeds, y);
    if let Err(ImpactFailure::Lcp(off)) = found {
        let Some(of_modes) = Moreau::plastic(problem, speeds) else {
            return Err(ImpactFailure::Lcp(off));
        };
        y.copy_from_slice(of_modes.as_slice());
        if cone.solve_unbounded(problem, speeds, y).is_err() {
            // Dependent rows may have speeds that no impulses change.
            y.copy_from_slice(of_modes.as_slice());
            let least = cone.find_least(problem, speeds, y);
            return least.ok_or(ImpactFailure::Lcp(off));
        }
    } else {
        found?;
    }
    Ok(cone.share(problem, speeds, y))
}

/// The slip of a contact whose tangents are the rows `row` and `row + 1`.
fn pair(of: &DVector<f64>, row: usize) -> [f64; 2] {
    [of[row], of[row + 1]]
}

/// A refused impact with its time, contacts and state.
#[cold]
pub(super) fn refused(
    reason: ImpactFailure,
    State { t, q, v }: State<'_>,
    contacts: &[usize],
) -> VariationalFailure {
    match reason {
        ImpactFailure::Input(error) => VariationalFailure::Input(error),
        reason => without_outcome(reason, State { t, q, v }, contacts),
    }
}

/// The failure of an impact law, bad input of its own settings included.
pub(super) fn without_outcome(
    reason: ImpactFailure,
    State { t, q, v }: State<'_>,
    contacts: &[usize],
) -> VariationalFailure {
    match reason {
        ImpactFailure::Interrupted => VariationalFailure::Interrupted,
        reason => VariationalFailure::Impact {
            t,
            contacts: contacts.to_vec(),
            state: [q, v].concat(),
            reason: Box::new(reason),
        },
    }
}
