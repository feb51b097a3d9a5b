//! Convex sets by their generators: points and rays, cut by coordinate half-spaces.
//!
//! A row of a set is a weight (1 for a point, 0 for a ray) and coordinates. All cuts of the exact
//! planar set are at coordinate hyperplanes, so a cut point lies on its hyperplane exactly, and
//! signs of coordinates decide without a tolerance: coordinates below [`ZERO`] are set to zero
//! where they arise. A cut combines every point before the hyperplane with every one behind it
//! and drops what lies in the hull of the rest, so no facets are needed. The hyperplane holds a
//! face of what is kept: a new point can lie in the hull of others of this face only, and vertices
//! beside it stay vertices. New points are dropped as they come, some at a time, so that not even
//! for a moment there are many more than remain. With a coefficient of
//! friction of 1e5 the two rays of a contact are opposite to five digits, and again where they are
//! combined: coordinates have twice the precision.

use crate::Interrupt;
use crate::interrupt::Interrupted;
use crate::linalg::double_double::Double;
use crate::linalg::nearest::Nearest;

/// Coordinates of points below this part of the scale are zero: the rounding of what is given.
const ZERO: f64 = 1e-14;

/// Coordinates of rays below this part of the greatest are zero: the rounding of the operations.
/// Large friction makes normal parts of rays small, so they cannot be cut at [`ZERO`].
const ZERO_OF_RAYS: f64 = 1e-24;

/// A point this near to the hull of the others is dropped: less than [`ZERO`], so that none on a
/// hyperplane gives way to one that lies beside it. Of a thin set nothing would reach the hyperplane.
const REDUNDANT: f64 = 0.5 * ZERO;

/// A ray this near to the cone of the others is dropped.
const REDUNDANT_RAY: f64 = 1e-15;

/// New points of a cut that come together before redundant ones are dropped, beside twice those
/// that remained the last time.
const BATCH: usize = 64;

/// The reason for which a cut was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Uncut {
    /// More generators remain than the cap allows.
    TooMany,
    /// As many generators were looked at as are allowed.
    OutOfWork,
    Interrupted,
}

impl From<Interrupted> for Uncut {
    fn from(_: Interrupted) -> Self {
        Self::Interrupted
    }
}

/// The part of a coordinate axis that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Negative,
    Zero,
    Positive,
}

/// A set of generators.
#[derive(Clone, Debug, Default)]
pub(super) struct Generators {
    /// Number of coordinates.
    dimension: usize,
    /// Rows of weight and coordinates.
    rows: Vec<Double>,
    /// The rows, rounded.
    near: Vec<f64>,
}

/// Scratch of the operations.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub(super) hulls: Hulls,
    /// The generators on the hyperplane of a cut.
    face: Generators,
    rays: Vec<f64>,
    is_kept: Vec<bool>,
}

/// Searches in hulls. Once they are to end, no point lies in a hull any more: nothing is dropped
/// that is not known to be redundant.
#[derive(Clone, Debug, Default)]
pub(super) struct Hulls {
    nearest: Nearest,
    /// Generators looked at beside those of the searches.
    compared: u64,
    /// Limit of the generators that are looked at; none: as many as it takes.
    work: Option<u64>,
    interrupt: Option<Interrupt>,
}

impl Scratch {
    /// Operations that end when this is set, or when `work` generators were looked at.
    pub(super) fn new(work: u64, interrupt: Option<&Interrupt>) -> Self {
        let hulls = Hulls {
            work: Some(work),
            interrupt: interrupt.cloned(),
            ..Hulls::default()
        };
        Self {
            hulls,
            ..Self::default()
        }
    }

    /// Refuses to go on: then what was found since the last check may hold redundant generators.
    pub(super) fn check(&self) -> Result<(), Uncut> {
        self.hulls.check()
    }
}

impl Hulls {
    fn check(&self) -> Result<(), Uncut> {
        self.interrupt.as_ref().map_or(Ok(()), Interrupt::check)?;
        match self.work {
            Some(work) if self.nearest.looked_at() + self.compared >= work => Err(Uncut::OutOfWork),
            _ => Ok(()),
        }
    }

    /// True when a point lies within `tolerance` of the hull of generators.
    pub(super) fn hold<'g>(
        &mut self,
        generators: impl Iterator<Item = &'g [f64]>,
        point: &[f64],
        tolerance: f64,
    ) -> bool {
        self.check().is_ok() && self.nearest.distance(generators, point, tolerance) <= tolerance
    }
}

