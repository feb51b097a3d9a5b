//! Bodies that pass each other keep their velocities, however near and in steps of any length; those that meet do.

use saltation::bodies::{Body, Scene, Shape};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{Compliant, Run, Start};

use crate::random::SplitMix64;

const HALF: f64 = 0.05;

fn run(scene: Scene, dt: f64, end: f64) -> Run {
    let (q, v) = scene.start();
    let mut stepper = Compliant::new(scene).unwrap().time_step(dt);
    let run = stepper.integrate(&Start::at(0.0).q(&q).v(&v), end).unwrap();
    run.completed().unwrap()
}

/// A scene without weight, with a fixed body at the origin and one that flies.
fn flight(fixed: Shape, flying: Body) -> Scene {
    let mut scene = Scene::new();
    scene.gravity([0.0; 3]).unwrap();
    scene.add(Body::fixed(fixed).friction(0.0)).unwrap();
    scene.add(flying.friction(0.0)).unwrap();
    scene
}

#[test]
fn bodies_that_pass_keep_their_velocities() {
    let (cube, ball) = (
        Shape::cuboid([HALF; 3]).unwrap(),
        Shape::sphere(HALF).unwrap(),
    );
    let (rod, drum) = (
        Shape::capsule(0.2, HALF).unwrap(),
        Shape::cylinder(0.1, HALF).unwrap(),
    );
    let pairs = [
        (&cube, &cube),
        (&ball, &ball),
        (&cube, &ball),
        (&rod, &rod),
        (&drum, &ball),
    ];
    for seed in 0..100 {
        let mut draw = SplitMix64(seed);
        let (fixed, flying) = pairs[(seed % 5) as usize];
        let dt = [1e-2, 1e-3][(seed / 5 % 2) as usize];
        let speed = draw.between(0.3, 3.0);
        let gap = speed * dt * draw.between(0.03, 1.0);
        let phase = draw.between(0.0, 1.0) * speed * dt;
        let flying = Body::new(flying.clone())
            .position([-0.4 - phase, 2.0 * HALF + gap, 0.0])
            .velocity([speed, 0.0, 0.0]);
        let run = run(flight(fixed.clone(), flying), dt, 0.9 / speed);
        let v = &run.state().as_slice()[7..];
        let off = v[3..]
            .iter()
            .zip([speed, 0.0, 0.0])
            .map(|(v, s)| (v - s).abs());
        assert!(
            off.chain(v[..3].iter().map(|w| w.abs()))
                .all(|off| off < 1e-12),
            "{seed}: {v:?}"
        );
    }
}

/// What is aimed at a thin wall does not come through, from any side.
#[test]
fn bodies_that_meet_do() {
    for seed in 0..if cfg!(debug_assertions) { 40 } else { 200 } {
        let mut draw = SplitMix64(seed);
        let dt = [1e-2, 1e-3][(seed % 2) as usize];
        let shape = match seed / 2 % 4 {
            0 => Shape::sphere(HALF),
            1 => Shape::cuboid([HALF, 0.03, 0.02]),
            2 => Shape::capsule(HALF, 0.02),
            _ => Shape::cylinder(0.03, HALF),
        };
        // No further in a step than their size.
        let speed = 0.01 / dt * 10f64.powf(draw.between(-0.5, 0.6));
        // The flight is aimed at a point of the wall, from up to 60° off its normal.
        let aim = [0.0, draw.between(-0.4, 0.4), draw.between(-0.4, 0.4)];
        let slant = [1.0, draw.between(-1.2, 1.2), draw.between(-1.2, 1.2)];
        let back = draw.between(0.2, 0.5);
        let turn = [
            draw.between(-1.0, 1.0),
            draw.between(-1.0, 1.0),
            draw.between(-1.0, 1.0),
        ];
        let flying = Body::new(shape.unwrap())
            .position([0, 1, 2].map(|k| aim[k] - back * slant[k]))
            .orientation([1.0, turn[0], turn[1], turn[2]])
            .velocity(slant.map(|s| speed * s))
            .angular_velocity([draw.between(-3.0, 3.0), draw.between(-3.0, 3.0), 0.0]);
        let wall = Shape::cuboid([0.005, 1.0, 1.0]).unwrap();
        let run = run(flight(wall, flying), dt, 1.4 * back / speed);
        let x = run.state()[0];
        assert!(x < 0.0, "{seed}: {x} at {speed}");
    }
}

