//! A block lands on two compliant corners. Where does it end, against the set of all outcomes that rigid bodies allow?
//!
//! Halm & Posa, Figure 12: the stiffness ratio of the corners or the tilt of the block decides which outcome of the set is taken.
//! A stiff integrator computed the impacts; its program is `benches/peers`, its table `tests/data/compliant_block.csv`.

mod common;
#[path = "common/linear.rs"]
mod linear;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use common::chart::{Area, Key, PALETTE, chart, grey, headline, picture, text};
use common::flags::{Outcome, ensure};
use nalgebra::{DMatrix, DVector};
use plotters::prelude::*;
use saltation::impact::{ExactPlanar, ImpactFailure, ImpactProblem, OutcomeSet};

const HELP: &str = "\
A block lands on two compliant corners: outcomes for many stiffness ratios and tilts, over the exact set of the rigid block.

  cargo run --release --example compliant_block -- [FLAGS]

  --every N         shows every N-th impact of the table, counted from the middle, 1; the paper has those of 2
  --pictures DIR    folder for pictures, target/pictures
";

const TABLE: &str = include_str!("../tests/data/compliant_block.csv");

/// What is varied, with the name in the table, the unit of the axis and the end of its range.
const SWEEPS: [Sweep; 2] = [
    Sweep {
        name: "log10_kA_over_kB",
        title: "stiffness ratio of the corners",
        label: "log₁₀ of the stiffness of A over that of B",
        end: 5.0,
    },
    Sweep {
        name: "theta0_deg",
        title: "tilt of the block at first contact",
        label: "tilt [deg], A first where positive",
        end: 0.01,
    },
];

struct Sweep {
    name: &'static str,
    title: &'static str,
    label: &'static str,
    end: f64,
}

/// One impact.
struct Impact {
    /// What was varied.
    value: f64,
    /// Speeds of A and B after the impact, normal, then tangential (m/s).
    speeds: [f64; 4],
}

fn main() -> ExitCode {
    common::flags::run(HELP, |mut flags, out| {
        let every = flags.number("--every", 1)?;
        ensure((1..=50).contains(&every), "--every must lie in 1 to 50")?;
        let folder = flags.pictures()?;
        let set = ExactPlanar::new().resolve(&block()?)?;
        let shown = |sweep: &Sweep| -> Outcome<Vec<Impact>> {
            let rows = impacts(sweep.name)?;
            let middle = rows.len() / 2;
            let rows = rows.into_iter().enumerate();
            let rows = rows.filter(|(row, _)| row.abs_diff(middle).is_multiple_of(every));
            Ok(rows.map(|(_, impact)| impact).collect())
        };
        let impacts = [shown(&SWEEPS[0])?, shown(&SWEEPS[1])?];
        report(&set, &impacts, out)?;
        let file = draw(&folder, &set, &impacts)?;
        Ok(writeln!(out, "\nwrote {}", file.display())?)
    })
}

/// The rigid block, 1 m by 2 m and 1 kg, that lands level with the speed of a fall of 1 cm. Velocities are those of the centre and
/// the rate of the attitude; contacts are the left corner A and the right corner B.
fn block() -> Result<ImpactProblem, ImpactFailure> {
    let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![1.0, 1.0, 5.0 / 12.0]));
    let jacobian = [0.0, 1.0, -0.5, 0.0, 1.0, 0.5, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0];
    let velocity = DVector::from_vec(vec![0.0, -(2.0f64 * 9.81 * 0.01).sqrt(), 0.0]);
    ImpactProblem::from_mechanics_with_tangents(
        &mass,
        &DMatrix::from_row_slice(4, 3, &jacobian),
        &velocity,
        &[1.0, 1.0],
    )
}

/// The rows of a sweep.
fn impacts(sweep: &str) -> Outcome<Vec<Impact>> {
    let rows = TABLE.lines().filter_map(|line| line.split_once(','));
    let rows = rows.filter(|(name, _)| *name == sweep);
    rows.map(|(_, row)| {
        let numbers: Vec<f64> = row.split(',').map(str::parse).collect::<Result<_, _>>()?;
        let [value, a, b, slip_a, slip_b, ..] = numbers[..] else {
            return Err(format!("{sweep}: a row of {} numbers", numbers.len()).into());
        };
        Ok(Impact {
            value,
            speeds: [a, b, slip_a, slip_b],
        })
    })
    .collect()
}

/// The greatest speed in the set (m/s).
fn end_of(set: &OutcomeSet) -> f64 {
    set.bounds()[0].1
}

