//! Starts, multipliers, decoupling and derivatives of bodies with contacts.

use saltation::ContactModel;
use saltation::event_driven::{
    Breakdown, ContinuityClass, DecouplingReport, InertialCoupling, Multipliers, OrderOutcome,
    SettledStart,
};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{EventFunction, Flow, Integrator, Start};

use super::bodies::{driven, simulation, time};
use super::derivative;
use super::integrate::{Limits, Span, flagged};
use crate::draw::Draw;
use crate::trial::Trial;

pub fn run(mut draw: Draw, trial: &mut Trial) {
    let model = driven(&mut draw, 4, 4);
    let (q, v) = model.system().place(&mut draw);
    if draw.chance(0.5) {
        return explore(trial, &mut draw, model, &q, &v);
    }
    let (mut simulation, _) = match simulation(&mut draw, model) {
        Ok(made) => made,
        Err(error) => return trial.refused("simulation", &error),
    };
    let (t0, tf) = time(&mut draw);
    trial.note("start", &(t0, &q, &v, tf));
    let asked = Span {
        t0,
        x0: [q.as_slice(), &v].concat(),
        mode: None,
        tf,
    };
    match simulation.derivative(&Start::at(t0).q(&q).v(&v), tf) {
        Err(error) => trial.refused("derivative", &error),
        Ok(d) => derivative::answers(trial, &mut draw, &asked, None, d),
    }
}

/// What a model with contacts says at one state, and the core integrator on it.
pub fn explore<S>(trial: &mut Trial, draw: &mut Draw, model: ContactModel<S>, q: &[f64], v: &[f64])
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let t = if draw.chance(0.1) { draw.number() } else { 0.0 };
    let contacts = model.system().contacts();
    let state = [q, v].concat();
    let (sides, length) = (draw.length(contacts), draw.length(state.len()));
    let any = flagged(draw, sides, contacts);
    let multipliers: Multipliers = model.multipliers(t, &state[..length.min(state.len())], &any);
    trial.note(
        "multipliers",
        &(
            multipliers.values(),
            multipliers.friction(0),
            multipliers.used_friction(0),
            multipliers.are_unique(),
        ),
    );
    trial.note(
        "closed",
        &(
            model.closed(&any),
            model.is_closed(&any, draw.size(5)),
            model.contacting(&any, draw.size(5)),
        ),
    );
    trial.note("energy", &model.energy(&state));
    let listed: Vec<usize> = (0..draw.below(contacts + 1))
        .map(|_| draw.size(contacts.max(1)))
        .collect();
    let given = model.mode(&listed);
    trial.expect(
        (given.len(), given.flag_count()) == (model.count(), model.flags()),
        || "a mode of another length".to_owned(),
    );
    trial.expect(
        model.closed(&given).iter().all(|j| listed.contains(j)),
        || "closed contacts".to_owned(),
    );
    let report: Option<DecouplingReport> = trial.result(
        "decoupling",
        model.decoupling(&Start::at(t).q(q).v(v), &listed),
    );
    if let Some(report) = report {
        let verdict: &InertialCoupling = &report.verdict;
        if let InertialCoupling::ContinuousOnly(class) = verdict {
            let class: &ContinuityClass = class;
            trial.note("class", class);
        }
        for outcome in &report.outcomes {
            let outcome: &OrderOutcome = outcome;
            trial.finite("velocity of an order", outcome.velocity.as_slice());
            trial.finite("matrix of an order", outcome.matrix.as_slice());
        }
    }
    let start: Result<SettledStart, Breakdown> = model.start(&Start::at(t).q(q).v(v));
    let Some(start) = trial.result("start", start) else {
        return;
    };
    trial.finite("state at the start", &start.state);
    let expected = Start::at(t).x(&start.state).mode(&start.mode);
    trial.expect(start.as_start() == expected, || {
        "a settled start is another one for the core".to_owned()
    });
    let limits = Limits {
        steps: 1000,
        crossings: 100,
    };
    let asked = Span {
        t0: t,
        x0: start.state.clone(),
        mode: Some(start.mode),
        tf: t + draw.between(0.0, 1.0),
    };
    let dim = model.dim();
    trial.expect(dim == asked.x0.len(), || {
        "a start of another length".to_owned()
    });
    let made = Integrator::new(model).map(|run| run.max_steps(1000).max_events(100));
    match made {
        Err(error) => trial.refused("integrator", &error),
        Ok(mut integrator) => {
            derivative::explore(trial, draw, &mut integrator, &asked, Some(limits))
        }
    }
}
