//! `one_model_<name>.svg`: a velocity over time, by all drivers.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use plotters::prelude::*;
use saltation::mechanics::{MechanicalSystem, UnilateralConstraints};

use crate::common::chart::{Key, PALETTE, chart, grey, headline, picture};
use crate::common::flags::Outcome;
use crate::linear;
use crate::study::Study;

/// Places of colours in the palette, and widths: those that are narrow lie upon those that are wide.
const STYLES: [(usize, u32); 8] = [
    (1, 18),
    (5, 10),
    (6, 6),
    (0, 2),
    (3, 14),
    (7, 10),
    (0, 4),
    (2, 4),
];
const SET: RGBColor = grey(205);
/// Ranges below this are one outcome.
const ONE: f64 = 1e-6;

/// Draws the curves, and the range of the outcomes of an impact.
pub(crate) fn draw<S: MechanicalSystem + UnilateralConstraints>(
    folder: &Path,
    study: &Study<S>,
    outcomes: Option<(f64, [f64; 2])>,
) -> Outcome<PathBuf> {
    let drawn = study.rows.iter().filter(|row| row.curve.len() > 1);
    let mut rows: Vec<_> = drawn.zip(STYLES).collect();
    let mut keys: Vec<Key> = Vec::new();
    for (row, (colour, width)) in &rows {
        let size = (60, width.cast_signed());
        keys.push(Key::new(&row.name, PALETTE[*colour], size));
    }
    keys.extend(outcomes.map(|(_, [least, most])| match most - least {
        ONE.. => Key::new("all outcomes of an impact", SET, (60, 34)),
        _ => Key::new("the only outcome of an impact", PALETTE[0], (-1, 26)),
    }));
    rows.sort_by_key(|(_, (_, width))| Reverse(*width));
    let points = study.rows.iter().flat_map(|row| &row.curve);
    let values = points.map(|point| point.1);
    let values = values.chain(outcomes.iter().flat_map(|(_, range)| *range));
    let (low, high) = values.fold((0.0f64, 1e-9f64), |(a, b), v| (a.min(v), b.max(v)));
    let room = 0.06 * (high - low);
    let file = format!("one_model_{}.svg", study.name);
    picture(folder, &file, 1000, |area| {
        let mut below = headline(area, study.title, &[])?;
        for (row, keys) in (0..).zip(keys.chunks(3)) {
            for (column, key) in (0..).zip(keys) {
                key.draw(area, (30 + 590 * column, 92 + 50 * row))?;
            }
            below = area.split_vertically(126 + 50 * row).1;
        }
        let time = linear::axis("time [s]", 0.0..1.0001 * study.tf, 8);
        let value = linear::axis(study.drawn(), low - room..high + room, 8);
        let mut chart = chart(&below, time, value)?;
        if let Some((t, [least, most])) = outcomes.filter(|(_, [a, b])| b - a > ONE) {
            let corners = [(t, least), (t + 0.1 * study.tf, most)];
            chart.draw_series([Rectangle::new(corners, SET.filled())])?;
        }
        for (row, (colour, width)) in rows {
            let style = PALETTE[colour].stroke_width(width);
            chart.draw_series(LineSeries::new(row.curve.iter().copied(), style))?;
        }
        if let Some((t, [one, _])) = outcomes.filter(|(_, [a, b])| b - a <= ONE) {
            chart.draw_series([Circle::new((t, one), 13, PALETTE[0].stroke_width(4))])?;
        }
        Ok(())
    })
}
