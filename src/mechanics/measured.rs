//! A mechanical system with its sizes read once. Drivers index by these numbers and no others: a
//! system that answers otherwise later is handed slices of the lengths it gave first.

use std::ops::Range;
use std::sync::Arc;

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
    /// The number of tangents of each contact.
    tangents: Vec<usize>,
    /// Why they make no sense.
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
        Ok(Self {
            dof,
            coordinates,
            trees,
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

    /// Refuses a system whose sizes make no sense.
    pub(crate) fn check(&self) -> Result<(), InputError> {
        self.fault.clone().map_or(Ok(()), Err)
    }
}

/// A mechanical system, with its sizes read once.
#[derive(Clone, Debug)]
pub(crate) struct Measured<S: ?Sized> {
    pub(crate) sizes: Arc<Sizes>,
    /// Last, because `S` may be unsized.
    pub(crate) system: S,
}

impl<S> Measured<S> {
    /// With sizes that were read before.
    pub(crate) fn with(system: S, sizes: &Arc<Sizes>) -> Self {
        let sizes = Arc::clone(sizes);
        Self { sizes, system }
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
    fn dof(&self) -> usize {
        self.sizes.dof
    }

    fn coordinates(&self) -> usize {
        self.sizes.coordinates
    }

    fn configuration_rate(&self, q: &[f64], v: &[f64], rate: &mut [f64]) -> bool {
        self.system.configuration_rate(q, v, rate)
    }

    fn project_configuration(&self, q: &mut [f64]) -> bool {
        self.system.project_configuration(q)
    }

    fn mass(&self, q: &[f64], mass: &mut [f64]) {
        self.system.mass(q, mass);
    }

    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.system.effort(t, q, v, effort);
    }

    fn effort_along(&self, at: (f64, &[f64], &[f64]), directions: &[f64], out: &mut [f64]) -> bool {
        self.system.effort_along(at, directions, out)
    }

    fn springs_and_dampers(
        &self,
        at: (f64, &[f64], &[f64]),
        stiffness: &mut [f64],
        damping: &mut [f64],
    ) -> bool {
        self.system.springs_and_dampers(at, stiffness, damping)
    }

    fn trees(&self) -> usize {
        self.sizes.trees.len()
    }

    fn tree(&self, i: usize) -> Range<usize> {
        self.sizes.trees.get(i).cloned().unwrap_or(0..0)
    }

    fn tree_mass(&self, i: usize, q: &[f64], mass: &mut [f64]) {
        self.system.tree_mass(i, q, mass);
    }

    fn contact_effort(
        &self,
        at: (f64, &[f64], &[f64]),
        closed: &[usize],
        effort: &mut [f64],
    ) -> bool {
        self.system.contact_effort(at, closed, effort)
    }

    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        self.system.coriolis(q, v, force)
    }

    fn kinetic_gradient(&self, q: &[f64], v: &[f64], gradient: &mut [f64]) -> bool {
        self.system.kinetic_gradient(q, v, gradient)
    }

    fn constant_mass(&self) -> bool {
        self.system.constant_mass()
    }

    fn time_scale(&self) -> Option<f64> {
        self.system.time_scale()
    }

    fn potential(&self, q: &[f64]) -> Option<f64> {
        self.system.potential(q)
    }
}

impl<S: UnilateralConstraints + ?Sized> UnilateralConstraints for Measured<S> {
    fn contacts(&self) -> usize {
        self.sizes.tangents.len()
    }

    fn gap(&self, j: usize, q: &[f64]) -> f64 {
        self.system.gap(j, q)
    }

    fn gap_row(&self, j: usize, q: &[f64], row: &mut [f64]) -> bool {
        self.system.gap_row(j, q, row)
    }

    fn constant_row(&self, j: usize) -> bool {
        self.system.constant_row(j)
    }

    fn curvature(&self, j: usize, q: &[f64], v: &[f64]) -> Option<f64> {
        self.system.curvature(j, q, v)
    }

    fn restitution(&self, j: usize, q: &[f64], v: &[f64]) -> f64 {
        self.system.restitution(j, q, v)
    }

    fn stiffness(&self, j: usize) -> f64 {
        self.system.stiffness(j)
    }

    fn dissipation_time(&self, j: usize) -> f64 {
        self.system.dissipation_time(j)
    }

    fn friction(&self, j: usize) -> f64 {
        self.system.friction(j)
    }

    fn tangents(&self, j: usize) -> usize {
        self.sizes.tangents.get(j).copied().unwrap_or(0)
    }

    fn tangent_rows(&self, j: usize, q: &[f64], rows: &mut [f64]) {
        self.system.tangent_rows(j, q, rows);
    }
}
