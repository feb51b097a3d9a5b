//! A mechanical system with contacts, as drivers see it.

use super::{MechanicalSystem, UnilateralConstraints};

/// A mechanical system with contacts. Drivers take it as `dyn Mechanism`, so that they are compiled
/// once for all systems.
pub(crate) trait Mechanism: MechanicalSystem + UnilateralConstraints {}

impl<S: MechanicalSystem + UnilateralConstraints> Mechanism for S {}
