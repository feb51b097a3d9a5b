//! The friction that the standing foot uses over a step, and where it slips to.

use std::path::{Path, PathBuf};

use plotters::prelude::*;

use crate::Use;
use crate::common::chart::{Key, PALETTE, headline, picture};
use crate::common::flags::Outcome;
use crate::curves::{Curve, panel};

const COLOURS: [RGBColor; 6] = [
    PALETTE[0], PALETTE[5], PALETTE[2], PALETTE[3], PALETTE[6], PALETTE[7],
];

/// `walking.svg`.
pub(crate) fn draw(folder: &Path, curves: &[(f64, Vec<Use>)]) -> Outcome<PathBuf> {
    let entries = curves.iter().zip(COLOURS).zip(0..);
    let keys: Vec<(i32, Key)> = entries
        .map(|(((friction, _), colour), k)| {
            (
                30 + 290 * k,
                Key::new(format!("friction {friction}"), colour, (50, 10)),
            )
        })
        .collect();
    // The foot from where it stands at first.
    let slip = |step: &[Use], of: &Use| 1e3 * (of.foot - step.first().map_or(0.0, |of| of.foot));
    picture(folder, "walking.svg", 830, |area| {
        let title = "A walker on feet that may slip: its last step";
        let below = headline(area, title, &keys)?;
        let (left, right) = below.split_horizontally(900);
        let used = each(curves, |_, of| of.ratio);
        let slips = each(curves, slip);
        panel(&left, &used, ["time [s]", "tangential over normal force"])?;
        panel(
            &right,
            &slips,
            ["time [s]", "slip of the standing foot [mm]"],
        )
    })
}

/// One curve over time for each coefficient.
fn each(curves: &[(f64, Vec<Use>)], of: impl Fn(&[Use], &Use) -> f64) -> Vec<Curve> {
    let colours = curves.iter().zip(COLOURS);
    let curve = colours.map(|((_, step), colour)| Curve {
        points: step.iter().map(|at| (at.t, of(step, at))).collect(),
        colour,
        width: 4,
    });
    curve.collect()
}
