//! A run that ends with its events, and goes on from there, is the uncut run: the crossing that was one too many is
//! made, and no other lost.

use std::cell::Cell;
use std::rc::Rc;

use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::{PlateParameters, SoftTrot, VerticalPlate};
use saltation::{
    ContactModel, Driver, EventDriven, EventFunction, Flow, Integrator, Mode, Projection, Run,
    Start, Status, Stop,
};

use super::random::SplitMix64;

/// Two rods on a pin over a floor, on which the knee and the end land, slide without friction, and are lifted off.
#[derive(Clone, Copy)]
struct Rods {
    masses: [f64; 2],
    lengths: [f64; 2],
    restitution: f64,
}

impl MechanicalSystem for Rods {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        let ([m0, m1], [l0, l1]) = (self.masses, self.lengths);
        let coupling = m1 * l0 * l1 * (q[0] - q[1]).cos();
        mass.copy_from_slice(&[(m0 + m1) * l0 * l0, coupling, coupling, m1 * l1 * l1]);
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let ([m0, m1], [l0, l1]) = (self.masses, self.lengths);
        effort[0] = -(m0 + m1) * 9.81 * l0 * q[0].sin();
        effort[1] = -m1 * 9.81 * l1 * q[1].sin();
    }
}

impl UnilateralConstraints for Rods {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let knee = 1.1 - self.lengths[0] * q[0].cos();
        if j == 0 {
            knee
        } else {
            knee - self.lengths[1] * q[1].cos()
        }
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
}

/// The uncut run by a driver, and the state in which a live one ends that is cut by its events.
struct Pair {
    name: String,
    whole: Run,
    /// The limit, and the driver with it.
    limit: usize,
    limited: Box<dyn Driver>,
}

fn rods(seed: u64) -> (Rods, [f64; 4]) {
    let mut random = SplitMix64(seed);
    let mut between = |low, high| random.between(low, high);
    let rods = Rods {
        masses: [between(0.5, 2.0), between(0.5, 2.0)],
        lengths: [between(0.5, 1.0), between(0.5, 1.0)],
        restitution: [0.0, 0.5][(seed % 2) as usize],
    };
    let start = [
        between(1.5, 2.2),
        between(1.3, 2.5),
        between(-1.0, 1.0),
        between(-1.0, 1.0),
    ];
    (rods, start)
}

/// Goes to `tf` in as many parts as it takes.
fn in_parts(pair: &mut Pair, start: &Start<'_>, tf: f64) -> (Vec<f64>, usize, usize) {
    let name = &pair.name;
    let mut live = pair.limited.live(start).unwrap().keep();
    let most = pair.whole.crossings().len().max(pair.whole.events().len()) + 2;
    for parts in 1..=most {
        match live.advance(tf, &[]) {
            Ok(()) => {
                let run = live.run().unwrap();
                let events = run.crossings().len().max(run.events().len());
                return (live.state().to_vec(), events, parts);
            }
            Err(Stop::TooManyEvents { .. }) => {}
            Err(reason) => panic!("{name}, {}: {reason}", pair.limit),
        }
    }
    panic!("{name}, {}: more parts than events", pair.limit);
}

/// Compares, and counts the parts.
fn check(mut pair: Pair, start: &Start<'_>, tf: f64) -> usize {
    let (state, events, parts) = in_parts(&mut pair, start, tf);
    let (name, limit, whole) = (&pair.name, pair.limit, &pair.whole);
    let known = whole.crossings().len().max(whole.events().len());
    assert_eq!(events, known, "{name}, {limit}");
    let same = state.iter().zip(whole.state().iter());
    let same = same.into_iter().all(|(a, b)| a.to_bits() == b.to_bits());
    assert!(same, "{name}, {limit}: {state:?} {:?}", whole.state());
    parts
}