/// Boxes of one height are one floor, also for what lies microns deep in it.
#[test]
fn nothing_trips_on_the_seam_of_two_boxes() {
    let (cube, drum) = (
        Shape::cuboid([HALF; 3]).unwrap(),
        Shape::cylinder(HALF, HALF).unwrap(),
    );
    for seed in 0..40 {
        let mut draw = SplitMix64(seed);
        let dt = [1e-2, 2e-3][(seed % 2) as usize];
        let drop = [0.0, 1e-4][(seed / 2 % 2) as usize];
        let shape = [&cube, &drum][(seed / 4 % 2) as usize];
        let speed = draw.between(0.3, 3.0);
        let mut scene = Scene::new();
        for (x, top) in [(-1.0, 0.0), (1.0, -drop)] {
            let table = Shape::cuboid([1.0, 1.0, 0.1]).unwrap();
            scene
                .add(
                    Body::fixed(table)
                        .friction(0.0)
                        .position([x, 0.0, top - 0.1]),
                )
                .unwrap();
        }
        let at = -0.3 - draw.between(0.0, 1.0) * speed * dt;
        let sliding = Body::new(shape.clone())
            .friction(0.0)
            .velocity([speed, 0.0, 0.0]);
        scene.add(sliding.position([at, 0.0, HALF])).unwrap();
        let run = run(scene, dt, 0.6 / speed);
        let along = run.state()[10];
        // What falls by a tenth of a millimetre lands with its rear edge on one table and its front on the other.
        let allowed = if drop > 0.0 { 0.03 } else { 1e-4 };
        assert!(
            (along / speed - 1.0).abs() < allowed,
            "{seed}: {along} of {speed}"
        );
    }
}

/// Without friction nothing changes the turn of a cube about the vertical: a normal about which bodies turn brings
/// them no closer.
#[test]
fn nothing_that_turns_trips_on_a_seam() {
    for seed in 0..30 {
        let mut draw = SplitMix64(seed);
        let dt = [1e-2, 5e-3, 2e-3][(seed % 3) as usize];
        let mut scene = Scene::new();
        for x in [-1.0, 1.0] {
            let table = Body::fixed(Shape::cuboid([1.0, 1.0, 0.5]).unwrap()).friction(0.0);
            scene.add(table.position([x, 0.0, -0.5])).unwrap();
        }
        let (turn, spin) = (draw.between(0.0, 3.0), draw.between(5.0, 30.0));
        let cube = Body::new(Shape::cuboid([HALF; 3]).unwrap()).friction(0.0);
        let cube = cube.orientation([turn.cos(), 0.0, 0.0, turn.sin()]);
        let cube = cube.angular_velocity([0.0, 0.0, spin]);
        let (speed, at) = (draw.between(0.0, 1.0), [-1.5 * HALF, 0.0, HALF]);
        scene
            .add(cube.position(at).velocity([speed, 0.0, 0.0]))
            .unwrap();
        let run = run(scene, dt, 0.4);
        let (turns, along) = (run.state()[9], run.state()[10]);
        assert!((turns / spin - 1.0).abs() < 1e-4, "{seed}: {turns} {spin}");
        assert!((along - speed).abs() < 1e-3, "{seed}: {along} {speed}");
    }
}

/// A ball that rolls from box to box rolls on, however deep it lies in them; nor does it gain.
#[test]
fn balls_roll_over_seams() {
    for radius in [2.5e-3, 0.05] {
        for dt in [1e-2, 2e-3] {
            for (speed, allowed) in [(0.03, 0.05), (0.1, 0.02), (1.0, 0.005)] {
                for start in [-5e-3, -0.049] {
                    let mut scene = Scene::new();
                    for i in -1_i8..8 {
                        let tile = Body::fixed(Shape::cuboid([0.05, 0.2, 0.1]).unwrap());
                        let at = [0.1 * f64::from(i) - 0.05, 0.0, -0.1];
                        scene.add(tile.position(at)).unwrap();
                    }
                    let ball = Body::new(Shape::sphere(radius).unwrap());
                    let ball = ball.velocity([speed, 0.0, 0.0]);
                    let ball = ball.angular_velocity([0.0, speed / radius, 0.0]);
                    scene.add(ball.position([start, 0.0, radius])).unwrap();
                    let run = run(scene, dt, (0.25 / speed).min(4.0));
                    let kept = run.state()[10] / speed;
                    let of = format!("{radius} {dt} {speed} {start}");
                    assert!((kept - 1.0).abs() < allowed, "{of}: {kept}");
                }
            }
        }
    }
}

/// The sides of a groove both bear a ball that rocks between them: its energy falls, and it does not sink.
#[test]
fn a_ball_in_a_groove_lies_on_both_sides() {
    for tilt in [0.05f64, 0.3, 0.8] {
        for dt in [1e-2, 1e-3] {
            let (radius, mut scene) = (0.05, Scene::new());
            for side in [-1.0, 1.0] {
                let half: f64 = 0.5 * tilt * side;
                let plank = Body::fixed(Shape::cuboid([0.5, 0.5, 0.1]).unwrap()).friction(0.0);
                // Its upper edge lies at the origin.
                let (sin, cos) = (tilt * side).sin_cos();
                let at = [
                    0.5 * side * cos + 0.1 * sin,
                    0.0,
                    0.5 * side * sin - 0.1 * cos,
                ];
                let plank = plank.orientation([half.cos(), 0.0, -half.sin(), 0.0]);
                scene.add(plank.position(at)).unwrap();
            }
            let height = radius / tilt.cos();
            let ball = Body::new(Shape::sphere(radius).unwrap()).friction(0.0);
            let ball = ball.position([0.0, 0.0, height]).velocity([0.2, 0.3, 0.0]);
            scene.add(ball).unwrap();
            let run = run(scene, dt, 0.8);
            for k in 0..run.times().len() {
                let (q, v) = (run.q(k), run.v(k));
                assert!(q[2] > height - 5e-4, "{tilt} {dt} {k}: {}", q[2] - height);
                let energy =
                    0.5 * (v[3] * v[3] + v[4] * v[4] + v[5] * v[5]) + 9.81 * (q[2] - height);
                assert!(energy < 0.065 + 1e-4, "{tilt} {dt} {k}: {energy}");
                assert!((v[4] - 0.3).abs() < 1e-6, "{tilt} {dt} {k}: {}", v[4]);
            }
        }
    }
}

