//! What wakes an island: things that touch it.

use nalgebra::DVector;
use saltation::bodies::{Body, Kinematic, Pose, Scene, Shape};
use saltation::compliant::Sleep;
use saltation::{Compliant, Start};

use super::{
    DT, STEPS, ball, bits, cube, ground, rule, sleeping, sleepy, stack, start, steps, until_asleep,
};

/// A stack and a ball that falls on it, or rolls at it, so late that the stack sleeps.
fn late(scene: &mut Scene) {
    stack(scene, 0.0, 3);
    // Free fall from 3 m: it arrives after 0.7 s.
    scene
        .add(ball().position([0.03, 0.02, 3.7]))
        .expect("a ball");
}

/// Steps after a blow, fewer than those after which all sleep again.
const PASSED: usize = STEPS - 2;

/// A driver without sleep that starts at this state.
fn anew(scene: &Scene, t: f64, q: &[f64], v: &[f64]) -> Compliant<Scene> {
    let mut stepper = Compliant::new(scene.clone())
        .expect("a scene")
        .time_step(DT);
    stepper.start(&Start::at(t).q(q).v(v)).expect("start");
    stepper
}

/// It wakes in the step whose list has the contact with the ball, which is that of the blow or the
/// one before: contacts are listed within 1.5 times the way of a step. From there on the run is the one
/// without sleep from this state, bit by bit.
#[test]
fn a_stack_that_is_hit_wakes_and_moves_as_if_it_had_never_slept() {
    let mut scene = ground();
    late(&mut scene);
    let mut stepper = sleepy(scene.clone());
    let mut without = start(scene.clone(), |s| s);
    let mut woke = None;
    for k in 0..150 {
        let (t, q, v) = (stepper.t(), stepper.q().to_vec(), stepper.v().to_vec());
        let slept = sleeping(&stepper).len();
        steps(&mut stepper, 1);
        if slept == 3 && sleeping(&stepper).is_empty() && woke.is_none() {
            woke = Some(k);
            let way = DVector::from_row_slice(&q) - DVector::from_row_slice(without.q());
            let mut other = anew(&scene, t, &q, &v);
            steps(&mut other, 1);
            assert_eq!(bits(stepper.v()), bits(other.v()));
            let distance = way.amax();
            // Its contact with the upper cube is listed in this step, and in none before.
            let listed = stepper.contacts().all_parameters().iter();
            let touched = listed.filter_map(|of| scene.contact_of(of.contact));
            assert!(touched.into_iter().any(|(a, b, _)| (a, b) == (3, 4)));
            for _ in 0..PASSED {
                steps(&mut without, 1);
                steps(&mut stepper, 1);
                steps(&mut other, 1);
                assert_eq!(bits(stepper.q()), bits(other.q()));
                assert_eq!(bits(stepper.v()), bits(other.v()));
            }
            // The run that never slept differs at this time by `distance`, by which the stack crept.
            // A step makes of a difference of gaps one of velocities of at most δ/dt, and a second
            // blow of that once more.
            let passed = 1.0 + PASSED as f64;
            assert!(distance < 1e-5, "{distance:e}");
            steps(&mut without, 1);
            let apart = DVector::from_row_slice(stepper.q()) - DVector::from_row_slice(without.q());
            assert!(
                apart.amax() <= (1.0 + passed) * (1.0 + passed) * distance,
                "{:e} {distance:e}",
                apart.amax()
            );
            break;
        }
        steps(&mut without, 1);
    }
    // 3 m of fall: at 0.782 s, step 78.
    let woke = woke.expect("it is hit");
    assert!((76..=78).contains(&woke), "{woke}");
}

/// A body that comes to rest upon a stack that sleeps wakes it once, and both sleep as one; the
/// stack does not wake and sleep in turns.
#[test]
fn what_is_laid_down_gently_joins() {
    let mut scene = ground();
    stack(&mut scene, 0.0, 2);
    // Lowered on its path until it lies there, then let go by ending there.
    let plate = Body::new(Shape::cuboid([0.1, 0.1, 0.02]).expect("a plate"));
    let number = scene.add(plate.position([0.0, 0.0, 0.6])).expect("a plate");
    let path = |t: f64| Pose::new([0.0, 0.0, (0.6 - 0.1 * t).max(0.42)], [1.0, 0.0, 0.0, 0.0]);
    let moved = Kinematic::of(&scene, number, path).expect("a body");
    let mut stepper = start(scene, |s| s.sleep(rule()).term(moved.clone()));
    let mut counts = vec![0];
    for _ in 0..400 {
        steps(&mut stepper, 1);
        let count = sleeping(&stepper).len();
        if counts.last() != Some(&count) {
            counts.push(count);
        }
    }
    assert_eq!(counts, [0, 2, 0, 3]);
}

