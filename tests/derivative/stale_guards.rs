//! Stale guards: the reset of one guard puts the state on another one, which then crosses in
//! consequence; the run and its derivative see the same.

use nalgebra::{DMatrix, dmatrix};
use saltation::derivative::Sensitivities;
use saltation::{Integrator, Mode, NoDerivative, Start, Stop, Verdict, Watch};

use crate::fixtures::draw::Draw;
use crate::sketch::Sketch;

/// `x = (y, s, z)`. `y` rises at `before` to 1, and at `after` from there, where the reset puts `s`
/// at `y + part (z − z₀)`. Event function 1, `s − y`, is positive before, zero after the reset, and
/// falls; with `says` the reset says its side. `z` moves at `drift` where it has fallen.
#[derive(Clone, Copy, Debug)]
struct Touch {
    before: f64,
    after: f64,
    part: f64,
    drift: f64,
    says: bool,
}

const PLAIN: Touch = Touch {
    before: 2.0,
    after: 3.0,
    part: 0.25,
    drift: 1.0,
    says: false,
};

const START: [f64; 3] = [0.0, 4.0, 0.5];

impl Touch {
    fn system(self) -> Sketch {
        let Self {
            before,
            after,
            part,
            drift,
            says,
        } = self;
        let flow = move |_: f64, _: &[f64], mode: &Mode, dx: &mut [f64]| {
            let touched = mode.contains(0);
            let fallen = touched && !mode.contains(1);
            let dy = if touched { after } else { before };
            dx.copy_from_slice(&[dy, 0.0, if fallen { drift } else { 0.0 }]);
        };
        Sketch::new(3, flow)
            .events([Watch::RISING, Watch::RISING], |k, _, x, _| {
                if k == 0 { x[0] - 1.0 } else { x[1] - x[0] }
            })
            .ignoring_mode()
            .reset(move |_, crossed, x, mode| {
                if crossed.contains(0) {
                    x[1] = x[0] + part * (x[2] - 0.5);
                    if says {
                        mode.set(1, false);
                    }
                }
                Ok(())
            })
    }

    /// `y = 1 + after (t − τ)` behind `τ = (1 − y₀)/before`, `s = 1 + part (z₀ − 0.5)` and
    /// `z = z₀ + drift (t − τ)`.
    fn exact(self) -> DMatrix<f64> {
        let Self {
            before,
            after,
            part,
            drift,
            ..
        } = self;
        dmatrix![after / before, 0.0, 0.0; 0.0, 0.0, part; drift / before, 0.0, 1.0]
    }
}

#[test]
fn a_guard_that_a_reset_puts_on_its_surface_crosses_in_consequence() {
    let mut random = Draw(11);
    for case in 0..40 {
        let [before, after] = [1.5, 0.1].map(|least| random.between(least, 4.0));
        let drift = if case % 4 < 2 {
            0.0
        } else {
            random.between(-2.0, 2.0)
        };
        let (part, says) = (0.0, case % 2 == 0);
        let touch = Touch {
            before,
            after,
            part,
            drift,
            says,
        };
        let mut integrator = Integrator::new(touch.system()).unwrap();
        let run = integrator
            .integrate(&Start::at(0.0).x(&START), 1.0)
            .unwrap();
        assert!(run.is_guaranteed(), "{:?}", run.doubts());
        assert_eq!(
            (run.crossings().len(), run.mode()),
            (1, &Mode::with(2, &[0]))
        );
        let derivative = integrator
            .derivative(&Start::at(0.0).x(&START), 1.0)
            .unwrap();
        assert_eq!(*derivative.verdict(), Verdict::Classical, "{touch:?}");
        let found = derivative.matrix().unwrap();
        assert!((&found - touch.exact()).amax() < 1e-7, "{touch:?}: {found}");
        // The same, carried beside the run.
        let mut tangents = Sensitivities::new(3, 3);
        let carried = integrator.carry(&Start::at(0.0).x(&START), 1.0, &mut tangents, &mut ());
        carried.unwrap();
        let found = tangents.columns().unwrap();
        assert!((found - touch.exact()).amax() < 1e-7, "{touch:?}: {found}");
    }
}

