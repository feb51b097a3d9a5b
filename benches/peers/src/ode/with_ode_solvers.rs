//! `ode_solvers`: a step that passes a contact ends the integration; the contact is found on the continuous output, and
//! a new integration starts there.

use ode_solvers::continuous_output_model::ContinuousOutputModel;
use ode_solvers::dopri5::Dopri5;
use ode_solvers::{SVector, System};

use crate::systems::{Contacts, END};

/// A contact has changed when it is on its other side by more than rounding.
const ROUNDING: f64 = 1e-13;

/// The system with its contacts frozen.
struct Frozen<'a, C, const D: usize> {
    system: &'a C,
    closed: &'a [bool],
}

impl<C: Contacts<D>, const D: usize> Frozen<'_, C, D> {
    /// How far contact `k` is on the side that it does not belong to.
    fn beyond(&self, k: usize, x: &[f64]) -> f64 {
        let depth = self.system.depth(k, x);
        if self.closed[k] { -depth } else { depth }
    }

    fn changed(&self, x: &[f64]) -> impl Iterator<Item = usize> {
        (0..self.closed.len()).filter(|&k| self.beyond(k, x) > ROUNDING)
    }
}

impl<C: Contacts<D>, const D: usize> System<f64, SVector<f64, D>> for Frozen<'_, C, D> {
    fn system(&self, _t: f64, x: &SVector<f64, D>, dx: &mut SVector<f64, D>) {
        self.system
            .field(|k| self.closed[k], x.as_slice(), dx.as_mut_slice());
    }
    fn solout(&mut self, _t: f64, x: &SVector<f64, D>, _dx: &SVector<f64, D>) -> bool {
        self.changed(x.as_slice()).next().is_some()
    }
}

/// The root of a function between `low`, where it is not positive, and `high`, by false positions with the weight of
/// an end halved that stays (Illinois); the side that is positive.
fn root(g: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    // A contact that has just changed may be beyond by rounding.
    let (mut g_low, mut g_high) = (g(low).min(-1e-3 * ROUNDING), g(high));
    let mut stays = 0;
    for _ in 0..100 {
        let at = low - g_low * (high - low) / (g_high - g_low);
        if high - low <= 4.0 * f64::EPSILON * high.abs() || at <= low || at >= high {
            break;
        }
        let value = g(at);
        if value > 0.0 {
            (high, g_high) = (at, value);
            g_low *= if stays == 1 { 0.5 } else { 1.0 };
            stays = 1;
        } else {
            (low, g_low) = (at, value);
            g_high *= if stays == -1 { 0.5 } else { 1.0 };
            stays = -1;
        }
        if value.abs() < 0.1 * ROUNDING {
            return at;
        }
    }
    high
}

pub fn run<C: Contacts<D>, const D: usize>(system: &C, rtol: f64) -> [f64; D] {
    let mut x = SVector::<f64, D>::from(system.start());
    let mut closed = vec![false; system.count()];
    let mut t = 0.0;
    loop {
        let frozen = Frozen::<C, D> {
            system,
            closed: &closed,
        };
        let mut path = ContinuousOutputModel::new();
        let again = Frozen::<C, D> {
            system,
            closed: &closed,
        };
        let mut solver = Dopri5::new(again, t, END, END - t, x, rtol, rtol);
        solver
            .integrate_with_continuous_output_model(&mut path)
            .expect("integrates");
        let (times, states) = (solver.x_out(), solver.y_out());
        let (stop, last) = (times[times.len() - 1], &states[states.len() - 1]);
        let start = if times.len() > 1 {
            times[times.len() - 2]
        } else {
            t
        };
        let at = |t: f64| path.evaluate(t).expect("within the path");
        let first = frozen
            .changed(last.as_slice())
            .map(|k| (root(|t| frozen.beyond(k, at(t).as_slice()), start, stop), k))
            .min_by(|(a, _), (b, _)| a.total_cmp(b));
        let Some((time, k)) = first else {
            return (*last).into();
        };
        x = at(time);
        t = time;
        closed[k] = !closed[k];
    }
}
