//! Closed contacts: rest, sliding, sticking, release.

use saltation::models::SlidingBlock;
use saltation::variational::{Failure, Variational};
use saltation::{InputError, mechanics};

fn slid(
    block: SlidingBlock,
    h: f64,
    v: [f64; 2],
    tf: f64,
) -> saltation::variational::VariationalRun {
    let mut driver = Variational::new(block)
        .unwrap()
        .step(h)
        .frictionless_impacts();
    driver
        .integrate(0.0, &[0.0; 2], &v, tf)
        .unwrap()
        .completed()
        .unwrap()
}

#[test]
fn a_sliding_block_loses_speed_by_friction_and_stops() {
    // Rest at v²/(2 μ g) = 0.679578661
    for h in [0.01, 0.005, 0.0025] {
        let run = slid(SlidingBlock::default(), h, [2.0, 0.0], 1.0);
        for (k, &t) in run.times().iter().enumerate() {
            let speed = 2.0 - 0.3 * 9.81 * t;
            if speed > 0.0 {
                assert!((run.v(k)[0] - speed).abs() < 1e-13, "{t}");
            } else {
                assert_eq!(run.v(k)[0], 0.0);
            }
            assert!(run.q(k)[1].abs() < 1e-16);
        }
        assert!(
            (run.state()[0] - 0.679578661).abs() < 1e-4,
            "{h} {}",
            run.state()[0] - 0.679578661
        );
    }
}

#[test]
fn a_block_on_a_slope_sticks_up_to_the_angle_of_friction() {
    for (part, sticks) in [
        (0.1, true),
        (0.6, true),
        (0.999, true),
        (1.001, false),
        (2.0, false),
    ] {
        let friction = 0.4;
        let slope = f64::atan(part * friction);
        let block = SlidingBlock {
            slope,
            friction,
            ..SlidingBlock::default()
        };
        let run = slid(block, 0.01, [0.0; 2], 1.0);
        let (sin, cos) = slope.sin_cos();
        let expected = if sticks {
            0.0
        } else {
            -9.81 * (sin - friction * cos)
        };
        assert!(
            (run.state()[2] - expected).abs() < 1e-12,
            "{part} {:?}",
            run.state()
        );
        assert!((run.state()[0] - 0.5 * expected).abs() < 1e-12, "{part}");
    }
}

/// A block on a table that shakes, by the inertial force on it; leaves where the table falls faster
/// than it.
struct Shaken {
    amplitude: f64,
}

impl mechanics::MechanicalSystem for Shaken {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 2.0;
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = 2.0 * (-9.81 - self.amplitude * (3.0 * t).sin());
    }
}

impl mechanics::UnilateralConstraints for Shaken {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[0]
    }
}

#[test]
fn a_contact_opens_when_it_would_pull() {
    let mut driver = Variational::new(Shaken { amplitude: 9.0 })
        .unwrap()
        .step(0.001);
    let run = driver
        .integrate(0.0, &[0.0], &[0.0], 2.0)
        .unwrap()
        .completed()
        .unwrap();
    assert!(run.events().is_empty() && run.state()[0].abs() < 1e-13);

    // −9.81 − 20 sin 3t > 0 from 3t = π + asin(0.4905)
    let mut driver = Variational::new(Shaken { amplitude: 20.0 })
        .unwrap()
        .step(0.001);
    let run = driver
        .integrate(0.0, &[0.0], &[0.0], 1.5)
        .unwrap()
        .completed()
        .unwrap();
    let opens = (std::f64::consts::PI + f64::asin(0.4905)) / 3.0;
    let release = &run.events()[0];
    assert_eq!(
        (&release.released[..], release.mode_after.len()),
        (&[0][..], 0)
    );
    assert!((release.t - opens).abs() < 0.01, "{} {opens}", release.t);
    assert!(run.state()[0] > 0.01);
}

#[test]
fn friction_that_nothing_honours_is_refused() {
    let mut driver = Variational::new(SlidingBlock::default()).unwrap();
    let failure = driver
        .integrate(0.0, &[0.0; 2], &[1.0, 0.0], 1.0)
        .unwrap_err();
    let ignored = matches!(
        failure,
        Failure::Input(InputError::FrictionIgnored { contact: 0, .. })
    );
    assert!(ignored, "{failure}");
    let mut driver = Variational::new(SlidingBlock::default())
        .unwrap()
        .frictionless();
    let run = driver
        .integrate(0.0, &[0.0; 2], &[1.0, 0.0], 1.0)
        .unwrap()
        .completed()
        .unwrap();
    assert!((run.state()[0] - 1.0).abs() < 1e-13);
    let law = saltation::impact::Routh::new();
    let mut driver = Variational::with_law(SlidingBlock::default(), law)
        .unwrap()
        .step(0.01);
    let run = driver
        .integrate(0.0, &[0.0, 0.2], &[2.0, -1.0], 1.5)
        .unwrap()
        .completed()
        .unwrap();
    assert_eq!(run.state()[2], 0.0);
}

#[test]
fn bad_starts_are_refused() {
    let mut driver = Variational::new(SlidingBlock::default())
        .unwrap()
        .frictionless();
    let failure = driver
        .integrate(0.0, &[0.0, -0.1], &[0.0; 2], 1.0)
        .unwrap_err();
    assert!(
        matches!(failure, Failure::Penetrates { contact: 0, .. }),
        "{failure}"
    );
    for (q, v, tf) in [
        (&[0.0][..], &[0.0; 2][..], 1.0),
        (&[0.0; 2], &[0.0; 3], 1.0),
        (&[0.0, f64::NAN], &[0.0; 2], 1.0),
        (&[0.0; 2], &[0.0; 2], f64::NAN),
        (&[0.0; 2], &[0.0; 2], -1.0),
    ] {
        let failure = driver.integrate(0.0, q, v, tf).unwrap_err();
        assert!(matches!(failure, Failure::Input(_)), "{failure}");
    }
    for step in [0.0, -1.0, f64::NAN, 1e-12] {
        let mut driver = Variational::new(SlidingBlock::default())
            .unwrap()
            .frictionless()
            .step(step);
        let failure = driver
            .integrate(0.0, &[0.0; 2], &[0.0; 2], 1.0)
            .unwrap_err();
        assert!(
            matches!(failure, Failure::Input(InputError::BadSetting { .. })),
            "{failure}"
        );
    }
}
