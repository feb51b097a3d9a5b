//! What a derivative answers about a corner: right, and the same by every way of asking.

use saltation::derivative::{CornerKind, Sensitivities, Verdict};
use saltation::nalgebra::DMatrix;
use saltation::{Crossing, EventFunction, Flow, Integrator, Mode, Start, Stop};

use crate::fixtures::draw::Draw;
use crate::fixtures::exact::Oracle;
use crate::fixtures::kit::Course;
use crate::fixtures::support::{corner, integrator, off, times};

/// Asks everything about a few directions through one corner.
fn ask(course: &Course, draw: &mut Draw) {
    let (n, dim) = (course.guards(), course.dim());
    let oracle = Oracle::new(course);
    let mut integrator = integrator(course);
    let count = 3;
    let directions = DMatrix::from_vec(dim, count, draw.direction(count * dim));
    let mut tangents = Sensitivities::new(dim, count);
    tangents.set(directions.as_slice()).unwrap();
    integrator
        .carry(
            &Start::at(0.0).x(&course.start),
            course.end,
            &mut tangents,
            &mut (),
        )
        .unwrap();
    assert_eq!(*tangents.verdict(), Verdict::Bouligand);

    let d = integrator
        .derivative(&Start::at(0.0).x(&course.start), course.end)
        .unwrap();
    assert_eq!(*d.verdict(), Verdict::Bouligand);
    let corners: Vec<_> = d.corners().collect();
    let [corner] = &corners[..] else {
        panic!("{} corners", corners.len());
    };
    assert!(matches!(corner.kind(), CornerKind::PiecewiseLinear));
    assert!((corner.t() - course.stops[0].t).abs() < 1e-12);
    let mut met: Vec<usize> = corner.guards().iter().map(|guard| guard.event).collect();
    met.sort_unstable();
    assert!(met.into_iter().eq(0..n));

    for (j, v) in directions.column_iter().enumerate() {
        let v = v.as_slice();
        let exact = oracle.along(v);
        let forward = d.apply(v).unwrap();
        assert!(off(&forward, &exact.state) < 1e-9);
        // The same products in another grouping.
        let carried = tangents.columns().unwrap();
        assert!(off(carried.column(j), &forward) < 1e-12);
        let piece = d.matrix_towards(v).unwrap();
        assert!(off(&times(&piece, v), &forward) < 1e-11);

        let turned: Vec<f64> = v.iter().map(|v| -v).collect();
        let behind = oracle.along(&turned).state.into_iter().map(|b| -b);
        let backward = d.apply_backward(v).unwrap();
        assert!(off(&backward, &behind.collect::<Vec<_>>()) < 1e-9);

        let crossings = d.run().crossings();
        assert_eq!(crossings.len(), n);
        let found: Vec<f64> = (0..n)
            .map(|index| d.event_time_shift(index, v).unwrap())
            .collect();
        let expected = crossings.iter().map(|c| exact.shifts[c.guard.event]);
        assert!(off(&found, &expected.collect::<Vec<_>>()) < 1e-9);
    }
}

#[test]
fn all_answers_about_a_corner_agree_with_the_oracle() {
    for (n, corners) in [
        (2, 100),
        (3, 100),
        (4, 60),
        (5, 6),
        (6, 1),
        (7, 40),
        (8, 20),
    ] {
        for seed in 0..corners {
            let dim = n + [0, 1, 0, 3][seed % 4];
            let (course, mut draw) = corner(n, dim, 1000 * n + seed);
            ask(&course, &mut draw);
        }
    }
}

#[test]
fn the_numbers_of_guards_do_not_matter() {
    for (n, corners) in [(2, 40), (3, 40), (4, 40), (6, 20), (8, 20)] {
        for seed in 0..corners {
            let (course, mut draw) = corner(n, n + 1, 2000 * n + seed);
            let other = course.renumbered(&draw.permutation(n));
            let directions = DMatrix::from_vec(n + 1, 3, draw.direction(3 * (n + 1)));
            let [a, b] = [&course, &other].map(|course| {
                integrator(course)
                    .derivative_along(&Start::at(0.0).x(&course.start), course.end, &directions)
                    .unwrap()
            });
            for (a, b) in a.column_iter().zip(b.column_iter()) {
                // The run meets the corner at a time and a state that differ by rounding; the maps
                // do not.
                assert!(off(a, b) < 1e-12, "{n} guards, seed {seed}");
            }
        }
    }
}

#[test]
fn a_direction_along_the_flow_is_carried_along_it() {
    // x0 + s F moves the whole run earlier by s: B(F_before) = F_behind, and every guard is met s
    // earlier.
    for n in 2..=4 {
        for seed in 0..10 {
            let (course, _) = corner(n, n + 1, 3000 + 10 * n + seed);
            let mut integrator = integrator(&course);
            let d = integrator
                .derivative(&Start::at(0.0).x(&course.start), course.end)
                .unwrap();
            let before = course.fields.column(0);
            let behind = course.fields.column((1 << n) - 1);
            let carried = d.apply(before.as_slice()).unwrap();
            assert!(off(&carried, behind) < 1e-12);
            for index in 0..n {
                let shift = d.event_time_shift(index, before.as_slice()).unwrap();
                assert!((shift + 1.0).abs() < 1e-12);
            }
        }
    }
}

