//! The compass biped on feet with friction: its gait, and the friction it uses, against the reference.

#[path = "../../examples/walking/biped.rs"]
#[allow(dead_code, reason = "the example uses all of it")]
mod biped;

use biped::{Biped, Stance, Step};
use saltation::ContactModel;
use saltation::impact::Contacting;
use saltation::mechanics::check_mechanics;

use crate::stick_slip::value;

fn of(quantity: &str) -> f64 {
    value("compass_foot_friction", quantity, "", "")
}

fn close(found: f64, expected: f64, tolerance: f64, of: &str) {
    let off = found - expected;
    assert!(off.abs() <= tolerance, "{of}: {found} {expected} {off:e}");
}

fn fixed_point() -> Stance {
    let angle = of("stance_angle");
    Stance {
        angles: [angle, -angle],
        rates: [of("stance_rate"), of("swing_rate")],
        slip: 0.0,
    }
}

#[test]
fn a_compass_walks_and_uses_friction_as_the_reference_says() {
    let walker = Biped {
        slope: 3.0_f64.to_radians(),
        friction: 0.3,
    };
    let (q, v) = Biped::start(fixed_point());
    let report = check_mechanics(&walker, 0.0, &[q[0], q[1], 0.3, 0.1], &v).unwrap();
    assert!(report.agrees(1e-7), "{report}");
    let step = walker.step(fixed_point(), 1e-12).unwrap();
    let Step {
        run,
        touchdown,
        next,
    } = step.unwrap();
    close(touchdown.t, of("step_time"), 1e-9, "step time");
    let impulses: Vec<f64> = touchdown.impulses.clone();
    // Contacts 0 and 1: the foot behind leaves without an impulse.
    let m = touchdown.contacts.len();
    let place = touchdown.contacts.iter().position(|&j| j == 1).unwrap();
    let [normal, along] = [impulses[place], impulses[m + place]];
    close(normal, of("Lambda_n"), 1e-7, "normal impulse");
    close(along, of("Lambda_t"), 1e-7, "tangential impulse");
    close(along / normal, of("impulse_ratio"), 1e-8, "impulse ratio");
    // The gait is periodic.
    let first = fixed_point();
    for k in 0..2 {
        close(next.angles[k], first.angles[k], 1e-8, "angle");
        close(next.rates[k], first.rates[k], 1e-7, "rate");
    }
    let x = touchdown.state_before.as_slice();
    let length = x[0] + x[3].sin() - (x[0] + x[2].sin());
    close(length, of("step_length"), 1e-8, "step length");
    // The friction that is used: signed, forward positive.
    let model = ContactModel::new(walker);
    let forces = |t: f64| {
        let state = run.state_at(t).unwrap();
        let forces = model.multipliers(t, state.as_slice(), run.mode_at(t).unwrap());
        (forces.values()[0], forces.friction(0)[0])
    };
    let ratio = |t: f64| forces(t).1 / forces(t).0;
    close(ratio(0.0), of("ratio_start"), 1e-8, "ratio after touchdown");
    let end = touchdown.t * (1.0 - 1e-13);
    close(ratio(end), of("ratio_end"), 1e-7, "ratio before touchdown");
    for level in ["0.2", "0.25"] {
        let t = value("compass_foot_friction", "t_ratio_reaches", level, "");
        close(
            ratio(t),
            level.parse().unwrap(),
            1e-7,
            "ratio on the way up",
        );
    }
    let times = (0..=2000).map(|k| end * f64::from(k) / 2000.0);
    let (least, largest) = times.fold((f64::INFINITY, 0.0f64), |(least, largest), t| {
        (least.min(forces(t).0), largest.max(ratio(t).abs()))
    });
    close(least, of("normal_force_min"), 1e-2, "least normal force");
    assert!(largest <= of("ratio_start").abs() + 1e-9);
    let used = model.multipliers(0.0, &[q, v].concat(), run.mode_at(0.0).unwrap());
    close(
        used.used_friction(0).unwrap(),
        of("ratio_start").abs(),
        1e-8,
        "used friction",
    );
    assert_eq!(used.used_friction(1), None);
}

/// With less friction than the gait uses the foot slips after touchdown, comes to rest, and the walker
/// goes on; the slip is where the reference says that the ratio is largest.
#[test]
fn with_less_friction_than_it_uses_its_foot_slips() {
    let slippery = Biped {
        slope: 3.0_f64.to_radians(),
        friction: 0.26,
    };
    let step = slippery.step(fixed_point(), 1e-11).unwrap().unwrap();
    let model = ContactModel::new(slippery);
    let first = step.run.mode_at(1e-6).unwrap();
    assert_ne!(model.contacting(first, 0), Contacting::Stick);
    let stops = step.run.events().iter().find(|event| event.stuck == [0]);
    assert!(
        stops.is_some_and(|event| event.t < 0.1),
        "{:?}",
        step.run.events()
    );
    assert!((step.touchdown.t - of("step_time")).abs() < 0.02);
}
