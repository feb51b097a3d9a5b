//! Forces of the compliant driver on the bodies of a scene.

use saltation::bodies::{Body, Scene, Shape};
use saltation::compliant::{CompliantFailure, Scheme, Sleep, Solver, StepFriction};
use saltation::{Compliant, Page, Run, Start};

use crate::reader::{data, html, numbers, unpack};

/// A cube of 1 kg on a plane, and one that falls onto it; they are bodies 1 and 2.
fn tower() -> Scene {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).unwrap();
    for z in [0.05, 0.3] {
        let cube = Body::new(Shape::cuboid([0.05; 3]).unwrap());
        scene
            .add(cube.density(1000.0).position([0.0, 0.0, z]))
            .unwrap();
    }
    scene
}

/// At rest the plane carries both cubes at the corners of the lower one, which carries the other: the
/// arrows of a frame, the sum of the upward forces below `z = 0.05`, and above.
fn check(stepper: &mut Compliant<Scene>) {
    let scene = stepper.system().clone();
    let (q, v) = scene.start();
    let start = Start::at(0.0).q(&q).v(&v);
    let run = stepper.integrate(&start, 2.0).unwrap().completed().unwrap();
    let page = Page::new(&run, 50.0).unwrap().scene(&scene).unwrap();
    let data = data(&html(&page.forces(stepper).unwrap()));
    let drawing = &data["drawing"];
    let step = |name: &str| 10f64.powf(drawing[name].as_f64().unwrap());
    let (length, force) = (step("length"), step("force"));
    let frames = unpack(&drawing["arrows"]);
    assert_eq!(frames.len(), numbers(&data["times"]).len());
    let last = frames.last().unwrap();
    assert_eq!(last.len(), 6 * 8);
    let (mut below, mut above) = (0.0, 0.0);
    for arrow in last.chunks_exact(6) {
        let [x, y, z] = [arrow[0], arrow[1], arrow[2]].map(|x| x * length);
        assert!(
            (x.abs() - 0.05).abs() < 1e-3 && (y.abs() - 0.05).abs() < 1e-3,
            "{x} {y}"
        );
        *(if z < 0.05 { &mut below } else { &mut above }) += arrow[5] * force;
    }
    // The sums are those of a body at rest up to the tolerance of the solver, 1e-6; each of eight
    // forces is rounded to half a step. The upper contact is told of the lower cube: downwards.
    let allowed = 1e-4 * 9.81 + 4.0 * force;
    assert!((below - 2.0 * 9.81).abs() < allowed, "{below}");
    assert!((above + 9.81).abs() < allowed, "{above}");
    // The upper cube lands after √(2 · 0.15/g) s, within a sample and a step.
    let marks = data["marks"].as_array().unwrap();
    let text = |k: usize| marks[k][2].as_str().unwrap();
    let landing = marks
        .iter()
        .position(|mark| mark[2].as_str().unwrap().contains("1 and 2 touch"));
    let landing = landing.unwrap();
    let t = marks[landing][0].as_f64().unwrap();
    assert!(
        (t - (0.3f64 / 9.81).sqrt()).abs() < 0.031,
        "{}",
        text(landing)
    );
}

#[test]
fn forces_carry_the_weight_where_bodies_touch() {
    check(&mut Compliant::new(tower()).unwrap().time_step(0.01));
}

#[test]
fn forces_without_friction_are_at_the_same_points() {
    let stepper = Compliant::new(tower()).unwrap().time_step(0.01);
    check(&mut stepper.frictionless());
}

