//! Hinges, sliders and planar joints between free bodies, and what acts on their axes: closed forms.

use std::f64::consts::PI;

use nalgebra::{UnitQuaternion, Vector3};
use saltation::bodies::{Anchor, Body, Joint, JointAxis, Scene, Shape};
use saltation::compliant::{
    Axis, Compliance, JointCoupling, JointFriction, JointLimit, Motor, MotorGoal, Scheme,
};
use saltation::models::LinkChain;
use saltation::{Compliant, Run, Start};

use super::axes::least;
use super::systems::{Bodies, coordinates, cuboid, pose};

const G: f64 = 9.81;
const DT: f64 = 0.01;

/// Angles about this axis turn a rod that hangs towards x.
const ACROSS: [f64; 3] = [0.0, -1.0, 0.0];

pub(super) fn bodies(bodies: &[(f64, [f64; 3])], gravity: f64) -> Bodies {
    Bodies {
        bodies: bodies.to_vec(),
        gravity,
    }
}

/// A thin rod along z.
pub(super) fn rod(mass: f64, length: f64) -> (f64, [f64; 3]) {
    let moment = mass * length * length / 12.0;
    (mass, [moment, moment, 1e-2 * moment])
}

/// A hinge between two points, about an axis of both bodies.
fn hinge(first: Anchor, second: Anchor, axis: [f64; 3]) -> Joint {
    Joint::hinge(first.along(axis), second.along(axis))
}

/// The coordinates of a rod that hangs from a point at an angle from the vertical, and its other end.
fn hanging(from: Vector3<f64>, length: f64, angle: f64) -> ([f64; 7], Vector3<f64>) {
    let turn = UnitQuaternion::from_scaled_axis(Vector3::from(ACROSS) * angle);
    let down = turn * Vector3::new(0.0, 0.0, -length);
    (coordinates(from + 0.5 * down, turn), from + down)
}

fn run(stepper: &mut Compliant<Bodies>, q: &[f64], v: &[f64], time: f64) -> Run {
    let run = stepper.integrate(&Start::at(0.0).q(q).v(v), time);
    run.expect("input").completed().expect("completed")
}

fn position(stepper: &Compliant<Bodies>, axis: &Axis) -> f64 {
    let state = axis.read(stepper.system(), stepper.q(), stepper.v());
    state.expect("an axis").position
}

fn velocity(stepper: &Compliant<Bodies>, axis: &Axis) -> f64 {
    let state = axis.read(stepper.system(), stepper.q(), stepper.v());
    state.expect("an axis").velocity
}

fn goal(position: f64, velocity: f64) -> MotorGoal {
    MotorGoal {
        position,
        velocity,
        ..MotorGoal::default()
    }
}

/// Many swings of a rod on a hinge: the period of the physical pendulum, by which the angle of the
/// hinge passes zero.
#[test]
fn a_rod_on_a_hinge_has_the_period_of_a_pendulum() {
    let (m, l, amplitude) = (2.0, 1.0, 0.02);
    let system = bodies(&[rod(m, l)], G);
    let top = hinge(
        Anchor::on(0, [0.0, 0.0, 0.5 * l]),
        Anchor::world([0.0; 3]),
        ACROSS,
    );
    let angle = top.axis(JointAxis::AboutX);
    let (q, _) = hanging(Vector3::zeros(), l, amplitude);
    let mut stepper = system.clone().stepper(2e-3).term(top);
    let run = run(&mut stepper, &q, &[0.0; 6], 8.0);
    let at = |k: usize| angle.read(&system, run.q(k), run.v(k)).expect("a state");
    assert!((at(0).position - amplitude).abs() < 1e-15);
    let passages: Vec<f64> = (1..run.times().len())
        .filter(|&k| at(k - 1).position < 0.0 && at(k).position >= 0.0)
        .map(|k| run.times()[k] - at(k).position / at(k).velocity)
        .collect();
    let period = (passages[passages.len() - 1] - passages[0]) / (passages.len() - 1) as f64;
    // m l²/3 about the hinge; the finite amplitude adds a²/16.
    let exact = 2.0 * PI * (2.0 * l / (3.0 * G)).sqrt() * (1.0 + amplitude * amplitude / 16.0);
    // Symplectic Euler is off by (ω dt)²/24.
    let error = period / exact - 1.0;
    let scheme = (2.0 * PI / exact * 2e-3f64).powi(2) / 24.0;
    assert!(error.abs() < 2.0 * scheme + 1e-6, "{error:e} {scheme:e}");
    // The hinge stays one: no turn about other axes, no way off the plane.
    let (position, turn) = pose(run.state().as_slice(), 0);
    let off = position.y.abs().max(turn.i.abs()).max(turn.k.abs());
    assert!(off < 1e-9, "{off:e}");
}

