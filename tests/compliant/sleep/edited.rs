//! Saved runs whose sleepers are taken up in a model that was changed since.

use saltation::bodies::{Body, Scene, Shape};
use saltation::compliant::{Problem, Softness, StepFriction, StepState, StepTerm};
use saltation::mechanics::ContactParameters;
use saltation::{Compliant, InputError, Snapshot, Start};

use super::{DT, ball, bits, cube, ground, rule, sleeping, stack, start, steps};

/// Driver and snapshot of a run in which all trees sleep.
struct Slept {
    driver: Compliant<Scene>,
    saved: Snapshot,
}

impl Slept {
    fn of(scene: Scene) -> Self {
        let (q, v) = scene.start();
        let trees = q.len() / 7;
        let driver = Compliant::new(scene).expect("a scene");
        let mut driver = driver.time_step(DT).sleep(rule());
        let mut live = driver
            .live(&Start::at(0.0).q(&q).v(&v))
            .expect("a live run");
        live.advance(1.0, &[]).expect("a part");
        let saved = live.snapshot();
        drop(live);
        assert_eq!(sleeping(&driver).len(), trees);
        Self { driver, saved }
    }

    /// The driver after `change` and from the snapshot to a time.
    fn resumed(&self, until: f64, change: impl Fn(&mut Compliant<Scene>)) -> Compliant<Scene> {
        let mut driver = self.driver.clone();
        change(&mut driver);
        let mut live = driver.resume(&self.saved).expect("a snapshot");
        live.advance(until, &[]).expect("a part");
        drop(live);
        driver
    }

    /// The same by a document.
    #[cfg(feature = "serde")]
    fn restored(&self, until: f64, change: impl Fn(&mut Compliant<Scene>)) -> Compliant<Scene> {
        let mut driver = self.driver.clone();
        change(&mut driver);
        let saved = saltation::compliant::Checkpoint::of(&self.saved).expect("of this driver");
        let text = serde_json::to_string(&saved).expect("a document");
        let loaded = serde_json::from_str(&text).expect("a checkpoint");
        let mut live = driver.restore(&loaded).expect("a checkpoint");
        live.advance(until, &[]).expect("a part");
        drop(live);
        driver
    }

    /// Resumed and restored, which have to be alike by the bit.
    fn goes_on(&self, until: f64, change: impl Fn(&mut Compliant<Scene>)) -> Compliant<Scene> {
        let resumed = self.resumed(until, &change);
        #[cfg(feature = "serde")]
        {
            let restored = self.restored(until, &change);
            assert_eq!(bits(resumed.q()), bits(restored.q()));
            assert_eq!(resumed.asleep(), restored.asleep());
        }
        resumed
    }
}

/// How far a body has fallen in half a second of steps from rest, `g dt² n (n + 1) / 2`, and no
/// less with the touch of what falls beside it.
const FALLEN: f64 = 9.81 * DT * DT * 50.0 * 51.0 / 2.0;

fn two_stacks() -> Scene {
    let mut scene = ground();
    stack(&mut scene, 0.0, 2);
    scene
        .add(Body::fixed(Shape::cuboid([0.3, 0.3, 0.1]).expect("a box")).position([3.0, 0.0, 2.0]))
        .expect("a table");
    scene
        .add(cube().position([3.0, 0.0, 2.2]))
        .expect("a cube on it");
    scene
}

