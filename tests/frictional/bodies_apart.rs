//! Many bodies that do not touch each other: however many contacts act at one instant, each body moves as if it
//! were alone, and what it does is as certain.

use saltation::event_driven::{Grazing, Zeno};
use saltation::impact::Selection;
use saltation::record::Remark;
use saltation::{ContactModel, EventDriven, Run, Start, Status};

use crate::scenes::{Body, Face, Scene, Touch};

const GRAVITY: f64 = 9.81;

fn on(scene: Scene, q: &[f64], v: &[f64], tf: f64) -> Run {
    let driver = EventDriven::new(ContactModel::new(scene)).unwrap();
    let mut driver = driver.rtol(1e-9).atol(1e-11);
    let run = driver.integrate(&Start::at(0.0).q(q).v(v), tf).unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    assert!(run.is_guaranteed(), "{:?}", run.doubts());
    let remarks = || run.events().iter().flat_map(|event| &event.remarks);
    assert!(!remarks().any(|remark| *remark == Remark::OneOfMany));
    run
}

fn floor(friction: f64) -> Face {
    Face {
        body: None,
        normal: [0.0, 1.0],
        offset: 0.0,
        friction,
    }
}

fn scene(bodies: Vec<Body>, touches: Vec<Touch>) -> Scene {
    Scene {
        bodies,
        touches,
        slope: 0.0,
        push: None,
    }
}

#[test]
fn seven_discs_land_and_roll_each_as_if_alone() {
    let radius = 0.1;
    let discs = |n: usize| {
        let body = Body {
            mass: 1.0,
            inertia: 0.5 * radius * radius,
        };
        let touch = |body: usize| Touch {
            body,
            point: [0.0; 2],
            radius,
            face: floor(0.3),
        };
        scene(vec![body; n], (0..n).map(touch).collect())
    };
    for together in [true, false] {
        let height = |i: usize| radius + 0.2 + if together { 0.0 } else { 0.01 * i as f64 };
        let start = |i: usize| ([i as f64, height(i), 0.0], [1.0, 0.0, 5.0 * i as f64]);
        let (q, v): (Vec<_>, Vec<_>) = (0..7).map(start).unzip();
        let run = on(discs(7), &q.concat(), &v.concat(), 1.0);
        for i in 0..7 {
            let alone = on(discs(1), &q[i], &v[i], 1.0);
            for k in 0..3 {
                let pairs = [(3 * i + k, k), (21 + 3 * i + k, 3 + k)];
                for (of, own) in pairs {
                    let off = run.state()[of] - alone.state()[own];
                    assert!(off.abs() < 1e-7, "{together} {i} {k}: {off:e}");
                }
            }
        }
    }
}

#[test]
fn four_boxes_land_flat_and_slide_or_stick() {
    let (half, friction, drop) = ([0.2, 0.1], [0.1, 0.2, 0.3, 0.4], 0.05);
    let box_of = |_: usize| Body {
        mass: 2.0,
        inertia: 2.0 * (half[0] * half[0] + half[1] * half[1]) / 3.0,
    };
    let feet = |body: usize| {
        [-1.0, 1.0].map(|side| Touch {
            body,
            point: [side * half[0], -half[1]],
            radius: 0.0,
            face: floor(friction[body]),
        })
    };
    let boxes = scene(
        (0..4).map(box_of).collect(),
        (0..4).flat_map(feet).collect(),
    );
    let (speed, lands) = (0.3, (2.0f64 * drop / GRAVITY).sqrt());
    let q: Vec<f64> = (0..4)
        .flat_map(|i| [f64::from(i), half[1] + drop, 0.0])
        .collect();
    let run = on(boxes, &q, &[speed, 0.0, 0.0].repeat(4), 0.5);
    for (i, mu) in friction.iter().enumerate() {
        // What friction takes in the impact, and what slides on comes to rest.
        let left = (speed - mu * GRAVITY * lands).max(0.0);
        let slides = (left / (mu * GRAVITY)).min(0.5 - lands);
        let way = speed * lands + (left - 0.5 * mu * GRAVITY * slides) * slides;
        let off = run.state()[3 * i] - i as f64 - way;
        assert!(off.abs() < 1e-8, "{mu}: {off:e}");
        assert!((run.state()[3 * i + 1] - half[1]).abs() < 1e-8);
    }
}

/// A tower that slides tips about its lower corner: its boxes stick to each other, but for what the steps add.
#[test]
fn a_tower_that_tips_while_it_slides_holds_together() {
    let sizes = [[0.1, 0.12], [0.09, 0.08], [0.08, 0.08]];
    let body = |[a, b]: [f64; 2]| Body {
        mass: 100.0 * a * b,
        inertia: 100.0 * a * b * (a * a + b * b) / 3.0,
    };
    let feet = |i: usize| {
        [-1.0, 1.0].map(|side| Touch {
            body: i,
            point: [side * sizes[i][0], -sizes[i][1]],
            radius: 0.0,
            face: Face {
                body: i.checked_sub(1),
                normal: [0.0, 1.0],
                offset: i.checked_sub(1).map_or(0.0, |below| sizes[below][1]),
                friction: 0.7,
            },
        })
    };
    let tower = || scene(sizes.map(body).to_vec(), (0..3).flat_map(feet).collect());
    let (q, v) = (
        [0.0, 0.12, 0.0, 0.0, 0.32, 0.0, 0.0, 0.48, 0.0],
        [1.0, 0.0, 0.0].repeat(3),
    );
    let ends = [1e-6, 1e-9].map(|rtol| {
        let model = ContactModel::new(tower()).selection(Selection::First);
        let driver = EventDriven::new(model).unwrap().rtol(rtol);
        let mut driver = driver.zeno(Zeno::Absorb).grazing(Grazing::Ignore);
        let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), 0.1).unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd, "{rtol}");
        run.state().clone()
    });
    assert!((&ends[0] - &ends[1]).amax() < 1e-4, "{ends:?}");
}
