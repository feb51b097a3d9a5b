//! What the search within steps can miss, and what a run says of it: spikes between two samples,
//! searches that are switched off or end.

use std::cell::Cell;
use std::f64::consts::PI;
use std::rc::Rc;

use saltation::{
    At, Doubt, EventFunction, Integrator, Projection, Quantity, Resolution, Run, Start, Status,
    Stop, Watch,
};

use crate::fixtures::support::{Sketch, SplitMix64};

/// `1 − 2 bump`, where `bump` rises from 0 to 1 and falls to 0: the guard is beyond zero for the
/// time `width` about the centre.
#[derive(Clone, Copy, Debug)]
struct Spike {
    centre: f64,
    width: f64,
    compact: bool,
}

impl Spike {
    fn at(self, t: f64) -> f64 {
        let s = (t - self.centre) / self.width;
        let bump = if self.compact {
            // exp(1 − 1 / (1 − 4 s²)), which is above 1/2 on 0.63983 of its width.
            let left = 1.0 - (2.0 * 0.63983 * s).powi(2);
            if left > 0.0 {
                (1.0 - 1.0 / left).exp()
            } else {
                0.0
            }
        } else {
            (-4.0 * 2f64.ln() * s * s).exp()
        };
        1.0 - 2.0 * bump
    }
}

/// A state that moves on a straight line for a second past a spike of the guard, in time or in
/// space; with the time scale that the model states, and that of the integrator.
fn pass(
    spike: Spike,
    of_time: bool,
    projection: Projection,
    [scale, of_others]: [Option<f64>; 2],
) -> Run {
    let system = Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
        .events([Watch::BOTH], move |_, t, x, _| {
            spike.at(if of_time { t } else { x[0] })
        });
    let system = match scale {
        Some(scale) => system.time_scale(scale),
        None => system,
    };
    let mut integrator = Integrator::new(system).unwrap().projection(projection);
    if let Some(scale) = of_others {
        integrator = integrator.time_scale(scale);
    }
    integrator
        .integrate(&Start::at(0.0).x(&[0.0]), 1.0)
        .unwrap()
}

fn random_spikes(
    seed: u64,
    cases: usize,
    widths: (f64, f64),
    mut then: impl FnMut(Spike, bool, Projection),
) {
    let mut random = SplitMix64(seed);
    for case in 0..cases {
        let spike = Spike {
            centre: random.between(0.1, 0.9),
            width: random.between(widths.0, widths.1),
            compact: case % 2 == 0,
        };
        let projection = [Projection::Auto, Projection::Off][case / 2 % 2].clone();
        then(spike, case / 4 % 2 == 0, projection);
    }
}

#[test]
fn a_spike_that_lasts_a_hundredth_of_the_run_is_found() {
    let cases = if cfg!(debug_assertions) { 200 } else { 20_000 };
    for (seed, widths) in [(31, (0.01, 0.0101)), (32, (0.01, 0.05))] {
        random_spikes(seed, cases, widths, |spike, of_time, projection| {
            let run = pass(spike, of_time, projection, [None; 2]);
            assert_eq!(*run.status(), Status::ReachedEnd, "{spike:?}");
            assert_eq!(run.crossings().len(), 2, "{spike:?}, {:?}", run.doubts());
        });
    }
}

#[test]
fn a_narrow_spike_may_hide_unless_a_time_scale_is_stated() {
    let (mut missed, mut all) = (0, 0);
    let cases = if cfg!(debug_assertions) { 30 } else { 1_000 };
    random_spikes(33, cases, (5e-4, 2e-3), |spike, of_time, projection| {
        let run = pass(spike, of_time, projection.clone(), [None; 2]);
        all += 1;
        missed += usize::from(run.crossings().is_empty() && run.is_guaranteed());
        let (width, long) = (Some(spike.width), Some(10.0));
        // What the model states goes before what the integrator says of all others.
        for scales in [[width, None], [None, width], [width, long]] {
            let run = pass(spike, of_time, projection.clone(), scales);
            assert_eq!(run.crossings().len(), 2, "{spike:?}, {:?}", run.doubts());
        }
    });
    assert!(2 * missed > all, "{missed} of {all}");
}

