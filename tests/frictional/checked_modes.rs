//! The checker of modes accepts runs that are known, and rejects them once something in them is
//! changed: a mode, a sign, a coefficient, an impulse, a line of the log.

use saltation::event_driven::Zeno;
use saltation::impact::{AnitescuPotra, Contacting};
use saltation::{ContactModel, EventDriven, Run, Start};

use crate::mode_checker::{self, OneStep, Record};
use crate::scenes::{Body, Face, Push, Scene, Touch};

/// A square block of side 1 on a floor.
fn block(friction: f64, slope: f64) -> Scene {
    let face = Face {
        body: None,
        normal: [0.0, 1.0],
        offset: 0.0,
        friction,
    };
    let foot = |x: f64| Touch {
        body: 0,
        point: [x, -0.5],
        radius: 0.0,
        face,
    };
    Scene {
        bodies: vec![Body {
            mass: 2.0,
            inertia: 1.0 / 3.0,
        }],
        touches: vec![foot(-0.5), foot(0.5)],
        slope,
        push: None,
    }
}

/// A ladder of length 2 and mass 1, its foot on a floor and its top at a wall.
fn ladder(friction: f64) -> Scene {
    let place = |x: f64, normal: [f64; 2]| Touch {
        body: 0,
        point: [x, 0.0],
        radius: 0.0,
        face: Face {
            body: None,
            normal,
            offset: 0.0,
            friction,
        },
    };
    Scene {
        bodies: vec![Body {
            mass: 1.0,
            inertia: 1.0 / 3.0,
        }],
        touches: vec![place(-1.0, [0.0, 1.0]), place(1.0, [1.0, 0.0])],
        slope: 0.0,
        push: None,
    }
}

const SLIDES: [f64; 3] = [2.0, 0.0, 0.0];
const FLAT: [f64; 3] = [0.0, 0.5, 0.0];

fn run(scene: &Scene, [q, v]: [[f64; 3]; 2], tf: f64) -> (ContactModel<Scene>, Run) {
    let model = || ContactModel::with_law(scene.clone(), AnitescuPotra::new());
    let mut driver = EventDriven::new(model()).unwrap().zeno(Zeno::Absorb);
    driver = driver.rtol(1e-10).atol(1e-12);
    let start = Start::at(0.0).q(&q).v(&v);
    let run = driver.integrate(&start, tf).unwrap().completed().unwrap();
    (model(), run)
}

/// The rules that a run breaks once `change` has been at its record, against `scene`.
fn broken(
    scene: &Scene,
    (model, run): &(ContactModel<Scene>, Run),
    change: impl FnOnce(&mut Record<'_>),
) -> Vec<&'static str> {
    let mut record = Record::of(model, run);
    change(&mut record);
    let faults = mode_checker::faults(scene, &record, OneStep::Yes);
    faults.iter().map(|fault| fault.rule).collect()
}

fn expect(rules: &[&str], expected: &[&str]) {
    for rule in expected {
        assert!(rules.contains(rule), "{rule} is not among {rules:?}");
    }
}

#[test]
fn known_runs_are_accepted() {
    // It slides and stops, slides down, is dropped on a corner; a ladder stands.
    let dropped = [[0.0, 1.0, 0.3], [1.0, -1.0, 2.0]];
    for (friction, slope, start) in [
        (0.3, 0.0, [FLAT, SLIDES]),
        (0.3, 0.5, [FLAT, [-2.0, 0.0, 0.0]]),
        (0.5, 0.0, dropped),
    ] {
        let scene = block(friction, slope);
        let rules = broken(&scene, &run(&scene, start, 1.0), |_| ());
        assert!(rules.is_empty(), "{rules:?}");
    }
    let (sine, cosine) = 120.0_f64.to_radians().sin_cos();
    let scene = ladder(0.5);
    let stands = run(
        &scene,
        [[-cosine, sine, 120_f64.to_radians()], [0.0; 3]],
        0.5,
    );
    let rules = broken(&scene, &stands, |record| {
        assert_eq!(record.phases.last().unwrap().modes, [Contacting::Stick; 2]);
    });
    assert!(rules.is_empty(), "{rules:?}");
}

