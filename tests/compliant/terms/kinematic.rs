//! Bodies that follow a path in time: what they carry, push and hold.

use nalgebra::{DMatrix, UnitQuaternion, Vector3};
use saltation::bodies::{Anchor, Body, Frozen, Joint, Kinematic, Pose, Scene, Shape};
use saltation::compliant::{Compliance, CompliantFailure, Solver};
use saltation::{Compliant, InputError, Start};

use super::derivatives::assert_differences;

const G: f64 = 9.81;
const DT: f64 = 0.01;
const MU: f64 = 0.5;

type Path = fn(f64) -> Result<Pose, InputError>;

fn upright(position: [f64; 3]) -> Result<Pose, InputError> {
    Pose::new(position, [1.0, 0.0, 0.0, 0.0])
}

/// A plate below z = 0 and a slab on it, at `x`.
fn plate(x: f64) -> Scene {
    let mut scene = Scene::new();
    let plate = Shape::cuboid([3.0, 3.0, 0.1]).expect("a plate");
    let plate = Body::new(plate).mass(20.0, [60.0, 60.0, 120.0]);
    scene
        .add(plate.position([0.0, 0.0, -0.1]).friction(MU))
        .expect("a plate");
    let slab = Body::new(Shape::cuboid([0.1, 0.1, 0.02]).expect("a slab"));
    scene
        .add(slab.position([x, 0.0, 0.02]).friction(MU))
        .expect("a slab");
    scene
}

fn stepper(scene: Scene, path: Path) -> Compliant<Scene> {
    let (q, v) = scene.start();
    let stepper = Compliant::new(scene).expect("a scene").time_step(DT);
    let solver = Solver::new().rtol(1e-10);
    let mut stepper = stepper.solver(solver).term(Kinematic::new(0, path));
    stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("start");
    stepper
}

/// The path is met at the end of every step, turns of any size among them.
#[test]
fn a_body_follows_its_path() {
    let path: Path = |t| {
        let turn = UnitQuaternion::from_euler_angles(3.0 * t, (2.0 * t).sin(), -5.0 * t);
        let position = [t * t, (4.0 * t).sin(), -0.1 - t];
        Pose::new(position, [turn.w, turn.i, turn.j, turn.k])
    };
    let mut scene = Scene::new();
    let body = Body::new(Shape::cuboid([0.1, 0.2, 0.3]).expect("a box"));
    scene.add(body.position([0.0, 0.0, -0.1])).expect("a box");
    let mut stepper = stepper(scene, path);
    for k in 1..=200 {
        stepper.step().expect("a step");
        let (now, goal) = (
            stepper.system().pose(0, stepper.q()).expect("a body"),
            path(DT * f64::from(k)).expect("a pose"),
        );
        // It lacks 1e-7 of the change of velocity in a step: at first some m/s and rad/s at once.
        assert!((now.position() - goal.position()).norm() < 1e-8, "{k}");
        assert!((now.rotation() - goal.rotation()).norm() < 2e-8, "{k}");
    }
}

/// A slab on a plate that speeds up sideways keeps with it below `μ g`, and falls behind with `μ g` above.
#[test]
fn a_slab_on_a_plate_sticks_below_the_bound_and_slips_above() {
    let slow: Path = |t| upright([0.5 * 0.9 * MU * G * t * t, 0.0, -0.1]);
    let mut held = stepper(plate(0.0), slow);
    let fast: Path = |t| upright([0.5 * 1.3 * MU * G * t * t, 0.0, -0.1]);
    let mut slips = stepper(plate(0.0), fast);
    for k in 1..=50 {
        held.step().expect("a step");
        slips.step().expect("a step");
        // Creep of stiction, σ w dt f a second with w of some 1/m, and the tilt of the first steps.
        let lag = held.q()[0] - held.q()[7];
        let t = DT * f64::from(k);
        assert!(lag.abs() < 4e-3 * MU * G * DT * t + 2e-5, "{k}: {lag:e}");
        // In the first step the plate has half its acceleration, and holds the slab. Then its weight
        // comes to rest on the springs of contacts: less than a tenth of a step's.
        let missing = slips.v()[9] / (MU * G * DT) - (f64::from(k) - (1.0 - 1.3 / 2.0));
        assert!(missing.abs() < 0.1, "{k}: {missing:e}");
    }
}

