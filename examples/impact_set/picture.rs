//! `impact_set_<model>.svg`: contact speeds through the impact, and the outcomes enlarged.

use std::collections::HashSet;
use std::ops::Range;
use std::path::{Path, PathBuf};

use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};

use crate::cases::{Speed, View, letter};
use crate::common::chart::{Area, Chart, Key, PALETTE, chart, grey, headline, picture, text};
use crate::common::flags::Outcome;
use crate::geometry::{Place, clip, hull};
use crate::linear;
use crate::study::Study;

const INK: RGBColor = grey(30);
const SET: RGBColor = PALETTE[2];
/// That colour, as pale as it is where it fills.
const LIGHT: RGBColor = RGBColor(179, 221, 244);
const SAMPLE: RGBColor = PALETTE[5];
const PATH: RGBColor = grey(170);
const TOGETHER: RGBColor = PALETTE[6];
const IN_ORDER: RGBColor = PALETTE[3];
/// Side of the cells of which one dot is drawn, in units of drawing.
const CELL: i32 = 6;

pub(crate) fn draw(folder: &Path, study: &Study) -> Outcome<PathBuf> {
    let file = format!("impact_set_{}.svg", study.case.name);
    picture(folder, &file, 1126, |area| {
        let below = headline(area, &study.case.title, &keys(study))?;
        legend(area)?;
        let (left, right) = below.split_horizontally(900);
        let panel = |view| Panel { study, view };
        panel(study.case.evolution).draw(&left, "the whole impact", true)?;
        let count = study.case.outcomes.len().max(1);
        for (area, view) in right
            .split_evenly((count, 1))
            .iter()
            .zip(&study.case.outcomes)
        {
            panel(*view).draw(area, "outcomes, enlarged", false)?;
        }
        Ok(())
    })
}

/// Places of the entries of the legend.
const LEGEND: [i32; 6] = [30, 220, 470, 680, 940, 1310];

/// The entries that are dots and lines.
fn keys(study: &Study) -> Vec<(i32, Key)> {
    let mut keys = vec![
        (LEGEND[0], Key::new("before", INK, (0, 18))),
        (LEGEND[2], Key::new("samples", SAMPLE, (0, 10))),
        (LEGEND[3], Key::new("their steps", PATH, (44, 3))),
        (LEGEND[4], Key::new("one after another", IN_ORDER, (44, 3))),
        (LEGEND[5], Key::new("all at once", TOGETHER, (44, 3))),
    ];
    if study.exact.is_some() {
        keys.push((LEGEND[1], Key::new("exact set", LIGHT, (44, 28))));
    }
    keys
}

/// The marks on the lines of the legend.
fn legend(area: &Area) -> Outcome<()> {
    order_mark(area, (LEGEND[4] + 22, 92))?;
    together_mark(area, (LEGEND[5] + 22, 92))
}

fn start_mark(area: &Area, (x, y): (i32, i32)) -> Outcome<()> {
    Ok(area.draw(&Circle::new((x, y), 9, INK.filled()))?)
}

fn dot(area: &Area, (x, y): (i32, i32)) -> Outcome<()> {
    Ok(area.draw(&Circle::new((x, y), 3, SAMPLE.filled()))?)
}

/// An open triangle.
fn order_mark(area: &Area, (x, y): (i32, i32)) -> Outcome<()> {
    let corners = [
        (x, y - 15),
        (x + 14, y + 10),
        (x - 14, y + 10),
        (x, y - 15),
        (x + 14, y + 10),
    ];
    Ok(area.draw(&PathElement::new(corners, IN_ORDER.stroke_width(5)))?)
}

/// An open square.
fn together_mark(area: &Area, (x, y): (i32, i32)) -> Outcome<()> {
    let corner = |(across, down): (i32, i32)| (x + 11 * across, y + 11 * down);
    let corners = [(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1), (1, -1)].map(corner);
    Ok(area.draw(&PathElement::new(corners, TOGETHER.stroke_width(5)))?)
}

/// Two contact speeds of a study.
struct Panel<'a> {
    study: &'a Study<'a>,
    view: View,
}

