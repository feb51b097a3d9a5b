//! Memory of a model that is shared by reference.

use std::sync::{Mutex, TryLockError};

/// What was computed last. Models are shared by reference, so it stands behind a lock. While another
/// thread holds that, a call computes its own, to the same bits: threads that share a model do better
/// with a clone each. A clone begins without.
#[derive(Debug, Default)]
pub(crate) struct Kept<T>(Mutex<T>);

impl<T: Default> Clone for Kept<T> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl<T: Default> Kept<T> {
    /// Runs `work` on it.
    pub(crate) fn with<R>(&self, work: impl FnOnce(&mut T) -> R) -> R {
        match self.0.try_lock() {
            Ok(mut last) => work(&mut last),
            Err(TryLockError::Poisoned(last)) => {
                // A system panicked while this was filled.
                let mut last = last.into_inner();
                *last = T::default();
                work(&mut last)
            }
            Err(TryLockError::WouldBlock) => work(&mut T::default()),
        }
    }
}
