//! Samples by number: splits, threads, statistics, an end by the caller.

use std::ops::ControlFlow;

use crate::support::problem;
use saltation::Interrupt;
use saltation::impact::{
    EventExact, ImpactFailure, ImpactProblem, LcpSteps, SampleEnd, SampleStatistics, Sampler,
    Samples, SolutionRule,
};
use saltation::nalgebra::{DMatrix, DVector, dvector};

fn compass() -> ImpactProblem {
    problem("compass_gait", "compass_gait")
}

/// Both kinds of simulations.
fn samplers(problem: &ImpactProblem) -> Vec<Sampler<'_>> {
    let steps = LcpSteps::new(0.25).most_steps(5).seed(1);
    #[cfg(feature = "sobol")]
    let law = saltation::impact::BoundLaw::Sobol;
    #[cfg(not(feature = "sobol"))]
    let law = saltation::impact::BoundLaw::Faces;
    vec![
        Sampler::new(steps.law(law).start(problem).unwrap()),
        Sampler::new(EventExact::new(0.5).seed(3).start(problem).unwrap()),
        Sampler::new(steps.start(problem).unwrap()),
        Sampler::new(
            steps
                .rule(SolutionRule::LemkeRandomCover { spread: 10.0 })
                .start(problem)
                .unwrap(),
        ),
        Sampler::new(steps.dictionary(50).start(problem).unwrap()),
    ]
}

fn bits(samples: &Samples) -> Vec<u64> {
    let rows = (0..samples.len()).flat_map(|k| samples.speeds(k).iter().chain(samples.impulses(k)));
    rows.map(|x| x.to_bits()).collect()
}

#[test]
fn any_split_of_the_range_gives_the_same_samples() {
    let problem = compass();
    for sampler in samplers(&problem) {
        let whole = sampler.sample(5..105).unwrap();
        assert_eq!((whole.first(), whole.len()), (5, 100));
        let mut parts = Vec::new();
        for range in [5..6, 6..70, 70..70, 70..105] {
            parts.extend(bits(&sampler.sample(range).unwrap()));
        }
        assert_eq!(bits(&whole), parts);
        assert!(whole.finished().count() > 90);
    }
}

#[test]
fn the_impulses_are_those_of_the_speeds() {
    let problem = compass();
    for sampler in samplers(&problem) {
        let samples = sampler.sample(0..50).unwrap();
        for k in 0..50 {
            let push = DVector::from_column_slice(samples.impulses(k));
            let speeds = problem.speeds() + problem.delassus() * &push;
            let found = samples.speeds(k);
            assert!(speeds.iter().zip(found).all(|(a, b)| (a - b).abs() < 1e-12));
            assert!(push[0] >= 0.0 && push[1] >= 0.0);
            assert!((0..2).all(|i| push[2 + i].abs() <= 5.0 * push[i] + 1e-12));
            let energy = 0.5 * push.dot(&(problem.speeds() + speeds));
            assert!(energy <= 1e-12, "{energy}");
        }
    }
}

#[cfg(feature = "parallel")]
#[test]
fn threads_do_not_change_a_bit() {
    let problem = compass();
    for one in samplers(&problem) {
        let one = one.threads(1);
        let expected = bits(&one.sample(0..300).unwrap());
        let two = one.threads(2);
        assert_eq!(bits(&two.sample(0..300).unwrap()), expected);
        assert_eq!(bits(&two.threads(7).sample(0..300).unwrap()), expected);
    }
}

#[cfg(feature = "parallel")]
#[test]
fn threads_have_a_cap() {
    let problem = compass();
    for (threads, works) in [(64, true), (1025, false), (usize::MAX, false)] {
        let simulation = EventExact::new(0.5).start(&problem).unwrap();
        let sampler = Sampler::new(simulation).threads(threads);
        let sampled = sampler.sample(0..1);
        assert_eq!(sampled.is_ok(), works, "{threads}");
        if let Err(error) = sampled {
            assert!(error.to_string().contains("at most 1024"), "{error}");
        }
    }
}

