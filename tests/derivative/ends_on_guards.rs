//! Where a run begins or ends on a guard: one-sided derivatives, and runs that a guard ends
//! (Poincaré maps).

use saltation::derivative::Verdict;
use saltation::models::{Affine, Hopper};
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{
    Crossing, EventFunction, Flow, Guard, Integrator, Mode, NoDerivative, Rearm, RearmMatrix,
    Start, Status, Stop, Watch,
};

use crate::sketch::falling;

fn difference<const N: usize>(
    mut f: impl FnMut([f64; N]) -> DVector<f64>,
    x0: [f64; N],
    step: f64,
) -> DMatrix<f64> {
    let columns: Vec<_> = (0..N)
        .map(|j| {
            let mut at = |s: f64| {
                let mut x = x0;
                x[j] += s;
                f(x)
            };
            (at(step) - at(-step)) / (2.0 * step)
        })
        .collect();
    DMatrix::from_columns(&columns)
}

#[test]
fn a_final_time_on_an_event_has_a_derivative_on_one_side() {
    let (guard, time) = Affine::EVENTS[2];
    let mut integrator = Integrator::new(Affine::default())
        .unwrap()
        .rtol(1e-12)
        .atol(1e-12);
    // The x guard at 0.369…: behind it x' = 10 x + 1, y' = y + 1, before it x' = y + 1, y' =
    // −x + 1.
    for (late, crossed) in [(3e-10, Some(true)), (0.0, None), (-3e-10, Some(false))] {
        let tf = time + late;
        let d = integrator
            .derivative(&Start::at(0.0).x(&Affine::START), tf)
            .unwrap();
        let is_crossed = d.run().crossings().len() == 3;
        // Exactly at the event rounding decides on which side the run ends; the verdict is the
        // same.
        assert!(crossed.is_none_or(|crossed| crossed == is_crossed));
        assert!(
            matches!(d.verdict(), Verdict::OneSided { guard: g, .. } if *g == guard),
            "{}",
            d.verdict()
        );
        assert!(matches!(d.matrix(), Err(NoDerivative::OneSided { guard: g, .. }) if g == guard));
        // Of a displacement and its opposite one stays on the side of the run.
        let sides = [1.0, -1.0].map(|sign| d.matrix_towards(&[sign, 0.0, 0.0]));
        let (Ok(one_side), Err(beyond)) = (match sides {
            [Err(beyond), Ok(one_side)] => (Ok(one_side), Err(beyond)),
            [one_side, beyond] => (one_side, beyond),
        }) else {
            panic!("both sides have a map, or none");
        };
        assert!(matches!(beyond, NoDerivative::OneSided { guard: g, .. } if g == guard));
        let away = if is_crossed { 1e-4 } else { -1e-4 };
        let far = integrator
            .derivative(&Start::at(0.0).x(&Affine::START), time + away)
            .unwrap();
        assert_eq!(*far.verdict(), Verdict::Classical);
        // The matrix changes by |A| e-4 in the time between, and by more across the guard.
        assert!((&one_side - far.matrix().unwrap()).amax() < 5e-3);
        let other = integrator
            .derivative(&Start::at(0.0).x(&Affine::START), time - away)
            .unwrap();
        assert!((&one_side - other.matrix().unwrap()).amax() > 0.1);
    }
}

#[test]
fn a_start_on_a_guard_has_a_derivative_on_one_side() {
    let mut integrator = Integrator::new(Affine::default()).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[0.0, 0.1, -0.1]), 0.1)
        .unwrap();
    let guard = Guard::falling(0);
    assert!(
        matches!(d.verdict(), Verdict::OneSided { guard: g, t } if *g == guard && t.abs() < 1e-15),
        "{}",
        d.verdict()
    );
    // The start counts as across: x' = 10 x + 1.
    let column = d.apply(&[1.0, 0.0, 0.0]).unwrap();
    assert!((column[0] - 1f64.exp()).abs() < 1e-5);
    // A start close to the guard, but off it, is a start like any other.
    let d = integrator
        .derivative(&Start::at(0.0).x(&[-1e-6, 0.1, -0.1]), 0.1)
        .unwrap();
    assert_eq!(*d.verdict(), Verdict::Classical);
}

