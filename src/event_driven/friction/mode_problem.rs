//! The contact mode that follows: the contact problem of accelerations, by enumeration, in the plane
//! and in space; of many contacts in the plane by a complementarity solver.
//!
//! Contacts that touch and do not part are open, stick or slip. With accelerations for speeds this
//! is the problem of an inelastic impact of all contacts at once, save that a contact that slips
//! already does so in a known direction.

use nalgebra::{DMatrix, DVector};

use super::candidates::{Candidates, Choice, NextModes};
use super::many_contacts;
use crate::Stop;
use crate::event_driven::Model;
use crate::event_driven::breakdown::{Breakdown, explain};
use crate::impact::coupled_parts::coupled_parts;
use crate::impact::multipliers::{Hold, unit};
use crate::impact::planar::modes::{Known, MOST_CONTACTS, Modes};
use crate::impact::space::{self, Given};
use crate::impact::{ImpactFailure, ImpactProblem};
use crate::linalg::scratch::with_zeros;
use crate::linalg::{dot, largest};
use crate::mechanics::friction::contact_function::Slip;
use crate::mechanics::friction::frame::Frame;
use crate::mechanics::{State, UnilateralConstraints};

/// Accelerations below this part of those without contacts count as zero.
const STILL: f64 = 1e-9;

/// The part of static friction that is left where it yields: so much less than all that no tolerance of a mode hides
/// it.
const YIELDED: f64 = 1.0 - 1e-7;

/// Accelerations that differ by less than this part of the largest are one motion.
const ALIKE: f64 = 1e-8;

