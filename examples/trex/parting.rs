//! Indeterminacy over time (Figure 8).

use std::path::{Path, PathBuf};

use plotters::prelude::*;

use crate::common::chart::{Key, PALETTE, chart, grey, headline, picture, text};
use crate::common::flags::Outcome;
use crate::landing::Landing;
use crate::{Setup, linear, logarithmic};

const COLOURS: [RGBColor; 3] = [PALETTE[6], PALETTE[5], PALETTE[3]];
/// Smaller values are drawn here: rounding, or zero.
const ZERO: f64 = 1e-17;

/// `trex_indeterminacy.svg`.
pub(crate) fn draw(folder: &Path, landings: &[Landing], setup: &Setup) -> Outcome<PathBuf> {
    picture(folder, "trex_indeterminacy.svg", 860, |area| {
        let keys = [
            (30, Key::new("before the search", COLOURS[0], (60, 6))),
            (420, Key::new("after", COLOURS[1], (60, 6))),
            (630, Key::new("after, built to 0.1 mm", COLOURS[2], (60, 6))),
            (
                1090,
                Key::new("of the first impact alone", grey(150), (60, 3)),
            ),
        ];
        let title = format!(
            "TREX dropped from {} cm: how far the runs with ArgMin and with ArgMax are apart",
            setup.drop
        );
        let below = headline(area, &title, &keys)?;
        let highest = landings.iter().map(Landing::greatest).fold(1e-3, f64::max);
        let mut chart = chart(
            &below,
            linear::axis("time after the first impact [ms]", 0.0..setup.tf, 8),
            logarithmic::axis("indeterminacy ξ", 0.2 * ZERO..10.0 * highest),
        )?;
        for (landing, colour) in landings.iter().zip(COLOURS) {
            let first = [0.0, setup.tf].map(|t| (t, landing.first.max(ZERO)));
            chart.draw_series(LineSeries::new(first, grey(150).stroke_width(3)))?;
            let nodes = landing.xi.iter().map(|&(t, xi)| (t, xi.max(ZERO)));
            chart.draw_series(LineSeries::new(nodes.clone(), colour.stroke_width(3)))?;
            chart.draw_series(nodes.map(|node| Circle::new(node, 8, colour.filled())))?;
        }
        let plot = chart.plotting_area().strip_coord_spec();
        let (_, high) = plot.dim_in_pixel();
        let words = format!("at {ZERO:.0e}: zero, and what is smaller");
        let bottom = i32::try_from(high).unwrap_or(0) - 60;
        plot.draw_text(&words, &text(28, grey(80)), (24, bottom))?;
        Ok(())
    })
}
