//! The user functions that values come from, for errors about numbers.

/// The user function that a value came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Quantity {
    /// The right-hand side; the first offending component.
    #[error("component {component} of the flow")]
    Flow {
        /// Component of `dx`.
        component: usize,
    },
    /// The derivative of the right-hand side along a direction; the first offending component.
    #[error("component {component} of the derivative of the flow")]
    Jacobian {
        /// Component of `D_x f · v`.
        component: usize,
    },
    /// An event function.
    #[error("event function {event}")]
    Event {
        /// Its index.
        event: usize,
    },
    /// The gradient row or the rate of an event function.
    #[error("the gradient of event function {event}")]
    Gradient {
        /// Its index.
        event: usize,
    },
    /// The derivative of a reset along a direction; the first offending component.
    #[error("component {component} of the derivative of a reset")]
    ResetDerivative {
        /// Component of `D_x R · v`.
        component: usize,
    },
    /// A derivative of a run or of a crossing, which overflows; the first offending component.
    #[error("component {component} of a derivative")]
    Derivative {
        /// Component of the state that is derived, or of the displacement.
        component: usize,
    },
    /// The state after [`correct`](crate::Flow::correct); the first offending component.
    #[error("component {component} of the corrected state")]
    Correction {
        /// Component of `x`.
        component: usize,
    },
    /// The state after a reset; the first offending component.
    #[error("component {component} of the state after a reset")]
    Reset {
        /// Component of `x`.
        component: usize,
    },
    /// The effort of a mechanical system; the first offending component.
    #[error("component {component} of the effort")]
    Effort {
        /// Coordinate on which it acts.
        component: usize,
    },
    /// A gap, or a difference of it.
    #[error("gap {contact}")]
    Gap {
        /// Its index.
        contact: usize,
    },
}
