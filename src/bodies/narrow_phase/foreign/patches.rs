//! Few contact points of many: points that coincide are one, and up to eight corners of a patch remain.

use std::collections::BTreeMap;

use nalgebra::Vector3;

use super::super::ManifoldPoint;
use super::super::choice::choose;
use crate::bodies::pose::frame;

/// Points closer than this part of the smaller shape are one, and less than its square is no area.
const APART: f64 = 1e-5;

/// Depths that differ by less than this part of the smaller shape are equal.
const LEVEL: f64 = 1e-4;

/// Normals whose cosine is less than this below 1 are one: 1e-4 rad.
const SAME_NORMAL: f64 = 5e-9;

/// Points that coincide are one where their normals differ by less: 0.1 rad.
const NEAR_NORMAL: f64 = 5e-3;

/// True for two unit normals less than 1e-4 rad apart.
pub(super) fn is_same_normal(n: &Vector3<f64>, m: &Vector3<f64>) -> bool {
    n.dot(m) > 1.0 - SAME_NORMAL
}

/// The part of a shape on which a point lies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Side {
    /// On a shape without parts.
    Whole,
    /// On a part of a compound.
    Part(u32),
    /// Beside the face of a hull that looks into a plane: no corner of the foot gives way to these.
    Beside,
    /// On a plane of a surface: its normal and its distance from the origin, in the own axes.
    Plane(Vector3<f64>, f64),
}

impl Side {
    /// True for the same part, or for one plane up to `level`.
    fn is(&self, other: &Self, level: f64) -> bool {
        match (self, other) {
            (Self::Plane(n, d), Self::Plane(m, e)) => {
                is_same_normal(n, m) && (d - e).abs() <= level
            }
            _ => self == other,
        }
    }
}

/// A point that was found, and where it lies on A and on B.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    pub(super) sides: [Side; 2],
    pub(super) point: ManifoldPoint,
}

/// Appends up to eight corners of each patch, and its deepest point where that is deeper: points with one normal on the same parts, or on the same
/// planes, of both shapes. `size` is the length of the smaller shape. Of more than `most` points the
/// deepest remain.
///
/// Time: of `n` points `n log n`, and `4 most` points at most are compared with all patches.
pub(super) fn reduce(
    points: &mut Vec<Found>,
    size: f64,
    most: usize,
    out: &mut Vec<ManifoldPoint>,
) {
    merge_twins(points, APART * size);
    keep_deepest(points, 4 * most, |found| found.point.gap);
    let level = LEVEL * size;
    let mut patches: Vec<(Found, Vec<ManifoldPoint>)> = Vec::new();
    for found in points.iter() {
        let same = |(first, _): &&mut (Found, Vec<ManifoldPoint>)| {
            let mut sides = found.sides.iter().zip(&first.sides);
            is_same_normal(&found.point.normal, &first.point.normal)
                && sides.all(|(side, other)| side.is(other, level))
        };
        match patches.iter_mut().find(same) {
            Some((_, patch)) => patch.push(found.point),
            None => patches.push((*found, vec![found.point])),
        }
    }
    let (mut flat, mut kept) = (Vec::new(), Vec::new());
    for (first, patch) in &patches {
        let [_, u, w] = frame(first.point.normal);
        flat.clear();
        flat.extend(
            patch
                .iter()
                .map(|p| [u.dot(&p.on_a), w.dot(&p.on_a), p.gap]),
        );
        let Border { corners, deepest } = border(&flat, APART * size, level);
        kept.clear();
        kept.extend(corners.iter().map(|&k| flat[k]));
        let (chosen, count) = choose(&kept, APART * size, size);
        let chosen = chosen[..count].iter().map(|&k| corners[k]);
        out.extend(chosen.chain(deepest).map(|k| patch[k]));
    }
    keep_deepest(out, most, |point| point.gap);
    for (number, point) in out.iter_mut().enumerate() {
        point.feature = number;
    }
}

/// Leaves the `most` points with the lowest gaps, where there are more.
fn keep_deepest<T>(points: &mut Vec<T>, most: usize, gap: impl Fn(&T) -> f64) {
    if points.len() > most {
        points.sort_by(|p, q| gap(p).total_cmp(&gap(q)));
        points.truncate(most);
    }
}

/// The border of points in a plane.
#[derive(Debug, PartialEq)]
struct Border {
    /// The corners of their convex hull, in the order of the points.
    corners: Vec<usize>,
    /// The deepest point, where it is deeper than these by more than `level`.
    deepest: Option<usize>,
}

