//! With which torque does a machine throw a ball through a hole in a wall?
//!
//! A motor turns a crank; a coupler takes an arm along, a linkage of four bars; at a stop the arm stands still, and the ball
//! flies on from its cup. The torque is found by halving from the height at which the ball meets the wall.

#[path = "common/mod.rs"]
mod common;
#[path = "common/linear.rs"]
mod linear;
#[path = "common/outline.rs"]
mod outline;

use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use common::chart::{Area, Key, PALETTE, chart, grey, headline, picture};
use common::flags::{Outcome, ensure};
use outline::{Look, View};
use plotters::prelude::*;
use saltation::bodies::{Anchor, Body, Joint, JointAxis, Scene, Shape};
use saltation::compliant::{Axis, JointLimit, Motor, MotorGoal};
use saltation::nalgebra::{UnitQuaternion, Vector3};
use saltation::{Compliant, Page, Start};

const HELP: &str = "\
With which torque does a machine throw a ball through a hole in a wall?

The table has, for each torque of the motor on the crank, the angle and the speed of the arm where it stops, the speed of the ball behind it, its
height at the wall, and that of a throw from there by the closed form.

  cargo run --release --example machine -- [FLAGS]

  --distance X      of the wall from the axle of the arm, 2 m
  --height Z        of the middle of the hole, 1.2 m
  --dt DT           step, 0.002 s
  --page FILE       writes a page that shows the throw in a browser
  --pictures DIR    folder for pictures, target/pictures
";

/// Axles of arm and crank, and the lengths of crank and coupler: a parallelogram (m).
const ARM_AXLE: [f64; 3] = [0.0, 0.0, 0.6];
const CRANK_AXLE: [f64; 3] = [0.0, 0.0, 0.3];
const CRANK: f64 = 0.15;
/// Half the length of the arm, and how far its middle is from the axle (m).
const ARM: f64 = 0.35;
const MIDDLE: f64 = 0.25;
/// Angles of the arm above the way back (rad): at the start, and at the stop.
const LOW: f64 = -0.3;
const STOP: f64 = 0.8;
const BALL: f64 = 0.03;
/// The number of the ball among the bodies.
const BODY: usize = 6;
/// Half the height of the hole (m).
const HOLE: f64 = 0.09;
/// Torques to begin with (N m), and how often they are halved.
const TORQUES: [f64; 2] = [2.0, 12.0];
const HALVINGS: usize = 8;
/// End of a run (s).
const END: f64 = 1.6;
const GRAVITY: f64 = 9.81;

struct Setup {
    distance: f64,
    height: f64,
    dt: f64,
}

/// A throw.
struct Throw {
    torque: f64,
    stepper: Compliant<Scene>,
    /// The end of each step, with the coordinates.
    states: Vec<(f64, Vec<f64>)>,
    /// The angle of the arm where it is furthest, and its speed before.
    angle: f64,
    spin: f64,
    /// Speed of the ball behind the stop, its height at the wall, and that by the closed form.
    speed: f64,
    height: f64,
    expected: Option<f64>,
    /// It is beyond the wall at the end.
    is_through: bool,
}

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let setup = Setup {
            distance: flags.number("--distance", 2.0)?,
            height: flags.number("--height", 1.2)?,
            dt: flags.number("--dt", 0.002)?,
        };
        ensure(
            (1.0..=4.0).contains(&setup.distance),
            "--distance must lie in 1 to 4",
        )?;
        ensure(
            (0.3..=2.0).contains(&setup.height),
            "--height must lie in 0.3 to 2",
        )?;
        ensure(
            (1e-4..=0.005).contains(&setup.dt),
            "--dt must lie in 1e-4 to 0.005",
        )?;
        let page = flags.read("--page", PathBuf::from_str)?;
        let folder = flags.pictures()?;
        writeln!(
            out,
            "torque (N m)  arm stops at (rad)  turns (rad/s)  ball (m/s)  at the wall (m)  closed form  through"
        )?;
        let mut throws = Vec::new();
        for torque in TORQUES {
            throws.push(setup.throw(torque)?);
        }
        let [mut low, mut high] = TORQUES;
        for _ in 0..HALVINGS {
            let torque = 0.5 * (low + high);
            let throw = setup.throw(torque)?;
            let miss = throw.height - setup.height;
            throws.push(throw);
            if miss.abs() < 0.25 * HOLE {
                break;
            }
            *if miss < 0.0 { &mut low } else { &mut high } = torque;
        }
        for throw in &throws {
            writeln!(out, "{throw}")?;
        }
        let file = draw(&folder, &setup, &throws)?;
        writeln!(out, "\nwrote {}", file.display())?;
        if let (Some(file), Some(throw)) = (page, throws.last_mut()) {
            let scene = throw.stepper.system().clone();
            let (q, v) = scene.start();
            let start = Start::at(0.0).q(&q).v(&v);
            let run = throw.stepper.integrate(&start, END)?.completed()?;
            let drawn = Page::new(&run, 60.0)?
                .title("A throw through a hole")
                .scene(&scene)?;
            drawn.write_html(File::create(&file)?)?;
            writeln!(out, "wrote {}", file.display())?;
        }
        Ok(())
    })
}