/// The same course in other units: state `i` in units `2^−states[i]` as large, guard `k` in units
/// `2^−guards[k]` as large.
fn in_units(course: &Course, states: &[i32], guards: &[i32]) -> Course {
    let mut other = course.clone();
    let power = |powers: &[i32], i: usize| 2f64.powi(powers[i]);
    for i in 0..course.dim() {
        let unit = power(states, i);
        other.start[i] *= unit;
        other.normals.column_mut(i).scale_mut(1.0 / unit);
        other.fields.row_mut(i).scale_mut(unit);
    }
    for k in 0..course.guards() {
        let unit = power(guards, k);
        other.offsets[k] *= unit;
        other.normals.row_mut(k).scale_mut(unit);
    }
    other
}

#[test]
fn units_do_not_matter() {
    // Powers of two change no digit of the data, so that both runs see the same corner. Between
    // units of 1e-8 and 1e8 every direction is right; between units of 1e-3 and 1e3 the pieces are
    // the same too. The units of guards keep their rates above the least rate of 1e-6 of them in a
    // second.
    for (power, lists) in [(10, true), (26, false)] {
        for n in [2, 3, 4] {
            for seed in 0..if cfg!(debug_assertions) { 3 } else { 10 } {
                let (course, mut draw) = corner(n, n + 1, 4000 + 100 * n + seed);
                let states: Vec<i32> = (0..=n).map(|_| draw.whole(-power, power)).collect();
                let guards: Vec<i32> = (0..n).map(|_| draw.whole(-10, power)).collect();
                let other = in_units(&course, &states, &guards);
                let unit = |v: &[f64], sign: i32| -> Vec<f64> {
                    let ends = v.iter().zip(&states);
                    ends.map(|(v, &power)| v * 2f64.powi(sign * power))
                        .collect()
                };
                let mut integrator = integrator(&other);
                let d = integrator
                    .derivative(&Start::at(0.0).x(&other.start), other.end)
                    .unwrap();
                assert_eq!(*d.verdict(), Verdict::Bouligand);
                let oracle = Oracle::new(&course);
                for _ in 0..10 {
                    let v = draw.direction(n + 1);
                    let exact = oracle.along(&v);
                    let there = unit(&v, 1);
                    let b = d.apply(&there).unwrap();
                    assert!(off(&unit(b.as_slice(), -1), &exact.state) < 1e-9);
                    if lists {
                        let pieces = d.pieces().unwrap();
                        let mut holding = pieces.iter().filter(|p| p.contains(&there));
                        let piece = holding.next().expect("a piece");
                        assert!(holding.next().is_none());
                        let b = times(&piece.matrix, &there);
                        assert!(off(&unit(b.as_slice(), -1), &exact.state) < 1e-9);
                    }
                }
            }
        }
    }
}

/// Two guards, and a state that each crossing halves, which the first of them reads: the reset of the second carries
/// the state across the first.
#[derive(Clone, Copy)]
struct Halving;

impl Flow for Halving {
    fn dim(&self) -> usize {
        3
    }
    fn flow(&self, _t: f64, _x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let crossed = mode.ones().map(|k| 1 + k).sum::<usize>();
        dx.copy_from_slice(&[1.0, 1.0, [0.0, -5.0, -3.0, 1.0][crossed]]);
    }
}

impl EventFunction for Halving {
    fn count(&self) -> usize {
        2
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        [x[0] + 0.3 * (0.7 - x[2]), x[1]][k]
    }
    fn ignores_mode(&self) -> bool {
        true
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let count = crossing.crossed.guards().len();
        crossing.x[2] *= 0.5f64.powi(i32::try_from(count).unwrap_or(0));
        Ok(())
    }
}

/// A column takes its own order at a corner where the run was carried across a guard that it was about to meet: the
/// numbers are those of the whole derivative, and of displaced runs.
#[test]
fn columns_meet_guards_first_that_a_reset_of_the_run_crossed() {
    for off in [-1e-10, -1e-13, 0.0, 1e-13, 1e-11, 1e-10] {
        let x = [-0.25, -0.25 + off, 0.7];
        let start = Start::at(0.0).x(&x);
        let integrator = Integrator::new(Halving).expect("a system");
        let mut integrator = integrator.rtol(1e-10).atol(1e-12);
        let directions = DMatrix::identity(3, 3).columns(0, 2).into_owned();
        let mut tangents = Sensitivities::new(3, 2);
        tangents.set(directions.as_slice()).expect("directions");
        integrator
            .carry(&start, 0.6, &mut tangents, &mut ())
            .expect("input");
        assert_eq!(*tangents.verdict(), Verdict::Bouligand, "{off}");
        let columns = tangents.columns().expect("columns").into_owned();
        for (k, last) in [(0, -2.5), (1, 1.0)] {
            assert!((columns[(2, k)] - last).abs() < 1e-8, "{off}: {columns}");
        }
    }
}
