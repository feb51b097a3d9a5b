//! Scenes with a fixed list of contacts in the event-driven driver.

use saltation::bodies::{Body, FixedContacts, Scene, Shape};
use saltation::mechanics::{Redundant, UnilateralConstraints};
use saltation::{ContactModel, EventDriven};
use saltation::{Run, Start};

use crate::random::SplitMix64;

const G: f64 = 9.81;

/// A smooth body above a smooth ground.
fn above_ground(body: Body) -> FixedContacts {
    let mut scene = Scene::new();
    scene
        .add(Body::fixed(Shape::plane()).friction(0.0))
        .unwrap();
    scene.add(body.friction(0.0)).unwrap();
    scene.fixed_contacts().unwrap()
}

fn run(system: FixedContacts, end: f64) -> Run {
    let (q, v) = system.scene().start();
    let model = ContactModel::new(system).redundant(Redundant::LeastSquares);
    let mut simulation = EventDriven::new(model).unwrap().rtol(1e-10).atol(1e-12);
    simulation
        .integrate(&Start::at(0.0).q(&q).v(&v), end)
        .unwrap()
        .completed()
        .unwrap()
}

#[test]
fn a_dropped_ball_lands_when_it_should_and_stays() {
    let ball = Body::new(Shape::sphere(0.1).unwrap());
    let ball = ball
        .position([0.0, 0.0, 0.6])
        .velocity([1.0, 0.0, 0.0])
        .angular_velocity([0.0, 3.0, 1.0]);
    let run = run(above_ground(ball), 1.0);
    assert!((run.events()[0].t - (1.0 / G).sqrt()).abs() < 1e-10);
    let x = run.state();
    // It slides on without friction, and turns as before.
    assert!((x[0] - 1.0).abs() < 1e-9 && (x[2] - 0.1).abs() < 1e-9);
    assert!((x[8] - 3.0).abs() < 1e-9 && x[12].abs() < 1e-9);
}

/// The law of impact has the restitution of the bodies: the greater of both.
#[test]
fn a_dropped_ball_bounces_with_its_restitution() {
    let ball = Body::new(Shape::sphere(0.1).unwrap()).restitution(0.6);
    let run = run(above_ground(ball.position([0.0, 0.0, 0.6])), 0.5);
    let fall = (1.0 / G).sqrt();
    let t = 0.5 - fall;
    let height = 0.1 + 0.6 * G * fall * t - 0.5 * G * t * t;
    assert!((run.state()[2] - height).abs() < 1e-9);
}

#[test]
fn a_level_box_lands_on_four_vertices() {
    let cuboid = Body::new(Shape::cuboid([0.1, 0.2, 0.3]).unwrap()).position([0.0, 0.0, 0.8]);
    let system = above_ground(cuboid);
    assert_eq!(system.contacts(), 8);
    let run = run(system, 1.0);
    assert!((run.events()[0].t - (1.0 / G).sqrt()).abs() < 1e-10);
    assert_eq!(run.events()[0].activated, [4, 5, 6, 7]);
    let x = run.state();
    assert!((x[2] - 0.3).abs() < 1e-9 && (x[3] - 1.0).abs() < 1e-9);
}

/// A box turned about y falls on its lower edge. With the arm `c` of that edge from the centre,
/// `(c_x, c_z)`, the plastic impact keeps the angular momentum about the edge for the normal
/// direction: `p (1/m + c_x²/I) = u`, so that it turns at `ω = −c_x p / I` about y (`r × n`).
#[test]
fn a_tilted_box_turns_about_its_edge_after_the_impact() {
    let (a, h, tilt) = (0.1, 0.3, 0.2f64);
    let turn = [(0.5 * tilt).cos(), 0.0, (0.5 * tilt).sin(), 0.0];
    let shape = Shape::cuboid([a, 0.2, h]).unwrap();
    let body = Body::new(shape.clone())
        .position([0.0, 0.0, 0.8])
        .orientation(turn);
    let run = run(above_ground(body), 0.5);
    // Turned by a positive angle about y, the vertices at +x sink.
    let arm_x = a * tilt.cos() - h * tilt.sin();
    let low = a * tilt.sin() + h * tilt.cos();
    let t = (2.0 * (0.8 - low) / G).sqrt();
    let event = &run.events()[0];
    assert!((event.t - t).abs() < 1e-10, "{} {t}", event.t);
    assert_eq!(event.activated.len(), 2);
    let (u, mass) = (G * t, 1000.0 * shape.volume());
    let inertia = 1000.0 * shape.inertia()[1];
    let impulse = u / (1.0 / mass + arm_x * arm_x / inertia);
    assert!((event.impulses.iter().sum::<f64>() / impulse - 1.0).abs() < 1e-8);
    let after = run.state_at(t + 1e-9).unwrap();
    assert!(
        (after[8] + arm_x * impulse / inertia).abs() < 1e-6,
        "{}",
        after[8]
    );
}

