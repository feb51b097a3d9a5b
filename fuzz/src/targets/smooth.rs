//! Models written once for any scalar, closures and pointers as systems.

use std::rc::Rc;
use std::sync::Arc;

use saltation::ContactModel;
use saltation::derivative::{GuardSet, RealField, convert, flow_jacobian, gradient_row};
use saltation::mechanics::{SmoothConstraints, SmoothMechanics, check_mechanics};
use saltation::{
    Crossed, Displacement, Dual, EventFunction, Flow, Mode, SmoothEvents, SmoothFlow, Stop,
    check_derivatives, flow_fn,
};

use super::integrate::{guard, look, mode, settings, span};
use super::{derivative, runs};
use crate::draw::Draw;
use crate::trial::Trial;

/// A pendulum with guards, and a body with contacts, of any numbers.
#[derive(Clone, Debug)]
struct Model {
    dim: usize,
    p: Vec<f64>,
    guards: usize,
}

impl SmoothFlow for Model {
    fn dim(&self) -> usize {
        self.dim
    }
    fn flow<T: RealField + Copy>(&self, t: T, x: &[T], mode: &Mode, dx: &mut [T]) {
        let push: T = convert(if mode.contains(0) {
            self.p[0]
        } else {
            self.p[1]
        });
        let rate: T = convert(self.p[2]);
        for i in 0..x.len() {
            let next = x[(i + 1) % x.len()];
            dx[i] = if i % 2 == 0 {
                next
            } else {
                push - next.sin() * rate
            };
        }
        dx[0] += (t * rate).cos();
    }
}

impl SmoothEvents for Model {
    fn count(&self) -> usize {
        self.guards
    }
    fn event<T: RealField + Copy>(&self, k: usize, t: T, x: &[T], _mode: &Mode) -> T {
        let (a, c): (T, T) = (convert(self.p[3 + k % 3]), convert(self.p[4]));
        match k % 3 {
            0 => x[0] - a,
            1 => x[k % x.len()] * x[0] - c * t,
            _ => (t * a).sin() - x[0] * c,
        }
    }
    fn on_crossing<T: RealField + Copy>(
        &self,
        _t: T,
        crossed: &GuardSet<'_>,
        x: &mut [T],
        mode: &mut Mode,
    ) -> Result<(), Stop> {
        if self.p[5] > 0.0 && crossed.contains(1) {
            let keep: T = convert(-self.p[5]);
            x[0] *= keep;
            mode.set(crossed.guards().count(), true);
        }
        Ok(())
    }
}

impl SmoothMechanics for Model {
    fn dof(&self) -> usize {
        self.dim
    }
    fn mass<T: RealField + Copy>(&self, q: &[T], mass: &mut [T]) {
        mass.fill(T::zero());
        let bend: T = convert(0.3 * self.p[0].sin());
        for i in 0..q.len() {
            let own: T = convert(self.p[6]);
            mass[i * q.len() + i] = own * (T::one() + bend * q[(i + 1) % q.len()].cos());
        }
    }
    fn effort<T: RealField + Copy>(&self, t: T, q: &[T], v: &[T], effort: &mut [T]) {
        let (g, k, c): (T, T, T) = (convert(-9.81), convert(self.p[1]), convert(self.p[2]));
        for i in 0..q.len() {
            effort[i] = -(k * q[i] + c * v[i]);
        }
        effort[0] += g + t.sin();
    }
}

impl SmoothConstraints for Model {
    fn contacts(&self) -> usize {
        self.guards
    }
    fn gap<T: RealField + Copy>(&self, j: usize, q: &[T]) -> T {
        let a: T = convert(self.p[3 + j % 3]);
        let last = q[q.len() - 1];
        match j % 3 {
            0 => q[0],
            1 => q[0] + a * last.sin(),
            _ => q[0] - a * last.sin(),
        }
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.p[7]
    }
}

pub fn run(mut draw: Draw, trial: &mut Trial) {
    let mut p = draw.numbers(6);
    p.push(draw.positive());
    p.push(draw.part());
    let is_large = draw.chance(0.02);
    let model = Dual(Model {
        // a few beyond what dual numbers do without heap memory
        dim: if is_large {
            draw.whole(60, 70)
        } else {
            draw.whole(1, 4)
        },
        p,
        guards: draw.below(5),
    });
    match draw.below(4) {
        _ if is_large => point(&mut draw, trial, &model),
        0 => point(&mut draw, trial, &model),
        1 => hybrid(&mut draw, trial, &model),
        2 => mechanics(&mut draw, trial, &model),
        _ => closures(&mut draw, trial),
    }
}

