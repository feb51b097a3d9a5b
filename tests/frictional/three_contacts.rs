//! Three contacts: samples without a step error lie in the exact set, with dependent, equal and
//! opposite rows, without friction and with much of it.

use crate::random_bits::SplitMix64;
use crate::support::{from_rows, samples_outside};
use saltation::impact::{EventExact, ExactPlanar, ImpactProblem};
use saltation::nalgebra::{DMatrix, DVector, dmatrix, dvector};

/// Three contacts of a body, often with rows that are multiples of others.
fn draw(random: &mut SplitMix64) -> ImpactProblem {
    let d = 2 + (random.next() % 5) as usize;
    let mass = DMatrix::from_fn(d, d, |_, _| random.between(-1.0, 1.0));
    let mass = &mass * mass.transpose() + DMatrix::identity(d, d) * 0.3;
    let mut rows = DMatrix::from_fn(6, d, |_, _| random.between(-1.0, 1.0));
    for _ in 0..random.next() % 3 {
        let [to, from] = [random.next(), random.next()].map(|word| (word % 6) as usize);
        let by = [1.0, -1.0, 2.0, -0.5][(random.next() % 4) as usize];
        for k in 0..d {
            rows[(to, k)] = rows[(from, k)] * by;
        }
    }
    let mu = [(); 3].map(|()| match random.next() % 8 {
        0 | 1 => 0.0,
        2 => 1e5,
        _ => random.between(0.0, 1.2),
    });
    loop {
        let velocity = DVector::from_fn(d, |_, _| random.between(-1.0, 1.0));
        let problem = from_rows(&mass, &rows, &velocity, &mu);
        if problem.speeds().rows(0, 3).min() < -0.05 {
            return problem;
        }
    }
}

/// How far samples may be outside of the exact set, in m/s, for legs of this bound: by what sets
/// themselves leave open, 1e-11 of the greatest speed, and by the rounding of one leg; by 1e-9 of
/// the greatest speed at most. In a leg contact `i` spends at most `h`, and `μᵢ h` along its
/// tangent. Each of the `n` speeds is a sum of `n` products with these impulses, each rounded by a
/// part of `ε`. Legs before it do not count: what they round is in the speeds from which the last
/// one starts.
fn allowed(problem: &ImpactProblem, bound: f64) -> f64 {
    let (n, greatest) = (problem.speeds().len() as f64, problem.speeds().amax());
    let spent: f64 = problem.friction().iter().map(|mu| (1.0 + mu) * bound).sum();
    let leg = n * f64::EPSILON * problem.delassus().amax() * spent;
    (1e-11 * greatest + leg).min(1e-9 * greatest)
}

/// Samples outside of closed sets by more than is allowed; at least so many parts of the problems
/// are closed and so many samples finished.
fn campaign(seed: u64, count: usize, cap: usize) {
    let mut random = SplitMix64(seed);
    let (mut closed, mut finished, mut left, mut worst) = (0, 0, 0, 0.0f64);
    for case in 0..count {
        let problem = draw(&mut random);
        let set = ExactPlanar::new().cap(cap).resolve(&problem).unwrap();
        if !set.is_closed() {
            continue;
        }
        closed += 1;
        let (mut u, mut p) = ([0.0; 6], [0.0; 6]);
        let bound = problem.kinetic_norm() / problem.delassus().diagonal().max().sqrt();
        let settings = EventExact::new(bound).most_legs(60).seed(5);
        let mut simulation = settings.start(&problem).unwrap();
        for sample in 0..25 {
            let ended = simulation.simulate(sample, &mut u, &mut p).unwrap();
            if !ended.finished {
                left += 1;
                continue;
            }
            finished += 1;
            let outside = set.distance(&u);
            worst = worst.max(outside / problem.speeds().amax());
            assert!(
                outside <= allowed(&problem, bound),
                "case {case}, sample {sample}: {outside:e} {problem:?}"
            );
        }
    }
    println!("{closed} closed, {finished} finished, {left} not, worst {worst:e}");
    assert!(closed * 10 >= count * 8, "{closed} of {count}");
    assert!(left * 50 < finished, "{left} of {finished}");
}

#[test]
fn samples_of_three_contacts_lie_in_the_exact_set() {
    campaign(33, 30, 100);
}

#[test]
#[ignore = "takes minutes: cargo test --release --test frictional -- --ignored"]
fn samples_of_thousands_of_three_contacts_lie_in_the_exact_set() {
    campaign(34, 5000, 300);
}

/// Two contacts that face each other and a third; one has no friction. The third contact and one of
/// the two push, or both of the two stop the body between them.
#[test]
fn a_body_between_opposite_contacts() {
    let rows = dmatrix![
        1.0, 0.0, 0.5;
        0.0, 1.0, 0.25;
        0.0, -1.0, -0.25;
        0.0, 1.0, -1.0;
        1.0, 0.0, 0.5;
        -1.0, 0.5, 0.5];
    let mass = DMatrix::from_diagonal(&dvector![1.0, 1.0, 0.5]);
    let velocity = dvector![1.0, 1.0, 0.5];
    let problem = from_rows(&mass, &rows, &velocity, &[0.117, 0.0, 0.533]);
    let set = ExactPlanar::new().resolve(&problem).unwrap();
    assert!(set.is_closed());
    let mut simulation = EventExact::new(1.0).start(&problem).unwrap();
    let (mut u, mut p) = ([0.0; 6], [0.0; 6]);
    for sample in 0..100 {
        let ended = simulation.simulate(sample, &mut u, &mut p).unwrap();
        assert!(ended.finished && set.distance(&u) < 1e-11, "{u:?}");
        assert!(set.pieces().iter().any(|piece| {
            let mut vertices = piece.vertices();
            vertices.any(|v| v.iter().zip(&u).all(|(a, b)| (a - b).abs() < 1e-11))
        }));
    }
}

/// The tangents of two contacts are opposite, so that with a friction of 1e5 their impulses cancel
/// but for six digits, and their sums grow over fifty legs. The three contacts stop the body but for
/// one motion.
#[test]
fn impulses_that_cancel_do_not_add_their_rounding_to_the_speeds() {
    let rows = dmatrix![
        2.15, 0.0, 0.0, 0.0, 0.0;
        1.03, 2.24, 0.0, 0.0, 0.0;
        -2.14, -1.01, 0.21, 0.0, 0.0;
        0.65, 0.75, -0.56, 0.25, 0.35;
        1.05, -0.21, -0.08, 0.58, 0.0;
        -0.65, -0.75, 0.56, -0.25, -0.35];
    let velocity = dvector![0.39, -0.02, -0.65, 1.04, -1.35];
    let problem = from_rows(
        &DMatrix::identity(5, 5),
        &rows,
        &velocity,
        &[1e5, 0.75, 1e5],
    );
    let set = ExactPlanar::new().resolve(&problem).unwrap();
    assert!(set.is_closed());
    let bound = problem.kinetic_norm() / problem.delassus().diagonal().max().sqrt();
    let settings = EventExact::new(bound).most_legs(200);
    let (finished, worst) = samples_outside(&problem, &set, settings, 100);
    println!("{finished} finished, worst {worst:e}");
    assert!(worst <= allowed(&problem, bound), "{worst:e}");
    assert!(finished >= 90, "{finished}");
}
