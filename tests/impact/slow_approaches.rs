//! Sets of outcomes hold those of every rule, of contacts that hardly approach too.

use saltation::impact::ImpactFailure;
use saltation::impact::{
    AllOutcomes, ImpactLaw, ImpactProblem, MinimalOutcomes, Outcome, Outcomes, Propagative,
    ReflectionOrder, indeterminacy,
};
use saltation::nalgebra::{DMatrix, DVector, dmatrix, dvector};

use crate::fixtures::random::Random;

fn rules(contacts: usize, seed: u64) -> impl Iterator<Item = ReflectionOrder> {
    [
        ReflectionOrder::ArgMin,
        ReflectionOrder::ArgMax,
        ReflectionOrder::IndexOrder,
    ]
    .into_iter()
    .chain((0..contacts).map(ReflectionOrder::GivenFirst))
    .chain((0..4).map(move |k| ReflectionOrder::Random { seed: seed + k }))
}

/// The greatest difference of scaled speeds, over `‖p‖`.
fn difference(problem: &ImpactProblem, a: &Outcome, b: &Outcome) -> f64 {
    let scaled = |i: usize| (a.speeds[i] - b.speeds[i]).abs() / problem.delassus()[(i, i)].sqrt();
    (0..problem.contacts()).map(scaled).fold(0.0, f64::max) / problem.kinetic_norm()
}

fn holds(problem: &ImpactProblem, set: &Outcomes, outcome: &Outcome) -> bool {
    let mut list = set.list.iter();
    list.any(|other| difference(problem, other, outcome) <= 1e-8)
}

/// What must hold of each problem; the number of outcomes when the set is complete.
fn assert_sound(problem: &ImpactProblem, seed: u64, name: &str) -> Option<usize> {
    let all = AllOutcomes::new().cap(2000).resolve(problem).unwrap();
    if !all.is_complete {
        return None;
    }
    assert!(!all.list.is_empty(), "{name}: empty");
    for (i, a) in all.list.iter().enumerate() {
        assert!(a.is_feasible() && !a.is_adhesive(), "{name}: {a}");
        for b in &all.list[..i] {
            assert!(difference(problem, a, b) > 0.9e-9, "{name}: {a} twice");
        }
    }
    let mut reached = Vec::new();
    for rule in rules(problem.contacts(), seed) {
        match Propagative::new(rule).cap(1_000_000).outcome(problem) {
            Ok(outcome) => {
                assert!(
                    holds(problem, &all, &outcome),
                    "{name}: {rule:?} {outcome}\n{all}"
                );
                reached.push(outcome);
            }
            Err(ImpactFailure::NotApproaching { .. }) => {
                assert!(matches!(rule, ReflectionOrder::GivenFirst(_)));
            }
            Err(other) => panic!("{name}: {rule:?} {other}"),
        }
    }
    let minimal = MinimalOutcomes::new().cap(20_000).resolve(problem);
    let minimal = minimal.unwrap();
    if minimal.is_complete {
        // so for these, though not by the definition
        assert!(!minimal.list.is_empty(), "{name}: no minimal word");
    }
    for outcome in minimal.list {
        assert!(holds(problem, &all, &outcome), "{name}: {outcome}\n{all}");
        reached.push(outcome);
    }
    // Each outcome may stand for those within 1e-9 of it.
    let spread = |list: &[Outcome]| {
        let pairs = list
            .iter()
            .flat_map(|a| list.iter().map(move |b| a.distance(b)));
        pairs.fold(0.0, f64::max)
    };
    let found = indeterminacy(problem).unwrap();
    let least = spread(&reached) / problem.kinetic_norm();
    assert!(found >= least - 1e-7, "{name}: {found:e} below {least:e}");
    Some(all.list.len())
}

/// A problem of 1 to 4 contacts; some speeds are tiny parts of the others, between 1e-13 and 1e-6.
fn problem(number: u64) -> ImpactProblem {
    let mut random = Random(number.wrapping_mul(0x2000_0003));
    let contacts = 1 + random.below(4);
    let normals = match random.below(3) {
        // at right angles, or in a row of balls: outcomes are unique
        0 => DMatrix::identity(contacts, contacts),
        1 => DMatrix::from_fn(contacts, contacts + 1, |i, j| match j.wrapping_sub(i) {
            0 => -1.0,
            1 => 1.0,
            _ => 0.0,
        }),
        _ => random.matrix(contacts, contacts + 1),
    };
    let delassus = &normals * normals.transpose();
    let tiny = |random: &mut Random| match random.below(3) {
        0 => random.symmetric(),
        _ => -(10_f64.powf(-13.0 + 7.0 * random.unit())),
    };
    let speeds = DVector::from_fn(contacts, |_, _| tiny(&mut random));
    let problem = ImpactProblem::new(delassus, speeds).unwrap();
    if random.below(4) > 0 {
        return problem;
    }
    // all contacts approach slowly: most of the motion is along none of the normals
    let energy = 0.5 * problem.kinetic_norm().powi(2);
    let slow = 10_f64.powf(12.0 * random.unit());
    problem.with_kinetic_energy(energy * slow * slow).unwrap()
}

