//! Corners to which first order has no answer, or only a careful one: resets that go round, that
//! move another guard, that come out with another mode; guards that are nearly met; units of any
//! size.

use saltation::derivative::{Compared, CornerKind, Verdict, WithParameters};
use saltation::nalgebra::DMatrix;
use saltation::{
    Guard, Integrator, Mode, NoDerivative, Rearm, Sensitivities, Start, Status, Stop, Watch,
    flow_fn,
};

use crate::fixtures::support::each;
use crate::sketch::Sketch;

/// A field that depends on the mode only.
fn words<const N: usize>(field: impl Fn(&Mode) -> [f64; N] + 'static) -> Sketch {
    Sketch::new(N, move |_, _, mode, dx| dx.copy_from_slice(&field(mode)))
}

#[test]
fn a_reset_that_undoes_its_own_crossing_for_ever_has_no_derivative() {
    let mirror = Sketch::new(2, |_, x, _, dx| dx.copy_from_slice(&[x[1], 0.0]))
        .events([Watch::BOTH], |_, _, x, _| x[0])
        .reset(|_, _, x, _| {
            x[1] = -x[1];
            Ok(())
        });
    let mut integrator = Integrator::new(&mirror).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[1.0, -1.0]), 2.0)
        .unwrap();
    assert!(matches!(
        d.run().status(),
        Status::Refused(Stop::NoProgress { .. })
    ));
    assert!(matches!(
        d.verdict(),
        Verdict::NotGuaranteed(NoDerivative::Stop(Stop::NoProgress { .. }))
    ));
    let along = integrator.derivative_along(
        &Start::at(0.0).x(&[1.0, -1.0]),
        2.0,
        &DMatrix::identity(2, 2),
    );
    assert!(matches!(
        along,
        Err(NoDerivative::Stop(Stop::NoProgress { .. }))
    ));
}

#[test]
fn a_reset_that_makes_a_mode_of_another_length_close_by_is_refused() {
    let fickle = words(|_| [1.0, 1.0])
        .events([Watch::RISING], |_, _, x, _| x[0] - 1.0)
        .reset(|_, _, x, mode| {
            if (x[0] - 1.0).abs() > 1e-8 {
                *mode = Mode::new(200);
                x[1] += 0.5;
            }
            Ok(())
        });
    let mut integrator = Integrator::new(&fickle).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[0.0, 0.0]), 2.0)
        .unwrap();
    assert!(
        matches!(d.verdict(), Verdict::NotGuaranteed(_)),
        "{}",
        d.verdict()
    );
    let alone = words(|_| [1.0, 1.0])
        .events([Watch::RISING; 2], |k, _, x, _| x[k] - 1.0)
        .reset(|_, crossed, _, mode| {
            if crossed.guards().len() == 1 {
                *mode = Mode::new(500);
            }
            Ok(())
        });
    let mut integrator = Integrator::new(&alone).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[0.0, 0.0]), 2.0)
        .unwrap();
    assert!(
        matches!(d.verdict(), Verdict::NotGuaranteed(_)),
        "{}",
        d.verdict()
    );
}

#[test]
fn resets_in_many_orders_end_in_time() {
    // Seven to ten guards whose resets do not commute: as many outcomes as orders.
    for n in [7, 10] {
        let many = Sketch::new(11, |_, _, _, dx| dx.fill(1.0))
            .events(
                [Watch::RISING; 10],
                move |k, _, x, _| if k < n { x[k] - 1.0 } else { -1.0 },
            )
            .reset(|_, crossed, x, _| {
                for k in crossed.events() {
                    x[10] = (1.0 + 0.1 * k as f64) * x[10] + 0.01 * (k * k) as f64;
                }
                Ok(())
            });
        let mut integrator = Integrator::new(&many).unwrap();
        let d = integrator
            .derivative(&Start::at(0.0).x(&[0.0; 11]), 1.5)
            .unwrap();
        assert!(
            matches!(d.verdict(), Verdict::Discontinuous { .. }),
            "{}",
            d.verdict()
        );
    }
}

