//! The motion of the plate as a strip of snapshots, above its height and its contacts against time.

use std::io::Write;
use std::path::{Path, PathBuf};

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use saltation::{Error, Run};

use crate::common::chart::{
    Area, Axis, Key, PALETTE, chart, grey, headline, picture, rounded, text,
};
use crate::common::flags::Outcome;
use crate::linear;
use crate::plate::Plate;

const SNAPSHOTS: usize = 8;
/// Width of a snapshot in units of drawing.
const FRAME: f64 = 209.0;
const PUSHING: RGBColor = PALETTE[6];
const FREE: RGBColor = grey(150);
const PLATE: RGBColor = PALETTE[5];

/// A spring pushes from one time to another.
struct Contact {
    spring: usize,
    from: f64,
    to: f64,
}

impl Contact {
    fn holds(&self, time: f64) -> bool {
        self.from <= time && time < self.to
    }
}

/// The plate at one time.
struct Snapshot {
    t: f64,
    state: Vec<f64>,
    /// Which springs push.
    pushing: Vec<bool>,
}

/// Draws the picture and writes the table of its snapshots.
pub(crate) fn draw(
    folder: &Path,
    plate: &Plate,
    run: &Run,
    out: &mut dyn Write,
) -> Outcome<PathBuf> {
    let contacts = contacts(plate, run);
    let snapshots: Vec<Snapshot> = times(run, &contacts)
        .into_iter()
        .map(|t| snapshot(plate, run, &contacts, t))
        .collect::<Result<_, _>>()?;
    report(&snapshots, out)?;

    let keys = [
        (30, Key::new("plate", PLATE, (60, 8))),
        (280, Key::new("spring in contact", PUSHING, (60, 8))),
        (700, Key::new("free spring", FREE, (60, 8))),
    ];
    let title = format!(
        "A plate falls on {} springs (force law {})",
        plate.springs(),
        plate.law
    );
    let heights = snapshots.iter().map(|snapshot| snapshot.state[1]);
    let top = 1.05 * heights.fold(plate.parameters.rest_length, f64::max);
    let metre = FRAME / (2.5 * plate.parameters.half_width.max(0.1));
    let strip_height = rounded(100.0 + top * metre).clamp(200, 600).unsigned_abs();
    picture(folder, "plate_snapshots.svg", strip_height + 1000, |area| {
        let below = headline(area, &title, &keys)?;
        let (strip, below) = below.split_vertically(strip_height);
        let frames = strip.margin(0, 0, 24, 24).split_evenly((1, SNAPSHOTS));
        for (i, (frame, snapshot)) in frames.iter().zip(&snapshots).enumerate() {
            draw_snapshot(frame, plate, i, snapshot, top)?;
        }
        let (above, below) = below.split_vertically(430);
        draw_height(&above, run, &snapshots)?;
        draw_contacts(&below, plate, run, &contacts, &snapshots)
    })
}

fn report(snapshots: &[Snapshot], out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "\nsnapshot  time [s]     x [m]     z [m]  theta [rad]  springs in contact"
    )?;
    for (i, snapshot) in snapshots.iter().enumerate() {
        let count = snapshot.pushing.iter().filter(|&&on| on).count();
        let Snapshot { t, state, .. } = snapshot;
        writeln!(
            out,
            "{:>8}  {t:>8.4}  {:>8.4}  {:>8.4}  {:>11.4}  {count:>18}",
            i + 1,
            state[0],
            state[1],
            state[2]
        )?;
    }
    Ok(())
}

fn contacts(plate: &Plate, run: &Run) -> Vec<Contact> {
    let mut since: Vec<Option<f64>> = vec![None; plate.springs()];
    let mut contacts = Vec::new();
    for change in run.modes() {
        for (spring, since) in since.iter_mut().enumerate() {
            let pushes = plate.pushes(&change.mode, spring);
            if pushes && since.is_none() {
                *since = Some(change.t);
            } else if !pushes && let Some(from) = since.take() {
                contacts.push(Contact {
                    spring,
                    from,
                    to: change.t,
                });
            }
        }
    }
    for (spring, since) in since.into_iter().enumerate() {
        contacts.extend(since.map(|from| Contact {
            spring,
            from,
            to: run.t(),
        }));
    }
    contacts
}

