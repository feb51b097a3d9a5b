//! What a derivative says of itself: outcomes that jump, corners that are not live in every order,
//! runs that end early, touches.

use saltation::derivative::{CornerKind, Verdict};
use saltation::models::FieldTable;
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{
    Guard, InputError, Integrator, Mode, NoDerivative, Rearm, Start, Status, Stop, Watch, flow_fn,
};

use crate::fixtures::support::each;
use crate::sketch::{Sketch, falling};

/// Two walls met at once at t = 1; the first doubles z, the second adds one: the order decides.
fn walls() -> Sketch {
    Sketch::new(3, |_, _, _, dx| dx.copy_from_slice(&[1.0, 1.0, 0.25]))
        .events([Watch::RISING, Watch::RISING], |k, _, x, _| x[k] - 1.0)
        .reset(|_, crossed, x, _| {
            for k in crossed.events() {
                x[2] = if k == 0 { 2.0 * x[2] } else { x[2] + 1.0 };
            }
            Ok(())
        })
}

#[test]
fn outcomes_that_jump_are_reported_with_their_limits_and_maps() {
    let walls = walls();
    let mut integrator = Integrator::new(&walls).unwrap().rtol(1e-11).atol(1e-11);
    let start = [0.0, 0.0, 0.75];
    let d = integrator
        .derivative(&Start::at(0.0).x(&start), 2.0)
        .unwrap();
    let guards = vec![Guard::rising(0), Guard::rising(1)];
    assert!(matches!(d.verdict(), Verdict::Discontinuous { guards: g, .. } if *g == guards));
    assert!(matches!(
        d.corners().next().unwrap().kind(),
        CornerKind::Discontinuous
    ));
    assert!(matches!(
        d.matrix(),
        Err(NoDerivative::Discontinuous { .. })
    ));
    assert!(matches!(
        d.pieces(),
        Err(NoDerivative::Discontinuous { .. })
    ));
    // At z = 1: first doubled, then one more is 3, the other way round it is 4.
    let pieces = d.pieces_at(0).unwrap();
    assert_eq!((pieces.len(), each(&pieces).count()), (2, 2));
    for (piece, cone) in each(&pieces) {
        let doubled_first = cone.orders[0][0] == guards[0];
        let limit = if doubled_first { 3.0 } else { 4.0 };
        assert!((piece.state[2] - limit).abs() < 1e-9 && piece.is_nominal == doubled_first);
        assert_eq!(d.apply(cone.sample.as_slice()).is_ok(), doubled_first);
        // The map is that of starts displaced into the cone, about the limit of the piece.
        let s = 1e-5;
        let displaced: Vec<f64> = start
            .iter()
            .zip(&cone.sample)
            .map(|(x, v)| x + s * v)
            .collect();
        let run = Integrator::new(&walls)
            .unwrap()
            .rtol(1e-11)
            .atol(1e-11)
            .integrate(&Start::at(0.0).x(&displaced), 2.0)
            .unwrap();
        let expected = (run.state() - &piece.state - DVector::from_vec(vec![1.0, 1.0, 0.25])) / s;
        assert!((&piece.matrix * &cone.sample - expected).amax() < 1e-4);
    }
    let refused = d.apply(&[0.0, 1.0, 0.0]).unwrap_err();
    let order = vec![guards[1], guards[0]];
    assert!(
        matches!(refused, NoDerivative::Discontinuous { order: o, t } if o == order && (t - 1.0).abs() < 1e-9)
    );
}

