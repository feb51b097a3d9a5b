//! Guards that read only the time: all displacements meet them at one time, so that their rows of
//! the state are zero.

use saltation::derivative::Verdict;
use saltation::nalgebra::DVector;
use saltation::{Direction, EventFunction, Flow, Guard, Integrator, Mode, Start, Watch, flow_fn};

use crate::fixtures::support::{off, times};
use crate::sketch::Sketch;

/// Guards 0 and 1 are met by the two coordinates at t = 1, guard 2 by the clock at the same time.
/// Each adds a jump to the third state; that of guard 0 is larger once the clock has struck, if
/// they are `coupled`.
fn clock(coupled: bool) -> impl Flow + EventFunction {
    flow_fn(3, move |_, _, mode: &Mode, dx| {
        dx.copy_from_slice(&[1.0, 2.0, 0.25]);
        for (k, jump) in [0.5, -1.0, 2.0].into_iter().enumerate() {
            if mode.contains(k) {
                dx[2] += jump;
            }
        }
        if coupled && mode.contains(0) && mode.contains(2) {
            dx[2] += 4.0;
        }
    })
    .with_events(3, |k, t, x| match k {
        0 => x[0] - 1.0,
        1 => x[1] - 2.0,
        _ => t - 1.0,
    })
}

#[test]
fn a_corner_with_a_clock_has_a_derivative() {
    for coupled in [false, true] {
        let mut integrator = Integrator::new(clock(coupled)).unwrap();
        let d = integrator
            .derivative(&Start::at(0.0).x(&[0.0; 3]), 2.0)
            .unwrap();
        let verdict = if coupled {
            Verdict::Bouligand
        } else {
            Verdict::Classical
        };
        assert_eq!(*d.verdict(), verdict);
        for v in [[1.0f64, 0.5, 0.0], [-1.0, 2.0, 0.5], [0.25, -1.0, 1.0]] {
            // Guard k is met at 1 − v_k / rate.
            let early = 0.5 * v[0] - 0.5 * v[1];
            let late = if coupled { 4.0 * v[0].min(0.0) } else { 0.0 };
            let expected = [v[0], v[1], v[2] + early + late];
            assert!(off(&d.apply(&v).unwrap(), &expected) < 1e-9, "{v:?}");
        }
        let pieces = d.pieces().unwrap();
        assert_eq!(pieces.len(), 1 + usize::from(coupled));
        for v in [[1.0, 0.5, 0.0], [-1.0, 2.0, 0.5]] {
            let holding: Vec<_> = pieces.iter().filter(|piece| piece.contains(&v)).collect();
            assert_eq!(holding.len(), 1);
            let b = d.apply(&v).unwrap();
            assert!(off(&times(&holding[0].matrix, &v), &b) < 1e-12);
        }
    }
}

#[test]
fn clocks_alone_are_met_at_once_by_all() {
    for resets in [false, true] {
        let clocks = Sketch::new(2, |_, _, mode, dx| {
            dx.copy_from_slice(&[1.0, mode.ones().count() as f64]);
        })
        .events([Watch::RISING; 3], |_, t, _, _| t - 0.5)
        .gradient(|_, _, _, _, row| {
            row.fill(0.0);
            Some(1.0)
        })
        .reset(move |_, crossed, x, _| {
            if resets {
                x[1] += crossed.guards().len() as f64 * 0.5;
            }
            Ok(())
        });
        let mut integrator = Integrator::new(&clocks).unwrap();
        let d = integrator
            .derivative(&Start::at(0.0).x(&[0.0; 2]), 1.0)
            .unwrap();
        assert_eq!(*d.verdict(), Verdict::Classical, "{}", d.verdict());
        let found = d.apply(&[1.0, -2.0]).unwrap();
        assert!((found - DVector::from_vec(vec![1.0, -2.0])).amax() < 1e-9);
        assert_eq!(d.pieces().unwrap().len(), 1);
        assert!(d.event_time_shift(1, &[1.0, 1.0]).unwrap().abs() < 1e-15);
        let guards = d.corners().next().unwrap().guards();
        let rising = |guard: &Guard| guard.direction == Direction::Rising;
        assert!(guards.len() == 3 && guards.iter().all(rising));
    }
}
