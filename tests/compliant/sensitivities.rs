//! Derivatives of rollouts against differences of whole runs.

use nalgebra::DMatrix;
use saltation::compliant::{Scheme, Softness, Solver};
use saltation::mechanics::{ContactSource, MechanicalSystem, State, UnilateralConstraints};
use saltation::models::{DoublePendulum, SlidingBlock, SpringCylinder};
use saltation::{Compliant, Start};

const SCHEMES: [Scheme; 4] = [
    Scheme::ExplicitEuler,
    Scheme::SymplecticEuler,
    Scheme::ImplicitEuler,
    Scheme::Midpoint,
];

fn stepper<S: MechanicalSystem + ContactSource>(
    system: S,
    scheme: Scheme,
    dt: f64,
) -> Compliant<S> {
    // A soft stiction, so that differences of whole runs resolve it.
    let mut softness = Softness::default();
    softness.stiction = 0.1;
    Compliant::new(system)
        .expect("a system")
        .time_step(dt)
        .scheme(scheme)
        .softness(softness)
        .inelastic()
        .solver(Solver::new().rtol(1e-15).atol(1e-16))
}

/// The greatest difference between the derivative and central differences of runs, beside its
/// largest entry.
pub(crate) fn mismatch<S: MechanicalSystem + ContactSource>(
    stepper: Compliant<S>,
    start: (&[f64], &[f64]),
    tf: f64,
) -> f64 {
    mismatch_by(1e-6, stepper, start, tf)
}

/// As [`mismatch`], with differences of `h`.
pub(crate) fn mismatch_by<S: MechanicalSystem + ContactSource>(
    h: f64,
    mut stepper: Compliant<S>,
    (q, v): (&[f64], &[f64]),
    tf: f64,
) -> f64 {
    let (nq, n) = (q.len(), q.len() + v.len());
    let identity = DMatrix::identity(n, n);
    let (run, columns) = stepper
        .sensitivities(&Start::at(0.0).q(q).v(v), tf, &identity)
        .expect("derivative");
    assert!(run.times().len() > 10);
    let mut end = |k: usize, h: f64| {
        let mut x: Vec<f64> = q.iter().chain(v).copied().collect();
        x[k] += h;
        let run = stepper
            .integrate(&Start::at(0.0).q(&x[..nq]).v(&x[nq..]), tf)
            .expect("input");
        run.completed().expect("completed").state().clone()
    };
    let mut worst: f64 = 0.0;
    for k in 0..n {
        let (high, low) = (end(k, h), end(k, -h));
        for i in 0..n {
            let difference = (high[i] - low[i]) / (2.0 * h);
            worst = worst.max((columns[(i, k)] - difference).abs());
        }
    }
    worst / columns.amax().max(1.0)
}

#[test]
fn a_cylinder_that_rolls() {
    for scheme in SCHEMES {
        for friction in [0.0, 0.05, 1.0] {
            let cylinder = SpringCylinder {
                friction,
                ..SpringCylinder::default()
            };
            let (q, v) = cylinder.start(0.1);
            let off = mismatch(stepper(cylinder, scheme, 0.01), (&q, &v), 0.3);
            assert!(off < 1e-7, "{scheme:?} {friction}: {off:e}");
        }
    }
}

#[test]
fn a_block_that_slides_and_falls() {
    for scheme in SCHEMES {
        let block = SlidingBlock {
            slope: 0.2,
            ..SlidingBlock::default()
        };
        let off = mismatch(
            stepper(block, scheme, 0.01),
            (&[0.0, 0.05], &[1.0, 0.0]),
            0.4,
        );
        assert!(off < 1e-7, "{scheme:?}: {off:e}");
    }
}

/// Masses and rows that depend on the configuration.
#[test]
fn a_pendulum_that_hits_a_wall() {
    for scheme in SCHEMES {
        let pendulum = DoublePendulum::default();
        let off = mismatch(
            stepper(pendulum, scheme, 0.002),
            (&[1.0, 0.5], &[0.0; 2]),
            0.9,
        );
        assert!(off < 1e-6, "{scheme:?}: {off:e}");
    }
}

