//! Lemke's complementary pivoting with lexicographic ties (Lemke 1965; Cottle, Pang & Stone, "The
//! Linear Complementarity Problem", 4.4 and 4.9).
//!
//! `w − W z − d z0 = q` with a covering vector `d > 0`. The artificial `z0` enters, then always the
//! complement of the variable that left, until `z0` leaves. Among rows of equal ratio `z0` goes
//! first; otherwise the rows of `[x B⁻¹]` decide, in which the columns of `B⁻¹` belong to `w`, and
//! none to `z0`.

use super::LcpFailure;
use super::blocks::{
    Block, Product, blocks_of, greater, known, known_mut, largest, reduce, reset, smaller,
};
use super::scaled::Scaled;
use crate::Interrupt;
use crate::random::word;

/// Rows take part in a ratio test above this pivot, relative to the column's largest or 1.
const LEAST_PIVOT: f64 = 1e-10;
/// Ratios and entries that differ by less are equal, relative to the sizes of the scaled problem:
/// about what rounding leaves of ties in contact problems of deficient rank. With 1e-12, and small
/// pivots allowed, a path in 300 is lost under a foot of twelve points; with 1e-14 one in five.
const TIE: f64 = 1e-11;
/// Tied rows with a pivot smaller than this, relative to the largest of them, are passed over: such
/// a pivot is often rounding of zero, and the path ends in a false ray. The only departure from the
/// lexicographic rule.
const SMALL_AMONG_TIED: f64 = 1e-3;

/// No variable.
const FREE: usize = usize::MAX;
/// Beyond this times n pivots a path is tested for cycles.
const LONG: usize = 50;

/// The end of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum End {
    /// `z0` left.
    Complementary,
    /// No row limits the variable that enters.
    Ray,
    /// More pivots than allowed, or a cycle.
    MaxPivots,
    /// The basis became singular or the numbers overflowed: rounding spoilt the path.
    Lost,
}

/// Workspace of a path. Variables are numbered `w_j = j`, `z_j = n + j`, `z0 = 2n`.
#[derive(Clone, Debug, Default)]
pub(super) struct Lemke {
    n: usize,
    pub(super) pivots: usize,
    /// Of each row, the variable that is basic.
    basic: Vec<usize>,
    /// `B⁻¹`.
    product: Product,
    /// Values of the basic variables.
    x: Vec<Block>,
    /// The entering variable, and its column `B⁻¹ ·`.
    entering: usize,
    column: Vec<Block>,
    /// Rows whose ratios are equal.
    tied: Vec<usize>,
    /// Rows of `B⁻¹` to be compared.
    first_row: Vec<Block>,
    other_row: Vec<Block>,
    /// The basis as it is rebuilt, [`FREE`] where free.
    anew: Vec<usize>,
}

impl Lemke {
    pub(super) fn reserve(&mut self, n: usize) {
        // Without it the buffers grow when they are filled.
        let blocks = blocks_of(n);
        self.product.reserve(n);
        for v in [
            &mut self.x,
            &mut self.column,
            &mut self.first_row,
            &mut self.other_row,
        ] {
            let _ = v.try_reserve(blocks);
        }
        for v in [&mut self.basic, &mut self.tied, &mut self.anew] {
            let _ = v.try_reserve(n);
        }
    }

    /// Follows the path of a problem (`n ≥ 1`, some `q < 0`) with a covering vector, `d > 0` in
    /// scaled units.
    pub(super) fn run(
        &mut self,
        problem: &Scaled,
        cover: &[Block],
        most: usize,
        interrupt: Option<&Interrupt>,
    ) -> Result<End, LcpFailure> {
        self.start(problem, cover);
        // Loops over few blocks are compiled for their number.
        match problem.blocks {
            1 => self.follow::<1>(problem, cover, most, interrupt),
            2 => self.follow::<2>(problem, cover, most, interrupt),
            3 => self.follow::<3>(problem, cover, most, interrupt),
            4 => self.follow::<4>(problem, cover, most, interrupt),
            5 => self.follow::<5>(problem, cover, most, interrupt),
            6 => self.follow::<6>(problem, cover, most, interrupt),
            7 => self.follow::<7>(problem, cover, most, interrupt),
            _ => self.follow::<0>(problem, cover, most, interrupt),
        }
    }

