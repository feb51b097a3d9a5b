//! A plate that lands level on its springs: how does the motion depend on a little pitch to either
//! side?

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use plotters::prelude::*;
use saltation::models::{PlateParameters, VerticalPlate};
use saltation::{Error, Integrator, Start};

use crate::common::chart::{Area, Key, PALETTE, chart, grey, headline, picture, text};
use crate::common::flags::Outcome;
use crate::{linear, span};

const LEVEL: [f64; 6] = [0.0, 2.2, 0.0, 0.0, 0.0, 0.0];
/// The start is displaced by the pitch alone.
const PITCH: [f64; 6] = [0.0, 0.0, 1.0, 0.0, 0.0, 0.0];
/// A tenth of a second after the touch-down, before the springs let go.
const TF: f64 = 0.6;
/// The vertical velocity in the state.
const VERTICAL: usize = 4;
/// Runs to either side of the level one.
const RUNS: i32 = 20;
/// Pitch of the runs from which slopes are taken without derivatives [rad].
const NEAR: f64 = 1e-5;
const DOTS: RGBColor = PALETTE[5];
const OTHER: RGBColor = grey(190);
const FORWARD: RGBColor = PALETTE[6];
const BACKWARD: RGBColor = PALETTE[3];

/// What is displaced by how much.
pub(crate) struct Plate {
    pub(crate) springs: usize,
    /// Greatest pitch to either side [rad].
    pub(crate) pitch: f64,
}

/// One law of damping.
struct Panel {
    title: &'static str,
    verdict: String,
    /// Pitch at the start and vertical velocity at the end.
    runs: Vec<(f64, f64)>,
    /// Vertical velocity at the end for the level start [m/s].
    level: f64,
    /// Slopes for a pitch below zero and above [m/s per rad].
    slopes: [f64; 2],
    /// The same from runs nearby.
    quotients: [f64; 2],
}

impl Plate {
    /// Prints the slopes and draws the picture.
    pub(crate) fn report(&self, folder: &Path, out: &mut dyn Write) -> Outcome<PathBuf> {
        writeln!(
            out,
            "a plate lands level on {} springs: slope of the vertical velocity at {TF} s in the pitch at the start \
             [m/s per rad]\n",
            self.springs
        )?;
        writeln!(
            out,
            "damping                        backward   by runs   forward   by runs   verdict"
        )?;
        let panels = [
            self.panel("shared by springs in contact", true)?,
            self.panel("each spring its own", false)?,
        ];
        for panel in &panels {
            let [backward, forward] = panel.slopes;
            let [left, right] = panel.quotients;
            writeln!(
                out,
                "{:<28}  {backward:>9.6} {left:>9.6} {forward:>9.6} {right:>9.6}   {}",
                panel.title, panel.verdict
            )?;
        }
        self.draw(folder, &panels)
    }

    fn panel(&self, title: &'static str, shared_damping: bool) -> Result<Panel, Error> {
        let parameters = PlateParameters {
            shared_damping,
            ..PlateParameters::with_springs(self.springs)
        };
        let plate = VerticalPlate::new(parameters)?;
        let mut integrator = Integrator::fixed::<6>(&plate)?.rtol(1e-12).atol(1e-14);
        let mut end = |pitch: f64| -> Result<f64, Error> {
            let mut start = LEVEL;
            start[2] = pitch;
            integrator.observe(&Start::at(0.0).x(&start), TF, &mut ())?;
            Ok(integrator.state()[VERTICAL])
        };
        let runs = (-RUNS..=RUNS)
            .map(|i| self.pitch * f64::from(i) / f64::from(RUNS))
            .map(|pitch| Ok((pitch, end(pitch)?)))
            .collect::<Result<_, Error>>()?;
        let level = end(0.0)?;
        // Of runs at one and at two steps, so that the curvature drops out.
        let mut quotient = |step: f64| -> Result<f64, Error> {
            Ok((4.0 * end(step)? - end(2.0 * step)? - 3.0 * level) / (2.0 * step))
        };
        let quotients = [quotient(-NEAR)?, quotient(NEAR)?];
        let derivative = integrator.derivative(&Start::at(0.0).x(&LEVEL), TF)?;
        let slopes = [
            derivative.apply_backward(&PITCH)?,
            derivative.apply(&PITCH)?,
        ];
        Ok(Panel {
            title,
            verdict: derivative.verdict().to_string(),
            runs,
            level,
            // 0.0 is added because a slope may be −0
            slopes: slopes.map(|b| b[VERTICAL] + 0.0),
            quotients,
        })
    }

    /// How far the slopes are drawn [rad].
    fn reach(&self) -> f64 {
        0.6 * self.pitch
    }

    fn draw(&self, folder: &Path, panels: &[Panel; 2]) -> Outcome<PathBuf> {
        let keys = [
            (30, Key::new("runs", DOTS, (0, 20))),
            (250, Key::new("apply_backward", BACKWARD, (60, 6))),
            (660, Key::new("apply", FORWARD, (60, 6))),
            (920, Key::new("one matrix for both sides", OTHER, (60, 6))),
        ];
        let title = format!(
            "A plate lands level on {} springs: what a little pitch to either side does",
            self.springs
        );
        let runs = || panels.iter().flat_map(|panel| &panel.runs);
        let ends = panels.iter().flat_map(|panel| {
            let rise = panel.slopes[1] * self.reach();
            [panel.level - rise, panel.level + rise]
        });
        let wide = span(runs().map(|run| run.0), 0.04);
        let high = span(runs().map(|run| run.1).chain(ends), 0.05);
        // Room for three lines above.
        let high = high.start..high.end + 0.24 * (high.end - high.start);
        picture(folder, "plate_slopes.svg", 926, |area| {
            let (left, right) = headline(area, &title, &keys)?.split_horizontally(900);
            for (area, panel) in [left, right].iter().zip(panels) {
                panel.draw(area, self.reach(), [wide.clone(), high.clone()])?;
            }
            Ok(())
        })
    }
}

impl Panel {
    fn draw(&self, area: &Area, reach: f64, [wide, high]: [Range<f64>; 2]) -> Outcome<()> {
        let x = linear::axis("pitch at the start [rad]", wide, 4);
        let label = format!("vertical velocity at {TF} s [m/s]");
        let y = linear::axis(&label, high, 6);
        let mut chart = chart(area, x, y)?;
        let [backward, forward] = self.slopes;
        let mut ray = |slope: f64, to: f64, colour: RGBColor, width: u32| -> Outcome<()> {
            let ends = [(0.0, self.level), (to, self.level + slope * to)];
            chart.draw_series(LineSeries::new(ends, colour.stroke_width(width)))?;
            Ok(())
        };
        ray(forward, -reach, OTHER, 6)?;
        ray(backward, -reach, BACKWARD, 6)?;
        ray(forward, reach, FORWARD, 6)?;
        chart.draw_series(
            self.runs
                .iter()
                .map(|&run| Circle::new(run, 8, DOTS.filled())),
        )?;
        let inside = chart.plotting_area().strip_coord_spec();
        inside.draw_text(
            &format!("damping: {}", self.title),
            &text(30, grey(30)),
            (24, 30),
        )?;
        let slopes = [
            ("backward", backward, BACKWARD),
            ("forward", forward, FORWARD),
        ];
        for (row, (name, slope, colour)) in (0..).zip(slopes) {
            let label = format!("{name} slope {slope:.3} m/s per rad");
            inside.draw_text(&label, &text(30, colour), (24, 74 + 44 * row))?;
        }
        Ok(())
    }
}
