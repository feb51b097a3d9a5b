//! The laws side by side: what each says of the cradle, where they agree, what they remark.

use saltation::impact::ImpactFailure;
use saltation::impact::{
    ImpactLaw, ImpactProblem, Order, Plastic, Projective, Propagative, Remark, Sequential,
    Unilateral,
};
use saltation::models::Cradle;
use saltation::nalgebra::{DVector, dmatrix, dvector};

fn after(law: &dyn ImpactLaw, impact: &ImpactProblem) -> DVector<f64> {
    let outcome = law.outcome(impact).unwrap();
    impact.velocity_after(&outcome).unwrap()
}

#[test]
fn the_cradle_tells_the_laws_apart() {
    let equal = Cradle::equal(3).unwrap().impact().unwrap();
    let thirds = |a: f64, b: f64, c: f64| dvector![a, b, c] / 3.0;
    for (law, expected) in [
        (
            &Propagative::default() as &dyn ImpactLaw,
            thirds(0., 0., 3.),
        ),
        (&Sequential::new(), thirds(0., 0., 3.)),
        (&Unilateral, thirds(-1., 2., 2.)),
        (&Projective::new(), thirds(-1., 2., 2.)),
        (&Plastic, thirds(1., 1., 1.)),
    ] {
        assert!((after(law, &equal) - expected).amax() < 1e-14);
    }
    let unequal = Cradle::new(&[1., 2., 3.], &[1., 0., 0.]).unwrap();
    let unequal = unequal.impact().unwrap();
    assert!((after(&Unilateral, &unequal) - thirds(-2., 1., 1.)).amax() < 1e-14);
    let fifteenths = dvector![-5.0, -2.0, 8.0] / 15.0;
    assert!((after(&Propagative::default(), &unequal) - fifteenths).amax() < 1e-14);
}

#[test]
fn the_literal_law_pulls_and_says_so_or_refuses() {
    // The second contact is closed, and the first, at an acute angle, makes it open.
    let problem = ImpactProblem::new(dmatrix![1.0, 0.6; 0.6, 1.0], dvector![-1.0, 0.0]).unwrap();
    let problem = problem.with_restitution(0.0).unwrap();
    let outcome = Projective::new().outcome(&problem).unwrap();
    assert!(outcome.is_adhesive() && outcome.is_feasible());
    let pull = -0.6 / 0.64;
    assert!(
        matches!(outcome.remarks[..], [Remark::Adhesive { contact: 1, impulse }] if (impulse - pull).abs() < 1e-14)
    );
    let refused = Projective::new().refuse_adhesion().outcome(&problem);
    assert!(
        matches!(refused, Err(ImpactFailure::Adhesion { contact: 1, impulse }) if (impulse - pull).abs() < 1e-14)
    );
    let free = Unilateral.outcome(&problem).unwrap();
    assert!((free.speeds - dvector![0.0, 0.6]).amax() < 1e-15 && free.remarks.is_empty());
    let obtuse = ImpactProblem::new(dmatrix![1.0, -0.6; -0.6, 1.0], dvector![-1.0, 0.0]).unwrap();
    assert!(Projective::new().refuse_adhesion().outcome(&obtuse).is_ok());
}

#[test]
fn the_literal_law_turns_round_contacts_that_separate() {
    let problem = ImpactProblem::new(dmatrix![1.0, 0.0; 0.0, 4.0], dvector![-1.0, 3.0]).unwrap();
    let outcome = Projective::new().outcome(&problem).unwrap();
    assert!(!outcome.is_feasible() && outcome.is_adhesive());
    assert_eq!(outcome.speeds.as_slice(), [1.0, -3.0]);
    let text = outcome.to_string();
    assert!(text.contains("contact 1 still approaches at -3"), "{text}");
    assert!(Unilateral.outcome(&problem).unwrap().remarks.is_empty());
}

#[test]
fn a_simultaneous_newton_law_can_raise_the_energy() {
    // ΔE = ½ Σ p_i (u_i⁻ + u_i⁺): of a contact that approached, p pushes it to −e u⁻ and takes
    // energy; of one that was parting and is pressed on by the others, p stops it and gives ½ p u⁻.
    // Then a common restitution is no help.
    let problem = ImpactProblem::new(dmatrix![1.0, -0.8; -0.8, 1.0], dvector![-1.0, 0.1]).unwrap();
    let swapped = problem.clone().with_restitutions(&[1.0, 0.0]).unwrap();
    let problem = problem.with_restitution(1.0).unwrap();
    let changes = [&problem, &swapped].map(|p| Unilateral.outcome(p).unwrap());
    let raised: Vec<bool> = changes
        .iter()
        .map(saltation::impact::Outcome::raises_energy)
        .collect();
    for outcome in &changes {
        // half of ‖u⁺‖² less ‖u‖² in the metric G⁻¹
        let inverse = problem.delassus().clone().try_inverse().unwrap();
        let energy = |u: &DVector<f64>| 0.5 * u.dot(&(&inverse * u));
        let change = energy(&outcome.speeds) - energy(problem.speeds());
        assert!((change - outcome.energy_change).abs() < 1e-14);
        assert_eq!(outcome.raises_energy(), change > 1e-9);
    }
    assert!(raised.contains(&true), "{changes:?}");
}

