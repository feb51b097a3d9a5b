//! How hard must a gripper press so that a ball does not slip from it while it is shaken?
//!
//! A hand follows a path ([`Kinematic`]); two fingers on sliders close on a ball: one holds its place, the motor of the
//! other presses with a limited force. The hand lifts the ball and shakes it to and fro ever harder. Two contacts hold
//! `2 μ F`; the ball needs `m |a − g|`. It should slip when that is more, and not before.

#[path = "common/mod.rs"]
mod common;
#[path = "common/linear.rs"]
mod linear;
#[path = "common/outline.rs"]
mod outline;

use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;

use common::chart::{Area, Key, PALETTE, chart, grey, headline, picture, text};
use common::flags::{Outcome, ensure};
use outline::{Look, View};
use plotters::prelude::*;
use saltation::bodies::{Anchor, Body, Joint, JointAxis, Kinematic, Pose, Scene, Shape};
use saltation::compliant::{Motor, MotorGoal};
use saltation::nalgebra::Vector3;
use saltation::{Compliant, InputError, Page, Run, Start};

const HELP: &str = "\
How hard must a gripper press so that a ball does not slip from it while it is shaken?

The table has, for each force of the finger, the greatest part of the friction that was used (1: it slips), the slip of the ball in the
hand at the end, and the time at which it has slipped by a millimetre, beside the one at which m |a - g| passes 2 mu F.

  cargo run --release --example gripper -- [FLAGS]

  --friction MU     of fingers and ball, 0.5
  --mass M          of the ball, 0.2 kg
  --dt DT           step, 0.004 s
  --page FILE       writes a page that shows the run in a browser
  --pictures DIR    folder for pictures, target/pictures
";

/// Forces of the finger (N).
const FORCES: [f64; 4] = [3.0, 4.0, 5.0, 7.0];
/// Radius of the ball, height of the hand above it, half the ways of the fingers apart at the start (m).
const RADIUS: f64 = 0.04;
const ABOVE: f64 = 0.09;
const APART: f64 = 0.06;
/// Half the size of a finger (m).
const FINGER: [f64; 3] = [0.01, 0.02, 0.04];
/// Times: closed, lifted, the end (s); a way of the lift (m).
const CLOSED: f64 = 0.3;
const LIFTED: f64 = 0.8;
const END: f64 = 2.8;
const LIFT: f64 = 0.15;
/// Shaking: rate (rad/s), and how fast its acceleration grows (m/s³).
const RATE: f64 = 25.0;
const HARDER: f64 = 12.0;
/// Slip that counts as one (m).
const SLIPPED: f64 = 1e-3;

struct Setup {
    friction: f64,
    mass: f64,
    dt: f64,
}

/// A run with one force.
struct Held {
    force: f64,
    scene: Scene,
    run: Run,
    /// For each step its end, the part of the friction of both contacts that it used, and the slip (m).
    steps: Vec<[f64; 3]>,
}

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let setup = Setup {
            friction: flags.number("--friction", 0.5)?,
            mass: flags.number("--mass", 0.2)?,
            dt: flags.number("--dt", 0.004)?,
        };
        ensure(
            (0.05..=2.0).contains(&setup.friction),
            "--friction must lie in 0.05 to 2",
        )?;
        ensure(
            (0.01..=2.0).contains(&setup.mass),
            "--mass must lie in 0.01 to 2",
        )?;
        ensure(
            (1e-4..=0.01).contains(&setup.dt),
            "--dt must lie in 1e-4 to 0.01",
        )?;
        let page = flags.read("--page", PathBuf::from_str)?;
        let folder = flags.pictures()?;
        writeln!(
            out,
            "force (N)  friction used  slip (mm)  slips at (s)  expected (s)"
        )?;
        let mut runs = Vec::new();
        for force in FORCES {
            let held = setup.hold(force)?;
            let lifted = held.steps.iter().filter(|step| step[0] > LIFTED);
            let used = lifted.map(|step| step[1]).fold(0.0, f64::max);
            let slip = held.steps.last().map_or(0.0, |step| step[2]);
            let time = |t: Option<f64>| t.map_or("-".to_owned(), |t| format!("{t:.3}"));
            writeln!(
                out,
                "{force:<9}  {used:<13.3}  {:<9.2}  {:<12}  {}",
                1e3 * slip,
                time(held.slips_at()),
                time(setup.expected(force))
            )?;
            runs.push(held);
        }
        let file = draw(&folder, &setup, &runs)?;
        writeln!(out, "\nwrote {}", file.display())?;
        if let (Some(file), Some(shown)) = (page, runs.last()) {
            let drawn = Page::new(&shown.run, 60.0)?
                .title("A gripper")
                .scene(&shown.scene)?;
            drawn.write_html(File::create(&file)?)?;
            writeln!(out, "wrote {}", file.display())?;
        }
        Ok(())
    })
}

