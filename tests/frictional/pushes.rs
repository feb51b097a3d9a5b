//! A block that a clock pushes for a short while: a run sees the push, or says that it went past it.

use saltation::bodies::{Body, FixedContacts, Scene, Shape};
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::{ContactModel, Doubt, EventDriven, Run, Start, Status};

use crate::random_bits::SplitMix64;

const GRAVITY: f64 = 9.81;
const FRICTION: f64 = 0.3;

/// A kilogram on a floor, with a force along it that depends on time and place.
struct Pushed<F> {
    force: F,
    friction: f64,
    time_scale: Option<f64>,
}

impl<F: Fn(f64, f64) -> f64> MechanicalSystem for Pushed<F> {
    fn dof(&self) -> usize {
        2
    }
    fn mass(&self, _q: &[f64], m: &mut [f64]) {
        m.copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, q: &[f64], _v: &[f64], f: &mut [f64]) {
        f.copy_from_slice(&[(self.force)(t, q[0]), -GRAVITY]);
    }
    fn time_scale(&self) -> Option<f64> {
        self.time_scale
    }
}

impl<F: Fn(f64, f64) -> f64> UnilateralConstraints for Pushed<F> {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[1]
    }
    fn gap_row(&self, _j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[0.0, 1.0]);
        true
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], row: &mut [f64]) {
        row.copy_from_slice(&[1.0, 0.0]);
    }
}

/// A box on its four lower corners, pushed through its centre by `m p sin(w t + ph)` along a direction.
struct Swung {
    contacts: FixedContacts,
    mass: f64,
    along: [f64; 2],
    force: Box<dyn Fn(f64) -> f64>,
}

impl MechanicalSystem for Swung {
    fn dof(&self) -> usize {
        self.contacts.dof()
    }
    fn coordinates(&self) -> usize {
        self.contacts.coordinates()
    }
    fn configuration_rate(&self, q: &[f64], v: &[f64], rate: &mut [f64]) -> bool {
        self.contacts.configuration_rate(q, v, rate)
    }
    fn project_configuration(&self, q: &mut [f64]) -> bool {
        self.contacts.project_configuration(q)
    }
    fn mass(&self, q: &[f64], m: &mut [f64]) {
        self.contacts.mass(q, m);
    }
    fn coriolis(&self, q: &[f64], v: &[f64], f: &mut [f64]) -> bool {
        self.contacts.coriolis(q, v, f)
    }
    fn effort(&self, t: f64, q: &[f64], v: &[f64], f: &mut [f64]) {
        self.contacts.effort(t, q, v, f);
        for (i, along) in self.along.iter().enumerate() {
            f[3 + i] += self.mass * (self.force)(t) * along;
        }
    }
}

impl UnilateralConstraints for Swung {
    fn contacts(&self) -> usize {
        self.contacts.contacts()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.contacts.gap(j, q)
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        self.contacts.gap_row(j, q, row)
    }
    fn friction(&self, j: usize) -> f64 {
        self.contacts.friction(j)
    }
    fn tangents(&self, j: usize) -> usize {
        self.contacts.tangents(j)
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        self.contacts.tangent_rows(j, q, rows);
    }
}

fn run<F: Fn(f64, f64) -> f64>(force: F, time_scale: Option<f64>, speed: f64, rtol: f64) -> Run {
    let model = ContactModel::new(Pushed {
        force,
        friction: FRICTION,
        time_scale,
    });
    let mut driver = EventDriven::new(model).unwrap().rtol(rtol);
    let v = [speed, 0.0];
    let start = Start::at(0.0).q(&[0.0, 0.0]).v(&v);
    let run = driver.integrate(&start, 1.0).unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    run
}

fn is_told(run: &Run) -> bool {
    let is_push = |doubt: &Doubt| matches!(doubt, Doubt::Push { .. });
    let told = run.doubts().iter().filter(|doubt| is_push(doubt)).count();
    assert!(told <= 1, "{:?}", run.doubts());
    told == 1
}

