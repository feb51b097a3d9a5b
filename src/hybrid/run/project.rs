//! Projection onto a guard: one explicit Runge–Kutta step in the event variable.
//!
//! Between crossings `h_j` increases, so it can take the place of time (Hénon's trick): with
//! `r = Dh_j · f + ∂h_j/∂t`, `dx/ds = f/r`, `dt/ds = 1/r`, and `s` runs from `h_j` to 0. Order 1 is
//! exactly the projection of Anderson & Revzen, listing 1. All orders evaluate the field at the
//! landing too, for the rate of the crossing and for the error: that of order 3, the pair of
//! Bogacki & Shampine, is the embedded one.

use crate::hybrid::context::{Context, System};
use crate::hybrid::evaluate::Point;
use crate::hybrid::table::GuardTable;
use crate::hybrid::table::State;
use crate::hybrid::transition::Scratch;
use crate::ode::{Buffer, Tolerance};
use crate::{Guard, Mode, Observer, Segment};

/// Error in time allowed to a landing, in relative tolerances of the last smooth step: far more
/// than states in motion allow.
const TIME_ERROR: f64 = 100.0;

/// Part of the speed of approach that must be left at a landing. Where `h` goes on as
/// `h + r·t + a·t²/2` it reaches zero at all only if `−h ≤ r²/(2·|a|)`; and with `τ = −h/r` that is
/// the same as `r + a·τ ≥ r/2`. Below that only a smooth step can tell whether the guard is
/// reached.
const SLOWED: f64 = 0.5;

/// A landing on a guard; the state is in the trial.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Landing {
    /// Time it took (s).
    pub(crate) dt: f64,
    /// Rate of the guard in the old mode there, counted so that it is positive (`u_k`/s).
    pub(crate) rate: f64,
    /// Error in units of the tolerance.
    pub(crate) error: f64,
}

/// View of the system that a stage needs, in the frozen mode.
struct Stages<'a, S: ?Sized> {
    context: &'a Context<'a, S>,
    mode: &'a Mode,
    guard: Guard,
    min_rate: f64,
    row: &'a mut [f64],
}

impl<S: System + ?Sized> Stages<'_, S> {
    /// Field at `(t, x)` and `ρ = 1/r`; None when the guard does not keep its least rate there.
    #[inline]
    fn at(&mut self, t: f64, x: &[f64], field: &mut [f64]) -> Option<f64> {
        self.context.flow(t, x, self.mode, field);
        let (k, row) = (self.guard.event, &mut *self.row);
        let mode = self.mode;
        let rate = self.context.rate(k, Point { t, x, mode }, field, row);
        let rate = self.guard.sign() * rate.value;
        (rate >= self.min_rate && rate.is_finite()).then(|| 1.0 / rate)
    }
}

/// `out = x + Σ c · f` for one, three or four terms.
#[inline]
fn combine<const M: usize>(out: &mut [f64], x: &[f64], terms: [(f64, &[f64]); M]) {
    let n = out.len();
    let x = &x[..n];
    let terms = terms.map(|(c, f)| (c, &f[..n]));
    for i in 0..n {
        let mut sum = x[i];
        for (c, f) in terms {
            sum += c * f[i];
        }
        out[i] = sum;
    }
}

/// A step in the event variable, with values at its start.
struct EventStep<'a> {
    /// Its length (`u_k`).
    length: f64,
    t: f64,
    x: &'a [f64],
    field: &'a [f64],
    /// `ρ = 1/r`.
    rho: f64,
}