/// The reason for which no mode is chosen.
fn failed_with(t: f64, state: &[f64], contacts: &[usize], reason: ImpactFailure) -> Breakdown {
    match reason {
        ImpactFailure::NotSingle { .. } => Breakdown::AmbiguousMode {
            contacts: contacts.to_vec(),
            t,
        },
        reason => Breakdown::of_impact(reason, contacts, t, state.to_vec()),
    }
}

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

    /// The slips of the candidates. Those at rest stick if static friction can hold them: where it does
    /// not, they slip with kinetic friction, and it is asked again whether the others stick. As others
    /// slip more easily a contact may be drawn the other way: then static friction is asked for it anew. Of
    /// contacts that break loose in one question one may be held once the others slip
    /// ([`hold_again`](Self::hold_again)). None where no choice is reached in two questions a contact.
    fn next_with_laws(
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

    /// The slips of candidates with these coefficients.
    fn next_of_laws(
        &self,
        choice: Choice<'_>,
        state: &[f64],
        candidates: &Candidates,
        friction: &[f64],
    ) -> Result<Option<Vec<Option<Slip>>>, Breakdown> {
        if self.row_tangents() > 1 {
            self.next_in_space(choice, state, candidates, friction)
        } else if candidates.contacts.len() > MOST_CONTACTS {
            self.next_of_many(choice.t(), state, candidates, friction)
        } else {
            self.next_in_plane(choice, state, candidates, friction)
        }
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

    /// In the plane: all modes, by [`Modes`].
    fn next_in_plane(
        &self,
        choice: Choice<'_>,
        state: &[f64],
        candidates: &Candidates,
        friction: &[f64],
    ) -> Result<Option<Vec<Option<Slip>>>, Breakdown> {
        let Candidates {
            contacts, known, ..
        } = candidates;
        let failed = |reason| failed_with(choice.t(), state, contacts, reason);
        let problem = self.problem_of_accelerations(choice.t(), state, candidates, friction)?;
        let problem = problem.map_err(failed)?.with_interrupt(&self.interrupt);
        Modes::refuse(&problem).map_err(failed)?;
        let mut modes = Modes::new(&problem);
        // A millisecond at most, which no interrupt cuts: what follows an event is one with it.
        modes
            .find_accelerations(problem.speeds().as_slice(), known, None)
            .map_err(failed)?;
        if candidates.sensed.is_some() {
            let all = (0..modes.count()).map(|k| modes.contact_modes(k));
            let slips = all.map(|modes| modes.into_iter().map(Slip::of).collect());
            return candidates.only_that_fits(slips, choice.t());
        }
        let place = match modes.count() {
            0 => return Ok(None),
            1 if modes.is_complete() => 0,
            _ => {
                let outcomes = modes.outcomes(&problem).map_err(failed)?;
                choice.of(&outcomes).map_err(failed)?
            }
        };
        let chosen = modes.contact_modes(place).into_iter().map(Slip::of);
        Ok(Some(chosen.collect()))
    }

    /// Limit of the contacts that touch.
    pub(super) fn most_contacts(&self) -> usize {
        if self.row_tangents() > 1 {
            space::MOST_OF_ONE
        } else {
            many_contacts::MOST
        }
    }

    /// In the plane, of more contacts than are enumerated: one mode, by Lemke's method.
    fn next_of_many(
        &self,
        t: f64,
        state: &[f64],
        candidates: &Candidates,
        friction: &[f64],
    ) -> Result<Option<Vec<Option<Slip>>>, Breakdown> {
        let contacts = &candidates.contacts;
        let (q, v) = self.parts(state);
        with_zeros(Frame::size(self, contacts.len()), |scratch| {
            let frame = Frame::new(self, State { t, q, v }, contacts, scratch)
                .map_err(|trouble| explain(trouble, q, contacts))?;
            many_contacts::find(&frame.rates(friction), &candidates.known, &self.interrupt)
                .map_err(|failure| failed_with(t, state, contacts, failure))
        })
    }

    /// In space: all modes, and the directions in which slips begin; of many contacts one mode.
    fn next_in_space(
        &self,
        choice: Choice<'_>,
        state: &[f64],
        candidates: &Candidates,
        friction: &[f64],
    ) -> Result<Option<Vec<Option<Slip>>>, Breakdown> {
        let (contacts, t) = (&candidates.contacts, choice.t());
        let failed = |reason| failed_with(t, state, contacts, reason);
        let (q, v) = self.parts(state);
        let pairs = candidates.known.iter().zip(&candidates.slips);
        let given = pairs.map(|(known, &slip)| Given {
            direction: unit(slip),
            slips: known.slip != 0,
            stays: known.stays,
        });
        let given: Vec<Given> = given.collect();
        let found = with_zeros(Frame::size(self, contacts.len()), |scratch| {
            let at = State { t, q, v };
            let frame = Frame::sensing(self, at, contacts, candidates.sensed(), scratch)
                .map_err(|trouble| explain(trouble, q, contacts))?;
            // Of few contacts a few milliseconds at most, which no interrupt cuts: what follows an event is
            // one with it.
            let is_long = contacts.len() > space::MOST_CONTACTS;
            let interrupt = is_long.then_some(&self.interrupt);
            space::solutions(&frame.rates(friction), &given, interrupt).map_err(failed)
        })?;
        let slip = |hold: &Hold| match *hold {
            Hold::Open => None,
            Hold::Stick | Hold::Slip([0.0, 0.0]) => Some(Slip::NONE),
            Hold::Slip(direction) => Some(Slip::near(direction)),
            Hold::Onset { direction, .. } => Some(Slip {
                begins: true,
                ..Slip::near(direction)
            }),
        };
        let slips_of = |holds: &[Hold]| holds.iter().map(slip).collect();
        if candidates.sensed.is_some() {
            let slips = found.list.iter().map(|of| slips_of(&of.holds));
            return candidates.only_that_fits(slips, t);
        }
        let place = match found.list.len() {
            0 => return Ok(None),
            1 => 0,
            _ => {
                let problem = self.problem_of_accelerations(t, state, candidates, friction)?;
                let problem = problem.map_err(failed)?;
                let outcomes = space::outcomes(&found, &problem).map_err(failed)?;
                choice.of(&outcomes).map_err(failed)?
            }
        };
        Ok(found.list.get(place).map(|of| slips_of(&of.holds)))
    }

    /// The impact problem with accelerations for speeds.
    fn problem_of_accelerations(
        &self,
        t: f64,
        state: &[f64],
        candidates: &Candidates,
        friction: &[f64],
    ) -> Result<Result<ImpactProblem, ImpactFailure>, Breakdown> {
        let ((q, v), contacts) = (self.parts(state), &candidates.contacts);
        with_zeros(Frame::size(self, contacts.len()), |scratch| {
            let at = State { t, q, v };
            let frame = Frame::sensing(self, at, contacts, candidates.sensed(), scratch)
                .map_err(|trouble| explain(trouble, q, contacts))?;
            let gram = DMatrix::from_column_slice(frame.r, frame.r, frame.gram);
            let bends = DVector::from_column_slice(frame.bends);
            let size = (0..frame.r).map(|i| frame.bends[i].abs() / frame.root(i));
            let size = size.fold(0.0, f64::max);
            Ok(ImpactProblem::of_motion(
                gram,
                bends,
                friction.to_vec(),
                size,
            ))
        })
    }

    /// For each contact that presses itself down when it slides, the Painlevé quantity
    /// `G_nn − μ σ G_nt`, is no more than the part `most` of `G_nn`: at zero no normal force holds it alone.
    pub(super) fn pressed_down(
        &self,
        t: f64,
        state: &[f64],
        candidates: &Candidates,
        most: f64,
    ) -> Result<Vec<usize>, Breakdown> {
        let Candidates {
            contacts: candidates,
            known,
            slips,
            ..
        } = candidates;
        let (q, v) = self.parts(state);
        let m = candidates.len();
        with_zeros(Frame::size(self, m), |scratch| {
            let frame = Frame::new(self, State { t, q, v }, candidates, scratch)
                .map_err(|trouble| explain(trouble, q, candidates))?;
            let presses = |i: &usize| {
                let mu = frame.slip[*i];
                let coupling =
                    |tangent: usize| frame.gram[(m + i * frame.tangents() + tangent) * frame.r + i];
                let direction = match frame.tangents() {
                    0 => [0.0; 2],
                    1 => [f64::from(known[*i].slip), 0.0],
                    _ => unit(slips[*i]).unwrap_or_default(),
                };
                let along = direction.iter().enumerate();
                let along: f64 = along
                    .map(|(k, d)| if *d == 0.0 { 0.0 } else { d * coupling(k) })
                    .sum();
                let alone = frame.gram[i * frame.r + i];
                alone - mu * along <= most * alone
            };
            Ok((0..m).filter(presses).map(|i| candidates[i]).collect())
        })
    }
}
