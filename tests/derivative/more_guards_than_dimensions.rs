//! More guards than dimensions: few orders are taken, and only those are pieces.

use saltation::Start;
use saltation::derivative::Verdict;
use saltation::nalgebra::DMatrix;

use crate::fixtures::draw::Draw;
use crate::fixtures::exact::Oracle;
use crate::fixtures::kit::{Course, Stop};
use crate::fixtures::support::{integrator, off, times};
use crate::pieces::pieces_cover;

#[test]
fn crowded_corners_have_no_wrong_direction() {
    for (n, dim) in [(3, 2), (5, 2), (8, 2), (4, 3), (6, 3), (8, 3), (8, 5)] {
        let mut draw = Draw(100 * n as u64 + dim as u64);
        for corner in 0..60 {
            let course = Course::crowded(n, dim, &mut draw);
            let oracle = Oracle::new(&course);
            let directions = DMatrix::from_vec(dim, 3, draw.direction(3 * dim));
            let found = integrator(&course)
                .derivative_along(&Start::at(0.0).x(&course.start), course.end, &directions)
                .unwrap();
            for (v, b) in directions.column_iter().zip(found.column_iter()) {
                let exact = oracle.along(v.as_slice());
                assert!(off(b, &exact.state) < 1e-9, "corner {corner} of {n}");
            }
        }
    }
}

#[test]
fn lines_through_a_point_of_the_plane_are_passed_on_two_sides() {
    let mut draw = Draw(6000);
    for n in [2, 3, 4, 5, 6] {
        for _ in 0..10 {
            let course = Course::crowded(n, 2, &mut draw);
            let mut integrator = integrator(&course);
            let d = integrator
                .derivative(&Start::at(0.0).x(&course.start), course.end)
                .unwrap();
            assert_eq!(*d.verdict(), Verdict::Bouligand);
            // Only what is across the flow counts, and that is a line with two sides.
            assert_eq!(pieces_cover(&course, &d, 20, &mut draw), 2);
        }
    }
}

#[test]
fn every_direction_through_a_crowded_corner_is_in_one_piece() {
    let mut draw = Draw(6001);
    for (n, dim, corners) in [(4, 3, 20), (5, 3, 10), (5, 4, 4), (6, 3, 4), (6, 4, 1)] {
        let part = if cfg!(debug_assertions) { 4 } else { 1 };
        for _ in 0..corners / part {
            let course = Course::crowded(n, dim, &mut draw);
            let mut integrator = integrator(&course);
            let d = integrator
                .derivative(&Start::at(0.0).x(&course.start), course.end)
                .unwrap();
            let cones = pieces_cover(&course, &d, 40, &mut draw);
            assert!(cones > 2 && cones < (1..=n).product());
        }
    }
}

#[test]
fn two_guards_on_one_plane_are_met_in_any_order() {
    // Guard 2 is guard 0 in other units: all directions meet both at once, so that either order is
    // as good.
    let mut draw = Draw(6002);
    for _ in 0..20 {
        let two = Course::through(&[2], 3, &mut draw);
        let normals = DMatrix::from_fn(3, 3, |k, i| match k {
            2 => 4.0 * two.normals[(0, i)],
            _ => two.normals[(k, i)],
        });
        let fields = DMatrix::from_fn(3, 8, |i, word| {
            // The words in which they differ belong to no cell; the field there must only move
            // toward the guards.
            let toward = two.fields[(i, word & 3)];
            if word >> 2 == word & 1 {
                toward
            } else {
                2.0 * toward
            }
        });
        let stop = Stop {
            t: 0.25,
            guards: vec![0, 1, 2],
        };
        let course = Course::lay(normals, fields, &[0.5, -0.25, 0.125], vec![stop]);
        let oracle = Oracle::new(&course);
        let mut integrator = integrator(&course);
        let d = integrator
            .derivative(&Start::at(0.0).x(&course.start), course.end)
            .unwrap();
        let pieces = d.pieces().unwrap();
        assert_eq!(pieces.len(), 2, "before and behind guard 1");
        for _ in 0..20 {
            let v = draw.direction(3);
            let exact = oracle.along(&v);
            let holding: Vec<_> = pieces.iter().filter(|piece| piece.contains(&v)).collect();
            assert_eq!(holding.len(), 1);
            assert!(off(&times(&holding[0].matrix, &v), &exact.state) < 1e-9);
            assert!(off(&d.apply(&v).unwrap(), &exact.state) < 1e-9);
            assert!((exact.shifts[0] - exact.shifts[2]).abs() < 1e-15);
        }
    }
}
