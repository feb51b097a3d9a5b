//! How far a long run is, for people who wait at a terminal.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

/// Nothing is shown of runs that take less.
const PATIENCE: Duration = Duration::from_secs(2);
/// Between two updates.
const PAUSE: Duration = Duration::from_millis(200);
const WIDTH: usize = 40;

/// A bar on the standard error.
pub(crate) struct Progress {
    label: String,
    /// Nothing is shown before this.
    next: Instant,
    shown: bool,
    terminal: bool,
}

impl Progress {
    pub(crate) fn new(label: String) -> Self {
        Self {
            label,
            next: Instant::now() + PATIENCE,
            shown: false,
            terminal: stderr().is_terminal(),
        }
    }

    /// Shows that a share, 0 to 1, is done.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of 1"
    )]
    pub(crate) fn show(&mut self, share: f64) {
        if !self.terminal || Instant::now() < self.next {
            return;
        }
        self.next = Instant::now() + PAUSE;
        self.shown = true;
        let done = ((share * WIDTH as f64) as usize).min(WIDTH);
        let (full, rest) = ("#".repeat(done), ".".repeat(WIDTH - done));
        // what a bar cannot say is no failure of the run
        let _ = write!(
            stderr(),
            "\r[{full}{rest}] {:3.0} %  {} ",
            100.0 * share,
            self.label
        );
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.shown {
            let _ = write!(stderr(), "\r{:width$}\r", "", width = WIDTH + 80);
        }
    }
}
