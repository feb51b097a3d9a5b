//! The affine order test: three planes, one affine field for each word.

use super::slices::{load, store, store_unit};
use crate::{EventFunction, Flow, Guard, Mode};

/// Three planes `h = (x, y, −z)` in three dimensions and an affine field `A_b (x, y, z) + F_b` for
/// each word `b`.
///
/// State `(x, y, z)` without units; the side bit of `h_k` is on once it was crossed upward. The
/// default is the order test of Anderson & Revzen, section 4, table 4.1 (with `z'` of the program
/// its authors published):
///
/// | | `x'` | `y'` | | `z'` |
/// |---|---|---|---|---|
/// | `x < 0, y < 0` | `−y + 1` | `x + 1` | `z > 0` | `−z − 1` |
/// | `x < 0, y ≥ 0` | `y + 1` | `−x + 1` | `z ≤ 0` | `3z − 1` |
/// | `x ≥ 0, y < 0` | `−2y + 1` | `x/2 + 2` | | |
/// | `x ≥ 0, y ≥ 0` | `10x + 1` | `y + 1` | | |
///
/// [`Affine::coupled`] keeps `A_b` and changes `F_b`, so that all six orders of crossing at the
/// origin differ.
///
/// ```
/// use saltation::{Integrator, Start, models::Affine};
/// let affine = Affine::default();
/// let start = Start::at(0.0).x(&Affine::START);
/// let run = Integrator::new(affine)?.rtol(1e-10).atol(1e-10).integrate(&start, 0.5)?;
/// for (found, exact) in run.crossings().iter().zip(Affine::EVENTS) {
///     assert_eq!(found.guard, exact.0);
///     assert!((found.t - exact.1).abs() < 1e-8);
/// }
/// for (found, exact) in run.state().iter().zip(Affine::exact(0.5)) {
///     assert!((found - exact).abs() < 1e-8);
/// }
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Affine {
    coupled: bool,
}

impl Affine {
    /// Start of the order test.
    pub const START: [f64; 3] = [-0.4, -0.15, 0.3];

    /// The guards that the default crosses from [`START`](Self::START), with their times (s).
    pub const EVENTS: [(Guard, f64); 3] = [
        (Guard::rising(1), 0.209_588_078_334_644_67),
        (Guard::rising(2), 0.262_364_264_467_491_05),
        (Guard::rising(0), 0.369_207_153_821_75),
    ];

    /// A start from which both the default and [`coupled`](Self::coupled) cross all three planes at
    /// the origin, at [`CORNER_TIME`](Self::CORNER_TIME).
    pub const CORNER_START: [f64; 3] = [
        -0.104_829_251_368_802_4,
        -0.094_837_581_924_853_92,
        0.105_170_918_075_647_6,
    ];

    /// Time from [`CORNER_START`](Self::CORNER_START) to the origin (s).
    pub const CORNER_TIME: f64 = 0.1;

    /// The default's matrices `A_b` with offsets `F_b` that depend on all three sides, with
    /// `p_k` = 1 for a side bit that is on:
    /// `F_b = (1 + p_1/4 + p_2/8, 1 + p_0/2 − p_2/4, −1 − p_0/4 + 3 p_1/8)`.
    ///
    /// The flow through the origin then has six distinct linear pieces, one for each order. Our own
    /// example.
    pub const fn coupled() -> Self {
        Self { coupled: true }
    }

    /// True for [`coupled`](Self::coupled).
    pub const fn is_coupled(&self) -> bool {
        self.coupled
    }

    /// State of the default at time `t ≥ 0` (s) after [`START`](Self::START), in closed form.
    pub fn exact(t: f64) -> [f64; 3] {
        let [x, y] = exact_plane(t);
        [x, y, exact_height(t)]
    }

    /// The `(x, y)` block of `A_b`.
    fn plane(mode: &Mode) -> [[f64; 2]; 2] {
        match (mode.contains(0), mode.contains(1)) {
            (false, false) => [[0.0, -1.0], [1.0, 0.0]],
            (false, true) => [[0.0, 1.0], [-1.0, 0.0]],
            (true, false) => [[0.0, -2.0], [0.5, 0.0]],
            (true, true) => [[10.0, 0.0], [0.0, 1.0]],
        }
    }

