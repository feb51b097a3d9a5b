//! The derivative of the motion along a direction, contacts held, against differences of the
//! motion.

use saltation::ContactModel;
use saltation::Flow;
use saltation::mechanics::{MechanicalSystem, Redundant, UnilateralConstraints};
use saltation::models::{BouncingBall, DoublePendulum, RigidTrot, SoftTrot};

use crate::fixtures::family::Family;
use crate::fixtures::point::Point;
use crate::random::SplitMix64;

/// Largest error over the largest entry, along random directions from a random state.
fn error<S: MechanicalSystem + UnilateralConstraints>(
    model: &ContactModel<S>,
    closed: &[usize],
    seed: u64,
) -> f64 {
    let dim = model.dim();
    let mut draw = SplitMix64(seed);
    let mut vector =
        |size: f64| -> Vec<f64> { (0..dim).map(|_| draw.between(-size, size)).collect() };
    let mode = model.mode(closed);
    let x = vector(0.5);
    let directions = [vector(1.0), vector(1.0), vector(1.0)].concat();
    let mut given = vec![f64::NAN; directions.len()];
    assert!(model.jacobian_times_each(0.3, &x, &mode, &directions, &mut given));
    let (mut worst, mut size) = (0.0f64, 1.0f64);
    for (along, given) in directions.chunks_exact(dim).zip(given.chunks_exact(dim)) {
        let at = |s: f64| {
            let moved: Vec<f64> = x.iter().zip(along).map(|(x, v)| x + s * v).collect();
            let mut dx = vec![0.0; dim];
            model.flow(0.3, &moved, &mode, &mut dx);
            dx
        };
        let s = 1e-5;
        let (ahead, behind) = (at(s), at(-s));
        for i in 0..dim {
            let difference = (ahead[i] - behind[i]) / (2.0 * s);
            worst = worst.max((given[i] - difference).abs());
            size = size.max(difference.abs());
        }
    }
    worst / size
}

#[test]
fn it_is_that_of_differences_in_every_mode() {
    for seed in 0..10 {
        // Differences of the motion are good to 1e-9 or so, s² and rounding over s.
        let within = |error: f64| assert!(error < 1e-8, "{error:e}");
        within(error(
            &ContactModel::new(BouncingBall::default()),
            &[0],
            seed,
        ));
        let coupled = SoftTrot {
            coupling: 2.0,
            ..SoftTrot::default()
        };
        for closed in [&[][..], &[0], &[1], &[0, 1]] {
            within(error(&ContactModel::new(coupled), closed, seed));
            within(error(
                &ContactModel::new(RigidTrot::default()),
                closed,
                seed,
            ));
            within(error(
                &ContactModel::new(Family::random(2, 0.5, 1)),
                closed,
                seed,
            ));
        }
        for closed in [&[][..], &[0]] {
            within(error(
                &ContactModel::new(DoublePendulum::default()),
                closed,
                seed,
            ));
        }
        // Efforts that depend on contact, and a mass that depends on the height.
        let point = Point {
            switched: true,
            mass: |z| 2.0 + z.sin(),
            gap: |z| z + z * z,
            ..Point::pushed(|t, z, v, closed| if closed { t * z * v } else { z })
        };
        for closed in [&[][..], &[0]] {
            // Rows and curvatures are differences themselves, good to 1e-10 and 1e-7: those of them
            // lose six digits.
            assert!(error(&ContactModel::new(point), closed, seed) < 1e-3);
        }
    }
}

/// Multipliers that are one choice of many have no such derivative; the core takes differences.
#[test]
fn redundant_contacts_are_left_to_differences() {
    let twice = Twice;
    let model = ContactModel::new(twice).redundant(Redundant::LeastSquares);
    let mode = model.mode(&[0, 1]);
    let mut out = [0.0; 2];
    assert!(!model.jacobian_times(0.0, &[0.0, 0.0], &mode, &[1.0, 0.0], &mut out));
}

/// A point on two floors at one height.
struct Twice;

impl MechanicalSystem for Twice {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = -1.0;
    }
}

impl UnilateralConstraints for Twice {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[0]
    }
}
