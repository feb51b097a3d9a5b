//! Newton's cradle: sets of outcomes, words and rules against the reference file and against every
//! word tried by hand.

use saltation::impact::{
    AllOutcomes, ImpactLaw, ImpactProblem, MinimalOutcomes, Outcome, Outcomes, Propagative,
    ReflectionOrder,
};
use saltation::models::Cradle;

use crate::fixtures::brute;
use crate::fixtures::random::Random;
use crate::fixtures::reference::{Row, of, one, propagative, values};

const NAMES: [&str; 5] = [
    "cradle_123_a",
    "cradle_123_b",
    "cradle_112",
    "cradle_1234",
    "cradle_12345",
];

fn cradle(rows: &[Row]) -> Cradle {
    Cradle::new(&values(rows, "mass"), &values(rows, "v_in")).unwrap()
}

fn velocities(impact: &ImpactProblem, outcome: &Outcome) -> Vec<f64> {
    let v = impact.velocity_after(outcome).unwrap();
    v.as_slice().to_vec()
}

fn near(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance)
}

/// Each of one list has exactly one near it in the other, and the other way round.
fn assert_same_sets(found: &[Vec<f64>], expected: &[Vec<f64>], name: &str) {
    for (these, those) in [(found, expected), (expected, found)] {
        for one in these {
            let same = those.iter().filter(|other| near(one, other, 1e-10)).count();
            assert_eq!(same, 1, "{name}: {found:?} is not {expected:?}");
        }
    }
}

fn ends(impact: &ImpactProblem, outcomes: &Outcomes) -> Vec<Vec<f64>> {
    let list = outcomes.list.iter();
    list.map(|o| velocities(impact, o)).collect()
}

#[test]
fn outcome_sets_are_those_of_the_reference() {
    for name in NAMES {
        let rows = propagative(name);
        let impact = cradle(&rows).impact().unwrap();
        let all = AllOutcomes::new().resolve(&impact).unwrap();
        let minimal = MinimalOutcomes::new().resolve(&impact).unwrap();
        assert!(all.is_complete && minimal.is_complete);
        assert_eq!(all.list.len(), one(&rows, "n_outcomes").count(), "{name}");
        assert_eq!(all.effort, one(&rows, "n_states").count(), "{name}");

        let numbers = 1..=all.list.len();
        let numbered =
            |k: usize, quantity| of(&rows, quantity).filter(move |row| row.i == k.to_string());
        let expected: Vec<Vec<f64>> = numbers
            .clone()
            .map(|k| numbered(k, "outcome_v").map(Row::value).collect())
            .collect();
        let found = ends(&impact, &all);
        assert_same_sets(&found, &expected, name);
        for k in numbers {
            let place = found.iter().position(|v| near(v, &expected[k - 1], 1e-10));
            let word = numbered(k, "outcome_word").next().unwrap().word();
            assert_eq!(all.list[place.unwrap()].word(), word, "{name}");
        }
        let is_minimal = |k: &usize| numbered(k + 1, "outcome_minimal").any(|r| r.count() == 1);
        let kept = (0..expected.len()).filter(is_minimal);
        let kept: Vec<_> = kept.map(|k| expected[k].clone()).collect();
        assert_eq!(kept.len(), one(&rows, "n_minimal_outcomes").count());
        assert_same_sets(&ends(&impact, &minimal), &kept, name);
    }
}

#[test]
fn words_are_admissible_and_keep_momentum_and_energy() {
    for name in NAMES {
        let rows = propagative(name);
        let cradle = cradle(&rows);
        let (m, v) = (cradle.masses(), cradle.velocities());
        let impact = cradle.impact().unwrap();
        let momentum = |v: &[f64]| m.iter().zip(v).map(|(m, v)| m * v).sum::<f64>();
        let norm = |v: &[f64]| m.iter().zip(v).map(|(m, v)| m * v * v).sum::<f64>().sqrt();
        for law in [
            &AllOutcomes::new() as &dyn ImpactLaw,
            &MinimalOutcomes::new(),
        ] {
            for outcome in law.resolve(&impact).unwrap().list {
                let mut by_hand = v.to_vec();
                for &i in outcome.word() {
                    assert!(brute::approaches(&by_hand, i), "{name}: {outcome}");
                    brute::collide(m, &mut by_hand, i);
                }
                assert!((0..m.len() - 1).all(|i| !brute::approaches(&by_hand, i)));
                let found = velocities(&impact, &outcome);
                assert!(near(&found, &by_hand, 1e-13), "{name}: {outcome}");
                assert!((norm(&found) / norm(v) - 1.0).abs() < 1e-13);
                assert!((momentum(&found) - momentum(v)).abs() < 1e-13 * norm(v));
                assert!(outcome.impulses.iter().all(|&p| p >= 0.0));
                assert!(outcome.remarks.is_empty(), "{outcome}");
            }
        }
    }
}