/// The place of the hand at a time (m).
fn hand(t: f64) -> [f64; 3] {
    let share = ((t - CLOSED) / (LIFTED - CLOSED)).clamp(0.0, 1.0);
    // As smooth as a jerk that is least (Flash & Hogan 1985).
    let lift = LIFT * share.powi(3) * (10.0 - 15.0 * share + 6.0 * share * share);
    let shaken = (t - LIFTED).max(0.0);
    let aside = HARDER * shaken / (RATE * RATE) * (RATE * shaken).sin();
    [0.0, aside, RADIUS + ABOVE + lift]
}

/// The acceleration that the ball needs from the fingers (m/s²).
fn needed(t: f64) -> f64 {
    let h = 1e-3;
    let [low, at, high] = [t - h, t, t + h].map(|t| Vector3::from(hand(t)));
    let acceleration = (low - 2.0 * at + high) / (h * h);
    (acceleration + Vector3::z() * 9.81).norm()
}

impl Setup {
    /// The time at which the ball needs more than both contacts hold.
    fn expected(&self, force: f64) -> Option<f64> {
        let holds = 2.0 * self.friction * force / self.mass;
        let times = (0..).map(|k| LIFTED + 1e-4 * f64::from(k));
        times.take_while(|t| *t < END).find(|t| needed(*t) > holds)
    }

    fn hold(&self, force: f64) -> Outcome<Held> {
        let mut scene = Scene::new();
        let ground = scene.add(Body::fixed(Shape::plane()))?;
        let start = hand(0.0);
        let palm = Body::new(Shape::cuboid([0.1, 0.02, 0.01])?).position(start);
        let palm = scene.add(palm)?;
        let finger = Shape::cuboid(FINGER)?;
        let mut fingers = [0; 2];
        for (finger_number, side) in fingers.iter_mut().zip([-1.0, 1.0]) {
            let body = Body::new(finger.clone()).friction(self.friction);
            *finger_number = scene.add(body.position([side * APART, 0.0, RADIUS]))?;
            scene.ignore(palm, *finger_number)?;
            scene.ignore(ground, *finger_number)?;
        }
        let round = 0.4 * self.mass * RADIUS * RADIUS;
        let ball = Body::new(Shape::sphere(RADIUS)?).mass(self.mass, [round; 3]);
        let ball = scene.add(ball.friction(self.friction).position([0.0, 0.0, RADIUS]))?;
        let (q, v) = scene.start();
        // Trees are numbered as bodies that move: the palm, the fingers, the ball.
        let path =
            |t: f64| -> Result<Pose, InputError> { Pose::new(hand(t), [1.0, 0.0, 0.0, 0.0]) };
        let mut stepper = Compliant::new(scene.clone())?
            .time_step(self.dt)
            .term(Kinematic::new(0, path));
        for (number, side) in fingers.into_iter().zip([1.0, -1.0]) {
            let inwards = [side, 0.0, 0.0];
            let rail = Joint::slider(
                Anchor::of(&scene, number, [0.0; 3])?.along(inwards),
                Anchor::of(&scene, palm, [-side * APART, 0.0, -ABOVE])?.along(inwards),
            );
            let way = rail.axis(JointAxis::AlongX);
            let touching = APART - RADIUS - FINGER[0];
            let motor = if side > 0.0 {
                // Goes to the ball and holds its place.
                let goal = MotorGoal {
                    position: touching,
                    ..MotorGoal::default()
                };
                Motor::new(way).gains(2e4, 400.0).goal(goal)
            } else {
                let goal = MotorGoal {
                    velocity: 0.2,
                    ..MotorGoal::default()
                };
                Motor::new(way)
                    .gains(0.0, 500.0)
                    .goal(goal)
                    .effort_limit(force)
            };
            stepper = stepper.term(rail).term(motor);
        }
        let run = stepper
            .integrate(&Start::at(0.0).q(&q).v(&v), END)?
            .completed()?;
        // Once more step by step, for the friction: the run has no forces.
        stepper.start(&Start::at(0.0).q(&q).v(&v))?;
        let mut steps = Vec::new();
        let mut held_at = None;
        while stepper.t() < END - 0.5 * self.dt {
            stepper.step()?;
            let contacts = stepper.contacts().all_parameters().iter();
            let mut used = 0.0_f64;
            for (of, impulse) in contacts.zip(stepper.solution().impulses()) {
                let bodies = scene.contact_of(of.contact);
                let grips = bodies.is_some_and(|(a, b, _)| (a.min(b), a.max(b)) != (ground, ball));
                if grips && impulse[0] > 0.0 {
                    let share = impulse[1].hypot(impulse[2]) / (self.friction * impulse[0]);
                    used = used.max(share);
                }
            }
            let at = |body: usize| scene.position(body, stepper.q()).unwrap_or_default();
            // Of the middle of both fingers, which give way to the force.
            let middle = 0.5 * (at(fingers[0]) + at(fingers[1]));
            let beside = (at(ball) - middle).yz();
            if stepper.t() >= LIFTED {
                let start = *held_at.get_or_insert(beside);
                steps.push([stepper.t(), used, (beside - start).norm()]);
            } else {
                steps.push([stepper.t(), used, 0.0]);
            }
        }
        Ok(Held {
            force,
            scene,
            run,
            steps,
        })
    }
}

