//! Laws of friction beside Coulomb's: static friction above kinetic, friction that falls with speed, and
//! friction that depends on the place, against the reference and closed forms.

use std::f64::consts::PI;
use std::ops::Range;

use saltation::mechanics::{Friction, MechanicalSystem, UnilateralConstraints};
use saltation::{
    Compliant, ContactModel, EventDriven, InputError, Run, Start, Variational, Verdict,
};

use crate::random_modes::Trial;
use crate::scenes::Scene;
use crate::stick_slip::value;

const GRAVITY: f64 = 9.81;

/// A law: coefficients by place and speed.
type Law = fn(f64, f64) -> Friction;

/// A block of 1 kg on a belt, held by a spring: `q = (x, z)`, then the place of the belt.
#[derive(Clone, Copy)]
struct OnBelt {
    law: Law,
    /// For impacts.
    friction: f64,
    stiffness: f64,
    /// A force along x that grows with time (N/s).
    ramp: f64,
}

impl OnBelt {
    fn new(law: Law) -> Self {
        Self {
            law,
            friction: 0.5,
            stiffness: 0.0,
            ramp: 0.0,
        }
    }
}

impl MechanicalSystem for OnBelt {
    fn dof(&self) -> usize {
        3
    }
    fn driven(&self) -> Range<usize> {
        2..3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let spring = -self.stiffness * q[0];
        effort.copy_from_slice(&[spring + self.ramp * t, -GRAVITY, 0.0]);
    }
}

impl UnilateralConstraints for OnBelt {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[1]
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
    fn constant_tangents(&self, _j: usize) -> bool {
        true
    }
    fn gap_row(&self, _j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[0.0, 1.0, 0.0]);
        true
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn friction_at(&self, _j: usize, q: &[f64], speed: f64) -> Option<Friction> {
        Some((self.law)(q[0], speed))
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, -1.0]);
    }
}

fn run<S>(system: S, (q, v): (&[f64], &[f64]), tf: f64) -> Run
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let mut driver = EventDriven::new(ContactModel::new(system)).unwrap();
    driver = driver.rtol(1e-12).atol(1e-13);
    let run = driver.integrate(&Start::at(0.0).q(q).v(v), tf).unwrap();
    run.completed().unwrap()
}

fn close(found: f64, expected: f64, tolerance: f64) {
    let off = found - expected;
    assert!(off.abs() <= tolerance, "{found} {expected} {off:e}");
}

/// Friction that falls with speed lets a block on a belt stick and slip in turns (Leine et al.).
#[test]
fn a_block_on_a_belt_sticks_and_slips_as_the_reference_says() {
    let law: Law = |_, speed| Friction::constant(1.0 / GRAVITY / (1.0 + 3.0 * speed));
    let block = OnBelt {
        stiffness: 1.0,
        ..OnBelt::new(law)
    };
    let run = run(block, (&[0.0; 3], &[0.0, 0.0, 0.2]), 40.0);
    let of = |quantity| value("stick_slip_belt", quantity, "", "");
    let [first, slips, sticks, again] = &run.events()[..4] else {
        panic!("{:?}", run.events())
    };
    close(first.t, of("first_stick_time_from_rest"), 1e-9);
    assert_eq!(first.stuck, [0]);
    let at = |t: f64| run.state_at(t).unwrap()[0];
    close(at(first.t), of("first_stick_x_from_rest"), 1e-9);
    // It slips where the spring pulls with all that friction bears.
    assert_eq!(slips.slipped, [0]);
    close(at(slips.t), 1.0, 1e-9);
    close(sticks.t - slips.t, of("slip_duration"), 1e-9);
    close(at(sticks.t), of("x_at_stick"), 1e-9);
    close(again.t - sticks.t, of("stick_duration"), 1e-9);
    close(again.t - slips.t, of("period"), 1e-9);
}

