//! Projection onto a guard: one explicit Runge–Kutta step in the event variable.
//!
//! Between crossings `h_j` increases, so it can take the place of time (Hénon's trick): with
//! `r = Dh_j · f + ∂h_j/∂t`, `dx/ds = f/r`, `dt/ds = 1/r`, and `s` runs from `h_j` to 0. Order 1 is
//! exactly the projection of Anderson & Revzen, listing 1, at one evaluation of the field; the
//! others evaluate it at the landing too, for the rate of the crossing. Order 3 is the pair of
//! Bogacki & Shampine, whose embedded solution gives the error estimate.

use super::state::Run;
use crate::Guard;
use crate::hybrid::{EventFunction, Flow, Mode, Statistics, evaluate};
use crate::ode::{Buffer, Tolerance};

/// A landing on a guard; the state is in `work.landing`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Landing {
    /// Time it took (s).
    pub(crate) dt: f64,
    /// Rate of the guard in the old mode, counted so that it is positive (`u_k`/s): at the landing,
    /// for order 1 at the start.
    pub(crate) rate: f64,
    /// Error in units of the tolerance, 0 when not asked for.
    pub(crate) error: f64,
    /// `work.landing_field` holds the field of the old mode at the landing.
    pub(crate) knows_field: bool,
}

/// What a stage needs to know of the system, in the frozen mode.
struct Stages<'a, S> {
    system: &'a S,
    mode: &'a Mode,
    guard: Guard,
    min_rate: f64,
    row: &'a mut [f64],
    statistics: &'a mut Statistics,
}

impl<S: Flow + EventFunction> Stages<'_, S> {
    /// Field at `(t, x)` and `ρ = 1/r`; None when the guard does not keep its least rate there.
    #[inline]
    fn at(&mut self, t: f64, x: &[f64], field: &mut [f64]) -> Option<f64> {
        self.system.flow(t, x, self.mode, field);
        self.statistics.flow += 1;
        self.statistics.gradient += 1;
        let (k, row) = (self.guard.event, &mut *self.row);
        let rate = evaluate::rate(self.system, k, (t, x), self.mode, field, row);
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

impl<B: Buffer> Run<B> {
    /// Projects the present state onto guard `j` with a step of the given order; with `estimate`
    /// (order 3 only) it also gives the error. None when the guard does not keep its least rate at
    /// a stage: liveness fails, or the way is too long.
    #[inline]
    pub(crate) fn project<S>(
        &mut self,
        system: &S,
        j: usize,
        order: u8,
        estimate: bool,
    ) -> Option<Landing>
    where
        S: Flow + EventFunction,
    {
        let q = -self.guards.own_h(j);
        let rate0 = self.guards.own_rate(j);
        let rho0 = 1.0 / rate0;
        let t = self.t;
        let x = self.x.get();
        let f0 = self.ode.slope_at_start();
        let work = &mut self.work;
        let landing = work.landing.get_mut();
        let point = work.point.get_mut();
        let [f2, f3, f4] = &mut work.stages;
        let (f2, f3, f4) = (f2.get_mut(), f3.get_mut(), f4.get_mut());
        let mut stages = Stages {
            system,
            mode: &self.mode,
            guard: Guard::ahead(j, self.mode.contains(j)),
            min_rate: self.guards.min_rate[j],
            row: work.row.get_mut(),
            statistics: &mut self.statistics,
        };
        if order == 1 {
            combine(landing, x, [(q * rho0, f0)]);
            return Some(Landing {
                dt: q * rho0,
                rate: rate0,
                error: 0.0,
                knows_field: false,
            });
        }
        let end_field = work.landing_field.get_mut();
        combine(point, x, [(0.5 * q * rho0, f0)]);
        let rho2 = stages.at(t + 0.5 * q * rho0, point, f2)?;
        let (dt, third) = match order {
            2 => {
                combine(landing, x, [(q * rho2, f2)]);
                (q * rho2, None)
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
                (ninth * (2.0 * rho0 + 3.0 * rho2 + 4.0 * rho3), Some(rho3))
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
                (end * (rho0 + rho4) + middle * (rho2 + rho3), None)
            }
        };
        let rho_end = stages.at(t + dt, landing, end_field)?;
        let error = match third {
            Some(rho3) if estimate => {
                let weights = [
                    (-5.0 / 72.0 * q * rho0, f0),
                    (1.0 / 12.0 * q * rho2, &*f2),
                    (1.0 / 9.0 * q * rho3, &*f3),
                    (-1.0 / 8.0 * q * rho_end, &*end_field),
                ];
                estimated_error(weights, x, landing, &self.tolerance)
            }
            _ => 0.0,
        };
        Some(Landing {
            dt,
            rate: 1.0 / rho_end,
            error,
            knows_field: true,
        })
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
