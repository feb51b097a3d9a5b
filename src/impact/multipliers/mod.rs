//! The multipliers that hold contacts in a mode: impulses of an impact, forces of a motion (Pfeiffer &
//! Glocker, "Multibody Dynamics with Unilateral Contacts", 1996).
//!
//! With `ẏ = b + G λ`, speeds after an impact or accelerations of a motion, along normals and
//! tangents:
//!
//! ```text
//!     open   λ = 0
//!     stick  ẏ_n = 0, ẏ_t = 0
//!     slip   ẏ_n = 0, λ_t = −μ λ_n d
//! ```
//!
//! A slip that begins has the direction in which it begins, `ẏ_t = k d`: an equation for `d`, which
//! Newton's method solves. Where contacts depend on each other multipliers are not unique: those of
//! least norm are taken, and `cones` says whether some in the cones of friction balance the loads.
//!
//! * `contact_rates`: contacts, and how each is held; `scaled`: in units for all this.
//! * `system`: the linear system of a mode, and whether rates depend on how contacts share their load;
//!   `directions`: those of slips that begin; `forced`: where each may go only one way.
//! * `cones`, `margin`: multipliers in the cones, and how far inside they can be; `inside`: some of these;
//!   `loads`: those that hold the loads.

mod cones;
mod contact_rates;
mod directions;
mod forced;
mod inside;
mod loads;
mod margin;
mod scaled;
mod system;

pub(super) use contact_rates::Parts;
pub(crate) use contact_rates::{ContactRates, Hold, unit};
pub(crate) use directions::{Halt, MANY_STARTS, own_turn};
pub(crate) use scaled::ScaledRates;
pub(crate) use system::MOVED;
