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

/// The best normal; none where the gap is surely larger than `within`.
pub(super) fn best_normal(a: &Convex<'_>, b: &Convex<'_>, within: f64) -> Option<Vector3<f64>> {
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
        let by = gap_along(a, b, next);
        let gained = by - gap;
        if gained > 0.0 {
            (normal, gap) = (next, by);
        }
        if is_apart || gained <= ROUNDING * size {
            break;
        }
    }
    let faces = axes(a).into_iter().chain(axes(b)).flatten();
    for face in faces.flat_map(|axis| [axis, -axis]) {
        if face.dot(&normal) > SAME && gap_along(a, b, face) >= gap - AS_GOOD * size {
            return Some(face);
        }
    }
    (gap <= within).then_some(normal)
}

/// The axes of a core: of a box all, else that of symmetry.
fn axes(of: &Convex<'_>) -> [Option<Vector3<f64>>; 3] {
    [0, 1, 2].map(|k| (k == 2 || of.core == Core::Box).then(|| of.pose.axis(k)))
}

/// The unit vector from the closest point of B to that of A, moved, for cores that are apart then.
fn direction_between(
    a: &Convex<'_>,
    b: &Convex<'_>,
    moved: Vector3<f64>,
    size: f64,
) -> Vector3<f64> {
    let difference = |normal: Vector3<f64>| a.furthest(-normal) + moved - b.furthest(normal);
    let start = a.pose.position() + moved - b.pose.position();
    let mut normal = start.try_normalize(0.0).unwrap_or_else(Vector3::z);
    let mut simplex = Simplex::new(difference(normal));
    let mut nearest = simplex.points[0];
    // The largest gap so far, and its normal.
    let mut best = (f64::NEG_INFINITY, normal);
    for _ in 0..STEPS {
        let distance = nearest.norm();
        let Some(towards) = nearest.try_normalize(0.0) else {
            break;
        };
        normal = towards;
        let next = difference(normal);
        let gap = normal.dot(&next);
        if gap > best.0 {
            best = (gap, normal);
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
    best.1
}

/// Up to four points, whose convex hull is searched for the point nearest to the origin.
struct Simplex {
    points: [Vector3<f64>; 4],
    len: usize,
}

impl Simplex {
    fn new(first: Vector3<f64>) -> Self {
        Self {
            points: [first; 4],
            len: 1,
        }
    }

    fn holds(&self, point: &Vector3<f64>) -> bool {
        self.points[..self.len].contains(point)
    }

    fn add(&mut self, point: Vector3<f64>) {
        if self.len < 4 {
            self.points[self.len] = point;
            self.len += 1;
        }
    }

    /// Finds the nearest point and leaves the points that it lies between.
    fn reduce(&mut self) -> Vector3<f64> {
        let (mut nearest, mut of) = (self.points[0], 1);
        let mut least = f64::INFINITY;
        for subset in 1..1usize << self.len {
            let point = self.inside(subset);
            if let Some(point) = point.filter(|point| point.norm_squared() < least) {
                (nearest, of, least) = (point, subset, point.norm_squared());
            }
        }
        let mut kept = 0;
        for k in 0..self.len {
            if of >> k & 1 == 1 {
                self.points[kept] = self.points[k];
                kept += 1;
            }
        }
        self.len = kept;
        nearest
    }

    /// The point of the plane of a subset that is nearest to the origin, if it lies inside of it.
    fn inside(&self, subset: usize) -> Option<Vector3<f64>> {
        let mut chosen = (0..self.len).filter(|k| subset >> k & 1 == 1);
        let first = self.points[chosen.next()?];
        let Some(second) = chosen.next() else {
            return Some(first);
        };
        let u = self.points[second] - first;
        let Some(third) = chosen.next() else {
            let along = -u.dot(&first) / u.norm_squared();
            return (along > 0.0 && along < 1.0).then(|| first + u * along);
        };
        let w = self.points[third] - first;
        let area = u.cross(&w);
        let squared = area.norm_squared();
        let Some(fourth) = chosen.next() else {
            // The foot of the origin, by its parts along both edges.
            let along = first.cross(&w).dot(&area) / -squared;
            let aside = u.cross(&first).dot(&area) / -squared;
            let inside = along > 0.0 && aside > 0.0 && along + aside < 1.0;
            return inside.then(|| area * (area.dot(&first) / squared));
        };
        let z = self.points[fourth] - first;
        let volume = area.dot(&z);
        let parts = [w.cross(&z), z.cross(&u), area].map(|face| -face.dot(&first) / volume);
        let inside = parts.iter().all(|&part| part > 0.0) && parts.iter().sum::<f64>() < 1.0;
        inside.then(Vector3::zeros)
    }
}
