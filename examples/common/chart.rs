//! The look of all pictures: SVG, 900 px wide, drawn on a grid of half pixels.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use plotters::coord::Shift;
use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use super::flags::Outcome;

/// Width of a picture in units of drawing; two units are one pixel of the finished picture.
const WIDTH: u32 = 1800;

/// The font size that plotters is asked for, over the size of the text in the picture.
const FONT: f64 = 1.24;

/// Colours that people with any kind of colour vision can tell apart (Okabe and Ito): black,
/// orange, sky blue, green, yellow, blue, vermilion, purple.
pub(crate) const PALETTE: [RGBColor; 8] = [
    RGBColor(0, 0, 0),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 158, 115),
    RGBColor(240, 228, 66),
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(204, 121, 167),
];

/// Grey of the given lightness, 0 black to 255 white.
pub(crate) const fn grey(lightness: u8) -> RGBColor {
    RGBColor(lightness, lightness, lightness)
}

/// Where one draws.
pub(crate) type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;

/// Draws `folder/name`, `height` units high, and returns where it is.
pub(crate) fn picture(
    folder: &Path,
    name: &str,
    height: u32,
    draw: impl FnOnce(&Area) -> Outcome<()>,
) -> Outcome<PathBuf> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (WIDTH, height)).into_drawing_area();
        area.fill(&WHITE)?;
        draw(&area)?;
        area.present()?;
    }
    let drawn = format!("width=\"{WIDTH}\" height=\"{height}\"");
    let shown = format!("width=\"{}\" height=\"{}\"", WIDTH / 2, height / 2);
    let svg = svg.replacen(&drawn, &shown, 1);
    let path = folder.join(name);
    fs::create_dir_all(folder)
        .and_then(|()| fs::write(&path, svg))
        .map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    Ok(path)
}

/// Text of the given height in units, anchored at the middle of its left side.
pub(crate) fn text(height: u32, colour: RGBColor) -> TextStyle<'static> {
    let left = Pos::new(HPos::Left, VPos::Center);
    ("sans-serif", f64::from(height) * FONT)
        .into_font()
        .color(&colour)
        .pos(left)
}

/// One entry of a legend: a bar of `length` by `thickness`, a dot when `length` is 0, a ring when it
/// is negative.
pub(crate) struct Key {
    /// What it stands for.
    pub(crate) label: String,
    /// Its colour.
    pub(crate) colour: RGBColor,
    /// Length and thickness.
    pub(crate) size: (i32, i32),
}

impl Key {
    /// A line, a dot or a ring.
    pub(crate) fn new(label: impl Into<String>, colour: RGBColor, size: (i32, i32)) -> Self {
        Self {
            label: label.into(),
            colour,
            size,
        }
    }

    /// Draws it with its label, from `(x, y)` to the right.
    pub(crate) fn draw(&self, area: &Area, (x, y): (i32, i32)) -> Outcome<()> {
        let (length, thickness) = self.size;
        if length <= 0 {
            let style = if length == 0 {
                self.colour.filled()
            } else {
                self.colour.stroke_width(4)
            };
            area.draw(&Circle::new((x + thickness / 2, y), thickness / 2, style))?;
        } else {
            let corners = [
                (x, y - thickness / 2),
                (x + length, y + (thickness + 1) / 2),
            ];
            area.draw(&Rectangle::new(corners, self.colour.filled()))?;
        }
        let gap = length.max(thickness) + 14;
        area.draw_text(&self.label, &text(30, grey(30)), (x + gap, y))?;
        Ok(())
    }
}

/// Writes a title and, beneath it, a legend with entries at the given abscissae; returns the area
/// below.
pub(crate) fn headline<'a>(area: &Area<'a>, title: &str, keys: &[(i32, Key)]) -> Outcome<Area<'a>> {
    area.draw_text(title, &text(36, PALETTE[0]), (30, 36))?;
    for (x, key) in keys {
        key.draw(area, (*x, 92))?;
    }
    Ok(area.split_vertically(126).1)
}

/// One axis of a chart.
pub(crate) struct Axis<'a> {
    /// What is drawn along it, with the unit.
    pub(crate) label: &'a str,
    /// Where it lies.
    pub(crate) scale: Scale,
    /// How a tick is written.
    pub(crate) format: Box<dyn Fn(&f64) -> String>,
}

/// The numbers along an axis.
pub(crate) struct Scale {
    /// First and last number.
    pub(crate) range: Range<f64>,
    /// What is drawn to scale: the number itself, or its logarithm.
    pub(crate) measure: fn(f64) -> f64,
    /// The numbers that are written out.
    pub(crate) ticks: Vec<f64>,
}

/// The nearest whole number.
#[expect(
    clippy::cast_possible_truncation,
    reason = "rounded, and saturated where there is none"
)]
pub(crate) fn rounded(value: f64) -> i32 {
    value.round() as i32
}

impl Ranged for Scale {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let [start, end, value] = [self.range.start, self.range.end, *value].map(self.measure);
        let length = end - start;
        let share = if length > 0.0 {
            (value - start) / length
        } else {
            0.5
        };
        first + rounded(f64::from(last - first) * share)
    }

    fn key_points<Hint: KeyPointHint>(&self, hint: Hint) -> Vec<f64> {
        if hint.weight().allow_light_points() {
            return Vec::new();
        }
        self.ticks.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

/// A chart of an area.
pub(crate) type Chart<'a> = ChartContext<'a, SVGBackend<'a>, Cartesian2d<Scale, Scale>>;

/// Fills `area` with a chart: axes, ticks and a faint grid.
pub(crate) fn chart<'a>(area: &Area<'a>, x: Axis, y: Axis) -> Outcome<Chart<'a>> {
    let ink = grey(30);
    let label = ("sans-serif", 30.0 * FONT).into_font().color(&ink);
    let mut chart = ChartBuilder::on(area)
        .margin(16)
        .margin_right(40)
        .x_label_area_size(92)
        .y_label_area_size(176)
        .build_cartesian_2d(x.scale, y.scale)?;
    chart
        .configure_mesh()
        .x_desc(x.label)
        .y_desc(y.label)
        .x_label_formatter(&x.format)
        .y_label_formatter(&y.format)
        .axis_desc_style(label.clone())
        .label_style(label)
        .axis_style(ink.stroke_width(2))
        .bold_line_style(grey(225).stroke_width(2))
        .light_line_style(TRANSPARENT)
        .draw()?;
    Ok(chart)
}
