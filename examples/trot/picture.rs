//! The outcome over the pitch at the start: jump, smooth curve, kink.

use std::ops::Range;
use std::path::{Path, PathBuf};

use plotters::prelude::*;
use saltation::event_driven::InertialCoupling;

use crate::common::chart::{Area, Key, PALETTE, chart, grey, headline, picture, text};
use crate::common::flags::Outcome;
use crate::linear;
use crate::stride::{PITCH_RATE, Quantity, Side, Study, VERTICAL};

const CURVE: RGBColor = PALETTE[5];
const SLOPE: RGBColor = PALETTE[6];
const LEVEL: RGBColor = PALETTE[0];
/// Length of a slope over the greatest pitch.
const REACH: f64 = 0.6;
/// Limits and slopes that differ by less than this are one.
const SAME: f64 = 1e-6;

/// One quantity of a model over the pitch at the start.
struct Panel<'a> {
    study: &'a Study,
    quantity: Quantity,
    heading: &'a str,
}

/// `trot.svg`: the pitch rate of two models, to one scale.
pub(crate) fn jump(folder: &Path, rigid: &Study, soft: &Study) -> Outcome<PathBuf> {
    let panels = [rigid, soft].map(|study| Panel {
        study,
        quantity: PITCH_RATE,
        heading: &study.name,
    });
    let [low, high] = panels.each_ref().map(Panel::high);
    let both = low.start.min(high.start)..low.end.max(high.end);
    let title = format!(
        "Two feet land at once: the outcome {} with {}, {} with {}",
        kind(rigid),
        rigid.name,
        kind(soft),
        soft.name
    );
    let panels = panels.map(|panel| (panel, both.clone()));
    draw(folder, "trot.svg", &title, &panels)
}

/// `trot_kink.svg`: two velocities of one model.
pub(crate) fn kink(folder: &Path, study: &Study) -> Outcome<PathBuf> {
    let panels = [VERTICAL, PITCH_RATE].map(|quantity| {
        let panel = Panel {
            study,
            quantity,
            heading: quantity.name,
        };
        let high = panel.high();
        (panel, high)
    });
    let title = format!(
        "Two feet land at once: the outcome {} with {}",
        kind(study),
        study.name
    );
    draw(folder, "trot_kink.svg", &title, &panels)
}

/// What the verdict says of the outcome.
fn kind(study: &Study) -> &'static str {
    match study.decoupling.verdict {
        InertialCoupling::Decoupled | InertialCoupling::SmoothHere => "is smooth",
        InertialCoupling::Discontinuous { .. } => "jumps",
        InertialCoupling::PiecewiseSmooth => "has a kink",
        _ => "is continuous",
    }
}

fn draw(
    folder: &Path,
    file: &str,
    title: &str,
    panels: &[(Panel, Range<f64>); 2],
) -> Outcome<PathBuf> {
    let keys = [
        (30, Key::new("runs", CURVE, (60, 6))),
        (230, Key::new("slopes from the derivative", SLOPE, (60, 6))),
        (760, Key::new("level start", LEVEL, (0, 20))),
    ];
    picture(folder, file, 926, |area| {
        let below = headline(area, title, &keys)?;
        if panels.iter().any(|(panel, _)| panel.jump() > SAME) {
            area.draw(&Circle::new((1010, 92), 10, CURVE.stroke_width(4)))?;
            area.draw_text("limits from either side", &text(30, grey(30)), (1034, 92))?;
        }
        let (left, right) = below.split_horizontally(900);
        for (area, (panel, high)) in [left, right].iter().zip(panels) {
            panel.draw(area, high.clone())?;
        }
        Ok(())
    })
}

