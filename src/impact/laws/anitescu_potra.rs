//! Inelastic impact with friction, all contacts at once.

use nalgebra::DVector;

use crate::impact::ImpactFailure;
use crate::impact::coupled_parts::resolve_parts;
use crate::impact::inclusion::blocks::Blocks;
use crate::impact::planar::modes::Modes;
use crate::impact::{ImpactLaw, ImpactProblem, Order, Outcome, Outcomes};
use crate::lcp::LcpSolver;
use crate::validate;

/// Largest complementarity problem.
const MOST_UNKNOWNS: usize = 1000;

/// Speeds that impulses leave are known, and contacts may approach, to this part of the fastest before.
const KNOWN: f64 = 1e-8;

/// Refuses impulses that leave a contact approaching, and those so large that the speeds after them are
/// rounding. Such are found where rows depend on each other and friction holds a contact that is to
/// rebound: the matrix is singular, and its rounding is divided by.
fn check(
    problem: &ImpactProblem,
    speeds: &[f64],
    impulses: &DVector<f64>,
) -> Result<(), ImpactFailure> {
    let gram = problem.delassus();
    let size = |i: usize| gram[(i, i)].max(0.0).sqrt();
    let of_unit = speeds.iter().enumerate().map(|(i, u)| match size(i) {
        size if size > 0.0 => u.abs() / size,
        _ => 0.0,
    });
    let fastest = of_unit.fold(0.0, f64::max);
    let (mut is_known, mut slowest) = (true, (0, f64::INFINITY));
    for (i, u) in speeds.iter().enumerate() {
        let terms = gram.row(i).transpose().component_mul(impulses);
        let (after, known) = (u + terms.sum(), KNOWN * fastest * size(i));
        is_known &= f64::EPSILON * terms.abs().sum() <= known;
        if i < problem.contacts() {
            is_known &= after >= -known;
            if after < slowest.1 {
                slowest = (i, after);
            }
        }
    }
    let contact = slowest.0;
    if is_known {
        return Ok(());
    }
    Err(ImpactFailure::Jammed {
        contact,
        speed: problem.speeds()[contact],
    })
}

/// Inelastic impact with Coulomb friction, all contacts at once (Anitescu & Potra): impulses for
/// which, at the end, a contact that pushes does not separate, and friction opposes the slip that
/// is left.
///
/// In the plane and without friction, for up to five contacts, all velocities are found, by the
/// `4ᵐ` modes of the contacts (open, stick, slip either way), and listed once each (to 1e-8 of the
/// greatest speed); [`Order::Modes`] names the first mode of each. Several are no exception. The
/// set is incomplete only where one mode holds a continuum of velocities, of which one is listed, and where
/// impulses are left out that are above 10⁹ in units in which the Delassus matrix has a unit diagonal and the
/// greatest speed is 1. Those of almost dependent rows, as of very unequal masses, may be large: speeds are off by the
/// rounding of impulses, 1e-7 of the greatest speed at most.
///
/// In space, and for more contacts, one velocity is found by Lemke's method; in space with friction
/// bounded by a polygon. There may be others: the set is incomplete, except without friction.
///
/// Coefficients of restitution are not read ([`Moreau`](crate::impact::Moreau) does). The kinetic energy
/// never rises.
///
/// # Errors
/// [`InputError::FrictionIgnored`](crate::InputError::FrictionIgnored) for friction without
/// tangents; [`InputError::BadSetting`](crate::InputError::BadSetting) for a bad number of
/// directions, and for problems of more than 1000 unknowns, 2 + k a contact; [`ImpactFailure::Lcp`];
/// [`ImpactFailure::Jammed`] where friction does not let a contact open, or no impulses were found behind which
/// speeds are more than rounding.
///
/// ```
/// use saltation::impact::{AnitescuPotra, ImpactLaw, ImpactProblem};
/// use saltation::nalgebra::{DMatrix, DVector};
/// // A rod that slides into the floor: nothing happens, or it jams.
/// let problem = ImpactProblem::with_tangents(
///     DMatrix::from_row_slice(2, 2, &[1.6, -1.2, -1.2, 3.4]),
///     DVector::from_vec(vec![0.0, -1.0]),
///     &[2.0],
/// )?;
/// let outcomes = AnitescuPotra::new().resolve(&problem)?;
/// assert_eq!(outcomes.list.len(), 2);
/// assert!((&outcomes.list[1].impulses - DVector::from_vec(vec![0.3, 0.4])).amax() < 1e-14);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnitescuPotra {
    directions: usize,
}