/// The arrows of the last frame, and the texts of the marks, of a ball of 5 cm that starts at a height
/// over a plane without damping.
fn ball(z: f64, tf: f64) -> (usize, Vec<String>) {
    let soft = |body: Body| body.stiffness(1e4).dissipation_time(0.0);
    let mut scene = Scene::new();
    scene.add(soft(Body::fixed(Shape::plane()))).unwrap();
    let ball = soft(Body::new(Shape::sphere(0.05).unwrap()));
    scene.add(ball.position([0.0, 0.0, z])).unwrap();
    let (q, v) = scene.start();
    let mut stepper = Compliant::new(scene.clone()).unwrap().time_step(0.01);
    let run = stepper.integrate(&Start::at(0.0).q(&q).v(&v), tf).unwrap();
    let page = Page::new(&run, 100.0).unwrap().scene(&scene).unwrap();
    let data = data(&html(&page.forces(&stepper).unwrap()));
    let frames = unpack(&data["drawing"]["arrows"]);
    let marks = data["marks"].as_array().unwrap().iter();
    let marks = marks.map(|mark| {
        format!(
            "{}|{}",
            mark[1].as_str().unwrap(),
            mark[2].as_str().unwrap()
        )
    });
    (frames.last().unwrap().len(), marks.collect())
}

/// From 2 cm above the plane it falls `g dt² k (k + 1) / 2` in `k` steps, 1.5 cm in five and 2.1 cm in
/// six: the end of a run of five has the forces of the step that led there, and none of the next one.
#[test]
fn the_end_of_a_run_has_no_forces_of_a_step_behind_it() {
    assert_eq!(ball(0.07, 0.05), (0, Vec::new()));
    let touch = "closed|0.0500 s: bodies 0 and 1 touch".to_owned();
    assert_eq!(ball(0.07, 0.06), (6, vec![touch]));
}

/// Pressed in by 5 mm it is thrown off.
#[test]
fn bodies_that_part_are_marked() {
    let (_, marks) = ball(0.045, 0.08);
    let first = &marks[0];
    assert!(
        first.starts_with("released|0.0") && first.ends_with(" s: bodies 0 and 1 part"),
        "{first}"
    );
}

/// A run of the tower.
fn run_of(stepper: &mut Compliant<Scene>, tf: f64) -> Run {
    let (q, v) = stepper.system().start();
    let run = stepper.integrate(&Start::at(0.0).q(&q).v(&v), tf);
    run.unwrap().completed().unwrap()
}

/// What differs between a run and a driver; none where forces are drawn.
fn differs(run: &Run, stepper: &Compliant<Scene>) -> Option<&'static str> {
    match Page::new(run, 50.0).unwrap().forces(stepper) {
        Ok(_) => None,
        Err(CompliantFailure::OtherRun { what, .. }) => Some(what),
        Err(failure) => panic!("{failure}"),
    }
}

#[test]
fn forces_of_another_driver_are_refused() {
    let mut stepper = Compliant::new(tower()).unwrap();
    let run = run_of(&mut stepper, 1.0);
    assert_eq!(differs(&run, &stepper), None);
    let other = stepper.clone().time_step(1e-4);
    assert_eq!(differs(&run, &other), Some("length of the step (s)"));
    let miss = Some("greatest miss of the velocities at the end of the step (m/s)");
    let mut other = stepper.clone();
    other.system_mut().gravity([0.0, 0.0, -9.82]).unwrap();
    assert_eq!(differs(&run, &other), miss);
    let mut other = stepper.clone();
    other.remove_body(2).unwrap();
    assert_eq!(differs(&run, &other), miss);
    // The upper cube is heavier: told by the scene, in either order, and by a blow on the lower one only
    // if that gives.
    let scene = tower();
    let mut other = stepper.clone();
    let heavy = scene.body(2).unwrap().clone().density(2000.0);
    other.replace_body(2, heavy).unwrap();
    let page = || Page::new(&run, 50.0).unwrap();
    assert!(page().scene(&scene).unwrap().forces(&other).is_err());
    let drawn = page().forces(&stepper).unwrap();
    assert!(drawn.clone().scene(other.system()).is_err());
    assert!(drawn.scene(&scene).is_ok());
}

