//! Sizes and constants of a mechanical system: a constant mass matrix with its inverse among them.

use std::sync::Arc;

use crate::linalg::cholesky::{factor, inverse};
use crate::linalg::scratch::with_zeros;
use crate::mechanics::contact::delassus::{Inertia, Mass};
use crate::mechanics::measured::Sizes;
use crate::mechanics::{Measured, MechanicalSystem, UnilateralConstraints, configuration};
use crate::{InputError, validate};

/// The reason for which there is no acceleration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Trouble {
    /// The mass matrix is not positive definite.
    Mass,
    /// The system gives another number of velocities or coordinates than it gave first.
    Sizes { expected: usize, found: usize },
    /// The rows of the closed contacts are linearly dependent; the pivot ratio of their Gram
    /// matrix.
    Dependent(f64),
}

/// A mechanical system, with its sizes and constants.
#[derive(Clone, Debug)]
pub(crate) struct Bodies<S: ?Sized> {
    pub(crate) fixed: Fixed,
    /// Last, because `S` may be unsized.
    pub(crate) system: Measured<S>,
}

/// Sizes of a mechanical system, read once, and constants, which are read anew where a run begins, or a part of one.
#[derive(Clone, Debug)]
pub(crate) struct Fixed {
    /// Number of velocities.
    pub(crate) d: usize,
    /// Number of coordinates.
    pub(crate) nq: usize,
    /// `q̇ = v`.
    pub(crate) identity: bool,
    /// All sizes, for a system that gives others later.
    pub(crate) sizes: Arc<Sizes>,
    /// Where the mass matrix is constant, and has an inverse.
    constant_mass: Option<ConstantMass>,
    /// A generalised effort beside that of the system; empty: none.
    applied: Vec<f64>,
}

/// A constant mass matrix.
#[derive(Clone, Debug)]
struct ConstantMass {
    /// As the system wrote it.
    matrix: Vec<f64>,
    /// With a few coordinates a product is several times faster than solving with a factor.
    inverse: Vec<f64>,
}

impl ConstantMass {
    fn of<S: MechanicalSystem>(system: &Measured<S>, d: usize) -> Option<Self> {
        let is_constant = system.sizes.check().is_ok() && system.constant_mass();
        is_constant.then(|| {
            let mut matrix = vec![0.0; d * d];
            system.mass(&vec![0.0; system.coordinates()], &mut matrix);
            let mut lower = matrix.clone();
            factor(&mut lower, d)?;
            let inverse = inverse(&lower, d);
            Some(Self { matrix, inverse })
        })?
    }
}

#[inline(always)]
pub(crate) fn same_size(expected: usize, found: usize) -> Result<usize, Trouble> {
    if found == expected {
        Ok(found)
    } else {
        Err(Trouble::Sizes { expected, found })
    }
}

impl<S> Bodies<S>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    pub(crate) fn new(system: S) -> Self {
        let system = Measured::new(system);
        let fixed = Fixed::of(&system);
        Self { fixed, system }
    }

    /// True where a constant mass matrix is not the one that is kept: the user has changed the system.
    pub(crate) fn has_other_mass(&self) -> bool {
        let Some(kept) = &self.fixed.constant_mass else {
            return ConstantMass::of(&self.system, self.fixed.d).is_some();
        };
        let (d, nq) = (self.fixed.d, self.fixed.nq);
        with_zeros(nq + d * d, |scratch| {
            let (origin, mass) = scratch.split_at_mut(nq);
            self.system.mass(origin, mass);
            let mut pairs = mass.iter().zip(&kept.matrix);
            pairs.any(|(now, before)| now.to_bits() != before.to_bits())
        })
    }

    /// Reads a constant mass matrix anew.
    pub(crate) fn read_mass(&mut self) {
        self.fixed.constant_mass = ConstantMass::of(&self.system, self.fixed.d);
    }
}

