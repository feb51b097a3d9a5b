//! Feet that land at once, as plain systems of closures with nothing written: what differences
//! leave is no order, and an order is found.

use saltation::derivative::{CornerKind, Verdict};
use saltation::{Integrator, Sensitivities, Start, Watch};

use crate::sketch::Sketch;

/// A body on `n` soft legs with a foot each, `(z, z_1, …, z_n)` and their rates; feet bounce.
fn walker(n: usize, [body, foot, stiffness]: [f64; 3], restitution: f64) -> Sketch {
    Sketch::new(2 * (n + 1), move |_, x, _, dx| {
        let (q, v) = x.split_at(n + 1);
        dx[..=n].copy_from_slice(v);
        let mut sum = 0.0;
        for j in 1..=n {
            let push = stiffness * (1.0 - q[0] + q[j]) - 0.1 * stiffness.sqrt() * (v[0] - v[j]);
            sum += push;
            dx[n + 1 + j] = -9.81 - push / foot;
        }
        dx[n + 1] = -9.81 + sum / body;
    })
    .events_of(n, Watch::FALLING, |k, _, x, _| x[1 + k])
    .reset(move |_, crossed, x, _| {
        for k in crossed.events() {
            x[n + 2 + k] *= -restitution;
        }
        Ok(())
    })
}

#[test]
fn feet_that_land_at_once_are_classical_at_any_tolerance() {
    for restitution in [0.1, 0.5] {
        for (n, masses) in [
            (3, [1.0, 0.1, 30.0]),
            (4, [1.0, 0.1, 30.0]),
            (3, [80.0, 0.5, 3e3]),
            (4, [1e3, 1.0, 300.0]),
            (3, [0.1, 1.0, 30.0]),
        ] {
            let system = walker(n, masses, restitution);
            let mut start = vec![0.0; 2 * (n + 1)];
            start[..=n].fill(0.5);
            start[0] = 1.5;
            // Without optimisation every third, as for those of a walker by differences.
            for k in (0..6).step_by(if cfg!(debug_assertions) { 3 } else { 1 }) {
                let rtol = 10f64.powf(-3.5 - 1.4 * f64::from(k));
                let mut integrator = Integrator::new(&system).unwrap().rtol(rtol).atol(rtol);
                let d = integrator
                    .derivative(&Start::at(0.0).x(&start), 0.325)
                    .unwrap();
                let corner = d.corners().next();
                assert!(corner.is_some(), "{:?} {}", d.run().status(), d.verdict());
                let corner = corner.unwrap();
                assert_eq!(corner.guards().len(), n);
                assert_eq!(
                    *d.verdict(),
                    Verdict::Classical,
                    "{n} {masses:?} {restitution} {rtol:e}"
                );
                drop(d);
                // A direction that takes an order of its own comes out where the run does.
                let mut tangents = Sensitivities::new(start.len(), 2);
                let directions: Vec<f64> = (0..2 * start.len()).map(|i| (i as f64).sin()).collect();
                tangents.set(&directions).unwrap();
                integrator
                    .carry(&Start::at(0.0).x(&start), 0.325, &mut tangents, &mut ())
                    .unwrap();
                assert!(tangents.columns().is_ok());
            }
        }
    }
}

#[test]
fn maps_and_outcomes_that_depend_on_the_order_are_found() {
    // Walls, of which two shear y and z by each other; their resets do not commute by about `size`.
    for (n, offset, unit) in [
        (2, 0.0, 1.0),
        (2, 0.7, 1.0),
        (2, 0.7, 1e3),
        (8, 0.0, 1.0),
        (8, 0.7, 1.0),
    ] {
        for size in [1e-6, 1e-4, 1.0] {
            let shears = Sketch::new(n + 2, move |_, _, _, dx| {
                dx[..n].fill(1.0);
                dx[n..].fill(0.0);
            })
            .events_of(n, Watch::RISING, |k, _, x, _| x[k] - 1.0)
            .reset(move |_, crossed, x, _| {
                for k in crossed.events() {
                    if k == 0 {
                        x[n] += size * x[n + 1];
                    } else if k == 1 {
                        x[n + 1] += 0.5 * x[n];
                    }
                }
                Ok(())
            });
            let mut integrator = Integrator::new(&shears).unwrap();
            // At offset 0 outcomes agree and maps do not, in any direction.
            let mut start = vec![0.0; n + 2];
            start[n..].fill(offset * unit);
            let d = integrator
                .derivative(&Start::at(0.0).x(&start), 1.5)
                .unwrap();
            let kind = d.corners().next().unwrap().kind();
            assert!(
                matches!(kind, CornerKind::Discontinuous),
                "{n} {offset} {unit} {size:e}: {kind:?}"
            );
            assert!(matches!(d.verdict(), Verdict::Discontinuous { .. }));
        }
    }
}
