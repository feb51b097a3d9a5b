//! Runs cut into chunks: at random times, at the instants of impacts and a few units in the last
//! place beside them. Each chunk goes on from positions and velocities alone, and all of them
//! together make the uncut run.

use saltation::impact::{Sequential, Unilateral};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Run};
use saltation::{Start, Status};

use crate::fixtures::line::Line;
use crate::random::SplitMix64;

fn falling(_t: f64, _q: &[f64], acceleration: &mut [f64]) {
    acceleration.fill(-9.81);
}

fn shaken(t: f64, _q: &[f64], acceleration: &mut [f64]) {
    acceleration.fill(-9.81 + 8.0 * (5.0 * t).cos());
}

/// Instants at which gaps close.
fn instants(run: &Run) -> Vec<f64> {
    let closing = run.events().iter().filter(|e| !e.activated.is_empty());
    closing.map(|e| e.t).collect()
}

fn cut(
    simulation: &mut EventDriven<Line>,
    start: (&[f64], &[f64]),
    seed: u64,
    what: &str,
) -> usize {
    let end = 1.5;
    let whole = simulation
        .integrate(&Start::at(0.0).q(start.0).v(start.1), end)
        .unwrap();
    if *whole.status() != Status::ReachedEnd {
        // An accumulation of impacts.
        return 0;
    }
    let expected = instants(&whole);
    let mut random = SplitMix64(seed);
    let mut cuts: Vec<f64> = (0..3).map(|_| random.between(0.0, end)).collect();
    for time in &expected {
        if random.unit() < 0.5 {
            let ulps = (random.next() % 9) as f64 - 2.0;
            cuts.push((time + ulps * f64::EPSILON * time).clamp(0.0, end));
        }
    }
    cuts.push(end);
    cuts.sort_by(f64::total_cmp);
    let (mut t, mut q, mut v) = (0.0, start.0.to_vec(), start.1.to_vec());
    let mut found = Vec::new();
    for tf in cuts {
        let run = simulation.integrate(&Start::at(t).q(&q).v(&v), tf).unwrap();
        let status = run.status();
        assert_eq!(*status, Status::ReachedEnd, "{what}: from {t} to {tf}");
        found.extend(instants(&run));
        let state = run.state();
        q = state.as_slice()[..q.len()].to_vec();
        v = state.as_slice()[q.len()..].to_vec();
        t = tf;
    }
    assert_eq!(
        found.len(),
        expected.len(),
        "{what}: {found:?}, expected {expected:?}"
    );
    for (a, b) in found.iter().zip(&expected) {
        assert!((a - b).abs() < 1e-6, "{what}: {a}, expected {b}");
    }
    let uncut = whole.state();
    for (i, x) in q.iter().chain(&v).enumerate() {
        assert!(
            (x - uncut[i]).abs() < 1e-5,
            "{what}: {q:?} {v:?}, expected {uncut:?}"
        );
    }
    expected.len()
}

#[test]
fn runs_in_chunks_are_the_uncut_run() {
    let cases = if cfg!(debug_assertions) { 100 } else { 3000 };
    let mut random = SplitMix64(41);
    let mut impacts = 0;
    for case in 0..cases {
        let count = 1 + case % 2;
        let masses: Vec<f64> = (0..count).map(|_| random.between(0.5, 2.0)).collect();
        let restitution = [0.0, 0.7, 1.0][case / 2 % 3];
        let field = [falling, shaken][case / 6 % 2];
        let line = Line::above_floor(&masses, restitution, field);
        let mut height = 0.0;
        let q: Vec<f64> = (0..count)
            .map(|_| {
                height += random.between(0.1, 0.6);
                height
            })
            .collect();
        let v: Vec<f64> = (0..count).map(|_| random.between(-1.0, 1.0)).collect();
        let what = format!("case {case}: {line:?}, {q:?}, {v:?}");
        let seed = random.next();
        impacts += if case % 4 < 2 {
            cut(&mut line.by(Unilateral), (&q, &v), seed, &what)
        } else {
            cut(&mut line.by(Sequential::default()), (&q, &v), seed, &what)
        };
    }
    assert!(impacts > cases, "{impacts}");
}

