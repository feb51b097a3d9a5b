//! EventDriven drivers of random bodies: every law, every policy.

use saltation::event_driven::{Grazing, Zeno};
use saltation::impact::ImpactProblem;
use saltation::mechanics::{
    ContactParameters, ContactSet, ContactSource, Contacts, MechanicalSystem, Painleve, Redundant,
    RowBlock, Wanted,
};
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{ContactModel, EventDriven, InputError, Projection, Start};

use super::{kept, live};
use crate::body::Body;
use crate::draw::Draw;
use crate::laws::{law, selection};
use crate::trial::Trial;

pub type Driven = ContactModel<Body>;

/// A body with a law and policies.
pub fn driven(draw: &mut Draw, most_dof: usize, most_contacts: usize) -> Driven {
    let body = Body::new(draw, most_dof, most_contacts);
    let mut model = ContactModel::with_law(body, law(draw)).selection(selection(draw));
    if draw.chance(0.5) {
        model = model.redundant(*draw.pick(&[Redundant::LeastSquares, Redundant::Refuse]));
    }
    if draw.chance(0.1) {
        model = model.gap_tolerance(1e-9 * draw.positive());
    }
    if draw.chance(0.1) {
        model = model.rate_tolerance(1e-9 * draw.positive());
    }
    if draw.chance(0.6) {
        model = model.frictionless();
    }
    if draw.chance(0.5) {
        model = model.any_restitution();
    }
    if draw.chance(0.5) {
        model = model.painleve(Painleve::Impact);
    }
    model
}

/// Bodies under any law.
type Bodies = EventDriven<Body>;

pub fn simulation(draw: &mut Draw, model: Driven) -> Result<(Bodies, usize), InputError> {
    let steps = *draw.pick(&[1500, 1500, 200, 1]);
    let mut simulation = EventDriven::new(model)?;
    simulation =
        simulation.zeno(*draw.pick(&[Zeno::Error, Zeno::Absorb, Zeno::Absorb, Zeno::StopAt]));
    simulation = simulation.grazing(*draw.pick(&[
        Grazing::Error,
        Grazing::Ignore,
        Grazing::Contact,
        Grazing::Contact,
    ]));
    if draw.chance(0.6) {
        let rtol: f64 = *draw.pick(&[1e-3, 1e-6, 1e-9, 1e-9, 0.0]);
        simulation = simulation.rtol(rtol).atol(0.1 * rtol);
    }
    if draw.chance(0.1) {
        simulation = simulation.zeno_time(1e-6 * draw.positive());
    }
    let (bounded, projects) = (draw.chance(0.2), draw.chance(0.8));
    let step = draw.positive();
    simulation = simulation.configure(|run| {
        let run = run.max_steps(steps).max_events(200);
        let run = if bounded { run.max_step(step) } else { run };
        if projects {
            run
        } else {
            run.projection(Projection::Off)
        }
    });
    Ok((simulation, steps))
}

/// The contacts of a configuration as values, and an impact of them.
fn contacts(draw: &mut Draw, trial: &mut Trial, body: &Body, (q, v): (&[f64], &[f64])) {
    let set = if draw.chance(0.5) {
        ContactSet::Within(draw.number())
    } else {
        ContactSet::Listed(if draw.chance(0.8) { &[0, 1] } else { &[1, 7] })
    };
    let wanted = Wanted {
        friction: draw.chance(0.5),
        slips_at: None,
        restitution_at: draw.chance(0.5).then_some(v),
        compliance: draw.chance(0.5),
    };
    let mut contacts = Contacts::new();
    trial.result(
        "fill",
        ContactSource::fill(body, q, set, wanted, &mut contacts),
    );
    for i in 0..=contacts.len() {
        for block in contacts.blocks(i) {
            let block: RowBlock<'_> = block;
            trial.note("block", &block);
        }
    }
    let all: Vec<ContactParameters> = contacts.all_parameters().to_vec();
    trial.note("contacts", &(&all, contacts.dof(), contacts.tangents()));
    let d = v.len();
    let mut mass = DMatrix::zeros(d, d);
    body.mass(q, mass.as_mut_slice());
    let velocity = DVector::from_column_slice(v);
    if draw.chance(0.3) {
        let (from, to) = (draw.size(3), draw.size(8));
        let rows = draw.whole(0, 8);
        let rows = draw.numbers(rows);
        trial.result("block", contacts.push_block(0, from..to, &rows));
        let mut parameters = ContactParameters::new(0, draw.number());
        if draw.chance(0.2) {
            parameters.rolling_friction = draw.number();
        }
        trial.result("contact", contacts.push(parameters));
    }
    let problem = ImpactProblem::from_contacts(&contacts, &mass, &velocity);
    trial.result("problem", problem.map(|problem| problem.contacts()));
    trial.door("at once", ImpactProblem::of_system(body, q, v, set));
}

/// The time of a run.
pub fn time(draw: &mut Draw) -> (f64, f64) {
    let t0 = if draw.chance(0.1) { draw.number() } else { 0.0 };
    let length = if draw.chance(0.05) {
        draw.number()
    } else {
        draw.between(0.0, 2.0)
    };
    (t0, t0 + length)
}

pub fn run(mut draw: Draw, trial: &mut Trial) {
    let model = driven(&mut draw, 5, 5);
    trial.note("body", model.system());
    let (q, v) = model.system().place(&mut draw);
    let other = model.system().place(&mut draw.aside("before"));
    let (mut simulation, steps) = match simulation(&mut draw, model) {
        Ok(made) => made,
        Err(error) => return trial.refused("simulation", &error),
    };
    let (t0, tf) = time(&mut draw);
    if trial.is_second {
        let _ = simulation.integrate(&Start::at(0.0).q(&other.0).v(&other.1), 0.5);
    }
    trial.note("start", &(t0, &q, &v, tf));
    let made = simulation.integrate(&Start::at(t0).q(&q).v(&v), tf);
    let Some(run) = trial.result("run", made) else {
        return;
    };
    let system = simulation.model();
    trial.door("impact", system.impact_at(run.state().as_slice()));
    if let Some(event) = run.events().first() {
        trial.door("impact of an event", system.impact_of(event));
    }
    kept::look(trial, &mut draw, &run, (t0, tf));
    let used = run.statistics().steps + run.statistics().rejections;
    trial.expect(used <= steps, || format!("{used} steps, {steps} allowed"));
    contacts(&mut draw, trial, system.system(), (&q, &v));
    let energy = system.energy(run.state().as_slice());
    trial.note("law and energy", &(system.law().name(), energy));
    live::balance(trial, system.energy_balance(&run));
    live::look(trial, &mut draw, &mut simulation, (t0, &q, &v, tf));
}