#[test]
fn an_order_asked_for_gives_its_own_limit_and_derivative() {
    let walls = walls();
    let start = [0.0, 0.0, 0.75];
    for (order, limit) in [([0, 1], 3.25), ([1, 0], 4.25)] {
        let order = order.map(Guard::rising);
        let mut integrator = Integrator::new(&walls)
            .unwrap()
            .rtol(1e-11)
            .atol(1e-11)
            .corner_order(order);
        let d = integrator
            .derivative(&Start::at(0.0).x(&start), 2.0)
            .unwrap();
        assert!((d.run().state()[2] - limit).abs() < 1e-9);
        assert!(matches!(d.verdict(), Verdict::Discontinuous { .. }));
        assert_eq!(d.corners().next().unwrap().guards(), order);
        for (piece, cone) in each(&d.pieces_at(0).unwrap()) {
            let v = cone.sample.as_slice();
            assert_eq!(piece.is_nominal, cone.orders[0] == order);
            assert_eq!(d.apply(v).is_ok(), piece.is_nominal);
            if piece.is_nominal {
                let s = 1e-5;
                let displaced: Vec<f64> = start.iter().zip(v).map(|(x, v)| x + s * v).collect();
                let run = Integrator::new(&walls)
                    .unwrap()
                    .rtol(1e-11)
                    .atol(1e-11)
                    .integrate(&Start::at(0.0).x(&displaced), 2.0)
                    .unwrap();
                let expected = (run.state() - d.run().state()) / s;
                assert!((d.apply(v).unwrap() - expected).amax() < 1e-4);
            }
        }
    }
    let unknown = Integrator::new(&walls)
        .unwrap()
        .corner_order([Guard::rising(2)])
        .integrate(&Start::at(0.0).x(&start), 2.0);
    assert!(matches!(
        unknown,
        Err(InputError::NoSuch {
            what: "event function",
            count: 2,
            ..
        })
    ));
}

#[test]
fn an_order_in_which_a_guard_is_not_live_guarantees_nothing() {
    // Three axes at the origin. Only after guard 0 alone has crossed does guard 1 recede.
    let field = |word: usize| {
        if word == 1 {
            [1.0, -0.5, 1.0]
        } else {
            [1.0, 1.0, 1.0]
        }
    };
    let fields = DMatrix::from_fn(3, 8, |i, word| field(word)[i]);
    let table = FieldTable::new(DMatrix::identity(3, 3), &[0.0; 3], fields).unwrap();
    let mut integrator = Integrator::new(&table).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[-0.5; 3]), 1.0)
        .unwrap();
    assert_eq!(*d.run().status(), Status::ReachedEnd);
    let reason = |verdict: &Verdict| match verdict {
        Verdict::NotGuaranteed(NoDerivative::Stop(Stop::NotLive {
            guard, rate_before, ..
        })) => Some((*guard, *rate_before)),
        _ => None,
    };
    assert_eq!(
        reason(d.verdict()),
        Some((Guard::rising(1), -0.5)),
        "{}",
        d.verdict()
    );
    assert!(matches!(
        d.apply(&[1.0, 0.0, 0.0]),
        Err(NoDerivative::Stop(Stop::NotLive { .. }))
    ));
}

#[test]
fn a_run_that_is_refused_keeps_its_derivative_up_to_there() {
    // x' = 1 before x = 0 and −1 behind: sliding.
    let sliding = flow_fn(1, |_, _, mode, dx| {
        dx[0] = if mode.contains(0) { -1.0 } else { 1.0 }
    })
    .with_events(1, |_, _, x| x[0]);
    let mut integrator = Integrator::new(&sliding).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[-0.5]), 1.0)
        .unwrap();
    assert!(matches!(
        d.run().status(),
        Status::Refused(Stop::NotLive { .. })
    ));
    assert!(matches!(
        d.verdict(),
        Verdict::NotGuaranteed(NoDerivative::Stop(Stop::NotLive { .. }))
    ));
    assert!(matches!(
        d.matrix(),
        Err(NoDerivative::Stop(Stop::NotLive { .. }))
    ));
    assert!((d.run().t() - 0.5).abs() < 1e-8);
    assert!(matches!(
        d.apply(&[2.0]),
        Err(NoDerivative::Stop(Stop::NotLive { .. }))
    ));
    assert_eq!(d.up_to_refusal().apply(&[2.0]).unwrap().as_slice(), [2.0]);
    let along =
        integrator.derivative_along(&Start::at(0.0).x(&[-0.5]), 1.0, &DMatrix::identity(1, 1));
    assert!(matches!(
        along,
        Err(NoDerivative::Stop(Stop::NotLive { .. }))
    ));
}