fn point(draw: &mut Draw, trial: &mut Trial, model: &Dual<Model>) {
    let (dim, count) = (model.0.dim, model.0.guards);
    let (dim, sides) = (draw.length(dim), draw.length(count));
    let (t, x, mode) = (draw.number(), draw.numbers(dim), mode(draw, sides));
    trial.numbers(
        "dual Jacobian",
        flow_jacobian(model, t, &x, &mode).map(|m| m.as_slice().to_vec()),
    );
    let row = gradient_row(model, draw.below(count + 1), t, &x, &mode);
    trial.numbers(
        "dual row",
        row.map(|(row, rate)| [row.as_slice(), &[rate]].concat()),
    );
    if let Some(report) = trial.result("check", check_derivatives(model, t, &x, &mode)) {
        let is_ordinary = x
            .iter()
            .chain(&model.0.p)
            .chain([&t])
            .all(|x| x.abs() < 10.0);
        let agrees = report.agrees(1e-5);
        trial.expect(agrees || !is_ordinary, || {
            format!("dual numbers and differences differ: {report}")
        });
    }
    let v = draw.numbers(dim);
    if dim == model.0.dim && dim > 0 {
        let along = Displacement { dt: 1.0, dx: &v };
        let (none, mut out) = (Crossed::new(&[]), vec![f64::NAN; dim]);
        let written = model.reset_times(t, &none, &x, &mode, along, &mut out);
        let same = out.iter().zip(&v).all(|(a, b)| a.to_bits() == b.to_bits());
        trial.expect(written && same, || {
            "a reset without guards changes a displacement".to_owned()
        });
    }
    trial.result("check of the body", check_mechanics(model, t, &x, &v));
}

fn hybrid(draw: &mut Draw, trial: &mut Trial, model: &Dual<Model>) {
    let (mut integrator, limits, mode) = match settings(draw, model) {
        Ok(made) => made,
        Err(error) => return trial.refused("settings", &error),
    };
    let mut asked = span(draw, model.0.dim);
    asked.mode = mode;
    derivative::explore(trial, draw, &mut integrator, &asked, Some(limits));
}

fn mechanics(draw: &mut Draw, trial: &mut Trial, model: &Dual<Model>) {
    let driven = ContactModel::new(model.clone());
    let dim = draw.length(model.0.dim);
    let (mut q, v) = (draw.numbers(dim), draw.numbers(dim));
    if let Some(height) = q.first_mut() {
        *height = height.abs() + model.0.p[3..6].iter().fold(0.0, |sum, p| sum + p.abs());
    }
    runs::explore(trial, draw, driven, &q, &v);
}

/// Closures, and every pointer to a system: the same bits.
fn closures(draw: &mut Draw, trial: &mut Trial) {
    let (a, c) = (draw.number(), draw.number());
    let make = || {
        let flow = move |t: f64, x: &[f64], mode: &Mode, dx: &mut [f64]| {
            dx[0] = if mode.contains(0) { a } else { 1.0 - x[0] * c };
            dx[1] = t.cos();
        };
        flow_fn(2, flow).with_events(
            2,
            move |k, t, x| if k == 0 { x[0] - c } else { x[1] - a * t },
        )
    };
    let asked = span(draw, 2);
    let places = draw.clone();
    let told = |trial: &mut Trial, system: &dyn Fn(&mut Draw, &mut Trial) -> String| {
        let mut draw = places.clone();
        let text = system(&mut draw, trial);
        trial.note("closures", &text);
        text
    };
    fn go<S: Flow + EventFunction>(
        draw: &mut Draw,
        trial: &mut Trial,
        system: S,
        asked: &super::integrate::Span,
    ) -> String {
        let made = settings(draw, system);
        let (mut integrator, limits, mode) = match made {
            Ok(made) => made,
            Err(error) => return error.to_string(),
        };
        let asked = &super::integrate::Span {
            mode,
            ..asked.clone()
        };
        match integrator.integrate(&asked.start(), asked.tf) {
            Ok(kept) => {
                let kept = look(trial, draw, asked, limits, kept);
                format!(
                    "{:?} {:?} {:?}",
                    kept.status(),
                    kept.state(),
                    kept.statistics()
                )
            }
            Err(error) => error.to_string(),
        }
    }
    let texts = [
        told(trial, &|draw, trial| go(draw, trial, make(), &asked)),
        told(trial, &|draw, trial| {
            go(draw, trial, Box::new(make()), &asked)
        }),
        told(trial, &|draw, trial| {
            go(draw, trial, Rc::new(make()), &asked)
        }),
        told(trial, &|draw, trial| {
            go(draw, trial, Arc::new(&make()), &asked)
        }),
    ];
    trial.expect(texts.windows(2).all(|pair| pair[0] == pair[1]), || {
        format!("pointers differ: {texts:?}")
    });
    let plain = flow_fn(1, move |_t, x, _mode, dx| dx[0] = a * x[0]);
    let kept = saltation::Integrator::new(plain).and_then(|run| {
        let mut run = run.max_steps(300);
        run.integrate(&asked.start(), asked.tf)
    });
    trial.result(
        "plain",
        kept.map(|kept| (kept.status().clone(), kept.state().clone())),
    );
    let beyond = guard(draw, 3);
    trial.note("guard", &beyond);
}