/// Two rods on hinges against the same chain in minimal coordinates, through large swings: the
/// difference falls with the step, by the order of the scheme.
#[test]
fn a_double_pendulum_is_that_of_minimal_coordinates() {
    let (l, start) = (0.5, [1.2, -0.4]);
    let chain = LinkChain::new(2).expect("two links");
    let mut exact = Compliant::new(chain)
        .expect("a system")
        .time_step(1e-4)
        .scheme(Scheme::Midpoint);
    let reference = exact.integrate(&Start::at(0.0).q(&start).v(&[0.0; 2]), 1.0);
    let reference = reference.expect("input").completed().expect("completed");
    let (first, middle) = hanging(Vector3::zeros(), l, start[0]);
    let (second, _) = hanging(middle, l, start[1]);
    let q = [first, second];
    let (up, down) = ([0.0, 0.0, 0.5 * l], [0.0, 0.0, -0.5 * l]);
    let top = hinge(Anchor::on(0, up), Anchor::world([0.0; 3]), ACROSS);
    let knee = hinge(Anchor::on(1, up), Anchor::on(0, down), ACROSS);
    let axes = [top, knee].map(|joint| joint.axis(JointAxis::AboutX));
    let error = |scheme: Scheme, dt: f64| {
        let system = bodies(&[rod(0.5, l), rod(0.5, l)], G);
        let stepper = system.stepper(dt).scheme(scheme);
        let mut stepper = stepper.term(top).term(knee);
        run(&mut stepper, q.as_flattened(), &[0.0; 12], 1.0);
        let [a, b] = axes.each_ref().map(|axis| position(&stepper, axis));
        // The second angle is that in the first rod.
        (a - reference.state()[0]).hypot(a + b - reference.state()[1])
    };
    for (scheme, order) in [(Scheme::SymplecticEuler, 1), (Scheme::Midpoint, 2)] {
        let errors = [2e-3, 1e-3, 5e-4].map(|dt| error(scheme, dt));
        assert!(errors[2] < 1e-2, "{errors:?}");
        for pair in errors.windows(2) {
            let found = (pair[0] / pair[1]).log2();
            assert!((found - f64::from(order)).abs() < 0.25, "{errors:?}");
        }
    }
}

/// With midpoint bodies that turn about joints gain no energy (with rows of the start of a step it grew at the rate
/// `ω² dt`, 24 % in these 2 s), also where links in a row turn fast.
#[test]
fn with_midpoint_bodies_on_joints_keep_their_energy() {
    let l = 0.5;
    let (first, middle) = hanging(Vector3::zeros(), l, 0.0);
    let (second, _) = hanging(middle, l, 0.0);
    let q = [first, second];
    let (up, down) = ([0.0, 0.0, 0.5 * l], [0.0, 0.0, -0.5 * l]);
    let world = Anchor::world([0.0; 3]);
    let lines = |joint: fn(Anchor, Anchor) -> Joint| {
        let along = |anchor: Anchor| anchor.along(ACROSS);
        [
            joint(along(Anchor::on(0, up)), along(world)),
            joint(along(Anchor::on(1, up)), along(Anchor::on(0, down))),
        ]
    };
    // The lower rod turns twice as fast.
    let rate = 10.0;
    let mut v = [0.0; 12];
    (v[1], v[3]) = (-rate, 0.5 * l * rate);
    (v[7], v[9]) = (-2.0 * rate, 2.0 * l * rate);
    let energy = |v: &[f64]| {
        let of = |v: &[f64]| {
            let square = v[3] * v[3] + v[4] * v[4] + v[5] * v[5];
            0.5 * (square + l * l / 12.0 * v[1] * v[1])
        };
        of(&v[..6]) + of(&v[6..])
    };
    for joint in [Joint::hinge, Joint::ball] {
        let changes = [2e-3, 1e-3].map(|dt| {
            let system = bodies(&[rod(0.5, l), rod(0.5, l)], 0.0);
            let mut stepper = system.stepper(dt).scheme(Scheme::Midpoint);
            for term in lines(joint) {
                stepper = stepper.term(term);
            }
            run(&mut stepper, q.as_flattened(), &v, 1.0);
            energy(stepper.v()) / energy(&v) - 1.0
        });
        // Of second order in the angle of a step, and no growth.
        assert!(
            changes[1].abs() < (2.0 * rate * 1e-3).powi(2),
            "{changes:?}"
        );
        assert!(changes[1] < 1e-6, "{changes:?}");
        let ratio = changes[0] / changes[1];
        assert!((3.0..6.0).contains(&ratio), "{changes:?}");
    }
}

/// An undamped spring on an axis loses energy as with a step more of dissipation time, at the rate `ω² dt`.
#[test]
fn springs_of_motors_lose_energy_by_the_step() {
    let (m, k, dt, time) = (2.0, 800.0, 1e-3, 0.5);
    let along = [1.0, 0.0, 0.0];
    let slider = Joint::slider(
        Anchor::on(0, [0.0; 3]).along(along),
        Anchor::world([0.0; 3]).along(along),
    );
    let axis = slider.axis(JointAxis::AlongX);
    for scheme in [Scheme::SymplecticEuler, Scheme::Midpoint] {
        let spring = Motor::new(axis.clone()).gains(k, 0.0);
        let system = bodies(&[cuboid(m, [0.1; 3])], 0.0);
        let stepper = system.stepper(dt).scheme(scheme);
        let mut stepper = stepper.term(slider).term(spring);
        let q = coordinates(Vector3::new(0.1, 0.0, 0.0), UnitQuaternion::identity());
        run(&mut stepper, &q, &[0.0; 6], time);
        let (x, v) = (stepper.q()[0], stepper.v()[3]);
        let energy = (m * v * v + k * x * x) / (k * 0.01);
        let expected = -k / m * dt * time;
        let found = energy.ln();
        assert!(
            (found / expected - 1.0).abs() < 0.1,
            "{scheme:?} {found} {expected}"
        );
    }
}