/// A triangle before a floor and a slope, both plastic, in a drag.
struct Triangle;

const CORNERS: [[f64; 2]; 3] = [[-0.5, -0.3], [0.5, -0.3], [0.2751672121165912, 0.6]];
/// Normals and offsets of the planes.
const PLANES: [[f64; 3]; 2] = [
    [0.24825765858612048, 0.9686940357787578, 0.0],
    [-1.0, 0.0, -1.5],
];

impl MechanicalSystem for Triangle {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[5.8, 0.0, 0.0, 0.0, 5.8, 0.0, 0.0, 0.0, 1.02]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], v: &[f64], effort: &mut [f64]) {
        for (effort, v) in effort.iter_mut().zip(v) {
            *effort = -1.74 * v;
        }
        effort[1] -= 5.8 * 9.81;
    }
}

impl UnilateralConstraints for Triangle {
    fn contacts(&self) -> usize {
        6
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let (corner, [a, b, offset]) = (CORNERS[j % 3], PLANES[j / 3]);
        let (sin, cos) = q[2].sin_cos();
        let x = q[0] + cos * corner[0] - sin * corner[1];
        let y = q[1] + sin * corner[0] + cos * corner[1];
        a * x + b * y - offset
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        0.0
    }
}

#[test]
fn a_corner_that_the_correction_of_a_slide_carries_over_its_plane_lands() {
    // One corner slides, a second lands. Runs that end just before and just after its landing go on
    // as the uncut run.
    let q = [0.0883175861251011, 0.9346789707237495, 2.4872562008670327];
    let v = [0.9129890934856777, -1.2017692309699195, -0.5370682598615062];
    for rtol in [3.7e-5, 1e-4] {
        let mut simulation = EventDriven::new(ContactModel::new(Triangle))
            .unwrap()
            .rtol(rtol)
            .atol(0.1 * rtol);
        let end = 0.45;
        let whole = simulation
            .integrate(&Start::at(0.0).q(&q).v(&v), end)
            .unwrap()
            .completed()
            .unwrap();
        let expected: Vec<_> = whole.events().iter().map(|e| e.activated.clone()).collect();
        assert_eq!(expected, [[2], [0]]);
        // The last step of a shorter run is more exact: the landing by a run that ends at it.
        let (mut before, mut after) = (0.34, 0.35);
        for _ in 0..50 {
            let cut = 0.5 * (before + after);
            let run = simulation
                .integrate(&Start::at(0.0).q(&q).v(&v), cut)
                .unwrap();
            let landed = run.events().len() == 2;
            *(if landed { &mut after } else { &mut before }) = cut;
        }
        for k in -60..=60 {
            let cut = after + 2e-10 * f64::from(k);
            let first = simulation
                .integrate(&Start::at(0.0).q(&q).v(&v), cut)
                .unwrap();
            let status = first.status();
            assert_eq!(*status, Status::ReachedEnd, "{rtol:e}, {k}");
            let (middle, speed) = first.state().as_slice().split_at(3);
            let second = simulation
                .integrate(&Start::at(cut).q(middle).v(speed), end)
                .unwrap();
            let status = second.status();
            assert_eq!(*status, Status::ReachedEnd, "{rtol:e}, {k}");
            let events = first.events().iter().chain(second.events());
            let landings = events.filter(|e| !e.activated.is_empty());
            let landings: Vec<_> = landings.map(|e| e.activated.clone()).collect();
            assert_eq!(landings, expected, "{rtol:e}, {k}");
            let off = (second.state() - whole.state()).amax();
            assert!(off < 10.0 * rtol, "{rtol:e}, {k}: {off:e}");
        }
    }
}
