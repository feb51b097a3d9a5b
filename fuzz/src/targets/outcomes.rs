//! Sets of outcomes with friction: samplers, the exact planar set, polytopes, statistics.

use std::ops::ControlFlow;

use saltation::impact::{
    Branch, Ended, EventExact, ExactPlanar, ExtremeOutcome, Facet, ImpactFailure, ImpactProblem,
    InclusionSimulation, OutcomeSet, OutcomeSimulation, Polytope, SampleEnd, SampleStatistics,
    Sampler, Samples, Unclosed, VelocitySet,
};

use super::friction::{Rough, problem};
use crate::draw::Draw;
use crate::laws::{bound, bound_law, steps};
use crate::trial::Trial;

pub fn run(mut draw: Draw, trial: &mut Trial) {
    let Some(rough) = problem(&mut draw, trial) else {
        return;
    };
    let problem = &rough.problem;
    let exact = exact(&mut draw, trial, &rough);
    let settings = steps(&mut draw, problem);
    if let Some(simulation) = trial.door("steps", settings.start(problem)) {
        let mut simulation: InclusionSimulation<'_> = simulation;
        branches(&mut draw, trial, &rough, &mut simulation);
        sampled(&mut draw, trial, &rough, simulation, Kind::Steps);
    }
    let settings = settings.dictionary(0).finish(Default::default());
    if let Some(simulation) = trial.door("energetic", settings.start_energetic(problem)) {
        let mut simulation: InclusionSimulation<'_> = simulation;
        energetic(trial, &rough, &mut simulation);
        sampled(&mut draw, trial, &rough, simulation, Kind::Energetic);
    }
    let settings = EventExact::new(bound(&mut draw, problem))
        .most_legs(draw.size(12))
        .seed(draw.word())
        .law(bound_law(&mut draw));
    if let Some(simulation) = trial.door("event-exact", settings.start(problem)) {
        let kind = Kind::EventExact(exact.as_ref());
        sampled(&mut draw, trial, &rough, simulation, kind);
    }
    statistics(&mut draw, trial);
}

/// All branches of a sample, where the rule has them.
fn branches(
    draw: &mut Draw,
    trial: &mut Trial,
    rough: &Rough,
    simulation: &mut InclusionSimulation<'_>,
) {
    let mut list: Vec<Branch> = Vec::new();
    let all = simulation.branches(draw.word(), |branch| list.push(branch));
    let Some(all) = trial.result("branches", all) else {
        return;
    };
    trial.note("all branches", &(all, list.len()));
    trial.expect(!list.is_empty(), || "no branch".to_owned());
    for Branch {
        speeds,
        impulses,
        ended,
        ..
    } in list
    {
        look(trial, rough, ended, (&speeds, &impulses), Kind::Steps);
    }
}

/// Which simulation, for what is expected of it.
#[derive(Clone, Copy)]
enum Kind<'e> {
    Steps,
    Energetic,
    EventExact(Option<&'e OutcomeSet>),
}

fn sampled<'p, S: OutcomeSimulation + 'p>(
    draw: &mut Draw,
    trial: &mut Trial,
    rough: &'p Rough,
    mut simulation: S,
    kind: Kind<'_>,
) {
    let rows = simulation.problem().speeds().len();
    let (mut speeds, mut impulses) = (vec![0.0; rows], vec![0.0; rows]);
    if trial.is_second {
        let _ = simulation.simulate(draw.aside("before").word(), &mut speeds, &mut impulses);
    }
    let refused = simulation.simulate(0, &mut speeds, &mut vec![0.0; rows + 1]);
    trial.expect(matches!(refused, Err(ImpactFailure::Input(_))), || {
        format!("a wrong length gives {refused:?}")
    });
    for number in [0, 1, draw.word()] {
        let ended = simulation.simulate(number, &mut speeds, &mut impulses);
        let Some(ended) = trial.result("sample", ended) else {
            continue;
        };
        let ended: Ended = ended;
        trial.note("after", &(&speeds, &impulses));
        trial.finite("speeds of a sample", &speeds);
        trial.finite("impulses of a sample", &impulses);
        trial.finite("residual of a sample", &[ended.residual]);
        look(trial, rough, ended, (&speeds, &impulses), kind);
    }
    ranges(draw, trial, simulation);
}

