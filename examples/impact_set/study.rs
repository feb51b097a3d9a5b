//! What the laws, the exact set and the samples say of one impact.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use saltation::impact::ExactPlanar;
use saltation::impact::{
    AnitescuPotra, BoundLaw, ContactCone, EventExact, ImpactFailure, ImpactLaw, ImpactProblem,
    InOrder, LcpSteps, OutcomeSet, Outcomes, SampleStatistics, Sampler, Samples, SolutionRule,
};

use crate::cases::{Case, letter};
use crate::progress::Bar;

/// Most contacts for which the exact set is looked for unasked, and samples are event-exact.
const EXACT: usize = 3;
/// Most impacts of a sequence that are drawn.
const DRAWN: usize = 12;

/// How samples are drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Method {
    /// Without a step error.
    EventExact,
    /// By complementarity problems, the solution of Lemke's method.
    Lcp,
    /// The same, one of all solutions.
    LcpAll,
}

/// What the flags say of samples.
#[derive(Clone, Copy)]
pub(crate) struct Settings {
    /// Without: event-exact for few contacts, else by complementarity problems.
    pub(crate) method: Option<Method>,
    /// Instead of that of the model.
    pub(crate) law: Option<BoundLaw>,
    /// Without: 4096, or 1024 for many contacts.
    pub(crate) samples: Option<u64>,
    pub(crate) seed: u64,
    pub(crate) paths: u64,
    /// Instead of those of the model.
    pub(crate) bound: Option<f64>,
    pub(crate) steps: Option<usize>,
    /// Polytopes that are pushed through a location, for the exact set.
    pub(crate) cap: Option<usize>,
    pub(crate) threads: usize,
}

/// One contact after another.
pub(crate) struct Sequence {
    pub(crate) name: String,
    /// Contact speeds after each impact, those before first.
    pub(crate) path: Vec<Vec<f64>>,
    pub(crate) speeds: Vec<f64>,
    pub(crate) impulses: Vec<f64>,
    pub(crate) impacts: usize,
    pub(crate) is_complete: bool,
}

/// Everything about one impact.
pub(crate) struct Study<'a> {
    pub(crate) case: &'a Case,
    pub(crate) settings: Settings,
    pub(crate) simultaneous: Outcomes,
    pub(crate) sequences: Vec<Sequence>,
    pub(crate) exact: Option<(OutcomeSet, Duration)>,
    pub(crate) cone: ContactCone,
    pub(crate) samples: Samples,
    pub(crate) statistics: SampleStatistics,
    pub(crate) sampling: Duration,
    /// Contact speeds before the impact and after each step.
    pub(crate) paths: Vec<Vec<Vec<f64>>>,
}

impl Settings {
    fn sampler<'p>(&self, case: &'p Case, steps: usize) -> Result<Sampler<'p>, ImpactFailure> {
        let problem = &case.problem;
        let bound = self.bound.unwrap_or(case.bound);
        let method = self.method_of(case);
        let sampler = if method == Method::EventExact {
            let legs = EventExact::new(bound)
                .seed(self.seed)
                .law(self.law_of(case));
            Sampler::new(legs.most_legs(steps).start(problem)?)
        } else {
            let rule = if method == Method::Lcp {
                SolutionRule::Lemke
            } else {
                SolutionRule::PickUniform
            };
            let settings = LcpSteps::new(bound)
                .seed(self.seed)
                .law(self.law_of(case))
                .rule(rule);
            Sampler::new(settings.most_steps(steps).start(problem)?)
        };
        Ok(self.on_threads(sampler))
    }

    #[cfg(feature = "parallel")]
    fn on_threads<'p>(&self, sampler: Sampler<'p>) -> Sampler<'p> {
        sampler.threads(self.threads)
    }

    #[cfg(not(feature = "parallel"))]
    fn on_threads<'p>(&self, sampler: Sampler<'p>) -> Sampler<'p> {
        let _ = self.threads;
        sampler
    }

    pub(crate) fn method_of(&self, case: &Case) -> Method {
        let default = if case.contacts() <= EXACT {
            Method::EventExact
        } else {
            Method::Lcp
        };
        self.method.unwrap_or(default)
    }

    /// True when samples are those of Algorithm 1 with the settings of the paper.
    pub(crate) fn are_of_paper(&self, case: &Case) -> bool {
        let is_changed = self.bound.is_some() || self.steps.is_some();
        !is_changed
            && self.law_of(case) == BoundLaw::Uniform
            && self.method_of(case) != Method::EventExact
    }

    fn law_of(&self, case: &Case) -> BoundLaw {
        self.law.unwrap_or(case.law)
    }

    fn samples_of(&self, case: &Case) -> u64 {
        let default = if case.contacts() <= EXACT { 4096 } else { 1024 };
        self.samples.unwrap_or(default)
    }

    fn steps_of(&self, case: &Case) -> usize {
        self.steps.unwrap_or(case.steps)
    }

    /// The greatest impulse of a step for the bounds of Theorem 8.
    pub(crate) fn bound_of(&self, case: &Case) -> f64 {
        let bound = self.bound.unwrap_or(case.bound);
        // half of the steps of the face law have full boxes
        if self.law_of(case) == BoundLaw::Faces {
            0.5 * bound
        } else {
            bound
        }
    }
}

