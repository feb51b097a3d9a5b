//! Few contact points of many that lie in one plane.
//!
//! A body that rests on the corners of its support may not lack one: it would tilt over the edge beside
//! it, until that corner is the deepest, is taken in the place of another, and so on to and fro. So
//! all corners remain where there are up to eight; of more, the choice depends on where they
//! lie, and on their depths only where they differ by more than what a body at rest sinks in.

use super::CAPACITY;

/// Gaps that differ by less, by the size of the smaller shape, are those of a body that stands: it tilts by
/// less. A point between two chosen ones of a rim lies by a tenth of that deeper than they.
const STANDS: f64 = 1e-2;

/// Of points that are deeper by less, by the size of the smaller shape, the first counts as the deepest.
const LEVEL: f64 = 1e-4;

/// Lengths and areas that differ by less, by themselves, are equal.
const TIE: f64 = 1e-6;

/// Chooses up to [`CAPACITY`] of points `(u, w, gap)` in a plane, all where there are no more: two convex
/// quadrangles have no more corners in common.
///
/// Of more, as a rim has them: the first, or the deepest of a body that does not stand; the one
/// furthest from it; then, one by one, the one that adds most to their area. A point that adds no area beyond
/// `tolerance` squared is left out. Points are taken in their order, so that ties go to the first. The gap must
/// be affine over the plane: a lower point among the others is no reason to be chosen. `size` is that of
/// the smaller shape.
pub(super) fn choose(points: &[[f64; 3]], tolerance: f64, size: f64) -> ([usize; CAPACITY], usize) {
    let mut chosen: [usize; CAPACITY] = std::array::from_fn(|k| k);
    if points.len() <= CAPACITY {
        return (chosen, points.len());
    }
    let gaps = || points.iter().map(|p| p[2]);
    let (lowest, highest) = gaps().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), gap| {
        (low.min(gap), high.max(gap))
    });
    if highest - lowest <= STANDS * size {
        chosen[0] = 0;
    } else {
        let deepest = gaps().position(|gap| gap <= lowest + LEVEL * size);
        chosen[0] = deepest.unwrap_or(0);
    }
    let (second, _) = largest(points, |p| {
        let (u, w) = (p[0] - points[chosen[0]][0], p[1] - points[chosen[0]][1]);
        u * u + w * w
    });
    chosen[1] = second;
    // The corners of the polygon of the chosen ones, counter-clockwise.
    let mut ring = chosen;
    let mut count = 2;
    while count < CAPACITY {
        let outside = |p: &[f64; 3], k: usize| {
            let [a, b] = [ring[k], ring[(k + 1) % count]].map(|corner| &points[corner]);
            -twice_area(a, b, p)
        };
        let (next, added) = largest(points, |p| {
            let sides = (0..count).map(|k| outside(p, k));
            sides.fold(0.0, f64::max)
        });
        if added <= tolerance * tolerance {
            break;
        }
        chosen[count] = next;
        // It stands over one edge, and parts it in two.
        let over = |k: &usize| outside(&points[next], *k) >= added;
        let edge = (0..count).find(over).unwrap_or(0);
        ring.copy_within(edge + 1..count, edge + 2);
        ring[edge + 1] = next;
        count += 1;
    }
    (chosen, count)
}

/// The first point with the largest value, up to rounding, and the value.
fn largest(points: &[[f64; 3]], value: impl Fn(&[f64; 3]) -> f64) -> (usize, f64) {
    let most = points.iter().map(&value).fold(f64::NEG_INFINITY, f64::max);
    // Of points that lie alike, one is taken at all poses.
    let first = points.iter().position(|p| value(p) >= most * (1.0 - TIE));
    let first = first.unwrap_or(0);
    (first, value(&points[first]))
}

