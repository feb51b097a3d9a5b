//! Accumulations of impacts that are absorbed: a run goes on from their limit with the contacts closed.

use super::breakdown::Breakdown;
use super::recovery::{Bounds, Place, add};
use super::time::accumulation::Accumulation;
use crate::event_driven::Model;
use crate::linalg::scratch::with_zeros;
use crate::mechanics::friction::contact_function::{ContactFunction, Slip};
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::{MechanicalSystem, Redundant, State, UnilateralConstraints};
use crate::record::{ContactEvent, ContactEventKind};
use crate::{
    EventFunction, Flow, InputError, Integrator, Mode, Run, Start, Statistics, Status, Stop,
};

impl Model<'_> {
    /// Moves the state to the time of an accumulation with its contacts left out, unless another
    /// gap closes on the way. Returns the cost.
    ///
    /// # Errors
    /// [`Stop::TooManySteps`] and [`Stop::Interrupted`], by the limits of the whole run; any other
    /// reason that ends the flight.
    pub(crate) fn fly_to(
        &self,
        found: &Accumulation,
        tf: f64,
        place: &mut Place,
        bounds: &Bounds,
    ) -> Result<Statistics, Breakdown> {
        let end = found.t.clamp(place.t, tf.max(place.t));
        let mode = &place.mode;
        let flow = |t: f64, x: &[f64], dx: &mut [f64]| self.flow(t, x, mode, dx);
        let run = fly_freely(&flow, place.t, &place.state, end, bounds)?;
        if let Status::Refused(
            reason @ (Stop::TooManySteps { .. } | Stop::RunTooLarge { .. } | Stop::Interrupted),
        ) = run.status()
        {
            return Err(reason.clone().into());
        }
        let cost = *run.statistics();
        let clear = |part: f64| {
            let t = place.t + part * (end - place.t);
            run.state_at(t).is_ok_and(|state| {
                let (q, _) = self.parts(state.as_slice());
                let n = self.system().contacts();
                let slip = |j| {
                    let index = self.functions().index(ContactFunction::Slip(j));
                    self.event(index, t, state.as_slice(), mode)
                };
                (0..n).all(|j| match self.is_closed(mode, j) {
                    true if found.is_near || !self.slides() => true,
                    true => slip(j) >= -10.0 * self.rate_tolerance,
                    false => {
                        found.contacts.contains(&j) || self.system().gap(j, q) > -self.gap_tolerance
                    }
                })
            })
        };
        if [0.25, 0.5, 0.75, 1.0].into_iter().all(clear) {
            place.state = run.completed()?.state().as_slice().to_vec();
            place.t = end;
        }
        Ok(cost)
    }

    /// Goes on to an accumulation, and closes its contacts there. Returns the event for the log, and the
    /// cost. Where the accumulation is not near, its contacts touch on the way there: the configuration
    /// is that of a motion with them held, and velocities are those of one without them, which the
    /// impulse of all impacts to come then stops. None, with the place as it was, where something else
    /// happens before, or where they do not stay closed: its impacts are then followed further.
    pub(crate) fn absorb(
        &self,
        found: &Accumulation,
        tf: f64,
        place: &mut Place,
        bounds: &Bounds,
    ) -> Result<(Option<ContactEvent>, Statistics), Breakdown> {
        let (kind, from) = (ContactEventKind::ZenoAbsorbed, place.clone());
        let (mut held, mut cost) = (place.clone(), Statistics::default());
        if !found.is_near {
            self.close(&found.contacts, kind, &mut held)?;
            cost = self.fly_to(found, tf, &mut held, bounds)?;
        } else if self.row_tangents() == 1 {
            self.stop_slips_before(found.t, place);
        }
        cost = add(cost, self.fly_to(found, tf, place, bounds)?);
        if !found.is_near {
            let nq = self.system().coordinates();
            place.state[..nq].copy_from_slice(&held.state[..nq]);
        }
        let arrives = found.is_near || held.t.min(place.t) >= found.t;
        let mut event = None;
        if arrives {
            let mut absorbed = self.close(&found.contacts, kind, place)?;
            absorbed.remarks.push(found.remark());
            // With the slips that were stopped.
            (self.functions()).note_changes(&mut absorbed, &from.mode, &place.mode);
            let stays = |&j: &usize| self.is_closed(&place.mode, j);
            let rests = found.is_near || found.contacts.iter().all(stays);
            let holds = rests && !self.pulls_back(found, &absorbed)?;
            event = holds.then_some(absorbed);
        }
        if event.is_none() {
            *place = from;
        }
        Ok((event, cost))
    }

    /// Lets slips come to rest at once that friction stops before a time so near that nothing before it matters. A
    /// flight up to it in their mode would turn them round.
    fn stop_slips_before(&self, end: f64, place: &mut Place) {
        let (q, v) = self.parts(&place.state);
        let state = State { t: place.t, q, v };
        let closed = self.closed(&place.mode);
        let stops = |acceleration: &mut [f64]| -> Vec<usize> {
            self.motion_with_friction(state, &place.mode, Some(&mut *acceleration), None);
            let stops = |&j: &usize| {
                let slip = self.functions().slip(&place.mode, j);
                let along = |v: &[f64]| slip.along(self.slip_velocity(j, q, v));
                slip != Slip::NONE && along(v) < -along(acceleration) * (end - place.t)
            };
            closed.iter().copied().filter(stops).collect()
        };
        let stopped = with_zeros(v.len(), stops);
        for &j in &stopped {
            self.set_contacting(&mut place.mode, j, Some(Slip::NONE));
        }
        if !stopped.is_empty() {
            self.hold_in_mode(&mut place.state, &place.mode);
        }
    }

    /// True where the impulse of an accumulation pulls one of its contacts back that parts. It stands for the sum of
    /// those to come, of which none pulls: such a contact is not at its last impacts. Of contacts that depend on
    /// each other no share is known, and none is said to pull.
    fn pulls_back(&self, found: &Accumulation, event: &ContactEvent) -> Result<bool, Breakdown> {
        let is_pulled = |i: usize| {
            event.impulses[i] < 0.0
                && event.approach[i] > self.rate_tolerance
                && found.contacts.contains(&event.contacts[i])
        };
        if !(0..event.contacts.len()).any(is_pulled) {
            return Ok(false);
        }
        let (q, _) = self.parts(&event.state_after);
        let (at, contacts) = (&mut ContactsAt::default(), &found.contacts);
        self.in_frame(at, q, contacts, |frame| {
            let mut shares = vec![0.0; contacts.len()];
            frame.solve_gram(&mut shares, Redundant::LeastSquares) == Ok(true)
        })
    }
}