#[test]
fn a_run_that_a_guard_ends_has_the_derivative_of_its_poincare_map() {
    // From (y, v) to the ground: v_f = −√(v² + 2 g y), t_f = (v − v_f)/g.
    let g = 9.81;
    let ground = falling(g).events([Watch::FALLING.and_stop()], |_, _, x, _| x[0]);
    let (y, v) = (1.3, 0.4);
    let mut integrator = Integrator::new(&ground).unwrap().rtol(1e-12).atol(1e-12);
    let d = integrator
        .derivative(&Start::at(0.0).x(&[y, v]), 5.0)
        .unwrap();
    assert!(matches!(d.run().status(), Status::Stopped { .. }));
    assert_eq!(*d.verdict(), Verdict::Classical);
    let impact = -(v * v + 2.0 * g * y).sqrt();
    let exact = DMatrix::from_row_slice(2, 2, &[0.0, 0.0, g / impact, v / impact]);
    assert!((d.matrix().unwrap() - exact).amax() < 1e-8);
    let shift = [-1.0 / impact, (1.0 - v / impact) / g];
    for (axis, shift) in [[1.0, 0.0], [0.0, 1.0]].iter().zip(shift) {
        assert!((d.event_time_shift(0, axis).unwrap() - shift).abs() < 1e-9);
    }
}

#[test]
fn the_reset_of_the_last_crossing_belongs_to_the_poincare_map() {
    let ball = falling(9.81)
        .events([Watch::FALLING.and_stop()], |_, t, x, _| {
            x[0] - 0.1 * (3.0 * t).sin()
        })
        .reset(|t, _, x, _| {
            x[1] = -0.7 * x[1] + 0.2 * t;
            Ok(())
        });
    let mut integrator = Integrator::new(&ball).unwrap().rtol(1e-12).atol(1e-12);
    let found = integrator
        .derivative(&Start::at(0.0).x(&[1.0, 0.5]), 5.0)
        .unwrap()
        .matrix()
        .unwrap();
    let end = |x0: [f64; 2]| {
        integrator
            .integrate(&Start::at(0.0).x(&x0), 5.0)
            .unwrap()
            .state()
            .clone()
    };
    let expected = difference(end, [1.0, 0.5], 1e-5);
    assert!((found - &expected).amax() < 1e-7, "{expected}");
}

#[test]
fn the_whole_period_of_the_hopper_is_a_shear() {
    // Every start repeats itself after its own period T(z0), so that the displaced orbit lags: D =
    // I − f T'(z0).
    let hopper = Hopper::default();
    let z0 = 2.0;
    let period = hopper.period(z0);
    let mut integrator = Integrator::new(hopper).unwrap().rtol(1e-12).atol(1e-12);
    let d = integrator
        .derivative(&Start::at(0.0).x(&[z0, 0.0]), period)
        .unwrap();
    assert_eq!(*d.verdict(), Verdict::Classical);
    let longer = (hopper.period(z0 + 1e-5) - hopper.period(z0 - 1e-5)) / 2e-5;
    let column = d.apply(&[1.0, 0.0]).unwrap();
    assert!((column[0] - 1.0).abs() < 1e-8 && (column[1] - hopper.gravity * longer).abs() < 1e-7);
    assert!((d.matrix().unwrap().determinant() - 1.0).abs() < 1e-9);
}

/// Central differences of the end of a run.
fn difference_of_end<const N: usize>(system: &crate::sketch::Sketch, x0: [f64; N]) -> DMatrix<f64> {
    let mut integrator = Integrator::new(system).unwrap().rtol(1e-12).atol(1e-12);
    difference(
        |x| {
            integrator
                .integrate(&Start::at(0.0).x(&x), 5.0)
                .unwrap()
                .state()
                .clone()
        },
        x0,
        1e-5,
    )
}

