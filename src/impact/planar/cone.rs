//! The cone of contact forces: how pointed it is, and how soon impacts end for that reason (Halm &
//! Posa, Theorem 8).
//!
//! Generators are `f = Jnᵀ ± μ Jtᵀ`, for each contact. The least-norm point of their convex hull in
//! the metric `|f|² = fᵀ M⁻¹ f` has the norm δ. The convex problem `min ½ λᵀ G λ − Σ λn` over
//! impulses in the cones of friction has a solution exactly when δ > 0, and then `δ⁻² = Σ λn`.
//! (Weights of the generators instead of `λ` cancel where μ is large.)
//!
//! The solution is that of a monotone linear complementarity problem in the normal impulses, the
//! parts of friction along directions and one multiplier a contact. Such a problem has a solution
//! or no feasible point, so that a ray of Lemke's method means that the minimum is unbounded. In
//! space the directions are those of a polygon inscribed in the circle, refined until the circle is
//! reached: the direction against the speed that the impulses cause is added where it violates the
//! optimality conditions of the circle.

use nalgebra::{DMatrix, DVector};

use crate::impact::{ImpactFailure, ImpactProblem};
use crate::lcp::LcpSolver;
use crate::{Interrupt, lcp, validate};

/// Margins below this part of the longest normal are zero.
const LEAST: f64 = 1e-8;

/// The cone of contact forces of an impact.
///
/// ```
/// use saltation::impact::{ContactCone, ImpactProblem};
/// use saltation::nalgebra::{DMatrix, DVector};
/// let body = DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 0.0, 1.0]);
/// // Two walls that face each other: the cone contains a line.
/// let walls = DMatrix::from_row_slice(2, 2, &[1.0, 0.0, -1.0, 0.0]);
/// let squeezed = ImpactProblem::from_mechanics(&body, &walls, &DVector::from_vec(vec![1.0, 0.0]))?;
/// assert!(!ContactCone::of(&squeezed)?.is_pointed());
/// let floor = DMatrix::from_row_slice(1, 2, &[0.0, 1.0]);
/// let falling = ImpactProblem::from_mechanics(&body, &floor, &DVector::from_vec(vec![0.0, -3.0]))?;
/// let cone = ContactCone::of(&falling)?;
/// assert!((cone.margin() - 1.0).abs() < 1e-12);
/// // No impact takes a greater sum of normal impulses than this.
/// assert!((cone.greatest_impulse() - 6.0).abs() < 1e-12);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct ContactCone {
    contacts: usize,
    kinetic_norm: f64,
    margin: f64,
    direction: DVector<f64>,
    euclidean: Option<f64>,
}

impl ContactCone {
    /// Of the contacts of a problem. In space the polygon of directions is refined until the margin
    /// is that of the circle to 1e-10, at most 40 times; then the greatest lower bound found is the
    /// margin.
    ///
    /// # Errors
    /// [`InputError::FrictionIgnored`](crate::InputError::FrictionIgnored) for friction without
    /// tangents; for a problem given in contact space
    /// [`InputError::InconsistentSpeeds`](crate::InputError::InconsistentSpeeds) when no motion has
    /// its speeds, and [`InputError::BadMatrix`](crate::InputError::BadMatrix) for rows whose
    /// Delassus matrix is not positive semidefinite: the bounds are those of a motion;
    /// [`ImpactFailure::Lcp`] when the least-norm problem is not solved; [`ImpactFailure::Interrupted`].
    pub fn of(problem: &ImpactProblem) -> Result<Self, ImpactFailure> {
        problem.refuse_friction_without_tangents("ContactCone")?;
        problem.refuse_speeds_of_no_motion()?;
        let least = LeastNorm::of(problem.delassus(), problem)?;
        let greatest = problem.space().roots.iter().copied().fold(0.0, f64::max);
        let margin = if least.norm > 0.0 {
            least.norm.recip()
        } else {
            0.0
        };
        let pointed = margin > LEAST * greatest;
        let euclidean = match problem.response() {
            Some(response) if pointed => {
                let least = LeastNorm::of(&(response.transpose() * response), problem)?;
                (least.norm > 0.0).then_some(least.norm)
            }
            _ => None,
        };
        // zero times an overflow is not a number
        let direction = if pointed {
            least.impulses
        } else {
            DVector::zeros(least.impulses.len())
        };
        Ok(Self {
            contacts: problem.contacts(),
            kinetic_norm: problem.kinetic_norm(),
            margin: if pointed { margin } else { 0.0 },
            direction,
            euclidean,
        })
    }