/// A body turned by the angle of the arm, at a place of the arm.
fn turned(shape: Shape, axle: [f64; 3], place: [f64; 3]) -> Body {
    // About y, which lifts what points back.
    let turn = UnitQuaternion::from_scaled_axis(Vector3::y() * LOW);
    let position = Vector3::from(axle) + turn * Vector3::from(place);
    let [x, y, z, w] = turn.coords.into();
    Body::new(shape)
        .position(position.into())
        .orientation([w, x, y, z])
}

/// A hinge about y.
fn hinge(first: Anchor, second: Anchor) -> Joint {
    let level = [0.0, 1.0, 0.0];
    Joint::hinge(first.along(level), second.along(level))
}

impl Setup {
    /// The machine with its ball, and the wall.
    fn build(&self, torque: f64) -> Outcome<(Compliant<Scene>, Axis)> {
        let mut scene = Scene::new();
        let ground = scene.add(Body::fixed(Shape::plane()))?;
        let bar = |half: f64| Shape::cuboid([half, 0.015, 0.01]);
        let arm = scene.add(turned(bar(ARM)?, ARM_AXLE, [-MIDDLE, 0.0, 0.0]))?;
        let crank = scene.add(turned(
            bar(0.5 * CRANK)?,
            CRANK_AXLE,
            [-0.5 * CRANK, 0.0, 0.0],
        ))?;
        // The coupler stays upright.
        let between = 0.5 * (ARM_AXLE[2] - CRANK_AXLE[2]);
        let end = Vector3::new(-CRANK, 0.0, 0.0);
        let end = UnitQuaternion::from_scaled_axis(Vector3::y() * LOW) * end;
        let coupler = Body::new(Shape::cuboid([0.01, 0.015, between])?);
        let centre = [end.x, 0.04, CRANK_AXLE[2] + between + end.z];
        let coupler = scene.add(coupler.position(centre))?;
        // The cup: a lip on either side of the ball, welded to the arm.
        let far = -(MIDDLE + ARM) + 0.02;
        let lip = |x: f64| -> Outcome<Body> {
            let shape = Shape::cuboid([0.005, 0.015, 0.015])?;
            Ok(turned(shape, ARM_AXLE, [x, 0.0, 0.025]))
        };
        let lips = [
            scene.add(lip(far)?)?,
            scene.add(lip(far + 2.0 * BALL + 0.012)?)?,
        ];
        let place = [far + BALL + 0.006, 0.0, 0.01 + BALL];
        let ball = turned(Shape::sphere(BALL)?, ARM_AXLE, place);
        scene.add(ball.mass(0.1, [0.4 * 0.1 * BALL * BALL; 3]))?;
        // The wall, of two boxes.
        for (low, high) in [
            (0.0, self.height - HOLE),
            (self.height + HOLE, self.height + 0.6),
        ] {
            let half = [0.02, 0.5, 0.5 * (high - low)];
            let part = Body::fixed(Shape::cuboid(half)?);
            scene.add(part.position([self.distance, 0.0, 0.5 * (low + high)]))?;
        }
        let machine = [arm, crank, coupler, lips[0], lips[1]];
        for (i, &a) in machine.iter().enumerate() {
            scene.ignore(a, ground)?;
            for &b in &machine[i + 1..] {
                scene.ignore(a, b)?;
            }
        }
        let (q, _) = scene.start();
        let on = |body: usize, point: [f64; 3]| Anchor::of(&scene, body, point);
        let arm_hinge = hinge(on(arm, [MIDDLE, 0.0, 0.0])?, Anchor::world(ARM_AXLE));
        let crank_hinge = hinge(
            on(crank, [0.5 * CRANK, 0.0, 0.0])?,
            Anchor::world(CRANK_AXLE),
        );
        let to_crank = hinge(
            on(coupler, [0.0, 0.0, -between])?,
            on(crank, [-0.5 * CRANK, 0.04, 0.0])?,
        );
        let to_arm = hinge(
            on(coupler, [0.0, 0.0, between])?,
            on(arm, [MIDDLE - CRANK, 0.04, 0.0])?,
        );
        let [at_arm, at_crank] = [arm_hinge, crank_hinge].map(|j| j.axis(JointAxis::AboutX));
        // As fast as the torque makes it.
        let fast = MotorGoal {
            velocity: 100.0,
            ..MotorGoal::default()
        };
        let motor = Motor::new(at_crank)
            .gains(0.0, 10.0)
            .goal(fast)
            .effort_limit(torque);
        let mut welds = Vec::new();
        for lip in lips {
            let weld = Joint::weld(on(lip, [0.0; 3])?, on(arm, [0.0; 3])?);
            welds.push(weld.as_placed(&q)?);
        }
        let mut stepper = Compliant::new(scene.clone())?
            .time_step(self.dt)
            .term(arm_hinge)
            .term(crank_hinge)
            .term(to_crank)
            .term(to_arm)
            .term(motor)
            .term(JointLimit::new(at_arm.clone(), LOW - 0.01, STOP));
        for weld in welds {
            stepper = stepper.term(weld);
        }
        Ok((stepper, at_arm))
    }

