//! A random corner that a trajectory meets exactly, and what may be said of displacements through
//! it.

use nalgebra::{DMatrix, DVector};
use saltation::models::FieldTable;
use saltation::{Error, EventFunction, Flow};

use crate::random::Random;

/// `n` oblique guards through the origin of `n` dimensions, a constant field for each word, and a
/// start that leads into the origin.
pub(crate) struct ExactCorner {
    pub(crate) table: FieldTable,
    pub(crate) start: DVector<f64>,
    /// When the origin is met [s].
    t: f64,
}

/// Nearest multiple of 2^−bits: products and sums of few such numbers are exact.
fn rounded(v: f64, bits: i32) -> f64 {
    let unit = 2f64.powi(-bits);
    (v / unit).round() * unit
}

impl ExactCorner {
    /// Each guard is crossed at a rate between 0.2 and 3 in every word.
    pub(crate) fn random(n: usize, random: &mut Random) -> Result<Self, Error> {
        let (normals, inverse) = loop {
            let normals = DMatrix::from_fn(n, n, |_, _| rounded(random.between(-1.0, 1.0), 10));
            // Guards that are nearly parallel would make fields large.
            match normals.clone().try_inverse() {
                Some(inverse) if inverse.amax() < 4.0 => break (normals, inverse),
                _ => {}
            }
        };
        let rates = DMatrix::from_fn(n, 1 << n, |_, _| random.between(0.2, 3.0));
        let fields = (inverse * rates).map(|v| rounded(v, 30));
        let t = rounded(random.between(0.1, 0.5), 8);
        let start = fields.column(0) * -t;
        let table = FieldTable::new(normals, &vec![0.0; n], fields)?;
        Ok(Self { table, start, t })
    }

    /// Late enough for every start within [`Self::STEP`] to have crossed every guard.
    pub(crate) fn end(&self) -> f64 {
        self.t + 0.25
    }

    /// How far the start is displaced for the exact derivative. Guards and fields have no scale
    /// around the corner, so that any displacement will do that neither has crossed a guard at the
    /// start nor has one left at the end; a difference across one so large is hardly rounded.
    const STEP: f64 = 1e-3;

    /// The derivative of the end along `v`: a displaced start carried from event to event, and what
    /// sets it apart from the run through the origin.
    pub(crate) fn exact(&self, v: &DVector<f64>) -> DVector<f64> {
        let through = self.field(self.words() - 1) * (self.end() - self.t);
        (self.event_by_event(&self.start + v * Self::STEP) - through) / Self::STEP
    }

    fn event_by_event(&self, mut x: DVector<f64>) -> DVector<f64> {
        let (mut t, mut word) = (0.0, 0);
        let guards = self.table.count();
        while word + 1 < self.words() {
            let field = self.field(word);
            let wait = |k: usize| -self.normal(k).dot(&x) / self.normal(k).dot(&field);
            let left = (0..guards).filter(|k| word >> k & 1 == 0);
            let waits = left.map(|k| (k, wait(k)));
            let Some((next, wait)) = waits.min_by(|a, b| a.1.total_cmp(&b.1)) else {
                break;
            };
            x += field * wait;
            t += wait;
            word |= 1 << next;
        }
        x + self.field(word) * (self.end() - t)
    }

    /// The saltation matrix of guard `k` crossed alone, from `word`: `I + (f⁺ − f⁻) Dh / (Dh f⁻)`.
    fn jump(&self, word: usize, k: usize) -> DMatrix<f64> {
        let (before, after) = (self.field(word), self.field(word | 1 << k));
        let normal = self.normal(k);
        let rate = normal.dot(&before);
        let dim = self.table.dim();
        DMatrix::identity(dim, dim) + (after - before) * normal.transpose() / rate
    }

    /// Single crossings one after the other, in the order of their numbers.
    pub(crate) fn in_index_order(&self) -> DMatrix<f64> {
        let dim = self.table.dim();
        (0..self.table.count()).fold(DMatrix::identity(dim, dim), |map, k| {
            self.jump((1 << k) - 1, k) * map
        })
    }

    /// The mean of that product over all orders. Word by word: in a random order each guard of a
    /// word is the last to be crossed as often as any other, so that n! products need 2^n means.
    pub(crate) fn mean_over_orders(&self) -> DMatrix<f64> {
        let (dim, guards) = (self.table.dim(), self.table.count());
        let mut means = vec![DMatrix::identity(dim, dim)];
        for word in 1..self.words() {
            let mut sum = DMatrix::zeros(dim, dim);
            for last in (0..guards).filter(|k| word >> k & 1 == 1) {
                let before = word & !(1 << last);
                sum += self.jump(before, last) * &means[before];
            }
            means.push(sum / f64::from(word.count_ones()));
        }
        means.pop().unwrap_or_default()
    }

    fn words(&self) -> usize {
        1 << self.table.count()
    }

    fn field(&self, word: usize) -> DVector<f64> {
        DVector::from_column_slice(self.table.field(word))
    }

    fn normal(&self, k: usize) -> DVector<f64> {
        DVector::from_column_slice(self.table.normal(k))
    }
}
