//! A list of samples, flat, in the order of their numbers, and its statistics while it grows: how they
//! end, how far they reach, and how much of contact space they cover.

use std::collections::HashSet;

use crate::ensemble::Numbered;
use crate::impact::ImpactFailure;
use crate::validate;

/// Outcomes in the order of their numbers, in a flat array: the speeds of each, then its impulses.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples(pub(super) Numbered<SampleEnd>);

/// The end of a sample of a list.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SampleEnd {
    /// No contact approaches.
    Finished {
        /// Steps made.
        steps: u32,
    },
    /// It still approaches after the last step: to be left out of an estimate of the set.
    Unfinished {
        /// Steps made.
        steps: u32,
    },
    /// A step was not solved: to be left out.
    Failed,
}

impl SampleEnd {
    /// True for a sample of the set of outcomes.
    pub const fn is_finished(self) -> bool {
        matches!(self, Self::Finished { .. })
    }
}

impl Samples {
    /// The number of the first sample.
    pub const fn first(&self) -> u64 {
        self.0.first
    }

    /// The number of samples.
    pub fn len(&self) -> usize {
        self.0.ends.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.0.ends.is_empty()
    }

    /// Contact speeds after sample number `first() + k` (m/s).
    ///
    /// # Panics
    /// When `k` is not below [`len`](Self::len), as indices of a slice.
    pub fn speeds(&self, k: usize) -> &[f64] {
        &self.0.row(k)[..self.0.width / 2]
    }

    /// Its impulses (N s), normals first.
    ///
    /// # Panics
    /// When `k` is not below [`len`](Self::len), as indices of a slice.
    pub fn impulses(&self, k: usize) -> &[f64] {
        &self.0.row(k)[self.0.width / 2..]
    }

    /// The end of sample `k`.
    ///
    /// # Panics
    /// When `k` is not below [`len`](Self::len), as indices of a slice.
    pub fn end(&self, k: usize) -> SampleEnd {
        self.0.ends[k]
    }

    /// The contact speeds after each finished sample.
    pub fn finished(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.len())
            .filter(|&k| self.end(k).is_finished())
            .map(|k| self.speeds(k))
    }

    /// Refuses samples of which none finished: no outcome found is not no outcome.
    pub(super) fn check(&self) -> Result<(), ImpactFailure> {
        if self.is_empty() || self.0.ends.iter().any(|end| end.is_finished()) {
            return Ok(());
        }
        let failed = self.0.ends.iter().filter(|&&end| end == SampleEnd::Failed);
        let (samples, failed) = (self.len(), failed.count());
        Err(ImpactFailure::NoSampleFinished {
            samples,
            unfinished: samples - failed,
            failed,
        })
    }
}

/// Limits of the cubes that are counted, and of the coordinates of all of them: 128 MiB.
const MOST_CELLS: usize = 1 << 20;
const MOST_COORDINATES: usize = 1 << 24;
/// Limit of the rows: the directions of the reach then take 32 MB.
const MOST_ROWS: usize = 1000;

/// Running statistics of samples.
///
/// The reach is that of the finished samples along the axes and along the diagonals of two axes, in
/// both senses: 2 n² directions for n rows. The coverage is the number of cubes of contact space
/// with a finished sample. A list has covered the set, as far as cubes of this side show, when the
/// number no longer grows.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleStatistics {
    rows: usize,
    cell: f64,
    finished: u64,
    unfinished: u64,
    failed: u64,
    steps: u64,
    /// The support value and the sample number by direction.
    reach: Vec<(f64, u64)>,
    cells: HashSet<Box<[i64]>>,
}

impl SampleStatistics {
    /// For samples with so many rows, at most 1000; coverage by cubes of side `cell` (m/s).
    ///
    /// For n rows at most 2²⁰ cubes are counted, and at most 2²⁴/n: the cubes take at most 256 MiB,
    /// and the reach takes 32 n² bytes.
    ///
    /// # Errors
    /// [`InputError::BadSetting`](crate::InputError::BadSetting) for more rows, and unless
    /// `cell > 0`; infinite is one cube.
    pub fn new(rows: usize, cell: f64) -> Result<Self, ImpactFailure> {
        validate::unless(cell > 0.0, "cell", cell, "must be > 0")?;
        let kept = rows <= MOST_ROWS;
        validate::unless(kept, "rows", rows as f64, "must be at most 1000")?;
        Ok(Self {
            rows,
            cell,
            finished: 0,
            unfinished: 0,
            failed: 0,
            steps: 0,
            reach: vec![(f64::NEG_INFINITY, 0); 2 * rows * rows],
            cells: HashSet::new(),
        })
    }