/// Of a run whose last two steps are shorter, and of one in which bodies sleep.
#[test]
fn forces_of_the_same_driver_are_drawn() {
    let mut stepper = Compliant::new(tower()).unwrap();
    let run = run_of(&mut stepper, 0.987);
    let step = run.times()[98] - run.times()[97];
    assert!((step - 8.5e-3).abs() < 1e-12, "{step}");
    assert_eq!(differs(&run, &stepper), None);
    // On a slope, where what is awake creeps by `σ g sin α dt`, far more than the tolerance.
    stepper.system_mut().gravity([2.0, 0.0, -9.6]).unwrap();
    let mut stepper = stepper.sleep(Sleep::default());
    let run = run_of(&mut stepper, 2.0);
    assert_eq!(stepper.asleep(), [true, true]);
    assert_eq!(differs(&run, &stepper), None);
    // What sleeps is held by the ground.
    let mut other = stepper.clone();
    other.remove_body(0).unwrap();
    let (q, v) = (run.q(200), run.v(200));
    let slept = stepper.integrate(&Start::at(0.0).q(q).v(v), 0.9).unwrap();
    assert!(differs(&slept, &other).is_some());
    assert_eq!(differs(&slept, &stepper), None);
}

/// Whatever its law of friction, scheme, and tolerance, a driver makes the steps of its run: boxes and balls
/// that fall on each other, bounce, and come to rest.
#[test]
fn forces_of_the_same_driver_are_drawn_whatever_its_settings() {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).unwrap();
    for k in 0..12_u8 {
        let shape = if k % 2 == 0 {
            Shape::cuboid([0.05, 0.08, 0.1])
        } else {
            Shape::sphere(0.07)
        };
        let at = [0.06 * f64::from(k % 3), 0.05 * f64::from(k % 2), 0.2];
        let body = Body::new(shape.unwrap()).orientation([1.0, 0.3, 0.1 * f64::from(k), 0.0]);
        let body = body.position([at[0], at[1], at[2] * f64::from(k + 1)]);
        scene.add(body).unwrap();
    }
    let new = || Compliant::new(scene.clone()).unwrap();
    let drawn = |mut stepper: Compliant<Scene>| {
        let run = run_of(&mut stepper, 2.0);
        assert_eq!(differs(&run, &stepper), None);
    };
    drawn(new());
    drawn(new().friction(StepFriction::Lagged { slip: 1e-4 }));
    drawn(new().time_step(7e-3).sleep(Sleep::default()));
    if !cfg!(debug_assertions) {
        drawn(new().friction(StepFriction::Cone));
        drawn(new().scheme(Scheme::Midpoint));
        drawn(new().solver(Solver::new().rtol(1e-3)));
    }
    let mut bouncing = Scene::new();
    for k in 0..scene.len() {
        let body = scene.body(k).unwrap().clone();
        bouncing.add(body.restitution(0.5)).unwrap();
    }
    drawn(Compliant::new(bouncing).unwrap());
}

/// An effort that a live run was given is not known to the driver.
#[test]
fn forces_of_a_run_with_efforts_are_refused() {
    let mut stepper = Compliant::new(tower()).unwrap();
    let (q, v) = stepper.system().start();
    let mut live = stepper.live(&Start::at(0.0).q(&q).v(&v)).unwrap();
    let mut effort = [0.0; 12];
    effort[3] = 1.0;
    let run = live.integrate(0.5, &effort).unwrap();
    drop(live);
    assert!(differs(&run, &stepper).is_some());
}

/// A page of a scene in which nothing moves.
#[test]
fn a_scene_at_rest_has_a_page_without_forces() {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).unwrap();
    let mut stepper = Compliant::new(scene.clone()).unwrap();
    let run = run_of(&mut stepper, 0.1);
    let page = Page::new(&run, 50.0).unwrap().scene(&scene).unwrap();
    let data = data(&html(&page.forces(&stepper).unwrap()));
    assert_eq!(numbers(&data["times"]).len(), 6);
    assert_eq!(data["bodies"].as_array().unwrap().len(), 1);
}
