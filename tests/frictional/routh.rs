//! One contact: Routh's impact in the plane, Keller's in space.

use saltation::InputError;
use saltation::impact::{ImpactFailure, ImpactLaw, ImpactProblem, Routh};
use saltation::nalgebra::{DMatrix, DVector, dmatrix, dvector};

use crate::random_bits::SplitMix64;
use crate::reference::Case;

#[test]
fn the_rod_has_an_impact_without_collision() {
    let case = Case::named("painleve_rod");
    let problem = case.one_contact(case.value("mu"));
    assert_eq!(Routh::new().outcome(&problem).unwrap().impulses.amax(), 0.0);
    let outcome = Routh::new().without_collision().outcome(&problem).unwrap();
    let expected = dvector![case.value("Lambda_n"), case.value("Lambda_t")];
    assert!((&outcome.impulses - expected).amax() < case.one("Lambda_n").tolerance());
    assert!(outcome.remarks.is_empty() && outcome.speeds.amax() < 1e-15);
    // below the critical friction nothing happens
    let rough = case.one_contact(case.value("mu_critical") - 1e-3);
    let nothing = Routh::new().without_collision().outcome(&rough).unwrap();
    assert_eq!(nothing.impulses.amax(), 0.0);
}

#[test]
fn in_space_slip_turns_as_in_the_reference() {
    let slide = Case::named("keller3d_slide");
    let outcome = Routh::new().outcome(&slide.one_contact(0.35)).unwrap();
    assert!(
        (&outcome.speeds - slide.vector("u_post")).amax() < 1e-11,
        "{outcome}"
    );
    assert!((outcome.impulses[0] - slide.value("Lambda_n")).abs() < 1e-11);
    let stick = Case::named("keller3d_stick");
    let outcome = Routh::new()
        .outcome(&slide.one_contact(stick.value("mu")))
        .unwrap();
    assert!(outcome.speeds.amax() < 1e-8, "{outcome}");
    assert!((outcome.impulses[0] - stick.value("Lambda_n")).abs() < 1e-8);
}

#[test]
fn a_sphere_slips_or_rolls() {
    let sphere = |mu: f64| {
        let delassus = DMatrix::from_diagonal(&dvector![1.0, 3.5, 3.5]);
        let problem =
            ImpactProblem::with_tangents(delassus, dvector![-1.0, 1.0, 0.0], &[mu]).unwrap();
        Routh::new().outcome(&problem).unwrap().speeds
    };
    assert!((sphere(0.2) - dvector![0.0, 0.3, 0.0]).amax() < 1e-13);
    let rolls = Case::named("sphere3d").value("mu_stick");
    assert!(sphere(rolls + 1e-9).amax() < 2e-12);
    assert!((sphere(rolls - 1e-3)[1] - 3.5e-3).abs() < 1e-12);
}

/// The path of one contact by many small steps, each with the friction of the slip at its start.
fn by_small_steps(g: &DMatrix<f64>, mu: f64, u: &DVector<f64>, steps: f64) -> DVector<f64> {
    let mut u = u.clone();
    let ds = 1.0 / steps;
    while u[0] < 0.0 {
        let slip = u.rows(1, u.len() - 1).into_owned();
        // The implicit step: friction that ends the slip, or opposes the slip it leaves.
        let mut push = DVector::zeros(u.len());
        push[0] = ds;
        let free = &u + g * &push;
        let mut friction = DVector::zeros(slip.len());
        let block = g.view((1, 1), (slip.len(), slip.len()));
        let rest = free.rows(1, slip.len()).into_owned();
        // projected gradient
        let rate = 1.0 / block.trace();
        for _ in 0..40 {
            friction -= rate * (&rest + block * &friction);
            let size = friction.norm();
            if size > mu * ds {
                friction *= mu * ds / size;
            }
        }
        push.rows_mut(1, slip.len()).copy_from(&friction);
        u += g * push;
    }
    u
}