/// Every word is tried, and for minimality every subsequence of it.
fn assert_sets_by_hand(cradle: &Cradle, name: &str) -> (usize, [usize; 2]) {
    let (m, v) = (cradle.masses(), cradle.velocities());
    let impact = cradle.impact().unwrap();
    let words = brute::words(m, v);
    let best = |minimal: bool| {
        let mut chosen: Vec<(Vec<usize>, Vec<f64>)> = Vec::new();
        for (word, end) in &words {
            if minimal && brute::has_feasible_subsequence(m, v, word) {
                continue;
            }
            match chosen.iter_mut().find(|(_, e)| near(e, end, 1e-9)) {
                None => chosen.push((word.clone(), end.clone())),
                Some(found) if word.len() < found.0.len() => found.0.clone_from(word),
                Some(_) => {}
            }
        }
        chosen.sort_by(|a, b| a.0.len().cmp(&b.0.len()).then_with(|| a.0.cmp(&b.0)));
        chosen
    };
    let laws: [&dyn ImpactLaw; 2] = [&AllOutcomes::new(), &MinimalOutcomes::new()];
    let counts = [false, true].map(|minimal| {
        let found = laws[usize::from(minimal)].resolve(&impact).unwrap();
        let expected = best(minimal);
        assert_eq!(found.list.len(), expected.len(), "{name} {minimal}");
        for (outcome, (word, end)) in found.list.iter().zip(&expected) {
            assert_eq!(outcome.word(), word, "{name} {minimal}");
            assert!(near(&velocities(&impact, outcome), end, 1e-12), "{name}");
        }
        expected.len()
    });
    (words.len(), counts)
}

#[test]
fn sets_are_those_of_all_words_tried_by_hand() {
    for name in NAMES {
        let rows = propagative(name);
        let (words, counts) = assert_sets_by_hand(&cradle(&rows), name);
        assert_eq!(words, one(&rows, "n_words").count(), "{name}");
        assert_eq!(counts[0], one(&rows, "n_outcomes").count(), "{name}");
    }
    let mut several = 0;
    for number in 0..60 {
        let mut random = Random(number);
        let balls = 3 + random.below(2);
        let masses: Vec<f64> = (0..balls).map(|_| 0.5 + 2.0 * random.unit()).collect();
        let v = random.vector(balls);
        let cradle = Cradle::new(&masses, v.as_slice()).unwrap();
        let (_, [all, minimal]) = assert_sets_by_hand(&cradle, &format!("random {number}"));
        assert!(minimal >= 1 && minimal <= all);
        several += usize::from(minimal < all);
    }
    assert!(several > 3, "{several}: minimal sets were hardly tested");
}

#[test]
fn rules_choose_the_words_of_the_reference() {
    for name in NAMES {
        let rows = propagative(name);
        let impact = cradle(&rows).impact().unwrap();
        for (rule, word, v) in [
            (ReflectionOrder::ArgMin, "rule_min_word", "rule_min_v"),
            (ReflectionOrder::ArgMax, "rule_max_word", "rule_max_v"),
            (
                ReflectionOrder::IndexOrder,
                "rule_index_word",
                "rule_index_v",
            ),
        ] {
            let outcome = Propagative::new(rule).outcome(&impact).unwrap();
            assert_eq!(outcome.word(), one(&rows, word).word(), "{name} {rule:?}");
            assert!(near(
                &velocities(&impact, &outcome),
                &values(&rows, v),
                1e-10
            ));
        }
        let all = AllOutcomes::new().resolve(&impact).unwrap();
        let all = ends(&impact, &all);
        let rules = (0..20)
            .map(|seed| ReflectionOrder::Random { seed })
            .chain((0..impact.contacts()).map(ReflectionOrder::GivenFirst));
        for rule in rules {
            if let Ok(outcome) = Propagative::new(rule).outcome(&impact) {
                let found = velocities(&impact, &outcome);
                assert!(
                    all.iter().any(|v| near(v, &found, 1e-10)),
                    "{name} {rule:?}"
                );
            } else {
                assert!(
                    matches!(rule, ReflectionOrder::GivenFirst(i) if impact.speeds()[i] >= 0.0)
                );
            }
        }
    }
}

