//! Found by random inputs to every entry point: each test is named by what went wrong.

use saltation::models::Hopper;
use saltation::{
    InputError, Integrator, Mode, Projection, Quantity, Start, Status, Stop, Watch, flow_fn,
};

use crate::fixtures::support::{Sketch, falling};

#[test]
fn a_flow_that_is_finite_is_not_called_nan_for_the_stages_of_an_earlier_run() {
    // NaN for x < 0.
    let root = |x: f64| if x < 0.0 { f64::NAN } else { 1.0 };
    let mut integrator = Integrator::new(flow_fn(1, move |_, x, _, dx| dx[0] = -root(x[0])))
        .unwrap()
        .rtol(1e-6);
    let first = integrator
        .integrate(&Start::at(0.0).x(&[0.1]), 1.0)
        .unwrap();
    assert!(matches!(
        first.status(),
        Status::Refused(Stop::NotFinite {
            quantity: Quantity::Flow { component: 0 },
            ..
        })
    ));
    // The shortest step at this time is longer than the step that is asked for.
    let mut integrator = integrator.first_step(1e-9);
    let second = integrator
        .integrate(&Start::at(1e9).x(&[5.0]), 1e9 + 1.0)
        .unwrap();
    assert!(
        matches!(second.status(), Status::Refused(Stop::StepTooSmall { .. })),
        "{}",
        second.status()
    );
}

#[test]
fn the_edge_of_a_domain_is_not_crept_up_to_in_millions_of_steps() {
    // x' = −√x reaches 0 with rate 0, and has no values beyond; x' = −1 there too.
    for edge in [0.0, 1.0] {
        for constant in [true, false] {
            let system = flow_fn(1, move |_, x, _, dx| {
                let depth = x[0] - edge;
                dx[0] = if constant && depth >= 0.0 {
                    -1.0
                } else {
                    -depth.sqrt()
                };
            });
            let mut integrator = Integrator::new(system).unwrap();
            let run = integrator
                .integrate(&Start::at(0.0).x(&[edge + 1.0]), 1e3)
                .unwrap();
            let steps = run.statistics().steps + run.statistics().rejections;
            assert!(steps < 20_000, "{edge} {constant}: {steps}");
        }
    }
}

#[test]
fn nodes_and_state_are_those_that_the_model_corrected() {
    use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
    use saltation::{ContactModel, EventDriven};
    // A bead that rests on a circle, and drifts inside without correction.
    struct Bead;
    impl MechanicalSystem for Bead {
        fn dof(&self) -> usize {
            2
        }
        fn mass(&self, _q: &[f64], mass: &mut [f64]) {
            mass.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
        }
        fn effort(&self, _t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
            // Pressed onto the circle, and driven along it.
            effort.copy_from_slice(&[-20.0 * q[0] - v[1], -20.0 * q[1] + v[0]]);
        }
    }
    impl UnilateralConstraints for Bead {
        fn contacts(&self) -> usize {
            1
        }
        fn gap(&self, _j: usize, q: &[f64]) -> f64 {
            q[0].hypot(q[1]) - 1.0
        }
    }
    let mut simulation = EventDriven::new(ContactModel::new(Bead))
        .unwrap()
        .rtol(1e-3)
        .atol(1e-4);
    let run = simulation
        .integrate(&Start::at(0.0).q(&[1.0, 0.0]).v(&[0.0, 1.0]), 5.0)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    assert!(run.times().len() > 5);
    for (t, x) in run.nodes() {
        let gap = x[0].hypot(x[1]) - 1.0;
        assert!(gap.abs() < 1e-9, "{gap:e} at {t}");
        let dense = run.state_at(t).unwrap();
        assert!((dense - x).amax() < 1e-12, "{t}");
    }
    let (last, state) = (run.nodes().last().unwrap().1, run.state());
    assert!(last == *state);
}

