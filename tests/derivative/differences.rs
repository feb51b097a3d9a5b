//! The derivative of whole runs against differences of whole runs, where nothing is exact.

use saltation::derivative::Verdict;
use saltation::models::{Affine, PlainPlate, PlateParameters, VerticalPlate};
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{EventFunction, Flow, Integrator, Mode, Start, Status, flow_fn};

use crate::fixtures::support::off;

fn tight<S: Flow + EventFunction>(system: S) -> Integrator<S> {
    Integrator::new(system).unwrap().rtol(1e-12).atol(1e-13)
}

/// The final state from `x0 + s v`.
fn end<S: Flow + EventFunction>(
    integrator: &mut Integrator<S>,
    (x0, s, v): (&[f64], f64, &[f64]),
    tf: f64,
) -> DVector<f64> {
    let displaced: Vec<f64> = x0.iter().zip(v).map(|(x, v)| x + s * v).collect();
    let run = integrator
        .integrate(&Start::at(0.0).x(&displaced), tf)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    run.state().clone()
}

fn unit(dim: usize, j: usize) -> Vec<f64> {
    (0..dim).map(|i| f64::from(u8::from(i == j))).collect()
}

/// The matrix of a classical run against central differences of whole runs.
///
/// With steps of 1e-6 the third derivative, up to 1e4 in these runs, comes in with 1e-8; the errors
/// of the runs, most of which both ends share, with 1e6 times their difference.
fn classical<S: Flow + EventFunction>(system: S, x0: &[f64], tf: f64, crossings: usize) {
    let mut integrator = tight(system);
    let (dim, step) = (x0.len(), 1e-6);
    let differences = DMatrix::from_columns(
        &(0..dim)
            .map(|j| {
                let v = unit(dim, j);
                let mut at = |s: f64| end(&mut integrator, (x0, s, &v), tf);
                (at(step) - at(-step)) / (2.0 * step)
            })
            .collect::<Vec<_>>(),
    );
    let d = integrator.derivative(&Start::at(0.0).x(x0), tf).unwrap();
    assert_eq!(*d.verdict(), Verdict::Classical);
    assert!(d.run().crossings().len() >= crossings);
    let matrix = d.matrix().unwrap();
    let error = off(&matrix, &differences);
    assert!(error < 1e-7, "{error:e}: {matrix}{differences}");
    // The other way to the same numbers, without the record.
    drop(d);
    let carried = integrator
        .derivative_along(&Start::at(0.0).x(x0), tf, &DMatrix::identity(dim, dim))
        .unwrap();
    // Other steps are refused when the columns differ; both are right to ten times the tolerance,
    // amplified.
    assert!(off(&carried, &matrix) < 1e-9);
}

/// The affine system as a user with closures has it: no Jacobian, no gradient.
fn closures(system: Affine) -> impl Flow + EventFunction {
    let mode = Mode::new(3);
    flow_fn(3, move |t, x, mode: &Mode, dx: &mut [f64]| {
        system.flow(t, x, mode, dx);
    })
    .with_events(3, move |k, t, x: &[f64]| system.event(k, t, x, &mode))
}

#[test]
fn the_affine_system_off_the_corner() {
    classical(Affine::default(), &Affine::START, 0.5, 3);
    classical(Affine::coupled(), &Affine::START, 0.5, 3);
}

#[test]
fn the_affine_system_off_the_corner_without_derivatives() {
    classical(closures(Affine::default()), &Affine::START, 0.5, 3);
    classical(closures(Affine::coupled()), &Affine::START, 0.5, 3);
}

fn plate(springs: usize, shared_damping: bool) -> VerticalPlate {
    let parameters = PlateParameters {
        shared_damping,
        ..PlateParameters::with_springs(springs)
    };
    VerticalPlate::new(parameters).unwrap()
}

#[test]
fn plates_that_land_tilted() {
    for springs in [5, 10] {
        for start in 1..=3 {
            for shared in [false, true] {
                let x0 = PlateParameters::random_start(start);
                classical(plate(springs, shared), &x0, 1.5, springs);
            }
        }
    }
}

#[test]
fn plates_that_land_tilted_without_derivatives() {
    for springs in [5, 10] {
        for start in 1..=3 {
            for shared in [false, true] {
                let plate = plate(springs, shared);
                let x0 = PlateParameters::random_start(start);
                classical(PlainPlate(&plate), &x0, 1.5, springs);
            }
        }
    }
}

/// `B(v)` through a corner against one-sided differences, extrapolated to no step at all: within a
/// cone the run is smooth.
fn through_a_corner<S: Flow + EventFunction>(
    system: S,
    x0: &[f64],
    tf: f64,
    directions: &[Vec<f64>],
) {
    let mut integrator = tight(system);
    let quotients: Vec<_> = directions
        .iter()
        .map(|v| {
            let nominal = end(&mut integrator, (x0, 0.0, v), tf);
            let mut quotient = |s: f64| (end(&mut integrator, (x0, s, v), tf) - &nominal) / s;
            2.0 * quotient(5e-6) - quotient(1e-5)
        })
        .collect();
    let d = integrator.derivative(&Start::at(0.0).x(x0), tf).unwrap();
    assert_eq!(*d.verdict(), Verdict::Bouligand);
    let mut bends = false;
    for (v, quotient) in directions.iter().zip(&quotients) {
        let b = d.apply(v).unwrap();
        let error = off(&b, quotient);
        assert!(error < 1e-6, "{error:e} along {v:?}");
        bends |= off(&d.apply_backward(v).unwrap(), &b) > 1e-3;
    }
    assert!(bends, "a linear map would do");
}

fn affine_directions() -> Vec<Vec<f64>> {
    [
        [-0.1, 0.2, 0.7],
        [-0.9, 0.5, -0.2],
        [0.9, -0.2, -0.9],
        [0.1, -0.3, 0.8],
        [-0.8, -0.4, -0.6],
        [-0.4, 0.3, -0.4],
    ]
    .map(Vec::from)
    .into()
}

#[test]
fn the_affine_system_through_the_corner() {
    for system in [Affine::default(), Affine::coupled()] {
        let start = &Affine::CORNER_START;
        through_a_corner(system, start, 0.25, &affine_directions());
        through_a_corner(closures(system), start, 0.25, &affine_directions());
    }
}

#[test]
fn plates_that_land_level_on_springs_that_share_their_damping() {
    let level = [0.0, 2.2, 0.0, 0.0, 0.0, 0.0];
    let directions: Vec<Vec<f64>> = [
        [0.0, 0.0, 1.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, -1.0, 0.0, 0.0, 0.0],
        [0.5, -0.2, 0.3, 0.1, 0.4, -0.6],
        [-0.1, 0.3, -0.2, 0.5, 0.1, 0.3],
    ]
    .map(Vec::from)
    .into();
    for springs in [2, 3, 4] {
        // Behind the touch-down, and behind the lift-off as well.
        for tf in [0.6, 0.9] {
            let plate = plate(springs, true);
            through_a_corner(&plate, &level, tf, &directions);
            through_a_corner(PlainPlate(&plate), &level, tf, &directions);
        }
    }
}
