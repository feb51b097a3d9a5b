//! Scenes and bodies as documents, with the feature `serde`.
//!
//! A document has the words of the builders of [`Body`]; what it leaves out has their defaults, so that
//! it can be written by hand. An infinite stiffness is left out. A body is validated where it enters a
//! scene, and a scene as it is read, with the words of [`Scene::add`].

use serde::de::{Deserialize, Deserializer, Error as _};
use serde::ser::{Error as _, Serialize, Serializer};

use super::body::{Groups, Inertia};
use super::{Body, Scene, Shape, ShapeKind};
use crate::InputError;

/// A shape.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields, expecting = "a shape")]
enum ShapeDocument {
    Sphere { radius: f64 },
    Cuboid { half: [f64; 3] },
    Capsule { half_length: f64, radius: f64 },
    Cylinder { half_length: f64, radius: f64 },
    Cone { height: f64, radius: f64 },
    Plane,
}

/// A body.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, expecting = "a body")]
struct BodyDocument {
    shape: Shape,
    #[serde(default)]
    fixed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    density: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mass: Option<MassDocument>,
    #[serde(default)]
    position: Option<[f64; 3]>,
    #[serde(default)]
    orientation: Option<[f64; 4]>,
    #[serde(default)]
    velocity: Option<[f64; 3]>,
    #[serde(default)]
    angular_velocity: Option<[f64; 3]>,
    #[serde(default)]
    friction: Option<f64>,
    #[serde(default)]
    spinning_friction: Option<f64>,
    #[serde(default)]
    rolling_friction: Option<f64>,
    #[serde(default)]
    restitution: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stiffness: Option<f64>,
    #[serde(default)]
    dissipation_time: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    near_rigid: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    stiction: Option<f64>,
    #[serde(default)]
    groups: Option<u32>,
    #[serde(default)]
    touching: Option<u32>,
}

/// Mass and moments of inertia.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, expecting = "a mass and its moments")]
struct MassDocument {
    mass: f64,
    moments: [f64; 3],
}

/// A scene.
#[derive(serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields, expecting = "a scene")]
struct SceneDocument {
    bodies: Vec<Body>,
    /// Numbers of bodies that were removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    removed: Vec<usize>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ignored: Vec<[usize; 2]>,
    #[serde(default)]
    gravity: Option<[f64; 3]>,
    #[serde(default)]
    middle_points: bool,
}

impl ShapeDocument {
    /// None for a shape of parry.
    fn of(kind: ShapeKind) -> Option<Self> {
        Some(match kind {
            ShapeKind::Sphere { radius } => Self::Sphere { radius },
            ShapeKind::Box { half } => Self::Cuboid { half },
            ShapeKind::Capsule {
                half_length,
                radius,
            } => Self::Capsule {
                half_length,
                radius,
            },
            ShapeKind::Cylinder {
                half_length,
                radius,
            } => Self::Cylinder {
                half_length,
                radius,
            },
            ShapeKind::Cone { height, radius } => Self::Cone { height, radius },
            ShapeKind::Plane => Self::Plane,
            #[cfg(feature = "parry")]
            ShapeKind::Parry => return None,
        })
    }

    fn shape(self) -> Result<Shape, InputError> {
        match self {
            Self::Sphere { radius } => Shape::sphere(radius),
            Self::Cuboid { half } => Shape::cuboid(half),
            Self::Capsule {
                half_length,
                radius,
            } => Shape::capsule(half_length, radius),
            Self::Cylinder {
                half_length,
                radius,
            } => Shape::cylinder(half_length, radius),
            Self::Cone { height, radius } => Shape::cone(height, radius),
            Self::Plane => Ok(Shape::plane()),
        }
    }
}

/// As `{"sphere": {"radius": 0.1}}`, by the names of the constructors; with the feature `serde`. A
/// shape of parry is refused.
impl Serialize for Shape {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let document = ShapeDocument::of(self.kind());
        let refused = || S::Error::custom("a shape of parry is not written");
        document.ok_or_else(refused)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Shape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let document = ShapeDocument::deserialize(deserializer)?;
        document.shape().map_err(D::Error::custom)
    }
}

