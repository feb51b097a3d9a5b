//! The crossing phase: guards that are near are reached by projection, in order, without root
//! finding.

use super::project::Landing;
use super::state::Run;
use crate::hybrid::options::Settings;
use crate::hybrid::{Arrival, CrossedGuard, EventFunction, Flow, Observer, Projection, Rearm};
use crate::ode::Buffer;
use crate::{Guard, Stop};

/// Error in time allowed to a landing, in relative tolerances of the last smooth step: far more
/// than states in motion allow.
const TIME_ERROR: f64 = 100.0;
/// How much of the last accepted smooth step `Projection::Auto` dares to project over; and of the
/// distance of samples, since what happens between the ends of a projection is not looked at.
const AUTO_PART: f64 = 0.5;

impl<B: Buffer> Run<B> {
    /// Crosses all guards that are at hand; `true` when one of them ends the run.
    pub(crate) fn crossing_phase<S, O>(
        &mut self,
        system: &S,
        settings: &Settings,
        rearm: &Rearm,
        observer: &mut O,
    ) -> Result<bool, Stop>
    where
        S: Flow + EventFunction,
        O: Observer,
    {
        // Good for the first guard reached only: what comes after it is near or not by itself.
        let mut entered = self.entered.take();
        while let Some((j, tau)) = self.earliest(system)? {
            settings.interrupt.check()?;
            if self.guards.own_h(j) >= -self.guards.zero[j] {
                // Already on its surface: firing without moving keeps exactly simultaneous guards
                // from being lost.
                self.note_approach_by_rates();
                self.survey_here(j);
                self.renew_rates(system, false)?;
                self.gather(settings, j);
                if self.fire(
                    system,
                    settings,
                    rearm,
                    observer,
                    Arrival::AlreadyThere,
                    true,
                )? {
                    return Ok(true);
                }
                continue;
            }
            if self.t + tau > self.tf || !self.is_near(settings, j, tau, entered) {
                return Ok(false);
            }
            let Some((j, landing)) = self.project_in_order(system, settings, j, tau)? else {
                self.statistics.projections_failed += 1;
                return Ok(false);
            };
            if self.t + landing.dt > self.tf {
                return Ok(false);
            }
            // A landing that does not go on in time is none: a smooth step decides.
            if landing.dt < 0.0 {
                self.statistics.projections_failed += 1;
                return Ok(false);
            }
            entered = None;
            let start = self.t;
            if let Err(error) = self.land(system, settings, observer, j, landing) {
                self.tell_projection(observer);
                return Err(error);
            }
            let arrival = Arrival::Projected;
            match self.fire(
                system,
                settings,
                rearm,
                observer,
                arrival,
                landing.knows_field,
            ) {
                Ok(false) => self.statistics.projections += 1,
                Ok(true) => {
                    self.statistics.projections += 1;
                    return Ok(true);
                }
                Err(Stop::NotLive { .. } | Stop::ArmedBeyond { .. }) if self.untold => {
                    // A landing is an approximation, and no proof that liveness fails: a smooth
                    // step decides.
                    self.statistics.projections_failed += 1;
                    self.take_back(system, start)?;
                    return Ok(false);
                }
                Err(error) => {
                    self.tell_projection(observer);
                    return Err(error);
                }
            }
        }
        Ok(false)
    }

    /// Undoes a landing whose crossing was refused.
    #[cold]
    fn take_back<S: Flow>(&mut self, system: &S, start: f64) -> Result<(), Stop> {
        self.untold = false;
        self.ranking = None;
        self.reach = 0.5 * (self.t - start);
        if self.cluster_start >= self.t {
            self.cluster_start = f64::INFINITY;
        }
        self.t = start;
        std::mem::swap(&mut self.x, &mut self.work.landing);
        std::mem::swap(&mut self.guards.h, &mut self.work.h[0]);
        std::mem::swap(&mut self.guards.armed, &mut self.work.armed_before);
        std::mem::swap(&mut self.guards.ready, &mut self.work.ready_before);
        for c in &self.crossed {
            self.guards.fired_at[c.guard.index()] = f64::NEG_INFINITY;
        }
        self.guards.stale.fill(true);
        self.refresh_field(system)
    }

    /// The armed, ready and live guard that is predicted to be crossed first, and the time to it by
    /// the tangent (s).
    ///
    /// Stale rates say who comes into question; only those that win are evaluated anew. Whoever is
    /// missed in this way is found beyond its surface at the landing.
    #[inline]
    fn earliest<S>(&mut self, system: &S) -> Result<Option<(usize, f64)>, Stop>
    where
        S: Flow + EventFunction,
    {
        let mut ranking = match self.ranking.take() {
            Some(ranking) => ranking,
            None => self.guards.rank(),
        };
        loop {
            let Some(k) = ranking.first else {
                return Ok(None);
            };
            if !self.guards.stale[k] {
                return Ok(Some((k, ranking.least)));
            }
            self.refresh_rate(system, k)?;
            let tau = (-self.guards.own_h(k) / self.guards.own_rate(k)).max(0.0);
            if self.guards.is_candidate(k) && tau <= ranking.second {
                return Ok(Some((k, tau)));
            }
            ranking = self.guards.rank();
        }
    }

