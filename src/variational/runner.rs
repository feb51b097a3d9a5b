//! A run under way.

use super::failure::VariationalFailure;
use super::held::{Bodies, Held};
use super::midpoint::Stepper;
use super::run::VariationalRun;
use super::settings::Settings;
use super::state::{Part, PhasePoint, Touches};
use crate::mechanics::Mechanism;
use crate::mechanics::gaps::work_size;
use crate::mechanics::log::ContactEvent;

/// A run under way.
pub(super) struct Runner<'a> {
    pub(super) settings: &'a Settings,
    pub(super) system: &'a dyn Mechanism,
    pub(super) stepper: Stepper,
    pub(super) held: Held,
    pub(super) state: PhasePoint,
    pub(super) touches: Touches,
    pub(super) trial: Trial,
    pub(super) log: Log,
}

/// A part of a step that is not accepted yet, and the search for the first impact in it.
pub(super) struct Trial {
    /// Its end.
    pub(super) state: PhasePoint,
    /// The gaps there.
    pub(super) ends: Vec<f64>,
    /// Which of them may have been closed in between.
    pub(super) dips: Vec<bool>,
    /// Velocities at its start and its end.
    pub(super) velocities: [Vec<f64>; 2],
    pub(super) row: Vec<f64>,
    pub(super) work: Vec<f64>,
}

/// The record that a run leaves.
pub(super) struct Log {
    pub(super) run: VariationalRun,
    /// Impacts so far.
    pub(super) impacts: usize,
    /// The parts of the run, where its derivative is asked for.
    pub(super) parts: Option<Vec<Part>>,
    /// Memory of the run so far (bytes), with so many events.
    memory: usize,
    counted: usize,
}

impl<'a> Runner<'a> {
    /// At rest at zero; `derive` keeps what the derivative wants.
    pub(super) fn new(
        settings: &'a Settings,
        system: &'a dyn Mechanism,
        derive: bool,
    ) -> Result<Self, VariationalFailure> {
        let (d, contacts) = (system.dof(), system.contacts());
        let state = PhasePoint {
            t: 0.0,
            q: vec![0.0; d],
            p: vec![0.0; d],
        };
        let trial = Trial {
            state: state.clone(),
            ends: vec![0.0; contacts],
            dips: vec![false; contacts],
            velocities: [vec![0.0; d], vec![0.0; d]],
            row: vec![0.0; d],
            work: vec![0.0; work_size(d, d)],
        };
        let run = VariationalRun {
            dof: d,
            times: Vec::new(),
            states: Vec::new(),
            events: Vec::new(),
            initial: Vec::new(),
            failure: None,
            guaranteed: true,
            halved: Vec::new(),
        };
        let mut stepper = Stepper::new(system)?;
        stepper.newton.terms.interrupt = settings.interrupt.clone();
        Ok(Self {
            settings,
            system,
            stepper,
            held: Held::default(),
            state,
            touches: Touches::open(contacts),
            trial,
            log: Log {
                run,
                impacts: 0,
                parts: derive.then(Vec::new),
                memory: 0,
                counted: 0,
            },
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
    pub(super) fn record(&mut self) -> Result<(), VariationalFailure> {
        let PhasePoint { t, q, p } = &self.state;
        self.stepper.velocity(self.system, *t, q, p)?;
        let v = &self.stepper.newton.terms.v;
        self.log.record(*t, [q, v, p], self.settings.max_memory)
    }

    pub(super) fn finish(self, failure: Option<VariationalFailure>) -> VariationalRun {
        let mut run = self.log.run;
        run.failure = failure;
        run
    }
}

impl Log {
    /// Notes that the part of a step from `t` on was made in two halves.
    pub(super) fn note_halves(&mut self, t: f64) {
        self.memory += size_of::<f64>();
        self.run.halved.push(t);
        self.run.guaranteed = false;
    }

    /// Notes a state `(q, v, p)`; refuses what exceeds `limit` bytes.
    fn record(
        &mut self,
        t: f64,
        state: [&[f64]; 3],
        limit: usize,
    ) -> Result<(), VariationalFailure> {
        let run = &mut self.run;
        let each = (1 + 3 * run.dof) * size_of::<f64>();
        let events = run.events.get(self.counted..).unwrap_or_default();
        self.memory += each + events.iter().map(ContactEvent::bytes).sum::<usize>();
        self.counted = run.events.len();
        if self.memory > limit {
            return Err(VariationalFailure::TooLarge { t: run.t(), limit });
        }
        run.times.push(t);
        for part in state {
            run.states.extend_from_slice(part);
        }
        Ok(())
    }
}
