//! Options that drivers share: limits with their setters, and values for each entry.

use crate::{InputError, Interrupt, validate};

/// Limits of a run, the same for all drivers.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// Bytes that a kept run may take, nearly.
    pub(crate) max_memory: usize,
    /// Guards crossed, or events of contacts.
    pub(crate) max_events: usize,
    /// Steps, accepted or not.
    pub(crate) max_steps: usize,
    /// Ends the run when it is set.
    pub(crate) interrupt: Interrupt,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_memory: 1 << 30,
            max_events: 100_000,
            max_steps: 10_000_000,
            interrupt: Interrupt::new(),
        }
    }
}

impl Limits {
    /// So many steps of one length; refuses more than the limit, by the name and the value of the
    /// setting that gives them.
    pub(crate) fn check_steps(
        &self,
        name: &'static str,
        step: f64,
        count: f64,
    ) -> Result<usize, InputError> {
        let rule = "must give at most max_steps steps";
        validate::unless(count <= self.max_steps as f64, name, step, rule)?;
        Ok(whole(count))
    }
}

/// The number of steps of one length from `t0` to `tf`: one that ends within rounding of the end is
/// the last one.
pub(crate) fn step_count(t0: f64, tf: f64, step: f64) -> f64 {
    let least = f64::from(u8::from(tf > t0));
    ((tf - t0 - slack(t0, tf, step)) / step).ceil().max(least)
}

/// Distance to the end within which a step of one length ends there (s).
pub(crate) fn slack(t0: f64, tf: f64, step: f64) -> f64 {
    let rounding = 4.0 * f64::EPSILON * t0.abs().max(tf.abs());
    (1e-9 * step).max(rounding.min(1e-6 * step))
}

/// The number of whole steps of one length from `t0` to `t`, up to rounding.
pub(crate) fn whole_steps(t0: f64, t: f64, step: f64) -> usize {
    whole(((t - t0 + slack(t0, t, step)) / step).floor())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a cast of a number beyond the range is its end"
)]
fn whole(count: f64) -> usize {
    count.max(0.0) as usize
}

/// The setters of [`Limits`] of a driver, which has them at a place.
macro_rules! limits {
    ($($place:ident).+) => {
        /// Limit of the memory of a kept run (bytes, nearly); beyond it the run ends with
        /// [`Stop::RunTooLarge`](crate::Stop::RunTooLarge). Default 2³⁰, a gibibyte.
        /// A node of an adaptive driver takes two states and a half and about 60 bytes, one of a
        /// driver in steps of one length a state and eight bytes; an event some more. A derivative may
        /// take as much again. Runs that are only observed keep nothing.
        #[must_use]
        pub fn max_memory(mut self, bytes: usize) -> Self {
            self.$($place).+.max_memory = bytes;
            self
        }

        /// Limit of the crossings, or of the events of contacts; beyond it the run ends with
        /// [`Stop::TooManyEvents`](crate::Stop::TooManyEvents). Crossings at one
        /// instant are not parted, nor those to which resets carry others there: some may be beyond the limit. A live
        /// run may go on from there. Default 100,000.
        #[must_use]
        pub fn max_events(mut self, limit: usize) -> Self {
            self.$($place).+.max_events = limit;
            self
        }

        /// Limit of the steps, accepted or not; beyond it the run ends with
        /// [`Stop::TooManySteps`](crate::Stop::TooManySteps). Default ten million. A run in steps of
        /// one length that wants more is refused before it begins.
        #[must_use]
        pub fn max_steps(mut self, limit: usize) -> Self {
            self.$($place).+.max_steps = limit;
            self
        }
    };
}
pub(crate) use limits;

/// One value for every entry, or one value an entry.
#[derive(Clone, Debug, PartialEq)]
pub enum PerEntry {
    /// One value for all.
    Same(f64),
    /// One value for each state variable or each event function.
    Each(Vec<f64>),
}

impl PerEntry {
    /// The value of entry `i`; NaN beyond the end of `Each`.
    #[inline]
    pub fn get(&self, i: usize) -> f64 {
        match self {
            Self::Same(value) => *value,
            Self::Each(values) => values.get(i).copied().unwrap_or(f64::NAN),
        }
    }

    /// Lowers values that are greater; what is no number stays, for those that refuse it.
    pub(crate) fn lower_to(&mut self, most: f64) {
        let values = match self {
            Self::Same(value) => std::slice::from_mut(value),
            Self::Each(values) => values,
        };
        let is_greater = |value: &&mut f64| value.is_finite() && **value > most;
        values
            .iter_mut()
            .filter(is_greater)
            .for_each(|value| *value = most);
    }

    /// Refuses wrong lengths and values that are not finite or fail `accept`.
    pub(crate) fn check(
        &self,
        name: &'static str,
        expected: usize,
        rule: &'static str,
        accept: impl Fn(f64) -> bool,
    ) -> Result<(), InputError> {
        let values = match self {
            Self::Same(value) => std::slice::from_ref(value),
            Self::Each(values) => {
                validate::length(name, expected, values.len())?;
                values
            }
        };
        validate::accepted(name, values, rule, accept)
    }
}

impl From<f64> for PerEntry {
    fn from(value: f64) -> Self {
        Self::Same(value)
    }
}

impl From<Vec<f64>> for PerEntry {
    fn from(values: Vec<f64>) -> Self {
        Self::Each(values)
    }
}

impl From<&[f64]> for PerEntry {
    fn from(values: &[f64]) -> Self {
        Self::Each(values.to_vec())
    }
}

impl<const N: usize> From<&[f64; N]> for PerEntry {
    fn from(values: &[f64; N]) -> Self {
        Self::Each(values.to_vec())
    }
}

impl<const N: usize> From<[f64; N]> for PerEntry {
    fn from(values: [f64; N]) -> Self {
        Self::Each(values.to_vec())
    }
}
