//! Planes in constant fields, whose crossings are known to rounding: guards that enter their
//! neighbourhoods together under a fixed projection, and exact corners of many guards.

use saltation::{EventFunction, Flow, Integrator, Mode, Projection, Run, Start, Status};

use crate::random_corners::inverse;

/// Hash of a number (the finaliser of `SplitMix64`).
fn mix(z: u64) -> u64 {
    let z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A number in [0, 1) for each `z`.
fn unit(z: u64) -> f64 {
    (mix(z) >> 11) as f64 / (1u64 << 53) as f64
}

/// `n` guards `u_k (n_k · x − c_k)`, each watched both ways, in a field that is constant in each
/// mode: it moves guard `k` at the rate that `rate(mode, k)` draws, times `u_k`.
struct Planes {
    rate: Box<dyn Fn(u64, usize) -> f64>,
    rows: Vec<Vec<f64>>,
    /// Of the matrix of the rows.
    inverse: Vec<Vec<f64>>,
    offsets: Vec<f64>,
    units: Vec<f64>,
    /// Gradients are written.
    is_written: bool,
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl Planes {
    fn field(&self, mode: &Mode) -> Vec<f64> {
        let word = mode.words().next().unwrap_or(0);
        let rates: Vec<f64> = (0..self.rows.len()).map(|k| (self.rate)(word, k)).collect();
        self.inverse.iter().map(|row| dot(row, &rates)).collect()
    }
}

impl Flow for Planes {
    fn dim(&self) -> usize {
        self.rows.len()
    }
    fn flow(&self, _t: f64, _x: &[f64], mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&self.field(mode));
    }
}

impl EventFunction for Planes {
    fn count(&self) -> usize {
        self.rows.len()
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        self.units[k] * (dot(&self.rows[k], x) - self.offsets[k])
    }
    fn gradient(&self, k: usize, _t: f64, _x: &[f64], _mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        for (dh, row) in dh.iter_mut().zip(&self.rows[k]) {
            *dh = self.units[k] * row;
        }
        self.is_written.then_some(0.0)
    }
}

/// A run of planes, with the time at which each is to be crossed.
struct Case {
    system: Planes,
    start: Vec<f64>,
    t0: f64,
    times: Vec<f64>,
}

impl Case {
    /// A run that crosses each guard once.
    fn run(&self, projection: Projection, what: &str) -> Run {
        let mut integrator = Integrator::new(&self.system)
            .unwrap()
            .projection(projection);
        let run = integrator.integrate(&Start::at(self.t0).x(&self.start), self.t0 + 1.5);
        let run: Run = run.unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd, "{what}");
        assert_eq!(run.crossings().len(), self.times.len(), "{what}");
        run
    }
}

/// Planes of coordinates whose rates are multiples of a 16th: guards of equal rates enter
/// neighbourhoods of equal width together. Half of the guards are met at 0.5 s and the others at
/// 1 s, or, `apart`, guard `k` at `0.25 + k/4` s. All numbers are exact.
fn neighbours(seed: u64, apart: bool, is_written: bool, has_units: bool) -> Case {
    let n = 2 + (seed % 4) as usize;
    let rate = move |word: u64, i: usize| (4 + mix(mix(seed ^ word) ^ i as u64) % 37) as f64 / 16.0;
    let group = |k: usize| {
        if apart { k } else { usize::from(k >= n / 2) }
    };
    let time = |group: usize| {
        if apart {
            0.25 + 0.25 * group as f64
        } else {
            0.5 + 0.5 * group as f64
        }
    };
    let start: Vec<f64> = (0..n)
        .map(|i| (mix(seed * 13 + i as u64) % 65) as f64 / 16.0 - 2.0 - 0.5 * rate(0, i))
        .collect();
    let offsets = (0..n).map(|i| {
        let (mut at, mut word, mut t) = (start[i], 0, 0.0);
        for g in 0..=group(i) {
            at += rate(word, i) * (time(g) - t);
            word |= (0..n)
                .filter(|&k| group(k) == g)
                .map(|k| 1 << k)
                .sum::<u64>();
            t = time(g);
        }
        at
    });
    let units = (0..n as u64).map(|k| {
        let is_scaled = has_units && mix(seed * 31 + k).is_multiple_of(2);
        let power = if is_scaled {
            (mix(seed * 77 + k) % 41) as i32 - 20
        } else {
            0
        };
        2f64.powi(power)
    });
    let identity: Vec<Vec<f64>> = (0..n)
        .map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect())
        .collect();
    let system = Planes {
        rate: Box::new(rate),
        rows: identity.clone(),
        inverse: identity,
        offsets: offsets.collect(),
        units: units.collect(),
        is_written,
    };
    let times = (0..n).map(|k| time(group(k))).collect();
    Case {
        system,
        start,
        t0: 0.0,
        times,
    }
}

/// The width of the neighbourhoods.
const EPS: f64 = 0.02;

