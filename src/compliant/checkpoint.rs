//! The state of a compliant run as plain data, for files and other processes.

use serde::{Deserialize, Serialize};

use super::stepping::Sleeping;
use crate::{InputError, validate};

/// Numbers of steps from here on are no floats.
const MOST_STEPS: f64 = 9_007_199_254_740_992.0;

/// The edition of the document.
const EDITION: u32 = 1;

/// The state of a compliant run as plain data, with the feature `serde`: all that its next steps depend
/// on, beside the system, the settings and the terms of the driver: a goal that was given to a motor on
/// the way is the motor's, and has to be given again. A run that is saved, loaded and taken up again by
/// a driver with the same is the uncut run, bit by bit, in every format that keeps the bits of numbers
/// (`serde_json` does with its feature `float_roundtrip`).
///
/// Made of a live run by [`of`](Self::of), of a driver between [steps](super::Compliant::step) by
/// [`Compliant::checkpoint`](super::Compliant::checkpoint), and taken up by
/// [`Compliant::restore`](super::Compliant::restore). Counts and an effort that was not used are not
/// in it.
///
/// ```
/// use saltation::compliant::{Checkpoint, Compliant};
/// use saltation::models::SlidingBlock;
/// use saltation::Start;
/// let mut driver = Compliant::new(SlidingBlock::default())?.time_step(1e-3);
/// let mut live = driver.live(&Start::at(0.0).q(&[0.0, 0.0]).v(&[2.0, 0.0]))?;
/// live.advance(0.3, &[])?;
/// let text = serde_json::to_string(&Checkpoint::of(&live.snapshot())?)?;
/// live.advance(0.5, &[])?;
/// let uncut = live.state().to_vec();
///
/// let mut other = Compliant::new(SlidingBlock::default())?.time_step(1e-3);
/// let loaded: Checkpoint = serde_json::from_str(&text)?;
/// let mut live = other.restore(&loaded)?;
/// live.advance(0.5, &[])?;
/// assert_eq!(live.state(), uncut);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// The edition of this document.
    edition: u32,
    /// The start from which steps are counted (s), and their number.
    pub(super) start: f64,
    pub(super) steps: usize,
    /// Length of a step (s).
    pub(super) dt: f64,
    /// Time (s), coordinates and velocities.
    pub(super) t: f64,
    pub(super) q: Vec<f64>,
    pub(super) v: Vec<f64>,
    /// Contacts that pressed in the last step, in rising order.
    pub(super) pressing: Vec<usize>,
    /// A contact that lies too deep has been reported.
    pub(super) is_sunk: bool,
    /// Who sleeps; none where nothing may.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sleep: Option<Sleeping>,
}

impl Checkpoint {
    /// Of a driver that stands here, from where steps are counted.
    pub(super) fn at(t: f64, dt: f64) -> Self {
        Self {
            edition: EDITION,
            start: t,
            steps: 0,
            dt,
            t,
            q: Vec::new(),
            v: Vec::new(),
            pressing: Vec::new(),
            is_sunk: false,
            sleep: None,
        }
    }

    /// The time at which it was made (s).
    pub fn t(&self) -> f64 {
        self.t
    }

    /// Refuses numbers that no run has; the contacts of a system that numbers them are below
    /// `numbered`.
    pub(super) fn check(&self, numbered: Option<usize>) -> Result<(), InputError> {
        let (edition, rule) = (f64::from(self.edition), "this library reads edition 1");
        validate::unless(self.edition == EDITION, "edition", edition, rule)?;
        validate::positive("dt", &[self.dt])?;
        validate::finite("t", &[self.start, self.t])?;
        let steps = self.steps as f64;
        let (off, rule) = (
            self.t - (self.start + steps * self.dt),
            "must be the end of so many steps",
        );
        validate::unless(
            steps < MOST_STEPS && off.abs() <= self.dt,
            "t",
            self.t,
            rule,
        )?;
        validate::at_most("pressing", self.pressing.len())?;
        let is_rising = self.pressing.windows(2).all(|pair| pair[0] < pair[1]);
        let (count, rule) = (self.pressing.len() as f64, "must be in rising order");
        validate::unless(is_rising, "pressing", count, rule)?;
        let (Some(count), Some(&index)) = (numbered, self.pressing.last()) else {
            return Ok(());
        };
        if index < count {
            return Ok(());
        }
        let what = "contact";
        Err(InputError::NoSuch { what, index, count })
    }
}
