//! How fast does a wave run through a row of dominoes, and how does that depend on their distance?
//!
//! Dominoes of one size stand in a row. The first is tipped; each falls on the next, and they come to lie on each
//! other. After some dominoes the wave has a speed of its own, whatever the first push was.

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
use saltation::bodies::{Body, Scene, Shape};
use saltation::{Compliant, Page, Start};

const HELP: &str = "\
How fast does a wave run through a row of dominoes?

The table has the speed over the second half of the row for several distances, and for two first pushes; √(g h) is the scale of speeds of
dominoes of the height h.

  cargo run --release --example domino -- [FLAGS]

  --count N         dominoes, 10
  --friction MU     of all contacts, 0.3
  --dt DT           step, 0.003 s
  --page FILE       writes a page that shows the fall in a browser
  --pictures DIR    folder for pictures, target/pictures
";

/// Thickness, width and height of a domino (m).
const SIZE: [f64; 3] = [0.008, 0.024, 0.048];
const GRAVITY: f64 = 9.81;
/// Free ways between dominoes, by their height.
const GAPS: [f64; 4] = [0.2, 0.4, 0.6, 0.8];
/// Spins of the first domino at the start (rad/s).
const PUSHES: [f64; 2] = [6.0, 12.0];
/// Tilt from which a domino falls (rad).
const TIPPED: f64 = 0.1;
/// Time of a run (s).
const END: f64 = 1.0;

struct Setup {
    count: usize,
    friction: f64,
    dt: f64,
}

/// The fall of a row.
struct Fall {
    stepper: Compliant<Scene>,
    /// The time at which each domino has tipped, of those that did.
    tipped: Vec<f64>,
    /// The end of each step, and the coordinates there.
    states: Vec<(f64, Vec<f64>)>,
    /// From one domino to the next (m).
    pitch: f64,
}

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let setup = Setup {
            count: flags.number("--count", 10)?,
            friction: flags.number("--friction", 0.3)?,
            dt: flags.number("--dt", 0.003)?,
        };
        ensure(
            (4..=200).contains(&setup.count),
            "--count must lie in 4 to 200",
        )?;
        ensure(
            (0.0..=2.0).contains(&setup.friction),
            "--friction must lie in 0 to 2",
        )?;
        ensure(
            (1e-5..=0.01).contains(&setup.dt),
            "--dt must lie in 1e-5 to 0.01",
        )?;
        let page = flags.read("--page", PathBuf::from_str)?;
        let folder = flags.pictures()?;
        let mut speeds = Vec::new();
        writeln!(
            out,
            "gap/height  push (rad/s)  fallen  speed (m/s)  by √(g h)"
        )?;
        for gap in GAPS {
            for push in PUSHES {
                let fall = setup.fall(gap, push)?;
                let speed = fall.speed();
                let shown = speed.map_or("-          -".to_owned(), |v| {
                    format!("{v:<11.4}  {:.3}", v / scale())
                });
                writeln!(
                    out,
                    "{gap:<10}  {push:<12}  {:<6}  {shown}",
                    fall.tipped.len()
                )?;
                speeds.push((gap, push, speed));
            }
        }
        let mut shown = setup.fall(0.4, PUSHES[0])?;
        while shown.stepper.t() < 1.3 * shown.tipped.last().copied().unwrap_or(END) {
            shown.step()?;
        }
        let picture = draw(&folder, &setup, &shown, &speeds)?;
        writeln!(out, "\nwrote {}", picture.display())?;
        if let Some(file) = page {
            let scene = shown.stepper.system().clone();
            let (q, v) = scene.start();
            let start = Start::at(0.0).q(&q).v(&v);
            let run = shown.stepper.integrate(&start, END)?.completed()?;
            let drawn = Page::new(&run, 60.0)?
                .title("A row of dominoes")
                .scene(&scene)?;
            drawn.write_html(File::create(&file)?)?;
            writeln!(out, "wrote {}", file.display())?;
        }
        Ok(())
    })
}

/// The scale of speeds (m/s).
fn scale() -> f64 {
    (GRAVITY * SIZE[2]).sqrt()
}

impl Setup {
    /// A row with free ways of `gap` heights, whose first domino has a spin.
    fn fall(&self, gap: f64, push: f64) -> Outcome<Fall> {
        let mut scene = Scene::new();
        scene.add(Body::fixed(Shape::plane()).friction(self.friction))?;
        let domino = Shape::cuboid(SIZE.map(|x| 0.5 * x))?;
        let pitch = SIZE[0] + gap * SIZE[2];
        for k in 0..self.count {
            let body = Body::new(domino.clone()).friction(self.friction);
            let mut body = body.position([pitch * k as f64, 0.0, 0.5 * SIZE[2]]);
            if k == 0 {
                // About its lower edge in front.
                let arm = [-0.5 * SIZE[0], 0.5 * SIZE[2]];
                body = body.angular_velocity([0.0, push, 0.0]);
                body = body.velocity([push * arm[1], 0.0, -push * arm[0]]);
            }
            scene.add(body)?;
        }
        let (q, v) = scene.start();
        let mut stepper = Compliant::new(scene)?.time_step(self.dt);
        stepper.start(&Start::at(0.0).q(&q).v(&v))?;
        let mut fall = Fall {
            stepper,
            tipped: Vec::new(),
            states: vec![(0.0, q)],
            pitch,
        };
        while fall.tipped.len() < self.count && fall.stepper.t() < END {
            fall.step()?;
        }
        Ok(fall)
    }
}

