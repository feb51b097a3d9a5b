//! Derivatives that nobody wrote, of functions that bend on a scale far below one; and resets of
//! which little is written.

use saltation::derivative::{Verdict, WithParameters};
use saltation::nalgebra::DMatrix;
use saltation::{
    Crossed, Crossing, Displacement, EventFunction, Flow, Guard, Integrator, Mode, NoDerivative,
    Start, Stop, Watch,
};

use crate::sketch::Sketch;

fn tight<S: Flow + EventFunction>(system: S) -> Integrator<S> {
    let integrator = Integrator::new(system).unwrap();
    integrator.rtol(1e-9).atol(1e-16)
}

/// An enzyme that is half saturated at `k`, where it starts: `x' = −x/(k + x)`.
fn enzyme(k: f64) -> Sketch {
    Sketch::new(1, move |_, x, _, dx| dx[0] = -x[0] / (k + x[0]))
}

fn assert_near(found: f64, expected: f64, part: f64) {
    let off = (found - expected).abs();
    assert!(off <= part * expected.abs(), "{found:e} {expected:e}");
}

#[test]
fn a_flow_that_bends_on_a_small_scale_has_its_derivative() {
    for k in [1e-3, 1e-5, 1e-7, 1e-10] {
        let mut integrator = tight(enzyme(k)).atol(1e-9 * k);
        let d = integrator.derivative(&Start::at(0.0).x(&[k]), k).unwrap();
        assert_eq!(*d.verdict(), Verdict::Classical, "{k:e}");
        // Of x' = f(x) the derivative is f(x_f)/f(x_0).
        let x = d.run().state()[0];
        let expected = 2.0 * x / (k + x);
        assert_near(d.matrix().unwrap()[(0, 0)], expected, 1e-5);
        let along = integrator
            .derivative_along(&Start::at(0.0).x(&[k]), k, &DMatrix::identity(1, 1))
            .unwrap();
        assert_near(along[(0, 0)], expected, 1e-5);
    }
}

/// `x'' = −l sin(x/l)` at its equilibrium, where no state tells its scale.
#[test]
fn a_pendulum_of_any_length_has_the_derivative_of_its_equilibrium() {
    for l in [1.0, 1e-3, 1e-5, 1e-6, 1e-8] {
        let pendulum = Sketch::new(2, move |_, x, _, dx| {
            (dx[0], dx[1]) = (x[1], -l * (x[0] / l).sin());
        });
        for size in [0.1, 1e-2, 1e-3].map(|part| part * l) {
            let mut integrator = Integrator::new(&pendulum).unwrap().rtol(1e-9);
            integrator = integrator.atol(1e-9 * size);
            let start = Start::at(0.0).x(&[0.0; 2]);
            let found = integrator.derivative(&start, 1.0).unwrap();
            assert_eq!(*found.verdict(), Verdict::Classical, "{l:e} {size:e}");
            let matrix = found.matrix().unwrap();
            assert_near(matrix[(0, 0)], 1f64.cos(), 1e-6);
            assert_near(matrix[(1, 0)], -1f64.sin(), 1e-6);
        }
    }
}

#[test]
fn so_it_has_with_its_scale_as_a_parameter_and_beside_a_state_of_size_one() {
    let k = [1e-7];
    let build = |k: &[f64]| {
        let k = k[0];
        Sketch::new(2, move |_, x, _, dx| {
            dx.copy_from_slice(&[-x[0] / (k + x[0]), x[0] / k - x[1]]);
        })
    };
    let system = WithParameters::new(build, &k);
    let mut integrator = tight(&system);
    let tf = 1e-7;
    let d = integrator
        .derivative(&Start::at(0.0).x(&system.start(&[1e-7, 1.0])), tf)
        .unwrap();
    assert_eq!(*d.verdict(), Verdict::Classical);
    let x = d.run().state()[0];
    let matrix = d.matrix().unwrap();
    // k ln(x/x_0) + x − x_0 = −t
    let f = -x / (k[0] + x);
    assert_near(matrix[(0, 0)], -2.0 * f, 1e-5);
    assert_near(matrix[(0, 2)], f * (x / 1e-7).ln(), 1e-5);
}

