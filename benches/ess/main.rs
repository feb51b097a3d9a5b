//! Cost of event-selected systems (contacts, corners, tolerances, smooth steps), of complementarity
//! problems, impacts and bodies that touch.
//!
//! `cargo bench --bench ess` measures all, about two minutes; a name behind `--` selects. Ratios
//! within one run, which do not depend on the machine, are in the bench `ratios`.

#[path = "../cases/mod.rs"]
mod cases;
#[allow(dead_code, reason = "each of those who share it takes what it needs")]
#[path = "../../tests/common/contacts.rs"]
mod contacts;

use std::time::Duration;

use cases::{corner, derivative, ensemble, hopper, impact, lcp, mechanics, plate, step};
use criterion::{BenchmarkId, Criterion, Throughput};

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(10)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .configure_from_args();
    plate_per_contact(&mut criterion);
    hopper_work_precision(&mut criterion);
    ensembles(&mut criterion);
    corners(&mut criterion);
    steps(&mut criterion);
    derivatives(&mut criterion);
    complementarity(&mut criterion);
    impacts(&mut criterion);
    bodies(&mut criterion);
    criterion.final_summary();
}

/// 120 runs a call; elements are contacts made or lost. The parameter is the number of directed
/// guards, two a spring.
fn plate_per_contact(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("plate");
    for springs in plate::SPRINGS {
        let plate = plate::plate(springs);
        for way in plate::ways() {
            let mut run = way.runner(&plate);
            group.throughput(Throughput::Elements(run().crossings as u64));
            group.bench_function(BenchmarkId::new(way.name, 2 * springs), |b| {
                b.iter(&mut run);
            });
        }
    }
    group.finish();
}

fn hopper_work_precision(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("hopper");
    for rtol in hopper::tolerances() {
        let mut run = hopper::runner(rtol);
        group.bench_function(BenchmarkId::new("rtol", format!("{rtol:.0e}")), |b| {
            b.iter(&mut run);
        });
    }
    group.finish();
}

/// By hand, on one thread and, with the feature `parallel`, on two; elements are runs.
fn ensembles(criterion: &mut Criterion) {
    for (name, calls) in [
        ("ensemble-hopper", ensemble::hopper()),
        ("ensemble-plate", ensemble::plate()),
    ] {
        let mut group = criterion.benchmark_group(name);
        group.throughput(Throughput::Elements(ensemble::ROWS));
        for (way, mut call) in ["by-hand", "one-thread", "two-threads"].iter().zip(calls) {
            group.bench_function(*way, |b| b.iter(&mut call));
        }
        group.finish();
    }
}

fn corners(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("corner");
    for (name, projection) in corner::projections() {
        for corner in corner::corners() {
            let mut runs = corner.runs(&projection);
            for (part, run) in [("through", &mut runs.through), ("beyond", &mut runs.beyond)] {
                let id = BenchmarkId::new(format!("{name}-{part}"), corner.name());
                group.bench_function(id, |b| b.iter(&mut *run));
            }
        }
    }
    group.finish();
}

fn steps(criterion: &mut Criterion) {
    for (name, cases) in [
        ("bare-step", step::bare()),
        ("run", step::runs()),
        ("flight", step::flights()),
    ] {
        let mut group = criterion.benchmark_group(name);
        for mut case in cases {
            group.throughput(Throughput::Elements((case.run)() as u64));
            group.bench_function(case.name, |b| b.iter(&mut case.run));
        }
        group.finish();
    }
}

/// The plain run first, then with directions carried along.
fn derivatives(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("derivative");
    for mut case in derivative::plates()
        .into_iter()
        .chain(derivative::corners())
    {
        for (way, run) in &mut case.ways {
            group.bench_function(BenchmarkId::new(&*way, &case.name), |b| b.iter(&mut *run));
        }
    }
    group.finish();
}

/// Elements are problems.
fn complementarity(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("lcp");
    group.throughput(Throughput::Elements(lcp::COUNT as u64));
    for case in lcp::cases() {
        let mut run = case.runner();
        group.bench_function(BenchmarkId::new(case.name, case.size()), |b| {
            b.iter(&mut run);
        });
    }
    group.finish();
}

/// Elements are reflections, or problems.
fn impacts(criterion: &mut Criterion) {
    for (name, cases) in [
        ("reflection", impact::reflections()),
        ("impact", impact::laws()),
    ] {
        let mut group = criterion.benchmark_group(name);
        for mut case in cases {
            group.throughput(Throughput::Elements((case.run)() as u64));
            group.bench_function(case.name, |b| b.iter(&mut case.run));
        }
        group.finish();
    }
}

/// Strides, and runs over events.
fn bodies(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("stride");
    for mut case in mechanics::strides()
        .into_iter()
        .chain(mechanics::resting())
        .chain(mechanics::sliding())
    {
        group.bench_function(case.name, |b| b.iter(&mut case.run));
    }
    group.finish();
    let mut group = criterion.benchmark_group("event");
    for mut event in mechanics::events() {
        for (part, case) in [
            ("through", &mut event.through),
            ("beyond", &mut event.beyond),
            ("smooth", &mut event.smooth),
        ] {
            group.bench_function(BenchmarkId::new(part, event.name), |b| {
                b.iter(&mut case.run);
            });
        }
    }
    group.finish();
}