#[test]
fn a_reset_that_does_not_put_neighbours_there_is_refused_with_the_cure() {
    let mut integrator = Integrator::new(PLAIN.system()).unwrap();
    let run = integrator
        .integrate(&Start::at(0.0).x(&START), 1.0)
        .unwrap();
    assert!(run.is_guaranteed(), "{:?}", run.doubts());
    let derivative = integrator
        .derivative(&Start::at(0.0).x(&START), 1.0)
        .unwrap();
    let Verdict::NotGuaranteed(reason) = derivative.verdict() else {
        panic!("{:?}", derivative.verdict());
    };
    let NoDerivative::MovedGuard { guard, by, t } = reason else {
        panic!("{reason}");
    };
    assert_eq!((guard.event, by.event), (1, 0));
    assert!((t - 0.5).abs() < 1e-9);
    assert!(
        reason.to_string().contains("mode.set(1, false)"),
        "{reason}"
    );
    // With the cure the reset decides for neighbours too.
    let cured = Touch {
        says: true,
        ..PLAIN
    };
    let mut integrator = Integrator::new(cured.system()).unwrap();
    let derivative = integrator
        .derivative(&Start::at(0.0).x(&START), 1.0)
        .unwrap();
    let found = derivative.matrix().unwrap();
    assert!((&found - cured.exact()).amax() < 1e-7, "{found}");
}

#[test]
fn a_second_reset_in_consequence_has_no_derivative_where_it_may_come_later() {
    let flow = |_: f64, _: &[f64], mode: &Mode, dx: &mut [f64]| {
        let y = if mode.contains(0) { 3.0 } else { 2.0 };
        dx.copy_from_slice(&[y, 0.0]);
    };
    let system = Sketch::new(2, flow)
        .events([Watch::RISING, Watch::FALLING], |k, _, x, _| {
            if k == 0 { x[0] - 1.0 } else { x[1] - x[0] }
        })
        .ignoring_mode()
        .reset(|_, crossed, x, _| {
            x[1] = if crossed.contains(0) {
                x[0]
            } else {
                x[1] + 2.0
            };
            Ok::<(), Stop>(())
        });
    let mut integrator = Integrator::new(system).unwrap();
    let run = integrator
        .integrate(&Start::at(0.0).x(&[0.0, 4.0]), 1.0)
        .unwrap();
    assert_eq!(run.crossings().len(), 2);
    let derivative = integrator
        .derivative(&Start::at(0.0).x(&[0.0, 4.0]), 1.0)
        .unwrap();
    assert!(
        matches!(
            derivative.verdict(),
            Verdict::NotGuaranteed(NoDerivative::MovedGuard { guard, .. }) if guard.event == 1
        ),
        "{:?}",
        derivative.verdict()
    );
}

/// Angle of attack and length of the leg of a spring-mass runner, and what touch-down says.
#[derive(Clone, Copy, Debug)]
struct Runner {
    angle: f64,
    length: f64,
    says: bool,
}

impl Runner {
    /// `x = (x, z, ẋ, ż, foot)`. Event function 0 falls at touch-down, where the reset puts the foot
    /// a leg away. Event function 1, the length of the leg beyond its rest, is far above zero before
    /// and a rounding of the square root after, above zero or below; from there the leg is
    /// compressed until lift-off.
    fn system(self) -> Sketch {
        let Self {
            angle,
            length,
            says,
        } = self;
        let [ahead, height] = [length * angle.cos(), length * angle.sin()];
        let flow = move |_: f64, x: &[f64], mode: &Mode, dx: &mut [f64]| {
            dx.copy_from_slice(&[x[2], x[3], 0.0, -9.81, 0.0]);
            if mode.flag(0) {
                let leg = [x[0] - x[4], x[1]];
                let long = leg[0].hypot(leg[1]);
                // Stiffness over mass, of a man of 80 kg.
                let push = 250.0 * (length - long);
                dx[2] += push * leg[0] / long;
                dx[3] += push * leg[1] / long;
            }
        };
        Sketch::new(5, flow)
            .events([Watch::FALLING, Watch::RISING], move |k, _, x, _| {
                if k == 0 {
                    x[1] - height
                } else {
                    (x[0] - x[4]).hypot(x[1]) - length
                }
            })
            .flags(1)
            .ignoring_mode()
            .reset(move |_, crossed, x, mode| {
                if crossed.contains(0) && !mode.flag(0) {
                    mode.set_flag(0, true);
                    x[4] = x[0] + ahead;
                    if says {
                        mode.set(1, false);
                    }
                } else if crossed.contains(1) {
                    mode.set_flag(0, false);
                }
                Ok::<(), Stop>(())
            })
    }

