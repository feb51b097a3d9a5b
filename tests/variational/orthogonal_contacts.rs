//! Postures and designs with orthogonal contacts.

use saltation::impact::{Propagative, ReflectionOrder, Uniqueness, indeterminacy};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::Trex;
use saltation::nalgebra::DVector;
use saltation::variational::{Midpoint, OrthogonalDesign, Orthogonality, VariationalFailure};
use saltation::{ContactModel, InputError, Start, Variational};

use crate::reference::{one, propagative};
use crate::trex::{NAMES, landing, robot};

const SCALES: [f64; 12] = [1.0, 1.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 1.0, 1.0, 1.0, 1.0];

fn build(design: &[f64]) -> Result<Trex, InputError> {
    Trex::new([design[0], design[1]], [design[2], design[3]])
}

fn found_from(name: &str) -> OrthogonalDesign {
    let rows = propagative(name);
    let z = NAMES.map(|name| one(&rows, name).value());
    let tool = Orthogonality::new(build, [1, 2])
        .scales(&SCALES)
        .fixed(&[0]);
    tool.solve(&z[..8], &z[8..]).unwrap()
}

#[test]
fn trex_becomes_that_of_the_reference() {
    for start in ["table1", "straight"] {
        let found = found_from(&format!("trex_{start}_projected"));
        let rows = propagative(&format!("trex_{start}_optimised"));
        assert!(found.after.cosine.abs() <= 1e-12);
        assert!(found.after.gaps.iter().all(|gap| gap.abs() < 1e-12));
        assert_eq!(found.before.uniqueness, Uniqueness::Unknown);
        assert_eq!(found.after.uniqueness, Uniqueness::Orthogonal);
        let z = [&found.q[..], &found.design].concat();
        for (name, z) in NAMES.iter().zip(z) {
            let expected = one(&rows, name).value();
            // The file has the start in twelve digits, and differences behind it.
            assert!((z - expected).abs() < 1e-7, "{start} {name} {z} {expected}");
        }
        // The indeterminacy of the first impact of a fall of 17 cm.
        let mut v = [0.0; 8];
        v[1] = -(2.0 * 981.0 * 17.0f64).sqrt();
        let of = |trex: &Trex, q: &[f64]| {
            let problem = landing(trex, q, &v).with_restitution(1.0).unwrap();
            indeterminacy(&problem).unwrap()
        };
        let (q, before) = robot(&propagative(&format!("trex_{start}_projected")));
        let after = build(&found.design).unwrap();
        assert!(of(&after, &found.q) <= 1e-5 * of(&before, &q));
    }
}

#[test]
fn bounds_hold_and_what_cannot_be_is_said() {
    let rows = propagative("trex_table1_projected");
    let z = NAMES.map(|name| one(&rows, name).value());
    let free = [f64::NEG_INFINITY, f64::INFINITY];
    let mut bounds = [free; 12];
    (bounds[8], bounds[9]) = ([6.9, 8.0], [2.0, 4.1]);
    let tool = Orthogonality::new(build, [1, 2])
        .scales(&SCALES)
        .fixed(&[0]);
    let found = tool
        .clone()
        .bounds(&bounds)
        .solve(&z[..8], &z[8..])
        .unwrap();
    assert!(found.after.cosine.abs() <= 1e-12);
    assert!((6.9..=8.0).contains(&found.design[0]) && (2.0..=4.1).contains(&found.design[1]));

    // Posture alone.
    let found = tool
        .clone()
        .fixed(&[0, 8, 9, 10, 11])
        .solve(&z[..8], &z[8..])
        .unwrap();
    assert_eq!(found.design, [7.0, 4.0, 8.0, 10.0]);
    assert!(found.after.cosine.abs() <= 1e-12);

    // Only the height: two gaps and an angle want more.
    let all_but_height: Vec<usize> = (0..12).filter(|&i| i != 1).collect();
    let failure = tool
        .clone()
        .fixed(&all_but_height)
        .solve(&z[..8], &z[8..])
        .unwrap_err();
    assert!(
        matches!(
            failure,
            VariationalFailure::NoDesign {
                contacts: [1, 2],
                ..
            }
        ),
        "{failure}"
    );
    let refused = |failure: VariationalFailure| {
        assert!(matches!(failure, VariationalFailure::Input(_)), "{failure}");
    };
    refused(
        tool.clone()
            .fixed(&[12])
            .solve(&z[..8], &z[8..])
            .unwrap_err(),
    );
    refused(
        tool.clone()
            .scales(&[0.0; 12])
            .solve(&z[..8], &z[8..])
            .unwrap_err(),
    );
    refused(
        tool.clone()
            .scales(&[1.0; 3])
            .solve(&z[..8], &z[8..])
            .unwrap_err(),
    );
    refused(tool.solve(&z[..7], &z[8..]).unwrap_err());
    refused(tool.solve(&z[..8], &[4.0, 7.0, 8.0, 10.0]).unwrap_err());
}

