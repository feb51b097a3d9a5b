//! The solver: a ladder of attempts, each judged by the residual alone.

use nalgebra::DMatrixView;

use super::LcpFailure;
use super::bases::{Principal, Subsets, list};
use super::blocks::{Block, blocks_of, reset};
use super::careful::Careful;
use super::certificate::{Proof, bring_to_one, proof_by};
use super::convex::Convex;
use super::lemke::{End, Lemke};
use super::problem::check_sizes;
use super::scaled::{Loaded, Scaled};
use super::solution::{AFTER_A_RAY, Attempt, Candidate, LADDER, Solution};
use crate::linalg::largest;
use crate::{Interrupt, validate};

/// Largest problem whose bases are tried one by one when Lemke's method failed.
const FEW: usize = 12;
/// Largest problem for which a new solver has buffers.
const MOST_RESERVED: usize = 1024;
/// Limit of the pivots of one run of Lemke's method, times n.
const MOST_PIVOTS: usize = 1000;

/// Solves linear complementarity problems `0 ≤ z ⊥ W z + q ≥ 0`, dense, of any size up to a few
/// hundred.
///
/// The solver is a workspace: after the first problem of a size, solving allocates nothing. It
/// holds about 80 n² bytes up to n = 200 and 48 n² beyond. The answer depends on the problem alone,
/// not on what was solved before.
///
/// ```
/// use saltation::nalgebra::DMatrix;
/// use saltation::lcp::LcpSolver;
///
/// let w = DMatrix::from_row_slice(3, 3, &[1.0, 2.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0]);
/// let mut solver = LcpSolver::new(3);
/// let solution = solver.solve(&w, &[-1.0, -1.0, -1.0])?;
/// assert!(solution.z().iter().all(|z| (z - 1.0 / 3.0).abs() < 1e-15));
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct LcpSolver {
    tolerance: f64,
    pivots_per_row: usize,
    ladder: bool,
    scaled: Scaled,
    lemke: Lemke,
    principal: Principal,
    convex: Convex,
    careful: Careful,
    interrupt: Option<Interrupt>,
    /// The size of rounding in `q_i/√W_ii`.
    noise: f64,
    /// The covering vector in scaled units.
    cover: Vec<Block>,
    /// The attempt whose covering vector that is, if it is as good for another `q`.
    covers: Option<Attempt>,
    candidate: Candidate,
    /// The ray of the last solve that failed by one, of length n, else empty.
    ray: Vec<f64>,
}

/// The result of one attempt.
#[derive(Clone, Copy, Debug)]
enum Found {
    Solved(f64),
    Refused {
        residual: f64,
        allowed: f64,
    },
    Ended(End),
    /// The attempt does not apply to the problem, or found nothing.
    PassedOver,
}

impl Default for LcpSolver {
    fn default() -> Self {
        Self::new(0)
    }
}

impl LcpSolver {
    /// A solver with buffers for problems up to size `n`, and up to 1024 at most; for larger ones
    /// they grow.
    pub fn new(n: usize) -> Self {
        let n = n.min(MOST_RESERVED);
        let mut solver = Self::growing();
        solver.scaled.reserve(n);
        solver.lemke.reserve(n);
        solver.principal.reserve(n);
        solver.convex.reserve(n);
        solver.careful.reserve(n);
        solver.candidate.reserve(n);
        // Without it the buffers grow when they are filled.
        let _ = solver.cover.try_reserve(blocks_of(n));
        let _ = solver.ray.try_reserve(n);
        solver
    }

    /// Without buffers, for a single problem: they grow when they are filled; attempts that are not
    /// made need none.
    pub(crate) fn growing() -> Self {
        Self {
            tolerance: 1e-10,
            pivots_per_row: 50,
            ladder: true,
            scaled: Scaled::default(),
            lemke: Lemke::default(),
            principal: Principal::default(),
            convex: Convex::default(),
            careful: Careful::default(),
            interrupt: None,
            noise: 0.0,
            cover: Vec::new(),
            covers: None,
            candidate: Candidate::default(),
            ray: Vec::new(),
        }
    }

