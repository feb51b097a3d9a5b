//! A cylinder on a spring slides or rolls over compliant ground. How far is each scheme from the closed form, and what becomes of the energy?
//!
//! Castro, Permenter & Han, figures 5 to 7.

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
use saltation::compliant::{Scheme, Solver};
use saltation::models::SpringCylinder;
use saltation::{Compliant, Run, Start};

const HELP: &str = "\
A cylinder on a spring slides (friction 0) and rolls (friction 1): position, energy and error of three schemes.

  cargo run --release --example spring_cylinder -- [FLAGS]

  --dt DT           step of the curves over time, 0.02 s; the errors are those of DT, DT/2 ... DT/16
  --tf T            end of the runs, 5 s
  --pictures DIR    folder for pictures, target/pictures
";

const SCHEMES: [(Scheme, &str, RGBColor); 3] = [
    (Scheme::SymplecticEuler, "symplectic Euler", PALETTE[5]),
    (Scheme::Midpoint, "midpoint", PALETTE[6]),
    (Scheme::ImplicitEuler, "implicit Euler", PALETTE[3]),
];
const EXACT: RGBColor = grey(190);
/// The spring at the start (m).
const STRETCH: f64 = 0.1;
/// Halvings of the step.
const HALVINGS: i32 = 4;

/// The runs of one scheme at one friction.
struct Study {
    cylinder: SpringCylinder,
    /// At the first step.
    run: Run,
    /// Step and error (s, m).
    errors: Vec<(f64, f64)>,
}

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let dt: f64 = flags.number("--dt", 0.02)?;
        let tf: f64 = flags.number("--tf", 5.0)?;
        ensure(dt > 0.0 && dt <= 0.1, "--dt must lie in (0, 0.1]")?;
        ensure(tf >= dt && tf / dt <= 1e5, "--tf must be 1 to 1e5 steps")?;
        let folder = flags.pictures()?;
        let mut studies = Vec::new();
        for friction in [0.0, 1.0] {
            let of_scheme = SCHEMES.map(|(scheme, ..)| study(friction, scheme, dt, tf));
            studies.push(of_scheme.into_iter().collect::<Outcome<Vec<Study>>>()?);
        }
        report(&studies, out)?;
        let file = draw(&folder, &studies)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}

fn study(friction: f64, scheme: Scheme, dt: f64, tf: f64) -> Outcome<Study> {
    let cylinder = SpringCylinder {
        friction,
        ..SpringCylinder::default()
    };
    let (q, v) = cylinder.start(STRETCH);
    let run = |dt: f64| -> Outcome<Run> {
        let stepper = Compliant::new(cylinder)?.time_step(dt).scheme(scheme);
        let mut stepper = stepper.solver(Solver::new().rtol(1e-10));
        Ok(stepper
            .integrate(&Start::at(0.0).q(&q).v(&v), tf)?
            .completed()?)
    };
    let errors = (0..=HALVINGS).map(|halvings| {
        let dt = dt / f64::from(1 << halvings);
        Ok((dt, error(&cylinder, &run(dt)?)))
    });
    Ok(Study {
        cylinder,
        run: run(dt)?,
        errors: errors.collect::<Outcome<_>>()?,
    })
}

fn exact(cylinder: &SpringCylinder, t: f64) -> f64 {
    STRETCH * (cylinder.frequency() * t).cos()
}

/// The root mean square of the error of the position over time (m).
fn error(cylinder: &SpringCylinder, run: &Run) -> f64 {
    let times = run.times();
    let square = |k: usize| (run.q(k)[0] - exact(cylinder, times[k])).powi(2);
    let parts =
        (1..times.len()).map(|k| 0.5 * (times[k] - times[k - 1]) * (square(k) + square(k - 1)));
    (parts.sum::<f64>() / run.t()).sqrt()
}

/// The kinetic energy and that of the spring, over that of the start.
fn energy(cylinder: &SpringCylinder, run: &Run, k: usize) -> f64 {
    let (q, v) = (run.q(k), run.v(k));
    let kinetic = cylinder.mass * (v[0] * v[0] + v[1] * v[1]) + cylinder.inertia * v[2] * v[2];
    (kinetic + cylinder.spring * q[0] * q[0]) / (cylinder.spring * STRETCH * STRETCH)
}

