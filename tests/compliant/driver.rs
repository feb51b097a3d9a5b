//! The driver at rest, at the end of a run, with a system that changes, and with a model that fails.

use saltation::compliant::{CompliantFailure, Scheme};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::Particle;
use saltation::{Compliant, ContactModel, InputError, MatrixFault, Run, Start};

/// Masses on springs under gravity, far above a floor.
#[derive(Clone, Debug)]
struct Springs {
    masses: Vec<f64>,
    stiffness: f64,
    length: f64,
    effort: f64,
    /// Whether each is a tree of its own.
    apart: bool,
}

impl Default for Springs {
    fn default() -> Self {
        Self {
            masses: vec![0.3, 0.7],
            stiffness: 70.0,
            length: 0.1,
            effort: 0.0,
            apart: true,
        }
    }
}

impl MechanicalSystem for Springs {
    fn dof(&self) -> usize {
        self.masses.len()
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        for (i, m) in self.masses.iter().enumerate() {
            mass[i * (self.masses.len() + 1)] = *m;
        }
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        for ((f, q), m) in effort.iter_mut().zip(q).zip(&self.masses) {
            *f = -self.stiffness * (q - self.length) - 9.81 * m + self.effort;
        }
    }
    fn trees(&self) -> usize {
        if self.apart { self.masses.len() } else { 1 }
    }
    fn tree(&self, i: usize) -> std::ops::Range<usize> {
        if self.apart { i..i + 1 } else { 0..self.dof() }
    }
    fn constant_mass(&self) -> bool {
        true
    }
}

impl UnilateralConstraints for Springs {
    fn contacts(&self) -> usize {
        self.masses.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[j] + 10.0
    }
}

const SCHEMES: [Scheme; 4] = [
    Scheme::ExplicitEuler,
    Scheme::SymplecticEuler,
    Scheme::ImplicitEuler,
    Scheme::Midpoint,
];

/// The velocities that stage 1 seeks are rounding there.
#[test]
fn bodies_at_rest_on_springs_stay_there() {
    for scheme in SCHEMES {
        for length in [0.1, 1.0, 1e3, 0.777] {
            for stiffness in [3.0, 70.0, 1e5, 1e9] {
                let springs = Springs {
                    stiffness,
                    length,
                    ..Springs::default()
                };
                let sag = |m: &f64| length - 9.81 * m / stiffness;
                let q: Vec<f64> = springs.masses.iter().map(sag).collect();
                let explicit = scheme.effort_weight() == 0.0;
                let dt = if explicit && stiffness > 1e4 {
                    1e-6
                } else {
                    0.01
                };
                let stepper = Compliant::new(springs).expect("a system");
                let mut stepper = stepper.time_step(dt).scheme(scheme);
                let run = stepper.integrate(&Start::at(0.0).q(&q).v(&[0.0; 2]), 100.0 * dt);
                let run = run.expect("input").completed();
                let run = run.unwrap_or_else(|f| panic!("{scheme:?} {length} {stiffness}: {f}"));
                // 100 roundings of coordinates
                let rounding = 1e-14 * length + 1e-16;
                for (found, at) in run.state().iter().zip(&q) {
                    assert!((found - at).abs() <= rounding, "{scheme:?} {found} {at}");
                }
            }
        }
    }
}

/// A body at rest at the depth of long steps, β² w m g dt²/4π², is thrown out by a short one.
#[test]
fn the_end_of_a_run_does_not_throw_a_body_at_rest() {
    let particle = Particle {
        stiffness: f64::INFINITY,
        dissipation_time: 0.0,
        ..Particle::default()
    };
    for tail in [0.5, 1e-1, 1e-3, 1e-6, 1e-8] {
        let stepper = Compliant::new(particle).expect("a system");
        let mut stepper = stepper.time_step(0.01);
        let run = stepper.integrate(&Start::at(0.0).q(&[0.0; 3]).v(&[0.0; 3]), 1.0 + tail * 0.01);
        let run = run.expect("input").completed().expect("completed");
        let depth = 1.0 / 3.0_f64.sqrt() / (4.0 * std::f64::consts::PI.powi(2)) * 9.81 * 1e-4;
        for k in 1..run.times().len() {
            // Out of the deepest rest within half a step.
            let speed = run.v(k)[2];
            assert!(speed < 2.0 * depth / 0.01, "{tail}: {speed:e}");
        }
        assert!(run.state()[2].abs() < 1.01 * depth);
    }
}

