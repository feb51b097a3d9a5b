//! Axes of the world along and about which a body does not move.

use saltation::bodies::{Body, FreeBody, Frozen, JointAxis, Scene, Shape};
use saltation::compliant::Solver;
use saltation::{Compliant, InputError, Start};

const G: f64 = 9.81;
const SLOPE: f64 = 0.3;

/// A ball on a plane, on a slope: gravity is tilted towards x.
fn slope(velocity: [f64; 3]) -> Scene {
    let mut scene = Scene::new();
    scene
        .gravity([G * SLOPE.sin(), 0.0, -G * SLOPE.cos()])
        .expect("finite");
    scene.add(Body::fixed(Shape::plane())).expect("a plane");
    let ball = Body::new(Shape::sphere(0.1).expect("a ball"));
    let ball = ball.position([0.0, 0.0, 0.1]).velocity(velocity);
    scene.add(ball).expect("a ball");
    scene
}

fn stepper(scene: Scene, frozen: Frozen) -> Compliant<Scene> {
    let (q, v) = scene.start();
    let stepper = Compliant::new(scene).expect("a scene");
    let mut stepper = stepper.solver(Solver::new().rtol(1e-10)).term(frozen);
    stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("start");
    stepper
}

/// A ball that cannot turn sticks on a slope below the angle of friction; let go, it rolls with 5/7 of what drives it.
#[test]
fn a_ball_that_cannot_turn_sticks_and_rolls_when_it_is_let_go() {
    let turns = [JointAxis::AboutX, JointAxis::AboutY, JointAxis::AboutZ];
    let mut stepper = stepper(slope([0.0; 3]), Frozen::new(0, &turns));
    for _ in 0..100 {
        stepper.step().expect("a step");
    }
    // The creep of stiction.
    assert!(stepper.v()[3] < 1e-3 * G * 0.01, "{}", stepper.v()[3]);
    let spin: f64 = stepper.v()[..3].iter().map(|x| x.abs()).sum();
    // The torque of friction, by the moment of inertia 2/5 m r².
    let kept = G * SLOPE.sin() * 0.1 / (0.4 * 0.01);
    assert!(spin < 1.01e-7 * 0.01 * kept, "{spin:e}");
    let mass = stepper.system().mass_of(1).expect("a ball");
    let torque = stepper.term_impulses(0).expect("three rows")[1] / 0.01;
    assert!(
        (torque.abs() / (mass * G * SLOPE.sin() * 0.1) - 1.0).abs() < 1e-3,
        "{torque}"
    );
    let before = stepper.v()[3];
    stepper.term_mut::<Frozen>(0).expect("the term").set(&[]);
    for _ in 0..100 {
        stepper.step().expect("a step");
    }
    assert_eq!(stepper.term_impulses(0).map(<[f64]>::len), Some(0));
    let rate = stepper.v()[3] - before;
    assert!(
        (rate / (G * SLOPE.sin() * 5.0 / 7.0) - 1.0).abs() < 1e-3,
        "{rate}"
    );
}

/// A body that is frozen in flight stands still from the end of the next step on, and falls when it is let go.
#[test]
fn a_body_waits_and_goes_on() {
    use JointAxis::{AboutX, AboutY, AboutZ, AlongX, AlongY, AlongZ};
    let mut scene = Scene::new();
    let shape = Shape::cuboid([0.1, 0.2, 0.3]).expect("a box");
    let body = Body::new(shape)
        .velocity([1.0, 2.0, 3.0])
        .angular_velocity([3.0, 2.0, 1.0]);
    scene.add(body).expect("a box");
    let mut stepper = stepper(scene, Frozen::new(0, &[]));
    for _ in 0..10 {
        stepper.step().expect("a step");
    }
    let all = [AlongX, AlongY, AlongZ, AboutX, AboutY, AboutZ];
    stepper.term_mut::<Frozen>(0).expect("the term").set(&all);
    stepper.step().expect("a step");
    let stands = stepper.q().to_vec();
    for _ in 0..1000 {
        stepper.step().expect("a step");
    }
    for (now, then) in stepper.q().iter().zip(&stands) {
        // Ten seconds of creep by 1e-7 dt g.
        assert!(
            (now - then).abs() < 1.1e-7 * 0.01 * G * 10.0,
            "{now} {then}"
        );
    }
    stepper
        .term_mut::<Frozen>(0)
        .expect("the term")
        .set(&[AlongX]);
    for _ in 0..10 {
        stepper.step().expect("a step");
    }
    assert!((stepper.v()[5] + G * 0.1).abs() < 1e-6);
}

/// Bodies of a plane stay in it, through impacts off their centres, and keep what is free.
#[test]
fn bodies_of_a_plane_stay_in_it() {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).expect("a plane");
    let cube = Shape::cuboid([0.1; 3]).expect("a cube");
    for k in 0..4 {
        let k = f64::from(k);
        // Off the plane they would be pushed out of it.
        let body = Body::new(cube.clone()).position([0.11 * k, 0.05 * k, 0.3 + 0.3 * k]);
        scene
            .add(body.angular_velocity([0.0, 1.0, 0.0]))
            .expect("a cube");
    }
    let (q, v) = scene.start();
    let mut stepper = Compliant::new(scene).expect("a scene");
    for body in 0..4 {
        let axes = [JointAxis::AlongY, JointAxis::AboutX, JointAxis::AboutZ];
        stepper = stepper.term(Frozen::new(body, &axes));
    }
    let run = stepper
        .integrate(&Start::at(0.0).q(&q).v(&v), 3.0)
        .expect("input");
    let run = run.completed().expect("completed");
    for k in 0..run.times().len() {
        for body in 0..4 {
            let (now, then) = (&run.q(k)[7 * body..7 * body + 7], &q[7 * body..]);
            assert!((now[1] - then[1]).abs() < 1e-6, "{k} {body}: {now:?}");
            assert!(now[4].abs() + now[6].abs() < 1e-6, "{k} {body}: {now:?}");
        }
    }
}

#[test]
fn bodies_that_are_not_there_are_refused() {
    let scene = slope([0.0; 3]);
    let (q, v) = scene.start();
    for body in [
        FreeBody::from(1),
        FreeBody {
            tree: 9,
            coordinate: 0,
        },
    ] {
        let stepper = Compliant::new(scene.clone()).expect("a scene");
        let mut stepper = stepper.term(Frozen::new(body, &[JointAxis::AlongX]));
        let refused = stepper.start(&Start::at(0.0).q(&q).v(&v));
        assert!(
            matches!(refused, Err(InputError::NoSuch { .. })),
            "{refused:?}"
        );
    }
}
