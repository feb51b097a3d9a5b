//! A law of impact of one's own, beside one that it hands on to.

use saltation::impact::{ImpactFailure, ImpactProblem, Outcomes, Plastic, Unilateral};
use saltation::models::RigidTrot;
use saltation::prelude::*;

/// Plastic, whatever the restitution of the contacts.
struct AlwaysPlastic;

impl ImpactLaw for AlwaysPlastic {
    // A model with restitution is refused then, not run without it.
    fn honours_restitution(&self) -> bool {
        false
    }

    // Writes all outcomes, in place of those that an earlier impact left.
    fn resolve_into(
        &self,
        problem: &ImpactProblem,
        outcomes: &mut Outcomes,
    ) -> Result<(), ImpactFailure> {
        Plastic.resolve_into(problem, outcomes)
    }
}

fn main() -> Result<(), Error> {
    let (q, v) = RigidTrot::start(0.0);
    let start = Start::at(0.0).q(&q).v(&v);
    for model in [
        ContactModel::with_law(RigidTrot::default(), AlwaysPlastic),
        ContactModel::with_law(RigidTrot::default(), Unilateral),
    ] {
        let run = EventDriven::new(model)?
            .integrate(&start, 0.5)?
            .completed()?;
        for event in run.events() {
            println!("{:.4} s: impulses {:.4?} N s", event.t, event.impulses);
        }
    }
    Ok(())
}
