//! The list of pieces: every direction in one of them, nothing in two, each order of independent
//! guards once.

use saltation::Start;
use saltation::derivative::{Cone, Derivative};
use saltation::models::FieldTable;

use crate::fixtures::draw::Draw;
use crate::fixtures::exact::Oracle;
use crate::fixtures::kit::Course;
use crate::fixtures::support::{corner, each, few_bits, integrator, off, order, times};

/// Inside a cone, not on its border.
fn is_inside(cone: &Cone, v: &[f64]) -> bool {
    let rows = 0..cone.inequalities.nrows();
    let along = |r: usize| -> f64 {
        let row = cone.inequalities.row(r);
        row.iter().zip(v).map(|(a, v)| a * v).sum()
    };
    rows.into_iter().all(|r| along(r) > 0.0)
}

/// Random directions lie in one piece, which has their derivative and their order; samples lie in
/// their own cone.
pub(crate) fn pieces_cover(
    course: &Course,
    d: &Derivative<FieldTable>,
    directions: usize,
    draw: &mut Draw,
) -> usize {
    let oracle = Oracle::new(course);
    let pieces = d.pieces().unwrap();
    for _ in 0..directions {
        let v = draw.direction(course.dim());
        let exact = oracle.along(&v);
        let holding: Vec<_> = pieces.iter().filter(|piece| piece.contains(&v)).collect();
        let [piece] = &holding[..] else {
            panic!("{v:?} is in {} pieces", holding.len());
        };
        let b = d.apply(&v).unwrap();
        assert!(off(&times(&piece.matrix, &v), &b) < 1e-11);
        assert!(off(&b, &exact.state) < 1e-9);
        let mut cones = piece.cones.iter().filter(|cone| is_inside(cone, &v));
        let cone = cones.next().expect("inside, not on a border");
        assert!(cones.next().is_none(), "cones of a piece do not overlap");
        assert_eq!(cone.orders, [order(&exact, 0)]);
    }
    let cones: Vec<_> = each(&pieces).collect();
    for (i, (piece, cone)) in cones.iter().enumerate() {
        assert!((cone.sample.norm() - 1.0).abs() < 1e-12);
        let sample = cone.sample.as_slice();
        assert!(piece.contains(sample));
        for (j, (_, other)) in cones.iter().enumerate() {
            assert_eq!(is_inside(other, sample), i == j, "sample {i}, cone {j}");
        }
        let v = few_bits(&cone.sample);
        let exact = oracle.along(&v);
        assert_eq!(cone.orders, [order(&exact, 0)]);
        assert!(off(&times(&piece.matrix, &v), &exact.state) < 1e-9);
    }
    cones.len()
}

fn corners_of(n: usize, corners: usize, directions: usize) {
    for seed in 0..corners {
        let dim = n + [0, 1, 3][seed % 3];
        let (course, mut draw) = corner(n, dim, 4000 * n + seed);
        let mut integrator = integrator(&course);
        let d = integrator
            .derivative(&Start::at(0.0).x(&course.start), course.end)
            .unwrap();
        let cones = pieces_cover(&course, &d, directions, &mut draw);
        assert_eq!(cones, (1..=n).product(), "all orders of independent guards");
    }
}

#[test]
fn every_direction_through_two_or_three_guards_is_in_one_piece() {
    corners_of(2, 60, 30);
    corners_of(3, 60, 30);
}

#[test]
fn every_direction_through_four_guards_is_in_one_piece() {
    corners_of(4, 30, 60);
}

#[test]
fn every_direction_through_five_guards_is_in_one_piece() {
    corners_of(5, 3, 100);
}

#[test]
fn every_direction_through_six_guards_is_in_one_piece() {
    corners_of(6, 1, 50);
}