#[test]
fn a_parting_contact_that_is_pressed_on_gains_energy_with_a_common_restitution() {
    let problem = ImpactProblem::new(dmatrix![1.0, -0.5; -0.5, 1.0], dvector![-1.0, 0.5]).unwrap();
    // T = ½ uᵀ G⁻¹ u
    assert!((problem.kinetic_norm().powi(2) / 2.0 - 0.5).abs() < 1e-15);
    let with = |e: f64| problem.clone().with_restitution(e).unwrap();
    // p₀ − ½ p₁ = 2 and p₁ = ½ p₀ − ½: p = (7/3, 2/3), u⁺ = (1, 0), ΔE = ½ (2/3) (½)
    let outcome = Unilateral.outcome(&with(1.0)).unwrap();
    assert!((&outcome.impulses - dvector![7.0, 2.0] / 3.0).amax() < 1e-15);
    assert!((&outcome.speeds - dvector![1.0, 0.0]).amax() < 1e-15);
    assert!((outcome.energy_change - 1.0 / 6.0).abs() < 1e-15);
    assert!(
        matches!(outcome.remarks[..], [Remark::EnergyRaised { by }] if by == outcome.energy_change)
    );
    // plastic: a projection
    let plastic = Unilateral.outcome(&with(0.0)).unwrap();
    assert!(plastic.energy_change < -0.3 && plastic.remarks.is_empty());
    // one after the other, only contacts that approach push off, and nothing is gained
    let staged = Sequential::new().outcome(&with(1.0)).unwrap();
    assert!(staged.energy_change.abs() < 1e-15 && staged.remarks.is_empty());
}

#[test]
fn stages_are_named() {
    let cradle = Cradle::new(&[1.0; 4], &[1.0, 0.0, 0.0, -1.0]).unwrap();
    let impact = cradle.impact().unwrap();
    let outcome = Sequential::new().outcome(&impact).unwrap();
    assert_eq!(
        outcome.order,
        Order::Stages(vec![vec![0, 2], vec![1], vec![0, 2]])
    );
    assert_eq!(outcome.order.to_string(), "0+2, 1, 0+2");
    let one = impact.with_new_contacts(&[2]).unwrap();
    let outcome = Sequential::new().outcome(&one).unwrap();
    assert!(matches!(&outcome.order, Order::Stages(stages) if stages[0] == [2]));
    // A new contact that does not approach does not hold up the others.
    let idle = one.with_new_contacts(&[1]).unwrap();
    let outcome = Sequential::new().outcome(&idle).unwrap();
    assert!(matches!(&outcome.order, Order::Stages(stages) if stages[0] == [0, 2]));
}

#[test]
fn nothing_happens_when_nothing_approaches() {
    let problem = ImpactProblem::new(dmatrix![1.0, -0.5; -0.5, 2.0], dvector![0.5, 0.0]).unwrap();
    assert!(problem.is_feasible());
    for law in [
        &Propagative::default() as &dyn ImpactLaw,
        &Sequential::new(),
        &Unilateral,
        &saltation::impact::AllOutcomes::new(),
        &saltation::impact::MinimalOutcomes::new(),
    ] {
        for restitution in [0.0, 0.5, 1.0] {
            let problem = problem.clone().with_restitution(restitution).unwrap();
            let outcome = law.outcome(&problem).unwrap();
            assert_eq!(outcome.speeds, *problem.speeds(), "{outcome}");
            assert_eq!(outcome.energy_change, 0.0);
        }
    }
    let rest = ImpactProblem::new(dmatrix![1.0], dvector![0.0]).unwrap();
    assert!(Propagative::default().outcome(&rest).is_ok());
    assert_eq!(saltation::impact::indeterminacy(&rest), Ok(0.0));
}

#[test]
fn one_outcome_is_asked_for_only_where_there_is_one() {
    let cradle = Cradle::new(&[1.0, 2.0, 3.0], &[1.0, 0.0, -1.0]).unwrap();
    let impact = cradle.impact().unwrap();
    let all = saltation::impact::AllOutcomes::new();
    assert_eq!(
        all.outcome(&impact),
        Err(ImpactFailure::NotSingle { count: 2 })
    );
    let stopped = all.cap(3).resolve(&impact).unwrap();
    assert!(!stopped.is_complete);
    assert!(stopped.to_string().ends_with("stopped at a cap"));
    assert!(matches!(
        stopped.single(),
        Err(ImpactFailure::NotSingle { .. })
    ));
    let few = saltation::impact::MinimalOutcomes::new()
        .cap(2)
        .resolve(&impact);
    assert!(!few.unwrap().is_complete);
    let boxed: Box<dyn ImpactLaw> = Box::new(Unilateral);
    assert!(boxed.outcome(&impact).is_ok() && boxed.outcome(&impact).is_ok());
}

/// Balls of 1, 2 and 3 kg, the outer ones coming in: both contacts approach, so that the first
/// stage has both.
#[test]
fn contacts_that_are_new_at_once_are_taken_together() {
    use saltation::models::Cradle;
    let cradle = Cradle::new(&[1.0, 2.0, 3.0], &[1.0, 0.0, -1.0]).unwrap();
    let impact = cradle.impact().unwrap();
    for law in [&Sequential::new() as &dyn ImpactLaw, &Unilateral] {
        let outcome = law.outcome(&impact).unwrap();
        let after = impact.velocity_after(&outcome).unwrap();
        for (found, expected) in after.iter().zip([-5.0, -2.0, 1.0]) {
            assert!((found - expected / 3.0).abs() < 1e-14);
        }
    }
}