#[test]
fn a_guard_that_is_touched_guarantees_nothing() {
    let g = 9.81;
    for (gap, touches) in [(1e-12, true), (1e-3, false)] {
        let top = 0.5 * 4.0 / g;
        let thrown = falling(g).events([Watch::BOTH], move |_, _, x, _| x[0] - top - gap);
        let mut integrator = Integrator::new(&thrown).unwrap().rtol(1e-9).atol(1e-9);
        let d = integrator
            .derivative(&Start::at(0.0).x(&[0.0, 2.0]), 0.4)
            .unwrap();
        assert!(d.run().crossings().is_empty());
        let found = matches!(d.verdict(), Verdict::NotGuaranteed(NoDerivative::Touch { guard, .. }) if *guard == Guard::rising(0));
        assert_eq!(found, touches, "{}", d.verdict());
    }
}

#[test]
fn a_side_brought_up_to_date_off_its_guard_guarantees_nothing() {
    // Bit 0 is missed on the way back at sin t = 1/2, and set when bit 1 fires and none is armed.
    let relay = |reads: bool| {
        flow_fn(2, move |t: f64, _, mode: &Mode, dx| {
            dx[0] = t.cos();
            dx[1] = if reads && mode.contains(0) { 1.0 } else { 0.0 };
        })
        .with_events(2, |k, t, x| if k == 0 { x[0] - 0.5 } else { t - 4.0 })
    };
    for (reads, guaranteed) in [(true, false), (false, true)] {
        let mut integrator = Integrator::new(relay(reads))
            .unwrap()
            .rearm(Rearm::WhenEmpty);
        let d = integrator
            .derivative(&Start::at(0.0).x(&[0.0, 0.0]), 5.0)
            .unwrap();
        assert_eq!(d.run().modes().len(), 4);
        let refused = matches!(d.verdict(), Verdict::NotGuaranteed(NoDerivative::ModeWithoutGuard { t }) if *t > 4.0);
        assert_eq!(refused, !guaranteed, "{}", d.verdict());
    }
}

#[test]
fn a_reset_that_is_no_function_of_its_arguments_is_noticed() {
    let count = std::cell::Cell::new(0_u32);
    let fickle = falling(9.81)
        .events([Watch::FALLING], |_, _, x, _| x[0])
        .reset(move |_, _, x, _| {
            count.set(count.get() + 1);
            x[1] *= -0.5 - 1e-3 * f64::from(count.get());
            Ok(())
        });
    let mut integrator = Integrator::new(&fickle).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[1.0, 0.0]), 0.6)
        .unwrap();
    assert!(
        matches!(
            d.verdict(),
            Verdict::NotGuaranteed(NoDerivative::NotRepeatable { .. })
        ),
        "{}",
        d.verdict()
    );
    assert!(matches!(
        d.apply(&[1.0, 0.0]),
        Err(NoDerivative::NotRepeatable { .. })
    ));
}

