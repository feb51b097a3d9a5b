//! Sticking and slipping contacts in space against the reference of friction and sliding: pucks,
//! spheres, legged discs and tables.

use crate::arclength::rests;
use crate::legged::{GRAVITY, Legged};
use crate::random_bits::SplitMix64;
use crate::stick_slip::value;
use saltation::event_driven::Zeno;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};
use saltation::models::Particle;
use saltation::{ContactModel, EventDriven, Run, Start, Status};

fn run<S: MechanicalSystem + UnilateralConstraints>(
    system: S,
    rtol: f64,
    (q, v): (&[f64], &[f64]),
    tf: f64,
) -> Run {
    let mut driver = EventDriven::new(ContactModel::new(system))
        .unwrap()
        .rtol(rtol)
        .atol(1e-3 * rtol);
    driver.integrate(&Start::at(0.0).q(q).v(v), tf).unwrap()
}

fn close(found: f64, expected: f64, tolerance: f64, of: &str) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{of}: {found} {expected} {:e}",
        found - expected
    );
}

/// A puck thrown across an incline turns downhill as it slows down, and stops.
#[test]
fn a_puck_turns_downhill_and_stops() {
    let puck = Particle {
        slope: 20_f64.to_radians(),
        friction: 0.5,
        ..Particle::default()
    };
    let of = |quantity: &str, i: &str| value("puck_on_incline", quantity, i, "");
    for rtol in [1e-6, 1e-9, 1e-11] {
        let run = run(puck, rtol, (&[0.0; 3], &[0.0, 3.0, 0.0]), 2.0);
        let state = run.state_at(0.5).unwrap();
        let tolerance = (100.0 * rtol).max(1e-9);
        close(state[3].hypot(state[4]), of("v", "0.5"), tolerance, "v");
        close(state[4].atan2(state[3]), of("psi", "0.5"), tolerance, "psi");
        let [stop] = run.events() else {
            panic!("{:?}", run.events())
        };
        assert_eq!(stop.stuck, [0]);
        close(stop.t, of("t_stop", ""), tolerance, "stop");
        let end = run.state();
        close(end[0], of("x_down_stop", ""), tolerance, "down");
        close(end[1], of("y_cross_stop", ""), tolerance, "across");
        assert!((3..6).all(|k| end[k] == 0.0), "{end}");
    }
}
/// A sphere over a plane: `q` holds its centre and the integral of its spin.
#[derive(Clone, Copy)]
pub(crate) struct Sphere {
    pub(crate) radius: f64,
    pub(crate) friction: f64,
}

impl MechanicalSystem for Sphere {
    fn dof(&self) -> usize {
        6
    }
    fn mass(&self, _q: &[f64], m: &mut [f64]) {
        let spin = 0.4 * self.radius * self.radius;
        (0..6).for_each(|k| m[7 * k] = if k < 3 { 1.0 } else { spin });
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], f: &mut [f64]) {
        f.fill(0.0);
        f[2] = -GRAVITY;
    }
}

impl UnilateralConstraints for Sphere {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[2] - self.radius
    }
    fn gap_row(&self, _j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.fill(0.0);
        row[2] = 1.0;
        true
    }
    fn constant_row(&self, _j: usize) -> bool {
        true
    }
    fn friction(&self, _j: usize) -> f64 {
        self.friction
    }
    fn tangents(&self, _j: usize) -> usize {
        2
    }
    fn constant_tangents(&self, _j: usize) -> bool {
        true
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.fill(0.0);
        (rows[0], rows[4]) = (1.0, -self.radius);
        (rows[7], rows[9]) = (1.0, self.radius);
    }
}

