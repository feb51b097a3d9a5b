//! A body that stands on a face stands still, whatever corners the faces have in common.
//!
//! Contact points are a function of the pose. Where some of the corners of the support were left out, the
//! body tilted over the edge beside them, they became the deepest and were taken in the place of others,
//! and so on with every step.

use saltation::bodies::{Body, Scene, Shape};
use saltation::compliant::Solver;
use saltation::{Compliant, Start};

use crate::random::SplitMix64;

/// A body and what it stands on, two boxes or what else has a face.
struct Standing {
    name: &'static str,
    upper: Shape,
    lower: Shape,
}

/// The greatest velocity (m/s, rad/s) of a body in the last twenty steps of one second, which it stands
/// somewhere on the other, turned, with its centre well within the common area.
fn restless(of: &Standing, random: &mut SplitMix64) -> f64 {
    let mut scene = Scene::new();
    let material = |body: Body| body.friction(1.0).stiffness(2e12).dissipation_time(0.01);
    let lower = Body::fixed(of.lower.clone()).position([0.0, 0.0, -0.05]);
    scene.add(material(lower)).unwrap();
    let place = [0, 1].map(|_| random.between(-0.03, 0.03));
    let turn = random.between(0.0, std::f64::consts::PI);
    let body = Body::new(of.upper.clone()).position([place[0], place[1], 0.05]);
    let body = body.orientation([turn.cos(), 0.0, 0.0, turn.sin()]);
    scene.add(material(body)).unwrap();
    let (q, v) = scene.start();
    let stepper = Compliant::new(scene).unwrap().time_step(0.01);
    let mut stepper = stepper.solver(Solver::new().rtol(1e-9));
    stepper.start(&Start::at(0.0).q(&q).v(&v)).unwrap();
    let mut fastest = 0.0_f64;
    for step in 0..100 {
        stepper.step().unwrap();
        if step >= 80 {
            fastest = stepper
                .v()
                .iter()
                .fold(fastest, |most, v| most.max(v.abs()));
        }
    }
    fastest
}

/// It creeps down to its depth, by half of what is left in a step: after 80 steps there is rounding left, and
/// what moves it where a disc lies on a square and two corners of the rim that lie alike are exchanged:
/// 1e-7. With four corners, whose choice went by their depths, it rocked with 1e-3 and more.
fn stands_still(of: &Standing) {
    let mut random = SplitMix64(0x5E57);
    for trial in 0..if cfg!(debug_assertions) { 8 } else { 25 } {
        let fastest = restless(of, &mut random);
        assert!(fastest < 1e-6, "{} {trial}: {fastest:e}", of.name);
    }
}

fn cube() -> Shape {
    Shape::cuboid([0.05; 3]).unwrap()
}

#[test]
fn a_box_on_a_box() {
    stands_still(&Standing {
        name: "box",
        upper: cube(),
        lower: cube(),
    });
}

#[test]
fn a_cylinder_on_a_box_and_on_a_cylinder() {
    let cylinder = Shape::cylinder(0.05, 0.05).unwrap();
    for lower in [cube(), cylinder.clone()] {
        stands_still(&Standing {
            name: "cylinder",
            upper: cylinder.clone(),
            lower,
        });
    }
}

#[cfg(feature = "parry")]
#[test]
fn a_prism_on_a_box() {
    use saltation::bodies::parry::glamx::DVec3;
    use saltation::bodies::parry::shape::SharedShape;
    let corners = (0..12).map(|k| {
        let (sin, cos) = (f64::from(k / 2) * std::f64::consts::FRAC_PI_3).sin_cos();
        let height = if k % 2 == 0 { 0.05 } else { -0.05 };
        DVec3::new(0.05 * cos, 0.05 * sin, height)
    });
    let corners: Vec<DVec3> = corners.collect();
    stands_still(&Standing {
        name: "prism",
        upper: Shape::parry(SharedShape::convex_hull(&corners).unwrap()).unwrap(),
        lower: cube(),
    });
}

/// Nothing happens to boxes or balls in a row that touch, without gravity: gaps, momenta and impulses are rounding of
/// their places, and do not balance.
#[test]
fn a_row_without_gravity_stays() {
    let cases = if cfg!(debug_assertions) { 60 } else { 3000 };
    let mut random = SplitMix64(0x4057);
    for case in 0..cases {
        let size = 10f64.powf(random.between(-3.0, 1.0));
        let [x, y, z] = [(); 3].map(|()| random.between(-1.0, 1.0));
        let length = (x * x + y * y + z * z).sqrt();
        // The turn of the axis x onto the direction of the row.
        let half = (0.5 * (1.0 + x / length)).sqrt();
        let turn = [half, 0.0, -0.5 * z / length / half, 0.5 * y / length / half];
        let count = [2, 3, 4, 8][case % 4];
        let mut scene = Scene::new();
        scene.gravity([0.0; 3]).unwrap();
        for k in 0..count {
            let shape = if case % 8 < 4 {
                Shape::cuboid([size; 3])
            } else {
                Shape::sphere(size)
            };
            let along = 2.0 * size * f64::from(k) / length;
            let body = Body::new(shape.unwrap()).friction(0.5);
            let body = body.position([x, y, z].map(|x| x * along));
            scene.add(body.orientation(turn)).unwrap();
        }
        let (q, v) = scene.start();
        let mut stepper = Compliant::new(scene).unwrap().time_step(1e-3);
        stepper.start(&Start::at(0.0).q(&q).v(&v)).unwrap();
        for step in 0..100 {
            let made = stepper.step();
            assert!(made.is_ok(), "{case} {step} {size} {count}: {made:?}");
        }
        let speed = stepper.v().iter().fold(0.0f64, |most, v| most.max(v.abs()));
        assert!(
            speed < 1e-9 * size.max(1e-2),
            "{case} {size} {count}: {speed:e}"
        );
    }
}
