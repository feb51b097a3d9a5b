//! Contacts of one configuration as values. A user writes
//! [`UnilateralConstraints`](crate::mechanics::UnilateralConstraints); two layers are made from it:
//!
//! * `ContactRows`: the rows `Da` of a list of contacts in the caller's scratch. The smooth phase
//!   needs nothing else of closed contacts; of open ones it evaluates the gaps.
//! * [`Contacts`]: owned and reused, with gaps and parameters, for impacts, implicit steps and
//!   logs. A [`ContactSource`](crate::mechanics::ContactSource) fills it.
//!
//! Units and signs are those of [`Contacts`].

use std::ops::Range;

use crate::linalg::block_kernels as kernels;
use crate::mechanics::contact::gaps::gap_row;
use crate::mechanics::{ContactParameters, MechanicalSystem, Reach, UnilateralConstraints};
use crate::{InputError, validate};

/// Rows `Da` of some contacts, one after the other, in borrowed space. Trees are ranges of
/// velocities: the block of a tree is a slice of a row.
#[derive(Debug)]
pub(crate) struct ContactRows<'a> {
    /// The contacts, in the order of rows.
    pub(crate) contacts: &'a [usize],
    pub(crate) rows: &'a mut [f64],
    dof: usize,
    /// True when the user wrote all rows and none is a difference.
    pub(crate) written: bool,
}

impl<'a> ContactRows<'a> {
    /// Evaluates the rows at `q`, of `dof` entries each, into `rows`; `work` has [`work_size`]
    /// entries.
    pub(crate) fn new<S>(
        system: &S,
        dof: usize,
        q: &[f64],
        contacts: &'a [usize],
        rows: &'a mut [f64],
        work: &mut [f64],
    ) -> Self
    where
        S: MechanicalSystem + UnilateralConstraints + ?Sized,
    {
        let mut written = true;
        for (i, &j) in contacts.iter().enumerate() {
            written &= gap_row(system, j, q, &mut rows[i * dof..(i + 1) * dof], work);
        }
        Self {
            contacts,
            rows,
            dof,
            written,
        }
    }

    /// Rows that are given.
    pub(crate) fn known(
        contacts: &'a [usize],
        rows: &'a mut [f64],
        dof: usize,
        written: bool,
    ) -> Self {
        Self {
            contacts,
            rows,
            dof,
            written,
        }
    }

    /// The row of contact `i` of the list.
    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.dof..(i + 1) * self.dof]
    }
}

/// The rows of a contact in the velocities of one tree.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowBlock<'a> {
    /// The tree.
    pub tree: usize,
    /// Its first velocity.
    pub start: usize,
    /// Its number of velocities.
    pub width: usize,
    /// The entries of the normal row, then those of each tangent row; and, of a contact with spinning or
    /// rolling friction, those of the relative angular velocity about each of these three directions.
    pub rows: &'a [f64],
}

/// The place of a block among the values.
#[derive(Clone, Copy, Debug)]
struct Place {
    tree: usize,
    start: usize,
    width: usize,
    first: usize,
}