/// A body on an inclined slider with dry friction sticks below the threshold and slides with what is
/// left above it.
#[test]
fn a_slider_on_an_incline_sticks_and_slides() {
    let (m, slope) = (2.0, 0.5_f64);
    let down = [slope.cos(), 0.0, -slope.sin()];
    let drive = m * G * slope.sin();
    let start = |friction: f64| {
        let world = Anchor::world([0.0; 3]).along(down);
        let slider = Joint::slider(Anchor::on(0, [0.0; 3]).along(down), world);
        let axis = slider.axis(JointAxis::AlongX);
        let system = bodies(&[cuboid(m, [0.1, 0.2, 0.3])], G);
        let rub = JointFriction::new(axis.clone(), friction);
        let mut stepper = system.stepper(DT).term(slider).term(rub);
        let q = coordinates(Vector3::zeros(), UnitQuaternion::identity());
        run(&mut stepper, &q, &[0.0; 6], 1.0);
        (
            position(&stepper, &axis),
            velocity(&stepper, &axis),
            stepper,
        )
    };
    let (_, creep, stepper) = start(1.01 * drive);
    let expected = 1e-3 / m * DT * drive;
    assert!((creep / expected - 1.0).abs() < 1e-9, "{creep:e}");
    // The joint carries the rest of the weight, across the slope.
    let held = stepper.term_impulses(0).expect("a slider");
    let across: f64 = held[..2]
        .iter()
        .map(|p| (p / DT).powi(2))
        .sum::<f64>()
        .sqrt();
    assert!((across / (m * G * slope.cos()) - 1.0).abs() < 1e-9);
    let (way, speed, _) = start(0.8 * drive);
    assert!(
        (speed / (0.2 * G * slope.sin()) - 1.0).abs() < 1e-9,
        "{speed}"
    );
    // Steps with the velocity at their end: t (t + dt)/2.
    assert!(
        (way / (0.1 * G * slope.sin() * 1.01) - 1.0).abs() < 1e-9,
        "{way}"
    );
}

/// A level arm on a hinge with a motor: it holds the weight while its limit is more than the torque
/// `m g l/2`, and lets go above.
#[test]
fn a_motor_holds_a_weight_up_to_its_limit() {
    let (m, l) = (3.0, 0.8);
    let arm = cuboid(m, [l, 0.05, 0.05]);
    let across = [0.0, -1.0, 0.0]; // lifts the arm
    let pivot = hinge(
        Anchor::on(0, [-0.5 * l, 0.0, 0.0]),
        Anchor::world([0.0; 3]),
        across,
    );
    let axis = pivot.axis(JointAxis::AboutX);
    let torque = 0.5 * m * G * l;
    let q = coordinates(Vector3::x() * 0.5 * l, UnitQuaternion::identity());
    let end = |limit: f64| {
        let motor = Motor::new(axis.clone())
            .gains(2e4, 500.0)
            .effort_limit(limit);
        let mut stepper = bodies(&[arm], G).stepper(DT).term(pivot).term(motor);
        run(&mut stepper, &q, &[0.0; 6], 1.0);
        (position(&stepper, &axis), stepper)
    };
    let (angle, stepper) = end(1.01 * torque);
    assert!(
        (angle + torque / 2e4).abs() < 1e-3 * torque / 2e4,
        "{angle:e}"
    );
    let effort = stepper.term_impulses(1).expect("a motor")[0] / DT;
    assert!((effort / torque - 1.0).abs() < 1e-5, "{effort}");
    // The load in the hinge: the weight, and no torque; its axes are turned to the hinge's.
    let load = stepper.term_impulses(0).expect("a hinge");
    let load = pivot.efforts(load, DT).expect("five rows");
    let force = Vector3::new(load[0], load[1], load[2]).norm();
    assert!((force / (m * G) - 1.0).abs() < 1e-5, "{load:?}");
    assert!(load[3..].iter().all(|x| x.abs() < 1e-6), "{load:?}");
    let (angle, stepper) = end(0.9 * torque);
    assert!(angle < -0.5, "{angle}");
    let effort = stepper.term_impulses(1).expect("a motor")[0] / DT;
    assert!((effort / torque - 0.9).abs() < 1e-12);
}

