//! Sources of [`Contacts`]: which contacts are asked for, and what of them.

use crate::linalg::dot;
use crate::linalg::scratch::with_zeros;
use crate::mechanics::configuration;
use crate::mechanics::contact::gaps::{gap_row, work_size};
use crate::mechanics::trees::check_trees;
use crate::mechanics::{
    ContactParameters, Contacts, Friction, MechanicalSystem, UnilateralConstraints,
};
use crate::{InputError, validate};

/// The contacts that are asked for.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ContactSet<'a> {
    /// These, in this order.
    Listed(&'a [usize]),
    /// Contacts with a gap up to this margin (m).
    Within(f64),
    /// Contacts that can matter in a step.
    Reachable(Reach<'a>),
}

/// The step whose contacts are asked for: a contact can press in it with a gap up to
/// `1.5 dt max(0, −v_n)`, of the lowest of its normal velocities, or up to `least` where that is more.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Reach<'a> {
    /// Velocities in the step: at its start, and at its end as far as they are known.
    pub velocities: &'a [&'a [f64]],
    /// Length of the step (s).
    pub dt: f64,
    /// Least margin (m).
    pub least: f64,
    /// Contacts press before they close: with a gap up to `1.5 (dt + τ) (μ |v_t| + max(0, −v_n))`, as under the
    /// convex cone of friction. Without those contacts a body that slides hops.
    pub cushions: bool,
    /// For each tree whether it sleeps: it stays where it is in the step. Empty: none does. Contacts all of whose
    /// trees sleep do not belong to the step; a source may list them, and they are left out.
    pub asleep: &'a [bool],
}

impl<'a> Reach<'a> {
    /// Of a step of `dt` seconds with these velocities, without cushions.
    pub fn new(velocities: &'a [&'a [f64]], dt: f64, least: f64) -> Self {
        Self {
            velocities,
            dt,
            least,
            cushions: false,
            asleep: &[],
        }
    }

    /// Refuses velocities of another length than `dof`.
    pub(crate) fn check_length(&self, dof: usize) -> Result<(), InputError> {
        let mut velocities = self.velocities.iter();
        velocities.try_for_each(|v| validate::length("v", dof, v.len()))
    }

    /// Refuses velocities of another length than `dof`, and numbers that make no sense.
    pub(crate) fn check(&self, dof: usize) -> Result<(), InputError> {
        self.check_length(dof)?;
        let mut velocities = self.velocities.iter();
        velocities.try_for_each(|v| validate::finite("v", v))?;
        validate::not_negative("dt", &[self.dt])?;
        validate::not_negative("margin", &[self.least])
    }
}

/// A motion in a step, from the coordinates `q` with the velocities `v` for `dt` seconds, beside the contacts of
/// the step.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Passage<'a> {
    /// Coordinates at the start of the step.
    pub q: &'a [f64],
    /// Velocities.
    pub v: &'a [f64],
    /// Length of the step (s).
    pub dt: f64,
    /// Contacts of the step: surfaces that lie a little deep on these meet no edge that is lower than that.
    pub contacts: &'a Contacts,
    /// The velocities are those with which the step ends, solved without the contact; else those at its start.
    pub is_solved: bool,
}

/// The quantities evaluated beside gaps and normal rows; by default none.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wanted<'a> {
    /// Tangent rows and coefficients of friction, those of spinning and rolling friction with their rows
    /// included. Without, contacts are frictionless.
    pub friction: bool,
    /// Laws of friction ([`friction_at`](UnilateralConstraints::friction_at)), as of slips with this
    /// velocity: kinetic friction of an impact that begins with it. Without, the coefficients alone.
    pub slips_at: Option<&'a [f64]>,
    /// Coefficients of restitution, at this velocity. Without, they are zero.
    pub restitution_at: Option<&'a [f64]>,
    /// Stiffness and dissipation time. Without, contacts are rigid.
    pub compliance: bool,
}