#[test]
fn bad_input_is_refused() {
    let walls = walls();
    let mut integrator = Integrator::new(&walls).unwrap();
    assert!(
        integrator
            .derivative(&Start::at(0.0).x(&[0.0]), 1.0)
            .is_err()
    );
    assert!(
        integrator
            .derivative(&Start::at(1.0).x(&[0.0; 3]), 0.0)
            .is_err()
    );
    let d = integrator
        .derivative(&Start::at(0.0).x(&[0.0; 3]), 0.5)
        .unwrap();
    assert!(matches!(
        d.apply(&[1.0]),
        Err(NoDerivative::Input(InputError::WrongLength {
            name: "v",
            expected: 3,
            found: 1
        }))
    ));
    assert!(matches!(
        d.apply(&[1.0, f64::NAN, 0.0]),
        Err(NoDerivative::Input(InputError::NotFinite {
            name: "v",
            entry: 1,
            ..
        }))
    ));
    assert!(matches!(
        d.vjp(&[1.0]),
        Err(NoDerivative::Input(InputError::WrongLength {
            name: "w",
            ..
        }))
    ));
    assert!(matches!(
        d.event_time_shift(0, &[1.0, 0.0, 0.0]),
        Err(NoDerivative::Input(InputError::NoSuch {
            what: "crossing",
            index: 0,
            count: 0
        }))
    ));
    assert!(matches!(
        d.pieces_at(0),
        Err(NoDerivative::Input(InputError::NoSuch {
            what: "corner",
            ..
        }))
    ));
    assert_eq!(d.pieces().unwrap().len(), 1);
    let narrow = DMatrix::identity(2, 1);
    assert!(matches!(
        integrator.derivative_along(&Start::at(0.0).x(&[0.0; 3]), 0.5, &narrow),
        Err(NoDerivative::Input(InputError::WrongLength { .. }))
    ));
}

#[test]
fn a_derivative_that_is_not_finite_says_where() {
    struct Bad;
    impl saltation::Flow for Bad {
        fn dim(&self) -> usize {
            1
        }
        fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
            dx[0] = -x[0];
        }
        fn jacobian_times(
            &self,
            t: f64,
            _x: &[f64],
            _mode: &Mode,
            v: &[f64],
            out: &mut [f64],
        ) -> bool {
            out[0] = if t > 0.5 { f64::NAN } else { -v[0] };
            true
        }
    }
    impl saltation::EventFunction for Bad {
        fn count(&self) -> usize {
            0
        }
        fn event(&self, _k: usize, _t: f64, _x: &[f64], _mode: &Mode) -> f64 {
            0.0
        }
    }
    let mut integrator = Integrator::new(Bad).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[1.0]), 1.0)
        .unwrap();
    assert_eq!(*d.run().status(), Status::ReachedEnd);
    assert!(matches!(
        d.apply(&[1.0]),
        Err(NoDerivative::Stop(Stop::NotFinite { .. }))
    ));
}

#[test]
fn touch_downs_within_the_corner_tolerance_are_a_corner_like_any_other() {
    use saltation::models::{PlateParameters, VerticalPlate};
    let at_once = |shared_damping: bool, tilt: f64, tolerance: f64| {
        let parameters = PlateParameters {
            shared_damping,
            ..PlateParameters::with_springs(2)
        };
        let mut integrator = Integrator::new(VerticalPlate::new(parameters).unwrap())
            .unwrap()
            .rtol(1e-10)
            .atol(1e-12)
            .corner_tolerance(tolerance);
        let d = integrator
            .derivative(&Start::at(0.0).x(&[0.0, 2.2, tilt, 0.0, 0.0, 0.0]), 0.6)
            .unwrap();
        (
            d.verdict().clone(),
            d.apply(&[0.0, 0.0, 1.0, 0.0, 0.0, 0.0]).unwrap(),
        )
    };
    for (shared, verdict) in [(false, Verdict::Classical), (true, Verdict::Bouligand)] {
        let (_, exact) = at_once(shared, 0.0, 1e-9);
        // Both touch down within 0.41 s per radian of tilt; opening again they are one at this
        // tolerance too.
        for (gap, tolerance) in [
            (1e-12, 1e-9),
            (1e-11, 1e-9),
            (1e-10, 1e-9),
            (1e-7, 1e-6),
            (5e-7, 1e-6),
        ] {
            let (found, along) = at_once(shared, gap * 4.852 / 2.0, tolerance);
            assert_eq!(found, verdict, "{gap} {tolerance}");
            assert!((along - &exact).amax() < 1e-7 + 1e3 * gap, "{gap}");
        }
    }
}
