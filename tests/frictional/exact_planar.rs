//! The exact set of planar impacts: reference rows, closed forms.

use crate::random_bits::SplitMix64;
use crate::support::{Row, case, problem, samples_outside};
use saltation::InputError;
use saltation::impact::{EventExact, ExactPlanar, ImpactFailure, ImpactProblem, OutcomeSet};
use saltation::mechanics::ContactSet;
use saltation::models::RockingBlock;
use saltation::nalgebra::{DMatrix, DVector, dmatrix, dvector};

/// The vertices of the file, polytope by polytope.
fn polytopes(rows: &[Row]) -> Vec<Vec<Vec<f64>>> {
    let mut all: Vec<Vec<Vec<f64>>> = Vec::new();
    for row in rows.iter().filter(|row| row.quantity == "exact_vertex") {
        all.resize(all.len().max(row.k + 1), Vec::new());
        let polytope = &mut all[row.k];
        polytope.resize(polytope.len().max(row.i + 1), vec![0.0; 4]);
        polytope[row.i][row.j] = row.value;
    }
    all
}

pub(crate) fn far(a: &[f64], b: &[f64]) -> f64 {
    a.iter()
        .zip(b)
        .fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()))
}

fn bounds_are_those_of(rows: &[Row], set: &OutcomeSet) {
    let bounds = set.bounds();
    for row in rows {
        let found = match row.quantity {
            "exact_lo" => bounds[row.i].0,
            "exact_hi" => bounds[row.i].1,
            _ => continue,
        };
        assert!(
            (found - row.value).abs() <= row.tolerance,
            "{} {}: {found}",
            row.quantity,
            row.i
        );
    }
}

#[test]
fn the_four_examples_have_the_polytopes_of_the_reference() {
    for name in ["rocking_block", "compass_gait", "box_wall", "ramone"] {
        let rows = case(name);
        let set = ExactPlanar::new().resolve(&problem(name, name)).unwrap();
        assert!(set.is_closed());
        assert!(set.effort() < 60, "{name}: {}", set.effort());
        bounds_are_those_of(&rows, &set);
        let expected = polytopes(&rows);
        assert_eq!(set.pieces().len(), expected.len(), "{name}");
        // the file has its own rounding, RAMone's 2e-10
        let tolerance = 1e-9;
        for polytope in &expected {
            let is_same = |piece: &saltation::impact::Polytope| {
                piece.vertices().len() == polytope.len()
                    && polytope
                        .iter()
                        .all(|p| piece.vertices().any(|v| far(v, p) <= tolerance))
            };
            assert!(set.pieces().iter().any(is_same), "{name}: {polytope:?}");
        }
    }
}

#[test]
fn sliding_blocks_cover_the_sets_of_the_reference() {
    for name in [
        "rocking_block_mu0.0",
        "rocking_block_mu0.1",
        "rocking_block_mu0.2",
        "rocking_block_mu0.3",
        "rocking_block_slide_mu0.2",
    ] {
        let rows = case(name);
        let set = ExactPlanar::new()
            .resolve(&problem(name, "rocking_block"))
            .unwrap();
        assert!(set.is_closed());
        assert!(set.effort() < 60, "{name}: {}", set.effort());
        bounds_are_those_of(&rows, &set);
        // the file has twelve digits
        for vertex in polytopes(&rows).iter().flatten() {
            assert!(set.distance(vertex) < 1e-11, "{name}: {vertex:?}");
        }
    }
}

#[test]
fn pieces_have_lengths_and_areas() {
    let block = problem("rocking_block", "rocking_block");
    let block = ExactPlanar::new().resolve(&block).unwrap();
    for piece in block.pieces() {
        assert_eq!(piece.dimension(), 1);
        // 0.7 · 0.3 of the speed of the fall (spec 9.3)
        assert!((piece.measure().unwrap() - 0.21 * 0.442_944_691_807_002).abs() < 1e-13);
    }
    let wall = problem("box_wall", "box_wall");
    let wall = ExactPlanar::new().resolve(&wall).unwrap();
    let [piece] = wall.pieces() else {
        panic!("{wall:?}")
    };
    let v: Vec<DVector<f64>> = piece.vertices().map(DVector::from_column_slice).collect();
    let (a, b) = (&v[1] - &v[0], &v[2] - &v[0]);
    let area = 0.5 * (a.norm_squared() * b.norm_squared() - a.dot(&b).powi(2)).sqrt();
    assert!((piece.measure().unwrap() - area).abs() < 1e-14);
    assert_eq!((piece.dimension(), piece.facets().unwrap().len()), (2, 3));
}