/// Contacts of one configuration: parameters and row blocks by tree, contact by contact.
///
/// A block of zeros may be left out. Refilling reuses the memory and allocates only when more is
/// needed than before.
///
/// # Units and signs
///
/// * Gaps are in metres, positive where bodies are apart. Angles as coordinates need no change:
///   rows take the units that the coordinates ask for.
/// * A contact has one normal row and as many tangent rows as all others of the problem: 0, 1 (in
///   the plane) or 2 (in space). `J v` of its rows are the rate of the gap and the slip (m/s); the
///   rate is negative where bodies approach.
/// * The tangents of a contact are of unit length in space, orthogonal to each other and to the
///   normal, so that the length of the slip is that of the vector of its components. A gap that is
///   not a distance scales the normal row alone, and the coefficient of friction then acts as `μ`
///   over the length of its gradient
///   ([`tangent_rows`](crate::mechanics::UnilateralConstraints::tangent_rows)).
/// * An impulse (N s) acts on velocities as `M⁻¹ Jᵀ p`: a positive normal impulse pushes the bodies
///   apart, and friction is opposite to the slip.
/// * A contact with spinning or rolling friction (lengths ≥ 0) has three rows more, of the angular velocity of
///   body A relative to B about normal and tangents (rad/s), in space alone.
/// * Friction is a number ≥ 0, restitution lies in [0, 1], stiffness is in N/m (`INFINITY`: rigid),
///   the dissipation time in s.
///
/// ```
/// use saltation::mechanics::{ContactSet, ContactSource, Contacts, Wanted};
/// use saltation::models::SoftTrot;
/// let trot = SoftTrot::default();
/// let (q, v) = trot.start(0.0);
/// let mut contacts = Contacts::new();
/// let wanted = Wanted { restitution_at: Some(&v), ..Wanted::default() };
/// trot.fill(&q, ContactSet::Within(2.0), wanted, &mut contacts)?;
/// assert_eq!(contacts.len(), 2);
/// let foot = contacts.parameters(0).expect("two feet");
/// assert!(foot.gap > 0.0 && foot.friction == 0.0);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Contacts {
    dof: usize,
    tangents: usize,
    parameters: Vec<ContactParameters>,
    /// The number of blocks up to the end of each contact.
    ends: Vec<usize>,
    places: Vec<Place>,
    values: Vec<f64>,
    /// Scratch space of the source that fills these.
    pub(crate) scratch: Vec<f64>,
    pub(crate) indices: [Vec<usize>; 2],
}

impl Contacts {
    /// No contacts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes all contacts; new ones have rows in `dof` velocities and this many tangents.
    ///
    /// # Errors
    /// [`InputError::Tangents`] for more than two; [`InputError::BadSetting`] for more than a
    /// million velocities.
    pub fn reset(&mut self, dof: usize, tangents: usize) -> Result<(), InputError> {
        if tangents > 2 {
            return Err(InputError::Tangents {
                contact: 0,
                expected: 2,
                found: tangents,
            });
        }
        validate::at_most("dof", dof)?;
        (self.dof, self.tangents) = (dof, tangents);
        self.parameters.clear();
        self.ends.clear();
        self.places.clear();
        self.values.clear();
        Ok(())
    }

    /// Adds a contact, without rows so far.
    ///
    /// # Errors
    /// [`InputError::NotFinite`] (`gap`), [`InputError::BadSetting`] for another number that makes
    /// no sense; the entry is the number of the contact. [`InputError::Tangents`] for spinning or rolling
    /// friction without two tangents. Restitution is checked where it is used: some laws and drivers
    /// take any.
    pub fn push(&mut self, parameters: ContactParameters) -> Result<(), InputError> {
        let of_contact = validate::counted_from(parameters.contact);
        parameters.validate().map_err(of_contact)?;
        if parameters.has_moments() && self.tangents < 2 {
            return Err(InputError::Tangents {
                contact: parameters.contact,
                expected: 2,
                found: self.tangents,
            });
        }
        self.parameters.push(parameters);
        self.ends.push(self.places.len());
        Ok(())
    }

    /// Adds a block of rows to the contact added last: the entries of the normal row in the
    /// velocities of `tree`, then those of each tangent row, then, where it has spinning or rolling friction,
    /// those of the relative angular velocity about normal and tangents.
    ///
    /// # Errors
    /// [`InputError::NoContacts`] before the first contact; [`InputError::WrongLength`] for
    /// velocities beyond those of [`reset`](Self::reset) and for another number of entries;
    /// [`InputError::MomentsIgnored`] for spinning or rolling friction without the rows that it acts on.
    pub fn push_block(
        &mut self,
        tree: usize,
        velocities: Range<usize>,
        rows: &[f64],
    ) -> Result<(), InputError> {
        let (Some(end), Some(of)) = (self.ends.last_mut(), self.parameters.last()) else {
            return Err(InputError::NoContacts);
        };
        let (start, width) = (velocities.start, velocities.len());
        validate::length("velocities", self.dof.max(velocities.end), self.dof)?;
        let without = (1 + self.tangents) * width;
        if of.has_moments() && rows.len() == without {
            let law = "a contact without rows of angular velocity";
            return Err(of.moments_ignored(law, of.contact));
        }
        let height = row_count(self.tangents, of);
        validate::length("rows of a block", height * width, rows.len())?;
        *end += 1;
        self.places.push(Place {
            tree,
            start,
            width,
            first: self.values.len(),
        });
        self.values.extend_from_slice(rows);
        Ok(())
    }

