//! Closed contacts: rest, sliding, sticking, release.

use saltation::impact::Unilateral;
use saltation::models::SlidingBlock;
use saltation::{ContactModel, InputError, Run, Start, Variational, mechanics};

fn slid(block: SlidingBlock, h: f64, v: [f64; 2], tf: f64) -> Run {
    let mut driver = Variational::new(ContactModel::new(block))
        .unwrap()
        .time_step(h)
        .frictionless_impacts();
    driver
        .integrate(&Start::at(0.0).q(&[0.0; 2]).v(&v), tf)
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
            (run.state()[0] - 0.679578661).abs() < 3e-7,
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
    let mut driver = Variational::new(ContactModel::new(Shaken { amplitude: 9.0 }))
        .unwrap()
        .time_step(0.001);
    let run = driver
        .integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 2.0)
        .unwrap()
        .completed()
        .unwrap();
    assert!(run.events().is_empty() && run.state()[0].abs() < 1e-13);

    // −9.81 − 20 sin 3t > 0 from 3t = π + asin(0.4905)
    let mut driver = Variational::new(ContactModel::new(Shaken { amplitude: 20.0 }))
        .unwrap()
        .time_step(0.001);
    let run = driver
        .integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 1.5)
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
    let unilateral = ContactModel::with_law(SlidingBlock::default(), Unilateral);
    let mut driver = Variational::new(unilateral).unwrap();
    let failure = driver
        .integrate(&Start::at(0.0).q(&[0.0; 2]).v(&[1.0, 0.0]), 1.0)
        .unwrap_err();
    let ignored = matches!(failure, InputError::FrictionIgnored { contact: 0, .. });
    assert!(ignored, "{failure}");
    let mut driver =
        Variational::new(ContactModel::new(SlidingBlock::default()).frictionless()).unwrap();
    let run = driver
        .integrate(&Start::at(0.0).q(&[0.0; 2]).v(&[1.0, 0.0]), 1.0)
        .unwrap()
        .completed()
        .unwrap();
    assert!((run.state()[0] - 1.0).abs() < 1e-13);
    let law = saltation::impact::Routh::new();
    let mut driver = Variational::new(ContactModel::with_law(SlidingBlock::default(), law))
        .unwrap()
        .time_step(0.01);
    let run = driver
        .integrate(&Start::at(0.0).q(&[0.0, 0.2]).v(&[2.0, -1.0]), 1.5)
        .unwrap()
        .completed()
        .unwrap();
    assert_eq!(run.state()[2], 0.0);
}

/// A ball on a rough floor that has no tangents.
struct NoTangents;

impl mechanics::MechanicalSystem for NoTangents {
    fn dof(&self) -> usize {
        1
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass[0] = 1.0;
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[0] = -9.81;
    }
}

impl mechanics::UnilateralConstraints for NoTangents {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[0]
    }
    fn friction(&self, _j: usize) -> f64 {
        0.5
    }
}

#[test]
fn friction_without_tangents_is_refused() {
    let run = |model| {
        let mut driver = Variational::new(model).unwrap().frictionless_impacts();
        driver.integrate(&Start::at(0.0).q(&[0.0]).v(&[0.0]), 1.0)
    };
    let failure = run(ContactModel::new(NoTangents)).unwrap_err();
    let refused = matches!(failure, InputError::Tangents { contact: 0, .. });
    assert!(refused, "{failure}");
    let run = run(ContactModel::new(NoTangents).frictionless());
    assert!(run.unwrap().completed().is_ok());
}

/// 0.1 + 0.2 is three steps of 0.1, and not a fourth of no length.
#[test]
fn an_end_within_rounding_of_a_step_is_its_end() {
    let mut driver = Variational::new(ContactModel::new(SlidingBlock::default()).frictionless())
        .unwrap()
        .time_step(0.1);
    let run = driver.integrate(&Start::at(0.0).q(&[0.0, 1.0]).v(&[0.0; 2]), 0.1 + 0.2);
    assert_eq!(run.unwrap().times(), [0.0, 0.1, 0.2, 0.1 + 0.2]);
}

