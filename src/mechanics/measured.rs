//! A mechanical system with its sizes read once. Drivers index by these numbers and no others: a
//! system that answers otherwise later is handed slices of the lengths it gave first.

use std::ops::Range;
use std::sync::Arc;

use super::forward::{constraint_methods, mechanical_methods};
use super::{MechanicalSystem, UnilateralConstraints};
use crate::{InputError, validate};

/// Name of the numbers that are refused where there are too many of them.
const MASS: &str = "entries of the mass matrix";

/// The sizes of a mechanical system; all are 0 where they make no sense.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sizes {
    dof: usize,
    coordinates: usize,
    trees: Vec<Range<usize>>,
    /// See [`MechanicalSystem::driven`].
    pub(crate) driven: Range<usize>,
    /// The number of tangents of each contact.
    pub(crate) tangents: Vec<usize>,
    /// The reason for which they are refused.
    fault: Option<InputError>,
}

impl Sizes {
    /// Of a system with contacts, for a driver that holds the whole mass matrix.
    fn whole<S>(system: &S) -> Result<Self, InputError>
    where
        S: MechanicalSystem + UnilateralConstraints + ?Sized,
    {
        let mut sizes = Self::dense(system)?;
        let contacts = system.contacts();
        // all may touch at once
        validate::entries("entries of the Delassus matrix", contacts, contacts)?;
        sizes.tangents = (0..contacts).map(|j| system.tangents(j)).collect();
        Ok(sizes)
    }

    /// The sizes of a system without its contacts, for a driver that holds the whole mass matrix.
    fn dense<S: MechanicalSystem + ?Sized>(system: &S) -> Result<Self, InputError> {
        let sizes = Self::by_trees(system)?;
        validate::entries(MASS, sizes.dof, sizes.dof)?;
        Ok(sizes)
    }

    /// Of a system without its contacts, for a driver that holds the mass matrix tree by tree.
    pub(crate) fn by_trees<S: MechanicalSystem + ?Sized>(system: &S) -> Result<Self, InputError> {
        let (dof, coordinates, trees) = (system.dof(), system.coordinates(), system.trees());
        validate::at_most("dof", dof)?;
        validate::at_most("coordinates", coordinates)?;
        let rule = "must not exceed the number of velocities: none is empty";
        validate::unless(trees <= dof.max(1), "trees", trees as f64, rule)?;
        let trees: Vec<_> = (0..trees).map(|i| system.tree(i)).collect();
        let squares = trees
            .iter()
            .map(|tree| tree.len().saturating_mul(tree.len()));
        validate::entries(MASS, 1, squares.fold(0, usize::saturating_add))?;
        let driven = system.driven();
        check_driven(&driven, dof)?;
        Ok(Self {
            dof,
            coordinates,
            trees,
            driven,
            ..Self::default()
        })
    }

    /// Refuses a system that has other sizes than these.
    pub(crate) fn check_same<S: MechanicalSystem + ?Sized>(
        &self,
        system: &S,
    ) -> Result<(), InputError> {
        validate::length("q", system.coordinates(), self.coordinates)?;
        validate::length("v", system.dof(), self.dof)?;
        validate::length("trees since start", system.trees(), self.trees.len())?;
        for (i, tree) in self.trees.iter().enumerate() {
            let name = "velocities of a tree since start";
            validate::length(name, system.tree(i).len(), tree.len())?;
        }
        Ok(())
    }

    /// Refuses a system some of whose velocities are driven, for a driver that has all moved by forces.
    pub(crate) fn check_free(&self, driver: &'static str) -> Result<(), InputError> {
        let first = self.driven.start;
        if self.driven.is_empty() {
            return Ok(());
        }
        Err(InputError::DrivenVelocities { driver, first })
    }

    /// Refuses a system whose sizes make no sense.
    pub(crate) fn check(&self) -> Result<(), InputError> {
        self.fault.clone().map_or(Ok(()), Err)
    }
}

/// Refuses driven velocities that are no part of all.
pub(super) fn check_driven(driven: &Range<usize>, dof: usize) -> Result<(), InputError> {
    let is_within = driven.start <= driven.end && driven.end <= dof;
    let rule = "driven velocities are a part of all, in rising order";
    validate::unless(is_within, "driven", driven.end as f64, rule)
}

/// A mechanical system, with its sizes read once.
#[derive(Clone, Debug)]
pub(crate) struct Measured<S: ?Sized> {
    pub(crate) sizes: Arc<Sizes>,
    /// A generalised effort beside that of the system; empty: none.
    pub(crate) applied: Vec<f64>,
    /// Last, because `S` may be unsized.
    pub(crate) system: S,
}

impl<S> Measured<S> {
    /// With sizes that were read before.
    pub(crate) fn with(system: S, sizes: &Arc<Sizes>) -> Self {
        Self {
            sizes: Arc::clone(sizes),
            applied: Vec::new(),
            system,
        }
    }
}

impl<S> Measured<S> {
    /// Takes this generalised effort beside that of the system from now on; empty: none.
    pub(crate) fn apply(&mut self, effort: &[f64]) -> Result<(), InputError> {
        if !effort.is_empty() {
            validate::length("effort", self.sizes.dof, effort.len())?;
        }
        self.applied.clear();
        self.applied.extend_from_slice(effort);
        Ok(())
    }
}

impl<S: MechanicalSystem> Measured<S> {
    /// A system whose contacts are not asked for; refuses sizes that make no sense.
    pub(crate) fn free(system: S) -> Result<Self, InputError> {
        let sizes = Arc::new(Sizes::dense(&system)?);
        Ok(Self::with(system, &sizes))
    }
}

impl<S: MechanicalSystem + UnilateralConstraints> Measured<S> {
    /// For a driver that holds the whole mass matrix.
    pub(crate) fn new(system: S) -> Self {
        let sizes = Sizes::whole(&system).unwrap_or_else(|fault| Sizes {
            fault: Some(fault),
            ..Sizes::default()
        });
        Self::with(system, &Arc::new(sizes))
    }

    /// Reads the sizes as [`new`](Self::new); refuses sizes that make no sense.
    pub(crate) fn checked(system: S) -> Result<Self, InputError> {
        let measured = Self::new(system);
        measured.sizes.check().map(|()| measured)
    }
}

impl<S: MechanicalSystem + ?Sized> MechanicalSystem for Measured<S> {
    mechanical_methods! { self => self.system, motion derived }

    fn dof(&self) -> usize {
        self.sizes.dof
    }

    fn coordinates(&self) -> usize {
        self.sizes.coordinates
    }

    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.system.effort(t, q, v, effort);
        for (effort, applied) in effort.iter_mut().zip(&self.applied) {
            *effort += applied;
        }
    }

    fn trees(&self) -> usize {
        self.sizes.trees.len()
    }

    fn tree(&self, i: usize) -> Range<usize> {
        self.sizes.trees.get(i).cloned().unwrap_or(0..0)
    }

    fn driven(&self) -> Range<usize> {
        self.sizes.driven.clone()
    }
}

impl<S: UnilateralConstraints + ?Sized> UnilateralConstraints for Measured<S> {
    constraint_methods! { self => self.system, contacts friction derived }

    fn contacts(&self) -> usize {
        self.sizes.tangents.len()
    }

    fn tangents(&self, j: usize) -> usize {
        self.sizes.tangents.get(j).copied().unwrap_or(0)
    }
}