/// How late guards of [`neighbours`] may be crossed, at most, in the order of their crossings (s).
///
/// A landing misses its guard by rounding; where gradients are not written, also by the rounding of
/// the difference in place of the rate, carried over the way that is projected. What is closer than
/// twice that crosses with it. Crossings that are late change the rates of all others late, and
/// shift each by the change over the rate it is met at.
fn lateness(planes: &Planes, run: &Run) -> Vec<f64> {
    let n = planes.rows.len();
    let rate = |word: u64, k: usize| (planes.rate)(word, k);
    let mut word = 0;
    // The instants so far: the modes before and after, and how late they may be.
    let mut instants: Vec<([u64; 2], f64)> = vec![];
    let mut late = vec![];
    for crossings in run.crossings().chunk_by(|a, b| a.t.total_cmp(&b.t).is_eq()) {
        let crossing = &crossings[0];
        let size = crossing.state.amax().max(1.0);
        // A difference moves all coordinates, none by more than 6e-6 of its size, or of 1 where it
        // is smaller: rates are 2.5 at most.
        let difference = f64::EPSILON * size / (2.0 * 6e-6 / 2.5);
        let rate_error = if planes.is_written { 0.0 } else { difference };
        let least = (0..n).map(|k| rate(word, k)).fold(f64::INFINITY, f64::min);
        let rounding = 16.0 * f64::EPSILON * (crossing.t + size / least);
        let own = rounding + 2.0 * EPS * rate_error / (least * least);
        let mut latest: f64 = 0.0;
        let mut after = word;
        for k in crossings.iter().map(|crossing| crossing.guard.event) {
            let shift = |&([before, after], late): &([u64; 2], f64)| {
                (rate(after, k) - rate(before, k)).abs() * late
            };
            let shifts: f64 = instants.iter().map(shift).sum();
            late.push(own + shifts / rate(word, k));
            latest = latest.max(own + shifts / rate(word, k));
            after |= 1 << k;
        }
        instants.push(([word, after], latest));
        word = after;
    }
    late
}

/// Guards that are met one after another or in two groups, by fixed projections of order 1 to 3,
/// with and without units, gradients written or not.
fn neighbourhoods(seeds: std::ops::Range<u64>) {
    for seed in seeds {
        for bits in 0..8 {
            let [apart, is_written, has_units] = [1, 2, 4].map(|bit| bits & bit != 0);
            let case = neighbours(seed, apart, is_written, has_units);
            let eps: Vec<f64> = case.system.units.iter().map(|u| EPS * u).collect();
            for order in 1..=3 {
                let what = format!("seed {seed}, bits {bits}, order {order}");
                let run = case.run(Projection::eps(&eps[..], order), &what);
                for (crossing, most) in run.crossings().iter().zip(lateness(&case.system, &run)) {
                    let late = (crossing.t - case.times[crossing.guard.event]).abs();
                    let guard = crossing.guard;
                    assert!(late <= most, "{what}: {guard} {late:e} of {most:e}");
                }
            }
        }
    }
}

#[test]
fn guards_that_enter_their_neighbourhoods_together_are_crossed_in_their_places() {
    // Seeds 295 and 359 crossed one 13 ms early.
    neighbourhoods(290..300);
    neighbourhoods(355..365);
    // Seed 859 comes 1e-10 s late by the rounding of differences alone.
    neighbourhoods(855..860);
}

#[test]
#[ignore = "a minute: 10⁵ runs"]
fn a_hundred_thousand_runs_with_fixed_projection() {
    neighbourhoods(0..4200);
}

/// Oblique planes through one point, met at once; rates between 0.01 and 3.01 in every mode. The
/// corner lies between 0.1 and 1 s after the start, which is at 0 or so that the corner is.
fn corner(n: usize, seed: u64, is_written: bool, at_zero: bool) -> Case {
    let mut counter = mix(seed * 1000 + n as u64);
    let mut between = |a: f64, b: f64| {
        counter = counter.wrapping_add(1);
        a + (b - a) * unit(counter.wrapping_mul(0x2545_F491_4F6C_DD1D))
    };
    let (rows, inverse) = loop {
        let rows: Vec<Vec<f64>> = (0..n)
            .map(|_| (0..n).map(|_| between(-1.0, 1.0)).collect())
            .collect();
        if let Some(inverse) = inverse(&rows, 30.0) {
            break (rows, inverse);
        }
    };
    let point: Vec<f64> = (0..n).map(|_| between(-1.0, 1.0)).collect();
    let rate =
        move |word: u64, k: usize| 0.01 + 3.0 * unit(mix(mix((seed * 77) ^ word)) ^ k as u64);
    let system = Planes {
        rate: Box::new(rate),
        offsets: rows.iter().map(|row| dot(row, &point)).collect(),
        rows,
        inverse,
        units: vec![1.0; n],
        is_written,
    };
    let after = between(0.1, 1.0);
    let field = system.field(&Mode::of(&system));
    let start = point.iter().zip(&field).map(|(x, f)| x - after * f);
    let t0 = if at_zero { -after } else { 0.0 };
    Case {
        start: start.collect(),
        system,
        t0,
        times: vec![t0 + after; n],
    }
}

/// All guards at the corner: nothing but rounding stands between, divided by the least rate.
fn corners(sizes: std::ops::RangeInclusive<usize>, seeds: std::ops::Range<u64>) {
    for n in sizes {
        for seed in seeds.clone() {
            for bits in 0..4 {
                let case = corner(n, seed, bits & 1 != 0, bits & 2 != 0);
                for projection in [Projection::Off, Projection::Auto] {
                    let what = format!("{n} guards, seed {seed}, bits {bits}, {projection:?}");
                    for crossing in case.run(projection, &what).crossings() {
                        let late = crossing.t - case.times[crossing.guard.event];
                        assert!(late.abs() < 1e-10, "{what}: {} {late:e}", crossing.guard);
                    }
                }
            }
        }
    }
}

#[test]
fn an_exact_corner_of_twelve_guards_is_crossed() {
    // One of them was said to come back, by the residual of its crossing, and to slide.
    corners(12..=12, 81..82);
    corners(2..=14, 0..3);
}

#[test]
#[ignore = "a minute: 10⁵ corners"]
fn a_hundred_thousand_exact_corners() {
    corners(2..=14, 0..1000);
}