/// A source that fills [`Contacts`]; provided for all systems with
/// [`UnilateralConstraints`](crate::mechanics::UnilateralConstraints).
///
/// Write it for contacts whose number changes, or that other software finds; the compliant driver
/// takes it. (The rows of free bodies are made by
/// [`FreeContact`](crate::bodies::FreeContact).)
///
/// ```
/// use saltation::{InputError, Start};
/// use saltation::compliant::Compliant;
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
///         if let ContactSet::Reachable(reach) = set {
///             contacts.keep_last_if_reachable(&reach);
///         }
///         Ok(())
///     }
/// }
/// let mut stepper = Compliant::new(Bead)?.time_step(0.01);
/// let start = Start::at(0.0).q(&[0.5, 0.0, 0.025]).v(&[0.0; 3]);
/// let run = stepper.integrate(&start, 1.0)?.completed()?;
/// assert!((run.state()[0] - 0.5).abs() < 1e-4); // it sticks
/// assert!((run.state()[2] - 0.025).abs() < 1e-4);
/// # Ok::<(), saltation::Error>(())
/// ```
pub trait ContactSource {
    /// Replaces `contacts` by those of `set` at the configuration `q`: [`Contacts::reset`], then
    /// [`push`](Contacts::push) and [`push_block`](Contacts::push_block) for each.
    ///
    /// Quantities that are not [`Wanted`] keep their defaults; without friction contacts have no
    /// tangents. Of [`ContactSet::Reachable`] more contacts may be filled in than belong to it,
    /// which costs time, but none left out; [`Contacts::keep_last_if_reachable`] is its rule. The
    /// result must depend on `q` and `set` alone.
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

    /// The number of contacts, where these are the same in all configurations: drivers then look at
    /// all of them, near or far, before a run starts. Provided: none; what a driver does not take
    /// ends a run where it lists such a contact first.
    fn contact_count(&self) -> Option<usize> {
        None
    }

    /// The pair of surfaces of a contact: several contacts may belong to one. Provided: each has its own.
    fn pair(&self, contact: usize) -> usize {
        contact
    }

    /// True where the surfaces of a contact may meet in a motion. A step takes gaps to change by its rows at the
    /// start, along which surfaces would close that pass beside an edge; it leaves out contacts of which this
    /// says `false`. Provided: `true`, except for systems with
    /// [`UnilateralConstraints`](crate::mechanics::UnilateralConstraints), of which gaps are evaluated at 64
    /// places on the way.
    fn meets(&self, contact: usize, passage: &Passage<'_>) -> bool {
        let _ = (contact, passage);
        true
    }

    /// The body that moves by a tree, where trees are those of free bodies: for the scale and the messages of
    /// drivers. Provided: none.
    fn body_of_tree(&self, tree: usize) -> Option<TreeBody> {
        let _ = tree;
        None
    }
}

