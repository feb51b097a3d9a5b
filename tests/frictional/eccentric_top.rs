//! An eccentric top in space, whose contact slips, turns and comes to roll, against what friction cannot
//! change: Jellett's integral, and the energy of rolling.

#[path = "../../examples/tippe_top/top.rs"]
mod top;

use saltation::mechanics::check_mechanics;
use saltation::{ContactModel, EventDriven, Start, Verdict};
use top::EccentricTop;

use crate::random_bits::SplitMix64;

#[test]
fn a_top_keeps_jelletts_integral_while_it_slips_and_its_energy_when_it_rolls() {
    for (friction, tilt, spin) in [(0.3, 0.1, 155.0), (0.1, 0.5, 155.0), (0.05, 1.2, 60.0)] {
        let top = EccentricTop {
            friction,
            ..EccentricTop::default()
        };
        let (q, v) = top.start(tilt, spin);
        let turning = [0.1, 0.2, 0.0, 30.0, -20.0, 100.0];
        let report = check_mechanics(&top, 0.0, &q, &turning).unwrap();
        assert!(report.agrees(1e-6), "{report}");
        let model = ContactModel::new(top);
        let mut driver = EventDriven::new(model.clone())
            .unwrap()
            .rtol(1e-9)
            .atol(1e-11);
        let start = Start::at(0.0).q(&q).v(&v);
        let run = driver.integrate(&start, 1.5).unwrap();
        let run = run.completed().unwrap();
        let first = top.jellett(run.states().column(0).as_slice());
        let rolls = run.events().first().map_or(f64::INFINITY, |event| {
            assert_eq!(event.stuck, [0]);
            event.t
        });
        assert!(run.events().len() < 2 && (rolls < 1.0 || friction < 0.1));
        let rolling = model.energy(run.state().as_slice()).unwrap();
        let mut energy = f64::INFINITY;
        for (t, state) in run.times().iter().zip(run.states().column_iter()) {
            let off = top.jellett(state.as_slice()) / first - 1.0;
            assert!(off.abs() < 1e-8, "{t}: {off:e}");
            let now = model.energy(state.as_slice()).unwrap();
            assert!(now <= energy * (1.0 + 1e-9), "{t}: {now} {energy}");
            energy = now;
            if *t > rolls {
                assert!((now / rolling - 1.0).abs() < 1e-8, "{t}: {now} {rolling}");
                assert!(top.slip(state.as_slice()) < 1e-10, "{t}");
            }
        }
    }
}

/// Where friction ends with the slip a top turns upside down (Cohen; Or). Jellett's integral is
/// `C ω R (1 − ε)` of an upright one and `C ω R (1 + ε)` of one upside down.
#[test]
fn a_lubricated_top_turns_upside_down() {
    let top = EccentricTop {
        creep: Some(0.05),
        ..EccentricTop::default()
    };
    let (q, v) = top.start(5f64.to_radians(), 155.0);
    let model = ContactModel::new(top);
    let driver = EventDriven::new(model.clone()).unwrap();
    let start = Start::at(0.0).q(&q).v(&v);
    let run = driver.rtol(1e-8).atol(1e-10).integrate(&start, 2.5);
    let run = run.unwrap().completed().unwrap();
    let end = run.state().as_slice();
    let tilt = EccentricTop::tilt(end).to_degrees();
    assert!(tilt > 175.0, "{tilt}");
    let states = run.states();
    let off = top.jellett(end) / top.jellett(states.column(0).as_slice()) - 1.0;
    assert!(off.abs() < 1e-8, "{off:e}");
    // To the cosines of both tilts.
    let spin = 155.0 * (1.0 - top.offset) / (1.0 + top.offset);
    assert!((end[11] / spin - 1.0).abs() < 0.01, "{} {spin}", end[11]);
    let energies = states.column_iter();
    let energies = energies.map(|state| model.energy(state.as_slice()).unwrap());
    let is_falling = |pair: &[f64]| pair[1] <= pair[0] * (1.0 + 1e-8);
    assert!(energies.collect::<Vec<f64>>().windows(2).all(is_falling));
}

/// A top that is let go lying rolls, slips and rolls again. With the tolerances of rates that small bodies ask for
/// slips fell through zero as they began, by the rounding of where the cone was left, and began again; or the run ended.
#[test]
fn slips_begin_whatever_the_tolerance_of_rates() {
    let mut random = SplitMix64(5);
    let mut begun = 0;
    for case in 0..if cfg!(debug_assertions) { 9 } else { 200 } {
        let top = EccentricTop {
            friction: random.between(0.05, 0.3),
            ..EccentricTop::default()
        };
        let (q, _) = top.start(random.between(0.5, 2.5), 0.0);
        let v: [f64; 6] = std::array::from_fn(|i| match i {
            0..3 => 0.0,
            _ => random.between(-20.0, 20.0),
        });
        let end = |tolerance: f64| {
            let model = ContactModel::new(top).rate_tolerance(tolerance);
            let driver = EventDriven::new(model).unwrap();
            let start = Start::at(0.0).q(&q).v(&v);
            let run = driver.rtol(1e-9).atol(1e-12).integrate(&start, 0.6);
            let run = run.unwrap().completed().unwrap();
            let slips = run.events().iter().filter(|e| !e.slipped.is_empty());
            (run.state().clone_owned(), slips.count())
        };
        let (usual, slips) = end(1e-8);
        begun += slips;
        for tolerance in [1e-10, 1e-11] {
            let (found, times) = end(tolerance);
            let off = (found - &usual).amax();
            assert!(off < 1e-5, "{case} {tolerance:e}: {off:e}");
            assert_eq!(times, slips, "{case} {tolerance:e}");
        }
    }
    assert!(begun > 3, "{begun}");
}

/// A top that lands spinning and comes to roll: near the stop of its slip forces turn with its direction, so that
/// differences find no row of them, and are far from zero.
#[test]
fn the_derivative_of_a_top_that_lands_and_rolls_is_that_of_its_runs() {
    let mut random = SplitMix64(8);
    for case in 0..12 {
        let top = EccentricTop {
            friction: random.between(0.1, 0.5),
            ..EccentricTop::default()
        };
        let (mut q, _) = top.start(random.between(0.3, 2.5), 0.0);
        q[2] += 0.002;
        let v: [f64; 6] = std::array::from_fn(|i| match i {
            2 => 0.0,
            0..3 => random.between(-0.05, 0.05),
            _ => random.between(-10.0, 10.0),
        });
        if case != 11 {
            continue;
        }
        let driver = EventDriven::new(ContactModel::new(top)).unwrap();
        let mut driver = driver.rtol(1e-10).atol(1e-13);
        let derivative = driver.derivative(&Start::at(0.0).q(&q).v(&v), 0.3).unwrap();
        assert_eq!(*derivative.verdict(), Verdict::Classical, "{case}");
        let along = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.3, -0.2, 0.1, 5.0, -3.0, 8.0];
        let found = derivative.apply(&along).unwrap();
        let mut end = |by: f64| {
            let v: [f64; 6] = std::array::from_fn(|i| v[i] + by * along[6 + i]);
            let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), 0.3).unwrap();
            run.completed().unwrap().state().clone_owned()
        };
        let expected = (end(1e-4) - end(-1e-4)) / 2e-4;
        let off = (&found - &expected).amax() / expected.amax();
        assert!(off < 1e-5, "{case}: {off:e}");
    }
}
