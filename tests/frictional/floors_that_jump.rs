//! Floors with stairs, kinks and holes under a contact that is closed: a run ends there, and does not lift the
//! body; floors that bend smoothly are followed.

use saltation::derivative::{NoDerivative, Verdict};
use saltation::event_driven::Breakdown;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints, check_mechanics};
use saltation::{ContactModel, EventDriven, Quantity, Run, Start, Status, Stop};

use crate::random_bits::SplitMix64;

/// The height of a floor and its slope, at a place.
type Shape<'a> = &'a dyn Fn(f64) -> (f64, f64);

/// One kilogram on a floor.
struct Slider<'a> {
    shape: Shape<'a>,
    friction: f64,
}

impl MechanicalSystem for Slider<'_> {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], m: &mut [f64]) {
        m.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], f: &mut [f64]) {
        f.copy_from_slice(&[0.0, -9.81]);
    }
}

impl UnilateralConstraints for Slider<'_> {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        let (height, slope) = (self.shape)(q[0]);
        (q[1] - height) / slope.hypot(1.0)
    }
    fn gap_row(&self, _j: usize, q: &[f64], row: &mut [f64]) -> bool {
        let (_, slope) = (self.shape)(q[0]);
        let length = slope.hypot(1.0);
        row.copy_from_slice(&[-slope / length, 1.0 / length]);
        true
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        usize::from(self.friction > 0.0)
    }
    fn tangent_rows(&self, _j: usize, q: &[f64], row: &mut [f64]) {
        let (_, slope) = (self.shape)(q[0]);
        let length = slope.hypot(1.0);
        row.copy_from_slice(&[1.0 / length, slope / length]);
    }
}

/// From `x = 0` on the floor, along it.
fn slides(shape: Shape<'_>, friction: f64, speed: f64, rtol: f64) -> Run {
    let (height, slope) = shape(0.0);
    let driver = EventDriven::new(ContactModel::new(Slider { shape, friction })).unwrap();
    let (q, v) = ([0.0, height], [speed, speed * slope]);
    let start = Start::at(0.0).q(&q).v(&v);
    let mut driver = driver.rtol(rtol).atol(1e-2 * rtol);
    driver.integrate(&start, 1.0).unwrap()
}

fn reason(run: &Run) -> Option<&Breakdown> {
    match run.status() {
        Status::Refused(stop) => stop.downcast(),
        _ => None,
    }
}

const EDGE: f64 = 0.5;

fn stair(by: f64) -> impl Fn(f64) -> (f64, f64) {
    move |x| (if x > EDGE { by } else { 0.0 }, 0.0)
}

#[test]
fn a_stair_ends_a_run() {
    for friction in [0.0, 0.5] {
        for rtol in [1e-4, 1e-6, 1e-9] {
            for by in [0.1, -0.1, 0.02] {
                let floor = stair(by);
                let run = slides(&floor, friction, 4.0, rtol);
                let Some(&Breakdown::GapJump { contact: 0, gap, t }) = reason(&run) else {
                    panic!("{friction} {rtol} {by}: {:?}", run.status());
                };
                assert!(gap.abs() <= 1.01 * f64::abs(by), "{gap}");
                // Within the step that passes it, and all is kept up to there.
                assert!(t > 0.0 && t <= run.t() && run.state()[0] > 0.0);
            }
        }
    }
}

#[test]
fn a_gap_that_is_no_number_ends_a_run() {
    let floor = |x: f64| (if x > EDGE { f64::NAN } else { 0.0 }, 0.0);
    for friction in [0.0, 0.5] {
        let run = slides(&floor, friction, 4.0, 1e-6);
        let Status::Refused(Stop::NotFinite { quantity, .. }) = run.status() else {
            panic!("{:?}", run.status());
        };
        assert_eq!(*quantity, Quantity::Gap { contact: 0 });
    }
}

#[test]
fn a_ramp_whose_row_does_not_know_it_ends_a_run() {
    // The floor falls from the edge on; normal and tangent stay as they are.
    let floor = |x: f64| (-0.2 * (x - EDGE).max(0.0), 0.0);
    for friction in [0.0, 0.5] {
        let run = slides(&floor, friction, 4.0, 1e-6);
        assert!(
            matches!(reason(&run), Some(Breakdown::GapJump { .. })),
            "{:?}",
            run.status()
        );
    }
}