#[test]
fn a_guard_from_which_another_crossing_turns_the_motion_away_guarantees_nothing() {
    // y turns back the moment x is crossed, a hair before its own surface.
    for (gap, touches) in [(1e-13, true), (1e-10, true), (1e-3, false)] {
        let turned = words(|mode| {
            let alone = mode.contains(0) && !mode.contains(1);
            [
                1.0,
                if alone { -1.0 } else { 1.0 },
                if mode.contains(1) { 7.0 } else { 0.0 },
            ]
        })
        .events([Watch::BOTH; 2], move |k, _, x, _| {
            x[k] - 1.0 - if k == 1 { gap } else { 0.0 }
        });
        let mut integrator = Integrator::new(&turned).unwrap();
        let d = integrator
            .derivative(&Start::at(0.0).x(&[0.0; 3]), 2.0)
            .unwrap();
        let found = matches!(d.verdict(), Verdict::NotGuaranteed(NoDerivative::Touch { guard, .. }) if *guard == Guard::rising(1));
        assert_eq!(found, touches, "{gap}: {}", d.verdict());
    }
}

#[test]
fn a_reset_that_moves_another_guard_of_the_corner_is_refused() {
    let moved = words(|mode| [1.0, 1.0, 0.0, if mode.contains(1) { 5.0 } else { 0.0 }])
        .events([Watch::BOTH; 2], |k, _, x, _| x[k] - 1.0)
        .reset(|_, crossed, x, _| {
            if crossed.contains(0) {
                x[1] += x[2];
            }
            Ok(())
        });
    let mut integrator = Integrator::new(&moved).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[0.0; 4]), 2.0)
        .unwrap();
    let expected = |error: &NoDerivative| matches!(error, NoDerivative::MovedGuard { guard, by, .. } if (guard.event, by.event) == (1, 0));
    assert!(
        matches!(d.verdict(), Verdict::NotGuaranteed(error) if expected(error)),
        "{}",
        d.verdict()
    );
    // A few directions find out for themselves whether it concerns them.
    let mut along = |v: [f64; 4]| {
        integrator.derivative_along(
            &Start::at(0.0).x(&[0.0; 4]),
            2.0,
            &DMatrix::from_column_slice(4, 1, &v),
        )
    };
    assert!(expected(&along([0.0, -0.5, 1.0, 0.0]).unwrap_err()));
    let harmless = along([0.0, -0.5, 0.0, 0.0]).unwrap();
    assert!((harmless[3] + 2.5).abs() < 1e-9);
}

#[test]
fn a_guard_that_a_reset_moves_the_state_off_is_not_crossed() {
    let moved = words(|mode| [1.0, if mode.contains(0) { 1.5 } else { 1.0 }])
        .events([Watch::BOTH; 2], |k, _, x, _| x[k] - 1.0)
        .reset(|_, crossed, x, _| {
            if crossed.contains(0) {
                x[1] -= 0.5;
            }
            Ok(())
        });
    let mut integrator = Integrator::new(&moved).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[0.0, 0.0]), 1.2)
        .unwrap();
    for (piece, cone) in each(&d.pieces_at(0).unwrap()) {
        // Guard 0 first: guard 1 is not reached. The other way round it is crossed and, by the
        // reset, crossed back.
        let first = cone.orders[0][0].event == 0;
        assert_eq!(cone.orders[0].len(), if first { 1 } else { 2 });
        assert!(piece.is_nominal && !piece.mode.contains(1));
        assert!((piece.state[1] - 0.5).abs() < 1e-9);
    }
    // Guard 1 leaves no trace in either order.
    assert_eq!(*d.verdict(), Verdict::Classical);
    let runs = [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.5]].map(|v| {
        let end = |s: f64| {
            let run = Integrator::new(&moved)
                .unwrap()
                .integrate(&Start::at(0.0).x(&[s * v[0], s * v[1]]), 1.2);
            run.unwrap().state().clone()
        };
        (d.apply(&v).unwrap() - (end(1e-5) - end(0.0)) / 1e-5).amax()
    });
    assert!(runs.iter().all(|&off| off < 1e-6), "{runs:?}");
}

