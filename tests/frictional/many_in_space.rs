//! More contacts in space than are enumerated: slabs on each other, tables on six and more legs.

use std::ops::Range;

use saltation::event_driven::{Breakdown, Zeno};
use saltation::impact::{Contacting, ImpactFailure, Selection};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::record::Remark;
use saltation::{ContactModel, EventDriven, Interrupt, Run, Start, Status, Stop};

use crate::coulomb_in_space::{energy_fault, worst_fault};
use crate::legged::{GRAVITY, Legged};
use crate::random_bits::SplitMix64;

/// A foot of a slab: it stands on the one below, or on the floor.
#[derive(Clone, Debug)]
struct Foot {
    slab: usize,
    at: [f64; 2],
    friction: f64,
}

/// Slabs on each other, in small displacements: of each `q` holds its centre, the angle about the vertical
/// and two tilts.
#[derive(Clone, Debug)]
struct Slabs {
    masses: Vec<[f64; 6]>,
    feet: Vec<Foot>,
    /// Half the height of a slab (m).
    height: f64,
    /// Of each slab, as those of [`Legged`].
    pulls: Vec<[[f64; 3]; 3]>,
    frequency: f64,
}

impl Slabs {
    /// With feet at the corners of half sides `a` and `b`, of one coefficient of friction each.
    fn on_corners(masses: &[f64], friction: &[f64], [a, b]: [f64; 2]) -> Self {
        let height = 0.05;
        let corners = [[a, b], [-a, b], [a, -b], [-a, -b]];
        let inertia = |m: &f64| {
            let about = |x: f64, y: f64| m * (x * x + y * y) / 3.0;
            [*m, *m, *m, about(a, b), about(b, height), about(a, height)]
        };
        let feet = friction
            .iter()
            .enumerate()
            .flat_map(|(slab, &friction)| corners.map(|at| Foot { slab, at, friction }));
        Self {
            masses: masses.iter().map(inertia).collect(),
            feet: feet.collect(),
            height,
            pulls: vec![[[0.0; 3]; 3]; masses.len()],
            frequency: 0.0,
        }
    }

    /// A row by the velocities of a foot on its slab, less those of the slab below there.
    fn row(&self, j: usize, along: usize) -> Vec<f64> {
        let (
            Foot {
                slab, at: [x, y], ..
            },
            h,
        ) = (&self.feet[j], self.height);
        let of = |z: f64| match along {
            0 => [0.0, 0.0, 1.0, 0.0, *y, -x],
            1 => [1.0, 0.0, 0.0, -y, 0.0, z],
            _ => [0.0, 1.0, 0.0, *x, -z, 0.0],
        };
        let mut row = vec![0.0; self.dof()];
        row[6 * slab..6 * slab + 6].copy_from_slice(&of(-h));
        if *slab > 0 {
            for (to, part) in row[6 * (slab - 1)..].iter_mut().zip(of(h)) {
                *to = -part;
            }
        }
        row
    }

    fn driver(&self) -> EventDriven<Self> {
        let model = ContactModel::new(self.clone()).selection(Selection::First);
        let driver = EventDriven::new(model).unwrap();
        let driver = driver.rtol(1e-8).atol(1e-10).zeno(Zeno::Absorb);
        driver.max_steps(200_000)
    }

    fn run_from(&self, v: &[f64], tf: f64) -> Run {
        let q = vec![0.0; self.dof()];
        self.driver()
            .integrate(&Start::at(0.0).q(&q).v(v), tf)
            .unwrap()
    }

    fn run(&self, tf: f64) -> Run {
        self.run_from(&vec![0.0; self.dof()], tf)
            .completed()
            .unwrap()
    }
}

impl MechanicalSystem for Slabs {
    fn dof(&self) -> usize {
        6 * self.masses.len()
    }
    fn mass(&self, _q: &[f64], m: &mut [f64]) {
        let d = self.dof();
        for (k, mass) in self.masses.iter().flatten().enumerate() {
            m[k * (d + 1)] = *mass;
        }
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], f: &mut [f64]) {
        f.fill(0.0);
        let part = (self.frequency * t).sin();
        for ((f, pulls), mass) in f.chunks_exact_mut(6).zip(&self.pulls).zip(&self.masses) {
            let pull = |k: usize| pulls[0][k] + part * pulls[1][k] + t * pulls[2][k];
            (f[0], f[1], f[3]) = (pull(0), pull(1), pull(2));
            f[2] = -mass[2] * GRAVITY;
        }
    }
}

