//! Models that lie, in every driver: no panic but their own, which passes through; and the driver
//! runs afterwards.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use saltation::derivative::{Sensitivities, check_derivatives_until};
use saltation::event_driven::Zeno;
use saltation::mechanics::{
    ContactSet, ContactSource, Contacts, MechanicalSystem, Reach, UnilateralConstraints, Wanted,
    check_mechanics_until,
};
use saltation::nalgebra::DMatrix;
use saltation::variational::Midpoint;
use saltation::{
    Compliant, ContactModel, EventDriven, EventFunction, Flow, Integrator, Interrupt, Mode, Start,
    Variational,
};

use super::integrate::{flagged, span};
use crate::body::Body;
use crate::draw::Draw;
use crate::laws::{law, selection};
use crate::liar::{Found, Liar, Own};
use crate::system::Random;
use crate::trial::Trial;

pub fn run(mut draw: Draw, trial: &mut Trial) {
    if draw.chance(0.4) {
        flows(&mut draw, trial);
    } else {
        bodies(&mut draw, trial);
    }
}

/// Runs `work` while the model may panic of its own, and once more in calm.
fn twice<M>(trial: &mut Trial, liar: &Liar<M>, mut work: impl FnMut(&mut Trial)) {
    liar.is_calm.set(false);
    liar.has_burnt.set(false);
    let ended = catch_unwind(AssertUnwindSafe(|| work(trial)));
    liar.is_calm.set(true);
    match ended {
        Err(panic) if panic.downcast_ref::<Own>().is_none() => resume_unwind(panic),
        Ok(()) if liar.has_burnt.get() => trial
            .findings
            .push("a panic of the model went no further".to_owned()),
        _ => {}
    }
    work(trial);
}

fn rarely_set(draw: &mut Draw) -> Interrupt {
    let interrupt = Interrupt::new();
    if draw.chance(0.05) {
        interrupt.set();
    }
    interrupt
}

fn flows(draw: &mut Draw, trial: &mut Trial) {
    let random = Random::new(draw, 4, 4);
    let (count, flags) = (random.count(), random.flags());
    let asked = span(draw, random.dim());
    let liar = Liar::new(draw, random);
    let model = &liar;
    let mode: Mode = flagged(draw, count, flags);
    let interrupt = rarely_set(draw);
    twice(trial, &liar, |trial| {
        let checked = check_derivatives_until(model, asked.t0, &asked.x0, &mode, &interrupt);
        trial.result("check", checked.map(|report| report.compared));
    });
    let Some(mut integrator) = trial.door("integrator", Integrator::new(model)) else {
        return;
    };
    integrator = integrator.max_steps(300).max_events(50);
    twice(trial, &liar, |trial| {
        let run = integrator.integrate(&asked.start(), asked.tf);
        let run = run.map(|run| run.state().as_slice().to_vec());
        trial.numbers("run", run);
    });
    twice(trial, &liar, |trial| {
        let mut tangents = Sensitivities::new(asked.x0.len(), 2);
        let (t0, x0, tf) = (asked.t0, &asked.x0, asked.tf);
        let carried = integrator.carry(&Start::at(t0).x(x0), tf, &mut tangents, &mut ());
        trial.result("carried", carried.map(|summary| summary.t));
        let columns = tangents.columns().map(|columns| columns.into_owned());
        trial.result("columns", columns.map(|c| c.len()));
    });
    let direction = vec![1.0; asked.x0.len()];
    twice(trial, &liar, |trial| {
        let found = integrator.derivative(&asked.start(), asked.tf);
        let along = found.and_then(|found| found.apply(&direction));
        trial.numbers("derivative", along.map(|v| v.as_slice().to_vec()));
    });
}

