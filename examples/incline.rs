//! A particle on an incline. Where does it stick, how does it creep there, and how does it slide?
//!
//! Stiction is resolved up to a creep in proportion to the softness σ; sliding obeys Coulomb's law once the cushion has formed.

mod common;
#[path = "common/linear.rs"]
mod linear;
#[path = "common/logarithmic.rs"]
mod logarithmic;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use common::chart::{Area, Key, PALETTE, chart, grey, headline, picture, text};
use common::flags::{Outcome, ensure};
use plotters::prelude::*;
use saltation::compliant::{Softness, Solver, StepFriction};
use saltation::models::Particle;
use saltation::{Compliant, Start};

const HELP: &str = "\
A particle on an incline sticks and slides: creep and acceleration, measured and predicted.

  cargo run --release --example incline -- [FLAGS]

  --mu MU           coefficient of friction, 0.5
  --dt DT           step, 0.01 s
  --stiffness K     stiffness of the plane, 1e5 N/m
  --pictures DIR    folder for pictures, target/pictures
";

const EXACT: RGBColor = grey(190);
/// Softness of stiction of the curves over the slope.
const SIGMAS: [(f64, &str, RGBColor); 3] = [
    (1e-2, "σ = 10⁻²", PALETTE[6]),
    (1e-3, "σ = 10⁻³", PALETTE[5]),
    (1e-4, "σ = 10⁻⁴", PALETTE[3]),
];
/// End of a run (s).
const END: f64 = 2.0;

struct Setup {
    mu: f64,
    dt: f64,
    stiffness: f64,
}

/// The end of a run.
struct End {
    speed: f64,
    acceleration: f64,
    gap: f64,
    /// Speed of creep and acceleration of sliding that are to be expected.
    creep: f64,
    slide: f64,
}

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let setup = Setup {
            mu: flags.number("--mu", 0.5)?,
            dt: flags.number("--dt", 0.01)?,
            stiffness: flags.number("--stiffness", 1e5)?,
        };
        ensure(
            (0.05..=5.0).contains(&setup.mu),
            "--mu must lie in 0.05 to 5",
        )?;
        ensure(
            (1e-4..=0.1).contains(&setup.dt),
            "--dt must lie in 1e-4 to 0.1",
        )?;
        ensure(setup.stiffness > 0.0, "--stiffness must be positive")?;
        let folder = flags.pictures()?;
        report(&setup, out)?;
        let file = draw(&folder, &setup)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}

impl Setup {
    /// The slope on which friction just holds (rad).
    fn threshold(&self) -> f64 {
        self.mu.atan()
    }

    fn run(&self, slope: f64, sigma: f64) -> Outcome<End> {
        let particle = Particle {
            slope,
            friction: self.mu,
            stiffness: self.stiffness,
            ..Particle::default()
        };
        let mut softness = Softness::default();
        softness.stiction = sigma;
        let stepper = Compliant::new(particle)?
            .time_step(self.dt)
            .friction(StepFriction::Cone);
        let mut stepper = stepper.softness(softness).solver(Solver::new().rtol(1e-12));
        let run = stepper.integrate(&Start::at(0.0).q(&particle.rest()).v(&[0.0; 3]), END)?;
        let run = run.completed()?;
        let last = run.times().len() - 1;
        let pull = particle.gravity * slope.sin();
        Ok(End {
            speed: run.v(last)[0],
            acceleration: (run.v(last)[0] - run.v(last - 1)[0])
                / (run.times()[last] - run.times()[last - 1]),
            gap: run.q(last)[2],
            // w m = 1/√3 for a particle
            creep: sigma / 3.0_f64.sqrt() * pull * self.dt,
            slide: pull - self.mu * particle.gravity * slope.cos(),
        })
    }
}

