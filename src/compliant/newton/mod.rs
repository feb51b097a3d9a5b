//! One island by Newton's method on the velocities (Castro et al., section IV).
//!
//! * `graph`: islands, found by union and find; `island`: one of them as a problem of its own.
//! * `memory`: [`IslandSolver`], an island with its solution; `iteration`: Newton's method; `iterate`: a
//!   point and a direction; `line_search`: the length of a step.
//! * `hessian`: `A + Jᵀ G J` by blocks; `block_cholesky`, `ordering`: its factor.
//! * `loads`: Coulomb's law, by `sweeps` from afar and by the `coupling` of loads and velocities.
//! * `parallel`: islands on several threads.

mod block_cholesky;
pub(super) mod coupling;
pub(super) mod graph;
mod hessian;
pub(super) mod island;
pub(super) mod iterate;
mod iteration;
mod line_search;
mod loads;
mod memory;
mod ordering;
#[cfg(feature = "parallel")]
pub(super) mod parallel;
mod sweeps;

pub(super) use memory::IslandSolver;
