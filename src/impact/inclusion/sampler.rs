//! Samples by number, many at a time: any range of numbers, on any number of threads, gives the
//! same list.

use std::ops::{ControlFlow, Range};

use super::samples::{SampleEnd, SampleStatistics, Samples};
use super::simulation::{Ended, InclusionSimulation};
#[cfg(feature = "parallel")]
use crate::ensemble::MOST_THREADS;
use crate::ensemble::{Crew, Numbered};
use crate::impact::{ImpactFailure, ImpactProblem};
use crate::validate;

/// Samples between two reports of progress.
const REPORT: usize = 4096;
/// Limit of the numbers that one call keeps: 2 GiB.
const MOST_NUMBERS: u64 = 1 << 28;

/// Draws outcomes of an impact by number: what a [`Sampler`] runs.
///
/// A sample depends on its number and the settings alone, not on those drawn before it. The
/// simulations of this crate keep that; a sampler relies on it.
pub trait OutcomeSimulation: Send + Sync {
    /// The impact.
    fn problem(&self) -> &ImpactProblem;

    /// Runs one sample: `speeds` get the contact speeds after it, `impulses` the sum of its
    /// impulses (normals first).
    ///
    /// # Errors
    /// Failures of the simulation. [`ImpactFailure::Interrupted`] and [`ImpactFailure::Input`] end
    /// a call of the sampler; with any other the sample counts as failed.
    fn simulate(
        &mut self,
        sample: u64,
        speeds: &mut [f64],
        impulses: &mut [f64],
    ) -> Result<Ended, ImpactFailure>;

    /// Another workspace for the same samples.
    fn another<'a>(&self) -> Box<dyn OutcomeSimulation + 'a>
    where
        Self: 'a;
}

impl OutcomeSimulation for InclusionSimulation<'_> {
    fn problem(&self) -> &ImpactProblem {
        self.problem
    }

    fn simulate(
        &mut self,
        sample: u64,
        speeds: &mut [f64],
        impulses: &mut [f64],
    ) -> Result<Ended, ImpactFailure> {
        Self::simulate(self, sample, speeds, impulses)
    }

    fn another<'a>(&self) -> Box<dyn OutcomeSimulation + 'a>
    where
        Self: 'a,
    {
        Box::new(self.clone())
    }
}

type Workspace<'p> = Box<dyn OutcomeSimulation + 'p>;

/// Runs a simulation over ranges of sample numbers.
///
/// ```
/// use saltation::impact::{EventExact, ImpactProblem, Sampler};
/// use saltation::nalgebra::{DMatrix, DVector};
/// let delassus = DMatrix::from_fn(4, 4, |i, j| if i == j { 1.0 } else { 0.2 });
/// let speeds = DVector::from_vec(vec![-1.0, -1.0, 0.3, 0.0]);
/// let problem = ImpactProblem::with_tangents(delassus, speeds, &[0.5; 2])?;
/// let sampler = Sampler::new(EventExact::new(1.0).start(&problem)?);
/// let samples = sampler.sample(0..100)?;
/// // Any split of the range gives the same samples.
/// let later = sampler.sample(60..100)?;
/// assert_eq!(samples.speeds(60), later.speeds(0));
/// let finished = (0..samples.len()).filter(|&k| samples.end(k).is_finished());
/// assert!(finished.count() > 90);
/// # Ok::<(), saltation::Error>(())
/// ```
pub struct Sampler<'p> {
    simulation: Workspace<'p>,
    #[cfg(feature = "parallel")]
    threads: usize,
}

impl std::fmt::Debug for Sampler<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sampler").finish_non_exhaustive()
    }
}

impl<'p> Sampler<'p> {
    /// Of a simulation.
    pub fn new(simulation: impl OutcomeSimulation + 'p) -> Self {
        Self {
            simulation: Box::new(simulation),
            #[cfg(feature = "parallel")]
            threads: 0,
        }
    }

