//! `Ensemble`: a draw, a run, and what is kept of it, for any range of indices.

use std::error::Error;
use std::fmt;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

use super::EnsembleFailure;
use super::draw::{Draw, Drawn};
use super::failure::check_range;
use super::provenance::Provenance;
use super::rows::{RowEnd, Rows, is_interrupted};
use super::sweep::Crew;
use crate::{Interrupt, Status, validate};

/// Any error, as the runs of an ensemble return it: `?` makes it of every error of this crate and of
/// others.
pub type RunError = Box<dyn Error + Send + Sync>;

/// Limit of the rows between two calls of the sink.
const MOST_ROWS: usize = 1 << 20;

/// Many runs, each a row of a table that depends on its index alone. See [`ensemble`](super).
#[derive(Clone)]
#[must_use]
pub struct Ensemble<D = (), M = (), F = ()> {
    settings: Settings,
    draw: D,
    driver: M,
    run: F,
}

#[derive(Clone)]
struct Settings {
    provenance: Provenance,
    /// How many columns are drawn; the others are kept.
    drawn: usize,
    #[cfg(feature = "parallel")]
    threads: usize,
    block: usize,
    max_memory: usize,
    interrupt: Interrupt,
}

impl Settings {
    fn add_columns(&mut self, names: &[&str]) {
        let names = names.iter().map(|&name| name.to_owned());
        self.provenance.columns.extend(names);
    }
}

impl<D, M, F> fmt::Debug for Ensemble<D, M, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ensemble")
            .field("provenance", &self.settings.provenance)
            .finish_non_exhaustive()
    }
}

impl Ensemble {
    /// With a seed. Say what is [drawn](Self::draw), then what is [run](Self::run).
    pub fn new(seed: u64) -> Self {
        let settings = Settings {
            provenance: Provenance::new(seed),
            drawn: 0,
            #[cfg(feature = "parallel")]
            threads: 0,
            block: 1024,
            max_memory: 1 << 30,
            interrupt: Interrupt::new(),
        };
        let (draw, driver, run) = ((), (), ());
        Self {
            settings,
            draw,
            driver,
            run,
        }
    }

    /// The start and the parameters of a row, by name: a function of nothing but the [`Draw`]. It gives
    /// as many numbers as there are names, all finite.
    pub fn draw<D, X>(mut self, names: &[&str], draw: D) -> Ensemble<D>
    where
        D: Fn(&mut Draw) -> X + Sync,
        X: AsRef<[f64]>,
    {
        self.settings.add_columns(names);
        self.settings.drawn = names.len();
        let (settings, driver, run) = (self.settings, (), ());
        Ensemble {
            settings,
            draw,
            driver,
            run,
        }
    }
}

impl<D> Ensemble<D> {
    /// The runs: `driver` makes a driver, a sampler or nothing for each thread; `run` is given it and
    /// what was drawn, and fills what is kept, by name. It returns the status of the run; what has none,
    /// as a sampler, [`Status::ReachedEnd`].
    ///
    /// A row must depend on nothing but what was drawn and its index: not on the rows before it. The
    /// drivers of this crate keep that. What is left unwritten is NaN. An error is no end of the
    /// ensemble, but the [end of the row](RowEnd::Failed).
    pub fn run<M, W, F>(mut self, names: &[&str], driver: M, run: F) -> Ensemble<D, M, F>
    where
        M: Fn() -> Result<W, RunError>,
        F: Fn(&mut W, &Drawn<'_>, &mut [f64]) -> Result<Status, RunError> + Sync,
    {
        self.settings.add_columns(names);
        let (settings, draw) = (self.settings, self.draw);
        Ensemble {
            settings,
            draw,
            driver,
            run,
        }
    }
}

impl<D, M, F> Ensemble<D, M, F> {
    /// The model and its options in one line, for the tables: parts with other words are parts of
    /// another ensemble. Breaks and spaces between words count as one space. **What changes rows belongs
    /// into it**: the functions have no hash. Default: nothing.
    pub fn about(mut self, model: impl fmt::Display) -> Self {
        let words = model.to_string();
        self.settings.provenance.model = words.split_whitespace().collect::<Vec<_>>().join(" ");
        self
    }