fn look(
    trial: &mut Trial,
    rough: &Rough,
    ended: Ended,
    (speeds, impulses): (&[f64], &[f64]),
    kind: Kind<'_>,
) {
    let problem = &rough.problem;
    let m = problem.contacts();
    // where a tangent hardly moves, its speed is the greatest, and a normal speed may be rounding
    if ended.finished && !matches!(kind, Kind::EventExact(_)) {
        let root = |row: usize| problem.delassus()[(row, row)].max(0.0).sqrt();
        let scaled = |row: usize| problem.speeds()[row].abs() / root(row);
        let moving = (0..speeds.len()).filter(|&row| root(row) > 0.0);
        let greatest = moving.map(scaled).fold(0.0, f64::max);
        // the settings allow a tenth of the greatest scaled speed
        for (i, &speed) in speeds[..m].iter().enumerate() {
            let least = -0.100001 * greatest * root(i);
            trial.expect(speed >= least, || {
                format!("a finished sample approaches at {speed:e}, {least:e} is allowed")
            });
        }
    }
    if !rough.is_sound {
        return;
    }
    let to = match kind {
        Kind::EventExact(_) => 1e-9,
        Kind::Steps | Kind::Energetic => 1e-7,
    };
    rough.expect_impulses(trial, "a sample", impulses, to);
    // u⁺ = u + G p
    let g = problem.delassus();
    for row in 0..speeds.len() {
        let terms = || (0..impulses.len()).map(|j| g[(row, j)] * impulses[j]);
        let before = problem.speeds()[row];
        let size = before.abs() + terms().map(f64::abs).sum::<f64>();
        let missed = (before + terms().sum::<f64>() - speeds[row]).abs();
        trial.expect(missed <= 1e-11 * size, || {
            format!("row {row} misses u + G p by {missed:e} of {size:e}")
        });
        let is_exact = matches!(kind, Kind::EventExact(_)) && ended.finished && row < m;
        trial.expect(!is_exact || speeds[row] >= -1e-9 * size, || {
            format!("a finished sample approaches at {:e}", speeds[row])
        });
    }
    if let Kind::EventExact(Some(exact)) = kind
        && ended.finished
        && exact.is_closed()
        && rough.is_clear
    {
        let scale = problem.speeds().amax() + rough.greatest_change(impulses);
        let (distance, kept) = (exact.distance(speeds), exact.contains(speeds, 1e-8 * scale));
        trial.expect(kept, || {
            format!("a sample lies {distance:e} outside of the exact set, scale {scale:e}")
        });
    }
}

/// Stores are empty at the end, and never negative.
fn energetic(trial: &mut Trial, rough: &Rough, simulation: &mut InclusionSimulation<'_>) {
    let rows = rough.problem.speeds().len();
    let (mut speeds, mut impulses) = (vec![0.0; rows], vec![0.0; rows]);
    let ended = simulation.simulate(3, &mut speeds, &mut impulses);
    let Ok(ended) = ended else { return };
    let stored = simulation.stored();
    trial.expect(stored.iter().all(|e| *e >= 0.0), || {
        format!("stored {stored:?}")
    });
    let is_empty = stored.iter().all(|e| *e == 0.0);
    trial.expect(is_empty || !ended.finished, || format!("left {stored:?}"));
}