#[test]
fn the_first_step_moves_the_time_however_late_it_is() {
    for t0 in [1e9, 1e11] {
        let mut integrator = Integrator::new(Hopper::default()).unwrap();
        let run = integrator
            .integrate(&Start::at(t0).x(&[2.0, 0.0]), t0 + 2.0)
            .unwrap();
        // The time is known to units in its last place, of which crossings make states.
        let allowed = 1e-4 + 100.0 * f64::EPSILON * t0;
        assert_eq!(*run.status(), Status::ReachedEnd, "{t0:e}");
        assert!(
            (run.state()[0] - 1.90066160085828).abs() < allowed,
            "{t0:e} {}",
            run.state()
        );
    }
    for t0 in [1e9, 1e11, 1e13, 1e300] {
        let mut resting = Integrator::new(flow_fn(1, |_, _, _, dx| dx[0] = 0.0)).unwrap();
        let run = resting
            .integrate(&Start::at(t0).x(&[0.0]), 2.0 * t0)
            .unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd);
    }
}

#[test]
fn a_state_that_overflows_is_not_a_reached_end() {
    for start in [1e300, 1e307, 1.7e308] {
        for system in [
            flow_fn(1, |_, x, _, dx: &mut [f64]| dx[0] = x[0]),
            flow_fn(1, |_, _, _, dx: &mut [f64]| dx[0] = 1e308),
        ] as [saltation::model::FlowFn<fn(f64, &[f64], &Mode, &mut [f64])>; 2]
        {
            let mut integrator = Integrator::new(system).unwrap();
            let run = integrator
                .integrate(&Start::at(0.0).x(&[start]), 1e3)
                .unwrap();
            let finite = run.nodes().all(|(t, x)| t.is_finite() && x[0].is_finite());
            assert!(finite, "{start:e}: {}", run.status());
            assert!(matches!(run.status(), Status::Refused(_)), "{start:e}");
        }
    }
}

#[test]
fn a_coarse_landing_outside_the_domain_of_another_guard_is_no_reason_to_refuse() {
    // The second guard has no values below −0.2; a landing on the first that curves overshoots.
    let system = |(): ()| {
        Sketch::new(2, |_, x, _, dx| dx.copy_from_slice(&[1.0, 8.0 * x[0]])).events(
            [Watch::BOTH; 2],
            |k, _, x, _| match k {
                0 => x[0] - 0.5,
                _ => 1.0 + (1.05 - x[1]).sqrt(),
            },
        )
    };
    for projection in [
        Projection::Off,
        Projection::Auto,
        Projection::eps(0.45, 1),
        Projection::eps(0.45, 2),
    ] {
        let mut integrator = Integrator::new(system(()))
            .unwrap()
            .projection(projection.clone());
        let run = integrator
            .integrate(&Start::at(0.0).x(&[0.0, 0.0]), 0.51)
            .unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd, "{projection:?}");
        assert_eq!(run.crossings().len(), 1, "{projection:?}");
    }
}

/// Says that it has more event functions than there is memory.
struct Many;
impl saltation::Flow for Many {
    fn dim(&self) -> usize {
        1
    }
    fn flow(&self, _t: f64, _x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx[0] = 0.0;
    }
}
impl saltation::EventFunction for Many {
    fn count(&self) -> usize {
        usize::MAX
    }
    fn event(&self, _k: usize, _t: f64, _x: &[f64], _mode: &Mode) -> f64 {
        1.0
    }
}

#[test]
fn a_mode_of_any_size_is_made_or_cut() {
    let huge = Mode::new(usize::MAX);
    assert_eq!(huge.len(), Mode::MOST);
    assert!(!huge.contains(usize::MAX) && huge.count_ones() == 0);
    assert!(matches!(
        Integrator::new(Many),
        Err(InputError::BadSetting { .. })
    ));
    let wide = flow_fn(usize::MAX, |_, _, _, _: &mut [f64]| {});
    assert!(matches!(
        Integrator::new(wide),
        Err(InputError::BadSetting { .. })
    ));
}

#[test]
fn a_trajectory_has_a_limit_of_memory() {
    let mut integrator = Integrator::new(falling(9.81))
        .unwrap()
        .fixed_step(1e-4)
        .max_memory(1 << 20);
    let run = integrator
        .integrate(&Start::at(0.0).x(&[0.0, 0.0]), 10.0)
        .unwrap();
    assert!(
        matches!(run.status(), Status::Refused(Stop::RunTooLarge { limit, .. }) if *limit == 1 << 20),
        "{}",
        run.status()
    );
    // What fitted is there.
    assert!(run.times().len() > 1000 && run.state_at(0.5 * run.t()).is_ok());
    // A time, and two states and a half a node, at the least.
    assert!(run.times().len() * (1 + 5) * 8 <= 1 << 20);
}
