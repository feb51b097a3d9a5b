//! A scene with a fixed list of contacts, for drivers that need one.

use std::ops::Range;

use super::body::Material;
use super::contacts::PairPoint;
use super::narrow_phase::feature_count;
use super::pose::frame;
use super::{Scene, ShapeKind};
use crate::InputError;
use crate::mechanics::forward::mechanical_methods;
use crate::mechanics::{MechanicalSystem, UnilateralConstraints};

/// A [`Scene`] whose contacts are few and always the same, as the event-driven driver needs them: a
/// point for each pair of spheres, for each sphere and plane, for each vertex of a box and a plane
/// and for each end of a capsule and a plane.
///
/// Rigid drivers do not read the softness of bodies ([`Body::near_rigid`](super::Body::near_rigid),
/// [`Body::stiction`](super::Body::stiction)), and it is not taken over; the compliant driver takes
/// the [`Scene`].
///
/// Contacts are numbered from 0, pair by pair in rising order, vertices in the order of their
/// features. Restitution and friction are those of the bodies; a driver without friction refuses
/// one that is not zero, and a body with spinning or rolling friction has no such list. The variational
/// driver refuses bodies with quaternions.
///
/// ```
/// use saltation::Start;
/// use saltation::bodies::{Body, Scene, Shape};
/// use saltation::{ContactModel, EventDriven};
/// let mut scene = Scene::new();
/// scene.add(Body::fixed(Shape::plane()).friction(0.0))?;
/// let ball = Body::new(Shape::sphere(0.1)?).friction(0.0);
/// scene.add(ball.position([0.0, 0.0, 0.6]))?;
/// let (q, v) = scene.start();
/// let mut simulation = EventDriven::new(ContactModel::new(scene.fixed_contacts()?))?;
/// let run = simulation.integrate(&Start::at(0.0).q(&q).v(&v), 1.0)?.completed()?;
/// assert!((run.events()[0].t - (2.0 * 0.5 / 9.81f64).sqrt()).abs() < 1e-6);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct FixedContacts {
    scene: Scene,
    /// Their numbers in the scene.
    contacts: Vec<usize>,
    tangents: usize,
}

impl Scene {
    /// The scene with a fixed list of contacts.
    ///
    /// # Errors
    /// [`InputError::BadSetting`] (the entry is body A, the value body B) for a pair whose contacts
    /// depend on the configuration: two boxes, a sphere and a box, a capsule with anything but a
    /// plane, a cylinder, a cone, a shape of parry. Such pairs may be
    /// [ignored](Self::ignore), or kept apart by their [groups](super::Body::groups).
    /// [`InputError::MomentsIgnored`] for spinning or rolling friction, with the number of the first contact
    /// of such a pair.
    pub fn fixed_contacts(&self) -> Result<FixedContacts, InputError> {
        let (mut contacts, mut tangents) = (Vec::new(), 0);
        let n = self.len();
        for (i, j) in (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j))) {
            let Some(pair) = self.pair(i, j) else {
                continue;
            };
            let [a, b] = [pair.a, pair.b].map(|body| &self.bodies[body].body);
            let kinds = (a.shape.kind(), b.shape.kind());
            let rolls = matches!(kinds.0, ShapeKind::Cylinder { .. } | ShapeKind::Cone { .. });
            let always = !kinds.0.is_parry()
                && !rolls
                && matches!(
                    kinds,
                    (_, ShapeKind::Plane) | (ShapeKind::Sphere { .. }, ShapeKind::Sphere { .. })
                );
            if !always {
                return Err(InputError::BadSetting {
                    name: "body B of a pair of shapes",
                    entry: pair.a,
                    value: pair.b as f64,
                    rule: "its contacts with body A (the entry) depend on the configuration: ignore the pair, or run the scene with the compliant driver",
                });
            }
            let material = a.material.paired(&b.material);
            if material.friction > 0.0 {
                tangents = 2;
            }
            if material.spinning > 0.0 || material.rolling > 0.0 {
                return Err(InputError::MomentsIgnored {
                    law: "a scene with fixed contacts",
                    contact: contacts.len(),
                    spinning: material.spinning,
                    rolling: material.rolling,
                });
            }
            let features = 0..feature_count(&a.shape, &b.shape);
            contacts.extend(features.map(|feature| Self::number(pair, feature)));
        }
        Ok(FixedContacts {
            scene: self.clone(),
            contacts,
            tangents,
        })
    }
}

impl FixedContacts {
    /// The scene.
    pub fn scene(&self) -> &Scene {
        &self.scene
    }

    /// The number of contact `j` in the scene.
    pub fn number(&self, j: usize) -> Option<usize> {
        self.contacts.get(j).copied()
    }

    /// Writes the rows of a contact: the normal row, or those of the tangents.
    fn write(&self, j: usize, q: &[f64], directions: Range<usize>, rows: &mut [f64]) {
        rows.fill(0.0);
        let Some((pair, point)) = self.scene.point(self.contacts[j], q) else {
            rows.fill(f64::NAN);
            return;
        };
        let directions = &frame(point.normal)[directions];
        let (dof, mut block) = (self.scene.dof(), [0.0; 18]);
        let block = &mut block[..6 * directions.len()];
        for (body, sign) in [(pair.a, 1.0), (pair.b, -1.0)] {
            let Some(tree) = self.scene.tree_of(body) else {
                continue;
            };
            let of = PairPoint {
                pair,
                point: &point,
            };
            self.scene.write_rows(of, body, sign, q, directions, block);
            for (row, entries) in rows.chunks_exact_mut(dof).zip(block.chunks_exact(6)) {
                row[6 * tree..6 * tree + 6].copy_from_slice(entries);
            }
        }
    }

    /// The material of contact `j`.
    fn material(&self, j: usize) -> Option<Material> {
        let (a, b, _) = self.scene.contact_of(*self.contacts.get(j)?)?;
        let [a, b] = [a, b].map(|body| self.scene.bodies[body].body.material);
        Some(a.paired(&b))
    }
}

impl UnilateralConstraints for FixedContacts {
    fn contacts(&self) -> usize {
        self.contacts.len()
    }

    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        let point = self.scene.point(self.contacts[j], q);
        point.map_or(f64::NAN, |(_, point)| point.gap)
    }

    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        self.write(j, q, 0..1, row);
        true
    }

    fn restitution(&self, j: usize, _q: &[f64], _v: &[f64]) -> f64 {
        self.material(j).map_or(0.0, |of| of.restitution)
    }

    fn stiffness(&self, j: usize) -> f64 {
        self.material(j).map_or(f64::INFINITY, |of| of.stiffness)
    }

    fn dissipation_time(&self, j: usize) -> f64 {
        self.material(j).map_or(0.0, |of| of.dissipation_time)
    }

    fn friction(&self, j: usize) -> f64 {
        self.material(j).map_or(0.0, |of| of.friction)
    }

    fn tangents(&self, _j: usize) -> usize {
        self.tangents
    }

    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        self.write(j, q, 1..1 + self.tangents, rows);
    }
}

impl MechanicalSystem for FixedContacts {
    mechanical_methods! { self => self.scene, sizes effort motion derived }
}
