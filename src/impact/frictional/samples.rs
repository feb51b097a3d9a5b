//! A list of samples: flat, in the order of their numbers.

use crate::impact::ImpactFailure;

/// Outcomes in the order of their numbers, in flat arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct Samples {
    pub(super) first: u64,
    pub(super) rows: usize,
    pub(super) speeds: Vec<f64>,
    pub(super) impulses: Vec<f64>,
    pub(super) ends: Vec<SampleEnd>,
}

/// How a sample of a list ended.
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
        self.first
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Contact speeds after sample number `first() + k` (m/s).
    ///
    /// # Panics
    /// When `k` is not below [`len`](Self::len), as indices of a slice.
    pub fn speeds(&self, k: usize) -> &[f64] {
        &self.speeds[k * self.rows..(k + 1) * self.rows]
    }

    /// Its impulses (N s), normals first.
    ///
    /// # Panics
    /// When `k` is not below [`len`](Self::len), as indices of a slice.
    pub fn impulses(&self, k: usize) -> &[f64] {
        &self.impulses[k * self.rows..(k + 1) * self.rows]
    }

    /// How it ended.
    ///
    /// # Panics
    /// When `k` is not below [`len`](Self::len), as indices of a slice.
    pub fn end(&self, k: usize) -> SampleEnd {
        self.ends[k]
    }

    /// The contact speeds after each finished sample.
    pub fn finished(&self) -> impl Iterator<Item = &[f64]> {
        (0..self.len())
            .filter(|&k| self.end(k).is_finished())
            .map(|k| self.speeds(k))
    }

    /// Refuses samples of which none finished: no outcome found is not no outcome.
    pub(super) fn check(&self) -> Result<(), ImpactFailure> {
        if self.is_empty() || self.ends.iter().any(|end| end.is_finished()) {
            return Ok(());
        }
        let failed = self.ends.iter().filter(|&&end| end == SampleEnd::Failed);
        let (samples, failed) = (self.len(), failed.count());
        Err(ImpactFailure::NoSampleFinished {
            samples,
            unfinished: samples - failed,
            failed,
        })
    }
}
