//! What a campaign written from the documentation alone found.

use saltation::{Integrator, Projection, Start, Status, flow_fn};

/// Chebyshev's polynomial, which oscillates fastest near its ends.
fn chebyshev(n: i32, x: f64) -> f64 {
    let (mut a, mut b) = (1.0, x);
    for _ in 1..n {
        (a, b) = (b, 2.0 * x * b - a);
    }
    b
}

/// A guard that was just crossed by a projection lies beyond its surface on the way back, by the
/// residual, and leaves it all the same: the excursion that follows was lost.
#[test]
fn an_excursion_after_a_projection_with_a_residual_is_found() {
    let h = |t: f64| chebyshev(18, 2.0 * t - 1.0) + 0.918986 + 0.123813 * t;
    let signs = (0..=200_000).map(|i| h(f64::from(i) / 2e5) > 0.0);
    let signs: Vec<bool> = signs.collect();
    let expected = signs.windows(2).filter(|pair| pair[0] != pair[1]).count();
    for projection in [
        Projection::Auto,
        Projection::Off,
        Projection::eps(1e-3, 1),
        Projection::eps(1e-6, 1),
        Projection::eps(1e-6, 3),
        Projection::horizon(1e-5, 3),
    ] {
        let system = flow_fn(1, |_, _, mode, dx: &mut [f64]| {
            dx[0] = if mode.contains(0) { -1.0 } else { 2.0 };
        })
        .with_events(1, move |_, t, _| h(t));
        let mut integrator = Integrator::new(system)
            .unwrap()
            .projection(projection.clone());
        let run = integrator
            .integrate(&Start::at(0.0).x(&[0.0]), 1.0)
            .unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd, "{projection:?}");
        assert_eq!(run.crossings().len(), expected, "{projection:?}");
    }
}