#[test]
fn two_balls_meet_at_the_time_of_a_closed_form() {
    let mut scene = Scene::new();
    scene.gravity([0.0; 3]).unwrap();
    for (x, speed) in [(-1.0, 1.0), (1.0, -2.0)] {
        let ball = Body::new(Shape::sphere(0.1).unwrap()).friction(0.0);
        scene
            .add(ball.position([x, 0.0, 0.0]).velocity([speed, 0.0, 0.0]))
            .unwrap();
    }
    let run = run(scene.fixed_contacts().unwrap(), 1.0);
    assert!((run.events()[0].t - 0.6).abs() < 1e-10);
    // Plastic: both go on with the mean velocity.
    let x = run.state();
    assert!((x[17] + 0.5).abs() < 1e-9 && (x[23] + 0.5).abs() < 1e-9);
}

#[test]
fn pairs_whose_contacts_change_are_refused() {
    let mut scene = Scene::new();
    for z in [0.0, 1.0] {
        let cube = Body::new(Shape::cuboid([0.1; 3]).unwrap());
        scene.add(cube.position([0.0, 0.0, z])).unwrap();
    }
    let error = scene.fixed_contacts().unwrap_err().to_string();
    assert!(error.contains("pair of shapes"), "{error}");
    scene.ignore(1, 0).unwrap();
    assert_eq!(scene.fixed_contacts().unwrap().contacts(), 0);
}

/// Spheres have one inertia about all axes, so that their turns look like shifts: a run with friction starts in
/// whatever direction they lie, and one that rolls meets the other when it should.
#[test]
fn a_ball_rolls_to_another_one_in_any_direction() {
    let mut random = SplitMix64(0xBA11);
    for case in 0..if cfg!(debug_assertions) { 5 } else { 40 } {
        let size = 10f64.powf(random.between(-2.0, 0.0));
        let (sin, cos) = random.between(0.0, std::f64::consts::TAU).sin_cos();
        let mut scene = Scene::new();
        scene.add(Body::fixed(Shape::plane())).unwrap();
        let ball = Body::new(Shape::sphere(size).unwrap());
        // One radius and a half of free way in half a second.
        let (speed, far) = (3.0 * size, 3.5 * size);
        let rolls = ball
            .clone()
            .velocity([speed * cos, speed * sin, 0.0])
            .angular_velocity([-3.0 * sin, 3.0 * cos, 0.0]);
        scene.add(rolls.position([0.0, 0.0, size])).unwrap();
        let other = ball.position([far * cos, far * sin, size]);
        scene.add(other).unwrap();
        let (q, v) = scene.start();
        let model = ContactModel::new(scene.fixed_contacts().unwrap());
        let driver = EventDriven::new(model).unwrap().rtol(1e-9);
        let run = { driver }
            .integrate(&Start::at(0.0).q(&q).v(&v), 0.6)
            .unwrap();
        let impact = run
            .events()
            .iter()
            .find(|event| event.contacts.contains(&2));
        let t = impact.map_or(f64::NAN, |event| event.t);
        assert!((t - 0.5).abs() < 1e-7, "{case} {size}: {t}");
    }
}

/// Boxes on an incline, turned, from rest: they rest or slide down with `g (sin α − μ cos α)`, and nothing is doubted.
#[test]
fn a_box_rests_or_slides_on_an_incline_without_a_doubt() {
    let (mut random, mut slid) = (SplitMix64(0x1C11), 0);
    for case in 0..if cfg!(debug_assertions) { 4 } else { 60 } {
        let size = 10f64.powf(random.between(-3.0, 1.5));
        let (mu, slope) = (random.between(0.05, 1.0), random.between(0.02, 1.0));
        if (slope.tan() - mu).abs() < 0.02 {
            continue;
        }
        let half = [
            size * random.between(0.5, 1.0),
            size * random.between(0.5, 1.0),
            size * random.between(0.05, 0.2),
        ];
        let (sin, cos) = random.between(0.0, std::f64::consts::TAU).sin_cos();
        let turn = random.between(0.0, std::f64::consts::PI);
        let mut scene = Scene::new();
        let (down, press) = (G * slope.sin(), G * slope.cos());
        scene.gravity([down * cos, down * sin, -press]).unwrap();
        let rough = |body: Body| body.friction(mu);
        scene.add(rough(Body::fixed(Shape::plane()))).unwrap();
        let cuboid = rough(Body::new(Shape::cuboid(half).unwrap()));
        let cuboid = cuboid.orientation([turn.cos(), 0.0, 0.0, turn.sin()]);
        scene.add(cuboid.position([0.0, 0.0, half[2]])).unwrap();
        let (q, v) = scene.start();
        let model = ContactModel::new(scene.fixed_contacts().unwrap());
        let driver = EventDriven::new(model).unwrap().rtol(1e-8);
        let time = 2.0 * (size / G).sqrt();
        let run = { driver }.integrate(&Start::at(0.0).q(&q).v(&v), time);
        let run = run.unwrap().completed().unwrap();
        let way = 0.5 * (down - mu * press).max(0.0) * time * time;
        slid += u32::from(way > 0.0);
        let x = run.state();
        let off = (x[0] - way * cos).hypot(x[1] - way * sin);
        assert!(off < 1e-9 * size, "{case} {mu} {slope} {size}: {off:e}");
        assert!(
            run.is_guaranteed(),
            "{case} {mu} {slope}: {:?}",
            run.doubts()
        );
    }
    assert!(slid > 0, "{slid}");
}
