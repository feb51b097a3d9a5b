//! Redundant contacts: rows that depend on each other, as those of a table on four legs.
//! Accelerations are unique still, multipliers are not.

/// What to do when the contacts that stay closed depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Redundant {
    /// End with
    /// [`Breakdown::DependentContacts`](crate::event_driven::Breakdown::DependentContacts).
    #[default]
    Refuse,
    /// Take the multipliers of least norm, in the units of the gaps. Accelerations are those of any
    /// other choice; how the load is shared among the contacts is not known, and
    /// [`Multipliers::are_unique`](crate::event_driven::Multipliers::are_unique) says so.
    LeastSquares,
}