#[test]
fn a_run_by_samples_only_is_not_guaranteed() {
    for resolution in [Resolution::Adaptive, Resolution::Samples] {
        let sampled = resolution == Resolution::Samples;
        let line = || Sketch::new(1, |_, _, _, dx| dx[0] = 1.0);
        let guarded = || line().events([Watch::BOTH], |_, _, x, _| x[0] - 0.5);
        let mut integrator = Integrator::new(guarded()).unwrap().resolution(resolution);
        let run = integrator
            .integrate(&Start::at(0.0).x(&[0.0]), 1.0)
            .unwrap();
        assert_eq!(run.crossings().len(), 1);
        assert_eq!(run.is_guaranteed(), !sampled);
        let summary = integrator
            .observe(&Start::at(0.0).x(&[0.0]), 1.0, &mut ())
            .unwrap();
        assert_eq!(summary.statistics.is_guaranteed(), !sampled);
        let expected: &[Doubt] = if sampled {
            &[Doubt::Unsearched { t: 0.0 }]
        } else {
            &[]
        };
        assert_eq!(run.doubts(), expected);
        // Without guards there is nothing to search.
        let unwatched = line().events([Watch::NONE], |_, _, x, _| x[0] - 0.5);
        for system in [line(), unwatched] {
            let mut integrator = Integrator::new(system).unwrap().resolution(resolution);
            assert!(
                integrator
                    .integrate(&Start::at(0.0).x(&[0.0]), 1.0)
                    .unwrap()
                    .is_guaranteed()
            );
        }
    }
}

#[test]
fn the_search_in_a_step_of_fixed_length_ends_and_says_so() {
    let calls = Rc::new(Cell::new(0u64));
    let counted = Rc::clone(&calls);
    // A million oscillations that stay clear of zero, and a guard that is passed beside them.
    let system =
        Sketch::new(1, |_, _, _, dx| dx[0] = 1.0).events([Watch::BOTH; 2], move |k, t, x, _| {
            counted.set(counted.get() + 1);
            if k == 0 {
                2.0 + 1.5 * (std::f64::consts::TAU * 1e6 * t).sin()
            } else {
                x[0] - 1.5
            }
        });
    let mut integrator = Integrator::new(system).unwrap().fixed_step(1.0);
    let run = integrator
        .integrate(&Start::at(0.0).x(&[0.0]), 2.0)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    assert!(!run.is_guaranteed() && run.statistics().unresolved > 0);
    let doubted = |d: &Doubt| matches!(d, Doubt::Unresolved { guard, .. } if guard.event == 0);
    assert!(run.doubts().iter().any(doubted), "{:?}", run.doubts());
    assert!(
        run.statistics().windows <= 3 * 100_010,
        "{:?}",
        run.statistics()
    );
    assert!(calls.get() < 10_000_000, "{}", calls.get());
    assert_eq!(run.crossings().len(), 1);
}

#[test]
fn what_is_not_defined_is_approached_by_shorter_steps() {
    let of_flow = Sketch::new(1, |_, x, _, dx| {
        dx[0] = if x[0] < 0.0 { f64::NAN } else { -1.0 }
    });
    let of_event = Sketch::new(1, |_, _, _, dx| dx[0] = -1.0)
        .events([Watch::BOTH], |_, _, x, _| x[0].sqrt() + 1.0);
    for (system, expected) in [
        (of_flow, vec![Quantity::Flow { component: 0 }]),
        (
            of_event,
            vec![
                Quantity::Event { event: 0 },
                Quantity::Gradient { event: 0 },
            ],
        ),
    ] {
        let mut integrator = Integrator::new(&system).unwrap();
        let run = integrator
            .integrate(&Start::at(0.0).x(&[1.0]), 3.0)
            .unwrap();
        let Status::Refused(Stop::NotFinite { quantity, at, .. }) = run.status() else {
            panic!("{}", run.status());
        };
        let At { t, .. } = at.as_ref();
        assert!(expected.contains(quantity), "{quantity:?}");
        // The difference in place of the gradient reaches six millionths ahead.
        let reach = if system.count() > 0 { 1e-5 } else { 1e-12 };
        assert!((t - 1.0).abs() < reach, "{t}");
        assert!((run.t() - 1.0).abs() < reach && run.state()[0].abs() < reach);
        // A fixed step is not shortened: the run ends where it begins.
        let mut integrator = Integrator::new(&system).unwrap().fixed_step(0.3);
        let run = integrator
            .integrate(&Start::at(0.0).x(&[1.0]), 3.0)
            .unwrap();
        let refused = matches!(run.status(), Status::Refused(Stop::NotFinite { .. }));
        assert!(refused && (run.t() - 0.9).abs() < 1e-12, "{}", run.status());
    }
}