impl Fall {
    fn step(&mut self) -> Outcome<()> {
        let next = 7 * self.tipped.len();
        let tilt = |q: &[f64]| {
            let own = q.get(next..next + 7);
            own.map_or(0.0, |q| 2.0 * q[5].atan2(q[3]))
        };
        let (before, t0) = (tilt(self.stepper.q()), self.stepper.t());
        self.stepper.step()?;
        let (t, q) = (self.stepper.t(), self.stepper.q());
        let now = tilt(q);
        if now > TIPPED {
            self.tipped
                .push(t0 + (t - t0) * (TIPPED - before) / (now - before));
        }
        self.states.push((t, q.to_vec()));
        Ok(())
    }

    /// Speed of the wave over the second half of the row (m/s), where it got through.
    fn speed(&self) -> Option<f64> {
        let count = self.states[0].1.len() / 7;
        let (first, last) = (count / 2, count - 1);
        let (t0, t1) = (self.tipped.get(first)?, self.tipped.get(last)?);
        Some(self.pitch * (last - first) as f64 / (t1 - t0))
    }
}

/// `domino.svg`.
fn draw(
    folder: &Path,
    setup: &Setup,
    fall: &Fall,
    speeds: &[(f64, f64, Option<f64>)],
) -> Outcome<PathBuf> {
    let title = format!("{} dominoes of 48 mm, μ = {}", setup.count, setup.friction);
    let keys = PUSHES
        .into_iter()
        .zip([PALETTE[5], PALETTE[6]])
        .zip([900, 1300]);
    let keys: Vec<_> = keys
        .map(|((push, colour), x)| (x, Key::new(format!("first: {push} rad/s"), colour, (0, 16))))
        .collect();
    picture(folder, "domino.svg", 900, |area| {
        let (left, right) = headline(area, &title, &keys)?.split_horizontally(880);
        snapshots(&left, fall)?;
        let x = linear::axis("free way by the height", 0.0..1.0, 5);
        let y = linear::axis("speed of the wave by √(g h)", 0.0..1.6, 4);
        let mut chart = chart(&right, x, y)?;
        for (push, colour) in PUSHES.into_iter().zip([PALETTE[5], PALETTE[6]]) {
            let of_push = speeds.iter().filter(|(_, p, _)| p.total_cmp(&push).is_eq());
            let points = of_push.filter_map(|(gap, _, v)| Some((*gap, (*v)? / scale())));
            let points: Vec<_> = points.collect();
            chart.draw_series(LineSeries::new(
                points.iter().copied(),
                colour.stroke_width(3),
            ))?;
            let size = if push > PUSHES[0] { 6 } else { 10 };
            let dots = points
                .iter()
                .map(|p| Circle::new(*p, size, colour.filled()));
            chart.draw_series(dots)?;
        }
        Ok(())
    })
}

/// The row at four times, one below the other.
fn snapshots(area: &Area, fall: &Fall) -> Outcome<()> {
    let (width, height) = area.dim_in_pixel();
    let count = fall.states[0].1.len() / 7;
    let length = fall.pitch * (count - 1) as f64 + 2.5 * SIZE[2];
    let last = fall.tipped.last().copied().unwrap_or(END);
    for (row, share) in [0.0, 0.33, 0.66, 1.3].into_iter().enumerate() {
        let t = (share * last).min(END);
        let k = fall.states.partition_point(|(time, _)| *time < t);
        let (t, q) = &fall.states[k.min(fall.states.len() - 1)];
        let view = View {
            scale: f64::from(width - 80) / length,
            origin: (
                40.0 + f64::from(width - 80) * SIZE[2] / length,
                f64::from(height) / 4.0 * (row as f64 + 0.85),
            ),
        };
        let ground = [(-SIZE[2], 0.0), (length - SIZE[2], 0.0)];
        view.path(area, &ground, grey(120).stroke_width(3))?;
        for body in 1..=count {
            let look = Look {
                fill: Some(PALETTE[2]),
                line: PALETTE[5],
                width: 2,
            };
            view.body(area, fall.stepper.system(), body, q, look)?;
        }
        let (x, y) = view.point(-SIZE[2], 1.5 * SIZE[2]);
        area.draw_text(&format!("{t:.2} s"), &text(30, grey(30)), (x, y))?;
    }
    Ok(())
}