/// A motor with a velocity goal drives a flywheel at that speed less what friction takes, for many
/// turns; the angle stays in (−π, π].
#[test]
fn a_motor_drives_a_flywheel() {
    let wheel = (2.0, [0.01, 0.01, 0.02]);
    let axle = hinge(
        Anchor::on(0, [0.0; 3]),
        Anchor::world([0.0; 3]),
        [0.0, 0.0, 1.0],
    );
    let axis = axle.axis(JointAxis::AboutX);
    let motor = Motor::new(axis.clone())
        .gains(0.0, 0.5)
        .goal(goal(0.0, 12.0));
    let mut stepper = bodies(&[wheel], G)
        .stepper(DT)
        .term(axle)
        .term(motor)
        .term(JointFriction::new(axis.clone(), 0.7));
    let q = coordinates(Vector3::zeros(), UnitQuaternion::identity());
    let run = run(&mut stepper, &q, &[0.0; 6], 4.0);
    let speed = velocity(&stepper, &axis);
    assert!((speed - (12.0 - 0.7 / 0.5)).abs() < 1e-6, "{speed}");
    // Read in every step and counted on, the angle is the whole way.
    let (mut way, mut last) = (0.0, 0.0);
    for k in 1..run.times().len() {
        let now = axis
            .read(stepper.system(), run.q(k), run.v(k))
            .expect("a state");
        assert!(now.position.abs() <= PI);
        let change: f64 = now.position - last;
        way += change - 2.0 * PI * (change / (2.0 * PI)).round();
        last = now.position;
    }
    let rates = (1..run.times().len()).map(|k| run.v(k)[2] * DT);
    // A step turns by atan(ω dt/2)·2, which is ω dt to (ω dt)³/12.
    assert!(
        (way / rates.sum::<f64>() - 1.0).abs() < 1.1 * 0.106f64.powi(2) / 12.0,
        "{way}"
    );
    assert!(way > 12.0 * PI);
}

/// A motor follows a goal that turns on and on, a few turns ahead of zero.
#[test]
fn a_motor_follows_a_goal_over_many_turns() {
    let axle = hinge(
        Anchor::on(0, [0.0; 3]),
        Anchor::world([0.0; 3]),
        [1.0, 0.0, 0.0],
    );
    let axis = axle.axis(JointAxis::AboutX);
    let path = |t: f64| goal(9.0 * t, 9.0);
    let motor = Motor::new(axis.clone())
        .gains(100.0, 5.0)
        .follow(move |state| path(state.t + state.dt));
    let mut stepper = bodies(&[cuboid(1.0, [0.2; 3])], G)
        .stepper(DT)
        .term(axle)
        .term(motor);
    let q = coordinates(Vector3::zeros(), UnitQuaternion::identity());
    run(&mut stepper, &q, &[0.0; 6], 5.0);
    let behind = (45.0 - position(&stepper, &axis)) / (2.0 * PI);
    assert!((behind - behind.round()).abs() < 1e-3, "{behind}");
    // A step turns by 2 atan(ω dt/2), which is ω dt to (ω dt)³/12.
    let speed = velocity(&stepper, &axis) / 9.0 - 1.0;
    assert!(speed.abs() < 1.1 * 0.09f64.powi(2) / 12.0, "{speed:e}");
}

/// A crank, a coupler and a rocker on a frame, a loop of four hinges: when a motor turns the crank, coupler and rocker
/// have the angles of the triangle that the linkage makes.
#[test]
fn a_four_bar_linkage_has_the_angles_of_its_triangles() {
    let [crank, coupler, rocker, frame] = [0.2, 0.5, 0.4, 0.45];
    let axis = [0.0, -1.0, 0.0]; // angles from x to z
    let turn = |angle: f64| UnitQuaternion::from_scaled_axis(Vector3::from(axis) * angle);
    let tip = |angle: f64, l: f64| Vector3::new(l * angle.cos(), 0.0, l * angle.sin());
    // From the end of the crank to the end of the frame, and the angle of the coupler above it.
    let coupler_at = |angle: f64| {
        let diagonal = Vector3::x() * frame - tip(angle, crank);
        let d = diagonal.norm();
        let above = (coupler * coupler + d * d - rocker * rocker) / (2.0 * coupler * d);
        diagonal.z.atan2(diagonal.x) + above.acos()
    };
    let rocker_at = |angle: f64| {
        let end = tip(angle, crank) + tip(coupler_at(angle), coupler) - Vector3::x() * frame;
        end.z.atan2(end.x)
    };
    let start = 0.7;
    let angles = [start, coupler_at(start), rocker_at(start)];
    let joints = [Vector3::zeros(), tip(start, crank), Vector3::x() * frame];
    let lengths = [crank, coupler, rocker];
    let mut q = Vec::new();
    for k in 0..3 {
        let centre = joints[k] + tip(angles[k], 0.5 * lengths[k]);
        q.extend(coordinates(centre, turn(angles[k])));
    }
    let end = |body: usize, side: f64| Anchor::on(body, [side * 0.5 * lengths[body], 0.0, 0.0]);
    let joints = [
        hinge(end(0, -1.0), Anchor::world([0.0; 3]), axis),
        hinge(end(1, -1.0), end(0, 1.0), axis),
        hinge(end(2, -1.0), Anchor::world([frame, 0.0, 0.0]), axis),
        hinge(end(1, 1.0), end(2, 1.0), axis),
    ];
    let [at_crank, at_coupler, at_rocker, _] = joints.map(|j| j.axis(JointAxis::AboutX));
    let speed = 4.0;
    let motor = Motor::new(at_crank.clone())
        .gains(1e5, 1e3)
        .follow(move |state| goal(start + speed * (state.t + state.dt), speed));
    let links = lengths.map(|l| cuboid(l, [l, 0.02, 0.02]));
    let dt = 1e-3;
    let mut stepper = bodies(&links, G).stepper(dt);
    for joint in joints {
        stepper = stepper.term(joint);
    }
    stepper = stepper.term(motor);
    stepper
        .start(&Start::at(0.0).q(&q).v(&[0.0; 18]))
        .expect("start");
    for k in 0..2000 {
        stepper.step().expect("a step");
        let a = position(&stepper, &at_crank);
        let errors = [
            position(&stepper, &at_coupler) + a - coupler_at(a),
            position(&stepper, &at_rocker) - rocker_at(a),
        ];
        for error in errors {
            let error = error - 2.0 * PI * (error / (2.0 * PI)).round();
            // Drift dt² ω² l/2 over the shortest link.
            assert!(
                error.abs() < 2.0 * dt * dt * speed * speed * coupler / crank,
                "{k} {error:e}"
            );
        }
    }
    let turned = (start + 8.0 - position(&stepper, &at_crank)) / (2.0 * PI);
    assert!((turned - turned.round()).abs() < 1e-2, "{turned}");
}

