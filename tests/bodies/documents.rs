//! Scenes as documents, and compliant runs that are saved, loaded and taken up again.

use saltation::bodies::{Anchor, Body, Joint, Scene, Shape};
use saltation::compliant::Checkpoint;
use saltation::mechanics::MechanicalSystem;
use saltation::models::SlidingBlock;
use saltation::{Compliant, EventDriven, InputError, Start};
use serde_json::{Value, from_str, from_value, json, to_string, to_value};

use crate::fixtures::heap;
use crate::random::SplitMix64;

/// A scene with all that a document says.
fn rich(seed: u64) -> Scene {
    let mut draw = SplitMix64(seed);
    let from = heap(12, 0.8, seed);
    let mut scene = Scene::new();
    for k in 0..from.len() {
        let mut body = from.body(k).unwrap().clone().restitution(draw.unit());
        if k % 3 == 1 {
            body = body.near_rigid(draw.unit()).stiction(draw.unit());
        }
        if k % 3 == 2 {
            body = body.spinning_friction(2e-3).rolling_friction(5e-3);
        }
        if k % 4 == 2 {
            let m = draw.between(0.1, 3.0);
            body = body.mass(m, [0.01 * m, 0.012 * m, 0.015 * m]);
        }
        if k == 3 {
            body = body
                .groups(5)
                .touching(0xffff_fff0)
                .stiffness(f64::INFINITY);
        }
        scene.add(body).unwrap();
    }
    let round = Shape::cylinder(draw.unit(), draw.unit()).unwrap();
    scene
        .add(Body::new(round).position([9.0, 0.0, 2.0]))
        .unwrap();
    let cone = Shape::cone(draw.unit(), draw.unit()).unwrap();
    scene
        .add(Body::new(cone).position([0.0, 9.0, 2.0]))
        .unwrap();
    scene.ignore(4, 2).unwrap();
    scene.ignore(1, 7).unwrap();
    scene.remove(7).unwrap();
    scene
        .gravity([0.1, -0.2, -draw.between(5.0, 10.0)])
        .unwrap();
    scene.middle_points(seed.is_multiple_of(2));
    scene
}

fn end(scene: Scene) -> Vec<u64> {
    let (q, v) = scene.start();
    let mut driver = Compliant::new(scene).unwrap();
    let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), 0.3).unwrap();
    let run = run.completed().unwrap();
    run.state().iter().map(|x| x.to_bits()).collect()
}

#[test]
fn a_scene_that_is_read_is_the_one_that_was_written() {
    for seed in 0..6 {
        let scene = rich(seed);
        let text = to_string(&scene).unwrap();
        let read: Scene = from_str(&text).unwrap();
        assert_eq!(to_string(&read).unwrap(), text);
        assert_eq!(read.len(), scene.len());
        for body in 0..scene.len() {
            assert_eq!(read.body(body), scene.body(body));
            assert_eq!(read.tree_of(body), scene.tree_of(body));
        }
        assert_eq!(end(read), end(scene), "{seed}");
    }
}

#[test]
fn a_document_that_leaves_out_has_the_defaults() {
    let body: Body = from_value(json!({"shape": {"cuboid": {"half": [1, 2, 3]}}})).unwrap();
    assert_eq!(body, Body::new(Shape::cuboid([1.0, 2.0, 3.0]).unwrap()));
    let scene: Scene = from_value(json!({"bodies": []})).unwrap();
    assert!(scene.is_empty());
}

