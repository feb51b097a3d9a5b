//! Inelastic impacts with friction at several contacts: every outcome, not one.
//!
//! Serves Halm & Posa, "Set-valued rigid-body dynamics for simultaneous, inelastic, frictional
//! impacts" (IJRR 2024). Everything runs in contact space; impulses add up, and the velocity is
//! formed once at the end.
//!
//! * `one_contact`: Routh's impact in the plane; `keller`: the same in space.

pub(crate) mod keller;
pub(crate) mod one_contact;
