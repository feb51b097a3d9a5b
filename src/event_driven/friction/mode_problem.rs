//! The contact mode that follows: the contact problem of accelerations, by enumeration.
//!
//! Contacts that touch and do not part are open, stick or slip. With accelerations for speeds this
//! is the problem of an inelastic impact of all contacts at once, save that a contact that slips
//! already does so in a known direction.

use nalgebra::{DMatrix, DVector};

use crate::Mode;
use crate::event_driven::Model;
use crate::event_driven::breakdown::{Breakdown, explain};
use crate::event_driven::motion;
use crate::impact::planar::modes::{Known, MOST_CONTACTS, Modes, UNKNOWN};
use crate::impact::{Contacting, ImpactFailure, ImpactProblem, Occasion};
use crate::linalg::scratch::{with_list, with_zeros};
use crate::mechanics::contact_model::gather_closed;
use crate::mechanics::friction::frame::{Frame, hold_rows};
use crate::mechanics::{State, UnilateralConstraints};

/// Of a contact that stays closed where that makes no difference.
pub(crate) const STAYS: Known = Known {
    stays: true,
    ..UNKNOWN
};

/// Contacts that touch and do not part, with what decides on their modes.
pub(crate) struct Candidates {
    pub(crate) contacts: Vec<usize>,
    pub(crate) known: Vec<Known>,
    /// The impulses that brought them to rates of zero, where one of them rebounded lower than gaps
    /// resolve.
    pub(crate) holds: Vec<Push>,
}

/// An impulse beside that of the law.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Push {
    pub(crate) contact: usize,
    /// Along the normal and the tangent (N s).
    pub(crate) impulse: [f64; 2],
    /// It is that of an impact without collision; else it holds a rebound that is not resolved.
    pub(crate) without_collision: bool,
}

