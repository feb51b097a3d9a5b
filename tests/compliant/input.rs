//! Bad input is refused at the door, each kind by its type and with the index of the offender.

use saltation::compliant::{CompliantFailure, Guess, Problem, RowLaw, Softness, Solver};
use saltation::mechanics::{ContactParameters, Contacts};
use saltation::{InputError, MatrixFault};

const NOT_POSITIVE: [f64; 4] = [0.0, -1.0, f64::NAN, f64::INFINITY];
const NOT_FINITE: [f64; 3] = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY];

/// Two particles in the plane, and one good contact and row.
fn problem() -> Problem {
    let mut problem = Problem::new(0.01).expect("dt");
    for _ in 0..2 {
        problem
            .add_tree(&[1.0, 0.0, 0.0, 1.0], &[0.0; 2])
            .expect("tree");
    }
    let good = ContactParameters::new(0, 0.0);
    problem
        .add_contact(&good, &[(0, &[0.0, 1.0])])
        .expect("contact");
    problem.add_row(row(), &[(1, &[1.0, 0.0])]).expect("row");
    problem
}

fn row() -> RowLaw {
    RowLaw {
        regularisation: 1.0,
        target: 0.0,
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    }
}

fn is_setting(error: &InputError, part: &str, entry: usize) -> bool {
    matches!(error, InputError::BadSetting { name, entry: found, .. }
        if name.contains(part) && *found == entry)
}

#[test]
fn steps_and_softness_must_make_sense() {
    for dt in NOT_POSITIVE {
        let error = Problem::new(dt).expect_err("refused");
        assert!(is_setting(&error, "dt", 0), "{error}");
        let error = problem()
            .reset(dt, Softness::default())
            .expect_err("refused");
        assert!(is_setting(&error, "dt", 0), "{error}");
    }
    for beta in [-1.0, f64::NAN, f64::INFINITY] {
        let mut softness = Softness::default();
        softness.near_rigid = beta;
        let error = problem().reset(0.01, softness).expect_err("refused");
        assert!(is_setting(&error, "near_rigid", 0), "{error}");
        let mut parameters = ContactParameters::new(0, 0.0);
        parameters.near_rigid = Some(beta);
        let error = problem()
            .add_contact(&parameters, &[(0, &[0.0, 1.0])])
            .expect_err("refused");
        assert!(is_setting(&error, "near_rigid", 1), "{error}");
    }
    for sigma in NOT_POSITIVE {
        let mut softness = Softness::default();
        softness.stiction = sigma;
        let error = problem().reset(0.01, softness).expect_err("refused");
        assert!(is_setting(&error, "stiction", 0), "{error}");
        let mut parameters = ContactParameters::new(0, 0.0);
        parameters.stiction = Some(sigma);
        let error = problem()
            .add_contact(&parameters, &[(0, &[0.0, 1.0])])
            .expect_err("refused");
        assert!(is_setting(&error, "stiction", 1), "{error}");
    }
}

#[test]
fn trees_must_have_a_symmetric_positive_inertia() {
    let mut problem = problem();
    let fault = |problem: &mut Problem, inertia: &[f64]| match problem.add_tree(inertia, &[0.0; 2])
    {
        Err(InputError::BadTree { tree: 2, fault }) => fault,
        other => panic!("{other:?}"),
    };
    for x in NOT_FINITE {
        let found = fault(&mut problem, &[1.0, x, 0.0, 1.0]);
        assert!(matches!(found, MatrixFault::NotFinite { .. }), "{found}");
    }
    let found = fault(&mut problem, &[1.0, 0.5, 0.0, 1.0]);
    assert!(matches!(found, MatrixFault::NotSymmetric { .. }), "{found}");
    for mass in [0.0, -1.0] {
        let found = fault(&mut problem, &[1.0, 0.0, 0.0, mass]);
        assert!(
            matches!(found, MatrixFault::NotPositive { value } if value <= mass),
            "{found}"
        );
    }
    assert!(matches!(
        problem.add_tree(&[1.0; 3], &[0.0; 2]),
        Err(InputError::WrongLength {
            expected: 4,
            found: 3,
            ..
        })
    ));
    assert!(matches!(
        problem.add_tree(&[], &[]),
        Err(InputError::WrongLength {
            expected: 1,
            found: 0,
            ..
        })
    ));
    for x in NOT_FINITE {
        // the entry among all velocities
        assert!(matches!(
            problem.add_tree(&[1.0, 0.0, 0.0, 1.0], &[0.0, x]),
            Err(InputError::NotFinite { entry: 5, .. })
        ));
    }
    assert_eq!((problem.trees(), problem.dof()), (2, 4));
}

