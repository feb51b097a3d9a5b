//! Runs cut into chunks: at random times, at the instants of impacts and a few units in the last place beside them. Each chunk goes on
//! from positions and velocities alone, and all of them together make the uncut run.

use saltation::Status;
use saltation::impact::{ImpactLaw, NewOnly, Unilateral};
use saltation::mechanics::{MechanicalRun, Simulation};

use crate::line::Line;
use crate::random::SplitMix64;

fn falling(_t: f64, _q: &[f64], acceleration: &mut [f64]) {
    acceleration.fill(-9.81);
}

fn shaken(t: f64, _q: &[f64], acceleration: &mut [f64]) {
    acceleration.fill(-9.81 + 8.0 * (5.0 * t).cos());
}

/// Instants at which gaps close.
fn instants(run: &MechanicalRun) -> Vec<f64> {
    let closing = run.events().iter().filter(|e| !e.activated.is_empty());
    closing.map(|e| e.time).collect()
}

fn cut<L: ImpactLaw>(
    simulation: &mut Simulation<Line, L>,
    start: (&[f64], &[f64]),
    seed: u64,
    what: &str,
) -> usize {
    let end = 1.5;
    let whole = simulation.run(0.0, start.0, start.1, end).unwrap();
    if *whole.trajectory().status() != Status::ReachedEnd {
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
        let run = simulation.run(t, &q, &v, tf).unwrap();
        let status = run.trajectory().status();
        assert_eq!(*status, Status::ReachedEnd, "{what}: from {t} to {tf}");
        found.extend(instants(&run));
        let state = run.trajectory().state();
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
    let uncut = whole.trajectory().state();
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
            cut(&mut line.by(NewOnly::default()), (&q, &v), seed, &what)
        };
    }
    assert!(impacts > cases, "{impacts}");
}
