//! Bodies that touch: strides of the trotting models, and what an event costs beside a smooth step.

use std::hint::black_box;

use saltation::impact::Moreau;
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

/// Masses at rest on floors of their own.
#[derive(Clone, Copy)]
struct Masses {
    count: usize,
    constant_rows: bool,
}

impl MechanicalSystem for Masses {
    fn dof(&self) -> usize {
        self.count
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        mass.iter_mut()
            .step_by(self.count + 1)
            .for_each(|m| *m = 1.0);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(-9.81);
    }
    fn constant_mass(&self) -> bool {
        true
    }
}

impl UnilateralConstraints for Masses {
    fn contacts(&self) -> usize {
        self.count
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[j]
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.fill(0.0);
        row[j] = 1.0;
        true
    }
    fn constant_row(&self, _j: usize) -> bool {
        self.constant_rows
    }
    fn curvature(&self, _j: usize, _q: &[f64], _v: &[f64]) -> Option<f64> {
        Some(0.0)
    }
}

/// Fifty steps of one length at rest, where rows are constant and where they are not known to be.
pub(crate) fn resting() -> Vec<Case> {
    let case = |count: usize, constant_rows: bool| {
        let model = ContactModel::new(Masses {
            count,
            constant_rows,
        });
        let mode = model.mode(&(0..count).collect::<Vec<_>>());
        let mut resting = Integrator::new(model).expect("a system").fixed_step(1e-2);
        let x = vec![0.0; 2 * count];
        let rows = if constant_rows { "constant" } else { "varying" };
        Case::new(format!("{count} at rest, {rows} rows"), move || {
            let start = Start::at(0.0).x(&x).mode(&mode);
            let summary = resting.observe(&start, 0.5, &mut ());
            summary.expect("good input").statistics.steps
        })
    };
    let constant = [1, 4, 15, 30].map(|count| case(count, true));
    constant.into_iter().chain([case(30, false)]).collect()
}

/// Masses of 1 kg on the ground, `(x, z)` each, pushed along it.
#[derive(Clone, Copy)]
struct Pushed {
    count: usize,
    /// Force along the ground (N).
    force: f64,
    /// What it gains on the first mass (N/s).
    growth: f64,
    constant_rows: bool,
}

impl MechanicalSystem for Pushed {
    fn dof(&self) -> usize {
        2 * self.count
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        for m in mass.iter_mut().step_by(2 * self.count + 1) {
            *m = 1.0;
        }
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        for pair in effort.chunks_exact_mut(2) {
            pair.copy_from_slice(&[self.force, -9.81]);
        }
        effort[0] += self.growth * t;
    }
    fn time_scale(&self) -> Option<f64> {
        Some(f64::INFINITY)
    }
}

impl UnilateralConstraints for Pushed {
    fn contacts(&self) -> usize {
        self.count
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[2 * j + 1]
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.fill(0.0);
        row[2 * j + 1] = 1.0;
        true
    }
    fn constant_row(&self, _j: usize) -> bool {
        self.constant_rows
    }
    fn friction(&self, _j: usize) -> f64 {
        0.5
    }
    fn curvature(&self, _j: usize, _q: &[f64], _v: &[f64]) -> Option<f64> {
        Some(0.0)
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn constant_tangents(&self, _j: usize) -> bool {
        self.constant_rows
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.fill(0.0);
        rows[2 * j] = 1.0;
    }
}

/// Fifty steps of one length of masses that stick, that slip, and that slide freely, where rows
/// are constant and where they are not known to be.
pub(crate) fn sliding() -> Vec<Case> {
    let case = |count: usize, constant_rows: bool, word: &str| {
        let (force, speed) = match word {
            "stick" => (1.0, 0.0),
            _ => (8.0, 1.0),
        };
        let pushed = Pushed {
            count,
            force,
            growth: 0.0,
            constant_rows,
        };
        let mut model = ContactModel::with_law(pushed, Moreau::new());
        if word == "free" {
            model = model.frictionless();
        }
        let (q, v) = (vec![0.0; 2 * count], [speed, 0.0].repeat(count));
        let settled = model.start(&Start::at(0.0).q(&q).v(&v)).expect("a start");
        let mut run = Integrator::new(model).expect("a system").fixed_step(1e-2);
        let rows = if constant_rows { "" } else { ", varying rows" };
        Case::new(format!("{count} {word}{rows}"), move || {
            let summary = run.observe(&settled.as_start(), 0.5, &mut ());
            summary.expect("good input").statistics.steps
        })
    };
    let words = ["free", "stick", "slip"];
    let all = [true, false].into_iter().flat_map(|constant_rows| {
        let counts = [1, 2, 4].into_iter();
        counts.flat_map(move |count| words.map(|word| case(count, constant_rows, word)))
    });
    all.collect()
}

/// Events of one mass among some on the ground: it begins to slip, or comes to rest.
pub(crate) fn rubbing() -> Vec<Event> {
    let pushed = |count, growth| Pushed {
        count,
        force: 2.0,
        growth,
        constant_rows: true,
    };
    let begins = |name, count| event(name, pushed(count, 10.0), &vec![0.0; 4 * count]);
    let stops = |name, count: usize| {
        let mut x = vec![0.0; 4 * count];
        x[2 * count] = 1.0;
        event(name, pushed(count, 0.0), &x)
    };
    vec![
        begins("1 mass begins to slip", 1),
        stops("1 mass comes to rest", 1),
        begins("1 of 2 masses begins to slip", 2),
        stops("1 of 2 masses comes to rest", 2),
        begins("1 of 4 masses begins to slip", 4),
        stops("1 of 4 masses comes to rest", 4),
    ]
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
    let mut events = vec![
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
    ];
    events.extend(rubbing());
    events
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
