//! The derivative crosses the guards that the run crossed: what resets carry across depends on
//! which guards are armed, on the guard reset matrix, and on the sides that the model set itself.

use saltation::derivative::Verdict;
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{Error, Guard, Integrator, Mode, Rearm, RearmMatrix, Start, Watch};

use crate::sketch::Sketch;

/// Checks a derivative against central differences of runs, which are all of one order, and gives
/// the mode in which the run ends.
fn checked(system: &Sketch, rearm: &Rearm, start: &[f64], tf: f64) -> Mode {
    let integrator = || Integrator::new(system).unwrap().rtol(1e-11).atol(1e-11);
    let mut integrator = integrator().rearm(rearm.clone());
    let d = integrator.derivative(&Start::at(0.0).x(start), tf).unwrap();
    assert_eq!(*d.verdict(), Verdict::Classical, "{rearm:?}");
    let (found, mode) = (d.matrix().unwrap(), d.run().mode().clone());
    let step = 1e-5;
    let columns: Vec<DVector<f64>> = (0..start.len())
        .map(|i| {
            let ends = [step, -step].map(|step| {
                let mut start = start.to_vec();
                start[i] += step;
                let run = integrator.integrate(&Start::at(0.0).x(&start), tf).unwrap();
                assert_eq!(*run.mode(), mode);
                run.state().clone()
            });
            (&ends[0] - &ends[1]) / (2.0 * step)
        })
        .collect();
    let expected = DMatrix::from_columns(&columns);
    // Runs are good to 1e-11, so their differences to 1e-6.
    assert!(
        (&found - &expected).amax() < 1e-5,
        "{rearm:?}: {found} {expected}"
    );
    mode
}

fn sides(mode: &Mode) -> Vec<usize> {
    (0..mode.len()).filter(|&k| mode.contains(k)).collect()
}

/// `(a, b, c)`; c changes at a rate of its own in every mode.
fn drift(x: &[f64], mode: &Mode, dx: &mut [f64]) {
    let word: u32 = (0..mode.len())
        .map(|k| u32::from(mode.contains(k)) << k)
        .sum();
    dx.copy_from_slice(&[1.0 + 0.1 * x[2], 1.0, 0.3 * x[0] + 0.2 * f64::from(word)]);
}

#[test]
fn a_reset_carries_no_guard_back_that_is_not_armed() -> Result<(), Error> {
    // b = 0.2 is crossed once; at a = 1 a reset puts b below 0.2 again, where nothing watches.
    let system = Sketch::new(3, |_, x, mode, dx| drift(x, mode, dx))
        .events([Watch::BOTH; 2], |k, _, x, _| [x[1] - 0.2, x[0] - 1.0][k])
        .reset(|_, crossed, x, _| {
            if crossed.contains(1) {
                x[1] *= 0.1;
            }
            Ok(())
        });
    let start = [0.0, 0.05, 0.3];
    let none = RearmMatrix::new(2);
    let retires = RearmMatrix::new(2).retire(Guard::rising(0), Guard::rising(1))?;
    for rearm in [Rearm::Never, Rearm::Matrix(none)] {
        assert_eq!(sides(&checked(&system, &rearm, &start, 1.5)), [0, 1]);
    }
    // With pairs the way back is a crossing, and so is the next one.
    let mode = checked(&system, &Rearm::Pairs, &start, 1.5);
    assert_eq!(sides(&mode), [0, 1]);
    // Retired by the first crossing, the second guard has no reset.
    let mode = checked(&system, &Rearm::Matrix(retires), &start, 1.5);
    assert_eq!(sides(&mode), [0, 1]);
    Ok(())
}

#[test]
fn guards_carried_across_together_do_not_arm_each_other() -> Result<(), Error> {
    // At a = 1 a kick carries b and c across; the row of each arms the other.
    let system = Sketch::new(3, |_, x, mode, dx| drift(x, mode, dx))
        .events([Watch::RISING; 3], |k, _, x, _| {
            [x[0] - 1.0, x[1] - 1.9, x[2] - 1.4][k]
        })
        .reset(|_, crossed, x, _| {
            if crossed.contains(0) {
                x[1] += 1.0 + 0.1 * x[2];
                x[2] += 1.0;
            }
            Ok(())
        });
    let [b, c] = [1, 2].map(Guard::rising);
    let both = RearmMatrix::new(3).arm(b, c)?.arm(c, b)?;
    let mode = checked(&system, &Rearm::Matrix(both), &[0.0, 0.05, 0.3], 1.5);
    assert_eq!(sides(&mode), [0, 1, 2]);
    Ok(())
}

#[test]
fn a_side_that_the_model_sets_acts_by_its_row() -> Result<(), Error> {
    // c = 0.4 is crossed first, and multiplies c. At a = 1 the model sets side 1, whose row arms c
    // again, beyond its surface: it crosses a second time at that instant.
    let system = Sketch::new(3, |_, x, mode, dx| drift(x, mode, dx))
        .events([Watch::RISING; 3], |k, _, x, _| {
            [x[0] - 1.0, x[1] - 9.0, x[2] - 0.4][k]
        })
        .reset(|_, crossed, x, mode| {
            if crossed.contains(0) {
                mode.set(1, true);
                x[1] += 0.1;
            }
            if crossed.contains(2) {
                x[2] *= 1.5;
            }
            Ok(())
        });
    let row = RearmMatrix::new(3).arm(Guard::rising(1), Guard::rising(2))?;
    let mode = checked(&system, &Rearm::Matrix(row), &[0.0, 0.05, 0.3], 1.5);
    assert_eq!(sides(&mode), [0, 1, 2]);
    Ok(())
}

