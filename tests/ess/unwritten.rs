//! Guards of which nothing is written but their values: large terms that cancel, states far from zero, units of any size.

use saltation::{EventFunction, Flow, Integrator, Mode, Projection, Status, Watch};

use crate::support::{Sketch, SplitMix64};

/// Planes through one point far from zero, met at one instant by a straight motion.
struct Planes {
    normals: Vec<[f64; 3]>,
    point: [f64; 3],
    velocity: [f64; 3],
}

impl Flow for Planes {
    fn dim(&self) -> usize {
        3
    }
    fn flow(&self, _t: f64, _x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&self.velocity);
    }
}

impl EventFunction for Planes {
    fn count(&self) -> usize {
        self.normals.len()
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        dot(&self.normals[k], x) - dot(&self.normals[k], &self.point)
    }
}

#[test]
fn guards_at_one_instant_whose_terms_are_large_against_their_rates_cross_together() {
    let mut random = SplitMix64(21);
    for case in 0..2000 {
        let count = if case % 2 == 0 { 2 } else { 12 };
        let size = 10f64.powf(random.between(0.0, 4.0));
        let velocity = [(); 3].map(|()| random.between(-1.0, 1.0));
        let point = [(); 3].map(|()| size * random.between(-1.0, 1.0));
        let normals = (0..count)
            .map(|_| {
                // Rates from 1e-3 to 1, whatever the size of the normal.
                let mut normal = [(); 3].map(|()| random.between(-1.0, 1.0));
                let rate = 10f64.powf(random.between(-3.0, 0.0));
                let now: f64 = normal.iter().zip(velocity).map(|(n, v)| n * v).sum();
                let length: f64 = velocity.iter().map(|v| v * v).sum();
                for (n, v) in normal.iter_mut().zip(velocity) {
                    *n += (rate - now) * v / length;
                }
                normal
            })
            .collect();
        let time = random.between(0.1, 3.0);
        let planes = Planes {
            normals,
            point,
            velocity,
        };
        let start: Vec<f64> = (0..3).map(|i| point[i] - time * velocity[i]).collect();
        for projection in [Projection::Auto, Projection::Off] {
            let what = format!("case {case}, {count} guards, {projection:?}");
            let mut integrator = Integrator::new(&planes).unwrap().projection(projection);
            let run = integrator.integrate(0.0, &start, 2.0 * time).unwrap();
            assert_eq!(*run.status(), Status::ReachedEnd, "{what}");
            assert_eq!(run.crossings().len(), count, "{what}");
            // Values are known to a few units in the last place of their terms.
            let rounding = 16.0 * f64::EPSILON * size / 1e-3;
            for crossing in run.crossings() {
                assert!(
                    (crossing.time - time).abs() <= 1e-9 + rounding,
                    "{what}: {crossing:?}"
                );
            }
        }
    }
}

/// Two bodies on a line, a long way off, run into each other and bounce.
#[test]
fn collisions_a_long_way_off_are_found() {
    let mut random = SplitMix64(22);
    for case in 0..400 {
        let far = 10f64.powf(random.between(3.0, 9.0));
        let (gap, speed) = (random.between(0.1, 2.0), random.between(0.2, 3.0));
        let system = Sketch::new(4, |_, x, _, dx| dx.copy_from_slice(&[x[2], x[3], 0.0, 0.0]))
            .events([Watch::FALLING], |_, _, x, _| x[1] - x[0] - 1.0)
            .reset(|_, _, x, _| {
                x.swap(2, 3);
                Ok(())
            });
        let drift = random.between(-1.0, 1.0);
        let start = [far, far + 1.0 + gap, drift + speed, drift];
        for projection in [Projection::Auto, Projection::Off] {
            let mut integrator = Integrator::new(&system).unwrap().projection(projection);
            let run = integrator
                .integrate(0.0, &start, 3.0 * gap / speed)
                .unwrap();
            let what = format!("case {case} at {far:e}: {}", run.status());
            assert_eq!(*run.status(), Status::ReachedEnd, "{what}");
            assert_eq!(run.crossings().len(), 1, "{what}");
            let (time, late) = (gap / speed, 8.0 * f64::EPSILON * far / speed);
            let off = run.crossings()[0].time - time;
            assert!(off.abs() <= 1e-9 + late, "{what}: {off:e}");
            assert!(run.state()[2] < run.state()[3], "{what}");
        }
    }
}

/// The unit of a guard is its own business: nanometres, light years.
#[test]
fn the_least_rate_is_in_the_unit_of_the_guard() {
    for unit in [1e-15, 1e-9, 1.0, 1e9, 1e15] {
        for projection in [Projection::Auto, Projection::Off] {
            let system = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
                .events([Watch::BOTH], move |_, _, x, _| unit * (x[0] - 0.3));
            let mut integrator = Integrator::new(system).unwrap().projection(projection);
            let run = integrator.integrate(0.0, &[0.0], 1.0).unwrap();
            assert_eq!(*run.status(), Status::ReachedEnd, "{unit:e}");
            assert_eq!(run.crossings().len(), 1, "{unit:e}");
        }
    }
}
