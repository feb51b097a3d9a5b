//! `EventFunction`: the functions whose zeros are the guards, and what a crossing does.

use std::ops::RangeInclusive;

use crate::Stop;
use crate::model::{Crossed, Crossing, Displacement, Mode, Watch};

/// The event functions `h_k(t, x)`, `k = 0 … count − 1`, of a hybrid system, and what a crossing
/// does.
///
/// The zero set of `h_k` is a guard. `h_k < 0` before and `h_k > 0` after a rising crossing. Each
/// `h_k` has its own unit `u_k` (metres for a gap) and must be smooth in `t` and `x`.
///
/// In an event-selected system `h` depends on `t` and `x` only. `mode` is there for hybrid automata
/// whose guards differ from mode to mode (a contact force that may fall to zero only while the
/// contact is closed); it is the frozen mode of the step, never to be guessed from `x`.
///
/// [`count`](Self::count) and [`flags`](Self::flags) are read when a driver is made, and not again.
pub trait EventFunction {
    /// Number of event functions; 0 makes a plain differential equation.
    fn count(&self) -> usize;

    /// Number of [flags](Mode) of the model: what it keeps in the mode beside the sides.
    /// Provided: 0. They are off at a start, unless
    /// [`Start::mode`](crate::Start::mode) says otherwise. All that a reset
    /// sets must be declared here: a run in which one sets another flag ends with
    /// [`Stop::UndeclaredFlag`]. Where such a flag is only read, it is off ([`Mode::flag`]).
    fn flags(&self) -> usize {
        0
    }

    /// `h_k(t, x)` in its own unit. A step tries states beyond the guard, anywhere within its
    /// length.
    ///
    /// A value that is not finite means "not defined here", as in
    /// [`Flow::flow`](crate::Flow::flow): the step is shortened, down to the shortest, and a run
    /// that comes to the end of the domain ends there with
    /// [`Stop::NotFinite`](crate::Stop::NotFinite), naming the event function. A guard before
    /// that end is found. Differences in place of a gradient that is not written reach about 6e-6
    /// of the size of the state and 6e-6 s ahead of it.
    fn event(&self, k: usize, t: f64, x: &[f64], mode: &Mode) -> f64;

    /// All event functions at once; override when sharing work pays. What is not finite means the
    /// same as in [`event`](Self::event).
    fn events(&self, t: f64, x: &[f64], mode: &Mode, h: &mut [f64]) {
        for (k, h_k) in h.iter_mut().enumerate() {
            *h_k = self.event(k, t, x, mode);
        }
    }

    /// Writes the row `D_x h_k` into `dh` and returns `Some(∂h_k/∂t)`: `Some(0.0)` for a guard that
    /// does not move with time. The provided method returns `None`, and the crate takes
    /// differences. Derivatives choose their steps as in
    /// [`Flow::jacobian_times`](crate::Flow::jacobian_times). By the time they are taken over 6e-6 s, whatever the
    /// time is: of a function of the clock that changes as fast as that the rate is to be written.
    ///
    /// Only single rows are asked for, never the whole matrix.
    fn gradient(&self, k: usize, t: f64, x: &[f64], mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        let _ = (k, t, x, mode, dh);
        None
    }

    /// In which directions `h_k` is watched, and whether a crossing ends the run.
    fn watch(&self, k: usize) -> Watch {
        let _ = k;
        Watch::BOTH
    }

    /// The least rate `c_k > 0` at which `h_k` counts as crossing (`u_k` per second): the liveness
    /// bound of the paper. Slower crossings are refused as grazing or sliding. Finite and above
    /// zero.
    ///
    /// The provided `None` follows the guard, whatever its unit: `c_k` is 1e-6 times the largest
    /// `|dh_k/dt|` that the run has seen so far, at its start, at ends of steps and at crossings.
    /// An approach that slows down to a millionth of earlier rates is grazing. A guard that is met
    /// at the only rate that was seen of it is crossed, however small that rate is; only a rate
    /// within the rounding of its own evaluation counts as zero at the start. What a crossing was
    /// held against is in [`GuardCrossing::min_rate`](crate::GuardCrossing::min_rate).
    fn min_rate(&self, k: usize) -> Option<f64> {
        let _ = k;
        None
    }

    /// Size of the numerical noise in `h_k` (unit `u_k`): values within it count as zero when
    /// guards are grouped at one instant. Default 0: only the rounding of time, and of the state
    /// where the gradient is written, is reckoned with.
    fn event_tolerance(&self, k: usize) -> f64 {
        let _ = k;
        0.0
    }

    /// The distance of `h_k` from its surface (unit `u_k`) within which its guard is crossed together
    /// with another one that the motion is on, if it moves across too. Default 0: only those that
    /// count as zero, by [`event_tolerance`](Self::event_tolerance) and rounding. Of two guards both state it.
    ///
    /// To be written where resets of several guards at once are other ones than those of one after
    /// the other, as impacts with friction are: which comes first within the error of the run is not
    /// the model's to tell. Derivatives take such guards as those of a corner.
    fn crosses_within(&self, k: usize) -> f64 {
        let _ = k;
        0.0
    }

