//! A rigid body lands level on two legs: every number of the second table in the guide of the
//! module, each law at once and one foot after the other, and the driver at a pitch of next to
//! nothing.

use saltation::Start;
use saltation::impact::{
    AllOutcomes, ImpactLaw, ImpactProblem, MinimalOutcomes, Plastic, Projective, Propagative,
    ReflectionOrder, Remark, Sequential, Unilateral,
};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::RigidTrot;
use saltation::nalgebra::{DMatrix, DVector, dvector};
use saltation::{ContactModel, EventDriven};

/// Vertical velocity and pitch rate over the speed of the fall.
type Rates = [f64; 2];

/// A law, and what it says for restitution 0, ½ and 1: both feet at once, the rear foot first.
struct Row {
    law: fn() -> Box<dyn ImpactLaw + Send + Sync>,
    at_once: [Rates; 3],
    rear_first: [Rates; 3],
}

const RESTITUTIONS: [f64; 3] = [0.0, 0.5, 1.0];
const ONE_BY_ONE: [Rates; 3] = [[0.12, -0.24], [0.32, -0.54], [0.6, -0.8]];
const SYMMETRIC: [Rates; 3] = [[0.0, 0.0], [0.5, 0.0], [1.0, 0.0]];
/// Of the order that puts the rear foot first, as ties do.
const REFLECTED: [Rates; 3] = [[0.0, 0.0], [0.3, -0.4], [0.6, -0.8]];

/// The table of the guide.
fn table() -> [Row; 5] {
    [
        Row {
            law: || Box::new(Unilateral),
            at_once: SYMMETRIC,
            rear_first: ONE_BY_ONE,
        },
        Row {
            law: || Box::new(Sequential::new()),
            at_once: SYMMETRIC,
            rear_first: ONE_BY_ONE,
        },
        Row {
            law: || Box::new(Propagative::default()),
            at_once: REFLECTED,
            rear_first: ONE_BY_ONE,
        },
        Row {
            law: || Box::new(Plastic),
            at_once: [[0.0; 2]; 3],
            rear_first: [[0.12, -0.24]; 3],
        },
        Row {
            law: || Box::new(Projective::new()),
            at_once: SYMMETRIC,
            rear_first: [[0.0, 0.0], [0.32, -0.54], [0.6, -0.8]],
        },
    ]
}

/// The level touchdown of some feet at velocity `v`; those in `new` (places in `feet`) have just
/// landed.
fn landing(
    body: &RigidTrot,
    feet: &[usize],
    v: &DVector<f64>,
    restitution: f64,
    new: &[usize],
) -> ImpactProblem {
    let q = [1.0, 0.0];
    let mut mass = DMatrix::zeros(2, 2);
    body.mass(&q, mass.as_mut_slice());
    let rows = DMatrix::from_fn(feet.len(), 2, |i, k| {
        let mut row = [0.0; 2];
        assert!(body.gap_row(feet[i], &q, &mut row));
        row[k]
    });
    let problem = ImpactProblem::from_mechanics(&mass, &rows, v).unwrap();
    let problem = problem.with_restitution(restitution).unwrap();
    problem.with_new_contacts(new).unwrap()
}

fn fall() -> DVector<f64> {
    dvector![-1.0, 0.0]
}

fn approach(body: &RigidTrot, foot: usize, v: &DVector<f64>) -> f64 {
    landing(body, &[foot], v, 0.0, &[0]).speeds()[0]
}

/// The limit of landings one foot after the other: each foot that lands meets the other one if that
/// one rests.
fn one_by_one(
    body: &RigidTrot,
    law: &dyn ImpactLaw,
    restitution: f64,
    first: usize,
) -> (DVector<f64>, Vec<Remark>) {
    let (mut v, mut foot, mut remarks) = (fall(), first, Vec::new());
    for stage in 0..10 {
        if approach(body, foot, &v) > -1e-12 {
            assert!(stage > 0 && approach(body, 1 - foot, &v) > -1e-12);
            return (v, remarks);
        }
        let other_rests = stage > 0 && approach(body, 1 - foot, &v).abs() < 1e-12;
        let problem = if other_rests {
            landing(body, &[0, 1], &v, restitution, &[foot])
        } else {
            landing(body, &[foot], &v, restitution, &[0])
        };
        let outcome = law.outcome(&problem).unwrap();
        v = problem.velocity_after(&outcome).unwrap();
        remarks.extend(outcome.remarks);
        foot = 1 - foot;
    }
    panic!("feet that land for ever");
}

fn assert_near(found: &DVector<f64>, expected: Rates, tolerance: f64) {
    let error = (found - DVector::from_row_slice(&expected)).amax();
    assert!(error < tolerance, "{found}, expected {expected:?}");
}

fn mirrored([vertical, pitch]: Rates) -> Rates {
    [vertical, -pitch]
}