#[test]
fn random_words_reach_every_outcome() {
    let rows = propagative("cradle_1234");
    let impact = cradle(&rows).impact().unwrap();
    let mut found: Vec<Vec<f64>> = Vec::new();
    for seed in 0..400 {
        let outcome = Propagative::new(ReflectionOrder::Random { seed }).outcome(&impact);
        let v = velocities(&impact, &outcome.unwrap());
        if !found.iter().any(|other| near(other, &v, 1e-10)) {
            found.push(v);
        }
    }
    assert_eq!(found.len(), 8);
}

#[test]
fn equal_balls_are_sorted_whatever_the_order() {
    let mut factorial = 2;
    for n in 3..=6 {
        factorial *= n;
        let name = format!("cradle_equal_{n}");
        let rows = propagative(&name);
        assert_eq!(one(&rows, "momentum_states").count(), factorial);
        let cradle = Cradle::new(&vec![1.0; n], &values(&rows, "v_in")).unwrap();
        let impact = cradle.impact().unwrap();
        let all = AllOutcomes::new().resolve(&impact).unwrap();
        assert_eq!((all.list.len(), all.effort), (1, factorial), "{name}");
        let length = one(&rows, "word_length_argmin").count();
        let rules = [
            ReflectionOrder::ArgMin,
            ReflectionOrder::ArgMax,
            ReflectionOrder::IndexOrder,
        ];
        for rule in rules
            .into_iter()
            .chain((0..20).map(|seed| ReflectionOrder::Random { seed }))
        {
            let outcome = Propagative::new(rule).outcome(&impact).unwrap();
            assert_eq!(outcome.word().len(), length, "{name} {rule:?}");
            let v = velocities(&impact, &outcome);
            assert!(near(&v, &values(&rows, "v_out"), 1e-13), "{name} {rule:?}");
        }
        // Any velocities, ties among them.
        let mut random = Random(n as u64);
        let mut v: Vec<f64> = (0..n).map(|_| random.below(5) as f64).collect();
        let impact = Cradle::new(&vec![1.0; n], &v).unwrap().impact().unwrap();
        let all = AllOutcomes::new().resolve(&impact).unwrap();
        v.sort_by(f64::total_cmp);
        assert_eq!(all.list.len(), 1);
        assert!(near(&velocities(&impact, &all.list[0]), &v, 1e-13));
    }
}

#[test]
fn a_common_velocity_changes_nothing() {
    let rows = propagative("cradle_1234");
    let still = cradle(&rows);
    let moving: Vec<f64> = still.velocities().iter().map(|v| v + 100.0).collect();
    let moving = Cradle::new(still.masses(), &moving).unwrap();
    let [still, moving] = [still, moving].map(|c| c.impact().unwrap());
    for law in [
        &AllOutcomes::new() as &dyn ImpactLaw,
        &MinimalOutcomes::new(),
    ] {
        let [a, b] = [&still, &moving].map(|i| law.resolve(i).unwrap().list);
        assert_eq!(a.len(), b.len());
        for (a, b) in a.iter().zip(&b) {
            assert_eq!(a.word(), b.word());
            assert!((&a.speeds - &b.speeds).amax() < 1e-11);
        }
    }
}

#[test]
fn the_same_input_gives_the_same_bits() {
    let rows = propagative("cradle_1234");
    let impact = cradle(&rows).impact().unwrap();
    let bits = || {
        let laws: [&dyn ImpactLaw; 3] = [
            &AllOutcomes::new(),
            &MinimalOutcomes::new(),
            &Propagative::new(ReflectionOrder::Random { seed: 3 }),
        ];
        let outcomes = laws.map(|law| law.resolve(&impact).unwrap().list);
        let list = outcomes.iter().flatten();
        list.flat_map(|o| o.speeds.iter().map(|s| s.to_bits()).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    assert_eq!(bits(), bits());
}
