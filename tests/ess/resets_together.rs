//! Guards whose resets together are other ones than one after the other: those within the distance that the
//! model gives cross at once, and where the error of the run hides the order the run says so.

use saltation::{
    Crossing, Doubt, EventFunction, Flow, Guard, Integrator, Mode, Projection, Run, Start, Status,
    Stop, Watch,
};

use crate::fixtures::support::SplitMix64;

/// `p = cos t`, which falls through zero at π/2; the second guard is `apart` higher. A counter, the third
/// state, takes the square of the number of guards that cross at once. Resets may slow it down.
#[derive(Clone, Copy)]
struct Falling {
    apart: f64,
    within: f64,
    /// The factor of the velocity by each reset.
    slows: f64,
}

impl Flow for Falling {
    fn dim(&self) -> usize {
        3
    }
    fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx.copy_from_slice(&[x[1], -x[0], 0.0]);
    }
}

impl EventFunction for Falling {
    fn count(&self) -> usize {
        2
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[0] + self.apart * k as f64
    }
    fn watch(&self, _k: usize) -> Watch {
        Watch::FALLING
    }
    fn crosses_within(&self, _k: usize) -> f64 {
        self.within
    }
    fn resets(&self) -> bool {
        true
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let count = crossing.crossed.guards().len() as f64;
        crossing.x[2] += count * count;
        crossing.x[1] *= self.slows;
        Ok(())
    }
}

fn run(system: Falling, projection: Projection, rtol: f64) -> Run {
    let mut integrator = Integrator::new(system).unwrap().projection(projection);
    integrator = integrator.rtol(rtol).atol(1e-3 * rtol);
    let run = integrator
        .integrate(&Start::at(0.0).x(&[1.0, 0.0, 0.0]), 4.0)
        .unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    // Each of them once, whether it is met or crossed from where it is.
    for k in 0..2 {
        let times = run.crossings().iter().filter(|c| c.guard.event == k);
        assert_eq!(times.count(), 1, "{k} {}", system.apart);
    }
    run
}

fn orders(run: &Run) -> Vec<Doubt> {
    let is_order = |d: &&Doubt| matches!(d, Doubt::Order { .. });
    run.doubts().iter().filter(is_order).copied().collect()
}

fn projections() -> [Projection; 3] {
    let horizon = Projection::Horizon {
        tau: 1e-3,
        order: 3,
    };
    [Projection::Auto, Projection::Off, horizon]
}

#[test]
fn guards_within_the_distance_cross_at_once() {
    for projection in projections() {
        for (within, apart, together) in [
            (1e-10, 9e-11, true),
            (1e-10, 1e-12, true),
            (1e-10, 1.1e-10, false),
            (0.0, 1e-12, false),
            (1e-6, 9e-7, true),
            (1e-6, 1.1e-6, false),
        ] {
            for apart in [apart, -apart] {
                let run = run(
                    Falling {
                        apart,
                        within,
                        slows: 0.75,
                    },
                    projection.clone(),
                    1e-11,
                );
                let expected = if together { 4.0 } else { 2.0 };
                let found = run.state()[2];
                assert_eq!(
                    found.to_bits(),
                    f64::to_bits(expected),
                    "{projection:?} {within} {apart}"
                );
            }
        }
    }
}

#[test]
fn an_order_that_the_error_hides_is_doubted() {
    for projection in projections() {
        for apart in [1e-8, -1e-8] {
            let within = 1e-10;
            let run_at = |rtol| {
                run(
                    Falling {
                        apart,
                        within,
                        slows: 0.75,
                    },
                    projection.clone(),
                    rtol,
                )
            };
            let found = orders(&run_at(1e-4));
            let [
                Doubt::Order {
                    first,
                    guard,
                    gap,
                    error,
                    t,
                },
            ] = found[..]
            else {
                panic!("{projection:?} {apart}: {found:?}");
            };
            let last = usize::from(apart > 0.0);
            assert_eq!((first.event, guard.event), (1 - last, last));
            // The other guard is as far as it lies apart.
            assert!((gap - 1e-8).abs() < 1e-12 && gap <= error, "{gap} {error}");
            assert!((t - std::f64::consts::FRAC_PI_2).abs() < 1e-3);
            // At this tolerance it is known.
            assert!(orders(&run_at(1e-11)).is_empty());
            let not_gathered = Falling {
                apart,
                within: 0.0,
                slows: 0.75,
            };
            assert_eq!(
                orders(&run(not_gathered, projection.clone(), 1e-4)).len(),
                1
            );
            // Nor where no reset changes what comes of the other guard.
            let steady = Falling {
                apart,
                within,
                slows: 1.0,
            };
            assert!(orders(&run(steady, projection.clone(), 1e-4)).is_empty());
        }
        // They are known to cross one after the other.
        let far = Falling {
            apart: 0.1,
            within: 1e-10,
            slows: 0.75,
        };
        assert!(orders(&run(far, projection, 1e-4)).is_empty());
    }
}