/// Spec 9.3: two contacts without friction, by hand.
pub(crate) fn frictionless_ends(a: f64, b: f64, c: f64, p: f64, q: f64) -> Vec<[[f64; 2]; 2]> {
    let origin = [0.0, 0.0];
    if c <= 0.0 {
        return vec![[origin, origin]];
    }
    let first = c / b * (q - c / a * p);
    let second = c / a * (p - c / b * q);
    if p < c / b * q {
        vec![[[c / b * q - p, 0.0], [first, 0.0]]]
    } else if q < c / a * p {
        vec![[[0.0, c / a * p - q], [0.0, second]]]
    } else {
        vec![[origin, [first, 0.0]], [origin, [0.0, second]]]
    }
}

#[test]
fn two_contacts_without_friction_have_the_ends_of_the_closed_form() {
    let mut random = SplitMix64(7);
    for _ in 0..200 {
        let jacobian = DMatrix::from_fn(4, 5, |_, _| random.between(-1.0, 1.0));
        let delassus = &jacobian * jacobian.transpose();
        let (p, q) = (random.between(0.1, 1.0), random.between(0.1, 1.0));
        let speeds = dvector![-p, -q, random.between(-1.0, 1.0), random.between(-1.0, 1.0)];
        let (a, b, c) = (delassus[(0, 0)], delassus[(1, 1)], delassus[(0, 1)]);
        let problem = ImpactProblem::with_tangents(delassus, speeds, &[0.0; 2]).unwrap();
        let set = ExactPlanar::new().resolve(&problem).unwrap();
        assert!(set.is_closed());
        let expected = frictionless_ends(a, b, c, p, q);
        for end in expected.iter().flatten() {
            let near = |v: &[f64]| far(&v[..2], end) < 1e-12;
            let vertices = || set.pieces().iter().flat_map(|piece| piece.vertices());
            assert!(vertices().any(near), "{end:?} {:?}", set.pieces());
            assert!(vertices().all(|v| {
                expected
                    .iter()
                    .flatten()
                    .any(|end| far(&v[..2], end) < 1e-12)
            }));
        }
    }
}

#[test]
fn velocities_without_an_impact_are_returned_unchanged() {
    let delassus = DMatrix::identity(4, 4);
    let speeds = dvector![0.0, 1.0, -0.5, 0.25];
    let problem = ImpactProblem::with_tangents(delassus, speeds.clone(), &[0.5; 2]).unwrap();
    let set = ExactPlanar::new().resolve(&problem).unwrap();
    assert!(set.is_closed() && set.pieces().len() == 1);
    assert_eq!(
        set.pieces()[0].vertices().collect::<Vec<_>>(),
        [speeds.as_slice()]
    );
    assert_eq!(set.distance(speeds.as_slice()), 0.0);
    assert!(set.distance(&[0.0]).is_nan());
}

/// A rod whose end slides with more friction than it bears: without an approach the impact is
/// nothing or a stop (spec 7.2, impulse (0.3, 0.4)).
#[test]
fn a_forced_impact_starts_without_a_collision() {
    let delassus = dmatrix![1.6, -1.2; -1.2, 3.4];
    let problem = ImpactProblem::with_tangents(delassus, dvector![0.0, -1.0], &[2.0]).unwrap();
    let set = ExactPlanar::new().forced().resolve(&problem).unwrap();
    assert!(set.is_closed());
    let vertices: Vec<&[f64]> = set.pieces().iter().flat_map(|p| p.vertices()).collect();
    assert_eq!(vertices.len(), 2, "{vertices:?}");
    for end in [[0.0, -1.0], [0.0, 0.0]] {
        assert!(
            vertices.iter().any(|v| far(v, &end) < 1e-14),
            "{vertices:?}"
        );
    }
}

#[test]
fn a_cap_is_reported_and_bad_problems_are_refused() {
    let problem = problem("rocking_block", "rocking_block");
    let set = ExactPlanar::new().cap(2).resolve(&problem).unwrap();
    assert!(!set.is_closed() && set.effort() == 2);
    let normals = ImpactProblem::new(dmatrix![1.0], dvector![-1.0]).unwrap();
    let refused = ExactPlanar::new()
        .resolve(&normals)
        .unwrap_err()
        .to_string();
    assert!(refused.contains("tangents"), "{refused}");
    let many = DMatrix::identity(12, 12);
    let many = ImpactProblem::with_tangents(many, DVector::from_element(12, -1.0), &[0.1; 6]);
    let refused = ExactPlanar::new()
        .resolve(&many.unwrap())
        .unwrap_err()
        .to_string();
    assert!(refused.contains("up to 5 contacts"), "{refused}");
}

/// The block with its contacts at `±a` from the middle.
fn block(a: f64, velocity: &DVector<f64>) -> ImpactProblem {
    let mass = DMatrix::from_diagonal(&dvector![1.0, 1.0, 5.0 / 12.0]);
    let rows = dmatrix![
        0.0, 1.0, -a;
        0.0, 1.0, a;
        1.0, 0.0, 1.0;
        1.0, 0.0, 1.0];
    ImpactProblem::from_mechanics_with_tangents(&mass, &rows, velocity, &[0.0; 2]).unwrap()
}

