//! Tilt and rate of the block, over time and over arclength.

use std::path::{Path, PathBuf};

use plotters::prelude::*;
use saltation::Run;
use saltation::event_driven::{Arclength, ContactEvent, ContactEventKind};

use crate::common::chart::{Area, Key, PALETTE, chart, headline, picture};
use crate::common::flags::Outcome;
use crate::linear;

const SMOOTH: RGBColor = PALETTE[5];
const IMPACT: RGBColor = PALETTE[6];
const REST: RGBColor = PALETTE[3];

/// Points of a curve over arclength.
const POINTS: u32 = 4000;
/// Points of a smooth stretch over time.
const PIECE: u32 = 120;

/// A stretch of a curve, and its colour.
type Stretch = (RGBColor, Vec<[f64; 4]>);

/// `zeno_block.svg`: a row for tilt and rate each, over time at the left and over arclength at the
/// right.
pub(crate) fn draw(folder: &Path, run: &Run, over: &Arclength<'_>) -> Outcome<PathBuf> {
    picture(folder, "zeno_block.svg", 1350, |area| {
        let keys = [
            (30, Key::new("closed corners", SMOOTH, (60, 6))),
            (420, Key::new("impact", IMPACT, (60, 6))),
            (
                680,
                Key::new("t* and s*, where impacts accumulate", REST, (60, 6)),
            ),
        ];
        let title = "A block rocks to rest: infinitely many impacts, in time t and in arclength s";
        let below = headline(area, title, &keys)?;
        let stretches = stretches(run, over)?;
        let rests = |event: &&ContactEvent| event.kind == ContactEventKind::ZenoAbsorbed;
        let limit = match run.events().iter().find(rests) {
            Some(event) => Some([event.t, over.s_at(event.t)?]),
            None => None,
        };
        let ends = [run.t(), over.s()];
        let (above, under) = below.split_vertically(612);
        for (row, (area, label)) in [(above, "tilt [rad]"), (under, "rate [rad/s]")]
            .iter()
            .enumerate()
        {
            let (left, right) = area.split_horizontally(900);
            for (column, (area, along)) in [(left, "time t [s]"), (right, "arclength s [s + N s]")]
                .iter()
                .enumerate()
            {
                let marked = limit.map(|limit| limit[column]);
                let axes = (*along, ends[column], *label);
                panel(area, axes, marked, &stretches, [column, 2 + row])?;
            }
        }
        Ok(())
    })
}

/// Time, arclength, tilt and rate, stretch by stretch: between impacts, and in them.
fn stretches(run: &Run, over: &Arclength<'_>) -> Outcome<Vec<Stretch>> {
    let mut ends = vec![(SMOOTH, 0.0)];
    for event in run.events() {
        let normal = event.impulses.iter().take(event.contacts.len());
        let (after, impulse) = (over.s_at(event.t)?, normal.sum::<f64>());
        if event.kind != ContactEventKind::ZenoAbsorbed {
            ends.push((SMOOTH, after - impulse));
            ends.push((IMPACT, after));
        }
    }
    ends.push((SMOOTH, over.s()));
    let mut all = Vec::new();
    for pair in ends.windows(2) {
        let (from, (colour, to)) = (pair[0].1, pair[1]);
        let parts = f64::from(POINTS) * (to - from) / over.s();
        let parts = parts.clamp(2.0, f64::from(PIECE)).ceil();
        let mut points = Vec::new();
        let mut k = 0.0;
        while k <= parts {
            let s = (from + (to - from) * k / parts).min(over.s());
            let (t, state) = over.at(s)?;
            points.push([t, s, state[2], state[5]]);
            k += 1.0;
        }
        all.push((colour, points));
    }
    Ok(all)
}

/// One chart: entry `y` of the points over entry `x`.
fn panel(
    area: &Area,
    (along, end, label): (&str, f64, &str),
    limit: Option<f64>,
    stretches: &[Stretch],
    [x, y]: [usize; 2],
) -> Outcome<()> {
    let values = stretches
        .iter()
        .flat_map(|(_, points)| points.iter().map(|point| point[y]));
    let (low, high) = values.fold((0.0f64, 0.0f64), |(a, b), value| {
        (a.min(value), b.max(value))
    });
    let room = 0.08 * (high - low).max(1e-9);
    let range = low - room..high + room;
    let mut chart = chart(
        area,
        linear::axis(along, 0.0..end.max(1e-9), 6),
        linear::axis(label, range.clone(), 6),
    )?;
    if let Some(limit) = limit {
        let line = [(limit, range.start), (limit, range.end)];
        chart.draw_series(LineSeries::new(line, REST.stroke_width(4)))?;
    }
    for (colour, points) in stretches {
        let line = points.iter().map(|point| (point[x], point[y]));
        chart.draw_series(LineSeries::new(line, colour.stroke_width(5)))?;
    }
    Ok(())
}