/// Each of them is refused with the name of what is wrong; none panics.
#[test]
fn scenes_that_make_no_sense_are_refused() {
    let ball = json!({"shape": {"sphere": {"radius": 0.1}}});
    let with = |name: &str, value: Value| {
        let mut body = ball.clone();
        body[name] = value;
        json!({"bodies": [{"shape": "plane", "fixed": true}, body]})
    };
    assert!(from_value::<Scene>(with("friction", json!(0.3))).is_ok());
    for (wrong, name) in [
        (with("shape", json!({"sphere": {"radius": -1.0}})), "radius"),
        (with("shape", json!({"sphere": {}})), "radius"),
        (with("shape", json!("sphere")), "variant"),
        (with("shape", json!("plane")), "fixed"),
        (with("shape", json!({"torus": {}})), "torus"),
        (with("friction", json!(-0.1)), "friction"),
        (with("spinning_friction", json!(-0.1)), "spinning friction"),
        (with("rolling_friction", json!(-0.1)), "rolling friction"),
        (with("restitution", json!(2.0)), "restitution"),
        (with("stiffness", json!(0.0)), "stiffness"),
        (with("density", json!(0.0)), "density"),
        (
            with("mass", json!({"mass": 1.0, "moments": [1, 1, 3]})),
            "moment",
        ),
        (with("position", json!([0, 0])), "length"),
        (with("orientation", json!([0, 0, 0, 0])), "quaternion"),
        (with("groups", json!(-1)), "u32"),
        (with("colour", json!("red")), "colour"),
        (json!({"bodies": [ball], "ignored": [[0, 1]]}), "body"),
        (json!({"bodies": [ball], "removed": [3]}), "body"),
        (json!({"bodies": [ball], "removed": [0, 0]}), "body"),
        (json!({"bodies": [ball], "gravity": [null, 0, 0]}), "null"),
        (json!({"bodies": 3}), "sequence"),
        (json!(3), "a scene"),
        (json!([]), "a scene"),
    ] {
        let error = from_value::<Scene>(wrong.clone()).unwrap_err().to_string();
        assert!(error.contains(name), "{wrong}: {error}");
    }
    let both = json!({"shape": "plane", "density": 1.0, "mass": {"mass": 1, "moments": [1, 1, 1]}});
    assert!(from_value::<Body>(both).is_err());
    assert!(from_str::<Scene>(r#"{"bodies": [], "gravity": [1e999, 0, 0]}"#).is_err());
}

#[cfg(feature = "parry")]
#[test]
fn a_shape_of_parry_is_not_written() {
    let ball = saltation::bodies::parry::shape::SharedShape::ball(0.1);
    let error = to_string(&Shape::parry(ball).unwrap()).unwrap_err();
    assert!(error.to_string().contains("parry"), "{error}");
}

/// The state after each step of a live run with a joint and bodies that bounce, cut at a step and taken up
/// by another driver from text.
#[test]
fn a_run_that_is_saved_and_loaded_is_the_uncut_run() {
    let scene = rich(3);
    let (q, v) = scene.start();
    let driver = || {
        let one = Anchor::of(&scene, 1, [0.1, 0.0, 0.0]).unwrap();
        let joint = Joint::ball(one, Anchor::of(&scene, 5, [0.0, 0.1, 0.0]).unwrap());
        Compliant::new(scene.clone())
            .unwrap()
            .time_step(3.1e-3)
            .term(joint)
    };
    let start = Start::at(0.1).q(&q).v(&v);
    let bits = |x: &[f64]| x.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    let mut uncut = driver();
    let mut uncut = uncut.live(&start).unwrap();
    uncut.advance(0.7, &[]).unwrap();
    let every = if cfg!(debug_assertions) { 2 } else { 1 };
    for cut in [0.1, 0.1031, 0.21, 0.25, 0.38, 0.4567, 0.55, 0.7]
        .into_iter()
        .step_by(every)
    {
        let mut first = driver();
        let mut live = first.live(&start).unwrap();
        live.advance(cut, &[]).unwrap();
        let text = to_string(&Checkpoint::of(&live.snapshot()).unwrap()).unwrap();
        let loaded: Checkpoint = from_str(&text).unwrap();
        assert_eq!(loaded.t().to_bits(), live.t().to_bits());
        let mut second = driver();
        let mut live = second.restore(&loaded).unwrap();
        live.advance(0.7, &[]).unwrap();
        assert_eq!(live.t().to_bits(), uncut.t().to_bits());
        assert_eq!(bits(live.state()), bits(uncut.state()), "{cut}");
    }
    // Between steps.
    let (mut first, mut second) = (driver(), driver());
    assert_eq!(first.checkpoint(), Err(InputError::NotStarted));
    first.start(&start).unwrap();
    for _ in 0..50 {
        first.step().unwrap();
    }
    let saved = from_str(&to_string(&first.checkpoint().unwrap()).unwrap()).unwrap();
    drop(second.restore(&saved).unwrap());
    for _ in 0..50 {
        first.step().unwrap();
        second.step().unwrap();
        assert_eq!(bits(first.q()), bits(second.q()));
        assert_eq!((bits(first.v()), first.t()), (bits(second.v()), second.t()));
    }
}

#[test]
fn checkpoints_that_make_no_sense_are_refused() {
    let mut driver = Compliant::new(SlidingBlock::default()).unwrap();
    let start = Start::at(0.0).q(&[0.0, 0.0]).v(&[2.0, 0.0]);
    let mut live = driver.live(&start).unwrap();
    live.advance(0.05, &[]).unwrap();
    let good = to_value(Checkpoint::of(&live.snapshot()).unwrap()).unwrap();
    drop(live);
    let read = |value: Value| from_value::<Checkpoint>(value);
    assert!(driver.restore(&read(good.clone()).unwrap()).is_ok());
    for (name, value) in [
        ("edition", json!(2)),
        ("dt", json!(-0.01)),
        ("t", json!(7.0)),
        ("steps", json!(u64::MAX)),
        ("q", json!([0.0])),
        ("v", json!([0.0, 0.0, 0.0])),
        ("pressing", json!([1, 0])),
        ("pressing", json!([9])),
    ] {
        let mut wrong = good.clone();
        wrong[name] = value.clone();
        let wrong = read(wrong).unwrap();
        let refused = driver.restore(&wrong).err();
        assert!(refused.is_some(), "{name} {value}");
        assert!(driver.step().is_err() && driver.t().is_nan());
    }
    for (name, value) in [
        ("q", json!([null, 0.0])),
        ("steps", json!(-1)),
        ("x", json!(1)),
    ] {
        let mut wrong = good.clone();
        wrong[name] = value;
        assert!(read(wrong).is_err(), "{name}");
    }
    let scene = rich(1);
    assert_eq!(scene.dof() % 6, 0);
    let mut other = Compliant::new(scene).unwrap();
    assert!(other.restore(&read(good).unwrap()).is_err());
    // Of another driver.
    let model = saltation::ContactModel::new(SlidingBlock::default());
    let mut by_events = EventDriven::new(model).unwrap();
    let live = by_events.live(&start).unwrap();
    let refused = Checkpoint::of(&live.snapshot()).err();
    assert_eq!(refused, Some(InputError::Snapshot { of: "driver" }));
}
