//! The picture: how one end state is distributed, and how far the set of outcomes spreads.

use std::path::{Path, PathBuf};

use plotters::prelude::*;

use crate::common::chart::{Area, Key, PALETTE, chart, headline, picture};
use crate::common::flags::Outcome;
use crate::linear;
use crate::models::Model;
use crate::summary::{Summary, grouped};

pub(crate) fn draw(folder: &Path, model: &Model, summary: &Summary) -> Outcome<PathBuf> {
    let count = summary.rows - summary.failed;
    let ends = summary.points.len() as u64;
    let keys = [
        (
            30,
            Key::new(
                format!("share of {} runs", grouped(count)),
                PALETTE[2],
                (40, 26),
            ),
        ),
        (560, Key::new("mean", PALETTE[0], (40, 5))),
        (
            760,
            Key::new(
                format!("ends of {} runs", grouped(ends)),
                PALETTE[5],
                (0, 12),
            ),
        ),
        (
            1220,
            Key::new("mean and two deviations", PALETTE[6], (40, 5)),
        ),
    ];
    let name = format!("ensemble_{}.svg", model.name);
    picture(folder, &name, 1010, |area| {
        let (left, right) = headline(area, model.title, &keys)?.split_horizontally(900);
        distribution(&left, model, summary)?;
        spread(&right, model, summary)
    })
}

/// A range that is a little longer.
fn wide([low, high]: [f64; 2]) -> std::ops::Range<f64> {
    let edge = 0.04 * (high - low).max(1e-9);
    low - edge..high + edge
}

fn distribution(area: &Area, model: &Model, summary: &Summary) -> Outcome<()> {
    let counts = summary.histogram.counts();
    let all = counts.iter().sum::<u64>().max(1) as f64;
    let share = |count: u64| 100.0 * count as f64 / all;
    let most = counts.iter().copied().max().map_or(1.0, share);
    let x = linear::axis(model.shown[0].label, wide(summary.bounds[0]), 5);
    let y = linear::axis("runs in a bin [%]", 0.0..1.08 * most, 5);
    let mut chart = chart(area, x, y)?;
    let bars = counts.iter().enumerate().filter_map(|(k, &count)| {
        let bin = summary.histogram.bin(k)?;
        let corners = [(bin.start, 0.0), (bin.end, share(count))];
        Some(Rectangle::new(corners, PALETTE[2].filled()))
    });
    chart.draw_series(bars)?;
    let mean = summary.moments.mean()[0];
    let line = [(mean, 0.0), (mean, 1.08 * most)];
    chart.draw_series(LineSeries::new(line, PALETTE[0].stroke_width(5)))?;
    Ok(())
}

fn spread(area: &Area, model: &Model, summary: &Summary) -> Outcome<()> {
    let (deviations, mean) = (summary.deviations(), summary.moments.mean());
    // All dots, and the whole of the ellipse.
    let range = |k: usize| {
        let [low, high] = summary.bounds[k];
        let reach = 2.0 * deviations[k];
        wide([low.min(mean[k] - reach), high.max(mean[k] + reach)])
    };
    let x = linear::axis(model.shown[0].label, range(0), 4);
    let y = linear::axis(model.shown[1].label, range(1), 5);
    let mut chart = chart(area, x, y)?;
    let dot = PALETTE[5].mix(0.5);
    let dots = (summary.points.iter()).map(|&point| Circle::new(point, 4, dot.filled()));
    chart.draw_series(dots)?;
    // Two deviations along each axis of the covariance.
    let axes = summary.moments.covariance().symmetric_eigen();
    let at = |angle: f64| {
        let (sin, cos) = angle.sin_cos();
        let along = [cos, sin];
        let place = |row: usize| {
            let part = |k: usize| {
                let deviation = axes.eigenvalues[k].max(0.0).sqrt();
                2.0 * deviation * along[k] * axes.eigenvectors[(row, k)]
            };
            mean[row] + part(0) + part(1)
        };
        (place(0), place(1))
    };
    let ellipse = (0..=120).map(|k| at(std::f64::consts::TAU * f64::from(k) / 120.0));
    let style = PALETTE[6].stroke_width(5);
    chart.draw_series(LineSeries::new(ellipse, style))?;
    let centre = Circle::new((mean[0], mean[1]), 10, PALETTE[6].filled());
    chart.draw_series([centre])?;
    Ok(())
}
