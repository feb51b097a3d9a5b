//! Two contacts: how long words are, at which angles the outcome is unique, how much it differs
//! near them.

use std::f64::consts::{PI, TAU};

use saltation::impact::{
    AllOutcomes, ImpactLaw, ImpactProblem, MinimalOutcomes, ReflectionOrder, Reflections,
    Uniqueness, indeterminacy, uniqueness,
};
use saltation::nalgebra::{DMatrix, dmatrix, dvector};

use crate::fixtures::reference::{of, one, propagative};

/// Unit normals at the given cosine, in the plane of the momentum `(cos a, sin a)`.
fn wedge(cosine: f64, angle: f64) -> ImpactProblem {
    let normals = dmatrix![1.0, 0.0; cosine, (1.0 - cosine * cosine).sqrt()];
    let momentum = dvector![angle.cos(), angle.sin()];
    ImpactProblem::from_mechanics(&DMatrix::identity(2, 2), &normals, &momentum).unwrap()
}

/// Word lengths for the admissible first contacts.
fn lengths(problem: &ImpactProblem) -> Vec<usize> {
    (0..2)
        .filter_map(|first| {
            let mut reflections = Reflections::new(problem);
            reflections
                .run(ReflectionOrder::GivenFirst(first), 1000)
                .ok()
        })
        .collect()
}

#[test]
fn the_longest_words_are_those_of_the_reference() {
    let rows = propagative("bound2");
    for row in of(&rows, "uv") {
        let cosine = row.value();
        let [mut any, mut best] = [0, 0];
        for k in 0..8000 {
            let lengths = lengths(&wedge(cosine, TAU * (f64::from(k) + 0.5) / 8000.0));
            any = any.max(*lengths.iter().max().unwrap());
            best = best.max(*lengths.iter().min().unwrap());
        }
        let expected = |quantity| {
            let mut found = of(&rows, quantity).filter(|other| other.i == row.i);
            found.next().unwrap().count()
        };
        assert_eq!(any, expected("observed_max_any_start"), "{cosine}");
        assert_eq!(best, expected("observed_max_best_start"), "{cosine}");
        assert_eq!(any, expected("bound_any_start"), "{cosine}");
        assert_eq!(best, expected("bound_best_start"), "{cosine}");
    }
}

#[test]
fn at_pi_over_k_all_orders_agree_and_beside_it_they_do_not() {
    for k in 2..=6 {
        let name = format!("wedge_pi_over_{k}");
        let rows = propagative(&name);
        let opening = PI / f64::from(k);
        assert!((one(&rows, "cos").value() + opening.cos()).abs() < 1e-12);
        let kind = uniqueness(&wedge(-opening.cos(), 0.0));
        match k {
            2 => assert_eq!(kind, Uniqueness::Orthogonal),
            k => assert_eq!(kind, Uniqueness::Dihedral { k: k as usize }),
        }
        for off in [-1e-3, 1e-3] {
            let other = wedge(-(opening + off).cos(), 0.0);
            assert_eq!(uniqueness(&other), Uniqueness::Unknown);
        }
        let mut longest = 0;
        let (mut differ, mut most) = (0, 0.0_f64);
        for step in 0..300 {
            let angle = TAU * (f64::from(step) + 0.3) / 300.0;
            let exact = wedge(-opening.cos(), angle);
            longest = longest.max(lengths(&exact).into_iter().max().unwrap());
            let ends: Vec<_> = (0..2)
                .filter_map(|first| {
                    let mut reflections = Reflections::new(&exact);
                    reflections
                        .run(ReflectionOrder::GivenFirst(first), 100)
                        .ok()?;
                    Some(reflections.scaled_speeds().to_vec())
                })
                .collect();
            if let [a, b] = ends.as_slice() {
                assert!(a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12));
            }
            assert_eq!(AllOutcomes::new().resolve(&exact).unwrap().list.len(), 1);
            assert!(indeterminacy(&exact).unwrap() < 1e-12);
            let beside = indeterminacy(&wedge(-(opening + 1e-3).cos(), angle)).unwrap();
            differ += usize::from(beside > 1e-5);
            most = most.max(beside);
        }
        assert_eq!(longest, one(&rows, "word_length").count());
        assert!(
            differ > 10 && most > 1e-3,
            "k = {k}: {differ} differ, {most}"
        );
    }
}

#[test]
fn of_two_words_of_different_length_only_the_shorter_is_minimal() {
    let (mut shorter, mut equal) = (0, 0);
    for cosine in [-0.9, -0.6, 0.3, 0.7] {
        for step in 0..200 {
            let problem = wedge(cosine, TAU * (f64::from(step) + 0.5) / 200.0);
            let lengths = lengths(&problem);
            let all = AllOutcomes::new().resolve(&problem).unwrap().list;
            let minimal = MinimalOutcomes::new().resolve(&problem).unwrap().list;
            if let [a, b] = lengths[..]
                && a != b
            {
                shorter += 1;
                assert_eq!((all.len(), minimal.len()), (2, 1));
                assert_eq!(minimal[0].word().len(), a.min(b));
            } else {
                equal += 1;
                assert_eq!(all.len(), minimal.len());
            }
        }
    }
    assert!(shorter > 20 && equal > 20);
}

#[test]
fn near_a_right_angle_the_indeterminacy_is_first_order() {
    for cosine in [1e-4, -1e-4] {
        for angle in [3.5, 4.0, 4.5] {
            let problem = wedge(cosine, angle);
            let size = problem.speeds().norm();
            let expected = 4.0 * cosine.abs() * size / problem.kinetic_norm();
            let found = indeterminacy(&problem).unwrap();
            assert!((found / expected - 1.0).abs() < 1e-3, "{found} {expected}");
        }
    }
}
