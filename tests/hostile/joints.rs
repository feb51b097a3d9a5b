//! Joints, motors and paths with numbers that make no sense, and functions of users that panic: typed errors or
//! finite states, and a driver that goes on.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use saltation::bodies::{Anchor, Body, Frozen, Joint, JointAxis, Kinematic, Pose, Scene, Shape};
use saltation::compliant::{
    JointCoupling, JointFriction, JointLimit, Motor, MotorGoal, StepState, StepTerm,
};
use saltation::{Compliant, Start};

/// Two cubes above the ground, side by side.
fn scene() -> Scene {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).expect("a plane");
    let cube = Shape::cuboid([0.1; 3]).expect("a cube");
    for x in [0.0, 0.3] {
        let body = Body::new(cube.clone()).position([x, 0.0, 0.11]);
        scene.add(body).expect("a cube");
    }
    scene
}

fn upright(position: [f64; 3]) -> Result<Pose, saltation::InputError> {
    Pose::new(position, [1.0, 0.0, 0.0, 0.0])
}

/// Steps until it is refused; all states are numbers.
fn go(mut stepper: Compliant<Scene>) {
    let (q, v) = stepper.system().start();
    if stepper.start(&Start::at(0.0).q(&q).v(&v)).is_err() {
        return;
    }
    for _ in 0..20 {
        let made = stepper.step();
        let finite = |x: &f64| x.is_finite();
        assert!(
            stepper.q().iter().all(finite) && stepper.v().iter().all(finite),
            "{made:?}"
        );
        if let Err(error) = made {
            // It says what was wrong.
            assert!(error.to_string().len() > 10);
            return;
        }
    }
}

fn with(term: impl StepTerm + Send + Sync) {
    go(Compliant::new(scene()).expect("a scene").term(term));
}

const NUMBERS: [f64; 8] = [
    f64::NAN,
    f64::INFINITY,
    -1e300,
    1e150,
    1e9,
    -1e-300,
    0.0,
    1.0,
];

#[test]
fn numbers_of_any_size_are_refused_or_lived_with() {
    let every = if cfg!(debug_assertions) { 4 } else { 1 };
    for (i, x) in NUMBERS.into_iter().enumerate() {
        for y in NUMBERS.into_iter().skip(i % every).step_by(every) {
            let first = Anchor::on(0, [x, y, 0.1]);
            for second in [Anchor::on(1, [0.0, x, y]), Anchor::world([y, x, 0.0])] {
                for joint in [Joint::weld, Joint::hinge, Joint::slider, Joint::ball] {
                    with(joint(first, second));
                    let turned = first.along([x, y, 1.0]).turned([y, 1.0, x, 0.0]);
                    with(joint(turned, second));
                }
            }
            let hinge = Joint::hinge(Anchor::on(0, [0.1; 3]), Anchor::on(1, [-0.1; 3]));
            let axis = hinge.axis(JointAxis::AboutX);
            with(JointLimit::new(axis.clone(), x, y));
            with(JointFriction::new(axis.clone(), x).stiction(y));
            with(JointCoupling::new(
                &[(axis.clone(), x), (axis.clone(), y)],
                x,
            ));
            let goal = MotorGoal {
                position: x,
                velocity: y,
                effort: x,
            };
            with(Motor::new(axis.clone()).gains(10.0, 1.0).goal(goal));
            with(Motor::new(axis).gains(x, y).effort_limit(y).near_rigid(x));
            with(Kinematic::new(0, move |t| upright([x * t, y, 0.2])));
            with(Kinematic::new(0, move |t| {
                Pose::new([0.0, 0.0, 0.2], [x, y * t, 0.0, 0.1])
            }));
        }
    }
}

