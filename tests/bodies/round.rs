//! Cylinders and cones in scenes: rolling, standing, tilting, stacks.

use saltation::bodies::{Body, QueryMemory, Scene, Shape};
use saltation::mechanics::{ContactSet, ContactSource, Contacts, Wanted};
use saltation::nalgebra::Vector3;
use saltation::{Compliant, InputError, Start};

const G: f64 = 9.81;

/// Position, quaternion and velocities of the last body after `time`, on a slope that falls along x.
fn run(slope: f64, bodies: Vec<Body>, time: f64) -> Vec<f64> {
    let mut scene = Scene::new();
    let (sin, cos) = slope.sin_cos();
    scene.gravity([G * sin, 0.0, -G * cos]).unwrap();
    for body in bodies {
        scene.add(body.friction(0.9)).unwrap();
    }
    let (q, v) = scene.start();
    let count = v.len() / 6;
    let mut stepper = Compliant::new(scene).unwrap().time_step(0.005);
    let start = Start::at(0.0).q(&q).v(&v);
    let run = stepper
        .integrate(&start, time)
        .unwrap()
        .completed()
        .unwrap();
    let state = run.state().as_slice();
    let last = &state[7 * (count - 1)..7 * count];
    [last, &state[state.len() - 6..]].concat()
}

fn plane() -> Body {
    Body::fixed(Shape::plane())
}

fn floor() -> Body {
    let floor = Shape::cuboid([5.0, 1.0, 0.5]).unwrap();
    Body::fixed(floor).position([0.0, 0.0, -0.5])
}

/// `2/3 g sin α` after one second, straight: the axis lies across the slope.
#[test]
fn a_cylinder_rolls_down_a_slope() {
    let half = 0.5_f64.sqrt();
    let cylinder = || {
        let shape = Shape::cylinder(0.1, 0.05).unwrap();
        Body::new(shape)
            .position([0.0, 0.0, 0.05])
            .orientation([half, half, 0.0, 0.0])
    };
    let expected = 2.0 / 3.0 * G * 0.2_f64.sin();
    for ground in [plane(), floor()] {
        let end = run(0.2, vec![ground, cylinder()], 1.0);
        // The slip in stiction is 3e-5 m/s here.
        assert!((end[10] - expected).abs() < 1e-4, "{end:?}");
        assert!((end[8] - expected / 0.05).abs() < 2e-3, "{end:?}");
        // straight, without a turn about the other axes, at its height
        let sideways = [end[1], end[11], end[7], end[9]];
        assert!(sideways.iter().all(|x| x.abs() < 1e-7), "{end:?}");
        assert!(
            (end[2] - 0.05).abs() < 1e-4 && end[12].abs() < 1e-6,
            "{end:?}"
        );
    }
}

/// A body on a slope falls over where its centre lies beyond the rim of its foot.
#[test]
fn standing_bodies_fall_over_beyond_their_rim() {
    // The centre lies at 0.15 m over a foot of 0.05 m.
    let bodies = [
        Shape::cylinder(0.15, 0.05).unwrap(),
        Shape::cone(0.6, 0.05).unwrap(),
    ];
    let limit = (0.05_f64 / 0.15).atan();
    for shape in &bodies {
        for ground in [plane(), floor()] {
            for (slope, falls) in [(0.93 * limit, false), (1.07 * limit, true)] {
                let body = Body::new(shape.clone()).position([0.0, 0.0, 0.15]);
                let end = run(slope, vec![ground.clone(), body], 1.5);
                let upright = 1.0 - 2.0 * (end[4] * end[4] + end[5] * end[5]);
                assert_eq!(upright < 0.9, falls, "{slope} {upright} {end:?}");
                if !falls {
                    assert!(end[7..].iter().all(|v| v.abs() < 1e-3), "{end:?}");
                }
            }
        }
    }
}

/// They come to rest where they stand, one on the other too.
#[test]
fn a_stack_of_cylinders_and_a_cone_rests() {
    let cylinder = || Shape::cylinder(0.1, 0.08).unwrap();
    let bodies = vec![
        plane(),
        Body::new(cylinder()).position([0.0, 0.0, 0.1]),
        Body::new(cylinder())
            .position([0.01, 0.0, 0.3])
            .orientation([0.9, 0.0, 0.0, 0.4]),
        Body::new(Shape::cone(0.2, 0.07).unwrap()).position([0.0, 0.01, 0.45]),
    ];
    let end = run(0.0, bodies, 1.0);
    assert!((end[2] - 0.45).abs() < 1e-3, "{end:?}");
    assert!(
        end[0].abs() < 1e-4 && (end[1] - 0.01).abs() < 1e-4,
        "{end:?}"
    );
    assert!(end[7..].iter().all(|v| v.abs() < 1e-7), "{end:?}");
}