/// A thrown sphere slips in a constant direction until it rolls.
#[test]
fn a_sphere_slips_until_it_rolls() {
    let sphere = Sphere {
        radius: 0.1,
        friction: 0.2,
    };
    let of = |quantity: &str| value("sphere_on_plane", quantity, "", "");
    let q = [0.0, 0.0, 0.1, 0.0, 0.0, 0.0];
    let v = [2.0, 0.0, 0.0, 30.0, -10.0, 5.0];
    let run = run(sphere, 1e-10, (&q, &v), 1.0);
    let [rolls] = run.events() else {
        panic!("{} {:?}", run.status(), run.events())
    };
    assert_eq!(rolls.stuck, [0]);
    close(rolls.t, of("t_roll"), 1e-9, "rolls");
    let x = &rolls.state_after;
    for (k, quantity) in [
        (0, "x_roll"),
        (1, "y_roll"),
        (6, "vx_roll"),
        (7, "vy_roll"),
        (9, "wx_roll"),
        (10, "wy_roll"),
    ] {
        close(x[k], of(quantity), 1e-8, quantity);
    }
    close(x[11], 5.0, 1e-12, "spin");
    let end = run.state();
    close(end[0], x[0] + (1.0 - rolls.t) * x[6], 1e-9, "rolls on");
}

/// A disc on three legs, whose centre of mass is at the height of the ground.
pub(crate) fn disc() -> Legged {
    let leg = |j: u32| {
        let (sin, cos) = (f64::from(j) * std::f64::consts::TAU / 3.0).sin_cos();
        [cos, sin]
    };
    Legged {
        mass: [1.0, 1.0, 1.0, 0.5, 0.25, 0.25],
        legs: (0..3).map(leg).collect(),
        friction: vec![0.3; 3],
        restitution: 0.0,
        height: 0.0,
        pull: [[0.0; 3]; 3],
        frequency: 0.0,
    }
}

/// The legs slip until one of them sticks, about which the disc pivots until it stops.
#[test]
fn a_disc_on_three_legs_pivots_about_the_one_that_sticks_first() {
    let of = |quantity: &str, i: &str| value("three_legged_disc", quantity, i, "");
    let v = [2.0, 0.0, 0.0, 3.0, 0.0, 0.0];
    let run = run(disc(), 1e-10, (&[0.0; 6], &v), 1.0);
    let early = run.state_at(0.3).unwrap();
    for (k, quantity) in [
        (0, "x"),
        (1, "y"),
        (3, "phi"),
        (6, "vx"),
        (7, "vy"),
        (9, "omega"),
    ] {
        close(early[k], of(quantity, "0.3"), 1e-8, quantity);
    }
    let [sticks, stops] = run.events() else {
        panic!("{} {:?}", run.status(), run.events())
    };
    assert_eq!(
        (&sticks.stuck[..], &stops.stuck[..]),
        (&[0][..], &[1, 2][..])
    );
    close(sticks.t, of("t_leg0_sticks", ""), 1e-8, "sticks");
    let x = &sticks.state_after;
    for (k, quantity) in [
        (0, "x_at_stick"),
        (1, "y_at_stick"),
        (3, "phi_at_stick"),
        (9, "omega_at_stick"),
    ] {
        close(x[k], of(quantity, ""), 1e-8, quantity);
    }
    close(stops.t, of("t_stop", ""), 1e-8, "stops");
    let x = run.state();
    for (k, quantity) in [(0, "x_stop"), (1, "y_stop"), (3, "phi_stop")] {
        close(x[k], of(quantity, ""), 1e-8, quantity);
    }
}

/// With little spin all legs stop together.
#[test]
fn a_disc_on_three_legs_stops_with_all_of_them() {
    let of = |quantity: &str| value("three_legged_disc_small_spin", quantity, "", "");
    let v = [1.0, 0.0, 0.0, 0.2, 0.0, 0.0];
    let run = run(disc(), 1e-10, (&[0.0; 6], &v), 0.5);
    let [stops] = run.events() else {
        panic!("{} {:?}", run.status(), run.events())
    };
    assert_eq!(stops.stuck, [0, 1, 2]);
    close(stops.t, of("t_stop"), 1e-8, "stops");
    let x = run.state();
    for (k, quantity) in [(0, "x_stop"), (1, "y_stop"), (3, "phi_stop")] {
        close(x[k], of(quantity), 1e-8, quantity);
    }
}

/// A block on the floor, pulled by a force that grows and turns.
#[derive(Clone, Copy)]
struct PulledBlock;

impl PulledBlock {
    const FRICTION: f64 = 0.3;
    /// Size and direction of the pull.
    fn pull(t: f64) -> [f64; 2] {
        [Self::FRICTION * GRAVITY * (0.8 + 0.4 * t), 2.0 * t]
    }
}

