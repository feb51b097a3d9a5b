//! A progress bar on the standard error, where it is a terminal.

use std::io::{self, IsTerminal, Write};

const WIDTH: u64 = 40;

/// One line that is written anew.
pub(crate) struct Bar {
    name: &'static str,
    all: u64,
    is_shown: bool,
}

impl Bar {
    pub(crate) fn new(name: &'static str, all: u64) -> Self {
        let is_shown = io::stderr().is_terminal();
        Self {
            name,
            all: all.max(1),
            is_shown,
        }
    }

    pub(crate) fn show(&mut self, done: u64) {
        if self.is_shown {
            let filled = WIDTH * done.min(self.all) / self.all;
            let bar: String = (0..WIDTH)
                .map(|i| if i < filled { '#' } else { '.' })
                .collect();
            let percent = 100 * done.min(self.all) / self.all;
            let line = format!("\r{:<15}[{bar}] {percent:>3} %", self.name);
            // a bar that cannot be drawn is no reason to stop
            let _ = io::stderr().write_all(line.as_bytes());
        }
    }

    pub(crate) fn clear(&mut self) {
        if self.is_shown {
            let _ = write!(io::stderr(), "\r{:70}\r", "");
        }
    }
}
