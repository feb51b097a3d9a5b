//! Normals and tangents of contacts with friction, held against the plane or the space of their
//! contact where that can be seen.
//!
//! Friction compares `μ λ` with the tangential force. Where the gap is not a distance, `Da` is
//! longer than the unit normal by `|∇a|`, `λ` is smaller by as much, and the coefficient of friction
//! acts as `μ/|∇a|`. Tangents that are longer by the same factor make up for it. So the rows of a
//! contact have to be of one length, and orthogonal, in the metric of space:
//!
//! ```text
//!     J Jᵀ = s² I        J = [Da; T]  in orthonormal axes of the contact
//! ```
//!
//! Rows in generalised velocities do not show this: a Delassus block `J M⁻¹ Jᵀ` may be any definite
//! matrix. It is seen where a body can be shifted as a whole. Shifted with a velocity `w`, all its
//! points move with `w`, so that its entries in the rows are those in space.

use crate::InputError;
use crate::linalg::dot;
use crate::mechanics::{
    ContactSet, ContactSource, Contacts, MechanicalSystem, RowBlock, UnilateralConstraints, Wanted,
};

/// Lengths that differ by this part are equal, and rows with this cosine orthogonal: more than the
/// errors of rows that are differences.
const EQUAL: f64 = 1e-6;
/// Rows with a squared sine below this are along one line.
const DEPENDENT: f64 = 1e-6;
/// Masses equal to this part are one mass.
const ONE_MASS: f64 = 1e-12;

/// The rows of a contact in the shifts of one body.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShiftRows {
    /// Entries of the normal row, then of each tangent row.
    rows: [[f64; 3]; 3],
    /// Number of rows, and of shifts: 2 in the plane, 3 in space.
    size: usize,
}

impl ShiftRows {
    /// Entry of `J Jᵀ`.
    pub(crate) fn product(&self, i: usize, k: usize) -> f64 {
        dot(&self.rows[i][..self.size], &self.rows[k][..self.size])
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    fn length(&self, i: usize) -> f64 {
        self.product(i, i).sqrt()
    }

    /// True when no two rows are along one line: in the shifts of a body a contact moves in all
    /// directions. Two bodies of one mass look like one that shifts, but each has rows of its own.
    fn is_independent(&self) -> bool {
        (0..self.size).all(|i| {
            (0..i).all(|k| {
                let squares = self.product(i, i) * self.product(k, k);
                squares - self.product(i, k).powi(2) > DEPENDENT * squares
            })
        })
    }

    /// True when the normal row or the first tangent row is of unit length: the shifts are in units
    /// of the gap.
    fn is_in_units(&self) -> bool {
        (0..2).any(|i| (self.length(i) - 1.0).abs() <= EQUAL)
    }

    /// True when `J Jᵀ = s² I`.
    fn is_conformal(&self) -> bool {
        let square = self.product(1, 1);
        (0..self.size).all(|i| {
            (0..=i).all(|k| {
                let wanted = if i == k { square } else { 0.0 };
                (self.product(i, k) - wanted).abs() <= 2.0 * EQUAL * square
            })
        })
    }
}

/// Finds the shifts of bodies at a configuration, with the mass matrix of the tree that was asked
/// for last.
pub(crate) struct Shifts<'a, S: ?Sized> {
    system: &'a S,
    q: &'a [f64],
    tree: Option<usize>,
    mass: Vec<f64>,
}

impl<'a, S: MechanicalSystem + ?Sized> Shifts<'a, S> {
    pub(crate) fn new(system: &'a S, q: &'a [f64]) -> Self {
        Self {
            system,
            q,
            tree: None,
            mass: Vec::new(),
        }
    }

    /// True when `size` velocities of a tree, from one of them on, look like shifts of a body: the mass matrix
    /// is `m I` there and does not couple them with the others.
    fn has_shifts(&mut self, block: &RowBlock<'_>, first: usize, size: usize) -> bool {
        let width = block.width;
        let (driven, tree) = (self.system.driven(), self.system.tree(block.tree));
        let mut own = tree.start + first..tree.start + first + size;
        if width < first + size || own.any(|k| driven.contains(&k)) {
            return false;
        }
        if self.tree != Some(block.tree) {
            self.mass.clear();
            self.mass.resize(width * width, 0.0);
            self.system.tree_mass(block.tree, self.q, &mut self.mass);
            self.tree = Some(block.tree);
        }
        let m = self.mass[first * (width + 1)];
        (first..first + size).all(|r| {
            (0..width).all(|c| {
                let wanted = if r == c { m } else { 0.0 };
                (self.mass[r * width + c] - wanted).abs() <= ONE_MASS * m
            })
        })
    }

    /// The rows of contact `i` in the shifts of a body, where it has some. Where the system does not
    /// say that its mass is constant, levers of one inertia look like shifts: then the normal or the
    /// tangent is to be of unit length. Of two bodies one whose rows fit, if any.
    pub(crate) fn rows(&mut self, contacts: &Contacts, i: usize) -> Option<ShiftRows> {
        self.rows_with(contacts, i, ShiftRows::is_independent)
    }