/// A turntable that speeds up slowly throws a slab off where `ω² r` passes `μ g`.
#[test]
fn a_slab_leaves_a_turntable_at_its_bound() {
    const R: f64 = 0.8;
    // ω = 0.5 t
    let path: Path = |t| {
        let half = 0.125 * t * t;
        Pose::new([0.0, 0.0, -0.1], [half.cos(), 0.0, 0.0, half.sin()])
    };
    let mut stepper = stepper(plate(R), path);
    let bound = (MU * G / R).sqrt() / 0.5;
    let radius = |q: &[f64]| q[7].hypot(q[8]);
    while stepper.t() < 0.97 * bound {
        stepper.step().expect("a step");
    }
    // It goes with the velocity of the table at the start of a step, straight on: outwards by ω² dt/2 of its
    // radius a second, with ω² = t²/4.
    let out = (radius(stepper.q()) / R).ln();
    let expected = DT * stepper.t().powi(3) / 24.0;
    assert!((out / expected - 1.0).abs() < 0.05, "{out} {expected}");
    while stepper.t() < 1.2 * bound {
        stepper.step().expect("a step");
    }
    let out = radius(stepper.q()) - R;
    assert!(out > 0.3 * R, "{out}");
}

/// A lift that speeds up carries `m (g + a)`, and its drive that and its own.
#[test]
fn a_lift_carries_a_load() {
    let path: Path = |t| upright([0.0, 0.0, -0.1 + 0.5 * 2.0 * t * t]);
    let mut stepper = stepper(plate(0.3), path);
    for _ in 0..100 {
        stepper.step().expect("a step");
    }
    let m = stepper.system().mass_of(1).expect("a slab");
    let push: f64 = stepper.solution().impulses().iter().map(|p| p[0]).sum();
    assert!((push / DT / (m * (G + 2.0)) - 1.0).abs() < 1e-4, "{push}");
    let drive = stepper.term_impulses(0).expect("six rows");
    assert!(
        (drive[2] / DT / ((20.0 + m) * (G + 2.0)) - 1.0).abs() < 1e-4,
        "{drive:?}"
    );
    // About y by the load beside the middle.
    assert!(
        (drive[4] / DT / (0.3 * m * (G + 2.0)) + 1.0).abs() < 1e-3,
        "{drive:?}"
    );
}

/// A rod on a hinge of a carriage that speeds up hangs at rest at `tan θ = a/g` behind it.
#[test]
fn a_pendulum_hangs_askew_on_a_carriage() {
    let (a, l) = (4.0_f64, 0.5);
    let path: Path = |t| upright([0.5 * 4.0 * t * t, 0.0, 0.0]);
    let mut scene = Scene::new();
    let carriage = Body::new(Shape::cuboid([0.1; 3]).expect("a cube"));
    scene.add(carriage).expect("a carriage");
    let angle = (a / G).atan();
    let turn = UnitQuaternion::from_axis_angle(&Vector3::y_axis(), angle);
    let centre = turn * Vector3::new(0.0, 0.0, -0.5 * l);
    let rod = Body::new(Shape::cuboid([0.01, 0.01, 0.5 * l]).expect("a rod"));
    let rod = rod
        .position(centre.into())
        .orientation([turn.w, turn.i, turn.j, turn.k]);
    scene.add(rod).expect("a rod");
    scene.ignore(0, 1).expect("two bodies");
    let axis = [0.0, 1.0, 0.0];
    let hinge = Joint::hinge(
        Anchor::on(1, [0.0, 0.0, 0.5 * l]).along(axis),
        Anchor::on(0, [0.0; 3]).along(axis),
    );
    let (q, v) = scene.start();
    let mut stepper = Compliant::new(scene).expect("a scene").time_step(DT);
    stepper = stepper.term(Kinematic::new(0, path)).term(hinge);
    stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("start");
    for k in 0..100 {
        stepper.step().expect("a step");
        // The first step starts with half the velocity: a swing of a dt/2 by the pendulum's rate.
        let q = &stepper.q()[7..];
        let now = 2.0 * q[5].atan2(q[3]);
        assert!((now - angle).abs() < 0.01, "{k}: {now} {angle}");
    }
    let end = stepper.q()[0];
    assert!((end - 0.5 * a).abs() < 1e-8, "{end}");
}

