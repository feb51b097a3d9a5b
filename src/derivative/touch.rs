//! Guards touched, or almost, without being crossed: where the derivative of a run says nothing of its neighbours.

use crate::ode::{Interpolant, difference};
use crate::{Error, EventFunction, Guard, Mode, Segment};

/// Looks for a guard whose event function has its maximum within a segment closer to zero than tolerances tell.
#[derive(Clone, Debug)]
pub(crate) struct TouchWatch {
    /// Event functions at the beginning, the middle and the end of a segment.
    h: [Vec<f64>; 3],
    point: Vec<f64>,
    row: Vec<f64>,
    scratch: Vec<f64>,
}

impl TouchWatch {
    pub(crate) fn new(dim: usize, count: usize) -> Self {
        Self {
            h: std::array::from_fn(|_| vec![0.0; count]),
            point: vec![0.0; dim],
            row: vec![0.0; dim],
            scratch: vec![0.0; dim],
        }
    }

    /// The first guard touched in a segment, as the reason that nothing is guaranteed; `follows` says that guards are looked for
    /// in both directions if in one, `scale(i, x_i)` is the error that the tolerances allow in component `i`, `slack(k, t, x)` how far
    /// event function `k` is from zero where it means zero.
    pub(crate) fn look<S: EventFunction>(
        &mut self,
        system: &S,
        segment: &Segment<'_>,
        follows: bool,
        scale: impl Fn(usize, f64) -> f64,
        slack: impl Fn(usize, f64, &[f64]) -> f64,
    ) -> Option<Error> {
        let (start, length) = (segment.start, segment.time - segment.start);
        let (path, mode) = (segment.interpolant, segment.mode);
        for (part, h) in [0.0, 0.5, 1.0].into_iter().zip(&mut self.h) {
            let t = start + part * length;
            path.at(t, &mut self.point);
            system.events(t, &self.point, mode, h);
        }
        for k in 0..system.count() {
            let guard = Guard::ahead(k, mode.contains(k));
            let watch = system.watch(k);
            if !(watch.sees(guard.direction) || (follows && watch.is_any())) {
                continue;
            }
            let [a, b, c] = [0, 1, 2].map(|i| guard.sign() * self.h[i][k]);
            if !has_close_peak(a, b, c) {
                continue;
            }
            let (t, gap) = self.peak(system, guard, mode, path, (start, segment.time));
            path.at(t, &mut self.point);
            let (x, row) = (&self.point[..], &mut self.row);
            if system.gradient(k, t, x, mode, row).is_none() {
                let h = |t: f64, x: &[f64]| system.event(k, t, x, mode);
                difference::gradient(h, (t, x), row, &mut self.scratch);
            }
            let allowed = |i: usize| self.row[i].abs() * scale(i, self.point[i]);
            let known: f64 = (0..self.row.len()).map(allowed).sum();
            // One that is on its surface at the beginning leaves it, be it slowly.
            let leaves = a.abs() <= 10.0 * known;
            // One that is clearly beyond its surface was not watched: its side is a memory.
            if !leaves && gap.abs() <= 10.0 * known + slack(k, t, &self.point) {
                return Some(Error::Touch { guard, t, gap });
            }
        }
        None
    }

    /// Where `−h` is least in the segment, by golden section, and its value there.
    fn peak<S: EventFunction>(
        &mut self,
        system: &S,
        guard: Guard,
        mode: &Mode,
        path: Interpolant<'_>,
        (mut left, mut right): (f64, f64),
    ) -> (f64, f64) {
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        let mut gap = |t: f64| {
            path.at(t, &mut self.point);
            -guard.sign() * system.event(guard.event, t, &self.point, mode)
        };
        let mut inner = [
            right - GOLDEN * (right - left),
            left + GOLDEN * (right - left),
        ];
        let mut values = inner.map(&mut gap);
        for _ in 0..40 {
            if values[0] <= values[1] {
                (right, inner[1], values[1]) = (inner[1], inner[0], values[0]);
                inner[0] = right - GOLDEN * (right - left);
                values[0] = gap(inner[0]);
            } else {
                (left, inner[0], values[0]) = (inner[0], inner[1], values[1]);
                inner[1] = left + GOLDEN * (right - left);
                values[1] = gap(inner[1]);
            }
        }
        (inner[0], values[0])
    }
}

/// True when the parabola through three values, at the beginning, the middle and the end, has a maximum inside that is close
/// to zero in view of how far it moves.
fn has_close_peak(a: f64, b: f64, c: f64) -> bool {
    let (slope, bend) = (-3.0 * a + 4.0 * b - c, 2.0 * (a - 2.0 * b + c));
    if !(bend < 0.0 && slope > 0.0 && slope < -2.0 * bend) {
        return false;
    }
    let peak = a - slope * slope / (4.0 * bend);
    let range = peak - a.min(b).min(c);
    peak > -0.1 * range
}
