//! The oracle against corners done by hand, and against itself.

use saltation::nalgebra::DMatrix;

use crate::fixtures::draw::Draw;
use crate::fixtures::exact::{Oracle, STEP};
use crate::fixtures::kit::{Course, Stop};
use crate::fixtures::support::off;

/// The field of spec 7.2 at the origin; the guards are the axes, upward.
fn spec_corner() -> Course {
    let fields = DMatrix::from_fn(3, 8, |i, word| {
        let p = |k: usize| f64::from(u8::from(word >> k & 1 == 1));
        match i {
            0 => 1.0 + p(1) / 4.0 + p(2) / 8.0,
            1 => 1.0 + p(0) / 2.0 - p(2) / 4.0,
            _ => -1.0 - p(0) / 4.0 + 3.0 * p(1) / 8.0,
        }
    });
    let normals = DMatrix::from_row_slice(3, 3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, -1.0]);
    let stop = Stop {
        t: 0.25,
        guards: vec![0, 1, 2],
    };
    Course::lay(normals, fields, &[0.0; 3], vec![stop])
}

#[test]
fn the_oracle_finds_the_corner_maps_of_the_specification() {
    // Spec 7.2: order, map, and a direction that takes this order.
    let maps = [
        (
            [0, 1, 2],
            [
                [185.0 / 168.0, 11.0 / 84.0, -1.0 / 7.0],
                [13.0 / 28.0, 15.0 / 14.0, 2.0 / 7.0],
                [-1.0 / 8.0, 1.0 / 4.0, 1.0],
            ],
        ),
        (
            [0, 2, 1],
            [
                [223.0 / 200.0, 1.0 / 5.0, -3.0 / 50.0],
                [9.0 / 20.0, 1.0, 1.0 / 5.0],
                [-23.0 / 200.0, 3.0 / 10.0, 53.0 / 50.0],
            ],
        ),
        (
            [1, 0, 2],
            [
                [36.0 / 35.0, 57.0 / 280.0, -1.0 / 7.0],
                [12.0 / 35.0, 167.0 / 140.0, 2.0 / 7.0],
                [-1.0 / 5.0, 13.0 / 40.0, 1.0],
            ],
        ),
        (
            [1, 2, 0],
            [
                [1.0, 7.0 / 40.0, -1.0 / 5.0],
                [4.0 / 11.0, 267.0 / 220.0, 18.0 / 55.0],
                [-2.0 / 11.0, 151.0 / 440.0, 57.0 / 55.0],
            ],
        ),
        (
            [2, 0, 1],
            [
                [49.0 / 45.0, 1.0 / 5.0, -31.0 / 360.0],
                [4.0 / 9.0, 1.0, 7.0 / 36.0],
                [-4.0 / 45.0, 3.0 / 10.0, 391.0 / 360.0],
            ],
        ),
        (
            [2, 1, 0],
            [
                [1.0, 1.0 / 3.0, -1.0 / 24.0],
                [4.0 / 11.0, 37.0 / 33.0, 31.0 / 132.0],
                [-2.0 / 11.0, 29.0 / 66.0, 299.0 / 264.0],
            ],
        ),
    ];
    let oracle = Oracle::new(&spec_corner());
    let (mut draw, mut seen) = (Draw(72), [0; 6]);
    for _ in 0..200 {
        let v = draw.direction(3);
        let exact = oracle.along(&v);
        let which = maps.iter().position(|(order, _)| exact.orders[0] == order);
        let which = which.expect("one of six orders");
        seen[which] += 1;
        let map = maps[which].1;
        let expected = map.map(|row| row.iter().zip(&v).map(|(a, v)| a * v).sum::<f64>());
        assert!(off(&exact.state, &expected) < 1e-14, "{:?}", exact.orders);
    }
    assert!(seen.iter().all(|&count| count > 0), "{seen:?}");
}

#[test]
fn the_oracle_finds_the_time_shifts_of_a_corner_done_by_hand() {
    // Guards x = 0 and y = 0, field (1, 1), then (1/2, 3) behind x and (2, 1/4) behind y, and
    // (1, 2) behind both.
    let fields = DMatrix::from_column_slice(2, 4, &[1.0, 1.0, 0.5, 3.0, 2.0, 0.25, 1.0, 2.0]);
    let stop = Stop {
        t: 0.5,
        guards: vec![0, 1],
    };
    let course = Course::lay(DMatrix::identity(2, 2), fields, &[0.0; 2], vec![stop]);
    let oracle = Oracle::new(&course);
    // x is met at once, y = −s then takes s/3; y at fixed time then lags 2/3 of that.
    let exact = oracle.along(&[0.0, -1.0]);
    assert_eq!(exact.orders, [[0, 1]]);
    assert!(off(&exact.shifts, &[0.0, 1.0 / 3.0]) < 1e-15);
    assert!(off(&exact.state, &[0.5 / 3.0 - 1.0 / 3.0, -2.0 / 3.0]) < 1e-15);
    // y is met s too early, x still is s away and takes s/2.
    let exact = oracle.along(&[0.0, 1.0]);
    assert_eq!(exact.orders, [[1, 0]]);
    assert!(off(&exact.shifts, &[-0.5, -1.0]) < 1e-15);
    assert!(off(&exact.state, &[0.5, 0.125 + 1.0]) < 1e-15);
}

#[test]
fn the_quotient_of_the_oracle_is_the_same_for_every_step() {
    let mut draw = Draw(73);
    for sizes in [&[4][..], &[2, 3], &[1, 2, 1]] {
        let course = Course::through(sizes, 6, &mut draw);
        let oracle = Oracle::new(&course);
        for _ in 0..10 {
            let v = draw.direction(6);
            let exact = oracle.along(&v);
            for step in [STEP - 12, STEP + 8] {
                let other = oracle.along_by(&v, step);
                assert_eq!(other.orders, exact.orders);
                // Two roundings of one rational.
                assert!(off(&other.state, &exact.state) < 1e-15);
                assert!(off(&other.shifts, &exact.shifts) < 1e-15);
            }
        }
    }
}

#[test]
fn the_kit_lays_all_guards_of_a_corner_through_one_point_exactly() {
    let mut draw = Draw(74);
    let mut courses: Vec<Course> = [&[5][..], &[8], &[2, 3], &[1, 3, 2], &[2, 2, 2]]
        .iter()
        .map(|sizes| Course::through(sizes, 8, &mut draw))
        .collect();
    courses.push(Course::crowded(6, 3, &mut draw));
    courses.push(Course::additive(6, 8, &mut draw).0);
    for course in &courses {
        let numbers = draw.permutation(course.guards());
        for course in [course, &course.renumbered(&numbers)] {
            let oracle = Oracle::new(course);
            for stop in &course.stops {
                assert!(stop.guards.iter().all(|&k| oracle.meets_at(k, stop.t)));
            }
        }
    }
}