impl MechanicalSystem for PulledBlock {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], m: &mut [f64]) {
        (0..3).for_each(|k| m[4 * k] = 1.0);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, t: f64, _q: &[f64], _v: &[f64], f: &mut [f64]) {
        let [size, angle] = Self::pull(t);
        f.copy_from_slice(&[size * angle.cos(), size * angle.sin(), -GRAVITY]);
    }
}

impl UnilateralConstraints for PulledBlock {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[2]
    }
    fn friction(&self, _j: usize) -> f64 {
        Self::FRICTION
    }
    fn tangents(&self, _j: usize) -> usize {
        2
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.fill(0.0);
        (rows[0], rows[4]) = (1.0, 1.0);
    }
}

/// The velocity of the pulled block by its speed and direction, `ṡ = A cos(φ − θ) − μ g`,
/// `s θ̇ = A sin(φ − θ)`: the implicit midpoint rule from the first terms of the onset on.
fn pulled_velocity(t: f64, steps: u32) -> [f64; 2] {
    let begin = 0.5;
    let mut now = begin + 1e-5;
    let rub = PulledBlock::FRICTION * GRAVITY;
    let (mut s, mut theta) = (0.2 * rub * 1e-10, PulledBlock::pull(now)[1]);
    let ratio = ((t - begin) / (now - begin)).powf(1.0 / f64::from(steps));
    for _ in 0..steps {
        let h = (now - begin) * (ratio - 1.0);
        let [size, angle] = PulledBlock::pull(now + 0.5 * h);
        // Newton's method for the angle at the middle.
        let mut middle = theta;
        for _ in 0..50 {
            let speed = s + 0.5 * h * (size * (angle - middle).cos() - rub);
            let f = speed * (middle - theta) - 0.5 * h * size * (angle - middle).sin();
            let df = speed
                + 0.5 * h * size * (angle - middle).cos()
                + 0.5 * h * size * (angle - middle).sin() * (middle - theta);
            middle -= f / df;
        }
        s += h * (size * (angle - middle).cos() - rub);
        theta = 2.0 * middle - theta;
        now += h;
    }
    [s * theta.cos(), s * theta.sin()]
}

/// A slip begins in the direction in which the pull leaves the cone, and turns with it.
#[test]
fn a_pulled_block_begins_to_slip_and_turns() {
    let end = pulled_velocity(1.5, 100_000);
    for rtol in [1e-7, 1e-8, 1e-10] {
        let run = run(PulledBlock, rtol, (&[0.0; 3], &[0.0; 3]), 1.5);
        let [slips] = run.events() else {
            panic!("{} {:?}", run.status(), run.events())
        };
        assert_eq!(slips.slipped, [0]);
        close(slips.t, 0.5, 1e-9, "slips");
        // Steps follow the direction of a slow slip: thousands of them, whatever the tolerance.
        let steps = run.statistics().steps;
        assert!((500..3000).contains(&steps), "{steps}");
        for (k, end) in end.iter().enumerate() {
            close(run.state()[3 + k], *end, (3.0 * rtol).max(2e-9), "velocity");
        }
        let shortly = pulled_velocity(0.501, 100_000);
        for (k, shortly) in shortly.iter().enumerate() {
            // It begins in the direction of the pull: behind its own by a third of the turn since then.
            let lag = shortly.abs() * 2.0 * 1e-3;
            close(
                run.state_at(0.501).unwrap()[3 + k],
                *shortly,
                lag,
                "shortly after",
            );
        }
    }
}

/// Twelve forces hold six freedoms: the legs stick as long as some of them in the cones do so, and
/// slip all at once.
#[test]
fn a_table_on_four_legs_stands_until_no_forces_in_the_cones_hold_it() {
    let (mass, friction, pull, angle) = (2.0, 0.4, 2.0, 0.5_f64);
    let table = Legged {
        mass: [mass, mass, mass, 0.3, 0.2, 0.25],
        legs: vec![[0.5, 0.3], [-0.5, 0.3], [0.5, -0.3], [-0.5, -0.3]],
        friction: vec![friction; 4],
        restitution: 0.0,
        height: 0.6,
        pull: [
            [0.0; 3],
            [0.0; 3],
            [pull * angle.cos(), pull * angle.sin(), 0.0],
        ],
        frequency: 0.0,
    };
    let run = run(table, 1e-9, (&[0.0; 6], &[0.0; 6]), 5.0);
    let [slips] = run.events() else {
        panic!("{} {:?}", run.status(), run.events())
    };
    assert_eq!(slips.slipped, [0, 1, 2, 3]);
    let begins = friction * mass * GRAVITY / pull;
    // It is seen where loads are outside of the cones by 2e-8 of them: late by five times that here.
    let late = slips.t / begins - 1.0;
    assert!(late > 0.0 && late < 1.1e-7, "{late:e}");
    // m ẍ = F − μ m g
    let since = 5.0 - begins;
    let way = pull / mass * since.powi(3) / 6.0;
    let x = run.state();
    close(x[0], way * angle.cos(), 1e-7, "x");
    close(x[1], way * angle.sin(), 1e-7, "y");
    for k in [2, 3, 4, 5] {
        close(x[k], 0.0, 1e-9, "upright");
    }
}

