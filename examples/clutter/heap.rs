//! Heaps between walls and without from the side, at the start and two seconds later (figure 8).

use std::path::{Path, PathBuf};

use plotters::prelude::*;
use saltation::bodies::{Pose, ShapeKind};
use saltation::nalgebra::Vector3;

use crate::common::chart::{Area, PALETTE, grey, headline, picture, rounded, text};
use crate::common::flags::Outcome;
use crate::record::{Fall, PART, Run};

/// Heights of the panels, and of the ground from below, in units.
const HEIGHTS: [u32; 2] = [1100, 600];
const BELOW: f64 = 190.0;
/// Half of the width that is shown, over that between the walls.
const SHOWN: f64 = 2.0;

/// A parallel projection from the side and a little from above.
struct View {
    right: Vector3<f64>,
    up: Vector3<f64>,
    towards: Vector3<f64>,
    /// Units a metre, and where the middle of the ground is.
    scale: f64,
    origin: (f64, f64),
}

impl View {
    fn new(scale: f64, origin: (f64, f64)) -> Self {
        let (turn, rise) = (0.35_f64.sin_cos(), 0.16_f64.sin_cos());
        let towards = Vector3::new(turn.0 * rise.1, -turn.1 * rise.1, rise.0);
        let right = Vector3::new(turn.1, turn.0, 0.0);
        Self {
            right,
            up: towards.cross(&right),
            towards,
            scale,
            origin,
        }
    }

    fn point(&self, p: Vector3<f64>) -> (i32, i32) {
        let (x, y) = (self.right.dot(&p), self.up.dot(&p));
        (
            rounded(self.origin.0 + self.scale * x),
            rounded(self.origin.1 - self.scale * y),
        )
    }
}

/// `clutter_heap.svg`: a column for each heap.
pub(crate) fn draw(folder: &Path, heaps: [(&Fall, &Run); 2]) -> Outcome<PathBuf> {
    let title = format!(
        "{} spheres and cubes, at the start and after {PART} s (side view)",
        heaps[0].0.clutter.bodies
    );
    let half = heaps[0].0.clutter.half_width();
    let places = heaps[0].1.shown[0].chunks_exact(7);
    let high = places.fold(0.0, |top: f64, q| top.max(q[2]));
    let size = 2.0 * heaps[0].0.clutter.size;
    // The turned square of the ground is 2.6 half widths wide, and seen a quarter of one deep.
    let scale = (900.0 / (2.6 * SHOWN * half))
        .min((f64::from(HEIGHTS[0]) - BELOW) / (high + size + 0.25 * half));
    picture(
        folder,
        "clutter_heap.svg",
        126 + HEIGHTS[0] + HEIGHTS[1],
        |area| {
            let below = headline(area, &title, &[])?;
            let (upper, lower) = below.split_vertically(HEIGHTS[0]);
            for (moment, row) in [upper, lower].iter().enumerate() {
                let (left, right) = row.split_horizontally(900);
                for (panel, (fall, run)) in [left, right].iter().zip(heaps) {
                    draw_panel(panel, fall, run, moment, scale)?;
                }
            }
            Ok(())
        },
    )
}

fn draw_panel(area: &Area, fall: &Fall, run: &Run, moment: usize, scale: f64) -> Outcome<()> {
    let (width, height) = area.dim_in_pixel();
    let (width, height) = (f64::from(width), f64::from(height));
    let (scene, q) = (&run.scene, &run.shown[moment]);
    let view = View::new(scale, (0.5 * width, height - BELOW));
    let half = fall.clutter.half_width();
    if fall.clutter.walls {
        draw_ground(area, &view, half)?;
        draw_walls(area, &view, half)?;
    } else {
        draw_ground(area, &view, SHOWN * half)?;
    }
    let moving = (0..scene.len()).filter(|&body| scene.tree_of(body).is_some());
    let places = moving.filter_map(|body| Some((scene.position(body, q)?, body)));
    let (inside, outside): (Vec<_>, Vec<_>) =
        places.partition(|(at, _)| at.x.abs().max(at.y.abs()) < SHOWN * half);
    let mut bodies: Vec<(f64, usize)> = inside
        .into_iter()
        .map(|(at, body)| (view.towards.dot(&at), body))
        .collect();
    bodies.sort_by(|a, b| a.0.total_cmp(&b.0));
    for (_, body) in bodies {
        if let (Some(pose), Some(described)) = (scene.pose(body, q), scene.body(body)) {
            draw_body(area, &view, &pose, described.shape().kind())?;
        }
    }
    if !outside.is_empty() {
        let note = format!("{} outside of the picture", outside.len());
        area.draw_text(
            &note,
            &text(28, grey(80)),
            (rounded(0.55 * width), rounded(height) - 40),
        )?;
    }
    draw_length(area, &view)
}