/// With static friction above kinetic the slip is a part of a harmonic oscillation.
#[test]
fn static_friction_above_kinetic_makes_a_block_stick_and_slip() {
    const STICK: f64 = 0.6;
    const SLIP: f64 = 0.4;
    let law: Law = |_, _| Friction {
        stick: STICK,
        slip: SLIP,
    };
    let (stiffness, belt) = (30.0_f64, 0.25);
    let block = OnBelt {
        stiffness,
        ..OnBelt::new(law)
    };
    let run = run(block, (&[0.0; 3], &[belt, 0.0, belt]), 6.0);
    let rate = stiffness.sqrt();
    // The spring pulls with static friction at the slip's begin, and it swings about where it pulls
    // with kinetic friction.
    let reach = (STICK - SLIP) * GRAVITY / stiffness;
    let slip = 2.0 * (PI - (reach * rate / belt).atan()) / rate;
    let stick = 2.0 * reach / belt;
    let mut t = STICK * GRAVITY / stiffness / belt;
    assert!(run.events().len() >= 6, "{:?}", run.events());
    for (k, event) in run.events().iter().enumerate() {
        close(event.t, t, 1e-9);
        let slips = k % 2 == 0;
        assert_eq!(
            (event.slipped.len(), event.stuck.len()),
            (usize::from(slips), usize::from(!slips))
        );
        t += if slips { slip } else { stick };
    }
}

/// A force that grows breaks a block loose, which then has kinetic friction: `ẍ = (F t − μ m g)/m`.
#[test]
fn a_block_that_breaks_loose_accelerates_at_once() {
    let law: Law = |_, _| Friction {
        stick: 0.5,
        slip: 0.3,
    };
    let block = OnBelt {
        ramp: 2.0,
        ..OnBelt::new(law)
    };
    let run = run(block, (&[0.0; 3], &[0.0; 3]), 3.5);
    let begins = 0.5 * GRAVITY / 2.0;
    close(run.events()[0].t, begins, 1e-10);
    let (t, from) = (3.5, begins);
    let v = t * t - from * from - 0.3 * GRAVITY * (t - from);
    close(run.state()[3], v, 1e-9);
    assert_eq!(run.events().len(), 1);
}

/// On ground that gets rougher a block stops where friction has taken its energy, for good.
#[test]
fn friction_that_depends_on_the_place_stops_a_block_where_its_work_is_the_energy() {
    let law: Law = |x, _| Friction::constant(0.1 + 0.2 * x);
    let run = run(OnBelt::new(law), (&[0.0; 3], &[3.0, 0.0, 0.0]), 5.0);
    // g (0.1 x + 0.1 x²) = 9/2.
    let x = 0.5 * (-1.0 + (1.0 + 4.0 * 45.0 / GRAVITY).sqrt());
    close(run.state()[0], x, 1e-8);
    assert_eq!(run.state()[3].to_bits() << 1, 0);
    assert_eq!(run.events()[0].stuck, [0]);
}

/// Derivatives go through breaking loose, where the force jumps, and through the stop, against
/// differences of runs.
#[test]
fn derivatives_see_the_jump_of_friction() {
    let law: Law = |_, speed| Friction {
        stick: 0.6,
        slip: 0.3 + 0.1 / (1.0 + 2.0 * speed),
    };
    let block = OnBelt {
        stiffness: 30.0,
        ..OnBelt::new(law)
    };
    let x = [0.05, 0.0, 0.0, 0.25, 0.0, 0.25];
    for tf in [0.3, 0.9, 1.6] {
        let end = |x: &[f64]| run(block, x.split_at(3), tf).state().clone();
        let mut driver = EventDriven::new(ContactModel::new(block)).unwrap();
        driver = driver.rtol(1e-11).atol(1e-13);
        let start = Start::at(0.0).q(&x[..3]).v(&x[3..]);
        let derivative = driver.derivative(&start, tf).unwrap();
        assert!(
            matches!(derivative.verdict(), Verdict::Classical),
            "{:?}",
            derivative.verdict()
        );
        let matrix = derivative.matrix().unwrap();
        // The block and the belt; a velocity off the belt's is a slip that stops at once.
        for k in [0, 2] {
            let step = 1e-5;
            let [ahead, behind] = [step, -step].map(|by| {
                let mut moved = x;
                moved[k] += by;
                end(&moved)
            });
            let difference = (ahead - behind) / (2.0 * step);
            let off = (&difference - matrix.column(k)).amax();
            assert!(off < 1e-5 * (1.0 + difference.amax()), "{tf} {k}: {off:e}");
        }
    }
}