    /// As [`rows`](Self::rows), also where some are along one line or zero: those of one body are wrong then.
    pub(crate) fn rows_of_one_body(&mut self, contacts: &Contacts, i: usize) -> Option<ShiftRows> {
        self.rows_with(contacts, i, |_| true)
    }

    fn rows_with(
        &mut self,
        contacts: &Contacts,
        i: usize,
        counts: impl Fn(&ShiftRows) -> bool,
    ) -> Option<ShiftRows> {
        let size = 1 + contacts.tangents();
        let mut seen: Option<ShiftRows> = None;
        for block in contacts.blocks(i) {
            // A body of one inertia about all axes may have its turns first, and its shifts last: they look alike,
            // and where the last fit they are those of the body.
            for first in [0, block.width.saturating_sub(size)] {
                // The mass block must be m I in these velocities: only then are they shifts of a body.
                if !self.has_shifts(&block, first, size) {
                    continue;
                }
                let mut rows = [[0.0; 3]; 3];
                for (row, entries) in rows.iter_mut().zip(block.rows.chunks_exact(block.width)) {
                    row[..size].copy_from_slice(&entries[first..first + size]);
                }
                let found = ShiftRows { rows, size };
                // A tangent row of zeros says that there is no friction.
                let has_friction = found.length(1) > 0.0;
                let is_shift = self.system.constant_mass() || found.is_in_units();
                let is_there = first == 0 || found.is_conformal();
                let is_of_shifts = has_friction && is_shift && is_there && counts(&found);
                if is_of_shifts && !seen.is_some_and(|of| of.is_conformal()) {
                    seen = Some(found);
                }
            }
        }
        seen
    }
}

/// Refuses contacts with friction whose normal and tangents are seen not to be of one length and
/// orthogonal ([`Shifts::rows`]), in a system with a constant mass matrix.
///
/// # Errors
/// [`InputError::ContactFrame`].
pub(crate) fn check_frames<S>(system: &S, q: &[f64], contacts: &Contacts) -> Result<(), InputError>
where
    S: MechanicalSystem + ?Sized,
{
    let rubs = |i: &usize| contacts.parameters(*i).is_some_and(|of| of.friction != 0.0);
    let mut rubbing = (0..contacts.len()).filter(rubs).peekable();
    if contacts.tangents() == 0 || rubbing.peek().is_none() || !system.constant_mass() {
        return Ok(());
    }
    let mut shifts = Shifts::new(system, q);
    for i in rubbing {
        let seen = shifts.rows(contacts, i);
        // J Jᵀ = s² I fails: friction would act with another coefficient than the one stated.
        let wrong = seen.filter(|rows| !rows.is_conformal());
        if let (Some(rows), Some(of)) = (wrong, contacts.parameters(i)) {
            return Err(InputError::ContactFrame {
                contact: of.contact,
                normal: rows.length(0),
                tangent: rows.length(1),
                cosine: rows.product(0, 1) / (rows.length(0) * rows.length(1)),
            });
        }
    }
    Ok(())
}

/// Refuses contacts with friction whose tangent rows are zeros throughout: before a run starts, where
/// that means that nobody wrote them. In the course of a run a configuration may be singular.
///
/// # Errors
/// [`InputError::TangentsUnwritten`].
fn check_written(contacts: &Contacts) -> Result<(), InputError> {
    if contacts.tangents() == 0 {
        return Ok(());
    }
    for (i, of) in contacts.all_parameters().iter().enumerate() {
        let slides = |block: RowBlock<'_>| {
            let rows = block.rows.iter().skip(block.width);
            let mut tangents = rows.take(contacts.tangents() * block.width);
            tangents.any(|&entry| entry != 0.0)
        };
        if of.friction != 0.0 && !contacts.blocks(i).any(slides) {
            let contact = of.contact;
            return Err(InputError::TangentsUnwritten { contact });
        }
    }
    Ok(())
}

/// Refuses contacts of a start by [`check_written`] and [`check_frames`].
pub(crate) fn check_start_frames<S>(
    system: &S,
    q: &[f64],
    contacts: &Contacts,
) -> Result<(), InputError>
where
    S: MechanicalSystem + ?Sized,
{
    check_written(contacts)?;
    check_frames(system, q, contacts)
}

/// [`check_start_frames`] for all contacts of a system, near or far: before a run with friction
/// starts.
///
/// # Errors
/// [`InputError::ContactFrame`], [`InputError::TangentsUnwritten`].
pub(crate) fn check_all_frames<S>(system: &S, q: &[f64]) -> Result<(), InputError>
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    let all: Vec<usize> = (0..system.contacts()).collect();
    let wanted = Wanted {
        friction: true,
        ..Wanted::default()
    };
    let mut contacts = Contacts::new();
    // Numbers that make no sense are refused where they are read, with the time and the state.
    match system.fill(q, ContactSet::Listed(&all), wanted, &mut contacts) {
        Ok(()) => check_start_frames(system, q, &contacts),
        Err(_) => Ok(()),
    }
}
