//! All solutions of a small problem.

use nalgebra::{DMatrix, DMatrixView, DVector};

use super::LcpFailure;
use super::bases::{MOST, Principal, Subsets, list};
use super::problem::check_sizes;
use super::scaled::Scaled;
use super::solution::Candidate;
use super::solver::LcpSolver;
use crate::linalg::largest;
use crate::{Interrupt, validate};

/// Residual allowed, as in [`LcpSolver::tolerance`].
const TOLERANCE: f64 = 1e-10;
/// Solutions closer than this are one, relative to the size of `z` or 1 in scaled units.
const MERGED: f64 = 1e-8;
/// A basis with a smaller pivot is singular.
const SINGULAR: f64 = 1e-11;
/// Limit of the solutions that are listed, and of the singular bases that hold some.
const LISTED: usize = 4096;
/// The stand-in for zero on the diagonal of the problem for a point of a face.
const SOFTNESS: f64 = 1e-13;

/// A solution from [`enumerate`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Listed {
    /// `z`, none negative.
    pub z: DVector<f64>,
    /// `max |min(z, W z + q)|`.
    pub residual: f64,
    /// False for a point of a set of infinitely many solutions that share the zeros of one
    /// complementary basis.
    pub isolated: bool,
}

/// All solutions of `0 ≤ z ⊥ W z + q ≥ 0` for n ≤ 16. Every complementary basis is solved, except
/// those ruled out by the signs of `W` and `q`. Equal solutions (to 1e-8) are listed once, in the
/// order of their bases. Without a solution the list is empty.
///
/// A singular basis holds a polyhedron of solutions, or none. Its point of least norm (in scaled
/// units) is listed. All listed points of a polyhedron are marked as not isolated, unless it is a
/// single point.
///
/// 2ⁿ bases: milliseconds at n = 10, about a second at n = 16 when most of them are singular. At
/// most 4096 solutions are listed, and at most 4096 singular bases may hold some. The impulses of
/// rigid contacts are rarely isolated, even where the velocities are: with friction, opposite
/// directions can push against each other. Contacts have fewer modes (7 each, in the plane) than
/// bases (32): list them by modes.
///
/// ```
/// use saltation::nalgebra::DMatrix;
/// // z = (0, 0), (1/2, 0), (0, 1/2), and (1/3, 1/3).
/// let w = DMatrix::from_row_slice(2, 2, &[-2.0, -1.0, -1.0, -2.0]);
/// let all = saltation::lcp::enumerate(&w, &[1.0, 1.0])?;
/// assert_eq!(all.len(), 4);
/// assert!(all.iter().all(|s| s.isolated && s.residual < 1e-15));
/// # Ok::<(), saltation::Error>(())
/// ```
///
/// # Errors
/// Wrong sizes, numbers that are not finite,
/// [`InputError::BadSetting`](crate::InputError::BadSetting) for n > 16, and
/// [`LcpFailure::TooManySolutions`] beyond 4096.
pub fn enumerate<'w>(
    w: impl Into<DMatrixView<'w, f64>>,
    q: &[f64],
) -> Result<Vec<Listed>, LcpFailure> {
    enumerate_until(w, q, &Interrupt::new())
}

/// [`enumerate`], unless `interrupt` is set before it ends.
///
/// # Errors
/// As [`enumerate`], and [`LcpFailure::Interrupted`].
pub fn enumerate_until<'w>(
    w: impl Into<DMatrixView<'w, f64>>,
    q: &[f64],
    interrupt: &Interrupt,
) -> Result<Vec<Listed>, LcpFailure> {
    let w = w.into();
    check_sizes(&w, q)?;
    validate::finite("q", q)?;
    let rule = "solutions are enumerated for at most 16 unknowns";
    validate::unless(q.len() <= MOST, "n", q.len() as f64, rule)?;
    let mut problem = Scaled::default();
    problem.load(&w, q)?;
    let mut search = Search {
        w,
        q,
        problem: &problem,
        principal: Principal::default(),
        candidate: Candidate::default(),
        faces: LcpSolver::new(3 * q.len()).ladder(false),
        found: Vec::new(),
        singular: 0,
        continua: Vec::new(),
    };
    let mut ended = Ok(());
    Subsets::new(&problem).any(|basis| {
        search.visit(basis);
        ended = interrupt.check().map_err(LcpFailure::from);
        if search.found.len().max(search.singular) > LISTED {
            ended = Err(LcpFailure::TooManySolutions { limit: LISTED });
        }
        ended.is_err()
    });
    ended.map(|()| search.finish())
}

/// A solution in scaled units beside the one to be listed.
struct Found {
    scaled: Vec<f64>,
    /// Its largest entry, at least 1.
    size: f64,
    listed: Listed,
    slack: Vec<f64>,
}

struct Search<'a> {
    w: DMatrixView<'a, f64>,
    q: &'a [f64],
    problem: &'a Scaled,
    principal: Principal,
    candidate: Candidate,
    faces: LcpSolver,
    found: Vec<Found>,
    /// Singular bases that hold solutions.
    singular: usize,
    /// Singular bases that hold infinitely many solutions.
    continua: Vec<u32>,
}

