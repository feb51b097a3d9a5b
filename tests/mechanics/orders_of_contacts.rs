//! Orders of contacts, their words and their maps: rigid legs and balls in a row.

use saltation::ContactModel;
use saltation::derivative::flow_jacobian;
use saltation::event_driven::{Breakdown, ContinuityClass, InertialCoupling};
use saltation::impact::{Propagative, Unilateral};
use saltation::{Integrator, Start};

use crate::continuity::{legs, legs_with, ratio};
use crate::fixtures::plain::{Free, Plain, free, identity};

const SPEED: f64 = 3.13209195267;

#[test]
fn words_go_on_until_nothing_approaches() {
    let words = |trot, v| -> Vec<Vec<usize>> {
        let outcomes = legs_with(trot, Unilateral, v).outcomes;
        outcomes.into_iter().map(|outcome| outcome.word).collect()
    };
    assert_eq!(
        words(legs(1.0 / 3.0, 1.0), [-1.0, 0.0]),
        [[0, 1, 0], [1, 0, 1]]
    );
    assert_eq!(words(legs(1.0, 1.0), [-1.0, 0.0]), [[0, 1], [1, 0]]);
    // At an acute angle the first impact turns the other foot away.
    assert_eq!(words(legs(4.0, 1.0), [-1.0, 0.0]), [[0], [1]]);
    for k in 4..12 {
        for word in words(legs(ratio(f64::from(k)), 1.0), [-1.0, 0.0]) {
            assert_eq!(word.len(), usize::try_from(k).unwrap());
        }
    }
}

#[test]
fn maps_of_words_with_repetitions_are_those_of_displaced_runs() {
    let model = ContactModel::new(legs(1.0 / 3.0, 1.0));
    let (q, v) = ([1.0, 0.0], [-SPEED, 0.2]);
    let report = model
        .decoupling(&Start::at(0.0).q(&q).v(&v), &[0, 1])
        .unwrap();
    let (before, after) = (1e-2, 1e-3);
    let end = |dx: [f64; 4]| {
        let [z, theta, rate, spin] = [1.0 + dx[0], dx[1], dx[2] - SPEED, dx[3] + 0.2];
        let fall = rate * before + 0.5 * 9.81 * before * before;
        let q = [z - fall, theta - spin * before];
        let start = model
            .start(&Start::at(0.0).q(&q).v(&[rate + 9.81 * before, spin]))
            .unwrap();
        let mut integrator = Integrator::new(&model).unwrap().rtol(1e-13).atol(1e-15);
        let span = before + after;
        let run = integrator.integrate(&start.as_start(), span).unwrap();
        run.state().clone()
    };
    let open = model.mode(&[]);
    for (outcome, tilt) in report.outcomes.iter().zip([1.0, -1.0]) {
        assert_eq!(outcome.word.len(), 3);
        let state = [&q[..], outcome.velocity.as_slice()].concat();
        let jacobian = flow_jacobian(&model, 0.0, &state, &open).unwrap();
        let expected = &outcome.matrix + after * jacobian * &outcome.matrix;
        let quotient = |s: f64, j: usize| {
            let mut dx = [0.0, 3.0 * s * tilt, 0.0, 0.0];
            let base = end(dx);
            dx[j] += s;
            (end(dx) - base) / s
        };
        for j in 0..4 {
            let found = 2.0 * quotient(1e-5, j) - quotient(2e-5, j);
            let error = (&found - expected.column(j)).amax();
            assert!(
                error < 1e-4,
                "{:?} {j}: {error} {found} {expected}",
                outcome.word
            );
        }
    }
}

