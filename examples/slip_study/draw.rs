//! The picture of the study.

use std::path::{Path, PathBuf};

use plotters::prelude::*;

use crate::common::chart::{Area, Axis, Chart, Key, PALETTE, chart, grey, headline, picture, text};
use crate::common::flags::Outcome;
use crate::{Found, Heap, SIGMAS, Setup, linear, logarithmic};

const EXPECTED: RGBColor = grey(190);
/// Between walls, and without.
const HEAPS: [RGBColor; 2] = [PALETTE[5], PALETTE[1]];

/// `slip_study.svg`.
pub(crate) fn draw(folder: &Path, setup: &Setup, found: &[Found]) -> Outcome<PathBuf> {
    let keys = [
        (30, Key::new("stack", PALETTE[3], (0, 16))),
        (180, Key::new("heap between walls", HEAPS[0], (0, 16))),
        (560, Key::new("heap without", HEAPS[1], (0, 16))),
        (850, Key::new("expected of the stack", EXPECTED, (60, 14))),
        (1320, Key::new("μ σ g dt", PALETTE[6], (60, 5))),
    ];
    let title = format!(
        "Softness of stiction: {} cubes on a slope of {} rad, heaps of {} bodies after {} s",
        setup.stack.cubes, setup.stack.slope, setup.bodies, setup.tf
    );
    picture(folder, "slip_study.svg", 1480, |area| {
        let below = headline(area, &title, &keys)?;
        let (upper, lower) = below.split_vertically(720);
        let (left, right) = upper.split_horizontally(900);
        slips(&left, setup, found)?;
        conditions(&right, found)?;
        iterations(&lower, found)
    })
}

fn sigmas() -> Axis<'static> {
    logarithmic::axis("softness of stiction σ", 0.5 * SIGMAS[0]..2.0 * SIGMAS[6])
}

/// A logarithmic axis that holds all these numbers.
fn holding(label: &str, values: impl Iterator<Item = f64>) -> Axis<'_> {
    let positive = values.filter(|value| *value > 0.0);
    let (low, high) = positive.fold((f64::INFINITY, 0.0_f64), |(a, b), x| (a.min(x), b.max(x)));
    let range = if low <= high {
        0.3 * low..6.0 * high
    } else {
        0.1..1.0
    };
    logarithmic::axis(label, range)
}

fn dots(
    chart: &mut Chart,
    found: &[Found],
    colour: RGBColor,
    value: impl Fn(&Found) -> f64,
) -> Outcome<()> {
    let points = found.iter().map(|f| (f.sigma, value(f)));
    let seen = points.filter(|point| point.1 > 0.0);
    chart.draw_series(seen.map(|at| Circle::new(at, 9, colour.filled())))?;
    Ok(())
}

fn slips(area: &Area, setup: &Setup, found: &[Found]) -> Outcome<()> {
    let all = found.iter().flat_map(|f| {
        let [walled, open] = &f.heaps;
        [
            f.stack.slip,
            walled.end.slip,
            open.end.slip,
            setup.bound(f.sigma),
        ]
    });
    let mut chart = chart(area, sigmas(), holding("mean slip of contacts [m/s]", all))?;
    let line = found.iter().map(|f| (f.sigma, f.predicted));
    chart.draw_series(LineSeries::new(line, EXPECTED.stroke_width(12)))?;
    let line = found.iter().map(|f| (f.sigma, setup.bound(f.sigma)));
    chart.draw_series(LineSeries::new(line, PALETTE[6].stroke_width(4)))?;
    dots(&mut chart, found, PALETTE[3], |f| f.stack.slip)?;
    for (k, colour) in HEAPS.into_iter().enumerate() {
        dots(&mut chart, found, colour, |f| f.heaps[k].end.slip)?;
    }
    Ok(())
}

fn conditions(area: &Area, found: &[Found]) -> Outcome<()> {
    let all = found.iter().flat_map(|f| {
        let [walled, open] = &f.heaps;
        [f.stack.condition, walled.end.condition, open.end.condition]
    });
    let mut chart = chart(area, sigmas(), holding("condition of the Hessian", all))?;
    if let Some(first) = found.first() {
        let line = [1.0, 1e4].map(|k| (k * first.sigma, first.stack.condition / k));
        chart.draw_series(LineSeries::new(line, EXPECTED.stroke_width(12)))?;
    }
    dots(&mut chart, found, PALETTE[3], |f| f.stack.condition)?;
    for (k, colour) in HEAPS.into_iter().enumerate() {
        dots(&mut chart, found, colour, |f| f.heaps[k].end.condition)?;
    }
    let inside = chart.plotting_area().strip_coord_spec();
    inside.draw_text("grey: in proportion to 1/σ", &text(28, grey(80)), (270, 30))?;
    Ok(())
}

fn iterations(area: &Area, found: &[Found]) -> Outcome<()> {
    let most = found.iter().flat_map(|f| &f.heaps).map(|heap| heap.most);
    let top = 1.1 * most.max().unwrap_or(1) as f64;
    let y = linear::axis("Newton iterations of a step", 0.0..top, 5);
    let mut chart = chart(area, sigmas(), y)?;
    for is_mean in [true, false] {
        for (k, colour) in HEAPS.into_iter().enumerate() {
            let value = |heap: &Heap| {
                if is_mean {
                    heap.iterations
                } else {
                    heap.most as f64
                }
            };
            let points = || found.iter().map(|f| (f.sigma, value(&f.heaps[k])));
            chart.draw_series(LineSeries::new(points(), colour.stroke_width(4)))?;
            let style = if is_mean {
                colour.filled()
            } else {
                colour.stroke_width(4)
            };
            chart.draw_series(points().map(|at| Circle::new(at, 9, style)))?;
        }
    }
    let inside = chart.plotting_area().strip_coord_spec();
    let note = "dots: mean of the run; rings: the hardest step";
    inside.draw_text(note, &text(28, grey(80)), (850, 30))?;
    Ok(())
}
