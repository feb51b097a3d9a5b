//! The impact of a model at a configuration.

use nalgebra::{DMatrix, DVector};

use crate::impact::{Failure, ImpactProblem};
use crate::mechanics::{
    ContactSet, ContactSource, Contacts, MechanicalSystem, UnilateralConstraints, Wanted,
};

/// The impact of all contacts of a system at `(q, v)`, with friction and restitution.
pub(super) fn impact_at<S>(system: &S, q: &[f64], v: &[f64]) -> Result<ImpactProblem, Failure>
where
    S: MechanicalSystem + UnilateralConstraints,
{
    let (dof, mut contacts) = (system.dof(), Contacts::new());
    let all: Vec<usize> = (0..system.contacts()).collect();
    let wanted = Wanted {
        friction: true,
        restitution_at: Some(v),
        ..Wanted::default()
    };
    system.fill(q, ContactSet::Listed(&all), wanted, &mut contacts)?;
    let mut mass = DMatrix::zeros(dof, dof);
    system.mass(q, mass.as_mut_slice());
    ImpactProblem::from_contacts(&contacts, &mass, &DVector::from_column_slice(v))
}
