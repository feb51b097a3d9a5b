//! Every driver with a system, a start and an end.

use saltation::bodies::{Body, Scene, Shape};
use saltation::event_driven::Zeno;
use saltation::impact::AnitescuPotra;
use saltation::models::{
    BouncingBall, ContactChain, DoublePendulum, Hopper, PlateParameters, RigidTrot, RockingBlock,
    SlidingBlock, SoftTrot, VerticalPlate,
};
use saltation::{
    Compliant, ContactModel, Driver, EventDriven, Integrator, Interrupt, Run, Start, Status,
    Variational,
};

/// A driver with what it is to run.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// Makes the driver, which looks at the interrupt.
    pub(crate) driver: fn(&Interrupt) -> Box<dyn Driver>,
    pub(crate) x: Vec<f64>,
    pub(crate) q: Vec<f64>,
    pub(crate) v: Vec<f64>,
    pub(crate) tf: f64,
    /// Length of steps; none of adaptive drivers.
    pub(crate) step: Option<f64>,
}

impl Case {
    pub(crate) fn start(&self) -> Start<'_> {
        let start = Start::at(0.0);
        if self.x.is_empty() {
            start.q(&self.q).v(&self.v)
        } else {
            start.x(&self.x)
        }
    }

    fn of_state(
        name: &'static str,
        driver: fn(&Interrupt) -> Box<dyn Driver>,
        x: &[f64],
        tf: f64,
    ) -> Self {
        Self {
            name,
            driver,
            x: x.to_vec(),
            q: Vec::new(),
            v: Vec::new(),
            tf,
            step: None,
        }
    }

    fn of_bodies(
        name: &'static str,
        driver: fn(&Interrupt) -> Box<dyn Driver>,
        start: &(Vec<f64>, Vec<f64>),
        tf: f64,
        step: Option<f64>,
    ) -> Self {
        Self {
            name,
            driver,
            x: Vec::new(),
            q: start.0.clone(),
            v: start.1.clone(),
            tf,
            step,
        }
    }
}

fn pendulum() -> ContactModel<DoublePendulum> {
    ContactModel::new(DoublePendulum {
        restitution: 0.5,
        ..DoublePendulum::default()
    })
}

fn block() -> ContactModel<SlidingBlock> {
    ContactModel::with_law(SlidingBlock::default(), AnitescuPotra::new())
}

/// A box over a table, tilted and thrown.
fn scene() -> Scene {
    let mut scene = Scene::new();
    let turned = [0.96, 0.2, 0.16, 0.113_137_084_989_847_6];
    let side = Shape::cuboid([0.05, 0.04, 0.03]).expect("a box");
    let thrown = Body::new(side)
        .position([0.0, 0.0, 0.12])
        .orientation(turned)
        .velocity([0.3, 0.0, -0.5])
        .spinning_friction(1e-3)
        .rolling_friction(2e-3);
    let table = Body::fixed(Shape::plane());
    for body in [table, thrown] {
        scene.add(body).expect("a body");
    }
    scene
}

/// All drivers.
pub(crate) fn cases() -> Vec<Case> {
    let mut cases = cases_of_states();
    cases.extend(cases_of_bodies());
    cases
}

/// The nodes of a run, and what is known of its contacts.
pub(crate) fn bits(run: &Run) -> (Vec<u64>, Vec<u64>, String) {
    let times = run.times().iter().map(|t| t.to_bits()).collect();
    let states = run.states().iter().map(|x| x.to_bits()).collect();
    let rest = format!("{:?} {:?} {:?}", run.crossings(), run.events(), run.mode());
    (times, states, rest)
}

/// The run of a case, which is refused nowhere.
pub(crate) fn uncut(case: &Case) -> Run {
    let mut driver = (case.driver)(&Interrupt::new());
    let run = driver.integrate(&case.start(), case.tf).unwrap();
    assert!(
        !matches!(run.status(), Status::Refused(_)),
        "{}: {}",
        case.name,
        run.status()
    );
    run
}