/// Neurons that leak, and push each other over their thresholds as they fire.
struct Neurons {
    drive: Vec<f64>,
    /// What each one that fires adds to the others.
    pulse: f64,
}

impl Flow for Neurons {
    fn dim(&self) -> usize {
        self.drive.len()
    }
    fn flow(&self, _t: f64, x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        let each = dx.iter_mut().zip(x.iter().zip(&self.drive));
        each.for_each(|(dx, (x, drive))| *dx = drive - 0.7 * x);
    }
}

impl EventFunction for Neurons {
    fn count(&self) -> usize {
        self.drive.len()
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[k] - 1.0
    }
    fn watch(&self, _k: usize) -> Watch {
        Watch::RISING
    }
    fn on_crossing(&self, crossing: &mut Crossing<'_>) -> Result<(), Stop> {
        let (_, crossed, x, _) = crossing.parts();
        for k in crossed.events() {
            let add = |(i, x): (usize, &mut f64)| *x += if i == k { -1.0 } else { self.pulse };
            x.iter_mut().enumerate().for_each(add);
        }
        Ok(())
    }
}

/// A limit of crossings may be met where resets carry others across: what follows at that instant belongs to it, and a
/// run that goes on from there loses none.
#[test]
fn a_run_that_is_cut_by_its_limit_of_crossings_goes_on_with_all_of_them() {
    let mut random = SplitMix64(11);
    let mut beyond = 0;
    for case in 0..200 {
        let count = 2 + case % 4;
        let neurons = Neurons {
            drive: (0..count).map(|_| random.between(0.9, 1.6)).collect(),
            pulse: random.between(0.02, 0.4) / count as f64,
        };
        let start: Vec<f64> = (0..count).map(|_| random.between(0.2, 0.95)).collect();
        let start = Start::at(0.0).x(&start);
        let with = |limit: usize| {
            let integrator = Integrator::new(&neurons).unwrap().max_events(limit);
            integrator.rtol(1e-10).atol(1e-12)
        };
        let whole = with(1000).integrate(&start, 5.0).unwrap();
        assert_eq!(*whole.status(), Status::ReachedEnd, "{case}");
        let limit = 1 + case % 3;
        let mut integrator = with(limit);
        let (mut fired, mut end) = (Vec::new(), start);
        let mut parts = 0;
        let mut run;
        let last = loop {
            run = integrator.integrate(&end, 5.0).unwrap();
            fired.extend(run.crossings().iter().map(|c| c.guard));
            beyond += usize::from(run.crossings().len() > limit);
            if *run.status() == Status::ReachedEnd {
                break &run;
            }
            let is_limit = matches!(run.status(), Status::Refused(Stop::TooManyEvents { .. }));
            assert!(is_limit, "{case}: {}", run.status());
            let is_bounded = fired.len() <= whole.crossings().len();
            assert!(is_bounded, "{case}: more than in the whole run");
            parts += 1;
            assert!(parts <= 1000, "{case}: parts without end");
            end = run.end();
        };
        let expected: Vec<Guard> = whole.crossings().iter().map(|c| c.guard).collect();
        assert_eq!(fired, expected, "{case}");
        let off = (last.state() - whole.state()).amax();
        assert!(off < 1e-7, "{case}: {off:e}");
    }
    assert!(beyond > 50, "{beyond}");
}
