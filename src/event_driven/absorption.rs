//! Accumulations of impacts that are absorbed: a run goes on from their limit with the contacts closed.

use super::breakdown::Breakdown;
use super::friction::stopping::LastSlips;
use super::impact::Event;
use super::recovery::{Bounds, Place, add};
use super::time::accumulation::Accumulation;
use crate::event_driven::Model;
use crate::impact::Occasion;
use crate::linalg::largest;
use crate::linalg::scratch::with_zeros;
use crate::mechanics::friction::contact_function::{ContactFunction, Slip};
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::{MechanicalSystem, Redundant, State, UnilateralConstraints};
use crate::record::{ContactEvent, ContactEventKind, Remark};
use crate::{
    EventFunction, Flow, InputError, Integrator, Mode, Run, Start, Statistics, Status, Stop,
};

/// Impacts that contacts may have in turn before an accumulation.
const MOST_TURNS: usize = 1000;

/// Rates of gaps are followed in turn until they have fallen to this part of the first.
const SETTLED: f64 = 1e-6;

/// Rates up to so many times what counts as zero are left by impacts in turn that end.
const LEFT: f64 = 100.0;

/// Impacts in turn, summed up.
#[derive(Default)]
struct InTurn {
    /// Of each contact of the model, along its normal; then along its tangents, contact by contact.
    impulses: Vec<f64>,
    /// Of the velocities.
    change: Vec<f64>,
    remarks: Vec<Remark>,
    /// They have brought the contacts to rest: rates that are left, and those that are gathered in a flight up to the
    /// limit, count as zero.
    rests: bool,
    /// Contacts that stuck in their last impacts.
    stuck: Vec<usize>,
}

