//! Bad parameters of terms are refused at the start, each with its name and number.

use nalgebra::{UnitQuaternion, Vector3};
use saltation::bodies::{Anchor, Body, DistanceJoint, Joint, JointAxis, Scene, Shape};
use saltation::compliant::{
    Axis, Compliance, CompliantFailure, JointCoupling, JointFriction, JointLimit, Motor, MotorGoal,
    StepTerm,
};
use saltation::{Compliant, Doubt, InputError, Start};

use super::systems::{Bodies, Sliders, coordinates, cuboid};
use crate::random::SplitMix64;

const NAN: f64 = f64::NAN;
const INF: f64 = f64::INFINITY;

/// What a system of three sliders says of a term at its start.
fn refused(term: impl StepTerm + Send + Sync) -> InputError {
    let mut stepper = Sliders::new(&[1.0; 3], &[0.0; 3]).with(0.01, term);
    match stepper.start(&Start::at(0.0).q(&[0.0; 3]).v(&[0.0; 3])) {
        Err(error) => error,
        other => panic!("{other:?}"),
    }
}

/// What two bodies say of a term at their start.
fn refused_by_bodies(term: impl StepTerm + Send + Sync) -> InputError {
    let bodies = vec![cuboid(1.0, [0.1; 3]); 2];
    let mut stepper = Bodies {
        bodies,
        gravity: 0.0,
    }
    .stepper(0.01)
    .term(term);
    let q = [coordinates(Vector3::zeros(), UnitQuaternion::identity()); 2];
    match stepper.start(&Start::at(0.0).q(q.as_flattened()).v(&[0.0; 12])) {
        Err(error) => error,
        other => panic!("{other:?}"),
    }
}

fn setting(error: InputError) -> (&'static str, usize) {
    match error {
        InputError::BadSetting { name, entry, .. } | InputError::NotFinite { name, entry, .. } => {
            (name, entry)
        }
        other => panic!("{other:?}"),
    }
}

fn missing(error: InputError) -> (&'static str, usize, usize) {
    match error {
        InputError::NoSuch { what, index, count } => (what, index, count),
        other => panic!("{other:?}"),
    }
}

fn soft(stiffness: f64, dissipation_time: f64, near_rigid: f64) -> Compliance {
    Compliance {
        stiffness,
        dissipation_time,
        near_rigid,
    }
}

#[test]
fn numbers_beyond_the_system_are_refused() {
    let coordinate = ("coordinate", 3, 3);
    assert_eq!(missing(refused(JointLimit::new(3, 0.0, 1.0))), coordinate);
    assert_eq!(missing(refused(JointFriction::new(3, 1.0))), coordinate);
    assert_eq!(missing(refused(Motor::new(3))), coordinate);
    let coupling = JointCoupling::new(&[(0, 1.0), (3, 1.0)], 0.0);
    assert_eq!(missing(refused(coupling)), coordinate);
    let axis = Axis::new(1, 7);
    assert_eq!(missing(refused(Motor::new(axis))), ("velocity", 7, 3));
    let joint = Joint::ball(Anchor::on(2, [0.0; 3]), Anchor::world([0.0; 3]));
    let of_body = missing(refused_by_bodies(joint));
    assert_eq!(of_body, ("coordinate of a body", 20, 14));
    let huge = Anchor::on(usize::MAX, [0.0; 3]);
    missing(refused_by_bodies(Joint::ball(
        huge,
        Anchor::world([0.0; 3]),
    )));
}