    /// `A_b v`.
    fn linear(mode: &Mode, v: &[f64]) -> [f64; 3] {
        let [x, y, z] = load(v);
        let a = Self::plane(mode);
        let height = if mode.contains(2) { 3.0 } else { -1.0 };
        [
            a[0][0] * x + a[0][1] * y,
            a[1][0] * x + a[1][1] * y,
            height * z,
        ]
    }

    /// `F_b`.
    fn offset(self, mode: &Mode) -> [f64; 3] {
        if self.coupled {
            let [p0, p1, p2] = [0, 1, 2].map(|k| if mode.contains(k) { 1.0 } else { 0.0 });
            return [
                1.0 + p1 / 4.0 + p2 / 8.0,
                1.0 + p0 / 2.0 - p2 / 4.0,
                -1.0 - p0 / 4.0 + 3.0 * p1 / 8.0,
            ];
        }
        if mode.contains(0) && !mode.contains(1) {
            [1.0, 2.0, -1.0]
        } else {
            [1.0, 1.0, -1.0]
        }
    }
}

/// Rotation of `[u, w]` by `angle`, counter-clockwise.
fn turned([u, w]: [f64; 2], angle: f64) -> [f64; 2] {
    let (sine, cosine) = angle.sin_cos();
    [u * cosine - w * sine, u * sine + w * cosine]
}

/// `(x, y)` of the exact solution: a turn about (−1, 1), one about (1, −1) the other way round,
/// then two exponentials.
fn exact_plane(t: f64) -> [f64; 2] {
    let [(_, crosses_y), _, (_, crosses_x)] = Affine::EVENTS;
    let [x, y, _] = Affine::START;
    let first = |t: f64| {
        let [u, w] = turned([x + 1.0, y - 1.0], t);
        [u - 1.0, w + 1.0]
    };
    let second = |t: f64| {
        let [x, y] = first(crosses_y);
        let [u, w] = turned([x - 1.0, y + 1.0], crosses_y - t);
        [u + 1.0, w - 1.0]
    };
    if t < crosses_y {
        first(t)
    } else if t < crosses_x {
        second(t)
    } else {
        let [x, y] = second(crosses_x);
        let s = t - crosses_x;
        [
            (x + 0.1) * (10.0 * s).exp() - 0.1,
            (y + 1.0) * s.exp() - 1.0,
        ]
    }
}

/// `z` of the exact solution: it does not depend on `x` and `y`, and is 0 at its crossing.
fn exact_height(t: f64) -> f64 {
    let [_, _, z] = Affine::START;
    let (_, crosses_z) = Affine::EVENTS[1];
    if t < crosses_z {
        (z + 1.0) * (-t).exp() - 1.0
    } else {
        -(3.0 * (t - crosses_z)).exp_m1() / 3.0
    }
}

impl Flow for Affine {
    fn dim(&self) -> usize {
        3
    }

    fn flow(&self, _t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let (linear, offset) = (Self::linear(mode, x), self.offset(mode));
        store(dx, [0, 1, 2].map(|i| linear[i] + offset[i]));
    }

    fn jacobian_times(&self, _t: f64, _x: &[f64], mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
        store(out, Self::linear(mode, v));
        true
    }
}

