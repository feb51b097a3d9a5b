//! The public stepper and its interpolant, of any sizes.

use saltation::ode::{Buffer, Interpolant, Tsitouras};
use saltation::{Integrator, Observer, Segment, Start, flow_fn};

use crate::draw::Draw;
use crate::trial::Trial;

pub fn run(mut draw: Draw, trial: &mut Trial) {
    if draw.chance(0.5) {
        let dim = draw.below(6);
        let step = Tsitouras::<Vec<f64>>::new(dim);
        steps(&mut draw, trial, step, dim);
    } else {
        // an array keeps its own size
        let step = Tsitouras::<[f64; 3]>::new(draw.size(6));
        steps(&mut draw, trial, step, 3);
    }
    interpolant(&mut draw, trial);
}

fn steps<V: Buffer>(draw: &mut Draw, trial: &mut Trial, mut step: Tsitouras<V>, dim: usize) {
    let (a, b) = (draw.number(), draw.number());
    let mut calls = 0;
    if trial.is_second {
        let x = draw.aside("before").numbers(dim);
        let _ = step.step(
            &mut |_t: f64, _x: &[f64], dx: &mut [f64]| dx.fill(1.0),
            0.0,
            &x,
            0.1,
        );
    }
    let dims = [draw.length(dim), draw.length(dim), dim];
    for length in dims {
        let x = draw.numbers(length);
        let (t, h) = (draw.number(), draw.number());
        let mut f = |t: f64, x: &[f64], dx: &mut [f64]| {
            calls += 1;
            for (dx, x) in dx.iter_mut().zip(x) {
                *dx = a * x + b * t;
            }
        };
        let first = step.first_stage();
        first
            .iter_mut()
            .zip(&x)
            .for_each(|(dx, x)| *dx = a * x + b * t);
        let done = step.step(&mut f, t, &x, h);
        trial.expect(done.is_ok() == (length == dim), || "lengths".to_owned());
        if trial.result("step", done).is_some() {
            trial.note("state", step.state());
            trial.note("slope", step.slope_at_end());
        }
    }
    trial.expect(calls <= 6 * dims.len(), || {
        format!("{calls} evaluations in {} steps", dims.len())
    });
}

/// What is done with the interpolant of each segment.
struct Change<F>(F);

impl<F: FnMut(&Interpolant<'_>)> Observer for Change<F> {
    fn segment(&mut self, segment: &Segment<'_>) {
        (self.0)(&segment.interpolant);
    }
}

fn interpolant(draw: &mut Draw, trial: &mut Trial) {
    let lengths = [
        draw.length(3),
        draw.length(3),
        draw.length(3),
        draw.length(3),
        draw.length(3),
    ];
    let rows = lengths.map(|length| draw.numbers(length));
    let mut x = vec![0.0; draw.below(6)];
    let mut asked = [0.0; 4].map(|_| draw.number());
    // A run gives one, with any fields.
    let mut change = Change(|of: &Interpolant<'_>| {
        let mut interpolant = *of;
        (interpolant.start, interpolant.length) = (asked[0], asked[1]);
        interpolant.coefficients = [&rows[0], &rows[1], &rows[2], &rows[3], &rows[4]];
        interpolant.at(asked[2], &mut x);
        trial.note("at", &x);
        interpolant.at_fraction(asked[3], &mut x);
        trial.note("at_fraction", &x);
        asked.rotate_left(1);
    });
    let still = flow_fn(1, |_t, _x, _mode, dx| dx[0] = 0.0);
    let observed = Integrator::new(still)
        .map(|mut run| run.observe(&Start::at(0.0).x(&[1.0]), 1.0, &mut change));
    trial.expect(observed.is_ok(), || "no run".to_owned());
    let n = draw.below(5);
    let mut buffer = <Vec<f64> as Buffer>::zeros(n);
    buffer.get_mut().fill(1.0);
    let array = <[f64; 2] as Buffer>::zeros(n);
    trial.note("buffers", &(buffer.get(), array.get()));
}
