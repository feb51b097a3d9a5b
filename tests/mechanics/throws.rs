//! Rods and polygons thrown onto planes and into wedges: they turn many times in what would be one
//! step of their flight.

use std::f64::consts::{PI, TAU};

use saltation::event_driven::{Breakdown, Zeno};
use saltation::mechanics::{Redundant, UnilateralConstraints};
use saltation::{ContactModel, EventDriven, Run};
use saltation::{Start, Status};

use crate::polygon::{Plane, Polygon};
use crate::random::SplitMix64;

struct Throw {
    body: Polygon,
    q: [f64; 3],
    v: [f64; 3],
    end: f64,
}

fn throw(random: &mut SplitMix64, corners: usize, elastic: bool) -> Throw {
    let phase = random.between(0.0, TAU);
    let mut angles: Vec<f64> = match corners {
        2 => vec![0.0, PI],
        _ => (0..corners).map(|_| random.between(0.0, TAU)).collect(),
    };
    angles.sort_by(f64::total_cmp);
    let corners: Vec<[f64; 2]> = angles
        .iter()
        .map(|angle| {
            let radius = random.between(0.3, 1.0);
            [
                radius * (angle + phase).cos(),
                radius * (angle + phase).sin(),
            ]
        })
        .collect();
    let planes = match random.next() % 3 {
        0 => vec![
            Plane::tilted(random.between(0.3, 1.2)),
            Plane::tilted(-random.between(0.3, 1.2)),
        ],
        1 => vec![Plane::tilted(random.between(-0.4, 0.4))],
        _ => vec![Plane::tilted(0.0)],
    };
    let body = Polygon {
        corners,
        planes,
        mass: random.between(0.5, 2.0),
        inertia: random.between(0.05, 0.6),
        gravity: 9.81,
        restitution: if elastic {
            1.0
        } else {
            random.between(0.0, 0.9)
        },
        written: random.unit() < 0.5,
    };
    let mut q = [random.between(-0.5, 0.5), 0.0, random.between(0.0, TAU)];
    // Lifted until it is free.
    q[1] = random.between(0.1, 3.0) - body.least_gap(&q) * 1.0;
    while body.least_gap(&q) < 0.05 {
        q[1] += 0.5;
    }
    let turn = 10f64.powf(random.between(-0.5, 1.6)) * if random.unit() < 0.5 { 1.0 } else { -1.0 };
    let v = [random.between(-2.0, 2.0), random.between(-3.0, 3.0), turn];
    Throw {
        body,
        q,
        v,
        end: 2.0,
    }
}

fn run(throw: &Throw, longest: f64) -> Run {
    let model = ContactModel::new(throw.body.clone()).redundant(Redundant::LeastSquares);
    let mut simulation = EventDriven::new(model)
        .unwrap()
        .zeno(Zeno::Absorb)
        .configure(|integrator| integrator.max_step(longest));
    simulation
        .integrate(&Start::at(0.0).q(&throw.q).v(&throw.v), throw.end)
        .unwrap()
}

/// What a campaign found, beside failures.
#[derive(Debug, Default)]
struct Tally {
    reached: usize,
    grazed: usize,
    alike: usize,
    parted: usize,
    guaranteed: usize,
    steps: usize,
    narrowed: usize,
}

/// How a throw came out: with the steps that the motion allows, and with short ones.
fn compare(throw: &Throw, tally: &mut Tally) -> Result<(), String> {
    let (found, reference) = (run(throw, f64::INFINITY), run(throw, 2e-3));
    let status = found.status();
    tally.steps += found.statistics().steps;
    tally.narrowed += found.statistics().narrowed;
    tally.guaranteed += usize::from(found.is_guaranteed());
    match (status, status.reason::<Breakdown>()) {
        (Status::ReachedEnd, _) => tally.reached += 1,
        // Honest where it is so: the corner comes that close.
        (_, Some(Breakdown::Grazing { contact, t, .. })) => {
            tally.grazed += 1;
            let q = reference.state_at(*t).map_err(|e| e.to_string())?;
            let gap = throw.body.gap(*contact, &q.as_slice()[..3]);
            if gap.abs() > 1e-4 {
                return Err(format!("{status}: the gap is {gap:e}"));
            }
        }
        _ => return Err(status.to_string()),
    }
    // Open corners are nowhere below the planes.
    let contacts = throw.body.contacts();
    for i in 0..=2000 {
        let t = found.t() * f64::from(i) / 2000.0;
        let state = found.state_at(t).map_err(|e| e.to_string())?;
        let mode = found.mode_at(t).map_err(|e| e.to_string())?;
        let open = (0..contacts).filter(|j| !mode.flag(*j));
        let gaps = open.map(|j| throw.body.gap(j, &state.as_slice()[..3]));
        let least = gaps.fold(f64::INFINITY, f64::min);
        if least < -1e-8 {
            return Err(format!("{least:e} deep at {t}"));
        }
    }
    let energy = |state: &[f64]| throw.body.energy(state);
    let (before, after) = (
        energy(&[throw.q, throw.v].concat()),
        energy(found.state().as_slice()),
    );
    if throw.body.restitution >= 1.0 && (after - before).abs() > 1e-4 * before.abs() {
        return Err(format!("energy {before} becomes {after}"));
    }
    // Events are the same until the errors of their times, which impacts multiply, are those
    // between them.
    let (mut apart, mut last) = (0.0f64, 0.0);
    for (a, b) in found.events().iter().zip(reference.events()) {
        let off = (a.t - b.t).abs();
        if a.activated != b.activated || off > 1e-3 {
            tally.parted += 1;
            return if apart > 1e-4 * (b.t - last) || !found.is_guaranteed() {
                Ok(())
            } else {
                Err(format!(
                    "{:?} at {}, with short steps {:?} at {}, {apart:e} apart before",
                    a.activated, a.t, b.activated, b.t
                ))
            };
        }
        (apart, last) = (apart.max(off), b.t);
    }
    tally.alike += 1;
    if *status == Status::ReachedEnd && apart < 1e-7 {
        let off = (found.state() - reference.state()).amax();
        if off > 1e-3 {
            return Err(format!("{off:e} apart at the end"));
        }
    }
    Ok(())
}

#[test]
fn thrown_bodies_are_never_lost() {
    let throws = if cfg!(debug_assertions) { 80 } else { 10_000 };
    let mut random = SplitMix64(1);
    let (mut tally, mut failures) = (Tally::default(), Vec::new());
    for case in 0..throws {
        let throw = throw(&mut random, 2 + case % 5, case % 2 == 0);
        if let Err(what) = compare(&throw, &mut tally) {
            failures.push(format!("{case}: {what}"));
        }
    }
    println!("{tally:?}");
    assert!(
        failures.is_empty(),
        "{} of {throws}: {failures:#?}",
        failures.len()
    );
    assert!(
        tally.grazed * 500 <= throws && tally.parted * 50 <= throws,
        "{tally:?}"
    );
}
