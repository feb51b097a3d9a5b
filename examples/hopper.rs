//! How far does a coarse projection lead a hopper astray, and how fast does the error fall with
//! `eps`?
//!
//! Anderson & Revzen, Figure 5.1: height and velocity of the one-dimensional hopper beside its
//! closed form, and the error of both. The tables give the error against `eps` for projections of
//! order 1 to 4, and against the tolerance.

mod common;
#[path = "common/json.rs"]
mod json;
#[path = "common/linear.rs"]
mod linear;
#[path = "common/setting.rs"]
mod setting;

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use common::chart::{Area, Key, PALETTE, chart, grey, headline, picture};
use common::flags::{Flags, Outcome, ensure};
use plotters::prelude::*;
use saltation::models::Hopper;
use saltation::{Error, InputError, Integrator, Projection, Run, Start, Status};
use setting::{projection, row};

const HELP: &str = "\
How far does a coarse projection lead a hopper astray, and how fast does the error fall with eps?

  cargo run --release --example hopper -- [FLAGS]

  --mass M --stiffness K      1 kg and 400 N/m
  --rest-length L --gravity G 1 m and 9.81 m/s^2
  --start z,v                 height and velocity at the start, 2,0 (m, m/s)
  --tf T                      final time, 2 s
  --rtol R --atol A           tolerances, 1e-6 and 1e-9
  --projection P              off | auto | eps:E:ORDER | horizon:TAU:ORDER, auto
  --step DT                   fixed steps of DT seconds instead of tolerances
  --coarse P                  projection of the coarse run in the picture (steps of 2 ms), eps:0.05:1
  --final                     print the final state as one line of JSON and nothing else
  --pictures DIR              folder for pictures, target/pictures
";

/// Fixed steps of the coarse run and of the table against `eps` [s].
const STEP: f64 = 0.002;
const EXACT: RGBColor = grey(190);
const FINE: RGBColor = PALETTE[5];
const COARSE: RGBColor = PALETTE[6];

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let only_final = flags.switch("--final");
        let setup = Setup::read(&mut flags)?;
        let folder = flags.pictures()?;
        let run = setup.run(&setup.projection, setup.step)?;
        if only_final {
            let (changes, touching) = (run.crossings().len(), run.mode().count_ones());
            let line = json::final_line("\"model\":\"hopper\",", &run, changes, touching);
            return Ok(writeln!(out, "{line}")?);
        }
        let rest_length = setup.hopper.rest_length;
        ensure(
            setup.start[0] >= rest_length && setup.apex() > rest_length,
            "--start: the closed form is for starts above the rest length; for others use --final",
        )?;
        let coarse = setup.run(&setup.coarse, Some(STEP))?;
        report(&setup, &run, out)?;
        let file = draw(&folder, &setup, &run, &coarse)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}

#[derive(Clone)]
struct Setup {
    hopper: Hopper,
    start: [f64; 2],
    tf: f64,
    rtol: f64,
    atol: f64,
    projection: Projection,
    step: Option<f64>,
    coarse: Projection,
}

impl Setup {
    fn read(flags: &mut Flags) -> Outcome<Self> {
        let usual = Hopper::default();
        let mut positive = |name, default| {
            let value = flags.number(name, default)?;
            let message = format!("{name} {value}: must be > 0 and finite");
            ensure(value > 0.0 && value < f64::INFINITY, &message)?;
            Outcome::Ok(value)
        };
        Ok(Self {
            hopper: Hopper {
                mass: positive("--mass", usual.mass)?,
                stiffness: positive("--stiffness", usual.stiffness)?,
                rest_length: positive("--rest-length", usual.rest_length)?,
                gravity: positive("--gravity", usual.gravity)?,
            },
            start: flags.read("--start", row)?.unwrap_or([2.0, 0.0]),
            tf: flags.number("--tf", 2.0)?,
            rtol: flags.number("--rtol", 1e-6)?,
            atol: flags.number("--atol", 1e-9)?,
            projection: flags.read("--projection", projection)?.unwrap_or_default(),
            step: flags.read("--step", str::parse)?,
            coarse: flags
                .read("--coarse", projection)?
                .unwrap_or(Projection::eps(0.05, 1)),
        })
    }

