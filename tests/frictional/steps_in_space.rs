//! Steps in space with the round cone.

use saltation::impact::{ImpactProblem, LcpSteps};
use saltation::nalgebra::{DMatrix, DVector};

use crate::random_bits::SplitMix64;
use crate::reference::Case;

/// The polygon leaves an error that does not fall with the bound; the round cone one of first
/// order.
#[test]
fn the_error_of_the_round_cone_falls_with_the_bound() {
    let case = Case::named("keller3d_slide");
    let problem = case.one_contact(case.value("mu"));
    let exact = case.vector("u_post");
    let error = |h: f64| {
        let steps = LcpSteps::new(h).most_steps(100_000).round_cone();
        let mut simulation = steps.start(&problem).unwrap();
        let (mut u, mut p, mut sum) = (DVector::zeros(3), DVector::zeros(3), 0.0);
        for k in 0..20 {
            let ended = simulation
                .simulate(k, u.as_mut_slice(), p.as_mut_slice())
                .unwrap();
            assert!(ended.finished);
            sum += (&u - &exact).amax();
        }
        sum / 20.0
    };
    let errors = [0.1, 0.05, 0.025, 0.0125].map(error);
    assert!(errors[0] < 0.05, "{errors:?}");
    for pair in errors.windows(2) {
        assert!((1.5..2.7).contains(&(pair[0] / pair[1])), "{errors:?}");
    }
}

#[test]
fn random_impacts_keep_the_cones_and_lose_energy() {
    let mut random = SplitMix64(51);
    for case in 0..25 {
        let (m, dim) = (1 + case % 3, 6);
        let j = DMatrix::from_fn(3 * m, dim, |_, _| random.between(-1.0, 1.0));
        let mut v = DVector::from_fn(dim, |_, _| random.between(-1.0, 1.0));
        // all approach
        for i in 0..m {
            let row = j.row(i);
            let along = row.transpose().dot(&v);
            if along > 0.0 {
                v -= row.transpose() * (2.0 * along / row.norm_squared());
            }
        }
        let mu: Vec<f64> = (0..m).map(|_| random.unit()).collect();
        let problem =
            ImpactProblem::from_mechanics_with_tangents(&DMatrix::identity(dim, dim), &j, &v, &mu)
                .unwrap();
        let steps = LcpSteps::new(0.3).most_steps(400).round_cone();
        let mut simulation = steps.start(&problem).unwrap();
        let (mut u, mut p) = (DVector::zeros(3 * m), DVector::zeros(3 * m));
        for k in 0..10 {
            let ended = simulation
                .simulate(k, u.as_mut_slice(), p.as_mut_slice())
                .unwrap();
            assert!(ended.residual < 1e-9);
            let after = &v + j.transpose() * &p;
            assert!((&j * &after - &u).amax() < 1e-11);
            assert!(after.norm() <= v.norm() * (1.0 + 1e-12));
            for i in 0..m {
                assert!(p.rows(m + 2 * i, 2).norm() <= mu[i] * p[i] * (1.0 + 1e-12));
            }
        }
    }
}
