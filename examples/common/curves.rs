//! Curves over each other on linear axes.

use plotters::prelude::*;

use crate::common::chart::{Area, chart};
use crate::common::flags::Outcome;
use crate::linear;

/// A curve of points.
pub(crate) struct Curve {
    pub(crate) points: Vec<(f64, f64)>,
    pub(crate) colour: RGBColor,
    /// In units of drawing.
    pub(crate) width: u32,
}

/// Fills `area` with curves, on axes that hold them all.
pub(crate) fn panel(area: &Area, curves: &[Curve], labels: [&str; 2]) -> Outcome<()> {
    let range = |of: fn(&(f64, f64)) -> f64| {
        let all = curves.iter().flat_map(|curve| &curve.points);
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = all.fold(ends, |(a, b), x| (a.min(of(x)), b.max(of(x))));
        let room = 0.05 * (high - low).max(1e-9);
        low - room..high + room
    };
    let mut chart = chart(
        area,
        linear::axis(labels[0], range(|p| p.0), 5),
        linear::axis(labels[1], range(|p| p.1), 6),
    )?;
    for curve in curves {
        let points = curve.points.iter().copied();
        chart.draw_series(LineSeries::new(
            points,
            curve.colour.stroke_width(curve.width),
        ))?;
    }
    Ok(())
}