/// Place and speed after a time under a constant force.
fn moved([mut x, mut v]: [f64; 2], force: f64, mut time: f64) -> [f64; 2] {
    let most = FRICTION * GRAVITY;
    if v != 0.0 {
        let a = force - most * v.signum();
        let stops = if a * v < 0.0 { -v / a } else { f64::INFINITY };
        let part = time.min(stops);
        x += (v + 0.5 * a * part) * part;
        v = if stops <= time { 0.0 } else { v + a * part };
        time -= part;
    }
    if v == 0.0 && force.abs() > most {
        let a = force - most * force.signum();
        (x, v) = (x + 0.5 * a * time * time, a * time);
    }
    [x, v]
}

#[test]
fn a_push_is_seen_or_told() {
    let cases = if cfg!(debug_assertions) { 100 } else { 3000 };
    let (mut missed, mut seen) = (0, 0);
    for seed in 0..cases {
        let mut random = SplitMix64(seed);
        let (speed, rtol) = (
            random.between(0.1, 4.0),
            [1e-5, 1e-7, 1e-9][random.next() as usize % 3],
        );
        let from = random.between(0.02, 0.9);
        let lasts = random.between(0.011, 0.2f64).min(0.99 - from);
        let sign = if random.unit() < 0.5 { -1.0 } else { 1.0 };
        let size = sign * random.between(1.0, 30.0);
        let force = |t: f64| {
            if t > from && t < from + lasts {
                size
            } else {
                0.0
            }
        };
        let before = moved([0.0, speed], 0.0, from);
        let [x, _] = moved(moved(before, size, lasts), 0.0, 1.0 - from - lasts);
        let what = format!("{seed}: {speed} {from} {lasts} {size} {rtol}");
        let found = run(|t, _| force(t), None, speed, rtol);
        let off = (found.state()[0] - x).abs();
        let allowed = 1e-3 * size.abs() * lasts + 1e3 * rtol;
        let is_right = off < allowed;
        assert!(
            is_right || is_told(&found),
            "{what}: {off:e} {:?}",
            found.doubts()
        );
        missed += i32::from(!is_right);
        seen += i32::from(is_right && !is_told(&found));
        // Where the model says how long it lasts it is in the motion.
        let found = run(|t, _| force(t), Some(0.5 * lasts), speed, rtol);
        let off = (found.state()[0] - x).abs();
        assert!(off < allowed && !is_told(&found), "{what}: {off:e}");
    }
    assert_eq!((missed, seen), (0, cases as i32));
}

/// A push at one place of the floor: where a step begins it does not show.
#[test]
fn a_push_that_a_step_goes_past_is_told() {
    let (mut told, size) = (0, -20.0);
    for k in 0..20 {
        let (from, lasts) = (0.3 + 0.01 * f64::from(k), 0.04);
        let beyond = |x: f64| x > 0.5;
        let force = |t: f64, x: f64| {
            let is_on = t > from && t < from + lasts && beyond(x);
            if is_on { size } else { 0.0 }
        };
        let before = moved([0.0, 4.0], 0.0, from);
        assert!(beyond(before[0]));
        let [x, _] = moved(moved(before, size, lasts), 0.0, 1.0 - from - lasts);
        let found = run(force, None, 4.0, 1e-9);
        let is_right = (found.state()[0] - x).abs() < 1e-6;
        assert!(is_right || is_told(&found), "{from}: {:?}", found.doubts());
        told += i32::from(is_told(&found));
    }
    assert!(told > 0);
}

