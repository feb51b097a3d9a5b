//! The sampler without a step error: its samples are in the exact set, and it reaches the vertices.

use crate::random_bits::SplitMix64;
use crate::support::{problem, random_problem};
use saltation::impact::{EventExact, ExactPlanar, ImpactProblem, OutcomeSet};

fn greatest(problem: &ImpactProblem) -> f64 {
    problem.speeds().amax()
}

/// The greatest distance of samples from the set, and of vertices from the nearest sample.
fn distances(problem: &ImpactProblem, set: &OutcomeSet, bound: f64, count: u64) -> (f64, f64) {
    let mut simulation = EventExact::new(bound)
        .most_legs(200)
        .start(problem)
        .unwrap();
    let rows = problem.speeds().len();
    let (mut u, mut p) = (vec![0.0; rows], vec![0.0; rows]);
    let vertices: Vec<&[f64]> = set
        .pieces()
        .iter()
        .flat_map(|piece| piece.vertices())
        .collect();
    let mut nearest = vec![f64::INFINITY; vertices.len()];
    let (mut outside, mut unfinished) = (0.0_f64, 0);
    for sample in 0..count {
        let ended = simulation.simulate(sample, &mut u, &mut p).unwrap();
        if !ended.finished {
            unfinished += 1;
            continue;
        }
        outside = outside.max(set.distance(&u));
        for (near, vertex) in nearest.iter_mut().zip(&vertices) {
            let distance = u
                .iter()
                .zip(*vertex)
                .map(|(a, b)| (a - b).powi(2))
                .sum::<f64>()
                .sqrt();
            *near = near.min(distance);
        }
    }
    assert!(
        unfinished < count / 20,
        "{unfinished} unfinished of {count}"
    );
    (outside, nearest.into_iter().fold(0.0, f64::max))
}

#[test]
fn samples_of_the_examples_are_in_the_exact_set_and_reach_its_vertices() {
    for (name, base, bound) in [
        ("rocking_block", "rocking_block", 0.3),
        ("compass_gait", "compass_gait", 0.25),
        ("box_wall", "box_wall", 2.0),
        ("ramone", "ramone", 1.0),
        ("rocking_block_mu0.0", "rocking_block", 0.3),
        ("rocking_block_mu0.1", "rocking_block", 0.3),
        ("rocking_block_mu0.2", "rocking_block", 0.3),
        ("rocking_block_mu0.3", "rocking_block", 0.3),
        ("rocking_block_slide_mu0.2", "rocking_block", 0.3),
    ] {
        let problem = problem(name, base);
        let set = ExactPlanar::new().resolve(&problem).unwrap();
        let (outside, missed) = distances(&problem, &set, bound, 1000);
        assert!(
            outside < 1e-11 * greatest(&problem).max(1.0),
            "{name}: {outside:e}"
        );
        assert!(missed < 0.1 * greatest(&problem), "{name}: {missed:e}");
    }
}

#[test]
fn samples_of_random_problems_are_in_the_exact_set_and_reach_its_vertices() {
    let mut random = SplitMix64(11);
    let mut worst = (0.0_f64, 0.0_f64);
    let mut open = 0;
    for _ in 0..50 {
        let mu = [random.between(0.0, 1.5), random.between(0.0, 1.5)];
        let problem = random_problem(&mut random, mu);
        let set = ExactPlanar::new().cap(100).resolve(&problem).unwrap();
        if !set.is_closed() {
            open += 1;
            continue;
        }
        let bound = 2.0 * problem.kinetic_norm() / problem.delassus().diagonal().max().sqrt();
        let (outside, missed) = distances(&problem, &set, bound, 1000);
        let scale = greatest(&problem);
        worst = (worst.0.max(outside / scale), worst.1.max(missed / scale));
    }
    println!("{open} not closed, worst {worst:?}");
    assert!(open <= 2, "{open} sets are not closed");
    assert!(worst.0 < 1e-11 && worst.1 < 0.1, "{worst:?}");
}
