//! Planks and blocks on surfaces that move apart: contacts that depend on each other, of which no forces
//! hold all. Against closed forms, and against the complementarity problem of forces and accelerations by
//! all sets of contacts.

use std::ops::Range;

use saltation::event_driven::{Breakdown, ContactEvent, Grazing, Zeno};
use saltation::impact::Selection;
use saltation::mechanics::{MechanicalSystem, State, UnilateralConstraints};
use saltation::{ContactModel, Doubt, EventDriven, Run, Start, Status};

use crate::random_bits::SplitMix64;
use crate::stick_slip::letter;

const GRAVITY: f64 = 9.81;
const INERTIA: f64 = 0.4;

fn close(found: f64, expected: f64, tolerance: f64) {
    let off = found - expected;
    assert!(off.abs() <= tolerance, "{found} {expected} {off:e}");
}

/// A plank of 1 kg on surfaces beside each other: `q = (x, z, θ)`, then the coordinate of each.
struct Plank {
    /// Places of the feet under it.
    feet: Vec<f64>,
    friction: f64,
    /// Surfaces move along (belts) or up (tables).
    up: bool,
    acceleration: Box<dyn Fn(usize, f64) -> f64>,
    /// Its efforts are said to depend on the closed contacts.
    switched: bool,
}

impl MechanicalSystem for Plank {
    fn dof(&self) -> usize {
        3 + self.feet.len()
    }
    fn driven(&self) -> Range<usize> {
        3..3 + self.feet.len()
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        let d = self.dof();
        mass.fill(0.0);
        (0..d).for_each(|i| mass[i * (d + 1)] = if i == 2 { INERTIA } else { 1.0 });
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort[..3].copy_from_slice(&[0.0, -GRAVITY, 0.0]);
        let surfaces = effort[3..].iter_mut().enumerate();
        surfaces.for_each(|(i, a)| *a = (self.acceleration)(i, t));
    }
    fn contact_effort(&self, _at: State<'_>, _closed: &[usize], _effort: &mut [f64]) -> bool {
        self.switched
    }
}

impl UnilateralConstraints for Plank {
    fn contacts(&self) -> usize {
        self.feet.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let height = if self.up { q[3 + j] } else { 0.0 };
        q[1] + self.feet[j] * q[2].sin() - height
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        row.fill(0.0);
        (row[1], row[2]) = (1.0, self.feet[j] * q[2].cos());
        row[3 + j] = if self.up { -1.0 } else { 0.0 };
        true
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        rows.fill(0.0);
        (rows[0], rows[2]) = (1.0, -self.feet[j] * q[2].sin());
        rows[3 + j] = if self.up { 0.0 } else { -1.0 };
    }
}

/// From rest.
fn run(plank: &Plank, tf: f64) -> Run {
    let driver = EventDriven::new(ContactModel::new(plank)).unwrap();
    let mut driver = driver.rtol(1e-11).atol(1e-13).zeno(Zeno::Absorb);
    let zeros = vec![0.0; plank.dof()];
    let start = Start::at(0.0).q(&zeros).v(&zeros);
    driver.integrate(&start, tf).unwrap()
}

/// A foot rests open on its surface while a belt drags another one: what it would carry changes the motion, and the
/// run says so.
#[test]
fn a_foot_that_rests_beside_a_belt_is_told() {
    let plank = Plank {
        feet: vec![-0.5, 0.1, 0.5],
        friction: 0.4,
        up: false,
        acceleration: Box::new(|_, _| 0.0),
        switched: false,
    };
    let model = ContactModel::new(&plank).selection(Selection::First);
    let driver = EventDriven::new(model).unwrap().rtol(1e-8);
    let mut driver = driver.zeno(Zeno::Absorb).grazing(Grazing::Ignore);
    let start = Start::at(0.0)
        .q(&[0.0; 6])
        .v(&[2.0, 0.0, 0.0, 5.0, 0.0, 0.0]);
    let run = driver.integrate(&start, 0.3).unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    let is_told = |doubt: &Doubt| matches!(doubt, Doubt::SharedLoads { .. });
    assert!(run.doubts().iter().any(is_told), "{:?}", run.doubts());
}

