//! Corners of many guards, up to three hundred: no limit of their own, and what is known of their
//! orders is told.

use saltation::derivative::{Compared, CornerKind, Derivative, Verdict};
use saltation::nalgebra::DMatrix;
use saltation::{Guard, Integrator, Mode, NoDerivative, Start, Watch};

use crate::fixtures::support::{off, times};
use crate::sketch::Sketch;

/// A number in [0, 1) that depends on the sides that are on, and on nothing else.
fn hash(mode: &Mode, salt: u64) -> f64 {
    let mut state = salt.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    for k in mode.ones() {
        let key = (k as u64 + 1).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state ^= (key ^ key >> 29).wrapping_mul(0x94d0_49bb_1331_11eb);
    }
    state = (state ^ state >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((state ^ state >> 31) >> 11) as f64 * 0.5 * f64::EPSILON
}

/// `n` planes through one point of `dim` dimensions, met at t = 1; the field of each mode is its
/// own, and moves towards all.
fn generic(n: usize, dim: usize) -> Sketch {
    let tilt = move |k: usize, i: usize| {
        if i == 0 || dim == n {
            f64::from(u8::from(i == if dim == n { k } else { 0 }))
        } else {
            0.1 * ((k * (i + 3)) as f64).sin()
        }
    };
    Sketch::new(dim, move |_, _, mode, dx| {
        for (i, dx) in dx.iter_mut().enumerate() {
            *dx = 1.0 + 0.5 * hash(mode, i as u64);
        }
    })
    .events_of(n, Watch::RISING, move |k, _, x, mode| {
        let _ = mode;
        (0..x.len()).map(|i| tilt(k, i) * x[i]).sum()
    })
    .gradient(move |k, _, x, _, row| {
        for i in 0..x.len() {
            row[i] = tilt(k, i);
        }
        Some(0.0)
    })
    .ignoring_mode()
}

#[test]
fn generic_corners_of_hundreds_of_guards_have_a_derivative() {
    for (n, dim) in [(30, 30), (90, 90), (120, 4), (300, 3)] {
        let system = generic(n, dim);
        // One second before the corner.
        let mode = Mode::new(n);
        let start: Vec<f64> = (0..dim)
            .map(|i| -1.0 - 0.5 * hash(&mode, i as u64))
            .collect();
        let mut integrator = Integrator::new(&system).unwrap();
        let d = integrator
            .derivative(&Start::at(0.0).x(&start), 2.0)
            .unwrap();
        assert_eq!(*d.verdict(), Verdict::Bouligand, "{n}: {}", d.verdict());
        let corner = d.corners().next().unwrap();
        assert_eq!(corner.guards().len(), n);
        let nominal = d.run().state().clone();
        for direction in 0..3 {
            let v: Vec<f64> = (0..dim)
                .map(|i| ((7 * i + 5 * direction + 1) as f64).sin())
                .collect();
            let b = d.apply(&v).unwrap();
            // The fields are constant: a displaced run is exact, and straight as long as its order
            // stays.
            let s = 1e-6;
            let displaced: Vec<f64> = start.iter().zip(&v).map(|(x, v)| x + s * v).collect();
            let mut other = Integrator::new(&system).unwrap();
            let run = other.integrate(&Start::at(0.0).x(&displaced), 2.0).unwrap();
            let quotient = (run.state() - &nominal) / s;
            assert!(off(&b, &quotient) < 1e-7, "{n}: {:e}", off(&b, &quotient));
            let matrix = d.matrix_towards(&v).unwrap();
            assert!(off(&times(&matrix, &v), &b) < 1e-9);
        }
    }
}

/// `n` guards on the axes, met at t = 1, and two more states: the field jumps at each guard on its
/// own axis and on those two, by amounts of its own; its reset moves one of the two.
fn uncoupled(n: usize, resets: bool) -> (Sketch, DMatrix<f64>) {
    let jump = |k: usize, i: usize| ((3 * k + 5 * i + 1) as f64).sin();
    let system = Sketch::new(n + 2, move |_, _, mode, dx| {
        dx.fill(1.0);
        for k in mode.ones() {
            dx[k] += 0.5 * jump(k, 0);
            dx[n] += jump(k, 1);
            dx[n + 1] += jump(k, 2);
        }
    })
    .events_of(n, Watch::RISING, |k, _, x, _| x[k] - 1.0)
    .reset(move |_, crossed, x, _| {
        for k in crossed.events() {
            if resets {
                x[n] += 0.25 * jump(k, 3);
            }
        }
        Ok(())
    })
    .ignoring_mode();
    // I + Σ jump_k e_kᵀ.
    let map = DMatrix::from_fn(n + 2, n + 2, |i, k| {
        let unit = f64::from(u8::from(i == k));
        unit + match (i, k) {
            (_, k) if k >= n => 0.0,
            (i, k) if i == k => 0.5 * jump(k, 0),
            (i, k) if i == n => jump(k, 1),
            (i, k) if i == n + 1 => jump(k, 2),
            _ => 0.0,
        }
    });
    (system, map)
}

fn compared(d: &Derivative<impl saltation::Flow + saltation::EventFunction>) -> Compared {
    match d.corners().next().unwrap().kind() {
        CornerKind::Linear { compared, .. } => *compared,
        other => panic!("{other:?}"),
    }
}

#[test]
fn uncoupled_guards_have_a_matrix_and_time_rows() {
    for (n, resets, known) in [
        (4, false, Compared::AllOrders),
        (6, true, Compared::AllOrders),
        (7, true, Compared::Pairs),
        (12, false, Compared::AllOrders),
        (12, true, Compared::Pairs),
        (13, false, Compared::Pairs),
        (
            if cfg!(debug_assertions) { 40 } else { 80 },
            false,
            Compared::Pairs,
        ),
    ] {
        let (system, expected) = uncoupled(n, resets);
        let mut integrator = Integrator::new(&system).unwrap();
        let d = integrator
            .derivative(&Start::at(0.0).x(&vec![0.0; n + 2]), 2.0)
            .unwrap();
        assert_eq!(
            *d.verdict(),
            Verdict::Classical,
            "{n} {resets}: {}",
            d.verdict()
        );
        assert_eq!(compared(&d), known, "{n} {resets}");
        // A second behind the corner, each row of the guards' own axes and of the others as it is.
        let matrix = d.matrix().unwrap();
        assert!(
            off(&matrix, &expected) < 1e-8,
            "{n} {resets}: {:e}",
            off(&matrix, &expected)
        );
        let pieces = d.pieces().unwrap();
        assert!(pieces.len() == 1 && pieces[0].cones[0].inequalities.nrows() == 0);
        let v: Vec<f64> = (0..n + 2).map(|i| ((i * i + 1) as f64).cos()).collect();
        assert!(off(&d.apply(&v).unwrap(), &times(&expected, &v)) < 1e-8);
        for (index, crossing) in d.run().crossings().iter().enumerate() {
            let row = d.event_time_row(index).unwrap();
            for (i, entry) in row.iter().enumerate() {
                let own = f64::from(u8::from(i == crossing.guard.event));
                assert!((entry + own).abs() < 1e-8, "{n} {resets}: {row}");
            }
        }
    }
}

#[test]
fn beyond_a_hundred_guards_the_sample_is_named() {
    // All guards on one plane: few states are enough.
    let n = 150;
    let system = Sketch::new(3, move |_, _, mode, dx| {
        dx.copy_from_slice(&[1.0, 0.25, 0.01 * mode.ones().count() as f64]);
    })
    .events_of(n, Watch::RISING, |k, _, x, _| {
        (1.0 + k as f64) * (x[0] - 1.0)
    });
    let mut integrator = Integrator::new(&system).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[0.0; 3]), 2.0)
        .unwrap();
    assert_eq!(*d.verdict(), Verdict::Bouligand);
    assert_eq!(compared(&d), Compared::Sample);
    let refused = d.matrix().unwrap_err();
    assert!(
        matches!(&refused, NoDerivative::OrdersNotCompared { guards, directions: 64, t } if guards.len() == n && (t - 1.0).abs() < 1e-9)
    );
    let text = refused.to_string();
    assert!(
        text.contains("64 directions that were have one map"),
        "{text}"
    );
    assert!(matches!(
        d.event_time_row(3),
        Err(NoDerivative::TimeDependsOnOrder { .. })
    ));
    let piece = d.matrix_towards(&[1.0, 2.0, 3.0]).unwrap();
    let expected = DMatrix::from_row_slice(3, 3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 1.5, 0.0, 1.0]);
    assert!(off(&piece, &expected) < 1e-8);
}