impl Model<'_> {
    /// The mode of all contacts, of which the candidates touch and do not part. None where no mode is
    /// consistent.
    pub(super) fn next_mode(
        &self,
        occasion: Occasion,
        state: &[f64],
        candidates: &Candidates,
    ) -> Result<Option<Vec<Contacting>>, Breakdown> {
        let Candidates {
            contacts: candidates,
            known,
            ..
        } = candidates;
        let mut of_all = vec![Contacting::Open; self.system().contacts()];
        if candidates.is_empty() {
            return Ok(Some(of_all));
        }
        let problem = self.problem_of_accelerations(occasion.t, state, candidates)?;
        let failed = |reason: ImpactFailure| {
            Breakdown::of_impact(reason, candidates, occasion.t, state.to_vec())
        };
        let problem = problem.map_err(failed)?.with_interrupt(&self.interrupt);
        if candidates.len() > MOST_CONTACTS {
            return Err(Breakdown::TooManyContacts {
                contacts: candidates.clone(),
                limit: MOST_CONTACTS,
                t: occasion.t,
            });
        }
        Modes::refuse(&problem).map_err(failed)?;
        let mut modes = Modes::new(&problem);
        // A millisecond at most, which no interrupt cuts: what follows an event is one with it.
        modes
            .find_accelerations(problem.speeds().as_slice(), known, None)
            .map_err(failed)?;
        let chosen = match modes.count() {
            0 => return Ok(None),
            1 if modes.is_complete() => modes.contact_modes(0),
            _ => {
                let outcomes = modes.outcomes(&problem).map_err(failed)?;
                let kept = outcomes.clone();
                let outcome = match self.selection.select(outcomes, occasion) {
                    Ok(outcome) => outcome,
                    Err(ImpactFailure::NotSingle { .. }) => {
                        return Err(Breakdown::AmbiguousMode {
                            contacts: candidates.clone(),
                            t: occasion.t,
                        });
                    }
                    Err(reason) => return Err(failed(reason)),
                };
                let place = kept.list.iter().position(|of| *of == outcome);
                modes.contact_modes(place.unwrap_or(0))
            }
        };
        for (&j, mode) in candidates.iter().zip(chosen) {
            // Without friction a slip has no sign.
            of_all[j] = match mode {
                Contacting::SlipBackward if self.friction(j) == 0.0 => Contacting::SlipForward,
                mode => mode,
            };
        }
        Ok(Some(of_all))
    }

    /// The impact problem with accelerations for speeds.
    fn problem_of_accelerations(
        &self,
        t: f64,
        state: &[f64],
        candidates: &[usize],
    ) -> Result<Result<ImpactProblem, ImpactFailure>, Breakdown> {
        let (q, v) = self.parts(state);
        with_zeros(Frame::size(self, candidates.len()), |scratch| {
            let frame = Frame::new(self, State { t, q, v }, candidates, scratch)
                .map_err(|trouble| explain(trouble, q, candidates))?;
            let gram = DMatrix::from_column_slice(frame.r, frame.r, frame.gram);
            let bends = DVector::from_column_slice(frame.bends);
            let friction = candidates.iter().map(|&j| self.friction(j)).collect();
            let size = (0..frame.r).map(|i| frame.bends[i].abs() / frame.root(i));
            let size = size.fold(0.0, f64::max);
            Ok(ImpactProblem::of_motion(gram, bends, friction, size))
        })
    }

    /// For each contact that presses itself down when it slides, the Painlevé quantity
    /// `G_nn − μ σ G_nt < 0`: no normal force holds it alone.
    pub(super) fn pressed_down(
        &self,
        t: f64,
        state: &[f64],
        candidates: &Candidates,
    ) -> Result<Vec<usize>, Breakdown> {
        let Candidates {
            contacts: candidates,
            known,
            ..
        } = candidates;
        let (q, v) = self.parts(state);
        let m = candidates.len();
        with_zeros(Frame::size(self, m), |scratch| {
            let frame = Frame::new(self, State { t, q, v }, candidates, scratch)
                .map_err(|trouble| explain(trouble, q, candidates))?;
            let presses = |i: &usize| {
                let (mu, slip) = (self.friction(candidates[*i]), f64::from(known[*i].slip));
                let coupling = if frame.r > m {
                    frame.gram[(m + i) * frame.r + i]
                } else {
                    0.0
                };
                frame.gram[i * frame.r + i] - mu * slip * coupling <= 0.0
            };
            Ok((0..m).filter(presses).map(|i| candidates[i]).collect())
        })
    }

    /// Brings a state onto the closed contacts of a mode with friction: gaps and rates of zero, and
    /// slips of zero of those that stick. True when it changed.
    pub(crate) fn hold_in_mode(&self, state: &mut [f64], mode: &Mode) -> bool {
        let moved = with_list(self.layout().contacts, |space| {
            motion::onto_gaps(self, state, gather_closed(mode, space))
        });
        self.hold_rates_in_mode(state, mode) || moved
    }

    /// Likewise the velocities alone.
    pub(crate) fn hold_rates_in_mode(&self, state: &mut [f64], mode: &Mode) -> bool {
        with_list(self.layout().contacts, |space| {
            let closed = gather_closed(mode, space);
            let (q, v) = self.parts_mut(state);
            let m = closed.len();
            with_zeros(Frame::size(self, m), |scratch| {
                let Ok(frame) = Frame::new(self, State { t: 0.0, q, v }, closed, scratch) else {
                    return false;
                };
                let sticks = |j: usize| self.contacting(mode, j) == Contacting::Stick;
                let holds = |row: &usize| *row < m || sticks(closed[row - m]);
                with_list(frame.r, |rows| {
                    let mut count = 0;
                    for (to, row) in rows.iter_mut().zip((0..frame.r).filter(holds)) {
                        *to = row;
                        count += 1;
                    }
                    let least = 1e-3 * self.rate_tolerance;
                    hold_rows(&frame, &rows[..count], v, least, |_, _| {})
                })
            })
        })
    }
}