impl UnilateralConstraints for Slabs {
    fn contacts(&self) -> usize {
        self.feet.len()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.row(j, 0).iter().zip(q).map(|(a, b)| a * b).sum()
    }
    fn gap_row(&self, j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&self.row(j, 0));
        true
    }
    fn friction(&self, j: usize) -> f64 {
        self.feet[j].friction
    }
    fn tangents(&self, _j: usize) -> usize {
        2
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        let (x, y) = rows.split_at_mut(self.dof());
        x.copy_from_slice(&self.row(j, 1));
        y.copy_from_slice(&self.row(j, 2));
    }
}

/// Two slabs, eight contacts; the higher one is pulled, askew.
#[test]
#[cfg_attr(debug_assertions, ignore = "ten seconds without optimisation")]
fn of_a_stack_the_slab_on_top_slips_where_it_is_pulled() {
    let (masses, friction, ramp) = ([3.0, 1.5], [0.5, 0.3], 4.0);
    let mut slabs = Slabs::on_corners(&masses, &friction, [0.5, 0.3]);
    let direction = [0.6, 0.8];
    slabs.pulls[1][2] = [ramp * direction[0], ramp * direction[1], 0.0];
    let tf = 2.0;
    let run = slabs.run(tf);
    let [event] = run.events() else {
        panic!("{:?}", run.events())
    };
    let slips = friction[1] * masses[1] * GRAVITY / ramp;
    assert!((event.t - slips).abs() < 1e-6, "{} {slips}", event.t);
    assert_eq!(event.slipped, [4, 5, 6, 7]);
    assert!(event.remarks.contains(&Remark::OneOfMany));
    let late = tf - slips;
    let speed = ramp * late * late / (2.0 * masses[1]);
    let v = &run.state().as_slice()[12..];
    for (k, v) in v.iter().enumerate() {
        let expected = if k < 6 {
            0.0
        } else {
            [speed * 0.6, speed * 0.8, 0.0, 0.0, 0.0, 0.0][k - 6]
        };
        assert!((v - expected).abs() < 1e-6, "{k}: {v} {expected}");
    }
}

/// The lower slab is pulled: the floor slips first, then what lies on it.
#[test]
#[cfg_attr(debug_assertions, ignore = "ten seconds without optimisation")]
fn of_a_stack_that_is_pulled_below_the_floor_slips_first() {
    let (masses, friction, ramp) = ([4.0, 3.0], [0.2, 0.3], 10.0);
    let mut slabs = Slabs::on_corners(&masses, &friction, [0.5, 0.3]);
    slabs.pulls[0][2] = [-0.8 * ramp, 0.6 * ramp, 0.0];
    let tf = 4.0;
    let run = slabs.run(tf);
    let total: f64 = masses.iter().sum();
    let slips = friction[0] * total * GRAVITY / ramp;
    let parts = (friction[0] + friction[1]) * total * GRAVITY / ramp;
    let [first, second] = run.events() else {
        panic!("{:?}", run.events())
    };
    assert!((first.t - slips).abs() < 1e-6, "{} {slips}", first.t);
    assert_eq!(first.slipped, [0, 1, 2, 3]);
    assert!((second.t - parts).abs() < 1e-6, "{} {parts}", second.t);
    assert_eq!(second.slipped, [4, 5, 6, 7]);
    let together = ramp * (parts - slips).powi(2) / (2.0 * total);
    let carried = together + friction[1] * GRAVITY * (tf - parts);
    let v = &run.state().as_slice()[12..];
    let [x, y] = [v[6], v[7]];
    assert!((x + 0.8 * carried).abs() < 1e-5, "{x} {carried}");
    assert!((y - 0.6 * carried).abs() < 1e-5, "{y} {carried}");
}

/// Five slabs, twenty contacts.
#[test]
#[cfg_attr(debug_assertions, ignore = "ten seconds without optimisation")]
fn a_tower_of_five_stands() {
    let slabs = Slabs::on_corners(&[1.0; 5], &[0.4; 5], [0.5, 0.3]);
    let run = slabs.run(0.5);
    assert!(run.events().is_empty());
    let moved = run.state().amax();
    assert!(moved < 1e-12, "{moved:e}");
    let model = ContactModel::new(&slabs);
    assert!((0..20).all(|j| model.contacting(run.mode(), j) == Contacting::Stick));
}

