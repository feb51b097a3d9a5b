//! Impulses in the cones of friction that minimise `½ λᵀ G λ − Σ λn`.
//!
//! They are the solution of a monotone linear complementarity problem in the normal impulses, the
//! parts of friction along directions and one multiplier a contact. Such a problem has a solution
//! or no feasible point, so that a ray of Lemke's method means that the minimum is unbounded. In
//! space the directions are those of a polygon inscribed in the circle, refined until the circle is
//! reached: the direction against the speed that the impulses cause is added where it violates the
//! optimality conditions of the circle.

use nalgebra::{DMatrix, DVector};

use crate::impact::{ImpactFailure, ImpactProblem};
use crate::lcp::LcpSolver;
use crate::{Interrupt, lcp};

/// Limit of the rounds in which directions are added.
const ROUNDS: usize = 40;
/// Conditions of the circle hold to this part.
const REACHED: f64 = 1e-10;

/// The minimiser, scaled to a direction for all forces of the cones.
pub(super) struct LeastNorm {
    /// Their force `r` has `rᵀ M⁻¹ f ≥ 1` for all generators `f`; zero where there is none.
    pub(super) impulses: DVector<f64>,
    /// `√(rᵀ M⁻¹ r)`; zero where there is none.
    pub(super) norm: f64,
}

impl LeastNorm {
    /// Of a matrix in place of the Delassus matrix of a problem.
    pub(super) fn of(
        delassus: &DMatrix<f64>,
        problem: &ImpactProblem,
    ) -> Result<Self, ImpactFailure> {
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
