//! A body that slides rides on a cushion, and sticking bodies creep. How far do they, and does the formula say it?
//!
//! Castro, Permenter & Han, section V: what the convex model costs.

mod common;
#[path = "common/linear.rs"]
mod linear;
#[path = "common/logarithmic.rs"]
mod logarithmic;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use common::chart::{Area, Key, PALETTE, chart, grey, headline, picture};
use common::flags::{Outcome, ensure};
use plotters::prelude::*;
use saltation::compliant::{Solver, StepFriction};
use saltation::models::Particle;
use saltation::{Compliant, Start};

const HELP: &str = "\
A particle slides at constant speed down a slope: the height of its cushion, measured and predicted.

  cargo run --release --example gliding -- [FLAGS]

  --mu MU           coefficient of friction, and tan of the slope, 0.5
  --speed V         speed of the run over time, 1 m/s
  --stiffness K     stiffness of the plane, 1e5 N/m
  --dt DT           step, 0.01 s
  --pictures DIR    folder for pictures, target/pictures
";

/// End of a run (s).
const END: f64 = 1.5;
/// Dissipation times over the step.
const TIMES: [(f64, &str, RGBColor); 3] = [
    (0.0, "τ = 0", PALETTE[3]),
    (1.0, "τ = dt", PALETTE[5]),
    (5.0, "τ = 5 dt", PALETTE[6]),
];
const PREDICTED: RGBColor = grey(180);

struct Setup {
    mu: f64,
    speed: f64,
    stiffness: f64,
    dt: f64,
}

/// A run at constant speed.
struct Glide {
    /// Time and height (s, m).
    heights: Vec<(f64, f64)>,
    /// Speed at the end (m/s).
    speed: f64,
    predicted: f64,
}

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let setup = Setup {
            mu: flags.number("--mu", 0.5)?,
            speed: flags.number("--speed", 1.0)?,
            stiffness: flags.number("--stiffness", 1e5)?,
            dt: flags.number("--dt", 0.01)?,
        };
        let is_range = |x: f64, low: f64, high: f64| x >= low && x <= high;
        ensure(is_range(setup.mu, 0.01, 5.0), "--mu must lie in 0.01 to 5")?;
        ensure(
            is_range(setup.speed, 1e-3, 100.0),
            "--speed must lie in 1e-3 to 100",
        )?;
        ensure(
            is_range(setup.dt, 1e-5, 0.1),
            "--dt must lie in 1e-5 to 0.1",
        )?;
        ensure(setup.stiffness > 0.0, "--stiffness must be positive")?;
        let folder = flags.pictures()?;
        report(&setup, out)?;
        let file = draw(&folder, &setup)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}

impl Setup {
    /// A run with this dissipation time, speed and step, from a share of the height of the cushion:
    /// from far below it a fast particle is thrown up.
    fn glide(&self, share: f64, tau: f64, (speed, dt): (f64, f64)) -> Outcome<Glide> {
        let particle = Particle {
            slope: self.mu.atan(),
            friction: self.mu,
            stiffness: self.stiffness,
            dissipation_time: tau,
            ..Particle::default()
        };
        let stepper = Compliant::new(particle)?
            .time_step(dt)
            .friction(StepFriction::Cone);
        let mut stepper = stepper.solver(Solver::new().rtol(1e-10));
        // Ten times the time in which the cushion forms.
        // A shorter last step would have a cushion of its own.
        let end = (END.max(10.0 * tau) / dt).ceil() * dt;
        let height = share * (dt + tau) * self.mu * speed;
        let run = stepper.integrate(
            &Start::at(0.0).q(&[0.0, 0.0, height]).v(&[speed, 0.0, 0.0]),
            end,
        )?;
        let run = run.completed()?;
        let law = stepper.problem().law(0).ok_or("no contact")?;
        let (time, speed) = (dt + tau, run.state()[3]);
        let softening = 1.0 + self.mu * self.mu * law.tangential / law.normal;
        let depth = softening * law.normal * time * particle.load() * dt;
        Ok(Glide {
            heights: (0..run.times().len())
                .map(|k| (run.times()[k], run.q(k)[2]))
                .collect(),
            speed,
            predicted: time * self.mu * speed - depth,
        })
    }
}

impl Glide {
    fn height(&self) -> f64 {
        self.heights.last().map_or(f64::NAN, |(_, height)| *height)
    }
}

fn report(setup: &Setup, out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "height of the cushion = (dt + τ) μ v − (1 + μ² R_t/R_n) R_n (dt + τ) N dt\n"
    )?;
    writeln!(
        out,
        "dissipation [s]  step [s]   measured [m]       predicted [m]      speed at the end [m/s]"
    )?;
    for (times, ..) in TIMES {
        for dt in [setup.dt, 0.1 * setup.dt] {
            let tau = times * setup.dt;
            let glide = setup.glide(1.0, tau, (setup.speed, dt))?;
            writeln!(
                out,
                "{tau:<16} {dt:<8}  {:<17.10e}  {:<17.10e}  {:.9}",
                glide.height(),
                glide.predicted,
                glide.speed
            )?;
        }
    }
    Ok(())
}

