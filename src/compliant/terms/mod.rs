//! Joints, limits and drives as convex terms of a step, each by rows of
//! [`RowLaw`](crate::compliant::RowLaw) (after the constraints of the released
//! solver of Castro et al.).
//!
//! * `axis`: [`Axis`], a coordinate with its velocity, and rows of a few velocities; `compliance`:
//!   [`Compliance`], how hard a constraint is held.
//! * On axes: `limit`: [`JointLimit`]; `motor`: [`Motor`]; `joint_friction`: [`JointFriction`];
//!   `coupling`: [`JointCoupling`], gears and held coordinates.
//! * Between free bodies: `anchor`: [`Anchor`], a point of a body or of the world; `ball_joint`:
//!   [`BallJoint`]; `weld`: [`Weld`]; `distance_joint`: [`DistanceJoint`].

mod anchor;
mod axis;
mod ball_joint;
mod compliance;
mod coupling;
mod distance_joint;
mod joint_friction;
mod limit;
mod motor;
mod weld;

pub use anchor::{Anchor, FreeBody};
pub use axis::Axis;
pub use ball_joint::BallJoint;
pub use compliance::Compliance;
pub use coupling::JointCoupling;
pub use distance_joint::DistanceJoint;
pub use joint_friction::JointFriction;
pub use limit::JointLimit;
pub use motor::{Motor, MotorGoal};
pub use weld::Weld;
