//! Redundant contacts: rows that depend on each other, as those of a table on four legs.
//! Accelerations are still unique, multipliers are not.

/// What to do when the contacts that stay closed depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Redundant {
    /// End with
    /// [`Breakdown::DependentContacts`](crate::event_driven::Breakdown::DependentContacts).
    #[default]
    Refuse,
    /// Take the multipliers of least norm, in the units of the gaps. Accelerations do not depend on
    /// this choice. How the contacts share the load is not determined, and
    /// [`Multipliers::are_unique`](crate::event_driven::Multipliers::are_unique) is false.
    LeastSquares,
}
