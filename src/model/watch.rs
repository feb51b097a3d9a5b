//! Watched directions of event functions, and the set of guards that cross at one instant.

use crate::{Direction, Guard};

/// In which directions the crossings of an event function count: are reported, handed to
/// [`on_crossing`](crate::EventFunction::on_crossing), and may end the run.
///
/// Under [`Rearm::Pairs`](crate::Rearm::Pairs), the default, the side bit follows the state in both
/// directions all the same: a crossing that does not count still flips it, and the next one that
/// counts is found again. Under the other policies a direction that is not watched is looked for
/// only where the guard reset matrix arms it; otherwise the side bit is a memory (hysteresis), and
/// the state may turn back after the crossing without violating liveness.
///
/// ```
/// use saltation::Watch;
/// let floor = Watch::FALLING.and_stop();
/// assert!(floor.falling && !floor.rising && floor.stop);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Watch {
    /// Crossings from negative to positive count.
    pub rising: bool,
    /// Crossings from positive to negative count.
    pub falling: bool,
    /// A crossing ends the run, after its reset.
    pub stop: bool,
}

impl Watch {
    /// Watched both ways: the default, a pair of guards.
    pub const BOTH: Self = Self::new(true, true);
    /// Watched from negative to positive only.
    pub const RISING: Self = Self::new(true, false);
    /// Watched from positive to negative only.
    pub const FALLING: Self = Self::new(false, true);
    /// Not watched: a bit of the mode that no motion changes.
    pub const NONE: Self = Self::new(false, false);

    const fn new(rising: bool, falling: bool) -> Self {
        Self {
            rising,
            falling,
            stop: false,
        }
    }

    /// This watch, and a crossing ends the run with [`Status::Stopped`](crate::Status::Stopped), after its
    /// reset and the crossings of guards that this carries across, with theirs.
    #[must_use]
    pub const fn and_stop(mut self) -> Self {
        self.stop = true;
        self
    }

    /// True when crossings in at least one direction count.
    pub const fn is_any(self) -> bool {
        self.rising || self.falling
    }

    /// True when crossings in `direction` count.
    pub const fn sees(self, direction: Direction) -> bool {
        match direction {
            Direction::Rising => self.rising,
            Direction::Falling => self.falling,
        }
    }
}

/// One guard of a set that crosses at the same instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossedGuard {
    /// The guard, with its direction.
    pub guard: Guard,
    /// `dh_k/dt` just before the crossing, in the unit of `h_k` per second (negative when falling).
    pub rate: f64,
}

/// The guards that cross together at one instant, as
/// [`EventFunction::on_crossing`](crate::EventFunction::on_crossing) sees them, in rising order of
/// their event functions.
#[derive(Clone, Copy, Debug)]
pub struct Crossed<'a> {
    set: &'a [CrossedGuard],
    transition: usize,
}

impl<'a> Crossed<'a> {
    /// Wraps a set of guards; of use to those who test their own `on_crossing`.
    pub const fn new(set: &'a [CrossedGuard]) -> Self {
        Self { set, transition: 0 }
    }

    /// This set as that of another transition.
    #[must_use]
    pub const fn of_transition(mut self, number: usize) -> Self {
        self.transition = number;
        self
    }

    /// The number of transitions that the run made before this one. A crossing that is repeated,
    /// for a derivative, has the number that it had in the run: random draws are keyed by it.
    pub const fn transition(&self) -> usize {
        self.transition
    }

    /// The guards with their rates.
    pub const fn guards(&self) -> &'a [CrossedGuard] {
        self.set
    }

    /// True when event function `event` is among them, in either direction.
    pub fn contains(&self, event: usize) -> bool {
        self.set.iter().any(|c| c.guard.event == event)
    }

    /// Indices of the event functions that cross.
    pub fn events(&self) -> impl Iterator<Item = usize> + 'a {
        self.set.iter().map(|c| c.guard.event)
    }
}