/// A ball that rolls along a row of cubes, 0.5 mm beside them, keeps those awake that it is beside, and wakes
/// none for longer: each wakes once and sleeps again once.
#[test]
fn what_passes_by_wakes_its_neighbours_once() {
    let mut scene = ground();
    for k in 0..3 {
        stack(&mut scene, 2.0 * f64::from(k), 1);
    }
    let rolling = ball()
        .position([-2.0, 0.2005, 0.1])
        .velocity([1.0, 0.0, 0.0])
        .angular_velocity([0.0, 10.0, 0.0]);
    scene.add(rolling).expect("a ball");
    let mut stepper = sleepy(scene);
    let mut times = [0; 3];
    let mut before = vec![false; 4];
    for _ in 0..1000 {
        steps(&mut stepper, 1);
        let mut now = stepper.asleep().to_vec();
        now.resize(4, false);
        for (tree, times) in times.iter_mut().enumerate() {
            *times += usize::from(now[tree] != before[tree]);
        }
        before = now;
    }
    assert_eq!(times, [3; 3]); // asleep, awake, asleep
    assert!(before[..3].iter().all(|asleep| *asleep) && !before[3]);
}

/// One island leans on another that leans on a third: a blow on the first wakes all that it may move, in
/// one step. Cubes stand side by side, with the contacts of their sides listed.
#[test]
fn a_blow_goes_through_islands() {
    let mut scene = ground();
    for k in 0..5 {
        // 3 mm apart: none is listed with another, and each sleeps by itself.
        stack(&mut scene, 0.203 * f64::from(k), 1);
    }
    // 20 m/s, 0.2 m a step.
    let fast = ball()
        .mass(50.0, [0.2; 3])
        .position([-21.0, 0.0, 0.15])
        .velocity([20.0, 0.0, 4.9]);
    scene.add(fast).expect("a ball");
    let mut stepper = sleepy(scene.clone());
    let mut hit = None;
    for k in 0..140 {
        let (t, q, v) = (stepper.t(), stepper.q().to_vec(), stepper.v().to_vec());
        let slept = sleeping(&stepper).len();
        steps(&mut stepper, 1);
        if slept == 5 && sleeping(&stepper).len() < 5 {
            hit = Some(k);
            let mut other = anew(&scene, t, &q, &v);
            for _ in 0..40 {
                steps(&mut other, 1);
                assert_eq!(bits(stepper.q()), bits(other.q()));
                steps(&mut stepper, 1);
            }
            break;
        }
    }
    assert!(hit.is_some(), "{:?} {:?}", sleeping(&stepper), stepper.q());
    assert!(stepper.v()[24 + 3] > 0.1);
}

/// A plate that stands still sleeps with its load; it wakes, and the load with it, in the step in which its
/// path sets off.
#[test]
fn a_floor_that_sets_off_wakes_its_load() {
    let mut scene = Scene::new();
    scene
        .add(
            Body::new(Shape::cuboid([1.0, 0.5, 0.05]).expect("a plate"))
                .position([0.0, 0.0, -0.05]),
        )
        .expect("a plate");
    scene.add(cube().position([0.0, 0.0, 0.1])).expect("a cube");
    let path = |t: f64| {
        let since = (t - 1.0).max(0.0);
        Pose::new([0.5 * since * since, 0.0, -0.05], [1.0, 0.0, 0.0, 0.0])
    };
    let moved = Kinematic::of(&scene, 0, path).expect("a body");
    let mut stepper = start(scene.clone(), |s| s.sleep(rule()).term(moved.clone()));
    let mut without = start(scene, |s| s.term(moved.clone()));
    for k in 0..200 {
        steps(&mut stepper, 1);
        steps(&mut without, 1);
        // The step that begins at 1 s is that of k = 100; times are sums of steps.
        let asleep = (50..100).contains(&k);
        assert!(k < 50 || (sleeping(&stepper).len() == 2) == asleep, "{k}");
    }
    assert!((stepper.q()[0] - 0.5).abs() < 1e-2);
    assert!((stepper.q()[7] - without.q()[7]).abs() < 1e-4);
}

/// The state at the end of a run with a last step of another length: what sleeps wakes there, and lies still.
#[test]
fn steps_of_another_length_wake() {
    let mut scene = ground();
    stack(&mut scene, 0.0, 2);
    let (q, v) = scene.start();
    let mut stepper = Compliant::new(scene)
        .expect("a scene")
        .time_step(DT)
        .sleep(rule());
    let start = Start::at(0.0).q(&q).v(&v);
    let run = stepper.integrate(&start, 1.0).expect("input");
    run.completed().expect("completed");
    assert_eq!(sleeping(&stepper), [0, 1]);
    let run = stepper.integrate(&start, 1.0 + 0.7 * DT).expect("input");
    run.completed().expect("completed");
    assert!(sleeping(&stepper).is_empty());
    // The step is that from this state without sleep, bit by bit.
    let mut stepper = sleepy(stepper.system().clone());
    until_asleep(&mut stepper, 2);
    steps(&mut stepper, 1);
    let mut other = anew(stepper.system(), stepper.t(), stepper.q(), stepper.v());
    (stepper, other) = (stepper.time_step(0.7 * DT), other.time_step(0.7 * DT));
    steps(&mut stepper, 1);
    steps(&mut other, 1);
    assert_eq!(bits(stepper.v()), bits(other.v()));
}