#[test]
fn a_flow_without_a_derivative_where_it_rests_is_not_guaranteed() {
    let sign = |x: f64| if x == 0.0 { 0.0 } else { x.signum() };
    let resting = Sketch::new(2, move |_, x, _, dx| {
        dx.copy_from_slice(&[1.0, -sign(x[1])]);
    });
    let d = tight(&resting)
        .derivative(&Start::at(0.0).x(&[0.0, 0.0]), 1.0)
        .map(|d| d.verdict().clone());
    assert!(
        matches!(
            &d,
            Ok(Verdict::NotGuaranteed(
                NoDerivative::DifferencesDisagree { .. }
            ))
        ),
        "{d:?}"
    );
}

/// `h = x³ + a² z − 8 a³` bends on the scale `a`; behind it `x` moves at twice the speed.
#[test]
fn an_event_function_that_bends_on_a_small_scale_has_its_row() {
    for a in [1e-2, 1e-4, 1e-7] {
        let system = Sketch::new(2, move |_, _, mode, dx| {
            let speed = if mode.contains(0) { 2.0 } else { 1.0 };
            dx.copy_from_slice(&[a * speed, 0.5 * a]);
        })
        .events([Watch::RISING], move |_, _, x, _| {
            x[0].powi(3) + a * a * x[1] - 8.0 * a.powi(3)
        });
        let mut integrator = Integrator::new(&system)
            .unwrap()
            .rtol(1e-10)
            .atol(1e-12 * a);
        let d = integrator
            .derivative(&Start::at(0.0).x(&[0.0, 0.0]), 3.0)
            .unwrap();
        assert_eq!(*d.verdict(), Verdict::Classical, "{a:e}");
        let matrix = d.matrix().unwrap();
        // In units of a: τ³ + τ/2 = 8, the row is (3 τ², 1), and its rate 3 τ² + 1/2.
        let tau = d.run().crossings()[0].t;
        let (own, rate) = (3.0 * tau * tau, 3.0 * tau * tau + 0.5);
        assert_near(matrix[(0, 0)], 1.0 + own / rate, 1e-6);
        assert_near(matrix[(0, 1)], 1.0 / rate, 1e-6);
    }
}

#[test]
fn a_reset_that_bends_on_a_small_scale_has_its_derivative() {
    for k in [1e-3, 1e-7, 1e-10] {
        let system = Sketch::new(2, |_, _, _, dx| dx.copy_from_slice(&[1.0, 0.0]))
            .events([Watch::RISING], |_, _, x, _| x[0] - 1.0)
            .reset(move |_, _, x, _| {
                x[1] /= k + x[1];
                Ok(())
            });
        let d = tight(&system)
            .derivative(&Start::at(0.0).x(&[0.0, k]), 2.0)
            .map(|d| d.matrix());
        assert_near(d.unwrap().unwrap()[(1, 1)], 0.25 / k, 1e-6);
    }
}

/// A capacitor of a nanofarad is charged by a nanocoulomb.
#[test]
fn a_small_parameter_of_a_reset_that_is_not_written_keeps_its_scale() {
    let (q, c, tf) = (1e-9, [1e-9], 1.5);
    let build = |c: &[f64]| {
        let c = c[0];
        Sketch::new(2, move |_, x, _, dx| {
            dx.copy_from_slice(&[1.0, 1e9 * c - x[1]]);
        })
        .events([Watch::RISING], |_, _, x, _| x[0] - 1.0)
        .reset(move |_, _, x, _| {
            x[1] += q / c;
            Ok(())
        })
    };
    let system = WithParameters::new(build, &c);
    let mut integrator = Integrator::new(&system).unwrap().rtol(1e-10).atol(1e-12);
    let d = integrator
        .derivative(&Start::at(0.0).x(&system.start(&[0.0, 0.5])), tf)
        .unwrap();
    assert_eq!(*d.verdict(), Verdict::Classical);
    let matrix = d.matrix().unwrap();
    let expected = 1e9 * (1.0 - (-tf).exp()) - 1e9 * (1.0 - tf).exp();
    assert_near(matrix[(1, 2)], expected, 1e-7);
    // By the state: the reset adds what does not depend on it, but when.
    assert_near(matrix[(1, 1)], (-tf).exp(), 1e-7);
    assert_near(matrix[(1, 0)], -(1.0 - tf).exp(), 1e-7);
}

