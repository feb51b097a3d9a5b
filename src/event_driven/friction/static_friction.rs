//! The mode that follows where static friction is above kinetic, or friction depends on the speed.
//!
//! Contacts at rest are asked with static coefficients. Those that these do not hold are asked anew with kinetic ones,
//! and the others beside them; so one that broke loose may turn the other way, or stick again.

use super::candidates::{Candidates, Choice};
use crate::Stop;
use crate::event_driven::Model;
use crate::event_driven::breakdown::{Breakdown, explain};
use crate::impact::planar::modes::Known;
use crate::linalg::scratch::with_zeros;
use crate::linalg::{dot, largest};
use crate::mechanics::State;
use crate::mechanics::friction::contact_function::Slip;
use crate::mechanics::friction::frame::Frame;

/// Accelerations below this part of those without contacts count as zero.
const STILL: f64 = 1e-9;

/// The part of static friction that is left where it yields: so much less than all that no tolerance of a mode hides
/// it.
const YIELDED: f64 = 1.0 - 1e-7;

impl Model<'_> {
    /// The slips of the candidates. Those at rest stick if static friction can hold them: where it does
    /// not, they slip with kinetic friction, and it is asked again whether the others stick. As others
    /// slip more easily a contact may be drawn the other way: then static friction is asked for it anew. Of
    /// contacts that break loose in one question one may be held once the others slip
    /// ([`hold_again`](Self::hold_again)). None where no choice is reached in two questions a contact.
    pub(super) fn next_with_laws(
        &self,
        choice: Choice<'_>,
        state: &[f64],
        given: &Candidates,
    ) -> Result<Option<Vec<Option<Slip>>>, Breakdown> {
        let (q, _) = self.parts(state);
        let contacts = &given.contacts;
        let mut candidates = Candidates {
            contacts: contacts.clone(),
            known: given.known.clone(),
            slips: given.slips.clone(),
            holds: Vec::new(),
            sensed: given.sensed.clone(),
            stuck: given.stuck.clone(),
        };
        for _ in 0..=2 * contacts.len() {
            let friction = self.laws_of(state, &candidates);
            let found = self.next_of_laws(choice, state, &candidates, &friction)?;
            let mut is_settled = true;
            let slips = found.iter().flatten().zip(&mut candidates.known);
            for ((slip, known), (&j, mu)) in slips.zip(contacts.iter().zip(&friction)) {
                let begins = slip.is_some_and(|slip| slip != Slip::NONE) && known.slip == 0;
                if begins && self.coefficients(j, q, 0.0).slip < *mu {
                    known.slip = slip.map_or(0, |slip| slip.sign);
                    is_settled = false;
                }
            }
            if let (true, Some(slips)) = (is_settled, &found) {
                let given = &given.known;
                is_settled = self.let_turn(choice.t(), state, given, slips, &mut candidates)?;
            }
            if is_settled {
                return self.hold_again(choice, state, &given.known, candidates, found);
            }
        }
        Ok(None)
    }

    /// The coefficients of candidates: static ones of those that do not slip.
    fn laws_of(&self, state: &[f64], candidates: &Candidates) -> Vec<f64> {
        let (q, _) = self.parts(state);
        let each = candidates.contacts.iter().zip(&candidates.known);
        let laws = each.zip(&candidates.slips).map(|((&j, known), [x, y])| {
            let law = self.coefficients(j, q, x.hypot(*y));
            match known {
                Known {
                    slip: 0, yields, ..
                } => {
                    if *yields {
                        YIELDED * law.stick
                    } else {
                        law.stick
                    }
                }
                _ => law.slip,
            }
        });
        laws.collect()
    }

    /// Lets contacts stick that broke loose beside others, and that static friction holds once these slip: a slip
    /// that turns round loads those beside it by static friction first, and by less as it goes on. Those that
    /// stuck before come first.
    fn hold_again(
        &self,
        choice: Choice<'_>,
        state: &[f64],
        given: &[Known],
        mut candidates: Candidates,
        found: Option<Vec<Option<Slip>>>,
    ) -> Result<Option<Vec<Option<Slip>>>, Breakdown> {
        let Some(mut slips) = found else {
            return Ok(None);
        };
        let is_loose = |known: &[Known], i: usize| known[i].slip != 0 && given[i].slip == 0;
        let count = candidates.contacts.len();
        let all_loose = (0..count).filter(|&i| is_loose(&candidates.known, i));
        if all_loose.count() < 2 {
            return Ok(Some(slips));
        }
        let has_stuck = |i: &usize| candidates.stuck.get(*i).copied().unwrap_or(false);
        let (first, then): (Vec<usize>, Vec<usize>) = (0..count).partition(has_stuck);
        for i in first.into_iter().chain(then) {
            if !is_loose(&candidates.known, i) {
                continue;
            }
            let slip = std::mem::take(&mut candidates.known[i].slip);
            let friction = self.laws_of(state, &candidates);
            let next = self.next_of_laws(choice, state, &candidates, &friction);
            let held = next.ok().flatten().filter(|next| {
                let is_as = |(k, (a, b)): (usize, (&Option<Slip>, &Option<Slip>))| {
                    let kind =
                        |slip: &Option<Slip>| slip.map(|slip| (slip == Slip::NONE, slip.sign));
                    if k == i {
                        *a == Some(Slip::NONE)
                    } else {
                        kind(a) == kind(b)
                    }
                };
                next.iter().zip(&slips).enumerate().all(is_as)
            });
            let held = held.filter(|next| {
                let mut turned = candidates.clone();
                let checked = self.let_turn(choice.t(), state, given, next, &mut turned);
                matches!(checked, Ok(true))
            });
            // A contact that is not found to be held slips, unless the search was ended.
            let ended = self.interrupt.check();
            ended.map_err(|_| Breakdown::Stop(Stop::Interrupted))?;
            match held {
                Some(next) => slips = next,
                None => candidates.known[i].slip = slip,
            }
        }
        Ok(Some(slips))
    }

    /// In the plane: true where each contact that was found to break loose slips as it accelerates. One
    /// that does not counts as at rest again. (In space directions are found with the accelerations.)
    fn let_turn(
        &self,
        t: f64,
        state: &[f64],
        given: &[Known],
        slips: &[Option<Slip>],
        candidates: &mut Candidates,
    ) -> Result<bool, Breakdown> {
        let contacts = &candidates.contacts;
        let (known, (q, v), m) = (&mut candidates.known, self.parts(state), contacts.len());
        let loose = |known: &[Known], i: usize| known[i].slip != 0 && given[i].slip == 0;
        if self.row_tangents() != 1 || !(0..m).any(|i| loose(known, i)) {
            return Ok(true);
        }
        let mut mode = self.mode(&[]);
        for (&j, slip) in contacts.iter().zip(slips) {
            self.set_contacting(&mut mode, j, *slip);
        }
        let at = State { t, q, v };
        let turns = with_zeros(Frame::size(self, m) + v.len(), |scratch| {
            let (acceleration, scratch) = scratch.split_at_mut(v.len());
            self.motion_with_friction(at, &mode, Some(acceleration), None);
            let frame = Frame::new(self, at, contacts, scratch)
                .map_err(|trouble| explain(trouble, q, contacts))?;
            let size = largest(&*frame.bends);
            let mut any = false;
            for i in (0..m).filter(|i| slips[*i].is_some()) {
                let row = frame.row(m + i);
                let along = frame.bends[m + i] + dot(row, acceleration) - dot(row, frame.free);
                if loose(known, i) && f64::from(known[i].slip) * along < -STILL * size {
                    (known[i].slip, any) = (0, true);
                }
            }
            Ok::<_, Breakdown>(any)
        })?;
        Ok(!turns)
    }
}
