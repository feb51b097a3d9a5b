//! The robot before and after the search (Figure 7).

use std::f64::consts::TAU;
use std::path::{Path, PathBuf};

use plotters::prelude::*;

use crate::common::chart::{Area, Chart, Key, PALETTE, chart, grey, headline, picture, text};
use crate::common::flags::Outcome;
use crate::linear;
use crate::robot::Robot;

const BODY: RGBColor = PALETTE[0];
const LEFT: RGBColor = PALETTE[1];
const RIGHT: RGBColor = PALETTE[5];
const TAIL: RGBColor = PALETTE[3];
const CONTACT: RGBColor = PALETTE[6];
const FLOOR: RGBColor = grey(120);
const FAINT: RGBColor = grey(205);
/// Cosines below this are rounding.
const ROUNDING: f64 = 1e-12;
/// Height of the picture.
const HEIGHT: u32 = 876;
/// Width and height of the plot in a column of 900 (units): what the axes leave. Both axes have the
/// same scale.
const PLOT: [f64; 2] = [668.0, HEIGHT as f64 - 250.0];

/// `trex.svg`.
pub(crate) fn draw(folder: &Path, robots: &[Robot]) -> Outcome<PathBuf> {
    picture(folder, "trex.svg", HEIGHT, |area| {
        let keys = [
            (30, Key::new("bodies", BODY, (60, 6))),
            (240, Key::new("left leg", LEFT, (60, 8))),
            (460, Key::new("right leg", RIGHT, (60, 8))),
            (690, Key::new("tail", TAIL, (60, 8))),
            (860, Key::new("contact", CONTACT, (0, 22))),
            (
                1040,
                Key::new("before, beneath the robot after", FAINT, (60, 6)),
            ),
        ];
        let title = "TREX in the posture of its landing: foot and tail touch the floor at once";
        let below = headline(area, title, &keys)?;
        let (left, right) = below.split_horizontally(900);
        column(&left, robots, 0)?;
        column(&right, robots, 1)
    })
}

fn column(area: &Area, robots: &[Robot], which: usize) -> Outcome<()> {
    let reach = robots.iter().flat_map(|robot| {
        let points = robot.system.points(&robot.q);
        let radius = robot.design[0];
        points
            .into_iter()
            .flat_map(move |[x, _]| [x - radius.min(5.0), x + 1.5])
    });
    let (first, last) = reach.fold((-10.0f64, 10.0f64), |(a, b), x| (a.min(x), b.max(x)));
    let wide = last - first;
    let high = wide * PLOT[1] / PLOT[0];
    let floor = -0.08 * high;
    let mut chart = chart(
        area,
        linear::axis("x [cm]", first..last, 8),
        linear::axis("height [cm]", floor..floor + high, 6),
    )?;
    let line = [(first, 0.0), (last, 0.0)];
    chart.draw_series(LineSeries::new(line, FLOOR.stroke_width(6)))?;
    if which == 1 {
        body(&mut chart, &robots[0], [FAINT; 4], 4)?;
    }
    let robot = &robots[which];
    body(&mut chart, robot, [BODY, LEFT, RIGHT, TAIL], 8)?;
    let cosine = robot.impact(0.0)?.cosines()[(0, 1)];
    let plot = chart.plotting_area().strip_coord_spec();
    let [r_1, r_2, l_u, l_l] = robot.design;
    let words = [
        if cosine.abs() < ROUNDING {
            format!("{}: the normals are orthogonal", robot.name)
        } else {
            format!("{}: cosine between the normals {cosine:.1e}", robot.name)
        },
        format!(
            "spheres {r_1:.2} and {r_2:.2} cm, tail {:.2} cm",
            robot.system.tail()
        ),
        format!("legs {l_u:.2} + {l_l:.2} cm"),
    ];
    for (k, words) in (0..).zip(words) {
        plot.draw_text(&words, &text(28, grey(30)), (24, 30 + 36 * k))?;
    }
    Ok(())
}

/// Spheres, legs and tail; contact points where a limb touches the floor.
fn body(
    chart: &mut Chart,
    robot: &Robot,
    [body, left, right, tail]: [RGBColor; 4],
    width: u32,
) -> Outcome<()> {
    let points = robot.system.points(&robot.q);
    let &[
        front,
        rear,
        left_knee,
        left_foot,
        right_knee,
        right_foot,
        tip,
    ] = points.as_slice()
    else {
        return Err("the robot has other points than this picture draws".into());
    };
    let limbs = [
        (left, vec![front, left_knee, left_foot]),
        (right, vec![front, right_knee, right_foot]),
        (tail, vec![rear, tip]),
    ];
    for ([x, y], radius) in [front, rear].into_iter().zip(robot.design) {
        let around = (0..=180).map(|k| {
            let (sine, cosine) = (TAU * f64::from(k) / 180.0).sin_cos();
            (x + radius * cosine, y + radius * sine)
        });
        chart.draw_series(LineSeries::new(around, body.stroke_width(width / 2 + 2)))?;
    }
    for (colour, limb) in &limbs {
        let line = limb.iter().map(|[x, y]| (*x, *y));
        chart.draw_series(LineSeries::new(line.clone(), colour.stroke_width(width)))?;
        chart.draw_series(line.map(|at| Circle::new(at, width, colour.filled())))?;
    }
    if body == BODY {
        for [x, y] in [left_foot, right_foot, tip] {
            if y.abs() < 1e-6 {
                let dot = Circle::new((x, y), 13, CONTACT.filled());
                chart.draw_series([dot])?;
            }
        }
    }
    Ok(())
}
