//! Random corners, two directions each: none goes wrong. Ten thousand in release, else a quarter.

use saltation::Start;
use saltation::nalgebra::DMatrix;

use crate::fixtures::draw::Draw;
use crate::fixtures::exact::Oracle;
use crate::fixtures::kit::Course;
use crate::fixtures::support::{integrator, off};

/// Half of the corners are in as many dimensions as they have guards, the others in up to three
/// more.
fn corners_of(n: usize, corners: usize) {
    let mut draw = Draw(n as u64);
    let part = if cfg!(debug_assertions) { 4 } else { 1 };
    for corner in 0..corners / part {
        let dim = n + [0, 1, 0, 2, 0, 3][corner % 6];
        let course = Course::through(&[n], dim, &mut draw);
        let oracle = Oracle::new(&course);
        let directions = DMatrix::from_vec(dim, 2, draw.direction(2 * dim));
        let found = integrator(&course)
            .derivative_along(&Start::at(0.0).x(&course.start), course.end, &directions)
            .unwrap();
        for (v, b) in directions.column_iter().zip(found.column_iter()) {
            let exact = oracle.along(v.as_slice());
            let error = off(b, &exact.state);
            let order = &exact.orders[0];
            assert!(error < 1e-9, "corner {corner}, order {order:?}: {error:e}");
        }
    }
}

#[test]
fn random_corners_of_two_guards() {
    corners_of(2, 1600);
}

#[test]
fn random_corners_of_three_guards() {
    corners_of(3, 1600);
}

#[test]
fn random_corners_of_four_guards() {
    corners_of(4, 1600);
}

#[test]
fn random_corners_of_five_guards() {
    corners_of(5, 1600);
}

#[test]
fn random_corners_of_six_guards() {
    corners_of(6, 1600);
}

#[test]
fn random_corners_of_seven_guards() {
    corners_of(7, 1200);
}

#[test]
fn random_corners_of_eight_guards() {
    corners_of(8, 800);
}
