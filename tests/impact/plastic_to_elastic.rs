//! Plastic outcomes and outcomes between plastic and elastic.

use saltation::impact::{
    AllOutcomes, ImpactLaw, ImpactProblem, Plastic, Propagative, ReflectionOrder, Remark,
    Unilateral,
};
use saltation::models::Cradle;
use saltation::nalgebra::{DMatrix, DVector, dmatrix, dvector};

use crate::fixtures::random::{Random, System};
use crate::fixtures::reference::{one, propagative, values};

#[test]
fn the_blend_of_the_reference() {
    let rows = propagative("blend_R0.7");
    let m = [1.0, 2.0, 3.0];
    let v: Vec<f64> = values(&rows, "p_minus")
        .iter()
        .zip(m)
        .map(|(p, m)| p / m)
        .collect();
    let elastic = Cradle::new(&m, &v).unwrap().impact().unwrap();
    let partly = elastic.clone().with_restitution(0.7).unwrap();
    let law = Propagative::new(ReflectionOrder::ArgMin);
    let check = |problem: &ImpactProblem, law: &dyn ImpactLaw, p: &str, energy: &str| {
        let outcome = law.outcome(problem).unwrap();
        let after = problem.velocity_after(&outcome).unwrap();
        for ((v, m), p) in after.iter().zip(m).zip(values(&rows, p)) {
            assert!((v * m - p).abs() < 1e-10);
        }
        let kinetic = one(&rows, "kinetic_p_minus").value() + outcome.energy_change;
        assert!((kinetic - one(&rows, energy).value()).abs() < 1e-11);
        outcome.energy_change
    };
    check(&elastic, &law, "p_elastic", "kinetic_p_elastic");
    let most = check(&elastic, &Plastic, "p_plastic", "kinetic_p_plastic");
    let change = check(&partly, &law, "p_plus", "kinetic_p_plus");
    assert!((change / most - one(&rows, "dE_over_Ep").value()).abs() < 1e-14);
}

#[test]
fn a_plastic_outcome_that_would_pull_is_unilateral() {
    let rows = propagative("plastic_sign");
    let s = DVector::from_vec(values(&rows, "s_in"));
    let problem = ImpactProblem::new(dmatrix![1.0, 0.5; 0.5, 1.0], s).unwrap();
    // The bilateral impulses, as the reference has them, pull at the second.
    let bilateral = problem.cosines().clone().try_inverse().unwrap() * -problem.speeds();
    for (found, expected) in bilateral.iter().zip(values(&rows, "lambda_bilateral")) {
        assert!((found - expected).abs() < 1e-10);
    }
    let outcome = Plastic.outcome(&problem).unwrap();
    for (found, expected) in [
        (&outcome.impulses, "lambda_unilateral"),
        (&outcome.speeds, "s_out_unilateral"),
    ] {
        for (found, expected) in found.iter().zip(values(&rows, expected)) {
            assert!((found - expected).abs() < 1e-12);
        }
    }
    assert_eq!(outcome.remarks, [Remark::UnilateralPlastic]);
    let bilateral = ImpactProblem::new(dmatrix![1.0, 0.5; 0.5, 1.0], dvector![-1.0, -0.9]);
    assert!(
        Plastic
            .outcome(&bilateral.unwrap())
            .unwrap()
            .remarks
            .is_empty()
    );
}

/// `½ u_Aᵀ G_AA⁻¹ u_A` over the contacts that push.
fn plastic_loss(problem: &ImpactProblem, impulses: &DVector<f64>) -> f64 {
    let pushing: Vec<usize> = (0..impulses.len())
        .filter(|&i| impulses[i] > 1e-9)
        .collect();
    let g = problem
        .delassus()
        .select_rows(&pushing)
        .select_columns(&pushing);
    let u = problem.speeds().select_rows(&pushing);
    g.cholesky()
        .map_or(0.0, |factor| 0.5 * u.dot(&factor.solve(&u)))
}

#[test]
fn plastic_impacts_lose_what_the_formula_says() {
    let mut unilateral = 0;
    for number in 0..1000 {
        let system = System::random(number);
        let problem = system.problem();
        let outcome = Plastic.outcome(&problem).unwrap();
        let before = system.energy(&system.velocity);
        let after = system.energy(&problem.velocity_after(&outcome).unwrap());
        let loss = plastic_loss(&problem, &outcome.impulses);
        // The loss is known as well as the Delassus matrix can be solved with.
        let known = f64::max(1e-13, 1e-14 / problem.rcond()) * before;
        assert!((before - after - loss).abs() < known, "{number}");
        assert!((outcome.energy_change + loss).abs() < known, "{number}");
        assert!(outcome.is_feasible() && !outcome.is_adhesive(), "{number}");
        unilateral += usize::from(outcome.remarks.contains(&Remark::UnilateralPlastic));
        // The unilateral law without restitution is the same.
        let problem = problem.with_restitution(0.0).unwrap();
        let same = Unilateral.outcome(&problem).unwrap();
        assert!((same.speeds - outcome.speeds).amax() < 1e-11, "{number}");
    }
    assert!((100..900).contains(&unilateral), "{unilateral}");
}

