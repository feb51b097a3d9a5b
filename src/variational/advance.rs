//! A step with the impacts inside it.
//!
//! Let `(q(h'), p(h'))` be the step map with the partial step `h'`. The first root of a gap in
//! `(0, h]` is an impact; what is left of the step follows it. The gap of a contact that was just
//! thrown off is zero at `h' = 0`: it is bracketed from the first `h'` at which it is positive. A
//! gap that closes and opens again has its least value where its rate changes sign.

use super::derivative::Part;
use super::driver::Settings;
use super::failure::Failure;
use super::held::{Bodies, Held};
use super::midpoint::Step;
use super::run::VariationalRun;
use crate::linalg::dot;
use crate::mechanics::Mechanism;
use crate::mechanics::gaps::{gap_row, work_size};
use crate::mechanics::log::{ContactEvent, ContactEventKind};
use crate::ode::root::{Sample, peak, root};

/// Halvings of a step in search of the first moment at which a gap is open.
const HALVINGS: usize = 60;

/// A state of the bodies.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) t: f64,
    pub(super) q: Vec<f64>,
    pub(super) p: Vec<f64>,
}

/// What is known of a contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    pub(super) closed: bool,
    /// Time of its last impact (s).
    pub(super) last: f64,
    /// Its impacts in this step.
    pub(super) impacts: usize,
}

/// A run under way.
pub(super) struct Runner<'a> {
    pub(super) settings: &'a Settings,
    pub(super) system: &'a dyn Mechanism,
    pub(super) step: Step,
    pub(super) held: Held,
    pub(super) state: State,
    pub(super) touches: Vec<Touch>,
    /// The closed contacts, in rising order.
    pub(super) closed: Vec<usize>,
    /// Impacts so far.
    pub(super) number: usize,
    pub(super) run: VariationalRun,
    /// Memory of the run so far (bytes), with so many events.
    memory: usize,
    counted: usize,
    /// The parts of the run, where its derivative is asked for.
    pub(super) parts: Option<Vec<Part>>,
    trial: State,
    /// The gaps at the end of a part of a step.
    ends: Vec<f64>,
    /// Which of them may have been closed in between.
    dips: Vec<bool>,
    /// Velocities at the start and the end of a part of a step.
    velocities: [Vec<f64>; 2],
    row: Vec<f64>,
    work: Vec<f64>,
}

impl<'a> Runner<'a> {
    pub(super) fn new(settings: &'a Settings, system: &'a dyn Mechanism) -> Result<Self, Failure> {
        let d = system.dof();
        let open = Touch {
            closed: false,
            last: f64::NEG_INFINITY,
            impacts: 0,
        };
        let state = State {
            t: 0.0,
            q: vec![0.0; d],
            p: vec![0.0; d],
        };
        Ok(Self {
            settings,
            system,
            step: Step::new(system)?,
            held: Held::default(),
            parts: None,
            trial: state.clone(),
            state,
            touches: vec![open; system.contacts()],
            closed: Vec::new(),
            number: 0,
            run: VariationalRun {
                dof: d,
                times: Vec::new(),
                states: Vec::new(),
                events: Vec::new(),
                initial: Vec::new(),
                failure: None,
                guaranteed: true,
            },
            memory: 0,
            counted: 0,
            ends: vec![0.0; system.contacts()],
            dips: vec![false; system.contacts()],
            velocities: [vec![0.0; d], vec![0.0; d]],
            row: vec![0.0; d],
            work: vec![0.0; work_size(system)],
        })
    }

