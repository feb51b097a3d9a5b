//! What falls asleep, and what does not.

use nalgebra::DMatrix;
use saltation::bodies::{Anchor, Body, Joint, Kinematic, Pose, Scene, Shape};
use saltation::compliant::{Motor, MotorGoal, Scheme, Sleep, StepFriction};
use saltation::mechanics::{ContactSource, Contacts, MechanicalSystem, Wanted};
use saltation::{Compliant, InputError, Start};

use super::{DT, STEPS, ball, bits, cube, ground, rule, sleeping, sleepy, stack, start, steps};
use crate::listed::Listed;

/// In the step with which the time is over, not before; from then on no bit of its coordinates
/// changes. At rest from the start: it stands at the depth at which the ground carries it.
#[test]
fn a_ball_at_rest_falls_asleep_after_the_time() {
    let mut scene = ground();
    scene.add(ball().position([0.0, 0.0, 0.1])).expect("a ball");
    let mut settled = start(scene.clone(), |stepper| stepper);
    steps(&mut settled, 100);
    let (q, v) = (settled.q().to_vec(), settled.v().to_vec());
    let mut stepper = Compliant::new(scene)
        .expect("a scene")
        .time_step(DT)
        .sleep(rule());
    stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("start");
    steps(&mut stepper, STEPS - 1);
    assert!(sleeping(&stepper).is_empty());
    steps(&mut stepper, 1);
    assert_eq!(sleeping(&stepper), [0]);
    assert!(stepper.v().iter().all(|v| *v == 0.0));
    let q = bits(stepper.q());
    for _ in 0..100 {
        steps(&mut stepper, 1);
        assert_eq!(
            (bits(stepper.q()), sleeping(&stepper)),
            (q.clone(), vec![0])
        );
        assert!(stepper.v().iter().all(|v| *v == 0.0));
    }
    assert!((stepper.q()[2] - 0.1).abs() < 1e-4);
    assert_eq!(stepper.statistics().sleeping, 100);
}

/// An island sleeps whole, in every scheme and with every law of friction.
#[test]
fn a_stack_falls_asleep_as_one() {
    for scheme in [
        Scheme::SymplecticEuler,
        Scheme::ImplicitEuler,
        Scheme::Midpoint,
    ] {
        for friction in [
            StepFriction::Coulomb,
            StepFriction::Cone,
            StepFriction::Lagged { slip: 1e-4 },
        ] {
            let mut scene = ground();
            stack(&mut scene, 0.0, 4);
            let mut stepper = start(scene, |s| s.sleep(rule()).scheme(scheme).friction(friction));
            let mut fell = 0;
            for _ in 0..300 {
                steps(&mut stepper, 1);
                let count = sleeping(&stepper).len();
                assert!(count == 0 || count == 4, "{scheme:?} {friction:?} {count}");
                fell += count / 4;
            }
            assert!(fell > 100, "{scheme:?} {friction:?} {fell}");
            assert!((stepper.q()[7 * 3 + 2] - 0.7).abs() < 5e-3);
        }
    }
}

/// Two stacks are two islands: one that is pushed by a force that changes never sleeps, and keeps no other awake.
#[test]
fn stacks_sleep_one_by_one() {
    let mut scene = ground();
    stack(&mut scene, 0.0, 2);
    stack(&mut scene, 1.0, 2);
    let mut stepper = sleepy(scene);
    for k in 0..100 {
        let mut effort = [0.0; 24];
        effort[12 + 3] = if k % 2 == 0 { 5.0 } else { 6.0 };
        stepper.step_with(&effort).expect("a step");
        let asleep = if k < 50 {
            sleeping(&stepper).len().min(2)
        } else {
            2
        };
        assert_eq!(sleeping(&stepper), [0, 1][..asleep], "{k}");
    }
}