/// On two belts of which one speeds up a plank cannot stick to both.
#[test]
fn a_plank_on_two_belts_sticks_to_one_at_most() {
    let plank = Plank {
        feet: vec![-0.7, 0.5],
        friction: 0.3,
        up: false,
        acceleration: Box::new(|belt, t| if belt == 0 { 0.0 } else { 0.4 * t }),
        switched: false,
    };
    let run = run(&plank, 1.0).completed().unwrap();
    let model = ContactModel::new(&plank);
    let slips = |t: f64| {
        let state = run.state_at(t).unwrap();
        [0, 1].map(|j| state[5] - state[8 + j])
    };
    assert!(run.events()[0].t < 1e-3, "{:?}", run.events()[0]);
    for k in 1..=20 {
        let t = 0.05 * f64::from(k);
        let modes = [0, 1].map(|j| letter(model.contacting(run.mode_at(t).unwrap(), j)));
        assert_ne!(modes, ['s', 's'], "{t}");
        for (mode, slip) in modes.iter().zip(slips(t)) {
            assert!(*mode != 's' || slip.abs() < 1e-8, "{t} {mode} {slip:e}");
            // Dragged by the belt that moves ahead, held by the one that does not.
            assert!(*mode != '+' || slip > 0.0);
        }
    }
}

/// What is off of accelerations counts as rounding up to a millionth of gravity: that much later than the
/// middle table, which rises by `t³/12` from `START` on, the contacts are settled.
const START: f64 = 0.1;
const LATE: f64 = 2e-5;

/// A plank without friction on three tables of which the middle one begins to rise.
fn lifted(feet: [f64; 3]) -> Plank {
    let rises = |t: f64| 0.5 * (t - START).max(0.0);
    Plank {
        feet: feet.to_vec(),
        friction: 0.0,
        up: true,
        acceleration: Box::new(move |table, t| if table == 1 { rises(t) } else { 0.0 }),
        switched: false,
    }
}

/// The only event, at which contacts open where no forces hold them, soon after `START`.
fn opening<'a>(plank: &Plank, run: &'a Run) -> &'a ContactEvent {
    assert_eq!(*run.status(), Status::ReachedEnd);
    let [event] = run.events() else {
        panic!("{:?}", run.events())
    };
    assert!(event.t >= START && event.t < START + LATE, "{}", event.t);
    assert_eq!(event.mode_before, [0, 1, 2]);
    let model = ContactModel::new(plank);
    assert_eq!(model.closed(run.mode_at(0.05).unwrap()), [0, 1, 2]);
    event
}

/// A plank that lies on three tables: none hold its rest on all of them where the middle one rises. It
/// pivots about the table on the heavier side and leaves the other one.
#[test]
fn a_table_that_rises_under_a_plank_lifts_it_off_the_table_on_the_lighter_side() {
    let plank = lifted([-0.7, 0.1, 0.5]);
    let run = run(&plank, 0.6);
    let event = opening(&plank, &run);
    assert_eq!(
        (&event.mode_after[..], &event.released[..]),
        (&[0, 1][..], &[2][..])
    );
    let model = ContactModel::new(&plank);
    for k in 1..=10 {
        let t = START + 0.05 * f64::from(k);
        let state = run.state_at(t).unwrap();
        // z − 0.7 sin θ = 0, z + 0.1 sin θ = h.
        let s = t - START;
        let [h, rate, bend] = [s * s * s / 12.0, s * s / 4.0, s / 2.0];
        let (sine, cosine) = (h / 0.8, (1.0 - h * h / 0.64).sqrt());
        let spin = rate / 0.8 / cosine;
        let turn = (bend / 0.8 + sine * spin * spin) / cosine;
        close(state[1], 0.7 * sine, 1e-9);
        close(state[2], sine.asin(), 1e-9);
        close(state[7], 0.7 * rate / 0.8, 1e-9);
        close(state[8], spin, 1e-9);
        // z̈ = λ_0 + λ_1 − g, I θ̈ = (−0.7 λ_0 + 0.1 λ_1) cos θ.
        let [sum, moment] = [0.7 * bend / 0.8 + GRAVITY, INERTIA * turn / cosine];
        let left = (0.1 * sum - moment) / 0.8;
        let mode = run.mode_at(t).unwrap();
        let forces = model.multipliers(t, state.as_slice(), mode);
        assert!(forces.are_unique());
        close(forces.values()[0], left, 1e-9);
        close(forces.values()[1], sum - left, 1e-9);
        assert_eq!(forces.values()[2], 0.0);
        close(plank.gap(2, &state.as_slice()[..6]), 1.2 * sine, 1e-9);
    }
}

