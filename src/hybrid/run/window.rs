//! Windows of a smooth step: event functions sampled at four places each, and which guards need a
//! closer look.

use super::cubic::{Cubic, FRACTIONS};
use super::guard_table::GuardTable;
use super::state::Run;
use crate::Stop;
use crate::hybrid::options::Settings;
use crate::hybrid::{EventFunction, Projection, evaluate};
use crate::ode::Buffer;

/// A part of a smooth step, as fractions of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    pub(crate) from: f64,
    pub(crate) to: f64,
}

impl Window {
    #[inline]
    pub(crate) fn width(self) -> f64 {
        self.to - self.from
    }

    /// Fraction of the step at the fraction `s` of the window.
    #[inline]
    pub(crate) fn at(self, s: f64) -> f64 {
        if s < 1.0 {
            self.from + s * self.width()
        } else {
            self.to
        }
    }

    #[inline]
    pub(crate) fn is_first(self) -> bool {
        self.from <= 0.0
    }
}

/// A guard that a window passes between sample `i − 1` and sample `i`, at about the fraction `at`
/// of the window.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crossed {
    pub(crate) k: usize,
    pub(crate) i: usize,
    pub(crate) at: f64,
}

/// The lesser of two numbers that are known to be finite: one instruction, unlike `f64::min`.
#[inline]
fn lesser(a: f64, b: f64) -> f64 {
    if a < b { a } else { b }
}

impl<B: Buffer> Run<B> {
    /// Evaluates all event functions at the samples of a window after its start.
    pub(crate) fn sample<S: EventFunction>(
        &mut self,
        system: &S,
        window: Window,
        step: f64,
    ) -> Result<(), Stop> {
        let work = &mut self.work;
        for (h, s) in work.h.iter_mut().zip(&FRACTIONS[1..]) {
            let fraction = window.at(*s);
            let t = self.t + fraction * step;
            let x = if fraction < 1.0 {
                let x = work.point.get_mut();
                self.ode.interpolant().at_fraction(fraction, x);
                &*x
            } else {
                self.ode.state()
            };
            system.events(t, x, &self.mode, h);
            self.statistics.events += 1;
            evaluate::check_events(h, t, x, &self.mode)?;
        }
        Ok(())
    }

    /// Makes the end of a window the start of the next one.
    pub(crate) fn next_window_starts(&mut self) {
        let work = &mut self.work;
        std::mem::swap(&mut work.h_start, &mut work.h[2]);
    }

    /// Lists in `near` the armed guards that a window may pass, and gives the first of those that
    /// it certainly passes.
    ///
    /// Left out are guards that are far: farther from their level at all samples than they moved in
    /// the window, than the curvature of their samples allows for, and than the error. And those
    /// that are monotonic, by the same measure: if they pass, where is known.
    pub(crate) fn list_near(
        &mut self,
        settings: &Settings,
        window: Window,
        step: f64,
    ) -> Option<Crossed> {
        let n = self.count();
        let rounding = self.rounding_in(window.width() * step);
        let GuardTable {
            h,
            sign,
            armed,
            ready,
            zero,
            most_spread,
            ..
        } = &self.guards;
        let (sign, armed, ready, zero) = (&sign[..n], &armed[..n], &ready[..n], &zero[..n]);
        let (error, most_spread) = (self.error, &most_spread[..n]);
        let outside = &mut self.work.outside[..n];
        let start = if window.is_first() {
            &h[..n]
        } else {
            &self.work.h_start[..n]
        };
        let [first, second, end] = &self.work.h;
        let (first, second, end) = (&first[..n], &second[..n], &end[..n]);
        let mut earliest: Option<Crossed> = None;
        self.near.clear();
        for k in 0..n {
            if !armed[k] {
                continue;
            }
            let eps = match &settings.projection {
                Projection::Eps { eps, .. } if self.inside != Some(k) => eps.get(k),
                _ => 0.0,
            };
            let samples = [start[k], first[k], second[k], end[k]];
            let way = samples.map(|h| -sign[k] * h - eps);
            let [w0, w1, w2, w3] = way;
            let least = lesser(lesser(w0, w1), lesser(w2, w3));
            let most = -lesser(lesser(-w0, -w1), lesser(-w2, -w3));
            let cubic = Cubic::through(way);
            if ready[k] && least > most - least + 2.0 * cubic.leading().abs() {
                // One that was always within the error tells nothing by staying there.
                let is_outside = least > error * most_spread[k];
                if is_outside || !outside[k] {
                    outside[k] |= is_outside;
                    continue;
                }
            }
            let clear = 4.0 * zero[k] + rounding * (w3 - w0).abs();
            if !(ready[k] && w0 > clear && cubic.is_monotonic()) {
                self.near.push(k);
                continue;
            }
            let Some(i) = (1..4).find(|&i| way[i] <= 0.0) else {
                continue;
            };
            let fall = way[i - 1] - way[i];
            let at = FRACTIONS[i - 1] + (FRACTIONS[i] - FRACTIONS[i - 1]) * way[i - 1] / fall;
            if earliest.is_none_or(|known| at < known.at) {
                earliest = Some(Crossed { k, i, at });
            }
        }
        earliest
    }

