//! The phase portrait of the block on the belt, and speeds and places of the block on the table.

use std::path::{Path, PathBuf};

use plotters::prelude::*;

use crate::common::chart::{Area, Key, PALETTE, grey, headline, picture};
use crate::common::flags::Outcome;
use crate::curves::{Curve, panel};
use crate::letter;
use saltation::Run;

const STICKS: RGBColor = PALETTE[6];
const SLIPS: RGBColor = PALETTE[5];
const SURFACE: RGBColor = grey(150);
/// Points of a curve.
const POINTS: u32 = 4000;

/// A point of a curve, and whether the block sticks there.
type Spot = ((f64, f64), bool);

/// `stick_slip.svg`.
pub(crate) fn draw(folder: &Path, belt: &Run, table: &Run, frequency: f64) -> Outcome<PathBuf> {
    let keys = [
        (30, Key::new("the block sticks", STICKS, (60, 10))),
        (430, Key::new("it slips", SLIPS, (60, 10))),
        (690, Key::new("the surface", SURFACE, (60, 10))),
    ];
    picture(folder, "stick_slip.svg", 1330, |area| {
        let title = "Friction on a belt and on a shaken table";
        let below = headline(area, title, &keys)?;
        let (upper, lower) = below.split_vertically(600);
        let (left, right) = upper.split_horizontally(900);
        let portrait = spots(belt, [0.0, belt.t()], |_, x| (x[0], x[3]))?;
        curve(
            &left,
            &portrait,
            &[],
            ["belt: place of the block [m]", "belt: its speed [m/s]"],
        )?;
        let place = spots(belt, [0.0, belt.t()], |t, x| (t, x[0]))?;
        curve(
            &right,
            &place,
            &[],
            ["time [s]", "belt: place of the block [m]"],
        )?;
        let (left, right) = lower.split_horizontally(900);
        let last = [table.t() - 2.0 / frequency, table.t()];
        let speed = spots(table, last, |t, x| (t, x[3]))?;
        let of_table = spots(table, last, |t, x| (t, x[5]))?;
        let of_table: Vec<_> = of_table.iter().map(|(spot, _)| *spot).collect();
        curve(
            &left,
            &speed,
            &of_table,
            ["time [s]", "table: speed of the block [m/s]"],
        )?;
        let place = spots(table, [0.0, table.t()], |t, x| (t, 1e3 * x[0]))?;
        curve(
            &right,
            &place,
            &[],
            ["time [s]", "table: place of the block [mm]"],
        )
    })
}

/// Points of a run.
fn spots(run: &Run, [from, to]: [f64; 2], of: fn(f64, &[f64]) -> (f64, f64)) -> Outcome<Vec<Spot>> {
    let mut spots = Vec::new();
    for k in 0..=POINTS {
        let t = from + (to - from) * f64::from(k) / f64::from(POINTS);
        let sticks = letter(run, t)? == 's';
        spots.push((of(t, run.state_at(t)?.as_slice()), sticks));
    }
    Ok(spots)
}

/// A curve in the colours of its modes, over that of the surface.
fn curve(area: &Area, spots: &[Spot], beside: &[(f64, f64)], labels: [&str; 2]) -> Outcome<()> {
    let mut curves = vec![Curve {
        points: beside.to_vec(),
        colour: SURFACE,
        width: 4,
    }];
    let mut from = 0;
    for to in 1..spots.len() {
        if spots[to].1 == spots[from].1 && to + 1 < spots.len() {
            continue;
        }
        curves.push(Curve {
            points: spots[from..=to].iter().map(|(spot, _)| *spot).collect(),
            colour: if spots[from].1 { STICKS } else { SLIPS },
            width: 5,
        });
        from = to;
    }
    panel(area, &curves, labels)
}
