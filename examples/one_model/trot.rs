//! A body that lands on two soft legs, without friction.

use saltation::models::SoftTrot;
use saltation::{Compliant, ContactModel, EventDriven, Integrator, Start, Variational};

use crate::common::flags::Outcome;
use crate::study::{Desk, Study};

pub(crate) fn show(desk: &mut Desk) -> Outcome<()> {
    let trot = SoftTrot::default();
    let (q, v) = trot.start(0.1);
    let model = ContactModel::new(trot);
    let mut study = Study {
        name: "trot",
        title: "A body lands on two soft legs, the rear one first: its pitch rate",
        model: model.clone(),
        start: Start::at(0.0).q(&q).v(&v),
        tf: 1.5,
        entries: "z [m], pitch [rad], z1 [m], z2 [m], z' [m/s], rate [rad/s], z1' [m/s], z2' [m/s]",
        why: "\
EventDriven is the Integrator with a log of contacts, to the same bits; without a log, impacts are counted among contacts.
Variational meets them to second order of the step, Compliant to first. Legs that are soft pass on no impulse: the order in which
the feet land does not matter.",
        rows: Vec::new(),
    };
    let (h, mut exact) = (desk.step, EventDriven::new(model.clone())?.rtol(1e-9));
    study.run("EventDriven", &mut exact)?;
    // The core starts from the state and the mode in which contacts have settled.
    let settled = model.start(&study.start)?;
    let mut core = Integrator::new(model.clone())?.rtol(1e-9);
    let row = study.row(&settled.as_start(), &mut core)?;
    study.add("Integrator", row);
    study.run(
        "Variational",
        &mut Variational::new(model.clone())?.time_step(h),
    )?;
    study.run("Compliant", &mut Compliant::new(model)?.time_step(h))?;
    study.show(desk)
}
