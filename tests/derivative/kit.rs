//! A kit of problems whose derivatives are known exactly: random runs through corners of piecewise
//! constant fields.
//!
//! To first order every corner of an event-selected system is one of these, so code that is right
//! on them has the corner right. Nothing here knows how a derivative is computed: [`Course`] is
//! data, [`Oracle`](crate::exact::Oracle) follows a displaced start through it in exact rational
//! arithmetic.
//!
//! * [`Course::through`]: independent guards in one or several corners. Every order of the guards
//!   of a corner is taken by some directions.
//! * [`Course::crowded`]: more guards than dimensions, one corner. Few orders are taken.
//! * [`Course::additive`]: every guard adds a jump that no other guard feels. The derivative is
//!   linear, in closed form.
//! * [`Course::lay`]: normals and fields of your own, corners where you want them.
//! * [`Course::renumbered`]: the same with other numbers for the guards.
//! * [`Course::spaced`]: the guards of its corner pulled apart in time.
//!
//! ```text
//! let course = Course::through(&[3], 4, &mut Draw(1));          // three guards at one instant, in four dimensions
//! let exact = Oracle::new(&course).along(&[0.5, -1.0, 0.25, 0.75]);
//! exact.state    // B(v), d numbers, rounded once
//! exact.shifts   // by how much the crossing of each guard is later, per unit of v
//! exact.orders   // for each corner, its guards as this direction meets them
//! ```
//!
//! All data are numbers of few bits: normals multiples of 2^−10, fields of 2^−20, points and times
//! of 2^−8 at the first corner. Offsets and starts then are exact too, so that all guards of a
//! corner do pass through one point.

use saltation::models::FieldTable;
use saltation::nalgebra::DMatrix;

use crate::draw::{Draw, round};

/// Slowest and fastest approach to a guard that independent courses have.
const RATES: (f64, f64) = (0.2, 3.0);

/// One corner of a course; a single guard is an ordinary crossing.
#[derive(Clone, Debug)]
pub(crate) struct Stop {
    pub(crate) t: f64,
    pub(crate) guards: Vec<usize>,
}

/// A system `x' = F_b`, constant in each mode `b`, and a start from which a run passes its corners.
///
/// Guard `k` is `normals[k] · x = offsets[k]`, crossed upward once; bit `k` of the word `b` is on
/// from then.
#[derive(Clone, Debug)]
pub(crate) struct Course {
    /// One row a guard.
    pub(crate) normals: DMatrix<f64>,
    pub(crate) offsets: Vec<f64>,
    /// One column a word.
    pub(crate) fields: DMatrix<f64>,
    pub(crate) start: Vec<f64>,
    pub(crate) stops: Vec<Stop>,
    pub(crate) end: f64,
}

impl Course {
    /// Corners at times from now: the first at `point`, each next one where the run has come by
    /// then. Each field must move toward every guard that is not crossed in its word.
    pub(crate) fn lay(
        normals: DMatrix<f64>,
        fields: DMatrix<f64>,
        point: &[f64],
        stops: Vec<Stop>,
    ) -> Self {
        let first = &stops[0];
        let start = moved(point, -first.t, &fields, 0);
        let mut offsets = vec![f64::NAN; normals.nrows()];
        let (mut x, mut t, mut word) = (point.to_vec(), first.t, 0);
        for stop in &stops {
            x = moved(&x, stop.t - t, &fields, word);
            t = stop.t;
            for &k in &stop.guards {
                offsets[k] = along(&normals, k, &x);
                word |= 1 << k;
            }
        }
        Self {
            normals,
            offsets,
            fields,
            start,
            stops,
            end: t + 0.25,
        }
    }

    /// Corners of `sizes[0]`, `sizes[1]`, … guards in `dim` dimensions, at least as many as there
    /// are guards; all normals independent, none nearly parallel, every mode moves toward every
    /// guard at 0.2 to 3.
    pub(crate) fn through(sizes: &[usize], dim: usize, draw: &mut Draw) -> Self {
        let n = sizes.iter().sum();
        let (normals, inverse) = independent_normals(n, dim, draw);
        let mut fields = DMatrix::zeros(dim, 1 << n);
        for mut field in fields.column_iter_mut() {
            let (slow, fast) = RATES;
            let rates = DMatrix::from_fn(n, 1, |_, _| draw.between(slow + 1e-4, fast - 1e-4));
            let free = DMatrix::from_fn(dim, 1, |_, _| draw.between(-1.0, 1.0));
            let toward = &free + &inverse * (rates - &normals * &free);
            field.copy_from(&toward.map(|v| round(v, 20)));
        }
        let mut t = 0.0;
        let mut numbers = draw.permutation(n).into_iter();
        let stop = |&size: &usize| {
            t += draw.rounded(0.1, 0.5, 8);
            let guards = numbers.by_ref().take(size).collect();
            Stop { t, guards }
        };
        let stops = sizes.iter().map(stop).collect();
        let point: Vec<f64> = (0..dim).map(|_| draw.rounded(-1.0, 1.0, 8)).collect();
        Self::lay(normals, fields, &point, stops)
    }