/// A table on legs at the corners of a regular octagon.
fn on_eight_legs(mu: f64) -> Legged {
    let legs = (0..8).map(|k| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / 8.0).sin_cos();
        [0.4 * cos, 0.4 * sin]
    });
    Legged {
        mass: [1.5, 1.5, 1.5, 0.2, 0.1, 0.1],
        legs: legs.collect(),
        friction: vec![mu; 8],
        restitution: 0.0,
        height: 0.3,
        pull: [[0.0; 3]; 3],
        frequency: 0.0,
    }
}

/// One that slides without turning slows down by the friction of its weight, however its legs share it.
#[test]
fn a_table_on_eight_legs_slides_and_stops() {
    let (mu, speed) = (0.25, 1.2);
    let mut driver = EventDriven::new(ContactModel::new(on_eight_legs(mu))).unwrap();
    driver = driver.rtol(1e-9).atol(1e-11);
    let v = [0.6 * speed, 0.8 * speed, 0.0, 0.0, 0.0, 0.0];
    let run = driver.integrate(&Start::at(0.0).q(&[0.0; 6]).v(&v), 1.0);
    let run = run.unwrap().completed().unwrap();
    let [event] = run.events() else {
        panic!("{:?}", run.events())
    };
    let stops = speed / (mu * GRAVITY);
    assert!((event.t - stops).abs() < 1e-7, "{} {stops}", event.t);
    assert_eq!(event.stuck, [0, 1, 2, 3, 4, 5, 6, 7]);
    let far = speed * speed / (2.0 * mu * GRAVITY);
    let [x, y] = [run.state()[0], run.state()[1]];
    assert!(
        (x - 0.6 * far).abs() < 1e-8 && (y - 0.8 * far).abs() < 1e-8,
        "{x} {y} {far}"
    );
}

/// Likewise its impact, askew to all directions of a polygon: friction takes `μ` of the impulse of the
/// weight. One outcome is found, which wants a selection.
#[test]
fn a_table_lands_on_eight_legs_within_round_cones() {
    let (mu, speed, height) = (0.25, 3.0, 0.05);
    let start = [0.0, 0.0, height, 0.0, 0.0, 0.0];
    let v = [0.6 * speed, 0.8 * speed, 0.0, 0.0, 0.0, 0.0];
    let land = |selection| {
        let model = ContactModel::new(on_eight_legs(mu)).selection(selection);
        let driver = EventDriven::new(model).unwrap();
        let start = Start::at(0.0).q(&start).v(&v);
        driver
            .rtol(1e-9)
            .atol(1e-11)
            .integrate(&start, 0.15)
            .unwrap()
    };
    let run = land(Selection::First);
    let event = &run.events()[0];
    let lands = (2.0 * GRAVITY * height).sqrt();
    let left = speed - mu * lands;
    for (v, expected) in event.state_after[6..]
        .iter()
        .zip([0.6 * left, 0.8 * left, 0.0, 0.0])
    {
        assert!((v - expected).abs() < 1e-9, "{v} {expected}");
    }
    let refused = land(Selection::Single);
    let Some(Breakdown::Impact { reason, .. }) = refused.status().reason() else {
        panic!("{}", refused.status())
    };
    assert!(
        matches!(**reason, ImpactFailure::NotSingle { count: 1 }),
        "{reason}"
    );
}

/// A table that is pulled harder than its eight legs hold has to be searched for its mode. After an
/// interrupt no mode is chosen: the run ends where it began, with all legs open.
#[test]
fn no_mode_of_many_is_looked_for_after_an_interrupt() {
    let mut table = on_eight_legs(0.25);
    // Askew, with a torque: neither do all stick nor do all slip alike.
    table.pull[0] = [2.0, 3.0, 1.5];
    let model = ContactModel::new(&table);
    for is_set in [false, true] {
        let interrupt = Interrupt::new();
        if is_set {
            interrupt.set();
        }
        let mut driver = EventDriven::new(ContactModel::new(&table).selection(Selection::First))
            .unwrap()
            .interrupt(&interrupt);
        let start = Start::at(0.0).q(&[0.0; 6]).v(&[0.0; 6]);
        let run = driver.integrate(&start, 1e-3).unwrap();
        let closed = (0..8).filter(|&j| model.contacting(run.mode(), j) != Contacting::Open);
        let (expected, legs) = if is_set {
            (Status::Refused(Stop::Interrupted), 0)
        } else {
            (Status::ReachedEnd, 8)
        };
        assert_eq!(*run.status(), expected);
        assert_eq!(closed.count(), legs, "{}", run.status());
    }
}

