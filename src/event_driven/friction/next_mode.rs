//! The mode that follows of contacts that touch: by parts that are coupled, or by sets of closed contacts where efforts
//! depend on which are closed.

use super::candidates::{Candidates, Choice, NextModes};
use crate::event_driven::Model;
use crate::event_driven::breakdown::{Breakdown, explain};
use crate::impact::coupled_parts::coupled_parts;
use crate::impact::planar::modes::MOST_CONTACTS;
use crate::linalg::largest;
use crate::linalg::scratch::with_zeros;
use crate::mechanics::friction::contact_function::Slip;
use crate::mechanics::friction::frame::Frame;
use crate::mechanics::{State, UnilateralConstraints};

/// Accelerations that differ by less than this part of the largest are one motion.
const ALIKE: f64 = 1e-8;

impl Model<'_> {
    /// The modes of all contacts, of which the candidates touch and do not part; those of more than are
    /// enumerated for each set of them that is coupled. None where no mode is consistent.
    pub(super) fn next_mode(
        &self,
        choice: Choice<'_>,
        state: &[f64],
        candidates: &Candidates,
    ) -> Result<Option<NextModes>, Breakdown> {
        let contacts = &candidates.contacts;
        let mut next = NextModes {
            slips: vec![None; self.system().contacts()],
            is_one_of_many: false,
        };
        let (q, v) = self.parts(state);
        if !contacts.is_empty()
            && self.senses(State {
                t: choice.t(),
                q,
                v,
            })
        {
            let found = self.next_by_sets(choice, state, candidates)?;
            return Ok(found.map(|slips| NextModes {
                slips,
                is_one_of_many: false,
            }));
        }
        let parts = if contacts.len() > MOST_CONTACTS {
            self.coupled(choice.t(), state, contacts)?
        } else {
            Vec::from_iter((!contacts.is_empty()).then(|| (0..contacts.len()).collect()))
        };
        for part in &parts {
            let own = candidates.of(part);
            let limit = self.most_contacts();
            if part.len() > limit {
                return Err(Breakdown::TooManyContacts {
                    contacts: own.contacts,
                    limit,
                    t: choice.t(),
                });
            }
            let Some(found) = self.next_with_laws(choice, state, &own)? else {
                return Ok(None);
            };
            for (&j, slip) in own.contacts.iter().zip(found) {
                next.slips[j] = slip;
            }
            next.is_one_of_many |= part.len() > MOST_CONTACTS;
        }
        Ok(Some(next))
    }

    /// The modes of all contacts, where efforts depend on which are closed: of each set of the candidates with its own
    /// efforts, from the largest on. Several sets are fine where bodies move alike in all.
    fn next_by_sets(
        &self,
        choice: Choice<'_>,
        state: &[f64],
        candidates: &Candidates,
    ) -> Result<Option<Vec<Option<Slip>>>, Breakdown> {
        let (contacts, t) = (&candidates.contacts, choice.t());
        if contacts.len() > MOST_CONTACTS {
            return Err(Breakdown::TooManyContacts {
                contacts: contacts.clone(),
                limit: MOST_CONTACTS,
                t,
            });
        }
        let mut sets: Vec<u32> = (0..1u32 << contacts.len()).collect();
        sets.sort_by_key(|set| std::cmp::Reverse(set.count_ones()));
        let free = self.acceleration_with(t, state, &[]);
        let mut found: Option<(Vec<Option<Slip>>, Vec<f64>)> = None;
        for set in sets {
            let own = candidates.of_set(set);
            let Some(slips) = self.next_with_laws(choice, state, &own)? else {
                continue;
            };
            let mut next = vec![None; self.system().contacts()];
            for (&j, slip) in contacts.iter().zip(slips) {
                next[j] = slip;
            }
            let acceleration = self.acceleration_with(t, state, &next);
            let Some((_, other)) = &found else {
                found = Some((next, acceleration));
                continue;
            };
            // By what it is without contacts: at rest both are rounding.
            let most = acceleration.iter().chain(other).chain(&free);
            let most = largest(most);
            let mut pairs = other.iter().zip(&acceleration);
            if pairs.any(|(a, b)| (a - b).abs() > ALIKE * most) {
                let contacts = contacts.clone();
                return Err(Breakdown::AmbiguousMode { contacts, t });
            }
        }
        Ok(found.map(|(slips, _)| slips))
    }

    /// The acceleration with these slips of all contacts.
    fn acceleration_with(&self, t: f64, state: &[f64], slips: &[Option<Slip>]) -> Vec<f64> {
        let (q, v) = self.parts(state);
        let mut mode = self.mode(&[]);
        for (j, slip) in slips.iter().enumerate() {
            self.set_contacting(&mut mode, j, *slip);
        }
        let mut acceleration = vec![0.0; v.len()];
        self.motion_with_friction(State { t, q, v }, &mode, Some(&mut acceleration), None);
        acceleration
    }

    /// The sets of contacts, by their places, of which none moves another.
    fn coupled(
        &self,
        t: f64,
        state: &[f64],
        contacts: &[usize],
    ) -> Result<Vec<Vec<usize>>, Breakdown> {
        let (q, v) = self.parts(state);
        with_zeros(Frame::size(self, contacts.len()), |scratch| {
            let frame = Frame::new(self, State { t, q, v }, contacts, scratch)
                .map_err(|trouble| explain(trouble, q, contacts))?;
            Ok(coupled_parts(frame.gram, contacts.len(), frame.tangents()))
        })
    }
}