/// A block on two feet, or a puck in space, that breaks loose along a direction: both feet at once.
struct Feet {
    /// Half the distance of the feet, and the height above them.
    half: [f64; 2],
    ramp: f64,
    law: Friction,
}

impl MechanicalSystem for Feet {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.3]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[self.ramp * t, -GRAVITY, 0.0]);
    }
}

impl UnilateralConstraints for Feet {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let ([a, b], side) = (self.half, if j == 0 { -1.0 } else { 1.0 });
        q[1] + side * a * q[2].sin() - b * (q[2].cos() - 1.0)
    }
    fn friction(&self, _j: usize) -> f64 {
        self.law.slip
    }
    fn friction_at(&self, _j: usize, _q: &[f64], _speed: f64) -> Option<Friction> {
        Some(self.law)
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        let ([a, b], side) = (self.half, if j == 0 { -1.0 } else { 1.0 });
        rows.copy_from_slice(&[1.0, 0.0, b * q[2].cos() - side * a * q[2].sin()]);
    }
}

#[test]
fn two_feet_that_depend_on_each_other_break_loose_together() {
    let law = Friction {
        stick: 0.5,
        slip: 0.35,
    };
    let block = Feet {
        half: [0.6, 0.4],
        ramp: 2.0,
        law,
    };
    let run = run(block, (&[0.0; 3], &[0.0; 3]), 3.0);
    let begins = 0.5 * GRAVITY / 2.0;
    let event = &run.events()[0];
    // Seen where the loads are 2e-9 of themselves beyond.
    close(event.t, begins, 2e-8);
    assert_eq!(event.slipped, [0, 1], "{event:?}");
    let v = 9.0 - begins * begins - 0.35 * GRAVITY * (3.0 - begins);
    close(run.state()[3], v, 1e-7);
}

/// A puck in space, pulled along a direction by a force that grows.
#[derive(Clone, Copy)]
struct Puck {
    law: Friction,
    pull: [f64; 2],
    /// For impacts.
    friction: f64,
}

impl MechanicalSystem for Puck {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        let [x, y] = self.pull;
        effort.copy_from_slice(&[x * t, y * t, -GRAVITY]);
    }
}

impl UnilateralConstraints for Puck {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[2]
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn friction_at(&self, _j: usize, _q: &[f64], _speed: f64) -> Option<Friction> {
        Some(self.law)
    }
    fn tangents(&self, _j: usize) -> usize {
        2
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    }
}

#[test]
fn a_puck_in_space_breaks_loose_in_the_direction_of_the_pull() {
    let puck = Puck {
        law: Friction {
            stick: 0.5,
            slip: 0.3,
        },
        pull: [1.2, -1.6],
        friction: 0.3,
    };
    let run = run(puck, (&[0.0; 3], &[0.0; 3]), 3.0);
    let begins = 0.5 * GRAVITY / 2.0;
    close(run.events()[0].t, begins, 1e-9);
    let v = 9.0 - begins * begins - 0.3 * GRAVITY * (3.0 - begins);
    close(run.state()[3], 0.6 * v, 1e-8);
    close(run.state()[4], -0.8 * v, 1e-8);
}

/// Two sliders of 1 kg on the ground, pressed on it with 1 N each and pulled; the inertia couples them by
/// half a kilogram.
struct Coupled {
    pull: [f64; 2],
    laws: [Friction; 2],
}

impl MechanicalSystem for Coupled {
    fn dof(&self) -> usize {
        4
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        (0..4).for_each(|i| mass[5 * i] = 1.0);
        (mass[1], mass[4]) = (0.5, 0.5);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[self.pull[0], self.pull[1], -1.0, -1.0]);
    }
}

impl UnilateralConstraints for Coupled {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        q[2 + j]
    }
    fn friction(&self, j: usize) -> f64 {
        self.laws[j].slip
    }
    fn friction_at(&self, j: usize, _q: &[f64], _speed: f64) -> Option<Friction> {
        Some(self.laws[j])
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.fill(0.0);
        rows[j] = 1.0;
    }
}

