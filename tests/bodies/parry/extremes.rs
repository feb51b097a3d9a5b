//! Hulls from 1e-2 m to 1e6 m against boxes of ours. Below a millimetre parry's own tolerances, which
//! are lengths, make gaps wrong; the documentation says so.

use saltation::bodies::parry::shape::SharedShape;
use saltation::bodies::{Pose, Shape};
use saltation::nalgebra::Vector3;

use super::{check_all, corners, deepest, points};
use crate::random::SplitMix64;

/// A ball near a face of a hull, which is a box. Hulls much thinner than they are long are refused by
/// parry, or have no volume.
#[test]
fn hulls_of_extreme_sizes_have_the_gaps_of_boxes() {
    let mut draw = SplitMix64(91);
    let mut met = 0;
    for case in 0..3000 {
        let spread = [0.0, 1.0, 3.0][case % 3];
        let scale = draw.between(-2.0, 6.0);
        let mut length = || {
            let power = scale + draw.between(-spread, spread);
            10f64.powf(power.clamp(-2.0, 6.0))
        };
        let (half, radius) = ([length(), length(), length()], length());
        let hull = SharedShape::convex_hull(&corners(half)).map(Shape::parry);
        let Some(Ok(hull)) = hull else {
            assert!(spread > 1.0, "{half:?}");
            continue;
        };
        let mut number = |by: f64| draw.between(-by, by);
        let turn = [number(1.0), number(1.0), number(1.0), number(1.0)];
        let frame = Pose::new([0.0; 3], turn).unwrap();
        let pose = hull.frame().inverse().moved_by(&frame);
        let (size, small) = (
            hull.bounding_radius() + radius,
            half.iter().copied().fold(radius, f64::min),
        );
        let gap = number(0.3 * small);
        let over = Vector3::new(number(half[0]), number(half[1]), half[2] + radius + gap);
        let at = Pose::new(frame.to_world(over).into(), [1.0, 0.0, 0.0, 0.0]).unwrap();
        let (ball, ours) = (Shape::sphere(radius).unwrap(), Shape::cuboid(half).unwrap());
        let found = points((&ball, &at), (&hull, &pose), small);
        let expected = points((&ball, &at), (&ours, &frame), small);
        let (found, expected) = (deepest(&found).unwrap(), deepest(&expected).unwrap());
        let by = (found.gap - expected.gap).abs();
        assert!(by < 1e-8 * size, "{by:e} {half:?} {radius} {expected:?}");
        if spread == 0.0 && size < 10.0 {
            check_all(&[found], small);
        }
        met += 1;
    }
    assert!(met > 2000, "{met}");
}
