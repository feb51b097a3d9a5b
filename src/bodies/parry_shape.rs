//! A shape of parry as a shape of a body: its volume, its principal axes, its radius.

use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use nalgebra::{Matrix3, Vector3};
use parry3d_f64::glamx::{DMat3, DVec3};
use parry3d_f64::shape::{
    Compound, HeightFieldFlags, ShapeType, SharedShape, TriMesh, TriMeshFlags, TypedShape,
};

use super::Pose;
use crate::linalg::decompose::symmetric_eigen;
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
        check(&shape)?;
        // parry panics at some numbers that make no sense.
        let measured = catch_unwind(AssertUnwindSafe(|| {
            let corrected = with_inner_edges(&shape);
            let shape = corrected.as_ref().unwrap_or(&shape);
            let ball = shape.compute_local_bounding_sphere();
            let properties = has_volume(shape).then(|| mass_properties(shape, ball.radius));
            (corrected, ball, properties)
        }));
        let (corrected, ball, properties) = measured.map_err(|_| InputError::BadSetting {
            name: "shape",
            entry: 0,
            value: f64::from(shape.shape_type() as u8),
            rule: "must have a volume and bounds: parry panicked",
        })?;
        let (volume, inertia, body) = match properties {
            None => (0.0, [0.0; 3], Pose::identity()),
            Some((volume, inertia, body)) => {
                validate::positive("volume of a shape", &[volume])?;
                validate::positive("moment of inertia of a shape", &inertia)?;
                (volume, inertia, body)
            }
        };
        let centre = Vector3::from(ball.center.to_array());
        let radius = (centre - body.position()).norm() + ball.radius;
        validate::positive("radius of a shape", &[radius])?;
        Ok(Self {
            shape: corrected.unwrap_or(shape),
            frame: body.inverse(),
            volume,
            inertia,
            radius,
        })
    }

    /// Triangles of the surface, in the axes of the body: to look at, so that round parts have few
    /// of them and the rounding of rounded shapes is left out.
    pub(super) fn triangles(&self) -> Triangles {
        let mut mesh = Triangles::default();
        add_triangles(&self.shape, &self.frame, &mut mesh);
        mesh
    }
}

/// Triangles, by the numbers of their points.
#[derive(Clone, Debug, Default)]
pub(crate) struct Triangles {
    pub(crate) points: Vec<[f64; 3]>,
    pub(crate) faces: Vec<[u32; 3]>,
}

/// Sides of round parts.
const SIDES: u32 = 24;

fn add_triangles(shape: &SharedShape, frame: &Pose, mesh: &mut Triangles) {
    let (points, faces) = match shape.as_typed_shape() {
        TypedShape::Ball(ball) => ball.to_trimesh(SIDES, SIDES / 2),
        TypedShape::Cuboid(cuboid) => cuboid.to_trimesh(),
        TypedShape::Capsule(capsule) => capsule.to_trimesh(SIDES, SIDES / 2),
        TypedShape::Triangle(of) => (vec![of.a, of.b, of.c], vec![[0, 1, 2]]),
        TypedShape::TriMesh(of) => (of.vertices().to_vec(), of.indices().to_vec()),
        TypedShape::HeightField(field) => field.to_trimesh(),
        TypedShape::Cylinder(cylinder) => cylinder.to_trimesh(SIDES),
        TypedShape::Cone(cone) => cone.to_trimesh(SIDES),
        TypedShape::ConvexPolyhedron(hull) => hull.to_trimesh(),
        TypedShape::RoundCuboid(round) => round.inner_shape.to_trimesh(),
        TypedShape::RoundTriangle(round) => {
            let of = &round.inner_shape;
            (vec![of.a, of.b, of.c], vec![[0, 1, 2]])
        }
        TypedShape::RoundCylinder(round) => round.inner_shape.to_trimesh(SIDES),
        TypedShape::RoundCone(round) => round.inner_shape.to_trimesh(SIDES),
        TypedShape::RoundConvexPolyhedron(round) => round.inner_shape.to_trimesh(),
        TypedShape::Compound(compound) => {
            for (place, part) in compound.shapes() {
                let rotation = matrix(DMat3::from_quat(place.rotation));
                let place = Pose::from_parts(Vector3::from(place.translation.to_array()), rotation);
                add_triangles(part, &place.moved_by(frame), mesh);
            }
            return;
        }
        // Others are refused (check).
        _ => return,
    };
    let first = u32::try_from(mesh.points.len()).unwrap_or(u32::MAX);
    let points = points
        .iter()
        .map(|point| <[f64; 3]>::from(frame.to_world(Vector3::from(point.to_array()))));
    mesh.points.extend(points);
    let faces = faces
        .iter()
        .map(|face| face.map(|k| k.saturating_add(first)));
    mesh.faces.extend(faces);
}

/// A copy of a surface, of which parry is told to correct normals at edges between triangles; none of
/// other shapes. Without, a body that rolls over a flat surface trips on them. A mesh gets the flag
/// with which both of its sides hold, as they do without; of triangles that do not share vertices
/// those at one place are merged.
fn with_inner_edges(shape: &SharedShape) -> Option<SharedShape> {
    if let Some(field) = shape.as_heightfield()
        && !field.flags().contains(HeightFieldFlags::FIX_INTERNAL_EDGES)
    {
        let mut field = field.clone();
        field.set_flags(field.flags() | HeightFieldFlags::FIX_INTERNAL_EDGES);
        return Some(SharedShape::new(field));
    }
    if let Some(mesh) = shape.as_trimesh()
        && !mesh.flags().contains(TriMeshFlags::FIX_INTERNAL_EDGES)
    {
        let mut mesh = mesh.clone();
        let flags = mesh.flags() | TriMeshFlags::FIX_INTERNAL_EDGES_TWO_SIDED;
        // Only flags of topology can fail, and none of these is new.
        if mesh.set_flags(flags).is_ok() {
            return Some(SharedShape::new(mesh));
        }
    }
    None
}

