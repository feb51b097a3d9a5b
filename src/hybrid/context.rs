//! The system, the settings and the rule of re-arming of a run, with its counts. Functions of the
//! model are evaluated here, where they are counted and checked; the stages of a step are counted
//! in `steps`, and resets are called by `transition`.

use std::cell::Cell;

use super::evaluate;
use super::evaluate::Point;
use super::options::Settings;
use crate::{EventFunction, Flow, Mode, Rearm, Statistics, Stop};

/// A hybrid system. What is not hot takes it as `&dyn System`, and is compiled once for all.
pub(crate) trait System: Flow + EventFunction {}

impl<S: Flow + EventFunction + ?Sized> System for S {}

/// The system, the settings and the rule of re-arming of one run, with its counts.
#[derive(Debug)]
pub(crate) struct Context<'a, S: ?Sized> {
    pub(crate) system: &'a S,
    pub(crate) settings: &'a Settings,
    pub(crate) rearm: &'a Rearm,
    /// The observer looks at segments.
    pub(crate) wants_segments: bool,
    pub(crate) counts: Counts,
    /// Steps tried and guards crossed before this part of the run: limits are those of the part.
    pub(crate) tried: usize,
    pub(crate) crossed: usize,
}

/// The work of a run, counted as [`Statistics`] says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) flow: Count,
    pub(crate) flip: Count,
    pub(crate) events: Count,
    pub(crate) event: Count,
    pub(crate) gradient: Count,
    pub(crate) windows: Count,
    pub(crate) narrowed: Count,
    pub(crate) unresolved: Count,
    pub(crate) steps: Count,
    pub(crate) rejections: Count,
    pub(crate) projections: Count,
    pub(crate) projections_failed: Count,
    pub(crate) repairs: Count,
    pub(crate) locations: Count,
    pub(crate) crossings: Count,
    pub(crate) resets: Count,
}

/// One counter.
#[derive(Clone, Debug, Default)]
pub(crate) struct Count(Cell<usize>);

impl Count {
    #[inline(always)]
    pub(crate) fn add(&self, n: usize) {
        self.0.set(self.0.get() + n);
    }

    /// Takes one back.
    pub(crate) fn take_back(&self) {
        self.0.set(self.0.get().saturating_sub(1));
    }

    #[inline(always)]
    pub(crate) fn get(&self) -> usize {
        self.0.get()
    }
}

impl Counts {
    /// Counts that go on from those of the part of a run before.
    pub(crate) fn after(part: &Statistics) -> Self {
        let count = |n: usize| Count(Cell::new(n));
        Self {
            flow: count(part.flow),
            flip: count(part.flip),
            events: count(part.events),
            event: count(part.event),
            gradient: count(part.gradient),
            windows: count(part.windows),
            narrowed: count(part.narrowed),
            unresolved: count(part.unresolved),
            steps: count(part.steps),
            rejections: count(part.rejections),
            projections: count(part.projections),
            projections_failed: count(part.projections_failed),
            repairs: count(part.repairs),
            locations: count(part.locations),
            crossings: count(part.crossings),
            resets: count(part.resets),
        }
    }

    /// The counts so far; doubts are counted elsewhere.
    pub(crate) fn statistics(&self, doubts: usize) -> Statistics {
        Statistics {
            flow: self.flow.get(),
            flip: self.flip.get(),
            events: self.events.get(),
            event: self.event.get(),
            gradient: self.gradient.get(),
            windows: self.windows.get(),
            narrowed: self.narrowed.get(),
            unresolved: self.unresolved.get(),
            doubts,
            steps: self.steps.get(),
            rejections: self.rejections.get(),
            projections: self.projections.get(),
            projections_failed: self.projections_failed.get(),
            repairs: self.repairs.get(),
            locations: self.locations.get(),
            crossings: self.crossings.get(),
            resets: self.resets.get(),
            rulings: 0,
        }
    }
}

impl<'a, S: System> Context<'a, S> {
    /// This context with the system forgotten.
    pub(crate) fn erased(&self) -> Context<'a, dyn System + 'a> {
        Context {
            system: self.system,
            settings: self.settings,
            rearm: self.rearm,
            wants_segments: self.wants_segments,
            counts: self.counts.clone(),
            tried: self.tried,
            crossed: self.crossed,
        }
    }
}

impl<S: System + ?Sized> Context<'_, S> {
    /// `f(t, x; mode)`, which may not be finite.
    #[inline]
    pub(crate) fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        self.system.flow(t, x, mode, dx);
        self.counts.flow.add(1);
    }

    /// `f(t, x; mode)`.
    #[inline]
    pub(crate) fn field(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) -> Result<(), Stop> {
        self.flow(t, x, mode, dx);
        evaluate::check_flow(dx, t, x, mode)
    }

    /// Brings `f` up to date after side `k` of `mode` was flipped, if the user offers that.
    #[inline]
    pub(crate) fn flip(&self, t: f64, x: &[f64], mode: &Mode, k: usize, dx: &mut [f64]) -> bool {
        let is_done = self.system.flip(t, x, mode, k, dx);
        self.counts.flip.add(usize::from(is_done));
        is_done
    }

    /// `h_k(t, x; mode)`, which may not be finite.
    #[inline]
    pub(crate) fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64 {
        self.counts.event.add(1);
        self.system.event(k, t, x, mode)
    }

    /// All `h_k(t, x; mode)`, which may not be finite.
    #[inline]
    pub(crate) fn all_events(&self, t: f64, x: &[f64], mode: &Mode, h: &mut [f64]) {
        self.system.events(t, x, mode, h);
        self.counts.events.add(1);
    }

    /// All `h_k(t, x; mode)`.
    #[inline]
    pub(crate) fn events(&self, t: f64, x: &[f64], mode: &Mode, h: &mut [f64]) -> Result<(), Stop> {
        self.all_events(t, x, mode, h);
        evaluate::check_events(h, t, x, mode)
    }

    /// The row `D_x h_k` if it is written, with `∂h_k/∂t`.
    #[inline]
    pub(crate) fn gradient(
        &self,
        k: usize,
        t: f64,
        x: &[f64],
        mode: &Mode,
        row: &mut [f64],
    ) -> Option<f64> {
        self.counts.gradient.add(1);
        self.system.gradient(k, t, x, mode, row)
    }

    /// `dh_k/dt` along `field` where the row is written, into `row`.
    #[inline]
    pub(crate) fn rate_by_row(
        &self,
        k: usize,
        point: Point<'_>,
        field: &[f64],
        row: &mut [f64],
    ) -> Option<evaluate::Rate> {
        self.counts.gradient.add(1);
        evaluate::rate_by_row(self.system, k, point, field, row)
    }

    /// `dh_k/dt` along `field`, which may not be finite; `row` is overwritten.
    #[inline]
    pub(crate) fn rate(
        &self,
        k: usize,
        point: Point<'_>,
        field: &[f64],
        row: &mut [f64],
    ) -> evaluate::Rate {
        self.counts.gradient.add(1);
        evaluate::rate(self.system, k, point, field, row)
    }
}
