//! An impact law of one's own: impulses from the contact speeds, beside a law of this crate.

use saltation::impact::{ImpactFailure, ImpactProblem, Outcomes, Unilateral};
use saltation::models::RigidTrot;
use saltation::prelude::*;

/// Plastic, one contact after the other, the last one first: each is stopped as if it were alone,
/// until none approaches.
struct LastFirst;

impl ImpactLaw for LastFirst {
    fn name(&self) -> &'static str {
        "LastFirst"
    }

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
        let g = problem.delassus();
        let mut impulses = vec![0.0; problem.speeds().len()];
        let mut outcome = problem.outcome(&impulses)?;
        for _ in 0..100 {
            for i in (0..problem.contacts()).rev() {
                impulses[i] += (-outcome.speeds[i] / g[(i, i)]).max(0.0);
                outcome = problem.outcome(&impulses)?; // u⁺ = u + G p, energy, remarks
            }
            if outcome.is_feasible() {
                break;
            }
        }
        *outcomes = Outcomes::of_one(outcome);
        Ok(())
    }
}

fn main() -> Result<(), Error> {
    let (q, v) = RigidTrot::start(0.0); // level: both feet land at once
    let start = Start::at(0.0).q(&q).v(&v);
    for model in [
        ContactModel::with_law(RigidTrot::default(), LastFirst),
        ContactModel::with_law(RigidTrot::default(), Unilateral),
    ] {
        println!("{:?}", model.law());
        let run = EventDriven::new(model)?.integrate(&start, 0.4)?;
        for event in run.completed()?.events() {
            let [y, pitch] = [event.state_after[2], event.state_after[3]];
            println!(
                "  {:.4} s: impulses {:.4?} N s, then {y:.4} m/s and {pitch:.4} rad/s",
                event.t, event.impulses
            );
        }
    }
    Ok(())
}
