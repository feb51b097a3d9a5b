//! Comparisons of a set with one that was found before.
//!
//! Where two contacts nearly coincide, the set between the moments at which one and the other stop
//! is as thin as their normals differ: 1e-12, say, along one axis, while slips are of order 1. What
//! goes on from there depends on the signs of speeds inside it. A set is new there by differences
//! that are small beside its own thickness, so each axis is measured by the extent of the set along
//! it. Outcomes go nowhere from where they are: they are compared as they are.

use super::generators::{Generators, Scratch};

/// Sets this near to known ones, in units of the extents, are nothing new; outcomes this near to
/// others, in units of the speed before the impact.
pub(super) const KNOWN: f64 = 1e-11;

/// The least unit of an axis: [`KNOWN`] of it is half of the least coordinate of a point. Then a
/// point on a hyperplane is never taken for one beside it.
const THINNEST: f64 = 5e-4;

/// A set in units of the extents of another one.
#[derive(Default)]
struct Extents {
    units: Vec<f64>,
    rows: Vec<f64>,
}

impl Extents {
    /// Measures the points of a set: the weight has unit 1.
    fn measure(&mut self, set: &Generators) {
        self.units.clear();
        for point in set.points() {
            self.units.resize(point.len() + 1, THINNEST);
            for (unit, x) in self.units[1..].iter_mut().zip(point) {
                *unit = unit.max(x.abs()).min(1.0);
            }
        }
        if let Some(unit) = self.units.first_mut() {
            *unit = 1.0;
        }
    }

    /// Rows in these units.
    fn scale(&mut self, set: &Generators) {
        self.rows.clear();
        for row in set.iter() {
            let scaled = row.iter().zip(&self.units).map(|(x, unit)| x / unit);
            self.rows.extend(scaled);
        }
    }
}

impl Generators {
    /// True when every point lies within [`KNOWN`] of its extents, or `tolerance` in place of that,
    /// of the hull of another set without rays. False where the search is to end.
    pub(super) fn is_known_by(&self, other: &Self, tolerance: f64, scratch: &mut Scratch) -> bool {
        let mut extents = Extents::default();
        extents.measure(self);
        extents.scale(other);
        let Extents { units, rows } = extents;
        let mut place = Vec::with_capacity(units.len());
        self.points().all(|point| {
            place.clear();
            let scaled = point.iter().zip(&units[1..]).map(|(x, unit)| x / unit);
            place.extend(scaled);
            let hulls = &mut scratch.hulls;
            hulls.hold(rows.chunks_exact(units.len()), &place, tolerance)
        })
    }

    /// True when every point lies within `tolerance` of the hull of another set without rays. False
    /// where the search is to end.
    pub(super) fn is_within(&self, other: &Self, tolerance: f64, scratch: &mut Scratch) -> bool {
        self.points()
            .all(|point| scratch.hulls.hold(other.iter(), point, tolerance))
    }
}
