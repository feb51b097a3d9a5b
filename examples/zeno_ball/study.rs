//! One body whose impacts accumulate, under each policy.

use saltation::event_driven::{ContactEventKind, Zeno};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Run};
use saltation::{Error, Start, Status};

/// A body, its start, and what is known of its impacts beforehand.
pub(crate) struct Body<S> {
    pub(crate) name: String,
    pub(crate) system: S,
    pub(crate) q: Vec<f64>,
    /// Which coordinate is drawn, what it is called, and its unit.
    pub(crate) drawn: (usize, &'static str, &'static str),
    /// Each time between impacts over the one before.
    pub(crate) ratio: f64,
    /// Time of the accumulation, where it has a closed form (s).
    pub(crate) exact: Option<f64>,
    /// End of the run (s).
    pub(crate) tf: f64,
}

/// How a run ended under a policy.
pub(crate) struct Ending {
    pub(crate) policy: Zeno,
    pub(crate) t: f64,
    pub(crate) impacts: usize,
    pub(crate) status: Status,
    pub(crate) guaranteed: bool,
    /// Forces of the contacts at the end (N).
    pub(crate) forces: Vec<f64>,
}

/// What the runs of a body showed.
pub(crate) struct Study {
    pub(crate) name: String,
    pub(crate) drawn: (usize, &'static str, &'static str),
    pub(crate) ratio: f64,
    pub(crate) exact: Option<f64>,
    /// Times of the impacts before the accumulation (s).
    pub(crate) impacts: Vec<f64>,
    /// When the accumulation was absorbed, if it was (s).
    pub(crate) absorbed: Option<f64>,
    /// The drawn coordinate over time, under `Absorb`, until a quarter beyond the accumulation.
    pub(crate) curve: Vec<(f64, f64)>,
    pub(crate) endings: Vec<Ending>,
}

/// Points of a curve.
const POINTS: u32 = 3000;

impl Study {
    pub(crate) fn of<S>(body: Body<S>, rtol: f64) -> Result<Self, Error>
    where
        S: MechanicalSystem + UnilateralConstraints + Clone,
    {
        let rest = vec![0.0; body.q.len()];
        let mut endings = Vec::new();
        let mut last = None;
        for policy in [Zeno::Error, Zeno::StopAt, Zeno::Absorb] {
            let model = ContactModel::new(body.system.clone());
            let mut simulation = EventDriven::new(model)?
                .rtol(rtol)
                .atol(0.1 * rtol)
                .zeno(policy);
            let run = simulation.integrate(&Start::at(0.0).q(&body.q).v(&rest), body.tf)?;
            endings.push(Ending::of(policy, &run, simulation.model()));
            last = Some(run);
        }
        let (mut impacts, mut absorbed, mut curve) = (Vec::new(), None, Vec::new());
        if let Some(run) = last {
            absorbed = run
                .events()
                .iter()
                .find(|event| event.kind == ContactEventKind::ZenoAbsorbed)
                .map(|event| event.t);
            impacts = landings(&run);
            let end = absorbed.map_or(body.tf, |time| (1.25 * time).min(body.tf));
            for k in 0..=POINTS {
                let t = end * f64::from(k) / f64::from(POINTS);
                curve.push((t, run.state_at(t)?[body.drawn.0]));
            }
        }
        Ok(Self {
            name: body.name,
            drawn: body.drawn,
            ratio: body.ratio,
            exact: body.exact,
            impacts,
            absorbed,
            curve,
            endings,
        })
    }

    /// Times between impacts (s); the first is that from the first impact to the second.
    pub(crate) fn flights(&self) -> Vec<f64> {
        self.impacts.windows(2).map(|t| t[1] - t[0]).collect()
    }

    /// The accumulation as impacts `k − 2`, `k − 1` and `k` (from 0) announce it,
    /// `t_k + Δ r/(1 − r)`.
    pub(crate) fn announced(&self, k: usize) -> Option<f64> {
        let flights = self.flights();
        let (before, last) = (flights.get(k.checked_sub(2)?)?, flights.get(k - 1)?);
        let ratio = last / before;
        (ratio < 1.0).then(|| self.impacts[k] + last * ratio / (1.0 - ratio))
    }
}

/// Times of impacts, without the absorbed ones.
fn landings(run: &Run) -> Vec<f64> {
    let events = run.events().iter();
    let impacts = events.filter(|e| e.kind == ContactEventKind::Contact && !e.activated.is_empty());
    impacts.map(|event| event.t).collect()
}

impl Ending {
    fn of<S>(policy: Zeno, run: &Run, model: &ContactModel<S>) -> Self
    where
        S: MechanicalSystem + UnilateralConstraints,
    {
        let forces = model.multipliers(run.t(), run.state().as_slice(), run.mode());
        Self {
            policy,
            t: run.t(),
            impacts: landings(run).len(),
            status: run.status().clone(),
            guaranteed: run.is_guaranteed(),
            forces: forces.values().to_vec(),
        }
    }
}
