//! Guards near the present state: which of them comes first, and which cross together.

use super::project::{Landing, Trial};
use crate::hybrid::Projection;
use crate::hybrid::context::{Context, System};
use crate::hybrid::options::Settings;
use crate::hybrid::room_for;
use crate::hybrid::search::Pace;
use crate::hybrid::table::State;
use crate::hybrid::table::{GuardTable, NOT_NEAR};
use crate::hybrid::table::{Ranking, Survey};
use crate::ode::{Buffer, lesser};
use crate::{CrossedGuard, Guard, Stop};

/// Part of the last accepted smooth step over which `Projection::Auto` projects at most; and of the
/// distance of samples, since what happens between the ends of a projection is not looked at.
const AUTO_PART: f64 = 0.5;

/// Guards near the present state, those that cross there, and how far projections may go.
#[derive(Clone, Debug)]
pub(crate) struct Cluster {
    /// Guards that cross at the present instant.
    pub(crate) set: Vec<CrossedGuard>,
    /// Event functions found near their surface by the last survey.
    pub(crate) near: Vec<usize>,
    /// Twice the time by which the last projection missed its guard (s). Guards closer than this
    /// are zero with it.
    pub(crate) residual_time: f64,
    /// The ranking of all others, as long as it holds.
    pub(crate) ranking: Option<Ranking>,
    /// Longest time over which `Projection::Auto` still tries (s).
    pub(crate) reach: f64,
    /// The event function whose neighbourhood the last smooth step ended on.
    pub(crate) entered: Option<usize>,
    /// The guard that the last step ended on, and `d²h/dt²` of it, counted in its direction, where
    /// the step resolves it (`u_k`/s²); else 0.
    pub(crate) bend: (usize, f64),
}

impl Cluster {
    pub(crate) fn new(count: usize) -> Self {
        Self {
            set: Vec::with_capacity(room_for(count)),
            near: Vec::with_capacity(room_for(count)),
            residual_time: 0.0,
            ranking: None,
            reach: f64::INFINITY,
            entered: None,
            bend: (0, 0.0),
        }
    }

    /// Forgets the last run.
    pub(crate) fn begin(&mut self) {
        self.ranking = None;
        self.reach = f64::INFINITY;
        self.entered = None;
        self.bend = (0, 0.0);
    }

    /// A smooth step starts.
    #[inline]
    pub(crate) fn leave(&mut self) {
        (self.ranking, self.entered) = (None, None);
    }

    /// Looks who is near its surface at the present state, on that of guard `on`; or where a
    /// projection onto it lands, with the event functions `landing`.
    #[inline]
    pub(crate) fn survey<B: Buffer>(
        &mut self,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        landing: Option<&[f64]>,
        on: usize,
    ) {
        let rounding = 8.0 * f64::EPSILON * state.size_of_time();
        let Survey {
            ranking,
            residual_time,
        } = guards.survey(landing, on, rounding, &mut self.near);
        self.residual_time = residual_time;
        self.ranking = Some(ranking);
    }