impl<'a> Study<'a> {
    pub(crate) fn of(case: &'a Case, settings: &Settings) -> Result<Self, ImpactFailure> {
        let problem = &case.problem;
        let cap = settings.cap.unwrap_or(1000);
        let is_asked = settings.cap.is_some() || case.contacts() <= EXACT;
        let exact = is_asked.then(|| {
            let start = Instant::now();
            let set = ExactPlanar::new().cap(cap).resolve(problem)?;
            Ok::<_, ImpactFailure>((set, start.elapsed()))
        });
        let rows = problem.speeds().len();
        let mut statistics = SampleStatistics::new(rows, f64::INFINITY)?;
        let sampler = settings.sampler(case, settings.steps_of(case))?;
        let count = settings.samples_of(case);
        let mut bar = Bar::new(case.name, count);
        let start = Instant::now();
        let samples = sampler.sample_with(0..count, &mut statistics, |so_far| {
            bar.show(so_far.finished() + so_far.unfinished() + so_far.failed());
            ControlFlow::Continue(())
        })?;
        let sampling = start.elapsed();
        bar.clear();
        Ok(Self {
            case,
            settings: *settings,
            simultaneous: AnitescuPotra::new().resolve(problem)?,
            sequences: sequences(problem)?,
            exact: exact.transpose()?,
            cone: ContactCone::of(problem)?,
            samples,
            statistics,
            sampling,
            paths: paths(case, settings)?,
        })
    }

    /// Distance of contact speeds from the exact set, where it is known.
    pub(crate) fn distance(&self, speeds: &[f64]) -> Option<f64> {
        self.exact.as_ref().map(|(set, _)| set.distance(speeds))
    }

    /// How far finished samples lie outside of the exact set, and how far its vertices are from the
    /// nearest sample, at most; none where only a part of the set is known.
    pub(crate) fn gaps(&self) -> Option<[f64; 2]> {
        let (set, _) = self.exact.as_ref().filter(|(set, _)| set.is_closed())?;
        let outside = self.samples.finished().map(|u| set.distance(u));
        let outside = outside.fold(0.0, f64::max);
        let distance = |a: &[f64], b: &[f64]| {
            let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
            squares.sum::<f64>().sqrt()
        };
        let vertices = set.pieces().iter().flat_map(|piece| piece.vertices());
        let missed = vertices
            .map(|vertex| {
                let near = self.samples.finished().map(|u| distance(u, vertex));
                near.fold(f64::INFINITY, f64::min)
            })
            .fold(0.0, f64::max);
        Some([outside, missed])
    }
}

/// Both orders of two contacts; of more, the orders that begin with each.
fn sequences(problem: &ImpactProblem) -> Result<Vec<Sequence>, ImpactFailure> {
    let m = problem.contacts();
    let before = problem.speeds().as_slice().to_vec();
    let sequence = |first: usize| {
        let order: Vec<usize> = (0..m).map(|i| (first + i) % m).collect();
        let law = InOrder::new(&order);
        let outcomes = law.resolve(problem)?;
        let mut path = vec![before.clone()];
        for impacts in 1..=outcomes.effort.min(DRAWN) {
            let part = law.clone().cap(impacts).resolve(problem)?;
            path.extend(
                part.list
                    .first()
                    .map(|after| after.speeds.as_slice().to_vec()),
            );
        }
        let after = outcomes.list.first();
        let speeds = after.map_or(before.clone(), |after| after.speeds.as_slice().to_vec());
        let impulses = after.map_or(Vec::new(), |after| after.impulses.as_slice().to_vec());
        let name: Vec<String> = order.iter().map(|&i| letter(i).to_string()).collect();
        Ok(Sequence {
            name: name.join("-"),
            path,
            speeds,
            impulses,
            impacts: outcomes.effort,
            is_complete: outcomes.is_complete,
        })
    };
    (0..m).map(sequence).collect()
}

/// The first samples step by step: a sample with fewer steps is the beginning of the same one. None may have ended yet.
fn paths(case: &Case, settings: &Settings) -> Result<Vec<Vec<Vec<f64>>>, ImpactFailure> {
    let before = case.problem.speeds().as_slice().to_vec();
    let count = settings.paths.min(settings.samples_of(case));
    let mut paths = vec![vec![before]; usize::try_from(count).unwrap_or(0)];
    for steps in 1..=settings.steps_of(case) {
        let sampler = settings.sampler(case, steps)?;
        let mut statistics = SampleStatistics::new(0, f64::INFINITY)?;
        let samples =
            sampler.sample_with(0..count, &mut statistics, |_| ControlFlow::Continue(()))?;
        for (k, path) in paths.iter_mut().enumerate() {
            let speeds = samples.speeds(k);
            let is_over = path.last().is_some_and(|last| last == speeds);
            if !is_over {
                path.push(speeds.to_vec());
            }
        }
    }
    Ok(paths)
}