/// A right-hand side `f(t, x)`, written into the last argument.
type FreeFlow<'a> = dyn Fn(f64, &[f64], &mut [f64]) + 'a;

/// A run without event functions. Its right-hand side is called through a pointer, so that it is
/// compiled once for all models.
fn fly_freely(
    flow: &FreeFlow<'_>,
    t: f64,
    state: &[f64],
    end: f64,
    bounds: &Bounds,
) -> Result<Run, InputError> {
    let free = crate::flow_fn(state.len(), |t, x, _: &Mode, dx: &mut [f64]| flow(t, x, dx));
    Integrator::new(free)?
        .rtol(1e-9)
        .atol(1e-12)
        .max_steps(bounds.steps)
        .max_memory(bounds.memory)
        .interrupt(&bounds.interrupt)
        .integrate(&Start::at(t).x(state), end)
}

/// The policy where impacts accumulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Zeno {
    /// End the run with [`Breakdown::Zeno`](crate::event_driven::Breakdown::Zeno).
    #[default]
    Error,
    /// Move to the accumulation time with these contacts left out, close them there by a plastic
    /// impact, and go on. Derivatives beyond it are not guaranteed. The event has a
    /// [`Remark::Accumulation`](crate::impact::Remark::Accumulation) with the bound of the error of that
    /// time. Contacts that a body is thrown to and fro between come to rest together. Rebounds may get too
    /// low to be resolved before impacts accumulate so fast: contacts that are held then have an event of
    /// their own.
    ///
    /// An accumulation at one instant is absorbed too: impacts within the resolution of time that
    /// one impact of all touching contacts does not end, and an impact without an end by its law,
    /// because contacts squeeze a body
    /// ([`impact::ImpactFailure::Squeezed`](crate::impact::ImpactFailure::Squeezed),
    /// [`impact::ImpactFailure::NoFeasibleInterior`](crate::impact::ImpactFailure::NoFeasibleInterior)) or lose
    /// energy stage after stage up to the cap
    /// ([`impact::ImpactFailure::ReflectionCap`](crate::impact::ImpactFailure::ReflectionCap), restitutions
    /// below 1).
    Absorb,
    /// End the run at the accumulation time, without an error and with the contacts still open.
    /// Impacts without an end by their law end the run in the same way.
    StopAt,
}
