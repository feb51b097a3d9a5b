//! Ball joints, welds, rods and ropes between free bodies.

use saltation::{Compliant, Run, Start};
use std::f64::consts::PI;

use nalgebra::{UnitQuaternion, Vector3};
use saltation::bodies::{Anchor, Body, DistanceJoint, FreeBody, Joint, Scene, Shape};

use super::axes::least;
use super::systems::{Bodies, coordinates, cuboid, pose};

const G: f64 = 9.81;

fn bodies(bodies: &[(f64, [f64; 3])], gravity: f64) -> Bodies {
    Bodies {
        bodies: bodies.to_vec(),
        gravity,
    }
}

/// A weld midway between two bodies.
fn as_placed(i: usize, j: usize, q: &[f64]) -> Joint {
    let ((a, turn), (b, _)) = (pose(q, i), pose(q, j));
    let middle = turn.inverse() * (0.5 * (b - a));
    let anchors = (Anchor::on(i, middle.into()), Anchor::on(j, [0.0; 3]));
    Joint::weld(anchors.0, anchors.1)
        .as_placed(q)
        .expect("two bodies")
}

/// Times at which a coordinate passes zero upwards, by straight lines between steps.
fn passages(run: &Run, coordinate: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let at = |k: usize| coordinate(run.q(k));
    let pairs = (1..run.times().len()).filter(|&k| at(k - 1) < 0.0 && at(k) >= 0.0);
    pairs
        .map(|k| {
            let (t, before) = (run.times()[k - 1], at(k - 1));
            t - (run.times()[k] - t) * before / (at(k) - before)
        })
        .collect()
}

/// A rod on a ball joint, let go at an angle: its centre and its joint.
fn pendulum(angle: f64, dt: f64, time: f64) -> (Bodies, Run) {
    let rod = cuboid(2.0, [0.02, 0.02, 1.0]);
    let system = bodies(&[rod], G);
    let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), angle);
    let start = coordinates(turn * Vector3::new(0.0, 0.0, -0.5), turn);
    let joint = Joint::ball(Anchor::on(0, [0.0, 0.0, 0.5]), Anchor::world([0.0; 3]));
    let mut stepper = system.clone().stepper(dt).term(joint);
    let run = stepper.integrate(&Start::at(0.0).q(&start).v(&[0.0; 6]), time);
    (system, run.expect("input").completed().expect("completed"))
}

/// The distance of the end of the rod from the joint.
fn drift(run: &Run, k: usize) -> f64 {
    let (position, turn) = pose(run.q(k), 0);
    (position + turn * Vector3::new(0.0, 0.0, 0.5)).norm()
}