/// How far apart two orders of reflection take the robot after a fall of 17 cm: the distance of
/// momenta over that of the first impact, at several times.
fn spread(trex: &Trex, q: &[f64]) -> Vec<f64> {
    let mut v = [0.0; 8];
    v[1] = -(2.0 * 981.0 * 17.0f64).sqrt();
    let mut midpoint = Midpoint::new(*trex).unwrap();
    let [first, second] = [ReflectionOrder::ArgMin, ReflectionOrder::ArgMax].map(|order| {
        let driver =
            Variational::new(ContactModel::with_law(*trex, Propagative::new(order))).unwrap();
        let mut driver = driver.time_step(5e-4).chatter(None);
        let run = driver
            .integrate(&Start::at(0.0).q(q).v(&v), 0.03)
            .unwrap()
            .completed()
            .unwrap();
        // Velocities and momenta at the start and after so many steps.
        let steps = run.every(5e-4).unwrap().states;
        [0, 1, 20, 40, 60].map(|k| {
            let state = steps.column(k);
            let (q, v) = state.as_slice().split_at(8);
            let p = midpoint.momentum(q, v).unwrap();
            [DVector::from_column_slice(v), DVector::from_vec(p)]
        })
    });
    let [v, p] = &first[0];
    let p0 = v.dot(p).sqrt();
    let pairs = first.iter().zip(&second).skip(1);
    let distance = |(a, b): (&[DVector<f64>; 2], &[DVector<f64>; 2])| {
        let (v, p) = (&a[0] - &b[0], &a[1] - &b[1]);
        v.dot(&p).abs().sqrt() / p0
    };
    pairs.map(distance).collect()
}

#[test]
fn the_orders_of_reflection_agree_after_the_design_and_not_before() {
    let (q, trex) = robot(&propagative("trex_table1_projected"));
    let before = spread(&trex, &q);
    let found = found_from("trex_table1_projected");
    let posture: [f64; 8] = found.q[..].try_into().unwrap();
    let after = spread(
        &build(&found.design).unwrap().at_rest_in(&posture),
        &found.q,
    );
    println!("{before:?} {after:?}");
    for (before, after) in before.iter().zip(&after) {
        assert!(*after <= 1e-5 * before, "{before:e} {after:e}");
    }
}

#[test]
fn a_contact_with_itself_and_one_that_is_not_there_are_refused() {
    for contacts in [[0, 0], [0, 5]] {
        let build = |_: &[f64]| Ok(Coupled(1.0));
        let failure = Orthogonality::new(build, contacts)
            .solve(&[0.1, 0.2], &[])
            .unwrap_err();
        assert!(matches!(failure, VariationalFailure::Input(_)), "{failure}");
    }
}

/// Two feet that meet the floor, with a design that may not be less than its start.
#[derive(Clone)]
struct Coupled(f64);

impl MechanicalSystem for Coupled {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, self.0 - 1.5, self.0 - 1.5, 2.0]);
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.fill(0.0);
    }
}

impl UnilateralConstraints for Coupled {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[j]
    }
}

#[test]
fn a_design_at_the_edge_of_what_can_be_built_is_a_start() {
    let build = |design: &[f64]| {
        if design[0] < 1.0 {
            return Err(InputError::EmptySystem);
        }
        Ok(Coupled(design[0]))
    };
    let found = Orthogonality::new(build, [0, 1])
        .solve(&[0.1, 0.2], &[1.0])
        .unwrap();
    assert!((found.design[0] - 1.5).abs() < 1e-9);
}