#[test]
fn what_lost_its_support_falls() {
    let slept = Slept::of(two_stacks());
    // The ground, which held the first stack alone.
    let driver = slept.goes_on(1.5, |driver| driver.remove_body(0).expect("the ground"));
    for (tree, height) in [0.1, 0.3].into_iter().enumerate() {
        let z = driver.q()[7 * tree + 2];
        // What springs of contacts lift it by is less than the near-rigid overlap, `m g dt²/m`.
        assert!((z - (height - FALLEN)).abs() < 2e-3, "{tree} {z}");
    }
    assert_eq!(sleeping(&driver), [2]);
    // The table, put elsewhere.
    let table = Body::fixed(Shape::cuboid([0.3, 0.3, 0.1]).expect("a box"));
    let driver = slept.goes_on(1.5, |driver| {
        let moved = table.clone().position([9.0, 0.0, 2.0]);
        driver.replace_body(3, moved).expect("another table");
    });
    assert!((driver.q()[16] - (2.2 - FALLEN)).abs() < 2e-3);
    assert_eq!(sleeping(&driver), [0, 1]);
    // By half a millimetre, within the least margin.
    let driver = slept.goes_on(1.01, |driver| {
        let lower = table.clone().position([3.0, 0.0, 2.0 - 5e-4]);
        driver.replace_body(3, lower).expect("another table");
    });
    assert_eq!(sleeping(&driver), [0, 1]);
    // The lower cube, on which the other lay: a ball takes its place.
    let driver = slept.goes_on(1.01, |driver| {
        driver.remove_body(1).expect("a cube");
        driver.replace_body(1, ball()).expect("a ball");
    });
    assert_eq!(sleeping(&driver), [2]);
    let driver = slept.goes_on(1.5, |driver| driver.remove_body(1).expect("a cube"));
    assert!((driver.q()[9] - 0.1).abs() < 1e-3, "it lands");
    // Nothing but a body that was put against a sleeper pushes it.
    let driver = slept.goes_on(1.01, |driver| {
        let near = table.clone().position([2.63, 0.0, 2.25]);
        driver.replace_body(3, near).expect("another table");
    });
    assert_eq!(sleeping(&driver), [0, 1]);
    assert!(driver.v()[15] > 0.1);
}

#[test]
fn what_lost_its_friction_slips() {
    let mut scene = ground();
    let (sine, cosine) = 0.3_f64.sin_cos();
    let down = [9.81 * sine, 0.0, -9.81 * cosine];
    scene.gravity(down).expect("gravity");
    scene.add(cube().position([0.0, 0.0, 0.1])).expect("a cube");
    let slept = Slept::of(scene);
    let slipped = FALLEN * sine;
    let ice = Body::fixed(Shape::plane()).friction(0.0);
    let before = slept.driver.q()[0];
    let driver = slept.goes_on(1.5, |driver| {
        driver.replace_body(0, ice.clone()).expect("ice");
    });
    assert!((driver.q()[0] - before - slipped).abs() < 1e-9);
    // So it does where the driver takes none, and where it changes between steps.
    let driver = slept.goes_on(1.5, |driver| *driver = driver.clone().frictionless());
    assert!((driver.q()[0] - before - slipped).abs() < 1e-9);
    let mut driver = slept.driver.clone().frictionless();
    steps(&mut driver, 50);
    assert!((driver.q()[0] - before - slipped).abs() < 1e-9);
    let mut driver = slept.driver;
    driver.system_mut().replace(0, ice).expect("ice");
    steps(&mut driver, 50);
    assert!((driver.q()[0] - before - slipped).abs() < 1e-9);
}

/// The laws of the driver hold what sleeps as well. What is set again between steps wakes all.
#[test]
fn other_laws_wake() {
    let slept = Slept::of(two_stacks());
    let mut softer = Softness::default();
    softer.near_rigid = 2.0;
    let lagged = StepFriction::Lagged { slip: 1e-4 };
    let same = slept.goes_on(1.01, |driver| {
        *driver = driver.clone().softness(Softness::default());
    });
    assert_eq!(sleeping(&same), [0, 1, 2]);
    let soft = |driver: &mut Compliant<Scene>| *driver = driver.clone().softness(softer);
    let other = |driver: &mut Compliant<Scene>| *driver = driver.clone().friction(lagged);
    assert!(sleeping(&slept.goes_on(1.01, soft)).is_empty());
    assert!(sleeping(&slept.goes_on(1.01, other)).is_empty());
    let softened = slept.driver.clone().softness(softer);
    for mut driver in [softened, slept.driver.friction(lagged)] {
        steps(&mut driver, 1);
        assert!(sleeping(&driver).is_empty());
    }
}

