//! Contacts of one configuration as values. A user writes
//! [`UnilateralConstraints`](super::UnilateralConstraints); two layers are made from it:
//!
//! * `ContactRows`: the rows `Da` of a list of contacts in the caller's scratch. The smooth phase
//!   needs nothing else of closed contacts; of open ones it evaluates the gaps.
//! * [`Contacts`]: owned and reused, with gaps and parameters, for impacts, implicit steps and
//!   logs. A [`ContactSource`] fills it.
//!
//! Units and signs are those of [`Contacts`].

use std::ops::Range;

use super::gaps::{gap_row, work_size};
use super::trees::check_trees;
use super::{MechanicalSystem, UnilateralConstraints};
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
    /// Evaluates the rows at `q` into `rows`; `work` has [`work_size`] entries.
    pub(crate) fn new<S>(
        system: &S,
        q: &[f64],
        contacts: &'a [usize],
        rows: &'a mut [f64],
        work: &mut [f64],
    ) -> Self
    where
        S: MechanicalSystem + UnilateralConstraints + ?Sized,
    {
        let (dof, mut written) = (system.dof(), true);
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

    /// The row of contact `i` of the list.
    pub(crate) fn row(&self, i: usize) -> &[f64] {
        &self.rows[i * self.dof..(i + 1) * self.dof]
    }
}

/// Which contacts are asked for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ContactSet<'a> {
    /// These, in this order.
    Listed(&'a [usize]),
    /// Those with a gap up to this margin (m).
    Within(f64),
    /// Those that can matter in a step of `dt` seconds from the velocities `v`: with a gap up to
    /// `1.5 (dt + τ) (μ |v_t| + max(0, −v_n))`, or up to `least` (m) where that is more. A sliding
    /// contact of a compliant step presses from a distance `(dt + τ) μ |v_t|`; without those
    /// contacts a sliding body hops.
    Reachable {
        /// Velocities.
        v: &'a [f64],
        /// Length of the step (s).
        dt: f64,
        /// Least margin (m).
        least: f64,
    },
}

/// What is evaluated beside gaps and normal rows; by default nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// Tangent rows and coefficients of friction. Without, contacts are frictionless.
    pub friction: bool,
    /// Coefficients of restitution, at this velocity. Without, they are zero.
    pub restitution_at: Option<&'a [f64]>,
    /// Stiffness and dissipation time. Without, contacts are rigid.
    pub compliance: bool,
}

/// Numbers of a contact; see [`UnilateralConstraints`] for their meaning.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct ContactParameters {
    /// Number of the contact in its source.
    pub contact: usize,
    /// Gap (m).
    pub gap: f64,
    /// Coefficient of friction.
    pub friction: f64,
    /// Coefficient of restitution.
    pub restitution: f64,
    /// Stiffness (N/m).
    pub stiffness: f64,
    /// Dissipation time (s).
    pub dissipation_time: f64,
    /// Near-rigid limit `β` of the compliant driver; none: that of the driver
    /// ([`Softness`](crate::compliant::Softness)).
    pub near_rigid: Option<f64>,
    /// Softness of stiction `σ` of the compliant driver; none: that of the driver.
    pub stiction: Option<f64>,
}

impl ContactParameters {
    /// A rigid contact without friction and restitution.
    pub fn new(contact: usize, gap: f64) -> Self {
        Self {
            contact,
            gap,
            friction: 0.0,
            restitution: 0.0,
            stiffness: f64::INFINITY,
            dissipation_time: 0.0,
            near_rigid: None,
            stiction: None,
        }
    }