/// Twice the area of a triangle, positive counter-clockwise.
fn twice_area(a: &[f64; 3], b: &[f64; 3], c: &[f64; 3]) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_square_with_points_on_its_edges_keeps_its_corners() {
        let mut points = vec![[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.2, 0.2, 0.0]];
        points.extend([
            [1.0, 1.0, -1e-3],
            [-1.0, 1.0, 0.0],
            [-1.0, -1.0, 0.0],
            [1.0, -1.0, 0.0],
            [0.0, -1.0, 0.0],
            [-1.0, 0.0, 0.0],
        ]);
        let (chosen, count) = choose(&points, 1e-9, 1e-2);
        assert_eq!((count, chosen[0]), (4, 3));
        let mut corners = chosen[..4].to_vec();
        corners.sort_unstable();
        assert_eq!(corners, [3, 4, 5, 6]);
        // All of fewer points.
        assert_eq!(
            choose(&points[..8], 1e-9, 1.0),
            ([0, 1, 2, 3, 4, 5, 6, 7], 8)
        );
    }

    #[test]
    fn the_deepest_stays_though_it_lies_inside() {
        let corners = (0..8).map(|k| (f64::from(k) * std::f64::consts::FRAC_PI_4).sin_cos());
        let mut points: Vec<[f64; 3]> = corners.map(|(u, w)| [u, w, 0.0]).collect();
        points.push([0.1, 0.0, -1.0]);
        let (chosen, count) = choose(&points, 1e-9, 1.0);
        assert_eq!((chosen[0], count), (8, 8));
    }

    #[test]
    fn points_on_a_line_keep_both_ends() {
        let points: Vec<[f64; 3]> = (0..12).map(|i| [f64::from(i), 0.0, 0.0]).collect();
        let (chosen, count) = choose(&points, 1e-9, 1.0);
        assert_eq!((&chosen[..2], count), (&[0, 11][..], 2));
    }

    /// The corners of a regular polygon, with a tilt.
    fn polygon(sides: u32, tilt: [f64; 2]) -> Vec<[f64; 3]> {
        let angle = |k: u32| (f64::from(k) + 0.3) * std::f64::consts::TAU / f64::from(sides);
        let corners = (0..sides).map(|k| (angle(k).cos(), angle(k).sin()));
        corners
            .map(|(u, w)| [u, w, tilt[0] * u + tilt[1] * w])
            .collect()
    }

    /// Of 32 corners the eight hold nine tenths of the area, and each is a corner of their polygon.
    #[test]
    fn eight_points_of_a_rim_stand_all_around_it() {
        let points = polygon(32, [1e-3, 0.0]);
        let (mut chosen, count) = choose(&points, 1e-9, 1.0);
        assert_eq!(count, 8);
        chosen.sort_unstable();
        let corner = |k: usize| &points[chosen[k % 8]];
        let area: f64 = (0..8)
            .map(|k| 0.5 * twice_area(&[0.0; 3], corner(k), corner(k + 1)))
            .sum();
        assert!((2.8..3.0).contains(&area), "{area}");
        let gaps = (0..8).map(|k| chosen[(k + 1) % 8] + if k == 7 { 32 } else { 0 } - chosen[k]);
        assert!(gaps.clone().all(|gap| (2..=6).contains(&gap)), "{chosen:?}");
    }

    /// A rim with a tilt that changes.
    #[test]
    fn a_slight_tilt_does_not_exchange_the_points_of_a_rim() {
        let level = choose(&polygon(32, [0.0; 2]), 1e-9, 1.0);
        for tilt in [[1e-5, 0.0], [-1e-5, 0.0], [0.0, 1e-5], [2e-5, -2e-5]] {
            assert_eq!(choose(&polygon(32, tilt), 1e-9, 1.0), level);
        }
        // The deepest of a body that does not stand is among them.
        let points = polygon(32, [3e-2, 0.0]);
        let (chosen, count) = choose(&points, 1e-9, 1.0);
        let deepest = points.iter().map(|p| p[2]).fold(f64::INFINITY, f64::min);
        assert_eq!(count, 8);
        assert!((points[chosen[0]][2] - deepest).abs() <= 1e-4);
    }
}
