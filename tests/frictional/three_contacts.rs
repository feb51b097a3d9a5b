//! Three contacts: samples without a step error lie in the exact set, with dependent, equal and
//! opposite rows, without friction and with much of it.

use crate::random_bits::SplitMix64;
use crate::support::from_rows;
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

/// Samples outside of closed sets, by more than 1e-9 of the greatest speed; at least so many parts
/// of the problems are closed and so many samples finished.
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
            let outside = set.distance(&u) / problem.speeds().amax();
            worst = worst.max(outside);
            assert!(
                outside < 1e-9,
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
    campaign(33, 60, 100);
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