#[test]
fn sets_hold_the_outcomes_of_all_rules() {
    let (mut complete, mut several) = (0, 0);
    for number in 0..1000 {
        let problem = problem(number);
        if let Some(count) = assert_sound(&problem, number, &format!("{number}")) {
            complete += 1;
            several += usize::from(count > 1);
        }
    }
    assert!(complete > 900 && several > 100, "{complete} {several}");
}

#[test]
fn an_approach_slower_than_outcomes_differ_is_reflected_all_the_same() {
    for slow in [1e-10, 1e-11, 2.5e-12] {
        for cosine in [0.0, 0.5] {
            let gram = dmatrix![1.0, cosine; cosine, 1.0];
            let problem = ImpactProblem::new(gram, dvector![-1.0, -slow]).unwrap();
            let all = AllOutcomes::new().resolve(&problem).unwrap();
            let minimal = MinimalOutcomes::new().resolve(&problem).unwrap();
            assert!(all.is_complete && minimal.is_complete);
            assert_eq!((all.list.len(), minimal.list.len()), (1, 1), "{slow:e}");
            let index = Propagative::new(ReflectionOrder::IndexOrder);
            let index = index.outcome(&problem).unwrap();
            assert!(difference(&problem, &all.list[0], &index) < 1e-8);
            if cosine == 0.0 {
                assert_eq!(all.list[0].word(), [0, 1]);
                assert!(all.list[0].speeds.iter().all(|&u| u > 0.0), "{all}");
                assert!(indeterminacy(&problem).unwrap() == 0.0);
            } else {
                // the fast contact opens the slow one
                assert_eq!(all.list[0].word(), [0]);
            }
        }
        let balls = dmatrix![2.0, -1.0; -1.0, 2.0];
        let problem = ImpactProblem::new(balls, dvector![-1.0, -slow]).unwrap();
        let all = AllOutcomes::new().resolve(&problem).unwrap();
        assert_eq!(all.list.len(), 1);
        assert!((&all.list[0].speeds - dvector![slow, 1.0]).amax() < 1e-9);
    }
}

#[test]
fn without_a_tolerance_approaches_below_rounding_are_reflected() {
    let problem = ImpactProblem::new(DMatrix::identity(3, 3), dvector![-1.0, -1e-15, -1e-15]);
    let problem = problem.unwrap().with_tolerance(0.0).unwrap();
    let all = AllOutcomes::new().resolve(&problem).unwrap();
    assert_eq!((all.list.len(), all.effort), (1, 8), "{all}");
    assert_eq!(all.list[0].word(), [0, 1, 2]);
    let minimal = MinimalOutcomes::new().resolve(&problem).unwrap();
    assert_eq!(minimal.list[0].word(), [0, 1, 2]);
    assert_eq!(indeterminacy(&problem), Ok(0.0));
}

#[test]
fn a_letter_that_hardly_moves_the_momentum_is_still_a_letter() {
    // 0-1 ends feasible without the 2 of 2-0-1; 1 alone does not.
    let gram = dmatrix![1.0, 0.0, 0.0; 0.0, 1.0, 0.5; 0.0, 0.5, 1.0];
    let problem = ImpactProblem::new(gram, dvector![-1e-10, -1.0, -0.2]).unwrap();
    let minimal = MinimalOutcomes::new().resolve(&problem).unwrap();
    assert!(minimal.is_complete);
    let words: Vec<_> = minimal.list.iter().map(Outcome::word).collect();
    assert_eq!(words, [[0, 1]]);
    assert_eq!(AllOutcomes::new().resolve(&problem).unwrap().list.len(), 2);
}

#[test]
fn a_narrow_cone_is_left_by_steps_near_the_tolerance() {
    // Most of the motion is along no normal: the speeds are a few tolerances, and momenta that meet
    // within one close a circle.
    let cosine = -0.9996;
    let problem = ImpactProblem::new(dmatrix![1.0, cosine; cosine, 1.0], dvector![1.3, -1.35]);
    for tolerance in [0.0, 1e-15, 1e-12] {
        let problem = problem.clone().unwrap().with_kinetic_energy(0.5e24);
        let problem = problem.unwrap().with_tolerance(tolerance).unwrap();
        let all = AllOutcomes::new().resolve(&problem).unwrap();
        assert!(
            all.is_complete && !all.list.is_empty(),
            "{tolerance:e}: {all}"
        );
        let found = Propagative::default().outcome(&problem).unwrap();
        assert!(holds(&problem, &all, &found));
        // the second search: coarser merging finds two momenta, and no end
        assert!(all.effort > 10, "{tolerance:e}: {}", all.effort);
    }
}
