//! Random decoupled systems: orders agree, the derivative is classical and is that of whole runs;
//! energies obey their identities.

use saltation::ContactModel;
use saltation::derivative::Verdict;
use saltation::event_driven::InertialCoupling;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{
    Crossed, CrossedGuard, Crossing, Displacement, EventFunction, Flow, Guard, Integrator, Mode,
    Record, Start,
};

use crate::fixtures::family::{Family, at_contact, start_before};
use crate::random::SplitMix64;

#[test]
fn limbs_that_touch_at_once_have_a_classical_derivative() {
    for (seed, limbs, bounce) in [(1, 2, 0.0), (2, 2, 0.5), (3, 3, 0.0), (4, 3, 0.7)] {
        let family = Family::random(limbs, bounce, seed);
        let (q, v) = at_contact(&family, seed);
        let model = ContactModel::new(family);
        let all: Vec<usize> = (0..limbs).collect();
        let report = model.decoupling(&Start::at(0.0).q(&q).v(&v), &all).unwrap();
        assert_eq!(report.verdict, InertialCoupling::Decoupled, "{report:?}");
        assert!(report.order_spread < 1e-6, "{report:?}");
        let (s, tf) = (0.1, 0.16);
        let x0 = start_before(&model, (&q, &v), s);
        let d = x0.len() / 2;
        let start = model
            .start(&Start::at(0.0).q(&x0[..d]).v(&x0[d..]))
            .unwrap();
        let make = || Integrator::new(&model).unwrap().rtol(1e-11).atol(1e-12);
        let mut integrator = make();
        let found = integrator.derivative(&start.as_start(), tf).unwrap();
        assert_eq!(
            *found.verdict(),
            Verdict::Classical,
            "seed {seed}: {}",
            found.verdict()
        );
        assert_eq!(found.corners().count(), 1);
        let matrix = found.matrix().unwrap();
        // Differences of whole runs, along both sides of the corner.
        let mut other = make();
        let mut draw = SplitMix64(seed + 77);
        for _ in 0..4 {
            let v: Vec<f64> = (0..2 * d).map(|_| draw.between(-1.0, 1.0)).collect();
            let mut end = |step: f64| {
                let x: Vec<f64> = x0.iter().zip(&v).map(|(x, v)| x + step * v).collect();
                other
                    .integrate(&Start::at(0.0).x(&x), tf)
                    .unwrap()
                    .state()
                    .clone()
            };
            let quotient = (end(1e-5) - end(-1e-5)) / 2e-5;
            let expected = &matrix * DVector::from_column_slice(&v);
            let error = (quotient - &expected).amax();
            assert!(
                error < 1e-5 * expected.amax().max(1.0),
                "seed {seed}: {error:e}"
            );
        }
    }
}

/// A body that carries feet on springs, in coordinates `(z, θ, l_1 …)` in which the mass matrix couples all of them: foot
/// `j` is at `z + r_j sin θ − l_j`.
struct Carried {
    body: f64,
    inertia: f64,
    /// Mass, place and stiffness of each foot.
    feet: Vec<[f64; 3]>,
}

impl Carried {
    fn draw(random: &mut SplitMix64, feet: usize) -> Self {
        let body = random.between(2.0, 20.0);
        let foot = |random: &mut SplitMix64| {
            let mass = body * random.between(0.003, 0.05);
            let stiffness = body * random.between(100.0, 400.0);
            [mass, random.between(-1.0, 1.0), stiffness]
        };
        Self {
            body,
            inertia: body * random.between(0.05, 0.3),
            feet: (0..feet).map(|_| foot(random)).collect(),
        }
    }
}

impl MechanicalSystem for Carried {
    fn dof(&self) -> usize {
        2 + self.feet.len()
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        let d = self.dof();
        mass.fill(0.0);
        (mass[0], mass[d + 1]) = (self.body, self.inertia);
        let mut row = vec![0.0; d];
        for (j, [foot, ..]) in self.feet.iter().enumerate() {
            self.gap_row(j, q, &mut row);
            for (i, entry) in mass.iter_mut().enumerate() {
                *entry += foot * row[i / d] * row[i % d];
            }
        }
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
        effort[0] = -5.0 * self.body;
        let mut row = vec![0.0; self.dof()];
        for (j, [foot, _, stiffness]) in self.feet.iter().enumerate() {
            self.gap_row(j, q, &mut row);
            for (effort, row) in effort.iter_mut().zip(&row) {
                *effort -= 5.0 * foot * row;
            }
            effort[2 + j] += stiffness * (0.6 - q[2 + j]);
        }
    }
}

impl UnilateralConstraints for Carried {
    fn contacts(&self) -> usize {
        self.feet.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[0] + self.feet[j][1] * q[1].sin() - q[2 + j]
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        row.fill(0.0);
        (row[0], row[1], row[2 + j]) = (1.0, self.feet[j][1] * q[1].cos(), -1.0);
        true
    }
}

