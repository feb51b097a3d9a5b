//! Verdicts of the decoupling report on models of each kind (spec `unilateral_mechanics` 6 and 7),
//! and input that it refuses.

use saltation::ContactModel;
use saltation::event_driven::{Breakdown, ContinuityClass, DecouplingReport, InertialCoupling};
use saltation::models::{RigidTrot, SoftTrot};
use saltation::{Guard, InputError, MatrixFault, Start, Stop};

use crate::fixtures::plain::{Plain, free};

const SPEED: f64 = 3.13209195267;

fn rigid(inertia: f64, restitution: f64) -> DecouplingReport {
    let trot = RigidTrot {
        inertia,
        restitution,
        ..RigidTrot::default()
    };
    ContactModel::new(trot)
        .decoupling(&Start::at(0.0).q(&[1.0, 0.0]).v(&[-SPEED, 0.0]), &[0, 1])
        .unwrap()
}

fn soft(coupling: f64, restitution: f64) -> DecouplingReport {
    let trot = SoftTrot {
        coupling,
        restitution,
        ..SoftTrot::default()
    };
    let v = [-SPEED, 0.0, -SPEED, -SPEED];
    ContactModel::new(trot)
        .decoupling(&Start::at(0.0).q(&[1.0, 0.0, 0.0, 0.0]).v(&v), &[0, 1])
        .unwrap()
}

#[test]
fn soft_legs_are_decoupled_with_and_without_bounce() {
    for restitution in [0.0, 0.5] {
        let report = soft(0.0, restitution);
        assert_eq!(report.verdict, InertialCoupling::Decoupled, "{report:?}");
        assert_eq!(report.limbs, Some(vec![vec![2], vec![3]]));
        assert!(report.largest_cosine < 1e-12 && report.order_spread < 1e-8 && report.orders == 2);
    }
}

#[test]
fn a_damper_between_the_feet_couples_them_unless_impacts_are_plastic() {
    // The plastic reset erases the first-order effect of a force along the contact normals.
    let plastic = soft(2.0, 0.0);
    assert_eq!(plastic.verdict, InertialCoupling::SmoothHere, "{plastic:?}");
    assert!((plastic.effort_coupling - 2.0).abs() < 1e-6);
    let bouncing = soft(2.0, 0.5);
    assert_eq!(bouncing.verdict, InertialCoupling::PiecewiseSmooth);
    assert!((bouncing.order_spread - 45.0).abs() < 1e-6);
}

#[test]
fn rigid_legs_jump_unless_angle_and_restitution_agree() {
    // cos = (I − m d²)/(I + m d²).
    let jumps = rigid(1.0, 0.0);
    assert!((jumps.largest_cosine - 0.6).abs() < 1e-12 && jumps.limbs.is_none());
    let InertialCoupling::Discontinuous { jump } = jumps.verdict else {
        panic!("{jumps:?}");
    };
    assert!((jump - 2.0 * 0.24 * SPEED).abs() < 1e-6);
    // Obtuse and plastic: continuous.
    let obtuse = rigid(0.25 / 3.0, 0.0);
    assert!((obtuse.cosines[(0, 1)] + 0.5).abs() < 1e-12);
    assert_eq!(
        obtuse.verdict,
        InertialCoupling::ContinuousOnly(ContinuityClass::ObtusePlastic),
        "{obtuse:?}"
    );
    // Orthogonal at the contact: outcomes agree, maps do not when it bounces.
    let orthogonal = rigid(0.25, 0.5);
    assert_eq!(
        orthogonal.verdict,
        InertialCoupling::PiecewiseSmooth,
        "{orthogonal:?}"
    );
    assert_eq!(rigid(0.25, 0.0).verdict, InertialCoupling::SmoothHere);
}

#[test]
fn input_that_is_no_corner_is_refused() {
    let skew = Plain {
        mass: vec![1.0, 0.0, 0.5, 1.0],
        rows: vec![vec![1.0, 0.0], vec![0.0, 1.0]],
        restitution: vec![0.5; 2],
        effort: free,
    };
    let refused =
        ContactModel::new(skew).decoupling(&Start::at(0.0).q(&[0.0; 2]).v(&[-1.0; 2]), &[0, 1]);
    let is_fault = |fault| matches!(fault, MatrixFault::NotSymmetric { by, .. } if (by.abs() - 0.5).abs() < 1e-15);
    assert!(
        matches!(refused, Err(Breakdown::MassMatrix { fault, .. }) if is_fault(fault)),
        "{refused:?}"
    );
    let model = ContactModel::new(RigidTrot::default());
    let at = |q: &[f64], v: &[f64], contacts: &[usize]| {
        model.decoupling(&Start::at(0.0).q(q).v(v), contacts)
    };
    // The front foot parts.
    let refused = at(&[1.0, 0.0], &[-1.0, 4.0], &[0, 1]);
    let front = Guard::falling(1);
    assert!(
        matches!(refused, Err(Breakdown::Stop(Stop::NotLive { guard, rate_before, .. })) if guard == front && (rate_before - 1.0).abs() < 1e-15)
    );
    let refused = at(&[1.0, f64::NAN], &[-1.0, 0.0], &[0, 1]);
    assert!(matches!(
        refused,
        Err(Breakdown::Input(InputError::NotFinite {
            name: "q",
            entry: 1,
            ..
        }))
    ));
    let refused = at(&[1.0, 0.0], &[-1.0], &[0, 1]);
    assert!(matches!(
        refused,
        Err(Breakdown::Input(InputError::WrongLength { name: "v", .. }))
    ));
    let refused = at(&[1.0, 0.0], &[-1.0, 0.0], &[0, 2]);
    assert!(matches!(
        refused,
        Err(Breakdown::Input(InputError::NoSuch {
            what: "contact",
            count: 2,
            ..
        }))
    ));
}