#[test]
fn rods_that_are_cut_by_their_events_go_on() {
    let (mut runs, mut parts, mut released) = (0, 0, 0);
    for seed in 0..150 {
        let (rods, [a, b, c, d]) = rods(seed);
        let (q, v) = ([a, b], [c, d]);
        let start = Start::at(0.0).q(&q).v(&v);
        let driver = || EventDriven::new(ContactModel::new(rods)).unwrap();
        let Ok(whole) = driver().rtol(1e-8).integrate(&start, 2.0) else {
            continue; // It starts in the floor.
        };
        if *whole.status() != Status::ReachedEnd {
            continue;
        }
        runs += 1;
        released += whole
            .events()
            .iter()
            .filter(|e| !e.released.is_empty())
            .count();
        for limit in 1..=3 {
            let pair = Pair {
                name: format!("rods {seed}"),
                whole: whole.clone(),
                limit,
                limited: Box::new(driver().rtol(1e-8).max_events(limit)),
            };
            parts += check(pair, &start, 2.0);
        }
    }
    assert!(
        runs > 50 && parts > 3 * runs && released > 20,
        "{runs} {parts} {released}"
    );
}

#[test]
fn a_trot_that_is_cut_by_its_events_goes_on() {
    let (q, v) = SoftTrot::default().start(0.02);
    let start = Start::at(0.0).q(&q).v(&v);
    for limit in 1..=3 {
        let driver = || EventDriven::new(ContactModel::new(SoftTrot::default())).unwrap();
        let pair = Pair {
            name: "trot".into(),
            whole: driver().integrate(&start, 0.65).unwrap(),
            limit,
            limited: Box::new(driver().max_events(limit)),
        };
        let parts = check(pair, &start, 0.65);
        assert!(parts > 1 || limit > 1);
    }
}

/// Of guards at one instant all are crossed, however few are allowed.
#[test]
fn guards_of_one_instant_are_not_parted_by_the_limit() {
    let plate = VerticalPlate::new(PlateParameters::with_springs(20)).unwrap();
    for projection in [Projection::Auto, Projection::Off] {
        for tilt in [0.0, 1e-3] {
            let x = [0.0, 2.2, tilt, 0.0, 0.0, 0.0];
            let start = Start::at(0.0).x(&x);
            for limit in [1, 2, 7] {
                let driver = || {
                    let integrator = Integrator::new(plate.clone()).unwrap().rtol(1e-6);
                    integrator.projection(projection.clone())
                };
                let pair = Pair {
                    name: format!("plate {projection:?} {tilt}"),
                    whole: driver().integrate(&start, 1.5).unwrap(),
                    limit,
                    limited: Box::new(driver().max_events(limit)),
                };
                assert!(check(pair, &start, 1.5) > 1);
            }
        }
    }
}

/// Time itself, and two clocks of which the user sets one.
#[derive(Clone)]
struct Clocks(Rc<Cell<f64>>);

impl Flow for Clocks {
    fn dim(&self) -> usize {
        1
    }
    fn flow(&self, _t: f64, _x: &[f64], _mode: &Mode, dx: &mut [f64]) {
        dx[0] = 1.0;
    }
}

impl EventFunction for Clocks {
    fn count(&self) -> usize {
        2
    }
    fn event(&self, k: usize, _t: f64, x: &[f64], _mode: &Mode) -> f64 {
        x[0] - if k == 0 { 1.0 } else { self.0.get() }
    }
}

/// A guard that was refused, and that the user moves before the run goes on, is crossed where it is by then. One that
/// stays is crossed by whichever driver takes the run up.
#[test]
fn a_refused_guard_that_is_moved_is_crossed_where_it_is() {
    for (moved, projection) in [2.0, 5.0]
        .into_iter()
        .flat_map(|moved| [Projection::Auto, Projection::Off].map(|p| (moved, p)))
    {
        let clock = Rc::new(Cell::new(2.0));
        let driver = || {
            let integrator = Integrator::new(Clocks(Rc::clone(&clock))).unwrap();
            integrator.max_events(1).projection(projection.clone())
        };
        let mut first = driver();
        let mut live = first.live(&Start::at(0.0).x(&[0.0])).unwrap();
        let refused = live.advance(10.0, &[]);
        assert!(matches!(refused, Err(Stop::TooManyEvents { .. })));
        let saved = live.snapshot();
        clock.set(moved);
        for tf in [10.0, 8.0] {
            let mut other = driver();
            let run = other.resume(&saved).unwrap().integrate(tf, &[]).unwrap();
            let times: Vec<f64> = run.crossings().iter().map(|c| c.t).collect();
            assert_eq!(times.len(), 1, "{moved} {tf} {projection:?} {times:?}");
            assert!((times[0] - moved).abs() < 1e-9, "{moved} {tf} {times:?}");
        }
    }
}
