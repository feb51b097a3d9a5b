//! Rods that slide on their ends near the critical coefficient of friction (Painlevé): they lift off, whatever the
//! tolerance, or jam.

use saltation::event_driven::Breakdown;
use saltation::mechanics::Painleve;
use saltation::models::SlidingRod;
use saltation::{ContactModel, EventDriven, Run, Start, Status};

/// From an angle, with the end sliding at `speed` and turning at `spin`.
fn slides(friction: f64, [theta, speed, spin]: [f64; 3], rtol: f64, painleve: Painleve) -> Run {
    let rod = SlidingRod {
        friction,
        ..SlidingRod::default()
    };
    let (sine, cosine) = theta.sin_cos();
    let q = [0.0, sine, theta];
    let v = [speed - sine * spin, cosine * spin, spin];
    let model = ContactModel::new(rod).painleve(painleve);
    let mut driver = EventDriven::new(model).unwrap().rtol(rtol);
    driver.integrate(&Start::at(0.0).q(&q).v(&v), 0.3).unwrap()
}

/// The force falls through zero, so that the contact opens: rounding behind the event asks for no choice
/// among motions.
#[test]
fn rods_lift_off_at_any_tolerance() {
    for (friction, theta, spin) in [
        (1.5, 0.55, 2.0),
        (1.4, 0.55, 2.0),
        (1.5, 0.6, 2.0),
        (1.5, 0.6, 2.5),
        (1.2, 0.6, 2.5),
        (1.5, 0.5, 3.0),
    ] {
        let run = |rtol| slides(friction, [theta, -9.0, spin], rtol, Painleve::Error);
        let exact = run(1e-11);
        let lifts = exact.events()[0].t;
        for exponent in 4..11 {
            let rtol = 10f64.powi(-exponent);
            let run = run(rtol);
            assert_eq!(
                *run.status(),
                Status::ReachedEnd,
                "{friction} {theta} {spin} {rtol}"
            );
            let last = run.modes().last().unwrap();
            assert!(
                last.mode.flags().next().is_none(),
                "{friction} {theta} {spin} {rtol}"
            );
            assert!(
                (run.events()[0].t - lifts).abs() < 0.1 * rtol.sqrt(),
                "{friction} {theta} {spin} {rtol}: {} {lifts}",
                run.events()[0].t
            );
        }
    }
}

/// About the point where neither force nor acceleration without it are left, a rod lifts off, or its force grows
/// until steps are too short: then the reason is named.
#[test]
fn a_rod_that_slides_to_where_no_force_holds_it_lifts_off_or_jams() {
    let mut jams = 0;
    for painleve in [Painleve::Error, Painleve::Impact] {
        for theta in [0.4, 0.5] {
            for exponent in 5..11 {
                let run = slides(2.0, [theta, -8.0, 2.0], 10f64.powi(-exponent), painleve);
                let Status::Refused(stop) = run.status() else {
                    assert_eq!(run.events()[0].released, [0]);
                    continue;
                };
                let jam = stop.downcast();
                let is_jam = matches!(jam, Some(Breakdown::Jam { contact: 0, .. }));
                assert!(is_jam, "{painleve:?} {theta} {exponent}: {stop}");
                let critical = SlidingRod::default().critical_friction(run.state()[2]);
                assert!((critical - 2.0).abs() < 1e-3, "{critical}");
                jams += 1;
            }
        }
    }
    assert!(jams > 0);
}

/// A rod that slides to a stop in the direction in which friction lets it: the stop is off to the other
/// side by what the steps leave, where no mode would be consistent, and it sticks all the same.
#[test]
fn a_slip_that_comes_to_rest_sticks_where_the_other_side_has_no_mode() {
    let mut stops = 0;
    for case in 0..60_u32 {
        let part = |of: u32| f64::from(case * of % 61) / 61.0;
        let (friction, theta) = (1.5 + 1.5 * part(7), 0.5 + 0.7 * part(11));
        let (speed, spin) = (0.1 + part(17), 4.0 * part(23) - 2.0);
        for rtol in [1e-6, 1e-8, 1e-10] {
            let run = slides(friction, [theta, speed, spin], rtol, Painleve::Error);
            let Some(event) = run.events().iter().find(|event| event.t > 0.0) else {
                continue;
            };
            assert_eq!(*run.status(), Status::ReachedEnd, "{case} {rtol}");
            stops += usize::from(event.stuck == [0]);
        }
    }
    assert!(stops > 60, "{stops}");
}