#[test]
fn the_part_of_the_plastic_loss_that_stays_is_the_square_of_the_restitution() {
    let (mut unilateral, mut tried) = (0, 0);
    for number in 0..400 {
        let mut random = Random(number);
        let system = System::random(number);
        let elastic = system.problem();
        let restitution = random.unit();
        let problem = elastic.clone().with_restitution(restitution).unwrap();
        let plastic = Plastic.outcome(&elastic).unwrap();
        let loss = -plastic.energy_change;
        let Ok(outcome) = Propagative::default().outcome(&problem) else {
            continue;
        };
        let energy = system.energy(&system.velocity);
        // A ratio of small losses says nothing: both are rounded like the whole energy.
        if loss < 0.01 * energy {
            continue;
        }
        tried += 1;
        let kept = 1.0 + outcome.energy_change / loss;
        let rounding = f64::max(1e-13, 1e-14 / elastic.rcond()) * energy / loss;
        assert!(
            (kept - restitution * restitution).abs() < rounding,
            "{number}: {kept}"
        );
        let after = system.energy(&problem.velocity_after(&outcome).unwrap());
        let kept = 1.0 + (after - energy) / loss;
        assert!(
            (kept - restitution * restitution).abs() < 10.0 * rounding,
            "{number}: {kept}"
        );
        assert!(outcome.is_feasible() && !outcome.is_adhesive(), "{number}");
        unilateral += usize::from(outcome.remarks.contains(&Remark::UnilateralPlastic));
    }
    assert!(tried > 200 && unilateral > 50, "{tried} {unilateral}");
}

#[test]
fn every_outcome_is_blended() {
    let elastic = Cradle::new(&[1.0, 2.0, 3.0, 4.0], &[1.0, 0.5, 0.0, -1.0]).unwrap();
    let elastic = elastic.impact().unwrap();
    let partly = elastic.clone().with_restitution(0.6).unwrap();
    let plastic = Plastic.outcome(&elastic).unwrap();
    assert!(plastic.remarks.is_empty());
    let all = AllOutcomes::new();
    let elastic = all.resolve(&elastic).unwrap().list;
    let partly = all.resolve(&partly).unwrap().list;
    assert_eq!(partly.len(), 8);
    for (e, p) in elastic.iter().zip(&partly) {
        assert_eq!(e.word(), p.word());
        let blend = &e.impulses * 0.6 + &plastic.impulses * 0.4;
        assert!((blend - &p.impulses).amax() < 1e-13);
    }
}

#[test]
fn of_different_restitutions_the_largest_counts_and_is_named() {
    let cradle = Cradle::new(&[1.0, 2.0, 3.0], &[1.0, 0.0, -1.0]).unwrap();
    let impact = cradle.impact().unwrap();
    let law = Propagative::default();
    let mixed = impact.clone().with_restitutions(&[0.2, 0.7]).unwrap();
    let mixed = law.outcome(&mixed).unwrap();
    let common = law
        .outcome(&impact.clone().with_restitution(0.7).unwrap())
        .unwrap();
    assert_eq!(mixed.speeds, common.speeds);
    assert_eq!(mixed.remarks, [Remark::LargestRestitution { used: 0.7 }]);
    let beyond = impact.with_any_restitutions(&[1.2, 1.2]).unwrap();
    assert!(law.outcome(&beyond).is_err());
}

#[test]
fn dissipation_of_a_plastic_impact_of_all_contacts() {
    // Obtuse contacts, all approaching: bilateral, the formula over all of them.
    let g: DMatrix<f64> = dmatrix![2.0, -1.0, 0.0; -1.0, 2.0, -1.0; 0.0, -1.0, 2.0];
    let u = dvector![-1.0, -0.3, -2.0];
    let expected = -0.5 * u.dot(&(g.clone().try_inverse().unwrap() * &u));
    let problem = ImpactProblem::new(g, u).unwrap();
    let outcome = Plastic.outcome(&problem).unwrap();
    assert!((outcome.energy_change - expected).abs() < 1e-14);
    assert!(outcome.speeds.amax() < 1e-15);
}

/// Without restitution the order does not matter: the outcomes of all words are one.
#[test]
fn plastic_outcomes_are_one() {
    use saltation::impact::{AllOutcomes, MinimalOutcomes};
    use saltation::models::Cradle;
    let cradle = Cradle::new(&[1.0, 2.0, 3.0], &[1.0, 0.0, -1.0]).unwrap();
    for (restitution, expected) in [(0.0, 1), (0.5, 2), (1.0, 2)] {
        let impact = cradle
            .impact()
            .unwrap()
            .with_restitution(restitution)
            .unwrap();
        let all = AllOutcomes::new().resolve(&impact).unwrap();
        let minimal = MinimalOutcomes::new().resolve(&impact).unwrap();
        assert_eq!((all.list.len(), minimal.list.len()), (expected, expected));
    }
}
