//! How fast does the error fall with `eps`, for projections of order 1 to 4?
//!
//! Anderson & Revzen, section 4 and Figure 4.1: the affine system with three guards, whose exact
//! solution is known. A projection of order `p` is one Runge–Kutta step of length up to `eps` in
//! the event variable; there are few of them, so the error falls as `eps^(p+1)`. The projection of
//! the paper is the one of order 1.

mod common;
#[path = "common/logarithmic.rs"]
mod logarithmic;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use common::chart::{Area, Key, PALETTE, chart, grey, headline, picture, text};
use common::flags::{Outcome, ensure};
use plotters::prelude::*;
use saltation::models::Affine;
use saltation::{Error, Integrator, Projection, Start};

const HELP: &str = "\
How fast does the error fall with eps, for projections of order 1 to 4?

  cargo run --release --example order_of_accuracy -- [FLAGS]

  --points N        values of eps, log-spaced from 2 to 4e-5, 40
  --rtol R --atol A tolerances of the smooth phase, 1e-13 and 1e-14
  --pictures DIR    folder for pictures, target/pictures
";

const TF: f64 = 0.5;
const COLOURS: [RGBColor; 4] = [PALETTE[6], PALETTE[5], PALETTE[3], PALETTE[7]];
/// Slopes are fitted to points with `eps` at most this ...
const EPS_FITTED: f64 = 0.03;
/// ... and an error that is well above rounding.
const ERROR_FITTED: f64 = 2e-12;

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let points = flags.number("--points", 40)?;
        ensure(
            (10..=200).contains(&points),
            "--points must lie in 10 to 200",
        )?;
        let (rtol, atol) = (
            flags.number("--rtol", 1e-13)?,
            flags.number("--atol", 1e-14)?,
        );
        let folder = flags.pictures()?;
        let sweeps: Vec<Sweep> = (1..=4)
            .map(|order| Sweep::new(order, points, rtol, atol))
            .collect::<Result<_, _>>()?;
        report(&sweeps, out)?;
        let file = draw(&folder, &sweeps)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}

/// `eps` and the error it leads to.
type Point = (f64, f64);

/// Runs with projections of one order.
struct Sweep {
    order: u8,
    /// Root mean square over the nodes.
    rms: Vec<Point>,
    /// Norm at the end.
    last: Vec<Point>,
}

impl Sweep {
    fn new(order: u8, points: u32, rtol: f64, atol: f64) -> Result<Self, Error> {
        let mut integrator = Integrator::fixed::<3>(Affine::default())?
            .rtol(rtol)
            .atol(atol);
        let (mut rms, mut last) = (Vec::new(), Vec::new());
        for i in 0..points {
            let eps = 10f64.powf(0.3 - 4.7 * f64::from(i) / f64::from(points - 1));
            integrator = integrator.projection(Projection::eps(eps, order));
            let run = integrator.integrate(&Start::at(0.0).x(&Affine::START), TF)?;
            let squares = run.nodes().map(|(t, x)| {
                let exact = Affine::exact(t);
                (0..3).map(|i| (x[i] - exact[i]).powi(2)).sum::<f64>()
            });
            let squares: Vec<f64> = squares.collect();
            let mean = squares.iter().sum::<f64>() / squares.len() as f64;
            rms.push((eps, mean.sqrt()));
            last.push((eps, squares.last().map_or(f64::NAN, |square| square.sqrt())));
        }
        Ok(Self { order, rms, last })
    }
}

/// True when the slope is fitted to this point.
fn is_fitted(&(eps, error): &Point) -> bool {
    eps <= EPS_FITTED && error >= ERROR_FITTED
}

/// Least squares in the logarithms over the points that are fitted: slope, and the logarithm at
/// `eps` = 1.
fn fit(points: &[Point]) -> (f64, f64) {
    let fitted = points.iter().filter(|point| is_fitted(point));
    let logs: Vec<Point> = fitted.map(|(eps, error)| (eps.ln(), error.ln())).collect();
    let mean = |pick: fn(&Point) -> f64| logs.iter().map(pick).sum::<f64>() / logs.len() as f64;
    let (mx, my) = (mean(|p| p.0), mean(|p| p.1));
    let above: f64 = logs.iter().map(|(x, y)| (x - mx) * (y - my)).sum();
    let slope = above / logs.iter().map(|(x, _)| (x - mx).powi(2)).sum::<f64>();
    (slope, my - slope * mx)
}