#[test]
fn a_stop_that_another_crossing_sets_off_ends_the_run_at_that_crossing() {
    // Crossing x1 = 0.5 throws x0 over its own guard, which stops; or that guard is another one in
    // the new mode.
    let field = |_: f64, _: &[f64], _: &Mode, dx: &mut [f64]| dx.copy_from_slice(&[-1.0, -2.0]);
    let watch = [Watch::FALLING.and_stop(), Watch::FALLING];
    let thrown = crate::sketch::Sketch::new(2, field)
        .events(watch, |k, _, x, _| {
            if k == 0 {
                x[1] + 5.0
            } else {
                x[0] - 0.25 * x[1]
            }
        })
        .reset(|_, crossed, x, _| {
            if crossed.contains(1) {
                x[1] -= 50.0;
            }
            Ok(())
        });
    let switched = crate::sketch::Sketch::new(2, field).events(watch, |k, _, x, mode| match k {
        0 if mode.contains(1) => 1.0,
        0 => x[1] - 0.5,
        _ => x[0] - 0.25 * x[1],
    });
    for (system, mode) in [(thrown, [true, true]), (switched, [true, true])] {
        let start = Mode::with(2, &[0, 1]);
        assert!(mode[0] && mode[1]);
        let mut integrator = Integrator::new(&system).unwrap().rtol(1e-12).atol(1e-12);
        let x0 = [1.0, 1.0];
        let d = integrator
            .derivative(&Start::at(0.0).x(&x0).mode(&start), 5.0)
            .unwrap();
        assert!(
            matches!(d.run().status(), Status::Stopped { .. }),
            "{}",
            d.run().status()
        );
        let found = d.matrix().unwrap();
        let mut other = Integrator::new(&system).unwrap().rtol(1e-12).atol(1e-12);
        let expected = difference(
            |x| {
                other
                    .integrate(&Start::at(0.0).x(&x).mode(&start), 5.0)
                    .unwrap()
                    .state()
                    .clone()
            },
            x0,
            1e-5,
        );
        assert!((&found - &expected).amax() < 1e-7, "{found}{expected}");
        let carried = integrator
            .derivative_along(&Start::at(0.0).x(&x0), 5.0, &DMatrix::identity(2, 2))
            .unwrap();
        assert!((found - carried).amax() < 1e-9);
    }
}

#[test]
fn a_stop_that_keeps_a_reset_from_happening_makes_the_end_jump() {
    let system = |stop: usize| {
        let watch = [0, 1].map(|k| {
            if k == stop {
                Watch::RISING.and_stop()
            } else {
                Watch::RISING
            }
        });
        crate::sketch::Sketch::new(3, |_, _, _, dx| dx.copy_from_slice(&[1.0, 1.0, 0.0]))
            .events(watch, |k, _, x, _| x[k] - 1.0)
            .reset(|_, crossed, x, _| {
                if crossed.contains(1) {
                    x[2] *= 3.0;
                }
                Ok(())
            })
    };
    // Guard 0 stops: met first, the reset of guard 1 does not happen.
    let stops = system(0);
    let mut integrator = Integrator::new(&stops).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[0.0, 0.0, 1.0]), 5.0)
        .unwrap();
    assert!(
        matches!(d.verdict(), Verdict::Discontinuous { .. }),
        "{}",
        d.verdict()
    );
    assert!(d.apply(&[0.0, 1.0, 0.0]).is_ok() && d.apply(&[1.0, 0.0, 0.0]).is_err());
    // Guard 1 stops, with its reset: whoever comes first, the end is the same.
    let stops = system(1);
    let mut integrator = Integrator::new(&stops).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[0.0, 0.0, 1.0]), 5.0)
        .unwrap();
    assert_eq!(*d.verdict(), Verdict::Classical);
    let exact = difference_of_end(&stops, [0.1, 0.0, 1.0]);
    assert!((d.matrix().unwrap() - exact).amax() < 1e-8);
}