#[test]
fn an_indefinite_inertia_is_named_by_the_first_term_on_it() {
    let mut problem = problem();
    let tree = problem
        .add_tree(&[1.0, 2.0, 2.0, 1.0], &[0.0; 2])
        .expect("symmetric");
    let good = ContactParameters::new(0, 0.0);
    // Twice: what is wrong stays wrong.
    for _ in 0..2 {
        let contact = problem.add_contact(&good, &[(0, &[1.0, 0.0]), (tree, &[1.0, 0.0])]);
        let row = problem.add_row(row(), &[(tree, &[1.0, 0.0])]);
        let response = problem.row_response(&[(tree, &[1.0, 0.0])]);
        for error in [
            contact.expect_err("refused"),
            row.expect_err("refused"),
            response.expect_err("refused"),
        ] {
            let InputError::BadTree {
                tree: 2,
                fault: MatrixFault::NotPositive { value },
            } = error
            else {
                panic!("{error}");
            };
            assert!(
                (value + 1.0).abs() < 1e-12,
                "the least eigenvalue is -1: {value}"
            );
        }
    }
    // The problem is as it was.
    assert_eq!((problem.contacts(), problem.rows()), (1, 1));
    problem
        .add_contact(&good, &[(0, &[1.0, 0.0])])
        .expect("contact");
    let mut solver = Solver::new();
    assert!(
        solver
            .solve(&problem, &[0.0; 6])
            .expect("solved")
            .is_converged()
    );
}

#[test]
fn numbers_of_contacts_must_make_sense() {
    let refused = |change: &dyn Fn(&mut ContactParameters)| {
        let mut parameters = ContactParameters::new(7, 0.0);
        change(&mut parameters);
        // The index is the place in this problem, whatever the number in its source.
        problem()
            .add_contact(&parameters, &[(0, &[0.0, 1.0])])
            .expect_err("refused")
    };
    for gap in NOT_FINITE {
        let error = refused(&|p| p.gap = gap);
        assert!(
            matches!(
                error,
                InputError::NotFinite {
                    name: "gap",
                    entry: 1,
                    ..
                }
            ),
            "{error}"
        );
    }
    for friction in [-0.1, f64::NAN, f64::INFINITY] {
        assert!(is_setting(
            &refused(&|p| p.friction = friction),
            "friction",
            1
        ));
    }
    for stiffness in [0.0, -1.0, f64::NAN] {
        assert!(is_setting(
            &refused(&|p| p.stiffness = stiffness),
            "stiffness",
            1
        ));
    }
    for time in [-0.1, f64::NAN, f64::INFINITY] {
        assert!(is_setting(
            &refused(&|p| p.dissipation_time = time),
            "dissipation",
            1
        ));
    }
    // Infinite stiffness needs a limit, and rows that move something.
    assert!(is_setting(
        &refused(&|p| p.near_rigid = Some(0.0)),
        "R_n",
        1
    ));
    let rigid = ContactParameters::new(0, 0.0);
    let error = problem()
        .add_contact(&rigid, &[(0, &[0.0, 0.0])])
        .expect_err("refused");
    assert!(is_setting(&error, "R_n", 1), "{error}");
    // Products that overflow.
    assert!(is_setting(
        &refused(&|p| p.friction = 1e200),
        "R_n + mu^2 R_t",
        1
    ));
    assert!(is_setting(&refused(&|p| p.gap = 1e308), "gap", 1));
    let error = refused(&|p| (p.friction, p.stiction) = (10.0, Some(1e308)));
    assert!(is_setting(&error, "R_n + mu^2 R_t", 1), "{error}");
}

#[test]
fn friction_needs_tangents() {
    let mut problem = problem();
    let mut rough = ContactParameters::new(7, 0.0);
    rough.friction = 0.5;
    let normal = [0.0, 1.0];
    for rows in [&[(0, &normal[..])][..], &[(0, &normal), (1, &normal)]] {
        let error = problem.add_contact(&rough, rows).expect_err("refused");
        assert!(
            matches!(error, InputError::FrictionIgnored { contact: 1, .. }),
            "{error}"
        );
    }
    problem
        .add_contact(&rough, &[(0, &[0.0, 1.0, 1.0, 0.0])])
        .expect("with a tangent");
}