fn report(set: &OutcomeSet, impacts: &[Vec<Impact>; 2], out: &mut dyn Write) -> Outcome<()> {
    let end = end_of(set);
    writeln!(
        out,
        "exact set of the rigid block: {} segments, each to a separating speed of {end:.10} m/s of one corner\n",
        set.pieces().len()
    )?;
    writeln!(
        out,
        "varied                               impacts   distance from the set   greatest speed of a corner"
    )?;
    for (sweep, impacts) in SWEEPS.iter().zip(impacts) {
        let far = impacts.iter().map(|impact| set.distance(&impact.speeds));
        let speed = |impact: &Impact| impact.speeds[0].max(impact.speeds[1]);
        writeln!(
            out,
            "{:<36} {:>7}  at most {:>9.1e} m/s   {:>18.2} % of the end",
            sweep.title,
            impacts.len(),
            far.fold(0.0, f64::max),
            100.0 * impacts.iter().map(speed).fold(0.0, f64::max) / end,
        )?;
    }
    Ok(())
}

/// Blue over grey to vermilion.
fn colour(sweep: &Sweep, impact: &Impact) -> RGBColor {
    let share = (impact.value / sweep.end).clamp(-1.0, 1.0);
    let (end, middle) = (if share < 0.0 { PALETTE[5] } else { PALETTE[6] }, grey(110));
    let mix = |from: u8, to: u8| {
        let value = f64::from(from) + (f64::from(to) - f64::from(from)) * share.abs().sqrt();
        u8::try_from(common::chart::rounded(value)).unwrap_or(to)
    };
    RGBColor(
        mix(middle.0, end.0),
        mix(middle.1, end.1),
        mix(middle.2, end.2),
    )
}

/// The colour of the set.
const SET: RGBColor = grey(210);

fn draw(folder: &Path, set: &OutcomeSet, impacts: &[Vec<Impact>; 2]) -> Outcome<PathBuf> {
    let keys = [
        (30, Key::new("exact set of the rigid block", SET, (60, 26))),
        (
            560,
            Key::new("corner B stiffer, or first", PALETTE[5], (0, 18)),
        ),
        (1000, Key::new("equal", grey(110), (0, 18))),
        (
            1160,
            Key::new("corner A stiffer, or first", PALETTE[6], (0, 18)),
        ),
    ];
    let title =
        "A block lands on compliant corners: stiffness and tilt choose an outcome of the set";
    picture(folder, "compliant_block.svg", 1640, |area| {
        let (left, right) = headline(area, title, &keys)?.split_horizontally(900);
        for ((sweep, impacts), column) in SWEEPS.iter().zip(impacts).zip([left, right]) {
            let (upper, lower) = column.split_vertically(900);
            draw_plane(&upper, set, sweep, impacts)?;
            draw_speeds(&lower, set, sweep, impacts)?;
        }
        Ok(())
    })
}

/// Outcomes over the set, in the plane of the normal speeds.
fn draw_plane(area: &Area, set: &OutcomeSet, sweep: &Sweep, impacts: &[Impact]) -> Outcome<()> {
    let range = -0.006..0.104;
    let x = linear::axis("separating speed of A [m/s]", range.clone(), 5);
    let y = linear::axis("separating speed of B [m/s]", range, 5);
    let mut chart = chart(area, x, y)?;
    for piece in set.pieces() {
        let line: Vec<(f64, f64)> = piece.vertices().map(|v| (v[0], v[1])).collect();
        chart.draw_series(LineSeries::new(line, SET.stroke_width(30)))?;
    }
    let dots = impacts.iter().map(|impact| {
        let [a, b, ..] = impact.speeds;
        Circle::new((a, b), 8, colour(sweep, impact).filled())
    });
    chart.draw_series(dots)?;
    let inside = chart.plotting_area().strip_coord_spec();
    inside.draw_text(sweep.title, &text(30, grey(30)), (110, 40))?;
    Ok(())
}

/// The greater of both speeds over what was varied.
fn draw_speeds(area: &Area, set: &OutcomeSet, sweep: &Sweep, impacts: &[Impact]) -> Outcome<()> {
    let x = linear::axis(sweep.label, -1.04 * sweep.end..1.04 * sweep.end, 5);
    let y = linear::axis("separating speed [m/s]", -0.006..0.112, 5);
    let mut chart = chart(area, x, y)?;
    let end = end_of(set);
    let line = [(-1.04 * sweep.end, end), (1.04 * sweep.end, end)];
    chart.draw_series(LineSeries::new(line, SET.stroke_width(8)))?;
    let dots = impacts.iter().map(|impact| {
        let speed = impact.speeds[0].max(impact.speeds[1]);
        Circle::new((impact.value, speed), 8, colour(sweep, impact).filled())
    });
    chart.draw_series(dots)?;
    let label = Text::new("end of the set", (-96, -26), text(28, grey(90)));
    chart.draw_series([EmptyElement::at((0.0, end)) + label])?;
    Ok(())
}