/// The end of a second from rest, without an event.
fn of_coupled(pull: [f64; 2], sticks: [f64; 2]) -> [f64; 2] {
    let law = |stick, slip| Friction { stick, slip };
    let laws = [law(sticks[0], 0.49), law(sticks[1], 0.5)];
    let run = run(Coupled { pull, laws }, (&[0.0; 4], &[0.0; 4]), 1.0);
    assert!(run.events().is_empty(), "{:?}", run.events());
    [run.state()[4], run.state()[5]]
}

/// The second breaks loose, and its kinetic friction lets the first loose too, which static friction of
/// both would have held: `(1.6 − 0.5) / 2 > 0.5`.
#[test]
fn one_that_breaks_loose_tears_another_loose() {
    let [a, b] = of_coupled([0.0, 1.6], [0.5, 1.5]);
    // M v̇ = f − μ σ: the first slips backward
    let (first, second) = (0.49, 1.1);
    close(a, (first - 0.5 * second) / 0.75, 1e-12);
    close(b, (second - 0.5 * first) / 0.75, 1e-12);
}

/// Static friction of neither holds; kinetic friction of the second lets it go so fast that the first is
/// pulled back into its cone.
#[test]
fn one_that_breaks_loose_lets_another_stick() {
    let [a, b] = of_coupled([1.1, 2.5], [0.5, 1.5]);
    close(a, 0.0, 1e-15);
    close(b, 2.5 - 0.5, 1e-12);
}

/// A block of 1 kg upon another on the ground, so high, pushed back.
struct Stacked {
    high: f64,
    push: f64,
    laws: [Friction; 2],
}

impl MechanicalSystem for Stacked {
    fn dof(&self) -> usize {
        4
    }
    fn mass(&self, _q: &[f64], mass: &mut [f64]) {
        mass.fill(0.0);
        (0..4).for_each(|i| mass[5 * i] = 1.0);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
        effort.copy_from_slice(&[0.0, self.push, -GRAVITY, -GRAVITY]);
    }
}

impl UnilateralConstraints for Stacked {
    fn contacts(&self) -> usize {
        2
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        if j == 0 {
            q[2]
        } else {
            q[3] - q[2] - self.high
        }
    }
    fn friction(&self, j: usize) -> f64 {
        self.laws[j].slip
    }
    fn friction_at(&self, j: usize, _q: &[f64], _speed: f64) -> Option<Friction> {
        Some(self.laws[j])
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.fill(0.0);
        rows[j] = 1.0;
        if j == 1 {
            rows[0] = -1.0;
        }
    }
}

/// Static friction of the upper block would carry the lower one along as its slip turns round, `0.7 > 2 · 0.3`;
/// the kinetic one does not, `0.4 < 0.5 < 0.6`: static friction of the lower one holds it.
#[test]
fn a_slip_that_turns_round_leaves_the_block_below_at_rest() {
    for push in [-10.5, -12.0, -30.0] {
        let law = |stick, slip| Friction { stick, slip };
        let laws = [law(0.3, 0.2), law(0.7, 0.5)];
        let start = (&[0.0; 4][..], &[0.0, 1.0, 0.0, 0.0][..]);
        let stacked = Stacked {
            high: 0.0,
            push,
            laws,
        };
        let run = run(stacked, start, 0.5);
        let turns = 1.0 / (0.5 * GRAVITY - push);
        let back = push + 0.5 * GRAVITY;
        let [event] = run.events() else {
            panic!("{push}: {:?}", run.events());
        };
        close(event.t, turns, 1e-9);
        close(run.state()[0], 0.0, 1e-12);
        close(run.state()[4], 0.0, 1e-12);
        close(run.state()[5], back * (0.5 - turns), 1e-8);
    }
}

/// No force holds the blocks together while they fall, to the rounding of rows that are differences.
#[test]
fn a_stack_falls_as_one() {
    for k in 0..100 {
        let height = 0.01 + 0.001 * f64::from(k) + 1e-4 / 3.0;
        let stacked = Stacked {
            high: 0.1,
            push: 0.0,
            laws: [Friction::constant(0.3); 2],
        };
        let start = [0.0, 0.0, height, height + 0.1];
        let run = run(stacked, (&start, &[0.0; 4]), 0.5);
        let [event] = run.events() else {
            panic!("{height}: {:?}", run.events());
        };
        close(event.t, (2.0 * height / GRAVITY).sqrt(), 1e-9);
        assert!(
            run.statistics().steps < 100,
            "{height}: {:?}",
            run.statistics()
        );
        close(run.state()[3], 0.1, 1e-9);
    }
}

