//! The distance of a point from the convex hull of points and rays.
//!
//! Wolfe, "Finding the nearest point in a polytope" (1976), with rays: an active-set method on
//! `min |Σ α_i p_i + Σ β_j g_j − x|` over `α, β ≥ 0`, `Σ α = 1`. The equation is eliminated with
//! one point of the active set, so that small sets are resolved to rounding of their own size.

use super::{dot, orthogonalise};

/// A direction whose part outside the span of the others is below this part of it is dependent.
const DEPENDENT: f64 = 1e-13;

/// A generator lowers the distance when the cosine of its direction exceeds this.
const SLOPE: f64 = 1e-14;

/// Scratch of the search; it grows to the largest problem it has seen.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nearest {
    /// Rows of weight and place relative to the point.
    rows: Vec<f64>,
    /// Generators with positive coefficients, a point first, and these coefficients.
    active: Vec<usize>,
    x: Vec<f64>,
    /// Both before a generator entered.
    before: (Vec<usize>, Vec<f64>),
    trial: Vec<f64>,
    is_barred: Vec<bool>,
    /// Generators looked at, in all rounds of all searches.
    looked_at: u64,
    /// From the point to the nearest one.
    gap: Vec<f64>,
    /// The generators that are factored; their orthonormal directions, and the triangular factor.
    factored: Vec<usize>,
    q: Vec<f64>,
    r: Vec<f64>,
}

impl Nearest {
    /// The generators of the nearest point found last, with their coefficients.
    pub(crate) fn coefficients(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        self.active.iter().copied().zip(self.x.iter().copied())
    }

    /// From the point asked for last to the nearest one.
    pub(crate) fn gap(&self) -> &[f64] {
        &self.gap
    }

    /// Generators looked at so far, in all rounds of all searches: the work done.
    pub(crate) const fn looked_at(&self) -> u64 {
        self.looked_at
    }

