//! Scenes of rigid bodies: motion, contacts, materials, fixed lists of contacts.
#![allow(missing_docs, reason = "tests")]

mod changes;
mod contacts;
#[cfg(feature = "serde")]
mod documents;
mod event_driven;
mod fixtures;
mod free_contacts;
mod groups;
mod motion;
#[cfg(feature = "parry")]
mod parry;
mod piles;
mod queries;
#[path = "../common/random.rs"]
mod random;
mod resting;
mod round;
