//! Random bodies on legs in space that stick, slip, tip, land and lift off, each run held against the
//! equations of motion and Coulomb's law from the model alone: accelerations are differences of the
//! run, and the forces are those that the equations of motion leave.

use std::collections::BTreeMap;
use std::ops::Range;

use saltation::event_driven::{Breakdown, Zeno};
use saltation::impact::Selection;
use saltation::{ContactModel, EventDriven, Run, Start, Status};

use crate::coulomb_in_space::{energy_fault, worst_fault};
use crate::legged::{GRAVITY, Legged};
use crate::random_bits::SplitMix64;

/// All that were found, or without optimisation the first of them.
fn few(seeds: &[u64]) -> impl Iterator<Item = u64> + '_ {
    let most = if cfg!(debug_assertions) {
        2
    } else {
        seeds.len()
    };
    seeds.iter().copied().take(most)
}

fn random(draw: &mut SplitMix64) -> Legged {
    let mass = draw.between(0.5, 2.0);
    let size = draw.between(0.2, 0.6);
    let inertia = mass * size * size * draw.between(0.2, 0.6);
    let count = 1 + draw.next() % 4;
    let first = draw.between(0.0, 6.3);
    let legs = (0..count).map(|j| {
        let angle =
            first + std::f64::consts::TAU * (j as f64 + draw.between(-0.2, 0.2)) / count as f64;
        [size * angle.cos(), size * angle.sin()]
    });
    let legs: Vec<_> = if count == 1 {
        vec![[0.0; 2]]
    } else {
        legs.collect()
    };
    let alike = draw.unit() < 0.5;
    let mu = draw.between(0.05, 0.9);
    let friction = legs
        .iter()
        .map(|_| if alike { mu } else { draw.between(0.05, 0.9) });
    let friction = friction.collect();
    let strength = mass * GRAVITY * draw.between(0.0, 0.8);
    let mut pull = |part: f64| {
        [0, 1, 2].map(|k| {
            let arm = if k == 2 { size } else { 1.0 };
            part * arm * strength * draw.between(-1.0, 1.0)
        })
    };
    let pull = [pull(0.6), pull(0.6), [0.0; 3]];
    Legged {
        mass: [mass, mass, mass, inertia, inertia * 0.6, inertia * 0.7],
        legs,
        friction,
        pull,
        restitution: if draw.unit() < 0.3 {
            draw.between(0.0, 0.6)
        } else {
            0.0
        },
        height: size * draw.between(0.0, 0.9),
        frequency: draw.between(1.0, 8.0),
    }
}

#[derive(Debug, Default)]
struct Counts {
    reached: usize,
    events: usize,
    /// Runs that end where several motions follow, as they should.
    ambiguous: Vec<u64>,
    ends: BTreeMap<String, Vec<u64>>,
    faults: BTreeMap<&'static str, Vec<u64>>,
}

/// A body, and where and how fast it starts.
fn start(seed: u64) -> (Legged, [f64; 6], [f64; 6]) {
    let mut draw = SplitMix64(seed.wrapping_mul(0x9E6C_63D0_876A_68DE));
    let body = random(&mut draw);
    let (mut q, mut v) = ([0.0; 6], [0.0; 6]);
    q[3] = draw.between(-1.0, 1.0);
    let fast = draw.between(0.0, 2.0);
    if draw.unit() < 0.7 {
        for k in [0, 1, 3] {
            v[k] = fast * draw.between(-1.0, 1.0);
        }
    }
    if draw.unit() < 0.2 {
        q[2] = draw.between(0.0, 0.1);
    }
    (body, q, v)
}

fn driver(model: ContactModel<Legged>) -> EventDriven<Legged> {
    let driver = EventDriven::new(model).expect("a model");
    let driver = driver.rtol(1e-8).atol(1e-10).zeno(Zeno::Absorb);
    driver.max_steps(200_000)
}

fn run(seed: u64) -> Run {
    let (body, q, v) = start(seed);
    let mut driver = driver(ContactModel::new(body));
    let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), 0.8);
    run.expect("a start")
}

/// True where a run rightly ends since several motions follow: each of two choices gives a motion
/// without a fault, and they differ.
fn is_ambiguous(seed: u64, run: &Run) -> bool {
    let Some(Breakdown::AmbiguousMode { t, .. }) = run.status().reason() else {
        return false;
    };
    let (t, (body, q, v)) = (*t, start(seed));
    let ends = [0, 1].map(|choice| {
        let selection = Selection::by(move |outcomes, at| {
            let last = outcomes.list.len() - 1;
            Some(if at.t < t { 0 } else { last.min(choice) })
        });
        let model = ContactModel::new(body.clone()).selection(selection);
        let run = driver(model).integrate(&Start::at(0.0).q(&q).v(&v), t + 0.01);
        let run = run.expect("a start");
        let is_right = *run.status() == Status::ReachedEnd && worst_fault(&body, &run, t).is_none();
        is_right.then(|| run.state().clone())
    });
    let [Some(one), Some(other)] = ends else {
        return false;
    };
    (one - other).amax() > 1e-4
}

