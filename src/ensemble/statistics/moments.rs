//! Count, mean and covariance of columns that come row by row, and merge.

use nalgebra::DMatrix;

use crate::ensemble::{EnsembleFailure, Rows};
use crate::{InputError, validate};

/// Limit of the columns: the sums of products then take 8 MB.
const MOST_COLUMNS: usize = 1000;

/// Count, mean and covariance of rows, without the rows.
///
/// Rows are added one by one (Welford 1962); those of different ranges are merged in any order and any
/// grouping (Chan, Golub & `LeVeque` 1983, eq. 2.1). What comes of it is that of all rows at once, up to
/// rounding: for n rows of a column with deviation s and greatest size M, the mean to `4 n ε M` and the
/// variance to `8 n ε s (s + M) + (4 n ε M)²`, ε = 2⁻⁵³, at worst; a covariance likewise, with products of
/// both columns. In practice errors grow with √n. Rows in one order give the same bits, however they came
/// in blocks.
///
/// ```
/// use saltation::ensemble::Moments;
/// let (mut one, mut other) = (Moments::new(2)?, Moments::new(2)?);
/// one.add(&[1.0, 2.0])?;
/// other.add(&[3.0, 6.0])?;
/// other.add(&[2.0, f64::NAN])?; // counted apart
/// one.merge(&other)?;
/// assert_eq!((one.count(), one.skipped(), one.mean()), (2, 1, &[2.0, 4.0][..]));
/// assert_eq!(one.covariance()[(0, 1)], 4.0);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    count: u64,
    skipped: u64,
    mean: Vec<f64>,
    /// Sums of the products of deviations from the mean, the lower triangle row by row.
    products: Vec<f64>,
    /// Of the row that is added.
    deviation: Vec<f64>,
}

impl Moments {
    /// Of so many columns, at most 1000.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] for more.
    pub fn new(columns: usize) -> Result<Self, InputError> {
        let rule = "must be at most 1000";
        validate::unless(columns <= MOST_COLUMNS, "columns", columns as f64, rule)?;
        Ok(Self {
            count: 0,
            skipped: 0,
            mean: vec![0.0; columns],
            products: vec![0.0; columns * (columns + 1) / 2],
            deviation: vec![0.0; columns],
        })
    }

    /// Adds a row. One with a number that is not finite is counted as skipped and left out.
    ///
    /// # Errors
    /// [`InputError::WrongLength`].
    pub fn add(&mut self, row: &[f64]) -> Result<(), InputError> {
        validate::length("the row", self.mean.len(), row.len())?;
        if !row.iter().all(|x| x.is_finite()) {
            self.skipped += 1;
            return Ok(());
        }
        self.count += 1;
        for (deviation, (x, mean)) in self.deviation.iter_mut().zip(row.iter().zip(&self.mean)) {
            *deviation = x - mean;
        }
        // The mean moves by d/n, and the sum of products grows by d dᵀ (n − 1)/n.
        let n = self.count as f64;
        self.grow(1.0 / n, (n - 1.0) / n);
        Ok(())
    }

    /// Adds all rows of a block.
    ///
    /// # Errors
    /// As [`add`](Self::add).
    pub fn add_rows(&mut self, rows: &Rows) -> Result<(), EnsembleFailure> {
        Ok(rows.iter().try_for_each(|row| self.add(row.values))?)
    }

    /// Adds all that another has seen.
    ///
    /// # Errors
    /// [`InputError::WrongLength`] for another number of columns.
    pub fn merge(&mut self, other: &Self) -> Result<(), InputError> {
        validate::length("the columns", self.mean.len(), other.mean.len())?;
        self.skipped += other.skipped;
        if other.count == 0 {
            return Ok(());
        }
        let (own, theirs) = (self.count as f64, other.count as f64);
        self.count += other.count;
        for (deviation, (b, a)) in
            (self.deviation.iter_mut()).zip(other.mean.iter().zip(&self.mean))
        {
            *deviation = b - a;
        }
        // With d the difference of the means: S = S_a + S_b + d dᵀ n_a n_b/n.
        for (product, theirs) in self.products.iter_mut().zip(&other.products) {
            *product += theirs;
        }
        let share = theirs / (own + theirs);
        self.grow(share, own * share);
        Ok(())
    }

    /// Moves the mean by a share of the deviation `d`, and adds `weight d dᵀ` to the products.
    fn grow(&mut self, share: f64, weight: f64) {
        let mut products = self.products.iter_mut();
        for (i, a) in self.deviation.iter().enumerate() {
            for (b, product) in self.deviation[..=i].iter().zip(&mut products) {
                *product += weight * a * b;
            }
        }
        for (mean, deviation) in self.mean.iter_mut().zip(&self.deviation) {
            *mean += share * deviation;
        }
    }

    /// Rows that were added.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Rows with a number that is not finite.
    pub fn skipped(&self) -> u64 {
        self.skipped
    }

    /// The mean of each column; zeros without rows.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The covariance of the columns, with n − 1 in the denominator; NaN for fewer than two rows.
    pub fn covariance(&self) -> DMatrix<f64> {
        let n = self.mean.len();
        let freedom = if self.count > 1 {
            (self.count - 1) as f64
        } else {
            f64::NAN
        };
        DMatrix::from_fn(n, n, |i, j| {
            let (i, j) = (i.max(j), i.min(j));
            self.products[i * (i + 1) / 2 + j] / freedom
        })
    }
}