/// Likewise with its middle on the middle table: it leaves both others at once, and stays level.
#[test]
fn a_table_that_rises_under_the_middle_of_a_plank_carries_it_alone() {
    for feet in [[-0.5, 0.0, 0.5], [-0.8, 0.0, 0.3]] {
        let plank = lifted(feet);
        let run = run(&plank, 0.6);
        let event = opening(&plank, &run);
        assert_eq!(
            (&event.mode_after[..], &event.released[..]),
            (&[1][..], &[0, 2][..])
        );
        let model = ContactModel::new(&plank);
        for k in 1..=10 {
            let t = START + 0.05 * f64::from(k);
            let (s, state) = (t - START, run.state_at(t).unwrap());
            close(state[1], s * s * s / 12.0, 1e-9);
            close(state[2], 0.0, 1e-9);
            close(state[7], s * s / 4.0, 1e-9);
            let forces = model.multipliers(t, state.as_slice(), run.mode_at(t).unwrap());
            close(forces.values()[1], GRAVITY + s / 2.0, 1e-9);
        }
    }
}

/// One that sinks away leaves the plank to the others.
#[test]
fn a_table_that_sinks_under_a_plank_leaves_it_where_it_lies() {
    let plank = Plank {
        acceleration: Box::new(|table, t| if table == 1 && t > START { -2.0 } else { 0.0 }),
        ..lifted([-0.7, 0.1, 0.5])
    };
    let run = run(&plank, 0.6);
    let event = opening(&plank, &run);
    assert_eq!(
        (&event.mode_after[..], &event.released[..]),
        (&[0, 2][..], &[1][..])
    );
    let (end, model) = (run.state(), ContactModel::new(&plank));
    (0..3).for_each(|k| close(end[k], 0.0, 1e-12));
    let forces = model.multipliers(0.6, end.as_slice(), run.mode());
    close(forces.values()[0], GRAVITY * 0.5 / 1.2, 1e-9);
    close(forces.values()[2], GRAVITY * 0.7 / 1.2, 1e-9);
    // 2 s²/2 with s = 0.5.
    close(plank.gap(1, &end.as_slice()[..6]), 0.25, 1e-9);
}

/// Where efforts depend on the closed contacts all sets are tried: those that no forces hold are none.
#[test]
fn of_all_sets_those_that_no_forces_hold_are_left_out() {
    for (rise, expected) in [(0.3, &[0, 1][..]), (-0.3, &[0, 2]), (5.0, &[1])] {
        let plank = Plank {
            acceleration: Box::new(move |table, _| if table == 1 { rise } else { 0.0 }),
            switched: true,
            ..lifted([-0.7, 0.1, 0.5])
        };
        let run = run(&plank, 0.1);
        assert_eq!(*run.status(), Status::ReachedEnd);
        assert!(run.events().is_empty());
        assert_eq!(ContactModel::new(&plank).closed(run.mode()), expected);
    }
}

/// A block between a floor and a ceiling, both of which hold it, and of which the floor begins to rise:
/// with friction it squeezes itself in; without, it has no weight.
struct Squeezed {
    friction: f64,
    jumps: bool,
}

impl MechanicalSystem for Squeezed {
    fn dof(&self) -> usize {
        4
    }
    fn driven(&self) -> Range<usize> {
        2..4
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        (0..4).for_each(|i| mass[5 * i] = 1.0);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let s = (t - START).max(0.0);
        let floor = match self.jumps {
            true if s > 0.0 => 3.0,
            true => 0.0,
            false => s,
        };
        let weight = if self.friction > 0.0 { GRAVITY } else { 0.0 };
        effort.copy_from_slice(&[0.0, -weight, floor, 0.0]);
    }
}

impl UnilateralConstraints for Squeezed {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        if j == 0 { q[1] - q[2] } else { q[3] - q[1] }
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, 0.0, 0.0]);
    }
}