    /// One corner of `n` guards, as many as you like, in `dim` ≥ 2 dimensions; every mode moves
    /// toward every guard at 0.2 at least.
    pub(crate) fn crowded(n: usize, dim: usize, draw: &mut Draw) -> Self {
        let last = dim - 1;
        let normals = DMatrix::from_fn(n, dim, |_, i| {
            let low = if i == last { 0.25 } else { -1.0 };
            draw.rounded(low, 1.0, 10)
        });
        let mut fields = DMatrix::zeros(dim, 1 << n);
        for mut field in fields.column_iter_mut() {
            loop {
                let trial = DMatrix::from_fn(dim, 1, |i, _| {
                    let (low, high) = if i == last { (0.5, 3.0) } else { (-1.0, 1.0) };
                    draw.rounded(low, high, 20)
                });
                if (&normals * &trial).min() >= RATES.0 {
                    field.copy_from(&trial);
                    break;
                }
            }
        }
        let point: Vec<f64> = (0..dim).map(|_| draw.rounded(-1.0, 1.0, 8)).collect();
        Self::lay(normals, fields, &point, vec![corner_of(n, draw)])
    }

    /// One corner; the guards are the first `n` of `dim` ≥ `n` axes. Guard `k` adds a jump to the
    /// field, along its own axis and the axes that carry no guard, whatever the others did.
    ///
    /// The derivative is `I + Σ_k jump_k e_kᵀ / (F_0)_k`, the second thing returned.
    pub(crate) fn additive(n: usize, dim: usize, draw: &mut Draw) -> (Self, DMatrix<f64>) {
        let before = DMatrix::from_fn(dim, 1, |_, _| draw.rounded(0.5, 2.0, 20));
        let jumps = DMatrix::from_fn(dim, n, |i, k| {
            let felt = i == k || i >= n;
            let jump = draw.rounded(-0.25, 2.0, 20);
            if felt { jump } else { 0.0 }
        });
        let fields = DMatrix::from_fn(dim, 1 << n, |i, word| {
            let on = (0..n).filter(|k| word >> k & 1 == 1);
            before[i] + on.map(|k| jumps[(i, k)]).sum::<f64>()
        });
        let point: Vec<f64> = (0..dim).map(|_| draw.rounded(-1.0, 1.0, 8)).collect();
        let normals = DMatrix::identity(n, dim);
        let course = Self::lay(normals, fields, &point, vec![corner_of(n, draw)]);
        let derivative = DMatrix::from_fn(dim, dim, |i, k| {
            let unit = f64::from(u8::from(i == k));
            if k < n {
                unit + jumps[(i, k)] / before[k]
            } else {
                unit
            }
        });
        (course, derivative)
    }

    /// The same course with guard `inside[k]` as number `k`.
    pub(crate) fn renumbered(&self, inside: &[usize]) -> Self {
        let n = inside.len();
        let within = |word: usize| -> usize {
            let on = (0..n).filter(|k| word >> k & 1 == 1);
            on.map(|k| 1 << inside[k]).sum()
        };
        let outside = |k: &usize| {
            inside
                .iter()
                .position(|j| j == k)
                .expect("a number for each")
        };
        let stop = |stop: &Stop| Stop {
            t: stop.t,
            guards: stop.guards.iter().map(outside).collect(),
        };
        Self {
            normals: DMatrix::from_fn(n, self.dim(), |k, i| self.normals[(inside[k], i)]),
            offsets: inside.iter().map(|&k| self.offsets[k]).collect(),
            fields: DMatrix::from_fn(self.dim(), 1 << n, |i, word| self.fields[(i, within(word))]),
            start: self.start.clone(),
            stops: self.stops.iter().map(stop).collect(),
            end: self.end,
        }
    }

    /// The same fields with the guards of the only corner moved, so that the run meets them in the
    /// order `order`, each `gap` after the one before.
    pub(crate) fn spaced(&self, order: &[usize], gap: f64) -> Self {
        let mut spaced = self.clone();
        let stop = &self.stops[0];
        let mut x = moved(&self.start, stop.t, &self.fields, 0);
        let (mut t, mut word) = (stop.t, 0);
        spaced.stops.clear();
        for &k in order {
            spaced.offsets[k] = round(along(&self.normals, k, &x), 45);
            spaced.stops.push(Stop { t, guards: vec![k] });
            word |= 1 << k;
            x = moved(&x, gap, &self.fields, word);
            t += gap;
        }
        spaced
    }

    pub(crate) fn dim(&self) -> usize {
        self.fields.nrows()
    }

    pub(crate) fn guards(&self) -> usize {
        self.offsets.len()
    }

    /// The system, for an integrator.
    pub(crate) fn system(&self) -> FieldTable {
        FieldTable::new(self.normals.clone(), &self.offsets, self.fields.clone())
            .expect("sizes that fit")
    }
}

fn moved(x: &[f64], time: f64, fields: &DMatrix<f64>, word: usize) -> Vec<f64> {
    let rates = fields.column(word);
    x.iter().zip(&rates).map(|(x, f)| x + time * f).collect()
}

fn along(normals: &DMatrix<f64>, k: usize, x: &[f64]) -> f64 {
    normals.row(k).iter().zip(x).map(|(a, x)| a * x).sum()
}

fn corner_of(n: usize, draw: &mut Draw) -> Stop {
    Stop {
        t: draw.rounded(0.1, 0.5, 8),
        guards: (0..n).collect(),
    }
}

/// Normals and a right inverse of them without large entries: of guards nearly parallel, some rates
/// need wild fields.
fn independent_normals(n: usize, dim: usize, draw: &mut Draw) -> (DMatrix<f64>, DMatrix<f64>) {
    loop {
        let rows = DMatrix::from_fn(n, dim, |_, _| draw.rounded(-1.0, 1.0, 10));
        if let Some(square) = (&rows * rows.transpose()).try_inverse() {
            let inverse = rows.transpose() * square;
            if inverse.amax() < 4.0 {
                return (rows, inverse);
            }
        }
    }
}