/// Paths without a pose end a run with the tree and the time.
#[test]
fn a_path_that_is_not_finite_is_refused() {
    let path: Path = |t| upright([0.0, 0.0, -0.1 * (0.055 - t).sqrt()]);
    let mut stepper = stepper(plate(0.0), path);
    let failed = (0..10).find_map(|_| stepper.step().err());
    match failed {
        Some(CompliantFailure::Model {
            reason: InputError::Path { tree, t, reason },
            ..
        }) => {
            assert_eq!(tree, 0);
            assert!((t - 0.06).abs() < 1e-12);
            assert!(
                matches!(*reason, InputError::NotFinite { entry: 2, .. }),
                "{reason}"
            );
        }
        other => panic!("{other:?}"),
    }
    let scene = plate(0.0);
    let (q, v) = scene.start();
    let stepper = Compliant::new(scene).expect("a scene");
    let mut stepper = stepper.term(Kinematic::new(2, path));
    let refused = stepper.start(&Start::at(0.0).q(&q).v(&v));
    assert!(
        matches!(refused, Err(InputError::NoSuch { .. })),
        "{refused:?}"
    );
}

/// Derivatives of a slab that slips on a plate which moves, against differences.
#[test]
fn derivatives_on_a_moving_plate_are_those_of_differences() {
    let path: Path = |t| upright([3.0 * t * t, 0.0, -0.1]);
    let scene = plate(0.1);
    let (q, mut v) = scene.start();
    (v[9], v[10]) = (0.2, 0.4);
    let stepper = Compliant::new(scene).expect("a scene").time_step(DT);
    let solver = Solver::new().rtol(1e-12);
    let mut stepper = stepper.solver(solver).term(Kinematic::new(0, path));
    let mut directions = DMatrix::zeros(26, 3);
    // The speed of the slab both ways, and the place of the plate.
    (
        directions[(14 + 9, 0)],
        directions[(14 + 10, 1)],
        directions[(0, 2)],
    ) = (1.0, 1.0, 1.0);
    let start = Start::at(0.0);
    let found = stepper.sensitivities(&start.q(&q).v(&v), 0.1, &directions);
    let (_, found) = found.expect("derivatives");
    let h = 1e-5;
    for k in 0..3 {
        let end = |h: f64| {
            let (mut q, mut v) = (q.clone(), v.clone());
            match k {
                0 => v[9] += h,
                1 => v[10] += h,
                _ => q[0] += h,
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

/// A ball that falls onto a rising plate leaves it with `e` times the speed with which they meet, however
/// much energy the plate gives it; with friction on a plate that moves sideways too.
#[test]
fn a_ball_bounces_off_a_moving_plate_with_the_speed_of_their_approach() {
    let (rise, e, dt) = (2.0, 0.8, 1e-4);
    let paths: [Path; 2] = [
        |t| upright([0.0, 0.0, 2.0 * t - 0.1]),
        |t| upright([3.0 * t, 0.0, 2.0 * t - 0.1]),
    ];
    for (k, path) in paths.into_iter().enumerate() {
        let mut scene = Scene::new();
        let plate = Body::new(Shape::cuboid([3.0, 3.0, 0.1]).expect("a plate"));
        let plate = plate.mass(20.0, [60.0, 60.0, 120.0]).friction(MU);
        let velocity = [3.0 * k as f64, 0.0, rise];
        let plate = plate.position([0.0, 0.0, -0.1]).velocity(velocity);
        scene.add(plate).expect("a plate");
        let ball = Body::new(Shape::sphere(0.1).expect("a ball")).friction(MU);
        let ball = ball.position([0.0, 0.0, 0.6]).velocity([0.0, 0.0, -1.0]);
        let ball = scene.add(ball.restitution(e)).expect("a ball");
        let (q, v) = scene.start();
        let stepper = Compliant::new(scene).expect("a scene").time_step(dt);
        let mut stepper = stepper.term(Kinematic::new(0, path));
        stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("start");
        // They meet at −t − g t²/2 + 0.5 = 2 t.
        let meets = ((9.0 + 2.0 * G * 0.5_f64).sqrt() - 3.0) / G;
        while stepper.t() < meets + 2.0 * dt {
            stepper.step().expect("a step");
        }
        let (_, after) = stepper
            .system()
            .velocity(ball, stepper.v())
            .expect("a ball");
        let speed = 1.0 + G * meets + rise;
        assert!((after.z - rise - e * speed).abs() < 5e-3, "{k}: {after:?}");
        // Its slip of 3 m/s ends: μ (1 + e) u is more than 2/7 of it.
        let along = if k == 0 { 0.0 } else { 3.0 * 2.0 / 7.0 };
        assert!((after.x - along).abs() < 5e-3, "{k}: {after:?}");
    }
}

/// A kinematic body has the mass of its own for the softness of contacts alone; of a rebound a light one takes
/// `1e-6 w` of the impulse.
#[test]
fn a_ball_bounces_off_a_light_plate_that_is_moved() {
    let path: Path = |t| upright([0.0, 0.0, t - 0.1]);
    for mass in [1.0, 1e-2, 1e-3] {
        let mut scene = Scene::new();
        scene.gravity([0.0; 3]).expect("gravity");
        let plate = Body::new(Shape::cuboid([1.0, 1.0, 0.1]).expect("a plate"));
        let plate = plate
            .mass(mass, [mass, mass, 2.0 * mass])
            .velocity([0.0, 0.0, 1.0]);
        scene
            .add(plate.position([0.0, 0.0, -0.1]))
            .expect("a plate");
        let ball = Body::new(Shape::sphere(0.1).expect("a ball")).mass(1.0, [0.004; 3]);
        let ball = ball.position([0.0, 0.0, 0.15]).velocity([0.0, 0.0, -3.0]);
        scene.add(ball.restitution(0.8)).expect("a ball");
        let (q, v) = scene.start();
        let stepper = Compliant::new(scene).expect("a scene").time_step(1e-3);
        let mut stepper = stepper.term(Kinematic::new(0, path));
        stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("start");
        for _ in 0..20 {
            stepper.step().expect("a step");
        }
        // The impulse is 7.2 N s, and w about 1.7 + 0.6/m; the plate creeps by 1e-7/m of it.
        let short = 1.0 + 0.8 * 4.0 - stepper.v()[11];
        assert!(
            short.abs() < 7.2e-6 * (1.8 + 0.8 / mass),
            "{mass}: {short:e}"
        );
    }
}

/// A path that turns by half a turn in a step has no way that is the shorter one.
#[test]
fn half_a_turn_in_a_step_is_refused() {
    let path: Path = |t| {
        let w = if t > 0.0 {
            [0.0, 0.0, 0.0, 1.0]
        } else {
            [1.0, 0.0, 0.0, 0.0]
        };
        Pose::new([0.0, 0.0, -0.1], w)
    };
    let refused = stepper(plate(0.0), path).step().expect_err("half a turn");
    let CompliantFailure::Model { reason, .. } = refused else {
        panic!("{refused}")
    };
    assert!(
        matches!(reason, InputError::Path { tree: 0, .. }),
        "{reason}"
    );
    assert!(reason.to_string().contains("half a turn"), "{reason}");
}

/// The number of a body is not that of its tree.
#[test]
fn bodies_are_found_by_their_numbers() {
    let mut scene = Scene::new();
    let ground = scene.add(Body::fixed(Shape::plane())).expect("ground");
    let ball = Body::new(Shape::sphere(0.1).expect("a ball"));
    let ball = scene.add(ball.position([0.0, 0.0, 0.5])).expect("a ball");
    let path = |t: f64| upright([t, 0.0, 0.5]);
    let moved = Kinematic::of(&scene, ball, path).expect("a body");
    for wrong in [ground, 7] {
        assert!(Kinematic::of(&scene, wrong, path).is_err());
        assert!(Frozen::of(&scene, wrong, &[]).is_err());
    }
    let (q, v) = scene.start();
    let mut stepper = Compliant::new(scene).expect("a scene").term(moved);
    let run = stepper.integrate(&Start::at(0.0).q(&q).v(&v), 0.5);
    let run = run.expect("input").completed().expect("completed");
    assert!((run.state()[0] - 0.5).abs() < 1e-6);
}

/// After a step that could not be made, the solution of the one before is gone: it belongs to other contacts.
#[test]
fn a_step_that_fails_leaves_no_solution_of_another() {
    let path: Path = |t| {
        let x = if t > 1.5 * DT { f64::NAN } else { 0.0 };
        upright([x, 0.0, -0.1])
    };
    let mut stepper = stepper(plate(0.0), path);
    stepper.step().expect("a step");
    assert!(!stepper.solution().impulses().is_empty());
    stepper.step().expect_err("no pose");
    assert!(stepper.solution().impulses().is_empty());
}

/// The numbers of the guide: how much of a rebound of 2.4 m/s a light pad on a weld loses, with its compliance `β`.
#[test]
fn a_light_pad_on_a_weld_gives_way_in_a_blow() {
    for (beta, mass, lost) in [
        (0.1, 0.1, 0.006),
        (0.1, 0.01, 0.056),
        (0.1, 1e-3, 0.456),
        (0.01, 0.1, 7.5e-5),
        (0.01, 0.01, 7e-4),
        (0.01, 1e-3, 7e-3),
    ] {
        let mut scene = Scene::new();
        scene.gravity([0.0; 3]).expect("gravity");
        let pad = Body::new(Shape::cuboid([0.1, 0.1, 0.02]).expect("a pad"));
        let moments = [0.0035, 0.0035, 0.0067].map(|of| mass * of);
        scene.add(pad.mass(mass, moments)).expect("a pad");
        let ball = Body::new(Shape::sphere(0.1).expect("a ball")).mass(1.0, [0.004; 3]);
        let ball = ball.position([0.0, 0.0, 0.15]).velocity([0.0, 0.0, -3.0]);
        scene.add(ball.restitution(0.8)).expect("a ball");
        let (q, v) = scene.start();
        let hard = Compliance {
            near_rigid: beta,
            ..Compliance::default()
        };
        let weld = Joint::weld(Anchor::on(0, [0.0; 3]), Anchor::world([0.0; 3]));
        let weld = weld.compliance(hard).turning(hard);
        let mut stepper = Compliant::new(scene).expect("a scene").term(weld);
        stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("start");
        for _ in 0..30 {
            stepper.step().expect("a step");
        }
        let found = 1.0 - stepper.v()[11] / 2.4;
        assert!((found - lost).abs() < 0.1 * lost, "{beta} {mass}: {found}");
    }
}