/// By the names of its builders; with the feature `serde`. What a document leaves out has the
/// defaults; numbers are validated where the body enters a scene.
impl Serialize for Body {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (density, mass) = match self.inertia {
            Inertia::Density(density) => (Some(density), None),
            Inertia::Given { mass, moments } => (None, Some(MassDocument { mass, moments })),
        };
        let [x, y, z, w, i, j, k] = self.start;
        let [a, b, c, d, e, f] = self.velocity;
        let (material, Groups { own, touched }) = (self.material, self.groups);
        let document = BodyDocument {
            shape: self.shape.clone(),
            fixed: self.fixed,
            density,
            mass,
            position: Some([x, y, z]),
            orientation: Some([w, i, j, k]),
            velocity: Some([d, e, f]),
            angular_velocity: Some([a, b, c]),
            friction: Some(material.friction),
            spinning_friction: Some(material.spinning),
            rolling_friction: Some(material.rolling),
            restitution: Some(material.restitution),
            stiffness: material.stiffness.is_finite().then_some(material.stiffness),
            dissipation_time: Some(material.dissipation_time),
            near_rigid: material.near_rigid,
            stiction: material.stiction,
            groups: Some(own),
            touching: Some(touched),
        };
        document.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Body {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let document = BodyDocument::deserialize(deserializer)?;
        let mut body = Self::new(document.shape);
        body.fixed = document.fixed;
        match (document.density, document.mass) {
            (Some(_), Some(_)) => return Err(D::Error::custom("a body has a density or a mass")),
            (Some(density), None) => body = body.density(density),
            (None, Some(of)) => body = body.mass(of.mass, of.moments),
            (None, None) => {}
        }
        body.start[..3].copy_from_slice(&document.position.unwrap_or_default());
        if let Some(orientation) = document.orientation {
            body = body.orientation(orientation);
        }
        body = body
            .velocity(document.velocity.unwrap_or_default())
            .angular_velocity(document.angular_velocity.unwrap_or_default());
        let material = &mut body.material;
        let given = |value: Option<f64>, default: &mut f64| *default = value.unwrap_or(*default);
        given(document.friction, &mut material.friction);
        given(document.spinning_friction, &mut material.spinning);
        given(document.rolling_friction, &mut material.rolling);
        given(document.restitution, &mut material.restitution);
        given(document.stiffness, &mut material.stiffness);
        given(document.dissipation_time, &mut material.dissipation_time);
        (material.near_rigid, material.stiction) = (document.near_rigid, document.stiction);
        body.groups = Groups {
            own: document.groups.unwrap_or(u32::MAX),
            touched: document.touching.unwrap_or(u32::MAX),
        };
        Ok(body)
    }
}

/// Its bodies, the pairs that are ignored, gravity; with the feature `serde`. A document is read as
/// by [`Scene::add`]: what makes no sense is an error with its words, and the number of the body.
///
/// ```
/// use saltation::bodies::Scene;
/// let text = r#"{"bodies": [
///     {"shape": "plane", "fixed": true},
///     {"shape": {"sphere": {"radius": 0.1}}, "position": [0, 0, 1], "restitution": 0.5}
/// ]}"#;
/// let scene: Scene = serde_json::from_str(text)?;
/// assert_eq!((scene.len(), scene.tree_of(1)), (2, Some(0)));
/// let again: Scene = serde_json::from_str(&serde_json::to_string(&scene)?)?;
/// assert_eq!(again.body(1), scene.body(1));
/// let wrong = serde_json::from_str::<Scene>(&text.replace("0.5", "1.5"));
/// assert!(wrong.unwrap_err().to_string().contains("restitution"));
/// # Ok::<(), serde_json::Error>(())
/// ```
impl Serialize for Scene {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let bodies = self.bodies.iter();
        let document = SceneDocument {
            bodies: bodies.map(|placed| placed.body.clone()).collect(),
            removed: (0..self.len())
                .filter(|&body| self.body(body).is_none())
                .collect(),
            ignored: self.ignored.iter().map(|&(i, j)| [i, j]).collect(),
            gravity: Some(self.gravity.into()),
            middle_points: self.middle_points,
        };
        document.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Scene {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let document = SceneDocument::deserialize(deserializer)?;
        scene_of(document).map_err(D::Error::custom)
    }
}

fn scene_of(document: SceneDocument) -> Result<Scene, InputError> {
    let mut scene = Scene::new();
    for body in document.bodies {
        scene.add(body)?;
    }
    for [a, b] in document.ignored {
        scene.ignore(a, b)?;
    }
    if let Some(gravity) = document.gravity {
        scene.gravity(gravity)?;
    }
    scene.middle_points(document.middle_points);
    for body in document.removed {
        scene.remove(body)?;
    }
    Ok(scene)
}