    fn follow<const N: usize>(
        &mut self,
        problem: &Scaled,
        cover: &[Block],
        most: usize,
        interrupt: Option<&Interrupt>,
    ) -> Result<End, LcpFailure> {
        let mut marked = None;
        while self.pivots < most {
            interrupt.map_or(Ok(()), Interrupt::check)?;
            if self.pivots >= LONG * self.n && self.comes_back(&mut marked) {
                return Ok(End::MaxPivots);
            }
            if self.product.is_long(self.n) && !self.make_anew(problem, cover) {
                return Ok(End::Lost);
            }
            self.form_column::<N>(problem, cover);
            let row = match self.leaving_row::<N>() {
                Some(row) => row,
                // A ray counts only with a basis that was factorised afresh.
                None if self.make_anew(problem, cover) => {
                    self.form_column::<0>(problem, cover);
                    match self.leaving_row::<0>() {
                        Some(row) => row,
                        None if largest(&self.column).is_finite() => return Ok(End::Ray),
                        None => return Ok(End::Lost),
                    }
                }
                None => return Ok(End::Lost),
            };
            let leaving = std::mem::replace(&mut self.basic[row], self.entering);
            self.product.push::<N>(row, &self.column, &mut self.x);
            self.pivots += 1;
            if leaving == 2 * self.n {
                return Ok(End::Complementary);
            }
            self.entering = self.complement(leaving);
        }
        Ok(End::MaxPivots)
    }

    /// True when the basis returns to one that was marked, which only rounding can cause. Marks are
    /// set ever later (Brent 1980).
    #[cold]
    fn comes_back(&self, marked: &mut Option<u64>) -> bool {
        let keys = self.basic.iter().map(|&variable| word(0, variable as u64));
        let key = keys.fold(word(1, self.entering as u64), |sum, key| sum ^ key);
        if *marked == Some(key) {
            return true;
        }
        if self.pivots.is_power_of_two() {
            *marked = Some(key);
        }
        false
    }

    /// The indices of the basic `z`, ascending, of a complementary basis.
    pub(super) fn basis(&mut self, set: &mut Vec<usize>) {
        let n = self.n;
        self.anew.clear();
        self.anew.resize(n, FREE);
        for &variable in self.basic.iter().filter(|&&v| v >= n) {
            if let Some(place) = self.anew.get_mut(variable - n) {
                *place = variable;
            }
        }
        set.clear();
        set.extend((0..n).filter(|&i| self.anew[i] != FREE));
    }

    /// The rates of `z` along the ray, in units of the scaled problem.
    pub(super) fn ray(&self, rates: &mut [f64]) {
        let n = self.n;
        rates.fill(0.0);
        let column = &self.column.as_flattened()[..n];
        for (&variable, a) in self.basic.iter().zip(column) {
            if (n..2 * n).contains(&variable) {
                rates[variable - n] = (-a).max(0.0);
            }
        }
        if (n..2 * n).contains(&self.entering) {
            rates[self.entering - n] = 1.0;
        }
    }

    fn complement(&self, variable: usize) -> usize {
        if variable < self.n {
            variable + self.n
        } else {
            variable - self.n
        }
    }

    /// `z0` enters, and the first row leaves in the lexicographic order of `[q I]/d`: among equal
    /// ratios the last one.
    fn start(&mut self, problem: &Scaled, cover: &[Block]) {
        let n = problem.n;
        self.n = n;
        self.pivots = 1;
        self.basic.clear();
        self.basic.extend(0..n);
        self.product.clear(n);
        self.x.clone_from(&problem.q);
        reset(&mut self.column, problem.blocks);
        let (q, d) = (problem.q.as_flattened(), cover.as_flattened());
        let ratio = |i: usize| q[i] / d[i];
        let least = (0..n).map(ratio).fold(0.0, f64::min);
        let row = (0..n)
            .rev()
            .find(|&i| ratio(i) <= least * (1.0 - TIE))
            .unwrap_or(0);
        for (a, d) in self.column.iter_mut().zip(cover) {
            *a = d.map(|d| -d);
        }
        self.product.push::<0>(row, &self.column, &mut self.x);
        let leaving = std::mem::replace(&mut self.basic[row], 2 * n);
        self.entering = self.complement(leaving);
    }

    /// `column = B⁻¹ ·` of the entering variable.
    #[inline(always)]
    fn form_column<const N: usize>(&mut self, problem: &Scaled, cover: &[Block]) {
        let column = known_mut::<N>(&mut self.column);
        load(column, self.entering, problem, cover);
        self.product.apply::<N>(column);
    }