    /// δ, the distance of the convex hull of the generators from zero in the metric of `M⁻¹`
    /// (1/√kg for gaps in metres); 0 for a cone that contains a line, where contacts can jam a body
    /// and impacts need not end.
    pub fn margin(&self) -> f64 {
        self.margin
    }

    /// True when the cone contains no line.
    pub fn is_pointed(&self) -> bool {
        self.margin > 0.0
    }

    /// Impulses `Λ` whose force `r = Jᵀ Λ` has `rᵀ M⁻¹ f ≥ 1` for all generators, with the least
    /// norm in the metric of `M⁻¹`, 1/δ (normals first); zero for a cone that is not pointed.
    pub fn direction(&self) -> &DVector<f64> {
        &self.direction
    }

    /// The least Euclidean norm of an `r` with `rᵀ M⁻¹ f ≥ 1` for all generators (equation 77), of
    /// a problem made from mechanics with a pointed cone.
    pub fn euclidean_norm(&self) -> Option<f64> {
        self.euclidean
    }

    /// No impact takes a greater sum of normal impulses (N s): `2 |v|_M/δ`, `|v|_M` the
    /// [`kinetic_norm`](ImpactProblem::kinetic_norm) of the problem; infinite for a cone that is not
    /// pointed.
    pub fn greatest_impulse(&self) -> f64 {
        // at rest 0/0 otherwise
        if self.is_pointed() {
            2.0 * self.kinetic_norm / self.margin
        } else {
            f64::INFINITY
        }
    }

    /// The constant `c` of Theorem 8 in its sharper form, `4 ⌈(m + 1)/(h δ)⌉`: steps of uniform
    /// bounds up to `h` (N s) for each unit of `⌈|v|_M⌉`. With the face law take half of `h`.
    /// Infinite for a cone that is not pointed.
    ///
    /// # Errors
    /// [`InputError::BadSetting`](crate::InputError::BadSetting) unless `h` is finite and positive.
    pub fn steps_per_norm(&self, h: f64) -> Result<f64, ImpactFailure> {
        validate::positive("bound", &[h])?;
        Ok(self.constant(1.0 / self.margin, h))
    }

    /// The constant `c` of Theorem 8 as printed (78), `4 ⌈(m + 1) |r|₂/(h √σ)⌉`, σ the least
    /// eigenvalue of the mass matrix. Infinite where [`euclidean_norm`](Self::euclidean_norm) is
    /// not known.
    ///
    /// # Errors
    /// [`InputError::BadSetting`](crate::InputError::BadSetting) unless both are finite and
    /// positive.
    pub fn steps_per_norm_as_printed(&self, h: f64, least_mass: f64) -> Result<f64, ImpactFailure> {
        validate::positive("bound", &[h])?;
        validate::positive("least eigenvalue of the mass matrix", &[least_mass])?;
        let norm = self.euclidean.unwrap_or(f64::INFINITY);
        Ok(self.constant(norm / least_mass.sqrt(), h))
    }

