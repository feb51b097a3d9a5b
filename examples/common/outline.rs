//! Bodies of a scene from the side, along the y axis: outlines in the plane of x and z.

use plotters::prelude::*;
use saltation::bodies::{Pose, Scene, ShapeKind};
use saltation::nalgebra::Vector3;

use super::common::chart::{Area, rounded};
use super::common::flags::Outcome;

/// Where points of the plane are drawn: units a metre, and the place of the origin.
#[derive(Clone, Copy)]
pub(crate) struct View {
    pub(crate) scale: f64,
    pub(crate) origin: (f64, f64),
}

/// How an outline is drawn: filled, and with a line of some width.
#[derive(Clone, Copy)]
pub(crate) struct Look {
    pub(crate) fill: Option<RGBColor>,
    pub(crate) line: RGBColor,
    pub(crate) width: u32,
}

impl View {
    pub(crate) fn point(&self, x: f64, z: f64) -> (i32, i32) {
        (
            rounded(self.origin.0 + self.scale * x),
            rounded(self.origin.1 - self.scale * z),
        )
    }

    /// A body at coordinates; planes are not drawn.
    pub(crate) fn body(
        &self,
        area: &Area,
        scene: &Scene,
        body: usize,
        q: &[f64],
        look: Look,
    ) -> Outcome<()> {
        let shape = scene.body(body).map(|body| body.shape().kind());
        let (Some(pose), Some(shape)) = (scene.pose(body, q), shape) else {
            return Ok(());
        };
        let outline = outline(&pose, shape);
        let outline: Vec<_> = outline.iter().map(|(x, z)| self.point(*x, *z)).collect();
        if let Some(fill) = look.fill {
            area.draw(&Polygon::new(outline.clone(), fill.filled()))?;
        }
        let closed: Vec<_> = outline.iter().chain(outline.first()).copied().collect();
        area.draw(&PathElement::new(
            closed,
            look.line.stroke_width(look.width),
        ))?;
        Ok(())
    }

    /// A path.
    pub(crate) fn path(
        &self,
        area: &Area,
        points: &[(f64, f64)],
        style: ShapeStyle,
    ) -> Outcome<()> {
        let points: Vec<_> = points.iter().map(|(x, z)| self.point(*x, *z)).collect();
        area.draw(&PathElement::new(points, style))?;
        Ok(())
    }
}

/// The outline of a box or a sphere; of anything else nothing.
fn outline(pose: &Pose, shape: ShapeKind) -> Vec<(f64, f64)> {
    match shape {
        ShapeKind::Sphere { radius } => {
            let centre = pose.position();
            let round = (0..48).map(|k| (f64::from(k) * std::f64::consts::TAU / 48.0).sin_cos());
            round
                .map(|(sin, cos)| (centre.x + radius * cos, centre.z + radius * sin))
                .collect()
        }
        ShapeKind::Box { half } => {
            let sign = |k: usize, bit: usize| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
            let corners = (0..8).map(|k| Vector3::from_fn(|i, _| sign(k, i) * half[i]));
            hull(
                corners
                    .map(|corner| pose.to_world(corner))
                    .map(|p| (p.x, p.z))
                    .collect(),
            )
        }
        _ => Vec::new(),
    }
}

/// The convex hull of points (Andrew's chains).
fn hull(mut points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    // By columns that rounding does not tell apart.
    let column = |x: f64| (x * 1e9).round();
    points.sort_by(|a, b| {
        column(a.0)
            .total_cmp(&column(b.0))
            .then(a.1.total_cmp(&b.1))
    });
    let chain = |points: &mut dyn Iterator<Item = (f64, f64)>| {
        let mut chain: Vec<(f64, f64)> = Vec::new();
        for p in points {
            while let [.., a, b] = chain[..] {
                if (b.0 - a.0) * (p.1 - a.1) - (b.1 - a.1) * (p.0 - a.0) > 0.0 {
                    break;
                }
                chain.pop();
            }
            chain.push(p);
        }
        chain.pop();
        chain
    };
    // Edges along the line of sight are points, to rounding.
    points.dedup_by(|a, b| (a.0 - b.0).hypot(a.1 - b.1) < 1e-9);
    let mut below = chain(&mut points.iter().copied());
    below.extend(chain(&mut points.iter().rev().copied()));
    below
}