    /// Replaces the normal row of contact `i` of these, in the velocities that its blocks have.
    pub(crate) fn set_normal(&mut self, i: usize, row: &[f64]) {
        let end = self.ends.get(i).copied().unwrap_or(0);
        let start = if i == 0 { 0 } else { self.ends[i - 1] };
        for place in self.places.get(start..end).unwrap_or_default() {
            let entries = self.values[place.first..].iter_mut();
            for (entry, part) in entries.zip(row.iter().skip(place.start).take(place.width)) {
                *entry = *part;
            }
        }
    }

    /// Number of contacts.
    pub fn len(&self) -> usize {
        self.parameters.len()
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.parameters.is_empty()
    }

    /// Number of velocities that rows act on.
    pub fn dof(&self) -> usize {
        self.dof
    }

    /// Number of tangents of each contact.
    pub fn tangents(&self) -> usize {
        self.tangents
    }

    /// Refuses spinning and rolling friction, which `law` ignores.
    pub(crate) fn refuse_moments(&self, law: &'static str) -> Result<(), InputError> {
        let found = self.parameters.iter().find(|of| of.has_moments());
        found.map_or(Ok(()), |of| Err(of.moments_ignored(law, of.contact)))
    }

    /// Number of rows, normals and tangents.
    pub(crate) fn rows(&self) -> usize {
        self.len() * (1 + self.tangents)
    }

    /// The numbers of contact `i` of these.
    pub fn parameters(&self, i: usize) -> Option<&ContactParameters> {
        self.parameters.get(i)
    }

    /// The numbers of all contacts.
    pub fn all_parameters(&self) -> &[ContactParameters] {
        &self.parameters
    }