/// Between surfaces that approach each other there is no motion: the run ends there, and names them.
#[test]
fn a_block_that_is_squeezed_has_no_motion() {
    for (friction, jumps) in [(0.0, false), (0.3, false), (0.3, true)] {
        let block = Squeezed { friction, jumps };
        let driver = EventDriven::new(ContactModel::new(&block)).unwrap();
        let mut driver = driver.rtol(1e-11).atol(1e-13).zeno(Zeno::Absorb);
        let start = Start::at(0.0).q(&[0.0; 4]).v(&[0.0; 4]);
        let run = driver.integrate(&start, 0.6).unwrap();
        let Some(Breakdown::NoConsistentMode { contacts, t }) = run.status().reason() else {
            panic!("{friction} {jumps}: {}", run.status())
        };
        assert_eq!(*contacts, [0, 1]);
        close(*t, START, LATE);
        close(run.t(), START, LATE);
    }
}

/// Forces, where they are unique, and accelerations of gaps, by all sets of contacts that push: at rest and
/// level, with these accelerations of the tables. Of forces that are not unique some push at two contacts.
fn by_all_sets(feet: &[f64], tables: &[f64]) -> (Option<Vec<f64>>, Vec<f64>) {
    let n = feet.len();
    let gram = |i: usize, k: usize| 1.0 + feet[i] * feet[k] / INERTIA;
    let free = |i: usize| -GRAVITY - tables[i];
    let pairs = (0..n).flat_map(|i| (i..n).map(move |k| (i, k)));
    let mut found: Vec<[Vec<f64>; 2]> = Vec::new();
    let none = std::iter::once(vec![0.0; n]);
    let forces = pairs.map(|(i, k)| {
        let mut forces = vec![0.0; n];
        if i == k {
            forces[i] = -free(i) / gram(i, i);
        } else {
            let determinant = gram(i, i) * gram(k, k) - gram(i, k) * gram(i, k);
            forces[i] = (gram(i, k) * free(k) - gram(k, k) * free(i)) / determinant;
            forces[k] = (gram(i, k) * free(i) - gram(i, i) * free(k)) / determinant;
        }
        forces
    });
    for forces in none.chain(forces) {
        let bend = |i: usize| free(i) + (0..n).map(|k| gram(i, k) * forces[k]).sum::<f64>();
        let bends: Vec<f64> = (0..n).map(bend).collect();
        if forces.iter().chain(&bends).all(|value| *value > -1e-11) {
            found.push([forces, bends]);
        }
    }
    // Accelerations are unique.
    let [first, others @ ..] = &found[..] else {
        panic!("{feet:?} {tables:?}")
    };
    let mut are_unique = true;
    for other in others {
        let pairs = first[1].iter().zip(&other[1]);
        pairs.for_each(|(a, b)| close(*a, *b, 1e-10));
        let mut pairs = first[0].iter().zip(&other[0]);
        are_unique &= pairs.all(|(a, b)| (a - b).abs() < 1e-10);
    }
    let [forces, bends] = found.swap_remove(0);
    (are_unique.then_some(forces), bends)
}

/// A plank on three or four tables that stand, and of which each begins to rise or to sink at one time, by
/// an acceleration that jumps or grows from zero on.
fn drawn(seed: u64, friction: f64) -> (Plank, f64) {
    let mut draw = SplitMix64(seed.wrapping_mul(0x9E6C_63D0_876A_68DE));
    let n = 3 + (draw.next() % 2) as usize;
    // Its middle is between the outer ones.
    let mut feet = vec![-draw.between(0.2, 0.9), draw.between(0.2, 0.9)];
    feet.extend((2..n).map(|_| draw.between(-0.9, 0.9)));
    let start = draw.between(0.02, 0.2);
    let jumps = draw.unit() < 0.5;
    let each = (0..n).map(|_| match draw.next() % 3 {
        0 => 0.0,
        _ => draw.between(-6.0, 6.0),
    });
    let each: Vec<f64> = each.collect();
    let acceleration = move |table: usize, t: f64| match t - start {
        late if late <= 0.0 => 0.0,
        late if jumps => each[table] + late,
        late => each[table] * late,
    };
    let plank = Plank {
        feet,
        friction,
        up: true,
        acceleration: Box::new(acceleration),
        switched: false,
    };
    (plank, start)
}