    fn run(&self, projection: &Projection, step: Option<f64>) -> Result<Run, InputError> {
        let mut integrator = Integrator::fixed::<2>(&self.hopper)?
            .rtol(self.rtol)
            .atol(self.atol)
            .projection(projection.clone());
        if let Some(step) = step {
            integrator = integrator.fixed_step(step);
        }
        integrator.integrate(&Start::at(0.0).x(&self.start), self.tf)
    }

    /// How the run goes about it, for the legend.
    fn name(&self) -> String {
        let pace = match self.step {
            Some(step) => format!("steps of {step} s"),
            None => format!("rtol {:e}", self.rtol),
        };
        format!("{}, {pace}", named(&self.projection))
    }

    /// Greatest height [m].
    fn apex(&self) -> f64 {
        let [z, v] = self.start;
        z + v * v / (2.0 * self.hopper.gravity)
    }

    /// The closed form, in which time counts from the apex.
    fn exact(&self, t: f64) -> [f64; 2] {
        let since_apex = t - self.start[1] / self.hopper.gravity;
        let [z, v] = self.hopper.exact(self.apex(), since_apex.abs());
        [z, v * since_apex.signum()]
    }

    /// Root mean square over the nodes of the error in height [m] and in both variables [m and m/s
    /// mixed].
    fn rms(&self, run: &Run) -> [f64; 2] {
        let (mut height, mut both) = (0.0, 0.0);
        for (t, x) in run.nodes() {
            let [z, v] = self.exact(t);
            height += (x[0] - z).powi(2);
            both += (x[0] - z).powi(2) + (x[1] - v).powi(2);
        }
        [height, both].map(|sum| (sum / run.times().len() as f64).sqrt())
    }

    /// Norm of the error at the end of the run.
    fn final_error(&self, run: &Run) -> f64 {
        let [z, v] = self.exact(run.t());
        (run.state()[0] - z).hypot(run.state()[1] - v)
    }
}

/// A projection, for the legend.
fn named(projection: &Projection) -> String {
    match projection {
        Projection::Off => "located".to_owned(),
        Projection::Auto => "auto".to_owned(),
        Projection::Eps { eps, order } => format!("order {order}, eps = {} m", eps.get(0)),
        Projection::Horizon { tau, order } => format!("order {order}, {tau} s ahead"),
        other => format!("{other:?}"),
    }
}

fn report(setup: &Setup, run: &Run, out: &mut dyn Write) -> Outcome<()> {
    writeln!(out, "contacts ({}):", setup.name())?;
    for crossing in run.crossings() {
        let what = if crossing.guard.side_after() {
            "lands"
        } else {
            "lifts off"
        };
        writeln!(out, "  {:.12} s  {what}", crossing.t)?;
    }
    if let Status::Refused(reason) = run.status() {
        writeln!(out, "  ended early: {reason}")?;
    }
    writeln!(out, "  error at the end {:.2e}", setup.final_error(run))?;

    writeln!(
        out,
        "\nerror against eps, steps of {STEP} s: RMS over the nodes of the height (m), and of"
    )?;
    writeln!(
        out,
        "height and velocity together (m and m/s mixed, as in the paper)\n"
    )?;
    write!(out, "{:>8}", "eps [m]")?;
    for order in 1..=4 {
        write!(out, " | order {order}: z    both")?;
    }
    writeln!(out)?;
    for eps in [0.1, 0.05, 0.025, 0.0125, 0.00625, 1e-3, 1e-4] {
        write!(out, "{eps:>8}")?;
        for order in 1..=4 {
            let run = setup.run(&Projection::eps(eps, order), Some(STEP))?;
            let [height, both] = setup.rms(&run);
            write!(out, " | {height:>9.2e} {both:>9.2e}")?;
        }
        writeln!(out)?;
    }

    writeln!(
        out,
        "\nerror at the end against tolerance (atol is a tenth of rtol)\n"
    )?;
    writeln!(
        out,
        "{:>8} | auto: f evals     error | located: f evals     error",
        "rtol"
    )?;
    for exponent in 3..=11 {
        let rtol = 10f64.powi(-exponent);
        let setup = Setup {
            rtol,
            atol: rtol / 10.0,
            ..setup.clone()
        };
        let (auto, located) = (
            setup.run(&Projection::Auto, None)?,
            setup.run(&Projection::Off, None)?,
        );
        writeln!(
            out,
            "{rtol:>8.0e} | {:>13} {:>9.2e} | {:>16} {:>9.2e}",
            auto.statistics().flow,
            setup.final_error(&auto),
            located.statistics().flow,
            setup.final_error(&located)
        )?;
    }
    Ok(())
}

