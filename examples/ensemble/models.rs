//! The models: what is drawn, what is run, what is kept, and how it is shown.

use saltation::ensemble::{Draw, Drawn, Ensemble, RunError};
use saltation::impact::{EventExact, OutcomeSimulation};
use saltation::models::{Hopper, PlateParameters, RockingBlock, VerticalPlate};
use saltation::{Integrator, Interrupt, Start, Status};

/// The runs of one thread.
pub(crate) type Runner = Box<dyn FnMut(&Drawn<'_>, &mut [f64]) -> Result<Status, RunError> + Send>;

/// A model with what is varied of it.
pub(crate) struct Model {
    pub(crate) name: &'static str,
    /// Model and options, for the tables.
    about: &'static str,
    /// What is drawn, uniformly.
    pub(crate) drawn: [Varied; 2],
    /// Names of what is kept.
    pub(crate) kept: &'static [&'static str],
    runner: fn(&Interrupt) -> Result<Runner, RunError>,
    /// What the picture shows.
    pub(crate) title: &'static str,
    pub(crate) shown: [Shown; 2],
}

/// A number that is drawn, between two bounds.
pub(crate) struct Varied {
    name: &'static str,
    bounds: [f64; 2],
}

/// A column with its label.
#[derive(Clone, Copy)]
pub(crate) struct Shown {
    pub(crate) column: &'static str,
    pub(crate) label: &'static str,
}

const fn varied(name: &'static str, low: f64, high: f64) -> Varied {
    let bounds = [low, high];
    Varied { name, bounds }
}

const fn shown(column: &'static str, label: &'static str) -> Shown {
    Shown { column, label }
}

pub(crate) static MODELS: [Model; 3] = [
    Model {
        name: "hopper",
        about: "Hopper m=1 l0=1 g=9.81, t=5 rtol=1e-6",
        drawn: [varied("z0", 1.5, 2.5), varied("stiffness", 200.0, 800.0)],
        kept: &["z", "v", "crossings"],
        runner: hopper,
        title: "A hopper after 5 s: dropped from 1.5 to 2.5 m onto a leg of 200 to 800 N/m",
        shown: [shown("z", "height [m]"), shown("v", "speed [m/s]")],
    },
    Model {
        name: "plate",
        about: "VerticalPlate with_springs(10), t=1.5 rtol=1e-6",
        drawn: [varied("z0", 2.0, 3.0), varied("tilt0", -0.1, 0.1)],
        kept: &["x", "z", "tilt", "vx", "vz", "rate", "crossings"],
        runner: plate,
        title: "A plate after 1.5 s: dropped from 2 to 3 m onto ten springs, tilted by up to 0.1 rad",
        shown: [
            shown("tilt", "tilt [rad]"),
            shown("rate", "rate of the tilt [rad/s]"),
        ],
    },
    Model {
        name: "block",
        about: "RockingBlock 1x2 m, EventExact bound=0.2",
        drawn: [varied("friction", 0.2, 1.0), varied("drop", 0.005, 0.015)],
        kept: &["rise_a", "rise_b", "slip_a", "slip_b"],
        runner: block,
        title: "A block lands on two corners: friction of 0.2 to 1, falls of 5 to 15 mm, any order",
        shown: [
            shown("rise_a", "separating speed of A [m/s]"),
            shown("rise_b", "separating speed of B [m/s]"),
        ],
    },
];

impl Model {
    /// All runs with a seed.
    #[expect(clippy::type_complexity, reason = "three functions")]
    pub(crate) fn ensemble<'a>(
        &'a self,
        seed: u64,
        interrupt: &'a Interrupt,
    ) -> Ensemble<
        impl Fn(&mut Draw) -> [f64; 2] + Sync,
        impl Fn() -> Result<Runner, RunError> + Sync,
        impl Fn(&mut Runner, &Drawn<'_>, &mut [f64]) -> Result<Status, RunError> + Sync,
    > {
        let names = [self.drawn[0].name, self.drawn[1].name];
        Ensemble::new(seed)
            .draw(&names, |draw| {
                let bounds = [self.drawn[0].bounds, self.drawn[1].bounds];
                bounds.map(|[low, high]| draw.between(low, high))
            })
            .run(
                self.kept,
                || (self.runner)(interrupt),
                |runner, drawn, kept| runner(drawn, kept),
            )
            .about(self.about)
            .interrupt(interrupt)
    }
}

#[expect(clippy::unnecessary_wraps, reason = "a row of the table of models")]
fn hopper(interrupt: &Interrupt) -> Result<Runner, RunError> {
    let interrupt = interrupt.clone();
    Ok(Box::new(move |drawn, kept| {
        let stiffness = drawn[1];
        let hopper = Hopper {
            stiffness,
            ..Hopper::default()
        };
        let mut driver = Integrator::fixed::<2>(hopper)?.interrupt(&interrupt);
        let run = driver.integrate(&Start::at(0.0).x(&[drawn[0], 0.0]), 5.0)?;
        kept[..2].copy_from_slice(run.state().as_slice());
        kept[2] = run.crossings().len() as f64;
        Ok(run.status().clone())
    }))
}

fn plate(interrupt: &Interrupt) -> Result<Runner, RunError> {
    let plate = VerticalPlate::new(PlateParameters::with_springs(10))?;
    let mut driver = Integrator::fixed::<6>(plate)?.interrupt(interrupt);
    Ok(Box::new(move |drawn, kept| {
        let start = [0.0, drawn[0], drawn[1], 0.0, 0.0, 0.0];
        let run = driver.integrate(&Start::at(0.0).x(&start), 1.5)?;
        kept[..6].copy_from_slice(run.state().as_slice());
        kept[6] = run.crossings().len() as f64;
        Ok(run.status().clone())
    }))
}

/// One sample of the set of outcomes, by the number of the row.
#[expect(clippy::unnecessary_wraps, reason = "a row of the table of models")]
fn block(_: &Interrupt) -> Result<Runner, RunError> {
    Ok(Box::new(|drawn, kept| {
        let block = RockingBlock {
            friction: drawn[0],
            drop: drawn[1],
            ..RockingBlock::default()
        };
        let impact = block.impact()?;
        let mut sampler = EventExact::new(0.2).start(&impact)?;
        let ended = OutcomeSimulation::simulate(&mut sampler, drawn.index(), kept, &mut [0.0; 4])?;
        if !ended.finished {
            return Err("a corner approaches after the last leg".into());
        }
        Ok(Status::ReachedEnd)
    }))
}