/// Runs random planks; gives how many of them opened contacts at the start of their tables.
fn campaign(seeds: impl IntoIterator<Item = u64>, friction: f64) -> usize {
    let mut opened = 0;
    for seed in seeds {
        let (plank, start) = drawn(seed, friction);
        let (n, d) = (plank.feet.len(), plank.dof());
        let (run, model) = (run(&plank, start + 0.1), ContactModel::new(&plank));
        assert_eq!(*run.status(), Status::ReachedEnd, "{seed}");
        for state in run.states().column_iter() {
            let gaps = (0..n).map(|j| plank.gap(j, &state.as_slice()[..d]));
            let least = gaps.fold(f64::INFINITY, f64::min);
            assert!(least > -1e-9, "{seed}: {least:e}");
        }
        let Some(event) = run.events().iter().find(|event| event.t >= start - 1e-12) else {
            continue;
        };
        if event.t > start + 1e-3 {
            continue;
        }
        opened += 1;
        // Behind the jump, and at rest to within what the event is late.
        let t = event.t + 1e-14;
        let tables: Vec<f64> = (0..n).map(|j| (plank.acceleration)(j, t)).collect();
        let (forces, bends) = by_all_sets(&plank.feet, &tables);
        let mode = run.mode_at(event.t).unwrap();
        let found = model.multipliers(t, &event.state_after, mode);
        let sum: f64 = found.values().iter().sum();
        let moment = found.values().iter().zip(&plank.feet);
        let moment: f64 = moment.map(|(force, foot)| force * foot).sum();
        for j in 0..n {
            let bend = sum - GRAVITY + plank.feet[j] * moment / INERTIA - tables[j];
            close(bend, bends[j], 1e-9);
            let is_closed = event.mode_after.contains(&j);
            assert!(!is_closed || bends[j] < 1e-9, "{seed}: {bends:?}");
            if let Some(forces) = &forces {
                close(found.values()[j], forces[j], 1e-9);
            }
            let was_closed = event.mode_before.contains(&j);
            assert_eq!(
                was_closed && !is_closed,
                event.released.contains(&j),
                "{seed}"
            );
        }
    }
    opened
}

#[test]
fn random_planks_lie_on_the_tables_that_hold_them() {
    // Of the last ones events before a jump were settled by the accelerations before it.
    let (first, least) = if cfg!(debug_assertions) {
        (40, 35)
    } else {
        (100, 80)
    };
    let opened = campaign((0..first).chain([151, 189, 296, 452, 545, 1262]), 0.0);
    assert!(opened > least, "{opened}");
}

/// Friction holds none of them up, and nothing moves along.
#[test]
fn random_planks_with_friction_lie_on_the_tables_that_hold_them() {
    let (planks, most) = if cfg!(debug_assertions) {
        (16, 11)
    } else {
        (40, 30)
    };
    let opened = campaign(0..planks, 0.4);
    assert!(opened > most, "{opened}");
}

#[test]
#[ignore = "minutes"]
fn many_random_planks_lie_on_the_tables_that_hold_them() {
    let opened = [campaign(0..5000, 0.0), campaign(0..120, 0.4)];
    assert!(opened[0] > 4500 && opened[1] > 100, "{opened:?}");
}

/// Three tables that rise differently lift a plank off one of them, and never into it.
#[test]
fn a_plank_on_three_tables_does_not_sink_into_them() {
    for friction in [0.0, 0.3] {
        let plank = Plank {
            feet: vec![-0.7, 0.1, 0.5],
            friction,
            up: true,
            acceleration: Box::new(|table, t| if table == 1 { 0.5 * t } else { 0.0 }),
            switched: false,
        };
        let model = ContactModel::new(&plank);
        let mut driver = EventDriven::new(model).unwrap().rtol(1e-9);
        let start = Start::at(0.0).q(&[0.0; 6]).v(&[0.0; 6]);
        let run = driver.integrate(&start, 0.5).unwrap();
        // It ends with a reason, or goes on lifted.
        for state in run.states().column_iter() {
            let gap = |j: usize| plank.gap(j, &state.as_slice()[..6]);
            let least = (0..3).map(gap).fold(f64::INFINITY, f64::min);
            assert!(least > -1e-8, "{friction} {least:e} {}", run.status());
        }
    }
}
