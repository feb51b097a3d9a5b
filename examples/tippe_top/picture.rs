//! Tilt, slip, spin and energy of the tops over time.

use std::path::{Path, PathBuf};

use plotters::prelude::*;

use crate::Spun;
use crate::common::chart::{Key, PALETTE, headline, picture};
use crate::common::flags::Outcome;
use crate::curves::{Curve, panel};
use crate::top::EccentricTop;
use saltation::ContactModel;

const COLOURS: [RGBColor; 2] = [PALETTE[5], PALETTE[6]];
/// Points of a curve.
const POINTS: u32 = 3000;

/// `tippe_top.svg`.
pub(crate) fn draw(folder: &Path, spun: &[Spun]) -> Outcome<PathBuf> {
    let entries = spun.iter().zip(COLOURS).zip(0..);
    let keys: Vec<(i32, Key)> = entries
        .map(|((spun, colour), k)| (30 + 620 * k, Key::new(spun.law, colour, (60, 10))))
        .collect();
    picture(folder, "tippe_top.svg", 1330, |area| {
        let below = headline(area, "A top that turns over, and one that rolls", &keys)?;
        let (upper, lower) = below.split_vertically(600);
        let (left, right) = upper.split_horizontally(900);
        let tilt = each(spun, |_, x| EccentricTop::tilt(x).to_degrees())?;
        panel(&left, &tilt, ["time [s]", "tilt of the axis [degrees]"])?;
        let slip = each(spun, |spun, x| spun.top.slip(x))?;
        panel(&right, &slip, ["time [s]", "speed of the slip [m/s]"])?;
        let (left, right) = lower.split_horizontally(900);
        let spin = each(spun, |_, x| x[11])?;
        panel(
            &left,
            &spin,
            ["time [s]", "spin about the vertical [rad/s]"],
        )?;
        let energy = each(spun, |spun, x| {
            let model = ContactModel::new(spun.top);
            1e3 * model.energy(x).unwrap_or(f64::NAN)
        })?;
        panel(&right, &energy, ["time [s]", "energy [mJ]"])
    })
}

/// One curve over time for each top.
fn each(spun: &[Spun], of: impl Fn(&Spun, &[f64]) -> f64) -> Outcome<Vec<Curve>> {
    let mut curves = Vec::new();
    for (spun, colour) in spun.iter().zip(COLOURS) {
        let mut points = Vec::new();
        for k in 0..=POINTS {
            let t = spun.run.t() * f64::from(k) / f64::from(POINTS);
            points.push((t, of(spun, spun.run.state_at(t)?.as_slice())));
        }
        curves.push(Curve {
            points,
            colour,
            width: 4,
        });
    }
    Ok(curves)
}
