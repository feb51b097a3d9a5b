//! Steps without contacts: closed forms, reference states, order, reversibility, derivatives.

use saltation::InputError;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::DoublePendulum;
use saltation::variational::{Midpoint, VariationalFailure};

/// States `(q, p)` after `steps` steps.
fn stepped<S: MechanicalSystem>(
    midpoint: &mut Midpoint<S>,
    (h, steps): (f64, usize),
    start: &[f64],
) -> Vec<f64> {
    let mut x = start.to_vec();
    let (q, p) = x.split_at_mut(start.len() / 2);
    for k in 0..steps {
        midpoint.step(h * k as f64, h, q, p).unwrap();
    }
    x
}

fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    let near = |(a, b): (&f64, &f64)| (a - b).abs() <= tolerance;
    assert!(
        found.iter().zip(expected).all(near),
        "{found:?} {expected:?}"
    );
}

/// A double pendulum that dissipates, is pushed by the clock, and has nothing written.
#[derive(Clone, Copy, Default)]
struct Bare(DoublePendulum);

impl MechanicalSystem for Bare {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.0.mass(q, mass);
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.0.effort(t, q, v, effort);
        effort[0] += (3.0 * t).sin() - 0.2 * v[0];
        effort[1] -= 0.1 * v[1] * v[1] * v[1] * q[0];
    }
}

impl UnilateralConstraints for Bare {
    fn contacts(&self) -> usize {
        0
    }
    fn gap(&self, _j: usize, _q: &[f64]) -> f64 {
        1.0
    }
}

#[test]
fn sixty_steps_of_a_double_pendulum() {
    let mut midpoint = Midpoint::new(DoublePendulum::default()).unwrap();
    let x = stepped(&mut midpoint, (0.01, 60), &[1.0, 0.5, 0.0, 0.0]);
    // propagative_reference.csv, case vi_pend2
    let expected = [
        -0.149417452053,
        0.516046028895,
        -5.08052789925,
        -3.76955354868,
    ];
    assert_near(&x, &expected, 1e-11);
}

/// A body that falls; coordinates on a slope, so that all three are used.
struct Falling;

impl MechanicalSystem for Falling {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[2.0, 0.5, 0.5, 1.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -9.81]);
    }
}

#[test]
fn constant_forces_are_exact_and_what_no_force_acts_on_is_kept() {
    let mut midpoint = Midpoint::new(Falling).unwrap();
    let x = stepped(&mut midpoint, (0.1, 50), &[1.0, 2.0, 3.0, -1.0]);
    assert_eq!(x[2], 3.0);
    assert!((x[3] + 1.0 + 9.81 * 5.0).abs() < 1e-12);
    // q = q₀ + M⁻¹ (p₀ t + f t²/2), det M = 7/4
    let (t, det) = (5.0, 1.75);
    let (a, b) = (3.0 * t, -t - 9.81 * t * t / 2.0);
    let expected = [1.0 + (a - 0.5 * b) / det, 2.0 + (2.0 * b - 0.5 * a) / det];
    assert_near(&x[..2], &expected, 1e-11);
}

#[test]
fn the_order_is_two_and_steps_can_be_undone() {
    let mut midpoint = Midpoint::new(Bare::default()).unwrap();
    let start = [1.0, 0.5, 0.3, -0.2];
    let fine = stepped(&mut midpoint, (1.0 / 1600.0, 1600), &start);
    let error = |midpoint: &mut Midpoint<Bare>, steps: usize| {
        let x = stepped(midpoint, (1.0 / steps as f64, steps), &start);
        x.iter()
            .zip(&fine)
            .fold(0.0f64, |most, (a, b)| most.max((a - b).abs()))
    };
    let (coarse, half) = (error(&mut midpoint, 25), error(&mut midpoint, 50));
    // The finest run has an error too, of 1/1024 of the half one.
    let order = (coarse / half).log2();
    assert!((order - 2.0).abs() < 0.1, "{order}");

    // Symmetric in time, with dissipation too: the same equations read backwards.
    let mut x = stepped(&mut midpoint, (0.02, 50), &start);
    let (q, p) = x.split_at_mut(2);
    for k in (0..50).rev() {
        midpoint.step(0.02 * f64::from(k + 1), -0.02, q, p).unwrap();
    }
    assert_near(&x, &start, 1e-11);
}