#[test]
fn impacts_that_accumulate_come_to_rest_and_those_that_do_not_end_are_refused() {
    // Three equal balls with e < 7 − 4√3 collapse: infinitely many impacts, and one outcome.
    let report = legs_with(legs(1.0 / 3.0, 0.05), Unilateral, [-1.0, 0.3]);
    let longest = report.outcomes.iter().map(|o| o.word.len()).max();
    assert!(longest > Some(10), "{report:?}");
    assert!(report.state_spread < 1e-7);
    for velocity in report.outcomes.iter().flat_map(|o| o.velocity.iter()) {
        assert!(velocity.abs() < 1e-7, "{report:?}");
    }
    // All at once feet bounce: v⁺ = −e v⁻.
    let InertialCoupling::Isolated { by } = report.verdict else {
        panic!("{report:?}");
    };
    assert!((by - 0.05).abs() < 1e-7);
    // With a little more they do not: eleven impacts, and a jump.
    let report = legs_with(legs(1.0 / 3.0, 0.08), Unilateral, [-1.0, 0.3]);
    let verdict = report.verdict;
    assert!(
        matches!(verdict, InertialCoupling::Discontinuous { jump } if jump > 1e-6),
        "{report:?}"
    );
    let narrow = ContactModel::new(legs(ratio(1500.0), 1.0));
    let refused = narrow.decoupling(&Start::at(0.0).q(&[1.0, 0.0]).v(&[-1.0, 0.0]), &[0, 1]);
    assert!(
        matches!(refused, Err(Breakdown::TooManyImpacts { limit: 1000, .. })),
        "{refused:?}"
    );
    let wide = legs_with(legs(ratio(900.0), 1.0), Unilateral, [-1.0, 0.0]);
    let group = ContinuityClass::ReflectionGroup { k: 900 };
    assert_eq!(
        wide.verdict,
        InertialCoupling::ContinuousOnly(group),
        "{}",
        wide.state_spread
    );
}

/// Equal balls in a row, each closing on the next: contacts at the angle `π/3` with their
/// neighbours.
fn row_of_balls(n: usize, restitution: f64) -> Plain<Free> {
    let gap = |j: usize| {
        let mut row = vec![0.0; n];
        (row[j], row[j + 1]) = (-1.0, 1.0);
        row
    };
    Plain {
        mass: identity(n),
        rows: (0..n - 1).map(gap).collect(),
        restitution: vec![restitution; n - 1],
        effort: free,
    }
}

#[test]
fn balls_in_a_row_are_a_reflection_group_for_laws_that_go_on() {
    for n in [4, 5, 6] {
        let velocities: Vec<f64> = (0..n).map(|i| -((i * i) as f64)).collect();
        let contacts: Vec<usize> = (0..n - 1).rev().collect();
        let zero = vec![0.0; n];
        let elastic = row_of_balls(n, 1.0);
        let model = ContactModel::with_law(elastic, Propagative::default());
        let report = model
            .decoupling(&Start::at(0.0).q(&zero).v(&velocities), &contacts)
            .unwrap();
        let group = ContinuityClass::ReflectionGroup { k: 3 };
        assert_eq!(
            report.verdict,
            InertialCoupling::ContinuousOnly(group),
            "{report:?}"
        );
        let mut sorted = velocities.clone();
        sorted.sort_by(f64::total_cmp);
        for outcome in &report.outcomes {
            // Each pair of balls meets once, and velocities are sorted.
            assert_eq!(outcome.word.len(), n * (n - 1) / 2);
            for (found, expected) in outcome.velocity.iter().zip(&sorted) {
                assert!((found - expected).abs() < 1e-12, "{outcome:?}");
            }
        }
        let expected = [6, 24, 26][n - 4];
        assert_eq!(report.orders, expected);
        assert_eq!(report.outcomes.len(), expected);
        let plastic = row_of_balls(n, 0.0);
        let model = ContactModel::new(plastic);
        let report = model
            .decoupling(&Start::at(0.0).q(&zero).v(&velocities), &contacts)
            .unwrap();
        let class = ContinuityClass::ObtusePlastic;
        assert_eq!(
            report.verdict,
            InertialCoupling::ContinuousOnly(class),
            "{report:?}"
        );
    }
}

#[test]
fn orders_agree_where_plastic_contacts_are_obtuse_and_a_bouncing_one_apart() {
    let mut system = row_of_balls(4, 0.0);
    system.rows[2] = vec![0.0, 0.0, 0.0, 1.0];
    system.restitution[2] = 0.5;
    let model = ContactModel::new(system);
    let report = model
        .decoupling(
            &Start::at(0.0).q(&[0.0; 4]).v(&[0.0, -1.0, -3.0, -1.0]),
            &[0, 1, 2],
        )
        .unwrap();
    assert!((report.largest_cosine - 0.5).abs() < 1e-15);
    let class = ContinuityClass::OrdersAgree;
    assert_eq!(
        report.verdict,
        InertialCoupling::ContinuousOnly(class),
        "{report:?}"
    );
    assert!(report.corner_spread < 1e-15);
}