/// A pendulum has no speed at its turning points, and a ball none at its apex: neither has been at rest, also where
/// the time is one step.
#[test]
fn what_turns_does_not_sleep() {
    for time in [0.0, DT, 5.0 * DT] {
        let sleep = Sleep { time, ..rule() };
        let mut scene = Scene::new();
        let bob = scene.add(ball().position([0.4, 0.0, 0.0])).expect("a bob");
        let anchor = Anchor::of(&scene, bob, [-0.4, 0.0, 0.0]).expect("a body");
        let joint = Joint::ball(anchor, Anchor::world([0.0; 3]));
        let mut stepper = start(scene, |s| s.sleep(sleep).term(joint));
        let mut turned = 0;
        for _ in 0..400 {
            let before = stepper.v()[3];
            steps(&mut stepper, 1);
            turned += usize::from(before * stepper.v()[3] < 0.0);
            assert!(sleeping(&stepper).is_empty(), "{time}");
        }
        assert!(turned >= 4);
        // At rest from the start too it falls: let go at speed zero.
        let mut scene = ground();
        scene
            .add(ball().position([0.0, 0.0, 1.0]).velocity([0.0, 0.0, 2.0]))
            .expect("a ball");
        let mut stepper = start(scene, |s| s.sleep(sleep));
        for _ in 0..50 {
            steps(&mut stepper, 1);
            assert!(sleeping(&stepper).is_empty());
        }
    }
}

/// Falling from rest, with a speed of sleep that it does not reach for many steps: alone, and two that a weld
/// holds together; and a body that floats, however slow.
#[test]
fn what_falls_or_floats_never_sleeps() {
    for gravity in [-9.81, 0.0] {
        let mut scene = Scene::new();
        scene.gravity([0.0, 0.0, gravity]).expect("gravity");
        for k in 0..3 {
            let at = [0.5 * f64::from(k), 0.0, 0.0];
            scene.add(ball().position(at)).expect("a ball");
        }
        let of = |body, x| Anchor::of(&scene, body, [x, 0.0, 0.0]).expect("a body");
        let weld = Joint::weld(of(0, 0.25), of(1, -0.25));
        let sleep = Sleep {
            speed: 1e3,
            time: DT,
        };
        let mut stepper = start(scene, |s| s.sleep(sleep).term(weld));
        for _ in 0..50 {
            steps(&mut stepper, 1);
            assert!(sleeping(&stepper).is_empty(), "{gravity}");
        }
    }
}

/// A body that slides on ice below the speed of sleep, whose friction would bring it to rest after a
/// second, goes on; one that creeps steadily stops, and lost no more than its kinetic energy.
#[test]
fn what_brakes_goes_on_and_what_creeps_stops() {
    let (speed, mu) = (0.01, 0.05);
    let mut scene = ground();
    scene
        .add(
            cube()
                .position([0.0, 0.0, 0.1])
                .friction(mu)
                .velocity([0.9 * speed, 0.0, 0.0]),
        )
        .expect("a cube");
    let mut stepper = start(scene, |s| s.sleep(Sleep { speed, time: DT }));
    // v/(μ g) = 18 ms.
    steps(&mut stepper, 1);
    assert!(sleeping(&stepper).is_empty());
    assert!(stepper.v()[3] < 0.9 * speed);
    // A ball rolls for ever.
    let mut scene = ground();
    let rolling = ball()
        .position([0.0, 0.0, 0.1])
        .velocity([0.004, 0.0, 0.0])
        .angular_velocity([0.0, 0.04, 0.0]);
    let number = scene.add(rolling).expect("a ball");
    let mass = scene.mass_of(number).expect("a mass");
    let mut stepper = sleepy(scene);
    let mut energy = f64::NAN;
    for _ in 0..10 * STEPS {
        if !sleeping(&stepper).is_empty() {
            break;
        }
        energy = stepper.energy().expect("energy");
        steps(&mut stepper, 1);
    }
    assert_eq!(sleeping(&stepper), [0]);
    let lost = energy - stepper.energy().expect("energy");
    // 0.7 m v² of it moves; the rest is rounding of the potential.
    assert!(lost > 0.0 && lost < 0.5 * mass * 0.01 * 0.01, "{lost:e}");
}