#[test]
fn parameters_that_make_no_sense_are_refused() {
    for (lower, upper) in [(1.0, 1.0), (2.0, 1.0), (NAN, 1.0), (0.0, NAN)] {
        let error = refused(JointLimit::new(0, lower, upper));
        assert_eq!(setting(error).0, "lower limit");
    }
    for effort in [-1.0, NAN, INF] {
        let error = refused(JointFriction::new(0, effort));
        assert_eq!(setting(error).0, "friction of a joint");
        let error = refused(JointFriction::new(0, 1.0).stiction(-effort.abs()));
        assert_eq!(setting(error).0, "stiction of a joint");
        let error = refused(Motor::new(0).gains(1.0, effort));
        assert_eq!(setting(error), ("gain of a motor", 1));
        let error = refused(Motor::new(0).near_rigid(effort));
        assert_eq!(setting(error).0, "near_rigid of a motor");
    }
    for limit in [-1.0, NAN] {
        let error = refused(Motor::new(0).effort_limit(limit));
        assert_eq!(setting(error).0, "effort limit of a motor");
    }
    let goal = MotorGoal {
        velocity: NAN,
        ..MotorGoal::default()
    };
    assert_eq!(setting(refused(Motor::new(0).goal(goal))).1, 1);
    for (bad, name) in [
        (soft(0.0, 0.0, 0.1), "stiffness of a constraint"),
        (soft(NAN, 0.0, 0.1), "stiffness of a constraint"),
        (soft(1.0, -1.0, 0.1), "dissipation time of a constraint"),
        (soft(1.0, 0.0, NAN), "near_rigid of a constraint"),
        (soft(INF, 0.0, 0.0), "near_rigid of a constraint"),
    ] {
        let limit = JointLimit::new(0, 0.0, 1.0).compliance(bad);
        assert_eq!(setting(refused(limit)).0, name);
        let coupling = JointCoupling::new(&[(0, 1.0)], 0.0).compliance(bad);
        assert_eq!(setting(refused(coupling)).0, name);
    }
    for factor in [0.0, NAN, INF] {
        let coupling = JointCoupling::new(&[(0, 1.0), (1, factor)], 0.0);
        let found = setting(refused(coupling));
        assert_eq!(found, ("coefficient of a coupling", 1));
    }
    assert!(matches!(
        refused(JointCoupling::new::<usize>(&[], 0.0)),
        InputError::TreesOfTerm { found: 0 }
    ));
}

#[test]
fn joints_that_hold_nothing_are_refused() {
    let (on, world) = (|i: usize| Anchor::on(i, [0.0; 3]), Anchor::world([0.0; 3]));
    let nowhere = refused_by_bodies(Joint::ball(world, world));
    assert_eq!(nowhere, InputError::JointWithoutBody);
    let same = refused_by_bodies(Joint::weld(on(1), on(1)));
    assert_eq!(setting(same).0, "body of a joint");
    let bad = Anchor::on(0, [0.0, NAN, 0.0]);
    let error = refused_by_bodies(Joint::ball(world, bad));
    assert_eq!(setting(error), ("anchor of a joint", 4));
    for length in [0.0, -1.0, NAN, INF] {
        let error = refused_by_bodies(DistanceJoint::new(on(0), world, length));
        assert_eq!(setting(error).0, "length of a distance joint");
    }
    for turn in [[0.0; 4], [NAN, 0.0, 0.0, 1.0]] {
        let error = refused_by_bodies(Joint::weld(on(0), on(1).turned(turn)));
        assert_eq!(setting(error).0, "axes of a joint");
    }
    let error = refused_by_bodies(Joint::weld(on(0), on(1)).turning(soft(-1.0, 0.0, 0.1)));
    assert_eq!(setting(error).0, "stiffness of a constraint");
    assert!(Joint::weld(on(0), on(1)).as_placed(&[0.0; 7]).is_err());
    assert!(Joint::weld(on(0), on(1)).as_placed(&[0.0; 14]).is_err());
}