#[test]
fn a_reset_by_the_rate_that_is_nothing_at_this_rate_is_not_the_identity() {
    let system = Sketch::new(3, |_, x, _, dx| dx.copy_from_slice(&[4.0 + x[2], 0.0, 0.0]))
        .events([Watch::RISING], |_, _, x, _| x[0] - 1.0)
        .gradient(|_, _, _, _, row| {
            row.copy_from_slice(&[1.0, 0.0, 0.0]);
            Some(0.0)
        })
        .reset(|_, crossed, x, _| {
            x[1] += 0.1 * (crossed.guards()[0].rate - 5.0);
            Ok(())
        });
    let mut integrator = Integrator::new(&system).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[0.0, 0.0, 1.0]), 1.0)
        .unwrap();
    assert!(d.run().state()[1].abs() < 1e-12);
    assert_eq!(*d.verdict(), Verdict::Classical);
    assert_near(d.matrix().unwrap()[(1, 2)], 0.1, 1e-8);
}

#[test]
fn a_reset_that_leaves_the_state_and_chooses_a_mode_by_it_is_not_the_identity() {
    let system = Sketch::new(2, |_, _, mode, dx| {
        dx.copy_from_slice(&[1.0, if mode.contains(1) { 3.0 } else { 0.0 }]);
    })
    .events([Watch::RISING, Watch::NONE], |k, _, x, _| {
        if k == 0 { x[0] - 1.0 } else { -1.0 }
    })
    .reset(|_, _, x, mode| {
        mode.set(1, x[1] > 0.5);
        Ok(())
    });
    let mut integrator = Integrator::new(&system).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[0.0, 0.5]), 2.0)
        .unwrap();
    let verdict = d.verdict();
    assert!(
        matches!(
            verdict,
            Verdict::NotGuaranteed(NoDerivative::NotRepeatable { .. })
        ),
        "{verdict}"
    );
}

/// Two resets that are written and do not commute, by `1e-7`; beside them a state of a million.
struct Written;

impl Flow for Written {
    fn dim(&self) -> usize {
        5
    }
    fn flow(&self, _t: f64, _x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&[0.0, 0.0, 0.0, 1.0, 1.0]);
    }
}

impl EventFunction for Written {
    fn count(&self) -> usize {
        2
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[3 + k] - 1.0
    }
    fn gradient(&self, k: usize, _t: f64, _x: &[f64], _mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        dh.fill(0.0);
        dh[3 + k] = 1.0;
        Some(0.0)
    }
    fn watch(&self, _k: usize) -> Watch {
        Watch::RISING
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let (_, crossed, x, _) = crossing.parts();
        if crossed.contains(0) {
            x[2] += x[1];
        }
        if crossed.contains(1) {
            x[0] += 1e-7 * x[2];
        }
        Ok(())
    }
    fn reset_times(
        &self,
        _t: f64,
        crossed: &Crossed<'_>,
        _x: &[f64],
        _mode: &Mode,
        Displacement { dx: v, .. }: Displacement<'_>,
        out: &mut [f64],
    ) -> bool {
        out.copy_from_slice(v);
        if crossed.contains(0) {
            out[2] += out[1];
        }
        if crossed.contains(1) {
            out[0] += 1e-7 * out[2];
        }
        true
    }
}

