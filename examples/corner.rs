//! Two guards cross in one point: what happens to trajectories that pass to the left, to the right,
//! and right through it?
//!
//! Anderson & Revzen, Figure 3.1: a piecewise-constant field in the plane, cut by two oblique
//! guards. Trajectories on either side of the corner cross the guards in different order and meet
//! different fields on their way, yet the motion is continuous: the final position as a function of
//! the start has a kink at the corner, and no jump.

mod common;
#[path = "common/linear.rs"]
mod linear;

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use common::chart::{Area, Key, PALETTE, chart, headline, picture, text};
use common::flags::{Outcome, ensure};
use nalgebra::{DMatrix, Vector2};
use plotters::prelude::*;
use saltation::models::FieldTable;
use saltation::{Error, InputError, Integrator, Run, Start, Status};

const HELP: &str = "\
Two guards cross in one point: what happens to trajectories that pass on either side, and right through it?

  cargo run --release --example corner -- [FLAGS]

  --starts N        trajectories in the picture, evenly spread about the one through the corner, 41
  --spread S        distance of the outermost from it, 1
  --tolerance T     crossings within T seconds are reported as one corner, 1e-9
  --pictures DIR    folder for pictures, target/pictures
";

/// Where the guards meet.
const CORNER: Vector2<f64> = Vector2::new(0.5, 0.4);
/// Directions across the guards.
const NORMALS: [[f64; 2]; 2] = [[0.8, 0.6], [0.9, -0.5]];
/// The field before both guards, after guard 0 only, after guard 1 only, after both.
const FIELDS: [[f64; 2]; 4] = [[1.0, 0.0], [1.0, 0.35], [0.75, 0.75], [1.0, 0.2]];
const GUARDS: [RGBColor; 2] = [PALETTE[3], PALETTE[7]];
const START: f64 = -1.0;
const TF: f64 = 3.0;

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let starts = flags.number("--starts", 41)?;
        ensure(
            (1..=2000).contains(&starts),
            "--starts must lie in 1 to 2000",
        )?;
        let spread = flags.number("--spread", 1.0)?;
        ensure(
            (1e-14..=1.5).contains(&spread),
            "--spread must lie in 1e-14 to 1.5",
        )?;
        let tolerance = flags.number("--tolerance", 1e-9)?;
        let folder = flags.pictures()?;
        let plane = plane()?;
        let fan: Vec<Passage> = (0..starts)
            .map(|i| {
                // 0 for the one in the middle, exactly
                let share = f64::from(2 * i - starts + 1) / f64::from((starts - 1).max(1));
                Passage::new(&plane, share * spread, tolerance)
            })
            .collect::<Result<_, _>>()?;
        report(&plane, &fan, tolerance, out)?;
        let file = draw(&folder, &fan)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}

/// The plane with its two guards and four fields.
fn plane() -> Result<FieldTable, InputError> {
    let normals = DMatrix::from_row_slice(2, 2, NORMALS.as_flattened());
    let offsets = NORMALS.map(|n| n[0] * CORNER.x + n[1] * CORNER.y);
    FieldTable::new(
        normals,
        &offsets,
        DMatrix::from_column_slice(2, 4, FIELDS.as_flattened()),
    )
}

/// Which guard a trajectory crosses first.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    ZeroFirst,
    OneFirst,
    /// Both at one instant, within the tolerance.
    Corner,
}

impl Order {
    const ALL: [Self; 3] = [Self::ZeroFirst, Self::OneFirst, Self::Corner];

    fn name(self) -> &'static str {
        match self {
            Self::ZeroFirst => "guard 0, then guard 1",
            Self::OneFirst => "guard 1, then guard 0",
            Self::Corner => "both at once (a Corner)",
        }
    }

    fn colour(self) -> RGBColor {
        match self {
            Self::ZeroFirst => PALETTE[5],
            Self::OneFirst => PALETTE[6],
            Self::Corner => PALETTE[0],
        }
    }
}

/// One trajectory past the corner.
struct Passage {
    /// Distance of the start from the one that leads into the corner.
    offset: f64,
    run: Run,
}

impl Passage {
    fn new(plane: &FieldTable, offset: f64, tolerance: f64) -> Result<Self, Error> {
        let run = Integrator::fixed::<2>(plane)?
            .corner_tolerance(tolerance)
            .integrate(&Start::at(0.0).x(&[START, CORNER.y + offset]), TF)?;
        Ok(Self { offset, run })
    }

    fn order(&self) -> Order {
        match self.run.crossings() {
            _ if !self.run.corners().is_empty() => Order::Corner,
            [first, ..] if first.guard.event == 0 => Order::ZeroFirst,
            _ => Order::OneFirst,
        }
    }

    /// Time between the crossings [s].
    fn gap(&self) -> f64 {
        match self.run.crossings() {
            [first, .., last] => last.t - first.t,
            _ => f64::NAN,
        }
    }
}