    /// Number of threads, at most 1024; default 0, the choice of rayon. With the feature `parallel`.
    #[cfg(feature = "parallel")]
    pub fn threads(mut self, threads: usize) -> Self {
        self.settings.threads = threads;
        self
    }

    /// Rows between two calls of the sink, 1 to 2²⁰; default 1024. Threads wait for each other at the end of
    /// a block, so that short ones cost time; fewer rows report sooner where runs take seconds.
    pub fn block(mut self, rows: usize) -> Self {
        self.settings.block = rows;
        self
    }

    /// Limit of the memory of the rows that are kept at a time (bytes, reasons of failures apart).
    /// Default 2³⁰, a gibibyte.
    pub fn max_memory(mut self, bytes: usize) -> Self {
        self.settings.max_memory = bytes;
        self
    }

    /// Ends the ensemble when it is set. Give it to the drivers too: then runs that are under way end
    /// as well, and their rows are dropped.
    pub fn interrupt(mut self, interrupt: &Interrupt) -> Self {
        self.settings.interrupt = interrupt.clone();
        self
    }

    /// Where the rows come from.
    pub fn provenance(&self) -> &Provenance {
        &self.settings.provenance
    }
}

impl<D, X, M, W, F> Ensemble<D, M, F>
where
    D: Fn(&mut Draw) -> X + Sync,
    X: AsRef<[f64]>,
    M: Fn() -> Result<W, RunError> + Sync,
    W: Send,
    F: Fn(&mut W, &Drawn<'_>, &mut [f64]) -> Result<Status, RunError> + Sync,
{
    /// The rows of a range, all in memory. Any split of the range gives the same rows, bit by bit, on
    /// any number of threads and processes of the same binary and libm.
    ///
    /// # Errors
    /// As [`stream`](Self::stream); [`EnsembleFailure::TooLarge`] for more than
    /// [`max_memory`](Self::max_memory).
    pub fn rows(&self, range: Range<u64>) -> Result<Rows, EnsembleFailure> {
        check_range(&range)?;
        self.check_memory(&range)?;
        let mut all = Rows::new(range.start, self.settings.provenance.columns.clone().into());
        self.stream(range, |rows| {
            all.append(rows);
            Ok(())
        })?;
        Ok(all)
    }

    /// Makes the rows of a range and hands them over in the order of their indices, some at a time:
    /// to a table, to statistics, to a bar of progress. Memory does not depend on the range.
    ///
    /// The sink is called on this thread, while others make the next rows. When the ensemble ends early,
    /// the rows before that were all handed over.
    ///
    /// # Errors
    /// [`EnsembleFailure::EmptyRange`], also for a reversed one; [`EnsembleFailure::BadColumn`];
    /// [`EnsembleFailure::NoDriver`]; [`EnsembleFailure::Draw`] of the first row whose draw makes no sense;
    /// [`EnsembleFailure::Interrupted`]; [`InputError::BadSetting`](crate::InputError::BadSetting); errors of the
    /// sink.
    ///
    /// A panic of a draw or of a run passes through.
    pub fn stream(
        &self,
        range: Range<u64>,
        mut sink: impl FnMut(&Rows) -> Result<(), EnsembleFailure>,
    ) -> Result<(), EnsembleFailure> {
        check_range(&range)?;
        self.settings.provenance.check()?;
        let rule = "must lie between 1 and 1048576";
        let kept = (1..=MOST_ROWS).contains(&self.settings.block);
        validate::unless(kept, "block", self.settings.block as f64, rule)?;
        let mut next = range.start;
        let length = |next: u64| (range.end - next).min(self.settings.block as u64);
        self.check_memory(&(next..next + length(next)))?;
        let mut crew = Crew::new(self.count_threads()?, || {
            (self.driver)().map_err(|error| EnsembleFailure::NoDriver {
                reason: error.to_string(),
            })
        })?;

        let columns: Arc<[String]> = self.settings.provenance.columns.clone().into();
        let mut making = Rows::new(next, Arc::clone(&columns));
        let mut made = Rows::new(next, columns);
        while next < range.end {
            let count = length(next);
            making.restart(next, usize::try_from(count).unwrap_or(self.settings.block));
            // Rows are handed over while the next ones are made.
            let mut told = Ok(());
            let hand_over = || {
                if !made.is_empty() {
                    told = sink(&made);
                }
            };
            let fault = crew.fill(
                &mut making.numbered,
                0,
                |driver: &mut W, index, row: &mut [f64]| self.make_row(driver, index, row),
                hand_over,
            );
            told?;
            mem::swap(&mut made, &mut making);
            if let Some(fault) = fault {
                let whole = usize::try_from(fault.index - next).unwrap_or(0);
                made.numbered.truncate(whole);
                if whole > 0 {
                    sink(&made)?;
                }
                return Err(fault.reason);
            }
            next += count;
        }
        sink(&made)
    }

    /// Start and parameters of a row, to look at one or to run it again.
    ///
    /// # Errors
    /// [`EnsembleFailure::Draw`].
    pub fn drawn(&self, index: u64) -> Result<Vec<f64>, EnsembleFailure> {
        let mut drawn = vec![0.0; self.settings.drawn];
        self.draw_row(index, &mut drawn)?;
        Ok(drawn)
    }

    fn draw_row(&self, index: u64, to: &mut [f64]) -> Result<(), EnsembleFailure> {
        let drawn = (self.draw)(&mut Draw::new(self.settings.provenance.seed, index));
        let drawn = drawn.as_ref();
        validate::length("the draw", to.len(), drawn.len())
            .and_then(|()| validate::finite("the draw", drawn))
            .map_err(|reason| EnsembleFailure::Draw { index, reason })?;
        to.copy_from_slice(drawn);
        Ok(())
    }

    fn make_row(
        &self,
        driver: &mut W,
        index: u64,
        row: &mut [f64],
    ) -> Result<RowEnd, EnsembleFailure> {
        self.settings.interrupt.check()?;
        let (drawn, kept) = row.split_at_mut(self.settings.drawn);
        self.draw_row(index, drawn)?;
        let values = &*drawn;
        kept.fill(f64::NAN);
        let ended = (self.run)(driver, &Drawn { index, values }, kept);
        // A run that might have seen the interrupt is not what its index says.
        self.settings.interrupt.check()?;
        match ended {
            Ok(status) if is_interrupted(&status) => Err(EnsembleFailure::Interrupted),
            Ok(status) => Ok(RowEnd::of(&status)),
            Err(error) => {
                kept.fill(f64::NAN);
                Ok(RowEnd::failed(&error))
            }
        }
    }

    fn check_memory(&self, range: &Range<u64>) -> Result<(), EnsembleFailure> {
        let &Range { start, end } = range;
        let bytes = Rows::bytes(end - start, self.settings.provenance.columns.len());
        let limit = self.settings.max_memory;
        if bytes <= limit as u64 {
            return Ok(());
        }
        Err(EnsembleFailure::TooLarge {
            start,
            end,
            bytes,
            limit,
        })
    }

    #[cfg(feature = "parallel")]
    fn count_threads(&self) -> Result<usize, EnsembleFailure> {
        let kept = self.settings.threads <= super::MOST_THREADS;
        let rule = "must be at most 1024";
        validate::unless(kept, "threads", self.settings.threads as f64, rule)?;
        Ok(self.settings.threads)
    }

    #[cfg(not(feature = "parallel"))]
    #[expect(clippy::unused_self, reason = "threads belong to the ensemble")]
    #[expect(clippy::unnecessary_wraps, reason = "as with threads")]
    const fn count_threads(&self) -> Result<usize, EnsembleFailure> {
        Ok(1)
    }
}
