//! A run under way.

use super::failure::VariationalFailure;
use super::held::{Bodies, Held};
use super::midpoint::Stepper;
use super::settings::Settings;
use super::state::{Part, PhasePoint, Touches};
use crate::mechanics::Mechanism;
use crate::mechanics::contact::gaps::work_size;
use crate::record::{ContactEvent, Now, Statistics, Told};
use crate::{Doubt, InputError, Observer};

/// A run under way.
pub(super) struct Runner<'a> {
    pub(super) settings: &'a Settings,
    pub(super) system: &'a dyn Mechanism,
    pub(super) observer: &'a mut dyn Observer,
    pub(super) on: &'a mut Progress,
}

/// The place of a run, and the memory that it needs: all that a later part of it goes on with.
#[derive(Clone, Debug)]
pub(super) struct Progress {
    pub(super) stepper: Stepper,
    pub(super) held: Held,
    pub(super) state: PhasePoint,
    pub(super) touches: Touches,
    /// The contact that closes at the state, while its impact is still to be made: an interrupt may come before it.
    pub(super) hit: Option<usize>,
    pub(super) trial: Trial,
    pub(super) log: Log,
    /// The start (s).
    pub(super) start: f64,
}

/// A part of a step that is not accepted yet, and the search for the first impact in it.
#[derive(Clone, Debug)]
pub(super) struct Trial {
    /// Its end.
    pub(super) state: PhasePoint,
    /// The gaps there.
    pub(super) ends: Vec<f64>,
    /// True for those that may have been closed in between.
    pub(super) dips: Vec<bool>,
    /// Velocities at its start and its end.
    pub(super) velocities: [Vec<f64>; 2],
    pub(super) row: Vec<f64>,
    pub(super) work: Vec<f64>,
}

/// The record of a run: reports made, and those still to be made.
#[derive(Clone, Debug)]
pub(super) struct Log {
    pub(super) statistics: Statistics,
    /// Impacts so far.
    pub(super) impacts: usize,
    /// The contacts of the last impact.
    pub(super) last_impact: Vec<usize>,
    /// The start of the first step that was made in two halves (s).
    pub(super) halved: Option<f64>,
    /// It was told that the motion depends on how contacts share their load.
    pub(super) is_shared: bool,
    /// The parts of the run, where its derivative is asked for.
    pub(super) parts: Option<Vec<Part>>,
    /// The last node.
    pub(super) told: Told,
}

impl Progress {
    /// At rest at zero; `derive` keeps what the derivative wants.
    pub(super) fn new(
        settings: &Settings,
        system: &dyn Mechanism,
        derive: bool,
    ) -> Result<Self, InputError> {
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
        let mut stepper = Stepper::new(system)?;
        stepper.newton.terms.interrupt = settings.limits.interrupt.clone();
        Ok(Self {
            stepper,
            held: Held::default(),
            state,
            touches: Touches::open(contacts),
            hit: None,
            trial,
            log: Log {
                statistics: Statistics::default(),
                impacts: 0,
                last_impact: Vec::new(),
                halved: None,
                is_shared: false,
                parts: derive.then(Vec::new),
                told: Told::new(2 * d, contacts),
            },
            start: 0.0,
        })
    }

    /// Numbers of velocities and contacts.
    pub(super) fn sizes(&self) -> (usize, usize) {
        (self.state.q.len(), self.touches.each.len())
    }

    /// The last node.
    pub(super) fn now(&self) -> Now<'_> {
        self.log.told.now()
    }
}

impl<'a> Runner<'a> {
    pub(super) fn bodies(&self) -> Bodies<'a> {
        Bodies {
            system: self.system,
            step: self.settings.step,
            friction: self.settings.friction,
            interrupt: &self.settings.limits.interrupt,
        }
    }

    /// Reports the motion since the last node.
    pub(super) fn tell_segment(&mut self) -> Result<(), VariationalFailure> {
        let Progress {
            state: PhasePoint { t, q, p },
            stepper,
            log,
            ..
        } = &mut *self.on;
        stepper.velocity(self.system, *t, q, p)?;
        log.told.segment(*t, self.observer, |state| {
            let (first, last) = state.split_at_mut(q.len());
            first.copy_from_slice(q);
            last.copy_from_slice(&stepper.newton.terms.v);
        });
        Ok(())
    }

    /// Reports an event at the last node.
    pub(super) fn tell_event(&mut self, event: &ContactEvent) {
        self.on.log.told.event(event, self.observer);
    }

    /// Reports that the part of a step from `t` on was made in two halves.
    pub(super) fn tell_halves(&mut self, t: f64) {
        let log = &mut self.on.log;
        log.halved = log.halved.or(Some(t));
        log.statistics.doubts += 1;
        self.observer.doubt(&Doubt::Halved { t });
    }

    /// Reports once that the motion depends on how contacts share their load.
    pub(super) fn tell_shares(&mut self, t: f64) {
        let log = &mut self.on.log;
        if std::mem::replace(&mut log.is_shared, true) {
            return;
        }
        log.statistics.doubts += 1;
        self.observer.doubt(&Doubt::SharedLoads { t });
    }
}
