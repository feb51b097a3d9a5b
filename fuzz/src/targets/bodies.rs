//! Simulations of random bodies: every law, every policy.

use saltation::event_driven::{
    ContactEvent, ContactEventKind, ContactMode, EventDriven, Grazing, MechanicalRun, Simulation,
    Zeno,
};
use saltation::mechanics::Redundant;
use saltation::{Projection, Status};

use crate::body::Body;
use crate::draw::Draw;
use crate::laws::{law, selection};
use crate::trial::Trial;

pub type Driven = EventDriven<Body>;

/// A body with a law and policies.
pub fn driven(draw: &mut Draw, most_dof: usize, most_contacts: usize) -> Driven {
    let body = Body::new(draw, most_dof, most_contacts);
    let mut model = EventDriven::with_law(body, law(draw)).selection(selection(draw));
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
    model
}

/// Bodies under any law.
type Bodies = Simulation<Body>;

pub fn simulation(
    draw: &mut Draw,
    model: Driven,
) -> Result<(Bodies, usize), saltation::InputError> {
    let steps = *draw.pick(&[1500, 1500, 200, 1]);
    let mut simulation = Simulation::new(model)?;
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
    if draw.chance(0.2) {
        simulation = simulation.cluster_time(1e-3 * draw.positive());
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
        let _ = simulation.integrate(0.0, &other.0, &other.1, 0.5);
    }
    trial.note("start", &(t0, &q, &v, tf));
    let made = simulation.integrate(t0, &q, &v, tf);
    let run: Option<MechanicalRun> = trial.result("run", made);
    let Some(run) = run else { return };
    let kept = run.trajectory();
    let used = kept.statistics().steps + kept.statistics().rejections;
    trial.expect(used <= steps, || format!("{used} steps, {steps} allowed"));
    for (t, x) in kept.nodes() {
        trial.finite("time of a node", &[t]);
        trial.finite("node", x.as_slice());
    }
    trial.expect(kept.times().is_sorted(), || {
        "times of nodes fall".to_owned()
    });
    if *kept.status() == Status::ReachedEnd {
        trial.expect(kept.time() == tf, || {
            format!("the end is {}, not {tf}", kept.time())
        });
    }
    trial.say(kept.status());
    for event in run.events() {
        let event: &ContactEvent = event;
        trial.note("event", event);
        trial.finite("impulses", &event.impulses);
        trial.finite("state after", &event.state_after);
        let kind: &ContactEventKind = &event.kind;
        trial.note("kind", kind);
    }
    let modes: Vec<ContactMode> = run.modes();
    trial.note("modes", &modes);
    trial.note("guaranteed", &run.is_guaranteed());
    let (law, energy) = (
        simulation.model().law().name(),
        simulation.model().energy(kept.state().as_slice()),
    );
    trial.note("law and energy", &(law, energy));
    trial.result("completed", run.completed().map(|_| ()));
}
