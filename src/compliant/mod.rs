#![doc = include_str!("guide.md")]

// Inside: `law` (impulses as functions of velocities), `regularisation` (softness of a contact in a
// step), `problem` (trees, contacts and further terms), `solver`, `newton` (one island), `solution`,
// `blow` (restitution), `checkpoint` (the state of a run as plain data),
// `metrics` (errors of the contact model), `settings`, `failure`; `implicit`, `gradient`, `variation`
// (the derivative of the solution and its transpose); `stepping` (the driver), `terms` (limits,
// motors, friction and gears of axes), `welds` (loops of them).

mod blow;
#[cfg(feature = "serde")]
mod checkpoint;
mod failure;
mod gradient;
mod implicit;
mod law;
mod metrics;
mod newton;
mod problem;
mod regularisation;
mod settings;
mod solution;
mod solver;
mod stepping;
mod terms;
mod variation;
mod welds;

#[cfg(feature = "serde")]
pub use checkpoint::Checkpoint;
pub use failure::CompliantFailure;
pub use law::{ContactLaw, ContactPoint, Region, RowLaw};
pub use metrics::Gliding;
pub use problem::Problem;
pub(crate) use problem::{Deviation, of_heavier};
pub use regularisation::Softness;
pub use settings::{Guess, LineSearch, Sleep, StepFriction};
pub use solution::{Convergence, IslandReport, StepSolution};
pub use solver::Solver;
pub use stepping::{Compliant, Scheme, StepState, StepStatistics, StepTerm, StepTimes};
pub use terms::{
    Axis, AxisState, Compliance, JointCoupling, JointFriction, JointLimit, Motor, MotorGoal,
};
pub(crate) use terms::{BodyAxis, BodyRows, Bounds};
pub use variation::{ContactVariation, RowVariation, SolutionVariation, Variation};
pub use welds::RigidPair;
