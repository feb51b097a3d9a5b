//! What is watched while a case runs: what it computed, and what is wrong with it.

use std::fmt::{self, Debug, Display, Write};

/// One run of one case.
#[derive(Debug)]
pub struct Trial {
    /// All that was noted, bit for bit.
    digest: u64,
    /// What is wrong.
    pub findings: Vec<String>,
    /// The case is run for the second time: where history does not matter, with objects that have
    /// been used.
    pub is_second: bool,
    /// What is noted is printed.
    trace: bool,
}

impl Write for Trial {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.digest = (self.digest ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
        Ok(())
    }
}

impl Trial {
    pub fn new(is_second: bool, trace: bool) -> Self {
        Self {
            digest: 0xcbf2_9ce4_8422_2325,
            findings: Vec::new(),
            is_second,
            trace,
        }
    }

    /// What the case computed, as one number.
    pub fn digest(&self) -> u64 {
        self.digest
    }

    /// Takes down a value: both runs of a case must come to the same ones.
    pub fn note(&mut self, what: &str, value: &(impl Debug + ?Sized)) {
        if self.trace {
            let text = format!("{value:?}");
            let short: String = text.chars().take(4000).collect();
            println!("    {what} = {short}");
        }
        // a hash takes every text
        let _ = write!(self, "{what}{value:?}");
    }

    /// Takes down a result, the message of its error included.
    pub fn result<T: Debug, E: Debug + Display>(
        &mut self,
        what: &str,
        result: Result<T, E>,
    ) -> Option<T> {
        match result {
            Ok(value) => {
                self.note(what, &value);
                Some(value)
            }
            Err(error) => {
                self.refused(what, &error);
                None
            }
        }
    }

    /// Takes down a result whose value has numbers that must be finite.
    pub fn numbers<T: Debug + AsRef<[f64]>, E: Debug + Display>(
        &mut self,
        what: &str,
        result: Result<T, E>,
    ) -> Option<T> {
        let value = self.result(what, result)?;
        self.finite(what, value.as_ref());
        Some(value)
    }

    /// What a result holds, its value not noted.
    pub fn door<T, E: Debug + Display>(&mut self, what: &str, result: Result<T, E>) -> Option<T> {
        result.map_err(|error| self.refused(what, &error)).ok()
    }

    pub fn refused(&mut self, what: &str, error: &(impl Debug + Display)) {
        self.note(what, error);
        self.say(error);
    }

    /// Takes down what a value says in words.
    pub fn say(&mut self, value: &impl Display) {
        let _ = write!(self, "{value}");
    }

    /// A finding unless all numbers are finite.
    pub fn finite(&mut self, what: &str, values: &[f64]) {
        if let Some(entry) = values.iter().position(|v| !v.is_finite()) {
            let value = values[entry];
            self.findings
                .push(format!("{what}: entry {entry} is {value} without a reason"));
        }
    }

    /// A finding unless `kept`.
    pub fn expect(&mut self, kept: bool, what: impl FnOnce() -> String) {
        if !kept {
            self.findings.push(what());
        }
    }
}