/// What acts on axes of joints: axes that are held, ranges of angles that have no end, joints that
/// make no sense themselves.
#[test]
fn axes_of_joints_that_make_no_sense_are_refused() {
    let (on, world) = (|i: usize| Anchor::on(i, [0.0; 3]), Anchor::world([0.0; 3]));
    let hinge = Joint::hinge(on(0), world);
    let (angle, held) = (hinge.axis(JointAxis::AboutX), hinge.axis(JointAxis::AlongX));
    let error = refused_by_bodies(Motor::new(held.clone()));
    assert_eq!(setting(error), ("axis of a joint", 0));
    let error = refused_by_bodies(JointCoupling::new(
        &[(angle.clone(), 1.0), (held, 1.0)],
        0.0,
    ));
    assert_eq!(setting(error).0, "axis of a joint");
    for (lower, upper) in [(0.0, INF), (-INF, 0.0), (-3.2, 3.2)] {
        let error = refused_by_bodies(JointLimit::new(angle.clone(), lower, upper));
        assert_eq!(setting(error).0, "range of a joint");
    }
    // The vector of a rotation ends at π: one limit is enough.
    let ball = Joint::ball(on(0), world).axis(JointAxis::AboutX);
    let bodies = vec![cuboid(1.0, [0.1; 3])];
    let mut stepper = Bodies {
        bodies,
        gravity: 0.0,
    }
    .stepper(0.01)
    .term(JointLimit::new(ball, 0.0, INF));
    let q = coordinates(Vector3::zeros(), UnitQuaternion::identity());
    stepper
        .start(&Start::at(0.0).q(&q).v(&[0.0; 6]))
        .expect("a limit");
    for direction in [[0.0; 3], [NAN, 0.0, 0.0], [INF, 0.0, 1.0]] {
        let error = refused_by_bodies(Joint::hinge(on(0).along(direction), world));
        assert_eq!(setting(error).0, "axes of a joint");
    }
    let nowhere = Joint::hinge(world, world).axis(JointAxis::AboutX);
    let error = refused_by_bodies(Motor::new(nowhere));
    assert_eq!(error, InputError::JointWithoutBody);
    let far = Joint::hinge(on(2), world).axis(JointAxis::AboutX);
    missing(refused_by_bodies(JointFriction::new(far, 1.0)));
    // A gear of three bodies is found in a step.
    let elbow = Joint::hinge(on(1), on(0)).axis(JointAxis::AboutX);
    let system = Bodies {
        bodies: vec![cuboid(1.0, [0.1; 3]); 3],
        gravity: 0.0,
    };
    let wrist = Joint::hinge(on(2), world).axis(JointAxis::AboutX);
    let gear = JointCoupling::new(&[(elbow, 1.0), (wrist, 1.0)], 0.0);
    let mut stepper = system.stepper(0.01).term(gear);
    let q = [coordinates(Vector3::zeros(), UnitQuaternion::identity()); 3];
    let start = Start::at(0.0).q(q.as_flattened()).v(&[0.0; 18]);
    stepper.start(&start).expect("start");
    let reason = match stepper.step() {
        Err(CompliantFailure::Model { reason, .. }) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason, InputError::TreesOfTerm { found: 3 });
}

/// A loop of welds: one that agrees holds, one that does not is refused with its number and by how much, whatever the
/// order; soft welds may pull against each other.
#[test]
fn welds_that_contradict_each_other_are_refused() {
    let turn = |yaw: f64| UnitQuaternion::from_axis_angle(&Vector3::z_axis(), yaw);
    let places = [(0.0, 0.0), (1.0, 0.4), (0.5, -1.1)]
        .map(|(x, yaw)| coordinates(Vector3::new(x, 0.3 * x * x, 0.0), turn(yaw)));
    let q = places.as_flattened();
    let weld = |a: usize, b: usize, miss: f64| {
        let [a, b] = [a, b].map(|body| Anchor::on(body, [0.0; 3]));
        let joint = Joint::weld(a, b).as_placed(q).expect("two bodies");
        if miss == 0.0 {
            return joint;
        }
        // The same, beside where the bodies are.
        let moved = coordinates(
            Vector3::new(places[1][0] + miss, places[1][1], 0.0),
            turn(0.4 + miss),
        );
        let other = [places[0], moved, places[2]];
        Joint::weld(a, b)
            .as_placed(other.as_flattened())
            .expect("two bodies")
    };
    let start = |terms: Vec<Joint>| {
        let bodies = vec![cuboid(1.0, [0.1, 0.2, 0.3]); 3];
        let mut stepper = Bodies {
            bodies,
            gravity: 9.81,
        }
        .stepper(0.01);
        for term in terms {
            stepper = stepper.term(term);
        }
        let started = stepper.start(&Start::at(0.0).q(q).v(&[0.0; 18]));
        started.map(|()| stepper)
    };
    let ground = Joint::weld(Anchor::on(0, [0.0; 3]), Anchor::world([0.0; 3]));
    let loop_of = |miss: f64| vec![weld(0, 1, 0.0), weld(1, 2, miss), ground, weld(2, 0, 0.0)];
    let mut stepper = start(loop_of(0.0)).expect("welds that agree");
    for _ in 0..50 {
        stepper.step().expect("a step");
    }
    for (now, then) in stepper.q().iter().zip(q) {
        assert!((now - then).abs() < 1e-3, "{now} {then}");
    }
    let refused = |terms: Vec<Joint>| match start(terms) {
        Err(InputError::WeldsDisagree {
            term,
            apart,
            turned,
        }) => (term, apart, turned),
        other => panic!("{:?}", other.map(|_| ())),
    };
    let (term, apart, turned) = refused(loop_of(0.01));
    assert_eq!(term, 3);
    assert!((turned - 0.01).abs() < 1e-12, "{turned}");
    // By the miss itself and the lever arm of its turn.
    assert!((0.003..0.03).contains(&apart), "{apart}");
    let mut terms = loop_of(0.01);
    terms.reverse();
    assert_eq!(refused(terms).0, 3);
    let beside = Joint::weld(Anchor::on(0, [0.0; 3]), Anchor::world([0.1, 0.0, 0.0]));
    let (term, apart, _) = refused(vec![ground, beside]);
    assert!(term == 1 && (apart - 0.1).abs() < 1e-12);
    let mut terms = loop_of(0.01);
    terms[1] = terms[1].turning(soft(100.0, 0.1, 0.1));
    start(terms).expect("a soft weld");
}