impl EventStep<'_> {
    /// The step of order 1, 2, 3 or 4 (Euler, the midpoint rule, that of Bogacki & Shampine, the
    /// classical one), as far as its last stage: the state where it lands, the time it takes (s),
    /// and `ρ` at the stages after the first. None when the guard does not keep its least rate at a
    /// stage.
    #[inline]
    fn to_surface<S: System + ?Sized>(
        &self,
        stages: &mut Stages<'_, S>,
        order: u8,
        landing: &mut [f64],
        point: &mut [f64],
        [f2, f3, f4]: [&mut [f64]; 3],
    ) -> Option<(f64, [f64; 3])> {
        let &Self {
            length: q,
            t,
            x,
            field: f0,
            rho: rho0,
        } = self;
        if order == 1 {
            combine(landing, x, [(q * rho0, f0)]);
            return Some((q * rho0, [f64::NAN; 3]));
        }
        combine(point, x, [(0.5 * q * rho0, f0)]);
        let rho2 = stages.at(t + 0.5 * q * rho0, point, f2)?;
        match order {
            2 => {
                combine(landing, x, [(q * rho2, f2)]);
                Some((q * rho2, [rho2, f64::NAN, f64::NAN]))
            }
            3 => {
                combine(point, x, [(0.75 * q * rho2, f2)]);
                let rho3 = stages.at(t + 0.75 * q * rho2, point, f3)?;
                let ninth = q / 9.0;
                let terms = [
                    (2.0 * ninth * rho0, f0),
                    (3.0 * ninth * rho2, &*f2),
                    (4.0 * ninth * rho3, &*f3),
                ];
                combine(landing, x, terms);
                let dt = ninth * (2.0 * rho0 + 3.0 * rho2 + 4.0 * rho3);
                Some((dt, [rho2, rho3, f64::NAN]))
            }
            _ => {
                combine(point, x, [(0.5 * q * rho2, f2)]);
                let rho3 = stages.at(t + 0.5 * q * rho2, point, f3)?;
                combine(point, x, [(q * rho3, f3)]);
                let rho4 = stages.at(t + q * rho3, point, f4)?;
                let (end, middle) = (q / 6.0, q / 3.0);
                let terms = [
                    (end * rho0, f0),
                    (middle * rho2, &*f2),
                    (middle * rho3, &*f3),
                    (end * rho4, &*f4),
                ];
                combine(landing, x, terms);
                let dt = end * (rho0 + rho4) + middle * (rho2 + rho3);
                Some((dt, [rho2, rho3, rho4]))
            }
        }
    }
}

/// A tentative projection: where it lands, which the run moves to, commits or drops.
#[derive(Clone, Debug)]
pub(crate) struct Trial<B> {
    /// The state where it lands; once the run has moved there, the one it came from.
    x: B,
    /// The field where it lands.
    field: B,
    /// Event functions where it lands; once the run has moved there, those where it came from.
    pub(crate) h: Vec<f64>,
    /// Time at which the projection began that led the run there and is not reported yet (s).
    pub(super) pending: Option<f64>,
}

impl<B: Buffer> Trial<B> {
    pub(crate) fn new(dim: usize, count: usize) -> Self {
        let state = || B::zeros(dim);
        Self {
            x: state(),
            field: state(),
            h: vec![0.0; count],
            pending: None,
        }
    }

    /// True when the run has moved there and has not reported it yet.
    pub(crate) fn is_pending(&self) -> bool {
        self.pending.is_some()
    }

