//! The loop over indices, on one thread or several. A row depends on its index alone, so that it does
//! not matter which worker makes it, or when.

use std::sync::{Mutex, PoisonError};

/// Limit of the threads of a call.
#[cfg(feature = "parallel")]
pub(crate) const MOST_THREADS: usize = 1024;

/// Consecutive rows by number, flat: `width` numbers each, and the end of each.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Numbered<E> {
    pub(crate) first: u64,
    pub(crate) width: usize,
    pub(crate) values: Vec<f64>,
    pub(crate) ends: Vec<E>,
}

impl<E: Clone> Numbered<E> {
    /// None yet.
    pub(crate) fn new(first: u64, width: usize) -> Self {
        Self {
            first,
            width,
            values: Vec::new(),
            ends: Vec::new(),
        }
    }

    /// The numbers of row `first + k`.
    pub(crate) fn row(&self, k: usize) -> &[f64] {
        &self.values[k * self.width..(k + 1) * self.width]
    }

    /// Appends `count` rows to be filled.
    pub(crate) fn grow(&mut self, count: usize, blank: E) {
        let len = self.ends.len() + count;
        self.values.resize(len * self.width, 0.0);
        self.ends.resize(len, blank);
    }

    /// Forgets all rows but the first `count`.
    pub(crate) fn truncate(&mut self, count: usize) {
        self.values.truncate(count * self.width);
        self.ends.truncate(count);
    }
}

/// The row at which a sweep cannot go on, and the reason. All rows before it are made.
pub(crate) struct Fault<X> {
    pub(crate) index: u64,
    pub(crate) reason: X,
}

/// Workers, one a thread. They keep their memory between calls.
pub(crate) struct Crew<W> {
    workers: Vec<W>,
    #[cfg(feature = "parallel")]
    pool: Option<rayon::ThreadPool>,
}

impl<W: Send> Crew<W> {
    /// With so many threads; 0 is the choice of rayon. Without the feature `parallel` there is one.
    pub(crate) fn new<X>(threads: usize, make: impl Fn() -> Result<W, X>) -> Result<Self, X> {
        #[cfg(feature = "parallel")]
        let (count, pool) = match threads {
            0 => (rayon::current_num_threads().min(MOST_THREADS), None),
            1 => (1, None),
            // Where they cannot be started, those of rayon give the same rows.
            _ => (threads.min(MOST_THREADS), start(threads)),
        };
        #[cfg(not(feature = "parallel"))]
        let count = threads.clamp(1, 1);
        Ok(Self {
            workers: (0..count).map(|_| make()).collect::<Result<_, X>>()?,
            #[cfg(feature = "parallel")]
            pool,
        })
    }

    /// Makes the rows from `known` on, and does `meanwhile` on the calling thread.
    ///
    /// `row` fills the numbers of the row with an index and says how it ended, or why the sweep ends
    /// there. The fault that is returned is the first by index, whatever thread met one first.
    pub(crate) fn fill<E: Send, X: Send>(
        &mut self,
        rows: &mut Numbered<E>,
        known: usize,
        row: impl Fn(&mut W, u64, &mut [f64]) -> Result<E, X> + Sync,
        meanwhile: impl FnOnce(),
    ) -> Option<Fault<X>> {
        let width = rows.width.max(1);
        let (values, ends) = (
            &mut rows.values[known * rows.width..],
            &mut rows.ends[known..],
        );
        // Parts are short, so that threads that are done wait for little, and long beside a lock.
        let part = (ends.len() / (64 * self.workers.len().max(1))).clamp(1, 64);
        let parts = values
            .chunks_mut(part * width)
            .zip(ends.chunks_mut(part))
            .zip((rows.first + known as u64..).step_by(part));
        let queue = Mutex::new(Some(parts));
        let first = Mutex::new(None::<Fault<X>>);
        let work = |worker: &mut W| {
            loop {
                // Parts are taken in rising order and each is finished, unless it has a fault itself:
                // so all rows before the first fault are made.
                let next = lock(&queue).as_mut().and_then(Iterator::next);
                let Some(((values, ends), start)) = next else {
                    return;
                };
                let rows = values.chunks_exact_mut(width).zip(ends);
                // The indices come last: the range is not asked for one past the greatest.
                for ((values, end), index) in rows.zip(start..) {
                    match row(worker, index, values) {
                        Ok(made) => *end = made,
                        Err(reason) => {
                            *lock(&queue) = None;
                            let mut first = lock(&first);
                            if first.as_ref().is_none_or(|first| index < first.index) {
                                *first = Some(Fault { index, reason });
                            }
                            return;
                        }
                    }
                }
            }
        };
        self.on_all(&work, meanwhile);
        first.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(feature = "parallel")]
    fn on_all(&mut self, work: &(impl Fn(&mut W) + Sync), meanwhile: impl FnOnce()) {
        let Self { workers, pool } = self;
        if let [worker] = workers.as_mut_slice() {
            meanwhile();
            return work(worker);
        }
        match pool {
            Some(own) => own.in_place_scope(|scope| {
                spawn(scope, workers, work);
                meanwhile();
            }),
            None => rayon::in_place_scope(|scope| {
                spawn(scope, workers, work);
                meanwhile();
            }),
        }
    }

    #[cfg(not(feature = "parallel"))]
    fn on_all(&mut self, work: &(impl Fn(&mut W) + Sync), meanwhile: impl FnOnce()) {
        meanwhile();
        self.workers.iter_mut().for_each(work);
    }
}

#[cfg(feature = "parallel")]
fn start(threads: usize) -> Option<rayon::ThreadPool> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
    pool.build().ok()
}

#[cfg(feature = "parallel")]
fn spawn<'s, W: Send>(
    scope: &rayon::Scope<'s>,
    workers: &'s mut [W],
    work: &'s (impl Fn(&mut W) + Sync),
) {
    for worker in workers {
        scope.spawn(move |_| work(worker));
    }
}

/// No row is made while the lock is held, so that a panic of one leaves the data whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