/// Random graphs of welds in any order: as the bodies are placed they agree, and one that does not is found.
#[test]
fn random_loops_of_welds_agree_as_bodies_are_placed() {
    let mut draw = SplitMix64(11);
    for case in 0..60 {
        let count = 3 + draw.permutation(4)[0];
        let mut q = Vec::new();
        for _ in 0..count {
            let [roll, pitch, yaw, x, y, z] = [(); 6].map(|()| draw.between(-2.0, 2.0));
            let turn = UnitQuaternion::from_euler_angles(roll, pitch, yaw);
            q.extend(coordinates(Vector3::new(x, y, z), turn));
        }
        // A tree over all bodies, closed in one place; the last number is the world.
        let mut pairs: Vec<(usize, usize)> =
            (1..=count).map(|i| (i, draw.permutation(i)[0])).collect();
        let nodes = draw.permutation(count + 1);
        pairs.push((nodes[0], nodes[1]));
        let order = draw.permutation(pairs.len());
        let weld = |(a, b): (usize, usize)| {
            let anchor = |i: usize| match i {
                i if i == count => Anchor::world([0.1, 0.2, 0.3]),
                i => Anchor::on(i, [0.3, -0.1, 0.2]).turned([0.8, 0.1, -0.4, 0.3]),
            };
            Joint::weld(anchor(a), anchor(b))
                .as_placed(&q)
                .expect("two bodies")
        };
        let start = |moved: Option<usize>| {
            let bodies = vec![cuboid(1.0, [0.1, 0.2, 0.3]); count];
            let mut stepper = Bodies {
                bodies,
                gravity: 0.0,
            }
            .stepper(0.01);
            for &i in &order {
                let (a, b) = pairs[i];
                let joint = weld(pairs[i]);
                // A centimetre beside its place.
                stepper = stepper.term(if moved == Some(i) {
                    let placed = joint.rigid_pair().expect("a weld");
                    let [w, x, y, z] = placed.orientation;
                    let [px, py, pz] = placed.position;
                    let first = match a {
                        a if a == count => Anchor::world([px + 0.01, py, pz]),
                        a => Anchor::on(a, [px + 0.01, py, pz]),
                    };
                    let second = match b {
                        b if b == count => Anchor::world([0.0; 3]),
                        b => Anchor::on(b, [0.0; 3]),
                    };
                    Joint::weld(first.turned([w, x, y, z]), second)
                } else {
                    joint
                });
            }
            let v = vec![0.0; 6 * count];
            stepper.start(&Start::at(0.0).q(&q).v(&v))
        };
        assert_eq!(start(None), Ok(()), "{case}");
        // Any weld of the loop; those beside it are free to be elsewhere.
        match start(Some(pairs.len() - 1)) {
            Err(InputError::WeldsDisagree { apart, turned, .. }) => {
                assert!(
                    (apart - 0.01).abs() < 1e-9 && turned < 1e-7,
                    "{case}: {apart} {turned}"
                );
            }
            other => panic!("{case}: {other:?}"),
        }
    }
}

/// What is found in a step: a coupling of three trees, goals that are not finite.
#[test]
fn faults_of_a_step_end_it_with_their_reason() {
    let coupling = JointCoupling::new(&[(0, 1.0), (1, 1.0), (2, 1.0)], 0.0);
    let motor = Motor::new(0).gains(1.0, 0.0).follow(|_| MotorGoal {
        effort: NAN,
        ..MotorGoal::default()
    });
    let step = |mut stepper: Compliant<Sliders>| {
        stepper
            .start(&Start::at(0.0).q(&[0.0; 3]).v(&[0.0; 3]))
            .expect("start");
        match stepper.step() {
            Err(CompliantFailure::Model { reason, .. }) => reason,
            other => panic!("{other:?}"),
        }
    };
    let sliders = || Sliders::new(&[1.0; 3], &[0.0; 3]);
    let three = step(sliders().with(0.01, coupling));
    assert_eq!(three, InputError::TreesOfTerm { found: 3 });
    assert_eq!(setting(step(sliders().with(0.01, motor))).1, 2);
    // A bad motor put in after the start is refused too.
    let mut stepper = sliders().with(0.01, Motor::new(0));
    stepper
        .start(&Start::at(0.0).q(&[0.0; 3]).v(&[0.0; 3]))
        .expect("start");
    *stepper.term_mut::<Motor>(0).expect("a motor") = Motor::new(0).effort_limit(NAN);
    assert!(stepper.step().is_err());
}