    /// More steps than this are made with at most this probability: `c ⌈|v|_M⌉ + j`,
    /// `exp(−j/(m + 1)²)` the probability, for a `c` of the two methods above. Infinite for an
    /// infinite `c`.
    ///
    /// # Errors
    /// [`InputError::BadSetting`](crate::InputError::BadSetting) unless `c ≥ 0` and the probability
    /// lies in (0, 1].
    pub fn steps(&self, per_norm: f64, probability: f64) -> Result<f64, ImpactFailure> {
        validate::unless(per_norm >= 0.0, "steps per norm", per_norm, "must be >= 0")?;
        let kept = probability > 0.0 && probability <= 1.0;
        validate::unless(kept, "probability", probability, "must lie in (0, 1]")?;
        let rows = (self.contacts + 1) as f64;
        let more = -probability.ln() * rows * rows;
        // at rest too, where the product is not a number
        if per_norm == f64::INFINITY {
            return Ok(per_norm);
        }
        Ok(per_norm * self.kinetic_norm.ceil() + more.ceil())
    }

    fn constant(&self, norm: f64, h: f64) -> f64 {
        let whole = (self.contacts + 1) as f64 * norm / h;
        // A whole number stays one.
        4.0 * (whole * (1.0 - 1e-12)).ceil()
    }
}

/// Limit of the rounds in which directions are added.
const ROUNDS: usize = 40;
/// Conditions of the circle hold to this part.
const REACHED: f64 = 1e-10;

/// The minimiser, scaled to a direction for all forces of the cones.
struct LeastNorm {
    /// Their force `r` has `rᵀ M⁻¹ f ≥ 1` for all generators `f`; zero where there is none.
    impulses: DVector<f64>,
    /// `√(rᵀ M⁻¹ r)`; zero where there is none.
    norm: f64,
}

impl LeastNorm {
    /// Of a matrix in place of the Delassus matrix of a problem.
    fn of(delassus: &DMatrix<f64>, problem: &ImpactProblem) -> Result<Self, ImpactFailure> {
        let mut cones = Cones::new(delassus, problem);
        let mut best = Self {
            impulses: DVector::zeros(delassus.nrows()),
            norm: 0.0,
        };
        for _ in 0..ROUNDS {
            let Some(impulses) = cones.solve(problem.interrupt())? else {
                // the forces of the polygon hold a line, those of the circle too
                break;
            };
            let part = cones.refine(&impulses);
            let norm = cones.sum(&impulses).sqrt() / part * cones.greatest;
            if part > 0.0 && (best.norm == 0.0 || norm < best.norm) {
                best.norm = norm;
                best.impulses = cones.in_units(&impulses) / part;
            }
            if part >= 1.0 - REACHED {
                break;
            }
        }
        Ok(best)
    }
}

/// The cones of friction, each contact in the unit of its normal, so that impulses are of size 1.
struct Cones<'p> {
    tangents: usize,
    units: Vec<f64>,
    /// The greatest of what is asked for along the normals.
    greatest: f64,
    /// Speeds that are asked for along the normals, in parts of the greatest.
    asked: Vec<f64>,
    gram: DMatrix<f64>,
    friction: &'p [f64],
    /// Contact by contact.
    directions: Vec<Vec<[f64; 2]>>,
}

