//! What follows from the impact inclusion: which outcomes its set holds, uniqueness for one contact
//! and for a given program of normal impulses.

use saltation::impact::{
    AnitescuPotra, EventExact, ExactPlanar, ImpactLaw, ImpactProblem, InOrder, Routh,
};
use saltation::nalgebra::{DMatrix, DVector};

use crate::exact_planar::{far, frictionless_ends};
use crate::random_bits::SplitMix64;
use crate::reference::Case;

const FOUR: [&str; 4] = ["rocking_block", "compass_gait", "box_wall", "ramone"];

#[test]
fn simultaneous_and_sequential_outcomes_lie_in_the_exact_set() {
    for name in FOUR {
        let problem = Case::named(name).problem();
        let set = ExactPlanar::new().resolve(&problem).unwrap();
        let laws: [&dyn ImpactLaw; 3] = [
            &AnitescuPotra::new(),
            &InOrder::new(&[0, 1]).tolerance(1e-14),
            &InOrder::new(&[1, 0]).tolerance(1e-14),
        ];
        for law in laws {
            let outcomes = law.resolve(&problem).unwrap();
            assert!(!outcomes.list.is_empty());
            for outcome in &outcomes.list {
                let outside = set.distance(outcome.speeds.as_slice());
                assert!(outside < 1e-11, "{name}: {outside:e} {outcome}");
            }
        }
    }
}

#[test]
fn energies_of_the_exact_sets_are_those_of_the_reference() {
    for name in FOUR {
        let case = Case::named(name);
        let problem = case.problem();
        let norm = case.one("vpre_normM");
        let off = (problem.kinetic_norm() - norm.value()).abs();
        assert!(off <= norm.tolerance(), "{name}: {off:e}");
        let set = ExactPlanar::new().resolve(&problem).unwrap();
        let count = case.value("exact_polygon_count") as usize;
        assert_eq!(set.pieces().len(), count, "{name}");
        // the part of the motion that contacts do not see keeps its energy
        let inverse = problem.delassus().clone().pseudo_inverse(1e-12).unwrap();
        let seen = |u: &DVector<f64>| 0.5 * u.dot(&(&inverse * u));
        let unseen = case.value("K_pre") - seen(problem.speeds());
        let vertices = set.pieces().iter().flat_map(|piece| piece.vertices());
        let energies = vertices.map(|v| unseen + seen(&DVector::from_column_slice(v)));
        let (least, most) = energies.fold((f64::INFINITY, 0.0), |(least, most): (f64, f64), e| {
            (least.min(e), most.max(e))
        });
        // all four sets hold the rest of all contacts, a vertex
        for (quantity, found) in [("exact_K_max", most), ("exact_K_min", least)] {
            let row = case.one(quantity);
            let off = (found - row.value()).abs();
            assert!(off <= row.tolerance(), "{name} {quantity}: {off:e}");
        }
    }
}

/// A full row rank Delassus matrix and speeds that approach at contact 0.
fn random_problem(random: &mut SplitMix64, m: usize) -> (DMatrix<f64>, DVector<f64>) {
    let d = 2 * m + 1;
    let rows = DMatrix::from_fn(2 * m, d, |_, _| random.between(-1.0, 1.0));
    let speeds = DVector::from_fn(2 * m, |i, _| match i {
        0 => random.between(-1.0, -0.1),
        _ => random.between(-1.0, 1.0),
    });
    (&rows * rows.transpose(), speeds)
}

#[test]
fn one_contact_has_the_outcome_of_routh_alone() {
    let mut random = SplitMix64(5);
    for _ in 0..200 {
        let mu = [random.between(0.0, 1.5)];
        let (delassus, speeds) = random_problem(&mut random, 1);
        let problem = ImpactProblem::with_tangents(delassus, speeds, &mu).unwrap();
        let expected = Routh::new().outcome(&problem).unwrap().speeds;
        let set = ExactPlanar::new().resolve(&problem).unwrap();
        assert!(set.is_closed() && set.pieces().len() == 1);
        let vertices: Vec<&[f64]> = set.pieces()[0].vertices().collect();
        assert_eq!(vertices.len(), 1, "{vertices:?}");
        assert!(far(vertices[0], expected.as_slice()) < 1e-12);
        let mut simulation = EventExact::new(0.5)
            .most_legs(1000)
            .start(&problem)
            .unwrap();
        let (mut u, mut p) = ([0.0; 2], [0.0; 2]);
        for sample in 0..5 {
            let ended = simulation.simulate(sample, &mut u, &mut p).unwrap();
            assert!(ended.finished && far(&u, expected.as_slice()) < 1e-12);
        }
    }
}