    pub(super) fn bodies(&self) -> Bodies<'a> {
        Bodies {
            system: self.system,
            step: self.settings.step,
            friction: self.settings.friction,
            interrupt: &self.settings.interrupt,
        }
    }

    /// Notes the state as the end of a step.
    pub(super) fn record(&mut self) -> Result<(), Failure> {
        let State { t, q, p } = &self.state;
        self.step.velocity(self.system, *t, q, p)?;
        let each = (1 + 3 * q.len()) * size_of::<f64>();
        let events = self.run.events.get(self.counted..).unwrap_or_default();
        self.memory += each + events.iter().map(ContactEvent::bytes).sum::<usize>();
        self.counted = self.run.events.len();
        if self.memory > self.settings.max_memory {
            return Err(Failure::TooLarge {
                t: self.run.t(),
                limit: self.settings.max_memory,
            });
        }
        self.run.times.push(*t);
        self.run.states.extend_from_slice(q);
        self.run.states.extend_from_slice(&self.step.newton.terms.v);
        self.run.states.extend_from_slice(p);
        Ok(())
    }

    pub(super) fn finish(mut self, failure: Option<Failure>) -> VariationalRun {
        self.run.failure = failure;
        self.run
    }

    /// Advances to `end`, with the impacts on the way.
    pub(super) fn step_to(&mut self, end: f64) -> Result<(), Failure> {
        self.settings.interrupt.check()?;
        for touch in &mut self.touches {
            touch.impacts = 0;
        }
        for _ in 0..=self.settings.max_impacts {
            let h = end - self.state.t;
            self.map(h)?;
            let Some((first, contact)) = self.first_root(h)? else {
                self.keep(h, None);
                self.accept(end);
                self.release()?;
                return self.record();
            };
            if first < h {
                self.map(first)?;
            }
            self.keep(first, Some(contact));
            self.accept(self.state.t + first);
            self.release()?;
            self.impact(Some(contact))?;
            if self.state.t >= end {
                // What the time of the impact moves.
                self.keep(0.0, None);
                return self.record();
            }
        }
        Err(self.too_many())
    }

    #[cold]
    fn too_many(&self) -> Failure {
        let last = self.run.events.last();
        Failure::TooManyImpacts {
            t: self.state.t,
            limit: self.settings.max_impacts,
            contacts: last
                .map(|event| event.activated.clone())
                .unwrap_or_default(),
            state: [&self.state.q[..], &self.step.newton.terms.v].concat(),
        }
    }

    #[cold]
    fn no_number(&self) -> Failure {
        Failure::NotFinite {
            t: self.state.t,
            state: [&self.trial.q[..], &self.step.newton.terms.v].concat(),
        }
    }

    /// The state after a partial step into `trial`.
    fn map(&mut self, h: f64) -> Result<(), Failure> {
        self.trial.q.copy_from_slice(&self.state.q);
        self.trial.p.copy_from_slice(&self.state.p);
        let (t, bodies) = (self.state.t, self.bodies());
        self.step.newton.terms.closed.clone_from(&self.closed);
        let (q, p) = (&mut self.trial.q, &mut self.trial.p);
        if self.closed.is_empty() {
            self.step.advance(self.system, (t, h), q, p)
        } else {
            self.held
                .advance(&mut self.step, bodies, (t, h), (q, p), &self.closed)
        }
    }

    /// Keeps a part of the run for its derivative.
    fn keep(&mut self, h: f64, hit: Option<usize>) {
        let (state, held) = (&self.state, !self.closed.is_empty());
        if let Some(parts) = &mut self.parts {
            parts.push(if held {
                Part::Held(state.clone())
            } else {
                Part::Free(state.clone(), h, hit)
            });
        }
    }

    /// Takes the trial.
    fn accept(&mut self, t: f64) {
        std::mem::swap(&mut self.state.q, &mut self.trial.q);
        std::mem::swap(&mut self.state.p, &mut self.trial.p);
        self.state.t = t;
    }

    /// The first partial step, up to `h`, at the end of which an open contact closes. The trial is
    /// the state after `h`, and stays it.
    fn first_root(&mut self, h: f64) -> Result<Option<(f64, usize)>, Failure> {
        for j in 0..self.ends.len() {
            self.ends[j] = self.system.gap(j, &self.trial.q);
        }
        if self.ends.iter().any(|gap| gap.is_nan()) {
            return Err(self.no_number());
        }
        self.find_dips()?;
        let mut first: Option<(f64, usize)> = None;
        let mut moved = false;
        for j in 0..self.touches.len() {
            let (end, dips) = (self.ends[j], self.dips[j]);
            if self.touches[j].closed || end > 0.0 && !dips {
                continue;
            }
            let before = self.system.gap(j, &self.state.q);
            moved = true;
            let until = first.map_or(h, |(found, _)| found);
            let found = if dips {
                self.dip(j, before, (h, end), until)?
            } else {
                self.closing(j, before, (h, end), until)?
            };
            if let Some(found) = found {
                first = Some((found, j));
            }
        }
        if moved {
            self.map(h)?;
        }
        Ok(first)
    }

    /// Which gaps are open at both ends of a step, but approach at its start and part at its end.
    fn find_dips(&mut self) -> Result<(), Failure> {
        let (state, trial, system) = (&self.state, &self.trial, self.system);
        self.dips.fill(false);
        let open = |j: usize| {
            !self.touches[j].closed && self.ends[j] > 0.0 && system.gap(j, &state.q) > 0.0
        };
        if !(0..self.touches.len()).any(open) {
            return Ok(());
        }
        for (v, at) in self.velocities.iter_mut().zip([state, trial]) {
            self.step.velocity(system, at.t, &at.q, &at.p)?;
            v.copy_from_slice(&self.step.newton.terms.v);
        }
        let (row, work) = (&mut self.row, &mut self.work);
        let mut rate = |j: usize, at: &State, v: &[f64]| {
            gap_row(system, j, &at.q, row, work);
            dot(row, v)
        };
        let [first, last] = &self.velocities;
        for j in (0..self.dips.len()).filter(|&j| open(j)) {
            self.dips[j] = rate(j, state, first) < 0.0 && rate(j, trial, last) > 0.0;
        }
        Ok(())
    }

    /// The root of a gap that is closed at the end, if it lies before `until`; 0 where the gap never
    /// opens.
    fn closing(
        &mut self,
        contact: usize,
        before: f64,
        (h, end): (f64, f64),
        until: f64,
    ) -> Result<Option<f64>, Failure> {
        let (mut high, mut low) = (
            Sample { at: h, value: -end },
            Sample {
                at: 0.0,
                value: -before,
            },
        );
        if until < h {
            let gap = self.gap_after(contact, until)?;
            if gap > 0.0 {
                return Ok(None);
            }
            high = Sample {
                at: until,
                value: -gap,
            };
        }
        // Just thrown off: the gap is zero, to rounding.
        if before <= self.settings.gap_tolerance {
            let mut at = high.at;
            for halving in 0..=HALVINGS {
                if halving == HALVINGS {
                    // It never opens.
                    return Ok(Some(0.0));
                }
                at *= 0.5;
                let gap = self.gap_after(contact, at)?;
                if gap > before.max(0.0) {
                    low = Sample { at, value: -gap };
                    break;
                }
                high = Sample { at, value: -gap };
            }
        }
        self.root(contact, low, high).map(Some)
    }

    /// The first root of a gap that is open at both ends and approaches first, if it closes between
    /// them and before `until`.
    fn dip(
        &mut self,
        contact: usize,
        before: f64,
        (h, end): (f64, f64),
        until: f64,
    ) -> Result<Option<f64>, Failure> {
        let mut failure = None;
        let lowest = peak(
            |at| match self.gap_after(contact, at) {
                Ok(gap) => -gap,
                Err(reason) => {
                    failure = Some(reason);
                    f64::NAN
                }
            },
            (
                Sample {
                    at: 0.0,
                    value: -before,
                },
                0.5 * h,
                Sample { at: h, value: -end },
            ),
            0.0,
        );
        if let Some(reason) = failure {
            return Err(reason);
        }
        if lowest.value <= 0.0 {
            return Ok(None);
        }
        let low = Sample {
            at: 0.0,
            value: -before,
        };
        let found = self.root(contact, low, lowest)?;
        Ok((found < until).then_some(found))
    }

    fn root(&mut self, contact: usize, low: Sample, high: Sample) -> Result<f64, Failure> {
        let width = f64::EPSILON * self.state.t.abs().max(high.at);
        let mut failure = None;
        let found = root(
            |at| match self.gap_after(contact, at) {
                Ok(gap) => -gap,
                Err(reason) => {
                    failure = Some(reason);
                    f64::NAN
                }
            },
            low,
            high,
            width,
        );
        failure.map_or(Ok(found.at), Err)
    }

    fn gap_after(&mut self, contact: usize, h: f64) -> Result<f64, Failure> {
        self.map(h)?;
        let gap = self.system.gap(contact, &self.trial.q);
        if gap.is_nan() {
            return Err(self.no_number());
        }
        Ok(gap)
    }

    /// Opens closed contacts that needed no impulse in the step and have left.
    fn release(&mut self) -> Result<(), Failure> {
        let mut released = Vec::new();
        for (i, &j) in self.closed.iter().enumerate() {
            let idle = self.held.before[i] <= 0.0 && self.held.after[i] <= 0.0;
            if idle && self.system.gap(j, &self.state.q) > self.settings.gap_tolerance {
                released.push(j);
            }
        }
        if released.is_empty() {
            return Ok(());
        }
        let mut event = ContactEvent::new(self.state.t, ContactEventKind::Contact);
        event.mode_before.clone_from(&self.closed);
        self.closed.retain(|j| !released.contains(j));
        for &j in &released {
            self.touches[j].closed = false;
        }
        event.mode_after.clone_from(&self.closed);
        event.released = released;
        let State { t, q, p } = &self.state;
        self.step.velocity(self.system, *t, q, p)?;
        event.state_before = [&q[..], &self.step.newton.terms.v].concat();
        event.state_after.clone_from(&event.state_before);
        event.cluster = self.run.events.len();
        self.run.events.push(event);
        Ok(())
    }
}
