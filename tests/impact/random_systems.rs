//! A thousand random systems of up to eight contacts: every law ends, feasible, without gaining
//! energy.

use saltation::impact::ImpactFailure;
use saltation::impact::{
    AllOutcomes, ImpactLaw, ImpactProblem, Plastic, Projective, Propagative, ReflectionOrder,
    Sequential, Unilateral,
};

use crate::fixtures::random::{Random, System};

const SYSTEMS: u64 = 1000;

fn rules(number: u64) -> [ReflectionOrder; 4] {
    [
        ReflectionOrder::ArgMin,
        ReflectionOrder::ArgMax,
        ReflectionOrder::IndexOrder,
        ReflectionOrder::Random { seed: number },
    ]
}

/// The most negative scaled speed after an outcome, over `‖p‖`.
fn approach(problem: &ImpactProblem, speeds: &[f64]) -> f64 {
    let scaled = (0..problem.contacts()).map(|i| speeds[i] / problem.delassus()[(i, i)].sqrt());
    -scaled.fold(0.0, f64::min) / problem.kinetic_norm().max(f64::MIN_POSITIVE)
}

#[test]
fn propagative_impact_ends_feasible_in_every_order_with_its_energy() {
    let (mut capped, mut longest, mut letters, mut words) = (0, 0, 0, 0);
    for number in 0..SYSTEMS {
        let system = System::random(number);
        let problem = system.problem();
        let before = system.energy(&system.velocity);
        for rule in rules(number) {
            let outcome = match Propagative::new(rule).outcome(&problem) {
                Ok(outcome) => outcome,
                Err(ImpactFailure::ReflectionCap { limit, speed, .. }) => {
                    assert!(limit == 10_000 && speed < 0.0);
                    capped += 1;
                    Propagative::new(rule)
                        .cap(10_000_000)
                        .outcome(&problem)
                        .unwrap()
                }
                Err(other) => panic!("{number} {rule:?}: {other}"),
            };
            let after = system.energy(&problem.velocity_after(&outcome).unwrap());
            assert!((after / before - 1.0).abs() < 1e-11, "{number} {rule:?}");
            assert!(
                approach(&problem, outcome.speeds.as_slice()) < 1e-11,
                "{number} {rule:?}"
            );
            assert!(outcome.impulses.iter().all(|&p| p >= 0.0) && outcome.remarks.is_empty());
            longest = longest.max(outcome.word().len());
            letters += outcome.word().len();
            words += 1;
        }
    }
    println!(
        "{words} words, mean {}, longest {longest}, {capped} beyond the cap",
        letters / words
    );
    assert!(longest > 100);
}

#[test]
fn every_law_but_the_literal_one_ends_feasible_and_gains_no_energy() {
    let laws: [(&str, &dyn ImpactLaw); 4] = [
        ("unilateral", &Unilateral),
        ("plastic", &Plastic),
        ("new only", &Sequential::new().cap(10_000_000)),
        ("propagative", &Propagative::default().cap(10_000_000)),
    ];
    let (mut infeasible, mut adhesive) = (0, 0);
    for number in 0..SYSTEMS {
        let mut random = Random(number + 7);
        let system = System::random(number);
        let problem = system.problem();
        let before = system.energy(&system.velocity);
        for restitution in [0.0, random.unit(), 1.0] {
            let problem = problem.clone().with_restitution(restitution).unwrap();
            for (name, law) in laws {
                let outcome = law
                    .outcome(&problem)
                    .unwrap_or_else(|e| panic!("{number} {name}: {e}"));
                let context = format!("{number} {name} {restitution}: {outcome}");
                assert!(
                    approach(&problem, outcome.speeds.as_slice()) < 1e-11,
                    "{context}"
                );
                assert!(outcome.is_feasible() && !outcome.is_adhesive(), "{context}");
                let after = system.energy(&problem.velocity_after(&outcome).unwrap());
                // A simultaneous law that presses on a contact that was parting gives it ½ p u⁻;
                // then it says so. A plastic one projects.
                let may_rise =
                    name == "unilateral" && restitution > 0.0 && problem.speeds().max() > 0.0;
                assert!(may_rise || !outcome.raises_energy(), "{context}");
                assert!(may_rise || after <= before * (1.0 + 1e-11), "{context}");
                if after > before * (1.0 + 1e-8) {
                    assert!(outcome.raises_energy(), "{context}");
                }
                assert!(
                    (after - before - outcome.energy_change).abs() < 1e-11 * before.max(after),
                    "{context}"
                );
            }
            let literal = Projective::new().outcome(&problem).unwrap();
            infeasible += usize::from(!literal.is_feasible());
            adhesive += usize::from(literal.is_adhesive());
            // Where the literal law pushes and all contacts approach, the unilateral one is the
            // same.
            if !literal.is_adhesive() && problem.speeds().max() < 0.0 {
                let same = Unilateral.outcome(&problem).unwrap();
                assert!((same.speeds - literal.speeds).amax() < 1e-11, "{number}");
            }
        }
    }
    assert!(
        infeasible > 500 && adhesive > 500,
        "{infeasible} {adhesive}"
    );
}

