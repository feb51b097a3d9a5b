//! One system by three methods.

use std::time::Instant;

use saltation::mechanics::MechanicalSystem;
use saltation::variational::Midpoint;
use saltation::{ContactModel, Error, Integrator, Observer, Segment, Start, Status};

use crate::common::flags::{Outcome, ensure};
use crate::free::Free;
use crate::ledger::Ledger;
use crate::progress::Progress;

/// What the flags say.
pub(crate) struct Plan {
    /// Length of the runs.
    pub(crate) periods: u32,
    /// Midpoint steps in a period.
    pub(crate) steps: u32,
    /// Angle of all rods at the start (rad).
    pub(crate) angle: f64,
    /// The tolerance of a third run.
    pub(crate) rtol: Option<f64>,
}

/// A run by one method.
pub(crate) struct Run {
    pub(crate) name: String,
    pub(crate) ledger: Ledger,
    /// Evaluations of the effort and of its derivatives.
    pub(crate) evaluations: f64,
    pub(crate) seconds: f64,
}

/// The runs of a system.
pub(crate) struct Study {
    pub(crate) name: String,
    /// Of the slowest small oscillation (s).
    pub(crate) period: f64,
    /// Energy at the start above that at rest (J).
    pub(crate) energy: f64,
    pub(crate) runs: Vec<Run>,
}

/// Periods of the runs in which the tolerance for the same work is found.
const TRIAL: u32 = 20;

/// A system, its start and its period.
struct Swing<'a, S> {
    system: &'a Free<S>,
    q: Vec<f64>,
    period: f64,
    energy: [f64; 2],
}

impl Study {
    pub(crate) fn of<S: MechanicalSystem>(name: String, system: S, plan: &Plan) -> Outcome<Self> {
        let system = Free::new(system);
        let q = vec![plan.angle; system.dof()];
        let rest = vec![0.0; system.dof()];
        let mut mass = vec![0.0; system.dof() * system.dof()];
        let start = system.energy(&q, &rest, &mut mass);
        let scale = start - system.energy(&rest, &rest, &mut mass);
        let period = system.slowest_period().ok_or("no small oscillation")?;
        let swing = Swing {
            system: &system,
            q,
            period,
            energy: [start, scale],
        };
        let midpoint = swing.midpoint(&name, plan.steps, plan.periods)?;
        let wanted = midpoint.evaluations / midpoint.ledger.reached();
        let rtol = swing.same_work(wanted)?;
        let same = swing.explicit(&name, "same work", rtol, plan.periods)?;
        let mut runs = vec![midpoint, same];
        if let Some(rtol) = plan.rtol {
            runs.push(swing.explicit(&name, "tight", rtol, plan.periods)?);
        }
        Ok(Self {
            name,
            period,
            energy: scale,
            runs,
        })
    }
}

impl<S: MechanicalSystem> Swing<'_, S> {
    fn ledger(&self) -> Ledger {
        let [start, scale] = self.energy;
        Ledger::new(start, scale)
    }

    /// By steps of the midpoint rule.
    fn midpoint(&self, system: &str, steps: u32, periods: u32) -> Result<Run, Error> {
        let name = format!("midpoint, {steps} steps a period");
        let h = self.period / f64::from(steps);
        let d = self.q.len();
        let mut midpoint = Midpoint::new(self.system)?;
        let (mut q, mut p) = (self.q.clone(), vec![0.0; d]);
        let (mut ledger, mut mass) = (self.ledger(), vec![0.0; d * d]);
        let mut progress = Progress::new(format!("{system}, {name}"));
        let (before, clock) = (self.system.calls(), Instant::now());
        for k in 0..u64::from(steps) * u64::from(periods) {
            midpoint.step(k as f64 * h, h, &mut q, &mut p)?;
            let v = midpoint.velocity(&q, &p)?;
            let t = (k + 1) as f64 / f64::from(steps);
            ledger.enter(t, self.system.energy(&q, &v, &mut mass));
            progress.show(t / f64::from(periods));
        }
        Ok(Run {
            name,
            ledger,
            evaluations: (self.system.calls() - before) as f64,
            seconds: clock.elapsed().as_secs_f64(),
        })
    }

    /// By the method of Tsitouras.
    fn explicit(&self, system: &str, name: &str, rtol: f64, periods: u32) -> Outcome<Run> {
        let name = format!("Tsitouras, {name}: rtol {rtol:.1e}");
        let d = self.q.len();
        let mut integrator = Integrator::new(ContactModel::new(self.system))?
            .rtol(rtol)
            .atol(0.1 * rtol)
            .max_steps(usize::MAX);
        let mut watch = Energies {
            swing: self,
            ledger: self.ledger(),
            mass: vec![0.0; d * d],
            progress: Progress::new(format!("{system}, {name}")),
            periods: f64::from(periods),
        };
        let start = [self.q.clone(), vec![0.0; d]].concat();
        let (before, clock) = (self.system.calls(), Instant::now());
        let tf = f64::from(periods) * self.period;
        let summary = integrator.observe(&Start::at(0.0).x(&start), tf, &mut watch)?;
        let message = format!("{name}: {}", summary.status);
        ensure(summary.status == Status::ReachedEnd, &message)?;
        Ok(Run {
            name,
            ledger: watch.ledger,
            evaluations: (self.system.calls() - before) as f64,
            seconds: clock.elapsed().as_secs_f64(),
        })
    }

    /// The relative tolerance with which the method of Tsitouras needs so many evaluations a
    /// period, by bisection.
    fn same_work(&self, wanted: f64) -> Outcome<f64> {
        let (mut loose, mut tight) = (-1.0f64, -13.0f64);
        for _ in 0..7 {
            let middle = 0.5 * (loose + tight);
            let run = self.explicit("", "", 10f64.powf(middle), TRIAL)?;
            if run.evaluations / run.ledger.reached() > wanted {
                tight = middle;
            } else {
                loose = middle;
            }
        }
        Ok(10f64.powf(loose))
    }
}

/// Enters the energy at the end of each step.
struct Energies<'a, S> {
    swing: &'a Swing<'a, S>,
    ledger: Ledger,
    mass: Vec<f64>,
    progress: Progress,
    periods: f64,
}

impl<S: MechanicalSystem> Observer for Energies<'_, S> {
    fn segment(&mut self, segment: &Segment<'_>) {
        let (q, v) = segment.state.split_at(self.swing.q.len());
        let t = segment.t / self.swing.period;
        let energy = self.swing.system.energy(q, v, &mut self.mass);
        self.ledger.enter(t, energy);
        self.progress.show(t / self.periods);
    }
}
