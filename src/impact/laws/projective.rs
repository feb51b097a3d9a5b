//! Projective impact: all contacts act both ways; none may separate on its own.

use super::plastic::bilateral;
use crate::impact::ImpactFailure;
use crate::impact::{ImpactLaw, ImpactProblem, Order, Outcomes};
use crate::linalg::scratch::resize_vector;

/// Every contact reverses its own speed, `u_i⁺ = −e_i u_i`, whatever the sign of its impulse:
/// `p = −G⁻¹ diag(1 + e) u` (Pace & Burden, arXiv 1609.04056, eq. (3), with its missing parenthesis
/// and a coefficient for each contact).
///
/// It can pull (the outcome is then marked [`Remark::Adhesive`](crate::impact::Remark::Adhesive),
/// or refused after [`refuse_adhesion`](Self::refuse_adhesion)), can leave contacts approaching
/// that separated before ([`Remark::Approaching`](crate::impact::Remark::Approaching)), and with
/// different coefficients can raise the energy. Right for constraints that act both ways. Errors:
/// [`ImpactFailure::DependentContacts`], [`ImpactFailure::Adhesion`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Projective {
    refuses_adhesion: bool,
}

impl Projective {
    /// Marks outcomes that pull.
    pub const fn new() -> Self {
        Self {
            refuses_adhesion: false,
        }
    }

    /// Refuses problems in which a contact would have to pull, with [`ImpactFailure::Adhesion`].
    #[must_use]
    pub const fn refuse_adhesion(mut self) -> Self {
        self.refuses_adhesion = true;
        self
    }
}

impl ImpactLaw for Projective {
    fn name(&self) -> &'static str {
        "Projective"
    }

    fn resolve_into(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        problem.refuse_friction(self.name())?;
        let space = problem.space();
        let e = problem.restitution();
        let (outcome, memory) = outcomes.begin_one();
        outcome.order = Order::Together;
        resize_vector(&mut memory.impulses, e.len());
        for (i, change) in memory.impulses.iter_mut().enumerate() {
            *change = -(1.0 + e[i]) * space.speeds[i];
        }
        if !bilateral(space, &mut memory.impulses, &mut memory.solvers.matrix) {
            space.independent()?;
            let (set, rcond) = ((0..space.contacts()).collect(), space.rcond());
            return Err(ImpactFailure::DependentContacts { set, rcond });
        }
        outcome.push(problem, memory.impulses.as_slice())?;
        if self.refuses_adhesion
            && let Some((contact, impulse)) = outcome.pull()
        {
            return Err(ImpactFailure::Adhesion { contact, impulse });
        }
        Ok(())
    }
}
