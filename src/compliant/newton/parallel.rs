//! Islands on several threads. Each island has memory of its own, so that no result depends on
//! which thread solved it.

use std::sync::Arc;

use rayon::prelude::*;

use crate::interrupt::Interrupted;

/// Threads that are started when they are first asked for.
#[derive(Clone, Debug, Default)]
pub(in crate::compliant) struct Pool {
    threads: usize,
    /// Clones share the threads.
    pool: Option<Arc<rayon::ThreadPool>>,
}

impl Pool {
    /// Does `work` for all items; one by one for a single thread, or where threads cannot be
    /// started.
    pub(in crate::compliant) fn for_each<T: Send>(
        &mut self,
        threads: usize,
        items: &mut [T],
        work: impl Fn(&mut T) -> Result<(), Interrupted> + Sync + Send,
    ) -> Result<(), Interrupted> {
        if threads > 1 && self.threads != threads {
            self.pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .ok()
                .map(Arc::new);
            self.threads = threads;
        }
        match &self.pool {
            Some(pool) if threads > 1 => pool.install(|| items.par_iter_mut().try_for_each(work)),
            _ => items.iter_mut().try_for_each(work),
        }
    }
}
