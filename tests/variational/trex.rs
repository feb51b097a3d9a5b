//! TREX: the model, its flight, and its landing, against the reference.

use saltation::impact::{ImpactProblem, Propagative, indeterminacy};
use saltation::mechanics::{
    ContactSet, ContactSource, Contacts, MechanicalSystem, UnilateralConstraints, Wanted,
    check_mechanics,
};
use saltation::models::Trex;
use saltation::nalgebra::{DMatrix, DVector};
use saltation::variational::Midpoint;
use saltation::{ContactModel, Start, Variational};

use crate::reference::{Row, of, one, propagative, values};

pub(crate) const NAMES: [&str; 12] = [
    "z_x",
    "z_y",
    "z_theta",
    "z_phi_L",
    "z_gamma_L",
    "z_phi_R",
    "z_gamma_R",
    "z_phi_T",
    "z_r1",
    "z_r2",
    "z_l_u",
    "z_l_l",
];

/// Posture and robot of a case.
pub(crate) fn robot(rows: &[Row]) -> ([f64; 8], Trex) {
    let z = NAMES.map(|name| one(rows, name).value());
    let q = std::array::from_fn(|i| z[i]);
    let trex = Trex::new([z[8], z[9]], [z[10], z[11]])
        .unwrap()
        .at_rest_in(&q);
    (q, trex)
}

/// The problem of the right foot and the tail.
pub(crate) fn landing(trex: &Trex, q: &[f64], v: &[f64]) -> ImpactProblem {
    let mut contacts = Contacts::new();
    let wanted = Wanted {
        restitution_at: Some(v),
        ..Wanted::default()
    };
    trex.fill(q, ContactSet::Listed(&[1, 2]), wanted, &mut contacts)
        .unwrap();
    let mut mass = DMatrix::zeros(8, 8);
    trex.mass(q, mass.as_mut_slice());
    ImpactProblem::from_contacts(&contacts, &mass, &DVector::from_column_slice(v)).unwrap()
}

#[test]
fn masses_normals_and_angles_are_those_of_the_reference() {
    for name in [
        "trex_table1_projected",
        "trex_table1_optimised",
        "trex_straight_projected",
        "trex_straight_optimised",
    ] {
        let rows = propagative(name);
        let (q, trex) = robot(&rows);
        let near = |found: f64, quantity: &str, scale: f64| {
            let expected = one(&rows, quantity).value();
            assert!(
                (found - expected).abs() < 1e-10 * scale,
                "{name} {quantity} {found} {expected}"
            );
        };
        near(trex.tail(), "L_tail", trex.tail());
        near(trex.total_mass(), "mass_total", trex.total_mass());
        for j in [1, 2] {
            // The file has twelve digits of lengths of some 10 cm.
            assert!(trex.gap(j, &q).abs() < 1e-9);
        }
        let problem = landing(&trex, &q, &[0.0; 8]);
        near(problem.delassus()[(0, 0)], "u_norm2", 1.0);
        near(problem.delassus()[(1, 1)], "v_norm2", 1.0);
        near(problem.delassus()[(0, 1)], "uv_raw", 1.0);
        near(problem.cosines()[(0, 1)], "uv_unit", 1.0);
        let mut mass = [0.0; 64];
        trex.mass(&q, &mut mass);
        for row in of(&rows, "M") {
            let (i, j): (usize, usize) = (row.i.parse().unwrap(), row.j.parse().unwrap());
            assert!(
                (mass[8 * j + i] - row.value()).abs() < 1e-10 * 83034.0,
                "{i} {j}"
            );
        }
        for (quantity, contact) in [("u", 1), ("v", 2)] {
            let mut gradient = [0.0; 8];
            trex.gap_row(contact, &q, &mut gradient);
            for (found, expected) in gradient.iter().zip(values(&rows, quantity)) {
                assert!((found - expected).abs() < 1e-9, "{quantity}");
            }
        }
        // The first impact of a fall of 17 cm.
        let mut v = [0.0; 8];
        v[1] = -(2.0 * 981.0 * 17.0f64).sqrt();
        let problem = landing(&trex, &q, &v).with_restitution(1.0).unwrap();
        let found = indeterminacy(&problem).unwrap();
        let expected = one(&rows, "xi_first_impact").value();
        assert!(
            (found - expected).abs() < 1e-11,
            "{name} {found:e} {expected:e}"
        );
    }
}

#[test]
fn what_the_model_writes_is_right() {
    let (mut q, trex) = robot(&propagative("trex_table1_projected"));
    q[1] += 17.0;
    let v = [3.0, -180.0, 0.5, 0.2, 1.0, -0.3, -1.0, 0.5];
    let report = check_mechanics(&trex, 0.0, &q, &v);
    let report = report.unwrap();
    assert!(report.agrees(1e-6), "{report}");
}

#[test]
fn forty_steps_of_flight() {
    let rows = propagative("trex_vi_flight");
    let (mut q, trex) = robot(&propagative("trex_table1_projected"));
    q[1] += 17.0;
    let v = [0.0, 0.0, 0.5, 0.0, 1.0, 0.0, -1.0, 0.5];
    let mut driver = Variational::new(ContactModel::with_law(trex, Propagative::default()))
        .unwrap()
        .time_step(5e-4);
    let run = driver
        .integrate(&Start::at(0.0).q(&q).v(&v), 0.02)
        .unwrap()
        .completed()
        .unwrap();
    let mut midpoint = Midpoint::new(trex).unwrap();
    let [start, end] = [0, 40].map(|k| midpoint.momentum(run.q(k), run.v(k)).unwrap());
    for (found, quantity) in [(run.q(40), "q_after_40_steps"), (&end, "p_after_40_steps")] {
        let expected = values(&rows, quantity);
        let scale = expected.iter().fold(1.0f64, |most, x| most.max(x.abs()));
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                (found - expected).abs() < 1e-9 * scale,
                "{quantity} {found} {expected}"
            );
        }
    }
    // No force acts along x.
    let change = end[0] - start[0];
    assert!(change.abs() < 1e-9, "{change}");
}
