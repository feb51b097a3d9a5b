//! Time and evaluations of `f` against the number of contacts: Figure 5.2.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use plotters::prelude::*;
use saltation::models::{PlainPlate, PlateParameters, VerticalPlate};
use saltation::{Error, EventFunction, Flow, Integrator, Projection, Start, Status};

use crate::common::chart::{Area, Key, PALETTE, chart, headline, picture};
use crate::common::flags::Outcome;
use crate::{linear, logarithmic};

const SPRINGS: [usize; 12] = [1, 3, 5, 8, 10, 15, 20, 25, 30, 35, 40, 50];
/// Starts whose end is compared with a run at tight tolerances.
const CHECKED: u64 = 8;
const TF: f64 = 2.0;

/// A way to carry the plate through its contacts.
struct Way {
    name: &'static str,
    /// In the legend.
    label: &'static str,
    meaning: &'static str,
    colour: RGBColor,
    projection: Projection,
    fixed_step: Option<f64>,
    /// Spring by spring, without the short cuts of `VerticalPlate`.
    plain: bool,
}

fn ways() -> [Way; 4] {
    [
        Way {
            name: "as in the paper",
            label: "order 1, steps of 2 ms (paper)",
            meaning: "projection of order 1 from eps = 0.0117 m, steps of 2 ms",
            colour: PALETTE[1],
            projection: Projection::eps(0.0117, 1),
            fixed_step: Some(0.002),
            plain: true,
        },
        Way {
            name: "located",
            label: "each crossing located",
            meaning: "each crossing located on a smooth step, rtol 1e-6",
            colour: PALETTE[7],
            projection: Projection::Off,
            fixed_step: None,
            plain: true,
        },
        Way {
            name: "auto",
            label: "auto",
            meaning: "the default: projections of order 3 under an error test, rtol 1e-6",
            colour: PALETTE[5],
            projection: Projection::Auto,
            fixed_step: None,
            plain: true,
        },
        Way {
            name: "auto, flip",
            label: "auto, f updated in place",
            meaning: "the same, and the model updates f in place when a contact changes",
            colour: PALETTE[3],
            projection: Projection::Auto,
            fixed_step: None,
            plain: false,
        },
    ]
}

/// What one way costs with one number of springs. Runs that ended early count in `early` only.
struct Cost {
    /// Median of the time that a run takes [µs].
    time: f64,
    /// Median of the evaluations of `f`.
    flow: f64,
    /// Greatest error of the height at the end, over the starts that are checked [m].
    error: f64,
    early: usize,
}

/// Runs the plate from many starts, writes the tables and draws the picture.
pub(crate) fn report(folder: &Path, starts: u64, out: &mut dyn Write) -> Outcome<PathBuf> {
    let ways = ways();
    writeln!(
        out,
        "cost of {TF} s on n springs, law V: medians over {starts} random starts\n"
    )?;
    for way in &ways {
        writeln!(out, "  {:<16} {}", way.name, way.meaning)?;
    }
    write!(out, "\n           ")?;
    for way in &ways {
        write!(out, "| {:<27} ", way.name)?;
    }
    write!(out, "\n  n  m = 2n ")?;
    for _ in &ways {
        write!(out, "|   us  f evals error[m] early ")?;
    }
    writeln!(out)?;
    let mut table = Vec::new();
    for n in SPRINGS {
        let plate = VerticalPlate::new(PlateParameters::with_springs(n))?;
        let exact = exact_heights(&plate, starts.min(CHECKED))?;
        write!(out, "{n:>3}  {:>6} ", 2 * n)?;
        let mut row = Vec::new();
        for way in &ways {
            let cost = if way.plain {
                measure(PlainPlate(&plate), way, starts, &exact)?
            } else {
                measure(&plate, way, starts, &exact)?
            };
            let Cost {
                time,
                flow,
                error,
                early,
            } = cost;
            write!(out, "| {time:>4.0} {flow:>8.0} {error:>8.1e} {early:>5} ")?;
            row.push(cost);
        }
        writeln!(out)?;
        table.push(row);
    }

    writeln!(
        out,
        "error: the greatest of {} starts, in the height at the end",
        starts.min(CHECKED)
    )?;
    writeln!(
        out,
        "\nmarginal cost of one more contact m (least squares over the table)\n"
    )?;
    let contacts = SPRINGS.map(|n| 2.0 * n as f64);
    for (i, way) in ways.iter().enumerate() {
        let slope =
            |what: fn(&Cost) -> f64| slope(&contacts, table.iter().map(|row| what(&row[i])));
        let (time, flow) = (slope(|cost| cost.time), slope(|cost| cost.flow));
        writeln!(
            out,
            "  {:<16} {time:>7.2} us  {flow:>6.2} evaluations of f",
            way.name
        )?;
    }
    draw(folder, &ways, &contacts, &table)
}