    /// The values of `h_k` (`u_k`) with which a run may start, or go on after a reset, in `mode`.
    /// Provided: all of them, so that both sides of the guard are admissible. A gap, or another
    /// guard that may not be passed, declares `0.0..=f64::INFINITY`.
    ///
    /// A start beyond an end of the range, by more than the rounding of its evaluation and
    /// [`event_tolerance`](Self::event_tolerance) (to be written where starts are computed, and may be
    /// off by their own rounding), is refused with [`Stop::Inadmissible`]; and so is
    /// a state that resets throw there, once the guards that they carried the state across have
    /// crossed too. A reset of the mode throws it there likewise, where the function reads the mode. What a crossing
    /// itself leaves open by its error is no reset's doing, and motion is not held against it, also by a reset that
    /// finds the state beyond the range already: guards stop that.
    fn admissible(&self, k: usize, mode: &Mode) -> RangeInclusive<f64> {
        let _ = (k, mode);
        f64::NEG_INFINITY..=f64::INFINITY
    }

    /// The shortest time (s) in which `h_k` does something of its own that the motion does not
    /// show: a pulse, a gate, an obstacle that is passed (how long that takes). Samples of `h_k` are
    /// never farther apart in time, so that nothing that lasts as long can hide between them.
    /// `INFINITY` for a function that changes its course only where the motion does, such as a height
    /// over flat ground; the provided `None` takes that of the integrator
    /// ([`Integrator::time_scale`](crate::Integrator::time_scale)), a hundredth of the run unless
    /// set, and none at all where [`is_affine`](Self::is_affine) says so.
    ///
    /// An excursion that hides is narrower than the distance of samples and leaves no trace at
    /// them; oscillations are followed at any rate.
    fn time_scale(&self, k: usize) -> Option<f64> {
        let _ = k;
        None
    }

    /// True when `h_k` is affine in time and state, `h_k = a · x + b t + c`, with `a` the row that
    /// [`gradient`](Self::gradient) writes, and `b` what it returns; they may differ from mode to
    /// mode. What it does within a step is then known from the polynomial of the step: it needs no
    /// time scale, and where all watched event functions are so, or state a
    /// [`max_rate`](Self::max_rate), steps in which no guard is within reach are not sampled. Where
    /// the row is not written, or does not lead to the value at the end of a step, the step is sampled
    /// all the same; what is not affine and not seen there may lose guards. The provided `false` is
    /// always right.
    ///
    /// ```
    /// use saltation::{EventFunction, Flow, Integrator, Mode, Start, Watch};
    /// struct Drop; // from 2 m, onto a floor that rises by 0.1 m/s
    /// impl Flow for Drop {
    ///     fn dim(&self) -> usize { 2 }
    ///     fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
    ///         dx.copy_from_slice(&[x[1], -9.81]);
    ///     }
    /// }
    /// impl EventFunction for Drop {
    ///     fn count(&self) -> usize { 1 }
    ///     fn event(&self, _k: usize, t: f64, x: &[f64], _mode: &Mode) -> f64 { 0.1 * t - x[0] }
    ///     fn gradient(&self, _k: usize, _t: f64, _x: &[f64], _mode: &Mode, dh: &mut [f64]) -> Option<f64> {
    ///         dh.copy_from_slice(&[-1.0, 0.0]);
    ///         Some(0.1) // ∂h/∂t
    ///     }
    ///     fn watch(&self, _k: usize) -> Watch { Watch::RISING.and_stop() }
    ///     fn is_affine(&self, _k: usize) -> bool { true }
    /// }
    /// let run = Integrator::new(Drop)?.integrate(&Start::at(0.0).x(&[2.0, 0.0]), 1.0)?;
    /// assert!((run.t() - 0.6284385).abs() < 1e-6);
    /// assert!(run.statistics().windows <= 2); // the rest of the way was out of reach
    /// # Ok::<(), saltation::Error>(())
    /// ```
    fn is_affine(&self, k: usize) -> bool {
        let _ = k;
        false
    }

    /// The largest `|dh_k/dt|` on any motion of the run, where the model states one (`u_k` per
    /// second); not negative, and as good as none where it is infinite. For the distance to an
    /// obstacle it is the top speed. Where all watched event functions state one, or are
    /// [affine](Self::is_affine), steps in which no guard is within reach are not sampled.
    ///
    /// Steps within reach are sampled as all others are: a passage that is shorter than the
    /// [`time_scale`](Self::time_scale) may hide there. A motion that is seen to be faster at the end
    /// of a step is sampled too; one that is faster within it may lose guards.
    /// Provided: `None`.
    fn max_rate(&self, k: usize) -> Option<f64> {
        let _ = k;
        None
    }

