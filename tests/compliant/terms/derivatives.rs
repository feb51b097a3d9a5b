//! Derivatives of rollouts with terms, against differences of rollouts.

use nalgebra::{DMatrix, DVector, UnitQuaternion, Vector3};
use saltation::bodies::{Anchor, Body, Frozen, Joint, JointAxis, Scene, Shape};
use saltation::compliant::{
    JointCoupling, JointFriction, JointLimit, Motor, MotorGoal, Scheme, Solver, StepState,
};
use saltation::{Compliant, Start, Verdict};

use crate::random::SplitMix64;

use super::systems::{Bodies, Sliders, coordinates, cuboid};

/// Sliders with a motor below and one at its limit, a stop, friction and a gear.
#[test]
fn rollouts_of_axes() {
    let goal = |state: &StepState<'_>| MotorGoal {
        position: 0.3 + 0.1 * state.q[1],
        velocity: 0.2 * state.v[2],
        effort: state.t,
    };
    let mut stepper = Sliders::new(&[2.0, 1.0, 3.0, 1.5], &[1.0, 6.0, -2.0, 9.0])
        .pushing(0, 3, -0.4)
        .with(0.01, Motor::new(0).gains(80.0, 9.0).follow(goal))
        .term(Motor::new(1).gains(1e3, 0.0).effort_limit(3.0))
        .term(JointLimit::new(1, -1.0, 0.25))
        .term(JointFriction::new(2, 1.5))
        .term(JointCoupling::new(&[(2, 1.0), (3, 2.0)], 0.1));
    let (q, v) = ([0.1, 0.05, -0.2, 0.15], [0.5, 0.4, 0.3, -0.1]);
    let (_, found) = stepper
        .sensitivities(&Start::at(0.0).q(&q).v(&v), 0.5, &DMatrix::identity(8, 8))
        .expect("derivatives");
    let h = 1e-6;
    for k in 0..8 {
        let mut end = |h: f64| {
            let (mut q, mut v) = (q, v);
            if k < 4 {
                q[k] += h;
            } else {
                v[k - 4] += h;
            }
            let run = stepper
                .integrate(&Start::at(0.0).q(&q).v(&v), 0.5)
                .expect("input");
            run.completed().expect("completed").state().clone()
        };
        for (i, (high, low)) in end(h).iter().zip(&end(-h)).enumerate() {
            let difference = (high - low) / (2.0 * h);
            let error = (difference - found[(i, k)]).abs();
            assert!(error < 1e-6, "{i} {k}: {difference} {}", found[(i, k)]);
        }
    }
}

/// Two rods that swing, joined to each other and to the world: the velocities at the start.
#[test]
fn rollouts_of_joints() {
    let rod = cuboid(2.0, [0.05, 0.02, 0.4]);
    let system = Bodies {
        bodies: vec![rod; 2],
        gravity: 9.81,
    };
    let mut q = Vec::new();
    for z in [-0.2, -0.6] {
        let centre = Vector3::new(0.0, 0.0, z);
        q.extend(coordinates(centre, UnitQuaternion::identity()));
    }
    let (top, bottom) = ([0.0, 0.0, 0.2], [0.0, 0.0, -0.2]);
    let mut stepper = system
        .stepper(0.01)
        .term(Joint::ball(Anchor::world([0.0; 3]), Anchor::on(0, top)))
        .term(Joint::ball(Anchor::on(0, bottom), Anchor::on(1, top)));
    let v = [0.3, -0.8, 0.5, 0.0, 0.0, 0.0, -0.4, 0.6, 0.2, 0.0, 0.0, 0.0];
    let mut directions = DMatrix::zeros(26, 12);
    directions.view_mut((14, 0), (12, 12)).fill_with_identity();
    let (_, found) = stepper
        .sensitivities(&Start::at(0.0).q(&q).v(&v), 0.2, &directions)
        .expect("derivatives");
    let h = 1e-5;
    for k in 0..12 {
        let mut end = |h: f64| {
            let mut v = v;
            v[k] += h;
            let run = stepper
                .integrate(&Start::at(0.0).q(&q).v(&v), 0.2)
                .expect("input");
            run.completed().expect("completed").state().clone()
        };
        for (i, (high, low)) in end(h).iter().zip(&end(-h)).enumerate() {
            let difference = (high - low) / (2.0 * h);
            let error = (difference - found[(i, k)]).abs();
            assert!(error < 1e-5, "{i} {k}: {difference} {}", found[(i, k)]);
        }
    }
}