/// Times of the snapshots from start to end: two thirds of them while some spring pushes, the rest
/// in flight.
fn times(run: &Run, contacts: &[Contact]) -> Vec<f64> {
    const CELLS: usize = 2000;
    let (start, end) = (run.times()[0], run.t());
    let at = |cells: f64| (start + (end - start) * cells / CELLS as f64).min(end);
    let pushes = |i| {
        contacts
            .iter()
            .any(|contact| contact.holds(at(i as f64 + 0.5)))
    };
    let busy: Vec<bool> = (0..CELLS).map(pushes).collect();
    let count = busy.iter().filter(|&&on| on).count();
    let weight = |on: bool| {
        if on {
            2.0 / count as f64
        } else {
            1.0 / (CELLS - count) as f64
        }
    };
    let mut reached = vec![0.0];
    for on in busy {
        reached.push(reached[reached.len() - 1] + weight(on));
    }
    let wanted = |i| reached[CELLS] * i as f64 / (SNAPSHOTS - 1) as f64;
    let cells = |i| reached.partition_point(|sum| *sum < wanted(i) * (1.0 - 1e-9));
    (0..SNAPSHOTS).map(|i| at(cells(i) as f64)).collect()
}

fn snapshot(plate: &Plate, run: &Run, contacts: &[Contact], t: f64) -> Result<Snapshot, Error> {
    let mut pushing = vec![false; plate.springs()];
    for contact in contacts.iter().filter(|contact| contact.holds(t)) {
        pushing[contact.spring] = true;
    }
    let state = run.state_at(t)?.as_slice().to_vec();
    Ok(Snapshot { t, state, pushing })
}

/// Text anchored at its middle.
fn centred(colour: RGBColor) -> TextStyle<'static> {
    text(30, colour).pos(Pos::new(HPos::Center, VPos::Center))
}

/// Metres to units of drawing, the same for both directions.
struct Frame {
    wide: f64,
    high: f64,
    metre: f64,
}

impl Frame {
    fn at(&self, [x, z]: [f64; 2]) -> (i32, i32) {
        let right = self.wide / 2.0 + x * self.metre;
        let down = self.high - 8.0 - z * self.metre;
        (rounded(right), rounded(down))
    }
}

fn draw_snapshot(
    area: &Area,
    plate: &Plate,
    i: usize,
    snapshot: &Snapshot,
    top: f64,
) -> Outcome<()> {
    let (caption, below) = area.split_vertically(84);
    let middle = i32::try_from(caption.dim_in_pixel().0 / 2)?;
    caption.draw_text(&(i + 1).to_string(), &centred(PALETTE[0]), (middle, 18))?;
    let time = format!("{:.3} s", snapshot.t);
    caption.draw_text(&time, &centred(grey(30)), (middle, 56))?;

    let below = below.margin(4, 4, 5, 5);
    let (wide, high) = below.dim_in_pixel();
    let (wide, high) = (f64::from(wide), f64::from(high));
    let metre = (wide / (2.5 * plate.parameters.half_width.max(0.1))).min(high / top);
    let frame = Frame { wide, high, metre };
    let edge = wide / metre / 2.0;
    let ground = [frame.at([-edge, 0.0]), (rounded(wide), rounded(high))];
    below.draw(&Rectangle::new(ground, grey(90).filled()))?;
    for (spring, &pushes) in snapshot.pushing.iter().enumerate() {
        let path = spring_path(plate, &frame, snapshot, spring);
        let colour = if pushes { PUSHING } else { FREE };
        below.draw(&PathElement::new(path, colour.stroke_width(3)))?;
    }
    let [x, z, slope] = [
        snapshot.state[0],
        snapshot.state[1],
        snapshot.state[2].tan(),
    ];
    // the plate has no end; it is drawn from edge to edge
    let end = |x_end: f64| {
        let z_end = z + (x_end - x) * slope;
        if (0.0..=top).contains(&z_end) {
            return frame.at([x_end, z_end]);
        }
        let inside = z_end.clamp(0.0, top);
        frame.at([x + (inside - z) / slope, inside])
    };
    below.draw(&PathElement::new(
        [end(-edge), end(edge)],
        PLATE.stroke_width(7),
    ))?;
    if x.abs() < edge {
        below.draw(&Circle::new(frame.at([x, z]), 9, PLATE.filled()))?;
    }
    Ok(())
}

