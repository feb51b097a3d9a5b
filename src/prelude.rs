//! The names that almost every program needs: `use saltation::prelude::*;`.
//!
//! ```
//! use saltation::prelude::*;
//!
//! let decay = flow_fn(1, |_t, x, _mode, dx| dx[0] = -x[0]);
//! let run = Integrator::new(decay)?.integrate(&Start::at(0.0).x(&[1.0]), 1.0)?;
//! assert!((run.state()[0] - (-1.0f64).exp()).abs() < 1e-6);
//! # Ok::<(), saltation::Error>(())
//! ```

#[cfg(feature = "compliant")]
pub use crate::Compliant;
#[cfg(feature = "compliant")]
pub use crate::bodies::{Body, Scene, Shape};
#[cfg(feature = "mechanics")]
pub use crate::event_driven::Zeno;
#[cfg(feature = "mechanics")]
pub use crate::impact::{ImpactLaw, Selection};
#[cfg(feature = "mechanics")]
pub use crate::mechanics::{Friction, MechanicalSystem, UnilateralConstraints};
pub use crate::{
    ContactEvent, Crossed, Crossing, Doubt, Error, EventFunction, Flow, Guard, InputError,
    Integrator, Interrupt, Live, Mode, Observer, Projection, Rearm, RearmMatrix, Run, Segment,
    Snapshot, Start, Status, Stop, Transition, Watch, flow_fn,
};
#[cfg(feature = "mechanics")]
pub use crate::{ContactModel, EventDriven, Variational};
#[cfg(feature = "derivative")]
pub use crate::{Driver, Verdict};