/// A block that falls onto ground with ice and stone: an impact has the friction of its place, and of
/// the slip with which it begins.
#[test]
fn an_impact_has_the_friction_of_its_place_and_speed() {
    let law: Law = |x, speed| Friction::constant((0.5 + 0.25 * x.tanh()) / (1.0 + speed));
    for (x, v) in [(-2.0, 3.0), (0.5, 3.0), (2.0, 1.5), (2.0, 0.1)] {
        let block = OnBelt {
            friction: 100.0,
            ..OnBelt::new(law)
        };
        let fall: f64 = 0.25;
        let q = [x - v * fall, 0.5 * GRAVITY * fall * fall, 0.0];
        let run = run(block, (&q, &[v, 0.0, 0.0]), 0.3);
        let event = &run.events()[0];
        close(event.t, fall, 1e-9);
        // p_t = −μ p_n, or what stops it
        let after = (v - law(x, v).slip * GRAVITY * fall).max(0.0);
        close(event.state_after[3], after, 1e-8);
    }
}

/// A scene with laws in place of its coefficients.
struct WithLaws {
    scene: Scene,
    /// Static over kinetic friction.
    over: f64,
}

impl MechanicalSystem for WithLaws {
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
    }
    fn time_scale(&self) -> Option<f64> {
        self.scene.time_scale()
    }
}

impl UnilateralConstraints for WithLaws {
    fn contacts(&self) -> usize {
        self.scene.contacts()
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.scene.gap(j, q)
    }
    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        self.scene.gap_row(j, q, row)
    }
    /// Which the law replaces everywhere.
    fn friction(&self, j: usize) -> f64 {
        2.0 * self.scene.friction(j)
    }
    fn friction_at(&self, j: usize, _q: &[f64], _speed: f64) -> Option<Friction> {
        let slip = self.scene.friction(j);
        let stick = slip * self.over;
        Some(Friction { stick, slip })
    }
    fn tangents(&self, _j: usize) -> usize {
        1
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        self.scene.tangent_rows(j, q, rows);
    }
}

/// A law with one coefficient is Coulomb's; one with more static friction loses energy and comes to its
/// end in all but a few of random scenes.
#[test]
fn random_scenes_with_laws_of_friction() {
    let tried = |system: &dyn Fn() -> WithLaws, trial: &Trial| {
        let driver = EventDriven::new(ContactModel::new(system())).unwrap();
        let mut driver = driver.rtol(1e-10).atol(1e-12);
        let start = Start::at(0.0).q(&trial.q).v(&trial.v);
        driver.integrate(&start, trial.tf.min(0.5)).unwrap()
    };
    let (mut compared, mut ended) = (0, Vec::new());
    let scenes = if cfg!(debug_assertions) { 36 } else { 72 };
    for seed in 0..scenes {
        let trial = Trial::of(seed);
        let with = |over| WithLaws {
            scene: trial.scene.clone(),
            over,
        };
        let driver = EventDriven::new(ContactModel::new(&trial.scene)).unwrap();
        let mut driver = driver.rtol(1e-10).atol(1e-12);
        let start = Start::at(0.0).q(&trial.q).v(&trial.v);
        let plain = driver.integrate(&start, trial.tf.min(0.5)).unwrap();
        let law = tried(&|| with(1.0), &trial);
        assert_eq!(plain.events().len(), law.events().len(), "{seed}");
        for (a, b) in plain.events().iter().zip(law.events()) {
            assert!((a.t - b.t).abs() < 1e-7, "{seed}: {} {}", a.t, b.t);
        }
        assert!((plain.state() - law.state()).amax() < 1e-6, "{seed}");
        compared += 1;
        let rough = tried(&|| with(1.3), &trial);
        match rough.status().stop() {
            Some(stop) if plain.status().stop().is_none() => {
                println!("{seed} {} {stop:?}", trial.name);
                ended.push(seed);
            }
            _ => {}
        }
        let model = ContactModel::new(with(1.3));
        let balance = model.energy_balance(&rough).unwrap();
        // Friction takes energy, and so do impacts that are plastic.
        let size = 1.0 + balance.kinetic[0] + balance.efforts.abs();
        assert!(balance.contacts < 1e-8 * size, "{seed}: {balance:?}");
        assert!(balance.impacts < 1e-9 * size, "{seed}: {balance:?}");
    }
    assert!(compared == scenes && ended.len() <= 1, "{ended:?}");
}