    /// The derivative from the apex into stance, or into the next flight.
    fn derivative(self, tf: f64) -> DMatrix<f64> {
        let start = [0.0, 1.05 * self.length, 5.0, 0.0, -10.0];
        let integrator = Integrator::new(self.system()).unwrap();
        let mut integrator = integrator.rtol(1e-10).atol(1e-10);
        let derivative = integrator
            .derivative(&Start::at(0.0).x(&start), tf)
            .unwrap();
        assert_eq!(*derivative.verdict(), Verdict::Classical, "{self:?}, {tf}");
        let matrix = derivative.matrix().unwrap();
        // The same, carried beside the run.
        let mut tangents = Sensitivities::new(5, 5);
        let carried = integrator.carry(&Start::at(0.0).x(&start), tf, &mut tangents, &mut ());
        carried.unwrap();
        let beside = tangents.columns().unwrap();
        assert!(
            (beside - &matrix).amax() < 1e-7 * matrix.amax(),
            "{self:?}, {tf}: {beside} {matrix}"
        );
        matrix
    }
}

/// The reset puts the foot where the leg is at rest length but for rounding: by rounding alone the
/// stale guard of lift-off is beyond its surface, or still before it and reached at once.
#[test]
fn a_guard_that_a_reset_puts_on_its_surface_but_for_rounding_crosses_in_consequence() {
    let mut random = Draw(29);
    let mut sides = [0, 0];
    for _ in 0..10 {
        let [angle, length] = [(60.0, 76.0), (0.8, 1.2)].map(|(a, b)| random.between(a, b));
        let angle = f64::to_radians(angle);
        let runner = |says| Runner {
            angle,
            length,
            says,
        };
        let left = (length * angle.cos()).hypot(length * angle.sin()) - length;
        sides[usize::from(left > 0.0)] += 1;
        // In stance, and in flight again.
        for tf in [0.25, 0.45] {
            let [found, said] = [false, true].map(|says| runner(says).derivative(tf));
            let scale = said.amax();
            assert!(
                (&found - &said).amax() < 1e-7 * scale,
                "{angle}, {length}: {found} {said}"
            );
        }
    }
    assert!(sides.iter().all(|&n| n > 0), "{sides:?}");
}

/// A guard beyond which a run starts, with the side before it, is left alone until the state has been back. One that it
/// never comes near is no crossing at the end of the run, whether by the mode of the start or of a reset.
#[test]
fn a_guard_that_is_left_alone_is_no_crossing_at_the_end() {
    for (by_reset, speed) in [false, true]
        .into_iter()
        .flat_map(|by_reset| [-1.0, 0.2, 3.0].map(|speed| (by_reset, speed)))
    {
        let system = Sketch::new(1, move |_, _, _, dx| dx[0] = speed)
            .events([Watch::FALLING, Watch::RISING], |k, t, x, _| {
                [x[0], t - 0.31][k]
            })
            .reset(move |_, _, _, mode| {
                if by_reset {
                    mode.set(0, true);
                }
                Ok(())
            });
        let mode = Mode::new(2).having(0, !by_reset);
        let start = Start::at(0.0).x(&[-1.0]).mode(&mode);
        let mut integrator = Integrator::new(&system).unwrap().rtol(1e-9);
        let derivative = integrator.derivative(&start, 0.7).unwrap();
        let what = format!("{by_reset} {speed} {:?}", derivative.run().doubts());
        assert!(derivative.run().is_guaranteed(), "{what}");
        assert_eq!(*derivative.verdict(), Verdict::Classical, "{what}");
        assert!(
            (derivative.matrix().unwrap()[(0, 0)] - 1.0).abs() < 1e-9,
            "{what}"
        );
    }
}