/// Time, and two numbers at that time.
type Sample = (f64, [f64; 2]);

/// `what(t, x)` along a run.
fn sampled(run: &Run, what: impl Fn(f64, [f64; 2]) -> [f64; 2]) -> Result<Vec<Sample>, Error> {
    const CELLS: i32 = 400;
    let (start, end) = (run.times()[0], run.t());
    (0..=CELLS)
        .map(|i| {
            let t = (start + (end - start) * f64::from(i) / f64::from(CELLS)).min(end);
            let x = run.state_at(t)?;
            Ok((t, what(t, [x[0], x[1]])))
        })
        .collect()
}

/// Samples, and the colour and width of their curve.
type Curve = (Vec<Sample>, RGBColor, u32);

fn draw(folder: &Path, setup: &Setup, run: &Run, coarse: &Run) -> Outcome<PathBuf> {
    let error = |run| {
        sampled(run, |t, [z, v]| {
            let exact = setup.exact(t);
            [z - exact[0], v - exact[1]]
        })
    };
    let motion = [
        (sampled(run, |t, _| setup.exact(t))?, EXACT, 14),
        (sampled(coarse, |_, x| x)?, COARSE, 5),
        (sampled(run, |_, x| x)?, FINE, 5),
    ];
    let errors = [(error(coarse)?, COARSE, 5), (error(run)?, FINE, 5)];
    let keys = [
        (30, Key::new("exact", EXACT, (60, 14))),
        (
            260,
            Key::new(format!("this run: {}", setup.name()), FINE, (60, 5)),
        ),
        (
            890,
            Key::new(
                format!("coarse run: {}", named(&setup.coarse)),
                COARSE,
                (60, 5),
            ),
        ),
    ];
    let title = "A hopper on its spring: a coarse projection upsets every hop that follows";
    picture(folder, "hopper.svg", 1280, |area| {
        let panels = headline(area, title, &keys)?.split_evenly((2, 2));
        panel(&panels[0], "height [m]", 0, &motion)?;
        panel(&panels[1], "velocity [m/s]", 1, &motion)?;
        panel(&panels[2], "error of the height [m]", 0, &errors)?;
        panel(&panels[3], "error of the velocity [m/s]", 1, &errors)
    })
}

/// Draws variable `i` of some curves against time.
fn panel(area: &Area, label: &str, i: usize, curves: &[Curve]) -> Outcome<()> {
    let samples = || curves.iter().flat_map(|curve| &curve.0);
    let time = linear::axis("time [s]", span(samples().map(|sample| sample.0), 0.0), 5);
    let value = linear::axis(label, span(samples().map(|sample| sample.1[i]), 0.06), 6);
    let mut chart = chart(area, time, value)?;
    for (samples, colour, width) in curves {
        let points = samples.iter().map(|(t, x)| (*t, x[i]));
        chart.draw_series(LineSeries::new(points, colour.stroke_width(*width)))?;
    }
    Ok(())
}

/// From the least to the greatest value, with a margin of `pad` times their distance.
fn span(values: impl Iterator<Item = f64>, pad: f64) -> Range<f64> {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = values.fold(ends, |(low, high), v| (low.min(v), high.max(v)));
    let pad = (high - low).max(1e-9 * high.abs()).max(1e-12) * pad;
    low - pad..high + pad
}