/// A zigzag from the foot of a spring to its tip; a straight line where springs stand close.
fn spring_path(
    plate: &Plate,
    frame: &Frame,
    snapshot: &Snapshot,
    spring: usize,
) -> Vec<(i32, i32)> {
    let foot = plate.foot(spring);
    let tip = plate.tip(&snapshot.state, snapshot.pushing[spring], spring);
    let spacing = 2.0 * plate.parameters.half_width * frame.metre / plate.springs() as f64;
    let turns = if spacing < 12.0 { 0 } else { 8 };
    let sway = 0.27 * spacing.min(30.0) / frame.metre;
    let last = turns + 1;
    let point = |j: i32| {
        let share = f64::from(j) / f64::from(last);
        let side = match j {
            _ if j == 0 || j == last => 0.0,
            _ if j % 2 == 0 => sway,
            _ => -sway,
        };
        frame.at([foot + (tip[0] - foot) * share + side, tip[1] * share])
    };
    (0..=last).map(point).collect()
}

fn time_axis(run: &Run) -> Axis<'static> {
    let (start, end) = (run.times()[0], run.t());
    let margin = 0.02 * (end - start);
    linear::axis("time [s]", start - margin..end + margin, 10)
}

fn draw_height(area: &Area, run: &Run, snapshots: &[Snapshot]) -> Outcome<()> {
    const CELLS: i32 = 400;
    let (start, end) = (run.times()[0], run.t());
    let curve: Vec<(f64, f64)> = (0..=CELLS)
        .map(|i| (start + (end - start) * f64::from(i) / f64::from(CELLS)).min(end))
        .map(|t| Ok((t, run.state_at(t)?[1])))
        .collect::<Result<_, Error>>()?;
    let low = curve.iter().map(|point| point.1).fold(0.0, f64::min);
    let high = curve.iter().map(|point| point.1).fold(low + 1e-3, f64::max);
    let unit = (high - low) / 10.0;
    let height = linear::axis("height z [m]", low..high + 3.0 * unit, 6);
    let mut chart = chart(area, time_axis(run), height)?;
    for (i, snapshot) in snapshots.iter().enumerate() {
        let line = [(snapshot.t, low), (snapshot.t, high + unit)];
        chart.draw_series(LineSeries::new(line, grey(130).stroke_width(2)))?;
        let place = (snapshot.t, high + 2.0 * unit);
        chart.draw_series([Text::new((i + 1).to_string(), place, centred(PALETTE[0]))])?;
    }
    chart.draw_series(LineSeries::new(curve, PLATE.stroke_width(6)))?;
    Ok(())
}

fn draw_contacts(
    area: &Area,
    plate: &Plate,
    run: &Run,
    contacts: &[Contact],
    snapshots: &[Snapshot],
) -> Outcome<()> {
    let range = 0.4..plate.springs() as f64 + 0.6;
    let number = linear::axis("spring in contact", range.clone(), 5);
    let mut chart = chart(area, time_axis(run), number)?;
    chart.draw_series(contacts.iter().map(|contact| {
        let middle = contact.spring as f64 + 1.0;
        let corners = [(contact.from, middle - 0.36), (contact.to, middle + 0.36)];
        Rectangle::new(corners, PUSHING.filled())
    }))?;
    for snapshot in snapshots {
        let line = [(snapshot.t, range.start), (snapshot.t, range.end)];
        chart.draw_series(LineSeries::new(line, grey(130).stroke_width(2)))?;
    }
    Ok(())
}
