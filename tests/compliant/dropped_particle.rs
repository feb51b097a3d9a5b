//! A particle falls on a plane: depths and rebounds of the schemes (spec 10.2).

use saltation::compliant::{Scheme, StepFriction};
use saltation::models::Particle;
use saltation::{Compliant, Start};

const DT: f64 = 0.01;

/// A column of the table: stiffness, dissipation time, and for the Euler schemes and midpoint the
/// deepest and the highest gap after the impact (m), where it rebounds.
type Column = (f64, f64, [(f64, Option<f64>); 2]);

const TABLE: [Column; 4] = [
    (1e4, 0.02, [(9.8e-4, None), (1.6e-3, None)]),
    (1e4, 0.0, [(5.4e-3, Some(2.5e-4)), (9.8e-3, Some(1.3e-2))]),
    (1e12, 0.01, [(2.9e-5, None), (1.0e-3, Some(1.8e-5))]),
    (1e12, 0.0, [(1.0e-4, None), (4.5e-3, Some(6.9e-3))]),
];

struct Fall {
    deepest: f64,
    highest: f64,
    end: f64,
    /// `R_n (dt + τ) m g dt`.
    static_depth: f64,
}

fn fall(scheme: Scheme, (stiffness, dissipation_time, _): Column) -> Fall {
    let particle = Particle {
        stiffness,
        dissipation_time,
        ..Particle::default()
    };
    let stepper = Compliant::new(particle)
        .expect("a system")
        .friction(StepFriction::Cone);
    let mut stepper = stepper.time_step(DT).scheme(scheme);
    let run = stepper.integrate(&Start::at(0.0).q(&[0.0, 0.0, 0.05]).v(&[0.0; 3]), 1.5);
    let run = run.expect("input").completed().expect("completed");
    let gaps: Vec<f64> = (0..run.times().len()).map(|k| run.q(k)[2]).collect();
    let impact = gaps.iter().position(|gap| *gap < 0.0).expect("an impact");
    let after = &gaps[impact..];
    let normal = stepper.problem().law(0).expect("a contact").normal;
    Fall {
        deepest: after.iter().fold(0.0, |d, gap| gap.min(d)).abs(),
        highest: after.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        end: run.state()[2],
        static_depth: normal * (DT + dissipation_time) * particle.load() * DT,
    }
}

/// To two digits.
fn rounds_to(found: f64, value: f64) -> bool {
    format!("{found:.1e}") == format!("{value:.1e}")
}

#[test]
fn depths_and_rebounds_are_those_of_the_table() {
    for column in TABLE {
        let schemes = [
            (Scheme::SymplecticEuler, 0),
            (Scheme::ImplicitEuler, 0),
            (Scheme::Midpoint, 1),
        ];
        for (scheme, place) in schemes {
            let (deepest, highest) = column.2[place];
            let fall = fall(scheme, column);
            let what = format!(
                "{scheme:?} {column:?}: {:e} {:e}",
                fall.deepest, fall.highest
            );
            assert!(rounds_to(fall.deepest, deepest), "{what}");
            match highest {
                Some(highest) => assert!(rounds_to(fall.highest, highest), "{what}"),
                None => assert!(fall.highest < 0.0, "{what}"),
            }
        }
    }
}

/// At rest the gap is `−R_n (dt + τ) m g dt`.
#[test]
fn the_particle_comes_to_rest_at_the_static_depth() {
    for column in TABLE {
        for scheme in [
            Scheme::SymplecticEuler,
            Scheme::ImplicitEuler,
            Scheme::Midpoint,
        ] {
            let fall = fall(scheme, column);
            let off = fall.end / -fall.static_depth - 1.0;
            assert!(off.abs() < 1e-6, "{scheme:?} {column:?}: {off:e}");
        }
    }
}