#[test]
fn verdicts_and_pieces_do_not_depend_on_units() {
    for jump in [1.0, 1e6, 1e9, 1e12] {
        let system = words(move |mode| {
            let between = mode.contains(0) && !mode.contains(1);
            [
                1.0,
                if between { 2.0 } else { 1.0 },
                if mode.contains(0) { jump } else { 0.0 },
            ]
        })
        .events([Watch::BOTH; 2], |k, _, x, _| x[k] - 1.0)
        .gradient(|k, _, _, _, dh| {
            dh.fill(0.0);
            dh[k] = 1.0;
            Some(0.0)
        });
        let mut integrator = Integrator::new(&system).unwrap();
        let d = integrator
            .derivative(&Start::at(0.0).x(&[0.0; 3]), 2.0)
            .unwrap();
        assert_eq!(*d.verdict(), Verdict::Bouligand, "{jump}");
        assert_eq!(d.pieces().unwrap().len(), 2);
    }
    // Outcomes that jump do so in any unit.
    for unit in [1.0, 1e-9, 1e-12, 1e9] {
        let system = words(move |_| [unit, unit, 0.0])
            .events([Watch::RISING; 2], move |k, _, x, _| x[k] / unit - 1.0)
            .reset(move |_, crossed, x, _| {
                for k in crossed.events() {
                    x[2] = if k == 0 { 2.0 * x[2] } else { x[2] + unit };
                }
                Ok(())
            });
        let mut integrator = Integrator::new(&system).unwrap().atol(1e-9 * unit);
        let d = integrator
            .derivative(&Start::at(0.0).x(&[0.0, 0.0, 0.75 * unit]), 2.0)
            .unwrap();
        assert!(
            matches!(d.verdict(), Verdict::Discontinuous { .. }),
            "{unit}: {}",
            d.verdict()
        );
    }
}

#[test]
fn a_parameter_of_any_size_has_its_own_step() {
    let p = [1e-9, 1e6];
    let build = |p: &[f64]| {
        let rate = 1.0 / (p[0] * p[1]);
        flow_fn(1, move |_, x, _, dx| dx[0] = -rate * x[0])
    };
    let system = WithParameters::new(build, &p);
    let mut integrator = Integrator::new(&system).unwrap().rtol(1e-10).atol(1e-12);
    let d = integrator
        .derivative(&Start::at(0.0).x(&system.start(&[1.0])), 1e-3)
        .unwrap();
    let matrix = d.matrix().unwrap();
    // x = exp(−t/(C R)) at t = C R.
    let (by_c, by_r) = ((-1f64).exp() / p[0], (-1f64).exp() / p[1]);
    assert!((matrix[(0, 1)] / by_c - 1.0).abs() < 1e-7, "{matrix}");
    assert!((matrix[(0, 2)] / by_r - 1.0).abs() < 1e-7, "{matrix}");
}

#[test]
fn a_guard_that_is_not_armed_again_takes_no_part() {
    // A threshold that resets to zero, each time from the other side of a bit that is never armed
    // again.
    let threshold = words(|_| [1.0])
        .events([Watch::RISING], |_, _, x, _| x[0] - 1.0)
        .reset(|_, _, x, _| {
            x[0] = 0.0;
            Ok(())
        });
    let mut never = Integrator::new(&threshold).unwrap().rearm(Rearm::Never);
    let d = never.derivative(&Start::at(0.0).x(&[0.25]), 1.25).unwrap();
    assert_eq!(*d.verdict(), Verdict::Classical, "{}", d.verdict());
    assert!((d.matrix().unwrap()[(0, 0)] - 1.0).abs() < 1e-9);
    // An oscillator passes back over a guard that is no longer watched: no touch.
    let swing = Sketch::new(2, |_, x, _, dx| dx.copy_from_slice(&[x[1], -x[0]]))
        .events([Watch::RISING], |_, _, x, _| x[0] - 0.05);
    let mut never = Integrator::new(&swing).unwrap().rearm(Rearm::Never);
    let d = never
        .derivative(&Start::at(0.0).x(&[-1.0, 0.0]), 20.0)
        .unwrap();
    assert_eq!(*d.verdict(), Verdict::Classical, "{}", d.verdict());
}

