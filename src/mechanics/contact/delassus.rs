//! From rows to contact space: `G = J M⁻¹ Jᵀ`, and the impact problem of [`Contacts`].
//!
//! Without tangents `G = Da M⁻¹ Daᵀ` is the matrix whose inverse stands in equations 2 and 4 of Pace
//! & Burden, and the metric (5a) of Seghete & Murphey between normals.

use std::ops::Range;

use nalgebra::{DMatrix, DVector};

use crate::impact::{ImpactFailure, ImpactProblem};
use crate::linalg::cholesky::{columns_times, factor, norm_in, solve};
use crate::linalg::dot;
use crate::linalg::scratch::with_zeros;
use crate::linalg::symmetric::{check_symmetric, driven_fault};
use crate::mechanics::measured::check_driven;
use crate::mechanics::{ContactSet, ContactSource, Contacts, MechanicalSystem, Wanted};
use crate::{InputError, MatrixFault, validate};

/// A mass matrix as it is inverted.
#[derive(Debug)]
pub(crate) enum Inertia<'a> {
    Inverse(&'a [f64]),
    /// Cholesky factor.
    Factor(&'a [f64]),
}

/// The inverse of a mass matrix, which is an identity for velocities that are driven.
#[derive(Debug)]
pub(crate) struct Mass<'a> {
    pub(crate) inertia: Inertia<'a>,
    /// See [`MechanicalSystem::driven`].
    pub(crate) driven: Range<usize>,
}

impl<'a> Mass<'a> {
    /// From a Cholesky factor, without velocities that are driven.
    pub(crate) fn of_factor(l: &'a [f64]) -> Self {
        Self {
            inertia: Inertia::Factor(l),
            driven: 0..0,
        }
    }

    /// `out = M⁻¹ force`, where the force on velocities that are driven is their acceleration.
    pub(crate) fn solve(&self, force: &[f64], out: &mut [f64]) {
        match self.inertia {
            Inertia::Factor(l) => {
                out.copy_from_slice(force);
                solve(l, force.len(), out);
            }
            Inertia::Inverse(inverse) => columns_times(inverse, force, out),
        }
    }

    /// `out = M⁻¹ row`, the velocities by a unit impulse of a contact: those that are driven have none.
    pub(crate) fn respond(&self, row: &[f64], out: &mut [f64]) {
        self.solve(row, out);
        if let Some(driven) = out.get_mut(self.driven.clone()) {
            driven.fill(0.0);
        }
    }
}

/// Writes `M⁻¹ Jᵀ`, one column after the other, and `G = J M⁻¹ Jᵀ`, from rows of `d` entries.
pub(crate) fn delassus(
    mass: &Mass<'_>,
    d: usize,
    rows: &[f64],
    response: &mut [f64],
    gram: &mut [f64],
) {
    let each = rows.chunks_exact(d.max(1));
    // Column i of M⁻¹ Jᵀ: the velocities by a unit impulse on row i.
    for (row, response) in each.zip(response.chunks_exact_mut(d.max(1))) {
        mass.respond(row, response);
    }
    fill_gram(d, rows, response, gram);
}

/// Writes `G = J M⁻¹ Jᵀ` from the rows of `J` and the columns of `M⁻¹ Jᵀ`.
pub(crate) fn fill_gram(d: usize, rows: &[f64], response: &[f64], gram: &mut [f64]) {
    let m = rows.len() / d.max(1);
    for (i, response) in response.chunks_exact(d.max(1)).enumerate() {
        let upper = &mut gram[i * m..][..=i];
        rows_times(&rows[..(i + 1) * d], response, upper);
        // G is symmetric: one half is computed, so that both have the same bits.
        for k in 0..i {
            gram[k * m + i] = gram[i * m + k];
        }
    }
}

/// The products of rows with a vector, each the sum of its terms in their order: four rows at a time,
/// so that no sum waits for the one before.
fn rows_times(rows: &[f64], x: &[f64], out: &mut [f64]) {
    let d = x.len().max(1);
    let mut fours = out.chunks_exact_mut(4);
    let mut rest = rows;
    for out in &mut fours {
        let (four, others) = rest.split_at(4 * d);
        rest = others;
        let [a, b, c, e] = [0, 1, 2, 3].map(|i| &four[i * d..][..x.len()]);
        let mut sums = [-0.0; 4];
        for (i, x) in x.iter().enumerate() {
            sums[0] += a[i] * x;
            sums[1] += b[i] * x;
            sums[2] += c[i] * x;
            sums[3] += e[i] * x;
        }
        out.copy_from_slice(&sums);
    }
    for (out, row) in fours.into_remainder().iter_mut().zip(rest.chunks_exact(d)) {
        *out = dot(row, x);
    }
}