/// A cube slides in between rails with two millimetres to spare on either side.
#[test]
fn a_cube_enters_between_rails() {
    for dt in [1e-2, 5e-3, 2e-3] {
        let mut scene = Scene::new();
        scene
            .add(Body::fixed(Shape::plane()).friction(0.0))
            .unwrap();
        for side in [-1.0, 1.0] {
            let rail = Shape::cuboid([0.5, 0.02, 0.05]).unwrap();
            let at = [0.7, side * (HALF + 0.022), 0.05];
            scene.add(Body::fixed(rail).position(at)).unwrap();
        }
        let cube = Body::new(Shape::cuboid([HALF; 3]).unwrap());
        let cube = cube.position([0.003, 0.0, HALF]).velocity([0.5, 0.0, 0.0]);
        scene.add(cube).unwrap();
        let run = run(scene, dt, 1.5);
        assert!(
            (run.state()[0] - 0.753).abs() < 1e-6,
            "{dt}: {}",
            run.state()[0]
        );
    }
}

/// The way changes with the speed of the start by the time alone.
#[test]
fn derivatives_beside_a_body_are_those_of_the_flight() {
    let cube = Shape::cuboid([HALF; 3]).unwrap();
    for phase in 0..10 {
        let from = -0.31 - 0.003 * f64::from(phase);
        let flying = Body::new(cube.clone()).position([from, 2.0 * HALF + 5e-3, 0.0]);
        let scene = flight(cube.clone(), flying.velocity([3.0, 0.0, 0.0]));
        let (q, v) = scene.start();
        let mut stepper = Compliant::new(scene).unwrap();
        let start = Start::at(0.0).q(&q).v(&v);
        let derivative = stepper.derivative(&start, 0.2).unwrap();
        let by_speed = derivative.matrix().unwrap()[(0, 9)];
        assert!((by_speed - 0.2).abs() < 1e-9, "{phase}: {by_speed}");
    }
}

/// A particle beside a fixed disc, by its gap alone.
struct Disc;

impl MechanicalSystem for Disc {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
    }
}

impl UnilateralConstraints for Disc {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[0].hypot(q[1]) - HALF
    }
}

#[test]
fn gaps_of_written_constraints_turn_on_the_way() {
    for seed in 0..100 {
        let mut draw = SplitMix64(seed);
        let beside = HALF + draw.between(5e-4, 5e-3);
        let start = [-0.3 - draw.between(0.0, 0.02), beside];
        let mut stepper = Compliant::new(Disc).unwrap();
        let start = Start::at(0.0).q(&start).v(&[2.0, 0.0]);
        let passed = stepper.integrate(&start, 0.3).unwrap().completed().unwrap();
        assert_eq!(passed.state().as_slice()[2..], [2.0, 0.0], "{seed}");
        // Aimed at it, it is stopped or turned aside.
        let aimed = [-0.3 - draw.between(0.0, 0.02), draw.between(-0.04, 0.04)];
        let v = [10f64.powf(draw.between(0.0, 2.0)), 0.0];
        let start = Start::at(0.0).q(&aimed).v(&v);
        let met = stepper.integrate(&start, 0.3).unwrap().completed().unwrap();
        let inside = met.state();
        assert!(
            inside[0] < 0.0 || inside[1].abs() > 0.9 * HALF,
            "{seed}: {inside:?}"
        );
    }
}

/// A drum is found at one state and not at a nearby one: while it does not press, derivatives do not ask for it.
#[test]
fn derivatives_beside_an_idle_drum_are_those_without() {
    let by_speed = |has_drum: bool| {
        let mut scene = Scene::new();
        scene
            .add(Body::fixed(Shape::plane()).friction(0.3))
            .unwrap();
        let cube = Body::new(Shape::cuboid([0.1; 3]).unwrap()).friction(0.3);
        let cube = cube.position([0.0, 0.0, 0.1]).velocity([2.0, 0.0, 0.0]);
        scene.add(cube).unwrap();
        if has_drum {
            let drum = Body::fixed(Shape::cylinder(0.2, 0.1).unwrap());
            scene.add(drum.position([0.3, 0.2005, 0.2])).unwrap();
        }
        let (q, v) = scene.start();
        let mut stepper = Compliant::new(scene).unwrap();
        let derivative = stepper
            .derivative(&Start::at(0.0).q(&q).v(&v), 0.4)
            .unwrap();
        derivative.matrix().unwrap()[(0, 9)]
    };
    let (beside, alone) = (by_speed(true), by_speed(false));
    assert!((beside - alone).abs() < 1e-6, "{beside} {alone}");
}
