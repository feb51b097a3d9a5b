//! The descent with the modes of the contacts, the angles, and the phase portrait of the bird.

use std::path::{Path, PathBuf};

use plotters::prelude::*;

use crate::common::chart::{Area, Key, PALETTE, chart, headline, picture};
use crate::common::flags::Outcome;
use crate::toy::Woodpecker;
use crate::{linear, word};
use saltation::{ContactModel, Run};

const STICKS: RGBColor = PALETTE[6];
const SLIPS: RGBColor = PALETTE[1];
const FREE: RGBColor = PALETTE[5];
/// Points of a curve.
const POINTS: u32 = 4000;

/// A state of the run: time, `(q, v)`, and the colour of its mode.
struct Point {
    t: f64,
    x: Vec<f64>,
    colour: RGBColor,
}

/// `woodpecker.svg`.
pub(crate) fn draw(
    folder: &Path,
    model: &ContactModel<Woodpecker>,
    run: &Run,
    slips: &[f64],
) -> Outcome<PathBuf> {
    let points = |from: f64, to: f64| -> Outcome<Vec<Point>> {
        let mut points = Vec::new();
        for k in 0..=POINTS {
            let t = from + (to - from) * f64::from(k) / f64::from(POINTS);
            let word = word(model, run.mode_at(t)?);
            let colour = match (word.contains('s'), word == "ooo") {
                (true, _) => STICKS,
                (_, true) => FREE,
                _ => SLIPS,
            };
            let x = run.state_at(t)?.as_slice().to_vec();
            points.push(Point { t, x, colour });
        }
        Ok(points)
    };
    let keys = [
        (30, Key::new("the sleeve sticks", STICKS, (60, 10))),
        (460, Key::new("it slips", SLIPS, (60, 10))),
        (740, Key::new("it is free", FREE, (60, 10))),
    ];
    let early = points(0.0, slips[2])?;
    let late = points(slips[slips.len() - 2], slips[slips.len() - 1])?;
    picture(folder, "woodpecker.svg", 1330, |area| {
        let title = "The woodpecker toy: from a start to its periodic motion";
        let below = headline(area, title, &keys)?;
        let (upper, lower) = below.split_vertically(600);
        let (left, right) = upper.split_horizontally(900);
        curve(
            &left,
            &early,
            &Axes::time("height of the sleeve [mm]", 0, 1e3),
        )?;
        curve(
            &right,
            &early,
            &Axes::time("angle of the bird [rad]", 2, 1.0),
        )?;
        let (left, right) = lower.split_horizontally(900);
        curve(
            &left,
            &early,
            &Axes::portrait("rate of the bird [rad/s], from the start"),
        )?;
        curve(
            &right,
            &late,
            &Axes::portrait("rate of the bird [rad/s], one period"),
        )
    })
}

/// What is drawn over what: entries of the state, and their factors.
struct Axes {
    labels: [&'static str; 2],
    /// None: time.
    across: Option<usize>,
    up: usize,
    factor: f64,
}

impl Axes {
    fn time(label: &'static str, up: usize, factor: f64) -> Self {
        Self {
            labels: ["time [s]", label],
            across: None,
            up,
            factor,
        }
    }

    fn portrait(label: &'static str) -> Self {
        Self {
            labels: ["angle of the bird [rad]", label],
            across: Some(2),
            up: 5,
            factor: 1.0,
        }
    }
}

/// A curve in the colours of its modes, broken where the velocities jump.
fn curve(area: &Area, points: &[Point], axes: &Axes) -> Outcome<()> {
    let place = |point: &Point| {
        let across = axes.across.map_or(point.t, |entry| point.x[entry]);
        (across, axes.factor * point.x[axes.up])
    };
    let range = |of: fn((f64, f64)) -> f64| {
        let values = points.iter().map(|point| of(place(point)));
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values.fold(ends, |(a, b), x| (a.min(x), b.max(x)));
        let room = 0.05 * (high - low);
        low - room..high + room
    };
    let mut chart = chart(
        area,
        linear::axis(axes.labels[0], range(|p| p.0), 5),
        linear::axis(axes.labels[1], range(|p| p.1), 6),
    )?;
    let mut from = 0;
    for to in 1..points.len() {
        if points[to].colour == points[from].colour && to + 1 < points.len() {
            continue;
        }
        let line = points[from..=to].iter().map(place);
        chart.draw_series(LineSeries::new(line, points[from].colour.stroke_width(5)))?;
        from = to;
    }
    Ok(())
}
