//! The paths over the plane of starts, the cost along them, and the order of the legs.

use std::ops::Range;
use std::path::{Path, PathBuf};

use nalgebra::Vector2;
use plotters::prelude::*;
use saltation::Error;

use crate::common::chart::{Area, Axis, Chart, Key, PALETTE, chart, grey, headline, picture, text};
use crate::common::flags::Outcome;
use crate::contour::Grid;
use crate::search::End;
use crate::task::{Landing, Task};
use crate::{Descent, least_cost, linear, logarithmic};

/// Colour and width of the paths, which are drawn one over the other.
const STYLES: [(RGBColor, u32); 4] = [
    (PALETTE[5], 9),
    (PALETTE[6], 6),
    (PALETTE[0], 3),
    (PALETTE[1], 3),
];
const CONTOUR: RGBColor = grey(175);
const CREASE: RGBColor = PALETTE[3];
/// Cells of the grid on which contour lines are found.
const CELLS: [u32; 2] = [120, 90];
const CONTOURS: i32 = 12;
/// Cost above the best that counts as none in the picture [cm²].
const FLOOR: f64 = 1e-7;

pub(crate) fn draw(folder: &Path, task: &mut Task, paths: &[Descent]) -> Outcome<PathBuf> {
    let mut keys: Vec<(i32, Key)> = [30, 290, 540, 820]
        .into_iter()
        .zip(paths.iter().zip(STYLES))
        .map(|(x, (descent, (colour, width)))| {
            let thickness = i32::try_from(width).unwrap_or(1) + 2;
            (x, Key::new(descent.way.name, colour, (60, thickness)))
        })
        .collect();
    keys.push((1100, Key::new("both legs at once", CREASE, (60, 14))));
    keys.push((1480, Key::new("equal cost", CONTOUR, (60, 3))));
    let title =
        "Downhill to a landing on two legs: all orders lead on in the crease, one order is stuck";
    picture(folder, "descend.svg", 1240, |area| {
        let (left, right) = headline(area, title, &keys)?.split_horizontally(1000);
        draw_plane(&left, task, paths)?;
        let (above, below) = right.split_vertically(620);
        draw_cost(&above, paths)?;
        draw_gap(&below, paths)
    })
}

fn starts(descent: &Descent) -> impl Iterator<Item = (f64, f64)> {
    descent
        .path
        .visits
        .iter()
        .map(|visit| (visit.start.x, visit.start.y))
}

/// From the least to the greatest value, with some margin.
fn span(values: impl Iterator<Item = f64>, margin: f64) -> Range<f64> {
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = values.fold(ends, |(low, high), v| (low.min(v), high.max(v)));
    let margin = margin * (high - low).max(1e-3);
    low - margin..high + margin
}

