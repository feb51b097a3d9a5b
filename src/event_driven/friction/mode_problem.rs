//! The contact mode that follows: the contact problem of accelerations, by enumeration, in the plane
//! and in space; of many contacts in the plane by a complementarity solver.
//!
//! Contacts that touch and do not part are open, stick or slip. With accelerations for speeds this
//! is the problem of an inelastic impact of all contacts at once, save that a contact that slips
//! already does so in a known direction.

use nalgebra::{DMatrix, DVector};

use super::candidates::{Candidates, Choice};
use super::many_contacts;
use crate::event_driven::Model;
use crate::event_driven::breakdown::{Breakdown, explain};
use crate::impact::multipliers::{Hold, unit};
use crate::impact::planar::modes::{MOST_CONTACTS, Modes};
use crate::impact::space::{self, Given};
use crate::impact::{ImpactFailure, ImpactProblem};
use crate::linalg::scratch::with_zeros;
use crate::mechanics::State;
use crate::mechanics::friction::contact_function::Slip;
use crate::mechanics::friction::frame::Frame;

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
    /// The slips of candidates with these coefficients.
    pub(super) fn next_of_laws(
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
