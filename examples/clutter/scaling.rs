//! How time, iterations, contacts and errors go with the number of bodies (figures 11 to 13).

use std::io::Write;
use std::path::{Path, PathBuf};

use plotters::prelude::*;
use saltation::models::Clutter;

use crate::common::chart::{Area, Key, PALETTE, chart, grey, headline, picture, text};
use crate::common::flags::Outcome;
use crate::record::{Fall, Part, RTOL};
use crate::{linear, logarithmic};

/// One number of bodies.
pub(crate) struct Size {
    bodies: usize,
    walls: bool,
    transient: Part,
    steady: Part,
    /// Of all steps.
    momentum_error: f64,
}

/// From 10 bodies on, twice as many each time.
pub(crate) fn study(fall: &Fall, most: usize, progress: bool) -> Outcome<Vec<Size>> {
    let numbers = std::iter::successors(Some(10), |n| Some(2 * n)).take_while(|n| *n <= most);
    let mut sizes = Vec::new();
    for bodies in numbers {
        for walls in [true, false] {
            let clutter = Clutter {
                bodies,
                walls,
                ..fall.clutter
            };
            let run = Fall { clutter, ..*fall }.run(progress)?;
            sizes.push(Size {
                bodies,
                walls,
                transient: run.transient(),
                steady: run.steady(),
                momentum_error: run.whole().momentum_error,
            });
        }
    }
    Ok(sizes)
}

pub(crate) fn report(sizes: &[Size], out: &mut dyn Write) -> Outcome<()> {
    writeln!(
        out,
        "\nbodies  walls  pressing  islands  largest  iterations/island: first 2 s, last 2 s  median time of a step [ms]: first 2 s, last 2 s  mean momentum error"
    )?;
    for size in sizes {
        writeln!(
            out,
            "{:>6}  {:<5}  {:>8.0} {:>8.1} {:>8} {:>28.2} {:>9.2} {:>31.3} {:>9.3} {:>20.1e}",
            size.bodies,
            if size.walls { "yes" } else { "no" },
            size.steady.pressing,
            size.steady.islands,
            size.steady.largest,
            size.transient.iterations,
            size.steady.iterations,
            1e3 * size.transient.time(),
            1e3 * size.steady.time(),
            size.momentum_error,
        )?;
    }
    Ok(())
}

/// `clutter_scaling.svg`.
pub(crate) fn draw(folder: &Path, fall: &Fall, sizes: &[Size]) -> Outcome<PathBuf> {
    let keys = [
        (30, Key::new("between walls", PALETTE[5], (60, 5))),
        (360, Key::new("without walls", PALETTE[6], (60, 5))),
        (690, Key::new("first 2 s", grey(90), (-1, 20))),
        (920, Key::new("last 2 s", grey(90), (0, 20))),
    ];
    let title = format!("Heaps of many sizes, steps of {} s", fall.dt);
    picture(folder, "clutter_scaling.svg", 1640, |area| {
        let (upper, lower) = headline(area, &title, &keys)?.split_vertically(757);
        let (left, right) = upper.split_horizontally(900);
        let time = |part: &Part| 1e3 * part.time();
        let most = sizes.iter().map(|size| size.bodies).max().unwrap_or(10) as f64;
        let all = || {
            let both = sizes.iter().flat_map(|s| [&s.transient, &s.steady]);
            both.map(time)
        };
        let (low, high) = all().fold((f64::INFINITY, 0.0_f64), |(a, b), t| (a.min(t), b.max(t)));
        let bodies = || logarithmic::axis("bodies", 8.0..1.25 * most);
        let y = logarithmic::axis("median time of a step [ms]", 0.6 * low..1.8 * high);
        let mut times = chart(&left, bodies(), y)?;
        let line = [(10.0, low), (most, low * most / 10.0)];
        times.draw_series(LineSeries::new(line, grey(150).stroke_width(3)))?;
        let inside = times.plotting_area().strip_coord_spec();
        inside.draw_text("grey: linear", &text(28, grey(80)), (24, 30))?;
        curves(&mut times, sizes, time)?;
        draw_iterations(&right, sizes, most)?;
        let (left, right) = lower.split_horizontally(900);
        draw_contacts(&left, sizes, most)?;
        draw_errors(&right, sizes, most)
    })
}