/// The core.
fn cases_of_states() -> Vec<Case> {
    vec![
        Case::of_state(
            "hopper",
            |interrupt| {
                let driver = Integrator::new(Hopper::default()).expect("a hopper");
                Box::new(driver.rtol(1e-7).interrupt(interrupt))
            },
            &[2.0, 0.0],
            3.0,
        ),
        Case::of_state(
            "hopper of known size",
            |interrupt| {
                let driver = Integrator::fixed::<2>(Hopper::default()).expect("a hopper");
                Box::new(driver.rtol(1e-5).interrupt(interrupt))
            },
            &[1.7, 0.3],
            2.0,
        ),
        Case::of_state(
            "tilted plate on 20 springs",
            |interrupt| {
                let plate = VerticalPlate::new(PlateParameters::with_springs(20)).expect("a plate");
                let driver = Integrator::new(plate).expect("a plate");
                Box::new(driver.rtol(1e-6).interrupt(interrupt))
            },
            &[0.0, 2.2, 1e-3, 0.0, 0.0, 0.0],
            1.5,
        ),
        Case::of_state(
            "level plate on 20 springs",
            |interrupt| {
                let plate = VerticalPlate::new(PlateParameters::with_springs(20)).expect("a plate");
                let driver = Integrator::fixed::<6>(plate).expect("a plate");
                Box::new(driver.rtol(1e-4).interrupt(interrupt))
            },
            &[0.0, 2.2, 0.0, 0.0, 0.0, 0.0],
            1.0,
        ),
        Case::of_state(
            "row of masses over their floors",
            |interrupt| {
                let chain = ContactChain::new(6).expect("masses");
                let driver = Integrator::new(chain).expect("masses");
                Box::new(driver.rtol(1e-9).interrupt(interrupt))
            },
            &ContactChain::new(6).expect("masses").start(),
            0.5,
        ),
    ]
}

/// The drivers of bodies.
fn cases_of_bodies() -> Vec<Case> {
    let (q, v) = SoftTrot::default().start(0.01);
    let trot = (q.to_vec(), v.to_vec());
    let (q, v) = RigidTrot::start(0.05);
    let rigid = (q.to_vec(), v.to_vec());
    let (q, v) = RockingBlock::default().pivoting(0.15, 0.0);
    let rocks = (q.to_vec(), v.to_vec());
    let swing = (vec![1.0, 0.5], vec![0.0, 0.0]);
    let throw = (vec![0.0, 0.0], vec![2.0, 0.0]);
    vec![
        Case::of_bodies(
            "trot, from event to event",
            |interrupt| {
                let driver = EventDriven::new(ContactModel::new(SoftTrot::default()));
                Box::new(driver.expect("a trot").rtol(1e-8).interrupt(interrupt))
            },
            &trot,
            0.65,
            None,
        ),
        Case::of_bodies(
            "ball, from event to event",
            |interrupt| {
                let ball = ContactModel::new(BouncingBall::default());
                let driver = EventDriven::new(ball).expect("a ball");
                Box::new(driver.zeno(Zeno::Absorb).interrupt(interrupt))
            },
            &(vec![1.0], vec![0.0]),
            2.0,
            None,
        ),
        Case::of_bodies(
            "block that rocks and rubs, from event to event",
            |interrupt| {
                let block = RockingBlock {
                    friction: 0.3,
                    ..RockingBlock::default()
                };
                let driver = EventDriven::new(ContactModel::new(block)).expect("a block");
                // The default is a part of the run, or of a part of it.
                let driver = driver
                    .zeno(Zeno::Absorb)
                    .zeno_time(2e-6)
                    .zeno_tolerance(1e-6);
                Box::new(driver.rtol(1e-8).interrupt(interrupt))
            },
            &rocks,
            2.0,
            None,
        ),
        Case::of_bodies(
            "double pendulum, variational",
            |interrupt| {
                let driver = Variational::new(pendulum()).expect("a pendulum");
                Box::new(driver.time_step(0.01).interrupt(interrupt))
            },
            &swing,
            2.0,
            Some(0.01),
        ),
        Case::of_bodies(
            "trot on rigid legs, variational",
            |interrupt| {
                let legs = ContactModel::new(RigidTrot::default());
                let driver = Variational::new(legs).expect("a trot");
                Box::new(driver.time_step(0.01).interrupt(interrupt))
            },
            &rigid,
            1.5,
            Some(0.01),
        ),
        Case::of_bodies(
            "block, variational",
            |interrupt| {
                let driver = Variational::new(block()).expect("a block");
                Box::new(driver.time_step(0.01).interrupt(interrupt))
            },
            &throw,
            1.0,
            Some(0.01),
        ),
        Case::of_bodies(
            "block, compliant",
            |interrupt| {
                let driver = Compliant::new(SlidingBlock::default()).expect("a block");
                Box::new(driver.time_step(0.005).interrupt(interrupt))
            },
            &throw,
            1.0,
            Some(0.005),
        ),
        Case::of_bodies(
            "thrown box, compliant",
            |interrupt| {
                let driver = Compliant::new(scene()).expect("a scene");
                Box::new(driver.time_step(0.005).interrupt(interrupt))
            },
            &scene().start(),
            0.6,
            Some(0.005),
        ),
    ]
}