    fn is_near(&self, settings: &Settings, j: usize, tau: f64, entered: Option<usize>) -> bool {
        match &settings.projection {
            Projection::Off => false,
            Projection::Eps { eps, .. } => {
                entered == Some(j) || -self.guards.own_h(j) <= eps.get(j)
            }
            Projection::Horizon { tau: most, .. } => entered == Some(j) || tau <= *most,
            Projection::Auto => {
                tau <= self
                    .reach
                    .min(AUTO_PART * self.last_step.min(self.settled_window))
                    .min(AUTO_PART * self.apart)
            }
        }
    }

    /// Collects guard `j` and all other candidates that are zero with it at the present state, from
    /// those the last survey found near, in rising order.
    pub(crate) fn gather(&mut self, settings: &Settings, j: usize) {
        self.crossed.clear();
        let mut waiting = Some(j);
        for i in 0..self.near.len() {
            let k = self.near[i];
            if waiting.is_some_and(|j| j < k) {
                self.add_crossed(j);
                waiting = None;
            }
            if k == j || self.is_with(k) {
                self.add_crossed(k);
                waiting = waiting.filter(|&j| j != k);
            }
        }
        if waiting.is_some() {
            self.add_crossed(j);
        }
        if self.crossed.len() > 1 && !settings.corner_order.is_empty() {
            self.keep_first(&settings.corner_order);
        }
    }

    /// Leaves only the guard that comes first in `order`, then the lowest; the others are on their
    /// surface and follow.
    #[cold]
    fn keep_first(&mut self, order: &[Guard]) {
        // A guard whose reset threw the state back is left behind before another one is met.
        let rank = |c: &CrossedGuard| {
            let goes_back = order.contains(&c.guard.partner());
            let place = order.iter().position(|&g| g == c.guard);
            (!goes_back, place.unwrap_or(order.len()))
        };
        let first = self.crossed.iter().copied().min_by_key(rank);
        self.crossed.clear();
        self.crossed.extend(first);
    }

    /// True when guard `k` is a candidate and zero at the present state, as far as the last landing
    /// can tell.
    fn is_with(&self, k: usize) -> bool {
        let missed = self.residual_time * self.guards.rate[k].abs();
        self.guards.is_candidate(k) && self.guards.own_h(k) >= -self.guards.zero[k].max(missed)
    }

    fn add_crossed(&mut self, k: usize) {
        self.crossed.push(CrossedGuard {
            guard: self.guards.ahead(k),
            rate: self.guards.rate[k],
        });
    }

    /// Projects onto guard `j`, or onto another one that turns out to come before it (the tangents
    /// may mislead when two guards are closer than the error of the prediction). The landing is in
    /// `work.landing`, the event functions there in `work.h[0]`. None when the projection is not
    /// good enough.
    fn project_in_order<S>(
        &mut self,
        system: &S,
        settings: &Settings,
        mut j: usize,
        tau: f64,
    ) -> Result<Option<(usize, Landing)>, Stop>
    where
        S: Flow + EventFunction,
    {
        let (order, estimate) = match settings.projection {
            Projection::Off => return Ok(None),
            Projection::Eps { order, .. } | Projection::Horizon { order, .. } => (order, false),
            Projection::Auto => (3, true),
        };
        self.work.tried.fill(false);
        loop {
            let Some(mut landing) = self.project(system, j, order, estimate) else {
                return Ok(None);
            };
            if estimate {
                if !self.accept_estimate(tau, landing.error) {
                    return Ok(None);
                }
                let Some(missed) = self.close_in(system, j, &landing) else {
                    self.reach = 0.1 * tau;
                    return Ok(None);
                };
                landing.dt += missed;
            }
            let (t, x) = (self.t + landing.dt, self.work.landing.get());
            system.events(t, x, &self.mode, &mut self.work.h[0]);
            self.statistics.events += 1;
            if crate::hybrid::evaluate::check_events(&self.work.h[0], t, x, &self.mode).is_err() {
                // Outside a domain: a smooth step tells what comes first.
                self.reach = 0.1 * tau;
                return Ok(None);
            }
            self.survey_landing(j);
            self.work.tried[j] = true;
            j = match self.late(system, j)? {
                Late::Nobody => return Ok(Some((j, landing))),
                Late::Unforeseen => return Ok(None),
                Late::First(k) => k,
            };
            self.statistics.repairs += 1;
        }
    }