    fn throw(&self, torque: f64) -> Outcome<Throw> {
        let (mut stepper, arm) = self.build(torque)?;
        let (q, v) = stepper.system().start();
        stepper.start(&Start::at(0.0).q(&q).v(&v))?;
        let mut states = vec![(0.0, q)];
        let ball = |stepper: &Compliant<Scene>| {
            let scene = stepper.system();
            let at = scene.position(BODY, stepper.q()).unwrap_or_default();
            let speed = scene.velocity(BODY, stepper.v()).unwrap_or_default().1;
            (at, speed)
        };
        let (mut angle, mut spin) = (f64::NEG_INFINITY, 0.0_f64);
        let (mut released, mut height) = (None, None);
        // The ball is beyond the wall, or lies.
        let mut is_over = false;
        while stepper.t() < END && !is_over {
            let before = ball(&stepper);
            stepper.step()?;
            let now = arm.read(stepper.system(), stepper.q(), stepper.v())?;
            if released.is_none() {
                angle = angle.max(now.position);
                spin = spin.max(now.velocity);
                // The arm stands: the ball has left it two steps later.
                if now.position > STOP - 0.02 && now.velocity < 0.5 * spin {
                    stepper.step()?;
                    stepper.step()?;
                    released = Some(ball(&stepper));
                }
            }
            let at = ball(&stepper);
            let beside = self.distance - 0.02 - BALL;
            if before.0.x < beside && at.0.x >= beside {
                let share = (beside - before.0.x) / (at.0.x - before.0.x);
                height = Some(before.0.z + share * (at.0.z - before.0.z));
            }
            is_over = at.0.x > self.distance + 0.5 || at.0.z < 1.1 * BALL;
            states.push((stepper.t(), stepper.q().to_vec()));
        }
        let (from, velocity) = released.unwrap_or_else(|| ball(&stepper));
        let flight = (self.distance - 0.02 - BALL - from.x) / velocity.x;
        Ok(Throw {
            torque,
            angle,
            spin,
            speed: velocity.norm(),
            height: height.unwrap_or(0.0),
            expected: height
                .map(|_| from.z + velocity.z * flight - 0.5 * GRAVITY * flight * flight),
            is_through: ball(&stepper).0.x > self.distance
                && height.is_some_and(|height| (height - self.height).abs() < HOLE),
            stepper,
            states,
        })
    }
}

