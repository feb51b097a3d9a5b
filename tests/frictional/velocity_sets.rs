//! Sets of outcomes in velocities: members, distances, the extreme outcome of a direction and the
//! outcome of least energy, against sums of impulses and against a search of its own.

use crate::random_bits::SplitMix64;
use saltation::impact::{
    AnitescuPotra, EventExact, ExactPlanar, ImpactFailure, ImpactProblem, VelocitySet,
};
use saltation::mechanics::{ContactSet, MechanicalSystem};
use saltation::models::{RamOne, RigidTrot, RockingBlock};
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{ContactModel, EventDriven};
use saltation::{InputError, Start};

/// Velocities with the contact speeds of an outcome, and joints that turn otherwise, were
/// "contained": three of the seven dimensions of the walker do not show in contact speeds.
#[test]
fn a_velocity_with_the_right_contact_speeds_and_wrong_joint_rates_is_no_outcome() {
    let robot = RamOne::default();
    let (q, v) = robot.footfall();
    let problem = ImpactProblem::of_system(&robot, &q, &v, ContactSet::Listed(&[0, 1])).unwrap();
    let set = ExactPlanar::new().resolve(&problem).unwrap();
    let velocities = set.velocities().unwrap();
    let mut mass = DMatrix::zeros(7, 7);
    robot.mass(&q, mass.as_mut_slice());
    let rows = jacobian(&problem, &mass);
    let blind = blind_direction(&rows);
    assert!((&rows * &blind).amax() < 1e-12);
    let right = velocities.pieces()[0].vertices().next().unwrap();
    let right = DVector::from_column_slice(right);
    assert!(velocities.contains(right.as_slice(), 1e-9));
    for by in [5.0, -0.01] {
        let wrong = &right + by * &blind;
        assert!(set.contains((&rows * &wrong).as_slice(), 1e-9));
        // orthogonal to all changes by impulses in the metric of kinetic energy
        let expected = by.abs() * blind.dot(&(&mass * &blind)).sqrt();
        let found = velocities.distance(wrong.as_slice());
        assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
        assert!(!velocities.contains(wrong.as_slice(), 1e-3));
    }
    let part = ExactPlanar::new().cap(1).resolve(&problem).unwrap();
    assert!(velocities.is_closed() && !part.velocities().unwrap().is_closed());
    assert!(velocities.distance(&[0.0; 3]).is_nan());
    assert!(velocities.distance(&[f64::NAN; 7]).is_nan());
    assert!(!velocities.contains(&[f64::NAN; 7], f64::INFINITY));
    assert!(matches!(
        velocities.support(&[1.0; 3]),
        Err(InputError::WrongLength { .. })
    ));
}

#[test]
fn a_problem_in_contact_space_has_no_set_of_velocities() {
    let known = RockingBlock::default().impact().unwrap();
    let (g, u) = (known.delassus().clone(), known.speeds().clone());
    let given = ImpactProblem::with_tangents(g, u, &[1.0; 2]).unwrap();
    let set = ExactPlanar::new().resolve(&given).unwrap();
    assert_eq!(set.velocities().err(), Some(InputError::OnlyContactSpace));
    let (most, vertex) = set.support(&[1.0, 1.0, 0.0, 0.0]).unwrap().unwrap();
    assert_eq!(most, vertex[0] + vertex[1]);
    // 0.7 · 0.3 of the speed of the fall, at either corner (spec 9.3)
    assert!((most - 0.21 * 0.442_944_691_807_002).abs() < 1e-13);
    assert!(set.support(&[1.0]).is_err() && set.support(&[f64::NAN; 4]).is_err());
}

/// The rows of `J` from `G = J M⁻¹ Jᵀ` are not unique: those of the problem, from what unit
/// impulses do.
fn jacobian(problem: &ImpactProblem, mass: &DMatrix<f64>) -> DMatrix<f64> {
    let n = problem.speeds().len();
    let at_rest = problem
        .velocity_with_speeds(problem.speeds().as_slice())
        .unwrap();
    let mut rows = DMatrix::zeros(n, mass.nrows());
    for i in 0..n {
        // the speeds after a unit impulse of row i
        let after = problem.speeds() + problem.delassus().column(i);
        let change = problem.velocity_with_speeds(after.as_slice()).unwrap() - &at_rest;
        rows.row_mut(i).copy_from(&(mass * change).transpose());
    }
    rows
}

/// A unit vector that no row sees.
fn blind_direction(rows: &DMatrix<f64>) -> DVector<f64> {
    let d = rows.ncols();
    let square = rows.transpose() * rows;
    let eigen = square.symmetric_eigen();
    let least = (0..d).min_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
    eigen.eigenvectors.column(least.unwrap()).into_owned()
}

/// A random body with two contacts in the plane, and what a test needs of it.
struct Body {
    problem: ImpactProblem,
    mass: DMatrix<f64>,
    rows: DMatrix<f64>,
    velocity: DVector<f64>,
}

