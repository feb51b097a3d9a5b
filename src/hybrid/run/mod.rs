//! One integration (Anderson & Revzen, section 3).
//!
//! * `initial`: sides and arming at the start.
//! * `smooth`: one step of the stepper in a frozen mode, as long as `steps` says, up to the first
//!   guard that [`search`](super::search) finds in it.
//! * `crossing`: the crossing phase; `cluster`: who is near and comes first; `project`: one step in
//!   the event variable (listing 1).
//! * `fire`: the crossings of one instant; `cascade`: their transitions; `transversality`: what they
//!   must fulfil; `order`: orders of crossings that errors hide.

mod cascade;
mod cluster;
mod crossing;
mod fire;
mod initial;
mod order;
mod project;
mod smooth;
mod steps;
mod transversality;

use super::context::{Context, System};
use super::driver::Entry;
use crate::hybrid::options::Settings;
use crate::hybrid::search::{Doubts, GuardSearch, Turned};
use crate::hybrid::table::{GuardTable, State};
use crate::ode::Buffer;
use crate::{Mode, Observer, Status, Stop, Summary};

/// Everything that one integration moves and works with; made once, reused by every run.
#[derive(Clone, Debug)]
pub(crate) struct Integration<B> {
    pub(crate) state: State<B>,
    guards: GuardTable<B>,
    steps: steps::Steps<B>,
    search: GuardSearch<B>,
    cluster: cluster::Cluster,
    trial: project::Trial<B>,
    cascade: cascade::Cascade<B>,
    turned: Turned<B>,
    doubts: Doubts,
}

impl<B: Buffer> Integration<B> {
    pub(crate) fn new(dim: usize, mode: &Mode) -> Self {
        let count = mode.len();
        Self {
            state: State::new(dim, mode),
            guards: GuardTable::new(dim, count),
            steps: steps::Steps::new(dim),
            search: GuardSearch::new(dim, count),
            cluster: cluster::Cluster::new(count),
            trial: project::Trial::new(dim, count),
            cascade: cascade::Cascade::new(dim, mode),
            turned: Turned::new(dim, mode),
            doubts: Doubts::new(),
        }
    }

    /// Forgets the last run and stands at the start of the next; the input has been checked.
    pub(crate) fn begin(&mut self, settings: &Settings, t0: f64, x0: &[f64], tf: f64) {
        self.state.begin(settings, t0, x0, tf);
        self.cluster.begin();
        self.trial.pending = None;
        self.cascade.begin(settings.first_transition);
        self.turned.begin();
        self.doubts.begin();
    }
}

/// Runs to the end, from where `run` stands.
pub(crate) fn run_to_end<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Integration<B>,
    entry: Entry<'_>,
    observer: &mut dyn Observer,
) -> Summary {
    let ended = run_on(context, run, entry, observer);
    let Integration {
        state,
        guards,
        cascade,
        turned,
        doubts,
        ..
    } = run;
    // The doubts that crossings and the end leave belong to the run: a run that is interrupted
    // there has left work out, wherever it stands.
    let mut judged = turned.at_end(context, state, guards, doubts);
    judged = judged.and_then(|()| match ended {
        Ok(false) => doubts.of_end(context, state, guards, &cascade.scratch.mode_before),
        Ok(true) => order::doubt_at_stop(context, state, guards, cascade, doubts),
        Err(_) => Ok(()),
    });
    doubts.tell(observer);
    let ended = ended.and_then(|ends| judged.map(|()| ends));
    let status = match ended {
        Ok(true) if cascade.stopping.is_empty() => Status::Ended,
        Ok(true) => Status::Stopped {
            guards: cascade.stopping.clone(),
        },
        Ok(false) => Status::ReachedEnd,
        Err(reason) => Status::Refused(reason),
    };
    Summary {
        status,
        t: state.t,
        statistics: context.counts.statistics(doubts.count),
    }
}

/// Smooth and crossing phases in turn; `true` when a guard or the observer ends the run.
fn run_on<S: System + ?Sized, B: Buffer>(
    context: &Context<'_, S>,
    run: &mut Integration<B>,
    entry: Entry<'_>,
    observer: &mut dyn Observer,
) -> Result<bool, Stop> {
    match entry {
        Entry::Start(mode) => initial::start(context, run, mode, observer)?,
        Entry::GoOn { is_next } => {
            run.cascade.stopping.clear();
            let mut is_renewed = false;
            if is_next {
                // Between two parts of a live run the user may have changed what the system does.
                let before = run.search.stop_field.get_mut();
                is_renewed = run.state.renew_field(context, before)?;
                if is_renewed {
                    run.turned.begin();
                    run.guards.forget_system();
                    run.guards.stale.fill(true);
                    run.steps.choose(context, &mut run.state);
                }
                let (state, guards) = (&run.state, &run.guards);
                (run.search).begin_part(context.system, context.settings, state, guards);
                run.steps.begin_part(context.system, state);
            }
            if fire::fire_refused(context, run, observer, is_renewed)? {
                return Ok(true);
            }
        }
    }
    loop {
        context.settings.limits.interrupt.check()?;
        if crossing::crossing_phase(context, run, observer)? {
            return Ok(true);
        }
        if run.state.t >= run.state.tf {
            return Ok(false);
        }
        // A step that ends at the entry into a neighbourhood is a step too.
        if smooth::smooth_step(context, run, observer)? || observer.is_done() {
            return Ok(true);
        }
    }
}