fn report(studies: &[Vec<Study>], out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "friction  scheme            energy at the end   errors of the position [m]; orders"
    )?;
    for study in studies.iter().flatten().zip(SCHEMES.iter().cycle()) {
        let (study, (_, name, _)) = study;
        let last = energy(&study.cylinder, &study.run, study.run.times().len() - 1);
        let friction = study.cylinder.friction;
        write!(out, "{friction:<8}  {name:<16}  {last:>17.3e}  ")?;
        for (_, error) in &study.errors {
            write!(out, " {error:.3e}")?;
        }
        write!(out, "; ")?;
        for pair in study.errors.windows(2) {
            write!(out, " {:.2}", (pair[0].1 / pair[1].1).log2())?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// `spring_cylinder.svg`.
fn draw(folder: &Path, studies: &[Vec<Study>]) -> Outcome<PathBuf> {
    let mut keys = vec![(30, Key::new("closed form", EXACT, (60, 14)))];
    for (x, (_, name, colour)) in [360, 760, 1080].into_iter().zip(SCHEMES) {
        keys.push((x, Key::new(name, colour, (60, 5))));
    }
    let dt = studies[0][0].errors[0].0;
    let title = format!("A cylinder on a spring over compliant ground, steps of {dt} s");
    picture(folder, "spring_cylinder.svg", 1800, |area| {
        let (left, right) = headline(area, &title, &keys)?.split_horizontally(900);
        let words = [
            "slides without friction",
            "rolls with friction 1: stiction creeps",
        ];
        for ((studies, column), words) in studies.iter().zip([left, right]).zip(words) {
            let (upper, rest) = column.split_vertically(560);
            let (middle, lower) = rest.split_vertically(560);
            positions(&upper, studies, words)?;
            energies(&middle, studies)?;
            errors(&lower, studies)?;
        }
        Ok(())
    })
}

fn positions(area: &Area, studies: &[Study], words: &str) -> Outcome<()> {
    let (cylinder, tf) = (studies[0].cylinder, studies[0].run.t());
    let shown = tf.min(2.0);
    let x = linear::axis("time [s]", 0.0..shown, 5);
    let y = linear::axis("position [m]", -1.35 * STRETCH..1.6 * STRETCH, 5);
    let mut chart = chart(area, x, y)?;
    let curve = (0..=400).map(|i| shown * f64::from(i) / 400.0);
    let curve = curve.map(|t| (t, exact(&cylinder, t)));
    chart.draw_series(LineSeries::new(curve, EXACT.stroke_width(14)))?;
    for (study, (.., colour)) in studies.iter().zip(SCHEMES) {
        let times = study.run.times().iter().enumerate();
        let points = times.map(|(k, &t)| (t, study.run.q(k)[0]));
        let points = points.take_while(|(t, _)| *t <= shown);
        chart.draw_series(LineSeries::new(points, colour.stroke_width(4)))?;
    }
    let inside = chart.plotting_area().strip_coord_spec();
    inside.draw_text(words, &text(30, grey(30)), (24, 30))?;
    Ok(())
}

fn energies(area: &Area, studies: &[Study]) -> Outcome<()> {
    let of = |study: &Study| -> Vec<f64> {
        let steps = 0..study.run.times().len();
        steps
            .map(|k| energy(&study.cylinder, &study.run, k))
            .collect()
    };
    let shown = || studies.iter().flat_map(of);
    let x = linear::axis("time [s]", 0.0..studies[0].run.t(), 5);
    let most = 1.1 * shown().fold(0.0, f64::max);
    let y = linear::axis("energy over that of the start", 0.0..most, 5);
    let mut chart = chart(area, x, y)?;
    for (study, (.., colour)) in studies.iter().zip(SCHEMES) {
        let times = study.run.times().iter().enumerate();
        let points = times.map(|(k, &t)| (t, energy(&study.cylinder, &study.run, k)));
        chart.draw_series(LineSeries::new(points, colour.stroke_width(4)))?;
    }
    Ok(())
}

fn errors(area: &Area, studies: &[Study]) -> Outcome<()> {
    let all = || studies.iter().flat_map(|study| &study.errors);
    let (low, high) = all().fold((f64::INFINITY, 0.0_f64), |(a, b), e| {
        (a.min(e.1), b.max(e.1))
    });
    let (short, long) = all().fold((f64::INFINITY, 0.0_f64), |(a, b), e| {
        (a.min(e.0), b.max(e.0))
    });
    let x = logarithmic::axis("step [s]", 0.8 * short..1.25 * long);
    let y = logarithmic::axis("error of the position (r.m.s.) [m]", 0.5 * low..4.0 * high);
    let mut chart = chart(area, x, y)?;
    for (study, order) in studies[..2].iter().zip([1, 2]) {
        let (dt, error) = study.errors[study.errors.len() - 1];
        let line = [dt, long].map(|h| (h, 1.6 * error * (h / dt).powi(order)));
        chart.draw_series(LineSeries::new(line, grey(120).stroke_width(3)))?;
    }
    for (study, (.., colour)) in studies.iter().zip(SCHEMES) {
        let points = || study.errors.iter().copied();
        chart.draw_series(LineSeries::new(points(), colour.stroke_width(4)))?;
        chart.draw_series(points().map(|point| Circle::new(point, 8, colour.filled())))?;
    }
    let inside = chart.plotting_area().strip_coord_spec();
    inside.draw_text("grey: orders 1 and 2", &text(28, grey(80)), (24, 30))?;
    Ok(())
}