#[test]
fn restitution_that_the_law_ignores_is_refused() {
    let block = SlidingBlock {
        restitution: 0.5,
        ..SlidingBlock::default()
    };
    let law = saltation::impact::Routh::new();
    let mut driver = Variational::new(ContactModel::with_law(block, law)).unwrap();
    let refused = driver
        .integrate(&Start::at(0.0).q(&[0.0, 0.1]).v(&[1.0, 0.0]), 1.0)
        .unwrap_err();
    let ignored = |error: &InputError| {
        matches!(
            error,
            InputError::RestitutionIgnored {
                contact: 0,
                restitution: 0.5,
                ..
            }
        )
    };
    assert!(ignored(&refused), "{refused}");
    let model = ContactModel::with_law(block, law);
    let mut simulation = saltation::event_driven::EventDriven::new(model).unwrap();
    let error = simulation
        .integrate(&Start::at(0.0).q(&[0.0, 0.1]).v(&[1.0, 0.0]), 1.0)
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("restitution 0.5, which Routh does not know"),
        "{text}"
    );
}

#[test]
fn bad_starts_are_refused() {
    let mut driver =
        Variational::new(ContactModel::new(SlidingBlock::default()).frictionless()).unwrap();
    let failure = driver
        .integrate(&Start::at(0.0).q(&[0.0, -0.1]).v(&[0.0; 2]), 1.0)
        .unwrap_err();
    assert!(
        matches!(failure, InputError::NegativeGap { contact: 0, .. }),
        "{failure}"
    );
    for (q, v, tf) in [
        (&[0.0][..], &[0.0; 2][..], 1.0),
        (&[0.0; 2], &[0.0; 3], 1.0),
        (&[0.0, f64::NAN], &[0.0; 2], 1.0),
        (&[0.0; 2], &[0.0; 2], f64::NAN),
        (&[0.0; 2], &[0.0; 2], -1.0),
    ] {
        assert!(driver.integrate(&Start::at(0.0).q(q).v(v), tf).is_err());
    }
    for step in [0.0, -1.0, f64::NAN, 1e-12] {
        let mut driver =
            Variational::new(ContactModel::new(SlidingBlock::default()).frictionless())
                .unwrap()
                .time_step(step);
        let failure = driver
            .integrate(&Start::at(0.0).q(&[0.0; 2]).v(&[0.0; 2]), 1.0)
            .unwrap_err();
        assert!(
            matches!(failure, InputError::BadSetting { .. }),
            "{failure}"
        );
    }
}

/// A puck on a floor, in space.
#[derive(Clone, Copy)]
struct Puck {
    friction: f64,
    slope: [f64; 2],
}

impl mechanics::MechanicalSystem for Puck {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        for i in 0..3 {
            mass[4 * i] = 2.0;
        }
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[self.slope[0], self.slope[1], -2.0 * 9.81]);
    }
}

impl mechanics::UnilateralConstraints for Puck {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[2]
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        2
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    }
}

#[test]
fn the_cone_of_friction_is_round_in_space() {
    for k in 0..7 {
        let (sin, cos) = f64::from(k).sin_cos();
        let puck = Puck {
            friction: 0.2,
            slope: [0.0; 2],
        };
        let mut driver = Variational::new(ContactModel::new(puck))
            .unwrap()
            .time_step(0.01)
            .frictionless_impacts();
        let run = driver
            .integrate(&Start::at(0.0).q(&[0.0; 3]).v(&[cos, sin, 0.0]), 1.0)
            .unwrap();
        let run = run.completed().unwrap();
        for (k, &t) in run.times().iter().enumerate() {
            let speed = (1.0 - 0.2 * 9.81 * t).max(0.0);
            assert!((run.v(k)[0] - speed * cos).abs() < 1e-11, "{t}");
            assert!((run.v(k)[1] - speed * sin).abs() < 1e-11, "{t}");
        }
        // A push of less than the friction moves nothing, in any direction.
        for (part, sticks) in [(0.999, true), (1.001, false)] {
            let push = part * 0.2 * 2.0 * 9.81;
            let puck = Puck {
                friction: 0.2,
                slope: [push * cos, push * sin],
            };
            let mut driver = Variational::new(ContactModel::new(puck))
                .unwrap()
                .time_step(0.01)
                .frictionless_impacts();
            let run = driver
                .integrate(&Start::at(0.0).q(&[0.0; 3]).v(&[0.0; 3]), 1.0)
                .unwrap();
            let moved = run.completed().unwrap();
            let moved = moved.state()[0].hypot(moved.state()[1]);
            assert_eq!(moved < 1e-12, sticks, "{k} {part} {moved}");
        }
    }
}