    /// The row of least ratio, none when no row limits.
    #[inline(never)]
    fn leaving_row<const N: usize>(&mut self) -> Option<usize> {
        let n = self.n;
        let (x, a) = (known::<N>(&self.x), known::<N>(&self.column));
        let least_pivot = LEAST_PIVOT * greater(largest(a), 1.0);
        let mut least = [f64::INFINITY; 4];
        for (x, a) in x.iter().zip(a) {
            for lane in 0..4 {
                let value = greater(x[lane], 0.0);
                let ratio = if a[lane] > least_pivot {
                    value / a[lane]
                } else {
                    f64::INFINITY
                };
                // One that is not a number is passed over.
                least[lane] = smaller(ratio, least[lane]);
            }
        }
        let least = reduce(least, smaller);
        if least == f64::INFINITY {
            return None;
        }
        self.tied.clear();
        let (x, a) = (&x.as_flattened()[..n], &a.as_flattened()[..n]);
        for (i, (&x, &a)) in x.iter().zip(a).enumerate() {
            if a > least_pivot && x <= least * a + TIE * greater(x, 1.0) {
                if self.basic[i] == 2 * n {
                    return Some(i);
                }
                self.tied.push(i);
            }
        }
        match *self.tied {
            [row] => Some(row),
            _ => self.first_of_tied(),
        }
    }

    /// Of the rows of equal ratio, the lexicographically least row of `B⁻¹`, each over its pivot.
    #[cold]
    fn first_of_tied(&mut self) -> Option<usize> {
        let a = self.column.as_flattened();
        let most = self.tied.iter().fold(0.0f64, |most, &i| most.max(a[i]));
        self.tied.retain(|&i| a[i] >= SMALL_AMONG_TIED * most);
        let (&first, others) = self.tied.split_first()?;
        let mut best = first;
        row_of_inverse(&self.product, best, &mut self.first_row, self.x.len());
        for &other in others {
            row_of_inverse(&self.product, other, &mut self.other_row, self.x.len());
            let rows = self
                .first_row
                .as_flattened()
                .iter()
                .zip(self.other_row.as_flattened());
            let first_difference = rows
                .map(|(p, q)| (p / a[best], q / a[other]))
                .find(|(p, q)| (p - q).abs() > TIE * p.abs().max(q.abs()).max(1.0));
            if first_difference.is_some_and(|(p, q)| q < p) {
                best = other;
                std::mem::swap(&mut self.first_row, &mut self.other_row);
            }
        }
        Some(best)
    }

    /// The basis at hand with fresh pivots, each on the largest entry that is left; false when it
    /// is singular.
    #[cold]
    fn make_anew(&mut self, problem: &Scaled, cover: &[Block]) -> bool {
        let n = self.n;
        self.product.clear(n);
        self.anew.clear();
        self.anew.resize(n, FREE);
        self.x.clone_from(&problem.q);
        for &variable in self.basic.iter().filter(|&&v| v < n) {
            self.anew[variable] = variable;
        }
        for i in 0..n {
            let variable = self.basic[i];
            if variable < n {
                continue;
            }
            load(&mut self.column, variable, problem, cover);
            self.product.apply::<0>(&mut self.column);
            let a = self.column.as_flattened();
            let free = (0..n).filter(|&row| self.anew[row] == FREE);
            let Some(row) = free.max_by(|&p, &q| a[p].abs().total_cmp(&a[q].abs())) else {
                return false;
            };
            let sound = a[row].abs() > 1e-13 && a[row].is_finite();
            if !sound {
                return false;
            }
            self.anew[row] = variable;
            self.product.push::<0>(row, &self.column, &mut self.x);
        }
        std::mem::swap(&mut self.basic, &mut self.anew);
        true
    }
}

/// The column of a variable.
#[inline(always)]
fn load(column: &mut [Block], variable: usize, problem: &Scaled, cover: &[Block]) {
    let n = problem.n;
    if variable < n {
        column.fill([0.0; 4]);
        column.as_flattened_mut()[variable] = 1.0;
    } else if variable < 2 * n {
        column.copy_from_slice(problem.column(variable - n));
    } else {
        for (a, d) in column.iter_mut().zip(cover) {
            *a = d.map(|d| -d);
        }
    }
}

fn row_of_inverse(product: &Product, row: usize, to: &mut Vec<Block>, blocks: usize) {
    reset(to, blocks);
    to.as_flattened_mut()[row] = 1.0;
    product.apply_transposed(to);
}
