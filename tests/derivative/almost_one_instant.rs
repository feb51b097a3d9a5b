//! Guards that are met almost at once: one corner up to the corner tolerance, single crossings
//! beyond.

use saltation::derivative::Verdict;
use saltation::models::Affine;
use saltation::nalgebra::DMatrix;
use saltation::{Guard, Integrator, Start, Watch};

use crate::fixtures::exact::Oracle;
use crate::fixtures::kit::{Course, Stop};
use crate::fixtures::support::{corner, integrator, matrix_of, off, times};
use crate::sketch::Sketch;

#[test]
fn guards_within_the_tolerance_are_one_corner() {
    for n in [2, 3, 4, 8] {
        for seed in 0..20 {
            let (tight, mut draw) = corner(n, n + seed % 2, 7000 + 100 * n + seed);
            // At most 7 · 2^−37 s = 5e-11 s apart.
            let course = tight.spaced(&draw.permutation(n), 2f64.powi(-37));
            let oracle = Oracle::new(&tight);
            let mut integrator = integrator(&course);
            let d = integrator
                .derivative(&Start::at(0.0).x(&course.start), course.end)
                .unwrap();
            assert_eq!(*d.verdict(), Verdict::Bouligand);
            let sizes: Vec<usize> = d.corners().map(|c| c.guards().len()).collect();
            assert_eq!(sizes, [n]);
            for _ in 0..3 {
                let v = draw.direction(course.dim());
                let exact = oracle.along(&v);
                // The maps of constant fields do not depend on where the guards are: nothing is
                // lost by taking them as one.
                assert!(off(&d.apply(&v).unwrap(), &exact.state) < 1e-9);
                for (index, crossing) in d.run().crossings().iter().enumerate() {
                    let shift = d.event_time_shift(index, &v).unwrap();
                    let expected = exact.shifts[crossing.guard.event];
                    assert!((shift - expected).abs() < 1e-9 * expected.abs().max(1.0));
                }
            }
        }
    }
}

#[test]
fn a_corner_nearly_met_has_nearly_the_derivative_of_the_corner() {
    let affine = || {
        Integrator::new(Affine::coupled())
            .unwrap()
            .rtol(1e-12)
            .atol(1e-12)
    };
    let mut at = affine();
    let at = at
        .derivative(&Start::at(0.0).x(&Affine::CORNER_START), 0.25)
        .unwrap();
    for miss in [
        [1e-10, 0.0, 0.0],
        [-5e-11, 5e-11, 0.0],
        [0.0, -3e-11, 7e-11],
    ] {
        let start = [0, 1, 2].map(|i| Affine::CORNER_START[i] + miss[i]);
        let mut near = affine();
        let near = near.derivative(&Start::at(0.0).x(&start), 0.25).unwrap();
        assert_eq!(near.corners().map(|c| c.guards().len()).sum::<usize>(), 3);
        for v in [[-0.1, 0.2, 0.7], [0.9, -0.2, -0.9], [-0.8, -0.4, -0.6]] {
            let [at, near] = [&at, &near].map(|d| d.apply(&v).unwrap());
            // 1e-10 s in modes whose matrices have norms up to 10, and as much again by the guards
            // taken as one.
            assert!(off(&near, &at) < 1e-8);
        }
    }
}

/// z moves only between the two guards, and comes to rest behind them:
/// `B(v) = (v_x, v_y, v_z + |v_x − v_y|)`.
fn moves_only_within() -> Course {
    let fields = DMatrix::from_fn(3, 4, |i, word| match (i, word) {
        (2, 0b01 | 0b10) => 1.0,
        (2, _) => 0.0,
        _ => 1.0,
    });
    let stop = Stop {
        t: 0.25,
        guards: vec![0, 1],
    };
    Course::lay(DMatrix::identity(2, 3), fields, &[0.0; 3], vec![stop])
}

// A run that meets the guards of a corner one after the other has moved on when it comes out. How
// far is told by the fields that it found on its way, not by the one behind the corner: that one
// may be at rest.
#[test]
fn a_corner_may_come_to_rest_behind_guards_that_are_almost_met_at_once() {
    for gap in [0.0, 2f64.powi(-37), 2f64.powi(-31)] {
        let course = moves_only_within().spaced(&[1, 0], gap);
        let mut integrator = integrator(&course);
        let d = integrator
            .derivative(&Start::at(0.0).x(&course.start), course.end)
            .unwrap();
        assert_eq!(*d.verdict(), Verdict::Bouligand, "{gap:e} s");
        let b = d.apply(&[0.5, -0.25, 0.125]).unwrap();
        assert!(off(&b, &[0.5, -0.25, 0.875]) < 1e-12, "{gap:e} s");
        let b = d.apply_backward(&[0.5, -0.25, 0.125]).unwrap();
        assert!(off(&b, &[0.5, -0.25, -0.625]) < 1e-12, "{gap:e} s");
        let carried = integrator
            .derivative_along(
                &Start::at(0.0).x(&course.start),
                course.end,
                &DMatrix::identity(3, 2),
            )
            .unwrap();
        let expected = [1.0, 0.0, 1.0, 0.0, 1.0, 1.0];
        assert!(off(&carried, &expected) < 1e-12, "{gap:e} s");
    }
}