/// Speeds fast enough that no contact ends its approach: the program of normal impulses is then
/// that of the draws.
#[test]
fn velocities_under_one_program_never_move_apart() {
    let mut random = SplitMix64(6);
    let mut nearer = 0;
    for _ in 0..60 {
        let mu = [random.between(0.0, 1.5), random.between(0.0, 1.5)];
        let (delassus, mut first) = random_problem(&mut random, 2);
        let inverse = delassus.clone().try_inverse().unwrap();
        first.rows_mut(0, 2).fill(-100.0);
        let mut second = first.clone();
        for row in 0..4 {
            second[row] += random.between(-1.0, 1.0);
        }
        let problems = [first, second]
            .map(|u| ImpactProblem::with_tangents(delassus.clone(), u, &mu).unwrap());
        let distance = |a: &[f64], b: &[f64]| {
            let gap = DVector::from_iterator(4, a.iter().zip(b).map(|(a, b)| a - b));
            gap.dot(&(&inverse * &gap)).max(0.0).sqrt()
        };
        let start = distance(
            problems[0].speeds().as_slice(),
            problems[1].speeds().as_slice(),
        );
        let mut last = start;
        for legs in 1..25 {
            let (mut u, mut p) = ([[0.0; 4]; 2], [[0.0; 4]; 2]);
            for (k, problem) in problems.iter().enumerate() {
                let mut simulation = EventExact::new(0.1).most_legs(legs).start(problem).unwrap();
                let ended = simulation.simulate(3, &mut u[k], &mut p[k]).unwrap();
                assert!(!ended.finished);
            }
            assert!(far(&p[0][..2], &p[1][..2]) < 1e-13);
            let now = distance(&u[0], &u[1]);
            assert!(now <= last * (1.0 + 1e-10) + 1e-12, "{last:e} {now:e}");
            last = now;
        }
        nearer += usize::from(last < 0.99 * start);
    }
    // friction brings them nearer where they slip in different ways
    assert!(nearer > 20, "{nearer}");
}

/// Spec 9.3 with friction: two contacts of one tangent that never slip have the ends of the Schur
/// complement of the tangent.
#[test]
fn two_contacts_that_stick_have_the_ends_of_the_schur_complement() {
    let mut random = SplitMix64(8);
    for _ in 0..200 {
        let normals = DMatrix::from_fn(2, 3, |_, _| random.between(-1.0, 1.0));
        let tangent = DMatrix::from_fn(1, 3, |_, _| random.between(-1.0, 1.0));
        let rows = DMatrix::from_fn(
            4,
            3,
            |i, j| {
                if i < 2 { normals[(i, j)] } else { tangent[j] }
            },
        );
        let g = &rows * rows.transpose();
        // the friction that holds the tangent while one contact pushes
        let held = [0, 1].map(|i: usize| (g[(i, 2)] / g[(2, 2)]).abs());
        let mu = held.map(|held| 1.01 * held + random.unit());
        let schur = |i: usize, j: usize| g[(i, j)] - g[(i, 2)] * g[(j, 2)] / g[(2, 2)];
        let (a, b, c) = (schur(0, 0), schur(1, 1), schur(0, 1));
        if a.min(b) < 1e-2 {
            continue;
        }
        let (p, q) = (random.between(0.1, 1.0), random.between(0.1, 1.0));
        let speeds = DVector::from_vec(vec![-p, -q, 0.0, 0.0]);
        let problem = ImpactProblem::with_tangents(g, speeds, &mu).unwrap();
        let set = ExactPlanar::new().resolve(&problem).unwrap();
        assert!(set.is_closed());
        let expected = frictionless_ends(a, b, c, p, q);
        let end = |end: &[f64; 2]| [end[0], end[1], 0.0, 0.0];
        let ends: Vec<[f64; 4]> = expected.iter().flatten().map(end).collect();
        let vertices: Vec<&[f64]> = set.pieces().iter().flat_map(|p| p.vertices()).collect();
        for end in &ends {
            let is_found = vertices.iter().any(|v| far(v, end) < 1e-11);
            assert!(is_found, "{end:?} {vertices:?}");
        }
        for vertex in &vertices {
            let is_end = ends.iter().any(|end| far(vertex, end) < 1e-11);
            assert!(is_end, "{vertex:?} {ends:?}");
        }
    }
}