#[test]
fn each_law_at_once() {
    for row in table() {
        for (restitution, expected) in RESTITUTIONS.into_iter().zip(row.at_once) {
            let problem = landing(
                &RigidTrot::default(),
                &[0, 1],
                &fall(),
                restitution,
                &[0, 1],
            );
            let outcome = (row.law)().outcome(&problem).unwrap();
            assert!(!outcome.is_adhesive());
            assert_near(&problem.velocity_after(&outcome).unwrap(), expected, 1e-14);
        }
    }
}

#[test]
fn each_law_one_foot_after_the_other() {
    for row in table() {
        for (restitution, expected) in RESTITUTIONS.into_iter().zip(row.rear_first) {
            let (law, body) = ((row.law)(), RigidTrot::default());
            let (rear, remarks) = one_by_one(&body, &law, restitution, 0);
            let (front, _) = one_by_one(&body, &law, restitution, 1);
            assert_near(&rear, expected, 1e-14);
            assert_near(&front, mirrored(expected), 1e-14);
            // Only the literal law without restitution is the same from both sides, and it pulls at
            // the foot that landed first.
            let same = (&rear - &front).amax() < 1e-14;
            let pull = remarks.iter().find_map(|remark| match remark {
                Remark::Adhesive { contact, impulse } => Some((*contact, *impulse)),
                _ => None,
            });
            assert_eq!(same, pull.is_some(), "{restitution}");
            if let Some((contact, impulse)) = pull {
                assert_eq!(contact, 0);
                assert!((impulse + 0.3).abs() < 1e-14);
            }
        }
    }
}

#[test]
fn a_rule_and_a_list_of_new_contacts_choose_the_side() {
    for (restitution, (reflected, one_by_one)) in RESTITUTIONS
        .into_iter()
        .zip(REFLECTED.into_iter().zip(ONE_BY_ONE))
    {
        let problem = landing(
            &RigidTrot::default(),
            &[0, 1],
            &fall(),
            restitution,
            &[0, 1],
        );
        let after = |law: &dyn ImpactLaw, problem: &ImpactProblem| {
            let outcome = law.outcome(problem).unwrap();
            problem.velocity_after(&outcome).unwrap()
        };
        let front = Propagative::new(ReflectionOrder::GivenFirst(1));
        assert_near(&after(&front, &problem), mirrored(reflected), 1e-14);
        for (first, expected) in [(0, one_by_one), (1, mirrored(one_by_one))] {
            let new = problem.clone().with_new_contacts(&[first]).unwrap();
            assert_near(&after(&Sequential::new(), &new), expected, 1e-14);
        }
        for law in [
            &AllOutcomes::new() as &dyn ImpactLaw,
            &MinimalOutcomes::new(),
        ] {
            let outcomes = law.resolve(&problem).unwrap();
            // Without restitution both are one.
            let count = if restitution > 0.0 { 2 } else { 1 };
            assert_eq!(outcomes.list.len(), count);
            for (outcome, expected) in outcomes.list.iter().zip([reflected, mirrored(reflected)]) {
                let after = problem.velocity_after(outcome).unwrap();
                assert_near(&after, expected, 1e-14);
            }
        }
    }
}

/// Velocity over the speed of the fall, right after the feet have landed that start at a pitch.
fn driven(law: Box<dyn ImpactLaw + Send + Sync>, restitution: f64, theta: f64) -> DVector<f64> {
    let body = RigidTrot {
        restitution,
        ..RigidTrot::default()
    };
    // From 1.5 m to 1 m.
    let (time, speed) = ((1.0 / body.gravity).sqrt(), body.gravity.sqrt());
    let (q, v) = RigidTrot::start(theta);
    let mut simulation = EventDriven::new(ContactModel::with_law(body, law)).unwrap();
    let run = simulation
        .integrate(&Start::at(0.0).q(&q).v(&v), time + 1e-4)
        .unwrap()
        .completed()
        .unwrap();
    let last = run.events().last().unwrap();
    DVector::from_row_slice(&last.state_after[2..]) / speed
}

#[test]
fn the_driver_says_the_same_as_the_laws() {
    const PITCH: f64 = 1e-7;
    for row in table() {
        for i in 0..3 {
            let after = |theta: f64| driven((row.law)(), RESTITUTIONS[i], theta);
            assert_near(&after(0.0), row.at_once[i], 1e-8);
            // Outcomes on one side are smooth in the pitch, with slopes of order 1.
            assert_near(&after(PITCH), row.rear_first[i], 100.0 * PITCH);
            assert_near(&after(-PITCH), mirrored(row.rear_first[i]), 100.0 * PITCH);
        }
    }
}

#[test]
fn legs_that_do_not_feel_each_other_do_not_jump() {
    let body = RigidTrot {
        inertia: 0.25,
        ..RigidTrot::default()
    };
    for row in table() {
        for restitution in RESTITUTIONS {
            let law = (row.law)();
            let problem = landing(&body, &[0, 1], &fall(), restitution, &[0, 1]);
            let outcome = law.outcome(&problem).unwrap();
            let level = problem.velocity_after(&outcome).unwrap();
            for first in [0, 1] {
                let (after, _) = one_by_one(&body, &law, restitution, first);
                assert!((after - &level).amax() < 1e-14);
            }
        }
    }
}
