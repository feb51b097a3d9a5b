//! A light ball between the floor and a heavy ball that falls on it: thrown to and fro, it strikes both ever faster,
//! by intervals that shrink much faster than the speeds do, and in the end both lie still.

use saltation::event_driven::{ContactEvent, ContactEventKind, Zeno};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Run, Start, Status};

use crate::random::SplitMix64;

const GRAVITY: f64 = 9.81;

/// Heights of the two balls, and their places along the floor, where they do not move.
#[derive(Clone, Copy, Debug)]
struct Balls {
    masses: [f64; 2],
    restitution: [f64; 2],
    friction: f64,
}

impl MechanicalSystem for Balls {
    fn dof(&self) -> usize {
        4
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        for i in 0..4 {
            mass[5 * i] = self.masses[i % 2];
        }
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let [light, heavy] = self.masses.map(|mass| -mass * GRAVITY);
        effort.copy_from_slice(&[light, heavy, 0.0, 0.0]);
    }
    fn time_scale(&self) -> Option<f64> {
        Some(f64::INFINITY)
    }
}

impl UnilateralConstraints for Balls {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        if j == 0 { q[0] } else { q[1] - q[0] }
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        let lower = if j == 0 { [1.0, 0.0] } else { [-1.0, 1.0] };
        row.copy_from_slice(&[lower[0], lower[1], 0.0, 0.0]);
        true
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
    fn restitution(&self, j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution[j]
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        let along = if j == 0 { [1.0, 0.0] } else { [-1.0, 1.0] };
        rows.copy_from_slice(&[0.0, 0.0, along[0], along[1]]);
    }
}

/// The gaps and their rates.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Gaps {
    gaps: [f64; 2],
    rates: [f64; 2],
}

/// Flight after flight, each in closed form, until nothing moves any more.
fn exact(balls: Balls, from: Gaps, end: f64) -> Option<Gaps> {
    let ([mut a, mut b], [mut u, mut w]) = (from.gaps, from.rates);
    let [light, heavy] = balls.masses;
    let mut left = end;
    for _ in 0..100_000 {
        let root = (u * u + 2.0 * GRAVITY * a).sqrt();
        let lands = if u <= 0.0 && a > 0.0 {
            2.0 * a / (root - u)
        } else {
            (u + root) / GRAVITY
        };
        let meet = if w < 0.0 { -b / w } else { f64::INFINITY };
        let flight = lands.min(meet).min(left);
        a += u * flight - 0.5 * GRAVITY * flight * flight;
        u -= GRAVITY * flight;
        b += w * flight;
        left -= flight;
        if left <= 0.0 {
            return Some(Gaps {
                gaps: [a, b],
                rates: [u, w],
            });
        }
        if lands <= meet {
            // The heavy ball keeps its speed.
            (a, w) = (0.0, w + u * (1.0 + balls.restitution[0]));
            u *= -balls.restitution[0];
        } else {
            let impulse = -(1.0 + balls.restitution[1]) * w / (1.0 / light + 1.0 / heavy);
            (b, u) = (0.0, u - impulse / light);
            w *= -balls.restitution[1];
        }
        if [u, w, a, b].iter().all(|x| x.abs() < 1e-11) {
            return Some(Gaps {
                gaps: [0.0; 2],
                rates: [0.0; 2],
            });
        }
    }
    None
}

fn run(balls: Balls, from: Gaps, end: f64) -> Run {
    let ([a, b], [u, w]) = (from.gaps, from.rates);
    let mut driver = EventDriven::new(ContactModel::new(balls)).unwrap();
    driver = driver.rtol(1e-10).atol(1e-12).zeno(Zeno::Absorb);
    let (q, v) = ([a, a + b, 0.0, 0.0], [u, u + w, 0.0, 0.0]);
    let start = Start::at(0.0).q(&q).v(&v);
    driver.integrate(&start, end).unwrap()
}

fn drawn(friction: f64, seed: u64) -> (Balls, Gaps, f64) {
    let mut draw = SplitMix64(seed);
    let mut between = |least, most| draw.between(least, most);
    let balls = Balls {
        masses: [between(0.05, 1.0), between(0.5, 5.0)],
        restitution: [between(0.1, 0.9), between(0.1, 0.9)],
        friction,
    };
    let (a, top) = (between(0.05, 0.3), between(0.35, 0.6));
    let (u, v) = (between(-1.0, 0.5), between(-3.0, 0.0));
    let from = Gaps {
        gaps: [a, top - a],
        rates: [u, v - u],
    };
    (balls, from, between(0.3, 0.6))
}

