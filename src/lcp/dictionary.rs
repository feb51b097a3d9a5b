//! Bases of one matrix with their inverses: solutions without pivots.

use nalgebra::{DMatrix, DMatrixView};

use super::LcpFailure;
use super::problem::check_sizes;
use super::scaled::Scaled;
use super::solution::{Attempt, Candidate, Solution};
use crate::validate;

/// Residual allowed, as in [`LcpSolver::tolerance`](super::LcpSolver::tolerance).
const TOLERANCE: f64 = 1e-10;
/// Limit of the bases.
const MOST: usize = 256;
/// Limit of the numbers of all inverses: 8 MB.
const NUMBERS: usize = 1_000_000;

/// Complementary bases of one matrix `W`, in the order in which they are tried, with their
/// inverses.
///
/// If problems `0 ≤ z ⊥ W z + q ≥ 0` of one `W` come again and again, few bases solve most of
/// them ([`Solution::basis`]). Of several solutions the dictionary finds the one of its first basis
/// that solves the problem: what it finds depends on the list and on `q`, so that a list that grows
/// while problems are solved makes answers depend on history. Solved means what it means for
/// [`LcpSolver`](super::LcpSolver): the residual passes its check, with the default tolerance.
///
/// At most 256 bases and 10⁶ numbers. Solving allocates nothing.
///
/// ```
/// use saltation::lcp::{BasisDictionary, LcpSolver};
/// use saltation::nalgebra::DMatrix;
/// let w = DMatrix::from_row_slice(2, 2, &[2.0, 1.0, 1.0, 2.0]);
/// let mut dictionary = BasisDictionary::new(&w)?;
/// let mut solver = LcpSolver::new(2);
/// assert!(dictionary.push(solver.solve(&w, &[-5.0, -6.0])?.basis()));
/// let solution = dictionary.solve(&[-3.0, -3.0])?.expect("the same basis");
/// assert_eq!(solution.z(), [1.0, 1.0]);
/// assert!(dictionary.solve(&[-3.0, 1.0])?.is_none());
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct BasisDictionary {
    matrix: DMatrix<f64>,
    scaled: Scaled,
    entries: Vec<Entry>,
    numbers: usize,
    z: Vec<f64>,
    part: Vec<f64>,
    rest: Vec<f64>,
    candidate: Candidate,
}

/// A basis `B`, `W'_BB` and its inverse, row by row.
#[derive(Clone, Debug)]
struct Entry {
    set: Vec<usize>,
    matrix: Vec<f64>,
    inverse: Vec<f64>,
}

impl BasisDictionary {
    /// Without bases, for a square matrix.
    ///
    /// # Errors
    /// [`InputError::WrongLength`](crate::InputError::WrongLength),
    /// [`InputError::NotFinite`](crate::InputError::NotFinite).
    pub fn new<'w>(w: impl Into<DMatrixView<'w, f64>>) -> Result<Self, LcpFailure> {
        let w = w.into();
        let zeros = vec![0.0; w.nrows()];
        check_sizes(&w, &zeros)?;
        let mut scaled = Scaled::default();
        scaled.load(&w, &zeros)?;
        let mut candidate = Candidate::default();
        candidate.reserve(zeros.len());
        Ok(Self {
            matrix: w.into_owned(),
            scaled,
            entries: Vec::new(),
            numbers: 0,
            part: zeros.clone(),
            rest: zeros.clone(),
            z: zeros,
            candidate,
        })
    }

    /// Number of bases.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// True without bases.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Adds a basis at the end: the indices of `z` that may be positive, ascending. False when it
    /// is there already, has no inverse or such indices, or when there is no room.
    pub fn push(&mut self, basis: &[usize]) -> bool {
        let (n, k) = (self.z.len(), basis.len());
        let sound = basis.is_sorted_by(|a, b| a < b) && basis.last().is_none_or(|&last| last < n);
        let room = self.entries.len() < MOST && self.numbers + 2 * k * k <= NUMBERS;
        if !sound || !room || self.entries.iter().any(|entry| entry.set == basis) {
            return false;
        }
        let matrix = DMatrix::from_fn(k, k, |i, j| self.scaled.entry(basis[i], basis[j]));
        let inverse = match k {
            0 => Some(matrix.clone()),
            _ => crate::linalg::decompose::inverse(matrix.clone()),
        };
        let Some(inverse) = inverse else {
            return false;
        };
        self.numbers += 2 * k * k;
        self.entries.push(Entry {
            set: basis.to_vec(),
            matrix: matrix.transpose().as_slice().to_vec(),
            inverse: inverse.transpose().as_slice().to_vec(),
        });
        true
    }

    /// The solution of the first basis that solves the problem, if one does.
    ///
    /// # Errors
    /// [`InputError::WrongLength`](crate::InputError::WrongLength),
    /// [`InputError::NotFinite`](crate::InputError::NotFinite).
    pub fn solve(&mut self, q: &[f64]) -> Result<Option<Solution<'_>>, LcpFailure> {
        validate::length("q", self.z.len(), q.len())?;
        validate::finite("q", q)?;
        self.scaled.load_right(q);
        let view = self.matrix.as_view();
        let found = self.entries.iter().find_map(|entry| {
            let worth = entry.solve(&self.scaled, &mut self.z, &mut self.part, &mut self.rest);
            let judge = || {
                self.candidate
                    .judge(&self.scaled, &view, q, &self.z, TOLERANCE)
            };
            let check = worth.then(judge)?;
            check.passed.then_some((entry, check.residual))
        });
        Ok(found.map(|(entry, residual)| {
            let candidate = &self.candidate;
            Solution::new(candidate, &entry.set, residual, 0, Attempt::Dictionary)
        }))
    }
}

impl Entry {
    /// `z'_B = −W'_BB⁻¹ q'_B`, refined once. False when an entry is negative.
    fn solve(&self, problem: &Scaled, z: &mut [f64], part: &mut [f64], rest: &mut [f64]) -> bool {
        let k = self.set.len();
        let (part, rest) = (&mut part[..k], &mut rest[..k]);
        let q = problem.q.as_flattened();
        for (to, &i) in rest.iter_mut().zip(&self.set) {
            *to = -q[i];
        }
        product(&self.inverse, rest, part);
        let most = part.iter().fold(1.0f64, |most, z| most.max(z.abs()));
        if part.iter().any(|&z| z < -TOLERANCE * most) {
            return false;
        }
        z.fill(0.0);
        for (&i, part) in self.set.iter().zip(&*part) {
            z[i] = *part;
        }
        for ((to, row), &i) in rest
            .iter_mut()
            .zip(self.matrix.chunks_exact(k.max(1)))
            .zip(&self.set)
        {
            let sum: f64 = row.iter().zip(&*part).map(|(w, z)| w * z).sum();
            *to = -q[i] - sum;
        }
        product(&self.inverse, rest, part);
        for (&i, part) in self.set.iter().zip(&*part) {
            z[i] += part;
        }
        true
    }
}

/// `out = A x`, `A` row by row.
fn product(a: &[f64], x: &[f64], out: &mut [f64]) {
    for (to, row) in out.iter_mut().zip(a.chunks_exact(x.len().max(1))) {
        *to = row.iter().zip(x).map(|(a, x)| a * x).sum();
    }
}