impl Held {
    fn slips_at(&self) -> Option<f64> {
        let slipped = self.steps.iter().find(|step| step[2] > SLIPPED);
        slipped.map(|step| step[0])
    }
}

const COLOURS: [RGBColor; 4] = [PALETTE[6], PALETTE[1], PALETTE[3], PALETTE[5]];

/// `gripper.svg`.
fn draw(folder: &Path, setup: &Setup, runs: &[Held]) -> Outcome<PathBuf> {
    let title = format!(
        "A gripper closes, lifts a ball of {} kg and shakes it ever harder, μ = {}",
        setup.mass, setup.friction
    );
    let keys = runs.iter().zip(COLOURS).zip([700, 930, 1160, 1390]);
    let mut keys: Vec<_> = keys
        .map(|((run, colour), x)| (x, Key::new(format!("{} N", run.force), colour, (60, 8))))
        .collect();
    keys.push((1600, Key::new("needed", grey(60), (60, 4))));
    picture(folder, "gripper.svg", 1000, |area| {
        let (left, right) = headline(area, &title, &keys)?.split_horizontally(620);
        if let Some(shown) = runs.last() {
            snapshots(&left, shown)?;
        }
        let (above, below) = right.split_vertically(437);
        let most = |of: fn(&[f64; 3]) -> f64| {
            let all = runs.iter().flat_map(|run| &run.steps);
            all.map(of).fold(0.0, f64::max)
        };
        let x = linear::axis("t [s]", LIFTED..END, 5);
        let y = linear::axis("part of friction used", 0.0..1.1, 5);
        let mut part = chart(&above, x, y)?;
        let x = linear::axis("t [s]", LIFTED..END, 5);
        let y = linear::axis("slip [mm]", 0.0..1e3 * most(|step| step[2]).min(0.05), 4);
        let mut slips = chart(&below, x, y)?;
        for (run, colour) in runs.iter().zip(COLOURS) {
            let steps = || run.steps.iter().filter(|step| step[0] > LIFTED);
            let holds = 2.0 * setup.friction * run.force / setup.mass;
            let line = steps().map(|step| (step[0], (needed(step[0]) / holds).min(1.1)));
            part.draw_series(LineSeries::new(line, grey(60).stroke_width(1)))?;
            let line = steps().map(|step| (step[0], step[1].min(1.1)));
            part.draw_series(LineSeries::new(line, colour.stroke_width(4)))?;
            let shown = steps().take_while(|step| step[2] < 0.05);
            let line = shown.map(|step| (step[0], 1e3 * step[2]));
            slips.draw_series(LineSeries::new(line, colour.stroke_width(4)))?;
        }
        Ok(())
    })
}

/// The gripper from the side: open, and lifted.
fn snapshots(area: &Area, held: &Held) -> Outcome<()> {
    for (t, x) in [(0.0, 170.0), (LIFTED, 450.0)] {
        let k = held.run.times().partition_point(|time| *time < t);
        let q = held.run.q(k.min(held.run.times().len() - 1));
        let view = View {
            scale: 1200.0,
            origin: (x, 640.0),
        };
        let ground = [(-0.11, 0.0), (0.11, 0.0)];
        view.path(area, &ground, grey(120).stroke_width(4))?;
        for (body, colour) in [
            (4, PALETTE[1]),
            (1, grey(190)),
            (2, PALETTE[2]),
            (3, PALETTE[2]),
        ] {
            let look = Look {
                fill: Some(colour),
                line: grey(60),
                width: 3,
            };
            view.body(area, &held.scene, body, q, look)?;
        }
        let (x, y) = view.point(-0.03, -0.03);
        area.draw_text(&format!("{t} s"), &text(30, grey(30)), (x, y))?;
    }
    Ok(())
}