    /// The distance of `point` from the hull of generators: rows of a weight (1 for a point, 0 for
    /// a ray) and coordinates. The search stops at a distance that is at most `enough`. Infinite
    /// without a point.
    pub(crate) fn distance<'g>(
        &mut self,
        generators: impl Iterator<Item = &'g [f64]>,
        point: &[f64],
        enough: f64,
    ) -> f64 {
        let d = point.len();
        self.rows.clear();
        self.add(generators, point);
        self.looked_at += (self.rows.len() / (d + 1)) as u64;
        let Some(first) = self.nearest_generator(d) else {
            return f64::INFINITY;
        };
        self.active.clear();
        self.active.push(first);
        self.x.clear();
        self.x.push(1.0);
        self.factored.clear();
        self.q.resize(d * d, 0.0);
        self.r.resize(d * d, 0.0);
        self.search(d, enough)
    }

    /// The distance of the same point from the hull of these generators too; goes on from where the last
    /// search ended.
    pub(crate) fn distance_with<'g>(
        &mut self,
        more: impl Iterator<Item = &'g [f64]>,
        point: &[f64],
        enough: f64,
    ) -> f64 {
        self.add(more, point);
        self.search(point.len(), enough)
    }

    fn add<'g>(&mut self, generators: impl Iterator<Item = &'g [f64]>, point: &[f64]) {
        for generator in generators {
            let (weight, place) = (generator[0], &generator[1..]);
            self.rows.push(weight);
            self.rows
                .extend(place.iter().zip(point).map(|(p, x)| p - weight * x));
        }
    }

    /// Searches from the active set that is there.
    fn search(&mut self, d: usize, enough: f64) -> f64 {
        let n = self.rows.len() / (d + 1);
        self.is_barred.clear();
        self.is_barred.resize(n, false);
        self.measure(d);
        let mut size = dot(&self.gap, &self.gap).sqrt();
        // each round lowers the distance or bars a generator; rounding alone reaches the cap
        for _ in 0..8 * n + 8 {
            if size <= enough {
                break;
            }
            self.looked_at += n as u64;
            let Some(entering) = self.entering(d, size) else {
                break;
            };
            self.before.0.clone_from(&self.active);
            self.before.1.clone_from(&self.x);
            self.active.push(entering);
            self.x.push(0.0);
            if self.descend(d) {
                self.measure(d);
                let found = dot(&self.gap, &self.gap).sqrt();
                if found < size {
                    size = found;
                    self.is_barred.fill(false);
                    continue;
                }
            }
            std::mem::swap(&mut self.active, &mut self.before.0);
            std::mem::swap(&mut self.x, &mut self.before.1);
            self.measure(d);
            self.is_barred[entering] = true;
        }
        size
    }

    fn row(&self, k: usize, d: usize) -> &[f64] {
        &self.rows[k * (d + 1)..(k + 1) * (d + 1)]
    }

    fn nearest_generator(&self, d: usize) -> Option<usize> {
        let size = |k: &usize| dot(&self.row(*k, d)[1..], &self.row(*k, d)[1..]);
        let points = (0..self.rows.len() / (d + 1)).filter(|&k| self.row(k, d)[0] != 0.0);
        points.min_by(|a, b| size(a).total_cmp(&size(b)))
    }

    /// The generator in whose direction the distance falls most, if any.
    fn entering(&self, d: usize, size: f64) -> Option<usize> {
        let (mut best, mut steepest) = (None, SLOPE);
        for (k, row) in self.rows.chunks_exact(d + 1).enumerate() {
            if self.is_barred[k] || self.active.contains(&k) {
                continue;
            }
            let (mut slope, mut square) = (0.0, 0.0);
            for (place, gap) in row[1..].iter().zip(&self.gap) {
                let direction = place - row[0] * gap;
                slope -= direction * gap;
                square += direction * direction;
            }
            let cosine = slope / (size * square.sqrt());
            if cosine > steepest {
                (best, steepest) = (Some(k), cosine);
            }
        }
        best
    }

    /// Goes to the nearest point of the hull of the active generators, dropping those on the way
    /// whose coefficient falls to zero; false when they are dependent.
    fn descend(&mut self, d: usize) -> bool {
        while self.solve(d) {
            if self.trial.iter().all(|&t| t > 0.0) {
                std::mem::swap(&mut self.x, &mut self.trial);
                return true;
            }
            // where a coefficient ends at zero, the step is a whole one and none is the first
            let (mut step, mut first) = (1.0, None);
            for (i, (&x, &t)) in self.x.iter().zip(&self.trial).enumerate() {
                if t <= 0.0 && x / (x - t) < step {
                    (step, first) = (x / (x - t), Some(i));
                }
            }
            let count = self.x.len();
            // of dropped ones the last first: indices before stay
            for i in (0..self.x.len()).rev() {
                self.x[i] += step * (self.trial[i] - self.x[i]);
                if Some(i) == first || (self.trial[i] <= 0.0 && self.x[i] <= 0.0) {
                    self.x.remove(i);
                    self.active.remove(i);
                }
            }
            // only of what is not a number
            if self.x.len() == count {
                return false;
            }
            // a point leads
            let lead = self.active.iter().position(|&k| self.row(k, d)[0] != 0.0);
            let Some(lead) = lead else { return false };
            self.active.swap(0, lead);
            self.x.swap(0, lead);
        }
        false
    }

    /// Coefficients of the nearest point of the affine hull, to `trial`; false when the generators
    /// are dependent.
    fn solve(&mut self, d: usize) -> bool {
        let k = self.active.len() - 1;
        if k > d {
            return false;
        }
        let row = |i: usize| &self.rows[i * (d + 1)..(i + 1) * (d + 1)];
        let lead = row(self.active[0]);
        self.trial.clear();
        self.trial.resize(k + 1, 0.0);
        // Generators before the first one that is new have been factored.
        let pairs = self.active.iter().zip(&self.factored);
        let known = pairs.take_while(|(a, b)| a == b).count();
        self.factored.truncate(known);
        if known == 0 {
            self.factored.push(self.active[0]);
        }
        for j in 0..k {
            let own = row(self.active[j + 1]);
            let (before, rest) = self.q.split_at_mut(j * d);
            let column = &mut rest[..d];
            if j + 1 < known {
                self.trial[j + 1] = -dot(column, &lead[1..]);
                continue;
            }
            for ((c, p), l) in column.iter_mut().zip(&own[1..]).zip(&lead[1..]) {
                *c = p - own[0] * l;
            }
            let length = dot(column, column).sqrt();
            let r = &mut self.r[j * d..(j + 1) * d];
            r.fill(0.0);
            orthogonalise(column, before.chunks_exact(d), |i, part| r[i] += part);
            let rest = dot(column, column).sqrt();
            if rest <= DEPENDENT * length {
                return false;
            }
            r[j] = rest;
            for c in column.iter_mut() {
                *c /= rest;
            }
            self.trial[j + 1] = -dot(column, &lead[1..]);
            self.factored.push(self.active[j + 1]);
        }
        for i in (0..k).rev() {
            let value = self.trial[i + 1] / self.r[i * d + i];
            self.trial[i + 1] = value;
            for j in 0..i {
                self.trial[j + 1] -= value * self.r[i * d + j];
            }
        }
        let others = self.active.iter().zip(&self.trial).skip(1);
        self.trial[0] = 1.0 - others.map(|(&i, t)| row(i)[0] * t).sum::<f64>();
        true
    }

    /// The gap for the coefficients at hand.
    fn measure(&mut self, d: usize) {
        let row = |i: usize| &self.rows[i * (d + 1)..(i + 1) * (d + 1)];
        let lead = row(self.active[0]);
        self.gap.clear();
        self.gap.extend_from_slice(&lead[1..]);
        for (&i, x) in self.active.iter().zip(&self.x).skip(1) {
            let own = row(i);
            for ((gap, p), l) in self.gap.iter_mut().zip(&own[1..]).zip(&lead[1..]) {
                *gap += x * (p - own[0] * l);
            }
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "exact equality is what is promised")]
mod tests {
    use super::*;

