//! A workspace that was used by a run without a derivative is as good as new, and what it gave away
//! is not changed by later runs.

use saltation::derivative::Derivative;
use saltation::models::Affine;
use saltation::{EventFunction, Flow, Integrator, Mode, NoDerivative, Sensitivities, Start, Stop};

/// `x' = −x`, whose Jacobian is not a number from t = 1/2.
struct Broken;

impl Flow for Broken {
    fn dim(&self) -> usize {
        1
    }
    fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx[0] = -x[0];
    }
    fn jacobian_times(&self, t: f64, _x: &[f64], _mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
        out[0] = if t > 0.5 { f64::NAN } else { -v[0] };
        true
    }
}

impl EventFunction for Broken {
    fn count(&self) -> usize {
        0
    }
    fn event(&self, _k: usize, _t: f64, _x: &[f64], _mode: &Mode) -> f64 {
        f64::NAN
    }
}

#[test]
fn tangents_are_carried_again_after_a_jacobian_that_is_not_finite() {
    let mut integrator = Integrator::new(Broken).unwrap().rtol(1e-9).atol(1e-9);
    let mut tangents = Sensitivities::new(1, 1);
    for _ in 0..3 {
        let summary = integrator.carry(&Start::at(0.0).x(&[1.0]), 1.0, &mut tangents, &mut ());
        summary.unwrap();
        let refused = tangents.columns().unwrap_err();
        assert!(
            matches!(&refused, NoDerivative::Stop(Stop::NotFinite { at, .. }) if at.state.len() == 1 && at.t < 1.0)
        );
        integrator
            .carry(&Start::at(0.0).x(&[1.0]), 0.4, &mut tangents, &mut ())
            .unwrap();
        let found = tangents.columns().unwrap()[(0, 0)];
        assert!((found - (-0.4f64).exp()).abs() < 1e-7, "{found}");
    }
}

#[test]
fn the_integrator_runs_again_while_derivatives_are_alive() {
    let end = 0.25;
    let settings = |i: Integrator<Affine>| i.rtol(1e-10).atol(1e-10).max_steps(1000);
    let mut integrator = settings(Integrator::new(Affine::coupled()).unwrap());
    let bits = |d: &Derivative<Affine>| {
        let v = [0.1, -0.3, 0.8];
        let pieces = d.pieces().unwrap();
        let entries = pieces.iter().flat_map(|piece| piece.matrix.as_slice());
        let forward = d.apply(&v).unwrap();
        let all = entries.chain(forward.as_slice()).map(|v| v.to_bits());
        all.collect::<Vec<u64>>()
    };
    let first = integrator
        .derivative(&Start::at(0.0).x(&Affine::CORNER_START), end)
        .unwrap();
    let alone = bits(&first);
    let derivatives: Vec<Derivative<Affine>> = [1e-3, -1e-3]
        .into_iter()
        .map(|by| {
            let mut start = Affine::CORNER_START;
            start[0] += by;
            integrator
                .derivative(&Start::at(0.0).x(&start), end)
                .unwrap()
        })
        .collect();
    // Settings that are changed later are not those of a derivative that is there.
    let mut integrator = integrator.rtol(1e-3).corner_tolerance(1.0);
    integrator
        .integrate(&Start::at(0.0).x(&[0.0; 3]), end)
        .unwrap();
    assert_eq!(bits(&first), alone);
    drop(integrator);
    assert_eq!(bits(&first), alone);
    assert!(derivatives.iter().all(|d| d.pieces().unwrap().len() == 1));
}

#[test]
fn a_derivative_outlives_the_function_that_made_it() {
    fn made() -> Derivative<Affine> {
        let mut integrator = Integrator::new(Affine::coupled()).unwrap();
        integrator
            .derivative(&Start::at(0.0).x(&Affine::CORNER_START), 0.25)
            .unwrap()
    }
    assert_eq!(made().pieces().unwrap().len(), 6);
}
