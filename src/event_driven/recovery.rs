//! The work of a run between two parts of the core: accumulations are absorbed, touches closed, and
//! contacts opened whose force fades.
//!
//! For each contact the last intervals `Δ_k` between its activations are kept. When their ratios
//! `r_k = Δ_{k+1}/Δ_k` are below one and hardly vary, impacts accumulate at
//! `t* = t_k + Δ_k r/(1 − r)`. For a bouncing ball this is exact: `t* = t_1 (1 + γ)/(1 − γ)`.

use super::breakdown::Breakdown;
use super::friction::mode_problem::STAYS;
use super::impact::Touching;
use super::impact::{Event, ImpactRule};
use crate::event_driven::Model;
use crate::impact::planar::modes::Known;
use crate::impact::{AnitescuPotra, ImpactFailure, Occasion, Selection};
use crate::lcp::LcpSolver;
use crate::mechanics::motion::contacts_at::ContactsAt;
use crate::mechanics::motion::rates::change_rates;
use crate::mechanics::{MechanicalSystem, UnilateralConstraints};
use crate::record::{ContactEvent, ContactEventKind};
use crate::{Flow, InputError, Integrator, Interrupt, Mode, Run, Start, Statistics, Status, Stop};

/// The place of a run: time, state and mode.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    pub(crate) t: f64,
    pub(crate) state: Vec<f64>,
    pub(crate) mode: Mode,
}