impl Generators {
    /// Without any.
    pub(super) fn new(dimension: usize) -> Self {
        Self {
            dimension,
            rows: Vec::new(),
            near: Vec::new(),
        }
    }

    /// Adds a point.
    pub(super) fn push_point(&mut self, place: &[Double]) {
        self.push(1.0, place);
    }

    /// Adds a ray.
    pub(super) fn push_ray(&mut self, direction: &[Double]) {
        self.push(0.0, direction);
    }

    /// Adds the rays of another set.
    pub(super) fn push_rays_of(&mut self, other: &Self) {
        let width = self.dimension + 1;
        for row in other
            .rows
            .chunks_exact(width)
            .filter(|row| row[0].high() == 0.0)
        {
            self.push(0.0, &row[1..]);
        }
    }

    fn push(&mut self, weight: f64, place: &[Double]) {
        let start = self.rows.len();
        self.rows.push(Double::from(weight));
        self.rows.extend_from_slice(place);
        settle(&mut self.rows[start..]);
        self.near
            .extend(self.rows[start..].iter().map(|x| x.high()));
    }

    /// Number of generators.
    pub(super) fn len(&self) -> usize {
        self.near.len() / (self.dimension + 1)
    }

    /// True when no point is left.
    pub(super) fn is_empty(&self) -> bool {
        self.iter().all(|row| row[0] == 0.0)
    }

    /// The rows, rounded.
    pub(super) fn iter(&self) -> std::slice::ChunksExact<'_, f64> {
        self.near.chunks_exact(self.dimension + 1)
    }

    /// The points.
    pub(super) fn points(&self) -> impl Iterator<Item = &[f64]> {
        self.iter().filter(|row| row[0] != 0.0).map(|row| &row[1..])
    }

    /// True when no part of the set has this sign of a coordinate: all of it lies on the other side.
    pub(super) fn misses(&self, axis: usize, keep: Sign) -> bool {
        let is_beyond = |sign: f64| {
            self.iter().all(|row| {
                let value = sign * row[axis + 1];
                value > 0.0 || row[0] == 0.0 && value == 0.0
            })
        };
        keep != Sign::Positive && is_beyond(1.0) || keep != Sign::Negative && is_beyond(-1.0)
    }

    /// Adds to a coordinate of all points.
    pub(super) fn shift(&mut self, axis: usize, by: f64) {
        for row in self.rows.chunks_exact_mut(self.dimension + 1) {
            row[axis + 1] = row[axis + 1] + row[0] * Double::from(by);
            settle(row);
        }
        self.round();
    }

    /// Keeps a part of coordinate `axis`. Refuses, and leaves the set spoiled, where more than
    /// `cap` generators remain, or the search is to end. Where the set has no line and none that
    /// lies in the hull of the others, it has none afterwards.
    pub(super) fn cut(
        &mut self,
        axis: usize,
        keep: Sign,
        cap: usize,
        scratch: &mut Scratch,
    ) -> Result<(), Uncut> {
        let width = self.dimension + 1;
        let at = axis + 1;
        let is_kept = |value: f64| match keep {
            Sign::Positive => value >= 0.0,
            Sign::Negative => value <= 0.0,
            Sign::Zero => value == 0.0,
        };
        if self.iter().all(|row| is_kept(row[at])) {
            return Ok(());
        }
        let mut face = std::mem::take(&mut scratch.face);
        face.dimension = self.dimension;
        face.rows.clear();
        for row in self.rows.chunks_exact(width) {
            if row[at].high() == 0.0 {
                face.rows.extend_from_slice(row);
            }
        }
        let beside = |row: &&[f64]| row[at] != 0.0 && is_kept(row[at]);
        let beside = self.iter().filter(beside).count();
        let done = self.fill_face(&mut face, at, cap.saturating_sub(beside), scratch);
        if done.is_ok() {
            let mut kept = 0;
            for k in 0..self.len() {
                let value = self.rows[k * width + at].high();
                if value != 0.0 && is_kept(value) {
                    self.rows
                        .copy_within(k * width..(k + 1) * width, kept * width);
                    kept += 1;
                }
            }
            self.rows.truncate(kept * width);
            self.rows.extend_from_slice(&face.rows);
            self.round();
        }
        scratch.face = face;
        done
    }

    /// Adds to the generators with a zero at `at` the points and rays where the set passes it.
    fn fill_face(
        &self,
        face: &mut Self,
        at: usize,
        cap: usize,
        scratch: &mut Scratch,
    ) -> Result<(), Uncut> {
        let width = self.dimension + 1;
        // those of the set itself need no test: none lies in the hull of the others
        let mut settled = face.rows.len() / width;
        let mut rows = self.rows.chunks_exact(width);
        let (before, behind): (Vec<_>, Vec<_>) = {
            let passing = rows.by_ref().filter(|row| row[at].high() != 0.0);
            passing.partition(|row| row[at].high() > 0.0)
        };
        for p in &before {
            for q in &behind {
                combine(p, q, at, &mut face.rows);
            }
            if face.rows.len() / width > 2 * settled + BATCH {
                face.prune(scratch);
                scratch.check()?;
                settled = face.len();
                if settled > cap {
                    return Err(Uncut::TooMany);
                }
            }
        }
        face.prune(scratch);
        scratch.check()?;
        if face.len() > cap {
            return Err(Uncut::TooMany);
        }
        Ok(())
    }

    fn round(&mut self) {
        self.near.clear();
        self.near.extend(self.rows.iter().map(|x| x.high()));
    }

    /// Drops generators that lie in the hull of the others; where the search is to end, not all.
    pub(super) fn prune(&mut self, scratch: &mut Scratch) {
        self.round();
        let width = self.dimension + 1;
        let n = self.len();
        let Scratch {
            hulls,
            is_kept,
            rays,
            ..
        } = scratch;
        is_kept.clear();
        is_kept.resize(n, true);
        let near = &self.near;
        let row = |k: usize| &near[k * width..(k + 1) * width];
        let limit = |k: usize| {
            if row(k)[0] == 0.0 {
                REDUNDANT_RAY
            } else {
                REDUNDANT
            }
        };
        // Equal ones first: the hulls to search are smaller then. Without a search, too, the work
        // grows with the square of their number.
        for k in 0..n {
            if hulls.check().is_err() {
                break;
            }
            let is_equal = |j: usize| {
                let pairs = row(j).iter().zip(row(k));
                is_kept[j]
                    && pairs.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs())) <= limit(k)
            };
            let equal = (0..k).position(is_equal);
            hulls.compared += equal.unwrap_or(k) as u64;
            is_kept[k] = equal.is_none();
        }
        for k in 0..n {
            if hulls.check().is_err() {
                break;
            }
            if !is_kept[k] || is_extreme(near, width, k, is_kept, &mut hulls.compared) {
                continue;
            }
            is_kept[k] = false;
            let others = (0..n).filter(|&j| is_kept[j]).map(row);
            let is_redundant = if row(k)[0] == 0.0 {
                // the cone with its apex
                rays.clear();
                rays.resize(width, 0.0);
                rays[0] = 1.0;
                for other in others.filter(|other| other[0] == 0.0) {
                    rays.extend_from_slice(other);
                }
                hulls.hold(rays.chunks_exact(width), &row(k)[1..], REDUNDANT_RAY)
            } else {
                hulls.hold(others, &row(k)[1..], REDUNDANT)
            };
            is_kept[k] = !is_redundant;
        }
        let mut kept = 0;
        for k in 0..n {
            if is_kept[k] {
                self.rows
                    .copy_within(k * width..(k + 1) * width, kept * width);
                kept += 1;
            }
        }
        self.rows.truncate(kept * width);
        self.round();
    }
}