impl<'p> Cones<'p> {
    fn new(delassus: &DMatrix<f64>, problem: &'p ImpactProblem) -> Self {
        let (m, t) = (problem.contacts(), problem.tangents());
        let unit = |row: usize| {
            let own = if row < m { row } else { (row - m) / t };
            let root = delassus[(own, own)].sqrt();
            if root > 0.0 { root } else { 1.0 }
        };
        let units: Vec<f64> = (0..m + t * m).map(unit).collect();
        let greatest = units[..m].iter().map(|u| u.recip()).fold(0.0, f64::max);
        let axes = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]];
        Self {
            tangents: t,
            asked: units[..m].iter().map(|u| u.recip() / greatest).collect(),
            gram: DMatrix::from_fn(units.len(), units.len(), |i, j| {
                delassus[(i, j)] / units[i] / units[j]
            }),
            friction: problem.friction(),
            directions: vec![axes[..2 * t].to_vec(); m],
            greatest,
            units,
        }
    }

    /// The impulses for the directions at hand; none where the minimum is unbounded.
    fn solve(&self, interrupt: Option<&Interrupt>) -> Result<Option<DVector<f64>>, ImpactFailure> {
        let (m, t) = (self.asked.len(), self.tangents);
        let parts = self.directions.iter().map(Vec::len).sum::<usize>();
        let mut rows = DMatrix::zeros(m + parts, self.units.len());
        let mut owners = Vec::with_capacity(parts);
        for (i, directions) in self.directions.iter().enumerate() {
            rows[(i, i)] = 1.0;
            for direction in directions {
                let row = m + owners.len();
                (0..t).for_each(|axis| rows[(row, m + t * i + axis)] = direction[axis]);
                owners.push(i);
            }
        }
        let inner = &rows * &self.gram * rows.transpose();
        let multipliers = if t > 0 { m } else { 0 };
        let size = m + parts + multipliers;
        let mut matrix = DMatrix::zeros(size, size);
        matrix
            .view_mut((0, 0), (m + parts, m + parts))
            .copy_from(&inner);
        for i in 0..multipliers {
            matrix[(i, m + parts + i)] = -self.friction[i];
            matrix[(m + parts + i, i)] = self.friction[i];
        }
        for (k, &i) in owners.iter().enumerate() {
            matrix[(m + k, m + parts + i)] = 1.0;
            matrix[(m + parts + i, m + k)] = -1.0;
        }
        let asked = self.asked.iter().map(|asked| -asked);
        let q: Vec<f64> = asked.chain(vec![0.0; size - m]).collect();
        let mut solver = LcpSolver::new(size);
        if let Some(interrupt) = interrupt {
            solver = solver.interrupt(interrupt);
        }
        match solver.solve(&matrix, &q) {
            Ok(solution) => {
                let z = DVector::from_column_slice(&solution.z()[..m + parts]);
                Ok(Some(rows.transpose() * z))
            }
            Err(lcp::LcpFailure::Ray { .. }) => Ok(None),
            Err(failure) => Err(failure.into()),
        }
    }

    /// Adds directions where the impulses are not those of the circle. Gives the greatest `β` such
    /// that they hold for `β` times what is asked for.
    fn refine(&mut self, impulses: &DVector<f64>) -> f64 {
        let (m, t) = (self.asked.len(), self.tangents);
        if t < 2 {
            return 1.0;
        }
        let moved = &self.gram * impulses;
        let mut least = f64::INFINITY;
        for i in 0..m {
            let along = [moved[m + 2 * i], moved[m + 2 * i + 1]];
            // with much friction the rounding of a slip that vanishes would count
            let terms = |row: usize| {
                let pairs = self.gram.row(row).into_iter().zip(impulses.iter());
                pairs.map(|(g, p)| (g * p).abs()).sum::<f64>()
            };
            let rounding = 4.0 * f64::EPSILON * terms(m + 2 * i).hypot(terms(m + 2 * i + 1));
            let speed = (along[0].hypot(along[1]) - rounding).max(0.0);
            let part = (moved[i] - self.friction[i] * speed) / self.asked[i];
            if part < 1.0 - 0.1 * REACHED && speed > 0.0 {
                let length = along[0].hypot(along[1]);
                self.directions[i].push(along.map(|u| -u / length));
            }
            least = least.min(part);
        }
        least
    }

    /// `Σ λn` of what is asked for, the square of the norm.
    fn sum(&self, impulses: &DVector<f64>) -> f64 {
        let pairs = self.asked.iter().zip(impulses.iter());
        pairs.map(|(asked, p)| asked * p).sum()
    }

    fn in_units(&self, impulses: &DVector<f64>) -> DVector<f64> {
        let pairs = impulses.iter().zip(&self.units);
        DVector::from_iterator(
            self.units.len(),
            pairs.map(|(p, unit)| p / unit * self.greatest),
        )
    }
}