fn campaign(seeds: Range<u64>) -> Counts {
    let mut counts = Counts::default();
    for seed in seeds {
        let (run, (body, ..)) = (run(seed), start(seed));
        let model = ContactModel::new(body.clone());
        counts.events += run.events().len();
        if *run.status() == Status::ReachedEnd {
            counts.reached += 1;
        } else if is_ambiguous(seed, &run) {
            counts.ambiguous.push(seed);
        } else {
            println!(
                "seed {seed} {} legs at {}: {}",
                body.legs.len(),
                run.t(),
                run.status()
            );
            let end = run.status().to_string();
            let end: String = end
                .chars()
                .filter(|c| !c.is_ascii_digit())
                .take(60)
                .collect();
            counts.ends.entry(end).or_default().push(seed);
        }
        let worst = worst_fault(&body, &run, 0.0);
        if let Some((t, (name, size))) = worst {
            println!(
                "seed {seed} {} legs: {name} by {size:e} at {t} of {}",
                body.legs.len(),
                run.t()
            );
            counts.faults.entry(name).or_default().push(seed);
        }
        let fault = energy_fault(&body, &model, &run);
        let largest = run.states().amax().max(1.0);
        if fault.abs() > 1e-6 * largest * largest {
            println!(
                "seed {seed} {} legs: energy is off by {fault:e}",
                body.legs.len()
            );
            counts.faults.entry("energy").or_default().push(seed);
        }
    }
    println!("{counts:?}");
    counts
}

#[test]
fn random_bodies_on_legs_keep_coulombs_law() {
    let counts = campaign(0..if cfg!(debug_assertions) { 3 } else { 12 });
    assert!(counts.faults.is_empty(), "{:?}", counts.faults);
    assert!(counts.ends.is_empty(), "{:?}", counts.ends);
}

#[test]
#[ignore = "half a minute in release"]
fn many_random_bodies_on_legs_keep_coulombs_law() {
    let counts = campaign(0..300);
    assert!(counts.faults.is_empty(), "{:?}", counts.faults);
    let ended: usize = counts.ends.values().map(Vec::len).sum();
    assert!(100 * ended <= 300, "{:?}", counts.ends);
    assert!(
        100 * counts.ambiguous.len() <= 300,
        "{:?}",
        counts.ambiguous
    );
}

/// Where a contact of several comes to rest its slip has no direction that the tolerances resolve.
#[test]
fn slips_that_stop_beside_others_take_few_steps() {
    for seed in few(&[57, 178, 138, 285]) {
        let run = run(seed);
        assert_eq!(*run.status(), Status::ReachedEnd, "{seed}");
        let steps = run.statistics().steps;
        assert!(steps < 10_000, "{seed}: {steps}");
    }
}

/// Loads leave the cones of contacts that depend on each other, so slowly that directions settle slowly.
#[test]
fn one_slip_that_begins_slowly_is_not_taken_for_two() {
    for seed in few(&[64, 211, 135, 170, 227, 282]) {
        assert_eq!(*run(seed).status(), Status::ReachedEnd, "{seed}");
    }
}

/// A foot that slips round one that sticks turns back: there is one motion that its slip can begin with, and what is left
/// of the other slip may still go the other way.
#[test]
fn a_foot_that_turns_back_slips_round_another() {
    for seed in 0..60 {
        let mut draw = SplitMix64(seed);
        let (sin, cos) = draw.between(0.0, 6.3).sin_cos();
        let force = draw.between(0.7, 1.5);
        let speed = draw.between(0.1, 1.2);
        let body = Legged {
            mass: [1.0, 1.0, 1.0, 0.03, 0.02, 0.02],
            legs: vec![[-0.3 * cos, -0.3 * sin], [0.3 * cos, 0.3 * sin]],
            friction: vec![0.9, 0.1],
            restitution: 0.0,
            height: 0.0,
            pull: [[0.0, 0.0, 0.6 * force], [0.0; 3], [0.0; 3]],
            frequency: 1.0,
        };
        // About the foot that sticks.
        let turn = -speed / 0.6;
        let v = [-0.3 * turn * sin, 0.3 * turn * cos, 0.0, turn, 0.0, 0.0];
        let mut driver = driver(ContactModel::new(body));
        let start = Start::at(0.0).q(&[0.0; 6]).v(&v);
        // Moments about that foot.
        let load = 0.5 * GRAVITY * 0.1;
        let rate = |force: f64| 0.6 * force / (0.03 + 0.09);
        let back = -turn / rate(force + load);
        let run = driver.integrate(&start, back + 0.02).expect("a start");
        assert_eq!(*run.status(), Status::ReachedEnd, "{seed} {speed}");
        let (found, spin) = (run.state()[9], 0.02 * rate(force - load));
        assert!(
            (found - spin).abs() < 1e-6 * spin,
            "{seed} {speed}: {found} for {spin}"
        );
    }
}
