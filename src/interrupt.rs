//! `Interrupt`: the way to stop a run or a search from outside.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Stops a run or a search from outside: from a signal handler, another thread, a window that is
/// closed.
///
/// Clones share one flag. Everything that a user can wait for takes an interrupt, looks at it about
/// once per millisecond of work or more often, and ends with the variant `Interrupted` of its
/// error; a run keeps all it computed until then. An interrupt that is never set changes no result.
///
/// ```
/// use saltation::{Integrator, Interrupt, Start, Status, Stop, models::Hopper};
/// let interrupt = Interrupt::new();
/// let mut integrator = Integrator::new(Hopper::default())?.interrupt(&interrupt);
/// interrupt.set(); // elsewhere, at any time
/// let run = integrator.integrate(&Start::at(0.0).x(&[2.0, 0.0]), 1e9)?;
/// assert!(matches!(run.status(), Status::Refused(Stop::Interrupted)));
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Interrupt {
    flag: Arc<AtomicBool>,
}

impl Interrupt {
    /// An interrupt that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks everything that holds a clone of this interrupt to stop.
    pub fn set(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// Lets what starts from now on run again.
    pub fn clear(&self) {
        self.flag.store(false, Ordering::Relaxed);
    }

    /// True from [`set`](Self::set) to [`clear`](Self::clear).
    #[inline]
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed)
    }

    /// [`Interrupted`] when it is set.
    #[inline]
    pub(crate) fn check(&self) -> Result<(), Interrupted> {
        if self.is_set() {
            Err(Interrupted)
        } else {
            Ok(())
        }
    }
}

/// That an interrupt was set. Each room turns it into its own error.
#[derive(Debug)]
pub(crate) struct Interrupted;