/// A disc that rolls upright is slightly tilted: it leans into its curve. Its lowest point runs round the
/// rim: the height of the centre is `r cos θ` all the time.
#[test]
fn a_tilted_disc_rolls_on_its_rim() {
    let (radius, half) = (0.1_f64, 0.002_f64);
    let tilt = 0.2_f64;
    // The axis along y, tilted about x: then about x once more by a quarter.
    let angle = 0.5 * (std::f64::consts::FRAC_PI_2 + tilt);
    let height = radius * tilt.cos() + half * tilt.sin();
    let body = Body::new(Shape::cylinder(half, radius).unwrap())
        .position([0.0, 0.0, height])
        .orientation([angle.cos(), angle.sin(), 0.0, 0.0])
        .velocity([2.0, 0.0, 0.0])
        .angular_velocity([0.0, 2.0 / radius, 0.0]);
    let mut scene = Scene::new();
    scene.add(plane().friction(0.9)).unwrap();
    let disc = scene.add(body.friction(0.9)).unwrap();
    let (q, v) = scene.start();
    let mut stepper = Compliant::new(scene).unwrap().time_step(1e-3);
    let start = Start::at(0.0).q(&q).v(&v);
    let run = stepper.integrate(&start, 1.0).unwrap();
    let run = run.completed().unwrap();
    for k in 200..run.times().len() {
        let pose = stepper.system().pose(disc, run.q(k)).unwrap();
        let up = pose.rotation()[(2, 2)].abs();
        let expected = radius * (1.0 - up * up).sqrt() + half * up;
        let by = pose.position().z - expected;
        assert!(by.abs() < 2e-4, "{k} {by}");
        assert!(up < 0.7, "{up}");
    }
}

#[test]
fn round_bodies_have_no_fixed_contacts_and_are_seen_from_far_enough() {
    let mut scene = Scene::new();
    scene.add(plane()).unwrap();
    let cone = Shape::cone(0.4, 0.1).unwrap();
    scene
        .add(Body::new(cone).position([0.0, 0.0, 0.1]))
        .unwrap();
    let refused = scene.fixed_contacts();
    assert!(matches!(refused, Err(InputError::BadSetting { .. })));
    // Its apex lies at 0.4 m; a ball rests on it.
    scene
        .add(Body::new(Shape::sphere(0.05).unwrap()).position([0.0, 0.0, 0.4499]))
        .unwrap();
    let (q, _) = scene.start();
    let mut contacts = Contacts::new();
    let set = ContactSet::Within(0.0);
    scene
        .fill(&q, set, Wanted::default(), &mut contacts)
        .unwrap();
    let gaps: Vec<f64> = contacts.all_parameters().iter().map(|of| of.gap).collect();
    assert_eq!(gaps.len(), 5, "{gaps:?}");
    assert!((gaps[4] + 1e-4).abs() < 1e-12, "{gaps:?}");
}

/// Thin cones that are apart by a thousandth of the thickness, and were taken for overlapping along another normal. The
/// separation along the normal, by support functions, proves that they are apart.
#[test]
fn thin_cones_beside_each_other_are_apart() {
    let half = 0.5_f64.sqrt();
    // Height, radius and quaternion of both, and the place of the second.
    let cases = [
        (
            [0.002121913155322223, 0.41681138521308786],
            [
                0.1788831153966799,
                0.605779077470731,
                -0.40135324614268997,
                -0.6632858449683766,
            ],
            [0.07027755634344246, 0.013088932390944497],
            [
                0.3031090349988961,
                -0.7304698560606704,
                -0.3500863815580834,
                -0.501974329758315,
            ],
            [
                -0.16016506799754882,
                -0.42349803700459365,
                0.11883302576231983,
            ],
        ),
        (
            [0.44460391420529927, 0.0028995926151722],
            [half, half, 0.0, 0.0],
            [1.257084174194464, 0.01619469487671642],
            [half, 0.0, half, 0.0],
            [
                0.31426814405579195,
                -0.346182517638664,
                0.010011248947181892,
            ],
        ),
        (
            [0.026360623651821593, 0.005073100450062517],
            [
                -0.5119267764495002,
                -0.39928009499179196,
                -0.07679395030410018,
                0.7567093698997392,
            ],
            [0.5179224053162805, 0.17466935638846817],
            [half, half, 0.0, 0.0],
            [
                -0.008132554098017239,
                -0.1398555328287298,
                0.18788822208727637,
            ],
        ),
        (
            [0.02132256827941719, 0.004270254807492816],
            [
                -0.3685288324989888,
                0.7808633027847167,
                -0.31471790412964823,
                0.3941974667616697,
            ],
            [0.0006094754346089845, 0.20284623639724922],
            [half, 0.0, half, 0.0],
            [
                0.01370641873142027,
                0.2054547176966915,
                0.025865548832069252,
            ],
        ),
    ];
    for (first, turn_first, second, turn_second, at) in cases {
        let mut scene = Scene::new();
        for ([height, radius], turn, at) in
            [(first, turn_first, [0.0; 3]), (second, turn_second, at)]
        {
            let body = Body::new(Shape::cone(height, radius).unwrap());
            scene.add(body.position(at).orientation(turn)).unwrap();
        }
        let (q, _) = scene.start();
        // How far the foot and the apex of a body reach in a direction.
        let reach = |body: usize, [height, radius]: [f64; 2], n: Vector3<f64>| {
            let pose = scene.pose(body, &q).unwrap();
            let local = pose.rotation().tr_mul(&n);
            let foot = radius * local.x.hypot(local.y) - 0.25 * height * local.z;
            n.dot(&pose.position()) + foot.max(0.75 * height * local.z)
        };
        let mut memory = QueryMemory::new();
        let query = scene.query(&q, &mut memory).unwrap();
        for (found, sign) in [(query.distance(0, 1), 1.0), (query.distance(1, 0), -1.0)] {
            let found = found.unwrap();
            let normal = found.normal * sign;
            let apart = -reach(0, first, -normal) - reach(1, second, normal);
            // No gap along a normal is longer; that of points 1e-8 apart knows their rounding.
            let short = found.gap - apart;
            assert!(apart > 0.0, "{apart} {found:?}");
            assert!(short > -1e-12 && short < 1e-8, "{apart} {found:?}");
        }
    }
}