/// How far what ends a run is off, and what a nanometre at its start makes of its end, in metres a metre.
fn off(friction: f64, seed: u64) -> Option<(Run, f64, f64)> {
    let (balls, from, end) = drawn(friction, seed);
    let mut beside = from;
    beside.gaps[0] += 1e-9;
    let (right, near) = (exact(balls, from, end)?, exact(balls, beside, end)?);
    let apart = |a: Gaps, b: Gaps| {
        let numbers = |of: Gaps| [of.gaps, of.rates].concat();
        let pairs = numbers(a).into_iter().zip(numbers(b));
        pairs.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()))
    };
    let run = run(balls, from, end);
    let x = run.state();
    let found = Gaps {
        gaps: [x[0], x[1] - x[0]],
        rates: [x[4], x[5] - x[4]],
    };
    let off = apart(found, right);
    Some((run, off, apart(near, right) / 1e-9))
}

/// Without friction and with it, which nothing slides against. Runs whose end a nanometre at the start decides are
/// left out.
#[test]
fn what_is_thrown_to_and_fro_comes_to_rest_on_both() {
    let cases = if cfg!(debug_assertions) { 150 } else { 3000 };
    for friction in [0.0, 0.3] {
        let (mut compared, mut absorbed) = (0, 0);
        // With friction the last one was struck by both contacts at once.
        for seed in (0..cases).chain([759]) {
            let Some((run, off, spread)) = off(friction, seed) else {
                continue;
            };
            if spread > 1e5 {
                continue;
            }
            assert_eq!(*run.status(), Status::ReachedEnd, "{friction} {seed}");
            assert!(off < 1e-6 + 1e-8 * spread, "{friction} {seed}: {off:e}");
            compared += 1;
            let mut kinds = run.events().iter().map(|event| event.kind);
            absorbed += u64::from(kinds.any(|kind| kind == ContactEventKind::ZenoAbsorbed));
        }
        assert!(
            compared > cases / 2 && absorbed > cases / 2,
            "{compared} {absorbed}"
        );
    }
}

/// The heavy ball rebounds by less than a picometre from the light one as that comes to rest.
#[test]
fn a_rebound_too_low_to_be_resolved_is_no_graze_when_what_it_left_is_held() {
    let balls = Balls {
        masses: [0.8977785921353917, 4.0075491362821225],
        restitution: [0.5101892523839012, 0.7160697007945653],
        friction: 0.3,
    };
    let (a, b) = (0.21931039261978202, 0.5690439321269861);
    let (u, w) = (-0.9420225390586998, -2.128217552437232);
    let from = Gaps {
        gaps: [a, b - a],
        rates: [u, w - u],
    };
    let run = run(balls, from, 0.5);
    assert_eq!(*run.status(), Status::ReachedEnd);
    assert!(
        run.state().iter().all(|x| x.abs() < 1e-9),
        "{}",
        run.state()
    );
}

/// Three bodies of 1 kg far from each other: heights, and places along the floor.
#[derive(Clone, Copy, Debug)]
struct Apart {
    restitution: [f64; 3],
    friction: f64,
}

impl MechanicalSystem for Apart {
    fn dof(&self) -> usize {
        6
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        mass.iter_mut().step_by(7).for_each(|m| *m = 1.0);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[..3].fill(-GRAVITY);
        effort[3..].fill(0.0);
    }
}

