//! The state of a contact in a mode, and the states that are possible beforehand.

use crate::impact::Contacting;

/// Facts of a contact that are known before its mode is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Known {
    /// The sign of its normal speed, when that decides: approaching contacts push with all they
    /// may, separating ones do not.
    pub(crate) normal: i8,
    /// The sign of its slip, when that decides.
    pub(crate) slip: i8,
    /// Of modes with one velocity, those with the fewest open contacts of this kind are kept.
    pub(crate) stays: bool,
}

/// Nothing.
pub(crate) const UNKNOWN: Known = Known {
    normal: 0,
    slip: 0,
    stays: false,
};

/// The state of a contact in a mode: its normal, and stick or slip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) normal: Normal,
    /// 0 sticks, else the sign of the slip.
    pub(super) slip: i8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Normal {
    Open,
    Closed,
    /// Pushes as much as it may.
    Full,
}

const fn state(normal: Normal, slip: i8) -> State {
    State { normal, slip }
}

/// The states of a contact; the first four without bounds.
pub(super) const STATES: [State; 7] = [
    state(Normal::Open, 0),
    state(Normal::Closed, 0),
    state(Normal::Closed, 1),
    state(Normal::Closed, -1),
    state(Normal::Full, 0),
    state(Normal::Full, 1),
    state(Normal::Full, -1),
];
/// The states of a contact without tangents.
pub(super) const FRICTIONLESS: [State; 3] = [
    state(Normal::Open, 1),
    state(Normal::Closed, 1),
    state(Normal::Full, 1),
];

/// How many contacts that stay are open in a mode.
pub(super) fn open_that_stay(known: &[Known], mode: &[State]) -> usize {
    let pairs = known.iter().zip(mode);
    pairs
        .filter(|(known, state)| known.stays && state.normal == Normal::Open)
        .count()
}

impl Known {
    pub(super) fn allows(self, state: State) -> bool {
        let normal = match self.normal {
            0 => true,
            sign => state.normal == if sign < 0 { Normal::Full } else { Normal::Open },
        };
        normal && (state.normal == Normal::Open || self.slip == 0 || state.slip == self.slip)
    }
}

impl State {
    pub(super) fn public(self) -> Contacting {
        match (self.normal, self.slip) {
            (Normal::Open, _) => Contacting::Open,
            (_, 0) => Contacting::Stick,
            (_, 1) => Contacting::SlipForward,
            _ => Contacting::SlipBackward,
        }
    }
}
