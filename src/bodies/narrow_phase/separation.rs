//! The normal along which two convex cores have the largest gap: that of their distance where they
//! are apart, of the shortest way out where they overlap.
//!
//! The gap along a unit normal `n` from B into A is `s(n) = min n · a − max n · b`. Cores that are apart have
//! one maximum, the direction of the difference of the closest points (Gilbert, Johnson & Keerthi 1988).
//! Where they overlap, A is moved out along the best normal so far, `n₀`, by `D`. The closest points
//! then give the maximum of `s(n) + D n₀ · n`; as `n₀ · n ≤ 1`, the gap along it is no smaller. The
//! search starts at the best of a fixed list of normals and ends in a maximum around it: of deep
//! overlaps not always the highest.

use nalgebra::Vector3;

use super::convex::{Convex, Core};

/// Limits of the steps of both searches.
const STEPS: usize = 96;
const MOVES: usize = 32;

/// Normals of the side of a cylinder or a cone that are tried.
const SIDES: usize = 12;

/// Rounding of gaps, by the size of the cores.
const ROUNDING: f64 = 1e-14;

/// Nearly touching cores, by their size, are moved apart for the sake of the direction.
const NEAR: f64 = 1e-6;

/// How far cores that overlap are moved apart, by their size.
const APART: f64 = 0.05;

/// The normal of a face is taken where it is this near to the best one, by its cosine, and as good
/// up to this part of the size.
const SAME: f64 = 1.0 - 1e-5;
const AS_GOOD: f64 = 1e-9;

/// The gap of the cores along a unit normal from B into A.
pub(super) fn gap_along(a: &Convex<'_>, b: &Convex<'_>, normal: Vector3<f64>) -> f64 {
    normal.dot(&(a.furthest(-normal) - b.furthest(normal)))
}

/// The best normal, and the point of A that is closest along it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Closest {
    pub(super) normal: Vector3<f64>,
    pub(super) on_a: Vector3<f64>,
}

/// The best normal; none where the gap is surely larger than `within`.
pub(super) fn best_normal(a: &Convex<'_>, b: &Convex<'_>, within: f64) -> Option<Closest> {
    let size = a.least_half().min(b.least_half());
    let (mut normal, mut gap) = (Vector3::z(), f64::NEG_INFINITY);
    let mut try_both = |direction: Vector3<f64>| {
        let length = direction.norm();
        if length > 1e-6 {
            for unit in [direction / length, -direction / length] {
                let by = gap_along(a, b, unit);
                if by > gap {
                    (normal, gap) = (unit, by);
                }
            }
        }
    };
    let between = a.pose.position() - b.pose.position();
    try_both(between / (between.norm() + size));
    let (axes_a, axes_b) = (axes(a), axes(b));
    for axis in axes_a.iter().chain(&axes_b).flatten() {
        try_both(*axis);
        // Across an axis of symmetry, towards the other centre.
        let across = between - axis * axis.dot(&between);
        try_both(across / (across.norm() + size));
    }
    for round in [a, b].into_iter().filter(|of| of.is_round()) {
        for k in 0..SIDES {
            let (sin, cos) = (std::f64::consts::TAU * k as f64 / SIDES as f64).sin_cos();
            try_both(round.side_normal(round.pose.axis(0) * cos + round.pose.axis(1) * sin));
        }
    }
    for first in axes_a.iter().flatten() {
        for second in axes_b.iter().flatten() {
            try_both(first.cross(second));
        }
    }
    // Of thin cores that are apart by less than their thickness the search below may stay at another normal,
    // along which they overlap.
    if gap <= NEAR * size {
        let closest = direction_between(a, b, Vector3::zeros(), size);
        let by = gap_along(a, b, closest.normal);
        if by > gap.max(0.0) {
            (normal, gap) = (closest.normal, by);
        }
    }
    let mut on_a = a.pose.position();
    for _ in 0..MOVES {
        if gap > within {
            return None;
        }
        let is_apart = gap > NEAR * size;
        let moved = if is_apart {
            Vector3::zeros()
        } else {
            normal * (APART * size - gap)
        };
        let next = direction_between(a, b, moved, size);
        let by = gap_along(a, b, next.normal);
        let gained = by - gap;
        on_a = next.on_a;
        if gained > 0.0 {
            (normal, gap) = (next.normal, by);
        }
        if is_apart || gained <= ROUNDING * size {
            break;
        }
    }
    let faces = axes(a).into_iter().chain(axes(b)).flatten();
    for face in faces.flat_map(|axis| [axis, -axis]) {
        if face.dot(&normal) > SAME && gap_along(a, b, face) >= gap - AS_GOOD * size {
            normal = face;
            break;
        }
    }
    (gap <= within).then_some(Closest { normal, on_a })
}

/// The axes of a core: of a box all, else that of symmetry.
fn axes(of: &Convex<'_>) -> [Option<Vector3<f64>>; 3] {
    [0, 1, 2].map(|k| (k == 2 || of.core == Core::Box).then(|| of.pose.axis(k)))
}

