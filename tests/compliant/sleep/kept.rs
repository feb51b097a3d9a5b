//! What a run with sleep keeps: bits, counts, impulses, states of failed steps.

use nalgebra::DMatrix;
use saltation::bodies::{Anchor, Joint, Scene};
use saltation::compliant::{Compliant, CompliantFailure, Problem, RowLaw, StepState, StepTerm};
use saltation::{InputError, Start};

use super::{
    DT, STEPS, ball, bits, cube, ground, rule, sleeping, sleepy, stack, start, steps, until_asleep,
};

/// Stacks that sleep, a door that a joint and a row hold, a ball that arrives late.
fn lively(late: f64) -> Scene {
    let mut scene = ground();
    stack(&mut scene, 0.0, 3);
    stack(&mut scene, 1.0, 1);
    let falls = ball().position([0.05, 0.02, 0.7 + 0.5 * 9.81 * late * late]);
    scene.add(falls.restitution(0.3)).expect("a ball");
    scene.add(cube().position([3.0, 0.0, 1.0])).expect("a cube");
    scene
}

fn driver(scene: &Scene) -> Compliant<Scene> {
    let anchor = Anchor::of(scene, 6, [0.0, 0.0, 0.1]).expect("a body");
    let hung = Joint::ball(anchor, Anchor::world([3.0, 0.0, 1.1]));
    let stepper = Compliant::new(scene.clone())
        .expect("a scene")
        .time_step(DT);
    stepper.sleep(rule()).term(hung)
}

/// A run of 1.5 s without a cut: its end, and its driver there.
struct Uncut {
    state: Vec<f64>,
    driver: Compliant<Scene>,
}

impl Uncut {
    fn of(scene: &Scene, at: &Start<'_>) -> Self {
        let mut driver = driver(scene);
        let run = driver.integrate(at, 1.5).expect("input");
        let run = run.completed().expect("completed");
        Self {
            state: run.state().as_slice().to_vec(),
            driver,
        }
    }

    /// Another driver ended with the same sleepers and the same impulses of the joint.
    fn is_that_of(&self, other: &Compliant<Scene>) {
        assert_eq!(other.asleep(), self.driver.asleep());
        let impulses = [other, &self.driver].map(|of| of.term_impulses(0).map(bits));
        assert_eq!(impulses[0], impulses[1]);
    }
}

/// Cut where some sleep, where all are awake, and in the step in which one wakes; by a snapshot.
#[test]
fn a_run_that_is_cut_and_resumed_is_the_uncut_run() {
    let scene = lively(0.7);
    let (q, v) = scene.start();
    let at = Start::at(0.0).q(&q).v(&v);
    let uncut = Uncut::of(&scene, &at);
    let mut most = 0;
    for cut in (2..150).step_by(if cfg!(debug_assertions) { 21 } else { 7 }) {
        let mut first = driver(&scene);
        let mut live = first.live(&at).expect("start");
        live.advance(f64::from(cut) * DT, &[]).expect("a part");
        let saved = live.snapshot();
        drop(live);
        most = most.max(sleeping(&first).len());
        let mut second = driver(&scene);
        let mut live = second.resume(&saved).expect("a snapshot");
        live.advance(1.5, &[]).expect("the rest");
        assert_eq!(bits(live.state()), bits(&uncut.state), "{cut}");
        drop(live);
        uncut.is_that_of(&second);
    }
    assert!(most >= 4, "{most}");
    // Taken up by a driver without sleep all are awake.
    let mut first = driver(&scene);
    let mut live = first.live(&at).expect("start");
    live.advance(0.6, &[]).expect("a part");
    let saved = live.snapshot();
    let mut second = start(scene, |s| s);
    second
        .resume(&saved)
        .expect("a snapshot")
        .advance(0.61, &[])
        .expect("a part");
    assert!(sleeping(&second).is_empty());
    assert!(second.contacts().len() >= 16);
}

/// The same by a document, which is what it was where nothing may sleep.
#[cfg(feature = "serde")]
#[test]
fn a_run_that_is_saved_and_loaded_is_the_uncut_run() {
    use saltation::compliant::Checkpoint;
    let scene = lively(0.7);
    let (q, v) = scene.start();
    let at = Start::at(0.0).q(&q).v(&v);
    let uncut = Uncut::of(&scene, &at);
    for cut in (2..150).step_by(7) {
        let mut first = driver(&scene);
        let mut live = first.live(&at).expect("start");
        live.advance(f64::from(cut) * DT, &[]).expect("a part");
        let saved = Checkpoint::of(&live.snapshot()).expect("of this driver");
        drop(live);
        let text = serde_json::to_string(&saved).expect("a document");
        let loaded: Checkpoint = serde_json::from_str(&text).expect("a checkpoint");
        assert_eq!(loaded, saved);
        let mut second = driver(&scene);
        let mut live = second.restore(&loaded).expect("a checkpoint");
        live.advance(1.5, &[]).expect("the rest");
        assert_eq!(bits(live.state()), bits(&uncut.state), "{cut}");
        drop(live);
        uncut.is_that_of(&second);
    }
    let mut without = start(scene, |s| s);
    steps(&mut without, 3);
    let text = serde_json::to_string(&without.checkpoint().expect("started")).expect("a document");
    assert!(!text.contains("sleep"), "{text}");
}