/// A document that does not say what held its sleepers wakes them.
#[cfg(feature = "serde")]
#[test]
fn a_document_without_supports_wakes() {
    use saltation::compliant::Checkpoint;
    let mut slept = Slept::of(two_stacks());
    let saved = Checkpoint::of(&slept.saved).expect("of this driver");
    let mut text = serde_json::to_value(&saved).expect("a document");
    let sleep = text["sleep"].as_object_mut().expect("sleepers");
    assert!(sleep.remove("supports").is_some());
    let loaded = serde_json::from_value(text).expect("a checkpoint");
    drop(slept.driver.restore(&loaded).expect("a checkpoint"));
    assert!(sleeping(&slept.driver).is_empty());
    drop(slept.driver.restore(&saved).expect("a checkpoint"));
    assert_eq!(sleeping(&slept.driver), [0, 1, 2]);
}

/// A beam on one foot, with a cube on each end: where one weighs less than before, it tips.
#[test]
fn what_lost_its_counterweight_tips() {
    let mut scene = ground();
    let foot = Shape::cuboid([0.1, 0.1, 0.1]).expect("a box");
    scene
        .add(Body::fixed(foot).position([0.0, 0.0, 0.1]))
        .expect("a foot");
    let beam = Shape::cuboid([1.0, 0.1, 0.05]).expect("a box");
    scene
        // 8 kg at 0.7 m from the edge of the foot, against 4 kg at 0.9 m and the beam of 4 kg at 0.1 m.
        .add(Body::new(beam).density(100.0).position([0.0, 0.0, 0.25]))
        .expect("a beam");
    for x in [-0.8, 0.8] {
        scene
            .add(cube().density(1000.0).position([x, 0.0, 0.4]))
            .expect("a cube");
    }
    let slept = Slept::of(scene);
    let light = cube().density(500.0).position([0.8, 0.0, 0.4]);
    let driver = slept.goes_on(1.5, |driver| {
        driver.replace_body(4, light.clone()).expect("a cube");
    });
    assert!(driver.q()[9] < 0.35, "the heavier side went down");
    // What is the same sleeps on, by the bit.
    let driver = slept.goes_on(1.5, |driver| {
        let same = cube().density(1000.0).position([0.8, 0.0, 0.4]);
        driver.replace_body(4, same).expect("a cube");
    });
    assert_eq!(bits(driver.q()), bits(slept.driver.q()));
    assert_eq!(sleeping(&driver), [0, 1, 2]);
}

/// A floor at a height, as a contact of a term.
#[derive(Clone, Debug)]
struct Floor(f64);

impl StepTerm for Floor {
    fn add(&self, state: &StepState<'_>, problem: &mut Problem) -> Result<(), InputError> {
        let of = ContactParameters::new(0, state.q[2] - self.0);
        problem.add_contact(&of, &[(0, &[0.0, 0.0, 0.0, 0.0, 0.0, 1.0])])?;
        Ok(())
    }
}

/// What a contact of a term touches is awake, for nothing says whether that stays: neither does it fall
/// asleep, nor does it sleep on where one comes.
#[test]
fn what_lies_on_a_contact_of_a_term_does_not_sleep() {
    let mut scene = ground();
    scene.add(ball().position([0.0, 0.0, 0.1])).expect("a ball");
    scene.add(ball().position([5.0, 0.0, 0.1])).expect("a ball");
    let mut floating = Scene::new();
    floating
        .add(ball().position([0.0, 0.0, 0.1]))
        .expect("a ball");
    let mut driver = start(floating, |s| s.sleep(rule()).term(Floor(0.1)));
    steps(&mut driver, 100);
    assert!(sleeping(&driver).is_empty());
    let height = driver.q()[2];
    *driver.term_mut::<Floor>(0).expect("a floor") = Floor(-9.0);
    steps(&mut driver, 50);
    assert!((height - driver.q()[2] - FALLEN).abs() < 1e-9);
    // One that comes, to lift the first ball of two that sleep on the ground.
    let mut driver = start(scene, |s| s.sleep(rule()));
    steps(&mut driver, 100);
    assert_eq!(sleeping(&driver), [0, 1]);
    let mut driver = driver.term(Floor(0.12));
    steps(&mut driver, 1);
    assert_eq!(sleeping(&driver), [1]);
    steps(&mut driver, 100);
    assert!((driver.q()[2] - 0.12).abs() < 1e-3);
    assert_eq!(sleeping(&driver), [1]);
}