/// `√(vᵀ M v)` of the velocities that are not driven: contact speeds are rounding below a part of it.
pub(crate) fn momentum_of(mass: &[f64], driven: Range<usize>, v: &[f64]) -> f64 {
    if driven.is_empty() {
        return norm_in(mass, v);
    }
    with_zeros(v.len(), |own| {
        own.copy_from_slice(v);
        if let Some(driven) = own.get_mut(driven) {
            driven.fill(0.0);
        }
        norm_in(mass, own)
    })
}

/// The problem of contacts that meet with velocity `v` and `momentum`, see [`momentum_of`]; where
/// surfaces move by themselves, of no less than the contacts have. `M⁻¹ Jᵀ` is written into `response`, `d` entries a row.
pub(crate) fn fill_impact(
    problem: &mut ImpactProblem,
    contacts: &Contacts,
    mass: &Mass<'_>,
    v: &[f64],
    momentum: f64,
    response: &mut [f64],
) -> Result<(), ImpactFailure> {
    contacts.refuse_moments("an impact")?;
    let (d, n, m) = (contacts.dof(), contacts.len(), contacts.rows());
    let parameters = contacts.all_parameters();
    with_zeros(m * d, |rows| {
        contacts.add_rows(rows);
        let friction = parameters.iter().map(|of| of.friction);
        problem.fill(m, friction, momentum, |gram, speeds| {
            delassus(mass, d, rows, response, gram);
            // u⁻ = J v⁻: approach is negative.
            for (speed, row) in speeds.iter_mut().zip(rows.chunks_exact(d.max(1))) {
                *speed = dot(row, v);
            }
        })
    })?;
    if !mass.driven.is_empty() {
        problem.raise_momentum();
    }
    with_zeros(n, |restitution| {
        for (value, of) in restitution.iter_mut().zip(parameters) {
            *value = of.restitution;
        }
        Ok(problem.set_restitutions(restitution)?)
    })
}

