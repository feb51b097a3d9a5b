//! The dense output that a run keeps is that of its steps, in two states and a half a node.

use saltation::models::{Hopper, PlateParameters, VerticalPlate};
use saltation::{
    EventFunction, Flow, Integrator, Mode, Observer, Projection, Segment, Start, Status, Stop,
    Watch,
};

use crate::fixtures::support::{Sketch, SplitMix64, falling};

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
/// hundredth of the tolerance, relative and absolute.
fn check<S: Flow + EventFunction>(
    make: impl Fn() -> Integrator<S>,
    start: &[f64],
    (tf, [rtol, atol]): (f64, [f64; 2]),
) -> usize {
    let make = || make().rtol(rtol).atol(atol);
    let mut seen = Watcher::default();
    make()
        .observe(&Start::at(0.0).x(start), tf, &mut seen)
        .unwrap();
    let run = make().integrate(&Start::at(0.0).x(start), tf).unwrap();
    for segment in &seen.0 {
        for part in [0.01, 0.2, 0.5, 0.77, 0.99] {
            let t = segment.from + part * (segment.to - segment.from);
            if !(segment.from < t && t < segment.to) {
                continue;
            }
            let theta = (t - segment.start) / segment.length;
            let x = run.state_at(t).unwrap();
            for i in 0..start.len() {
                let [c0, c1, c2, c3, c4] = segment.coefficients.each_ref().map(|c| c[i]);
                let rest = 1.0 - theta;
                let expected = c0 + theta * (c1 + rest * (c2 + theta * (c3 + rest * c4)));
                let terms = [c0, c1, c2, c3].map(f64::abs).iter().sum::<f64>();
                let tolerance = rtol * c0.abs().max((c0 + c1).abs()) + atol;
                let allowed = 64.0 * f64::EPSILON * terms + 0.01 * tolerance;
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
    assert!(check(hopper, &[2.0, 0.0], (2.0, [1e-6, 1e-9])) > 20);
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
        assert!(check(plate(projection), &tilted, (1.5, [1e-6, 1e-9])) > 20);
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
        Integrator::new(ball).unwrap()
    };
    assert!(check(ball, &[1.0, 0.0], (1.5, [1e-9, 1e-9])) > 2);
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
        assert!(check(wave, &[size, 0.0], (5.0, [1e-8, 1e-8 * size])) > 20);
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
    let all = waves().integrate(&Start::at(0.0).x(&start), tf).unwrap();
    let (nodes, state) = (all.times().len(), size_of_val(&start));
    // The last step is kept whole, and room must be left for one more.
    let memory = (5 * state / 2 + 72) * nodes + 8 * state;
    let run = waves()
        .max_memory(memory)
        .integrate(&Start::at(0.0).x(&start), tf)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    let less = waves()
        .max_memory(memory * 9 / 10)
        .integrate(&Start::at(0.0).x(&start), tf)
        .unwrap();
    assert!(matches!(
        less.status(),
        Status::Refused(Stop::RunTooLarge { .. })
    ));
    // What was kept of the refused run is right up to its end.
    let end = less.t() - 1e-3;
    assert!((less.state_at(end).unwrap() - all.state_at(end).unwrap()).amax() < 1e-12);
}

/// `x = t⁴`: steps without an error grow until the last coefficient is as large as the state.
#[test]
fn kept_output_of_a_polynomial_is_exact() {
    let quartic = || {
        let flow = |_: f64, x: &[f64], _: &Mode, dx: &mut [f64]| {
            dx.copy_from_slice(&[x[1], x[2], x[3], 24.0]);
        };
        Integrator::new(Sketch::new(4, flow)).unwrap()
    };
    let settings = [1e-12, 1e-12];
    assert!(check(quartic, &[0.0; 4], (10.0, settings)) > 1);
    let mut integrator = quartic().rtol(1e-12).atol(1e-12);
    let run = integrator
        .integrate(&Start::at(0.0).x(&[0.0; 4]), 10.0)
        .unwrap();
    for t in [0.5, 2.5, 5.0, 9.0] {
        let off = (run.state_at(t).unwrap()[0] - f64::powi(t, 4)).abs();
        assert!(off < 1e-10, "{t}: {off:e}");
    }
}

/// Slopes that overflow beside a step say nothing of its coefficients.
#[test]
fn kept_output_of_large_slopes_is_finite() {
    let system = Sketch::new(1, |_, _, mode, dx| {
        dx[0] = if mode.contains(0) { -1e307 } else { 1e307 }
    })
    .events([Watch::BOTH], |_, t, _, _| t - 10.0);
    let mut integrator = Integrator::new(system).unwrap().fixed_step(10.0);
    let run = integrator
        .integrate(&Start::at(0.0).x(&[-9e307]), 18.0)
        .unwrap();
    for t in [2.0, 5.0, 9.0, 11.0] {
        let expected = if t < 10.0 {
            -9e307 + t * 1e307
        } else {
            1e307 - (t - 10.0) * 1e307
        };
        assert!(
            (run.state_at(t).unwrap()[0] - expected).abs() < 1e293,
            "{t}"
        );
    }
}

/// Parts of a live run that end just before a crossing and an ulp or two behind it: the step between is so short that
/// its nodes do not give the slope at its start. Beside `x' = 1`, which crosses, oscillates `y = cos(w t)`.
#[test]
fn kept_output_of_parts_cut_around_a_crossing_is_right() {
    let mut random = SplitMix64(0x0c07);
    let mut drawn = |rtol: f64| {
        let before = 10f64.powf(random.between(-15.5, -2.0));
        let crossing = random.between(0.5, 3.0);
        let behind = match random.next() % 3 {
            0 => 10f64.powf(random.between(-15.0, -2.0)),
            ulps => ulps as f64 * (crossing.next_up() - crossing),
        };
        (rtol, crossing, random.between(0.5, 2.0), [before, behind])
    };
    let mut cases = vec![(1e-12, 1.0, 1.0, [1e-13, 2.3e-16])];
    for rtol in [1e-3, 1e-6, 1e-9, 1e-12] {
        cases.extend((0..50).map(|_| drawn(rtol)));
    }
    for (rtol, crossing, w, [before, behind]) in cases {
        let system = Sketch::new(3, move |_, x, _, dx| {
            dx.copy_from_slice(&[1.0, w * x[2], -w * x[1]]);
        });
        let system = system.events([Watch::BOTH], move |_, _, x, _| x[0] - crossing);
        let mut integrator = Integrator::new(system).unwrap().rtol(rtol).atol(rtol);
        let mut live = integrator
            .live(&Start::at(0.0).x(&[0.0, 1.0, 0.0]))
            .unwrap()
            .keep();
        for end in [crossing - before, crossing + behind, crossing + 1.0] {
            live.advance(end, &[]).unwrap();
        }
        let run = live.run().unwrap();
        let what = format!("{rtol:e}: {crossing} − {before:e} … + {behind:e}, w = {w}");
        assert_eq!(run.crossings().len(), 1, "{what}");
        for k in 0..=1000 {
            let t = run.t() * f64::from(k) / 1000.0;
            let off = (run.state_at(t).unwrap()[1] - (w * t).cos()).abs();
            assert!(off < 10.0 * rtol, "{what}: {off:e} at {t}");
        }
    }
}
