//! Random bodies on legs in space that stick, slip, tip, land and lift off, each run held against the
//! equations of motion and Coulomb's law from the model alone: accelerations are differences of the
//! run, and the forces are those that the equations of motion leave.

use std::collections::BTreeMap;
use std::ops::Range;

use saltation::event_driven::{Breakdown, Zeno};
use saltation::impact::Selection;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::nalgebra::{DMatrix, DVector};
use saltation::{ContactModel, EventDriven, Run, Start, Status};

use crate::legged::{GRAVITY, Legged};
use crate::random_bits::SplitMix64;

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

fn dot(row: &[f64; 6], v: &[f64]) -> f64 {
    row.iter().zip(v).map(|(a, b)| a * b).sum()
}

/// How far `right` is from all `matrix f` with forces that push, three of them in a cone where a
/// coefficient of friction is given, one along a slip else: by projected gradients, accelerated, until it
/// is below `enough`.
fn distance_from_cones(
    matrix: &DMatrix<f64>,
    right: &DVector<f64>,
    cones: &[Option<f64>],
    enough: f64,
) -> f64 {
    let project = |f: &mut DVector<f64>| {
        let mut place = 0;
        for cone in cones {
            let n = f[place];
            let Some(mu) = cone else {
                f[place] = n.max(0.0);
                place += 1;
                continue;
            };
            let along = f[place + 1].hypot(f[place + 2]);
            if along > mu * n {
                let kept = ((n + mu * along) / (1.0 + mu * mu)).max(0.0);
                let part = if along > 0.0 { mu * kept / along } else { 0.0 };
                f[place] = kept;
                f[place + 1] *= part;
                f[place + 2] *= part;
            }
            place += 3;
        }
    };
    let square = matrix.transpose() * matrix;
    let rate = 1.0 / square.norm();
    let mut f = DVector::zeros(matrix.ncols());
    let (mut ahead, mut weight): (DVector<f64>, f64) = (f.clone(), 1.0);
    for _ in 0..20_000 {
        let misses = matrix * &ahead - right;
        let mut next = &ahead - rate * matrix.tr_mul(&misses);
        project(&mut next);
        if (matrix * &next - right).norm() < enough {
            return 0.0;
        }
        let grown = 0.5 * (1.0 + (1.0 + 4.0 * weight * weight).sqrt());
        ahead = &next + (weight - 1.0) / grown * (&next - &f);
        (f, weight) = (next, grown);
    }
    (matrix * &f - right).norm()
}

/// What is wrong with a run at a time between its events, if anything: by how much an equation fails,
/// as a part of the weight.
fn fault_at(body: &Legged, run: &Run, t: f64) -> Option<(&'static str, f64)> {
    let x = run.state_at(t).ok()?;
    let (q, v) = x.as_slice().split_at(6);
    let weight = body.mass[2] * GRAVITY;
    // Accelerations by differences of the run, which are those of its interpolant.
    let h = 2e-5;
    let ends = [t - h, t + h].map(|t| run.state_at(t));
    let [Ok(before), Ok(after)] = ends else {
        return None;
    };
    let mut left = vec![0.0; 6];
    body.effort(t, q, v, &mut left);
    for k in 0..6 {
        left[k] = body.mass[k] * (after[6 + k] - before[6 + k]) / (2.0 * h) - left[k];
    }
    // The columns of forces: normals with friction where a contact slips, all three where it sticks.
    let mut columns: Vec<[f64; 6]> = Vec::new();
    let mut of = Vec::new();
    let mut worst = ("", 0.0);
    let mut note = |name: &'static str, size: f64| {
        if size > worst.1 {
            worst = (name, size);
        }
    };
    for j in 0..body.legs.len() {
        let gap = body.gap(j, q);
        let rows = body.rows(j, q);
        // Between nodes the interpolant is as exact as steps are.
        note("penetrates", -gap - 1e-7);
        let closed = gap.abs() < 1e-7 && dot(&rows[0], v).abs() < 1e-6;
        if !closed {
            continue;
        }
        let slip = [dot(&rows[1], v), dot(&rows[2], v)];
        let speed = slip[0].hypot(slip[1]);
        if speed > 1e-4 {
            let mu = body.friction[j];
            columns.push(std::array::from_fn(|k| {
                rows[0][k] - mu * (slip[0] * rows[1][k] + slip[1] * rows[2][k]) / speed
            }));
            of.push((j, false));
        } else if speed > 1e-8 {
            // About to stop, or beginning: its direction turns too fast for differences.
            return None;
        } else {
            columns.extend(rows);
            of.push((j, true));
        }
    }
    let lever = 0.2;
    let scale = |k: usize| if k < 3 { 1.0 } else { lever };
    let matrix = DMatrix::from_fn(6, columns.len(), |k, c| columns[c][k] / scale(k));
    let right = DVector::from_fn(6, |k, _| left[k] / scale(k));
    let (residual, forces, rank) = if columns.is_empty() {
        (right.clone(), DVector::zeros(0), 0)
    } else {
        let svd = matrix.clone().svd(true, true);
        let forces = svd.solve(&right, 1e-7).ok()?;
        (&matrix * &forces - &right, forces, svd.rank(1e-7))
    };
    note("moves without a force", residual.norm() / weight - 2e-4);
    // Forces of dependent contacts are not unique: some of them lie in the cones.
    if rank < columns.len() {
        let cones: Vec<_> = of
            .iter()
            .map(|&(j, sticks)| sticks.then_some(body.friction[j]))
            .collect();
        let missing = distance_from_cones(&matrix, &right, &cones, 1e-5 * weight);
        note("has no forces in the cones", missing / weight - 2e-4);
    } else {
        let mut place = 0;
        for (j, sticks) in of {
            let push = forces[place];
            note("pulls", -push / weight - 2e-4);
            if sticks {
                let along = forces[place + 1].hypot(forces[place + 2]);
                note(
                    "leaves its cone",
                    (along - body.friction[j] * push) / weight - 2e-4,
                );
            }
            place += if sticks { 3 } else { 1 };
        }
    }
    (worst.1 > 0.0).then_some(worst)
}