/// A plate that is moved more slowly than the speed of sleep moves on, with what lies on it.
#[test]
fn what_a_slow_path_moves_does_not_sleep() {
    let mut scene = Scene::new();
    scene
        .add(
            Body::new(Shape::cuboid([0.5, 0.5, 0.05]).expect("a plate"))
                .position([0.0, 0.0, -0.05]),
        )
        .expect("a plate");
    scene.add(cube().position([0.0, 0.0, 0.1])).expect("a cube");
    let path = |t: f64| Pose::new([0.004 * t, 0.0, -0.05], [1.0, 0.0, 0.0, 0.0]);
    let moved = Kinematic::of(&scene, 0, path).expect("a body");
    let mut stepper = start(scene, |s| s.sleep(rule()).term(moved.clone()));
    for _ in 0..10 * STEPS {
        steps(&mut stepper, 1);
        assert!(sleeping(&stepper).is_empty());
    }
    let way = 0.004 * 10.0 * STEPS as f64 * DT;
    assert!((stepper.q()[0] - way).abs() < 1e-9);
    assert!((stepper.q()[7] - way).abs() < 1e-3 * way);
}

/// A motor that holds an arm up sleeps with it; one whose goal moves slowly does not.
#[test]
fn a_motor_sleeps_where_its_goal_stands_still() {
    for rate in [0.0, 1e-3] {
        let mut scene = Scene::new();
        let arm = scene.add(cube().position([0.5, 0.0, 0.0])).expect("an arm");
        let across = [0.0, 1.0, 0.0];
        let anchor = Anchor::of(&scene, arm, [-0.5, 0.0, 0.0]).expect("a body");
        let hinge = Joint::hinge(anchor.along(across), Anchor::world([0.0; 3]).along(across));
        let axis = hinge.axis(saltation::bodies::JointAxis::AboutX);
        let motor = Motor::new(axis)
            .gains(5000.0, 500.0)
            .follow(move |state| MotorGoal {
                position: rate * state.t,
                ..MotorGoal::default()
            });
        let mut stepper = start(scene, |s| s.sleep(rule()).term(hinge).term(motor.clone()));
        steps(&mut stepper, 300);
        let asleep = if rate == 0.0 { vec![0] } else { vec![] };
        assert_eq!(sleeping(&stepper), asleep, "{rate}");
    }
}

/// A load that swings by less than friction holds moves nothing, and lets nothing sleep.
#[test]
fn what_a_force_in_time_acts_on_does_not_sleep() {
    struct Swung(Scene);
    impl MechanicalSystem for Swung {
        fn dof(&self) -> usize {
            self.0.dof()
        }
        fn coordinates(&self) -> usize {
            self.0.coordinates()
        }
        fn configuration_rate(&self, q: &[f64], v: &[f64], rate: &mut [f64]) -> bool {
            self.0.configuration_rate(q, v, rate)
        }
        fn mass(&self, q: &[f64], mass: &mut [f64]) {
            self.0.mass(q, mass);
        }
        fn trees(&self) -> usize {
            self.0.trees()
        }
        fn tree(&self, i: usize) -> std::ops::Range<usize> {
            self.0.tree(i)
        }
        fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
            self.0.coriolis(q, v, force)
        }
        fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
            self.0.effort(t, q, v, effort);
            effort[3] += 0.1 * (7.0 * t).sin();
        }
    }
    impl ContactSource for Swung {
        fn fill(
            &self,
            q: &[f64],
            set: saltation::mechanics::ContactSet<'_>,
            wanted: Wanted<'_>,
            contacts: &mut Contacts,
        ) -> Result<(), InputError> {
            self.0.fill(q, set, wanted, contacts)
        }
    }
    let mut scene = ground();
    stack(&mut scene, 0.0, 1);
    stack(&mut scene, 1.0, 1);
    let (q, v) = scene.start();
    let stepper = Compliant::new(Swung(scene)).expect("a scene");
    let mut stepper = stepper.time_step(DT).sleep(rule());
    stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("start");
    for k in 0..200 {
        stepper.step().expect("a step");
        assert!(k < 100 || stepper.asleep() == [false, true], "{k}");
    }
}

