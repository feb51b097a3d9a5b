//! More contacts than are enumerated: stacks, whose modes a complementarity solver finds.

use saltation::impact::Contacting;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::record::Remark;
use saltation::{ContactModel, EventDriven, Run, Start, Status};

use crate::random_bits::SplitMix64;
use crate::scenes::{Body, Face, Scene, Touch};

const GRAVITY: f64 = 9.81;

/// Slabs on each other, two contacts each, of which the lowest is pulled ever harder.
struct Stack {
    scene: Scene,
    /// N/s.
    ramp: f64,
    /// A push on the second slab (N), and the time from which on a clock switches it on.
    push: [f64; 2],
    /// The floor is shaken along itself: greatest acceleration (m/s²), frequency (rad/s).
    shake: [f64; 2],
}

const HALF: [f64; 2] = [0.5, 0.1];

impl Stack {
    fn new(masses: &[f64], friction: &[f64], ramp: f64) -> Self {
        let slab = |mass: &f64| Body {
            mass: *mass,
            inertia: mass * (HALF[0] * HALF[0] + HALF[1] * HALF[1]) / 3.0,
        };
        let feet = |(i, &friction): (usize, &f64)| {
            let face = Face {
                body: i.checked_sub(1),
                normal: [0.0, 1.0],
                offset: if i == 0 { 0.0 } else { HALF[1] },
                friction,
            };
            [-1.0, 1.0].map(|side| Touch {
                body: i,
                point: [side * HALF[0], -HALF[1]],
                radius: 0.0,
                face,
            })
        };
        Self {
            scene: Scene {
                bodies: masses.iter().map(slab).collect(),
                touches: friction.iter().enumerate().flat_map(feet).collect(),
                slope: 0.0,
                push: None,
            },
            ramp,
            push: [0.0; 2],
            shake: [0.0; 2],
        }
    }

    /// At rest, each a little beside the one below.
    fn start(&self) -> Vec<f64> {
        let place = |i: usize| [0.02 * i as f64, HALF[1] * (2.0 * i as f64 + 1.0), 0.0];
        (0..self.scene.bodies.len()).flat_map(place).collect()
    }

    /// As seen from a floor that is shaken (m/s²).
    fn shaken(&self, t: f64) -> f64 {
        self.shake[0] * (self.shake[1] * t).sin()
    }

    fn run(&self, tf: f64) -> Run {
        let (q, v) = (self.start(), vec![0.0; self.dof()]);
        let mut driver = EventDriven::new(ContactModel::new(self)).unwrap();
        driver = driver.rtol(1e-9).atol(1e-11);
        let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), tf).unwrap();
        run.completed().unwrap()
    }
}

impl MechanicalSystem for Stack {
    fn dof(&self) -> usize {
        self.scene.dof()
    }
    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.scene.mass(q, mass);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.scene.effort(t, q, v, effort);
        effort[0] += self.ramp * t;
        if self.push[0] != 0.0 && t > self.push[1] {
            effort[3] += self.push[0];
        }
        let acceleration = self.shaken(t);
        for (i, body) in self.scene.bodies.iter().enumerate() {
            effort[3 * i] += body.mass * acceleration;
        }
    }
}

impl UnilateralConstraints for Stack {
    fn contacts(&self) -> usize {
        self.scene.contacts()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.scene.gap(j, q)
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        self.scene.gap_row(j, q, row)
    }
    fn friction(&self, j: usize) -> f64 {
        self.scene.friction(j)
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        self.scene.tangent_rows(j, q, rows);
    }
}

/// Four slabs, eight contacts: the floor slips first, then the interface that bears least.
#[test]
fn of_a_tall_stack_the_floor_slips_and_then_the_weakest_interface() {
    let (masses, friction, ramp) = ([4.0, 3.0, 2.0, 1.0], [0.2, 0.3, 0.4, 0.5], 10.0);
    let stack = Stack::new(&masses, &friction, ramp);
    let tf = 6.0;
    let run = stack.run(tf);
    let total: f64 = masses.iter().sum();
    let slips = friction[0] * total * GRAVITY / ramp;
    let parts = (friction[0] + friction[1]) * total * GRAVITY / ramp;
    let [first, second] = run.events() else {
        panic!("{:?}", run.events())
    };
    assert!((first.t - slips).abs() < 1e-6, "{} {slips}", first.t);
    assert_eq!(first.slipped, [0, 1]);
    assert!(first.remarks.contains(&Remark::OneOfMany));
    assert!((second.t - parts).abs() < 1e-6, "{} {parts}", second.t);
    assert_eq!(second.slipped, [2, 3]);
    // Speeds in closed form: all together, then three carried by friction.
    let together = ramp * (parts - slips).powi(2) / (2.0 * total);
    let carried = together + friction[1] * GRAVITY * (tf - parts);
    let weight = (friction[0] * total + friction[1] * (total - masses[0])) * GRAVITY;
    let pulled = 0.5 * ramp * (tf * tf - parts * parts) - weight * (tf - parts);
    let lowest = together + pulled / masses[0];
    let v = &run.state().as_slice()[12..];
    for i in 1..4 {
        assert!(
            (v[3 * i] - carried).abs() < 1e-5,
            "{i}: {} {carried}",
            v[3 * i]
        );
        assert!(v[3 * i + 1].abs() < 1e-9 && v[3 * i + 2].abs() < 1e-9);
    }
    assert!((v[0] - lowest).abs() < 1e-5, "{} {lowest}", v[0]);
}