#[test]
fn pairs_that_do_not_commute_are_not_taken_for_a_matrix() {
    // Thirteen guards, of which two feel each other: behind the first the second moves faster and
    // jumps less.
    let n = 13;
    for felt in [0.0, 1e-6, 0.5] {
        let system = Sketch::new(n + 1, move |_, _, mode, dx| {
            dx.fill(1.0);
            if mode.contains(3) && mode.contains(7) {
                dx[n] += felt;
            }
        })
        .events_of(n, Watch::RISING, |k, _, x, _| x[k] - 1.0);
        let mut integrator = Integrator::new(&system).unwrap();
        let d = integrator
            .derivative(&Start::at(0.0).x(&vec![0.0; n + 1]), 2.0)
            .unwrap();
        let is_linear = felt == 0.0;
        assert_eq!(*d.verdict() == Verdict::Classical, is_linear, "{felt}");
        assert_eq!(d.matrix().is_ok(), is_linear);
        // The times of guards are the same in all orders still.
        assert_eq!(d.event_time_row(2).is_ok(), is_linear);
    }
}

#[test]
fn times_of_guards_that_do_not_depend_on_the_order_have_a_row() {
    // Two guards that feel each other in a state of no guard, and one that is met sooner behind the
    // first.
    let system = Sketch::new(4, |_, _, mode, dx| {
        let both = mode.contains(0) && mode.contains(1);
        let fast = if mode.contains(0) { 2.0 } else { 1.0 };
        dx.copy_from_slice(&[1.0, 1.0, fast, if both { 3.0 } else { 0.0 }]);
    })
    .events_of(3, Watch::RISING, |k, _, x, _| x[k] - 1.0);
    let mut integrator = Integrator::new(&system).unwrap();
    let d = integrator
        .derivative(&Start::at(0.0).x(&[0.0; 4]), 2.0)
        .unwrap();
    assert_eq!(*d.verdict(), Verdict::Bouligand);
    for (index, crossing) in d.run().crossings().iter().enumerate() {
        let k = crossing.guard.event;
        let row = d.event_time_row(index);
        if k < 2 {
            let expected: Vec<f64> = (0..4).map(|i| -f64::from(u8::from(i == k))).collect();
            assert!(off(&row.unwrap(), &expected) < 1e-9);
            continue;
        }
        // Before guard 0, −v₂; behind it −(v₀ + v₂)/2.
        let Err(NoDerivative::TimeDependsOnOrder { guard, guards, t }) = row else {
            panic!("{row:?}");
        };
        assert_eq!((guard, guards.len()), (Guard::rising(2), 3));
        assert!((t - 1.0).abs() < 1e-9);
        let shift = d.event_time_shift(index, &[1.0, 0.0, 0.5, 0.0]).unwrap();
        assert!((shift + 0.75).abs() < 1e-9);
    }
}