    /// Projects the present state onto guard `j` with a step of the given order. None when the
    /// guard does not keep its least rate at a stage, or half its rate at the landing: liveness
    /// fails, or the way is too long.
    #[inline]
    pub(crate) fn project<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &mut State<B>,
        guards: &mut GuardTable<B>,
        j: usize,
        order: u8,
    ) -> Option<Landing> {
        let between = state.ode.between_steps();
        let (point, [f2, f3, f4]) = (between.point, between.stages);
        let from = EventStep {
            length: -guards.own_h(j),
            t: state.t,
            x: state.x.get(),
            field: between.first,
            rho: 1.0 / guards.own_rate(j),
        };
        let mut stages = Stages {
            context,
            mode: &state.mode,
            guard: Guard::ahead(j, state.mode.contains(j)),
            min_rate: guards.min_rate[j],
            row: guards.row.get_mut(),
        };
        let landing = self.x.get_mut();
        let later = [&mut *f2, &mut *f3, &mut *f4];
        let (dt, rho) = from.to_surface(&mut stages, order, landing, point, later)?;
        let end_field = self.field.get_mut();
        let rho_end = stages.at(from.t + dt, landing, end_field)?;
        if from.rho < SLOWED * rho_end {
            return None;
        }
        let (q, f0, end_field) = (from.length, from.field, &*end_field);
        let [rho2, rho3, rho4] = rho.map(|rho| q * rho);
        let (rho0, rho_last) = (q * from.rho, q * rho_end);
        // The landing less that of another rule, of the same order or the one below. Of order 1 and
        // 2: the trapezoidal rule. Of order 4: the same with the last stage at the landing.
        let terms = match order {
            1 => [
                (0.5 * rho0, f0),
                (0.0, f0),
                (0.0, f0),
                (-0.5 * rho_last, end_field),
            ],
            2 => [
                (-0.5 * rho0, f0),
                (rho2, &*f2),
                (0.0, f0),
                (-0.5 * rho_last, end_field),
            ],
            3 => [
                (-5.0 / 72.0 * rho0, f0),
                (1.0 / 12.0 * rho2, &*f2),
                (1.0 / 9.0 * rho3, &*f3),
                (-1.0 / 8.0 * rho_last, end_field),
            ],
            _ => [
                (0.0, f0),
                (0.0, f0),
                (rho4 / 6.0, &*f4),
                (-rho_last / 6.0, end_field),
            ],
        };
        let error = estimated_error(terms, from.x, landing, &state.tolerance);
        Some(Landing {
            dt,
            rate: 1.0 / rho_end,
            error,
        })
    }

    /// Evaluates the event functions where it lands.
    #[inline]
    pub(crate) fn events<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        landing: &Landing,
    ) -> bool {
        let t = state.t + landing.dt;
        context
            .events(t, self.x.get(), &state.mode, &mut self.h)
            .is_ok()
    }

    /// Moves the landing on `j` by the time by which it misses the surface, along the field there,
    /// and gives that time (s); `None` when the correction is more than the tolerance allows: the
    /// error of the state does not see guards that move by themselves while the state rests.
    #[inline]
    pub(crate) fn close_in<S: System + ?Sized>(
        &mut self,
        context: &Context<'_, S>,
        state: &State<B>,
        guards: &GuardTable<B>,
        j: usize,
        landing: &Landing,
    ) -> Option<f64> {
        let t = state.t + landing.dt;
        let own = guards.sign[j] * context.event(j, t, self.x.get(), &state.mode);
        let relative = state.tolerance.relative.get();
        let most = relative.iter().fold(0.0, |most: f64, r| most.max(*r));
        let allowed = (TIME_ERROR * most * state.last_step * landing.rate).max(guards.zero[j]);
        // Written so that NaN fails.
        if !(most <= 0.0 || own.abs() <= allowed) {
            return None;
        }
        let missed = -own / landing.rate;
        for (x, f) in self.x.get_mut().iter_mut().zip(self.field.get()) {
            *x += missed * f;
        }
        Some(missed)
    }

    /// Moves the run to the landing.
    pub(crate) fn land(
        &mut self,
        wants_segments: bool,
        state: &mut State<B>,
        guards: &mut GuardTable<B>,
        landing: Landing,
    ) {
        let start = state.t;
        if wants_segments {
            let ends = [state.x.get(), self.x.get()];
            (state.ode).form_between(start, landing.dt, ends, self.field.get());
        }
        self.pending = Some(start);
        state.t = start + landing.dt;
        std::mem::swap(&mut state.x, &mut self.x);
        std::mem::swap(&mut guards.h, &mut self.h);
        state.ode.first_stage().copy_from_slice(self.field.get());
    }

    /// Moves the run back to where it came from, at time `start`; the field there is to be evaluated.
    #[cold]
    pub(crate) fn drop_landing(
        &mut self,
        state: &mut State<B>,
        guards: &mut GuardTable<B>,
        start: f64,
    ) {
        self.pending = None;
        state.t = start;
        std::mem::swap(&mut state.x, &mut self.x);
        std::mem::swap(&mut guards.h, &mut self.h);
    }

    /// The landing stands: reports the projection, if there was one. `place` holds
    /// the state before the crossing that it led to.
    #[inline]
    pub(crate) fn commit(
        &mut self,
        wants_segments: bool,
        observer: &mut dyn Observer,
        state: &State<B>,
        place: &Scratch<B>,
    ) {
        if let Some(start) = self.pending.take()
            && wants_segments
        {
            observer.segment(&Segment {
                start,
                t: state.t,
                state: place.x_before.get(),
                mode: &place.mode_before,
                projected: true,
                interpolant: state.ode.interpolant(),
            });
        }
    }
}

/// Norm of the embedded error estimate: the larger of the error on the guard, `e`, and at equal
/// time, `e − f·e_t`, since a landing can be right in state and wrong in time. `terms` are weights
/// (which add up to `e_t`) and fields, the last one at the landing.
#[inline]
fn estimated_error<B: Buffer>(
    terms: [(f64, &[f64]); 4],
    x: &[f64],
    landing: &[f64],
    tolerance: &Tolerance<B>,
) -> f64 {
    let n = landing.len();
    let x = &x[..n];
    let [(w0, f0), (w2, f2), (w3, f3), (w4, f4)] = terms.map(|(w, f)| (w, &f[..n]));
    let error_in_time = w0 + w2 + w3 + w4;
    let (mut on_guard, mut at_time) = (0.0, 0.0);
    for i in 0..n {
        let e = w0 * f0[i] + w2 * f2[i] + w3 * f3[i] + w4 * f4[i];
        let scale = tolerance.scale(i, x[i], landing[i]);
        let (here, then) = (e / scale, (e - f4[i] * error_in_time) / scale);
        on_guard += here * here;
        at_time += then * then;
    }
    (f64::max(on_guard, at_time) / n as f64).sqrt()
}