fn draw_plane(area: &Area, task: &mut Task, paths: &[Descent]) -> Outcome<()> {
    let points = || paths.iter().flat_map(starts);
    let (wide, high) = (
        span(points().map(|p| p.0), 0.15),
        span(points().map(|p| p.1), 0.15),
    );
    let mut chart = chart(
        area,
        linear::axis("tilt at the start [rad]", wide.clone(), 6),
        linear::axis("spin at the start [rad/s]", high.clone(), 6),
    )?;
    let at = |column: f64, row: f64| {
        let part = |range: &Range<f64>, share: f64| range.start + (range.end - range.start) * share;
        let [columns, rows] = CELLS.map(f64::from);
        (part(&wide, column / columns), part(&high, row / rows))
    };
    let landings = (0..=CELLS[1])
        .map(|row| {
            let row = (0..=CELLS[0]).map(|column| {
                let (tilt, spin) = at(column.into(), row.into());
                task.land(Vector2::new(tilt, spin))
            });
            row.collect::<Result<Vec<_>, Error>>()
        })
        .collect::<Result<Vec<_>, Error>>()?;
    let grid = |what: fn(&Landing) -> f64| Grid {
        heights: landings
            .iter()
            .map(|row| row.iter().map(what).collect())
            .collect(),
    };
    let costs = grid(|landing| landing.cost);
    let best = least_cost(paths);
    let known = costs.heights.iter().flatten().copied();
    let worst = known.filter(|cost| cost.is_finite()).fold(best, f64::max);
    for i in 1..=CONTOURS {
        // closer where the cost is low, so that the crease is seen
        let level = best + (worst - best) * (f64::from(i) / f64::from(CONTOURS)).powi(3);
        for line in costs.lines(level) {
            let line = line.into_iter().map(|(column, row)| at(column, row));
            chart.draw_series(LineSeries::new(line, CONTOUR.stroke_width(2)))?;
        }
    }
    for line in grid(|landing| landing.gap.unwrap_or(f64::NAN)).lines(0.0) {
        let line = line.into_iter().map(|(column, row)| at(column, row));
        chart.draw_series(LineSeries::new(line, CREASE.stroke_width(16)))?;
    }
    draw_curves(&mut chart, paths, |descent| starts(descent).collect())?;
    let mut label = |point, words: &str, offset| {
        let words = Text::new(words.to_owned(), offset, text(30, grey(30)));
        chart
            .draw_series([EmptyElement::at(point) + words])
            .map(|_| ())
    };
    if let Some(first) = points().next() {
        label(first, "start", (-44, -36))?;
    }
    let ended = |end| {
        let descent = paths.iter().find(|descent| descent.path.end == end);
        descent.and_then(|descent| starts(descent).last())
    };
    if let Some(end) = ended(End::Flat) {
        label(end, "arrived", (28, -8))?;
    }
    if let Some(end) = ended(End::Stuck) {
        label(end, "stuck", (-150, -4))?;
    }
    Ok(())
}

fn iterations(paths: &[Descent]) -> Axis<'static> {
    let most = paths.iter().map(|d| d.path.visits.len()).max().unwrap_or(1) as f64;
    linear::axis("iteration", -0.02 * most..1.02 * most, 6)
}

fn draw_cost(area: &Area, paths: &[Descent]) -> Outcome<()> {
    let best = least_cost(paths);
    let above = |cost: f64| (1e4 * (cost - best)).max(FLOOR);
    let values = |descent: &Descent| -> Vec<(f64, f64)> {
        let costs = descent
            .path
            .visits
            .iter()
            .map(|visit| above(visit.landing.cost));
        costs
            .enumerate()
            .map(|(i, cost)| (i as f64, cost))
            .collect()
    };
    let high = paths
        .iter()
        .flat_map(values)
        .map(|p| p.1)
        .fold(1.0, f64::max);
    let cost = logarithmic::axis("cost above the best [cm²]", FLOOR / 2.0..high * 3.0);
    let mut chart = chart(area, iterations(paths), cost)?;
    draw_curves(&mut chart, paths, values)
}

fn draw_gap(area: &Area, paths: &[Descent]) -> Outcome<()> {
    let values = |descent: &Descent| -> Vec<(f64, f64)> {
        let gaps = descent.path.visits.iter().map(|visit| visit.landing.gap);
        let gaps = gaps
            .enumerate()
            .filter_map(|(i, gap)| Some((i as f64, 1e3 * gap?)));
        gaps.collect()
    };
    let range = span(paths.iter().flat_map(values).map(|p| p.1), 0.08);
    let gap = linear::axis("leg 1 after leg 0 [ms]", range, 5);
    let mut chart = chart(area, iterations(paths), gap)?;
    draw_curves(&mut chart, paths, values)
}

fn draw_curves(
    chart: &mut Chart,
    paths: &[Descent],
    values: impl Fn(&Descent) -> Vec<(f64, f64)>,
) -> Outcome<()> {
    for (descent, (colour, width)) in paths.iter().zip(STYLES) {
        let points = values(descent);
        let line = LineSeries::new(points.iter().copied(), colour.stroke_width(width));
        chart.draw_series(line)?;
        let dot = |point: &(f64, f64)| Circle::new(*point, 4 + width, colour.filled());
        chart.draw_series(points.iter().map(dot))?;
    }
    Ok(())
}