#[test]
fn laws_that_no_driver_can_honour_are_refused_by_name() {
    let start = Start::at(0.0).q(&[0.0; 3]).v(&[0.0; 3]);
    let refused = |block: OnBelt| {
        let driver = EventDriven::new(ContactModel::new(block));
        driver
            .and_then(|mut driver| driver.integrate(&start, 0.1))
            .err()
    };
    let laws: [Law; 4] = [
        |_, _| Friction {
            stick: 0.3,
            slip: 0.4,
        },
        |_, _| Friction::constant(-0.1),
        |_, _| Friction::constant(f64::NAN),
        |_, _| Friction {
            stick: f64::INFINITY,
            slip: 0.1,
        },
    ];
    for law in laws {
        let found = refused(OnBelt::new(law));
        assert!(
            matches!(
                found,
                Some(InputError::BadSetting { .. } | InputError::NotFinite { .. })
            ),
            "{found:?}"
        );
    }
    let law: Law = |_, _| Friction::constant(0.3);
    assert_eq!(refused(OnBelt::new(law)), None);
    let none = OnBelt {
        friction: 0.0,
        ..OnBelt::new(law)
    };
    assert!(refused(none).is_some());
    let feet = || Feet {
        half: [0.5, 0.5],
        ramp: 0.0,
        law: Friction::constant(0.3),
    };
    let found = Variational::new(ContactModel::new(feet()))
        .and_then(|mut driver| driver.integrate(&start, 0.1))
        .err();
    let expected = |driver| Some(InputError::FrictionLaw { driver, contact: 0 });
    assert_eq!(found, expected("Variational"));
    let found = Compliant::new(feet())
        .and_then(|mut driver| driver.integrate(&start, 0.1))
        .err();
    assert_eq!(found, expected("Compliant"));
}

/// Ice: a law may give no friction. Nothing sticks there.
#[test]
fn on_ice_nothing_sticks() {
    let law: Law = |x, _| Friction::constant(0.0 * x);
    let block = OnBelt {
        ramp: 2.0,
        ..OnBelt::new(law)
    };
    let run_in_plane = run(block, (&[0.0; 3], &[0.1, 0.0, 0.0]), 1.0);
    close(run_in_plane.state()[3], 1.1, 1e-8);
    let puck = Puck {
        law: Friction::constant(0.0),
        pull: [1.2, -1.6],
        friction: 0.3,
    };
    for v in [[0.1, 0.0, 0.0], [0.3, 0.4, 0.0]] {
        let run_in_space = run(puck, (&[0.0; 3], &v), 1.0);
        close(run_in_space.state()[3], v[0] + 0.6, 1e-8);
        close(run_in_space.state()[4], v[1] - 0.8, 1e-8);
    }
}

/// A law that turns out to be none ends the run where it does so.
#[test]
fn a_law_that_is_none_somewhere_ends_the_run_there() {
    let laws: [Law; 2] = [
        |x, _| Friction::constant(if x < 1.0 { 0.1 } else { f64::NAN }),
        |x, _| Friction::constant(if x < 1.0 { 0.1 } else { -0.1 }),
    ];
    for law in laws {
        let driver = EventDriven::new(ContactModel::new(OnBelt::new(law)));
        let mut driver = driver.unwrap().rtol(1e-8);
        let start = Start::at(0.0).q(&[0.0; 3]).v(&[3.0, 0.0, 0.0]);
        let run = driver.integrate(&start, 2.0).unwrap();
        assert!(run.status().stop().is_some());
        assert!((run.state()[0] - 1.0).abs() < 1e-3, "{}", run.state());
    }
}