/// True when point `k` alone has the greatest or least coordinate of some axis, and no ray goes
/// beyond it: then it is a vertex, without a search. Adds the rows it looks at to `compared`.
fn is_extreme(rows: &[f64], width: usize, k: usize, is_kept: &[bool], compared: &mut u64) -> bool {
    let own = &rows[k * width..(k + 1) * width];
    if own[0] == 0.0 {
        return false;
    }
    let mut is_beyond = |axis: usize, sign: f64| {
        let kept = rows.chunks_exact(width).enumerate();
        let mut kept = kept.filter(|&(j, _)| j != k && is_kept[j]);
        kept.all(|(_, row)| {
            *compared += 1;
            let gain = sign * (row[axis] - row[0] * own[axis]);
            gain < if row[0] == 0.0 {
                ZERO
            } else {
                -10.0 * REDUNDANT
            }
        })
    };
    (1..width).any(|axis| is_beyond(axis, 1.0) || is_beyond(axis, -1.0))
}

/// The combination of a row with a positive coordinate and one with a negative that has a zero
/// there; none of opposite rays.
fn combine(p: &[Double], q: &[Double], at: usize, rows: &mut Vec<Double>) {
    let (a, b) = (p[at], -q[at]);
    let start = rows.len();
    rows.extend(p.iter().zip(q).map(|(&p, &q)| a * q + b * p));
    let row = &mut rows[start..];
    row[at] = Double::ZERO;
    let weight = row[0];
    if weight.high() > 0.0 {
        for x in row.iter_mut() {
            *x = *x / weight;
        }
        row[0] = Double::from(1.0);
    } else {
        let terms = p
            .iter()
            .zip(q)
            .map(|(p, q)| a.high() * q.high().abs() + b.high() * p.high().abs());
        let size = terms.fold(0.0, f64::max);
        if row.iter().all(|x| x.high().abs() <= ZERO_OF_RAYS * size) {
            rows.truncate(start);
            return;
        }
    }
    settle(&mut rows[start..]);
}