#[test]
fn directions_to_the_other_side_of_an_edge_are_refused() {
    let mut integrator = Integrator::new(Affine::default()).unwrap();
    // A start on x = 0 that counts as across: less x is before the guard.
    let d = integrator
        .derivative(&Start::at(0.0).x(&[0.0, 0.1, -0.1]), 0.1)
        .unwrap();
    assert!(d.apply(&[1.0, 0.0, 0.0]).is_ok() && d.apply(&[0.0, 1.0, 1.0]).is_ok());
    assert!(matches!(
        d.apply(&[-1.0, 0.0, 0.0]),
        Err(NoDerivative::OneSided { .. })
    ));
    assert!(matches!(
        d.apply_backward(&[1.0, 0.0, 0.0]),
        Err(NoDerivative::OneSided { .. })
    ));
    // An end just behind the last crossing: less x crosses later.
    let (_, time) = Affine::EVENTS[2];
    let d = integrator
        .rtol(1e-12)
        .atol(1e-12)
        .derivative(&Start::at(0.0).x(&Affine::START), time + 3e-10)
        .map(|d| {
            let v = [1.0, 0.0, 0.0];
            (
                d.apply(&v).is_ok(),
                d.apply_backward(&v).is_ok(),
                d.run().crossings().len(),
            )
        });
    assert_eq!(d.unwrap(), (true, false, 3));
}

/// Three planes, each of which changes the field; what the model says of itself is true of it.
struct Planes {
    stop: Option<usize>,
    says: bool,
}

impl Flow for Planes {
    fn dim(&self) -> usize {
        3
    }

    fn flow(&self, _t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&[1.0, 1.0, 0.3 * x[2]]);
        for k in mode.ones() {
            dx[k] += 0.5 + 0.25 * k as f64;
            dx[(k + 1) % 3] += 0.125;
        }
    }
}

impl EventFunction for Planes {
    fn count(&self) -> usize {
        3
    }

    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        [x[0] - 1.0, x[1] - 1.0, 0.5 * (x[0] + x[1]) - 1.0][k]
    }

    fn gradient(&self, k: usize, _t: f64, _x: &[f64], _mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        dh.copy_from_slice(&[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.5, 0.5, 0.0]][k]);
        Some(0.0)
    }

    fn watch(&self, k: usize) -> Watch {
        if self.stop == Some(k) {
            Watch::RISING.and_stop()
        } else {
            Watch::RISING
        }
    }

    fn ignores_mode(&self) -> bool {
        self.says
    }

    fn resets(&self) -> bool {
        !self.says
    }
}

#[test]
fn what_a_model_says_of_its_crossings_changes_no_derivative() {
    let retire = RearmMatrix::pairs(3).retire(Guard::rising(0), Guard::rising(1));
    let rules = [Rearm::Pairs, Rearm::Matrix(retire.unwrap())];
    let stops = [None, Some(0), Some(1), Some(2)];
    // All three at once, and one after the other.
    let starts = [[0.0, 0.0, 1.0], [0.3, 0.0, 1.0], [0.0, 0.3, 1.0]];
    let cases = (0..24).map(|i| (&rules[i % 2], stops[i / 2 % 4], starts[i / 8]));
    for (rule, stop, start) in cases {
        let run = |says: bool| {
            let model = Planes { stop, says };
            let integrator = Integrator::new(model).unwrap().rearm(rule.clone());
            let mut integrator = integrator.rtol(1e-10).atol(1e-12);
            let d = integrator
                .derivative(&Start::at(0.0).x(&start), 2.0)
                .unwrap();
            let mut columns = Vec::new();
            for j in 0..12 {
                let v = [0, 1, 2].map(|i| f64::from(5 * j + 3 * i + 1).sin());
                columns.push(d.apply(&v).map(|v| v.as_slice().to_vec()));
                let v = DMatrix::from_column_slice(3, 1, &v);
                let along = integrator.derivative_along(&Start::at(0.0).x(&start), 2.0, &v);
                columns.push(along.map(|v| v.as_slice().to_vec()));
            }
            (d.verdict().clone(), columns)
        };
        let (short, long) = (run(true), run(false));
        let case = format!("{rule:?} {stop:?} {start:?}");
        assert_eq!(short.0.to_string(), long.0.to_string(), "{case}");
        for (short, long) in short.1.iter().zip(&long.1) {
            match (short, long) {
                (Ok(short), Ok(long)) => {
                    let off = short.iter().zip(long).map(|(a, b)| (a - b).abs());
                    assert!(off.fold(0.0, f64::max) < 1e-9, "{case}: {short:?} {long:?}");
                }
                _ => assert_eq!(short.is_ok(), long.is_ok(), "{case}: {short:?} {long:?}"),
            }
        }
    }
}

