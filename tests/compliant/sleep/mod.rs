//! Islands that sleep and wake.

mod campaign;
mod edited;
mod falling;
mod kept;
mod pushed;
mod waking;

use saltation::bodies::{Body, Scene, Shape};
use saltation::compliant::Sleep;
use saltation::{Compliant, Start};

pub(super) const DT: f64 = 0.01;

/// Steps of the time of sleep.
const STEPS: usize = 20;

pub(super) fn rule() -> Sleep {
    Sleep {
        speed: 0.01,
        time: STEPS as f64 * DT,
    }
}

/// A scene above the ground.
pub(super) fn ground() -> Scene {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).expect("a ground");
    scene
}

pub(super) fn cube() -> Body {
    Body::new(Shape::cuboid([0.1; 3]).expect("a cube"))
}

pub(super) fn ball() -> Body {
    Body::new(Shape::sphere(0.1).expect("a ball"))
}

/// A stack of cubes on the ground, at `x`.
pub(super) fn stack(scene: &mut Scene, x: f64, count: usize) {
    for k in 0..count {
        let at = [x, 0.0, 0.1 + 0.2 * k as f64];
        scene.add(cube().position(at)).expect("a cube");
    }
}

/// Started at the start of its bodies.
pub(super) fn start(
    scene: Scene,
    set: impl Fn(Compliant<Scene>) -> Compliant<Scene>,
) -> Compliant<Scene> {
    let (q, v) = scene.start();
    let mut stepper = set(Compliant::new(scene).expect("a scene").time_step(DT));
    stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("start");
    stepper
}

/// Started, with sleep.
pub(super) fn sleepy(scene: Scene) -> Compliant<Scene> {
    start(scene, |stepper| stepper.sleep(rule()))
}

pub(super) fn steps(stepper: &mut Compliant<Scene>, count: usize) {
    for _ in 0..count {
        stepper.step().expect("a step");
    }
}

/// The trees that sleep.
pub(super) fn sleeping(stepper: &Compliant<Scene>) -> Vec<usize> {
    let asleep = stepper.asleep().iter().enumerate();
    asleep
        .filter(|(_, asleep)| **asleep)
        .map(|(tree, _)| tree)
        .collect()
}

pub(super) fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|x| x.to_bits()).collect()
}

/// Steps until so many trees sleep.
pub(super) fn until_asleep(stepper: &mut Compliant<Scene>, count: usize) {
    for _ in 0..1000 {
        if sleeping(stepper).len() == count {
            return;
        }
        stepper.step().expect("a step");
    }
    panic!("{:?} of {count} sleep", sleeping(stepper));
}