#[test]
fn orders_of_many_contacts_have_the_given_its_reverse_and_the_sorted_one() {
    let apart = Plain {
        mass: identity(5),
        rows: (0..5)
            .map(|j| (0..5).map(|i| f64::from(u8::from(i == j))).collect())
            .collect(),
        restitution: vec![0.5; 5],
        effort: free,
    };
    let model = ContactModel::new(apart);
    let given = [3, 1, 4, 0, 2];
    let report = model
        .decoupling(&Start::at(0.0).q(&[0.0; 5]).v(&[-1.0; 5]), &given)
        .unwrap();
    let orders: Vec<&[usize]> = report.outcomes.iter().map(|o| &o.order[..]).collect();
    let first: [&[usize]; 3] = [&given, &[2, 0, 4, 1, 3], &[0, 1, 2, 3, 4]];
    assert_eq!(orders[..3], first);
    assert_eq!((orders.len(), report.orders), (27, 27));
    assert_eq!(report.verdict, InertialCoupling::Decoupled);
    // A contact given twice counts once.
    let twice = model
        .decoupling(&Start::at(0.0).q(&[0.0; 5]).v(&[-1.0; 5]), &[1, 0, 1])
        .unwrap();
    assert_eq!(
        (twice.orders, twice.verdict),
        (2, InertialCoupling::Decoupled)
    );
}

/// Balls of these masses in a row fly freely from these gaps and speeds until none meets another;
/// the words of their impacts and their velocities.
fn fly(masses: &[f64], e: f64, gaps: &[f64], velocities: &[f64]) -> (Vec<usize>, Vec<f64>) {
    let (mut gaps, mut v, mut word) = (gaps.to_vec(), velocities.to_vec(), Vec::new());
    loop {
        let time = |j: usize| (v[j] > v[j + 1]).then(|| gaps[j] / (v[j] - v[j + 1]));
        let next = (0..gaps.len()).filter_map(|j| Some((time(j)?, j)));
        let Some((time, j)) = next.min_by(|a, b| a.0.total_cmp(&b.0)) else {
            return (word, v);
        };
        for i in 0..gaps.len() {
            gaps[i] += time * (v[i + 1] - v[i]);
        }
        gaps[j] = 0.0;
        let (a, b) = (masses[j], masses[j + 1]);
        let impulse = (1.0 + e) * (v[j] - v[j + 1]) * a * b / (a + b);
        v[j] -= impulse / a;
        v[j + 1] += impulse / b;
        word.push(j);
    }
}

#[test]
fn outcomes_of_three_contacts_are_those_of_balls_met_one_long_after_the_other() {
    let velocities = [2.0, 1.1, -0.7, -1.6];
    let mut longest = 0;
    for (masses, e) in [
        ([1.0, 2.0, 1.0, 3.0], 0.7),
        ([3.0, 0.2, 1.0, 0.4], 0.6),
        ([1.0, 0.3, 2.0, 0.3], 1.0),
    ] {
        let mut system = row_of_balls(4, e);
        for (i, m) in masses.iter().enumerate() {
            system.mass[5 * i] = *m;
        }
        let model = ContactModel::new(system);
        let report = model
            .decoupling(&Start::at(0.0).q(&[0.0; 4]).v(&velocities), &[0, 1, 2])
            .unwrap();
        assert_eq!(report.outcomes.len(), 6);
        for outcome in &report.outcomes {
            let mut gaps = [0.0; 3];
            for (place, &j) in outcome.order.iter().enumerate() {
                gaps[j] = [1e-12, 1e-6, 1.0][place];
            }
            let (word, expected) = fly(&masses, e, &gaps, &velocities);
            assert_eq!(outcome.word, word, "{outcome:?}");
            longest = longest.max(word.len());
            for (found, expected) in outcome.velocity.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-12, "{outcome:?}");
            }
        }
    }
    assert!(longest > 6);
}
