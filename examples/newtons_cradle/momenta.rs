//! `newtons_cradle.svg`: the momentum of each ball over time, a panel a law and a row of masses.

use std::path::{Path, PathBuf};

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::common::chart::{Area, Key, PALETTE, grey, headline, picture, text};
use crate::common::flags::Outcome;
use crate::linear;
use crate::swing::Swing;

/// Colours of the balls.
pub(crate) const BALLS: [RGBColor; 7] = [
    PALETTE[5], PALETTE[6], PALETTE[3], PALETTE[1], PALETTE[7], PALETTE[2], PALETTE[0],
];
const IMPACT: RGBColor = grey(200);

/// Height of a panel with its caption, and of what only the lowest have.
const PANEL: u32 = 292;
const FEET: u32 = 92;
/// Width of what only the left panels have.
const SIDE: u32 = 150;

pub(crate) fn draw(folder: &Path, swings: &[[Swing; 2]]) -> Outcome<PathBuf> {
    let title =
        "Newton's cradle, ball 1 let go: the law of impact decides what becomes of its momentum";
    let balls = swings[0][0].masses.len();
    let step = 1400 / i32::try_from(balls)?;
    let step = step.min(230);
    let mut keys = Vec::new();
    let mut x = 30;
    for (i, colour) in BALLS.iter().enumerate().take(balls) {
        let key = Key::new(format!("ball {}", i + 1), *colour, (60, width(i, balls)));
        keys.push((x, key));
        x += step;
    }
    keys.push((x, Key::new("impact", IMPACT, (60, 4))));
    let rows = u32::try_from(swings.len())?;
    let height = 126 + rows * PANEL + FEET;
    let most = swings.iter().flatten().flat_map(|swing| &swing.pieces);
    let most = most.flatten().flat_map(|(_, momenta)| momenta);
    let most = 1.12 * most.fold(0.0, |most: f64, p| most.max(p.abs()));
    picture(folder, "newtons_cradle.svg", height, |area| {
        let mut below = headline(area, title, &keys)?;
        let turned = ("sans-serif", 37.2)
            .into_font()
            .transform(FontTransform::Rotate270);
        let turned = turned
            .color(&grey(30))
            .pos(Pos::new(HPos::Center, VPos::Center));
        area.draw_text(
            "momentum [kg m/s]",
            &turned,
            (36, 126 + i32::try_from(rows * PANEL / 2)?),
        )?;
        for (row, pair) in swings.iter().enumerate() {
            let is_last = row + 1 == swings.len();
            let tall = PANEL + if is_last { FEET } else { 0 };
            let (line, rest) = below.split_vertically(tall);
            let (left, right) = line.split_horizontally(900 + SIDE / 2);
            for (area, swing, is_left) in [(left, &pair[0], true), (right, &pair[1], false)] {
                panel(&area, swing, most, (is_left, is_last))?;
            }
            below = rest;
        }
        Ok(())
    })
}

/// Balls that move together lie on each other: those on top are thinner.
fn width(ball: usize, balls: usize) -> i32 {
    let share = ball as f64 / (balls.max(2) - 1) as f64;
    crate::common::chart::rounded(13.0 - 8.0 * share)
}

fn panel(area: &Area, swing: &Swing, most: f64, (left, last): (bool, bool)) -> Outcome<()> {
    let masses: Vec<String> = swing.masses.iter().map(f64::to_string).collect();
    let what = if masses.len() > 4 { "" } else { "masses " };
    let caption = format!("{}: {what}{} kg", swing.law, masses.join(", "));
    let start = if left { 16 + i32::try_from(SIDE)? } else { 16 };
    area.draw_text(&caption, &text(30, grey(30)), (start, 24))?;
    let area = area.margin(46, 0, 0, 0);
    let x = linear::axis("time [s]", 0.0..swing.tf, 5);
    let y = linear::axis("", -most..most, 3);
    let ink = grey(30);
    let style = text(30, ink);
    let label = style.font.clone().color(&ink);
    let mut chart = ChartBuilder::on(&area)
        .margin_left(16)
        .margin_right(30)
        .margin_bottom(16)
        .x_label_area_size(if last { FEET } else { 0 })
        .y_label_area_size(if left { SIDE } else { 0 })
        .build_cartesian_2d(x.scale, y.scale)?;
    let mut mesh = chart.configure_mesh();
    mesh.x_label_formatter(&x.format)
        .y_label_formatter(&y.format)
        .axis_desc_style(label.clone())
        .label_style(label)
        .axis_style(ink.stroke_width(2))
        .bold_line_style(grey(225).stroke_width(2))
        .light_line_style(TRANSPARENT);
    if last {
        mesh.x_desc(x.label);
    }
    mesh.draw()?;
    for impact in &swing.impacts {
        let line = [(impact.t, -most), (impact.t, most)];
        chart.draw_series(LineSeries::new(line, IMPACT.stroke_width(4)))?;
    }
    let balls = swing.masses.len();
    for (i, colour) in BALLS.iter().enumerate().take(balls) {
        let stroke = colour.stroke_width(u32::try_from(width(i, balls))?);
        for piece in &swing.pieces {
            let line = piece.iter().map(|(t, momenta)| (*t, momenta[i]));
            chart.draw_series(LineSeries::new(line, stroke))?;
        }
    }
    if swing.trouble.is_some() {
        let inside = chart.plotting_area().strip_coord_spec();
        let (wide, _) = inside.dim_in_pixel();
        let style = text(30, grey(30)).pos(Pos::new(HPos::Right, VPos::Top));
        inside.draw_text("ended early", &style, (i32::try_from(wide)? - 14, 14))?;
    }
    Ok(())
}