    /// The row blocks of contact `i` of these; none where there is no such contact.
    pub fn blocks(&self, i: usize) -> impl Iterator<Item = RowBlock<'_>> {
        let end = self.ends.get(i).copied().unwrap_or(0);
        let start = if end == 0 || i == 0 {
            0
        } else {
            self.ends[i - 1]
        };
        let parameters = self.parameters.get(i);
        let height = parameters.map_or(0, |of| row_count(self.tangents, of));
        self.places[start..end].iter().map(move |place| RowBlock {
            tree: place.tree,
            start: place.start,
            width: place.width,
            rows: &self.values[place.first..][..height * place.width],
        })
    }

    /// The velocity `[n, t₁, t₂]` of contact `i` at the velocities `v`; zero in tangents that are
    /// not there.
    pub(crate) fn velocity(&self, i: usize, v: &[f64]) -> [f64; 3] {
        let mut velocity = [0.0; 3];
        for block in self.blocks(i).filter(|block| block.width > 0) {
            let v = &v[block.start..block.start + block.width];
            kernels::add_times(block.rows, v, &mut velocity);
        }
        velocity
    }

    /// Removes the contact added last, whose rows are there, unless it can matter in a step
    /// ([`Reach`]). It stays where its gap is not a number, to be refused, and for velocities of
    /// another length.
    pub fn keep_last_if_reachable(&mut self, step: &Reach<'_>) {
        let fits = step.velocities.iter().all(|v| v.len() == self.dof);
        let Some(last) = self.len().checked_sub(1).filter(|_| fits) else {
            return;
        };
        let of = &self.parameters[last];
        if of.gap <= step.least || of.gap.is_nan() {
            return;
        }
        let is_reached = step.velocities.iter().any(|v| {
            let velocity = self.velocity(last, v);
            let time = if step.cushions {
                of.dissipation_time
            } else {
                0.0
            };
            let factor = 1.5 * (step.dt + time);
            // Beyond the reach of the approach, which the slip has to make up for. Squares are
            // compared: it saves a root for each contact.
            let beyond = of.gap - factor * (-velocity[0]).max(0.0);
            let reach = if step.cushions {
                factor * of.friction
            } else {
                0.0
            };
            let slip_squared = velocity[1] * velocity[1] + velocity[2] * velocity[2];
            beyond <= 0.0 || beyond * beyond <= reach * reach * slip_squared
        });
        if !is_reached {
            self.pop();
        }
    }

    /// Removes the contacts all of whose trees sleep; none where `asleep` is empty.
    pub(crate) fn remove_within(&mut self, asleep: &[bool]) {
        let sleeps = |tree: usize| asleep.get(tree).copied().unwrap_or(false);
        if asleep.is_empty() {
            return;
        }
        self.remove(|_, _, places| {
            // A contact without rows is refused where it is used.
            let mut trees = places.iter();
            !places.is_empty() && trees.all(|place| place.width == 0 || sleeps(place.tree))
        });
    }

    /// Removes the contacts whose numbers are `gone`.
    pub(crate) fn remove_numbers(&mut self, gone: impl Fn(usize) -> bool) {
        self.remove(|_, of, _| gone(of.contact));
    }

    /// Removes the contacts at the places of the list that are `gone`.
    pub(crate) fn remove_places(&mut self, gone: impl Fn(usize, &ContactParameters) -> bool) {
        self.remove(|i, of, _| gone(i, of));
    }

    /// Removes the contacts that are `gone`.
    fn remove(&mut self, gone: impl Fn(usize, &ContactParameters, &[Place]) -> bool) {
        let (mut contacts, mut places, mut values) = (0, 0, 0);
        let mut start = 0;
        for i in 0..self.len() {
            let own = start..self.ends[i];
            start = own.end;
            if gone(i, &self.parameters[i], &self.places[own.clone()]) {
                continue;
            }
            for place in own {
                let mut of = self.places[place];
                let size = row_count(self.tangents, &self.parameters[i]) * of.width;
                self.values.copy_within(of.first..of.first + size, values);
                of.first = values;
                values += size;
                self.places[places] = of;
                places += 1;
            }
            self.parameters[contacts] = self.parameters[i];
            self.ends[contacts] = places;
            contacts += 1;
        }
        self.parameters.truncate(contacts);
        self.ends.truncate(contacts);
        self.places.truncate(places);
        self.values.truncate(values);
    }

    /// Removes the contact added last.
    fn pop(&mut self) {
        self.parameters.pop();
        self.ends.pop();
        let kept = self.ends.last().copied().unwrap_or(0);
        if let Some(place) = self.places.get(kept) {
            self.values.truncate(place.first);
        }
        self.places.truncate(kept);
    }

    /// Adds all rows to zeros: the normal rows, then the tangents contact by contact, `dof` entries
    /// each.
    pub(crate) fn add_rows(&self, rows: &mut [f64]) {
        let (n, k, d) = (self.len(), self.tangents, self.dof);
        for i in 0..n {
            for block in self.blocks(i).filter(|block| block.width > 0) {
                for (r, entries) in block.rows.chunks_exact(block.width).take(1 + k).enumerate() {
                    // Order of rows in contact space: all normals, then the tangents contact by contact.
                    let row = if r == 0 { i } else { n + i * k + r - 1 };
                    let row = &mut rows[row * d + block.start..][..block.width];
                    for (sum, entry) in row.iter_mut().zip(entries) {
                        *sum += entry;
                    }
                }
            }
        }
    }
}

/// The number of rows of a contact: its normal, the tangents, and those of angular velocities.
fn row_count(tangents: usize, of: &ContactParameters) -> usize {
    1 + tangents + if of.has_moments() { 3 } else { 0 }
}