/// A source that knows nothing of sleep lists all contacts: those that sleep are left out, and bodies do not
/// move.
#[test]
fn sources_need_not_know_of_sleep() {
    let mut scene = ground();
    stack(&mut scene, 0.0, 2);
    // With rows of moments.
    let rolls = cube().rolling_friction(1e-3).position([1.0, 0.0, 0.1]);
    scene.add(rolls).expect("a cube");
    let (q, v) = scene.start();
    let all = |scene: &Scene,
               q: &[f64],
               _: saltation::mechanics::ContactSet<'_>,
               wanted: Wanted<'_>,
               contacts: &mut Contacts| {
        scene.fill(
            q,
            saltation::mechanics::ContactSet::Within(0.05),
            wanted,
            contacts,
        )
    };
    let stepper = Compliant::new(Listed::new(scene, all)).expect("a scene");
    let mut stepper = stepper.time_step(DT).sleep(rule());
    stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("start");
    for k in 0..100 {
        let mut effort = [0.0; 18];
        effort[12 + 3] = if k % 2 == 0 { 5.0 } else { 6.0 };
        stepper.step_with(&effort).expect("a step");
    }
    assert_eq!(stepper.asleep(), [true, true, false]);
    // Of the third cube alone, all of whose rows are those of its own tree.
    assert_eq!(stepper.contacts().len(), 4);
    for i in 0..4 {
        let blocks: Vec<_> = stepper.contacts().blocks(i).collect();
        assert!(
            blocks
                .iter()
                .all(|block| block.tree == 2 && block.start == 12)
        );
        let normal = &blocks[0].rows[..6];
        assert!((normal[5] - 1.0).abs() < 1e-6, "{normal:?}");
    }
    let load: f64 = stepper.solution().impulses().iter().map(|p| p[0]).sum();
    assert!((load / DT - 8.0 * 9.81).abs() < 1e-3);
    assert!(bits(&stepper.v()[..12]).iter().all(|bits| *bits == 0));
}

#[test]
fn rules_that_make_no_sense_are_refused() {
    let mut scene = ground();
    stack(&mut scene, 0.0, 1);
    let (q, v) = scene.start();
    for (speed, time) in [
        (0.0, 1.0),
        (-1.0, 1.0),
        (f64::NAN, 1.0),
        (0.1, -1.0),
        (0.1, f64::INFINITY),
        (0.1, f64::NAN),
    ] {
        let stepper = Compliant::new(scene.clone()).expect("a scene");
        let mut stepper = stepper.sleep(Sleep { speed, time });
        let refused = stepper.start(&Start::at(0.0).q(&q).v(&v));
        assert!(
            matches!(&refused, Err(InputError::BadSetting { name, .. } | InputError::NotFinite { name, .. }) if name.contains("sleep")),
            "{refused:?}"
        );
        // So are those of a driver that has started, by a step.
        let mut stepper = sleepy(scene.clone());
        steps(&mut stepper, 1);
        let mut stepper = stepper.sleep(Sleep { speed, time });
        let refused = stepper.step().expect_err("a wrong rule").to_string();
        assert!(refused.contains("sleep"), "{refused}");
        let columns = DMatrix::zeros(13, 1);
        let along = stepper.step_along(&[0.0; 6], &mut columns.clone(), &DMatrix::zeros(6, 1));
        assert_eq!(along.expect_err("a wrong rule").to_string(), refused);
    }
}
