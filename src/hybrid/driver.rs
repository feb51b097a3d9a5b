//! Settings, re-arming rule and workspace of a run, for a system of given sizes. The system is an
//! argument: an [`Integrator`](super::Integrator) holds one, drivers above bring their own.

use super::System;
use super::context::{Context, Counts};
use super::options::Settings;
use super::run::{Integration, run_to_end};
use crate::ode::Buffer;
use crate::record::Now;
use crate::{InputError, Mode, Observer, Rearm, Start, Statistics, Summary, validate};

/// The beginning of a run, or of a part of one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Entry<'a> {
    /// At a start, in a mode that is given or to be found.
    Start(Option<&'a Mode>),
    /// Where the last one ended; the next part of a live run where another end is asked for.
    GoOn { is_next: bool },
}

/// A whole run, or a part of one, compiled for this system or once for all.
pub(crate) type Engine<S, B> =
    fn(&Context<'_, S>, &mut Integration<B>, Entry<'_>, &mut dyn Observer) -> Summary;

/// The engine that is compiled once for all systems.
pub(crate) fn run_any<S: System>(
    context: &Context<'_, S>,
    run: &mut Integration<Vec<f64>>,
    entry: Entry<'_>,
    observer: &mut dyn Observer,
) -> Summary {
    run_erased(&context.erased(), run, entry, observer)
}

/// Not generic: compiled in this crate.
fn run_erased(
    context: &Context<'_, dyn System + '_>,
    run: &mut Integration<Vec<f64>>,
    entry: Entry<'_>,
    observer: &mut dyn Observer,
) -> Summary {
    run_to_end(context, run, entry, observer)
}

#[derive(Clone, Debug)]
pub(crate) struct Driver<B> {
    pub(crate) settings: Settings,
    pub(crate) rearm: Rearm,
    pub(crate) run: Integration<B>,
}

impl<B: Buffer> Driver<B> {
    /// For systems of `dim` states with modes like this one.
    pub(crate) fn new(dim: usize, mode: &Mode) -> Self {
        Self {
            settings: Settings::default(),
            rearm: Rearm::default(),
            run: Integration::new(dim, mode),
        }
    }

