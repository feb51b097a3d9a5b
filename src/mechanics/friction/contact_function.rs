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
//! In space a slip has a direction, which is that of its velocity `u`. The flags hold near which
//! tangent `e` it is, to either side, so that `e u` falls through zero where the slip comes to rest:
//!
//! ```text
//!     gap a | force λ_n | slip e u | μ λ_n − |λ_t| (sticks) | turn (slips) | onset (begins, ends) | loads
//! ```
//!
//! `turn` ends a slip near one tangent where it is nearer another; `onset` ends the beginning of a
//! slip, whose velocity is too small to have a direction. A slip that becomes so slow falls through zero
//! then, and once more where it comes to rest (`slow_slip`).
//!
//! All fall through zero. The last function is one for all contacts: where the forces of sticking
//! contacts are not unique, the margin of the loads in the cones of friction stands for force
//! and margins (Pfeiffer & Glocker).

use crate::Mode;
use crate::impact::Contacting;
use crate::record::ContactEvent;

/// How a closed contact slips, as the flags of a mode have it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slip {
    /// To which side of a tangent; 0 where it does not slip.
    pub(crate) sign: i8,
    /// In space: near the second tangent, not near the first.
    pub(crate) across: bool,
    /// In space: it begins, and has no velocity that has a direction.
    pub(crate) begins: bool,
    /// In space: it is about to stop, straight.
    pub(crate) ends: bool,
}

impl Slip {
    /// None: the contact sticks, or has no friction.
    pub(crate) const NONE: Self = Self {
        sign: 0,
        across: false,
        begins: false,
        ends: false,
    };

    /// Near this direction, in units of tangents.
    pub(crate) fn near([x, y]: [f64; 2]) -> Self {
        let across = y.abs() > x.abs();
        let along = if across { y } else { x };
        Self {
            sign: if along < 0.0 { -1 } else { 1 },
            across,
            ..Self::NONE
        }
    }

    /// The slip of a contact in the plane; none while it is open.
    pub(crate) fn of(contacting: Contacting) -> Option<Self> {
        let sign = match contacting {
            Contacting::Open => return None,
            Contacting::Stick => 0,
            Contacting::SlipForward => 1,
            Contacting::SlipBackward => -1,
        };
        Some(Self { sign, ..Self::NONE })
    }

    /// The unit vector of the tangent it is near to, to its side.
    pub(crate) fn tangent(self) -> [f64; 2] {
        let side = f64::from(self.sign);
        if self.across {
            [0.0, side]
        } else {
            [side, 0.0]
        }
    }

    /// The part of a velocity by tangents along the tangent that the slip is near to.
    pub(crate) fn along(self, [x, y]: [f64; 2]) -> f64 {
        f64::from(self.sign) * if self.across { y } else { x }
    }
}

/// How the event functions and the flags of a model are numbered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ContactFunctions {
    /// Number of contacts.
    pub(crate) contacts: usize,
    /// Along how many tangents contacts stick or slip with friction; 0: they do not.
    pub(crate) tangents: usize,
}

impl ContactFunctions {
    /// Groups of functions, one a contact.
    const fn groups(self) -> usize {
        match self.tangents {
            0 => 1,
            1 => 5,
            _ => 6,
        }
    }

    /// Number of event functions.
    pub(crate) fn count(self) -> usize {
        let loads = usize::from(self.slides() && self.contacts > 0);
        self.groups() * self.contacts + loads
    }

    /// Number of flags.
    pub(crate) fn flags(self) -> usize {
        let each = match self.tangents {
            0 => 1,
            1 => 3,
            _ => 6,
        };
        each * self.contacts
    }

    /// Contacts stick or slip with friction.
    #[inline]
    pub(crate) const fn slides(self) -> bool {
        self.tangents > 0
    }

    /// True when contact `j` is closed; false where there is no such contact.
    #[inline]
    pub(crate) fn is_closed(self, mode: &Mode, j: usize) -> bool {
        j < self.contacts && mode.flag(j)
    }

    /// How contact `j` slips with friction.
    #[inline]
    pub(crate) fn slip(self, mode: &Mode, j: usize) -> Slip {
        let n = self.contacts;
        if !self.slides() || j >= n || !mode.flag(n + j) {
            return Slip::NONE;
        }
        Slip {
            sign: if mode.flag(2 * n + j) { -1 } else { 1 },
            across: self.tangents > 1 && mode.flag(3 * n + j),
            begins: self.tangents > 1 && mode.flag(4 * n + j),
            ends: self.tangents > 1 && mode.flag(5 * n + j),
        }
    }

