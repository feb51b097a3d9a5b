//! Bodies that touch: strides of the trotting models, and what an event costs beside a smooth step.

use std::hint::black_box;

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{BouncingBall, RigidTrot, SoftTrot};
use saltation::{ContactModel, EventDriven};
use saltation::{Integrator, Sensitivities, Start};

/// Tolerance of all runs.
const RTOL: f64 = 1e-9;

/// A call goes through one run; elements are steps.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) run: Box<dyn FnMut() -> usize>,
}

impl Case {
    fn new(name: impl Into<String>, run: impl FnMut() -> usize + 'static) -> Self {
        Self {
            name: name.into(),
            run: Box::new(run),
        }
    }
}

fn integrator<S>(model: ContactModel<S>) -> Integrator<ContactModel<S>>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let integrator = Integrator::new(model).expect("a system");
    integrator.rtol(RTOL).atol(0.1 * RTOL)
}

/// A stride on soft legs, both feet at once and one after the other: plain, with 8 columns of its
/// variational matrix, and as a simulation with its log.
pub(crate) fn strides() -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, pitch) in [("pitched", 0.01), ("level", 0.0)] {
        let (q, v) = SoftTrot::default().start(pitch);
        let x = [q, v].concat();
        let model = || ContactModel::new(SoftTrot::default());

        let (start, mut plain) = (x.clone(), integrator(model()));
        let run = move || {
            let summary = plain.observe(&Start::at(0.0).x(&start), 0.65, &mut ());
            summary.expect("good input").statistics.steps
        };
        cases.push(Case::new(format!("{name}, plain"), run));

        let mut carrying = integrator(model());
        let mut tangents = Sensitivities::new(8, 8);
        let unit: Vec<f64> = (0..64).map(|i| f64::from(u8::from(i % 9 == 0))).collect();
        tangents.set(&unit).expect("sizes fit");
        let run = move || {
            let run = carrying.carry(&Start::at(0.0).x(&x), 0.65, &mut tangents, &mut ());
            black_box(tangents.columns().expect("a derivative")[(0, 0)]);
            run.expect("good input").statistics.steps
        };
        cases.push(Case::new(format!("{name}, 8 columns"), run));

        let mut simulation = EventDriven::new(model())
            .expect("a system")
            .rtol(RTOL)
            .atol(0.1 * RTOL);
        let run = move || {
            let run = simulation
                .integrate(&Start::at(0.0).q(&q).v(&v), 0.65)
                .expect("good input");
            run.statistics().steps
        };
        cases.push(Case::new(format!("{name}, simulation"), run));
    }
    cases
}

/// Runs over an event, the same time without it, and 40 smooth steps.
pub(crate) struct Event {
    pub(crate) name: &'static str,
    pub(crate) through: Case,
    pub(crate) beyond: Case,
    pub(crate) smooth: Case,
}

/// Half the time of a run over an event (s).
const HALF: f64 = 5e-4;

/// Steps of a smooth run.
pub(crate) const STEPS: usize = 40;

/// The first event of each model.
pub(crate) fn events() -> Vec<Event> {
    let ball = BouncingBall::default();
    let rigid = RigidTrot::default();
    let (soft, bouncing) = (
        SoftTrot::default(),
        SoftTrot {
            restitution: 0.5,
            ..SoftTrot::default()
        },
    );
    let rock = RigidTrot::block(1.0, 0.1, 0.3);
    let flat = |(q, v): (Vec<f64>, Vec<f64>)| [q, v].concat();
    let start = |pitch| {
        let (q, v) = soft.start(pitch);
        (q.to_vec(), v.to_vec())
    };
    let rigid_start = |pitch| {
        let (q, v) = RigidTrot::start(pitch);
        (q.to_vec(), v.to_vec())
    };
    let (q, v) = rock.tilted(0.1);
    vec![
        event("ball", ball, &[1.0, 0.0]),
        event("rigid legs, one foot", rigid, &flat(rigid_start(0.1))),
        event("rigid legs, both feet", rigid, &flat(rigid_start(0.0))),
        event(
            "block from corner to corner",
            rock,
            &flat((q.to_vec(), v.to_vec())),
        ),
        event("soft legs, one foot", soft, &flat(start(0.1))),
        event("soft legs, both feet", soft, &flat(start(0.0))),
        event("soft legs, one foot bounces", bouncing, &flat(start(0.1))),
    ]
}

fn event<S>(name: &'static str, system: S, x: &[f64]) -> Event
where
    S: MechanicalSystem + UnilateralConstraints + Clone + 'static,
{
    let model = ContactModel::new(system);
    let (q, v) = x.split_at(x.len() / 2);
    let mut simulation = EventDriven::new(model.clone())
        .expect("a system")
        .rtol(RTOL)
        .atol(0.1 * RTOL);
    let run = simulation
        .integrate(&Start::at(0.0).q(q).v(v), 0.6)
        .expect("good input");
    let time = run.events().first().expect("an event").t;
    let part = |from: f64, to: f64, step: f64| {
        let start = run
            .state_at(from)
            .expect("within the run")
            .as_slice()
            .to_vec();
        let mode = run.mode_at(from).expect("within the run").clone();
        let mut integrator = integrator(model.clone()).first_step(step).max_step(step);
        move || {
            let summary = integrator.observe(&Start::at(from).x(&start).mode(&mode), to, &mut ());
            summary.expect("good input").statistics.steps
        }
    };
    let after = time + HALF;
    Event {
        name,
        through: Case::new(name, part(time - HALF, after, 2.0 * HALF)),
        beyond: Case::new(name, part(after, after + 2.0 * HALF, 2.0 * HALF)),
        smooth: Case::new(
            name,
            part(after, after + STEPS as f64 * 1e-4 * HALF, 1e-4 * HALF),
        ),
    }
}
