//! Joints between free bodies, or between a body and the world, as convex terms of a step
//! ([`StepTerm`](crate::compliant::StepTerm)): rows of the compliant driver.
//!
//! * `anchor`: [`Anchor`], a point of a body with axes, and rows between two of them.
//! * `joint`: [`Joint`], which holds some of six axes ([`JointAxis`]) and leaves the others free; `turn`: how
//!   far one body is turned in the other.
//! * `distance`: [`DistanceJoint`], rods and ropes; `frozen`: [`Frozen`], axes of the world that a body
//!   does not move along or turn about; `kinematic`: [`Kinematic`], bodies that follow a path in time.
//!
//! [`Compliance`](crate::compliant::Compliance) says how hard they hold.

mod anchor;
mod distance;
mod frozen;
mod joint;
mod kinematic;
mod turn;

pub use anchor::{Anchor, FreeBody};
pub use distance::DistanceJoint;
pub use frozen::Frozen;
pub use joint::{Joint, JointAxis};
pub use kinematic::Kinematic;
