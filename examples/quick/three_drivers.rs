//! One model in three drivers: final states and events side by side.

use saltation::models::RigidTrot;
use saltation::prelude::*;

fn main() -> Result<(), Error> {
    // A body on two legs falls, a little pitched: the rear foot lands first. `q`: height, pitch.
    let model = ContactModel::new(RigidTrot::default());
    let mut exact = EventDriven::new(model.clone())?.rtol(1e-9);
    let mut stepped = Variational::new(model.clone())?.time_step(1e-3);
    // The compliant driver reads stiffness and dissipation of contacts, and no impact law.
    let mut soft = Compliant::new(model)?.time_step(1e-3);

    let (q, v) = RigidTrot::start(0.01);
    let start = Start::at(0.0).q(&q).v(&v);
    let drivers: [(&str, &mut dyn Driver); 3] = [
        ("event-driven", &mut exact),
        ("variational", &mut stepped),
        ("compliant", &mut soft),
    ];
    for (name, driver) in drivers {
        let run = driver.integrate(&start, 0.4)?.completed()?;
        println!("{name}: {:.4?}", run.state().as_slice());
        for event in run.events() {
            let (t, lands, parts) = (event.t, &event.activated, &event.released);
            println!(
                "  {t:.4} s: {lands:?} land, {parts:?} part, closed then: {:?}",
                event.mode_after
            );
        }
    }
    Ok(())
}