#[test]
fn wrong_modes_are_rejected() {
    let scene = block(0.3, 0.0);
    let slides = run(&scene, [FLAT, SLIDES], 1.0);
    let first = |modes: [Contacting; 2]| {
        broken(&scene, &slides, |record| {
            record.phases[0].modes = modes.to_vec();
        })
    };
    assert!(first([Contacting::SlipForward; 2]).is_empty());
    expect(
        &first([Contacting::SlipBackward; 2]),
        &["slip against its sign", "velocities of a step", "energy"],
    );
    expect(
        &first([Contacting::Stick; 2]),
        &["slip of a sticking contact"],
    );
    expect(
        &first([Contacting::Open; 2]),
        &["open contact at rest sinks", "velocities of a step"],
    );
    let one = [Contacting::SlipForward, Contacting::Open];
    expect(&first(one), &["open contact at rest sinks"]);
    // A block at rest that is said to slip.
    let rests = run(&scene, [FLAT, [0.0; 3]], 1.0);
    let slips = [Contacting::SlipForward; 2].to_vec();
    let rules = broken(&scene, &rests, |record| record.phases[0].modes = slips);
    expect(&rules, &["velocities of a step", "acceleration"]);
}

#[test]
fn wrong_coefficients_are_rejected() {
    let slides = run(&block(0.3, 0.0), [FLAT, SLIDES], 0.5);
    for friction in [0.299_999, 0.300_001] {
        let rules = broken(&block(friction, 0.0), &slides, |_| ());
        expect(&rules, &["velocities of a step", "energy"]);
    }
    // Sticking by friction that is not there: one corner alone, and a ladder that some forces hold.
    let mut pushed = block(0.5, 0.0);
    pushed.push = Some(Push {
        size: 9.0,
        rate: 1.0,
        phase: 1.0,
        height: 0.0,
    });
    let sticks = run(&pushed, [FLAT, [0.0; 3]], 0.3);
    pushed
        .touches
        .iter_mut()
        .for_each(|of| of.face.friction = 0.4);
    let rules = broken(&pushed, &sticks, |_| ());
    expect(&rules, &["no forces in the cones"]);
    let angle = 120.0_f64.to_radians();
    let stands = run(
        &ladder(0.5),
        [[-angle.cos(), angle.sin(), angle], [0.0; 3]],
        0.5,
    );
    assert!(broken(&ladder(0.3), &stands, |_| ()).is_empty());
    expect(
        &broken(&ladder(0.2), &stands, |_| ()),
        &["no forces in the cones"],
    );
}

#[test]
fn wrong_impacts_are_rejected() {
    let scene = block(0.5, 0.0);
    let dropped = run(&scene, [[0.0, 1.0, 0.3], [1.0, -1.0, 2.0]], 0.6);
    let impact = |record: &Record<'_>| {
        record
            .events
            .iter()
            .position(|event| !event.impulses.is_empty())
            .unwrap()
    };
    let with = |change: &dyn Fn(&mut [f64])| {
        broken(&scene, &dropped, |record| {
            let k = impact(record);
            change(&mut record.events[k].impulses);
        })
    };
    assert!(with(&|_| ()).is_empty());
    // Normals first, then tangents.
    expect(&with(&|all| all[0] *= 1.0 + 1e-6), &["momentum"]);
    let turned = with(&|all| {
        let half = all.len() / 2;
        all[half..].iter_mut().for_each(|of| *of = -*of);
    });
    expect(&turned, &["momentum"]);
    expect(
        &with(&|all| all[0] = -all[0]),
        &["impulse pulls", "cone of an impact"],
    );
    // The cone of a smaller coefficient.
    let small = broken(&block(0.01, 0.0), &dropped, |_| ());
    expect(&small, &["cone of an impact"]);
}

#[test]
fn wrong_logs_are_rejected() {
    let scene = block(0.3, 0.0);
    let slides = run(&scene, [FLAT, SLIDES], 1.0);
    let with = |change: &dyn Fn(&mut Record<'_>)| broken(&scene, &slides, |record| change(record));
    expect(&with(&|record| record.events.clear()), &["log: no event"]);
    let last = |record: &mut Record<'_>| record.events.pop().unwrap();
    let swapped = |record: &mut Record<'_>| {
        let mut event = last(record);
        std::mem::swap(&mut event.stuck, &mut event.slipped);
        record.events.push(event);
    };
    expect(&with(&swapped), &["log: stuck", "log: slipped"]);
    let opened = |record: &mut Record<'_>| {
        let mut event = last(record);
        event.mode_after.pop();
        record.events.push(event);
    };
    expect(&with(&opened), &["log: mode after", "log: released"]);
    let late = |record: &mut Record<'_>| {
        let mut event = last(record);
        event.t += 1e-3;
        record.events.push(event);
    };
    expect(&with(&late), &["log: no event", "log: state after"]);
}