// Parallel guards have no point in common. One that is still ahead is not moved off by the reset of
// another because it takes longer to reach in the mode behind.
#[test]
fn resets_of_parallel_guards_that_are_met_almost_at_once_are_one_corner() {
    let slow = [true, false, true];
    let system = Sketch::new(2, move |_, _, mode, dx| {
        let is_slow = (0..3).all(|k| mode.contains(k) == slow[k]);
        dx.copy_from_slice(&[if is_slow { 0.05 } else { 1.0 }, 0.0]);
    })
    .events([Watch::RISING; 3], |k, _, x, _| {
        x[0] - 1.0 - 4e-10 * k as f64
    })
    .reset(|_, crossed, x, _| {
        for c in crossed.guards() {
            x[1] += 1.0 + c.guard.event as f64;
        }
        Ok(())
    });
    let mut integrator = Integrator::new(&system).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[0.0, 0.0]), 2.0)
        .unwrap();
    assert_eq!(*d.verdict(), Verdict::Classical);
    let sizes: Vec<usize> = d.corners().map(|c| c.guards().len()).collect();
    assert_eq!(sizes, [3]);
    // The speed is the same behind as before, and nothing else sees the state.
    assert!(off(&d.matrix().unwrap(), &DMatrix::<f64>::identity(2, 2)) < 1e-8);
    let carried = integrator
        .derivative_along(
            &Start::at(0.0).x(&[0.0, 0.0]),
            2.0,
            &DMatrix::identity(2, 2),
        )
        .unwrap();
    assert!(off(&carried, &DMatrix::<f64>::identity(2, 2)) < 1e-8);
}

#[test]
fn guards_a_millisecond_apart_are_single_crossings() {
    for n in [2, 3, 4] {
        for seed in 0..10 {
            let (tight, mut draw) = corner(n, n + seed % 2, 8000 + 100 * n + seed);
            let order = draw.permutation(n);
            let course = tight.spaced(&order, 2f64.powi(-10));
            let mut integrator = integrator(&course);
            let d = integrator
                .derivative(&Start::at(0.0).x(&course.start), course.end)
                .unwrap();
            assert_eq!(*d.verdict(), Verdict::Classical);
            assert_eq!(d.corners().count(), 0);
            let matrix = d.matrix().unwrap();
            assert!(off(&matrix, &matrix_of(&course, 30)) < 1e-9);
            let v = draw.direction(course.dim());
            let forward = d.apply(&v).unwrap();
            assert!(off(&forward, &times(&matrix, &v)) < 1e-11);
            assert!(off(&d.apply_backward(&v).unwrap(), &forward) < 1e-12);
            let pieces = d.pieces().unwrap();
            assert_eq!(pieces.len(), 1);
            assert!(off(&pieces[0].matrix, &matrix) < 1e-12);

            // The piece of the corner that has this order, since constant fields do not change with
            // the place.
            let mut integrator = crate::fixtures::support::integrator(&tight);
            let d = integrator
                .derivative(&Start::at(0.0).x(&tight.start), tight.end)
                .unwrap();
            let guards: Vec<Guard> = order.into_iter().map(Guard::rising).collect();
            let pieces = d.pieces().unwrap();
            let piece = pieces
                .iter()
                .find(|piece| piece.cones.iter().any(|cone| cone.orders[0] == guards));
            assert!(off(&piece.unwrap().matrix, &matrix) < 1e-9);
        }
    }
}

#[test]
fn the_corner_tolerance_decides() {
    for seed in 0..20 {
        let (tight, mut draw) = corner(3, 3, 9000 + seed);
        // 3.7e-9 s apart, and 3.9 ms.
        for (gap, step) in [(2f64.powi(-28), 44), (2f64.powi(-8), 30)] {
            let course = tight.spaced(&draw.permutation(3), gap);
            let v = draw.direction(3);
            let mut apart = integrator(&course).corner_tolerance(0.5 * gap);
            let d = apart
                .derivative(&Start::at(0.0).x(&course.start), course.end)
                .unwrap();
            assert_eq!(*d.verdict(), Verdict::Classical);
            let matrix = d.matrix().unwrap();
            assert!(off(&matrix, &matrix_of(&course, step)) < 1e-9);

            let mut together = integrator(&course).corner_tolerance(2.5 * gap);
            let d = together
                .derivative(&Start::at(0.0).x(&course.start), course.end)
                .unwrap();
            assert_eq!(*d.verdict(), Verdict::Bouligand);
            let exact = Oracle::new(&tight).along(&v);
            assert!(off(&d.apply(&v).unwrap(), &exact.state) < 1e-9);

            // The third is two gaps from the first: it is the first that counts.
            let mut part = integrator(&course).corner_tolerance(1.5 * gap);
            let d = part
                .derivative(&Start::at(0.0).x(&course.start), course.end)
                .unwrap();
            assert_eq!(
                d.corners().map(|c| c.guards().len()).collect::<Vec<_>>(),
                [2]
            );
        }
    }
}
