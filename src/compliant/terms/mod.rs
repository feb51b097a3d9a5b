//! Joints, limits and drives as convex terms of a step, each by rows of
//! [`RowLaw`](crate::compliant::RowLaw) (after the constraints of the released
//! solver of Castro et al.).
//!
//! * `axis`: [`Axis`], a coordinate with its velocity or an axis of a joint, and rows of a few velocities;
//!   `compliance`: [`Compliance`], how hard a constraint is held.
//! * On axes: `limit`: [`JointLimit`]; `motor`: [`Motor`]; `joint_friction`: [`JointFriction`];
//!   `coupling`: [`JointCoupling`], gears and held axes.

mod axis;
mod compliance;
mod coupling;
mod joint_friction;
mod limit;
mod motor;

pub use axis::{Axis, AxisState};
pub(crate) use axis::{BodyAxis, BodyRows};
pub(crate) use compliance::Bounds;
pub use compliance::Compliance;
pub use coupling::JointCoupling;
pub use joint_friction::JointFriction;
pub use limit::JointLimit;
pub use motor::{Motor, MotorGoal};