/// A stack of two or three with three to five feet each, and how fast it starts.
fn drawn(seed: u64) -> (Slabs, Vec<f64>) {
    let mut draw = SplitMix64(seed.wrapping_mul(0x9E6C_63D0_876A_68DE));
    let count = 2 + (draw.next() % 2) as usize;
    let size = draw.between(0.3, 0.6);
    let height = size * draw.between(0.05, 0.3);
    let mut slabs = Slabs {
        masses: Vec::new(),
        feet: Vec::new(),
        height,
        pulls: Vec::new(),
        frequency: draw.between(1.0, 8.0),
    };
    let mut above = 0.0;
    for slab in (0..count).rev() {
        let mass = draw.between(0.5, 2.0);
        above += mass;
        let inertia = mass * size * size * draw.between(0.2, 0.6);
        slabs
            .masses
            .insert(0, [mass, mass, mass, inertia, inertia * 0.6, inertia * 0.7]);
        let feet = 3 + draw.next() % 3;
        let (first, friction) = (draw.between(0.0, 6.3), draw.between(0.1, 0.9));
        let alike = draw.unit() < 0.5;
        for k in 0..feet {
            let part = (k as f64 + draw.between(-0.2, 0.2)) / feet as f64;
            let (sin, cos) = (first + std::f64::consts::TAU * part).sin_cos();
            let friction = if alike {
                friction
            } else {
                draw.between(0.1, 0.9)
            };
            slabs.feet.push(Foot {
                slab,
                at: [size * cos, size * sin],
                friction,
            });
        }
        let strength = above * GRAVITY * draw.between(0.0, 0.5);
        let mut pull =
            |part: f64| [1.0, 1.0, size].map(|arm| part * arm * strength * draw.between(-1.0, 1.0));
        slabs.pulls.insert(0, [pull(0.6), pull(0.6), [0.0; 3]]);
    }
    let mut v = vec![0.0; slabs.dof()];
    if draw.unit() < 0.5 {
        for slab in v.chunks_exact_mut(6) {
            for k in [0, 1, 3] {
                slab[k] = draw.between(-1.0, 1.0);
            }
        }
    }
    (slabs, v)
}

/// Runs random stacks; gives the seeds that end before and those with a fault.
fn campaign(seeds: Range<u64>, tf: f64) -> [Vec<u64>; 2] {
    let (mut ends, mut faults) = (Vec::new(), Vec::new());
    let mut events = 0;
    for seed in seeds {
        let (slabs, v) = drawn(seed);
        let run = slabs.run_from(&v, tf);
        events += run.events().len();
        if *run.status() != Status::ReachedEnd {
            println!(
                "seed {seed}, {} feet, at {}: {}",
                slabs.feet.len(),
                run.t(),
                run.status()
            );
            ends.push(seed);
        }
        if let Some((t, (name, size))) = worst_fault(&slabs, &run, 0.0) {
            println!("seed {seed}: {name} by {size:e} at {t} of {}", run.t());
            faults.push(seed);
        }
        let model = ContactModel::new(slabs.clone());
        let fault = energy_fault(&slabs, &model, &run);
        let largest = run.states().amax().max(1.0);
        if fault.abs() > 1e-6 * largest * largest {
            println!("seed {seed}: energy is off by {fault:e}");
            faults.push(seed);
        }
    }
    println!("{events} events, ends {ends:?}, faults {faults:?}");
    [ends, faults]
}

#[test]
fn random_stacks_keep_coulombs_law() {
    let [ends, faults] = campaign(32..33, 0.5);
    assert!(faults.is_empty() && ends.is_empty(), "{ends:?} {faults:?}");
}

/// The multipliers of least norm of this one are outside of its cones when it begins to slip.
#[test]
fn a_slip_that_begins_has_forces_in_the_cones() {
    let [ends, faults] = campaign(34..35, 0.03);
    assert!(faults.is_empty() && ends.is_empty(), "{ends:?} {faults:?}");
}

#[test]
#[ignore = "minutes"]
fn many_random_stacks_keep_coulombs_law() {
    let [ends, faults] = campaign(0..40, 0.5);
    assert!(faults.is_empty(), "{faults:?}");
    assert!(ends.len() <= 2, "{ends:?}");
}