    /// The armed, ready and live guard that is predicted to be crossed first, and the time to it by
    /// the tangent (s).
    ///
    /// Old rates select candidates; only the earliest within reach are evaluated again. A guard
    /// missed this way is detected beyond its surface at the landing, or by the next smooth step.
    #[inline]
    pub(crate) fn earliest<S: System + ?Sized, B: Buffer>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        pace: &Pace,
    ) -> Result<Option<(usize, f64)>, Stop> {
        let mut ranking = match self.ranking.take() {
            Some(ranking) => ranking,
            None => guards.surfaces().rank(&guards.arming),
        };
        loop {
            let Some(k) = ranking.first else {
                return Ok(None);
            };
            if !guards.stale[k] {
                return Ok(Some((k, ranking.least)));
            }
            let beyond = ranking.least > NOT_NEAR * self.horizon(context.settings, state, pace);
            if beyond && guards.own_h(k) < -NOT_NEAR * guards.zero[k] {
                return Ok(None);
            }
            guards.refresh_rate(context, state, k)?;
            let tau = (-guards.own_h(k) / guards.own_rate(k)).max(0.0);
            if guards.is_candidate(k) && tau <= ranking.second {
                return Ok(Some((k, tau)));
            }
            ranking = guards.surfaces().rank(&guards.arming);
        }
    }

    /// The guards that were about to be crossed are still ahead, which a survey beside them left out.
    pub(crate) fn look_again(&mut self) {
        self.ranking = None;
    }

    /// At the end of a step without events: whether any guard may come into question is seen at
    /// once.
    #[inline]
    pub(crate) fn look_ahead<B: Buffer>(
        &mut self,
        settings: &Settings,
        state: &State<B>,
        guards: &GuardTable<B>,
        pace: &Pace,
    ) {
        let are_later = match &settings.projection {
            Projection::Eps { eps, .. } => guards.are_all_outside(|k| eps.get(k)),
            _ => guards.are_all_later(NOT_NEAR * self.horizon(settings, state, pace)),
        };
        if are_later {
            self.ranking = Some(Ranking::EMPTY);
        }
    }

    /// The longest time over which guards may be projected onto from here, where time is what
    /// limits it (s).
    #[inline]
    fn horizon<B: Buffer>(&self, settings: &Settings, state: &State<B>, pace: &Pace) -> f64 {
        match &settings.projection {
            Projection::Off => 0.0,
            Projection::Auto => {
                let moved = lesser(lesser(state.last_step, pace.settled), pace.apart);
                lesser(self.reach, AUTO_PART * moved)
            }
            Projection::Horizon { tau, .. } if self.entered.is_none() => *tau,
            Projection::Horizon { .. } | Projection::Eps { .. } => f64::INFINITY,
        }
    }

    /// True when guard `j`, whose surface is `tau` away by the tangent, may be projected onto.
    pub(crate) fn is_near<B: Buffer>(
        &self,
        settings: &Settings,
        state: &State<B>,
        guards: &GuardTable<B>,
        pace: &Pace,
        (j, tau): (usize, f64),
    ) -> bool {
        match &settings.projection {
            Projection::Off => false,
            _ if self.entered == Some(j) => true,
            Projection::Eps { eps, .. } => -guards.own_h(j) <= eps.get(j),
            _ => tau <= self.horizon(settings, state, pace),
        }
    }

    /// Collects guard `j` and all other candidates that are zero with it at the present state, from
    /// those the last survey found near, in rising order.
    ///
    /// # Errors
    /// As rates of guards that are crossed from a distance.
    pub(crate) fn gather<S: System + ?Sized, B: Buffer>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        j: usize,
    ) -> Result<(), Stop> {
        if guards.kept[j].crosses_within > 0.0 {
            self.widen(context, state, guards)?;
        }
        self.set.clear();
        let mut waiting = Some(j);
        for &k in &self.near {
            if waiting.is_some_and(|j| j < k) {
                self.set.push(guards.crossing(j));
                waiting = None;
            }
            // As far as the last landing can tell.
            let missed = self.residual_time * guards.rate[k].abs();
            let within = guards.zero[k]
                .max(missed)
                .max(guards.kept[k].crosses_within);
            let is_zero = guards.own_h(k) >= -within;
            if k == j || (guards.is_candidate(k) && is_zero) {
                self.set.push(guards.crossing(k));
                waiting = waiting.filter(|&j| j != k);
            }
        }
        if waiting.is_some() {
            self.set.push(guards.crossing(j));
        }
        if self.set.len() > 1 && !context.settings.corner_order.is_empty() {
            self.keep_first(&context.settings.corner_order);
        }
        Ok(())
    }

    /// Counts the guards as near that are crossed with others from where they are, with their rates.
    #[cold]
    fn widen<S: System + ?Sized, B: Buffer>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
    ) -> Result<(), Stop> {
        for k in 0..guards.h.len() {
            let within = guards.kept[k].crosses_within;
            let is_within = guards.arming[k].is_armed() && guards.own_h(k) >= -within;
            let Some(Err(place)) = is_within.then(|| self.near.binary_search(&k)) else {
                continue;
            };
            guards.refresh_rate(context, state, k)?;
            self.near.insert(place, k);
            self.ranking = None;
        }
        Ok(())
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
        let first = self.set.iter().copied().min_by_key(rank);
        self.set.clear();
        self.set.extend(first);
    }

    /// Projects onto guard `j`, or onto another one that turns out to come before it (the tangents
    /// may mislead when two guards are closer than the error of the prediction). None when the
    /// projection is not good enough.
    pub(crate) fn project_in_order<S: System + ?Sized, B: Buffer>(
        &mut self,
        context: &Context<'_, S>,
        state: &mut State<B>,
        guards: &mut GuardTable<B>,
        trial: &mut Trial<B>,
        (mut j, tau): (usize, f64),
    ) -> Result<Option<(usize, Landing)>, Stop> {
        let (order, is_tested) = match context.settings.projection {
            Projection::Off => return Ok(None),
            Projection::Eps { order, .. } | Projection::Horizon { order, .. } => (order, false),
            Projection::Auto => (3, true),
        };
        guards.tried.fill(false);
        loop {
            let projected = trial.project(context, state, guards, j, order);
            let Some(mut landing) = projected else {
                return Ok(None);
            };
            if is_tested {
                if !self.accept_estimate(tau, landing.error) {
                    return Ok(None);
                }
                let Some(missed) = trial.close_in(context, state, guards, j, &landing) else {
                    self.reach = 0.1 * tau;
                    return Ok(None);
                };
                landing.dt += missed;
            }
            if !trial.events(context, state, &landing) {
                // Outside a domain: a smooth step finds what comes first.
                self.reach = 0.1 * tau;
                return Ok(None);
            }
            self.survey(state, guards, Some(&trial.h), j);
            guards.tried[j] = true;
            j = match self.late(context, state, guards, &trial.h, j)? {
                Late::Nobody => return Ok(Some((j, landing))),
                Late::Unforeseen => return Ok(None),
                Late::First(k) => k,
            };
            context.counts.repairs.add(1);
            context.settings.limits.interrupt.check()?;
        }
    }

    /// The error test of `Projection::Auto`. The error is taken to grow as `τ³`; the reach is the
    /// `τ` with an error of `0.9³`. A success raises it to five times the present time at most.
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

    /// The guard that was crossed before the landing on `j`: it is beyond its surface there, where
    /// event functions are `landing`.
    #[inline]
    fn late<S: System + ?Sized, B: Buffer>(
        &self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &mut GuardTable<B>,
        landing: &[f64],
        j: usize,
    ) -> Result<Late, Stop> {
        let mut found = Late::Nobody;
        let mut most = 0.0;
        for &k in &self.near {
            if k == j || guards.tried[k] {
                continue;
            }
            let beyond = guards.sign[k] * landing[k];
            let (start, zero) = (guards.own_h(k), guards.zero[k]);
            if !guards.arming[k].is_ready() {
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
            guards.need_rate(context, state, k)?;
            if start >= -zero || !guards.is_candidate(k) {
                return Ok(Late::Unforeseen);
            }
            let lead = beyond / guards.own_rate(k);
            if lead > most {
                most = lead;
                found = Late::First(k);
            }
        }
        Ok(found)
    }
}

/// A guard that was crossed before the one projected onto.
enum Late {
    Nobody,
    /// A guard that is not predicted to be crossed at all: only a smooth step can tell.
    Unforeseen,
    First(usize),
}