/// Planes met at one instant, of terms that are large against their rates; before the first
/// crossing the same event functions are small and read no state.
#[test]
fn the_terms_of_a_guard_are_those_of_its_mode() {
    let mut random = SplitMix64(34);
    for case in 0..200 {
        let velocity = [(); 3].map(|()| random.between(-1.0, 1.0));
        let point = [(); 3].map(|()| 1e4 * random.between(-1.0, 1.0));
        let normals = [(); 11].map(|()| {
            let mut normal = [(); 3].map(|()| random.between(-1.0, 1.0));
            let rate = 10f64.powf(random.between(-3.0, -2.0));
            let now: f64 = (0..3).map(|i| normal[i] * velocity[i]).sum();
            let length: f64 = velocity.iter().map(|v| v * v).sum();
            for i in 0..3 {
                normal[i] += (rate - now) * velocity[i] / length;
            }
            normal
        });
        let time = random.between(0.5, 2.0);
        let dot = |a: &[f64; 3], b: &[f64]| (0..3).map(|i| a[i] * b[i]).sum::<f64>();
        let system = Sketch::new(3, move |_, _, _, dx| dx.copy_from_slice(&velocity)).events_of(
            12,
            Watch::BOTH,
            move |k, t, x, mode| match k.checked_sub(1) {
                None => t - 0.1,
                Some(j) if mode.contains(0) => dot(&normals[j], x) - dot(&normals[j], &point),
                Some(_) => -1e-9 - 1e-3 * t,
            },
        );
        let start: Vec<f64> = (0..3).map(|i| point[i] - time * velocity[i]).collect();
        for projection in [Projection::Auto, Projection::Off] {
            let what = format!("case {case}, {projection:?}");
            let mut integrator = Integrator::new(&system).unwrap().projection(projection);
            let run = integrator
                .integrate(&Start::at(0.0).x(&start), 2.0 * time)
                .unwrap();
            assert_eq!(*run.status(), Status::ReachedEnd, "{what}");
            assert_eq!(run.crossings().len(), 12, "{what}");
        }
    }
}

/// Pulses of a clock set a state at rest in motion, from a fiftieth to a third of the run long.
#[test]
fn pulses_on_a_state_at_rest_are_seen() {
    for seed in 0..200 {
        let mut draw = SplitMix64(seed);
        let half = 0.5 * 10f64.powf(draw.between(-1.7, -0.5));
        let centre = draw.between(half, 1.0 - half);
        let strength = draw.between(0.5, 5.0) / half;
        let kind = seed % 3;
        let pushed = Sketch::new(2, move |t, _, _, dx| {
            let z = (t - centre) / half;
            // A bump, half a wave, and a switch: their integrals over z are these.
            let pulse = match kind {
                _ if z.abs() >= 1.0 => 0.0,
                0 => (1.0 - z * z).powi(3) * 35.0 / 32.0,
                1 => (0.5 * PI * z).cos() * 0.25 * PI,
                _ => 0.5,
            };
            dx.copy_from_slice(&[strength * pulse, 0.0]);
        });
        let whole = strength * half;
        let pushed = pushed.events([Watch::RISING], move |_, _, x, _| x[0] - 0.5 * whole);
        let mut integrator = Integrator::new(&pushed).unwrap();
        let run = integrator
            .integrate(&Start::at(0.0).x(&[0.0, 1.0]), 1.0)
            .unwrap();
        assert_eq!(run.crossings().len(), 1, "{seed} {centre} {half}");
        let off = run.state()[0] / whole - 1.0;
        // A step with stages on either side of a switch is off by more than these tell, and one with the end of a half
        // wave between them, where the force bends, by less.
        let allowed = [1e-4, 1e-3, 1e-2][kind as usize];
        assert!(off.abs() < allowed, "{seed} {centre} {half}: {off:e}");
    }
}
