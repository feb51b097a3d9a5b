//! Runs of random systems: what is kept, what is observed, and what it cost.

use saltation::model::{FlowFn, GuardedFn};
use saltation::{
    Arrival, Doubt, EventFunction, Flow, Guard, GuardCrossing, InputError, Integrator, Interrupt,
    Mode, Observer, PerEntry, Projection, Rearm, RearmMatrix, Resolution, Run, Segment, Start,
    Status, Stop, Summary, Transition,
};

use super::kept;
use crate::draw::Draw;
use crate::system::Random;
use crate::trial::Trial;

/// A run that is asked for.
#[derive(Clone, Debug)]
pub struct Span {
    pub t0: f64,
    pub x0: Vec<f64>,
    pub mode: Option<Mode>,
    pub tf: f64,
}

impl Span {
    pub fn start(&self) -> Start<'_> {
        Start::at(self.t0).x(&self.x0).mode(self.mode.as_ref())
    }
}

pub fn span(draw: &mut Draw, dim: usize) -> Span {
    let t0 = match draw.below(4) {
        0 => draw.number(),
        1 => *draw.pick(&[1e6, -1e9, 1e12, -0.4]),
        _ => 0.0,
    };
    let length = match draw.below(12) {
        0 => draw.number(),
        1 => 0.0,
        2 => draw.decades(-16.0, -6.0),
        _ => draw.between(0.0, 3.0),
    };
    let dim = draw.length(dim);
    Span {
        t0,
        x0: draw.numbers(dim),
        mode: None,
        tf: t0 + length,
    }
}

/// Settings with few steps and crossings, so that a case is short, and a mode to start in.
pub fn settings<S: Flow + EventFunction>(
    draw: &mut Draw,
    system: S,
) -> Result<(Integrator<S>, Limits, Option<Mode>), InputError> {
    let mut mode = None;
    let (dim, count) = (system.dim(), system.count());
    let limits = Limits {
        steps: *draw.pick(&[3000, 3000, 3000, 300, 1, 0]),
        crossings: *draw.pick(&[300, 300, 30, 1, 0]),
    };
    let tolerance = *draw.pick(&[1e-3, 1e-6, 1e-6, 1e-9, 1e-12]);
    let mut run = Integrator::new(system)?
        .max_steps(limits.steps)
        .max_events(limits.crossings);
    run = run
        .rtol(per_entry(draw, tolerance, dim))
        .atol(per_entry(draw, 0.1 * tolerance, dim));
    if draw.chance(0.4) {
        run = run.projection(projection(draw, count));
    }
    if draw.chance(0.15) {
        run = run.resolution(Resolution::Samples);
    }
    if draw.chance(0.25) {
        run = run.rearm(rearm(draw, count)?);
    }
    if draw.chance(0.1) {
        run = run.fixed_step(0.1 * draw.positive());
    }
    if draw.chance(0.1) {
        run = run.first_step(draw.positive());
    }
    if draw.chance(0.2) {
        run = run.max_step(draw.positive());
    }
    if draw.chance(0.1) {
        run = run.max_memory(draw.size(1 << 20));
    }
    if draw.chance(0.1) {
        run = run.corner_tolerance(1e-6 * draw.positive());
    }
    if draw.chance(0.15) {
        let guards: Vec<Guard> = (0..draw.below(4)).map(|_| guard(draw, count)).collect();
        run = run.corner_order(guards);
    }
    if draw.chance(0.15) {
        let len = draw.length(count);
        let flags = run.system().flags();
        mode = Some(flagged(draw, len, flags));
    }
    if draw.chance(0.02) {
        run = run.restart_at_events(true);
    }
    if draw.chance(0.02) {
        let interrupt = Interrupt::new();
        interrupt.set();
        run = run.interrupt(&interrupt);
    }
    Ok((run, limits, mode))
}

/// What a run was allowed.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub steps: usize,
    pub crossings: usize,
}

fn per_entry(draw: &mut Draw, usual: f64, dim: usize) -> PerEntry {
    match draw.below(16) {
        0 => PerEntry::from(usual * draw.positive()),
        1 => {
            let dim = draw.length(dim);
            PerEntry::from(
                (0..dim)
                    .map(|_| usual * draw.positive())
                    .collect::<Vec<_>>(),
            )
        }
        2 => PerEntry::Same(0.0),
        _ => PerEntry::Same(usual),
    }
}

