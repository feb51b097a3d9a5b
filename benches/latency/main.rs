//! How long drivers go on after an interrupt is set (criterion).
//!
//! Target: 50 ms for each, of sizes at which a run takes minutes. What is measured is the time from
//! the evaluation of the model that sets the interrupt to the return of the driver; the evaluation is
//! another one in each iteration.

#[path = "../../tests/common/interrupted.rs"]
mod interrupted;
#[path = "../../tests/common/listed.rs"]
mod listed;

use std::time::Duration;

use criterion::{Criterion, SamplingMode, criterion_group, criterion_main};
use interrupted::{Row, Setter, Springs, boxes, heap};
use saltation::derivative::{Sensitivities, check_derivatives_until};
use saltation::impact::Routh;
use saltation::mechanics::check_mechanics_until;
use saltation::nalgebra::DMatrix;
use saltation::variational::Midpoint;
use saltation::{Compliant, ContactModel, EventDriven, Variational};
use saltation::{Integrator, Start};

/// A driver that is to be ended: it runs until the setter, which it is given, has set the interrupt.
type Case = (&'static str, usize, fn(&Setter));

const CASES: [Case; 13] = [
    ("run of 1000 states with 500 guards", 200_000, |setter| {
        let model = Springs::new(500, setter).written();
        let mut integrator = integrator(&model, setter);
        let _ = integrator.integrate(&Start::at(0.0).x(&model.start()), 1e6);
    }),
    ("the same without gradients", 2_000_000, |setter| {
        let model = Springs::new(500, setter);
        let mut integrator = integrator(&model, setter);
        let _ = integrator.integrate(&Start::at(0.0).x(&model.start()), 1e6);
    }),
    ("derivative of 200 states", 20_000, |setter| {
        let model = Springs::new(100, setter);
        let mut integrator = integrator(&model, setter);
        let _ = integrator.derivative(&Start::at(0.0).x(&model.start()), 1e6);
    }),
    ("200 tangents of 200 states", 20_000, |setter| {
        let model = Springs::new(100, setter);
        let mut integrator = integrator(&model, setter);
        let mut tangents = Sensitivities::new(200, 200);
        let _ = integrator.carry(
            &Start::at(0.0).x(&model.start()),
            1e6,
            &mut tangents,
            &mut (),
        );
    }),
    (
        "check of the derivatives of 2000 states",
        50_000,
        |setter| {
            let model = Springs::new(1000, setter).written();
            let (start, mode) = (model.start(), model.mode());
            let _ = check_derivatives_until(&model, 0.0, &start, &mode, setter.interrupt());
        },
    ),
    ("check of the mechanics of 120 masses", 20_000, |setter| {
        let row = Row::new(120, setter);
        let _ = check_mechanics_until(&row, 0.0, &[0.5; 120], &[0.1; 120], setter.interrupt());
    }),
    ("100 masses that land one after another", 60_000, |setter| {
        simulate(&Row::new(100, setter).written(), 1e-3, setter);
    }),
    ("100 masses that land at once", 16_000, |setter| {
        simulate(&Row::new(100, setter).written(), 0.0, setter);
    }),
    ("30 masses that rub", 100_000, |setter| {
        let row = Row::new(30, setter);
        let (q, v) = row.start(1e-3);
        let model = ContactModel::with_law(row, Routh::new()).interrupt(setter.interrupt());
        let driver = EventDriven::new(model).expect("masses");
        let mut driver = driver.interrupt(setter.interrupt());
        let _ = driver.integrate(&Start::at(0.0).q(&q).v(&v), 1e3);
    }),
    ("variational run of 100 masses", 50_000, |setter| {
        let row = Row::new(100, setter);
        let (q, v) = row.start(1e-3);
        let driver = Variational::new(ContactModel::new(row)).expect("masses");
        let mut driver = driver.time_step(1e-3).interrupt(setter.interrupt());
        let _ = driver.integrate(&Start::at(0.0).q(&q).v(&v), 1e4);
    }),
    ("steps of the midpoint rule, 100 masses", 10_000, |setter| {
        let row = Row::new(100, setter);
        let (mut q, mut p) = row.start(1e-3);
        let midpoint = Midpoint::new(row).expect("masses");
        let mut midpoint = midpoint.interrupt(setter.interrupt());
        while midpoint.step(0.0, 1e-2, &mut q, &mut p).is_ok() {}
    }),
    ("steps of 150 boxes", 10, |setter| {
        let (heap, q, v) = heap(boxes(150), setter);
        let stepper = Compliant::new(heap).expect("boxes");
        let mut stepper = stepper.interrupt(setter.interrupt());
        let _ = stepper.integrate(&Start::at(0.0).q(&q).v(&v), 1e3);
    }),
    ("sensitivities of 150 boxes, 900 columns", 100, |setter| {
        let (heap, q, v) = heap(boxes(150), setter);
        let columns = DMatrix::from_fn(q.len() + v.len(), v.len(), |row, column| {
            f64::from(u8::from(row == q.len() + column))
        });
        let stepper = Compliant::new(heap).expect("boxes");
        let mut stepper = stepper.interrupt(setter.interrupt());
        let _ = stepper.sensitivities(&Start::at(0.0).q(&q).v(&v), 1e3, &columns);
    }),
];

fn integrator<'a>(model: &'a Springs, setter: &Setter) -> Integrator<&'a Springs> {
    let integrator = Integrator::new(model).expect("states");
    integrator.interrupt(setter.interrupt())
}

/// Masses that land, `apart` metres one behind the other, and stay.
fn simulate(row: &Row, apart: f64, setter: &Setter) {
    let (q, v) = row.start(apart);
    let model = ContactModel::new(row.clone()).interrupt(setter.interrupt());
    let simulation = EventDriven::new(model).expect("masses");
    let mut simulation = simulation.configure(|run| run.interrupt(setter.interrupt()));
    let _ = simulation.integrate(&Start::at(0.0).q(&q).v(&v), 1.0);
}

fn latency(c: &mut Criterion) {
    let mut group = c.benchmark_group("latency");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(200));
    for (name, evaluations, run) in CASES {
        let mut count = 0;
        let mut longest = Duration::ZERO;
        group.bench_function(name, |b| {
            b.iter_custom(|iterations| {
                let mut sum = Duration::ZERO;
                for _ in 0..iterations {
                    // by the golden section: evenly spread over the first evaluations
                    count += 1;
                    let setter = Setter::at(count * (evaluations * 618 / 1000) % evaluations);
                    run(&setter);
                    let taken = setter.latency();
                    longest = longest.max(taken);
                    sum += taken;
                }
                sum
            });
        });
        if count > 0 {
            let longest = 1e3 * longest.as_secs_f64();
            println!("    the longest of {count}: {longest:.1} ms");
        }
    }
    group.finish();
}

criterion_group!(benches, latency);
criterion_main!(benches);
