//! Every entry point with numbers at the ends of their range: none panics, hangs, or returns what
//! is not finite.

use std::time::{Duration, Instant};

use saltation::impact::ImpactFailure;
use saltation::impact::{
    AllOutcomes, ImpactLaw, ImpactProblem, MinimalOutcomes, Occasion, Plastic, Projective,
    Propagative, ReflectionOrder, Reflections, Selection, Sequential, Unilateral, indeterminacy,
    uniqueness,
};
use saltation::nalgebra::{DMatrix, DVector};

use crate::numbers::number;
use crate::random_bits::SplitMix64;

/// Problems; a hundred times as many were run once.
const DRAWS: u64 = if cfg!(debug_assertions) { 300 } else { 3_000 };

fn below(count: u64, random: &mut SplitMix64) -> usize {
    usize::try_from(random.next() % count).unwrap()
}

/// A problem from mechanics or in contact space, if these numbers make one.
fn problem(random: &mut SplitMix64) -> Result<ImpactProblem, ImpactFailure> {
    let n = below(9, random);
    let wildness = random.next() % 5;
    let d = 1 + below(2 * n as u64 + 1, random);
    let tangents = below(3, random);
    let rows = n * (1 + tangents);
    let mut entry = || number(&mut || random.next(), wildness);
    let mut jacobian = DMatrix::from_fn(rows, d, |_, _| entry());
    let root = DMatrix::from_fn(d, d, |_, _| entry());
    let velocity = DVector::from_fn(d, |_, _| entry());
    let speeds = DVector::from_fn(rows, |_, _| entry());
    let friction: Vec<f64> = (0..n).map(|_| entry().abs()).collect();
    let restitution: Vec<f64> = (0..n).map(|_| entry()).collect();
    let energy = entry();
    let mass = &root * root.transpose() + DMatrix::identity(d, d) * 0.1;
    if random.next().is_multiple_of(4) {
        // Contacts that are alike, or opposite.
        for i in 1..n {
            let sign = if random.next().is_multiple_of(2) {
                1.0
            } else {
                -1.0
            };
            let other = jacobian.row(i / 2).into_owned() * sign;
            jacobian.row_mut(i).copy_from(&other);
        }
    }
    let problem = match random.next() % 4 {
        0 => ImpactProblem::from_mechanics(&mass, &jacobian.rows(0, n).into_owned(), &velocity),
        1 => ImpactProblem::from_mechanics_with_tangents(&mass, &jacobian, &velocity, &friction),
        2 => {
            let gram = &jacobian * jacobian.transpose();
            let speeds = if random.next().is_multiple_of(2) {
                &jacobian * &velocity
            } else {
                speeds
            };
            ImpactProblem::with_tangents(gram, speeds, &friction)
        }
        _ => {
            let normals = jacobian.rows(0, n);
            ImpactProblem::new(
                normals * normals.transpose(),
                speeds.rows(0, n).into_owned(),
            )
        }
    }?;
    let keep = problem.clone();
    let problem = match random.next() % 4 {
        0 => problem.with_any_restitutions(&restitution),
        1 => problem.with_restitution(restitution[0].abs()),
        2 => problem.with_restitution(0.5),
        _ => Ok(problem),
    }
    .unwrap_or_else(|_| keep.clone());
    let problem = match random.next() % 4 {
        0 => problem.clone().with_kinetic_energy(energy),
        1 => problem.clone().with_tolerance(energy),
        2 => problem.clone().with_new_contacts(&[below(3, random)]),
        _ => Ok(problem.clone()),
    }
    .unwrap_or(problem);
    Ok(problem)
}

fn look_at(problem: &ImpactProblem, law: &dyn ImpactLaw, random: &mut SplitMix64) -> bool {
    let Ok(outcomes) = law.resolve(problem) else {
        return false;
    };
    for outcome in &outcomes.list {
        assert!(outcome.speeds.iter().all(|s| s.is_finite()));
        assert!(outcome.impulses.iter().all(|p| p.is_finite()));
        assert!(outcome.energy_change.is_finite());
        assert!(!outcome.to_string().is_empty());
        let _ = problem.velocity_after(outcome);
    }
    assert!(outcomes.list.len() > 1000 || !outcomes.spread().is_nan());
    let t = number(&mut || random.next(), 4);
    for selection in [
        Selection::Single,
        Selection::First,
        Selection::Keyed(random.next()),
        Selection::by(|outcomes, _| outcomes.list.len().checked_sub(1)),
    ] {
        let _ = selection.select(outcomes.clone(), Occasion { t, number: 3 });
    }
    assert_eq!(law.resolve(problem).as_ref(), Ok(&outcomes));
    true
}

#[test]
fn no_numbers_make_an_impact_panic_lie_or_hang() {
    let (mut made, mut resolved) = (0, 0_u64);
    for draw in 0..DRAWS {
        let mut random = SplitMix64(draw);
        let Ok(problem) = problem(&mut random) else {
            continue;
        };
        made += 1;
        let start = Instant::now();
        let problem = if random.next().is_multiple_of(8) {
            problem
        } else {
            problem.frictionless()
        };
        assert!(problem.kinetic_norm().is_finite() && problem.threshold().is_finite());
        let cap = [0, 1, 100, 3000][below(4, &mut random)];
        let rule = match random.next() % 5 {
            0 => ReflectionOrder::ArgMin,
            1 => ReflectionOrder::ArgMax,
            2 => ReflectionOrder::IndexOrder,
            3 => ReflectionOrder::GivenFirst(below(5, &mut random)),
            _ => ReflectionOrder::Random {
                seed: random.next(),
            },
        };
        let laws: [&dyn ImpactLaw; 8] = [
            &Propagative::new(rule).cap(cap),
            &AllOutcomes::new().cap(cap),
            &MinimalOutcomes::new().cap(10 * cap),
            &Sequential::new().cap(cap),
            &Unilateral,
            &Plastic,
            &Projective::new(),
            &Projective::new().refuse_adhesion(),
        ];
        for law in laws {
            resolved += u64::from(look_at(&problem, law, &mut random));
        }
        let _ = (uniqueness(&problem), problem.rcond(), problem.is_feasible());
        if problem.contacts() < 5
            && let Ok(xi) = indeterminacy(&problem)
        {
            assert!(xi.is_finite(), "{draw}: {xi}");
        }
        let mut reflections = Reflections::new(&problem);
        let _ = reflections.run(rule, cap);
        let speeds: Vec<f64> = (0..problem.contacts())
            .map(|_| number(&mut || random.next(), 2))
            .collect();
        if reflections
            .restart(&speeds, number(&mut || random.next(), 2))
            .is_ok()
        {
            let _ = reflections.run(rule, cap);
            let _ = reflections.reflect(below(9, &mut random));
        }
        assert!(start.elapsed() < Duration::from_secs(20), "{draw}");
    }
    assert!(
        4 * made > DRAWS && 3 * resolved > 2 * DRAWS,
        "{made} {resolved}"
    );
}