    /// Number of threads, at most 1024; default 0, the choice of rayon. Each call of the sampler
    /// starts its own. With the feature `parallel`.
    #[cfg(feature = "parallel")]
    #[must_use]
    pub const fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// The samples of a range of numbers.
    ///
    /// ```
    /// use saltation::impact::{EventExact, ImpactFailure, Sampler};
    /// use saltation::models::RockingBlock;
    /// let impact = RockingBlock::default().impact()?;
    /// let of = |bound| Sampler::new(EventExact::new(bound).start(&impact)?).sample(0..100);
    /// assert!(of(0.3)?.finished().count() > 90);
    /// // Legs of a millionth of the momentum: no sample says anything of the set.
    /// assert!(matches!(of(1e-6), Err(ImpactFailure::NoSampleFinished { unfinished: 100, .. })));
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ImpactFailure::NoSampleFinished`] where there are samples and not one of them finished:
    /// [`sample_with`](Self::sample_with) returns them. [`ImpactFailure::Interrupted`];
    /// [`InputError::BadSetting`](crate::InputError::BadSetting) for a range so long that its
    /// samples take more than 2 GiB, and for more than 1024 threads.
    pub fn sample(&self, numbers: Range<u64>) -> Result<Samples, ImpactFailure> {
        let mut statistics = SampleStatistics::new(0, f64::INFINITY)?;
        let samples = self.sample_with(numbers, &mut statistics, |_| ControlFlow::Continue(()))?;
        samples.check()?;
        Ok(samples)
    }

    /// The samples of a range of numbers; after each 4096 samples the statistics are brought up to
    /// date and `progress` sees them, and may end the call: then the samples so far are returned.
    ///
    /// # Errors
    /// As [`sample`](Self::sample), except [`ImpactFailure::NoSampleFinished`], and
    /// [`InputError::WrongLength`](crate::InputError::WrongLength) for statistics of another number
    /// of rows (0 rows take none).
    pub fn sample_with(
        &self,
        numbers: Range<u64>,
        statistics: &mut SampleStatistics,
        mut progress: impl FnMut(&SampleStatistics) -> ControlFlow<()>,
    ) -> Result<Samples, ImpactFailure> {
        let rows = self.simulation.problem().speeds().len();
        if statistics.rows() != 0 {
            validate::length("rows of the statistics", rows, statistics.rows())?;
        }
        let count = numbers.end.saturating_sub(numbers.start);
        let rule = "the samples of one call take more than 2 GiB: split the range";
        let kept = count.saturating_mul(2 * rows as u64) <= MOST_NUMBERS;
        validate::unless(kept, "samples", count as f64, rule)?;
        let threads = self.count_threads()?;
        let mut samples = Samples(Numbered::new(numbers.start, 2 * rows));
        let mut crew = Crew::new(threads, || {
            Ok::<_, ImpactFailure>(self.simulation.another())
        })?;
        let mut next = numbers.start;
        while next < numbers.end {
            let left = usize::try_from(numbers.end - next)
                .unwrap_or(REPORT)
                .min(REPORT);
            let known = samples.len();
            samples.0.grow(left, SampleEnd::Failed);
            let sample = |simulation: &mut Workspace<'_>, number, row: &mut [f64]| {
                let (speeds, impulses) = row.split_at_mut(rows);
                end_of(simulation.simulate(number, speeds, impulses))
            };
            if let Some(fault) = crew.fill(&mut samples.0, known, sample, || ()) {
                return Err(fault.reason);
            }
            next += left as u64;
            if statistics.rows() != 0 {
                statistics.add(&samples, known);
            }
            if progress(statistics).is_break() {
                break;
            }
        }
        Ok(samples)
    }

    /// The number of threads of a call.
    #[cfg(feature = "parallel")]
    fn count_threads(&self) -> Result<usize, ImpactFailure> {
        let kept = self.threads <= MOST_THREADS;
        let rule = "must be at most 1024";
        validate::unless(kept, "threads", self.threads as f64, rule)?;
        Ok(self.threads)
    }

    #[cfg(not(feature = "parallel"))]
    #[expect(clippy::unused_self, reason = "threads belong to the sampler")]
    #[expect(clippy::unnecessary_wraps, reason = "as with threads")]
    const fn count_threads(&self) -> Result<usize, ImpactFailure> {
        Ok(1)
    }
}

/// The end of a sample, or the failure that ends the call.
fn end_of(ended: Result<Ended, ImpactFailure>) -> Result<SampleEnd, ImpactFailure> {
    match ended {
        Ok(ended) => {
            let steps = u32::try_from(ended.steps).unwrap_or(u32::MAX);
            Ok(if ended.finished {
                SampleEnd::Finished { steps }
            } else {
                SampleEnd::Unfinished { steps }
            })
        }
        Err(error @ (ImpactFailure::Interrupted | ImpactFailure::Input(_))) => Err(error),
        Err(_) => Ok(SampleEnd::Failed),
    }
}
