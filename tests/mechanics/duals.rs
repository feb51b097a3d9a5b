//! Systems written once for any scalar: the Coriolis force, rows and curvatures of `Dual` against
//! formulas written by hand.

use saltation::derivative::{Dual, RealField, convert};
use saltation::mechanics::{
    MechanicalSystem, SmoothConstraints, SmoothMechanics, UnilateralConstraints, check_mechanics,
};
use saltation::models::RigidTrot;
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{ContactModel, EventDriven, Run, Start};

use crate::random::SplitMix64;

fn vector(draw: &mut SplitMix64, d: usize, size: f64) -> Vec<f64> {
    (0..d).map(|_| draw.between(-size, size)).collect()
}

/// The Coriolis force, into a buffer with old contents.
fn coriolis(system: &impl MechanicalSystem, q: &[f64], v: &[f64]) -> DVector<f64> {
    let mut force = DVector::from_element(q.len(), f64::NAN);
    assert!(system.coriolis(q, v, force.as_mut_slice()));
    force
}

fn row(system: &impl UnilateralConstraints, j: usize, q: &[f64]) -> DVector<f64> {
    let mut row = DVector::from_element(q.len(), f64::NAN);
    assert!(system.gap_row(j, q, row.as_mut_slice()));
    row
}

/// Entries agree within 1e-12 of the largest, or of 1.
fn assert_close(found: &DVector<f64>, expected: &[f64]) {
    let expected = DVector::from_column_slice(expected);
    let error = (found - &expected).amax() / expected.amax().max(1.0);
    assert!(error < 1e-12, "{found}{expected}");
}

/// Two pendulums in a row: angles from the vertical, lengths, masses at the ends; a wall beside the
/// end.
#[derive(Clone, Copy)]
struct DoublePendulum {
    lengths: [f64; 2],
    masses: [f64; 2],
}

impl SmoothMechanics for DoublePendulum {
    fn dof(&self) -> usize {
        2
    }

    fn mass<T: RealField + Copy>(&self, q: &[T], mass: &mut [T]) {
        let ([a, b], [m, n]) = (self.lengths, self.masses);
        let mixed = convert::<f64, T>(n * a * b) * (q[0] - q[1]).cos();
        mass.copy_from_slice(&[convert((m + n) * a * a), mixed, mixed, convert(n * b * b)]);
    }

    fn effort<T: RealField + Copy>(&self, _t: T, q: &[T], _v: &[T], effort: &mut [T]) {
        let ([a, b], [m, n]) = (self.lengths, self.masses);
        effort[0] = convert::<f64, T>(-9.81 * (m + n) * a) * q[0].sin();
        effort[1] = convert::<f64, T>(-9.81 * n * b) * q[1].sin();
    }

    fn potential<T: RealField + Copy>(&self, q: &[T]) -> Option<T> {
        let ([a, b], [m, n]) = (self.lengths, self.masses);
        let upper = convert::<f64, T>(-9.81 * (m + n) * a) * q[0].cos();
        Some(upper + convert::<f64, T>(-9.81 * n * b) * q[1].cos())
    }
}

impl SmoothConstraints for DoublePendulum {
    fn contacts(&self) -> usize {
        2
    }

    /// A wall beside the end; a ball of radius ½ in the plane of the pendulum, at its support.
    fn gap<T: RealField + Copy>(&self, j: usize, q: &[T]) -> T {
        let [a, b] = self.lengths.map(convert::<f64, T>);
        let x = a * q[0].sin() + b * q[1].sin();
        if j == 0 {
            return convert::<f64, T>(1.5) - x;
        }
        let y = a * q[0].cos() + b * q[1].cos();
        (x * x + y * y).sqrt() - convert(0.5)
    }

    fn restitution(&self, j: usize, _q: &[f64], v: &[f64]) -> f64 {
        if j == 0 { 0.25 * v[0].abs() } else { 0.0 }
    }

    fn friction(&self, j: usize) -> f64 {
        0.5 + j as f64
    }

    fn tangents(&self, _j: usize) -> usize {
        1
    }

    fn tangent_rows(&self, _j: usize, q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[-q[0].sin(), -q[1].sin()]);
    }
}

