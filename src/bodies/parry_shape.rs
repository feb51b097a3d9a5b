//! A shape of parry as a shape of a body: its volume, its principal axes, its radius.

use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use nalgebra::{Matrix3, SymmetricEigen, Vector3};
use parry3d_f64::glamx::DMat3;
use parry3d_f64::shape::{ShapeType, SharedShape};

use super::Pose;
use crate::{InputError, validate};

/// A shape of parry and what follows from it.
#[derive(Clone)]
pub(super) struct Foreign {
    pub(super) shape: SharedShape,
    /// Its own axes in the axes of the body.
    pub(super) frame: Pose,
    /// 0 where it has none.
    pub(super) volume: f64,
    pub(super) inertia: [f64; 3],
    pub(super) radius: f64,
}

impl fmt::Debug for Foreign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.shape.shape_type();
        write!(f, "{kind:?} of radius {} m", self.radius)
    }
}

impl PartialEq for Foreign {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shape.0, &other.shape.0)
    }
}

impl Foreign {
    /// As [`Shape::parry`](super::Shape::parry).
    pub(super) fn new(shape: SharedShape) -> Result<Self, InputError> {
        let kind = shape.shape_type();
        let own = !matches!(kind, ShapeType::HalfSpace | ShapeType::Custom);
        let rule = "must be one of parry's own and not a half-space, which is Shape::plane";
        validate::unless(own, "shape", f64::from(kind as u8), rule)?;
        // parry panics at some numbers that make no sense.
        let measured = catch_unwind(AssertUnwindSafe(|| {
            (
                mass_properties(&shape),
                shape.compute_local_bounding_sphere(),
            )
        }));
        let ((volume, inertia, body), ball) = measured.map_err(|_| InputError::BadSetting {
            name: "shape",
            entry: 0,
            value: f64::from(kind as u8),
            rule: "must have a volume and bounds: parry panicked",
        })?;
        let centre = Vector3::from(ball.center.to_array());
        let radius = (centre - body.position()).norm() + ball.radius;
        let rule = "must be finite and > 0";
        validate::unless(radius > 0.0 && radius.is_finite(), "radius", radius, rule)?;
        Ok(Self {
            shape,
            frame: body.inverse(),
            volume,
            inertia,
            radius,
        })
    }
}

/// Volume, principal moments of inertia at density 1, and the axes of the body in those of the
/// shape.
fn mass_properties(shape: &SharedShape) -> (f64, [f64; 3], Pose) {
    let none = (0.0, [0.0; 3], Pose::identity());
    if !has_volume(shape) {
        return none;
    }
    let properties = shape.mass_properties(1.0);
    let inertia = matrix(properties.reconstruct_inertia_matrix());
    let centre = Vector3::from(properties.local_com.to_array());
    let (volume, finite) = (properties.mass(), |x: &f64| x.is_finite());
    let sound = inertia.iter().all(finite) && centre.iter().all(finite) && volume.is_finite();
    if !sound || volume <= 0.0 {
        return none;
    }
    let diagonal = inertia.diagonal();
    // Axes of symmetry are kept: those that are found for equal moments could be any.
    let coupled = (inertia - Matrix3::from_diagonal(&diagonal)).amax();
    let (moments, axes) = if coupled <= 1e-12 * diagonal.amax() {
        (diagonal, Matrix3::identity())
    } else {
        let SymmetricEigen {
            eigenvalues,
            mut eigenvectors,
        } = inertia.symmetric_eigen();
        if eigenvectors.determinant() < 0.0 {
            eigenvectors.neg_mut();
        }
        (eigenvalues, eigenvectors)
    };
    (volume, moments.into(), Pose::from_parts(centre, axes))
}

fn matrix(m: DMat3) -> Matrix3<f64> {
    Matrix3::from_column_slice(&m.to_cols_array())
}

/// False for height fields, open meshes, and compounds that hold one.
fn has_volume(shape: &SharedShape) -> bool {
    if let Some(mesh) = shape.as_trimesh() {
        return is_closed(mesh.indices());
    }
    match shape.as_compound() {
        Some(compound) => compound.shapes().iter().all(|(_, part)| has_volume(part)),
        None => shape.as_heightfield().is_none(),
    }
}

/// True when each edge of the triangles is there once in each direction.
fn is_closed(triangles: &[[u32; 3]]) -> bool {
    let edges = |triangle: &[u32; 3]| {
        let [a, b, c] = *triangle;
        [(a, b), (b, c), (c, a)]
    };
    let mut all = BTreeSet::new();
    let once = triangles
        .iter()
        .flat_map(edges)
        .all(|edge| all.insert(edge));
    once && all.iter().all(|&(a, b)| all.contains(&(b, a)))
}
