//! A workspace that was used by a run without a derivative is as good as new.

use saltation::{EventFunction, Flow, Integrator, Mode, NoDerivative, Sensitivities, Stop};

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
        let summary = integrator.carry(0.0, &[1.0], 1.0, &mut tangents, &mut ());
        summary.unwrap();
        let refused = tangents.columns().unwrap_err();
        assert!(
            matches!(&refused, NoDerivative::Stop(Stop::NotFinite { at, .. }) if at.state.len() == 1 && at.t < 1.0)
        );
        integrator
            .carry(0.0, &[1.0], 0.4, &mut tangents, &mut ())
            .unwrap();
        let found = tangents.columns().unwrap()[(0, 0)];
        assert!((found - (-0.4f64).exp()).abs() < 1e-7, "{found}");
    }
}