/// Documents of sleepers that no run has are refused, and the driver has not started then.
#[cfg(feature = "serde")]
#[test]
fn sleepers_that_make_no_sense_are_refused() {
    use serde_json::{Value, from_value, json, to_value};
    let scene = lively(5.0);
    let (q, v) = scene.start();
    let at = Start::at(0.0).q(&q).v(&v);
    let mut first = driver(&scene);
    first.start(&at).expect("start");
    for _ in 0..60 {
        first.step().expect("a step");
    }
    assert_eq!(sleeping(&first).len(), 5);
    let good = to_value(first.checkpoint().expect("started")).expect("a document");
    let read = |value: Value| from_value::<saltation::compliant::Checkpoint>(value);
    let mut second = driver(&scene);
    assert!(second.restore(&read(good.clone()).expect("good")).is_ok());
    let moves = good["v"].as_array().expect("numbers").len();
    let mut wrongs = vec![
        ("quiet", json!([0.0])),
        ("quiet", json!([0.0, 0.0, 0.0, 0.0, -1.0, 0.0])),
        ("islands", json!([0])),
        ("islands", json!([0, 0, 0, 3, null, 6])),
        ("islands", json!([1, 2, 0, 3, null, 5])),
        ("dt", json!(0.0)),
        ("free", json!([0.0])),
        ("applied", json!([0.0])),
        ("supports", json!([0])),
    ];
    let mut contacts = good["sleep"]["contacts"].clone();
    contacts[0]["tree"] = json!(4);
    wrongs.push(("contacts", contacts));
    let mut rows = good["sleep"]["rows"].clone();
    assert_eq!(rows.as_array().map(Vec::len), Some(3));
    for (name, value) in [
        ("first", json!(4)),
        ("second", json!(17)),
        ("regularisation", json!(-1.0)),
        ("low", json!(1e300)),
    ] {
        let kept = rows[1][name].clone();
        rows[1][name] = value;
        if name == "low" {
            rows[1]["high"] = json!(0.0);
        }
        wrongs.push(("rows", rows.clone()));
        rows[1][name] = kept;
    }
    for (name, value) in wrongs {
        let mut wrong = good.clone();
        wrong["sleep"][name] = value.clone();
        let refused = second.restore(&read(wrong).expect("a document")).err();
        assert!(refused.is_some(), "{name} {value}");
        assert!(second.step().is_err() && second.t().is_nan());
    }
    // What sleeps has no velocity.
    let mut wrong = good.clone();
    wrong["v"] = json!(vec![1e-3; moves]);
    assert!(second.restore(&read(wrong).expect("a document")).is_err());
    for name in ["quiet", "islands", "free"] {
        let mut wrong = good.clone();
        wrong["sleep"][name] = json!("none");
        assert!(read(wrong).is_err());
    }
}

/// Where nothing comes to rest the option changes no bit.
#[test]
fn what_never_rests_is_the_run_without_sleep() {
    let mut scene = ground();
    for k in 0..6 {
        let x = 0.15 * f64::from(k);
        scene
            .add(
                ball()
                    .position([x, 0.05 * x, 0.3 + x])
                    .velocity([0.5, 0.1, 0.0])
                    .restitution(0.5),
            )
            .expect("a ball");
    }
    let (mut with, mut without) = (sleepy(scene.clone()), start(scene, |s| s));
    for _ in 0..150 {
        steps(&mut with, 1);
        steps(&mut without, 1);
        assert_eq!(
            (bits(with.q()), bits(with.v())),
            (bits(without.q()), bits(without.v()))
        );
    }
    assert!(sleeping(&with).is_empty());
    assert_eq!(with.statistics(), without.statistics());
}

/// Islands that sleep and wake on several threads.
#[cfg(feature = "parallel")]
#[test]
fn threads_change_no_bit_of_a_run_with_sleep() {
    use saltation::compliant::Solver;
    let scene = lively(0.5);
    let (q, v) = scene.start();
    let end = |threads: usize| {
        let mut stepper = driver(&scene).solver(Solver::new().threads(threads));
        let run = stepper
            .integrate(&Start::at(0.0).q(&q).v(&v), 1.2)
            .expect("input");
        let run = run.completed().expect("completed");
        (
            bits(run.states().clone_owned().as_slice()),
            *stepper.statistics(),
        )
    };
    let one = end(1);
    assert!(one.1.sleeping > 200);
    for threads in [2, 8] {
        assert_eq!(end(threads), one, "{threads} threads");
    }
}