/// A particle that rebounds from the floor while it skids.
struct Skidding;

impl MechanicalSystem for Skidding {
    fn dof(&self) -> usize {
        3
    }
    fn mass(&self, _q: &[f64], m: &mut [f64]) {
        (0..3).for_each(|k| m[4 * k] = 1.0);
    }
    fn constant_mass(&self) -> bool {
        true
    }
    fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], f: &mut [f64]) {
        f.copy_from_slice(&[0.0, 0.0, -GRAVITY]);
    }
}

impl UnilateralConstraints for Skidding {
    fn contacts(&self) -> usize {
        1
    }
    fn gap(&self, _j: usize, q: &[f64]) -> f64 {
        q[2]
    }
    fn gap_row(&self, _j: usize, _q: &[f64], row: &mut [f64]) -> bool {
        row.copy_from_slice(&[0.0, 0.0, 1.0]);
        true
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        0.5
    }
    fn friction(&self, _j: usize) -> f64 {
        0.3
    }
    fn tangents(&self, _j: usize) -> usize {
        2
    }
    fn tangent_rows(&self, _j: usize, _q: &[f64], rows: &mut [f64]) {
        rows.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0]);
    }
}

/// As in the plane, in a direction between the tangents: however many impacts are summed up, friction
/// takes its part of all normal impulses.
#[test]
fn a_particle_skids_through_an_accumulation_in_its_direction() {
    let of = |quantity: &str| value("skidding_ball_zeno", quantity, "", "");
    for tolerance in [0.0, 1e-12, 1e-3] {
        let driver = EventDriven::new(ContactModel::new(Skidding)).unwrap();
        let driver = driver.rtol(1e-10).atol(1e-12).zeno(Zeno::Absorb);
        let mut driver = driver.zeno_tolerance(tolerance);
        let start = Start::at(0.0).q(&[0.0, 0.0, 1.0]).v(&[3.0, 4.0, 0.0]);
        let run = driver.integrate(&start, 2.0).unwrap().completed().unwrap();
        let rest = rests(&run).next().unwrap();
        close(rest.t, of("t_star"), 1e-9, "accumulation");
        let [u, v] = [3, 4].map(|k| rest.state_after[k]);
        close(u.hypot(v), of("u_at_t_star"), 1e-8, "slip");
        close(4.0 * u, 3.0 * v, 1e-9, "direction");
        let over = driver.model().arclength(&run).unwrap();
        let s = over.s_at(rest.t).unwrap();
        close(s, (1.0 + GRAVITY) * rest.t, 1e-8, "arclength");
        let impulses = over.impulses_until(s).unwrap();
        let lost = impulses[1].hypot(impulses[2]);
        close(lost, 0.3 * impulses[0], 1e-8, "friction");
        close(run.events().last().unwrap().t, of("t_stop"), 1e-8, "stop");
    }
}

/// A rod on a hinge, whose end falls onto a rough floor: along the axis of the hinge nothing moves.
struct Hinged {
    /// Turn of the tangents (rad).
    turn: f64,
    restitution: f64,
    rods: usize,
}

impl MechanicalSystem for Hinged {
    fn dof(&self) -> usize {
        self.rods
    }
    fn mass(&self, _q: &[f64], m: &mut [f64]) {
        m.fill(0.0);
        m.iter_mut()
            .step_by(self.rods + 1)
            .for_each(|m| *m = 1.0 / 3.0);
    }
    fn effort(&self, _t: f64, q: &[f64], _v: &[f64], f: &mut [f64]) {
        for (f, q) in f.iter_mut().zip(q) {
            *f = -0.5 * 9.81 * q.sin();
        }
    }
}

