//! Strides of a model: runs from several pitches, and the limits and slopes to either side of the
//! level start.

use saltation::event_driven::{DecouplingReport, Phase};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{RigidTrot, SoftTrot};
use saltation::{ContactModel, EventDriven};
use saltation::{Error, Guard, Integrator, Start};

use crate::common::flags::Outcome;

const TOLERANCE: f64 = 1e-12;

/// A body on two legs that starts at rest, pitched.
pub(crate) trait Trot: MechanicalSystem + UnilateralConstraints + Copy {
    /// `q` and `v` for a pitch.
    fn start(&self, theta: f64) -> (Vec<f64>, Vec<f64>);
    /// How the state `(q, v)` of the start changes with the pitch where it is level.
    fn direction(&self) -> Vec<f64>;
}

impl Trot for RigidTrot {
    fn start(&self, theta: f64) -> (Vec<f64>, Vec<f64>) {
        let (q, v) = Self::start(theta);
        (q.to_vec(), v.to_vec())
    }

    fn direction(&self) -> Vec<f64> {
        vec![0.0, 1.0, 0.0, 0.0]
    }
}

impl Trot for SoftTrot {
    fn start(&self, theta: f64) -> (Vec<f64>, Vec<f64>) {
        let (q, v) = self.start(theta);
        (q.to_vec(), v.to_vec())
    }

    fn direction(&self) -> Vec<f64> {
        self.start_direction().to_vec()
    }
}

/// Vertical velocity (m/s) and pitch rate (rad/s) of the body, or how they change with the pitch at
/// the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rates {
    pub(crate) vertical: f64,
    pub(crate) pitch: f64,
}

impl Rates {
    /// From a state `(q, v)` with height and pitch in front. 0.0 is added because a rate may be −0.
    fn of(state: &[f64]) -> Self {
        let rate = |i: usize| state.get(state.len() / 2 + i).map_or(f64::NAN, |v| v + 0.0);
        Self {
            vertical: rate(0),
            pitch: rate(1),
        }
    }
}

/// One of the rates.
#[derive(Clone, Copy)]
pub(crate) struct Quantity {
    pub(crate) name: &'static str,
    pub(crate) unit: &'static str,
    pub(crate) of: fn(&Rates) -> f64,
}

pub(crate) const PITCH_RATE: Quantity = Quantity {
    name: "pitch rate",
    unit: "rad/s",
    of: |rates| rates.pitch,
};

pub(crate) const VERTICAL: Quantity = Quantity {
    name: "vertical velocity",
    unit: "m/s",
    of: |rates| rates.vertical,
};

/// A model and when its stride ends.
pub(crate) struct Stride<S> {
    pub(crate) name: String,
    pub(crate) system: S,
    /// End of the stride [s].
    pub(crate) tf: f64,
}

/// How one stride went.
pub(crate) struct End {
    /// Pitch at the start [rad].
    pub(crate) theta: f64,
    pub(crate) rates: Rates,
    pub(crate) modes: Vec<Phase>,
    /// `(q, v)` just before the first touch-down, and its time.
    before: Option<(f64, Vec<f64>)>,
}

/// What neighbours of the level start tell, on one side of it.
pub(crate) struct Side {
    pub(crate) limit: Rates,
    /// [per rad]
    pub(crate) slope: Rates,
}

impl<S: Trot> Stride<S> {
    pub(crate) fn run(&self, theta: f64) -> Result<End, Error> {
        let (q, v) = self.system.start(theta);
        let model = ContactModel::new(self.system);
        let mut simulation = EventDriven::new(model)?
            .rtol(TOLERANCE)
            .atol(0.1 * TOLERANCE);
        let run = simulation.integrate(&Start::at(0.0).q(&q).v(&v), self.tf)?;
        let run = run.completed()?;
        let first = run.events().first();
        Ok(End {
            theta,
            rates: Rates::of(run.state().as_slice()),
            modes: run.phases(),
            before: first.map(|event| (event.t, event.state_before.clone())),
        })
    }

    /// Limit and slope for a pitch that tends to zero from above, where the rear foot lands first,
    /// or from below.
    fn side(&self, above: bool) -> Result<Side, Error> {
        let (q, v) = self.system.start(0.0);
        let model = ContactModel::new(self.system);
        let start = model.start(&Start::at(0.0).q(&q).v(&v))?;
        let order = if above { [0, 1] } else { [1, 0] };
        let mut integrator = Integrator::new(&model)?
            .rtol(TOLERANCE)
            .atol(TOLERANCE)
            .corner_order(order.map(Guard::falling));
        let derivative = integrator.derivative(&start.as_start(), self.tf)?;
        let direction = self.system.direction();
        let slope = if above {
            derivative.apply(&direction)?
        } else {
            derivative.apply_backward(&direction)?
        };
        Ok(Side {
            limit: Rates::of(derivative.run().state().as_slice()),
            slope: Rates::of(slope.as_slice()),
        })
    }

    /// What decides whether the order of the feet matters, at the touch-down of a level start.
    fn decoupling(&self, level: &End) -> Outcome<DecouplingReport> {
        let (time, state) = level.before.as_ref().ok_or("no foot lands")?;
        let (q, v) = state.split_at(state.len() / 2);
        Ok(ContactModel::new(self.system).decoupling(&Start::at(*time).q(q).v(v), &[0, 1])?)
    }
}

/// All that is shown of a model.
pub(crate) struct Study {
    pub(crate) name: String,
    pub(crate) tf: f64,
    pub(crate) level: End,
    /// Runs with a pitch below zero and above, from the level start outwards.
    pub(crate) runs: [Vec<End>; 2],
    /// The limits from below and from above.
    pub(crate) sides: [Side; 2],
    pub(crate) decoupling: DecouplingReport,
}

impl Study {
    pub(crate) fn of<S: Trot>(stride: &Stride<S>, theta: f64, points: u32) -> Outcome<Self> {
        let runs = |sign: f64| {
            let pitch = |i: u32| sign * theta * f64::from(i) / f64::from(points);
            let runs = (1..=points).map(|i| stride.run(pitch(i)));
            runs.collect::<Result<Vec<_>, Error>>()
        };
        let level = stride.run(0.0)?;
        Ok(Self {
            name: stride.name.clone(),
            tf: stride.tf,
            decoupling: stride.decoupling(&level)?,
            level,
            runs: [runs(-1.0)?, runs(1.0)?],
            sides: [stride.side(false)?, stride.side(true)?],
        })
    }
}

/// The contact modes of a run, feet numbered from 1 as in the paper: `{}>{1}>{12}`.
pub(crate) fn sequence(modes: &[Phase]) -> String {
    let braces = |mode: &Phase| {
        let feet: String = mode.closed.iter().map(|j| (j + 1).to_string()).collect();
        format!("{{{feet}}}")
    };
    modes.iter().map(braces).collect::<Vec<_>>().join(">")
}
