//! What wakes an island: forces, motors, terms.

use saltation::bodies::{Anchor, DistanceJoint, Frozen, Joint, JointAxis, Scene};
use saltation::compliant::{Motor, MotorGoal, Problem, RowLaw, StepState, StepTerm};
use saltation::{Compliant, InputError, Start};

use super::{
    DT, STEPS, ball, bits, cube, ground, rule, sleeping, sleepy, stack, start, steps, until_asleep,
};

/// A control that switches on wakes what it acts on in its step, and no other; one that friction
/// holds lets it sleep again, with that force; one that ends wakes it too.
#[test]
fn a_force_wakes_where_it_acts() {
    for push in [1e-6, 5.0, 60.0] {
        let mut scene = ground();
        stack(&mut scene, 0.0, 1);
        stack(&mut scene, 1.0, 2);
        let mut stepper = sleepy(scene);
        until_asleep(&mut stepper, 3);
        let mut effort = [0.0; 18];
        effort[3] = push;
        let q = stepper.q()[0];
        steps(&mut stepper, 2);
        let mut other = start(stepper.system().clone(), |s| s);
        let at = Start::at(stepper.t()).q(stepper.q()).v(stepper.v());
        other.start(&at).expect("start");
        stepper.step_with(&effort).expect("a step");
        other.step_with(&effort).expect("a step");
        // As from this state without sleep, bit by bit.
        assert_eq!(bits(&stepper.v()[..6]), bits(&other.v()[..6]));
        assert_eq!(sleeping(&stepper), [1, 2], "{push}");
        // Friction of 0.5 holds 39 N.
        let slides = push > 40.0;
        for _ in 0..STEPS + 20 {
            stepper.step_with(&effort).expect("a step");
        }
        assert_eq!(
            sleeping(&stepper).len(),
            if slides { 2 } else { 3 },
            "{push}"
        );
        let way = stepper.q()[0] - q;
        assert_eq!(way > 1e-2, slides, "{push} {way:e}");
        stepper.step().expect("a step");
        assert_eq!(sleeping(&stepper), [1, 2], "{push}");
    }
}

/// The push of a single step, at any step around that in which the body falls asleep, moves it.
#[test]
fn a_blow_of_one_step_is_not_overslept() {
    for at in 0..8 {
        let mut scene = ground();
        stack(&mut scene, 0.0, 1);
        let mut stepper = sleepy(scene);
        until_asleep(&mut stepper, 1);
        stepper.wake_all();
        steps(&mut stepper, STEPS - 4 + at);
        let mut effort = [0.0; 6];
        effort[3] = 200.0;
        stepper.step_with(&effort).expect("a step");
        assert!(stepper.v()[3] > 0.1, "{at}: {}", stepper.v()[3]);
        assert!(sleeping(&stepper).is_empty(), "{at}");
    }
}

/// The arm of a motor, which lies on a stop in the first case.
fn arm() -> (Scene, Joint, Motor) {
    let mut scene = Scene::new();
    let arm = scene.add(cube().position([0.5, 0.0, 0.0])).expect("an arm");
    let across = [0.0, 1.0, 0.0];
    let anchor = Anchor::of(&scene, arm, [-0.5, 0.0, 0.0]).expect("a body");
    let hinge = Joint::hinge(anchor.along(across), Anchor::world([0.0; 3]).along(across));
    let motor = Motor::new(hinge.axis(JointAxis::AboutX)).gains(5000.0, 500.0);
    (scene, hinge, motor)
}

/// By a goal in time, and by one that is set between steps: the arm moves from that step on. While it sleeps its rows
/// have the impulses that they fell asleep with.
#[test]
fn a_motor_wakes_with_its_goal() {
    let (scene, hinge, motor) = arm();
    let by_time = motor.clone().follow(|state| MotorGoal {
        position: if state.t < 2.995 { 0.0 } else { 0.3 },
        ..MotorGoal::default()
    });
    let mut stepper = start(scene.clone(), |s| {
        s.sleep(rule()).term(hinge).term(by_time.clone())
    });
    let mut awake = Vec::new();
    let mut held = Vec::new();
    for k in 0..400 {
        steps(&mut stepper, 1);
        if sleeping(&stepper).is_empty() {
            awake.push(k);
        }
        if (250..300).contains(&k) {
            held.push((
                stepper.term_impulses(0).expect("rows").to_vec(),
                stepper.term_impulses(1).expect("a row").to_vec(),
            ));
        }
    }
    assert!(awake.contains(&300) && !awake.contains(&299) && !awake.contains(&200));
    assert!(held.iter().all(|of| *of == held[0]));
    // 8 kg at 0.5 m.
    let torque = held[0].1[0] / DT;
    assert!((torque.abs() - 8.0 * 9.81 * 0.5).abs() < 0.05, "{torque}");

    let mut stepper = start(scene, |s| s.sleep(rule()).term(hinge).term(motor.clone()));
    until_asleep(&mut stepper, 1);
    let goal = MotorGoal {
        position: 0.3,
        ..MotorGoal::default()
    };
    let set = stepper.term_mut::<Motor>(1).expect("a motor");
    *set = set.clone().goal(goal);
    steps(&mut stepper, 1);
    assert!(sleeping(&stepper).is_empty());
    steps(&mut stepper, 100);
    assert!(
        (stepper.q()[2].abs() - 0.5 * 0.3f64.sin()).abs() < 2e-2,
        "{}",
        stepper.q()[2]
    );
}