/// Ten slabs stand, with twenty contacts.
#[test]
fn a_tower_of_ten_stands() {
    let stack = Stack::new(&[1.0; 10], &[0.4; 10], 0.0);
    let run = stack.run(1.0);
    assert!(run.events().is_empty());
    let pairs = run.state().iter().zip(stack.start());
    let moved = pairs.fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
    assert!(moved < 1e-12, "{moved:e}");
    let model = ContactModel::new(&stack);
    assert!((0..20).all(|j| model.contacting(run.mode(), j) == Contacting::Stick));
    let forces = model.multipliers(0.5, run.state().as_slice(), run.mode());
    let floor = forces.values()[0] + forces.values()[1];
    assert!((floor - 10.0 * GRAVITY).abs() < 1e-9, "{floor}");
}

/// Two slabs slide as one, or have come to rest, until a clock pushes the upper one, beyond what friction between
/// them holds: it slips from there on at every tolerance. No run doubts that.
#[test]
fn a_slab_that_a_clock_pushes_slips() {
    let (mu, speed, push) = (0.2, 0.5, 6.0);
    let (mut doubted, all) = (0, (0..80).collect::<Vec<_>>());
    // In that which is always run a step begins a rounding before the switch.
    let times = if cfg!(debug_assertions) {
        &[5]
    } else {
        &all[..]
    };
    let tolerances = [1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9];
    for &k in times {
        for rtol in tolerances {
            let from = 0.05 + 0.022 * f64::from(k) + 0.001_37;
            let mut stack = Stack::new(&[0.5; 2], &[mu; 2], 0.0);
            stack.push = [push, from];
            let (mut q, v) = (stack.start(), [speed, 0.0, 0.0, speed, 0.0, 0.0]);
            (q[0], q[3]) = (0.0, 0.0);
            let driver = EventDriven::new(ContactModel::new(&stack)).unwrap();
            let start = Start::at(0.0).q(&q).v(&v);
            let run = driver.rtol(rtol).integrate(&start, from + 0.08).unwrap();
            assert_eq!(*run.status(), Status::ReachedEnd, "{from} {rtol}");
            let way = |speed: f64, acceleration: f64, t: f64| (speed + 0.5 * acceleration * t) * t;
            let sliding = from.min(speed / (mu * GRAVITY));
            let braked = speed - mu * GRAVITY * sliding;
            let expected =
                way(speed, -mu * GRAVITY, sliding) + way(braked, push / 0.5 - mu * GRAVITY, 0.08);
            let off = run.state()[3] - expected;
            // Accelerations are constant on either side of the switch, and no step has stages on both.
            assert!(off.abs() < 1e-12, "{from} {rtol}: {off:e}");
            doubted += usize::from(!run.is_guaranteed());
        }
    }
    assert_eq!(doubted, 0);
}

/// Two slabs on a shaken floor, and of each the speed by short steps with friction in between: the weaker of both
/// interfaces slips, when the floor accelerates by more than it holds.
#[test]
fn of_two_slabs_on_a_shaken_floor_the_weaker_interface_slips() {
    let draws = if cfg!(debug_assertions) {
        0..12
    } else {
        0..600
    };
    for seed in draws {
        let mut draw = SplitMix64(seed);
        let masses = [0.2, 0.2].map(|least| least * 25.0f64.powf(draw.unit()));
        let friction = [0.05, 0.05].map(|least| draw.between(least, 0.6));
        let mut stack = Stack::new(&masses, &friction, 0.0);
        let weakest = friction[0].min(friction[1]);
        let amplitude = weakest * GRAVITY * draw.between(1.1, 2.0);
        stack.shake = [amplitude, draw.between(5.0, 20.0)];
        let slips = (weakest * GRAVITY / amplitude).asin() / stack.shake[1];
        let tf = slips + 0.1;
        let run = stack.run(tf);
        let first = &run.events()[0];
        assert!(
            (first.t - slips).abs() < 1e-7,
            "{seed}: {} {slips}",
            first.t
        );
        let interface = usize::from(friction[1] < friction[0]);
        // Both ends of a slab slip; at the border of their cones one may be found a moment before the other.
        let at_once = run
            .events()
            .iter()
            .take_while(|event| event.t < slips + 1e-6);
        let mut slipped: Vec<usize> = at_once.flat_map(|event| event.slipped.clone()).collect();
        slipped.sort_unstable();
        slipped.dedup();
        assert!(
            slipped.iter().all(|j| j / 2 == interface),
            "{seed}: {slipped:?}"
        );
        assert!(!slipped.is_empty(), "{seed}");
        let (mut v, steps) = ([0.0; 2], 10_000);
        let (dt, total) = (tf / f64::from(steps), masses[0] + masses[1]);
        let holds = [
            friction[0] * total * GRAVITY * dt,
            friction[1] * masses[1] * GRAVITY * dt,
        ];
        for step in 0..steps {
            let push = stack.shaken((f64::from(step) + 0.5) * dt) * dt;
            v = v.map(|v| v + push);
            // Impulses from below on either slab, each in turn until both fit.
            let mut impulses = [0.0f64; 2];
            for _ in 0..60 {
                let wanted = impulses[0] - masses[0] * v[0];
                let new = wanted.clamp(-holds[0], holds[0]);
                v[0] += (new - impulses[0]) / masses[0];
                impulses[0] = new;
                let both = 1.0 / (1.0 / masses[0] + 1.0 / masses[1]);
                let wanted = impulses[1] - both * (v[1] - v[0]);
                let new = wanted.clamp(-holds[1], holds[1]);
                v[0] -= (new - impulses[1]) / masses[0];
                v[1] += (new - impulses[1]) / masses[1];
                impulses[1] = new;
            }
        }
        for (i, v) in v.iter().enumerate() {
            let found = run.state()[6 + 3 * i];
            assert!((found - v).abs() < 1e-3, "{seed} {i}: {found} {v}");
        }
    }
}