#[test]
fn a_double_pendulum() {
    let pendulum = DoublePendulum {
        lengths: [0.7, 1.3],
        masses: [2.0, 0.4],
    };
    let ([a, b], dual) = (pendulum.lengths, Dual(pendulum));
    let mixed = pendulum.masses[1] * a * b;
    let mut draw = SplitMix64(11);
    for _ in 0..200 {
        let (q, v) = (vector(&mut draw, 2, 3.0), vector(&mut draw, 2, 5.0));
        let sine = (q[0] - q[1]).sin();
        let force = [-mixed * sine * v[1] * v[1], mixed * sine * v[0] * v[0]];
        assert_close(&coriolis(&dual, &q, &v), &force);

        let ([s0, c0], [s1, c1]) = ([q[0].sin(), q[0].cos()], [q[1].sin(), q[1].cos()]);
        assert_close(&row(&dual, 0, &q), &[-a * c0, -b * c1]);
        let bent = a * s0 * v[0] * v[0] + b * s1 * v[1] * v[1];
        let found = dual.curvature(0, &q, &v).unwrap();
        assert_close(&DVector::from_element(1, found), &[bent]);

        // r² = a² + b² + 2 a b cos Δ, with Δ = q0 − q1: r' = −a b sin Δ Δ' / r.
        let cosine = (q[0] - q[1]).cos();
        let r = (a * a + b * b + 2.0 * a * b * cosine).sqrt();
        let slope = -a * b * sine / r;
        assert_close(&row(&dual, 1, &q), &[slope, -slope]);
        let second = (-a * b * cosine - slope * slope) / r;
        let bent = second * (v[0] - v[1]).powi(2);
        let found = dual.curvature(1, &q, &v).unwrap();
        assert_close(&DVector::from_element(1, found), &[bent]);

        let report = check_mechanics(&dual, 0.0, &q, &v).unwrap();
        assert!(report.agrees(1e-7), "{report}");
        // efforts along four, the force with its power and its part by the coordinates, two rows,
        // two curvatures; those with velocities twice
        assert_eq!(report.compared, 8 + 2 * (3 + 2) + 2 * (2 + 2));
    }
}

#[test]
#[expect(clippy::float_cmp, reason = "handed through unchanged")]
fn all_else_is_handed_through() {
    let pendulum = DoublePendulum {
        lengths: [1.0, 1.0],
        masses: [1.0, 1.0],
    };
    let (dual, q, v) = (Dual(pendulum), [0.3, -0.2], [2.0, 1.0]);
    assert_eq!((MechanicalSystem::dof(&dual), dual.contacts()), (2, 2));
    assert!(!MechanicalSystem::constant_mass(&dual));
    let potential = -9.81 * (2.0 * 0.3f64.cos() + 0.2f64.cos());
    assert!((MechanicalSystem::potential(&dual, &q).unwrap() - potential).abs() < 1e-14);
    let gap = UnilateralConstraints::gap(&dual, 0, &q);
    assert!((gap - 1.5 + 0.3f64.sin() - 0.2f64.sin()).abs() < 1e-15);
    assert_eq!(UnilateralConstraints::restitution(&dual, 0, &q, &v), 0.5);
    assert_eq!(UnilateralConstraints::friction(&dual, 1), 1.5);
    assert_eq!(UnilateralConstraints::tangents(&dual, 1), 1);
    let mut rows = [0.0; 2];
    UnilateralConstraints::tangent_rows(&dual, 0, &q, &mut rows);
    assert_eq!(rows, [-0.3f64.sin(), 0.2f64.sin()]);
    assert_eq!(coriolis(&dual, &q, &[0.0; 2]).amax(), 0.0);
}

/// `M = A + μ sin(w·q) I` with the direction `w`, and a gap `n·q + ½ κ |q|²`.
struct Wave {
    base: DMatrix<f64>,
    direction: Vec<f64>,
    size: f64,
    normal: Vec<f64>,
    bend: f64,
}

fn dot<T: RealField + Copy>(a: &[f64], b: &[T]) -> T {
    let products = a.iter().zip(b).map(|(a, b)| convert::<f64, T>(*a) * *b);
    products.fold(T::zero(), |sum, product| sum + product)
}