/// The lower parts of the two walls at the back.
fn draw_walls(area: &Area, view: &View, half: f64) -> Outcome<()> {
    let (along_x, along_y) = (Vector3::x() * half, Vector3::y() * half);
    let top = Vector3::z() * 1.5 * half;
    for (out, along) in [
        (along_x, along_y),
        (-along_x, along_y),
        (along_y, along_x),
        (-along_y, along_x),
    ] {
        if view.towards.dot(&out) < 0.0 {
            let corners = [
                out - along,
                out + along,
                out + along + top,
                out - along + top,
            ];
            let corners = corners.map(|corner| view.point(corner)).to_vec();
            area.draw(&Polygon::new(corners.clone(), grey(246).filled()))?;
            let line = corners.iter().copied().chain([corners[0]]);
            let line = PathElement::new(line.collect::<Vec<_>>(), grey(190).stroke_width(2));
            area.draw(&line)?;
        }
    }
    Ok(())
}

/// The ground.
fn draw_ground(area: &Area, view: &View, half: f64) -> Outcome<()> {
    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)];
    let corners = corners.map(|(x, y)| view.point(Vector3::new(x * half, y * half, 0.0)));
    area.draw(&Polygon::new(corners.to_vec(), grey(232).filled()))?;
    let line = corners.into_iter().chain([corners[0]]);
    let line = PathElement::new(line.collect::<Vec<_>>(), grey(150).stroke_width(3));
    area.draw(&line)?;
    Ok(())
}

/// A bar of 10 cm.
fn draw_length(area: &Area, view: &View) -> Outcome<()> {
    let (_, height) = area.dim_in_pixel();
    let y = i32::try_from(height)? - 40;
    let end = 60 + rounded(0.1 * view.scale);
    area.draw(&Rectangle::new(
        [(60, y - 4), (end, y + 4)],
        grey(30).filled(),
    ))?;
    area.draw_text("10 cm", &text(28, grey(30)), (end + 16, y))?;
    Ok(())
}

fn draw_body(area: &Area, view: &View, pose: &Pose, kind: ShapeKind) -> Outcome<()> {
    match kind {
        ShapeKind::Sphere { radius } => {
            let centre = view.point(pose.position());
            // Lighter towards the light, from above on the left.
            for k in 0..12 {
                let share = f64::from(k) / 12.0;
                let size = rounded(radius * view.scale * (1.0 - share));
                let shift = rounded(0.32 * radius * view.scale * share);
                let colour = shade(PALETTE[6], 0.62 + 0.6 * share);
                let at = (centre.0 - shift, centre.1 - shift);
                area.draw(&Circle::new(at, size, colour.filled()))?;
            }
        }
        ShapeKind::Box { half } => {
            for face in 0..6 {
                draw_face(area, view, pose, half, face)?;
            }
        }
        _ => {}
    }
    Ok(())
}

/// A face of a box, where it is seen.
fn draw_face(area: &Area, view: &View, pose: &Pose, half: [f64; 3], face: usize) -> Outcome<()> {
    let (axis, sign) = (face % 3, if face < 3 { 1.0 } else { -1.0 });
    let mut normal = Vector3::zeros();
    normal[axis] = sign;
    let normal = pose.rotation() * normal;
    if normal.dot(&view.towards) <= 0.0 {
        return Ok(());
    }
    let (j, k) = ((axis + 1) % 3, (axis + 2) % 3);
    let corners = [(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)].map(|(a, b)| {
        let mut corner = Vector3::zeros();
        (corner[axis], corner[j], corner[k]) = (sign * half[axis], a * half[j], b * half[k]);
        view.point(pose.to_world(corner))
    });
    let light = Vector3::new(-0.45, -0.35, 0.82);
    let colour = shade(PALETTE[5], 0.85 + 0.45 * normal.dot(&light));
    area.draw(&Polygon::new(corners.to_vec(), colour.filled()))?;
    let edge = corners.into_iter().chain([corners[0]]);
    let edge = edge.collect::<Vec<_>>();
    let ink = shade(PALETTE[5], 0.4).stroke_width(2);
    area.draw(&PathElement::new(edge, ink))?;
    Ok(())
}

/// Darker below 1, towards white above.
fn shade(colour: RGBColor, light: f64) -> RGBColor {
    let tone = |c: u8| {
        let c = f64::from(c);
        let c = if light <= 1.0 {
            c * light
        } else {
            c + (255.0 - c) * (light - 1.0)
        };
        u8::try_from(rounded(c.clamp(0.0, 255.0))).unwrap_or(255)
    };
    RGBColor(tone(colour.0), tone(colour.1), tone(colour.2))
}
