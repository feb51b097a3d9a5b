//! Sensitivities are accepted and kept; laws without friction work on the normals and carry the
//! slips along.

use saltation::InputError;
use saltation::impact::ImpactFailure;
use saltation::impact::{ImpactLaw, ImpactProblem, Propagative, Sequential, Unilateral};
use saltation::nalgebra::DMatrix;

use crate::fixtures::random::{Random, System};

#[test]
fn slips_follow_from_the_impulses_along_the_normals() {
    for tangents in [1, 2] {
        let mut random = Random(tangents as u64);
        let system = System::random(40);
        let (contacts, dim) = system.jacobian.shape();
        let slips = random.matrix(contacts * tangents, dim);
        let rows = DMatrix::from_fn(contacts * (1 + tangents), dim, |i, j| {
            if i < contacts {
                system.jacobian[(i, j)]
            } else {
                slips[(i - contacts, j)]
            }
        });
        let mu = vec![0.3; contacts];
        let problem =
            ImpactProblem::from_mechanics_with_tangents(&system.mass, &rows, &system.velocity, &mu)
                .unwrap();
        assert_eq!(
            (problem.contacts(), problem.tangents()),
            (contacts, tangents)
        );
        assert_eq!(problem.friction(), mu);
        assert_eq!(problem.delassus().nrows(), contacts * (1 + tangents));
        let refused = Unilateral.resolve(&problem);
        assert!(matches!(
            refused,
            Err(ImpactFailure::Input(InputError::FrictionIgnored { law: "Unilateral", contact: 0, friction })) if friction == 0.3
        ));
        let problem = problem.frictionless();
        let bare = system.problem();
        for law in [
            &Propagative::default() as &dyn ImpactLaw,
            &Unilateral,
            &Sequential::new(),
        ] {
            let outcome = law.outcome(&problem).unwrap();
            let after = problem.velocity_after(&outcome).unwrap();
            assert!((&rows * &after - &outcome.speeds).amax() < 1e-12);
            assert!(outcome.impulses.rows(contacts, contacts * tangents).amax() == 0.0);
            let without = bare.velocity_after(&law.outcome(&bare).unwrap()).unwrap();
            assert!((without - after).amax() < 1e-12);
        }
        let given =
            ImpactProblem::with_tangents(problem.delassus().clone(), problem.speeds().clone(), &mu);
        assert_eq!(given.unwrap().tangents(), tangents);
        let many = vec![0.1; contacts + 1];
        let refused = ImpactProblem::from_mechanics_with_tangents(
            &system.mass,
            &rows,
            &system.velocity,
            &many,
        );
        assert!(matches!(
            refused,
            Err(ImpactFailure::Input(InputError::WrongLength { .. }))
        ));
    }
}