/// Hinges, a slider, a gear, a motor and a stop that is pressed: displacements and velocities at the start.
#[test]
fn rollouts_of_axes_of_joints() {
    let link = cuboid(2.0, [0.05, 0.03, 0.4]);
    let system = Bodies {
        bodies: vec![link, cuboid(1.0, [0.3; 3]), cuboid(0.5, [0.1, 0.2, 0.1])],
        gravity: 9.81,
    };
    let axis = [0.0, 1.0, 0.0];
    let world = |x: f64, z: f64| Anchor::world([x, 0.0, z]);
    let arm = Joint::hinge(
        Anchor::on(0, [0.0, 0.0, 0.2]).along(axis),
        world(0.0, 0.0).along(axis),
    );
    let wheel = Joint::hinge(
        Anchor::on(1, [0.0; 3]).along(axis),
        world(1.0, 0.0).along(axis),
    );
    let rail = Joint::slider(Anchor::on(2, [0.0; 3]), Anchor::on(0, [0.1, 0.0, -0.2]));
    let [at_arm, at_wheel] = [arm, wheel].map(|joint| joint.axis(JointAxis::AboutX));
    let at_rail = rail.axis(JointAxis::AlongX);
    let goal = |state: &StepState<'_>| MotorGoal {
        position: 0.2 * state.t,
        velocity: 0.2,
        effort: 0.0,
    };
    let gear = [(at_arm, 2.0), (at_wheel.clone(), 3.0)];
    let mut stepper = system
        .stepper(0.01)
        .term(arm)
        .term(wheel)
        .term(rail)
        .term(JointCoupling::new(&gear, 0.0))
        .term(Motor::new(at_wheel).gains(5.0, 0.4).follow(goal))
        .term(JointLimit::new(at_rail, -0.4, 0.05));
    let mut q = Vec::new();
    for [x, z] in [[0.0, -0.2], [1.0, 0.0], [0.15, -0.4]] {
        let centre = Vector3::new(x, 0.0, z);
        q.extend(coordinates(centre, UnitQuaternion::identity()));
    }
    let mut v = [0.0; 18];
    v[15] = 2.0;
    let found = stepper.derivative(&Start::at(0.0).q(&q).v(&v), 0.1);
    let found = found.expect("input");
    let found = found.matrix().expect("a derivative");
    assert!(stepper.term_impulses(5).expect("two stops")[1] > 0.0);
    let h = 1e-6;
    for k in 0..36 {
        let end = |h: f64| {
            let (mut q, mut v) = (q.clone(), v);
            let (body, part) = (k % 18 / 6, k % 6);
            if k >= 18 {
                v[k - 18] += h;
            } else if part >= 3 {
                q[7 * body + part - 3] += h;
            } else {
                let mut turn = Vector3::zeros();
                turn[part] = h;
                let at = UnitQuaternion::from_scaled_axis(turn);
                q[7 * body + 3..7 * body + 7].copy_from_slice(&[at.w, at.i, at.j, at.k]);
            }
            let run = stepper.integrate(&Start::at(0.0).q(&q).v(&v), 0.1);
            run.expect("input")
                .completed()
                .expect("completed")
                .state()
                .clone()
        };
        assert_differences(found.column(k).iter(), h, end);
    }
}

/// A column of derivatives is the central difference of the states at the ends.
pub(super) fn assert_differences<'a>(
    column: impl Iterator<Item = &'a f64>,
    h: f64,
    mut end: impl FnMut(f64) -> DVector<f64>,
) {
    let (high, low) = (end(h), end(-h));
    for (i, found) in column.enumerate() {
        let difference = (high[i] - low[i]) / (2.0 * h);
        let error = (difference - found).abs();
        assert!(
            error < 1e-5 * (1.0 + difference.abs()),
            "{i}: {difference} {found}"
        );
    }
}

/// Forces of inertia at the velocities of the solution: of a thin bar that turns by a tenth in a step they take twenty
/// rounds. Bars that turn further have no derivative, or are not guaranteed.
#[test]
fn steps_of_thin_bars_that_are_held_by_an_axis() {
    let mut compared = 0;
    for (seed, spin) in (0..60).flat_map(|seed| [(seed, 5.0), (seed, 15.0)]) {
        let mut draw = SplitMix64(seed);
        let mut vector = |n: usize| DVector::from_fn(n, |_, _| draw.between(-1.0, 1.0)).normalize();
        let (turn, about) = (vector(4), vector(3) * spin);
        let body = Body::new(Shape::sphere(0.1).expect("a shape"))
            .mass(1.0, [0.0208, 0.0208, 0.00013])
            .orientation([turn[0], turn[1], turn[2], turn[3]])
            .angular_velocity([about[0], about[1], about[2]]);
        let mut scene = Scene::new();
        let bar = scene.add(body).expect("a body");
        let (q, v) = scene.start();
        let held = Frozen::of(&scene, bar, &[JointAxis::AboutX]).expect("a body");
        let mut stepper = Compliant::new(scene)
            .expect("a scene")
            .time_step(0.01)
            .scheme(Scheme::ImplicitEuler)
            .solver(Solver::new().rtol(1e-13))
            .term(held);
        let found = stepper
            .derivative(&Start::at(0.0).q(&q).v(&v), 0.01)
            .expect("input");
        if *found.verdict() != Verdict::Classical || !found.run().is_guaranteed() {
            continue;
        }
        let matrix = found.matrix().expect("classical");
        compared += 1;
        let mut end = |k: usize, h: f64| {
            let mut v = v.clone();
            v[k] += h;
            let run = stepper
                .integrate(&Start::at(0.0).q(&q).v(&v), 0.01)
                .expect("input");
            run.completed().expect("completed").state().clone()
        };
        for k in 0..3 {
            let difference = (end(k, 1e-5) - end(k, -1e-5)) / 2e-5;
            let off = (difference - matrix.column(v.len() + k)).amax();
            assert!(off < 1e-6, "{seed} {spin} {k}: {off:e}");
        }
    }
    assert!(compared > 50, "{compared}");
}