impl Panel<'_> {
    fn place(&self, speeds: &[f64]) -> Place {
        let m = self.study.case.contacts();
        let [x, y] = self
            .view
            .map(|speed| speeds.get(speed.row(m)).copied().unwrap_or(f64::NAN));
        // 0.0 is added because a speed may be −0
        (x + 0.0, y + 0.0)
    }

    /// Outcomes of the laws, corners of the exact set, and finished samples.
    fn outcomes(&self) -> Vec<Place> {
        let study = self.study;
        let vertices = study.exact.iter().flat_map(|(set, _)| set.pieces());
        let vertices = vertices
            .flat_map(|piece| piece.vertices())
            .map(|u| self.place(u));
        let together = study.simultaneous.list.iter();
        let together = together.map(|outcome| self.place(outcome.speeds.as_slice()));
        let in_order = study
            .sequences
            .iter()
            .map(|sequence| self.place(&sequence.speeds));
        let samples = study.samples.finished().map(|u| self.place(u));
        vertices
            .chain(together)
            .chain(in_order)
            .chain(samples)
            .collect()
    }

    fn before(&self) -> Place {
        self.place(self.study.case.problem.speeds().as_slice())
    }

    /// The ranges of both axes: of outcomes, and of everything for the whole impact.
    fn ranges(&self, is_whole: bool) -> [Range<f64>; 2] {
        let mut places = self.outcomes();
        if is_whole {
            places.push(self.before());
            let paths = self.study.paths.iter().flatten();
            let sequences = self.study.sequences.iter().flat_map(|s| &s.path);
            places.extend(paths.chain(sequences).map(|u| self.place(u)));
        }
        // what is zero but for rounding is shown so
        let scale = self.study.case.problem.speeds().amax().max(1e-300);
        let of = |pick: fn(&Place) -> f64| {
            let ends = (f64::INFINITY, f64::NEG_INFINITY);
            let values = places.iter().map(pick);
            let (low, high) = values.fold(ends, |(low, high), v| (low.min(v), high.max(v)));
            let length = high - low;
            if length > 1e-9 * scale {
                low - 0.08 * length..high + 0.08 * length
            } else {
                low - 0.05 * scale..high + 0.05 * scale
            }
        };
        [of(|place| place.0), of(|place| place.1)]
    }

    fn draw(&self, area: &Area, heading: &str, is_whole: bool) -> Outcome<()> {
        let (top, area) = area.split_vertically(44);
        top.draw_text(heading, &text(30, INK), (176, 26))?;
        let [x, y] = self.ranges(is_whole);
        let (low, high) = ((x.start, y.start), (x.end, y.end));
        let labels = self.view.map(Speed::label);
        let mut chart = chart(
            &area,
            linear::axis(&labels[0], x, 6),
            linear::axis(&labels[1], y, 6),
        )?;
        axes(&mut chart, low, high)?;
        let polyline = |places: &[Place], colour: RGBColor, width: u32, chart: &mut Chart| {
            for pair in places.windows(2) {
                if let Some(line) = clip([pair[0], pair[1]], low, high) {
                    chart.draw_series(LineSeries::new(line, colour.stroke_width(width)))?;
                }
            }
            Outcome::Ok(())
        };
        self.shade(&mut chart)?;
        for path in &self.study.paths {
            let places: Vec<Place> = path.iter().map(|u| self.place(u)).collect();
            polyline(&places, PATH, 1, &mut chart)?;
        }
        self.dots(&area, &chart)?;
        // many sequences hide what is enlarged, and their ends are close in the whole
        let are_few = self.study.sequences.len() < 3;
        for sequence in self.study.sequences.iter().filter(|_| are_few || is_whole) {
            let places: Vec<Place> = sequence.path.iter().map(|u| self.place(u)).collect();
            polyline(&places, IN_ORDER, 3, &mut chart)?;
        }
        for outcome in &self.study.simultaneous.list {
            let line = [self.before(), self.place(outcome.speeds.as_slice())];
            polyline(&line, TOGETHER, 3, &mut chart)?;
        }
        let at = |place: Place| backend(&area, &chart, place);
        if clip([self.before(); 2], low, high).is_some() {
            start_mark(&area, at(self.before()))?;
        }
        for outcome in &self.study.simultaneous.list {
            together_mark(&area, at(self.place(outcome.speeds.as_slice())))?;
        }
        self.sequence_marks(&area, &at, are_few || !is_whole)?;
        Ok(())
    }

    /// The exact set: its pieces as this view shows them.
    fn shade(&self, chart: &mut Chart) -> Outcome<()> {
        let Some((set, _)) = &self.study.exact else {
            return Ok(());
        };
        for piece in set.pieces() {
            let corners = hull(piece.vertices().map(|u| self.place(u)).collect());
            if corners.len() > 2 {
                let shade = SET.mix(0.45).filled();
                chart.draw_series([Polygon::new(corners.clone(), shade)])?;
                let outline = corners.iter().chain(corners.first()).copied();
                chart.draw_series(LineSeries::new(outline, SET.stroke_width(2)))?;
            } else {
                // a piece seen edge on
                chart.draw_series(LineSeries::new(corners, SET.mix(0.6).stroke_width(15)))?;
            }
        }
        Ok(())
    }

    /// Finished samples, one a cell.
    fn dots(&self, area: &Area, chart: &Chart) -> Outcome<()> {
        let mut known = HashSet::new();
        for speeds in self.study.samples.finished() {
            let (x, y) = backend(area, chart, self.place(speeds));
            if known.insert((x.div_euclid(CELL), y.div_euclid(CELL))) {
                dot(area, (x, y))?;
            }
        }
        Ok(())
    }

    /// Marks of sequences, each place once, with the first contact of those that end there.
    fn sequence_marks(
        &self,
        area: &Area,
        at: &dyn Fn(Place) -> (i32, i32),
        is_named: bool,
    ) -> Outcome<()> {
        let mut places: Vec<((i32, i32), String)> = Vec::new();
        for (first, sequence) in self.study.sequences.iter().enumerate() {
            let (x, y) = at(self.place(&sequence.speeds));
            let near = |known: &&mut ((i32, i32), String)| {
                let (x0, y0) = known.0;
                (x - x0).abs() < 6 && (y - y0).abs() < 6
            };
            if let Some(known) = places.iter_mut().find(near) {
                known.1 = format!("{}, {}", known.1, letter(first));
            } else {
                places.push(((x, y), letter(first).to_string()));
            }
        }
        let (width, _) = area.dim_in_pixel();
        for (i, ((x, y), names)) in places.iter().enumerate() {
            order_mark(area, (*x, *y))?;
            if !is_named {
                continue;
            }
            let crowds = |other: &(usize, &((i32, i32), String))| {
                let (x0, y0) = other.1.0;
                other.0 != i && (0..240).contains(&(x0 - x)) && (y0 - y).abs() < 50
            };
            let is_crowded = places.iter().enumerate().any(|other| crowds(&other));
            let is_far_right = 4 * x > 3 * i32::try_from(width)?;
            let (side, shift) = if is_far_right || is_crowded {
                (HPos::Right, -22)
            } else {
                (HPos::Left, 22)
            };
            let style = text(26, IN_ORDER).pos(Pos::new(side, VPos::Center));
            area.draw_text(&format!("{names} first"), &style, (x + shift, y - 24))?;
        }
        Ok(())
    }
}

/// Where a contact neither approaches nor slips.
fn axes(chart: &mut Chart, low: Place, high: Place) -> Outcome<()> {
    let style = grey(120).stroke_width(2);
    for line in [[(0.0, low.1), (0.0, high.1)], [(low.0, 0.0), (high.0, 0.0)]] {
        if let Some(line) = clip(line, low, high) {
            chart.draw_series(LineSeries::new(line, style))?;
        }
    }
    Ok(())
}

/// Where a place of a chart lies in its area.
fn backend(area: &Area, chart: &Chart, place: Place) -> (i32, i32) {
    let (across, down) = area.get_pixel_range();
    let (x, y) = chart.backend_coord(&place);
    (x - across.start, y - down.start)
}