impl UnilateralConstraints for Apart {
    fn contacts(&self) -> usize {
        3
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[j]
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.fill(0.0);
        row[j] = 1.0;
        true
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
    fn restitution(&self, j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution[j]
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.fill(0.0);
        rows[3 + j] = 1.0;
    }
}

/// Two balls that bounce to rest at times of their own, the second one up in the air when the first one lies still,
/// and a block that slides by.
#[test]
fn accumulations_are_nothing_to_bodies_far_away() {
    for friction in [0.0, 0.3] {
        let bodies = Apart {
            restitution: [0.1, 0.9, 0.0],
            friction,
        };
        let first: [f64; 2] = [0.45, 0.04];
        let [a, b] = first.map(|t| 0.5 * GRAVITY * t * t);
        let mut driver = EventDriven::new(ContactModel::new(bodies)).unwrap();
        driver = driver.rtol(1e-9).atol(1e-11).zeno(Zeno::Absorb);
        let (q, v) = ([a, b, 0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 0.0, 10.0]);
        let start = Start::at(0.0).q(&q).v(&v);
        let run = driver.integrate(&start, 100.0).unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd, "{friction}");
        let absorbed = |event: &&ContactEvent| event.kind == ContactEventKind::ZenoAbsorbed;
        let all: Vec<_> = run.events().iter().filter(absorbed).collect();
        assert_eq!(all.len(), 2, "{friction}");
        for (event, j) in all.iter().zip([0, 1]) {
            let e = bodies.restitution[j];
            let exact = first[j] * (1.0 + e) / (1.0 - e);
            assert_eq!(event.activated, [j], "{friction}");
            assert!(
                (event.t - exact).abs() < 1e-6,
                "{friction} {j}: {}",
                event.t
            );
        }
        let slid = if friction > 0.0 {
            50.0 / (friction * GRAVITY)
        } else {
            1000.0
        };
        assert!(
            (run.state()[5] - slid).abs() < 1e-6,
            "{friction}: {}",
            run.state()[5]
        );
    }
}

/// The block comes to rest after the last impact that the first ball is seen to have.
#[test]
fn a_slip_that_stops_just_before_an_accumulation_does_not_turn_round() {
    let bodies = Apart {
        restitution: [0.5, 0.9, 0.0],
        friction: 0.3,
    };
    let height = 0.5 * GRAVITY * 0.1 * 0.1;
    let accumulation = 0.1 * 1.5 / 0.5;
    let mut driver = EventDriven::new(ContactModel::new(bodies)).unwrap();
    driver = driver.rtol(1e-10).atol(1e-12).zeno(Zeno::Absorb);
    for before in [1e-7, 2e-7, 4e-7] {
        let speed = bodies.friction * GRAVITY * (accumulation - before);
        let (q, v) = (
            [height, 10.0, 0.0, 0.0, 0.0, 0.0],
            [0.0, 0.0, 0.0, 0.0, 0.0, speed],
        );
        let start = Start::at(0.0).q(&q).v(&v);
        let run = driver.integrate(&start, 0.5).unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd, "{before}");
        let mut slips = run.events().iter().map(|event| event.state_after[11]);
        assert!(slips.all(|slip| slip >= 0.0), "{before}");
        let slid = speed * speed / (2.0 * bodies.friction * GRAVITY);
        // The slip of less than two microseconds is stopped early.
        let early = 0.5 * bodies.friction * GRAVITY * 2e-6 * 2e-6;
        assert!((run.state()[5] - slid).abs() < early, "{before}");
        assert!(run.state()[11].abs() < 1e-15, "{before}");
    }
}

/// The block comes to rest while the first ball flies up, lower than the tolerance of gaps: the ball flies on.
#[test]
fn a_slip_that_stops_lands_nothing_that_flies_low() {
    for restitution in [0.02, 0.03, 0.05] {
        let bodies = Apart {
            restitution: [restitution, 0.9, 0.0],
            friction: 0.3,
        };
        let (mut t, mut flight) = (0.1, 0.2 * restitution);
        while flight > 1e-5 {
            t += flight;
            flight *= restitution;
        }
        for part in [0.1, 0.2, 0.3, 0.4] {
            let stops = t + part * flight;
            let height = 0.5 * GRAVITY * 0.1 * 0.1;
            let speed = bodies.friction * GRAVITY * stops;
            let mut driver = EventDriven::new(ContactModel::new(bodies)).unwrap();
            driver = driver.rtol(1e-9).atol(1e-11).zeno(Zeno::Absorb);
            let (q, v) = (
                [height, 100.0, 0.0, 0.0, 0.0, 0.0],
                [0.0, 0.0, 0.0, 0.0, 0.0, speed],
            );
            let start = Start::at(0.0).q(&q).v(&v);
            let run = driver.integrate(&start, 1.0).unwrap();
            assert_eq!(*run.status(), Status::ReachedEnd, "{restitution} {part}");
            assert!(run.state()[0].abs() < 1e-12, "{restitution} {part}");
            let stop = run.events().iter().find(|event| event.stuck == [2]);
            let stop = stop.unwrap();
            assert!((stop.t - stops).abs() < 1e-9, "{}", stop.t);
            let [before, after] = [&stop.state_before, &stop.state_after].map(|x| x[0]);
            assert!(before > 0.0 && before < 1e-10, "{before}");
            assert_eq!(before.to_bits(), after.to_bits(), "{restitution} {part}");
        }
    }
}