impl<S> Bodies<S>
where
    S: MechanicalSystem + UnilateralConstraints + ?Sized,
{
    /// See [`Fixed::mass`].
    pub(crate) fn mass<'a>(&'a self, q: &[f64], space: &'a mut [f64]) -> Result<Mass<'a>, Trouble> {
        self.fixed.mass(&self.system, self.fixed.d, q, space)
    }

    /// Size of the scratch space of a [`frame`](Self::frame) of `m` contacts.
    pub(crate) fn frame_size(&self, m: usize) -> usize {
        self.fixed.frame_size(self.fixed.d, self.fixed.nq, m)
    }
}

impl Fixed {
    fn of<S: MechanicalSystem>(system: &Measured<S>) -> Self {
        let (d, nq) = (system.dof(), system.coordinates());
        let origin = vec![0.0; nq];
        Self {
            d,
            nq,
            identity: nq == d && configuration::is_identity(system, &origin, d),
            sizes: Arc::clone(&system.sizes),
            constant_mass: ConstantMass::of(system, d),
            applied: Vec::new(),
        }
    }

    /// The inverse of a mass matrix that is constant.
    pub(super) fn constant_inverse(&self) -> Option<&[f64]> {
        let kept = self.constant_mass.as_ref();
        kept.map(|kept| &kept.inverse[..])
    }

    /// True where some velocities are driven.
    pub(crate) fn has_driven(&self) -> bool {
        !self.sizes.driven.is_empty()
    }

    /// True where the mass matrix is constant, and has an inverse.
    pub(crate) fn has_constant_inverse(&self) -> bool {
        self.constant_mass.is_some()
    }

    /// The generalised effort beside that of the system; empty: none.
    pub(crate) fn applied(&self) -> &[f64] {
        &self.applied
    }

    /// Refuses an effort that is neither empty nor as long as the velocities.
    pub(crate) fn check_effort(&self, effort: &[f64]) -> Result<(), InputError> {
        if effort.is_empty() {
            return Ok(());
        }
        validate::length("effort", self.d, effort.len())
    }

    /// Takes none from now on.
    pub(crate) fn forget_effort(&mut self) {
        self.applied.clear();
    }

    /// Takes this one from now on.
    pub(crate) fn apply(&mut self, effort: &[f64]) -> Result<(), InputError> {
        self.check_effort(effort)?;
        self.applied.clear();
        self.applied.extend_from_slice(effort);
        Ok(())
    }

    /// The number of velocities as the system gives it, where it is that of the record: where the
    /// type of the system is concrete it is a constant of the compiler.
    #[inline(always)]
    pub(super) fn dof<S: MechanicalSystem + ?Sized>(&self, system: &S) -> Result<usize, Trouble> {
        same_size(self.d, system.dof())
    }

    /// The mass matrix at `q`, to be inverted; `space` has a square of the number of velocities.
    pub(super) fn mass<'a, S: MechanicalSystem + ?Sized>(
        &'a self,
        system: &S,
        d: usize,
        q: &[f64],
        space: &'a mut [f64],
    ) -> Result<Mass<'a>, Trouble> {
        if let Some(inverse) = self.constant_inverse() {
            return Ok(self.inverse(Inertia::Inverse(inverse)));
        }
        system.mass(q, space);
        factor(space, d).ok_or(Trouble::Mass)?;
        Ok(self.inverse(Inertia::Factor(space)))
    }

    /// The inverse of a mass matrix, with what is driven.
    #[inline]
    pub(super) fn inverse<'a>(&self, inertia: Inertia<'a>) -> Mass<'a> {
        let driven = self.sizes.driven.clone();
        Mass { inertia, driven }
    }

    /// Size of the space in which a mass matrix is factorised; none for one that is constant.
    pub(crate) fn mass_size(&self, d: usize) -> usize {
        if self.constant_mass.is_some() {
            0
        } else {
            d * d
        }
    }

    /// Size of the scratch space of a [`Frame`] of `m` contacts, with `d` velocities and `nq`
    /// coordinates. These are arguments although `self` holds them: where the type of the system is
    /// concrete they are constants of the compiler.
    pub(crate) fn frame_size(&self, d: usize, nq: usize, m: usize) -> usize {
        let coriolis = if self.constant_mass.is_some() {
            0
        } else {
            d * d + 2 * d
        };
        self.mass_size(d) + 2 * m * d + m * m + m + coriolis.max(d + 3 * nq)
    }
}