fn bodies(draw: &mut Draw, trial: &mut Trial) {
    let body = Body::new(draw, 4, 3);
    let (q, v) = body.place(draw);
    let contacts = body.contacts();
    let liar = Liar::new(draw, body);
    let model = &liar;
    let tf = draw.between(0.0, 0.3);
    let interrupt = rarely_set(draw);
    let touching = |draw: &mut Draw| {
        let model = ContactModel::with_law(model, law(draw)).selection(selection(draw));
        if draw.chance(0.5) {
            model.frictionless()
        } else {
            model
        }
    };
    match draw.below(7) {
        0 => twice(trial, &liar, |trial| {
            let checked = check_mechanics_until(model, 0.0, &q, &v, &interrupt);
            trial.result("check", checked.map(|report| report.compared));
        }),
        1 => twice(trial, &liar, |trial| {
            let wanted = Wanted {
                friction: true,
                slips_at: Some(&v),
                restitution_at: Some(&v),
                compliance: true,
            };
            let mut found = Contacts::new();
            let velocities = [&*v];
            let set = ContactSet::Reachable(Reach::new(&velocities, 0.01, 1.0));
            let filled = model.fill(&q, set, wanted, &mut found);
            trial.result("contacts", filled.map(|()| found.len()));
        }),
        2 => {
            let driven = touching(draw);
            let listed: Vec<usize> = (0..contacts).collect();
            twice(trial, &liar, |trial| {
                let report = driven.decoupling(&Start::at(0.0).q(&q).v(&v), &listed);
                trial.result("decoupling", report.map(|report| report.orders));
                let mode = driven.mode(&listed);
                trial.note(
                    "forces",
                    driven
                        .multipliers(0.0, &[q.as_slice(), &v].concat(), &mode)
                        .values(),
                );
            });
            let Some(simulation) = trial.door("simulation", EventDriven::new(driven)) else {
                return;
            };
            let mut simulation = simulation.configure(|run| run.max_steps(150).max_events(30));
            twice(trial, &liar, |trial| {
                let run = simulation.integrate(&Start::at(0.0).q(&q).v(&v), tf);
                trial.numbers("simulation", run.map(|run| run.state().as_slice().to_vec()));
            });
            twice(trial, &liar, |trial| {
                let found = simulation.derivative(&Start::at(0.0).q(&q).v(&v), tf);
                let direction = vec![1.0; q.len() + v.len()];
                let along = found.map(|found| found.apply(&direction).map(|v| v.len()));
                trial.result("derivative", along);
            });
        }
        3 => {
            let Some(driver) = trial.door("rubbing", EventDriven::new(touching(draw))) else {
                return;
            };
            let driver = driver.zeno(Zeno::Absorb).zeno_tolerance(1e-6);
            let mut driver = driver.max_steps(150).max_events(30);
            twice(trial, &liar, |trial| {
                let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), tf);
                if let Ok(run) = &run {
                    let over = driver.model().arclength(run);
                    trial.result("arclength", over.map(|over| over.s()));
                }
                let run = run.map(|run| run.state().as_slice().to_vec());
                trial.numbers("run", run);
            });
        }
        4 => {
            let Some(driver) = trial.door("variational", Variational::new(touching(draw))) else {
                return;
            };
            let mut driver = driver
                .time_step(tf / 20.0 + 1e-3)
                .max_impacts(10)
                .frictionless_impacts();
            twice(trial, &liar, |trial| {
                let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), tf);
                trial.numbers("run", run.map(|run| run.state().as_slice().to_vec()));
                let run = driver.derivative(&Start::at(0.0).q(&q).v(&v), tf);
                trial.result("derivative", run.map(|found| found.run().t()));
            });
        }
        5 => {
            let Some(mut driver) = trial.door("midpoint", Midpoint::new(model)) else {
                return;
            };
            twice(trial, &liar, |trial| {
                let (mut q, mut p) = (q.clone(), v.clone());
                for _ in 0..5 {
                    let made = driver.step(0.0, 0.01, &mut q, &mut p);
                    if trial.result("step", made).is_none() {
                        break;
                    }
                    trial.finite("q", &q);
                    trial.finite("p", &p);
                }
                let found = driver.derivative(0.0, 0.01, &q, &p);
                trial.result("derivative", found.map(|found| found.len()));
                trial.result("momentum", driver.momentum(&q, &v));
            });
        }
        _ if draw.chance(0.5) => steps(trial, &liar, Found(model), &Start::at(0.0).q(&q).v(&v), tf),
        _ => steps(trial, &liar, model, &Start::at(0.0).q(&q).v(&v), tf),
    }
}

/// Compliant steps of a model, or of a source of its contacts, that lies.
fn steps<S>(trial: &mut Trial, liar: &Liar<Body>, system: S, start: &Start<'_>, tf: f64)
where
    S: MechanicalSystem + ContactSource,
{
    let Some(stepper) = trial.door("stepper", Compliant::new(system)) else {
        return;
    };
    let mut stepper = stepper.time_step(tf / 10.0 + 1e-3).inelastic();
    let columns = DMatrix::from_element(liar.model.dof() * 2, 2, 0.1);
    let values = vec![0.1; liar.model.dof()];
    twice(trial, liar, |trial| {
        let run = stepper.integrate(start, tf);
        trial.numbers("run", run.map(|run| run.state().as_slice().to_vec()));
        let found = stepper.sensitivities(start, tf, &columns);
        trial.result("sensitivities", found.map(|(_, columns)| columns.len()));
        let made = stepper.step_with(&values);
        trial.result("step", made);
    });
}