fn projection(draw: &mut Draw, count: usize) -> Projection {
    let order = *draw.pick(&[1, 2, 3, 4, 3, 0, 200]);
    match draw.below(4) {
        0 => Projection::Off,
        1 => Projection::horizon(0.1 * draw.positive(), order),
        2 => {
            let count = draw.length(count);
            let widths: Vec<f64> = (0..count).map(|_| 0.1 * draw.positive()).collect();
            Projection::eps(widths.as_slice(), order)
        }
        _ => Projection::eps(0.1 * draw.positive(), order),
    }
}

pub fn guard(draw: &mut Draw, count: usize) -> Guard {
    let event = if draw.chance(0.02) {
        draw.size(count + 3)
    } else {
        draw.below(count.max(1))
    };
    if draw.chance(0.5) {
        Guard::rising(event)
    } else {
        Guard::falling(event)
    }
}

pub fn mode(draw: &mut Draw, len: usize) -> Mode {
    let on: Vec<usize> = (0..len).filter(|_| draw.chance(0.5)).collect();
    Mode::with(len, &on)
}

/// A mode with flags, mostly as many as `flags`.
pub fn flagged(draw: &mut Draw, len: usize, flags: usize) -> Mode {
    let count = draw.length(flags);
    let mut mode = mode(draw, len).with_flags(count);
    for j in 0..count {
        mode.set_flag(j, draw.chance(0.5));
    }
    mode
}

fn rearm(draw: &mut Draw, count: usize) -> Result<Rearm, InputError> {
    Ok(match draw.below(4) {
        0 => Rearm::Never,
        1 => Rearm::WhenEmpty,
        2 => Rearm::Pairs,
        _ => {
            let count = draw.length(count);
            let mut matrix = if draw.chance(0.5) {
                RearmMatrix::pairs(count)
            } else {
                RearmMatrix::new(count)
            };
            for _ in 0..draw.below(4) {
                let (by, guard) = (guard(draw, count), guard(draw, count));
                matrix = if draw.chance(0.5) {
                    matrix.arm(by, guard)?
                } else {
                    matrix.retire(by, guard)?
                };
            }
            Rearm::Matrix(matrix)
        }
    })
}

pub fn run(mut draw: Draw, trial: &mut Trial) {
    let system = Random::new(&mut draw, 4, 6);
    trial.note("system", &system);
    let made = settings(&mut draw, &system);
    let (mut integrator, limits, mode) = match made {
        Ok(made) => made,
        Err(error) => return trial.refused("settings", &error),
    };
    let mut asked = span(&mut draw, system.dim);
    asked.mode = mode;
    if trial.is_second {
        // work of another kind first: history does not matter
        let other = span(&mut draw.aside("before"), system.dim);
        let _ = integrator.integrate(&Start::at(other.t0).x(&other.x0), other.tf);
    }
    trial.note("span", &asked);
    let before = system.calls();
    let result = integrator.integrate(&asked.start(), asked.tf);
    let kept = match result {
        Ok(kept) => look(trial, &mut draw, &asked, limits, kept),
        Err(error) => return trial.refused("run", &error),
    };
    trial.expect(system.validate().is_ok(), || {
        "a run in spite of an option".to_owned()
    });
    let after = system.calls();
    let (flow, events) = (after.flow - before.flow, after.events - before.events);
    let statistics = *kept.statistics();
    trial.expect(flow <= statistics.flow, || {
        format!("{flow} calls of the flow, {} told", statistics.flow)
    });
    // A row that is not written is a difference along each axis and the time.
    let differences = 2 * (system.dim + 1) * statistics.gradient;
    let told = statistics.events * system.count() + statistics.event + differences;
    trial.expect(events <= told, || {
        format!("{events} calls of event functions, {told} told")
    });
    trial.expect(
        integrator.state() == kept.state().as_slice() || has_nan(integrator.state()),
        || "the state of the integrator is not that of the trajectory".to_owned(),
    );
    trial.expect(integrator.mode() == kept.mode(), || {
        "the modes differ".to_owned()
    });
    observed(trial, &mut draw, &mut integrator, &asked, &kept);
    fixed(trial, &system, &asked);
}

fn has_nan(x: &[f64]) -> bool {
    x.iter().any(|x| x.is_nan())
}