impl AnitescuPotra {
    /// With eight directions of friction in space.
    pub const fn new() -> Self {
        Self { directions: 8 }
    }

    /// Directions of friction of a contact in space (even, at least 4).
    #[must_use]
    pub const fn directions(mut self, directions: usize) -> Self {
        self.directions = directions;
        self
    }
}

impl Default for AnitescuPotra {
    fn default() -> Self {
        Self::new()
    }
}

impl ImpactLaw for AnitescuPotra {
    fn name(&self) -> &'static str {
        "AnitescuPotra"
    }

    fn honours_friction(&self) -> bool {
        true
    }

    fn honours_restitution(&self) -> bool {
        false
    }

    fn resolve_into(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        problem.refuse_friction_without_tangents(self.name())?;
        self.resolve_speeds(problem, problem.speeds().as_slice(), outcomes)
    }
}

impl AnitescuPotra {
    /// The impulses for which `speeds + G p` keeps the conditions of the law, as outcomes of the
    /// problem.
    pub(super) fn resolve_speeds(
        self,
        problem: &ImpactProblem,
        speeds: &[f64],
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        if Modes::refuse(problem).is_ok() {
            // Taken out, so that outcomes can be written from it.
            let (_, memory) = outcomes.begin_one();
            let mut modes = std::mem::take(&mut memory.modes);
            modes.fill(problem);
            // A millisecond at most, which no interrupt cuts.
            if let Err(failure) = modes.find(speeds, None, None) {
                outcomes.keep(modes);
                return Err(failure);
            }
            let is_found = modes.count() > 0;
            let written = modes.write_all(problem, outcomes);
            outcomes.keep(modes);
            if is_found {
                return written;
            }
        } else if resolve_parts(problem, speeds, outcomes, |part, speeds, outcomes| {
            self.resolve_speeds(part, speeds, outcomes)
        })? {
            return Ok(());
        }
        *outcomes = self.by_lemke(problem, speeds)?;
        Ok(())
    }

    /// The outcome that Lemke's method finds.
    fn by_lemke(self, problem: &ImpactProblem, speeds: &[f64]) -> Result<Outcomes, ImpactFailure> {
        let (m, k) = (problem.contacts(), self.directions);
        let in_space = problem.tangents() > 1;
        let kept = !in_space || k >= 4 && k.is_multiple_of(2);
        validate::unless(kept, "directions", k as f64, "must be even and at least 4")?;
        let each = if in_space { k.saturating_add(2) } else { 4 };
        let kept = m.saturating_mul(each) <= MOST_UNKNOWNS;
        let rule = "must make at most 1000 unknowns, 2 + k each";
        validate::unless(kept, "contacts", m as f64, rule)?;
        let blocks = Blocks::new(problem, k);
        let matrix = blocks.unbounded();
        let mut q = vec![0.0; matrix.nrows()];
        blocks.right_side_unbounded(speeds, &mut q);
        let mut solver = LcpSolver::new(q.len());
        if let Some(interrupt) = problem.interrupt() {
            solver = solver.interrupt(interrupt);
        }
        let solution = solver.solve(&matrix, &q)?;
        let mut impulses = DVector::zeros(speeds.len());
        blocks.impulses(solution.z(), impulses.as_mut_slice());
        check(problem, speeds, &impulses)?;
        let outcome = Outcome::of_impulses(problem, impulses, Order::Together, Vec::new())?;
        let is_complete = problem.friction().iter().all(|&mu| mu == 0.0);
        Ok(Outcomes::of(vec![outcome], is_complete, 0))
    }
}
