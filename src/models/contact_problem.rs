//! The impact of a model at a configuration.

use crate::impact::{ImpactFailure, ImpactProblem};
use crate::mechanics::{ContactSet, MechanicalSystem, UnilateralConstraints};

/// The impact of all contacts of a system at `(q, v)`, with friction and restitution.
pub(super) fn impact_at<S>(system: &S, q: &[f64], v: &[f64]) -> Result<ImpactProblem, ImpactFailure>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let all: Vec<usize> = (0..system.contacts()).collect();
    ImpactProblem::of_system(system, q, v, ContactSet::Listed(&all))
}