fn report(setup: &Setup, out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "slope/threshold  σ       speed after {END} s [m/s]  creep predicted  acceleration [m/s²]  predicted      gap [m]"
    )?;
    for share in [0.5, 0.95, 1.2] {
        for (sigma, ..) in SIGMAS {
            let end = setup.run(share * setup.threshold(), sigma)?;
            let (creep, slide) = if share < 1.0 {
                (format!("{:.9e}", end.creep), "0".to_owned())
            } else {
                ("-".to_owned(), format!("{:.9}", end.slide))
            };
            writeln!(
                out,
                "{share:<15}  {sigma:<6.0e}  {:<23.9e}  {creep:<15}  {:<19.9}  {slide:<13}  {:.6e}",
                end.speed, end.acceleration, end.gap,
            )?;
        }
    }
    Ok(())
}

/// `incline.svg`.
fn draw(folder: &Path, setup: &Setup) -> Outcome<PathBuf> {
    let mut keys = vec![(30, Key::new("predicted", EXACT, (60, 14)))];
    for (x, (_, name, colour)) in [330, 640, 950].into_iter().zip(SIGMAS) {
        keys.push((x, Key::new(name, colour, (0, 16))));
    }
    let title = format!(
        "A particle on an incline, μ = {}, steps of {} s: the last step of {END} s",
        setup.mu, setup.dt
    );
    picture(folder, "incline.svg", 900, |area| {
        let (left, right) = headline(area, &title, &keys)?.split_horizontally(900);
        accelerations(&left, setup)?;
        creeps(&right, setup)
    })
}

/// Slopes up to twice the threshold.
fn slopes(setup: &Setup, count: u32, share: f64) -> impl Iterator<Item = f64> {
    let end = share * setup.threshold();
    (1..=count).map(move |i| end * f64::from(i) / f64::from(count))
}

fn accelerations(area: &Area, setup: &Setup) -> Outcome<()> {
    let (sigma, _, colour) = SIGMAS[1];
    let mut points = Vec::new();
    for slope in slopes(setup, 30, 1.5) {
        points.push((slope, setup.run(slope, sigma)?));
    }
    let (end, top) = points.last().map_or((1.0, 1.0), |(s, e)| (*s, e.slide));
    let x = linear::axis("slope [rad]", 0.0..1.02 * end, 5);
    let y = linear::axis("acceleration [m/s²]", -0.08 * top..1.08 * top, 5);
    let mut chart = chart(area, x, y)?;
    let line = points.iter().map(|(s, e)| (*s, e.slide.max(0.0)));
    let kink = [(0.0, 0.0), (setup.threshold(), 0.0)].into_iter();
    let line = kink.chain(line.filter(|(s, _)| *s > setup.threshold()));
    chart.draw_series(LineSeries::new(line, EXACT.stroke_width(12)))?;
    let dots = points.iter();
    chart.draw_series(dots.map(|(s, e)| Circle::new((*s, e.acceleration), 8, colour.filled())))?;
    let inside = chart.plotting_area().strip_coord_spec();
    inside.draw_text(
        "sticks up to tan = μ, slides beyond",
        &text(28, grey(80)),
        (24, 30),
    )?;
    Ok(())
}

fn creeps(area: &Area, setup: &Setup) -> Outcome<()> {
    let mut curves = Vec::new();
    for (sigma, _, colour) in SIGMAS {
        let mut points = Vec::new();
        for slope in slopes(setup, 16, 0.98) {
            points.push((slope, setup.run(slope, sigma)?));
        }
        curves.push((colour, points));
    }
    let all = || curves.iter().flat_map(|(_, points)| points);
    let creeps = all().map(|(_, end)| end.creep);
    let (low, high) = creeps.fold((f64::INFINITY, 0.0_f64), |(a, b), c| (a.min(c), b.max(c)));
    let x = linear::axis("slope [rad]", 0.0..1.02 * setup.threshold(), 5);
    let y = logarithmic::axis("speed of creep [m/s]", 0.5 * low..2.0 * high);
    let mut chart = chart(area, x, y)?;
    for (colour, points) in &curves {
        let line = points.iter().map(|(s, e)| (*s, e.creep));
        chart.draw_series(LineSeries::new(line, EXACT.stroke_width(12)))?;
        let dots = points.iter();
        chart.draw_series(dots.map(|(s, e)| Circle::new((*s, e.speed), 8, colour.filled())))?;
    }
    Ok(())
}