    /// Opens or closes contact `j`, with its slip where it has friction, and puts all that is measured
    /// of it before its next event.
    pub(crate) fn set(self, mode: &mut Mode, j: usize, closed: bool, slip: Slip) {
        mode.set_flag(j, closed);
        // Gap and multiplier are positive until they fall: the side before the next event.
        mode.set(j, true);
        if self.slides() {
            let n = self.contacts;
            mode.set_flag(n + j, slip.sign != 0);
            mode.set_flag(2 * n + j, slip.sign < 0);
            if self.tangents > 1 {
                mode.set_flag(3 * n + j, slip.across);
                mode.set_flag(4 * n + j, slip.begins);
                mode.set_flag(5 * n + j, slip.ends);
            }
            let groups = self.groups();
            for k in (1..groups).map(|group| group * n + j).chain([groups * n]) {
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
                [false, true] if self.slides() && !event.activated.contains(&j) => {
                    event.activated.push(j);
                }
                [true, true] => {
                    let [from, to] = [before, after].map(|mode| self.slip(mode, j));
                    // In space a slip that turns goes on; one that turns round begins anew.
                    let begins = to.begins && !from.begins;
                    match [from.sign, to.sign] {
                        [from, 0] if from != 0 => event.stuck.push(j),
                        [0, to] if to != 0 => event.slipped.push(j),
                        [from, to] if self.tangents == 1 && from != to => event.slipped.push(j),
                        _ if begins => event.slipped.push(j),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        event.activated.sort_unstable();
        event.released.sort_unstable();
    }

    /// The event function that ends the mode of contact `j` along its normal: its gap while it is
    /// open, its force while it is closed.
    pub(crate) fn along_normal(self, mode: &Mode, j: usize) -> usize {
        if self.slides() && self.is_closed(mode, j) {
            self.index(ContactFunction::Force(j))
        } else {
            j
        }
    }

    /// The contact whose gap or force event function `k` measures; none for those of slips.
    pub(crate) fn normal_of(self, k: usize) -> Option<usize> {
        let groups = if self.slides() { 2 } else { 1 };
        (k < groups * self.contacts).then(|| k % self.contacts.max(1))
    }

    /// With friction: event function `k` measures a force, or the margin of one. That of all loads is a part of them.
    pub(crate) fn measures_force(self, k: usize) -> bool {
        let group = k / self.contacts.max(1);
        let is_one_of_cones = match self.tangents {
            0 => return false,
            1 => group >= 3,
            _ => group == 3,
        };
        group < self.groups() && (group == 1 || is_one_of_cones)
    }

    /// What event function `k` measures in `mode`.
    pub(crate) fn function(self, k: usize, mode: &Mode) -> ContactFunction {
        if !self.slides() {
            return if self.is_closed(mode, k) {
                ContactFunction::Force(k)
            } else {
                ContactFunction::Gap(k)
            };
        }
        let contact = k % self.contacts.max(1);
        match (k / self.contacts.max(1), self.tangents) {
            (0, _) => ContactFunction::Gap(contact),
            (1, _) => ContactFunction::Force(contact),
            (2, _) => ContactFunction::Slip(contact),
            (3, 1) => ContactFunction::Cone { contact, slip: -1 },
            (4, 1) => ContactFunction::Cone { contact, slip: 1 },
            (3, 2) => ContactFunction::Cone { contact, slip: 0 },
            (4, 2) => ContactFunction::Turn(contact),
            (5, 2) => ContactFunction::Onset(contact),
            _ => ContactFunction::Loads,
        }
    }

    /// The index of a function.
    pub(crate) fn index(self, function: ContactFunction) -> usize {
        let n = self.contacts;
        match function {
            ContactFunction::Gap(j) => j,
            ContactFunction::Force(j) => n + j,
            ContactFunction::Slip(j) => 2 * n + j,
            ContactFunction::Cone { contact, slip } => (if slip > 0 { 4 } else { 3 }) * n + contact,
            ContactFunction::Turn(j) => 4 * n + j,
            ContactFunction::Onset(j) => 5 * n + j,
            ContactFunction::Loads => self.groups() * n,
        }
    }

    /// The margins of the cone of a sticking contact: the sides to which it may slip; in space one
    /// margin for all directions.
    pub(crate) fn cone(self) -> &'static [i8] {
        match self.tangents {
            1 => &[-1, 1],
            _ => &[0],
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
    /// The speed of the slip, in space along the tangent it is near to.
    Slip(usize),
    /// The margin of the cone beyond which the contact slips forward (`slip` is 1) or backward (−1);
    /// in space in whatever direction (0).
    Cone { contact: usize, slip: i8 },
    /// In space: how near a slip is to its tangent.
    Turn(usize),
    /// In space: how much slower than one that has a direction a slip is that begins, or was to end.
    Onset(usize),
    /// The margin of the loads in the cones of all contacts.
    Loads,
}