    fn distance(generators: &[f64], point: &[f64]) -> f64 {
        let rows = generators.chunks_exact(point.len() + 1);
        Nearest::default().distance(rows, point, 0.0)
    }

    #[test]
    fn distances_of_a_triangle_and_a_wedge() {
        let triangle = [1.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0, 1.0];
        for (point, expected) in [
            ([0.2, 0.3], 0.0),
            ([0.5, 0.5], 0.0),
            ([0.0, -2.0], 2.0),
            ([1.0, 1.0], 0.5_f64.sqrt()),
            ([3.0, -4.0], 20.0_f64.sqrt()),
            ([0.3, -1e-12], 1e-12),
        ] {
            assert!((distance(&triangle, &point) - expected).abs() < 1e-15 * (1.0 + expected));
        }
        let wedge = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0];
        assert!(distance(&wedge, &[10.0, 4.0]) < 1e-14);
        assert!((distance(&wedge, &[0.0, 2.0]) - 2.0_f64.sqrt()).abs() < 1e-14);
        assert_eq!(distance(&[0.0, 1.0, 0.0], &[1.0, 0.0]), f64::INFINITY);
    }

    #[test]
    fn points_of_small_sets_far_from_the_origin_are_told_apart() {
        let size = 1e-7;
        let segment = [1.0, 3.0, 1.0, 1.0, 3.0 + size, 1.0];
        let pair = [1.0, 3.0, 1.0, 1.0, 3.0 - 1e-11, 1.0 + 1e-11, 1.0, 2.0, 1.0];
        assert_eq!(distance(&pair, &[3.0 - 1e-11, 1.0 + 1e-11]), 0.0);
        let inside = distance(&segment, &[3.0 + 0.4 * size, 1.0]);
        let beside = distance(&segment, &[3.0 + 0.4 * size, 1.0 + 1e-10]);
        assert!(
            inside < 1e-15 && (beside - 1e-10).abs() < 1e-15,
            "{inside:e} {beside:e}"
        );
    }

    /// Sets of small whole numbers, where coefficients vanish exactly: the nearest point is that of
    /// the optimality conditions.
    #[test]
    fn nearest_points_of_lattice_sets_are_optimal() {
        let mut state = 1_u64;
        let mut whole = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            f64::from((state >> 33) as u32 % 5) - 2.0
        };
        let mut nearest = Nearest::default();
        for case in 0..10_000 {
            let (d, n) = (2 + case % 3, 2 + case % 6);
            let mut rows = Vec::new();
            for k in 0..n {
                rows.push(if k % 3 == 2 { 0.0 } else { 1.0 });
                rows.extend((0..d).map(|_| whole()));
            }
            let point: Vec<f64> = (0..d).map(|_| whole()).collect();
            let size = nearest.distance(rows.chunks_exact(d + 1), &point, 0.0);
            let gap = &nearest.gap;
            assert!((dot(gap, gap).sqrt() - size).abs() < 1e-15);
            for row in rows.chunks_exact(d + 1) {
                let along = row[1..].iter().zip(&point).zip(gap);
                let slope: f64 = along.map(|((p, x), g)| (p - row[0] * (x + g)) * g).sum();
                assert!(slope > -1e-12, "{case}: {slope:e} {rows:?} {point:?}");
            }
        }
    }

    /// Sets that are solved one after another, each with a part of the one before: the point is nearest
    /// of the affine hull, whatever was factored before, where a generator leaves a place and comes back
    /// to it too. The nearest point is that from which the gap is across all directions of the hull.
    #[test]
    fn what_was_factored_before_changes_no_solution() {
        let mut state = 5_u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        for case in 0..300 {
            let (d, n) = (3 + case % 3, 6);
            let mut nearest = Nearest::default();
            let point = vec![0.0; d];
            let mut rows = Vec::new();
            for k in 0..n {
                rows.push(if k % 3 == 2 { 0.0 } else { 1.0 });
                rows.extend((0..d).map(|_| next(2001) as f64 / 1000.0 - 1.0));
            }
            // A point leads; the search ends at once.
            let each = || rows.chunks_exact(d + 1);
            nearest.distance(each(), &point, f64::INFINITY);
            for set in 0..40 {
                let kept = 1 + next(nearest.active.len());
                nearest.active.truncate(kept);
                for _ in 0..=next(2) {
                    let new = next(n);
                    if nearest.active.len() < d && !nearest.active.contains(&new) {
                        nearest.active.push(new);
                    }
                }
                assert!(nearest.solve(d), "{case} {set}");
                nearest.x.clone_from(&nearest.trial);
                nearest.measure(d);
                let size = nearest
                    .trial
                    .iter()
                    .fold(1.0f64, |size, t| size.max(t.abs()));
                let lead = nearest.row(nearest.active[0], d);
                for &k in &nearest.active[1..] {
                    let own = nearest.row(k, d);
                    let pairs = own[1..].iter().zip(&lead[1..]).zip(&nearest.gap);
                    let slope: f64 = pairs.map(|((p, l), gap)| (p - own[0] * l) * gap).sum();
                    assert!(
                        slope.abs() < 1e-12 * size,
                        "{case} {set}: {slope:e} {size:e}"
                    );
                }
                let active = nearest.active.iter().zip(&nearest.trial);
                let sum: f64 = active.map(|(&k, t)| nearest.row(k, d)[0] * t).sum();
                assert!((sum - 1.0).abs() < 1e-14 * size, "{case} {set}: {sum}");
            }
        }
    }
}
