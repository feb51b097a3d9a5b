//! Derivatives at corners: guards crossed at one instant (Burden et al., SIADS 15 (2016) 1227;
//! Council et al.).
//!
//! * `point`: where guards are crossed; `group`: which crossings are one corner; `common_point`:
//!   the state at which all of them are zero; `possible`: which may be one within the error of the
//!   run.
//! * `lone`: a single crossing, which takes no more than its saltation matrix.
//! * `graph`: the states that a perturbed run can reach at the instant of a corner, and the
//!   crossings between them; `members`: the guards still to be crossed from each; `remaining`: which
//!   are left behind a reset; `liveness`: which are crossed; `shift`: when displacements meet them;
//!   `twin`: nodes by their modes; `explorer`: what finds all that, with what resets have `moved`;
//!   `exit`: where the run itself went on.
//! * `follow`: the guards that one displacement meets; `branches`: all orders with their cones and
//!   maps; `piece`, `cone`: what they are to the user.
//! * `classify`: whether all orders have one map, up to `map_scale` and `rounding`; `bouligand`:
//!   the derivative of a corner.

pub(crate) mod bouligand;
pub(crate) mod branches;
pub(crate) mod classify;
pub(crate) mod common_point;
pub(crate) mod cone;
pub(crate) mod exit;
pub(crate) mod explorer;
pub(crate) mod follow;
pub(crate) mod graph;
pub(crate) mod group;
mod liveness;
pub(crate) mod lone;
pub(crate) mod map_scale;
mod members;
mod moved;
pub(crate) mod piece;
pub(crate) mod point;
pub(crate) mod possible;
mod remaining;
pub(crate) mod rounding;
mod shift;
mod twin;

pub use bouligand::{Compared, CornerDerivative, CornerKind};
pub use piece::{Cone, Piece};