/// The model is the system of it, bit by bit; what it says of friction is said to this driver too.
#[test]
fn a_contact_model_is_run_as_its_system() {
    let particle = Particle::default();
    assert!(particle.friction > 0.1);
    let start = Start::at(0.0).q(&[0.0, 0.0, 0.02]).v(&[1.0, 0.0, 0.0]);
    let end = |run: Run| run.state().as_slice().to_vec();
    let of = |model: ContactModel<Particle>| {
        let mut driver = Compliant::new(model).expect("a model");
        end(driver.integrate(&start, 0.5).expect("input"))
    };
    let mut driver = Compliant::new(particle).expect("a system");
    let by_system = end(driver.integrate(&start, 0.5).expect("input"));
    assert_eq!(of(ContactModel::new(particle)), by_system);
    let free = of(ContactModel::new(particle).frictionless());
    assert!(
        (free[3] - 1.0).abs() < 1e-12 && by_system[3] < 0.9,
        "{free:?}"
    );
}

#[test]
fn a_system_that_changed_its_size_is_refused() {
    let mut stepper = Compliant::new(Springs::default()).expect("a system");
    let before = stepper.step().expect_err("refused");
    assert_eq!(before, CompliantFailure::Input(InputError::NotStarted));
    stepper
        .start(&Start::at(0.0).q(&[0.1; 2]).v(&[0.0; 2]))
        .expect("start");
    stepper.system_mut().masses.push(1.0);
    let wrong = stepper.step().expect_err("refused");
    assert!(
        matches!(
            &wrong,
            CompliantFailure::Input(InputError::WrongLength { .. })
        ),
        "{wrong}"
    );
    // As many coordinates and velocities in other trees.
    stepper.system_mut().masses.pop();
    stepper.system_mut().apart = false;
    let wrong = stepper.step().expect_err("refused");
    assert!(
        matches!(&wrong, CompliantFailure::Input(InputError::WrongLength { name, .. })
            if name.contains("trees")),
        "{wrong}"
    );
    stepper.system_mut().apart = true;
    stepper.step().expect("as it was");
}

#[test]
fn models_that_fail_are_named() {
    let failure = |springs: Springs, scheme| {
        let stepper = Compliant::new(springs).expect("a system");
        let run = stepper
            .scheme(scheme)
            .integrate(&Start::at(0.0).q(&[0.1; 2]).v(&[0.0; 2]), 0.1);
        match run.expect("input").status().reason() {
            Some(CompliantFailure::Model { reason, .. }) => reason.clone(),
            other => panic!("{scheme:?}: {other:?}"),
        }
    };
    for scheme in SCHEMES {
        let mut springs = Springs::default();
        for mass in [0.0, -1.0] {
            springs.masses[1] = mass;
            let reason = failure(springs.clone(), scheme);
            assert!(
                matches!(
                    reason,
                    InputError::BadTree {
                        tree: 1,
                        fault: MatrixFault::NotPositive { .. }
                    }
                ),
                "{scheme:?}: {reason}"
            );
        }
        springs.masses[1] = f64::NAN;
        let reason = failure(springs, scheme);
        assert!(
            matches!(
                reason,
                InputError::BadTree {
                    tree: 1,
                    fault: MatrixFault::NotFinite { .. }
                }
            ),
            "{scheme:?}: {reason}"
        );
        let springs = Springs {
            effort: f64::NAN,
            ..Springs::default()
        };
        let reason = failure(springs, scheme);
        assert!(
            matches!(reason, InputError::NotFinite { name: "effort", .. }),
            "{scheme:?}: {reason}"
        );
    }
}

/// A ball on a rough floor that has no tangents.
struct NoTangents;

impl MechanicalSystem for NoTangents {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = -9.81;
    }
}

impl UnilateralConstraints for NoTangents {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[0]
    }
    fn friction(&self, _j: usize) -> f64 {
        0.5
    }
}

#[test]
fn friction_without_tangents_is_refused_by_name() {
    let driver = || Compliant::new(NoTangents).unwrap();
    let failure = driver()
        .integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 1.0)
        .unwrap_err();
    assert!(matches!(failure, InputError::Tangents { contact: 0, .. }));
    assert!(failure.to_string().contains("friction"), "{failure}");
    let run = driver()
        .frictionless()
        .integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 1.0);
    assert!(run.unwrap().completed().is_ok());
}

/// A clone goes on from the same state, by itself.
#[test]
fn a_clone_makes_the_same_steps() {
    let mut stepper = Compliant::new(Springs::default()).expect("a system");
    stepper
        .start(&Start::at(0.0).q(&[0.1; 2]).v(&[0.0; 2]))
        .expect("start");
    stepper.step().expect("a step");
    let mut other = stepper.clone();
    for _ in 0..3 {
        stepper.step().expect("a step");
    }
    assert!(other.q() != stepper.q());
    for _ in 0..3 {
        other.step().expect("a step");
    }
    assert_eq!((other.q(), other.v()), (stepper.q(), stepper.v()));
}
