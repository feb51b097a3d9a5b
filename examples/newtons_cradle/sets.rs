//! `cradle_outcomes.svg`: the outcome sets of two impacts.

use std::path::{Path, PathBuf};

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::common::chart::{Area, Key, PALETTE, grey, headline, picture, text};
use crate::common::flags::Outcome;
use crate::linear;
use crate::momenta::BALLS;
use crate::outcomes::Set;
use crate::plane;

const INK: RGBColor = grey(30);
/// Height of a row, and of what is above and below all rows.
const ROW: u32 = 76;
const HEAD: u32 = 44;
const FEET: u32 = 108;
/// Width of the words beside the rows.
const SIDE: u32 = 290;

pub(crate) fn draw(folder: &Path, three: &Set, more: &Set) -> Outcome<PathBuf> {
    let title = "All contacts close at once: which is reflected first decides the outcome";
    let rows = u32::try_from(more.entries.len())? + 1;
    let height = 126 + (HEAD + rows * ROW + FEET).max(800);
    let mut keys = vec![(30, Key::new("an outcome", PALETTE[6], (0, 22)))];
    // The legend of the balls ends at the right edge.
    let mut x = 1468 - 142 * i32::try_from(more.masses.len())?;
    for (i, colour) in BALLS.iter().enumerate().take(more.masses.len()) {
        keys.push((x, Key::new(format!("ball {}", i + 1), *colour, (0, 22))));
        x += 142;
    }
    picture(folder, "cradle_outcomes.svg", height, |area| {
        let below = headline(area, title, &keys)?;
        if more
            .entries
            .iter()
            .any(|e| e.word.is_some() && !e.is_minimal)
        {
            area.draw(&Circle::new((x + 11, 92), 10, INK.stroke_width(4)))?;
            area.draw_text("word not minimal", &text(30, INK), (x + 36, 92))?;
        }
        let centred = Pos::new(HPos::Center, VPos::Center);
        area.draw(&Circle::new((300, 92), 21, INK.stroke_width(3)))?;
        area.draw_text("i", &text(28, INK).pos(centred), (300, 92))?;
        area.draw_text("contact i is reflected", &text(30, INK), (336, 92))?;
        let (left, right) = below.split_horizontally(850);
        let (left, _) = left.split_vertically((height - 126).min(988));
        plane::draw(&left, three)?;
        list(&right, more)
    })
}

/// One row of the list.
struct Row<'a> {
    name: String,
    /// Two in a line.
    laws: Vec<String>,
    velocities: &'a [f64],
    is_filled: bool,
}

/// A row an outcome: the velocities of all balls.
fn list(area: &Area, set: &Set) -> Outcome<()> {
    let before = Row {
        name: "before".to_owned(),
        laws: Vec::new(),
        velocities: &set.before,
        is_filled: true,
    };
    let after = set.entries.iter().map(|entry| {
        let mut names = entry.laws.clone();
        // A law that takes all contacts at once goes by its name.
        let name = match &entry.word {
            Some(_) => entry.word(),
            None => names.remove(0).to_owned(),
        };
        Row {
            name,
            laws: names.chunks(2).map(|pair| pair.join("; ")).collect(),
            velocities: &entry.velocities,
            is_filled: entry.is_minimal || entry.word.is_none(),
        }
    });
    let rows: Vec<Row> = std::iter::once(before).chain(after).collect();
    let (tall, _) = area.split_vertically(HEAD + ROW * u32::try_from(rows.len())? + FEET);
    let left = i32::try_from(SIDE)? + 16;
    tall.draw_text(&set.title(), &text(30, INK), (16, 20))?;
    let values = rows.iter().flat_map(|row| row.velocities);
    let ends = (f64::INFINITY, f64::NEG_INFINITY);
    let (low, high) = values.fold(ends, |(low, high), v| (low.min(*v), high.max(*v)));
    let room = 0.06 * (high - low).max(1e-6);
    let x = linear::axis("velocity [m/s]", low - room..high + room, 6);
    let most = rows.len() as f64;
    let mut y = linear::axis("", 0.0..most, 1);
    y.scale.ticks = Vec::new();
    let ink_text = text(30, INK).font.color(&INK);
    let mut chart = ChartBuilder::on(&tall)
        .margin_top(HEAD)
        .margin_left(16)
        .margin_right(40)
        .margin_bottom(16)
        .x_label_area_size(FEET - 16)
        .y_label_area_size(SIDE)
        .build_cartesian_2d(x.scale, y.scale)?;
    chart
        .configure_mesh()
        .x_desc(x.label)
        .x_label_formatter(&x.format)
        .axis_desc_style(ink_text.clone())
        .label_style(ink_text)
        .axis_style(INK.stroke_width(2))
        .bold_line_style(grey(225).stroke_width(2))
        .light_line_style(TRANSPARENT)
        .draw()?;
    let (_, down) = tall.get_pixel_range();
    for (i, row) in rows.iter().enumerate() {
        // Balls of one velocity lie on each other: those on top are smaller.
        let sizes = (0..).map(|i| 15 - 2 * i);
        let middle = most - i as f64 - 0.5;
        let (_, y) = chart.backend_coord(&(low, middle));
        let y = y - down.start;
        let side = Pos::new(HPos::Right, VPos::Center);
        let lift = 13 * i32::try_from(row.laws.len())?;
        tall.draw_text(&row.name, &text(28, INK).pos(side), (left - 18, y - lift))?;
        let laws = text(23, grey(90)).pos(side);
        for (line, down) in row.laws.iter().zip((32 - lift..).step_by(26)) {
            tall.draw_text(line, &laws, (left - 18, y + down))?;
        }
        for ((v, colour), size) in row.velocities.iter().zip(BALLS).zip(sizes) {
            let style = if row.is_filled {
                colour.filled()
            } else {
                colour.stroke_width(5)
            };
            chart.draw_series([Circle::new((*v, middle), size, style)])?;
        }
        let line = [(low - room, middle - 0.5), (high + room, middle - 0.5)];
        let shade = if i == 0 { 120 } else { 235 };
        chart.draw_series(LineSeries::new(line, grey(shade).stroke_width(3)))?;
    }
    Ok(())
}