    /// Residual that the check allows, relative to `max|q| + max|z|` (default 1e-10), in the units
    /// given and with rows and columns scaled to 1. Where terms of `W z` cancel, rounding may
    /// exceed that, as with masses over eight decades beside bounds of size 1: choose other units,
    /// or a larger tolerance. [`solve`](Self::solve) refuses values outside [0, 1); at 1 any `z`
    /// would pass.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Limit of the pivots of one run of Lemke's method, times n (default 50; more than 1000 count
    /// as 1000). A run that cycles ends too.
    #[must_use]
    pub fn pivots_per_row(mut self, most: usize) -> Self {
        self.pivots_per_row = most.min(MOST_PIVOTS);
        self
    }

    /// The rounding of `q_i/√W_ii`, for a positive diagonal: a problem must be infeasible by more
    /// than that to be refused.
    pub(crate) fn noise(mut self, noise: f64) -> Self {
        self.noise = noise;
        self
    }

    /// Likewise, and who interrupts the next solves, for a solver that is kept.
    pub(crate) fn expect(&mut self, noise: f64, interrupt: Option<&Interrupt>) {
        self.noise = noise;
        self.interrupt = interrupt.cloned();
    }

    /// Ends a solve with [`LcpFailure::Interrupted`] when `interrupt` is set; checked once a pivot.
    #[must_use]
    pub fn interrupt(mut self, interrupt: &Interrupt) -> Self {
        self.interrupt = Some(interrupt.clone());
        self
    }

    /// Sets whether other attempts are made when Lemke's method with the given covering vector finds
    /// nothing (default true). Without them all solutions follow one selection rule, that of the
    /// covering vector.
    #[must_use]
    pub fn ladder(mut self, ladder: bool) -> Self {
        self.ladder = ladder;
        self
    }