/// Contacts that sleep are not listed and have no impulses, and the flags of a run say that they press.
#[test]
fn contacts_that_sleep_are_not_listed() {
    let mut scene = ground();
    stack(&mut scene, 0.0, 2);
    let mut stepper = sleepy(scene);
    until_asleep(&mut stepper, 2);
    // Of the step in which they fell asleep.
    let load: f64 = stepper.solution().impulses().iter().map(|p| p[0]).sum();
    assert!((load / DT - 3.0 * 8.0 * 9.81).abs() < 1e-3);
    steps(&mut stepper, 1);
    assert!(stepper.contacts().is_empty() && stepper.solution().impulses().is_empty());
    assert!(stepper.solution().islands().is_empty());
    let counts = *stepper.statistics();
    steps(&mut stepper, 10);
    let after = *stepper.statistics();
    assert_eq!(
        (after.contacts, after.islands),
        (counts.contacts, counts.islands)
    );
    assert_eq!(after.sleeping, counts.sleeping + 20);
    // A model that numbers its contacts: a block on its floor.
    let block = saltation::models::SlidingBlock::default();
    let mut driver = Compliant::new(block)
        .expect("a block")
        .time_step(DT)
        .sleep(rule());
    let run = driver.integrate(&Start::at(0.0).q(&[0.0, 0.0]).v(&[0.0, 0.0]), 1.0);
    let run = run.expect("input").completed().expect("completed");
    assert_eq!(driver.asleep(), [true]);
    assert!(driver.contacts().is_empty());
    assert!(run.mode().flag(0));
    assert!(run.events().iter().all(|event| event.released.is_empty()));
}

/// Steps with sleepers have no derivative, and neither has that in which an island falls asleep; the state is that
/// before.
#[test]
fn steps_with_sleepers_have_no_derivative() {
    let mut scene = ground();
    stack(&mut scene, 0.0, 1);
    let mut stepper = sleepy(scene.clone());
    let mut along = sleepy(scene);
    let columns = DMatrix::from_fn(13, 2, |i, k| if i == 7 + k { 1.0 } else { 0.0 });
    let efforts = DMatrix::zeros(6, 2);
    let refused = |stepper: &mut Compliant<Scene>| {
        let before = (bits(stepper.q()), bits(stepper.v()), stepper.t());
        let mut moved = columns.clone();
        let refused = stepper.step_along(&[0.0; 6], &mut moved, &efforts);
        assert!(
            matches!(refused, Err(CompliantFailure::NoDerivative { why }) if why.contains("sleep"))
        );
        assert_eq!(moved, columns);
        assert_eq!((bits(stepper.q()), bits(stepper.v()), stepper.t()), before);
    };
    let mut made = 0;
    for _ in 0..1000 {
        let before = sleeping(&stepper).len();
        steps(&mut stepper, 1);
        if before == 0 && !sleeping(&stepper).is_empty() {
            break;
        }
        // Until then derivatives are those of steps, which are those without.
        let mut moved = columns.clone();
        along
            .step_along(&[0.0; 6], &mut moved, &efforts)
            .expect("awake");
        assert_eq!(bits(along.q()), bits(stepper.q()));
        made += 1;
    }
    assert!(made >= STEPS - 1);
    refused(&mut along);
    refused(&mut along);
    assert!(sleeping(&along).is_empty());
    // Made without, it falls asleep.
    steps(&mut along, 1);
    assert_eq!(sleeping(&along), [0]);
    refused(&mut along);
    assert_eq!(sleeping(&along), [0]);
}

/// Refuses to be built at a time.
#[derive(Clone, Debug)]
struct FailsAt(f64);

impl StepTerm for FailsAt {
    fn add(&self, state: &StepState<'_>, problem: &mut Problem) -> Result<(), InputError> {
        if (state.t - self.0).abs() < 0.5 * DT {
            return Err(InputError::NoContacts);
        }
        let law = RowLaw {
            regularisation: 1.0,
            target: 0.0,
            low: -1.0,
            high: 1.0,
        };
        problem.add_row(law, &[(1, &[0.0, 0.0, 0.0, 1.0, 0.0, 0.0])])?;
        Ok(())
    }
}

/// A step that fails after something woke leaves those asleep that slept, with all that is kept of them: the
/// next one is that without the failure.
#[test]
fn a_step_that_fails_wakes_nothing() {
    let mut scene = ground();
    stack(&mut scene, 0.0, 1);
    stack(&mut scene, 1.0, 1);
    let mut stepper = start(scene.clone(), |s| s.sleep(rule()).term(FailsAt(0.995)));
    let mut other = start(scene, |s| s.sleep(rule()).term(FailsAt(9.0)));
    steps(&mut stepper, 99);
    steps(&mut other, 99);
    assert_eq!(sleeping(&stepper), [0, 1]);
    let mut effort = [0.0; 12];
    effort[3] = 100.0;
    // It begins at 0.99 s, within half a step.
    let failed = stepper.step_with(&effort);
    assert!(
        matches!(failed, Err(CompliantFailure::Model { .. })),
        "{failed:?}"
    );
    assert_eq!(sleeping(&stepper), [0, 1]);
    *stepper.term_mut::<FailsAt>(0).expect("a term") = FailsAt(9.0);
    for _ in 0..30 {
        steps(&mut stepper, 1);
        steps(&mut other, 1);
        assert_eq!(bits(stepper.q()), bits(other.q()));
        assert_eq!(stepper.asleep(), other.asleep());
        assert_eq!(
            stepper.term_impulses(0).map(bits),
            other.term_impulses(0).map(bits)
        );
    }
}