impl SmoothMechanics for Wave {
    fn dof(&self) -> usize {
        self.direction.len()
    }

    fn mass<T: RealField + Copy>(&self, q: &[T], mass: &mut [T]) {
        let extra = convert::<f64, T>(self.size) * dot(&self.direction, q).sin();
        for (i, (entry, base)) in mass.iter_mut().zip(&self.base).enumerate() {
            *entry = convert(*base);
            if i % (q.len() + 1) == 0 {
                *entry += extra;
            }
        }
    }

    fn effort<T: RealField + Copy>(&self, _t: T, _q: &[T], _v: &[T], effort: &mut [T]) {
        effort.fill(T::zero());
    }
}

impl SmoothConstraints for Wave {
    fn contacts(&self) -> usize {
        1
    }

    fn gap<T: RealField + Copy>(&self, _j: usize, q: &[T]) -> T {
        let square = q.iter().fold(T::zero(), |sum, q| sum + *q * *q);
        dot(&self.normal, q) + convert::<f64, T>(0.5 * self.bend) * square
    }
}

#[test]
fn a_mass_that_swings() {
    let mut draw = SplitMix64(12);
    // 12 coordinates need the heap
    for d in [1, 2, 3, 5, 12] {
        for _ in 0..20 {
            let part = DMatrix::from_fn(d, d, |_, _| draw.between(-1.0, 1.0));
            let system = Wave {
                base: part.transpose() * part + DMatrix::identity(d, d),
                direction: vector(&mut draw, d, 1.0),
                size: draw.between(-0.5, 0.5),
                normal: vector(&mut draw, d, 1.0),
                bend: draw.between(-2.0, 2.0),
            };
            let (q, v) = (vector(&mut draw, d, 2.0), vector(&mut draw, d, 3.0));
            // c v = −μ cos(w·q) [(w·v) v − ½ |v|² w]
            let along: f64 = dot(&system.direction, &v);
            let square: f64 = dot(&v, &v);
            let phase: f64 = dot(&system.direction, &q);
            let slope = -system.size * phase.cos();
            let force: Vec<f64> = (0..d)
                .map(|i| slope * (along * v[i] - 0.5 * square * system.direction[i]))
                .collect();
            let expected: Vec<f64> = (0..d)
                .map(|i| system.normal[i] + system.bend * q[i])
                .collect();
            let (bent, dual) = (system.bend * square, Dual(system));
            assert_close(&coriolis(&dual, &q, &v), &force);
            assert_close(&row(&dual, 0, &q), &expected);
            let found = dual.curvature(0, &q, &v).unwrap();
            assert_close(&DVector::from_element(1, found), &[bent]);
            let report = check_mechanics(&dual, 0.0, &q, &v).unwrap();
            assert!(report.agrees(1e-7), "{report}");
        }
    }
}

/// `M = L Lᵀ + I` with a full matrix `L_ij = A_ij sin(w_i·q + j)`.
struct Full {
    size: DMatrix<f64>,
    waves: DMatrix<f64>,
}

impl Full {
    /// `L`, and its derivative by each coordinate.
    fn factor(&self, q: &[f64]) -> (DMatrix<f64>, Vec<DMatrix<f64>>) {
        let d = q.len();
        let phase =
            |i: usize, j: usize| (0..d).map(|k| self.waves[(i, k)] * q[k]).sum::<f64>() + j as f64;
        let factor = DMatrix::from_fn(d, d, |i, j| self.size[(i, j)] * phase(i, j).sin());
        let slope = |k: usize| {
            DMatrix::from_fn(d, d, |i, j| {
                self.size[(i, j)] * phase(i, j).cos() * self.waves[(i, k)]
            })
        };
        (factor, (0..d).map(slope).collect())
    }
}

impl SmoothMechanics for Full {
    fn dof(&self) -> usize {
        self.size.nrows()
    }

    fn mass<T: RealField + Copy>(&self, q: &[T], mass: &mut [T]) {
        let d = q.len();
        let entry = |i: usize, j: usize| {
            let phase = (0..d).fold(convert::<f64, T>(j as f64), |sum, k| {
                sum + convert::<f64, T>(self.waves[(i, k)]) * q[k]
            });
            convert::<f64, T>(self.size[(i, j)]) * phase.sin()
        };
        for a in 0..d {
            for b in 0..d {
                let start = if a == b { T::one() } else { T::zero() };
                mass[b * d + a] = (0..d).fold(start, |sum, j| sum + entry(a, j) * entry(b, j));
            }
        }
    }

