//! Policies of a model where closed contacts have no unique forces, or none at all.

/// The policy where a sliding contact presses itself down, so that no force holds it (Painlevé): it
/// turns the body about itself faster than its normal force lifts it, `G_nn − μ σ G_nt ≤ 0`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Painleve {
    /// End with [`Breakdown::Painleve`](crate::event_driven::Breakdown::Painleve).
    #[default]
    Error,
    /// Go on by an impact without collision: the contact pushes at once, until the slip has stopped
    /// and the contact has parted or holds
    /// ([`Routh::without_collision`](crate::impact::Routh::without_collision)).
    Impact,
}

/// The policy where the contacts that stay closed depend on each other, as those of a table on four
/// legs: multipliers are not unique. Accelerations are, where no two of them slip in different directions: friction
/// `μ N` along different slips depends on how the load is shared, and so does the motion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Redundant {
    /// Take the multipliers of least norm, in the units of the gaps. Accelerations do not depend on
    /// this choice unless contacts slip in different directions: a table on four legs that turns while it slides has
    /// a motion for each way to share its weight, and this is one of them
    /// ([`Doubt::SharedLoads`](crate::Doubt::SharedLoads)). How the contacts share the load is not
    /// determined, and
    /// [`Multipliers::are_unique`](crate::event_driven::Multipliers::are_unique) is false.
    ///
    /// The set of touching contacts that count as closed is not determined either. One whose force
    /// of least norm falls to zero is released and stays on its surface, since the others hold the
    /// bodies as it did; it closes again where it is needed. The motion is the same. Where no
    /// contact depends on others, bits are those of [`Refuse`](Self::Refuse).
    #[default]
    LeastSquares,
    /// End with
    /// [`Breakdown::DependentContacts`](crate::event_driven::Breakdown::DependentContacts), of models without friction;
    /// with friction this is [`LeastSquares`](Self::LeastSquares).
    Refuse,
}