#[test]
fn rows_of_contacts_must_fit_their_trees() {
    let mut problem = problem();
    let good = ContactParameters::new(0, 0.0);
    let mut refused = |rows: &[(usize, &[f64])]| match problem.add_contact(&good, rows) {
        Err(InputError::RowsOfTerm {
            what: "contact",
            index: 1,
            reason,
        }) => *reason,
        other => panic!("{other:?}"),
    };
    let two: &[f64] = &[1.0, 0.0];
    assert_eq!(refused(&[]), InputError::TreesOfTerm { found: 0 });
    assert_eq!(
        refused(&[(0, two), (1, two), (0, two)]),
        InputError::TreesOfTerm { found: 3 }
    );
    assert!(matches!(
        refused(&[(0, two), (2, two)]),
        InputError::NoSuch {
            what: "tree",
            index: 2,
            count: 2
        }
    ));
    // no row, half a row, four rows, and trees with other numbers of rows
    for entries in [&[][..], &[1.0], &[1.0; 3], &[1.0; 8]] {
        let error = refused(&[(0, entries)]);
        assert!(matches!(error, InputError::WrongLength { .. }), "{error}");
    }
    let error = refused(&[(0, &[1.0; 6]), (1, &[1.0; 4])]);
    assert!(
        matches!(
            error,
            InputError::WrongLength {
                expected: 6,
                found: 4,
                ..
            }
        ),
        "{error}"
    );
    for x in NOT_FINITE {
        let error = refused(&[(0, two), (1, &[0.0, x])]);
        assert!(
            matches!(error, InputError::NotFinite { entry: 1, .. }),
            "{error}"
        );
    }
    assert_eq!(problem.contacts(), 1);
}

#[test]
fn lists_of_contacts_name_the_offender() {
    let mut contacts = Contacts::new();
    contacts.reset(6, 0).expect("reset");
    for (number, trees) in [1, 2, 3, 1].into_iter().enumerate() {
        contacts
            .push(ContactParameters::new(number, 0.0))
            .expect("contact");
        for tree in 0..trees {
            contacts
                .push_block(tree, 2 * tree..2 * tree + 2, &[1.0, 0.0])
                .expect("block");
        }
    }
    let mut problem = Problem::new(0.01).expect("dt");
    for _ in 0..3 {
        problem
            .add_tree(&[1.0, 0.0, 0.0, 1.0], &[0.0; 2])
            .expect("tree");
    }
    let error = problem.add_contacts(&contacts).expect_err("refused");
    let InputError::RowsOfTerm {
        what: "contact",
        index: 2,
        reason,
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(*reason, InputError::TreesOfTerm { found: 3 });
    assert_eq!(problem.contacts(), 2);
}

#[test]
fn laws_and_rows_of_other_terms_must_make_sense() {
    let refused = |change: &dyn Fn(&mut RowLaw)| {
        let mut law = row();
        change(&mut law);
        problem()
            .add_row(law, &[(0, &[0.0, 1.0])])
            .expect_err("refused")
    };
    for r in NOT_POSITIVE {
        assert!(is_setting(
            &refused(&|law| law.regularisation = r),
            "regularisation",
            1
        ));
    }
    for target in NOT_FINITE {
        let error = refused(&|law| law.target = target);
        assert!(
            matches!(error, InputError::NotFinite { entry: 1, .. }),
            "{error}"
        );
    }
    for (low, high) in [
        (1.0, 0.0),
        (f64::NAN, 1.0),
        (0.0, f64::NAN),
        (f64::INFINITY, f64::INFINITY),
        (f64::NEG_INFINITY, f64::NEG_INFINITY),
    ] {
        let error = refused(&|law| (law.low, law.high) = (low, high));
        assert!(is_setting(&error, "bound", 1), "{low} {high}: {error}");
    }
    let mut problem = problem();
    for rows in [
        &[][..],
        &[(5, &[1.0, 0.0][..])],
        &[(0, &[1.0; 4][..])],
        &[(0, &[1.0, f64::NAN][..])],
    ] {
        for error in [
            problem.add_row(row(), rows).expect_err("refused"),
            problem.row_response(rows).expect_err("refused"),
        ] {
            let InputError::RowsOfTerm {
                what: "row",
                index: 1,
                ..
            } = error
            else {
                panic!("{error}");
            };
        }
    }
}

#[test]
fn guesses_and_settings_must_make_sense() {
    let problem = problem();
    let solve = |mut solver: Solver, v0: &[f64]| match solver.solve(&problem, v0) {
        Err(CompliantFailure::Input(error)) => error,
        other => panic!("{other:?}"),
    };
    assert!(matches!(
        solve(Solver::new(), &[0.0; 3]),
        InputError::WrongLength {
            expected: 4,
            found: 3,
            ..
        }
    ));
    for x in NOT_FINITE {
        assert!(matches!(
            solve(Solver::new().guess(Guess::Given), &[0.0, 0.0, x, 0.0]),
            InputError::NotFinite { entry: 2, .. }
        ));
        assert!(is_setting(
            &solve(Solver::new().rtol(x), &[0.0; 4]),
            "rtol",
            0
        ));
        assert!(is_setting(
            &solve(Solver::new().atol(x), &[0.0; 4]),
            "atol",
            0
        ));
    }
    for most in [0, usize::MAX] {
        let error = solve(Solver::new().max_iterations(most), &[0.0; 4]);
        assert!(is_setting(&error, "max_iterations", 0), "{error}");
    }
}
