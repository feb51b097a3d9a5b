//! Joints between free bodies as convex terms of a step
//! ([`StepTerm`](crate::compliant::StepTerm)): each holds points of two bodies, or of one and the
//! world, by rows of the compliant driver.
//!
//! * `anchor`: [`Anchor`], a point of a [`FreeBody`] or of the world; rows between two of them.
//! * `ball_joint`: [`BallJoint`]; `weld`: [`Weld`]; `distance_joint`: [`DistanceJoint`], rods and
//!   ropes.
//!
//! [`Compliance`](crate::compliant::Compliance) says how hard they hold.

mod anchor;
mod ball_joint;
mod distance_joint;
mod weld;

pub use anchor::{Anchor, FreeBody};
pub use ball_joint::BallJoint;
pub use distance_joint::DistanceJoint;
pub use weld::Weld;
