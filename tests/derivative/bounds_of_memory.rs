//! Memory of derivatives: how many states they may have, and how much they keep.

use saltation::{
    EventFunction, Flow, Integrator, Mode, NoDerivative, Sensitivities, Start, Status, Stop, Watch,
    flow_fn,
};

use crate::sketch::Sketch;

fn resting(dim: usize) -> impl Flow + EventFunction {
    flow_fn(dim, |_t, _x, _mode: &Mode, dx: &mut [f64]| dx.fill(0.0))
}

#[test]
fn derivatives_of_more_states_than_there_is_memory_for_are_refused() {
    for (states, memory) in [
        (12_000, usize::MAX),
        (3_000, 1 << 30),
        (100, 1 << 20),
        (1, 0),
    ] {
        let mut integrator = Integrator::new(resting(states)).unwrap().max_memory(memory);
        let x0 = vec![1.0; states];
        let refused = integrator
            .derivative(&Start::at(0.0).x(&x0), 1.0)
            .map(|d| d.verdict().clone());
        assert!(
            matches!(refused, Err(NoDerivative::DerivativeTooLarge { states: named, .. }) if named == states),
            "{states}: {refused:?}"
        );
        // One direction takes next to nothing.
        let mut tangents = Sensitivities::new(states, 1);
        integrator
            .carry(&Start::at(0.0).x(&x0), 1.0, &mut tangents, &mut ())
            .unwrap();
        assert!((tangents.columns().unwrap()[0] - 1.0).abs() < 1e-12);
    }
    let mut integrator = Integrator::new(resting(100)).unwrap().max_memory(1 << 22);
    assert!(
        integrator
            .derivative(&Start::at(0.0).x(&[1.0; 100]), 1.0)
            .is_ok()
    );
}

#[test]
fn what_a_derivative_keeps_of_many_corners_counts_as_memory() {
    let dim = 60;
    let two_at_once = Sketch::new(dim, |_, _, mode, dx| {
        dx.fill(0.0);
        dx[0] = if mode.contains(0) { 1.0 } else { 2.0 };
    })
    .events([Watch::BOTH; 2], |_, t, _, _| (6.0 * t + 0.1).sin());
    let (memory, tf) = (1 << 22, 50.0);
    let mut integrator = Integrator::new(two_at_once).unwrap().max_memory(memory);
    let x0 = vec![0.0; dim];
    let run = integrator.integrate(&Start::at(0.0).x(&x0), tf).unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    let d = integrator.derivative(&Start::at(0.0).x(&x0), tf).unwrap();
    let status = d.run().status();
    assert!(
        matches!(status, Status::Refused(Stop::RunTooLarge { limit, .. }) if *limit == memory),
        "{status}"
    );
    // Two matrices a corner, at least.
    let corners = d.corners().count();
    assert!(
        corners > 20 && corners * 2 * dim * dim * 8 <= memory,
        "{corners}"
    );
    assert!(d.apply(&x0).is_err() && d.up_to_refusal().apply(&x0).is_ok());
}
