//! An impact law that is chosen, the set of its outcomes, and a run with each of them.

use saltation::impact::AllOutcomes;
use saltation::models::RigidTrot;
use saltation::prelude::*;

fn main() -> Result<(), Error> {
    // A body lands level on two elastic legs: the order in which they act changes the outcome.
    let body = RigidTrot {
        restitution: 1.0,
        ..RigidTrot::default()
    };
    let (q, v) = RigidTrot::start(0.0);
    let start = Start::at(0.0).q(&q).v(&v);
    for choice in 0..2 {
        // A law with several outcomes wants a selection: `First`, `Keyed` by a seed, or a function.
        let law = AllOutcomes::new();
        let take = Selection::by(move |_outcomes, _occasion| Some(choice));
        let mut driver = EventDriven::new(ContactModel::with_law(body, law).selection(take))?;
        let run = driver.integrate(&start, 0.4)?.completed()?;

        let event = &run.events()[0];
        println!("{:.4} s, one of {} outcomes:", event.t, event.outcomes);
        let impact = driver.model().impact_of(event)?;
        for outcome in law.resolve(&impact)?.list {
            let velocity = impact.velocity_after(&outcome)?;
            println!(
                "  order {}: velocity {:.4?}",
                outcome.order,
                velocity.as_slice()
            );
        }
        println!("  the run took {:.4?}", &event.state_after[2..]);
    }
    Ok(())
}