fn random_contact(random: &mut SplitMix64, rows: usize) -> (DMatrix<f64>, DVector<f64>, f64) {
    let root = DMatrix::from_fn(rows, rows + 1, |_, _| random.between(-1.0, 1.0));
    let mut u = DVector::from_fn(rows, |_, _| random.between(-1.0, 1.0));
    u[0] = -0.1 - random.unit();
    (&root * root.transpose(), u, 1.5 * random.unit())
}

#[test]
fn outcomes_are_the_limit_of_small_steps() {
    let mut random = SplitMix64(5);
    for rows in [2, 3] {
        for _ in 0..6 {
            let (g, u, mu) = random_contact(&mut random, rows);
            let problem = ImpactProblem::with_tangents(g.clone(), u.clone(), &[mu]).unwrap();
            let outcome = Routh::new().outcome(&problem).unwrap();
            let scale = g[(0, 0)];
            let found = by_small_steps(&g, mu, &u, 600.0 * scale);
            let off = (&found - &outcome.speeds).amax();
            assert!(off < 2e-2, "{off:e} {found} {outcome}");
        }
    }
}

#[test]
fn random_outcomes_keep_the_laws() {
    let mut random = SplitMix64(6);
    for k in 0..1500 {
        let rows = if k % 20 == 0 { 3 } else { 2 };
        let (g, u, mu) = random_contact(&mut random, rows);
        let mu = [mu, 0.0, 1e5][k % 3];
        let problem = ImpactProblem::with_tangents(g.clone(), u.clone(), &[mu]).unwrap();
        let outcome = Routh::new().outcome(&problem).unwrap();
        assert!(outcome.speeds[0].abs() < 1e-9, "{outcome}");
        assert!(outcome.impulses[0] >= 0.0);
        let along = outcome.impulses.rows(1, rows - 1).norm();
        assert!(along <= mu * outcome.impulses[0] * (1.0 + 1e-9));
        assert!(outcome.energy_change <= 1e-12);
    }
}

#[test]
fn bad_input_is_refused() {
    let two = ImpactProblem::new(DMatrix::identity(2, 2), dvector![-1.0, 0.0]).unwrap();
    assert!(matches!(
        Routh::new().outcome(&two),
        Err(ImpactFailure::Input(InputError::BadSetting { .. }))
    ));
    let bare = ImpactProblem::with_tangents(dmatrix![1.0], dvector![-1.0], &[0.3]).unwrap();
    assert!(matches!(
        Routh::new().outcome(&bare),
        Err(ImpactFailure::Input(InputError::FrictionIgnored { .. }))
    ));
    let smooth = ImpactProblem::new(dmatrix![2.0], dvector![-1.0]).unwrap();
    assert_eq!(Routh::new().outcome(&smooth).unwrap().impulses[0], 0.5);
    let dependent =
        ImpactProblem::with_tangents(dmatrix![1.0, 1.0; 1.0, 1.0], dvector![-1.0, 0.0], &[2.0]);
    assert!(matches!(
        Routh::new().outcome(&dependent.unwrap()),
        Err(ImpactFailure::Jammed { contact: 0, .. })
    ));
    let leaving = ImpactProblem::with_tangents(DMatrix::identity(2, 2), dvector![1.0, 1.0], &[1.0]);
    let outcome = Routh::new()
        .without_collision()
        .outcome(&leaving.unwrap())
        .unwrap();
    assert_eq!(outcome.impulses.amax(), 0.0);
}

#[test]
fn a_contact_that_separates_gets_no_impulse() {
    for slip in [-1.0, 1.0, 0.0] {
        let plane = dmatrix![1.6, -1.2; -1.2, 3.4];
        let plane = ImpactProblem::with_tangents(plane, dvector![0.1, slip], &[2.0]).unwrap();
        let space = dmatrix![1.6, -1.2, 0.0; -1.2, 3.4, 0.0; 0.0, 0.0, 3.4];
        let space = ImpactProblem::with_tangents(space, dvector![0.1, slip, 0.0], &[2.0]).unwrap();
        for problem in [plane, space] {
            let outcome = Routh::new().without_collision().outcome(&problem).unwrap();
            assert_eq!(outcome.impulses.amax(), 0.0, "{slip}: {outcome}");
        }
    }
}