/// Turns where angles jump: axes that are opposite, a path by half a turn a step, goals on the other side.
#[test]
fn half_turns_are_lived_with() {
    let over = [0.0, 1.0, 0.0, 0.0];
    for first in [
        [1.0, 0.0, 0.0, 0.0],
        [0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 1.0, 0.0],
    ] {
        for joint in [
            Joint::weld,
            Joint::hinge,
            Joint::slider,
            Joint::ball,
            Joint::planar,
        ] {
            let anchors = (
                Anchor::on(0, [0.1; 3]).turned(first),
                Anchor::on(1, [0.0; 3]),
            );
            with(joint(anchors.0, anchors.1));
            with(joint(anchors.0, anchors.1.turned(over)));
        }
    }
    with(Kinematic::new(0, |t: f64| {
        let half = 0.5 * std::f64::consts::PI * t / 0.01;
        Pose::new([0.0, 0.0, 0.3], [half.cos(), 0.0, 0.0, half.sin()])
    }));
    let hinge = Joint::hinge(Anchor::on(0, [0.0; 3]), Anchor::world([0.0, 0.0, 0.11]));
    let motor = Motor::new(hinge.axis(JointAxis::AboutX)).gains(1e6, 1e3);
    let across = MotorGoal {
        position: std::f64::consts::PI,
        ..MotorGoal::default()
    };
    go(Compliant::new(scene())
        .expect("a scene")
        .term(hinge)
        .term(motor.goal(across)));
}

/// All axes of a body frozen, driven and welded at once: more than it has.
#[test]
fn a_body_that_is_held_several_times_over_stays() {
    use JointAxis::{AboutX, AboutY, AboutZ, AlongX, AlongY, AlongZ};
    let all = [AlongX, AlongY, AlongZ, AboutX, AboutY, AboutZ];
    let weld = Joint::weld(Anchor::on(0, [0.0; 3]), Anchor::world([0.0, 0.0, 0.11]));
    let stepper = Compliant::new(scene()).expect("a scene");
    let stepper = stepper.term(weld).term(weld).term(Frozen::new(0, &all));
    let mut stepper = stepper.term(Kinematic::new(0, |_| upright([0.0, 0.0, 0.11])));
    let (q, v) = stepper.system().start();
    stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("start");
    for _ in 0..50 {
        stepper.step().expect("a step");
    }
    assert!((stepper.q()[2] - 0.11).abs() < 1e-6, "{}", stepper.q()[2]);
}

/// A path and a goal that panic once: the panic passes through, and the next step is that of a run without it.
#[test]
fn functions_that_panic_leave_the_driver_as_it_was() {
    let run = |fails_at: usize| {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = {
            let asked = Arc::clone(&asked);
            move || {
                if asked.fetch_add(1, Ordering::Relaxed) == fails_at {
                    std::panic::panic_any("burnt");
                }
            }
        };
        let (by_path, by_goal) = (count.clone(), count);
        let path = move |t: f64| {
            by_path();
            upright([0.0, 0.0, 0.11 + 0.1 * t])
        };
        let hinge = Joint::hinge(Anchor::on(1, [-0.3, 0.0, 0.0]), Anchor::on(0, [0.0; 3]));
        let goal = move |state: &StepState<'_>| {
            by_goal();
            MotorGoal {
                position: state.t,
                ..MotorGoal::default()
            }
        };
        let motor = Motor::new(hinge.axis(JointAxis::AboutX)).gains(10.0, 1.0);
        let mut stepper = Compliant::new(scene()).expect("a scene");
        stepper = stepper
            .term(Kinematic::new(0, path))
            .term(hinge)
            .term(motor.follow(goal));
        let (q, v) = stepper.system().start();
        stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("start");
        let panics = Cell::new(0);
        let mut made = 0;
        while made < 12 {
            match catch_unwind(AssertUnwindSafe(|| stepper.step())) {
                Ok(step) => {
                    step.expect("a step");
                    made += 1;
                }
                Err(_) => panics.set(panics.get() + 1),
            }
        }
        let bits = stepper.q().iter().chain(stepper.v()).map(|x| x.to_bits());
        (bits.collect::<Vec<_>>(), panics.get())
    };
    let (whole, none) = run(usize::MAX);
    assert_eq!(none, 0);
    for fails_at in 0..16 {
        let (bits, panics) = run(fails_at);
        assert_eq!(panics, 1, "{fails_at}");
        assert_eq!(bits, whole, "{fails_at}");
    }
}