    /// Runs `system` from a start to `tf` with the observer that `make` builds; it may borrow
    /// the rule of re-arming and the settings.
    pub(crate) fn observe_with<'a, S: System + ?Sized, O: Observer>(
        &'a mut self,
        system: &S,
        engine: Engine<S, B>,
        start: &Start<'_>,
        tf: f64,
        make: impl FnOnce(&'a Rearm, &'a Settings) -> O,
    ) -> Result<(Summary, O), InputError> {
        let (x0, start_mode) = start.state()?;
        self.check_input(system, start.t, x0, start_mode, tf)?;
        let Self {
            settings,
            rearm,
            run,
        } = self;
        settings.length = tf - start.t;
        let (settings, rearm) = (&*settings, &*rearm);
        let mut observer = make(rearm, settings);
        run.begin(settings, start.t, x0, tf);
        let context = Context {
            system,
            settings,
            rearm,
            wants_segments: observer.wants_segments(),
            counts: Counts::default(),
            tried: 0,
            crossed: 0,
        };
        let summary = engine(&context, run, Entry::Start(start_mode), &mut observer);
        Ok((summary, observer))
    }

    /// Goes on to `tf` from where the run stands, with the counts of the part before.
    pub(crate) fn go_on_with<'a, S: System + ?Sized, O: Observer>(
        &'a mut self,
        system: &S,
        engine: Engine<S, B>,
        before: &Statistics,
        tf: f64,
        make: impl FnOnce(&'a Rearm, &'a Settings) -> O,
    ) -> Result<(Summary, O), InputError> {
        validate::finite("tf", &[tf])?;
        let t0 = self.run.state.t;
        if tf < t0 {
            return Err(InputError::TimeReversed { t0, tf });
        }
        // A run that was cut goes on as if it had not been; another end begins the next part.
        let is_next = !self.runs_to(tf);
        let Self {
            settings,
            rearm,
            run,
        } = self;
        let (settings, rearm) = (&*settings, &*rearm);
        let mut observer = make(rearm, settings);
        run.state.tf = tf;
        let context = Context {
            system,
            settings,
            rearm,
            wants_segments: observer.wants_segments(),
            counts: Counts::after(before),
            tried: before.steps + before.rejections,
            crossed: before.crossings,
        };
        let summary = engine(&context, run, Entry::GoOn { is_next }, &mut observer);
        Ok((summary, observer))
    }

    /// True where the part to `tf` is under way, or over.
    pub(crate) fn runs_to(&self, tf: f64) -> bool {
        self.run.state.tf.to_bits() == tf.to_bits()
    }

    /// True where the part to `tf` came to its end: it is over, or was cut there.
    pub(crate) fn is_at_end(&self, tf: f64) -> bool {
        self.runs_to(tf) && self.run.state.t >= tf
    }

    /// Stands at a start that was checked, without its mode where none is given.
    pub(crate) fn stand_at(&mut self, t: f64, x: &[f64], mode: Option<&Mode>) {
        let state = &mut self.run.state;
        state.t = t;
        state.x.get_mut().copy_from_slice(x);
        match mode {
            Some(mode) => state.mode.copy_from(mode),
            None => state.mode.clear(),
        }
    }

    /// Stands where a saved run stood; refuses one of other sizes.
    pub(crate) fn take_up(&mut self, saved: &Integration<B>) -> Result<(), InputError> {
        let (ours, theirs) = (&self.run.state, &saved.state);
        if (ours.dim(), ours.mode.sizes()) != (theirs.dim(), theirs.mode.sizes()) {
            return Err(InputError::Snapshot { of: "system" });
        }
        self.run.clone_from(saved);
        Ok(())
    }

    /// Time, state and mode at which the run stands.
    pub(crate) fn now(&self) -> Now<'_> {
        Now {
            t: self.run.state.t,
            state: self.state(),
            mode: self.mode(),
        }
    }

    /// A mode of the sizes of this driver, every side bit and flag off.
    pub(crate) fn blank_mode(&self) -> Mode {
        let (sides, flags) = self.run.state.mode.sizes();
        Mode::new(sides).with_flags(flags)
    }

    /// The state at which the last run ended.
    pub(crate) fn state(&self) -> &[f64] {
        self.run.state.x.get()
    }

    /// The mode in which the last run ended.
    pub(crate) fn mode(&self) -> &Mode {
        &self.run.state.mode
    }

    pub(crate) fn check_input<S: System + ?Sized>(
        &self,
        system: &S,
        t0: f64,
        x0: &[f64],
        start_mode: Option<&Mode>,
        tf: f64,
    ) -> Result<(), InputError> {
        validate::length("x0", self.run.state.dim(), x0.len())?;
        for (name, values) in [("t0", &[t0][..]), ("tf", &[tf]), ("x0", x0)] {
            validate::finite(name, values)?;
        }
        if tf < t0 {
            return Err(InputError::TimeReversed { t0, tf });
        }
        if let Some(mode) = start_mode {
            let names = ["the start mode", "the flags of the start mode"];
            mode.check_sizes(self.run.state.mode.sizes(), names)?;
        }
        self.check_options(system)
    }

    /// Refuses settings, of the driver and of its system, that make no sense.
    pub(crate) fn check_options<S: System + ?Sized>(&self, system: &S) -> Result<(), InputError> {
        let (dim, count) = (self.run.state.dim(), self.run.state.count());
        system.validate()?;
        if let Rearm::Matrix(matrix) = &self.rearm {
            validate::length("the guard reset matrix", count, matrix.count())?;
        }
        if let Some(scale) = system.flow_time_scale() {
            validate::unless(scale > 0.0, "time_scale", scale, "must be > 0")?;
        }
        for k in 0..count {
            if let Some(rate) = system.min_rate(k) {
                validate::positive("min_rate", &[rate]).map_err(validate::counted_from(k))?;
            }
            let tolerance = system.event_tolerance(k);
            validate::not_negative("event_tolerance", &[tolerance])
                .map_err(validate::counted_from(k))?;
            validate::not_negative("crosses_within", &[system.crosses_within(k)])
                .map_err(validate::counted_from(k))?;
            if let Some(scale) = system.time_scale(k) {
                let (kept, rule) = (scale > 0.0, "must be > 0");
                validate::unless(kept, "time_scale", scale, rule)
                    .map_err(validate::counted_from(k))?;
            }
            if let Some(rate) = system.max_rate(k) {
                let (kept, rule) = (rate >= 0.0, "must be ≥ 0");
                validate::unless(kept, "max_rate", rate, rule)
                    .map_err(validate::counted_from(k))?;
            }
        }
        self.settings.check(dim, count)
    }
}