/// A term that holds another axis than it did, by the same law.
#[test]
fn a_row_along_another_axis_wakes() {
    let mut scene = ground();
    stack(&mut scene, 0.0, 1);
    let held = |axis| Frozen::of(&scene, 1, &[axis]).expect("a body");
    let mut stepper = start(scene.clone(), |s| {
        s.sleep(rule()).term(held(JointAxis::AlongX))
    });
    until_asleep(&mut stepper, 1);
    let term = stepper.term_mut::<Frozen>(0).expect("a term");
    *term = held(JointAxis::AlongX);
    steps(&mut stepper, 1);
    assert_eq!(sleeping(&stepper), [0]);
    *stepper.term_mut::<Frozen>(0).expect("a term") = held(JointAxis::AlongY);
    steps(&mut stepper, 1);
    assert!(sleeping(&stepper).is_empty());
}

/// A term that is added, and one that has more rows than before.
#[test]
fn another_term_wakes() {
    let mut scene = ground();
    stack(&mut scene, 0.0, 1);
    stack(&mut scene, 1.0, 1);
    let frozen = Frozen::of(&scene, 1, &[JointAxis::AlongX]).expect("a body");
    let mut stepper = start(scene, |s| s.sleep(rule()).term(frozen));
    until_asleep(&mut stepper, 2);
    let second = Frozen::of(stepper.system(), 2, &[JointAxis::AboutX]).expect("a body");
    let mut stepper: Compliant<Scene> = stepper.term(second);
    steps(&mut stepper, 1);
    assert_eq!(sleeping(&stepper), [0]);
    assert_eq!(stepper.term_impulses(0).map(<[f64]>::len), Some(1));
    assert_eq!(stepper.term_impulses(1).map(<[f64]>::len), Some(1));
}

/// Ties two trees by a row where `t` has come, whose impulse is bounded.
#[derive(Clone, Debug)]
struct TieFrom(f64);

impl StepTerm for TieFrom {
    fn add(&self, state: &StepState<'_>, problem: &mut Problem) -> Result<(), InputError> {
        if state.t < self.0 {
            return Ok(());
        }
        let law = RowLaw {
            regularisation: 1e-3,
            target: 0.0,
            low: -5.0,
            high: 5.0,
        };
        let row = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0];
        problem.add_row(law, &[(0, &row), (1, &row.map(|x: f64| -x))])?;
        Ok(())
    }
}

/// A rope that becomes taut between a body that moves and one that sleeps.
#[test]
fn a_row_that_joins_awake_and_asleep_wakes() {
    let mut scene = ground();
    stack(&mut scene, 0.0, 1);
    scene
        .add(
            ball()
                .position([2.0, 0.0, 0.1])
                .velocity([1.0, 0.0, 0.0])
                .angular_velocity([0.0, 10.0, 0.0]),
        )
        .expect("a ball");
    let mut stepper = start(scene, |s| s.sleep(rule()).term(TieFrom(0.995)));
    steps(&mut stepper, 100);
    assert_eq!(sleeping(&stepper), [0]);
    steps(&mut stepper, 1);
    assert!(sleeping(&stepper).is_empty());
    assert!(stepper.v()[3] > 1e-3);
}

/// Bodies on a rope that hang from the ceiling come to rest by the damping of a motor-less joint, sleep, and wake
/// whole by a push on the last.
#[test]
fn a_chain_sleeps_and_wakes_whole() {
    let mut scene = Scene::new();
    for k in 0..3 {
        scene
            .add(ball().position([0.0, 0.0, -0.3 - 0.4 * f64::from(k)]))
            .expect("a ball");
    }
    let of = |body: usize| Anchor::of(&scene, body, [0.0; 3]).expect("a body");
    let ropes = [
        DistanceJoint::new(of(0), Anchor::world([0.0; 3]), 0.3).rope(),
        DistanceJoint::new(of(1), of(0), 0.4).rope(),
        DistanceJoint::new(of(2), of(1), 0.4).rope(),
    ];
    let mut stepper = start(scene, |s| {
        ropes.iter().fold(s.sleep(rule()), |s, rope| s.term(*rope))
    });
    until_asleep(&mut stepper, 3);
    let q = bits(stepper.q());
    steps(&mut stepper, 50);
    assert_eq!(bits(stepper.q()), q);
    let mut effort = [0.0; 18];
    effort[12 + 3] = 1.0;
    stepper.step_with(&effort).expect("a step");
    assert!(sleeping(&stepper).is_empty());
}