/// The border of points `(u, w, gap)`. Points that lie no further than `tolerance` outside of the line of
/// two others are no corners.
fn border(points: &[[f64; 3]], tolerance: f64, level: f64) -> Border {
    if points.len() <= 4 {
        return Border {
            corners: (0..points.len()).collect(),
            deepest: None,
        };
    }
    let mut order: Vec<usize> = (0..points.len()).collect();
    let place = |k: usize| (points[k][0], points[k][1]);
    order.sort_by(|&j, &k| {
        let ((u, w), (x, y)) = (place(j), place(k));
        u.total_cmp(&x).then(w.total_cmp(&y))
    });
    // Twice the area of b outside of the line from a to c, to its right, and the length of the line.
    let outside = |a: usize, b: usize, c: usize| {
        let ((u, w), (x, y), (p, q)) = (place(a), place(b), place(c));
        let area = (x - u) * (q - w) - (y - w) * (p - u);
        (area, (p - u).hypot(q - w))
    };
    let mut corners: Vec<usize> = Vec::new();
    let chain = |points: &mut dyn Iterator<Item = usize>, corners: &mut Vec<usize>| {
        let start = corners.len();
        for k in points {
            while let [.., a, b] = corners[start..]
                && outside(a, b, k).0 <= 0.0
            {
                corners.pop();
            }
            corners.push(k);
        }
        corners.pop();
    };
    chain(&mut order.iter().copied(), &mut corners);
    chain(&mut order.iter().rev().copied(), &mut corners);
    // Not before the border is whole: of three nearly in line, rounding may put the middle first.
    let mut k = 0;
    while corners.len() > 2 && k < corners.len() {
        let count = corners.len();
        let [a, b, c] = [count - 1, 0, 1].map(|shift| corners[(k + shift) % count]);
        let (area, length) = outside(a, b, c);
        if area > tolerance * length {
            k += 1;
        } else {
            corners.remove(k);
        }
    }
    let gap = |k: usize| points[k][2];
    let lowest = corners
        .iter()
        .map(|&k| gap(k))
        .fold(f64::INFINITY, f64::min);
    let deepest = (0..points.len()).min_by(|&j, &k| gap(j).total_cmp(&gap(k)));
    corners.sort_unstable();
    corners.dedup();
    Border {
        corners,
        deepest: deepest.filter(|&k| gap(k) < lowest - level),
    }
}