/// The direction from the closest point of B to that of A, moved, for cores that are apart then.
fn direction_between(a: &Convex<'_>, b: &Convex<'_>, moved: Vector3<f64>, size: f64) -> Closest {
    let difference = |normal: Vector3<f64>| {
        let of_a = a.furthest(-normal);
        Difference {
            by: of_a + moved - b.furthest(normal),
            of_a,
        }
    };
    let start = a.pose.position() + moved - b.pose.position();
    let mut normal = start.try_normalize(0.0).unwrap_or_else(Vector3::z);
    let mut simplex = Simplex::new(difference(normal));
    let mut nearest = simplex.points[0].by;
    // The largest gap so far, and its normal.
    let (mut most, mut best) = (f64::NEG_INFINITY, normal);
    for _ in 0..STEPS {
        let distance = nearest.norm();
        let Some(towards) = nearest.try_normalize(0.0) else {
            break;
        };
        normal = towards;
        let next = difference(normal);
        let gap = normal.dot(&next.by);
        if gap > most {
            (most, best) = (gap, normal);
        }
        if distance - gap <= ROUNDING * (size + distance) || simplex.holds(&next) {
            break;
        }
        simplex.add(next);
        let closer = simplex.reduce();
        if closer.norm() >= distance {
            break;
        }
        nearest = closer;
    }
    Closest {
        normal: best,
        on_a: simplex.on_a(),
    }
}

/// A difference of points of A and B, and that of A.
#[derive(Clone, Copy, PartialEq)]
struct Difference {
    by: Vector3<f64>,
    of_a: Vector3<f64>,
}

/// Up to four points, whose convex hull is searched for the point nearest to the origin, and the
/// weights by which they make it.
struct Simplex {
    points: [Difference; 4],
    weights: [f64; 4],
    len: usize,
}

impl Simplex {
    fn new(first: Difference) -> Self {
        Self {
            points: [first; 4],
            weights: [1.0, 0.0, 0.0, 0.0],
            len: 1,
        }
    }

    fn holds(&self, point: &Difference) -> bool {
        self.points[..self.len].contains(point)
    }

    fn add(&mut self, point: Difference) {
        if self.len < 4 {
            self.points[self.len] = point;
            self.weights[self.len] = 0.0;
            self.len += 1;
        }
    }

    fn on_a(&self) -> Vector3<f64> {
        let parts = self.points.iter().zip(&self.weights).take(self.len);
        parts.map(|(point, &weight)| point.of_a * weight).sum()
    }

    /// Finds the nearest point and leaves the points that it lies between.
    fn reduce(&mut self) -> Vector3<f64> {
        let (mut least, mut of, mut weights) = (f64::INFINITY, 1, [1.0, 0.0, 0.0, 0.0]);
        let mut nearest = self.points[0].by;
        for subset in 1..1usize << self.len {
            let Some(inside) = self.inside(subset) else {
                continue;
            };
            let squared = inside.point.norm_squared();
            if squared < least {
                (nearest, of, weights) = (inside.point, subset, inside.weights);
                least = squared;
            }
        }
        let mut kept = 0;
        for k in 0..self.len {
            if of >> k & 1 == 1 {
                self.points[kept] = self.points[k];
                kept += 1;
            }
        }
        (self.len, self.weights) = (kept, weights);
        nearest
    }

    /// The point of the plane of a subset that is nearest to the origin, if it lies inside of it.
    fn inside(&self, subset: usize) -> Option<Inside> {
        let mut chosen = (0..self.len).filter(|k| subset >> k & 1 == 1);
        let mut next = || chosen.next().map(|k| self.points[k].by);
        let first = next()?;
        let Some(second) = next() else {
            return Inside::of(first, &[]);
        };
        let u = second - first;
        let Some(third) = next() else {
            let along = -u.dot(&first) / u.norm_squared();
            return Inside::of(first + u * along, &[along]);
        };
        let w = third - first;
        let area = u.cross(&w);
        let Some(fourth) = next() else {
            let squared = area.norm_squared();
            let along = first.cross(&w).dot(&area) / -squared;
            let aside = u.cross(&first).dot(&area) / -squared;
            // The foot of the origin; the sum of the corners is less exact.
            return Inside::of(area * (area.dot(&first) / squared), &[along, aside]);
        };
        let z = fourth - first;
        let volume = area.dot(&z);
        let parts = [w.cross(&z), z.cross(&u), area].map(|face| -face.dot(&first) / volume);
        Inside::of(Vector3::zeros(), &parts)
    }
}

/// A point between some others, and their weights.
struct Inside {
    point: Vector3<f64>,
    weights: [f64; 4],
}

impl Inside {
    /// With the weights of all but the first; none if one is not positive.
    fn of(point: Vector3<f64>, others: &[f64]) -> Option<Self> {
        let own = 1.0 - others.iter().sum::<f64>();
        let mut weights = [own, 0.0, 0.0, 0.0];
        weights[1..=others.len()].copy_from_slice(others);
        let inside = weights[..=others.len()].iter().all(|&weight| weight > 0.0);
        inside.then_some(Self { point, weights })
    }
}