    /// Solves for `W` (n × n) and `q` (n), with a covering vector of ones. A problem of size 0 has
    /// the empty solution.
    ///
    /// # Errors
    /// [`InputError::WrongLength`](crate::InputError::WrongLength),
    /// [`InputError::NotFinite`](crate::InputError::NotFinite);
    /// [`InputError::BadSetting`](crate::InputError::BadSetting) for a bad tolerance;
    /// [`LcpFailure::Ray`] when a ray proves that there is no solution; otherwise the failure of
    /// Lemke's method, when no other attempt solved the problem. [`LcpFailure::Interrupted`].
    pub fn solve<'w>(
        &mut self,
        w: impl Into<DMatrixView<'w, f64>>,
        q: &[f64],
    ) -> Result<Solution<'_>, LcpFailure> {
        self.solve_checked(&w.into(), q, None)
    }

    /// Solves with a covering vector `d` (n entries, all > 0), which decides what is found when
    /// there are several solutions.
    ///
    /// # Errors
    /// As [`solve`](Self::solve), and [`InputError::BadSetting`](crate::InputError::BadSetting) for
    /// a bad covering vector.
    pub fn solve_covered<'w>(
        &mut self,
        w: impl Into<DMatrixView<'w, f64>>,
        q: &[f64],
        d: &[f64],
    ) -> Result<Solution<'_>, LcpFailure> {
        // A problem that is refused has no ray, whatever the one before had.
        self.ray.clear();
        validate::length("d", q.len(), d.len())?;
        validate::finite("d", d)?;
        validate::accepted("d", d, "a covering vector must be > 0", |d| d > 0.0)?;
        self.solve_checked(&w.into(), q, Some(d))
    }

    /// The ray of the last solve, when that ended in [`LcpFailure::Ray`]: `u ≥ 0` of n entries, the
    /// largest 1. Lemke's path went along `z + s u`.
    pub fn ray(&self) -> Option<&[f64]> {
        (!self.ray.is_empty()).then_some(&self.ray)
    }

    fn solve_checked(
        &mut self,
        w: &DMatrixView<'_, f64>,
        q: &[f64],
        d: Option<&[f64]>,
    ) -> Result<Solution<'_>, LcpFailure> {
        self.ray.clear();
        check_sizes(w, q)?;
        validate::finite("q", q)?;
        let kept = (0.0..1.0).contains(&self.tolerance);
        validate::unless(kept, "tolerance", self.tolerance, "must be ≥ 0 and < 1")?;
        if self.scaled.load(w, q)? == Loaded::Anew {
            self.covers = None;
        }
        if q.iter().all(|&q| q >= 0.0) {
            self.candidate.set_zero(q);
            return Ok(self.solution(0.0, 0, Attempt::Zero));
        }
        let (mut first, mut proof, mut pivots) = (None, Proof::None, 0);
        let mut rungs = LADDER;
        for k in 0..rungs.len() {
            let rung = rungs[k];
            let attempt = match rung {
                Attempt::Bases => self.try_bases(w, q)?,
                Attempt::Convex => self.try_convex(w, q)?,
                Attempt::Careful => self.try_carefully(w, q, d)?,
                _ => {
                    let attempt = self.attempt(rung, w, q, d)?;
                    pivots += self.lemke.pivots;
                    attempt
                }
            };
            let failure = match attempt {
                Found::Solved(residual) => return Ok(self.solution(residual, pivots, rung)),
                Found::Refused { residual, allowed } => {
                    Some(LcpFailure::Residual { residual, allowed })
                }
                Found::Ended(End::Ray) => {
                    if k == 0 {
                        rungs = AFTER_A_RAY;
                    }
                    proof = proof.max(self.keep_ray(rung, w, q, proof));
                    Some(LcpFailure::Ray { infeasible: false })
                }
                Found::Ended(End::MaxPivots) => Some(LcpFailure::Pivots { pivots }),
                Found::Ended(End::Complementary | End::Lost) => Some(LcpFailure::Residual {
                    residual: f64::INFINITY,
                    allowed: self.tolerance * largest(q),
                }),
                Found::PassedOver => None,
            };
            first = first.or(failure);
            let is_proved = match rung {
                // For a symmetric matrix that is almost singular the convex program decides.
                Attempt::Lemke => false,
                Attempt::Convex if matches!(attempt, Found::Ended(_)) => proof > Proof::None,
                _ => proof == Proof::Exact,
            };
            if !self.ladder || is_proved {
                break;
            }
        }
        if proof > Proof::None {
            return Err(LcpFailure::Ray { infeasible: true });
        }
        Err(first.unwrap_or(LcpFailure::Pivots { pivots }))
    }

    fn solution(&mut self, residual: f64, pivots: usize, rung: Attempt) -> Solution<'_> {
        self.ray.clear();
        let z = &self.candidate.z;
        let set = &mut self.principal.set;
        match rung {
            Attempt::Zero => set.clear(),
            Attempt::Convex | Attempt::Careful => {
                set.clear();
                set.extend((0..z.len()).filter(|&i| z[i] > 0.0));
            }
            _ => {}
        }
        Solution::new(&self.candidate, set, residual, pivots, rung)
    }

    /// One run of Lemke's method, its basis solved afresh and checked.
    fn attempt(
        &mut self,
        rung: Attempt,
        w: &DMatrixView<'_, f64>,
        q: &[f64],
        d: Option<&[f64]>,
    ) -> Result<Found, LcpFailure> {
        self.set_cover(rung, d);
        let most = self.pivots_per_row.saturating_mul(q.len());
        let (problem, interrupt) = (&self.scaled, self.interrupt.as_ref());
        let end = self.lemke.run(problem, &self.cover, most, interrupt)?;
        if end != End::Complementary {
            return Ok(Found::Ended(end));
        }
        self.lemke.basis(&mut self.principal.set);
        if !self.principal.solve(&self.scaled, 0.0) {
            return Ok(Found::Ended(End::Lost));
        }
        Ok(self.judge(w, q))
    }

    /// The residual check of the z' that was found last.
    fn judge(&mut self, w: &DMatrixView<'_, f64>, q: &[f64]) -> Found {
        let z = &self.principal.z;
        let check = self.candidate.judge(&self.scaled, w, q, z, self.tolerance);
        if check.passed {
            Found::Solved(check.residual)
        } else {
            Found::Refused {
                residual: check.residual,
                allowed: check.allowed,
            }
        }
    }

    /// The covering vector of an attempt, in scaled units.
    fn set_cover(&mut self, rung: Attempt, d: Option<&[f64]>) {
        if d.is_none() && self.covers == Some(rung) {
            return;
        }
        self.covers = d.is_none().then_some(rung);
        let n = self.scaled.n;
        reset(&mut self.cover, self.scaled.blocks);
        let cover = &mut self.cover.as_flattened_mut()[..n];
        let part = |i: usize, step: f64| 0.5 + (step * (i + 1) as f64).fract();
        for (i, to) in cover.iter_mut().enumerate() {
            *to = match rung {
                Attempt::FirstFixed => part(i, 0.6180339887498949),
                Attempt::SecondFixed => part(i, 0.414213562373095),
                Attempt::Lemke => self.scaled.row[i] * d.map_or(1.0, |d| d[i]),
                _ => 1.0,
            };
        }
        // Of size 1 too, and positive when scaling would make it zero.
        let most = cover.iter().fold(f64::MIN_POSITIVE, |most, &d| most.max(d));
        for to in cover {
            *to = (*to / most).max(1e-100);
        }
    }

    /// The convex program, its solution checked; a ray when there is none.
    #[cold]
    fn try_convex(&mut self, w: &DMatrixView<'_, f64>, q: &[f64]) -> Result<Found, LcpFailure> {
        if !self.convex.search(w, q, self.interrupt.as_ref())? {
            return Ok(Found::PassedOver);
        }
        if self.convex.grows() {
            self.candidate.z.clear();
            self.candidate.z.extend(self.convex.ray());
            bring_to_one(&mut self.candidate.z);
            let u = &self.candidate.z;
            if proof_by(&self.scaled, u) > Proof::None && !self.is_noise(w, q, u) {
                return Ok(Found::Ended(End::Ray));
            }
        }
        let unit = self.scaled.unit.recip();
        let z = self.convex.z().zip(&self.scaled.column);
        self.principal.z.clear();
        self.principal.z.extend(z.map(|(z, c)| z * unit / c));
        Ok(self.judge(w, q))
    }

    /// Lemke's method in numbers of twice the precision, its solution checked.
    #[cold]
    fn try_carefully(
        &mut self,
        w: &DMatrixView<'_, f64>,
        q: &[f64],
        d: Option<&[f64]>,
    ) -> Result<Found, LcpFailure> {
        self.set_cover(Attempt::Lemke, d);
        let most = self.pivots_per_row.saturating_mul(q.len());
        let (problem, interrupt) = (&self.scaled, self.interrupt.as_ref());
        match self.careful.run(problem, &self.cover, most, interrupt)? {
            End::Complementary => {
                self.principal.z.clone_from(&self.careful.z);
                Ok(self.judge(w, q))
            }
            End::Ray => Ok(Found::Ended(End::Ray)),
            _ => Ok(Found::PassedOver),
        }
    }

    /// Keeps the first ray, and any that proves more than the one kept. Returns what it proves.
    #[cold]
    fn keep_ray(
        &mut self,
        rung: Attempt,
        w: &DMatrixView<'_, f64>,
        q: &[f64],
        before: Proof,
    ) -> Proof {
        // The buffer of the candidate is free: nothing was found.
        self.candidate.set_zero(q);
        let u = &mut self.candidate.z;
        if rung == Attempt::Convex {
            u.clear();
            u.extend(self.convex.ray());
        } else {
            if rung == Attempt::Careful {
                u.clone_from(&self.careful.z);
            } else {
                self.lemke.ray(u);
            }
            for (u, column) in u.iter_mut().zip(&self.scaled.column) {
                *u *= column;
            }
        }
        bring_to_one(u);
        let mut proof = proof_by(&self.scaled, u);
        if self.is_noise(w, q, &self.candidate.z) {
            proof = Proof::None;
        }
        let u = &self.candidate.z;
        if proof > before || self.ray.is_empty() && largest(u) > 0.0 {
            self.ray.clear();
            self.ray.extend_from_slice(u);
        }
        proof
    }

    /// True when the rounding of `q` could make `q·u` zero.
    fn is_noise(&self, w: &DMatrixView<'_, f64>, q: &[f64], u: &[f64]) -> bool {
        let (mut along, mut size) = (0.0, 0.0);
        for (i, (q, u)) in q.iter().zip(u).enumerate() {
            along += q * u;
            size += u * w[(i, i)].sqrt();
        }
        self.noise > 0.0 && along >= -self.noise * size
    }

    /// The first complementary basis whose solution passes the check.
    #[cold]
    fn try_bases(&mut self, w: &DMatrixView<'_, f64>, q: &[f64]) -> Result<Found, LcpFailure> {
        let mut found = Found::PassedOver;
        if q.len() > FEW {
            return Ok(found);
        }
        if let Some(interrupt) = &self.interrupt {
            interrupt.check()?;
        }
        Subsets::new(&self.scaled).any(|basis| {
            list(basis, &mut self.principal.set);
            if self.principal.solve(&self.scaled, 1e-13)
                && let solved @ Found::Solved(_) = self.judge(w, q)
            {
                found = solved;
            }
            matches!(found, Found::Solved(_))
        });
        Ok(found)
    }
}