/// Sets rounding to zero, after a ray is brought to scale 1.
fn settle(row: &mut [Double]) {
    let mut zero = ZERO;
    if row[0].high() == 0.0 {
        zero = ZERO_OF_RAYS;
        let size = row
            .iter()
            .fold(0.0, |most: f64, x| most.max(x.high().abs()));
        if size > 0.0 {
            let size = Double::from(size);
            for x in row.iter_mut() {
                *x = *x / size;
            }
        }
    }
    for x in &mut row[1..] {
        if x.high().abs() <= zero {
            *x = Double::ZERO;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn corners(set: &Generators) -> Vec<Vec<f64>> {
        let mut corners: Vec<Vec<f64>> = set.iter().map(<[f64]>::to_vec).collect();
        corners.sort_by(|a, b| a.partial_cmp(b).unwrap());
        corners
    }

    fn exact(place: [f64; 2]) -> [Double; 2] {
        place.map(Double::from)
    }

    #[test]
    fn a_square_with_a_ray_is_cut_to_a_pentagon() {
        let mut set = Generators::new(2);
        for place in [[-2.0, -1.0], [-1.0, -1.0], [-1.0, 0.0], [-2.0, 0.0]] {
            set.push_point(&exact(place));
        }
        set.push_ray(&exact([2.0, 2.0]));
        let mut scratch = Scratch::default();
        // one corner lies behind another along the ray
        set.prune(&mut scratch);
        assert_eq!(set.len(), 4);
        set.cut(0, Sign::Negative, 100, &mut scratch).unwrap();
        let expected = [
            [1., -2., -1.],
            [1., -2., 0.],
            [1., -1., -1.],
            [1., 0., 0.],
            [1., 0., 2.],
        ];
        assert_eq!(corners(&set), expected);
        set.cut(0, Sign::Zero, 100, &mut scratch).unwrap();
        assert_eq!(corners(&set), [[1., 0., 0.], [1., 0., 2.]]);
        assert!(!set.is_empty());
        set.cut(1, Sign::Negative, 100, &mut scratch).unwrap();
        assert_eq!(corners(&set), [[1., 0., 0.]]);
    }

    #[test]
    fn opposite_rays_are_a_line() {
        let mut set = Generators::new(2);
        set.push_point(&exact([-1.0, 1.0]));
        set.push_ray(&exact([1.0, 1.0]));
        set.push_ray(&exact([-1.0, -1.0]));
        let mut scratch = Scratch::default();
        set.cut(0, Sign::Negative, 100, &mut scratch).unwrap();
        // no point of a line is a vertex
        set.prune(&mut scratch);
        set.cut(1, Sign::Positive, 100, &mut scratch).unwrap();
        assert_eq!(corners(&set), [[1., -2., 0.], [1., 0., 2.]]);
        set.cut(0, Sign::Positive, 100, &mut scratch).unwrap();
        set.cut(1, Sign::Zero, 100, &mut scratch).unwrap();
        assert!(set.is_empty());
    }

    /// All on a circle, so that none is dropped: comparing them went on after the interrupt, and
    /// was no work.
    #[test]
    fn comparing_generators_is_work_and_ends_at_an_interrupt() {
        let mut circle = Generators::new(2);
        for k in 0..2000 {
            let (sin, cos) = f64::from(k).sin_cos();
            circle.push_point(&exact([cos, sin]));
        }
        let interrupt = Interrupt::new();
        interrupt.set();
        let mut interrupted = Scratch::new(u64::MAX, Some(&interrupt));
        circle.prune(&mut interrupted);
        assert_eq!(interrupted.check(), Err(Uncut::Interrupted));
        let mut short = Scratch::new(100_000, None);
        circle.prune(&mut short);
        assert_eq!(short.check(), Err(Uncut::OutOfWork));
        let work = |scratch: &Scratch| scratch.hulls.nearest.looked_at() + scratch.hulls.compared;
        assert_eq!((work(&interrupted), circle.len()), (0, 2000));
        assert!(work(&short) < 100_000 + 2000, "{}", work(&short));
    }
}
