//! Steps of the variational driver (criterion).
//!
//! Targets: a step of two links within 5 µs, of ten links within 100 µs. Times hold for a machine,
//! ratios of one run for others too.

use saltation::{ContactModel, Start, Variational};
use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use saltation::mechanics::MechanicalSystem;
use saltation::models::{DoublePendulum, LinkChain, SlidingBlock, Trex};
use saltation::variational::Midpoint;

fn steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("step");
    let mut pendulum = Midpoint::new(DoublePendulum::default()).expect("two angles");
    let (mut q, mut p) = ([1.0, 0.5], [0.0; 2]);
    group.bench_function("double pendulum", |b| {
        b.iter(|| pendulum.step(0.0, 0.01, black_box(&mut q), &mut p));
    });
    for links in [2, 10, 30] {
        // A run, so that factors are kept from step to step.
        let chain = LinkChain::new(links).expect("links");
        let mut driver = Variational::new(ContactModel::new(chain))
            .expect("a chain")
            .time_step(0.001);
        let (q, v) = (vec![0.3; links], vec![0.0; links]);
        group.bench_function(BenchmarkId::new("1000 steps of links", links), |b| {
            b.iter(|| {
                driver
                    .integrate(&Start::at(0.0).q(black_box(&q)).v(&v), 1.0)
                    .map(|run| run.t())
            });
        });
    }
    group.finish();
}

/// A chain that writes its mass and weight only.
struct Unwritten(LinkChain);

impl MechanicalSystem for Unwritten {
    fn dof(&self) -> usize {
        self.0.dof()
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.0.mass(q, mass);
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.0.effort(t, q, v, effort);
    }
}

/// Grows with the third power of the links.
fn differences(c: &mut Criterion) {
    let mut group = c.benchmark_group("step by differences");
    group.sample_size(20);
    for links in [10, 20, 40, 80] {
        let chain = Unwritten(LinkChain::new(links).expect("links"));
        let mut midpoint = Midpoint::new(chain).expect("a chain");
        let (q, p) = (vec![0.3; links], vec![0.0; links]);
        group.bench_function(BenchmarkId::new("links", links), |b| {
            b.iter(|| {
                let (mut q, mut p) = (black_box(q.clone()), p.clone());
                midpoint.step(0.0, 0.001, &mut q, &mut p).map(|()| q)
            });
        });
    }
    group.finish();
}

fn closed(c: &mut Criterion) {
    let mut group = c.benchmark_group("closed contact");
    let mut driver = Variational::new(ContactModel::new(SlidingBlock::default()))
        .expect("a block")
        .time_step(0.001)
        .frictionless_impacts();
    group.bench_function("1000 steps of a sliding block", |b| {
        b.iter(|| {
            driver
                .integrate(&Start::at(0.0).q(black_box(&[0.0; 2])).v(&[9.0, 0.0]), 1.0)
                .map(|run| run.t())
        });
    });
    group.finish();
}

fn landing(c: &mut Criterion) {
    let mut group = c.benchmark_group("landing");
    group.sample_size(20);
    let trex = Trex::new([7.0, 4.0], [8.0, 10.0]).expect("Table I");
    let mut driver = Variational::new(ContactModel::new(trex))
        .expect("a robot")
        .time_step(5e-4);
    // Feet and tail some cm above the floor, falling.
    let q = [0.0, 14.0, 5.782, 5.13, 5.24, 1.9932, 5.243, 0.0];
    let mut v = [0.0; 8];
    v[1] = -180.0;
    group.bench_function("60 steps of TREX with impacts", |b| {
        b.iter(|| {
            driver
                .integrate(&Start::at(0.0).q(black_box(&q)).v(&v), 0.03)
                .map(|run| run.t())
        });
    });
    group.finish();
}

criterion_group!(benches, steps, differences, closed, landing);
criterion_main!(benches);
