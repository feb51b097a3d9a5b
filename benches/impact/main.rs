//! Cost of impacts with friction: steps of bounded impulses, samples, exact sets, laws.
//!
//! `cargo bench --bench impact` measures all, about a minute; a name behind `--` selects. With `--features parallel` also samples on
//! two threads. Elements are steps, samples or impacts.
//!
//! Problems are those of the reference file, with its bounds and its most steps a sample. What is aimed at, on one core: a step of
//! two contacts (10 unknowns) ≤ 1.3 µs, of the disks (25 unknowns) ≤ 15 µs; 2¹⁴ samples of the block < 0.1 s; the exact set of two contacts
//! < 5 ms. Of other solvers of the complementarity problem of a step, the specification has (net of calls, on another machine): siconos
//! 1.2 to 1.4 µs and 31 to 43 µs (not all right), `QuantEcon` 3.5 to 4 µs and 25 µs, Drake 4 to 29 µs and 106 to 600 µs; the paper's PATH 700
//! to 1300 µs. They are not measured here.

#[allow(dead_code, reason = "tests take more of it")]
#[path = "../../tests/frictional/reference.rs"]
mod reference;

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, Throughput};
use reference::Case;
use saltation::impact::{
    AnitescuPotra, BoundLaw, ContactCone, EventExact, ExactPlanar, ImpactLaw, ImpactProblem,
    InOrder, LcpSteps, OutcomeSimulation, Routh, Sampler, SolutionRule,
};
use saltation::nalgebra::{DMatrix, DVector};

/// Names in the reference file.
const TWO_CONTACTS: [&str; 4] = ["rocking_block", "compass_gait", "box_wall", "ramone"];
const DISKS: &str = "disk_stack";

fn main() {
    let mut criterion = Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(200))
        .measurement_time(Duration::from_millis(600))
        .configure_from_args();
    bounded_steps(&mut criterion);
    event_exact_samples(&mut criterion);
    many_samples(&mut criterion);
    exact_sets(&mut criterion);
    laws(&mut criterion);
    cones(&mut criterion);
    criterion.final_summary();
}

/// Steps with the bound and the cap of the paper.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a small whole number"
)]
fn steps(case: &Case) -> LcpSteps {
    LcpSteps::new(case.value("h")).most_steps(case.value("N") as usize)
}

/// Runs samples from number 0; returns the number of steps.
fn run(simulation: &mut dyn OutcomeSimulation, samples: u64, buffer: &mut [Vec<f64>; 2]) -> usize {
    let [speeds, impulses] = buffer;
    let ends = (0..samples).map(|k| simulation.simulate(black_box(k), speeds, impulses));
    let steps = ends.map(|end| end.expect("a sample").steps);
    steps.sum()
}

fn buffer(problem: &ImpactProblem) -> [Vec<f64>; 2] {
    [(); 2].map(|()| vec![0.0; problem.speeds().len()])
}

/// Elements are steps.
fn bounded_steps(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("bounded step");
    for name in TWO_CONTACTS.into_iter().chain([DISKS]) {
        let case = Case::named(name);
        let problem = case.problem();
        let plain = steps(&case);
        // 7⁵ modes a step of the disks
        let few = if name == DISKS { 2 } else { 256 };
        for (rule, settings, samples) in [
            ("Lemke", plain, 256),
            ("dictionary", plain.dictionary(2000), 256),
            ("all solutions", plain.rule(SolutionRule::PickUniform), few),
        ] {
            let mut simulation = settings.start(&problem).expect("settings");
            let mut buffer = buffer(&problem);
            let count = run(&mut simulation, samples, &mut buffer);
            group.throughput(Throughput::Elements(count as u64));
            group.bench_function(BenchmarkId::new(rule, name), |b| {
                b.iter(|| run(&mut simulation, samples, &mut buffer));
            });
        }
    }
    group.finish();
}

/// Elements are samples of several legs.
fn event_exact_samples(criterion: &mut Criterion) {
    const SAMPLES: u64 = 256;
    let mut group = criterion.benchmark_group("event-exact sample");
    group.throughput(Throughput::Elements(SAMPLES));
    for name in TWO_CONTACTS.into_iter().chain([DISKS]) {
        let case = Case::named(name);
        let problem = case.problem();
        let mut simulation = EventExact::new(case.value("h"))
            .most_legs(200)
            .start(&problem)
            .expect("settings");
        let mut buffer = buffer(&problem);
        group.bench_function(name, |b| {
            b.iter(|| run(&mut simulation, SAMPLES, &mut buffer));
        });
    }
    group.finish();
}