fn draw(random: &mut SplitMix64) -> Body {
    let d = 3 + (random.next() % 4) as usize;
    let root = DMatrix::from_fn(d, d, |_, _| random.between(-1.0, 1.0));
    let mass = &root * root.transpose() + DMatrix::identity(d, d) * 0.3;
    // different units of the velocities
    let units = DVector::from_fn(d, |i, _| [0.1, 1.0, 10.0][i % 3]);
    let mass = DMatrix::from_fn(d, d, |i, j| mass[(i, j)] * units[i] * units[j]);
    let mut rows = DMatrix::from_fn(4, d, |_, j| random.between(-1.0, 1.0) * units[j]);
    if random.next().is_multiple_of(3) {
        // equal tangents, as those of a block
        let tangent = rows.row(2).into_owned();
        rows.row_mut(3).copy_from(&tangent);
    }
    let mu = [random.between(0.0, 1.2), random.between(0.0, 1.2)];
    loop {
        let velocity = DVector::from_fn(d, |i, _| random.between(-1.0, 1.0) / units[i]);
        let problem =
            ImpactProblem::from_mechanics_with_tangents(&mass, &rows, &velocity, &mu).unwrap();
        if problem.speeds()[0].min(problem.speeds()[1]) < -0.05 {
            return Body {
                problem,
                mass,
                rows,
                velocity,
            };
        }
    }
}

/// The distance of a velocity from the hull of others in the metric of kinetic energy, from below
/// and from above: Gilbert's method, whose step is that of a line search towards the vertex that
/// lies lowest.
fn between(mass: &DMatrix<f64>, vertices: &[DVector<f64>], v: &DVector<f64>) -> (f64, f64) {
    let product = |a: &DVector<f64>, b: &DVector<f64>| a.dot(&(mass * b));
    let mut x = &vertices[0] - v;
    let mut below = 0.0_f64;
    for _ in 0..3000 {
        let towards = vertices.iter().map(|w| w - v);
        let lowest = towards.min_by(|a, b| product(a, &x).total_cmp(&product(b, &x)));
        let step = lowest.unwrap() - &x;
        let (slope, curvature) = (product(&x, &step), product(&step, &step));
        // the plane through the lowest vertex separates
        let size = product(&x, &x).sqrt();
        below = below.max((size * size + slope) / size);
        if slope >= 0.0 || curvature == 0.0 {
            break;
        }
        x += (-slope / curvature).min(1.0) * step;
    }
    (below.max(0.0), product(&x, &x).sqrt())
}

fn of_velocities(seed: u64, count: usize) {
    let mut random = SplitMix64(seed);
    let (mut closed, mut members, mut outside, mut worst) = (0, 0, 0, 0.0_f64);
    for case in 0..count {
        let Body {
            problem,
            mass,
            rows,
            velocity,
        } = draw(&mut random);
        let set = ExactPlanar::new().cap(60).resolve(&problem).unwrap();
        if !set.is_closed() {
            continue;
        }
        closed += 1;
        let velocities = set.velocities().unwrap();
        let size = problem.kinetic_norm();
        let energy = |v: &DVector<f64>| 0.5 * v.dot(&(&mass * v));
        let response = mass.clone().cholesky().unwrap().solve(&rows.transpose());
        let d = velocity.len();
        let direction = DVector::from_fn(d, |_, _| random.between(-1.0, 1.0));
        let greatest = velocities.support(direction.as_slice()).unwrap().unwrap();
        let least = velocities.least_energy().unwrap();
        for extreme in [&greatest, &least] {
            let v = DVector::from_column_slice(&extreme.velocity);
            assert!(velocities.contains(v.as_slice(), 1e-9 * size), "{case}");
            let off = (&rows * &v - DVector::from_column_slice(&extreme.speeds)).amax();
            assert!(off < 1e-9 * problem.speeds().amax(), "{case}: {off:e}");
        }
        assert_eq!(
            greatest.value,
            direction.dot(&DVector::from_column_slice(&greatest.velocity))
        );
        let at_least = energy(&DVector::from_column_slice(&least.velocity));
        assert!(
            (least.value - at_least).abs() < 1e-9 * size * size,
            "{case}"
        );
        let mut simulation = EventExact::new(2.0 * size).seed(7).start(&problem).unwrap();
        let (mut u, mut p) = ([0.0; 4], [0.0; 4]);
        for sample in 0..10 {
            if !simulation
                .simulate(sample, &mut u, &mut p)
                .unwrap()
                .finished
            {
                continue;
            }
            // from impulses, not from speeds
            let v = &velocity + &response * DVector::from_column_slice(&p);
            members += 1;
            let off = velocities.distance(v.as_slice()) / size;
            worst = worst.max(off);
            assert!(off < 1e-9, "{case}: {off:e}");
            assert!(direction.dot(&v) <= greatest.value + 1e-9 * size * direction.norm() * 100.0);
            assert!(energy(&v) >= least.value - 1e-9 * size * size, "{case}");
        }
        // any velocities, and those with the contact speeds of an outcome
        for _ in 0..4 {
            let v = DVector::from_fn(d, |i, _| {
                velocity[i] + random.between(-1.0, 1.0) * velocity.amax()
            });
            let hulls = velocities.pieces().iter().map(|piece| {
                let all: Vec<_> = piece.vertices().map(DVector::from_column_slice).collect();
                between(&mass, &all, &v)
            });
            let bounds = hulls.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1))).unwrap();
            let found = velocities.distance(v.as_slice());
            let slack = 1e-9 * (size + found);
            assert!(
                bounds.0 - slack <= found && found <= bounds.1 + slack,
                "{case}: {found} {bounds:?}"
            );
            outside += usize::from(found > 1e-6 * size);
        }
        if d > 4 {
            let blind = blind_direction(&rows);
            let member = DVector::from_column_slice(&greatest.velocity);
            let off = velocities.distance((member + &blind).as_slice());
            let expected = (2.0 * energy(&blind)).sqrt();
            assert!(
                (off / expected - 1.0).abs() < 1e-6,
                "{case}: {off} {expected}"
            );
        }
        check_least(&velocities, &mass, least.value, size, case);
    }
    println!("{closed} closed, {members} members, worst {worst:e}, {outside} outside");
    assert!(closed * 10 > count * 9 && members > 8 * closed && outside > 2 * closed);
}

