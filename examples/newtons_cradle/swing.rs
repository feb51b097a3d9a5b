//! One swing: ball 1 is lifted and let go, and a law decides what its impacts do.

use saltation::event_driven::ContactEvent;
use saltation::impact::{ImpactLaw, Plastic, Propagative, ReflectionOrder, Unilateral};
use saltation::{ContactModel, EventDriven, Run};
use saltation::{Error, Start, Status};

use crate::balls::HangingBalls;
use crate::common::flags::Outcome;

/// Standard gravity to two decimals [m/s^2].
const GRAVITY: f64 = 9.81;

/// A law of impact and the restitution of the balls under it.
pub(crate) struct Law {
    pub(crate) name: &'static str,
    restitution: f64,
    make: fn() -> Box<dyn ImpactLaw + Send + Sync>,
}

/// The laws side by side.
pub(crate) static LAWS: [Law; 4] = [
    Law {
        name: "propagative, fastest first",
        restitution: 1.0,
        make: || Box::new(Propagative::new(ReflectionOrder::ArgMin)),
    },
    Law {
        name: "propagative, slowest first",
        restitution: 1.0,
        make: || Box::new(Propagative::new(ReflectionOrder::ArgMax)),
    },
    Law {
        name: "unilateral, e = 1",
        restitution: 1.0,
        make: || Box::new(Unilateral),
    },
    Law {
        name: "plastic",
        restitution: 0.0,
        make: || Box::new(Plastic),
    },
];

/// Between two impacts: times, and the momenta of all balls [kg m/s].
pub(crate) type Piece = Vec<(f64, Vec<f64>)>;

/// What is shown of a swing.
pub(crate) struct Swing {
    pub(crate) law: &'static str,
    pub(crate) masses: Vec<f64>,
    pub(crate) tf: f64,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) impacts: Vec<Impact>,
    /// Why the run ended early, if it did.
    pub(crate) trouble: Option<String>,
}

/// Velocities just before and just after an impact [m/s].
pub(crate) struct Impact {
    pub(crate) t: f64,
    pub(crate) before: Vec<f64>,
    pub(crate) after: Vec<f64>,
}

impl Swing {
    /// A swing of balls of these masses with ball 1 drawn aside by `lift`, on strings of some
    /// length, until `tf`.
    pub(crate) fn of(
        law: &'static Law,
        masses: &[f64],
        (lift, length): (f64, f64),
        (tf, points): (f64, u32),
    ) -> Outcome<Self> {
        let n = masses.len();
        let balls = HangingBalls {
            masses: masses.to_vec(),
            length,
            gravity: GRAVITY,
            restitution: law.restitution,
        };
        let mut start = vec![0.0; n];
        start[0] = -lift;
        let model = ContactModel::with_law(balls, (law.make)());
        let mut simulation = EventDriven::new(model)?.rtol(1e-9).atol(1e-10);
        let run = simulation.integrate(&Start::at(0.0).q(&start).v(&vec![0.0; n]), tf)?;
        let closes = |event: &&ContactEvent| !event.activated.is_empty();
        let impacts: Vec<&ContactEvent> = run.events().iter().filter(closes).collect();
        let velocities = |event: &&ContactEvent| Impact {
            t: event.t,
            before: event.state_before[n..].to_vec(),
            after: event.state_after[n..].to_vec(),
        };
        let trouble = match run.status() {
            Status::Refused(reason) => Some(reason.to_string()),
            _ => None,
        };
        Ok(Self {
            law: law.name,
            masses: masses.to_vec(),
            tf,
            pieces: pieces(&run, &impacts, masses, tf / f64::from(points))?,
            impacts: impacts.iter().map(velocities).collect(),
            trouble,
        })
    }
}

/// The momenta from impact to impact, at least every `step` seconds.
fn pieces(
    run: &Run,
    impacts: &[&ContactEvent],
    masses: &[f64],
    step: f64,
) -> Result<Vec<Piece>, Error> {
    let momenta = |state: &[f64]| {
        let velocities = &state[masses.len()..];
        masses.iter().zip(velocities).map(|(m, v)| m * v).collect()
    };
    let mut start = (0.0, run.state_at(0.0)?.as_slice().to_vec());
    let mut pieces = Vec::new();
    let end = (run.t(), run.state().as_slice().to_vec());
    let ends = impacts
        .iter()
        .map(|event| (event.t, event.state_before.clone()));
    let starts = impacts
        .iter()
        .map(|event| (event.t, event.state_after.clone()));
    let starts = starts.map(Some).chain([None]);
    for (end, next) in ends.chain([end]).zip(starts) {
        let mut piece = vec![(start.0, momenta(&start.1))];
        let mut t = start.0 + step;
        while t < end.0 {
            piece.push((t, momenta(run.state_at(t)?.as_slice())));
            t += step;
        }
        piece.push((end.0, momenta(&end.1)));
        pieces.push(piece);
        start = next.unwrap_or(end);
    }
    Ok(pieces)
}

/// Total momentum [kg m/s].
pub(crate) fn momentum(masses: &[f64], velocities: &[f64]) -> f64 {
    masses.iter().zip(velocities).map(|(m, v)| m * v).sum()
}

/// Kinetic energy [J].
pub(crate) fn energy(masses: &[f64], velocities: &[f64]) -> f64 {
    let balls = masses.iter().zip(velocities);
    balls.map(|(m, v)| 0.5 * m * v * v).sum()
}
