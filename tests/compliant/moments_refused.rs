//! Spinning and rolling friction are refused by name where they would be ignored.

use nalgebra::{DMatrix, DVector};
use saltation::bodies::{Body, FreeContact, Scene, Shape};
use saltation::compliant::{
    CompliantFailure, Problem, Softness, SolutionVariation, Solver, StepFriction, Variation,
};
use saltation::impact::ImpactProblem;
use saltation::mechanics::{ContactParameters, ContactSource, Contacts, MechanicalSystem, Wanted};
use saltation::{Compliant, InputError, Start};

use crate::listed::Listed;

const WITHOUT_ROWS: &str = "a contact without rows of angular velocity";

/// The refusal of the parameters of [`turning`].
fn ignored(law: &'static str, contact: usize) -> InputError {
    InputError::MomentsIgnored {
        law,
        contact,
        spinning: 1e-3,
        rolling: 2e-3,
    }
}

fn turning(contact: usize) -> ContactParameters {
    let mut parameters = ContactParameters::new(contact, 0.0);
    (parameters.spinning_friction, parameters.rolling_friction) = (1e-3, 2e-3);
    parameters
}

/// A ball on the ground, and a bare one in the air.
fn scene() -> Scene {
    let mut scene = Scene::new();
    scene.add(Body::fixed(Shape::plane())).unwrap();
    let ball = || Body::new(Shape::sphere(0.1).unwrap());
    scene.add(ball().position([0.0, 0.0, 3.0])).unwrap();
    let rolls = ball().spinning_friction(1e-3).rolling_friction(2e-3);
    scene.add(rolls.position([1.0, 0.0, 0.1])).unwrap();
    scene
}

#[test]
fn other_laws_of_friction_refuse_them() {
    let (q, v) = scene().start();
    let start = Start::at(0.0).q(&q).v(&v);
    let mut contacts = Contacts::new();
    let wanted = Wanted {
        friction: true,
        ..Wanted::default()
    };
    scene()
        .fill(
            &q,
            saltation::mechanics::ContactSet::Within(0.01),
            wanted,
            &mut contacts,
        )
        .unwrap();
    let contact = contacts.all_parameters()[0].contact;
    for law in [StepFriction::Cone, StepFriction::Lagged { slip: 1e-4 }] {
        let stepper = || Compliant::new(scene()).unwrap().friction(law);
        let refused = stepper().integrate(&start, 0.1).unwrap_err();
        let name = "the compliant driver with another friction than StepFriction::Coulomb";
        assert_eq!(refused, ignored(name, contact));
        let text = refused.to_string();
        assert!(
            text.contains(&format!("contact {contact}")) && text.contains("0.002 m"),
            "{text}"
        );
        assert!(
            stepper()
                .frictionless()
                .integrate(&start, 0.1)
                .unwrap()
                .completed()
                .is_ok()
        );
    }
    let run = Compliant::new(scene())
        .unwrap()
        .integrate(&start, 0.1)
        .unwrap();
    assert!(run.completed().is_ok());
}

#[test]
fn problems_refuse_them_with_other_laws_and_without_rows() {
    let mut problem = Problem::new(0.01).unwrap();
    let mut mass = [0.0; 36];
    (0..6).for_each(|k| mass[7 * k] = 1.0);
    let tree = problem
        .add_tree(&mass, &[0.0, 0.0, 1.0, 0.0, 0.0, -1.0])
        .unwrap();
    let mut rows = [0.0; 36];
    for (row, column) in [5, 3, 4, 2, 0, 1].into_iter().enumerate() {
        rows[6 * row + column] = 1.0;
    }
    problem
        .add_contact(&ContactParameters::new(0, 0.0), &[(tree, &rows[..18])])
        .unwrap();
    for height in [1, 3, 5] {
        let refused = problem.add_contact(&turning(7), &[(tree, &rows[..6 * height])]);
        assert_eq!(refused.unwrap_err(), ignored(WITHOUT_ROWS, 1));
    }
    let too_many = problem.add_contact(&ContactParameters::new(0, 0.0), &[(tree, &rows)]);
    assert!(matches!(
        too_many,
        Err(InputError::RowsOfTerm { index: 1, .. })
    ));
    problem.add_contact(&turning(7), &[(tree, &rows)]).unwrap();
    let cone = Solver::new().solve(&problem, &[0.0; 6]).cloned();
    let named = ignored("the convex cone of friction", 1);
    assert!(matches!(cone, Err(CompliantFailure::Input(reason)) if reason == named));
    let lagged = problem.lag_friction(&[0.0; 6], 1e-3);
    assert_eq!(lagged, Err(ignored("lagged friction", 1)));
    problem.coulomb(&[0.0; 6]).unwrap();
    let mut solver = Solver::new();
    let solution = solver.solve(&problem, &[0.0; 6]).unwrap();
    assert_eq!(
        (solution.moments().len(), solution.moments()[0]),
        (2, [0.0; 3])
    );
    assert!(solution.moments()[1][0] < 0.0);
    let (mut weights, mut by_data) = (SolutionVariation::default(), Variation::default());
    weights.reset(&problem);
    weights.moments[1][0] = f64::NAN;
    let refused = solver.adjoint(&problem, &weights, &mut by_data);
    assert!(matches!(refused, Err(CompliantFailure::Input(_))));
    weights.moments.clear();
    let refused = solver.adjoint(&problem, &weights, &mut by_data);
    assert!(matches!(refused, Err(CompliantFailure::Input(_))));
    problem.reset(0.01, Softness::default()).unwrap();
    solver.solve(&problem, &[]).unwrap();
    assert!(solver.solution().moments().is_empty());
    // Numbers that overflow: of the solution, and of the problem.
    let mut heavy = Problem::new(0.01).unwrap();
    heavy
        .add_tree(&mass.map(|x| 1e150 * x), &[1e100; 6])
        .unwrap();
    heavy.add_contact(&turning(0), &[(0, &rows)]).unwrap();
    heavy.coulomb(&[0.0; 6]).unwrap();
    let overflown = solver.solve(&heavy, &[0.0; 6]).cloned();
    assert!(matches!(overflown, Err(CompliantFailure::Input(_))));
    assert!(solver.solution().moments().is_empty());
    let tree = problem.add_tree(&mass, &[0.0; 6]).unwrap();
    rows[20] = 1e200;
    let refused = problem
        .add_contact(&turning(7), &[(tree, &rows)])
        .unwrap_err();
    assert!(
        matches!(
            refused,
            InputError::BadSetting {
                name: "regularisation of moments",
                entry: 0,
                ..
            }
        ),
        "{refused}"
    );
    for (spinning, rolling, name) in [
        (-1.0, 0.0, "spinning friction"),
        (0.0, -1.0, "rolling friction"),
    ] {
        let mut odd = turning(7);
        (odd.spinning_friction, odd.rolling_friction) = (spinning, rolling);
        let refused = problem.add_contact(&odd, &[(tree, &rows)]).unwrap_err();
        let is_named = matches!(refused, InputError::BadSetting { name: found, entry: 0, .. } if found == name);
        assert!(is_named, "{refused}");
    }
}

