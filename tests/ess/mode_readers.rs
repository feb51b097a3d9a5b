//! Event functions that read the mode: crossings change their rates, or also their values, and what
//! was known of them before says nothing of them behind.

use saltation::{Integrator, Mode, Projection, Start, Status, Watch};

use crate::fixtures::support::{Sketch, SplitMix64};

const GUARDS: usize = 6;

/// Places that `x' = 1` passes one after the other, a guard at each.
#[derive(Clone)]
struct Row {
    places: Vec<f64>,
    /// What the crossing of each adds to the rates of those behind it.
    slopes: Vec<Vec<f64>>,
    /// Values change with the mode too.
    jumps: bool,
}

impl Row {
    fn random(seed: u64, jumps: bool) -> Self {
        let mut draws = SplitMix64(seed);
        let mut unit = || draws.unit();
        let mut place = 0.3 + 0.1 * unit();
        let mut next = || {
            // From a hundredth of a microsecond to a hundredth of a second.
            place += 10f64.powf(-8.0 + 6.0 * unit());
            place
        };
        let places: Vec<f64> = (0..GUARDS).map(|_| next()).collect();
        let slope = |_: usize| 10f64.powf(4.0 * unit() - 2.0);
        let slopes = (0..GUARDS * GUARDS).map(slope).collect::<Vec<_>>();
        Self {
            places,
            slopes: slopes.chunks(GUARDS).map(<[f64]>::to_vec).collect(),
            jumps,
        }
    }

    /// Zero at the place of guard `k` once all before it are crossed, and before zero there until
    /// then; its slope in `x` grows with each of them.
    fn value(&self, k: usize, x: f64, mode: &Mode) -> f64 {
        let own = self.places[k];
        let terms = (0..k).map(|j| {
            let (slope, place) = (self.slopes[j][k], self.places[j]);
            match (mode.contains(j), self.jumps) {
                (true, _) => slope * (x - own),
                // As if `x` had stayed at the place of the crossing.
                (false, false) => slope * (place - own),
                (false, true) => 3.0 * slope * (place - own),
            }
        });
        x - own + terms.sum::<f64>()
    }
}

#[test]
fn guards_whose_rates_change_at_each_crossing_are_met_in_order() {
    let projections = [
        Projection::Auto,
        Projection::Off,
        Projection::eps(1e-3, 3),
        Projection::horizon(1e-3, 3),
    ];
    let seeds = if cfg!(debug_assertions) { 250 } else { 5000 };
    for seed in 0..seeds {
        let case = Row::random(seed, seed % 2 == 1);
        for projection in &projections {
            let model = case.clone();
            let system = Sketch::new(2, |_, _, mode: &Mode, dx: &mut [f64]| {
                dx.copy_from_slice(&[1.0, mode.ones().count() as f64]);
            })
            .events([Watch::BOTH; GUARDS], move |k, _, x, mode| {
                model.value(k, x[0], mode)
            });
            let integrator = Integrator::new(system).unwrap();
            let mut integrator = integrator.projection(projection.clone());
            let run = integrator
                .integrate(&Start::at(0.0).x(&[0.0, 0.0]), 1.0)
                .unwrap();
            let what = format!("{seed}, {projection:?}: {:?}", case.places);
            assert_eq!(*run.status(), Status::ReachedEnd, "{what}");
            let found = run.crossings();
            let met: Vec<usize> = found.iter().map(|c| c.guard.event).collect();
            assert_eq!(met, (0..GUARDS).collect::<Vec<_>>(), "{what}");
            for (crossing, place) in found.iter().zip(&case.places) {
                let off = (crossing.t - place).abs();
                assert!(off <= 1e-12, "{what}: {} by {off:e}", crossing.guard);
            }
        }
    }
}
