//! The motion of closed contacts whose rows are constant, under a constant mass, against exact
//! arithmetic: multipliers, accelerations and their derivatives, from model to model and from set to
//! set, with what a model keeps of the set before.

use num_rational::BigRational as Ratio;
use num_traits::{ToPrimitive, Zero};
use saltation::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use saltation::nalgebra::DMatrix;
use saltation::{ContactModel, EventFunction, Flow};

use crate::random::SplitMix64;

/// A system of small whole numbers: `M` and rows as they are drawn, effort `f₀ + K q + D v`.
#[derive(Clone, Debug)]
struct Whole {
    dof: usize,
    mass: Vec<f64>,
    rows: Vec<Vec<f64>>,
    /// `f₀`.
    load: Vec<f64>,
    /// `(K, D)`, by rows.
    slope: Vec<Vec<f64>>,
}

impl Whole {
    fn drawn(draw: &mut SplitMix64) -> Self {
        let dof = 1 + draw.below(5);
        let root = vectors(draw, dof, dof, 2);
        let mut mass = vec![0.0; dof * dof];
        for i in 0..dof {
            for k in 0..dof {
                let product: f64 = root[i].iter().zip(&root[k]).map(|(a, b)| a * b).sum();
                mass[i * dof + k] = product + f64::from(u8::from(i == k));
            }
        }
        let contacts = 1 + draw.below(dof + 1);
        Self {
            dof,
            mass,
            rows: vectors(draw, contacts, dof, 2),
            load: vectors(draw, 1, dof, 9).concat(),
            slope: vectors(draw, dof, 2 * dof, 3),
        }
    }

    fn effort_at(&self, x: &[f64]) -> Vec<f64> {
        let slope = self.slope.iter().map(|row| dot(row, x));
        slope.zip(&self.load).map(|(a, b)| a + b).collect()
    }
}

impl SplitMix64 {
    fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n as u64).expect("small")
    }
}

/// `count` vectors of whole numbers up to `most`.
fn vectors(draw: &mut SplitMix64, count: usize, size: usize, most: usize) -> Vec<Vec<f64>> {
    let mut entry = || draw.below(2 * most + 1) as f64 - most as f64;
    let each = |_| (0..size).map(|_| entry()).collect();
    (0..count).map(each).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

impl MechanicalSystem for Whole {
    fn dof(&self) -> usize {
        self.dof
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&self.mass);
    }
    fn effort(&self, _t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&self.effort_at(&[q, v].concat()));
    }
    fn effort_along(&self, _: State<'_>, directions: &[f64], out: &mut [f64]) -> bool {
        let each = directions.chunks_exact(2 * self.dof);
        for (along, out) in each.zip(out.chunks_exact_mut(self.dof)) {
            for (out, row) in out.iter_mut().zip(&self.slope) {
                *out = dot(row, along);
            }
        }
        true
    }
    fn constant_mass(&self) -> bool {
        true
    }
}

impl UnilateralConstraints for Whole {
    fn contacts(&self) -> usize {
        self.rows.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        dot(&self.rows[j], q)
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&self.rows[j]);
        true
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
}

fn exact(x: f64) -> Ratio {
    Ratio::from_float(x).expect("finite")
}

/// `(q̈, λ_J)` under an effort, from the equations of both at once; none where rows depend. With the
/// largest entry of the inverse of their matrix.
fn solved(system: &Whole, closed: &[usize], effort: &[f64]) -> Option<(Vec<f64>, Vec<f64>, f64)> {
    let (d, m) = (system.dof, closed.len());
    let n = d + m;
    // [M −Daᵀ; Da 0] (q̈, λ) = (f, 0).
    let mut rows = vec![vec![Ratio::zero(); n + 1]; n];
    for i in 0..d {
        for k in 0..d {
            rows[i][k] = exact(system.mass[i * d + k]);
        }
        for (k, &j) in closed.iter().enumerate() {
            rows[i][d + k] = -exact(system.rows[j][i]);
            rows[d + k][i] = exact(system.rows[j][i]);
        }
        rows[i][n] = exact(effort[i]);
    }
    let entries = |i: usize, k: usize| rows[i][k].to_f64().expect("small");
    let matrix = DMatrix::from_fn(n, n, entries);
    for k in 0..n {
        let pivot = (k..n).find(|&i| !rows[i][k].is_zero())?;
        rows.swap(k, pivot);
        let by = rows[k][k].clone();
        rows[k].iter_mut().for_each(|x| *x /= &by);
        let this = rows[k].clone();
        for (i, row) in rows.iter_mut().enumerate() {
            let part = row[k].clone();
            if i != k && !part.is_zero() {
                row.iter_mut().zip(&this).for_each(|(x, y)| *x -= &part * y);
            }
        }
    }
    let of = |i: usize| rows[i][n].to_f64().expect("finite");
    let largest = matrix.try_inverse().expect("as above").amax();
    Some(((0..d).map(of).collect(), (d..n).map(of).collect(), largest))
}