#[test]
fn statistics_grow_with_the_samples_and_the_caller_may_end() {
    let problem = compass();
    let sampler = Sampler::new(EventExact::new(0.5).start(&problem).unwrap());
    let mut statistics = SampleStatistics::new(4, 0.01).unwrap();
    let mut seen = Vec::new();
    let samples = sampler.sample_with(0..20_000, &mut statistics, |so_far| {
        seen.push(so_far.finished() + so_far.unfinished());
        if seen.len() == 2 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    let samples = samples.unwrap();
    assert_eq!(seen, [4096, 8192]);
    assert_eq!(samples.len(), 8192);
    assert_eq!(statistics.failed(), 0);
    for row in 0..4 {
        let values = || samples.finished().map(|u| u[row]);
        let (least, most) = (
            values().fold(f64::INFINITY, f64::min),
            values().fold(f64::NEG_INFINITY, f64::max),
        );
        assert_eq!(statistics.bounds(row), Some((least, most)));
    }
    assert_eq!(statistics.bounds(4), None);
    let corners = statistics.corners();
    assert!(!corners.is_empty() && corners.len() <= 32 && corners.iter().all(|&k| k < 8192));
    assert!(
        (10..8192).contains(&statistics.cells()),
        "{}",
        statistics.cells()
    );
    assert!(statistics.mean_steps() >= 1.0);
}

#[test]
fn bad_requests_are_refused() {
    let problem = compass();
    let sampler = Sampler::new(EventExact::new(0.5).start(&problem).unwrap());
    assert!(sampler.sample(9..9).unwrap().is_empty());
    let refused = sampler.sample(0..u64::MAX).unwrap_err().to_string();
    assert!(refused.contains("split the range"), "{refused}");
    assert!(SampleStatistics::new(4, 0.0).is_err() && SampleStatistics::new(4, f64::NAN).is_err());
    let mut other = SampleStatistics::new(3, 1.0).unwrap();
    let go_on = |_: &SampleStatistics| ControlFlow::Continue(());
    assert!(sampler.sample_with(0..3, &mut other, go_on).is_err());
    for bound in [0.0, -1.0, f64::NAN] {
        assert!(EventExact::new(bound).start(&problem).is_err());
    }
    assert!(EventExact::new(1.0).most_legs(0).start(&problem).is_err());
    let interrupt = Interrupt::new();
    let problem = compass().with_interrupt(&interrupt);
    let sampler = Sampler::new(EventExact::new(0.5).start(&problem).unwrap());
    interrupt.set();
    assert_eq!(sampler.sample(0..3), Err(ImpactFailure::Interrupted));
}

#[test]
fn the_last_numbers_are_samples_too() {
    let problem = compass();
    for sampler in samplers(&problem) {
        let last = sampler.sample(u64::MAX - 3..u64::MAX).unwrap();
        assert_eq!((last.len(), last.first()), (3, u64::MAX - 3));
        assert!(sampler.sample(u64::MAX..u64::MAX).unwrap().is_empty());
    }
}

#[test]
fn statistics_of_too_many_rows_are_refused() {
    assert!(SampleStatistics::new(1000, 1.0).is_ok());
    for rows in [1001, 1 << 40, usize::MAX] {
        assert!(SampleStatistics::new(rows, 1.0).is_err());
    }
}

/// A torso that lands on three feet with legs of too little impulse: the list of its outcomes was
/// empty, and nothing said so.
#[test]
fn samples_of_which_none_finishes_say_so() {
    let feet = [-0.4, 0.05, 0.4];
    let mass = DMatrix::from_diagonal(&dvector![10.0, 10.0, 0.8]);
    let rows = DMatrix::from_fn(6, 3, |i, j| match (i < 3, j) {
        (true, _) => [0.0, 1.0, feet[i % 3]][j],
        (false, _) => [1.0, 0.0, 0.5][j],
    });
    let velocity = dvector![0.8, -1.0, 0.0];
    let impact = ImpactProblem::from_mechanics_with_tangents(&mass, &rows, &velocity, &[0.6; 3]);
    let impact = impact.unwrap();
    let of = |bound| Sampler::new(EventExact::new(bound).start(&impact).unwrap());
    let said = of(0.2).sample(0..100).unwrap_err();
    assert_eq!(
        said,
        ImpactFailure::NoSampleFinished {
            samples: 100,
            unfinished: 100,
            failed: 0
        }
    );
    assert!(said.to_string().contains("none of 100 samples"), "{said}");
    // who asks for statistics sees how they ended
    let mut statistics = SampleStatistics::new(6, 0.01).unwrap();
    let ends = of(0.2).sample_with(0..100, &mut statistics, |_| ControlFlow::Continue(()));
    let ends = ends.unwrap();
    assert!((0..100).all(|k| matches!(ends.end(k), SampleEnd::Unfinished { .. })));
    assert_eq!((statistics.finished(), statistics.unfinished()), (0, 100));
    assert!(of(10.0).sample(0..100).unwrap().finished().count() > 50);
    // no samples are not samples without an outcome
    assert_eq!(of(0.2).sample(5..5).unwrap().len(), 0);
}