impl fmt::Display for Throw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let expected = self.expected.map_or("-".to_owned(), |z| format!("{z:.4}"));
        write!(
            f,
            "{:<12.5}  {:<18.4}  {:<13.3}  {:<10.4}  {:<15.4}  {expected:<11}  {}",
            self.torque,
            self.angle,
            self.spin,
            self.speed,
            self.height,
            if self.is_through { "yes" } else { "no" }
        )
    }
}

/// `machine.svg`.
fn draw(folder: &Path, setup: &Setup, throws: &[Throw]) -> Outcome<PathBuf> {
    let last = &throws[throws.len() - 1];
    let found = format!(
        "{:.3} N m: the ball flies at {:.2} m/s",
        last.torque, last.speed
    );
    let keys = [
        (30, Key::new(found, PALETTE[6], (60, 6))),
        (800, Key::new("other torques", grey(185), (60, 3))),
    ];
    let title = "A motor on a crank, an arm with a stop: a ball is thrown through a hole";
    picture(folder, "machine.svg", 1560, |area| {
        let (above, below) = headline(area, title, &keys)?.split_vertically(960);
        side(&above, setup, throws)?;
        let most = throws.iter().map(|throw| throw.height).fold(0.0, f64::max);
        let x = linear::axis("torque of the motor [N m]", 0.0..1.05 * TORQUES[1], 6);
        let y = linear::axis("height at the wall [m]", 0.0..1.1 * most, 5);
        let mut chart = chart(&below, x, y)?;
        let hole = [
            (0.0, setup.height - HOLE),
            (1.05 * TORQUES[1], setup.height + HOLE),
        ];
        chart.draw_series([Rectangle::new(hole, grey(225).filled())])?;
        let dots = throws.iter().map(|throw| (throw.torque, throw.height));
        chart.draw_series(dots.map(|p| Circle::new(p, 8, PALETTE[5].filled())))?;
        let found = [Circle::new(
            (last.torque, last.height),
            10,
            PALETTE[6].filled(),
        )];
        chart.draw_series(found)?;
        Ok(())
    })
}

/// Machine, paths and wall from the side.
fn side(area: &Area, setup: &Setup, throws: &[Throw]) -> Outcome<()> {
    let (width, height) = area.dim_in_pixel();
    let scale = f64::from(width - 80) / (setup.distance + 1.3);
    let view = View {
        scale,
        origin: (0.75 * scale + 40.0, f64::from(height) - 30.0),
    };
    let ground = [(-0.75, 0.0), (setup.distance + 0.55, 0.0)];
    view.path(area, &ground, grey(120).stroke_width(4))?;
    let top = f64::from(height - 30) / scale;
    let last = throws.len() - 1;
    for (number, throw) in throws.iter().enumerate() {
        // The ball is the last body that moves.
        let path = throw.states.iter().map(|(_, q)| (q[35], q[37]));
        let path: Vec<_> = path.take_while(|(_, z)| *z < top).collect();
        let style = if number == last {
            PALETTE[6].stroke_width(5)
        } else {
            grey(185).stroke_width(2)
        };
        view.path(area, &path, style)?;
    }
    let shown = &throws[last];
    let scene = shown.stepper.system();
    let flies = shown.states.iter().position(|(_, q)| q[35] > -0.3);
    let flies = flies.unwrap_or(0);
    for (k, is_first) in [(0, true), (3 * flies / 4, false), (flies, false)] {
        for body in 1..7 {
            let look = Look {
                fill: is_first.then_some(if body == BODY { PALETTE[1] } else { PALETTE[2] }),
                line: if body == BODY { PALETTE[6] } else { PALETTE[5] },
                width: 2,
            };
            view.body(area, scene, body, &shown.states[k].1, look)?;
        }
    }
    for body in [7, 8] {
        let look = Look {
            fill: Some(grey(160)),
            line: grey(60),
            width: 2,
        };
        view.body(area, scene, body, &shown.states[0].1, look)?;
    }
    Ok(())
}
