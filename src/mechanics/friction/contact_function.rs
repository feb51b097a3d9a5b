//! The event functions of contacts with friction: one index, one quantity, one unit.
//!
//! Without friction a contact has one event function: its gap while it is open, its force while it
//! is closed. With friction in the plane each quantity has an index of its own, contact by contact
//! in groups of `n`; the mode says which of them are armed, and one that is not is 1:
//!
//! ```text
//!     gap a (open) | force λ_n | slip σ u (slips) | μ λ_n − λ_t, μ λ_n + λ_t (sticks) | loads
//! ```
//!
//! All fall through zero. The last function is one for all contacts: where the forces of sticking
//! contacts are not unique, the distance of the loads from the cones of friction stands for force
//! and margins (Pfeiffer & Glocker).

use crate::Mode;
use crate::record::ContactEvent;

/// Groups of functions, one a contact.
const GROUPS: usize = 5;

/// How the event functions and the flags of a model are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContactFunctions {
    /// Number of contacts.
    pub(crate) contacts: usize,
    /// Contacts stick or slip with friction.
    pub(crate) slide: bool,
}

impl ContactFunctions {
    /// Number of event functions.
    pub(crate) fn count(self) -> usize {
        match self.contacts {
            1.. if self.slide => GROUPS * self.contacts + 1,
            contacts => contacts,
        }
    }

    /// Number of flags.
    pub(crate) fn flags(self) -> usize {
        if self.slide {
            3 * self.contacts
        } else {
            self.contacts
        }
    }

    /// True when contact `j` is closed; false where there is no such contact.
    #[inline]
    pub(crate) fn is_closed(self, mode: &Mode, j: usize) -> bool {
        j < self.contacts && mode.flag(j)
    }

    /// The sign of the slip of contact `j` with friction; 0 where it does not slip.
    pub(crate) fn slip(self, mode: &Mode, j: usize) -> i8 {
        let n = self.contacts;
        if !self.slide || j >= n || !mode.flag(n + j) {
            0
        } else if mode.flag(2 * n + j) {
            -1
        } else {
            1
        }
    }

    /// Opens or closes contact `j`, with this sign of its slip where it has friction, and puts all
    /// that is measured of it before its next event.
    pub(crate) fn set(self, mode: &mut Mode, j: usize, closed: bool, slip: i8) {
        mode.set_flag(j, closed);
        // Gap and multiplier are positive until they fall: the side before the next event.
        mode.set(j, true);
        if self.slide {
            let n = self.contacts;
            mode.set_flag(n + j, slip != 0);
            mode.set_flag(2 * n + j, slip < 0);
            for k in (1..GROUPS).map(|group| group * n + j).chain([GROUPS * n]) {
                mode.set(k, true);
            }
        }
    }

    /// Notes the contacts that an event opened beside those whose forces ended, and with friction those
    /// that it closed beside those whose gaps ended, those that came to stick, and those that began to slip
    /// or turned round.
    pub(crate) fn note_changes(self, event: &mut ContactEvent, before: &Mode, after: &Mode) {
        event.stuck.clear();
        event.slipped.clear();
        for j in 0..self.contacts {
            match [before, after].map(|mode| mode.flag(j)) {
                [true, false] if !event.released.contains(&j) => event.released.push(j),
                [false, true] if self.slide && !event.activated.contains(&j) => {
                    event.activated.push(j);
                }
                [true, true] => match [before, after].map(|mode| self.slip(mode, j)) {
                    [from, to] if from == to => {}
                    [_, 0] => event.stuck.push(j),
                    _ => event.slipped.push(j),
                },
                _ => {}
            }
        }
        event.activated.sort_unstable();
        event.released.sort_unstable();
    }

    /// The event function that ends the mode of contact `j` along its normal: its gap while it is
    /// open, its force while it is closed.
    pub(crate) fn along_normal(self, mode: &Mode, j: usize) -> usize {
        if self.slide && self.is_closed(mode, j) {
            ContactFunction::Force(j).index(self.contacts)
        } else {
            j
        }
    }

    /// The contact whose gap or force event function `k` measures; none for those of slips.
    pub(crate) fn normal_of(self, k: usize) -> Option<usize> {
        let groups = if self.slide { 2 } else { 1 };
        (k < groups * self.contacts).then(|| k % self.contacts.max(1))
    }

    /// What event function `k` measures in `mode`.
    pub(crate) fn function(self, k: usize, mode: &Mode) -> ContactFunction {
        if self.slide {
            ContactFunction::of(k, self.contacts)
        } else if self.is_closed(mode, k) {
            ContactFunction::Force(k)
        } else {
            ContactFunction::Gap(k)
        }
    }
}

/// The quantity that an event function measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContactFunction {
    /// The gap of a contact; without friction its force too, while it is closed.
    Gap(usize),
    /// The normal force.
    Force(usize),
    /// The speed of the slip.
    Slip(usize),
    /// The margin of the cone beyond which the contact slips forward (`slip` is 1) or backward (−1).
    Cone { contact: usize, slip: i8 },
    /// The distance of the loads from the cones of all contacts.
    Loads,
}

impl ContactFunction {
    /// Function `k` of so many contacts with friction.
    pub(crate) fn of(k: usize, contacts: usize) -> Self {
        let contact = k % contacts.max(1);
        match k / contacts.max(1) {
            0 => Self::Gap(contact),
            1 => Self::Force(contact),
            2 => Self::Slip(contact),
            3 => Self::Cone { contact, slip: -1 },
            4 => Self::Cone { contact, slip: 1 },
            _ => Self::Loads,
        }
    }

    /// Its index.
    pub(crate) fn index(self, contacts: usize) -> usize {
        match self {
            Self::Gap(j) => j,
            Self::Force(j) => contacts + j,
            Self::Slip(j) => 2 * contacts + j,
            Self::Cone { contact, slip } => (if slip < 0 { 3 } else { 4 }) * contacts + contact,
            Self::Loads => GROUPS * contacts,
        }
    }
}