/// Two wheels that mesh turn by their numbers of teeth, for many turns, and torques are in the other ratio.
#[test]
fn gears_turn_by_their_teeth() {
    let wheel = cuboid(1.0, [0.3, 0.3, 0.1]);
    let axes: Vec<_> = [0.0, 1.0]
        .into_iter()
        .enumerate()
        .map(|(i, x)| {
            hinge(
                Anchor::on(i, [0.0; 3]),
                Anchor::world([x, 0.0, 0.0]),
                [0.0, 0.0, 1.0],
            )
        })
        .collect();
    let [small, large] = [0, 1].map(|i| axes[i].axis(JointAxis::AboutX));
    let teeth = [12.0, 20.0];
    let mesh = JointCoupling::new(&[(small.clone(), teeth[0]), (large.clone(), teeth[1])], 0.0);
    let (drive, brake) = (0.504, 0.5);
    let forward = MotorGoal {
        effort: drive,
        ..MotorGoal::default()
    };
    let mut stepper = bodies(&[wheel; 2], 0.0)
        .stepper(DT)
        .term(axes[0])
        .term(axes[1])
        .term(mesh)
        .term(Motor::new(small.clone()).goal(forward))
        .term(JointFriction::new(large.clone(), brake));
    let mut q = Vec::new();
    for x in [0.0, 1.0] {
        q.extend(coordinates(Vector3::x() * x, UnitQuaternion::identity()));
    }
    let run = run(&mut stepper, &q, &[0.0; 12], 2.0);
    // Both wheels by the acceleration of the first: I (1 + n²) a = drive − n brake.
    let (n, inertia) = (12.0 / 20.0, wheel.1[2]);
    let rate = (drive - n * brake) / (inertia * (1.0 + n * n));
    let speed = velocity(&stepper, &small);
    // A step turns by 2 atan(ω dt/2), by which the wheels differ.
    let tolerance = (speed * DT).powi(2) / 12.0;
    assert!(
        (speed / (2.0 * rate) - 1.0).abs() < tolerance,
        "{speed} {rate}"
    );
    let tooth = stepper.term_impulses(2).expect("a gear")[0] / DT;
    let expected = (inertia * rate - drive) / teeth[0];
    assert!(
        (tooth / expected - 1.0).abs() < 10.0 * tolerance,
        "{tooth} {expected}"
    );
    let mut turned = [0.0; 2];
    let mut last = [0.0; 2];
    for k in 1..run.times().len() {
        for (i, axis) in [&small, &large].into_iter().enumerate() {
            let now = axis
                .read(stepper.system(), run.q(k), run.v(k))
                .expect("a state");
            let change: f64 = now.position - last[i];
            turned[i] += change - 2.0 * PI * (change / (2.0 * PI)).round();
            last[i] = now.position;
        }
        // What a step turns less, z₁ (ω dt)³/12, is brought back in the next.
        let deviation = teeth[0] * turned[0] + teeth[1] * turned[1];
        assert!(deviation.abs() < 1e-2, "{k}: {deviation:e}");
    }
    assert!(turned[0] > 4.0 * PI && turned[1] < -2.0 * PI, "{turned:?}");
}