impl EventFunction for Affine {
    fn count(&self) -> usize {
        3
    }

    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        let [x, y, z] = load(x);
        match k {
            0 => x,
            1 => y,
            2 => -z,
            _ => f64::NAN,
        }
    }

    fn gradient(&self, k: usize, _t: f64, _x: &[f64], _mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        store_unit(dh, k, if k == 2 { -1.0 } else { 1.0 });
        Some(0.0)
    }

    fn is_affine(&self, _k: usize) -> bool {
        true
    }

    fn ignores_mode(&self) -> bool {
        true
    }

    fn resets(&self) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_support::{assert_events, assert_jacobian, assert_near, flow};
    use super::*;

    /// Table of reference: time and state at the three crossings and at the end.
    const TABLE: [(f64, [f64; 3]); 4] = [
        (
            0.209588078334645,
            [-0.173864417907085, 0.0, 0.0541936755504562],
        ),
        (
            0.262364264467491,
            [-0.119478310155419, 0.0605309918714808, 0.0],
        ),
        (
            0.369207153821750,
            [0.0, 0.173864417907085, -0.125952000094636],
        ),
        (
            0.5,
            [0.269850417833360, 0.337890438217039, -0.346637698427866],
        ),
    ];

    fn modes() -> impl Iterator<Item = Mode> {
        (0..8_u32).map(|word| {
            let on: Vec<_> = (0..3).filter(|k| word >> k & 1 == 1).collect();
            Mode::with(3, &on)
        })
    }

    fn mode_at(t: f64) -> Mode {
        let on: Vec<_> = Affine::EVENTS
            .iter()
            .filter(|(_, time)| *time <= t)
            .map(|(guard, _)| guard.event)
            .collect();
        Mode::with(3, &on)
    }

    #[test]
    fn the_closed_form_has_the_numbers_of_the_specification() {
        for ((guard, time), (t, _)) in Affine::EVENTS.iter().zip(TABLE) {
            assert!((time - t).abs() < 1e-15);
            let x = Affine::exact(*time);
            let h = Affine::default().event(guard.event, 0.0, &x, &Mode::new(3));
            assert!(h.abs() < 3e-16, "guard {guard}: {h:e}");
        }
        for (t, x) in TABLE {
            // Entries are given to 15 digits; times rounded likewise move the state by their last
            // digit.
            assert_near(&Affine::exact(t), &x, 3e-15);
        }
    }

    #[test]
    fn the_closed_form_obeys_the_flow_and_is_continuous() {
        let affine = Affine::default();
        let step = 1e-6;
        for i in 1..60 {
            let t = 0.0101 * f64::from(i);
            let (before, after) = (Affine::exact(t - step), Affine::exact(t + step));
            let rate = [0, 1, 2].map(|j| (after[j] - before[j]) / (2.0 * step));
            assert_near(&flow(&affine, &Affine::exact(t), &mode_at(t)), &rate, 1e-8);
        }
        for (_, t) in Affine::EVENTS {
            assert_near(&Affine::exact(t), &Affine::exact(t - f64::EPSILON), 1e-14);
        }
    }

    #[test]
    fn the_corner_start_flows_into_the_origin() {
        // Both fields are the same in the first mode: a turn about (−1, 1) and an exponential.
        let [x, y, z] = Affine::CORNER_START;
        let [u, w] = turned([x + 1.0, y - 1.0], Affine::CORNER_TIME);
        let height = (z + 1.0) * (-Affine::CORNER_TIME).exp() - 1.0;
        assert_near(&[u - 1.0, w + 1.0, height], &[0.0; 3], 1e-15);
        let start = Affine::CORNER_START;
        assert_eq!(
            flow(&Affine::default(), &start, &Mode::new(3)),
            flow(&Affine::coupled(), &start, &Mode::new(3))
        );
    }

    #[test]
    fn corner_fields_are_those_of_the_examples() {
        let origin = [0.0; 3];
        for mode in modes() {
            let second = if mode.contains(0) && !mode.contains(1) {
                2.0
            } else {
                1.0
            };
            assert_eq!(
                flow(&Affine::default(), &origin, &mode),
                [1.0, second, -1.0]
            );
        }
        let all = Mode::with(3, &[0, 1, 2]);
        assert_eq!(
            flow(&Affine::coupled(), &origin, &all),
            [1.375, 1.25, -0.875]
        );
        let last = Mode::with(3, &[2]);
        assert_eq!(
            flow(&Affine::coupled(), &origin, &last),
            [1.125, 0.75, -1.0]
        );
    }

    #[test]
    fn derivatives_agree_with_differences() {
        let x = [0.3, -0.7, 0.2];
        for affine in [Affine::default(), Affine::coupled()] {
            for mode in modes() {
                assert_jacobian(&affine, &affine, &x, &mode);
                assert_events(&affine, &x, &mode);
            }
        }
    }
}
