//! The scale of the entries of a map of a corner, by which two maps are compared.
//!
//! An entry `(i, j)` of a map is made of jumps of component `i` times time shifts by component `j`.
//! Differences small beside the largest such product are rounding, whatever the units. Where rows
//! or resets are differences, rounding is larger and is measured (`rounding`).

use nalgebra::{DMatrix, DVector};

use crate::linalg::raise;
use crate::ode::greater;

/// Part of an entry, and of its scale, by which equal maps may differ.
const SMALL: f64 = 1e-8;
/// Maps that differ by so many times what is allowed before rounding is measured are different: by
/// a thousandth of their entries.
const CLEAR: f64 = 1e5;

/// The largest jumps, time shifts and entries of the maps of a corner, over the crossings found.
#[derive(Clone, Debug)]
pub(crate) struct Sizes {
    /// Of each component, the largest jump (unit of the state per second).
    jumps: Vec<f64>,
    /// By each component, the largest time shift (s per unit of the state).
    shifts: Vec<f64>,
    /// The largest entries of intermediate maps, column by column. Terms that cancel leave rounding
    /// of this size.
    entries: Vec<f64>,
}

impl Sizes {
    pub(crate) fn new(dim: usize) -> Self {
        Self {
            jumps: vec![0.0; dim],
            shifts: vec![0.0; dim],
            entries: Vec::new(),
        }
    }

    /// Forgets the last corner.
    pub(crate) fn forget(&mut self) {
        self.jumps.fill(0.0);
        self.shifts.fill(0.0);
        self.entries.clear();
    }

    /// Records the jump of a crossing and the time shifts of its guard.
    pub(crate) fn note(&mut self, jump: &[f64], row: &[f64], rate: f64) {
        raise(&mut self.jumps, jump);
        for (most, row) in self.shifts.iter_mut().zip(row) {
            *most = greater((row / rate).abs(), *most);
        }
    }

    /// Records the entries of an intermediate map.
    pub(crate) fn note_entries(&mut self, map: &DMatrix<f64>) {
        if self.entries.is_empty() {
            self.entries.resize(map.len(), 0.0);
        }
        raise(&mut self.entries, map.as_slice());
    }

    /// By how much equal time shifts of a guard along axis `j` may differ (s per unit of the
    /// state).
    pub(crate) fn small_shift(&self, j: usize) -> f64 {
        SMALL * self.shifts[j]
    }
}

/// By how much each entry of equal maps may differ, besides a part of itself.
#[derive(Clone, Debug)]
pub(crate) struct MapScale {
    allowed: DMatrix<f64>,
}

impl MapScale {
    /// The scale for crossings with these sizes, between nodes with these speeds at most;
    /// `rounding` is what was measured of the maps.
    pub(crate) fn of(sizes: &Sizes, speed: &[f64], rounding: Option<&DMatrix<f64>>) -> Self {
        let Sizes {
            jumps,
            shifts,
            entries,
        } = sizes;
        let dim = jumps.len();
        let allowed = DMatrix::from_fn(dim, dim, |i, j| {
            let made = jumps[i] * shifts[j];
            let known = entries.get(j * dim + i).copied().unwrap_or(0.0);
            // Fields that cancel, times shifts.
            let cancelled = 100.0 * f64::EPSILON * speed[i] * shifts[j];
            let measured = rounding.map_or(0.0, |rounding| rounding[(i, j)]);
            SMALL * made.max(known) + cancelled + measured
        });
        Self { allowed }
    }

    /// True when two maps are one.
    pub(crate) fn agree(&self, a: &DMatrix<f64>, b: &DMatrix<f64>) -> bool {
        let mut excess = Excess::new(a.nrows());
        excess.note(a, b);
        excess.is_within(self)
    }