fn draw_iterations(area: &Area, sizes: &[Size], most: f64) -> Outcome<()> {
    let all = sizes
        .iter()
        .flat_map(|s| [s.transient.iterations, s.steady.iterations]);
    let top = 1.15 * all.fold(1.0, f64::max);
    let x = logarithmic::axis("bodies", 8.0..1.25 * most);
    let y = linear::axis("Newton iterations of an island", 0.0..top, 5);
    let mut chart = chart(area, x, y)?;
    curves(&mut chart, sizes, |part| part.iterations)
}

fn draw_contacts(area: &Area, sizes: &[Size], most: f64) -> Outcome<()> {
    let counts = sizes.iter().map(|s| s.steady.pressing);
    let (low, high) = counts.fold((f64::INFINITY, 1.0_f64), |(a, b), c| (a.min(c), b.max(c)));
    let x = logarithmic::axis("bodies", 8.0..1.25 * most);
    let y = logarithmic::axis(
        "contacts that press in the last 2 s",
        0.6 * low.max(1.0)..1.8 * high,
    );
    let mut chart = chart(area, x, y)?;
    points(&mut chart, sizes, |size| size.steady.pressing)
}

fn draw_errors(area: &Area, sizes: &[Size], most: f64) -> Outcome<()> {
    let x = logarithmic::axis("bodies", 8.0..1.25 * most);
    let y = logarithmic::axis("mean momentum error of a step", 0.005 * RTOL..3.0 * RTOL);
    let mut chart = chart(area, x, y)?;
    let line = [(8.0, RTOL), (1.25 * most, RTOL)];
    chart.draw_series(LineSeries::new(line, grey(150).stroke_width(3)))?;
    let inside = chart.plotting_area().strip_coord_spec();
    inside.draw_text("grey: tolerance", &text(28, grey(80)), (24, 96))?;
    points(&mut chart, sizes, |size| size.momentum_error)
}

/// A curve with filled dots for heaps between walls, and one for those without.
fn points(
    chart: &mut crate::common::chart::Chart,
    sizes: &[Size],
    value: impl Fn(&Size) -> f64,
) -> Outcome<()> {
    for (walls, colour) in [(true, PALETTE[5]), (false, PALETTE[6])] {
        let of = sizes.iter().filter(|size| size.walls == walls);
        let points: Vec<_> = of.map(|size| (size.bodies as f64, value(size))).collect();
        chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(4)))?;
        let dots = points
            .into_iter()
            .map(|p| Circle::new(p, 10, colour.filled()));
        chart.draw_series(dots)?;
    }
    Ok(())
}

fn curves(
    chart: &mut crate::common::chart::Chart,
    sizes: &[Size],
    value: impl Fn(&Part) -> f64,
) -> Outcome<()> {
    for (walls, colour) in [(true, PALETTE[5]), (false, PALETTE[6])] {
        let of = || sizes.iter().filter(move |size| size.walls == walls);
        for steady in [false, true] {
            let part = |size: &Size| {
                value(if steady {
                    &size.steady
                } else {
                    &size.transient
                })
            };
            let points: Vec<(f64, f64)> = of().map(|s| (s.bodies as f64, part(s))).collect();
            chart.draw_series(LineSeries::new(points.clone(), colour.stroke_width(4)))?;
            let style = if steady {
                colour.filled()
            } else {
                colour.stroke_width(4)
            };
            chart.draw_series(points.into_iter().map(|p| Circle::new(p, 10, style)))?;
        }
    }
    Ok(())
}