/// A pinion drives a rack: the way of the slider is the radius times the angle, beyond a turn.
#[test]
fn a_rack_moves_by_the_angle_of_its_pinion() {
    let radius = 0.1;
    let wheel = hinge(
        Anchor::on(0, [0.0; 3]),
        Anchor::world([0.0; 3]),
        [0.0, 1.0, 0.0],
    );
    let slider = Joint::slider(Anchor::on(1, [0.0; 3]), Anchor::world([0.0, 0.0, 0.5]));
    let (angle, way) = (
        wheel.axis(JointAxis::AboutX),
        slider.axis(JointAxis::AlongX),
    );
    let mesh = JointCoupling::new(&[(angle.clone(), radius), (way.clone(), -1.0)], 0.0);
    let motor = Motor::new(angle.clone())
        .gains(0.0, 50.0)
        .goal(goal(0.0, 4.0));
    let mut stepper = bodies(&[cuboid(1.0, [0.2; 3]); 2], 0.0)
        .stepper(DT)
        .term(wheel)
        .term(slider)
        .term(mesh)
        .term(motor);
    let mut q = coordinates(Vector3::zeros(), UnitQuaternion::identity()).to_vec();
    q.extend(coordinates(Vector3::z() * 0.5, UnitQuaternion::identity()));
    run(&mut stepper, &q, &[0.0; 12], 4.0);
    let (way, angle) = (position(&stepper, &way), position(&stepper, &angle));
    assert!(way > 1.5, "{way}");
    let turns = (way / radius - angle) / (2.0 * PI);
    assert!(
        (turns - turns.round()).abs() < 1e-3 && turns.round() >= 2.0,
        "{turns}"
    );
}

/// A pendulum falls on stops on either side, one of them beyond half a turn, and rests there.
#[test]
fn stops_of_a_hinge_hold_beyond_half_a_turn() {
    let (m, l) = (1.0, 0.6);
    let top = hinge(
        Anchor::on(0, [0.0, 0.0, 0.5 * l]),
        Anchor::world([0.0; 3]),
        ACROSS,
    );
    let axis = top.axis(JointAxis::AboutX);
    // From below left over the top to the right: the way down is closed on both sides.
    let (lower, upper) = (0.5, 2.0 * PI - 1.0);
    for (start, rest, pushing) in [(3.0, lower, 0), (3.4, upper, 1)] {
        let (q, _) = hanging(Vector3::zeros(), l, start);
        let stop = JointLimit::new(axis.clone(), lower, upper);
        let mut stepper = bodies(&[rod(m, l)], G).stepper(DT).term(top).term(stop);
        run(&mut stepper, &q, &[0.0; 6], 5.0);
        let at = position(&stepper, &axis);
        let apart = (at - rest) / (2.0 * PI);
        assert!((apart - apart.round()).abs() < 1e-4, "{start}: {at} {rest}");
        let push = stepper.term_impulses(1).expect("two stops");
        let torque = 0.5 * m * G * l * rest.sin().abs();
        assert!(
            (push[pushing] / DT / torque - 1.0).abs() < 1e-3,
            "{push:?} {torque}"
        );
        assert_eq!(push[1 - pushing].to_bits(), 0);
    }
}

/// A spring on a slider: the deflection `F/k` and the period `2π √(m/k)`.
#[test]
fn a_spring_on_a_slider_has_its_period() {
    let (m, k, dt) = (2.0, 800.0, 1e-3);
    let up = [0.0, 0.0, 1.0];
    let slider = Joint::slider(
        Anchor::on(0, [0.0; 3]).along(up),
        Anchor::world([0.0; 3]).along(up),
    );
    let axis = slider.axis(JointAxis::AlongX);
    let start = |damping: f64| {
        let spring = Motor::new(axis.clone())
            .gains(k, damping)
            .goal(goal(0.1, 0.0));
        bodies(&[cuboid(m, [0.1; 3])], G)
            .stepper(dt)
            .term(slider)
            .term(spring)
    };
    let q = coordinates(Vector3::zeros(), UnitQuaternion::identity());
    let mut stepper = start(20.0);
    run(&mut stepper, &q, &[0.0; 6], 5.0);
    let rest = 0.1 - m * G / k;
    assert!((position(&stepper, &axis) - rest).abs() < 1e-8);
    let mut stepper = start(0.0);
    let run = run(&mut stepper, &q, &[0.0; 6], 2.0);
    let above = |i: usize| run.q(i)[2] - rest;
    let passages: Vec<f64> = (1..run.times().len())
        .filter(|&i| above(i - 1) < 0.0 && above(i) >= 0.0)
        .map(|i| run.times()[i - 1] - dt * above(i - 1) / (above(i) - above(i - 1)))
        .collect();
    let period = (passages[passages.len() - 1] - passages[0]) / (passages.len() - 1) as f64;
    let exact = 2.0 * PI * (m / k).sqrt();
    // Implicit Euler: off by the second order of ω dt.
    let scheme = (k / m) * dt * dt;
    assert!((period / exact - 1.0).abs() < scheme, "{period} {exact}");
}