fn report(plane: &FieldTable, fan: &[Passage], tolerance: f64, out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "{} trajectories, corner at ({}, {}), corner tolerance {tolerance:e} s\n",
        fan.len(),
        CORNER.x,
        CORNER.y
    )?;
    for order in Order::ALL {
        let count = fan
            .iter()
            .filter(|passage| passage.order() == order)
            .count();
        writeln!(out, "  {:<24} {count:>5}", order.name())?;
    }
    let ended_early = fan
        .iter()
        .filter(|passage| *passage.run.status() != Status::ReachedEnd)
        .count();
    writeln!(out, "  {:<24} {ended_early:>5}", "ended early")?;

    writeln!(
        out,
        "\ncloser and closer to the corner: the order changes sides, the position at the end does not jump\n"
    )?;
    writeln!(
        out,
        "   offset   first  time between [s]  reported as      x at the end        y at the end"
    )?;
    for exponent in [1, 3, 6, 9, 12, 15, 0, -15, -12, -9, -6, -3, -1i32] {
        let offset = f64::from(exponent.signum()) * 10f64.powi(-exponent.abs());
        let passage = Passage::new(plane, offset, tolerance)?;
        let first = passage
            .run
            .crossings()
            .first()
            .map_or(usize::MAX, |c| c.guard.event);
        let kind = if passage.order() == Order::Corner {
            "corner"
        } else {
            "two crossings"
        };
        let end = passage.run.state();
        writeln!(
            out,
            "{offset:>9.0e}  {first:>6}  {:>16.2e}  {kind:<13}  {:>18.15}  {:>18.15}",
            passage.gap(),
            end[0],
            end[1]
        )?;
    }
    Ok(())
}

fn draw(folder: &Path, fan: &[Passage]) -> Outcome<PathBuf> {
    let keys = Order::ALL.map(|order| Key::new(order.name(), order.colour(), (60, 6)));
    let keys: Vec<(i32, Key)> = [30, 500, 970].into_iter().zip(keys).collect();
    let title =
        "Through a corner of two guards: the order changes sides, the motion stays continuous";
    picture(folder, "corner.svg", 1100, |area| {
        let (left, right) = headline(area, title, &keys)?.split_horizontally(1080);
        draw_plane(&left, fan)?;
        draw_ends(&right, fan)
    })
}

/// From the least to the greatest value, with some margin.
fn span(values: impl Iterator<Item = f64>, margin: f64) -> Range<f64> {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = values.fold(ends, |(low, high), v| (low.min(v), high.max(v)));
    let margin = margin * (high - low).max(1e-12);
    low - margin..high + margin
}

fn draw_plane(area: &Area, fan: &[Passage]) -> Outcome<()> {
    let values = |i: usize| {
        let states = fan
            .iter()
            .map(move |passage| passage.run.states().row(i).iter().copied().collect());
        states.flat_map(|row: Vec<f64>| row)
    };
    let (wide, high) = (span(values(0), 0.04), span(values(1), 0.08));
    let label_height = high.start + 0.03 * (high.end - high.start);
    let (x, y) = (
        linear::axis("x", wide, 6),
        linear::axis("y", high.clone(), 6),
    );
    let mut chart = chart(area, x, y)?;
    for passage in fan {
        let nodes = passage.run.nodes().map(|(_, x)| (x[0], x[1]));
        chart.draw_series(LineSeries::new(
            nodes,
            passage.order().colour().stroke_width(3),
        ))?;
    }
    for (k, (normal, colour)) in NORMALS.iter().zip(GUARDS).enumerate() {
        let at = |y: f64| (CORNER.x - normal[1] / normal[0] * (y - CORNER.y), y);
        let line = [at(high.start), at(high.end)];
        chart.draw_series(LineSeries::new(line, colour.stroke_width(9)))?;
        let label = Text::new(format!("guard {k}"), (22, 0), text(30, colour));
        chart.draw_series([EmptyElement::at(at(label_height)) + label])?;
    }
    for passage in fan {
        let end = passage.run.state();
        let dot = Circle::new((end[0], end[1]), 7, passage.order().colour().filled());
        chart.draw_series([dot])?;
    }
    Ok(())
}

fn draw_ends(area: &Area, fan: &[Passage]) -> Outcome<()> {
    let point = |passage: &Passage| (passage.offset, passage.run.state()[1]);
    let x = linear::axis(
        "offset of the start",
        span(fan.iter().map(|p| point(p).0), 0.05),
        4,
    );
    let y = linear::axis(
        "y at the end",
        span(fan.iter().map(|p| point(p).1), 0.08),
        6,
    );
    let mut chart = chart(area, x, y)?;
    chart.draw_series(
        fan.iter()
            .map(|passage| Circle::new(point(passage), 9, passage.order().colour().filled())),
    )?;
    // both pieces are straight; their slopes stand in the corner that no point enters
    let pieces = [Order::ZeroFirst, Order::OneFirst].map(|order| {
        let piece: Vec<&Passage> = fan
            .iter()
            .filter(|passage| passage.order() == order)
            .collect();
        (order, piece)
    });
    let inside = chart.plotting_area().strip_coord_spec();
    for (row, (order, piece)) in (0..).zip(pieces) {
        let [first, .., last] = piece.as_slice() else {
            continue;
        };
        let (from, to) = (point(first), point(last));
        let slope = (to.1 - from.1) / (to.0 - from.0);
        let dot = Circle::new((40, 40 + 44 * row), 9, order.colour().filled());
        inside.draw(&dot)?;
        let label = format!("slope {slope:.3}");
        inside.draw_text(&label, &text(30, order.colour()), (62, 40 + 44 * row))?;
    }
    Ok(())
}
