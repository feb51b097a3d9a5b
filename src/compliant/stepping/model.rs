//! What a step asks of a system.

use crate::mechanics::{ContactSource, MechanicalSystem};

/// A mechanical system with a source of contacts. The driver takes it as `dyn`, so that it is
/// compiled once for all systems.
pub(crate) trait SteppedSystem: MechanicalSystem + ContactSource {}

impl<S: MechanicalSystem + ContactSource + ?Sized> SteppedSystem for S {}