/// Ranges of samples: a split gives the same, however many threads there are.
fn ranges<'p>(draw: &mut Draw, trial: &mut Trial, simulation: impl OutcomeSimulation + 'p) {
    let rows = simulation.problem().speeds().len();
    let sampler = Sampler::new(simulation).threads(draw.whole(1, 2));
    let count = draw.below(8) as u64;
    let start = *draw.pick(&[0, 0, 5, 1 << 40, u64::MAX - count]);
    let middle = start + draw.below(count as usize + 1) as u64;
    let end = start + count;
    // Also those of which none finished, which `sample` refuses.
    let drawn = |range| {
        let mut none = SampleStatistics::new(0, f64::INFINITY)?;
        sampler.sample_with(range, &mut none, |_| ControlFlow::Continue(()))
    };
    let Some(all) = trial.door("samples", drawn(start..end)) else {
        return;
    };
    trial.note("samples", &all);
    let is_refused = sampler.sample(start..end).is_err();
    trial.expect(
        is_refused == (count > 0 && all.finished().next().is_none()),
        || "samples without an outcome".to_owned(),
    );
    let parts = [start..middle, middle..end].map(drawn);
    let parts: Vec<&Samples> = parts.iter().flatten().collect();
    let split: Vec<String> = parts.iter().flat_map(|part| listed(part)).collect();
    trial.expect(split == listed(&all), || {
        "a split range gives other samples".to_owned()
    });
    trial.expect(
        all.first() == start && all.is_empty() == (count == 0),
        || "a range".to_owned(),
    );
    let finished = (0..all.len()).filter(|&k| all.end(k).is_finished());
    trial.expect(finished.count() == all.finished().count(), || {
        "finished".to_owned()
    });

    let (length, cell) = (draw.length(rows), draw.positive());
    let Ok(mut statistics) = SampleStatistics::new(length, cell) else {
        return;
    };
    let mut reports = 0;
    let counted = sampler.sample_with(start..end, &mut statistics, |_| {
        reports += 1;
        ControlFlow::Break(())
    });
    if trial.door("counted", counted).is_some() && length == rows {
        let (finished, unfinished) = (statistics.finished(), statistics.unfinished());
        let sum = finished + unfinished + statistics.failed();
        trial.expect(sum == count && reports <= 1, || {
            format!("{sum} samples, {reports} reports")
        });
        let mean = statistics.mean_steps();
        trial.expect(mean >= 0.0 || finished + unfinished == 0, || {
            format!("mean {mean}")
        });
        let cells = statistics.cells() as u64;
        trial.expect(cells <= finished && (cells > 0) == (finished > 0), || {
            format!("{cells} cells of {finished} samples")
        });
        let corners = statistics.corners();
        trial.expect(corners.iter().all(|k| (start..end).contains(k)), || {
            format!("corners {corners:?}")
        });
        for row in 0..=rows {
            let bounds = statistics.bounds(row);
            trial.expect(bounds.is_some() == (row < rows && finished > 0), || {
                format!("bounds {bounds:?}")
            });
            trial.expect(bounds.is_none_or(|(low, high)| low <= high), || {
                format!("bounds {bounds:?}")
            });
        }
    }
    let endless = sampler.sample(0..u64::MAX);
    trial.expect(endless.is_err(), || "samples without end".to_owned());
}

fn listed(samples: &Samples) -> Vec<String> {
    let sample = |k: usize| {
        let end = match samples.end(k) {
            SampleEnd::Finished { steps } => (0, steps),
            SampleEnd::Unfinished { steps } => (1, steps),
            _ => (2, 0),
        };
        format!("{end:?} {:?} {:?}", samples.speeds(k), samples.impulses(k))
    };
    (0..samples.len()).map(sample).collect()
}

/// Statistics of any size, or refused.
fn statistics(draw: &mut Draw, trial: &mut Trial) {
    let (rows, cell) = (draw.size(9), draw.number());
    trial.door("statistics", SampleStatistics::new(rows, cell));
}

