//! A live run of the event-driven driver: parts of a run under efforts that are given from outside, and its snapshots.

use std::any::Any;
use std::sync::Arc;

use super::drive::Progress;
use super::driver::EventDriven;
use super::recovery::Place;
use crate::hybrid::Integration;
use crate::mechanics::{ContactModel, MechanicalSystem, State, UnilateralConstraints};
use crate::record::path::Keep;
use crate::record::{Advance, BodyLayout, Interruptible, Now};
use crate::{InputError, Interrupt, Live, Observer, Snapshot, Start, Status, Summary};

impl<S> EventDriven<S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    /// A run in parts, each to a time that the caller gives, from a start. Efforts of
    /// [`Live::advance`] are generalised ones beside those of the model.
    ///
    /// ```
    /// use saltation::models::BouncingBall;
    /// use saltation::{ContactModel, EventDriven, Start};
    /// let mut driver = EventDriven::new(ContactModel::new(BouncingBall::default()))?.rtol(1e-9);
    /// let mut live = driver.live(&Start::at(0.0).q(&[1.0]).v(&[0.0]))?;
    /// live.advance(0.3, &[9.81])?; // held up
    /// assert!((live.state()[0] - 1.0).abs() < 1e-9);
    /// live.advance(0.8, &[])?; // dropped: it rebounds
    /// assert!(live.state()[1] > 0.0);
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`integrate`](Self::integrate).
    pub fn live(&mut self, start: &Start<'_>) -> Result<Live<'_>, InputError> {
        let start = State::of(start)?;
        self.check_options(start.t, start.t)?;
        self.take_system()?;
        let progress = self.drive().start(start)?;
        Ok(self.stand(progress))
    }

    /// Takes up a live run from a snapshot of it.
    ///
    /// # Errors
    /// [`InputError::Snapshot`] for one of another driver or another system; bad settings.
    pub fn resume(&mut self, snapshot: &Snapshot) -> Result<Live<'_>, InputError> {
        let saved: &Saved = snapshot.saved()?;
        self.check_options(0.0, 0.0)?;
        self.read_constants()?;
        self.apply(&saved.effort)?;
        self.integrator.parts().1.take_up(&saved.run)?;
        Ok(self.stand(saved.progress.clone()))
    }

    fn stand(&mut self, progress: Progress) -> Live<'_> {
        let status = progress.status.clone();
        let run = LiveRun {
            driver: self,
            progress,
            quiet: Interrupt::new(),
        };
        Live::new(run, status)
    }
}

/// A live run.
struct LiveRun<'a, S> {
    driver: &'a mut EventDriven<S>,
    progress: Progress,
    /// An interrupt that is never set, for the inside of steps.
    quiet: Interrupt,
}

/// The values from which such a run goes on.
struct Saved {
    run: Integration<Vec<f64>>,
    progress: Progress,
    effort: Vec<f64>,
}

/// The effort of a live run is not that of later ones.
impl<S> Drop for LiveRun<'_, S> {
    fn drop(&mut self) {
        let forget = |model: &mut ContactModel<S>| model.bodies.fixed.forget_effort();
        // No derivative shares the model: the driver is borrowed.
        let _ = self.driver.integrator.change(forget);
    }
}

impl<S: MechanicalSystem + UnilateralConstraints> Advance for LiveRun<'_, S> {
    fn advance(
        &mut self,
        t: f64,
        effort: &[f64],
        observer: &mut dyn Observer,
    ) -> Result<Summary, InputError> {
        let driver = &mut *self.driver;
        driver.model().bodies.fixed.check_effort(effort)?;
        let has_other_mass = driver.read_constants()?;
        let Progress { place, memory, .. } = &mut self.progress;
        let t0 = place.t;
        observer.start(t0, &place.state, &place.mode);
        memory.is_told = true;
        if let Some(first) = memory.first.take() {
            observer.contacts(&first);
        }
        if !self.progress.can_go_on() {
            return Ok(self.progress.summary());
        }
        let before = std::mem::replace(&mut self.progress.status, Status::ReachedEnd);
        let is_new = has_other_mass
            || driver.model().bodies.fixed.applied() != effort
            || driver.drive().pushes_otherwise(&self.progress);
        if is_new || !self.progress.is_settled {
            driver.apply(effort)?;
            driver.drive().settle(&mut self.progress, observer);
        }
        let is_cut = before != Status::ReachedEnd && self.progress.end.to_bits() == t.to_bits();
        // No part without a length, of which the first step is chosen: but one that was cut at its end is not over.
        let is_due = self.progress.is_under_way() || matches!(before, Status::Refused(_));
        let is_over = t < t0 || (t <= t0 && !(is_cut && is_due));
        if is_over || !self.progress.is_settled {
            return Ok(self.progress.summary());
        }
        if !is_cut {
            (self.progress.end, self.progress.near) = (t, driver.near(t0, t));
        }
        let mut drive = driver.drive();
        std::mem::swap(&mut drive.driver.settings.limits.interrupt, &mut self.quiet);
        let mut observer = Interruptible {
            observer,
            interrupt: &self.quiet,
        };
        let made = drive.advance(&mut self.progress, t, &mut observer);
        let status = observer.status(self.progress.status.clone());
        drive.keep_effort(&mut self.progress);
        std::mem::swap(&mut drive.driver.settings.limits.interrupt, &mut self.quiet);
        self.progress.status = status;
        made.map(|_| self.progress.summary())
    }

    fn now(&self) -> Now<'_> {
        let Place { t, state, mode } = &self.progress.place;
        Now { t: *t, state, mode }
    }

    fn record(&self) -> (Option<BodyLayout>, Keep) {
        let bodies = self.driver.model().layout();
        (Some(bodies), self.driver.integrator.settings().keep(1.0))
    }

    fn save(&self) -> Arc<dyn Any + Send + Sync> {
        Arc::new(Saved {
            run: self.driver.integrator.standing().clone(),
            progress: self.progress.clone(),
            effort: self.driver.model().bodies.fixed.applied().to_vec(),
        })
    }
}