impl InTurn {
    /// Adds what an impact did, ordered alike.
    fn add(&mut self, impact: &ContactEvent, tangents: usize) {
        let (n, m) = (self.impulses.len() / (1 + tangents), impact.contacts.len());
        let of = |place: usize| impact.impulses.get(place).unwrap_or(&0.0);
        for (i, &j) in impact.contacts.iter().enumerate() {
            self.impulses[j] += of(i);
            for a in 0..tangents {
                self.impulses[n + j * tangents + a] += of(m + i * tangents + a);
            }
        }
        let new = impact
            .remarks
            .iter()
            .filter(|remark| !self.remarks.contains(remark));
        let new: Vec<Remark> = new.copied().collect();
        self.remarks.extend(new);
    }
}

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
    /// happens before, or where they do not stay closed or one is pulled back: their impacts are then followed further.
    pub(crate) fn absorb(
        &self,
        found: &Accumulation,
        tf: f64,
        place: &mut Place,
        bounds: &Bounds,
    ) -> Result<(Option<ContactEvent>, Statistics), Breakdown> {
        let (kind, from) = (ContactEventKind::ZenoAbsorbed, place.clone());
        let (mut held, mut cost) = (place.clone(), Statistics::default());
        let mut in_turn = InTurn::default();
        if found.is_near {
            in_turn = self.strike_before(found, place);
        } else {
            self.close(&found.contacts, kind, LastSlips::UNKNOWN, &mut held)?;
            cost = self.fly_to(found, tf, &mut held, bounds)?;
        }
        cost = add(cost, self.fly_to(found, tf, place, bounds)?);
        if !found.is_near {
            let nq = self.system().coordinates();
            place.state[..nq].copy_from_slice(&held.state[..nq]);
        }
        let last = LastSlips {
            stuck: &in_turn.stuck,
            // A slip that is left at the end of the impacts goes on, but for one about as slow as the gaps are.
            over: in_turn.rests.then(|| {
                let at = &mut ContactsAt::default();
                let rates = self.approach(at, &place.state, &found.contacts);
                LEFT * largest(&rates)
            }),
        };
        let arrives = found.is_near || held.t.min(place.t) >= found.t;
        let mut event = None;
        if arrives {
            let arrived = place.clone();
            let mut absorbed = self.close(&found.contacts, kind, last, place)?;
            // A body that has just struck one that is held now may rebound from it too low to be resolved.
            let low = self.low_rebounds(&arrived, place);
            if !low.is_empty() {
                let (all, mut also) = ([&found.contacts[..], &low].concat(), arrived);
                if let Ok(closed) = self.close(&all, kind, last, &mut also) {
                    (absorbed, *place) = (closed, also);
                }
            }
            let pulls = !in_turn.rests && self.pulls_back(found, &absorbed)?;
            absorbed.remarks.push(found.remark());
            // With what was stopped and struck on the way.
            (self.functions()).note_changes(&mut absorbed, &from.mode, &place.mode);
            let stays = |&j: &usize| self.is_closed(&place.mode, j);
            let closes = |j: &usize| found.contacts.contains(j) || stays(j);
            let closes = |j: &usize| closes(j) && !self.is_closed(&from.mode, *j);
            absorbed.activated = absorbed.contacts.iter().copied().filter(closes).collect();
            absorbed.mode_before = self.closed(&from.mode);
            let was_closed = |j: &usize| self.is_closed(&from.mode, *j);
            absorbed.released.retain(was_closed);
            let rests = found.is_near || found.contacts.iter().all(stays);
            self.tell_turns(&in_turn, &mut absorbed);
            event = (rests && !pulls).then_some(absorbed);
        }
        if event.is_none() {
            *place = from;
        }
        Ok((event, cost))
    }

    /// The part of an accumulation that is near which is told apart from the sum of its impulses.
    fn strike_before(&self, found: &Accumulation, place: &mut Place) -> InTurn {
        if self.row_tangents() == 1 {
            self.stop_slips_before(found.t, place);
        }
        let all = [&self.closed(&place.mode)[..], &found.contacts].concat();
        if !self.any_friction(&all) {
            // The sum is that of a single impact.
            return InTurn::default();
        }
        let still = place.clone();
        self.strike_in_turn(found, place).unwrap_or_else(|_| {
            // Where one of them cannot be decided the sum may still be.
            *place = still;
            InTurn::default()
        })
    }

    /// Lets the contacts of an accumulation strike in turn, each by the law of the model, at one configuration, as
    /// long as their gaps close within the time that is left by their rates alone. How a body comes to rest that
    /// is thrown to and fro depends on how it slips from impact to impact, and not on their sum alone. After
    /// [`MOST_TURNS`] all stop at once.
    fn strike_in_turn(&self, found: &Accumulation, place: &mut Place) -> Result<InTurn, Breakdown> {
        let (contacts, system) = (&found.contacts, self.system());
        let (q, v) = self.parts(&place.state);
        let gap = |&j: &usize| system.gap(j, q).max(0.0);
        let mut gaps: Vec<f64> = contacts.iter().map(gap).collect();
        let mut in_turn = InTurn {
            impulses: vec![0.0; (1 + self.row_tangents()) * system.contacts()],
            change: v.iter().map(|v| -v).collect(),
            remarks: Vec::new(),
            rests: false,
            stuck: contacts.clone(),
        };
        in_turn.stuck.retain(|&j| self.sticks(j, &place.state));
        // Low rebounds stay open meanwhile, or slips would be stopped with them.
        let any_closed = !self.closed(&place.mode).is_empty();
        let (mut at, mut least) = (ContactsAt::default(), self.rate_tolerance);
        let mut time_left = found.t + found.bound - place.t;
        for number in 1..=MOST_TURNS {
            let rates = self.approach(&mut at, &place.state, contacts);
            if number == 1 {
                let fastest = rates.iter().fold(0.0, |most: f64, u| most.max(-u));
                least = least.max(SETTLED * fastest);
            }
            let time = |i: usize| {
                if rates[i] >= -least || self.is_closed(&place.mode, contacts[i]) {
                    f64::INFINITY
                } else {
                    gaps[i] / -rates[i]
                }
            };
            let times: Vec<f64> = (0..contacts.len()).map(time).collect();
            let first = times.iter().copied().fold(f64::INFINITY, f64::min);
            if number > 1 {
                let is_slow = |rate: &f64| rate.abs() <= LEFT * least;
                in_turn.rests = rates.iter().all(is_slow);
            }
            if !first.is_finite() || first > time_left {
                break;
            }
            time_left -= first;
            for (gap, rate) in gaps.iter_mut().zip(&rates) {
                *gap = (*gap + rate * first).max(0.0);
            }
            // Within the resolution of time they strike together.
            let resolved = first + f64::EPSILON * place.t.abs();
            let strikes = |j: usize| {
                let mut each = contacts.iter().zip(&times);
                each.any(|(&k, time)| k == j && *time <= resolved)
            };
            let takes_part = |&j: &usize| self.is_closed(&place.mode, j) || strikes(j);
            let touching: Vec<usize> = (0..system.contacts()).filter(takes_part).collect();
            let new = touching.iter().map(|&j| strikes(j)).collect();
            let mut impact = Event::of(&touching, new, at);
            let (t, state, mode) = (place.t, &mut place.state, &mut place.mode);
            self.apply_impact(Occasion { t, number }, state, &mut impact)?;
            if any_closed {
                self.update_contacts(t, state, &mut impact.settling(), mode)?;
            }
            let mut entry = ContactEvent::new(t, ContactEventKind::Contact);
            impact.tell(&mut entry);
            in_turn.add(&entry, self.row_tangents());
            in_turn.stuck.retain(|&j| !strikes(j));
            let struck = contacts.iter().copied().filter(|&j| strikes(j));
            let stuck = struck.filter(|&j| self.sticks(j, &place.state));
            in_turn.stuck.extend(stuck);
            at = impact.at;
        }
        let (_, v) = self.parts(&place.state);
        for (change, v) in in_turn.change.iter_mut().zip(v) {
            *change += v;
        }
        Ok(in_turn)
    }

    /// True where a contact with friction has no slip.
    fn sticks(&self, contact: usize, state: &[f64]) -> bool {
        let (q, v) = self.parts(state);
        let [x, y] = self.slip_velocity(contact, q, v);
        self.friction(contact) != 0.0 && x.hypot(y) <= self.rate_tolerance
    }

    /// The open contacts that touch and part so slowly that they get no higher than gaps are resolved, where that has
    /// changed since `before`.
    fn low_rebounds(&self, before: &Place, place: &Place) -> Vec<usize> {
        let (q, v) = self.parts(&place.state);
        let touches = |&j: &usize| {
            !self.is_closed(&place.mode, j) && self.system().gap(j, q).abs() <= self.gap_tolerance
        };
        let open: Vec<usize> = (0..self.system().contacts()).filter(touches).collect();
        let at = &mut ContactsAt::default();
        let was = self.approach(at, &before.state, &open);
        let rates = self.approach(at, &place.state, &open);
        let mut bends = vec![0.0; open.len()];
        let state = State { t: place.t, q, v };
        self.bends(state, &place.mode, &open, at, &mut bends);
        let is_low = |&i: &usize| {
            let (rate, least) = (rates[i], self.rate_tolerance);
            let is_changed = (rate - was[i]).abs() > least;
            is_changed && rate > least && bends[i] < 0.0 && self.is_low(place.t, rate, bends[i])
        };
        (0..open.len()).filter(is_low).map(|i| open[i]).collect()
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

    /// Adds impacts in turn to the entry of the accumulation that they belong to.
    fn tell_turns(&self, in_turn: &InTurn, entry: &mut ContactEvent) {
        let (_, v) = self.parts_mut(&mut entry.state_before);
        for (v, change) in v.iter_mut().zip(&in_turn.change) {
            *v -= change;
        }
        let (n, m) = (self.system().contacts(), entry.contacts.len());
        let k = (entry.impulses.len() / m.max(1)).saturating_sub(1);
        for (i, &j) in entry.contacts.iter().enumerate() {
            entry.impulses[i] += in_turn.impulses.get(j).unwrap_or(&0.0);
            let along = in_turn.impulses.iter().skip(n + j * k).take(k);
            for (to, p) in entry.impulses[m + i * k..].iter_mut().zip(along) {
                *to += p;
            }
        }
        let at = &mut ContactsAt::default();
        entry.approach = self.approach(at, &entry.state_before, &entry.contacts);
        entry.remarks.extend_from_slice(&in_turn.remarks);
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
    /// impact, and go on. That is a ruling: a run with one, and its derivatives, are not guaranteed. The event has a
    /// [`Remark::Accumulation`](crate::impact::Remark::Accumulation) with the bound of the error of that
    /// time. Contacts that a body is thrown to and fro between come to rest together; where one of them has
    /// friction their impacts are followed in turn, up to a thousand of them, and the event has the sum of their
    /// impulses. Rebounds may get too low to be resolved before impacts accumulate so fast: contacts that are held
    /// then have an event of their own.
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