#[test]
fn a_ramp_that_begins_under_a_contact_ends_a_run() {
    // Normal and tangent know the ramp, which is met with a blow, or flown off.
    for slope in [0.2, 0.01, -0.2] {
        let floor = move |x: f64| {
            let slope = if x > EDGE { slope } else { 0.0 };
            (slope * (x - EDGE).max(0.0), slope)
        };
        for friction in [0.0, 0.5] {
            for rtol in [1e-4, 1e-6, 1e-9] {
                let run = slides(&floor, friction, 4.0, rtol);
                let is_seen = matches!(
                    reason(&run),
                    Some(Breakdown::GapKink { .. } | Breakdown::GapJump { .. })
                );
                if slope > 0.0 {
                    assert!(is_seen, "{slope} {friction} {rtol}: {:?}", run.status());
                } else if *run.status() == Status::ReachedEnd {
                    assert_eq!(run.events()[0].released, [0], "{friction} {rtol}");
                }
                assert!(run.t() > 0.12);
            }
        }
    }
}

/// Floors that bend are followed as far as the body stays on them, at any tolerance.
#[test]
fn smooth_floors_are_followed() {
    let (mut random, mut ended) = (SplitMix64(5), 0);
    for case in 0..200 {
        let waves: Vec<[f64; 3]> = (0..3)
            .map(|_| {
                let number = random.between(0.5, 8.0);
                [
                    random.between(-0.1, 0.1) / number,
                    number,
                    random.between(0.0, 6.0),
                ]
            })
            .collect();
        let floor = |x: f64| {
            let of = |sum: (f64, f64), [size, number, phase]: &[f64; 3]| {
                let (sine, cosine) = (number * x + phase).sin_cos();
                (sum.0 + size * sine, sum.1 + size * number * cosine)
            };
            waves.iter().fold((0.0, 0.0), of)
        };
        let (friction, speed) = (random.between(0.0, 0.6), random.between(0.2, 4.0));
        let rtol = 10f64.powf(random.between(-10.0, -3.0));
        let run = slides(&floor, friction, speed, rtol);
        assert!(reason(&run).is_none(), "{case}: {:?}", run.status());
        ended += usize::from(*run.status() == Status::ReachedEnd);
    }
    assert!(ended > 150, "{ended}");
}

/// In space: rows of a particle that cannot be those of a plane of contact.
struct Tangents([f64; 6]);

impl MechanicalSystem for Tangents {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], m: &mut [f64]) {
        m.fill(0.0);
        (m[0], m[4], m[8]) = (1.0, 1.0, 1.0);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], f: &mut [f64]) {
        f.copy_from_slice(&[0.0, 0.0, -9.81]);
    }
}

impl UnilateralConstraints for Tangents {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[2]
    }
    fn gap_row(&self, _j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[0.0, 0.0, 1.0]);
        true
    }
    fn friction(&self, _j: usize) -> f64 {
        0.5
    }
    fn tangents(&self, _j: usize) -> usize {
        2
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&self.0);
    }
}

#[test]
fn the_check_finds_tangents_that_span_no_plane() {
    let agrees = |rows| {
        let report = check_mechanics(&Tangents(rows), 0.0, &[0.0; 3], &[1.0, 0.5, 0.0]);
        report.unwrap().agrees(1e-6)
    };
    assert!(agrees([1.0, 0.0, 0.0, 0.0, 1.0, 0.0]));
    assert!(agrees([0.6, 0.8, 0.0, -0.8, 0.6, 0.0]));
    // Alike, zero, and along the normal.
    assert!(!agrees([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]));
    assert!(!agrees([1.0, 0.0, 0.0, 0.0, 0.0, 0.0]));
    assert!(!agrees([1.0, 0.0, 0.0, 0.0, 0.0, 1.0]));
    assert!(!agrees([0.0, 0.0, 1.0, 0.0, 1.0, 0.0]));
}

/// A derivative sees what ends a run.
#[test]
fn derivatives_of_runs_over_a_stair_are_not_guaranteed() {
    let (floor, flat) = (stair(0.1), |_| (0.0, 0.0));
    let verdict = |shape: Shape<'_>, friction: f64| {
        let model = ContactModel::new(Slider { shape, friction });
        let mut driver = EventDriven::new(model).unwrap();
        let start = Start::at(0.0).q(&[0.0; 2]).v(&[4.0, 0.0]);
        let found = driver.derivative(&start, 1.0).unwrap();
        assert_eq!(
            found.matrix().is_ok(),
            *found.verdict() == Verdict::Classical
        );
        found.verdict().clone()
    };
    for friction in [0.0, 0.5] {
        assert_eq!(verdict(&flat, friction), Verdict::Classical);
        let Verdict::NotGuaranteed(NoDerivative::Stop(stop)) = verdict(&floor, friction) else {
            panic!("{friction}");
        };
        assert!(
            matches!(stop.downcast(), Some(Breakdown::GapJump { .. })),
            "{stop}"
        );
    }
}
