//! The oracle of the kit: the flow of a course in exact rational arithmetic, from event to event.
//!
//! It does not know what a saltation matrix is, nor how a direction chooses its order. It displaces
//! the start by `s v`, follows both starts, and divides. That is no approximation: between its
//! corners a course is straight, so the quotient is the same for every `s` up to which no two
//! corners run into each other.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{FromPrimitive, One, Signed, ToPrimitive, Zero};
use saltation::nalgebra::DMatrix;

use crate::kit::Course;

/// All data are multiples of 2^−UNIT.
const UNIT: usize = 64;
/// Displacements are by 2^−STEP of the direction.
pub(crate) const STEP: usize = 30;

/// A course with its integers and its nominal run.
pub(crate) struct Oracle {
    normals: Vec<Vec<BigInt>>,
    offsets: Vec<BigInt>,
    /// One column a word.
    fields: DMatrix<f64>,
    start: Vec<BigInt>,
    end: BigInt,
    /// Guards of each corner.
    stops: Vec<Vec<usize>>,
    nominal: Run,
}

/// The directional derivative of a course, rounded once from exact rationals.
#[derive(Clone, Debug)]
pub(crate) struct Along {
    /// `B(v)`.
    pub(crate) state: Vec<f64>,
    /// Shift of the time of each guard.
    pub(crate) shifts: Vec<f64>,
    /// For each corner its guards in the order in which this direction meets them.
    pub(crate) orders: Vec<Vec<usize>>,
}

/// A run: quotients of integers, in units of 2^(−2 UNIT).
#[derive(Clone, Debug, Default)]
struct Run {
    state: Vec<Quotient>,
    times: Vec<Quotient>,
    order: Vec<usize>,
}

#[derive(Clone, Debug)]
struct Quotient(BigInt, BigInt);

impl Quotient {
    /// `2^step (self − other)`, in ones.
    fn minus(&self, other: &Self, step: usize) -> f64 {
        let above = &self.0 * &other.1 - &other.0 * &self.1;
        let below = (&self.1 * &other.1) << (2 * UNIT);
        let quotient = BigRational::new_raw(above << step, below);
        quotient.to_f64().expect("a finite quotient")
    }
}

impl Oracle {
    pub(crate) fn new(course: &Course) -> Self {
        let (n, dim) = (course.guards(), course.dim());
        let row = |k: usize| (0..dim).map(|i| integer(course.normals[(k, i)])).collect();
        let normals: Vec<Vec<BigInt>> = (0..n).map(row).collect();
        let mut oracle = Self {
            fields: course.fields.clone(),
            offsets: integers(&course.offsets),
            start: integers(&course.start),
            end: integer(course.end),
            stops: course.stops.iter().map(|s| s.guards.clone()).collect(),
            nominal: Run::default(),
            normals,
        };
        oracle.nominal = oracle.run(&oracle.start);
        oracle
    }

    /// True when the nominal run meets guard `k` at exactly this time.
    pub(crate) fn meets_at(&self, k: usize, time: f64) -> bool {
        let Quotient(above, below) = &self.nominal.times[k];
        *above == (integer(time) << UNIT) * below
    }

    /// The derivative along `v`, whose entries are multiples of 2^−34.
    pub(crate) fn along(&self, v: &[f64]) -> Along {
        self.along_by(v, STEP)
    }

    /// As [`along`](Self::along), by a displacement of `2^−step v`.
    pub(crate) fn along_by(&self, v: &[f64], step: usize) -> Along {
        assert_eq!(v.len(), self.start.len());
        let small = 2f64.powi(-i32::try_from(step).expect("a small power"));
        let displaced = self
            .start
            .iter()
            .zip(v)
            .map(|(x, v)| x + integer(v * small));
        let run = self.run(&displaced.collect::<Vec<_>>());
        let shift = |(a, b): (&Quotient, &Quotient)| a.minus(b, step);
        let met_in = |guards: &Vec<usize>| {
            let met = run.order.iter().filter(|k| guards.contains(k));
            met.copied().collect()
        };
        Along {
            state: run
                .state
                .iter()
                .zip(&self.nominal.state)
                .map(shift)
                .collect(),
            shifts: run
                .times
                .iter()
                .zip(&self.nominal.times)
                .map(shift)
                .collect(),
            orders: self.stops.iter().map(met_in).collect(),
        }
    }

    /// Rates of `h`, `x` and `t` in a word, over 2^(2 UNIT).
    fn rates(&self, word: usize) -> Vec<BigInt> {
        let field = integers(self.fields.column(word).as_slice());
        let h = self.normals.iter().map(|row| product(row, &field));
        let x = field.iter().map(|f| f << UNIT);
        h.chain(x).chain([BigInt::one() << (2 * UNIT)]).collect()
    }

    /// Follows a start: `h`, `x` and `t` are numerators over `below`, which grows by a factor with
    /// each event.
    fn run(&self, start: &[BigInt]) -> Run {
        let n = self.offsets.len();
        let h = (0..n).map(|k| product(&self.normals[k], start) - (&self.offsets[k] << UNIT));
        let x = start.iter().map(|x| x << UNIT);
        let mut values: Vec<BigInt> = h.chain(x).chain([BigInt::zero()]).collect();
        let mut below = BigInt::one();
        let mut times = vec![Quotient(BigInt::zero(), BigInt::zero()); n];
        let (mut word, mut order) = (0, Vec::new());
        assert!(values[..n].iter().all(Signed::is_negative), "before all");
        for _ in 0..n {
            let rates = self.rates(word);
            let ahead = (0..n).filter(|k| word >> k & 1 == 0);
            let ahead = ahead.inspect(|&k| assert!(rates[k].is_positive()));
            // The earliest: least −h_k / rate_k.
            let next = ahead.reduce(|best, k| {
                let sooner = -&values[k] * &rates[best] < -&values[best] * &rates[k];
                if sooner { k } else { best }
            });
            let next = next.expect("a guard is left");
            assert!(!values[next].is_positive(), "guard {next} was missed");
            let (wait, rate) = (-&values[next], rates[next].clone());
            for (value, r) in values.iter_mut().zip(&rates) {
                *value = &*value * &rate + &wait * r;
            }
            below *= &rate;
            word |= 1 << next;
            times[next] = Quotient(values.last().expect("t").clone(), below.clone());
            order.push(next);
        }
        let left = (&self.end << UNIT) * &below - values.last().expect("t");
        assert!(left.is_positive(), "the run ends after the last crossing");
        // x + left · rate / 2^(2 UNIT), with left over `below` too.
        let rates = self.rates(word);
        let below = below << (2 * UNIT);
        let at_end = |i: usize| {
            let above = (&values[i] << (2 * UNIT)) + &left * &rates[i];
            Quotient(above, below.clone())
        };
        Run {
            state: (n..n + start.len()).map(at_end).collect(),
            times,
            order,
        }
    }
}

fn product(row: &[BigInt], x: &[BigInt]) -> BigInt {
    row.iter().zip(x).map(|(a, b)| a * b).sum()
}

fn integers(v: &[f64]) -> Vec<BigInt> {
    v.iter().copied().map(integer).collect()
}

/// `v` in units of 2^−UNIT, exactly: a power of two changes no digit.
fn integer(v: f64) -> BigInt {
    let units = v * (1u128 << UNIT) as f64;
    assert!(units.fract() == 0.0, "{v} is no multiple of the unit");
    BigInt::from_f64(units).expect("a finite number")
}