#[test]
fn energy_stays_within_the_square_of_the_step_for_a_long_time() {
    let pendulum = DoublePendulum::default();
    let mut midpoint = Midpoint::new(pendulum).unwrap();
    let energy = |midpoint: &mut Midpoint<DoublePendulum>, x: &[f64]| {
        let v = midpoint.velocity(&x[..2], &x[2..]).unwrap();
        0.5 * (v[0] * x[2] + v[1] * x[3]) + pendulum.potential(&x[..2]).unwrap()
    };
    let mut worst = [0.0f64; 2];
    for (worst, h) in worst.iter_mut().zip([0.02, 0.01]) {
        let mut x = vec![0.5, 0.2, 0.0, 0.0];
        let before = energy(&mut midpoint, &x);
        for _ in 0..(100.0 / h) as usize {
            x = stepped(&mut midpoint, (h, 1), &x);
            *worst = worst.max((energy(&mut midpoint, &x) - before).abs());
        }
    }
    assert!(
        worst[0] < 0.01 && (worst[0] / worst[1] - 4.0).abs() < 0.5,
        "{worst:?}"
    );
}

#[test]
fn the_derivative_of_a_step_is_that_of_differences() {
    fn compare<S: MechanicalSystem>(system: S, tolerance: f64, symplectic: bool) {
        let mut midpoint = Midpoint::new(system).unwrap();
        let x = [0.7, -0.4, 1.3, 0.6];
        let (t, h, s) = (0.3, 0.05, 1e-4);
        let derivative = midpoint.derivative(t, h, &x[..2], &x[2..]).unwrap();
        for k in 0..4 {
            let mut ends = [x; 2];
            for (end, sign) in ends.iter_mut().zip([1.0, -1.0]) {
                end[k] += sign * s;
                let (q, p) = end.split_at_mut(2);
                midpoint.step(t, h, q, p).unwrap();
            }
            for i in 0..4 {
                let expected = (ends[0][i] - ends[1][i]) / (2.0 * s);
                let error = (derivative[(i, k)] - expected).abs();
                assert!(error < tolerance, "{i} {k} {error:e}");
            }
        }
        // A step without dissipation is symplectic.
        if symplectic {
            let (a, b) = (derivative.columns(0, 2), derivative.columns(2, 2));
            for (i, j) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
                let form = |x: usize, y: usize| {
                    (0..2)
                        .map(|k| a[(k, x)] * b[(2 + k, y)] - a[(2 + k, x)] * b[(k, y)])
                        .sum::<f64>()
                };
                let expected = f64::from(u8::from(i == j));
                assert!((form(i, j) - expected).abs() < 1e-9);
            }
        }
    }
    // The error of these differences is about 1e-9 of the entries.
    compare(DoublePendulum::default(), 1e-8, true);
    compare(Bare::default(), 1e-7, false);
    compare(Falling, 1e-8, true);
}

/// A force that no step of this length can follow.
struct Stiff;

impl MechanicalSystem for Stiff {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = 1e8 * if q[0] > 0.0 { -1.0 } else { 1.0 };
    }
}

/// An effort that is not finite beyond 1.
struct Edge;

impl MechanicalSystem for Edge {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        mass[0] = if q[0] > 3.0 { -1.0 } else { 1.0 };
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = (1.0 - q[0]).sqrt();
    }
}

#[test]
fn what_cannot_be_done_is_said_and_the_state_is_kept() {
    let (mut q, mut p) = ([1e-3], [0.0]);
    let failure = Midpoint::new(Stiff)
        .unwrap()
        .step(0.0, 1.0, &mut q, &mut p)
        .unwrap_err();
    assert!(
        matches!(
            failure,
            VariationalFailure::NewtonFailed {
                t: 0.0,
                step: 1.0,
                ..
            }
        ),
        "{failure}"
    );
    assert_eq!((q, p), ([1e-3], [0.0]));

    let mut edge = Midpoint::new(Edge).unwrap();
    let (mut q, mut p) = ([0.9], [10.0]);
    let failure = edge.step(0.5, 1.0, &mut q, &mut p).unwrap_err();
    assert!(
        matches!(failure, VariationalFailure::NotFinite { t: 0.5, .. }),
        "{failure}"
    );
    let failure = edge.step(0.5, 1.0, &mut [4.0], &mut p).unwrap_err();
    assert!(
        matches!(failure, VariationalFailure::Mass { .. }),
        "{failure}"
    );
    for (t, h, q) in [
        (f64::NAN, 0.1, 0.0),
        (0.0, f64::INFINITY, 0.0),
        (0.0, 0.1, f64::NAN),
    ] {
        let failure = edge.step(t, h, &mut [q], &mut p).unwrap_err();
        assert!(
            matches!(
                failure,
                VariationalFailure::Input(InputError::NotFinite { .. })
            ),
            "{failure}"
        );
    }
    let failure = edge.step(0.0, 0.1, &mut [0.0, 0.0], &mut p).unwrap_err();
    assert!(
        matches!(
            failure,
            VariationalFailure::Input(InputError::WrongLength { .. })
        ),
        "{failure}"
    );
}
