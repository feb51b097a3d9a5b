//! Columns that move while the run stands still.

use saltation::derivative::Verdict;
use saltation::{EventFunction, Flow, Integrator, Mode, Start};

/// A spring at rest beside a joint whose inertia depends on its angle, `c″ = −½ c′² m′/m`, at rest too. The joint's
/// column does not move, and does at a state beside it: that is not rounding of all columns.
struct Springs {
    is_written: bool,
}

impl Springs {
    const RATE: f64 = 100.0;

    /// `½ m′/m` of `m = 1 + 0.3 sin² c`, and its derivative.
    fn growth(c: f64) -> [f64; 2] {
        let ((sine, cosine), m) = (c.sin_cos(), 1.0 + 0.3 * c.sin().powi(2));
        let (first, second) = (0.6 * sine * cosine, 0.6 * (cosine * cosine - sine * sine));
        [0.5 * first / m, 0.5 * (second - first * first / m) / m]
    }
}

impl Flow for Springs {
    fn dim(&self) -> usize {
        4
    }
    fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        let [growth, _] = Self::growth(x[2]);
        dx.copy_from_slice(&[
            Self::RATE * x[1],
            -Self::RATE * x[0],
            x[3],
            -growth * x[3] * x[3],
        ]);
    }
    fn jacobian_times(&self, _t: f64, x: &[f64], _mode: &Mode, v: &[f64], out: &mut [f64]) -> bool {
        let [growth, slope] = Self::growth(x[2]);
        let turned = -slope * x[3] * x[3] * v[2] - 2.0 * growth * x[3] * v[3];
        out.copy_from_slice(&[Self::RATE * v[1], -Self::RATE * v[0], v[3], turned]);
        self.is_written
    }
}

impl EventFunction for Springs {
    fn count(&self) -> usize {
        1
    }
    fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[0] - 10.0
    }
}

#[test]
fn springs_that_a_run_leaves_at_rest_have_their_derivatives() {
    for is_written in [true, false] {
        for rtol in [1e-4, 1e-6, 1e-8, 1e-10] {
            let mut integrator = Integrator::new(Springs { is_written }).unwrap();
            integrator = integrator.rtol(rtol).atol(1e-2 * rtol);
            let start = [0.0, 0.0, 0.4, 0.0];
            let d = integrator.derivative(&Start::at(0.0).x(&start), 0.3);
            let d = d.unwrap();
            assert_eq!(*d.verdict(), Verdict::Classical);
            let column = d.apply(&[1.0, 0.0, 0.0, 0.0]).unwrap();
            let (sine, cosine) = (0.3 * Springs::RATE).sin_cos();
            let off = (column[0] - cosine).abs().max((column[1] + sine).abs());
            // Ten times the tolerance in each of a hundred steps; rounding of differences.
            assert!(off < 1e3 * rtol + 1e-6, "{is_written} {rtol:e} {off:e}");
        }
    }
}
