//! Impacts with friction and restitution that have no outcome: refused, never answered by the rounding of a singular
//! problem.

use nalgebra::{DMatrix, DVector};
use saltation::impact::{ImpactFailure, ImpactLaw, ImpactProblem, Moreau, Selection};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Start};

use crate::random_bits::SplitMix64;

/// A rod on a hinge, whose tip strikes a slope of the angle `slope` from the way of the tip.
struct Rod {
    slope: f64,
    friction: f64,
}

const RESTITUTION: f64 = 0.5;

impl MechanicalSystem for Rod {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = 0.0;
    }
}

impl UnilateralConstraints for Rod {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        -(self.slope.cos() * q[0].sin() + self.slope.sin() * (1.0 - q[0].cos()))
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        RESTITUTION
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, _j: usize, q: &[f64], rows: &mut [f64]) {
        rows[0] = -self.slope.sin() * q[0].cos() + self.slope.cos() * q[0].sin();
    }
}

/// With the normal and tangent `c` and `s` of one coordinate, an impulse `p` along the normal with friction against the
/// slip that is left gives the speed `p (c − μ s)`: it rebounds only if `μ tan a < 1`.
#[test]
fn a_rod_that_friction_holds_does_not_rebound() {
    let law = Moreau::new();
    let mut refused = 0;
    for slope in [1.0f64, 1.2, 1.4] {
        for friction in [0.1, 0.3, 0.5, 0.9] {
            let problem = ImpactProblem::from_mechanics_with_tangents(
                &DMatrix::identity(1, 1),
                &DMatrix::from_column_slice(2, 1, &[-slope.cos(), -slope.sin()]),
                &DVector::from_element(1, 1.0),
                &[friction],
            )
            .and_then(|problem| problem.with_restitution(RESTITUTION))
            .expect("a problem");
            let opens = friction * slope.tan() < 1.0;
            let resolved = law.resolve(&problem);
            assert_eq!(resolved.is_ok(), opens, "{slope} {friction}: {resolved:?}");
            for selection in [Selection::Single, Selection::First] {
                let rod = Rod { slope, friction };
                let model = ContactModel::new(rod).selection(selection);
                let mut driver = EventDriven::new(model).expect("a driver");
                let run = driver.integrate(&Start::at(0.0).q(&[-0.1]).v(&[1.0]), 0.15);
                let run = run.expect("input");
                assert_eq!(run.status().stop().is_none(), opens, "{slope} {friction}");
                if opens {
                    assert!((run.v(run.times().len() - 1)[0] + RESTITUTION).abs() < 1e-12);
                } else {
                    assert!((run.t() - 0.1).abs() < 1e-9);
                }
            }
            refused += usize::from(matches!(resolved, Err(ImpactFailure::Jammed { .. })));
        }
    }
    // The others are those of which the method itself finds none.
    assert!(refused > 0);
}

/// Whatever Moreau's law gives for bodies between several contacts keeps the law.
#[test]
fn impulses_of_bodies_between_contacts_keep_the_law() {
    let (mut answered, mut refused) = (0, 0);
    let seeds = if cfg!(debug_assertions) { 120 } else { 600 };
    for seed in 0..seeds {
        let draw = &mut SplitMix64(seed);
        let n = 2 + usize::try_from(draw.next() % 3).expect("small");
        let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 1.0, 0.1]));
        let mut rows = DMatrix::zeros(2 * n, 3);
        for i in 0..n {
            let (sin, cos) = draw.between(0.0, std::f64::consts::TAU).sin_cos();
            let (x, y) = (draw.between(-0.5, 0.5), draw.between(-0.5, 0.5));
            for (row, [a, b]) in [(i, [cos, sin]), (n + i, [sin, -cos])] {
                rows.row_mut(row).copy_from_slice(&[a, b, x * b - y * a]);
            }
        }
        let v = DVector::from_fn(3, |_, _| draw.between(-1.0, 1.0));
        let friction: Vec<f64> = (0..n).map(|_| draw.between(0.05, 1.2)).collect();
        let e: Vec<f64> = (0..n).map(|_| draw.between(0.0, 1.0)).collect();
        let problem = ImpactProblem::from_mechanics_with_tangents(&mass, &rows, &v, &friction)
            .and_then(|problem| problem.with_restitutions(&e))
            .expect("a problem");
        let Ok(outcomes) = Moreau::new().resolve(&problem) else {
            refused += 1;
            continue;
        };
        answered += 1;
        for outcome in &outcomes.list {
            let p = &outcome.impulses;
            let after = problem.speeds() + problem.delassus() * p;
            // Impulses may be large where two lines of action almost meet.
            let (fine, size) = (1e-9 * (1.0 + p.amax()), 1e-7 * (1.0 + p.amax()));
            for i in 0..n {
                let opening = after[i] + e[i] * problem.speeds()[i].min(0.0);
                let (push, hold, slip) = (p[i], p[n + i], after[n + i]);
                assert!(opening > -fine && push > -size, "{seed}: {outcome}");
                assert!(opening < fine || push < size, "{seed}: {outcome}");
                assert!(hold.abs() < friction[i] * push + size, "{seed}: {outcome}");
                let slides =
                    slip.abs() < fine || (hold + friction[i] * push * slip.signum()).abs() < size;
                assert!(slides, "{seed}: {outcome}");
            }
        }
    }
    assert!(
        answered > seeds / 2 && refused > seeds / 20,
        "{answered} {refused}"
    );
}
