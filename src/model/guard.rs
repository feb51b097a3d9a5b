//! Directed guards: an event function together with the direction in which it is crossed; what
//! errors, drivers and trajectories speak of.

use std::fmt;

/// The direction in which an event function passes zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Direction {
    /// From negative to positive.
    Rising,
    /// From positive to negative.
    Falling,
}

impl Direction {
    /// Its word in messages.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Rising => "rising",
            Self::Falling => "falling",
        }
    }
}

/// A directed guard: event function `event`, crossed in `direction`.
///
/// An event function watched both ways is a pair of guards that share one side bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Guard {
    /// Index of the event function.
    pub event: usize,
    /// The way it is crossed.
    pub direction: Direction,
}

impl Guard {
    /// Event function `event` crossed from negative to positive.
    pub const fn rising(event: usize) -> Self {
        Self {
            event,
            direction: Direction::Rising,
        }
    }

    /// Event function `event` crossed from positive to negative.
    pub const fn falling(event: usize) -> Self {
        Self {
            event,
            direction: Direction::Falling,
        }
    }

    /// The guard of the same event function in the other direction.
    #[must_use]
    pub const fn partner(self) -> Self {
        match self.direction {
            Direction::Rising => Self::falling(self.event),
            Direction::Falling => Self::rising(self.event),
        }
    }

    /// Side bit of the event function after the crossing.
    pub const fn side_after(self) -> bool {
        matches!(self.direction, Direction::Rising)
    }

    /// The guard that a state on `side` of event function `event` would cross next.
    pub const fn ahead(event: usize, side: bool) -> Self {
        if side {
            Self::falling(event)
        } else {
            Self::rising(event)
        }
    }

    /// +1 for rising, −1 for falling: `sign · h` increases through zero at the crossing.
    pub const fn sign(self) -> f64 {
        match self.direction {
            Direction::Rising => 1.0,
            Direction::Falling => -1.0,
        }
    }

    /// Number of this guard among all directed guards: `2 · event`, plus one when falling;
    /// `usize::MAX` where that is more.
    pub const fn index(self) -> usize {
        let falling = matches!(self.direction, Direction::Falling) as usize;
        self.event.saturating_mul(2).saturating_add(falling)
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.event, self.direction.name())
    }
}