/// A reset that is the identity on the plane `x2 = 0`, in which the run lies, and not beside it;
/// the event function ignores the mode all the same.
struct Kick;

impl Flow for Kick {
    fn dim(&self) -> usize {
        3
    }

    fn flow(&self, _t: f64, _x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&[1.0, 0.0, 0.0]);
    }
}

impl EventFunction for Kick {
    fn count(&self) -> usize {
        1
    }

    fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[0] - 1.0
    }

    fn ignores_mode(&self) -> bool {
        true
    }

    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        crossing.x[1] += 5.0 * crossing.x[2];
        Ok(())
    }
}

#[test]
fn a_reset_that_leaves_the_state_of_the_run_alone_changes_its_neighbours() {
    let mut integrator = Integrator::new(Kick).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[0.0; 3]), 2.0)
        .unwrap();
    let v = DMatrix::from_column_slice(3, 1, &[0.0, 0.0, 1.0]);
    let along = integrator
        .derivative_along(&Start::at(0.0).x(&[0.0; 3]), 2.0, &v)
        .unwrap();
    for component in [d.matrix().unwrap()[(1, 2)], along[(1, 0)]] {
        assert!((component - 5.0).abs() < 1e-8, "{component}");
    }
}

/// States a, b, y, z, w, q; guards `a`, `b` and `y + w z` are met at once. The first resets z to 1,
/// behind which the third depends on w; the second lets w grow.
struct Revealed {
    ignores_mode: bool,
}

impl Flow for Revealed {
    fn dim(&self) -> usize {
        6
    }

    fn flow(&self, _t: f64, _x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let on = |k| f64::from(u8::from(mode.contains(k)));
        dx.copy_from_slice(&[1.0, 1.0, 1.0, 0.0, on(1), 5.0 * on(2)]);
    }
}

impl EventFunction for Revealed {
    fn count(&self) -> usize {
        3
    }

    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        match k {
            0 | 1 => x[k],
            _ => x[2] + x[4] * x[3],
        }
    }

    fn ignores_mode(&self) -> bool {
        self.ignores_mode
    }

    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        if crossing.crossed.guards().iter().any(|c| c.guard.event == 0) {
            crossing.x[3] = 1.0;
        }
        Ok(())
    }
}

#[test]
fn a_guard_that_sees_more_behind_a_reset_has_its_rate_evaluated_anew() {
    // Perturbed by s, a is crossed 3 s early and b 2 s early, where the third is at −s and comes on
    // at 1 + w' = 2: it is crossed 3/2 s early, and q gains 5 · 3/2 s.
    let start = [-0.5, -0.5, -0.5, 0.0, 0.0, 0.0];
    let v = DMatrix::from_column_slice(6, 1, &[3.0, 2.0, 1.0, 0.0, 0.0, 0.0]);
    for ignores_mode in [false, true] {
        let mut integrator = Integrator::new(Revealed { ignores_mode }).unwrap();
        let along = integrator
            .derivative_along(&Start::at(0.0).x(&start), 1.0, &v)
            .unwrap();
        let end = |integrator: &mut Integrator<_>, s: f64| {
            let x0: Vec<f64> = start.iter().zip(&v).map(|(x, v)| x + s * v).collect();
            integrator
                .integrate(&Start::at(0.0).x(&x0), 1.0)
                .unwrap()
                .state()[5]
        };
        let s = 1e-4;
        let difference = (end(&mut integrator, s) - end(&mut integrator, 0.0)) / s;
        assert!((difference - 7.5).abs() < 1e-6, "{difference}");
        assert!((along[(5, 0)] - 7.5).abs() < 1e-8, "{ignores_mode} {along}");
    }
}