    /// Refuses numbers that make no sense. Restitution is checked where it is used: some laws and
    /// drivers take any.
    pub(crate) fn validate(&self) -> Result<(), InputError> {
        validate::finite("gap", &[self.gap])?;
        validate::not_negative("coefficient of friction", &[self.friction])?;
        let (stiffness, rule) = (self.stiffness, "must be > 0");
        validate::unless(stiffness > 0.0, "stiffness", stiffness, rule)?;
        validate::not_negative("dissipation time", &[self.dissipation_time])
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
    /// The entries of the normal row, then those of each tangent row.
    pub rows: &'a [f64],
}

/// Where a block lies among the values.
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
///   not a distance scales the normal row alone.
/// * An impulse (N s) acts on velocities as `M⁻¹ Jᵀ p`: a positive normal impulse pushes the bodies
///   apart, and friction is opposite to the slip.
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
    /// [`InputError::Tangents`] for more than two.
    pub fn reset(&mut self, dof: usize, tangents: usize) -> Result<(), InputError> {
        if tangents > 2 {
            return Err(InputError::Tangents {
                contact: 0,
                expected: 2,
                found: tangents,
            });
        }
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
    /// no sense; the entry is the number of the contact. Restitution is checked where it is used:
    /// some laws and drivers take any.
    pub fn push(&mut self, parameters: ContactParameters) -> Result<(), InputError> {
        let of_contact = validate::counted_from(parameters.contact);
        parameters.validate().map_err(of_contact)?;
        self.parameters.push(parameters);
        self.ends.push(self.places.len());
        Ok(())
    }

    /// Adds a block of rows to the contact added last: the entries of the normal row in the
    /// velocities of `tree`, then those of each tangent row.
    ///
    /// # Errors
    /// [`InputError::NoContacts`] before the first contact; [`InputError::WrongLength`] for
    /// velocities beyond those of [`reset`](Self::reset) and for another number of entries.
    pub fn push_block(
        &mut self,
        tree: usize,
        velocities: Range<usize>,
        rows: &[f64],
    ) -> Result<(), InputError> {
        let Some(end) = self.ends.last_mut() else {
            return Err(InputError::NoContacts);
        };
        let (start, width) = (velocities.start, velocities.len());
        validate::length("velocities", self.dof.max(velocities.end), self.dof)?;
        validate::length("rows of a block", (1 + self.tangents) * width, rows.len())?;
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
        self.places[start..end].iter().map(|place| RowBlock {
            tree: place.tree,
            start: place.start,
            width: place.width,
            rows: &self.values[place.first..][..(1 + self.tangents) * place.width],
        })
    }

    /// The velocity `[n, t₁, t₂]` of contact `i` at the velocities `v`; zero in tangents that are
    /// not there.
    pub(crate) fn velocity(&self, i: usize, v: &[f64]) -> [f64; 3] {
        let mut velocity = [0.0; 3];
        for block in self.blocks(i).filter(|block| block.width > 0) {
            let v = &v[block.start..block.start + block.width];
            for (sum, row) in velocity
                .iter_mut()
                .zip(block.rows.chunks_exact(block.width))
            {
                *sum += crate::linalg::dot(row, v);
            }
        }
        velocity
    }

    /// Removes the contact added last, whose rows are there, unless it can matter in a step
    /// ([`ContactSet::Reachable`]). It stays where its gap is not a number, to be refused, and for
    /// velocities of another length.
    pub fn keep_last_if_reachable(&mut self, v: &[f64], dt: f64, least: f64) {
        let Some(last) = self.len().checked_sub(1).filter(|_| v.len() == self.dof) else {
            return;
        };
        let (velocity, of) = (self.velocity(last, v), &self.parameters[last]);
        let factor = 1.5 * (dt + of.dissipation_time);
        // Beyond the reach of the approach, which the slip has to make up for. Squares are compared:
        // it saves a root for each contact.
        let beyond = of.gap - factor * (-velocity[0]).max(0.0);
        let reach = factor * of.friction;
        let slip_squared = velocity[1] * velocity[1] + velocity[2] * velocity[2];
        if of.gap > least && beyond > 0.0 && beyond * beyond > reach * reach * slip_squared {
            self.pop();
        }
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
                for (r, entries) in block.rows.chunks_exact(block.width).enumerate() {
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

/// What fills [`Contacts`]; provided for all systems with
/// [`UnilateralConstraints`](super::UnilateralConstraints).
///
/// Write it for contacts whose number changes, or that other software finds; the compliant driver
/// takes it. (The rows of free bodies are made by
/// [`FreeContact`](crate::bodies::FreeContact).)
///
/// ```
/// use saltation::InputError;
/// use saltation::compliant::TimeStepper;
/// use saltation::mechanics::*;
/// struct Bead; // 1 kg over the ground z = 0.1 x²
/// impl MechanicalSystem for Bead {
///     fn dof(&self) -> usize { 3 }
///     fn mass(&self, _q: &[f64], mass: &mut [f64]) {
///         mass.copy_from_slice(&[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
///     }
///     fn effort(&self, _t: f64, _q: &[f64], _v: &[f64], effort: &mut [f64]) {
///         effort.copy_from_slice(&[0.0, 0.0, -9.81]);
///     }
/// }
/// impl ContactSource for Bead {
///     fn fill(&self, q: &[f64], set: ContactSet, wanted: Wanted, contacts: &mut Contacts) -> Result<(), InputError> {
///         contacts.reset(3, if wanted.friction { 2 } else { 0 })?;
///         let slope = 0.2 * q[0];
///         let length = slope.hypot(1.0);
///         let mut parameters = ContactParameters::new(0, (q[2] - 0.1 * q[0] * q[0]) / length);
///         if wanted.friction { parameters.friction = 0.5 }
///         if wanted.compliance { parameters.dissipation_time = 0.01 }
///         let belongs = match set {
///             ContactSet::Listed(list) => list.contains(&0),
///             ContactSet::Within(margin) => parameters.gap <= margin,
///             _ => true,
///         };
///         if belongs {
///             contacts.push(parameters)?;
///             let rows = [-slope, 0.0, 1.0, 1.0, 0.0, slope, 0.0, length, 0.0].map(|x| x / length);
///             contacts.push_block(0, 0..3, &rows[..3 * (1 + contacts.tangents())])?;
///         }
///         if let ContactSet::Reachable { v, dt, least } = set {
///             contacts.keep_last_if_reachable(v, dt, least);
///         }
///         Ok(())
///     }
/// }
/// let mut stepper = TimeStepper::new(Bead)?.time_step(0.01);
/// let run = stepper.integrate(0.0, &[0.5, 0.0, 0.025], &[0.0; 3], 1.0)?.completed()?;
/// assert!((run.state()[0] - 0.5).abs() < 1e-4); // it sticks
/// assert!((run.state()[2] - 0.025).abs() < 1e-4);
/// # Ok::<(), saltation::Error>(())
/// ```
pub trait ContactSource {
    /// Replaces `contacts` by those of `set` at the configuration `q`: [`Contacts::reset`], then
    /// [`push`](Contacts::push) and [`push_block`](Contacts::push_block) for each.
    ///
    /// What is not [`Wanted`] keeps its default; without friction contacts have no tangents. Of
    /// [`ContactSet::Reachable`] more contacts may be filled in than belong to it, which costs time,
    /// but none left out; [`Contacts::keep_last_if_reachable`] is its rule. The result must depend
    /// on `q` and `set` alone.
    ///
    /// # Errors
    /// [`InputError::WrongLength`], [`InputError::NoSuch`], [`InputError::Tangents`] where contacts
    /// have different numbers of tangents, and those of [`Contacts::push`].
    fn fill(
        &self,
        q: &[f64],
        set: ContactSet<'_>,
        wanted: Wanted<'_>,
        contacts: &mut Contacts,
    ) -> Result<(), InputError>;
}

impl<S> ContactSource for S
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    fn fill(
        &self,
        q: &[f64],
        set: ContactSet<'_>,
        wanted: Wanted<'_>,
        contacts: &mut Contacts,
    ) -> Result<(), InputError> {
        validate::length("q", self.coordinates(), q.len())?;
        if let Some(v) = wanted.restitution_at {
            validate::length("v", self.dof(), v.len())?;
        }
        check_trees(self)?;
        let tangents = if wanted.friction {
            common_tangents(self)?
        } else {
            0
        };
        contacts.reset(self.dof(), tangents)?;
        // Taken out, so that rows can be pushed from it.
        let mut scratch = std::mem::take(&mut contacts.scratch);
        scratch.clear();
        scratch.resize(2 * (1 + tangents) * self.dof() + work_size(self), 0.0);
        let count = self.contacts();
        let mut add = |j: usize| add_contact(self, (q, j), wanted, contacts, &mut scratch);
        let added = match set {
            ContactSet::Listed(list) => list.iter().try_for_each(|&contact| {
                if contact < count {
                    add(contact)
                } else {
                    Err(InputError::NoSuch {
                        what: "contact",
                        index: contact,
                        count,
                    })
                }
            }),
            ContactSet::Within(margin) => {
                // A gap that is not a number is not beyond the margin; it is refused.
                let beyond = |j: &usize| self.gap(*j, q) > margin;
                (0..count).filter(|j| !beyond(j)).try_for_each(add)
            }
            ContactSet::Reachable { v, dt, least } => {
                validate::length("v", self.dof(), v.len())?;
                (0..count).try_for_each(|j| {
                    add_contact(self, (q, j), wanted, contacts, &mut scratch)?;
                    contacts.keep_last_if_reachable(v, dt, least);
                    Ok(())
                })
            }
        };
        contacts.scratch = scratch;
        added
    }
}

/// The number of tangents of all contacts.
///
/// # Errors
/// [`InputError::Tangents`] where contacts differ, or have more than two.
pub(crate) fn common_tangents<S>(system: &S) -> Result<usize, InputError>
where
    S: UnilateralConstraints + ?Sized,
{
    let mut expected = None;
    for contact in 0..system.contacts() {
        let found = system.tangents(contact);
        let expected = *expected.get_or_insert(found.min(2));
        if found != expected {
            return Err(InputError::Tangents {
                contact,
                expected,
                found,
            });
        }
    }
    Ok(expected.unwrap_or(0))
}

/// Adds contact `j` and its blocks.
fn add_contact<S>(
    system: &S,
    (q, j): (&[f64], usize),
    wanted: Wanted<'_>,
    contacts: &mut Contacts,
    scratch: &mut [f64],
) -> Result<(), InputError>
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    let mut parameters = ContactParameters::new(j, system.gap(j, q));
    if wanted.friction {
        parameters.friction = system.friction(j);
    }
    if let Some(v) = wanted.restitution_at {
        parameters.restitution = system.restitution(j, q, v);
    }
    if wanted.compliance {
        parameters.stiffness = system.stiffness(j);
        parameters.dissipation_time = system.dissipation_time(j);
    }
    contacts.push(parameters)?;
    let (d, r) = (system.dof(), 1 + contacts.tangents());
    let (rows, scratch) = scratch.split_at_mut(r * d);
    let (block, work) = scratch.split_at_mut(r * d);
    let (normal, slips) = rows.split_at_mut(d);
    gap_row(system, j, q, normal, work);
    if r > 1 {
        slips.fill(0.0);
        system.tangent_rows(j, q, slips);
    }
    let trees = system.trees();
    for i in 0..trees {
        let tree = system.tree(i);
        let width = tree.len();
        for k in 0..r {
            let part = &rows[k * d + tree.start..k * d + tree.end];
            block[k * width..(k + 1) * width].copy_from_slice(part);
        }
        let block = &block[..r * width];
        if trees == 1 || block.iter().any(|&entry| entry != 0.0) {
            contacts.push_block(i, tree, block)?;
        }
    }
    Ok(())
}