/// A system whose contacts have tangents that are not written: rows of zeros.
struct Smooth<S>(S);

impl<S: mechanics::MechanicalSystem> mechanics::MechanicalSystem for Smooth<S> {
    fn dof(&self) -> usize {
        self.0.dof()
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.0.mass(q, mass);
    }
    fn constant_mass(&self) -> bool {
        self.0.constant_mass()
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.0.effort(t, q, v, effort);
    }
}

impl<S: mechanics::UnilateralConstraints> mechanics::UnilateralConstraints for Smooth<S> {
    fn contacts(&self) -> usize {
        self.0.contacts()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.0.gap(j, q)
    }
    fn friction(&self, _j: usize) -> f64 {
        0.0
    }
    fn tangents(&self, j: usize) -> usize {
        self.0.tangents(j)
    }
}

/// As the docs of `tangent_rows` say: on the floor, and landing on it.
#[test]
fn a_contact_whose_tangents_are_zeros_has_no_friction() {
    for height in [0.0, 0.2] {
        let puck = Smooth(Puck {
            friction: 0.3,
            slope: [0.6, -0.2],
        });
        let law = saltation::impact::AnitescuPotra::new();
        let mut driver = Variational::new(ContactModel::with_law(puck, law))
            .unwrap()
            .time_step(0.01);
        let run = driver.integrate(
            &Start::at(0.0).q(&[0.0, 0.0, height]).v(&[1.0, 0.5, 0.0]),
            0.5,
        );
        let run = run.unwrap().completed().unwrap();
        let found = run.state();
        let way = |v: f64, a: f64| v * 0.5 + 0.5 * a * 0.25;
        let expected = [way(1.0, 0.3), way(0.5, -0.1), 0.0, 1.15, 0.45, 0.0];
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
        assert_eq!(run.events().len(), usize::from(height > 0.0));

        let block = Smooth(SlidingBlock {
            friction: 0.3,
            ..SlidingBlock::default()
        });
        let law = saltation::impact::AnitescuPotra::new();
        let mut driver = Variational::new(ContactModel::with_law(block, law))
            .unwrap()
            .time_step(0.01);
        let run = driver.integrate(&Start::at(0.0).q(&[0.0, height]).v(&[1.0, 0.0]), 0.5);
        let run = run.unwrap().completed().unwrap();
        for (found, expected) in run.state().iter().zip([0.5, 0.0, 1.0, 0.0]) {
            assert!((found - expected).abs() < 1e-12, "{found} {expected}");
        }
    }
}

/// A ladder that leans: two contacts, one at the floor and one at the wall, with friction.
#[derive(Clone, Copy)]
struct Ladder {
    friction: f64,
}

impl mechanics::MechanicalSystem for Ladder {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 / 3.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, -9.81, 0.0]);
    }
}

impl mechanics::UnilateralConstraints for Ladder {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        // The foot is to the right, the wall at x = 0.
        if j == 0 {
            q[1] - q[2].sin()
        } else {
            q[0] - q[2].cos()
        }
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        if j == 0 {
            rows.copy_from_slice(&[1.0, 0.0, -q[2].sin()]);
        } else {
            rows.copy_from_slice(&[0.0, 1.0, q[2].cos()]);
        }
    }
}

#[test]
fn a_ladder_stands_above_the_angle_of_friction_and_falls_below() {
    // With friction μ at both ends it stands for tan θ ≥ (1 − μ²)/(2 μ).
    let friction: f64 = 0.4;
    let critical = ((1.0 - friction * friction) / (2.0 * friction)).atan();
    for (angle, stands) in [(critical + 0.02, true), (critical - 0.02, false)] {
        let q = [angle.cos(), angle.sin(), angle];
        let mut driver = Variational::new(ContactModel::new(Ladder { friction }))
            .unwrap()
            .time_step(0.002);
        driver = driver.frictionless_impacts();
        let run = driver
            .integrate(&Start::at(0.0).q(&q).v(&[0.0; 3]), 0.3)
            .unwrap()
            .completed()
            .unwrap();
        let turned = (run.state()[2] - angle).abs();
        assert_eq!(turned < 1e-9, stands, "{angle} {turned:e}");
        let ladder = Ladder { friction };
        for j in [0, 1] {
            let gap =
                mechanics::UnilateralConstraints::gap(&ladder, j, &run.state().as_slice()[..3]);
            assert!(gap > -1e-12);
        }
    }
}