impl Search<'_> {
    fn visit(&mut self, basis: u32) {
        list(basis, &mut self.principal.set);
        if self.principal.solve(self.problem, SINGULAR) {
            // The candidate has no negative entries either.
            let z: Vec<f64> = self.principal.z.iter().map(|z| z.max(0.0)).collect();
            self.keep(&z);
            return;
        }
        let n = self.q.len();
        let Some(point) = self.nearest(&vec![0.0; n]) else {
            return;
        };
        if !self.keep(&point) {
            return;
        }
        self.singular += 1;
        // Unless the point is isolated, some direction or its opposite leads to another solution.
        let generic = |i: usize| 0.5 + (0.6180339887498949 * (i + 1) as f64).fract();
        let far = [1.0, -1.0].into_iter().any(|sign| {
            let aim: Vec<f64> = (0..n).map(|i| point[i] + sign * generic(i)).collect();
            let other = self.nearest(&aim);
            other.is_some_and(|other| self.passes(&other) && is_apart(&other, &point))
        });
        if far {
            self.continua.push(basis);
        }
    }

    fn passes(&mut self, z: &[f64]) -> bool {
        let check = self
            .candidate
            .judge(self.problem, &self.w, self.q, z, TOLERANCE);
        check.passed
    }

    fn is_known(&self, z: &[f64]) -> bool {
        let size = largest(z).max(1.0);
        self.found.iter().any(|found| {
            let allowed = MERGED * size.max(found.size);
            let mut pairs = found.scaled.iter().zip(z);
            pairs.all(|(a, b)| (a - b).abs() <= allowed)
        })
    }

    /// Lists a solution that is new. Returns whether it is a solution.
    fn keep(&mut self, z: &[f64]) -> bool {
        let check = self
            .candidate
            .judge(self.problem, &self.w, self.q, z, TOLERANCE);
        if check.passed && !self.is_known(z) {
            let unit = self.problem.unit.recip();
            let slack = self.candidate.slack.iter().zip(&self.problem.row);
            self.found.push(Found {
                scaled: z.to_vec(),
                size: largest(z).max(1.0),
                listed: Listed {
                    z: DVector::from_column_slice(&self.candidate.z),
                    residual: check.residual,
                    isolated: true,
                },
                slack: slack.map(|(w, row)| w * row * unit).collect(),
            });
        }
        check.passed
    }

    /// The point nearest to `aim` among the `z' ≥ 0` of a basis B with `w'_B = 0` and `w' ≥ 0`, if
    /// there is one: minimise `|x − aim|²/2` subject to `G x ≥ h`, with G the rows of `W'_·B` and
    /// once more those of B with the opposite sign. As a complementarity problem,
    /// `0 ≤ x ⊥ x − aim − Gᵀy ≥ 0` and `0 ≤ y ⊥ G x − h ≥ 0`.
    fn nearest(&mut self, aim: &[f64]) -> Option<Vec<f64>> {
        let set = &self.principal.set;
        let (n, k) = (self.q.len(), set.len());
        let size = n + 2 * k;
        let mut w = DMatrix::zeros(size, size);
        let mut q = vec![0.0; size];
        for (column, &j) in set.iter().enumerate() {
            w[(column, column)] = 1.0;
            q[column] = -aim[j];
            let rows = (0..n)
                .map(|i| (i, 1.0))
                .chain(set.iter().map(|&i| (i, -1.0)));
            for (row, (i, sign)) in rows.enumerate() {
                let entry = sign * self.problem.entry(i, j);
                w[(k + row, column)] = entry;
                w[(column, k + row)] = -entry;
            }
        }
        let offsets = self.problem.q.as_flattened();
        for row in 0..n + k {
            w[(k + row, k + row)] = SOFTNESS;
            q[k + row] = if row < n {
                offsets[row]
            } else {
                -offsets[set[row - n]]
            };
        }
        let solution = self.faces.solve(&w, &q).ok()?;
        let mut z = vec![0.0; n];
        for (x, &j) in solution.z().iter().zip(set) {
            z[j] = *x;
        }
        Some(z)
    }

    fn finish(self) -> Vec<Listed> {
        let on = |found: &Found, basis: u32| {
            let zero = |i: usize| {
                if basis >> i & 1 == 1 {
                    found.slack[i]
                } else {
                    found.scaled[i]
                }
            };
            (0..found.scaled.len()).all(|i| zero(i) <= MERGED * found.size)
        };
        let continua = self.continua;
        self.found
            .into_iter()
            .map(|found| Listed {
                isolated: !continua.iter().any(|&basis| on(&found, basis)),
                ..found.listed
            })
            .collect()
    }
}

/// True when two points are too far apart to be merged.
fn is_apart(a: &[f64], b: &[f64]) -> bool {
    let allowed = 10.0 * MERGED * largest(a).max(largest(b)).max(1.0);
    a.iter().zip(b).any(|(a, b)| (a - b).abs() > allowed)
}
