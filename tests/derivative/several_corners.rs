//! Several corners in one run: the chain rule, in which each piece of the first meets the pieces of
//! the next.

use saltation::Start;
use saltation::derivative::Verdict;
use saltation::nalgebra::DMatrix;

use crate::fixtures::draw::Draw;
use crate::fixtures::exact::Oracle;
use crate::fixtures::kit::Course;
use crate::fixtures::support::{few_bits, integrator, off, order, times};

/// Sizes of the groups of guards that are met at once.
const COURSES: [&[usize]; 7] = [
    &[2, 2],
    &[2, 3],
    &[3, 2],
    &[1, 2, 1, 2],
    &[3, 3],
    &[2, 2, 2],
    &[1, 1, 1],
];

#[test]
fn directions_are_right_behind_several_corners() {
    let mut draw = Draw(5000);
    for sizes in COURSES {
        let n: usize = sizes.iter().sum();
        for sample in 0..20 {
            let dim = n + sample % 2;
            let course = Course::through(sizes, dim, &mut draw);
            let oracle = Oracle::new(&course);
            let directions = DMatrix::from_vec(dim, 3, draw.direction(3 * dim));
            let mut integrator = integrator(&course);
            let carried = integrator
                .derivative_along(&Start::at(0.0).x(&course.start), course.end, &directions)
                .unwrap();
            let d = integrator
                .derivative(&Start::at(0.0).x(&course.start), course.end)
                .unwrap();
            let sizes_found: Vec<usize> = d.corners().map(|c| c.guards().len()).collect();
            let corners: Vec<usize> = sizes.iter().copied().filter(|&size| size > 1).collect();
            assert_eq!(sizes_found, corners);
            for (v, carried) in directions.column_iter().zip(carried.column_iter()) {
                let v = v.as_slice();
                let exact = oracle.along(v);
                let b = d.apply(v).unwrap();
                assert!(off(&b, &exact.state) < 1e-9, "{sizes:?}");
                assert!(off(carried, &b) < 1e-12);
                assert!(off(&times(&d.matrix_towards(v).unwrap(), v), &b) < 1e-11);
                for (index, crossing) in d.run().crossings().iter().enumerate() {
                    let expected = exact.shifts[crossing.guard.event];
                    let found = d.event_time_shift(index, v).unwrap();
                    // Shifts are of the size of 1: a rate is at least 0.2.
                    let error = (found - expected).abs();
                    assert!(error < 1e-9 * expected.abs().max(1.0), "{error:e}");
                }
            }
        }
    }
}

#[test]
fn pieces_behind_several_corners_are_products() {
    let mut draw = Draw(5001);
    for sizes in [&[2, 2][..], &[2, 3], &[3, 2], &[1, 2, 1, 2], &[2, 2, 2]] {
        let n: usize = sizes.iter().sum();
        let course = Course::through(sizes, n, &mut draw);
        let oracle = Oracle::new(&course);
        let mut integrator = integrator(&course);
        let d = integrator
            .derivative(&Start::at(0.0).x(&course.start), course.end)
            .unwrap();
        assert_eq!(*d.verdict(), Verdict::Bouligand);
        let pieces = d.pieces().unwrap();
        // Any order of one corner can follow any of another when all guards are independent.
        let orders: usize = sizes
            .iter()
            .map(|&size| (1..=size).product::<usize>())
            .product();
        assert_eq!(pieces.iter().map(|p| p.cones.len()).sum::<usize>(), orders);
        let corners: Vec<usize> = (0..sizes.len()).filter(|&c| sizes[c] > 1).collect();
        for _ in 0..40 {
            let v = draw.direction(n);
            let exact = oracle.along(&v);
            let expected: Vec<_> = corners.iter().map(|&c| order(&exact, c)).collect();
            let mut holding = pieces.iter().filter(|piece| piece.contains(&v));
            let piece = holding.next().expect("a piece");
            assert!(holding.next().is_none(), "{sizes:?}: {v:?} in two pieces");
            assert!(piece.cones.iter().any(|cone| cone.orders == expected));
            assert!(off(&times(&piece.matrix, &v), &exact.state) < 1e-9);
        }
        for (i, piece) in pieces.iter().enumerate() {
            for cone in &piece.cones {
                for (j, other) in pieces.iter().enumerate() {
                    assert_eq!(other.contains(cone.sample.as_slice()), i == j);
                }
                let exact = oracle.along(&few_bits(&cone.sample));
                let expected: Vec<_> = corners.iter().map(|&c| order(&exact, c)).collect();
                assert_eq!(cone.orders, expected);
            }
        }
    }
}

#[test]
fn single_crossings_alone_are_classical() {
    let mut draw = Draw(5002);
    for n in 1..=6 {
        let course = Course::through(&vec![1; n], n + 1, &mut draw);
        let mut integrator = integrator(&course);
        let d = integrator
            .derivative(&Start::at(0.0).x(&course.start), course.end)
            .unwrap();
        assert_eq!(*d.verdict(), Verdict::Classical);
        assert_eq!(d.corners().count(), 0);
        let exact = crate::fixtures::support::matrix_of(&course, 40);
        assert!(off(&d.matrix().unwrap(), &exact) < 1e-9);
    }
}
