//! Contacts, islands, iterations and time of each step.

use std::path::{Path, PathBuf};

use plotters::prelude::*;

use crate::common::chart::{Area, Axis, Key, PALETTE, chart, headline, picture};
use crate::common::flags::Outcome;
use crate::record::{Fall, Part, Run, Step};
use crate::{linear, logarithmic};

/// Curves are means of so many parts of the run, and medians of times.
const PARTS: usize = 150;

/// A curve: its key, its colour, its values.
type Curve = (&'static str, RGBColor, Vec<(f64, f64)>);

/// `clutter_steps.svg`.
pub(crate) fn draw(folder: &Path, fall: &Fall, run: &Run) -> Outcome<PathBuf> {
    let length = run.steps.len().div_ceil(PARTS).max(1);
    let mean = |of: &dyn Fn(&[Step]) -> f64| -> Vec<(f64, f64)> {
        let parts = run.steps.chunks(length);
        parts
            .map(|steps| (steps[steps.len() / 2].t, of(steps)))
            .collect()
    };
    let part = |steps: &[Step]| Part::of(steps.iter());
    let most = |steps: &[Step]| steps.iter().map(|s| s.most).max().unwrap_or(0) as f64;
    let times = |k: usize| mean(&move |steps| 1e3 * part(steps).times[k]);
    let counts = [
        ("contacts", PALETTE[5], mean(&|s| part(s).contacts)),
        ("islands", PALETTE[6], mean(&|s| part(s).islands)),
        (
            "bodies of the largest",
            PALETTE[3],
            mean(&|s| part(s).largest as f64),
        ),
    ];
    let iterations = [
        (
            "iterations of an island: mean",
            PALETTE[5],
            mean(&|s| part(s).iterations),
        ),
        ("most", PALETTE[6], mean(&most)),
    ];
    let split = [
        ("step", PALETTE[0], mean(&|s| 1e3 * part(s).time())),
        ("solve", PALETTE[5], times(3)),
        ("geometry", PALETTE[6], times(1)),
        ("build", PALETTE[3], times(2)),
        ("motion", PALETTE[7], times(0)),
    ];
    let title = format!(
        "A heap of {} bodies {}: each step of {} s",
        fall.clutter.bodies,
        if fall.clutter.walls {
            "between walls"
        } else {
            "without walls"
        },
        fall.dt
    );
    picture(folder, "clutter_steps.svg", 1860, |area| {
        let below = headline(area, &title, &[])?;
        let (upper, rest) = below.split_vertically(600);
        let (middle, lower) = rest.split_vertically(540);
        let end = fall.tf;
        let zero = |top: f64| 0.0..1.08 * top;
        panel(&upper, end, &counts, |top| {
            linear::axis("number", zero(top), 5)
        })?;
        panel(&middle, end, &iterations, |top| {
            linear::axis("Newton iterations", zero(top), 5)
        })?;
        let least = run.steady().time().min(run.transient().time());
        panel(&lower, end, &split, |top| {
            logarithmic::axis("median time [ms]", 10.0 * least..2.0 * top)
        })
    })
}

fn panel<'a>(
    area: &Area,
    end: f64,
    curves: &[Curve],
    y: impl FnOnce(f64) -> Axis<'a>,
) -> Outcome<()> {
    let tops = curves.iter().flat_map(|(.., points)| points);
    let top = tops.map(|(_, y)| *y).fold(1e-9, f64::max);
    let y = y(top);
    let bottom = y.scale.range.start;
    let below = legend(area, curves)?;
    let mut chart = chart(&below, linear::axis("time [s]", 0.0..end, 10), y)?;
    for (_, colour, points) in curves {
        let points = points.iter().map(|(t, y)| (*t, y.max(bottom)));
        chart.draw_series(LineSeries::new(points, colour.stroke_width(4)))?;
    }
    Ok(())
}

/// The keys over a panel.
fn legend<'a>(area: &Area<'a>, curves: &[Curve]) -> Outcome<Area<'a>> {
    let mut x = 190;
    let (line, below) = area.split_vertically(50);
    for (label, colour, _) in curves {
        let key = Key::new(*label, *colour, (60, 5));
        key.draw(&line, (x, 30))?;
        x += 130 + 17 * i32::try_from(label.len())?;
    }
    Ok(below)
}
