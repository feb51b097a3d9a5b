//! Distances and rays of shapes of parry.

use nalgebra::Vector3;
use parry3d_f64::glamx::DVec3;
use parry3d_f64::query::{Ray as ParryRay, contact};

use super::super::{Hit, ManifoldPoint, PlacedShape, RayLine};
use super::{InOwnAxes, of_parry, vector};
use crate::bodies::Shape;
use crate::{InputError, validate};

/// The closest points of two shapes, one at least of parry, or the deepest of their overlap.
pub(in crate::bodies::narrow_phase) fn distance(
    a: PlacedShape<'_>,
    b: PlacedShape<'_>,
) -> Result<ManifoldPoint, InputError> {
    let (a, b) = (InOwnAxes::new(a), InOwnAxes::new(b));
    // No pair is further apart than this; parry takes squares of it.
    let far = (a.axes.translation - b.axes.translation).length();
    let within = [a.shape, b.shape].map(Shape::bounding_radius);
    let finite = within.iter().filter(|radius| radius.is_finite());
    let most = 2.0 * (far + finite.sum::<f64>()) + 1.0;
    let found = of_parry(a.shape, b.shape, |of_a, of_b| {
        contact(&a.axes, of_a, &b.axes, of_b, most)
    })?;
    let found = found.ok().flatten();
    let rule = "parry has no distance of these two shapes";
    let Some(found) = found else {
        return Err(InputError::BadSetting {
            name: "shapes",
            entry: 0,
            value: 0.0,
            rule,
        });
    };
    let (on_a, on_b) = (vector(found.point1), vector(found.point2));
    validate::finite("point of parry", on_a.as_slice())?;
    validate::finite("point of parry", on_b.as_slice())?;
    let normal = -vector(found.normal1);
    let length = normal.norm();
    let rule = "a normal of parry is no unit vector";
    validate::unless((length - 1.0).abs() < 1e-6, "normal", length, rule)?;
    let normal = normal / length;
    Ok(ManifoldPoint {
        feature: 0,
        // The distance of parry has the wrong sign over half-spaces.
        gap: normal.dot(&(on_a - on_b)),
        normal,
        on_a,
        on_b,
    })
}

/// Where a ray enters a shape of parry; its normal is zero for a ray that starts inside.
pub(in crate::bodies::narrow_phase) fn cast(
    placed: PlacedShape<'_>,
    line: RayLine,
    most: f64,
) -> Result<Option<Hit>, InputError> {
    let of = InOwnAxes::new(placed);
    let array = |v: Vector3<f64>| DVec3::from_array(v.into());
    let ray = ParryRay::new(array(line.origin), array(line.direction));
    let found = of_parry(of.shape, of.shape, |shape, _| {
        shape.cast_ray_and_get_normal(&of.axes, &ray, most.min(f64::MAX), true)
    })?;
    let Some(found) = found else {
        return Ok(None);
    };
    let normal = vector(found.normal);
    validate::finite("distance of parry", &[found.time_of_impact])?;
    validate::finite("normal of parry", normal.as_slice())?;
    Ok(Some(Hit {
        distance: found.time_of_impact,
        normal,
    }))
}