/// 2¹⁴ samples of the block; elements are samples.
fn many_samples(criterion: &mut Criterion) {
    const SAMPLES: u64 = 1 << 14;
    let case = Case::named("rocking_block");
    let problem = case.problem();
    let plain = steps(&case);
    let start = |steps: LcpSteps| steps.start(&problem).expect("settings");
    let exact = EventExact::new(case.value("h")).most_legs(200);
    let mut group = criterion.benchmark_group("2^14 block samples");
    group
        .sample_size(10)
        .throughput(Throughput::Elements(SAMPLES));
    for threads in [1, 2] {
        let samplers = [
            ("Lemke", Sampler::new(start(plain))),
            (
                "Lemke, face law",
                Sampler::new(start(plain.law(BoundLaw::Faces))),
            ),
            ("dictionary", Sampler::new(start(plain.dictionary(2000)))),
            (
                "event-exact",
                Sampler::new(exact.start(&problem).expect("settings")),
            ),
        ];
        for (rule, sampler) in samplers {
            let Some(sampler) = on_threads(sampler, threads) else {
                continue;
            };
            group.bench_function(BenchmarkId::new(rule, format!("{threads} threads")), |b| {
                b.iter(|| {
                    sampler
                        .sample(black_box(0..SAMPLES))
                        .expect("samples")
                        .len()
                });
            });
        }
    }
    group.finish();
}

#[cfg(feature = "parallel")]
#[allow(clippy::unnecessary_wraps, reason = "none without the feature")]
fn on_threads(sampler: Sampler<'_>, threads: usize) -> Option<Sampler<'_>> {
    Some(sampler.threads(threads))
}

#[cfg(not(feature = "parallel"))]
fn on_threads(sampler: Sampler<'_>, threads: usize) -> Option<Sampler<'_>> {
    (threads == 1).then_some(sampler)
}

fn exact_sets(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("exact set");
    for name in TWO_CONTACTS {
        let problem = Case::named(name).problem();
        let set = ExactPlanar::new().resolve(&problem).expect("a set");
        assert!(set.is_closed(), "{name}");
        group.bench_function(name, |b| {
            b.iter(|| {
                ExactPlanar::new()
                    .resolve(black_box(&problem))
                    .expect("a set")
            });
        });
    }
    group.finish();
}

/// One impact each.
fn laws(criterion: &mut Criterion) {
    let plane = ImpactProblem::with_tangents(
        DMatrix::from_row_slice(2, 2, &[1.6, -1.2, -1.2, 3.4]),
        DVector::from_vec(vec![-1.0, 0.8]),
        &[0.3],
    );
    let slide = Case::named("keller3d_slide");
    let space = slide.one_contact(slide.value("mu"));
    let [block, compass, disks] =
        ["rocking_block", "compass_gait", DISKS].map(|name| Case::named(name).problem());
    let routh = Routh::new();
    let at_once = AnitescuPotra::new();
    let cases: [(&str, &str, &dyn ImpactLaw, ImpactProblem); 6] = [
        ("Routh", "plane", &routh, plane.expect("a problem")),
        ("Routh", "space", &routh, space),
        ("AnitescuPotra", "compass_gait", &at_once, compass),
        ("AnitescuPotra", "disk_stack", &at_once, disks.clone()),
        ("InOrder", "rocking_block", &InOrder::new(&[0, 1]), block),
        (
            "InOrder",
            "disk_stack",
            &InOrder::new(&[0, 1, 2, 3, 4]),
            disks,
        ),
    ];
    let mut group = criterion.benchmark_group("law");
    for (law_name, problem_name, law, problem) in cases {
        group.bench_function(BenchmarkId::new(law_name, problem_name), |b| {
            b.iter(|| law.resolve(black_box(&problem)).expect("outcomes"));
        });
    }
    group.finish();
}

fn cones(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("cone margin");
    for name in TWO_CONTACTS.into_iter().chain([DISKS]) {
        let problem = Case::named(name).problem();
        group.bench_function(name, |b| {
            b.iter(|| {
                ContactCone::of(black_box(&problem))
                    .expect("a cone")
                    .margin()
            });
        });
    }
    group.finish();
}