/// One model asked at many states with changing sets: each answer is that of exact arithmetic, also
/// behind a set that was kept, and bit by bit that of a model that was asked nothing before.
#[test]
fn it_is_that_of_exact_arithmetic() {
    let (mut dependent, mut held) = (0, 0);
    for seed in 0..30 {
        let mut draw = SplitMix64(seed);
        let system = Whole::drawn(&mut draw);
        let (d, n) = (system.dof, system.contacts());
        let model = ContactModel::new(system.clone());
        for _ in 0..6 {
            let closed: Vec<usize> = (0..n).filter(|_| draw.below(3) > 0).collect();
            let mode = model.mode(&closed);
            let x = vectors(&mut draw, 1, 2 * d, 3).concat();
            let along = vectors(&mut draw, 1, 2 * d, 3).concat();
            let (mut dx, mut moved) = (vec![0.0; 2 * d], vec![0.0; 2 * d]);
            model.flow(0.0, &x, &mode, &mut dx);
            let forces = model.multipliers(0.0, &x, &mode);
            let has_slope = model.jacobian_times_each(0.0, &x, &mode, &along, &mut moved);

            let new = model.clone();
            let mut again = vec![0.0; 2 * d];
            new.flow(0.0, &x, &mode, &mut again);
            assert_eq!(
                (&dx, forces.values()),
                (&again, new.multipliers(0.0, &x, &mode).values())
            );

            let effort = system.effort_at(&x);
            let Some((acceleration, multipliers, largest)) = solved(&system, &closed, &effort)
            else {
                assert!(!forces.are_unique() && !has_slope, "{seed}");
                dependent += 1;
                continue;
            };
            held += closed.len();
            assert!(forces.are_unique() && has_slope, "{seed}");
            // The equations are as well known as their matrix and its inverse allow, squared in the
            // Gram matrix.
            let size = effort.iter().fold(1.0, |most: f64, f| most.max(f.abs()));
            let bound = 1e-13 * largest.max(1.0).powi(2) * size;
            for (k, a) in acceleration.iter().enumerate() {
                let found = dx[d + k];
                assert!((found - a).abs() <= bound, "{seed}: {found} {a} {bound:e}");
            }
            let mut events = vec![0.0; n];
            model.events(0.0, &x, &mode, &mut events);
            for (&j, force) in closed.iter().zip(&multipliers) {
                let found = forces.values()[j];
                assert!(
                    (found - force).abs() <= bound,
                    "{seed}: {found} {force} {bound:e}"
                );
                // Its event function is more, by rounding and a thousandth of 1e-8 m/s a
                // second.
                let unit: f64 = 1e-11 * largest.powi(2);
                let more = events[j] - found;
                let is_more = more > 0.0 && more <= unit + 1e3 * bound;
                assert!(is_more, "{seed}: {more:e}");
            }
            let effort_along: Vec<f64> = system.slope.iter().map(|row| dot(row, &along)).collect();
            let (slope, ..) = solved(&system, &closed, &effort_along).expect("solved above");
            let size = effort_along
                .iter()
                .fold(1.0, |most: f64, f| most.max(f.abs()));
            let bound = 1e-13 * largest.max(1.0).powi(2) * size;
            for (k, a) in slope.iter().enumerate() {
                let found = moved[d + k];
                assert!((found - a).abs() <= bound, "{seed}: {found} {a} {bound:e}");
            }
        }
    }
    assert!(dependent > 10 && held > 100, "{dependent} {held}");
}

/// A model that several threads ask about different sets answers each as if it were alone.
#[test]
fn threads_share_a_model() {
    let mut draw = SplitMix64(7);
    let system = Whole {
        rows: vec![vec![1.0, 0.0], vec![0.0, 1.0]],
        ..loop {
            let system = Whole::drawn(&mut draw);
            if system.dof == 2 {
                break system;
            }
        }
    };
    let model = ContactModel::new(system);
    let ask = |closed: &[usize]| {
        let (x, mode) = ([1.0, 2.0, -1.0, 3.0], model.mode(closed));
        let mut dx = [0.0; 4];
        model.flow(0.0, &x, &mode, &mut dx);
        dx
    };
    let sets: [&[usize]; 4] = [&[], &[0], &[1], &[0, 1]];
    let alone = sets.map(ask);
    std::thread::scope(|scope| {
        for (set, alone) in sets.iter().zip(&alone) {
            let ask = &ask;
            scope.spawn(move || {
                let bits = |dx: [f64; 4]| dx.map(f64::to_bits);
                (0..20_000).for_each(|_| assert_eq!(bits(ask(set)), bits(*alone)));
            });
        }
    });
}

/// A slope whose row is constant and not written.
#[derive(Clone, Copy)]
struct Slope;

impl MechanicalSystem for Slope {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.1 * q[0].sin(), -9.81]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
}

impl UnilateralConstraints for Slope {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[1] - q[0] / 3.0
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
}

/// Rows by differences depend on where they are taken: what a model was asked before is not kept.
#[test]
fn a_model_that_was_asked_before_answers_as_a_new_one() {
    let (model, mut draw) = (ContactModel::new(Slope), SplitMix64(3));
    let mode = model.mode(&[0]);
    let bits = |model: &ContactModel<Slope>, x: &[f64]| {
        let mut dx = [0.0; 4];
        model.flow(0.0, x, &mode, &mut dx);
        let force = model.multipliers(0.0, x, &mode).values()[0];
        [dx[2], dx[3], force].map(f64::to_bits)
    };
    for _ in 0..100 {
        let q = draw.between(-1e3, 1e3);
        let x = [q, q / 3.0, 0.0, 0.0];
        let new = ContactModel::new(Slope);
        assert_eq!(bits(&model, &x), bits(&new, &x), "{q}");
    }
}
