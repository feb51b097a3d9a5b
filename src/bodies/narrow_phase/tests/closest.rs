//! Closest points of all pairs at any distance, against alternating projections and the best of many
//! directions.

use super::super::{PlacedShape, distance as closest};
use super::{
    Draw, ManifoldPoint, Solid, best_axis, best_separation, check_consistent, distance, project,
    separation,
};

fn placed(of: &Solid) -> PlacedShape<'_> {
    PlacedShape::new(&of.shape, &of.pose)
}

fn of(a: &Solid, b: &Solid) -> ManifoldPoint {
    closest(placed(a), placed(b)).unwrap()
}

/// Kinds of the six shapes; 3 is the plane.
fn pairs() -> impl Iterator<Item = [usize; 2]> {
    let all = (0..6).flat_map(|i| (0..6).map(move |j| [i, j]));
    all.filter(|kinds| kinds[0] != 3)
}

#[test]
fn closest_points_are_those_of_alternating_projections() {
    let mut draw = Draw { seed: 31, index: 0 };
    for kinds in pairs() {
        let mut apart = 0;
        for case in 0..60 {
            let [a, b] = draw.pair(kinds, 0.8);
            let (expected, change) = distance(&a, &b);
            if expected < 1e-3 || change > 1e-13 {
                continue;
            }
            apart += 1;
            let (point, exchanged) = (of(&a, &b), of(&b, &a));
            check_consistent(&point);
            let label = format!("{kinds:?} {case}: {expected} {point:?}");
            assert!((point.gap - expected).abs() < 1e-9, "{label}");
            assert!((point.gap - exchanged.gap).abs() < 1e-9, "{label}");
            assert!((point.normal + exchanged.normal).norm() < 1e-5, "{label}");
            for (on, shape) in [(point.on_a, &a), (point.on_b, &b)] {
                let off = (project(shape, on) - on).norm();
                // On curved sides the gap is exact to second order in the place.
                assert!(off < 1e-5, "{off:e} {label}");
            }
        }
        assert!(apart > 9, "{kinds:?}: {apart}");
    }
}

#[test]
fn overlaps_have_the_shortest_way_out() {
    let mut draw = Draw { seed: 32, index: 0 };
    for kinds in pairs() {
        let (mut overlaps, mut best) = (0, 0);
        for case in 0..50 {
            let [a, b] = draw.pair(kinds, 0.4);
            if distance(&a, &b).0 > 1e-9 {
                continue;
            }
            let expected = match kinds {
                [1, 1] => best_axis(&a, &b),
                _ => best_separation(&a, &b, &mut draw),
            };
            if expected > -1e-3 {
                continue;
            }
            overlaps += 1;
            let point = of(&a, &b);
            check_consistent(&point);
            let by = separation(&a, &b, point.normal);
            assert!(
                (point.gap - by).abs() < 1e-9,
                "{kinds:?} {case} {by} {point:?}"
            );
            best += i32::from(by > expected - 1e-9);
        }
        assert!(
            overlaps > 5 && 10 * best >= 9 * overlaps,
            "{kinds:?}: {best} of {overlaps}"
        );
    }
}
