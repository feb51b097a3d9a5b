//! Random corners: n guards through one point, or nearly so, constant fields, against an exact
//! rational computation; and a hundred guards at once.

use nalgebra::DMatrix;
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{FromPrimitive, Signed, ToPrimitive, Zero};
use saltation::models::FieldTable;
use saltation::{Direction, Guard, Integrator, Projection, Rearm, Run, Start, Status, flow_fn};

use crate::fixtures::support::{Permuted, SplitMix64, distance, run};

/// All data of one problem in units of 2^−DATA, exactly.
const DATA: i32 = 110;

/// n oblique guards `n_k · x = c_k` in R^n, one constant field for each of the 2^n modes.
pub(crate) struct CornerProblem {
    n: usize,
    normals: Vec<Vec<f64>>,
    offsets: Vec<f64>,
    /// By mode: bit k is guard k.
    fields: Vec<Vec<f64>>,
    pub(crate) start: Vec<f64>,
    corner_time: f64,
}

/// The final state and the time of each crossing, rounded once from exact rationals.
struct Exact {
    state: Vec<f64>,
    times: Vec<f64>,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Nearest multiple of 2^−bits.
fn rounded(v: f64, bits: i32) -> f64 {
    let unit = 2f64.powi(-bits);
    (v / unit).round() * unit
}

/// Inverse by Gauss and Jordan, or nothing when an entry exceeds `most`: guards that are nearly
/// parallel.
pub(crate) fn inverse(rows: &[Vec<f64>], most: f64) -> Option<Vec<Vec<f64>>> {
    let n = rows.len();
    let mut a: Vec<Vec<f64>> = (0..n)
        .map(|i| {
            let unit = (0..n).map(|j| f64::from(u8::from(i == j)));
            rows[i].iter().copied().chain(unit).collect()
        })
        .collect();
    for i in 0..n {
        let pivot = (i..n).max_by(|&p, &q| a[p][i].abs().total_cmp(&a[q][i].abs()))?;
        a.swap(i, pivot);
        let scale = a[i][i];
        if scale == 0.0 {
            return None;
        }
        a[i].iter_mut().for_each(|v| *v /= scale);
        let row = a[i].clone();
        for (k, other) in a.iter_mut().enumerate() {
            let factor = other[i];
            if k != i && factor != 0.0 {
                other
                    .iter_mut()
                    .zip(&row)
                    .for_each(|(o, r)| *o -= factor * r);
            }
        }
    }
    let inverse: Vec<Vec<f64>> = a.into_iter().map(|row| row[n..].to_vec()).collect();
    let sound = inverse.iter().flatten().all(|v| v.abs() < most);
    sound.then_some(inverse)
}

impl CornerProblem {
    /// All guards through one point that the trajectory meets exactly: products of few-bit numbers,
    /// nothing is rounded.
    pub(crate) fn random(n: usize, random: &mut SplitMix64) -> Self {
        let (normals, inverse) = loop {
            let rows: Vec<Vec<f64>> = (0..n)
                .map(|_| {
                    (0..n)
                        .map(|_| rounded(random.between(-1.0, 1.0), 10))
                        .collect()
                })
                .collect();
            if let Some(inverse) = inverse(&rows, 4.0) {
                break (rows, inverse);
            }
        };
        let fields: Vec<Vec<f64>> = (0..1 << n)
            .map(|_| {
                let rates: Vec<f64> = (0..n)
                    .map(|_| random.between(0.2 + 1e-6, 3.0 - 1e-6))
                    .collect();
                inverse
                    .iter()
                    .map(|row| rounded(dot(row, &rates), 30))
                    .collect()
            })
            .collect();
        let corner: Vec<f64> = (0..n)
            .map(|_| rounded(random.between(-1.0, 1.0), 8))
            .collect();
        let corner_time = rounded(random.between(0.1, 0.5), 8);
        let start = (0..n)
            .map(|i| corner[i] - corner_time * fields[0][i])
            .collect();
        let offsets = normals.iter().map(|row| dot(row, &corner)).collect();
        Self {
            n,
            normals,
            offsets,
            fields,
            start,
            corner_time,
        }
    }

