//! A contact problem: its trees, and the terms that act on them, contacts and rows, each with its links.

use nalgebra::Vector3;

use crate::compliant::law::{ContactLaw, RowLaw};
use crate::compliant::regularisation::Softness;
use crate::mechanics::ContactParameters;

/// A block of velocities that `A` couples to no other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::compliant) struct Tree {
    /// First velocity.
    pub(in crate::compliant) start: usize,
    /// Number of velocities.
    pub(in crate::compliant) width: usize,
    /// First entry of its block of `A`.
    pub(in crate::compliant) place: usize,
    /// The factor of its block has been computed.
    pub(super) factored: bool,
}

/// The rows of a term in the velocities of one tree.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::compliant) struct Link {
    pub(in crate::compliant) tree: usize,
    pub(in crate::compliant) place: usize,
}

/// One or two links: a contact with the world has one.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(in crate::compliant) struct Links {
    pub(in crate::compliant) first: Link,
    pub(in crate::compliant) second: Option<Link>,
}

impl Links {
    pub(in crate::compliant) fn iter(&self) -> impl Iterator<Item = Link> + use<> {
        std::iter::once(self.first).chain(self.second)
    }
}

/// A contact of the problem.
#[derive(Clone, Copy, Debug)]
pub(in crate::compliant) struct ContactTerm {
    pub(in crate::compliant) parameters: ContactParameters,
    pub(in crate::compliant) law: ContactLaw,
    pub(in crate::compliant) links: Links,
    /// Regularisation of its moments (1/(kg m²)), whose rows lie behind those of the contact; 0: it has none.
    pub(in crate::compliant) rotational: f64,
    /// Its bodies do not meet in a blow: it joins no island there, and is not solved.
    pub(in crate::compliant) is_apart: bool,
}

impl ContactTerm {
    /// The law of its moments, where it has some.
    pub(in crate::compliant) fn moments(&self) -> Option<ContactLaw> {
        let of = &self.parameters;
        let law =
            || ContactLaw::of_moments(of.spinning_friction, of.rolling_friction, self.rotational);
        (self.rotational > 0.0).then(law)
    }
}

/// A further term of the problem.
#[derive(Clone, Copy, Debug)]
pub(in crate::compliant) struct RowTerm {
    pub(in crate::compliant) law: RowLaw,
    pub(in crate::compliant) links: Links,
    /// Its trees sleep: it joins no island, and is not solved.
    pub(in crate::compliant) is_asleep: bool,
    /// How far the points or the axes that it holds together stand apart at the start of the step.
    pub(in crate::compliant) apart: Deviation,
    /// The arms of its force on free bodies, in the order of its links.
    pub(super) arms: Option<[Vector3<f64>; 2]>,
}

/// The impulse of a row on a free body, and the arm from its centre of mass at which it acts.
#[derive(Clone, Copy, Debug)]
pub(in crate::compliant) struct Armed {
    pub(in crate::compliant) tree: usize,
    pub(in crate::compliant) arm: Vector3<f64>,
    pub(in crate::compliant) impulse: Vector3<f64>,
}

/// A deviation of a constraint: a way (m) or a turn (rad); the other one is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Deviation {
    pub(crate) way: f64,
    pub(crate) turn: f64,
}

/// The convex problem of one implicit step:
///
/// ```text
///     minimise   ½ (v − v*)ᵀ A (v − v*) + Σ ℓ_R(J v)      over the velocities v at the end of the step
/// ```
///
/// `A` is symmetric and positive definite, with a block for each tree; `v*` are the velocities
/// without contacts. A term acts on one or two trees: a contact by [`ContactLaw`], anything else by
/// rows of [`RowLaw`]. A contact of more than two trees is refused.
///
/// Units: masses in kg, velocities in m/s or rad/s, gaps in m, stiffness in N/m, times in s.
/// Contact velocities and impulses are `[n, t₁, t₂]`; signs are those of
/// [`Contacts`](crate::mechanics::Contacts).
///
/// ```
/// use saltation::compliant::{Problem, Solver};
/// use saltation::mechanics::ContactParameters;
/// let mut problem = Problem::new(0.01)?;
/// let mass = [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0]; // a particle: (x, y, z)
/// let tree = problem.add_tree(&mass, &[0.3, -0.1, -0.5])?;
/// let mut ground = ContactParameters::new(0, -1e-3);
/// (ground.stiffness, ground.dissipation_time, ground.friction) = (1e4, 0.02, 0.4);
/// let rows = [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]; // normal z, tangents x and y
/// problem.add_contact(&ground, &[(tree, &rows)])?;
/// let mut solver = Solver::new();
/// let solution = solver.solve(&problem, &[0.0; 3])?;
/// assert!((solution.impulses()[0][0] - 0.722398985650).abs() < 1e-9);
/// # Ok::<(), saltation::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Problem {
    pub(in crate::compliant) dt: f64,
    pub(in crate::compliant) softness: Softness,
    pub(in crate::compliant) trees: Vec<Tree>,
    pub(in crate::compliant) inertia: Vec<f64>,
    pub(in crate::compliant) factors: Vec<f64>,
    pub(in crate::compliant) free: Vec<f64>,
    pub(in crate::compliant) contacts: Vec<ContactTerm>,
    pub(in crate::compliant) rows: Vec<RowTerm>,
    pub(in crate::compliant) jacobian: Vec<f64>,
    /// The number of rows up to the end of each term.
    pub(super) ends: Vec<usize>,
    /// `A⁻¹ Jᵀ` of a row, and the padded rows of a contact.
    pub(super) scratch: Vec<f64>,
}