/// In a scene coordinate `i` is not the way of velocity `i`.
#[test]
fn a_number_alone_is_no_axis_of_a_scene() {
    let mut scene = Scene::new();
    scene.add(Body::new(Shape::sphere(0.1).unwrap())).unwrap();
    let (q, v) = scene.start();
    let start = Start::at(0.0).q(&q).v(&v);
    let run = |axis: Axis| {
        let motor = Motor::new(axis).gains(10.0, 1.0);
        let stepper = Compliant::new(scene.clone()).unwrap();
        stepper.term(motor).integrate(&start, 0.1)
    };
    let refused = run(Axis::from(0)).unwrap_err();
    assert!(refused.to_string().contains("Axis::new"), "{refused}");
    assert!(run(Axis::new(0, 3)).is_ok());
    // Turns come before moves, and no quaternion is the integral of one of them.
    for (coordinate, velocity) in [(0, 0), (1, 1), (2, 5 - 1), (3, 0), (4, 0)] {
        let refused = run(Axis::new(coordinate, velocity)).unwrap_err();
        assert!(
            refused.to_string().contains("turns come before moves"),
            "{refused}"
        );
    }
}

/// Bodies of a joint that stand apart, and passed limits, are drawn together in a step or two: the run says so,
/// and those that fit say nothing.
#[test]
fn joints_that_stand_apart_are_doubted() {
    let mut scene = Scene::new();
    scene.add(Body::new(Shape::sphere(0.1).unwrap())).unwrap();
    let (q, v) = scene.start();
    let start = Start::at(0.0).q(&q).v(&v);
    let body = Anchor::of(&scene, 0, [0.0; 3]).unwrap();
    let doubts = |by: f64| {
        let joint = Joint::ball(body, Anchor::world([by, 0.0, 0.0]));
        let slider = Joint::slider(body, Anchor::world([0.0; 3]));
        let limit = JointLimit::new(slider.axis(JointAxis::AlongX), by, 1.0);
        let driver = || Compliant::new(scene.clone()).unwrap();
        let held = driver().term(joint).integrate(&start, 0.2).unwrap();
        let limited = driver().term(slider).term(limit);
        [held, { limited }.integrate(&start, 0.2).unwrap()].map(|run| run.doubts().to_vec())
    };
    for by in [0.0, 0.005] {
        assert_eq!(doubts(by), [[]; 2], "{by}");
    }
    for found in doubts(0.5) {
        let [
            Doubt::Apart {
                body: 0,
                t: 0.0,
                way,
                ..
            },
        ] = found[..]
        else {
            panic!("{found:?}");
        };
        assert!((way - 0.5).abs() < 1e-2, "{way}");
    }
    // A term that is changed on the way is looked at again.
    let joint = |x: f64| Joint::ball(body, Anchor::world([x, 0.0, 0.0]));
    let mut driver = Compliant::new(scene.clone()).unwrap().term(joint(0.0));
    let mut live = driver.live(&start).unwrap();
    live.integrate(0.1, &[]).unwrap();
    let saved = live.snapshot();
    drop(live);
    *driver.term_mut::<Joint>(0).unwrap() = joint(0.3);
    let rest = driver.resume(&saved).unwrap().integrate(0.2, &[]).unwrap();
    assert!(
        matches!(rest.doubts(), [Doubt::Apart { .. }]),
        "{:?}",
        rest.doubts()
    );
}

/// The driver that takes a snapshot up has terms of its own, which are asked as at a start.
#[test]
fn terms_of_a_driver_that_takes_a_run_up_are_checked() {
    let mut scene = Scene::new();
    scene.add(Body::new(Shape::sphere(0.1).unwrap())).unwrap();
    let (q, v) = scene.start();
    let start = Start::at(0.0).q(&q).v(&v);
    let mut driver = Compliant::new(scene.clone()).unwrap();
    let saved = driver.live(&start).unwrap().snapshot();
    let mut wrong = Compliant::new(scene).unwrap().term(Motor::new(0));
    assert!(wrong.resume(&saved).is_err());
}
