//! Rigid bodies with shapes: spheres, boxes, capsules, cylinders, cones and half-spaces as a
//! mechanical model whose contacts come from geometry.
//!
//! A [`Scene`] holds bodies and is both a [`MechanicalSystem`](crate::mechanics::MechanicalSystem)
//! (one tree a moving body) and a [`ContactSource`](crate::mechanics::ContactSource). The compliant
//! driver runs it as it is; for drivers that need a fixed list of contacts
//! [`fixed_contacts`](Scene::fixed_contacts) gives one, where it exists.
//!
//! * [`Body`], [`Shape`]: mass, material, start and form of a body; [`contact_points`]: contact points
//!   of two shapes.
//! * [`FixedContacts`]: a scene for drivers that need a fixed list of contacts; [`FreeContact`]: a
//!   contact that other software found.
//! * [`Query`]: distances of bodies, overlaps, and what rays hit, many at once.
//! * [`Joint`] (hinge, slider, planar, ball, weld, or any of six axes held), [`DistanceJoint`] (rods and
//!   ropes): terms of steps of the compliant driver. Motors, limits, springs, dry friction and gears act on
//!   the [axes](JointAxis) that a joint leaves free. [`Frozen`] keeps a body in a plane, or still;
//!   [`Kinematic`] moves one along a path in time.
//!
//! Bodies touch by [groups](Body::groups), [bounce](Body::restitution), [roll out](Body::rolling_friction),
//! and come and go ([`Compliant::add_body`](crate::Compliant::add_body)); those at rest
//! [sleep](crate::Compliant::sleep).
//!
//! ```
//! use saltation::bodies::{Body, Scene, Shape};
//! use saltation::{Compliant, Start};
//! let mut scene = Scene::new();
//! scene.add(Body::fixed(Shape::plane()))?;
//! let cube = scene.add(Body::new(Shape::cuboid([0.05; 3])?).position([0.0, 0.0, 0.2]))?;
//! let (q, v) = scene.start();
//! let mut stepper = Compliant::new(scene.clone())?.time_step(0.01);
//! let run = stepper.integrate(&Start::at(0.0).q(&q).v(&v), 1.0)?.completed()?;
//! let height = scene.position(cube, &run.state().as_slice()[..7]).map_or(0.0, |at| at.z);
//! assert!((height - 0.05).abs() < 1e-4);
//! # Ok::<(), saltation::Error>(())
//! ```
//!
//! # Contact points
//!
//! The points of a pair are a function of both poses and of nothing else. The gap is signed and the
//! normal points from B into A. Vertices on faces, edges on edges and round shapes give exact
//! distances. Two faces give the corners of their common area, up to eight, each with its distance from
//! the reference face; a face within 0.05 rad of the shortest way out, or of the best separation,
//! counts as that if it is as deep: of two boxes the face on which a corner of the other one stands, and that of the
//! larger area where they lie flat. So it does not matter which box was added first, but for boxes of equal faces
//! that are flat on each other to about 1e-4 rad. The gap of a corner that is not a vertex changes with the pose
//! also because the corner slides over the tilted face; its row has the rate of the bodies alone.
//!
//! Points are found for overlap too, by the shortest way out of it. Bodies that pass each other by
//! more than their size in a step are not seen.

// Inside: `shapes`, `pose` (where a body is), `body` (its properties), `scene` (its bodies), `motion`
// (the scene as a mechanical system), `contacts` (as a source of contacts), `broad_phase` (pairs of
// bodies that may touch), `passage` (whether they do on a way), `narrow_phase` (contact points of two shapes), `parry_shape` (shapes of
// parry), `queries` (distances, overlaps, rays), `changes` (bodies that come and go), `document` (as text),
// `fixed_contacts`, `free_contact`, `joints` (terms of the compliant driver).

mod body;
mod broad_phase;
mod changes;
mod contacts;
#[cfg(feature = "serde")]
mod document;
mod fixed_contacts;
mod free_contact;
mod joints;
mod motion;
mod narrow_phase;
#[cfg(feature = "parry")]
mod parry_shape;
mod passage;
mod pose;
mod queries;
mod scene;
mod shapes;

pub use body::Body;
pub use fixed_contacts::FixedContacts;
pub use free_contact::FreeContact;
pub use joints::{Anchor, DistanceJoint, FreeBody, Frozen, Joint, JointAxis, Kinematic};
/// The crate whose shapes [`Shape::parry`] takes.
#[cfg(feature = "parry")]
pub use parry3d_f64 as parry;

pub use narrow_phase::{CAPACITY, Manifold, ManifoldPoint, contact_point, contact_points};
pub use pose::Pose;
pub use queries::{Query, QueryMemory, Ray, RayHit};
pub use scene::Scene;
pub use shapes::{Shape, ShapeKind};
