//! The models of the paper against the reference: mass, rows, Delassus matrix, speeds and energy;
//! and against differences of themselves.

use saltation::impact::ImpactProblem;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints, check_mechanics};
use saltation::models::{RockingBlock, SlidingRod};
use saltation::nalgebra::{DMatrix, DVector};

use crate::reference::Case;

fn assert_near(name: &str, found: &DMatrix<f64>, expected: &DMatrix<f64>) {
    assert_eq!(found.shape(), expected.shape(), "{name}");
    let off = (found - expected).amax();
    assert!(off <= 1e-12, "{name}: {off:e}\n{found}{expected}");
}

/// The rows that a contact writes with `write`, one below the other.
fn rows<S>(system: &S, write: impl Fn(usize, &mut [f64])) -> DMatrix<f64>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let mut transposed = DMatrix::zeros(system.dof(), system.contacts());
    for (j, mut column) in transposed.column_iter_mut().enumerate() {
        write(j, column.as_mut_slice());
    }
    transposed.transpose()
}

fn column(values: &[f64]) -> DMatrix<f64> {
    DMatrix::from_column_slice(values.len(), 1, values)
}

/// The mass matrix at a configuration.
fn mass_at<S: MechanicalSystem>(system: &S, q: &[f64]) -> DMatrix<f64> {
    let mut mass = DMatrix::zeros(system.dof(), system.dof());
    system.mass(q, mass.as_mut_slice());
    mass
}

/// A model at the configuration of its case, and the impact it makes of it.
fn compare<S>(case: &Case, system: &S, (q, v): (&[f64], &[f64]), impact: &ImpactProblem)
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let near = |quantity: &str, found: &DMatrix<f64>, expected: &DMatrix<f64>| {
        assert_near(&format!("{} {quantity}", case.name), found, expected);
    };
    if case.of("q_pre").next().is_some() {
        near(
            "q_pre",
            &column(q),
            &column(case.vector("q_pre").as_slice()),
        );
    }
    near(
        "v_pre",
        &column(v),
        &column(case.vector("v_pre").as_slice()),
    );
    for j in 0..system.contacts() {
        assert!(system.gap(j, q).abs() < 1e-15, "{} touches", case.name);
        assert_eq!(system.tangents(j), 1);
    }
    let mass = mass_at(system, q);
    let normals = rows(system, |j, row| assert!(system.gap_row(j, q, row)));
    let tangents = rows(system, |j, row| system.tangent_rows(j, q, row));
    let velocity = DVector::from_column_slice(v);
    if case.of("M").next().is_some() {
        near("M", &mass, &case.matrix("M"));
        near("Jn", &normals, &case.matrix("Jn"));
        near("Jt", &tangents, &case.matrix("Jt"));
    }
    let speeds = DVector::from_iterator(
        2 * normals.nrows(),
        (&normals * &velocity)
            .iter()
            .chain((&tangents * &velocity).iter())
            .copied(),
    );
    assert!((&speeds - impact.speeds()).amax() < 1e-14);
    agree(case, impact);
    let energy = 0.5 * velocity.dot(&(mass * &velocity));
    near("K_pre", &column(&[energy]), &column(&[case.value("K_pre")]));
}

/// An impact in contact space against its case.
fn agree(case: &Case, impact: &ImpactProblem) {
    let near = |quantity: &str, found: &DMatrix<f64>, expected: &DMatrix<f64>| {
        assert_near(&format!("{} {quantity}", case.name), found, expected);
    };
    near("G", impact.delassus(), &case.matrix("G"));
    let expected: Vec<f64> = if case.of("u_pre").next().is_some() {
        case.vector("u_pre").as_slice().to_vec()
    } else {
        [case.vector("un_pre"), case.vector("ut_pre")]
            .iter()
            .flat_map(|part| part.as_slice().to_vec())
            .collect()
    };
    near(
        "u_pre",
        &column(impact.speeds().as_slice()),
        &column(&expected),
    );
    let mu = case.vector("mu");
    near("mu", &column(impact.friction()), &column(mu.as_slice()));
    let energy = 0.5 * impact.kinetic_norm().powi(2);
    near("K_pre", &column(&[energy]), &column(&[case.value("K_pre")]));
}

