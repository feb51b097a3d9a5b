//! The outcomes of three balls in the plane of their two contact speeds. Reflections keep the
//! energy: they lead along chords of an ellipse, each in the direction of its contact, until both
//! speeds part.

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::arrow::arrow;
use crate::common::chart::{Area, Chart, PALETTE, chart, grey, text};
use crate::common::flags::Outcome;
use crate::linear;
use crate::outcomes::{Entry, Set};

/// Colours of the words.
const WORDS: [RGBColor; 4] = [PALETTE[7], PALETTE[0], PALETTE[2], PALETTE[6]];
const INK: RGBColor = grey(30);
const ELLIPSE: RGBColor = grey(170);
/// Where nothing approaches.
const FREE: RGBColor = RGBColor(226, 242, 236);

type Speeds = [f64; 2];

pub(crate) fn draw(area: &Area, set: &Set) -> Outcome<()> {
    let start = speeds(&set.before);
    let ellipse = ellipse(set, start);
    let most = |k: usize| 1.12 * ellipse.iter().map(|u| u[k].abs()).fold(0.0, f64::max);
    let (wide, high) = (most(0), most(1));
    // To the right there is room for the names of laws.
    let right = 1.45 * wide;
    let x = linear::axis("contact 1: v₂ − v₁ [m/s]", -wide..right, 6);
    let y = linear::axis("contact 2: v₃ − v₂ [m/s]", -high..high, 6);
    let title = set.title();
    area.draw_text(&title, &text(30, INK), (192, 20))?;
    let area = area.margin(44, 0, 0, 0);
    let mut chart = chart(&area, x, y)?;
    let free = [(0.0, 0.0), (right, high)];
    chart.draw_series([Rectangle::new(free, FREE.filled())])?;
    let line = ellipse.iter().map(|u| (u[0], u[1]));
    chart.draw_series(LineSeries::new(line, ELLIPSE.stroke_width(3)))?;
    note(
        &area,
        &chart,
        ([0.0, high], "no contact approaches"),
        (14, 24),
    )?;
    let words = set.entries.iter().filter(|entry| entry.word.is_some());
    for (entry, colour) in words.zip(WORDS) {
        path(&area, &chart, set, (entry, start), colour)?;
    }
    for entry in &set.entries {
        end(&area, &mut chart, entry)?;
    }
    chart.draw_series([Circle::new((start[0], start[1]), 11, INK.filled())])?;
    note(&area, &chart, (start, "before"), (24, -10))
}

fn speeds(velocities: &[f64]) -> Speeds {
    [velocities[1] - velocities[0], velocities[2] - velocities[1]]
}

/// All contact speeds of the energy of `start`: `L (cos, sin)` times a radius, with the Delassus
/// matrix `G = L Lᵀ`.
fn ellipse(set: &Set, start: Speeds) -> Vec<Speeds> {
    const CELLS: u32 = 360;
    let g = &set.delassus;
    let first = g[(0, 0)].sqrt();
    let mixed = g[(1, 0)] / first;
    let second = (g[(1, 1)] - mixed * mixed).sqrt();
    let unit = [
        start[0] / first,
        (start[1] - mixed * start[0] / first) / second,
    ];
    let radius = unit[0].hypot(unit[1]);
    let point = |i: u32| {
        let (sin, cos) = (std::f64::consts::TAU * f64::from(i) / f64::from(CELLS)).sin_cos();
        [radius * first * cos, radius * (mixed * cos + second * sin)]
    };
    (0..=CELLS).map(point).collect()
}

/// The reflections of a word, each an arrow with the number of its contact.
fn path(
    area: &Area,
    chart: &Chart,
    set: &Set,
    (entry, start): (&Entry, Speeds),
    colour: RGBColor,
) -> Outcome<()> {
    let g = &set.delassus;
    let mut u = start;
    for &contact in entry.word.iter().flatten() {
        let push = -2.0 * u[contact] / g[(contact, contact)];
        let next = [0, 1].map(|k| u[k] + push * g[(k, contact)]);
        let ends = [u, next].map(|u| place(area, chart, u));
        arrow(area, ends, (6, 30.0), colour)?;
        // The middle is where the speed of the contact is zero: too many lines meet there.
        let beside = [0, 1].map(|k| u[k] + 0.3 * (next[k] - u[k]));
        let (x, y) = place(area, chart, beside);
        let centred = Pos::new(HPos::Center, VPos::Center);
        area.draw(&Circle::new((x, y), 21, WHITE.filled()))?;
        area.draw(&Circle::new((x, y), 21, colour.stroke_width(3)))?;
        let number = (contact + 1).to_string();
        area.draw_text(&number, &text(28, colour).pos(centred), (x, y))?;
        u = next;
    }
    Ok(())
}

/// An outcome and the laws that choose it.
fn end(area: &Area, chart: &mut Chart, entry: &Entry) -> Outcome<()> {
    let u = speeds(&entry.velocities);
    chart.draw_series([Circle::new((u[0], u[1]), 11, PALETTE[6].filled())])?;
    let mut lines = Vec::new();
    if entry.word.is_some() {
        lines.push(entry.word());
    }
    lines.extend(entry.laws.iter().map(ToString::to_string));
    // Away from the ellipse and the arrows.
    let (right, first) = match lines.len() {
        _ if entry.word.is_none() => (-112, 30),
        count if u[1] > 0.9 * u[0] => (22, 24 - 36 * i32::try_from(count)?),
        _ => (22, -12),
    };
    for (line, down) in lines.iter().zip((first..).step_by(36)) {
        note(area, chart, (u, line), (right, down))?;
    }
    Ok(())
}

/// Text beside a point.
fn note(
    area: &Area,
    chart: &Chart,
    (at, words): (Speeds, &str),
    (right, down): (i32, i32),
) -> Outcome<()> {
    let (x, y) = place(area, chart, at);
    let style = text(28, INK).pos(Pos::new(HPos::Left, VPos::Center));
    Ok(area.draw_text(words, &style, (x + right, y + down))?)
}

/// Where contact speeds are in `area`.
fn place(area: &Area, chart: &Chart, u: Speeds) -> (i32, i32) {
    let (x, y) = chart.backend_coord(&(u[0], u[1]));
    let (across, down) = area.get_pixel_range();
    (x - across.start, y - down.start)
}