/// The period of small swings is that of the physical pendulum, and the joint holds to
/// `dt² ω² l/2`.
#[test]
fn a_rod_on_a_ball_joint_swings_like_a_pendulum() {
    let (system, run) = pendulum(0.02, 2e-3, 6.0);
    let times = passages(&run, |q| q[0]);
    let period = (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64;
    let (m, moments) = system.bodies[0];
    let inertia = moments[1] + m * 0.25;
    let exact = 2.0 * PI * (inertia / (m * G * 0.5)).sqrt();
    assert!((period / exact - 1.0).abs() < 1e-4, "{period} {exact}");
    let speed = 0.02 * 2.0 * PI / exact;
    let turning = 4e-6 * speed.powi(2) * 0.5 / 2.0;
    // The weight deviates the joint as a static load does.
    let weight = least(1.0 / m + 0.25 / moments[1]) * 4e-6 * m * G;
    for k in 0..run.times().len() {
        assert!(
            drift(&run, k) < 2.0 * turning + 1.1 * weight,
            "{k}: {:e}",
            drift(&run, k)
        );
    }
}

/// Large swings: the drift falls with the square of the step, and so little energy is lost.
#[test]
fn the_drift_of_a_ball_joint_is_of_second_order() {
    let worst = |dt: f64| {
        let (system, run) = pendulum(2.5, dt, 2.0);
        let drifts = (0..run.times().len()).map(|k| drift(&run, k));
        let energy = |k: usize| system.energy(run.q(k), run.v(k));
        let swing = 2.0 * G * 0.5 * (1.0 - (2.5f64).cos());
        let last = run.times().len() - 1;
        (
            drifts.fold(0.0, f64::max),
            (energy(last) - energy(0)) / swing,
        )
    };
    let [(d1, e1), (d2, e2), (d3, e3)] = [4e-3, 2e-3, 1e-3].map(worst);
    for ratio in [d1 / d2, d2 / d3] {
        assert!((3.5..4.5).contains(&ratio), "{ratio}");
    }
    // The energy of symplectic Euler, off by the first order of the step.
    assert!(e1.abs() < 2e-3, "{e1:e}");
    for ratio in [e1 / e2, e2 / e3] {
        assert!((1.8..2.4).contains(&ratio), "{ratio}");
    }
}

/// A chain of three bodies without gravity: momentum stays, angular momentum to the drift.
#[test]
fn a_chain_keeps_its_momentum() {
    let system = bodies(
        &[
            cuboid(1.0, [0.1, 0.2, 0.3]),
            cuboid(3.0, [0.2, 0.2, 0.1]),
            cuboid(0.5, [0.3, 0.1, 0.1]),
        ],
        0.0,
    );
    let (mut q, mut v) = (Vec::new(), Vec::new());
    for i in 0..3 {
        let centre = Vector3::new(0.4 * f64::from(i), 0.0, 0.0);
        q.extend(coordinates(centre, UnitQuaternion::identity()));
        v.extend([0.3 * f64::from(i), -1.0, 0.5, 0.2, f64::from(i), -0.4]);
    }
    let momenta = |q: &[f64], v: &[f64]| {
        let (mut linear, mut angular) = (Vector3::zeros(), Vector3::zeros());
        for (i, (m, moments)) in system.bodies.iter().enumerate() {
            let (position, turn) = pose(q, i);
            let v = &v[6 * i..6 * i + 6];
            let p = *m * Vector3::new(v[3], v[4], v[5]);
            let turning = turn.inverse() * Vector3::new(v[0], v[1], v[2]);
            let spin = turn * Vector3::from(*moments).component_mul(&turning);
            linear += p;
            angular += position.cross(&p) + spin;
        }
        (linear, angular)
    };
    let mut errors = Vec::new();
    for dt in [2e-3, 1e-3] {
        let mut stepper = system.clone().stepper(dt);
        for i in 0..2 {
            let (a, b) = ([0.2, 0.0, 0.0], [-0.2, 0.0, 0.0]);
            stepper = stepper.term(Joint::ball(Anchor::on(i, a), Anchor::on(i + 1, b)));
        }
        let run = stepper
            .integrate(&Start::at(0.0).q(&q).v(&v), 1.0)
            .expect("input");
        let run = run.completed().expect("completed");
        let last = run.times().len() - 1;
        let (before, after) = (momenta(&q, &v), momenta(run.q(last), run.v(last)));
        assert!((after.0 - before.0).norm() < 1e-11);
        errors.push((after.1 - before.1).norm() / before.1.norm());
    }
    assert!(
        errors[1] < 1e-5 && errors[0] / errors[1] > 1.7,
        "{errors:?}"
    );
}

/// Two boxes welded in a row to the world: the welds carry weight and moment of all beyond them.
#[test]
fn welds_carry_loads() {
    let (m, a) = (2.0, 0.2);
    let system = bodies(&[cuboid(m, [a; 3]), cuboid(m, [a; 3])], G);
    let turns = [0.0, 0.3].map(|x| UnitQuaternion::from_axis_angle(&Vector3::x_axis(), x));
    let mut q = Vec::new();
    for (i, turn) in turns.into_iter().enumerate() {
        let centre = Vector3::new((i as f64 + 0.5) * a, 0.0, 0.0);
        q.extend(coordinates(centre, turn));
    }
    let wall = Joint::weld(Anchor::on(0, [-0.5 * a, 0.0, 0.0]), Anchor::world([0.0; 3]));
    let between = as_placed(0, 1, &q);
    let mut stepper = system.stepper(0.01).term(wall).term(between);
    let run = stepper
        .integrate(&Start::at(0.0).q(&q).v(&[0.0; 12]), 3.0)
        .expect("input");
    let run = run.completed().expect("completed");
    let loads = stepper.solution().row_impulses();
    assert_eq!(loads.len(), 12);
    let expected = [
        (0.0, 0.0, 2.0 * m * G, 0.0, -2.0 * m * G * a, 0.0),
        (0.0, 0.0, -m * G, 0.0, 0.5 * m * G * a, 0.0),
    ];
    for (found, (x, y, z, tx, ty, tz)) in loads.chunks(6).zip(expected) {
        for (found, expected) in found.iter().zip([x, y, z, tx, ty, tz]) {
            assert!((found / 0.01 - expected).abs() < 1e-4 * m * G, "{loads:?}");
        }
    }
    // The first box turns by R dt² M: of the moment of both weights, with the response of a turn.
    let response = 1.0 / (m * a * a / 6.0);
    let sag = least(response) * 0.01 * 0.01 * 2.0 * m * G * a;
    let turned = pose(run.state().as_slice(), 0).1.scaled_axis();
    assert!((turned.y / sag - 1.0).abs() < 1e-4, "{turned} {sag:e}");
    // The weld of both gives way by a quarter: half the lever arm, half the weight, twice the
    // response. All displacements are of that order.
    for (k, (before, after)) in q.iter().zip(run.state()).enumerate() {
        assert!((before - after).abs() < 1.5 * sag, "{k}: {before} {after}");
    }
}

/// Two boxes welded together and thrown spinning stay one body: about a principal axis it spins
/// on.
#[test]
fn welded_boxes_turn_as_one_body() {
    let (m, a) = (2.0, 0.2);
    let system = bodies(&[cuboid(m, [a; 3]), cuboid(m, [a; 3])], 0.0);
    let mut q = Vec::new();
    let turn = UnitQuaternion::identity();
    for x in [-0.5 * a, 0.5 * a] {
        q.extend(coordinates(Vector3::new(x, 0.0, 0.0), turn));
    }
    let spin = 3.0;
    let v = [
        [0.0, 0.0, spin, 0.0, -0.5 * a * spin, 0.0],
        [0.0, 0.0, spin, 0.0, 0.5 * a * spin, 0.0],
    ];
    let dt = 1e-3;
    let weld = as_placed(0, 1, &q);
    let mut stepper = system.stepper(dt).term(weld);
    let run = stepper.integrate(&Start::at(0.0).q(&q).v(v.as_flattened()), 1.0);
    let run = run.expect("input").completed().expect("completed");
    for k in 0..run.times().len() {
        let (first, second) = (pose(run.q(k), 0), pose(run.q(k), 1));
        let apart =
            second.0 - first.0 - 0.5 * a * (first.1 * Vector3::x() + second.1 * Vector3::x());
        assert!(apart.norm() < dt * dt * spin * spin * a, "{k}");
        assert!(first.1.angle_to(&second.1) < 1e-9, "{k}");
    }
    let last = run.times().len() - 1;
    assert!(
        (run.v(last)[2] / spin - 1.0).abs() < 1e-2,
        "{}",
        run.v(last)[2]
    );
}

/// A body that hangs on a rod stretches it by `R dt² m g`; a rope holds it and does not push.
#[test]
fn rods_and_ropes_hold_a_load() {
    let (m, dt) = (2.0, 0.01);
    let system = || bodies(&[cuboid(m, [0.1; 3])], G);
    let turn = UnitQuaternion::identity();
    let q = coordinates(Vector3::new(0.0, 0.0, -0.7), turn);
    let rod = || DistanceJoint::new(Anchor::on(0, [0.0; 3]), Anchor::world([0.0; 3]), 0.7);
    for term in [rod(), rod().rope()] {
        let mut stepper = system().stepper(dt).term(term);
        let run = stepper
            .integrate(&Start::at(0.0).q(&q).v(&[0.0; 6]), 2.0)
            .expect("input");
        let run = run.completed().expect("completed");
        let stretch = -run.state()[2] - 0.7;
        let expected = least(1.0 / m) * dt * dt * m * G;
        assert!((stretch / expected - 1.0).abs() < 1e-6, "{stretch:e}");
        let pull = stepper.solution().row_impulses()[0];
        assert!((pull + dt * m * G).abs() < 1e-9);
    }
    // Thrown up, the rope goes slack and the body flies; the rod holds it.
    let up = [0.0, 0.0, 0.0, 0.0, 0.0, 2.0];
    let mut slack = system().stepper(dt).term(rod().rope());
    let mut free = system().stepper(dt);
    let mut held = system().stepper(dt).term(rod());
    slack.start(&Start::at(0.0).q(&q).v(&up)).expect("start");
    free.start(&Start::at(0.0).q(&q).v(&up)).expect("start");
    held.start(&Start::at(0.0).q(&q).v(&up)).expect("start");
    for _ in 0..30 {
        slack.step().expect("a step");
        free.step().expect("a step");
        held.step().expect("a step");
        assert_eq!((slack.q(), slack.v()), (free.q(), free.v()));
        assert!((held.q()[2] + 0.7).abs() < 1e-4);
    }
    for _ in 0..100 {
        slack.step().expect("a step");
        assert!(slack.q()[2] > -0.7 - 1e-4);
    }
}

/// A small body on a rod is a mathematical pendulum.
#[test]
fn a_body_on_a_rod_swings() {
    let turn = UnitQuaternion::identity();
    let (angle, l) = (0.02f64, 0.7);
    let centre = Vector3::new(-l * angle.sin(), 0.0, -l * angle.cos());
    let rod = DistanceJoint::new(Anchor::world([0.0; 3]), Anchor::on(0, [0.0; 3]), l);
    let mut stepper = bodies(&[cuboid(2.0, [0.1; 3])], G).stepper(2e-3).term(rod);
    let q = coordinates(centre, turn);
    let run = stepper
        .integrate(&Start::at(0.0).q(&q).v(&[0.0; 6]), 6.0)
        .expect("input");
    let run = run.completed().expect("completed");
    let times = passages(&run, |q| q[0]);
    let period = (times[times.len() - 1] - times[0]) / (times.len() - 1) as f64;
    let exact = 2.0 * PI * (l / G).sqrt();
    assert!((period / exact - 1.0).abs() < 1e-4, "{period} {exact}");
}

/// A system with joints of all kinds turned as a whole moves as before, turned.
#[test]
fn joints_do_not_depend_on_the_axes() {
    let system = bodies(
        &[
            cuboid(1.0, [0.1, 0.2, 0.3]),
            cuboid(3.0, [0.2, 0.2, 0.1]),
            cuboid(0.5, [0.3, 0.1, 0.1]),
        ],
        0.0,
    );
    let whole = UnitQuaternion::from_euler_angles(0.4, -1.1, 2.0);
    let run = |whole: UnitQuaternion<f64>| {
        let (mut q, mut v) = (Vec::new(), Vec::new());
        for i in 0..3 {
            let x = f64::from(i);
            let turn = UnitQuaternion::from_euler_angles(0.3 * x, 0.1, -0.2 * x);
            q.extend(coordinates(
                whole * Vector3::new(0.4 * x, 0.1 * x, 0.0),
                whole * turn,
            ));
            for part in [[0.3 * x, -1.0, 0.5], [0.2, x, -0.4]] {
                v.extend_from_slice((whole * Vector3::from(part)).as_slice());
            }
        }
        let pin = whole * Vector3::new(-0.2, 0.1, 0.0);
        let (a, b) = ([0.2, 0.0, 0.1], [-0.2, 0.1, 0.0]);
        let mut stepper = system
            .clone()
            .stepper(0.01)
            .term(Joint::ball(Anchor::world(pin.into()), Anchor::on(0, b)))
            .term(DistanceJoint::new(Anchor::on(0, a), Anchor::on(2, b), 0.3))
            .term(as_placed(1, 2, &q));
        let run = stepper
            .integrate(&Start::at(0.0).q(&q).v(&v), 0.5)
            .expect("input");
        let run = run.completed().expect("completed");
        (0..3)
            .map(|i| pose(run.state().as_slice(), i))
            .collect::<Vec<_>>()
    };
    for (plain, turned) in run(UnitQuaternion::identity()).iter().zip(run(whole)) {
        assert!((whole * plain.0 - turned.0).norm() < 1e-9);
        assert!((whole * plain.1).angle_to(&turned.1) < 1e-7);
    }
}

/// Bodies need not be the only ones of a system, nor in order.
#[test]
fn bodies_are_found_by_tree_and_coordinate() {
    let system = bodies(&[cuboid(1.0, [0.1; 3]), cuboid(2.0, [0.1; 3])], G);
    let mut q = coordinates(Vector3::new(1.0, 0.0, 0.0), UnitQuaternion::identity()).to_vec();
    q.extend(coordinates(Vector3::zeros(), UnitQuaternion::identity()));
    let second = FreeBody {
        tree: 1,
        coordinate: 7,
    };
    assert_eq!(FreeBody::from(1), second);
    let joint = Joint::ball(Anchor::on(second, [0.0; 3]), Anchor::world([0.0; 3]));
    let mut stepper = system.stepper(0.01).term(joint);
    let run = stepper
        .integrate(&Start::at(0.0).q(&q).v(&[0.0; 12]), 1.0)
        .expect("input");
    let run = run.completed().expect("completed");
    assert!(run.state()[2] < -4.0 && run.state()[9].abs() < 1e-5);
}

/// The same joints in a scene with contacts: two boxes welded together rest on one of them; fixed
/// bodies count as the world.
#[test]
fn joints_of_a_scene_carry_loads_beside_contacts() {
    let mut scene = Scene::new();
    let ground = scene.add(Body::fixed(Shape::plane())).expect("a plane");
    let cube = |x: f64, z: f64| {
        let shape = Shape::cuboid([0.05; 3]).expect("a cube");
        Body::new(shape).position([x, 0.0, z])
    };
    let standing = scene.add(cube(0.0, 0.05)).expect("a cube");
    let beside = scene.add(cube(0.06, 0.15)).expect("a cube");
    let hanging = scene.add(cube(1.0, 1.0)).expect("a cube");
    scene.ignore(standing, beside).expect("a pair");
    let (q, v) = scene.start();
    let anchor = |body: usize, point| Anchor::of(&scene, body, point).expect("a body");
    let weld = Joint::weld(anchor(standing, [0.05; 3]), anchor(beside, [0.0; 3])).as_placed(&q);
    let hook = anchor(ground, [1.0, 0.0, 2.0]);
    let rope = DistanceJoint::new(anchor(hanging, [0.0; 3]), hook, 1.0).rope();
    assert!(Anchor::of(&scene, 4, [0.0; 3]).is_err());
    let mut stepper = Compliant::new(scene).expect("a scene");
    stepper = stepper.term(weld.expect("two bodies")).term(rope);
    let run = stepper
        .integrate(&Start::at(0.0).q(&q).v(&v), 2.0)
        .expect("input");
    let run = run.completed().expect("completed");
    let push: f64 = stepper.solution().impulses().iter().map(|p| p[0]).sum();
    // Two cubes of a kilogram on the ground, one on the rope.
    assert!((push / 0.01 / (2.0 * G) - 1.0).abs() < 1e-5, "{push}");
    let pull = stepper.solution().row_impulses()[6] / 0.01;
    assert!((pull / -G - 1.0).abs() < 1e-5, "{pull}");
    for (before, after) in q.iter().zip(run.state()) {
        assert!((before - after).abs() < 1e-3, "{before} {after}");
    }
}