/// No velocity of a piece has less energy: the plane through the nearest one to rest separates.
fn check_least(set: &VelocitySet, mass: &DMatrix<f64>, least: f64, size: f64, case: usize) {
    let rest = DVector::zeros(mass.nrows());
    let hulls = set.pieces().iter().map(|piece| {
        let all: Vec<_> = piece.vertices().map(DVector::from_column_slice).collect();
        between(mass, &all, &rest)
    });
    let bounds = hulls.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1))).unwrap();
    let [low, high] = [bounds.0, bounds.1].map(|root| 0.5 * root * root);
    let slack = 1e-9 * size * size;
    assert!(
        low - slack <= least && least <= high + slack,
        "{case}: {least} {bounds:?}"
    );
}

#[test]
fn random_velocities_are_members_as_impulses_say() {
    of_velocities(81, 40);
}

#[test]
#[ignore = "takes a minute: cargo test --release --test frictional -- --ignored"]
fn velocities_of_thousands_of_impacts_are_members_as_impulses_say() {
    of_velocities(82, 4000);
}

#[test]
fn the_impact_of_a_run_is_made_in_one_call() {
    let block = RockingBlock::default();
    let model = ContactModel::with_law(block, AnitescuPotra::new()).frictionless();
    let mut simulation = EventDriven::new(model).unwrap();
    let run = simulation
        .integrate(&Start::at(0.0).q(&[0.0, 1.01, 0.0]).v(&[0.0; 3]), 0.05)
        .unwrap();
    let event = &run.events()[0];
    let model = simulation.model();
    let impact = model.impact_of(event).unwrap();
    assert_eq!(event.contacts, [0, 1]);
    for (i, approach) in event.approach.iter().enumerate() {
        assert!((impact.speeds()[i] - approach).abs() < 1e-12);
    }
    assert!(impact.is_new().iter().all(|&is_new| is_new));
    assert!(impact.friction().iter().all(|&mu| mu == 0.0));
    let same = model.impact_at(&event.state_before).unwrap();
    assert_eq!((same.contacts(), same.speeds()), (2, impact.speeds()));
    // what the run went on with is one of the outcomes
    let set = ExactPlanar::new()
        .resolve(&impact)
        .unwrap()
        .velocities()
        .unwrap();
    assert!(set.contains(&event.state_after[3..], 1e-9));
    // an event without an impact, as the release of a contact, has none to give
    let mut no_impact = event.clone();
    no_impact.order = None;
    let none = model.impact_of(&no_impact);
    assert!(matches!(
        none,
        Err(ImpactFailure::Input(InputError::NoContacts))
    ));
    // in the air nothing touches
    let high = model.impact_at(&[0.0, 1.5, 0.0, 0.0, -1.0, 0.0]);
    assert!(
        matches!(high, Err(ImpactFailure::Input(InputError::NoContacts))),
        "{high:?}"
    );
    assert!(matches!(
        model.impact_at(&[0.0; 5]),
        Err(ImpactFailure::Input(InputError::WrongLength { .. }))
    ));
    // with friction, where it was not said not to matter
    let rough = ContactModel::with_law(block, AnitescuPotra::new());
    assert_eq!(
        rough.impact_at(&event.state_before).unwrap().friction(),
        [1.0; 2]
    );
    // contacts without tangents
    let trot = ContactModel::new(RigidTrot::default());
    let problem = trot.impact_at(&[0.0, 0.0, -1.0, 0.0]).unwrap();
    assert_eq!((problem.contacts(), problem.tangents()), (2, 0));
}
