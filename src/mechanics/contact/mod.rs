//! Contacts of one configuration.
//!
//! * `contacts`: [`Contacts`], as values, with the numbers of each (`parameters`); `source`:
//!   [`ContactSource`], which fills them.
//! * `frames`: their normals and tangents, held against the plane or the space of their bodies.
//! * `gaps`: rows and curvatures, written or by differences.
//! * `delassus`: from rows to contact space, `G = J M⁻¹ Jᵀ`, and the impact problem.

pub(crate) mod contacts;
pub(crate) mod delassus;
pub(crate) mod frames;
pub(crate) mod gaps;
mod parameters;
pub(crate) mod source;

pub use contacts::{Contacts, RowBlock};
pub use parameters::ContactParameters;
pub use source::{ContactSet, ContactSource, Passage, Reach, TreeBody, Wanted};