fn exact(draw: &mut Draw, trial: &mut Trial, rough: &Rough) -> Option<OutcomeSet> {
    let problem: &ImpactProblem = &rough.problem;
    let cap = draw.below(if problem.contacts() < 3 { 200 } else { 20 });
    let mut law = ExactPlanar::new().cap(cap);
    let is_forced = draw.chance(0.2);
    if is_forced {
        law = law.forced();
    }
    let set = trial.door("exact", law.resolve(problem))?;
    trial.expect(set.effort() <= cap, || {
        format!("an effort of {}, cap {cap}", set.effort())
    });
    trial.note("bounds", &set.bounds());
    for (low, high) in set.bounds() {
        trial.expect(low <= high, || format!("bounds {low}, {high}"));
    }
    let m = problem.contacts();
    let speed = problem.speeds().amax();
    for piece in set.pieces() {
        polytope(trial, rough, piece);
        for vertex in piece.vertices() {
            trial.finite("vertex", vertex);
            trial.note("vertex", vertex);
            let least = vertex[..m].iter().copied().fold(0.0, f64::min);
            let is_still = problem.is_feasible() && !is_forced;
            trial.expect(
                is_still || !rough.is_sound || least >= -1e-9 * speed,
                || format!("a vertex approaches at {least:e}"),
            );
            let distance = set.distance(vertex);
            let size = vertex.iter().fold(0.0f64, |most, x| most.max(x.abs()));
            trial.expect(!rough.is_sound || distance <= 1e-12 * size, || {
                format!("a vertex lies {distance:e} outside of the set")
            });
        }
    }
    let odd = draw.numbers(2 * m);
    trial.note(
        "distance",
        &(set.distance(&odd), set.contains(&odd, draw.number())),
    );
    trial.expect(
        set.distance(&[]).is_nan() || set.pieces().is_empty(),
        || "a length".to_owned(),
    );
    let unclosed: Option<Unclosed> = set.unclosed();
    trial.note("unclosed", &unclosed);
    trial.note("support", &set.support(&odd).is_ok());
    let velocities: Option<VelocitySet> = trial.door("velocities", set.velocities());
    if let Some(velocities) = velocities {
        let least: Option<ExtremeOutcome> = velocities.least_energy();
        trial.note("least energy", &least.is_some());
    }
    Some(set)
}

fn polytope(trial: &mut Trial, rough: &Rough, piece: &Polytope) {
    let count = piece.vertices().len();
    let dimension = piece.dimension();
    trial.expect(dimension < count, || {
        format!("{dimension} dimensions of {count} vertices")
    });
    if count > 10 {
        return;
    }
    let Some(facets) = piece.facets() else {
        return;
    };
    trial.note("facets", &facets);
    let measure = piece.measure();
    trial.note("measure", &measure);
    if !rough.is_sound {
        return;
    }
    trial.expect(measure.is_some_and(|measure| measure > 0.0), || {
        format!("{measure:?}")
    });
    trial.expect(dimension == 0 || facets.len() > dimension, || {
        format!("{} facets in {dimension} dimensions", facets.len())
    });
    let size = piece
        .vertices()
        .flatten()
        .fold(0.0f64, |most, x| most.max(x.abs()));
    for facet in &facets {
        let facet: &Facet = facet;
        for vertex in piece.vertices() {
            let along: f64 = facet.normal.iter().zip(vertex).map(|(n, x)| n * x).sum();
            let height = along - facet.offset;
            trial.expect(height <= 1e-8 * size, || {
                format!("a vertex lies {height:e} before a facet")
            });
        }
    }
}

impl Rough {
    /// The greatest `Σ_j |G_ij| |p_j|`.
    fn greatest_change(&self, impulses: &[f64]) -> f64 {
        let g = self.problem.delassus();
        let change = |i: usize| -> f64 {
            (0..impulses.len())
                .map(|j| (g[(i, j)] * impulses[j]).abs())
                .sum()
        };
        (0..impulses.len()).map(change).fold(0.0, f64::max)
    }
}
