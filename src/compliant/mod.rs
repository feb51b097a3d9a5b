//! The compliant driver: implicit time steps with a convex contact problem in each.
//!
//! Serves Castro, Permenter & Han, "An unconstrained convex formulation of compliant contact"
//! (IEEE T-RO 2022), with its errors mended.
//!
//! * `law`: impulses as functions of velocities; `regularisation`: how soft a contact is in a step.
//! * `problem`: [`Problem`], trees, contacts and further terms; `solver`: [`Solver`]; `newton`: one
//!   island.
//! * `solution`: what was found; `metrics`: what the contact model gets wrong in it; `settings`;
//!   `failure`: why there is no solution.
//! * `implicit`: the derivative of the solution and its transpose; `gradient`: for one island;
//!   `variation`: what they act on.
//! * `stepping`: [`Compliant`], the driver; `terms`: limits, motors, friction and gears of
//!   coordinates.
//!
//! The page below is `guide.md`.
#![doc = ""]
#![doc = include_str!("guide.md")]

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

pub use failure::CompliantFailure;
pub use law::{ContactLaw, ContactPoint, Region, RowLaw};
pub use metrics::Gliding;
pub use problem::Problem;
pub use regularisation::Softness;
pub use settings::{Guess, LineSearch};
pub use solution::{Convergence, IslandReport, StepSolution};
pub use solver::Solver;
pub use stepping::{Compliant, Scheme, StepState, StepStatistics, StepTerm, StepTimes};
pub(crate) use terms::Bounds;
pub use terms::{Axis, Compliance, JointCoupling, JointFriction, JointLimit, Motor, MotorGoal};
pub use variation::{ContactVariation, RowVariation, SolutionVariation, Variation};
