//! Errors of the energy over time.

use std::path::{Path, PathBuf};

use plotters::prelude::*;

use crate::common::chart::{Area, Key, PALETTE, chart, grey, headline, picture, text};
use crate::common::flags::Outcome;
use crate::logarithmic;
use crate::study::{Plan, Study};

const COLOURS: [RGBColor; 3] = [PALETTE[5], PALETTE[6], PALETTE[1]];
const NAMES: [&str; 3] = [
    "midpoint variational",
    "Tsitouras, same work",
    "Tsitouras, tight tolerance",
];

/// `long_time.svg`: a column a system.
pub(crate) fn draw(folder: &Path, plan: &Plan, studies: &[Study; 2]) -> Outcome<PathBuf> {
    picture(folder, "long_time.svg", 900, |area| {
        let count = studies[0].runs.len();
        let keys = [30, 460, 1010]
            .into_iter()
            .take(count)
            .zip(NAMES.iter().zip(COLOURS))
            .map(|(x, (name, colour))| (x, Key::new(*name, colour, (60, 6))));
        let title = "The energy of free swings: bounded by the midpoint rule, drifting without it";
        let below = headline(area, title, &keys.collect::<Vec<_>>())?;
        let errors = studies.iter().flat_map(|study| &study.runs);
        let errors = errors.flat_map(|run| run.ledger.curve()).map(|(_, e)| e);
        let (low, high) = errors.fold((1.0f64, 1e-12f64), |(a, b), e| (a.min(e), b.max(e)));
        let range = [0.3 * low, 1e3 * high];
        let (left, right) = below.split_horizontally(900);
        for (area, study) in [left, right].iter().zip(studies) {
            column(area, plan, study, range)?;
        }
        Ok(())
    })
}

fn column(area: &Area, plan: &Plan, study: &Study, [low, high]: [f64; 2]) -> Outcome<()> {
    let label = format!("time [periods of {:.3} s]", study.period);
    let end = f64::from(plan.periods);
    let mut chart = chart(
        area,
        logarithmic::axis(&label, 0.1..1.3 * end),
        logarithmic::axis("greatest energy error so far / energy", low..high),
    )?;
    for (run, colour) in study.runs.iter().zip(COLOURS) {
        chart.draw_series(LineSeries::new(run.ledger.curve(), colour.stroke_width(6)))?;
    }
    let plot = chart.plotting_area().strip_coord_spec();
    plot.draw_text(&study.name, &text(30, grey(30)), (24, 30))?;
    let words = study.runs.iter().zip(COLOURS).enumerate();
    for (k, (run, colour)) in words {
        let evaluations = run.evaluations / run.ledger.reached();
        let words = format!(
            "{evaluations:.0} evaluations a period, drift {:.1e} a period",
            run.ledger.drift()
        );
        let y = 70 + 36 * i32::try_from(k).unwrap_or(0);
        plot.draw_text(&words, &text(26, colour), (24, y))?;
    }
    Ok(())
}
