//! The friction that the standing foot uses over a step, and where it slips to.

use std::path::{Path, PathBuf};

use plotters::prelude::*;

use crate::common::chart::{Area, Key, PALETTE, chart, headline, picture};
use crate::common::flags::Outcome;
use crate::{Use, linear};

const COLOURS: [RGBColor; 6] = [
    PALETTE[0], PALETTE[5], PALETTE[2], PALETTE[3], PALETTE[6], PALETTE[7],
];

/// `walking.svg`.
pub(crate) fn draw(folder: &Path, curves: &[(f64, Vec<Use>)]) -> Outcome<PathBuf> {
    let each = curves.iter().zip(COLOURS).zip(0..);
    let keys: Vec<(i32, Key)> = each
        .map(|(((friction, _), colour), k)| {
            (
                30 + 290 * k,
                Key::new(format!("friction {friction}"), colour, (50, 10)),
            )
        })
        .collect();
    picture(folder, "walking.svg", 830, |area| {
        let title = "A walker on feet that may slip: its last step";
        let below = headline(area, title, &keys)?;
        let (left, right) = below.split_horizontally(900);
        let used = |of: &Use| (of.t, of.ratio);
        panel(
            &left,
            curves,
            used,
            ["time [s]", "tangential over normal force"],
        )?;
        let slips = curves.iter().map(|(friction, step)| {
            let from = step.first().map_or(0.0, |first| first.foot);
            let moved = step.iter().map(|of| Use {
                foot: 1e3 * (of.foot - from),
                ..*of
            });
            (*friction, moved.collect::<Vec<Use>>())
        });
        let slips: Vec<_> = slips.collect();
        panel(
            &right,
            &slips,
            |of| (of.t, of.foot),
            ["time [s]", "slip of the standing foot [mm]"],
        )
    })
}

/// One curve for each coefficient.
fn panel(
    area: &Area,
    curves: &[(f64, Vec<Use>)],
    of: impl Fn(&Use) -> (f64, f64),
    labels: [&str; 2],
) -> Outcome<()> {
    let range = |part: fn((f64, f64)) -> f64| {
        let all = curves.iter().flat_map(|(_, step)| step);
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = all.fold(ends, |(a, b), x| (a.min(part(of(x))), b.max(part(of(x)))));
        let room = 0.05 * (high - low).max(1e-9);
        low - room..high + room
    };
    let mut chart = chart(
        area,
        linear::axis(labels[0], range(|p| p.0), 5),
        linear::axis(labels[1], range(|p| p.1), 6),
    )?;
    for ((_, step), colour) in curves.iter().zip(COLOURS) {
        chart.draw_series(LineSeries::new(
            step.iter().map(&of),
            colour.stroke_width(4),
        ))?;
    }
    Ok(())
}