#[test]
fn the_energy_rises_by_what_parting_contacts_gain_at_most_and_then_the_outcome_says_so() {
    let (mut raised, mut with_one, mut all_approach) = (0, 0, 0);
    for number in 0..SYSTEMS {
        let mut random = Random(number + 99);
        let mut system = System::random(number);
        let one_for_all = random.below(2) == 0;
        if random.below(2) == 0 {
            // gaps the other way round: no contact parts before
            for i in 0..system.jacobian.nrows() {
                let mut row = system.jacobian.row_mut(i);
                if (&row * &system.velocity)[0] > 0.0 {
                    row.neg_mut();
                }
            }
        }
        let problem = system.problem();
        let common = random.unit();
        let restitution: Vec<f64> = (0..problem.contacts())
            .map(|_| if one_for_all { common } else { random.unit() })
            .collect();
        let problem = problem.with_restitutions(&restitution).unwrap();
        let outcome = Unilateral.outcome(&problem).unwrap();
        let before = system.energy(&system.velocity);
        let after = system.energy(&problem.velocity_after(&outcome).unwrap());
        let change = after / before - 1.0;
        if change.abs() > 1e-8 {
            let says = outcome.raises_energy();
            assert_eq!(says, change > 0.0, "{number}: {change:e}");
        }
        let (u, p) = (problem.speeds(), &outcome.impulses);
        let gain: f64 = (0..u.len()).map(|i| 0.5 * p[i] * u[i].max(0.0)).sum();
        let given: f64 = (0..u.len())
            .map(|i| 0.5 * (1.0 - restitution[i]) * p[i] * u[i].min(0.0))
            .sum();
        assert!(
            (after - before - gain - given).abs() < 1e-11 * before.max(after),
            "{number}"
        );
        if u.max() <= 0.0 {
            assert!(gain == 0.0 && change < 1e-13, "{number}: {change:e}");
            all_approach += 1;
        }
        raised += usize::from(outcome.raises_energy());
        with_one += usize::from(outcome.raises_energy() && one_for_all);
        // Of the stages of a sequential impact no contact parts.
        let staged = Sequential::new().cap(10_000_000).outcome(&problem).unwrap();
        assert!(staged.energy_change < 1e-13 * before, "{number}: {staged}");
    }
    println!("{raised} of {SYSTEMS} raise the energy, {with_one} with one restitution");
    assert!(raised > 10 && with_one > 5, "{raised} {with_one}");
    assert!(all_approach > 400, "{all_approach}");
}

#[test]
fn outcome_sets_do_not_depend_on_the_numbering() {
    let mut compared = 0;
    for number in 0..200 {
        let system = System::random(number);
        let n = system.jacobian.nrows();
        if n > 4 {
            continue;
        }
        let turned: Vec<usize> = (0..n).map(|i| (i + 1) % n).collect();
        let other = System {
            jacobian: system.jacobian.select_rows(&turned),
            mass: system.mass.clone(),
            velocity: system.velocity.clone(),
        };
        let ends = |system: &System| {
            let problem = system.problem();
            let set = AllOutcomes::new().cap(20_000).resolve(&problem).unwrap();
            let list = set.list.iter();
            let ends: Vec<_> = list.map(|o| problem.velocity_after(o).unwrap()).collect();
            set.is_complete.then_some(ends)
        };
        let (Some(a), Some(b)) = (ends(&system), ends(&other)) else {
            continue;
        };
        assert_eq!(a.len(), b.len(), "{number}");
        for v in &a {
            assert!(b.iter().any(|w| (v - w).amax() < 1e-8), "{number}");
        }
        compared += usize::from(a.len() > 1);
    }
    assert!(compared > 30, "{compared}");
}