fn report(sweeps: &[Sweep], out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "affine system, three guards, {TF} s: RMS error over the nodes, and error at the end\n"
    )?;
    write!(out, "{:>9}", "eps")?;
    for sweep in sweeps {
        write!(out, " | order {}: RMS     end", sweep.order)?;
    }
    writeln!(out)?;
    for i in (0..sweeps[0].rms.len()).step_by(2) {
        write!(out, "{:>9.2e}", sweeps[0].rms[i].0)?;
        for sweep in sweeps {
            write!(
                out,
                " | {:>9.2e} {:>10.2e}",
                sweep.rms[i].1, sweep.last[i].1
            )?;
        }
        writeln!(out)?;
    }
    writeln!(
        out,
        "\nfitted slopes (eps at most {EPS_FITTED}, error at least {ERROR_FITTED:e})\n"
    )?;
    writeln!(out, "order  expected   RMS   end")?;
    for sweep in sweeps {
        let (rms, last) = (fit(&sweep.rms).0, fit(&sweep.last).0);
        writeln!(
            out,
            "{:>5}  {:>8}  {rms:>4.2}  {last:>4.2}",
            sweep.order,
            sweep.order + 1
        )?;
    }
    Ok(())
}

fn draw(folder: &Path, sweeps: &[Sweep]) -> Outcome<PathBuf> {
    let title = "Three guards, affine fields: projections of order p err by eps to the power p + 1";
    let beyond = "not fitted: eps too wide to keep crossings apart, or error no more than rounding";
    let keys = [
        (30, Key::new("fitted", grey(60), (0, 18))),
        (220, Key::new(beyond, pale(grey(60)), (0, 18))),
    ];
    picture(folder, "order_of_accuracy.svg", 1160, |area| {
        let (left, right) = headline(area, title, &keys)?.split_horizontally(900);
        panel(&left, "RMS error over the nodes", sweeps, |sweep| {
            &sweep.rms
        })?;
        panel(&right, "error at the end", sweeps, |sweep| &sweep.last)
    })
}

fn panel(
    area: &Area,
    label: &str,
    sweeps: &[Sweep],
    what: fn(&Sweep) -> &Vec<Point>,
) -> Outcome<()> {
    let (x, y) = (
        logarithmic::axis("1/eps", 0.3..4e4),
        logarithmic::axis(label, 1e-15..3.0),
    );
    let mut chart = chart(area, x, y)?;
    for (row, (sweep, colour)) in (0..).zip(sweeps.iter().zip(COLOURS)) {
        let points = what(sweep);
        let (slope, offset) = fit(points);
        let fitted = points.iter().filter(|point| is_fitted(point));
        let line = fitted.map(|(eps, _)| (1.0 / eps, (offset + slope * eps.ln()).exp()));
        chart.draw_series(LineSeries::new(line, grey(60).stroke_width(4)))?;
        chart.draw_series(points.iter().map(|point| {
            let colour = if is_fitted(point) {
                colour
            } else {
                pale(colour)
            };
            Circle::new((1.0 / point.0, point.1), 9, colour.filled())
        }))?;
        // the corner of the chart that no curve enters
        let place = (330, 40 + 44 * row);
        let inside = chart.plotting_area().strip_coord_spec();
        inside.draw(&Circle::new(place, 9, colour.filled()))?;
        let label = format!("order {}: slope {slope:.2}", sweep.order);
        inside.draw_text(&label, &text(30, grey(30)), (place.0 + 22, place.1))?;
    }
    Ok(())
}

/// `colour` mixed with white.
fn pale(colour: RGBColor) -> RGBColor {
    let mix = |c: u8| 255 - (255 - c) / 4;
    RGBColor(mix(colour.0), mix(colour.1), mix(colour.2))
}
