//! The question that the mode problem answers: the contacts that touch and do not part, what is known of them, who
//! chooses of several modes, and what a mode asks for beside itself.

use crate::event_driven::breakdown::Breakdown;
use crate::impact::planar::modes::{Known, UNKNOWN};
use crate::impact::{ImpactFailure, Occasion, Outcomes, Selection};
use crate::mechanics::friction::contact_function::Slip;

/// Of a contact that stays closed where that makes no difference.
pub(crate) const STAYS: Known = Known {
    stays: true,
    ..UNKNOWN
};

/// Contacts that touch and do not part, with what decides on their modes.
#[derive(Clone, Default)]
pub(crate) struct Candidates {
    pub(crate) contacts: Vec<usize>,
    pub(crate) known: Vec<Known>,
    /// Their velocities of slip by tangents; zero of those whose slips count as zero.
    pub(crate) slips: Vec<[f64; 2]>,
    /// The impulses that brought them to rates of zero, where one of them rebounded lower than gaps
    /// resolve.
    pub(crate) holds: Vec<Push>,
    /// The set for which all others are open, where efforts depend on which are closed.
    pub(crate) sensed: Option<Vec<usize>>,
    /// Whether each stuck before; none where it is not known.
    pub(crate) stuck: Vec<bool>,
}

/// The modes that follow.
pub(super) struct NextModes {
    /// The slips of all contacts; none of those that are open.
    pub(super) slips: Vec<Option<Slip>>,
    /// Not all modes were tried.
    pub(super) is_one_of_many: bool,
}

impl Candidates {
    /// Those at some places.
    pub(super) fn of(&self, places: &[usize]) -> Self {
        Self {
            contacts: places.iter().map(|&i| self.contacts[i]).collect(),
            known: places.iter().map(|&i| self.known[i]).collect(),
            slips: places.iter().map(|&i| self.slips[i]).collect(),
            holds: Vec::new(),
            sensed: None,
            stuck: self.stuck_at(places),
        }
    }

    fn stuck_at(&self, places: &[usize]) -> Vec<bool> {
        let stuck = |i: &usize| self.stuck.get(*i).copied().unwrap_or(false);
        places.iter().map(stuck).collect()
    }

    /// The contacts whose efforts act.
    pub(super) fn sensed(&self) -> &[usize] {
        self.sensed.as_deref().unwrap_or_default()
    }

    /// Of modes, that in which those contacts are closed whose efforts act.
    pub(super) fn only_that_fits(
        &self,
        modes: impl Iterator<Item = Vec<Option<Slip>>>,
        t: f64,
    ) -> Result<Option<Vec<Option<Slip>>>, Breakdown> {
        let sensed = self.sensed();
        let fits = |slips: &Vec<Option<Slip>>| {
            let mut pairs = self.contacts.iter().zip(slips);
            pairs.all(|(j, slip)| slip.is_some() == sensed.contains(j))
        };
        let mut fitting = modes.filter(fits);
        let found = fitting.next();
        if fitting.next().is_some() {
            let contacts = self.contacts.clone();
            return Err(Breakdown::AmbiguousMode { contacts, t });
        }
        Ok(found)
    }

    /// Those of which the contacts in the bits of a set are closed, and the others open.
    pub(super) fn of_set(&self, set: u32) -> Self {
        let is_in = |i: usize| set >> i & 1 == 1;
        let known = self.known.iter().enumerate();
        let contacts = self.contacts.iter().enumerate();
        Self {
            contacts: self.contacts.clone(),
            known: known
                .map(|(i, known)| Known {
                    stays: known.stays && is_in(i),
                    ..*known
                })
                .collect(),
            slips: self.slips.clone(),
            holds: Vec::new(),
            stuck: self.stuck.clone(),
            sensed: Some(
                contacts
                    .filter(|(i, _)| is_in(*i))
                    .map(|(_, j)| *j)
                    .collect(),
            ),
        }
    }
}

/// Who chooses of several modes, and when.
#[derive(Clone, Copy)]
pub(super) struct Choice<'a> {
    pub(super) selection: &'a Selection,
    pub(super) occasion: Occasion,
}

impl Choice<'_> {
    pub(super) fn of(self, outcomes: &Outcomes) -> Result<usize, ImpactFailure> {
        self.selection.choose(outcomes, self.occasion)
    }

    pub(super) fn t(self) -> f64 {
        self.occasion.t
    }
}

/// An impulse beside that of the law.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Push {
    pub(crate) contact: usize,
    /// Along the normal and the tangents (N s).
    pub(crate) impulse: [f64; 3],
    /// How many tangents there are.
    pub(crate) tangents: usize,
    /// It is that of an impact without collision; else it holds a rebound that is not resolved.
    pub(crate) without_collision: bool,
}

/// Words of the mode that follows an event beside itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Aside {
    /// Impulses that it asks for.
    pub(crate) pushes: Vec<Push>,
    /// It is one that was found: others may be consistent.
    pub(crate) is_one_of_many: bool,
}

impl Aside {
    pub(crate) fn clear(&mut self) {
        self.pushes.clear();
        self.is_one_of_many = false;
    }
}
