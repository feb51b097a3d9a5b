//! The models of the paper against the reference: mass, rows, Delassus matrix, speeds and energy;
//! and against differences of themselves.

use saltation::InputError;
use saltation::impact::{ContactCone, ImpactLaw, ImpactProblem, LcpSteps, RouthInclusion};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints, check_mechanics};
use saltation::models::{
    BoxAndWall, CompassGait, DiskStack, RamOne, RockingBlock, SlidingRod, Wedge,
};
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

#[test]
fn the_gait_the_box_and_ramone_step_as_in_the_paper() {
    let gait = CompassGait::default();
    let (q, v) = gait.stepping();
    compare(
        &Case::named("compass_gait"),
        &gait,
        (&q, &v),
        &gait.impact().unwrap(),
    );
    consistent(&gait, &q, &v);

    let sliding = BoxAndWall::default();
    let (q, v) = sliding.sliding();
    compare(
        &Case::named("box_wall"),
        &sliding,
        (&q, &v),
        &sliding.impact().unwrap(),
    );
    consistent(&sliding, &q, &v);

    let robot = RamOne::default();
    let (q, v) = robot.footfall();
    compare(
        &Case::named("ramone"),
        &robot,
        (&q, &v),
        &robot.impact().unwrap(),
    );
    consistent(&robot, &q, &v);
}

#[test]
fn the_disks_land_as_in_the_paper_and_in_its_code() {
    let stack = DiskStack::default();
    let (q, v) = stack.landing();
    compare(
        &Case::named("disk_stack"),
        &stack,
        (&q, &v),
        &stack.impact().unwrap(),
    );
    consistent(&stack, &q, &v);
    agree(
        &Case::named("disk_stack_as_coded"),
        &stack.impact_as_coded().unwrap(),
    );
}

/// Mass matrices are those of the kinetic energy of many small parts of the bodies.
#[test]
fn mass_matrices_are_those_of_the_kinetic_energy() {
    // two points at ± the radius of gyration stand for a body: same mass, centre and inertia
    let robot = RamOne::default();
    let (q, _) = robot.footfall();
    let v: Vec<f64> = (0..7).map(|i| (1.0 + 1.7 * f64::from(i)).sin()).collect();
    let energy_of = |q: &[f64]| {
        let points = ramone_points(&robot, q);
        let step = 1e-6;
        let at = |s: f64| {
            let q: Vec<f64> = q.iter().zip(&v).map(|(q, v)| q + s * v).collect();
            ramone_points(&robot, &q)
        };
        let (after, before) = (at(step), at(-step));
        (0..points.len())
            .map(|i| {
                let rate = |k: usize| (after[i].1[k] - before[i].1[k]) / (2.0 * step);
                0.5 * points[i].0 * (rate(0).powi(2) + rate(1).powi(2))
            })
            .sum::<f64>()
    };
    let velocity = DVector::from_column_slice(&v);
    for shift in [0.0, 0.4, 1.1] {
        let q: Vec<f64> = q.iter().map(|q| q + shift).collect();
        let energy = 0.5 * velocity.dot(&(mass_at(&robot, &q) * &velocity));
        assert!(
            (energy - energy_of(&q)).abs() < 1e-7 * energy,
            "{energy} {}",
            energy_of(&q)
        );
    }
}

/// Masses and places of points that stand for the links of the robot.
fn ramone_points(robot: &RamOne, q: &[f64]) -> Vec<(f64, [f64; 2])> {
    let down = |[x, y]: [f64; 2], length: f64, a: f64| [x + length * a.sin(), y - length * a.cos()];
    let mut points = Vec::new();
    let mut add = |link: saltation::models::RamOneLink, from: [f64; 2], a: f64| {
        let gyration = (link.inertia / link.mass).sqrt();
        for side in [-1.0, 1.0] {
            points.push((
                0.5 * link.mass,
                down(from, link.centre + side * gyration, a),
            ));
        }
    };
    let centre = [q[0], q[1]];
    add(robot.trunk, centre, q[2]);
    let hip = down(centre, robot.trunk.length, q[2]);
    for leg in [3, 5] {
        let thigh = q[2] + q[leg];
        add(robot.thigh, hip, thigh);
        add(
            robot.shank,
            down(hip, robot.thigh.length, thigh),
            thigh + q[leg + 1],
        );
    }
    points
}