/// What a user says wakes: an island, all, another system, another start.
#[test]
fn a_user_wakes() {
    let mut scene = ground();
    stack(&mut scene, 0.0, 2);
    stack(&mut scene, 1.0, 2);
    let (q, v) = scene.start();
    let mut stepper = sleepy(scene);
    until_asleep(&mut stepper, 4);
    assert!(stepper.wake(1) && !stepper.wake(0) && !stepper.wake(7));
    assert_eq!(sleeping(&stepper), [2, 3]);
    steps(&mut stepper, STEPS - 1);
    assert_eq!(sleeping(&stepper), [2, 3]);
    steps(&mut stepper, 1);
    assert_eq!(sleeping(&stepper).len(), 4);
    stepper.wake_all();
    assert!(stepper.asleep().is_empty());
    until_asleep(&mut stepper, 4);
    stepper
        .system_mut()
        .gravity([0.0, 1.0, -9.81])
        .expect("gravity");
    assert!(stepper.asleep().is_empty());
    until_asleep(&mut stepper, 4);
    stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("start");
    assert!(stepper.asleep().is_empty());
}

/// Bodies that come and go: what stood on one that goes falls in the next step.
#[test]
fn what_loses_its_support_falls() {
    for fixed in [false, true] {
        let mut scene = ground();
        let slab = Shape::cuboid([0.3, 0.3, 0.1]).expect("a slab");
        let slab = if fixed {
            Body::fixed(slab)
        } else {
            Body::new(slab)
        };
        let below = scene.add(slab.position([0.0, 0.0, 0.1])).expect("a slab");
        let above = scene.add(cube().position([0.0, 0.0, 0.3])).expect("a cube");
        let mut stepper = sleepy(scene);
        until_asleep(&mut stepper, if fixed { 1 } else { 2 });
        stepper.remove_body(below).expect("there");
        steps(&mut stepper, 10);
        let fallen = 0.3
            - stepper
                .system()
                .position(above, stepper.q())
                .expect("there")
                .z;
        // ½ g t² of the steps: g dt² (1 + … + 10).
        assert!((fallen - 9.81 * DT * DT * 55.0).abs() < 1e-3, "{fallen}");
        until_asleep(&mut stepper, 1);
        assert!((stepper.q()[stepper.q().len() - 5] - 0.1).abs() < 1e-3);
    }
}

/// A body that appears in one that sleeps is pushed out of it.
#[test]
fn a_body_that_appears_wakes() {
    let mut scene = ground();
    stack(&mut scene, 0.0, 1);
    let mut stepper = sleepy(scene);
    until_asleep(&mut stepper, 1);
    let overlap = 0.02;
    let above = cube().position([0.1, 0.0, 0.3 - overlap]);
    stepper.add_body(above).expect("a cube");
    steps(&mut stepper, 5);
    assert!(sleeping(&stepper).is_empty());
    assert!(
        stepper.q()[7 + 2] > 0.3 - 0.1 * overlap,
        "{}",
        stepper.q()[7 + 2]
    );
}

/// Balls that bounce wake what they fall on in their blow, and are the run without sleep from there.
#[test]
fn a_ball_that_bounces_on_a_sleeper() {
    let mut scene = ground();
    scene
        .add(cube().restitution(0.8).position([0.0, 0.0, 0.1]))
        .expect("a cube");
    scene
        .add(ball().restitution(0.8).position([0.0, 0.0, 2.3]))
        .expect("a ball");
    let mut stepper = start(scene.clone(), |s| {
        s.sleep(Sleep {
            time: 0.1,
            ..rule()
        })
    });
    let mut woke = 0;
    for _ in 0..300 {
        let (t, q, v) = (stepper.t(), stepper.q().to_vec(), stepper.v().to_vec());
        let slept = sleeping(&stepper);
        steps(&mut stepper, 1);
        if slept == [0] && sleeping(&stepper).is_empty() {
            woke += 1;
            let mut other = anew(&scene, t, &q, &v);
            steps(&mut other, 1);
            assert_eq!(bits(stepper.q()), bits(other.q()));
            assert_eq!(bits(stepper.v()), bits(other.v()));
        }
    }
    // Asleep between bounces, which take less time from one to the next.
    assert!(woke >= 2, "{woke}");
}