#[test]
fn forces_that_steps_follow_are_not_doubted() {
    let cases = if cfg!(debug_assertions) { 60 } else { 2000 };
    for seed in 0..cases {
        let mut random = SplitMix64(seed);
        let (size, rate) = (random.between(0.1, 20.0), random.between(0.5, 40.0));
        let (phase, rtol) = (
            random.between(0.0, 6.0),
            [1e-4, 1e-6, 1e-9][random.next() as usize % 3],
        );
        let ramp = random.between(-5.0, 5.0);
        let force = |t: f64| size * (rate * t + phase).sin() + ramp * t;
        let speed = random.between(0.0, 3.0);
        let found = run(|t, _| force(t), None, speed, rtol);
        assert!(
            !is_told(&found),
            "{seed}: {size} {rate} {phase} {ramp} {rtol} {:?}",
            found.doubts()
        );
    }
}

/// From a time on, also where the force jumps to more than twice the limit: before its time the margin of the cone
/// is smaller than behind it.
#[test]
fn a_block_slips_from_the_time_at_which_a_clock_pushes_it() {
    for push in [5.0, 9.0, 10.0, 15.0, 30.0, 1000.0] {
        for k in 0..20 {
            let from = 0.4 + 0.0317 * f64::from(k);
            let block = Pushed {
                force: |t: f64, _: f64| if t > from { push } else { 0.0 },
                friction: 0.5,
                time_scale: None,
            };
            let mut driver = EventDriven::new(ContactModel::new(block)).unwrap();
            let start = Start::at(0.0).q(&[0.0; 2]).v(&[0.0; 2]);
            let run = driver.integrate(&start, 2.0).unwrap();
            assert_eq!(*run.status(), Status::ReachedEnd, "{push} {from}");
            let way = 0.5 * (push - 0.5 * GRAVITY) * (2.0 - from).powi(2);
            let off = run.state()[0] - way;
            assert!(off.abs() < 1e-9 * push, "{push} {from}: {off:e}");
            assert!((run.events()[0].t - from).abs() < 1e-12);
        }
    }
}

/// A step that has grown at rest passes over a whole slip where the swinging push is held at all of its stages.
#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "a quarter of a minute without optimisation"
)]
fn slips_that_a_swinging_push_begins_are_not_passed_over() {
    let (half, friction, density) = (
        [0.884_912_661_9, 0.684_095_049_6, 0.172_552_809_1],
        0.338_680_991_6,
        1.0,
    );
    let (strength, rate, phase) = (4.095_088_527_2, 7.864_993_351_2, 0.804_513_300_6);
    let (direction, most, end) = (3.013_477_054_4f64, friction * GRAVITY, 1.5);
    let force = move |t: f64| strength * (rate * t + phase).sin();
    // Friction takes away what it can of each short step.
    let (parts, [mut x, mut v]) = (30_000, [0.0, 0.0f64]);
    let step = end / f64::from(parts);
    for i in 0..parts {
        let pushed = v + step * force((f64::from(i) + 0.5) * step);
        let slip = pushed - pushed.clamp(-most * step, most * step);
        x += 0.5 * (v + slip) * step;
        v = slip;
    }
    let mut scene = Scene::new();
    let floor = Body::fixed(Shape::plane()).friction(friction);
    scene.add(floor).unwrap();
    let cuboid = Body::new(Shape::cuboid(half).unwrap()).density(density);
    let at = [0.0, 0.0, half[2]];
    scene.add(cuboid.friction(friction).position(at)).unwrap();
    let (q, v) = scene.start();
    let swung = Swung {
        contacts: scene.fixed_contacts().unwrap(),
        mass: 8.0 * density * half.iter().product::<f64>(),
        along: [direction.cos(), direction.sin()],
        force: Box::new(force),
    };
    let mut driver = EventDriven::new(ContactModel::new(swung))
        .unwrap()
        .rtol(1e-6);
    let start = Start::at(0.0).q(&q).v(&v);
    let run = driver.integrate(&start, end).unwrap();
    assert_eq!(*run.status(), Status::ReachedEnd);
    let moved = run.state()[0] * direction.cos() + run.state()[1] * direction.sin();
    let off = moved - x;
    assert!(off.abs() < 2e-5, "{off:e} of {x}");
    assert!(run.events().len() > 4);
}
