//! Restitution with stores of energy.

use saltation::InputError;
use saltation::impact::{BoundLaw, Finish, ImpactFailure, ImpactProblem, LcpSteps, SolutionRule};
use saltation::nalgebra::{DMatrix, DVector, dmatrix, dvector};

use crate::random_bits::SplitMix64;
use crate::reference::Case;

#[test]
fn one_contact_leaves_with_its_restitution() {
    let ball = ImpactProblem::new(dmatrix![1.0], dvector![-1.0]).unwrap();
    let after = |r: f64, h: f64| {
        let problem = ball.clone().with_restitution(r).unwrap();
        let steps = LcpSteps::new(h).most_steps(100_000);
        let mut simulation = steps.start_energetic(&problem).unwrap();
        let (mut u, mut p, mut sum) = ([0.0], [0.0], 0.0);
        for k in 0..10 {
            let ended = simulation.simulate(k, &mut u, &mut p).unwrap();
            assert!(ended.finished && simulation.stored() == [0.0]);
            sum += u[0];
        }
        sum / 10.0
    };
    for r in [0.0, 0.3, 0.5, 1.0] {
        for h in [0.05, 0.01, 0.002] {
            let off = r - after(r, h);
            assert!((-1e-9..h).contains(&off), "{r} {h}: {off}");
        }
    }
}

#[test]
fn the_block_bounces_within_its_energy() {
    let case = Case::named("rocking_block");
    // Greatest kinetic energy of the reference, to first order in the bound.
    for (r, expected) in [(0.0, 0.0037), (0.3, 0.0077), (0.6, 0.0315)] {
        let problem = case.problem().with_restitution(r).unwrap();
        let steps = LcpSteps::new(0.02).most_steps(10_000).seed(2);
        let mut simulation = steps.start_energetic(&problem).unwrap();
        let (mut u, mut p) = (DVector::zeros(4), DVector::zeros(4));
        let mut most: f64 = 0.0;
        for k in 0..60 {
            let ended = simulation
                .simulate(k, u.as_mut_slice(), p.as_mut_slice())
                .unwrap();
            assert!(ended.finished);
            let lost = 0.5 * p.dot(&(problem.speeds() + &u));
            assert!(lost <= 1e-12);
            most = most.max(case.value("K_pre") + lost);
        }
        assert!(most < 1.1 * expected, "{r}: {most}");
    }
}

#[test]
fn without_restitution_samples_are_those_of_the_inelastic_model() {
    let case = Case::named("box_wall");
    let problem = case.problem().with_restitution(0.0).unwrap();
    let steps = LcpSteps::new(1.0).seed(3);
    let mut inelastic = steps.start(&problem).unwrap();
    let mut energetic = steps.start_energetic(&problem).unwrap();
    let (mut u, mut v, mut p) = ([0.0; 4], [0.0; 4], [0.0; 4]);
    for k in 0..50 {
        let first = inelastic.simulate(k, &mut u, &mut p).unwrap();
        let second = energetic.simulate(k, &mut v, &mut p).unwrap();
        assert_eq!((first, u), (second, v));
    }
}

#[test]
fn energy_never_rises_whatever_the_coefficients() {
    let mut random = SplitMix64(61);
    for case in 0..40 {
        let (m, t, dim) = (1 + case % 3, 1 + case % 2, 6);
        let j = DMatrix::from_fn(m + t * m, dim, |_, _| random.between(-1.0, 1.0));
        let v = DVector::from_fn(dim, |_, _| random.between(-1.0, 1.0));
        let mu: Vec<f64> = (0..m).map(|_| random.unit()).collect();
        let r: Vec<f64> = (0..m).map(|_| random.unit()).collect();
        let mass = DMatrix::identity(dim, dim);
        let problem = ImpactProblem::from_mechanics_with_tangents(&mass, &j, &v, &mu)
            .unwrap()
            .with_restitutions(&r)
            .unwrap();
        let mut steps = LcpSteps::new(0.1).most_steps(2000);
        if case % 4 == 1 {
            steps = steps.round_cone();
        }
        let mut simulation = steps.start_energetic(&problem).unwrap();
        let (mut u, mut p) = (DVector::zeros(m + t * m), DVector::zeros(m + t * m));
        for k in 0..4 {
            simulation
                .simulate(k, u.as_mut_slice(), p.as_mut_slice())
                .unwrap();
            let after = &v + j.transpose() * &p;
            let stored: f64 = simulation.stored().iter().sum();
            let energy = 0.5 * after.norm_squared() + stored;
            assert!(
                energy <= 0.5 * v.norm_squared() * (1.0 + 1e-9),
                "{case} {k}"
            );
        }
    }
}

#[test]
fn settings_that_do_not_fit_are_refused() {
    let problem = Case::named("box_wall").problem();
    let good = LcpSteps::new(1.0);
    for bad in [
        good.rule(SolutionRule::PickUniform),
        good.finish(Finish::SmallStep(1.0)),
        good.dictionary(3),
    ] {
        let refused = bad.start_energetic(&problem);
        assert!(matches!(
            refused,
            Err(ImpactFailure::Input(InputError::BadSetting { .. }))
        ));
    }
    let odd = problem.with_any_restitutions(&[0.5, 1.5]).unwrap();
    assert!(good.start_energetic(&odd).is_err());
}

/// By faces only contacts that may push are chosen: with a store, also those that do not approach.
#[test]
fn no_step_by_faces_is_idle_while_a_store_is_not_empty() {
    let problem = ImpactProblem::new(DMatrix::identity(2, 2), dvector![0.5, -1.0])
        .unwrap()
        .with_restitution(1.0)
        .unwrap();
    let steps = LcpSteps::new(0.1).law(BoundLaw::Faces);
    for sample in 0..20 {
        let mut before = [0.0; 2];
        for most in 1..1000 {
            let mut simulation = steps.most_steps(most).start_energetic(&problem).unwrap();
            let (mut u, mut p) = ([0.0; 2], [0.0; 2]);
            let ended = simulation.simulate(sample, &mut u, &mut p).unwrap();
            assert!(p[1] > before[1], "{sample} {most}: {p:?}");
            before = p;
            if ended.finished {
                break;
            }
        }
    }
}