/// A plate on a planar joint, thrown: it keeps its velocity and its spin in the plane, and the joint
/// carries weight and tilt.
#[test]
fn a_planar_joint_leaves_a_plane() {
    let up = [0.0, 0.0, 1.0];
    let joint = Joint::planar(
        Anchor::on(0, [0.0; 3]).along(up),
        Anchor::world([0.0, 0.0, 0.3]).along(up),
    );
    let m = 2.0;
    let mut stepper = bodies(&[cuboid(m, [0.1, 0.2, 0.3])], G)
        .stepper(DT)
        .term(joint);
    let q = coordinates(Vector3::z() * 0.3, UnitQuaternion::identity());
    let v = [0.0, 0.0, 4.0, 0.7, -0.2, 0.6];
    run(&mut stepper, &q, &v, 3.0);
    for (k, (now, then)) in stepper.v().iter().zip(v).enumerate() {
        let expected = if matches!(k, 2..=4) { then } else { 0.0 };
        assert!((now - expected).abs() < 1e-6, "{k}: {now}");
    }
    let height = stepper.q()[2] - 0.3;
    assert!(
        (height + least(1.0 / m) * DT * DT * m * G).abs() < 1e-9,
        "{height:e}"
    );
    let load = stepper.term_impulses(0).expect("three rows");
    let load = joint.efforts(load, DT).expect("three rows");
    assert!((load[0] / (m * G) - 1.0).abs() < 1e-6, "{load:?}");
    assert!(joint.efforts(&[0.0; 2], DT).is_err());
}

/// Each joint leaves the axes free that it says, in a body that does not move otherwise.
#[test]
fn joints_hold_what_they_say() {
    use JointAxis::{AboutX, AboutY, AboutZ, AlongX, AlongY, AlongZ};
    let (body, world) = (Anchor::on(0, [0.0; 3]), Anchor::world([0.0; 3]));
    let all = [AlongX, AlongY, AlongZ, AboutX, AboutY, AboutZ];
    let cases = [
        (Joint::weld(body, world), vec![]),
        (Joint::hinge(body, world), vec![AboutX]),
        (Joint::slider(body, world), vec![AlongX]),
        (Joint::cylindrical(body, world), vec![AlongX, AboutX]),
        (Joint::planar(body, world), vec![AlongY, AlongZ, AboutX]),
        (Joint::ball(body, world), vec![AboutX, AboutY, AboutZ]),
        (
            Joint::weld(body, world).free(AboutX).free(AboutY),
            vec![AboutX, AboutY],
        ),
        (
            Joint::ball(body, world).hold(AboutY).free(AlongZ),
            vec![AlongZ, AboutX, AboutZ],
        ),
        (
            all.iter()
                .fold(Joint::weld(body, world), |joint, axis| joint.free(*axis)),
            all.to_vec(),
        ),
    ];
    let rates = [0.1, 0.2, -0.3, 0.4, -0.5, 0.6];
    let q = coordinates(Vector3::zeros(), UnitQuaternion::identity());
    // One moment of inertia: what is free keeps its velocity. Velocities of a body are turns, then moves.
    let v = [rates[3], rates[4], rates[5], rates[0], rates[1], rates[2]];
    for (joint, free) in cases {
        let mut stepper = bodies(&[cuboid(1.0, [0.2; 3])], 0.0)
            .stepper(1e-3)
            .term(joint);
        stepper.start(&Start::at(0.0).q(&q).v(&v)).expect("start");
        stepper.step().expect("a step");
        assert_eq!(stepper.solution().row_impulses().len(), 6 - free.len());
        for (axis, rate) in all.into_iter().zip(rates) {
            let refused = joint
                .axis(axis)
                .read(stepper.system(), stepper.q(), stepper.v());
            if free.contains(&axis) {
                let now = refused.expect("a free axis");
                assert!(
                    (now.velocity - rate).abs() < 1e-3,
                    "{joint:?} {axis:?}: {now:?}"
                );
                assert!((now.position - 1e-3 * rate).abs() < 1e-6, "{now:?}");
            } else {
                assert!(refused.is_err());
                // ε/(1 + ε) of the velocity is left, with ε = R/w.
                let k = all.iter().position(|a| *a == axis).expect("one of six");
                let left = stepper.v()[(k + 3) % 6];
                assert!(left.abs() < 3e-4, "{joint:?} {axis:?}: {left}");
            }
        }
    }
}

/// A joint between bodies that lie anywhere, taken as they are placed, is at rest there.
#[test]
fn joints_as_placed_are_at_rest() {
    let turns = [(0.3, -1.0, 2.0), (1.4, 0.2, -0.7)];
    let mut q = Vec::new();
    for (i, (roll, pitch, yaw)) in turns.into_iter().enumerate() {
        let turn = UnitQuaternion::from_euler_angles(roll, pitch, yaw);
        q.extend(coordinates(Vector3::new(i as f64, 0.3, -0.2), turn));
    }
    let first = Anchor::on(0, [0.4, 0.1, -0.2])
        .along([1.0, 2.0, -0.5])
        .turned([0.9, 0.1, 0.3, 0.2]);
    for joint in [
        Joint::weld,
        Joint::hinge,
        Joint::slider,
        Joint::ball,
        Joint::planar,
    ] {
        let joint = joint(first, Anchor::on(1, [9.0; 3]))
            .as_placed(&q)
            .expect("two bodies");
        let mut stepper = bodies(&[cuboid(1.0, [0.1, 0.2, 0.3]); 2], 0.0)
            .stepper(DT)
            .term(joint);
        run(&mut stepper, &q, &[0.0; 12], 0.5);
        for (now, then) in stepper.q().iter().zip(&q) {
            assert!((now - then).abs() < 1e-12, "{joint:?}");
        }
    }
}