#[test]
fn slips_are_those_of_the_points_that_touch() {
    // a foot that rolls without slip: its centre moves by −r per radian of the shank
    let robot = RamOne::default();
    let (q, _) = robot.footfall();
    let mut row = [0.0; 7];
    robot.tangent_rows(0, &q, &mut row);
    let shank = q[2] + q[3] + q[4];
    assert!((row[4] - (robot.shank.length * shank.cos() + robot.foot)).abs() < 1e-15);
    // a disc in a wedge that spins only slips by r on both walls
    let wedge = Wedge::default();
    let (q, _) = wedge.landing(0.0);
    for j in 0..2 {
        let mut row = [0.0; 3];
        wedge.tangent_rows(j, &q, &mut row);
        assert_eq!(row[2], wedge.radius);
        assert!(wedge.gap(j, &q).abs() < 1e-15);
    }
}

#[test]
fn a_wedge_jams_from_the_tangent_of_its_angle_on() {
    for degrees in [10.0_f64, 30.0, 60.0] {
        let half_angle = degrees.to_radians();
        for (part, jams) in [(0.5, false), (0.999, false), (1.001, true), (3.0, true)] {
            let friction = part * half_angle.tan();
            let wedge = Wedge {
                half_angle,
                friction,
                ..Wedge::default()
            };
            let (q, v) = wedge.landing(0.7);
            consistent(&wedge, &q, &v);
            let cone = ContactCone::of(&wedge.impact().unwrap()).unwrap();
            assert_eq!(
                cone.is_pointed(),
                !jams,
                "{degrees} {part} {}",
                cone.margin()
            );
        }
    }
}

#[test]
fn bad_parameters_are_refused() {
    let refused = |impact: Result<ImpactProblem, _>| assert!(impact.is_err());
    refused(
        RockingBlock {
            mass: 0.0,
            ..RockingBlock::default()
        }
        .impact(),
    );
    refused(
        RockingBlock {
            friction: -1.0,
            ..RockingBlock::default()
        }
        .impact(),
    );
    refused(
        RockingBlock {
            width: f64::NAN,
            ..RockingBlock::default()
        }
        .impact(),
    );
    refused(
        SlidingRod {
            half_length: f64::INFINITY,
            ..SlidingRod::default()
        }
        .impact(),
    );
    refused(
        CompassGait {
            mass: -1.0,
            ..CompassGait::default()
        }
        .impact(),
    );
    refused(
        BoxAndWall {
            speed: f64::NAN,
            ..BoxAndWall::default()
        }
        .impact(),
    );
    refused(
        DiskStack {
            mass: -1.0,
            ..DiskStack::default()
        }
        .impact(),
    );
    refused(
        DiskStack {
            friction: f64::NAN,
            ..DiskStack::default()
        }
        .impact_as_coded(),
    );
    refused(
        Wedge {
            half_angle: 0.0,
            ..Wedge::default()
        }
        .impact(),
    );
    // the trailing leg does not reach the floor
    let mut robot = RamOne::default();
    robot.shank.length = 0.1;
    refused(robot.impact());
}

#[test]
fn contact_speeds_tell_the_velocity() {
    let impacts = [
        RockingBlock::default().impact(),
        CompassGait::default().impact(),
        BoxAndWall::default().impact(),
        RamOne::default().impact(),
        DiskStack::default().impact(),
    ];
    for impact in impacts.map(Result::unwrap) {
        let outcomes = RouthInclusion::new(LcpSteps::new(0.5), 20)
            .resolve(&impact)
            .unwrap();
        assert!(!outcomes.list.is_empty());
        for outcome in &outcomes.list {
            let expected = impact.velocity_after(outcome).unwrap();
            let found = impact
                .velocity_with_speeds(outcome.speeds.as_slice())
                .unwrap();
            let off = (&found - &expected).amax();
            assert!(off < 1e-9 * expected.amax().max(1.0), "{off:e}");
        }
    }
    // the corners of the block slip alike: they are rows of one rigid body
    let block = RockingBlock::default().impact().unwrap();
    let refused = block.velocity_with_speeds(&[0.0, 0.0, 0.1, -0.1]);
    assert!(
        matches!(refused, Err(InputError::InconsistentSpeeds { .. })),
        "{refused:?}"
    );
    let refused = block.velocity_with_speeds(&[0.0; 3]);
    assert!(matches!(refused, Err(InputError::WrongLength { .. })));
    let refused = block.velocity_with_speeds(&[f64::NAN; 4]);
    assert!(matches!(refused, Err(InputError::NotFinite { .. })));
    let space =
        ImpactProblem::with_tangents(block.delassus().clone(), block.speeds().clone(), &[1.0; 2]);
    let refused = space.unwrap().velocity_with_speeds(&[0.0; 4]);
    assert!(matches!(refused, Err(InputError::OnlyContactSpace)));
}