/// The limits that are left for what the driver does itself.
#[derive(Clone, Debug)]
pub(crate) struct Bounds {
    /// Smooth steps, accepted or not.
    pub(crate) steps: usize,
    /// Memory of a trajectory (bytes).
    pub(crate) memory: usize,
    pub(crate) interrupt: Interrupt,
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
            let state = run.state_at(place.t + part * (end - place.t));
            state.is_ok_and(|state| {
                let (q, _) = self.parts(state.as_slice());
                (0..self.system().contacts()).all(|j| {
                    found.contacts.contains(&j)
                        || self.is_closed(mode, j)
                        || self.system().gap(j, q) > -self.gap_tolerance
                })
            })
        };
        if [0.25, 0.5, 0.75, 1.0].into_iter().all(clear) {
            place.state = run.completed()?.state().as_slice().to_vec();
            place.t = end;
        }
        Ok(cost)
    }

    /// Closes contacts together with those already closed, by a plastic impact that may pull.
    /// Contacts that approach after it take part in a second plastic impact, which only pushes.
    pub(crate) fn close(
        &self,
        contacts: &[usize],
        kind: ContactEventKind,
        place: &mut Place,
    ) -> Result<ContactEvent, Breakdown> {
        let before = place.mode.clone();
        let mut event = self.event_at(kind, place);
        event.activated = contacts.to_vec();
        let (t, state, mode) = (place.t, &mut place.state, &mut place.mode);
        let mut held = [&event.mode_before[..], contacts].concat();
        held.sort_unstable();
        held.dedup();
        let nq = self.system().coordinates();
        let touching = self.touching(&state[..nq], &held);
        let mut at = ContactsAt::default();
        super::motion::land(self, state, &[], &touching, &mut at);
        let mut further = Event::of(&touching, Vec::new(), at);
        let impulses = if self.any_friction(&touching) {
            self.stop_with_friction(t, state, &mut further)?
        } else {
            self.stop_by_pulling(t, state, &held, &mut further)?
        };
        // After a plastic impact no contact rebounds below what gaps resolve.
        for &j in &touching {
            self.set_closed(mode, j, true);
        }
        self.update_contacts(t, state, &mut further.settling(), mode)?;
        event.contacts = touching;
        event.impulses = impulses;
        further.tell_pushes(&mut event);
        Ok(self.finished(event, &before, place))
    }

    /// A plastic impact of `held`, which may pull, and one that only pushes of contacts that approach
    /// after it. Gives the normal impulses of those that touch.
    fn stop_by_pulling(
        &self,
        t: f64,
        state: &mut [f64],
        held: &[usize],
        event: &mut Event,
    ) -> Result<Vec<f64>, Breakdown> {
        let mut impulses = vec![0.0; event.touching.len()];
        let (q, v) = self.parts_mut(state);
        let plastic = self.in_frame(&mut event.at, q, held, |frame| {
            let mut p: Vec<f64> = (0..held.len())
                .map(|i| -crate::linalg::dot(frame.row(i), v))
                .collect();
            let wanted = p.clone();
            if frame.solve_gram(&mut p, self.redundant)? {
                for (i, &p) in p.iter().enumerate() {
                    frame.push(i, p, v);
                }
            } else {
                change_rates(frame, &wanted, v);
            }
            Ok(p)
        })?;
        let plastic = plastic.map_err(|trouble| super::breakdown::explain(trouble, q, held))?;
        for (j, p) in held.iter().zip(plastic) {
            if let Some(i) = event.touching.iter().position(|k| k == j) {
                impulses[i] += p;
            }
        }
        event.new = self.approaching(&mut event.at, state, &event.touching);
        if event.is_impact() {
            self.apply_plastic_impact(Occasion { t, number: 0 }, state, event)?;
            for (sum, p) in impulses.iter_mut().zip(event.impulses()) {
                *sum += p;
            }
        }
        Ok(impulses)
    }

    /// An inelastic impact with friction, which stands for all those up to the accumulation: slips
    /// lose what the sum of the normal impulses to come takes. Gives the impulses of the contacts
    /// that touch, normal ones first.
    fn stop_with_friction(
        &self,
        t: f64,
        state: &mut [f64],
        event: &mut Event,
    ) -> Result<Vec<f64>, Breakdown> {
        event.new = self.approaching(&mut event.at, state, &event.touching);
        if event.is_impact() {
            let rule = ImpactRule {
                law: &AnitescuPotra::new(),
                selection: &Selection::First,
            };
            self.apply_impact_with(rule, Occasion { t, number: 0 }, state, event)?;
        }
        Ok(event.impulses().to_vec())
    }

    /// Opens a closed contact whose force falls to zero too slowly for a release.
    pub(crate) fn open(
        &self,
        contact: usize,
        place: &mut Place,
    ) -> Result<ContactEvent, Breakdown> {
        let before = place.mode.clone();
        let mut event = self.event_at(ContactEventKind::Touch, place);
        event.released = vec![contact];
        event.contacts.clone_from(&event.mode_before);
        let (t, state, mode) = (place.t, &mut place.state, &mut place.mode);
        let stays = |j: &usize| Known {
            stays: *j != contact,
            ..STAYS
        };
        let known: Vec<Known> = event.mode_before.iter().map(stays).collect();
        let mut touching = Touching {
            contacts: &event.mode_before,
            released: &[contact],
            known: &known,
            number: 0,
            pushes: &mut Vec::new(),
            at: &mut ContactsAt::default(),
            solver: &mut LcpSolver::growing(),
        };
        self.update_contacts(t, state, &mut touching, mode)?;
        Ok(self.finished(event, &before, place))
    }

    /// One impact of all contacts that touch, for impacts that follow each other within the
    /// resolution of time. None when no contact approaches.
    pub(crate) fn strike_together(
        &self,
        place: &mut Place,
    ) -> Result<Option<ContactEvent>, Breakdown> {
        let before = place.mode.clone();
        let mut event = self.event_at(ContactEventKind::Contact, place);
        let (t, state, mode) = (place.t, &mut place.state, &mut place.mode);
        let nq = self.system().coordinates();
        let touching = self.touching(&state[..nq], &event.mode_before);
        let mut at = ContactsAt::default();
        super::motion::land(self, state, &event.mode_before, &touching, &mut at);
        let new = self.approaching(&mut at, state, &touching);
        let mut impact = Event::of(&touching, new, at);
        if !impact.is_impact() {
            return Ok(None);
        }
        self.apply_impact(Occasion { t, number: 0 }, state, &mut impact)?;
        self.update_contacts(t, state, &mut impact.settling(), mode)?;
        let approaches = touching.iter().zip(&impact.new).filter(|(_, new)| **new);
        event.activated = approaches.map(|(&j, _)| j).collect();
        impact.tell(&mut event);
        Ok(Some(self.finished(event, &before, place)))
    }

    /// True for an impact that accumulates at one instant: a body rattles between contacts that
    /// squeeze it, or is thrown to and fro with losses more often than the cap of the law.
    pub(crate) fn is_endless(&self, error: &Breakdown) -> bool {
        let Breakdown::Impact {
            contacts,
            reason,
            state,
            ..
        } = error
        else {
            return false;
        };
        let (q, v) = self.parts(state);
        match **reason {
            ImpactFailure::Squeezed { .. } | ImpactFailure::NoFeasibleInterior { .. } => true,
            ImpactFailure::ReflectionCap { .. } => contacts
                .iter()
                .all(|&j| self.system().restitution(j, q, v) < 1.0),
            _ => false,
        }
    }

    /// The contacts with zero gaps, closed or not, without those that part faster than the
    /// tolerance.
    pub(crate) fn touching_and_not_parting(&self, place: &Place) -> Vec<usize> {
        let nq = self.system().coordinates();
        let mut touching = self.touching(&place.state[..nq], &self.closed(&place.mode));
        let rates = self.approach(&mut ContactsAt::default(), &place.state, &touching);
        let mut rates = rates.iter();
        touching.retain(|_| rates.next().is_none_or(|&rate| rate <= self.rate_tolerance));
        touching
    }

    /// The contacts in `also`, and those whose gaps are zero.
    fn touching(&self, q: &[f64], also: &[usize]) -> Vec<usize> {
        let touches =
            |j: &usize| also.contains(j) || self.system().gap(*j, q).abs() <= self.gap_tolerance;
        (0..self.system().contacts()).filter(touches).collect()
    }

    fn event_at(&self, kind: ContactEventKind, place: &Place) -> ContactEvent {
        ContactEvent {
            mode_before: self.closed(&place.mode),
            state_before: place.state.clone(),
            ..ContactEvent::new(place.t, kind)
        }
    }

    /// The entry of the log, with what changed since `before`.
    fn finished(&self, mut event: ContactEvent, before: &Mode, place: &Place) -> ContactEvent {
        event.activated.retain(|&j| !self.is_closed(before, j));
        self.functions()
            .note_changes(&mut event, before, &place.mode);
        if event.approach.is_empty() {
            let at = &mut ContactsAt::default();
            event.approach = self.approach(at, &event.state_before, &event.contacts);
        }
        ContactEvent {
            mode_after: self.closed(&place.mode),
            state_after: place.state.clone(),
            ..event
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
    /// impact, and go on. Derivatives beyond it are not guaranteed.
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

/// An accumulation that is about to happen.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Accumulation {
    pub(crate) t: f64,
    pub(crate) contacts: Vec<usize>,
    pub(crate) ratio: f64,
}

/// Intervals kept for each contact.
const KEPT: usize = 6;
/// Ratios may vary by this part.
const STEADY: f64 = 0.05;
/// Ratios looked at, at least.
const LEAST_RATIOS: usize = 3;

/// The activations of all contacts, and the accumulation found in them.
#[derive(Clone, Debug)]
pub(crate) struct Detector {
    /// Times of the last activations, the latest last.
    times: Vec<Vec<f64>>,
    /// An accumulation closer than this is about to happen (s).
    near: f64,
    end: f64,
}

impl Detector {
    pub(crate) fn new(contacts: usize) -> Self {
        Self {
            times: vec![Vec::with_capacity(KEPT + 2); contacts],
            near: 0.0,
            end: f64::NEG_INFINITY,
        }
    }

    /// Announces accumulations closer than `near`, up to `end`, from now on (s).
    pub(crate) fn look(&mut self, near: f64, end: f64) {
        self.near = near;
        self.end = end;
    }

    /// Records an activation; returns the accumulation that it announces.
    pub(crate) fn activation(&mut self, contact: usize, t: f64) -> Option<Accumulation> {
        let times = self.times.get_mut(contact)?;
        times.push(t);
        if times.len() > KEPT + 1 {
            times.remove(0);
        }
        let (time, ratio) = self.prediction(contact)?;
        if !(time - t < self.near && time <= self.end) {
            return None;
        }
        // Contacts that accumulate at the same time: rocking.
        let contacts = (0..self.times.len())
            .filter(|&j| {
                let other = self.prediction(j).map(|(other, _)| other);
                j == contact || other.is_some_and(|other| (other - time).abs() < 10.0 * self.near)
            })
            .collect();
        Some(Accumulation {
            t: time,
            contacts,
            ratio,
        })
    }

    /// Forgets a contact, which has been dealt with.
    pub(crate) fn forget(&mut self, contacts: &[usize]) {
        for &j in contacts {
            if let Some(times) = self.times.get_mut(j) {
                times.clear();
            }
        }
    }

    /// Time and ratio of the accumulation of a contact, if its gaps shrink steadily.
    fn prediction(&self, contact: usize) -> Option<(f64, f64)> {
        let times = &self.times[contact];
        let mut ratios = times
            .windows(3)
            .map(|times| (times[2] - times[1]) / (times[1] - times[0]));
        if ratios.len() < LEAST_RATIOS || !ratios.clone().all(|r| r > 0.0 && r < 1.0) {
            return None;
        }
        let range = |(a, b): (f64, f64), r: f64| (a.min(r), b.max(r));
        let (least, most) = ratios.clone().fold((1.0, 0.0), range);
        if most - least > STEADY * most {
            return None;
        }
        let [.., before, last] = times[..] else {
            return None;
        };
        let (ratio, gap) = (ratios.next_back()?, last - before);
        Some((last + gap * ratio / (1.0 - ratio), ratio))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bouncing_ball_is_found_and_its_time_is_exact() {
        let (first, restitution): (f64, f64) = (0.45, 0.5);
        let exact = first * (1.0 + restitution) / (1.0 - restitution);
        let mut detector = Detector::new(1);
        detector.look(1e-3, 10.0);
        let (mut t, mut gap) = (first, 2.0 * first * restitution);
        let found = loop {
            if let Some(found) = detector.activation(0, t) {
                break found;
            }
            t += gap;
            gap *= restitution;
        };
        assert!((found.t - exact).abs() < 1e-12 && found.contacts == [0]);
        assert!((found.ratio - restitution).abs() < 1e-9 && exact - t < 1e-3);
    }

    #[test]
    fn steady_bouncing_and_irregular_gaps_are_no_accumulation() {
        let mut detector = Detector::new(2);
        detector.look(1.0, 100.0);
        for k in 0..40 {
            assert_eq!(detector.activation(0, f64::from(k)), None);
        }
        let mut t = 0.0;
        for gap in [1.0, 0.5, 0.4, 0.1, 0.09, 0.02, 0.018] {
            t += gap;
            assert_eq!(detector.activation(1, t), None);
        }
    }
}