#[test]
fn lists_of_contacts_refuse_them_without_rows() {
    let mut contacts = Contacts::new();
    for tangents in [0, 1] {
        contacts.reset(6, tangents).unwrap();
        let refused = contacts.push(turning(4)).unwrap_err();
        let expected = InputError::Tangents {
            contact: 4,
            expected: 2,
            found: tangents,
        };
        assert_eq!(refused, expected);
        assert!(contacts.is_empty());
    }
    contacts.reset(6, 2).unwrap();
    contacts.push(turning(4)).unwrap();
    let refused = contacts.push_block(0, 0..6, &[1.0; 18]).unwrap_err();
    assert_eq!(refused, ignored(WITHOUT_ROWS, 4));
    assert!(matches!(
        contacts.push_block(0, 0..6, &[1.0; 30]),
        Err(InputError::WrongLength { .. })
    ));
    contacts.push_block(0, 0..6, &[1.0; 36]).unwrap();
    contacts.push(ContactParameters::new(5, 0.0)).unwrap();
    assert!(contacts.push_block(0, 0..6, &[1.0; 36]).is_err());
    contacts.push_block(0, 0..6, &[2.0; 18]).unwrap();
    let lengths = [0, 1].map(|i| {
        contacts
            .blocks(i)
            .map(|block| block.rows.len())
            .sum::<usize>()
    });
    assert_eq!(lengths, [36, 18]);

    // Rows of other software.
    contacts.reset(6, 2).unwrap();
    let contact = FreeContact {
        parameters: turning(3),
        point: [0.1, 0.0, 0.0],
        normal: [0.0, 0.6, 0.8],
        a: (0, [0.0, 0.0, 0.1]),
        b: None,
    };
    contact.push(&mut contacts).unwrap();
    let rows = contacts.blocks(0).next().unwrap().rows;
    for (own, turn) in rows[..18].chunks(6).zip(rows[18..].chunks(6)) {
        assert_eq!((&turn[..3], &turn[3..]), (&own[3..], &[0.0; 3][..]));
    }
    let (mass, v) = (DMatrix::identity(6, 6), DVector::zeros(6));
    let refused = ImpactProblem::from_contacts(&contacts, &mass, &v).unwrap_err();
    assert_eq!(refused.to_string(), ignored("an impact", 3).to_string());
}

/// A model whose contacts have no rows of angular velocity.
#[test]
fn a_model_without_rows_of_angular_velocity_is_refused() {
    let (q, v) = scene().start();
    let bare = Listed::new(scene(), |_, _, _, wanted, contacts| {
        contacts.reset(12, if wanted.friction { 2 } else { 0 })?;
        contacts.push(if wanted.friction {
            turning(9)
        } else {
            ContactParameters::new(9, 0.0)
        })?;
        contacts.push_block(1, 6..12, &[0.0; 18][..6 * (1 + contacts.tangents())])
    });
    let refused = Compliant::new(bare)
        .unwrap()
        .start(&Start::at(0.0).q(&q).v(&v));
    assert_eq!(refused, Err(ignored(WITHOUT_ROWS, 9)));
    // Rigid drivers take a list without them.
    let refused = scene().fixed_contacts().err();
    assert_eq!(refused, Some(ignored("a scene with fixed contacts", 1)));
    assert_eq!(scene().dof(), 12);
}
