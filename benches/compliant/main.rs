//! The compliant driver: solutions of stored problems, of problems of heaps, and whole steps
//! (criterion).
//!
//! Targets: a problem of 40 bodies between walls, at rest, within 0.2 ms; of 160 bodies in one
//! island, while they fall, within 4 ms; a step of 40 bodies at rest within 0.4 ms; steps of 1,000
//! bodies without walls in proportion to their number. Times hold for a machine, ratios of one run
//! for others too.

mod heap;
#[allow(dead_code, reason = "the tests use more of it")]
#[path = "../../tests/compliant/reference.rs"]
mod reference;

use saltation::Start;
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use heap::{Snapshot, solver, stepper};
use saltation::compliant::{Guess, Solver, StepSolution};
use saltation::models::Clutter;

/// The problems of the reference, from its guesses.
fn stored(c: &mut Criterion) {
    let mut group = c.benchmark_group("stored problem");
    for case in reference::cases() {
        let mut solver = Solver::new().rtol(1e-6).guess(Guess::Given);
        group.bench_function(&case.name, |b| {
            b.iter(|| {
                let solution = solver.solve(black_box(&case.problem), &case.guess);
                solution.map(StepSolution::cost)
            });
        });
    }
    group.finish();
}

fn clutter(bodies: usize) -> Clutter {
    Clutter {
        bodies,
        ..Clutter::default()
    }
}

/// The problem of one step, with islands one by one and all at once.
fn problems(c: &mut Criterion) {
    let mut group = c.benchmark_group("problem of a step");
    group.sample_size(20);
    for (name, bodies, t) in [
        ("40 bodies, falling", 40, 0.7),
        ("40 bodies, at rest", 40, 8.0),
        ("160 bodies, falling", 160, 1.5),
        ("160 bodies, at rest", 160, 8.0),
    ] {
        let snapshot = Snapshot::of(clutter(bodies), t);
        println!("{name}: {}", snapshot.describe());
        for (way, islands) in [("islands", true), ("monolithic", false)] {
            let mut solver = solver().islands(islands);
            group.bench_function(BenchmarkId::new(name, way), |b| {
                b.iter(|| snapshot.solve(&mut solver));
            });
        }
    }
    group.finish();
}

/// Whole steps at rest: contacts found, problem built and solved.
fn steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("step");
    group.sample_size(20);
    let spread = |side: usize| Clutter {
        bodies: 10 * side * side,
        side,
        walls: false,
        ..Clutter::default()
    };
    for (name, clutter, t) in [
        ("40 bodies", clutter(40), 8.0),
        ("160 bodies", clutter(160), 8.0),
        ("250 bodies without walls", spread(5), 4.0),
        ("1000 bodies without walls", spread(10), 4.0),
    ] {
        let mut stepper = stepper(clutter, t);
        println!("{name}: {} contacts", stepper.contacts().len());
        group.bench_function(name, |b| {
            b.iter(|| stepper.step().expect("a step"));
        });
    }
    // The dearest second of the run.
    let scene = clutter(40).scene().expect("a scene");
    let (q, v) = scene.start();
    let mut stepper = stepper(clutter(40), 0.0);
    group.bench_function("40 bodies, 100 steps of the fall", |b| {
        b.iter(|| {
            stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("a start");
            (0..100).for_each(|_| stepper.step().expect("a step"));
        });
    });
    group.finish();
}

criterion_group!(benches, stored, problems, steps);
criterion_main!(benches);
