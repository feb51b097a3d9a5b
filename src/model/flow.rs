//! `Flow`: the smooth motion in each mode, `x' = f(t, x; mode)`.

use crate::InputError;
use crate::model::Mode;

/// The right-hand side of a hybrid system: `x' = f(t, x; mode)`.
///
/// `f` must be smooth in `x` for a frozen mode and accept states *beyond* a guard in the old mode:
/// a step tries them before the crossing is located, as far as its length goes (limit it with
/// [`max_step`](crate::Integrator::max_step)). Where `f` is not finite there, the step is
/// shortened. It must not look at the sign of `h`; the mode says which side counts. Source:
/// Anderson & Revzen, section 2.1 (the vector field `f(x, y)`).
///
/// The length of `x` and `dx` is always [`dim`](Self::dim), as it was when the driver was made: sizes
/// are read then and not again. There is no `Result`: a value that is
/// not finite is found by the integrator, which says where.
pub trait Flow {
    /// Number of state variables.
    fn dim(&self) -> usize;

    /// Checks the options of the system; every run asks when it starts. The provided method accepts
    /// them.
    ///
    /// # Errors
    /// [`InputError`] with the name of an option that makes no sense: the run is refused with it.
    fn validate(&self) -> Result<(), InputError> {
        Ok(())
    }

    /// Writes `f(t, x; mode)` into `dx` (unit of the state per second).
    ///
    /// A value that is not finite means "not defined here": the step is shortened, again and again
    /// down to the shortest that moves the time (8 units in the last place of `t`). A run whose
    /// state comes to the end of the domain ends there with
    /// [`Stop::NotFinite`](crate::Stop::NotFinite), naming the component, time and state, and
    /// keeps all before. A guard on the edge itself is met for sure only where `f` is defined a
    /// little beyond. A step of [fixed](crate::Integrator::fixed_step) length is not shortened: the
    /// run ends at its start.
    fn flow(&self, t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]);

    /// Writes `D_x f(t, x; mode) · v` into `out` and returns `true`; the provided method returns
    /// `false`, and the crate takes a central difference along `v` in the frozen mode.
    ///
    /// Its step is 6e-6 of the state, or of 1 where that is more. At the start of each segment of
    /// the run it is compared with one of half the length, and with one of 6e-6 of `atol/rtol`
    /// where the state is smaller than 1. Where these differ by more than their rounding, the step
    /// is halved until they do not, 50 times at most. Where no step is found the derivative ends
    /// with [`NoDerivative::DifferencesDisagree`](crate::NoDerivative::DifferencesDisagree).
    fn jacobian_times(&self, t: f64, x: &[f64], mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
        let _ = (t, x, mode, v, out);
        false
    }

    /// Products as [`jacobian_times`](Self::jacobian_times) for several directions, which follow
    /// each other in `v` and their products in `out`; override when sharing work pays. Returns
    /// `true` only when all are written.
    fn jacobian_times_each(
        &self,
        t: f64,
        x: &[f64],
        mode: &Mode,
        v: &[f64],
        out: &mut [f64],
    ) -> bool {
        let dim = x.len().max(1);
        let products = v.chunks_exact(dim).zip(out.chunks_exact_mut(dim));
        products
            .into_iter()
            .all(|(v, out)| self.jacobian_times(t, x, mode, v, out))
    }

    /// Turns `dx = f(t, x; mode without k's change)` into `f(t, x; mode)` after side `k` flipped,
    /// and returns `true`; the provided method returns `false`, and the crate evaluates
    /// [`flow`](Self::flow) again.
    ///
    /// `mode` is the mode after the flip. Worth writing when contacts add up: the cost of a
    /// crossing becomes O(1) in their number.
    fn flip(&self, t: f64, x: &[f64], mode: &Mode, k: usize, dx: &mut [f64]) -> bool {
        let _ = (t, x, mode, k, dx);
        false
    }

    /// The shortest time (s) in which `f` does something of its own that the state does not show
    /// before: a pulse, a switch by the clock. Stages of steps are never farther apart in time. The
    /// provided `None` sets no bound: the error test alone chooses the steps, and may pass over pulses that last up to
    /// two fifths of a run, in silence. Only where the whole state rests, but for rounding, `f` is evaluated at places
    /// a hundredth of the run apart, to find what sets it in motion.
    fn flow_time_scale(&self) -> Option<f64> {
        None
    }

    /// The part of `step` (s) from `t` on after which a clock has first switched `f`, as far as the state at `t`
    /// shows it at so many `places`, equally far apart; `step` where it does not. Steps end there, so that
    /// their error test sees what has changed: a push that begins and ends between the stages of a step
    /// would be passed over. Asked of steps longer than a hundredth of the run where no
    /// [`flow_time_scale`](Self::flow_time_scale) is stated. The provided method returns `step`.
    fn until_switch(&self, t: f64, x: &[f64], mode: &Mode, step: f64, places: usize) -> f64 {
        let _ = (t, x, mode, places);
        step
    }

    /// Brings a state that has drifted off a manifold that `mode` prescribes (closed contacts) back
    /// to it, and returns `true` when it changed the state; the provided method does nothing.
    /// Called at the end of each smooth step that passes its error test, before guards are looked
    /// for in it: the step may still be cut at a guard, or made again.
    fn correct(&self, t: f64, x: &mut [f64], mode: &Mode) -> bool {
        let _ = (t, x, mode);
        false
    }
}