/// Everything written against differences, away from special configurations; the kinetic energy of
/// the moving points against the mass matrix.
fn consistent<S>(system: &S, q: &[f64], v: &[f64])
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let moved: Vec<f64> = (0..q.len())
        .map(|i| q[i] + 0.1 * (1.3 + i as f64).sin())
        .collect();
    let other: Vec<f64> = (0..v.len())
        .map(|i| v[i] + (0.4 + 2.0 * i as f64).cos())
        .collect();
    for (q, v) in [(q, v), (&moved, &other)] {
        let report = check_mechanics(system, 0.0, q, v).unwrap();
        assert!(report.agrees(1e-6), "{report}");
    }
    // the effort is the slope of the potential
    let mut effort = vec![f64::NAN; q.len()];
    system.effort(0.0, &moved, &other, &mut effort);
    for i in 0..q.len() {
        let at = |step: f64| {
            let mut q = moved.clone();
            q[i] += step;
            system.potential(&q).unwrap()
        };
        let slope = (at(1e-5) - at(-1e-5)) / 2e-5;
        assert!(
            (effort[i] + slope).abs() < 1e-7,
            "{i}: {} {slope}",
            effort[i]
        );
    }
}

#[test]
fn the_block_lands_as_in_the_paper() {
    let block = RockingBlock::default();
    let (q, v) = block.landing();
    compare(
        &Case::named("rocking_block"),
        &block,
        (&q, &v),
        &block.impact().unwrap(),
    );
    consistent(&block, &q, &v);
    for mu in [0.0, 0.1, 0.2, 0.3] {
        let slippery = RockingBlock {
            friction: mu,
            ..block
        };
        let problem = Case::named("rocking_block").problem_with(&[mu; 2]);
        let impact = slippery.impact().unwrap();
        assert_eq!(impact.friction(), problem.friction());
        assert!((impact.delassus() - problem.delassus()).amax() < 1e-12);
    }
}

#[test]
fn a_pivoting_block_keeps_its_corner() {
    let block = RockingBlock::default();
    for (theta, rate, corner) in [
        (0.0, 1.0, 0),
        (0.2, -0.3, 0),
        (-0.2, 0.3, 1),
        (0.0, -1.0, 1),
    ] {
        let (q, v) = block.pivoting(theta, rate);
        assert!(block.gap(corner, &q).abs() < 1e-15 && block.gap(1 - corner, &q) >= -1e-15);
        let mut row = [0.0; 3];
        block.gap_row(corner, &q, &mut row);
        let dot = |row: [f64; 3]| row.iter().zip(v).map(|(a, b)| a * b).sum::<f64>();
        assert!(dot(row).abs() < 1e-15);
        block.tangent_rows(corner, &q, &mut row);
        assert!(dot(row).abs() < 1e-15);
        // the corner stays where it is when the block is level
        let x =
            q[0] - 0.5 * (if corner == 0 { 1.0 } else { -1.0 } * theta.cos() - 2.0 * theta.sin());
        assert!((x - if corner == 0 { -0.5 } else { 0.5 }).abs() < 1e-15);
    }
    // energy and moment of inertia about the corner
    let (q, v) = block.pivoting(0.0, 1.0);
    let (mass, v) = (mass_at(&block, &q), DVector::from_column_slice(&v));
    assert!((v.dot(&(mass * &v)) - (5.0 / 12.0 + 5.0 / 4.0)).abs() < 1e-15);
}

#[test]
fn the_rod_slides_as_in_the_reference() {
    let (case, rod) = (Case::named("painleve_rod"), SlidingRod::default());
    let theta = case.value("tan_theta").atan();
    let (q, v) = rod.sliding(theta, -1.0);
    compare(&case, &rod, (&q, &v), &rod.impact().unwrap());
    assert!((rod.critical_friction(theta) - case.value("mu_critical")).abs() < 1e-15);
    consistent(&rod, &q, &v);
}
