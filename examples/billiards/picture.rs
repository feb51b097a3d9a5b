//! `billiards.svg`: the curves, and beneath them one shot.

use std::f64::consts::{FRAC_PI_2, PI};
use std::ops::Range;
use std::path::{Path, PathBuf};

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::arrow::arrow;
use crate::common::chart::{
    Area, Axis, Chart, Key, PALETTE, Scale, chart, grey, headline, picture, rounded, text,
};
use crate::common::flags::Outcome;
use crate::curve::Curve;
use crate::linear;
use crate::table_top::{BALLS, Plane, Shot};

/// Colours of the curves, in the order of the sets.
const CURVES: [RGBColor; 3] = [PALETTE[5], PALETTE[3], PALETTE[6]];
/// Colours of balls a, b, c and their arrows.
const INK: [RGBColor; 3] = [PALETTE[5], PALETTE[6], PALETTE[0]];
const FILL: [RGBColor; 3] = [
    RGBColor(209, 228, 242),
    RGBColor(247, 221, 206),
    RGBColor(232, 232, 232),
];
/// Height of the charts and of the whole picture.
const CHARTS: u32 = 726;
const HEIGHT: u32 = 1420;

pub(crate) fn draw(folder: &Path, curves: &[Curve; 3], shot: &Shot) -> Outcome<PathBuf> {
    let title = "One ball hits two at one instant: how much it matters which of them is hit first";
    let names = [
        "radius of c: 2.15 (range of the paper)",
        "2.864 (least angle π/6 of the paper)",
        "1 (equal balls)",
    ];
    let places = [30, 720, 1380];
    let keys: Vec<(i32, Key)> = (0..3)
        .map(|i| (places[i], Key::new(names[i], CURVES[i], (60, 6))))
        .collect();
    picture(folder, "billiards.svg", HEIGHT, |area| {
        let below = headline(area, title, &keys)?;
        let (charts, scene) = below.split_vertically(CHARTS);
        let (left, right) = charts.split_horizontally(900);
        let [range, least, equal] = curves;
        panel(
            &left,
            0.5..PI + 0.08,
            &[(range, CURVES[0]), (least, CURVES[1])],
        )?;
        panel(&right, 0.5..PI + 0.08, &[(equal, CURVES[2])])?;
        let centred = text(30, grey(30)).pos(Pos::new(HPos::Center, VPos::Center));
        left.draw_text("θ = π/2: one outcome,", &centred, (560, 140))?;
        left.draw_text("whatever the radii", &centred, (560, 178))?;
        table_top(&scene, shot)
    })
}

/// The angle, with ticks at multiples of π/6.
fn angles(range: Range<f64>) -> Axis<'static> {
    const NAMES: [&str; 7] = ["0", "π/6", "π/3", "π/2", "2π/3", "5π/6", "π"];
    let ticks = (1..=6).map(|i| f64::from(i) * PI / 6.0);
    Axis {
        label: "angle θ between a and b as seen from c [rad]",
        scale: Scale {
            range,
            measure: |value| value,
            ticks: ticks.collect(),
        },
        format: Box::new(|tick| {
            let name = usize::try_from(rounded(tick * 6.0 / PI)).ok();
            let name = name.and_then(|i| NAMES.get(i)).copied();
            name.unwrap_or_default().to_owned()
        }),
    }
}

fn panel(area: &Area, range: Range<f64>, curves: &[(&Curve, RGBColor)]) -> Outcome<()> {
    let heights = || curves.iter().flat_map(|(curve, _)| &curve.points);
    let most = heights().map(|point| point.1).fold(0.0, f64::max);
    let y = linear::axis("indeterminacy ξ [%]", -0.02 * most..1.1 * most, 6);
    let mut chart = chart(area, angles(range), y)?;
    for (curve, colour) in curves {
        let line = LineSeries::new(curve.points.iter().copied(), colour.stroke_width(6));
        chart.draw_series(line)?;
        if let Some(kink) = curve.third_reflection()? {
            let (place, height) = curve.second_hump()?;
            mark(&mut chart, (place, height), *colour)?;
            let (x, y) = chart.backend_coord(&(kink, height));
            let lines = ["kink: from", &format!("θ = {kink:.4} on"), "three hits"];
            for (line, down) in lines.iter().zip([-30, 8, 46]) {
                area_text(area, line, grey(30), (x + 20, y + down))?;
            }
        }
    }
    mark(&mut chart, (FRAC_PI_2, 0.0), PALETTE[0])?;
    Ok(())
}

fn mark(chart: &mut Chart, at: (f64, f64), colour: RGBColor) -> Outcome<()> {
    chart.draw_series([Circle::new(at, 10, colour.filled())])?;
    Ok(())
}

