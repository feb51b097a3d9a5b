//! Speed and place over time, errors over the step, and the slope at which the block begins to
//! slide.

use std::path::{Path, PathBuf};

use plotters::prelude::*;

use crate::common::chart::{Area, Key, PALETTE, chart, grey, headline, picture, text};
use crate::common::flags::Outcome;
use crate::throw::{Errors, Throw};
use crate::{Setup, linear, logarithmic};

const EXACT: RGBColor = grey(190);
const COLOURS: [RGBColor; 4] = [PALETTE[5], PALETTE[6], PALETTE[3], PALETTE[1]];
/// Errors below this are drawn there (m).
const ROUNDING: f64 = 1e-16;
/// Points of a closed form.
const POINTS: u32 = 160;
/// Slopes at which the block is let go.
const SLOPES: u32 = 24;

/// `sliding_block.svg`.
pub(crate) fn draw(
    folder: &Path,
    setup: &Setup,
    throws: &[Throw],
    errors: &[Vec<Errors>],
) -> Outcome<PathBuf> {
    let mut keys = vec![(30, Key::new("closed form", EXACT, (60, 14)))];
    for ((x, throw), colour) in [340, 700, 1060, 1420].into_iter().zip(throws).zip(COLOURS) {
        let label = format!("driver, μ = {}", throw.mu);
        keys.push((x, Key::new(label, colour, (0, 16))));
    }
    let title = format!(
        "A block thrown along a slope of {} rad (tan = {:.4}), steps of {} s",
        setup.slope,
        setup.slope.tan(),
        setup.step
    );
    picture(folder, "sliding_block.svg", 1330, |area| {
        let below = headline(area, &title, &keys)?;
        let (upper, lower) = below.split_vertically(600);
        let (left, right) = upper.split_horizontally(900);
        over_time(&left, setup, throws, 1, "speed along the slope [m/s]")?;
        over_time(&right, setup, throws, 0, "place along the slope [m]")?;
        let (left, right) = lower.split_horizontally(900);
        accuracy(&left, errors)?;
        threshold(&right, setup)
    })
}

/// Place (0) or speed (1) over time.
fn over_time(
    area: &Area,
    setup: &Setup,
    throws: &[Throw],
    which: usize,
    label: &str,
) -> Outcome<()> {
    let time = |k: u32| setup.tf * f64::from(k) / f64::from(POINTS);
    let mut curves = Vec::new();
    for throw in throws {
        let points = (0..=POINTS).map(|k| (time(k), throw.exact(time(k))[which]));
        curves.push(points.collect::<Vec<_>>());
    }
    let values = curves.iter().flatten().map(|(_, y)| *y);
    let (low, high) = values.fold((0.0f64, 1e-9f64), |(a, b), y| (a.min(y), b.max(y)));
    let room = 0.06 * (high - low);
    let mut chart = chart(
        area,
        linear::axis("time [s]", 0.0..setup.tf, 6),
        linear::axis(label, low - room..high + room, 6),
    )?;
    for curve in curves {
        chart.draw_series(LineSeries::new(curve, EXACT.stroke_width(12)))?;
    }
    for (throw, colour) in throws.iter().zip(COLOURS) {
        let run = throw.run(setup.step)?;
        let place = |k: usize| [run.q(k), run.v(k)][which][0];
        let nodes = run.times().iter().enumerate().map(|(k, &t)| (t, place(k)));
        chart.draw_series(nodes.map(|node| Circle::new(node, 6, colour.filled())))?;
    }
    Ok(())
}

/// The largest error of the place over the step.
fn accuracy(area: &Area, errors: &[Vec<Errors>]) -> Outcome<()> {
    let steps = errors.iter().flatten().map(|error| error.step);
    let (short, long) = steps.fold((f64::INFINITY, 0.0f64), |(a, b), h| (a.min(h), b.max(h)));
    let places = || {
        errors
            .iter()
            .flatten()
            .map(|error| error.place.max(ROUNDING))
    };
    let (least, worst) = places().fold((1e-8f64, 1e-6f64), |(a, b), e| (a.min(e), b.max(e)));
    let mut chart = chart(
        area,
        logarithmic::axis("step [s]", 0.7 * short..1.4 * long),
        logarithmic::axis("largest error of the place [m]", 0.3 * least..30.0 * worst),
    )?;
    for order in [1, 2] {
        let line = [short, long].map(|h| (h, 2.0 * worst * (h / long).powi(order)));
        chart.draw_series(LineSeries::new(line, grey(120).stroke_width(3)))?;
    }
    for (errors, colour) in errors.iter().zip(COLOURS) {
        let points = errors.iter().map(|e| (e.step, e.place.max(ROUNDING)));
        chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(4)))?;
        chart.draw_series(points.map(|point| Circle::new(point, 9, colour.filled())))?;
    }
    let plot = chart.plotting_area().strip_coord_spec();
    let words = "grey: orders 1 and 2";
    plot.draw_text(words, &text(28, grey(80)), (24, 30))?;
    Ok(())
}

/// The acceleration from rest over the slope.
fn threshold(area: &Area, setup: &Setup) -> Outcome<()> {
    let largest = setup.mu.iter().fold(0.1f64, |a, mu| a.max(mu.atan()));
    let steepest = (1.6 * largest).min(1.5);
    let at = |k: u32, of: u32| steepest * f64::from(k) / f64::from(of);
    let rest = |mu, slope| Throw {
        slope,
        mu,
        speed: 0.0,
        tf: 0.2,
    };
    let exact = |mu, slope| {
        let rest = rest(mu, slope);
        0.0 - rest.exact(rest.tf)[1] / rest.tf
    };
    let least = setup.mu.iter().fold(f64::INFINITY, |a, mu| a.min(*mu));
    let top = exact(least, steepest);
    let mut chart = chart(
        area,
        linear::axis("slope [rad]", 0.0..steepest, 6),
        linear::axis("acceleration from rest [m/s²]", -0.06 * top..1.1 * top, 6),
    )?;
    for &mu in &setup.mu {
        let line = (0..=POINTS).map(|k| (at(k, POINTS), exact(mu, at(k, POINTS))));
        chart.draw_series(LineSeries::new(line, EXACT.stroke_width(12)))?;
    }
    for (&mu, colour) in setup.mu.iter().zip(COLOURS) {
        let mut dots = Vec::new();
        for k in 0..=SLOPES {
            let rest = rest(mu, at(k, SLOPES));
            let speed = rest.run(setup.step.min(rest.tf))?.state()[2];
            dots.push((rest.slope, 0.0 - speed / rest.tf));
        }
        chart.draw_series(
            dots.into_iter()
                .map(|dot| Circle::new(dot, 7, colour.filled())),
        )?;
    }
    let plot = chart.plotting_area().strip_coord_spec();
    plot.draw_text("stays where tan(slope) ≤ μ", &text(28, grey(80)), (24, 30))?;
    Ok(())
}