impl ImpactProblem {
    /// From the contacts of a configuration, its mass matrix `M` (`d × d`, symmetric, positive
    /// definite) and the velocity `v⁻` (`d`): contacts in their order, with their coefficients of
    /// friction and restitution as far as they were asked for. It keeps `M⁻¹ Jᵀ`, so that
    /// [`velocity_after`](Self::velocity_after) works.
    ///
    /// The mass matrix is that of all velocities: of those that are
    /// [driven](MechanicalSystem::driven) only [`of_system`](Self::of_system) knows.
    ///
    /// Gaps are not read: ask for the contacts that touch. What was not asked for in
    /// [`Wanted`](crate::mechanics::Wanted) is zero: plastic, without friction and tangents.
    ///
    /// ```
    /// use saltation::impact::{ImpactLaw, ImpactProblem, Unilateral};
    /// use saltation::mechanics::{ContactSet, ContactSource, Contacts, MechanicalSystem, Wanted};
    /// use saltation::models::RigidTrot;
    /// use saltation::nalgebra::{DMatrix, DVector};
    /// let (trot, mut contacts) = (RigidTrot::default(), Contacts::new());
    /// trot.fill(&[0.0, 0.0], ContactSet::Listed(&[0, 1]), Wanted::default(), &mut contacts)?;
    /// let mut mass = DMatrix::zeros(2, 2);
    /// trot.mass(&[0.0, 0.0], mass.as_mut_slice());
    /// let before = DVector::from_vec(vec![-1.0, 0.0]);
    /// let problem = ImpactProblem::from_contacts(&contacts, &mass, &before)?;
    /// let after = problem.velocity_after(&Unilateral.outcome(&problem)?)?;
    /// assert!(after.amax() < 1e-12); // plastic: restitution was not asked for
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`InputError::EmptySystem`], [`InputError::BadMatrix`] (`mass`),
    /// [`InputError::WrongLength`], [`InputError::NotFinite`], [`InputError::MomentsIgnored`] for spinning or
    /// rolling friction, and those of [`new`](Self::new) but [`InputError::InconsistentSpeeds`].
    pub fn from_contacts(
        contacts: &Contacts,
        mass: &DMatrix<f64>,
        velocity: &DVector<f64>,
    ) -> Result<Self, ImpactFailure> {
        Self::of_driven(contacts, mass, velocity, 0..0)
    }

    /// As [`from_contacts`](Self::from_contacts), with velocities that are driven.
    pub(crate) fn of_driven(
        contacts: &Contacts,
        mass: &DMatrix<f64>,
        velocity: &DVector<f64>,
        driven: Range<usize>,
    ) -> Result<Self, ImpactFailure> {
        if mass.is_empty() {
            return Err(ImpactFailure::Input(InputError::EmptySystem));
        }
        check_symmetric("mass", mass)?;
        let (d, v) = (mass.nrows(), velocity.as_slice());
        validate::length("velocity", d, v.len())?;
        validate::length("velocities of the contacts", d, contacts.dof())?;
        validate::finite("velocity", v)?;
        if let Some(fault) = driven_fault(mass.as_slice(), d, driven.clone()) {
            let name = "mass";
            return Err(ImpactFailure::Input(InputError::BadMatrix { name, fault }));
        }
        let momentum = momentum_of(mass.as_slice(), driven.clone(), v);
        let mut l = mass.as_slice().to_vec();
        if factor(&mut l, d).is_none() {
            let fault = MatrixFault::NotPositive { value: 0.0 };
            let name = "mass";
            return Err(ImpactFailure::Input(InputError::BadMatrix { name, fault }));
        }
        let mut response = DMatrix::zeros(d, contacts.rows());
        let inertia = Inertia::Factor(&l);
        let (factored, out) = (Mass { inertia, driven }, response.as_mut_slice());
        let mut problem = Self::empty();
        fill_impact(&mut problem, contacts, &factored, v, momentum, out)?;
        Ok(problem.with_response(v, response, mass))
    }

    /// The impact of a system at `(q, v)`, in one call: those of its contacts that `set` lists, or
    /// whose gaps are small enough ([`ContactSet::Within`]), with friction and restitution. It keeps
    /// the mass matrix and the motion, for [`velocity_after`](Self::velocity_after) and sets of
    /// velocities.
    ///
    /// ```
    /// use saltation::impact::{ExactPlanar, ImpactProblem};
    /// use saltation::mechanics::ContactSet;
    /// use saltation::models::RockingBlock;
    /// let block = RockingBlock::default();
    /// // It falls on both corners.
    /// let touching = ContactSet::Within(1e-9);
    /// let impact = ImpactProblem::of_system(&block, &[0.0; 3], &[0.0, -1.0, 0.0], touching)?;
    /// assert_eq!(impact.contacts(), 2);
    /// assert!(ExactPlanar::new().resolve(&impact)?.is_closed());
    /// # Ok::<(), saltation::Error>(())
    /// ```
    ///
    /// The impact of a state of a run is [`ContactModel::impact_at`].
    ///
    /// [`ContactModel::impact_at`]: crate::ContactModel::impact_at
    ///
    /// # Errors
    /// As [`ContactSource::fill`] and [`from_contacts`](Self::from_contacts), among them
    /// [`InputError::NoContacts`] where no gap is small enough.
    pub fn of_system<S>(
        system: &S,
        q: &[f64],
        v: &[f64],
        set: ContactSet<'_>,
    ) -> Result<Self, ImpactFailure>
    where
        S: MechanicalSystem + ContactSource + ?Sized,
    {
        let (dof, mut contacts) = (system.dof(), Contacts::new());
        validate::entries("entries of the mass matrix", dof, dof)?;
        let wanted = Wanted {
            friction: true,
            slips_at: Some(v),
            restitution_at: Some(v),
            ..Wanted::default()
        };
        system.fill(q, set, wanted, &mut contacts)?;
        let mut mass = DMatrix::zeros(dof, dof);
        system.mass(q, mass.as_mut_slice());
        let velocity = DVector::from_column_slice(v);
        let driven = system.driven();
        check_driven(&driven, dof)?;
        Self::of_driven(&contacts, &mass, &velocity, driven)
    }
}