/// The free body of a tree of six velocities: its turns, then its moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeBody {
    /// Its number among the bodies.
    pub number: usize,
    /// Radius of a ball about its centre that holds it (m).
    pub size: f64,
    /// It was not removed: nothing may hold one that is not there.
    pub is_there: bool,
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
        // Each size is asked for once: what is indexed below fits, whatever the system says later.
        let (dof, count) = (self.dof(), self.contacts());
        validate::at_most("dof", dof)?;
        validate::at_most("contacts", count)?;
        validate::length("q", self.coordinates(), q.len())?;
        for v in [wanted.restitution_at, wanted.slips_at]
            .into_iter()
            .flatten()
        {
            validate::length("v", dof, v.len())?;
        }
        check_trees(self, dof)?;
        let tangents = if wanted.friction {
            common_tangents(self, count)?
        } else {
            0
        };
        contacts.reset(dof, tangents)?;
        // Taken out, so that rows can be pushed from it.
        let mut scratch = std::mem::take(&mut contacts.scratch);
        scratch.clear();
        scratch.resize(2 * (1 + tangents) * dof + work_size(q.len(), dof), 0.0);
        let mut add = |j: usize| add_contact(self, q, j, wanted, contacts, &mut scratch);
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
            ContactSet::Reachable(reach) => {
                reach.check_length(dof)?;
                (0..count).try_for_each(|j| {
                    add_contact(self, q, j, wanted, contacts, &mut scratch)?;
                    contacts.keep_last_if_reachable(&reach);
                    Ok(())
                })
            }
        };
        contacts.scratch = scratch;
        added
    }

    fn contact_count(&self) -> Option<usize> {
        Some(self.contacts())
    }

    fn meets(&self, contact: usize, passage: &Passage<'_>) -> bool {
        let Passage { q, v, dt, .. } = *passage;
        let ends = [self.coordinates() == q.len(), self.dof() == v.len()];
        if contact >= self.contacts() || ends.contains(&false) {
            return true;
        }
        with_zeros(2 * q.len(), |scratch| {
            let (rate, place) = scratch.split_at_mut(q.len());
            configuration::rate(self, q, v, rate);
            let (mut before, mut least, mut fastest) =
                (self.gap(contact, q), f64::INFINITY, 0.0f64);
            for i in 1..=PLACES {
                let time = dt * f64::from(i) / f64::from(PLACES);
                for ((place, q), rate) in place.iter_mut().zip(q).zip(&*rate) {
                    *place = q + time * rate;
                }
                let gap = self.gap(contact, place);
                fastest = fastest.max((gap - before).abs());
                least = if gap.is_nan() {
                    f64::NEG_INFINITY
                } else {
                    least.min(gap)
                };
                before = gap;
            }
            // A gap may be less between two places, by half of what it changes by from one to the next.
            least <= 0.5 * fastest
        })
    }
}

/// Places on the way at which gaps of written constraints are looked at.
const PLACES: u8 = 64;

/// The number of tangents of all `contacts` contacts.
///
/// # Errors
/// [`InputError::Tangents`] where contacts differ, or have more than two.
pub(crate) fn common_tangents<S>(system: &S, contacts: usize) -> Result<usize, InputError>
where
    S: UnilateralConstraints + ?Sized,
{
    let mut expected = None;
    for contact in 0..contacts {
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
    q: &[f64],
    j: usize,
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
        // Of contacts with compliance the compliant driver asks.
        if wanted.compliance && system.friction_at(j, q, 0.0).is_some() {
            return Err(InputError::FrictionLaw {
                driver: "Compliant",
                contact: j,
            });
        }
    }
    if let Some(v) = wanted.restitution_at {
        parameters.restitution = system.restitution(j, q, v);
    }
    if wanted.compliance {
        parameters.stiffness = system.stiffness(j);
        parameters.dissipation_time = system.dissipation_time(j);
    }
    let (d, r) = (contacts.dof(), 1 + contacts.tangents());
    let (rows, scratch) = scratch.split_at_mut(r * d);
    let (block, work) = scratch.split_at_mut(r * d);
    // Rows in all velocities: the normal Da_j, then the tangents.
    let (normal, slips) = rows.split_at_mut(d);
    gap_row(system, j, q, normal, work);
    if r > 1 {
        slips.fill(0.0);
        system.tangent_rows(j, q, slips);
        if let Some(v) = wanted.slips_at {
            let speed = slips.chunks_exact(d.max(1)).map(|row| dot(row, v));
            let speed = speed.fold(0.0, f64::hypot);
            let law = system.friction_at(j, q, speed).map(Friction::sound);
            parameters.friction = law.map_or(parameters.friction, |law| law.slip);
        }
    }
    contacts.push(parameters)?;
    let trees = system.trees();
    for i in 0..trees.min(d) {
        let tree = system.tree(i);
        let width = tree.len();
        validate::length("end of a tree", tree.end.min(d), tree.end)?;
        for k in 0..r {
            let row = rows[k * d..(k + 1) * d].iter().skip(tree.start);
            for (entry, part) in block[k * width..(k + 1) * width].iter_mut().zip(row) {
                *entry = *part;
            }
        }
        let block = &block[..r * width];
        // Only trees that the contact moves have a block: the compliant driver finds islands by them.
        if trees == 1 || block.iter().any(|&entry| entry != 0.0) {
            contacts.push_block(i, tree, block)?;
        }
    }
    Ok(())
}
