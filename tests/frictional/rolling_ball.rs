//! A ball that rolls on a floor, its spin in axes of its own: derivatives of its runs.

use nalgebra::{DVector, Quaternion, UnitQuaternion, Vector3};
use saltation::derivative::Verdict;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Start, Status};

const RADIUS: f64 = 0.1;

/// Of 1 kg, at `(x, y, z)` and a quaternion, its gap an event function alone.
#[derive(Clone, Copy)]
struct Ball;

fn turn(q: &[f64]) -> UnitQuaternion<f64> {
    UnitQuaternion::from_quaternion(Quaternion::new(q[3], q[4], q[5], q[6]))
}

impl MechanicalSystem for Ball {
    fn dof(&self) -> usize {
        6
    }
    fn coordinates(&self) -> usize {
        7
    }
    fn configuration_rate(&self, q: &[f64], v: &[f64], rate: &mut [f64]) -> bool {
        rate[..3].copy_from_slice(&v[..3]);
        let own = Quaternion::new(q[3], q[4], q[5], q[6]);
        let half = own * Quaternion::new(0.0, 0.5 * v[3], 0.5 * v[4], 0.5 * v[5]);
        rate[3..].copy_from_slice(&[half.w, half.i, half.j, half.k]);
        true
    }
    fn project_configuration(&self, q: &mut [f64]) -> bool {
        let size = q[3..].iter().map(|x| x * x).sum::<f64>().sqrt();
        q[3..].iter_mut().for_each(|x| *x /= size);
        true
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        let inertia = 0.4 * RADIUS * RADIUS;
        (0..6).for_each(|k| mass[7 * k] = if k < 3 { 1.0 } else { inertia });
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn coriolis(&self, _q: &[f64], _v: &[f64], force: &mut [f64]) -> bool {
        force.fill(0.0);
        true
    }
    fn effort(&self, t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
        effort[..3].copy_from_slice(&[0.3 * (3.0 * t).sin(), -0.2 * q[0], -9.81]);
    }
}

impl UnilateralConstraints for Ball {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[2] - RADIUS
    }
    fn friction(&self, _j: usize) -> f64 {
        0.4
    }
    fn tangents(&self, _j: usize) -> usize {
        2
    }
    fn tangent_rows(&self, _j: usize, q: &[f64], rows: &mut [f64]) {
        // The slip v + ω × r along x and y, ω turned into the axes of the world.
        let down = Vector3::new(0.0, 0.0, -RADIUS);
        for (axis, row) in rows.chunks_exact_mut(6).enumerate() {
            let along = Vector3::ith(axis, 1.0);
            let turned = turn(q).inverse() * down.cross(&along);
            row[..3].copy_from_slice(along.as_slice());
            row[3..].copy_from_slice(turned.as_slice());
        }
    }
}

/// Rolling with these velocities, turned by an angle at the start.
fn start([x, y, angle]: [f64; 3]) -> [f64; 13] {
    let axis = Vector3::new(0.3, -0.5, 0.8);
    let turn = UnitQuaternion::from_scaled_axis(axis * (1.1 + angle));
    // ω × (0, 0, −r) = −(x, y, 0), and a spin about the normal.
    let spin = turn.inverse() * Vector3::new(-y / RADIUS, x / RADIUS, 6.0);
    let q = turn.quaternion();
    [
        0.0, 0.0, RADIUS, q.w, q.i, q.j, q.k, x, y, 0.0, spin.x, spin.y, spin.z,
    ]
}

#[test]
fn derivatives_of_what_rolls_are_those_of_differences() {
    let driver = |rtol: f64| {
        EventDriven::new(ContactModel::new(Ball))
            .unwrap()
            .rtol(rtol)
            .atol(1e-2 * rtol)
    };
    let from = [1.4, -1.6, 0.2];
    let at = |x: &[f64; 13], t: f64| -> DVector<f64> {
        let run = driver(1e-11).integrate(&Start::at(0.0).q(&x[..7]).v(&x[7..]), t);
        let run = run.unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd);
        run.state().clone()
    };
    let x = start(from);
    let tolerances: &[f64] = if cfg!(debug_assertions) {
        &[1e-8]
    } else {
        &[1e-6, 1e-8, 1e-10]
    };
    for &rtol in tolerances {
        let derivative = driver(rtol).derivative(&Start::at(0.0).q(&x[..7]).v(&x[7..]), 0.5);
        let derivative = derivative.unwrap();
        assert_eq!(*derivative.verdict(), Verdict::Classical, "{rtol:e}");
        // Slopes that are rounded would shorten the steps of the columns to nothing.
        let steps = derivative.run().statistics().steps;
        assert!(steps < 400, "{rtol:e}: {steps}");
        for entry in 0..3 {
            let h = 1e-4;
            let moved = |h: f64| {
                let mut to = from;
                to[entry] += h;
                start(to)
            };
            let [ahead, behind] = [h, -h].map(moved);
            let along: Vec<f64> = ahead
                .iter()
                .zip(&behind)
                .map(|(a, b)| (a - b) / (2.0 * h))
                .collect();
            let expected = (at(&ahead, 0.5) - at(&behind, 0.5)) / (2.0 * h);
            let found = derivative.apply(&along).unwrap();
            let off = (&found - &expected).amax() / expected.amax();
            assert!(off < 2e-6, "{rtol:e} {entry}: {off:e}\n{found} {expected}");
        }
    }
}