/// Refuses kinds that have no contacts with all others, and numbers that are not finite.
fn check(shape: &SharedShape) -> Result<(), InputError> {
    let finite = |points: &[DVec3]| {
        let mut points = points.iter();
        points.try_for_each(|point| validate::finite("vertex of a shape", &point.to_array()))
    };
    let kind = shape.shape_type();
    match kind {
        ShapeType::Ball
        | ShapeType::Cuboid
        | ShapeType::Capsule
        | ShapeType::Triangle
        | ShapeType::Cylinder
        | ShapeType::Cone
        | ShapeType::RoundCuboid
        | ShapeType::RoundTriangle
        | ShapeType::RoundCylinder
        | ShapeType::RoundCone => {}
        ShapeType::TriMesh => {
            if let Some(mesh) = shape.as_trimesh() {
                finite(mesh.vertices())?;
            }
        }
        ShapeType::HeightField => {
            if let Some(field) = shape.as_heightfield() {
                validate::finite("height of a shape", field.heights().data())?;
                finite(&[field.scale()])?;
            }
        }
        ShapeType::ConvexPolyhedron | ShapeType::RoundConvexPolyhedron => {
            let round = shape.as_round_convex_polyhedron();
            let hull = shape
                .as_convex_polyhedron()
                .or(round.map(|round| &round.inner_shape));
            finite(hull.map_or(&[], |hull| hull.points()))?;
        }
        ShapeType::Compound => {
            for (pose, part) in shape.as_compound().iter().flat_map(|of| of.shapes()) {
                finite(&[pose.translation])?;
                validate::finite("orientation of a part", &pose.rotation.to_array())?;
                check(part)?;
            }
        }
        _ => {
            let rule = "must be a ball, box, capsule, cylinder, cone, triangle, hull, mesh, height \
                        field or compound of parry; a half-space is Shape::plane";
            validate::unless(false, "shape", f64::from(kind as u8), rule)?;
        }
    }
    Ok(())
}

/// Volume, principal moments of inertia at density 1, and the axes of the body in those of the
/// shape.
fn mass_properties(shape: &SharedShape, radius: f64) -> (f64, [f64; 3], Pose) {
    // Principal axes are found to an absolute error: the moments are made of order one.
    let density = radius.powi(-5).log2().round().exp2();
    let properties = shape.mass_properties(density);
    let inertia = matrix(properties.reconstruct_inertia_matrix()) / density;
    let centre = Vector3::from(properties.local_com.to_array());
    let volume = properties.mass() / density;
    let diagonal = inertia.diagonal();
    // Axes of symmetry are kept: those that are found for equal moments could be any.
    let coupled = (inertia - Matrix3::from_diagonal(&diagonal)).amax();
    let is_coupled = coupled > 1e-12 * diagonal.amax();
    let found = is_coupled.then(|| symmetric_eigen(inertia)).flatten();
    let (moments, axes) = match found {
        Some(mut found) => {
            if found.eigenvectors.determinant() < 0.0 {
                found.eigenvectors.neg_mut();
            }
            (found.eigenvalues, found.eigenvectors)
        }
        None => (diagonal, Matrix3::identity()),
    };
    (volume, moments.into(), Pose::from_parts(centre, axes))
}

fn matrix(m: DMat3) -> Matrix3<f64> {
    Matrix3::from_column_slice(&m.to_cols_array())
}

/// True for shapes of which parry computes the volume: not for surfaces, and not for rounded
/// shapes, of which it takes the core alone.
fn has_volume(shape: &SharedShape) -> bool {
    match shape.shape_type() {
        ShapeType::Ball
        | ShapeType::Cuboid
        | ShapeType::Capsule
        | ShapeType::Cylinder
        | ShapeType::Cone
        | ShapeType::ConvexPolyhedron => true,
        ShapeType::TriMesh => shape.as_trimesh().is_some_and(is_closed),
        ShapeType::Compound => {
            let parts = shape.as_compound().map(Compound::shapes);
            parts.is_some_and(|parts| parts.iter().all(|(_, part)| has_volume(part)))
        }
        _ => false,
    }
}

/// True when each edge of the triangles is there once in each direction, and they look outwards.
fn is_closed(mesh: &TriMesh) -> bool {
    let edges = |triangle: &[u32; 3]| {
        let [a, b, c] = *triangle;
        [(a, b), (b, c), (c, a)]
    };
    let mut all = BTreeSet::new();
    let mut directed = mesh.indices().iter().flat_map(edges);
    let once = directed.all(|edge| all.insert(edge));
    let middle = mesh.vertices().first().copied().unwrap_or_default();
    let volumes = mesh.triangles().map(|of| {
        let (a, b, c) = (of.a - middle, of.b - middle, of.c - middle);
        a.dot(b.cross(c))
    });
    once && all.iter().all(|&(a, b)| all.contains(&(b, a))) && volumes.sum::<f64>() > 0.0
}
