//! A live run of the core.

use std::any::Any;
use std::sync::Arc;

use super::Integrator;
use super::driver::{Driver, Engine};
use super::run::Integration;
use crate::ode::Buffer;
use crate::record::path::Keep;
use crate::record::{Advance, BodyLayout, Interruptible, Now, can_go_on};
use crate::{
    EventFunction, Flow, InputError, Interrupt, Live, Mode, Observer, Snapshot, Start, Statistics,
    Status, Summary, validate,
};

/// The place at which a live run stands.
#[derive(Clone, Debug)]
enum Stand {
    /// At its start, in a mode that was given or is to be found.
    Start(Option<Mode>),
    /// At the end of a part of it, with this status.
    On(Status),
}

/// A live run of the core.
struct LiveIntegration<'a, S, B> {
    system: &'a S,
    driver: &'a mut Driver<B>,
    engine: Engine<S, B>,
    stand: Stand,
    statistics: Statistics,
    /// An interrupt that is never set, for the inside of steps.
    quiet: Interrupt,
}

/// The saved state of a live run.
struct Saved<B> {
    run: Integration<B>,
    stand: Stand,
    statistics: Statistics,
}

impl<S: Flow + EventFunction, B: Buffer> Integrator<S, B> {
    /// A run in parts, from a start.
    ///
    /// # Errors
    /// As [`integrate`](Self::integrate).
    pub fn live(&mut self, start: &Start<'_>) -> Result<Live<'_>, InputError> {
        let (x0, mode) = start.state()?;
        let (system, driver, engine) = self.parts();
        driver.check_input(system, start.t, x0, mode, start.t)?;
        driver.stand_at(start.t, x0, mode);
        let run = LiveIntegration {
            system,
            driver,
            engine,
            stand: Stand::Start(mode.cloned()),
            statistics: Statistics::default(),
            quiet: Interrupt::new(),
        };
        Ok(Live::new(run, Status::ReachedEnd))
    }

    /// Takes up a live run from a snapshot of it.
    ///
    /// # Errors
    /// [`InputError::Snapshot`] for one of another driver or another system; bad settings.
    pub fn resume(&mut self, snapshot: &Snapshot) -> Result<Live<'_>, InputError> {
        let saved: &Saved<B> = snapshot.saved()?;
        let (system, driver, engine) = self.parts();
        driver.take_up(&saved.run)?;
        driver.check_options(system)?;
        let status = match &saved.stand {
            Stand::On(status) => status.clone(),
            Stand::Start(_) => Status::ReachedEnd,
        };
        let run = LiveIntegration {
            system,
            driver,
            engine,
            stand: saved.stand.clone(),
            statistics: saved.statistics,
            quiet: Interrupt::new(),
        };
        Ok(Live::new(run, status))
    }
}

impl<S: Flow + EventFunction, B: Buffer> Advance for LiveIntegration<'_, S, B> {
    fn advance(
        &mut self,
        t: f64,
        effort: &[f64],
        observer: &mut dyn Observer,
    ) -> Result<Summary, InputError> {
        validate::length("effort", 0, effort.len())?;
        let now = self.driver.now();
        let t0 = now.t;
        // No part without a length, of which the first step is chosen: but one that was cut at its end is not over.
        let is_cut = matches!(&self.stand, Stand::On(status) if *status != Status::ReachedEnd);
        let is_short = t <= t0 && !(is_cut && self.driver.is_at_end(t));
        if let Stand::On(status) = &self.stand {
            observer.start(t0, now.state, now.mode);
            if is_short || !can_go_on(status) {
                let status = if can_go_on(status) {
                    Status::ReachedEnd
                } else {
                    status.clone()
                };
                return Ok(Summary {
                    status,
                    t: t0,
                    statistics: self.statistics,
                });
            }
        }
        std::mem::swap(&mut self.driver.settings.limits.interrupt, &mut self.quiet);
        let mut observer = Interruptible {
            observer,
            interrupt: &self.quiet,
        };
        let (system, engine, follower) = (self.system, self.engine, &mut observer);
        let made = match &self.stand {
            Stand::On(_) => {
                let make = |_, _| follower;
                self.driver
                    .go_on_with(system, engine, &self.statistics, t, make)
                    .map(|(made, _)| made)
            }
            Stand::Start(mode) => {
                let x0 = self.driver.state().to_vec();
                let start = Start::at(t0).x(&x0).mode(mode.as_ref());
                let make = |_, _| follower;
                let made = self.driver.observe_with(system, engine, &start, t, make);
                if is_short {
                    // It has not begun: the next part begins here too.
                    self.driver.stand_at(t0, &x0, mode.as_ref());
                }
                made.map(|(made, _)| made)
            }
        };
        let made = made.map(|made| Summary {
            status: observer.status(made.status),
            ..made
        });
        std::mem::swap(&mut self.driver.settings.limits.interrupt, &mut self.quiet);
        let made = made?;
        if !is_short {
            self.stand = Stand::On(made.status.clone());
            self.statistics = made.statistics;
        }
        Ok(made)
    }

    fn now(&self) -> Now<'_> {
        self.driver.now()
    }

    fn record(&self) -> (Option<BodyLayout>, Keep) {
        (None, self.driver.settings.keep(1.0))
    }

    fn save(&self) -> Arc<dyn Any + Send + Sync> {
        Arc::new(Saved {
            run: self.driver.run.clone(),
            stand: self.stand.clone(),
            statistics: self.statistics,
        })
    }
}
