//! The box and the fingers from above, before and after the descent, and the cost along it.

use std::path::{Path, PathBuf};

use plotters::prelude::*;

use crate::common::chart::{Area, Chart, Key, PALETTE, chart, grey, headline, picture};
use crate::common::flags::Outcome;
use crate::rollout::{RADIUS, RAILS, Rollout, Task};
use crate::{linear, logarithmic};

const BOX: RGBColor = PALETTE[5];
const FINGER: RGBColor = PALETTE[6];
const GOAL: RGBColor = PALETTE[3];
/// Half the edge of the box (m).
const HALF: f64 = 0.05;

pub(crate) fn draw(folder: &Path, task: &Task, rollouts: &[Rollout]) -> Outcome<PathBuf> {
    let keys = [
        (30, "box", BOX),
        (250, "fingers", FINGER),
        (480, "goal of its centre", GOAL),
    ];
    let keys = keys.map(|(x, label, colour)| (x, Key::new(label, colour, (60, 8))));
    let title = "Two fingers push a box to a goal, by gradient descent through the contacts";
    picture(folder, "push.svg", 1240, |area| {
        let (left, right) = headline(area, title, &keys)?.split_horizontally(1000);
        let (above, below) = left.split_vertically(570);
        from_above(&above, task, &rollouts[0], "before: x [m]")?;
        from_above(&below, task, &rollouts[rollouts.len() - 1], "after: x [m]")?;
        costs(&right, rollouts)
    })
}

fn from_above(area: &Area, task: &Task, rollout: &Rollout, label: &str) -> Outcome<()> {
    let goal = task.goal;
    // As long along y as along x, so that balls are round.
    let (left, right) = (goal.x.min(0.0) - 0.15, goal.x.max(0.0) + 0.2);
    let high = (0.29 * (right - left)).max(goal.y.abs() + 0.1);
    let mut chart = chart(
        area,
        linear::axis(label, left..right, 6),
        linear::axis("y [m]", -high..high, 4),
    )?;
    let count = rollout.path.len();
    let every = (count / 8).max(1);
    for k in (0..count).filter(|k| k % every == 0).chain([count - 1]) {
        let width = if k + 1 == count { 6 } else { 2 };
        outlines(&mut chart, &rollout.path[k], width)?;
    }
    let centre = rollout.path.iter().map(|p| (p[0], p[1]));
    chart.draw_series(LineSeries::new(centre, grey(90).stroke_width(3)))?;
    chart.draw_series([Cross::new((goal.x, goal.y), 14, GOAL.stroke_width(6))])?;
    Ok(())
}

fn outlines(chart: &mut Chart, [x, y, angle, fingers @ ..]: &[f64; 5], width: u32) -> Outcome<()> {
    let (sin, cos) = angle.sin_cos();
    let corners = [
        (1.0, 1.0),
        (-1.0, 1.0),
        (-1.0, -1.0),
        (1.0, -1.0),
        (1.0, 1.0),
    ];
    let edges = corners.map(|(a, b)| {
        let (a, b) = (a * HALF, b * HALF);
        (x + a * cos - b * sin, y + a * sin + b * cos)
    });
    chart.draw_series(LineSeries::new(edges, BOX.stroke_width(width)))?;
    for (u, v) in fingers.iter().zip(RAILS) {
        let round = (0..=48).map(|k| {
            let (sin, cos) = (f64::from(k) * std::f64::consts::TAU / 48.0).sin_cos();
            (u + RADIUS * cos, v + RADIUS * sin)
        });
        chart.draw_series(LineSeries::new(round, FINGER.stroke_width(width)))?;
    }
    Ok(())
}

fn costs(area: &Area, rollouts: &[Rollout]) -> Outcome<()> {
    let costs = || rollouts.iter().map(|rollout| rollout.cost);
    let most = costs().fold(1e-12, f64::max);
    let least = costs().fold(most, f64::min).max(1e-16);
    let last = (rollouts.len() - 1).max(1) as f64;
    let mut chart = chart(
        area,
        linear::axis("iteration", 0.0..last, 6),
        logarithmic::axis("cost [m²]", 0.5 * least..2.0 * most),
    )?;
    let line = costs()
        .enumerate()
        .map(|(k, cost)| (k as f64, cost.max(1e-16)));
    chart.draw_series(LineSeries::new(line, PALETTE[0].stroke_width(4)))?;
    Ok(())
}