/// The contacts of the block 4e-7 apart have speeds of their own: one approaches, one separates.
#[test]
fn contacts_that_nearly_coincide_keep_their_speeds() {
    for a in [2e-7, 1e-9] {
        let (down, turn) = (-0.25 * a, 1.0);
        let problem = block(a, &dvector![0.0, down, turn]);
        let set = ExactPlanar::new().resolve(&problem).unwrap();
        assert!(set.is_closed());
        // the first contact stops, the second gains what the first does, but for a² of it
        let second = 2.0 * a;
        let expected = [0.0, second, turn, turn];
        assert!(!set.pieces().is_empty());
        for vertex in set.pieces().iter().flat_map(|piece| piece.vertices()) {
            let off = far(vertex, &expected);
            assert!(off < 3.0 * a * a + 1e-15, "{a:e}: {off:e} {vertex:?}");
        }
    }
}

#[test]
fn speeds_of_no_motion_are_refused() {
    let rank_three = problem("rocking_block", "rocking_block").delassus().clone();
    let speeds = dvector![-1.0, -1.0, 0.2, -0.3];
    let problem = ImpactProblem::with_tangents(rank_three, speeds, &[1.0; 2]).unwrap();
    let refused = ExactPlanar::new().resolve(&problem);
    let Err(ImpactFailure::Input(InputError::InconsistentSpeeds { set, by })) = refused else {
        panic!("{refused:?}")
    };
    assert_eq!(set, [0, 1]);
    assert!((by - 0.5 / 3.4f64.sqrt()).abs() < 1e-12, "{by}");
}

#[test]
fn a_velocity_without_an_impact_keeps_its_bits() {
    for velocity in [dvector![0.3, 0.7, 0.1], dvector![-0.1, 1.0 / 3.0, 0.2]] {
        let problem = block(0.5, &velocity);
        let set = ExactPlanar::new().resolve(&problem).unwrap();
        let vertices: Vec<&[f64]> = set.pieces().iter().flat_map(|p| p.vertices()).collect();
        assert_eq!(vertices, [problem.speeds().as_slice()]);
    }
}

/// Two contacts alternate without end: each round turns the slip again and adds vertices. The set is
/// not closed, and what is found of it is nearly all.
#[test]
fn a_set_with_vertices_without_end_is_not_closed() {
    let delassus = dmatrix![
        1.1356, -0.6157, -0.7016, -0.4102;
        -0.6157, 0.6382, 0.1206, 0.0725;
        -0.7016, 0.1206, 1.2122, 0.6798;
        -0.4102, 0.0725, 0.6798, 0.9161];
    let speeds = dvector![0.0585, -0.8253, 0.2352, 0.0009];
    let problem = ImpactProblem::with_tangents(delassus, speeds, &[0.7234, 1.1102]).unwrap();
    let mut bounds: Vec<(f64, f64)> = Vec::new();
    for cap in [20, 40, 60] {
        let set = ExactPlanar::new().cap(cap).resolve(&problem).unwrap();
        assert!(!set.is_closed() && set.effort() == cap);
        // more effort finds no less
        for (few, many) in bounds.iter().zip(set.bounds()) {
            assert!(many.0 <= few.0 + 1e-11 && many.1 >= few.1 - 1e-11, "{cap}");
        }
        bounds = set.bounds();
    }
    let set = ExactPlanar::new().cap(60).resolve(&problem).unwrap();
    let settings = EventExact::new(1.0).most_legs(100);
    let (finished, worst) = samples_outside(&problem, &set, settings, 300);
    assert!(finished > 290 && worst < 1e-11, "{finished} {worst:e}");
}

/// A corner that approaches by rounding beside one that does in earnest: all outcomes were lost, and
/// the set said that it was whole. It has them, or says that it does not.
#[test]
fn a_set_without_outcomes_is_not_closed() {
    let block = RockingBlock {
        width: 0.4,
        height: 0.2,
        friction: 0.5,
        ..RockingBlock::default()
    };
    let v = [1.0668844342880324, -1.430019572218873, -7.150097861094429];
    for tilt in [0.0, 1e-16, 1e-14, 3e-14, 1e-13, 3e-13, 1e-12, 1e-10] {
        let listed = ContactSet::Listed(&[0, 1]);
        let problem = ImpactProblem::of_system(&block, &[0.0, 0.1, tilt], &v, listed).unwrap();
        let set = ExactPlanar::new().resolve(&problem).unwrap();
        assert_eq!(set.pieces().is_empty(), !set.is_closed(), "{tilt:e}");
        if let Some(unclosed) = set.unclosed() {
            assert!(unclosed.is_lost && unclosed.to_string().contains("rounding"));
        }
    }
}
