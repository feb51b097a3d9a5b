//! Trees: blocks of velocities that no entry of the mass matrix couples
//! ([`MechanicalSystem::trees`]).

use super::MechanicalSystem;
use crate::{InputError, validate};

/// Refuses trees that do not follow each other from 0 to the number of velocities, or are empty.
pub(crate) fn check_trees<S>(system: &S, dof: usize) -> Result<(), InputError>
where
    S: MechanicalSystem + ?Sized,
{
    let mut end = 0;
    for i in 0..system.trees() {
        let tree = system.tree(i);
        validate::length("start of a tree", end, tree.start)?;
        if tree.is_empty() {
            return validate::length("velocities of a tree", 1, 0);
        }
        let nearest = tree.end.min(dof);
        validate::length("end of a tree", nearest, tree.end)?;
        end = tree.end;
    }
    validate::length("velocities of all trees", dof, end)
}
