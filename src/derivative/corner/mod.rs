//! Derivatives at corners: guards crossed at one instant (Burden et al., SIADS 15 (2016) 1227;
//! Council et al.).
//!
//! * `group`: which crossings are one corner, and its common point; `possible`: which may be one
//!   within the error of the run.
//! * `graph`: the states that a perturbed run can reach at the instant of a corner, the guards of
//!   each, the crossings between them, and its exit; `liveness`: which guards are crossed, when,
//!   and which together; `moved_guards`: those that resets move; `explorer`: what finds all that.
//! * `follow`: the guards that one displacement meets; `branches`: all orders with their maps, as
//!   pieces, on their `cone`s.
//! * `classify`: whether all orders have one map, up to `map_scale` and `rounding`; `bouligand`:
//!   the derivative of a corner.

pub(crate) mod bouligand;
pub(crate) mod branches;
pub(crate) mod classify;
pub(crate) mod cone;
pub(crate) mod explorer;
pub(crate) mod follow;
pub(crate) mod graph;
pub(crate) mod group;
mod liveness;
pub(crate) mod map_scale;
mod moved_guards;
pub(crate) mod possible;
pub(crate) mod rounding;

pub use bouligand::{Compared, CornerDerivative, CornerKind};
pub use branches::{Cone, Piece};