/// What must be true of a run of the core that is kept.
pub fn look(trial: &mut Trial, draw: &mut Draw, asked: &Span, limits: Limits, kept: Run) -> Run {
    kept::look(trial, draw, &kept, (asked.t0, asked.tf));
    let statistics = kept.statistics();
    let steps = statistics.steps + statistics.rejections;
    trial.expect(steps <= limits.steps, || {
        format!("{steps} steps, {} allowed", limits.steps)
    });
    let told = kept.crossings().len();
    // those of one instant are counted together
    trial.expect(told <= limits.crossings + 64, || {
        format!("{told} crossings, {} allowed", limits.crossings)
    });
    kept
}

/// Follows a run, and may end it.
#[derive(Default)]
struct Follower {
    end: f64,
    segments: usize,
    crossings: usize,
    together: usize,
    doubts: usize,
    settled: usize,
    most: usize,
}

impl Observer for Follower {
    fn start(&mut self, t: f64, _state: &[f64], _mode: &Mode) {
        self.end = t;
    }
    fn segment(&mut self, segment: &Segment<'_>) {
        self.segments += 1;
        let mut x = vec![0.0; segment.state.len()];
        segment.interpolant.at_fraction(0.5, &mut x);
        self.end = segment.t;
    }
    fn transition(&mut self, set: &Transition<'_>) {
        self.together += set.guards.len();
    }
    fn crossing(&mut self, crossing: &GuardCrossing) {
        self.crossings +=
            usize::from(crossing.t <= self.end || crossing.arrival == Arrival::Projected);
    }
    fn doubt(&mut self, _doubt: &Doubt) {
        self.doubts += 1;
    }
    fn settled(&mut self, _time: f64, _state: &[f64], _mode: &Mode) {
        self.settled += 1;
    }
    fn is_done(&self) -> bool {
        self.segments >= self.most
    }
    fn wants_segments(&self) -> bool {
        true
    }
}

/// The same run, observed: it ends as the kept one does, unless the observer ends it.
fn observed<S: Flow + EventFunction>(
    trial: &mut Trial,
    draw: &mut Draw,
    integrator: &mut Integrator<S>,
    asked: &Span,
    kept: &Run,
) {
    let mut follower = Follower {
        most: if draw.chance(0.2) {
            draw.below(5)
        } else {
            usize::MAX
        },
        ..Follower::default()
    };
    let most = follower.most;
    let result = integrator.observe(&asked.start(), asked.tf, &mut (&mut follower, ()));
    let Some(summary) = trial.result("observed", result) else {
        return;
    };
    let summary: Summary = summary;
    trial.note(
        "segments",
        &(
            follower.segments,
            follower.crossings,
            follower.doubts,
            follower.settled,
            follower.together,
        ),
    );
    trial.expect(follower.segments <= most.saturating_add(2), || {
        "the observer's end was passed".to_owned()
    });
    let is_same =
        most == usize::MAX && !matches!(kept.status(), Status::Refused(Stop::RunTooLarge { .. }));
    trial.expect(
        !is_same || format!("{:?}", summary.status) == format!("{:?}", kept.status()),
        || format!("observed {:?}, kept {:?}", summary.status, kept.status()),
    );
    trial.expect(!is_same || summary.statistics == *kept.statistics(), || {
        "observed at another cost".to_owned()
    });
}

/// The same with a state of known size: the same bits.
fn fixed(trial: &mut Trial, system: &Random, asked: &Span) {
    let run = |result: Result<Run, InputError>| result.map(|kept| (kept.t(), kept.state().clone()));
    let limits = |steps: usize| steps.min(500);
    let by_fixed = Integrator::<&Random>::fixed::<2>(system);
    trial.expect(by_fixed.is_ok() == (system.dim == 2), || {
        "a fixed state of another size".to_owned()
    });
    if let (Ok(fixed), Ok(free)) = (by_fixed, Integrator::new(system)) {
        let a = run(fixed
            .max_steps(limits(500))
            .max_events(50)
            .integrate(&asked.start(), asked.tf));
        let b = run(free
            .max_steps(limits(500))
            .max_events(50)
            .integrate(&asked.start(), asked.tf));
        trial.expect(format!("{a:?}") == format!("{b:?}"), || {
            format!("fixed {a:?}, free {b:?}")
        });
    }
}

/// The types of closures, whose runs are those of the target `smooth`.
#[expect(dead_code, reason = "names for the compiler to check")]
type Closures<F, H> = (FlowFn<F>, GuardedFn<F, H>);