#[test]
fn a_side_alone_that_the_model_sets_acts_by_its_row() -> Result<(), Error> {
    // As before, by a reset that moves no state, of a system whose event functions read no mode.
    let system = Sketch::new(3, |_, x, mode, dx| drift(x, mode, dx))
        .events([Watch::RISING; 3], |k, _, x, _| {
            [x[0] - 1.0, x[1] - 9.0, x[2] - 0.4][k]
        })
        .ignoring_mode()
        .reset(|_, crossed, x, mode| {
            if crossed.contains(0) {
                mode.set(1, true);
            }
            if crossed.contains(2) {
                x[2] *= 1.5;
            }
            Ok(())
        });
    let row = RearmMatrix::new(3).arm(Guard::rising(1), Guard::rising(2))?;
    let mode = checked(&system, &Rearm::Matrix(row), &[0.0, 0.05, 0.3], 1.5);
    assert_eq!(sides(&mode), [0, 1, 2]);
    Ok(())
}

#[test]
fn what_a_row_retires_is_not_carried_back() -> Result<(), Error> {
    // At a = 1 the row retires b = 1.3, which counts as crossed from then although b is below. At
    // a = 1.2 a kick throws b far down, which would carry it back over a guard that is armed.
    let system = Sketch::new(3, |_, x, mode, dx| drift(x, mode, dx))
        .events([Watch::BOTH; 3], |k, _, x, _| {
            [x[0] - 1.0, x[1] - 1.3, x[0] - 1.2][k]
        })
        .reset(|_, crossed, x, _| {
            if crossed.contains(2) {
                x[1] -= 1.0 + 0.1 * x[2];
            }
            Ok(())
        });
    let row = RearmMatrix::new(3).retire(Guard::rising(0), Guard::rising(1))?;
    let mode = checked(&system, &Rearm::Matrix(row), &[0.0, 0.05, 0.3], 1.5);
    assert_eq!(sides(&mode), [0, 1, 2]);
    Ok(())
}

#[test]
fn a_corner_knows_which_guards_are_armed() -> Result<(), Error> {
    // At a = b = 1 two guards cross at once; the reset of the first throws c back over a guard that
    // was crossed before and is armed only under pairs.
    let system = Sketch::new(3, |_, x, mode, dx| {
        dx.copy_from_slice(&[1.0, 1.0, 0.2]);
        dx[2] += if mode.contains(2) { 0.3 } else { 0.1 };
        dx[0] += 0.1 * x[2];
        dx[1] += 0.1 * x[2];
    })
    .events([Watch::BOTH; 3], |k, _, x, _| {
        [x[0] - 1.0, x[1] - 1.0, x[2] - 0.4][k]
    })
    .reset(|_, crossed, x, _| {
        if crossed.contains(0) {
            x[2] = 0.3 + 0.1 * x[2];
        }
        Ok(())
    });
    for (rearm, crossings) in [(Rearm::Never, 3), (Rearm::Pairs, 5)] {
        let mut integrator = Integrator::new(&system)?.rtol(1e-11).atol(1e-11);
        integrator = integrator.rearm(rearm.clone());
        let d = integrator.derivative(&Start::at(0.0).x(&[0.1, 0.1, 0.35]), 1.5)?;
        assert_eq!(d.run().crossings().len(), crossings, "{rearm:?}");
        assert_eq!(*d.verdict(), Verdict::Classical, "{rearm:?}");
        checked(&system, &rearm, &[0.1, 0.1 - 1e-3, 0.35], 1.5);
    }
    Ok(())
}

#[test]
fn a_corner_of_the_run_is_one_of_its_derivative() -> Result<(), Error> {
    // A ball bounces, both ways reported, and less than the corner tolerance later a clock strikes.
    let (height, fall) = (1.0, (2.0f64 / 9.81).sqrt());
    for late in [0.0, 3e-10] {
        let system = Sketch::new(3, |_, x, mode, dx| {
            let drag = if mode.contains(1) { 0.1 } else { 0.0 };
            dx.copy_from_slice(&[x[1], -9.81 - drag * x[1], 1.0]);
        })
        .events([Watch::BOTH, Watch::RISING], move |k, _, x, _| {
            [x[0], x[2] - fall - late][k]
        })
        .reset(|_, crossed, x, _| {
            if crossed.guards()[0].guard == Guard::falling(0) {
                x[1] *= -0.8;
            }
            Ok(())
        });
        let mut integrator = Integrator::new(&system)?.rtol(1e-12).atol(1e-13);
        let d = integrator.derivative(&Start::at(0.0).x(&[height, 0.0, 0.0]), 0.6)?;
        let corners = d.run().corners();
        assert_eq!((corners.len(), d.corners().count()), (1, 1), "{late}");
        let mut order = corners[0].order.clone();
        let mut guards: Vec<Guard> = d.corners().flat_map(|c| c.guards().to_vec()).collect();
        order.sort_unstable();
        guards.sort_unstable();
        assert_eq!(order, guards, "{late}");
        assert_eq!(order, [Guard::falling(0), Guard::rising(1)], "{late}");
        assert!(corners[0].spread <= 1e-9);
    }
    Ok(())
}