    /// What the rounding of times makes of event functions, as a part of their change over
    /// `seconds`.
    #[inline]
    pub(crate) fn rounding_in(&self, seconds: f64) -> f64 {
        32.0 * f64::EPSILON * (self.t.abs() + self.last_step) / seconds
    }

    /// `sign · h_k` at the four samples of a window.
    #[inline]
    pub(crate) fn own_samples(&self, k: usize, window: Window) -> [f64; 4] {
        let sign = self.guards.sign[k];
        let start = if window.is_first() {
            &self.guards.h
        } else {
            &self.work.h_start
        };
        let [first, second, end] = &self.work.h;
        [start, first, second, end].map(|h| sign * h[k])
    }

    /// `sign · h_k` on the interpolant, at a fraction of the step.
    #[inline]
    pub(crate) fn own_h_at<S: EventFunction>(
        &mut self,
        system: &S,
        k: usize,
        fraction: f64,
        step: f64,
    ) -> f64 {
        let point = self.work.point.get_mut();
        self.ode.interpolant().at_fraction(fraction, point);
        self.statistics.event += 1;
        self.guards.sign[k] * system.event(k, self.t + fraction * step, point, &self.mode)
    }

    /// Lets the liveness bounds follow the slopes at the end of a step.
    #[inline]
    fn see_slopes(&mut self) {
        let n = self.count();
        let GuardTable {
            min_rate,
            part_of_rate,
            ..
        } = &mut self.guards;
        let (least, part, rate) = (&mut min_rate[..n], &part_of_rate[..n], &self.work.rate[..n]);
        for k in 0..n {
            let seen = part[k] * rate[k].abs();
            least[k] = if seen > least[k] { seen } else { least[k] };
        }
    }

    /// Takes the slopes between the last two samples for the rates at the end of the step, until a
    /// row is asked for; where the window is too short to tell them, those at its start.
    pub(crate) fn slopes_at_end(&mut self, window: Window, step: f64) {
        let n = self.count();
        let seconds = window.width() * step;
        if self.tells_rates(seconds) {
            let work = &mut self.work;
            let [_, h2, h3] = &work.h;
            let (h2, h3, rate) = (&h2[..n], &h3[..n], &mut work.rate[..n]);
            let per_second = 1.0 / ((FRACTIONS[3] - FRACTIONS[2]) * seconds);
            for k in 0..n {
                rate[k] = (h3[k] - h2[k]) * per_second;
            }
            self.see_slopes();
        } else {
            self.work.rate.copy_from_slice(&self.guards.rate);
        }
        let work = &mut self.work;
        work.zero.copy_from_slice(&self.guards.zero);
        work.stale.fill(true);
    }
}