/// Keeps the deeper of two points that are closer than `apart`, in the order of the first.
fn merge_twins(points: &mut Vec<Found>, apart: f64) {
    let cell = |x: f64| (x / apart).floor();
    let key = |point: &ManifoldPoint| {
        let cell = [cell(point.on_a.x), cell(point.on_a.y), cell(point.on_a.z)];
        cell.map(|x| if x == 0.0 { 0 } else { x.to_bits() })
    };
    let mut cells: BTreeMap<[u64; 3], Vec<usize>> = BTreeMap::new();
    let mut kept: Vec<Found> = Vec::new();
    for found in points.iter() {
        let twin = |&&k: &&usize| {
            let other: &ManifoldPoint = &kept[k].point;
            (other.on_a - found.point.on_a).norm() <= apart
                && other.normal.dot(&found.point.normal) > 1.0 - NEAR_NORMAL
        };
        // A twin lies in the cell of a point that is moved by less than `apart` along each axis.
        let near = (0..27).find_map(|k: i32| {
            let shift = Vector3::new(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1).map(f64::from) * apart;
            let mut moved = found.point;
            moved.on_a += shift;
            cells.get(&key(&moved))?.iter().find(twin).copied()
        });
        match near {
            Some(k) if found.point.gap < kept[k].point.gap => kept[k] = *found,
            Some(_) => {}
            None => {
                cells.entry(key(&found.point)).or_default().push(kept.len());
                kept.push(*found);
            }
        }
    }
    *points = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(on_a: [f64; 3], normal: [f64; 3], gap: f64, side: Side) -> Found {
        let (on_a, normal) = (Vector3::from(on_a), Vector3::from(normal).normalize());
        let point = ManifoldPoint {
            feature: 9,
            gap,
            normal,
            on_a,
            on_b: on_a - normal * gap,
        };
        Found {
            sides: [side, Side::Whole],
            point,
        }
    }

    fn reduced(mut points: Vec<Found>, most: usize) -> Vec<ManifoldPoint> {
        let mut out = Vec::new();
        reduce(&mut points, 1.0, most, &mut out);
        assert!(out.iter().enumerate().all(|(k, point)| point.feature == k));
        out
    }

    #[test]
    fn the_deeper_of_twins_stays() {
        let z = [0.0, 0.0, 1.0];
        // On both sides of a border between cells, around zero too.
        for x in [0.0, 1e-5, -1e-5, 0.5, -0.25, 123.0] {
            let twins = vec![
                found([x - 4e-6, 0.0, 0.0], z, 1e-3, Side::Whole),
                found(
                    [x + 4e-6, -3e-6, 3e-6],
                    [0.01, 0.0, 1.0],
                    -1e-3,
                    Side::Whole,
                ),
            ];
            let kept = reduced(twins, 9);
            assert_eq!((kept.len(), kept[0].gap), (1, -1e-3), "{x}");
        }
        let apart = vec![
            found([0.0; 3], z, 0.0, Side::Whole),
            found([2e-5, 0.0, 0.0], z, 0.0, Side::Whole),
            // another normal: the same corner of a box in a corner of a room
            found([0.0; 3], [1.0, 0.0, 0.0], 0.0, Side::Whole),
        ];
        assert_eq!(reduced(apart, 9).len(), 3);
    }

    /// Corners of a square, `half` wide, at some height.
    fn square(half: f64, gap: f64, side: Side) -> Vec<Found> {
        let corners = [
            [1.0, 1.0],
            [-1.0, 1.0],
            [-1.0, -1.0],
            [1.0, -1.0],
            [0.5, 0.0],
        ];
        let at = |[x, y]: [f64; 2]| found([half * x, half * y, gap], [0.0, 0.0, 1.0], gap, side);
        corners.into_iter().map(at).collect()
    }

    #[test]
    fn each_part_and_each_plane_keeps_its_corners() {
        let plane = |offset: f64| Side::Plane(Vector3::z(), offset);
        for (low, high) in [(Side::Part(0), Side::Part(1)), (plane(0.0), plane(1e-3))] {
            let mut points = square(1.0, 1e-3, high);
            points.extend(square(0.2, 0.0, low));
            let kept = reduced(points, 9);
            assert_eq!(kept.len(), 8);
            assert_eq!(kept.iter().filter(|point| point.gap < 1e-9).count(), 4);
        }
        let mut one = square(1.0, 0.0, plane(0.0));
        one.extend(square(0.2, 0.0, plane(1e-5)));
        assert_eq!(reduced(one, 9).len(), 4);
    }

    #[test]
    fn the_border_of_a_patch_has_its_corners_alone() {
        let mut points: Vec<[f64; 3]> = Vec::new();
        for i in 0..5 {
            for k in 0..5 {
                points.push([f64::from(k) - 2.0, f64::from(i) - 2.0, 0.0]);
            }
        }
        let found = |corners: &[usize], deepest: Option<usize>| Border {
            corners: corners.to_vec(),
            deepest,
        };
        let all = border(&points, 1e-9, 1e-4);
        assert_eq!(all, found(&[0, 4, 20, 24], None));
        points[12][2] = -1e-3;
        let all = border(&points, 1e-9, 1e-4);
        assert_eq!(all, found(&[0, 4, 20, 24], Some(12)));
        let line: Vec<[f64; 3]> = (0..9).map(|k| [f64::from(k), 0.5, 0.0]).collect();
        assert_eq!(border(&line, 1e-9, 1e-4), found(&[0, 8], None));
        // Three in line across the order, the one in the middle first by rounding.
        let mut side = vec![[0.0, 0.046, 0.0], [0.0, -0.006, 0.0], [-3e-17, 0.045, 0.0]];
        side.extend([[0.08, 0.04, 0.0], [0.07, -0.02, 0.0], [0.03, 0.05, 0.0]]);
        let Border { corners, .. } = border(&side, 1e-7, 1e-4);
        assert!(
            [0, 1, 3, 4, 5].iter().all(|k| corners.contains(k)),
            "{corners:?}"
        );
        let one = [[0.3, 0.2, 0.0]; 6];
        assert!(!border(&one, 1e-9, 1e-4).corners.is_empty());
    }

    #[test]
    fn of_too_many_points_the_deepest_stay() {
        let z = [0.0, 0.0, 1.0];
        let at = |k: u32| {
            let gap = 1e-3 * f64::from(k * 37 % 100);
            found([f64::from(k), 0.0, 0.0], z, gap, Side::Part(k))
        };
        let kept = reduced((0..100).map(at).collect(), 10);
        let gaps: Vec<f64> = kept.iter().map(|point| point.gap).collect();
        assert_eq!(
            gaps,
            (0..10).map(|k| 1e-3 * f64::from(k)).collect::<Vec<_>>()
        );
        assert_eq!(reduced((0..100).map(at).collect(), 100).len(), 100);
    }
}
