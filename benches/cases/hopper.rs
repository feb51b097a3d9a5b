//! The hopper from 2 m over 2 s, four crossings, at a given tolerance.

use saltation::models::Hopper;
use saltation::{Integrator, Start, Summary};

/// Relative tolerances 1e-3 … 1e-11; the absolute one is a tenth of each.
pub(crate) fn tolerances() -> impl Iterator<Item = f64> {
    (3..=11).map(|digits| 10f64.powi(-digits))
}

/// One run, and its error against the closed form (the larger of the two components).
pub(crate) fn runner(rtol: f64) -> impl FnMut() -> (Summary, f64) {
    let hopper = Hopper::default();
    let exact = hopper.exact(2.0, 2.0);
    let mut integrator = Integrator::fixed::<2>(hopper)
        .expect("two states")
        .rtol(rtol)
        .atol(0.1 * rtol);
    move || {
        let summary = integrator
            .observe(&Start::at(0.0).x(&[2.0, 0.0]), 2.0, &mut ())
            .expect("good input");
        let x = integrator.state();
        let error = (x[0] - exact[0]).abs().max((x[1] - exact[1]).abs());
        (summary, error)
    }
}