    /// True when no event function reads `mode`, as in every event-selected system: saves one
    /// evaluation of `events` at each crossing. The provided `false` is always right.
    fn ignores_mode(&self) -> bool {
        false
    }

    /// False when no crossing resets state or mode, as in every event-selected system:
    /// [`on_crossing`](Self::on_crossing) is not called then, and derivatives need not ask whether
    /// each crossing changes neighbouring states, which is two evaluations of the flow. The provided
    /// `true` is always right.
    fn resets(&self) -> bool {
        true
    }

    /// True when what [`reset_times`](Self::reset_times) writes is a difference of resets. Its
    /// rounding is then allowed for where orders of a corner are compared. The provided method
    /// returns `false`: it is exact but for the rounding of its own arithmetic.
    fn writes_reset_differences(&self) -> bool {
        false
    }

    /// True when the row that [`gradient`](Self::gradient) writes for event function `k` at a state is a difference: a
    /// derivative sharpens it where a slow rate divides its error. The provided method returns `false`: it is exact but
    /// for the rounding of its own arithmetic.
    fn writes_row_differences(&self, _k: usize, _x: &[f64], _mode: &Mode) -> bool {
        false
    }

    /// Action of a crossing beside flipping side bits: none for an event-selected system, a reset
    /// otherwise.
    ///
    /// Called once for all guards that cross at the same instant in a watched direction, with their
    /// side bits already flipped in `mode`. It may change `x` and `mode`, and leave what observers
    /// are to know in `record`. A reset that throws the state back over a guard (a bouncing ball)
    /// needs nothing else but a [`watch`](Self::watch) in one direction: under
    /// [`Rearm::Pairs`](crate::Rearm::Pairs) the way back is a crossing like any other, and where it
    /// is watched too the reset is called again. A reset that carries guards across makes them fire at the
    /// same instant, and so does one that puts the state on a guard which it then crosses. So does one that moves a
    /// guard by the mode, the crossed one included (the next level of a ladder): it lies before its surface again. What
    /// the side of the crossed guard alone makes of its event function moves nothing: that is a hysteresis. Where the
    /// reset decides on which side of another guard the run goes on (a leg that touches down at its
    /// rest length), it should set that side ([`Mode::set`]). A reset that handles several guards
    /// one after another should make sure that none of them is left with a rate across its surface
    /// (the second impact in a wedge may throw the state at the first wall again): such a guard
    /// counts as crossed, and the state goes on through it.
    ///
    /// A reset that puts the state behind the guard by less than the rounding of the time, of the state or of `h`
    /// puts it on the guard, which is not crossed again; so does one by less than
    /// [`event_tolerance`](Self::event_tolerance). After a flight to the guard of up to a thousand times that
    /// throw, crossings accumulate (Zeno), and the run ends with [`Stop::NoProgress`]. Flights that
    /// shrink faster, throws that do not change the value of `h`, and those within an `event_tolerance`, are not
    /// told from a reset onto the guard.
    ///
    /// # Errors
    /// A crossing that the model cannot resolve: [`Stop::model`] takes an error of any type, or a
    /// text. It ends the run, which keeps all it computed.
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let _ = crossing;
        Ok(())
    }

    /// Writes the derivative of the reset `along` a displacement `(dt, dx)` into `out`, `D_x R · dx + ∂R/∂t · dt`,
    /// and returns `true`, where `(t, x) ↦ R(t, x)` is what [`on_crossing`](Self::on_crossing)
    /// makes of the state; the provided method returns `false`, and the crate takes differences of
    /// `on_crossing`.
    ///
    /// `x` and `mode` are what `on_crossing` is given. Rates in `crossed` depend on `t` and `x`
    /// too: where the reset uses one, its derivative belongs to that of the reset. (The differences
    /// see that; write the gradient then, since differences of differences are good to 1e-6 only.)
    fn reset_times(
        &self,
        t: f64,
        crossed: &Crossed<'_>,
        x: &[f64],
        mode: &Mode,
        along: Displacement<'_>,
        out: &mut [f64],
    ) -> bool {
        let _ = (t, crossed, x, mode, along, out);
        false
    }

    /// Derivatives of the reset along several directions with one `dt`, as
    /// [`reset_times`](Self::reset_times); their `dx` follow each other, and the products in `out`;
    /// override when sharing work pays. Returns `true` only when all are written.
    fn reset_times_each(
        &self,
        t: f64,
        crossed: &Crossed<'_>,
        x: &[f64],
        mode: &Mode,
        along: Displacement<'_>,
        out: &mut [f64],
    ) -> bool {
        let dim = x.len().max(1);
        let products = along.dx.chunks_exact(dim).zip(out.chunks_exact_mut(dim));
        products.into_iter().all(|(dx, out)| {
            let along = Displacement { dx, ..along };
            self.reset_times(t, crossed, x, mode, along, out)
        })
    }
}