#[test]
fn written_resets_that_hardly_fail_to_commute_are_told_apart() {
    let mut integrator = Integrator::new(Written).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[1e6, 0.0, 0.5, 0.0, 0.0]), 2.0)
        .unwrap();
    let guards: Vec<_> = d.run().crossings().iter().map(|c| c.guard).collect();
    assert_eq!(guards, [Guard::rising(0), Guard::rising(1)]);
    let verdict = d.verdict();
    assert!(
        matches!(verdict, Verdict::Discontinuous { .. }),
        "{verdict}"
    );
}

/// Guards that are a two-thousandth of the run apart are two, in a run of a second and of a microsecond.
#[test]
fn the_unit_of_time_does_not_decide_what_is_a_corner() {
    let system = |second: f64| {
        Sketch::new(2, move |_, x, mode, dx| {
            let [first, later] = [0, 1].map(|k| f64::from(u8::from(mode.contains(k))));
            dx[0] = (1.0 + 0.5 * first - 0.25 * later + 0.6 * first * later) / second;
            dx[1] = (0.3 * x[0] + first + 2.0 * later) / second;
        })
        .events([Watch::RISING; 2], |k, _, x, _| match k {
            0 => x[0] - 0.5,
            _ => x[0] + 0.2 * x[1] - 0.5305,
        })
        .gradient(|k, _, _, _, row| {
            row.copy_from_slice(&[1.0, if k == 0 { 0.0 } else { 0.2 }]);
            Some(0.0)
        })
    };
    for y in [0.1, 0.11, 0.114] {
        let of = |second: f64| {
            let integrator = Integrator::new(system(second)).unwrap();
            let mut integrator = integrator.rtol(1e-10).atol(1e-10);
            let x = [0.0, y];
            let start = Start::at(0.0).x(&x);
            let d = integrator.derivative(&start, second).unwrap();
            assert_eq!(*d.verdict(), Verdict::Classical, "{y} {second:e}");
            assert_eq!(d.run().corners().len(), 0);
            d.matrix().unwrap()
        };
        let off = (of(1.0) - of(1e-6)).amax();
        assert!(off < 1e-8, "{y} {off:e}");
    }
}

/// A clock that takes up to 10¹⁰ s, and a reset of which nothing is written, with and without a part that changes with
/// the time: differences are those of a clock of one second.
#[test]
fn resets_of_slow_clocks_have_their_derivatives() {
    for scale in [1.0, 1e3, 1e5, 1e7, 1e8, 1e10] {
        for swing in [0.0, 0.4] {
            let system = Sketch::new(2, move |_, x, _, dx| {
                dx.copy_from_slice(&[1.0 / scale, -x[1] / scale]);
            });
            let system = system
                .events([Watch::RISING], |_, _, x, _| x[0] - 1.0)
                .reset(move |t, _, x, _| {
                    (x[0], x[1]) = (0.0, (3.0 * x[1]).cos() + swing * (t / scale).sin());
                    Ok(())
                });
            let (x, y, end): (f64, f64, f64) = (0.3, 1.2, 1.5);
            let mut integrator = Integrator::new(&system).unwrap().rtol(1e-10);
            let derivative = integrator
                .derivative(&Start::at(0.0).x(&[x, y]), end * scale)
                .unwrap();
            let matrix = derivative.matrix().unwrap();
            // At the crossing, after `1 − x`, and at the end.
            let at = 1.0 - x;
            let (before, left) = (y * (-at).exp(), (at - end).exp());
            let by_y = -3.0 * (3.0 * before).sin() * (-at).exp() * left;
            let after = (3.0 * before).cos() + swing * at.sin();
            let by_x = (-3.0 * (3.0 * before).sin() * before - after - swing * at.cos()) * left;
            let off = [matrix[(1, 1)] - by_y, matrix[(1, 0)] - by_x];
            assert!(
                off.iter().all(|off| off.abs() < 2e-8),
                "{scale:e} {swing}: {off:?}"
            );
        }
    }
}

/// A membrane that is driven by synaptic currents of a size, which are zero at first; derivatives are not written.
struct Membrane {
    current: f64,
    spikes: bool,
}