    pub(super) const fn rows(&self) -> usize {
        self.rows
    }

    /// Samples that ended.
    pub const fn finished(&self) -> u64 {
        self.finished
    }

    /// Samples that still approach after the last step.
    pub const fn unfinished(&self) -> u64 {
        self.unfinished
    }

    /// Samples of which a step was not solved.
    pub const fn failed(&self) -> u64 {
        self.failed
    }

    /// Mean number of steps of the samples that did not fail; NaN without any.
    pub fn mean_steps(&self) -> f64 {
        self.steps as f64 / (self.finished + self.unfinished) as f64
    }

    /// Cubes with a sample, up to the cap of [`new`](Self::new).
    pub fn cells(&self) -> usize {
        self.cells.len()
    }

    /// The least and the greatest value of contact speed `row`; none without a finished sample.
    pub fn bounds(&self, row: usize) -> Option<(f64, f64)> {
        if row >= self.rows || self.finished == 0 {
            return None;
        }
        Some((-self.reach[2 * row + 1].0, self.reach[2 * row].0))
    }

    /// Numbers of the samples that reach farthest in some direction, in rising order: corners of
    /// the hull of all.
    pub fn corners(&self) -> Vec<u64> {
        if self.finished == 0 {
            return Vec::new();
        }
        let mut corners: Vec<u64> = self.reach.iter().map(|reach| reach.1).collect();
        corners.sort_unstable();
        corners.dedup();
        corners
    }

    /// Adds the samples of a list from index `start` on.
    pub(super) fn add(&mut self, samples: &Samples, start: usize) {
        let mut place = vec![0; self.rows].into_boxed_slice();
        for k in start..samples.len() {
            match samples.end(k) {
                SampleEnd::Finished { steps } => {
                    self.steps += u64::from(steps);
                    self.finished += 1;
                    self.add_point(samples.speeds(k), samples.first() + k as u64, &mut place);
                }
                SampleEnd::Unfinished { steps } => {
                    self.steps += u64::from(steps);
                    self.unfinished += 1;
                }
                SampleEnd::Failed => self.failed += 1,
            }
        }
    }

    fn add_point(&mut self, u: &[f64], number: u64, place: &mut Box<[i64]>) {
        let mut reach = self.reach.iter_mut();
        let mut see = |value: f64| {
            for value in [value, -value] {
                if let Some(reach) = reach.next()
                    && value > reach.0
                {
                    *reach = (value, number);
                }
            }
        };
        for &a in u {
            see(a);
        }
        for (i, a) in u.iter().enumerate() {
            for b in &u[..i] {
                see(a + b);
                see(a - b);
            }
        }
        self.add_cell(u, place);
    }

    fn add_cell(&mut self, u: &[f64], place: &mut Box<[i64]>) {
        for (place, u) in place.iter_mut().zip(u) {
            #[expect(clippy::cast_possible_truncation, reason = "saturates")]
            let cell = (u / self.cell).floor() as i64;
            *place = cell;
        }
        let most = MOST_CELLS.min(MOST_COORDINATES / self.rows.max(1));
        if self.cells.len() < most && !self.cells.contains(&*place) {
            self.cells.insert(place.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_of_cubes_is_capped() {
        let rows = 1000;
        let count = MOST_COORDINATES / rows + 100;
        let mut samples = Samples(Numbered::new(0, 2 * rows));
        samples.0.grow(1, SampleEnd::Finished { steps: 1 });
        let mut statistics = SampleStatistics::new(rows, 1.0).unwrap();
        let mut place = vec![0; rows].into_boxed_slice();
        for k in 0..count {
            samples.0.values[0] = 0.5 + k as f64;
            let point = samples.speeds(0);
            statistics.add_cell(point, &mut place);
        }
        assert_eq!(statistics.cells(), MOST_COORDINATES / rows);
        statistics.add(&samples, 0);
        assert_eq!(statistics.finished(), 1);
    }
}
