//! Where a ray enters a shape.
//!
//! All candidates are computed, a point of each face of the shape, in the axes of the body and from
//! the place where the ray passes its centre, so that rounding follows the size of the shape and not
//! the length of the way. The first that lies on the surface is where a convex shape is entered.

use nalgebra::Vector3;

use super::PlacedShape;
use super::convex::{Convex, Core};
#[cfg(feature = "parry")]
use super::foreign::as_ours;
use crate::InputError;
use crate::bodies::ShapeKind;

/// A ray: its start and its unit direction.
#[derive(Clone, Copy, Debug)]
pub(in crate::bodies) struct RayLine {
    pub(in crate::bodies) origin: Vector3<f64>,
    pub(in crate::bodies) direction: Vector3<f64>,
}

/// The way to a surface, and its unit normal there; zero for a ray that starts inside.
#[derive(Clone, Copy, Debug)]
pub(in crate::bodies) struct Hit {
    pub(in crate::bodies) distance: f64,
    pub(in crate::bodies) normal: Vector3<f64>,
}

/// Where a ray enters a shape, on a way up to `most`.
///
/// # Errors
/// [`InputError`] where parry panics or its answer is not finite.
#[cfg_attr(
    not(feature = "parry"),
    expect(clippy::unnecessary_wraps, reason = "shapes of parry can fail")
)]
pub(in crate::bodies) fn cast(
    placed: PlacedShape<'_>,
    line: RayLine,
    most: f64,
) -> Result<Option<Hit>, InputError> {
    #[cfg(feature = "parry")]
    if placed.shape.kind().is_parry() {
        return match as_ours(placed) {
            Some((shape, pose)) => cast(PlacedShape::new(&shape, &pose), line, most),
            None => super::foreign::cast(placed, line, most),
        };
    }
    let pose = placed.pose;
    let hit = if let Some(convex) = placed.convex() {
        enter(&convex, line)
    } else if placed.shape.kind() == ShapeKind::Plane {
        let normal = pose.axis(2);
        let height = normal.dot(&(line.origin - pose.position()));
        let falls = -normal.dot(&line.direction);
        let inside = (height <= 0.0).then_some(Hit {
            distance: 0.0,
            normal: Vector3::zeros(),
        });
        let distance = height / falls;
        inside.or_else(|| (falls > 0.0).then_some(Hit { distance, normal }))
    } else {
        None
    };
    Ok(hit.filter(|hit| hit.distance <= most))
}

fn enter(shape: &Convex<'_>, line: RayLine) -> Option<Hit> {
    let origin = shape.pose.to_body(line.origin);
    if is_inside(shape, origin) {
        return Some(Hit {
            distance: 0.0,
            normal: Vector3::zeros(),
        });
    }
    let direction = shape.pose.turned_back(line.direction);
    // From the point nearest to the centre.
    let shift = -origin.dot(&direction);
    let mut first = First {
        from: origin + direction * shift,
        direction,
        shift,
        best: None,
    };
    match shape.core {
        Core::Point => first.ball(Vector3::zeros(), shape.radius),
        Core::Segment => {
            let half = shape.half[2];
            first.ball(Vector3::z() * half, shape.radius);
            first.ball(Vector3::z() * -half, shape.radius);
            first.side([-half, half], [shape.radius; 2]);
        }
        Core::Box => {
            for k in 0..3 {
                for sign in [1.0, -1.0] {
                    first.face(k, sign, shape.half);
                }
            }
        }
        Core::Cylinder | Core::Cone => {
            let [low, high] = shape.discs();
            first.side([low.at, high.at], [low.radius, high.radius]);
            first.disc(low.at, -1.0, low.radius);
            first.disc(high.at, 1.0, high.radius);
        }
    }
    let Hit { distance, normal } = first.best?;
    let normal = shape.pose.turned(normal);
    Some(Hit { distance, normal })
}

fn is_inside(shape: &Convex<'_>, point: Vector3<f64>) -> bool {
    let world = shape.pose.to_world(point);
    match shape.core {
        Core::Box => (0..3).all(|k| point[k].abs() <= shape.half[k]),
        _ => shape.nearest(world).distance <= shape.radius,
    }
}

/// The first point of a ray on some faces.
struct First {
    from: Vector3<f64>,
    direction: Vector3<f64>,
    /// The way from the start of the ray to `from`.
    shift: f64,
    best: Option<Hit>,
}

impl First {
    fn at(&self, along: f64) -> Vector3<f64> {
        self.from + self.direction * along
    }

    /// A place on a face with its normal, if the ray comes from outside there.
    fn add(&mut self, along: f64, normal: Vector3<f64>) {
        let distance = along + self.shift;
        let nearer = self.best.is_none_or(|best| distance < best.distance);
        if distance >= 0.0 && nearer && normal.dot(&self.direction) <= 0.0 {
            self.best = Some(Hit { distance, normal });
        }
    }

    fn ball(&mut self, centre: Vector3<f64>, radius: f64) {
        let between = self.from - centre;
        let squares = [
            1.0,
            between.dot(&self.direction),
            between.norm_squared() - radius * radius,
        ];
        if let Some([along, _]) = roots(squares) {
            self.add(along, (self.at(along) - centre) / radius);
        }
    }

    fn face(&mut self, k: usize, sign: f64, half: [f64; 3]) {
        let along = (sign * half[k] - self.from[k]) / self.direction[k];
        let place = self.at(along);
        if (0..3).all(|i| i == k || place[i].abs() <= half[i]) {
            let mut normal = Vector3::zeros();
            normal[k] = sign;
            self.add(along, normal);
        }
    }

    fn disc(&mut self, at: f64, sign: f64, radius: f64) {
        let along = (at - self.from.z) / self.direction.z;
        let place = self.at(along);
        if place.x.hypot(place.y) <= radius {
            self.add(along, Vector3::z() * sign);
        }
    }

    /// The side between two heights, where the radii are those.
    fn side(&mut self, [low, high]: [f64; 2], [foot, top]: [f64; 2]) {
        let slope = (foot - top) / (high - low);
        // x² + y² = r², with r = foot − slope (z − low)
        let (p, d) = (self.from, self.direction);
        let (radius, narrows) = (foot - slope * (p.z - low), -slope * d.z);
        let squares = [
            d.x * d.x + d.y * d.y - narrows * narrows,
            p.x * d.x + p.y * d.y - radius * narrows,
            p.x * p.x + p.y * p.y - radius * radius,
        ];
        for along in roots(squares).into_iter().flatten() {
            let place = self.at(along);
            if place.z >= low && place.z <= high {
                let from_axis = place.x.hypot(place.y);
                let outwards = Vector3::new(place.x, place.y, slope * from_axis);
                if let Some(normal) = outwards.try_normalize(0.0) {
                    self.add(along, normal);
                }
            }
        }
    }
}

/// The roots of `a x² + 2 b x + c`, the lower first; twice the same where `a` vanishes.
fn roots([a, b, c]: [f64; 3]) -> Option<[f64; 2]> {
    let under = b * b - a * c;
    if under < 0.0 {
        return None;
    }
    let sum = -b - under.sqrt().copysign(b);
    if a == 0.0 || sum == 0.0 {
        let root = if a == 0.0 { c / (2.0 * -b) } else { 0.0 };
        return root.is_finite().then_some([root; 2]);
    }
    let (one, two) = (sum / a, c / sum);
    Some([one.min(two), one.max(two)])
}