#[test]
fn a_stop_at_the_final_time_is_an_edge() {
    let stop = words(|_| [1.0, 3.0]).events([Watch::RISING.and_stop()], |_, _, x, _| x[0] - 1.0);
    let mut integrator = Integrator::new(&stop).unwrap();
    for late in [0.0, 1e-10] {
        let d = integrator
            .derivative(&Start::at(0.0).x(&[0.0, 0.0]), 1.0 + late)
            .unwrap();
        assert!(matches!(d.run().status(), Status::Stopped { .. }));
        assert!(
            matches!(d.verdict(), Verdict::OneSided { .. }),
            "{}",
            d.verdict()
        );
        assert!(d.apply(&[1.0, 0.0]).is_ok());
        assert!(matches!(
            d.apply(&[-1.0, 0.0]),
            Err(NoDerivative::OneSided { .. })
        ));
    }
}

#[test]
fn a_word_that_a_sample_of_orders_misses_is_not_missed_by_directions() {
    // The field jumps only in the one word {0, 2, 4, 6, 8}.
    for n in [11, 14] {
        let rare = Sketch::new(n + 1, move |_, _, mode, dx| {
            dx.fill(1.0);
            let word: Vec<usize> = mode.ones().collect();
            dx[n] = if word == [0, 2, 4, 6, 8] { 5.0 } else { 0.0 };
        })
        .events_of(n, Watch::BOTH, |k, _, x, _| x[k] - 1.0);
        let mut integrator = Integrator::new(&rare).unwrap();
        let d = integrator
            .derivative(&Start::at(0.0).x(&vec![0.0; n + 1]), 2.0)
            .unwrap();
        let corner = d.corners().next().unwrap();
        if n == 11 {
            // All orders are compared.
            assert_eq!(*d.verdict(), Verdict::Bouligand);
            assert!(matches!(corner.kind(), CornerKind::PiecewiseLinear));
        } else {
            // Nothing that two guards do tells of it: the corner says how far its orders were
            // compared.
            assert!(matches!(
                corner.kind(),
                CornerKind::Linear {
                    compared: Compared::Pairs,
                    ..
                }
            ));
        }
        let mut v = vec![0.0; n + 1];
        for (k, v) in v.iter_mut().enumerate().take(n) {
            *v = if k.is_multiple_of(2) && k < 10 {
                1.0
            } else {
                -1.0
            };
        }
        // Between the first five and the others two seconds pass per unit of v.
        assert!((d.apply(&v).unwrap()[n] - 10.0).abs() < 1e-9);
        let piece = d.matrix_towards(&v).unwrap();
        assert!((crate::fixtures::support::times(&piece, &v)[n] - 10.0).abs() < 1e-9);
    }
}

/// Every neighbour crosses both at once: their reset is that of both, whatever they do alone and in turn.
#[test]
fn guards_with_one_surface_are_crossed_together_by_all_neighbours() {
    for (unit, stops) in [(1.0, false), (2.0, false), (1.0, true), (0.5, true)] {
        let last = if stops {
            Watch::RISING.and_stop()
        } else {
            Watch::RISING
        };
        let twins = words(|_| [1.0, 0.0, 0.0])
            .events([last, Watch::RISING], move |k, _, x, _| {
                (if k == 0 { unit } else { 1.0 }) * (x[0] + 0.3 * x[0].powi(2) - 1.3)
            })
            .reset(|_, crossed, x, _| {
                for k in crossed.events() {
                    x[2] = if k == 0 { 2.0 * x[2] } else { x[2] + x[1] };
                }
                if crossed.guards().len() == 2 {
                    x[1] *= -3.0;
                }
                Ok(())
            });
        for [u, v] in [[0.0, 0.0], [0.4, 0.7]] {
            let mut integrator = Integrator::new(&twins).unwrap();
            let x = [0.0, u, v];
            let start = Start::at(0.0).x(&x);
            let d = integrator.derivative(&start, 2.0).unwrap();
            assert_eq!(*d.verdict(), Verdict::Classical, "{unit} {stops}");
            let matrix = d.matrix().unwrap();
            let expected = [[-3.0, 0.0], [1.0, 2.0]];
            for (i, row) in expected.iter().enumerate() {
                for (k, entry) in row.iter().enumerate() {
                    let off = matrix[(1 + i, 1 + k)] - entry;
                    assert!(off.abs() < 1e-9, "{unit} {stops} {u}: {matrix}");
                }
            }
        }
    }
}