    /// Moves the landing on `j` by the time by which it misses the surface, along the field there,
    /// and gives that time (s); `None` when it is more than a step knows. The error of the state
    /// does not tell where a guard moves by itself and the state rests.
    #[inline]
    fn close_in<S: EventFunction>(
        &mut self,
        system: &S,
        j: usize,
        landing: &Landing,
    ) -> Option<f64> {
        let (work, t) = (&mut self.work, self.t + landing.dt);
        let own = self.guards.sign[j] * system.event(j, t, work.landing.get(), &self.mode);
        self.statistics.event += 1;
        let relative = self.tolerance.relative.get();
        let most = relative.iter().fold(0.0, |most: f64, r| most.max(*r));
        let allowed = (TIME_ERROR * most * self.last_step * landing.rate).max(self.guards.zero[j]);
        // Written so that NaN fails.
        if !(most <= 0.0 || own.abs() <= allowed) {
            return None;
        }
        let missed = -own / landing.rate;
        let field = work.landing_field.get();
        for (x, f) in work.landing.get_mut().iter_mut().zip(field) {
            *x += missed * f;
        }
        Some(missed)
    }

    /// The error test of `Projection::Auto`. The reach follows what the estimate says of longer
    /// projections: an error of third order in the time; from a success it grows at most to five
    /// times that time at once.
    #[inline]
    fn accept_estimate(&mut self, tau: f64, error: f64) -> bool {
        let most = if error <= 1.0 {
            self.reach.max(5.0 * tau)
        } else {
            tau
        };
        // The projection that would have an error of 0.9³ takes 0.9 τ/∛e; the root only where it is
        // the smaller one.
        let part = 0.9 * tau / most;
        if error <= part * part * part {
            self.reach = most;
            return true;
        }
        let allowed = 0.9 * tau / error.cbrt();
        if error <= 1.0 {
            self.reach = allowed;
            return true;
        }
        // Also where the error is not a number.
        self.reach = allowed.max(0.1 * tau);
        false
    }

    /// Who is beyond its surface at the landing on `j`, and so was crossed before it.
    #[inline]
    fn late<S>(&mut self, system: &S, j: usize) -> Result<Late, Stop>
    where
        S: Flow + EventFunction,
    {
        let mut found = Late::Nobody;
        let mut most = 0.0;
        for i in 0..self.near.len() {
            let k = self.near[i];
            let guards = &self.guards;
            if k == j || self.work.tried[k] {
                continue;
            }
            let beyond = guards.sign[k] * self.work.h[0][k];
            let (start, zero) = (self.guards.own_h(k), guards.zero[k]);
            if !guards.ready[k] {
                // It may have left its surface with a rate of zero and come back.
                if start.abs() <= 4.0 * zero && beyond > 4.0 * zero {
                    return Ok(Late::Unforeseen);
                }
                continue;
            }
            // One that was on its surface, or beyond it by a residual, may not have left it yet.
            if beyond <= zero + 2.0 * start.max(0.0) {
                continue;
            }
            self.need_rate(system, k)?;
            if start >= -zero || !self.guards.is_candidate(k) {
                return Ok(Late::Unforeseen);
            }
            let lead = beyond / self.guards.own_rate(k);
            if lead > most {
                most = lead;
                found = Late::First(k);
            }
        }
        Ok(found)
    }

    /// Moves to the landing on guard `j` and collects all that are zero with it there.
    fn land<S, O>(
        &mut self,
        system: &S,
        settings: &Settings,
        observer: &mut O,
        j: usize,
        landing: Landing,
    ) -> Result<(), Stop>
    where
        S: Flow + EventFunction,
        O: Observer,
    {
        let start = self.t;
        self.note_projection(system, start + landing.dt);
        self.add_error(landing.error);
        self.bend = (j, (landing.rate - self.guards.own_rate(j)) / landing.dt);
        let work = &mut self.work;
        if observer.wants_segments() {
            let end_field = landing.knows_field.then(|| work.landing_field.get());
            let ends = (self.x.get(), work.landing.get());
            let field = self.ode.slope_at_start();
            work.hermite
                .hermite(start, landing.dt, ends, field, end_field);
        }
        self.untold = true;
        work.armed_before.copy_from_slice(&self.guards.armed);
        work.ready_before.copy_from_slice(&self.guards.ready);
        self.t = start + landing.dt;
        std::mem::swap(&mut self.x, &mut work.landing);
        std::mem::swap(&mut self.guards.h, &mut work.h[0]);
        work.x_before.get_mut().copy_from_slice(self.x.get());
        work.mode_before.copy_from(&self.mode);
        if landing.knows_field {
            self.ode
                .first_stage()
                .copy_from_slice(work.landing_field.get());
            for i in 0..self.near.len() {
                if self.near[i] != j {
                    self.refresh_rate(system, self.near[i])?;
                }
            }
        }
        self.gather(settings, j);
        // The rates of the others are those in the old mode at the landing, or at the start when
        // the field is not known.
        if let Some(c) = self.crossed.iter_mut().find(|c| c.guard.event == j) {
            c.rate = c.guard.sign() * landing.rate;
        }
        Ok(())
    }
}

/// Who was crossed before the guard projected onto.
enum Late {
    Nobody,
    /// A guard that is not predicted to be crossed at all: only a smooth step can tell.
    Unforeseen,
    First(usize),
}