/// A place in the whole picture as one in `area`.
fn local(area: &Area, (x, y): (i32, i32)) -> (i32, i32) {
    let (across, down) = area.get_pixel_range();
    (x - across.start, y - down.start)
}

fn area_text(area: &Area, words: &str, colour: RGBColor, at: (i32, i32)) -> Outcome<()> {
    Ok(area.draw_text(words, &text(30, colour), local(area, at))?)
}

/// The shot before, and each outcome.
fn table_top(area: &Area, shot: &Shot) -> Outcome<()> {
    let scenes = 1 + shot.after.len();
    let before = format!("before, θ = {:.3} rad", shot.theta);
    let before = (before, &shot.before);
    let after = shot.after.iter();
    let after = after.map(|after| (after.in_words(), &after.velocities));
    let drawn = std::iter::once(before).chain(after);
    let view = View::of(shot, area.dim_in_pixel(), scenes);
    for (part, (name, velocities)) in area.split_evenly((1, scenes)).iter().zip(drawn) {
        scene(part, &view, shot, (&name, velocities))?;
    }
    Ok(())
}

/// From the plane to the picture.
struct View {
    /// Units of drawing per length, and per speed.
    scale: f64,
    speed: f64,
    /// Where ball c is.
    origin: (f64, f64),
}

impl View {
    /// Chosen so that all balls and arrows of all scenes fit.
    fn of(shot: &Shot, (width, height): (u32, u32), scenes: usize) -> Self {
        let (width, height) = (
            f64::from(width) / scenes as f64 - 60.0,
            f64::from(height) - 130.0,
        );
        let balls = || shot.centres.iter().zip(&shot.radii);
        let speed = 2.2
            * shot
                .radii
                .iter()
                .copied()
                .fold(f64::INFINITY, f64::min)
                .max(0.8);
        let motions = shot.after.iter().map(|after| &after.velocities);
        let ends = motions.chain([&shot.before]).flat_map(|velocities| {
            let ends = shot.centres.iter().zip(velocities);
            ends.map(|(c, v)| ([c[0] + speed * v[0], c[1] + speed * v[1]], 0.3))
        });
        let all = balls().map(|(c, r)| (*c, *r)).chain(ends);
        let (mut low, mut high) = ([f64::INFINITY; 2], [f64::NEG_INFINITY; 2]);
        for (place, room) in all {
            for k in 0..2 {
                low[k] = low[k].min(place[k] - room);
                high[k] = high[k].max(place[k] + room);
            }
        }
        let scale = (width / (high[0] - low[0])).min(height / (high[1] - low[1]));
        let middle = [0, 1].map(|k| 0.5 * (low[k] + high[k]));
        Self {
            scale,
            speed,
            origin: (
                30.0 + 0.5 * width - scale * middle[0],
                100.0 + 0.5 * height + scale * middle[1],
            ),
        }
    }

    fn place(&self, [x, y]: Plane) -> (i32, i32) {
        (
            rounded(self.origin.0 + self.scale * x),
            rounded(self.origin.1 - self.scale * y),
        )
    }
}

fn scene(area: &Area, view: &View, shot: &Shot, (name, v): (&str, &[Plane; 3])) -> Outcome<()> {
    for i in 0..3 {
        let (centre, radius) = (view.place(shot.centres[i]), view.scale * shot.radii[i]);
        area.draw(&Circle::new(centre, rounded(radius), FILL[i].filled()))?;
        area.draw(&Circle::new(
            centre,
            rounded(radius),
            INK[i].stroke_width(3),
        ))?;
    }
    for i in 0..3 {
        let (centre, speed) = (shot.centres[i], v[i][0].hypot(v[i][1]));
        // The name on the side that the arrow does not go to.
        let back = if speed > 0.05 { speed } else { 1.0 };
        let away = if speed > 0.05 { v[i] } else { [1.0, 0.0] };
        let beside = [0, 1].map(|k| centre[k] - 0.5 * shot.radii[i] * away[k] / back);
        let middle = Pos::new(HPos::Center, VPos::Center);
        let style = text(32, INK[i]).pos(middle);
        area.draw_text(BALLS[i], &style, view.place(beside))?;
        let tip = [0, 1].map(|k| centre[k] + view.speed * v[i][k]);
        let ends = [view.place(centre), view.place(tip)];
        area.draw(&Circle::new(ends[0], 7, INK[i].filled()))?;
        arrow(area, ends, (7, 28.0), INK[i])?;
    }
    area.draw_text(name, &text(32, grey(30)), (30, 40))?;
    Ok(())
}