    /// The guards moved by at most `size` each.
    pub(crate) fn moved(&self, size: f64, random: &mut SplitMix64) -> Self {
        Self {
            n: self.n,
            normals: self.normals.clone(),
            offsets: self
                .offsets
                .iter()
                .map(|c| c + random.between(-size, size))
                .collect(),
            fields: self.fields.clone(),
            start: self.start.clone(),
            corner_time: self.corner_time,
        }
    }

    /// After every crossing: the slowest guard, moved by 1e-2, is 1e-2 / 0.2 s late at its first
    /// and again at any mode.
    pub(crate) fn end(&self) -> f64 {
        self.corner_time + 0.25
    }

    pub(crate) fn table(&self) -> FieldTable {
        let n = self.n;
        let normals = DMatrix::from_fn(n, n, |k, i| self.normals[k][i]);
        let fields = DMatrix::from_fn(n, 1 << n, |i, mode| self.fields[mode][i]);
        FieldTable::new(normals, &self.offsets, fields).unwrap()
    }

    /// Event by event with integers over a common denominator: rows h, x and t advance together.
    fn exact(&self) -> Exact {
        let n = self.n;
        let shift = DATA;
        let integers = |v: &[f64]| -> Vec<BigInt> { v.iter().map(|&v| integer(v)).collect() };
        let normals: Vec<Vec<BigInt>> = self.normals.iter().map(|row| integers(row)).collect();
        let product = |row: &[BigInt], x: &[BigInt]| -> BigInt {
            row.iter().zip(x).map(|(a, b)| a * b).sum()
        };
        let start = integers(&self.start);
        let offsets = integers(&self.offsets);

        // Numerators over `denominator`: h_k, then x_i, then t.
        let mut denominator = BigInt::from(1) << (2 * shift);
        let h = (0..n).map(|k| product(&normals[k], &start) - (&offsets[k] << shift));
        let x = start.iter().map(|x| x << shift);
        let mut values: Vec<BigInt> = h.chain(x).chain([BigInt::zero()]).collect();
        // Their rates in the present mode, over 2^(2 shift).
        let rates_in = |mode: usize| -> Vec<BigInt> {
            let field = integers(&self.fields[mode]);
            let h = normals.iter().map(|row| product(row, &field));
            let x = field.iter().map(|f| f << shift);
            h.chain(x).chain([BigInt::from(1) << (2 * shift)]).collect()
        };

        let mut mode = 0;
        let mut times = vec![f64::NAN; n];
        let mut rates = rates_in(mode);
        for _ in 0..n {
            let ahead = (0..n).filter(|k| mode >> k & 1 == 0);
            // The earliest: least −h_k / r_k, all rates positive.
            let next = ahead.reduce(|best, k| {
                let sooner = -&values[k] * &rates[best] < -&values[best] * &rates[k];
                if sooner { k } else { best }
            });
            let next = next.expect("a guard is left");
            assert!(rates[next].is_positive() && !values[next].is_positive());
            let (q, r) = (-&values[next], rates[next].clone());
            for (value, rate) in values.iter_mut().zip(&rates) {
                *value = &*value * &r + &q * rate;
            }
            denominator *= &r;
            mode |= 1 << next;
            times[next] = ratio(&values[2 * n], &denominator);
            rates = rates_in(mode);
        }
        let one = BigInt::from(1) << (2 * shift);
        let left = (integer(self.end()) << shift) * &denominator - &values[2 * n] * &one;
        assert!(left.is_positive(), "the run ends after the last crossing");
        // x + left / (denominator · one) · rate / one
        let below = &denominator * &one * &one;
        let state =
            (n..2 * n).map(|i| ratio(&(&values[i] * &one * &one + &left * &rates[i]), &below));
        Exact {
            state: state.collect(),
            times,
        }
    }
}

/// `v` in units of 2^−DATA, exactly: a power of two changes no digit.
fn integer(v: f64) -> BigInt {
    let units = v * 2f64.powi(DATA);
    assert!(units.fract() == 0.0, "{v} is no multiple of the unit");
    BigInt::from_f64(units).expect("a finite number")
}

fn ratio(above: &BigInt, below: &BigInt) -> f64 {
    BigRational::new_raw(above.clone(), below.clone())
        .to_f64()
        .expect("a finite quotient")
}

#[test]
fn the_oracle_solves_a_corner_done_by_hand() {
    // Guards x = 0 and y = 1/16; from (−1/2, −1/2): x after 1/2 s, then the field (1/2, 3), y after
    // another 1/48 s.
    let problem = CornerProblem {
        n: 2,
        normals: vec![vec![1.0, 0.0], vec![0.0, 1.0]],
        offsets: vec![0.0, 0.0625],
        fields: vec![
            vec![1.0, 1.0],
            vec![0.5, 3.0],
            vec![0.0, 0.0],
            vec![2.0, 0.25],
        ],
        start: vec![-0.5, -0.5],
        corner_time: 0.5,
    };
    let exact = problem.exact();
    let left = 0.75 - 0.5 - 1.0 / 48.0;
    assert!(
        (exact.times[0] - 0.5).abs() < 1e-15 && (exact.times[1] - (0.5 + 1.0 / 48.0)).abs() < 1e-15
    );
    assert!((exact.state[0] - (0.5 / 48.0 + 2.0 * left)).abs() < 1e-15);
    assert!((exact.state[1] - (0.0625 + 0.25 * left)).abs() < 1e-15);
}

/// Every guard once, upward, at its time, and the final state; `inside` gives the oracle's number
/// of each guard.
fn agrees(trajectory: &Run, exact: &Exact, inside: &[usize], what: &str) {
    assert_eq!(*trajectory.status(), Status::ReachedEnd, "{what}");
    let n = inside.len();
    let crossings = trajectory.crossings();
    assert_eq!(crossings.len(), n, "{what}: crossings");
    let mut seen = vec![false; n];
    for crossing in crossings {
        let k = inside[crossing.guard.event];
        assert!(
            !seen[k] && crossing.guard.direction == Direction::Rising,
            "{what}: guard {k}"
        );
        seen[k] = true;
        let late = crossing.t - exact.times[k];
        assert!(late.abs() < 1e-10, "{what}: guard {k} is {late:e} s late");
    }
    assert_eq!(trajectory.mode().count_ones(), n, "{what}");
    let error = distance(trajectory.state(), &exact.state);
    assert!(error < 1e-10, "{what}: final error {error:e}");
}

fn corners_of(n: usize, seed: u64) {
    let mut random = SplitMix64(seed);
    for sample in 0..if cfg!(debug_assertions) { 250 } else { 1000 } {
        let through = CornerProblem::random(n, &mut random);
        let off = [1e-9, 1e-2].map(|size| (size, through.moved(size, &mut random)));
        for (size, problem) in std::iter::once((0.0, through)).chain(off) {
            let exact = problem.exact();
            let table = problem.table();
            let numbers: Vec<usize> = (0..n).collect();
            let shuffled = random.permutation(n);
            let other = Permuted::new(problem.table(), shuffled.clone());
            for projection in [Projection::Auto, Projection::Off] {
                let what = format!("corner {sample} of {n} guards, {size:e} off, {projection:?}");
                let plain = run(
                    &table,
                    1e-6,
                    projection.clone(),
                    &problem.start,
                    problem.end(),
                );
                agrees(&plain, &exact, &numbers, &what);
                let what = format!("{what}, renumbered {shuffled:?}");
                let renumbered = run(&other, 1e-6, projection, &problem.start, problem.end());
                agrees(&renumbered, &exact, &shuffled, &what);
            }
        }
    }
}

#[test]
fn random_corners_of_two_guards() {
    corners_of(2, 2);
}

#[test]
fn random_corners_of_three_guards() {
    corners_of(3, 3);
}

#[test]
fn random_corners_of_eight_guards() {
    corners_of(8, 8);
}

const MANY: usize = 100;

#[test]
fn a_hundred_guards_within_a_microsecond_are_reported_in_order() {
    let mut random = SplitMix64(100);
    // One in each slot of 1e-8 m, at least 2e-10 m apart, numbered at random.
    let mut places = vec![0.0; MANY];
    for (slot, k) in random.permutation(MANY).into_iter().enumerate() {
        places[k] = 0.5 + 1e-8 * (slot as f64 + random.between(0.0, 0.98));
    }
    let mut order: Vec<usize> = (0..MANY).collect();
    order.sort_by(|&a, &b| places[a].total_cmp(&places[b]));
    // The speed grows by 1 % with each guard.
    let speed = |passed: usize| 1.0 + 0.01 * passed as f64;
    let mut times = vec![places[order[0]]];
    for i in 1..MANY {
        times.push(times[i - 1] + (places[order[i]] - places[order[i - 1]]) / speed(i));
    }
    let end = places[order[MANY - 1]] + (1.0 - times[MANY - 1]) * speed(MANY);

    let here = places.clone();
    let row = flow_fn(1, move |_, _, mode, dx| dx[0] = speed(mode.count_ones()))
        .with_events(MANY, move |k, _, x| x[0] - here[k]);
    for projection in [
        Projection::Auto,
        Projection::Off,
        Projection::horizon(1e-6, 1),
        Projection::eps(1e-7, 1),
    ] {
        let trajectory = Integrator::new(&row)
            .unwrap()
            .projection(projection.clone())
            .corner_tolerance(1e-6)
            .integrate(&Start::at(0.0).x(&[0.0]), 1.0)
            .unwrap();
        assert_eq!(*trajectory.status(), Status::ReachedEnd);
        let crossings = trajectory.crossings();
        let reported: Vec<usize> = crossings.iter().map(|c| c.guard.event).collect();
        assert_eq!(reported, order, "{projection:?}");
        for (crossing, time) in crossings.iter().zip(&times) {
            let late = crossing.t - time;
            // Well below the least distance of two guards.
            assert!(late.abs() < 1e-12, "{projection:?}: {late:e} s late");
        }
        assert!(
            (trajectory.state()[0] - end).abs() < 1e-10,
            "{projection:?}"
        );
        let [corner] = trajectory.corners() else {
            panic!("{projection:?}: {} corners", trajectory.corners().len());
        };
        assert!(
            corner
                .order
                .iter()
                .map(|guard| guard.event)
                .eq(order.iter().copied())
        );
        assert!(corner.spread > 0.0 && corner.spread <= 1e-6);
    }
}

fn all_at_once(unit: impl Fn(usize) -> f64) {
    let units: Vec<f64> = (0..MANY).map(unit).collect();
    let row = flow_fn(1, |_, _, mode, dx| {
        dx[0] = 1.0 + 0.01 * mode.count_ones() as f64;
    })
    .with_events(MANY, |k, _, x| units[k] * (x[0] - 0.3));
    for projection in [
        Projection::Auto,
        Projection::Off,
        Projection::horizon(1e-3, 1),
    ] {
        for rearm in [Rearm::Pairs, Rearm::Never] {
            let trajectory = Integrator::new(&row)
                .unwrap()
                .projection(projection.clone())
                .rearm(rearm)
                .integrate(&Start::at(0.0).x(&[0.0]), 1.0)
                .unwrap();
            assert_eq!(*trajectory.status(), Status::ReachedEnd, "{projection:?}");
            assert_eq!(trajectory.crossings().len(), MANY, "{projection:?}");
            let [corner] = trajectory.corners() else {
                panic!("{projection:?}: {} corners", trajectory.corners().len());
            };
            let order: Vec<Guard> = (0..MANY).map(Guard::rising).collect();
            assert_eq!(
                corner.order, order,
                "{projection:?}: in rising order of their numbers"
            );
            assert!(corner.spread == 0.0 && (corner.t - 0.3).abs() < 1e-12);
            assert!(corner.margins.iter().all(|&margin| margin >= 1.0));
            assert_eq!(
                trajectory.modes().len(),
                2,
                "{projection:?}: all sides change at once"
            );
            let end = 0.3 + 0.7 * 2.0;
            assert!(
                (trajectory.state()[0] - end).abs() < 1e-10,
                "{projection:?}"
            );
        }
    }
}

#[test]
fn a_hundred_guards_at_one_instant_are_one_corner() {
    all_at_once(|_| 1.0);
}

#[test]
fn a_hundred_guards_of_different_units_at_one_instant_are_one_corner() {
    // From 1e-5 to 1e7 units per metre, in no particular order.
    let powers = [
        1e-5, 1e2, 1e-3, 1e4, 1e-1, 1e6, 1e1, 1e-4, 1e3, 1e-2, 1e5, 1.0, 1e7,
    ];
    all_at_once(|k| powers[k % powers.len()] * (1.0 + 0.37 * k as f64));
}