fn exact_heights(plate: &VerticalPlate, starts: u64) -> Result<Vec<f64>, Error> {
    let mut tight = Integrator::fixed::<6>(plate)?.rtol(1e-11).atol(1e-12);
    (1..=starts)
        .map(|i| {
            tight.observe(
                &Start::at(0.0).x(&PlateParameters::random_start(i)),
                TF,
                &mut (),
            )?;
            Ok(tight.state()[1])
        })
        .collect()
}

fn measure(
    system: impl Flow + EventFunction,
    way: &Way,
    starts: u64,
    exact: &[f64],
) -> Result<Cost, Error> {
    let mut integrator = Integrator::fixed::<6>(system)?.projection(way.projection.clone());
    if let Some(step) = way.fixed_step {
        integrator = integrator.fixed_step(step);
    }
    let (mut times, mut flows, mut error, mut early) = (Vec::new(), Vec::new(), 0.0f64, 0);
    let mut exact = exact.iter();
    for i in 1..=starts {
        let start = PlateParameters::random_start(i);
        let clock = Instant::now();
        let run = integrator.observe(&Start::at(0.0).x(&start), TF, &mut ())?;
        let time = clock.elapsed();
        let exact = exact.next();
        if run.status != Status::ReachedEnd {
            early += 1;
            continue;
        }
        times.push(time.as_secs_f64() * 1e6);
        flows.push(run.statistics.flow as f64);
        if let Some(exact) = exact {
            error = error.max((integrator.state()[1] - exact).abs());
        }
    }
    Ok(Cost {
        time: median(times),
        flow: median(flows),
        error,
        early,
    })
}

/// NaN of nothing.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Slope of the least-squares line.
fn slope(x: &[f64], y: impl Iterator<Item = f64>) -> f64 {
    let y: Vec<f64> = y.collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let (mx, my) = (mean(x), mean(&y));
    let above: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    above / x.iter().map(|x| (x - mx).powi(2)).sum::<f64>()
}

fn draw(folder: &Path, ways: &[Way], contacts: &[f64], table: &[Vec<Cost>]) -> Outcome<PathBuf> {
    let keys: Vec<(i32, Key)> = [30, 620, 1080, 1290]
        .into_iter()
        .zip(ways)
        .map(|(x, way)| (x, Key::new(way.label, way.colour, (60, 6))))
        .collect();
    let title = "A plate falls on more and more springs: what 2 s of motion cost";
    picture(folder, "plate_cost.svg", 1040, |area| {
        let (left, right) = headline(area, title, &keys)?.split_horizontally(900);
        panel(&left, "time of a run [µs]", ways, contacts, table, |cost| {
            cost.time
        })?;
        panel(&right, "evaluations of f", ways, contacts, table, |cost| {
            cost.flow
        })
    })
}

fn panel(
    area: &Area,
    label: &str,
    ways: &[Way],
    contacts: &[f64],
    table: &[Vec<Cost>],
    what: fn(&Cost) -> f64,
) -> Outcome<()> {
    let values = || table.iter().flatten().map(what);
    let low = values().fold(1e300, f64::min).max(1e-3);
    let high = values().fold(low, f64::max);
    let x = linear::axis("number of contacts m = 2n", 0.0..104.0, 5);
    let mut chart = chart(area, x, logarithmic::axis(label, low / 1.4..high * 1.4))?;
    for (i, way) in ways.iter().enumerate() {
        let points = || {
            contacts
                .iter()
                .zip(table)
                .map(|(&m, row)| (m, what(&row[i])))
        };
        let points = || points().filter(|point| point.1.is_finite());
        chart.draw_series(LineSeries::new(points(), way.colour.stroke_width(6)))?;
        chart.draw_series(points().map(|point| Circle::new(point, 9, way.colour.filled())))?;
    }
    Ok(())
}
