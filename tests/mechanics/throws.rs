//! Rods and polygons thrown onto planes and into wedges: they turn many times in what would be one step of their flight.

use std::f64::consts::{PI, TAU};

use saltation::mechanics::{
    EventDriven, MechanicalRun, Redundant, Simulation, UnilateralConstraints, Zeno,
};
use saltation::{Error, Status};

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
            [radius * (angle + phase).cos(), radius * (angle + phase).sin()]
        })
        .collect();
    let planes = match random.next() % 3 {
        0 => vec![Plane::tilted(random.between(0.3, 1.2)), Plane::tilted(-random.between(0.3, 1.2))],
        1 => vec![Plane::tilted(random.between(-0.4, 0.4))],
        _ => vec![Plane::tilted(0.0)],
    };
    let body = Polygon {
        corners,
        planes,
        mass: random.between(0.5, 2.0),
        inertia: random.between(0.05, 0.6),
        gravity: 9.81,
        restitution: if elastic { 1.0 } else { random.between(0.0, 0.9) },
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
    Throw { body, q, v, end: 2.0 }
}

fn run(throw: &Throw, longest: f64) -> MechanicalRun {
    let model = EventDriven::new(throw.body.clone()).redundant(Redundant::LeastSquares);
    let mut simulation = Simulation::new(model)
        .unwrap()
        .zeno(Zeno::Absorb)
        .configure(|integrator| integrator.max_step(longest));
    simulation.run(0.0, &throw.q, &throw.v, throw.end).unwrap()
}

fn campaign(seed: u64, throws: usize) {
    let mut random = SplitMix64(seed);
    let mut ends = std::collections::BTreeMap::<String, usize>::new();
    let (mut deepest, mut separated, mut compared) = (0.0f64, 0, 0);
    let mut failures = Vec::new();
    for case in 0..throws {
        let corners = 2 + case % 5;
        let elastic = case % 2 == 0;
        let throw = throw(&mut random, corners, elastic);
        if let Ok(only) = std::env::var("CASE") {
            if only.parse::<usize>().unwrap() != case { continue; }
            let found = run(&throw, std::env::var("STEP").map_or(f64::INFINITY, |s| s.parse().unwrap()));
            println!("{:?}", throw.body);
            for e in found.events() {
                println!("{:.9} {:?} act {:?} rel {:?} contacts {:?} before {:?} after {:?} approach {:?} imp {:?}", e.time, e.kind, e.activated, e.released, e.contacts, e.mode_before, e.mode_after, e.approach, e.impulses);
            }
            println!("{} {:?}", found.trajectory().status(), found.trajectory().statistics());
            continue;
        }
        let found = run(&throw, f64::INFINITY);
        let status = found.trajectory().status();
        let name = match status {
            Status::Refused(reason) => format!("{reason:?}").split([' ', '(']).next().unwrap().to_string(),
            other => format!("{other:?}"),
        };
        *ends.entry(name).or_default() += 1;
        if let Status::Refused(Error::InconsistentMode { .. }) = status {
            failures.push(format!("{case}: {status}"));
            continue;
        }
        // Nowhere below the planes.
        let (path, end) = (found.trajectory(), found.trajectory().time());
        let contacts = throw.body.contacts();
        for i in 0..=2000 {
            let t = end * f64::from(i) / 2000.0;
            let (state, mode) = (path.at(t).unwrap(), path.mode_at(t).unwrap());
            let open = (0..contacts).filter(|j| !mode.contains(contacts + j));
            let gaps = open.map(|j| throw.body.gap(j, &state.as_slice()[..3]));
            deepest = gaps.fold(deepest, f64::min);
        }
        if deepest < -1e-8 {
            failures.push(format!("{case}: {deepest:e} deep"));
            break;
        }
        let energy = throw.body.energy(&[throw.q, throw.v].concat());
        let at_end = throw.body.energy(path.state().as_slice());
        if elastic && (at_end - energy).abs() > 1e-4 * energy.abs() {
            failures.push(format!("{case}: energy {energy} becomes {at_end}"));
        }
        // The same with short steps, until they part.
        let reference = run(&throw, 2e-3);
        let events = found.events().iter().zip(reference.events());
        let mut apart = 0.0;
        for (n, (a, b)) in events.enumerate() {
            let off = (a.time - b.time).abs();
            if a.activated != b.activated || off > 1e-3 {
                // Parted: were they close before?
                if apart < 1e-6 {
                    failures.push(format!(
                        "{case}: event {n} is {:?} at {}, with short steps {:?} at {}, {apart:e} apart before: {status}",
                        a.activated, a.time, b.activated, b.time
                    ));
                } else {
                    separated += 1;
                }
                apart = f64::INFINITY;
                break;
            }
            apart = f64::max(apart, off);
        }
        if apart.is_finite() {
            compared += 1;
            if found.events().len() != reference.events().len() {
                failures.push(format!(
                    "{case}: {} events, with short steps {}, {apart:e} apart: {status} {}",
                    found.events().len(),
                    reference.events().len(),
                    reference.trajectory().status()
                ));
            }
        }
    }
    println!("{ends:?} deepest {deepest:e}, {compared} alike, {separated} parted");
    assert!(failures.is_empty(), "{} of {throws}: {:#?}", failures.len(), &failures[..failures.len().min(20)]);
}

#[test]
fn thrown_bodies_are_never_lost() {
    let throws = std::env::var("THROWS").map_or(300, |n| n.parse().unwrap());
    campaign(1, throws);
}