/// Surfaces that only touch each other are crossed in turn: which comes first, depends on the neighbour.
#[test]
fn guards_whose_surfaces_touch_are_crossed_in_turn() {
    let touching = words(|_| [1.0, 0.0, 0.0])
        .events([Watch::RISING; 2], |k, _, x, _| {
            x[0] - 1.0 - if k == 0 { 0.0 } else { 5.0 * x[1] * x[1] }
        })
        .reset(|_, crossed, x, _| {
            x[2] += if crossed.guards().len() == 2 {
                7.0
            } else {
                1.0
            };
            Ok(())
        });
    let mut integrator = Integrator::new(&touching).unwrap();
    let x = [0.0; 3];
    let start = Start::at(0.0).x(&x);
    let d = integrator.derivative(&start, 2.0).unwrap();
    assert_ne!(*d.verdict(), Verdict::Classical);
}

#[test]
fn an_equilibrium_has_a_derivative_however_fast_its_neighbours_fall() {
    let stiff = flow_fn(1, |_, x, _, dx| dx[0] = -1e4 * x[0]);
    let mut integrator = Integrator::new(stiff).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[0.0]), 1.0)
        .unwrap();
    assert_eq!(*d.verdict(), Verdict::Classical);
    assert!(d.matrix().unwrap()[(0, 0)].abs() < 1e-9);
}

/// A right-hand side whose differences are known to five digits: columns are held to that, and the
/// run of them ends.
#[test]
fn columns_of_a_rough_field_are_held_no_tighter_than_they_are_known() {
    use std::cell::Cell;
    let calls = Cell::new(0usize);
    let rough = flow_fn(2, |_, x: &[f64], _: &Mode, dx: &mut [f64]| {
        calls.set(calls.get() + 1);
        dx[0] = x[1] + 1e-10 * (3e9 * x[0]).sin();
        dx[1] = -x[0];
    });
    let mut integrator = Integrator::new(rough).unwrap().rtol(1e-9).atol(1e-9);
    let summary = integrator
        .observe(&Start::at(0.0).x(&[1.0, 0.0]), 1.0, &mut ())
        .unwrap();
    let plain = calls.replace(0);
    assert_eq!(summary.status, Status::ReachedEnd);
    let mut tight = Sensitivities::new(2, 2);
    tight.set(&[1.0, 0.0, 0.0, 1.0]).unwrap();
    integrator
        .carry(&Start::at(0.0).x(&[1.0, 0.0]), 1.0, &mut tight, &mut ())
        .unwrap();
    assert!(calls.get() < 40 * plain, "{} {plain}", calls.get());
    // A turn by one radian.
    let (sine, cosine) = 1f64.sin_cos();
    let columns = tight.columns().unwrap();
    for (i, expected) in [cosine, -sine, sine, cosine].into_iter().enumerate() {
        assert!((columns[(i % 2, i / 2)] - expected).abs() < 1e-3);
    }
}

/// A guard whose reset throws the state back over another one, and that over the first again: that the run was refused is
/// the reason, and not that a repetition of what was made goes another way.
#[test]
fn a_cascade_that_is_refused_half_way_says_so() {
    let cascade = words(|_| [1.0])
        .events([Watch::RISING, Watch::BOTH], |k, _, x, _| {
            x[0] - [1.0, 0.7][k]
        })
        .reset(|_, crossed, x, _| {
            x[0] += if crossed.contains(0) { -0.5 } else { 0.7 };
            Ok(())
        });
    let mut integrator = Integrator::new(&cascade).unwrap();
    let start = Start::at(0.0).x(&[0.8]);
    let d = integrator.derivative(&start, 5.0).unwrap();
    let Status::Refused(reason @ Stop::NoProgress { .. }) = d.run().status() else {
        panic!("{}", d.run().status())
    };
    let reason = NoDerivative::Stop(reason.clone());
    assert_eq!(*d.verdict(), Verdict::NotGuaranteed(reason));
}