impl Panel<'_> {
    fn level(&self) -> f64 {
        (self.quantity.of)(&self.study.level.rates)
    }

    /// Limits from below and from above.
    fn limits(&self) -> [f64; 2] {
        let limit = |side: &Side| (self.quantity.of)(&side.limit);
        self.study.sides.each_ref().map(limit)
    }

    fn slopes(&self) -> [f64; 2] {
        let slope = |side: &Side| (self.quantity.of)(&side.slope);
        self.study.sides.each_ref().map(slope)
    }

    fn jump(&self) -> f64 {
        let [below, above] = self.limits();
        (above - below).abs()
    }

    /// What the quantity does at the level start.
    fn verdict(&self) -> String {
        let [below, above] = self.slopes();
        if self.jump() > SAME {
            format!("jumps by {:.3} {}", self.jump(), self.quantity.unit)
        } else if (above - below).abs() > SAME {
            "a kink".to_owned()
        } else {
            "smooth".to_owned()
        }
    }

    /// The curves below and above, from the limit outwards.
    fn curves(&self) -> [Vec<(f64, f64)>; 2] {
        let [below, above] = self.study.runs.each_ref().map(|runs| {
            let runs = runs.iter();
            runs.map(|run| (run.theta, (self.quantity.of)(&run.rates)))
        });
        let [low, high] = self.limits().map(|limit| std::iter::once((0.0, limit)));
        [low.chain(below).collect(), high.chain(above).collect()]
    }

    /// Greatest pitch [rad].
    fn reach(&self) -> f64 {
        let [_, above] = &self.study.runs;
        above.last().map_or(1.0, |run| run.theta)
    }

    /// The lines that show the slopes.
    fn rays(&self) -> [[(f64, f64); 2]; 2] {
        let ([low, high], [below, above]) = (self.limits(), self.slopes());
        let x = REACH * self.reach();
        [
            [(0.0, low), (-x, low - x * below)],
            [(0.0, high), (x, high + x * above)],
        ]
    }

    /// The range of values, with room for two lines of text above.
    fn high(&self) -> Range<f64> {
        let points = self
            .curves()
            .concat()
            .into_iter()
            .chain(self.rays().concat());
        let values = points.map(|(_, y)| y).chain([self.level()]);
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = values.fold(ends, |(low, high), y| (low.min(y), high.max(y)));
        let size = (high - low).max(1e-6);
        low - 0.06 * size..high + 0.24 * size
    }

    fn draw(&self, area: &Area, high: Range<f64>) -> Outcome<()> {
        let wide = 1.06 * self.reach();
        let x = linear::axis("pitch at the start [rad]", -wide..wide, 5);
        let Quantity { name, unit, .. } = self.quantity;
        let label = format!("{name} at {} s [{unit}]", self.study.tf);
        let y = linear::axis(&label, high, 7);
        let mut chart = chart(area, x, y)?;
        for curve in self.curves() {
            chart.draw_series(LineSeries::new(curve, CURVE.stroke_width(7)))?;
        }
        for ray in self.rays() {
            chart.draw_series(LineSeries::new(ray, SLOPE.stroke_width(4)))?;
        }
        let limits = self.limits().into_iter();
        for limit in limits.filter(|limit| (limit - self.level()).abs() > SAME) {
            chart.draw_series([
                Circle::new((0.0, limit), 10, WHITE.filled()),
                Circle::new((0.0, limit), 10, CURVE.stroke_width(4)),
            ])?;
        }
        chart.draw_series([Circle::new((0.0, self.level()), 10, LEVEL.filled())])?;
        let inside = chart.plotting_area().strip_coord_spec();
        let first = format!("{}: {}", self.heading, self.verdict());
        inside.draw_text(&first, &text(30, grey(30)), (24, 30))?;
        let [below, above] = self.slopes().map(written);
        let second = format!("slopes at 0: {below} and {above} per rad");
        inside.draw_text(&second, &text(30, SLOPE), (24, 74))?;
        Ok(())
    }
}

/// Three decimals; zero without a sign.
fn written(slope: f64) -> String {
    if slope.abs() < 5e-4 {
        "0".to_owned()
    } else {
        format!("{slope:.3}")
    }
}
