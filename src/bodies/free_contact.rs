//! A contact of free bodies that other software found.

use nalgebra::Vector3;

use super::contacts::{moment_rows, write_moment_rows, write_point_rows};
use super::pose::frame;
use crate::mechanics::{ContactParameters, Contacts};
use crate::{InputError, validate};

/// Lengths of normals that differ by less from 1 come from rounding, in single precision too.
const ROUNDING: f64 = 1e-6;

/// A contact point of free bodies that other software found: of a body and the world, or of two
/// bodies.
///
/// [`push`](Self::push) makes the rows of it, in a
/// [`ContactSource`](crate::mechanics::ContactSource) of your own or for one problem. The velocities
/// are those of a [`Scene`](super::Scene): six a body, the angular velocity and that of the centre,
/// in world axes.
///
/// ```
/// use saltation::bodies::FreeContact;
/// use saltation::compliant::{Problem, Solver};
/// use saltation::mechanics::{ContactParameters, Contacts};
/// // A ball of 1 kg and radius 0.1 m, which would approach the ground at 0.0981 m/s without it.
/// let mut problem = Problem::new(0.01)?;
/// let mut mass = [0.0; 36];
/// (0..6).for_each(|k| mass[7 * k] = if k < 3 { 0.004 } else { 1.0 });
/// problem.add_tree(&mass, &[0.0, 0.0, 0.0, 0.2, 0.0, -0.0981])?;
/// let mut contacts = Contacts::new();
/// contacts.reset(6, 2)?;
/// let mut parameters = ContactParameters::new(0, 0.0);
/// parameters.friction = 0.5;
/// let mut contact = FreeContact {
///     parameters,
///     point: [0.0, 0.0, 0.0],
///     normal: [0.0, 0.0, 1.0],
///     a: (0, [0.0, 0.0, 0.1]),
///     b: None,
/// };
/// contact.push(&mut contacts)?;
/// problem.add_contacts(&contacts)?;
/// let mut solver = Solver::new();
/// let solution = solver.solve(&problem, &[0.0; 6])?;
/// assert!((solution.impulses()[0][0] - 0.0981).abs() < 0.01);
/// assert!(solution.v()[1] > 0.0); // friction makes it roll
///
/// contact.normal = [0.0, 0.0, 2.0];
/// assert!(contact.push(&mut contacts).is_err());
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeContact {
    /// Number, gap, friction, softness.
    pub parameters: ContactParameters,
    /// Its place, in world axes (m): the same point for both bodies.
    pub point: [f64; 3],
    /// The unit normal from B into A.
    pub normal: [f64; 3],
    /// Tree of body A and its centre of mass (m). Tree `i` has the velocities `6 i` to `6 i + 5`.
    pub a: (usize, [f64; 3]),
    /// Tree of body B and its centre of mass (m); none for the world.
    pub b: Option<(usize, [f64; 3])>,
}

impl FreeContact {
    /// Adds the contact and its rows. Tangents depend on the normal alone.
    ///
    /// # Errors
    /// [`InputError::NotFinite`]; [`InputError::BadSetting`] for a normal whose length is not 1 to
    /// 1e-6, for two equal trees and for parameters that make no sense; the entry is the number of
    /// the contact. [`InputError::Tangents`] for spinning or rolling friction without two tangents;
    /// [`InputError::NoSuch`] for a tree beyond the velocities of
    /// [`Contacts::reset`]. Nothing is added then.
    pub fn push(&self, contacts: &mut Contacts) -> Result<(), InputError> {
        let number = self.parameters.contact;
        self.check().map_err(|mut error| {
            if let InputError::NotFinite { entry, .. } | InputError::BadSetting { entry, .. } =
                &mut error
            {
                *entry = number;
            }
            error
        })?;
        let sides = [Some((self.a, 1.0)), self.b.map(|b| (b, -1.0))];
        for ((tree, _), _) in sides.into_iter().flatten() {
            let count = contacts.dof() / 6;
            if tree >= count {
                let (what, index) = ("tree of six velocities", tree);
                return Err(InputError::NoSuch { what, index, count });
            }
        }
        contacts.push(self.parameters)?;
        let directions = frame(Vector3::from(self.normal).normalize());
        let directions = &directions[..=contacts.tangents()];
        let (at_point, mut rows) = (6 * directions.len(), [0.0; 36]);
        let rows = &mut rows[..at_point + moment_rows(&self.parameters)];
        for ((tree, centre), sign) in sides.into_iter().flatten() {
            let arm = Vector3::from(self.point) - Vector3::from(centre);
            let (own, behind) = rows.split_at_mut(at_point);
            write_point_rows(&arm, sign, directions, own);
            write_moment_rows(sign, directions, behind);
            contacts.push_block(tree, 6 * tree..6 * tree + 6, rows)?;
        }
        Ok(())
    }

    fn check(&self) -> Result<(), InputError> {
        validate::finite("contact point", &self.point)?;
        validate::finite("normal", &self.normal)?;
        let length = Vector3::from(self.normal).norm();
        let rule = "must be a unit vector";
        validate::unless((length - 1.0).abs() <= ROUNDING, "normal", length, rule)?;
        validate::finite("centre of mass", &self.a.1)?;
        if let Some((tree, centre)) = &self.b {
            validate::finite("centre of mass", centre)?;
            let rule = "must be another than that of body A";
            validate::unless(*tree != self.a.0, "tree of body B", *tree as f64, rule)?;
        }
        Ok(())
    }
}
