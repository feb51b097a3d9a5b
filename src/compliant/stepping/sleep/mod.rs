//! Islands of trees that are at rest and are not solved again until something wakes them.
//!
//! * `sleepers`: who sleeps, and what is known of them. By which rules is in
//!   [`Sleep`](crate::compliant::Sleep).
//! * `at_rest`: what acts on trees that do not move: their velocities without contacts, and the laws of
//!   the rows that hold them.
//! * `falling`: the islands that fall asleep at the end of a step; `waking`: those that wake in one.
//! * `support`: what holds those that sleep, by which a saved run that goes on in a changed model wakes them.
//! * `document`: the sleepers as plain data, for a checkpoint.

mod at_rest;
#[cfg(feature = "serde")]
mod document;
mod falling;
mod sleepers;
mod support;
mod waking;

#[cfg(feature = "serde")]
pub(in crate::compliant) use document::Sleeping;
pub(super) use sleepers::Sleepers;