/// The impact of one foot leaves neighbours as they are on the feet that stand, by however little they are off them: a
/// difference of which some ends are brought back and others are not would tell orders apart.
#[test]
fn a_foot_that_lands_leaves_those_that_stand_alone() {
    let cases = if cfg!(debug_assertions) { 100 } else { 4000 };
    for seed in 0..cases {
        let mut random = SplitMix64(seed);
        let carried = Carried::draw(&mut random, 3);
        let places: Vec<f64> = carried.feet.iter().map(|[_, place, _]| *place).collect();
        let [fall, heave, pitch] = [(); 3].map(|()| random.between(-1.0, 1.0));
        // The body falls without pitch; of the feet all but the first stand.
        let down = -2.0 + fall;
        let x = [0.6, 0.0, 0.6, 0.6, 0.6, down, 0.0, 0.0, down, down];
        let foot = |j: usize| heave + places[j] * pitch;
        let dx = [
            [0.0, 1.0, places[0], places[1], places[2]],
            [heave, pitch, foot(0) + 0.3, foot(1), foot(2)],
        ]
        .concat();
        let set = [CrossedGuard {
            guard: Guard::falling(0),
            rate: down,
        }];
        let model = ContactModel::new(carried);
        let mode = model.mode(&[1, 2]);
        let (crossed, along) = (Crossed::new(&set), Displacement { dt: 0.0, dx: &dx });
        let mut out = vec![f64::NAN; 10];
        assert!(model.reset_times(0.0, &crossed, &x, &mode, along, &mut out));
        for (i, (found, dx)) in out.iter().zip(&dx).enumerate() {
            // The foot follows the ground: the rate of its gap is zero behind the impact.
            let expected = if i == 7 { foot(0) } else { *dx };
            let off = (found - expected).abs();
            assert!(off < 2e-9, "{seed} {i}: {off:e}");
        }
    }
}

/// The same system without its Coriolis force and its rows.
struct Unwritten<'a>(&'a Family);
impl MechanicalSystem for Unwritten<'_> {
    fn dof(&self) -> usize {
        self.0.dof()
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.0.mass(q, mass);
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.0.effort(t, q, v, effort);
    }
}
impl UnilateralConstraints for Unwritten<'_> {
    fn contacts(&self) -> usize {
        self.0.contacts()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.0.gap(j, q)
    }
}

#[test]
fn the_coriolis_force_does_no_work_beyond_the_change_of_the_metric() {
    for seed in 0..20 {
        let family = Family::random(2, 0.0, seed);
        let (q, v) = at_contact(&family, seed);
        let d = q.len();
        let mut exact = vec![0.0; d];
        family.coriolis(&q, &v, &mut exact);
        // ½ vᵀ Ṁ v + vᵀ c v = 0.
        let metric: f64 = (0..family.parts.len())
            .map(|j| {
                let (_, slope) = family.swing(j, &q);
                let vj = Family::part(&v, j);
                0.5 * slope * family.parts[j].wave.dot(&vj) * vj.norm_squared()
            })
            .sum();
        let work: f64 = v.iter().zip(&exact).map(|(v, f)| v * f).sum();
        assert!(
            (metric + work).abs() < 1e-12 * (1.0 + metric.abs()),
            "{metric} {work}"
        );
        // The crate's own differences give the same accelerations.
        let x = [&q[..], &v[..]].concat();
        let model = ContactModel::new(family.clone());
        let closed = model.mode(&[0, 1]);
        let (mut written, mut differences) = (vec![0.0; 2 * d], vec![0.0; 2 * d]);
        model.flow(0.0, &x, &closed, &mut written);
        ContactModel::new(Unwritten(&family)).flow(0.0, &x, &closed, &mut differences);
        for (a, b) in written.iter().zip(&differences) {
            assert!((a - b).abs() < 1e-5 * (1.0 + a.abs()), "{seed}: {a} {b}");
        }
    }
}

#[test]
fn plastic_impacts_lose_what_the_formula_says_and_elastic_ones_nothing() {
    for seed in 0..20 {
        for bounce in [0.0, 1.0] {
            let family = Family::random(2, bounce, seed);
            let (q, v) = at_contact(&family, seed);
            let model = ContactModel::new(family.clone());
            let mut x = [&q[..], &v[..]].concat();
            let before = family.energy(&x);
            let d = q.len();
            let mut mass = vec![0.0; d * d];
            family.mass(&q, &mut mass);
            let inverse = DMatrix::from_column_slice(d, d, &mass)
                .try_inverse()
                .unwrap();
            let rows = DMatrix::from_fn(2, d, |j, i| {
                let mut row = vec![0.0; d];
                family.gap_row(j, &q, &mut row);
                row[i]
            });
            let speeds = &rows * DVector::from_column_slice(&v);
            let gram = &rows * inverse * rows.transpose();
            let loss = 0.5 * speeds.dot(&(gram.try_inverse().unwrap() * &speeds));
            let set = [0, 1].map(|k| CrossedGuard {
                guard: Guard::falling(k),
                rate: speeds[k],
            });
            // The sides are crossed already when the model is asked.
            let mut mode = Mode::of(&model);
            model
                .on_crossing(&mut Crossing::new(
                    0.0,
                    &set,
                    &mut x,
                    &mut mode,
                    &mut Record::default(),
                ))
                .unwrap();
            let after = family.energy(&x);
            let expected = if bounce == 0.0 { loss } else { 0.0 };
            assert!(
                (before - after - expected).abs() < 1e-13 * before.max(1.0),
                "{before} {after} {expected}"
            );
        }
    }
}