    /// True when two maps are equal on the displacements on which the row `face` vanishes; on all
    /// if the row is zero.
    pub(crate) fn agree_on(&self, face: &DVector<f64>, a: &DMatrix<f64>, b: &DMatrix<f64>) -> bool {
        let difference = a - b;
        let length = face.norm_squared();
        let part = if length > 0.0 { 1.0 / length } else { 0.0 };
        let across = &difference * face * face.transpose() * part;
        // The allowed differences are mixed as the entries are.
        let size = face.abs();
        let mixed = &self.allowed * &size * size.transpose() * part;
        let scale = Self {
            allowed: &self.allowed + mixed,
        };
        scale.agree(&(b + difference - across), b)
    }
}

/// The largest difference of maps that should be equal, beyond a part of their entries, entry by
/// entry. The allowed difference is computed once all crossings are found.
#[derive(Clone, Debug)]
pub(crate) struct Excess {
    most: DMatrix<f64>,
}

impl Excess {
    pub(crate) fn new(dim: usize) -> Self {
        Self {
            most: DMatrix::zeros(dim, dim),
        }
    }

    /// Adds two maps that should be equal.
    pub(crate) fn note(&mut self, a: &DMatrix<f64>, b: &DMatrix<f64>) {
        // As slices: iterators over matrices test at each entry where its column ends.
        let pairs = a.as_slice().iter().zip(b.as_slice());
        for (most, (a, b)) in self.most.as_mut_slice().iter_mut().zip(pairs) {
            let more = (a - b).abs() - SMALL * (a.abs() + b.abs());
            // NaN is kept.
            if more.is_nan() || more > *most {
                *most = more;
            }
        }
    }

    pub(crate) fn is_within(&self, scale: &MapScale) -> bool {
        let allowed = scale.allowed.as_slice();
        let mut pairs = self.most.as_slice().iter().zip(allowed);
        pairs.all(|(most, allowed)| most <= allowed)
    }

    /// True when some entries differ by far more than rounding leaves where nothing is a difference.
    pub(crate) fn is_clear(&self, scale: &MapScale) -> bool {
        let mut pairs = self.most.as_slice().iter().zip(scale.allowed.as_slice());
        pairs.any(|(most, allowed)| *most > CLEAR * allowed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_agree_to_a_part_of_their_entries_and_never_without_numbers() {
        let scale = MapScale {
            allowed: DMatrix::from_element(2, 2, 1e-12),
        };
        let one = DMatrix::from_row_slice(2, 2, &[1e6, 0.0, 1.0, -1.0]);
        let near = |i, by| {
            let mut map = one.clone();
            map[i] += by;
            map
        };
        assert!(scale.agree(&one, &one));
        // The entries stand column by column.
        assert!(scale.agree(&one, &near(0, 1e-3)) && !scale.agree(&one, &near(0, 1e-1)));
        assert!(scale.agree(&one, &near(2, 5e-13)) && !scale.agree(&one, &near(2, 2e-12)));
        let mut excess = Excess::new(2);
        for by in [0.0, f64::NAN, 0.0] {
            excess.note(&one, &near(1, by));
        }
        assert!(!excess.is_within(&scale));
    }

    #[test]
    fn maps_that_differ_across_a_face_only_agree_on_it() {
        let scale = MapScale {
            allowed: DMatrix::from_element(2, 2, 1e-12),
        };
        let one = DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 3.0, 4.0]);
        let face = DVector::from_vec(vec![3.0, -4.0]);
        let jump = DVector::from_vec(vec![0.5, -2.0]);
        let other = &one + &jump * face.transpose();
        assert!(!scale.agree(&one, &other) && scale.agree_on(&face, &one, &other));
        let off = &other + 1e-6 * &jump * DVector::from_vec(vec![4.0, 3.0]).transpose();
        assert!(!scale.agree_on(&face, &one, &off));
        // Without a face all displacements are on it.
        assert!(!scale.agree_on(&DVector::zeros(2), &one, &other));
        assert!(scale.agree_on(&DVector::zeros(2), &one, &one));
    }
}