/// The axes of a fixed body that is turned are those of its anchor: a hinge there is one of the world, turned.
#[test]
fn fixed_bodies_that_are_turned_have_their_axes() {
    let mut scene = Scene::new();
    let turn = UnitQuaternion::from_euler_angles(0.4, -1.1, 2.0);
    let [x, y, z, w] = turn.coords.into();
    let shape = Shape::cuboid([0.1; 3]).expect("a cube");
    let wall = Body::fixed(shape.clone()).position([1.0, 2.0, 3.0]);
    let wall = scene.add(wall.orientation([w, x, y, z])).expect("a wall");
    let door = Body::new(shape).position([1.0, 2.0, 3.0]);
    let door = scene.add(door.orientation([w, x, y, z])).expect("a door");
    scene.ignore(wall, door).expect("two bodies");
    let axis = [0.3, -0.5, 0.9];
    let of = |body: usize| Anchor::of(&scene, body, [0.1, 0.2, 0.3]).expect("a body");
    let joint = Joint::hinge(of(door).along(axis), of(wall).along(axis));
    let angle = joint.axis(JointAxis::AboutX);
    let (q, mut v) = scene.start();
    let now = angle.read(&scene, &q, &v).expect("a state");
    assert!(now.position.abs() < 1e-12);
    // About the axis of the hinge.
    let spin = turn * Vector3::from(axis).normalize() * 2.0;
    v[..3].copy_from_slice(spin.as_slice());
    let now = angle.read(&scene, &q, &v).expect("a state");
    assert!((now.velocity - 2.0).abs() < 1e-12, "{now:?}");
}

/// A soft joint gives way by `F/k`.
#[test]
fn a_soft_hinge_gives_way_by_its_stiffness() {
    let (m, k) = (2.0, 500.0);
    let soft = Compliance {
        stiffness: k,
        dissipation_time: 0.1,
        ..Compliance::default()
    };
    let pin = hinge(
        Anchor::on(0, [0.0; 3]),
        Anchor::world([0.0; 3]),
        [0.0, 1.0, 0.0],
    );
    let mut stepper = bodies(&[cuboid(m, [0.1; 3])], G)
        .stepper(DT)
        .term(pin.compliance(soft));
    let q = coordinates(Vector3::zeros(), UnitQuaternion::identity());
    run(&mut stepper, &q, &[0.0; 6], 5.0);
    assert!((stepper.q()[2] + m * G / k).abs() < 1e-8);
    // And its turns by the torque of a load beside it.
    let arm = 0.3;
    let pin = hinge(
        Anchor::on(0, [-arm, 0.0, 0.0]),
        Anchor::world([0.0; 3]),
        [1.0, 0.0, 0.0],
    );
    let mut stepper = bodies(&[cuboid(m, [0.1; 3])], G)
        .stepper(DT)
        .term(pin.turning(soft));
    let q = coordinates(Vector3::x() * arm, UnitQuaternion::identity());
    run(&mut stepper, &q, &[0.0; 6], 8.0);
    let (_, turn) = pose(stepper.q(), 0);
    // k θ = m g l cos θ
    let mut tilt = 0.0_f64;
    for _ in 0..50 {
        tilt = m * G * arm * tilt.cos() / k;
    }
    assert!(
        (turn.angle() / tilt - 1.0).abs() < 1e-5,
        "{} {tilt}",
        turn.angle()
    );
}

/// A motor is found among the terms of a step and given another goal; impulses are told by term.
#[test]
fn terms_of_a_joint_are_found_again() {
    let axle = hinge(
        Anchor::on(0, [0.0; 3]),
        Anchor::world([0.0; 3]),
        [1.0, 0.0, 0.0],
    );
    let axis = axle.axis(JointAxis::AboutX);
    let mut stepper = bodies(&[cuboid(1.0, [0.1; 3])], 0.0)
        .stepper(DT)
        .term(axle)
        .term(Motor::new(axis.clone()).gains(0.0, 1e3));
    assert!(stepper.term_impulses(0).is_none());
    let q = coordinates(Vector3::zeros(), UnitQuaternion::identity());
    stepper
        .start(&Start::at(0.0).q(&q).v(&[0.0; 6]))
        .expect("start");
    for speed in [1.0, -2.0] {
        stepper
            .term_mut::<Motor>(1)
            .expect("a motor")
            .set_goal(goal(0.0, speed));
        for _ in 0..5 {
            stepper.step().expect("a step");
        }
        assert!((velocity(&stepper, &axis) - speed).abs() < 1e-6);
    }
    assert_eq!(stepper.term_impulses(0).map(<[f64]>::len), Some(5));
    assert_eq!(stepper.term_impulses(1).map(<[f64]>::len), Some(1));
    assert!(stepper.term_impulses(2).is_none());
}
