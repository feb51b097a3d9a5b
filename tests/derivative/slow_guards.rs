//! Guards that are met slowly: the saltation matrix divides the error of their row by the rate.

use saltation::derivative::saltation_matrix;
use saltation::{EventFunction, Flow, Guard, Mode};

/// Straight motion along `(1, slope)` that turns at a circle of radius one, which nobody differentiated.
struct Turning {
    slope: f64,
    rows: bool,
}

impl Flow for Turning {
    fn dim(&self) -> usize {
        2
    }
    fn flow(&self, _t: f64, _x: &[f64], mode: &Mode, dx: &mut [f64]) {
        let across = if mode.contains(0) { 1.0 } else { self.slope };
        dx.copy_from_slice(&[1.0, across]);
    }
}

impl EventFunction for Turning {
    fn count(&self) -> usize {
        1
    }
    fn event(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[0].hypot(x[1]) - 1.0
    }
    fn gradient(&self, _k: usize, _t: f64, x: &[f64], _mode: &Mode, dh: &mut [f64]) -> Option<f64> {
        let r = x[0].hypot(x[1]);
        self.rows.then(|| {
            dh.copy_from_slice(&[x[0] / r, x[1] / r]);
            0.0
        })
    }
}

#[test]
fn circles_that_are_nearly_touched_have_the_matrix_of_their_rows() {
    let angles = [0.3f64, 0.7, 1.1, 1.4];
    for angle in angles {
        let (sin, cos) = angle.sin_cos();
        for rate in [1e-3, 1e-5, 1e-7] {
            // The rate along the normal of what goes on along the circle but for that.
            let slope = (rate - cos) / sin;
            let [found, exact] = [false, true].map(|rows| {
                let system = Turning { slope, rows };
                let guard = Guard::rising(0);
                let found = saltation_matrix(&system, guard, 0.0, &[cos, sin], &Mode::new(1));
                found.expect("a crossing").matrix
            });
            let off = (&found - &exact).amax() / exact.amax();
            // Differences as they are leave 1e-11 over the rate: 1e-4 at the slowest.
            assert!(off < 1e-6, "{angle} {rate:e}: {off:e}");
        }
    }
}
