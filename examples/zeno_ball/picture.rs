//! Motion and times between impacts of each body.

use std::path::{Path, PathBuf};

use plotters::prelude::*;

use crate::common::chart::{Area, Key, PALETTE, chart, grey, headline, picture, text};
use crate::common::flags::Outcome;
use crate::study::Study;
use crate::{linear, logarithmic};

const MOTION: RGBColor = PALETTE[5];
const FLIGHT: RGBColor = PALETTE[5];
const LAW: RGBColor = PALETTE[1];
const LIMIT: RGBColor = PALETTE[6];

/// `zeno_ball.svg`: a column a body.
pub(crate) fn draw(folder: &Path, studies: &[Study; 2]) -> Outcome<PathBuf> {
    picture(folder, "zeno_ball.svg", 1350, |area| {
        let keys = [
            (30, Key::new("policy Absorb", MOTION, (60, 6))),
            (
                360,
                Key::new("t*: policies Error and StopAt end here", LIMIT, (60, 6)),
            ),
            (1080, Key::new("ratio for small motion", LAW, (60, 6))),
        ];
        let title = "Impacts that accumulate: infinitely many in finite time";
        let below = headline(area, title, &keys)?;
        let (left, right) = below.split_horizontally(900);
        for (area, study) in [left, right].iter().zip(studies) {
            let (above, below) = area.split_vertically(612);
            motion(&above, study)?;
            flights(&below, study)?;
        }
        Ok(())
    })
}

/// The drawn coordinate over time.
fn motion(area: &Area, study: &Study) -> Outcome<()> {
    let end = study.curve.last().map_or(1.0, |(t, _)| *t);
    let (_, name, unit) = study.drawn;
    let values = study.curve.iter().map(|(_, y)| *y);
    let (low, high) = values.fold((0.0f64, 0.0f64), |(a, b), y| (a.min(y), b.max(y)));
    let room = 0.06 * (high - low);
    let y = low - room..high + 4.0 * room;
    let label = format!("{name} [{unit}]");
    let mut chart = chart(
        area,
        linear::axis("time [s]", 0.0..end, 6),
        linear::axis(&label, y.clone(), 6),
    )?;
    if let Some(t) = study.absorbed {
        let line = [(t, y.start), (t, y.end)];
        chart.draw_series(LineSeries::new(line, LIMIT.stroke_width(4)))?;
    }
    chart.draw_series(LineSeries::new(
        study.curve.iter().copied(),
        MOTION.stroke_width(5),
    ))?;
    let plot = chart.plotting_area().strip_coord_spec();
    plot.draw_text(&study.name, &text(30, grey(30)), (24, 30))?;
    Ok(())
}

/// Times between impacts over their number, with a line of the ratio for small motion through the
/// last one.
fn flights(area: &Area, study: &Study) -> Outcome<()> {
    let flights = study.flights();
    let (Some(&first), Some(&last)) = (flights.first(), flights.last()) else {
        return Ok(());
    };
    let count = flights.len() as f64;
    let mut chart = chart(
        area,
        linear::axis("impact", 0.0..count + 2.0, 6),
        logarithmic::axis("time to the next impact [s]", 0.4 * last..4.0 * first),
    )?;
    let law = [1.0, count].map(|k| (k, last * study.ratio.powf(k - count)));
    chart.draw_series(LineSeries::new(law, LAW.stroke_width(5)))?;
    chart.draw_series(
        (1..)
            .zip(&flights)
            .map(|(k, flight)| Circle::new((f64::from(k), *flight), 9, FLIGHT.filled())),
    )?;
    let plot = chart.plotting_area().strip_coord_spec();
    let words = format!("factor {:.4} each", study.ratio);
    plot.draw_text(&words, &text(30, LAW), (310, 30))?;
    Ok(())
}
