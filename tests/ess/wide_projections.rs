//! Projections over a distance that the user chose, whose error no test limits: it is estimated,
//! and doubts are told by it; and a guard that the motion turns away from is not crossed.

use saltation::models::{PlateParameters, VerticalPlate};
use saltation::{Integrator, Projection, Start, Status, Watch};

use crate::fixtures::support::{Sketch, SplitMix64};

/// The settings of the paper on 50 springs end far from the truth from some starts.
#[test]
fn a_run_that_projections_lead_astray_is_doubted() {
    let plate = VerticalPlate::new(PlateParameters::with_springs(50)).unwrap();
    let mut exact = Integrator::fixed::<6>(&plate)
        .unwrap()
        .rtol(1e-10)
        .atol(1e-11)
        .projection(Projection::Off);
    // How many of 20 are astray, at least; and how many others are doubted, at most. Runs of order 1
    // are off by 0.02 and more, some by more than contacts are deep.
    for (order, least, most) in [(1, 3, 8), (2, 1, 4), (3, 3, 2)] {
        let mut coarse = Integrator::fixed::<6>(&plate)
            .unwrap()
            .rtol(1e-6)
            .atol(1e-7)
            .fixed_step(2e-3)
            .projection(Projection::eps(0.0117, order));
        let (mut astray, mut needless) = (0, 0);
        for seed in 1..=20 {
            let start = PlateParameters::random_start(seed);
            let truth = exact.integrate(&Start::at(0.0).x(&start), 2.0).unwrap();
            let run = coarse.integrate(&Start::at(0.0).x(&start), 2.0).unwrap();
            let is_other = run.crossings().len() != truth.crossings().len();
            astray += usize::from(is_other);
            let is_doubted = *run.status() != Status::ReachedEnd || !run.is_guaranteed();
            assert!(is_doubted || !is_other, "order {order}, start {seed}");
            needless += usize::from(is_doubted && !is_other);
        }
        assert!(astray >= least, "order {order}: {astray}");
        assert!(needless <= most, "order {order}: {needless}");
    }
}

/// `x'' = −a` thrown at the guard from a distance `d` with the speed `v`: it is reached only where
/// `v² > 2·a·d`.
#[test]
fn a_guard_that_is_not_reached_is_not_crossed() {
    for seed in 0..400 {
        let mut random = SplitMix64(seed);
        let (a, d) = (random.between(0.1, 10.0), random.between(0.01, 0.9));
        // Half of them fall short by one part in a thousand to all of it; half get beyond.
        let miss = 10f64.powf(random.between(-3.0, -0.2));
        let is_reached = seed % 2 == 0;
        let part = if is_reached { 1.0 + miss } else { 1.0 - miss };
        let v = (2.0 * a * d * part).sqrt();
        let thrown = Sketch::new(2, move |_, x, _, dx| dx.copy_from_slice(&[x[1], -a]))
            .events([Watch::RISING], |_, _, x, _| x[0]);
        for order in 1..=4 {
            for projection in [
                Projection::eps(1.0, order),
                Projection::horizon(10.0, order),
            ] {
                let run = Integrator::new(&thrown)
                    .unwrap()
                    .projection(projection.clone())
                    .integrate(&Start::at(0.0).x(&[-d, v]), 3.0 * v / a)
                    .unwrap();
                let count = run.crossings().len();
                let what = format!("{seed}: {projection:?}, {part}: {:?}", run.crossings());
                assert_eq!(*run.status(), Status::ReachedEnd, "{what}");
                assert_eq!(count, usize::from(is_reached), "{what}");
            }
        }
    }
}