/// `gliding.svg`.
fn draw(folder: &Path, setup: &Setup) -> Outcome<PathBuf> {
    let mut keys = vec![(30, Key::new("predicted", PREDICTED, (60, 14)))];
    for (x, (_, name, colour)) in [330, 560, 820].into_iter().zip(TIMES) {
        keys.push((x, Key::new(name, colour, (0, 16))));
    }
    let title = format!(
        "A particle that slides rides on a cushion (μ = {}, dt = {} s, k = {:e} N/m)",
        setup.mu, setup.dt, setup.stiffness
    );
    picture(folder, "gliding.svg", 1500, |area| {
        let (upper, lower) = headline(area, &title, &keys)?.split_vertically(640);
        over_time(&upper, setup)?;
        let (left, right) = lower.split_horizontally(900);
        over_speed(&left, setup)?;
        over_step(&right, setup)
    })
}

fn over_time(area: &Area, setup: &Setup) -> Outcome<()> {
    let mut glides = Vec::new();
    for (times, ..) in TIMES {
        glides.push(setup.glide(0.0, times * setup.dt, (setup.speed, setup.dt))?);
    }
    let heights = glides.iter().flat_map(|glide| &glide.heights);
    let (low, high) = heights.fold((0.0_f64, 0.0_f64), |(a, b), h| (a.min(h.1), b.max(h.1)));
    let end = 60.0 * setup.dt;
    let x = linear::axis("time [s]", 0.0..end, 8);
    let y = linear::axis("height over the plane [mm]", 1.2e3 * low..1.2e3 * high, 5);
    let mut chart = chart(area, x, y)?;
    for (glide, (.., colour)) in glides.iter().zip(TIMES) {
        let line = [0.0, end].map(|t| (t, 1e3 * glide.predicted));
        chart.draw_series(LineSeries::new(line, PREDICTED.stroke_width(12)))?;
        let shown = glide.heights.iter().filter(|(t, _)| *t <= end);
        let points = || shown.clone().map(|(t, height)| (*t, 1e3 * height));
        chart.draw_series(LineSeries::new(points(), colour.stroke_width(3)))?;
        chart.draw_series(points().map(|point| Circle::new(point, 6, colour.filled())))?;
    }
    Ok(())
}

/// Values of what is varied, in equal ratios.
fn ratios(low: f64, high: f64, count: u32) -> impl Iterator<Item = f64> {
    let step = (high / low).ln() / f64::from(count - 1);
    (0..count).map(move |i| low * (f64::from(i) * step).exp())
}

/// Height against something that is varied: both logarithmic.
fn draw_heights(area: &Area, label: &str, points: &[(f64, Vec<Glide>)]) -> Outcome<()> {
    let (first, last) = (points[0].0, points[points.len() - 1].0);
    let all = points.iter().flat_map(|(_, glides)| glides);
    let all = all.map(|glide| 1e3 * glide.predicted).filter(|h| *h > 0.0);
    let (low, high) = all.fold((f64::INFINITY, 0.0_f64), |(a, b), h| (a.min(h), b.max(h)));
    let x = logarithmic::axis(label, 0.8 * first..1.25 * last);
    let y = logarithmic::axis("height over the plane [mm]", 0.5 * low..2.0 * high);
    let mut chart = chart(area, x, y)?;
    for (i, (.., colour)) in TIMES.iter().enumerate() {
        let shown = points
            .iter()
            .filter(|(_, glides)| glides[i].predicted > 0.0);
        let line = shown
            .clone()
            .map(|(x, glides)| (*x, 1e3 * glides[i].predicted));
        chart.draw_series(LineSeries::new(line, PREDICTED.stroke_width(10)))?;
        let dots = shown
            .map(|(x, glides)| Circle::new((*x, 1e3 * glides[i].height()), 8, colour.filled()));
        chart.draw_series(dots)?;
    }
    Ok(())
}

fn over_speed(area: &Area, setup: &Setup) -> Outcome<()> {
    let mut points = Vec::new();
    for speed in ratios(0.1 * setup.speed, 10.0 * setup.speed, 9) {
        let glides = TIMES.map(|(times, ..)| setup.glide(1.0, times * setup.dt, (speed, setup.dt)));
        points.push((speed, glides.into_iter().collect::<Outcome<Vec<_>>>()?));
    }
    draw_heights(area, "speed [m/s]", &points)
}

/// The dissipation times stay, so that the height does not vanish with the step.
fn over_step(area: &Area, setup: &Setup) -> Outcome<()> {
    let mut points = Vec::new();
    for dt in ratios(0.02 * setup.dt, 2.0 * setup.dt, 9) {
        let glides = TIMES.map(|(times, ..)| setup.glide(1.0, times * setup.dt, (setup.speed, dt)));
        points.push((dt, glides.into_iter().collect::<Outcome<Vec<_>>>()?));
    }
    draw_heights(area, "step [s], with τ as in the legend held", &points)
}