/// The change of energy less the work of efforts and friction, and of impacts (J).
fn energy_fault(body: &Legged, model: &ContactModel<Legged>, run: &Run) -> f64 {
    let energy = |x: &[f64]| {
        let kinetic: f64 = (0..6)
            .map(|k| 0.5 * body.mass[k] * x[6 + k] * x[6 + k])
            .sum();
        kinetic + body.mass[2] * GRAVITY * x[2]
    };
    let power = |t: f64| {
        let x = run.state_at(t).expect("within the run");
        let mode = run.mode_at(t).expect("within the run");
        let (q, v) = x.as_slice().split_at(6);
        let mut f = vec![0.0; 6];
        body.effort(t, q, v, &mut f);
        f[2] = 0.0;
        let work: f64 = f.iter().zip(v).map(|(f, v)| f * v).sum();
        let pushes = model.multipliers(t, x.as_slice(), mode);
        let friction: f64 = (0..body.legs.len())
            .map(|j| {
                let rows = body.rows(j, q);
                let speed = dot(&rows[1], v).hypot(dot(&rows[2], v));
                body.friction[j] * pushes.values()[j] * speed
            })
            .sum();
        work - friction
    };
    let times = run.times();
    let mut balance =
        energy(run.state().as_slice()) - energy(run.state_at(times[0]).expect("start").as_slice());
    for event in run.events() {
        balance -= energy(&event.state_after) - energy(&event.state_before);
    }
    // Gauss's rule of three points in each step.
    let node = 0.6f64.sqrt();
    for pair in times.windows(2) {
        let (middle, half) = (0.5 * (pair[0] + pair[1]), 0.5 * (pair[1] - pair[0]));
        if half <= 0.0 {
            continue;
        }
        let ends = power(middle - node * half) + power(middle + node * half);
        balance -= half * (5.0 * ends + 8.0 * power(middle)) / 9.0;
    }
    balance
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

/// The largest fault of a run away from its events, from a time on.
fn worst_fault(body: &Legged, run: &Run, from: f64) -> Option<(f64, (&'static str, f64))> {
    let near_event = |t: f64| run.events().iter().any(|event| (event.t - t).abs() < 1e-4);
    // A run that ends since a gap has closed unseen says in which step.
    let until = match run.status().reason() {
        Some(Breakdown::InconsistentMode { t, .. }) => {
            let before = run.times().iter().filter(|node| *node < t);
            before.fold(from, |last: f64, node| last.max(*node))
        }
        _ => run.t(),
    };
    let times = (1..200).map(|k| from + (until - from) * f64::from(k) / 200.0);
    times
        .filter(|t| !near_event(*t))
        .filter_map(|t| fault_at(body, run, t).map(|fault| (t, fault)))
        .max_by(|a, b| a.1.1.total_cmp(&b.1.1))
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
    let counts = campaign(0..30);
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
    for seed in [57, 138, 178, 285] {
        let run = run(seed);
        assert_eq!(*run.status(), Status::ReachedEnd, "{seed}");
        let steps = run.statistics().steps;
        assert!(steps < 10_000, "{seed}: {steps}");
    }
}

/// Loads leave the cones of contacts that depend on each other, so slowly that directions settle slowly.
#[test]
fn one_slip_that_begins_slowly_is_not_taken_for_two() {
    for seed in [64, 135, 170, 211, 227, 282] {
        assert_eq!(*run(seed).status(), Status::ReachedEnd, "{seed}");
    }
}