    fn effort<T: RealField + Copy>(&self, _t: T, _q: &[T], _v: &[T], effort: &mut [T]) {
        effort.fill(T::zero());
    }
}

#[test]
fn the_coriolis_matrix_of_the_paper_and_its_power() {
    let mut draw = SplitMix64(13);
    for d in [1, 2, 4, 7] {
        for _ in 0..20 {
            let system = Full {
                size: DMatrix::from_fn(d, d, |_, _| draw.between(-1.0, 1.0)),
                waves: DMatrix::from_fn(d, d, |_, _| draw.between(-1.0, 1.0)),
            };
            let (q, v) = (vector(&mut draw, d, 2.0), vector(&mut draw, d, 3.0));
            let (factor, slopes) = system.factor(&q);
            let slopes: Vec<DMatrix<f64>> = slopes
                .iter()
                .map(|slope| slope * factor.transpose() + &factor * slope.transpose())
                .collect();
            // c_lm = −½ Σ_k (∂_k M_lm + ∂_m M_lk − ∂_l M_km) v_k
            let matrix = DMatrix::from_fn(d, d, |l, m| {
                let term = |k: usize| slopes[k][(l, m)] + slopes[m][(l, k)] - slopes[l][(k, m)];
                -0.5 * (0..d).map(|k| term(k) * v[k]).sum::<f64>()
            });
            let speeds = DVector::from_column_slice(&v);
            let found = coriolis(&Dual(system), &q, &v);
            assert_close(&found, (matrix * &speeds).as_slice());
            let rate = slopes
                .iter()
                .zip(&v)
                .fold(DMatrix::zeros(d, d), |sum, (slope, v)| sum + slope * *v);
            let taken = 0.5 * speeds.dot(&(rate * &speeds));
            let size = taken.abs().max(found.norm() * speeds.norm());
            assert!((taken + speeds.dot(&found)).abs() < 1e-12 * size);
        }
    }
}

/// The rigid trot, written once for any scalar.
struct Trot(RigidTrot);

impl SmoothMechanics for Trot {
    fn dof(&self) -> usize {
        2
    }

    fn mass<T: RealField + Copy>(&self, _q: &[T], mass: &mut [T]) {
        mass.fill(T::zero());
        mass[0] = convert(self.0.mass);
        mass[3] = convert(self.0.inertia);
    }

    fn effort<T: RealField + Copy>(&self, _t: T, _q: &[T], _v: &[T], effort: &mut [T]) {
        effort[0] = convert(-self.0.mass * self.0.gravity);
        effort[1] = T::zero();
    }

    fn constant_mass(&self) -> bool {
        true
    }
}

impl SmoothConstraints for Trot {
    fn contacts(&self) -> usize {
        2
    }

    fn gap<T: RealField + Copy>(&self, j: usize, q: &[T]) -> T {
        let side = if j == 0 { -1.0 } else { 1.0 };
        let (sine, cosine) = q[1].sin_cos();
        q[0] + convert::<f64, T>(side * self.0.half_length) * sine
            - convert::<f64, T>(self.0.leg) * cosine
    }
}

#[test]
fn a_run_is_that_of_the_model_with_derivatives_by_hand() {
    let body = RigidTrot::default();
    let (q, v) = RigidTrot::start(0.1);
    let end = |run: Run| run.completed().unwrap().state().clone();
    let hand = EventDriven::new(ContactModel::new(body)).unwrap();
    let hand = end(hand
        .rtol(1e-10)
        .atol(1e-11)
        .integrate(&Start::at(0.0).q(&q).v(&v), 0.65)
        .unwrap());
    let dual = EventDriven::new(ContactModel::new(Dual(Trot(body)))).unwrap();
    let dual = end(dual
        .rtol(1e-10)
        .atol(1e-11)
        .integrate(&Start::at(0.0).q(&q).v(&v), 0.65)
        .unwrap());
    assert!((hand - dual).amax() < 1e-12);
}
