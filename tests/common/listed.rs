//! A mechanical system whose contacts come from a closure.
#![allow(dead_code, reason = "each test binary uses a part")]

use std::ops::Range;

use saltation::InputError;
use saltation::mechanics::{ContactSet, ContactSource, Contacts, MechanicalSystem, Wanted};

type Fill<S> =
    dyn Fn(&S, &[f64], ContactSet<'_>, Wanted<'_>, &mut Contacts) -> Result<(), InputError>;

/// The motion of a system, with contacts that `fill` lists in place of its own; how many there are
/// is not said.
pub(crate) struct Listed<S> {
    system: S,
    fill: Box<Fill<S>>,
}

impl<S> Listed<S> {
    pub(crate) fn new(
        system: S,
        fill: impl Fn(&S, &[f64], ContactSet<'_>, Wanted<'_>, &mut Contacts) -> Result<(), InputError>
        + 'static,
    ) -> Self {
        let fill = Box::new(fill);
        Self { system, fill }
    }
}

impl<S: MechanicalSystem> MechanicalSystem for Listed<S> {
    fn dof(&self) -> usize {
        self.system.dof()
    }

    fn coordinates(&self) -> usize {
        self.system.coordinates()
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

    fn constant_mass(&self) -> bool {
        self.system.constant_mass()
    }

    fn effort(&self, t: f64, q: &[f64], v: &[f64], effort: &mut [f64]) {
        self.system.effort(t, q, v, effort);
    }

    fn coriolis(&self, q: &[f64], v: &[f64], force: &mut [f64]) -> bool {
        self.system.coriolis(q, v, force)
    }

    fn trees(&self) -> usize {
        self.system.trees()
    }

    fn tree(&self, i: usize) -> Range<usize> {
        self.system.tree(i)
    }

    fn tree_mass(&self, i: usize, q: &[f64], mass: &mut [f64]) {
        self.system.tree_mass(i, q, mass);
    }
}

impl<S: MechanicalSystem> ContactSource for Listed<S> {
    fn fill(
        &self,
        q: &[f64],
        set: ContactSet<'_>,
        wanted: Wanted<'_>,
        contacts: &mut Contacts,
    ) -> Result<(), InputError> {
        (self.fill)(&self.system, q, set, wanted, contacts)
    }
}
