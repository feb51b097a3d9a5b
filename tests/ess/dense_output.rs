//! The dense output that a run keeps is that of its steps, in two states and a half a node.

use saltation::models::{Hopper, PlateParameters, VerticalPlate};
use saltation::{
    EventFunction, Flow, Integrator, Observer, Projection, Segment, Status, Stop, Watch,
};

use crate::fixtures::support::{Sketch, falling};

/// A segment as observers see it.
struct Seen {
    from: f64,
    to: f64,
    start: f64,
    length: f64,
    coefficients: [Vec<f64>; 5],
}

#[derive(Default)]
struct Watcher(Vec<Seen>);

impl Observer for Watcher {
    fn segment(&mut self, segment: &Segment<'_>) {
        let interpolant = &segment.interpolant;
        self.0.push(Seen {
            from: segment.start,
            to: segment.t,
            start: interpolant.start,
            length: interpolant.length,
            coefficients: interpolant.coefficients.map(<[f64]>::to_vec),
        });
    }
}

/// Holds `at` against the interpolants of the steps, at places within each: but for rounding, and a
/// hundred-millionth of the last coefficient, which is in single precision.
fn check<S: Flow + EventFunction>(
    make: impl Fn() -> Integrator<S>,
    start: &[f64],
    tf: f64,
) -> usize {
    let mut seen = Watcher::default();
    make().observe(0.0, start, tf, &mut seen).unwrap();
    let run = make().integrate(0.0, start, tf).unwrap();
    for segment in &seen.0 {
        for part in [0.01, 0.2, 0.5, 0.77, 0.99] {
            let t = segment.from + part * (segment.to - segment.from);
            if !(segment.from < t && t < segment.to) {
                continue;
            }
            let theta = (t - segment.start) / segment.length;
            let x = run.at(t).unwrap();
            for i in 0..start.len() {
                let [c0, c1, c2, c3, c4] = segment.coefficients.each_ref().map(|c| c[i]);
                let rest = 1.0 - theta;
                let expected = c0 + theta * (c1 + rest * (c2 + theta * (c3 + rest * c4)));
                let terms = [c0, c1, c2, c3].map(f64::abs).iter().sum::<f64>();
                let allowed = 64.0 * f64::EPSILON * terms + 1e-8 * c4.abs();
                let off = (x[i] - expected).abs();
                assert!(off <= allowed, "{t}: x_{i} off by {off:e} of {allowed:e}");
            }
        }
    }
    seen.0.len()
}

#[test]
fn kept_output_is_that_of_the_steps() {
    let hopper = || Integrator::new(Hopper::default()).unwrap();
    assert!(check(hopper, &[2.0, 0.0], 2.0) > 20);
    let plate = |projection: Projection| {
        move || {
            let parameters = PlateParameters::with_springs(10);
            let plate = VerticalPlate::new(parameters).unwrap();
            Integrator::new(plate)
                .unwrap()
                .projection(projection.clone())
        }
    };
    let tilted = [0.1, 2.4, -0.03, 0.3, -0.5, 0.4];
    for projection in [
        Projection::Auto,
        Projection::Off,
        Projection::eps(1e-3, 2),
        Projection::horizon(1e-3, 3),
    ] {
        assert!(check(plate(projection), &tilted, 1.5) > 20);
    }
}

#[test]
fn kept_output_follows_resets() {
    let ball = || {
        let ball = falling(9.81)
            .events([Watch::FALLING], |_, _, x, _| x[0])
            .reset(|_, _, x, _| {
                x[1] *= -0.8;
                Ok(())
            });
        Integrator::new(ball).unwrap().rtol(1e-9)
    };
    assert!(check(ball, &[1.0, 0.0], 1.5) > 2);
}

/// States that are too large or small for single precision.
#[test]
fn kept_output_is_right_for_states_of_any_size() {
    for size in [1e-300, 1e-42, 1e-38, 1e37, 1e40, 1e300] {
        let wave = || {
            let system = Sketch::new(2, |_, x, _, dx| {
                dx.copy_from_slice(&[3.0 * x[1], -3.0 * x[0]]);
            });
            Integrator::new(system)
                .unwrap()
                .rtol(1e-8)
                .atol(1e-8 * size)
        };
        assert!(check(wave, &[size, 0.0], 5.0) > 20);
    }
}

/// A hundred oscillators.
fn waves() -> Integrator<Sketch> {
    let system = Sketch::new(200, |_, x, _, dx| {
        for (i, (x, dx)) in x.chunks_exact(2).zip(dx.chunks_exact_mut(2)).enumerate() {
            let rate = 1.0 + i as f64 / 100.0;
            dx.copy_from_slice(&[rate * x[1], -rate * x[0]]);
        }
    });
    Integrator::new(system).unwrap().rtol(1e-6)
}

#[test]
fn a_node_takes_two_states_and_a_half() {
    let (start, tf) = ([0.6; 200], 50.0);
    let all = waves().integrate(0.0, &start, tf).unwrap();
    let (nodes, state) = (all.times().len(), size_of_val(&start));
    // The last step is kept whole, and room must be left for one more.
    let memory = (5 * state / 2 + 72) * nodes + 8 * state;
    let run = waves()
        .max_memory(memory)
        .integrate(0.0, &start, tf)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    let less = waves()
        .max_memory(memory * 9 / 10)
        .integrate(0.0, &start, tf)
        .unwrap();
    assert!(matches!(
        less.status(),
        Status::Refused(Stop::TrajectoryTooLarge { .. })
    ));
    // What was kept of the refused run is right up to its end.
    let end = less.t() - 1e-3;
    assert!((less.at(end).unwrap() - all.at(end).unwrap()).amax() < 1e-12);
}