impl Flow for Membrane {
    fn dim(&self) -> usize {
        3
    }
    fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        let driven = (0.4 + (x[1] + x[2]) / self.current).tanh();
        dx.copy_from_slice(&[driven + 0.3 - 0.2 * x[0], -1.1 * x[1], -1.2 * x[2]]);
    }
}

impl EventFunction for Membrane {
    fn count(&self) -> usize {
        usize::from(self.spikes)
    }
    fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[0] - 0.7
    }
    fn watch(&self, _k: usize) -> Watch {
        Watch::RISING
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let x = crossing.parts().2;
        x[0] = 0.0;
        x[1] += 0.2 * self.current;
        Ok(())
    }
}

/// Currents in amperes have the derivatives that they have in picoamperes: where a column grows in volts, the step of
/// its differences still follows what is small in the current.
#[test]
fn columns_that_grow_in_other_units_keep_their_steps() {
    for spikes in [false, true] {
        let of = |current: f64| {
            let system = Membrane { current, spikes };
            let rtol = 1e-9;
            let atol = [1.0, current, current].map(|size| 0.1 * rtol * size);
            let mut integrator = Integrator::new(system)
                .unwrap()
                .rtol(rtol)
                .atol(atol.to_vec());
            let start = Start::at(0.0).x(&[0.1, 0.0, 0.0]);
            let derivative = integrator.derivative(&start, 2.0).unwrap();
            let sizes = [1.0, current, current];
            let matrix = derivative.matrix().unwrap();
            matrix.map_with_location(|i, j, value| value * sizes[j] / sizes[i])
        };
        let known = of(1.0);
        for exponent in 1..=13 {
            let off = (of(10f64.powi(-exponent)) - &known).amax();
            assert!(off < 1e-5 * known.amax(), "{spikes} 1e-{exponent}: {off:e}");
        }
    }
}

/// `x' = tanh(0.4 + p/s)`, and a guard at `tanh(0.4 + p/s)` behind which `x' = 3`: by parameters that are far smaller than
/// the scale on which they act, or zero.
#[test]
fn parameters_far_below_their_scale_have_their_derivatives() {
    let cases = [0.0, 1e-4, 1e-8, 1e-10, 1e-12, 1e-20].map(|p| (p, 1.0));
    let zero = [1e-9, 1e-5, 1e6, 1e9].map(|s| (0.0, s));
    for (p, s) in cases.into_iter().chain(zero) {
        let (level, slope) = (
            f64::tanh(0.4 + p / s),
            1.0 / s / f64::cosh(0.4 + p / s).powi(2),
        );
        let flow = move |p: &[f64]| {
            let speed = (0.4 + p[0] / s).tanh();
            Sketch::new(1, move |_, _, _, dx| dx[0] = speed)
        };
        let guard = move |p: &[f64]| {
            let level = (0.4 + p[0] / s).tanh();
            Sketch::new(1, |_, _, mode, dx| {
                dx[0] = if mode.contains(0) { 3.0 } else { 1.0 }
            })
            .events([Watch::RISING], move |_, _, x, _| x[0] - level)
        };
        let parameters = [p];
        let check = |found: f64, ends: [f64; 2], exact: f64| {
            assert_near(ends[0], ends[1], 1e-7);
            assert_near(found, exact, 1e-4);
        };
        let system = WithParameters::new(flow, &parameters);
        let d = tight(&system).derivative(&Start::at(0.0).x(&system.start(&[0.0])), 2.0);
        let d = d.unwrap();
        let found = d.matrix().unwrap()[(0, 1)];
        check(found, [d.run().state()[0], 2.0 * level], 2.0 * slope);
        let system = WithParameters::new(guard, &parameters);
        let d = tight(&system).derivative(&Start::at(0.0).x(&system.start(&[0.0])), 2.0);
        let d = d.unwrap();
        let found = d.matrix().unwrap()[(0, 1)];
        check(found, [d.run().state()[0], 6.0 - 2.0 * level], -2.0 * slope);
    }
}