/// A mass over the ground, 1 kg, with a drive that works while it touches.
struct Hopping;

impl MechanicalSystem for Hopping {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = -9.81;
    }
    fn contact_effort(
        &self,
        State { q, v, .. }: State<'_>,
        closed: &[usize],
        effort: &mut [f64],
    ) -> bool {
        if closed == [0] {
            effort[0] += 60.0 * (0.1 - q[0]) - 5.0 * v[0];
        }
        true
    }
}

impl UnilateralConstraints for Hopping {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[0]
    }
    fn stiffness(&self, _j: usize) -> f64 {
        200.0
    }
}

/// Forces that depend on which contacts press.
#[test]
fn a_mass_whose_drive_works_while_it_touches() {
    for scheme in SCHEMES {
        let off = mismatch(stepper(Hopping, scheme, 0.01), (&[0.05], &[0.0]), 0.35);
        assert!(off < 1e-7, "{scheme:?}: {off:e}");
    }
}

/// The end of a rollout by its controls.
#[test]
fn controls() {
    let block = SlidingBlock::default();
    let mut stepper = stepper(block, Scheme::SymplecticEuler, 0.01);
    let end = |stepper: &mut Compliant<SlidingBlock>, controls: &[f64; 2]| {
        stepper
            .start(&Start::at(0.0).q(&[0.0; 2]).v(&[0.5, 0.0]))
            .expect("start");
        for k in 0..40 {
            stepper.step_with(&[controls[k / 20], 0.0]).expect("a step");
        }
        [stepper.q()[0], stepper.v()[0]]
    };
    let controls = [4.0, 3.5];
    stepper
        .start(&Start::at(0.0).q(&[0.0; 2]).v(&[0.5, 0.0]))
        .expect("start");
    let mut columns = DMatrix::zeros(4, 2);
    for k in 0..40 {
        let mut effort_columns = DMatrix::zeros(2, 2);
        effort_columns[(0, k / 20)] = 1.0;
        let effort = [controls[k / 20], 0.0];
        stepper
            .step_along(&effort, &mut columns, &effort_columns)
            .expect("a step");
    }
    for k in 0..2 {
        let (mut high, mut low) = (controls, controls);
        high[k] += 1e-5;
        low[k] -= 1e-5;
        let (high, low) = (end(&mut stepper, &high), end(&mut stepper, &low));
        for (i, row) in [0, 2].into_iter().enumerate() {
            let difference = (high[i] - low[i]) / 2e-5;
            let off = (columns[(row, k)] - difference).abs();
            assert!(off < 1e-8 * columns.amax(), "{k} {i}: {off:e}");
            assert!(columns[(row, k)] > 1e-3);
        }
    }
}

/// Two rods on a pin that fall to a floor, with a mass matrix that depends on their angles and no forces of inertia
/// written: those are differences, and so is what comes back through them.
#[derive(Clone, Copy)]
struct Rods;

impl MechanicalSystem for Rods {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        let coupling = 0.8 * (q[0] - q[1]).cos();
        mass.copy_from_slice(&[2.0, coupling, coupling, 0.64]);
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[-2.0 * 9.81 * q[0].sin(), -0.8 * 9.81 * q[1].sin()]);
    }
}

impl UnilateralConstraints for Rods {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        1.1 - q[0].cos() - if j == 0 { 0.0 } else { 0.8 * q[1].cos() }
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[q[0].sin(), if j == 0 { 0.0 } else { 0.8 * q[1].sin() }]);
        true
    }
    fn dissipation_time(&self, _j: usize) -> f64 {
        0.01
    }
}

/// Forces of inertia are known to 1e-10, and differences of them to a hundred thousandth.
#[test]
fn rods_without_written_forces_of_inertia_have_derivatives_through_contact() {
    for scheme in SCHEMES {
        for dt in [5e-3, 1e-3] {
            let start = (&[1.8, 1.5][..], &[0.0, 0.0][..]);
            let off = mismatch(stepper(Rods, scheme, dt), start, 0.56);
            assert!(off < 1e-4, "{scheme:?} {dt}: {off:e}");
        }
    }
}
