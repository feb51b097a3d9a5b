//! Four points of many: the deepest, then those that span the largest area.

/// Limit of the corners of the common area of two faces of boxes.
pub(super) const MOST: usize = 16;

/// Chooses up to four of points `(u, w, gap)` in a plane: the first with the lowest gap (within
/// `level`, so that the least tilt does not exchange the four); the one furthest from it; the one
/// that spans the largest triangle with these; and the one that adds most to its area. A point that
/// adds no area beyond `tolerance` squared is left out. Points are taken in their order, so that
/// ties go to the first. The gap must be affine over the plane: a lower point among the others is
/// no reason to be chosen.
pub(super) fn choose(points: &[[f64; 3]], tolerance: f64, level: f64) -> ([usize; 4], usize) {
    if points.len() <= 4 {
        return ([0, 1, 2, 3], points.len());
    }
    let lowest = points.iter().map(|p| p[2]).fold(f64::INFINITY, f64::min);
    let deepest = points.iter().position(|p| p[2] <= lowest + level);
    let first = deepest.unwrap_or(0);
    let (second, _) = largest(points, |p| {
        let (u, w) = (p[0] - points[first][0], p[1] - points[first][1]);
        u * u + w * w
    });
    let side = |a: usize, b: usize, p: &[f64; 3]| twice_area(&points[a], &points[b], p);
    let (third, area) = largest(points, |p| side(first, second, p).abs());
    let least_area = tolerance * tolerance;
    if area <= least_area {
        return ([first, second, 0, 0], 2);
    }
    // Corners of the triangle, counter-clockwise.
    let [a, b, c] = if side(first, second, &points[third]) > 0.0 {
        [first, second, third]
    } else {
        [second, first, third]
    };
    let (fourth, added) = largest(points, |p| {
        let outside = [(a, b), (b, c), (c, a)].map(|(i, j)| -side(i, j, p));
        outside.into_iter().fold(0.0, f64::max)
    });
    let count = if added > least_area { 4 } else { 3 };
    ([first, second, third, fourth], count)
}

/// The first point with the largest value, and the value.
fn largest(points: &[[f64; 3]], value: impl Fn(&[f64; 3]) -> f64) -> (usize, f64) {
    let mut best = (0, f64::NEG_INFINITY);
    for (i, point) in points.iter().enumerate() {
        let value = value(point);
        if value > best.1 {
            best = (i, value);
        }
    }
    best
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
        ]);
        let (mut chosen, count) = choose(&points, 1e-9, 1e-9);
        assert_eq!((count, chosen[0]), (4, 3));
        chosen.sort_unstable();
        assert_eq!(chosen, [3, 4, 5, 6]);
    }

    #[test]
    fn the_deepest_stays_though_it_lies_inside() {
        let mut points = vec![
            [1.0, 1.0, 0.0],
            [-1.0, 1.0, 0.0],
            [-1.0, -1.0, 0.0],
            [1.0, -1.0, 0.0],
        ];
        points.push([0.1, 0.0, -1.0]);
        let (chosen, count) = choose(&points, 1e-9, 1e-9);
        assert_eq!((chosen[0], count), (4, 4));
    }

    #[test]
    fn points_on_a_line_keep_both_ends() {
        let points: Vec<[f64; 3]> = (0..6).map(|i| [f64::from(i), 0.0, 0.0]).collect();
        assert_eq!(choose(&points, 1e-9, 1e-9), ([0, 5, 0, 0], 2));
    }

    /// Two square faces turned against each other, with a tilt that changes.
    #[test]
    fn a_slight_tilt_does_not_exchange_the_corners_of_an_octagon() {
        let octagon = |tilt: [f64; 2]| -> Vec<[f64; 3]> {
            let corners = (0..8).map(|k| (f64::from(k) + 0.3) * std::f64::consts::FRAC_PI_4);
            let corners = corners.map(|angle| (angle.cos(), angle.sin()));
            corners
                .map(|(u, w)| [u, w, tilt[0] * u + tilt[1] * w])
                .collect()
        };
        let level = choose(&octagon([0.0; 2]), 1e-9, 1e-4);
        for tilt in [[1e-5, 0.0], [-1e-5, 0.0], [0.0, 1e-5], [2e-5, -2e-5]] {
            assert_eq!(choose(&octagon(tilt), 1e-9, 1e-4), level);
        }
        // Beyond the level the deepest is among them.
        let (chosen, count) = choose(&octagon([1e-3, 0.0]), 1e-9, 1e-4);
        assert_eq!((chosen[0], count), (4, 4));
    }
}