impl UnilateralConstraints for Hinged {
    fn contacts(&self) -> usize {
        self.rods
    }
    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        0.75 - q[j].cos()
    }
    fn friction(&self, _j: usize) -> f64 {
        0.3
    }
    fn restitution(&self, _j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.restitution
    }
    fn tangents(&self, _j: usize) -> usize {
        2
    }
    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        rows.fill(0.0);
        let (sin, cos) = self.turn.sin_cos();
        (rows[j], rows[self.rods + j]) = (q[j].cos() * cos, q[j].cos() * sin);
    }
}

/// Tangents may be turned at will; those along which nothing moves, but for rounding, were refused.
#[test]
fn mechanisms_in_a_plane_may_have_two_tangents() {
    let quarter = std::f64::consts::FRAC_PI_2;
    for rods in [1, 2] {
        for restitution in [0.0, 0.2] {
            for turn in [0.0, 1e-17, 1e-3, 0.5, quarter, 2.0 * quarter] {
                let model = ContactModel::new(Hinged {
                    turn,
                    restitution,
                    rods,
                });
                let mut driver = EventDriven::new(model).unwrap().zeno(Zeno::Absorb);
                let (q, v) = (vec![1.3; rods], vec![0.0; rods]);
                let run = driver.integrate(&Start::at(0.0).q(&q).v(&v), 2.0).unwrap();
                let run = run.completed().unwrap();
                let off = (run.state()[0] - 0.75_f64.acos()).abs();
                assert!(off < 1e-9, "{rods} {restitution} {turn}: {off:e}");
            }
        }
    }
}

/// The relative tolerance that friction in space asks for is known before the first run keeps anything: it kept its
/// interpolants as those of a looser one, the second run did not.
#[test]
fn the_first_run_of_a_driver_keeps_what_the_second_does() {
    let top = disc();
    let mut driver = EventDriven::new(ContactModel::new(top)).unwrap().rtol(1e-3);
    let start = Start::at(0.0)
        .q(&[0.0; 6])
        .v(&[2.0, 1.0, 0.0, 3.0, 0.0, 0.0]);
    let [first, second] = [(); 2].map(|()| driver.integrate(&start, 1.0).unwrap());
    assert_eq!(format!("{first:?}"), format!("{second:?}"));
}

/// Tables on three legs that are let go from rest under a pull: one leg sticks while the others begin to slip, in
/// directions that are far from the tangents. Where the motion did not find them, the flow was no number.
#[test]
fn tables_begin_to_slip_from_rest() {
    for seed in [180, 559] {
        let mut draw = SplitMix64(seed);
        let mut between = |low, high| draw.between(low, high);
        let (size, mass) = (between(0.1, 0.4), between(0.2, 5.0));
        let legs = (0..3).map(|j| {
            let angle = 2.094 * (f64::from(j) + between(-0.2, 0.2));
            [size * angle.cos(), size * angle.sin()]
        });
        let legs: Vec<[f64; 2]> = legs.collect();
        let friction: Vec<f64> = (0..3)
            .map(|_| 0.05 * 24.0f64.powf(between(0.0, 1.0)))
            .collect();
        let inertia = mass * size * size * between(0.3, 1.0);
        let angle = between(0.0, 6.3);
        let pull = mass * GRAVITY * between(0.0, 0.5);
        let table = Legged {
            mass: [mass, mass, mass, inertia, inertia, inertia],
            legs,
            friction,
            pull: [
                [pull * angle.cos(), pull * angle.sin(), 0.0],
                [0.0; 3],
                [0.0; 3],
            ],
            restitution: 0.0,
            height: size * between(0.2, 1.5),
            frequency: 1.0,
        };
        let mut driver = EventDriven::new(ContactModel::new(table))
            .unwrap()
            .rtol(1e-8);
        let run = driver
            .integrate(&Start::at(0.0).q(&[0.0; 6]).v(&[0.0; 6]), 0.05)
            .unwrap();
        assert_eq!(*run.status(), Status::ReachedEnd, "{seed}");
    }
}
