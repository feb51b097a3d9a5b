//! Guards entered and left within one long step, several at once: parabolic humps of which none may
//! be lost.

use saltation::{Direction, Integrator, Projection, Run, Start, Status, Watch};

use crate::fixtures::support::{Sketch, SplitMix64};

/// `h = steepness (half² − (x − centre)²)`, or its negative.
#[derive(Clone, Copy, Debug)]
struct Hump {
    centre: f64,
    half: f64,
    steepness: f64,
}

impl Hump {
    /// Product of the distances to both feet: no cancellation near them.
    fn height(self, x: f64) -> f64 {
        let (left, right) = (self.centre - self.half, self.centre + self.half);
        self.steepness * (x - left) * (right - x)
    }
}

/// `x' = 1` from 0 to 1.
fn walk<const N: usize>(humps: [Hump; N]) -> Sketch {
    Sketch::new(1, |_, _, _, dx| dx[0] = 1.0)
        .events([Watch::BOTH; N], move |k, _, x, _| humps[k].height(x[0]))
}

/// Each hump is crossed twice, at its feet, and all in order of time.
fn crosses_all(trajectory: &Run, humps: &[Hump], allowed: f64, what: &str) {
    assert_eq!(*trajectory.status(), Status::ReachedEnd, "{what}");
    for (k, hump) in humps.iter().enumerate() {
        let mine = trajectory.crossings().iter().filter(|c| c.guard.event == k);
        let [first, second] = mine.collect::<Vec<_>>()[..] else {
            panic!("{what}: guard {k} in {:?}", trajectory.crossings());
        };
        let up = if hump.steepness > 0.0 {
            Direction::Rising
        } else {
            Direction::Falling
        };
        assert_eq!(first.guard.direction, up, "{what}: guard {k}");
        assert_eq!(second.guard, first.guard.partner(), "{what}: guard {k}");
        let early = first.t - (hump.centre - hump.half);
        let late = second.t - (hump.centre + hump.half);
        assert!(
            early.abs() < allowed && late.abs() < allowed,
            "{what}: guard {k} is crossed {early:e} and {late:e} s late"
        );
    }
    let times: Vec<f64> = trajectory.crossings().iter().map(|c| c.t).collect();
    assert!(times.is_sorted(), "{what}: {times:?}");
    assert_eq!(times.len(), 2 * humps.len(), "{what}");
}

fn settings() -> [(&'static str, Projection, Option<f64>, f64); 4] {
    // A projection by `Auto` may miss the guard by its tolerance, 1e-6 times an x of at most 1,
    // once a crossing.
    [
        ("defaults", Projection::Auto, None, 1e-5),
        ("located", Projection::Off, None, 1e-12),
        ("one step", Projection::Off, Some(1.0), 1e-12),
        ("one step, projecting", Projection::Auto, Some(1.0), 1e-5),
    ]
}

fn walks<const N: usize>(humps: [Hump; N], case: &str) {
    for (name, projection, step, allowed) in settings() {
        let mut integrator = Integrator::new(walk(humps)).unwrap().projection(projection);
        if let Some(step) = step {
            integrator = integrator.fixed_step(step);
        }
        let trajectory = integrator
            .integrate(&Start::at(0.0).x(&[0.0]), 1.0)
            .unwrap();
        let what = format!("{case}, {name}: {humps:?}");
        crosses_all(&trajectory, &humps, allowed, &what);
    }
}

#[test]
fn a_narrow_hump_is_not_lost_behind_a_wide_one() {
    // h0 = −(x − 0.2)(x − 0.6), h1 = 0.001 − (x − 0.88)².
    let wide = Hump {
        centre: 0.4,
        half: 0.2,
        steepness: 1.0,
    };
    let narrow = Hump {
        centre: 0.88,
        half: 0.001f64.sqrt(),
        steepness: 1.0,
    };
    walks([wide, narrow], "after it");
    walks([narrow, wide], "renumbered");
    let inside = Hump {
        centre: 0.45,
        ..narrow
    };
    walks([wide, inside], "inside it");
}

fn random_humps<const N: usize>(seed: u64) {
    let mut random = SplitMix64(seed);
    for case in 0..200 {
        let humps = [(); N].map(|()| {
            let half = 10f64.powf(random.between(-3.0, -0.4));
            let sign = if random.unit() < 0.5 { 1.0 } else { -1.0 };
            Hump {
                centre: random.between(half + 1e-3, 1.0 - half - 1e-3),
                half,
                steepness: sign * 10f64.powf(random.between(-1.0, 2.0)),
            }
        });
        walks(humps, &format!("seed {seed}, case {case}"));
    }
}

#[test]
fn no_hump_of_two_to_five_in_one_step_is_lost() {
    random_humps::<2>(2);
    random_humps::<3>(3);
    random_humps::<4>(4);
    random_humps::<5>(5);
}
